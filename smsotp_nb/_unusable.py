"""Arguments with which nothing can be done, found when a call has broken on one: said by name, and why."""

from __future__ import annotations

import errno
import inspect
import itertools
import numbers
import os
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from ._tracebacks import beneath
from ._visible import NoText, cited, is_whole, text_of

_MOST = 1_000  # items of a list that are looked at
_MOST_CELLS = 100_000  # of a column
_MADE = ("<string>", "__init__")  # by dataclasses, of our classes too
# Methods by which somebody's own code is meant to run: its errors are the caller's.
_RUN = frozenset({"__call__", "__enter__", "__exit__", "__init__", "__iter__", "__new__", "__next__"})


def unusable(error: Exception, function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> str:
    """Say which value broke a call, by its own methods or because of what it is; empty where none explains the error.

    Example:
        >>> unusable(ValueError(), lambda most: str(most), (10**5000,), {})
        'most= cannot be used: a number of the kind int is beyond what can be computed with'
    """
    if said := _of_its_methods(error):
        return said
    signature = inspect.signature(function)
    for name, value in signature.bind_partial(*args, **kwargs).arguments.items():
        free = signature.parameters[name].kind is inspect.Parameter.VAR_KEYWORD
        for word, given in value.items() if free else ((name, value),):
            for why in filter(None, (_why(error, one) for one in _inside(given))):
                return f"{word}= cannot be used: {why}"
            if cell := _cell(error, given):
                return f"{word}= cannot be used: {cell}"
    return ""


def _of_its_methods(error: Exception) -> str:
    for frame, _ in traceback.walk_tb(error.__traceback__):
        file, method = frame.f_code.co_filename, frame.f_code.co_name
        if file.startswith(beneath()) or file.endswith((".pyx", ".pxi")) or (file, method) == _MADE:
            continue
        if not (method.startswith("__") and method.endswith("__")) or method in _RUN:
            return ""
        value = type(frame.f_locals.get("self")).__name__
        return f"a value of the class {value} cannot be used: its method {method} raised {type(error).__name__}"
    return ""


def _inside(value: Any, depth: int = 2) -> Iterator[Any]:
    """Yield a value, and what lists and mappings hold, so deep."""
    yield value
    held: Iterable[Any] = ()
    if depth and isinstance(value, Mapping):
        held = itertools.chain(value.keys(), value.values())
    elif depth and isinstance(value, list | tuple | set | frozenset):
        held = value
    for one in itertools.islice(held, _MOST):
        yield from _inside(one, depth - 1)


def _cell(error: Exception, value: Any) -> str:
    """Say where a frame or column holds what explains an error, and what that is; empty where none does."""
    if type(value).__module__.partition(".")[0] != "pandas":
        return ""
    columns = value.items() if value.ndim == 2 else [(None, value)]
    for name, column in columns:
        if column.dtype != object:
            continue
        for at, cell in enumerate(itertools.islice(column.array, _MOST_CELLS)):
            if why := _why_no_cell(error, cell):
                return ("" if name is None else f"column {cited(name)}, ") + f"place {at} holds {why}"
    return ""


def _why_no_cell(error: Exception, cell: Any) -> str:
    if isinstance(cell, list | dict | set):
        return f"a {type(cell).__name__}" if isinstance(error, TypeError) and "unhashable" in str(error) else ""
    return "" if type(cell).__name__ == "NAType" else _why(error, cell).removeprefix("it holds ")


def _why(error: Exception, value: Any) -> str:
    if isinstance(error, ArithmeticError | ValueError | TypeError) and _is_beyond_measure(value):
        return f"a number of the kind {type(value).__name__} is beyond what can be computed with"
    if isinstance(error, TypeError) and type(value).__name__ == "NAType":
        return "it is missing (pd.NA)"
    if isinstance(error, ValueError) and hasattr(value, "__array__") and "ambiguous" in str(error):
        return f"{type(value).__name__} in the place of one value"
    if isinstance(error, UnicodeDecodeError) and isinstance(value, bytes):
        return "bytes that are no text"
    if isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG and isinstance(value, str | os.PathLike):
        return f"text of {len(os.fspath(value)):,} characters is no path of a file"
    if isinstance(error, UnicodeEncodeError | TypeError) and isinstance(value, str) and not is_whole(value):
        return "it holds half a character; retype it"
    return ""


def _is_beyond_measure(value: Any) -> bool:
    if not isinstance(value, numbers.Number):
        return False
    try:
        float(value)  # type: ignore[arg-type]  # a complex number is not beyond measure
        text_of(value)  # a fraction of two endless numbers may be a small one
    except (ArithmeticError, ValueError, NoText):
        return True
    except TypeError:
        return False
    return False
