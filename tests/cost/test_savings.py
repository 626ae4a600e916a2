"""Savings: what characters of a plan cost, confirmed by an independent counter and by the sandbox's bill."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import pandas as pd
import pytest
import smsutil
from support.phone_lists import example

import smsotp_nb as sms
from smsotp_nb import Client, Ledger, Template, cost, parts, rates
from smsotp_nb.errors import UsageError

TEXT = "Hi {name} – it’s 20 % off until Sunday… Come by, bring a friend, and show this text at the till {tail}"
NAMES = ["Ann", "Zoë", "Şule", "王伟", "Bo" * 30, "O’Hara"]
TAILS = ["!", "“now”", ".", "😀", "x" * 61, "y" * 90]
ONE = pd.DataFrame({"phone": ["+12025550123"]})


def sample_rates() -> pd.DataFrame:
    """The sandbox's own visible rate table: by it the estimate and the bill can be the same."""
    return rates.read(Path(str(files("smsotp_nb._sandbox") / "sample_rates_intl.csv")))


def planned(message: object = TEXT) -> sms.Plan:
    numbers = [example(region) for region in ("US", "DE", "IN", "FR", "GB", "BR")]
    people = pd.DataFrame({"phone": numbers, "name": NAMES, "tail": TAILS})
    return sms.plan(people, message, to="phone", campaign="autumn", rates=sample_rates())  # type: ignore[arg-type]


def test_characters_say_who_they_are_and_who_gets_them() -> None:
    found = cost.savings(planned()).set_index("character")
    assert found.loc["’", "replacement"] == "'"
    assert pd.isna(found.loc["王", "replacement"])
    assert found.loc["–", "name"] == "EN DASH"
    assert found.groupby(level=0)["recipients"].sum()["–"] == len(NAMES)
    assert (found["extra_cost"] >= 0).all()
    assert found["extra_cost"].is_monotonic_decreasing


def test_extra_parts_agree_with_an_independent_counter() -> None:
    plan = planned()
    with_dash = [text for text in plan.texts if "–" in text]
    gsm = [parts.plain(text) for text in with_dash]
    gsm = ["".join(char if smsutil.is_valid_gsm(char) else "?" for char in text) for text in gsm]
    extra = sum(len(smsutil.split(text).parts) for text in with_dash)
    extra -= sum(len(smsutil.split(text).parts) for text in gsm)
    found = cost.savings(plan)
    assert found.loc[found["character"] == "–", "extra_parts"].sum() == extra > 0


def test_the_sandbox_bills_what_a_character_costs(client: Client, ledger: Ledger) -> None:
    """The same text with and without its apostrophe: the difference of the two bills."""
    bills = []
    for mark in ("’", "'"):
        plan = sms.plan(ONE, f"It{mark}s on" + " today" * 12, to="phone", campaign=mark, rates=sample_rates())
        results = sms.send(plan, client, ledger=ledger, progress=False)
        bills.append(cost.summary(results, decimals=True)["cost"].iloc[0])
    found = cost.savings(sms.plan(ONE, "It’s on" + " today" * 12, to="phone", campaign="c", rates=sample_rates()))
    assert found["extra_cost"].tolist() == [float(bills[0] - bills[1])]
    assert found["extra_parts"].tolist() == [1]


def test_without_rates_parts_are_known_and_money_is_not() -> None:
    """No rate is unknown, never 0."""
    found = cost.savings(sms.plan(ONE, "It’s on" + " today" * 12, to="phone", campaign="c"))
    assert found["extra_cost"].isna().all()
    assert found["extra_parts"].tolist() == [1]


def test_plain_texts_and_unknown_ones_cost_nothing_extra() -> None:
    for message in ("Hello", Template("t", ["name"])):
        found = cost.savings(planned(message))
        assert found.empty
        pd.testing.assert_series_equal(found.dtypes, cost.savings(planned()).dtypes)


def test_only_a_plan_is_read() -> None:
    with pytest.raises(UsageError, match="needs a plan"):
        cost.savings(ONE)  # type: ignore[arg-type]
