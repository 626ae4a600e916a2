"""Sums are exact or refused, whatever their size and whatever the decimal context of the notebook."""

from __future__ import annotations

from decimal import ROUND_DOWN, Context, Decimal, localcontext

import pandas as pd
import pytest
from kills.people import numbers
from kills.service import Service

import smsotp_nb as sms
from smsotp_nb.errors import UsageError


def test_a_sum_beyond_64_bits_is_refused_by_a_ledger(tmp_path: object) -> None:
    """Twenty messages of 600 thousand million: their millionths are more than 2**63."""
    plan = sms.plan(pd.DataFrame({"phone": numbers(20)}), "Hello", to="phone", campaign="autumn")
    with Service(price=Decimal(600_000_000_000)) as service, service.client() as client:
        results = sms.send(plan, client, progress=False)
    assert results["status"].eq("accepted").all()
    for columns in ([], "campaign", "month"):
        with pytest.raises(UsageError, match="add up to more than"):
            sms.cost.by(sms.Ledger(), columns)


def test_amounts_are_exact_whatever_the_decimal_context_of_the_notebook() -> None:
    table = pd.DataFrame({"status": ["accepted"] * 20, "parts": 1, "price": 0.561725, "currency": "USD", "iso": "US"})
    with localcontext(Context(prec=4, rounding=ROUND_DOWN)):
        assert sms.cost.by_country(table, decimals=True)["cost"].astype(str).tolist() == ["11.234500"]
