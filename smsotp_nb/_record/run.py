"""One run of one campaign: claim before the first byte, settle after the answer, leave when all is recorded."""

from __future__ import annotations

import contextlib
import threading
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Self

import numpy as np
import pandas as pd

from .._wire import SendReply
from ..errors import CampaignLockedError, LedgerError, SmsOtpWarning
from . import claims, frames, leases, send_rules
from .claims import AttemptOutcome, Claim, ClaimBuilder, ClaimRequest, PendingRow
from .leases import Deadline, Lease
from .recording import Planned, digits
from .send_rules import SendRules
from .store import Ints, Many, Result, Statement, Store, note_event
from .tables import OPTED_OUT, PLANNED, SKIPPED

INTERRUPTED: Final = "interrupted a second time before the answer came"
_DUE: Final = f"state={PLANNED} AND coalesce(not_before, 0)<=?"


class Account:
    """What a campaign tried and was billed so far; ``campaign`` None: nothing."""

    def __init__(self, store: Store, campaign: int | None) -> None:
        self._store, self._of = store, campaign

    def tried(self) -> int:
        if self._of is None:
            return 0
        with self._store.reading() as tx:
            return tried(frames.counts(tx, self._of))

    def prices(self) -> list[frames.Price]:
        """Return what messages were billed that may have left, by their estimate."""
        if self._of is None:
            return []
        with self._store.reading() as tx:
            return frames.prices(tx, self._of)


