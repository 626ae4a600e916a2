"""What a campaign says: its message, or one for each segment, checked, and how the recipients read it."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, fields
from dataclasses import replace as replaced
from typing import Any, ClassVar, Final, Literal, NamedTuple, TypeAlias

import pandas as pd

from .. import _templates as templates
from .. import _wire as wire
from .._calling import given, in_our_words, made_in_our_words, not_choice, not_flag, not_replacement, not_text, refuse
from .._frames import as_pandas
from .._pandas import STR
from .._showing import few
from .._values import (
    DEFAULT_LANGUAGE,
    Language,
    Slot,
    depends_on_language,
    is_language,
    no_currency,
    no_language,
    slot,
)
from ..errors import UsageError

TemplateData: TypeAlias = "Sequence[str] | Mapping[str, str] | None"
EXAMPLE: Final = "{'de': 'Hallo {name}', 'en': 'Hi {name}'}"
_LISTED: Final = 12
# What the fields of the interface are called in a call.
_CALLED: Final = {"text": "message", "content": "message", "template_id": "id", "template_data": "values"}
_WHOLE: Final = ("priority", "join", "replace", "keep_words", "field")  # options of the whole message
_CALL: Final = re.compile(r"\b(text|content|template_id|template_data)(?==|\[)")


class Manner(NamedTuple):
    """How words are meant: the options of a `Message`."""

    literal: bool = False
    language: str | None = None
    currency: str | None = None

    def within(self, outer: Manner) -> Manner:
        """Return how a segment's words are meant where the Message around all segments says what theirs does not."""
        return Manner(self.literal or outer.literal, self.language or outer.language, self.currency or outer.currency)


class _Words:
    """What `Message` and `Template` share: they are equal by their fields, and their repr is code."""

    __slots__ = ()
    __dataclass_fields__: ClassVar[dict[str, Any]]
    literal: bool
    language: str | None
    currency: str | None
    __hash__ = None  # type: ignore[assignment]  # words may be a dict or a Series

    @property
    def _manner(self) -> Manner:
        return Manner(self.literal, self.language, self.currency)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and all(
            _same(getattr(self, one.name), getattr(other, one.name)) for one in fields(self)
        )

    def __repr__(self) -> str:
        first, *others = [(one, getattr(self, one.name)) for one in fields(self)]
        words = given(first[1]) if isinstance(first[1], pd.Series) else repr(first[1])
        options = [f"{one.name}={value!r}" for one, value in others if value != one.default]
        return f"{type(self).__name__}({', '.join([words, *options])})"


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, pd.Series) or isinstance(other, pd.Series):
        return isinstance(one, pd.Series) and isinstance(other, pd.Series) and one.equals(other)
    return bool(one == other)


@made_in_our_words
@dataclass(frozen=True, repr=False, eq=False)
class Message(_Words):
    """Words of a campaign, and how they are meant. `plan` takes it for the words, for everybody or for one segment.

    Args:
        text: a text, ``column("msg")``, a Series of whole messages, or a dict with a message for each segment.
        language: in which numbers, amounts and times are written, such as ``"de"`` or ``"pt-BR"``. By default the key
            of a segment where that is a language, else English.
        currency: of ``{column:money}``, such as ``"EUR"``.
        priority: segments in the order in which they go first where a person stands in several; otherwise the first
            row does. Of the whole message only, as all options below but ``literal``.
        join: how message and signature are joined, such as ``"{content} [{signature}]"``; for the estimate only.
        replace: characters to replace, such as ``parts.PLAIN``. By default nothing is replaced.
        keep_words: keep in the ledger what the messages say, with their placeholders, for `cost.words`. With False it
            keeps only a hash of them, their encoding and parts. What placeholders are filled with is never kept.
        literal: send what looks like a placeholder of another tool, such as ``{{name}}`` or ``%NAME%``,
            literally. It is refused otherwise. ``{column}`` and ``{{`` mean the same as ever.
        field: of the request in which the message travels: ``"text"``, the whole message, or ``"content"``, which the
            service joins to the signature. By default ``content`` with a signature and ``text`` without one.

    Raises:
        UsageError: no words, or an option that is none.

    Example:
        >>> import smsotp_nb as sms
        >>> people = pd.DataFrame({"phone": ["+12025550123"], "name": ["Ann"], "owed": [1234.5]})
        >>> words = sms.Message("Hallo {name}, bitte {owed:money}.", language="de", currency="EUR")
        >>> sms.plan(people, words, to="phone", campaign="demo").texts.tolist()
        ['Hallo Ann, bitte 1.234,50 €.']
        >>> words
        Message('Hallo {name}, bitte {owed:money}.', language='de', currency='EUR')
    """

    text: Any
    _: KW_ONLY
    language: str | None = None
    currency: str | None = None
    priority: Sequence[Any] = ()
    join: str | None = None
    replace: Mapping[str, str] | None = None
    keep_words: bool = True
    literal: bool = False
    field: Literal["text", "content"] | None = None

    def __post_init__(self) -> None:
        none = self.text is None or isinstance(self.text, _Words)
        text = "text must be a text, a column, a Series or a dict with a message for each segment, got"
        refuse(
            f"{text} {given(self.text)}" if none else None,
            *_not_options(self),
            None if self.join is None else not_text("join", self.join),
            None if self.field is None else not_choice("field", self.field, ("text", "content")),
        )
        object.__setattr__(self, "text", as_pandas(self.text))


