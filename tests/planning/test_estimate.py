"""The estimate of a plan: exact, by country and currency, nothing unknown shown as zero."""

from __future__ import annotations

import dataclasses
import datetime as dt
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from support.dtypes import dtype_names
from support.small_plans import RATES, number, people, plan
from support.tables import table as billed_rows

from smsotp_nb import Message, RequestOptions, Template, cost, parts

# -- estimate -------------------------------------------------------------------------------------------------------


def test_cost_is_parts_times_rate_by_country_and_never_across_currencies() -> None:
    frame = people(4, phone=[number(0), number(1), "+33199001234", "+61491570156"], name=["a", "a" * 200, "b", "c"])
    made = plan(frame, rates=RATES)
    assert list(dtype_names(made.estimate).values()) == ["str"] * 3 + ["Int64"] * 2 + ["float64"] * 4 + ["str"]
    found = made.estimate.set_index("region").astype(object).where(made.estimate.set_index("region").notna(), None)
    assert found.loc["US"].tolist() == ["USD", "United States", 2, 3, 0.0075, 0.0225, 0.0225, 0.0225, "known"]
    assert found.loc["FR"].tolist() == ["EUR", "France", 1, 1, *[0.0713] * 4, "known"]
    assert found.loc["AU"].tolist() == [None, "Australia", 1, 1, *[None] * 4, "none"]
    assert "EUR 0.0713 and USD 0.0225" in str(made)
    assert "1 recipient without a rate" in str(made)
    assert "no rate" in str(made)


def test_a_rate_of_zero_is_a_rate() -> None:
    free = RATES.assign(price=["0", "0"])
    assert plan(rates=free).estimate["est_cost"].tolist() == [0.0]


def test_totals_are_exact() -> None:
    made = plan(people(30), rates=RATES.assign(price=["0.000001", "1"]))
    assert made.rows["est_cost"].tolist() == [0.000001] * 30
    assert made.estimate["est_cost"].tolist() == [0.00003]


def test_rates_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "rates.csv"
    RATES.to_csv(file, index=False)
    assert plan(rates=file).estimate["rate"].tolist() == [0.0075]


FRENCH = [f"+331990012{n}" for n in range(10, 13)]


def test_rates_by_type_of_number_are_summed_exactly_and_shown_as_their_average() -> None:
    """French and German landlines and mobiles in one list; a type without a rate stays without."""
    numbers = ["+49 30 23125 100", "+49 171 3920001", "+49 171 3920002", FRENCH[0]]
    table = pd.DataFrame(
        {"iso": ["DE", "DE", "FR"], "currency": "EUR", "price": ["0.08", "0.02", "0.05"]}
        | {"type": ["MOBILE", "FIXED_LINE", "MOBILE"]}
    )
    made = plan(people(4, phone=numbers), rates=table)
    assert made.rows["est_cost"].fillna(-1).tolist() == [0.02, 0.08, 0.08, -1]
    german = made.estimate.set_index("region").loc["DE"]
    assert (german["est_cost"], german["rate"]) == (0.18, 0.06)
    assert made.estimate.set_index("region").loc["FR", "confidence"] == "none"


def test_one_country_may_be_billed_in_two_currencies() -> None:
    table = pd.DataFrame({"iso": "DE", "currency": ["EUR", "USD"], "price": "0.08", "type": ["MOBILE", "FIXED_LINE"]})
    made = plan(people(2, phone=["+49 30 23125 100", "+49 171 3920001"]), rates=table)
    assert sorted(made.estimate["currency"]) == ["EUR", "USD"]


def test_a_currency_stands_once_in_the_heads_or_beside_every_amount() -> None:
    french = people(2, phone=["+12025550100", "+33199001234"])
    in_one, in_two = plan(people(200), rates=RATES), plan(french, rates=RATES)
    assert "Rate, USD  Estimated cost, USD" in str(in_one)
    assert "USD 1.50  cost, estimated" in str(in_one)
    assert "USD 0.0075" not in str(in_one)
    assert "EUR 0.0713" in str(in_two)
    assert "Rate, " not in str(in_two)


def test_a_rate_that_varies_gives_a_range() -> None:
    table = RATES.assign(low=["0.007", ""], high=["0.008", "0.0813"])
    made = plan(people(2), rates=table)
    assert made.estimate[["est_low", "est_cost", "est_high"]].to_numpy().tolist() == [[0.014, 0.015, 0.016]]
    assert "USD 0.0140 to 0.0160" in str(made)


def test_an_old_rate_is_called_old() -> None:
    today = dt.datetime.now(dt.UTC).date()
    recent, old = (RATES.assign(valid_from=str(today - dt.timedelta(days=days))) for days in (170, 190))
    assert plan(rates=recent).estimate["confidence"].tolist() == ["known"]
    made = plan(rates=old)
    assert made.estimate["confidence"].tolist() == ["old"]
    assert "Rate, USD" in str(made)
    assert "old, 0.0075" in str(made)
    assert "older than 180 days: United States" in str(made)


