"""Words by segment: everybody gets the words of their own segment, once, and the rest is said."""

from __future__ import annotations

import pickle
from typing import Any

import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.dtypes import dtype_names
from support.small_plans import RATES, number, people, plan

import smsotp_nb as sms
from smsotp_nb.errors import UsageError
from smsotp_nb.sandbox import Rules

WORDS = {"de": "Hallo {name}", "en": "Hi {name}"}


def spoken(*languages: Any, **columns: Any) -> pd.DataFrame:
    return people(len(languages), language=pd.Series(languages, dtype=object), **columns)


def texts(made: sms.Plan) -> list[str | None]:
    """Return what each row is texted; None where it is not."""
    found = made.rows["body"].map(made.texts.to_dict(), na_action="ignore").astype(object)
    return found.where(found.notna(), None).tolist()


# -- which words ----------------------------------------------------------------------------------------------------


MESSAGES: dict[str, tuple[dict[str, Any], list[str]]] = {
    "text": ({"message": WORDS}, ["Hallo N0", "Hi N1", "Hallo N2"]),
    "content": ({"message": WORDS, "signature": "Acme"}, ["[Acme] Hallo N0", "[Acme] Hi N1", "[Acme] Hallo N2"]),
    "no placeholder": ({"message": {"de": "Hallo", "en": "Hi"}}, ["Hallo", "Hi", "Hallo"]),
    "the same words": ({"message": {"de": "Hi", "en": "Hi"}}, ["Hi", "Hi", "Hi"]),
    "templates": (
        {"message": sms.Template({"de": "t1", "en": "t2"}, ["name"], preview=WORDS)},
        ["Hallo N0", "Hi N1", "Hallo N2"],
    ),
    "templates without variables": (
        {"message": sms.Template({"de": "t1", "en": "t2"}, preview={"de": "Hallo", "en": "Hi"})},
        ["Hallo", "Hi", "Hallo"],
    ),
    "one template": ({"message": sms.Template({"de": "t", "en": "t"}, preview="Welcome")}, ["Welcome"] * 3),
    "a column of a segment": ({"message": {"de": sms.column("name"), "en": "Hi {name}"}}, ["N0", "Hi N1", "N2"]),
    "replaced": (
        {"message": sms.Message({"de": "„Hallo“", "en": "Hi"}, replace=sms.parts.PLAIN)},
        ['"Hallo"', "Hi", '"Hallo"'],
    ),
}


@pytest.mark.parametrize(("message", "expected"), MESSAGES.values(), ids=MESSAGES)
def test_everybody_gets_the_words_of_their_segment(message: dict[str, Any], expected: list[str]) -> None:
    made = plan(spoken("de", "en", "de"), by="language", **message)
    assert texts(made) == expected
    assert len(set(made._held.body_keys.tolist())) == len(made.bodies)
    assert made._measure()["recipients"].sum() == 3


COLUMNS: dict[str, pd.Series] = {
    "object": pd.Series(["de", " en ", "de"], dtype=object),
    "str": pd.Series(["de", "en", "de"], dtype="str"),
    "category": pd.Series(["de", "en", "de"], dtype="category"),
    "unnamed": pd.Series(["de", "en", "de"], name=None),
}


@pytest.mark.parametrize("column", COLUMNS.values(), ids=COLUMNS)
def test_the_segment_is_a_column_or_a_series(column: pd.Series) -> None:
    made = plan(people(3, language=column), message=WORDS, by="language")
    beside = plan(people(3), message=WORDS, by=column.rename(None))
    assert texts(made) == texts(beside) == ["Hallo N0", "Hi N1", "Hallo N2"]
    assert (made.by, made._kept, beside.by, beside._kept) == ("language", ("language",), "segment", ("segment",))
    assert made.rows["language"].tolist() == ["de", "en", "de"]


def test_labels_are_compared_as_text() -> None:
    made = plan(people(3, group=[1, 2, 1.0]), message={1: "one", "2": "two"}, by="group")
    assert texts(made) == ["one", "two", "one"]


