"""What is done quickly says what is done slowly: the engine and phonenumbers, columns and cells, lists and rows."""

from __future__ import annotations

import contextlib
import csv
import random
import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import phonenumbers
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import phone_lists, phone_signs
from support.phone_lists import example

from smsotp_nb import phones
from smsotp_nb._pandas import STR
from smsotp_nb._phones import countries, one_phone, reference
from smsotp_nb._phones.cells import repairs, scrub
from smsotp_nb._phones.fast import automata, digits, engine, tables
from smsotp_nb._phones.judging import answers, judgement, readings
from smsotp_nb._phones.summary import Met
from smsotp_nb._phones.vocabulary import PROBLEM_CODE, REPAIRS, bits

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
import phone_books
import phone_rules

FINDINGS = Path(__file__).parent / "phone_findings.csv"


def assert_exact(texts: list[str] | pd.Series, regions: list[str | None] | pd.Series) -> None:
    # Arrow's text: pandas 2.2 takes any two texts that begin with NUL for the same, where they are Python's.
    text, region = pd.Series(texts, dtype=STR), pd.Series(regions, dtype=STR)
    expected, found = reference.verdict(text, region), engine.verdict(text, region)
    differ = (expected.fillna("") != found.fillna("")).any(axis=1)
    rows = [(text[row], region[row], *expected.loc[row], *found.loc[row]) for row in differ[differ].index[:5]]
    assert not rows, rows
    assert (found.dtypes == expected.dtypes).all()


def new_seed() -> int:
    """Return the seed of a list not seen before; a test that fails shows it, and with it the list is made again."""
    seed = random.randrange(10**6)
    print(f"made with seed={seed}")
    return seed


MAKERS = [phone_lists.messy, phone_lists.corpus, phone_lists.fuzz, phone_signs.patterned]


@pytest.mark.slow
@pytest.mark.parametrize("make", MAKERS, ids=lambda it: it.__name__)
def test_made_lists(make: object) -> None:
    """Every region and kind in every writing and mess, strings of nasty pieces, ways through phonenumbers' patterns.

    Longer lists are a campaign, `benchmarks/phone_fuzz.py`.
    """
    frame = make(4_000, seed=new_seed())  # type: ignore[operator]
    assert_exact(frame["phone"], frame["country"])


def test_old_findings() -> None:
    """Strings that once went wrong, or nearly did, stay right."""
    with FINDINGS.open(encoding="utf-8", newline="") as file:
        rows = [
            (row["phone"].encode().decode("unicode_escape"), row["country"] or None) for row in csv.DictReader(file)
        ]
    assert len(rows) > 50
    assert_exact([text for text, _ in rows], [region for _, region in rows])


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.one_of(
                st.text(st.sampled_from("0123456789+ ()-./x#,;~eExtn\u00a0\uff0b٣\u30fc"), max_size=20),
                st.from_regex(r"\+?[0-9]{0,18}", fullmatch=True),
                st.text(max_size=12),
            ),
            st.sampled_from([None, *phone_lists.REGIONS, "us", "ZZ", "gB"]),
        ),
        max_size=40,
    )
)
def test_any_strings(rows: list[tuple[str, str | None]]) -> None:
    """hypothesis looks for strings and regions that tell the two apart."""
    rows = [(text.encode("utf-8", "ignore").decode(), region) for text, region in rows]
    assert_exact([text for text, _ in rows], [region for _, region in rows])


@pytest.mark.parametrize("digits", range(17))
def test_every_prefix_in_every_region(digits: int) -> None:
    """Each region with one number of each length behind each usual beginning, with and without plus."""
    draw = random.Random(digits)
    rows = [
        (sign + front + "".join(draw.choice("0123456789") for _ in range(digits)), region)
        for region in phone_lists.REGIONS
        for front in ("", "0", "00", "1", "8", "011", str(phonenumbers.country_code_for_region(region)))
        for sign in ("", "+")
    ]
    assert_exact([text for text, _ in rows], [region for _, region in rows])


