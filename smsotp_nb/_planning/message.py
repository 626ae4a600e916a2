"""The words of a campaign together with how they are meant."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import pandas as pd

from .._arguments import given, not_flag, refuse
from .._calls import in_our_words
from .._frames import as_pandas
from .._values import no_currency, no_language

# The arguments in which words may stand as a `Message`.
WORDED = ("text", "content", "template_data")


class Manner(NamedTuple):
    """How words are meant."""

    literal: bool = False
    language: str | None = None
    currency: str | None = None


@dataclass(frozen=True, slots=True, init=False, repr=False, eq=False)
class Message:
    """Words of a campaign, and how they are meant. It stands wherever words are given, for all of them or one segment.

    Args:
        words: a text, ``column("msg")``, a Series of whole messages, a dict with a message for each segment, or what
            ``template_data`` takes.
        literal: send what looks like a placeholder of another tool, such as ``{{name}}}}`` or ``%NAME%``, as it
            stands. It is refused otherwise. ``{column}`` and ``{{`` mean the same as ever.
        language: in which numbers, amounts and times are written, as ``"de"`` or ``"pt-BR"``. By default the key of a
            segment where that is a language, else English.
        currency: of ``{column:money}``, as ``"EUR"``.

    Raises:
        UsageError: no words, or an option that is none.

    Example:
        >>> import smsotp_nb as sms
        >>> people = pd.DataFrame({"phone": ["+12025550123"], "name": ["Ann"], "owed": [1234.5]})
        >>> words = sms.Message("Hallo {name}, offen sind {owed:money}.", language="de", currency="EUR")
        >>> sms.plan(people, to="phone", campaign="demo", text=words).texts.tolist()
        ['Hallo Ann, offen sind 1.234,50 €.']
        >>> words
        Message('Hallo {name}, offen sind {owed:money}.', language='de', currency='EUR')
    """

    words: Any
    literal: bool
    language: str | None
    currency: str | None

    @in_our_words
    def __init__(
        self, words: Any, *, literal: bool = False, language: str | None = None, currency: str | None = None
    ) -> None:
        none = words is None or isinstance(words, Message)
        text = "words must be a text, a column, a Series or a dict with a message for each segment, got"
        refuse(
            f"{text} {given(words)}" if none else None,
            not_flag("literal", literal),
            None if language is None else no_language(language),
            None if currency is None else no_currency(currency),
        )
        options = {"words": as_pandas(words), "literal": bool(literal), "language": language, "currency": currency}
        for name, value in options.items():
            object.__setattr__(self, name, value)

    @property
    def manner(self) -> Manner:
        return Manner(self.literal, self.language, self.currency)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Message) or self.manner != other.manner:
            return False
        if isinstance(self.words, pd.Series):
            return isinstance(other.words, pd.Series) and self.words.equals(other.words)
        return not isinstance(other.words, pd.Series) and bool(self.words == other.words)

    __hash__ = None  # type: ignore[assignment]  # its words may be a dict or a Series

    def __repr__(self) -> str:
        words = given(self.words) if isinstance(self.words, pd.Series) else repr(self.words)
        options = {name: value for name, value in self.manner._asdict().items() if value}
        return f"Message({', '.join([words, *(f'{name}={value!r}' for name, value in options.items())])})"


def unwrapped(said: Mapping[str, Any]) -> tuple[dict[str, Any], dict[Any, Manner]]:
    """Return the arguments of a message with the words alone, and how they are meant: by segment, None for the others.

    Example:
        >>> unwrapped({"text": {"de": Message("%NAME%", literal=True), "en": "Hi"}})[0]
        {'text': {'de': '%NAME%', 'en': 'Hi'}}
    """
    plain, manners = dict(said), {None: Manner()}
    for name in WORDED:
        value = plain.get(name)
        if isinstance(value, Message):
            manners[None] = value.manner
            value = value.words
        if isinstance(value, Mapping):
            of = {label: one.manner for label, one in value.items() if isinstance(one, Message)}
            manners |= {label: _inherited(manner, manners[None]) for label, manner in of.items()}
            value = {label: one.words if isinstance(one, Message) else one for label, one in value.items()}
        if name in plain:
            plain[name] = value
    return plain, manners


def _inherited(manner: Manner, outer: Manner) -> Manner:
    """Return how the words of a segment are meant where the Message around all segments says what theirs does not."""
    return Manner(manner.literal or outer.literal, manner.language or outer.language, manner.currency or outer.currency)
