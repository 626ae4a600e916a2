"""Small lists and plans that the tests of planning share."""

from __future__ import annotations

from typing import Any

import pandas as pd

from smsotp_nb import _planning as planning

RATES = pd.DataFrame({"iso": ["US", "FR"], "currency": ["USD", "EUR"], "price": ["0.007500", "0.0713"]})


def number(last: int) -> str:
    return f"+1202555{100 + last:04d}"


def people(size: int = 4, **columns: Any) -> pd.DataFrame:
    return pd.DataFrame({"phone": [number(n) for n in range(size)], "name": [f"N{n}" for n in range(size)]} | columns)


def plan(frame: pd.DataFrame | None = None, **changes: Any) -> planning.Plan:
    arguments = {"message": "Hi {name}", "to": "phone", "campaign": "demo"} | changes
    return planning.plan(people() if frame is None else frame, **arguments)