@pytest.mark.parametrize("size", [0, 1, 2, 127, 128, 129, engine.CHUNK, engine.CHUNK + 1])
def test_any_size(size: int) -> None:
    """Chunks are seamless; an empty and a one-row list have the same columns."""
    frame = phone_lists.messy(200, seed=3).sample(size, replace=True, random_state=1).reset_index(drop=True)
    assert_exact(frame["phone"], frame["country"])


@pytest.mark.parametrize("texts", [[None] * 300, [""] * 300, ["x" * 300] * 70, ["1" * 251, "é" * 251] * 50], ids=str)
def test_rows_without_numbers(texts: list[str | None]) -> None:
    """All missing, all blank, all too long."""
    assert_exact(texts, [None] * len(texts))  # type: ignore[arg-type]


def test_a_slice_of_a_longer_column() -> None:
    """Rows cut out of the middle of a column are read from there."""
    frame = phone_lists.corpus(500, seed=8)
    cut = frame.iloc[100:300].reset_index(drop=True)
    found = engine.verdict(frame["phone"].iloc[100:300], frame["country"].iloc[100:300])
    pd.testing.assert_frame_equal(found, reference.verdict(cut["phone"], cut["country"]))


def test_columns_written_in_many_stretches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stretches with and without regions of three signs, texts missing or not, join to the column they should be."""
    monkeypatch.setattr(engine, "CHUNK", 64)
    frame = phone_lists.corpus(6_000, seed=8)
    long = frame["phone"].copy()
    long[::97] = "+1 202 555 0123 ext. 12345678901234567890"
    long[200:600] = None
    assert_exact(long, frame["country"])
    assert_exact(long.head(6_000 - 7), frame["country"].head(6_000 - 7))


@pytest.mark.parametrize("rows", [30_000, 7_001], ids=["one piece", "pieces"])
def test_repeats_are_answered_once_and_alike(rows: int) -> None:
    """A list of many repeats takes the way over its distinct rows, also in pieces, which know nothing of each other."""
    frame = phone_lists.corpus(2_000, seed=4).sample(30_000, replace=True, random_state=2).reset_index(drop=True)
    joined = pd.concat([frame.iloc[first : first + rows] for first in range(0, 30_000, rows)], ignore_index=True)
    seen: list[int] = []
    found = engine.verdict(joined["phone"], joined["country"], progress=seen.append)
    assert seen[-1] < 2_001
    pd.testing.assert_frame_equal(found, reference.verdict(frame["phone"], frame["country"]))


def test_a_number_is_valid_where_it_has_a_type() -> None:
    """phonenumbers is not asked both."""
    lists = [make(4_000, seed=new_seed()) for make in (phone_lists.corpus, phone_lists.fuzz)]
    for frame in lists:
        for text, region in frame.itertuples(index=False):
            asked = [cell if isinstance(cell, str) else None for cell in (text, region)]
            with contextlib.suppress(phonenumbers.NumberParseException):
                valid = phonenumbers.is_valid_number(phonenumbers.parse(asked[0] or "", asked[1]))
                assert reference.ask(*asked).valid == valid, asked


def test_progress_and_stop() -> None:
    """Progress is told after each chunk; an exception from it stops the work."""
    numbers = pd.Series([f"+1 202 555 {n:04}" for n in range(engine.CHUNK * 2)])
    seen: list[int] = []
    phones.parse(numbers, progress=seen.append)
    assert seen == [engine.CHUNK, engine.CHUNK * 2]

    def stop(done: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        phones.parse(numbers, progress=stop)


def test_shipped_tables_are_those_of_their_version() -> None:
    """Under the version they were made from, building gives the shipped tables bit by bit."""
    if not tables.shipped_fits():
        pytest.skip("another version of phonenumbers is installed")
    shipped, built = tables.load(), tables.build()
    assert [
        field.name
        for field in fields(built)
        if not np.array_equal(getattr(shipped, field.name), getattr(built, field.name))
    ] == []


def test_another_version_is_answered_by_its_own_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without fitting tables lists are put to phonenumbers row by row; long ones get tables of their own."""
    monkeypatch.setattr(tables, "shipped_fits", lambda: False)
    monkeypatch.setattr(answers, "WORTH_NEW_TABLES", 2_000)
    monkeypatch.setattr(tables, "load", lambda: tables.build())
    for size in (1_000, 3_000):
        frame = phone_lists.corpus(size, seed=size)
        found = phones.parse(frame["phone"], region=frame["country"])
        pd.testing.assert_frame_equal(found, reference.verdict(frame["phone"], frame["country"]))


