"""Savings: found on the plan, confirmed row by row, by an independent counter and by the sandbox's bill."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import pandas as pd
import pytest
import smsutil
from support.phone_lists import example

import smsotp_nb as sms
from smsotp_nb import Client, Ledger, Message, Template, cost, parts, rates
from smsotp_nb.errors import UsageError

TEXT = "Hi {name} – it’s 20 % off until Sunday… Come by, bring a friend, and show this text at the till {tail}"
NAMES = ["Ann", "Zoë", "Şule", "王伟", "Bo" * 30, "O’Hara"]
TAILS = ["!", "“now”", ".", "😀", "x" * 61, "y" * 90]


def sample_rates() -> pd.DataFrame:
    """The sandbox's own visible rate table: by it the estimate and the bill can be the same."""
    return rates.read(Path(str(files("smsotp_nb.sandbox") / "sample_rates_intl.csv")))


def people() -> pd.DataFrame:
    numbers = [example(region) for region in ("US", "DE", "IN", "FR", "GB", "BR")]
    return pd.DataFrame({"phone": numbers, "name": NAMES, "tail": TAILS})


PLAIN = Message(TEXT, replace=parts.PLAIN)


def planned(campaign: str = "autumn", message: str | Message = TEXT) -> sms.Plan:
    return sms.plan(people(), message, to="phone", campaign=campaign, rates=sample_rates())


def test_totals_are_those_of_the_plan_with_plain_characters() -> None:
    """What is promised is what planning again with the replacements gives, to the millionth."""
    found = cost.savings(planned()).totals.iloc[0]
    before, after = planned(), planned(message=PLAIN)
    assert found["parts"] == before.rows["est_parts"].sum()
    assert found["plain_parts"] == after.rows["est_parts"].sum()
    assert found["saved_parts"] > 0
    assert found["est_cost"] == round(before.rows["est_cost"].sum(), 6)
    assert round(found["est_cost"] - found["saved_cost"], 6) == round(after.rows["est_cost"].sum(), 6)


def test_the_sandbox_bills_what_the_savings_promised(client: Client, ledger: Ledger) -> None:
    """The same campaign sent both ways: the difference of the two bills is the saving."""
    found = cost.savings(planned())
    before = sms.send(planned("before"), client=client, ledger=ledger, progress=False)
    after = sms.send(planned("after", PLAIN), client=client, ledger=ledger, progress=False)
    bills = [cost.summary(results, decimals=True)["cost"].iloc[0] for results in (before, after)]
    assert float(bills[0] - bills[1]) == found.totals["saved_cost"].iloc[0]
    assert before["parts"].sum() - after["parts"].sum() == found.totals["saved_parts"].iloc[0]
    assert cost.differences(ledger.record("before")).empty


def test_part_counts_agree_with_an_independent_package() -> None:
    """Parts now and parts with plain characters, message by message."""
    for row in cost.savings(planned()).messages.itertuples():
        assert row.parts == smsutil.split(row.text).parts.__len__()
        assert row.plain_parts == smsutil.split(parts.plain(row.text)).parts.__len__()


def test_characters_say_who_they_are_and_what_they_cost() -> None:
    """Each character with its name, what could stand for it, and the parts that its messages take beyond GSM-7."""
    found = cost.savings(planned()).characters.set_index("character")
    assert found.loc["’", "replacement"] == "'"
    assert pd.isna(found.loc["王", "replacement"])
    assert found.loc["–", "name"] == "EN DASH"
    assert found.loc["–", "recipients"] == len(NAMES)
    assert found.loc["–", "alone"] == 0
    assert (found["extra_cost"] > 0).all()


def test_letters_too_many_are_counted() -> None:
    """Rows just over a boundary, by how much, and what shorter texts would save."""
    two = pd.DataFrame({"phone": people()["phone"].iloc[:2]})
    made = sms.plan(two, "x" * 163, to="phone", campaign="c", rates=sample_rates())
    found = cost.savings(made)
    assert found.over[["over", "recipients"]].values.tolist() == [[3, 2]]
    assert found.over["last_part_cost"].iloc[0] == round(made.rows["est_cost"].sum() / 2, 6)
    assert found.totals["saved_parts"].iloc[0] == 0
    assert "would save nothing" in found.card().text()


def test_a_single_part_is_saved() -> None:
    made = sms.plan(
        pd.DataFrame({"phone": people()["phone"].iloc[:1]}), "x" * 80 + "\N{EM DASH}", to="phone", campaign="c"
    )
    assert "would save 1 part." in cost.savings(made).card().text()


def test_without_rates_parts_are_known_and_money_is_not() -> None:
    """No rate is unknown, never 0."""
    made = sms.plan(people(), TEXT, to="phone", campaign="c")
    found = cost.savings(made)
    assert found.totals["saved_cost"].isna().all()
    assert found.totals["saved_parts"].iloc[0] > 0
    assert "no rate" in str(found)


def test_a_template_of_unknown_text_is_said() -> None:
    """What cannot be read cannot be saved on; the card says how many."""
    made = sms.plan(people(), Template("t", ["name"]), to="phone", campaign="c")
    found = cost.savings(made)
    assert found.unknown == len(NAMES)
    assert len(found.messages) == 0
    assert "Template(preview=...)" in str(found)


def test_hostile_texts_stay_text() -> None:
    """The card shows what people wrote, never as markup."""
    hostile = people().assign(name="<b>’</b>")
    made = sms.plan(hostile, sms.Message(TEXT, literal=True), to="phone", campaign="<i>", rates=sample_rates())
    drawn = cost.savings(made)._repr_html_()
    assert "<i>" not in drawn
    assert "&lt;b&gt;<mark>’</mark>" in drawn


def test_only_a_plan_is_read() -> None:
    """A frame is not a plan."""
    with pytest.raises(UsageError, match="needs a plan"):
        cost.savings(people())  # type: ignore[arg-type]
