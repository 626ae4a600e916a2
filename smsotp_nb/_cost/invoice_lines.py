"""The lines of a provider's invoice: read, whatever it calls its columns and however it writes times and amounts."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import pandas as pd

from .. import _dates as dates
from .._calling import given
from .._cards import counted
from .._dates import Written
from .._pandas import STR
from .._pandas import texts as texts_of
from .._phones.cells.regions import one as country_of
from .._showing import cited
from .._showing import label as called
from .._warnings import warn_user
from ..columns import absent, listed
from ..errors import UsageError
from .invoice_columns import NAMES, amounts, by_numbers, currencies, currency_in, found_columns
from .invoice_periods import periods_of
from .invoice_special import by_amounts, special_of, special_words

FIELDS: Final = ("id", "to", "at", "parts", "price", "currency")
NAMEABLE: Final = (*FIELDS, "messages", "country", "kind")
_LEAST_DIGITS: Final = 5  # of a number
_LONGEST: Final = 40  # characters of a cell
_CLOCK: Final = r"\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?: ?[AaPp][Mm])?"
_EXPECTED: Final = {
    "price": "a number such as 0.0075",
    **dict.fromkeys(("parts", "messages"), "a whole number"),
    "at": "a time such as 2026-11-23 14:05, or a day such as 2026-11-23,",
}
_SHEET: Final = (20_000, 80_000)  # days since 1899: 1954 to 2119
_EPOCHS: Final = ("seconds", "milliseconds", "microseconds", "nanoseconds")
_SINCE, _TILL = 1_000_000_000, 4_000_000_000  # seconds since 1970: 2001 to 2096
_AN_ID: Final = 8  # characters
_EXACT: Final = 6  # decimal places of what is recorded
_MOST: Final = 0.9  # of the amounts that show what is true of a file
_WHOLE: Final = 1e-6  # as near as a number that a file computed is to a whole one
_HALF: Final = 0.5 + 1e-6
_ROUNDINGS: Final[dict[str, Callable[[pd.Series], pd.Series]]] = {
    "rounded": lambda apart: apart.abs().le(_HALF),
    "rounded up": lambda apart: apart.between(-1e-6, 1 + 1e-6),
    "cut off": lambda apart: apart.between(-1 - 1e-6, 1e-6),
}
_SCALES: Final = {
    10.0: "10 times",
    100.0: "100 times",
    1000.0: "1,000 times",
    0.1: "a tenth of",
    0.01: "a hundredth of",
}
KINDS: Final = {
    "passcode": re.compile(r"passcode|\botp\b|verif|2fa|\bauth|one.?time|\bcodes?\b", re.IGNORECASE),
    "test": re.compile(r"\btests?\b", re.IGNORECASE),
}


@dataclass(slots=True)
class Invoice:
    """An invoice as read.

    ``lines`` has `FIELDS` and ``messages`` (Int64), ``country, kind, special`` (str), ``until`` (datetime64[us, UTC])
    and ``dated`` (bool: a day and no time, ``at`` is its beginning). ``found`` has the column of each field,
    ``places`` the most decimal places of a price, and ``notes`` what was concluded from the file.
    """

    lines: pd.DataFrame
    found: Mapping[str, Hashable]
    places: int
    notes: list[str] = field(default_factory=list)
    is_rounded: bool = False
    is_scaled: bool = False  # in another unit, such as cents
    _way: str = ""

    @property
    def may_be_totals(self) -> bool:
        """Return whether its lines may be totals, if none of their ids is known; the number of a line is none."""
        named, ids = {*self.found}, self.lines.loc[self.lines["special"].isna(), "id"].dropna()
        short = bool(ids.str.len().lt(_AN_ID).all())
        return "to" not in named and (
            "messages" in named or "id" not in named or (short and bool({"at", "country"} & named))
        )

    def conclude_of_prices(
        self, theirs: pd.Series, ours: pd.Series, several: pd.Series | int = 1, *, least: int = 2
    ) -> None:
        """Find out of amounts side by side whether the whole file rounds, or has another unit, and note it.

        ``several`` is how many amounts each of theirs is the sum of; it takes ``least`` amounts to show anything.
        """
        both = pd.DataFrame(
            {"theirs": theirs.array, "ours": ours.array, "several": np.broadcast_to(several, len(theirs))}
        )
        both = both.dropna().astype("float64")
        unit = 10.0**-self.places
        finer = both[((both["ours"] / unit).round(6) % 1 != 0)] if self.places < _EXACT else both.iloc[:0]
        apart = (finer["theirs"] - finer["ours"]) / (unit * finer["several"])
        for way, fits in _ROUNDINGS.items():
            if len(finer) >= least and self.places >= 1 and fits(apart).mean() >= _MOST:
                self.is_rounded, self._way = True, way
                self.notes.append(
                    f"Its amounts look {way} to {counted(self.places, 'decimal place')}; where that is all the "
                    "difference to the exact ones, they agree."
                )
                return
        ratio = (both["theirs"] / both["ours"].where(both["ours"] > 0)).dropna()
        for factor, said in _SCALES.items():
            if len(ratio) >= least and (ratio / factor - 1).abs().lt(1e-6).mean() >= _MOST:
                self.is_scaled = True
                cents = ", as if they were cents" if factor == 100 else ""
                self.notes.append(
                    f"Its amounts are {said} the recorded ones{cents}. If they are, divide the column "
                    f"{self.found.get('price', 'price')!r} by {factor:g} and compare again."
                )

    def is_coarser_than(self, recorded: pd.Series) -> bool:
        """Return whether recorded amounts have more decimal places than any of the file, so that it may round."""
        return bool(((recorded.dropna() / 10.0**-self.places).round(6) % 1 != 0).any())

    def agrees(self, theirs: pd.Series, ours: pd.Series, several: pd.Series | int = 1) -> pd.Series:
        """Say where amounts are the same, but for the rounding of the file."""
        same = (theirs * 1_000_000).round().eq((ours * 1_000_000).round())
        if not self.is_rounded:
            return same
        apart = (theirs - ours) / (10.0**-self.places * np.asarray(several))
        return same | _ROUNDINGS[self._way](apart)


@dataclass(slots=True)
class _Cells:
    """The cells of an invoice by our names, as they are and as text, their columns, and how times are written."""

    found: Mapping[str, Hashable]
    cells: dict[str, pd.Series]
    texts: dict[str, pd.Series]
    tz: str
    written: Written
    notes: list[str]


def invoice_of(
    frame: pd.DataFrame,
    names: dict[str, Any],
    tz: str,
    written: Written,
    decimal: str | None,
    known: Collection[str],
) -> Invoice:
    """Read an invoice; what cannot be read is missing, and a warning says so.

    ``names`` are its columns by our names, or a currency itself such as "USD"; ``known`` the currencies of the ledger.
    """
    if not isinstance(frame, pd.DataFrame):
        raise UsageError(f"invoice= must be a frame or the path of a file, got {given(frame)}")
    constant = names.get("currency")
    if isinstance(constant, str) and re.fullmatch("[A-Z]{3}", constant) and constant not in frame.columns:
        names = {name: column for name, column in names.items() if name != "currency"}
    else:
        constant = None
    found, priced_each, said, periods = _columns(frame, names, decimal, written)
    empty = pd.Series(pd.NA, index=frame.index, dtype=STR)
    cells = {name: frame[found[name]] if name in found else empty for name in NAMES} | periods
    texts = {name: texts_of(column).str.strip() for name, column in cells.items()}
    read = _Cells(found, cells, texts, tz, written, [*_named(found, names), *said])
    price = amounts(cells["unit_price" if priced_each else "price"], decimal)
    if price.decimal == "," and decimal is None:
        read.notes.append("Amounts are read with a decimal comma.")
    sign = price.decimal if decimal is None else decimal
    quantities = {name: amounts(cells[name], sign).numbers for name in ("parts", "messages")}
    parts, messages = (each.where((each - each.round()).abs().lt(_WHOLE)).round().astype("Int64")
                       for each in quantities.values())  # fmt: skip
    numbers = price.numbers
    if priced_each:
        times = "messages" if quantities["messages"].notna().any() else "parts"
        numbers = numbers * quantities[times]
        of = found[times]
        read.notes.append(f"A price is {found['unit_price']!r} times {of!r}.")
    kinds = texts["kind"].where(texts["kind"].isna(), "campaign")
    for kind, words in KINDS.items():
        kinds = kinds.mask(texts["kind"].str.contains(words.pattern, case=False, regex=True, na=False), kind)
    lines = pd.DataFrame(
        {
            "id": texts["id"],
            "to": _numbers(texts["to"].mask(special_words(texts["to"]).notna())),
            "parts": parts,
            "price": numbers.round(6),
            "currency": _currency(read, price.units, constant, known),
            "messages": messages,
            "country": texts["country"].map(lambda cell: country_of(cell)[0], na_action="ignore").astype(STR),
            "kind": kinds.astype(STR),
        }
    )
    special = special_of(frame, found, lines["to"].notna())
    others = lines["country"].where(special.isna()).dropna()  # a fee of messages that have no other line is their price
    of_messages = lines["country"].notna() & ~lines["country"].isin(others) & messages.notna()
    special = special.mask(special.eq("fee").fillna(False).astype("bool") & of_messages)
    special = by_amounts(lines.assign(special=special), texts["at"], price.places, read.notes)
    if special.notna().any():  # a line below a column of months or times has none
        cells["at"] = cells["at"].astype(object).where(special.isna(), None)
        texts["at"] = texts["at"].mask(special.notna())
    at, dated, no_dates = _times(read)
    lines = lines.assign(at=at, special=special, until=_until(read, at), dated=dated)
    if "part" in found and "id" in found:
        lines = _whole_messages(lines, texts["part"], read.notes)
    for name, column in (("price", price.numbers), ("parts", parts), ("messages", messages), ("at", at)):
        _warn_of_unreadable(name, texts[name].mask(special.notna()), column, sign, no_dates)
    return Invoice(lines, found, price.places, read.notes)


def _columns(
    frame: pd.DataFrame, names: dict[str, Any], decimal: str | None, written: Written
) -> tuple[dict[str, Hashable], bool, list[str], dict[str, pd.Series]]:
    """Return the column of each field, whether the price is that of one message, what values show, and its periods.

    Raises:
        UsageError: a column that was named is missing, there is no price, or nothing says what a line is of.
    """
    unknown = [name for name in names if name not in NAMEABLE]
    if unknown:
        raise UsageError(f"columns= names {given(unknown[0])}; it can name {', '.join(NAMEABLE)}")
    problems = [wrong for name in names.values() if (wrong := absent(name, frame.columns, beside=False))]
    found = {} if problems else found_columns(frame, names)
    if "to" in found and "to" not in names and _numbers(texts_of(frame[found["to"]])).isna().all():
        del found["to"]
    said = "" if problems or "price" in names else by_numbers(frame, found, decimal)
    priced_each = "price" not in found and "unit_price" in found and bool({"messages", "parts"} & {*found})
    if not problems and "price" not in found and not priced_each:
        problems.append("no column of prices; name it: columns={'price': \"...\"}")
    periods, unread = ({}, "") if problems else periods_of(frame, found, names, written)
    grain = {"at", "country", "kind"} & {*found}
    if (
        not problems
        and "id" not in found
        and not ("to" in found and "at" in found)
        and not ("to" not in found and grain)
    ):
        problems.append("neither a column 'id' nor both 'to' and 'at', nor totals by day, country or kind; name them: "
                        "columns={'id': \"...\"}")  # fmt: skip
    if problems:
        raise UsageError(f"invoice=: {'; '.join(problems)} {listed(frame.columns)}")
    return found, priced_each, [one for one in (said, unread) if one], periods


def _named(found: Mapping[str, Hashable], names: Mapping[str, Any]) -> list[str]:
    """Say which columns were taken for what, where nobody named them and their name is another one."""
    taken = [f"{column!r} as {name}" for name, column in found.items()
             if name not in names and name in NAMEABLE and column != name]  # fmt: skip
    return [f"Read by the names of its columns: {', '.join(taken)}."] if taken else []


def _currency(read: _Cells, units: pd.Series, constant: str | None, known: Collection[str]) -> pd.Series:
    """Return the currency of each line: of its column, beside its amount, in the price's name, or the ledger's."""
    said = currencies(read.texts["currency"], known)
    signs = sorted(unit for unit in {*units.dropna()} if not re.fullmatch("[A-Za-z]{3}", unit))
    for sign in signs:
        code = currencies(pd.Series([sign]), known).iloc[0]
        if pd.notna(code) and said.isna().any():
            read.notes.append(f"{sign} is read as {code}.")
    currency = said.fillna(currencies(units, known))
    if constant or (constant := currency_in(read.found["price"]) if "price" in read.found else None):
        return currency.fillna(constant)
    if currency.isna().any() and not signs and "currency" not in read.found and len(known) == 1:
        only = next(iter(known))
        read.notes.append(f"The invoice names no currency: {only} is assumed, the only one recorded.")
        return currency.fillna(only)
    if currency.isna().all() and "currency" not in read.found:
        raise UsageError(
            "invoice=: no column 'currency', and nothing tells which one is meant; name the column, or the currency "
            "itself: columns={'currency': 'USD'}"
        )
    return currency


def _whole_messages(lines: pd.DataFrame, part: pd.Series, notes: list[str]) -> pd.DataFrame:
    """Put the lines of the parts of one message together, each part once."""
    key = lines["id"].str.lower()
    several = (
        key.notna() & key.duplicated(keep=False) & ~pd.DataFrame({"id": key, "part": part}).duplicated().to_numpy()
    )
    if not several.any():
        return lines
    sums = lines[several].groupby(key[several])["price"].sum(min_count=1).round(6)
    first = several & ~key.where(several).duplicated()
    lines = lines.assign(price=lines["price"].mask(first, key.map(sums)))
    notes.append("The parts of a message have lines of their own, which are put together.")
    return lines[~several | first]


def _warn_of_unreadable(name: str, texts: pd.Series, read: pd.Series, decimal: str, no_dates: dict[int, str]) -> None:
    """Warn of cells that say something that cannot be read; an empty cell is no such."""
    unread = texts.fillna("").ne("").to_numpy(dtype=bool) & read.isna().to_numpy(dtype=bool)
    wrong = texts[unread]
    if wrong.empty:
        return
    why = no_dates.get(int(np.flatnonzero(unread)[0]), "") if name == "at" else ""
    cell = wrong.iloc[0]
    shown = given(cell) if name != "at" else repr(cell[:_LONGEST])
    rows = ", ".join(called(label) for label in wrong.index[:3]) + ", ..." * (len(wrong) > 3)
    comma = "," in cell and name != "at" and decimal == "."
    next_step = (
        "pass decimal=',' if the comma is the decimal sign"
        if comma
        else "correct the invoice; in .lines they are missing"
    )
    expected = _EXPECTED[name] if decimal == "." or name == "at" else _EXPECTED[name].replace(".", ",")
    warn_user(
        f"column {cited(texts.name)} of the invoice: {counted(len(wrong), 'cell')} of {len(texts)} cannot be read, "
        f"such as {shown} (rows {rows}){f', {why}' if why.startswith('a number;') else ''}; {expected} is expected; "
        f"{next_step}"
    )


def _numbers(texts: pd.Series) -> pd.Series:
    """Return numbers as E.164: an invoice may leave out the plus, write 00, or hold them as floats."""
    whole = texts.str.replace(r"\.0$", "", regex=True)
    digits = whole.str.replace(r"\D", "", regex=True).str.replace("^00", "", regex=True)
    return ("+" + digits).where(digits.fillna("").str.len().ge(_LEAST_DIGITS))


def _times(of: _Cells) -> tuple[pd.Series, pd.Series, dict[int, str]]:
    """Return the times, which of them are days without a time, and what is wrong with others, by place.

    Midnight is no time where all lines have it, as dates of a sheet do.
    """
    column, texts, tz = of.cells["at"], of.texts["at"], of.tz
    if "at" in of.found and re.search(r"utc|gmt", str(of.found["at"]), re.IGNORECASE):
        tz = "UTC"
    if not of.written.format and (moments := _counted_times(texts, of.found.get("at"), tz, of.notes)) is not None:
        local = moments.dropna().dt.tz_convert(tz)
        return moments, moments.notna() & local.eq(local.dt.normalize()).all(), {}
    clock = of.texts["clock"]
    if "clock" in of.found and clock.dropna().str.fullmatch(_CLOCK).all():
        column = texts.str.cat(clock.fillna(""), sep=" ").str.strip()
        column.name = of.cells["at"].name
    read = dates.read(column, of.written)
    if read.unclear:
        raise UsageError(f"column {cited(column.name)} of the invoice has {read.unclear}")
    known = ~np.isnat(read.wall)
    sheet = bool((read.midnight | ~read.clock)[known].all())
    dated = known & (~read.clock | (read.midnight & sheet))
    return read.utc(tz, column.index), pd.Series(dated, index=column.index), read.wrong


def _until(of: _Cells, at: pd.Series) -> pd.Series:
    """Return the moments before which the lines' periods end; that of a line with one time is its time.

    A period whose end is a day without a time ends with that day, unless it is where another
    line's begins, or both are the first of a month.
    """
    starts = at.dt.tz_convert(of.tz)
    read = dates.read(of.cells["until"], of.written)
    if read.unclear or np.isnat(read.wall).all():
        return at
    ends = read.utc(of.tz, at.index)
    of_months = starts.dt.day.eq(1) & ends.dt.tz_convert(of.tz).dt.day.eq(1)
    inclusive = pd.Series(~read.clock & ~ends.isin(at).to_numpy(), index=at.index) & ~of_months
    if inclusive.any():
        of.notes.append("Its periods end with their last day.")
    last: pd.Series = ends.where(~inclusive, ends + pd.Timedelta(days=1)).fillna(at)
    return last


def _counted_times(texts: pd.Series, name: Hashable, tz: str, notes: list[str]) -> pd.Series | None:
    """Return times that are numbers, where all of them can be only one kind: of a sheet, or counted from 1970."""
    numbers = pd.to_numeric(texts, errors="coerce").astype("float64")
    known = numbers.dropna()
    if known.empty or len(known) < int(texts.fillna("").ne("").sum()):
        return None
    if known.between(*_SHEET).all():
        notes.append(f"{name!r} has the numbers by which a spreadsheet counts days.")
        wall = pd.Timestamp("1899-12-30") + pd.to_timedelta((numbers * 86_400_000).round(), unit="ms")
        local = wall.dt.tz_localize(tz, ambiguous="NaT", nonexistent="shift_forward")
        of_a_sheet: pd.Series = local.dt.tz_convert("UTC").dt.as_unit("us")
        return of_a_sheet
    for thousand, said in enumerate(_EPOCHS):
        if known.between(_SINCE * 1000.0**thousand, _TILL * 1000.0**thousand).all():
            notes.append(f"{name!r} has {said} since 1970, UTC.")
            seconds = (numbers / 1000.0**thousand * 1_000_000).round().astype("Int64")
            moments: pd.Series = pd.to_datetime(seconds, unit="us", utc=True).dt.as_unit("us")
            return moments
    return None
