"""A planted effect, sent through the sandbox and read again: how often does the 95 % interval hold it?

    python benchmarks/experiments_sent.py              200 experiments of 800 people; some minutes
    python benchmarks/experiments_sent.py --runs 20    fewer

Each run is an experiment of its own, with a name and so with arms of its own: drawn, planned, sent and recorded, every
third one in two calls with a canary between them. Then orders are made in which the message adds ten percentage points
to twenty, and read on the reading day. Ends with 1 when fewer than 92 or more than 98 of 100 intervals hold the effect,
or when a person held out is in the sandbox's inbox.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

from smsotp_nb import Experiment, Ledger, Policy, Sandbox, plan, send
from smsotp_nb.errors import CampaignIncomplete

BASE, EFFECT = 0.2, 0.1
LEAST, MOST = 0.92, 0.98


def people() -> pd.DataFrame:
    """Eight hundred customers with numbers that belong to nobody."""
    areas = ["201", "202", "203", "205", "206", "207", "208", "209"]
    phones = [f"+1{area}55501{last:02}" for area in areas for last in range(100)]
    return pd.DataFrame({"customer": range(len(phones)), "phone": phones})


def held_in(run: int, frame: pd.DataFrame, box: Sandbox, folder: Path) -> bool:
    """Send one experiment and say whether its interval holds the effect."""
    how = {"arms": {"texted": 50}, "holdout": 50, "unit": "customer", "outcomes": {"bought": "binary"}}
    with Ledger(folder / f"{run}.sqlite", create=True) as ledger:
        test = Experiment(f"run {run}", read_after="14d", ledger=ledger, **how)
        split = test.assign(frame, to="phone")
        texted = dict(split.texted())["texted"]
        made = plan(texted, to="phone", campaign=f"run {run}/texted", text="Hello!", policy=Policy(same_text=None))
        for canary in (5, None) if run % 3 == 0 else (None,):
            send(made, client=box.client(), ledger=ledger, progress=False, canary=canary)
        everybody = plan(frame, to="phone", campaign=f"run {run}/all", text="Hi!", policy=Policy(same_text=None))
        table = send(everybody, client=box.client(), ledger=ledger, progress=False)
        held = split.frame["arm"].eq("holdout").to_numpy()
        if table["status"].eq("accepted").to_numpy()[held].any():
            raise SystemExit(f"run {run}: a person held out was texted")
        orders = orders_of(test.assigned(), np.random.default_rng(run))
        later = pd.Timestamp.now("UTC") + pd.Timedelta(days=15)
        reading = Experiment(f"run {run}", read_after="14d", ledger=ledger, now=later.to_pydatetime, **how).read(
            orders, at="at"
        )
    row = reading.frame.set_index("arm").loc["texted"]
    return bool(row["low"] <= EFFECT <= row["high"])


def orders_of(assigned: pd.DataFrame, random: np.random.Generator) -> pd.DataFrame:
    """Make orders of which the message brings ten percentage points more."""
    chance = np.where(assigned["arm"].eq("texted"), BASE + EFFECT, BASE)
    days = pd.to_timedelta(random.uniform(0, 13, len(assigned)), unit="D")
    orders = pd.DataFrame({"customer": assigned["unit"], "at": assigned["at"] + days})
    return orders[random.random(len(assigned)) < chance]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=200)
    runs = parser.parse_args().runs
    warnings.simplefilter("ignore", CampaignIncomplete)
    with tempfile.TemporaryDirectory() as folder, Sandbox(balance=10**6) as box:
        held = [held_in(run, people(), box, Path(folder)) for run in range(runs)]
    share = float(np.mean(held))
    print(f"{sum(held)} of {runs} intervals hold the effect: {share:.1%} (wanted: {LEAST:.0%} to {MOST:.0%})")
    return int(not LEAST <= share <= MOST)


if __name__ == "__main__":
    sys.exit(main())