def test_unreadable_metadata_falls_back_to_phonenumbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pattern of a kind nobody has seen yet costs speed, never exactness."""
    monkeypatch.setattr(tables, "load", lambda: None)
    frame = phone_lists.corpus(200, seed=1)
    assert_exact(frame["phone"], frame["country"])


def test_a_rule_of_a_new_kind_is_left_to_phonenumbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of a plan that is marked slow are asked about one by one."""
    loaded = tables.load()
    assert loaded is not None
    slow = tables.Tables(
        **{it.name: getattr(loaded, it.name) for it in fields(loaded)} | {"plan_slow": loaded.plan_code == 55}
    )
    frame = phone_lists.corpus(3_000, seed=2)
    pd.testing.assert_frame_equal(
        engine.verdict(frame["phone"], frame["country"], it=slow), reference.verdict(frame["phone"], frame["country"])
    )


MEMORY = """
import sys
import pandas as pd
from smsotp_nb import phones
from smsotp_nb._pandas import STR

def megabytes(name):
    return int(open("/proc/self/status").read().split(name + ":")[1].split()[0]) * 1024 / 1e6

numbers = pd.read_feather(sys.argv[1])["phone"].astype(STR)  # pandas 2 reads objects, which would be copied
phones.parse(numbers.head(2_000), default_region="US")
open("/proc/self/clear_refs", "w").write("5")
before = megabytes("VmRSS")
found = phones.parse(numbers, default_region="US")
print(megabytes("VmHWM") - before)
"""


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="no /proc to read the peak from")
def test_memory_stays_small(tmp_path: Path) -> None:
    """A million rows add hardly more than their answer takes; the benchmark says how much on other lists."""
    texts = [f"({200 + n % 700}) {n % 900 + 100}-{n % 9973:04}" + " ext. 12" * (n % 11 == 0) for n in range(1_000_000)]
    pd.DataFrame({"phone": texts}).to_feather(tmp_path / "list.feather", compression="uncompressed")
    child = [sys.executable, "-c", MEMORY, str(tmp_path / "list.feather")]
    told = subprocess.run(child, capture_output=True, text=True, check=True, timeout=300)
    assert float(told.stdout) < 96


@pytest.mark.parametrize("expression", ["1*", "(?=1)", "1+", "[^1]", "1{2", "a", "(1", "1)", "\\1", "1{2}{3}"])
def test_unknown_syntax_is_refused(expression: str) -> None:
    """What the reader does not know it does not guess."""
    with pytest.raises(automata.Unsupported):
        automata.Graph().pattern(expression, automata.Accept(0))


# -- the country of a number ---------------------------------------------------------------------


EXAMPLES = sorted(
    {
        example(region, kind)
        for region in phonenumbers.SUPPORTED_REGIONS
        for kind in ("FIXED_LINE", "MOBILE", "TOLL_FREE", "PREMIUM_RATE", "VOIP", "UAN", "PAGER", "VOICEMAIL")
    }
    - {""}
)


def slowly(number: str) -> tuple[str, str] | None:
    found = countries.ask(number)
    place = found.region or "", found.cc or ""
    return place if found.valid and found.e164 == number and len(place[0]) == 2 else None


def test_every_example_number_has_the_same_place_either_way() -> None:
    assert len(EXAMPLES) > 800
    assert [number for number in EXAMPLES if countries.place(number) != slowly(number)] == []


CHANGED = st.tuples(st.sampled_from(EXAMPLES), st.integers(2, 14), st.text("0123456789", max_size=3), st.integers(0, 2))


@given(
    st.one_of(
        CHANGED.map(lambda it: (it[0][: it[1]] + it[2] + it[0][it[1] + it[3] :])[:16]),
        st.from_regex(r"\+[1-9][0-9]{1,14}", fullmatch=True),
    )
)
def test_a_changed_example_and_any_number_have_the_same_place_either_way(number: str) -> None:
    assert countries.place(number) == slowly(number)


