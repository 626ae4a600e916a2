"""Made experiments with a known effect: people, their arms, and what they bought."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from smsotp_nb._experiments import reading
from smsotp_nb._experiments.declaring import HOLDOUT, Declared

SENT: Final = pd.Timestamp("2026-01-05 10:00", tz="UTC")
WEIGHTS: Final = {"plain": 45, "emoji": 45, "holdout": 10}
BASE: Final = 0.0057  # of the people buy without a message
_LOGNORMAL: Final = (4.5, 0.68)  # of what a buyer spends; with the share of buyers, a skewness of about 26
MEAN_SPENT: Final = float(np.exp(_LOGNORMAL[0] + _LOGNORMAL[1] ** 2 / 2))


def spent(buyers: int, random: np.random.Generator) -> npt.NDArray[np.float64]:
    """Return what so many buyers spent."""
    return np.asarray(random.lognormal(*_LOGNORMAL, buyers).round(2))


def assignment(people: int, *, seed: int = 0, weights: dict[str, int] | None = None) -> pd.DataFrame:
    """Return who is in which arm, as an experiment records it."""
    random, share = np.random.default_rng(seed), weights or WEIGHTS
    arm = np.array([*share])[random.choice(len(share), people, p=np.array([*share.values()]) / sum(share.values()))]
    texted = arm != "holdout"
    at = SENT + pd.to_timedelta(random.integers(0, 3600, people), unit="s")
    return pd.DataFrame(
        {
            "unit": [f"c{number}" for number in range(people)],
            "arm": arm,
            "at": at.astype("datetime64[us, UTC]"),
            "contacted": texted,
            "cost": np.where(texted, 0.0075, 0.0),
            "currency": np.where(texted, "USD", None),
        }
    )


def orders(
    assigned: pd.DataFrame, *, lift: dict[str, float] | None = None, base: float = BASE, seed: int = 1
) -> pd.DataFrame:
    """Return one order for each buyer, two days after the send; ``lift`` multiplies the share of buyers of an arm."""
    random, times = np.random.default_rng(seed), assigned["arm"].map(lift or {}).fillna(1.0).to_numpy("float64")
    buyers = assigned[random.random(len(assigned)) < base * times]
    return pd.DataFrame(
        {
            "customer": buyers["unit"].to_numpy(),
            "day": (buyers["at"] + timedelta(days=2)).array,
            "spend": spent(len(buyers), random),
        }
    )


def arguments(**more: Any) -> dict[str, Any]:
    """Return the arguments of a reading of these."""
    usual = {"on": "customer", "at": "day", "kinds": {"bought": "binary"}, "window": timedelta(days=14)}
    return {**usual, **more}


def read(
    assigned: pd.DataFrame, outcomes: Any, *, on: str, kinds: Any, window: timedelta, weights: Any = None, **more: Any
) -> reading.Reading:
    """Read an experiment of these arms; without weights their sizes are not checked."""
    arms = {arm: share for arm, share in (weights or {}).items() if arm != HOLDOUT}
    asked = Declared(more.pop("name", ""), arms, (weights or {}).get(HOLDOUT, 0), on, kinds, window)
    return reading.read(asked, assigned, outcomes, **more)
