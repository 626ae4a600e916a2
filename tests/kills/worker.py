"""The campaign that is killed, and ledgers made careless on purpose: with one of them the campaigns must fail."""

from __future__ import annotations

import contextlib
import sqlite3
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from unittest import mock

import psycopg

from smsotp_nb import Ledger, Limits, Plan, Sandbox, send
from smsotp_nb._ledger import Claim, Run, Wanted
from smsotp_nb._ledger.file.store import Store
from smsotp_nb._ledger.rows.tables import PLANNED
from smsotp_nb.errors import SmsOtpWarning
from smsotp_nb.results import Progress

from .people import plan_of, registered


@dataclass(frozen=True, slots=True)
class Work:
    """One campaign: where it is recorded, what it sends where, and how careless its ledger is."""

    ledger: str | Path
    url: str
    plan: Plan
    concurrency: int = 4
    careless: str = ""

    @classmethod
    def of(cls, folder: Path, url: str, *, name: str, rows: int, chunk_size: int, **more: Any) -> Work:
        """Return a campaign whose text is its name, so that the judge can tell it from others."""
        made = _planned(rows, chunk_size, name)
        return cls(folder / f"{name}.sqlite", url, made, **more)

    @property
    def most_claimed(self) -> int:
        """How many requests may be claimed and not settled: on a server the next ones are claimed ahead."""
        return self.concurrency * (1 if isinstance(self.ledger, Path) else 2)

    def run(self, progress: bool | Callable[[Progress], None] = False) -> dict[str, int]:
        """Send it, or go on with it; return its rows by state."""
        with CARELESS[self.careless](), warnings.catch_warnings():
            warnings.simplefilter("ignore", SmsOtpWarning)
            client = Sandbox.at(self.url).client()
            with registered(Ledger(self.ledger, create=True)) as ledger:
                send(
                    self.plan.with_requests(threads=self.concurrency),
                    client=client,
                    ledger=ledger,
                    progress=progress,
                    limits=Limits(stop_after=None),
                )
                return ledger.record(self.plan.campaign).counts


def _planned(rows: int, chunk_size: int, name: str) -> Plan:
    return plan_of(rows, chunk_size=chunk_size, campaign=name, text=name)


def under_way(ledger: str | Path) -> int:
    """Return how many rows stand as being sent, without disturbing what a dead process left behind."""
    return _under_way_on_a_server(ledger) if isinstance(ledger, str) else _under_way_in_a_file(ledger)


def _under_way_on_a_server(address: str) -> int:
    with psycopg.connect(address, autocommit=True) as connection:
        made = connection.execute("SELECT to_regclass('fate') IS NOT NULL").fetchone()
        found = connection.execute("SELECT count(*) FROM fate WHERE state=1").fetchone() if made == (True,) else (0,)
    assert found is not None
    return int(found[0])


def _under_way_in_a_file(path: Path) -> int:
    if not path.with_name(path.name + "-shm").exists():  # killed before its first transaction
        return 0
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)  # a writer would tidy up when it closes
    try:
        if not connection.execute("SELECT 1 FROM sqlite_master WHERE name='fate'").fetchone():
            return 0
        found: int = connection.execute("SELECT count(*) FROM fate WHERE state=1").fetchone()[0]
        return found
    finally:
        connection.close()


@contextlib.contextmanager
def intents_not_synced() -> Iterator[None]:
    """Commit intents with ``synchronous=NORMAL``: safe from kill -9, not from a power cut."""
    writing = Store.writing

    def normal(self: Store, synchronous: str = "FULL") -> Any:
        return writing(self, "NORMAL")

    with mock.patch.object(Store, "writing", normal):
        yield


@contextlib.contextmanager
def intents_after_the_fact() -> Iterator[None]:
    """Record the intent together with the outcome, as a plain record of results does."""
    claim, settle_reply = Run.claim, Run.settle_reply

    def looked_up(self: Run, chunk: int, positions: Any = None, again: Any = None) -> Claim | None:
        with self._store.reading() as connection:
            sql = "SELECT position, '+' || number FROM fate WHERE campaign=? AND chunk=? AND state=?"
            rows = sorted(connection.execute(sql, (self.campaign, chunk, PLANNED)))
            body = connection.execute("SELECT body FROM chunk WHERE campaign=? AND chunk=?", (self.campaign, chunk))
            found = Claim(0, chunk, body.fetchone()[0], tuple(row[0] for row in rows), tuple(row[1] for row in rows))
            return found if rows else None

    def both(self: Run, found: Claim, reply: Any, *, then: Wanted | None = None, **more: Any) -> Claim | None:
        recorded = claim(self, found.chunk)
        settle_reply(self, replace(found, attempt=recorded.attempt if recorded else 0), reply, **more)
        return looked_up(self, then.chunk) if then else None

    with mock.patch.object(Run, "claim", looked_up), mock.patch.object(Run, "settle_reply", both):
        yield


CARELESS: dict[str, Callable[[], contextlib.AbstractContextManager[None]]] = {
    "": contextlib.nullcontext,
    "intents not synced": intents_not_synced,
    "intents after the fact": intents_after_the_fact,
}
