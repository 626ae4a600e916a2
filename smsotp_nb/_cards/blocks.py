"""The values a card is made of: cells of a table, and blocks."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Final, Literal

Sign = Literal["check", "cross", "!", "i"]
Align = Literal["left", "right", "code"]

SIGNS: Final[dict[str, str]] = {"check": "✓", "cross": "✕", "!": "!", "i": "i"}


@dataclass(frozen=True, slots=True)
class Code:
    """A cell whose text is drawn in a fixed width: a number, a code, a column's name."""

    value: str


@dataclass(frozen=True, slots=True)
class State:
    """A cell that says a state in a word and a sign, never by colour alone."""

    sign: Sign
    value: str


@dataclass(frozen=True, slots=True)
class Marked:
    """A cell of pieces, each with ``""``, ``"ins"`` (added) or ``"del"`` (taken away); the text form has no marks."""

    pieces: tuple[tuple[str, Literal["", "ins", "del"]], ...]


@dataclass(frozen=True, slots=True)
class Bar:
    """A cell with a bar: ``share`` of the longest one (0 to 1), its words, and ``hollow`` for the second of a pair.

    ``start`` is where the bar begins, as a share of the same length: the steps of a waterfall begin where the one above
    ends. A step that falls is ``hollow``, one that ``rises`` is neither that nor full as a total is.
    """

    share: float
    value: str
    hollow: bool = False
    rises: bool = False
    size: float = 8.0
    start: float = 0.0


@dataclass(frozen=True, slots=True)
class Bars:
    """A cell with bars below each other, to compare."""

    bars: tuple[Bar, ...]


Cell = str | int | float | Decimal | None | Code | State | Marked | Bar | Bars


@dataclass(frozen=True, slots=True)
class Figures:
    """The numbers that matter most, drawn large: pairs of label and value."""

    pairs: tuple[tuple[str, Cell], ...]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under column names; ``align`` has one word a column: ``left`` (default), ``right`` or ``code``.

    ``title`` stands above, ``more`` below, for what the table leaves out; ``total`` is a last row set apart.

    Example:
        >>> from smsotp_nb._cards import Card
        >>> print(Card("Cost", "", (Table(("Country", "Messages"), (("India", 2500),), ("left", "right")),)).text())
        Cost
        <BLANKLINE>
        Country  Messages
        -------  --------
        India       2,500
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    align: tuple[Align, ...] = ()
    title: str = ""
    more: str = ""
    total: tuple[Cell, ...] = ()


@dataclass(frozen=True, slots=True)
class Note:
    """One sentence with a sign: ``check``, ``cross``, ``!`` or ``i``."""

    sign: Sign
    text: str


@dataclass(frozen=True, slots=True)
class Message:
    """A text as its reader sees it, line breaks kept; characters in ``marks`` stand out."""

    to: str
    text: str
    foot: str = ""
    marks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Meter:
    """How much of something is done, as a bar that a screen reader is told of too."""

    done: int
    total: int
    label: str


Block = Figures | Table | Note | Message | Meter