def test_a_frame_of_polars_says_its_segments() -> None:
    frame = pl.DataFrame({"phone": [number(0), number(1)], "language": ["de", "en"], "name": ["Ana", "Ben"]})
    assert texts(sms.plan(frame, message=WORDS, to="phone", by="language", campaign="x")) == ["Hallo Ana", "Hi Ben"]
    assert texts(sms.plan(frame, message=WORDS, to="phone", by=frame["language"], campaign="x")) == [
        "Hallo Ana",
        "Hi Ben",
    ]


def test_a_plan_on_an_index_of_labels_that_repeat() -> None:
    frame = spoken("de", "en", "de").set_axis(["x", "x", "y"])
    made = plan(frame, message=WORDS, by="language")
    assert texts(made) == ["Hallo N0", "Hi N1", "Hallo N2"]
    assert made.estimate_by_segment["messages"].tolist() == [2, 1]


def test_from_the_accessor() -> None:
    made = spoken("de", "en").smsotp.plan(
        message=sms.Message(WORDS, priority=["en"]), to="phone", by="language", campaign="demo"
    )
    assert texts(made) == ["Hallo N0", "Hi N1"]


# -- whole messages -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["text", "content"])
def test_a_column_or_a_series_of_whole_messages_is_taken_literally(kind: str) -> None:
    frame = people(3, msg=["20 % {off}", "Hi", None])
    for words in (sms.column("msg"), frame["msg"], frame["msg"].rename(None)):
        made = plan(frame, message=sms.Message(words, field=kind))
        assert texts(made) == ["20 % {off}", "Hi", None]
        assert made.rows["problem"].fillna("").tolist() == ["", "", "VALUE_MISSING"]
    assert made.rows["note"].iloc[2].split()[-1] == f"VALUE_MISSING:{kind}"


def test_a_series_of_messages_stands_before_a_column_of_its_name() -> None:
    frame = people(2)
    assert texts(plan(frame, message="Dear " + frame["name"])) == ["Dear N0", "Dear N1"]


def test_a_column_of_texts_to_be_filled_is_not_sent_as_it_stands() -> None:
    frame = people(2, msg=["Hi {name}", "Hello {name}"])
    with pytest.raises(UsageError, match=r"column 'msg' holds '\{name\}' in row 0, 1"):
        plan(frame, message=sms.column("msg"))
    with pytest.raises(UsageError, match=r"column 'msg' holds '\{name\}' in row 0, 1"):
        plan(frame, message=frame["msg"])


# -- rows without words ---------------------------------------------------------------------------------------------


def test_a_row_of_another_segment_or_of_none_is_skipped_with_its_problem() -> None:
    made = plan(spoken("de", "fr", None, " ", "DE"), message=WORDS, by="language")
    assert made.rows["problem"].fillna("").tolist() == [
        "", "SEGMENT_UNKNOWN", "SEGMENT_MISSING", "SEGMENT_MISSING", "SEGMENT_UNKNOWN",
    ]  # fmt: skip
    notes = [note.split()[-1] for note in made.rows["note"].iloc[1:]]
    assert notes == ["SEGMENT_UNKNOWN:fr", *["SEGMENT_MISSING:language"] * 2, "SEGMENT_UNKNOWN:DE"]
    assert made.skipped[["body", "chunk", "est_parts", "est_cost"]].isna().all(axis=None)
    card = " ".join(str(made).split())
    assert "2 rows are in segments without a message: 'DE' (1 row; did you mean 'de'?), 'fr' (1 row)" in card
    assert "No row is in the segment 'en'" in card


def test_a_missing_value_counts_only_where_the_own_message_uses_it() -> None:
    frame = spoken("de", "en", "de", name=[None, None, "Cy"], city=["Bonn", None, None])
    made = plan(frame, message={"de": "Hallo {name}", "en": "Hi"}, by="language")
    assert made.rows["problem"].fillna("").tolist() == ["VALUE_MISSING", "", ""]
    both = plan(frame, message={"de": "Hallo {name}", "en": "Hi {city|there}"}, by="language")
    assert texts(both) == [None, "Hi there", "Hallo Cy"]


