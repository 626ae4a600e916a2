"""What a caller gave, said in words and checked by its kind: one answer for every function that takes such a thing.

A check returns the complaint, or None where there is nothing to complain of, so that a function can gather all of them
and `refuse` once. What was given is named by its kind: neither numbers of people nor texts of theirs stand in an error.
"""

from __future__ import annotations

import difflib
import math
import numbers
import os
import re
import zoneinfo
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from .._showing import NoText, cited, few, spelled, text_of
from ..errors import UsageError

_SHOWN = 40  # characters of a text; a longer one is named by its length
_DIGITS = 7  # from so many on a text or a number may be somebody's


def refuse(*complaints: str | None, said: str = "") -> None:
    """Raise all complaints as one error, behind what is ``said`` first; without any, do nothing.

    Raises:
        UsageError: with the complaints; its field is the argument where all of them are about one.
    """
    wrong = tuple(complaint for complaint in complaints if complaint)
    if wrong:
        causes = tuple(UsageError(complaint) for complaint in wrong)
        raise UsageError(said + "; ".join(wrong), causes=causes)


def given(value: Any) -> str:
    """Say what was given, by its kind where the thing itself could be private or long."""
    kind = type(value).__name__
    if isinstance(value, type):
        return f"the class {value.__name__} itself"
    if value is None or isinstance(value, bool):
        return repr(value)
    if isinstance(value, str | os.PathLike | numbers.Number) and not isinstance(value, bytes):
        try:
            text = text_of(value)
        except NoText:
            return kind
        private = sum(map(str.isdigit, text)) >= _DIGITS or (
            isinstance(value, str) and text.isdigit() and len(text) > 3
        )
        if private or len(text) > _SHOWN:
            return f"text of {len(text)} characters" if isinstance(value, str) else kind
        return repr(text) if isinstance(value, str | os.PathLike) else text
    rows = f" of {len(value)} rows" if kind in ("DataFrame", "Series") else ""
    return f"{kind}{rows}"


def nearest(name: Any, known: Iterable[str]) -> str:
    """Return ``; did you mean ...?`` with the nearest name there is, or nothing."""
    close = difflib.get_close_matches(spelled(name).lower(), list(known), n=1, cutoff=0.6)
    return f"; did you mean {close[0]!r}?" if close else ""


# -- one value ---------------------------------------------------------------------------------------------------------


def not_text(name: str, value: Any, *, hint: str = "") -> str | None:
    """Complain of what is no text."""
    if isinstance(value, str):
        return None
    column = "; a column's values go in by a placeholder, '{column}'" if type(value).__name__ == "Series" else ""
    return f"{name}= must be text, got {given(value)}{hint or column}"


def not_whole(name: str, value: Any, *, least: int = 1, most: int | None = None, none: bool = False) -> str | None:
    """Complain of what is no whole number in its span; numpy's count, True and 5.0 do not."""
    whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if (none and value is None) or (whole and least <= value and (most is None or value <= most)):
        return None
    span = f"of at least {least}" if most is None else f"from {least} to {most}"
    return f"{name}= must be a whole number {span}{', or None' if none else ''}, got {given(value)}"


def _is_finite(value: Any) -> bool:
    """Return whether a value is a finite number; True and False are none."""
    if isinstance(value, Decimal):
        return value.is_finite()  # a signalling NaN raises in every other question
    return isinstance(value, numbers.Real) and not isinstance(value, bool) and math.isfinite(value)


def not_number(
    name: str, value: Any, *, of: str, least: float = 0, above: bool = False, none: bool = False
) -> str | None:
    """Complain of what is no finite number of at least (or above) ``least``; ``of`` says what it counts."""
    real = _is_finite(value)
    if (none and value is None) or (real and (value > least if above else value >= least)):
        return None
    span = f"above {least:g}" if above else f"of at least {least:g}"
    return f"{name}= must be {of}, a number {span}{', or None' if none else ''}, got {given(value)}"


def not_flag(name: str, value: Any) -> str | None:
    """Complain of what is neither True nor False: "no" counts as true wherever it is not refused."""
    if isinstance(value, bool) or type(value).__name__ in ("bool_", "bool"):
        return None
    return f"{name}= must be True or False, got {given(value)}"


def not_callable(name: str, value: Any, *, example: str, none: bool = True) -> str | None:
    """Complain of what cannot be called."""
    if (none and value is None) or (callable(value) and not isinstance(value, type)):
        return None
    return f"{name}= must be a function such as {example}{', or None' if none else ''}, got {given(value)}"


def not_choice(name: str, value: Any, choices: Sequence[str]) -> str | None:
    """Complain of what is none of the words there are."""
    if isinstance(value, str) and value in choices:
        return None
    close = nearest(value, choices) if isinstance(value, str) else ""
    return f"{name}= must be one of {', '.join(map(repr, choices))}, got {given(value)}{close}"


def not_mapping(name: str, value: Any, *, example: str) -> str | None:
    """Complain of what is no dict."""
    return None if isinstance(value, Mapping) else f"{name}= must be a dict such as {example}, got {given(value)}"


