"""Values in, HTML and text out: the one look of everything this package shows.

A card is a title, one line of state, blocks, and a closing line that says what to do next. It knows no domain word,
escapes everything and runs no script. Inline styles alone keep it readable, because a notebook that is not trusted
loses ``<style>``, ``<svg>`` and ``var()``; the style sheet adds theme colours and the narrow layout.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import groupby
from typing import Final, Literal

from .errors import UsageError

Sign = Literal["check", "cross", "!", "i"]
Align = Literal["left", "right", "code"]

SIGNS: Final[dict[str, str]] = {"check": "✓", "cross": "✕", "!": "!", "i": "i"}
MISSING: Final = "–"

# Class of a table and the card's width in em under which its rows stack.
_STACK_BELOW: Final = (("so-narrow", 22), ("so-wide", 36), ("so-wider", 50))

# Borders draw the bars, not backgrounds: backgrounds vanish in forced colours and on paper.
_SHEET: Final = """
.smsotp-card{--so-ink:var(--jp-content-font-color1,var(--vscode-foreground,currentColor));
--so-accent:var(--jp-brand-color1,var(--vscode-charts-blue,#1976d2));
--so-soft:color-mix(in srgb,var(--so-ink) 76%,transparent);
--so-line:color-mix(in srgb,var(--so-ink) 20%,transparent);
--so-edge:color-mix(in srgb,var(--so-ink) 55%,transparent);
--so-face:color-mix(in srgb,var(--so-ink) 5%,transparent);
color:var(--so-ink);container-type:inline-size}
.smsotp-card .so-soft{color:var(--so-soft)}
.smsotp-card .so-figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(8.5em,1fr));gap:.6em}
.smsotp-card .so-figure{display:block!important;margin:0!important;padding:.7em .9em!important;
border:1px solid var(--so-line);border-radius:8px;background:var(--so-face)}
.smsotp-card thead th{border-bottom:1px solid var(--so-edge)!important;color:var(--so-soft)}
.smsotp-card tbody tr,.smsotp-card tbody tr:nth-child(odd),.smsotp-card tbody tr:nth-child(even){background:none}
.smsotp-card tbody td{border-bottom:1px solid var(--so-line)!important}
.smsotp-card tbody tr:hover{background:var(--so-face)}
.smsotp-card .so-bar{border-top-color:var(--so-accent)!important;border-radius:2px}
.smsotp-card .so-hollow{border-color:var(--so-accent)!important;border-radius:2px}
.smsotp-card .so-code{background:var(--so-face);border-radius:3px;padding:.05em .3em}
.smsotp-card .so-note{border-left-color:var(--so-edge)!important}
.smsotp-card .so-note-cross{border-left-color:var(--jp-error-color1,#d32f2f)!important}
.smsotp-card .so-note-warn{border-left-color:var(--jp-warn-color0,#b26a00)!important}
.smsotp-card .so-note-check{border-left-color:var(--jp-success-color1,#2e7d32)!important}
.smsotp-card .so-message{border-color:var(--so-line)!important;background:var(--so-face)}
.smsotp-card mark,.smsotp-card ins,.smsotp-card del{color:inherit;
background:color-mix(in srgb,var(--so-accent) 22%,transparent)}
.smsotp-card mark{text-decoration:underline;text-underline-offset:.15em}
.smsotp-card .so-note+.so-note{margin-top:.45em!important}
@media print{.smsotp-card{break-inside:avoid}}
@media (forced-colors:active){.smsotp-card .so-bar,.smsotp-card .so-hollow{forced-color-adjust:none;
border-color:CanvasText!important}
.smsotp-card mark,.smsotp-card ins,.smsotp-card del{forced-color-adjust:none;background:Highlight;color:HighlightText}}
"""


_STACKED: Final = """
.smsotp-card .KIND,.smsotp-card .KIND tbody{display:block}
.smsotp-card .KIND thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
.smsotp-card .KIND tr{display:block;padding:.45em 0;border-bottom:1px solid var(--so-line)}
.smsotp-card .KIND td{display:flex;justify-content:space-between;gap:1em;border:0!important;
padding:.12em 0!important;text-align:right!important;white-space:normal!important}
.smsotp-card .KIND td::before{content:attr(data-label);color:var(--so-soft);text-align:left;
font-family:inherit;font-weight:400}
.smsotp-card .KIND td:empty{display:none}
.smsotp-card .KIND .so-bars{display:block;text-align:left!important}
.smsotp-card .KIND .so-bars div{white-space:normal!important}
.smsotp-card .KIND td:first-child{font-weight:600}
"""


def style_sheet() -> str:
    """Return the style sheet of all cards; tables of many columns stack when their card is narrow.

    Example:
        >>> style_sheet().lstrip().startswith(".smsotp-card")
        True
    """
    stacks = (f"@container (max-width:{size}em){{{_STACKED.replace('KIND', kind)}}}" for kind, size in _STACK_BELOW)
    return _SHEET + "".join(stacks)


@dataclass(frozen=True, slots=True)
class Code:
    """A cell whose text is drawn in a fixed width: a number, a code, a column's name."""

    value: str


@dataclass(frozen=True, slots=True)
class State:
    """A cell that says a state in a word and a sign, never by colour alone."""

    sign: Sign
    value: str

    def __post_init__(self) -> None:
        _check_sign(self.sign)


@dataclass(frozen=True, slots=True)
class Marked:
    """A cell of pieces, each with ``""``, ``"ins"`` (added) or ``"del"`` (taken away); the text form has no marks.

    Example:
        >>> print(Card("Change", "", (Table(("Before",), ((Marked((("0", "del"), ("7911", ""))),),)),)).text())
        Change
        <BLANKLINE>
        Before
        ------
        07911
    """

    pieces: tuple[tuple[str, Literal["", "ins", "del"]], ...]


@dataclass(frozen=True, slots=True)
class Bar:
    """A cell with a bar: ``share`` of the longest one (0 to 1), its words, and ``hollow`` for the second of a pair."""

    share: float
    value: str
    hollow: bool = False
    size: float = 8.0


@dataclass(frozen=True, slots=True)
class Bars:
    """A cell with bars below each other, to compare."""

    bars: tuple[Bar, ...]


Cell = str | int | float | Decimal | None | Code | State | Marked | Bar | Bars


@dataclass(frozen=True, slots=True)
class Figures:
    """The numbers that matter most, drawn large: pairs of label and value.

    Example:
        >>> print(Card("Plan", "", (Figures((("recipients", 1984), ("rows left out", 16))),)).text())
        Plan
        <BLANKLINE>
        1,984  recipients
           16  rows left out
    """

    pairs: tuple[tuple[str, Cell], ...]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under column names; ``align`` has one word a column: ``left`` (default), ``right`` or ``code``.

    ``title`` stands above, ``more`` below, for what the table leaves out.

    Example:
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

    def __post_init__(self) -> None:
        uneven = {len(row) for row in self.rows} - {len(self.columns)}
        if uneven or len(self.align) not in (0, len(self.columns)):
            raise UsageError(f"a table of {len(self.columns)} columns got rows or alignments of another length")


@dataclass(frozen=True, slots=True)
class Note:
    """One sentence with a sign: ``check``, ``cross``, ``!`` or ``i``.

    Example:
        >>> print(Card("Plan", "", (Note("!", "2 rows have no name."),)).text())
        Plan
        <BLANKLINE>
        ! 2 rows have no name.
    """

    sign: Sign
    text: str

    def __post_init__(self) -> None:
        _check_sign(self.sign)


@dataclass(frozen=True, slots=True)
class Message:
    """A text as its reader sees it, line breaks kept; characters in ``marks`` stand out.

    Example:
        >>> print(Card("Preview", "", (Message("+1202...0123", "Hi Ann", "1 part"),)).text())
        Preview
        <BLANKLINE>
        +1202...0123
          | Hi Ann
          1 part
    """

    to: str
    text: str
    foot: str = ""
    marks: tuple[str, ...] = ()


Block = Figures | Table | Note | Message


@dataclass(frozen=True, slots=True)
class Card:
    """A title, one line of state, blocks, and a closing line; a notebook shows the HTML, a terminal the text.

    Example:
        >>> print(Card("Plan: autumn-sale", "Nothing has been sent.", closing="Next: send(plan, client=...)"))
        Plan: autumn-sale
        Nothing has been sent.
        <BLANKLINE>
        Next: send(plan, client=...)
    """

    title: str
    state: str
    blocks: tuple[Block, ...] = ()
    closing: str = ""

    def html(self) -> str:
        """Return the card as one HTML element that needs no script and no network."""
        parts = [
            f'<div role="heading" aria-level="3" style="font-size:1.25em;font-weight:600">{_safe(self.title)}</div>'
        ]
        if self.state:
            parts.append(f'<div class="so-soft" style="margin:.15em 0 0">{_safe(self.state)}</div>')
        parts += [_block_html(block) for block in self.blocks]
        if self.closing:
            parts.append(f'<div class="so-soft" style="margin:.9em 0 0">{_safe(self.closing)}</div>')
        return (
            '<div class="smsotp-card mathjax_ignore tex2jax_ignore" '
            'style="max-width:62em;line-height:1.45;overflow-wrap:break-word;margin:.2em 0 .6em">'
            f"<style>{style_sheet()}</style>{''.join(parts)}</div>"
        )

    def text(self) -> str:
        """Return the card as plain text in aligned columns, for terminals and logs."""
        head = "\n".join(_plain(line) for line in (self.title, self.state) if line)
        return "\n\n".join(part for part in (head, *_blocks_text(self.blocks), _plain(self.closing)) if part)

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        return self.html()


def number(value: float | Decimal | None) -> str:
    """Return a number with thousands separated, a missing one as a dash.

    Example:
        >>> number(1984), number(0.25), number(None)
        ('1,984', '0.25', '–')
    """
    return MISSING if _is_missing(value) else f"{value:,}"


def money(value: float | Decimal | None, currency: str | None = "", *, places: int | None = None) -> str:
    """Return an amount with its currency before it: two places, or up to six where the amount is that small.

    Example:
        >>> money(38.42, "USD"), money(0.0075, "USD"), money(1234.5, "EUR"), money(None, "USD")
        ('USD 38.42', 'USD 0.0075', 'EUR 1,234.50', '–')
    """
    if value is None or _is_missing(value):
        return MISSING
    shown = f"{value:,.{places_of([value]) if places is None else places}f}"
    return f"{currency} {shown}" if currency else shown


def places_of(values: Iterable[float | Decimal | None]) -> int:
    """Return how many decimal places these amounts need in one column: 2, or up to 6 where one is below a cent's grain.

    Example:
        >>> places_of([38.42, 9.6]), places_of([0.0075, 0.03])
        (2, 4)
    """
    small = [f"{value:.6f}" for value in values if value is not None and not _is_missing(value) and -1 < value < 1]
    return max([2, *(len(text.split(".")[1].rstrip("0")) for text in small)])


def share(value: float | None) -> str:
    """Return a fraction as whole percent, a small one as "<1%".

    Example:
        >>> share(0.334), share(0.002), share(None)
        ('33%', '<1%', '–')
    """
    if value is None or _is_missing(value):
        return MISSING
    return "<1%" if 0 < value < 0.005 else f"{value:.0%}"


def width(text: str) -> int:
    """Return how many terminal columns a text takes: East Asian wide characters two, combining marks none.

    Example:
        >>> width("Zoë"), width("东京")
        (3, 4)
    """
    return sum(_columns(character) for character in text)


# -- HTML --------------------------------------------------------------------------------------------------------------

_CODE_FONT: Final = "font-family:ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;font-size:.93em"
_UNBROKEN: Final = 26  # characters: a phone number stands on one line, a sentence may not
_TABLE_STYLE: Final = "border-collapse:collapse;table-layout:auto;width:100%;margin:0;font-size:1em"
_TABULAR: Final = "font-variant-numeric:tabular-nums"


def _block_html(block: Block) -> str:
    if isinstance(block, Figures):
        return _figures_html(block)
    if isinstance(block, Table):
        return _table_html(block)
    if isinstance(block, Note):
        return _note_html(block)
    return _message_html(block)


def _figures_html(block: Figures) -> str:
    boxes = "".join(
        '<div class="so-figure" style="display:inline-block;vertical-align:top;margin:0 1.8em .4em 0">'
        f'<div style="font-size:1.45em;font-weight:600;{_TABULAR}">{_cell_html(value)}</div>'
        f'<div class="so-soft" style="font-size:.93em">{_safe(label)}</div></div>'
        for label, value in block.pairs
    )
    return f'<div class="so-figures" style="margin:.9em 0 0">{boxes}</div>'


def _table_html(block: Table) -> str:
    align: tuple[Align, ...] = block.align or tuple("left" for _ in block.columns)
    styles = [_cell_style(word) for word in align]
    styles[-1] += ";padding-right:0"
    head = "".join(
        f'<th scope="col" style="{_head_style(word)}">{_safe(name)}</th>'
        for name, word in zip(block.columns, align, strict=True)
    )
    body = "".join(f"<tr>{_row_html(row, block.columns, styles)}</tr>" for row in block.rows)
    title = f'<div style="font-weight:600;margin:0 0 .2em">{_safe(block.title)}</div>' if block.title else ""
    more = (
        f'<div class="so-soft" style="margin:.3em 0 0;font-size:.93em">{_safe(block.more)}</div>' if block.more else ""
    )
    shape = f'class="{_table_class(block)}" style="{_TABLE_STYLE}"'
    table = f"<table {shape}><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f'<div style="margin:1.1em 0 0;overflow-x:auto">{title}{table}{more}</div>'


def _table_class(block: Table) -> str:
    if len(block.columns) > 6:
        return "so-wider"
    has_bars = any(isinstance(cell, Bars) for row in block.rows[:1] for cell in row)
    return "so-wide" if has_bars or len(block.columns) > 3 else "so-narrow"


def _row_html(row: Sequence[Cell], columns: Sequence[str], styles: Sequence[str]) -> str:
    return "".join(
        f'<td class="{"so-bars" if isinstance(cell, Bars) else "so-cell"}" dir="auto" '
        f'data-label="{_safe(name)}" style="{style}">{_cell_html(cell)}</td>'
        for cell, name, style in zip(row, columns, styles, strict=True)
    )


def _head_style(align: Align) -> str:
    side = "right" if align == "right" else "left"
    return f"text-align:{side};padding:.4em 1.3em .4em 0;font-weight:600;vertical-align:bottom"


def _cell_style(align: Align) -> str:
    base = "vertical-align:top;padding:.4em 1.3em .4em 0"
    if align == "right":
        return f"text-align:right;{base};white-space:nowrap;{_TABULAR}"
    return f"text-align:left;{base};{_CODE_FONT}" if align == "code" else f"text-align:left;{base}"


def _cell_html(cell: Cell) -> str:
    if isinstance(cell, Code):
        wrap = "nowrap" if len(cell.value) <= _UNBROKEN else "pre-wrap;overflow-wrap:anywhere"
        return f'<span class="so-code" style="{_CODE_FONT};white-space:{wrap}">{_safe(cell.value)}</span>'
    if isinstance(cell, State):
        return f'<span style="white-space:nowrap">{SIGNS[cell.sign]} {_safe(cell.value)}</span>'
    if isinstance(cell, Marked):
        pieces = (f"<{tag}>{_safe(piece)}</{tag}>" if tag else _safe(piece) for piece, tag in cell.pieces)
        wrap = "pre" if sum(len(piece) for piece, _ in cell.pieces) <= _UNBROKEN else "pre-wrap;overflow-wrap:anywhere"
        return f'<span style="{_CODE_FONT};white-space:{wrap}">{"".join(pieces)}</span>'
    if isinstance(cell, Bars):
        return f"<div>{''.join(_bar_html(bar) for bar in cell.bars)}</div>"
    return _bar_html(cell) if isinstance(cell, Bar) else _safe(_words(cell))


def _bar_html(bar: Bar) -> str:
    long = min(max(bar.share, 0.0), 1.0)
    if bar.hollow:
        shape = f'class="so-hollow" style="width:{long:.1%};height:.4em;border:1px solid #1976d2"'
    else:
        shape = f'class="so-bar" style="width:{long:.1%};border-top:.6em solid #1976d2"'
    track = f"display:inline-block;width:{bar.size:g}em;max-width:100%;vertical-align:middle;margin-right:.6em"
    words = _safe(bar.value)
    inner = f'<div style="{track}"><div {shape}></div></div><span style="white-space:nowrap">{words}</span>'
    return f'<div style="white-space:nowrap;{_TABULAR}">{inner}</div>'


def _note_html(block: Note) -> str:
    kind = {"check": "check", "cross": "cross", "!": "warn", "i": "info"}[block.sign]
    return (
        f'<div class="so-note so-note-{kind}" style="margin:.9em 0 0;padding:.1em 0 .1em .7em;'
        f'border-left:3px solid #757575"><b>{SIGNS[block.sign]}</b>&nbsp; {_safe(block.text)}</div>'
    )


def _message_html(block: Message) -> str:
    text = _marked_html(block.text, block.marks)
    foot = (
        f'<div class="so-soft" style="font-size:.93em;margin:.3em 0 0">{_safe(block.foot)}</div>' if block.foot else ""
    )
    return (
        '<div style="margin:.9em 0 0;max-width:34em">'
        f'<div style="{_CODE_FONT}">{_safe(block.to)}</div>'
        '<div class="so-message" dir="auto" style="white-space:pre-wrap;overflow-wrap:anywhere;margin:.2em 0 0;'
        f'padding:.6em .8em;border:1px solid #9e9e9e;border-radius:12px">{text}</div>{foot}</div>'
    )


def _marked_html(text: str, marks: Sequence[str]) -> str:
    if not marks:
        return _safe(text)
    pieces = re.split(f"({'|'.join(map(re.escape, marks))})", text)
    return "".join(f"<mark>{_safe(piece)}</mark>" if piece in marks else _safe(piece) for piece in pieces)


def _safe(text: str) -> str:
    return html.escape(_visible(text, keep="\n"))


# -- text --------------------------------------------------------------------------------------------------------------


def _blocks_text(blocks: Sequence[Block]) -> list[str]:
    """Notes that follow each other stand as one paragraph."""
    runs = groupby(blocks, key=lambda block: isinstance(block, Note))
    drawn = [(notes, [_block_text(block) for block in run]) for notes, run in runs]
    return [text for notes, texts in drawn for text in (["\n".join(texts)] if notes else texts)]


def _block_text(block: Block) -> str:
    if isinstance(block, Figures):
        return _columns_text([(_cell_text(value), _plain(label)) for label, value in block.pairs], ("right", "left"))
    if isinstance(block, Table):
        return _table_text(block)
    if isinstance(block, Note):
        return f"{SIGNS[block.sign]} {_plain(block.text)}"
    lines = [_plain(block.to), *(f"  | {_visible(line)}" for line in block.text.split("\n"))]
    return "\n".join([*lines, f"  {_plain(block.foot)}"] if block.foot else lines)


def _table_text(block: Table) -> str:
    align = block.align or ("left",) * len(block.columns)
    rows = [tuple(_cell_text(cell) for cell in row) for row in block.rows]
    names = tuple(map(_plain, block.columns))
    rule = tuple("-" * max(map(width, column)) for column in zip(names, *rows, strict=True))
    drawn = _columns_text([names, rule, *rows], align)
    return "\n".join(part for part in (_plain(block.title), drawn, _plain(block.more)) if part)


def _columns_text(rows: Sequence[Sequence[str]], align: Sequence[str]) -> str:
    widths = [max(map(width, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(_pad(cell, size, word) for cell, size, word in zip(row, widths, align, strict=True)).rstrip()
        for row in rows
    )


def _pad(text: str, size: int, align: str) -> str:
    space = " " * (size - width(text))
    return space + text if align == "right" else text + space


def _cell_text(cell: Cell) -> str:
    if isinstance(cell, Code):
        return _plain(cell.value)
    if isinstance(cell, State):
        return f"{SIGNS[cell.sign]} {_plain(cell.value)}"
    if isinstance(cell, Marked):
        return "".join(_plain(piece) for piece, _ in cell.pieces)
    if isinstance(cell, Bars):
        return " / ".join(_plain(bar.value) for bar in cell.bars)
    if isinstance(cell, Bar):
        return f"{'█' * max(round(cell.share * 12), int(cell.share > 0)):<12} {_plain(cell.value)}"
    return _plain(_words(cell))


def _words(cell: str | float | Decimal | None) -> str:
    return cell if isinstance(cell, str) else number(cell)


def _plain(text: str) -> str:
    return _visible(text.replace("\n", " "))


_DIRECTIONS: Final = frozenset("\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def _visible(text: str, *, keep: str = "") -> str:
    """Control and direction characters from files would move the cursor or turn the line round: shown by number."""
    if text.isprintable():
        return text
    return "".join(c if c in keep or not _is_control(c) else f"\\u{ord(c):04x}" for c in text)


def _is_control(character: str) -> bool:
    return unicodedata.category(character) in {"Cc", "Cs", "Zl", "Zp"} or character in _DIRECTIONS


def _columns(character: str) -> int:
    if unicodedata.category(character) in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _is_missing(value: object) -> bool:
    return value is None or type(value).__name__ in {"NAType", "NaTType"} or value != value


def _check_sign(sign: str) -> None:
    if sign not in SIGNS:
        raise UsageError(f"a sign is one of {', '.join(SIGNS)}; got {sign!r}")
