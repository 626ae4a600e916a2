"""The same plan with other words: nobody is judged again but by the words, and nobody is added."""

from __future__ import annotations

import pickle
from typing import Any

import pandas as pd
import pytest
from support.small_plans import RATES, number, people, plan

import smsotp_nb as sms
from smsotp_nb import phones
from smsotp_nb.errors import UsageError

WORDS = {"de": "Hallo {name}", "en": "Hi {name}"}


def spoken(*languages: Any, **columns: Any) -> pd.DataFrame:
    return people(len(languages), language=pd.Series(languages, dtype=object), **columns)


def problems(made: sms.Plan) -> list[str]:
    return made.rows["problem"].fillna("").tolist()


def without_words(made: sms.Plan) -> pd.DataFrame:
    return made.rows[["to", "region", "type", "status", "problem", "note", *made._kept]]


NEW: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "text": ({"message": "Hi {name}"}, {"message": "Hello {name}!"}),
    "text to content": ({"message": "Hi {name}"}, {"message": sms.Message("Hello {name}!", field="content")}),
    "to a template": ({"message": "Hi {name}"}, {"message": sms.Template("t", ["name"])}),
    "another template": (
        {"message": sms.Template("t", ["name"])},
        {"message": sms.Template("u", ["name"])},
    ),
    "segments": (
        {"message": WORDS, "by": "language"},
        {"message": {"de": "Servus {name}", "en": "Hey"}, "by": "language"},
    ),
    "to a column": ({"message": "Hi"}, {"message": sms.column("name")}),
}


@pytest.mark.parametrize(("before", "after"), NEW.values(), ids=NEW)
def test_reworded_is_the_plan_of_the_new_words(before: dict[str, Any], after: dict[str, Any]) -> None:
    """Against planning anew; of what was kept by ``by`` nothing is lost."""
    frame = spoken("de", "en", "de", "en", "fr", phone=[number(0), number(1), "hello", number(1), number(4)])
    options = {"exclude": [number(4)], "keep": ["name"], "rates": RATES, "requests": sms.RequestOptions(chunk_size=2)}
    reworded = plan(frame, **before, **options).reworded(**after)
    anew = plan(frame, **after, **options)
    assert reworded.fingerprint == anew.fingerprint
    pd.testing.assert_frame_equal(reworded.rows[anew.rows.columns], anew.rows)
    pd.testing.assert_frame_equal(reworded.bodies, anew.bodies)
    pd.testing.assert_frame_equal(reworded.estimate, anew.estimate)
    assert (reworded.campaign, reworded._wire) == (anew.campaign, anew._wire)


def test_numbers_are_not_judged_again(monkeypatch: pytest.MonkeyPatch) -> None:
    made = plan(people(2))
    monkeypatch.delattr(phones, "normalize")
    assert made.reworded("Hello {name}").texts.tolist() == ["Hello N0", "Hello N1"]


def test_the_callers_frame_may_have_changed_since() -> None:
    frame = spoken("de", "en", city=["Bonn", "Bath"])
    by = frame["language"].copy()
    made = plan(frame, message=WORDS, by=by)
    by[:] = "fr"
    frame.loc[0, ["name", "city"]] = [None, "changed"]
    frame["phone"] = None
    again = made.reworded({"de": "{name}, {city}", "en": "{city}"})
    assert again.texts.tolist() == ["N0, Bonn", "Bath"]


def test_rows_held_back_by_words_are_judged_anew_and_others_stay() -> None:
    frame = spoken("de", "fr", None, "en", "de", phone=[number(0), number(1), number(2), "hello", number(4)])
    frame["name"] = [None, "Ben", "Cy", "Di", "Ed"]
    made = plan(frame, message=WORDS, by="language", exclude=[number(4)])
    assert problems(made) == ["VALUE_MISSING", "SEGMENT_UNKNOWN", "SEGMENT_MISSING", "NOT_A_NUMBER", "SUPPRESSED"]
    more = made.reworded({"de": "Hallo", "fr": "Salut {name}", "en": "Hi"})
    assert problems(more) == ["", "", "SEGMENT_MISSING", "NOT_A_NUMBER", "SUPPRESSED"]
    all_of_them = more.reworded("Hi")
    assert problems(all_of_them) == ["", "", "", "NOT_A_NUMBER", "SUPPRESSED"]
    assert problems(all_of_them.reworded(WORDS, by="language")) == problems(made)


