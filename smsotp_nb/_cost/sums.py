"""Sums by any column, of a result table, a ledger or a campaign: exact, by currency, of accepted messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from .._calling import given, in_our_words, not_all_text, not_flag, not_list, not_text, not_zone, refuse
from .._frames import as_pandas
from .._ledger import Ints, snapshot_of
from .._ledger import spending as summing
from .._pandas import STR
from .._phones import country_name
from .._results import contract
from ..columns import require
from ..errors import UsageError
from .sources import (
    COMPARED,
    ESTIMATED,
    LEDGERS,
    NEEDED,
    RECORDED,
    Source,
    added_up,
    amounts,
    billed,
    compared,
    derived,
    grouped_by,
    grouping,
    is_summed,
    read,
    refuse_words,
    rows,
    summed,
)

SUMS: Final = ("messages", "parts", "cost", "price_per_message", "price_per_part", "share", "unpriced")
_COUNTED: Final = ("messages", "parts", "micros", "unpriced", "priced_parts", "mixed")
_BOTH: Final = ("messages", "parts", "cost", "unpriced", *COMPARED, "difference", "price_per_part", "planned_rate")
_RATES: Final = (("price_per_part", "compared_cost", "compared_parts"), ("planned_rate", "est_cost", "est_parts"))
Floats: TypeAlias = npt.NDArray[np.float64]


@in_our_words
def by(results: Source, columns: str | Sequence[str], *, decimals: bool = False) -> pd.DataFrame:
    """Return what the accepted messages cost, grouped by one or more columns.

    Args:
        results: what ``send`` returned, or any frame with ``status, parts, price, currency`` and the columns to group
            by; a `Ledger`, its path, a Record, or `spending` of them; or a table that this function returned, to sum
            it up further.
        columns: names of columns, including your own; of a ledger, those that ``plan(keep=...)`` kept. Also ``month``,
            ``day`` (both UTC) and ``kind``; and of a ledger or a Record, ``wording`` and ``version``, as for
            `spending`. Missing values form a group; ``[]`` gives totals.
        decimals: return amounts as exact ``Decimal`` instead of float64.

    Returns:
        ``currency``, the columns, ``messages`` and ``parts`` (Int64, of accepted rows), ``cost``,
        ``price_per_message`` and ``price_per_part`` (float64, six places, of messages that have a price, of which one
        whose parts are not known counts as one part; that of a part is missing where sums of both kinds were summed up
        further), ``share`` of the cost in its currency (float64, 0 to 1) and ``unpriced`` (Int64: messages whose price
        or currency could not be read; they are listed by `unpriced_rows` and not part of ``cost``). Within a currency
        the most expensive group comes first.

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
    return sums_by(results, columns, decimals)


def sums_by(
    results: Source, columns: str | Sequence[str], decimals: bool, *, tz: str = "UTC", by_cost: bool = True
) -> pd.DataFrame:
    """Return what `by` does, or the groups in their own order; a ledger's days and months are those of a time zone."""
    if isinstance(results, LEDGERS):
        names = grouping(None, columns, taken=(*SUMS, *_COUNTED))
        with snapshot_of(results) as store:
            found = summing.billed_by(store, names, tz=tz)
        keys, counts = grouped_by(*found)
    else:
        frame = read(results, columns=columns)
        names = grouping(frame, columns, taken=(*SUMS, *_COUNTED))
        sums = added_up(billed(frame, names), names)
        keys = {name: sums[name].array for name in ("currency", *names)}
        counts = {name: sums[name].to_numpy("int64") for name in _COUNTED}
    if by_cost:
        currency, _ = pd.factorize(keys["currency"], use_na_sentinel=False)
        order = np.lexsort((-counts["micros"], currency))
        keys = {name: key.take(order) for name, key in keys.items()}
        counts = {name: each[order] for name, each in counts.items()}
    return priced(keys, counts, decimals)


@in_our_words
def by_country(results: Source, *, decimals: bool = False) -> pd.DataFrame:
    """Return what the accepted messages cost, by the country that the service billed.

    Returns:
        As `by` with ``iso``, followed by ``country``, its English name.

    Example:
        >>> table = pd.DataFrame({"status": ["accepted"], "parts": [1], "price": [0.0395], "currency": ["USD"],
        ...                       "iso": ["NA"]})
        >>> by_country(table)[["iso", "country", "cost"]].values.tolist()
        [['NA', 'Namibia', 0.0395]]
    """
    return with_country(by(results, ["iso"], decimals=decimals))


