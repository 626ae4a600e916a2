"""Many at once: eight processes over many campaigns of one ledger, and an interrupt at any moment."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import sys
import tempfile
import threading
import time
import warnings
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from smsotp_nb import Client, Ledger, Plan, send
from smsotp_nb._results.contract import STATES
from smsotp_nb.errors import CampaignLockedError, SmsOtpWarning

from .child import fork
from .judge import Audit, Judge, audit
from .people import plan_of, registered
from .service import Service
from .worker import Work

PROCESSES, CAMPAIGNS, ROWS, CHUNK, THREADS = 8, 6, 40, 2, 3
FEW = 5 * THREADS


def together(rounds: int = 1, *, seed: int = 0, address: str = "") -> Audit:
    """Let eight processes send the same campaigns of one ledger, each in an order of its own, and audit them.

    The ledger is a file, or with an address the empty database there; then one round is all.
    """
    total, began = Audit(), time.monotonic()
    for number in range(rounds):
        judge = Judge()
        try:
            with tempfile.TemporaryDirectory() as folder:
                works = [
                    _work(address or Path(folder) / "ledger.sqlite", f"c{each}", judge) for each in range(CAMPAIGNS)
                ]
                for child in [fork(_all_of(works, seed + number * PROCESSES + each)) for each in range(PROCESSES)]:
                    child.result()
                for work in works:
                    name = work.plan.campaign
                    total += audit(work.ledger, judge.texted(name), campaign=name)
        finally:
            judge.close()
    total.seconds = time.monotonic() - began
    print(total.line(), file=sys.stderr, flush=True)
    return total


def _work(ledger: str | Path, name: str, judge: Judge) -> Work:
    made = plan_of(ROWS, chunk_size=CHUNK, campaign=name, text=name)
    return Work(ledger, judge.box.url, made, concurrency=THREADS)


def _all_of(works: list[Work], seed: int) -> Callable[[], None]:
    def task() -> None:
        chance = random.Random(seed)
        left = deque(chance.sample(works, len(works)))
        while left:
            work = left.popleft()
            try:
                work.run()
            except CampaignLockedError:  # somebody else is at it: come back when the others are done
                left.append(work)
                time.sleep(chance.uniform(0.02, 0.2))

    return task


@dataclass(slots=True)
class Interrupts:
    """What became of campaigns that SIGINT interrupted.

    At most ``most_after`` requests arrived after one interrupt, and the slowest call took ``slowest`` seconds to end.
    Requests on their way arrive, and a busy machine lets a thread start one more before it hears of the interrupt; a
    send that goes on makes a hundred.
    ``unrecorded`` counts rows whose answer was not recorded; ``wrong`` names campaigns of which ledger and service
    count differently.
    """

    interrupts: int = 0
    campaigns: int = 0
    most_after: int = 0
    slowest: float = 0.0
    duplicates: int = 0
    unrecorded: int = 0
    wrong: list[str] = field(default_factory=list)

    @property
    def broken(self) -> bool:
        return bool(self.duplicates or self.unrecorded or self.wrong or self.most_after > FEW)

    def line(self) -> str:
        return (
            f"{self.interrupts:,} interrupts in {self.campaigns} campaigns: {self.duplicates} duplicates, "
            f"{self.unrecorded} answers not recorded, at most {self.most_after} requests after one, "
            f"ended within {self.slowest:.2f} s"
        )


def interrupted(times: int, *, seed: int = 0) -> Interrupts:
    """Interrupt campaigns by SIGINT at random moments, so often; in a child, whose main thread gets the signal."""
    found: Interrupts = fork(lambda: _interrupted(times, random.Random(seed))).result()
    print(found.line(), file=sys.stderr, flush=True)
    return found


def _interrupted(times: int, moments: random.Random) -> Interrupts:
    found = Interrupts()
    with contextlib.ExitStack() as stack:
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore", SmsOtpWarning)
        service = stack.enter_context(Service())
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        ledger = stack.enter_context(registered(Ledger(folder / "l.sqlite", create=True)))
        client = stack.enter_context(service.client())
        while found.interrupts < times:
            name = f"c{found.campaigns}"
            found.campaigns += 1
            plan, done = plan_of(400, chunk_size=CHUNK, campaign=name, text=name), False
            while not done and found.interrupts < times:
                found.interrupts += 1
                moment = moments.uniform(0.0, 0.08)
                done = _ended_before(partial(_send, plan, client, ledger), moment, service, found)
                _compare(name, service, ledger, found)
    return found


def _send(plan: Plan, client: Client, ledger: Ledger) -> None:
    send(plan.with_requests(threads=THREADS), client=client, ledger=ledger, progress=False)


def _ended_before(call: Callable[[], None], seconds: float, service: Service, found: Interrupts) -> bool:
    """Make a call and interrupt it; say whether it had ended before."""
    heard: list[float] = []

    def interrupt(*_: object) -> None:
        heard.append(time.monotonic())
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, interrupt)
    timer, ended = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT)), False
    try:
        timer.start()
        call()
        ended = True
        timer.join()
        time.sleep(1)  # the signal comes in here at the latest
    except KeyboardInterrupt:
        timer.join()
    if not ended:
        found.slowest = max(found.slowest, time.monotonic() - heard[0])
        found.most_after = max(found.most_after, sum(post.at > heard[0] for post in service.posts))
    return ended


def _compare(name: str, service: Service, ledger: Ledger, found: Interrupts) -> None:
    known = name in set(ledger.campaigns()["campaign"])
    counts = ledger.record(name).counts if known else dict.fromkeys(STATES, 0)
    texted = Counter(to for post in service.posts if post.text == name for to in post.to)
    found.duplicates += sum(texted.values()) - len(texted)
    found.unrecorded += counts["sending"] + counts["in_doubt"]
    if counts["accepted"] != len(texted):
        found.wrong.append(f"{name}: {counts}, {len(texted)} texted")