@pytest.mark.parametrize(
    "number", ["", "+", "12025550123", "+1202555o123", "+1 202 555 0123", "+０１２", "+80012345678"]
)
def test_what_is_no_e164_number_of_a_country_has_no_place(number: str) -> None:
    assert countries.place(number) is None


# -- repairs of a column as those of one cell -----------------------------------------------------


SHAPES = [
    "",
    *re.split(
        r" \| |\n",
        """Tel: 030 901820 | tel.030 901820 | Mobile no.: 030 901820 | '030 901820 | 030 901820.0 | 030.901820.0
030 901820 x12 | 030 901820 ext. 1234567 | 030 901820#1 |  030 901820  | 030 901820,; | 030 901820 / 2
(030) 901820 or +4930901821 | 030 9018201;030 9018202 | 0309018201 / 0309018201 | 1234567...8 or 1234567
030 901820 or 030 901821 | 030 901820/-1 | 030 901820 (home) | 030 901820 (at home) | n/a | N/A | null
+49 (0)30 901820 | 0049 (0) 30 901820 | +49 (0)30 (0) 901820 | (0)30 901820 | +49 (0) (30) 901820 (2)
\u00a0030\u00a0901820 | 030\u2013901820 | \u0660\u0663\u0660 \u0669\u0660\u0661\u0668\u0662\u0660 | 030 901820\t
Tel: 030 901820.0 | '2024-01-15 | Tel: 15.01.2024 | '1234567 1234567 | 030 901820... | x 030 901820
\u00a0Tel: 030 901820 | \u00a030 901820 (home) | sms 030 901820 x1 | 030 901820 (e) | 1 (2) x3 | +49 (0)1.0""",
    ),
]
PIECES = [
    *("0123456789" * 4),
    *("  --..()++//,,;;&&xxXeEtToOyYaAbBdDwWnNiI#*_\"'=?@!~[]{}<>|\\:\n\r\t"),
    *("tel:", "Tel. ", "mob ", "(home)", " or ", " o ", " y ", "int", "dw", "ext", "ext. ", "(0)", "(2)", "[3]", ".."),
    *("\u2026", "\u00b7", "\u2022", "\u00e9", "\u2460", "\u00b2", "\u017f", "\u30fc", "\u212a", "\u0434\u043e\u0431"),
    *("\u0663", "\uff10", "\uff0b", "\u00a0", "\u200b", "\u2028", "\x85", "\u2013", "e5", "E+1", "T10:2"),
    *("2024-01-05", "05.01.2024", "1234567 1234567", "1234567", "00", "+49"),
]


def _made_up(draw: random.Random) -> str:
    """A number with some separators and some pieces put in anywhere."""
    front = draw.choice(("", "", "+", "00", "("))
    text = front + "".join(draw.choice("0123456789") for _ in range(draw.randint(2, 15)))
    put_in = [draw.choice(" -.()/ ") for _ in range(draw.choice((0, 0, 2, 4)))]
    for piece in put_in + [draw.choice(PIECES) for _ in range(draw.randint(0, 4))]:
        at = draw.randint(0, len(text))
        text = text[:at] + piece + text[at:]
    return text


@pytest.mark.parametrize("repair", [frozenset(), frozenset(REPAIRS)], ids=["none asked", "all asked"])
@pytest.mark.parametrize("seed", range(3))
def test_by_column_as_one_by_one(seed: int, repair: frozenset[str]) -> None:
    """Text, notes, problem and other spelling are those of ``clean``, on lists of every mess, odd shapes, and numbers
    with anything put in.
    """
    made = [make(4_000, seed=seed)["phone"] for make in (phone_lists.messy, phone_lists.corpus, phone_lists.fuzz)]
    draw = random.Random(seed)
    texts = pa.array([*SHAPES, *pd.concat(made), *(_made_up(draw) for _ in range(6_000))], pa.large_string())
    nothing = scrub.plain(texts, digits.read(*digits.bytes_of(texts)))
    for text in texts.filter(pa.array(nothing)).to_pylist():
        assert repairs.clean(text, repair) == repairs.Cleaned(text)
    odd = texts.filter(pa.array(~nothing))
    found = scrub.scrub(odd, repair)
    said = zip(
        *(found.text.to_pylist(), found.notes.tolist(), found.problem.tolist()),
        *(found.other.to_pylist(), found.other_notes.tolist()),
        strict=True,
    )
    for raw, (text, notes, problem, other, other_notes) in zip(odd.to_pylist(), said, strict=True):
        one = repairs.clean(raw, repair)
        assert (problem, notes) == (PROBLEM_CODE.get(one.problem, 0), int(bits(one.notes))), raw
        if not problem:
            assert (text, other, other_notes) == (one.text, one.other, int(bits(one.other_notes))), raw


