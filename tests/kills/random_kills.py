"""kill -9 at random: a campaign is killed again and again until it is done, and the judge counts."""

from __future__ import annotations

import random
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from .child import fork
from .judge import Audit, Judge, audit
from .worker import Work, under_way

ROWS, CHUNK, THREADS = 600, 4, 4
CAMPAIGNS_OF_A_JUDGE = 20  # its inbox is read after every campaign
KILLS_OF_A_CAMPAIGN = 15


def run(kills: int, *, seed: int = 0, seconds: float = 1e9, careless: str = "") -> Audit:
    """Kill campaigns this many times, or for about this long, and return what became of them all.

    The seed chooses the moments; what a process does by then differs from run to run.
    """
    moments, total, began = random.Random(seed), Audit(), time.monotonic()
    while total.kills < kills and time.monotonic() - began < seconds:
        judge = Judge()
        try:
            with tempfile.TemporaryDirectory() as folder:
                whole = _undisturbed(_work(Path(folder), "whole", judge, careless))
                for number in range(CAMPAIGNS_OF_A_JUDGE):
                    if total.kills >= kills or time.monotonic() - began >= seconds:
                        break
                    work = _work(Path(folder), f"c{number}", judge, careless)
                    at_most = min(kills - total.kills, KILLS_OF_A_CAMPAIGN)
                    total += killed(work, judge, partial(moments.uniform, 0.0, whole / 3), at_most=at_most)
        finally:
            judge.close()
        total.seconds = time.monotonic() - began
        print(total.line(), file=sys.stderr, flush=True)
    return total


def _work(folder: Path, name: str, judge: Judge, careless: str) -> Work:
    return Work.of(
        folder, judge.box.url, name=name, rows=ROWS, chunk_size=CHUNK, concurrency=THREADS, careless=careless
    )


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
    if found.in_doubt > kills * work.concurrency * CHUNK or most > work.concurrency * CHUNK:
        found.lost += 1
        found.odd.append(f"{found.in_doubt} in doubt after {kills} kills, {most} after one")
    return found