@made_in_our_words
@dataclass(frozen=True, repr=False, eq=False)
class Template(_Words):
    """A template that the service holds, and what fills it. `plan` takes it for the words.

    Args:
        id: of the template, or a dict with one for each segment.
        values: the columns that fill the template's variables, or a mapping ``{variable: column}``. A column may have a
            format, such as ``"owed:money"``.
        preview: the template's text with ``{variable}``, or a dict by segment; for the estimate and the preview only.
        language: as in `Message`.
        currency: as in `Message`.
        priority: as in `Message`.
        replace: as in `Message`.
        keep_words: as in `Message`.
        literal: as in `Message`.

    Raises:
        UsageError: no id, or an option that is none.

    Example:
        >>> import smsotp_nb as sms
        >>> people = pd.DataFrame({"phone": ["+12025550123"], "first": ["Ann"]})
        >>> words = sms.Template("T1", {"name": "first"}, preview="Dear {name}")
        >>> sms.plan(people, words, to="phone", campaign="demo").texts.tolist()
        ['Dear Ann']
    """

    id: str | Mapping[Any, str]
    values: TemplateData = None
    _: KW_ONLY
    preview: str | Mapping[Any, str] | None = None
    language: str | None = None
    currency: str | None = None
    priority: Sequence[Any] = ()
    replace: Mapping[str, str] | None = None
    keep_words: bool = True
    literal: bool = False

    def __post_init__(self) -> None:
        refuse("id must be a template's id, got None" if self.id is None else None, *_not_options(self))


def _not_options(words: Message | Template) -> list[str | None]:
    return [
        None if words.language is None else no_language(words.language),
        None if words.currency is None else no_currency(words.currency),
        None if words.replace is None else not_replacement("replace", words.replace),
        not_flag("keep_words", words.keep_words),
        not_flag("literal", words.literal),
    ]


def arguments_of(message: Any, *, by: Any, signature: Any) -> dict[str, Any]:
    """Return what a message says, with ``by`` and ``signature``; options that were not said are None.

    ``kind`` is the field of the interface in which the ``words`` travel: of a template they are its id.
    """
    said: dict[str, Any] = {"words": message, "values": None, "preview": None, "join": None}
    whole = message if isinstance(message, Message | Template) else Message("-")
    if isinstance(whole, Template):
        values = () if whole.values is None else whole.values
        meant = Message(values, literal=whole.literal, language=whole.language, currency=whole.currency)
        said |= {"kind": "template_id", "words": whole.id, "values": meant, "preview": whole.preview}
    else:
        said |= {"kind": whole.field or ("text" if signature is None else "content"), "join": whole.join}
    options = {name: getattr(whole, name) for name in ("priority", "replace", "keep_words")}
    return said | options | {"by": by, "signature": signature}


