"""The lines of a provider's invoice: read, whatever it calls its columns and however it writes times and amounts."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Collection, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import pandas as pd

from .. import _dates as dates
from .._calling import given
from .._cards import counted, money
from .._dates import Written
from .._pandas import STR
from .._pandas import texts as texts_of
from .._phones.cells.regions import one as country_of
from .._showing import cited
from .._showing import label as called
from ..columns import absent, listed
from ..errors import SmsOtpWarning, UsageError
from .invoice_columns import NAMES, amounts, by_numbers, currencies, currency_in, found_columns

FIELDS: Final = ("id", "to", "at", "parts", "price", "currency")
NAMEABLE: Final = (*FIELDS, "messages", "country", "kind")
_LEAST_DIGITS: Final = 5  # of a number
_LONGEST: Final = 40  # characters of a cell
_MOST_PERIODS: Final = 200  # different ones of an invoice
_YEAR: Final = re.compile(r"\b\d{4}\b")
_MONTHS: Final = (  # each as the text of its first day
    (re.compile(r"(?P<year>\d{4})[-./ ](?P<month>\d{1,2})"), "{year}-{month:0>2}-01"),
    (re.compile(r"(?P<month>\d{1,2})[-./ ](?P<year>\d{4})"), "{year}-{month:0>2}-01"),
    (re.compile(r"(?P<month>[^\W\d_]{3,10})\.?(?: de | of |[ /-]?)'?(?P<year>\d{4}|\d{2})"), "1 {month} {year}"),
    (re.compile(r"(?P<year>\d{4})[ /-]?(?P<month>[^\W\d_]{3,10})\.?"), "1 {month} {year}"),
)
_BETWEEN: Final = re.compile(
    r"(?<!\s)\s+(?:[-/]|to|until|through|thru|till|bis|au|al?|hasta|até|tot)\s|[–—~]|\.\.+|[-/]", re.IGNORECASE
)
_BEGIN: Final = re.compile(r"^(?:from|vom|von|du|del?|desde|dal?|van)\s+", re.IGNORECASE)
_STARTS: Final = re.compile(r"\b(?:from|start|begin\w*|von|ab|début|du|desde|inicio|dal?|inizio|van)\b", re.IGNORECASE)
_ENDS: Final = re.compile(r"\b(?:to|end|until|through|bis|ende|fin|au|hasta|al?|fine|tot)\b", re.IGNORECASE)
_ISSUED: Final = re.compile(r"invoice|rechnung|bill|factur|fattura|faktu|issue|beleg", re.IGNORECASE)
_CLOCK: Final = r"\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?: ?[AaPp][Mm])?"
_EXPECTED: Final = {
    "price": "a number such as 0.0075",
    "parts": "a whole number",
    "at": "a time such as 2026-11-23 14:05, or a day such as 2026-11-23,",
}
_SHEET: Final = (20_000, 80_000)  # days since 1899: 1954 to 2119
_EPOCHS: Final = ("seconds", "milliseconds", "microseconds", "nanoseconds")
_SINCE, _TILL = 1_000_000_000, 4_000_000_000  # seconds since 1970: 2001 to 2096
_TAX: Final = r"taxe?s?|vat|gst|hst|pst|mwst|ust|(?:umsatz|mehrwert)?steuer|tva|iva|btw|moms|impuestos?|imposta"
# What a line says that is of no message, the first that applies: a total with tax is a total, that of a tax is none.
SPECIAL: Final[tuple[tuple[str, re.Pattern[str]], ...]] = tuple(
    (kind, re.compile(words, re.IGNORECASE))
    for kind, words in (
        (
            "tax",
            rf"^\W*(?:total )?(?:sales |use |state |local |service )?(?:{_TAX})\b(?!.*(?:total|gesamt))"
            rf"|^(?!.*(?:incl|inkl|total|gesamt|summe)).*\b(?:{_TAX})\W*(?:\d+(?:[.,]\d+)? ?%\W*)?$",
        ),
        (
            "total",
            r"\b(?:grand |sub)?-?totals?\b|\bsumme\b|gesamt|zwischensumme|\bamount due\b|\bbalance\b|\bsaldo\b|\bsum\b",
        ),
        (
            "credit",
            r"\bcredit(?: note)?\b|refund|discount|rebate|gutschrift|rabatt|\bremise\b|\bavoir\b|adjustment|erstattung"
            r"|descuento|promotional credit",
        ),
        (
            "fee",
            r"^(?!.*\b(?:sms|messag\w*|texts?|outbound|nachrichten)[ -]?(?:fees?|gebühr\w*|charges?)\b)"
            r".*(?:\bfees?\b|gebühr"
            r"|\bfrais\b|rental|\bmonthly (?:fee|rent|charge|plan|number|service)|monatlich|\bset-?up\b"
            r"|surcharge|subscription|abonnement"
            r"|\brent\b|\bminimum\b|grundpreis|miete|\bcuota\b)",
        ),
    )
)
_WORD: Final = re.compile(r"\b[^\W\d_]{3,}(?:\d+ ?%|\b)")
_INITIAL: Final = r"\b[^\W\d_]"
_INITIALS: Final = rf"(?:{_INITIAL}\.){{2}}"  # I.V.A.
_OTHER_WORDS: Final = re.compile(r"body|text|content|message_?body|status|error|tag|campaign|ref", re.IGNORECASE)
_AN_ID: Final = 8  # characters
_EXACT: Final = 6  # decimal places of what is recorded
_MOST: Final = 0.9  # of the amounts that show what is true of a file
_MOST_TAX: Final = 0.4  # of what is taxed
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
    parts, messages = (amounts(cells[name], sign).numbers.round().astype("Int64") for name in ("parts", "messages"))
    numbers = price.numbers
    if priced_each:
        times = messages if messages.notna().any() else parts
        numbers = numbers * times.astype("float64")
        of = found["messages" if times is messages else "parts"]
        read.notes.append(f"A price is {found['unit_price']!r} times {of!r}.")
    kinds = texts["kind"].where(texts["kind"].isna(), "campaign")
    for kind, words in KINDS.items():
        kinds = kinds.mask(texts["kind"].str.contains(words.pattern, case=False, regex=True, na=False), kind)
    lines = pd.DataFrame(
        {
            "id": texts["id"],
            "to": _numbers(texts["to"].mask(_said(texts["to"]).notna())),
            "parts": parts,
            "price": numbers.round(6),
            "currency": _currency(read, price.units, constant, known),
            "messages": messages,
            "country": texts["country"].map(lambda cell: country_of(cell)[0], na_action="ignore").astype(STR),
            "kind": kinds.astype(STR),
        }
    )
    special = _special(frame, found, lines["to"].notna())
    others = lines["country"].where(special.isna()).dropna()  # a fee of messages that have no other line is their price
    of_messages = lines["country"].notna() & ~lines["country"].isin(others) & messages.notna()
    special = special.mask(special.eq("fee").fillna(False).astype("bool") & of_messages)
    special = _by_amounts(lines.assign(special=special), texts["at"], price.places, read.notes)
    if special.notna().any():  # a line below a column of months or times has none
        cells["at"] = cells["at"].astype(object).where(special.isna(), None)
        texts["at"] = texts["at"].mask(special.notna())
    at, dated, no_dates = _times(read)
    lines = lines.assign(at=at, special=special, until=_until(read, at), dated=dated)
    if "part" in found and "id" in found:
        lines = _whole_messages(lines, texts["part"], read.notes)
    for name, column in (("price", price.numbers), ("parts", parts), ("at", at)):
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
    periods, unread = ({}, "") if problems else _periods(frame, found, names, written)
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


def _periods(
    frame: pd.DataFrame, found: dict[str, Hashable], names: dict[str, Any], written: Written
) -> tuple[dict[str, pd.Series], str]:
    """Return the first days and ends of periods that a column has, by its values, or two columns by their names.

    Its column becomes that of the times. Beside them, what is to be told of columns that are no period.
    """
    columns = frame.columns[~frame.columns.duplicated(keep=False)]
    cells: dict[Hashable, pd.Series] = {
        column: texts_of(frame[column]).str.strip() for column in columns if frame[column].dtype.kind not in "fib"
    }
    numbers = {column: texts for column, texts in cells.items() if texts.str.contains(r"\d", na=False).any()}
    named = found["at"] if "at" in names else None
    if "until" in found or ("to" in found and not _are_days(numbers.get(found["to"]))):
        return {}, ""
    taken = {column for field, column in found.items() if field not in ("at", "clock", "kind", "to")}
    free = {column: texts for column, texts in numbers.items() if column not in taken}
    for column, texts in free.items():
        if named in (None, column) and (read := _read_periods(texts, written)) is not None:
            days = frame[found["at"]].nunique() if "at" in found else 0
            if "at" not in found or found["at"] == column or days < 2:  # days tell more than their months
                found["at"] = column
                found.pop("clock", None)
                for of in read.values():
                    of.name = column
                return read, ""
    starts, ends = (
        [column for column, texts in free.items() if words.search(re.sub("_", " ", str(column))) and _are_days(texts)]
        for words in (_STARTS, _ENDS)
    )
    if named is None and len(starts) == len(ends) == 1 and starts != ends:
        found["at"], found["until"] = starts[0], ends[0]
        if found.get("to") == ends[0]:
            del found["to"]
        return {}, ""
    at = found.get("at")
    if at is not None and named is None and "id" not in found and "to" not in found:
        start = at in starts and frame[at].nunique() == 1
        if (start or _ISSUED.search(str(at))) and {"country", "kind"} & {*found}:
            del found["at"]
            return {}, f"{at!r} is not read as the day of its messages."
    if "at" not in found:
        years = [column for column, texts in free.items() if texts.dropna().str.contains(r"\b20\d\d\b").all()]
        if years:
            return {}, f"Not read, though it may tell the period: {', '.join(map(repr, years))}."
    return {}, ""


def _are_days(texts: pd.Series | None) -> bool:
    return texts is not None and all(map(_is_day, texts[texts.str.contains(r"\d", na=False)].unique()[:_MOST_PERIODS]))


def _is_day(text: str) -> bool:
    read = dates.read(pd.Series([text], dtype=STR))
    return bool(read.unclear) or not np.isnat(read.wall[0])


def _read_periods(texts: pd.Series, written: Written) -> dict[str, pd.Series] | None:
    """Return the first day and the end of each cell as text, or None where a cell is no month and no range of days."""
    digits = texts[texts.str.contains(r"\d", na=False)]
    different = digits[_said(digits).isna()].unique()
    ends = {cell: _ends(cell) for cell in different} if len(different) <= _MOST_PERIODS and not written.format else {}
    if not ends or None in ends.values():
        return None
    pairs = {cell: pair for cell, pair in ends.items() if pair is not None}
    read = dates.read(pd.Series([day for pair in pairs.values() for day in pair], dtype=STR), written)
    if not read.unclear and not np.isnat(read.wall).any():  # an end may show the order of day and month of all
        days = iter(read.wall.astype("datetime64[D]").astype(str).tolist())
        pairs = dict(zip(pairs, zip(days, days, strict=True), strict=True))
    return {name: texts.map({cell: pair[place] for cell, pair in pairs.items()}).astype(STR)
            for place, name in enumerate(("at", "until"))}  # fmt: skip


def _month(text: str) -> tuple[str, str] | None:
    """Return the first day of a month and of the next one, as text."""
    for shape, day in _MONTHS:
        if one := shape.fullmatch(text.strip()):
            first = dates.read(pd.Series([day.format(**one.groupdict())], dtype=STR)).wall[0]
            if not np.isnat(first):
                month = first.astype("datetime64[M]")
                return f"{month}-01", f"{month + np.timedelta64(1, 'M')}-01"
    return None


def _ends(cell: str) -> tuple[str, str] | None:
    """Return the first day of a period and its end, as text: its last day, or that after it where it has months.

    Example:
        >>> _ends("Nov-26"), _ends("01.11.-30.11.2026"), _ends("1-30 November 2026")
        (('2026-11-01', '2026-12-01'), ('01.11.2026', '30.11.2026'), ('1 November 2026', '30 November 2026'))
    """
    if whole := _month(cell):
        return whole
    for sign in _BETWEEN.finditer(cell):
        start, end = _BEGIN.sub("", cell[: sign.start()].strip()), cell[sign.end() :].strip()
        year = _YEAR.search(end)
        if year and not _YEAR.search(start):
            if re.fullmatch(r"\d{1,2}\.?", start):
                start += re.sub(r"^\d{1,2}\.?", "", end)
            elif start[-1:].isalpha() or " " in start:
                start = f"{start}{', ' if start[-1:].isdigit() else ' '}{year[0]}"
            else:
                start = f"{start.rstrip('./-')}{(re.search('[./-]', start) or '.')[0]}{year[0]}"
        if _is_day(start) and _is_day(end):
            return start, end
        if (first := _month(start)) and (last := _month(end)):
            return first[0], last[1]
    return None


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


def _special(frame: pd.DataFrame, found: Mapping[str, Hashable], of_messages: pd.Series) -> pd.Series:
    """Return tax, total, credit or fee for lines of no message that say so in words, whatever column has them."""
    labels, prices = ({found.get(name) for name in names} for names in (("id", "to"), ("price", "unit_price")))
    said: pd.Series = pd.Series(pd.NA, index=frame.index, dtype=STR)
    for column in frame.columns:
        if (column not in labels and _OTHER_WORDS.search(str(column))) or frame[column].dtype.kind in "fiMb":
            continue
        texts = texts_of(frame[column]).mask(of_messages)
        if texts.str.fullmatch(r"debit|dr", case=False, na=False).any():  # beside it, a credit is a direction
            continue
        if column in prices:  # "0.0075 excl. VAT" is no line of a tax
            texts = texts.mask(texts.str.match(r"\W*\d", na=False))
        said = said.where(said.notna(), _said(texts))
    return said


def _said(texts: pd.Series) -> pd.Series:
    """Return tax, total, credit or fee where a cell says so."""
    texts = texts.where(
        texts.str.contains(rf"{_WORD.pattern}|{_INITIALS}", na=False)
    )  # numbers and ids, which may be a million
    kinds = {
        text: next(
            (kind for kind, words in SPECIAL if words.search(re.sub(rf"(?<={_INITIAL})[.]", "", text[:200]))), None
        )
        for text in texts.dropna().unique().tolist()
    }
    return texts.map(kinds, na_action="ignore").astype(STR)


@dataclass(slots=True)
class _Sums:
    """Sums of the lines above in whole millionths: of all, without tax, and of messages alone; of all since a total."""

    taxes: int  # of the whole invoice
    lines: int = 0
    every: int = 0
    net: int = 0
    plain: int = 0
    count: int = 0
    since: list[tuple[int, int, bool]] = field(default_factory=list)  # place, amount, whether it is of messages
    since_count: int = 0
    totals: list[tuple[int, bool]] = field(default_factory=list)  # amounts, and whether they are those of lines
    last: int | None = None  # the last total that is that of lines
    paid: set[int] = field(default_factory=set)

    def add(self, place: int, amount: int, kind: object, own: bool, count: int) -> None:
        self.lines, self.every, self.count = self.lines + 1, self.every + amount, self.count + count
        self.net += amount * (kind != "tax")
        self.plain += amount * (not isinstance(kind, str))
        self.since.append((place, amount, own))
        self.since_count += count

    def wholes(self) -> list[int]:
        return [self.every, self.net, self.net + self.taxes, self.plain] if self.lines else []

    def parts(self) -> list[int]:
        """Sums since the last total: alone where messages are in it, and together with that total."""
        since = sum(amount for _, amount, _ in self.since)
        alone = [since] if any(own for *_, own in self.since) else []
        return alone if self.last is None else [*alone, self.last + since]


def _by_amounts(lines: pd.DataFrame, times: pd.Series, places: int, notes: list[str]) -> pd.Series:
    """Return ``special`` with what amounts alone show of lines that name no message, number or country; note it.

    The sum of the lines above, all or those since the last total, is a total; what leads from one total to the next
    is a tax; the opposite of a balance is its payment.
    """
    special, unit = lines["special"].astype(object), 10 ** max(6 - places, 0)
    count = lines["messages"].fillna(lines["parts"])
    words = lines["id"].str.contains(_WORD.pattern, na=False) & ~lines["id"].str.contains(r"\d", na=False)
    named = lines[["country", "to"]].notna().any(axis=1) | (lines["id"].notna() & ~words).astype("bool")
    has_names = bool((named & special.isna()).any())
    own = named if has_names else count.notna() if count.notna().any() else times.str.contains(r"\d", na=False)
    maybe = lines["price"].notna() & special.map(lambda kind: pd.isna(kind) or kind == "total")
    maybe &= ~own.astype("bool") & bool(own.any())
    maybe |= special.isin(["total", "tax"]) & lines["price"].notna()
    if not maybe.any():
        return special.astype(STR)
    price = (lines["price"].fillna(0) * 1_000_000).round().astype("int64")
    by: dict[Any, _Sums] = {}
    for currency, part in price.groupby(lines["currency"]):
        by[currency] = _Sums(int(part[special[part.index].eq("tax")].sum()))
    cells = (lines["currency"], price, special, maybe, own, count.fillna(0).astype("int64"))
    kinds = special.tolist()
    for place, (currency, amount, kind, may, mine, number) in enumerate(zip(*cells, strict=True)):
        if currency not in by:
            continue
        sums = by[currency]
        if not may or not amount:
            sums.add(place, amount, kind, bool(mine), int(number))
            continue

        def fits(one: int, sums: _Sums = sums, amount: int = amount) -> bool:
            return bool(abs(one - amount) <= min(unit * (sums.lines + 1) // 2, abs(one) // 200))

        like = sums.wholes() if kind == "tax" else [*sums.wholes(), *sums.parts()]  # no tax is as much as all
        is_sum = any(map(fits, like))
        is_sum = is_sum and (kind == "total" or number in (0, sums.count, sums.since_count))
        if pd.isna(kind) and amount < 0 and -amount in {total for total, _ in sums.totals}:
            kinds[place] = "payment"
            sums.paid.add(-amount)
        elif is_sum or kind == "total":
            kinds[place] = "total"
            sums.totals.append((amount, is_sum))
            if is_sum:
                if len(sums.since) == 1 and sums.last and amount == sums.last + sums.since[0][1]:
                    added, more, own_line = sums.since[0]
                    if not own_line and pd.isna(kinds[added]) and 0 < more < _MOST_TAX * sums.last:
                        kinds[added] = "tax"
                sums.last, sums.since, sums.since_count = amount, [], 0
        else:
            sums.add(place, amount, kind, bool(mine), int(number))
    found = pd.Series(kinds, index=lines.index, dtype=object)
    notes += [
        f"Read as {kind} by the amount: rows {_shown(rows)}."
        for kind in ("total", "tax", "payment")
        if len(rows := lines.index[found.eq(kind) & ~special.eq(kind)])
    ]
    if len(rows := lines.index[found.isna() & maybe]):
        notes.append(f"Of no message and no sum of the lines above, but counted: rows {_shown(rows)}.")
    notes += [said for currency, sums in by.items() if (said := _of_totals(sums, str(currency), fits_within=unit))]
    return found.astype(STR)


def _shown(rows: pd.Index) -> str:
    return ", ".join(map(called, rows[:3])) + ", ..." * (len(rows) > 3)


def _of_totals(sums: _Sums, currency: str, *, fits_within: int) -> str:
    """Return in words whether the totals of an invoice are those of its lines."""
    wrong = [amount for amount, agrees in sums.totals if not agrees and amount not in sums.paid]
    good = [amount for amount, agrees in sums.totals if agrees]
    slack = fits_within * (sums.lines + 1) // 2
    whole = [amount for amount in good if any(abs(amount - one) <= slack for one in sums.wholes())]
    if whole:
        return f"Its total of {money(whole[-1] / 1_000_000, currency)} is that of its lines."
    if not sums.lines or not (wrong or good):
        return ""
    if not wrong:
        return f"Its totals in {currency} are those of the lines above each."
    lines_are = money(sums.every / 1_000_000, currency)
    return f"Its total says {money(wrong[-1] / 1_000_000, currency)}, and its lines add up to {lines_are}."


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
    warnings.warn(
        f"column {cited(texts.name)} of the invoice: {counted(len(wrong), 'cell')} of {len(texts)} cannot be read, "
        f"such as {shown} (rows {rows}){f', {why}' if why.startswith('a number;') else ''}; {expected} is expected; "
        f"{next_step}",
        SmsOtpWarning,
        stacklevel=4,
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