def test_each_segment_writes_its_values_in_its_own_language() -> None:
    frame = spoken("de", "en", "pt-BR", "UK", owed=[1234.5, 1234.5, 2.0, 2.0], due=pd.Timestamp("2026-12-01"))
    words = {"de": "{owed:money} bis {due:date}", "en": "{owed:money} by {due:day}", "pt-BR": "{owed:,.1f}"}
    said = words | {"UK": sms.Message("{due:date}", language="en-GB")}
    made = plan(frame, message=sms.Message(said, currency="EUR"), by="language")
    assert texts(made) == ["1.234,50 € bis 01.12.2026", "€1,234.50 by December 1", "2,0", "1 Dec 2026"]
    assert "are written in English" not in str(made)
    assert "are written in English" in str(plan(frame, message="{owed:.2f}"))


def test_a_format_is_refused_for_the_rows_of_its_own_segment_alone() -> None:
    frame = spoken("de", "en", owed=["12.50", "soon"])
    assert texts(plan(frame, message={"de": "{owed:.2f}", "en": "{owed}"}, by="language")) == ["12,50", "soon"]
    with pytest.raises(UsageError, match="row 1: 'soon' is not a number"):
        plan(frame, message={"de": "{owed}", "en": "{owed:.2f}"}, by="language")


def test_a_number_that_cannot_be_texted_is_its_problem_first() -> None:
    made = plan(spoken("fr", "de", phone=["hello", number(1)]), message=WORDS, by="language", exclude=[number(1)])
    assert made.rows["problem"].tolist() == ["NOT_A_NUMBER", "SUPPRESSED"]


MISTAKES = [
    pytest.param(
        {"message": WORDS}, r"message is a dict by segment; say by=.*did you mean by='language'\?", id="no by"
    ),
    pytest.param({"message": "Hi", "by": "language"}, "message is one for everybody; by= needs a dict", id="by alone"),
    pytest.param(
        {"message": sms.Message("Hi", priority=["de"])}, "priority= says which .* goes first; it needs", id="priority"
    ),
    pytest.param(
        {"message": sms.column("name"), "by": "language"}, "message is one for everybody", id="by beside a column"
    ),
    pytest.param(
        {"message": WORDS, "by": "langauge"}, r"by=: no column 'langauge'; did you mean 'language'\?", id="by"
    ),
    pytest.param({"message": WORDS, "by": 5}, "by= must be a column's name or a Series, got 5", id="by no column"),
    pytest.param({"message": WORDS, "by": pd.Series(["de"])}, "by= is a Series on another index", id="by of others"),
    pytest.param({"message": {}, "by": "language"}, "message= is an empty dict", id="empty"),
    pytest.param({"message": {"de": "x", None: "y"}, "by": "language"}, "key None, which is no segment", id="key None"),
    pytest.param({"message": {"de": "x", " de": "y"}, "by": "language"}, "the segment 'de' twice", id="key twice"),
    pytest.param(
        {"message": {"de": "x", "en": 5}, "by": "language"}, "segment 'en': message= must be text, got 5", id="5"
    ),
    pytest.param({"message": {"de": "x", "en": None}, "by": "language"}, r"\['en'\] must be text, got None", id="none"),
    pytest.param({"message": {"de": "x", "en": " "}, "by": "language"}, "segment 'en': message= is empty", id="blank"),
    pytest.param(
        {"message": {"de": "{nam}", "en": "Hi"}, "by": "language"},
        r"segment 'de': no column for the placeholder \{nam\}; did you mean 'name'\?",
        id="placeholder",
    ),
    pytest.param(
        {"message": {"de": "{nam}", "en": "Hi {nam}"}, "by": "language"},
        "be made: no column for the",
        id="in all of them",
    ),
    pytest.param({"message": {"de": "a {", "en": "b"}, "by": "language"}, "segment 'de': a single '{'", id="brace"),
    pytest.param(
        {"message": {"de": "name", "en": "b"}, "by": "language"}, "segment 'de': message 'name' is the", id="name"
    ),
    pytest.param(
        {"message": sms.Message(WORDS, field="text"), "by": "language", "signature": "Acme"},
        "signature= is not put in front",
        id="signed",
    ),
    pytest.param(
        {"message": sms.Message(WORDS, priority=["ed"]), "by": "language"}, "priority=: no segment 'ed'", id="unknown"
    ),
    pytest.param(
        {"message": sms.Message(WORDS, priority=["DE"]), "by": "language"}, "did you mean 'de'", id="priority near"
    ),
    pytest.param(
        {"message": sms.Message(WORDS, priority="de"), "by": "language"}, "priority= must be a list", id="priority text"
    ),
    pytest.param(
        {"message": sms.Message(WORDS, priority=["de", "de"]), "by": "language"}, "a segment twice", id="priority twice"
    ),
    pytest.param(
        {"message": {"DE": "x", "EN": "y"}, "by": "language"},
        r"no row of 'language' is in a segment of the message \('DE', 'EN'\); it holds 'de', 'en'; did you mean 'DE'\?",
        id="nobody",
    ),
    pytest.param({"message": WORDS, "by": "blank"}, "every cell of 'blank' is blank", id="all blank"),
    pytest.param({"message": WORDS, "by": "status"}, "'status' is a column of the results", id="by of results"),
    pytest.param({"message": sms.column("mgs")}, r"message: no column 'mgs'; did you mean 'msg'\?", id="column"),
    pytest.param({"message": "msg"}, r"sms\.column\('msg'\) where", id="a column's name"),
    pytest.param(
        {"message": pd.Series(["a"])}, r"another index than .*message=series\.to_dict\(\)", id="Series of others"
    ),
    pytest.param(
        {"message": sms.Template({"de": "a", "en": "b"}, preview={"fr": "x"}), "by": "language"},
        "preview= has the segment 'fr', the ids of the Template have 'de', 'en'",
        id="text of no template",
    ),
    pytest.param({"message": sms.Template("a", preview={"de": "x"})}, "must be one, too", id="texts of one template"),
    pytest.param(
        {"message": sms.Template({"de": "a", "en": "a"}, ["name"], preview=WORDS), "by": "language"},
        "two texts of the template 'a'",
        id="two texts of one template",
    ),
]


