"""Read what people write in a country column: ``de``, ``UK``, ``DEU``, ``Deutschland``, ``+49``, each with its note."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from ..._calling import given
from ..._pandas import texts
from ...errors import UsageError
from ..countries import calling_code, countries, main_region
from ..vocabulary import NOTE_BIT, Bits
from .country_names import flag, named, pieces, region_of_locale

Flags = npt.NDArray[np.bool_]

# in general use beside ISO 3166: EL in documents of the EU, D on cars and in addresses
CUSTOMARY: Final = {"UK": "GB", "EL": "GR", "D": "DE"}
BLANK: Final = frozenset({"", "nan", "none", "null", "nil", "nat", "<na>", "n/a", "#n/a", "-"})  # but NA is Namibia
CALLING_CODE: Final = re.compile(r"\A(?:\+|00)?\s*+([1-9]\d{0,2})(?:\.0)?")
DIGIT: Final = re.compile(r"\d")
LONGEST: Final = 200  # characters: the time to normalize a text grows with the square of its length
POINTS: Final = re.compile(r"\A(?:[A-Za-z]\.\s?)+[A-Za-z]\.?")

# Parts of countries whose two letters are countries too: CA is California and Canada. By country.
PARTS: Final = {
    country: frozenset(codes.split())
    for country, codes in {
        "US": "AL AK AZ AR CA CO CT DE FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT NE NV NH NJ NM NY NC ND "
        "OH OK OR PA RI SC SD TN TX UT VT VA WA WV WI WY DC PR",
        "CA": "AB BC MB NB NL NS NT NU ON PE QC SK YT",
        "BR": "AC AL AM AP BA CE DF ES GO MA MG MS MT PA PB PE PI PR RJ RN RO RR RS SC SE SP TO",
        "AU": "NSW VIC QLD SA WA TAS ACT NT",
        "IN": "AN AP AR AS BR CG CH CT DL DN DD GA GJ HP HR JH JK KA KL LA LD MH ML MN MP MZ NL OD OR PB PY RJ SK TG "
        "TN TR TS UK UP UT WB",
        "DE": "BW BY BE BB HB HH HE MV NI NW RP SL SN ST SH TH",
        "CH": "AG AI AR BE BL BS FR GE GL GR JU LU NE NW OW SG SH SO SZ TG TI UR VD VS ZG ZH",
        "IT": "AG AL AN AO AP AQ AR AT AV BA BG BI BL BN BO BR BS BT BZ CA CB CE CH CL CN CO CR CS CT CZ EN FC "
        "FE FG FI FM FR GE GO GR IM IS KR LC LE LI LO LT LU MB MC ME MI MN MO MS MT NA NO NU OR PA PC PD "
        "PE PG PI PN PO PR PT PU PV PZ RA RC RE RG RI RM RN RO SA SI SO SP SR SS SU SV TA TE TN TO TP TR "
        "TS TV UD VA VB VC VE VI VR VT VV",
    }.items()
}
TELLING: Final = 0.05  # share of cells that are such a part and no country, from which a column is one of parts


@dataclass(frozen=True, slots=True)
class Regions:
    """A country for each row, kept once for each different cell.

    Attributes:
        cell: which cell a row has; the last one is the missing one.
        where: of each cell, which of ``names``; -1 where blank or not understood.
        names: the alpha-2 codes that occur.
        said: of each cell, its note (``""``: none).
        of_parts: the column is one of states or provinces.
    """

    cell: npt.NDArray[np.int32]
    where: npt.NDArray[np.int32]
    names: tuple[str, ...]
    said: tuple[str, ...]
    of_parts: bool = False

    @property
    def place(self) -> npt.NDArray[np.int32]:
        """The position in ``names`` of each row's country, -1 for none."""
        return self.where.take(self.cell)

    @property
    def notes(self) -> Bits:
        """The note bits of each row."""
        return np.array([NOTE_BIT.get(note, 0) for note in self.said], np.uint32).take(self.cell)

    @property
    def unknown(self) -> Flags:
        """A mask of the rows whose cell is not understood."""
        return self._says("REGION_UNKNOWN")

    @property
    def coded(self) -> Flags:
        """A mask of the rows whose cell is a calling code, which several countries may share."""
        return self._says("REGION_CALLING_CODE")

    def _says(self, note: str) -> Flags:
        return np.array([said == note for said in self.said], bool).take(self.cell)

    def part(self, rows: Any) -> Regions:
        return Regions(self.cell[rows], self.where, self.names, self.said, self.of_parts)


