"""Parts: the usual packing rule, held against an independent package."""

from __future__ import annotations

import pandas as pd
import pytest
import smsutil
from hypothesis import given, settings
from hypothesis import strategies as st
from kills.people import numbers
from smsutil.codecs import GSM_BASIC_CHARSET, GSM_EXT_CHARSET

import smsotp_nb as sms
from smsotp_nb import parts

GSM = GSM_BASIC_CHARSET.replace("\x1b", "")
# The escape is no character of a text here; smsutil lets it pass as one of the basic alphabet.
ALPHABET = st.one_of(
    st.sampled_from(GSM),
    st.sampled_from(GSM_EXT_CHARSET),
    st.characters(exclude_categories=["Cs"], exclude_characters="\x1b"),
    st.sampled_from("’“…–\u00a0😀👍🏽日ç"),
)
GSM_ONLY = st.text(st.sampled_from(GSM + GSM_EXT_CHARSET * 12), max_size=700)
TEXTS = st.one_of(GSM_ONLY, st.text(ALPHABET, max_size=400), st.text(st.sampled_from("a😀日"), max_size=300))

CASES = [
    pytest.param("", "gsm7", 1, id="empty is one part"),
    pytest.param("a" * 160, "gsm7", 1, id="160 septets fit one"),
    pytest.param("a" * 161, "gsm7", 2, id="161 do not"),
    pytest.param("a" * 306, "gsm7", 2, id="2 x 153"),
    pytest.param("a" * 307, "gsm7", 3, id="one more"),
    pytest.param("a" * 158 + "€", "gsm7", 1, id="an escaped character is two units"),
    pytest.param("a" * 159 + "€", "gsm7", 2, id="and may be one too many"),
    pytest.param("a" * 152 + "€" + "a" * 152, "gsm7", 3, id="an escape pair never straddles"),
    pytest.param("日" * 70, "ucs2", 1, id="70 units fit one"),
    pytest.param("日" * 71, "ucs2", 2, id="71 do not"),
    pytest.param("日" * 134, "ucs2", 2, id="2 x 67"),
    pytest.param("日" * 135, "ucs2", 3, id="135 do not fit two"),
    pytest.param("日" * 66 + "😀" + "日" * 66, "ucs2", 3, id="a surrogate pair never straddles"),
    pytest.param("ç", "ucs2", 1, id="the small c with cedilla is not in the alphabet"),
    pytest.param("Ç", "gsm7", 1, id="the capital one is"),
    pytest.param("\x1b", "ucs2", 1, id="the escape is no character"),
    pytest.param("e\u0301", "ucs2", 1, id="a combining accent is not composed"),
]


@pytest.mark.parametrize(("text", "encoding", "expected"), CASES)
def test_boundaries(text: str, encoding: str, expected: int) -> None:
    found = parts.count(text)
    assert (found.encoding, found.parts) == (encoding, expected)
    assert parts.counts(["x", text, "x"]) == ([1, expected, 1], ["gsm7", encoding, "gsm7"])


def test_forcing_characters_are_named_once_in_order() -> None:
    assert parts.count("“Hi” – it’s “you”…").forcing == ("“", "”", "–", "’", "…")
    assert parts.count("Straße {20 €}").forcing == ()


@given(TEXTS)
@settings(max_examples=400, deadline=None)
def test_counts_like_an_independent_package(text: str) -> None:
    theirs = smsutil.split(text)
    assert parts.split(text) == [part.content for part in theirs.parts]
    assert parts.count(text).parts == len(theirs.parts)
    if text:  # smsutil calls the empty text UTF-16
        assert parts.count(text).encoding == {"gsm0338": "gsm7", "utf_16_be": "ucs2"}[theirs.encoding]


@given(TEXTS)
@settings(deadline=None)
def test_room_is_what_still_fits(text: str) -> None:
    """Filling the room exactly keeps the number of parts; one unit more does not."""
    found = parts.count(text)
    letter = "日" if found.encoding == "ucs2" else "a"
    assert parts.count(text + letter * found.room).parts == found.parts
    assert parts.count(text + letter * (found.room + 1)).parts == found.parts + 1


@given(TEXTS)
@settings(deadline=None)
def test_pieces_join_to_the_text(text: str) -> None:
    pieces = parts.split(text)
    assert "".join(pieces) == text
    assert len(pieces) == parts.count(text).parts


@given(st.lists(TEXTS, max_size=30))
@settings(deadline=None)
def test_many_are_counted_like_one(texts: list[str]) -> None:
    found, encodings = parts.counts(texts)
    assert found == [parts.count(text).parts for text in texts]
    assert encodings == [parts.count(text).encoding for text in texts]


