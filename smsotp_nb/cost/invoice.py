"""A provider's invoice against what was recorded: by message id, or by country and month."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import pandas as pd

from .. import _dates as dates
from .._amounts import CONTEXT, exact, half_up
from .._calling import given, in_our_words
from .._cards import Card, Code, Note, WithCard, counted, listed, money, records
from .._frames import AnyFrame, as_pandas
from .._pandas import STR, texts
from .._phones import country_code
from .._recipients import read_recipients
from .._results import contract
from ..columns import require
from ..errors import UsageError
from .rows import BILLED, Source, read_results, read_rows
from .sums import add_up, amounts

# Exact headings that are read without being named, in any case; the card says which were.
HEADINGS: Final = {
    "id": ("id", "message id", "message_id", "messageid"),
    "price": ("price", "amount", "cost"),
    "currency": ("currency",),
    "country": ("country", "iso"),
    "date": ("date", "month", "period"),
}
MATCHES: Final = {
    "matched": "the same amount as recorded",
    "rounded": "the amount that was recorded, rounded to the places that the invoice writes",
    "in_sum": "one of several lines for one thing, whose sum agrees; the single lines cannot be checked",
    "other_price": "another amount than recorded",
    "other_currency": "billed in another currency than recorded",
    "ambiguous": "an id that messages of several campaigns have",
    "repeated": "a further line of a message that another line has already",
    "only_invoice": "nothing of the kind is recorded",
    "unreadable": "no amount, currency, id, country or month could be read",
}
_AGREED: Final = ("matched", "rounded", "in_sum")
_MONTH: Final = re.compile(r"\d{4}-(?:0[1-9]|1[0-2])")


@dataclass(frozen=True, slots=True, eq=False)
class Reconciliation(WithCard):
    """An invoice compared with what was recorded. Nothing has been changed.

    Attributes:
        lines: the lines of the invoice on its own index (of a file, the numbers of its rows): ``id``, or ``iso`` and
            ``month``; ``currency`` (str), ``theirs`` and ``ours`` (float64: the amount of the line, and what is
            recorded of what it is for), ``difference`` (float64) and ``match`` (str: matched, rounded, in_sum,
            other_price, other_currency, ambiguous, repeated, only_invoice or unreadable).
        missing: what was recorded in the invoiced time and no line is for: ``id`` with ``to, at, campaign``, or ``iso``
            and ``month`` with ``messages``; ``currency`` and ``ours``.
        totals: a row for each currency: ``theirs, ours, difference`` (float64), of all lines and all that was recorded.
        notes: which columns were read as what, and which were not read.

    Example:
        >>> sorted(MATCHES)[:4]
        ['ambiguous', 'in_sum', 'matched', 'only_invoice']
    """

    lines: pd.DataFrame
    missing: pd.DataFrame
    totals: pd.DataFrame
    notes: tuple[str, ...]
    source: str

    def card(self) -> Card:
        """Return the comparison as a card: what agrees, and each line that does not, with its amount."""
        disagree = self.lines[~self.lines["match"].isin(_AGREED)]
        agreed = len(self.lines) - len(disagree)
        what = [name for name in ("id", "iso", "month") if name in self.lines.columns]
        tables = listed(
            disagree.reset_index(names="line").astype({"line": STR}),
            ("Line", "right", "line"),
            *((name.capitalize(), "code", _code(name)) for name in what),
            ("Invoice", "right", lambda row: money(row["theirs"], _text(row["currency"]))),
            ("Recorded", "right", lambda row: money(row["ours"])),
            ("", "left", lambda row: MATCHES[row["match"]]),
            title="Lines that do not agree",
            where=".lines",
        )
        tables += listed(
            self.missing,
            *((name.capitalize(), "code", _code(name)) for name in what),
            ("Recorded", "right", lambda row: money(row["ours"], _text(row["currency"]))),
            title="Recorded, and on no line",
            where=".missing",
        )
        sums = [
            f"{money(row['theirs'], row['currency'])} invoiced, {money(row['ours'])} recorded"
            for row in records(self.totals)
        ]
        return Card(
            f"Invoice: {self.source}",
            f"{agreed:,} of {counted(len(self.lines), 'line')} agree. {'; '.join(sums)}",
            (*tables, *(Note("i", note) for note in self.notes)),
        )


def _code(name: str) -> Any:
    return lambda row: Code(_text(row[name]))


def _text(cell: Any) -> str:
    return "" if pd.isna(cell) else str(cell)


@in_our_words
def reconcile_invoice(
    source: Source,
    invoice: AnyFrame | str | Path,
    *,
    id: str | None = None,
    price: str | None = None,
    currency: str | None = None,
    country: str | None = None,
    date: str | None = None,
) -> Reconciliation:
    """Compare a provider's invoice with what was recorded, line by line.

    Lines with an id are compared with the messages of that id; where the invoice has none, with what a country, a
    month, or a country in a month was billed (UTC). Lines that are for nothing recorded, such as taxes and fees, are
    listed with their amount.

    Args:
        source: as for `by`; by id, results, a Ledger, its path or a Record.
        invoice: a frame, or the path of a file as `read_recipients` reads it.
        id: the column of message ids; by default one that is called so, such as "Message ID".
        price: the column of amounts; by default one called price, amount or cost.
        currency: the column of currencies, or the code that all amounts are in, such as "EUR".
        country: the column of countries, as codes or names in any language; by default country or iso.
        date: the column of months or days; by default date, month or period.

    Raises:
        UsageError: a column is not there, or none is named and none or several have one of the usual headings.

    Example:
        >>> sent = pd.DataFrame({"status": ["accepted"] * 2, "id": ["a", "b"], "parts": 1, "price": [0.01, 0.02],
        ...                      "currency": "USD", "at": "2026-11-03 10:00:00"})
        >>> invoice = pd.DataFrame({"Message ID": ["a", "b", "tax"], "Amount": ["0.01", "0.03", "0.01"]})
        >>> reconcile_invoice(sent, invoice, currency="USD").lines["match"].tolist()
        ['matched', 'other_price', 'only_invoice']
    """
    frame, name = _read_invoice(invoice)
    named = {"id": id, "price": price, "currency": currency, "country": country, "date": date}
    columns = {field: _column(frame, field, label) for field, label in named.items()}
    if columns["price"] is None:
        raise UsageError("the invoice has no column of amounts that is known by its name; name it: price='Amount'")
    if columns["id"] is None and columns["country"] is None and columns["date"] is None:
        raise UsageError(
            "the invoice has neither ids, countries nor months that are known by their names; name a column: id=, "
            "country= or date="
        )
    lines, places = _read_lines(frame, columns)
    if columns["id"] is not None:
        keys, (ours, missing_of) = ["id"], _recorded_by_id(source)
    else:
        keys = [key for key, field in (("iso", "country"), ("month", "date")) if columns[field] is not None]
        ours, missing_of = _recorded_by(source, keys)
    lines = _matched(lines, ours, keys, places)
    missing = missing_of(lines)
    return Reconciliation(
        lines=lines.assign(
            theirs=_floats(lines["theirs"]), ours=_floats(lines["ours"]), difference=_floats(lines["difference"])
        )[[*keys, "currency", "theirs", "ours", "difference", "match"]],
        missing=missing,
        totals=_totals(lines, missing, keys),
        notes=_notes(frame, columns),
        source=name,
    )


def _read_invoice(invoice: Any) -> tuple[pd.DataFrame, str]:
    if isinstance(invoice, str | Path):
        return read_recipients(invoice, numbered=True), Path(invoice).name
    frame = as_pandas(invoice)
    if not isinstance(frame, pd.DataFrame):
        raise UsageError(f"an invoice is a frame or the path of a file, got {given(invoice)}")
    return frame, "a frame"


def _column(frame: pd.DataFrame, field: str, label: str | None) -> str | None:
    """Return the column of a field: as named, or the only one with a usual heading; of a currency also its code."""
    if label is not None:
        if field == "currency" and label not in frame.columns and re.fullmatch("[A-Z]{3}", str(label)):
            return label
        require(label, frame.columns, where=f"{field}=")
        return label
    usual = [name for name in frame.columns if str(name).strip().lower() in HEADINGS[field]]
    if len(usual) > 1:
        names = " and ".join(repr(name) for name in usual)
        raise UsageError(f"the invoice has {names}, which may both be its {field}; name one: {field}={usual[0]!r}")
    return usual[0] if usual else None


def _read_lines(frame: pd.DataFrame, columns: dict[str, str | None]) -> tuple[pd.DataFrame, int]:
    """Return the lines in our terms, amounts as Decimals, and the decimal places that the invoice writes."""
    prices = [_amount(cell) for cell in frame[columns["price"]]]
    readable = [price for price in prices if price is not None]
    if not readable:
        raise UsageError(f"column {columns['price']!r} holds no amounts such as 12.50; write them with a point")
    lines = pd.DataFrame({"theirs": pd.Series(prices, index=frame.index, dtype=object)})
    code = columns["currency"]
    if code is None:
        lines["currency"] = pd.Series(None, index=frame.index, dtype=STR)
    else:
        lines["currency"] = texts(frame[code]).str.strip() if code in frame.columns else code
    lines["currency"] = lines["currency"].astype(STR)
    if columns["id"] is not None:
        lines["id"] = texts(frame[columns["id"]]).str.strip().replace("", None)
    if columns["country"] is not None:
        cells = texts(frame[columns["country"]])
        codes = [country_code(cell) if isinstance(cell, str) else None for cell in cells]
        lines["iso"] = pd.Series(codes, index=frame.index, dtype=STR)
    if columns["date"] is not None:
        lines["month"] = _months(frame[columns["date"]])
    return lines, max(-int(price.as_tuple().exponent) for price in readable)


def _amount(cell: Any) -> Decimal | None:
    if cell is None or isinstance(cell, bool):
        return None
    try:
        number = exact(str(cell).strip() if not isinstance(cell, float) else cell)
    except ArithmeticError:
        return None
    return number if number.is_finite() else None


def _months(column: pd.Series) -> pd.Series:
    cells = texts(column).str.strip()
    is_month = cells.str.fullmatch(_MONTH, na=False).astype("bool")
    days = dates.read(column.where(~is_month), by_argument=False)
    if days.unclear:
        raise UsageError(f"the invoice: column {column.name!r} has {days.unclear}")
    read = pd.Series(pd.DatetimeIndex(days.wall), index=column.index).dt.strftime("%Y-%m").astype(STR)
    return cells.where(is_month, read).astype(STR)


def _recorded_by_id(source: Source) -> tuple[pd.DataFrame, Any]:
    """Return what was recorded of each id and currency, and what finds the messages that no line is for."""
    table = contract.check(read_results(source), columns=(*BILLED, "id", "at"))
    table = table[(table["status"] == "accepted") & table["id"].notna()]
    campaign = table["campaign"] if "campaign" in table.columns else pd.Series("", index=table.index)
    table = table.assign(campaign=campaign.fillna(""), micros=contract.micros(table["price"]))
    groups = table.groupby(["id", "currency"], dropna=False, sort=False)
    ours = groups.agg(micros=("micros", lambda cells: cells.sum(skipna=False)), rows=("id", "size"))
    ours = ours.assign(campaigns=groups["campaign"].nunique()).reset_index()

    def missing_of(lines: pd.DataFrame) -> pd.DataFrame:
        is_on_line = table["id"].isin(lines["id"].dropna())
        days = table["at"].dt.normalize()
        is_invoiced = days.between(days[is_on_line].min(), days[is_on_line].max())
        kept = [name for name in ("id", "to", "at", "campaign", "currency") if name in table.columns]
        rest = table[~is_on_line & is_invoiced]
        return rest[kept].assign(ours=amounts(rest["micros"]))

    return ours, missing_of


def _recorded_by(source: Source, keys: list[str]) -> tuple[pd.DataFrame, Any]:
    """Return what was recorded by country, month or both, and what finds those of the months that no line is for."""
    rows, _ = read_rows(source, keys)
    ours = add_up(rows, keys)
    ours = ours[ours["messages"] > ours["unpriced"]].assign(rows=1_000_000_000, campaigns=1)

    def missing_of(lines: pd.DataFrame) -> pd.DataFrame:
        on_lines = pd.MultiIndex.from_frame(lines[[*keys, "currency"]])
        rest = ours[~pd.MultiIndex.from_frame(ours[[*keys, "currency"]]).isin(on_lines)]
        if "month" in keys:
            rest = rest[rest["month"].isin(lines["month"].dropna())]
        return rest[[*keys, "messages", "currency"]].assign(ours=amounts(rest["micros"])).reset_index(drop=True)

    return ours, missing_of


def _matched(lines: pd.DataFrame, ours: pd.DataFrame, keys: list[str], places: int) -> pd.DataFrame:
    """Return the lines with what is recorded of the same thing, and whether both agree."""
    recorded: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in records(ours):
        recorded.setdefault(tuple(row[key] for key in keys), []).append(row)
    is_readable = lines["theirs"].notna() & lines[keys].notna().all(axis=1)
    cells: dict[Any, tuple[str, Decimal | None, Decimal | None]] = {}
    lines = lines.assign(position=range(len(lines)))
    for row in records(lines[~is_readable]):
        cells[row["position"]] = ("unreadable", None, None)
    for key, group in lines[is_readable].groupby([*keys, "currency"], dropna=False, sort=False):
        rows = recorded.get(tuple(key[:-1]), [])  # type: ignore[index]
        cells |= _match_group(group, rows, key[-1], places)  # type: ignore[index]
    ordered = [cells[position] for position in range(len(lines))]
    return lines.assign(
        match=pd.Series([match for match, _, _ in ordered], index=lines.index, dtype=STR),
        ours=pd.Series([own for _, own, _ in ordered], index=lines.index, dtype=object),
        difference=pd.Series([difference for _, _, difference in ordered], index=lines.index, dtype=object),
    )


def _match_group(
    group: pd.DataFrame, recorded: list[dict[str, Any]], currency: Any, places: int
) -> dict[Any, tuple[str, Decimal | None, Decimal | None]]:
    """Compare the lines of one thing with what is recorded of it; return match, recorded and difference of each."""
    positions = group["position"].tolist()
    same = [row for row in recorded if pd.isna(currency) or row["currency"] == currency]
    if not same:
        match = "other_currency" if recorded else "only_invoice"
        return dict.fromkeys(positions, (match, None, None))
    if len(same) > 1 or same[0]["campaigns"] > 1:
        return dict.fromkeys(positions, ("ambiguous", None, None))
    repeated = positions[int(same[0]["rows"]) :]
    counted_lines = group.iloc[: len(positions) - len(repeated)]
    cells: dict[Any, tuple[str, Decimal | None, Decimal | None]] = dict.fromkeys(repeated, ("repeated", None, None))
    own = None if pd.isna(same[0]["micros"]) else Decimal(int(same[0]["micros"])).scaleb(-6, CONTEXT)
    total = _sum(counted_lines["theirs"])
    difference = None if own is None else CONTEXT.subtract(total, own)
    if own is None or difference is None:
        match = "other_price"
    elif difference == 0:
        match = "matched"
    else:
        match = "rounded" if places < 6 and half_up(own, places) == total else "other_price"
    if match != "other_price" and len(counted_lines) > 1:
        match = "in_sum"
    return cells | dict.fromkeys(counted_lines["position"], (match, own, difference))


def _sum(cells: Iterable[Decimal]) -> Decimal:
    total = Decimal(0)
    for cell in cells:
        total = CONTEXT.add(total, cell)
    return total


def _floats(cells: pd.Series) -> pd.Series:
    return pd.Series([None if cell is None else float(cell) for cell in cells], index=cells.index, dtype="float64")


def _totals(lines: pd.DataFrame, missing: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Return by currency what is invoiced in all, and what is recorded of it and of what no line is for."""
    readable = lines[lines["theirs"].notna()]
    once = lines[lines["ours"].notna()].drop_duplicates([*keys, "currency"])
    currencies = sorted({*readable["currency"].dropna(), *missing["currency"].dropna()})
    rows = []
    for currency in currencies:
        theirs = _sum(readable.loc[readable["currency"] == currency, "theirs"])
        ours = _sum(once.loc[once["currency"] == currency, "ours"])
        rest = missing.loc[missing["currency"] == currency, "ours"].dropna()
        ours = CONTEXT.add(ours, _sum(exact(amount) for amount in rest))
        rows.append((currency, float(theirs), float(ours), float(CONTEXT.subtract(theirs, ours))))
    return pd.DataFrame(rows, columns=["currency", "theirs", "ours", "difference"]).astype({"currency": STR})


def _notes(frame: pd.DataFrame, columns: dict[str, str | None]) -> tuple[str, ...]:
    read = [f"{column!r} as {field}" for field, column in columns.items() if column in frame.columns]
    others = [repr(str(name)) for name in frame.columns if name not in columns.values()]
    notes = [f"Columns read: {', '.join(read)}."]
    if others:
        notes.append(
            f"Columns not read: {', '.join(others)}. Name one that tells lines apart, such as country={others[0]}."
        )
    if columns["currency"] is None:
        notes.append("The invoice names no currency: its amounts were compared with those of whatever was recorded.")
    return tuple(notes)
