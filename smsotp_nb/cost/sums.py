"""Spending rows added up by any column: exact, by currency, and saying what they leave out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import pandas as pd

from .._amounts import amount
from .._calling import given, in_our_words, not_all_text, not_flag, not_list, not_text, not_zone, refuse
from .._ledger import LedgerOrPath, Record, spending_rows
from .._pandas import STR, texts
from .._phones import country_name
from .._results import contract
from ..errors import UsageError
from .rows import (
    BILLED,
    COMPARED,
    COUNTS,
    RECORDED,
    Source,
    check_columns,
    is_sums,
    read_frame,
    read_results,
    read_rows,
)

# int64 holds 9.2e18 millionths; sums of numbers beyond half of it, doubled to round them, are of Python's integers.
_INT64_SAFE: Final = 4e18
_OF_LEDGER: Final = ("service", "campaign", "kind", "month", "day", "iso", "region", "type", "encoding")


@in_our_words
def by(source: Source, columns: str | Sequence[str], *, decimals: bool = False) -> pd.DataFrame:
    """Return what the accepted messages cost, grouped by one or more columns.

    Args:
        source: what ``send`` returned, or any frame with ``status, parts, price, currency`` and the columns to group
            by; a `Ledger`, its path, or a Record; or a table that `spending` or this function returned, to sum it up
            further.
        columns: names of columns, including your own; of a ledger, those that ``plan(keep=...)`` kept. Also ``month``,
            ``day`` (both UTC) and ``kind``. Missing values form a group; ``[]`` gives totals.
        decimals: return amounts as exact ``Decimal`` instead of float64.

    Returns:
        ``currency``, the columns, ``messages`` and ``parts`` (Int64, of accepted rows), ``cost``,
        ``price_per_message`` and ``price_per_part`` (float64, six places, half up, of messages that have a price, of
        which one whose parts are not known counts as one part; that of a part is missing where sums of messages with
        and without a price were summed up further), ``share`` of the cost in its currency (float64, 0 to 1) and
        ``unpriced`` (Int64: messages whose price or currency could not be read; `unpriced_rows` lists them, and they
        are not part of ``cost``). Within a currency the most expensive group comes first.

    Raises:
        UsageError: not a result table, or a column is missing or has the name of one of the columns above.

    Example:
        >>> table = pd.DataFrame({"status": ["accepted", "accepted", "skipped"], "parts": [1, 2, None],
        ...                       "price": [0.0075, 0.0150, None], "currency": ["USD", "USD", None],
        ...                       "segment": ["a", "b", "b"]})
        >>> by(table, "segment")[["currency", "segment", "messages", "cost", "share"]].values.tolist()
        [['USD', 'b', 1, 0.015, 0.6666666666666666], ['USD', 'a', 1, 0.0075, 0.3333333333333333]]
    """
    refuse(not_flag("decimals", decimals))
    rows, names = read_rows(source, columns)
    return with_amounts(largest_first(add_up(rows, names), "micros"), names, decimals)


@in_our_words
def by_country(source: Source, *, decimals: bool = False) -> pd.DataFrame:
    """Return what the accepted messages cost, by the country that the service billed.

    Returns:
        As `by` with ``iso``, followed by ``country``, its English name.

    Example:
        >>> table = pd.DataFrame({"status": ["accepted"], "parts": [1], "price": [0.0395], "currency": ["USD"],
        ...                       "iso": ["NA"]})
        >>> by_country(table)[["iso", "country", "cost"]].values.tolist()
        [['NA', 'Namibia', 0.0395]]
    """
    table = by(source, "iso", decimals=decimals)
    names = [country_name(code) if isinstance(code, str) else None for code in table["iso"]]
    table.insert(table.columns.get_loc("iso") + 1, "country", pd.array(names, dtype=STR))  # type: ignore[operator]
    return table


@in_our_words
def by_month(source: Source, *, tz: str = "UTC", decimals: bool = False) -> pd.DataFrame:
    """Return what each month cost, oldest first; columns as in `by`, with ``month`` (text such as 2026-11).

    A message belongs to the month in which its answer came, in the time zone ``tz``. A `spending` table already has its
    months.

    Example:
        >>> table = pd.DataFrame({"status": ["accepted"], "parts": [1], "price": [0.01], "currency": ["USD"],
        ...                       "at": ["2026-10-31 23:30:00+00:00"]})
        >>> by_month(table, tz="Europe/Berlin")["month"].tolist()
        ['2026-11']
    """
    refuse(not_zone("tz", tz), not_flag("decimals", decimals))
    if not isinstance(source, RECORDED):
        source = read_frame(source)
        if not is_sums(source):  # its months are by the calendar of tz, whatever a column of that name says
            source = source.drop(columns="month", errors="ignore")
    rows, names = read_rows(source, "month", tz=tz)
    return with_amounts(add_up(rows, names), names, decimals)


@in_our_words
def summary(source: Source, *, decimals: bool = False) -> pd.DataFrame:
    """Return the totals, one row per currency; columns as in `by`.

    Example:
        >>> table = pd.DataFrame({"status": ["accepted"] * 2, "parts": [1, 2], "price": [0.01, 0.02],
        ...                       "currency": ["USD"] * 2})
        >>> summary(table)[["currency", "messages", "parts", "cost"]].values.tolist()
        [['USD', 2, 3, 0.03]]
    """
    return by(source, [], decimals=decimals)


@in_our_words
def spending(
    source: LedgerOrPath | Record,
    *,
    service: str | None = None,
    since: object = None,
    until: object = None,
    tz: str = "UTC",
    columns: str | Sequence[str] = (),
) -> pd.DataFrame:
    """Sum up the accepted messages of a ledger by everything that is known of them, for a span of time or one account.

    The other functions of cost take the result in place of a result table.

    Args:
        source: the Ledger, its path, or a Record. Tests to yourself are included, because they cost money as well.
        service: ``"live"``, ``"sandbox"``, or the id of one service. By default the live services, or the sandboxes if
            there is nothing live. A Record has one service.
        since: first day or time, as `pandas.Timestamp` reads it; in ``tz`` if it names no zone.
        until: first day or time that is no longer included.
        tz: time zone of days and months. Those of a purged campaign are in UTC.
        columns: your own columns to sum up by as well, those that ``plan(keep=...)`` kept; they are missing for
            campaigns that did not keep them, and for purged ones.

    Returns:
        One row per combination: the columns asked for; ``service, campaign, kind, month`` (as 2026-11), ``day, iso,
        region, type, encoding, currency``; ``messages, parts`` (Int64), ``cost`` (float64), ``unpriced`` (Int64) and
        ``priced_parts`` (Int64: the parts of messages with a price, of which one whose parts are not known counts as
        one); and for the ``compared`` messages, those with a price and an estimate in one currency, ``compared_parts,
        est_parts`` (Int64), ``compared_cost, est_cost`` (float64).

    Raises:
        UsageError: there is no such service or column, the time zone does not exist, or a time cannot be read.

    Example:
        >>> import tempfile, pathlib
        >>> from smsotp_nb._ledger import Ledger
        >>> with Ledger(pathlib.Path(tempfile.mkdtemp()) / "ledger.sqlite", create=True) as ledger:
        ...     len(spending(ledger))
        0
    """
    if service is not None:
        hint = "; 'live', 'sandbox' or the id of one service, such as client.service"
        refuse(not_text("service", service, hint=hint))
    names = [columns] if isinstance(columns, str) else columns
    refuse(not_zone("tz", tz), not_list("columns", names, of="column names"))
    refuse(not_all_text("columns", names))
    for name in names:
        if name in _OF_LEDGER or name == "currency":
            raise UsageError(f"columns={name!r} is a column of every sum; ask for your own columns only")
    if not isinstance(source, RECORDED):
        raise UsageError(f"spending needs a Ledger, its path or a Record, got {given(source)}; a table is filtered")
    keys = [*check_columns(list(names)), *_OF_LEDGER]
    sums = add_up(spending_rows(source, keys, service=service, since=since, until=until, tz=tz), keys)
    counted = ("unpriced", "priced_parts", "compared", "compared_parts", "est_parts")
    return sums[[*keys, "currency"]].assign(
        **{name: sums[name].astype("Int64") for name in ("messages", "parts")},
        cost=amounts(sums["micros"], sums["messages"] > sums["unpriced"]),
        **{name: sums[name].astype("Int64") for name in counted},
        compared_cost=amounts(sums["compared_micros"], sums["compared"] > 0),
        est_cost=amounts(sums["est_micros"], sums["compared"] > 0),
    )


@in_our_words
def unpriced_rows(source: Source) -> pd.DataFrame:
    """Return the accepted rows whose price or currency could not be read: they cost something, nobody knows how much.

    Warns:
        SmsOtpWarning: campaigns of the ledger were purged, and their rows are gone.

    Example:
        >>> table = pd.DataFrame({"status": ["accepted"] * 2, "parts": [1, 1], "price": [0.01, None],
        ...                       "currency": ["USD", "USD"]}, index=["a", "b"])
        >>> unpriced_rows(table).index.tolist()
        ['b']
    """
    table = contract.check(read_results(source), columns=BILLED)
    return table[(table["status"] == "accepted") & (table["price"].isna() | table["currency"].isna())]


def add_up(rows: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """Return spending rows added up by currency and these columns, in their order; missing values are groups, too."""
    keys = ["currency", *names]
    counts = [name for name in (*COUNTS, *COMPARED) if name in rows.columns]
    values = rows[counts].astype(dict.fromkeys(counts, "int64"), errors="ignore")
    is_large = values.sum().astype("float64").abs().max() > _INT64_SAFE if len(values) else False
    if is_large:
        values = values.astype(object)
    # By position: the index of a caller's frame may repeat its labels.
    columns = {name: _groupable(rows[name]).array for name in keys}
    table = pd.DataFrame(columns | {name: values[name].array for name in counts})
    return table.groupby(keys, dropna=False, observed=True, sort=True)[counts].sum().reset_index()


def _groupable(column: pd.Series) -> pd.Series:
    """Return a column that pandas can group and sort: as it is, else as text.

    A column of somebody's own may hold lists, which are no keys, or paths beside bytes, which have no order.
    """
    if column.dtype != object:
        return column
    try:
        pd.Index(list(pd.factorize(column, sort=True)[1]))
    except Exception:  # noqa: BLE001 - whatever a stranger's __hash__ or __lt__ raises
        return texts(column)
    return column


def largest_first(sums: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return sums by currency, within it those first whose figure is furthest from 0."""
    order = pd.DataFrame({"currency": sums["currency"], "size": -sums[name].abs()})
    return sums.loc[order.sort_values(["currency", "size"], kind="stable").index].reset_index(drop=True)


