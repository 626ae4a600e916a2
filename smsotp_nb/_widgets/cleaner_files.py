"""The files of the cleaner: the clean list, the rows left out, and the question before one is replaced."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Literal, Protocol

import ipywidgets

from .._cards import counted
from . import skin
from .cleaning import Cleaned, export
from .cleaning_owner import ask

FORMATS = (("CSV (.csv)", ".csv"), ("Excel (.xlsx)", ".xlsx"), ("Tabs (.tsv)", ".tsv"))
Written = Literal["usable", "left out", "questions"]


class _Write(Protocol):
    def __call__(self, which: Written, overwrite: bool = False) -> None: ...


class FilesPart:
    """Fields and buttons of both files, in the boxes ``clean`` and ``left_out``.

    ``write`` writes a file; ``answered`` takes back the question that ``asked`` names, and says something instead.
    """

    def __init__(
        self, name: str, questions: ipywidgets.Text, *, write: _Write, answered: Callable[[str], None]
    ) -> None:
        self.asked: Written | None = None  # which file stands already, and may be replaced
        self._questions, self._write, self._answered = questions, write, answered
        self.clean_path = skin.text("Name of the clean list", value=f"{name}-clean.csv")
        self.format = skin.choice("Format", FORMATS, ".csv")
        self.clean_button = skin.button("Write the clean list", "smsotp-primary")
        self.path = skin.text("Write the rows left out to", value=f"{name}-left-out.csv")
        self.write_button = skin.button("Write them")
        self.replace_button, self.keep_button = skin.button("Replace it"), skin.button("Keep it")
        self.content = skin.block("")
        self._lay_out()
        self._listen()

    def field(self, which: Written) -> ipywidgets.Text:
        """Return the field that names a file."""
        return {"usable": self.clean_path, "left out": self.path, "questions": self._questions}[which]

    def put(
        self, cleaned: Cleaned, which: Written, *, keep: list[Hashable], source: str | Path | None, overwrite: bool
    ) -> str:
        """Write a file under the name in its field; return in words what was written."""
        name = skin.settled(lambda: self.field(which).value)
        if which == "questions":
            file = ask(cleaned, name, keep=keep, source=source, overwrite=overwrite)
            rows = counted(cleaned.counts["unusable"], "row")
            return f"{rows} with complete numbers written to {file}. Send it to the owner of the list only."
        file, count = export(cleaned, name, which=which, source=source, overwrite=overwrite)
        return f"{counted(count, 'row')} written to {file}"

    def draw(self, cleaned: Cleaned | None, lacks: str) -> None:
        """Show what may be written, or what the clean list still lacks."""
        skin.show(self.question, self.asked is not None)
        skin.show(self.clean, cleaned is None or cleaned.clean_rows > 0)
        self.content.value = lacks
        if cleaned is not None:
            rows, name = len(cleaned.judged), self.clean_path.value.strip() or "a file that has no name yet"
            self.content.value = skin.line(f"{cleaned.clean_rows:,} of {counted(rows, 'row')}, to {name}.")
            skin.show(self.left_out, rows > cleaned.clean_rows)
            self.write_button.description = f"Write {counted(rows - cleaned.clean_rows, 'row')}"

    def _lay_out(self) -> None:
        self.question = skin.box(self.replace_button, self.keep_button, classes=("smsotp-pair", "smsotp-always"))
        named = skin.box(self.clean_path, self.format, classes=("smsotp-pair",))
        self.clean = skin.box(named, self.clean_button, self.content, classes=("smsotp-main",))
        rows = skin.box(self.path, self.write_button, classes=("smsotp-pair",))
        self.left_out = skin.box(*skin.folded("Write the rows left out", "Hide this", rows), classes=("smsotp-main",))

    def _listen(self) -> None:
        for path in (self.path, self.clean_path, self._questions):
            path.observe(lambda _: self._named_anew(), "value")
        self.format.observe(lambda _: self._end_in(self.format.value), "value")
        self.clean_button.on_click(lambda _: self._write("usable"))
        self.write_button.on_click(lambda _: self._write("left out"))
        self.replace_button.on_click(lambda _: self._replace())
        self.keep_button.on_click(lambda _: self._keep())

    def _replace(self) -> None:
        if self.asked:
            self._write(self.asked, True)

    def _keep(self) -> None:
        field = self.field(self.asked or "usable")
        self._answered("The file is unchanged.")
        field.focus()

    def _named_anew(self) -> None:
        """Another name takes back the question about the old one; its ending is the format."""
        self._answered("")
        ending = Path(self.clean_path.value.strip()).suffix.lower()
        if ending in dict(FORMATS).values() and self.format.value != ending:
            self.format.value = ending

    def _end_in(self, ending: str) -> None:
        name = self.clean_path.value.strip()
        path, endings = Path(name), dict(FORMATS).values()
        if path.name and path.suffix.lower() != ending:
            stem = name.removesuffix(path.suffix) if path.suffix.lower() in endings else name
            self.clean_path.value = stem + ending
