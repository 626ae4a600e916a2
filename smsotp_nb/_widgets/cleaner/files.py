"""The files of the cleaner: the clean list, the rows left out, and the question before one is replaced."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import ipywidgets

from ..._cards import counted
from .. import skin
from ..pinned import Pinned
from .answers import ask
from .judging import Cleaned, export

FORMATS = (("CSV (.csv)", ".csv"), ("Excel (.xlsx)", ".xlsx"), ("Tabs (.tsv)", ".tsv"))
Written = Literal["usable", "left out", "questions"]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a button that writes says: which rows of which judged list, and in place of which file that stands there."""

    cleaned: Cleaned
    which: Written
    replaces: str = ""


class FilesPart:
    """Fields and buttons of both files, in the boxes ``clean`` and ``left_out``.

    ``answered`` takes back the question about the file that ``asked`` would replace, and says something instead.
    """

    def __init__(self, name: str, questions: ipywidgets.Text, *, answered: Callable[[str], None]) -> None:
        self.asked: Wanted | None = None
        self._questions, self._answered = questions, answered
        self.clean_path = skin.text("Name of the clean list", value=f"{name}-clean.csv")
        self.format = skin.choice("Format", FORMATS, ".csv")
        self.write_clean, self.write_left_out = Pinned("Write the clean list", "smsotp-primary"), Pinned("Write them")
        self.replace = Pinned("Replace it")
        self.clean_button, self.write_button = self.write_clean.button, self.write_left_out.button
        self.replace_button, self.keep_button = self.replace.button, skin.button("Keep it")
        self.path = skin.text("Write the rows left out to", value=f"{name}-left-out.csv")
        self.content = skin.block("")
        self._lay_out()
        self._listen()

    def field(self, which: Written) -> ipywidgets.Text:
        """Return the field that names a file."""
        return {"usable": self.clean_path, "left out": self.path, "questions": self._questions}[which]

    def put(self, wanted: Wanted, name: str, *, keep: list[Hashable], source: str | Path | None) -> str:
        """Write a file of this name, over another one only where it is the one that was asked about.

        Return in words what was written.
        """
        cleaned, which, overwrite = wanted.cleaned, wanted.which, bool(name) and name == wanted.replaces
        if which == "questions":
            file = ask(cleaned, name, keep=keep, source=source, overwrite=overwrite)
            rows = counted(cleaned.counts["unusable"], "row")
            return f"{rows} with complete numbers written to {file}. Send it to the owner of the list only."
        file, count = export(cleaned, name, which=which, source=source, overwrite=overwrite)
        return f"{counted(count, 'row')} written to {file}"

    def draw(self, cleaned: Cleaned | None, lacks: str) -> None:
        """Show what may be written, or what the clean list still lacks."""
        skin.show(self.question, self.asked is not None)
        self.replace.offer("Replace it", self.asked)
        self.write_clean.offer("Write the clean list", cleaned and Wanted(cleaned, "usable"))
        skin.show(self.clean, cleaned is None or cleaned.clean_rows > 0)
        self.content.value = lacks
        if cleaned is not None:
            rows, name = len(cleaned.judged), self.clean_path.value.strip() or "a file that has no name yet"
            self.content.value = skin.line(f"{cleaned.clean_rows:,} of {counted(rows, 'row')}, to {name}.")
            skin.show(self.left_out, rows > cleaned.clean_rows)
            left_out = counted(rows - cleaned.clean_rows, "row")
            self.write_left_out.offer(f"Write {left_out}", Wanted(cleaned, "left out"))

    def _lay_out(self) -> None:
        self.question = skin.box(self.replace.widget, self.keep_button, classes=("smsotp-pair", "smsotp-always"))
        named = skin.box(self.clean_path, self.format, classes=("smsotp-pair",))
        self.clean = skin.box(named, self.write_clean.widget, self.content, classes=("smsotp-main",))
        rows = skin.box(self.path, self.write_left_out.widget, classes=("smsotp-pair",))
        self.left_out = skin.box(*skin.folded("Write the rows left out", "Hide this", rows), classes=("smsotp-main",))

    def _listen(self) -> None:
        for path in (self.path, self.clean_path, self._questions):
            path.observe(lambda _: self._named_anew(), "value")
        self.format.observe(lambda _: self._end_in(self.format.value), "value")
        self.keep_button.on_click(lambda _: self._keep())

    def _keep(self) -> None:
        field = self.field(self.asked.which if self.asked else "usable")
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
