"""Find the columns of numbers and of countries by what stands in them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

import pandas as pd

from . import cells, regions
from .judgement import normalize

SAMPLE: Final = 300
ENOUGH: Final = 0.5
NAMED: Final = re.compile(r"phone|mobil|cell|handy|tel|msisdn|sms|whatsapp|number|nummer|número|numero", re.IGNORECASE)
COUNTRY_NAMED: Final = re.compile(r"country|region|land|pa[ií]s|pays|iso|nation", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Found:
    """The columns that read best (None: none does) and every column's share of readable cells.

    Example:
        >>> find_columns(pd.DataFrame({"mobile": ["+14155550100"]})).shares.values.tolist()
        [['mobile', 1.0, 0.0]]
    """

    phone: str | None
    region: str | None
    shares: pd.DataFrame


def find_columns(frame: pd.DataFrame, *, default_region: str | None = None) -> Found:
    """Find the column of phone numbers and that of countries by content; a telling name decides between equals.

    A column is taken where at least half of its filled cells (of a sample of 300 rows) read as valid numbers, or as
    countries. ``shares`` has ``column, numbers, countries``, best first.

    Example:
        >>> frame = pd.DataFrame({"id": ["17", "18"], "m": ["0491 570 156", "030 901820"], "c": ["AU", "DE"]})
        >>> found = find_columns(frame)
        >>> found.phone, found.region
        ('m', 'c')
    """
    sample = frame.sample(SAMPLE, random_state=0) if len(frame) > SAMPLE else frame
    columns = [place for place, name in enumerate(frame.columns) if list(frame.columns).count(name) == 1]
    countries = {place: _countries(sample.iloc[:, place]) for place in columns}
    region = _best(frame, countries, COUNTRY_NAMED)
    beside = sample.iloc[:, region] if region is not None else None
    numbers = {place: _numbers(sample.iloc[:, place], beside, default_region) for place in columns if place != region}
    phone = _best(frame, numbers, NAMED)
    table = pd.DataFrame(
        {
            "column": [frame.columns[place] for place in columns],
            "numbers": [numbers.get(place, 0.0) for place in columns],
            "countries": [countries[place] for place in columns],
        }
    )
    name = [None if place is None else frame.columns[place] for place in (phone, region)]
    return Found(name[0], name[1], table.sort_values(["numbers", "countries"], ascending=False, ignore_index=True))


def _best(frame: pd.DataFrame, shares: dict[int, float], named: re.Pattern[str]) -> int | None:
    scores = {place: found + 0.3 * bool(named.search(str(frame.columns[place]))) for place, found in shares.items()}
    best = max(scores, key=lambda place: scores[place], default=None)
    return best if best is not None and shares[best] >= ENOUGH else None


def _countries(column: pd.Series) -> float:
    text = cells.read(column).text.dropna()
    text = text[text.str.strip() != ""]
    if not len(text):
        return 0.0
    return float(1 - regions.read(text).unknown.mean())


def _numbers(column: pd.Series, region: pd.Series | None, default_region: str | None) -> float:
    judged = normalize(column, region=region, default_region=default_region)
    filled = judged["problem"] != "MISSING"
    return float(judged.loc[filled, "type"].notna().mean()) if filled.any() else 0.0
