"""Plans: every row accounted for, nobody twice, equal bodies first and chunks second, nothing unknown shown as zero."""

from __future__ import annotations

import datetime as dt
import json
import pickle
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smsotp_nb import cost, parts, planning, results, wire
from smsotp_nb.errors import UsageError

RATES = pd.DataFrame({"iso": ["US", "FR"], "currency": ["USD", "EUR"], "price": ["0.007500", "0.0713"]})


def number(last: int) -> str:
    return f"+1202555{100 + last:04d}"


def people(size: int = 4, **columns: Any) -> pd.DataFrame:
    return pd.DataFrame({"phone": [number(n) for n in range(size)], "name": [f"N{n}" for n in range(size)]} | columns)


def plan(frame: pd.DataFrame | None = None, **changes: Any) -> planning.Plan:
    arguments = {"to": "phone", "campaign": "demo"} | changes
    if not {"text", "content", "template_id"} & set(arguments):
        arguments["text"] = "Hi {name}"
    return planning.plan(people() if frame is None else frame, **arguments)


# -- rows --------------------------------------------------------------------------------------------------------------


def test_every_input_row_is_there_on_its_index_and_in_its_order() -> None:
    frame = people(4).set_axis([5, 5, "x", None])
    made = plan(frame)
    assert made.rows.index.equals(frame.index)
    assert made.rows["to"].tolist() == frame["phone"].tolist()


def test_columns_and_dtypes_of_the_rows() -> None:
    made = plan(people(2, segment=pd.Series(["a", "b"], dtype="category")), keep=["segment"], rates=RATES)
    assert made.rows.dtypes.astype(str).to_dict() == {
        "to": "str",
        "region": "str",
        "type": "str",
        "status": "str",
        "problem": "str",
        "note": "str",
        "body": "Int64",
        "chunk": "Int64",
        "est_parts": "Int64",
        "encoding": "str",
        "est_cost": "float64",
        "est_currency": "str",
        "segment": "category",
    }


@pytest.mark.parametrize("frame", [people(0), people(2, phone=["x", None])], ids=["no rows", "no usable rows"])
def test_a_plan_without_sendable_rows_is_still_a_plan(frame: pd.DataFrame) -> None:
    made = plan(frame, rates=RATES)
    assert made.rows.dtypes.astype(str).to_dict() == plan(rates=RATES).rows.dtypes.astype(str).to_dict()
    assert made.bodies.empty
    assert made.estimate.empty
    assert made.preview().empty
    assert "no row can be sent" in str(made)
    assert made.skipped.index.equals(frame.index)


def test_problems_in_the_order_in_which_they_are_judged() -> None:
    frame = people(6, phone=[number(0), number(0), "hello", None, number(4), number(5)])
    frame["name"] = ["a", "b", "c", "d", None, "f"]
    made = plan(frame, suppress=[number(5)])
    assert made.rows["problem"].tolist()[1:] == [
        "DUPLICATE_OF",
        "NOT_A_NUMBER",
        "MISSING",
        "VALUE_MISSING",
        "SUPPRESSED",
    ]
    assert made.rows["status"].tolist() == ["planned"] + ["skipped"] * 5
    assert made.skipped.index.tolist() == [1, 2, 3, 4, 5]
    assert made.skipped[["body", "chunk", "est_parts", "est_cost"]].isna().all(axis=None)


def test_notes_name_the_row_repeated_and_the_column_missing() -> None:
    frame = people(3, phone=[number(0), number(0), number(2)]).set_axis(["a", "b", "c"])
    frame["name"] = ["x", "y", None]
    notes = plan(frame).rows["note"]
    assert notes["b"].split()[-1] == "DUPLICATE_OF:a"
    assert notes["c"].split()[-1] == "VALUE_MISSING:name"


def test_an_incomplete_row_does_not_take_the_place_of_a_complete_one() -> None:
    """Of two rows with one number the complete one is sent, whichever comes first."""
    frame = people(2, phone=[number(0), number(0)])
    frame["name"] = [None, "Ana"]
    made = plan(frame)
    assert made.rows["problem"].fillna("").tolist() == ["VALUE_MISSING", ""]
    assert made.bodies["text"].tolist() == ["Hi Ana"]