def nowhere(size: int) -> Regions:
    """Return the regions of numbers without a country column: none."""
    return Regions(np.zeros(size, np.int32), np.full(1, -1, np.int32), (), ("",))


def read(cells: pd.Series, *, of_parts: bool | None = None) -> Regions:
    """Read a column of region cells; each distinct cell is read once.

    If the column holds states or provinces, no cell of it is read as a country. For a part of a column, ``of_parts``
    says whether that is so.

    Example:
        >>> read(pd.Series(["de", "UK", "Namibia", "Atlantis", "+49"])).place.tolist()
        [0, 1, 2, -1, 0]
        >>> read(pd.Series(["CA", "NY", "DE", "TX"])).unknown.tolist()
        [True, True, True, True]
    """
    place, words = _numbered(texts(cells))
    times = np.bincount(place[place >= 0], minlength=len(words)).tolist()
    read_as, of_parts = of_words(dict(zip(words, times, strict=True)), of_parts=of_parts)
    readings = list(read_as.values())
    names = tuple(dict.fromkeys(code for code, _ in readings if code))
    at = {name: number for number, name in enumerate(names)}
    where = np.array([*(at[code] if code else -1 for code, _ in readings), -1], np.int32)
    cell = np.where(place < 0, len(words), place).astype(np.int32)
    return Regions(cell, where, names, (*(note for _, note in readings), ""), of_parts)


def of_words(times: dict[str, int], *, of_parts: bool | None) -> tuple[dict[str, tuple[str | None, str]], bool]:
    """Read each distinct cell of a column, given how often it occurs; say also whether they are states."""
    if of_parts is None:
        of_parts = parts_of(times) is not None
    unless = 2 if of_parts else -1
    return {word: (None, "REGION_UNKNOWN") if len(word.strip()) == unless else one(word) for word in times}, of_parts


def _numbered(cells: pd.Series) -> tuple[npt.NDArray[np.int32], list[str]]:
    """Number the distinct cells of a text column in the order met, -1 for a missing one."""
    column = pa.array(cells, pa.large_string(), from_pandas=True)
    found = pc.dictionary_encode(column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column]))
    pieces = [piece.indices.fill_null(-1).to_numpy() for piece in found.chunks]  # all have one dictionary
    if not pieces:
        return np.zeros(0, np.int32), []
    return np.concatenate(pieces), found.chunk(0).dictionary.to_pylist()


def parts_of(times: dict[str, int]) -> str | None:
    """Return the country whose states or provinces a column holds; None where its cells are countries.

    Such a column has cells that are a part of that country and no country themselves (NY, TX), and more of these than
    cells that are countries and no part of it.

    Example:
        >>> parts_of({"CA": 5, "NY": 3, "TX": 3}), parts_of({"CA": 5, "US": 3, "DE": 3})
        ('US', None)
    """
    filled = [(word.strip().upper(), count) for word, count in times.items() if word.strip()]
    foreign = {word for word, _ in filled if one(word)[0] is None}
    for country, parts in PARTS.items():
        only_part = sum(count for word, count in filled if word in parts and word in foreign)
        no_part = sum(count for word, count in filled if word not in parts and word not in foreign)
        if only_part >= 2 and only_part >= TELLING * sum(count for _, count in filled) and only_part > no_part:
            return country
    return None


