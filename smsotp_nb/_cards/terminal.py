"""Blocks as text in aligned columns, no wider than they are asked to be."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from itertools import groupby
from typing import Final

from .blocks import SIGNS, Bar, Bars, Block, Cell, Code, Figures, Marked, Meter, Note, State, Table
from .words import plain_value, told, width

NARROWEST: Final = 18  # columns that words in a cell need to read well
GAP: Final = "  "
_BAR: Final = 12  # signs of the longest bar


def terminal_width() -> int:
    """Return how many columns the terminal has; 80 where there is none."""
    return shutil.get_terminal_size((80, 24)).columns


def fitted(text: str, most: int | None, *, hang: str = "") -> str:
    """Return text with each line broken between words so that it takes ``most`` columns; a long word stays whole.

    Lines after the first of each begin with ``hang``. None: no line is broken.

    Example:
        >>> print(fitted("! nobody is texted twice", 14, hang="  "))
        ! nobody is
          texted twice
    """
    if most is None:
        return text
    return "\n".join(piece for line in text.split("\n") for piece in _broken(line, most, hang))


def blocks_text(blocks: Sequence[Block], most: int | None = None) -> list[str]:
    """Notes that follow each other stand as one paragraph."""
    runs = groupby(blocks, key=lambda block: isinstance(block, Note))
    drawn = [(notes, [_block_text(block, most) for block in run]) for notes, run in runs]
    return [text for notes, texts in drawn for text in (["\n".join(texts)] if notes else texts)]


def _block_text(block: Block, most: int | None) -> str:
    if isinstance(block, Figures):
        return _figures_text(block, most)
    if isinstance(block, Table):
        return _table_text(block, most)
    if isinstance(block, Note):
        return fitted(f"{SIGNS[block.sign]} {one_line(block.text)}", most, hang="  ")
    if isinstance(block, Meter):
        return fitted(f"{one_line(block.label)}: {block.done:,} of {block.total:,}", most)
    said = [fitted(f"  | {told(line)}", most, hang="  | ") for line in block.text.split("\n")]
    lines = [one_line(block.to), *said]
    return "\n".join([*lines, fitted(f"  {one_line(block.foot)}", most, hang="  ")] if block.foot else lines)


def _figures_text(block: Figures, most: int | None) -> str:
    pairs = [(_cell_text(value), one_line(label)) for label, value in block.pairs]
    whole = _columns_text(pairs, ("right", "left"))
    return (
        whole
        if _fits(whole, most)
        else "\n".join(fitted(f"{value}  {label}", most, hang="  ") for value, label in pairs)
    )


def _table_text(block: Table, most: int | None) -> str:
    align = block.align or ("left",) * len(block.columns)
    names = tuple(map(one_line, block.columns))
    rows, footed = [*block.rows, *([block.total] if block.total else [])], bool(block.total)
    drawn = _grid(names, [tuple(map(_cell_text, row)) for row in rows], align, footed=footed)
    if not _fits(drawn, most):
        drawn = _narrow(names, [tuple(map(_short_text, row)) for row in rows], align, most or 0, footed=footed)
    around = (fitted(one_line(block.title), most), drawn, fitted(one_line(block.more), most))
    return "\n".join(part for part in around if part)


def _narrow(names: Sequence[str], rows: list[tuple[str, ...]], align: Sequence[str], most: int, *, footed: bool) -> str:
    """Return a table without its bars, with its widest words over several lines, or with a paragraph for each row."""
    bodies = [max((width(row[n]) for row in rows), default=0) for n in range(len(names))]
    heads = [fitted(name, size) for name, size in zip(names, bodies, strict=True)]
    for wide in sorted(range(len(names)), key=lambda n: -bodies[n]):
        if align[wide] == "left" and bodies[wide] > NARROWEST:
            sizes = _sizes([heads, *rows])
            rest = most - sum(sizes) + sizes[wide] - len(GAP) * (len(sizes) - 1)
            rows = [(*row[:wide], fitted(row[wide], max(rest, NARROWEST)), *row[wide + 1 :]) for row in rows]
    drawn = _grid(heads, rows, align, footed=footed)
    return drawn if _fits(drawn, most) else "\n\n".join(_paragraph(names, row, most) for row in rows)


def _sizes(rows: Sequence[Sequence[str]]) -> list[int]:
    return [max(width(line) for cell in column for line in cell.split("\n")) for column in zip(*rows, strict=True)]


def _paragraph(names: Sequence[str], row: Sequence[str], most: int) -> str:
    """Return one row below each other: its first cell, then the others under their names."""
    first, *others = (cell.replace("\n", " ") for cell in row)
    said = [f"  {name}: {cell}" if name else f"  {cell}" for name, cell in zip(names[1:], others, strict=True) if cell]
    return "\n".join([fitted(first, most, hang="  "), *(fitted(line, most, hang="    ") for line in said)])


def _grid(names: Sequence[str], rows: Sequence[Sequence[str]], align: Sequence[str], *, footed: bool) -> str:
    """Return rows under their names; ``footed`` sets the last one apart."""
    rule = tuple("-" * size for size in _sizes([names, *rows]))
    last = len(rows) - 1 if footed else len(rows)
    body = [line for row in rows[:last] for line in _lines(row)]
    foot = [rule, *(line for row in rows[last:] for line in _lines(row))] if footed else []
    return _columns_text([*_lines(names), rule, *body, *foot], align)


def _lines(row: Sequence[str]) -> list[tuple[str, ...]]:
    """Return a row whose cells have several lines as rows of one line each."""
    cells = [cell.split("\n") for cell in row]
    return [tuple(cell[n] if n < len(cell) else "" for cell in cells) for n in range(max(len(cell) for cell in cells))]


def _columns_text(rows: Sequence[Sequence[str]], align: Sequence[str]) -> str:
    widths = [max(map(width, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        GAP.join(_pad(cell, size, word) for cell, size, word in zip(row, widths, align, strict=True)).rstrip()
        for row in rows
    )


def _pad(text: str, size: int, align: str) -> str:
    space = " " * (size - width(text))
    return space + text if align == "right" else text + space


def _fits(text: str, most: int | None) -> bool:
    return most is None or max(map(width, text.split("\n"))) <= most


def _broken(line: str, most: int, hang: str) -> list[str]:
    """Return one line as several; a word keeps the blanks before it, except at the beginning of a line."""
    found, now = [], ""
    for word in re.findall(r"(?<! ) *[^ ]+", line):
        if now.strip() and width(now) + width(word) > most:
            found.append(now)
            now = hang + word.lstrip(" ")
        else:
            now += word
    return [*found, now]


def _short_text(cell: Cell) -> str:
    return one_line(cell.value) if isinstance(cell, Bar) else _cell_text(cell)


def _cell_text(cell: Cell) -> str:
    if isinstance(cell, Code):
        return one_line(cell.value)
    if isinstance(cell, State):
        return f"{SIGNS[cell.sign]} {one_line(cell.value)}"
    if isinstance(cell, Marked):
        return "".join(one_line(piece) for piece, _ in cell.pieces)
    if isinstance(cell, Bars):
        return " / ".join(one_line(bar.value) for bar in cell.bars)
    if isinstance(cell, Bar):
        return f"{_bar_text(cell):<{_BAR}} {one_line(cell.value)}"
    return one_line(plain_value(cell))


def _bar_text(bar: Bar) -> str:
    """Draw what is there with at least one sign."""
    long = max(round(bar.share * _BAR), int(bar.share > 0))
    sign = "░" if bar.hollow else "▒" if bar.rises else "█"
    return " " * min(round(bar.start * _BAR), _BAR - long) + sign * long


def one_line(text: str) -> str:
    return told(text.replace("\n", " "))