def test_characters_of_a_column_are_those_of_a_cell() -> None:
    """Every code point of the basic plane, and some beyond, becomes what ``repairs.characters`` makes of it."""
    signs = [chr(code) for code in [*range(0xD800), *range(0xE000, 0x10000), 0x1D7CE, 0x1F4DE, 0xE0001]]
    texts = [f"0{sign}1" for sign in signs]
    text, notes = scrub.written(pa.array(texts, pa.large_string()))
    each = [repairs.characters(it) for it in texts]
    assert text.to_pylist() == [it for it, _ in each]
    assert notes.tolist() == [int(bits(said)) for _, said in each]


# -- short lists row by row, long ones by column --------------------------------------------------


LIMIT = judgement.JUDGED_BY_ROWS
OPTIONS: list[dict[str, Any]] = [
    {},
    {"repair": ["lost_plus", "trailing_note", "vanity"]},
    {"evidence": "none", "landlines": False},
    {"evidence": "majority", "test_numbers": "refuse", "region_mismatch": "refuse"},
]


def assert_alike(listed: Any, **how: Any) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(judgement, "JUDGED_BY_ROWS", 0)
        by_column, weighed = phones.normalize(listed, **how), phones.weigh_column(listed, **how)
        patch.setattr(judgement, "JUDGED_BY_ROWS", 1 << 40)
        by_row, counted = phones.normalize(listed, **how), phones.weigh_column(listed, **how)
    pd.testing.assert_frame_equal(by_row, by_column)
    assert str(counted) == str(weighed)
    assert (counted.of_parts, counted.narrow) == (weighed.of_parts, weighed.narrow)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_address_books(options: dict[str, Any]) -> None:
    reading = phones.NumberOptions(**options)
    for book in phone_books.books(60, len(str(options)), held_out="evidence" in options):
        assert_alike(book.phone, default_region=book.home, numbers=reading)
        assert_alike(book.phone, region=book.country, numbers=reading)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_lists_of_every_rule(options: dict[str, Any]) -> None:
    reading = phones.NumberOptions(**options)
    draw = random.Random(str(options))
    for region in ("AR", "BR", "DE", "FR", "GB", "IT", "MX", "US"):
        for it in phone_rules.of_one_region(region, phone_rules.people(region, 9, draw), draw):
            assert_alike(it.phone, region=it.country, default_region=it.default, numbers=reading)


@pytest.mark.parametrize("size", [LIMIT - 1, LIMIT, LIMIT + 1, 2_000])
def test_either_side_of_the_limit(size: int) -> None:
    people = phone_lists.messy(size, seed=size)
    assert_alike(people["phone"], region=people["country"])
    assert_alike(people["phone"], default_region="DE")
    whole = phones.normalize(people["phone"], region=people["country"], numbers=phones.NumberOptions(evidence="none"))
    first = phones.normalize(
        people["phone"].head(9), region=people["country"].head(9), numbers=phones.NumberOptions(evidence="none")
    )
    pd.testing.assert_frame_equal(first, whole.head(9))


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_rows_that_differ_in_one_thing_are_decided_apart(options: dict[str, Any]) -> None:
    """In a long list, rows alike in all that counts are decided together: a country, a bracket, a kind, a code."""
    cells = ["(4915112345678", "4915112345678", "493012345678", "447911123456", "00494915112345678", "00493912345678"]
    pairs = [(cell, country) for cell in cells for country in ("US", None, "DE", "GB", "FR")]
    people = pd.DataFrame(pairs * 10, columns=["phone", "country"])
    assert_alike(people["phone"], region=people["country"], numbers=phones.NumberOptions(**options))


