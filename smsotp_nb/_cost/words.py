"""Which words cost the most in a period: texts, characters and columns, and what plain ones would have saved."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final

import pandas as pd

from .. import parts
from .._calling import given, in_our_words, not_zone, refuse
from .._cards import Card, Code, Figures, Table, WithCard, amounts, counted, listed, money, notes, records
from .._ledger import PASSCODE, LedgerOrPath, Record, path_of, read_from, snapshot_of, word_sums
from .._pandas import STR
from ..errors import UsageError
from .saving import in_money, with_names
from .sums import not_service

_COUNTS: Final = ["messages", "parts", "unpriced", "saved_parts", "extra_parts"]
_MONEY: Final = ["cost", "saved_cost", "extra_cost"]


@dataclass(frozen=True, slots=True, eq=False)
class BilledWords(WithCard):
    """What the words of a period cost, as billed, and what plain characters would have saved.

    All tables have ``currency``; ``saved_parts`` and ``saved_cost`` are what plain characters (`parts.PLAIN`) would
    have saved, and ``extra_parts`` and ``extra_cost`` what was paid beyond GSM-7. Counts are Int64, amounts float64:
    parts are saved at the price of a part that the service billed for the message.

    Attributes:
        totals: a row a currency: ``messages, parts, cost, unpriced, saved_parts, saved_cost, extra_parts, extra_cost``.
        months: the same by ``campaign`` and ``month``, oldest first.
        messages: the same by ``campaign, version, segment`` and ``text`` (with its placeholders; missing where it was
            not kept), the most expensive first.
        characters: a row a character that forced ucs2: ``character, name, replacement`` (str), ``messages``, ``alone``
            (those with no other one), ``extra_parts, extra_cost`` (a message counts for each of its characters).
        variables: a row a column whose values forced ucs2 (missing: the text itself): ``variable`` (str),
            ``messages, alone, extra_parts, extra_cost``.
        unknown: accepted messages of a template whose text is not known, which count as saving nothing.
        passcodes: accepted messages with a passcode, whose words the service chooses; they count as saving nothing.
        purged: accepted messages of purged campaigns, whose words are gone; they are in none of the tables.

    Example:
        >>> "characters" in BilledWords.__slots__
        True
    """

    totals: pd.DataFrame
    months: pd.DataFrame
    messages: pd.DataFrame
    characters: pd.DataFrame
    variables: pd.DataFrame
    unknown: int
    passcodes: int
    purged: int

    def card(self) -> Card:
        """Return the words as a card."""
        saved = int(self.totals["saved_parts"].sum())
        billed = records(self.totals.dropna(subset=["currency"]))
        of = f", {' and '.join(money(row['saved_cost'], row['currency']) for row in billed)}" if billed else ""
        state = f"Plain characters would have saved {counted(saved, 'part')}{of}."
        have = counted(self.unknown, "message has", "messages have")
        are = counted(self.passcodes, "message is a passcode", "messages are passcodes")
        unpriced = int(self.totals["unpriced"].sum())
        told = notes(
            ("i", self.unknown, f"{have} a template whose text is not known, and count as saving nothing."),
            (
                "!",
                self.purged,
                f"{counted(self.purged, 'message')} of purged campaigns, whose words are gone, in no figure.",
            ),
            ("!", unpriced, f"{counted(unpriced, 'message')} without a readable price, in no amount."),
            ("i", self.passcodes, f"{are}, whose words the service chooses, and count as saving nothing."),
        )
        return Card(
            "Words",
            state if saved > 0 else "Plain characters would have saved nothing.",
            (_figures(self.totals, billed), *_texts(self.messages), *_forcing(self), *told),
        )


@in_our_words
def words(
    ledger: LedgerOrPath | Record,
    *,
    service: str | None = None,
    since: object = None,
    until: object = None,
    tz: str = "UTC",
) -> BilledWords:
    """Return which words made the accepted messages of a period expensive, from the ledger alone.

    Args:
        ledger: the Ledger, its path, or a Record. A result table does not hold the words; of a plan see `savings`.
        service: as for `spending`.
        since: as for `spending`.
        until: as for `spending`.
        tz: as for `spending`.

    Raises:
        UsageError: not a ledger or campaign, or as for `spending`.

    Example:
        >>> import tempfile, pathlib, smsotp_nb as sms
        >>> people = pd.DataFrame({"phone": ["+12025550123"]})
        >>> plan = sms.plan(people, "It’s on" + " today" * 12, to="phone", campaign="autumn")
        >>> ledger = sms.Ledger(pathlib.Path(tempfile.mkdtemp()) / "ledger.sqlite", create=True)
        >>> with sms.Sandbox() as box:
        ...     _ = sms.send(plan, box, ledger=ledger, progress=False)
        >>> words(ledger).characters[["character", "messages", "extra_parts", "extra_cost"]].values.tolist()
        [['’', 1, 1, 0.0075]]
    """
    refuse(not_zone("tz", tz), not_service(service))
    if isinstance(ledger, pd.DataFrame):
        raise UsageError(
            f"words needs a Ledger, its path or a Record: a result table holds no words, got {given(ledger)}. "
            "Pass the ledger that recorded it"
        )
    campaign, service = (ledger._number, ledger.service) if isinstance(ledger, Record) else (None, service)
    source = ledger._ledger if isinstance(ledger, Record) else ledger
    path_of(source)  # says what else was given
    with read_from(source) as book, snapshot_of(book) as store:
        sums, purged = word_sums(store, campaign=campaign, service=service, since=since, until=until, tz=tz)
        return _of(_cells(sums), purged)


def _cells(sums: pd.DataFrame) -> pd.DataFrame:
    """Return integers by row of the sums: what was billed, and what plain characters and GSM-7 would have saved."""
    known = sums["currency"].notna()
    counts = sums[["messages", "priced", "micros", "parts", "priced_parts"]].astype("Int64")
    each = pd.DataFrame({name: pd.to_numeric(sums[name]) for name in ("each_parts", "plain_parts", "gsm_parts")})
    each = each.astype("Int64")
    priced = counts["priced"].where(known, 0)
    a_part = (counts["micros"] / counts["priced_parts"].where(counts["priced_parts"] > 0)).where(known)
    cells = sums[["currency", "campaign", "version", "segment", "said", "forcing"]].assign(
        month=sums["day"].dt.strftime("%Y-%m"),
        text=sums["wording"],
        messages=counts["messages"],
        parts=counts["parts"],
        cost=counts["micros"].where(known, 0),
        unpriced=counts["messages"] - priced,
        passcode=sums["kind"].eq(PASSCODE),
        known=each["each_parts"].notna(),
    )
    for name, plain in (("saved", "plain_parts"), ("extra", "gsm_parts")):
        fewer = (each["each_parts"] - each[plain]).fillna(0)
        cells[f"{name}_parts"] = fewer * counts["messages"]
        cells[f"{name}_cost"] = (a_part * (fewer * priced)).round().fillna(0).astype("Int64")
    return cells.astype(
        {"version": "Int64", "currency": STR, "campaign": STR, "segment": STR, "text": STR, "month": STR}
    )


def _of(cells: pd.DataFrame, purged: int) -> BilledWords:
    months = _table(cells, ["campaign", "month"]).sort_values(["month", "campaign", "currency"], ignore_index=True)
    messages = _table(cells[cells["said"].notna()], ["campaign", "version", "segment", "text", "said"])
    dearest = messages.sort_values(["cost", "parts"], ascending=False, kind="stable", ignore_index=True)
    forced = _forced(cells)
    return BilledWords(
        totals=_table(cells, []),
        months=months,
        messages=dearest.drop(columns="said"),
        characters=with_names(_by_source(forced, "character"), parts.PLAIN),
        variables=_by_source(forced, "variable"),
        unknown=int(cells.loc[~cells["known"] & ~cells["passcode"], "messages"].sum()),
        passcodes=int(cells.loc[cells["passcode"], "messages"].sum()),
        purged=purged,
    )


def _table(cells: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    numbers = [*_COUNTS, *_MONEY]
    table = cells.groupby(["currency", *names], dropna=False, sort=True)[numbers].sum().reset_index()
    order = ["messages", "parts", "cost", "unpriced", "saved_parts", "saved_cost", "extra_parts", "extra_cost"]
    return in_money(table, *_MONEY)[["currency", *names, *order]]


def _forced(cells: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each character of each set, with the column that it comes from ("": the text itself)."""
    sets = cells[cells["forcing"].notna()].groupby(["currency", "forcing"], dropna=False, sort=True)
    sums = sets[["messages", "extra_parts", "extra_cost"]].sum().reset_index()
    found = [
        {**row, "variable": name, "character": sign}
        for row in records(sums)
        for name, signs in json.loads(row["forcing"]).items()
        for sign in signs
    ]
    columns = ["currency", "forcing", "messages", "extra_parts", "extra_cost", "variable", "character"]
    return pd.DataFrame(found, columns=columns).astype({"currency": STR})


