"""Numbers as they may be shown."""

from __future__ import annotations

from typing import Any

from .._showing import mask

__all__ = ["Numbers", "mask"]


class Numbers(tuple[Any, ...]):
    """Numbers whose repr counts them: a traceback may print the variables of every frame.

    Example:
        >>> Numbers(["+12025550123"])
        <Numbers: 1>
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<Numbers: {len(self)}>"
