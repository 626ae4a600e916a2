"""What the sandbox answers as JSON, as frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import pandas as pd

from .. import _wire as wire
from .._calling import as_printed
from .._pandas import STR
from .._results import contract
from . import inbox

_REQUEST: Final[Mapping[str, str | pd.StringDtype]] = {
    "n": "Int64", "at": "datetime64[us, UTC]", "action": STR, "to": STR, "outcome": STR, "status": "Int64",
    "code": STR, "fault": STR, "accepted": "Int64", "request_id": STR, "method": STR,
    "path": STR, "headers": STR, "body": STR, "size": "Int64", "reply": STR, "reply_size": "Int64",
}  # fmt: skip


def messages(told: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Return messages of the inbox as a frame, one row each; `Sandbox.inbox` tells the columns."""
    frame = pd.DataFrame(told, columns=list(inbox.COLUMNS))
    text = ["id", "to", "text", "code", "channel", "iso", "currency"]
    frame[text] = frame[text].astype(STR)
    frame["parts"] = frame["parts"].astype("Int64")
    frame["price"] = contract.money(frame["price"].map(wire.micros, na_action="ignore"))
    frame["at"] = pd.to_datetime(frame["at"], utc=True).astype("datetime64[us, UTC]")
    return as_printed(frame)


def requests(told: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Return requests of the journal as a frame, one row each; `Sandbox.requests` tells the columns."""
    rows = [{**one, **_lines(one)} for one in told]
    frame = pd.DataFrame(rows, columns=list(_REQUEST))
    frame["at"] = pd.to_datetime(frame["at"], utc=True)
    return as_printed(frame.astype(dict(_REQUEST)))


def _lines(one: Mapping[str, Any]) -> dict[str, str]:
    return {"to": " ".join(one["to"]), "headers": "\n".join(f"{name}: {value}" for name, value in one["headers"])}
