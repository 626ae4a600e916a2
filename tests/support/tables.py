"""Result tables as a send returns them."""

from __future__ import annotations

import pandas as pd

from smsotp_nb import Record, results


def table(rows: int = 3, **changes: object) -> pd.DataFrame:
    """A result table with its details: accepted rows, every column of the contract."""
    cells = {
        "campaign": "autumn-sale",
        "service": "sandbox",
        "to": [f"+1202555{n:04}" for n in range(100, 100 + rows)],
        "region": "US",
        "type": "FIXED_LINE_OR_MOBILE",
        "status": "accepted",
        "problem": None,
        "not_before": pd.Series([pd.NaT] * rows, dtype="datetime64[us]"),
        "id": [f"{n:032x}" for n in range(rows)],
        "iso": "US",
        "cc": "1",
        "parts": 1,
        "est_parts": 1,
        "chunk": range(rows),
        "attempts": 1,
        "encoding": "gsm7",
        "price": 0.0075,
        "est_cost": 0.0075,
        "currency": "USD",
        "est_currency": "USD",
        "error_code": None,
        "error": None,
        "request_id": None,
        "http_status": 200,
        "at": pd.Timestamp("2026-11-12 09:30:00.123456"),
        "message": 1,
    }
    kinds = results.COLUMNS | results.DETAILS
    assert set(cells) == set(kinds)
    frame = pd.DataFrame({**cells, **changes}, index=range(rows))
    times = {name: pd.to_datetime(frame[name], utc=True).dt.tz_localize(None) for name in ("at", "not_before")}
    frame = frame.assign(**times).astype(kinds)
    return frame[[*kinds, *(name for name in changes if name not in cells)]]


def whole(record: Record) -> pd.DataFrame:
    """A campaign's results with their details."""
    return record.results.join(record.details)


def two_currencies() -> pd.DataFrame:
    """Seven rows: two currencies, one unreadable price, one row each that is rejected, in doubt and skipped."""
    return table(
        8,
        iso=["US", "US", "NA", "CN", "CN", None, None, None],
        status=["accepted"] * 5 + ["rejected", "in_doubt", "skipped"],
        parts=[1, 2, 1, 1, 3, None, None, None],
        price=[0.0075, 0.015, 0.0395, 0.0511, None, 9.0, 9.0, None],
        currency=["USD", "USD", "USD", "CNY", "CNY", "USD", "USD", None],
    )
