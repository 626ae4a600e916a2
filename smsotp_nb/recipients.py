"""Read a list of people from a file without losing anything: every cell stays the text that stands in it.

A phone list read the usual way loses plus signs and leading zeros, turns long numbers into decimals and Namibia
(``NA``) into a blank. Here nothing is guessed: every column has dtype ``str``, only empty cells are missing.
"""

from __future__ import annotations

from ._recipients.encodings import find_encoding, separator
from ._recipients.reading import read_chunks, read_recipients, sheets

__all__ = ["find_encoding", "read_chunks", "read_recipients", "separator", "sheets"]


def __dir__() -> list[str]:
    return list(__all__)
