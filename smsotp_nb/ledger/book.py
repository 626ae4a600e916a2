"""The record of all campaigns of one user, and what a person may say of them."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Self

import numpy as np
import pandas as pd

from .. import cards, results
from ..errors import CampaignHeld, LedgerError, UsageError
from ..results import STATES
from ..settings import ledger_path
from ..wire import Numbers, mask
from . import overview, reading
from .lock import RunLock
from .overview import state_line
from .recording import Planned, difference, purge, record
from .run import OWNER_DIED, Run, give_up
from .schema import ACCEPTED, IN_DOUBT, PLANNED, REJECTED, SENDING, Store, runs

REHEARSAL = "sandbox:"  # services of this kind text nobody


class Ledger:
    """The campaign record: which row was sent, what it cost, and of which nobody knows.

    A campaign is known by its service and its name, so a rehearsal never stands in the way of the real send.

    Args:
        path: the file; without it this user's one ledger (``SMSOTP_LEDGER``, or a file in the user's data folder).
        now: microseconds since 1970, for tests.

    Raises:
        LedgerError: the file cannot be used; says why and what to do. UsageError: this is no path.

    Example:
        >>> import tempfile, pathlib
        >>> ledger = Ledger(pathlib.Path(tempfile.mkdtemp()) / "ledger.sqlite")
        >>> len(ledger.campaigns())
        0
    """

    def __init__(
        self, path: str | Path | None = None, *, now: Callable[[], int] = lambda: time.time_ns() // 1000
    ) -> None:
        if path is not None and not isinstance(path, str | Path):
            raise UsageError(f"a Ledger opens a path, got {type(path).__name__}; without one it is this user's ledger")
        self.path = Path(path).expanduser().absolute() if path is not None else ledger_path()
        self._store, self._now = Store(self.path), now
        self.created = self._store.created

    def campaigns(self) -> pd.DataFrame:
        """Return one row for each campaign: service, campaign, kind, created_at, rows, then its rows by state (Int64).

        Example:
            >>> import tempfile, pathlib
            >>> list(Ledger(pathlib.Path(tempfile.mkdtemp()) / "l.sqlite").campaigns().columns)[:3]
            ['service', 'campaign', 'kind']
        """
        with self._store.reading() as connection:
            found = connection.execute(
                "SELECT id, service, name, kind, created_at, rows FROM campaign ORDER BY id"
            ).fetchall()
        frame = pd.DataFrame(found, columns=["id", "service", "campaign", "kind", "created_at", "rows"])
        frame = frame.astype({"service": "str", "campaign": "str", "kind": "str", "rows": "Int64"})
        frame["created_at"] = pd.to_datetime(frame["created_at"].astype("Int64"), unit="us", utc=True)
        by_state = [reading.counts(self._store, number) for number in frame.pop("id")]
        return frame.join(pd.DataFrame(by_state, columns=list(STATES), index=frame.index, dtype="Int64"))

    def campaign(self, name: str, *, service: str | None = None) -> Campaign:
        """Return one campaign by its name; ``service`` is needed only where several services have one of that name.

        Raises:
            UsageError: there is none, or there are several; names what there is.

        Example:
            >>> import tempfile, pathlib
            >>> Ledger(pathlib.Path(tempfile.mkdtemp()) / "l.sqlite").campaign("autumn")
            Traceback (most recent call last):
            smsotp_nb.errors.UsageError: no campaign 'autumn' in the ledger; it holds none yet
        """
        with self._store.reading() as connection:
            found = connection.execute(
                "SELECT id, service, kept FROM campaign "
                "WHERE name=? AND kind='campaign' AND service=coalesce(?, service)",
                (name, service),
            ).fetchall()
            names = [row[0] for row in connection.execute("SELECT DISTINCT name FROM campaign WHERE kind='campaign'")]
        if not found:
            held = "it holds " + (", ".join(map(repr, names[:10])) or "none yet")
            raise UsageError(f"no campaign {name!r} in the ledger; {held}")
        if len(found) > 1:
            services = ", ".join(repr(row[1]) for row in found)
            raise UsageError(f"several services have a campaign {name!r}; pass service= one of {services}")
        number, owner, kept = found[0]
        return Campaign(self, self._store, number, name, owner, tuple(json.loads(kept)))

    def knows(self, name: str, *, service: str) -> bool:
        """Say whether a campaign is recorded.

        Example:
            >>> import tempfile, pathlib
            >>> Ledger(pathlib.Path(tempfile.mkdtemp()) / "l.sqlite").knows("autumn", service="sandbox:a")
            False
        """
        return self._find(service, name) is not None

    def begin(self, plan: Planned, *, service: str, kind: str = "campaign") -> Run:
        """Record a plan, or take up the campaign where it stands, and hold it until the run is closed.

        Raises:
            CampaignHeld: another process or call runs it. PlanChanged: the plan is not the one recorded.
            LedgerError: people were texted under this name already, by another live account or address.
        """
        number = self._find(service, plan.campaign) if kind == "campaign" else None
        if number is None and kind == "campaign":
            self._refuse_another_account(service, plan.campaign)
        if number is None:
            number = record(self._store, plan, service=service, kind=kind, now=self._now())
        lock = self._lock(number, plan.campaign)
        try:
            self._same_plan(number, plan)
            return Run(self._store, number, lock, now=self._now)
        except BaseException:
            lock.release()
            raise

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def card(self) -> cards.Card:
        """Return the ledger as a card: where it is, and a line for each campaign, the latest first.

        Example:
            >>> import tempfile, pathlib
            >>> print(Ledger(pathlib.Path(tempfile.mkdtemp()) / "l.sqlite").card().state)
            No campaign is recorded yet.
        """
        return overview.of_ledger(self.path, self.campaigns())

    def __repr__(self) -> str:
        return f"Ledger({str(self.path)!r})"

    def _repr_html_(self) -> str:
        return self.card().html()

    def _lock(self, number: int, name: str) -> RunLock:
        return RunLock(runs(self.path) / str(number), name)

    def _refuse_another_account(self, service: str, name: str) -> None:
        """Refuse a name under which another live service texted people: a new key must not text them again."""
        if service.startswith(REHEARSAL):
            return
        with self._store.reading() as connection:
            found = connection.execute(
                "SELECT c.service, count(*) FROM campaign c JOIN fate f ON f.campaign=c.id WHERE c.name=? "
                "AND c.kind='campaign' AND substr(c.service, 1, ?)<>? AND f.state IN (?, ?, ?) GROUP BY c.id",
                (name, len(REHEARSAL), REHEARSAL, SENDING, ACCEPTED, IN_DOUBT),
            ).fetchall()
        if found:
            other, rows = found[0]
            raise LedgerError(
                f"campaign {name!r} texted {rows:,} recipients already, recorded under another key, variant or address "
                f"({other}). Nothing was sent. If this is the same campaign, go on with Settings(..., "
                f"service={other!r}); if it is a new one, choose another campaign name"
            )

    def _find(self, service: str, name: str) -> int | None:
        with self._store.reading() as connection:
            found = connection.execute(
                "SELECT id FROM campaign WHERE service=? AND name=? AND kind='campaign'", (service, name)
            ).fetchone()
        return found[0] if found else None

    def _same_plan(self, number: int, plan: Planned) -> None:
        with self._store.reading() as connection:
            known, purged = connection.execute(
                "SELECT fingerprint, purged FROM campaign WHERE id=?", (number,)
            ).fetchone()
        if purged:
            raise LedgerError(
                f"campaign {plan.campaign!r} was purged: who was texted is not known any more, so it is never sent "
                "again. Nothing was sent; choose another campaign name"
            )
        if known != plan.fingerprint:
            raise difference(reading.recorded(self._store, number), plan)


class Campaign:
    """One campaign of a ledger: its rows as a frame, what is in doubt, and what a person says of it.

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
        """Rows by state."""
        self._recover()
        return reading.counts(self._store, self._number)

    @property
    def frame(self) -> pd.DataFrame:
        """The result table as recorded, one row for each row of the plan, indexed by its position."""
        self._recover()
        return reading.campaign_frame(self._store, self._number, name=self.name, service=self.service, names=self._kept)

    @property
    def requests(self) -> pd.DataFrame:
        """One row for each request posted: its verdict, its evidence and the reply's own totals (see ``reading``)."""
        self._recover()
        return reading.requests(self._store, self._number)

    @property
    def numbers(self) -> pd.Series:
        """The E.164 numbers that the campaign set out to text, whatever became of them.

        Raises:
            LedgerError: the campaign was purged, so nobody knows them any more.
        """
        self._refuse_purged()
        frame = reading.recorded(self._store, self._number)
        return frame.loc[frame["body"].notna(), "to"]

    @property
    def reached(self) -> pd.Series:
        """The E.164 numbers whom the campaign may have reached, by position: accepted, in doubt or being sent.

        Raises:
            LedgerError: the campaign was purged, so nobody knows them any more.
        """
        self._refuse_purged()
        return reading.numbers_of(self._store, self._number, (SENDING, ACCEPTED, IN_DOUBT))

    @property
    def in_doubt(self) -> pd.DataFrame:
        """The rows of which nobody knows, with the evidence: phase, http_status, error, started_at, settled_at."""
        self._recover()
        return reading.with_evidence(self._store, self._number, IN_DOUBT)

    @property
    def rejected(self) -> pd.DataFrame:
        """The rows that the service refused, with the evidence."""
        return reading.with_evidence(self._store, self._number, REJECTED)

    def resolve(self, rows: pd.DataFrame | Sequence[str] | str, *, accepted: bool) -> int:
        """Say of rows in doubt that they were accepted, or that they were not and may be sent; return how many.

        Args:
            rows: a frame with a column ``to`` (such as ``in_doubt`` or a part of it), or E.164 numbers.
            accepted: True makes them accepted, False makes them planned: the next ``send`` posts them. Nothing else
                that Python takes for true or false is taken for an answer.

        Raises:
            UsageError: a number is not in doubt in this campaign, or ``accepted`` is neither True nor False; nothing
                was changed. CampaignHeld: it is running.
        """
        if not isinstance(accepted, bool | np.bool_):
            raise UsageError(
                f"accepted= must be True (they got it) or False (they did not, so text them), got {accepted!r}; "
                "nothing was changed"
            )
        self._recover()
        rows = _hidden(rows)
        return self._move(rows, IN_DOUBT, ACCEPTED if accepted else PLANNED)

    def reopen(self, rows: pd.DataFrame | Sequence[str] | str) -> int:
        """Put rejected rows back to planned, so that the next ``send`` posts them; return how many.

        Raises:
            UsageError: a number was not rejected in this campaign; nothing was changed. CampaignHeld: it is running.
        """
        rows = _hidden(rows)
        return self._move(rows, REJECTED, PLANNED)

    def export(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """Write the campaign's frame to a CSV, Excel or Parquet file, as safely as `results.write`; return its path."""
        return results.write(self.frame, path, overwrite=overwrite, inputs=[self._ledger.path])

    def purge(self) -> int:
        """Delete the numbers and everything recorded of them, from the file too; return how many rows went.

        What the campaign cost stays known, in sums that name nobody (`cost.spending`).

        The name stays taken: without the numbers nobody can know who was texted, so it is never sent again.

        Raises:
            CampaignHeld: it is running.
        """
        lock = self._ledger._lock(self._number, self.name)
        try:
            gone = purge(self._store, self._number)
        finally:
            lock.release()
        return gone

    def line(self) -> str:
        """Return the campaign in one line: accepted, in doubt, rejected, to go."""
        return state_line(self.counts)

    def card(self) -> cards.Card:
        """Return the campaign as a card: rows by state, and those in doubt with their evidence, numbers masked."""
        return overview.of_campaign(self.name, self.service, self.counts, self.in_doubt)

    def _repr_html_(self) -> str:
        return self.card().html()

    def __repr__(self) -> str:
        return f"Campaign({self.name!r} on {self.service}: {self.line()})"

    def _refuse_purged(self) -> None:
        with self._store.reading() as connection:
            purged = connection.execute("SELECT purged FROM campaign WHERE id=?", (self._number,)).fetchone()[0]
        if purged:
            raise LedgerError(f"campaign {self.name!r} was purged: whom it texted is not known any more")

    def _recover(self) -> None:
        """Name rows in doubt whose runner is dead, so that who looks before the next ``send`` sees them."""
        if not reading.counts(self._store, self._number)["sending"]:
            return
        try:
            lock = self._ledger._lock(self._number, self.name)
        except CampaignHeld:  # they are under way
            return
        try:
            give_up(self._store, self._number, OWNER_DIED, now=self._ledger._now())
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
                connection.executemany(
                    "UPDATE recipient SET own_state=?, problem=NULL WHERE campaign=? AND chunk=? AND position=?",
                    [(after, self._number, *places[number]) for number in wanted],
                )
        finally:
            lock.release()
        return len(wanted)


def _hidden(rows: pd.DataFrame | Sequence[str] | str) -> pd.DataFrame | Sequence[str]:
    """Return rows as they are in a frame, else numbers that a traceback does not show."""
    return rows if isinstance(rows, pd.DataFrame) else Numbers([rows] if isinstance(rows, str) else rows)


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
