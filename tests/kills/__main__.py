"""Run the campaigns at full size: ``python -m tests.kills --kills 2000`` from the top of a checkout.

Prints one line for each and ends with 1 when anybody was texted twice or lost, or when a careless ledger got through.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from typing import Protocol
from unittest import mock

from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from . import files, many, power_cut, random_kills, system_calls
from .stories import Story


class Found(Protocol):
    """What a campaign of kills hands back."""

    duplicates: int

    @property
    def broken(self) -> bool: ...
    def line(self) -> str: ...


def main(arguments: list[str] | None = None) -> int:
    asked = _asked(arguments)
    with tempfile.TemporaryDirectory() as state, mock.patch.dict(os.environ, XDG_STATE_HOME=state):
        return _run(asked)


def _run(asked: argparse.Namespace) -> int:
    wrong = [] if system_calls.STRACE else ["strace is not installed: no system calls, no power cuts"]
    for name, (campaign, careless) in _campaigns(asked).items():
        found = campaign()
        print(f"{name}: {found.line()}", flush=True)
        if careless and not found.duplicates:
            wrong.append(f"{name}: the careless ledger got through")
        if not careless and found.broken:
            wrong.append(f"{name}: the promise is broken")
    if asked.stories:
        wrong += _stories(asked.stories, asked.steps)
    print(*wrong, sep="\n", file=sys.stderr)
    return 1 if wrong else 0


def _asked(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.kills", description="Kill campaigns, count who was texted.")
    parser.epilog = "0 (and --calls none) leaves one out"
    parser.add_argument("--kills", type=int, default=2000, help="kill -9 at random moments (default 2000)")
    parser.add_argument("--calls", default="all", help="system calls to die at, by strace's names (default all)")
    parser.add_argument("--cuts", type=int, default=100_000, help="power cuts (default: one at every event)")
    parser.add_argument("--interrupts", type=int, default=200, help="interrupts at random moments (default 200)")
    parser.add_argument("--rounds", type=int, default=50, help="rounds of eight processes (default 50)")
    parser.add_argument("--stories", type=int, default=300, help="random stories (default 300)")
    parser.add_argument("--files", type=int, default=500, help="stories of copies, restores and forks (default 500)")
    parser.add_argument("--steps", type=int, default=50, help="steps of a story (default 50)")
    parser.add_argument("--seed", type=int, default=1, help="of the random moments")
    return parser.parse_args(arguments)


def _campaigns(asked: argparse.Namespace) -> dict[str, tuple[Callable[[], Found], bool]]:
    """Return each campaign by name, and whether its ledger is careless on purpose."""
    late, unsynced, seed = "intents after the fact", "intents not synced", asked.seed
    found: dict[str, tuple[Callable[[], Found], bool]] = {}
    if asked.interrupts:
        found["interrupt"] = partial(many.interrupted, asked.interrupts, seed=seed), False
    if asked.rounds:
        found["eight processes"] = partial(many.together, asked.rounds, seed=seed), False
    if asked.files:
        found["files and forks"] = partial(files.run, asked.files, seed=seed), False
        found["files and forks, every file believed"] = (
            partial(files.run, 20, seed=seed, careless="every file believed"), True
        )  # fmt: skip
    if asked.kills:
        found["kill -9"] = partial(random_kills.run, asked.kills, seed=seed), False
        found[f"kill -9, {late}"] = partial(random_kills.run, 100, seed=seed, careless=late), True
    if asked.cuts and system_calls.STRACE:
        found["power cut"] = partial(power_cut.run, asked.cuts, seed=seed), False
        found[f"power cut, {unsynced}"] = partial(power_cut.run, 20, seed=seed, careless=unsynced), True
    if asked.calls != "none" and system_calls.STRACE:
        found["system calls"] = partial(system_calls.run, calls=asked.calls), False
    return found


def _stories(count: int, steps: int) -> list[str]:
    size = settings(
        max_examples=count, stateful_step_count=steps, deadline=None, database=None,
        suppress_health_check=(HealthCheck.too_slow, HealthCheck.data_too_large),
    )  # fmt: skip
    began = time.monotonic()
    try:
        run_state_machine_as_test(Story, settings=size)
    except AssertionError as error:
        return [f"stories: {error}"]
    print(f"stories: {count} of up to {steps} steps in {time.monotonic() - began:.0f} s keep the promise", flush=True)
    return []


if __name__ == "__main__":
    raise SystemExit(main())
