"""Which words make a campaign expensive: characters that force UCS-2, letters too many, what plain ones would save."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import pandas as pd

from .. import parts
from .._calling import in_our_words, not_replacement, refuse
from .._cards import Card, Code, Figures, Message, Note, WithCard, amounts, counted, listed, money, notes, records
from .._pandas import STR
from .._planning import Plan, gsm_parts
from .._results import contract
from ..errors import UsageError

_NEAR: Final = 10  # units over a part that a person would shorten a text by


@dataclass(frozen=True, slots=True, eq=False)
class Savings(WithCard):
    """What plain characters would save on a plan, and where else its cost comes from. Nothing has been changed.

    Attributes:
        totals: a row a currency (missing: no rate): ``recipients, parts, plain_parts, saved_parts`` (Int64),
            ``est_cost, saved_cost`` (float64, by the plan's rates).
        characters: a row a currency and character that forces ucs2: ``currency, character, name, replacement`` (str),
            ``recipients``, ``alone`` (those whose message holds no other one), ``extra_parts`` (Int64: what their
            messages take beyond GSM-7; a message counts for each of its characters), ``extra_cost``. Sorted by it.
        messages: a row a body number and currency: ``recipients, encoding, parts, over`` (units beyond the last part
            boundary), ``forcing, plain_encoding, plain_parts, saved_parts, est_cost, saved_cost, text``. Those that
            would save most first.
        over: a row a currency and number of units over a part boundary: ``over, recipients, last_part_cost`` (what
            going below it would save). Fewest units first.
        unknown: recipients whose text is not known (templates without a ``preview``), in none of the above.

    A message whose ``saved_parts`` is below 0 would grow: other characters keep it in ucs2, and ``...`` is longer than
    an ellipsis.

    Example:
        >>> import smsotp_nb as sms
        >>> people = pd.DataFrame({"phone": ["+12025550123"]})
        >>> made = sms.plan(people, "It’s on" + " today" * 12, to="phone", campaign="autumn")
        >>> savings(made).totals["saved_parts"].tolist()
        [1]
    """

    campaign: str
    totals: pd.DataFrame
    characters: pd.DataFrame
    messages: pd.DataFrame
    over: pd.DataFrame
    unknown: int

    def card(self) -> Card:
        """Return the savings as a card."""
        totals, saved = self.totals, int(self.totals["saved_parts"].sum())
        characters = listed(
            self.characters,
            ("Character", "left", lambda row: Code(row["character"])),
            ("Name", "left", lambda row: row["name"].lower()),
            ("Instead", "left", lambda row: _instead(row["replacement"])),
            ("Recipients", "right", "recipients"),
            ("Extra parts", "right", "extra_parts"),
            ("Extra cost", "right", amounts(self.characters, "extra_cost", "no rate")),
            title="Characters that force UCS-2",
            where=".characters",
        )
        near = self.over[(self.over["over"] <= _NEAR).to_numpy(dtype=bool)]
        over = listed(
            near,
            ("Units over a part", "right", "over"),
            ("Recipients", "right", "recipients"),
            ("Shorter texts would save", "right", amounts(near, "last_part_cost", "no rate")),
            title="Just over a part boundary",
        )
        messages = [_message(row) for row in records(self.messages.head(3)) if row["saved_parts"] > 0]
        get = counted(self.unknown, "recipient gets", "recipients get")
        unrated = int(totals.loc[totals["currency"].isna(), "recipients"].sum())
        have = counted(unrated, "recipient has", "recipients have")
        told = notes(
            ("!", self.unknown, f"{get} a template whose text is not known; pass it as Template(preview=...)."),
            (
                "!",
                unrated < totals["recipients"].sum() and unrated,
                f"{have} no rate: the parts are counted, the cost is not.",
            ),
        )
        estimates = Note("i", "Parts are estimates by the usual packing rule; the service's reply is what counts.")
        rated = records(totals.dropna(subset=["currency", "saved_cost"]))
        about = f", about {' and '.join(money(row['saved_cost'], row['currency']) for row in rated)}" if rated else ""
        some = f"{counted(saved, 'part')}{about}" if saved > 0 else "nothing"
        return Card(
            f"Savings: {self.campaign}",
            f"Nothing has been changed. Plain characters would save {some}.",
            (_figures(totals), *characters, *over, *messages, *told, estimates),
            "Next: plan with Message(..., replace=parts.PLAIN) for plain characters." if saved > 0 else "",
        )


@in_our_words
def savings(plan: Plan, *, replace: Mapping[str, str] = parts.PLAIN) -> Savings:
    """Return what a plan would save with plain characters, over all its filled texts. Parts are estimates.

    ``Message(words, replace=parts.PLAIN)`` uses plain characters. After the send, `compare` and `differences` show how
    many parts were billed.

    Args:
        plan: the plan as it is.
        replace: characters and their replacements.

    Raises:
        UsageError: not a plan.

    Example:
        >>> import smsotp_nb as sms
        >>> people = pd.DataFrame({"phone": ["+12025550123"]})
        >>> rates = pd.DataFrame({"iso": ["US"], "currency": ["USD"], "price": ["0.0075"]})
        >>> made = sms.plan(people, "It’s on" + " today" * 12, to="phone", campaign="autumn", rates=rates)
        >>> savings(made).characters[["character", "name", "replacement", "extra_cost"]].values.tolist()
        [['’', 'RIGHT SINGLE QUOTATION MARK', "'", 0.0075]]
    """
    if not isinstance(plan, Plan):
        raise UsageError(
            f"savings needs a plan, as plan(...) returns it, got {type(plan).__name__}; cost.words(ledger) tells what "
            "plain characters would have saved on what was sent"
        )
    refuse(not_replacement("replace", replace))
    bodies = plan._measure(replace=replace)
    bodies = bodies.assign(text=plan.texts, gsm_parts=gsm_parts(plan.texts))
    known = bodies.dropna(subset=["parts"])
    sums = _by_body(plan._as_planned).join(known.drop(columns="recipients"), on="body", how="inner")
    # Every row of a body has the same parts, so the cost of one part over all of them divides evenly.
    sums["each"] = sums["micros"] // sums["parts"]
    sums["saved_parts"] = sums["parts"] - sums["plain_parts"]
    sums["extra_parts"] = sums["parts"] - sums["gsm_parts"]
    return Savings(
        campaign=plan.campaign,
        totals=_totals(sums),
        characters=_characters(sums, replace),
        messages=_messages(sums),
        over=_over(sums),
        unknown=int(bodies.loc[bodies["parts"].isna(), "recipients"].sum()),
    )


def _by_body(rows: pd.DataFrame) -> pd.DataFrame:
    """Return recipients and estimated cost in micro-units of each body, by currency."""
    planned = rows[rows["body"].notna().to_numpy()]
    cells = pd.DataFrame(
        {
            "body": planned["body"].to_numpy("int64"),
            "currency": planned["est_currency"].to_numpy(object),
            "recipients": 1,
            "micros": contract.micros(planned["est_cost"]).array,
        }
    ).astype({"currency": STR, "recipients": "Int64"})
    groups = cells.groupby(["body", "currency"], dropna=False, sort=True)
    return groups[["recipients", "micros"]].sum(min_count=1).reset_index()


def _totals(sums: pd.DataFrame) -> pd.DataFrame:
    many = sums["recipients"]
    cells = sums[["currency", "recipients"]].assign(
        **{name: many * sums[name] for name in ("parts", "plain_parts", "saved_parts")},
        est_cost=sums["micros"],
        saved_cost=sums["each"] * sums["saved_parts"],
    )
    return in_money(_added_up(cells, ["currency"]), "est_cost", "saved_cost")


def _characters(sums: pd.DataFrame, replace: Mapping[str, str]) -> pd.DataFrame:
    forced = sums[(sums["forcing"].fillna("") != "").to_numpy(dtype=bool)]
    cells = forced[["currency", "forcing", "recipients"]].assign(
        extra_parts=forced["recipients"] * forced["extra_parts"], extra_cost=forced["each"] * forced["extra_parts"]
    )
    sets = _added_up(cells, ["currency", "forcing"])
    sets["alone"] = sets["recipients"].where(sets["forcing"].str.len() == 1, 0)
    sets["character"] = sets.pop("forcing").astype(object).map(list)
    each = sets.explode("character", ignore_index=True).astype({"character": STR})
    table = _added_up(each, ["currency", "character"])
    table = table.sort_values(["extra_cost", "extra_parts", "recipients"], ascending=False, ignore_index=True)
    order = ["currency", "character", "name", "replacement", "recipients", "alone", "extra_parts", "extra_cost"]
    return in_money(with_names(table, replace)[order], "extra_cost")


def with_names(table: pd.DataFrame, replace: Mapping[str, str]) -> pd.DataFrame:
    """Put the names of characters, and what is written in place of each, after them."""
    at = list(table.columns).index("character") + 1
    names = [unicodedata.name(sign, f"U+{ord(sign):04X}") for sign in table["character"]]
    table.insert(at, "name", pd.Series(names, dtype=STR))
    table.insert(at + 1, "replacement", table["character"].map(dict(replace)).astype(STR))
    return table


def _messages(sums: pd.DataFrame) -> pd.DataFrame:
    order = ["currency", "recipients", "encoding", "parts", "over", "forcing", "plain_encoding", "plain_parts"]
    table = sums.set_index("body")[order].assign(
        saved_parts=(sums["recipients"] * sums["saved_parts"]).array,
        est_cost=sums["micros"].array,
        saved_cost=(sums["each"] * sums["saved_parts"]).array,
        text=sums["text"].array,
    )
    table = table.sort_values(["saved_cost", "saved_parts", "est_cost"], ascending=False, kind="stable")
    return in_money(table, "est_cost", "saved_cost")


def _over(sums: pd.DataFrame) -> pd.DataFrame:
    longer = sums[(sums["over"] > 0).to_numpy(dtype=bool)]
    cells = longer[["currency", "over", "recipients"]].assign(last_part_cost=longer["each"])
    return in_money(_added_up(cells, ["currency", "over"]), "last_part_cost")


def _added_up(cells: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    return cells.groupby(names, dropna=False, sort=True).sum(min_count=1).reset_index()


def in_money(table: pd.DataFrame, *names: str) -> pd.DataFrame:
    """Turn integer sums into amounts, where their currency is known."""
    priced = table["currency"].notna()
    return table.assign(**{name: contract.money(table[name].astype("Int64").where(priced)) for name in names})


# -- the card ----------------------------------------------------------------------------------------------------------


def _figures(totals: pd.DataFrame) -> Figures:
    pairs: list[tuple[str, Any]] = [
        ("recipients", int(totals["recipients"].sum())),
        ("parts, estimated", int(totals["parts"].sum())),
        ("parts with plain characters", int(totals["plain_parts"].sum())),
    ]
    priced = records(totals.dropna(subset=["currency", "est_cost"]))
    pairs += [("estimated cost", money(row["est_cost"], row["currency"])) for row in priced]
    return Figures(tuple(pairs))


def _instead(replacement: Any) -> Code | str:
    if not isinstance(replacement, str):
        return "none"
    return Code(replacement) if replacement.strip() else "a blank" if replacement else "nothing"


def _message(row: dict[str, Any]) -> Message:
    saved = f"saves {counted(int(row['saved_parts']), 'part')}"
    to = counted(int(row["recipients"]), "recipient")
    cost = f", {money(row['saved_cost'], row['currency'])}" if row["saved_cost"] == row["saved_cost"] else ""
    return Message(to, row["text"], f"With plain characters: {saved}{cost}", tuple(row["forcing"]))
