"""How a text is cut into billed parts; the public face is `smsotp_nb.parts`, and other rooms import from here.

``packing`` counts one text, ``many`` a column of them, ``explaining`` says which characters force the dearer encoding.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._lazy import attributes
from .packing import GSM, GSM_EXTENSION, Parts, count, split

if TYPE_CHECKING:
    from .explaining import PLAIN, Explanation, explain, plain
    from .many import Measures, counts, forcing, measure

# A sandbox counts the parts of one text and starts without numpy.
__getattr__ = attributes(
    __name__,
    {"explaining": ["PLAIN", "Explanation", "explain", "plain"], "many": ["Measures", "counts", "forcing", "measure"]},
)
