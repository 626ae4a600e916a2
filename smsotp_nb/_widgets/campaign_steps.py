"""What the campaign form does, without a widget: write, plan, send and stop, change what has not left, settle doubt.

The ledger is the only memory: what a screen says of a campaign is read there, so it is right after a kernel's restart.
"""

from __future__ import annotations

import dataclasses
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
from .._people import People
from .._planning import UNASKED, Plan
from .._policy import Policy, not_policy
from .._sandbox.facade import client_of
from .._wire import mask
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
TRIED = ("accepted", "rejected", "in_doubt")
IN_THE_FORM = "corrected in the form"


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
        policy: Policy | None = None,
        type_above: int = TYPE_ABOVE,
        changed: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        names_of(frame)
        refuse(not_whole("type_above", type_above, least=0), not_policy(policy))
        super().__init__("write", changed=changed)
        self.refusal = self._before = Notice()
        self.frame = frame
        self.client = client_of(client, what="a form")
        if not isinstance(ledger, Ledger | str | Path | None):
            raise not_a_ledger(ledger)
        self.ledger = ledger if isinstance(ledger, Ledger) else Ledger(ledger)
        self.policy = policy
        self.plan: Plan | None = None
        self.unfinished = ""  # the campaign that was begun here and has rows to go
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
            plan = self._planned(head, choices)
        except SmsOtpError as error:
            return Draft(problems=complaints(error))
        return Draft(plan, whole=len(head) == len(self.frame))

    def _planned(self, frame: pd.DataFrame, choices: Choices) -> Plan:
        """Plan without the ledger: with ten million contacts it is too much to ask at every key."""
        return planning.plan(frame, **dataclasses.replace(choices, policy=self.policy).arguments(), ledger=UNASKED)

    def _missing(self, choices: Choices) -> tuple[str, ...]:
        return choices.missing() if len(self.frame) else ("The list has no rows.",)

    # -- check

    def check(self, choices: Choices) -> None:
        """Plan the whole list; sends nothing."""
        missing = self._missing(choices)
        if self.stage == "write" and missing:
            self._refuse("write", f"{NO_PLAN} {' '.join(missing)}", "warn")
            return
        if self.stage == "write" and self.unfinished not in ("", choices.campaign):
            self._refuse("write", f"{NO_PLAN} {self._keep_the_name()}", "warn")
            return
        if not self._begin({"write"}, "planning", f"Planning {counted(len(self.frame), 'row')} …"):
            return
        try:
            self.plan = self._planned(self.frame, choices)
            self._look()
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
            self._show("write", *self._before_writing())

    def _before_writing(self) -> tuple[str, Sign]:
        if not self.unfinished:
            return "", ""
        said = f"{self.tried:,} of this campaign were texted and keep their text."
        return f"{said} What you write here is for the other {self.waiting:,}.", "warn"

    # -- send

    @property
    def tried(self) -> int:
        """Rows of the recorded campaign that were posted."""
        return sum(self.counts.get(state, 0) for state in TRIED)

    @property
    def waiting(self) -> int:
        """Rows that are to be texted, now or when a rule lets them."""
        if self.counts:
            return self.counts["planned"]
        return int((self.plan.rows["status"] == "planned").sum()) if self.plan else 0

    @property
    def to_go(self) -> int:
        """Rows that the next send would post: those that wait, without whom the rules hold back now."""
        if self.plan is None:
            return 0
        prospect = self.plan.prospect
        held = len(prospect.held) + prospect.left_out if prospect else 0
        return max(self.waiting - held, 0)

    @property
    def reworded(self) -> int:
        """Rows not yet sent that are recorded with another text than the plan has."""
        return self.plan.prospect.changed if self.plan and self.plan.prospect else 0

    def going(self, canary: int = 0) -> int:
        """Rows that the next send posts with a canary of this size; 0 is none."""
        return min(canary - self.tried, self.to_go) if canary > self.tried else self.to_go

    def send_label(self, canary: int = 0) -> str:
        """Say on the button what it does: how many messages, which of them, at what estimated cost."""
        if self.plan is None:
            return "Send"
        going = self.going(canary)
        some = going < self.to_go
        which = ("the next " if some else "the other ") if self.tried else "the first " if some else ""
        what = f"Send {which}{counted(going, 'message')}"
        what = f"Change the text and s{what[1:]}" if self.reworded else what
        what += " to real people" if self.live else ""
        return f"{what}, about {self._cost}" if self._cost and not some else what

    def back_label(self) -> str:
        """Say on the button what going back is for."""
        if not self.unfinished:
            return "Back to the text"
        return f"Change the text for the other {self.to_go or self.waiting:,}"

    def to_type(self, canary: int = 0) -> str:
        """Return the number to be typed before sending: that of the messages, when they are many or real; or ``""``."""
        going = self.going(canary)
        return str(going) if self.live or going > self._type_above else ""

    def send(self, guards: Guards, typed: str = "", reason: str = "") -> None:
        """Send the plan, or what is left of it with a new text where it has one; blocks until it ends or was stopped.

        ``reason`` is why the text changed, for the record.
        """
        if self.stage not in ("planned", "done") or self.plan is None or not self.to_go:
            return
        wanted = self.to_type(guards.canary)
        if 0 < guards.canary <= self.tried:
            self._refuse(self.stage, self._no_canary(guards.canary), "warn")
            return
        if wanted and typed.replace(",", "").strip() != wanted:
            self._refuse(self.stage, f"Type {wanted} to confirm; nothing was sent.", "warn")
            return
        back = self.stage
        if self._begin({"planned", "done"}, "sending", ""):
            self._send(self.plan, guards, back, reason.strip() or IN_THE_FORM)

    def stop(self) -> None:
        """Begin no further request; those under way are waited for and recorded."""
        if self.stage == "sending":
            self._stop.set()
            if self.running:
                self.running = Running(self.running.progress, self.running.seconds, stopping=True)
            self._changed()

    # -- change what has not left

    def opt_out(self, number: str, source: str, default_region: str = "") -> bool:
        """Record that a person does not want to be texted; the next request already obeys. Say whether it was done."""
        if self.stage not in ("planned", "done"):
            return False
        if not number.strip() or not source.strip():
            need = "the number" if source.strip() else "how it came, such as: phone call"
            self._refuse(self.stage, f"Nothing was recorded. Enter {need}.", "warn")
            return False
        try:
            People(self.ledger).opt_out(number.strip(), source=source, default_region=default_region or None)
            self._look_again()
        except SmsOtpError as error:
            self._refuse(self.stage, *refused(error, "Nothing was recorded."))
            return False
        said = f"{mask(number.strip())} opted out, and no campaign of this ledger texts this number."
        self._show(self.stage, f"{said} {self._standing()[0]}", "ok")
        return True

    def withdraw(self, reason: str = "") -> None:
        """Take all rows not yet sent out of the campaign for good."""
        campaign = self._campaign()
        if self.stage not in ("planned", "done") or campaign is None or not self.waiting:
            return
        try:
            gone = campaign.withdraw(reason=reason.strip() or "withdrawn in the form")
        except SmsOtpError as error:
            self._refuse(self.stage, *refused(error, "Nothing was changed."))
            return
        self._read_results()
        self._show("done", f"{counted(gone, 'row')} withdrawn: this campaign never texts them.", "ok")

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

    def _send(self, plan: Plan, guards: Guards, back: str, reason: str) -> None:
        self._started, self.running = self._clock(), None
        try:
            asked = guards.arguments()
            self._correct(plan, reason)
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

    def _correct(self, plan: Plan, reason: str) -> None:
        campaign = self._campaign()
        if campaign is not None and self.reworded:
            campaign.correct(plan, reason=reason)

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

    def _look(self) -> pd.DataFrame | None:
        """Read in the ledger how the plan stands to it; return what is recorded of the campaign."""
        if self.plan is None:
            return None
        campaign = self._campaign()
        self.counts = campaign.counts if campaign else {}
        self.plan = dataclasses.replace(
            self.plan, prospect=self.ledger.prospect(self.plan, service=self.client.service)
        )
        frame = campaign.frame if campaign else None
        self._cost = self._cost_to_go(frame)
        self.unfinished = self.plan.campaign if self.tried and self.waiting else ""
        return frame

    def _look_again(self) -> None:
        if self.stage == "done":
            self._read_results()
        else:
            self._look()

    def _read_results(self) -> None:
        frame = self._look()
        if frame is not None and self.plan is not None:
            self.results = frame.set_axis(self.plan.rows.index) if len(frame) == len(self.plan.rows) else frame

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
        said = f"This campaign is already recorded: {state_line(self.counts)}."
        if self.reworded:
            rows = counted(min(self.reworded, self.to_go), "row")
            return f"{said} {rows} not yet sent get the new text, the others keep theirs.", "warn"
        return f"{said} Sending continues where it stopped.", "warn"

    def _keep_the_name(self) -> str:
        """Say why a campaign that is not finished keeps its name: whom it texted would be texted again."""
        return (
            f"Campaign {self.unfinished} texted {self.tried:,} and has {self.waiting:,} to go. Under another name the "
            f"{self.tried:,} would be texted again: keep the name to change the text for the others, or withdraw those "
            "first."
        )

    def _no_canary(self, canary: int) -> str:
        return (
            f"Not sent. {self.tried:,} were texted already, so the first {canary:,} are done: enter 0 to send all "
            f"others, or more than {self.tried:,}."
        )

    def _cost_to_go(self, recorded: pd.DataFrame | None) -> str:
        """The estimated cost of what is left, read once a stage: a million rows are not looked up at every redraw."""
        if self.plan is None:
            return ""
        rows = self.plan.rows[(self.plan.rows["status"] == "planned").to_numpy()]
        if recorded is not None:
            left = recorded.loc[recorded["status"].eq("planned"), "to"]
            rows = rows[rows["to"].isin(left).to_numpy()]
        if self.plan.prospect is not None:
            rows = rows[~rows["to"].isin(self.plan.prospect.held["to"]).to_numpy()]
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
    *("SAME_TEXT", "CAPPED"),
    *("THROTTLED", "ACCOUNT", "NOT_SENT", "UNKNOWN_SERVICE"),
)


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]
