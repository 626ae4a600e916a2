"""The first moves of the campaign form: a draft with every key, the plan, and back to the text."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from ... import _planning as planning
from ..._cards import counted
from ..._ledger import Unfinished
from ..._planning import UNASKED, Plan
from ...errors import SmsOtpError, UsageError
from ..columns import names_of
from ..stages import Notice, Sign, broken, complaints, refused
from .choices import Choices
from .faults import by_field
from .state import BUSY, IN_CODE, CampaignState, in_both

LIVE_ROWS = 3000  # a list of up to this many rows is planned while typing, of a longer one its beginning
NO_PLAN = "There is no plan yet."


@dataclass(frozen=True, slots=True)
class Draft:
    """A plan made while typing, of all rows or the first ones, or what keeps it from being one."""

    plan: Plan | None = None
    whole: bool = True
    problems: tuple[str, ...] = ()
    other: Plan | None = None  # of the second text, where two are compared
    foreseen: tuple[str, ...] = ()  # what the comparison can show


class Writing(CampaignState):
    """Write and check."""

    _known: tuple[tuple[str, ...], pd.Series] = ((), pd.Series(dtype=object))

    def campaigns(self) -> list[str]:
        """Return the names of the recorded campaigns whose people can be left out, the latest first."""
        return self.ledger.names(service=self.client.service)

    def take(self, frame: pd.DataFrame | None, called: str = IN_CODE) -> bool:
        """Take another list, or none, and forget all that was planned and sent by the one before.

        Return whether it was taken: not while something is being done with the one before.
        """
        if frame is not None:
            names_of(frame)
        with self._lock:
            if self.stage in BUSY:
                return False
            self.stage = "write"
            self.frame, self._called = pd.DataFrame() if frame is None else frame, called
            self._forget_plan()
        self._show("write")
        return True

    def draft(self, choices: Choices) -> Draft:
        """Plan the first rows, quietly: for the preview beside the text."""
        head, missing = self.frame.head(LIVE_ROWS), self._missing(choices)
        if missing:
            return Draft(problems=tuple(missing.values()))
        try:
            plan = self._planned(head, choices)
        except SmsOtpError as error:
            return Draft(problems=complaints(error))
        return Draft(plan, whole=len(head) == len(self.frame))

    def check(self, choices: Choices, *, both: int = 0) -> bool:
        """Plan the whole list; sends nothing. Return whether there is a plan now of just these choices.

        ``both`` is how many people a person agreed to text under this name and under that of another campaign, too,
        which is not finished.
        """
        missing = self._missing(choices)
        if self.stage == "write" and missing:
            self._refuse("write", f"{NO_PLAN} {' '.join(missing.values())}", "warn", missing)
            return False
        if not self._begin({"write"}, "planning", f"Planning {counted(len(self.frame), 'row')} …"):
            return False
        begun = self.counts, self.unfinished
        try:
            met = self._make(choices)
        except UsageError as error:
            faults = by_field(error, choices.kind)
            self._refuse("write", f"{NO_PLAN} {' '.join(faults.values())}", "warn", faults)
        except SmsOtpError as error:
            self._refuse("write", *refused(error, NO_PLAN))
        except Exception as error:
            self._refuse("write", *broken(error))
            raise
        else:
            if met and both != in_both(met):
                self.counts, self.unfinished = begun
                self._stop_at(met)
            else:
                self._agreed, self.tested = in_both(met), Notice()
                self.alone = self.alone if self.unfinished else 0
                self._show("planned", *self._standing())
                return True
        return False

    def back(self) -> None:
        """Go back to the text; nothing is lost, what was sent stays recorded."""
        if self._begin({"planned", "done"}, "write", ""):
            self.plan, self.results, self.running = None, None, None
            self._show("write", *self._before_writing())

    def _make(self, choices: Choices) -> list[Unfinished]:
        """Plan the whole list; return the unfinished campaigns with its people."""
        self.plan, self._to, self._suppress = self._planned(self.frame, choices), choices.to, choices.suppress
        self._look()
        return self._others()

    def _planned(self, frame: pd.DataFrame, choices: Choices) -> Plan:
        """Plan without the ledger: with ten million contacts it is too much to ask at every key."""
        asked = dataclasses.replace(choices, policy=self.policy).arguments()
        if choices.exclude:
            asked["exclude"] = self._reached(choices.exclude)
        return planning.plan(frame, **asked, ledger=UNASKED)

    def _reached(self, campaigns: tuple[str, ...]) -> pd.Series:
        """Return whom these campaigns may have reached; read once, not with every key."""
        if self._known[0] != campaigns or self.stage == "planning":
            found = [self.ledger.campaign(name, service=self.client.service).reached for name in campaigns]
            self._known = campaigns, pd.concat(found)
        return self._known[1]

    def _missing(self, choices: Choices) -> Mapping[str, str]:
        if len(self.frame):
            return choices.missing()
        return {"": "The list has no rows." if len(self.frame.columns) else "Choose the list of recipients."}

    def _stop_at(self, met: list[Unfinished]) -> None:
        self.plan, self.met = None, met
        words = " ".join(_meeting(one) for one in met)
        self._refuse("write", f"{NO_PLAN} {words} {_WAYS_ON}", "warn", {"campaign": "Another name, the same people."})

    def _before_writing(self) -> tuple[str, Sign]:
        if not self.unfinished:
            return "", ""
        said = f"{self.tried:,} of this campaign were texted and keep their text."
        return f"{said} What you write here is for the other {self.waiting:,}.", "warn"


_WAYS_ON = (
    "To change the text for those to go, keep the name. To begin anew, keep the name, check it and withdraw those to "
    "go first."
)


def _meeting(one: Unfinished) -> str:
    texted = f"texted {one.texted:,} of these people and " if one.texted else ""
    many = counted(one.both, "person is", "people are")
    return f"Campaign {one.campaign} {texted}has {one.to_go:,} to go: under another name {many} texted by both."