@settings(max_examples=30, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.one_of(
                st.text(st.sampled_from("0123456789+() -./x*;,oOl1６٣ー\u00a0\ud800"), max_size=22),
                st.sampled_from(
                    ["447911123456", "0055 51 99334-8698", "+49 49171 1234567", "n/a", "(201) 555-0123 (fax)"]
                ),
                st.none(),
                st.floats(),
                st.integers(),
                st.booleans(),
            ),
            st.sampled_from(
                ["DE", "us", "UK", "Italy", "+1", "CA", "NY", "TX", "MX", "FR", "", None, "Atlantis", "AQ"]
            ),
        ),
        max_size=12,
    ),
    st.sampled_from([None, "DE", "US", "BR", "FR"]),
)
def test_cells_of_any_kind(rows: list[tuple[Any, Any]], default: str | None) -> None:
    numbers = pd.Series([number for number, _ in rows], dtype=object, name="phone")
    assert_alike(numbers, default_region=default)
    assert_alike(numbers, region=pd.Series([region for _, region in rows], dtype=object), default_region=default)


@pytest.mark.parametrize("dtype", ["float64", "float32", "Int64", "category", "str", "object", "string[pyarrow]"])
def test_columns_of_any_dtype(dtype: str) -> None:
    draw = random.Random(36)
    values = [draw.randrange(4_915_110_000_000, 4_915_119_999_999) for _ in range(40)]
    numbers = pd.Series(values, index=range(7, 47))
    numbers = numbers.astype("str").astype(dtype) if dtype not in ("float32", "Int64") else numbers.astype(dtype)
    assert_alike(numbers, default_region="DE")
    assert_alike(numbers.where(np.arange(40) % 3 > 0), default_region="AT")


def test_plans_that_keep_a_zero_are_known() -> None:
    """Every region with an example that begins with a zero is among those whose zeros are restored."""
    kept = {region for region, number in phone_lists.example_numbers() if number.italian_leading_zero}
    assert kept - {"001"} <= readings.ZERO_KEPT


@settings(deadline=None, max_examples=80)
@given(st.lists(st.lists(st.integers(0, 40), max_size=12), max_size=12))
def test_numbers_met_before_are_known(chunks: list[list[int]]) -> None:
    """However they are cut into chunks, all but the first of equal numbers were there; each is kept once."""
    met, seen = Met(), set[int]()
    for chunk in chunks:
        expected = []
        for number in chunk:
            expected.append(number in seen)
            seen.add(number)
        assert met.add(np.array(chunk, np.int64)).tolist() == expected
    assert len(met) == len(seen)


def test_every_mobile_digit_that_phonenumbers_knows_is_one() -> None:
    """A later version of its data may know more; the example numbers of all regions stay themselves but for those."""
    numbers = [
        phonenumbers.format_number(example, phonenumbers.PhoneNumberFormat.E164)
        for region in phonenumbers.SUPPORTED_REGIONS
        for kind in (phonenumbers.PhoneNumberType.MOBILE, phonenumbers.PhoneNumberType.FIXED_LINE)
        if (example := phonenumbers.example_number_for_type(region, kind))
    ]
    to = pd.Series(numbers, dtype="str")
    changed = to[one_phone(to) != to].tolist()
    digit = {code: phonenumbers.country_mobile_token(code) for code in phonenumbers.COUNTRY_CODE_TO_REGION_CODE}
    assert changed == [one for one in numbers if any(t and one.startswith(f"+{c}{t}") for c, t in digit.items())]
    assert changed


@pytest.mark.parametrize("dtype", ["object", "str", "string[pyarrow]", "category"])
def test_one_phone_takes_any_kind_of_text_and_keeps_the_index(dtype: str) -> None:
    to = pd.Series(["+5491123456789", None, "+14155550100"], index=["a", "a", 3], dtype=dtype)
    alike = one_phone(to)
    assert alike.index.tolist() == ["a", "a", 3]
    assert alike.fillna("").tolist() == ["+541123456789", "", "+14155550100"]
    assert one_phone(to.head(0)).empty
