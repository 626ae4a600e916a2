"""Read a list of people from a file without losing anything: every cell stays the text it is.

Read the usual way, a phone list loses plus signs and leading zeros, long numbers become decimals, and Namibia (``NA``)
becomes blank. Here nothing is guessed: every column has dtype ``str``, and only empty cells are missing.
"""

from __future__ import annotations

from ._recipients import read_chunks, read_recipients

__all__ = ["read_chunks", "read_recipients"]


def __dir__() -> list[str]:
    return list(__all__)
