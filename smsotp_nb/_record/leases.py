"""Clocks and processes: until when a claim holds, who holds a campaign, and whether that process is dead.

A claim is void unless its first byte leaves within `VOID_AFTER` seconds, by the clock that goes on while the machine
sleeps and by the time of day, which a virtual machine sets right after it stood still. Another machine takes a campaign
over when the last claim is void and its request has ended. So what a person decides about rows in doubt stays true:
their request does not leave later.
"""

from __future__ import annotations

import getpass
import os
import secrets
import socket
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from ..errors import CampaignLockedError
from .tables import IN_DOUBT, SENDING

if TYPE_CHECKING:
    from .store import Statement, Transaction

VOID_AFTER: Final = 10.0  # seconds from a claim to its first byte
FRESH: Final = 0.2  # seconds after which opt-outs are asked once more before the first byte
REQUEST: Final = 120.0  # seconds in which a request ends, unless the client's deadline is longer
MARGIN: Final = 10.0  # seconds between the end of the last request and a take-over
REPORT_EVERY: Final = 15.0  # seconds between two reports of a run that waits
OWNER_DIED: Final = "the sending process ended before the answer was recorded"
_SECOND: Final = 1_000_000  # microseconds


class Deadline(NamedTuple):
    """When a claim becomes void: by seconds since the machine started, or by the time of day, whichever is first."""

    since_boot: float
    time_of_day: float

    @classmethod
    def from_now(cls) -> Deadline:
        return cls(boot_time() + VOID_AFTER, time.time() + VOID_AFTER)

    def has_passed(self) -> bool:
        return boot_time() >= self.since_boot or time.time() >= self.time_of_day

    def is_fresh(self) -> bool:
        """Return whether the claim was made a moment ago."""
        left = VOID_AFTER - FRESH
        return boot_time() < self.since_boot - left and time.time() < self.time_of_day - left


def boot_time() -> float:
    """Return seconds since the machine started, those in which it slept included where the system tells."""
    clock = getattr(time, "CLOCK_BOOTTIME", None)  # Linux
    return time.monotonic() if clock is None else time.clock_gettime(clock)


def person() -> str:
    """Return the user and the machine of this process, in words."""
    try:
        user = getpass.getuser()
    except (ImportError, KeyError, OSError):  # no name is set, and there is no list of users
        user = "somebody"
    return f"{user} on {socket.gethostname()}"


def process_key(pid: int | None = None) -> str:
    """Return what no other process ever has: boot, PID namespace, PID and start; empty where the system hides them.

    A process whose key is empty is known to be dead by time alone.
    """
    pid = os.getpid() if pid is None else pid
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        namespace = os.readlink("/proc/self/ns/pid")
        started = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except OSError:
        return ""
    return f"{boot} {namespace} {pid} {started}"


def is_here(key: str) -> bool:
    """Return whether a process was started on this machine, since it was switched on."""
    return bool(key) and process_key().split()[:2] == key.split()[:2]


def is_dead(key: str, *, one_machine: bool) -> bool:
    """Return whether a process has certainly ended.

    ``one_machine``: everybody who uses this store is on this machine, so whatever ran before it was started is dead.
    """
    if is_here(key):
        pid = int(key.split()[2])
        return process_key(pid) != key or _is_zombie(pid)
    mine, parts = process_key().split(), key.split()
    return one_machine and bool(mine and parts) and mine[0] != parts[0]


def _is_zombie(pid: int) -> bool:
    """Return whether only the entry of a process is left, until its parent asks for it."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        return state in "ZX" and len(os.listdir(f"/proc/{pid}/task")) <= 1
    except OSError:
        return True


def is_free(process: str, until: int, now: int, *, one_machine: bool) -> bool:
    """Return whether a campaign may be taken from a run: its process is dead, or elsewhere and its time is over."""
    if is_dead(process, one_machine=one_machine):
        return True
    return not is_here(process) and until <= now


@dataclass(slots=True)
class Lease:
    """The right to send or to decide about one campaign. ``length`` is how long it holds after its last report."""

    campaign: int
    name: str
    token: str = field(default_factory=lambda: secrets.token_hex(16))
    length: int = int((VOID_AFTER + REQUEST + MARGIN) * _SECOND)  # microseconds

    def lengthen(self, request: float) -> None:
        """Hold the campaign longer after a report, for requests that may take so many seconds."""
        self.length = int((VOID_AFTER + max(request, REQUEST) + MARGIN) * _SECOND)

    @property
    def key(self) -> tuple[int, str]:
        """The values of `HELD`."""
        return self.campaign, self.token

    def prolonged(self, now: int) -> Statement:
        """Return the statement that reports: it changes one row, or none where the campaign was taken over."""
        return f"UPDATE campaign SET until=? WHERE {OWN}", (now + self.length, *self.key)

    def released(self) -> Statement:
        return f"UPDATE campaign SET runner=NULL, process=NULL, until=NULL WHERE {OWN}", self.key


OWN: Final = "id=? AND runner=?"  # in SQL: the campaign is held by this lease
HELD: Final = f"EXISTS (SELECT 1 FROM campaign WHERE {OWN})"


def take(tx: Transaction, lease: Lease, *, clock: int, now: int, one_machine: bool) -> int:
    """Take a campaign; put in doubt what a dead process left under way, and return how many rows.

    ``clock`` is the time of the store, by which leases run, ``now`` the time at which the attempts count as settled.

    Raises:
        CampaignLockedError: a process that may be alive holds it.
    """
    (runner, who, process, until) = tx.rows(
        "SELECT runner, who, coalesce(process, ''), coalesce(until, 0) FROM campaign WHERE id=?", (lease.campaign,)
    )[0]
    if runner is not None and not is_free(process, until, clock, one_machine=one_machine):
        raise locked(lease.name, who, process, until, clock)
    tx.run(
        "UPDATE campaign SET runner=?, who=?, process=?, until=? WHERE id=?",
        (lease.token, f"{person()} (process {os.getpid()})", process_key(), clock + lease.length, lease.campaign),
    )
    return put_in_doubt(tx, lease.campaign, OWNER_DIED, now=now)


def locked(name: str, who: str, process: str, until: int, clock: int) -> CampaignLockedError:
    """Return the refusal of a campaign that is held, with when it can be taken over."""
    if is_here(process):
        step = "wait until it ends, or stop that process"
    else:
        step = f"call again when it ends, or in {max(until - clock, 0) // _SECOND + 1} s if it is gone"
    pid = int(process.split()[2]) if process else None
    host = who.rpartition(" on ")[2].partition(" (")[0]
    return CampaignLockedError(
        f"campaign {name!r} is being run by {who}; nothing new was sent or changed. Next: {step}", pid=pid, host=host
    )


def put_in_doubt(tx: Transaction, campaign: int, error: str, *, now: int) -> int:
    """Put every row under way in doubt and return how many; the caller holds the campaign."""
    under_way = "SELECT chunk FROM attempt WHERE campaign=? AND outcome IS NULL"
    changed = tx.run(
        "UPDATE recipient SET state=?, problem='NO_ANSWER' WHERE campaign=? AND state=? "
        f"AND chunk IN ({under_way})",
        (IN_DOUBT, campaign, SENDING, campaign),
    )
    tx.run(
        "UPDATE attempt SET outcome='in_doubt', phase='unknown', error=?, settled_at=? "
        "WHERE campaign=? AND outcome IS NULL",
        (error, now, campaign),
    )
    return changed
