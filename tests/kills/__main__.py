"""Run the campaigns at full size: ``python -m tests.kills --kills 2000`` from the top of a checkout.

Prints one line for each and ends with 1 when anybody was texted twice or lost, or when a careless ledger got through.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

from . import power_cut, random_kills, system_calls
from .judge import Audit


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.kills", description="Kill campaigns and count who was texted."
    )
    parser.add_argument("--kills", type=int, default=2000, help="kill -9 at random moments (default 2000)")
    parser.add_argument("--calls", default="all", help="system calls to die at, by strace's names (default all)")
    parser.add_argument("--cuts", type=int, default=100_000, help="power cuts (default: one at every event)")
    parser.add_argument("--seed", type=int, default=1, help="of the random moments")
    asked = parser.parse_args(arguments)
    strace = system_calls.STRACE is not None
    campaigns: dict[str, Callable[[], Audit]] = {
        "kill -9 at random": lambda: random_kills.run(asked.kills, seed=asked.seed),
        "kill -9 at random, intents recorded after the fact": lambda: random_kills.run(
            max(asked.kills // 20, 20), seed=asked.seed, careless="intents after the fact"
        ),
    }
    if strace:
        campaigns |= {
            "SIGKILL at every system call": lambda: system_calls.run(calls=asked.calls),
            "power cut": lambda: power_cut.run(asked.cuts, seed=asked.seed),
            "power cut, intents not synced": lambda: power_cut.run(20, seed=asked.seed, careless="intents not synced"),
        }
    wrong = [] if strace else ["strace is not installed: no system calls, no power cuts"]
    for name, campaign in campaigns.items():
        found = campaign()
        print(f"{name}: {found.line()}", *found.odd[:3], sep="\n  ", flush=True)
        careless = "intents" in name
        if careless and not found.duplicates:
            wrong.append(f"{name}: the careless ledger got through")
        if not careless and (found.duplicates or found.lost):
            wrong.append(f"{name}: the promise is broken")
    print(*wrong, sep="\n", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
