"""One number, one country: what single fields, the sandbox and cost tables ask of the phone room."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import phonenumbers


@dataclass(frozen=True, slots=True)
class Country:
    """A row of ``countries.csv``: ISO 3166 codes, a short English name, other English spellings."""

    alpha2: str
    alpha3: str
    name: str
    aliases: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Lookup:
    """What phonenumbers says of one number; every text is empty when it cannot be read, ``iso`` is ``001`` for +800.

    Example:
        >>> one("+33 1 99 00 12 34")
        Lookup(e164='+33199001234', iso='FR', cc='33', valid=True, type='FIXED_LINE')
    """

    e164: str
    iso: str
    cc: str
    valid: bool
    type: str


UNREADABLE = Lookup("", "", "", False, "")


def one(number: str, region: str | None = None) -> Lookup:
    """Read one number as phonenumbers does; ``region`` (alpha-2) serves numbers written without a calling code.

    Example:
        >>> one("(415) 555-0100", "US").e164
        '+14155550100'
        >>> one("hello").valid
        False
    """
    try:
        parsed = phonenumbers.parse(number, region)
    except phonenumbers.NumberParseException:
        return UNREADABLE
    return Lookup(
        e164=phonenumbers.format_number(parsed, phonenumbers.PhoneNumberFormat.E164),
        iso=phonenumbers.region_code_for_number(parsed) or "",
        cc=str(parsed.country_code),
        valid=phonenumbers.is_valid_number(parsed),
        type=phonenumbers.PhoneNumberType.to_string(phonenumbers.number_type(parsed)),
    )


def example(region: str, kind: str = "MOBILE") -> str:
    """Return phonenumbers' own example number of a region in E.164, or ``""`` where it has none of that kind.

    Example:
        >>> one(example("DE")).type
        'MOBILE'
    """
    number = phonenumbers.example_number_for_type(region, getattr(phonenumbers.PhoneNumberType, kind))
    return phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164) if number else ""


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
    """Return every known country by alpha-2 code (ISO 3166, with Kosovo and the islands phonenumbers knows).

    Example:
        >>> countries()["NA"].alpha3
        'NAM'
    """
    with (files(__package__) / "countries.csv").open(encoding="utf-8") as text:
        rows = [Country(r["alpha2"], r["alpha3"], r["name"], _split(r["aliases"])) for r in csv.DictReader(text)]
    return {country.alpha2: country for country in rows}


def _split(aliases: str) -> tuple[str, ...]:
    return tuple(alias for alias in aliases.split("|") if alias)


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
