"""What one cell answers to a question about consent, and whether words of a name or a note clearly refuse texts."""

from __future__ import annotations

import re
from enum import StrEnum
from functools import lru_cache
from typing import Final

from .._phones import declines, says_no
from .headings import Polarity, clauses_of, polarity, without_small_print
from .words import is_any_of, normalize, pattern_of


class Answer(StrEnum):
    """What a cell says; YES and NO answer what the heading asks, WILLING and REFUSING whatever it asks."""

    YES = "yes"
    NO = "no"
    WILLING = "willing"
    REFUSING = "refusing"
    DATE = "date"
    PENDING = "pending"  # a known state that is neither yes nor no
    UNKNOWN = "unknown"
    COUNT = "count"
    BLANK = "blank"


BLANK_TEXT: Final = re.compile(
    r"[\W_]*|n/?a|null|nan|nat|<na>|undefined|not available|not applicable"
    r"|0{4}-00-00(?:[ t]00:00:00)?|0001-01-01(?:[ t]00:00:00)?z?"  # how databases write that there is no date
)
NUMBER: Final = re.compile(r"[+-]?\d+(?:[.,]\d+)?")
MOMENT: Final = re.compile(
    r"(?:\d{10}|\d{13})(?:\.0)?|[2-7]\d{4}(?:\.\d+)?"
)  # seconds since 1970, days of a spreadsheet
DATE: Final = re.compile(
    r"(?:\w{3,10},? )?(?:\d{4}[./ -]\d{1,2}[./ -]\d{1,2}|\d{1,2}[./ -]\d{1,2}[./ -](?:\d{4}|\d{2})"
    r"|\d{1,2}(?:st|nd|rd|th|\.)?(?: de)? [^\W\d]{3,10}\.?,?(?: de)? \d{4}"
    r"|[^\W\d]{3,10}\.? \d{1,2}(?:st|nd|rd|th)?,? \d{4}"
    r"|\d{4}年\d{1,2}月\d{1,2}日|(?:19|20)\d{6})(?:(?:[t ,]|\s+at\s+).{0,30})?"
)
PART: Final = re.compile(r"\s*[,;|\n]\s*|\s+/\s+")
LISTED: Final = re.compile(r"[\[\]{}\"']")
LONGEST: Final = 2_000  # characters that are read of a cell; a longer one is no answer
FIRST_WORD: Final = re.compile(r"(?P<word>\w+|[^\w\s])[\s,.!;:()–-]*(?P<rest>.*)", re.DOTALL)


@lru_cache(maxsize=65_536)
def read_answer(text: str) -> Answer:
    """Read a cell of a column that asks about consent.

    Example:
        >>> [read_answer(it).value for it in ("Yes, please", "nein", "UNSUBSCRIBED", "2026-03-01", "pending", "n/a")]
        ['yes', 'no', 'refusing', 'date', 'pending', 'blank']
        >>> [read_answer(it).value for it in ("I do not want any texts", "Yes, but only by e-mail", "17", "Ann")]
        ['refusing', 'unknown', 'count', 'unknown']
    """
    plain = text.strip().casefold()
    if plain not in {"☐", "○", "〇", "●", "?"} and (known := _of_form(plain)) is not None:
        return known
    words = normalize(text[:LONGEST]).strip(" .!,;:")
    known = _of_state(words)
    if known is not None:
        return known
    if (known := _of_list(text)) is not None:
        return known
    return _of_sentence(words)


def _of_form(plain: str) -> Answer | None:
    """Read a blank cell, a number or a date by its form."""
    if plain in {"0", "1", "0.0", "1.0"}:
        return None
    if BLANK_TEXT.fullmatch(plain) and not is_any_of("yes", plain) and not is_any_of("no", plain):
        return Answer.BLANK
    if MOMENT.fullmatch(plain) or DATE.fullmatch(plain):
        return Answer.DATE
    return Answer.COUNT if NUMBER.fullmatch(plain) else None


STATES: Final = (
    ("withdrawn", Answer.REFUSING),
    ("agreed", Answer.WILLING),
    ("pending", Answer.PENDING),
    ("not given", Answer.NO),
    ("no", Answer.NO),
    ("yes", Answer.YES),
    ("given", Answer.YES),
)


def _of_state(words: str) -> Answer | None:
    """Read a cell that is one word or state, perhaps with the channel beside it: "SMS: unsubscribed"."""
    channel = r"(?:sms|text|texts|mms|mobile|phone)"
    bare = re.sub(rf"^{channel}\b[ :]*|[ :]*\b{channel}$", "", words) or words
    for state in (words, bare):
        for section, answer in STATES:
            if is_any_of(section, state):
                return answer
    return None


