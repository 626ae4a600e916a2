"""Dates and times of day: where a cell holds one, what its digits say, and which cells are nothing else.

``2014-04-12 04:04 PM`` has ten digits that begin like a number of New Jersey, and ``25.12.24 21:16 Uhr`` is a landline
of Germany. So a cell that is a date, a time, or both is no phone number, whatever its digits may be in some plan.
"""

from __future__ import annotations

import re
from typing import Final

DAY_OR_MONTH: Final = r"[0-3]?\d"
YEAR: Final = r"(?:19|20)\d\d"
LONG_DATE: Final = re.compile(
    rf"(?<![\d+])(?:{YEAR}(?P<by>[-/._])\s?{DAY_OR_MONTH}(?P=by)\s?{DAY_OR_MONTH}"
    rf"|{DAY_OR_MONTH}(?P<then>[-/._])\s?{DAY_OR_MONTH}(?P=then)\s?{YEAR})(?!\d)"
)
MONTH_OF_YEAR: Final = re.compile(rf"(?<![\d+])(?:{YEAR}[-/.](?:0?[1-9]|1[0-2])|(?:0?[1-9]|1[0-2])[-/.]{YEAR})(?!\d)")
SHORT_DATE: Final = re.compile(r"(?<![\d+])(\d\d?)([-/.])(\d\d?)\2(\d\d?)(?!\d)")
COMPACT_DATE: Final = re.compile(rf"\A\D*+{YEAR}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\D*+")
CLOCK: Final = re.compile(r"(?<![\d:+])(?:[01]?\d|2[0-4])[:h][0-5]\d(?:[:m][0-5]\d(?:[.,]\d{1,6})?)?(?![\d:])")
# An hour, with its minutes or without, and the word that says so; an ordinal number; "24/7".
HOURS: Final = re.compile(
    r"(?<![\d+])(?:(?:[01]?\d|2[0-4])(?:[:.h][0-5]\d)?\s?"
    r"(?:[ap]\.?m\b\.?|h\b|hrs?\b|uhr\b|o'clock|час\w*|ч\b|годин\w*|時|点|點|시|giờ|godz\w*|óra|hod\w*)"
    r"|[1-9](?:st|nd|rd|th)\b|24/7\b)",
    re.IGNORECASE,
)
SHORTEST_NUMBER: Final = 7  # digits: with fewer beside a time of day, a cell is of that time
BEHIND_A_DATE: Final = 6  # digits of a time that is written without colons: 04.04.00
LONGEST_MOMENT: Final = 60  # characters; a longer cell is a text in which a date may occur


def blank_hours(text: str) -> str:
    """Return a text with a blank in place of each time of day that is written as one.

    Example:
        >>> blank_hours("0491 570 156 after 6 pm")
        '0491 570 156 after  '
    """
    return HOURS.sub(" ", text)


def is_moment(text: str) -> bool:
    """Return whether a text in ASCII digits is a date or a time, and holds no phone number beside it.

    Example:
        >>> [is_moment(text) for text in ("2014-04-12 04:04 PM", "25.12.24", "05/2025", "21h16", "Mon 9:00-17:00")]
        [True, True, True, True, True]
        >>> [is_moment(text) for text in ("0491 570 156 (after 18:00)", "030 12-12-2012", "06.12.34.56.78")]
        [False, False, False]
    """
    if len(text) > LONGEST_MOMENT:
        return False
    without_hours = blank_hours(CLOCK.sub(" ", text))
    long_date = LONG_DATE.search(without_hours)
    if long_date:
        behind = LONG_DATE.sub(" ", without_hours[long_date.start() :])
        return not _digits(without_hours[: long_date.start()]) and _digits(behind) <= BEHIND_A_DATE
    if without_hours != text:
        return _digits(without_hours) < SHORTEST_NUMBER or COMPACT_DATE.fullmatch(without_hours) is not None
    rest = MONTH_OF_YEAR.sub(" ", _without_short_date(text))
    return rest != text and not _digits(rest)


def _without_short_date(text: str) -> str:
    date = SHORT_DATE.search(text)
    if date and _is_date(int(date[1]), int(date[3]), int(date[4])):
        return text[: date.start()] + text[date.end() :]
    return text


def _is_date(first: int, second: int, third: int) -> bool:
    """Return whether three numbers can be a day, a month and a year of two digits, in any customary order."""
    day_first, month_first, year_first = (first, second), (second, first), (third, second)
    return any(1 <= day <= 31 and 1 <= month <= 12 for day, month in (day_first, month_first, year_first))


def _digits(text: str) -> int:
    return sum(sign.isdecimal() for sign in text)
