"""The campaign form sends: what its button says, a test, the first ones, the others; to stop, and to withdraw."""

from __future__ import annotations

import pandas as pd

from ... import phones
from ..._cards import about, counted
from ..._dispatch import send, send_test
from ..._guards import GUARDS
from ..._ledger import state_line
from ..._people import People
from ..._planning import Plan
from ..._wire import mask
from ...errors import SmsOtpError, SmsOtpWarning, UsageError
from ...problems import PROBLEMS, Problem
from ...results import Progress
from ..stages import CHANGED, HEARD_EVERY, UNREAD, Notice, Sign, broken, ended_early, refused, sentence
from .choices import Guards
from .faults import by_field
from .refusals import NEXT
from .state import CampaignState, Running, in_both

STEPS = ("Write", "Check", "Send", "Results")
IN_THE_FORM = "corrected in the form"


class Sending(CampaignState):
    """Send, or what is left of it, or change that; ``guards.first`` go alone, to be looked at before the others."""

    def path(self, guards: Guards) -> tuple[tuple[str, ...], int]:
        """Return the steps of this campaign, and the number of the one in force, from 1.

        Where some go first, sending them, looking, and sending the others are steps of their own.
        """
        first = self.alone or (self.going(guards.first) if self.going(guards.first) < self.to_go else 0)
        if not first:
            return STEPS, {"write": 1, "sending": 3, "done": 4}.get(self.stage, 2)
        names = ("Write", "Check", f"The first {first:,}", "Look", "The others", "Results")
        sending, done = 3 if guards.first else 5, 4 if self.to_go else 6
        return names, {"write": 1, "sending": sending, "done": done}.get(self.stage, 2)

    # -- what the button says

    def going(self, first: int = 0) -> int:
        """Rows that the next send posts if so many go first; 0 is all."""
        return min(first, self.to_go) if first else self.to_go

    def send_label(self, guards: Guards | None = None) -> str:
        """Say on the button what it does: how many messages, which of them, at what estimated and highest cost."""
        if self.plan is None:
            return "Send"
        guards = guards or Guards()
        going = self.going(guards.first)
        some = going < self.to_go
        which = ("the next " if some else "the other ") if self.tried else "the first " if some else ""
        what = f"Send {which}{counted(going, 'message')}"
        what = f"Change the text and s{what[1:]}" if self.reworded else what
        what += " to real people" if self.live else ""
        what += f", about {self._cost}" if self._cost and not some else ""
        return what + (f", at most {guards.budget}" if guards.budget else "")

    def limits(self, guards: Guards) -> str:
        """Say below the button what else holds the send back."""
        said = [guards.quiet, guards.pace, guards.failures]
        return sentence("; ".join(words for words in said if words))

    def back_label(self) -> str:
        """Say on the button what going back is for."""
        if not self.unfinished:
            return "Back to the text"
        return f"Change the text for the other {self.to_go or self.waiting:,}"

    def to_type(self, first: int = 0) -> str:
        """Return the number to be typed before sending: that of the messages, when they are many or real; or ``""``."""
        going = self.going(first)
        return str(going) if self.live or going > self._type_above else ""

    # -- one to oneself

    def test_label(self) -> str:
        """Say on the button what a test sends."""
        return "Send me the first message as a test"

    def send_test(self, number: str, default_region: str = "", *, plan: Plan | None = None) -> bool:
        """Send the first message of the plan to oneself, beside the campaign; say whether it was accepted."""
        plan = self.plan if plan is None else plan
        if plan is None or not self._begin({"planned"}, "testing", self.notice.text, still=lambda: plan is self.plan):
            return False
        standing = self._before
        try:
            to = _number(number, default_region)
            sent = send_test(plan, to=to, client=self.client, ledger=self.ledger).iloc[0]
        except SmsOtpError as error:
            words, sign = refused(error, "No test message was sent.")
            self._show("planned", standing.text, standing.sign)
            self._tell_tested(Notice(words, sign))
            return False
        except Exception as error:
            self._refuse("planned", *broken(error))
            raise
        self._show("planned", standing.text, standing.sign)
        self._tell_tested(_tested(sent))
        return bool(sent["status"] == "accepted")

    def _tell_tested(self, words: Notice) -> None:
        self.tested = words
        self._changed()

    # -- to everybody

    def send(self, guards: Guards, typed: str = "", reason: str = "", *, plan: Plan | None = None) -> None:
        """Send the plan, or what is left of it with a new text where it has one; blocks until it ends or was stopped.

        ``reason`` is why the text changed, for the record; ``plan`` is the one that the button was pressed for.
        """
        plan = self.plan if plan is None else plan
        if self.stage not in ("planned", "done") or plan is None or not self.to_go:
            return
        if plan is not self.plan:
            self.pressed_another()
            return
        faults = guards.faults()
        if faults:
            self._refuse(self.stage, f"Not sent. {' '.join(faults.values())}", "warn", faults)
            return
        try:
            meanwhile = self._meanwhile()
        except SmsOtpError as error:
            self._refuse(self.stage, *refused(error, "Not sent."))
            return
        if meanwhile:
            self._refuse(self.stage, f"Not sent. {meanwhile}", "warn")
            return
        wanted = self.to_type(guards.first)
        if wanted and typed.replace(",", "").strip() != wanted:
            self._refuse(self.stage, f"Type {wanted} to confirm; nothing was sent.", "warn", {"typed": ""})
            return
        back = self.stage
        alone = self.tried + self.going(guards.first) if self.going(guards.first) < self.to_go else self.alone
        if self._begin({"planned", "done"}, "sending", "", still=lambda: plan is self.plan):
            self.alone = alone
            self._send(plan, guards, back, reason.strip() or IN_THE_FORM)

    def stop(self) -> None:
        """Begin no further request; those under way are waited for and recorded."""
        if self.stage == "sending":
            self._stop.set()
            if self.running:
                self.running = Running(self.running.progress, self.running.seconds, stopping=True)
            self._changed()

    def _meanwhile(self) -> str:
        """Say what the ledger has that the button does not know of; nothing where it says what would be sent."""
        campaign = self.recorded()
        if self.posted_and_to_go(campaign.counts if campaign else {}) != (self.tried, self.waiting):
            self._look_again()
            self._show(self.stage, *self._standing())
            return CHANGED
        begun_here = bool(self.tried)  # whoever is texted by both was agreed to when it began
        return "" if begun_here or in_both(self._others()) == self._agreed else _MEANWHILE

    def _send(self, plan: Plan, guards: Guards, back: str, reason: str) -> None:
        self._started, self.running = self._clock(), None
        try:
            asked = guards.arguments(tried=self.tried)
            self._correct(plan, reason)
            send(plan, client=self.client, ledger=self.ledger, progress=self._heard, stop=self._stop, **asked)
        except SmsOtpWarning:  # where warnings are errors: what it says is shown in any case
            self._finished()
        except UsageError as error:
            faults = by_field(error)
            self._refuse(back, f"Not sent. {' '.join(faults.values())}", "warn", faults)
        except SmsOtpError as error:
            self._broke_off(error, back)
        except Exception as error:
            self._refuse(back, *broken(error))
            raise
        else:
            self._finished()
        finally:
            self._stop.clear()

    def _correct(self, plan: Plan, reason: str) -> None:
        campaign = self.recorded()
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
        try:
            self._read_results()
        except SmsOtpError:  # whose words are about this reading alone: messages have left
            self._show("done", UNREAD, "bad")
            return
        said = self._come_to()
        self._show("done", said.text, said.sign)

    def _come_to(self) -> Notice:
        """Say what the send came to."""
        planned, doubt = self.counts["planned"], self.counts["in_doubt"]
        line = f"{state_line(self.counts)}."
        if planned:
            why = self._held_back()
            line = f"{_capital(why.meaning)}: {line} {_capital(_next(why))}." if why else f"Not complete: {line}"
        line += " Rows in doubt are never sent again automatically." if doubt else ""
        return Notice(line, "warn" if planned or doubt else "ok")

    def _broke_off(self, error: SmsOtpError, back: str) -> None:
        """Say of a send that ended with an error whether anything was sent before."""
        before = self.waiting
        try:
            self._look()
            if self.waiting == before:
                self._refuse(back, *refused(error, "Not sent."))
                return
            self._read_results()
        except SmsOtpError:
            self._show("done", UNREAD, "bad")
        else:
            self._show("done", *refused(error, ended_early(self.counts)))

    def _held_back(self) -> Problem | None:
        """Return what held the rest back: the first of these reasons that stands in the rows themselves."""
        frame = self.results
        held = set() if frame is None else set(frame.loc[frame["status"].eq("planned"), "problem"].dropna())
        return next((PROBLEMS[code] for code in TOLD_FIRST if code in held), None)

    # -- change what has not left, and settle what is in doubt

    def opt_out(self, number: str, source: str, default_region: str = "") -> bool:
        """Record that a person does not want to be texted; the next request already obeys. Say whether it was done."""
        if self.stage not in ("planned", "done"):
            return False
        if not number.strip() or not source.strip():
            need = "the number" if source.strip() else "how it came, such as: phone call"
            field = "stop_source" if number.strip() else "stop_number"
            self._refuse(self.stage, f"Nothing was recorded. Enter {need}.", "warn", {field: f"Enter {need}."})
            return False
        try:
            People(self.ledger).opt_out(number.strip(), source=source, default_region=default_region or None)
            self._look_again()
        except SmsOtpError as error:
            words, sign = refused(error, "Nothing was recorded.")
            self._refuse(self.stage, words, sign, {"stop_number": words})
            return False
        said = f"{mask(number.strip())} opted out, and no campaign of this ledger texts this number."
        self._show(self.stage, f"{said} {self._standing()[0]}", "ok")
        return True

    def withdraw(self, reason: str = "", *, plan: Plan | None = None) -> None:
        """Take all rows not yet sent out of the campaign for good; ``plan`` as for `send`."""
        campaign = self.recorded()
        if campaign is None or not self._may_withdraw(plan):
            return
        try:
            gone = campaign.withdraw(reason=reason.strip() or "withdrawn in the form")
        except SmsOtpError as error:
            self._refuse(self.stage, *refused(error, "Nothing was changed."))
            return
        self._read_results()
        self._show("done", f"{counted(gone, 'row')} withdrawn: this campaign never texts them.", "ok")

    def _may_withdraw(self, plan: Plan | None) -> bool:
        """Return whether the rows to go are those that were seen; say so where they are not."""
        if self.stage not in ("planned", "done") or not self.waiting:
            return False
        if plan is not None and plan is not self.plan:
            self.pressed_another()
            return False
        try:
            meanwhile = self._meanwhile()
        except SmsOtpError as error:
            self._refuse(self.stage, *refused(error, "Nothing was changed."))
            return False
        if meanwhile:
            self._refuse(self.stage, f"Nothing was changed. {meanwhile}", "warn")
        return not meanwhile

    def settled(self, words: str, sign: Sign = "ok") -> None:
        """Take in what was decided about rows in doubt."""
        self._look_again()
        self._show(self.stage, words, sign)


