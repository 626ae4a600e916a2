"""Rows that are not sent, by what holds them back: in plain words, with the first rows and what to do next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd

from ..._cards import counted, safe
from ..._showing.text import label as called
from ..._wire import mask
from ...problems import PROBLEMS

SHOWN = 3  # rows of a group
MOST = 4  # groups; the others are folded away
# Where the words of `problems` name what only code has.
NEXT = {
    "CANARY": "look at the results, then send to the others or change their text",
    "EXCLUDED": "nothing, or leave out one campaign less",
    "SAME_TEXT": "change the text, or send again at the time said here",
    "VALUE_MISSING": "fill the column in the list, or enter under “If a value is missing” what to write instead",
    "REJECTED": "ask the service why; the result table has its words for each row",
    "ACCOUNT": "check address and key with the account's owner, then send again",
    "THROTTLED": "send again later, or with fewer messages a second",
    "OPTED_OUT": "nothing: this person said no",
    "HELD_OUT": "nothing: they are compared with those who are texted",
    "OTHER_ARM": "nothing: they get the text of their own arm",
    "CAPPED": "send again at the time said here",
    "DUPLICATE_OF": "nothing: the other row is texted",
}
MEANS = {
    "EXCLUDED": "texted by an earlier campaign that you left out",
    "DUPLICATE_OF": "the same number as another row that is planned",
}


@dataclass(frozen=True, slots=True)
class Group:
    """Rows with one problem: its code and words, how many they are, the first of them, and until when it holds."""

    code: str
    meaning: str
    next_step: str
    rows: int
    first: tuple[tuple[str, str], ...]
    until: str = ""


def groups(rows: pd.DataFrame, numbers: pd.Series | None = None) -> list[Group]:
    """Return the rows that are not sent by their problem, the largest group first.

    Args:
        rows: ``status``, ``problem`` and ``to`` (str), and where it is known ``not_before`` (UTC), one row a row of the
            list.
        numbers: the numbers as the list has them, in the same order, for rows without a number that can be texted.

    Example:
        >>> rows = pd.DataFrame({"status": ["skipped"], "problem": ["NOT_A_NUMBER"], "to": [None]}, index=["row 7"])
        >>> groups(rows, pd.Series(["hello"]))[0].first
        (('row 7', '...'),)
    """
    held = rows["status"].isin(["planned", "skipped", "rejected"]).to_numpy() & rows["problem"].notna().to_numpy()
    shown = rows["to"].to_numpy(object)
    if numbers is not None and len(numbers) == len(rows):
        shown = rows["to"].where(rows["to"].notna(), numbers.to_numpy(object)).to_numpy(object)
    told = pd.DataFrame({"problem": rows["problem"].to_numpy(object), "to": shown, "label": rows.index.map(str)})
    told["until"] = rows["not_before"].to_numpy() if "not_before" in rows else pd.NaT
    parts = [_group(str(code), part) for code, part in told[held].groupby("problem", sort=False)]
    return sorted(parts, key=lambda one: -one.rows)


def _group(code: str, rows: pd.DataFrame) -> Group:
    known = PROBLEMS.get(code)
    first = tuple(
        (called(label), _masked(to)) for label, to in rows[["label", "to"]].head(SHOWN).itertuples(index=False)
    )
    moment = rows["until"].min()
    return Group(
        code,
        MEANS.get(code) or (known.meaning if known else code),
        NEXT.get(code) or (known.next_step if known else ""),
        len(rows),
        first,
        "" if pd.isna(moment) else f"{moment:%Y-%m-%d %H:%M} UTC",
    )


def _masked(number: Any) -> str:
    return "no number" if pd.isna(number) else mask(str(number))


def refusals_html(found: list[Group], title: str = "Not sent") -> str:
    """Return the groups as a list; empty where there are none."""
    if not found:
        return ""
    more = len(found) - MOST
    rest = f"<details><summary>{counted(more, 'more reason')}</summary>{_list(found[MOST:])}</details>" * (more > 0)
    return f'<section class="smsotp-refusals"><h3>{safe(title)}</h3>{_list(found[:MOST])}{rest}</section>'


def _list(found: list[Group]) -> str:
    return f"<ul>{''.join(f'<li>{_item(one)}</li>' for one in found)}</ul>"


def _item(one: Group) -> str:
    more = one.rows - len(one.first)
    rows = ", ".join(f"{label}: {number}" for label, number in one.first) + (f" and {more:,} more" if more else "")
    until = f" They may go from {one.until}." if one.until else ""
    said = f"<b>{counted(one.rows, 'row')}</b>: {safe(one.meaning)}.{until}"
    step = f'<p class="smsotp-line">Next: {safe(one.next_step)}.</p>' if one.next_step else ""
    return f'<p>{said}</p><p class="smsotp-line smsotp-num">Rows {safe(rows)}</p>{step}'
