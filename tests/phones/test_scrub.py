"""The repairs by column do what the repairs of one cell do."""

from __future__ import annotations

import random

import numpy as np
import pyarrow as pa
import pytest
from support import phone_lists

from smsotp_nb._phones.cells import repairs, scrub
from smsotp_nb._phones.fast import digits
from smsotp_nb._phones.vocabulary import PROBLEM_CODE, REPAIRS, bits

SHAPES = [
    *("Tel: 030 901820", "tel.030 901820", "Mobile no.: 030 901820", "'030 901820", "030 901820.0", "030.901820.0"),
    *("030 901820 x12", "030 901820 ext. 1234567", "030 901820#1", " 030 901820 ", "030 901820,;", "030 901820 / 2"),
    *(
        "(030) 901820 or +4930901821",
        "030 9018201;030 9018202",
        "0309018201 / 0309018201",
        "1234567...8 or 1234567",
    ),
    *("030 901820 or 030 901821", "030 901820/-1", "030 901820 (home)", "030 901820 (at home)", "n/a", "N/A", "null"),
    *("+49 (0)30 901820", "0049 (0) 30 901820", "+49 (0)30 (0) 901820", "(0)30 901820", "+49 (0) (30) 901820 (2)"),
    *(
        "\u00a0030\u00a0901820",
        "030\u2013901820",
        "\u0660\u0663\u0660 \u0669\u0660\u0661\u0668\u0662\u0660",
        "030 901820\t",
    ),
    *("Tel: 030 901820.0", "'2024-01-15", "Tel: 15.01.2024", "'1234567 1234567", "030 901820...", "x 030 901820", ""),
    *(
        "\u00a0Tel: 030 901820",
        "\u00a030 901820 (home)",
        "sms 030 901820 x1",
        "030 901820 (e)",
        "1 (2) x3",
        "+49 (0)1.0",
    ),
]


@pytest.mark.parametrize("repair", [frozenset(), frozenset(REPAIRS)], ids=["none asked", "all asked"])
@pytest.mark.parametrize("seed", range(3))
def test_by_column_as_one_by_one(seed: int, repair: frozenset[str]) -> None:
    """Text, notes, problem and other spelling are those of ``clean``, on lists of every mess and on odd shapes."""
    lists = (
        phone_lists.messy(4_000, seed=seed),
        phone_lists.corpus(4_000, seed=seed),
        phone_lists.fuzz(2_000, seed=seed),
    )
    texts = SHAPES + [text for made in lists for text in made["phone"]]
    column = pa.array(texts, pa.large_string())
    odd = np.flatnonzero(~scrub.plain(column)).tolist()
    nothing = (texts[row] for row in set(range(len(texts))) - set(odd))
    assert all(repairs.clean(text, repair) == repairs.Cleaned(text) for text in nothing)
    texts = [texts[row] for row in odd]
    found = scrub.scrub(pa.array(texts, pa.large_string()), repair)
    said = zip(
        *(found.text.to_pylist(), found.notes.tolist(), found.problem.tolist()),
        *(found.other.to_pylist(), found.other_notes.tolist()),
        strict=True,
    )
    for raw, (text, notes, problem, other, other_notes) in zip(texts, said, strict=True):
        one = repairs.clean(raw, repair)
        assert (problem, notes) == (PROBLEM_CODE.get(one.problem, 0), int(bits(one.notes))), raw
        if not problem:
            assert (text, other, other_notes) == (one.text, one.other, int(bits(one.other_notes))), raw


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
def test_made_up_cells(repair: frozenset[str]) -> None:
    """By column as one by one, on numbers with anything put in."""
    draw = random.Random(31)
    texts = pa.array([_made_up(draw) for _ in range(12_000)], pa.large_string())
    plain = scrub.plain_by_digits(texts, digits.read(*digits.bytes_of(texts)))
    assert plain.tolist() == scrub.plain(texts).tolist()
    assert all(
        repairs.clean(text, repair) == repairs.Cleaned(text) for text in texts.filter(pa.array(plain)).to_pylist()
    )
    odd = texts.filter(pa.array(~plain))
    found = scrub.scrub(odd, repair)
    for row, raw in enumerate(odd.to_pylist()):
        one = repairs.clean(raw, repair)
        assert (PROBLEM_CODE.get(one.problem, 0), bits(one.notes)) == (found.problem[row], found.notes[row]), raw
        if not one.problem:
            assert (one.text, one.other) == (found.text[row].as_py(), found.other[row].as_py()), raw


def test_characters_of_a_column_are_those_of_a_cell() -> None:
    """Every code point of the basic plane, and some beyond, becomes what ``repairs.characters`` makes of it."""
    signs = [chr(code) for code in [*range(0xD800), *range(0xE000, 0x10000), 0x1D7CE, 0x1F4DE, 0xE0001]]
    texts = [f"0{sign}1" for sign in signs]
    text, notes = scrub.written(pa.array(texts, pa.large_string()))
    each = [repairs.characters(it) for it in texts]
    assert text.to_pylist() == [it for it, _ in each]
    assert notes.tolist() == [int(bits(said)) for _, said in each]


def test_most_cells_take_a_form() -> None:
    """Of a messy list next to nothing is left to be cleaned one by one: that is what makes it quick."""
    texts = pa.array(phone_lists.messy(4_000, seed=7)["phone"], pa.large_string())
    asked: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        clean = repairs.clean
        patch.setattr(repairs, "clean", lambda raw, repair: asked.append(raw) or clean(raw, repair))
        scrub.scrub(texts.filter(pa.array(~scrub.plain(texts))))
    assert len(asked) < 0.03 * len(texts), asked[:50]