@pytest.mark.parametrize(("changes", "says"), MISTAKES)
def test_a_mistaken_call_says_what_to_change(changes: dict[str, Any], says: str) -> None:
    frame = spoken("de", "en", msg=["a", "b"], status=["de", "en"], blank=[None, " "])
    with pytest.raises(UsageError, match=says):
        sms.plan(frame, to="phone", campaign="x", **changes)


def test_numbers_in_the_column_of_segments_are_not_printed() -> None:
    with pytest.raises(UsageError) as caught:
        plan(people(2), message=WORDS, by="phone")
    assert "2025550" not in str(caught.value)
    assert "2025550" not in str(plan(people(2, by=["de", number(5)]), message=WORDS, by="by"))


def test_column_takes_a_name() -> None:
    with pytest.raises(UsageError, match="column takes the name of the column"):
        sms.column(5)  # type: ignore[arg-type]


# -- in two segments ------------------------------------------------------------------------------------------------


TWICE: dict[str, tuple[list[str], list[str], str]] = {
    "the first row": ([], ["", "DUPLICATE_OF"], "DUPLICATE_OF:0 SEGMENT_FIRST:en"),
    "by priority": (["de", "en"], ["DUPLICATE_OF", ""], "DUPLICATE_OF:1 SEGMENT_PRIORITY:de"),
    "one is named": (["de"], ["DUPLICATE_OF", ""], "DUPLICATE_OF:1 SEGMENT_PRIORITY:de"),
    "as the rows": (["en"], ["", "DUPLICATE_OF"], "DUPLICATE_OF:0 SEGMENT_PRIORITY:en"),
}


@pytest.mark.parametrize(("priority", "problems", "note"), TWICE.values(), ids=TWICE)
def test_a_person_in_two_segments_is_texted_once(priority: list[str], problems: list[str], note: str) -> None:
    made = plan(
        spoken("en", "de", phone=[number(0), number(0)]), message=sms.Message(WORDS, priority=priority), by="language"
    )
    assert made.rows["problem"].fillna("").tolist() == problems
    assert made.skipped["note"].iloc[0].endswith(note)
    assert "1 person stands in several segments and is texted once" in str(made)


def test_the_same_segment_twice_is_a_plain_duplicate() -> None:
    made = plan(spoken("de", "de", phone=[number(0)] * 2), message=sms.Message(WORDS, priority=["de"]), by="language")
    assert made.rows["note"].iloc[1].endswith("DUPLICATE_OF:0")
    assert "several segments" not in str(made)


