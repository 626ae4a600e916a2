"""A form of the result table that may be passed on: nobody in it can be found with a list of the numbers."""

from __future__ import annotations

import secrets
from hashlib import blake2b
from typing import Final

import pandas as pd

from .._calling import in_our_words, not_whole, refuse
from .._frames import AnyFrame, as_pandas
from .._pandas import STR
from .._phones import one_phone
from ..errors import UsageError
from .contract import check, micros, money

OTHER: Final = "other"
FIGURES: Final = {"messages": "Int64", "parts": "Int64", "cost": "float64"}
COLUMNS: Final = {"person": STR, "iso": STR, "type": STR, **FIGURES, "currency": STR}
_TOLD: Final = ["iso", "type", *FIGURES, "currency"]
_LEAST: Final = 2
_BETWEEN: Final = r"^[^1-9]+|[^0-9]"  # what people put before and between the digits of a number
_MOST: Final = 2.0**62  # of a sum, in parts or millionths
_NEEDED: Final = ("to", "region", "type", "status", "iso", "parts", "price", "currency")


@in_our_words
def publishable(table: AnyFrame, *, k: int = 5) -> pd.DataFrame:
    """Return what was billed, one row a person, in a form that cannot be joined with a list of the numbers.

    A mask such as ``+1202...0123`` is a hint for the eye: in a list of ten thousand numbers nearly every mask belongs
    to one number, so whoever has the list joins the two. Here a person is a pseudonym, made with a key that is thrown
    away: another one in each call, and for each currency. Of each person country, kind of number and figures are told,
    as long as at least ``k`` people have all of them alike. Where fewer do, the kind becomes ``other``, then the
    country, then the figures are left out; if there are still fewer than ``k`` such people, their rows are left out.
    Sums over the published rows can therefore be lower than `cost.by_country`. That table has no such limit: a country
    with one recipient shows what they were sent, so fold small countries together before it is published. A cost or a
    number of parts that is not known of every message of a person is missing. Publish one table of a campaign: two,
    between which somebody was added, differ by that person.

    Args:
        table: results of a campaign with their details: ``record.results.join(record.details)``. Rows that were not
            accepted are left out.
        k: the least number of people who look alike, at least 2.

    Returns:
        One row for each person and currency, in random order on a new index: ``person, iso, type`` (str), ``messages,
        parts`` (Int64), ``cost`` (float64, in ``currency``) and ``currency`` (str).

    Raises:
        UsageError: it is not a result table, its parts are too many to be added up, or ``k`` is no whole number from 2.

    Example:
        >>> one = {"status": "accepted", "region": "US", "type": "MOBILE", "iso": "US", "parts": 1, "price": 0.0075}
        >>> table = pd.DataFrame([{**one, "to": f"+1202555010{n}", "currency": "USD"} for n in range(5)])
        >>> publishable(table).drop(columns="person").drop_duplicates().values.tolist()
        [['US', 'MOBILE', 1, 1, 0.0075, 'USD']]
        >>> len(publishable(table, k=6))
        0
    """
    refuse(not_whole("k", k, least=_LEAST))
    rows = check(as_pandas(table), columns=_NEEDED)
    people = _people(rows.reset_index(drop=True))  # it may be indexed by its numbers
    for column in ("type", "iso"):
        people.loc[_too_few(people, k), column] = OTHER
    few = _too_few(people, k)
    people.loc[few, "iso"] = people.loc[few, "type"] = OTHER
    people.loc[few, list(FIGURES)] = pd.NA
    kept = people[~_too_few(people, k)]
    return kept.sort_values("person", ignore_index=True).astype(COLUMNS)[list(COLUMNS)]


def _people(table: pd.DataFrame) -> pd.DataFrame:
    rows = table[(table["status"].eq("accepted") & table["to"].notna()).fillna(False).to_numpy(bool)]
    rows = rows.assign(iso=rows["iso"].fillna(rows["region"]), price=micros(rows["price"]), messages=1)
    for name, said in (("parts", "parts"), ("price", "prices")):
        if rows[name].astype("Float64").abs().sum() >= _MOST:
            raise UsageError(f"column {name!r}: these {said} are too many to be added up; look for a wrong one")
    sums = {name: (name, "first") for name in ("iso", "type")} | {"messages": ("messages", "sum")}
    for name, known in (("parts", "parts"), ("cost", "price")):
        sums |= {name: (known, "sum"), f"{name}_known": (known, "count")}
    rows["to"] = one_phone("+" + rows["to"].astype(STR).str.replace(_BETWEEN, "", regex=True))
    people = rows.groupby(["to", "currency"], dropna=False, sort=False).agg(**sums).reset_index()
    people["cost"] = money(people["cost"])
    for name in ("parts", "cost"):
        people[name] = people[name].where(people.pop(f"{name}_known").eq(people["messages"]))
    key = secrets.token_bytes(32)
    people["person"] = [
        blake2b(f"{to}/{currency}".encode(), key=key, digest_size=8).hexdigest()
        for to, currency in zip(people["to"], people["currency"], strict=True)
    ]
    return people.drop(columns="to").astype(FIGURES)


def _too_few(people: pd.DataFrame, k: int) -> pd.Series:
    """Say of each row whether fewer than ``k`` people have all that is told of it alike."""
    alike: pd.Series = people.groupby(_TOLD, dropna=False, sort=False)["person"].transform("size")
    return alike < k
