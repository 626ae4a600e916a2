"""State files by chance that know their structure: a sandbox starts from one or refuses it, and answers in its words.

``python -m tests.sandbox.state_fuzz 10000`` prints what it found and ends with 1 on a finding.
"""

from __future__ import annotations

import contextlib
import random
import shutil
import sqlite3
import sys
import tempfile
import threading
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from smsotp_nb import Client
from smsotp_nb.errors import SmsOtpError, SmsOtpWarning
from smsotp_nb.sandbox import Sandbox
from tests.ledger.ledger_fuzz import NUMBERS, changed, grown, memory


def _with_client(box: Sandbox, ask: Callable[[Client], object]) -> object:
    with box.client() as client:
        return ask(client)


READERS: dict[str, Callable[[Sandbox], object]] = {
    "balance": lambda box: (box.balance, repr(box)),
    "inbox": lambda box: box.inbox,
    "requests": lambda box: box.requests,
    "card": lambda box: box.card().html(),
    "passcode": lambda box: box.code(NUMBERS[0]),
    "expect": lambda box: box.expect(to=NUMBERS[0], times=1),
    "send": lambda box: _with_client(box, lambda client: client.send_message(NUMBERS[:3], text="Hello")),
    "verify": lambda box: _with_client(box, lambda client: client.verify_otp(NUMBERS[0], code="123456")),
    "top up": lambda box: box.top_up(5),
    "clock": lambda box: (box._ahead, box.advance(60)),
    "clear": lambda box: box.clear(),
}


def made(path: Path) -> None:
    """Write a state that has something in every table."""
    with Sandbox(state=path) as box, box.client() as client:
        client.send_message(NUMBERS[:4], text="Hello")
        client.send_otp(NUMBERS[0])
        client.verify_otp(NUMBERS[0], code="000000")
        box.advance(60)


def read(path: Path, readers: list[str]) -> str:
    """Start a sandbox from a file, ask it, and return what came out in a word."""
    said = "read"
    try:
        with Sandbox(state=path) as box:
            for reader in readers:
                try:
                    READERS[reader](box)
                except (SmsOtpError, AssertionError) as error:
                    said = type(error).__name__
                    _check(error)
                    if "No sandbox answers" in str(error):
                        raise ValueError("the service broke on what stands in its file") from error
    except SmsOtpError as error:
        said = f"refused: {type(error).__name__}"
        _check(error)
    return said


def _check(error: BaseException) -> None:
    if len(str(error)) >= 2_000 or not str(error).replace("\n", "").isprintable():
        raise ValueError(f"an error that is endless or moves the cursor: {str(error)[:200]!r}")


def findings(seeds: range, work: Path) -> tuple[list[str], Counter[str]]:
    """Return what is wrong, each with its seed, and how often each outcome came."""
    wrong: list[str] = []
    outcomes, sound = Counter[str](), work / "sound.sqlite"
    warnings.simplefilter("error")
    warnings.simplefilter("ignore", SmsOtpWarning)
    made(sound)
    threading.excepthook = lambda told: wrong.append(f"before seed {seed} ended: {told.exc_type.__name__}")
    for seed in seeds:
        path, chance = work / "state.sqlite", random.Random(seed)
        for old in work.glob("state.sqlite*"):
            old.unlink()
        shutil.copyfile(sound, path)
        with contextlib.suppress(sqlite3.DatabaseError):  # of what the change before it had done
            changed(path, chance)
        readers = chance.sample(list(READERS), 3)
        before = memory()
        try:
            outcomes[read(path, readers)] += 1
        except Exception as error:  # noqa: BLE001 - any is a finding
            wrong.append(f"seed {seed}, {readers}: {type(error).__name__}: {error}"[:300])
        if more := grown(before):
            wrong.append(f"seed {seed}, {readers}: {more:,} KiB")
    return wrong, outcomes


def main(count: int, first: int = 0) -> int:
    with tempfile.TemporaryDirectory() as folder:
        wrong, outcomes = findings(range(first, first + count), Path(folder))
    print("\n".join([*wrong, f"{count:,} states, {len(wrong)} findings", str(dict(outcomes.most_common()))]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])) if len(sys.argv) > 1 else main(1_000))