def test_a_row_that_cannot_be_worded_does_not_win() -> None:
    frame = spoken("de", "en", "fr", phone=[number(0)] * 3, name=[None, "Ana", "Ana"])
    made = plan(frame, message=sms.Message(WORDS, priority=["de"]), by="language")
    assert made.rows["problem"].fillna("").tolist() == ["VALUE_MISSING", "", "SEGMENT_UNKNOWN"]


CELLS = ["de", "en", "es", "fr", " en", None]


@given(
    st.lists(st.tuples(st.integers(0, 4), st.sampled_from(CELLS)), min_size=1, max_size=25),
    st.permutations(["de", "en", "es"]),
    st.integers(0, 3),
)
@settings(deadline=None, max_examples=25)
def test_everybody_once_with_the_words_of_the_first_of_their_segments(
    rows: list[tuple[int, str | None]], order: list[str], named: int
) -> None:
    """Against the plainest reading: for each person the first row of the best segment."""
    frame = spoken(*(segment for _, segment in rows), phone=[number(n) for n, _ in rows])
    known = [(n, (segment or "").strip()) for n, segment in rows]
    if not any(segment in order for _, segment in known):
        return
    priority = order[:named]
    made = plan(frame, message=sms.Message({"de": "Hallo", "en": "Hi", "es": "Hola"}, priority=priority), by="language")
    best: dict[int, tuple[int, int, str]] = {}
    for place, (n, segment) in enumerate(known):
        if segment in order:
            rank = priority.index(segment) if segment in priority else len(priority)
            best[n] = min(best.get(n, (99, 0, "")), (rank, place, segment))
    expected = {place: segment for _, place, segment in best.values()}
    planned = made.rows[made.rows["status"].eq("planned")]
    assert dict(zip(planned.index, planned["language"].str.strip(), strict=True)) == expected
    assert made.estimate_by_segment["messages"].sum() == len(expected)


# -- what it costs --------------------------------------------------------------------------------------------------


def test_the_estimate_by_segment() -> None:
    numbers = [number(0), number(1), "+33199001234", number(1)]
    frame = spoken("de", "en", "en", "de", phone=numbers, name=["a", "日", "b", "c"])
    made = plan(frame, message=WORDS | {"es": "Hola"}, by="language", rates=RATES)
    found = made.estimate_by_segment
    assert dtype_names(found) == {
        "currency": "str",
        "language": "str",
        "messages": "Int64",
        "bodies": "Int64",
        "est_parts": "Int64",
        "rate": "float64",
        "est_cost": "float64",
        "est_low": "float64",
        "est_high": "float64",
        "confidence": "str",
        "encoding": "str",
    }
    shown = found[["language", "currency", "messages", "bodies", "est_parts", "rate", "est_cost", "encoding"]].astype(
        object
    )
    assert shown.where(shown.notna(), "-").values.tolist() == [
        ["de", "USD", 1, 1, 1, 0.0075, 0.0075, "gsm7"],
        ["en", "EUR", 1, 1, 1, 0.0713, 0.0713, "gsm7"],
        ["en", "USD", 1, 1, 1, 0.0075, 0.0075, "ucs2"],
        ["es", "-", 0, 0, 0, "-", "-", "-"],
    ]
    assert "By language" in str(made)
    assert found["est_cost"].sum() == pytest.approx(made.estimate["est_cost"].sum())


def test_without_segments_it_is_empty() -> None:
    assert plan(rates=RATES).estimate_by_segment.empty
    assert plan().by is None
    assert "segment" not in str(plan())


def test_one_kind_of_letters_or_both() -> None:
    made = plan(spoken("de", "de", name=["a", "日"]), message={"de": "Hallo {name}"}, by="language")
    assert made.estimate_by_segment["encoding"].tolist() == ["mixed"]


def test_a_template_without_text_is_unknown_for_its_segment_alone() -> None:
    ids = {"de": "t1", "en": "t2"}
    made = plan(spoken("de", "en"), message=sms.Template(ids, preview={"de": "Hallo"}), by="language", rates=RATES)
    assert made.estimate_by_segment["est_parts"].fillna(-1).tolist() == [1, -1]
    assert made.estimate_by_segment["est_cost"].isna().tolist() == [False, True]
    assert "of 1 recipient are not known without the text of their template" in " ".join(str(made).split())


