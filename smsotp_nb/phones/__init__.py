"""Phone numbers to E.164, with a reason for every row that fails."""

from __future__ import annotations

from . import lookup

__all__ = ["lookup"]
