"""Why a cost changed: what more messages, other countries, longer texts and other rates each added to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from math import factorial
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from .._calling import in_our_words, not_zone, refuse
from .._cards import SHOWN, Bar, Card, Table, WithCard, counted, listed, money, notes, places_of, records
from .._dates import days
from .._pandas import STR
from .._planning import Plan
from .._results import contract
from .._showing import label
from ..columns import require
from ..errors import UsageError
from .months import month_named
from .sources import Source, added_up, billed, compared, grouping, has_estimates, in_doubt, is_summed, read
from .sums import with_country

Floats: TypeAlias = npt.NDArray[np.float64]

EFFECTS: Final = ("volume", "mix", "parts", "rate")
_AMOUNTS: Final = ("before", *EFFECTS, "change", "now")
_COUNTED: Final = ("messages_before", "messages_now", "parts_before", "parts_now")


@dataclass(frozen=True, slots=True, eq=False)
class Bridge(WithCard):
    """A change of cost, taken apart into effects that add up to it exactly.

    The cost of a group is *messages in all x the group's share of them x parts a message x rate*, where the rate is
    what a part cost on average. Each effect is what a change of one of the four added:

    - ``volume``: more or fewer messages in all
    - ``mix``: another share of the messages went to the group
    - ``parts``: more or fewer parts a message
    - ``rate``: another price of a part

    Which of the four changed first would decide how much each is given, so the effects are averaged over all orders
    (the Shapley value). A group that only one of the two sides has is all volume and mix.

    Attributes:
        totals: a row a currency: ``currency`` (str), ``before, volume, mix, parts, rate, change, now`` (float64) and
            ``left_out`` (Int64: messages without a readable price or an estimate, or in a currency in which the other
            side's have none, in no amount). Those of an unknown currency are in a row without one, if there are several
            currencies.
        groups: the same for each currency and group, largest change first, with ``messages_before, messages_now,
            parts_before, parts_now`` (Int64) at the end. In every row ``volume + mix + parts + rate = change =
            now - before``, and the rows of a currency add up to its total: exactly, in millionths.

    Example:
        >>> then = pd.DataFrame({"status": "accepted", "iso": ["US", "IN"], "currency": "USD", "parts": [1, 1],
        ...                      "price": [0.01, 0.03]})
        >>> now = pd.DataFrame({"status": "accepted", "iso": ["US", "IN"], "currency": "USD", "parts": [2, 1],
        ...                     "price": [0.02, 0.03]})
        >>> bridge(now, then).totals[["before", "volume", "mix", "parts", "rate", "now"]].values.tolist()
        [[0.04, 0.0, 0.0, 0.01, 0.0, 0.05]]
    """

    totals: pd.DataFrame
    groups: pd.DataFrame
    _months: Mapping[str, str] = field(default_factory=dict, repr=False)  # in which a currency was billed
    _in_doubt: int = field(default=0, repr=False)  # rows of result tables, which may have been billed
    _days: str = field(default="", repr=False)  # that are compared, of `movers`

    def card(self) -> Card:
        """Return the bridge as a card: a waterfall for each currency, and the groups that changed most."""
        rows = records(self.totals)
        left_out, doubt = int(self.totals["left_out"].sum()), self._in_doubt
        why = "in no amount: without a price or an estimate, or nothing to compare with"
        told = notes(
            ("!", left_out, f"{counted(left_out, 'message')} {why}"),
            ("!", doubt, f"{counted(doubt, 'row')} in doubt, possibly sent and billed, in no amount"),
        )
        return Card(
            title="What changed the cost",
            state=" and ".join(_change(self, row) for row in rows) or "There is nothing to compare",
            blocks=(*(block for row in rows for block in _blocks(self, row)), *told),
            closing=self._days,
        )


@in_our_words
def bridge(now: Source | Plan, before: Source | Plan | None = None, *, columns: str | Sequence[str] = "iso") -> Bridge:
    """Take the change from one cost to another apart: this month and last, two plans, or billed and estimated.

    Args:
        now: a result table, a `Ledger` or its path, sums of either (`spending`, `by`), or a plan, which counts with its
            estimate.
        before: what to compare with, likewise. By default the estimate of ``now``, over the messages that have both.
        columns: what the groups are, as for `by`; a plan has ``iso`` (of its numbers), ``type``, ``encoding`` and its
            kept columns.

    Raises:
        UsageError: neither is a table of costs, a column is missing, or ``now`` has no estimate to compare with.

    Example:
        >>> year = pd.DataFrame({"month": ["2026-10", "2026-11"], "iso": "US", "currency": "USD",
        ...     "messages": [100, 150], "parts": [100, 150], "cost": [1.0, 1.8], "unpriced": [0, 0]})
        >>> made = bridge(year[year["month"] == "2026-11"], year[year["month"] == "2026-10"])
        >>> made.groups[["iso", "volume", "rate", "change"]].values.tolist()
        [['US', 0.55, 0.25, 0.8]]
    """
    if before is None:
        names, cells, left_out = _estimated(now, columns)
    else:
        names, later, missed_now = _cells(now, columns)
        _, earlier, missed_before = _cells(before, columns)
        cells = earlier.merge(later, on=["currency", *names], how="outer", suffixes=("_before", "_now")).fillna(
            {name + side: 0 for name in ("messages", "parts", "micros") for side in ("_before", "_now")}
        )
        left_out = missed_now.add(missed_before, fill_value=0)
        cells, left_out = _comparable(cells, left_out, {"_before": missed_before, "_now": missed_now})
    made = _taken_apart(cells, names, left_out)
    uncompared = len(made.totals) > made.groups["currency"].nunique()
    doubt = sum(in_doubt(side) for side in (now, before) if not (side is None or isinstance(side, Plan)))
    made = replace(made, _in_doubt=doubt)
    return replace(made, _months=_months_of(now, before)) if uncompared else made


@in_our_words
def movers(
    history: Source, columns: str | Sequence[str] = "iso", *, month: str | None = None, tz: str = "UTC"
) -> Bridge:
    """Return what moved the cost from one month to the next, the largest change first.

    Of a month that has not ended in the history, the days so far are compared with the same days of the month before.

    Args:
        history: results, a `Ledger` or its path, or sums with a ``day`` (`spending`).
        columns: as for `by`: countries, campaigns, your own columns.
        month: the month, as 2026-11; by default the one of the latest message.
        tz: time zone of the days of results and ledgers.

    Returns:
        A `Bridge`: ``.groups`` has a row a group with ``before``, ``now``, ``change`` and what volume, mix, parts and
        rate added.

    Raises:
        UsageError: as for `bridge`, or one of the two months has no messages.

    Example:
        >>> days = pd.date_range("2026-10-01", "2026-11-10")
        >>> sums = pd.DataFrame({"day": days, "iso": "US", "currency": "USD", "messages": 10, "parts": 10,
        ...                      "cost": [0.1] * 31 + [0.2] * 10, "unpriced": 0})
        >>> movers(sums).groups[["iso", "before", "now", "rate"]].values.tolist()
        [['US', 1.0, 2.0, 1.0]]
    """
    refuse(not_zone("tz", tz))
    names = [columns] if isinstance(columns, str) else columns
    frame = read(history, tz=tz, columns=[*names, "day"] if isinstance(names, list | tuple) else "day")
    require("day", frame.columns, where="sums by day are needed (cost.spending has them)")
    day = days(frame["day"], "column 'day'").astype("datetime64[us]")
    if not is_summed(frame):
        day = day.where(frame["status"].eq("accepted").to_numpy(bool))
    latest = day.max()
    if pd.isna(latest):
        raise UsageError("there is no accepted message in these costs yet")
    first = month_named(month) if month is not None else latest.replace(day=1)
    begins = first - pd.offsets.MonthBegin(1)
    ends = min(first + pd.offsets.MonthBegin(1), latest + pd.Timedelta(days=1))
    whole = ends == first + pd.offsets.MonthBegin(1)
    until = first if whole else min(begins + (ends - first), first)
    spans = ((first, ends), (begins, until))
    sides = [frame[((day >= start) & (day < end)).to_numpy(bool)] for start, end in spans]
    said = " compared with ".join(f"{start:%Y-%m-%d} to {end - pd.Timedelta(days=1):%Y-%m-%d}" for start, end in spans)
    for side, (start, _) in zip(sides, spans, strict=True):
        if side.empty:
            some = day.ge(start) & day.lt(start + pd.offsets.MonthBegin(1))
            days_of = f" on the days that are compared ({said})" if some.any() else ""
            has = f"{day.min():%Y-%m-%d} to {latest:%Y-%m-%d}"
            raise UsageError(f"there are no messages in {start:%Y-%m}{days_of}; the history has {has}")
    return replace(bridge(*sides, columns=columns), _days=said, _in_doubt=in_doubt(history))


def _months_of(*sources: Source | Plan | None) -> dict[str, str]:
    """Return the months in which each currency was billed, where they are known: a table without times has none."""
    found = []
    for frame in (read(source) for source in sources if not (source is None or isinstance(source, Plan))):
        if not is_summed(frame):
            frame = contract.check(frame, columns=("status", "currency"))
            frame = frame[frame["status"].eq("accepted").to_numpy(dtype=bool)]
            frame = read(frame, columns="month") if "at" in frame.columns else frame
        found.append(frame.reindex(columns=["currency", "month"]).astype(STR))
    pairs = pd.concat(found or [pd.DataFrame(columns=["currency", "month"])]).dropna().drop_duplicates()
    return {str(code): ", ".join(part["month"]) for code, part in pairs.sort_values("month").groupby("currency")}


def _cells(source: Source | Plan, columns: str | Sequence[str]) -> tuple[list[str], pd.DataFrame, pd.Series]:
    """Return the names, messages, parts and cost by currency and name, and what is left out by currency."""
    frame = _of_plan(source) if isinstance(source, Plan) else read(source, columns=columns)
    names = grouping(frame, columns, taken=(*_AMOUNTS, *_COUNTED))
    cells = billed(_priced(frame), names)
    priced = cells["messages"] - cells["unpriced"]
    # Where sums do not know the parts of those with a price, they have as many a message as all of the sum.
    like_all = (cells["parts"] * priced / cells["messages"].where(cells["messages"] > 0)).round().fillna(0)
    cells["parts"] = cells.pop("priced_parts").where(cells.pop("mixed") == 0, like_all.astype("Int64"))
    sums = added_up(cells.assign(messages=priced).drop(columns="unpriced"), names)
    every = added_up(billed(frame, []), [])
    left_out = every.set_index("currency")["unpriced"]
    return names, sums[sums["messages"] > 0], left_out


def _comparable(
    cells: pd.DataFrame, left_out: pd.Series, missed: dict[str, pd.Series]
) -> tuple[pd.DataFrame, pd.Series]:
    """Leave out a currency of which one side has only messages without a price: that they cost nothing is not known."""
    for currency in cells["currency"].unique().tolist():
        mine = cells["currency"].eq(currency).to_numpy(bool)
        sides = {side: int(cells.loc[mine, f"messages{side}"].sum()) for side in missed}
        unpriced = {side: by[by.index.isna() | (by.index == currency)].sum() for side, by in missed.items()}
        if any(unpriced[side] and not sides[side] for side in missed):
            cells = cells[~mine]
            left_out = left_out.add(pd.Series({currency: sum(sides.values())}), fill_value=0)
    return cells, left_out


def _priced(frame: pd.DataFrame) -> pd.DataFrame:
    """Leave out single messages without a price; of sums, those whose parts are known apart."""
    if is_summed(frame):
        return frame
    table = contract.check(frame, columns=("status", "parts", "price", "currency"))
    return table[table["price"].notna() & table["currency"].notna()]


def _of_plan(plan: Plan) -> pd.DataFrame:
    """Return a plan's rows as if each had been billed as estimated."""
    rows = plan._as_planned[plan._as_planned["status"].eq("planned").to_numpy()]
    said = {"iso": rows["region"], "price": rows["est_cost"], "currency": rows["est_currency"]}
    return rows.assign(**said, status="accepted", parts=rows["est_parts"])


def _estimated(source: Source | Plan, columns: str | Sequence[str]) -> tuple[list[str], pd.DataFrame, pd.Series]:
    if isinstance(source, Plan):
        raise UsageError("a plan is its own estimate; give before= as well: an earlier plan, results or a ledger")
    frame = read(source, columns=columns)
    names = grouping(frame, columns, taken=(*_AMOUNTS, *_COUNTED))
    if is_summed(frame) and not has_estimates(frame):
        raise UsageError("these sums hold no estimates; compare the result table or the ledger, or give before=")
    sums = added_up(compared(frame, names), names)
    left_out = (sums["messages"] - sums["compared"]).groupby(sums["currency"], dropna=False).sum()
    sums = sums.drop(columns=["messages", "parts", "micros", "unpriced", "priced_parts", "mixed"]).rename(
        columns={
            "compared": "messages_now",
            "compared_parts": "parts_now",
            "compared_cost": "micros_now",
            "est_parts": "parts_before",
            "est_cost": "micros_before",
        }
    )
    sums = sums.assign(messages_before=sums["messages_now"])
    return names, sums[sums["messages_now"] > 0], left_out


def _taken_apart(cells: pd.DataFrame, names: list[str], left_out: pd.Series) -> Bridge:
    effects = [*EFFECTS]
    table = cells[["currency", *names]].assign(before=cells["micros_before"].astype("int64"))
    table[effects] = _effects(cells)
    table["change"] = table[effects].sum(axis=1)
    table["now"] = cells["micros_now"].astype("int64")
    sums = table.drop(columns=names).groupby("currency", sort=True).sum()
    left_out = left_out[(left_out > 0).to_numpy(bool)]
    known = sums.index.union(left_out.index.dropna())
    if left_out.index.hasnans and len(known) == 1:  # the only currency that they can be of
        left_out = left_out.groupby(left_out.index.fillna(known[0])).sum()
    every = sums.index.union(left_out.index)  # a currency of which no price is known has nothing but what is left out
    totals = sums.reindex(every, fill_value=0).rename_axis("currency").reset_index()
    totals["left_out"] = left_out.reindex(every, fill_value=0).astype("Int64").array
    for name in _COUNTED:
        table[name] = cells[name].astype("Int64")
    order = table.assign(_size=-table["change"].abs()).sort_values(["currency", "_size"], kind="stable").index
    groups = _in_money(table.loc[order].reset_index(drop=True))
    return Bridge(_in_money(totals), with_country(groups) if "iso" in names else groups)


def _effects(cells: pd.DataFrame) -> npt.NDArray[np.int64]:
    """Return the effects of each group, in whole micro-units that add up to its change."""
    before, now = _factors(cells)
    exact = np.column_stack([_shapley(before, now, place) for place in range(len(EFFECTS))])
    whole = np.rint(exact).astype(np.int64)
    change = (cells["micros_now"] - cells["micros_before"]).to_numpy(np.int64)
    rows = np.arange(len(whole))
    # Rounding leaves a millionth or two, which the largest effect takes.
    whole[rows, np.abs(exact).argmax(axis=1)] += change - whole.sum(axis=1)
    return whole


def _shapley(before: list[Floats], now: list[Floats], place: int) -> Floats:
    """Return what one factor's change adds to their product, averaged over all orders of the changes."""
    others = [other for other in range(len(before)) if other != place]
    added = np.zeros_like(before[place])
    for size in range(len(others) + 1):
        weight = factorial(size) * factorial(len(others) - size) / factorial(len(before))
        for changed in combinations(others, size):
            added += weight * np.prod([now[other] if other in changed else before[other] for other in others], axis=0)
    return added * (now[place] - before[place])


def _factors(cells: pd.DataFrame) -> tuple[list[Floats], list[Floats]]:
    """Return messages in all, share of them, parts a message and rate of each group, before and now.

    Where one side has no message, or no message in a group, it takes the other's share, or its parts and rate: what it
    does not have cannot have changed. Groups whose messages have no parts on a side count a message as one.
    """
    messages, parts, cost = (
        [cells[name + side].to_numpy("float64") for side in ("_before", "_now")]
        for name in ("messages", "parts", "micros")
    )
    groups = cells["currency"].to_numpy()
    in_all = [pd.Series(each).groupby(groups).transform("sum").to_numpy("float64") for each in messages]
    whole = np.any([(many > 0) & (of == 0) for many, of in zip(messages, parts, strict=True)], axis=0)
    parts = [np.where(whole, many, of) for many, of in zip(messages, parts, strict=True)]
    lists = [
        [in_all[at], _ratio(messages[at], in_all[at]), _ratio(parts[at], messages[at]), _ratio(cost[at], parts[at])]
        for at in (0, 1)
    ]
    for at, mine in enumerate(lists):
        other = lists[1 - at]
        mine[1] = np.where(in_all[at] > 0, mine[1], other[1])
        for place in (2, 3):
            mine[place] = np.where(messages[at] > 0, mine[place], other[place])
    return lists[0], lists[1]


def _ratio(above: Floats, below: Floats) -> Floats:
    return np.divide(above, below, out=np.zeros_like(above), where=below > 0)


def _in_money(table: pd.DataFrame) -> pd.DataFrame:
    said = {name: contract.money(table[name]) for name in _AMOUNTS}
    return table.assign(currency=table["currency"].astype(STR), **said)


# -- the card

_SAID: Final = {
    "before": "Before",
    "volume": "Number of messages",
    "mix": "Shares of the groups",
    "parts": "Parts a message",
    "rate": "Price of a part",
    "now": "Now",
}
_SIZE: Final = 16.0  # em of the whole waterfall


def _blocks(bridge: Bridge, total: dict[str, Any]) -> list[Table]:
    mine = bridge.groups[bridge.groups["currency"] == total["currency"]]
    if mine.empty:
        return []
    changed = mine[mine["change"] != 0]
    first = changed.head(SHOWN)
    places = places_of([*first["before"], *first["now"]])
    names = [name for name in mine.columns[: list(mine.columns).index("before")] if name not in ("currency", "iso")]

    def effect(at: int) -> Callable[[dict[str, Any]], str]:
        return lambda row: _signed(_shown_effects(row, places)[at], places)

    steps = Table(columns=("", total["currency"]), rows=tuple(_steps(total)))
    groups = listed(
        changed,
        ("", "left", lambda row: ", ".join(_label(row[name]) for name in names or ["iso"])),
        ("Change", "right", lambda row: _signed(row["change"], places)),
        ("Messages", "right", effect(0)),
        ("Shares", "right", effect(1)),
        ("Parts", "right", effect(2)),
        ("Price of a part", "right", effect(3)),
        title="What changed most" + (f", {total['currency']}" if len(bridge.totals) > 1 else ""),
        where=".groups",
    )
    return [steps, *groups]


def _steps(total: dict[str, Any]) -> Iterator[tuple[str, Bar]]:
    """Yield the waterfall: each bar begins where the one above ends."""
    ends = np.cumsum([total["before"], *(total[effect] for effect in EFFECTS)])
    longest = max(float(ends.max()), float(total["now"])) or 1.0
    places = places_of([total["before"], total["now"]])
    said = _shown_effects(total, places)
    yield _SAID["before"], Bar(total["before"] / longest, money(total["before"], places=places), size=_SIZE)
    for effect, amount, start, end in zip(EFFECTS, said, ends, ends[1:], strict=False):
        low, long = min(start, end) / longest, abs(total[effect]) / longest
        words, falls = _signed(amount, places), end < start
        yield _SAID[effect], Bar(long, words, start=low, size=_SIZE, hollow=falls, rises=not falls)
    yield _SAID["now"], Bar(total["now"] / longest, money(total["now"], places=places), size=_SIZE)


def _shown_effects(row: dict[str, Any], places: int) -> list[float]:
    """Round effects to the places of their change so that what is shown adds up to it: the largest takes the rest."""
    said = [round(float(row[effect]), places) for effect in EFFECTS]
    largest = max(range(len(said)), key=lambda place: abs(said[place]))
    said[largest] = round(said[largest] + float(row["change"]) - sum(said), places)
    return said


def _signed(amount: float, places: int) -> str:
    """Return an amount with its sign; what adds nothing has none.

    Example:
        >>> _signed(1.5, 2), _signed(-0.25, 2), _signed(0.0, 2)
        ('+1.50', '−0.25', '0.00')
    """
    sign = "+" if amount > 0 else "−" if amount < 0 else ""
    return sign + money(abs(amount), places=places)


def _change(bridge: Bridge, row: dict[str, Any]) -> str:
    """Say in words what a currency changed by."""
    amount, currency = row["change"], row["currency"]
    if currency not in bridge.groups["currency"].unique().tolist():
        months = bridge._months.get(currency)
        said = f"{'Unknown currency' if pd.isna(currency) else currency}: nothing to compare"
        return f"{said} (billed in {months})" if months else said
    apart = f", apart from {counted(row['left_out'], 'message')} in no amount" if row["left_out"] else ""
    if not amount:
        return f"{currency}: no change{apart}"
    return f"{money(abs(amount), currency)} {'more' if amount > 0 else 'less'}{apart}"


def _label(value: Any) -> str:
    return "unknown" if value is None or pd.isna(value) else label(value)