def amounts(micros: pd.Series, is_known: pd.Series | bool = True, decimals: bool = False) -> pd.Series:
    """Return millionths as float64 amounts, the nearest doubles, or as exact Decimals; missing where not known."""
    is_known = pd.Series(is_known, index=micros.index).fillna(False).astype("bool") & micros.notna()
    if decimals:
        cells = [amount(int(cell)) if known else None for cell, known in zip(micros, is_known, strict=True)]
        return pd.Series(cells, index=micros.index, dtype="object")
    # Python divides integers of any size exactly rounded; a float of more than 2**53 would be rounded twice.
    cells = [int(cell) / 1_000_000 if known else np.nan for cell, known in zip(micros, is_known, strict=True)]
    return pd.Series(cells, index=micros.index, dtype="float64")


def each_of(micros: pd.Series, count: pd.Series) -> pd.Series:
    """Return the millionths of one, rounded half up; missing where there are none to divide by."""
    cells = [
        None if number <= 0 else divide_half_up(int(total), int(number))
        for total, number in zip(micros, count, strict=True)
    ]
    return pd.Series(cells, index=micros.index, dtype="object")


def divide_half_up(total: int, count: int) -> int:
    """Return the quotient of two integers, the second above 0, rounded half away from zero."""
    rounded = (2 * abs(total) + count) // (2 * count)
    return rounded if total >= 0 else -rounded


def with_amounts(sums: pd.DataFrame, names: Sequence[str], decimals: bool) -> pd.DataFrame:
    """Return sums with amounts: none where no price was readable."""
    priced = sums["messages"] - sums["unpriced"]
    is_priced = priced > 0
    known = sums["micros"].where(is_priced, 0)
    totals = known.groupby(sums["currency"], dropna=False).transform("sum")
    each_part = each_of(sums["micros"], sums["priced_parts"]).where(sums["parts_unknown"] == 0)
    share = known.astype("float64") / totals.astype("float64").where(totals > 0)
    return sums[["currency", *names]].assign(
        messages=sums["messages"].astype("Int64"),
        parts=sums["parts"].astype("Int64"),
        cost=amounts(sums["micros"], is_priced, decimals),
        price_per_message=amounts(each_of(sums["micros"], priced), is_priced, decimals),
        price_per_part=amounts(each_part, is_priced, decimals),
        share=share.where(is_priced),
        unpriced=sums["unpriced"].astype("Int64"),
    )
