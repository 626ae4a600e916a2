"""A provider's invoice, line by line, against the rows that the ledger recorded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd

from .._arguments import given, not_flag, not_mapping, not_text, not_zone, refuse
from .._calls import in_our_words
from .._frames import AnyFrame, as_pandas
from .._ledger import Campaign, Ledger, LedgerOrPath
from .._ledger.book import opened
from .._pandas import STR
from .._recipients.reading import read_recipients
from .._results import contract
from ..columns import absent, listed
from ..errors import UsageError

MATCHES: Final[dict[str, str]] = {
    "matched": "the same price as recorded",
    "other_price": "another price, or a price where none was recorded",
    "in_doubt": "the ledger does not know whether this message was accepted; the line says so",
    "only_theirs": "no such message is recorded",
    "repeated": "the message of a line before it",
    "unreadable": "neither an id nor a number with a time, or no price",
}
FIELDS: Final = ("id", "to", "at", "parts", "price", "currency")
_DTYPES: Final[dict[str, str | pd.StringDtype]] = {
    "campaign": STR,
    "row": "Int64",
    "status": STR,
    **{name: contract.COLUMNS[name] for name in FIELDS},
}
_AMOUNTS: Final = ("theirs", "ours", "other_price", "in_doubt", "only_theirs", "repeated", "unreadable", "only_ours")
_LEAST_DIGITS: Final = 5  # of a number
_NEAR: Final = pd.Timedelta(hours=1)
_MONTHS: Final = 12
_TOO_MUCH: Final = 1e9  # of a message: what is more is no price and no number of parts
_SLASHED: Final = r"^(\d{1,2})[/.-](\d{1,2})[/.-]\d{4}"
_ZONED: Final = r"(?i)(?:Z|:\d\d(?:[.,]\d{1,9})? ?(?:[AP]M)? ?(?:UTC|GMT|[+-]\d\d(?::?\d\d)?))$"


@dataclass(frozen=True, slots=True, eq=False)
class Reconciled:
    """An invoice compared with the ledger. Nothing has been changed.

    Attributes:
        lines: the invoice on its own index: ``id, to, currency`` (str), ``at`` (datetime64[us, UTC]), ``parts``
            (Int64) and ``price`` (float64) as read; ``match`` (str: matched, other_price, in_doubt, only_theirs,
            repeated or unreadable) and ``found_by`` (str: id, or number and time); and of the row that was found
            ``campaign`` (str), ``row`` (Int64: its place in the campaign), ``our_parts`` (Int64), ``our_price``
            (float64), ``our_currency`` (str).
        only_ours: accepted rows of the invoiced period that no line is for: ``campaign, row, id, to, at, parts, price,
            currency``.
        totals: a row a currency: ``theirs`` and ``ours`` (float64) and the amounts that lead from one to the other:
            ``ours + other_price + in_doubt + only_theirs + repeated + unreadable - only_ours = theirs``, exactly.

    Example:
        >>> sorted(MATCHES)
        ['in_doubt', 'matched', 'only_theirs', 'other_price', 'repeated', 'unreadable']
    """

    lines: pd.DataFrame
    only_ours: pd.DataFrame
    totals: pd.DataFrame
    _ledger: LedgerOrPath
    _service: str | None

    @property
    def doubts(self) -> pd.DataFrame:
        """The lines that say of a row in doubt that it was accepted; a credit does not. See them before `settle`."""
        return self.lines[(self.lines["match"] == "in_doubt") & (self.lines["price"] >= 0)]

    def settle(self, *, reason: str) -> int:
        """Mark the rows in doubt that the invoice has as accepted, and return how many.

        Rows in doubt that the invoice does not have stay in doubt: a later invoice may have them.

        Args:
            reason: the evidence, for the record, such as "invoice 2026-11, line 17".

        Raises:
            UsageError: a row is no longer in doubt; rows of campaigns before it were settled.
        """
        refuse(not_text("reason", reason))
        settled = 0
        with opened(self._ledger) as ledger:
            for campaign, lines in self.doubts.groupby("campaign", sort=False):
                found = ledger.campaign(str(campaign), service=self._service)
                settled += found.resolve(lines["to"].tolist(), accepted=True, reason=reason)
        return settled


@in_our_words
def reconcile_invoice(
    ledger: LedgerOrPath,
    invoice: AnyFrame | str | Path,
    *,
    columns: Mapping[str, Any] | None = None,
    service: str | None = None,
    tz: str = "UTC",
    dayfirst: bool | None = None,
) -> Reconciled:
    """Compare a provider's invoice with what the ledger recorded, line by line. Nothing is changed.

    A line is the message with its id. Without an id, or with one that is not recorded, it is the nearest message to the
    same number within an hour of the line's time; each message is found once. Messages count as invoiced in this period
    if they were recorded from the first to the last time of the lines.

    Args:
        ledger: the Ledger, or its path.
        invoice: a frame, or the path of a CSV, Excel or Parquet file, with a line a message.
        columns: names in the invoice of ``id, to, at, parts, price, currency``, where they differ:
            ``{"id": "Message SID", "price": "Amount"}``. ``price`` and ``currency`` are needed, and ``id`` or both
            ``to`` and ``at``.
        service: needed only if the ledger has several services, as for ``ledger.campaign``.
        tz: time zone of times that name none.
        dayfirst: whether 12/11/2026 is 12 November (True) or 11 December (False). Needed only if no line tells.

    Raises:
        UsageError: a column is missing, dates can be read in two ways, the time zone does not exist, or the ledger has
            several services.

    Example:
        >>> import pathlib, tempfile, smsotp_nb as sms
        >>> ledger = sms.Ledger(pathlib.Path(tempfile.mkdtemp()) / "ledger.sqlite", create=True)
        >>> people = pd.DataFrame({"phone": ["+12025550123", "+12025550147"]})
        >>> made = sms.plan(people, to="phone", campaign="sale", text="Hi")
        >>> with sms.Sandbox() as box:
        ...     sent = sms.send(made, client=box.client(), ledger=ledger)
        >>> invoice = sent.loc[[0], ["id", "price", "currency"]]
        >>> found = reconcile_invoice(ledger, invoice)
        >>> found.lines["match"].tolist(), len(found.only_ours)
        (['matched'], 1)
    """
    refuse(
        not_zone("tz", tz),
        None if dayfirst is None else not_flag("dayfirst", dayfirst),
        None if columns is None else not_mapping("columns", columns, example="{'id': 'SID'}"),
    )
    frame = read_recipients(invoice) if isinstance(invoice, str | Path) else as_pandas(invoice)
    lines = _lines(frame, dict(columns or {}), tz, dayfirst)
    with opened(ledger) as book:
        ours = _ours(book, service)
    return _reconciled(lines, ours, _matched(lines, ours), ledger, service)


# -- what is compared


def _lines(frame: pd.DataFrame, names: dict[str, Any], tz: str, dayfirst: bool | None) -> pd.DataFrame:
    """Return the lines of an invoice in our columns; what cannot be read is missing."""
    if not isinstance(frame, pd.DataFrame):
        raise UsageError(f"invoice= must be a frame or the path of a file, got {given(frame)}")
    unknown = [name for name in names if name not in FIELDS]
    if unknown:
        raise UsageError(f"columns= names {given(unknown[0])}; it can name {', '.join(FIELDS)}")
    wanted = [name for name in FIELDS if name in names or name in frame.columns or name in ("price", "currency")]
    problems = [wrong for name in wanted if (wrong := absent(names.get(name, name), frame.columns, beside=False))]
    if not {"id"} <= {*wanted} and not {"to", "at"} <= {*wanted}:
        problems.append("neither a column 'id' nor both 'to' and 'at'; name them: columns={'id': \"...\"}")
    if problems:
        raise UsageError(f"invoice=: {'; '.join(problems)} {listed(frame.columns)}")
    empty = pd.Series(pd.NA, index=frame.index, dtype=STR)
    cells = {name: frame[names.get(name, name)] if name in wanted else empty for name in FIELDS}
    texts = {name: column.astype(STR).str.strip() for name, column in cells.items()}
    return pd.DataFrame(
        {
            "id": texts["id"].str.lower(),
            "to": _numbers(texts["to"]),
            "at": _times(cells["at"], tz, dayfirst),
            "parts": _amounts(texts["parts"]).round().astype("Int64"),
            "price": _amounts(texts["price"]).round(6),
            "currency": texts["currency"].str.upper(),
        }
    )


def _amounts(texts: pd.Series) -> pd.Series:
    found = pd.to_numeric(texts, errors="coerce").astype("float64")
    return found.where(found.abs() < _TOO_MUCH)


def _numbers(texts: pd.Series) -> pd.Series:
    """Return numbers as E.164: an invoice may leave out the plus, write 00, or hold them as floats."""
    whole = texts.str.replace(r"\.0$", "", regex=True)
    digits = whole.str.replace(r"\D", "", regex=True).str.replace("^00", "", regex=True)
    return ("+" + digits).where(digits.fillna("").str.len().ge(_LEAST_DIGITS))


def _times(column: pd.Series, tz: str, dayfirst: bool | None) -> pd.Series:
    texts = column.astype(STR).str.strip()
    first = _day_first(texts) if dayfirst is None else bool(dayfirst)
    zoned = texts.str.contains(_ZONED, regex=True, na=False)
    aware = pd.to_datetime(texts.where(zoned), errors="coerce", format="mixed", utc=True, dayfirst=first)
    naive = pd.to_datetime(texts.where(~zoned), errors="coerce", format="mixed", utc=True, dayfirst=first)
    naive = naive.dt.tz_localize(None)
    here = naive.dt.tz_localize(tz, ambiguous="NaT", nonexistent="shift_forward").dt.tz_convert("UTC")
    return aware.fillna(here).dt.as_unit("us")


def _day_first(texts: pd.Series) -> bool:
    """Return whether dates such as 13/11/2026 begin with their day: some line tells, by a number above 12.

    Raises:
        UsageError: no line tells, or they tell different things.
    """
    numbers = texts.str.extract(_SLASHED).dropna().astype("int64")
    unequal = numbers[numbers[0] != numbers[1]]
    days, months = bool((numbers[0] > _MONTHS).any()), bool((numbers[1] > _MONTHS).any())
    if len(unequal) and days == months:
        label = unequal.index[0]
        raise UsageError(
            f"column {texts.name!r} of the invoice has dates that can be read in two ways, such as {texts[label]!r} in "
            f"row {label!r}; pass dayfirst=True if it begins with the day, dayfirst=False if with the month"
        )
    return days


def _ours(ledger: Ledger, service: str | None) -> pd.DataFrame:
    """Return the rows that may be on an invoice, accepted or in doubt, of one service."""
    known = ledger.campaigns()
    known = known[known["kind"].eq("campaign")]
    known = known if service is None else known[known["service"].eq(service)]
    services = known["service"].unique().tolist()
    if len(services) > 1:
        raise UsageError(f"the ledger has several services; pass service= one of {', '.join(map(repr, services))}")
    tables = [_rows_of(ledger.campaign(name, service=services[0])) for name in known["campaign"]]
    return pd.concat([pd.DataFrame(columns=[*_DTYPES]).astype(_DTYPES), *tables], ignore_index=True)


def _rows_of(campaign: Campaign) -> pd.DataFrame:
    frame = campaign.frame.rename_axis("row").reset_index()
    doubt = campaign.in_doubt["started_at"].reindex(frame["row"]).array
    frame["at"] = frame["at"].where(frame["status"].ne("in_doubt").to_numpy(), pd.Series(doubt))
    frame["id"] = frame["id"].str.lower()
    return frame.loc[frame["status"].isin(["accepted", "in_doubt"]), list(_DTYPES)].astype(_DTYPES)


# -- which line is which row


def _matched(lines: pd.DataFrame, ours: pd.DataFrame) -> pd.DataFrame:
    """Return for each line, by position, the ``place`` of its row, -1 for none, and ``found_by``."""
    lines = lines.reset_index(drop=True)
    first = ours.drop_duplicates("id").dropna(subset="id")
    by_id = lines["id"].map(pd.Series(first.index, index=first["id"]))
    rest = lines[by_id.isna()].dropna(subset=["to", "at"])
    near = dict(_near(rest, ours[~ours.index.isin(by_id)]))
    place = by_id.fillna(pd.Series(near, dtype="float64")).fillna(-1).astype("int64")
    by_number = pd.Series("number and time", index=lines.index, dtype=STR).where(lines.index.isin([*near]))
    return pd.DataFrame({"place": place, "found_by": by_number.where(by_id.isna(), "id")})


def _near(lines: pd.DataFrame, ours: pd.DataFrame) -> Iterator[tuple[int, int]]:
    """Yield line and row of one number that are less than an hour apart, the nearest first, each once."""
    pairs = lines.reset_index(names="line").merge(ours.reset_index(names="place"), on="to", suffixes=("", "_ours"))
    pairs["apart"] = (pairs["at"] - pairs["at_ours"]).abs()
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
    lines: pd.DataFrame, ours: pd.DataFrame, found: pd.DataFrame, ledger: LedgerOrPath, service: str | None
) -> Reconciled:
    place = found["place"].to_numpy()
    beside = ours.reindex(found["place"].where(found["place"] >= 0)).set_axis(lines.index)
    match = _match(lines, beside, found["place"])
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
    only_ours = mine[_invoiced(mine["at"], lines, ours)][["campaign", "row", *FIELDS]].reset_index(drop=True)
    return Reconciled(lines, only_ours, _totals(lines, only_ours), ledger, service)


def _match(lines: pd.DataFrame, beside: pd.DataFrame, place: pd.Series) -> Any:
    """Return what each line is, as in `MATCHES`; the first that applies."""
    same = _micros(lines["price"]).eq(_micros(beside["price"])) & lines["currency"].eq(beside["currency"])
    again = (lines["id"].notna() & lines["id"].duplicated()).to_numpy() | (place.ge(0) & place.duplicated()).to_numpy()
    readable = lines["id"].notna() | (lines["to"].notna() & lines["at"].notna())
    kinds = {
        "unreadable": (~readable | lines["price"].isna() | lines["currency"].isna()).to_numpy(),
        "repeated": again,
        "only_theirs": place.lt(0).to_numpy(),
        "in_doubt": beside["status"].fillna("").eq("in_doubt").to_numpy(bool),
        "matched": same.fillna(False).to_numpy(bool),
    }
    return np.select([*kinds.values()], [*kinds], default="other_price")


def _invoiced(at: pd.Series, lines: pd.DataFrame, ours: pd.DataFrame) -> pd.Series:
    """Say which times are in the invoiced period: that of the lines, or where they have no times, of their rows."""
    times = lines["at"].dropna()
    if times.empty:
        times = ours.merge(lines[["campaign", "row"]].dropna(), on=["campaign", "row"])["at"].dropna()
    inside: pd.Series = at.between(times.min() - _NEAR, times.max() + _NEAR)
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
