"""What a campaign says: the message as it was asked for, filled for every row, grouped into equal bodies."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from json.encoder import encode_basestring
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pandas as pd

from .. import parts, templates, wire
from ..errors import UsageError

Ints = npt.NDArray[np.int64]
TemplateData = Sequence[str] | Mapping[str, str] | None


@dataclass(frozen=True, slots=True)
class Wording:
    """A message with its placeholders: ``body`` as asked for, ``main`` its parsed text or content.

    ``variables`` are (variable, column) pairs in the order of the variables' names; ``template_text`` is what a
    template is said to hold, ``join`` and ``join_text`` how content and signature come together.
    """

    body: wire.Body
    main: templates.Template | None
    variables: tuple[tuple[str, str], ...]
    template_text: templates.Template | None
    join: templates.Template
    join_text: str
    fill: Mapping[str, Any]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the frame that the message uses."""
        return self.main.names if self.main else tuple(dict.fromkeys(column for _, column in self.variables))

    def reads(self, bodies: pd.DataFrame) -> pd.Series[str]:
        """Return the texts of these bodies as their recipients read them; NaN where a template's text is unknown."""
        if self.body.kind == "text":
            return cast("pd.Series[str]", bodies["text"])
        if self.body.kind == "content":
            return _joined(self.join, bodies["content"], self.body.signature)
        if self.template_text is None:
            return _str([None] * len(bodies)).set_axis(bodies.index)
        names = pd.Index([variable for variable, _ in self.variables], dtype=object)
        values = [json.loads(text) for text in bodies["template_data"]]
        data = pd.DataFrame(values, columns=names, index=bodies.index, dtype="str")
        return self.template_text.fill(data, fill=dict.fromkeys(self.template_text.names, "")).text


def read(
    *,
    text: str | None,
    content: str | None,
    template_id: str | None,
    template_data: TemplateData,
    template_text: str | None,
    signature: str | None,
    signature_join: str | None,
    variant: wire.Variant,
    fill: Mapping[str, Any] | None,
) -> Wording:
    """Read the message's arguments.

    Raises:
        UsageError: lists everything wrong with them.
    """
    wrong = _not_text(text=text, content=content, template_id=template_id, template_text=template_text)
    wrong += _not_text(signature=signature, signature_join=signature_join)
    variables, complaints = _variables(template_data)
    wrong += complaints
    if not wrong:
        data = tuple((variable, "") for variable, _ in variables)
        body = wire.Body(text, content, template_id, data, signature)
        wrong += wire.check_body(body, variant=variant)
    parsed = {}
    sources = {"main": text if text is not None else content, "template_text": template_text, "join": signature_join}
    for name, source in sources.items():
        parsed[name] = _parsed(name, source, wrong)
    if template_text is not None:
        wrong += _check_template_text(parsed["template_text"], template_id, [name for name, _ in variables])
    join_text = wire.SIGNATURE_JOIN[variant] if signature_join is None else signature_join
    join = parsed["join"] or templates.parse(wire.SIGNATURE_JOIN[variant])
    if sorted(join.slots) != ["content", "signature"]:
        wrong.append("signature_join= must hold {signature} and {content} once each, such as '[{signature}] {content}'")
    if fill is not None and not isinstance(fill, Mapping):
        wrong.append(f"fill= must be a dict such as {{'name': 'there'}}, got {type(fill).__name__}")
    if wrong:
        raise UsageError("; ".join(wrong), problems=tuple(wrong))
    return Wording(body, parsed["main"], variables, parsed["template_text"], join, join_text, dict(fill or {}))


def _joined(join: templates.Template, content: pd.Series[str], signature: str | None) -> pd.Series[str]:
    if signature is None:
        return content
    before, between, after = join.literals
    if join.slots[0] == "signature":
        return f"{before}{signature}{between}" + content + after
    return before + content + f"{between}{signature}{after}"


def _not_text(**arguments: Any) -> list[str]:
    return [
        f"{name}= must be text, got {type(value).__name__}"
        for name, value in arguments.items()
        if value is not None and not isinstance(value, str)
    ]


def _variables(template_data: TemplateData) -> tuple[tuple[tuple[str, str], ...], list[str]]:
    if template_data is None:
        return (), []
    if isinstance(template_data, Mapping):
        pairs = list(template_data.items())
    elif isinstance(template_data, (list, tuple)):
        pairs = [(column, column) for column in template_data]
    else:
        kind = type(template_data).__name__
        return (), [f"template_data= must be a list of columns or a dict {{variable: column}}, got {kind}"]
    wrong = [f"template_data= must hold names as text, got {p[0]!r}: {p[1]!r}" for p in pairs if not _names(p)]
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


# -- rows to bodies ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Worded:
    """What every row says, on 0..: ``values`` make the bodies differ, ``missing`` and ``note`` say what a row lacks."""

    values: dict[str, pd.Series[str]]
    missing: npt.NDArray[np.bool_]
    note: pd.Series[str]


def word(wording: Wording, frame: pd.DataFrame) -> Worded:
    """Fill the message for every row of the frame."""
    if not wording.columns:
        return Worded({}, np.zeros(len(frame), dtype=bool), _str([None]).take(np.zeros(len(frame), dtype=np.intp)))
    if wording.main is not None:
        filled = wording.main.fill(frame, fill=wording.fill)
        name = wording.body.kind
        blank = _blank(filled.text, wording.main)
        note = filled.columns.reset_index(drop=True).mask(blank, f"VALUE_MISSING:{name}")
        return Worded({name: filled.text.reset_index(drop=True)}, filled.missing.to_numpy() | blank, note)
    texts = templates.column_texts(frame, wording.columns, fill=wording.fill)
    missing, note = templates.missing_values(texts, len(frame))
    return Worded({variable: texts[column] for variable, column in wording.variables}, missing.to_numpy(), note)


