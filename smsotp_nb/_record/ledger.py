"""The record of all campaigns of one user or team, and what they decide about them."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

import pandas as pd

from .. import _cards as cards
from .._calling import given as describe
from .._calling import in_our_words, not_callable, not_choice, not_flag, not_path, not_text, refuse
from .._moments import Now, microseconds, utc_now
from .._pandas import STR
from .._results.contract import STATES
from .._services import name_key
from .._showing import said as masked_text
from .._wire import MessageRecord
from ..errors import InDoubt, LedgerError, SmsOtpError, UsageError
from . import cards as overview
from . import frames, leases, passcodes, privacy, recording, revision
from .address import Address, load_driver
from .campaign import CampaignRow, Record, holding
from .leases import Lease
from .locations import check_creation, location_of, no_ledger, not_a_ledger
from .preview import Admit, SendPreview, preview
from .recording import Planned, realm_of
from .revision import Revised
from .run import Account, Run
from .send_rules import SendRules, group_others
from .sqlite_store import SqliteStore
from .store import Ints, Store
from .tables import CAMPAIGN, LIVE, PASSCODE, TEST

if TYPE_CHECKING:
    from .._client import Client
    from .._sandbox import Sandbox

_COMPARED: Final = 1_000  # names, the latest ones, among which the nearest is looked for


class Ledger:
    """The campaign record: which rows were sent, what they cost, and which are in doubt.

    A campaign is known by its name. All live accounts have one campaign of a name between them, so that a new access
    key texts nobody again; each sandbox has its own.

    Args:
        path: the file, or the address of a server's database (``postgresql://...``). By default this user's one
            ledger: what ``SMSOTP_LEDGER`` says, or a file in the user's data folder. A relative path is refused.
        create: begin a record there if there is none. Nothing else does: a new one does not know who was texted.
        accept_older: use the ledger although this user saw requests in it that it lacks, because a copy replaced it;
            or, on a server, although a standby was promoted or a backup restored: once for everybody.
        now: the clock, a function that returns an aware datetime.

    Raises:
        LedgerError: there is none, it is older than when last seen, or cannot be used. The message says what to do.
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
        self.path: Any = location_of(path)
        if create and isinstance(self.path, Path) and not self.path.exists():
            check_creation(self.path)
        self._store = open_store(self.path, create=create, accept_older=accept_older)
        # A server's clock counts for all who use it; another clock is a test's.
        self._clock: Callable[[], int] = self._store.now if now is utc_now else lambda: microseconds(now())
        self.created = self._store.created

    def campaigns(self) -> pd.DataFrame:
        """List the campaigns, one row each, the earliest first; passcodes are one row a month.

        Columns: ``service, campaign, kind`` (str: campaign, test, passcode), ``created_at`` (UTC), ``rows`` (Int64),
        then the rows by state (Int64), ``realm`` (str: live, or a sandbox's id) and ``purged`` (bool).

        Example:
            >>> import tempfile, pathlib
            >>> list(Ledger(pathlib.Path(tempfile.mkdtemp()) / "l.sqlite", create=True).campaigns().columns)[:3]
            ['service', 'campaign', 'kind']
        """
        with self._store.reading() as tx:
            every = CampaignRow.read(tx, "id IS NOT NULL")
            counted = tx.rows("SELECT campaign, state, count(*) FROM recipient GROUP BY campaign, state")
            left_out = dict(tx.rows("SELECT id, skipped FROM campaign"))
        by_state: dict[int, list[int]] = {row.number: [0] * len(STATES) for row in every}
        for campaign, state, rows in counted:
            by_state[campaign][state] = rows
        values = []
        months: dict[tuple[str, str], int] = {}
        for row in every:
            states = by_state[row.number]
            states[-1] += sum(json.loads(left_out[row.number]).values())
            month = months.get((row.realm, row.name)) if row.kind == PASSCODE else None
            if month is not None:
                values[month][4:-2] = [a + b for a, b in zip(values[month][4:-2], [sum(states), *states], strict=True)]
                continue
            if row.kind == PASSCODE:
                months[row.realm, row.name] = len(values)
            values.append(
                [row.service, row.name, row.kind, row.created, sum(states), *states, row.realm, row.purged]
            )
        types = {
            **dict.fromkeys(("service", "campaign", "kind"), STR), "created_at": frames.TIME, "rows": "Int64",
            **dict.fromkeys(STATES, "Int64"), "realm": STR, "purged": "bool",
        }  # fmt: skip
        return frames.frame_of([tuple(row) for row in values], types)

    def audit(self) -> pd.DataFrame:
        """Return who decided what, one row a decision, the earliest first. It names no recipient.

        Returns:
            ``at`` (UTC); ``who``: user and machine, on a server after the name by which it let them in; ``what``:
            recorded, sending, corrected, extended, suppressed, withdrawn, found (not) accepted, to retry, purged, opted
            out, opted in, forgotten, retention, imported, older ledger (or database) accepted; ``campaign, reason``
            (str); ``rows`` (Int64): how many recipients or people it was about.

        Example:
            >>> import tempfile, pathlib
            >>> ledger = Ledger(pathlib.Path(tempfile.mkdtemp()) / "l.sqlite", create=True)
            >>> _ = ledger.retain("24 months")
            >>> ledger.audit()[["what", "reason"]].values.tolist()
            [['retention', '24 months']]
        """
        with self._store.reading() as tx:
            return frames.events(tx)

    @in_our_words
    def record(self, name: str, client: Client | Sandbox | None = None, *, service: str | None = None) -> Record:
        """Return what is recorded of a campaign, by its name: the live one, or else the latest rehearsal.

        Its card says which. Under the name of a campaign that was never sent it is the latest test message.

        Args:
            name: the campaign's name.
            client: a Client or a Sandbox, whose campaign is wanted.
            service: the id of a service in place of a client.

        Raises:
            UsageError: there is none; the message names the nearest.

        Example:
            >>> import tempfile, pathlib
            >>> Ledger(pathlib.Path(tempfile.mkdtemp()) / "l.sqlite", create=True).record("autumn")
            Traceback (most recent call last):
            smsotp_nb.errors.UsageError: no campaign 'autumn' in the ledger; it holds none yet, send records them
        """
        if not isinstance(name, str):
            raise UsageError(f"the name of a campaign must be text, got {describe(name)}")
        hint = "; it is the id of one, such as client.service"
        refuse(None if service is None else not_text("service", service, hint=hint))
        if client is not None:
            service = service_of(client, what="record")
        with self._store.reading() as tx:
            found = _by_meaning(CampaignRow.read(tx, "name_key=?", (name_key(name),)))
            realm = None if service is None else realm_of(service)
            mine = [row for row in found if realm in (None, row.realm)]
            if not mine:
                names = tx.rows("SELECT name FROM campaign GROUP BY name ORDER BY max(id) DESC LIMIT ?", (_COMPARED,))
                raise UsageError(_unknown(name, [known for (known,) in names], found))
        return Record(self, mine[0], tuple(row for row in found if row != mine[0]))

    def _everything(self) -> list[CampaignRow]:
        """Return everything recorded: campaigns, messages to oneself and passcodes."""
        with self._store.reading() as tx:
            return CampaignRow.read(tx, "id IS NOT NULL")

    def _record(self, campaign: CampaignRow) -> Record:
        return Record(self, campaign)

    @in_our_words
    def _names(self, *, service: str) -> list[str]:
        sql = f"SELECT name FROM campaign WHERE realm=? AND kind='{CAMPAIGN}' AND purged=0 ORDER BY id DESC"
        return [name for (name,) in self._store.rows(sql, (realm_of(service),))]

    @in_our_words
    def _knows(self, name: str, *, service: str) -> bool:
        return self._find(service, name) is not None

    def _find(self, service: str, name: str) -> int | None:
        with self._store.reading() as tx:
            return recording.find(tx, realm_of(service), name)

    @in_our_words
    def _prospect(
        self,
        plan: Planned,
        *,
        service: str | None = None,
        repeat_text: bool = False,
        revised: bool = False,
        admit: Admit | None = None,
    ) -> SendPreview:
        """Return what the next send does with each row of a plan, if nothing fails. Nothing is recorded.

        Without ``service`` it is a send to a live account.
        """
        return preview(
            self._store,
            plan,
            realm=None if service is None else realm_of(service),
            repeat_text=repeat_text,
            now=self._clock(),
            ledger=self._in_code,
            revised=revised,
            admit=admit,
        )

    @property
    def _in_code(self) -> str:
        """The argument that names this ledger in a line of code; nothing for this user's own."""
        with contextlib.suppress(SmsOtpError):
            if self.path == location_of(None):
                return ""
        spelled = repr(str(self.path))
        # An address leaves out options, and in an error what looks like a number is masked.
        is_exact = isinstance(self.path, Path) and masked_text(spelled) == spelled
        return f", ledger={spelled}" if is_exact else ", ledger=ledger"

    @in_our_words
    def _account(self, name: str, *, service: str) -> Account:
        """Return what a campaign tried and was billed; of one that is not recorded nothing."""
        return Account(self._store, self._find(service, name))

    @in_our_words
    def _begin(
        self,
        plan: Planned,
        *,
        service: str,
        kind: str = CAMPAIGN,
        repeat_text: bool = False,
        opt_outs: Ledger | None = None,
    ) -> Run:
        """Record a plan, or resume a recorded campaign, and hold it until the run is closed.

        ``opt_outs`` is another ledger whose opt-outs count, too, and are only read: the user's own, for a rehearsal.

        Raises:
            CampaignLockedError: another process or call runs it.
            PlanChanged: the plan is not the recorded one.
        """
        store = self._store
        campaign = self._find(service, plan.campaign) if kind == CAMPAIGN else None
        if campaign is None:
            campaign = recording.record(store, plan, service=service, kind=kind, now=self._clock())
        lease = Lease(campaign, plan.campaign)
        with store.writing() as tx:
            recovered = leases.take(
                tx, lease, clock=store.now(), now=self._clock(), one_machine=store.one_machine
            )
        try:
            revision.check_plan(store, campaign, plan, now=self._clock(), ledger=self._in_code)
            rules = SendRules(realm_of(service))
            if kind == CAMPAIGN:
                own, other = plan._held.others
                others = group_others(store.persons(own), store.persons(other))
                rules = SendRules.of(plan._policy, realm=realm_of(service), repeat_text=repeat_text, others=others)
            out = None if opt_outs is None else _opted_out_in(opt_outs, plan, store)
            run = Run(
                store, lease, plan, clock=self._clock, service=service, rules=rules, also_opted_out=out,
                recovered=recovered,
            )  # fmt: skip
        except BaseException:
            store.submit([lease.released()], durable=False)
            raise
        run.in_code = self._in_code
        return run

    @in_our_words
    def _revise(self, plan: Planned, *, service: str, reason: str, missing: str = "refuse") -> Revised:
        """Let what has not left of a service's campaign follow another plan, see `smsotp_nb.revise`."""
        refuse(not_text("reason", reason), not_choice("missing", missing, ["refuse", "withdraw"]))
        if not isinstance(plan, Planned):
            raise UsageError(f"plan= must be a Plan, what plan(...) returns, got {describe(plan)}")
        campaign = self._find(service, plan.campaign)
        if campaign is None:
            raise UsageError(
                f"campaign {plan.campaign!r} is not recorded for this service yet, so there is nothing to revise; "
                "send(plan, client) begins it"
            )
        with holding(self, campaign, plan.campaign), self._store.writing() as tx:
            name, purged = tx.rows("SELECT name, purged FROM campaign WHERE id=?", (campaign,))[0]
            if name != plan.campaign:
                raise UsageError(f"the plan is of campaign {plan.campaign!r}, and this is {name!r}")
            if purged:
                raise LedgerError(f"campaign {name!r} was purged: it is no longer known whom it texted")
            return revision.revise(
                self._store, tx, campaign, plan, reason=reason, missing=missing, now=self._clock()
            )

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
        refuse(not_path("path", path, example="'backup.sqlite'"))
        if not isinstance(self._store, SqliteStore):
            raise LedgerError("a ledger on a server is backed up there, such as with pg_dump. Nothing was written")
        target = Path(path).expanduser().absolute()
        self._store.backup(target)
        return target

    @in_our_words
    def import_from(self, path: str | Path) -> pd.DataFrame:
        """Take over the ledger in a file into this one, which is on a server; the file is closed for good.

        Campaigns, opt-outs and all else come along in one transaction. A call that was cut off has changed nothing, or
        is ended by calling it again.

        Returns:
            ``what`` (str: campaigns, recipients, and so on) and ``rows`` (Int64) of what was taken over.

        Raises:
            UsageError: this ledger is in a file. CampaignLockedError: a campaign of the file is running.
            LedgerError: the file went to another server, or both have a campaign of one name. Nothing was changed.

        Example:
            >>> import tempfile, pathlib
            >>> Ledger(pathlib.Path(tempfile.mkdtemp()) / "l.sqlite", create=True).import_from("ledger.sqlite")
            Traceback (most recent call last):
            smsotp_nb.errors.UsageError: only a ledger on a server takes over one in a file
        """
        if not isinstance(self.path, Address):
            raise UsageError("only a ledger on a server takes over one in a file")
        refuse(not_path("path", path, example="'ledger.sqlite'"))
        from .moving import move

        location = location_of(str(Path(path).expanduser().absolute()))
        assert isinstance(location, Path)
        source = SqliteStore(location, moving=True)
        with contextlib.closing(source):
            moved = move(source, self._store, now=self._clock())
        with self._store.writing() as tx:
            self._store.read_identity(tx)
        return frames.frame_of(list(moved.items()), {"what": STR, "rows": "Int64"})

    @in_our_words
    def retain(self, age: str) -> pd.DataFrame:
        """Purge campaigns and tests of which nothing was recorded for so long; return them, one row each.

        It deletes only when it is called. The ledger keeps the age, and its card says what has come due since. What
        people said about being texted (`People`) stays.

        Args:
            age: a whole number with a unit: days, weeks, months or years, such as ``"24 months"``.

        Returns:
            ``campaign, service, kind`` (str: campaign, test or passcode), ``latest`` (UTC: its latest request, else
            when it was recorded), ``rows`` (Int64) and ``purged`` (bool; False for a campaign that is running).

        Raises:
            UsageError: it is no age.

        Example:
            >>> import tempfile, pathlib
            >>> ledger = Ledger(pathlib.Path(tempfile.mkdtemp()) / "l.sqlite", create=True)
            >>> len(ledger.retain("24 months"))
            0
        """
        return privacy.retain(self, age)

    @property
    def _files(self) -> list[Path]:
        """The files of the ledger, which nothing may be written over; none if it is on a server."""
        if not isinstance(self.path, Path):
            return []
        return [self.path, *(self.path.with_name(self.path.name + end) for end in ("-wal", "-shm"))]

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def card(self) -> cards.Card:
        """Return the ledger as a card: its path, a line for each campaign, latest first, how long numbers are kept.

        Example:
            >>> import tempfile, pathlib
            >>> print(Ledger(pathlib.Path(tempfile.mkdtemp()) / "l.sqlite", create=True).card().state)
            No campaign is recorded yet.
        """
        return overview.of_ledger(
            self.path, self.campaigns(), privacy.retention_line(self._store, self._clock())
        )

    def __repr__(self) -> str:
        return f"Ledger({str(self.path)!r})"

    def _repr_html_(self) -> str:
        return self.card().html()