def plain_words(value: Any) -> Any:
    """Return the words of a `Message`; anything else as it is."""
    return value.text if isinstance(value, Message) else value


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
    of a text; ``template_text`` is what a template is said to hold; ``literal`` as in `Message`. Values are written in
    ``language``; ``assumed`` says that nobody named it.
    """

    segment: str | None
    body: wire.Body
    main: templates.Template | None
    own: str | None
    template_text: templates.Template | None
    literal: bool
    language: Language
    assumed: bool


Words: TypeAlias = "str | Column | pd.Series[Any] | Message | Template | Mapping[Any, str | Column | Message]"


@dataclass(frozen=True, slots=True)
class Wording:
    """The messages of a plan, all of one kind and with one signature.

    ``variables`` are (variable, placeholder) pairs in the order of the variables; ``join`` and ``join_text`` are how
    content and signature come together, ``replace`` the characters written otherwise.
    """

    messages: tuple[OneMessage, ...]
    variables: tuple[tuple[str, Slot], ...]
    join: templates.Template
    join_text: str
    replace: Mapping[str, str]

    @property
    def kind(self) -> str:
        return self.messages[0].body.kind

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
        return tuple(dict.fromkeys(slot.column for message in self.messages for slot in self.slots(message)))

    def slots(self, message: OneMessage) -> tuple[Slot, ...]:
        return message.main.slots if message.main else tuple(slot for _, slot in self.variables)

    def fitted(self, names: Collection[Any]) -> Wording:
        """Return the wording with its placeholders fitted to the names of columns, as `templates.fitted` does."""
        messages = tuple(
            replaced(one, main=replaced(one.main, slots=tuple(templates.fitted(of, names) for of in one.main.slots)))
            if one.main and one.own is None
            else one
            for one in self.messages
        )
        variables = tuple((name, templates.fitted(one, names)) for name, one in self.variables)
        return replaced(self, messages=messages, variables=variables)

    @property
    def assumed_language(self) -> bool:
        """Whether a value is written in English because nobody said in which language."""
        return any(
            message.assumed and any(depends_on_language(slot) for slot in self.slots(message))
            for message in self.messages
        )

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
        known = {slot.source: data[slot.source].fillna("").reset_index(drop=True) for slot in text.slots}
        return templates.written(text, known, len(data)).set_axis(bodies.index)


@in_our_words
def column(name: str) -> Column:
    """Return what `plan` and `Message` take for a column of whole messages.

    Each row's cell is its message, literally: nothing in it is a placeholder, and a blank one is VALUE_MISSING. One
    that holds a placeholder all the same, ours or another tool's, is refused; see `Message`.

    Raises:
        UsageError: not the name of a column.

    Example:
        >>> import smsotp_nb as sms
        >>> people = pd.DataFrame({"phone": ["+12025550123", "+12025550147"], "msg": ["Hi Ann", "Dear Ben, 20% off"]})
        >>> sms.plan(people, sms.column("msg"), to="phone", campaign="demo").bodies["text"].tolist()
        ['Hi Ann', 'Dear Ben, 20% off']
    """
    refuse(not_text("name", name, hint="; column takes the name of the column that holds the messages"))
    return Column(name)


def read(message: Mapping[str, Any], variant: wire.Variant) -> Wording:
    """Read a message, as `arguments_of` has it; a mapping says a message for each segment.

    Raises:
        UsageError: lists everything wrong with them.
    """
    wrong: list[str] = []
    kind, preview, signature = message["kind"], message["preview"], message["signature"]
    words, manners = _unwrapped(message["values" if kind == "template_id" else "words"], wrong)
    values, words = (words, message["words"]) if kind == "template_id" else (None, words)
    if words is None:
        wrong.append("message is needed, such as 'Hi {name}', a dict by segment, a Message or a Template; got None")
    variables, not_variables = _variables(values)
    wrong += not_variables
    wrong += _not_text(signature=signature)
    by_segment, previews = _labelled(_CALLED[kind], words, wrong), _labelled("preview", preview, wrong)
    manners = {None if key is None else label_of(key): manner for key, manner in manners.items()}
    wrong += _not_one_set(previews, by_segment)
    messages: list[OneMessage] = []
    complaints: list[tuple[str | None, str]] = []
    labels: list[str | None] = [*(by_segment or ())]
    for label in labels or [None]:
        mine = words if by_segment is None else by_segment.get(label or "")
        text = preview if previews is None else previews.get(label or "")
        one, wrong_here = _message(label, kind, mine, text, variables, signature, variant, known=not wrong)
        manner = manners.get(label, manners[None])
        language = manner.language or (label if label is not None and is_language(label) else None)
        written_in = Language(language or DEFAULT_LANGUAGE, manner.currency)
        messages.append(replaced(one, literal=manner.literal, language=written_in, assumed=language is None))
        complaints += [(label, complaint) for complaint in wrong_here]
    wrong += for_segments(complaints, len(labels))
    wrong += _two_texts(messages)
    join_text = wire.SIGNATURE_JOIN[variant] if message["join"] is None else message["join"]
    join = _parsed("join", join_text, wrong) or templates.parse(wire.SIGNATURE_JOIN[variant])
    if sorted(slot.source for slot in join.slots) != ["content", "signature"]:
        wrong.append("join= must hold {signature} and {content} once each, such as '[{signature}] {content}'")
    refuse(*wrong)
    return Wording(tuple(messages), variables, join, join_text, dict(message["replace"] or {}))


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


def _not_one_set(previews: dict[str, Any] | None, ids: dict[str, Any] | None) -> list[str]:
    """Report a template text for segments that have no template."""
    if previews is not None and ids is None:
        return ["preview= is a dict by segment; the id of the Template must be one, too"]
    return [
        f"preview= has the segment {label!r}, the ids of the Template have {listed(ids or ())}"
        for label in previews or ()
        if label not in (ids or ())
    ]


def listed(labels: Iterable[str]) -> str:
    """Return the labels of segments in words, each as it may be shown."""
    return few([*labels], given, _LISTED)


def _two_texts(messages: Sequence[OneMessage]) -> list[str]:
    """Report a template that is given two texts: bodies of one template are equal, whatever their segment."""
    texts: dict[str | None, set[templates.Template | None]] = {}
    for message in messages:
        texts.setdefault(message.body.template_id, set()).add(message.template_text)
    return [
        f"preview= says two texts of the template {given(name)}"
        for name, found in texts.items()
        if name is not None and len(found) > 1
    ]


# -- one message -------------------------------------------------------------------------------------------------------


def _message(
    label: str | None,
    kind: str,
    words: Any,
    preview: Any,
    variables: Sequence[tuple[str, Slot]],
    signature: str | None,
    variant: wire.Variant,
    *,
    known: bool,
) -> tuple[OneMessage, list[str]]:
    """Return one message and what is wrong with it; its body is checked only if all else is ``known`` to be right."""
    own = words.name if isinstance(words, Column) and kind != "template_id" else None
    said = words if own is None else f"{{{own}}}"
    wrong = _not_text(**{_CALLED[kind]: said, "preview": preview})
    body = wire.Body()
    if known and not wrong:
        data = tuple((variable, "") for variable, _ in variables)
        body = wire.Body(**{kind: said}, template_data=data, signature=signature)
        wrong += [_CALL.sub(lambda name: _CALLED[name[1]], no) for no in wire.check_body(body, variant=variant)]
    main = None if kind == "template_id" or own is not None else _parsed("main", said, wrong)
    if own is not None:
        main = templates.Template(("", ""), (Slot(own, own),))
    parsed = _parsed("preview", preview, wrong)
    known_names = [name for name, _ in variables]
    unknown = [slot.source for slot in parsed.slots if slot.source not in known_names] if parsed else []
    if unknown:
        names = ", ".join(map(repr, known_names)) or "none"
        wrong.append(f"preview= uses {', '.join(map(repr, unknown))}; values= has {names}")
    return OneMessage(label, body, main, own, parsed, literal=False, language=Language(), assumed=True), wrong


def _joined(join: templates.Template, content: pd.Series[str], signature: str | None) -> pd.Series[str]:
    if signature is None:
        return content
    before, between, after = join.literals
    if join.slots[0].source == "signature":
        return f"{before}{signature}{between}" + content + after
    return before + content + f"{between}{signature}{after}"


def _not_text(**arguments: Any) -> list[str]:
    said = {name: value for name, value in arguments.items() if value is not None}
    return [wrong for name, value in said.items() if (wrong := not_text(name, value))]


def _variables(template_data: TemplateData) -> tuple[tuple[tuple[str, Slot], ...], list[str]]:
    if template_data is None:
        return (), []
    if isinstance(template_data, Mapping):
        pairs = list(template_data.items())
    elif isinstance(template_data, (list, tuple)):
        pairs = [(slot(column).column if isinstance(column, str) else column, column) for column in template_data]
    else:
        got = given(template_data)
        return (), [f"values= must be a list of columns or a dict {{variable: column}}, got {got}"]
    held = "values= must hold names of columns as text, got"
    wrong = [
        f"{held} {given(variable)}: {given(column)}"
        for variable, column in pairs
        if not all(isinstance(name, str) and name.strip() for name in (variable, column))
    ]
    return tuple((name, slot(source)) for name, source in sorted(dict(pairs).items())) if not wrong else (), wrong


def _parsed(name: str, source: Any, wrong: list[str]) -> templates.Template | None:
    if not isinstance(source, str):
        return None
    try:
        return templates.parse(source)
    except UsageError as error:
        wrong.append(str(error) if name == "main" else f"{name}=: {error}")
        return None


def _of_one_segment(messages: Mapping[Any, Any]) -> list[str]:
    """Report options of the message of one segment that hold for the whole message only, and templates among them."""
    wrong = []
    for label, one in messages.items():
        if isinstance(one, Template):
            ids = "Template(id={'de': 'T1', 'en': 'T2'})"
            wrong.append(f"message[{label!r}] is a Template; pass one for all segments, such as {ids}")
        elif isinstance(one, Message) and any(getattr(one, name) != getattr(Message, name) for name in _WHOLE):
            rest = "all else belongs to a Message around the segments"
            wrong.append(f"message[{label!r}] may say language=, currency= and literal=; {rest}")
    return wrong


def _unwrapped(words: Any, wrong: list[str]) -> tuple[Any, dict[Any, Manner]]:
    """Return words without the Messages around them, and how they are meant: by segment, None for others."""
    manners = {None: words._manner if isinstance(words, Message) else Manner()}
    words = plain_words(words)
    if isinstance(words, Mapping):
        wrong += _of_one_segment(words)
        of = {label: one._manner for label, one in words.items() if isinstance(one, Message)}
        manners |= {label: manner.within(manners[None]) for label, manner in of.items()}
        words = {label: plain_words(one) for label, one in words.items()}
    return words, manners
