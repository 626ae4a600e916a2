"""The record of all campaigns of one user, and what that user decides about them."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import pandas as pd

from .. import _cards as cards
from .._calling import given as shown
from .._calling import in_our_words, not_callable, not_choice, not_flag, not_path, not_text, refuse
from .._moments import Now, microseconds, utc_now
from .._pandas import STR
from .._results.contract import STATES
from .._services import is_rehearsal
from .._wire import MessageRecord
from ..errors import InDoubt, LedgerError, UsageError
from ..settings import TEMPORARY, ledger_is_chosen
from . import moving
from .campaign import LedgerBase, Record, not_its_plan, service_of
from .file import copies
from .file.store import Store
from .people import purging
from .places import begins, given, not_a_ledger, own_file, path_of, place_of, sealed, store_of
from .reading import cards as overview
from .reading import frames as reading
from .reading import parquet
from .record import approving, beginning, changing, passcodes, recording
from .record.changing import Revised
from .record.recording import Planned
from .rows.columns import TIME, framed
from .rows.damage import understood
from .sending.comparison import Admit, Prospect, Unfinished, prospect, unfinished
from .sending.rules import Rules
from .sending.run import Account, Ownership, Run
from .server.address import Address

if TYPE_CHECKING:
    from .._client import Client
    from ..sandbox import Sandbox

_CALLER = 5  # frames above the warning of a purge


@understood
class Ledger(LedgerBase):
    """The campaign record: which rows were sent, what they cost, and which are in doubt.

    A campaign is identified by its service and its name, so a rehearsal on a sandbox never blocks the real send.

    Args:
        path: the file, or the address of a server's database (``postgresql://...``, docs/guides/team.md). By default
            this user's one ledger: what ``SMSOTP_LEDGER`` says, or a file in the user's data folder, and a file is
            created when it is first used. On a machine that forgets its files, such as a hosted notebook, the first
            live campaign is then refused; ``"temporary"`` says that no record is wanted beyond that machine.
        create: create the file, or the tables on a server, if there are none. Otherwise a file is only created where
            nothing says that there ever was one: not in a folder that is missing or that a machine forgets, nor under
            nearly the name of another ledger, because a mistyped path would open a record in which nobody was texted.
        accept_older: use the file although this user has last seen it with more in it, because a backup replaced it.
            What it lacks is then unknown. Of a ledger on a server, that a standby was promoted or a backup restored:
            once for everybody, and `audit` says by whom.
        now: the clock, a function that returns an aware datetime.

    Raises:
        LedgerError: the file is not there any more, is damaged, is older than when last seen, or cannot be used. The
            message says why and what to do.
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
        path: str | Path | Address | None = None,
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
        place, path = sealed(path), None
        create = create or begins(place)
        self.path: Any = place_of(place, create=create)
        self._is_default = place is None and not ledger_is_chosen()
        new = create or (place in (None, TEMPORARY) and isinstance(self.path, Path))
        self._store = store_of(self.path, create=new, accept_older=accept_older)
        self._clock: Callable[[], int] = lambda: microseconds(now())
        self.created = self._store.created
        with contextlib.suppress(LedgerError):  # in use: it stays noted, and the card says so
            if purging.remains(self._store):
                purging.overwrite(self._store)

    def campaigns(self) -> pd.DataFrame:
        """List the campaigns, one row each: service, campaign, kind, created_at, rows, then the rows by state
        (Int64; missing of a purged campaign, whose rows are gone).

        Example:
            >>> import tempfile, pathlib
            >>> list(Ledger(pathlib.Path(tempfile.mkdtemp()) / "l.sqlite", create=True).campaigns().columns)[:3]
            ['service', 'campaign', 'kind']
        """
        found = self._store.asked("SELECT id, service, name, kind, created_at, rows, purged FROM campaign ORDER BY id")
        text = dict.fromkeys(("service", "campaign", "kind"), STR)
        frame = framed(found, {"id": "int64", **text, "created_at": TIME, "rows": "Int64", "purged": "bool"})
        numbers = zip(frame.pop("id"), frame.pop("purged"), strict=True)
        by_state = [{} if purged else reading.counts(self._store, number) for number, purged in numbers]
        return frame.join(pd.DataFrame(by_state, columns=list(STATES), index=frame.index, dtype="Int64"))

    def audit(self) -> pd.DataFrame:
        """Return who decided what, one row a decision, the earliest first. It names no recipient.

        Returns:
            ``at`` (UTC); ``who``: user and machine, on a server after the name by which it let them in; ``what``:
            recorded, sending, corrected, extended, suppressed, withdrawn, approved, approval (no longer) required,
            found (not) accepted, to retry, purged (in doubt), opted out, opted in, forgotten, retention, imported,
            older database accepted; ``service, campaign, reason`` (str; the reasons of a purged campaign are gone);
            ``rows`` (Int64): how many recipients or people it was about.

        Example:
            >>> import tempfile, pathlib
            >>> ledger = Ledger(pathlib.Path(tempfile.mkdtemp()) / "l.sqlite", create=True)
            >>> _ = ledger.retain("24 months")
            >>> ledger.audit()[["what", "reason"]].values.tolist()
            [['retention', '24 months']]
        """
        found = self._store.asked(
            "SELECT d.at, d.who, d.what, k.service, k.name, d.rows, d.reason FROM decision d "
            "LEFT JOIN campaign k ON k.id=d.campaign ORDER BY d.id"
        )
        text = dict.fromkeys(("who", "what", "service", "campaign"), STR)
        return framed(found, {"at": TIME, **text, "rows": "Int64", "reason": STR})

    @in_our_words
    def record(self, name: str, client: Client | Sandbox | None = None, *, service: str | None = None) -> Record:
        """Return what is recorded of a campaign, by its name.

        Where several services have a campaign of that name, such as sandboxes on which it was rehearsed, it is the one
        of the live service, or else the latest rehearsal; its card says which. A client names another.

        Under the name of a campaign that was never sent it is the latest test message, which can be looked at and
        purged, and the others with it.

        Args:
            name: the campaign's name.
            client: a Client or a Sandbox, whose campaign is wanted.
            service: the id of a service in place of a client, as in the column of that name.

        Raises:
            UsageError: there is none; the message names the nearest.

        Example:
            >>> import tempfile, pathlib
            >>> Ledger(pathlib.Path(tempfile.mkdtemp()) / "l.sqlite", create=True).record("autumn")
            Traceback (most recent call last):
            smsotp_nb.errors.UsageError: no campaign 'autumn' in the ledger; it holds none yet, send records them
        """
        if not isinstance(name, str):
            raise UsageError(f"the name of a campaign must be text, got {shown(name)}")
        which = "; it is the id of one, such as client.service"
        refuse(None if service is None else not_text("service", service, hint=which))
        if client is not None:
            service = service_of(client, what="record")
        with self._store.reading() as connection:
            found = reading.named_so(connection, name)
            mine = [one for one in found if service in (None, one.service)]
            if not mine:
                raise UsageError(reading.unknown(connection, name, found))
        it = mine[-1]
        others = tuple(one.service for one in found if one != it)
        return Record(self, self._store, it, others)

    def _everything(self) -> list[tuple[str, reading.Named]]:
        """Return the kind of everything recorded, and what it is: campaigns, messages to oneself and passcodes."""
        sql = "SELECT kind, id, service, kept, name, created_at FROM campaign ORDER BY id"
        return [(kind, reading.Named(*row)) for kind, *row in self._store.asked(sql)]

    def _record(self, it: reading.Named) -> Record:
        return Record(self, self._store, it, ())

    @in_our_words
    def _names(self, *, service: str) -> list[str]:
        sql = "SELECT name FROM campaign WHERE service=? AND kind='campaign' AND purged=0 ORDER BY id DESC"
        return [name for (name,) in self._store.asked(sql, (service,))]

    @in_our_words
    def _knows(self, name: str, *, service: str) -> bool:
        return self._find(service, name) is not None

    @in_our_words
    def _prospect(
        self,
        plan: Planned,
        *,
        service: str | None = None,
        repeat_text: bool = False,
        revised: bool = False,
        admit: Admit | None = None,
    ) -> Prospect:
        """Return what the next send does with each row of a plan, if nothing fails. Nothing is recorded.

        Without ``service``, the service of the latest campaign of this name is used, else that of the latest campaign.
        ``revised``: as if the recorded campaign had followed the plan before (`smsotp_nb.revise`). ``admit`` says
        which of the rows that may go the limits of the send admit.
        """
        return prospect(
            self._store,
            plan,
            service=service,
            repeat_text=repeat_text,
            now=self._clock(),
            revised=revised,
            admit=admit,
        )

    @in_our_words
    def _account(self, name: str, *, service: str) -> Account:
        """Return what a campaign tried and was billed; of one that is not recorded nothing."""
        return Account(self._store, self._find(service, name))

    @in_our_words
    def _unfinished(self, plan: Planned, *, service: str) -> list[Unfinished]:
        """Return the other campaigns of this service that are not finished and have people of a plan, latest first.

        Those people would be texted by both. Campaigns that rested for more than seven days do not count.
        """
        own = self._find(service, plan.campaign)
        return unfinished(self._store, plan, campaign=own, service=service, now=self._clock())

    @in_our_words
    def _begin(self, plan: Planned, *, service: str, kind: str = "campaign", repeat_text: bool = False) -> Run:
        """Record a plan, or resume a recorded campaign, and hold it until the run is closed.

        Raises:
            CampaignHeld: another process or call runs it.
            PlanChanged: the plan is not the recorded one.
            LedgerError: another live account or address has already texted people under this name.
        """
        self._refuse_lent(service)
        number, ownership = None, None
        if kind == "campaign":
            ownership = None if is_rehearsal(service) else Ownership(plan.campaign, service)
            with self._store.reading() as connection:
                beginning.refuse_unknown_kinds(connection)
                if ownership is not None:
                    ownership.check(connection)
            number = self._find(service, plan.campaign)
        if number is None:
            number = recording.record(self._store, plan, service=service, kind=kind, now=self._clock())
        lock = self._store.lock(number, plan.campaign)
        try:
            with self._store.reading() as connection:
                beginning.refuse_contradicted(connection, number)
            beginning.agree(self._store, number, plan, now=self._clock())
            self._end_dead_ones(number)
            rules = Rules()
            if kind == "campaign":
                rules = Rules.of(
                    plan._policy, campaign=plan.campaign, repeat_text=repeat_text, others=plan._held.others
                )
            return Run(self._store, number, lock, clock=self._clock, service=service, rules=rules, ownership=ownership)
        except BaseException:
            lock.release()
            raise

    @in_our_words
    def _revise(self, plan: Planned, *, service: str, reason: str, missing: str = "refuse") -> Revised:
        """Let what has not left of a service's campaign follow another plan, see `smsotp_nb.revise`."""
        refuse(not_text("reason", reason), not_choice("missing", missing, ["refuse", "withdraw"]))
        if not self._knows(plan.campaign, service=service):
            raise UsageError(
                f"campaign {plan.campaign!r} is not recorded for this service yet, so there is nothing to revise; "
                "send(plan, client) begins it"
            )
        record = self.record(plan.campaign, service=service)
        refuse(not_its_plan(plan, record.name))
        record._refuse_purged()
        with self._holding(record._number, record.name), self._store.deciding() as connection:
            now = self._clock()
            return changing.revise(connection, record._number, plan, reason=reason, missing=missing, now=now)

    @in_our_words
    def _record_passcode(
        self, record: MessageRecord, *, service: str, request_id: str | None, lost: InDoubt | None = None
    ) -> None:
        """Record what a passcode cost that was sent just now, as ``otp.send(ledger=...)`` does; never the passcode.

        Example:
            >>> import tempfile, pathlib
            >>> from smsotp_nb._wire import MessageRecord
            >>> ledger = Ledger(pathlib.Path(tempfile.mkdtemp()) / "ledger.sqlite", create=True)
            >>> sent = MessageRecord(id="1", to="+12025550123", iso="US", cc="1", parts=1, price_micros=7500)
            >>> ledger._record_passcode(sent, service="sandbox:a", request_id=None)
            >>> ledger.campaigns()["kind"].tolist()
            ['passcode']
        """
        now = self._clock()
        passcodes.record_passcode(self._store, record, service=service, request_id=request_id, lost=lost, now=now)

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
        if isinstance(self.path, Address):
            raise LedgerError("a ledger on a server is backed up there, such as with pg_dump; nothing was written")
        return copies.backup(self._store, given(path, create=True), now=self._clock())

    @in_our_words
    def to_parquet(self, folder: str | Path) -> pd.DataFrame:
        """Write all rows of all campaigns to Parquet files, a folder a month, and return a row for each file.

        A later call writes only the campaigns that have changed since, and removes what was purged or forgotten. Each
        file is replaced whole and is its owner's alone. Query when the call has returned. The guide has the columns.

        Returns:
            ``month, service, campaign, file`` (str), ``rows`` (Int64), ``what`` (str: written, unchanged, removed).

        Raises:
            UsageError: the folder cannot be written, or a folder of a month has files of another ledger or program,
                which a query would read; they are named. Other files beside those folders are left alone.

        Example:
            >>> import tempfile, pathlib
            >>> place = pathlib.Path(tempfile.mkdtemp())
            >>> len(Ledger(place / "l.sqlite", create=True).to_parquet(place / "parquet"))
            0
        """
        refuse(not_path("folder", folder, example="'parquet'"))
        if isinstance(self.path, Address):
            raise LedgerError("a ledger on a server is not written to Parquet; export each campaign instead")
        self._end_dead_ones(0)
        return parquet.export(self._store, Path(folder).expanduser().absolute(), now=self._clock())

    @in_our_words
    def import_from(self, path: str | Path) -> pd.DataFrame:
        """Take over the ledger in a file into this one, which is on a server and empty; the file is closed for good.

        Campaigns, opt-outs, experiments and all else come along, in one transaction, and are compared with the file
        before it is closed. A call that was cut off has changed nothing, or is ended by calling it again. One that is
        refused takes this ledger away again if it was just made, because an empty one does not know who was texted.

        Returns:
            ``what`` (str: campaigns, recipients, and so on) and ``rows`` (Int64) of what was taken over.

        Raises:
            UsageError: this ledger is in a file. CampaignHeld: a campaign of the file is running.
            LedgerError: this ledger is not empty, or the file went to another one. Nothing was changed.

        Example:
            >>> import tempfile, pathlib
            >>> Ledger(pathlib.Path(tempfile.mkdtemp()) / "l.sqlite", create=True).import_from("ledger.sqlite")
            Traceback (most recent call last):
            smsotp_nb.errors.UsageError: only a ledger on a server takes over one in a file
        """
        if not isinstance(self.path, Address):
            raise UsageError("only a ledger on a server takes over one in a file")
        with moving.unmade_if_refused(self._store):
            refuse(not_path("path", path, example="'ledger.sqlite'"))
            source = Store(given(path, create=False), create=False, moving=True)
            with contextlib.closing(source):
                found = moving.move(source, self._store, now=self._clock())
        frame = pd.DataFrame({"what": list(found), "rows": list(found.values())})
        return frame.astype({"what": STR, "rows": "Int64"})

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
        place = own_file() if path is None else given(path, create=True)
        kept = copies.restore(given(backup, create=True), place, accept_older=accept_older)
        ledger = cls(place, accept_older=accept_older)
        if kept is not None:
            copies.note(ledger._store, kept, "replaced file", now=ledger._clock())
            copies.take_over(ledger._store, kept)
        return ledger

    @in_our_words
    def retain(self, age: str) -> pd.DataFrame:
        """Purge campaigns, tests and experiments of which nothing was recorded for so long; return them, one row each.

        It deletes only when it is called. The ledger keeps the age, and its card says what has come due since. What
        people said about being texted (`People`) stays.

        Args:
            age: a whole number with a unit: days, weeks, months or years, such as ``"24 months"``.

        Returns:
            ``campaign, service, kind`` (str: campaign, test, passcode or experiment, which has no service), ``latest``
            (UTC: its latest request, else when it was recorded), ``rows`` (Int64) and ``purged`` (bool; False for a
            campaign that is running).

        Raises:
            UsageError: it is no age.

        Example:
            >>> import tempfile, pathlib
            >>> ledger = Ledger(pathlib.Path(tempfile.mkdtemp()) / "l.sqlite", create=True)
            >>> len(ledger.retain("24 months"))
            0
        """
        moment = purging.before(age, self._clock())
        purging.decide(self._store, age, now=self._clock())
        found = purging.older(self._store, moment)
        purged = map(self._purged, found["id"], found["campaign"], found["kind"])
        found["purged"] = pd.Series(list(purged), dtype="bool")
        if found["purged"].any():
            purging.warn_of_unreached(self._store, above=_CALLER)
        return found.drop(columns="id")

    @in_our_words
    def require_approval(self, required: bool = True, *, reason: str | None = None) -> None:
        """Let no campaign be sent that only its author has approved, or no longer ask for that.

        It holds from the next request on, for every client. ``send`` then records a campaign and leaves its rows
        planned, with the problem NOT_APPROVED, until another person calls `Record.approve`. Messages to oneself and
        passcodes need none.

        Args:
            required: False switches it off.
            reason: for the record (`audit`).

        Example:
            >>> import tempfile, pathlib
            >>> ledger = Ledger(pathlib.Path(tempfile.mkdtemp()) / "l.sqlite", create=True)
            >>> ledger.require_approval(reason="as agreed with legal")
            >>> ledger.audit()["what"].tolist()
            ['approval required']
        """
        refuse(not_flag("required", required), None if reason is None else not_text("reason", reason))
        approving.require(self._store, required=required, reason=reason, now=self._clock())

    @functools.cached_property
    def _reader(self) -> Store:
        return store_of(self.path, create=False)

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        self._store.close()
        if "_reader" in vars(self):
            self._reader.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def card(self) -> cards.Card:
        """Return the ledger as a card: its path, a line for each campaign, latest first, how long numbers are kept, and
        which copies no deletion reaches.

        Example:
            >>> import tempfile, pathlib
            >>> print(Ledger(pathlib.Path(tempfile.mkdtemp()) / "l.sqlite", create=True).card().state)
            No campaign is recorded yet.
        """
        unreached = "; ".join(filter(None, (purging.unreached(self._store), self._store.beyond)))
        due = purging.due(self._store, self._clock())
        with self._store.reading() as connection:
            approval = approving.is_required(connection)
        return overview.of_ledger(self.path, self.campaigns(), due, unreached, approval=approval)

    def __repr__(self) -> str:
        return f"Ledger({str(self.path)!r})"

    def _repr_html_(self) -> str:
        return self.card().html()


LedgerOrPath = Ledger | str | Path | Address


def opened(ledger: object, *, begin: bool = False) -> contextlib.AbstractContextManager[Ledger]:
    """Return a ledger for the length of a ``with`` block: one that was given stays open, one of a path is closed.

    With ``begin`` a record may begin at a path that is missing, see `Ledger`; without it there is nothing to read.

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
    if ledger is None or isinstance(ledger, (str, Path, Address)):
        if not begin and isinstance(ledger, (str, Path)):
            path_of(ledger)
        return Ledger(ledger)
    raise not_a_ledger(ledger)


@contextlib.contextmanager
def read_from(ledger: object) -> Iterator[Ledger]:
    """`opened` for a block that works with nothing but what it reads: whatever breaks there is a LedgerError.

    Example:
        >>> import tempfile, pathlib
        >>> with read_from(Ledger(pathlib.Path(tempfile.mkdtemp()) / "ledger.sqlite", create=True)) as ledger:
        ...     len(ledger.campaigns())
        0
    """
    with opened(ledger) as book, book._store.understood():
        yield book
