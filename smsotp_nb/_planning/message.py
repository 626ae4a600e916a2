"""The words of a campaign together with how they are meant."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from .._calling import given, in_our_words, not_flag, refuse
from .._frames import as_pandas

# The arguments in which words may stand as a `Message`.
WORDED = ("text", "content", "template_data")


@dataclass(frozen=True, slots=True, init=False, repr=False, eq=False)
class Message:
    """Words of a campaign, and how they are meant. It stands wherever words are given, for all of them or one segment.

    Args:
        words: a text, ``column("msg")``, a Series of whole messages, a dict with a message for each segment, or what
            ``template_data`` takes.
        literal: send what looks like a placeholder of another tool, such as ``{{name}}}}`` or ``%NAME%``, as it
            stands. It is refused otherwise. ``{column}`` and ``{{`` mean the same as ever.

    Raises:
        UsageError: no words, or ``literal`` is neither True nor False.

    Example:
        >>> import smsotp_nb as sms
        >>> people = pd.DataFrame({"phone": ["+12025550123"], "name": ["Ann"]})
        >>> words = sms.Message("{name}, in your letter write [name] where the name goes", literal=True)
        >>> sms.plan(people, to="phone", campaign="demo", text=words).texts.tolist()
        ['Ann, in your letter write [name] where the name goes']
        >>> words
        Message('{name}, in your letter write [name] where the name goes', literal=True)
    """

    words: Any
    literal: bool

    @in_our_words
    def __init__(self, words: Any, *, literal: bool = False) -> None:
        none = words is None or isinstance(words, Message)
        text = "words must be a text, a column, a Series or a dict with a message for each segment, got"
        refuse(f"{text} {given(words)}" if none else None, not_flag("literal", literal))
        object.__setattr__(self, "words", as_pandas(words))
        object.__setattr__(self, "literal", bool(literal))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Message) or self.literal != other.literal:
            return False
        if isinstance(self.words, pd.Series):
            return isinstance(other.words, pd.Series) and self.words.equals(other.words)
        return not isinstance(other.words, pd.Series) and bool(self.words == other.words)

    __hash__ = None  # type: ignore[assignment]  # its words may be a dict or a Series

    def __repr__(self) -> str:
        words = given(self.words) if isinstance(self.words, pd.Series) else repr(self.words)
        return f"Message({words}{', literal=True' if self.literal else ''})"


def unwrapped(said: Mapping[str, Any]) -> tuple[dict[str, Any], frozenset[Any] | bool]:
    """Return the arguments of a message with the words alone, and which are literal: all, none or those of segments.

    Example:
        >>> unwrapped({"text": {"de": Message("%NAME%", literal=True), "en": "Hi"}})
        ({'text': {'de': '%NAME%', 'en': 'Hi'}}, frozenset({'de'}))
    """
    plain, everything, labels = dict(said), False, set()
    for name in WORDED:
        if name not in plain:
            continue
        value = plain[name]
        if isinstance(value, Message):
            everything |= value.literal
            value = value.words
        if isinstance(value, Mapping):
            labels |= {label for label, one in value.items() if isinstance(one, Message) and one.literal}
            value = {label: one.words if isinstance(one, Message) else one for label, one in value.items()}
        plain[name] = value
    return plain, everything or frozenset(labels)
