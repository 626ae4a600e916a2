"""Blocks as HTML: plain inline styles that a sanitizer keeps, everything escaped."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from functools import cache
from importlib import resources
from typing import Final

from .blocks import (
    SIGNS,
    Align,
    Bar,
    Bars,
    Block,
    Cell,
    Code,
    Figures,
    Marked,
    Message,
    Meter,
    Note,
    State,
    Table,
)
from .words import beginning, plain_value, told

_CODE_FONT: Final = "font-family:ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;font-size:.93em"
_UNBROKEN: Final = 26  # characters: a phone number stands on one line, a sentence may not
_TABLE_STYLE: Final = "border-collapse:collapse;table-layout:auto;width:100%;margin:0;font-size:1em"
_ONE_AMOUNT: Final = 16  # characters: USD 1,234,567.89
_SHORT_BAR: Final = 10.0  # em
_SCROLLS: Final = ("so-three", "so-wider")  # the others stack
_TABULAR: Final = "font-variant-numeric:tabular-nums"


MOST_FIGURES: Final = 8  # in one row
SHORT: Final = 10  # characters of a figure
# Class of figures and the em of a card that one of them needs: short ones, and those with a longer amount.
_FIGURES: Final = (("so-of", 8.6), ("so-long-of", 13.8))
# Class of a table and the card's width in em under which its rows stack.
_STACK_BELOW: Final = (("so-narrow", 22), ("so-wide", 36), ("so-wider", 50))


@cache
def sheet(name: str) -> str:
    """Return a style sheet of this room, without its comments."""
    text = (resources.files(__package__) / f"{name}.css").read_text(encoding="utf-8")
    return re.sub(r"/\*[^*]*\*/\n", "", text)


@cache
def style_sheet() -> str:
    """Return the style sheet of all cards; tables of many columns stand as three, or stack, when
    their card is narrow.
    """
    stacks = (f"@container (max-width:{em}em){{{sheet('stacked').replace('KIND', kind)}}}" for kind, em in _STACK_BELOW)
    rows = "".join(_figures_in_rows(*kind, count) for kind in _FIGURES for count in range(3, MOST_FIGURES + 1))
    return f"{sheet('card')}{rows}{''.join(stacks)}{sheet('three')}"


def _figures_in_rows(kind: str, size: float, count: int) -> str:
    """So many figures stand in one row, in two even ones, or two a row, as there is room: none is left over alone.

    One that is wider than its share, such as a long amount, moves on to the next row.
    """
    return "".join(
        f"@container (min-width:{across * size:g}em){{.smsotp-card .{kind}-{count}{{--so-across:{across}}}}}"
        for across in sorted({-(-count // 2), count} - {2})
    )


def block_html(block: Block) -> str:
    if isinstance(block, Figures):
        return _figures_html(block)
    if isinstance(block, Table):
        return _table_html(block)
    if isinstance(block, Note):
        return _note_html(block)
    if isinstance(block, Meter):
        return _meter_html(block)
    return _message_html(block)


def _figures_html(block: Figures) -> str:
    boxes, kind = [], "so-of"
    for label, value in block.pairs:
        # One amount stays on its line; words, and amounts in several currencies, may be broken.
        one = not isinstance(value, str) or len(value) <= _ONE_AMOUNT
        if one and isinstance(value, str) and len(value) > SHORT:
            kind = "so-long-of"
        wrap = "white-space:nowrap;" if one else ""
        boxes.append(
            '<div class="so-figure" style="display:inline-block;vertical-align:top;margin:0 1.8em .4em 0">'
            f'<div style="font-size:1.45em;font-weight:600;{wrap}{_TABULAR}">{_cell_html(value)}</div>'
            f'<div class="so-soft" style="font-size:.93em">{safe(label)}</div></div>'
        )
    count = min(len(block.pairs), MOST_FIGURES)
    return f'<div class="so-figures {kind}-{count}" style="margin:.9em 0 0">{"".join(boxes)}</div>'


def _table_html(block: Table) -> str:
    align: tuple[Align, ...] = block.align or tuple("left" for _ in block.columns)
    ends = [""] * (len(align) - 1) + [";padding-right:0"]
    styles = [_cell_style(word) + end for word, end in zip(align, ends, strict=True)]
    head = "".join(
        f'<th scope="col" style="{_head_style(word)}{end}">{safe(name)}</th>'
        for name, word, end in zip(block.columns, align, ends, strict=True)
    )
    body = "".join(f"<tr>{_row_html(row, block.columns, styles)}</tr>" for row in block.rows)
    bold = [f"{style};font-weight:600" for style in styles]
    foot = f"<tfoot><tr>{_row_html(block.total, block.columns, bold)}</tr></tfoot>" if block.total else ""
    title = f'<div style="font-weight:600;margin:0 0 .2em">{safe(block.title)}</div>' if block.title else ""
    more = (
        f'<div class="so-soft" style="margin:.3em 0 0;font-size:.93em">{safe(block.more)}</div>' if block.more else ""
    )
    shape = f'class="{_table_class(block)}" style="{_TABLE_STYLE}"'
    table = f"<table {shape}><thead><tr>{head}</tr></thead><tbody>{body}</tbody>{foot}</table>"
    return f'<div{_stop(block)} style="margin:1.1em 0 0;overflow-x:auto">{title}{table}{more}</div>'


def _stop(block: Table) -> str:
    """Let the keyboard reach a table that scrolls in a narrow card, and scroll it without the notebook's shortcuts."""
    if _table_class(block) not in _SCROLLS:
        return ""
    label = safe(block.title or next(filter(None, block.columns), ""))
    return f' tabindex="0" role="group" aria-label="Table: {label}" data-lm-suppress-shortcuts="true"'


