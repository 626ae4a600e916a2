"""Amounts of an invoice and of the ledger added up: by currency, and line by line where an invoice has totals alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import numpy as np
import pandas as pd

from .._cards import counted
from .._pandas import STR
from .._results import contract
from .._showing import label as called
from .invoice_lines import FIELDS, Invoice

APART: Final = ("total", "payment", "tax", "credit", "fee")  # lines that are of no message
Kinds = Mapping[str, str | pd.StringDtype]
_FIELDS: Final[Kinds] = {**{name: contract.ALL[name] for name in FIELDS}, "at": "datetime64[us, UTC]"}
_GRAIN: Final[Kinds] = {"messages": "Int64", "country": STR, "kind": STR}
LINES: Final[Kinds] = {
    **_FIELDS,
    **_GRAIN,
    **dict.fromkeys(("match", "found_by", "campaign"), STR),
    **dict.fromkeys(("row", "our_parts", "our_messages"), "Int64"),
    "our_price": "float64",
    "our_currency": STR,
}
_ONLY_OURS: Final[Kinds] = {"campaign": STR, "row": "Int64", **_FIELDS, **_GRAIN}
AMOUNTS: Final = (
    *("theirs", "ours", "rounding", "other_price", "in_doubt", "only_theirs", "ambiguous", "repeated", "unreadable"),
    *("tax", "fee", "credit", "only_ours"),
)
_COUNTS: Final = ("messages", "parts", "micros", "unpriced", "doubt")
_DAY: Final = pd.Timedelta(days=1)


class Compared(NamedTuple):
    """Lines, what only the ledger has, and the totals of both."""

    lines: pd.DataFrame
    only_ours: pd.DataFrame
    totals: pd.DataFrame


def sums_of(lines: pd.DataFrame, only_ours: pd.DataFrame, first: pd.Series) -> pd.DataFrame:
    """Return what leads from our amounts to theirs, by currency, in whole millionths until the end.

    ``first`` says which lines stand for the row that they found, where several found one.
    """
    counting, mine = lines[~lines["match"].isin(["total", "payment"])], lines[lines["our_price"].notna() & first]
    pieces = [
        _piece("theirs", counting["currency"], counting["price"]),
        _piece("ours", mine["our_currency"], mine["our_price"]),
        _piece("ours", only_ours["currency"], only_ours["price"]),
        _piece("only_ours", only_ours["currency"], only_ours["price"]),
    ]
    for kind, part in counting.groupby("match"):
        name = "rounding" if kind == "matched" else str(kind)
        pieces.append(_piece(name, part["currency"], part["price"]))
        if kind in ("matched", "other_price", "in_doubt", "unreadable"):
            pieces.append(_piece(name, part["our_currency"], part["our_price"], -1))
    sums = pd.concat(pieces).pivot_table(index="currency", columns="kind", values="micros", aggfunc="sum")
    sums = sums.reindex(columns=[*AMOUNTS]).fillna(0).rename_axis(columns=None).reset_index()
    return sums.assign(currency=sums["currency"].astype(STR), **{name: contract.money(sums[name]) for name in AMOUNTS})


def _piece(kind: str, currency: pd.Series, price: pd.Series, sign: int = 1) -> pd.DataFrame:
    table = pd.DataFrame({"kind": kind, "currency": currency.array, "micros": contract.micros(price).array})
    return table.dropna().assign(micros=lambda known: known["micros"].astype("int64") * sign)


def unpriced_of(messages: int) -> list[str]:
    """Say how many recorded messages have no amount."""
    have = counted(messages, "message has", "messages have")
    return [f"{have} no recorded price or currency and are in no amount of ours."] if messages else []


# -- totals by day, country or kind


def totals_compared(read: Invoice, ours: pd.DataFrame, tz: str) -> Compared:
    """Compare lines that are totals with our rows, added up by what the lines name: day or period, country, kind.

    Where they name none of these, each is compared with everything that was recorded.
    """
    lines, grain = _groups(read, tz)
    if len(lines) < len(read.lines):
        read.notes.append(f"Its {len(read.lines):,} lines are added up to {counted(len(lines), 'total')}.")
    sums = _our_sums(ours, tz)
    several = lines["currency"].nunique() > 1
    masks = [_of_line(sums, line, grain, tz, several) for line in lines.to_dict("records")]
    used, shared = np.zeros(len(sums), bool), []
    unread = (lines["price"].isna() | lines["currency"].isna()).to_numpy(bool)
    for place in np.argsort(unread, kind="stable"):  # each message counts once, at a line that can be read
        if pd.isna(lines["match"].iloc[place]):
            again = masks[place] & used & sums["messages"].gt(0).to_numpy(bool)
            used = used | masks[place]
            masks[place] = masks[place] & ~again
            shared += [place] * bool(again.any())
    table = pd.DataFrame([sums.loc[mask, [*_COUNTS]].sum() for mask in masks], columns=[*_COUNTS])
    table = table.set_axis(lines.index).astype("int64")
    there = lines["match"].isna() & table["messages"].gt(0)
    priced = there & table["unpriced"].lt(table["messages"])
    prices = contract.money(table["micros"].astype("Int64")).where(priced).astype("float64")
    count = lines["messages"].fillna(lines["parts"])
    number = (count.isna() | count.eq(table["messages"]) | count.eq(table["parts"])).fillna(False).astype("bool")
    read.conclude_of_prices(lines["price"].where(there & number), prices, lines["several"], least=1)
    same = (read.agrees(lines["price"], prices, lines["several"]) & number).fillna(False).to_numpy(bool)
    repeated = ~there & np.isin(np.arange(len(lines)), shared)
    match = np.select(
        [lines["match"].notna(), unread, repeated, ~there, same],
        [lines["match"].fillna(""), "unreadable", "repeated", "only_theirs", "matched"],
        default="other_price",
    )
    longer = (lines["until"] - lines["at"]).gt(pd.Timedelta(hours=25)).any()  # than a day
    said = " and ".join(grain).replace("day", "period" if longer else "day") or "everything recorded"
    lines = lines.assign(
        messages=count,
        match=match,
        found_by=pd.Series(said, index=lines.index, dtype=STR).where(there),
        our_parts=table["parts"].astype("Int64").where(there),
        our_messages=table["messages"].astype("Int64").where(there),
        our_price=prices,
        our_currency=lines["currency"].where(there),
    )
    read.notes.append(
        f"Its lines are totals, compared {'by' if grain else 'with'} {said}: no column of phone numbers was found "
        "in it; where there is one, name it in columns={'to': ...}."
    )
    if "day" not in grain:
        read.notes.append(
            "It names no period that can be read, so everything recorded counts; to give it, add a column such as "
            "Month with 2026-11, or one of ranges."
        )
    strange = int((lines["country"].isna() & lines["match"].isin(["only_theirs", "other_price", "matched"])).sum())
    if "country" in grain and strange:
        read.notes.append(f"{counted(strange, 'line names', 'lines name')} no country that can be read.")
    if shared:
        rows = ", ".join(map(called, lines.index[shared][:3])) + ", ..." * (len(shared) > 3)
        read.notes.append(f"Of messages of another line, too, which count there alone: rows {rows}.")
    period = _in_period(sums, lines, tz)
    doubt, unpriced = (int(sums.loc[used | period, name].sum()) for name in ("doubt", "unpriced"))
    if doubt:
        read.notes.append(f"{counted(doubt, 'message')} in doubt may be in its totals; totals do not tell which.")
    read.notes += unpriced_of(unpriced)
    only_ours = _rest(sums[~used & period], grain)
    lines = shaped(lines.drop(columns=["id", "to"]), LINES)
    return Compared(lines, only_ours, sums_of(lines, only_ours, pd.Series(True, index=lines.index)))


def shaped(table: pd.DataFrame, kinds: Kinds) -> pd.DataFrame:
    """Return these columns of a table; those that it does not have are missing."""
    return table.reindex(columns=[*kinds]).astype(dict(kinds))


def _groups(read: Invoice, tz: str) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Return the lines of one group added up, at the first of them, and what tells the groups apart."""
    lines = read.lines.assign(match=read.lines["special"].where(read.lines["price"].notna()))
    days = lines["at"].dt.tz_convert(tz).dt.normalize().dt.tz_convert("UTC")
    lines = lines.assign(**{name: lines[name].where(lines["until"].gt(lines["at"]), days) for name in ("at", "until")})
    plain = lines[lines["match"].isna()]
    kinds = plain["kind"].dropna().unique().tolist()
    grain = tuple(
        name
        for name, there in (
            ("day", plain["at"].notna().any()),
            ("country", plain["country"].notna().any()),
            ("kind", len(kinds) > 1 or kinds in (["passcode"], ["test"])),
        )
        if there
    )
    names = [column for name in grain for column in (("at", "until") if name == "day" else (name,))] + ["currency"]
    found = plain.groupby(names, dropna=False, sort=False)
    first = ~plain.duplicated(names)
    sums = {name: found[name].transform("sum", min_count=1) for name in ("price", "messages", "parts")}
    together = plain.assign(**sums, several=found["dated"].transform("size"))[first]
    together = together.astype({"messages": "Int64", "parts": "Int64"})
    apart = lines[lines["match"].notna()].assign(several=1)
    return pd.concat([together, apart]).sort_index(kind="stable") if len(apart) else together, grain


