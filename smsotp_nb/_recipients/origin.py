"""What a reader decided about a file: kept with the frame, and said where somebody should look."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any, Final

from ..errors import SmsOtpWarning

KEY: Final = "smsotp_nb"
SHOWN: Final = 3


@dataclass(slots=True)
class Origin:
    """Where a frame comes from.

    Attributes:
        facts: ``file``, ``kind``, and where they apply ``sheet``, ``header`` (its row in the file, None without one),
            ``encoding``, ``separator``, ``rows``, ``left_out`` (how many rows, by reason).
        notes: what somebody should look at, as sentences without the name of the file.
    """

    facts: dict[str, Any]
    notes: list[str] = field(default_factory=list)

    @property
    def named(self) -> str:
        """The file, and the sheet of a workbook."""
        sheet = self.facts.get("sheet")
        return f"{self.facts['file']}, sheet {sheet!r}" if sheet else str(self.facts["file"])

    def note(self, words: str) -> None:
        """Keep what somebody should look at, and warn of it."""
        self.notes.append(words)
        warnings.warn(f"{self.named}: {words}", SmsOtpWarning, stacklevel=6)

    def left_out(self, reason: str, rows: int) -> None:
        left = self.facts.setdefault("left_out", {})
        left[reason] = left.get(reason, 0) + rows

    def as_attrs(self, rows: int) -> dict[str, Any]:
        """Return it as plain values: pandas copies them with a frame, and pickle and Parquet keep them."""
        return {KEY: {**self.facts, "rows": rows, "notes": list(self.notes)}}


def listed(what: str, which: list[Any]) -> str:
    """Return the first few of many in words: ``rows 3, 4, 9, ...``."""
    more = ", ..." if len(which) > SHOWN else ""
    return f"{what}{'s' if len(which) > 1 else ''} {', '.join(map(str, which[:SHOWN]))}{more}"