class Run(Account):
    """The right to send one campaign, held until ``close``. ``in_code`` names its record in a line of code.

    On start every row found ``sending`` becomes in doubt: its process is dead. ``recovered`` says how many.
    """

    def __init__(
        self,
        store: Store,
        lease: Lease,
        plan: Planned,
        *,
        clock: Callable[[], int],
        service: str,
        rules: SendRules,
        also_opted_out: Ints | None = None,
        recovered: int = 0,
    ) -> None:
        super().__init__(store, lease.campaign)
        self.in_code = ""
        self.campaign, self._lease, self._clock, self.recovered = lease.campaign, lease, clock, recovered
        self._builder = ClaimBuilder(lease, service, rules)
        self._also_opted_out = also_opted_out
        keys = np.asarray(plan._held.body_keys, np.int64)
        self._bodies = dict(zip(store.bodies(keys).tolist(), keys.tolist(), strict=True))
        self._people: dict[int, list[int]] = {}  # by chunk: who has other numbers
        with store.reading() as tx:
            self._latest = tx.rows("SELECT coalesce(max(started_at), 0) FROM attempt")[0][0]
            if rules.others:
                self._learn_others(tx.rows(
                    f"SELECT chunk, person FROM recipient WHERE campaign=? AND state={PLANNED}", (self.campaign,)
                ))  # fmt: skip
        self._ended = threading.Event()
        threading.Thread(target=self._report, name="smsotp-lease", daemon=True).start()

    def _learn_others(self, rows: Sequence[tuple[Any, ...]]) -> None:
        for chunk, person in rows:
            if person in self._builder.rules.others:
                self._people.setdefault(chunk, []).append(person)

    def now(self) -> int:
        """Return the time that counts: a moment older than the latest request of the record is not believed."""
        return max(self._clock(), self._latest)

    def keep(self, deadline: float) -> None:
        """Hold the campaign for requests that end within this many seconds."""
        self._lease.lengthen(deadline)
        self._submit([], durable=False)

    def _report(self) -> None:
        """Say from time to time that this run is there; it may wait long between two claims."""
        while not self._ended.wait(leases.REPORT_EVERY):
            with contextlib.suppress(LedgerError):  # the next claim says what is wrong
                self._store.submit([self._lease.prolonged(self._store.now())], durable=False)

    def _submit(self, statements: Sequence[Statement], *, durable: bool) -> list[Result]:
        """Run statements that only the holder of the campaign may run.

        Raises:
            CampaignLockedError: it was taken over; nothing was changed but by what the statements settle.
        """
        results = self._store.submit([self._lease.prolonged(self._store.now()), *statements], durable=durable)
        self._refuse_taken_over(results[0])
        return results[1:]

    def _refuse_taken_over(self, report: Result) -> None:
        if not report.changed:
            raise CampaignLockedError(
                f"campaign {self._lease.name!r} was taken over by another process, because this one did not report in "
                "time. Nothing new was sent. Next: see who runs it with sms.record(name)"
            )

    def abandon(self) -> int:
        """Leave every row under way in doubt, and return how many; an answer that comes all the same is recorded."""
        with self._store.writing() as tx:
            return leases.put_in_doubt(tx, self.campaign, INTERRUPTED, now=self.now())

    def release(self) -> None:
        """Begin to send: forget what held rows back in an earlier call."""
        with self._store.writing(durable=False) as tx:
            rows = tx.rows("SELECT count(*) FROM recipient WHERE campaign=?", (self.campaign,))[0][0]
            note_event(tx, "sending", now=self.now(), rows=rows, campaign=self.campaign)
            tx.run(
                "UPDATE recipient SET problem=NULL, not_before=NULL "
                f"WHERE campaign=? AND state={PLANNED} AND problem IS NOT NULL",
                (self.campaign,),
            )

    def set_aside(self) -> int:
        """Mark everybody whom the rules hold back now, and return how many rows wait."""
        people = [person for of_chunk in self._people.values() for person in of_chunk]
        now = self.now()
        marked = send_rules.statements(self._builder.rules, "campaign=?", (self.campaign,), now, people)
        if self._also_opted_out is not None and len(self._also_opted_out):
            marked.append(self._opted_out_elsewhere(self._also_opted_out))
        self._submit(marked, durable=False)
        sql = f"SELECT count(*) FROM recipient WHERE campaign=? AND state={PLANNED} AND coalesce(not_before, 0)>?"
        return int(self._store.rows(sql, (self.campaign, now))[0][0])

    def _opted_out_elsewhere(self, people: Ints) -> Statement:
        sql = (
            f"UPDATE recipient SET state={SKIPPED}, problem='{OPTED_OUT}', not_before=NULL "
            f"WHERE campaign=? AND person=? AND state={PLANNED}"
        )
        return sql, Many((self.campaign, person) for person in people.tolist())

    def chunks(self) -> list[int]:
        """Return the numbers of the chunks with rows that may go now, in order."""
        sql = f"SELECT DISTINCT chunk FROM recipient WHERE campaign=? AND {_DUE} ORDER BY chunk"
        return [chunk for (chunk,) in self._store.rows(sql, (self.campaign, self.now()))]

    def pending(self, chunk: int) -> list[PendingRow]:
        """Return the rows of a chunk still to go that no rule holds back now, in order."""
        now = self.now()
        where, values = "campaign=? AND chunk=?", (self.campaign, chunk)
        marked = send_rules.statements(self._builder.rules, where, values, now, self._people.get(chunk, ()))
        select = (
            f"SELECT position, number, est_micros, est_currency FROM recipient WHERE {where} AND {_DUE} ORDER BY position",
            (*values, now),
        )
        rows = self._submit([*marked, select], durable=False)[-1].rows
        return [PendingRow(position, f"+{number}", cost, currency) for position, number, cost, currency in rows]

    def hold(self, problem: str, *, chunk: int | None = None, positions: Sequence[int] = ()) -> None:
        """Name what holds rows back: these of a chunk, or all still to go that have no problem of their own."""
        mine = f"UPDATE recipient SET problem=? WHERE campaign=? AND state={PLANNED}"
        statement: Statement = (f"{mine} AND problem IS NULL", (problem, self.campaign))
        if chunk is not None:
            places = ",".join(str(int(position)) for position in positions)
            statement = (f"{mine} AND chunk=? AND position IN ({places})", (problem, self.campaign, chunk))
        self._submit([statement], durable=False)

    def spoken(self) -> bool:
        """Return whether this service ever gave a valid reply."""
        sql = (
            "SELECT 1 FROM attempt WHERE service=? AND (outcome IN ('accepted', 'partial') OR error_code IS NOT NULL) "
            "LIMIT 1"
        )
        return bool(self._store.rows(sql, (self._builder.service,)))

    def reached(self) -> Ints:
        """Return the numbers of those who may have been texted, without their plus."""
        with self._store.reading() as tx:
            return frames.reached(tx, self.campaign)

    def billed(self) -> dict[str, int]:
        with self._store.reading() as tx:
            return dict(frames.billed(tx, self.campaign).micros)

    def without_estimate(self) -> list[str]:
        with self._store.reading() as tx:
            return frames.estimate_values(tx, self.campaign, "region", "(est_micros IS NULL OR est_currency IS NULL)")

    def estimate_currencies(self) -> list[str]:
        with self._store.reading() as tx:
            return frames.estimate_values(tx, self.campaign, "est_currency", "est_currency IS NOT NULL")

    def counts(self) -> dict[str, int]:
        with self._store.reading() as tx:
            return frames.counts(tx, self.campaign)

    def claim(self, chunk: int, positions: Sequence[int] | None = None) -> Claim | None:
        """Record the intent to send the planned rows of a chunk, or those of them at ``positions``.

        When this returns, the intent is on the disk. None: none of them is left, and nothing may be sent.
        """
        return self._settle_and_claim([], ClaimRequest(chunk, positions))

    def settle_reply(
        self, claim: Claim, reply: SendReply, *, seconds: float, then: ClaimRequest | None = None
    ) -> Claim | None:
        """Record an accepted request: every matched number accepted, every number without a record in doubt.

        ``then`` is claimed in the same transaction, so that one wait for the disk serves an answer and the next intent.
        """
        return self._settle_and_claim(
            claims.accepted(self.campaign, claim, reply, seconds=seconds, now=self.now()), then
        )

    def settle(self, claim: Claim, outcome: AttemptOutcome, *, then: ClaimRequest | None = None) -> Claim | None:
        """Record a request that was not accepted, or of which nobody knows; ``then`` as for ``settle_reply``."""
        return self._settle_and_claim(claims.not_accepted(self.campaign, claim, outcome, now=self.now()), then)

    def _settle_and_claim(self, answer: list[Statement], then: ClaimRequest | None) -> Claim | None:
        """Record an answer, and the next intent with it; an answer is recorded although the campaign is lost."""
        if then is None:
            self._follow_moved(answer, self._store.submit(answer, durable=False))
            return None
        good_until, now = Deadline.from_now(), self.now()
        asked = self._builder.statements(
            then, clock=self._store.now(), now=now, people=self._people.get(then.chunk, ())
        )
        results = self._store.submit([*answer, *asked], durable=True)
        self._follow_moved(answer, results[: len(answer)])
        self._refuse_taken_over(results[len(answer)])
        self._latest = max(self._latest, now)
        claim = self._builder.read(results, then, good_until)
        if claim is None:
            return None
        self._note(claim)
        return Claim(
            claim.attempt, claim.chunk, self._bodies.get(claim.body, claim.body), claim.positions, claim.to,
            claim.people, good_until,
        )  # fmt: skip

    def _note(self, claim: Claim) -> None:
        try:
            self._store.note(claim.attempt)
        except LedgerError as error:
            self.settle(claim, AttemptOutcome("NOT_SENT", phase="before", error=str(error)))
            raise

    def _follow_moved(self, answer: Sequence[Statement], results: Sequence[Result]) -> None:
        """Record accepted rows that a revision moved to another chunk since they were claimed: by their person."""
        for (sql, values), result in zip(answer, results, strict=True):
            if isinstance(values, Many) and result.changed < len(values):
                by_person = sql.replace("campaign=? AND chunk=? AND person=?", "campaign=? AND ?>=0 AND person=?")
                self._store.submit([(by_person, values)], durable=False)

    def may_begin(self, claim: Claim) -> bool:
        """Say, last before its first byte, whether a claim still holds: it is not void, and nobody has opted out since.

        A claim that was made a moment ago has asked for opt-outs then.
        """
        if not claim.good_until.is_fresh():
            try:
                if self._has_opted_out(claim):
                    return False
            except LedgerError:  # the next claim says why
                return False
        return not claim.good_until.has_passed()

    def _has_opted_out(self, claim: Claim) -> bool:
        people = list(claim.people)
        for person in claim.people:
            people += self._builder.rules.others.get(person, ())
        marks = ",".join("?" for _ in people)
        return bool(self._store.rows(f"SELECT 1 FROM opted_out WHERE person IN ({marks}) LIMIT 1", people))

    def uncount(self, claim: Claim, positions: Sequence[int]) -> None:
        """Let an attempt of which nothing was sent count as one with the next, for those of its rows still to go."""
        self._submit(claims.uncounted(self.campaign, claim, positions), durable=False)

    def outcomes(self) -> pd.DataFrame:
        """Return what is recorded of each row, by position."""
        return frames.recorded_rows(self._store, self.campaign)

    def placed(self, outcomes: pd.DataFrame, plan: Planned) -> pd.DataFrame:
        """Return outcomes by their places in a plan's rows; the two are matched by person."""
        rows = plan._as_planned
        place = np.flatnonzero(rows["to"].notna().to_numpy())
        going = rows["status"].iloc[place].eq("planned").to_numpy()
        place = np.concatenate([place[going], place[~going]])  # of two rows of a person the one that is to be sent
        people = pd.Series(place, self._store.persons(digits(rows["to"].iloc[place])))
        people = people[~people.index.duplicated()]
        found = people.reindex(outcomes["person"])
        is_known = found.notna().to_numpy()
        return outcomes[is_known].set_axis(found[is_known].astype("int64").to_numpy())

    def fates(self) -> pd.DataFrame:
        with self._store.reading() as tx:
            return frames.fates(tx, self.campaign)

    def close(self) -> None:
        """Let the next run in."""
        self._ended.set()
        try:
            self._store.submit([self._lease.released()], durable=False)
        except LedgerError as error:  # every answer is recorded, or put in doubt when the campaign is opened again
            warnings.warn(str(error), SmsOtpWarning, stacklevel=3)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        # Where warnings are errors, the error that ends a send is the one to see.
        with contextlib.suppress(SmsOtpWarning) if kind else contextlib.nullcontext():
            self.close()


def tried(counts: Mapping[str, int]) -> int:
    """Return how many of the rows that `Run.counts` counted are no longer planned."""
    return sum(counts.values()) - counts["planned"] - counts["skipped"]
