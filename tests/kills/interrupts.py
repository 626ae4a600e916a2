"""An interrupt at a random moment, and then the same Ledger object goes on: nobody is texted twice or forgotten.

Each ledger is new: a file, or a database where a server is given. SIGINT strikes one call on it, which is made again,
and then the others. The interrupt stays alive meanwhile, with all that its frames hold, as Jupyter keeps it.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import tempfile
import threading
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

import pandas as pd

from smsotp_nb import Client, Ledger, People, Plan, send
from smsotp_nb._ledger.file.last_seen import Marks
from smsotp_nb._ledger.file.locks import Anchor, RunLock
from smsotp_nb._ledger.opening import Opened
from smsotp_nb._ledger.server.last_seen import Notes
from smsotp_nb._ledger.server.store import Lease, Served
from smsotp_nb.errors import SmsOtpWarning

from .child import fork
from .people import numbers, plan_of
from .service import Service

if TYPE_CHECKING:
    from support.servers import Server

# What a ledger does beside a transaction.
IN_A_FILE = [
    (Opened, "prepare_to_write"), (Opened, "note_acts"), (Opened, "committed"), (Opened, "begin_noting"),
    (Anchor, "verify"), (Anchor, "generation"), (Marks, "begin"), (Marks, "note"), (RunLock, "release"),
]  # fmt: skip
ON_A_SERVER = [
    (Served, "begin"), (Served, "note_acts"), (Served, "commit"), (Served, "attest"), (Notes, "begin"), (Notes, "note"),
    (Lease, "keep"), (Lease, "release"),
]  # fmt: skip
ROWS, CHUNK, THREADS = 24, 2, 3
TOGETHER = 28  # ledgers of a process
LEAVING = numbers(ROWS + 3)[ROWS:]
STRUCK = ("ledger", "plan", "send", "opt out", "results", "resolve", "close")


@dataclass(slots=True)
class Outcome:
    """What became of ledgers that were interrupted: ``dead`` names those of which a later call failed."""

    ledgers: int = 0
    interrupts: int = 0
    duplicates: int = 0
    forgotten: int = 0
    seconds: float = 0.0
    dead: list[str] = field(default_factory=list)

    def __iadd__(self, other: Outcome) -> Outcome:
        for name in (one.name for one in fields(self)):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        return self

    @property
    def broken(self) -> bool:
        return bool(self.dead or self.duplicates or self.forgotten)

    def line(self) -> str:
        return (
            f"{self.interrupts:,} interrupts of {self.ledgers:,} new ledgers in {self.seconds:.0f} s: "
            f"{len(self.dead)} dead, {self.duplicates} duplicates, {self.forgotten} forgotten"
            + "".join(f"\n  {one}" for one in self.dead[:3])
        )


def run(ledgers: int, *, seed: int = 0, server: Server | None = None) -> Outcome:
    """Interrupt so many new ledgers, in children, whose main thread gets the signal; on a server where one is given."""
    total = Outcome()
    for first in range(0, ledgers, TOGETHER):
        many = min(TOGETHER, ledgers - first)
        places = [server.database() if server else "" for _ in range(many)]
        chance = random.Random(f"{seed} {first}")
        total += fork(partial(_interrupted, places, chance)).result()
        for place in filter(None, places):
            server.drop(place)  # type: ignore[union-attr]
    print(total.line(), file=sys.stderr, flush=True)
    return total


def _interrupted(places: list[str], chance: random.Random) -> Outcome:
    found, began, longest = Outcome(), time.monotonic(), dict.fromkeys(STRUCK, 0.02)
    made = plan_of(ROWS, chunk_size=CHUNK, campaign="c", text="Hi")
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", SmsOtpWarning)
        for number, place in enumerate(places):
            struck = STRUCK[number % len(STRUCK)]
            with Service() as service, service.client() as client:
                story = _Story(
                    place or Path(folder) / f"{number}.sqlite", service, client, struck, chance, longest, made
                )
                story.tell()
            found.ledgers += 1
            found.interrupts += story.was_struck
            found.duplicates += sum(count - 1 for count in service.accepted.values())
            found.forgotten += story.forgotten
            found.dead += [f"{number} {struck}: {story.failure}"] * bool(story.failure)
    found.seconds = time.monotonic() - began
    return found


@dataclass(slots=True)
class _Story:
    """The calls on one ledger, of which one is interrupted and made again."""

    place: str | Path
    service: Service
    client: Client
    struck: str
    chance: random.Random
    longest: dict[str, float]
    plan: Plan
    was_struck: bool = False
    forgotten: int = 0
    failure: str = ""
    kept: BaseException | None = None

    def tell(self) -> None:
        try:
            self._tell()
        except Exception as error:  # noqa: BLE001 - whatever it is, the object was of no more use
            self.failure = f"{type(error).__name__}: {error}\n{traceback.format_exc(limit=-4)}"

    def _tell(self) -> None:
        ledger: Ledger = self._call("ledger", lambda: Ledger(self.place, create=True))
        self._call("plan", lambda: plan_of(ROWS, chunk_size=CHUNK, campaign="c", text="Hi", ledger=ledger))
        self._call("opt out", lambda: People(ledger).opt_out(LEAVING, source="phone"))
        self.service.script(["accept"] * 4 + ["vanish"])
        self._call("send", lambda: self._send(ledger))
        self._call("results", lambda: (ledger.campaigns(), ledger.record("c").results))
        doubtful = ledger.record("c").in_doubt["to"].tolist()
        # The service accepted them all, so that whoever is sent once more is texted twice.
        self._call("resolve", lambda: self._resolve(ledger))
        self._call("close", ledger.close)
        self._judge(self._send(ledger), ledger, doubtful)
        ledger.close()

    def _send(self, ledger: Ledger) -> pd.DataFrame:
        return send(self.plan.with_requests(threads=THREADS), client=self.client, ledger=ledger, progress=False)

    @staticmethod
    def _resolve(ledger: Ledger) -> None:
        campaign = ledger.record("c")
        if len(doubtful := campaign.in_doubt):
            campaign.settle(doubtful, accepted=True)

    def _judge(self, table: pd.DataFrame, ledger: Ledger, doubtful: list[str]) -> None:
        """Count whose message or whose word the record has no more."""
        state = dict(zip(table["to"], table["status"], strict=True))
        self.forgotten += sum(state[to] not in {"accepted", "in_doubt"} for to in self.service.accepted)
        self.forgotten += sum(to not in self.service.accepted for to in state if state[to] == "accepted")
        if self.struck == "resolve":
            self.forgotten += sum(state[to] != "accepted" for to in doubtful)
        if self.struck == "opt out":
            self.forgotten += len({*LEAVING} - {*People(ledger).register["to"]})
        if not set(state.values()) <= {"accepted", "in_doubt"}:
            self.failure = f"rows are left: {Counter(state.values())}"

    def _call(self, name: str, call: Callable[[], Any]) -> Any:
        """Make a call that this story needs; the one to be struck is struck, and made again."""
        if name == self.struck:
            result = self._struck(call, self.chance.uniform(0.0, self.longest[name]))
            if result is not _NOTHING:
                return result
        elif name not in {"ledger", "send"}:
            return None
        began = time.monotonic()
        result = call()
        self.longest[name] += 0.3 * (time.monotonic() - began - self.longest[name])
        return result

    def _struck(self, call: Callable[[], Any], seconds: float) -> Any:
        """Make a call that SIGINT strikes after so long; return its result, `_NOTHING` where it was struck."""
        timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))
        result = _NOTHING
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            timer.start()
            result = call()
            timer.cancel()
            timer.join()
            time.sleep(0)  # a signal that came last strikes here
        except KeyboardInterrupt as error:
            self.kept, self.was_struck = error, True
        finally:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            timer.join()
            signal.signal(signal.SIGINT, before)  # children of later tests would inherit that it is ignored
        return result


_NOTHING = object()


def main() -> int:
    """Run it alone: ``python -m tests.kills.interrupts --files 700 --databases 120``."""
    parser = argparse.ArgumentParser(prog="python -m tests.kills.interrupts", description=__doc__)
    parser.add_argument("--files", type=int, default=700, help="new ledgers in files (default 700)")
    parser.add_argument("--databases", type=int, default=120, help="new ledgers on a server (default 120)")
    parser.add_argument("--seed", type=int, default=1, help="of the random moments")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as state, mock.patch.dict(os.environ, XDG_STATE_HOME=state):
        return _both(asked)


def _both(asked: argparse.Namespace) -> int:
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from support.servers import Server as Made

    server = Made().make().start() if asked.databases else None
    try:
        found = [run(asked.files, seed=asked.seed)]
        if server is not None:
            found.append(run(asked.databases, seed=asked.seed, server=server))
    finally:
        if server is not None:
            server.stop("immediate")
            server.remove()
    return int(any(one.broken for one in found))


if __name__ == "__main__":
    raise SystemExit(main())
