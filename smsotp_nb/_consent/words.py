"""The word lists of ``words.txt``, and text in the form in which they are looked for."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import Final

from .._phones.cells.notes import folded

# Up to four words may stand where a phrase has three dots: "do not under any circumstances text" has three.
GAP: Final = r"(?:\S+ ){0,4}"
# Scripts that set no blanks between words, decomposed as `folded` leaves them: there a phrase may stand anywhere.
UNSPACED: Final = re.compile("[\u1100-\u11ff\u2600-\u27bf\u2e80-\uffef\U0001f000-\U0001ffff]")

MARKUP: Final = re.compile(r"<[^<>]{0,200}>")
NEW_WORD: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
NOT: Final = re.compile(r"n['’ʼ`´]t\b")
FRENCH_NOT: Final = re.compile(r"\bn['’ʼ`´](?=\w)")
COUNTED: Final = re.compile(r"\bn(?:o|r)\b\.?(?= of\b| de\b)|(?<=\w )n(?:o|r)\b(?:\.|(?= ?[(\[]|$))")  # Phone no.
DASH: Final = re.compile(r"\s[-–—]+\s|[-–—]{2,}|—")
JOINED: Final = re.compile(r"[\s_'’ʼ`´\"“”„«»*~‐‑–\u200b\ufe0f-]+")
OPTED: Final = re.compile(r"\bopt(?:ed|ing|s)? ?(in|out)(?:s|ed)?(?:to)?\b")
SPELLINGS: Final = ((re.compile(r"\be mail"), "email"), (re.compile(r"\bun (?=subscri)"), "un"))


@cache
def words_of(section: str) -> tuple[str, ...]:
    """Return the phrases of a section of ``words.txt``, in the form that `normalize` gives to texts."""
    text = (files(__package__) / "words.txt").read_text("utf-8")
    body = text.split(f"\n[{section}]\n", 1)[1].split("\n[", 1)[0]
    lines = [line for line in body.splitlines() if not line.startswith("#")]
    phrases = (phrase.strip() for line in lines for phrase in line.split(","))
    return tuple(dict.fromkeys(_normalize_phrase(phrase) for phrase in phrases if phrase))


def _normalize_phrase(phrase: str) -> str:
    ending = "*" if phrase.endswith("*") else ""
    return " ... ".join(normalize(part) for part in phrase.removesuffix("*").split(" ... ")) + ending


def normalize(text: str) -> str:
    """Return text folded, with single blanks between words and one spelling of opt-in, opt-out and e-mail.

    Example:
        >>> [normalize(it) for it in ("SMSOptIn", "Opted-out_of E-Mail", "Don't text", "Möchte keine SMS")]
        ['sms optin', 'optout of email', 'do not text', 'mochte keine sms']
    """
    text = folded(NEW_WORD.sub(" ", MARKUP.sub(" ", text)))
    text = FRENCH_NOT.sub("ne ", NOT.sub(" not", text))
    text = JOINED.sub(" ", DASH.sub(" . ", text)).strip()
    text = OPTED.sub(r"opt\1", COUNTED.sub("number", text))
    for spelling, usual in SPELLINGS:
        text = spelling.sub(usual, text)
    return text


@cache
def pattern_of(*sections: str) -> re.Pattern[str]:
    """Return a pattern that finds any phrase of these sections in a normalized text."""
    return re.compile(alternatives(phrase for section in sections for phrase in words_of(section)))


def alternatives(phrases: Iterable[str]) -> str:
    """Return the pattern of phrases, the longest first; one boundary for all compiles five times faster."""
    ordered = sorted(set(phrases), key=lambda phrase: (-len(phrase), phrase))
    anywhere = [re.escape(phrase) for phrase in ordered if UNSPACED.search(phrase)]
    bounded = "|".join(_pattern(phrase) for phrase in ordered if not UNSPACED.search(phrase))
    branches = "|".join([rf"(?<!\w)(?:{bounded})(?!\w)", *anywhere])
    return f"(?:{branches})"


def _pattern(phrase: str) -> str:
    ending = r"\w*" if phrase.endswith("*") else ""
    return re.escape(phrase.removesuffix("*")).replace(r"\ \.\.\.\ ", f" {GAP}").replace(r"\ ", " ") + ending


def is_any_of(section: str, text: str) -> bool:
    """Return whether a normalized text is one of the phrases of a section, and nothing else."""
    return _entire(section).fullmatch(text) is not None


@cache
def _entire(section: str) -> re.Pattern[str]:
    return re.compile(alternatives(words_of(section)))
