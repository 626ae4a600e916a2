"""One recipient of a plan larger than memory, as a plan in memory: what a test message is made from."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from .. import _wire as wire
from .._calling import not_whole, refuse
from .._planning import UNASKED, DatasetPlan, Message, Plan, column, plan
from ..errors import UsageError
from .addressees import Bodies

_TO = "the number"  # which no variable of a template is called


def excerpt(made: DatasetPlan, row: int) -> Plan:
    """Return a plan of the row-th recipient alone, with the message that is filled for them.

    Raises:
        UsageError: there is no such recipient, or the plan's files are not those that were planned.
    """
    refuse(not_whole("row", row, least=0), said="nothing was sent: ")
    numbers, keys = made.addressees()
    going = np.flatnonzero(numbers)
    if row >= len(going):
        raise UsageError(f"row={row}: the plan has {len(going):,} recipients, counted from 0")
    message = made.message(Bodies(made.body_keys).number(int(keys[going[row]])))
    cells = {_TO: f"+{numbers[going[row]]}", **_cells(message)}
    return plan(
        pd.DataFrame({name: [value] for name, value in cells.items()}),
        to=_TO,
        campaign=made.campaign,
        signature=message.signature,
        signature_join=made.signature_join,
        variant=made.variant,
        keep_bodies=False,  # their words are in a column here, and what placeholders are filled with is never kept
        ledger=UNASKED,
        text=None if message.text is None else _as_planned(column("text")),
        content=None if message.content is None else _as_planned(column("content")),
        template_id=message.template_id,
        template_data=_as_planned({name: name for name, _ in message.template_data}) if message.template_data else None,
    )


def _as_planned(words: Any) -> Message:
    """Return words that were checked when the list was planned."""
    return Message(words, literal=True)


def _cells(message: wire.Body) -> dict[str, str]:
    said = {"text": message.text, "content": message.content}
    return {name: value for name, value in said.items() if value is not None} | dict(message.template_data)