def test_duplicates_are_found_across_spellings() -> None:
    frame = people(4, phone=["+1 202 555 0100", "001-202-555-0100", "(202) 555-0100", "12025550100.0"])
    made = plan(frame, default_region="US")
    assert made.rows["problem"].fillna("").tolist() == [""] + ["DUPLICATE_OF"] * 3


@pytest.mark.parametrize("dtype", ["object", "str", "string[pyarrow]", "category"])
def test_any_text_column_serves(dtype: str) -> None:
    frame = people(3, name=["a", None, "a"]).astype({"phone": dtype, "name": dtype})
    made = plan(frame, fill={"name": "b"})
    assert made.rows["body"].tolist() == [0, 1, 0]


def test_the_region_is_a_column_or_a_series_on_the_same_index() -> None:
    frame = people(2, phone=["202 555 0100", "01 99 00 12 34"], country=["US", "FR"])
    by_column = plan(frame, region="country")
    assert by_column.rows["region"].tolist() == ["US", "FR"]
    assert plan(frame, region=frame["country"]).fingerprint == by_column.fingerprint


# -- messages ----------------------------------------------------------------------------------------------------------


def test_equal_bodies_are_grouped_first_and_cut_second() -> None:
    frame = people(7, city=["x", "y", "x", "x", "y", "x", "x"])
    made = plan(frame, text="Hi {city}", chunk_size=2)
    assert made.rows["body"].tolist() == [0, 1, 0, 0, 1, 0, 0]
    assert made.rows["chunk"].tolist() == [0, 3, 0, 1, 3, 1, 2]
    assert made.bodies["recipients"].tolist() == [5, 2]


@pytest.mark.parametrize(
    ("message", "body"),
    [
        pytest.param({"text": "Hi {name}"}, wire.Body(text="Hi N0"), id="text"),
        pytest.param(
            {"content": "Hi {name}", "signature": "Acme"}, wire.Body(content="Hi N0", signature="Acme"), id="content"
        ),
        pytest.param({"template_id": "t1"}, wire.Body(template_id="t1"), id="template without variables"),
        pytest.param(
            {"template_id": "t1", "template_data": ["name", "n"]},
            wire.Body(template_id="t1", template_data=(("n", "1"), ("name", "N0"))),
            id="template with columns",
        ),
        pytest.param(
            {"template_id": "t1", "template_data": {"who": "name", "again": "name"}, "signature": "Acme"},
            wire.Body(template_id="t1", template_data=(("again", "N0"), ("who", "N0")), signature="Acme"),
            id="template with named columns",
        ),
        pytest.param({"text": "{{name}} 20 %"}, wire.Body(text="{name} 20 %"), id="no placeholder"),
        pytest.param({"text": "{n}"}, wire.Body(text="1"), id="an integral float"),
    ],
)
def test_the_message_of_a_body(message: dict[str, Any], body: wire.Body) -> None:
    made = plan(people(2, n=[1.0, 2.5]), **message)
    assert made.message(0) == body
    assert made.body_keys.tolist() == [planning.body_key(made.message(n)) for n in range(len(made.bodies))]


def test_every_row_has_its_own_template_data() -> None:
    made = plan(people(3, name=["a", 'q"', "c"]), template_id="t", template_data={"who": "name"})
    assert [json.loads(data) for data in made.bodies["template_data"]] == [{"who": "a"}, {"who": 'q"'}, {"who": "c"}]


def test_values_that_join_to_the_same_text_are_one_body() -> None:
    made = plan(people(2, a=["ab", "a"], b=["c", "bc"]), text="{a}{b}")
    assert made.rows["body"].tolist() == [0, 0]


def test_values_that_only_look_alike_are_two_bodies() -> None:
    made = plan(people(4, a=["x", "x", "y", "y"], b=["y", "x", "y", "x"]), template_id="t", template_data=["a", "b"])
    assert made.rows["body"].tolist() == [0, 1, 2, 3]


def test_fill_stands_in_for_text_and_template_values() -> None:
    frame = people(2, name=[None, "Ana"])
    assert plan(frame, fill={"name": "there"}).message(0).text == "Hi there"
    made = plan(frame, template_id="t", template_data={"who": "name"}, fill={"name": "there"})
    assert made.message(0).template_data == (("who", "there"),)


def test_a_text_of_which_nothing_is_left_is_not_sent() -> None:
    made = plan(people(2, name=[None, "Ana"]), text="{name}", fill={"name": " "})
    assert made.rows["problem"].fillna("").tolist() == ["VALUE_MISSING", ""]