def test_the_preview_shows_each_segment() -> None:
    frame = spoken(*["de"] * 6, "en", "es", "fr")
    made = plan(frame, message=dict.fromkeys(["de", "en", "es", "fr"], "Hi {name}"), by="language")
    assert made.preview()["language"].tolist() == ["de", "en", "es", "fr"]
    assert len(made.preview(2)) == 2
    assert "en" in str(made)


def test_a_passcode_in_one_segment_gets_the_hint() -> None:
    frame = spoken(*["de"] * 80, "en")
    made = plan(frame, message={"de": "Hallo {name}", "en": "Your code is 493021"}, by="language")
    assert len(made.advice) == 1
    assert "Passcodes belong to otp.send" in made.advice[0]


def test_the_column_is_kept_once() -> None:
    made = plan(spoken("de", "en"), message=WORDS, by="language", keep=["language", "name"])
    assert made._kept == ("language", "name")


def test_a_plan_without_segments_has_the_fingerprint_it_had() -> None:
    frame = people(4)
    assert plan(frame).fingerprint == "4ba5da52cde449a3efb3ff6904875fddf348d0d6880ee67f0b07f5e7a2512695"
    template = plan(frame, message=sms.Template("t", ["name"]))
    assert template.fingerprint == "3faa37f5cffb68903d857506a0c9de629105262f8bf2c29a4819e35301d6bc52"


def test_the_same_words_by_segment_are_the_same_plan() -> None:
    same = plan(spoken("de", "en"), message={"de": "Hi {name}", "en": "Hi {name}"}, by="language")
    assert same.fingerprint == plan(spoken("de", "en")).fingerprint


def test_a_plan_with_segments_survives_pickling() -> None:
    made = plan(spoken("de", "en"), message=WORDS, by="language", rates=RATES)
    again = pickle.loads(pickle.dumps(made))
    assert (again.fingerprint, str(again)) == (made.fingerprint, str(made))


# -- sent -----------------------------------------------------------------------------------------------------------


GREETINGS = {"de": "Hallo {name}", "en": "Hi {name}", "es": "Hola {name}"}
SENT: dict[str, dict[str, Any]] = {
    "text": {"message": sms.Message(GREETINGS, priority=["en"])},
    "content": {"message": sms.Message(GREETINGS, priority=["en"], field="content")},
    "templates": {"message": sms.Template({"de": "t_de", "en": "t_en", "es": "t_es"}, ["name"], priority=["en"])},
}


@pytest.mark.parametrize("words", SENT.values(), ids=SENT)
def test_each_person_has_the_words_of_their_segment_once(words: dict[str, Any], ledger: sms.Ledger) -> None:
    """Sixty people of three segments, two of them once more in another; sent twice, seen in the inbox."""
    frame = spoken(*["de", "en", "es"] * 20, "de", "en", phone=[number(n) for n in [*range(60), 1, 0]])
    made = plan(frame, by="language", rates=RATES, requests=sms.RequestOptions(chunk_size=7), **words)
    with sms.Sandbox(rules=Rules(templates={f"t_{label}": text for label, text in GREETINGS.items()})) as box:
        for _ in range(2):
            results = sms.send(made, client=box.client(), ledger=ledger, progress=False)
        inbox = box.inbox
    assert inbox["to"].is_unique
    expected = {number(n): GREETINGS[("de", "en", "es")[n % 3]].format(name=f"N{n}") for n in range(60)}
    expected[number(0)] = "Hi N61"  # in en by priority, whose row comes last
    assert dict(zip(inbox["to"], inbox["text"], strict=True)) == expected
    assert results.loc[results["status"].eq("skipped"), "to"].tolist() == [number(0), number(1)]
    after, before = sms.cost.by(results, "language"), made.estimate_by_segment
    assert after.set_index("language")["messages"].to_dict() == before.set_index("language")["messages"].to_dict()


def test_a_test_message_of_a_row_has_its_words(box: sms.Sandbox, ledger: sms.Ledger) -> None:
    made = plan(spoken("de", "en"), message=WORDS, by="language")
    for row in (0, 1):
        sms.send_test(made, to="+1 415 555 0100", client=box.client(), ledger=ledger, row=row)
    assert sorted(box.inbox["text"]) == ["Hallo N0", "Hi N1"]
