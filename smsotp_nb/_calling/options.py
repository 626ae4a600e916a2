"""Options that belong together, as one frozen value that several functions take."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar, Self


class Options:
    """The base of dataclasses of options: their repr is code that makes them, without what is as by default.

    Example:
        >>> @dataclasses.dataclass(frozen=True, repr=False)
        ... class Size(Options):
        ...     height: int = 1
        ...     width: int = 1
        >>> Size(height=3).replace(width=2), Size()
        (Size(height=3, width=2), Size())
    """

    __slots__ = ()
    __dataclass_fields__: ClassVar[dict[str, Any]]

    def replace(self, **changes: Any) -> Self:
        """Return the same options but for these."""
        return dataclasses.replace(self, **changes)

    def __repr__(self) -> str:
        values = [(field, getattr(self, field.name)) for field in dataclasses.fields(self)]
        changed = [f"{field.name}={value!r}" for field, value in values if value != field.default]
        return f"{type(self).__name__}({', '.join(changed)})"
