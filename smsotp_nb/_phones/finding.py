"""Find the columns of numbers and of countries by what stands in them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import pandas as pd

from .._arguments import not_frame, refuse
from .._calls import in_our_words
from .._frames import AnyFrame, as_pandas
from . import cells, regions
from .judgement import normalize

SAMPLE: Final = 300
ENOUGH: Final = 0.5
NAMED: Final = re.compile(
    r"phone|mobil|\bcell|cell(?:ular)?\b|handy|(?:^|[^a-z])tel(?:[^a-z]|e[fp]|$)|msisdn|sms|whatsapp|rufnummer|fone|fono",
    re.IGNORECASE,
)
PERHAPS_NAMED: Final = re.compile(r"contact|kontakt|number|nummer|n[uú]mero|num[eé]ro", re.IGNORECASE)
NAMED_OTHERWISE: Final = re.compile(
    r"order|invoice|account|customer|client|ticket|serial|tracking|reference|article|product|member|policy|card"
    r"|bestell|rechnung|kunden|konto|artikel|vertrag|pedido|factura|cuenta|commande|facture|compte|\b(?:id|ref|sku|zip|vat"
    r"|iban|fax|plz|ean)\b|_id$|^id_|postal|postcode|\bdate\b|datum|amount|price|fax",
    re.IGNORECASE,
)
COUNTRY_NAMED: Final = re.compile(r"country|region|\bland\b|pa[ií]s|pays|\biso|nation", re.IGNORECASE)
PART_NAMED: Final = re.compile(
    r"state|province|provincia|prov\b|county|bundesland|kanton|canton|estado|\buf\b|language|sprache|lang\b|locale",
    re.IGNORECASE,
)
NAME_WORTH: Final = 0.3
WRITTEN: Final = r"^\W*(?:\+|00)|[0-9][ ().-]+[0-9]"  # as people write numbers to call, and no order number


@dataclass(frozen=True, slots=True)
class Found:
    """The columns that read best (None if there is none), and the share of readable cells in every column.

    Example:
        >>> find_columns(pd.DataFrame({"mobile": ["+14155550100"]})).shares.values.tolist()
        [['mobile', 1.0, 0.0]]
    """

    phone: str | None
    region: str | None
    shares: pd.DataFrame


@in_our_words
def find_columns(frame: AnyFrame, *, default_region: str | None = None) -> Found:
    """Find the column of phone numbers and the column of countries by their content.

    A column qualifies if at least half of its filled cells, in a sample of 300 rows, read as valid numbers or as
    countries. A telling name decides between equals. States and provinces are not countries, although CA and DE are
    among them. A column named after orders or invoices is chosen only if no other column reads nearly as well.
    ``shares`` has the columns ``column, numbers, countries``, best first.

    Example:
        >>> frame = pd.DataFrame({"id": ["17", "18"], "m": ["0491 570 156", "030 901820"], "c": ["AU", "DE"]})
        >>> found = find_columns(frame)
        >>> found.phone, found.region
        ('m', 'c')
    """
    frame = as_pandas(frame)
    refuse(not_frame("frame", frame))
    regions.default(default_region)
    sample = frame.sample(SAMPLE, random_state=0) if len(frame) > SAMPLE else frame
    columns = [place for place, name in enumerate(frame.columns) if list(frame.columns).count(name) == 1]
    countries = {place: _countries(sample.iloc[:, place]) for place in columns}
    names = [str(name) for name in frame.columns]
    region = _best(countries, lambda place: _name_of_countries(names[place]))
    beside = sample.iloc[:, region] if region is not None else None
    numbers = {place: _numbers(sample.iloc[:, place], beside, default_region) for place in columns if place != region}
    phone = _best(numbers, lambda place: _name_of_numbers(names[place]) + _as_written(sample.iloc[:, place]))
    table = pd.DataFrame(
        {
            "column": [frame.columns[place] for place in columns],
            "numbers": [numbers.get(place, 0.0) for place in columns],
            "countries": [countries[place] for place in columns],
        }
    )
    name = [None if place is None else frame.columns[place] for place in (phone, region)]
    return Found(name[0], name[1], table.sort_values(["numbers", "countries"], ascending=False, ignore_index=True))


def _best(shares: dict[int, float], worth: Callable[[int], float]) -> int | None:
    scores = {place: share + worth(place) for place, share in shares.items() if share >= ENOUGH}
    return max(scores, key=lambda place: scores[place], default=None)


def _name_of_numbers(name: str) -> float:
    """What a column's name says for its being the one to text: order numbers are no phone numbers."""
    if NAMED.search(name):
        return NAME_WORTH
    if NAMED_OTHERWISE.search(name):
        return -2 * NAME_WORTH
    return NAME_WORTH / 2 if PERHAPS_NAMED.search(name) else 0.0


def _name_of_countries(name: str) -> float:
    return NAME_WORTH if COUNTRY_NAMED.search(name) else 0.0


def _countries(column: pd.Series) -> float:
    """Share of filled cells that are countries; none where the column is one of states, or says so."""
    if PART_NAMED.search(str(column.name)) and not COUNTRY_NAMED.search(str(column.name)):
        return 0.0
    known = regions.read(cells.read(column).text)
    read, unread = int((known.place >= 0).sum()), int(known.unknown.sum())
    return read / (read + unread) if read else 0.0


def _numbers(column: pd.Series, region: pd.Series | None, default_region: str | None) -> float:
    judged = normalize(column, region=region, default_region=default_region)
    filled = judged["problem"] != "MISSING"
    return float(judged.loc[filled, "type"].notna().mean()) if filled.any() else 0.0


def _as_written(column: pd.Series) -> float:
    """A little for cells written with a plus or in groups, as numbers to call are."""
    text = cells.read(column).text
    return float(NAME_WORTH / 2 * cells.matches(text, WRITTEN).sum() / max(text.notna().sum(), 1))
