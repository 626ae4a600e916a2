"""How a text is cut into billed parts: GSM 03.38 or UCS-2, packed greedily.

The service shows no rule for this; what stands here is the usual one and gives an estimate (``wire.NOT_SHOWN``).
A text whose every character is in the GSM alphabet counts septets, any other text UTF-16 units. What does not fit one
part loses room in each to the header that joins the parts. An escaped character and a surrogate pair are two units
and never straddle two parts. National shift tables are not used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._lazy import attributes
from ._parts.packing import Parts, count, split

if TYPE_CHECKING:
    from ._parts.explaining import PLAIN, Explanation, explain, plain
    from ._parts.many import counts

__getattr__ = attributes(
    __name__,
    {
        "_parts.explaining": ["PLAIN", "Explanation", "explain", "plain"],
        "_parts.many": ["counts"],
    },
)
__all__ = ["PLAIN", "Explanation", "Parts", "count", "counts", "explain", "plain", "split"]


def __dir__() -> list[str]:
    return list(__all__)