def _blank(text: pd.Series[str], template: templates.Template) -> npt.NDArray[np.bool_]:
    """Mark texts of which nothing is left, which only a blank ``fill`` can bring about."""
    if any(literal.strip() for literal in template.literals):
        return np.zeros(len(text), dtype=bool)
    return (text.str.strip() == "").to_numpy(dtype=bool, na_value=False)


def group(worded: Worded, at: npt.NDArray[np.intp]) -> tuple[Ints, npt.NDArray[np.intp]]:
    """Number the bodies of the rows at these positions, by first appearance.

    Returns:
        The body number of each of these rows, and for each body the position of the row where it appears first.
    """
    codes = np.zeros(len(at), dtype=np.int64)
    for values in worded.values.values():
        found, distinct = pd.factorize(values.take(at))
        codes, _ = pd.factorize(codes * (len(distinct) + 1) + found)
    codes = codes.astype(np.int64)
    first = np.flatnonzero(~pd.Series(codes).duplicated().to_numpy())
    return codes, at[first]


def bodies(wording: Wording, worded: Worded, first: npt.NDArray[np.intp]) -> pd.DataFrame:
    """Return the bodies frame, without recipients and estimate; index is the body number."""
    body, size = wording.body, len(first)
    same: dict[str, str | None] = {
        "kind": body.kind,
        "text": _literal(wording) if body.kind == "text" else None,
        "content": _literal(wording) if body.kind == "content" else None,
        "template_id": body.template_id,
        "template_data": "{}" if body.kind == "template" else None,
        "signature": body.signature,
    }
    frame = pd.DataFrame({name: _str([value]).take(np.zeros(size, dtype=np.intp)) for name, value in same.items()})
    frame.index = pd.RangeIndex(size, name="body")
    distinct = {name: values.take(first) for name, values in worded.values.items()}
    if body.kind == "template" and distinct:
        frame["template_data"] = _str(_json_objects(distinct)).set_axis(frame.index)
    else:
        for name, values in distinct.items():
            frame[name] = values.set_axis(frame.index)
    return frame


def _literal(wording: Wording) -> str | None:
    """Return the text of a message without placeholders."""
    return "".join(wording.main.literals) if wording.main else None


def _json_objects(values: Mapping[str, pd.Series[str]]) -> list[str | None]:
    quoted = [
        [f"{encode_basestring(name)}:{encode_basestring(text)}" for text in series.tolist()]
        for name, series in values.items()
    ]
    return ["{" + ",".join(pairs) + "}" for pairs in zip(*quoted, strict=True)]


def estimate_parts(texts: pd.Series[str]) -> pd.DataFrame:
    """Return ``encoding`` (str) and ``est_parts`` (Int64) of texts, missing where the text is."""
    known = texts.notna().to_numpy()
    found, encodings = parts.counts(texts[known].tolist())
    values = np.zeros(len(texts), dtype=np.int64)
    values[known] = found
    labels = np.full(len(texts), None, dtype=object)
    labels[known] = encodings
    return pd.DataFrame(
        {"encoding": _str(labels.tolist()), "est_parts": pd.arrays.IntegerArray(values, ~known)}
    ).set_axis(texts.index)


# -- the key of a body -------------------------------------------------------------------------------------------------


def body_key(body: wire.Body) -> int:
    """Return 8 bytes of BLAKE2b over the body in one canonical form, as a signed integer.

    Example:
        >>> body_key(wire.Body(text="Hello")) == body_key(wire.Body(text="Hello"))
        True
    """
    fixed = {name: getattr(body, name) for name in ("text", "content", "template_id", "signature")}
    data = {"template_data": dict(sorted(body.template_data))} if body.kind == "template" else {}
    return int(_keys([_canonical({**fixed, **data})])[0])


def body_keys(frame: pd.DataFrame) -> Ints:
    """Return `body_key` of every body, without building the bodies."""
    if frame.empty:
        return np.zeros(0, dtype=np.int64)
    kind = str(frame["kind"].iloc[0])
    varying = "template_data" if kind == "template" else kind
    first = frame.iloc[0]
    fixed = {name: _or_none(first[name]) for name in ("text", "content", "template_id", "signature")}
    head, tail = _canonical({**fixed, varying: 0}).split(f'"{varying}":0')
    head += f'"{varying}":'
    values = frame[varying].tolist()
    quoted = values if kind == "template" else map(encode_basestring, values)
    return _keys([f"{head}{value}{tail}" for value in quoted])


def _canonical(fields: Mapping[str, Any]) -> str:
    given = {name: value for name, value in fields.items() if value is not None}
    return json.dumps(given, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _keys(canonical: Sequence[str]) -> Ints:
    digests = b"".join([blake2b(text.encode(), digest_size=8).digest() for text in canonical])
    return np.frombuffer(digests, dtype=">i8").astype(np.int64)


def _or_none(value: Any) -> str | None:
    return None if pd.isna(value) else str(value)


def _str(texts: list[str | None]) -> pd.Series[str]:
    return cast("pd.Series[str]", pd.Series(texts, dtype="str"))
