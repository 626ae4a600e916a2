"""What words beside a number say: that it must not be texted, that nothing speaks against it, or nothing we understand.

A word that ``notes.txt`` does not know keeps a row from being texted, too, but then its owner is asked what it means.
"""

from __future__ import annotations

import re
import unicodedata
from importlib.resources import files
from typing import Final, Literal

Says = Literal["no", "nothing", "unclear"]

STROKES: Final = str.maketrans({"ł": "l", "ø": "o", "đ": "d", "ð": "d", "ı": "i", "æ": "ae", "œ": "oe", "ё": "е"})


def _folded(text: str) -> str:
    """Return text without case and accents, in which words of a list are looked for."""
    text = "".join(sign for sign in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(sign))
    return text.translate(STROKES)


def _lists() -> dict[str, list[str]]:
    """Return the lists of ``notes.txt`` by their names, folded."""
    lists: dict[str, list[str]] = {}
    words: list[str] = []
    for line in (files(__package__) / "notes.txt").read_text("utf-8").splitlines():
        if line.startswith("["):
            words = lists.setdefault(line.strip("[]"), [])
        elif not line.startswith("#"):
            words += _folded(line).split()
    return lists


LISTS: Final = _lists()
WORDS: Final = frozenset(LISTS["words that say no"])
STEMS: Final = tuple(LISTS["parts of words that say no"])
SIGNS: Final = tuple(LISTS["signs that say no"])
HARMLESS: Final = frozenset(LISTS["words that say nothing"])
PARTICLES: Final = frozenset(
    "van von der den de del della di da dos das du la le el al bin ibn ben ter ten zu".split()  # noqa: SIM905
)
NAMES: Final = 3  # words of a name at most, without its particles
LETTERS: Final = re.compile(r"[^\W\d_]+")
LATIN_NOT: Final = re.compile(r"n['’ʼ`´]t\b")
FRENCH_NOT: Final = re.compile(r"\bn['’ʼ`´](?=\w)")
PUNCTUATION: Final = frozenset(" ()[],;:.-–/&'’\"|*")


def says_no(text: str) -> bool:
    """Return whether words of a cell say that its number must not be texted.

    Example:
        >>> [says_no(it) for it in ("0171 1234567 (nicht anrufen!)", "Faxnummer: 030 1", "n'appelez plus", "Ann")]
        [True, True, True, False]
    """
    folded = _folded(FRENCH_NOT.sub("ne ", LATIN_NOT.sub(" not", text.casefold())))
    if any(sign in folded for sign in SIGNS):
        return True
    return any(word in WORDS or any(stem in word for stem in STEMS) for word in LETTERS.findall(folded))


def read(note: str) -> Says:
    """Return what a note behind a number says.

    Example:
        >>> [read(it) for it in ("(home)", "- Ann van Dyck", "(do not text)", "(ring twice)", "(mobile?)")]
        ['nothing', 'nothing', 'no', 'unclear', 'unclear']
    """
    if says_no(note):
        return "no"
    words = LETTERS.findall(unicodedata.normalize("NFC", note))
    unknown = [word for word in words if _folded(word) not in HARMLESS and word not in PARTICLES]
    names = all(word[0].isupper() and word[1:] == word[1:].lower() for word in unknown)
    known = names and len(unknown) <= NAMES and all(sign.isalpha() or sign in PUNCTUATION for sign in note)
    return "nothing" if known else "unclear"


def of_all_numbers(text: str) -> bool:
    """Return whether a cell of several numbers says no to any of them; that one is a fax says nothing of the others."""
    return says_no(" ".join(word for word in text.split() if "fax" not in word.casefold()))