def test_no_such_body() -> None:
    with pytest.raises(UsageError, match="this plan has 4, numbered from 0"):
        plan().message(4)


NAMES = st.sampled_from(["Ana", "Zoë", "", None, "日本", "a" * 150, "{x}", '"', "€" * 80])
NUMBERS = st.sampled_from([*(number(n) for n in range(6)), "+33 1 99 00 12 34", "hello", None])


@given(
    st.lists(st.tuples(NUMBERS, NAMES, NAMES), max_size=25),
    st.integers(1, 4),
    st.sampled_from(["text", "content", "template"]),
)
@settings(deadline=None, max_examples=60)
def test_a_plan_equals_a_row_by_row_reading(rows: list[tuple[Any, Any, Any]], size: int, kind: str) -> None:
    """Laws of every plan, against the plainest possible reading of the same rows."""
    frame = pd.DataFrame(rows, columns=["phone", "a", "b"], dtype=object)
    wording = {
        "text": {"text": "{a}-{b}!"},
        "content": {"content": "{a}-{b}!", "signature": "Acme"},
        "template": {"template_id": "t", "template_data": ["a", "b"], "template_text": "{a}-{b}!"},
    }[kind]
    made = plan(frame, chunk_size=size, rates=RATES, **wording)
    planned = made.rows[made.rows["status"] == "planned"]
    assert planned["to"].is_unique
    assert (planned.groupby("chunk").size() <= size).all()
    assert (planned.groupby("chunk")["body"].nunique() == 1).all()
    assert planned["chunk"].drop_duplicates().nunique() == len(set(range(len(set(planned["chunk"])))))
    assert planned["body"].drop_duplicates().tolist() == list(range(len(made.bodies)))
    complete = {phone for phone, a, b in rows if phone not in (None, "hello") and a and b}
    assert len(planned) == len(complete)
    for place, row in planned.iterrows():
        _, a, b = rows[int(str(place))]
        text = f"{a}-{b}!"
        body = made.message(int(row["body"]))
        assert {"text": body.text, "content": body.content, "template": dict(body.template_data)}[kind] == (
            {"a": a, "b": b} if kind == "template" else text
        )
        counted = parts.count(f"[Acme] {text}" if kind == "content" else text)
        assert (row["est_parts"], row["encoding"]) == (counted.parts, counted.encoding)
        assert row["est_cost"] == float(
            counted.parts * (Decimal("0.0075") if row["region"] == "US" else Decimal("0.0713"))
        )


# -- what it is --------------------------------------------------------------------------------------------------------


def test_the_fingerprint_covers_numbers_bodies_and_order_and_nothing_else() -> None:
    base = plan().fingerprint
    same = [
        plan(people().set_axis(list("abcd"))),
        plan(chunk_size=1),
        plan(rates=RATES),
        plan(keep=["name"]),
        plan(campaign="other"),
        plan(pd.concat([people(), people(1, phone=["hello"])])),
    ]
    different = [
        plan(people()[::-1]),
        plan(people(3)),
        plan(text="Hi {name}."),
        plan(people(name=["N0", "N1", "N2", "other"])),
        plan(text=None, content="Hi {name}"),
        plan(signature="Acme"),
    ]
    assert {made.fingerprint for made in same} == {base}
    assert base not in {made.fingerprint for made in different}
    assert len({made.fingerprint for made in different}) == len(different)


def test_what_a_plan_hands_out_cannot_change_it() -> None:
    made = plan(keep=["name"], rates=RATES)
    before = str(made)
    for frame in (made.rows, made.bodies, made.estimate, made.preview(), made.skipped):
        frame.iloc[0:1, 0] = "x"
        frame[frame.columns[-1]] = None
        frame.index.name = "changed"
    with pytest.raises(ValueError, match="read-only"):
        made.body_keys[0] = 1
    with pytest.raises(AttributeError):
        made.campaign = "other"  # type: ignore[misc]
    assert str(made) == before
    assert made.rows.index.name is None


def test_the_callers_frame_is_not_changed_and_not_shared() -> None:
    frame = people()
    before = frame.copy(deep=True)
    made = plan(frame, keep=["name"])
    pd.testing.assert_frame_equal(frame, before)
    frame.loc[0, "name"] = "changed"
    assert made.rows["name"].iloc[0] == "N0"


