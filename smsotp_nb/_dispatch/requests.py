"""The requests of one call of ``send``: each is claimed, posted and settled; what ends the call before the last one."""

from __future__ import annotations

import contextlib
import dataclasses
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import takewhile

import numpy as np
import pandas as pd

from .._client import REPEATABLE, Client, RetryPolicy, Tries
from .._ledger import Claim, Ending, Run, Wanted, state_line, tried
from .._planning import Plan
from .._progress import Bar
from .._wire import ACCOUNT_CODES, Body, SendReply
from ..errors import (
    InsufficientFunds,
    InvalidPhoneNumbers,
    LedgerError,
    NotSent,
    ServiceError,
    Throttled,
    TransportError,
    UsageError,
)
from . import guards
from .addressees import Addressees
from .crew import Crew, with_rests
from .pacing import AHEAD, MOST_AHEAD, Pacer, Slots
from .table import Answer, ProgressCallback, Report, Settled, Tally, accepted

# Long enough for the longest pause that a Retry-After may ask for.
PATIENCE = RetryPolicy(attempts=8, seconds=400.0)
ONCE = RetryPolicy(attempts=1)
_OPEN = contextlib.nullcontext()
FEW = 10  # recipients of the first request to a service that has never answered in its own words
# What ends a call, beside the codes of the guards and of the ledger.
STOPPED, ISOLATING, STRANGER = "STOPPED", "ISOLATING", "UNKNOWN_SERVICE"

Outcome = SendReply | ServiceError | TransportError


def ending(error: ServiceError | TransportError) -> tuple[Ending, str | None]:
    """Return what the ledger records of an error, and the code with which it ends the call, None if it does not."""
    stopper: str | None = None
    if isinstance(error, ServiceError):
        outcome = "rejected"
        if isinstance(error, InsufficientFunds):
            outcome = stopper = "NO_FUNDS"
        elif error.error_code in ACCOUNT_CODES:
            stopper = "ACCOUNT"
        return Ending(outcome, "body", error.http_status, error.error_code, str(error), error.request_id), stopper
    if isinstance(error, NotSent):
        outcome = stopper = "NOT_SENT"
    elif isinstance(error, Throttled):
        outcome = stopper = "THROTTLED"
    else:
        outcome = "in_doubt"
    evidence = (error.phase, error.http_status, None, str(error), error.request_id, error.seconds)
    return Ending(outcome, *evidence), stopper


