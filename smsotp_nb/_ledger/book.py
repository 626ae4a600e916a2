"""The record of all campaigns of one user, and what that user decides about them."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Self

import numpy as np
import pandas as pd

from .. import _cards as cards
from .. import results
from .._arguments import given as shown
from .._arguments import not_callable, not_flag, not_text, refuse
from .._calls import in_our_words
from .._frames import AnyFrame, as_pandas
from .._moments import Now, microseconds, utc_now
from .._pandas import STR
from .._services import is_rehearsal, name_key
from .._wire import Numbers, mask
from ..errors import CampaignHeld, LedgerError, UsageError
from ..results import STATES
from . import changing, contacts, copies, overview, reading
from .disk import runs
from .holds import Rules
from .lock import RunLock
from .overview import state_line
from .ownership import Ownership
from .places import given, not_a_ledger, users_own
from .prospect import Prospect, prospect
from .recording import Planned, purge, record
from .run import OWNER_DIED, Run, give_up
from .store import Store
from .tables import ACCEPTED, IN_DOUBT, PLANNED, REJECTED, SENDING


class Ledger:
    """The campaign record: which rows were sent, what they cost, and which are in doubt.

    A campaign is identified by its service and its name, so a rehearsal on a sandbox never blocks the real send.

    Args:
        path: the file. By default this user's one ledger (``SMSOTP_LEDGER``, or a file in the user's data folder),
            which is created when it is first used.
        create: create the file if there is none. Otherwise a path that does not exist is an error, because a mistyped
            path would open a record in which nobody was texted.
        accept_older: use the file although this user has last seen it with more in it, because a backup replaced it.
            What it lacks is then unknown.
        now: the clock, a function that returns an aware datetime.

    Raises:
        LedgerError: the file does not exist, is damaged, is older than when last seen, or cannot be used. The message
            says why and what to do.
        UsageError: not a path.

    Example:
        >>> import tempfile, pathlib
        >>> ledger = Ledger(pathlib.Path(tempfile.mkdtemp()) / "ledger.sqlite", create=True)
        >>> len(ledger.campaigns())
        0
    """

    @in_our_words
    def __init__(
        self,
        path: str | Path | None = None,
        *,
        create: bool = False,
        accept_older: bool = False,
        now: Now = utc_now,
    ) -> None:
        refuse(
            not_flag("create", create),
            not_flag("accept_older", accept_older),
            not_callable("now", now, example="datetime.now(UTC)", none=False),
        )
        self.path = users_own() if path is None else given(path, create=create)
        self._store = Store(self.path, create=create or path is None, accept_older=accept_older)
        self._clock: Callable[[], int] = lambda: microseconds(now())
        self.created = self._store.created

    def campaigns(self) -> pd.DataFrame:
        """List the campaigns, one row each: service, campaign, kind, created_at, rows, then the rows by state
        (Int64).

        Example:
            >>> import tempfile, pathlib
            >>> list(Ledger(pathlib.Path(tempfile.mkdtemp()) / "l.sqlite", create=True).campaigns().columns)[:3]
            ['service', 'campaign', 'kind']
        """
        with self._store.reading() as connection:
            found = connection.execute(
                "SELECT id, service, name, kind, created_at, rows FROM campaign ORDER BY id"
            ).fetchall()
        frame = pd.DataFrame(found, columns=["id", "service", "campaign", "kind", "created_at", "rows"])
        frame = frame.astype({"service": STR, "campaign": STR, "kind": STR, "rows": "Int64"})
        frame["created_at"] = pd.to_datetime(frame["created_at"].astype("Int64"), unit="us", utc=True)
        by_state = [reading.counts(self._store, number) for number in frame.pop("id")]
        return frame.join(pd.DataFrame(by_state, columns=list(STATES), index=frame.index, dtype="Int64"))

    @in_our_words
    def campaign(self, name: str, *, service: str | None = None) -> Campaign:
        """Return one campaign by its name. Pass ``service`` only if several services have a campaign of that name.

        Raises:
            UsageError: there is none, or there are several; the message names them.

        Example:
            >>> import tempfile, pathlib
            >>> Ledger(pathlib.Path(tempfile.mkdtemp()) / "l.sqlite", create=True).campaign("autumn")
            Traceback (most recent call last):
            smsotp_nb.errors.UsageError: no campaign 'autumn' in the ledger; it holds none yet
        """
        if not isinstance(name, str):
            raise UsageError(f"the name of a campaign must be text, got {shown(name)}")
        which = "; it is the id of one, such as client.service"
        refuse(None if service is None else not_text("service", service, hint=which))
        with self._store.reading() as connection:
            found = connection.execute(
                "SELECT id, service, kept, name FROM campaign "
                "WHERE name_key=? AND kind='campaign' AND service=coalesce(?, service)",
                (name_key(name), service),
            ).fetchall()
            names = [row[0] for row in connection.execute("SELECT DISTINCT name FROM campaign WHERE kind='campaign'")]
        if not found:
            held = "it holds " + (", ".join(map(repr, names[:10])) or "none yet")
            raise UsageError(f"no campaign {name!r} in the ledger; {held}")
        if len(found) > 1:
            services = ", ".join(repr(row[1]) for row in found)
            raise UsageError(f"several services have a campaign {name!r}; pass service= one of {services}")
        number, owner, kept, recorded = found[0]
        return Campaign(self, self._store, number, recorded, owner, tuple(json.loads(kept)))

    @in_our_words
    def knows(self, name: str, *, service: str) -> bool:
        """Say whether a campaign is recorded.

        Example:
            >>> import tempfile, pathlib
            >>> Ledger(pathlib.Path(tempfile.mkdtemp()) / "l.sqlite", create=True).knows("autumn", service="sandbox:a")
            False
        """
        return self._find(service, name) is not None

    @in_our_words
    def prospect(self, plan: Planned, *, service: str | None = None, repeat_text: bool = False) -> Prospect:
        """Say how a plan stands to what is recorded: the campaign of its name, and whom the rules hold back now.

        Without ``service`` that of the latest campaign of this name counts, else that of the latest campaign of all.
        Nothing is recorded.
        """
        with self._store.reading() as connection:
            found = connection.execute(
                "SELECT CASE WHEN name_key=? AND NOT purged THEN id END, service FROM campaign WHERE kind='campaign' "
                "AND service=coalesce(?, service) ORDER BY name_key=? AND NOT purged DESC, id DESC LIMIT 1",
                (name_key(plan.campaign), service, name_key(plan.campaign)),
            ).fetchone()
        number, where = found or (None, service)
        rules = Rules.of(plan.policy, repeat_text=repeat_text)
        return prospect(self._store, plan, campaign=number, service=where, rules=rules, now=self._clock())

    @in_our_words
    def begin(self, plan: Planned, *, service: str, kind: str = "campaign", repeat_text: bool = False) -> Run:
        """Record a plan, or resume a recorded campaign, and hold it until the run is closed.

        Raises:
            CampaignHeld: another process or call runs it.
            PlanChanged: the plan is not the recorded one.
            LedgerError: another live account or address has already texted people under this name.
        """
        number, ownership = None, None
        if kind == "campaign":
            number = self._find(service, plan.campaign)
            ownership = None if is_rehearsal(service) else Ownership(plan.campaign, service)
        if ownership is not None:
            with self._store.reading() as connection:
                ownership.check(connection)
        if number is None:
            number = record(self._store, plan, service=service, kind=kind, now=self._clock())
        lock = self._lock(number, plan.campaign)
        try:
            self._agree(number, plan)
            self._end_dead_ones(number)
            rules = Rules.of(plan.policy, repeat_text=repeat_text) if kind == "campaign" else Rules()
            return Run(self._store, number, lock, clock=self._clock, service=service, rules=rules, ownership=ownership)
        except BaseException:
            lock.release()
            raise

    @in_our_words
    def backup(self, path: str | Path) -> Path:
        """Write the ledger as of now to a new file, even while a campaign runs, and return its path.

        A copy made by other means may lack what is still in the log beside the file.

        Raises:
            LedgerError: the file already exists or cannot be written.

        Example:
            >>> import tempfile, pathlib
            >>> folder = pathlib.Path(tempfile.mkdtemp())
            >>> Ledger(folder / "l.sqlite", create=True).backup(folder / "backup.sqlite").name
            'backup.sqlite'
        """
        return copies.backup(self._store, given(path, create=True))

    @classmethod
    @in_our_words
    def restore(cls, backup: str | Path, path: str | Path | None = None, *, accept_older: bool = False) -> Self:
        """Replace a ledger with a backup and open it. The replaced file is kept beside it.

        Args:
            backup: a file that ``backup`` wrote.
            path: the ledger to replace; by default this user's own.
            accept_older: restore the backup although people were texted after it was made.

        Raises:
            LedgerError: the ledger is in use, or the backup is damaged, is not one, or is older than what was last
                seen; the message says how many recipients it may lack. Nothing was changed.

        Example:
            >>> import tempfile, pathlib
            >>> folder = pathlib.Path(tempfile.mkdtemp())
            >>> ledger = Ledger(folder / "l.sqlite", create=True)
            >>> backup = ledger.backup(folder / "backup.sqlite")
            >>> ledger.close()
            >>> len(Ledger.restore(backup, folder / "l.sqlite").campaigns())
            0
        """
        place = users_own() if path is None else given(path, create=True)
        copies.restore(given(backup, create=True), place, accept_older=accept_older)
        return cls(place, accept_older=accept_older)

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def card(self) -> cards.Card:
        """Return the ledger as a card: its path, and a line for each campaign, latest first.

        Example:
            >>> import tempfile, pathlib
            >>> print(Ledger(pathlib.Path(tempfile.mkdtemp()) / "l.sqlite", create=True).card().state)
            No campaign is recorded yet.
        """
        return overview.of_ledger(self.path, self.campaigns())

    def __repr__(self) -> str:
        return f"Ledger({str(self.path)!r})"

    def _repr_html_(self) -> str:
        return self.card().html()

    def _end_dead_ones(self, but: int) -> None:
        """Put rows in doubt whose process died: while they count as under way, they hold others back anew."""
        with self._store.reading() as connection:
            found = contacts.unsettled(connection, but=but)
        for number, name in found:
            with contextlib.suppress(CampaignHeld):
                lock = self._lock(number, name)
                try:
                    give_up(self._store, number, OWNER_DIED, now=self._clock())
                finally:
                    lock.release()

    def _lock(self, number: int, name: str) -> RunLock:
        return RunLock(runs(self.path) / str(number), name)

    def _find(self, service: str, name: str) -> int | None:
        with self._store.reading() as connection:
            found = connection.execute(
                "SELECT id FROM campaign WHERE service=? AND name_key=? AND kind='campaign'", (service, name_key(name))
            ).fetchone()
        return found[0] if found else None

    def _agree(self, number: int, plan: Planned) -> None:
        """Let a plan go on with a recorded campaign, or refuse it; called by whoever holds the campaign's lock."""
        self._refuse_another_name(number, plan)
        with self._store.reading() as connection:
            known = connection.execute("SELECT fingerprint FROM campaign WHERE id=?", (number,)).fetchone()[0]
            corrected = changing.was_corrected(connection, number)
        if known == plan.fingerprint and not corrected:
            return
        with self._store.snapshot() as connection:
            found = changing.compare(connection, number, plan)
            replaced = changing.replaced_at(connection, number, plan.fingerprint)
        if known == plan.fingerprint:
            with self._store.writing() as connection:
                changing.reword(connection, number, plan)
        elif replaced or not found.resumes or (found.others and not corrected):
            raise changing.refusal(plan, found, replaced)
        elif len(found.dropped):
            with self._store.writing() as connection:
                changing.adopt(connection, number, plan, found, what="suppressed", reason=None, now=self._clock())

    def _refuse_another_name(self, number: int, plan: Planned) -> None:
        with self._store.reading() as connection:
            purged, name = connection.execute("SELECT purged, name FROM campaign WHERE id=?", (number,)).fetchone()
        if name != plan.campaign:
            raise LedgerError(
                f"campaign {plan.campaign!r} differs only in spelling from the recorded {name!r}. Nothing was sent. "
                f"Plan it as campaign={name!r} to continue that one, or choose a name that differs in more than case "
                "and blanks"
            )
        if purged:
            raise LedgerError(
                f"campaign {plan.campaign!r} was purged: it is no longer known who was texted, so it is never sent "
                "again. Nothing was sent; choose another campaign name"
            )


