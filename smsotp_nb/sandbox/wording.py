"""The text a recipient reads: content joined with its signature, a filled template, the sentence of a passcode."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from .. import wire

PASSCODE: Mapping[str, str] = {
    "intl": "Your verification code is {code}.",
    "cn": "您的验证码是{code}，请勿告诉他人。",
}
_VARIABLE = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")


@cache
def templates() -> Mapping[str, str]:
    """Return the sandbox's own templates by id; a variable stands in braces."""
    found: dict[str, str] = json.loads((files(__package__) / "templates.json").read_text(encoding="utf-8"))
    return found


def variables(template: str) -> tuple[str, ...]:
    """Return the variables of a template in the order they appear.

    Example:
        >>> variables("Hi {name}, {code}")
        ('name', 'code')
    """
    return tuple(dict.fromkeys(_VARIABLE.findall(template)))


def fill(template: str, values: Mapping[str, str]) -> str:
    """Return the template with its variables replaced once; what a value contains is not replaced again."""
    return _VARIABLE.sub(lambda match: values[match[1]], template)


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
