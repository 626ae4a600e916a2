"""A reading in sentences: no sentence says more than its interval."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

import pandas as pd

from .._cards import counted, money, records
from .._showing import few
from .declaring import HOLDOUT
from .joining import AFTER, BEFORE, UNKNOWN
from .statistics import Ratio

MINUS: Final = "−"
_MOST_PLACES: Final = 12
_NOTHING: Final = 1e-12  # what arithmetic leaves of a limit that is 0
_DAY: Final = "%Y-%m-%d %H:%M UTC"
_LEFT: Final = {
    UNKNOWN: ("row belongs to nobody of the experiment", "rows belong to nobody of the experiment"),
    BEFORE: ("row is from before the send", "rows are from before the send"),
    AFTER: ("row is from after the window", "rows are from after the window"),
}


@dataclass(frozen=True, slots=True)
class Texted:
    """How many people of an arm other campaigns texted, of how many, and the names of these campaigns."""

    arm: str
    texted: int
    people: int
    campaigns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Facts:
    """What sentences need beside the tables; ``left_out`` counts rows of outcomes by reason.

    ``in_doubt`` and ``unpriced`` count the messages of each arm whose cost is not known, and ``dearest`` is the most
    that anybody of it was billed.
    """

    kinds: Mapping[str, str]
    currency: str
    level: float
    day: datetime
    window: timedelta
    left_out: Mapping[str, int]
    counted: int
    to_go: int = 0  # people of its campaigns who are still to be texted
    elsewhere: tuple[Texted, ...] = ()
    in_doubt: Mapping[str, int] = field(default_factory=dict)
    unpriced: Mapping[str, int] = field(default_factory=dict)
    dearest: Mapping[str, float] = field(default_factory=dict)
    forgotten: Mapping[str, int] = field(default_factory=dict)
    unsent: Mapping[str, int] = field(default_factory=dict)  # people of arms of which nobody was texted

    @property
    def percent(self) -> str:
        return f"{self.level * 100:g}%"


def elsewhere(facts: Facts) -> list[str]:
    """Return who was forgotten, which arms were not texted, and whom other campaigns texted from the draw on.

    That is until the reading day; those held out come first.
    """
    said = []
    if many := sum(facts.forgotten.values()):
        each = few([f"{count:,} of {arm}" for arm, count in facts.forgotten.items()])
        were = counted(many, "number was", "numbers were")
        said.append(f"{were} forgotten ({each}): who has no other one is in no figure, nor is what they brought.")
    for arm, many in facts.unsent.items():
        are = "1 person is" if many == 1 else f"{many:,} people are"
        said.append(f"Nobody of {arm}, to which {are} assigned, was texted: it says nothing yet, and is not compared.")
    for one in facts.elsewhere:
        if one.arm == HOLDOUT:
            were = "was" if one.texted == 1 else "were"
            said.append(
                f"{one.texted:,} of the {counted(one.people, 'person', 'people')} held out {were} texted all the same, "
                f"or may have been, by {few(one.campaigns, _quoted)}: they do not show what comes without any message."
            )
    arms = [one for one in facts.elsewhere if one.arm != HOLDOUT]
    if arms:
        each = ", ".join(f"{one.texted:,} of the {one.people:,} assigned to {one.arm}" for one in arms)
        names = tuple(dict.fromkeys(name for one in arms for name in one.campaigns))
        said.append(f"People were texted by other campaigns too, by {few(names, _quoted)}: {each}.")
    return said


def _quoted(name: str) -> str:
    return f'"{name}"'


def paragraph(state: str, frame: pd.DataFrame, pairs: pd.DataFrame, checked: Ratio | None, facts: Facts) -> str:
    """Return what a manager may quote."""
    if state == "uneven" and checked is not None:
        return checked.sentence()
    if state == "waiting":
        return (
            f"The reading day is {facts.day.strftime(_DAY)}; until then only the counts are shown, because who looks "
            "often finds differences that are not there."
        )
    bases = {row["outcome"]: row for row in records(frame) if row["arm"] == HOLDOUT}
    said = [_arm(row, bases.get(row["outcome"]), state, facts) for row in records(frame) if row["arm"] != HOLDOUT]
    said += [_pair(row, state, facts) for row in records(pairs)]
    return " ".join([*_beginning(state, facts), *said, *([to_go(facts)] if facts.to_go else [])])


def to_go(facts: Facts) -> str:
    """Return that the campaigns have not ended, and what that does to a reading."""
    people = counted(facts.to_go, "person", "people")
    has = "has" if facts.to_go == 1 else "have"
    return f"{people} {has} not been texted yet and count as not reached; if they are texted, the reading day moves."


def _beginning(state: str, facts: Facts) -> list[str]:
    if state == "early":
        return [
            f"Read before the reading day ({facts.day.strftime(_DAY)}): preliminary, and no result. Of experiments "
            "without any effect, looking daily for two weeks finds one in about 20 of 100."
        ]
    if state == "sequential":
        return [
            f"Read before the reading day ({facts.day.strftime(_DAY)}) by intervals that hold at every look, and are "
            "wider for it."
        ]
    return []


def _arm(row: Mapping[str, Any], base: Mapping[str, Any] | None, state: str, facts: Facts) -> str:
    if base is None:
        return f"{_reached(row, facts)}; nobody was held out, so nothing says what it would have been without."
    shown = f"{_reached(row, facts)}; of the {base['people']:,} people held out it was {_level(base, facts)}."
    return f"{shown} {_effect(row, state, facts)}"


def _reached(row: Mapping[str, Any], facts: Facts) -> str:
    return f'Of the {row["people"]:,} people assigned to {row["arm"]}, "{row["outcome"]}" was {_level(row, facts)}'


def _level(row: Mapping[str, Any], facts: Facts) -> str:
    if _is_share(row, facts):
        return f"{percent(row['value'])} ({row['total']:,.0f})"
    return f"{amount(row['value'], facts.currency)} per person"


def percent(value: float) -> str:
    """Return a share with two decimal places, or as many as it takes to show two of its digits.

    Example:
        >>> percent(0.0057), percent(0.0000123), percent(0.0)
        ('0.57%', '0.0012%', '0.00%')
    """
    return f"{value * 100:.{places_for((value * 100,))}f}%"


def amount(value: float, currency: str | None, *, places: int = 4) -> str:
    """Return an amount with so many decimal places, or as many as it takes to show two of its digits."""
    return money(value, currency, places=places_for((value,), places))


def places_for(values: Iterable[float], least: int = 2) -> int:
    """Return how many decimal places show two digits of the smallest of these numbers, leaving nothing aside.

    Example:
        >>> places_for((0.57, -12.0)), places_for((0.00123, 4.0)), places_for((0.0, 1.0))
        (2, 4, 2)
    """
    small = min((abs(value) for value in values if value and math.isfinite(value)), default=1.0)
    return min(max(least, 1 - math.floor(math.log10(small))), _MOST_PLACES)


def _effect(row: Mapping[str, Any], state: str, facts: Facts) -> str:
    if math.isnan(row["low"]):
        return f"No interval can be given: {row['method']}."
    if state == "early" or not row["settled"]:
        return f"The difference is {span(row, facts)}: {_maybe(row, state)}.{_cost(row, facts)}"
    limits, word = (row["extra_low"], row["extra_high"]), "more"
    if row["high"] < 0:
        limits, word = (-row["extra_high"], -row["extra_low"]), "less"
    brought = f"the message brought {_total(*limits, row, facts)} {word}"
    return f"The difference is {span(row, facts)}: {brought}.{_cost(row, facts)}"


def _maybe(row: Mapping[str, Any], state: str) -> str:
    if state == "early":
        return "what it comes to is said on the reading day"
    if row["low"] > 0 or row["high"] < 0:
        return "the interval leaves out nothing, but the test does not, so this is not settled"
    return "the message may have had no effect at all"


def span(row: Mapping[str, Any], facts: Facts) -> str:
    """Return an interval in words, rounded outwards."""
    low, high = row["low"], row["high"]
    if _is_share(row, facts):
        places = places_for((low * 100, high * 100))
        shown = f"between {_signed(low * 100, places, down=True)} and {_signed(high * 100, places)} percentage points"
    else:
        places = places_for((low, high), 4)
        shown = f"between {_signed(low, places, down=True)} and {_signed(high, places)} {facts.currency} per person"
    return f"{shown} ({facts.percent} interval)".replace("  ", " ")


def _signed(value: float, places: int, *, down: bool = False) -> str:
    """Return a number with its sign, rounded to the lower or the higher one."""
    rounded = outwards(value, places=places, down=down)
    return f"{'+' if rounded > 0 else MINUS if rounded < 0 else ''}{abs(rounded):,.{places}f}"


def outwards(value: float, *, places: int, down: bool) -> float:
    """Return a limit rounded so that the interval never gets narrower."""
    scaled = round(value * 10**places, 6) if abs(value) > _NOTHING else 0.0
    return float((math.floor(scaled) if down else math.ceil(scaled)) / 10**places)


def _total(low: float, high: float, row: Mapping[str, Any], facts: Facts) -> str:
    places = places_for((low, high), 0 if _is_share(row, facts) else 2)
    low, high = outwards(low, places=places, down=True), outwards(high, places=places, down=False)
    if _is_share(row, facts):
        return f'between {low:,.{places}f} and {high:,.{places}f} "{row["outcome"]}"'
    return f"between {money(low, facts.currency, places=places)} and {money(high, facts.currency, places=places)}"


def _cost(row: Mapping[str, Any], facts: Facts) -> str:
    if math.isnan(row["cost"]):
        return " It was billed in several currencies, which are never added, so no price of one can be said."
    unknown = unbilled(row["arm"], facts)
    if not row["cost"] > 0:
        return f" What it cost is not known: {unknown}." if unknown else ""
    return f" It cost {cost(row, facts)}{f', as {unknown}' if unknown else ''}: {price(row, facts)}."


def cost(row: Mapping[str, Any], facts: Facts) -> str:
    """Return what an arm was billed: a range where messages have no known price."""
    least = money(row["cost"], row["currency"])
    if not unbilled(row["arm"], facts):
        return least
    if math.isinf(row["cost_high"]):
        return f"at least {least}" if row["cost"] > 0 else "not known"
    return f"between {least} and {money(row['cost_high'], row['currency'])}"


def unbilled(arm: str, facts: Facts) -> str:
    """Return which messages of an arm are in no cost, in words; an empty text where there are none."""
    doubt, unpriced = facts.in_doubt.get(arm, 0), facts.unpriced.get(arm, 0)
    said = [f"{counted(doubt, 'message')} in doubt may have been billed as well"] if doubt else []
    if unpriced:
        said.append(f"{counted(unpriced, 'message was', 'messages were')} accepted without a price that can be read")
    if said and arm in facts.dearest:
        most = money(facts.dearest[arm], None)
        said.append(f"each counts for up to {most}, the most that anybody of the arm was billed")
    return ", ".join(said)


def price(row: Mapping[str, Any], facts: Facts) -> str:
    """Return what one extra outcome cost, as an interval in words."""
    unit = "each" if _is_share(row, facts) else f"{money(1, facts.currency, places=2)} more"
    if math.isnan(row["low"]):
        return f"no price of {unit}, as there is no interval"
    if math.isnan(row["price_low"]):
        return "no price, as there were no extra ones" if _is_share(row, facts) else "no price, as nothing more came in"
    places = places_for((row["price_low"], row["price_high"]))
    low = money(outwards(row["price_low"], places=places, down=True), row["currency"], places=places)
    if math.isinf(row["price_high"]):
        by_all = "by Holm's method for all comparisons together " if row["low"] > 0 else ""
        return f"at least {low} for {unit}, with no upper limit, because {by_all}the effect may be nothing"
    high = money(outwards(row["price_high"], places=places, down=False), row["currency"], places=places)
    return f"between {low} and {high} for {unit}"


def _pair(row: Mapping[str, Any], state: str, facts: Facts) -> str:
    named = f'For "{row["outcome"]}", {row["arm"]} against {row["against"]}'
    if math.isnan(row["low"]):
        return f"{named}: no interval can be given, {row['method']}."
    if state != "early" and row["settled"]:
        better = row["arm"] if row["low"] > 0 else row["against"]
        return f"{named} differs by {span(row, facts)}: {better} brought more."
    return f"{named} differs by {span(row, facts)}: which is better is not settled."


def left_out(facts: Facts) -> str:
    said = [counted(count, *_LEFT[problem]) for problem, count in facts.left_out.items()]
    return f"{counted(facts.counted, 'row')} of outcomes counted. Left out: {'; '.join(said)}." if said else ""


def _is_share(row: Mapping[str, Any], facts: Facts) -> bool:
    return facts.kinds[row["outcome"]] == "binary"
