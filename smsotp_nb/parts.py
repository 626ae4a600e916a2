"""How a text is split into billed parts: GSM 03.38 or UCS-2, packed greedily.

The service states no rule for this. The usual one is used here and gives an estimate. If every character of a text is
in the GSM alphabet, its length is counted in septets, otherwise in UTF-16 units. A text that does not fit into one part
loses some room in each part to a header that joins them. An escaped character and a surrogate pair take two units and
are never split across parts. National shift tables are not used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._lazy import attributes
from ._parts import Parts, count, split

if TYPE_CHECKING:
    from ._parts import PLAIN, Explanation, counts, explain, plain

__getattr__ = attributes(__name__, {"_parts": ["PLAIN", "Explanation", "counts", "explain", "plain"]})
__all__ = ["PLAIN", "Explanation", "Parts", "count", "counts", "explain", "plain", "split"]


def __dir__() -> list[str]:
    return list(__all__)
