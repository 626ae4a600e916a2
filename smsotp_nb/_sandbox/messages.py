"""What a message of the sandbox says, from texts and templates, and what it costs."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from .. import _wire as wire
from .._foreign.gate import file_at
from .._showing import is_whole
from ..errors import UsageError

PASSCODE: Mapping[str, str] = {
    "intl": "Your verification code is {code}.",
    "cn": "您的验证码是{code}，请勿告诉他人。",
}
_NAMES_AND_FIGURES = re.compile(r"\b[^\WA-Z0-9]*+[A-Z0-9]\w*+")
_VARIABLE = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")


@cache
def own_templates() -> Mapping[str, str]:
    """Return the sandbox's own templates by id; a variable stands in braces."""
    found: dict[str, str] = json.loads((files(__package__) / "templates.json").read_text(encoding="utf-8"))
    return found


def templates(more: Mapping[str, str] | str | Path | None = None) -> Mapping[str, str]:
    """Return the sandbox's templates and the user's, given as a mapping or a JSON file of ``{"id": "text"}``.

    Raises:
        UsageError: the file cannot be read, or is not such an object.
    """
    if isinstance(more, (str, Path)):
        more = _read_templates(Path(more).expanduser())
    if not all(
        isinstance(name, str) and isinstance(text, str) and text.strip() and is_whole(name + text)
        for name, text in (more or {}).items()
    ):
        raise UsageError("every template is a text, such as {'welcome': 'Hello {name}'}")
    return {**own_templates(), **(more or {})}


def _read_templates(path: Path) -> Mapping[str, str]:
    path = file_at(path, kind="a JSON file of templates")
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UsageError(f"the templates file {path} cannot be read: {reason}") from None
    if not isinstance(found, dict):
        raise UsageError(f'the templates file {path} must hold an object such as {{"welcome": "Hello {{name}}"}}')
    return found


def variables(template: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_VARIABLE.findall(template)))


def fill(template: str, values: Mapping[str, str]) -> str:
    return _VARIABLE.sub(lambda match: values[match[1]], template)


def shape_number(text: str, template_id: str | None = None) -> int:
    """Return a number for the wording of a text, exact in JavaScript.

    Texts of one campaign share it: those of one template, or those that differ in names and figures alone.
    """
    shape = f"template {template_id}" if template_id else _NAMES_AND_FIGURES.sub("*", text)
    return int.from_bytes(blake2b(shape.encode(), digest_size=6).digest())


def signed(text: str, signature: str | None, variant: wire.Variant) -> str:
    """Return a text with its signature joined to it, as this variant of the sandbox does."""
    if not signature:
        return text
    return fill(wire.SIGNATURE_JOIN[variant], {"signature": signature, "content": text})


def passcode(code: str, signature: str | None, variant: wire.Variant) -> str:
    return signed(fill(PASSCODE[variant], {"code": code}), signature, variant)


@dataclass(frozen=True, slots=True)
class Tariff:
    """One currency and the price of a part in millionths of it, by country."""

    currency: str
    micros: Mapping[str, int]

    def price(self, iso: str, parts: int) -> int:
        """Return the price of one message in millionths; a country without a rate costs the highest rate."""
        rate = self.micros.get(iso)
        return parts * (max(self.micros.values()) if rate is None else rate)


class Country(NamedTuple):
    """Where a number is texted: alpha-2 country and calling code."""

    iso: str
    cc: str


@cache
def sample(variant: wire.Variant) -> Tariff:
    """Return the sample rates of a variant, USD for intl, CNY for cn: CSV with ``iso, currency, price`` (per part)."""
    with (files(__package__) / f"sample_rates_{variant}.csv").open(encoding="utf-8") as text:
        rows = list(csv.DictReader(text))
    return Tariff(rows[0]["currency"], {row["iso"]: int(row["price"].replace(".", "")) for row in rows})


def country(number: str) -> Country | None:
    """Return the country of an E.164 number, or None if nobody can be texted at it."""
    if not wire.E164.fullmatch(number):
        return None
    found = _places()(number)
    return Country(*found) if found else None


@cache
def _places() -> Callable[[str], tuple[str, str] | None]:
    # With phonenumbers, which a sandbox needs with its first request, not at its start.
    from .._phones import place

    return place
