"""Stories of people: eight processes, four campaigns on the same people, short windows, deaths, changes and stops.

What was promised is computed anew from the sandbox's inbox, in a database of the judge's own: in no window more texts
than the cap, nobody after an opt-out was recorded, the same words once in their window, nobody twice in a campaign,
nobody after a withdrawal. A message counts as claimed at the moment that the ledger says, an opt-out or a withdrawal as
recorded at its own; a message of a process that died counts from when it was found dead, if it arrived after that.

    python -m tests.kills.people_stories 300
"""

from __future__ import annotations

import contextlib
import random
import sqlite3
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

import pandas as pd
import psycopg

from smsotp_nb import Ledger, Limits, People, Plan, Policy, RequestOptions, Sandbox, plan, send
from smsotp_nb._ledger.sending.holds import Holds
from smsotp_nb.errors import CampaignLockedError, PlanChanged, SmsOtpWarning, UsageError

from .child import Child, fork
from .judge import Judge
from .people import numbers

PROCESSES, CAMPAIGNS, CHUNK, SECONDS = 8, "abcd", 2, 2.5
GUESSES = 6
SOME, ALL = 10, 16  # people at first, and when a campaign was extended
SAME = "same words"  # the last version of every campaign
VERSIONS = (0, 1, 2)
POLICIES: tuple[dict[str, Any], ...] = (
    {"caps": [(1, "1s")]},
    {"caps": [(1, "2s")], "same_text": "1s"},
    {"caps": [(2, "5s")]},
    {"caps": [(1, "1s"), (2, "3s")], "same_text": None},
    {},
)


@dataclass(slots=True)
class Told:
    """What happened and what was found; the broken promises must be none."""

    stories: int = 0
    kills: int = 0
    messages: int = 0
    people: int = 0
    stops: int = 0
    changes: int = 0
    held: int = 0
    over_cap: int = 0
    after_stop: int = 0
    after_withdrawal: int = 0
    same_words: int = 0
    twice: int = 0
    seconds: float = 0.0
    odd: list[str] = field(default_factory=list)

    def __iadd__(self, other: Told) -> Told:
        for name in (one.name for one in fields(self)):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        return self

    @property
    def duplicates(self) -> int:
        return self.over_cap + self.after_stop + self.after_withdrawal + self.same_words + self.twice

    @property
    def broken(self) -> bool:
        return bool(self.duplicates or self.odd)

    def line(self) -> str:
        return (
            f"{self.stories:,} stories in {self.seconds:.0f} s: {self.messages:,} messages to {self.people:,} people, "
            f"{self.kills:,} kills, {self.stops:,} opt-outs, {self.changes:,} changes, {self.held:,} rows held back at "
            f"the end; {self.over_cap} over a cap, {self.after_stop} after an opt-out, {self.after_withdrawal} after a "
            f"withdrawal, {self.same_words} with the same words, {self.twice} twice in a campaign"
            + "".join(f"\n  {one}" for one in self.odd[:3])
        )


@contextlib.contextmanager
def nobody_held() -> Iterator[None]:
    """A ledger that asks no rule: its people are texted too often, and after they said stop."""
    with mock.patch.object(Holds, "of", return_value=[]):
        yield


CARELESS: dict[str, Callable[[], contextlib.AbstractContextManager[None]]] = {
    "": contextlib.nullcontext,
    "rules switched off": nobody_held,
}


def run(stories: int, *, seed: int = 0, careless: str = "", database: Callable[[], str] | None = None) -> Told:
    """Tell this many stories, with ledgers in files or in databases, and return what was found in them all."""
    chance, total, began = random.Random(seed), Told(), time.monotonic()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SmsOtpWarning)
        for number in range(stories):
            judge = Judge()
            try:
                with tempfile.TemporaryDirectory() as folder, CARELESS[careless]():
                    place = database() if database else Path(folder) / "l.sqlite"
                    total += Story(place, judge, chance, number % len(POLICIES)).tell()
            finally:
                judge.close()
            total.seconds = time.monotonic() - began
            if number % 20 == 19:
                print(total.line(), file=sys.stderr, flush=True)
    return total


@cache
def plan_of(policy: int, campaign: str, version: int, many: int, suppressed: bool) -> Plan:
    text = SAME if version == VERSIONS[-1] else f"{campaign} {version}"
    return plan(
        pd.DataFrame({"phone": numbers(many)}),
        text,
        to="phone",
        campaign=campaign,
        policy=Policy(**POLICIES[policy]),
        requests=RequestOptions(chunk_size=CHUNK),
        exclude=numbers(many)[3:5] if suppressed else None,
    )


