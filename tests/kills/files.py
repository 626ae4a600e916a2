"""A ledger is copied, read, restored, moved and forked between and during sends, at random: nobody is texted twice.

Each story is one campaign and its file. Steps are drawn at random, some of them in the middle of a run; every
`LedgerError` is a refusal, after which the story goes on. At the end a person tries each file that is left, as one does
who has lost the overview: together they must text everybody who is not in doubt exactly once. Where the latest state
was written over, and so is gone, every file that is left must refuse: nobody else is texted, and a person hears why.
"""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import sqlite3
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

from smsotp_nb import Ledger, Limits, Plan, Sandbox, send
from smsotp_nb._ledger import opening
from smsotp_nb._ledger.file.locks import Anchor
from smsotp_nb.errors import LedgerError, SmsOtpWarning
from smsotp_nb.results import Progress

from .child import fork
from .judge import Audit, Judge
from .people import plan_of, registered

ROWS, CHUNK, STEPS = 40, 2, 8


@contextlib.contextmanager
def believed() -> Iterator[None]:
    """A ledger that takes every file for the one it knows, as before there were marks: it must text people twice."""
    with (
        mock.patch.object(opening, "_behind", return_value=[]),
        mock.patch.object(Anchor, "verify", return_value=None),
    ):
        yield


CARELESS: dict[str, Callable[[], contextlib.AbstractContextManager[None]]] = {
    "": contextlib.nullcontext,
    "every file believed": believed,
}


@dataclass(slots=True)
class Files:
    """One story: the files of one ledger in a folder, and what a person does with them."""

    folder: Path
    url: str
    plan: Plan
    random: random.Random
    refused: int = 0
    _copies: list[Path] = field(default_factory=list)
    _told: int = 0

    @property
    def path(self) -> Path:
        return self.folder / "l.sqlite"

    def step(self) -> None:
        """Do one thing, alone or in the middle of a run."""
        act = self.random.choice([self.look, self.copy, self.back_up, self.fall_back, self.move, self.fork, self.kill])
        if self.random.random() < 0.5:
            self.attempt(self.random.choice([self.path, *self._copies]), act)
        else:
            act()

    def attempt(self, path: Path, meanwhile: Callable[[], None] | None = None) -> None:
        """Send some more by one of the files, if it lets us; do something else after the first answer."""
        left = [meanwhile] if meanwhile else []

        def told(_: Progress) -> None:
            self._told += 1
            if left and self._told % 3 == 2:
                left.pop()()

        done = self.random.randrange(2, ROWS)
        self.send(path, progress=told, limits=Limits(first=done))

    def send(self, path: Path, **options: Any) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SmsOtpWarning)
            try:
                with Sandbox.at(self.url).client() as client:
                    ledger = Ledger(path) if path != self.path or self._copies or path.exists() else self.first()
                    with ledger:
                        send(
                            self.plan.with_requests(threads=2),
                            client=client,
                            ledger=ledger,
                            **{"progress": False, **options},
                        )
            except LedgerError:
                self.refused += 1

    def first(self) -> Ledger:
        return registered(Ledger(self.path, create=True))

    # -- what a person, or another program, does with the files --------------------------------------------------------

    def look(self) -> None:
        """Another reader in this process, then another kernel that opens and closes the ledger."""
        for found in list(self.folder.glob("*.sqlite*")):
            if found.is_file():
                found.read_bytes()
        with contextlib.suppress(sqlite3.Error), contextlib.closing(sqlite3.connect(self.path)) as connection:
            connection.execute("SELECT count(*) FROM campaign").fetchall()
        fork(self.opened).wait()

    def opened(self) -> None:
        with contextlib.suppress(LedgerError):
            Ledger(self.path).close()

    def copy(self) -> None:
        """A plain copy of the file, without its log."""
        if self.path.exists():
            self._copies.append(self.folder / f"copy-{len(self._copies)}.sqlite")
            shutil.copy(self.path, self._copies[-1])

    def back_up(self) -> None:
        self._copies.append(self.folder / f"backup-{len(self._copies)}.sqlite")
        try:
            with Ledger(self.path) as ledger:
                ledger.backup(self._copies[-1])
        except LedgerError:
            self.refused += 1
            self._copies.pop()

    def fall_back(self) -> None:
        """One of the copies in the place of the ledger: written over it, moved onto it, or restored."""
        if not self._copies or not self.path.exists():
            return
        chosen = self.random.choice(self._copies)
        how = self.random.randrange(4)
        kept = self.folder / f"latest-{self._told}-{len(self._copies)}.sqlite"
        with contextlib.suppress(LedgerError):
            if how == 0:
                Ledger.restore(chosen, self.path)
                self._copies += self.folder.glob("l.sqlite-replaced-*[0-9]")
            elif how == 1:
                shutil.copyfile(self.path, kept)
                shutil.copyfile(chosen, self.path)
                self._copies.append(kept)
            elif how == 2:
                os.rename(self.path, kept)
                shutil.copyfile(chosen, self.path)
                self._copies.append(kept)
            else:
                self.move()
                shutil.copyfile(chosen, self.path)

    def move(self) -> None:
        """The ledger and its log to another name: what a person does who tidies up."""
        if self.path.exists():
            moved = self.folder / f"moved-{self._told}-{len(self._copies)}.sqlite"
            for end in ("", "-wal"):
                with contextlib.suppress(FileNotFoundError):
                    os.rename(f"{self.path}{end}", f"{moved}{end}")
            self._copies.append(moved)

    def fork(self) -> None:
        """A forked child goes on with the campaign."""
        fork(lambda: self.attempt(self.path)).wait()

    def kill(self) -> None:
        """A kernel that dies in the middle of a send."""

        def dies(_: Progress) -> None:
            os.kill(os.getpid(), signal.SIGKILL)

        fork(lambda: self.send(self.path, progress=dies)).wait()

    def finish(self) -> dict[str, str] | None:
        """Send the rest by whatever file lets us; return what became of each number, None if every file refuses."""
        best: dict[str, str] = {}
        for path in [self.path, *self._copies]:
            if path.exists():
                self.send(path, limits=Limits(stop_after=None))
                best |= self.known(path)
        return best or None

    def known(self, path: Path) -> dict[str, str]:
        with contextlib.suppress(LedgerError, ValueError), Ledger(path) as ledger:
            frame = ledger.record(self.plan.campaign).results
            return dict(zip(frame["to"], frame["status"], strict=True))
        return {}


