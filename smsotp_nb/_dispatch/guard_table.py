"""One table of the guards: the argument, the code of rows held back, what it does in words, what a form asks for.

``send`` and ``preflight`` take these arguments, ``preflight`` says a line for each that is set, the form labels its
fields and the documentation its table from here. How a guard holds back stands in ``guards``, what its code means in
``problems``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from .. import _cards as cards
from .._planning import Plan
from .._wire import amount
from . import guards
from .guards import QuietHours


@dataclass(frozen=True, slots=True)
class Field:
    """What a form asks for: the label and an example of what to type."""

    label: str
    example: str = ""


@dataclass(frozen=True, slots=True)
class Guard:
    """One guard.

    Attributes:
        name: the argument of ``send`` and ``preflight``.
        default: its default there.
        code: the ``problem`` of rows that it holds back.
        ends: whether it ends the call; otherwise it passes over rows.
        example: how the argument is written.
        effect: what it does.
        ahead: its lines in ``preflight``, for the value that was read, the plan and the present moment.
        fields: what the campaign form asks for.
    """

    name: str
    default: Any
    code: str
    ends: bool
    example: str
    effect: str
    ahead: Callable[[Any, Plan, datetime], list[cards.Note]]
    fields: tuple[Field, ...] = ()


def _budget(budget: Mapping[str, int], plan: Plan, _now: datetime) -> list[cards.Note]:
    estimate = plan.estimate
    unknown = estimate["est_cost"].isna().any() or not set(estimate["currency"].dropna()) <= set(budget)
    lines = []
    for currency, limit in budget.items():
        expected = estimate.loc[estimate["currency"].eq(currency), "est_cost"].sum()
        said = f"Budget {cards.money(amount(limit), currency)}"
        if unknown:
            lines.append(
                cards.Note("cross", f"{said}: send refuses it, for not every recipient has an estimate in it.")
            )
        elif round(expected * 1_000_000) <= limit:
            lines.append(cards.Note("check", f"{said}: covers the estimate."))
        else:
            lines.append(cards.Note("!", f"{said}: stops before the end of the plan."))
    return lines


def _quiet_hours(quiet: QuietHours, plan: Plan, now: datetime) -> list[cards.Note]:
    rows = plan.rows
    to = rows.loc[rows["status"].eq("planned").to_numpy(), "to"]
    silent = sum(quiet.silences(number, now) for number in to)
    span = f"Quiet hours {quiet.begins:%H:%M} to {quiet.ends:%H:%M}"
    if not silent:
        return [cards.Note("check", f"{span}: nobody is held back now.")]
    people = cards.counted(silent, "recipient")
    return [cards.Note("!", f"{span}: it is quiet for {people} now; they wait as planned.")]


def _canary(most: int, _plan: Plan, _now: datetime) -> list[cards.Note]:
    return [cards.Note("!", f"Canary: at most {cards.counted(most, 'recipient')}, then it stops.")]


def _failures(most: int, _plan: Plan, _now: datetime) -> list[cards.Note]:
    return [cards.Note("i", f"Stops after {cards.counted(most, 'failure')} in a row.")]


GUARDS: Final = (
    Guard(
        "budget",
        None,
        guards.BUDGET,
        True,
        'budget={"USD": 50}',
        "stops before the request that may cross the amount; rows in doubt count as spent",
        _budget,
        (Field("Spend at most", "USD 50"),),
    ),
    Guard(
        "quiet_hours",
        None,
        guards.QUIET_HOURS,
        False,
        'quiet_hours=("21:00", "08:00")',
        "texts nobody between these times, by the clock where the number is at home",
        _quiet_hours,
        (Field("Quiet from", "21:00"), Field("Quiet until", "08:00")),
    ),
    Guard(
        "canary",
        None,
        guards.CANARY,
        True,
        "canary=20",
        "sends to this many first and stops",
        _canary,
        (Field("First recipients (0: all)"),),
    ),
    Guard(
        "stop_after_failures",
        guards.STOP_AFTER_FAILURES,
        guards.FAILING,
        True,
        "stop_after_failures=10",
        "stops after this many requests in a row were refused or left in doubt; on by default",
        _failures,
    ),
)
BY_NAME: Final[Mapping[str, Guard]] = {guard.name: guard for guard in GUARDS}


def ahead(asked: guards.Guards, plan: Plan, now: datetime) -> list[cards.Note]:
    """Return what each guard that is set would do now."""
    lines = []
    for guard in GUARDS:
        value = getattr(asked, guard.name)
        if value is not None:
            lines += guard.ahead(value, plan, now)
    return lines
