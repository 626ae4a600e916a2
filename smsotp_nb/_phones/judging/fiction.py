"""Numbers that regulators keep free for films, books and samples: valid by their plan, and nobody's.

Sources: the North American numbering administrator (555-0100 to 555-0199), Ofcom, Arcep, the Australian regulator,
the Swedish regulator and the German one. Only ranges that can be valid are of interest here.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from .work import matching

RANGES: Final = (
    r"1[2-9][0-9]{2}55501[0-9]{2}",  # any North American area code
    r"447700900[0-9]{3}|44(?:11[3-8]|1[2-6]1)4960[0-9]{3}|441914980[0-9]{3}|442079460[0-9]{3}|441632960[0-9]{3}",
    r"442896496[0-9]{3}|442920180[0-9]{3}|448081570[0-9]{3}|449098790[0-9]{3}|443069990[0-9]{3}",
    r"33(?:19900|26191|35301|46571|53649|63998)[0-9]{4}",
    r"61491570(?:006|110|15[6-9]|313|737)|61491571(?:266|491|804)|61491572(?:549|665|983)|61[2378](?:5550|7010)[0-9]{4}",
    r"46701740(?:60[5-9]|6[1-9][0-9])|463139006[0-9]{2}|464062804[0-9]{2}|468465004[0-9]{2}|469803192[0-9]{2}",
    r"493023125[0-9]{3}|496990009[0-9]{3}|494066969[0-9]{3}|492214710[0-9]{3}|498999998[0-9]{3}|491713920[0-9]{3}",
)
PATTERN: Final = r"^\+(?:" + "|".join(RANGES) + r")$"


CALLING_CODES: Final = (1, 33, 44, 46, 49, 61)
HAS_SOME: Final = np.isin(np.arange(1001), CALLING_CODES)  # by calling code; the last one is for none


def reserved(e164: pa.Array, asked: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Return which numbers of a column are reserved for fiction, of those that may be asked about.

    Example:
        >>> reserved(pa.array(["+14155550100", "+33199001234", None]), np.array([True, True, False])).tolist()
        [True, True, False]
    """
    rows = np.flatnonzero(asked)
    flags = np.zeros(len(asked), bool)
    flags[matching(e164, rows, PATTERN)] = True
    return flags