def states_in(words: set[str]) -> str | None:
    """Return the country of which all cells of a column are states; None where one is not, or there are none.

    Example:
        >>> states_in({"ar", "co"}), states_in({"ar", "gb"})
        ('US', None)
    """
    codes = {word.strip().upper() for word in words}
    return next((country for country, parts in PARTS.items() if codes and codes <= parts), None)


def one(cell: str) -> tuple[str | None, str]:
    """Return the alpha-2 code of one cell and the note that goes with the reading (``""`` for a plain code).

    Example:
        >>> one("Deutschland"), one("DE"), one("nan"), one("Atlantis")
        (('DE', 'REGION_NAME'), ('DE', ''), (None, ''), (None, 'REGION_UNKNOWN'))
        >>> one("U.S.A."), one("D"), one("0049")
        (('US', 'REGION_ALPHA3'), ('DE', 'REGION_ALIAS'), ('DE', 'REGION_CALLING_CODE'))
        >>> one("日本")[0], one("UK (+44)")[0], one("en-US")[0], one("Germany / France")[0], one("Swiss")[0]
        ('JP', 'GB', 'US', None, 'CH')
    """
    word = cell.strip()
    if len(word) > LONGEST:
        return None, "REGION_UNKNOWN"
    if word.casefold() in BLANK:
        return None, ""
    if POINTS.fullmatch(word):
        word = re.sub(r"[.\s]", "", word)
    if word in countries():
        return word, "" if word == cell.strip() else "REGION_ALIAS"
    upper = word.upper()
    if upper in countries():
        return upper, "REGION_CASE"
    if upper in CUSTOMARY:
        return CUSTOMARY[upper], "REGION_ALIAS"
    if upper in _by_alpha3():
        return _by_alpha3()[upper], "REGION_ALPHA3"
    code = CALLING_CODE.fullmatch(word)
    if code:
        region = main_region(int(code[1]))
        return (region, "REGION_CALLING_CODE") if region else (None, "REGION_UNKNOWN")
    if told := flag(word) or region_of_locale(word):
        return told, "REGION_ALIAS"
    if not DIGIT.search(word) and (region := named(word)):
        return region, "REGION_NAME"
    return _agreed(pieces(word))


def _agreed(said: list[str]) -> tuple[str | None, str]:
    """Return the country that all pieces of a cell name; a calling code need not tell which of those that share it."""
    named = {region for piece in said if not CALLING_CODE.fullmatch(piece) for region in (one(piece)[0],)}
    codes = [code[1] for piece in said if (code := CALLING_CODE.fullmatch(piece))]
    region = named.pop() if len(named) == 1 else None
    if region is None or not all(calling_code(region) == code for code in codes):
        return None, "REGION_UNKNOWN"
    return region, "REGION_NAME"


def country_code(cell: str) -> str | None:
    """Return the alpha-2 code of a country however it is written; None for a calling code, which several may share.

    Example:
        >>> country_code("UK"), country_code("Niemcy"), country_code("+1")
        ('GB', 'DE', None)
    """
    return None if CALLING_CODE.fullmatch(cell.strip()) else one(cell)[0]


def default(code: str | None) -> str | None:
    """Read the ``default_region`` argument; a code nobody knows is an error of the call."""
    if code is None:
        return None
    read_as, note = one(code) if isinstance(code, str) else (None, "REGION_UNKNOWN")
    if read_as is None or note == "REGION_UNKNOWN":
        column = "; a column of countries is region=" if hasattr(code, "dtype") else ""
        raise UsageError(
            f"default_region={given(code)} is not a country; pass an ISO code such as 'DE' or 'US'{column}"
        )
    return read_as


@cache
def _by_alpha3() -> dict[str, str]:
    return {country.alpha3: country.alpha2 for country in countries().values() if country.alpha3}
