"""Calls that Python itself refuses - a misspelt, missing or surplus argument - or that a value breaks, in our words.

What breaks a call without being checked anywhere is looked for once the call has failed: pd.NA, a number of thousands
of digits, half a character, a list in a cell. Files and frames hold such values.
"""

from __future__ import annotations

import errno
import functools
import inspect
import itertools
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, ClassVar, Final, ParamSpec, Self, TypeVar

from .._showing import cited, is_whole
from ..errors import SmsOtpError, UsageError
from .arguments import nearest
from .tracebacks import without_variables

Given = ParamSpec("Given")
Found = TypeVar("Found")
Made = TypeVar("Made", bound=type)
_OURS = __name__.partition(".")[0] + "."
_LONGEST: Final = 240  # characters of a message about a call
_MOST: Final = 100_000  # items of a list, cells of a column, that are looked at

# What others call the same thing; a name that is merely misspelt is found by its letters.
_OTHER_NAMES = {
    "phone": "to", "phone_column": "to", "column": "to", "number": "to", "numbers": "to", "recipient": "to",
    **dict.fromkeys(("text", "content", "body", "msg", "words"), "message"),
    **dict.fromkeys(("sender", "sender_id", "from_"), "signature"),
    "name": "campaign", "title": "campaign",
    "country": "region", "default_country": "default_region",
    **dict.fromkeys(("suppress", "leave_out", "blacklist", "blocklist", "opt_outs", "unsubscribed"), "exclude"),
    "dry_run": "preflight",
    "timezone": "tz", "groupby": "columns", "by": "columns", "n": "top",
}  # fmt: skip
# What is said as an option of another argument, or in the message itself.
_OPTIONS = {
    **dict.fromkeys(("template_id", "template_data", "template_text"), "message=Template(id, values, preview=...)"),
    **dict.fromkeys(("priority", "language", "currency", "literal"), "message=Message(text, {}=...)"),
    "fill": "message='{{column|words}}'",
    **dict.fromkeys(("budget", "quiet_hours", "per_second", "first", "stop_after"), "limits=Limits({}=...)"),
    **dict.fromkeys(("rate_limit", "max_per_second", "speed"), "limits=Limits(per_second=...)"),
    **dict.fromkeys(("canary", "limit"), "limits=Limits(first=...)"),
    **dict.fromkeys(("variant", "chunk_size", "threads", "isolate_invalid"), "requests=RequestOptions({}=...)"),
    **dict.fromkeys(("concurrency", "workers", "max_workers"), "requests=RequestOptions(threads=...)"),
    "batch_size": "requests=RequestOptions(chunk_size=...)",
    **dict.fromkeys(("repair", "landlines", "test_numbers", "evidence"), "numbers=NumberOptions({}=...)"),
}
_EVERYDAY: Final = 8  # arguments that an answer names

_CLIENT = ", such as Client(Settings.from_env()), or Sandbox().client() to try it"


def in_our_words(function: Callable[Given, Found]) -> Callable[Given, Found]:
    """Let a function answer a misspelt, missing or surplus argument with its own names, the nearest one first.

    pd.NA, half a character or a list in a cell is refused by the name of its argument, if the call broke on it.

    A frame that it returns is fit to be printed, see `_showing.frames`; an error shows no variable, see `tracebacks`.

    Raises:
        UsageError: in place of Python's error. Other errors from within the function, those of callbacks among them,
            pass as they are.
    """
    shown: inspect.Signature | None = getattr(function, "__signature__", None)  # else Python itself refuses a name

    @functools.wraps(function)
    def call(*args: Given.args, **kwargs: Given.kwargs) -> Found:
        try:
            if shown and not _fits(shown, args, kwargs):
                raise TypeError
            return as_printed(function(*args, **kwargs))
        except BaseException as error:
            without_variables(error)
            wrong = _said(error, function, args, kwargs)
            if not wrong:
                raise
        finally:
            args, kwargs = (), {}  # type: ignore[assignment]  # a traceback may print the variables of every frame
        raise UsageError(wrong)

    return call


def made_in_our_words(kind: Made) -> Made:
    """Let a dataclass be made as functions are called, see `in_our_words`."""
    kind.__init__ = in_our_words(kind.__init__)  # type: ignore[misc]  # the calls are those of one class
    return kind


class Options:
    """The base of dataclasses of options: their repr is code that makes them, without what is as by default."""

    __slots__ = ()
    __dataclass_fields__: ClassVar[dict[str, Any]]

    def replace(self, **changes: Any) -> Self:
        """Return the same options but for these."""
        return replace(self, **changes)

    def __repr__(self) -> str:
        values = [(field, getattr(self, field.name)) for field in fields(self)]
        changed = [f"{field.name}={value!r}" for field, value in values if value != field.default]
        return f"{type(self).__name__}({', '.join(changed)})"


def as_printed(found: Found) -> Found:
    """Return what a caller is given: frames and columns print no control character, those that a value of ours has too;
    anything else is as it is.
    """
    kind = type(found)
    if kind.__module__.startswith("pandas"):
        from .._showing.frames import printable  # pandas: loaded already, or this would be no frame

        return printable(found)  # type: ignore[no-any-return]  # of the class that it was given
    if kind.__module__.startswith(_OURS) and is_dataclass(found):
        for one in fields(found):
            value = getattr(found, one.name, None)
            if (shown := as_printed(value)) is not value:
                object.__setattr__(found, one.name, shown)
    return found


