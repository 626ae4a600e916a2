"""What the sandbox charges: a sample rate table, one per variant, and countries by calling code. No real prices."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import NamedTuple

from .. import _wire as wire


@dataclass(frozen=True, slots=True)
class Tariff:
    """One currency and the price of a part in millionths of it, by country.

    Example:
        >>> sample("intl").micros["US"]
        7500
    """

    currency: str
    micros: Mapping[str, int]

    def price(self, iso: str, parts: int) -> int:
        """Return the price of one message in millionths; a country without a rate costs as much as the dearest."""
        rate = self.micros.get(iso)
        return parts * (max(self.micros.values()) if rate is None else rate)


class Country(NamedTuple):
    """Where a number is texted: alpha-2 country and calling code."""

    iso: str
    cc: str


def sample_file(variant: wire.Variant) -> Traversable:
    """Return the rate table of a variant: CSV with ``iso, currency, price`` (per part)."""
    return files(__package__) / f"sample_rates_{variant}.csv"


@cache
def sample(variant: wire.Variant) -> Tariff:
    """Return the sample rates of a variant: USD for intl, CNY for cn."""
    with sample_file(variant).open(encoding="utf-8") as text:
        rows = list(csv.DictReader(text))
    return Tariff(rows[0]["currency"], {row["iso"]: int(row["price"].replace(".", "")) for row in rows})


def country(number: str) -> Country | None:
    """Return the country of an E.164 number, or None if nobody can be texted at it.

    Example:
        >>> country("+12025550123")
        Country(iso='US', cc='1')
        >>> country("+447700900123") is None
        True
    """
    if not wire.E164.fullmatch(number):
        return None
    found = _places()(number)
    return Country(*found) if found else None


@cache
def _places() -> Callable[[str], tuple[str, str] | None]:
    # With phonenumbers, which a sandbox needs with its first request, not at its start.
    from .._phones import place

    return place