def not_replacement(name: str, value: Any) -> str | None:
    """Complain of what is no mapping of one character each to the text that is written instead."""
    pairs = value.items() if isinstance(value, Mapping) else [(None, None)]
    if all(isinstance(old, str) and len(old) == 1 and isinstance(new, str) for old, new in pairs):
        return None
    wanted = "a dict of one character each and the text to write instead, such as parts.PLAIN"
    return f"{name}= must be {wanted}, got {given(value)}"


def not_zone(name: str, value: Any) -> str | None:
    """Complain of what is no time zone of the tz database."""
    try:
        zoneinfo.ZoneInfo(value if isinstance(value, str) else "")
    except (ValueError, TypeError, AttributeError, OSError, RecursionError, zoneinfo.ZoneInfoNotFoundError):
        wanted = value.lower() if isinstance(value, str) else ""
        if east := re.fullmatch(r"\s*+(?:gmt|utc)?\s*+([+-])0?(\d{1,2})(?::?00)?\s*", wanted):
            # The tz database writes them as POSIX does, with the sign turned.
            turned = f"Etc/GMT{'-' if east[1] == '+' else '+'}{int(east[2])}"
            where = f"for {east[1]}{int(east[2])} hours all year write {turned!r}"
            if turned not in zoneinfo.available_timezones():
                where = "write the name of its zone"
            return f"{name}= must be a time zone such as 'Europe/Berlin' or 'UTC', got {given(value)}; {where}"
        close = [zone for zone in sorted(zoneinfo.available_timezones()) if zone.lower().rpartition("/")[2] == wanted]
        hint = f"; did you mean {close[-1]!r}?" if close else ""
        return f"{name}= must be a time zone such as 'Europe/Berlin' or 'UTC', got {given(value)}{hint}"
    return None


def not_path(name: str, value: Any, *, example: str) -> str | None:
    """Complain of what is no path of a file."""
    if isinstance(value, str) and "://" in value:  # which may hold a password; a folder would be called after it
        return f"{name}= must be the path of a file such as {example}, got the address of a server"
    named = isinstance(value, os.PathLike) or (isinstance(value, str) and value.strip())
    if named and "\0" not in str(value):
        return None
    return f"{name}= must be the path of a file such as {example}, got {given(value)}"


def not_list(name: str, value: Any, *, of: str) -> str | None:
    """Complain of what is no list (or one text, which the caller takes for a list of one)."""
    listed = isinstance(value, Iterable) and not isinstance(value, bytes)
    return None if listed else f"{name}= must be a list of {of}, got {given(value)}"


def not_a(name: str, value: Any, kinds: type | tuple[type, ...], *, wanted: str) -> str | None:
    """Complain of what is none of these kinds; ``wanted`` says what is and how to come by it."""
    return None if isinstance(value, kinds) else f"{name}= must be {wanted}, got {given(value)}"


# -- texts and frames --------------------------------------------------------------------------------------------------


def not_texts(name: str, values: Any) -> str | None:
    """Complain of what is no list or column of texts: one text, whose letters would count, or nothing to go through."""
    if isinstance(values, str):
        shown = given(values)
        one = f"[{shown}]" if shown.startswith("'") else "[text]"
        return (
            f"{name}= must be a list or a column of texts, got {shown}; for one text write {one}, or call parts.count"
        )
    listed = isinstance(values, Iterable) and not isinstance(values, Mapping | bytes | bytearray)
    if not listed or type(values).__name__ == "DataFrame":
        return f"{name}= must be a list or a column of texts, such as frame['text'], got {given(values)}"
    return None


def not_all_text(name: str, values: Sequence[Any], labels: Sequence[Any] | None = None) -> str | None:
    """Complain of the entries of a list that are no text, the first three by their place."""
    places = labels if labels is not None else range(len(values))
    wrong = [(place, value) for place, value in zip(places, values, strict=True) if not isinstance(value, str)]
    if not wrong:
        return None
    shown = few(wrong, lambda entry: f"entry {cited(entry[0])} is {given(entry[1])}")
    return f"{name}= must hold texts; {shown}. Leave missing ones out, such as with .dropna()"


def not_frame(name: str, value: Any, *, hint: str = "") -> str | None:
    """Complain of what is no DataFrame of pandas."""
    import pandas as pd

    if isinstance(value, pd.DataFrame):
        return None
    column = "; a column alone becomes one with .to_frame()" if isinstance(value, pd.Series) else ""
    file = "; read_recipients(path) reads one from a file" if isinstance(value, str | os.PathLike) else ""
    return f"{name} must be a DataFrame, got {given(value)}{hint or column or file}"


def not_series(name: str, value: Any, *, example: str) -> str | None:
    """Complain of what is no column of pandas."""
    import pandas as pd

    return (
        None
        if isinstance(value, pd.Series)
        else f"{name} must be a column (a Series) such as {example}, got {given(value)}"
    )
