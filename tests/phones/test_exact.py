"""The fast engine answers as phonenumbers does, on every input there is: made lists, fuzz, properties, old findings."""

from __future__ import annotations

import contextlib
import csv
import random
import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import numpy as np
import pandas as pd
import phonenumbers
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import phone_lists, phone_signs

from smsotp_nb import phones
from smsotp_nb._pandas import STR
from smsotp_nb._phones import reference
from smsotp_nb._phones.fast import assembly, automata, engine, tables
from smsotp_nb._phones.judging import answers

FINDINGS = Path(__file__).parent / "phone_findings.csv"
METADATA = [metadata for _, _, metadata in tables._plans()]


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


@pytest.mark.parametrize("size", [1, 126, 127, 128, 129, 1_000, 30_000])
def test_the_wide_tilde_is_a_label_in_lists_of_any_length(size: int) -> None:
    """U+FF5E is punctuation and a label; both kinds of engine and the way over distinct rows take it for both."""
    number, plain = "071\uff5e80992842", "071-80992842"
    column = pd.Series([number, plain] * ((size + 1) // 2)).head(size)
    found = phones.verdict(column, default_region="LK")
    right = reference.frame([reference.ask(number, "LK"), reference.ask(plain, "LK")])
    assert right["extension"].tolist() == ["80992842", np.nan]
    expected = right.take(np.arange(size) % 2).reset_index(drop=True)
    pd.testing.assert_frame_equal(found, expected)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
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


@pytest.mark.parametrize("bytes_a_text", [assembly.LIKELY, 1], ids=["room enough", "room made"])
def test_columns_written_in_many_stretches(monkeypatch: pytest.MonkeyPatch, bytes_a_text: int) -> None:
    """Stretches with and without regions of three signs, texts missing or not, join to the column they should be."""
    monkeypatch.setattr(engine, "CHUNK", 64)
    monkeypatch.setattr(assembly, "LIKELY", bytes_a_text)
    frame = phone_lists.corpus(6_000, seed=8)
    long = frame["phone"].copy()
    long[::97] = "+1 202 555 0123 ext. 12345678901234567890"
    long[200:600] = None
    assert_exact(long, frame["country"])
    assert_exact(long.head(6_000 - 7), frame["country"].head(6_000 - 7))


def test_repeats_are_answered_once_and_alike() -> None:
    """A list of many repeats takes the way over its distinct rows, with equal results."""
    frame = phone_lists.corpus(2_000, seed=4).sample(30_000, replace=True, random_state=2).reset_index(drop=True)
    seen: list[int] = []
    found = engine.verdict(frame["phone"], frame["country"], progress=seen.append)
    assert seen[-1] < 2_001
    pd.testing.assert_frame_equal(found, reference.verdict(frame["phone"], frame["country"]))


def test_repeats_in_a_column_of_many_pieces() -> None:
    """Columns read from files come in pieces, which know nothing of each other."""
    frame = phone_lists.corpus(2_000, seed=6).sample(30_000, replace=True, random_state=3).reset_index(drop=True)
    pieces = [frame.iloc[first : first + 7_001] for first in range(0, 30_000, 7_001)]
    joined = pd.concat(pieces, ignore_index=True)
    assert len(pa.array(joined["phone"]).chunks) == len(pieces)
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
    phones.verdict(numbers, progress=seen.append)
    assert seen == [engine.CHUNK, engine.CHUNK * 2]

    def stop(done: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        phones.verdict(numbers, progress=stop)


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
        found = phones.verdict(frame["phone"], region=frame["country"])
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
from smsotp_nb._pandas import STR

def megabytes(name):
    return int(open("/proc/self/status").read().split(name + ":")[1].split()[0]) * 1024 / 1e6

numbers = pd.read_feather(sys.argv[1])["phone"].astype(STR)  # pandas 2 reads objects, which would be copied
phones.verdict(numbers.head(2_000), default_region="US")
open("/proc/self/clear_refs", "w").write("5")
before = megabytes("VmRSS")
found = phones.verdict(numbers, default_region="US")
print(megabytes("VmHWM") - before)
"""


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="no /proc to read the peak from")
def test_memory_stays_small(tmp_path: Path) -> None:
    """A million rows add hardly more than their answer takes; the benchmark says how much on other lists."""
    texts = [f"({200 + n % 700}) {n % 900 + 100}-{n % 9973:04}" + " ext. 12" * (n % 11 == 0) for n in range(1_000_000)]
    pd.DataFrame({"phone": texts}).to_feather(tmp_path / "list.feather", compression="uncompressed")
    child = [sys.executable, "-c", MEMORY, str(tmp_path / "list.feather")]
    told = subprocess.run(child, capture_output=True, text=True, check=True, timeout=300)
    assert float(told.stdout) < 88


# the parts


@pytest.mark.parametrize("metadata", METADATA, ids=lambda it: f"{it.id}-{it.country_code}")
def test_recognizer_matches_as_re_does(metadata: object) -> None:
    """Each plan's descriptions, on digits drawn around its examples."""
    draw = random.Random(metadata.country_code)  # type: ignore[attr-defined]
    for kind in ("general_desc", "fixed_line", "mobile"):
        description = getattr(metadata, kind)
        if description is None or not description.national_number_pattern:
            continue
        machine = automata.Recognizer(automata.Graph())
        start = machine.start([machine.graph.pattern(description.national_number_pattern, automata.Accept(0))])
        for digits in _around(description.example_number, draw):
            state = start
            for digit in digits:
                state = machine.following[state][int(digit)]
            assert (0 in machine.labels[state]) == bool(re.fullmatch(description.national_number_pattern, digits)), (
                digits
            )


def _around(example: str | None, draw: random.Random) -> list[str]:
    example = example or "12345678"
    drawn = ["".join(draw.choice("0123456789") for _ in range(draw.randint(0, 12))) for _ in range(15)]
    return drawn + [example[:keep] + draw.choice(("", "0", "5", "91")) for keep in range(len(example) + 1)]


@pytest.mark.parametrize(
    "expression",
    sorted(
        {it.national_prefix_for_parsing for it in METADATA if it.national_prefix_for_parsing}
        | {it.international_prefix for it in METADATA if it.international_prefix}
    ),
)
def test_prefix_ends_where_re_ends(expression: str) -> None:
    """The preferred alternative wins, not the longest; the last group's span comes along."""
    groups = re.compile(expression).groups
    machine = automata.Prefix(automata.Graph())
    start = machine.start(machine.graph.pattern(expression, automata.Accept(0), mark_group=groups or None))
    draw = random.Random(expression)
    fronts = ["", "0", "00", "1", "15", "0141", "011", "9", "90", "8", "0037680"]
    for _ in range(200):
        digits = draw.choice(fronts) + "".join(draw.choice("0123456789") for _ in range(draw.randint(0, 13)))
        match = re.match(expression, digits)
        span = match.span(groups) if match and groups and match[groups] is not None else (-1, -1)
        assert _prefix(machine, start, digits) == (match and (match.end(), span)), digits


def _prefix(machine: automata.Prefix, state: int, digits: str) -> tuple[int, tuple[int, int]] | None:
    found = None
    for depth in range(len(digits) + 1):
        outcome = (machine.at_end if depth == len(digits) else machine.here)[state]
        if outcome is not None:
            found = (depth, outcome)
        state = machine.following[state][int(digits[depth])] if depth < len(digits) else state
    return found


@pytest.mark.parametrize("expression", ["1*", "(?=1)", "1+", "[^1]", "1{2", "a", "(1", "1)", "\\1", "1{2}{3}"])
def test_unknown_syntax_is_refused(expression: str) -> None:
    """What the reader does not know it does not guess."""
    with pytest.raises(automata.Unsupported):
        automata.Graph().pattern(expression, automata.Accept(0))