def test_a_plan_survives_pickling() -> None:
    made = plan(rates=RATES)
    again = pickle.loads(pickle.dumps(made))
    assert (again.fingerprint, str(again)) == (made.fingerprint, str(made))


# -- suppression -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "source",
    [
        pytest.param(["(202) 555-0101"], id="list"),
        pytest.param({number(1)}, id="set"),
        pytest.param(pd.Series([2025550101]), id="Series of integers"),
        pytest.param(pd.DataFrame({"to": [number(1)], "when": ["2026"]}), id="frame with to"),
        pytest.param(pd.DataFrame({"phone": ["202 555 0101"], "country": ["USA"], "x": [1]}), id="frame with a region"),
        pytest.param(pd.DataFrame({"opted out": ["1 202 555 0101"]}), id="frame of one column"),
    ],
)
def test_suppressed_numbers_in_any_form(source: Any) -> None:
    made = plan(people(3, country="US"), region="country", default_region="US", suppress=source)
    assert made.rows["problem"].fillna("").tolist() == ["", "SUPPRESSED", ""]


@pytest.mark.parametrize("content", ["phone\n202 555 0101\n", "202 555 0101\n202 555 0102\n"], ids=["header", "bare"])
def test_suppressed_numbers_from_a_file(tmp_path: Path, content: str) -> None:
    file = tmp_path / "stop.csv"
    file.write_text(content, encoding="utf-8")
    for path in (file, str(file)):
        made = plan(people(2), default_region="US", suppress=path)
        assert made.rows["problem"].fillna("").tolist() == ["", "SUPPRESSED"]


def test_unreadable_entries_stop_the_plan_and_are_listed() -> None:
    with pytest.raises(UsageError, match="2 entries of suppress= cannot be read") as caught:
        plan(suppress=["hello", None, "", "n/a", number(1), "2025550103"])
    assert [problem.split(":")[0] for problem in caught.value.problems] == ["entry 0", "entry 5"]
    assert "2025550103" not in str(caught.value)


def test_unreadable_entries_can_be_ignored_on_request() -> None:
    made = plan(suppress=["hello", number(1)], ignore_unreadable_suppressions=True)
    assert made.rows["problem"].fillna("").tolist() == ["", "SUPPRESSED", "", ""]


def test_numbers_that_are_never_texted_need_no_suppression() -> None:
    assert len(plan(suppress=["+1 800 234 5678", number(0)]).skipped) == 1