def run(rounds: int = 20, *, seed: int = 0, careless: str = "") -> Audit:
    """Tell so many stories and audit each; ``kills`` counts the refusals."""
    total, began = Audit(), time.monotonic()
    judge = Judge()
    try:
        for number in range(rounds):
            with tempfile.TemporaryDirectory() as folder, CARELESS[careless]():
                total += _story(Path(folder), judge, f"files {number}", random.Random(f"{seed} {number}"))
    finally:
        judge.close()
    total.seconds = time.monotonic() - began
    print(total.line(), file=sys.stderr, flush=True)
    return total


def _story(folder: Path, judge: Judge, name: str, chance: random.Random) -> Audit:
    with mock.patch.dict(os.environ, XDG_STATE_HOME=str(folder / "state")):
        files = Files(folder, judge.box.url, plan_of(ROWS, chunk_size=CHUNK, campaign=name, text=name), chance)
        files.send(files.path, limits=Limits(first=4))
        for _ in range(STEPS):
            files.step()
        ended = files.finish()
    texted: Counter[str] = judge.texted(name)
    states = ended or {}
    untold = [to for to in files.plan.rows["to"] if ended and not texted[to] and states.get(to) != "in_doubt"]
    return Audit(
        duplicates=sum(count - 1 for count in texted.values()),
        lost=len(untold),
        in_doubt=list(states.values()).count("in_doubt"),
        rows=ROWS,
        kills=files.refused,
        campaigns=1,
        odd=[f"{name}: {len(untold)} were never texted"] * bool(untold),
    )
