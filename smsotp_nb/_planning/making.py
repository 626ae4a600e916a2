"""What a plan is made of, so that it can be made again with other words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

import pandas as pd

from .._calling import refuse
from .._wire import Variant
from . import arguments
from .arguments import Asked, Words
from .message import Message
from .segments import copied
from .wording import label_of

# One of these is the message; what comes with a template stays only if it still fits.
KINDS: Final = ("text", "content", "template_id")
MESSAGE: Final = (
    *KINDS, "template_data", "template_text", "signature", "signature_join", "fill", "replace", "by", "priority",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class MadeOf:
    """The caller's ``frame`` and arguments, the judged ``numbers`` (indexed from 0), and whom to leave out, by problem.

    ``message`` are the arguments of the message as they were given, ``kept`` the columns that are carried along.
    """

    frame: pd.DataFrame = field(repr=False)
    asked: Asked
    numbers: pd.DataFrame = field(repr=False)
    left_out: Mapping[str, pd.Series[str]] = field(repr=False)
    message: Mapping[str, Any] = field(repr=False)
    kept: pd.DataFrame = field(repr=False)

    def reworded(self, changes: Mapping[str, Any]) -> MadeOf:
        """Return the same with another message; arguments that are None stay as they are.

        Raises:
            UsageError: lists everything wrong with them.
        """
        message = _merged(self.message, changes, self.asked.variant)
        before = self.asked.words.wording.fill if changes["fill"] is None else {}
        message["fill"] = changes["fill"]
        words = arguments.read_words(self.frame, message, self.asked.variant, self.asked.keep, fill_before=before)
        asked = replace(self.asked, words=words)
        return replace(self, asked=asked, message=given(message), kept=carried(self.kept, words))


def given(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return the message's arguments as they are now; Series of whole messages are never used again."""
    return {name: copied(value) for name, value in message.items()}


def carried(kept: pd.DataFrame, words: Words) -> pd.DataFrame:
    """Return the kept columns with that of the segments."""
    return kept if words.segments is None else kept.assign(**{words.segments.name: words.segments.column.array})


def _merged(before: Mapping[str, Any], changes: Mapping[str, Any], variant: Variant) -> dict[str, Any]:
    """Return the arguments of the new message: those that were not given are as before where they still apply."""
    new = [name for name in KINDS if changes[name] is not None]
    refuse(None if new else "the new words are missing: one of text=, content= or template_id= is needed")
    inherited = dict(before) | dict.fromkeys(KINDS)
    if new[0] != "template_id":
        inherited["template_data"] = None
    if not (isinstance(changes["template_id"], str) and changes["template_id"] == before["template_id"]):
        inherited["template_text"] = None
    if new[0] == "text" and variant == "intl":
        inherited["signature"] = None  # a text is the whole message
    labels = _labels(changes[new[0]])
    inherited["priority"] = [first for first in before["priority"] if label_of(first) in labels]
    if not labels:
        inherited["by"] = None
    return {name: inherited[name] if changes[name] is None else changes[name] for name in MESSAGE}


def _labels(words: Any) -> set[str | None]:
    words = words.words if isinstance(words, Message) else words
    return {label_of(key) for key in words} if isinstance(words, Mapping) else set()