@pytest.mark.parametrize(
    ("source", "says"),
    [
        pytest.param("missing.csv", "is no file", id="no file"),
        pytest.param(number(0), "is no file", id="a number instead of a list"),
        pytest.param({number(0): "x"}, "must be a list, Series, frame or path", id="dict"),
        pytest.param(pd.DataFrame({"a": [1], "b": [2]}), "no column 'phone', 'to' or 'phone'", id="which column"),
    ],
)
def test_a_suppression_that_cannot_be_understood(source: Any, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        plan(suppress=source)


# -- estimate ----------------------------------------------------------------------------------------------------------


def test_cost_is_parts_times_rate_by_country_and_never_across_currencies() -> None:
    frame = people(4, phone=[number(0), number(1), "+33199001234", "+61491570156"], name=["a", "a" * 200, "b", "c"])
    made = plan(frame, rates=RATES)
    assert made.estimate.dtypes.astype(str).tolist() == ["str"] * 3 + ["Int64"] * 2 + ["float64"] * 4 + ["str"]
    found = made.estimate.set_index("region").astype(object).where(made.estimate.set_index("region").notna(), None)
    assert found.loc["US"].tolist() == ["United States", "USD", 2, 3, 0.0075, 0.0225, 0.0225, 0.0225, "known"]
    assert found.loc["FR"].tolist() == ["France", "EUR", 1, 1, *[0.0713] * 4, "known"]
    assert found.loc["AU"].tolist() == ["Australia", None, 1, 1, *[None] * 4, "none"]
    assert "EUR 0.0713 and USD 0.0225" in str(made)
    assert "1 recipients without a rate" in str(made)
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


def test_a_rate_that_varies_gives_a_range() -> None:
    table = RATES.assign(low=["0.007", ""], high=["0.008", "0.0813"])
    made = plan(people(2), rates=table)
    assert made.estimate[["est_low", "est_cost", "est_high"]].to_numpy().tolist() == [[0.014, 0.015, 0.016]]
    assert "USD 0.014 to 0.016" in str(made)


def test_an_old_rate_is_called_old() -> None:
    table = RATES.assign(valid_from="2025-01-01")
    assert plan(rates=table, today=dt.date(2025, 3, 1)).estimate["confidence"].tolist() == ["known"]
    made = plan(rates=table, today=dt.date(2026, 3, 1))
    assert made.estimate["confidence"].tolist() == ["old"]
    assert "USD 0.0075, old" in str(made)
    assert "more than 180 days ago: United States" in str(made)


def test_rates_learned_from_results_serve_as_they_are() -> None:
    at = pd.Timestamp("2026-03-01", tz="UTC")
    found = {"status": "accepted", "iso": "US", "currency": "USD", "parts": [1, 2], "price": [0.0075, 0.018], "at": at}
    made = plan(rates=cost.rates(pd.DataFrame(found)), today=dt.date(2026, 3, 2))
    assert made.estimate[["rate", "est_low", "est_high"]].to_numpy().tolist() == [[0.009, 0.03, 0.036]]


# -- other characters --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "message",
    [
        pytest.param({"text": "It’s {name}…"}, id="text"),
        pytest.param({"content": "It’s {name}…", "signature": "Acme"}, id="content"),
        pytest.param({"template_id": "t", "template_data": ["name"], "template_text": "It's {name}"}, id="template"),
        pytest.param({"text": "It’s on…"}, id="no placeholder"),
    ],
)
def test_measures_say_what_a_replacement_would_give(message: dict[str, Any]) -> None:
    """The plain columns are those of the plan that replaces."""
    frame = people(3, name=["“a”", 'b"', "c’" * 40])
    made, replaced = plan(frame, **message), plan(frame, replace=parts.PLAIN, **message)
    measured, after = made.measure(), replaced.measure()
    assert measured["plain_parts"].tolist() == replaced.bodies["est_parts"].tolist()
    assert measured["plain_encoding"].tolist() == replaced.bodies["encoding"].tolist()
    assert measured["parts"].tolist() == made.bodies["est_parts"].tolist()
    assert (after["forcing"] == "").all()
    assert not set(parts.PLAIN) & set("".join(replaced.texts))
    assert replaced.fingerprint != made.fingerprint


def test_nothing_is_replaced_unless_asked() -> None:
    assert plan(text="It’s {name}").message(0).text == "It’s N0"
    assert plan(text="It’s {name}", replace=parts.PLAIN).message(0).text == "It's N0"
    assert plan(people(1, name=["é"]), replace={"é": "e"}).message(0).text == "Hi e"


def test_measures_of_every_body() -> None:
    measured = plan(people(3, name=["a" * 160, "日", "日"])).measure()
    assert measured.dtypes.astype(str).to_dict() == {
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
    measured = plan(template_id="t", template_data=["name"]).measure()
    assert measured.drop(columns="recipients").isna().all(axis=None)
    assert plan(people(0)).measure().empty


def test_a_template_of_unknown_text_has_no_estimate() -> None:
    made = plan(template_id="t", template_data=["name"], rates=RATES)
    assert made.rows[["est_parts", "encoding", "est_cost"]].isna().all(axis=None)
    assert made.estimate[["parts", "est_cost"]].isna().all(axis=None)
    assert made.estimate["rate"].tolist() == [0.0075]
    assert "unknown" in str(made)
    assert "template_text=" in str(made)


def test_template_text_makes_the_estimate_known() -> None:
    made = plan(template_id="t", template_data={"who": "name"}, template_text="Dear {who}, " + "x" * 160, rates=RATES)
    assert made.rows["est_parts"].tolist() == [2] * 4
    assert made.preview(1)["text"].iloc[0].startswith("Dear N0, xx")


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        pytest.param({}, "[Acme] Hi", id="intl"),
        pytest.param({"variant": "cn"}, "【Acme】Hi", id="cn"),
        pytest.param({"signature_join": "{content} /{signature}"}, "Hi /Acme", id="own"),
    ],
)
def test_content_and_signature_are_joined_for_the_estimate_only(changes: dict[str, Any], text: str) -> None:
    made = plan(content="Hi", signature="Acme", **changes)
    assert made.preview(1)["text"].tolist() == [text]
    assert made.message(0) == wire.Body(content="Hi", signature="Acme")
    assert made.rows["encoding"].iloc[0] == parts.count(text).encoding


