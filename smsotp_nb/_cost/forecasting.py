"""What the next month, or the next plan, will cost: with an interval, and how far off such forecasts were before."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any, Final

import pandas as pd

from .. import _dates as dates
from .._calling import given, in_our_words, not_a, not_choice, not_number, not_zone, refuse
from .._cards import (
    SHOWN,
    Bar,
    Block,
    Card,
    Note,
    Table,
    WithCard,
    about,
    counted,
    listed,
    money,
    notes,
    records,
    share,
)
from .._pandas import STR
from .._phones import country_name
from .._planning import Plan
from .._results import contract
from ..errors import UsageError
from . import ahead, months
from .ahead import Tried, missed
from .months import LEAST, METHODS, History, Span
from .sources import Source, daily, in_doubt, usual_currency

_BASELINE: Final = next(iter(METHODS))
_WEIGHTED: Final = "weighted"
_DAYS: Final = 160  # of history that let a month be forecast, about: four months before the one with the first weights
TOO_SHORT: Final = "none: the history is too short"
_FARTHEST: Final = 92  # days that a forecast may reach
_METHODS: Final = 4
_SLIGHT: Final = 0.005  # of an expected cost, not worth a note
_SIZE: Final = 16.0  # em of the longest bar
_MONEY, _SHARE = "money", "share"  # what a column of micro-units, or of shares, becomes
Kinds = dict[str, str | pd.StringDtype]
_TOTALS: Final[Kinds] = {
    "currency": STR,
    **dict.fromkeys(("billed", "expected", "low", "high"), _MONEY),
    **dict.fromkeys(("level", "asked"), _SHARE),
    "method": STR,
    **dict.fromkeys(("off", "baseline_off"), _SHARE),
    "tried": "Int64",
}
_TESTS: Final[Kinds] = {
    **dict.fromkeys(("currency", "method", "as_of"), STR),
    **dict.fromkeys(("expected", "actual"), _MONEY),
    "off": _SHARE,
}
_OF_METHODS: Final[Kinds] = {"currency": STR, "method": STR, "weight": _SHARE, "expected": _MONEY, "off": _SHARE}
_GROUPS: Final[Kinds] = {
    **dict.fromkeys(("currency", "region"), STR),
    **dict.fromkeys(("messages", "est_parts"), "Int64"),
    **dict.fromkeys(("rate", "low", "high", "expected"), _MONEY),
}
_STEPS: Final[Kinds] = {"currency": STR, "iso": STR, "since": "datetime64[us]", "before": _MONEY, "now": _MONEY}


@dataclass(frozen=True, slots=True, eq=False)
class Forecast(WithCard):
    """What a month or a plan will cost. Each currency has a forecast of its own; what is to come is not below zero.

    Attributes:
        what: the month, as 2026-12, or the name of the plan's campaign.
        totals: a row a currency: ``currency`` (str), ``billed`` (float64: of the month, already), ``expected, low,
            high`` (float64: the whole month, with what is billed already), ``level`` (float64: the coverage of such
            intervals in ``backtests``, each made without that one), ``asked`` (float64: the ``level`` that was asked
            for), ``method`` (str), ``off`` (float64: how far it was off on average in ``backtests``, as a share of what
            came on average), ``baseline_off`` (the same of the weekdays of eight weeks) and ``tried`` (Int64: how many
            earlier forecasts the interval is from). ``expected`` is missing where the history is too short for a
            forecast; ``billed`` and ``baseline_off`` are missing for a plan.
        backtests: what the same forecast would have said earlier: ``currency, method, as_of`` (str: the same day of an
            earlier month, or a campaign), ``expected, actual`` (float64: of a month, at the prices of today) and
            ``off`` (float64: as a share of what came).
        methods: of a month, a row a method: ``currency, method`` (str), ``weight`` (float64), ``expected`` (float64:
            what it says of the days that are left) and ``off`` (float64). Of a plan, no rows.
        groups: of a plan, a row a country: ``currency, region`` (str), ``messages, est_parts`` (Int64), ``rate, low,
            high`` (float64: what a part cost lately, and its range in the campaigns the interval is from),
            ``expected`` (float64). Of a month, no rows.
        steps: of a month, a row a price of a part that changed: ``currency, iso`` (str), ``since`` (datetime64),
            ``before, now`` (float64). What was sent before counts at the price of now.
        left_out: how many messages are in no amount: accepted without a readable price (``expected`` of a month counts
            the days before it as if each had cost what others of its country did), or planned for a country without any
            rate.

    Example:
        >>> days = pd.date_range("2026-01-01", "2026-10-31")
        >>> sums = pd.DataFrame({"day": days, "currency": "USD", "messages": 10, "parts": 10, "cost": 0.3,
        ...                      "unpriced": 0})
        >>> made = forecast(sums)
        >>> made.what, made.totals[["expected", "low", "high"]].round(1).values.tolist()
        ('2026-11', [[9.0, 9.0, 9.0]])
    """

    what: str
    totals: pd.DataFrame
    backtests: pd.DataFrame
    methods: pd.DataFrame
    groups: pd.DataFrame
    steps: pd.DataFrame
    left_out: int
    _in_doubt: int = field(default=0, repr=False)  # rows, which may have been billed
    _refunds: int = field(default=0, repr=False)  # days on which more was refunded than billed

    def card(self) -> Card:
        """Return the forecast as a card, with the backtests below it."""
        totals = records(self.totals)
        known = [row for row in totals if _known(row)]
        said = [
            f"{about(row['expected'], row['currency'])}, between {about(row['low'])} and {about(row['high'])}"
            if _known(row)
            else f"{row['currency']}: too little history"
            for row in totals
        ]
        short = " and ".join(str(row["currency"]) for row in totals if not _known(row))
        return Card(
            title=f"What {self.what} will cost",
            state=" and ".join(said) or "No amount can be forecast",
            blocks=(
                *(block for row in known for block in _blocks(self, row)),
                *notes(("!", len(short), f"{short}: the history is too short for a forecast.")),
                *told(self),
            ),
        )


@in_our_words
def forecast(
    history: Source,
    *,
    plan: Plan | None = None,
    month: str | None = None,
    until: object = None,
    method: str = "weighted",
    level: float = 0.8,
    tz: str = "UTC",
) -> Forecast:
    """Forecast what a month will cost from the days before it, or what a plan will cost from earlier campaigns.

    **A month.** Seventeen simple methods are tried as of the same day of up to 24 earlier months: the weekdays of the
    latest weeks, the same days of earlier months, their share of the latest month, their drift, and the same days of
    last year, as they were or by the growth since. The forecast is their median, by weights that fall with their errors
    (Bates and Granger 1969). Where the same month of last year surprised the methods that know no years far more than
    any other, its surprise is added, unless it was that of a campaign or the year before had none. A price of a part
    that has changed counts as it is today. By default the month that the history ends in, with what is billed already,
    or the next one after a month's last day.

    **A plan.** Its estimated parts at what a part cost in the latest campaigns of each country, times the share of
    messages that was accepted and the parts that were billed for each estimated one. The currency is that of the plan's
    rates; without any, that in which the country was billed. The same forecast is made for earlier campaigns from those
    before them.

    The interval is from those earlier forecasts: as far as they were off, so far the coming one may be (conformal
    prediction). Of a plan, how far off is counted in deviations: what chance makes of so many messages, refused or
    billed another part, and what campaigns differ by beyond that; so a small plan has a wider interval.

    Args:
        history: results, a `Ledger` or its path, or its `spending`.
        plan: the plan to forecast; then ``month``, ``until`` and ``method`` do not apply.
        month: the month to forecast, as 2026-12: at most 92 days ahead.
        until: first day that is no longer in the history; by default the one after the last message.
        method: ``"weighted"``, or one method by its name in `Forecast.methods`.
        level: the share of intervals that are to hold what comes, 0.5 to 0.95.
        tz: time zone of the days of results and ledgers.

    Raises:
        UsageError: the history is too short (the message says what it needs), it has no days, a country of a plan
            without rates was billed in several currencies, or the month is over or too far ahead.

    Example:
        >>> days = pd.date_range("2026-01-01", "2026-10-31")
        >>> sums = pd.DataFrame({"day": days, "currency": "USD", "messages": 10, "parts": 10, "cost": 0.3,
        ...                      "unpriced": 0})
        >>> forecast(sums, month="2026-12", method="weekdays of 8 weeks").totals["expected"].tolist()
        [9.3]
    """
    refuse(not_choice("method", method, (_WEIGHTED, *METHODS)), not_zone("tz", tz))
    _refuse_level(level)
    rows = daily(history, tz=tz)
    if plan is not None:
        refuse(not_a("plan", plan, Plan, wanted="a plan, as sms.plan(...) returns it"))
        return replace(_of_plan(rows, plan, float(level)), _in_doubt=in_doubt(history))
    made, _ = month_of(rows, month, until, level, None if method == _WEIGHTED else method)
    if made.backtests.empty and rows["unpriced"].sum() == rows["messages"].sum() > 0:
        raise UsageError("no message of this history has a readable price, so nothing says what others will cost")
    if made.backtests.empty:
        there = (rows["day"].max() - rows["day"].min()).days + 1
        raise UsageError(
            f"a forecast of {made.what} needs the same days of {LEAST} earlier months, about {_DAYS} days of history "
            f"and the days to the end of the month; this history has {counted(there, 'day')}. Give a longer one, or a "
            "nearer month"
        )
    return replace(made, _in_doubt=in_doubt(history))


# -- a month


def _refuse_level(level: float) -> None:
    refuse(not_number("level", level, of="a share", least=0.5))
    if level > 0.95:
        raise UsageError(f"level= must be a share from 0.5 to 0.95, got {given(level)}")


def month_of(
    rows: pd.DataFrame, month: str | None, until: object, level: float, method: str | None = None
) -> tuple[Forecast, pd.Timestamp]:
    """Forecast a month from what `daily` returns, and return the first day that is not known."""
    _refuse_level(level)
    end = rows["day"].max() + pd.Timedelta(days=1) if until is None else _day(until)
    rows = rows[(rows["day"] < end).to_numpy()]
    first, last = _bounds(month, end)
    totals: list[dict[str, Any]] = []
    tried: list[Tried] = []
    methods: list[tuple[Any, ...]] = []
    steps: list[tuple[Any, ...]] = []
    refunds: dict[str, int] = {}
    # What has no currency either counts in that of its country, else in the one that is billed most.
    most = rows.groupby("currency")["messages"].sum().sort_values(kind="stable").index[-1:].tolist()
    usual = usual_currency(rows).fillna(most[0]) if most else rows["currency"]
    for name, part in rows.assign(currency=rows["currency"].fillna(usual)).groupby("currency", sort=True):
        currency, billed = str(name), int(part.loc[(part["day"] >= first).to_numpy(bool), "micros"].sum())
        today, stepped = months.at_todays_prices(part)
        start = part["day"].min()
        priced = months.at_usual_prices(today)
        days = priced.groupby("day")["micros"].sum()
        if priced["micros"].isna().any():  # no message has a price
            totals.append({"currency": currency, "billed": billed, "method": TOO_SHORT, "tried": 0})
            continue
        refunds[currency] = int((days < 0).sum())
        days = days.clip(lower=0).reindex(pd.date_range(start, end, inclusive="left"), fill_value=0)
        span = Span(len(days), (max(first, end) - start).days, (last - start).days)
        made = months.forecast(History(days.to_numpy("float64"), start), span, level, method)
        if math.isnan(made.expected):
            totals.append({"currency": currency, "billed": billed, "method": TOO_SHORT, "tried": 0})
            continue
        of = [
            Tried(currency, method or _WEIGHTED, f"{start + pd.Timedelta(days=span.origin):%Y-%m-%d}", expected, came)
            for span, expected, came in made.tried
        ]
        baseline = made.methods.get(_BASELINE)
        amounts = tuple(billed + amount for amount in (made.expected, *made.around()))
        more = {"billed": billed, "baseline_off": None if baseline is None else baseline.off}
        totals.append(_total(currency, amounts, made.reached, level, of) | more)
        tried += of
        methods += [(currency, name, *said) for name, said in made.methods.items()]
        steps += [(currency, *step) for step in stepped]
    said = _framed(methods, _OF_METHODS).sort_values(
        ["currency", "weight"], ascending=[True, False], kind="stable", ignore_index=True
    )
    left_out = int(rows["unpriced"].sum())
    found = _forecast(f"{first:%Y-%m}", totals, tried, left_out, methods=said, steps=_framed(steps, _STEPS))
    return replace(found, _refunds=sum(refunds.values())), end


def _bounds(month: str | None, end: pd.Timestamp) -> tuple[pd.Timestamp, pd.Timestamp]:
    """Return the first day of the month that is forecast, and the first one after it."""
    first = end.replace(day=1) if month is None else months.month_named(month)
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


def _day(until: object) -> pd.Timestamp:
    found = dates.one("until", until, example="'2026-12-01'", what="a day")
    if found.zoned[0] or not found.midnight[0]:
        raise UsageError(f"until= must be a day such as '2026-12-01', got {given(until)}")
    return pd.Timestamp(found.wall[0]).as_unit("us")


# -- a plan


def _of_plan(rows: pd.DataFrame, plan: Plan, level: float) -> Forecast:
    history = ahead.history(rows)
    if not len(plan.estimate):
        raise UsageError(f"no recipient of plan {plan.campaign!r} is to go, so there is nothing to forecast")
    groups, left_out = ahead.groups(history, plan)
    tried = ahead.plan_backtests(history)
    totals = [_plan_total(history, str(currency), part, tried, level) for currency, part in groups.groupby("currency")]
    if not totals:
        raise UsageError(
            f"the history was not billed for any country of the plan ({', '.join(plan.estimate['region'].head(8))}), "
            "and the plan has no rates; plan(rates=...) with rates gives plan.estimate an amount"
        )
    if all(total["method"] == TOO_SHORT for total in totals):
        raise UsageError(ahead.lacking(rows, groups, tried))
    return _forecast(plan.campaign, totals, tried, left_out, groups=_framed(groups, _GROUPS))


def _plan_total(
    history: pd.DataFrame, currency: str, groups: pd.DataFrame, every: list[Tried], level: float
) -> dict[str, Any]:
    tried = [one for one in every if one.currency == currency and one.expected > 0]
    if len(tried) < LEAST:
        return {"currency": currency, "method": TOO_SHORT, "tried": len(tried)}
    expected = float(groups["expected"].sum())
    by_chance = ahead.variance(history, currency, int(groups["messages"].sum()))
    off, reached = ahead.margin(tried, by_chance, level)
    span = (expected, max(0.0, expected * (1 - off)), expected * (1 + off))
    return _total(currency, span, reached, level, tried)


# -- frames


def _forecast(
    what: str, totals: list[dict[str, Any]], tried: list[Tried], left_out: int, **of: pd.DataFrame
) -> Forecast:
    """Put a forecast together: that of a month has no groups, that of a plan neither methods nor steps."""
    tests = pd.DataFrame(tried, columns=list(Tried._fields))
    off = (tests["expected"] - tests["actual"]).abs() / tests["actual"].where(tests["actual"] > 0)
    kinds = {"methods": _OF_METHODS, "groups": _GROUPS, "steps": _STEPS}
    methods, groups, steps = (of.get(name, _framed([], kind)) for name, kind in kinds.items())
    tests = _framed(tests.assign(off=off), _TESTS)
    return Forecast(what, _framed(totals, _TOTALS), tests, methods, groups, steps, left_out)


def _total(currency: str, span: tuple[float, ...], reached: float, asked: float, tried: list[Tried]) -> dict[str, Any]:
    """Return the row of a forecast: what is expected, and from where to where."""
    amounts = dict(zip(("expected", "low", "high"), span, strict=True))
    said = {"currency": currency, "level": reached, "asked": asked, "method": tried[0].method}
    return said | amounts | {"off": missed(tried), "tried": len(tried)}


def _framed(rows: Any, kinds: Kinds) -> pd.DataFrame:
    table = pd.DataFrame(rows, columns=list(kinds))
    for name, kind in kinds.items():
        if kind == _MONEY:
            table[name] = contract.money(table[name].astype("float64").round())
        elif kind == _SHARE:
            table[name] = table[name].astype("float64").round(6)
    return table.astype({name: kind for name, kind in kinds.items() if kind not in (_MONEY, _SHARE)})


# -- the card


def _known(row: dict[str, Any]) -> bool:
    return bool(row["expected"] == row["expected"])


def of_currency(table: pd.DataFrame, currency: str) -> pd.DataFrame:
    return table[(table["currency"] == currency).to_numpy(dtype=bool)]


def bars(row: dict[str, Any], names: dict[str, str]) -> Table:
    """Draw the amounts of a currency below each other; the ends of an interval are hollow."""
    longest = max((float(row[name]) for name in names), default=0.0) or 1.0
    drawn = tuple(
        (words, Bar(float(row[name]) / longest, about(row[name]), size=_SIZE, hollow=name in ("low", "high")))
        for name, words in names.items()
    )
    return Table(("", str(row["currency"])), drawn)


def _blocks(made: Forecast, row: dict[str, Any]) -> list[Block]:
    currency = row["currency"]
    billed = {"billed": "Billed already"} if row["billed"] > 0 else {}
    countries = listed(
        of_currency(made.groups, currency),
        ("Country", "left", lambda one: f"{country_name(one['region'])} {one['region']}"),
        ("Messages", "right", "messages"),
        ("Parts, estimated", "right", "est_parts"),
        ("Price of a part", "right", lambda one: money(one["rate"], places=4)),
        ("It was", "right", lambda one: f"{money(one['low'], places=4)} to {money(one['high'], places=4)}"),
        (f"Expected, {currency}", "right", lambda one: about(one["expected"])),
        title="By country",
        where=".groups",
    )
    methods = listed(
        of_currency(made.methods, currency),
        ("Method", "left", "method"),
        ("Weight", "right", lambda one: share(one["weight"])),
        (f"Forecast, {currency}", "right", lambda one: about(one["expected"])),
        ("Average error", "right", lambda one: share(one["off"])),
        most=_METHODS,
        title="The days that are left",
        where=".methods",
    )
    what = "The rest of the month" if row["billed"] > 0 else "The same"
    tried = listed(
        of_currency(made.backtests, currency),
        ("As of", "left", "as_of"),
        (f"Forecast, {currency}", "right", lambda one: about(one["expected"])),
        (f"Actual, {currency}", "right", lambda one: about(one["actual"])),
        ("Error", "right", lambda one: share(one["off"])),
        title=f"{what}, as forecast in earlier {_earlier(row)}s",
        where=".backtests",
    )
    shown = bars(row, billed | {"low": "At least", "expected": "Expected", "high": "At most"})
    return [shown, *countries, *methods, *tried, *_why(made, row)]


def _why(made: Forecast, row: dict[str, Any]) -> list[Note]:
    """Say how far off such forecasts were, and what share of their intervals covered the actual cost."""
    plain = ""
    if row["baseline_off"] == row["baseline_off"] and row["baseline_off"] is not None:
        plain = f"; the {_BASELINE} alone by {share(row['baseline_off'])}"
    off = share(row["off"]) if row["off"] == row["off"] else "nothing"  # nothing came that was billed
    said = [f"Such forecasts were off by {off} on average{plain}.", *_factor(made, row)]
    earlier = counted(int(row["tried"]), f"earlier {_earlier(row)}")
    said.append(
        f"The intervals covered the actual cost in {share(row['level'])} of {earlier}, each made without that one; "
        f"{share(row['asked'])} was asked for."
    )
    for one in records(of_currency(made.steps, row["currency"]).head(SHOWN)):
        step = f"{money(round(one['before'], 5))} to {money(round(one['now'], 5))}"
        where = f" to {country_name(one['iso'])} {one['iso']}" if isinstance(one["iso"], str) else ""
        said.append(f"A part{where} went from {step} on {one['since']:%Y-%m-%d}; the new price counts.")
    return [Note("i", one) for one in said]


def _factor(made: Forecast, row: dict[str, Any]) -> list[str]:
    """Say by what a plan's parts at their price are multiplied, if by anything."""
    mine = of_currency(made.groups, row["currency"])
    at_price = float((mine["est_parts"].astype("float64") * mine["rate"]).sum())
    if not at_price or abs(row["expected"] / at_price - 1) < _SLIGHT:
        return []
    said = f"{share(row['expected'] / at_price)} of the estimated parts at these prices is expected"
    return [f"{said}: in earlier campaigns some messages were refused, or had other parts than estimated."]


def _earlier(row: dict[str, Any]) -> str:
    return "campaign" if row["method"] == ahead.METHOD else "month"


def told(made: Forecast) -> list[Note]:
    """Say what a forecast does not hold."""
    unpriced, doubt, refunds = made.left_out, made._in_doubt, made._refunds
    as_others = "" if made.methods.empty else " that was billed; the forecast counts each at what others cost"
    refunded = f"{counted(refunds, 'day')} with more refunded than billed, in the forecast as days without messages."
    return notes(
        ("!", unpriced, f"{counted(unpriced, 'message')} without a price or a rate, in no amount{as_others}."),
        ("!", doubt, f"{counted(doubt, 'row')} in doubt, possibly sent and billed, in no amount."),
        ("!", refunds, refunded),
    )
