"""A list of JSON objects, or one object on each line, as columns of text."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow

from .._foreign.gate import ours, refuse_large
from ..errors import UsageError
from . import encodings, tables
from .tables import TEXT, Part
from .workbook import cell_text


def part(opener: Callable[[], BinaryIO], file: Path) -> Part:
    """Return all objects, counted from 1; their keys are the columns, in the order met.

    Raises:
        UsageError: it is no list of flat objects.
    """
    with opener() as raw:
        content = raw.read()
    with ours(file, "JSON"):
        objects = _objects(content.decode(encodings.marked(content[:4096]) or "utf-8"))
    rows = [it for it in objects if isinstance(it, dict)]
    if len(rows) != len(objects) or not rows:
        raise UsageError(f'{file.name} is no list of JSON objects such as [{{"phone": "+12025550123"}}]')
    names = list(dict.fromkeys(str(name) for row in rows for name in row))
    refuse_large(file, columns=len(names))
    nested = next((name for row in rows for name, cell in row.items() if isinstance(cell, dict | list)), None)
    if nested is not None:
        raise UsageError(
            f"{file.name}: {nested!r} holds lists or objects; write one value for each, or make a frame of it with "
            "pandas.json_normalize"
        )
    texts = [pyarrow.chunked_array([pyarrow.array([cell_text(row.get(name)) for row in rows], TEXT)]) for name in names]
    return tables.of_texts(names, texts, np.arange(1, len(rows) + 1))


def _objects(text: str) -> list[Any]:
    try:
        found = json.loads(text, parse_float=_as_written)
    except json.JSONDecodeError:
        return [json.loads(line, parse_float=_as_written) for line in text.splitlines() if line.strip()]
    if isinstance(found, dict):
        lists = [value for value in found.values() if isinstance(value, list)]
        return lists[0] if len(lists) == 1 and len(found) <= 3 else [found]
    return found if isinstance(found, list) else [found]


def _as_written(number: str) -> float | str:
    """Return a decimal as it is written unless it is a whole number with ``.0``."""
    return float(number) if float(number).is_integer() else number
