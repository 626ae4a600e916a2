"""A thing of the wrong kind at any public door is a UsageError that says what is wanted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest
from small_plans import plan as small_plan

import smsotp_nb as sms
from smsotp_nb.errors import UsageError

SUMMED = pd.DataFrame({"status": ["accepted"], "parts": [1], "price": [0.01], "currency": ["USD"], "iso": ["US"]})
WRONG: dict[str, tuple[Callable[[Any], object], str]] = {
    "compare a plan": (lambda plan: sms.cost.compare(SUMMED, plan), "columns to group by must be a name or a list"),
    "compare nothing": (lambda plan: sms.cost.compare(plan), "a result table is a DataFrame, got Plan"),
    "savings of a frame": (lambda plan: sms.cost.savings(SUMMED), "savings needs a plan"),
    "preflight of a frame": (lambda plan: sms.preflight(SUMMED, client=None), "preflight needs a Plan, got DataFrame"),
    "preflight without a client": (
        lambda plan: sms.preflight(plan, client=None),
        "client= must be a Client, got NoneType",
    ),
    "send a frame": (lambda plan: sms.send(SUMMED, client=None), "send needs a Plan, got DataFrame"),
    "send without a client": (lambda plan: sms.send(plan, client=None), "client= must be a Client, got NoneType"),
    "write no frame": (lambda plan: sms.results.write(plan, "x.csv"), "write needs a DataFrame, got Plan"),
    "a ledger of no path": (lambda plan: sms.Ledger(5), "a Ledger opens a path, got int"),
    "plan no frame": (lambda plan: sms.plan(5, to="x", campaign="y", text="z"), "recipients must be a DataFrame, got"),
}


@pytest.mark.parametrize(("call", "said"), WRONG.values(), ids=WRONG)
def test_a_thing_of_the_wrong_kind_is_refused_in_words(call: Callable[[Any], object], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        call(small_plan())
