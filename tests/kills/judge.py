"""The judge of a campaign: the sandbox in a process of its own, whose own count says who was texted how often."""

from __future__ import annotations

import os
import signal
from collections import Counter
from dataclasses import dataclass, field, fields
from pathlib import Path

from smsotp_nb import Ledger, Sandbox
from smsotp_nb.sandbox import server

from .child import fork


def _serve(said: int) -> None:
    running = server.Server()
    running.run(lambda: os.write(said, running.url.encode()) and None)


class Judge:
    """A sandbox in another process, ended by ``close``."""

    def __init__(self) -> None:
        heard, said = os.pipe()
        self._child = fork(lambda: _serve(said))
        os.close(said)
        self.box = Sandbox.at(os.read(heard, 100).decode())
        os.close(heard)
        self.box.top_up(100_000)

    def texted(self, text: str) -> Counter[str]:
        """Return how often each number was texted this text."""
        inbox = self.box.inbox
        return Counter(inbox.loc[inbox["text"].eq(text), "to"])

    def close(self) -> None:
        os.kill(self._child.pid, signal.SIGTERM)
        self._child.wait()


@dataclass(slots=True)
class Audit:
    """What became of campaigns: each a number of rows, summed over campaigns; the first two must be 0.

    ``duplicates`` texts beyond the first of a number; ``lost`` rows whose state and the judge's count do not fit:
    accepted but never texted, texted but neither accepted nor in doubt, or in no state a campaign may end in.
    """

    duplicates: int = 0
    lost: int = 0
    in_doubt: int = 0
    rows: int = 0
    kills: int = 0
    campaigns: int = 0
    seconds: float = 0.0
    most_in_doubt: int = 0
    odd: list[str] = field(default_factory=list)

    def __iadd__(self, other: Audit) -> Audit:
        for name in (one.name for one in fields(self)):
            mine, its = getattr(self, name), getattr(other, name)
            setattr(self, name, max(mine, its) if name == "most_in_doubt" else mine + its)
        return self

    @property
    def broken(self) -> bool:
        return bool(self.duplicates or self.lost)

    def line(self) -> str:
        return (
            f"{self.kills:,} kills in {self.campaigns:,} campaigns of {self.rows:,} rows in {self.seconds:.0f} s: "
            f"{self.duplicates:,} duplicates, {self.lost:,} lost, {self.in_doubt:,} in doubt "
            f"(at most {self.most_in_doubt} after one kill)" + "".join(f"\n  {one}" for one in self.odd[:3])
        )


def audit(path: str | Path, texted: Counter[str], *, campaign: str, finished: bool = True) -> Audit:
    """Compare what a ledger says of a campaign with how often each number was texted."""
    with Ledger(path, create=True) as ledger:
        rows = ledger.record(campaign).results
    state = dict(zip(rows["to"], rows["status"], strict=True))
    allowed = {"accepted", "rejected", "in_doubt"} | (set() if finished else {"planned"})
    odd = [f"{number} is {found}" for number, found in state.items() if found not in allowed]
    odd += [f"{number} is accepted, never texted" for number in state if _is(state, number, "accepted", texted, 0)]
    odd += [
        f"{number} was texted and is {state.get(number)}"
        for number in texted
        if state.get(number) not in {"accepted", "in_doubt"}
    ]
    return Audit(
        duplicates=sum(count - 1 for count in texted.values()),
        lost=len(odd),
        in_doubt=list(state.values()).count("in_doubt"),
        rows=len(state),
        campaigns=1,
        odd=odd[:3],
    )


def _is(state: dict[str, str], number: str, name: str, texted: Counter[str], times: int) -> bool:
    return state[number] == name and texted[number] == times