def with_country(table: pd.DataFrame) -> pd.DataFrame:
    """Put the English names of countries after their codes, in a table of our own."""
    codes = table["iso"].tolist()
    name = {iso: country_name(iso) for iso in {*codes} if isinstance(iso, str)}
    names = pd.array([name.get(iso) for iso in codes], dtype=STR)
    table.insert(list(table.columns).index("iso") + 1, "country", names)
    return table


@in_our_words
def unpriced_rows(results: Source) -> pd.DataFrame:
    """Return the accepted rows whose price or currency could not be read. They cost something, but the amount is
    unknown.

    Example:
        >>> table = pd.DataFrame({"status": ["accepted"] * 2, "parts": [1, 1], "price": [0.01, None],
        ...                       "currency": ["USD", "USD"]}, index=["a", "b"])
        >>> unpriced_rows(table).index.tolist()
        ['b']
    """
    table = contract.check(rows(results), columns=NEEDED)
    return table[(table["status"] == "accepted") & (table["price"].isna() | table["currency"].isna())]


@in_our_words
def compare(results: Source, columns: str | Sequence[str] = "iso", *, decimals: bool = False) -> pd.DataFrame:
    """Compare what was billed with what was estimated. The sums are of everything billed, as in `by`.

    Args:
        results: as for `by`; a frame also needs ``est_parts, est_cost, est_currency``.
        columns: as for `by`.
        decimals: as for `by`.

    Returns:
        ``currency``, the columns, ``messages, parts, cost, unpriced`` as in `by`; then of the accepted messages that
        have a price and an estimate in one currency: ``compared`` (Int64: how many they are), ``compared_parts`` and
        ``est_parts`` (Int64), ``compared_cost``, ``est_cost`` and ``difference`` (float64, compared_cost - est_cost);
        ``price_per_part`` as billed and ``planned_rate``, that of the plan (float64, six places, weighted by parts).
        Within a currency the largest difference comes first.

    Example:
        >>> table = pd.DataFrame({"status": ["accepted"] * 2, "parts": [2, 1], "price": [0.02, 0.01],
        ...                       "currency": ["USD"] * 2, "est_parts": [1, 1], "est_cost": [0.01, None],
        ...                       "est_currency": ["USD", None], "iso": ["US", "US"]})
        >>> compare(table)[["messages", "cost", "compared", "compared_cost", "est_cost", "difference"]].values.tolist()
        [[2, 0.03, 1, 0.02, 0.01, 0.01]]
    """
    frame = read(results, columns=columns)
    names = grouping(frame, columns, taken=_BOTH)
    sums = added_up(compared(frame, names), names)
    sums["difference"] = sums["compared_cost"] - sums["est_cost"]
    order = pd.DataFrame({"currency": sums["currency"], "off": -sums["difference"].abs(), "size": -sums["micros"]})
    sums = sums.loc[order.sort_values(list(order.columns), kind="stable").index].reset_index(drop=True)
    known, both = sums["messages"] > sums["unpriced"], sums["compared"] > 0
    sums["cost"] = amounts(sums.pop("micros").where(known), decimals)
    said = {name: amounts(sums[name].where(both), decimals) for name in ("compared_cost", "est_cost", "difference")}
    for name, cost, parts in _RATES:
        each = _each(sums[cost].to_numpy("float64"), sums[parts].to_numpy("int64"))
        said[name] = amounts(pd.Series(each), decimals)
    return sums.assign(**said)[["currency", *names, *_BOTH]]


def priced(keys: Mapping[Any, Any], at: Mapping[str, Ints], decimals: bool, known: Any = True) -> pd.DataFrame:
    """Turn integer sums into amounts: no amount where no price was readable, or it is not ``known``."""
    counted = at["messages"] - at["unpriced"]
    has = known & (counted > 0)
    micros: Floats = np.where(has, at["micros"].astype("float64"), np.nan)
    code, _ = pd.factorize(keys["currency"], use_na_sentinel=False)
    total = np.bincount(code, np.nan_to_num(micros))[code]
    each = _each(np.where(at["mixed"] == 0, micros, np.nan), at["priced_parts"])
    of_one = {"price_per_message": _each(micros, counted), "price_per_part": each}
    exact = pd.Series(pd.arrays.IntegerArray(at["micros"], ~has)) if decimals else micros
    prices = {
        name: amounts(pd.Series(values), decimals).array if decimals else (values / 1_000_000).round(6)
        for name, values in {"cost": exact, **of_one}.items()
    }
    return pd.DataFrame({
        **keys,
        **{name: pd.array(at[name], dtype="Int64") for name in ("messages", "parts")},
        **prices,
        "share": _ratio(micros, total),
        "unpriced": pd.array(at["unpriced"], dtype="Int64"),
    }, copy=False)  # fmt: skip