def _table_class(block: Table) -> str:
    if len(block.columns) > 6:
        return "so-wider"
    if 4 <= len(block.columns) <= 6 and block.align[:1] == ("left",) and set(block.align[1:-1]) == {"right"}:
        return "so-three"
    has_bars = any(_is_chart(cell) for row in block.rows[:1] for cell in row)
    return "so-wide" if has_bars or len(block.columns) > 3 else "so-narrow"


def _is_chart(cell: Cell) -> bool:
    """Long bars take a line of their own where there is little room."""
    return isinstance(cell, Bars) or (isinstance(cell, Bar) and cell.size > _SHORT_BAR)


def _row_html(row: Sequence[Cell], columns: Sequence[str], styles: Sequence[str]) -> str:
    return "".join(
        f'<td class="{"so-bars" if _is_chart(cell) else "so-cell"}" dir="auto" '
        f'data-label="{safe(name)}" style="{style}">{_cell_html(cell)}</td>'
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
        code = safe(cell.value).replace("_", "_<wbr/>")  # a name of several words breaks between them
        return f'<span class="so-code" style="{_CODE_FONT};white-space:{wrap}">{code}</span>'
    if isinstance(cell, State):
        return f'<span style="white-space:nowrap">{SIGNS[cell.sign]} {safe(cell.value)}</span>'
    if isinstance(cell, Marked):
        pieces = (_piece_html(piece, tag) for piece, tag in cell.pieces)
        wrap = "pre" if sum(len(piece) for piece, _ in cell.pieces) <= _UNBROKEN else "pre-wrap;overflow-wrap:anywhere"
        return f'<span style="{_CODE_FONT};white-space:{wrap}">{"".join(pieces)}</span>'
    if isinstance(cell, Bars):
        return f"<div>{''.join(_bar_html(bar) for bar in cell.bars)}</div>"
    return _bar_html(cell) if isinstance(cell, Bar) else safe(plain_value(cell))


def _piece_html(piece: str, tag: str) -> str:
    # A line through a blank would look like a dash, of which phone numbers have many.
    plain = ' style="text-decoration:none"' if tag == "del" and piece.isspace() else ""
    return f"<{tag}{plain}>{safe(piece)}</{tag}>" if tag else safe(piece)


def _bar_html(bar: Bar) -> str:
    long = min(max(bar.share, 0.0), 1.0)
    place = f"width:{long:.1%}" + (f";margin-left:{bar.start:.1%}" if bar.start else "")
    if bar.hollow:
        shape = f'class="so-hollow" style="{place};height:.4em;border:1px solid #1976d2"'
    else:
        line = "double" if bar.rises else "solid"
        shape = f'class="so-bar" style="{place};border-top:.6em {line} #1976d2"'
    track = f"display:inline-block;width:{bar.size:g}em;max-width:100%;vertical-align:middle;margin-right:.6em"
    words = safe(bar.value)
    drawn = f'<div class="so-track" style="{track}"><div {shape}></div></div>'
    return f'<div style="white-space:nowrap;{_TABULAR}">{drawn}<span style="white-space:nowrap">{words}</span></div>'


def _note_html(block: Note) -> str:
    kind = {"check": "check", "cross": "cross", "!": "warn", "i": "info"}[block.sign]
    return (
        f'<div class="so-note so-note-{kind}" style="margin:.9em 0 0;padding:.1em 0 .1em .7em;'
        f'border-left:3px solid #757575"><b>{SIGNS[block.sign]}</b>&nbsp; {safe(block.text)}</div>'
    )


def _meter_html(block: Meter) -> str:
    """Return the bar; a border draws it, because backgrounds vanish in forced colours."""
    share = block.done / block.total if block.total else 1.0
    told = f'aria-valuemin="0" aria-valuemax="{block.total}" aria-valuenow="{block.done}"'
    track = "margin:.7em 0 0;height:.7em;border:1px solid #757575;border-radius:.4em;overflow:hidden"
    return (
        f'<div class="so-meter" role="progressbar" aria-label="{safe(block.label)}" {told} style="{track}">'
        f'<div class="so-bar" style="width:{min(share, 1.0):.1%};border-top:.7em solid #1976d2"></div></div>'
    )


def _message_html(block: Message) -> str:
    text = _marked_html(block.text, block.marks)
    foot = (
        f'<div class="so-soft" style="font-size:.93em;margin:.3em 0 0">{safe(block.foot)}</div>' if block.foot else ""
    )
    return (
        '<div style="margin:.9em 0 0;max-width:34em">'
        f'<div style="{_CODE_FONT}">{safe(block.to)}</div>'
        '<div class="so-message" dir="auto" style="white-space:pre-wrap;overflow-wrap:anywhere;margin:.2em 0 0;'
        f'padding:.6em .8em;border:1px solid #9e9e9e;border-radius:12px">{text}</div>{foot}</div>'
    )


def _marked_html(text: str, marks: Sequence[str]) -> str:
    if not marks:
        return safe(text)
    pieces = re.split(f"({'|'.join(map(re.escape, marks))})", beginning(text))
    return "".join(f"<mark>{safe(piece)}</mark>" if piece in marks else safe(piece) for piece in pieces)


def safe(text: str) -> str:
    return html.escape(told(text, keep="\n"))