class Requests:
    def __init__(
        self,
        plan: Plan,
        client: Client,
        run: Run,
        *,
        limits: guards.Limits,
        isolate: bool,
        cancel: threading.Event | None = None,
    ) -> None:
        self._plan, self._client, self._run, self._isolate = plan, client, run, isolate
        self._limits = limits
        # Two ways to end: begin no further request; and, beyond that, give up those that were to be tried again.
        self._stop, self._halt, self._cancel = threading.Event(), threading.Event(), cancel
        self._pacer = Pacer(per_second=limits.per_second, stop=self._halt, cancel=cancel)
        run.keep(client.settings.deadline)
        run.release()
        waiting = run.set_aside()
        self._at_first = run.counts()
        self._going = self._at_first["planned"] - waiting
        self._addressees = Addressees(plan, run.reached() if tried(self._at_first) else np.zeros(0, np.int64))
        self._watch, self._looks = guards.Watch(limits, run), limits._looks_at_rows
        if limits.first is not None:
            self._watch.choose(row for chunk in run.chunks() for row in run.pending(chunk))
        self._spoken, self._first = client.sandbox is not None or run.spoken(), threading.Lock()
        self._latest: tuple[int | None, Body] = (None, Body())
        self._bodies = np.argsort(plan._held.body_keys, kind="stable")  # a plan may have millions
        self._slots: Slots | None = None
        self._stopper: tuple[str, str] | None = None
        self._disagreements: list[str] = []
        self._report = Report(plan, run)

    def work(self, concurrency: int, callback: ProgressCallback) -> pd.DataFrame:
        """Send every chunk still to go and return the result table."""
        chunks, counts = self._run.chunks(), self._at_first
        billed = self._run.billed() if counts["accepted"] else {}
        if self._looks and self._going:
            self._going = self._watch.foresee(takewhile(lambda _: not self._ended(self._stop), chunks))
        tally = Tally(tried(counts) + self._going, counts, Counter(billed))
        callback(tally.progress())
        threads = min(self._threads(concurrency), max(len(chunks), 1))
        crew = Crew(self._share, chunks, threads=threads, stop=self._stop)
        try:
            for settled in crew.reports():
                tally.add(settled)
                self._disagreements += [settled.disagreement] * bool(settled.disagreement)
                callback(tally.progress())
        except BaseException as error:
            # An interrupt, or the caller's callback failed: threads left to themselves would go on sending.
            self._stop.set()
            self._halt.set()
            self._finish(crew, tally)
            if not isinstance(error, KeyboardInterrupt):
                raise
            tally.counts.update(self._run.counts())
            if isinstance(callback, Bar):  # a caller's own callback may be what was interrupted
                callback(tally.progress())
            raise KeyboardInterrupt(f"interrupted; recorded: {state_line(tally.counts)}") from None
        if self._stopper is None and self._watch.is_used_up:
            self._stopper = guards.CANARY, f"first={self._limits.first:,}"
        if self._stopper:
            self._run.hold(self._stopper[0])
        return self._report.table(accepted=tally.counts["accepted"])

    def _threads(self, concurrency: int) -> int:
        """Return how many threads send. Where a claim takes long, more than have requests under way.

        Not where a guard counts what is under way, and not where requests keep a speed: they are claimed in their turn.
        """
        if not self._run.claims_ahead or concurrency == 1 or self._looks or self._pacer.paced:
            return concurrency
        self._slots = Slots(concurrency)
        return concurrency + min(concurrency, MOST_AHEAD)

    def tell(self) -> None:
        """Warn of what is not complete, in doubt, or in disagreement with itself."""
        self._report.warn(self._stopper, self._disagreements)

    def _finish(self, crew: Crew[int, Settled], tally: Tally) -> None:
        """Wait for the answers under way, which the threads record; a second interrupt leaves them in doubt."""
        try:
            for settled in crew.rest():
                tally.add(settled)
        except KeyboardInterrupt:
            self._run.abandon()

    def _share(self, chunks: Iterator[int]) -> Iterator[Settled]:
        """Send the chunks that fall to one thread. An answer and the intent of the next request share a transaction."""
        answer: Answer | None = None
        rests: list[int] = []
        try:
            for chunk in with_rests(chunks, rests):
                if answer and self._pacer.waits():  # the answer does not wait with it
                    self._record(answer, None)
                    told, answer = answer, None
                    yield told.settled
                with _OPEN if self._spoken else self._alone_at_first():
                    admission = self._turn(chunk, self._stop)
                    claim, admission = self._claimed(answer, admission)
                    last, answer = answer, None
                    if last:
                        yield last.settled
                    if claim:  # else nothing is left to claim: nothing may be sent
                        answer = self._send(claim, admission)
                rests += [chunk] * admission.more
                if admission.stopper:
                    self._end(admission.stopper, admission.detail)
        finally:
            if answer:  # whatever ended this share, also a record that failed for what was next
                self._record(answer, None)
        if answer:
            yield answer.settled

    @contextlib.contextmanager
    def _alone_at_first(self) -> Iterator[None]:
        """Admit one request at a time until the service has answered as the interface describes, then all at once."""
        with contextlib.ExitStack() as stack:
            stack.enter_context(self._first)
            if self._spoken:
                stack.close()
            yield

    def _turn(self, chunk: int, stop: threading.Event, positions: Sequence[int] | None = None) -> guards.Admission:
        """Wait for the turn of a request, then ask the guards which of its rows may be sent; nothing is claimed yet."""
        rows, most, more = None, None if self._spoken else FEW, False
        if self._ended(stop):
            return guards.Admission(None)
        if self._looks or self._pacer.paced or most:
            due = self._watch.due(chunk, positions)
            rows, more = due[:most], len(due) > (most or len(due))
            if not rows:
                return guards.Admission(None)
        try:
            self._pacer.before(len(rows or ()), stop)
        except NotSent:
            self._ended(stop)
            return guards.Admission(None)
        if rows is None:
            return guards.Admission(Wanted(chunk, positions))
        admission = self._watch.admit(chunk, rows)
        wanted = admission.wanted and dataclasses.replace(admission.wanted, is_part=more)
        return dataclasses.replace(admission, wanted=wanted, more=more)

    def _ended(self, stop: threading.Event) -> bool:
        """Return whether no further request may begin; if the caller's event says so, record that as the reason."""
        if self._pacer.stopped():
            self._end(STOPPED, "cancelled")
        return stop.is_set()

    def _record(self, answer: Answer | None, then: Wanted | None) -> Claim | None:
        """Record an answer, if there is one, and the intent of the next request, if there is one."""
        outcome = answer.outcome if answer else None
        if answer and isinstance(outcome, SendReply):
            return self._run.settle_reply(answer.claim, outcome, seconds=answer.seconds, then=then)
        if answer and isinstance(outcome, Ending):
            return self._run.settle(answer.claim, outcome, then=then)
        return self._run.claim(then.chunk, then.positions) if then else None

    def _claimed(self, answer: Answer | None, admission: guards.Admission) -> tuple[Claim | None, guards.Admission]:
        """Record an answer and the admitted intent; return the claim, and the admission reduced to what was claimed."""
        claim = self._record(answer, admission.wanted)
        if self._run.refused:
            self._end(self._run.refused, "nothing was sent")
        return claim, self._watch.claimed(admission, claim.positions if claim else ())

    def _send(self, claim: Claim, admission: guards.Admission) -> Answer:
        """Post what is claimed. While certainly nothing was sent, wait for another turn, claim again and post again."""
        tries = Tries(self._pacer, PATIENCE)
        claimed, seconds = True, 0.0

        def attempt() -> Outcome | None:
            nonlocal claim, admission, claimed, seconds
            if not claimed:
                with tries.at_the_gate():
                    admission = self._turn(claim.chunk, self._halt, claim.positions)
                again, admission = self._claim_again(claim, admission)
                if again is None:
                    return None
                claim = again
            self._hold_against_plan(claim)
            with tries.at_the_gate():
                ready, admission = self._in_slot(claim, admission)
            if ready is None:
                return None
            claim, started = ready, time.monotonic()
            try:
                outcome = self._deliver(claim, admission)
            finally:
                if self._slots is not None:
                    self._slots.give_back()
            seconds = time.monotonic() - started
            if isinstance(outcome, REPEATABLE):
                self._give_back(claim, admission, ending(outcome)[0])
                claimed = False
            else:
                claimed = True
            return outcome

        outcome = tries.make(attempt)
        if outcome is not None and claimed:
            return self._judged(claim, admission, outcome, seconds)
        if outcome is not None and not self._pacer.stopped():  # it could not be sent; its rows stay planned
            self._end(ending(outcome)[1] or STOPPED, str(outcome))
        elif outcome is not None:
            self._end(STOPPED, "cancelled")
        return Answer(claim, None, Settled({}))

    def _in_slot(self, claim: Claim, admission: guards.Admission) -> tuple[Claim | None, guards.Admission]:
        """Wait until a claimed request may begin; None if the call ended first, and its rows are planned again.

        A claim that would wait long, so that it might expire, is given back, and made again when there is a slot.
        """
        slots = self._slots
        if slots is None:
            return claim, admission
        if slots.take(self._is_over, seconds=AHEAD):
            if not self._pacer.paused():
                return claim, admission
            slots.give_back()
        self._give_back(claim, admission, Ending("NOT_SENT", "before", error="ended before it was sent"))
        if not slots.take(self._is_over):
            return None, admission
        with contextlib.ExitStack() as held:
            held.callback(slots.give_back)
            admission = self._turn(claim.chunk, self._stop, claim.positions)
            again, admission = self._claim_again(claim, admission)
            if again is not None:
                self._hold_against_plan(again)
                held.pop_all()  # it is given back when the request has ended
        return again, admission

    def _give_back(self, claim: Claim, admission: guards.Admission, how: Ending) -> None:
        """Record that certainly nothing of a claim was sent; its people may be texted by another one."""
        self._run.settle(claim, how)
        self._addressees.give_back(claim)
        self._watch.returned(admission)

    def _is_over(self) -> bool:
        return self._ended(self._stop)

    def _hold_against_plan(self, claim: Claim) -> None:
        """Refuse to send what an altered or damaged record would have sent, before a byte of it leaves."""
        try:
            self._addressees.take(claim)
        except LedgerError as error:
            self._run.settle(claim, Ending("NOT_SENT", "before", error=str(error)))
            raise

    def _claim_again(self, claim: Claim, admission: guards.Admission) -> tuple[Claim | None, guards.Admission]:
        if admission.wanted:
            self._run.uncount(claim, admission.wanted.positions or claim.positions)
        again, admission = self._claimed(None, admission)
        if admission.stopper:
            self._end(admission.stopper, admission.detail)
        return again, admission

    def _deliver(self, claim: Claim, admission: guards.Admission) -> Outcome:
        if len(claim.to) > admission.rows:
            self._pacer.late(len(claim.to) - admission.rows)
        try:
            message = self._message(claim.body)
            may_begin = partial(self._run.may_begin, claim)
            return self._client._deliver(claim.to, message, retry=ONCE, may_begin=may_begin)
        except (ServiceError, TransportError) as error:
            return error
        except UsageError as error:  # a text that no request can carry; the check before looks at one of each kind
            self._run.settle(claim, Ending("NOT_SENT", "before", error=str(error)))
            raise

    def _judged(self, claim: Claim, admission: guards.Admission, outcome: Outcome, seconds: float) -> Answer:
        if not self._spoken:  # until it answers as the interface describes, anything else ends the call
            self._spoken = isinstance(outcome, SendReply | ServiceError)
            if not self._spoken:
                self._end(STRANGER, f"{self._client.settings.base_url}: {outcome}")
        if isinstance(outcome, SendReply):
            answer = Answer(claim, outcome, accepted(outcome), seconds)
        elif self._isolate and isinstance(outcome, InvalidPhoneNumbers) and len(claim.to) > 1:
            return self._in_halves(claim, outcome, admission)
        else:
            answer = self._refused(claim, outcome)
        failing = self._watch.settled(admission, outcome, in_doubt="in_doubt" in answer.settled.rows)
        if failing:
            self._end(failing, str(outcome))
        return answer

    def _message(self, key: int) -> Body:
        """Return the message of a body key; the last one is kept, because chunks in a row mostly carry the same."""
        known, message = self._latest
        if known != key:
            at = np.searchsorted(self._plan._held.body_keys, key, sorter=self._bodies)
            message = self._plan._message(int(self._bodies[at]))
            self._latest = key, message
        return message

    def _in_halves(self, claim: Claim, error: InvalidPhoneNumbers, admission: guards.Admission) -> Answer:
        """Send a refused list again in two halves; by assumption nothing of it was sent."""
        self._give_back(claim, admission, ending(error)[0]._replace(outcome=ISOLATING))
        middle = len(claim.positions) // 2
        rows, costs, said = Counter[str](), Counter[str](), []
        for positions in (claim.positions[:middle], claim.positions[middle:]):
            half, admission = self._claimed(None, self._turn(claim.chunk, self._stop, positions))
            if half:
                answer = self._send(half, admission)
                self._record(answer, None)
                rows.update(answer.settled.rows)
                costs.update(answer.settled.costs)
                said += [answer.settled.disagreement] * bool(answer.settled.disagreement)
            if admission.stopper:
                self._end(admission.stopper, admission.detail)
        return Answer(claim, None, Settled(rows, costs, "; ".join(said)))

    def _refused(self, claim: Claim, error: ServiceError | TransportError) -> Answer:
        found, stopper = ending(error)
        if stopper and not self._halt.is_set():
            self._end(stopper, str(error))
        rows = {found.outcome: len(claim.to)} if found.outcome in {"rejected", "in_doubt"} else {}
        return Answer(claim, found, Settled(rows))

    def _end(self, stopper: str, detail: str) -> None:
        """Begin no further request; of several reasons, the first one is reported."""
        self._stopper = self._stopper or (stopper, detail)
        self._stop.set()
        if stopper not in guards.STOPPERS:
            self._halt.set()
