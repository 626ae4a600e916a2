"""Read what people write in a country column: ``de``, ``UK``, ``DEU``, ``Germany`` - each reading with its note."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np
import pandas as pd

from ..errors import UsageError
from .lookup import countries
from .vocabulary import NOTE_BIT, Bits

CUSTOMARY: Final = {"UK": "GB", "EL": "GR"}  # in general use beside ISO 3166, the second one in EU documents


@dataclass(frozen=True, slots=True)
class Regions:
    """Alpha-2 codes (``str``, missing where blank or not understood), note bits, and the cells not understood."""

    code: pd.Series
    notes: Bits
    unknown: np.ndarray[tuple[int], np.dtype[np.bool_]]


def read(cells: pd.Series) -> Regions:
    """Read a column of region cells; each distinct cell is read once.

    Example:
        >>> read(pd.Series(["de", "UK", "Namibia", "Atlantis"])).code.tolist()
        ['DE', 'GB', 'NA', nan]
    """
    place, distinct = pd.factorize(cells.astype("str"), use_na_sentinel=True)
    readings = [one(str(cell)) for cell in distinct]
    codes = pd.Series([code for code, _ in readings] + [None], dtype="str")
    notes = np.array([NOTE_BIT.get(note, 0) for _, note in readings] + [0], dtype=np.uint32)
    unknown = np.array([note == "REGION_UNKNOWN" for _, note in readings] + [False], dtype=bool)
    return Regions(codes.take(place).reset_index(drop=True), notes[place], unknown[place])


def one(cell: str) -> tuple[str | None, str]:
    """Return the alpha-2 code of one cell and the note that goes with the reading (``""`` for a plain code).

    Example:
        >>> one("Deutschland"), one("DE"), one(" "), one("Atlantis")
        (('DE', 'REGION_NAME'), ('DE', ''), (None, ''), (None, 'REGION_UNKNOWN'))
    """
    word = cell.strip()
    if not word:
        return None, ""
    if word in countries():
        return word, ""
    upper = word.upper()
    if upper in countries():
        return upper, "REGION_CASE"
    if upper in CUSTOMARY:
        return CUSTOMARY[upper], "REGION_ALIAS"
    if upper in _by_alpha3():
        return _by_alpha3()[upper], "REGION_ALPHA3"
    code = _by_name().get(_plain(word))
    return (code, "REGION_NAME") if code else (None, "REGION_UNKNOWN")


def default(code: str | None) -> str | None:
    """Read the ``default_region`` argument; a code nobody knows is an error of the call.

    Example:
        >>> default("uk")
        'GB'
    """
    if code is None:
        return None
    read_as, note = one(code)
    if read_as is None or note == "REGION_UNKNOWN":
        raise UsageError(f"default_region={code!r} is no country; give an ISO code such as 'DE' or 'US'")
    return read_as


@cache
def _by_alpha3() -> dict[str, str]:
    return {country.alpha3: country.alpha2 for country in countries().values() if country.alpha3}


@cache
def _by_name() -> dict[str, str]:
    return {_plain(name): code for code, it in countries().items() for name in (it.name, *it.aliases)}


def _plain(name: str) -> str:
    """Letters only, in lower case, without accents: "St. Lucia" and "saint lucia" meet as saintlucia."""
    text = unicodedata.normalize("NFKD", name).casefold().replace("&", " and ")
    words = re.findall(r"[a-z]+", "".join(sign for sign in text if not unicodedata.combining(sign)))
    words = ["saint" if word == "st" else word for word in words]
    return "".join(words[1:] if words[:1] == ["the"] else words)
