"""Docstrings as the site shows them: their examples as code, their plain-text tables as Markdown's."""

from __future__ import annotations

import re
from typing import Any

import griffe

EXAMPLE = re.compile(r"^( *)Example:$", flags=re.MULTILINE)
LITERAL = re.compile(r"(?<=\S)::$|^::$\n", flags=re.MULTILINE)
RULE = r"^=+(?: +=+)+$"
TABLE = re.compile(rf"{RULE}\n(.*?)\n{RULE}", flags=re.MULTILINE | re.DOTALL)


class AsShown(griffe.Extension):
    """Rewrites each docstring that is collected."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = as_markdown(obj.docstring.value)


def as_markdown(docstring: str) -> str:
    """Return a docstring in the Markdown that mkdocstrings reads."""
    # A summary shows only the first line.
    first, blank, rest = docstring.partition("\n\n")
    text = EXAMPLE.sub(r"\1Examples:", " ".join(first.split()) + blank + rest)
    text = LITERAL.sub(lambda found: ":" if found[0] == "::" else "", text)
    return TABLE.sub(lambda found: _table(found[1]), text)


def _table(rows: str) -> str:
    cells = [re.split(r"  +", row, maxsplit=1) for row in rows.splitlines()]
    lines = [f"| `{name}` | {meaning} |" for name, meaning in cells]
    return "\n".join(("| code | meaning |", "| --- | --- |", *lines))
