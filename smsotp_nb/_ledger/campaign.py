"""One campaign of the ledger as a person sees it: its rows, what is in doubt, and what they decide about it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from .. import _cards as cards
from .. import results
from .._calling import given as shown
from .._calling import in_our_words, not_flag, not_path, not_text, refuse
from .._cards import counted
from .._frames import AnyFrame, as_pandas
from .._pandas import STR
from .._results.contract import DETAILS, STATES, ordered
from .._services import is_rehearsal, name_key
from .._showing import visible
from .._warnings import warn_user
from .._wire import Numbers, mask
from ..errors import CampaignLockedError, LedgerError, UsageError
from .file import copies
from .file.locks import RunLock
from .file.store import Store
from .people import purging
from .places import refuse_lent
from .reading import cards as overview
from .reading import frames as reading
from .reading.cards import state_line
from .record import approving, changing
from .record.approving import Proposal
from .record.beginning import OWNER_DIED, end_changing, give_up
from .record.evidence import Evidence, lines_kept, take_over
from .record.passcodes import KIND
from .record.recording import Planned
from .rows import contacts
from .rows.columns import names_in
from .rows.damage import understood
from .rows.statements import Statements
from .rows.tables import ACCEPTED, IN_DOUBT, MAY_HAVE_LEFT, OPTED_OUT, PLANNED, REJECTED, SKIPPED
from .sending import holds


class LedgerBase:
    """A ledger without what people call."""

    path: Any  # a Path, or the Address of a server's database
    _store: Store
    _is_default: bool

    def _clock(self) -> int:
        raise NotImplementedError

    @property
    def _files(self) -> list[Path]:
        """The file of the ledger, which nothing may be written over; none if it is on a server."""
        return [self.path] if isinstance(self.path, Path) else []

    def _refuse_lent(self, service: str) -> None:
        """Refuse the first live campaign where nobody said where the record is kept, and this machine may forget it."""
        if not self._is_default or is_rehearsal(service):
            return
        sql = "SELECT DISTINCT service FROM campaign WHERE kind='campaign' AND id IN (SELECT campaign FROM attempt)"
        if all(is_rehearsal(begun) for (begun,) in self._store.asked(sql)):
            refuse_lent(self.path)

    def _end_dead_ones(self, but: int) -> None:
        """Put rows in doubt whose process died; as long as they count as under way, they hold other rows back."""
        with self._store.reading() as connection:
            found = contacts.unsettled(connection, but=but)
        for number, name in found:
            with contextlib.suppress(CampaignLockedError), self._holding(number, name):
                give_up(self._store, number, OWNER_DIED, now=self._clock())

    @contextlib.contextmanager
    def _holding(self, number: int, name: str) -> Iterator[RunLock]:
        lock = self._store.lock(number, name)
        try:
            yield lock
        finally:
            lock.release()

    def _purge(self, number: int, name: str) -> int:
        """Purge a campaign; return how many rows it had. Raises CampaignLockedError while it or a test of it runs."""
        with contextlib.ExitStack() as held:
            held.enter_context(self._holding(number, name))
            tests = purging.tests_of(self._store, number)
            for test in tests:
                held.enter_context(self._holding(test, name))
            return purging.purge(self._store, number, tests, now=self._clock())

    def _purged(self, number: int, name: str) -> bool:
        """Purge a campaign unless it is running; return whether it was purged."""
        try:
            self._purge(number, name)
        except CampaignLockedError:
            return False
        return True

    def _find(self, service: str, name: str) -> int | None:
        sql = "SELECT id FROM campaign WHERE service=? AND name_key=? AND kind='campaign'"
        found = self._store.asked(sql, (service, name_key(name)))
        return found[0][0] if found else None


@understood
class Record:
    """What is recorded of one campaign: its rows, what is in doubt, and what you decide about it. See `record`.

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
    def __init__(self, ledger: LedgerBase, store: Store, it: reading.Named, others: tuple[str, ...], /) -> None:
        self.name, self.service, self._it, self._others = it.name, it.service, it, others
        self._ledger, self._store, self._number, self._kept = ledger, store, it.number, tuple(names_in(it.kept))

    @property
    def counts(self) -> dict[str, int]:
        """The number of rows in each state."""
        self._recover()
        return reading.counts(self._store, self._number)

    @property
    def results(self) -> pd.DataFrame:
        """The result table as recorded: one row for each row of the plan, indexed by its position, with the columns of
        ``results.COLUMNS`` and before the last of them those that the plan kept.
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
        return reading.campaign_frame(self._store, self._number, name=self.name, service=self.service, names=self._kept)

    @property
    def messages(self) -> pd.DataFrame:
        """The texts of the campaign, a row for each that its rows have or had, by the number in the result table's
        column ``message``.

        Columns:
            ``segment`` (str: whose it is; missing: everybody's), ``version`` (Int64: 1, and one more with each
            correction), ``words`` (str: with their placeholders; missing where they were not kept, or the service has
            them), ``encoding`` (str: gsm7, ucs2 or mixed), ``parts`` (Int64, as estimated) and ``recipients`` (Int64)
            of the rows that have it, whatever their state but skipped, ``since`` (UTC) and ``reason`` (str) of its
            version. A text keeps its number, and rows that were sent keep theirs when the words are corrected.

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
        return reading.messages(self._store, self._number)

    @property
    def requests(self) -> pd.DataFrame:
        """The requests that were posted, with their outcome, evidence and the totals that the reply stated."""
        self._recover()
        return reading.requests(self._store, self._number)

    @property
    def _numbers(self) -> pd.Series:
        """The E.164 numbers of the campaign's planned recipients, whatever became of them."""
        self._refuse_purged()
        frame = reading.recorded(self._store, self._number)
        return frame.loc[frame["body"].notna(), "to"]

    @property
    def _reached(self) -> pd.Series:
        """The E.164 numbers that the campaign may have reached, by position: accepted, in doubt or being sent."""
        self._refuse_purged()
        found = reading.digits_of(self._store, self._number, MAY_HAVE_LEFT)
        return ("+" + found.astype(STR)).rename("to").sort_index()

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
        rows = reading.with_evidence(self._store, self._number, state)
        return rows.assign(campaign=self.name, service=self.service).astype({"campaign": STR, "service": STR})

    @in_our_words
    def settle(
        self,
        rows: AnyFrame | Sequence[str] | str,
        *,
        accepted: bool,
        reason: str | None = None,
        again: bool = False,
    ) -> int:
        """Mark in-doubt rows as accepted, or as not accepted so that the next send retries them; return how many.

        Args:
            rows: a frame with a column ``to``, such as ``in_doubt`` or a part of it, or E.164 numbers. Rows of a result
                table must be this campaign's. People who asked to be forgotten have no number any more: their rows are
                found by the frame's index.
            accepted: True marks the rows as accepted. False marks them as planned, so that the next ``send`` posts
                them; rows of people who asked to be forgotten are skipped. Other values that count as true or false in
                Python are refused.
            reason: the evidence, for the record (`changes`), such as "invoice 2026-11".
            again: True lets ``accepted=False`` send a third message to a person who was found not accepted before and
                is in doubt again. Without it such rows are refused: a cell that settles every doubt, run once more,
                would text the same people each time.

        Raises:
            UsageError: rows were found not accepted before (see ``again``), a number is not in doubt in this campaign,
                a row is of another campaign, service or request, or ``accepted`` is neither True nor False. Nothing
                was changed.
            CampaignLockedError: the campaign is running.
        """
        if not isinstance(accepted, bool | np.bool_):
            raise UsageError(
                f"accepted= must be True (they have it) or False (they do not, so send again), got {accepted!r}; "
                "nothing was changed"
            )
        refuse(None if reason is None else not_text("reason", reason), not_flag("again", again))
        self._recover()
        said = f"found {'' if accepted else 'not '}accepted"
        mine = _own(rows, self.name, self.service)
        return self._move(mine, IN_DOUBT, ACCEPTED if accepted else PLANNED, said, reason, again=again)

    @in_our_words
    def retry(self, rows: AnyFrame | Sequence[str] | str) -> int:
        """Mark rejected rows as planned, so that the next ``send`` posts them again; return how many.

        Raises:
            UsageError: a number was not rejected in this campaign, or a row is another one's. Nothing was changed.
            CampaignLockedError: the campaign is running.
        """
        return self._move(_own(rows, self.name, self.service), REJECTED, PLANNED, "to retry")

    @property
    def proposal(self) -> Proposal:
        """What it would say from now on, to how many, and who planned and approved that: for a second person.

        Raises:
            LedgerError: the campaign was purged.
        """
        self._refuse_purged()
        return approving.proposal(self._store, self._number, self.name, self.service)

    @in_our_words
    def approve(self, proposal: Proposal, *, reason: str | None = None) -> int:
        """Approve what the campaign says and to whom, as another person than its author; return how many are to go.

        It holds for exactly these words and recipients, and for fewer recipients. A revision needs another approval, by
        somebody else than who made it. On a server a person is the name by which it let them in, elsewhere the user and
        machine.

        Args:
            proposal: what ``proposal`` gave and was looked at.
            reason: for the record (`Ledger.audit`).

        Raises:
            UsageError: this person is the author, or the campaign was changed meanwhile. Nothing was approved.
        """
        refuse(
            approving.not_proposal(proposal, self.name, self.service),
            None if reason is None else not_text("reason", reason),
        )
        self._refuse_purged()
        kind = self._store.asked("SELECT kind FROM campaign WHERE id=?", (self._number,))[0][0]
        if kind != "campaign":
            what = "are the passcodes of a month" if kind == KIND else "is a message to oneself"
            raise UsageError(f"{self.name!r} {what}, which no plan changes; nothing was changed")
        now = self._ledger._clock()
        return approving.approve(self._store, self._number, proposal, reason=reason, now=now)

    @property
    def changes(self) -> pd.DataFrame:
        """What was changed of the campaign after it was recorded, one row each: ``at`` (UTC), ``what`` (str:
        corrected, extended, suppressed, withdrawn, found accepted, found not accepted, to retry), ``rows`` (Int64),
        ``reason`` (str), ``source`` (str: the invoice that rows were found accepted by, see `evidence`).
        """
        return reading.changes(self._store, self._number)

    @property
    def evidence(self) -> pd.DataFrame:
        """The lines of invoices by which rows in doubt were found accepted (`cost.reconcile_invoice`), by the position
        of the row: ``source`` (str: the file's name), ``line`` (str: its label in the file), ``id, currency, reason``
        (str), ``at`` (UTC), ``parts`` (Int64), ``price`` (float64).
        """
        return lines_kept(self._store, self._number)

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

        Example:
            >>> import tempfile, pathlib, smsotp_nb as sms
            >>> plan = sms.plan(pd.DataFrame({"phone": ["+12025550123"]}), "Hi", to="phone", campaign="sale")
            >>> ledger = sms.Ledger(pathlib.Path(tempfile.mkdtemp()) / "l.sqlite", create=True)
            >>> ledger._begin(plan, service="sandbox:a").close()
            >>> ledger.record("sale").withdraw(reason="wrong price")
            1
        """
        refuse(None if reason is None else not_text("reason", reason))
        numbers = None if rows is None else _numbers(_own(rows, self.name, self.service))
        with self._store.deciding() as connection:
            return changing.withdraw(connection, self._number, numbers, reason=reason, now=self._ledger._clock())

    def _heed_opt_outs(self) -> int:
        """Skip the rows still planned whose people opted out meanwhile, and return how many.

        They become ``skipped`` with the problem OPTED_OUT, as with the next ``send``; what is to go is then as it is
        counted there. It may be called while the campaign runs.
        """
        with self._store.writing() as connection:
            return holds.heed_opt_outs(connection, self._number)

    @in_our_words
    def export(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """Write the results with their details to a CSV, Excel or Parquet file and return its path.

        It is written as by `results.write`. The ledger keeps the path, and a later purge names it: the file is out of
        its reach.
        """
        refuse(not_path("path", path, example="'sent.xlsx'"))
        now = self._ledger._clock()
        with copies.noted(self._store, Path(path).absolute(), "exported table", now=now, durably=False):
            return results.write(self._table(), path, overwrite=overwrite, inputs=self._ledger._files)

    def purge(self) -> int:
        """Delete the numbers and all that was recorded of them, also from the file; return how many rows.

        Test messages that were sent under its name go with it. What the campaign cost stays known, in sums that name
        nobody (`cost.spending`), and a keyed hash of each person, for the policy of later campaigns, until the first
        purge after 366 days. Opt-outs are not touched. Its name stays taken: without the numbers nobody can know who
        was texted, so the campaign is never sent again.

        A warning says what the purge could not reach: backups, and the file itself while something else is reading
        it. The file is then overwritten when the ledger is next opened.

        Raises:
            CampaignLockedError: the campaign is running.
        """
        gone = self._ledger._purge(self._number, self.name)
        purging.warn_of_unreached(self._store)
        return gone

    def card(self) -> cards.Card:
        """Return the campaign as a card: whose it is, rows by state, what is held back and until when, what was
        changed, and the rows in doubt with their evidence, numbers masked."""
        return overview.of_campaign(
            self._it,
            self._others,
            None if self._is_purged() else self.counts,
            self.in_doubt,
            reading.held(self._store, self._number),
            self.changes,
            self._store.runner(self._number),
            approving.state(self._store, self._number),
        )

    def _repr_html_(self) -> str:
        return self.card().html()

    def __repr__(self) -> str:
        said = "purged" if self._is_purged() else state_line(self.counts)
        return f"Record({self.name!r}, {overview.whose_line(self._it, self._others)}: {said})"

    def _is_purged(self) -> bool:
        return bool(self._store.asked("SELECT purged FROM campaign WHERE id=?", (self._number,))[0][0])

    def _refuse_purged(self) -> None:
        if self._is_purged():
            raise LedgerError(f"campaign {self.name!r} was purged: it is no longer known whom it texted")

    def _recover(self) -> None:
        """Put rows in doubt whose process is dead, so that they are seen before the next ``send``."""
        if not reading.counts(self._store, self._number)["sending"]:
            return
        # Where it is held, they are under way.
        with contextlib.suppress(CampaignLockedError), self._ledger._holding(self._number, self.name):
            give_up(self._store, self._number, OWNER_DIED, now=self._ledger._clock())

    def _found_accepted(self, lines: pd.DataFrame, source: str, reason: str, *, priced: bool) -> int:
        """Mark rows in doubt as accepted by the lines of an invoice, and keep those; return how many.

        They take the lines' prices where these are exact (``priced``).
        """
        self._recover()
        found = Evidence(source, lines, priced)
        return self._move(lines, IN_DOUBT, ACCEPTED, "found accepted", reason, found)

    def _refuse_retried(self, connection: Statements, chosen: Sequence[tuple[int, int]]) -> None:
        """Refuse rows that a person found not accepted before: what was sent to them since may be a second message."""
        sql = "SELECT chunk, position FROM recipient WHERE campaign=? AND retried>0"
        retried = {(chunk, position) for chunk, position in connection.execute(sql, (self._number,))}
        count = sum(place in retried for place in chosen)
        if count:
            raise UsageError(
                f"{count:,} of {len(chosen):,} rows of campaign {self.name!r} were found not accepted before and are "
                "in doubt again, so these people may have two messages already. Nothing was changed. Ask the service "
                "first; to send them another one all the same, pass again=True"
            )

    def _move(
        self,
        rows: pd.DataFrame,
        before: int,
        after: int,
        said: str,
        reason: str | None = None,
        by: Evidence | None = None,
        *,
        again: bool = True,
    ) -> int:
        seen = _requests_seen(rows)
        is_nameless = rows["to"].isna().to_numpy()  # people who asked to be forgotten
        nameless = rows.index[is_nameless].tolist()
        wanted = Numbers(dict.fromkeys(_numbers(rows[~is_nameless])))
        with self._ledger._holding(self._number, self.name) as lock:
            with self._store.deciding() as connection:
                found = connection.execute(
                    "SELECT number, chunk, position FROM fate WHERE campaign=? AND state=?", (self._number, before)
                ).fetchall()
                places = {number: (chunk, position) for number, chunk, position in found if number > 0}
                forgotten = {position: (chunk, position) for number, chunk, position in found if number < 0}
                strangers = Numbers(number for number in wanted if number not in places)
                if strangers:
                    what = f"{mask(f'+{strangers[0]}')} is not {STATES[before]} in campaign {self.name!r}"
                    more = f" (and {len(strangers) - 1} more)" if len(strangers) > 1 else ""
                    raise UsageError(f"{what}{more}; nothing was changed")
                if not {*nameless} <= forgotten.keys():
                    raise UsageError(
                        f"a row without a number is not {STATES[before]} in campaign {self.name!r}; nothing was "
                        "changed. Pass the rows as the campaign gives them, with their index"
                    )
                _refuse_others(connection, self._number, before, seen, self.name)
                chosen = [*(places[number] for number in wanted), *(forgotten[position] for position in nameless)]
                if after == PLANNED and before == IN_DOUBT:
                    if not again:
                        self._refuse_retried(connection, chosen)
                    connection.executemany(
                        "UPDATE recipient SET retried=retried+1 WHERE campaign=? AND chunk=? AND position=?",
                        [(self._number, *place) for place in chosen],
                    )
                contacts.unpack(connection, self._number)
                gone: tuple[int, str | None] = (after, None)
                moved = [(*gone, *places[number]) for number in wanted]
                if after == PLANNED:  # some of it may be withdrawn
                    gone = (SKIPPED, OPTED_OUT)
                    there = [places[number] for number in wanted]
                    moved = [(*changing.come_back(connection, self._number, at[0], None), *at) for at in there]
                moved += [(*gone, *forgotten[position]) for position in nameless]
                connection.executemany(
                    "UPDATE recipient SET own_state=?, problem=? WHERE campaign=? AND chunk=? AND position=?",
                    [(state, problem, self._number, *place) for state, problem, *place in moved],
                )
                now = self._ledger._clock()
                proof = None if by is None else take_over(connection, self._number, by, places)
                many = len(moved)
                changing.note(
                    connection, self._number, what=said, rows=many, reason=reason, replaced=None, now=now,
                    evidence=proof,
                )  # fmt: skip
            try:
                end_changing(self._store, self._number, now=now, mine=lock.is_held)
            except LedgerError as error:  # they are recorded, and are read where nothing is packed beside them
                warn_user(f"the rows are recorded as decided, but {error}")
        return len(moved)


def _own(rows: AnyFrame | Sequence[str] | str, name: str, service: str) -> pd.DataFrame:
    """Return rows that a caller gave as a frame with a column ``to``; refuse those of another campaign or rehearsal."""
    rows = as_pandas(rows)
    if not isinstance(rows, pd.DataFrame):
        if isinstance(rows, Mapping | bytes) or not isinstance(rows, Iterable):
            raise UsageError(f"rows= must be a frame with a column 'to', or E.164 numbers, got {shown(rows)}")
        rows = pd.DataFrame({"to": [rows] if isinstance(rows, str) else list(rows)}, dtype=object)
        _numbers(rows)
    if "to" not in rows.columns:
        raise UsageError("rows= is a frame without a column 'to'; pass campaign.in_doubt, or a part of it")
    for column, mine in (("campaign", name), ("service", service)):
        if column not in rows.columns:
            continue
        others = rows[column][rows[column].ne(mine).fillna(True).to_numpy(bool)]
        if len(others):
            named = ", ".join(visible(repr(one)) for one in others.dropna().unique()[:3].tolist()) or "nothing"
            raise UsageError(
                f"{counted(len(others), 'row')} of rows= {'has' if len(others) == 1 else 'have'} {named} in the "
                f"column {column!r}, and this is campaign {name!r} of service {service!r}; nothing was "
                "changed. Pass rows of this campaign, such as a part of campaign.in_doubt or campaign.results"
            )
    return rows


def _requests_seen(rows: pd.DataFrame) -> dict[int, int]:
    """Return when the request of each number ended, in microseconds, as far as a table of results or evidence says."""
    if {"status", "chunk"}.isdisjoint(rows.columns):
        return {}
    for column in ("settled_at", "at"):
        if column in rows.columns and pd.api.types.is_datetime64_any_dtype(rows[column].dtype):
            known = rows[rows[column].notna() & rows["to"].notna()]
            micros = known[column].dt.as_unit("us").astype("int64").tolist()
            return {int(to[1:]): at for to, at in zip(known["to"], micros, strict=True) if to[1:].isdigit()}
    return {}


def _refuse_others(connection: Statements, campaign: int, state: int, seen: dict[int, int], name: str) -> None:
    """Refuse rows whose numbers stand in this campaign, and whose requests are those of another one."""
    if not seen:
        return
    sql = (
        "SELECT r.number, a.started_at, a.settled_at FROM fate r JOIN attempt a ON a.id=r.attempt "
        "WHERE r.campaign=? AND r.state=?"
    )
    recorded = {number: times for number, *times in connection.execute(sql, (campaign, state))}
    others = sum(at not in recorded[number] for number, at in seen.items() if number in recorded)
    if others:
        raise UsageError(
            f"{counted(others, 'row')} of rows= tell of another request than the latest one of campaign {name!r}: of "
            "another campaign or ledger, or of an earlier call; nothing was changed. Pass a part of campaign.in_doubt, "
            "or of campaign.rejected, as it is now"
        )


def _numbers(rows: pd.DataFrame) -> Numbers:
    """Return the numbers of rows as integers, without their plus."""
    found = rows["to"].tolist()
    wrong = [number for number in found if not (isinstance(number, str) and number[:1] == "+" and number[1:].isdigit())]
    if wrong:
        raise UsageError(
            f"rows= needs E.164 numbers; {len(wrong)} of {len(found)} are none, such as {mask(str(wrong[0]))}"
        )
    return Numbers(int(number[1:]) for number in found)


def service_of(client: object, *, what: str) -> str:
    """Return the id of the service of a Client or a Sandbox; ``what`` needs it, as an error says."""
    service = getattr(client, "service", None)
    if not isinstance(service, str):
        raise UsageError(f"{what} needs a Client or a Sandbox, got {shown(client)}; Sandbox() is one to try")
    return service


def not_its_plan(plan: object, name: str) -> str | None:
    if not isinstance(plan, Planned):
        return f"plan= must be a Plan, what plan(...) returns, got {shown(plan)}"
    if plan._held.folder is not None:  # of which no rows are read
        return (
            "the plan of a Folder revises no campaign: withdraw what is to go, and plan it as a campaign of its own "
            f"with exclude=sms.record({name!r})"
        )
    if plan.campaign != name:
        return f"the plan is of campaign {plan.campaign!r}, and this is {name!r}"
    return None
