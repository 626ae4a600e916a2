"""A planted effect, sent through the sandbox and read again: how often does the 95% interval hold it?

    python benchmarks/experiments_sent.py              200 experiments of 800 people; 5 minutes
    python benchmarks/experiments_sent.py --runs 20    fewer
    python benchmarks/experiments_sent.py --kills      each is killed twice while it is sent, and resumed
    python benchmarks/experiments_sent.py --drawn 5000 the same draws and orders without sending: a narrower answer

Each run is an experiment of its own, with a name and so with arms of its own: drawn, planned, sent and recorded, every
third one in two calls, the first of which texts five. Then orders are made in which the message adds ten percentage
points to twenty, and read on the reading day. Arms and orders depend on the number of the run alone, so sending and
kills must change none of the intervals. Ends with 1 when fewer than 92 or more than 98 of 100 intervals hold the
effect, when one is not that of the same arms and orders without sending, when a person held out is in the sandbox's
inbox, or somebody has one text twice.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from smsotp_nb import Experiment, Ledger, Limits, Plan, Policy, RequestOptions, Sandbox, plan, send
from smsotp_nb._experiments.assigning import drawn, uniform
from smsotp_nb._experiments.statistics import Share, compare_shares
from smsotp_nb.errors import SmsOtpWarning

BASE, EFFECT = 0.2, 0.1
LEAST, MOST = 0.92, 0.98
KILLED_AT = (40, 250)  # messages accepted
CHUNK = 20


def people() -> pd.DataFrame:
    """Eight hundred customers with numbers that belong to nobody."""
    areas = ["201", "202", "203", "205", "206", "207", "208", "209"]
    phones = [f"+1{area}55501{last:02}" for area in areas for last in range(100)]
    return pd.DataFrame({"customer": range(len(phones)), "phone": phones})


def killed(made: Plan, path: Path, url: str, accepted: int) -> bool:
    """Send in a process of its own that kills itself once so many are accepted; say whether it came to that."""

    def watch(told: Any) -> None:
        if told.accepted >= accepted:
            os.kill(os.getpid(), signal.SIGKILL)

    child = os.fork()
    if not child:
        with Ledger(path) as ledger:
            send(made, client=Sandbox.at(url).client(), ledger=ledger, progress=watch)
        os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


Interval = tuple[float, float]


def sent(run: int, *, kills: bool) -> Interval:
    """Send one experiment to a sandbox and a ledger of its own, and return the interval that is read."""
    with tempfile.TemporaryDirectory() as folder, Sandbox(balance=10**6) as box:
        found = sent_in(run, people(), box, Path(folder), kills=kills)
    if not np.allclose(found, drawn_in(run, people()), rtol=0, atol=1e-12):
        raise SystemExit(f"run {run}: the interval is not that of the arms and orders without sending")
    return found


def sent_in(run: int, frame: pd.DataFrame, box: Sandbox, folder: Path, *, kills: bool) -> Interval:
    """Send one experiment, read it on its day, and return the interval."""
    how = {"arms": {"texted": 50}, "holdout": 50, "unit": "customer", "outcomes": {"bought": "binary"}}
    path = folder / f"{run}.sqlite"
    with Ledger(path, create=True) as ledger:
        test = Experiment(f"run {run}", read_after="14d", ledger=ledger, **how)
        split = test.assign(frame, to="phone")
        texted = dict(split.texted())["texted"]
        policy, requests = Policy(same_text=None), RequestOptions(chunk_size=CHUNK)
        made = plan(texted, "Hello!", campaign=f"run {run}/texted", to="phone", policy=policy, requests=requests)
        if kills:
            ledger.close()
            if not all(killed(made, path, box.url, at) for at in KILLED_AT):
                raise SystemExit(f"run {run}: it ended before it was killed")
        for first in (5, None) if run % 3 == 0 else (None,):
            send(made, client=box.client(), ledger=ledger, progress=False, limits=Limits(first=first))
        everybody = plan(frame, "Hi!", campaign=f"run {run}/all", to="phone", policy=policy)
        table = send(everybody, client=box.client(), ledger=ledger, progress=False)
        reached = box.inbox
        held = table["to"].to_numpy(object)[split.frame["arm"].eq("holdout").to_numpy()]
        if reached["to"].isin(held).any():
            raise SystemExit(f"run {run}: a person held out was texted")
        if reached[["to", "text"]].duplicated().any():
            raise SystemExit(f"run {run}: somebody was texted twice")
        orders = orders_of(test.assigned(), np.random.default_rng(run))
        later = pd.Timestamp.now("UTC") + pd.Timedelta(days=15)
        reading = Experiment(f"run {run}", read_after="14d", ledger=ledger, now=later.to_pydatetime, **how).read(
            orders, at="at"
        )
    row = reading.frame.set_index("arm").loc["texted"]
    return float(row["low"]), float(row["high"])


_DAY = pd.Timestamp("2026-11-12 10:00", tz="UTC")


def orders_of(assigned: pd.DataFrame, random: np.random.Generator) -> pd.DataFrame:
    """Make orders of which the message brings ten percentage points more."""
    chance = np.where(assigned["arm"].eq("texted"), BASE + EFFECT, BASE)
    days = pd.to_timedelta(random.uniform(0, 13, len(assigned)), unit="D")
    orders = pd.DataFrame({"customer": assigned["unit"], "at": assigned["at"] + days})
    return orders[random.random(len(assigned)) < chance]


def drawn_in(run: int, frame: pd.DataFrame) -> Interval:
    """Return the interval of the arms and orders of a run, without sending it."""
    place = uniform(frame["customer"].astype(str).tolist(), f"run {run}\0".encode())
    texted = drawn(place, {"holdout": 50, "texted": 50}) == 1
    assigned = pd.DataFrame({"unit": frame["customer"], "arm": np.where(texted, "texted", "holdout"), "at": _DAY})
    bought = frame["customer"].isin(orders_of(assigned, np.random.default_rng(run))["customer"]).to_numpy()
    sides = [Share(int(bought[side].sum()), int(side.sum())) for side in (texted, ~texted)]
    found = compare_shares(*sides)
    return found.low, found.high


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--kills", action="store_true")
    parser.add_argument("--drawn", type=int, default=0)
    asked = parser.parse_args()
    runs = asked.drawn or asked.runs
    warnings.simplefilter("ignore", SmsOtpWarning)
    if asked.drawn:
        found = [drawn_in(run, people()) for run in range(runs)]
    else:
        found = [sent(run, kills=asked.kills) for run in range(runs)]
    held = [low <= EFFECT <= high for low, high in found]
    share = float(np.mean(held))
    print(f"{sum(held)} of {runs} intervals hold the effect: {share:.1%} (wanted: {LEAST:.0%} to {MOST:.0%})")
    return int(not LEAST <= share <= MOST)


if __name__ == "__main__":
    sys.exit(main())
