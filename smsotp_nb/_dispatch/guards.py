"""What may hold a campaign back: a budget, quiet hours, a canary, a run of refusals.

The table of the guards is ``_guards``. They are asked when a request's turn has come and nothing of it is claimed yet,
so what they hold back stays ``planned``; its ``problem`` names the guard.
"""

from __future__ import annotations

import copy
import math
import re
import threading
import zoneinfo
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, time
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import Any, Final

import numpy as np
import pandas as pd

from .._amounts import exact
from .._calling import Options, given, made_in_our_words, not_a, not_number, not_whole, refuse
from .._guards import GUARDS, STOP_AFTER, Budget
from .._ledger import Account, Pending, Run, Wanted
from .._moments import Now, utc_now
from .._phones import time_zones
from .._wire import Billing, SendReply, amount, micros
from ..errors import UsageError

BUDGET, QUIET_HOURS, CANARY, FAILING = "BUDGET", "QUIET_HOURS", "CANARY", "FAILING"
Estimate = tuple[str | None, int | None]  # of a message: its currency and micro-units
STOPPERS = frozenset(guard.code for guard in GUARDS if guard.ends)  # the others pass over rows


@dataclass(frozen=True, slots=True)
class QuietHours:
    """A span of the day, in the local time of the number, in which nobody is texted; may pass midnight."""

    begins: time
    ends: time

    def covers(self, moment: time) -> bool:
        if self.begins <= self.ends:
            return self.begins <= moment < self.ends
        return moment >= self.begins or moment < self.ends

    def silences(self, to: str, now: datetime) -> bool:
        """Return whether it is quiet now in any time zone that this number may be in; unknown zones count as quiet."""
        zones = _zones(to)
        return not zones or any(self.covers(now.astimezone(zone).time()) for zone in zones)


@made_in_our_words
@dataclass(frozen=True, slots=True, repr=False)
class Limits(Options):
    """What may hold a send back. Rows that a limit holds back stay ``planned``, and their ``problem`` names it.

    Args:
        budget: upper limit of the cost by currency, such as ``{"USD": 50}``, earlier calls included. The call stops
            before the request that may exceed it. Rows in doubt count as spent.
        per_second: upper limit of recipients a second, over all threads; None for no limit. When the service throttles,
            the speed drops for a while.
        quiet_hours: two times, such as ``("21:00", "08:00")``, between which nobody is texted, in the local time of the
            number; of several time zones none may be quiet.
        first: send to this many recipients first, in the order of the list and earlier calls included; the next call
            without it sends the rest. Nobody takes the place of who opts out while it runs.
        stop_after: stop after this many requests in a row were refused or left in doubt; None never stops for that.

    Raises:
        UsageError: an option that is none; lists all of them.

    Example:
        >>> Limits(budget={"USD": 50}, first=20).replace(first=None)
        Limits(budget={'USD': 50})
    """

    budget: Budget | None = None
    per_second: float | None = None
    quiet_hours: tuple[str, str] | None = None
    first: int | None = None
    stop_after: int | None = STOP_AFTER

    def __post_init__(self) -> None:
        self._read()

    def _read(self) -> tuple[Mapping[str, int] | None, QuietHours | None]:
        """Return the budget in micro-units and the quiet hours.

        Raises:
            UsageError: lists everything wrong.
        """
        wrong: list[str] = []
        budget = None if self.budget is None else _read_budget(self.budget, wrong)
        quiet = None if self.quiet_hours is None else _read_hours(self.quiet_hours, wrong)
        refuse(
            *wrong,
            not_whole("first", self.first, none=True),
            not_whole("stop_after", self.stop_after, none=True),
            not_number("per_second", self.per_second, of="recipients a second", above=True, none=True),
        )
        return budget, quiet

    @property
    def _looks_at_rows(self) -> bool:
        return self.budget is not None or self.quiet_hours is not None or self.first is not None


@dataclass(frozen=True, slots=True)
class Admission:
    """What may be sent of a chunk, and what stops the campaign after it, if anything.

    ``wanted`` is what to claim, None if nothing may be sent. Where a guard has to look at rows, ``due`` are those that
    may be sent, ``rows`` is their number, and ``reserved`` their estimated cost in micro-units by currency. ``more``
    says that other rows of the chunk are still to be sent after these.
    """

    wanted: Wanted | None
    rows: int = 0
    due: Sequence[Pending] = ()
    reserved: Mapping[str, int] = field(default_factory=dict)
    stopper: str | None = None
    detail: str = ""
    more: bool = False


