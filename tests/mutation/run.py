"""Break the code on purpose, one place at a time, and see whether a test notices: ``python tests/mutation/run.py``.

Runs long (an hour and more) and is no part of the suite. Each mutant is judged in a process of its own: those of the
client by its tests and a part of the fault campaign, those of ledger and dispatch by theirs, power cuts and stories.
Survivors are printed for a person to read.
"""

from __future__ import annotations

import argparse
import importlib.abc
import importlib.util
import os
import signal
import socket
import sys
import tempfile
import time
import types
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

TESTS = Path(__file__).resolve().parent.parent
ROOT = TESTS.parent
sys.path[:0] = [str(ROOT), str(TESTS)]

# Loaded once, before the forks; nothing of the package itself may be.
import aiohttp  # noqa: E402, F401
import cryptography  # noqa: E402, F401
import hypothesis  # noqa: E402, F401
import IPython.core.ultratb  # noqa: E402, F401
import ipywidgets  # noqa: E402, F401
import pandas as pd  # noqa: E402, F401
import phonenumbers  # noqa: E402, F401
import pytest  # noqa: E402
import requests  # noqa: E402, F401
import responses  # noqa: E402, F401
import tenacity  # noqa: E402, F401
import tqdm.auto  # noqa: E402, F401

from mutation.mutants import Mutant, mutants  # noqa: E402

CLIENT = ("client/test_client.py", "client/test_bytes.py", "faults/test_limits.py")
CAMPAIGN = (
    "dispatch/test_send.py",
    "ledger/test_ledger.py",
    "dispatch/test_pacing.py",
    "ledger/test_store.py",
    "ledger/test_copies.py",
    "ledger/test_fork.py",
    "ledger/test_accounts.py",
    "ledger/test_answers.py",
    "ledger/test_by_row.py",
    "dispatch/test_guards.py",
    "dispatch/test_turns.py",
    "dispatch/test_budget.py",
    "ledger/test_file.py",
)
LONG = ("kills/test_power_cut.py", "ledger/test_stories.py")
# Of each file, the functions that decide whether a request is sent again; "" is what stands outside of every function,
# which in ledger and dispatch is names alone.
PHASE: dict[str, frozenset[str]] = {
    "_client/transport.py": frozenset({
        "", "left", "nothing_sent", "stopped", "feed", "on_headers_complete", "on_message_begin",
        "on_message_complete", "connect", "request", "getresponse", "is_connected", "_pools", "urlopen",
        "post", "_root",
    }),
    "_client/meaning.py": frozenset({"", "error_of", "success", "_doubt", "_refusal"}),
    "_client/operations.py": frozenset({"", "_call", "attempt", "_once", "_given"}),
    "_client/patience.py": frozenset({"", "make", "_one", "_retrying", "wait", "__call__", "at_the_gate"}),
    "_ledger/sending/run.py": frozenset({
        "__init__", "abandon", "chunks", "claim", "_claim", "_claim_whole", "settle_reply", "settle", "_settled",
        "work", "held", "refuse_if_lost", "check", "_owner", "_reached",
    }),
    "_ledger/sending/settling.py": frozenset({
        "not_accepted", "write", "confirm", "_write_attempt", "_accept_whole", "_accept_by_row", "_write_state",
    }),
    "_ledger/rows/answers.py": frozenset({"", "fits", "whole", "unpacked", "_packed", "by_row", "_answering"}),
    "_ledger/file/store.py": frozenset({
        "__init__", "writing", "together", "_run_waiting", "close", "checkpoint", "_attest", "_ours", "_before_fork",
        "_after_fork_in_parent", "_after_fork_in_child",
    }),
    "_ledger/opening.py": frozenset({
        "prepare_to_write", "note_acts", "rolled_back", "begin_noting", "checkpoint", "close", "open_ledger",
        "_prepare", "_refuse_damaged", "_behind", "_marks",
    }),
    "_ledger/file/locks.py": frozenset({
        "__init__", "settle", "leave", "close", "writing", "verify", "_trouble", "_join", "_take", "_free", "release",
        "_open_run",
    }),
    "_ledger/file/last_seen.py": frozenset({"sessions", "begin", "note", "set_aside", "_slots"}),
    "_ledger/rows/tables.py": frozenset({"spread"}),
    "_ledger/book.py": frozenset({"begin", "_find"}),
    "_ledger/campaign.py": frozenset({
        "_end_dead_ones", "_holding", "settle", "retry", "withdraw", "_recover", "_move",
    }),
    "_ledger/record/changing.py": frozenset({
        "compare", "adopt", "reword", "withdraw", "_leave_out", "_skip", "_reword", "_add", "_move", "_new_chunks",
        "agree", "give_up",
    }),
    "_ledger/sending/holds.py": frozenset({
        "look", "confirm", "of", "set_aside", "_catch_up", "_record", "_other_chunks",
    }),
    "_ledger/sending/rules.py": frozenset({
        "learn", "put_aside", "_touch", "heed", "hear", "contacted", "_met", "held", "row", "_same", "_cap", "_hold",
        "_find",
    }),
    "_ledger/people/consents.py": frozenset({"record", "_remember", "forget", "_forget_rows"}),
    "_dispatch/requests.py": frozenset({
        "work", "_finish", "_share", "_alone_at_first", "_turn", "_record", "_send", "attempt", "_claim_again",
        "_deliver", "_judged", "_message", "_in_halves", "_refused", "_end", "ending",
    }),
    "_dispatch/guards.py": frozenset({
        "due", "admit", "returned", "settled", "_awake", "_within_canary_and_budget", "_account", "_spend",
    }),
    "_dispatch/pacing.py": frozenset({"__init__", "reports", "rest", "_next_report", "_run", "_next", "with_rests"}),
}  # fmt: skip
LONGEST = 120.0
LOG = "mutation.log"
KILLED, SURVIVED = 1, 0