# What ends a send for all that is to go, of other texts, too; other reasons hold back rows.
ENDS = frozenset({"STOPPED", "NO_FUNDS", "FAILING", "ACCOUNT", "UNKNOWN_SERVICE", "THROTTLED", "NOT_SENT"})
# What may hold rows back, in the order in which one is told where there are several.
TOLD_FIRST = (
    *("STOPPED", "NO_FUNDS"),
    *(guard.code for guard in sorted(GUARDS, key=lambda guard: not guard.ends)),
    *("SAME_TEXT", "CAPPED"),
    *("THROTTLED", "ACCOUNT", "NOT_SENT", "UNKNOWN_SERVICE"),
)


def _next(why: Problem) -> str:
    return NEXT.get(why.code, why.next_step)


_MEANWHILE = (
    "Another campaign of this ledger began meanwhile with people of this list. Go back to the text and check the plan "
    "again."
)


def _number(typed: str, default_region: str) -> str:
    """Return a number as E.164.

    Raises:
        UsageError: it is none that could be texted.
    """
    found = phones.normalize(pd.Series([typed.strip()], dtype=object), default_region=default_region or None).iloc[0]
    if pd.isna(found["to"]):
        raise UsageError(f"enter your own number with its plus: this is {PROBLEMS[str(found['problem'])].meaning}")
    return str(found["to"])


def _tested(sent: pd.Series) -> Notice:
    to = mask(str(sent["to"]))
    if sent["status"] == "accepted":
        cost = f", {about(sent['price'], sent['currency'])}" if pd.notna(sent["price"]) else ""
        parts = f": {counted(int(sent['parts']), 'part')}{cost}" if pd.notna(sent["parts"]) else ""
        return Notice(f"Test message to {to} accepted{parts}. It is not part of the campaign.", "ok")
    if sent["status"] == "in_doubt":
        return Notice(f"No answer came for the test message to {to}: it may arrive all the same.", "warn")
    known = PROBLEMS.get(str(sent["problem"]))
    said = known.meaning if known else str(sent["error"] or sent["problem"])
    return Notice(f"The test message to {to} was not sent: {said}.", "bad")


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]
