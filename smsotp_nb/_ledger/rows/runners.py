"""The times by which claims end, and by which a ledger on a server keeps two machines apart.

A claim is void unless its first byte leaves within `VOID_AFTER` seconds, by a clock that goes on while the machine
sleeps and by the time of day, which a virtual machine sets right after it stood still. On a server somebody else takes
a campaign over only when, by the server's clock, the last claim is void and its request has ended. So what a person
finds out about rows in doubt stays true: their request does not leave later.

And who decided what, and when.
"""

from __future__ import annotations

import getpass
import os
import socket
import sys
import time
from pathlib import Path
from typing import NamedTuple

from .statements import Statements, insert

VOID_AFTER = 10.0  # seconds from a claim to its first byte
FRESH = 0.2  # seconds after which a claim asks the register once more, last before the bytes
MARGIN = 10.0  # seconds between the end of the last request and a take-over
REQUEST = 120.0  # seconds in which a request ends, unless the client's deadline is longer
REPORT_EVERY = 15.0  # seconds between two reports of a runner that is at work

PURGED_IN_DOUBT = "purged in doubt"  # the decision that says how many rows of a purge were


class Until(NamedTuple):
    """When a claim becomes void: by seconds since the machine started, or by the time of day, whichever comes first."""

    since_boot: float
    time_of_day: float

    def has_passed(self) -> bool:
        return boot_time() >= self.since_boot or time.time() >= self.time_of_day

    def is_fresh(self) -> bool:
        """Return whether the claim was made a moment ago."""
        left = VOID_AFTER - FRESH
        return boot_time() < self.since_boot - left and time.time() < self.time_of_day - left


def void_at() -> Until:
    return Until(boot_time() + VOID_AFTER, time.time() + VOID_AFTER)


def boot_time() -> float:
    """Return seconds since the machine started, those in which it slept included."""
    if sys.platform == "linux":
        return time.clock_gettime(time.CLOCK_BOOTTIME)
    return time.monotonic()


def lease(deadline: float = REQUEST) -> float:
    """Return for how many seconds after its last report a runner holds a campaign."""
    return VOID_AFTER + max(deadline, REQUEST) + MARGIN


def me() -> str:
    """Return this process in words, as others are told who runs a campaign."""
    return f"{person()} (process {os.getpid()})"


def person() -> str:
    try:
        user = getpass.getuser()
    except (ImportError, KeyError, OSError):  # no entry of this user; where there is no list of users, no name set
        user = f"user {os.getuid()}" if hasattr(os, "getuid") else "somebody"
    return f"{user} on {machine()}"


def machine() -> str:
    return socket.gethostname()


def process_key(pid: int | None = None) -> str:
    """Return what no other process ever has: boot, PID namespace, PID and start; empty where that is not known."""
    pid = os.getpid() if pid is None else pid
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        space = os.readlink("/proc/self/ns/pid")
        started = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except OSError:
        return ""
    return f"{boot} {space} {pid} {started}"


def is_dead(key: str) -> bool:
    """Return whether a process is known to have ended: it was one of this machine, and is no longer there."""
    mine, parts = process_key().split(), key.split()
    if len(mine) != 4 or len(parts) != 4 or mine[:2] != parts[:2]:
        return False
    pid = int(parts[2])
    return process_key(pid) != key or _is_left_over(pid)


def _is_left_over(pid: int) -> bool:
    """Return whether all that is left of a process is its entry, until its parent asks for it."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        return state in "ZX" and len(os.listdir(f"/proc/{pid}/task")) <= 1
    except OSError:
        return True


def note_decision(
    connection: Statements,
    what: str,
    *,
    rows: int,
    now: int,
    campaign: int | None = None,
    reason: str | None = None,
) -> None:
    """Note a decision in its transaction, so that neither is there without the other; it names no recipient.

    What people gave as a reason is their own text, and goes when the campaign is purged.
    """
    name = getattr(connection, "user", "")  # by which a server let them in
    who = f"{name} ({person()})" if name else person()
    row = {"at": now, "who": who, "what": what, "campaign": campaign, "rows": rows, "reason": reason}
    insert(connection, "decision", row)


def decider(connection: Statements) -> str:
    """Return who decides, so that two people differ: on a server the name by which it let them in."""
    return getattr(connection, "user", "") or person()
