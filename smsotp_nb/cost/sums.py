"""Sums over a result table: exact, by currency, of accepted rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import pandas as pd

from .. import results as contract
from ..errors import UsageError
from ..phones.lookup import country_name
from ..wire import amount

NEEDED: Final = ("status", "parts", "price", "currency")
_SUMS: Final = ("messages", "parts", "price", "price_per_message", "share", "unpriced")
_COMPARED: Final = ("messages", "parts", "est_parts", "price", "est_cost", "difference", "left_out")


def by(results: pd.DataFrame, columns: str | Sequence[str], *, decimals: bool = False) -> pd.DataFrame:
    """Return what the accepted messages of a result table cost, by one or more of its columns.

    Args:
        results: what ``send`` returned, or any frame with ``status, parts, price, currency`` and these columns.
        columns: names of columns, the caller's own included; a missing value is a group of its own.
        decimals: amounts as exact ``Decimal`` instead of float64.

    Returns:
        ``currency``, the columns, ``messages`` and ``parts`` (Int64; of accepted rows), ``price`` and
        ``price_per_message`` (float64, six places), ``share`` of its currency's price (float64, 0 to 1) and
        ``unpriced`` (Int64: messages whose price or currency was not readable; they stand in `unpriced_rows` and are no
        part of ``price``). Dearest first within a currency.

    Raises:
        UsageError: not a result table, or a column that is not there or would clash with those above.

    Example:
        >>> table = pd.DataFrame({"status": ["accepted", "accepted", "skipped"], "parts": [1, 2, None],
        ...                       "price": [0.0075, 0.0150, None], "currency": ["USD", "USD", None],
        ...                       "segment": ["a", "b", "b"]})
        >>> by(table, "segment")[["currency", "segment", "messages", "price", "share"]].values.tolist()
        [['USD', 'b', 1, 0.015, 0.6666666666666666], ['USD', 'a', 1, 0.0075, 0.3333333333333333]]
    """
    names = _grouping(results, columns, _SUMS)
    accepted = _accepted(results, names)
    keys = ["currency", *names]
    sums = _summed(accepted, keys)
    sums = sums.sort_values(["currency", "micros"], ascending=[True, False], kind="stable", ignore_index=True)
    return _priced(sums, decimals)


def by_country(results: pd.DataFrame, *, decimals: bool = False) -> pd.DataFrame:
    """Return what the accepted messages cost by the country that the service billed them as.

    Returns:
        As `by` with ``iso``, and ``country``, its English name, after it.

    Example:
        >>> table = pd.DataFrame({"status": ["accepted"], "parts": [1], "price": [0.0395], "currency": ["USD"],
        ...                       "iso": ["NA"]})
        >>> by_country(table)[["iso", "country", "price"]].values.tolist()
        [['NA', 'Namibia', 0.0395]]
    """
    table = by(results, ["iso"], decimals=decimals)
    names = table["iso"].map({iso: country_name(iso) for iso in table["iso"].dropna().unique()}).astype("str")
    table.insert(list(table.columns).index("iso") + 1, "country", names)
    return table


def unpriced_rows(results: pd.DataFrame) -> pd.DataFrame:
    """Return the accepted rows whose price or currency could not be read: they cost something, nobody knows what.

    Example:
        >>> table = pd.DataFrame({"status": ["accepted"] * 2, "parts": [1, 1], "price": [0.01, None],
        ...                       "currency": ["USD", "USD"]}, index=["a", "b"])
        >>> unpriced_rows(table).index.tolist()
        ['b']
    """
    table = contract.check(results, columns=NEEDED)
    return table[(table["status"] == "accepted") & (table["price"].isna() | table["currency"].isna())]


def compare(results: pd.DataFrame, columns: str | Sequence[str] = "iso", *, decimals: bool = False) -> pd.DataFrame:
    """Return billed beside estimated, over the accepted messages that have both in one currency.

    Args:
        results: as for `by`, with ``est_parts, est_cost, est_currency`` too.
        columns, decimals: as for `by`.

    Returns:
        ``currency``, the columns, ``messages`` (Int64: those compared), ``parts``, ``est_parts`` (Int64), ``price``,
        ``est_cost``, ``difference`` (float64, price - est_cost) and ``left_out`` (Int64: accepted messages without a
        price, without an estimate, or with an estimate in another currency). Largest difference first within a
        currency.

    Example:
        >>> table = pd.DataFrame({"status": ["accepted"] * 2, "parts": [2, 1], "price": [0.02, 0.01],
        ...                       "currency": ["USD"] * 2, "est_parts": [1, 1], "est_cost": [0.01, None],
        ...                       "est_currency": ["USD", None], "iso": ["US", "US"]})
        >>> compare(table)[["iso", "messages", "price", "est_cost", "difference", "left_out"]].values.tolist()
        [['US', 1, 0.02, 0.01, 0.01, 1]]
    """
    names = _grouping(results, columns, _COMPARED)
    table = contract.check(results, columns=(*NEEDED, "est_parts", "est_cost", "est_currency"))
    table = table[table["status"] == "accepted"]
    both = table["price"].notna() & table["est_cost"].notna() & (table["currency"] == table["est_currency"])
    cells = table[names].assign(
        currency=table["currency"],
        messages=both.astype("Int64"),
        parts=table["parts"].fillna(0).where(both, 0),
        est_parts=table["est_parts"].fillna(0).where(both, 0),
        price=contract.micros(table["price"]).where(both, 0),
        est_cost=contract.micros(table["est_cost"]).where(both, 0),
        left_out=(~both).astype("Int64"),
    )
    sums = _summed(cells, ["currency", *names])
    sums.insert(list(sums.columns).index("est_cost") + 1, "difference", sums["price"] - sums["est_cost"])
    sums["_size"] = sums["difference"].abs()
    sums = sums.sort_values(["currency", "_size"], ascending=[True, False], kind="stable", ignore_index=True)
    known = sums["messages"] > 0
    amounts = {name: _amounts(sums[name].where(known), decimals) for name in ("price", "est_cost", "difference")}
    return sums.drop(columns="_size").assign(**amounts)


def _grouping(results: pd.DataFrame, columns: str | Sequence[str], taken: Sequence[str]) -> list[str]:
    names = [columns] if isinstance(columns, str) else list(columns)
    clashing = [name for name in names if name in taken]
    if clashing:
        raise UsageError(
            f"column {clashing[0]!r} would clash with the sums of the same name; give it another name first: "
            f"results.assign({clashing[0]}_each=results[{clashing[0]!r}])"
        )
    repeated = [name for name in names if names.count(name) > 1]
    if repeated:
        raise UsageError(f"column {repeated[0]!r} is asked for twice")
    missing = [name for name in names if isinstance(results, pd.DataFrame) and name not in results.columns]
    if missing:
        contract.check(results, columns=NEEDED)  # a frame of another kind hears that first
        known = ", ".join(map(repr, results.columns))
        raise UsageError(f"no column {missing[0]!r} to group by; the table has {known}")
    return [name for name in names if name != "currency"]


def _accepted(results: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    """Reduce a result table to what is summed: integers, one row an accepted message."""
    table = contract.check(results, columns=NEEDED)
    table = table[table["status"] == "accepted"]
    readable = table["price"].notna() & table["currency"].notna()
    return table[names].assign(
        currency=table["currency"],
        messages=pd.Series(1, index=table.index, dtype="Int64"),
        parts=table["parts"].fillna(0),
        micros=contract.micros(table["price"]).where(readable, 0),
        unpriced=(~readable).astype("Int64"),
    )


def _summed(cells: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    return cells.groupby(keys, dropna=False, observed=True, sort=True).sum().reset_index()


def _priced(sums: pd.DataFrame, decimals: bool) -> pd.DataFrame:
    """Turn integer sums into amounts: no amount where no price was readable."""
    counted = sums["messages"] - sums["unpriced"]
    micros = sums["micros"].where(counted > 0)
    total = micros.groupby(sums["currency"], dropna=False).transform("sum")
    each = micros.astype("Float64") / counted.where(counted > 0)
    done = sums.drop(columns=["micros", "unpriced"])
    done["price"] = _amounts(micros, decimals)
    done["price_per_message"] = _amounts(each.round(), decimals)
    done["share"] = (micros.astype("Float64") / total.where(total > 0)).astype("float64")
    done["unpriced"] = sums["unpriced"]
    return done


def _amounts(micros: pd.Series, decimals: bool) -> pd.Series:
    if not decimals:
        return contract.money(micros)
    exact: list[Any] = [None if pd.isna(value) else amount(int(value)) for value in micros]
    return pd.Series(exact, index=micros.index, dtype="object")
