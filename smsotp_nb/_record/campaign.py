"""One campaign of the record as a person sees it: its rows, what is in doubt, and what is decided about it."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pandas as pd

from .. import _cards as cards
from .. import results
from .._calling import in_our_words, not_path, not_text, refuse
from .._frames import AnyFrame
from .._pandas import STR
from .._results.contract import DETAILS, ordered
from ..errors import CampaignLockedError, LedgerError, UsageError
from . import cards as overview
from . import decisions, frames, leases, privacy
from .leases import Lease
from .store import Store, Transaction
from .tables import IN_DOUBT, MAY_HAVE_LEFT, REJECTED

_EVERY_STATE = range(6)


@dataclass(frozen=True, slots=True)
class CampaignRow:
    """What a campaign is: its row in the record."""

    number: int
    realm: str
    kind: str
    name: str
    service: str
    kept: tuple[str, ...]
    created: int
    purged: bool

    @classmethod
    def read(cls, tx: Transaction, where: str, values: Sequence[Any] = ()) -> list[CampaignRow]:
        """Return the campaigns for which a condition is true, the earliest first."""
        rows = tx.rows(
            f"SELECT id, realm, kind, name, service, kept, created_at, purged FROM campaign WHERE {where} ORDER BY id",
            values,
        )
        return [
            cls(*row[:5], kept=tuple(json.loads(row[5])), created=row[6], purged=bool(row[7])) for row in rows
        ]


class LedgerBase(Protocol):
    """What a campaign needs of the ledger that it is in."""

    path: Any
    _store: Store
    _clock: Callable[[], int]

    @property
    def _files(self) -> list[Path]: ...


@contextlib.contextmanager
def holding(ledger: LedgerBase, campaign: int, name: str) -> Iterator[Lease]:
    """Hold a campaign for a decision, with what a dead process left of it in doubt.

    Raises:
        CampaignLockedError: it is running.
    """
    store, lease = ledger._store, Lease(campaign, name)
    with store.writing() as tx:
        leases.take(tx, lease, clock=store.now(), now=ledger._clock(), one_machine=store.one_machine)
    try:
        yield lease
    finally:
        store.submit([lease.released()], durable=False)


class Record:
    """What is recorded of one campaign: its rows, what is in doubt, and what you decide about them. See `record`.

    Example:
        >>> import tempfile, pathlib, smsotp_nb as sms
        >>> plan = sms.plan(pd.DataFrame({"phone": ["+12025550123"]}), "Hi", to="phone", campaign="sale")
        >>> ledger = sms.Ledger(pathlib.Path(tempfile.mkdtemp()) / "l.sqlite", create=True)
        >>> with sms.Sandbox() as box:
        ...     _ = sms.send(plan, box, ledger=ledger, progress=False)
        >>> ledger.record("sale").counts["accepted"]
        1
    """

    @in_our_words
    def __init__(self, ledger: LedgerBase, campaign: CampaignRow, others: tuple[CampaignRow, ...] = (), /) -> None:
        self.name, self.service = campaign.name, campaign.service
        self._ledger, self._store, self._row, self._others = ledger, ledger._store, campaign, others
        self._number, self._kept = campaign.number, campaign.kept

    @property
    def counts(self) -> dict[str, int]:
        """The number of rows in each state; those that the plan left out are ``skipped``."""
        self._recover()
        with self._store.reading() as tx:
            return frames.counts(tx, self._number)

    @property
    def results(self) -> pd.DataFrame:
        """The result table as recorded: one row for each person who was to be texted, indexed by the position in the
        plan, with the columns of ``results.COLUMNS`` and before the last of them those that the plan kept.
        """
        return self._table()[ordered(self._kept)]

    @property
    def details(self) -> pd.DataFrame:
        """More about the rows of ``results``, on their index: country and kind of the number as read,
        the estimate, and the request of the row with the words of its refusal; the columns of ``results.DETAILS``.

        Example:
            >>> import tempfile, pathlib, smsotp_nb as sms
            >>> plan = sms.plan(pd.DataFrame({"phone": ["+12025550123"]}), "Hi", to="phone", campaign="sale")
            >>> ledger = sms.Ledger(pathlib.Path(tempfile.mkdtemp()) / "l.sqlite", create=True)
            >>> with sms.Sandbox() as box:
            ...     _ = sms.send(plan, box, ledger=ledger, progress=False)
            >>> record = ledger.record("sale")
            >>> record.results.join(record.details)[["to", "status", "region", "encoding"]].values.tolist()
            [['+12025550123', 'accepted', 'US', 'gsm7']]
        """
        return self._table()[list(DETAILS)]

    def _table(self) -> pd.DataFrame:
        self._recover()
        return frames.campaign_table(
            self._store, self._number, name=self.name, service=self.service, kept=self._kept
        )

    @property
    def messages(self) -> pd.DataFrame:
        """The texts of the campaign, a row for each that its rows have or had, by the number in the result table's
        column ``message``.

        Columns:
            ``segment`` (str: whose it is; missing: everybody's), ``version`` (Int64: 1, and one more with each
            correction), ``words`` (str: with their placeholders; missing where they were not kept), ``encoding`` (str:
            gsm7, ucs2 or mixed), ``parts`` (Int64, as estimated) and ``recipients`` (Int64) of the rows that have it,
            whatever their state but skipped, ``since`` (UTC) and ``reason`` (str) of its version.

        Example:
            >>> import tempfile, pathlib, smsotp_nb as sms
            >>> people = pd.DataFrame({"phone": ["+12025550123"], "name": ["Ann"]})
            >>> ledger = sms.Ledger(pathlib.Path(tempfile.mkdtemp()) / "l.sqlite", create=True)
            >>> plan = sms.plan(people, "Hi {name}", to="phone", campaign="sale")
            >>> with sms.Sandbox() as box:
            ...     _ = sms.send(plan, box, ledger=ledger, progress=False)
            >>> ledger.record("sale").messages[["version", "words", "recipients"]].reset_index().values.tolist()
            [[1, 1, 'Hi {name}', 1]]
        """
        with self._store.reading() as tx:
            return frames.messages(tx, self._number)

    @property
    def requests(self) -> pd.DataFrame:
        """The requests that were posted, by number: ``outcome, phase, error_code, error, request_id, currency,
        disagreement, service`` (str), ``chunk, http_status, recipients, message_count`` (Int64), ``seconds, total``
        (float64; the reply's own total), ``started_at, settled_at`` (UTC).
        """
        self._recover()
        with self._store.reading() as tx:
            return frames.requests(tx, self._number)

    @property
    def changes(self) -> pd.DataFrame:
        """What was changed of the campaign after it was recorded, one row each: ``at`` (UTC), ``who, what`` (str:
        corrected, extended, suppressed, withdrawn, found accepted, found not accepted, to retry), ``campaign`` (str),
        ``rows`` (Int64), ``reason`` (str).
        """
        with self._store.reading() as tx:
            return frames.changes(tx, self._number)

    @property
    def in_doubt(self) -> pd.DataFrame:
        """The rows in doubt with their evidence: phase, http_status, error, started_at, settled_at."""
        self._recover()
        return self._with_evidence(IN_DOUBT)

    @property
    def rejected(self) -> pd.DataFrame:
        """The rows that the service refused, with their evidence."""
        return self._with_evidence(REJECTED)

    def _with_evidence(self, state: int) -> pd.DataFrame:
        with self._store.reading() as tx:
            rows = frames.with_evidence(tx, self._number, state)
        return rows.assign(campaign=self.name, service=self.service).astype({"campaign": STR, "service": STR})

    @property
    def _numbers(self) -> pd.Series:
        """The E.164 numbers of everybody whom the campaign was to text."""
        return self._numbers_in(_EVERY_STATE)

    @property
    def _reached(self) -> pd.Series:
        """The E.164 numbers of those whom the campaign may have reached: accepted, in doubt or being sent."""
        return self._numbers_in(MAY_HAVE_LEFT)

    def _numbers_in(self, states: Sequence[int]) -> pd.Series:
        self._refuse_purged()
        with self._store.reading() as tx:
            return frames.numbers_in(tx, self._number, states)

    @in_our_words
    def settle(
        self, rows: AnyFrame | Sequence[str] | str, *, accepted: bool, reason: str | None = None, again: bool = False
    ) -> int:
        """Mark in-doubt rows as accepted, or as not accepted so that the next send retries them; return how many.

        Args:
            rows: a frame with a column ``to``, such as ``in_doubt`` or a part of it, or E.164 numbers. Columns ``parts,
                price`` and ``currency``, as of an invoice, become those of accepted rows. People who asked to be
                forgotten have no number any more: their rows are found by the frame's index.
            accepted: True marks the rows as accepted. False marks them as planned, so that the next ``send`` posts
                them.
            reason: the evidence, for the record (`changes`), such as "invoice 2026-11".
            again: also people who were settled as not accepted before, were sent again, and are in doubt again.

        Raises:
            UsageError: a number is not in doubt in this campaign, a row is another campaign's or request's, a person
                was settled as not accepted before, or ``accepted`` is neither True nor False. Nothing was changed.
            CampaignLockedError: the campaign is running.
        """
        if not isinstance(accepted, bool | np.bool_):
            raise UsageError(
                f"accepted= must be True (they have it) or False (they do not, so send again), got {accepted!r}; "
                "nothing was changed"
            )
        refuse(None if reason is None else not_text("reason", reason))
        decision = decisions.settle_decision(accepted=bool(accepted), reason=reason, again=again)
        return self._decide(rows, decision)

    @in_our_words
    def retry(self, rows: AnyFrame | Sequence[str] | str) -> int:
        """Mark rejected rows as planned, so that the next ``send`` posts them again; return how many.

        Raises:
            UsageError: a number was not rejected in this campaign, or a row is another one's. Nothing was changed.
            CampaignLockedError: the campaign is running.
        """
        return self._decide(rows, decisions.RETRY)

    def _decide(self, rows: Any, decision: decisions.Decision) -> int:
        chosen = decisions.own_rows(rows, self.name)
        with holding(self._ledger, self._number, self.name), self._store.writing() as tx:
            now = self._ledger._clock()
            return decisions.decide(self._store, tx, self._number, chosen, decision, name=self.name, now=now)

    @in_our_words
    def withdraw(self, rows: AnyFrame | Sequence[str] | str | None = None, *, reason: str | None = None) -> int:
        """Take rows that are still planned out of the campaign for good, all or these; return how many.

        They become ``skipped`` with the problem WITHDRAWN. No later ``send`` of this campaign texts them, by whatever
        plan. It may be called while the campaign runs: requests that are under way end, and no further one begins.

        Args:
            rows: a frame with a column ``to``, such as a part of ``results``, or E.164 numbers. By default all that are
                still planned.
            reason: why, for the record.

        Raises:
            UsageError: a number is not planned in this campaign, or a row is another one's. Nothing was changed.
        """
        refuse(None if reason is None else not_text("reason", reason))
        numbers = None if rows is None else decisions.numbers_of(decisions.own_rows(rows, self.name))
        with self._store.writing() as tx:
            now = self._ledger._clock()
            return decisions.withdraw(self._store, tx, self._number, numbers, reason=reason, now=now)

    @in_our_words
    def export(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """Write the results with their details to a CSV, Excel or Parquet file and return its path."""
        refuse(not_path("path", path, example="'sent.xlsx'"))
        return results.write(self._table(), path, overwrite=overwrite, inputs=self._ledger._files)

    def purge(self) -> int:
        """Delete the numbers, texts and kept columns, also from the file; return how many rows.

        Test messages that were sent under its name go with it. What the campaign cost stays known, and a keyed hash of
        each person, for the rules of later campaigns, until the first purge after 366 days. Opt-outs are not touched.
        Its name stays taken: nobody knows any more who was texted, so the campaign is never sent again.

        Raises:
            CampaignLockedError: the campaign is running.
        """
        return privacy.purge(self._ledger, self._row)

    def card(self) -> cards.Card:
        """Return the campaign as a card: whose it is, rows by state, what is held back and until when, what was
        changed, and the rows in doubt with their evidence, numbers masked."""
        in_doubt = self.in_doubt
        with self._store.reading() as tx:
            runner = tx.rows("SELECT who FROM campaign WHERE id=? AND runner IS NOT NULL", (self._number,))
            return overview.of_campaign(
                self._row,
                self._others,
                frames.counts(tx, self._number),
                in_doubt,
                frames.held(tx, self._number),
                frames.changes(tx, self._number),
                runner[0][0] if runner else "",
                is_purged=self._is_purged(),
            )

    def _repr_html_(self) -> str:
        return self.card().html()

    def __repr__(self) -> str:
        text = "purged" if self._is_purged() else overview.state_line(self.counts)
        return f"Record({self.name!r}, {overview.whose_line(self._row, self._others)}: {text})"

    def _is_purged(self) -> bool:
        return bool(self._store.rows("SELECT purged FROM campaign WHERE id=?", (self._number,))[0][0])

    def _refuse_purged(self) -> None:
        if self._is_purged():
            raise LedgerError(f"campaign {self.name!r} was purged: it is no longer known whom it texted")

    def _recover(self) -> None:
        """Put rows in doubt whose process is dead, so that they are seen before the next ``send``."""
        open_attempts = "SELECT 1 FROM attempt WHERE campaign=? AND outcome IS NULL LIMIT 1"
        if self._store.rows(open_attempts, (self._number,)):
            # Where it is held, they are under way.
            with contextlib.suppress(CampaignLockedError), holding(self._ledger, self._number, self.name):
                pass
