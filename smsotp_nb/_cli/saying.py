"""Words as wide as the terminal is."""

from __future__ import annotations

import sys

from .._cards import fitted, terminal_width


def say(words: str, *, hang: str = "", error: bool = False) -> None:
    """Print words, broken between them; an error stays one line for whoever reads a log by lines.

    Example:
        >>> say("2 rows written to clean.csv")
        2 rows written to clean.csv
    """
    stream = sys.stderr if error else sys.stdout
    if stream is None:  # it was closed before the program began
        return
    most = None if error and not stream.isatty() else terminal_width()
    print(fitted(words, most, hang=hang), file=stream)
