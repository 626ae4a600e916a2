"""One number, one country: what single fields, the sandbox and cost tables ask of the phone room."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final, NamedTuple

import phonenumbers


@dataclass(frozen=True, slots=True)
class Country:
    """A row of ``countries.csv``: ISO 3166 codes, a short English name, other English spellings."""

    alpha2: str
    alpha3: str
    name: str
    aliases: tuple[str, ...]


class Answer(NamedTuple):
    """What phonenumbers says of one number; None stands for missing, and ``region`` is ``001`` for +800."""

    e164: str | None
    region: str | None
    cc: str | None
    valid: bool
    type: str | None
    reason: str | None
    extension: str | None


PARSE_ERRORS: Final = {
    getattr(phonenumbers.NumberParseException, name): name
    for name in ("INVALID_COUNTRY_CODE", "NOT_A_NUMBER", "TOO_SHORT_AFTER_IDD", "TOO_SHORT_NSN", "TOO_LONG")
}


def ask(number: str | None, region: str | None = None) -> Answer:
    """Put one number to phonenumbers; ``region`` (alpha-2) serves numbers written without a calling code.

    phonenumbers calls a number valid if it has a type in the plan of its region, so the type answers both questions.

    Example:
        >>> ask("(415) 555-0100", "US").e164, ask("hello").reason
        ('+14155550100', 'NOT_A_NUMBER')
    """
    try:
        parsed = phonenumbers.parse(number or "", region)
    except phonenumbers.NumberParseException as refusal:
        return Answer(None, None, None, False, None, PARSE_ERRORS[refusal.error_type], None)
    kind = phonenumbers.number_type(parsed)
    valid = kind != phonenumbers.PhoneNumberType.UNKNOWN
    return Answer(
        e164=phonenumbers.format_number(parsed, phonenumbers.PhoneNumberFormat.E164),
        region=phonenumbers.region_code_for_number(parsed),
        cc=str(parsed.country_code),
        valid=valid,
        type=phonenumbers.PhoneNumberType.to_string(kind),
        reason=None if valid else _why(parsed),
        extension=parsed.extension,
    )


def _why(parsed: phonenumbers.PhoneNumber) -> str:
    result = phonenumbers.is_possible_number_with_reason(parsed)
    if result == phonenumbers.ValidationResult.IS_POSSIBLE:
        return "NOT_IN_USE"
    return phonenumbers.ValidationResult.to_string(result)


def calling_code(iso: str) -> str:
    """Return the calling code of an alpha-2 region as digits, ``""`` for one that has none.

    Example:
        >>> calling_code("GB"), calling_code("AQ")
        ('44', '')
    """
    code = phonenumbers.country_code_for_region(iso)
    return str(code) if code else ""


@cache
def countries() -> dict[str, Country]:
    """Return every known country by alpha-2 code (ISO 3166, with Kosovo and the islands phonenumbers knows)."""
    with (files(__package__) / "countries.csv").open(encoding="utf-8") as text:
        return {
            it["alpha2"]: Country(it["alpha2"], it["alpha3"], it["name"], tuple(filter(None, it["aliases"].split("|"))))
            for it in csv.DictReader(text)
        }


def country_name(iso: str) -> str:
    """Return the short English name of an alpha-2 code; an unknown code comes back as it is.

    Example:
        >>> country_name("KR"), country_name("001"), country_name("ZZ")
        ('South Korea', 'International', 'ZZ')
    """
    if iso == "001":
        return "International"
    country = countries().get(iso)
    return country.name if country else iso


_KINDS = (
    *("fixed_line", "mobile", "premium_rate", "toll_free", "shared_cost"),
    *("voip", "personal_number", "pager", "uan", "voicemail"),
)


def place(e164: str) -> tuple[str, str] | None:
    """Return region and calling code of a valid E.164 number of a country, or None; as `ask`, ten times faster.

    Example:
        >>> place("+12025550123"), place("+447700900123"), place("+80012345678")
        (('US', '1'), None, None)
    """
    cc = next((e164[1:end] for end in (2, 3, 4) if e164[1:end] in _regions_by_code()), None)
    if cc is None or e164[0] != "+" or not (e164.isascii() and e164[1:].isdigit()):
        return None
    national = e164[1 + len(cc) :]
    trunk = _trunk_prefix(cc)
    if trunk is not None and trunk.match(national):  # parsing may take it off
        found = ask(e164)
        return (found.region or "", cc) if found.valid and found.e164 == e164 else None
    for region in _regions_by_code()[cc]:
        leading, valid = _patterns(region, len(national))
        if leading is None and valid.fullmatch(national):
            return region, cc
        if leading is not None and leading.match(national):
            return (region, cc) if valid.fullmatch(national) else None
    return None


@cache
def _regions_by_code() -> dict[str, tuple[str, ...]]:
    regions = phonenumbers.COUNTRY_CODE_TO_REGION_CODE
    return {str(code): listed for code, listed in regions.items() if listed != ("001",)}


@cache
def _trunk_prefix(cc: str) -> re.Pattern[str] | None:
    rule = _metadata(_regions_by_code()[cc][0]).national_prefix_for_parsing
    return re.compile(rule) if rule else None


def _metadata(region: str) -> Any:  # its stubs call every field optional
    return phonenumbers.PhoneMetadata.metadata_for_region(region)


@cache
def _patterns(region: str, length: int) -> tuple[re.Pattern[str] | None, re.Pattern[str]]:
    """Return the leading digits of a region and the union of its valid patterns for one length of number."""
    metadata = _metadata(region)
    described = [desc for desc in (getattr(metadata, kind) for kind in _KINDS) if desc is not None]
    fitting = [d for d in described if not d.possible_length or length in d.possible_length]
    union = "|".join(f"(?:{desc.national_number_pattern})" for desc in fitting if desc.national_number_pattern)
    general = metadata.general_desc
    known = union and (not general.possible_length or length in general.possible_length)
    leading = re.compile(metadata.leading_digits) if metadata.leading_digits else None
    return leading, re.compile(f"(?=(?:{general.national_number_pattern})$)(?:{union})" if known else "(?!)")


def calling_codes() -> tuple[str, ...]:
    """Return every calling code as digits, those without a region too."""
    return tuple(str(code) for code in phonenumbers.COUNTRY_CODE_TO_REGION_CODE)


def main_region(code: int) -> str | None:
    """Return the region a calling code is first of all for, None where it has none."""
    region = phonenumbers.region_code_for_country_code(code)
    return region if region in phonenumbers.SUPPORTED_REGIONS else None


def time_zones(e164: str) -> tuple[str, ...]:
    """Return the names of a number's time zones, several where its prefix spans them; empty when none is known.

    Example:
        >>> time_zones("+12025550123"), time_zones("+33199001234")
        (('America/New_York',), ('Europe/Paris',))
    """
    # Its table of prefixes is large, and a sandbox needs none of it.
    from phonenumbers import timezone

    try:
        number = phonenumbers.parse(e164)
    except phonenumbers.NumberParseException:
        return ()
    found = timezone.time_zones_for_number(number)
    return tuple(name for name in found if name != timezone.UNKNOWN_TIMEZONE)
