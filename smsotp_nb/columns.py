"""The one answer to a column that is not there: which name, the nearest one there is, and those there are."""

from __future__ import annotations

import difflib
import re
from collections.abc import Hashable, Iterable
from typing import Any

from ._calling import given
from ._showing import cited, few, spelled
from .errors import UsageError

__all__ = ["absent", "listed", "require"]

MOST_LISTED = 12


def absent(name: Any, names: Iterable[Any], *, beside: bool = True) -> str | None:
    """Say why ``name`` is not the name of one column; None when it is.

    Args:
        name: the column that is asked for.
        names: those that there are.
        beside: list them behind the answer.
    """
    if not isinstance(name, Hashable) or callable(name) or name is None or isinstance(name, bool):
        return f"a column is named by its name, got {given(name)}"
    there = list(names)
    found = there.count(name)
    if found == 1:
        return None
    if found > 1:
        return f"{found} columns are named {cited(name)}; rename all but one"
    close = nearest(spelled(name), there)
    hint = f"; did you mean {close!r}?" if close is not None else ""
    return f"no column {given(name)}{hint}" + (f" {listed(there)}" if beside else "")


def require(name: Any, names: Iterable[Any], *, where: str = "") -> None:
    """Refuse the name of a column that is not there, or there more than once; ``where`` begins the message.

    Raises:
        UsageError: says the nearest name and lists those there are.
    """
    wrong = absent(name, names)
    if wrong is not None:
        raise UsageError(f"{where}: {wrong}" if where else wrong)


def several_named(argument: str, names: list[Any]) -> list[str]:
    """Report a list of columns that names none, or one twice."""
    if not names:
        return [f"{argument}= names no column; pass a name, or several such as ['mobile', 'phone']"]
    plain = [name for name in names if isinstance(name, Hashable)]
    twice = next((name for name in plain if plain.count(name) > 1), None)
    return [] if twice is None else [f"{argument}= names the column {cited(twice)} twice"]


def nearest(name: str, names: Iterable[Any]) -> Any:
    """Return the name that is most like this one, whatever the case and blanks around it; None where none is."""
    by_lower = {column.lower().strip(): column for column in reversed([*names]) if isinstance(column, str)}
    bare = re.split(r"[.:!\[]", name.lower().strip())[0].strip()
    close = difflib.get_close_matches(bare or name.lower(), by_lower, n=1, cutoff=0.6)
    return by_lower[close[0]] if close else None


def listed(names: Iterable[Any]) -> str:
    """Return the first names there are, in brackets."""
    there = list(names)
    return f"(columns: {few(there, cited, MOST_LISTED) or 'none'})"


def __dir__() -> list[str]:
    return list(__all__)
