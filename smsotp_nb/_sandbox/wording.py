"""The text a recipient reads: content joined with its signature, a filled template, the sentence of a passcode."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from hashlib import blake2b
from importlib.resources import files
from pathlib import Path

from .. import _wire as wire
from .._foreign.gate import file_at
from .._showing import is_whole
from ..errors import UsageError

PASSCODE: Mapping[str, str] = {
    "intl": "Your verification code is {code}.",
    "cn": "您的验证码是{code}，请勿告诉他人。",
}
_NAMES_AND_FIGURES = re.compile(r"\b[^\WA-Z0-9]*+[A-Z0-9]\w*+")
_VARIABLE = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")


@cache
def own_templates() -> Mapping[str, str]:
    """Return the sandbox's own templates by id; a variable stands in braces."""
    found: dict[str, str] = json.loads((files(__package__) / "templates.json").read_text(encoding="utf-8"))
    return found


def templates(more: Mapping[str, str] | str | Path | None = None) -> Mapping[str, str]:
    """Return the sandbox's templates and the user's, given as a mapping or a JSON file of ``{"id": "text"}``.

    Raises:
        UsageError: the file cannot be read, or is not such an object.
    """
    if isinstance(more, (str, Path)):
        more = _read_templates(Path(more).expanduser())
    if not all(
        isinstance(name, str) and isinstance(text, str) and text.strip() and is_whole(name + text)
        for name, text in (more or {}).items()
    ):
        raise UsageError("every template is a text, such as {'welcome': 'Hello {name}'}")
    return {**own_templates(), **(more or {})}


def _read_templates(path: Path) -> Mapping[str, str]:
    path = file_at(path, kind="a JSON file of templates")
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UsageError(f"the templates file {path} cannot be read: {reason}") from None
    if not isinstance(found, dict):
        raise UsageError(f'the templates file {path} must hold an object such as {{"welcome": "Hello {{name}}"}}')
    return found


def variables(template: str) -> tuple[str, ...]:
    """Return the variables of a template in the order they appear.

    Example:
        >>> variables("Hi {name}, {code}")
        ('name', 'code')
    """
    return tuple(dict.fromkeys(_VARIABLE.findall(template)))


def fill(template: str, values: Mapping[str, str]) -> str:
    """Return the template with its variables replaced; variables inside a value are not replaced."""
    return _VARIABLE.sub(lambda match: values[match[1]], template)


def filled(template: str, values: Mapping[str, str]) -> int:
    """Return how many characters a template has, filled, at most; a value may stand in it many times.

    Example:
        >>> filled("{a}{a}", {"a": "xyz"})
        12
    """
    return len(template) + sum(len(values[name]) for name in _VARIABLE.findall(template))


def shape(text: str, template_id: str | None = None) -> str:
    """Return what texts of one campaign have in common: the template, or the text without names and figures.

    Example:
        >>> shape("Hi Anna, order 17 is ready") == shape("Hi Bob, order 9 is ready")
        True
    """
    return f"template {template_id}" if template_id else _NAMES_AND_FIGURES.sub("*", text)


def shape_number(text: str, template_id: str | None = None) -> int:
    """Return a number for the wording of a text, the same for all texts of one `shape` and exact in JavaScript."""
    return int.from_bytes(blake2b(shape(text, template_id).encode(), digest_size=6).digest())


def signed(text: str, signature: str | None, variant: wire.Variant) -> str:
    """Return a text with its signature joined to it, as this variant of the sandbox does.

    Example:
        >>> signed("Hello", "Acme", "intl")
        '[Acme] Hello'
    """
    if not signature:
        return text
    return fill(wire.SIGNATURE_JOIN[variant], {"signature": signature, "content": text})


def passcode(code: str, signature: str | None, variant: wire.Variant) -> str:
    """Return the message that carries a passcode."""
    return signed(fill(PASSCODE[variant], {"code": code}), signature, variant)
