"""Plans to thirty people who do not exist, sent under a clock that the test moves."""

from __future__ import annotations

import warnings
from datetime import UTC, datetime, timedelta
from typing import Any

import pandas as pd

from smsotp_nb import Ledger, Plan, RequestOptions, Sandbox, plan, send
from smsotp_nb.errors import CampaignIncomplete

NUMBERS = [f"+1202555{n:04}" for n in range(100, 130)]


class Clock:
    def __init__(self) -> None:
        self.at = datetime(2026, 11, 12, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.at

    def later(self, **by: float) -> None:
        self.at += timedelta(**by)


def plan_of(name: str, numbers: list[str] = NUMBERS, text: str = "Hello!", **more: Any) -> Plan:
    more.setdefault("requests", RequestOptions(chunk_size=7))
    return plan(pd.DataFrame({"phone": numbers}), text, to="phone", campaign=name, **more)


def sent(made: Plan, box: Sandbox, ledger: Ledger, *, threads: int | None = None, **more: Any) -> pd.DataFrame:
    """Send without a word of what is held back."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CampaignIncomplete)
        return send(made.with_requests(threads=threads), box, ledger=ledger, **{"progress": False, **more})


def outcome(table: pd.DataFrame) -> dict[str, int]:
    """Return how many rows have each status and problem."""
    found: dict[str, int] = (
        table["status"].str.cat(table["problem"].fillna(""), sep=" ").str.strip().value_counts().to_dict()
    )
    return found
