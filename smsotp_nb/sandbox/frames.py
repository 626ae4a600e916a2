"""What the sandbox answers as JSON, as frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import pandas as pd

from .. import _wire as wire
from .._pandas import STR
from .._results import contract

_MESSAGE: Final[Mapping[str, str | pd.StringDtype]] = {
    "id": STR, "to": STR, "text": STR, "code": STR, "channel": STR, "iso": STR, "parts": "Int64", "price": "float64",
    "currency": STR, "at": "datetime64[us, UTC]",
}  # fmt: skip
_REQUEST: Final[Mapping[str, str | pd.StringDtype]] = {
    "n": "Int64", "at": "datetime64[us, UTC]", "action": STR, "to": STR, "outcome": STR, "status": "Int64",
    "code": STR, "fault": STR, "accepted": "Int64", "request_id": STR, "method": STR,
    "path": STR, "headers": STR, "body": STR, "size": "Int64", "reply": STR, "reply_size": "Int64",
}  # fmt: skip


def messages(records: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Return messages of the inbox as a frame, one row each; `Sandbox.inbox` tells the columns."""
    frame = pd.DataFrame(records, columns=list(_MESSAGE))
    frame["price"] = contract.money(frame["price"].map(wire.micros, na_action="ignore"))
    frame["at"] = pd.to_datetime(frame["at"], utc=True)
    return frame.astype(dict(_MESSAGE))


def requests(records: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Return requests of the journal as a frame, one row each; `Sandbox.requests` tells the columns."""
    rows = []
    for record in records:
        headers = "\n".join(f"{name}: {value}" for name, value in record["headers"])
        rows.append({**record, "to": " ".join(record["to"]), "headers": headers})
    frame = pd.DataFrame(rows, columns=list(_REQUEST))
    frame["at"] = pd.to_datetime(frame["at"], utc=True)
    return frame.astype(dict(_REQUEST))
