"""What a campaign says: its message, or one for each segment, checked, and how the recipients read it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import replace as replaced
from typing import Any, Final, TypeAlias

import pandas as pd

from .. import _wire as wire
from .. import templates
from .._calling import given, in_our_words, not_flag, not_replacement, not_text, refuse
from .._frames import as_pandas
from .._pandas import STR
from ..errors import UsageError

TemplateData: TypeAlias = "Sequence[str] | Mapping[str, str] | Message | None"
EXAMPLE: Final = "{'de': 'Hallo {name}', 'en': 'Hi {name}'}"
_LISTED: Final = 12
_SAID: Final = ("text", "content", "template_id", "template_data", "template_text")


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


def plain_words(value: Any) -> Any:
    """Return the words of a `Message`; anything else as it is."""
    return value.words if isinstance(value, Message) else value


@dataclass(frozen=True, slots=True)
class Column:
    """A column whose cells are whole messages; see `column`."""

    name: str

    def __repr__(self) -> str:
        return f"column({self.name!r})"


@dataclass(frozen=True, slots=True)
class OneMessage:
    """One message with its placeholders: ``body`` as asked for, ``main`` its parsed text or content.

    ``segment`` is the label of those who get it, None for everybody; ``own`` is the column of whole messages in place
    of a text; ``template_text`` is what a template is said to hold; ``literal`` as in `Message`.
    """

    segment: str | None
    body: wire.Body
    main: templates.Template | None
    own: str | None
    template_text: templates.Template | None
    literal: bool


Words: TypeAlias = "str | Column | pd.Series[Any] | Message | Mapping[Any, str | Column | Message] | None"


@dataclass(frozen=True, slots=True)
class Wording:
    """The messages of a plan, all of one kind and with one signature.

    ``variables`` are (variable, column) pairs in the order of the variables' names; ``join`` and ``join_text`` are how
    content and signature come together, ``replace`` the characters written otherwise.
    """

    messages: tuple[OneMessage, ...]
    variables: tuple[tuple[str, str], ...]
    join: templates.Template
    join_text: str
    fill: Mapping[str, Any]
    replace: Mapping[str, str]

    @property
    def kind(self) -> str:
        return self.messages[0].body.kind

    @property
    def argument(self) -> str:
        """The argument that has the messages."""
        return "template_id" if self.kind == "template" else self.kind

    @property
    def signature(self) -> str | None:
        return self.messages[0].body.signature

    @property
    def segments(self) -> tuple[str, ...]:
        """The labels of the segments; none where there is one message for everybody."""
        return tuple(message.segment for message in self.messages if message.segment is not None)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the frame that the messages use."""
        in_texts = [name for message in self.messages if message.main for name in message.main.names]
        return tuple(dict.fromkeys([*in_texts, *(column for _, column in self.variables)]))

    def reads(self, bodies: pd.DataFrame) -> pd.Series[str]:
        """Return the texts of these bodies as their recipients read them; NaN where a template's text is unknown."""
        if self.kind == "text":
            whole: pd.Series[str] = bodies["text"]
            return whole
        if self.kind == "content":
            return _joined(self.join, bodies["content"], self.signature)
        known = {message.body.template_id: message.template_text for message in self.messages if message.template_text}
        if len(self.messages) == 1 and known:
            return self._of_template(bodies, *known.values())
        texts: pd.Series[str] = pd.Series(None, index=bodies.index, dtype=STR)
        for template_id, text in known.items():
            mine = bodies["template_id"].eq(str(template_id)).to_numpy(dtype=bool)
            texts = texts.mask(mine, self._of_template(bodies[mine], text).reindex(bodies.index))
        return texts

    def sampled(self, bodies: pd.DataFrame) -> list[str]:
        """Return the texts of bodies to look at for advice; of a template without text its variables and values."""
        known = self.reads(bodies)
        if self.kind == "template":
            data = bodies["template_data"].str.replace('"', " ", regex=False).str.replace("_", " ", regex=False)
            known = known.fillna(data)
        return known.tolist()

    def _of_template(self, bodies: pd.DataFrame, text: templates.Template) -> pd.Series[str]:
        names = pd.Index([variable for variable, _ in self.variables], dtype=object)
        values = [json.loads(text) for text in bodies["template_data"]]
        data = pd.DataFrame(values, columns=names, index=bodies.index, dtype=STR)
        return text.fill(data, fill=dict.fromkeys(text.names, "")).text


