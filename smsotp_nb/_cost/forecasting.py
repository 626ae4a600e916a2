"""What the next month, or the next plan, will cost: with an interval, and how far off such forecasts were before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal

import pandas as pd

from .. import _dates as dates
from .._calling import given, in_our_words, not_a, not_choice, not_number, not_zone, refuse
from .._cards import Bar, Block, Card, Note, Table, WithCard, about, and_more, counted, money, share
from .._pandas import STR
from .._phones import country_name
from .._planning import Plan
from .._results import contract
from ..errors import UsageError
from . import month_ahead, plan_ahead
from .backtest import LEAST, Tried, margin, missed, reached
from .daily import daily
from .month_ahead import BASELINE, WAYS, Floats, Span
from .sources import Source, records

Method = Literal["best", "smoothing", "weekly pattern"]
TOO_SHORT: Final = "none: the history is too short"
_FARTHEST: Final = 92  # days that a forecast may reach
_SHOWN: Final = 8
_SIZE: Final = 16.0  # em of the longest bar
_TOTALS: Final = ("currency", "billed", "expected", "low", "high", "level", "method", "off", "baseline_off", "tried")
_GROUPS: Final[dict[str, str | pd.StringDtype]] = {
    **dict.fromkeys(("currency", "region"), STR),
    **dict.fromkeys(("messages", "est_parts"), "Int64"),
    **dict.fromkeys(("rate", "low", "high", "expected"), "float64"),
}


@dataclass(frozen=True, slots=True, eq=False)
class Forecast(WithCard):
    """What a month or a plan will cost. Each currency has a forecast of its own, and none is below zero.

    Attributes:
        what: the month, as 2026-12, or the name of the plan's campaign.
        totals: a row a currency: ``currency`` (str), ``billed`` (float64: of the month, already), ``expected, low,
            high`` (float64: the whole month, with what is billed already), ``level`` (float64: the share of such
            intervals that hold what comes), ``method`` (str), ``off`` (float64: how far it was off on average in
            ``backtests``, as a share of what came on average), ``baseline_off`` (the same of the weekly pattern) and
            ``tried`` (Int64: how many earlier forecasts the interval is from). ``expected`` is missing where the
            history is too short for a forecast; ``billed`` and ``baseline_off`` are missing for a plan.
        backtests: what the same forecast would have said earlier: ``currency, method, as_of`` (str: a day, or a
            campaign), ``expected, actual`` (float64) and ``off`` (float64: as a share of what came).
        groups: of a plan, a row a country: ``currency, region`` (str), ``messages, est_parts`` (Int64), ``rate, low,
            high`` (float64: what a part cost lately, and its range in the campaigns the interval is from),
            ``expected`` (float64). Of a month, no rows.
        left_out: how many messages are in no amount: accepted without a readable price, or planned for a country
            without any rate.

    Example:
        >>> days = pd.date_range("2026-01-01", "2026-10-31")
        >>> sums = pd.DataFrame({"day": days, "currency": "USD", "messages": 10, "parts": 10, "cost": 0.3,
        ...                      "unpriced": 0})
        >>> made = forecast(sums, method="weekly pattern")
        >>> made.what, made.totals[["expected", "low", "high"]].values.tolist()
        ('2026-11', [[9.0, 9.0, 9.0]])
    """

    what: str
    totals: pd.DataFrame
    backtests: pd.DataFrame
    groups: pd.DataFrame
    left_out: int

    def card(self) -> Card:
        """Return the forecast as a card, with the backtests below it."""
        return _card(self)


@in_our_words
def forecast(
    history: Source,
    *,
    plan: Plan | None = None,
    month: str | None = None,
    until: object = None,
    method: Method = "best",
    level: float = 0.8,
    tz: str = "UTC",
) -> Forecast:
    """Forecast what a month will cost from the days before it, or what a plan will cost from earlier campaigns.

    **A month.** ``"smoothing"`` (exponential smoothing of weeks, by statsmodels) has to beat the ``"weekly pattern"``
    (each day costs what its weekday cost on average over the latest eight weeks): the history is cut off at up to
    twelve earlier days, both forecast what came after, and the one that was less far off is used. By default the
    month that the history ends in, with what is billed already, or the next one after a month's last day.

    **A plan.** Its estimated parts at what a part cost lately in each country, times the share of messages that was
    accepted and the parts that were billed for each estimated one. The currency is that of the plan's rates; without
    any, that in which the country was billed. The same forecast is made for earlier campaigns from those before them.

    The interval is from those earlier forecasts: as far as they were off, so far the coming one may be (conformal
    prediction). `Forecast.totals` says how many there were, and the level that so many can vouch for.

    Args:
        history: results, a `Ledger` or its path, or its `spending`.
        plan: the plan to forecast; then ``month``, ``until`` and ``method`` do not apply.
        month: the month to forecast, as 2026-12: at most 92 days ahead.
        until: first day that is no longer in the history; by default the one after the last message.
        method: ``"best"``, or one of the two by name.
        level: the share of intervals that are to hold what comes, 0.5 to 0.95.
        tz: time zone of the days of results and ledgers.

    Raises:
        UsageError: the history is too short (the message says how many days or campaigns it needs), it has no days, a
            country of a plan without rates was billed in several currencies, the month is over or too far ahead, or
            statsmodels is not installed (extra ``statistics``).

    Example:
        >>> days = pd.date_range("2026-01-01", "2026-10-31")
        >>> sums = pd.DataFrame({"day": days, "currency": "USD", "messages": 10, "parts": 10, "cost": 0.3,
        ...                      "unpriced": 0})
        >>> forecast(sums, month="2026-12", method="weekly pattern").totals["expected"].tolist()
        [9.3]
    """
    refuse(not_choice("method", method, ("best", *WAYS)), not_zone("tz", tz))
    refuse(not_number("level", level, of="a share", least=0.5))
    if level > 0.95:
        raise UsageError(f"level= must be a share from 0.5 to 0.95, got {given(level)}")
    rows = daily(history, tz=tz)
    if plan is not None:
        refuse(not_a("plan", plan, Plan, wanted="a plan, as sms.plan(...) returns it"))
        return _of_plan(rows, plan, float(level))
    return _of_month(rows, month, until, [*WAYS] if method == "best" else [method], float(level))


# -- a month


def _of_month(rows: pd.DataFrame, month: str | None, until: object, methods: list[str], level: float) -> Forecast:
    end = rows["day"].max() + pd.Timedelta(days=1) if until is None else _day(until)
    rows = rows[rows["day"] < end]
    first, last = _bounds(month, end)
    span = Span((max(first, end) - end).days, (last - end).days)
    priced = rows.dropna(subset=["currency"])
    series = {str(currency): _series(part, end) for currency, part in priced.groupby("currency", sort=True)}
    needed = month_ahead.least(span)
    if all(len(days) < needed for days in series.values()):
        longest = max((len(days) for days in series.values()), default=0)
        raise UsageError(
            f"a forecast of {first:%Y-%m} needs {counted(needed, 'day')} of history, and there are {longest}; give a "
            "longer history, or a month that is nearer"
        )
    tried = {
        currency: month_ahead.backtests(days, span, [*dict.fromkeys([*methods, BASELINE])], currency=currency, end=end)
        for currency, days in series.items()
        if len(days) >= needed
    }
    totals = [
        _month_total(rows, first, days, span, tried[currency], methods, level)
        if currency in tried
        else {"currency": currency, "billed": _billed_since(rows, currency, first), "method": TOO_SHORT, "tried": 0}
        for currency, days in series.items()
    ]
    every = [one for ones in tried.values() for one in ones]
    return Forecast(f"{first:%Y-%m}", _totals(totals), _tests(every), _groups(), int(rows["unpriced"].sum()))


def _bounds(month: str | None, end: pd.Timestamp) -> tuple[pd.Timestamp, pd.Timestamp]:
    """Return the first day of the month that is forecast, and the first one after it."""
    first = end.replace(day=1) if month is None else _month(month)
    last = first + pd.offsets.MonthBegin(1)
    if last <= end:
        raise UsageError(
            f"month={given(month)} is over, since the history goes on until {end:%Y-%m-%d}; ask for a later one"
        )
    if (last - end).days > _FARTHEST:
        raise UsageError(
            f"month={given(month)} is too far ahead: the history ends before {end:%Y-%m-%d}, and a forecast reaches "
            f"{_FARTHEST} days"
        )
    return first, last


def _month(month: object) -> pd.Timestamp:
    found = pd.to_datetime(month, format="%Y-%m", errors="coerce") if isinstance(month, str) else None
    if not isinstance(found, pd.Timestamp) or pd.isna(found):
        raise UsageError(f"month= must be a month such as '2026-12', got {given(month)}")
    return found


def _day(until: object) -> pd.Timestamp:
    found = dates.one("until", until, example="'2026-12-01'", what="a day")
    if found.zoned[0] or not found.midnight[0]:
        raise UsageError(f"until= must be a day such as '2026-12-01', got {given(until)}")
    return pd.Timestamp(found.wall[0]).as_unit("us")


def _series(part: pd.DataFrame, end: pd.Timestamp) -> Floats:
    """Return what each day cost, in micro-units, from the first message on; days without any cost nothing."""
    days = pd.date_range(part["day"].min(), end - pd.Timedelta(days=1), freq="D")
    found: Floats = part.groupby("day")["micros"].sum().reindex(days, fill_value=0).to_numpy("float64")
    return found


def _billed_since(rows: pd.DataFrame, currency: str, first: pd.Timestamp) -> int:
    mine = (rows["currency"] == currency) & (rows["day"] >= first)
    return int(rows.loc[mine.to_numpy(dtype=bool), "micros"].sum())


def _month_total(
    rows: pd.DataFrame,
    first: pd.Timestamp,
    days: Floats,
    span: Span,
    tried: list[Tried],
    methods: list[str],
    level: float,
) -> dict[str, Any]:
    method, currency = month_ahead.chosen(tried, methods), tried[0].currency
    billed = _billed_since(rows, currency, first)
    total = _total(currency, WAYS[method](days, span), [one for one in tried if one.method == method], level)
    for name in ("expected", "low", "high"):
        total[name] += billed
    return total | {"billed": billed, "baseline_off": missed([one for one in tried if one.method == BASELINE])}


def _total(currency: str, expected: float, tried: list[Tried], level: float) -> dict[str, Any]:
    low, high = margin(tried, level).around(expected)
    return {
        "currency": currency,
        "expected": expected,
        "low": low,
        "high": high,
        "level": reached(len(tried), level),
        "method": tried[0].method,
        "off": missed(tried),
        "tried": len(tried),
    }


# -- a plan


def _of_plan(rows: pd.DataFrame, plan: Plan, level: float) -> Forecast:
    history = plan_ahead.history(rows)
    groups, left_out = plan_ahead.groups(history, plan)
    tried = plan_ahead.backtests(history)
    totals = [
        _plan_total(
            str(currency), float(part["expected"].sum()), [one for one in tried if one.currency == currency], level
        )
        for currency, part in groups.groupby("currency", sort=True)
    ]
    if not totals:
        raise UsageError(
            f"the history was not billed for any country of the plan ({', '.join(plan.estimate['region'].head(8))}), "
            "and the plan has no rates; plan(rates=...) with rates gives plan.estimate an amount"
        )
    if all(total["method"] == TOO_SHORT for total in totals):
        raise UsageError(plan_ahead.lacking(rows, groups, tried))
    return Forecast(plan.campaign, _totals(totals), _tests(tried), _groups(groups), left_out)


def _plan_total(currency: str, expected: float, tried: list[Tried], level: float) -> dict[str, Any]:
    if len(tried) < LEAST:
        return {"currency": currency, "method": TOO_SHORT, "tried": len(tried)}
    return _total(currency, expected, tried, level)


# -- frames


def _totals(rows: list[dict[str, Any]]) -> pd.DataFrame:
    table = pd.DataFrame(rows, columns=list(_TOTALS))
    amounts = {
        name: contract.money(table[name].astype("Float64").round()) for name in ("billed", "expected", "low", "high")
    }
    floats = {name: table[name].astype("float64").round(6) for name in ("level", "off", "baseline_off")}
    texts = {name: table[name].astype(STR) for name in ("currency", "method")}
    return table.assign(**amounts, **floats, **texts, tried=table["tried"].astype("Int64"))


def _tests(tried: list[Tried]) -> pd.DataFrame:
    table = pd.DataFrame(tried, columns=list(Tried._fields))
    off = (table["expected"] - table["actual"]).abs() / table["actual"].where(table["actual"] > 0)
    texts = {name: table[name].astype(STR) for name in ("currency", "method", "as_of")}
    amounts = {name: contract.money(table[name].astype("float64").round()) for name in ("expected", "actual")}
    return table.assign(**texts, **amounts, off=off.astype("float64").round(6))


def _groups(groups: pd.DataFrame | None = None) -> pd.DataFrame:
    table = (pd.DataFrame() if groups is None else groups).reindex(columns=list(_GROUPS))
    amounts = {
        name: contract.money(table[name].astype("float64").round()) for name in ("rate", "low", "high", "expected")
    }
    return table.astype(_GROUPS).assign(**amounts)


# -- the card


def _card(made: Forecast) -> Card:
    totals = records(made.totals)
    return Card(
        title=f"What {made.what} will cost",
        state=" and ".join(_in_words(row) for row in totals) or "No amount can be forecast",
        blocks=(*(block for row in totals for block in _blocks(made, row)), *_notes(made)),
    )


def _known(row: dict[str, Any]) -> bool:
    return bool(row["expected"] == row["expected"])


def _in_words(row: dict[str, Any]) -> str:
    if not _known(row):
        return f"{row['currency']}: too little history"
    return f"{about(row['expected'], row['currency'])}, between {about(row['low'])} and {about(row['high'])}"


def _blocks(made: Forecast, row: dict[str, Any]) -> list[Block]:
    if not _known(row):
        return []
    tests = made.backtests[(made.backtests["currency"] == row["currency"]).to_numpy(dtype=bool)]
    used = tests[(tests["method"] == row["method"]).to_numpy(dtype=bool)]
    return [_steps(row), *_countries(made, row["currency"]), _tried_table(used, row), *_why(row)]


def _steps(row: dict[str, Any]) -> Table:
    longest = row["high"] or 1.0
    said = {"low": "At least", "expected": "Expected", "high": "At most"}
    billed = {"billed": "Billed already"} if row["billed"] > 0 else {}
    rows = tuple(
        (words, Bar(row[name] / longest, about(row[name]), size=_SIZE, hollow=name in ("low", "high")))
        for name, words in (billed | said).items()
    )
    return Table(("", str(row["currency"])), rows)


def _countries(made: Forecast, currency: str) -> list[Table]:
    mine = made.groups[(made.groups["currency"] == currency).to_numpy(dtype=bool)]
    rows = tuple(
        (
            f"{country_name(row['region'])} {row['region']}",
            int(row["messages"]),
            int(row["est_parts"]),
            money(row["rate"], places=4),
            f"{money(row['low'], places=4)} to {money(row['high'], places=4)}",
            about(row["expected"]),
        )
        for row in records(mine.head(_SHOWN))
    )
    more = and_more(len(mine) - len(rows), ".groups")
    heads = ("Country", "Messages", "Parts, estimated", "Price of a part", "It was", f"Expected, {currency}")
    return [Table(heads, rows, ("left", *["right"] * 5), "By country", more)] if rows else []  # type: ignore[arg-type]


def _tried_table(tests: pd.DataFrame, row: dict[str, Any]) -> Table:
    rows = tuple(
        (one["as_of"], about(one["expected"]), about(one["actual"]), share(one["off"]))
        for one in records(tests.head(_SHOWN))
    )
    more = and_more(len(tests) - len(rows), ".backtests")
    what = "The rest of the month" if row["billed"] > 0 else "The same"
    title = f"{what}, as forecast from earlier {_earlier(row)}"
    heads = ("As of", f"Forecast, {row['currency']}", f"Came, {row['currency']}", "Off by")
    return Table(heads, rows, ("left", "right", "right", "right"), title, more)


def _why(row: dict[str, Any]) -> list[Note]:
    """Say which method was used and why, and where the interval comes from."""
    notes = []
    off = f"off by {share(row['off'])} on average"
    if row["method"] == plan_ahead.METHOD:
        notes.append(Note("i", f"Learned rates were {off} in earlier campaigns."))
    elif row["method"] == BASELINE:
        notes.append(Note("i", f"The weekly pattern is used: nothing that was tried was better. It was {off}."))
    else:
        notes.append(Note("i", f"Smoothing is used: it was {off}, the weekly pattern by {share(row['baseline_off'])}."))
    interval = (
        f"{share(row['level'])} of such intervals hold what comes, as far as {counted(int(row['tried']), 'forecast')}"
    )
    return [*notes, Note("i", f"{interval} made as of earlier {_earlier(row)} can tell.")]


def _earlier(row: dict[str, Any]) -> str:
    return "campaigns" if row["method"] == plan_ahead.METHOD else "days"


def _notes(made: Forecast) -> list[Note]:
    short = [str(row["currency"]) for row in records(made.totals) if not _known(row)]
    said = [Note("!", f"{' and '.join(short)}: the history is too short for a forecast.")] if short else []
    left_out = f"{counted(made.left_out, 'message')} without a price or a rate, in no amount."
    return [*said, *([Note("!", left_out)] if made.left_out else [])]
