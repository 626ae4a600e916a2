"""What the campaign form does, without a widget: write, plan, send with a way to stop, settle what is in doubt.

The ledger is the only memory: what a screen says of a campaign is read there, so it is right after a kernel's restart.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from .. import _planning as planning
from .._arguments import not_whole, refuse
from .._cards import counted
from .._dispatch import send
from .._guards import GUARDS
from .._ledger import Campaign, Ledger, LedgerOrPath, state_line
from .._ledger.places import not_a_ledger
from .._planning import Plan
from .._sandbox.facade import client_of
from ..errors import SmsOtpError, SmsOtpWarning, UsageError
from ..problems import PROBLEMS, Problem
from ..results import Progress
from .arguments import names_of
from .campaign_choices import Choices, Guards
from .stages import Notice, Sign, Stages, broken, complaints, refused

if TYPE_CHECKING:
    from .._client import Client
    from .._sandbox import Sandbox

LIVE_ROWS = 3000  # a list of up to this many rows is planned while typing, of a longer one its beginning
HEARD_EVERY = 0.25  # seconds: tens of thousands of quick updates hang a notebook's page
TYPE_ABOVE = 1000
BUSY = ("planning", "sending")


@dataclass(frozen=True, slots=True)
class Draft:
    """A plan made while typing, of all rows or the first ones, or what keeps it from being one."""

    plan: Plan | None = None
    whole: bool = True
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Running:
    """A send under way: the last progress, and how long it has been going, in seconds."""

    progress: Progress
    seconds: float
    stopping: bool

    @property
    def remaining(self) -> float | None:
        """Seconds that the rest may take at the pace so far; None before anything is known."""
        done = self.progress.done
        return self.seconds / done * self.progress.left if done and self.seconds else None


class CampaignSteps(Stages):
    """The campaign form's state and moves.

    ``notice`` says how things stand, ``refusal`` why the last click did nothing.

    Example:
        >>> import pathlib, tempfile
        >>> from smsotp_nb import Ledger, Sandbox
        >>> people = pd.DataFrame({"phone": ["+1 202 555 0123"], "name": ["Ann"]})
        >>> with Sandbox() as box, Ledger(pathlib.Path(tempfile.mkdtemp()) / "ledger.sqlite", create=True) as ledger:
        ...     steps = CampaignSteps(people, client=box.client(), ledger=ledger)
        ...     steps.check(Choices(campaign="hello", to="phone", words="Hi {name}", kind="text"))
        ...     steps.send(Guards())
        >>> steps.stage, steps.counts["accepted"]
        ('done', 1)
    """

    def __init__(
        self,
        frame: pd.DataFrame,
        *,
        client: Client | Sandbox,
        ledger: LedgerOrPath | None = None,
        type_above: int = TYPE_ABOVE,
        changed: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        names_of(frame)
        refuse(not_whole("type_above", type_above, least=0))
        super().__init__("write", changed=changed)
        self.refusal = self._before = Notice()
        self.frame = frame
        self.client = client_of(client, what="a form")
        if not isinstance(ledger, Ledger | str | Path | None):
            raise not_a_ledger(ledger)
        self.ledger = ledger if isinstance(ledger, Ledger) else Ledger(ledger)
        self.plan: Plan | None = None
        self.results: pd.DataFrame | None = None
        self.counts: dict[str, int] = {}
        self.running: Running | None = None
        self._type_above = type_above
        self._clock = clock
        self._stop = threading.Event()
        self._started = 0.0
        self._cost = ""

    # -- write

    def draft(self, choices: Choices) -> Draft:
        """Plan the first rows, quietly: for the preview beside the text."""
        head, missing = self.frame.head(LIVE_ROWS), self._missing(choices)
        if missing:
            return Draft(problems=missing)
        try:
            plan = planning.plan(head, **choices.arguments())
        except SmsOtpError as error:
            return Draft(problems=complaints(error))
        return Draft(plan, whole=len(head) == len(self.frame))

    def _missing(self, choices: Choices) -> tuple[str, ...]:
        return choices.missing() if len(self.frame) else ("The list has no rows.",)

    # -- check

    def check(self, choices: Choices) -> None:
        """Plan the whole list; sends nothing."""
        missing = self._missing(choices)
        if self.stage == "write" and missing:
            self._refuse("write", f"{NO_PLAN} {' '.join(missing)}", "warn")
            return
        if not self._begin({"write"}, "planning", f"Planning {counted(len(self.frame), 'row')} …"):
            return
        try:
            self.plan = planning.plan(self.frame, **choices.arguments())
            campaign = self._campaign()
            self.counts = campaign.counts if campaign else {}
            self._cost = self._cost_to_go(campaign.frame if campaign else None)
        except SmsOtpError as error:
            self._refuse("write", *refused(error, NO_PLAN))
        except Exception as error:
            self._refuse("write", *broken(error))
            raise
        else:
            self._show("planned", *self._standing())

    def back(self) -> None:
        """Go back to the text; nothing is lost, what was sent stays recorded."""
        if self._begin({"planned", "done"}, "write", ""):
            self.plan, self.results, self.running = None, None, None
            self._show("write")

    # -- send

    @property
    def to_go(self) -> int:
        """Rows that the next send would post."""
        if self.plan is None:
            return 0
        return self.counts["planned"] if self.counts else int((self.plan.rows["status"] == "planned").sum())

    def send_label(self) -> str:
        """Say on the button what it does: how many messages, at what estimated cost."""
        if self.plan is None:
            return "Send"
        begun = any(self.counts.get(state) for state in ("accepted", "rejected", "in_doubt"))
        what = f"Send {'the remaining ' if begun else ''}{counted(self.to_go, 'message')}"
        what += " to real people" if self.live else ""
        return f"{what}, about {self._cost}" if self._cost else what

    def to_type(self) -> str:
        """Return the number to be typed before sending: that of the messages, when they are many or real; or ``""``."""
        return str(self.to_go) if self.live or self.to_go > self._type_above else ""

    def send(self, guards: Guards, typed: str = "") -> None:
        """Send the plan, or what is left of it; blocks until it ends or was stopped."""
        if self.stage not in ("planned", "done") or self.plan is None or not self.to_go:
            return
        if self.to_type() and typed.replace(",", "").strip() != self.to_type():
            self._refuse(self.stage, f"Type {self.to_type()} to confirm; nothing was sent.", "warn")
            return
        back = self.stage
        if self._begin({"planned", "done"}, "sending", ""):
            self._send(self.plan, guards, back)

    def stop(self) -> None:
        """Begin no further request; those under way are waited for and recorded."""
        if self.stage == "sending":
            self._stop.set()
            if self.running:
                self.running = Running(self.running.progress, self.running.seconds, stopping=True)
            self._changed()

    # -- settle

    def resolve(self, *, accepted: bool) -> None:
        """Say of all rows in doubt that they were accepted, or that they were not and may be sent again."""
        if self.stage != "done" or not self.counts.get("in_doubt"):
            return
        campaign = self._campaign()
        if campaign is None:
            return
        try:
            settled = campaign.resolve(campaign.in_doubt, accepted=accepted)
        except SmsOtpError as error:
            self._refuse("done", *refused(error, "Nothing was changed."))
            return
        self._read_results()
        what = "count as accepted" if accepted else "are planned again; nothing was sent yet"
        self._show("done", f"{counted(settled, 'row')} {what}.", "ok")

    # -- inside a move

    def _show(self, stage: str, words: str = "", sign: Sign = "") -> None:
        if stage in BUSY:
            self._before = self.notice
        self.refusal = Notice()
        super()._show(stage, words, sign)

    def _refuse(self, stage: str, words: str, sign: Sign) -> None:
        """Leave how things stand, and say why the click did nothing."""
        if self.stage in BUSY:
            self.notice = self._before
        self.stage, self.refusal = stage, Notice(words, sign)
        self._changed()

    def _send(self, plan: Plan, guards: Guards, back: str) -> None:
        self._started, self.running = self._clock(), None
        try:
            asked = guards.arguments()
            send(plan, client=self.client, ledger=self.ledger, progress=self._heard, stop=self._stop, **asked)
        except SmsOtpWarning:  # where warnings are errors: what it says is shown in any case
            self._finished()
        except SmsOtpError as error:
            self._refuse(back, *refused(error, "Not sent."))
        except Exception as error:
            self._refuse(back, *broken(error))
            raise
        else:
            self._finished()
        finally:
            self._stop.clear()

    def _heard(self, progress: Progress) -> None:
        """Take one update, and pass on a few a second."""
        seconds = self._clock() - self._started
        last = self.running.seconds if self.running else -1.0
        if seconds - last >= HEARD_EVERY or not progress.left:
            self.running = Running(progress, seconds, self._stop.is_set())
            self._changed()

    def _finished(self) -> None:
        self._read_results()
        planned, doubt = self.counts["planned"], self.counts["in_doubt"]
        line = f"{state_line(self.counts)}."
        if planned:
            why = self._held_back()
            line = f"{_capital(why.meaning)}: {line} {_capital(why.next_step)}." if why else f"Not complete: {line}"
        line += " Rows in doubt are never sent again automatically." if doubt else ""
        self._show("done", line, "warn" if planned or doubt else "ok")

    def _held_back(self) -> Problem | None:
        """Return what held the rest back: the first of these reasons that stands in the rows themselves."""
        frame = self.results
        held = set() if frame is None else set(frame.loc[frame["status"].eq("planned"), "problem"].dropna())
        return next((PROBLEMS[code] for code in TOLD_FIRST if code in held), None)

    def _read_results(self) -> None:
        campaign = self._campaign()
        if campaign is not None and self.plan is not None:
            frame = campaign.frame
            self.results = frame.set_axis(self.plan.rows.index) if len(frame) == len(self.plan.rows) else frame
            self.counts = campaign.counts
            self._cost = self._cost_to_go(frame)

    def _campaign(self) -> Campaign | None:
        if self.plan is None:
            return None
        try:
            return self.ledger.campaign(self.plan.campaign, service=self.client.service)
        except UsageError:  # not recorded yet
            return None

    def _standing(self) -> tuple[str, Any]:
        if not self.counts:
            return "Nothing has been sent.", ""
        return (
            f"This campaign is already recorded: {state_line(self.counts)}. Sending continues where it stopped.",
            "warn",
        )

    def _cost_to_go(self, recorded: pd.DataFrame | None) -> str:
        """The estimated cost of what is left, read once a stage: a million rows are not looked up at every redraw."""
        if self.plan is None:
            return ""
        rows = self.plan.rows[(self.plan.rows["status"] == "planned").to_numpy()]
        if recorded is not None:
            left = recorded.loc[recorded["status"].eq("planned"), "to"]
            rows = rows[rows["to"].isin(left).to_numpy()]
        return planning.overview.about(rows)

    @property
    def live(self) -> bool:
        """Whether a send reaches real people and costs real money."""
        return self.client.sandbox is None

    def where(self) -> str:
        """Say in words whom a send would reach."""
        if not self.live:
            return "Sandbox: nobody is texted, nothing leaves this machine."
        return f"Live service at {self.client.settings.base_url}: real people are texted, and every text is billed."


NO_PLAN = "There is no plan yet."
# What may hold rows back, in the order in which one is told where there are several.
TOLD_FIRST = (
    *("STOPPED", "NO_FUNDS"),
    *(guard.code for guard in sorted(GUARDS, key=lambda guard: not guard.ends)),
    *("THROTTLED", "ACCOUNT", "NOT_SENT", "UNKNOWN_SERVICE"),
)


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]
