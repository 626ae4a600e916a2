"""Numbers as they may be shown."""

from __future__ import annotations

from typing import Any


class Numbers(tuple[Any, ...]):
    """Numbers whose repr counts them: a traceback may print the variables of every frame.

    Example:
        >>> Numbers(["+12025550123"])
        <Numbers: 1>
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<Numbers: {len(self)}>"


def mask(number: str) -> str:
    """Return a number that can be recognized but not called: the first five and the last four characters stay.

    Example:
        >>> mask("+12025550123")
        '+1202...0123'
    """
    if len(number) > 11:
        return f"{number[:5]}...{number[-4:]}"
    return f"{number[:2]}...{number[-2:]}" if len(number) > 8 else "..."  # short enough to be a passcode
