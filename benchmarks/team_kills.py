"""Whether a team's ledger keeps the promise, at full size: processes and servers die, stories are told at random.

    python benchmarks/team_kills.py                     minutes on two cores
    python benchmarks/team_kills.py --kills 50 --server-kills 4 --rounds 1 --stories 10 --people 5

It starts a server of its own, from Debian's ``postgresql``, prints a line for each campaign, and ends with 1 when
anybody was texted twice or lost, or when a careless ledger got through.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from unittest import mock

sys.path.append(str(Path(__file__).parents[1] / "tests"))
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test
from kills import dead_servers, many, people_stories, random_kills
from kills.judge import Audit
from kills.people_stories import Told
from kills.stories import on_a_server
from support.servers import Server

LATE, NO_RULES = "intents after the fact", "rules switched off"


def main() -> int:
    asked = _asked()
    with tempfile.TemporaryDirectory() as state, mock.patch.dict(os.environ, XDG_STATE_HOME=state):
        server = Server().make().start()
        try:
            wrong = [said for name, campaign in _campaigns(asked, server).items() for said in _held(name, *campaign)]
            wrong += _stories(asked.stories, server) if asked.stories else []
        finally:
            server.stop("immediate")
            server.remove()
    print(*wrong, sep="\n", file=sys.stderr)
    return 1 if wrong else 0


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Kill the campaigns of a team and its server, count who was texted.")
    parser.add_argument("--kills", type=int, default=300, help="kill -9 of a sender at random moments (default 300)")
    parser.add_argument("--server-kills", type=int, default=20, help="deaths of the server (default 20)")
    parser.add_argument("--rounds", type=int, default=5, help="rounds of eight processes (default 5)")
    parser.add_argument("--stories", type=int, default=60, help="random stories of one campaign (default 60)")
    parser.add_argument("--people", type=int, default=40, help="stories of people (default 40)")
    parser.add_argument("--seed", type=int, default=1, help="of the random moments")
    return parser.parse_args()


def _campaigns(asked: argparse.Namespace, server: Server) -> dict[str, tuple[Callable[[], Audit | Told], bool]]:
    """Return each campaign by name, and whether its ledger is careless on purpose."""
    options = {"seed": asked.seed, "database": server.database}
    return {
        "kill -9": (partial(random_kills.run, asked.kills, **options), False),
        f"kill -9, {LATE}": (partial(random_kills.run, 50, careless=LATE, **options), True),
        "death of the server": (partial(dead_servers.run, asked.server_kills, server, seed=asked.seed), False),
        "eight processes": (partial(_together, asked.rounds, server, asked.seed), False),
        "people": (partial(people_stories.run, asked.people, **options), False),
        f"people, {NO_RULES}": (partial(people_stories.run, 5, careless=NO_RULES, **options), True),
    }


def _held(name: str, campaign: Callable[[], Audit | Told], careless: bool) -> list[str]:
    """Run a campaign, print what it found, and return what is wrong with that."""
    found = campaign()
    print(f"{name}: {found.line()}", flush=True)
    if careless and not found.duplicates:
        return [f"{name}: the careless ledger got through"]
    return [f"{name}: the promise is broken"] if found.broken and not careless else []


def _together(rounds: int, server: Server, seed: int) -> Audit:
    total = Audit()
    for number in range(rounds):
        total += many.together(seed=seed + number * many.PROCESSES, address=server.database())
    return total


def _stories(count: int, server: Server) -> list[str]:
    size = settings(
        max_examples=count, stateful_step_count=30, deadline=None, database=None,
        suppress_health_check=(HealthCheck.too_slow, HealthCheck.data_too_large),
    )  # fmt: skip
    began = time.monotonic()
    try:
        run_state_machine_as_test(on_a_server(server), settings=size)
    except AssertionError as error:
        return [f"stories: {error}"]
    print(f"stories: {count} of up to 30 steps in {time.monotonic() - began:.0f} s keep the promise", flush=True)
    return []


if __name__ == "__main__":
    sys.exit(main())