LedgerOrPath = Ledger | str | Path


def opened(ledger: LedgerOrPath | None) -> contextlib.AbstractContextManager[Ledger]:
    """Return a ledger for the length of a ``with`` block: one that was given stays open, one of a path is closed.

    Raises:
        UsageError: it is neither a ledger nor a path. LedgerError: there is no ledger at this path.

    Example:
        >>> import tempfile, pathlib
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "ledger.sqlite"
        >>> Ledger(path, create=True).close()
        >>> with opened(path) as ledger:
        ...     len(ledger.campaigns())
        0
    """
    if isinstance(ledger, Ledger):
        return contextlib.nullcontext(ledger)
    if ledger is None or isinstance(ledger, (str, Path)):
        return Ledger(ledger)
    raise not_a_ledger(ledger)


class Campaign:
    """One campaign of a ledger: its rows, what is in doubt, and what you decide about it.

    Example:
        >>> "in_doubt" in dir(Campaign)
        True
    """

    def __init__(
        self, ledger: Ledger, store: Store, number: int, name: str, service: str, kept: tuple[str, ...]
    ) -> None:
        self.name, self.service = name, service
        self._ledger, self._store, self._number, self._kept = ledger, store, number, kept

    @property
    def counts(self) -> dict[str, int]:
        """The number of rows in each state."""
        self._recover()
        return reading.counts(self._store, self._number)

    @property
    def frame(self) -> pd.DataFrame:
        """The result table as recorded: one row for each row of the plan, indexed by its position."""
        self._recover()
        return reading.campaign_frame(self._store, self._number, name=self.name, service=self.service, names=self._kept)

    @property
    def requests(self) -> pd.DataFrame:
        """The requests that were posted, with their outcome, evidence and the totals that the reply stated."""
        self._recover()
        return reading.requests(self._store, self._number)

    @property
    def numbers(self) -> pd.Series:
        """The E.164 numbers of the campaign's planned recipients, whatever became of them.

        Raises:
            LedgerError: the campaign was purged, so they are no longer known.
        """
        self._refuse_purged()
        frame = reading.recorded(self._store, self._number)
        return frame.loc[frame["body"].notna(), "to"]

    @property
    def reached(self) -> pd.Series:
        """The E.164 numbers that the campaign may have reached, by position: accepted, in doubt or being sent.

        Raises:
            LedgerError: the campaign was purged, so they are no longer known.
        """
        self._refuse_purged()
        return reading.numbers_of(self._store, self._number, (SENDING, ACCEPTED, IN_DOUBT))

    @property
    def in_doubt(self) -> pd.DataFrame:
        """The rows in doubt with their evidence: phase, http_status, error, started_at, settled_at."""
        self._recover()
        return reading.with_evidence(self._store, self._number, IN_DOUBT)

    @property
    def rejected(self) -> pd.DataFrame:
        """The rows that the service refused, with their evidence."""
        return reading.with_evidence(self._store, self._number, REJECTED)

    @in_our_words
    def resolve(self, rows: AnyFrame | Sequence[str] | str, *, accepted: bool) -> int:
        """Mark in-doubt rows as accepted, or as not accepted so that the next send retries them; return how many.

        Args:
            rows: a frame with a column ``to``, such as ``in_doubt`` or a part of it, or E.164 numbers.
            accepted: True marks the rows as accepted. False marks them as planned, so that the next ``send`` posts
                them. Other values that count as true or false in Python are refused.

        Raises:
            UsageError: a number is not in doubt in this campaign, or ``accepted`` is neither True nor False. Nothing
                was changed.
            CampaignHeld: the campaign is running.
        """
        if not isinstance(accepted, bool | np.bool_):
            raise UsageError(
                f"accepted= must be True (they have it) or False (they do not, so send again), got {accepted!r}; "
                "nothing was changed"
            )
        self._recover()
        rows = _hidden(rows)
        return self._move(rows, IN_DOUBT, ACCEPTED if accepted else PLANNED)

    @in_our_words
    def retry_rejected(self, rows: AnyFrame | Sequence[str] | str) -> int:
        """Mark rejected rows as planned, so that the next ``send`` posts them again; return how many.

        Raises:
            UsageError: a number was not rejected in this campaign. Nothing was changed.
            CampaignHeld: the campaign is running.
        """
        rows = _hidden(rows)
        return self._move(rows, REJECTED, PLANNED)

    @property
    def changes(self) -> pd.DataFrame:
        """What was changed of the campaign after it was recorded, one row each: ``at`` (UTC), ``what`` (str:
        corrected, extended, suppressed or withdrawn), ``rows`` (Int64), ``reason`` (str).
        """
        return reading.changes(self._store, self._number)

    @in_our_words
    def withdraw(self, rows: AnyFrame | Sequence[str] | str | None = None, *, reason: str | None = None) -> int:
        """Take rows that are still planned out of the campaign for good, all or these; return how many.

        They become ``skipped`` with the problem WITHDRAWN. No later ``send`` of this campaign texts them, by whatever
        plan. It may be called while the campaign runs: requests that are under way end, and no further one begins.

        Args:
            rows: a frame with a column ``to``, such as a part of ``frame``, or E.164 numbers. By default all that are
                still planned.
            reason: why, for the record.

        Raises:
            UsageError: a number is not planned in this campaign. Nothing was changed.

        Example:
            >>> import tempfile, pathlib, smsotp_nb as sms
            >>> plan = sms.plan(pd.DataFrame({"phone": ["+12025550123"]}), to="phone", campaign="sale", text="Hi")
            >>> ledger = Ledger(pathlib.Path(tempfile.mkdtemp()) / "l.sqlite", create=True)
            >>> ledger.begin(plan, service="sandbox:a").close()
            >>> ledger.campaign("sale").withdraw(reason="wrong price")
            1
        """
        refuse(None if reason is None else not_text("reason", reason))
        rows = None if rows is None else _hidden(rows)
        numbers = None if rows is None else Numbers(int(number) for number in _numbers(rows))
        with self._store.writing() as connection:
            return changing.withdraw(connection, self._number, numbers, reason=reason, now=self._ledger._clock())

    @in_our_words
    def correct(self, plan: Planned, *, reason: str | None = None) -> int:
        """Give the rows that are still planned the words of a new plan; return how many changed.

        Rows that a message may have reached are never touched. From then on ``send`` takes the new plan, and the old
        one is refused. The same correction again changes nothing and returns 0.

        Args:
            plan: a plan of this campaign's name over the same recipients, with the new message
                (``old_plan.reworded(content=...)``, or ``plan(...)`` again). Recipients whom it leaves out, such as new
                entries of ``suppress=``, are left out of the campaign, too.
            reason: why, for the record.

        Raises:
            PlanChanged: it adds recipients, or lacks some. Nothing was changed.
            UsageError: it changes nothing, or is of another campaign.
            CampaignHeld: the campaign is running.
        """
        return self._change(plan, "corrected", reason)

    @in_our_words
    def extend(self, plan: Planned, *, reason: str | None = None) -> int:
        """Add the new recipients of a plan to the campaign; return how many. Nobody who is in it gets a second row.

        The same plan again adds nobody and returns 0.

        Args:
            plan: a plan of this campaign's name and words over the whole list, earlier recipients and new ones.
            reason: why, for the record.

        Raises:
            PlanChanged: it has other words for recipients who are still planned, or lacks some. Nothing was changed.
            UsageError: it adds nobody, or is of another campaign.
            CampaignHeld: the campaign is running.
        """
        return self._change(plan, "extended", reason)

    def _change(self, plan: Planned, what: str, reason: str | None) -> int:
        refuse(None if reason is None else not_text("reason", reason), self._not_its_plan(plan))
        self._refuse_purged()
        lock = self._ledger._lock(self._number, self.name)
        try:
            with self._store.writing() as connection:
                found = changing.compare(connection, self._number, plan)
                if found.resumes and changing.became(connection, self._number, plan.fingerprint, what):
                    return 0
                wanted, other = (found.changed, found.added) if what == "corrected" else (found.added, found.changed)
                if len(other) or found.gone:
                    raise changing.refusal(plan, found, "")
                if not len(wanted):
                    none = "changes no words of rows that are still planned"
                    raise UsageError(
                        f"this plan {none if what == 'corrected' else 'adds no recipients'} of campaign {self.name!r}; "
                        "nothing was changed"
                    )
                now = self._ledger._clock()
                changing.adopt(connection, self._number, plan, found, what=what, reason=reason, now=now)
                return len(wanted)
        finally:
            lock.release()

    def _not_its_plan(self, plan: Planned) -> str | None:
        if not isinstance(plan, Planned):
            return f"plan= must be a Plan, what plan(...) returns, got {shown(plan)}"
        if plan.campaign != self.name:
            return f"the plan is of campaign {plan.campaign!r}, and this is {self.name!r}"
        return None

    @in_our_words
    def export(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """Write the frame to a CSV, Excel or Parquet file, as safely as `results.write`, and return the path."""
        return results.write(self.frame, path, overwrite=overwrite, inputs=[self._ledger.path])

    def purge(self) -> int:
        """Delete the numbers and all that was recorded of them, also from the file; return how many rows.

        What the campaign cost stays known, in sums that name nobody (`cost.spending`), and a keyed hash of each person
        for the policy of later campaigns. Opt-outs are not touched. Its name stays taken: without
        the numbers nobody can know who was texted, so the campaign is never sent again.

        Raises:
            CampaignHeld: the campaign is running.
        """
        lock = self._ledger._lock(self._number, self.name)
        try:
            gone = purge(self._store, self._number, now=self._ledger._clock())
        finally:
            lock.release()
        return gone

    def line(self) -> str:
        """Return the campaign in one line: accepted, in doubt, rejected, to go."""
        return state_line(self.counts)

    def card(self) -> cards.Card:
        """Return the campaign as a card: rows by state, what is held back and until when, what was
        changed, and the rows in doubt with their evidence, numbers masked."""
        return overview.of_campaign(
            self.name,
            self.service,
            self.counts,
            self.in_doubt,
            reading.held(self._store, self._number),
            self.changes,
        )

    def _repr_html_(self) -> str:
        return self.card().html()

    def __repr__(self) -> str:
        return f"Campaign({self.name!r} on {self.service}: {self.line()})"

    def _refuse_purged(self) -> None:
        with self._store.reading() as connection:
            purged = connection.execute("SELECT purged FROM campaign WHERE id=?", (self._number,)).fetchone()[0]
        if purged:
            raise LedgerError(f"campaign {self.name!r} was purged: it is no longer known whom it texted")

    def _recover(self) -> None:
        """Name rows in doubt whose runner is dead, so that who looks before the next ``send`` sees them."""
        if not reading.counts(self._store, self._number)["sending"]:
            return
        try:
            lock = self._ledger._lock(self._number, self.name)
        except CampaignHeld:  # they are under way
            return
        try:
            give_up(self._store, self._number, OWNER_DIED, now=self._ledger._clock())
        finally:
            lock.release()

    def _move(self, rows: pd.DataFrame | Sequence[str] | str, before: int, after: int) -> int:
        wanted = Numbers(dict.fromkeys(int(number) for number in _numbers(rows)))
        lock = self._ledger._lock(self._number, self.name)
        try:
            with self._store.writing() as connection:
                found = connection.execute(
                    "SELECT number, chunk, position FROM fate WHERE campaign=? AND state=?", (self._number, before)
                )
                places = {number: (chunk, position) for number, chunk, position in found}
                strangers = Numbers(number for number in wanted if number not in places)
                if strangers:
                    what = f"{mask(f'+{strangers[0]}')} is not {STATES[before]} in campaign {self.name!r}"
                    more = f" (and {len(strangers) - 1} more)" if len(strangers) > 1 else ""
                    raise UsageError(f"{what}{more}; nothing was changed")
                contacts.unpack(connection, self._number)
                connection.executemany(
                    "UPDATE recipient SET own_state=?, problem=? WHERE campaign=? AND chunk=? AND position=?",
                    [
                        (*self._becomes(connection, after, places[number][0]), self._number, *places[number])
                        for number in wanted
                    ],
                )
        finally:
            lock.release()
        return len(wanted)

    def _becomes(self, connection: sqlite3.Connection, state: int, chunk: int) -> tuple[int, str | None]:
        """Return state and problem of a row that a person spoke of: what is to go again may have been withdrawn."""
        return changing.come_back(connection, self._number, chunk, None) if state == PLANNED else (state, None)


def _hidden(rows: AnyFrame | Sequence[str] | str) -> pd.DataFrame | Sequence[str]:
    """Return rows as they are in a frame, else numbers that a traceback does not show."""
    rows = as_pandas(rows)
    if isinstance(rows, pd.DataFrame):
        return rows
    if isinstance(rows, Mapping | bytes) or not isinstance(rows, Iterable):
        raise UsageError(f"rows= must be a frame with a column 'to', or E.164 numbers, got {shown(rows)}")
    return Numbers([rows] if isinstance(rows, str) else rows)


def _numbers(rows: pd.DataFrame | Sequence[str] | str) -> list[str]:
    if isinstance(rows, pd.DataFrame):
        if "to" not in rows.columns:
            raise UsageError("rows= is a frame without a column 'to'; pass campaign.in_doubt, or a part of it")
        found = rows["to"].tolist()
    else:
        found = [rows] if isinstance(rows, str) else list(rows)
    wrong = [number for number in found if not (isinstance(number, str) and number[:1] == "+" and number[1:].isdigit())]
    if wrong:
        raise UsageError(
            f"rows= needs E.164 numbers; {len(wrong)} of {len(found)} are none, such as {mask(str(wrong[0]))}"
        )
    return [number[1:] for number in found]
