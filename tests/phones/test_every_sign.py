"""Every sign there is, at eight places of twenty texts: the fast engine says what phonenumbers says.

Ten million texts cannot all be put to phonenumbers here. It looks at a sign only by the classes and letters of its
patterns, by its digit value and by its capital. Signs that are alike in all of these get the same answer from it, so
one of them is asked for all - of the two large kinds that its patterns do not know. Every other sign is asked about
itself. What is alike is found out here from the compiled patterns, with no help of the engine, and
``python benchmarks/phone_fuzz.py --every-sign`` puts all ten million to phonenumbers.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from dataclasses import dataclass, field
from functools import cache
from re import _constants, _parser

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from phonenumbers import phonenumberutil
from support import phone_signs

from smsotp_nb._pandas import STR
from smsotp_nb._phones import reference
from smsotp_nb._phones.fast import engine, signs

ASK = reference.ask
ALIKE = 200  # of larger kinds one sign is asked for all
ASKED_OF_EACH = 5


@cache
def kinds() -> list[list[int]]:
    """The places of signs that phonenumbers cannot tell apart, kind by kind."""
    found = defaultdict(list)
    looks = phone_signs.sign_classes()
    for place, sign in enumerate(phone_signs.every_sign()):
        seen = tuple(look.fullmatch(sign) is not None for look in looks)
        found[seen, sign.isalnum(), unicodedata.digit(sign, -1), sign.upper() if sign.upper().isascii() else ""].append(
            place
        )
    return list(found.values())


@cache
def place_of() -> dict[str, int]:
    return {sign: place for place, sign in enumerate(phone_signs.every_sign())}


@dataclass
class Told:
    """phonenumbers' answers for every sign between two texts: asked for each, or for a few of those that are alike."""

    front: str
    behind: str
    region: str | None
    answers: list[reference.Answer] = field(default_factory=list)
    which: np.ndarray = field(default_factory=lambda: np.zeros(len(phone_signs.every_sign()), np.intp))

    def __post_init__(self) -> None:
        for places in kinds():
            large = len(places) > ALIKE
            asked = [places[k * len(places) // ASKED_OF_EACH] for k in range(ASKED_OF_EACH)] if large else places
            told = [ASK(self.front + phone_signs.every_sign()[place] + self.behind, self.region) for place in asked]
            assert not large or len(set(told)) == 1, (self.front, self.behind, "not alike to phonenumbers", asked)
            self.which[places] = len(self.answers) if large else len(self.answers) + np.arange(len(told))
            self.answers += told[:1] if large else told

    def frame(self) -> pd.DataFrame:
        return reference.frame(self.answers).take(self.which)

    def again(self, text: str, region: str | None) -> reference.Answer:
        """The answer for one of these texts, in place of asking phonenumbers a second time."""
        assert region == self.region
        return self.answers[self.which[place_of()[text[len(self.front)]]]]


def texts_with(front: str, behind: str) -> pd.Series:
    column = pa.array([front + sign + behind for sign in phone_signs.every_sign()], pa.large_string())
    return pd.Series(STR.__from_arrow__(column))


def same(one: pd.Series, other: pd.Series) -> bool:
    """Compare two columns quickly."""
    left, right = (pa.chunked_array(_chunks(column)) for column in (one, other))
    return bool(left.equals(right))


def _chunks(column: pd.Series) -> list[pa.Array]:
    values = pa.array(column, from_pandas=True)
    return values.chunks if isinstance(values, pa.ChunkedArray) else [values]


@pytest.mark.sampled(3)
@pytest.mark.slow
@pytest.mark.parametrize(("marked", "region"), phone_signs.MARKED, ids=[text for text, _ in phone_signs.MARKED])
def test_every_sign_at_eight_places(marked: str, region: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each sign is put in the place of each mark. (What the engine leaves to phonenumbers is not asked for twice.)"""
    parts = marked.split("|")
    assert len(parts) == 9
    regions = pd.Series([region], dtype="str").repeat(len(phone_signs.every_sign())).reset_index(drop=True)
    for place in range(1, 9):
        front, behind = "".join(parts[:place]), "".join(parts[place:])
        texts = texts_with(front, behind)
        told = Told(front, behind, region)
        monkeypatch.setattr(reference, "ask", told.again)
        found, right = engine.verdict(texts, regions), told.frame()
        if not all(same(found[name], right[name]) for name in reference.COLUMNS):
            differ = (found.fillna("") != right.reset_index(drop=True).fillna("")).any(axis=1)
            rows = [(texts[row], *right.iloc[row], *found.iloc[row]) for row in np.flatnonzero(differ)[:5]]
            pytest.fail(f"{differ.sum()} texts differ, such as {rows!a}")


# -- what the engine believes of single signs: what the patterns say, read by Python's own reader of expressions --


NUMBER = "030901820"


def own_classes() -> list[re.Pattern[str]]:
    """The classes and letters of the pattern of a viable number."""
    parts = phone_signs.parts(_parser.parse(phone_signs.VIABLE.pattern, phone_signs.VIABLE.flags))
    found = [phone_signs.class_of(*part) for part in parts]
    return [re.compile(it, phone_signs.VIABLE.flags) for it in dict.fromkeys(found) if it is not None]


def test_known_are_the_signs_of_the_pattern_and_no_others() -> None:
    """The engine reads the pattern by a few expressions; Python's parser finds the same signs in it."""
    classes = own_classes()
    assert len(classes) > 30
    for sign in phone_signs.BASIC:
        assert signs.is_known(sign) == any(it.fullmatch(sign) for it in classes), ascii(sign)


def test_a_plus_is_known_in_front_only() -> None:
    """So a plus behind a digit means that a text is no number."""
    _, branches = _parser.parse(phone_signs.VIABLE.pattern, phone_signs.VIABLE.flags)[0][1]
    first, second = (list(branch) for branch in branches)
    operator, (_, _, inside) = second[0]
    assert operator is _constants.MAX_REPEAT
    assert re.fullmatch(phone_signs.class_of(*inside[0]), "+")
    behind = [phone_signs.class_of(*part) for part in phone_signs.parts([*first, *second[1:]])]
    assert not [it for it in behind if it is not None and re.fullmatch(it, "+")]


def test_what_a_semicolon_may_begin() -> None:
    """Texts with a context or a subaddress are left to phonenumbers; there is no other parameter but the extension."""
    named = [value for name, value in vars(phonenumberutil).items() if name.startswith("_RFC3966")]
    literal = [it for it in named if isinstance(it, str) and re.fullmatch(r"[;a-z:=-]+", it)]
    assert sorted(literal) == [";ext=", ";isub=", ";phone-context=", "tel:"]


def test_no_sign_that_may_stand_between_digits_is_forgotten() -> None:
    """Every sign that phonenumbers drops from a number is written as punctuation or left undecided."""
    for sign in phone_signs.BASIC:
        if not sign.isascii() and reference.ask(NUMBER[:5] + sign + NUMBER[5:], "DE").e164 is not None:
            assert signs.fate(sign) in "-~q0123456789+", ascii(sign)


def test_a_pattern_that_takes_any_sign_knows_them_all() -> None:
    """Then nothing is refused for a sign, and phonenumbers is asked."""
    for expression in ("a.", "[^a]", r"\[[a-z.]x|."):
        assert signs.known_by(re.compile(expression)).fullmatch("\u2603")