class Mutated(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Gives one module of the package another source."""

    def __init__(self, name: str, path: Path, source: str) -> None:
        self._name, self._path, self._source = name, path, source

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> object:
        if fullname != self._name:
            return None
        return importlib.util.spec_from_file_location(fullname, self._path, loader=self)

    def exec_module(self, module: types.ModuleType) -> None:
        exec(compile(self._source, str(self._path), "exec"), module.__dict__)


def judge(name: str, path: Path, mutant: Mutant, *, phase_only: bool = False, quick: bool = False) -> int:
    """Run the tests against a mutant, in a process of its own: the quickest first."""
    sys.meta_path.insert(0, Mutated(name, path, mutant.source))
    log = os.open(LOG, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(log, 1)
    os.dup2(log, 2)
    print(f"== {path.name}:{mutant.line} {mutant.function}: {mutant.change}", flush=True)
    if "_client" not in path.parts:
        return KILLED if tests(*CAMPAIGN) or (not quick and tests(*LONG)) else SURVIVED
    campaign(_short())
    if tests(*CLIENT):
        return KILLED
    campaign(lambda case: case.kind.slow or (case.transport, case.connection) == ("tls", "kept"))
    return KILLED if not phase_only and tests("secrecy/test_secrets.py") else SURVIVED


def tests(*files: str) -> int:
    """Run test files up to the first failure."""
    options = ["-x", "-q", "--exhaustive", "--assert=plain", "-p", "no:cacheprovider", f"--rootdir={ROOT}"]
    return int(pytest.main([*options, *(str(TESTS / file) for file in files)]))


def _short() -> Callable[[Any], bool]:
    """Want each kind once, over plain new connections, where no timeout is awaited."""
    seen: set[str] = set()

    def wanted(case: Any) -> bool:
        kind = case.kind
        if (case.transport, case.connection) != ("plain", "new") or kind.slow or kind.name in seen:
            return False
        seen.add(kind.name)
        return True

    return wanted


def campaign(wanted: Callable[[Any], bool]) -> None:
    """Run a part of the fault campaign; leave this process at the first case that is not as the table says."""
    from faults.campaign import Ground, cases, resolver, run
    from faults.test_campaign import faults

    from smsotp_nb._client import transport

    real, cap = socket.getaddrinfo, transport.MAX_REPLY
    socket.getaddrinfo, transport.MAX_REPLY = resolver(real), 4_000_000  # type: ignore[assignment]
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(16) as pool:
        ground = Ground(Path(folder))
        running = {pool.submit(run, case, ground): case for case in cases() if wanted(case)}
        for done in as_completed(running):
            if done.exception() or faults(running[done], done.result()):
                print(running[done].name, done.exception() or faults(running[done], done.result()), flush=True)
                os._exit(KILLED)
    socket.getaddrinfo, transport.MAX_REPLY = real, cap


def judged(
    name: str, path: Path, mutant: Mutant, *, phase_only: bool = False, quick: bool = False
) -> tuple[int, float]:
    """Judge one mutant in a fork; what takes too long counts as noticed."""
    started = time.monotonic()
    child = os.fork()
    if not child:
        os.setsid()
        try:
            code = judge(name, path, mutant, phase_only=phase_only, quick=quick)
        except BaseException:  # noqa: BLE001 - whatever a mutant breaks, it was noticed
            code = KILLED
        os._exit(code)
    while time.monotonic() - started < LONGEST:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return (SURVIVED if status == 0 else KILLED), time.monotonic() - started
        time.sleep(0.05)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return KILLED, time.monotonic() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", default=list(PHASE))
    parser.add_argument("--part", default="0/1", help="which part of how many, such as 0/2")
    parser.add_argument("--phase", action="store_true", help="only the functions that decide about sending again")
    parser.add_argument("--quick", action="store_true", help="ledger and dispatch without power cuts and stories")
    options = parser.parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell in the background ignores it; a test needs it
    part, parts = map(int, options.part.split("/"))
    for file in options.files:
        path = ROOT / "smsotp_nb" / file
        name = "smsotp_nb." + file.removesuffix(".py").replace("/", ".")
        every = list(mutants(path.read_text(encoding="utf-8")))
        chosen = [mutant for mutant in every if mutant.function in PHASE[file] or not options.phase][part::parts]
        survivors = list(_survivors(name, path, chosen, phase_only=options.phase, quick=options.quick))
        killed = len(chosen) - len(survivors)
        print(f"{file}: {killed} of {len(chosen)} mutants noticed ({killed / max(len(chosen), 1):.0%})", flush=True)


def _survivors(name: str, path: Path, every: list[Mutant], *, phase_only: bool, quick: bool) -> Iterator[Mutant]:
    for number, mutant in enumerate(every):
        print(f"\r{path.name} {number} of {len(every)}", end="", file=sys.stderr, flush=True)
        found, seconds = judged(name, path, mutant, phase_only=phase_only, quick=quick)
        if found == SURVIVED:
            print(f"  survived: {path.name}:{mutant.line} {mutant.function}: {mutant.change}", flush=True)
            yield mutant
        elif seconds > LONGEST:
            print(f"  timed out: {path.name}:{mutant.line} {mutant.change}", flush=True)


if __name__ == "__main__":
    main()