def _ratio(above: Floats, below: Floats | Ints) -> Floats:
    out = np.full(len(above), np.nan)
    return np.asarray(np.divide(above, below, out=out, where=below > 0))


def _each(micros: Floats, count: Ints) -> Floats:
    """Return the millionths for one, rounded; missing where there are none."""
    return np.round(_ratio(micros, count))


_OF_ROWS: Final = ("campaign", "service", "iso", "region", "type", "encoding", "at", *NEEDED, *ESTIMATED)
_BY: Final = ("service", "campaign", "kind", "month", "day", "iso", "region", "type", "encoding")


@in_our_words
def spending(
    source: Source,
    *,
    service: str | None = None,
    since: object = None,
    until: object = None,
    tz: str = "UTC",
    columns: str | Sequence[str] = (),
) -> pd.DataFrame:
    """Sum up accepted messages by everything that is known of them.

    A ledger is read in one pass with bounded memory, so ten million rows take seconds at most. `cost.by` and similar
    functions take the result in place of a result table.

    Args:
        source: the Ledger, its path, a Record, or a result table. Of a ledger, tests to yourself are included,
            because they cost money as well.
        service: ``"live"``, ``"sandbox"``, or the id of one service. By default the live services, or the sandboxes if
            there is nothing live. A Record has one service.
        since: first day or time, as `pandas.Timestamp` reads it; in ``tz`` if it names no zone.
        until: first day or time that is no longer included.
        tz: time zone of days and months. Those of a purged campaign are in UTC.
        columns: your own columns to sum up by as well. Of a ledger, those that ``plan(keep=...)`` kept; they are
            missing for campaigns that did not keep them, and for purged ones. Also ``wording`` (str: what the messages
            say, with their placeholders) and ``version`` (Int64: the version of the campaign in which they said it
            first), which only a ledger knows.

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
    refuse(not_zone("tz", tz), not_service(service))
    names = [columns] if isinstance(columns, str) else columns
    refuse(not_list("columns", names, of="column names"))
    names = list(names)
    refuse(not_all_text("columns", names))
    if isinstance(source, RECORDED):
        return summed(source, service=service, since=since, until=until, tz=tz, columns=names)
    frame = as_pandas(source)
    if not isinstance(frame, pd.DataFrame):
        raise UsageError(f"spending needs a result table, a ledger, its path or a Record, got {given(source)}")
    return _of_rows(frame, service, summing.span_of(since, until, tz), tz, names)


def not_service(service: object) -> str | None:
    which = "; 'live', 'sandbox' or the id of one service, such as client.service"
    return None if service is None else not_text("service", service, hint=which)


def _of_rows(
    frame: pd.DataFrame, service: str | None, span: tuple[int | None, int | None], tz: str, names: list[str]
) -> pd.DataFrame:
    if is_summed(frame):
        raise UsageError("these are sums already; the functions of cost take them as they are")
    table = contract.check(frame, columns=_OF_ROWS)
    own = [name for name in table.columns if name not in summing.COLUMNS]
    summing.refuse_repeated(names)
    refuse_words([name for name in names if name not in own])
    for name in names:
        summing.refuse_summed(name)
        require(name, own, where="columns of the table")
    table = summing.of_services(table, service, where="the table")
    mine = table["status"] == "accepted"
    for bound, inside in zip(span, (table["at"].ge, table["at"].lt), strict=True):
        if bound is not None:
            mine &= inside(pd.Timestamp(bound, unit="us")).fillna(False)
    table = table[mine]
    table = table.assign(**{name: derived(table, name, tz) for name in ("kind", "month", "day")})
    keys = [*names, *_BY]
    sums = added_up(compared(table, keys), keys)
    known, both = sums["messages"] > sums["unpriced"], sums["compared"] > 0
    done = sums.assign(
        cost=contract.money(sums["micros"].where(known)),
        **{name: contract.money(sums[name].where(both)) for name in COMPARED if name.endswith("cost")},
    )
    return done.reindex(columns=[*names, *summing.COLUMNS]).astype(summing.COLUMNS)
