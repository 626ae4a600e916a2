"""What a ledger and its campaigns share: store, clock, and the locks by which a campaign changes in one place."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .._services import is_rehearsal
from ..errors import CampaignHeld
from .file.one_runner import RunLock
from .file.store import Store
from .people import purging
from .places import refuse_lent
from .record import beginning
from .record.recovering import OWNER_DIED, give_up
from .rows import contacts


class LedgerBase:
    """A ledger without what people call."""

    path: Any  # a Path, or the Address of a server's database
    _store: Store
    _clock: Callable[[], int]
    _is_default: bool

    @property
    def _files(self) -> list[Path]:
        """The file of the ledger, which nothing may be written over; none if it is on a server."""
        return [self.path] if isinstance(self.path, Path) else []

    def _refuse_lent(self, service: str) -> None:
        """Refuse the first live campaign where nobody said where the record is kept, and this machine may forget it.

        Raises:
            LedgerError: it says what tells so, and what to write.
        """
        if not self._is_default or is_rehearsal(service):
            return
        sql = "SELECT DISTINCT service FROM campaign WHERE kind='campaign' AND id IN (SELECT campaign FROM attempt)"
        with self._store.reading() as connection:
            begun = [of for (of,) in connection.execute(sql) if not is_rehearsal(of)]
        if not begun:
            refuse_lent(self.path)

    def _end_dead_ones(self, but: int) -> None:
        """Put rows in doubt whose process died; as long as they count as under way, they hold other rows back."""
        with self._store.reading() as connection:
            found = contacts.unsettled(connection, but=but)
        for number, name in found:
            with contextlib.suppress(CampaignHeld):
                lock = self._lock(number, name)
                try:
                    give_up(self._store, number, OWNER_DIED, now=self._clock())
                finally:
                    lock.release()

    def _purge(self, number: int, name: str) -> int:
        """Purge a campaign; return how many rows it had. Raises CampaignHeld where it, or a test of it, is running."""
        with contextlib.ExitStack() as held:
            held.callback(self._lock(number, name).release)
            tests = purging.tests_of(self._store, number)
            for test in tests:
                held.callback(self._lock(test, name).release)
            return purging.purge(self._store, number, tests, now=self._clock())

    def _purged(self, number: int, name: str, kind: str) -> bool:
        """Purge a campaign unless it is running, or an experiment; return whether it was purged."""
        if kind == purging.EXPERIMENT:
            purging.purge_experiment(self._store, number, name, now=self._clock())
            return True
        try:
            self._purge(number, name)
        except CampaignHeld:
            return False
        return True

    def _lock(self, number: int, name: str) -> RunLock:
        return self._store.lock(number, name)

    def _find(self, service: str, name: str) -> int | None:
        with self._store.reading() as connection:
            found = connection.execute(*beginning.which(service, name)).fetchone()
        return found[0] if found else None
