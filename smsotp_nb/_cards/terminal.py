"""Blocks as text in aligned columns."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from .blocks import SIGNS, Bar, Bars, Block, Cell, Code, Figures, Marked, Meter, Note, State, Table
from .words import plain_value, visible, width


def blocks_text(blocks: Sequence[Block]) -> list[str]:
    """Notes that follow each other stand as one paragraph."""
    runs = groupby(blocks, key=lambda block: isinstance(block, Note))
    drawn = [(notes, [_block_text(block) for block in run]) for notes, run in runs]
    return [text for notes, texts in drawn for text in (["\n".join(texts)] if notes else texts)]


def _block_text(block: Block) -> str:
    if isinstance(block, Figures):
        return _columns_text([(_cell_text(value), one_line(label)) for label, value in block.pairs], ("right", "left"))
    if isinstance(block, Table):
        return _table_text(block)
    if isinstance(block, Note):
        return f"{SIGNS[block.sign]} {one_line(block.text)}"
    if isinstance(block, Meter):
        return f"{one_line(block.label)}: {block.done:,} of {block.total:,}"
    lines = [one_line(block.to), *(f"  | {visible(line)}" for line in block.text.split("\n"))]
    return "\n".join([*lines, f"  {one_line(block.foot)}"] if block.foot else lines)


def _table_text(block: Table) -> str:
    align = block.align or ("left",) * len(block.columns)
    rows = [tuple(_cell_text(cell) for cell in row) for row in block.rows]
    total = [tuple(_cell_text(cell) for cell in block.total)] if block.total else []
    names = tuple(map(one_line, block.columns))
    rule = tuple("-" * max(map(width, column)) for column in zip(names, *rows, *total, strict=True))
    drawn = _columns_text([names, rule, *rows, *([rule] * len(total)), *total], align)
    return "\n".join(part for part in (one_line(block.title), drawn, one_line(block.more)) if part)


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
        return one_line(cell.value)
    if isinstance(cell, State):
        return f"{SIGNS[cell.sign]} {one_line(cell.value)}"
    if isinstance(cell, Marked):
        return "".join(one_line(piece) for piece, _ in cell.pieces)
    if isinstance(cell, Bars):
        return " / ".join(one_line(bar.value) for bar in cell.bars)
    if isinstance(cell, Bar):
        return f"{'█' * max(round(cell.share * 12), int(cell.share > 0)):<12} {one_line(cell.value)}"
    return one_line(plain_value(cell))


def one_line(text: str) -> str:
    return visible(text.replace("\n", " "))
