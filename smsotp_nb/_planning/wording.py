"""What a campaign says: the message as it was asked for, checked, and how its recipients read it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import pandas as pd

from .. import _wire as wire
from .. import templates
from .._arguments import given, not_replacement, not_text
from .._pandas import STR
from ..errors import UsageError

TemplateData = Sequence[str] | Mapping[str, str] | None


@dataclass(frozen=True, slots=True)
class Wording:
    """A message with its placeholders: ``body`` as asked for, ``main`` its parsed text or content.

    ``variables`` are (variable, column) pairs in the order of the variables' names; ``template_text`` is what a
    template is said to hold, ``join`` and ``join_text`` how content and signature come together, ``replace`` the
    characters written otherwise.
    """

    body: wire.Body
    main: templates.Template | None
    variables: tuple[tuple[str, str], ...]
    template_text: templates.Template | None
    join: templates.Template
    join_text: str
    fill: Mapping[str, Any]
    replace: Mapping[str, str]

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
            return cast("pd.Series[str]", pd.Series(None, index=bodies.index, dtype=STR))
        names = pd.Index([variable for variable, _ in self.variables], dtype=object)
        values = [json.loads(text) for text in bodies["template_data"]]
        data = pd.DataFrame(values, columns=names, index=bodies.index, dtype=STR)
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
    replace: Mapping[str, str] | None,
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
        wrong.append(f"fill= must be a dict such as {{'name': 'there'}}, got {given(fill)}")
    wrong += _check_replace(replace)
    if wrong:
        raise UsageError("; ".join(wrong), problems=tuple(wrong))
    return Wording(
        body, parsed["main"], variables, parsed["template_text"], join, join_text, dict(fill or {}), dict(replace or {})
    )


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


def _check_replace(replace: Any) -> list[str]:
    wrong = None if replace is None else not_replacement("replace", replace)
    return [wrong] if wrong else []


def _check_template_text(parsed: templates.Template | None, template_id: str | None, variables: list[str]) -> list[str]:
    wrong = [] if template_id is not None else ["template_text= needs template_id="]
    names = parsed.names if parsed else ()
    unknown = [name for name in names if name not in variables]
    if unknown and template_id is not None:
        known = ", ".join(map(repr, variables)) or "none"
        wrong.append(f"template_text= uses {', '.join(map(repr, unknown))}; template_data= has {known}")
    return wrong