@in_our_words
def column(name: str) -> Column:
    """Return what ``plan(text=...)`` and ``plan(content=...)`` take for a column of whole messages.

    Each row's cell is its message as it stands: nothing in it is a placeholder, and a blank one is VALUE_MISSING. One
    that holds a placeholder all the same, ours or another tool's, is refused; see `Message`.

    Raises:
        UsageError: not the name of a column.

    Example:
        >>> import smsotp_nb as sms
        >>> people = pd.DataFrame({"phone": ["+12025550123", "+12025550147"], "msg": ["Hi Ann", "Dear Ben, 20% off"]})
        >>> sms.plan(people, to="phone", campaign="demo", text=sms.column("msg")).bodies["text"].tolist()
        ['Hi Ann', 'Dear Ben, 20% off']
    """
    refuse(not_text("name", name, hint="; column takes the name of the column that holds the messages"))
    return Column(name)


def read(message: Mapping[str, Any], variant: wire.Variant) -> Wording:
    """Read the arguments of the message, as `plan` has them; a mapping says a message for each segment.

    Raises:
        UsageError: lists everything wrong with them.
    """
    said, literal = _unwrapped({name: message[name] for name in _SAID})
    variables, wrong = _variables(said.pop("template_data"))
    signature, signature_join = message["signature"], message["signature_join"]
    fill, replace = message["fill"], message["replace"]
    wrong += _not_text(signature=signature, signature_join=signature_join)
    by_segment = {name: _labelled(name, value, wrong) for name, value in said.items()}
    literally = {label_of(key) for key in literal} if isinstance(literal, frozenset) else None
    labels = next((list(of) for name, of in by_segment.items() if of and name != "template_text"), [])
    wrong += _one_set(by_segment, labels)
    messages: list[OneMessage] = []
    complaints: list[tuple[str | None, str]] = []
    everybody: list[str | None] = [None]
    for label in labels or everybody:
        mine = {name: of.get(str(label)) if of is not None else said[name] for name, of in by_segment.items()}
        one, wrong_here = _message(label, mine, variables, signature, variant, known=not wrong)
        messages.append(replaced(one, literal=bool(literal) if literally is None else label in literally))
        complaints += [(label, complaint) for complaint in wrong_here]
    wrong += for_segments(complaints, len(labels))
    wrong += _two_texts(messages)
    join_text = wire.SIGNATURE_JOIN[variant] if signature_join is None else signature_join
    join = _parsed("signature_join", join_text, wrong) or templates.parse(wire.SIGNATURE_JOIN[variant])
    if sorted(join.slots) != ["content", "signature"]:
        wrong.append("signature_join= must hold {signature} and {content} once each, such as '[{signature}] {content}'")
    if fill is not None and not isinstance(fill, Mapping):
        wrong.append(f"fill= must be a dict such as {{'name': 'there'}}, got {given(fill)}")
    refuse(*wrong, None if replace is None else not_replacement("replace", replace))
    return Wording(tuple(messages), variables, join, join_text, dict(fill or {}), dict(replace or {}))


# -- segments ----------------------------------------------------------------------------------------------------------


def label_of(value: Any) -> str | None:
    """Return a segment's label as it is compared: as text, without blanks around it; None of what is none."""
    if not pd.api.types.is_scalar(value):
        return None
    text = templates.as_text(pd.Series([value], dtype=object)).iloc[0]
    return None if pd.isna(text) else str(text).strip()


def for_segments(complaints: Iterable[tuple[str | None, str]], segments: int) -> list[str]:
    """Return complaints of messages, each with its segment, but for those that hold for all of them."""
    where: dict[str, list[str | None]] = {}
    for label, complaint in complaints:
        where.setdefault(complaint, []).append(label)
    return [
        complaint if len(labels) >= segments else f"segment {given(label)}: {complaint}"
        for complaint, labels in where.items()
        for label in (labels[:1] if len(labels) >= segments else labels)
    ]


def _labelled(name: str, value: Any, wrong: list[str]) -> dict[str, Any] | None:
    """Return a mapping by labels as they are compared; None of an argument that is none."""
    if not isinstance(value, Mapping):
        return None
    if not value:
        wrong.append(f"{name}= is an empty dict; give a message for each segment, such as {EXAMPLE}")
    found: dict[str, Any] = {}
    for key, message in value.items():
        label = label_of(key)
        if label is None:
            wrong.append(f"{name}= has the key {given(key)}, which is no segment; a key is what stands in its cells")
        elif label in found:
            wrong.append(f"{name}= has the segment {label!r} twice; blanks around a key do not count")
        else:
            found[label] = message
            if message is None:
                wrong.append(f"{name}[{label!r}] must be text, got None")
    return found


def _one_set(by_segment: Mapping[str, dict[str, Any] | None], labels: list[str]) -> list[str]:
    """Report a template text for segments that have no template."""
    texts = by_segment["template_text"]
    if texts is None:
        return []
    if by_segment["template_id"] is None:
        return ["template_text= is a dict by segment; template_id= must be one, too"]
    return [
        f"template_text= has the segment {label!r}, template_id= has {listed(labels)}"
        for label in texts
        if label not in labels
    ]


