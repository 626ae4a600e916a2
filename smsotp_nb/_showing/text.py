"""The one place that makes text from outside fit to be printed, logged or raised.

Nothing in it moves a cursor, and nobody can be called by it: phone numbers are masked. The label of a row may be one,
where a list is indexed by its numbers. `text_of` is the one place that asks a value of any kind for its text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Final

LONGEST: Final = 1_900  # characters of an error; a notebook keeps every one of them
HEAD: Final = 1_400
CITED: Final = 200  # characters of one value in an error
ENDS: Final = 20_000  # of a text that is longer only so much is looked at

_AFTER: Final = r"(?![\w\\/]|[.:-]\w)"
_NUMBER: Final = re.compile(
    rf"(?<![\w.:/\\-])(?:\+\(?(?:\d[ ()./-]{{0,2}}){{7,14}}\d|\(\d{{2,5}}\)(?:[ ./-]?\d){{6,10}}|\d{{9,15}}){_AFTER}"
    r"|(?<![\w.:/\\-])\d{9,15}(?=\.0+(?!\w|\.\d))"  # as a float
    r"|(?<=['\"])(?!\d{1,3}(?:\.\d{1,3}){3}['\"])[(\d](?:[ ()./-]{0,2}\d){8,14}(?=['\"])"  # as a label is quoted
)
_PASSWORD: Final = re.compile(  # the slashes may have been joined to one, as a path is
    r"(?i)(\b[a-z][a-z0-9+.-]{1,31}:/{1,2}[^\s:@/]{0,128}:)(?:[^\s/]{257,4096}|\S{1,256})(?=@)"
    r"|((?:\b|PG)password\s?=\s?)(?:'[^']{1,4096}'|[^\s'\"&]{1,4096})"
)
_WHOLE: Final = re.compile(r"\+?(?:[ ()./-]{0,2}\d){9,15}")

# First and last of what moves a cursor, breaks a line or turns its direction.
CONTROLS: Final = (
    (0x00, 0x08), (0x0B, 0x1F), (0x7F, 0x9F), (0x61C, 0x61C), (0x200E, 0x200F), (0x2028, 0x202E), (0x2066, 0x2069),
)  # fmt: skip
_LINES: Final = (0x09, 0x0A)  # harmless where a text may have several lines
_HALVES: Final = (0xD800, 0xDFFF)  # of characters: no terminal is sent them
_SPANS: Final = tuple(f"{chr(first)}-{chr(last)}" for first, last in (*CONTROLS, _LINES, _HALVES))
_UNFIT: Final = re.compile(f"[{''.join(_SPANS)}]")


def visible(text: str, *, keep: str = "") -> str:
    """Return text with its control and direction characters, which would move a cursor or turn a line, as numbers.

    Example:
        >>> visible("a\\x1b[2J")
        'a\\\\u001b[2J'
    """
    if text.isprintable():
        return text
    return _UNFIT.sub(lambda found: found[0] if found[0] in keep else f"\\u{ord(found[0]):04x}", text)


def without_passwords(text: str) -> str:
    """Return text in which the passwords of addresses are masked.

    Example:
        >>> without_passwords("postgresql://anna:tr/ub@dor@db/x, or host=db password='a b'")
        'postgresql://anna:***@db/x, or host=db password=***'
    """
    return _PASSWORD.sub(lambda found: f"{found[1] or found[2]}***", text)


def mask(number: str) -> str:
    """Return a number that can be recognized but not called: the first five and the last four characters stay.

    Example:
        >>> mask("+12025550123")
        '+1202...0123'
    """
    if len(number) > 11:
        return f"{number[:5]}...{number[-4:]}"
    return f"{number[:2]}...{number[-2:]}" if len(number) > 8 else "..."  # short enough to be a passcode


def masked(text: str) -> str:
    """Return text with the phone numbers in it masked; dates, paths, ids and amounts stay.

    Example:
        >>> masked("row '+12025550123' of 2026-11-23 16:09:39, row 12025550124, row '(202) 555-0125'")
        "row '+1202...0123' of 2026-11-23 16:09:39, row 12...24, row '(202)...0125'"
    """
    return _NUMBER.sub(lambda found: mask(found[0]), text)


class NoText(Exception):
    """A value has no text; the message says of what kind it is, and why."""


def text_of(value: Any) -> str:
    """Return the text of a value, whatever it is.

    Raises:
        NoText: Python writes no number so long, or it holds half a character.

    Example:
        >>> text_of(b"=1"), text_of(["a", 1])
        ("b'=1'", "['a', 1]")
        >>> text_of(10**5000)
        Traceback (most recent call last):
        smsotp_nb._showing.text.NoText: int (ValueError)
    """
    if type(value) is str and is_whole(value):
        return value
    kind = type(value).__name__
    try:
        text = str.__str__(value) if isinstance(value, str) else str(value)  # some members of an Enum write their class
    except Exception as error:  # noqa: BLE001 - a cell may be of anybody's class
        raise NoText(f"{kind} ({type(error).__name__})") from None
    if not is_whole(text):
        raise NoText(f"{kind} (half a character)")
    return text


def spelled(value: Any) -> str:
    """Return the text of a value, or its kind where it has none; half a character is shown as U+FFFD.

    Example:
        >>> spelled(["a"]), spelled(10**5000), spelled("\\ud83d").isascii()
        ("['a']", '<int>', False)
    """
    try:
        return text_of(value)
    except NoText:
        if not isinstance(value, str):
            return f"<{type(value).__name__}>"
    return str.encode(value, "utf-16", "surrogatepass").decode("utf-16", "replace")


def cited(value: Any) -> str:
    """Return a value as an error cites it: a text in quotes, anything else by its text; a long one by its beginning.

    Example:
        >>> cited("a"), cited(7), cited(10**5000)
        ("'a'", '7', '<int>')
    """
    text = spelled(value)
    short = text if len(text) <= CITED else f"{text[:CITED]}..."
    return repr(short) if isinstance(value, str) else short


def label(value: Any) -> str:
    """Return what a row is called, masked where that is a phone number.

    Example:
        >>> label(7), label("0151 23456789"), label(("US", 12025550123)), label(12025550123.0)
        ('7', '0151 ...6789', 'US, 12...23', '12025...23.0')
    """
    parts = map(spelled, value if isinstance(value, tuple) else (value,))
    return ", ".join(mask(part) if _WHOLE.fullmatch(part) else masked(part) for part in parts)


def few(items: Sequence[Any], shown: Callable[[Any], str] = str, most: int = 3) -> str:
    """Return the first few of many, and how many more there are.

    Example:
        >>> few([3, 4, 9, 12, 15])
        '3, 4, 9 and 2 more'
    """
    more = f" and {len(items) - most:,} more" if len(items) > most else ""
    return ", ".join(map(shown, items[:most])) + more


def capital(words: str) -> str:
    return words[:1].upper() + words[1:]


def is_whole(text: str) -> bool:
    """Return whether a text holds no half of a character (of a surrogate pair), which no file or message can carry.

    Example:
        >>> is_whole("\\U0001f600"), is_whole("\\ud83d")
        (True, False)
    """
    try:
        str.encode(text)
    except UnicodeEncodeError:
        return False
    return True


def said(text: str) -> str:
    """Return a message as an error may carry it: visible, masked, and of an endless one its beginning and its end.

    Example:
        >>> said("no\\x1b[2J"), said("row '+12025550123'"), len(said("x" * 1_000_000))
        ('no\\\\u001b[2J', "row '+1202...0123'", 1900)
    """
    ends = text if len(text) <= ENDS else text[: ENDS // 2] + text[-ENDS // 2 :]
    hidden = masked(without_passwords(ends))  # before it is cut: half of a number would not be known as one
    shown = visible(hidden, keep="\n\t")
    if len(shown) <= LONGEST:
        return shown
    gap = " [...] "
    return shown[:HEAD] + gap + shown[-(LONGEST - HEAD - len(gap)) :]
