"""Break the code on purpose, one place at a time, and see whether a test notices.

    python tests/mutation/run.py --map            # first: which test runs which line, by `make quick` under coverage
    python tests/mutation/run.py --map wire cost  # the same of some folders of tests
    python tests/mutation/run.py --sample 300     # so many mutants of all files; --seed draws others
    python tests/mutation/run.py _ledger/book.py  # all mutants of a file

Needs pytest-cov beside what the suite needs. A mutant is judged in a process of its own by tests of `make quick` that
run its line, those first that run the fewest lines. Survivors are printed for a person to read.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.abc
import importlib.util
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
import types
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent
ROOT = TESTS.parent
PACKAGE = ROOT / "smsotp_nb"
sys.path[:0] = [str(ROOT), str(TESTS)]

# Loaded once, before the forks; nothing of the package itself may be.
import coverage.numbits  # noqa: E402
import cryptography  # noqa: E402, F401
import hypothesis  # noqa: E402, F401
import IPython.core.ultratb  # noqa: E402, F401
import ipywidgets  # noqa: E402, F401
import pandas as pd  # noqa: E402, F401
import phonenumbers  # noqa: E402, F401
import pytest  # noqa: E402
import requests  # noqa: E402, F401
import tqdm.auto  # noqa: E402, F401

from mutation.mutants import Mutant, mutants  # noqa: E402

MAP = ROOT / ".mutation-map"
LOG = ROOT / ".mutation-log"
QUICK = "not slow and not browser and not notebook and not on_server"
MOST_TESTS = 150  # of more, those of the room are taken, and of more of these some of all sizes
ENOUGH = 45.0  # seconds after which no further test of a mutant begins
LONGEST = 240.0  # seconds after which a mutant is taken to hang
OPTIONS = ("-x", "-q", "--assert=plain", "-p", "no:cacheprovider", "-p", "no:randomly", f"--rootdir={ROOT}")


class Mutated(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Gives one module of the package another source."""

    def __init__(self, name: str, mutant: Mutant) -> None:
        self._name, self._path, self._source = name, mutant.path, mutant.source()

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> object:
        if fullname != self._name:
            return None
        return importlib.util.spec_from_file_location(fullname, self._path, loader=self)

    def exec_module(self, module: types.ModuleType) -> None:
        exec(compile(self._source, str(self._path), "exec"), module.__dict__)


class Enough:
    """Leaves out the tests that would begin too late."""

    def __init__(self) -> None:
        self._until = time.monotonic() + ENOUGH

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self) -> None:
        if time.monotonic() > self._until:
            pytest.skip("enough tests")


class Reach:
    """Which tests run which line, from the map."""

    def __init__(self) -> None:
        with sqlite3.connect(f"file:{MAP}?mode=ro", uri=True) as data:
            names = dict(data.execute("SELECT id, context FROM context WHERE context LIKE '%|run' OR context=''"))
            files = {number: Path(path) for number, path in data.execute("SELECT id, path FROM file")}
            self._lines: dict[Path, dict[str, set[int]]] = defaultdict(dict)
            for file, context, bits in data.execute("SELECT file_id, context_id, numbits FROM line_bits"):
                if context in names:
                    lines = set(coverage.numbits.numbits_to_nums(bits))
                    self._lines[files[file]][names[context].removesuffix("|run")] = lines
        self._runs = Counter[str]()
        for tests in self._lines.values():
            for test, lines in tests.items():
                self._runs[test] += len(lines)

    def tests(self, mutant: Mutant) -> list[str]:
        """Return the tests that run the line, or that run the file if the line runs as it is imported."""
        of_file = dict(self._lines[mutant.path])
        imported = of_file.pop("", set())
        places = {mutant.line, mutant.statement}  # Python may count a constant or a test among the lines of either
        reached = [test for test, lines in of_file.items() if places & lines]
        if not reached and places & imported:
            reached = list(of_file)
        ranked = sorted(reached, key=self._runs.__getitem__)
        room = mutant.path.relative_to(PACKAGE).parts[0].removesuffix(".py").strip("_")
        own = [test for test in ranked if test.startswith(f"tests/{room}/")]
        ranked = own if len(ranked) > MOST_TESTS and own else ranked
        return ranked[:: -(-len(ranked) // MOST_TESTS) or 1]


def make_map(folders: list[str]) -> None:
    """Run the tests of `make quick` under coverage, all of them, or those of some folders."""
    command = [sys.executable, "-m", "pytest", "--numprocesses=2", "--dist=loadfile", "-m", QUICK, "-q"]
    command += [f"--cov={PACKAGE}", "--cov-context=test", "--cov-report=", "-p", "no:cacheprovider"]
    command += [str(TESTS / folder) for folder in folders]
    subprocess.run(command, cwd=ROOT, env={**os.environ, "COVERAGE_FILE": str(MAP)}, check=True)


def judge(mutant: Mutant, tests: list[str]) -> bool:
    """Return whether a test fails on this mutant; called in a process of its own."""
    log = os.open(LOG, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(log, 1)
    os.dup2(log, 2)
    print(f"== {told(mutant)}", flush=True)
    name = ".".join(mutant.path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    sys.meta_path.insert(0, Mutated(name, mutant))
    try:
        importlib.import_module(name)
    except Exception as failure:  # noqa: BLE001 - whatever it is, every test of the room fails with it
        print(repr(failure), flush=True)
        return True
    code = pytest.main([*OPTIONS, *tests], [Enough()])
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.INTERRUPTED):
        raise SystemExit(f"pytest ended with {code!r}; make the map again")
    return code != pytest.ExitCode.OK


def judged(mutant: Mutant, tests: list[str]) -> str:
    """Judge a mutant in a fork; what takes too long counts as noticed, and is said."""
    if not tests:
        return "not run by a test"
    started = time.monotonic()
    child = os.fork()
    if not child:
        os.setsid()
        os.chdir(ROOT)
        code = 2
        try:
            code = int(judge(mutant, tests))
        finally:
            os._exit(code)
    while time.monotonic() - started < LONGEST:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return {0: "survived", 256: "noticed"}.get(status, "noticed")
        time.sleep(0.05)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return "timed out"


def told(mutant: Mutant) -> str:
    return f"{mutant.path.relative_to(PACKAGE)}:{mutant.line} {mutant.function}: {mutant.change}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "files", nargs="*", help="files of the package, such as _ledger/book.py; with --map folders of tests; none: all"
    )
    parser.add_argument("--map", action="store_true", help="find out which test runs which line")
    parser.add_argument("--sample", type=int, help="how many mutants to draw; none: all")
    parser.add_argument("--seed", default="1")
    options = parser.parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell in the background ignores it; a test needs it
    if options.map:
        make_map(options.files)
        return
    paths: Iterable[Path] = [PACKAGE / file for file in options.files] or sorted(PACKAGE.rglob("*.py"))
    every = [mutant for path in paths for mutant in mutants(path)]
    if options.sample:
        every = random.Random(options.seed).sample(every, options.sample)
    reach, counted = Reach(), defaultdict[str, Counter[str]](Counter)
    for mutant in every:
        outcome = judged(mutant, reach.tests(mutant))
        room = mutant.path.relative_to(PACKAGE).parts[0]
        counted[room][outcome] += 1
        if outcome != "noticed":
            print(f"{outcome}: {told(mutant)}", flush=True)
    counted["all"] = sum(counted.values(), Counter())
    for room, outcomes in sorted(counted.items()):
        print(f"{room}: {outcomes.total()} mutants, {dict(outcomes)}")


if __name__ == "__main__":
    main()