class Story:
    """One ledger, its people, and the processes at work on them."""

    def __init__(self, path: str | Path, judge: Judge, chance: random.Random, policy: int) -> None:
        self._path, self._judge, self._chance, self._policy = path, judge, chance, policy
        self._found = Told(stories=1, people=ALL)

    def tell(self) -> Told:
        """Let processes send, change and stop, kill some of them, and judge what was sent."""
        Ledger(self._path, create=True).close()
        ends = time.monotonic() + SECONDS
        at_work = [self._process(ends) for _ in range(self._chance.randint(2, PROCESSES))]
        while time.monotonic() < ends:
            time.sleep(self._chance.uniform(0.05, 0.5))
            at = self._chance.randrange(len(at_work))
            killed, at_work[at] = at_work[at], self._process(ends)
            self._end(killed, kill=True)
        for child in at_work:
            self._end(child, kill=False)
        return self._judged()

    def _process(self, ends: float) -> Child:
        seed = self._chance.random()
        return fork(lambda: self._acts(random.Random(seed), ends))

    def _end(self, child: Child, *, kill: bool) -> None:
        try:
            if kill and child.kill():
                self._found.kills += 1
            elif not kill:
                child.result()
        except (EOFError, AssertionError):
            return
        except Exception as error:  # noqa: BLE001 - whatever a process raised is part of what was found
            self._found.odd.append(f"{type(error).__name__}: {error}"[:300])

    # -- what a process does -------------------------------------------------------------------------------------------

    def _acts(self, chance: random.Random, ends: float) -> None:
        warnings.simplefilter("ignore", SmsOtpWarning)
        with Ledger(self._path) as ledger:
            while time.monotonic() < ends:
                act = chance.choices([self._send, self._stop, self._change, self._withdraw], [12, 5, 4, 0.3])[0]
                with contextlib.suppress(CampaignLockedError, PlanChanged, UsageError):
                    act(chance, ledger)
                time.sleep(chance.uniform(0, 0.1))

    def _plan(self, chance: random.Random) -> Plan:
        many = chance.choice([SOME, ALL])
        return plan_of(
            self._policy, chance.choice(CAMPAIGNS), chance.choice(VERSIONS), many, suppressed=chance.random() < 0.2
        )

    def _send(self, chance: random.Random, ledger: Ledger) -> None:
        made = self._plan(chance)
        send(
            made.with_requests(threads=chance.randint(1, 3), isolate_invalid=chance.random() < 0.3),
            client=Sandbox.at(self._judge.box.url).client(),
            ledger=ledger,
            progress=False,
            limits=Limits(per_second=chance.choice([None, 10, 30]), first=chance.choice([None, None, 3])),
        )

    def _stop(self, chance: random.Random, ledger: Ledger) -> None:
        if chance.random() < 0.5:
            People(ledger).opt_out(chance.choice(numbers(ALL)), source="phone")

    def _change(self, chance: random.Random, ledger: Ledger) -> None:
        for _ in range(GUESSES):  # it does not know what is recorded: most plans are refused
            made = self._plan(chance)
            service = ledger.record(made.campaign).service
            with contextlib.suppress(PlanChanged, UsageError):
                missing = chance.choice(["refuse", "withdraw"])
                ledger._revise(made, service=service, reason="story", missing=missing)
                return

    def _withdraw(self, chance: random.Random, ledger: Ledger) -> None:
        ledger.record(chance.choice(CAMPAIGNS)).withdraw(reason="story")

    # -- what is found -------------------------------------------------------------------------------------------------

    def _judged(self) -> Told:
        with Ledger(self._path) as ledger:
            for name in ledger.campaigns()["campaign"]:
                frame = ledger.record(name).results  # puts rows in doubt that a dead process left
                self._found.held += int(frame["problem"].isin(["CAPPED", "SAME_TEXT", "OPTED_OUT"]).sum())
        court = sqlite3.connect(":memory:")
        self._bring(court)
        policy = Policy(**POLICIES[self._policy])
        one = court.execute
        self._found.messages = one("SELECT count(*) FROM texted").fetchone()[0]
        self._found.stops = one("SELECT count(*) FROM stop").fetchone()[0]
        self._found.changes = one("SELECT count(*) FROM change").fetchone()[0]
        for most, window in policy.caps:
            span = int(window.total_seconds() * 1_000_000) - 1
            self._found.over_cap += one(_TOO_MANY.format(who="person", span=span), (most,)).fetchone()[0]
        if policy.same_text:
            span = int(policy.same_text.total_seconds() * 1_000_000) - 1
            self._found.same_words += one(_TOO_MANY.format(who="person, text", span=span), (1,)).fetchone()[0]
        self._found.after_stop += one(_AFTER_STOP).fetchone()[0]
        self._found.after_withdrawal += one(_AFTER_WITHDRAWAL, numbers(SOME)).fetchone()[0]
        self._found.twice += one(_TWICE).fetchone()[0]
        if self._found.duplicates:
            self._found.odd += [str(row) for row in one(_EVIDENCE).fetchall()]
        return self._found

    def _bring(self, court: sqlite3.Connection) -> None:
        """Let the judge know what the sandbox received, what people said, and when each row was claimed."""
        inbox = self._judge.box.inbox
        ledger = _read(self._path)
        court.execute("CREATE TABLE claim (person, campaign, body, claimed, ended)")
        court.executemany(
            "INSERT INTO claim VALUES (?, ?, ?, ?, ?)",
            ledger.execute(
                "SELECT '+' || number, k.name, f.body, a.started_at, a.settled_at FROM fate f JOIN campaign k "
                "ON k.id=f.campaign JOIN attempt a ON a.id=f.attempt WHERE f.state IN (1, 2, 4)"
            ).fetchall(),
        )
        court.execute("CREATE TABLE stop (person, recorded)")
        court.executemany(
            "INSERT INTO stop VALUES (?, ?)",
            ledger.execute("SELECT '+' || person, min(recorded_at) FROM consent GROUP BY 1").fetchall(),
        )
        court.execute("CREATE TABLE change (campaign, at, what, plan)")
        court.executemany(
            "INSERT INTO change VALUES (?, ?, ?, ?)",
            ledger.execute(
                "SELECT k.name, c.at, c.what, c.replaced FROM change c JOIN campaign k ON k.id=c.campaign"
            ).fetchall(),
        )
        ledger.close()
        court.execute("CREATE TABLE arrived (person, text, body, at)")
        court.executemany(
            "INSERT INTO arrived VALUES (?, ?, ?, ?)",
            zip(inbox["to"], inbox["text"], inbox["text"].map(_bodies()), _micros(inbox["at"]), strict=True),
        )
        court.execute(_TEXTED)


