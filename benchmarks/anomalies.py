"""Plant what goes wrong in made years; see whether it is found, how soon, and how often nothing was there.

    python benchmarks/anomalies.py [years]

Each year is made by ``sample_data/made_year.py`` with a seed of its own, and searched once as it is and once with each
thing planted from a day of the second half on. A planted thing is found if a finding of its kind that no campaign
explains begins within three weeks after its first day. Findings in a year without anything planted are false alarms,
those that a campaign explains counted apart.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from smsotp_nb.cost import anomalies

sys.path.insert(0, str(Path(__file__).parents[1] / "sample_data"))
from made_year import Planted, made_year

CASES: dict[str, tuple[str, float, str | None]] = {
    "price of a part in Germany, +5%": ("price", 1.05, "DE"),
    "price of a part in Germany, +20%": ("price", 1.20, "DE"),
    "reminders: 5% take one part more": ("parts", 0.05, None),
    "reminders: 20% take one part more": ("parts", 0.20, None),
    "reminders: all take one part more": ("parts", 1.00, None),
    "refusals in India, 2% more": ("refusals", 0.02, "IN"),
    "refusals in India, 5% more": ("refusals", 0.05, "IN"),
    "refusals in India, 15% more": ("refusals", 0.15, "IN"),
}


def planted(seed: int, case: tuple[str, float, str | None]) -> dict[str, Any]:
    """Return whether, and after how many days, what was planted in a year is found."""
    what, size, iso = case
    since = pd.Timestamp("2026-07-01") + pd.Timedelta(days=int(np.random.default_rng(seed).integers(0, 150)))
    wrong: Any = Planted(what, f"{since:%Y-%m-%d}", size, iso)
    found = anomalies(made_year(seed, planted=[wrong]).spending).found
    found = found[(found["what"] == what) & ~found["explained"]]
    late = (found["since"] - since).dt.days
    soon = late[(late >= 0) & (late <= 21)]
    cause = found.loc[soon.index]
    right = (
        bool((cause["iso"] == iso).any()) if iso else bool(cause["campaign"].fillna("").str.contains("reminders").any())
    )
    return {
        "found": len(soon) > 0,
        "days": soon.min() if len(soon) else np.nan,
        "cause": right if len(soon) else np.nan,
    }


def main() -> None:
    years = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    alarms = pd.concat([anomalies(made_year(seed).spending).found for seed in range(years)])
    open_ = alarms[~alarms["explained"]]
    print(f"{years} years without anything planted: {len(open_) / years:.2f} false alarms a year")
    print(open_.groupby("what").size().div(years).round(3).to_string())
    print(f"and {alarms['explained'].sum() / years:.2f} findings a year that a campaign explains")
    for name, case in CASES.items():
        table = pd.DataFrame([planted(seed, case) for seed in range(years)])
        print(f"{name}: found {table['found'].mean():.0%}, after {table['days'].median():.0f} days (median), "
              f"cause right in {table['cause'].astype(float).mean():.0%}", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