def test_many_long_texts_and_one_huge_text() -> None:
    """Texts beyond what one pass can hold are measured in halves, and one alone by itself."""
    texts = ["a€" * 400, "😀日" * 300] * 2000 + ["a" * 2_000_000]
    found, encodings = parts.counts(texts)
    assert found[:2] == [parts.count(text).parts for text in texts[:2]]
    assert found[:4000] == found[:2] * 2000
    assert found[-1] == -(-2_000_000 // 153)
    assert set(encodings) == {"gsm7", "ucs2"}


def test_many_accepts_none_at_all() -> None:
    assert parts.counts(iter(())) == ([], [])


def test_half_a_pair_is_counted_not_refused() -> None:
    """Broken input has its lone surrogates; counting them must not crash a plan."""
    assert parts.count("\ud83d").parts == 1
    assert parts.counts(["\ud83d", "a"]) == ([1, 1], ["ucs2", "gsm7"])


# -- measures and explanations -----------------------------------------------------------------------------------------


@given(st.lists(TEXTS, min_size=1, max_size=20))
@settings(max_examples=25, deadline=None)
def test_a_plan_measures_its_texts_as_each_is_explained(texts: list[str]) -> None:
    people = pd.DataFrame({"phone": numbers(len(texts)), "text": texts})
    literal = sms.Message("{text}", literal=True)  # a random text may look as if read in a wrong encoding
    bodies = sms.plan(people, literal, to="phone", campaign="c").bodies
    for row in bodies.itertuples():
        one = parts.explain(row.text)
        assert (row.est_parts, row.encoding) == (one.parts, one.encoding)


def units_of(text: str, encoding: str) -> int:
    if encoding == "gsm7":
        return len(text) + sum(text.count(character) for character in GSM_EXT_CHARSET)
    return len(text.encode("utf-16-be", "surrogatepass")) // 2


def shortened(text: str, units: int, encoding: str) -> str:
    """Drop characters from the end until at least so many units are gone."""
    kept = text
    while units_of(text, encoding) - units_of(kept, encoding) < units:
        kept = kept[:-1]
    return kept


@given(TEXTS)
@settings(deadline=None)
def test_the_units_over_are_what_must_go_to_save_a_part(text: str) -> None:
    found = parts.explain(text)
    if found.over:
        assert parts.count(shortened(text, found.over, found.encoding)).parts < found.parts
        enough = parts.count(shortened(text, found.over - 2, found.encoding))  # a pair may be cut whole
        assert enough.parts == found.parts or enough.encoding != found.encoding or found.over <= 2


def test_an_explanation_names_every_forcing_character_and_its_places() -> None:
    found = parts.explain("It’s… here’s 😀")
    assert [(one.character, one.places, one.replacement) for one in found.forcing] == [
        ("’", (2, 10), "'"),
        ("…", (4,), "..."),
        ("😀", (13,), None),
    ]
    assert found.forcing[0].name == "RIGHT SINGLE QUOTATION MARK"
    assert found.plain == "It's... here's 😀"
    assert (found.plain_encoding, found.saved) == ("ucs2", 0)


def test_plain_characters_may_save_parts_or_cost_some() -> None:
    assert parts.explain("It’s " + "a" * 100).saved == 1
    assert parts.explain("日" * 65 + "…").saved == 0
    assert parts.explain("日" * 69 + "…").saved == -1


def test_every_plain_character_is_in_the_alphabet_and_none_of_the_replaced_is() -> None:
    assert all(parts.count(to).encoding == "gsm7" for to in parts.PLAIN.values())
    assert all(parts.count(character).encoding == "ucs2" for character in parts.PLAIN)


def test_an_own_table_of_replacements() -> None:
    found = parts.explain("ação", replace={"ç": "c", "ã": "a"})
    assert (found.plain, found.plain_encoding) == ("acao", "gsm7")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        pytest.param("Hello", "GSM-7, 1 part: 5 units, 155 more fit", id="short"),
        pytest.param("a" * 163, "GSM-7, 2 parts: 163 units, 143 more fit; 3 fewer would save a part", id="over"),
        pytest.param("a\u00a0b", "NO-BREAK SPACE, at 1: ' ' instead", id="invisible"),
        pytest.param("\u0007", "U+0007, at 0", id="no name"),
    ],
)
def test_an_explanation_in_words(text: str, says: str) -> None:
    assert says in str(parts.explain(text))