def _our_sums(ours: pd.DataFrame, tz: str) -> pd.DataFrame:
    """Return our rows by day, country, kind and currency."""
    accepted = ours["status"].eq("accepted")
    known = accepted & ours["price"].notna() & ours["currency"].notna()
    cells = pd.DataFrame(
        {
            "day": ours["at"].dt.tz_convert(tz).dt.normalize(),
            "country": ours["iso"],
            "kind": ours["kind"],
            "currency": ours["currency"],
            "messages": accepted.astype("int64"),
            "parts": ours["parts"].where(accepted).fillna(0).astype("int64"),
            "micros": contract.micros(ours["price"]).where(known).fillna(0).astype("int64"),
            "unpriced": (accepted & ~known).astype("int64"),
            "doubt": (~accepted).astype("int64"),
        }
    )
    return cells.groupby(["day", "country", "kind", "currency"], dropna=False, sort=True).sum().reset_index()


def _of_line(sums: pd.DataFrame, line: dict[Any, Any], grain: tuple[str, ...], tz: str, several: bool) -> Any:
    """Say which of our sums a line is about; those without a currency are of the only one, or none of ``several``."""
    mine = (sums["currency"].eq(line["currency"]) | sums["currency"].isna()).fillna(True).to_numpy(bool)
    mine = mine & ~(several & sums["currency"].isna().to_numpy(bool))
    if "day" in grain:
        if pd.isna(line["at"]):
            return np.zeros(len(sums), bool)
        begins = line["at"].tz_convert(tz).normalize()
        ends = line["until"].tz_convert(tz) if line["until"] > line["at"] else begins + _DAY
        mine = mine & (sums["day"].ge(begins) & sums["day"].lt(ends)).to_numpy(bool)
    for name in ("country", "kind"):
        if name in grain:
            here = sums[name].eq(line[name]).fillna(False)
            # A message in doubt was not billed yet, so nothing says in which country it will be.
            here |= sums[name].isna() & sums["messages"].eq(0)
            mine = mine & here.to_numpy(bool)
    return mine


def _in_period(sums: pd.DataFrame, lines: pd.DataFrame, tz: str) -> Any:
    """Say which of our days the invoice is about: all, where it names none."""
    some = lines[lines["at"].notna()]
    if some.empty:
        return np.ones(len(sums), bool)
    ends = some["until"].where(some["until"] > some["at"], some["at"] + _DAY)
    begins, end = some["at"].min().tz_convert(tz).normalize(), ends.max().tz_convert(tz)
    return (sums["day"].ge(begins) & sums["day"].lt(end)).to_numpy(bool)


def _rest(sums: pd.DataFrame, grain: tuple[str, ...]) -> pd.DataFrame:
    """Return what no line is for, as rows of the same grain."""
    sums = sums[sums["messages"] > 0]
    keys = [*grain, "currency"]
    found = sums.groupby(keys, dropna=False, sort=True)[["messages", "parts", "micros", "unpriced"]].sum().reset_index()
    prices = contract.money(found["micros"].astype("Int64")).where(found["unpriced"].lt(found["messages"]))
    found = found.assign(price=prices)
    if "day" in grain:
        found["at"] = found["day"].dt.tz_convert("UTC")
    return shaped(found, _ONLY_OURS)
