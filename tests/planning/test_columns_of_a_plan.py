"""The columns that docstrings promise of a plan's frames are those of real frames, with their dtypes."""

from __future__ import annotations

import re

import pandas as pd
import pytest
from support.dtypes import dtype_names

import smsotp_nb as sms

PROMISED = re.compile(r"``([\w,\s]+)``\s+\((str|Int64|float64|int64|boolean|UTC)[;)]")
RATES = [{"iso": "US", "currency": "USD", "price": 0.0075}]
PEOPLE = pd.DataFrame({"phone": ["+1 202 555 0123", "+1 202 555 0147", "nobody"], "name": ["Ann", "Ben", "Cy"]})
MESSAGES = {
    "one text": {"message": "Hello"},
    "filled, signed": {"message": "Hi {name}", "signature": "Acme"},
    "template": {"message": sms.Template("welcome", ["name"])},
}


def promised(thing: object) -> dict[str, str]:
    """Return column and dtype as a docstring has them: ``a, b`` (str; ...)."""
    found = PROMISED.findall(thing.__doc__ or "")
    kinds = {"UTC": "datetime64[us]"}
    return {name.strip(): kinds.get(dtype, dtype) for names, dtype in found for name in names.split(",")}


@pytest.fixture(params=MESSAGES.values(), ids=MESSAGES)
def plan(request: pytest.FixtureRequest) -> sms.Plan:
    return sms.plan(PEOPLE, to="phone", campaign="hello", rates=RATES, keep=["name"], **request.param)


@pytest.mark.parametrize("name", ["rows", "bodies", "estimate"])
def test_a_frame_of_a_plan_has_the_columns_of_its_docstring(plan: sms.Plan, name: str) -> None:
    """These and no others, but for the columns that were kept, in this order."""
    found = dtype_names(getattr(plan, name).drop(columns="name", errors="ignore"))
    assert list(found.items()) == list(promised(getattr(sms.Plan, name)).items())


def test_a_row_that_is_skipped_is_in_no_request(plan: sms.Plan) -> None:
    skipped = plan.rows.loc[plan.rows["status"].eq("skipped"), ["body", "chunk", "est_parts"]]
    assert len(skipped) == 1
    assert skipped.isna().all(axis=None)