def not_limits(limits: Any) -> str | None:
    return not_a("limits", limits, Limits, wanted="Limits, such as Limits(first=20)")


class Ahead:
    """Which rows of a plan a send would text under these limits, if all of it is billed as estimated.

    It is decided by the same `Watch` that decides it while sending, which asks this in place of a run. ``refused`` says
    why ``send`` would refuse the limits.
    """

    def __init__(self, asked: Limits, account: Account, now: Now) -> None:
        self._asked, self._now = asked, now
        self.tried, self.prices = account.tried, account.prices
        self.stated_beyond_prices = account.stated_beyond_prices
        self._watch: Watch | None = None
        self._rows = pd.DataFrame()
        self._held: dict[int, str] = {}
        self._ended = self.refused = ""

    def __call__(self, rows: pd.DataFrame) -> np.ndarray[Any, np.dtype[np.object_]]:
        """Return what holds back each row, None where nothing does; the index is the position in the list."""
        in_list_order = np.argsort(rows.index.to_numpy(), kind="stable")
        rows = rows.iloc[in_list_order]
        self._rows, self._held = rows, {}
        try:
            self._watch = self._watch or Watch(self._asked, self, now=self._now)
            self._watch.check()
        except UsageError as error:
            self.refused, self._ended = str(error), BUDGET
        if self._watch is not None and not self._ended:
            self._watch.choose(_pending(rows, range(len(rows))))
        chunks = rows["chunk"].to_numpy("int64")
        order = np.argsort(chunks, kind="stable")
        said = np.full(len(rows), self._ended or None, object)
        for mine in np.split(order, np.flatnonzero(np.diff(chunks[order])) + 1):
            said[mine] = self._ended or self._of_chunk(mine)
        answers = np.empty_like(said)
        answers[in_list_order] = said
        return answers

    def _of_chunk(self, places: np.ndarray[Any, np.dtype[np.int64]]) -> list[str | None]:
        assert self._watch is not None
        admission = self._watch.admit(0, _pending(self._rows.iloc[places], places.tolist()))
        going = {row.position for row in admission.due}
        self._ended = admission.stopper or ""
        other = admission.stopper or (CANARY if self._watch.chosen is not None else None)
        return [None if place in going else self._held.get(place, other) for place in places.tolist()]

    def hold(self, problem: str, *, positions: Sequence[int], **_of_chunk: int | None) -> None:
        self._held |= dict.fromkeys(positions, problem)

    def without_estimate(self) -> list[str]:
        regions: pd.Series[str] = self._rows.loc[self._rows["est_cost"].isna().to_numpy(), "region"]
        return sorted(regions.fillna("unknown").unique())

    def estimate_currencies(self) -> list[str]:
        return sorted(self._rows["est_currency"].dropna().unique())


def _pending(rows: pd.DataFrame, places: Sequence[int]) -> list[Pending]:
    costs = (rows["est_cost"] * 1_000_000).round()
    values = zip(places, rows["to"], costs, rows["est_currency"], strict=True)
    return [
        Pending(place, to, None if pd.isna(cost) else int(cost), None if pd.isna(currency) else currency)
        for place, to, cost, currency in values
    ]