LedgerOrPath = Ledger | str | Path | Address


def open_store(location: Path | Address, *, create: bool = False, accept_older: bool = False) -> Store:
    """Open the record at a place."""
    if isinstance(location, Path):
        if not create and not location.exists():
            raise no_ledger(location) if location == _default() else LedgerError(
                f"ledger not found: {location}. A new ledger does not know who was texted. Next: correct the path, or, "
                f"to begin a record there, call sms.Ledger({str(location)!r}, create=True)"
            )
        return SqliteStore(location, create=create, accept_older=accept_older)
    load_driver()
    from .postgres_store import PostgresStore  # the driver is an extra

    return PostgresStore(location, create=create, accept_older=accept_older)


def _default() -> Path | Address | None:
    with contextlib.suppress(SmsOtpError):
        return location_of(None)
    return None


def _by_meaning(found: list[CampaignRow]) -> list[CampaignRow]:
    """Return the campaigns of a name, one of each realm, first the one that is meant where nobody says whose.

    A live one comes before rehearsals, a campaign before tests and passcodes, what is not purged before what is, and
    the latest before the others.
    """
    order = {CAMPAIGN: 0, PASSCODE: 1, TEST: 2}
    found = sorted(found, key=lambda row: (row.realm != LIVE, order[row.kind], row.purged, -row.number))
    of_realm: dict[str, CampaignRow] = {}
    for row in found:
        of_realm.setdefault(row.realm, row)
    return list(of_realm.values())


