"""Find all columns of numbers of a list in which each number of a person counts, such as one of people who said no."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from .._calling import refuse
from .._showing import cited
from .._warnings import warn_user
from .cells import regions
from .cells import text as cells
from .columns import (
    AMOUNT,
    COUNTRY_NAMED,
    COUNTRY_OF_ELSE,
    DAY,
    DECIMAL,
    DOTTED_QUAD,
    ENOUGH,
    NAMED,
    NAMED_OTHERWISE,
    NEARLY_ALL,
    NEVER_NUMBERS,
    OF_OTHERS,
    OF_TIME,
    PERHAPS_NAMED,
    SAYING_NO,
    SEVEN_DIGITS,
    WITH_PLUS,
    WRITTEN,
    Column,
    sample_of,
    share_of,
    words_of,
)
from .fast.memory import Mask
from .judging.judgement import normalize

FAX: Final = re.compile(r"(?:tele)?-?fa(?:x|ks)", re.IGNORECASE)
NO_NUMBER: Final = f"{DAY}|{AMOUNT}|{DECIMAL}|{DOTTED_QUAD}"
EPOCH: Final = r"^\s*1[5-9][0-9]{8}(?:[0-9]{3})?(?:[.]0)?\s*$"  # a moment as seconds or milliseconds
OF_DAY: Final = re.compile(r"\bday\b|\btag\b", re.IGNORECASE)


class OwnColumns(NamedTuple):
    """The columns of numbers of a list, those of countries, and those that may hold numbers, with the reason."""

    numbers: list[Any]
    countries: list[Any]
    doubtful: dict[Any, str]


def own_columns(frame: pd.DataFrame, default_region: str | None, region: Any = None) -> OwnColumns:
    """Return all columns of numbers of a row's own person, whatever their names say of them, and all named and read as
    countries: for a list in which each number of a person counts.

    Under a name of phones one cell with seven digits is enough; under another one most cells have to read as numbers,
    by the country that ``region`` has, those of the list or the default one. What remains in doubt is told, and so are
    columns that may be somebody else's by their name.

    Example:
        >>> own_columns(pd.DataFrame({"phone": ["+14155550100"], "Work": ["(415) 555-0101"], "Land": "US"}), None)
        OwnColumns(numbers=['phone', 'Work'], countries=['Land'], doubtful={})
    """
    frame = frame.reset_index(drop=True)
    found = OwnColumns([], [], {})
    columns: dict[Any, Column] = {}
    for place, label in enumerate(frame.columns):
        name = words_of(str(label))
        if list(frame.columns).count(label) > 1:
            refuse(
                f"several columns of the list are called {cited(label)}; rename them" if NAMED.search(name) else None
            )
            continue
        columns[label] = it = Column.of(name, sample_of(frame.iloc[:, place].dropna()))
        if it.telling and it.share >= ENOUGH:
            found.countries.append(label)
    sides = [None, *found.countries] if region is None else [region]
    for label, it in columns.items():
        name = words_of(str(label))
        if label in (*found.countries, region):
            continue
        counts, doubt = _reads_as_numbers(it, name, frame, label, sides, default_region)
        if counts:
            found.numbers.append(label)
        if doubt:
            found.doubtful[label] = doubt
    return found


def _reads_as_numbers(
    it: Column, name: str, frame: pd.DataFrame, label: Any, countries: list[Any], default_region: str | None
) -> tuple[bool, str | None]:
    """Return whether a column counts as one of numbers, and why it is in doubt whether all that it holds was read."""
    own = FAX.sub("phone", SAYING_NO.sub(" ", name))
    named, others = NAMED.search(own), OF_OTHERS.search(name)
    of_time = OF_TIME.search(own) or OF_DAY.search(own)
    of_else = NEVER_NUMBERS.search(own) or of_time or (NAMED_OTHERWISE.search(own) and not named)
    if named and not of_else and not others:
        text = cells.read(frame[label].dropna()).text
        return bool((cells.matches(text, SEVEN_DIGITS) & ~cells.matches(text, DAY)).any()), None
    if any(
        share_of(it.text, pattern) >= share
        for pattern, share in (
            (DAY, NEARLY_ALL),
            (EPOCH, NEARLY_ALL),
            (AMOUNT, ENOUGH),
            (DECIMAL, ENOUGH),
            (DOTTED_QUAD, ENOUGH),
        )
    ):
        return False, None
    possible = cells.matches(it.text, SEVEN_DIGITS) & ~cells.matches(it.text, DAY)
    written = possible & cells.matches(it.text, WRITTEN)
    if not possible.any() or (of_else and not named and not written.any()):
        return False, None
    filled, placed, as_number, mobile = _read(it, frame, countries, default_region)
    as_number &= possible
    # Bare digits under another name than one of numbers may be anything but a mobile's.
    sure = as_number if PERHAPS_NAMED.search(name) else as_number & (written | mobile)
    many = max(int(filled.sum()), 1)
    most = sure.sum() >= ENOUGH * many
    if others:
        return False, "its name may speak of somebody else" if most else None
    if of_else and not named and share_of(it.text, WITH_PLUS) < ENOUGH:
        like_phones = most and (sure & written).sum() * 2 >= sure.sum()
        return False, "its name speaks of something else" if like_phones else None
    if most:
        return True, None
    long = written | cells.matches(it.text, r"^[0-9]{9,15}(?:[.]0)?$")
    if (possible & ~placed & long).sum() * 2 >= many:
        return bool(sure.any()), "their country is not known"
    if (sure & written).any():
        return False, "most of its cells are no numbers"
    return False, "its numbers are of landlines" if as_number.sum() >= NEARLY_ALL * many else None


def _read(
    it: Column, frame: pd.DataFrame, countries: list[Any], default_region: str | None
) -> tuple[Mask, Mask, Mask, Mask]:
    """Return which cells are filled, have a country, are numbers by any of these countries, and of a mobile."""
    sides = [None if one is None else frame[one].loc[it.cells.index] for one in countries]
    judged = [normalize(it.cells, region=side, default_region=default_region) for side in sides]
    filled, placed = (judged[0]["problem"].ne(code).to_numpy(bool) for code in ("MISSING", "REGION_MISSING"))
    judged.append(normalize(international(it.cells)))
    several = [one["problem"].isin(["MULTIPLE_NUMBERS", "NOTE_SAYS_NO"]).to_numpy(bool) for one in judged]
    typed = [one["type"].notna().to_numpy(bool) for one in judged]
    mobile = [one["type"].isin(["MOBILE", "FIXED_LINE_OR_MOBILE"]).to_numpy(bool) for one in judged]
    return filled, placed, np.any([*typed, *several], axis=0), np.any(mobile, axis=0)


def named_countries(names: Iterable[Any]) -> list[Any]:
    """Return the names that say that a column holds countries, and not those of a birth or a bill."""
    each = [(name, words_of(str(name))) for name in names]
    return [name for name, words in each if COUNTRY_NAMED.search(words) and not COUNTRY_OF_ELSE.search(words)]


def by_another_country(
    countries: pd.Series, phones: pd.Series, judged: pd.DataFrame, **how: Any
) -> npt.NDArray[np.intp]:
    """Return the places of numbers, judged by a default country alone, that are other valid ones by these countries."""
    known = regions.read(cells.read(countries).text)
    there = np.array([*known.names, None], object)[known.place]
    elsewhere = pd.notna(there) & (there != judged["region"].to_numpy(object))
    rows = np.flatnonzero(judged["to"].notna().to_numpy() & elsewhere)
    to = normalize(phones.iloc[rows], region=countries.iloc[rows], **how)["to"]
    found: npt.NDArray[np.intp] = rows[to.notna().to_numpy() & (to.to_numpy() != judged["to"].iloc[rows].to_numpy())]
    return found


def international(column: pd.Series, *, least: int = 11) -> pd.Series:
    """Return bare digits that are as long as a number with its calling code with the plus they lack, else missing."""
    digits = cells.read(column).text.str.strip().str.extract(r"^([1-9][0-9]{6,14})(?:\.0)?$", expand=False)
    plus: pd.Series = "+" + digits.where(digits.str.len() >= least)
    return plus.set_axis(column.index)


def may_be_numbers(frame: pd.DataFrame) -> list[Any]:
    """Return the columns in which a cell has seven digits and is no day or amount."""
    texts = {label: cells.read(frame[label].dropna()).text for label in frame.columns}
    return [
        label
        for label, text in texts.items()
        if (cells.matches(text, SEVEN_DIGITS) & ~cells.matches(text, NO_NUMBER)).any()
    ]


def warn_of_doubtful(doubtful: dict[Any, str], where: str = "") -> None:
    """Warn of the columns of a list of people who said no that may hold numbers of theirs and do not count."""
    if doubtful:
        columns = ", ".join(f"{cited(name)} ({why})" for name, why in doubtful.items())
        warn_user(
            f"columns of the list{where} may hold numbers that do not count: {columns}. Name default_region= or a "
            "column of countries, call a column of numbers 'phone 2', or leave out what holds none"
        )