def test_of_several_rows_of_a_person_the_planned_one_stays() -> None:
    """It may have been texted: another row of the same person must not take its place."""
    frame = people(3, phone=[number(0)] * 3)
    frame["name"] = [None, "Ana", "Bo"]
    made = plan(frame)
    assert problems(made) == ["VALUE_MISSING", "", "DUPLICATE_OF"]
    assert problems(made.reworded("Hi")) == ["DUPLICATE_OF", "", "DUPLICATE_OF"]
    by_segment = spoken("de", "en", phone=[number(0)] * 2)
    first = plan(by_segment, message=sms.Message(WORDS, priority=["en"]), by="language")
    assert problems(first.reworded(sms.Message(WORDS, priority=["de"]))) == ["DUPLICATE_OF", ""]


def test_when_the_planned_row_lacks_a_word_another_row_of_the_person_serves() -> None:
    frame = people(2, phone=[number(0)] * 2, city=[None, "Bonn"])
    assert problems(plan(frame).reworded("From {city}")) == ["VALUE_MISSING", ""]


STAYS: dict[str, tuple[dict[str, Any], dict[str, Any], list[str]]] = {
    "signature": ({"message": "a", "signature": "Acme"}, {"message": sms.Message("b", field="content")}, ["[Acme] b"]),
    "join": (
        {"message": sms.Message("a", join="{content} ({signature})"), "signature": "Acme"},
        {"message": sms.Message("b", field="content")},
        ["b (Acme)"],
    ),
    "no signature before a text": (
        {"message": "a", "signature": "Acme"},
        {"message": sms.Message("b", field="text")},
        ["b"],
    ),
    "another signature": ({"message": "a", "signature": "Acme"}, {"message": "b", "signature": "Beta"}, ["[Beta] b"]),
    "other words for a missing value": ({"message": "{name|you}"}, {"message": "{name|me}"}, ["me"]),
    "replace": ({"message": sms.Message("a", replace={"ä": "ae"})}, {"message": "bä"}, ["bae"]),
    "no replace": (
        {"message": sms.Message("a", replace={"ä": "ae"})},
        {"message": sms.Message("bä", replace={})},
        ["bä"],
    ),
    "template data": (
        {"message": sms.Template("t", {"who": "city"})},
        {"message": sms.Template("u", preview="Hi {who}")},
        ["Hi X"],
    ),
    "template text": (
        {"message": sms.Template("t", {"who": "city"}, preview="{who}")},
        {"message": sms.Template("t", {"who": "country"})},
        ["US"],
    ),
    "by": ({"message": {"de": "a"}, "by": "language"}, {"message": {"de": "b"}}, ["b"]),
    "by, not for one message": ({"message": {"de": "a"}, "by": "language"}, {"message": "b"}, ["b"]),
    "priority, where it applies": (
        {"message": sms.Message({"de": "a", "en": "b"}, priority=["en", "de"]), "by": "language"},
        {"message": {"de": "c"}},
        ["c"],
    ),
}


@pytest.mark.parametrize(("before", "after", "texts"), STAYS.values(), ids=STAYS)
def test_what_is_not_said_stays_as_it_was(before: dict[str, Any], after: dict[str, Any], texts: list[str]) -> None:
    frame = people(1, name=[None], city=["X"], country=["US"], language=["de"])
    made = plan(frame, **before).reworded(**after)
    assert made.texts.tolist() == texts
    assert made._kept == plan(frame, **before)._kept


def test_a_new_column_of_segments_is_carried_along() -> None:
    made = plan(spoken("de", "en"), keep=["name"]).reworded(WORDS, by="language")
    assert (made._kept, made.by) == (("name", "language"), "language")
    assert made.texts.tolist() == ["Hallo N0", "Hi N1"]


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        pytest.param({}, "reworded needs message", id="nothing"),
        pytest.param({"message": None, "signature": "Beta"}, "message is needed, such as", id="no words"),
        pytest.param({"message": "Hi {nam}"}, r"did you mean 'name'\?", id="placeholder"),
        pytest.param({"message": WORDS}, "say by=", id="segments without by"),
        pytest.param({"campaign": "x"}, "reworded has no argument campaign=", id="campaign"),
    ],
)
def test_a_mistaken_call_says_what_to_change(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        plan(people(2)).reworded(**changes)


def test_in_the_cn_variant_a_text_keeps_its_signature() -> None:
    made = plan(
        people(1, phone=["+8613800138000"]), message="a", signature="Acme", requests=sms.RequestOptions(variant="cn")
    )
    assert made.reworded("b")._message(0).signature == "Acme"


def test_a_plan_that_was_pickled_can_be_reworded() -> None:
    made = pickle.loads(pickle.dumps(plan(people(2))))
    assert made.reworded("Hello").texts.tolist() == ["Hello"]


def test_the_first_plan_stays_what_it_was() -> None:
    made = plan(spoken("de", "en"), message=WORDS, by="language")
    before = str(made)
    made.reworded("Hi")
    assert str(made) == before
