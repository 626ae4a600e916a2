"""A provider's invoice, line by line, against the rows that the ledger recorded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
import pandas as pd

from .._calling import in_our_words, not_choice, not_mapping, not_text, not_zone, refuse
from .._cards import Card, WithCard, counted
from .._dates import Written, spanned
from .._frames import AnyFrame, as_pandas
from .._ledger import Address, Ledger, Named, Record, opened, read_from
from .._pandas import STR
from .._recipients import read_recipients
from .._results import contract
from ..errors import UsageError
from .invoice_card import card_of
from .invoice_lines import FIELDS, Invoice, invoice_of
from .invoice_totals import APART, LINES, Compared, shaped, sums_of, totals_compared, unpriced_of
from .sources import Source, accepted_once

MATCHES: Final[dict[str, str]] = {
    "matched": "the same price as recorded, or the same but for the rounding of the whole file",
    "other_price": "another price, or a price where none was recorded; of totals, another amount or number",
    "in_doubt": "the ledger does not know whether this message was accepted; the line says so",
    "only_theirs": "no such message is recorded",
    "ambiguous": "a day and no time, and several messages to the number on that day: only an id tells which",
    "repeated": "the message of another line",
    "unreadable": "neither an id nor a number with a time, or no price",
    "tax": "a tax, by its words",
    "fee": "a fee, a rental or another charge that is of no message",
    "credit": "a credit, refund or discount",
    "total": "a total of other lines, which counts for nothing itself",
    "payment": "a payment of a balance or into an account, which counts for nothing",
}
_DTYPES: Final[dict[str, str | pd.StringDtype]] = {
    "campaign": STR,
    "row": "Int64",
    "status": STR,
    "iso": STR,
    **{name: contract.ALL[name] for name in FIELDS},
    "at": "datetime64[us, UTC]",
}
_NEAR: Final = pd.Timedelta(hours=1)
_DAY: Final = pd.Timedelta(days=1)
_MOST: Final = 0.9  # of the lines that show something: it is of the whole file
_QUARTER: Final = pd.Timedelta(minutes=15)  # zones of the earth are whole quarters of an hour apart
_FARTHEST: Final = pd.Timedelta(hours=14)


@dataclass(frozen=True, slots=True, eq=False)
class Reconciled(WithCard):
    """An invoice compared with the ledger. Nothing has been changed.

    Attributes:
        lines: the invoice on its own index: ``id, to, currency`` (str), ``at`` (datetime64[us, UTC]), ``parts``
            (Int64) and ``price`` (float64) as read, ``messages`` (Int64), ``country, kind`` (str) of totals; ``match``
            (str: matched, other_price, in_doubt, only_theirs, ambiguous, repeated, unreadable, tax, fee, credit,
            payment or total) and ``found_by`` (str: id, number and time, number and day, or the grain of totals); and
            of the row that was found ``campaign`` (str), ``row`` (Int64: its place in the campaign), ``our_parts,
            our_messages`` (Int64), ``our_price`` (float64), ``our_currency`` (str).
        only_ours: accepted rows of the invoiced period that no line is for: ``campaign, row, id, to, at, parts, price,
            currency``; of totals, one row a group, with ``messages, country, kind``.
        totals: a row a currency: ``theirs`` and ``ours`` (float64) and the amounts that lead from one to the other:
            ``ours + rounding + other_price + in_doubt + only_theirs + ambiguous + repeated + unreadable + tax + fee +
            credit - only_ours = theirs``, exactly. Totals of others and payments are in none.
        notes: what was concluded from the file, in sentences: columns, signs, rounding, a shift of all times.
        source: the name of the file, or "a frame".

    Example:
        >>> sorted(MATCHES)[:4]
        ['ambiguous', 'credit', 'fee', 'in_doubt']
    """

    lines: pd.DataFrame
    only_ours: pd.DataFrame
    totals: pd.DataFrame
    notes: tuple[str, ...]
    source: str
    _tz: str
    _ledger: object  # a Ledger or its path; None: only a table is known
    _records: Mapping[str, Named]
    _is_rounded: bool

    @property
    def doubts(self) -> pd.DataFrame:
        """The lines that say of a row in doubt that it was accepted; a credit does not. See them before `settle`."""
        return self.lines[(self.lines["match"] == "in_doubt") & (self.lines["price"] >= 0)]

    def card(self) -> Card:
        """Return the comparison as a card: what agrees and what does not, with amounts, and what `settle` would do."""
        lines = self.lines.assign(at=self.lines["at"].dt.tz_convert(self._tz))  # its days are those of its zone
        return card_of(lines, self.only_ours, self.totals, self.doubts, self.notes, self.source)

    @in_our_words
    def settle(self, *, reason: str) -> int:
        """Mark the rows in doubt that the invoice has as accepted, and return how many.

        They take the id, parts and price of their lines, and the ledger keeps the lines: `Record.evidence`. A price
        that the invoice rounds is not taken: the row stays without one. Rows in doubt that the invoice does not have
        stay in doubt: a later invoice may have them.

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
                found = ledger._record(self._records[str(campaign)])
                settled += found._found_accepted(lines, self.source, reason, priced=not self._is_rounded)
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
    decimal: Literal[".", ","] | None = None,
) -> Reconciled:
    """Compare a provider's invoice or export with what the ledger recorded, line by line. Nothing is changed.

    Campaigns, passcodes and messages to oneself are compared. A line is the message with its id. Without an id, or with
    one that is not recorded, it is the nearest message to the same number within an hour of the line's time. Where an
    invoice has days and no times, it is the only message to the number on that day; among several, nothing is guessed
    (``ambiguous``). Once a line was found by its id, other lines with ids are found by number only among messages
    without one. Each message is found once. Messages count as invoiced in this period if they were recorded from the
    first to the last time of the lines.

    An invoice without numbers and known ids is one of totals: they are compared by what its lines name of day, or
    period, country and kind (passcode, test or campaign). Lines that speak of a tax, a fee, a credit or a total of
    others are shown apart. Whatever is concluded of the file as a whole is in ``notes`` and on the card: its columns
    by their names, negative amounts that are charges, rounding, amounts 10 or 100 times the recorded ones, times
    that are all off by the same hours.

    Args:
        source: the Ledger, its path, a Record, or a result table. Only a ledger can settle what is in doubt, and a
            result table has no time for such rows, so that only an id finds them.
        invoice: a frame, or the path of a CSV, Excel or Parquet file, with a line a message or a total.
        columns: names in the invoice of ``id, to, at, parts, price, currency, messages, country, kind``, where its
            columns are not found by their names: ``{"id": "Line key", "price": "Net"}``. ``currency`` may be a code
            such as "USD". A price is needed, and ``id``, or both ``to`` and ``at``, or a day, country or kind.
        service: needed only if the ledger has several services.
        tz: time zone of times that name none, and of days.
        dayfirst: whether 12/11/2026 is 12 November (True) or 11 December (False). Needed only if no line tells.
        format: the times' format where it is another one, such as ``"%y%m%d"``; ``"excel"`` where some are the numbers
            by which a spreadsheet counts days. Where all are, or all count from 1970, they are read.
        decimal: the decimal sign of numbers in text, by default as the cells show it. With ``","``, 1.234,50 is 1234.5,
            and 0.0075 cannot be read.

    Raises:
        UsageError: a column is missing, dates or amounts can be read in two ways, no currency is known, the time zone
            does not exist, or the ledger has several services.

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
        None if decimal is None else not_choice("decimal", decimal, (".", ",")),
        *(written := Written(dayfirst, format)).wrong(),
        None if columns is None else not_mapping("columns", columns, example="{'id': 'SID'}"),
    )
    frame = read_recipients(invoice) if isinstance(invoice, str | Path) else as_pandas(invoice)
    ours, ledger, records, purged = _recorded(source, service)
    currencies = sorted(ours["currency"].dropna().unique())
    read = invoice_of(frame, dict(columns or {}), tz, written, decimal, currencies)
    read.lines = _upright(read.lines, read.notes)
    if purged:
        read.notes.append(
            f"The rows of {counted(len(purged), 'purged campaign')} are gone, and what they cost is in no amount of "
            f"ours ({', '.join(map(repr, purged[:3]))}{', ...' * (len(purged) > 3)}); cost.by and cost.summary have it."
        )
    name = Path(invoice).name if isinstance(invoice, str | Path) else "a frame"
    if read.may_be_totals and _by_id(read.lines["id"], ours["id"]).isna().all():
        parts = totals_compared(read, ours, tz)
    else:
        parts = _lines_compared(read, ours, tz)
    return Reconciled(
        *parts,
        notes=tuple(read.notes),
        source=name,
        _tz=tz,
        _ledger=ledger,
        _records=records,
        _is_rounded=read.is_rounded,
    )


# -- what is compared


def _recorded(source: Source, service: str | None) -> tuple[pd.DataFrame, object, dict[str, Named], list[str]]:
    """Return the rows that may be on an invoice, where doubts about them can be settled, and what was purged."""
    if isinstance(source, Record):
        it = Named(source._number, source.service, "[]", source.name, 0)
        purged = [source.name] * source._is_purged()
        return _rows_of(source).assign(kind="campaign"), source._ledger, {source.name: it}, purged
    if isinstance(source, Ledger | str | Path | Address):
        with read_from(source) as book:
            ours, records = _ours(book, service)
            purged = [shown for shown, it in records.items() if book._record(it)._is_purged()]
        return ours, source, records, purged
    needed = [*_DTYPES, *(["service"] if service is not None else [])]
    table = accepted_once(contract.check(source, columns=[name for name in needed if name != "row"]))
    mine = table if service is None else table[table["service"].eq(service)]
    return _billable(mine.assign(row=range(len(mine)))).assign(kind="campaign"), None, {}, []


def _ours(ledger: Ledger, service: str | None) -> tuple[pd.DataFrame, dict[str, Named]]:
    """Return the rows that may be on an invoice, accepted or in doubt, of one service, and whose they are by name."""
    known = [(kind, it) for kind, it in ledger._everything() if service in (None, it.service)]
    services = [*dict.fromkeys(it.service for _, it in known)]
    if len(services) > 1:
        one = {it.service: it.name for _, it in reversed(known)}
        said = ", ".join(f"{service!r} (as campaign {one[service]!r})" for service in services)
        raise UsageError(f"the ledger has several services; pass service= one of {said}")
    tables, records = [pd.DataFrame(columns=[*_DTYPES, "kind"]).astype({**_DTYPES, "kind": STR})], {}
    for kind, it in known:
        shown = f"{it.name} (test)" if kind == "test" else it.name
        shown = shown if shown not in records else f"{shown} {it.number}"
        records[shown] = it
        tables.append(_rows_of(ledger._record(it)).assign(campaign=shown, kind=kind))
    ours = pd.concat(tables, ignore_index=True)
    return ours.astype({"campaign": STR, "kind": STR}), records


def _rows_of(campaign: Record) -> pd.DataFrame:
    frame = campaign._table().rename_axis("row").reset_index()
    doubt = campaign.in_doubt["started_at"].reindex(frame["row"]).array
    frame["at"] = frame["at"].where(frame["status"].ne("in_doubt").to_numpy(), contract.without_zone(pd.Series(doubt)))
    return _billable(frame)


def _billable(table: pd.DataFrame) -> pd.DataFrame:
    """Return the accepted rows and those in doubt.

    What an invoice settled has no country from the service: it counts in that of its number.
    """
    if "region" in table:
        settled = table["iso"].isna() & table["status"].eq("accepted")
        table = table.assign(iso=table["iso"].mask(settled, table["region"]))
    found = table.loc[table["status"].isin(["accepted", "in_doubt"]), list(_DTYPES)]
    return found.assign(at=contract.in_zone(found["at"], "UTC")).astype(_DTYPES).reset_index(drop=True)


def _upright(lines: pd.DataFrame, notes: list[str]) -> pd.DataFrame:
    """Return lines whose prices are above nothing where a file writes all its charges below it.

    What is paid into an account between them is a line above nothing that has a time and names no message.
    """
    priced = lines["special"].isna() & lines["price"].notna()
    below, above = (priced & lines["price"].lt(0), priced & lines["price"].gt(0))
    bare = lines[["id", "to", "country", "messages", "parts"]].isna().all(axis=1) & lines["at"].notna()
    if not below.any() or (above & ~bare).any() or above.sum() >= below.sum():
        return lines
    if above.any():
        notes.append(
            f"Charges are negative and read as charges, not credits; {counted(int(above.sum()), 'amount')} above "
            "nothing without a message, country or quantity: read as paid into the account and not counted."
        )
    else:
        notes.append("All amounts are negative, as some exports write charges; they are read as charges, not credits.")
    return lines.assign(price=-lines["price"], special=lines["special"].mask(above, "payment"))


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
    clear = ~same_day["line"].duplicated(keep=False)
    other = same_day["price"].ne(same_day["price_ours"])  # of several lines for one message that with its price counts
    first = same_day[clear].loc[other[clear].sort_values(kind="stable").index].drop_duplicates("place")
    dated = first.set_index("line")["place"].to_dict()
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


def _lines_compared(read: Invoice, ours: pd.DataFrame, tz: str) -> Compared:
    """Compare lines with messages."""
    lines, found = read.lines, _matched(read.lines, ours, tz)
    place = found["place"].to_numpy()
    beside = ours.reindex(found["place"].where(found["place"] >= 0)).set_axis(lines.index)
    read.conclude_of_prices(lines["price"], beside["price"].where(lines["currency"].eq(beside["currency"])))
    by_id = found["found_by"].eq("id").fillna(False).to_numpy(bool)
    _say_shift(lines[~by_id], ours[~ours.index.isin(place[by_id])], len(lines), read.notes)
    match = _match(read, beside, found)
    coarser = read.is_coarser_than(ours["price"])
    if "in_doubt" in match and not read.is_rounded and (coarser or read.is_scaled):
        read.is_rounded = True  # too few lines show it; a price that may be rounded is not recorded as exact
        why = "may be in another unit" if read.is_scaled else "have fewer decimal places"
        read.notes.append(f"Its amounts {why} than the recorded ones: settle takes no price from it.")
    lines = lines.assign(
        match=match,
        found_by=found["found_by"].array,
        campaign=beside["campaign"],
        row=beside["row"],
        our_parts=beside["parts"],
        our_messages=beside["row"].notna().astype("Int64"),
        our_price=beside["price"],
        our_currency=beside["currency"],
    )
    if lines["at"].isna().all() and beside["at"].notna().any():
        span = spanned((beside["at"].min().tz_convert(tz).date(), beside["at"].max().tz_convert(tz).date()))
        read.notes.append(f"It has no times; recorded messages count that are {span}, as those that it names.")
    mine = ours[ours["status"].eq("accepted") & ~ours.index.isin(place)]
    only_ours = mine[_invoiced(mine["at"], lines, ours)][["campaign", "row", *FIELDS]].reset_index(drop=True)
    compared = ours[ours["status"].eq("accepted") & ours.index.isin(place)]
    amounts = pd.concat([table[["price", "currency"]] for table in (compared, only_ours)])
    read.notes += unpriced_of(int(amounts.isna().any(axis=1).sum()))
    return Compared(shaped(lines, LINES), only_ours, sums_of(lines, only_ours, lines["match"].ne("repeated")))


def _match(read: Invoice, beside: pd.DataFrame, found: pd.DataFrame) -> Any:
    """Return what each line is, as in `MATCHES`; the first that applies."""
    lines, place = read.lines, found["place"]
    ids = lines["id"].str.lower().reset_index(drop=True)
    order = lines["price"].isna().reset_index(drop=True).sort_values(kind="stable").index  # those with a price first
    again = _again(ids, order) | _again(place.where(place.ge(0)), order)
    same = read.agrees(lines["price"], beside["price"]) & lines["currency"].eq(beside["currency"])
    readable = lines["id"].notna() | (lines["to"].notna() & lines["at"].notna())
    priced = lines["price"].notna() & lines["currency"].notna()
    special = lines["special"].notna() & lines["to"].isna() & place.lt(0).to_numpy() & lines["price"].notna()
    kinds = {
        **{kind: (special & lines["special"].eq(kind)).to_numpy(bool) for kind in APART},
        "repeated": again,
        "unreadable": (~readable | ~priced).to_numpy(),
        "ambiguous": found["ambiguous"].to_numpy(),
        "only_theirs": place.lt(0).to_numpy(),
        "in_doubt": beside["status"].fillna("").eq("in_doubt").to_numpy(bool),
        "matched": same.fillna(False).to_numpy(bool),
    }
    return np.select([*kinds.values()], [*kinds], default="other_price")


def _again(keys: pd.Series, order: pd.Index) -> Any:
    """Say which lines have the key of a line before them in this order."""
    ordered = keys.reindex(order)
    return (ordered.notna() & ordered.duplicated()).reindex(keys.index).to_numpy(bool)


def _say_shift(lines: pd.DataFrame, ours: pd.DataFrame, many: int, notes: list[str]) -> None:
    """Say so where nearly all lines without a known id are the same hours from a message to their number."""
    lines = lines[~lines["dated"] & lines["special"].isna()].dropna(subset=["to", "at"]).reset_index(names="line")
    if len(lines) < 2 or len(lines) < (1 - _MOST) * many:
        return
    pairs = lines.merge(ours[["to", "at"]].dropna(), on="to", suffixes=("", "_ours"))
    apart = pairs["at"] - pairs["at_ours"]
    rounded = apart.dt.round(_QUARTER)
    near = pairs[(apart.abs() <= _FARTHEST) & ((apart - rounded).abs() <= _QUARTER / 3)].assign(apart=rounded)
    hours = near.drop_duplicates(["line", "apart"])["apart"].value_counts()
    if len(hours) and hours.iloc[0] >= _MOST * len(lines) and hours.index[0] != pd.Timedelta(0):
        shift = hours.index[0].total_seconds() / 3600
        zone = f"tz='Etc/GMT{-shift:+.0f}'" if shift == int(shift) else "the zone of the invoice as tz="
        lines_are = counted(int(hours.iloc[0]), "line is", "lines are")
        hours_off = f"{abs(shift):g} {'hour' if abs(shift) == 1 else 'hours'} {'later' if shift > 0 else 'earlier'}"
        notes.append(
            f"{lines_are} {hours_off} than the message to their number: pass {zone} where the times name no zone, or "
            "correct them."
        )


def _invoiced(at: pd.Series, lines: pd.DataFrame, ours: pd.DataFrame) -> pd.Series:
    """Say which times are in the invoiced period: of the lines, where they have no times of their rows, or any."""
    lines = lines[lines["special"].isna() | lines["row"].notna()]
    begins, ends = lines["at"], lines["at"].where(~lines["dated"], lines["at"] + _DAY)
    if begins.isna().all():
        begins = ends = ours.merge(lines[["campaign", "row"]].dropna(), on=["campaign", "row"])["at"]
    if begins.isna().all():  # nothing tells the period
        return at.notna()
    inside: pd.Series = at.between(begins.min() - _NEAR, ends.max() + _NEAR)
    return inside
