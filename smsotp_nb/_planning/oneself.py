"""A plan cut down to one message to one number: what ``send_test`` sends."""

from __future__ import annotations

import dataclasses

import pandas as pd

from .. import phones
from .._calling import not_a, not_whole, refuse
from .._pandas import STR
from ..errors import UsageError
from .assembly import fingerprint
from .value import Plan


def to_oneself(plan: Plan, to: str, *, row: int = 0) -> Plan:
    """Return a plan of one row: the message of the row-th planned recipient, addressed to ``to``.

    Raises:
        UsageError: ``to`` is no number we would text, or the plan has no such recipient.

    Example:
        >>> from smsotp_nb._planning import plan
        >>> people = pd.DataFrame({"phone": ["+12025550123"], "name": ["Ann"]})
        >>> made = plan(people, to="phone", campaign="demo", text="Hi {name}")
        >>> to_oneself(made, "+1 415 555 0100").rows["to"].tolist()
        ['+14155550100']
    """
    made = not_a("plan", plan, Plan, wanted="what plan(frame, to=..., ...) returned")
    refuse(made, not_whole("row", row, least=0), said="nothing was sent: ")
    number = phones.normalize(pd.Series([to], dtype=object)).iloc[0]
    if pd.isna(number["to"]):
        raise UsageError(
            f"to= is not a number to text ({number['problem']}); pass it as E.164, such as +1 and ten digits"
        )
    rows = plan.rows
    planned = rows.loc[rows["status"].eq("planned").to_numpy()]
    if not 0 <= row < len(planned):
        raise UsageError(f"row={row}: the plan has {len(planned)} recipients, counted from 0")
    one = planned.iloc[[row]].copy()
    one["to"], one["region"], one["type"] = number["to"], number["region"], number["type"]
    one["chunk"] = pd.array([0], dtype="Int64")
    one["est_cost"], one["est_currency"] = (
        float("nan"),
        pd.Series([None], dtype=STR).array,
    )  # another country, perhaps
    body = one["body"].to_numpy("int64")
    return dataclasses.replace(plan, fingerprint=fingerprint(one["to"], plan.body_keys[body]), kept=(), _rows=one)