def _said(error: BaseException, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """Return in our words what was wrong with a call; empty if the error is to pass as it is."""
    if isinstance(error, SmsOtpError) or not isinstance(error, Exception):
        return ""
    if isinstance(error, TypeError) and error.__traceback__ and error.__traceback__.tb_next is None:
        return _why(function, args, kwargs)
    given = inspect.signature(function).bind_partial(*args, **kwargs).arguments
    return next(_broken(error, given), "")


def _broken(error: Exception, given: Mapping[str, Any]) -> Iterator[str]:
    """Yield which arguments hold what explains an error."""
    for name, value in given.items():
        held = [*value.keys(), *value.values()] if isinstance(value, Mapping) else value
        listed = itertools.islice(held, _MOST) if isinstance(held, list | tuple | set | frozenset) else ()
        words = filter(None, (_no_value(error, one) for one in (value, *listed)))
        yield from (f"{name}= cannot be used: {why}" for why in words)
        if type(value).__module__.partition(".")[0] == "pandas":
            yield from (f"{name}= cannot be used: {cell}" for cell in _cells(error, value))


def _cells(error: Exception, value: Any) -> Iterator[str]:
    columns = value.items() if value.ndim == 2 else [(None, value)]
    for name, column in columns:
        for at, cell in enumerate(itertools.islice(column.array, _MOST)) if column.dtype == object else ():
            listed = isinstance(cell, list | dict | set) and "unhashable" in str(error)
            why = f"a {type(cell).__name__}" if listed else _no_value(error, cell)
            if why and type(cell).__name__ != "NAType":
                yield ("" if name is None else f"column {cited(name)}, ") + f"place {at} holds {why}"


def _no_value(error: Exception, value: Any) -> str:
    if isinstance(error, TypeError) and type(value).__name__ == "NAType":
        return "it is missing (pd.NA)"
    if isinstance(error, ValueError) and hasattr(value, "__array__") and "ambiguous" in str(error):
        return f"{type(value).__name__} in the place of one value"
    if isinstance(error, UnicodeDecodeError) and isinstance(value, bytes):
        return "bytes that are no text"
    if isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG and isinstance(value, str | os.PathLike):
        return f"text of {len(os.fspath(value)):,} characters is no path of a file"
    if isinstance(error, UnicodeEncodeError | TypeError) and isinstance(value, str) and not is_whole(value):
        return "text with half a character; retype it"
    return ""


def _fits(shown: inspect.Signature, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    try:
        shown.bind(*args, **kwargs)
    except TypeError:
        return False
    return True


def _why(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    known = {name: it for name, it in inspect.signature(function).parameters.items() if name not in ("self", "cls")}
    name = function.__name__ if function.__name__ != "__init__" else function.__qualname__.split(".")[0]
    unknown = [word for word in kwargs if word not in known]
    if unknown:
        word = unknown[0] if len(unknown[0]) <= _LONGEST // 6 else f"{unknown[0][: _LONGEST // 6]}…"
        return _takes(f"{name} has no argument {word}={_instead(unknown[0], list(known))}", known)
    plain = [word for word, it in known.items() if it.kind in (it.POSITIONAL_ONLY, it.POSITIONAL_OR_KEYWORD)]
    given = len(args) - ("self" in inspect.signature(function).parameters)
    if given > len(plain):
        free = [f"{word}=" for word in known if word not in plain]
        count = f"{len(plain)} argument{'s' * (len(plain) != 1)} without a name"
        rest = f"; write the others with theirs, such as {free[0]}" if free else ""
        return _takes(f"{name} takes {count}, got {given}{rest}.", known)
    missing = [word for word, it in known.items() if it.default is it.empty and word not in (*plain[:given], *kwargs)]
    needed = [word if word in plain else f"{word}=" for word in missing]
    if not needed:
        return _takes(f"{name} was given an argument twice, without and with its name.", known)
    return _takes(f"{name} needs {' and '.join(needed)}{_CLIENT * ('client' in missing)}.", known)


def _instead(word: str, known: list[str]) -> str:
    other = _OTHER_NAMES.get(word.lower(), "")
    if other in known:
        return f"; did you mean {other}=?"
    option = _OPTIONS.get(word.lower(), "").format(word)
    if option and option.partition("=")[0] in known:
        return f"; write {option}."
    close = nearest(word, known)
    return close.replace("'?", "=?").replace("'", "") if close else "."


def _takes(said: str, known: dict[str, inspect.Parameter]) -> str:
    """Return a complaint with the arguments that there are, needed ones first, as many as a short message holds."""
    needed = sorted(known.items(), key=lambda item: item[1].default is not item[1].empty)
    shown = [word if it.kind is not it.KEYWORD_ONLY else f"{word}=" for word, it in needed]
    for count in range(min(len(shown), _EVERYDAY), 1, -1):
        more = f" and {len(shown) - count} more" if count < len(shown) else ""
        whole = f"{said} It takes {', '.join(shown[:count])}{more}"
        if len(whole) <= _LONGEST:
            return whole
    return said
