"""kill -9 at random: a campaign is killed again and again until it is done, and the judge counts.

Each campaign has a ledger of its own: a file, or a database where ``database`` makes one.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from .child import fork
from .judge import Audit, Judge, audit
from .people import plan_of
from .worker import Work, under_way

ROWS, CHUNK, THREADS = 600, 4, 4
CAMPAIGNS_OF_A_JUDGE = 20  # its inbox is read after every campaign
KILLS_OF_A_CAMPAIGN = 15


@dataclass(frozen=True, slots=True)
class _Site:
    """Where campaigns are recorded and judged, and how large and how careless they are."""

    folder: Path
    judge: Judge
    rows: int
    careless: str
    database: Callable[[], str] | None

    def work(self, name: str) -> Work:
        ledger = self.database() if self.database else self.folder / f"{name}.sqlite"
        made = plan_of(self.rows, chunk_size=CHUNK, campaign=name, text=name)  # by its text the judge can tell it
        return Work(ledger, self.judge.box.url, made, concurrency=THREADS, careless=self.careless)


def run(
    kills: int, *, seed: int = 0, seconds: float = 1e9, careless: str = "", rows: int = ROWS,
    database: Callable[[], str] | None = None,
) -> Audit:  # fmt: skip
    """Kill campaigns this many times, or for about this long, and return what became of them all.

    The seed chooses the moments; what a process does by then differs from run to run.
    """
    moments, total, began = random.Random(seed), Audit(), time.monotonic()
    while total.kills < kills and time.monotonic() - began < seconds:
        judge = Judge()
        try:
            with tempfile.TemporaryDirectory() as folder:
                site = _Site(Path(folder), judge, rows, careless, database)
                whole = _undisturbed(site.work("whole"))
                for number in range(CAMPAIGNS_OF_A_JUDGE):
                    if total.kills >= kills or time.monotonic() - began >= seconds:
                        break
                    at_most = min(kills - total.kills, KILLS_OF_A_CAMPAIGN)
                    moment = partial(moments.uniform, 0.0, whole / 3)
                    total += killed(site.work(f"c{number}"), judge, moment, at_most=at_most)
        finally:
            judge.close()
        total.seconds = time.monotonic() - began
        print(total.line(), file=sys.stderr, flush=True)
    return total


def _undisturbed(work: Work) -> float:
    """Return the seconds that a campaign takes on this machine when nobody kills it."""
    began = time.monotonic()
    fork(work.run).result()
    return time.monotonic() - began


def killed(work: Work, judge: Judge, moment: Callable[[], float], *, at_most: int) -> Audit:
    """Kill one campaign at random moments until it has ended or was killed often enough, and let it end then."""
    kills = most = 0
    while kills < at_most:
        child = fork(work.run)
        time.sleep(moment())
        if not child.kill():
            break
        kills += 1
        most = max(most, under_way(work.ledger))
    fork(work.run).result()
    found = audit(work.ledger, judge.texted(work.plan.campaign), campaign=work.plan.campaign)
    found.kills, found.most_in_doubt = kills, most
    if found.in_doubt > kills * work.most_claimed * CHUNK or most > work.most_claimed * CHUNK:
        found.lost += 1
        found.odd.append(f"{found.in_doubt} in doubt after {kills} kills, {most} after one")
    return found
