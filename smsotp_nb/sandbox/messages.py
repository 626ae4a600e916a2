"""What a message of the sandbox says, from texts and templates, and what it costs."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Final, NamedTuple

from .. import _wire as wire
from .._foreign.gate import file_at
from .._showing import is_whole
from ..errors import UsageError

PASSCODE_TEXT: Final[Mapping[str, str]] = {
    "intl": "Your verification code is {code}.",
    "cn": "您的验证码是{code}，请勿告诉他人。",
}
_VARIABLE: Final = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")


def load_templates(own: Mapping[str, str] | str | Path | None = None) -> Mapping[str, str]:
    """Return the sandbox's templates and the user's, given as a mapping or a JSON file of ``{"id": "text"}``.

    Raises:
        UsageError: the file cannot be read, or is not such an object.
    """
    shipped: dict[str, str] = json.loads((files(__package__) / "templates.json").read_text(encoding="utf-8"))
    if own is None:
        return shipped
    if isinstance(own, (str, Path)):
        own = _read_templates(Path(own).expanduser())
    for name, text in own.items():
        is_text = isinstance(name, str) and isinstance(text, str)
        if not is_text or not text.strip() or not is_whole(name + text):
            raise UsageError("every template is a text, such as {'welcome': 'Hello {name}'}")
    return {**shipped, **own}


def _read_templates(path: Path) -> Mapping[str, str]:
    path = file_at(path, kind="a JSON file of templates")
    try:
        templates = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UsageError(f"the templates file {path} cannot be read: {reason}") from None
    if not isinstance(templates, dict):
        raise UsageError(f'the templates file {path} must hold an object such as {{"welcome": "Hello {{name}}"}}')
    return templates


def variables(template: str) -> list[str]:
    return _VARIABLE.findall(template)


def fill(template: str, values: Mapping[str, str]) -> str:
    return _VARIABLE.sub(lambda match: values[match[1]], template)


def add_signature(text: str, signature: str | None, variant: wire.Variant) -> str:
    """Return a text with its signature in front, as this variant of the sandbox joins them."""
    if not signature:
        return text
    return fill(wire.SIGNATURE_JOIN[variant], {"signature": signature, "content": text})


def passcode_text(code: str, signature: str | None, variant: wire.Variant) -> str:
    return add_signature(fill(PASSCODE_TEXT[variant], {"code": code}), signature, variant)


@dataclass(frozen=True, slots=True)
class Tariff:
    """One currency and the price of a part in millionths of it, by country."""

    currency: str
    micros: Mapping[str, int]

    def price(self, iso: str, parts: int) -> int:
        """Return the price of one message in millionths; a country without a rate costs the highest rate."""
        rate = self.micros.get(iso)
        if rate is None:
            rate = max(self.micros.values())
        return parts * rate


@cache
def sample_tariff(variant: wire.Variant) -> Tariff:
    """Return the sample rates of a variant, USD for intl, CNY for cn: CSV with ``iso, currency, price`` (per part)."""
    with (files(__package__) / f"sample_rates_{variant}.csv").open(encoding="utf-8") as text:
        rows = list(csv.DictReader(text))
    return Tariff(rows[0]["currency"], {row["iso"]: int(row["price"].replace(".", "")) for row in rows})


class Country(NamedTuple):
    """Where a number is texted: alpha-2 country and calling code."""

    iso: str
    cc: str


def country_of(number: str) -> Country | None:
    """Return the country of an E.164 number, or None if nobody can be texted at it."""
    if not wire.E164.fullmatch(number):
        return None
    country = _place()(number)
    return None if country is None else Country(*country)


@cache
def _place() -> Callable[[str], tuple[str, str] | None]:
    from .._phones import place  # loads phonenumbers, which the first request needs, not the start

    return place