def _by_source(forced: pd.DataFrame, name: str) -> pd.DataFrame:
    """Add up by character, or by variable; a message counts once for each of its own."""
    once = forced.drop_duplicates(["currency", "forcing", name])
    several = once.groupby(["currency", "forcing"], dropna=False)[name].transform("size") > 1
    once = once.assign(alone=once["messages"].where(~several.astype("bool"), 0))
    numbers = ["messages", "alone", "extra_parts", "extra_cost"]
    table = once.groupby(["currency", name], dropna=False, sort=True)[numbers].sum().reset_index()
    table = table.sort_values(["extra_cost", "extra_parts", "messages"], ascending=False, ignore_index=True)
    table[name] = table[name].where(table[name] != "").astype(STR)
    counts = dict.fromkeys(("messages", "alone", "extra_parts"), "Int64")
    return in_money(table.astype(counts), "extra_cost")


# -- the card ----------------------------------------------------------------------------------------------------------


def _figures(totals: pd.DataFrame, billed: list[dict[str, Any]]) -> Figures:
    pairs: list[tuple[str, Any]] = [
        ("accepted messages", int(totals["messages"].sum())),
        ("parts", int(totals["parts"].sum())),
        ("parts beyond GSM-7", int(totals["extra_parts"].sum())),
    ]
    for row in billed:
        pairs.append(("billed", money(row["cost"], row["currency"])))
        pairs.append(("paid beyond GSM-7", money(row["extra_cost"], row["currency"])))
    return Figures(tuple(pairs))


