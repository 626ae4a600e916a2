"""What the ledger keeps of a plan's words: each wording with its placeholders, and how its bodies pack."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any, Final

import numpy as np
import pandas as pd

from .. import _parts, parts
from .. import _templates as templates
from .._ledger import Wordings
from .._pandas import STR
from .._parts import GSM, GSM_EXTENSION
from . import bodies as body_rows
from .arguments import Words
from .bodies import Ints
from .wording import OneMessage, Wording

_FOREIGN: Final = f"[^{re.escape(GSM + GSM_EXTENSION)}]"
MEASURED: Final = ("wording", "parts", "plain_parts", "gsm_parts", "forcing")  # of each body
_MOST: Final = 1_000  # sets of characters that are told apart in a plan; the rarest beyond are kept as not known


def wordings(words: Words, bodies: pd.DataFrame, first: Ints, *, keep: bool) -> Wordings:
    """Return the wordings of a plan; ``first`` are the positions of the rows that have each body first.

    ``keep`` says whether the ledger may keep the words themselves.
    """
    wording = words.wording
    said = pd.DataFrame([_said(wording, message) for message in wording.messages], dtype=STR)
    place = words.segments.codes[first] if words.segments is not None else np.zeros(len(first), np.int64)
    texts = wording.reads(bodies)
    measured = body_rows.measured(texts, wording.reads(body_rows.rewritten(bodies, parts.PLAIN)))
    measures = pd.DataFrame(
        {
            "wording": place,
            "parts": measured["parts"],
            "plain_parts": measured["plain_parts"],
            "gsm_parts": gsm_parts(texts),
            "forcing": _sources(wording, words.frame, measured["forcing"], place, first),
        },
        index=bodies.index,
    )
    return Wordings(said, measures, keep)


def gsm_parts(texts: pd.Series[str]) -> pd.Series[Any]:
    """Count the parts of each text as if every character were in the GSM alphabet."""
    known = texts.dropna()
    counted = _parts.measure(known.str.replace(_FOREIGN, "?", regex=True)).parts
    return pd.Series(counted, index=known.index, dtype="Int64").reindex(texts.index)


def _said(wording: Wording, message: OneMessage) -> dict[str, str | None]:
    """Return what one message says, its placeholders as they were written."""
    template = message.main or message.template_text
    text = None if template is None else _source(wording, template)
    cells = pd.DataFrame({name: pd.Series([text], dtype=STR) for name in ("text", "content")})
    reads = text if wording.kind == "template" or text is None else str(wording.reads(cells).iloc[0])
    return {
        "segment": message.segment,
        "template": message.body.template_id,
        "text": reads,
        "variables": json.dumps(_columns(wording, message), ensure_ascii=False),
    }


def _columns(wording: Wording, message: OneMessage) -> list[str]:
    return list(dict.fromkeys(slot.column for slot in wording.slots(message)))


def _source(wording: Wording, template: templates.Template) -> str:
    """Write a parsed text with its placeholders again, characters replaced as in the messages."""
    literals = [_replaced(wording, text).replace("{", "{{").replace("}", "}}") for text in template.literals]
    slots = [f"{{{slot.source}}}" for slot in template.slots]
    return "".join(piece for pair in zip(literals, [*slots, ""], strict=True) for piece in pair)


def _replaced(wording: Wording, text: str) -> str:
    return parts.plain(text, replace=wording.replace) if wording.replace else text


# -- where the characters come from ------------------------------------------------------------------------------------


def _sources(
    wording: Wording, frame: pd.DataFrame, forcing: pd.Series[str], place: Ints, first: Ints
) -> pd.Series[str]:
    """Return as JSON, for each body, the characters that force ucs2 by the column that they come from."""
    found = pd.Series(None, index=forcing.index, dtype=object)
    foreign = forcing.fillna("").ne("").to_numpy(bool)
    for number, message in enumerate(wording.messages):
        mine = np.flatnonzero(foreign & (place == number))
        if len(mine):
            found.iloc[mine] = _of_message(wording, message, frame, forcing.iloc[mine].tolist(), first[mine])
    kept: pd.Series[str] = _without_rare(found).astype(STR)
    return kept


def _of_message(
    wording: Wording, message: OneMessage, frame: pd.DataFrame, forcing: list[str], first: Ints
) -> list[str]:
    columns = _columns(wording, message)
    template = message.main or message.template_text
    literals = "".join(template.literals) if template else ""
    joined = f"{wording.signature or ''}{''.join(wording.join.literals)}" if wording.kind == "content" else ""
    own = set(_parts.forcing([_replaced(wording, literals) + joined])[0])
    if len(columns) == 1:  # whatever the text does not hold itself
        values = {columns[0]: [_in_order(set(signs) - own) for signs in forcing]}
    else:
        slots = wording.slots(message)
        filled = templates.column_texts(frame.iloc[first], slots, message.language)
        texts = {name: [filled[one.source].fillna("") for one in slots if one.column == name] for name in columns}
        values = {name: _parts.forcing(map("".join, zip(*of, strict=True))) for name, of in texts.items()}
    said = []
    for at, signs in enumerate(forcing):
        here = {"": own & set(signs)} | {name: set(each[at]) & set(signs) for name, each in values.items()}
        said.append(json.dumps({name: _in_order(found) for name, found in here.items() if found}, ensure_ascii=False))
    return said


def _in_order(signs: Iterable[str]) -> str:
    return "".join(sorted(signs))


def _without_rare(found: pd.Series[Any]) -> pd.Series[Any]:
    counted = found.value_counts()
    return found if len(counted) <= _MOST else found.where(found.isin(counted.index[:_MOST]))
