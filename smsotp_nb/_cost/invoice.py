"""A provider's invoice, line by line, against the rows that the ledger recorded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
import pandas as pd

from .._calling import in_our_words, not_choice, not_mapping, not_text, not_zone, refuse
from .._cards import Card, WithCard
from .._dates import Written
from .._frames import AnyFrame, as_pandas
from .._ledger import Address, Ledger, Record, opened, read_from
from .._pandas import STR
from .._recipients import read_recipients
from .._results import contract
from ..errors import UsageError
from .invoice_lines import FIELDS, card_of, lines_of
from .sources import Source

MATCHES: Final[dict[str, str]] = {
    "matched": "the same price as recorded",
    "other_price": "another price, or a price where none was recorded",
    "in_doubt": "the ledger does not know whether this message was accepted; the line says so",
    "only_theirs": "no such message is recorded",
    "ambiguous": "a day and no time, and several messages to the number on that day: only an id tells which",
    "repeated": "the message of a line before it",
    "unreadable": "neither an id nor a number with a time, or no price",
}
_DTYPES: Final[dict[str, str | pd.StringDtype]] = {
    "campaign": STR,
    "row": "Int64",
    "status": STR,
    **{name: contract.ALL[name] for name in FIELDS},
    "at": "datetime64[us, UTC]",
}
_AMOUNTS: Final = (
    "theirs",
    "ours",
    "other_price",
    "in_doubt",
    "only_theirs",
    "ambiguous",
    "repeated",
    "unreadable",
    "only_ours",
)
_NEAR: Final = pd.Timedelta(hours=1)
_DAY: Final = pd.Timedelta(days=1)


@dataclass(frozen=True, slots=True, eq=False)
class Reconciled(WithCard):
    """An invoice compared with the ledger. Nothing has been changed.

    Attributes:
        lines: the invoice on its own index: ``id, to, currency`` (str), ``at`` (datetime64[us, UTC]), ``parts``
            (Int64) and ``price`` (float64) as read; ``match`` (str: matched, other_price, in_doubt, only_theirs,
            ambiguous, repeated or unreadable) and ``found_by`` (str: id, number and time, or number and day); and of
            the row that was found
            ``campaign`` (str), ``row`` (Int64: its place in the campaign), ``our_parts`` (Int64), ``our_price``
            (float64), ``our_currency`` (str).
        only_ours: accepted rows of the invoiced period that no line is for: ``campaign, row, id, to, at, parts, price,
            currency``.
        totals: a row a currency: ``theirs`` and ``ours`` (float64) and the amounts that lead from one to the other:
            ``ours + other_price + in_doubt + only_theirs + ambiguous + repeated + unreadable - only_ours = theirs``,
            exactly.
        source: the name of the file, or "a frame".

    Example:
        >>> sorted(MATCHES)
        ['ambiguous', 'in_doubt', 'matched', 'only_theirs', 'other_price', 'repeated', 'unreadable']
    """

    lines: pd.DataFrame
    only_ours: pd.DataFrame
    totals: pd.DataFrame
    source: str
    _ledger: object  # a Ledger or its path; None: only a table is known
    _service: str | None

    @property
    def doubts(self) -> pd.DataFrame:
        """The lines that say of a row in doubt that it was accepted; a credit does not. See them before `settle`."""
        return self.lines[(self.lines["match"] == "in_doubt") & (self.lines["price"] >= 0)]

    def card(self) -> Card:
        """Return the comparison as a card: what agrees and what does not, with amounts, and what `settle` would do."""
        return card_of(self.lines, self.only_ours, self.totals, self.doubts, self.source)

    @in_our_words
    def settle(self, *, reason: str) -> int:
        """Mark the rows in doubt that the invoice has as accepted, and return how many.

        They take the id, parts and price of their lines, and the ledger keeps the lines: `Record.evidence`. Rows in
        doubt that the invoice does not have stay in doubt: a later invoice may have them.

        Args:
            reason: the evidence, for the record, such as "invoice 2026-11, line 17".

        Raises:
            UsageError: there is no reason, or a row is no longer in doubt; rows of campaigns before it were settled.
                Or the invoice was compared with a result table, in which nothing is decided.
        """
        refuse(not_text("reason", reason))
        if not reason.strip():
            raise UsageError("reason= is empty; say which invoice shows it: settle(reason='invoice 2026-11, checked')")
        if self._ledger is None:
            raise UsageError(
                "the invoice was compared with a result table, and rows in doubt are settled in a ledger: "
                "cost.reconcile_invoice(ledger, invoice).settle(reason=...)"
            )
        settled = 0
        with opened(self._ledger) as ledger:
            for campaign, lines in self.doubts.groupby("campaign", sort=False):
                found = ledger.record(str(campaign), service=self._service)
                settled += found._found_accepted(lines, self.source, reason)
        return settled


@in_our_words
def reconcile_invoice(
    source: Source,
    invoice: AnyFrame | str | Path,
    *,
    columns: Mapping[str, Any] | None = None,
    service: str | None = None,
    tz: str = "UTC",
    dayfirst: bool | None = None,
    format: str | None = None,
    decimal: Literal[".", ","] = ".",
) -> Reconciled:
    """Compare a provider's invoice with what the ledger recorded, line by line. Nothing is changed.

    A line is the message with its id. Without an id, or with one that is not recorded, it is the nearest message to the
    same number within an hour of the line's time. Where an invoice has days and no times, it is the only message to
    the number on that day; among several, nothing is guessed (``ambiguous``). Once a line was found by its id, other
    lines with ids are found by number only among messages without one. Each message is found once. Messages count as
    invoiced in this period if they were recorded from the first to the last time of the lines.

    Args:
        source: the Ledger, its path, a Record, or a result table. Only a ledger can settle what is in doubt, and a
            result table has no time for such rows, so that only an id finds them.
        invoice: a frame, or the path of a CSV, Excel or Parquet file, with a line a message.
        columns: names in the invoice of ``id, to, at, parts, price, currency``, where they differ:
            ``{"id": "Message SID", "price": "Amount"}``. ``price`` and ``currency`` are needed, and ``id`` or both
            ``to`` and ``at``.
        service: needed only if the ledger has several services.
        tz: time zone of times that name none, and of days.
        dayfirst: whether 12/11/2026 is 12 November (True) or 11 December (False). Needed only if no line tells.
        format: the times' format where it is another one, such as ``"%y%m%d"``; ``"excel"`` for the numbers by which a
            spreadsheet counts days.
        decimal: the decimal sign of numbers in text. With ``","``, 1.234,50 is 1234.5, and 0.0075 cannot be read.

    Raises:
        UsageError: a column is missing, dates can be read in two ways, the time zone does not exist, or the ledger has
            several services.

    Warns:
        SmsOtpWarning: prices, parts or times that cannot be read; it names the column, rows and an example.

    Example:
        >>> import pathlib, tempfile, smsotp_nb as sms
        >>> ledger = sms.Ledger(pathlib.Path(tempfile.mkdtemp()) / "ledger.sqlite", create=True)
        >>> people = pd.DataFrame({"phone": ["+12025550123", "+12025550147"]})
        >>> made = sms.plan(people, "Hi", to="phone", campaign="sale")
        >>> with sms.Sandbox() as box:
        ...     sent = sms.send(made, box, ledger=ledger)
        >>> invoice = sent.loc[[0], ["id", "price", "currency"]]
        >>> found = reconcile_invoice(ledger, invoice)
        >>> found.lines["match"].tolist(), len(found.only_ours)
        (['matched'], 1)
    """
    refuse(
        not_zone("tz", tz),
        not_choice("decimal", decimal, (".", ",")),
        *(written := Written(dayfirst, format)).wrong(),
        None if columns is None else not_mapping("columns", columns, example="{'id': 'SID'}"),
    )
    frame = read_recipients(invoice) if isinstance(invoice, str | Path) else as_pandas(invoice)
    lines = lines_of(frame, dict(columns or {}), tz, written, decimal)
    ours, ledger, service = _recorded(source, service)
    name = Path(invoice).name if isinstance(invoice, str | Path) else "a frame"
    return _reconciled(lines, ours, _matched(lines, ours, tz), ledger, service, name)


# -- what is compared


def _recorded(source: Source, service: str | None) -> tuple[pd.DataFrame, object, str | None]:
    """Return the rows that may be on an invoice, and where doubts about them can be settled."""
    if isinstance(source, Record):
        return _rows_of(source), source._ledger, source.service
    if isinstance(source, Ledger | str | Path | Address):
        with read_from(source) as book:
            return _ours(book, service), source, service
    needed = [*_DTYPES, *(["service"] if service is not None else [])]
    table = contract.check(source, columns=[name for name in needed if name != "row"])
    mine = table if service is None else table[table["service"].eq(service)]
    return _billable(mine.assign(row=range(len(mine)))), None, service


def _ours(ledger: Ledger, service: str | None) -> pd.DataFrame:
    """Return the rows that may be on an invoice, accepted or in doubt, of one service."""
    known = ledger.campaigns()
    known = known[known["kind"].eq("campaign")]
    known = known if service is None else known[known["service"].eq(service)]
    services = known["service"].unique().tolist()
    if len(services) > 1:
        raise UsageError(f"the ledger has several services; pass service= one of {', '.join(map(repr, services))}")
    tables = [_rows_of(ledger.record(name, service=services[0])) for name in known["campaign"]]
    return pd.concat([pd.DataFrame(columns=[*_DTYPES]).astype(_DTYPES), *tables], ignore_index=True)


def _rows_of(campaign: Record) -> pd.DataFrame:
    frame = campaign._table().rename_axis("row").reset_index()
    doubt = campaign.in_doubt["started_at"].reindex(frame["row"]).array
    frame["at"] = frame["at"].where(frame["status"].ne("in_doubt").to_numpy(), contract.without_zone(pd.Series(doubt)))
    return _billable(frame)


def _billable(table: pd.DataFrame) -> pd.DataFrame:
    """Return the accepted rows and those in doubt."""
    found = table.loc[table["status"].isin(["accepted", "in_doubt"]), list(_DTYPES)]
    return found.assign(at=contract.in_zone(found["at"], "UTC")).astype(_DTYPES).reset_index(drop=True)


# -- which line is which row


def _matched(lines: pd.DataFrame, ours: pd.DataFrame, tz: str) -> pd.DataFrame:
    """Return for each line, by position, the ``place`` of its row, -1 for none, ``found_by``, and ``ambiguous``."""
    lines = lines.reset_index(drop=True)
    place = _by_id(lines["id"], ours["id"])
    found_by = pd.Series("id", index=lines.index, dtype=STR).where(place.notna())
    rest, free = lines[place.isna()].dropna(subset=["to", "at"]), ours[~ours.index.isin(place)]
    pairs = rest.reset_index(names="line").merge(free.reset_index(names="place"), on="to", suffixes=("", "_ours"))
    if place.notna().any():  # the ids are ours: one that is not recorded is of no message whose id is
        pairs = pairs[pairs["id"].isna() | pairs["id_ours"].isna()]
    near = dict(_near(pairs[~pairs["dated"]]))
    pairs = pairs[pairs["dated"] & ~pairs["place"].isin([*near.values()])]
    theirs, mine = (pairs[name].dt.tz_convert(tz).dt.normalize() for name in ("at", "at_ours"))
    same_day = pairs[theirs.eq(mine).to_numpy("bool")]
    clear = ~(same_day["line"].duplicated(keep=False) | same_day["place"].duplicated(keep=False))
    dated = same_day[clear].set_index("line")["place"].to_dict()
    for said, found in (("number and time", near), ("number and day", dated)):
        place = place.fillna(pd.Series(found, dtype="float64"))
        found_by = found_by.mask(lines.index.isin([*found]), said)
    ambiguous = lines.index.isin(same_day.loc[~clear, "line"])
    return pd.DataFrame({"place": place.fillna(-1).astype("int64"), "found_by": found_by, "ambiguous": ambiguous})


def _by_id(theirs: pd.Series, ours: pd.Series) -> pd.Series:
    """Return the place of the row of each id, missing where there is none; capitals make no difference."""
    first = ours.str.lower().drop_duplicates().dropna()
    return theirs.str.lower().map(pd.Series(first.index, index=first)).astype("float64")


def _near(pairs: pd.DataFrame) -> Iterator[tuple[int, int]]:
    """Yield line and row of one number that are less than an hour apart, the nearest first, each once."""
    pairs = pairs.assign(apart=(pairs["at"] - pairs["at_ours"]).abs())
    pairs = pairs[pairs["apart"] <= _NEAR].sort_values("apart", kind="stable")
    rows: set[int] = set()
    used: set[int] = set()
    for place, line in zip(pairs["place"].tolist(), pairs["line"].tolist(), strict=True):
        if place not in rows and line not in used:
            rows.add(place)
            used.add(line)
            yield line, place


# -- what comes of it


def _reconciled(
    lines: pd.DataFrame,
    ours: pd.DataFrame,
    found: pd.DataFrame,
    ledger: object,
    service: str | None,
    source: str,
) -> Reconciled:
    place = found["place"].to_numpy()
    beside = ours.reindex(found["place"].where(found["place"] >= 0)).set_axis(lines.index)
    match = _match(lines, beside, found)
    days = lines.pop("dated")
    lines = lines.assign(
        match=pd.Series(match, index=lines.index, dtype=STR),
        found_by=found["found_by"].array,
        campaign=beside["campaign"],
        row=beside["row"],
        our_parts=beside["parts"],
        our_price=beside["price"],
        our_currency=beside["currency"],
    )
    mine = ours[ours["status"].eq("accepted") & ~ours.index.isin(place)]
    only_ours = mine[_invoiced(mine["at"], lines, days, ours)][["campaign", "row", *FIELDS]].reset_index(drop=True)
    return Reconciled(lines, only_ours, _totals(lines, only_ours), source, ledger, service)


def _match(lines: pd.DataFrame, beside: pd.DataFrame, found: pd.DataFrame) -> Any:
    """Return what each line is, as in `MATCHES`; the first that applies."""
    place, ids = found["place"], lines["id"].str.lower()
    same = _micros(lines["price"]).eq(_micros(beside["price"])) & lines["currency"].eq(beside["currency"])
    again = (ids.notna() & ids.duplicated()).to_numpy() | (place.ge(0) & place.duplicated()).to_numpy()
    readable = lines["id"].notna() | (lines["to"].notna() & lines["at"].notna())
    kinds = {
        "unreadable": (~readable | lines["price"].isna() | lines["currency"].isna()).to_numpy(),
        "repeated": again,
        "ambiguous": found["ambiguous"].to_numpy(),
        "only_theirs": place.lt(0).to_numpy(),
        "in_doubt": beside["status"].fillna("").eq("in_doubt").to_numpy(bool),
        "matched": same.fillna(False).to_numpy(bool),
    }
    return np.select([*kinds.values()], [*kinds], default="other_price")


def _invoiced(at: pd.Series, lines: pd.DataFrame, days: pd.Series, ours: pd.DataFrame) -> pd.Series:
    """Say which times are in the invoiced period: that of the lines, or where they have no times, of their rows."""
    begins, ends = lines["at"], lines["at"].where(~days, lines["at"] + _DAY)
    if begins.isna().all():
        begins = ends = ours.merge(lines[["campaign", "row"]].dropna(), on=["campaign", "row"])["at"]
    inside: pd.Series = at.between(begins.min() - _NEAR, ends.max() + _NEAR)
    return inside


def _totals(lines: pd.DataFrame, only_ours: pd.DataFrame) -> pd.DataFrame:
    """Return what leads from our amounts to theirs, by currency, in whole millionths until the end."""
    first = lines[lines["row"].notna() & lines["match"].ne("repeated")]
    pieces = [
        _piece("theirs", lines["currency"], lines["price"]),
        _piece("ours", first["our_currency"], first["our_price"]),
        _piece("ours", only_ours["currency"], only_ours["price"]),
        _piece("only_ours", only_ours["currency"], only_ours["price"]),
    ]
    for kind, part in lines.groupby("match"):
        if kind != "matched":
            pieces.append(_piece(str(kind), part["currency"], part["price"]))
        if kind in ("other_price", "in_doubt", "unreadable"):
            pieces.append(_piece(str(kind), part["our_currency"], part["our_price"], -1))
    sums = pd.concat(pieces).pivot_table(index="currency", columns="kind", values="micros", aggfunc="sum")
    sums = sums.reindex(columns=[*_AMOUNTS]).fillna(0).rename_axis(columns=None).reset_index()
    return sums.assign(currency=sums["currency"].astype(STR), **{name: contract.money(sums[name]) for name in _AMOUNTS})


def _piece(kind: str, currency: pd.Series, price: pd.Series, sign: int = 1) -> pd.DataFrame:
    table = pd.DataFrame({"kind": kind, "currency": currency.array, "micros": _micros(price).array})
    return table.dropna().assign(micros=lambda known: known["micros"].astype("int64") * sign)


def _micros(prices: pd.Series) -> pd.Series:
    return (prices.astype("float64") * 1_000_000).round().astype("Int64")