def _texts(messages: pd.DataFrame) -> list[Table]:
    return listed(
        messages,
        ("Message", "left", lambda row: row["text"] if isinstance(row["text"], str) else "not kept"),
        ("Campaign", "left", "campaign"),
        ("Messages", "right", "messages"),
        ("Cost", "right", amounts(messages, "cost", "unknown")),
        ("Plain saves", "right", amounts(messages, "saved_cost", "unknown", like="cost")),
        title="Most expensive messages",
        where=".messages",
    )


def _forcing(found: BilledWords) -> list[Table]:
    """Return the characters and the columns that forced UCS-2."""
    characters = listed(
        found.characters,
        ("Character", "left", lambda row: Code(row["character"])),
        ("Name", "left", lambda row: row["name"].lower()),
        ("Messages", "right", "messages"),
        ("Extra parts", "right", "extra_parts"),
        ("Extra cost", "right", amounts(found.characters, "extra_cost", "unknown")),
        title="Characters that forced UCS-2",
        where=".characters",
    )
    sources = listed(
        found.variables,
        ("Column", "left", lambda row: row["variable"] if isinstance(row["variable"], str) else "the text itself"),
        ("Messages", "right", "messages"),
        ("Extra parts", "right", "extra_parts"),
        ("Extra cost", "right", amounts(found.variables, "extra_cost", "unknown")),
        title="Where they came from",
    )
    return [*characters, *sources]