def listed(labels: Iterable[str]) -> str:
    """Return the labels of segments in words, each as it may be shown."""
    there = [given(label) for label in labels]
    more = f" and {len(there) - _LISTED} more" if len(there) > _LISTED else ""
    return ", ".join(there[:_LISTED]) + more


def _two_texts(messages: Sequence[OneMessage]) -> list[str]:
    """Report a template that is given two texts: bodies of one template are equal, whatever their segment."""
    texts: dict[str | None, set[templates.Template | None]] = {}
    for message in messages:
        texts.setdefault(message.body.template_id, set()).add(message.template_text)
    return [
        f"template_text= says two texts of the template {given(name)}"
        for name, found in texts.items()
        if name is not None and len(found) > 1
    ]


# -- one message -------------------------------------------------------------------------------------------------------


def _message(
    label: str | None,
    said: Mapping[str, Any],
    variables: Sequence[tuple[str, str]],
    signature: str | None,
    variant: wire.Variant,
    *,
    known: bool,
) -> tuple[OneMessage, list[str]]:
    """Return one message and what is wrong with it; its body is checked only if all else is ``known`` to be right."""
    own = next((said[name].name for name in ("text", "content") if isinstance(said[name], Column)), None)
    whole = templates.Template(("", ""), (own,)) if own is not None else None
    texts = {name: f"{{{value.name}}}" if isinstance(value, Column) else value for name, value in said.items()}
    wrong = _not_text(**texts)
    body = wire.Body()
    if known and not wrong:
        data = tuple((variable, "") for variable, _ in variables)
        body = wire.Body(texts["text"], texts["content"], texts["template_id"], data, signature)
        wrong += wire.check_body(body, variant=variant)
    main = whole or _parsed("main", texts["text"] if texts["text"] is not None else texts["content"], wrong)
    text = texts["template_text"]
    parsed = _parsed("template_text", text, wrong)
    if text is not None:
        wrong += _check_template_text(parsed, texts["template_id"], [name for name, _ in variables])
    return OneMessage(label, body, main, own, parsed, literal=False), wrong


def _joined(join: templates.Template, content: pd.Series[str], signature: str | None) -> pd.Series[str]:
    if signature is None:
        return content
    before, between, after = join.literals
    if join.slots[0] == "signature":
        return f"{before}{signature}{between}" + content + after
    return before + content + f"{between}{signature}{after}"


def _not_text(**arguments: Any) -> list[str]:
    return [wrong for name, value in arguments.items() if value is not None and (wrong := not_text(name, value))]


def _variables(template_data: TemplateData) -> tuple[tuple[tuple[str, str], ...], list[str]]:
    if template_data is None:
        return (), []
    if isinstance(template_data, Mapping):
        pairs = list(template_data.items())
    elif isinstance(template_data, (list, tuple)):
        pairs = [(column, column) for column in template_data]
    else:
        got = given(template_data)
        return (), [f"template_data= must be a list of columns or a dict {{variable: column}}, got {got}"]
    held = "template_data= must hold names of columns as text, got"
    wrong = [
        f"{held} {given(variable)}: {given(column)}" for variable, column in pairs if not _names((variable, column))
    ]
    return tuple(sorted(dict(pairs).items())) if not wrong else (), wrong


def _names(pair: tuple[Any, Any]) -> bool:
    return all(isinstance(name, str) and name.strip() for name in pair)


def _parsed(name: str, source: Any, wrong: list[str]) -> templates.Template | None:
    if not isinstance(source, str):
        return None
    try:
        return templates.parse(source)
    except UsageError as error:
        wrong.append(str(error) if name == "main" else f"{name}=: {error}")
        return None


def _check_template_text(parsed: templates.Template | None, template_id: str | None, variables: list[str]) -> list[str]:
    wrong = [] if template_id is not None else ["template_text= needs template_id="]
    names = parsed.names if parsed else ()
    unknown = [name for name in names if name not in variables]
    if unknown and template_id is not None:
        known = ", ".join(map(repr, variables)) or "none"
        wrong.append(f"template_text= uses {', '.join(map(repr, unknown))}; template_data= has {known}")
    return wrong


def _unwrapped(said: Mapping[str, Any]) -> tuple[dict[str, Any], frozenset[Any] | bool]:
    """Return the arguments of a message with the words alone, and which are literal: all, none or those of segments."""
    plain, everything, labels = dict(said), False, set()
    for name in ("text", "content", "template_data"):
        everything |= isinstance(said[name], Message) and said[name].literal
        value = plain_words(said[name])
        if isinstance(value, Mapping):
            labels |= {label for label, one in value.items() if isinstance(one, Message) and one.literal}
            value = {label: plain_words(one) for label, one in value.items()}
        plain[name] = value
    return plain, everything or frozenset(labels)
