"""What a person chose to compare in the campaign form, as an experiment and as lines of code."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ..._experiments.declaring import HOLDOUT
from ..._experiments.power import power
from ..columns import NONE_CHOSEN

FIRST, SECOND = "A", "B"
OUTCOME, AMOUNT = "bought", "spent"
BOTH: Final = "both"
MOST_HELD: Final = 90  # per cent


@dataclass(frozen=True, slots=True)
class Compared:
    """A second text, a share held out, or both; without either nothing is compared.

    ``unit`` is the column by which outcomes are counted, ``outcome`` what is counted (`OUTCOME`, `AMOUNT` or `BOTH`),
    ``days`` how long an order counts after its message, and ``base`` the share in per cent, as it was typed, who would
    buy without a message.

    Example:
        >>> Compared(other="Hi!", held=10, unit="customer").shares
        {'A': 45.0, 'B': 45.0}
    """

    other: str = ""
    held: int = 0
    unit: Hashable = NONE_CHOSEN
    days: int = 14
    base: str = ""
    outcome: str = OUTCOME

    @property
    def on(self) -> bool:
        """Whether anything is compared."""
        return bool(self.other.strip() or self.held)

    @property
    def shares(self) -> dict[str, float]:
        """The share of each text in per cent."""
        names = (FIRST, SECOND) if self.other.strip() else (FIRST,)
        return dict.fromkeys(names, (100 - self.held) / len(names))

    def texts(self, words: str) -> dict[str, str]:
        """Return the text of each arm; ``words`` is the first."""
        return {FIRST: words, SECOND: self.other} if self.other.strip() else {FIRST: words}

    def declared(self) -> dict[str, Any]:
        """Return the arguments of an ``Experiment`` beside its name."""
        shares = {arm: int(share) if share == int(share) else share for arm, share in self.shares.items()}
        held = {"holdout": self.held} if self.held else {}
        counted = {"unit": self.unit, "outcomes": self.outcomes, "read_after": f"{self.days}d"}
        return {"arms": shares, **held, **counted}

    @property
    def outcomes(self) -> dict[str, str]:
        """The kind of each outcome."""
        kinds = {OUTCOME: "binary", AMOUNT: "amount"}
        return kinds if self.outcome == BOTH else {self.outcome: kinds[self.outcome]}

    def missing(self, campaign: str, *, template: bool) -> dict[str, str]:
        """Say what is still to be filled in or cannot be read, by the field."""
        if not self.on:
            return {}
        blanks = (
            ("campaign", "/" in campaign, "Choose a name without a slash: each text is sent as name/A or name/B."),
            ("unit", self.unit == NONE_CHOSEN, "Choose the column that tells your customers apart."),
            ("other", template and bool(self.other.strip()), "A template is compared with nobody texted, not with a "
             "second text. Choose another message, or leave the second text blank."),
            ("base", bool(self.base.strip()) and self.rate is None, "Enter a share above 0 and below 100, such as 2.5, "
             "or leave it blank."),
        )  # fmt: skip
        return {name: words for name, wrong, words in blanks if wrong}

    @property
    def rate(self) -> float | None:
        """The share who would buy without a message, from 0 to 1; None where it was not entered."""
        try:
            share = float(self.base.replace(",", ".").replace("%", "").strip()) / 100
        except ValueError:
            return None
        return share if 0 < share < 1 else None

    def foreseen(self, people: int) -> list[str]:
        """Say in sentences what so many people can show."""
        if self.outcome == AMOUNT:
            return [_SPENT]
        if self.held and self.rate is not None and people > 1:
            shares = {**self.shares, HOLDOUT: float(self.held)}
            return [power(base={OUTCOME: self.rate}, weights=shares, size=people).sentence()]
        if self.rate is None:
            return ["Enter who buys without a message to see which effect so many people can show."]
        seen = power(base={OUTCOME: self.rate}, weights={SECOND: 50, HOLDOUT: 50}, size=max(people, 2)).frame
        more = f'{seen["effect"].iloc[0]:.0%} more "{OUTCOME}"'
        return [
            f"With {people:,} people, one text against the other shows {more} ({self.rate:.2%} with the weaker one) 8 "
            "times out of 10; a smaller difference is likely missed. Nobody is held out, so nothing will say what the "
            "campaign itself brought."
        ]


_SPENT: Final = (
    "How small a difference so many people can show depends on how unevenly people spend: try it on orders of an "
    "earlier time, with calibrate of the experiment in the code below."
)


def lines(
    compared: Compared,
    words: str,
    arguments: Mapping[str, Any],
    guards: Mapping[str, Mapping[str, Any]],
    shown: Mapping[str, str],
    *,
    reason: str = "",
) -> list[str]:
    """Return the code that declares, draws, plans and sends the same.

    Args:
        compared: what is compared.
        words: the first text.
        arguments: those of ``plan``.
        guards: those of ``send`` for each arm.
        shown: the arguments of ``plan`` as code.
        reason: why the text of what is recorded changes; empty where it does not.
    """
    name = arguments["campaign"]
    declared = ", ".join(f"{key}={value!r}" for key, value in compared.declared().items())
    drawn = ", ".join(f"{key}={shown[key]}" for key in DRAWN if key in shown)
    kind = next((kind for kind in ("content", "text") if kind in arguments), "")
    planned = {key: code for key, code in shown.items() if key not in ("campaign", kind)}
    asked = any(guards.values())
    correct = f"    sms.Ledger().campaign(plan.campaign, service=client.service).correct(plan, reason={reason!r})"
    return [
        f"test = sms.Experiment({name!r}, {declared})",
        f"split = test.assign(people, {drawn})",
        *([f"texts = {compared.texts(words)!r}"] if kind else []),
        *([f"guards = {dict(guards)!r}"] if asked else []),
        "for arm, part in split.texted():",
        f'    plan = sms.plan(part, campaign=f"{{test.name}}/{{arm}}"{f", {kind}=texts[arm]" if kind else ""}, '
        + ", ".join(f"{key}={code}" for key, code in planned.items())
        + ")",
        *([correct] if reason else []),
        f"    sms.send(plan, client=client{', **guards[arm]' if asked else ''})",
        f"# {compared.days} days after the last message; orders has a row for each purchase, its time in column 'at'",
        f'reading = test.read(orders, at="at"{_MONEY * (AMOUNT in compared.outcomes)})',
    ]


_MONEY: Final = ', amount="amount", currency="EUR"'
DRAWN: Final = (
    *("to", "region", "default_region", "policy"),
    *("suppress", "ignore_unreadable_suppressions", "exclude"),
)
