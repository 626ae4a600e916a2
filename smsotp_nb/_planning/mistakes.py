"""Likely mistakes in messages: the name of a column as the text, placeholders that would be sent as words.

Each would be sent literally to everybody on the list, so each is refused before anything is planned.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from .. import _templates as templates
from .. import _wire as wire
from .._calling import given
from ..columns import absent, listed
from .foreign_placeholders import Foreign
from .wording import OneMessage, Wording, for_segments

Codes: TypeAlias = "npt.NDArray[np.int64] | None"
_SHOWN: Final = 3
_SLOT: Final = re.compile(r"\{([^{}]+)\}")
_LITERALLY: Final = "or pass sms.Message(..., literal=True) if it is meant literally"


def found_in(wording: Wording, frame: pd.DataFrame, names: Iterable[Any], codes: Codes = None) -> list[str]:
    """Return what is wrong with messages in the light of the columns of their recipients.

    ``frame`` is what the messages are filled from, ``names`` the columns of the recipients, ``codes`` which message
    each row gets where there are several.
    """
    columns = [name for name in names if isinstance(name, str) and name.strip()]
    foreign = Foreign(frame, columns)
    complaints = [
        (message.segment, said) for message in wording.messages for said in _in_message(message, columns, foreign)
    ]
    wrong = for_segments(complaints, len(wording.messages))
    signature = wording.signature
    if signature is not None:
        wrong += _column_names("signature", signature, columns)
        if _SLOT.search(signature) or foreign.found([signature]):
            wrong.append("signature= is one name for everybody; {placeholders} are filled in the message alone")
    return wrong + in_cells(wording, frame, columns, codes)


def in_cells(wording: Wording, frame: pd.DataFrame, names: Iterable[Any], codes: Codes = None) -> list[str]:
    """Return what is wrong with the cells that messages take from a frame: they bring placeholders along.

    Arguments as for `found_in`.
    """
    names = list(names)
    whole = list(_whole(wording, codes))
    wrong = [said for name, rows in whole for said in _foreign_cells(frame, name, rows, names)]
    values = [name for name in wording.columns if name not in {of for of, _ in whole}]
    return list(dict.fromkeys(wrong)) + list(_nested(wording, values, frame, set(names)))


def no_columns(wording: Wording, frame: pd.DataFrame) -> list[str]:
    """Report placeholders and columns of messages that are not there."""
    wrong = []
    for message in wording.messages:
        if message.own is not None:
            missing = absent(message.own, frame.columns)
            wrong += [(message.segment, f"message: {missing}")] if missing else []
            continue
        slots, currency = wording.slots(message), message.language.currency
        wrong += [(message.segment, no) for no in templates.wrong_slots(slots, frame, currency)]
    return for_segments(wrong, len(wording.messages))


def signature_beside_text(wording: Wording, variant: wire.Variant) -> str | None:
    """Report a signature beside ``text``. Only the cn variant sends one there; elsewhere nobody would read it."""
    if variant == "cn" or wording.kind != "text" or wording.signature is None:
        return None
    return (
        "signature= is not put in front of a message that travels as text, which goes without one: leave out "
        "field='text' to have both joined, or write the name into the message"
    )


def _in_message(message: OneMessage, columns: list[str], foreign: Foreign) -> Iterator[str]:
    if message.main is None or message.own is not None or message.literal:
        return
    body = message.body
    words = body.text or body.content or ""
    yield from _column_names("message", words, columns)
    for shape, meant in foreign.found([words]).items():
        yield (
            f"message holds {given(shape)}, a placeholder as another tool writes it, which would be sent "
            f"literally. Write {_ours(meant, columns)}, {_LITERALLY}"
        )


def _ours(meant: str | None, columns: list[str]) -> str:
    if meant is not None:
        return f"'{{{meant}}}'"
    return f"'{{column}}' with one pair of braces and the name of a column {listed(columns)}"


def _column_names(name: str, value: str, columns: list[str]) -> Iterator[str]:
    meant = [column for column in columns if column.strip().casefold() == value.strip().casefold()]
    if meant and name == "signature":
        yield f"signature={given(value)} is the name of a column; it is one sender's name, the same for everybody"
    elif meant:
        yield (
            f"message {given(value)} is the name of a column: everybody would get this word. Write "
            f"'{{{meant[0]}}}' within a message, sms.column({meant[0]!r}) where its cells are whole messages, or "
            "sms.Message(..., literal=True)"
        )


def _whole(wording: Wording, codes: Codes) -> Iterator[tuple[str, npt.NDArray[np.bool_] | None]]:
    """Return the columns whose cells are sent as they stand, and which rows get them; None for all."""
    for number, message in enumerate(wording.messages):
        if not message.literal and message.own is not None:
            yield message.own, None if codes is None else codes == number
    if not all(message.literal for message in wording.messages):
        yield from ((slot.column, None) for _, slot in wording.variables)


def _foreign_cells(
    frame: pd.DataFrame, name: str, rows: npt.NDArray[np.bool_] | None, names: list[Any]
) -> Iterator[str]:
    if absent(name, frame.columns) or pd.api.types.is_numeric_dtype(frame[name].dtype):
        return
    texts = templates.as_text(frame[name] if rows is None else frame[name][rows])
    found = Foreign(frame, names, ours=False).found(texts.dropna().unique())
    for shape in list(found)[:1]:
        there = texts.index[texts.str.contains(shape, regex=False, na=False).to_numpy(bool)].tolist()
        where = f" in {_rows(there)}" if there else ""
        yield (
            f"column {name!r} holds {given(shape)}{where}, as other tools or we write a placeholder: what stands in a "
            "cell is never filled, so it would be sent literally to these people. Write the message itself with "
            f"'{{column}}', fill the column first, {_LITERALLY}"
        )


def _nested(wording: Wording, values: Iterable[str], frame: pd.DataFrame, columns: set[str]) -> Iterator[str]:
    """Report values that bring placeholders along: they are never filled."""
    if all(message.literal for message in wording.messages):
        return
    for name in values:
        if absent(name, frame.columns) or pd.api.types.is_numeric_dtype(frame[name].dtype):
            continue
        texts = templates.as_text(frame[name])
        braced = texts[texts.str.contains("{", regex=False, na=False).to_numpy(bool)]
        filled = int(texts.notna().sum())
        meant = [(label, names) for label, text in braced.items() if (names := columns & set(_SLOT.findall(text)))]
        if 2 * len(meant) > filled:  # a column of texts to be filled, not one odd name among many
            yield _said(name, meant)


def _said(column: str, meant: list[tuple[Any, set[str]]]) -> str:
    first = sorted(meant[0][1])[0]
    rows = _rows([label for label, _ in meant])
    return (
        f"column {column!r} holds placeholders such as {{{first}}} in {rows}: what stands in a cell is never "
        "filled, so they would get the word itself. Write the message with its placeholders, or fill the column first"
    )


def _rows(labels: list[Any]) -> str:
    more = f" and {len(labels) - _SHOWN:,} more" if len(labels) > _SHOWN else ""
    return f"row {', '.join(map(given, labels[:_SHOWN]))}{more}"
