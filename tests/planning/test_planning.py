"""Plans: every row accounted for, nobody twice, equal bodies first and chunks second."""

from __future__ import annotations

import datetime as dt
import json
import pickle
from decimal import Decimal
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.dtypes import dtype_names
from support.small_plans import RATES, number, people, plan

from smsotp_nb import Message, RequestOptions, Template, parts
from smsotp_nb.errors import UsageError

# -- rows -----------------------------------------------------------------------------------------------------------


def test_every_input_row_is_there_on_its_index_and_in_its_order() -> None:
    frame = people(4).set_axis([5, 5, "x", None])
    made = plan(frame)
    assert made.rows.index.equals(frame.index)
    assert made.rows["to"].tolist() == frame["phone"].tolist()


def test_columns_and_dtypes_of_the_rows() -> None:
    made = plan(people(2, segment=pd.Series(["a", "b"], dtype="category")), keep=["segment"], rates=RATES)
    assert dtype_names(made.rows) == {
        "to": "str",
        "region": "str",
        "type": "str",
        "status": "str",
        "problem": "str",
        "not_before": "datetime64[us]",
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
    assert dtype_names(made.rows) == dtype_names(plan(rates=RATES).rows)
    assert made.bodies.empty
    assert made.estimate.empty
    assert made.preview().empty
    assert "no row can be sent" in str(made)
    assert made.skipped.index.equals(frame.index)


def test_problems_in_the_order_in_which_they_are_judged() -> None:
    frame = people(6, phone=[number(0), number(0), "hello", None, number(4), number(5)])
    frame["name"] = ["a", "b", "c", "d", None, "f"]
    made = plan(frame, exclude=[number(5)])
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
    made = plan(frame, message="Hi {name|b}")
    assert made.rows["body"].tolist() == [0, 1, 0]


def test_the_region_is_a_column_or_a_series_on_the_same_index() -> None:
    frame = people(2, phone=["202 555 0100", "01 99 00 12 34"], country=["US", "FR"])
    by_column = plan(frame, region="country")
    assert by_column.rows["region"].tolist() == ["US", "FR"]
    assert plan(frame, region=frame["country"]).fingerprint == by_column.fingerprint


ODD = [b"+12025550127", ["+12025550128"], {"a": 1}, True, dt.date(2026, 1, 1), pd.NaT, pd.NA, pd.Interval(0, 1), 1j]
ODD += ["\ud83d", "\x00", "x" * 10_000, float("inf"), -5, 1e30, Decimal("NaN"), pd.Period("2026-01"), object(), ""]


@pytest.mark.parametrize("odd", ODD, ids=lambda value: type(value).__name__)
def test_an_odd_cell_is_a_row_with_a_problem_or_a_text_never_a_crash(odd: Any) -> None:
    cells = pd.Series([odd, number(1)], dtype=object)
    by_number = plan(people(2, phone=cells))
    assert by_number.rows["problem"].isna().tolist() == [False, True]
    if isinstance(odd, bytes | list | dict | bool) or (isinstance(odd, dt.date) and not pd.isna(odd)):
        says = r"column 'name', row 0: .*(write \{name:date\}|write it as text into|put words in its place)"
        with pytest.raises(UsageError, match=says):
            plan(people(2, name=cells))
        return
    by_name = plan(people(2, name=cells), keep=["name"])
    held = "VALUE_ODD" if isinstance(odd, pd.Interval) or type(odd) is object else "VALUE_MISSING"
    assert by_name.rows["problem"].fillna(held).iloc[0] == held
    assert len(by_name.bodies) + len(by_name.skipped) == 2
    for made in (by_number, by_name):
        assert "Nothing has been sent." in str(made)


@pytest.mark.parametrize(
    "index",
    [pd.MultiIndex.from_tuples([("a", 1), ("a", 1)]), pd.Index([None, None]), pd.to_datetime(["2026", "2026"])],
    ids=["levels", "blank", "dates"],
)
def test_any_index_stays_as_it_is(index: pd.Index) -> None:
    made = plan(people(2, phone=[number(0), number(0)]).set_axis(index), keep=["name"])
    assert made.rows.index.equals(index)
    assert len(made.skipped) == 1


# -- messages -------------------------------------------------------------------------------------------------------


def test_equal_bodies_are_grouped_first_and_cut_second() -> None:
    frame = people(7, city=["x", "y", "x", "x", "y", "x", "x"])
    made = plan(frame, message="Hi {city}", requests=RequestOptions(chunk_size=2))
    assert made.rows["body"].tolist() == [0, 1, 0, 0, 1, 0, 0]
    assert made.rows["chunk"].tolist() == [0, 3, 0, 1, 3, 1, 2]
    assert made.bodies["recipients"].tolist() == [5, 2]


@pytest.mark.parametrize(
    ("message", "body"),
    [
        pytest.param({"message": "Hi {name}"}, {"text": "Hi N0"}, id="text"),
        pytest.param(
            {"message": "Hi {name}", "signature": "Acme"}, {"content": "Hi N0", "signature": "Acme"}, id="content"
        ),
        pytest.param({"message": Template("t1")}, {"templateId": "t1"}, id="template without variables"),
        pytest.param(
            {"message": Template("t1", ["name", "n"])},
            {"templateId": "t1", "templateData": {"n": "1", "name": "N0"}},
            id="template with columns",
        ),
        pytest.param(
            {"message": Template("t1", {"who": "name", "again": "name"}), "signature": "Acme"},
            {"templateId": "t1", "templateData": {"again": "N0", "who": "N0"}, "signature": "Acme"},
            id="template with named columns",
        ),
        pytest.param({"message": "{{so}} 20 %"}, {"text": "{so} 20 %"}, id="no placeholder"),
        pytest.param({"message": "{n}"}, {"text": "1"}, id="an integral float"),
    ],
)
def test_the_message_of_a_body(message: dict[str, Any], body: dict[str, object]) -> None:
    made = plan(people(2, n=[1.0, 2.5]), **message)
    assert made._message(0).fields() == body


def test_every_row_has_its_own_template_data() -> None:
    made = plan(people(3, name=["a", 'q"', "c"]), message=Template("t", {"who": "name"}))
    assert [json.loads(data) for data in made.bodies["template_data"]] == [{"who": "a"}, {"who": 'q"'}, {"who": "c"}]


def test_values_that_join_to_the_same_text_are_one_body() -> None:
    made = plan(people(2, a=["ab", "a"], b=["c", "bc"]), message="{a}{b}")
    assert made.rows["body"].tolist() == [0, 0]


def test_values_that_only_look_alike_are_two_bodies() -> None:
    made = plan(people(4, a=["x", "x", "y", "y"], b=["y", "x", "y", "x"]), message=Template("t", ["a", "b"]))
    assert made.rows["body"].tolist() == [0, 1, 2, 3]


def test_words_stand_in_for_text_and_template_values() -> None:
    frame = people(2, name=[None, "Ana"])
    assert plan(frame, message="Hi {name|there}")._message(0).text == "Hi there"
    made = plan(frame, message=Template("t", {"who": "name|there"}))
    assert made._message(0).template_data == (("who", "there"),)


def test_a_text_of_which_nothing_is_left_is_not_sent() -> None:
    made = plan(people(2, name=[None, "Ana"]), message="{name| }")
    assert made.rows["problem"].fillna("").tolist() == ["VALUE_MISSING", ""]


NAMES = st.sampled_from(["Ana", "Zoë", "", None, "日本", "a" * 150, "{x}", '"', "€" * 80])
NUMBERS = st.sampled_from([*(number(n) for n in range(6)), "+33 1 99 00 12 34", "hello", None])


@given(
    st.lists(st.tuples(NUMBERS, NAMES, NAMES), max_size=25),
    st.integers(1, 4),
    st.sampled_from(["text", "content", "template"]),
)
@settings(deadline=None, max_examples=25)
def test_a_plan_equals_a_row_by_row_reading(rows: list[tuple[Any, Any, Any]], size: int, kind: str) -> None:
    """Laws of every plan, against the plainest possible reading of the same rows."""
    frame = pd.DataFrame(rows, columns=["phone", "a", "b"], dtype=object)
    wording = {
        "text": {"message": "{a}-{b}!"},
        "content": {"message": "{a}-{b}!", "signature": "Acme"},
        "template": {"message": Template("t", ["a", "b"], preview="{a}-{b}!")},
    }[kind]
    made = plan(frame, rates=RATES, requests=RequestOptions(chunk_size=size), **wording)
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
        body = made._message(int(row["body"]))
        assert {"text": body.text, "content": body.content, "template": dict(body.template_data)}[kind] == (
            {"a": a, "b": b} if kind == "template" else text
        )
        counted = parts.count(f"[Acme] {text}" if kind == "content" else text)
        assert (row["est_parts"], row["encoding"]) == (counted.parts, counted.encoding)
        assert row["est_cost"] == float(
            counted.parts * (Decimal("0.0075") if row["region"] == "US" else Decimal("0.0713"))
        )


# -- what it is -----------------------------------------------------------------------------------------------------


def test_the_fingerprint_covers_numbers_bodies_and_order_and_nothing_else() -> None:
    base = plan().fingerprint
    same = [
        plan(people().set_axis(list("abcd"))),
        plan(requests=RequestOptions(chunk_size=1)),
        plan(rates=RATES),
        plan(keep=["name"]),
        plan(campaign="other"),
        plan(pd.concat([people(), people(1, phone=["hello"])])),
    ]
    different = [
        plan(people()[::-1]),
        plan(people(3)),
        plan(message="Hi {name}."),
        plan(people(name=["N0", "N1", "N2", "other"])),
        plan(message=Message("Hi {name}", field="content")),
        plan(message="Hi {name}", signature="Acme"),
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
        made._held.body_keys[0] = 1
    with pytest.raises((AttributeError, TypeError)):  # of a property, Python 3.11 says it by the other one
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
