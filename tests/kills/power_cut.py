"""A power cut at any moment of a campaign, as a model: what was synced is on the disk, and nothing else is sure.

strace writes down a real campaign: every write to the ledger's files with its bytes, every sync, truncation, unlink and
folder sync, and every ``sendto`` that carries a request. From that list the disk is rebuilt as it may stand when the
power goes at any of these moments:

- bytes written to a file are sure after a completed ``fdatasync`` or ``fsync`` of it that began after the write;
- of the later writes any may have reached the disk, in any order, a 512-byte sector at a time;
- a file's name is sure after an ``fsync`` of its folder; an unlinked one may come back;
- the shared memory of the WAL is gone; the lock is free.

The real ledger is then opened on what is left and taken up as ``send`` does. A number whose request had begun to leave
by then and that stands as ``planned`` would be texted again: that is a duplicate.
"""

from __future__ import annotations

import os
import random
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from unittest import mock

from smsotp_nb import Ledger
from smsotp_nb.errors import LedgerError

from .child import fork
from .judge import Audit, Judge
from .system_calls import attach, stopped_before
from .worker import Work

SECTOR = 512


# Long enough for SQLite to copy its WAL into the file (after 1,000 pages) on the way.
ROWS, CHUNK, THREADS = 4000, 4, 4
SERVICE = "sandbox:"


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that reached the kernel: write, truncate, create, unlink, sync (of a file or a folder) or send."""

    kind: str
    path: str = ""
    data: bytes = b""
    offset: int = 0
    began: int = 0


@dataclass(slots=True)
class File:
    """A file as the disk may hold it: its sure bytes, the writes that may have arrived, and its name."""

    sure: bytearray = field(default_factory=bytearray)
    unsure: list[tuple[int, Event]] = field(default_factory=list)
    created_at: int | None = None
    unlinked_at: int | None = None

    def sync(self, began: int) -> None:
        """Make sure what was written before a sync began."""
        for at, event in self.unsure:
            if at < began:
                put(self.sure, event)
        self.unsure = [(at, event) for at, event in self.unsure if at >= began]

    def after_cut(self, arrives: Callable[[], bool]) -> bytes | None:
        """Return its bytes after a cut, None where its name is lost; ``arrives`` decides what is not sure."""
        if self.created_at is not None and not arrives():
            return None
        if self.unlinked_at is not None and arrives():
            return None
        found = bytearray(self.sure)
        for _, event in self.unsure:
            for piece in sectors(event):
                if arrives():
                    put(found, piece)
        return bytes(found)


def put(content: bytearray, event: Event) -> None:
    """Apply a write or a truncation to a file's bytes."""
    if event.kind == "truncate":
        del content[event.offset :]
    end = event.offset + len(event.data)
    content.extend(bytes(max(end - len(content), 0)))
    content[event.offset : end] = event.data


def sectors(event: Event) -> Iterator[Event]:
    """Yield a write in the pieces in which a disk takes it; a truncation is one."""
    if event.kind == "truncate":
        yield event
    place = 0
    while place < len(event.data):
        size = SECTOR - (event.offset + place) % SECTOR
        yield Event("write", event.path, event.data[place : place + size], event.offset + place)
        place += size


class Disk:
    """A folder as the disk may hold it, told event by event."""

    def __init__(self) -> None:
        self._files: dict[str, File] = {}
        self._gone: list[tuple[str, File]] = []

    def apply(self, at: int, event: Event) -> None:
        """Take the event that happened as the at-th."""
        if event.kind == "create":
            known = self._files.get(event.path)
            if known is None or known.unlinked_at is not None:
                self._files[event.path] = File(created_at=at)
            return
        file = self._files.setdefault(event.path, File())
        if event.kind in {"write", "truncate"}:
            file.unsure.append((at, event))
        elif event.kind == "unlink":
            file.unlinked_at = at
        elif event.kind == "sync":
            file.sync(event.began)
            self._sync_names(event.path, event.began)

    def _sync_names(self, folder: str, began: int) -> None:
        for path, file in list(self._files.items()):
            if str(Path(path).parent) != folder:
                continue
            if file.created_at is not None and file.created_at < began:
                file.created_at = None
            if file.unlinked_at is not None and file.unlinked_at < began:
                del self._files[path]

    def cut(self, arrives: Callable[[], bool], folder: Path, into: Path) -> None:
        """Write the files of a folder as they may stand after a cut into another one."""
        for path, file in self._files.items():
            content = file.after_cut(arrives) if str(Path(path).parent) == str(folder) else None
            if content is not None:
                (into / Path(path).name).write_bytes(content)


# -- what strace saw ---------------------------------------------------------------------------------------------------

TRACED = "pwrite64,ftruncate,openat,unlink,fdatasync,fsync,sendto"
ENTRY = re.compile(r"(\d+) +(\w+)\((.*)")
RESUMED = re.compile(r"(\d+) +<\.\.\. f(?:data)?sync resumed>")
STRING = re.compile(r"[<\"]((?:\\x[0-9a-f]{2})*)[>\"]")
TO = re.compile(r"\+[0-9]{8,15}")


