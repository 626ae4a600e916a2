"""SIGKILL at every system call of a small campaign, injected by strace.

A process that dies *at* a system call has done everything before it and nothing of it. Three passes over the calls:

- ``begin``: the calling thread, from opening a new ledger to the table of results;
- ``threads``: the thread that claims, posts and settles, from its start;
- ``recover``: the calling thread of the call after a death, with a request of the dead process under way.

A pass follows one thread. Its calls are counted first, in a campaign that nobody disturbs.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

from smsotp_nb import Client
from smsotp_nb.results import Progress

from .child import Child, fork, stop_here
from .judge import Audit, Judge, audit
from .worker import Work

STRACE = shutil.which("strace")
ROWS, CHUNK = 4, 2
PASSES = ("begin", "threads", "recover")
# What another process could see: files, locks, sockets, threads. Death at a call that only reads is death at the next.
EFFECTS = (
    "write,writev,pwrite64,pwritev,sendto,sendmsg,recvfrom,connect,shutdown,fdatasync,fsync,ftruncate,fallocate,openat,"
    "close,unlink,rename,mkdir,rmdir,link,symlink,chmod,fchmod,fchown,fcntl,flock,clone,clone3,mmap,munmap,exit"
)


def run(*, calls: str = "all", passes: tuple[str, ...] = PASSES, deaths: int | None = None) -> Audit:
    """Kill a campaign at every call of each pass, go on with it, and return what became of them all.

    With ``deaths``, each pass ends after so many; its calls are taken in a shuffled order.
    """
    total, began = Audit(), time.monotonic()
    for name in passes:
        judge = Judge()
        try:
            with tempfile.TemporaryDirectory() as folder:
                found = _pass(name, Path(folder), judge, calls, deaths)
        finally:
            judge.close()
        total += found
        total.seconds = time.monotonic() - began
        print(f"{name}: {found.line()}", file=sys.stderr, flush=True)
    return total


def _pass(name: str, folder: Path, judge: Judge, calls: str, deaths: int | None) -> Audit:
    began, points = time.monotonic(), _points(name, folder, judge, calls)
    random.Random(0).shuffle(points)
    works = []
    for call, number in points:
        if len(works) == deaths:
            break
        work = _work(folder, f"{name}-{call}-{number}", judge)
        if kill_at(_child(name, work), call, number, follow=name == "threads"):
            works.append(work)
        fork(work.run).result()
    found = _audited(works, judge)
    found.seconds = time.monotonic() - began
    print(f"{name}: {len(works)} of {len(points)} calls", file=sys.stderr)
    return found


def _points(name: str, folder: Path, judge: Judge, calls: str) -> list[tuple[str, int]]:
    """Return the calls that a pass goes through as (name, 1 for its first one, 2 for its second ...).

    strace counts each kind of call in each thread by itself, so every call of a thread is one such pair.
    """
    lines = folder / f"{name}.calls"
    child = _child(name, _work(folder, f"{name}-counted", judge))
    pid = str(child.pid)
    tracer = attach(child, ["-f", "-o", str(lines), "-e", f"trace={calls}"])
    child.result()
    tracer.wait()
    found = re.findall(r"^(\d+) +(\w+)\(", lines.read_text(), re.MULTILINE)
    followed = Counter(call for thread, call in found if (thread == pid) != (name == "threads"))
    return [(call, number) for call, times in followed.items() for number in range(1, times + 1)]


def _child(name: str, work: Work) -> Child:
    if name == "recover":
        assert fork(_dying_with_a_request_under_way(work)).wait() is None
    return fork(_stopped_at_first_progress(work) if name == "threads" else stopped_before(work))


def _audited(works: list[Work], judge: Judge) -> Audit:
    inbox, total = judge.box.inbox, Audit()
    texted = {text: Counter(numbers) for text, numbers in inbox.groupby("text")["to"]}
    for work in works:
        name = work.plan.campaign
        found = audit(work.ledger, texted.get(name, Counter()), campaign=name)
        found.kills = 1
        found.most_in_doubt = found.in_doubt
        total += found
    return total


def _work(folder: Path, name: str, judge: Judge) -> Work:
    return Work.of(folder, judge.box.url, name=name, rows=ROWS, chunk_size=CHUNK, concurrency=1)


def kill_at(child: Child, calls: str, number: int, *, follow: bool) -> bool:
    """Let a stopped child go on under strace and have it killed at its N-th call; False when it ended before."""
    inject = f"inject={calls}:signal=KILL:when={number}"
    options = ["-o", "/dev/null", "-e", f"trace={calls}", "-e", inject, *(["-f"] if follow else [])]
    tracer = attach(child, options)
    ended = child.wait()
    tracer.wait()
    if ended is not None and not ended[0]:
        raise ended[1]
    return ended is None


def attach(child: Child, options: list[str]) -> subprocess.Popen[bytes]:
    """Let a child that stopped itself go on under strace."""
    os.waitpid(child.pid, os.WUNTRACED)
    tracer = subprocess.Popen([str(STRACE), "-qq", *options, "-p", str(child.pid)], stdin=subprocess.DEVNULL)
    while _tracer_of(child.pid) == 0 and tracer.poll() is None:
        time.sleep(0.001)
    assert tracer.poll() is None, "strace could not attach"
    os.kill(child.pid, signal.SIGCONT)
    return tracer


def _tracer_of(pid: int) -> int:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("TracerPid:"))


def stopped_before(work: Work) -> Callable[[], Any]:
    """Return the campaign as a task that stops itself first, so that strace can be attached."""

    def task() -> Any:
        stop_here()
        return work.run()

    return task


def _stopped_at_first_progress(work: Work) -> Callable[[], Any]:
    def stop_once(told: Progress) -> None:
        if not told.done:
            stop_here()

    return lambda: work.run(progress=stop_once)


def _dying_with_a_request_under_way(work: Work) -> Callable[[], Any]:
    def deliver_and_die(self: Client, *args: Any, **options: Any) -> None:
        deliver(self, *args, **options)
        os.kill(os.getpid(), signal.SIGKILL)

    def task() -> Any:
        with mock.patch.object(Client, "_deliver", deliver_and_die):
            return work.run()

    deliver = Client._deliver
    return task
