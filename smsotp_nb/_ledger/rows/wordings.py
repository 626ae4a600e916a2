"""The words of a campaign: what it says before the placeholders are filled, and how its bodies pack.

A body may be one person's alone, so no filled text is kept: of each wording its text with the placeholders, and of all
its bodies that pack alike one row with their parts and the characters that force ucs2. A chunk names its row.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Final

import pandas as pd

from .answers import Ints
from .statements import Statements, numbers_of

OF_WORDS: Final = ("wording", "version")  # columns of sums
SAID: Final = ("segment", "template", "text", "variables")
MEASURED: Final = ("parts", "plain_parts", "gsm_parts", "forcing")


@dataclass(frozen=True, slots=True, eq=False)
class Wordings:
    """What the bodies of a plan say, and how they pack.

    Attributes:
        said: a row a wording: ``segment, template, text, variables`` (str; ``variables`` is a JSON list of columns).
        measures: a row a body, by its number: ``wording`` (int64: the row of ``said``), ``parts, plain_parts,
            gsm_parts`` (Int64; missing where the text is not known) and ``forcing`` (str, JSON: by the column that they
            come from, "" for the text itself, the characters that force ucs2).
        keep: whether the words may be kept; otherwise only a hash of them, and the parts.
    """

    said: pd.DataFrame
    measures: pd.DataFrame
    keep: bool


def record_words(
    connection: Statements, campaign: int, words: Wordings, bodies: Ints, *, version: int = 1
) -> dict[int, int]:
    """Record the wordings of these bodies and how they pack; return the number of each body's measure.

    A wording that the campaign had before keeps the version in which it stood first.
    """
    mine = words.measures.loc[bodies]
    places = mine["wording"].unique().tolist()
    said = [{"campaign": campaign, "version": version, **_said(words.said.iloc[at], keep=words.keep)} for at in places]
    numbered = numbers_of(connection, "wording", said, key=("campaign", "segment", "key"))
    wordings = dict(zip(places, numbered, strict=True))
    cells = mine if words.keep else mine.assign(forcing=None)
    group = cells.groupby(["wording", *MEASURED], dropna=False, sort=False).ngroup().to_numpy()
    first = cells[~pd.Series(group).duplicated().to_numpy()]
    measures = [
        {"wording": wordings[place], **dict(zip(MEASURED, map(_plain, measured), strict=True))}
        for place, *measured in first[["wording", *MEASURED]].itertuples(index=False)
    ]
    numbers = numbers_of(connection, "measure", measures)
    return dict(zip(mine.index.tolist(), map(numbers.__getitem__, group.tolist()), strict=True))


def words_of(connection: Statements) -> pd.DataFrame:
    """Return what is known of the words of each measure, as objects by its number."""
    found = connection.execute(
        "SELECT m.id, w.text, w.version, w.segment, w.variables, w.id, m.parts, m.plain_parts, m.gsm_parts, m.forcing "
        "FROM measure m JOIN wording w ON w.id=m.wording"
    ).fetchall()
    names = [*OF_WORDS, "segment", "variables", "said", "each_parts", "plain_parts", "gsm_parts", "forcing"]
    return pd.DataFrame([row[1:] for row in found], columns=names, index=[row[0] for row in found], dtype=object)


def delete_words(connection: Statements, campaign: int) -> None:
    connection.execute("DELETE FROM measure WHERE wording IN (SELECT id FROM wording WHERE campaign=?)", (campaign,))
    connection.execute("DELETE FROM wording WHERE campaign=?", (campaign,))


def _said(said: pd.Series, *, keep: bool) -> dict[str, object]:
    """Return the columns of a wording, of which only a hash stays unless it may be kept."""
    values = {name: _plain(said[name]) for name in SAID}
    spelled = json.dumps([*values.values()], ensure_ascii=False).encode("utf-8", "surrogatepass")
    if not keep:
        values["text"] = values["variables"] = None
    return {"key": int.from_bytes(blake2b(spelled, digest_size=8).digest(), "big", signed=True), **values}


def _plain(value: Any) -> object:
    if pd.isna(value):
        return None
    return value if isinstance(value, str) else int(value)