# -- the call ----------------------------------------------------------------------------------------------------------

MISTAKES = [
    pytest.param({"to": "fone"}, r"no column 'fone'; did you mean 'phone'\?", id="to"),
    pytest.param({"region": "DE"}, "pass default_region='DE'", id="a region code"),
    pytest.param({"region": pd.Series(["US"] * 4, index=[9, 8, 7, 6])}, "another index", id="region of another frame"),
    pytest.param({"region": ["US"]}, "a column's name or a Series", id="region list"),
    pytest.param({"default_region": "Atlantis"}, "default_region", id="default_region"),
    pytest.param({"campaign": " "}, "campaign= must be a name", id="campaign blank"),
    pytest.param({"campaign": None}, "campaign= must be a name", id="campaign missing"),
    pytest.param({"keep": ["nmae"]}, r"did you mean 'name'\?", id="keep unknown"),
    pytest.param({"keep": ["name", "name"]}, "twice", id="keep twice"),
    pytest.param({"chunk_size": 0}, "chunk_size= must be a whole number from 1 to 1000", id="chunk 0"),
    pytest.param({"chunk_size": 1001}, "chunk_size=", id="chunk too large"),
    pytest.param({"chunk_size": True}, "chunk_size=", id="chunk bool"),
    pytest.param({"chunk_size": 10.0}, "chunk_size=", id="chunk float"),
    pytest.param({"variant": "us"}, "variant= must be 'intl' or 'cn'", id="variant"),
    pytest.param({"variant": "cn"}, "signature= is required in the cn variant", id="cn without signature"),
    pytest.param({"signature": "x"}, "2 to 16 characters", id="signature short"),
    pytest.param({"text": " "}, "text= is empty", id="blank text"),
    pytest.param({"text": 5}, "text= must be text, got int", id="text no text"),
    pytest.param({"text": None}, "one of text=, content= or template_id= is needed", id="no message"),
    pytest.param({"content": "x"}, "only one of text=, content= and template_id=", id="two messages"),
    pytest.param({"text": "Hi {nmae}"}, r"placeholder \{nmae\}; did you mean 'name'\?", id="placeholder"),
    pytest.param({"text": "Hi {"}, "single '{'", id="brace"),
    pytest.param({"template_data": ["name"]}, "template_data= needs template_id=", id="data without template"),
    pytest.param({"template_text": "x"}, "template_text= needs template_id=", id="template_text without template"),
    pytest.param({"fill": {"city": "x"}}, "fills no placeholder", id="fill unknown"),
    pytest.param({"fill": "there"}, "fill= must be a dict", id="fill text"),
    pytest.param({"signature_join": "{content}"}, "signature_join= must hold", id="join without signature"),
    pytest.param({"rates": RATES.assign(price="x")}, "row 0: price", id="rates"),
    pytest.param({"rates": "none.csv"}, "rates cannot be read", id="rates file"),
    pytest.param({"today": "2026-01-01"}, "today= must be a date", id="today"),
    pytest.param({"replace": {"ab": "c"}}, "replace= must be a dict of one character each", id="replace two"),
    pytest.param({"replace": "’"}, "replace= must be a dict of one character each", id="replace text"),
    pytest.param({"repair": ["everything"]}, "repair", id="repair"),
]


