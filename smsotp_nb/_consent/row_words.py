"""Words of names and notes that clearly refuse texts, found in whole columns."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow
import pyarrow.compute

from .._pandas import holds_text
from .._phones.cells.notes import STROKES
from .answers import refuses_texts
from .words import words_of

MARKS_OF_DEATH: Final = r"[†✝🚫📵⚰]|r\. ?i\. ?p|d\.n\."
ANYWHERE: Final = ("plain refusals", "words of death")
ASIDES: Final = ("withdrawn", "deceased", "asides")  # at the beginning, in brackets, behind a dash or a comma
# `words.normalize` for Arrow, as far as the candidates need it: each is read again as a text of its own.
REWRITTEN: Final = (
    (r"\p{M}+", ""),
    ("n['’ʼ`´]t", " not"),
    ("[\\s_'’ʼ`´\"-]+", " "),
    (r"\bopt(?:ed|ing|s)? ?(in|out)", r"opt\1"),
)


def rows_that_refuse(cells: pd.Series, *, is_name: bool) -> npt.NDArray[np.bool_]:
    """Mark the rows whose words clearly refuse texts; a column of anything but text has none.

    Example:
        >>> rows_that_refuse(pd.Series(["Ann", "Bob (DO NOT TEXT)", None]), is_name=True).tolist()
        [False, True, False]
    """
    result = np.zeros(len(cells), bool)
    texts = cells.astype(object) if isinstance(cells.dtype, pd.CategoricalDtype) else cells
    if not len(texts) or not holds_text(texts):
        return result
    codes, different = pd.factorize(texts)
    words = pyarrow.array([text if isinstance(text, str) else None for text in different], pyarrow.large_string())
    candidates = np.flatnonzero(_may_refuse(words))
    refusing = [place for place in candidates.tolist() if refuses_texts(str(different[place]), is_name=is_name)]
    return np.isin(codes, refusing)


def _may_refuse(texts: pyarrow.Array) -> npt.NDArray[np.bool_]:
    """Mark texts with a word without which nothing is refused: one pass in Arrow, 50 times faster than each text."""
    compute = pyarrow.compute
    folded = compute.utf8_lower(compute.utf8_normalize(texts, "NFKD"))
    for letter, plain in STROKES.items():
        folded = compute.replace_substring(folded, chr(letter), plain)
    for pattern, replacement in REWRITTEN:
        folded = compute.replace_substring_regex(folded, pattern, replacement)
    found = compute.match_substring_regex(folded, _pattern())
    return compute.fill_null(found, False).to_numpy(zero_copy_only=False)


@lru_cache(maxsize=1)
def _pattern() -> str:
    negation, refused = _any_phrase(("negations",)), _any_phrase(("what is refused",), before="")
    asides = _any_phrase(ASIDES, before="(?:^|[(\\[{*!,;:–—]| - )[ ]*")
    return f"{_any_phrase(ANYWHERE)}|{asides}|{MARKS_OF_DEATH}|(?:{negation}|n['’ʼ`´])(?:[^ ]* ){{0,5}}{refused}"


def _any_phrase(sections: tuple[str, ...], before: str = "(?:^|[^a-z])") -> str:
    """Return a pattern of RE2; phrases in scripts without blanks may stand anywhere."""
    phrases = {phrase: re.escape(phrase.rstrip("*")) for section in sections for phrase in words_of(section)}
    patterns = {phrase: text.replace(r"\ \.\.\.\ ", " (?:[^ ]+ ){0,4}") for phrase, text in phrases.items()}
    latin = [phrase for phrase in patterns if phrase[0].isascii()]
    words = "|".join(sorted(patterns[phrase] for phrase in latin if not phrase.endswith("*")))
    stems = "|".join(sorted(patterns[phrase] for phrase in latin if phrase.endswith("*")))
    branches = [rf"{before}(?:{words})(?:[^a-z]|$)"]
    if stems:
        branches.append(rf"{before}(?:{stems})")
    branches += sorted(pattern for phrase, pattern in patterns.items() if not phrase[0].isascii())
    return f"(?:{'|'.join(branches)})"
