"""What a form was given, checked before anything is drawn: whom it speaks to, and the columns of its list."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import pandas as pd

from .._calling import given
from .._client import Client
from .._sandbox import Sandbox
from ..errors import UsageError

NONE_CHOSEN = ""


def sandbox_of(service: Any, *, what: str = "an inbox", live: str = "the live service has none") -> Sandbox:
    """Return the sandbox whose inbox is shown: itself, or the one that a client speaks to.

    ``what`` needs it and ``live`` says why the live service does not serve, as an error says.

    Raises:
        UsageError: there is none; the real service has no inbox to look into.
    """
    found = service.sandbox if isinstance(service, Client) else service
    if not isinstance(found, Sandbox):
        raise UsageError(f"{what} needs a Sandbox, got {given(service)}; {live}")
    return found


def names_of(frame: Any) -> list[tuple[str, Hashable]]:
    """Return the columns that a form can offer, as (label, name): those whose name stands once.

    Raises:
        UsageError: it is no frame, or one without such a column.

    Example:
        >>> names_of(pd.DataFrame(columns=["phone", "name", 7]))
        [('phone', 'phone'), ('name', 'name'), ('7', 7)]
    """
    if not isinstance(frame, pd.DataFrame):
        raise UsageError(f"a form needs a DataFrame, got {type(frame).__name__}; read_recipients(path) returns one")
    once = ~frame.columns.duplicated(keep=False)
    names: list[tuple[str, Hashable]] = [(str(name), name) for name in frame.columns[once]]
    if not names:
        raise UsageError("the list has no columns, or none with a unique name")
    return names


def with_none(names: Iterable[tuple[str, Hashable]], label: str) -> list[tuple[str, Hashable]]:
    """Return the columns to choose from, led by a word for none of them."""
    return [(label, NONE_CHOSEN), *names]
