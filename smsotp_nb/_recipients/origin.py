"""What a reader decided about a file: kept with the frame, and said where somebody should look."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import pandas as pd

from ..errors import SmsOtpWarning

KEY: Final = "smsotp_nb"
SHOWN: Final = 3


@dataclass(slots=True)
class Origin:
    """Where a frame comes from.

    Attributes:
        facts: ``file``, ``kind``, and where they apply ``sheet``, ``other_sheets`` (those with rows),
            ``header`` (its row in the file, None without one), ``encoding``, ``separator``, ``rows``, ``left_out`` (how
            many rows, by reason), ``columns`` (those that were chosen for numbers and countries, with the reason),
            ``changed_by`` (the arguments that would change what the notes say).
        notes: what somebody should look at, as sentences without the name of the file.
    """

    facts: dict[str, Any]
    notes: list[str] = field(default_factory=list)

    def note(self, words: str, *, argument: str | None = None) -> None:
        """Keep what somebody should look at, with the argument that would change it, and warn of it."""
        self.notes.append(words)
        if argument is not None and argument not in self.facts.setdefault("changed_by", []):
            self.facts["changed_by"].append(argument)
        warnings.warn(f"{called(self.facts)}: {words}", SmsOtpWarning, stacklevel=6)

    def left_out(self, reason: str, rows: int) -> None:
        left = self.facts.setdefault("left_out", {})
        left[reason] = left.get(reason, 0) + rows

    def as_attrs(self, rows: int) -> dict[str, Any]:
        """Return it as plain values: pandas copies them with a frame, and pickle and Parquet keep them."""
        return {KEY: {**self.facts, "rows": rows, "notes": list(self.notes)}}


def source_of(table: pd.DataFrame | pd.Series[Any], *used: object) -> dict[str, Any]:
    """Return what the reader of a table decided; nothing where it was not read here, or pandas lost it.

    Where other columns are ``used`` than those that were chosen, why these were chosen is left out.
    """
    found = table.attrs.get(KEY)
    source = dict(found) if isinstance(found, dict) and "file" in found else {}
    if used and "columns" in source:
        source["columns"] = {name: why for name, why in source["columns"].items() if name in used}
    return source


def add_columns(table: pd.DataFrame, chosen: Mapping[str, str]) -> None:
    """Keep which columns were chosen, and why, where the reader of a table has left its record."""
    if source := source_of(table):
        table.attrs[KEY] = source | {"columns": dict(chosen)}


def called(source: Mapping[str, Any]) -> str:
    """Return the name of a file, with the sheet of a workbook."""
    sheet = source.get("sheet")
    return f"{source['file']}, sheet {sheet!r}" if sheet else str(source["file"])


def in_words(source: Mapping[str, Any]) -> str:
    """Say in one line how a file was read.

    Example:
        >>> in_words({"file": "list.csv", "encoding": "cp1252", "separator": ";", "header": None})
        "Read from list.csv: cp1252, ';' between cells; no header."
    """
    facts = [f"{source['encoding']}, {source['separator']!r} between cells"] if "separator" in source else []
    if "header" in source:
        facts.append("no header" if source["header"] is None else f"header in row {source['header']}")
    left = [f"{rows:,} {reason}" for reason, rows in source.get("left_out", {}).items()]
    facts += [f"rows left out: {', '.join(left)}"] if left else []
    chosen = [f"{name!r} ({why})" for name, why in source.get("columns", {}).items()]
    facts += [f"columns chosen: {', '.join(chosen)}"] if chosen else []
    return f"Read from {called(source)}{': ' * bool(facts)}{'; '.join(facts)}."


def listed(what: str, which: list[Any]) -> str:
    """Return the first few of many in words: ``rows 3, 4, 9, ...``."""
    more = ", ..." if len(which) > SHOWN else ""
    return f"{what}{'s' if len(which) > 1 else ''} {', '.join(map(str, which[:SHOWN]))}{more}"
