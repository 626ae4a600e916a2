"""One runner for a campaign at a time, where no lock of the machine reaches the others: a row of the server.

The row holds for a time that its runner prolongs with every claim and every report. Each claim checks in its own
transaction that the row is still its own.
"""

from __future__ import annotations

import os
import re
import secrets
import threading
import weakref

from ..._moments import said
from ...errors import CampaignHeld, LedgerError
from ..file.store import Store
from ..rows import runners
from ..rows.statements import ONE, Statements, guessed

NOW = "CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT)"
_ROW = f"SELECT token, who, process, since, until, {NOW} FROM runner WHERE campaign=?"

# The holds of this process by their tokens, whether or not the server knows that one has ended.
_live: weakref.WeakValueDictionary[bytes, Lease] = weakref.WeakValueDictionary()


class Lease:
    """The hold on one campaign, from construction until ``release``."""

    def __init__(self, store: Store, campaign: int, name: str) -> None:
        self._store, self._campaign, self._name = store, campaign, name
        self._token, self._process, self._length = secrets.token_bytes(16), os.getpid(), runners.lease()
        self._ended, self._lost_to = threading.Event(), ""
        self._taken = False
        with store.reading() as connection:  # most of those who ask only look, and need not wait for others' writes
            self._refuse(connection)
        try:
            self._take(campaign)
        except BaseException:  # perhaps it was taken all the same, and only the server's answer was lost
            self._ended.set()
            _live.pop(self._token, None)
            raise

    def _take(self, campaign: int) -> None:
        with self._store.writing() as connection:
            self._refuse(connection)
            connection.execute(
                "INSERT OR REPLACE INTO runner (campaign, token, who, process, since, until) "
                f"VALUES (?, ?, ?, ?, {NOW}, {NOW} + ?)",
                (campaign, self._token, runners.me(), runners.process_key(), self._micros),
            )
            self._taken = True
            _live[self._token] = self

    def keep(self, deadline: float) -> None:
        """Report from now on that this runner is at work, whose requests end within this many seconds."""
        self._length = runners.lease(deadline)
        threading.Thread(target=_report, args=(weakref.ref(self), self._ended), daemon=True).start()

    def renews(self, connection: Statements) -> bool:
        """Prolong the hold inside a transaction; return whether it is still this one's, for `refuse_if_lost` too."""
        renewed = self.is_held(connection)
        if not renewed:
            row = connection.execute(_ROW, (self._campaign,)).fetchone()
            self._lost_to = row[1] if row else "somebody who has ended it since"
        return renewed

    def is_held(self, connection: Statements) -> bool:
        """Prolong the hold inside a transaction; return whether it is still this one's."""
        sql = f"UPDATE runner SET until={NOW} + ? WHERE campaign=? AND token=?"
        return guessed(connection, sql, (self._micros, self._campaign, self._token), ONE).rowcount == 1

    def refuse_if_lost(self) -> None:
        """Raise the error for what `renews` found, outside of the transaction."""
        if self._lost_to:
            raise CampaignHeld(
                f"campaign {self._name!r} was taken over by {self._lost_to}, because this process did not report in "
                f"time. Nothing more was sent from here; call send again when it has ended there"
            )

    def release(self) -> None:
        """Let the next runner in; calling it again does nothing."""
        self._ended.set()
        if not self._taken or self._process != os.getpid():
            return
        self._taken = False
        _live.pop(self._token, None)
        try:
            with self._store.writing("NORMAL") as connection:
                connection.execute("DELETE FROM runner WHERE campaign=? AND token=?", (self._campaign, self._token))
        except LedgerError:  # the server is out of reach: the hold ends by itself
            return

    @property
    def _micros(self) -> int:
        return int(self._length * 1_000_000)

    def _refuse(self, connection: Statements) -> None:
        row = connection.execute(_ROW, (self._campaign,)).fetchone()
        if row is None or row[4] <= row[5] or runners.is_dead(row[2]):
            return
        token, who, process, since, until, _ = row
        mine = process == runners.process_key() and process
        if mine and bytes(token) not in _live:  # it has ended here, and could not say so to the server
            return
        found = re.search(r" on (\S+) \(process (\d+)\)$", who)
        raise CampaignHeld(
            f"campaign {self._name!r} is being run by {'another call in this kernel' if mine else who} since "
            f"{said(since)}; wait for it, or stop it there, then call send again. If it has died, it can be taken "
            f"over after {said(until)} by the server's clock",
            host=found[1] if found else None,
            pid=int(found[2]) if found else None,
        )

    def _reported(self) -> bool:
        """Prolong the hold; return whether there is more to report."""
        try:
            with self._store.writing("NORMAL") as connection:
                return self.renews(connection)
        except LedgerError:  # the next report or claim may reach the server again; if none does, the hold ends
            return True


def _report(lease: weakref.ref[Lease], ended: threading.Event) -> None:
    while not ended.wait(runners.REPORT_EVERY):
        held = lease()
        if held is None or held._process != os.getpid() or not held._reported():
            return
        del held


def runner_of(connection: Statements, campaign: int) -> str:
    """Return in words who runs a campaign and since when; empty if nobody does."""
    row = connection.execute(_ROW, (campaign,)).fetchone()
    return f"{row[1]} since {said(row[3])}" if row and row[4] > row[5] else ""
