"""Likely mistakes in messages: the name of a column as the text, placeholders that would be sent as words.

Each would reach everybody on the list as it stands, so each is refused before anything is planned.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

import pandas as pd

from .. import templates
from .._arguments import given
from ..columns import absent
from .wording import Message, Wording, for_segments

_SHOWN: Final = 3
_SLOT: Final = re.compile(r"\{([^{}]+)\}")
# How other tools write a placeholder: {{name}} [name] <name> «name» %(name)s %name% *|name|* $name
_FOREIGN: Final = r"\{{0}\}|\[{0}\]|<{0}>|«{0}»|%\({0}\)s|%{0}%|\*\|{0}\|\*|\${0}(?![\w])"


def found_in(wording: Wording, frame: pd.DataFrame, names: Iterable[Any]) -> list[str]:
    """Return what is wrong with messages in the light of the columns of their recipients.

    ``frame`` is what the messages are filled from, ``names`` the columns of the recipients.

    Example:
        >>> from .wording import read
        >>> blank = dict.fromkeys(("content", "template_id", "template_data", "template_text", "signature",
        ...     "signature_join", "fill", "replace"))
        >>> found_in(read(text="msg", variant="intl", **blank), pd.DataFrame({"msg": ["Hi Ann"]}), ["msg"])[0][:47]
        "text='msg' is the name of a column: everybody w"
    """
    columns = [name for name in names if isinstance(name, str) and name.strip()]
    complaints = [(message.segment, said) for message in wording.messages for said in _in_message(message, columns)]
    wrong = for_segments(complaints, len(wording.messages))
    signature = wording.signature
    if signature is not None:
        wrong += _column_names("signature", signature, columns)
        if _SLOT.search(signature):
            wrong.append("signature= is one name for everybody; {placeholders} are filled in text= and content= alone")
    return wrong + list(_nested(wording, frame, set(columns)))


def _in_message(message: Message, columns: list[str]) -> Iterator[str]:
    if message.main is None or message.own is not None:
        return
    body = message.body
    yield from _column_names(body.kind, body.text or body.content or "", columns)
    yield from _foreign(body.kind, " ".join(message.main.literals), columns)


def _column_names(name: str, value: str, columns: list[str]) -> Iterator[str]:
    meant = [column for column in columns if column.strip().casefold() == value.strip().casefold()]
    if meant and name == "signature":
        yield f"signature={given(value)} is the name of a column; it is one sender's name, the same for everybody"
    elif meant:
        yield (
            f"{name}={given(value)} is the name of a column: everybody would get this word. Write "
            f"{name}=sms.column({meant[0]!r}) where its cells are whole messages, or '{{{meant[0]}}}' within a message "
            "for what stands in it; rename the column if the word itself is meant"
        )


def _foreign(name: str, literal: str, columns: list[str]) -> Iterator[str]:
    """Report placeholders in the manner of other tools, for columns that there are."""
    for column in columns:
        found = re.search(_FOREIGN.replace("{0}", re.escape(column)), literal, re.IGNORECASE)
        if found and not column.isdigit():
            shown = f"{{{found[0]}}}" if found[0].startswith("{") else found[0]
            yield (
                f"{name}= holds {shown!r}, which everybody would get as it stands: a placeholder is written "
                f"'{{{column}}}', with one pair of braces"
            )


def _nested(wording: Wording, frame: pd.DataFrame, columns: set[str]) -> Iterator[str]:
    """Report values that bring placeholders along: they are never filled."""
    for name in wording.columns:
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
    rows = ", ".join(given(label) for label, _ in meant[:_SHOWN])
    more = f" and {len(meant) - _SHOWN:,} more" if len(meant) > _SHOWN else ""
    return (
        f"column {column!r} holds placeholders such as {{{first}}} in row {rows}{more}: what stands in a cell is never "
        "filled, so these people would get the word itself. Write the message with its placeholders in text= or "
        "content=, or fill the column first"
    )