# A message is of the latest claim of its person with its words that began before it came.
_TEXTED = """
CREATE TABLE texted AS
SELECT m.person, m.text, c.campaign, c.claimed, min(m.at, c.ended) AS at FROM arrived m JOIN claim c ON c.rowid=(
  SELECT rowid FROM claim o WHERE o.person=m.person AND o.body=m.body AND o.claimed<=m.at
  ORDER BY o.claimed DESC LIMIT 1)
"""
_TOO_MANY = """
SELECT count(*) FROM (SELECT count(*) OVER (
  PARTITION BY {who} ORDER BY at RANGE BETWEEN {span} PRECEDING AND CURRENT ROW) AS many FROM texted) WHERE many>?
"""
_EVIDENCE = """
SELECT m.*, c.campaign, c.claimed, c.ended, s.recorded FROM arrived m LEFT JOIN claim c USING (person)
LEFT JOIN stop s USING (person) ORDER BY 1, 3
"""
_AFTER_STOP = "SELECT count(*) FROM texted JOIN stop USING (person) WHERE claimed>recorded"
_AFTER_WITHDRAWAL = f"""
SELECT count(*) FROM texted t WHERE person IN ({",".join("?" * SOME)}) AND EXISTS (
  SELECT 1 FROM change c WHERE c.what='withdrawn' AND c.plan IS NULL AND c.campaign=t.campaign AND t.claimed>c.at)
"""  # a revised plan (`plan` is the one it replaced) withdraws only those whom it leaves out
_TWICE = """
SELECT (SELECT count(*) FROM arrived) - (SELECT count(*) FROM texted)
+ coalesce((SELECT sum(many-1) FROM (SELECT count(*) AS many FROM texted GROUP BY person, campaign) WHERE many>1), 0)
"""


def _read(ledger: str | Path) -> Any:
    """Return a connection to a ledger that looks and changes nothing."""
    if isinstance(ledger, str):
        return psycopg.connect(ledger, autocommit=True)
    return sqlite3.connect(f"file:{ledger}?mode=ro", uri=True)


def _micros(at: pd.Series) -> list[int]:
    return at.astype("datetime64[us, UTC]").astype("int64").tolist()


@cache
def _bodies() -> dict[str, int]:
    """Return the ledger's key of each text."""
    plans = [plan_of(0, campaign, version, SOME, suppressed=False) for campaign in CAMPAIGNS for version in VERSIONS]
    return {made._message(0).text or "": int(made._held.body_keys[0]) for made in plans}


def main(arguments: list[str]) -> int:
    stories, seed = ([int(one) for one in arguments] + [300, 1][len(arguments) :])[:2]
    found = run(stories, seed=seed)
    print(f"people: {found.line()}", flush=True)
    careless = run(5, seed=1, careless="rules switched off")
    print(f"people, rules switched off: {careless.line()}", flush=True)
    return 1 if found.broken or not careless.duplicates else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
