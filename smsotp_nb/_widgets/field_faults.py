"""What is wrong, told at its field: the line stands below the field and goes away while somebody types into it."""

from __future__ import annotations

from collections.abc import Mapping

import ipywidgets

from .._cards import safe
from . import skin


class FieldFaults:
    """The lines below fields, by the names of the fields.

    Example:
        >>> faults, name = FieldFaults(), skin.text("Name")
        >>> _ = faults.around("name", name)
        >>> faults.show({"name": "Enter a name."})
        >>> faults.first() is name
        True
    """

    def __init__(self) -> None:
        self._fields: dict[str, ipywidgets.DOMWidget] = {}
        self._lines: dict[str, ipywidgets.HTML] = {}
        self._shown: Mapping[str, str] = {}

    def around(self, name: str, field: ipywidgets.DOMWidget) -> ipywidgets.VBox:
        """Return a box of a field and the line below it."""
        self._fields[name], self._lines[name] = field, skin.block("", "smsotp-fault")
        skin.show(self._lines[name], False)
        field.observe(lambda _: self._say(name, ""), "value")
        return skin.box(field, self._lines[name], classes=("smsotp-field",))

    def show(self, faults: Mapping[str, str]) -> None:
        """Show these faults; the same ones again bring no line back that went away."""
        if faults is self._shown:
            return
        self._shown = faults
        for name in self._fields:
            self._say(name, faults.get(name, ""))

    def first(self) -> ipywidgets.DOMWidget | None:
        """Return the first field with a fault."""
        return next((field for name, field in self._fields.items() if self._lines[name].value), None)

    def _say(self, name: str, words: str) -> None:
        line = self._lines[name]
        if bool(words) != bool(line.value) or words:
            line.value = f'<p class="smsotp-line smsotp-bad" role="alert">✗ {safe(words)}</p>' if words else ""
            skin.show(line, bool(words))
            skin.mark(self._fields[name], "smsotp-invalid", bool(words))
