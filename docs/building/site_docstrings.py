"""Docstrings as the site shows them: their examples as code, their plain-text tables as Markdown's."""

from __future__ import annotations

import re
from typing import Any

import griffe

from smsotp_nb._guards import GUARDS, Guard, documented, kind_of

EXAMPLE = re.compile(r"^( *)Example:$", flags=re.MULTILINE)
LITERAL = re.compile(r"(?<=\S)::$|^::$\n", flags=re.MULTILINE)
RULE = r"^=+(?: +=+)+$"
TABLE = re.compile(rf"{RULE}\n(.*?)\n{RULE}", flags=re.MULTILINE | re.DOTALL)


class AsShown(griffe.Extension):
    """Rewrites each docstring that is collected."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = as_markdown(documented(obj.docstring.value))

    def on_function(self, *, func: griffe.Function, **_: Any) -> None:
        """Show the guards as the arguments that they are."""
        if "guard_arguments" in func.parameters:
            del func.parameters["guard_arguments"]
            for guard in GUARDS:
                func.parameters.add(_parameter(guard))


def as_markdown(docstring: str) -> str:
    """Return a docstring in the Markdown that mkdocstrings reads."""
    text = EXAMPLE.sub(r"\1Examples:", docstring)
    text = LITERAL.sub(lambda found: ":" if found[0] == "::" else "", text)
    return TABLE.sub(lambda found: _table(found[1]), text)


def _table(rows: str) -> str:
    cells = [re.split(r"  +", row, maxsplit=1) for row in rows.splitlines()]
    lines = [f"| `{name}` | {meaning} |" for name, meaning in cells]
    return "\n".join(("| code | meaning |", "| --- | --- |", *lines))


def _parameter(guard: Guard) -> griffe.Parameter:
    kind = griffe.ParameterKind.keyword_only
    return griffe.Parameter(guard.name, annotation=kind_of(guard), kind=kind, default=repr(guard.default))
