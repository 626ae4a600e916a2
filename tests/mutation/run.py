"""Break the code on purpose, one place at a time, and see whether a test notices: ``python tests/mutation/run.py``.

Runs long (minutes) and is no part of the suite. Each mutant is judged in a process of its own, by the tests of the
client and then by a part of the fault campaign; survivors are printed for a person to read.
"""

from __future__ import annotations

import argparse
import importlib.abc
import importlib.util
import os
import signal
import sys
import time
import types
from collections.abc import Iterator
from pathlib import Path

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

FILES = ("client/transport.py", "client/verdict.py", "client/operations.py")
QUICK = ("test_client.py", "test_wire_bytes.py", "faults/test_limits.py", "test_secrets.py")
LONGEST = 90.0
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


def judge(name: str, path: Path, mutant: Mutant) -> int:
    """Run the tests against a mutant, in a process of its own, and leave that process."""
    sys.meta_path.insert(0, Mutated(name, path, mutant.source))
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    options = ["-x", "-q", "--assert=plain", "-p", "no:cacheprovider", f"--rootdir={ROOT}"]
    if pytest.main([*options, *(str(TESTS / file) for file in QUICK)]) != 0:
        return KILLED
    return KILLED if campaign() else SURVIVED


def campaign() -> list[str]:
    """Run each fault over plain new and over TLS kept connections; return what was not as the table says."""
    import socket
    import tempfile

    from faults.campaign import Ground, cases, resolver, run_all
    from faults.test_campaign import faults

    from smsotp_nb.client import transport

    socket.getaddrinfo = resolver(socket.getaddrinfo)  # type: ignore[assignment]
    transport.MAX_REPLY = 4_000_000
    chosen = [case for case in cases() if (case.transport == "tls") == (case.connection == "kept")]
    with tempfile.TemporaryDirectory() as folder:
        found = run_all(chosen, Ground(Path(folder)))
    return [fault for case in chosen for fault in faults(case, found[case.name])]


def verdict(name: str, path: Path, mutant: Mutant) -> tuple[int, float]:
    """Judge one mutant in a fork; what takes too long counts as noticed."""
    started = time.monotonic()
    child = os.fork()
    if not child:
        os.setsid()
        try:
            code = judge(name, path, mutant)
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
    parser.add_argument("files", nargs="*", default=FILES)
    parser.add_argument("--part", default="0/1", help="which part of how many, such as 0/2")
    options = parser.parse_args()
    part, parts = map(int, options.part.split("/"))
    for file in options.files:
        path = ROOT / "smsotp_nb" / file
        name = "smsotp_nb." + file.removesuffix(".py").replace("/", ".")
        every = list(mutants(path.read_text(encoding="utf-8")))[part::parts]
        survivors = list(_survivors(name, path, every))
        killed = len(every) - len(survivors)
        print(f"{file}: {killed} of {len(every)} mutants noticed ({killed / max(len(every), 1):.0%})", flush=True)


def _survivors(name: str, path: Path, every: list[Mutant]) -> Iterator[Mutant]:
    for mutant in every:
        found, seconds = verdict(name, path, mutant)
        if found == SURVIVED:
            print(f"  survived: {path.name}:{mutant.line} {mutant.change}", flush=True)
            yield mutant
        elif seconds > LONGEST:
            print(f"  timed out: {path.name}:{mutant.line} {mutant.change}", flush=True)


if __name__ == "__main__":
    main()