def events(lines: Iterable[str]) -> list[Event]:
    """Return what happened, in order, from the lines of ``strace -f -y -xx`` over the calls of ``TRACED``."""
    found: list[Event] = []
    syncing: dict[str, Event] = {}
    for line in lines:
        entry, resumed = ENTRY.match(line), RESUMED.match(line)
        if resumed:
            found.append(syncing.pop(resumed[1]))
        elif entry:
            thread, call, rest = entry.groups()
            event = _event(call, rest, began=len(found))
            if event is not None and event.kind == "sync" and rest.endswith("<unfinished ...>"):
                syncing[thread] = event
            elif event is not None:
                found.append(event)
    return found


def _event(call: str, rest: str, *, began: int) -> Event | None:
    strings = [bytes.fromhex(text.replace("\\x", "")) for text in STRING.findall(rest)]
    numbers = [int(number) for number in re.findall(r", (\d+)", STRING.sub("", rest))]
    if call == "sendto":
        return Event("send", data=strings[1]) if strings[1].startswith(b"POST") else None
    path = strings[1 if call == "openat" else 0].decode()
    if path.endswith("-shm"):
        return None
    if call == "pwrite64":
        return Event("write", path, strings[1], numbers[-1])
    if call == "ftruncate":
        return Event("truncate", path, offset=numbers[-1])
    if call == "openat":
        return Event("create", path) if "O_CREAT" in rest else None
    return Event("unlink" if call == "unlink" else "sync", path, began=began)


def traced(work: Work) -> list[Event]:
    """Send a campaign under strace and return what happened."""
    with tempfile.NamedTemporaryFile("r") as lines:
        tracer = attach(
            child := fork(stopped_before(work)),
            ["-f", "-y", "-xx", "-s", "100000", "-o", lines.name, "-e", f"trace={TRACED}"],
        )
        child.result()
        tracer.wait()
        return events(lines)


# -- the cuts ----------------------------------------------------------------------------------------------------------


def run(cuts: int = 200, *, seed: int = 0, careless: str = "", seconds: float = 1e9) -> Audit:
    """Cut the power at this many moments of a campaign and return what the ledger makes of each.

    Every second cut keeps nothing that was not synced; in the others each unsynced sector has an even chance.
    """
    total, began, random_numbers = Audit(), time.monotonic(), random.Random(seed)
    judge = Judge()
    try:
        with tempfile.TemporaryDirectory() as folder:
            work = Work.of(
                Path(folder), judge.box.url, name="cut", rows=ROWS, chunk_size=CHUNK, concurrency=THREADS,
                careless=careless,
            )  # fmt: skip
            happened, service = traced(work), f"sandbox:{judge.box.id}"
    finally:
        judge.close()
    disk, texted = Disk(), set[str]()
    moments = set(random_numbers.sample(range(len(happened)), min(cuts, len(happened))))
    for at, event in enumerate(happened):
        if at in moments and time.monotonic() - began < seconds:
            keep = total.kills % 2 == 1
            total += after_cut(disk, texted, work, service, lambda keep=keep: keep and random_numbers.random() < 0.5)
        disk.apply(at, event)
        if event.kind == "send":
            texted |= set(TO.findall(event.data.decode()))
    if not _copied_back(happened, work):
        total.odd.append("SQLite never copied its WAL into the file between two requests: the campaign is too short")
    total.campaigns, total.rows, total.seconds = 1, ROWS, time.monotonic() - began
    print(total.line(), file=sys.stderr, flush=True)
    return total


def _copied_back(happened: list[Event], work: Work) -> bool:
    sent = [at for at, event in enumerate(happened) if event.kind == "send"]
    between = happened[sent[0] : sent[-1]]
    return any(event.kind == "write" and event.path == str(work.ledger) for event in between)


def after_cut(disk: Disk, texted: set[str], work: Work, service: str, arrives: Callable[[], bool]) -> Audit:
    """Open the ledger on what a cut leaves and say what ``send`` would make of it."""
    found = Audit(kills=1)
    to = work.plan.rows["to"].tolist()
    with tempfile.TemporaryDirectory() as left:
        disk.cut(arrives, work.ledger.parent, Path(left))
        try:
            # What is noted outside of the ledger is never synced: the worst is that it did not survive.
            with (
                mock.patch.dict(os.environ, XDG_STATE_HOME=f"{left}/state"),
                Ledger(Path(left) / work.ledger.name, create=True) as ledger,
                ledger._begin(work.plan, service=service) as campaign,
            ):
                state = dict(zip(to, campaign.outcomes()["status"], strict=True))
        except LedgerError as error:
            found.lost, found.odd = len(to), [str(error)]
            return found
    found.duplicates = sum(state[number] == "planned" for number in texted)
    never = [number for number, now in state.items() if now == "accepted" and number not in texted]
    found.lost = len(never) + sum(now not in {"planned", "accepted", "in_doubt"} for now in state.values())
    found.in_doubt = found.most_in_doubt = list(state.values()).count("in_doubt")
    return found
