"""A list of customers who do not exist, and an experiment on them."""

from __future__ import annotations

from typing import Any

import pandas as pd

from smsotp_nb import Experiment, Ledger, Plan, Sandbox, plan, send

NUMBERS = [f"+1202555{n:04}" for n in range(100, 200)]


def customers(many: int = 100) -> pd.DataFrame:
    return pd.DataFrame({"customer": [f"c{n:03}" for n in range(many)], "phone": NUMBERS[:many]})


def experiment(ledger: Ledger, name: str = "autumn", **more: Any) -> Experiment:
    how: dict[str, Any] = {
        "arms": {"plain": 40, "emoji": 40}, "holdout": 20, "unit": "customer", "read_after": "14d",
        "outcomes": {"bought": "binary", "spend": "amount"},
    }  # fmt: skip
    return Experiment(name, ledger=ledger, **how | more)


def arm_plan(part: pd.DataFrame, arm: str, name: str = "autumn", **more: Any) -> Plan:
    return plan(part, f"Hello from {arm}!", to="phone", campaign=f"{name}/{arm}", **more)


def send_arms(test: Experiment, frame: pd.DataFrame, box: Sandbox, ledger: Ledger) -> None:
    """Send every arm of an experiment, as a notebook does."""
    for arm, part in test.assign(frame, to="phone").texted():
        made = arm_plan(part, arm, test.name, ledger=ledger)
        send(made, client=box.client(), ledger=ledger, progress=False)


def arms_of(test: Experiment, frame: pd.DataFrame, **more: Any) -> dict[str, Any]:
    """Return the arm of each customer of a list."""
    found = test.assign(frame, to="phone", **more).frame
    return dict(zip(found["customer"], found["arm"].astype(object).where(found["arm"].notna(), None), strict=True))
