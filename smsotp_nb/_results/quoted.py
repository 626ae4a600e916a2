"""CSV whose quotes tell text from numbers, and an empty text, ``""``, from a missing one, which is nothing at all.

A writer that quotes everything puts ``""`` for both. It quotes its header, too; ours does not.
"""

from __future__ import annotations

import csv
import io
import re
import warnings
from typing import Any, BinaryIO, Final

import numpy as np
import pandas as pd

from .._pandas import STR

_QUOTE, _RETURN, _LINE = b'"\r\n'
_ODD: Final = re.compile(r"[^\w ]")  # in a name
_BETWEEN_QUOTES: Final = re.compile(r'"[^"]*(?:"|\Z)')


class _Nothing:
    """What is written for a missing value: the csv module quotes what is no number, and a number may have no text."""

    def __float__(self) -> float:
        return float("nan")

    def __str__(self) -> str:
        return ""


def write(flat: pd.DataFrame, file: BinaryIO, *, marked: bool) -> None:
    """Write a table without its index; ``marked`` begins with a byte order mark."""
    nothing: Any = _Nothing()
    head = ",".join(_named(str(name)) for name in flat.columns)
    file.write(f"{head}\n".encode("utf-8-sig" if marked else "utf-8"))
    flat.to_csv(
        file,
        mode="wb",
        index=False,
        header=False,
        quoting=csv.QUOTE_NONNUMERIC,
        encoding="utf-8",
        lineterminator="\n",
        na_rep=nothing,
    )


def _named(name: str) -> str:
    return '"' + name.replace('"', '""') + '"' if _ODD.search(name) else name


def read(file: bytes, separator: str) -> pd.DataFrame:
    """Read every cell as text; pandas 2 ends a cell at a zero byte, so another sign travels in its place.

    So does one in place of an empty text, which pandas reads as missing.
    """
    unused = (sign for sign in map(chr, range(0xE000, 0xF900)) if sign.encode() not in file)
    zero, empty = next(unused), next(unused)
    told = _with_sign(file, separator, empty) if tells_empty(file, separator) else file
    with warnings.catch_warnings():
        warnings.simplefilter("error", pd.errors.ParserWarning)  # a row with more cells than there are names
        texts = pd.read_csv(
            io.BytesIO(told.replace(b"\0", zero.encode())),
            sep=separator,
            dtype=STR,
            keep_default_na=False,
            na_values=[""],
            encoding="utf-8-sig",
            index_col=False,
        )
    if told is not file:
        texts = texts.apply(lambda column: column.mask(column == empty, ""))
        texts.columns = [name.replace(empty, "") for name in texts.columns]
    if b"\0" in file:
        texts = texts.apply(lambda column: column.str.replace(zero, "\0", regex=False))
        texts.columns = [name.replace(zero, "\0") for name in texts.columns]
    return texts


def tells_empty(file: bytes, separator: str) -> bool:
    """Return whether a name of the header stands without quotes.

    Example:
        >>> tells_empty(b'to,name\\n"+12025550123",""', ","), tells_empty(b'"to","name"\\n"+12025550123",""', ",")
        (True, False)
    """
    head = file[: file.find(b"\n")].decode("utf-8-sig", "replace")
    return bool(_BETWEEN_QUOTES.sub("", head).strip(f"{separator} \r"))


def _with_sign(file: bytes, separator: str, sign: str) -> bytes:
    """Put a sign between the quotes of each empty text."""
    signs = np.frombuffer(file, "u1")
    at = _empty_texts(signs, ord(separator))
    if not len(at):
        return file
    put = np.frombuffer(sign.encode(), "u1")
    return np.insert(signs, np.repeat(at + 1, len(put)), np.tile(put, len(at))).tobytes()


def _empty_texts(signs: Any, separator: int) -> Any:
    """Return where the two quotes of an empty text begin; nowhere in a file with a quote that opens or closes nothing.

    Where every text is closed and a quote within is doubled, an even number of quotes stands before a text that opens.
    """
    quotes = np.flatnonzero(signs == _QUOTE)
    if len(quotes) % 2:
        return quotes[:0]
    opens, closes = quotes[::2], quotes[1::2]
    ends = np.zeros(256, bool)
    ends[[separator, _RETURN, _LINE]] = True
    begun = (opens == 0) | ends[signs[opens - 1]]
    mark = (opens == 3) & (signs[:3].tobytes() == b"\xef\xbb\xbf")
    ended = (closes == len(signs) - 1) | ends[signs[np.minimum(closes + 1, len(signs) - 1)]]
    doubled = opens[1:] == closes[:-1] + 1
    sound = (begun | mark | np.append(False, doubled)).all() and (ended | np.append(doubled, False)).all()
    return opens[begun & ended & (closes == opens + 1)] if sound else quotes[:0]
