"""Phrases that a reader has to translate: a plain expression for each, in pages, docstrings, errors, cards."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from smsotp_nb._phones.cells import notes

ROOT = Path(__file__).parents[2]
READ = [
    *ROOT.glob("*.md"),
    *(ROOT / "docs").rglob("*.md"),
    *(ROOT / "notebooks").glob("*.ipynb"),
    *(ROOT / "smsotp_nb").rglob("*.py"),
]
INSTEAD = {
    r"against without": "relative to without",
    r"when a person said so": "when you marked it as not accepted",
    r"(?:is|are|was|were|words) dear\b|the dearest": "expensive, costs the most",
    r"unlike before": "unusual",
    r"held by tests": "has a test",
    r"(?:is|are|was|were) mended|mend (?:it|them|the)\b": "fixed, correct",
    r"in nobody any more|texts nobody any more": "nobody can be added",
    r"told by (?:its|their) (?:numbers|names?|content)|its content tells": "recognised by",
    r"by whose clock": "according to which clock",
    r"(?:made|read|sent|sent again) by (?:itself|themselves)": "automatically",
    r"words of the interface": "a valid reply",
    r"(?:get|sent|meant|message) as it stands": "literally",
    r"brought nothing new": "found no further errors",
    r"stands? behind that\b": "has been run",
    r"a no is a no": "an opt-out still counts",
    r"\bnoughts?\b": "zero",
    r"below nothing": "negative",
    r"change of mind": "",
    r"in the books": "recorded, in the ledger",
    r"faults? of the line|over the line\b|who is in the line": "of the connection",
    r"what else lies": "the others",
    r"is no proof of|have no proof": "does not prove",
}


@pytest.mark.parametrize("phrase", INSTEAD)
def test_a_coined_phrase_is_said_plainly(phrase: str) -> None:
    """Line breaks within a phrase, and the quotes of text that goes on in the next line, do not hide it."""
    kind = re.compile(phrase.replace(" ", r"[\s\"\\#]+"), re.IGNORECASE)
    found = [
        f"{path.relative_to(ROOT)}: {' '.join(hit[0].split())}, rather: {INSTEAD[phrase]}"
        for path in READ
        for hit in kind.finditer(path.read_text(encoding="utf-8"))
    ]
    assert found == []


def test_no_word_says_both() -> None:
    """A harmless word is none that says no, has no part of one, and none of the signs."""
    assert not notes.HARMLESS & notes.WORDS
    assert not [word for word in notes.HARMLESS if notes.STEMS.search(word)]
    assert not [sign for sign in notes.SIGNS if sign.isascii()]
    assert not [word for word in notes.HARMLESS if any(sign in word for sign in notes.SIGNS)]
