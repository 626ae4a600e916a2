"""Frames whose text is fit to be printed: what a service or a list put into it moves no cursor.

Only the printing changes. The cells stay as they came, of the same dtype, and so do those of what pandas makes of the
frame, but for columns of objects: a row taken out as a series (``frame.iloc[0]``), ``frame.T``. Labels print as they
came.
"""

from __future__ import annotations

import copyreg
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from .._pandas import STR
from .text import CONTROLS, visible

_CONTROL: Final = "[" + "".join(f"\\x{{{first:x}}}-\\x{{{last:x}}}" for first, last in CONTROLS) + "]"  # RE2's spelling
_PIECE: Final = 1 << 18  # bytes, so that a look takes no memory to speak of
_Texts: Any = STR.construct_array_type()


class _Shown(_Texts):  # type: ignore[misc]  # its class depends on the version of pandas
    """Arrow's text that pandas prints with its control and direction characters as numbers."""

    def _formatter(self, boxed: bool = False) -> Callable[[Any], str]:
        plain = super()._formatter(boxed)
        return lambda cell: visible(plain(cell), keep="\n\t")

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Pickle as plain text, which whoever has no such package can read, too."""
        plain = _Texts._from_sequence(self.__arrow_array__(), dtype=self.dtype)
        made, given, *rest = plain.__reduce_ex__(protocol)
        new = copyreg.__newobj__  # type: ignore[attr-defined]  # the stubs lack it
        return object.__new__ if made is new else made, given, *rest


def printable(found: Any) -> Any:
    """Return a frame or column that prints no control character of its text; everything else as it is.

    Example:
        >>> frame = printable(pd.DataFrame({"iso": pd.Series(["U\\x1b[2J"], dtype=STR)}))
        >>> print(frame)
                  iso
        0  U\\u001b[2J
        >>> frame["iso"].tolist()
        ['U\\x1b[2J']
    """
    if isinstance(found, pd.Series):
        return _shown(found) if _moves_cursor(found) else found
    if not isinstance(found, pd.DataFrame):
        return found
    moving = [at for at, (_, column) in enumerate(found.items()) if _moves_cursor(column)]
    if not moving:
        return found
    made = found.copy(deep=False)
    for at in moving:
        made.isetitem(at, _shown(found.iloc[:, at]).array)
    return made


def _shown(column: pd.Series) -> pd.Series:
    texts = _Shown._from_sequence(column.array.__arrow_array__(), dtype=column.dtype)
    return pd.Series(texts, index=column.index, name=column.name, copy=False)


def _moves_cursor(column: pd.Series) -> bool:
    texts = column.array
    if not isinstance(texts, _Texts) or isinstance(texts, _Shown):
        return False
    arrow = texts.__arrow_array__()
    pieces = arrow.chunks if isinstance(arrow, pa.ChunkedArray) else [arrow]
    if all(map(_is_plain, pieces)):
        return False
    return bool(pc.any(pc.match_substring_regex(arrow, _CONTROL)).as_py())


def _is_plain(texts: pa.Array) -> bool:
    """Say whether all bytes are printable ASCII: the answer for most columns, at the speed of memory."""
    _, offsets, values = texts.buffers()
    if not len(texts) or values is None:
        return True
    bounds = np.frombuffer(offsets, np.int64 if pa.types.is_large_string(texts.type) else np.int32)
    first, last = bounds[texts.offset], bounds[texts.offset + len(texts)]
    written = np.frombuffer(values, np.uint8)[first:last]
    pieces = (written[at : at + _PIECE] for at in range(0, len(written), _PIECE))
    return not any((piece - np.uint8(ord(" ")) > ord("~") - ord(" ")).any() for piece in pieces)  # below a blank wraps