@pytest.mark.parametrize(("changes", "says"), MISTAKES)
def test_a_mistaken_call_says_what_to_change(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        plan(people(), **({"text": "Hi {name}"} | changes))


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        pytest.param({"template_data": "name"}, "list of columns or a dict", id="data text"),
        pytest.param({"template_data": ["nmae"]}, r"did you mean 'name'\?", id="data unknown"),
        pytest.param({"template_data": {"who": 5}}, "must hold names as text", id="data no text"),
        pytest.param({"template_data": ["name"], "template_text": "{who}"}, "uses 'who'", id="text of other variables"),
        pytest.param({"template_id": 17}, "template_id= must be text, got int", id="id no text"),
    ],
)
def test_a_mistaken_template_says_what_to_change(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        plan(people(), **({"template_id": "t"} | changes))


@pytest.mark.parametrize("name", [*results.COLUMNS, "body", "note"])
def test_a_kept_column_must_not_hide_one_of_the_results(name: str) -> None:
    with pytest.raises(UsageError, match="rename yours first"):
        plan(people(4, **{name: 1}), keep=[name])


def test_everything_wrong_is_listed_at_once() -> None:
    with pytest.raises(UsageError) as caught:
        plan(to="fone", campaign="", chunk_size=0, text="a {", signature="x", keep=["zz"], rates=RATES.assign(iso="?"))
    assert len(caught.value.problems) >= 7


def test_a_path_instead_of_a_frame_says_how_to_read_it() -> None:
    with pytest.raises(UsageError, match=r"read_recipients\(path\)"):
        plan("people.csv")  # type: ignore[arg-type]


def test_one_kept_column_may_be_named_alone() -> None:
    assert plan(keep="name").kept == ("name",)


# -- the card ----------------------------------------------------------------------------------------------------------


def test_the_card_says_what_it_is_and_that_nothing_was_sent() -> None:
    frame = people(5, phone=[*(number(n) for n in range(4)), "hello"])
    frame["name"] = ["<b>Ana</b>", "Zoë", "N" * 200, None, "x"]
    made = plan(frame, rates=RATES)
    for shown in (str(made), made._repr_html_()):
        assert "Nothing has been sent." in shown
        assert "send(plan, client=...)" in shown
        assert "USD 0.03" in shown
        assert "$" not in shown
        assert number(0) not in shown
        assert wire.mask(number(0)) in shown
        assert "VALUE_MISSING" in shown
    assert "<b>Ana</b>" not in made._repr_html_()
    assert "&lt;b&gt;Ana&lt;/b&gt;" in made._repr_html_()
    assert repr(made) == "<Plan demo: 3 recipients in 3 requests, 4 parts, estimated cost USD 0.03; 2 rows left out>"


def test_numbers_used_as_row_labels_are_masked_on_the_card() -> None:
    frame = people(3, phone=[number(0), number(1), number(1)]).set_index("phone", drop=False)
    assert number(0) not in str(plan(frame))
    assert number(1) not in str(plan(frame))


def test_the_preview_has_the_first_row_and_the_dearest_text() -> None:
    frame = people(20, name=["a"] * 15 + ["日" * 80] + ["b"] * 4)
    made = plan(frame)
    shown = made.preview(3)
    assert shown.index.tolist() == [0, 15, 16]
    assert shown["est_parts"].tolist() == [1, 2, 1]
    assert shown["forcing"].tolist() == ["", "日", ""]
    assert shown["to"].tolist() == [wire.mask(number(n)) for n in (0, 15, 16)]
    assert len(made.preview(100)) == 20
    assert made.preview(0).empty


@pytest.mark.parametrize(
    ("text", "hinted"),
    [
        pytest.param("Your code is {code}", True, id="placeholder"),
        pytest.param("Your verification code: 493021", True, id="number"),
        pytest.param("Tu código es {code}", True, id="Spanish"),
        pytest.param("Ihr Bestätigungscode lautet {code}.", True, id="German"),
        pytest.param("您的验证码是{code}，请勿泄露", True, id="Chinese"),
        pytest.param("認証コード: {code}", True, id="Japanese"),
        pytest.param("Ваш код: {code}", True, id="Russian"),
        pytest.param("رمز التحقق {code}", True, id="Arabic"),
        pytest.param("Votre code de vérification : {code}", True, id="French"),
        pytest.param("{code} is your one-time passcode", True, id="number first"),
        pytest.param("20 % off with code 55555", False, id="a code that sells"),
        pytest.param("Your order {code} has shipped", False, id="an order number"),
        pytest.param("The entry code changes in 2026", False, id="a year"),
        pytest.param("New dress code, see page 30255", False, id="a code to wear"),
        pytest.param("Hi {name}", False, id="no number"),
    ],
)
def test_a_text_that_looks_like_a_passcode_gets_a_hint(text: str, hinted: bool) -> None:
    made = plan(people(2, code=["493021", "118822"]), text=text)
    assert (made.hint is not None) is hinted
    assert ("otp.send" in str(made)) is hinted


def test_template_data_that_looks_like_a_passcode_gets_a_hint() -> None:
    frame = people(2, code=[np.float64(493021), np.float64(1188)])
    assert plan(frame, template_id="t", template_data=["code"]).hint is not None
    assert plan(frame, template_id="t", template_data={"order": "code"}).hint is None
