"""Send in a test: without a bar, and without the warnings, which have tests of their own."""

from __future__ import annotations

import warnings
from typing import Any

import pandas as pd

from smsotp_nb import Client, Ledger, Plan, send
from smsotp_nb.errors import SmsOtpWarning


def sent(made: Plan, client: Client, ledger: Ledger, *, threads: int | None = None, **options: Any) -> pd.DataFrame:
    """Return the result table of one send."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SmsOtpWarning)
        return send(made.with_wire(threads=threads), client, ledger=ledger, **({"progress": False} | options))


def status(table: pd.DataFrame) -> dict[str, int]:
    return table["status"].value_counts().to_dict()