def test_rates_learned_from_results_serve_as_they_are() -> None:
    at = pd.Timestamp.now("UTC") - pd.Timedelta(days=1)
    found = {"status": "accepted", "iso": "US", "currency": "USD", "parts": [1, 2], "price": [0.0075, 0.018], "at": at}
    made = plan(rates=cost.rates(pd.DataFrame(found)))
    assert made.estimate[["rate", "est_low", "est_high"]].to_numpy().tolist() == [[0.009, 0.03, 0.036]]


# -- other characters -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "message",
    [
        pytest.param(Message("It’s {name}…"), id="text"),
        pytest.param(Message("It’s {name}…", field="content"), id="content"),
        pytest.param(Template("t", ["name"], preview="It's {name}"), id="template"),
        pytest.param(Message("It’s on…"), id="no placeholder"),
    ],
)
def test_measures_say_what_a_replacement_would_give(message: Message | Template) -> None:
    """The plain columns are those of the plan that replaces."""
    frame = people(3, name=["“a”", 'b"', "c’" * 40])
    signature = "Acme" if isinstance(message, Message) and message.field else None
    made, replaced = (
        plan(frame, message=one, signature=signature)
        for one in (message, dataclasses.replace(message, replace=parts.PLAIN))
    )
    measured, after = made._measure(), replaced._measure()
    assert measured["plain_parts"].tolist() == replaced.bodies["est_parts"].tolist()
    assert measured["plain_encoding"].tolist() == replaced.bodies["encoding"].tolist()
    assert measured["parts"].tolist() == made.bodies["est_parts"].tolist()
    assert (after["forcing"] == "").all()
    assert not set(parts.PLAIN) & set("".join(replaced.texts))
    assert replaced.fingerprint != made.fingerprint


def test_nothing_is_replaced_unless_asked() -> None:
    assert plan(message="It’s {name}")._message(0).text == "It’s N0"
    assert plan(message=Message("It’s {name}", replace=parts.PLAIN))._message(0).text == "It's N0"
    assert plan(people(1, name=["é"]), message=Message("Hi {name}", replace={"é": "e"}))._message(0).text == "Hi e"


def test_measures_of_every_body() -> None:
    measured = plan(people(3, name=["a" * 160, "日", "日"]))._measure()
    assert dtype_names(measured) == {
        "encoding": "str",
        "parts": "Int64",
        "units": "Int64",
        "over": "Int64",
        "forcing": "str",
        "plain_encoding": "str",
        "plain_parts": "Int64",
        "recipients": "Int64",
    }
    assert measured["over"].tolist() == [3, 0]
    assert measured["forcing"].tolist() == ["", "日"]
    assert measured["recipients"].tolist() == [1, 2]


def test_measures_are_missing_where_the_text_is_unknown() -> None:
    measured = plan(message=Template("t", ["name"]))._measure()
    assert measured.drop(columns="recipients").isna().all(axis=None)
    assert plan(people(0))._measure().empty


def test_a_template_of_unknown_text_has_no_estimate() -> None:
    made = plan(message=Template("t", ["name"]), rates=RATES)
    assert made.rows[["est_parts", "encoding", "est_cost"]].isna().all(axis=None)
    assert made.estimate[["est_parts", "est_cost"]].isna().all(axis=None)
    assert made.estimate["rate"].tolist() == [0.0075]
    assert "unknown" in str(made)
    assert "Template(preview=...)" in " ".join(str(made).split())


def test_template_text_makes_the_estimate_known() -> None:
    made = plan(message=Template("t", {"who": "name"}, preview="Dear {who}, " + "x" * 160), rates=RATES)
    assert made.rows["est_parts"].tolist() == [2] * 4
    assert made.preview(1)["text"].iloc[0].startswith("Dear N0, xx")


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        pytest.param({}, "[Acme] Hi", id="intl"),
        pytest.param({"requests": RequestOptions(variant="cn")}, "【Acme】Hi", id="cn"),
        pytest.param({"message": Message("Hi", join="{content} /{signature}")}, "Hi /Acme", id="own"),
    ],
)
def test_content_and_signature_are_joined_for_the_estimate_only(changes: dict[str, Any], text: str) -> None:
    made = plan(**{"message": "Hi", "signature": "Acme"} | changes)
    assert made.preview(1)["text"].tolist() == [text]
    assert made._message(0).fields() == {"content": "Hi", "signature": "Acme"}
    assert made.rows["encoding"].iloc[0] == parts.count(text).encoding


def test_estimate_and_cost_by_country_name_the_same_things_alike() -> None:
    """What is estimated carries ``est_``; of the rest only our reading of the country and the rate are the plan's."""
    billed = set(cost.by_country(billed_rows(1)).columns)
    of_the_plan = {"region", "rate", "confidence", "est_low", "est_high"}
    assert {name.removeprefix("est_") for name in set(plan(rates=RATES).estimate.columns) - of_the_plan} <= billed