def typed(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of ``Limits`` that a form's fields stand for, without those left blank."""
    found = {}
    for guard in GUARDS:
        entered = [fields.get(field.name) or "" for field in guard.fields]
        value = _TYPED[guard.name](*entered) if any(entered) else guard.default
        if value != guard.default:
            found[guard.name] = value
    return found


class Watch:
    """The guards of one run, shared by all of its threads; ``now`` is the clock."""

    def __init__(self, limits: Limits, run: Run | Ahead, *, now: Now = utc_now) -> None:
        self._limits, self._run, self._now = limits, run, now
        self._budget, self._quiet = limits._read()
        self._lock = threading.Lock()
        self._failures = 0
        self._spent: dict[str, int] = {}
        self._prices: dict[Estimate, Counter[str]] = {}  # what was billed of messages estimated so, and how many
        # of estimates in a currency, the highest price of a message in each other currency that was billed for them
        self._switched: dict[str | None, dict[str, int]] = {}
        self._unpriced = ""  # why what was spent cannot be counted any more
        self.chosen: frozenset[int] | None = None  # the positions of the rows that ``first`` lets go; None: all
        self.is_used_up = False  # whether these are as many as it lets go
        self._is_ahead = False
        self.check()
        if self._budget is not None:
            self._count_earlier_calls()

    def choose(self, rows: Iterable[Pending]) -> None:
        """Choose, of all rows still to go, the first ones in the order of the list for which it is not quiet now.

        It is decided once, before anything is claimed: threads come to their chunks in no order.
        """
        if self._limits.first is None:
            return
        most = max(self._limits.first - self._run.tried(), 0)
        awake = sorted(row.position for row in rows if not self._is_quiet(row))
        self.chosen = frozenset(awake[:most])
        self.is_used_up = len(self.chosen) == most

    def _is_quiet(self, row: Pending) -> bool:
        return self._quiet is not None and self._quiet.silences(row.to, self._now())

    def due(self, chunk: int, positions: Sequence[int] | None = None) -> list[Pending]:
        """Return the rows of a chunk still to go, or those of them at ``positions``, for which it is not quiet now."""
        assert isinstance(self._run, Run)
        rows = self._run.pending(chunk)
        if positions is not None:
            wanted = set(positions)
            rows = [row for row in rows if row.position in wanted]
        return self._awake(chunk, rows)

    def admit(self, chunk: int, rows: Sequence[Pending], *, most: int | None = None) -> Admission:
        """Decide which of these rows, at most ``most``, may be sent now, and reserve their cost.

        This is called when their turn has come, after any wait, because quiet hours may have begun meanwhile.
        """
        rows = self._awake(chunk, rows)[:most]
        with self._lock:
            return self._within_budget(chunk, rows)

    def foresee(self, chunks: Iterable[int]) -> int:
        """Return how many rows of these chunks are sent, if nothing fails and all is billed as estimated."""
        assert isinstance(self._run, Run)
        ahead, many = copy.copy(self), 0
        ahead._spent, ahead._is_ahead = dict(self._spent), True
        for chunk in chunks:
            admission = ahead.admit(chunk, self._run.pending(chunk))
            many += admission.rows
            if admission.stopper:
                break
        return many

    def claimed(self, admission: Admission, positions: Sequence[int]) -> Admission:
        """Take note of which admitted rows were claimed; the others were held back or withdrawn in that moment.

        What was reserved for the others is given back, so there may be room for more rows.
        """
        if len(positions) >= admission.rows:
            return admission
        mine = set(positions)
        went = [row for row in admission.due if row.position in mine]
        missed = [row for row in admission.due if row.position not in mine]
        with self._lock:
            self._spend(admission.reserved, -1)
            reserved = self._costs(went)
            self._spend(reserved, 1)
        return replace(admission, rows=len(went), due=went, reserved=reserved, more=bool(missed))

    def returned(self, admission: Admission) -> None:
        """Give back what was reserved for admitted rows, because certainly nothing of them was sent."""
        with self._lock:
            self._spend(admission.reserved, -1)

    def settled(self, admission: Admission, outcome: SendReply | Exception, *, in_doubt: bool) -> str | None:
        """Take note of how the request for admitted rows ended; return why the campaign must stop, or None."""
        reply = outcome if isinstance(outcome, SendReply) else None
        with self._lock:
            if self._budget is not None:
                self._account(admission, reply, in_doubt=in_doubt)
            # A reply without one record of a number that was asked for leaves everybody in doubt, as a failure does.
            self._failures = 0 if reply is not None and reply.messages else self._failures + 1
            limit = self._limits.stop_after
            return FAILING if limit is not None and self._failures >= limit else None

    def _awake(self, chunk: int, rows: Sequence[Pending]) -> list[Pending]:
        """Return the rows for which it is not quiet now; record the guard's name on the others."""
        silent = {row.position for row in rows if self._is_quiet(row)}
        if silent and not self._is_ahead:
            self._run.hold(QUIET_HOURS, chunk=chunk, positions=sorted(silent))
        chosen = self.chosen
        return [row for row in rows if row.position not in silent and (chosen is None or row.position in chosen)]

    def _within_budget(self, chunk: int, rows: Sequence[Pending]) -> Admission:
        costs = self._costs(rows)
        if self._budget is not None and rows and (said := self._beyond(self._budget, costs)):
            return Admission(None, stopper=BUDGET, detail=said)
        self._spend(costs, 1)
        wanted = Wanted(chunk, [row.position for row in rows]) if rows else None
        return Admission(wanted, len(rows), rows, costs)

    def _beyond(self, budget: Mapping[str, int], costs: Mapping[str, int]) -> str:
        """Return in words why a request that is expected to cost so much may not be sent; empty if it may."""
        if others := [currency for currency, spent in self._spent.items() if spent and currency not in budget]:
            return f"the service bills in {', '.join(sorted(others))}, of which budget= says nothing"
        for currency, cost in costs.items():
            spent, limit = self._spent.get(currency, 0), budget.get(currency, 0)
            if spent >= limit or spent + cost > limit:
                return f"{currency} {amount(spent)} of {amount(limit)} spent or under way, the next {amount(cost)}"
        return self._unpriced

    def _costs(self, rows: Sequence[Pending]) -> dict[str, int]:
        """Return what rows will cost: as estimated, or as messages of the same estimate were billed if that is more.

        Free messages and those without a price teach nothing. What was billed in several currencies is expected in each
        of them, because the account may be switched back.
        """
        costs: dict[str, int] = {}
        for row in rows:
            for currency, cost in self._expected((row.currency, row.est_micros)).items():
                costs[currency] = costs.get(currency, 0) + cost
        return costs

    def _expected(self, estimate: Estimate) -> dict[str, int]:
        currency, cost = estimate
        known = self._prices.get(estimate, Counter())
        means = {code: -(-known[code] // known[f"{code} messages"]) for code in known if not code.endswith("messages")}
        # An account that was switched to another currency bills what has no bill yet in that one, too.
        costs = dict(self._switched.get(currency, {})) | means
        if currency and (currency in means or not means):
            costs[currency] = max(cost or 0, means.get(currency, 0))
        return costs

    def _learn(self, estimate: Estimate, currency: str, micros: int, messages: int) -> None:
        self._prices.setdefault(estimate, Counter()).update({currency: micros, f"{currency} messages": messages})
        if currency != estimate[0]:
            highest = self._switched.setdefault(estimate[0], {})
            highest[currency] = max(highest.get(currency, 0), -(-micros // messages))

    def _count_earlier_calls(self) -> None:
        """Count what is recorded as billed, learn prices from it, and count by them what has no known price."""
        rows = self._run.prices()
        for estimate, currency, billed, messages in rows:
            if currency and billed:
                self._spend({currency: billed}, 1)
                self._learn(estimate, currency, billed, messages)
        for (currency, cost), _, billed, messages in rows:
            if billed is None and currency:
                self._spend({currency: max(self._expected((currency, cost)).get(currency, 0), cost or 0)}, messages)
        self._spend(self._run.stated_beyond_prices(), 1)

    def _account(self, admission: Admission, reply: SendReply | None, *, in_doubt: bool) -> None:
        """Replace what was reserved by what was billed.

        The share of messages without a price stays reserved, and of those in doubt, because they may be billed later.
        """
        priced, billed, stated = 0, 0, 0
        if reply is not None and reply.currency:
            billed, stated = reply.messages.billed_micros(), reply.total_micros or 0
            estimates = {row.to: (row.currency, row.est_micros) for row in admission.due}
            for to, billing, price in _learnable_prices(reply, billed, stated):
                priced += billing.price_micros is not None
                if to in estimates and price and billing.parts:
                    self._learn(estimates[to], reply.currency, price, 1)
        unknown = max(admission.rows - priced, 0) if in_doubt or reply is not None else 0
        costs = self._costs(admission.due).items() if unknown else ()
        kept = {currency: -(-cost * unknown // len(admission.due)) for currency, cost in costs}
        is_uncounted = reply is not None and unknown and not any(kept.values()) and stated <= billed
        if reply is not None and reply.currency:
            # Of two statements of what a request cost the higher one counts.
            kept[reply.currency] = max(stated, billed + kept.get(reply.currency, 0))
        self._spend(admission.reserved, -1)
        self._spend(kept, 1)
        if is_uncounted:
            self._unpriced = "the service states no price, and the rates of the plan are 0: nobody knows what was spent"

    def _spend(self, costs: Mapping[str, int], sign: int) -> None:
        for currency, cost in costs.items():
            self._spent[currency] = self._spent.get(currency, 0) + sign * cost

    def check(self) -> None:
        """Refuse a budget that does not cover every currency, or of which nobody knows what it would be spent on."""
        if (budget := self._budget) is None:
            return
        unknown = self._run.without_estimate()
        if unknown:
            raise UsageError(
                f"budget= needs an estimate for every recipient, but there is no rate (or no known text) for "
                f"{', '.join(unknown[:10])}. Add rates to plan(rates=...), or the text as Template(preview=...)"
            )
        others = sorted(set(self._run.estimate_currencies()) - set(budget))
        if others:
            raise UsageError(f"budget= does not mention {', '.join(others)}; pass an amount for each currency")


def _learnable_prices(reply: SendReply, billed: int, stated: int) -> Iterator[tuple[str, Billing, int]]:
    """Yield each message with the price that the next one like it may have: its share of a total above the prices."""
    prices = [billing.price_micros for billing in reply.messages.billings]
    for to, billing in zip(reply.messages.to, reply.messages.billings, strict=True):
        price = billing.price_micros or 0
        if None not in prices and billed:
            price = -(-price * max(stated, billed) // billed)
        elif not any(prices):
            price = -(-stated // len(prices))
        yield to, billing, price


def _read_budget(budget: Any, wrong: list[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    if not isinstance(budget, Mapping) or not budget:
        wrong.append(f"budget= must be a dict of currency to amount, such as {{'USD': 50}}, got {given(budget)}")
        return found
    for currency, limit in budget.items():
        read = _micros_of(limit)
        if read is None or not isinstance(currency, str) or not re.fullmatch(r"[A-Z]{3}", currency):
            told = f"{given(currency)}: {given(limit)}"
            wrong.append(f"budget= must give each currency (three capitals) an amount, got {told}")
        else:
            found[currency] = read
    return found


def _micros_of(limit: float | str | Decimal) -> int | None:
    """Return an amount in micro-units. A float is rounded to six decimals, which even sums of a million floats keep."""
    if isinstance(limit, float | np.floating) and math.isclose(limit, round(limit, 6), rel_tol=1e-10, abs_tol=1e-9):
        limit = f"{limit:.6f}"
    try:
        return micros(exact(str(limit)))
    except (InvalidOperation, ValueError):  # also an integer of more digits than Python writes
        return None


def _typed_budget(entered: str) -> dict[str, str]:
    words = entered.replace(",", "").split()
    if len(words) != 2 or not words[0].isalpha():
        raise UsageError(f"a budget is a currency and an amount, such as USD 50, got {entered!r}")
    return {words[0].upper(): words[1]}


def _read_hours(hours: Any, wrong: list[str]) -> QuietHours | None:
    try:
        begins, ends = (time.fromisoformat(hour) for hour in hours)
    except (ValueError, TypeError):
        wrong.append(f"quiet_hours= must be two times of the day, such as ('21:00', '08:00'), got {hours!r}")
        return None
    if begins == ends or begins.tzinfo or ends.tzinfo:
        wrong.append(f"quiet_hours= must be two different times without a zone, got {hours!r}")
        return None
    return QuietHours(begins, ends)


def _typed_hours(begins: str, ends: str) -> tuple[str, str]:
    if not begins or not ends:
        raise UsageError("quiet hours need both times, such as 21:00 and 08:00")
    return begins, ends


@lru_cache(maxsize=100_000)
def _zones(to: str) -> tuple[zoneinfo.ZoneInfo, ...]:
    return tuple(map(zoneinfo.ZoneInfo, time_zones(to)))


_TYPED: Final[Mapping[str, Callable[..., Any]]] = {
    "budget": _typed_budget, "quiet_hours": _typed_hours, "first": int, "stop_after": int,
}  # fmt: skip
