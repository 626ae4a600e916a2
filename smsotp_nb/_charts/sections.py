"""The tables of a report, in words: one content for the page and for the workbook."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

import pandas as pd

from .. import cost
from .._cards import MISSING, Bar, Block, Card, Cell, Table, counted, money, number, places_of, records, share, shares
from .._results.contract import micros
from .._results.contract import money as money_of
from .._wire import amount
from ..cost.rows import has_estimates, is_sums
from .drawing import in_words

COUNTS: Final = ("Messages", "Parts", "Compared")
AMOUNTS: Final = ("Estimated", "Billed", "Difference", "A message")
TOTAL: Final = "Total"
UNKNOWN: Final = "unknown"
_AVERAGE_PLACES: Final = 4
_SMALL: Final = 0.01  # of what was billed
Lines = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Section:
    """One table of a report: a title, and by currency its lines, of which the last one is the total.

    Each line has the same names, in words: the first is what the line is about, then counts, amounts and a share.
    Numbers are numbers; what is not known is None.
    """

    title: str
    state: str
    lines: dict[str, Lines]

    def card(self) -> Card:
        """Return the section for a page: a table a currency, all amounts of one with as many decimal places."""
        several = len(self.lines) > 1
        tables = tuple(_table(currency, folded(lines), several=several) for currency, lines in self.lines.items())
        blocks: tuple[Block, ...] = tables
        return Card(self.title, self.state, blocks)

    def frame(self) -> pd.DataFrame:
        """Return the section for a workbook: the currency before each line."""
        rows = [{"Currency": currency, **line} for currency, lines in self.lines.items() for line in lines]
        return pd.DataFrame(rows)

    def places(self) -> int:
        return max((places(lines) for lines in self.lines.values()), default=2)


def places(lines: Lines) -> int:
    """Return how many decimal places the amounts of lines need; an average is rounded to four."""
    exact = places_of(line.get(name) for line in lines for name in AMOUNTS[:-1])
    return max(exact, min(_AVERAGE_PLACES, places_of(line.get("A message") for line in lines)))


def sections(frame: pd.DataFrame) -> list[Section]:
    """Return the tables of a report; those whose columns the frame does not have are left out."""
    found = []
    if "iso" in frame.columns:
        found += [_differences(frame)] if has_estimates(frame) and len(cost.summary(frame)) else []
        found.append(_by(frame, cost.by(frame, "iso"), "iso", "Country", "By country"))
    if "month" in frame.columns and frame["month"].nunique() > 1:
        months = cost.by(frame, "month").sort_values(["currency", "month"], kind="stable")
        found.append(_by(frame, months, "month", "Month", "By month"))
    if "campaign" in frame.columns:
        names = ["campaign", *(["kind"] if is_sums(frame) and "kind" in frame.columns else [])]
        campaigns = cost.by(frame, names)
        if "kind" in names:  # tests have the name of the campaign whose text they were
            tests = campaigns["kind"].eq("test").fillna(False).astype("bool")
            campaigns["campaign"] = campaigns["campaign"].mask(tests, campaigns["campaign"] + ", tests")
        if campaigns["campaign"].nunique() > 1:
            found.append(_by(frame, campaigns, "campaign", "Campaign", "By campaign"))
    if "encoding" in frame.columns:
        found.append(_by(frame, cost.by(frame, "encoding"), "encoding", "Encoding", "By encoding of the text"))
    return [section for section in found if section.lines]


def totals(frame: pd.DataFrame) -> Lines:
    """Return a line a currency: everything billed, and the estimate of what has one."""
    lines = []
    off = dict(_parts(cost.compare(frame, []))) if has_estimates(frame) else {}
    for currency, part in _parts(cost.summary(frame)):
        line = {"Currency": currency, **_billed("", "", records(part)[0])}
        del line[""], line["Share"]
        if off:
            row = records(off[currency])[0]
            line |= {"Compared": int(row["compared"]), "Estimated": _known(row["est_cost"])}
            line["Difference"] = _known(row["difference"])
        lines.append(line)
    return lines


# -- what was billed, by something -------------------------------------------------------------------------------------


def _by(frame: pd.DataFrame, table: pd.DataFrame, name: str, heading: str, title: str) -> Section:
    totals = dict(_parts(cost.summary(frame)))
    lines = {
        currency: [_billed(heading, _label(name, row[name]), row) for row in records(part)]
        + [_billed(heading, TOTAL, records(totals[currency])[0])]
        for currency, part in _parts(table)
    }
    return Section(title, "", lines)


def _billed(heading: str, label: str, row: dict[str, Any]) -> dict[str, Any]:
    return {
        heading: label,
        "Messages": int(row["messages"]),
        "Parts": int(row["parts"]),
        "Billed": _known(row["cost"]),
        "A message": _known(row["price_per_message"]),
        "Share": _known(row["share"]),
    }


# -- billed and estimated ----------------------------------------------------------------------------------------------


def _differences(frame: pd.DataFrame) -> Section:
    totals = dict(_parts(cost.compare(frame, [])))
    lines = {
        currency: _off(part) + _the_rest(part) + [_compared(TOTAL, records(totals[currency])[0])]
        for currency, part in _parts(cost.compare(frame))
        if (part["compared"] > 0).any()
    }
    off = sum(line["Difference"] not in (None, 0.0) for part in lines.values() for line in part[:-1])
    state = f"{counted(off, 'country', 'countries')} not billed as estimated, the largest difference first"
    without = any(line["Estimated"] is None for part in lines.values() for line in part) or len(lines) < len(totals)
    same = "Each country was billed as estimated in sum"
    same += ", apart from messages without an estimate or a price" * without
    return Section("Billed and estimated", state if off else same, lines)


def _off(part: pd.DataFrame) -> Lines:
    off = part[part["difference"].fillna(0.0) != 0]
    rows = records(off.assign(messages=off["compared"], cost=off["compared_cost"]))
    return [_compared(_label("iso", row["iso"]), row, _reason(row)) for row in rows]


def _the_rest(part: pd.DataFrame) -> Lines:
    """Return lines for what was billed as estimated, what has no estimate, and what no price, where there is any."""
    same = part[(part["compared"] > 0) & (part["difference"] == 0)]
    alone = part.assign(
        messages=part["messages"] - part["compared"] - part["unpriced"],
        cost=money_of(micros(part["cost"]) - micros(part["compared_cost"]).fillna(0)),
    )
    alone = alone[alone["messages"] > 0]
    lines = []
    if len(same):
        told = f"{counted(len(same), 'country', 'countries')} as estimated"
        lines.append(_compared(told, _sums(same.assign(messages=same["compared"], cost=same["compared_cost"]))))
    if len(alone):
        lines.append(_compared("Without an estimate", {**_sums(alone), "est_cost": None, "difference": None}))
    if unpriced := int(part["unpriced"].sum()):
        row = {"messages": unpriced, "est_cost": None, "cost": None, "difference": None}
        lines.append(_compared("Without a readable price", row))
    return lines


def _sums(part: pd.DataFrame) -> dict[str, Any]:
    amounts = {name: _sum(part[name]) for name in ("est_cost", "cost", "difference")}
    return {"messages": part["messages"].sum(), **amounts}


def _sum(column: pd.Series) -> float | None:
    return None if column.isna().all() else float(amount(int(micros(column).sum())))


def _compared(label: str, row: dict[str, Any], reason: str = "") -> dict[str, Any]:
    return {
        "Country": label,
        "Messages": int(row["messages"]),
        "Estimated": _known(row["est_cost"]),
        "Billed": _known(row["cost"]),
        "Difference": _known(row["difference"]),
        "Reason": reason,
    }


def _reason(row: dict[str, Any]) -> str:
    """Say in words why a country was not billed as estimated: other parts, another price of a part, or both."""
    parts, estimated = int(row["compared_parts"]), int(row["est_parts"])
    said = [f"{counted(parts, 'part')}, {number(estimated)} estimated"] if parts != estimated else []
    each = parts and estimated and round(row["compared_cost"] / parts, 6) != round(row["est_cost"] / estimated, 6)
    return "; ".join(said + ["another price of a part"] * bool(each))


# -- as a table of a card ----------------------------------------------------------------------------------------------


def folded(lines: Lines) -> Lines:
    """Return the lines of a page: countries whose share is small stand together before the total."""
    small = [line for line in lines[:-1] if "Country" in line and 0 <= (line.get("Share") or -1) < _SMALL]
    if len(small) < 2:
        return lines
    billed = float(sum(Decimal(str(line["Billed"])) for line in small))
    messages, parts = sum(line["Messages"] for line in small), sum(line["Parts"] for line in small)
    others = {
        "Country": f"{number(len(small))} others",
        "Messages": messages,
        "Parts": parts,
        "Billed": billed,
        "A message": billed / messages if messages else None,
        "Share": sum(line["Share"] for line in small),
    }
    return [*(line for line in lines[:-1] if line not in small), others, lines[-1]]


def _table(currency: str, lines: Lines, *, several: bool) -> Table:
    names, digits = list(lines[0]), places(lines)
    parts = [line.get("Share") for line in lines[:-1]]
    longest, said = max((part or 0.0 for part in parts), default=0.0), [*shares(parts), share(lines[-1].get("Share"))]
    drawn = [
        tuple(_cell(line, name, digits, longest, at) for name in names) for line, at in zip(lines, said, strict=True)
    ]
    return Table(
        columns=tuple(f"{name}, {currency}" if name == "Billed" else name for name in names),
        rows=tuple(drawn[:-1]),
        align=tuple("right" if name in (*COUNTS, *AMOUNTS) else "left" for name in names),
        title=currency if several else "",
        total=drawn[-1],
    )


def _cell(line: dict[str, Any], name: str, digits: int, longest: float, said: str) -> Cell:
    value = line[name]
    if name == "Parts" and not value and line["Messages"]:
        return UNKNOWN
    if name in AMOUNTS:
        if value is None:
            return UNKNOWN if name == "Billed" else MISSING
        return f"{'+' if name == 'Difference' and value > 0 else ''}{money(value, places=digits)}"
    if name != "Share":
        plain: Cell = value
        return plain
    if value is None or line[next(iter(line))] == TOTAL:
        return said
    return Bar(value / longest if longest else 0.0, said)


def _parts(table: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the rows of each currency; those of none come last."""
    for currency, part in table.groupby("currency", sort=True, dropna=False):
        yield (UNKNOWN if pd.isna(currency) else str(currency)), part


def _label(name: str, value: Any) -> str:
    if value is None or pd.isna(value):
        return UNKNOWN
    return in_words(name, value)


def _known(value: Any) -> Any:
    return None if value is None or pd.isna(value) else float(value)
