"""A ledger's server dies in the middle of a campaign, again and again; the campaign goes on when it is back."""

from __future__ import annotations

import random
import sys
import time

from support.servers import Server

from .child import fork
from .judge import Audit, Judge, audit
from .people import plan_of
from .worker import Work

ROWS, CHUNK, THREADS = 200, 2, 3
LATENCY = 0.05  # seconds of an answer, so that it dies while requests are under way


def run(times: int, server: Server, *, seed: int = 0) -> Audit:
    """Let a server die so often, by SIGKILL and by an immediate stop in turn; ``kills`` counts its deaths."""
    moments, total, began = random.Random(seed), Audit(), time.monotonic()
    judge = Judge()
    try:
        judge.box.fault("latency", seconds=LATENCY)
        for number in range(times):
            name = f"c{number}"
            made = plan_of(ROWS, chunk_size=CHUNK, campaign=name, text=name)
            work = Work(server.database(), judge.box.url, made, concurrency=THREADS)
            total += _died(work, judge, server, after=moments.randrange(ROWS // 2), kill=bool(number % 2))
            total.seconds = time.monotonic() - began
    finally:
        judge.close()
    print(total.line(), file=sys.stderr, flush=True)
    return total


def _died(work: Work, judge: Judge, server: Server, *, after: int, kill: bool) -> Audit:
    name = work.plan.campaign
    child = fork(work.run)
    while judge.texted(name).total() < after:
        time.sleep(0.01)
    server.kill() if kill else server.stop("immediate")
    child.wait()
    server.start()
    work.run()
    found = audit(work.ledger, judge.texted(name), campaign=name)
    found.kills, found.most_in_doubt = 1, found.in_doubt
    if found.in_doubt > work.most_claimed * CHUNK:
        found.lost += 1
        found.odd.append(f"{name}: {found.in_doubt} in doubt after one death")
    return found