def _unknown(name: str, names: list[str], of_others: list[CampaignRow]) -> str:
    """Return in words that a campaign is not recorded, or only in other realms, and which are nearest by name."""
    if of_others:
        return (
            f"campaign {name!r} is not recorded for this service, and is for {cards.counted(len(of_others), 'other')}; "
            f"without a client, record({name!r}) gives the live one or the latest rehearsal"
        )
    by_key = {name_key(known): known for known in names}
    near = get_close_matches(name_key(name), by_key, n=3)
    if near:
        return f"no campaign {name!r} in the ledger; did you mean {' or '.join(repr(by_key[key]) for key in near)}?"
    shown = ", ".join(map(repr, names[:3]))
    if names[3:]:
        shown += " and more, see ledger.campaigns()"
    return f"no campaign {name!r} in the ledger; it holds {shown or 'none yet, send records them'}"


def _opted_out_in(other: Ledger, plan: Planned, store: Store) -> Ints:
    """Return those of a plan who are opted out in another ledger, by the keys of this one."""
    people = recording.PlannedPeople.of(other._store, plan)
    out = {person for (person,) in other._store.rows("SELECT person FROM opted_out")}
    is_out = [person in out for person in people.person.tolist()]
    return store.persons(recording.digits(people.rows["to"][is_out]))


def service_of(client: object, *, what: str) -> str:
    """Return the id of the service of a Client or a Sandbox; ``what`` needs it, as an error says."""
    service = getattr(client, "service", None)
    if not isinstance(service, str):
        raise UsageError(f"{what} needs a Client or a Sandbox, got {describe(client)}; Sandbox() is one to try")
    return service


@contextlib.contextmanager
def opened(ledger: object) -> Iterator[Ledger]:
    """Give a ledger for the length of a block: one that was passed stays open, one of a path is closed.

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
        yield ledger
        return
    if ledger is not None and not isinstance(ledger, (str, Path, Address)):
        raise not_a_ledger(ledger)
    with Ledger(ledger) as own:
        yield own