def _of_list(text: str) -> Answer | None:
    """Read a cell of several states, tags or channels; one that refuses texts is enough."""
    parts = [normalize(part).strip(" .!:") for part in PART.split(LISTED.sub("", text))]
    states = [_of_state(part) for part in parts if part]
    if Answer.REFUSING in states:
        return Answer.REFUSING
    if len(states) > 1 and Answer.WILLING in states:
        return Answer.WILLING
    channels = [part for part in parts if part]
    kinds = pattern_of("texting", "phones", "other channels")
    if channels and all(kinds.fullmatch(part) for part in channels):
        texts = pattern_of("texting")
        return Answer.WILLING if any(texts.fullmatch(part) for part in channels) else Answer.PENDING
    return None


def read_state(text: str) -> Answer | None:
    """Read a cell of a column that does not ask: only a state of consent answers, such as START or opted out."""
    words = normalize(text[:LONGEST]).strip(" .!,;:")
    state = _of_state(words) or _of_list(text)
    return state if state in (Answer.WILLING, Answer.REFUSING) else None


def _of_sentence(words: str) -> Answer:
    """Read a cell of several words: a yes or no with more behind it, or the words of what was ticked."""
    words = without_small_print(words)
    match = FIRST_WORD.fullmatch(words)
    first, rest = (match["word"], match["rest"]) if match else ("", "")
    entire = polarity(words)
    if is_any_of("yes", first) and rest:
        return _of_yes(rest)
    refuses = entire is Polarity.REFUSAL or declines(words)
    if is_any_of("no", first) and rest and not refuses:
        return Answer.NO
    if refuses:
        return Answer.REFUSING
    if pattern_of("pending").search(words):
        return Answer.PENDING
    if entire is Polarity.AGREEMENT:
        return Answer.WILLING
    return Answer.NO if says_no(words) else Answer.UNKNOWN


def _of_yes(rest: str) -> Answer:
    """Read what stands behind a yes: thanks leave it one, conditions and other channels do not."""
    if polarity(rest) in (Polarity.REFUSAL, Polarity.BOTH) or pattern_of("conditions").search(rest):
        return Answer.UNKNOWN
    others = pattern_of("other channels").search(rest)
    if others and not pattern_of("texting").search(rest):
        return Answer.UNKNOWN
    return Answer.YES


# A death or a refusal that stands in brackets, behind a dash, or is all of a note; alone it may be a name or a word.
ASIDE: Final = re.compile(
    r"[(\[{](?P<inner>[^()\[\]{}]{1,80})[)\]}]|(?:\s[-–—:]+\s|[–—*!]+\s?|,\s|;\s?)(?P<behind>.{1,80})$"
)
DEATH_MARK: Final = re.compile(
    r"(?:^|\s|\()[†✝](?:\s|\)|$|\d)|[🚫📵⚰]|\bR\.\s?I\.\s?P\.?|\bd\.n\.[ctm]\b", re.IGNORECASE
)
ALONE: Final = ("withdrawn", "deceased", "plain refusals", "asides")


@lru_cache(maxsize=65_536)
def refuses_texts(text: str, *, is_name: bool = False) -> bool:
    """Return whether words of a name or a note clearly say that its person must not be texted.

    Example:
        >>> [refuses_texts(it, is_name=True) for it in ("Bob - DO NOT TEXT", "Ann (verstorben)", "Anna Stop", "Nein")]
        [True, True, False, False]
        >>> [refuses_texts(it) for it in ("passed away in May", "STOP", "meet at the bus stop", "do not ring the bell")]
        [True, True, False, False]
    """
    text = text[:LONGEST]
    if DEATH_MARK.search(text):
        return True
    words = without_small_print(normalize(text))
    clauses = clauses_of(words)
    if any(_refuses_clearly(clause) for clause in clauses):
        return True
    asides = [normalize(match["inner"] or match["behind"]) for match in ASIDE.finditer(text)]
    if not is_name:
        asides += clauses if len(clauses) <= 3 else []
    return any(is_any_of(section, aside.strip(" .!")) for aside in asides for section in ALONE)


def _refuses_clearly(clause: str) -> bool:
    """Return whether a clause has a phrase of refusal, or a negation with texts, calls or contact right behind it."""
    if pattern_of("plain refusals").search(clause):
        return not _is_of_mail(clause)
    if pattern_of("words of death").search(clause):
        return True
    return _no_texts().search(clause) is not None and not _is_of_mail(clause) and says_no(clause)


def _is_of_mail(clause: str) -> bool:
    return pattern_of("mail", "other things").search(clause) is not None and not pattern_of("texting").search(clause)


@lru_cache(maxsize=1)
def _no_texts() -> re.Pattern[str]:
    """A negation with a text, a call or a contact in the next four words: "does not want any more texts"."""
    negation, objects = pattern_of("negations").pattern, pattern_of("what is refused").pattern
    gap = rf"(?:(?!{pattern_of('no refusals').pattern})[^\W\d_]+ ){{0,4}}?"
    return re.compile(rf"{negation} {gap}{objects}")
