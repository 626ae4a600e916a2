"""The parts of the phone cleaner: a page of rows, the row that is edited, the files, and the owner of the list."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import ipywidgets

from ..._cards import SIGNS, Card, Marked, counted, safe
from .. import skin
from ..controls import Pinned
from ..lists import NONE_CHOSEN, with_none
from ..stages import Latest
from .judging import PAGE, Cleaned, RowView, ask, export

HEAD = ("Row", "Before and after", "Result, and why")


class RowsView:
    """A page of rows; ``edit`` is called with the place of the row whose button was pressed.

    The widgets are made once and filled anew, so that a list of any length costs the page no more than one of twenty.
    """

    def __init__(self, edit: Callable[[int], None]) -> None:
        self._edit, self._places = edit, list[int]()
        self._texts = [skin.block("", "smsotp-rowtext") for _ in range(PAGE)]
        self.buttons = [skin.button("Edit", "smsotp-rowedit") for _ in range(PAGE)]
        for at, button in enumerate(self.buttons):
            button.on_click(lambda _, at=at: self._pressed(at))
        pairs = zip(self._texts, self.buttons, strict=True)
        self._lines = [skin.box(text, button, classes=("smsotp-rowline",)) for text, button in pairs]
        self._none = skin.block(skin.line("No rows with this result."))
        self.widget: ipywidgets.VBox = skin.box(*self._lines, self._none, classes=("smsotp-rows",))
        self.draw([])

    def draw(self, rows: Sequence[RowView]) -> None:
        self._places = [row.place for row in rows]
        skin.show(self._none, not rows)
        for at, line in enumerate(self._lines):
            skin.show(line, at < len(rows))
            if at < len(rows):
                self._texts[at].value = row_html(rows[at])
                self.buttons[at].description = f"Edit row {rows[at].name}"

    def focus(self, at: int) -> bool:
        """Put the focus on the button of a row, or of the last one there is; say whether there is one."""
        if not self._places:
            return False
        skin.focus(self.buttons[min(at, len(self._places) - 1)])
        return True

    def at(self, place: int) -> int:
        """Return at which line of the page a row stands; 0 where it is on another one."""
        return self._places.index(place) if place in self._places else 0

    def _pressed(self, at: int) -> None:
        if at < len(self._places):
            self._edit(self._places[at])


def row_html(row: RowView) -> str:
    """Return a row as HTML: what it is called, its number before and after, the result and why."""
    before = pieces_html(row.before) or '<span class="smsotp-blank">blank</span>'
    after = pieces_html(row.after)
    arrow = f'<span class="smsotp-after">→ {after}</span>' if after else ""
    country = f'<span class="smsotp-of">{safe(row.country)}</span>' if row.country else ""
    edited = f'<span class="smsotp-was">Edited: {safe(row.edited)}.</span>' if row.edited else ""
    state = f"<b>{SIGNS[row.state.sign]} {safe(row.state.value)}</b>"
    return (
        f'<div class="smsotp-cells"><div class="smsotp-name">Row {safe(row.name)}</div>'
        f'<div class="smsotp-number"><span dir="ltr">{before}</span>{country}{arrow}</div>'
        f'<div class="smsotp-why">{state} <span>{safe(row.why)}</span>{edited}</div></div>'
    )


def pieces_html(text: Marked) -> str:
    return "".join(f"<{tag}>{safe(piece)}</{tag}>" if tag else safe(piece) for piece, tag in text.pieces)


QUIET = 0.2

Typed = tuple[str, str]
Verdict = tuple[bool, str]


@dataclass(frozen=True, slots=True)
class Opened:
    """The row that is being edited: its place, what it is called, its cells, and its code for support."""

    place: int
    name: str
    number: str
    country: str | None
    left_out: bool = False
    code: str = ""


class RowEditor:
    """The fields of one row. ``judge`` says what typed cells come to; ``act`` is told what was asked for.

    ``act`` gets "save", "leave out", "keep" or "cancel" and the row; what is typed then is in ``typed``.
    """

    def __init__(self, judge: Callable[[int, str, str], Verdict], act: Callable[[str, Opened], None]) -> None:
        self.opened: Opened | None = None
        self._judge, self._act = judge, act
        self._latest: Latest[tuple[Opened, Typed], Verdict] = Latest(self._judged, self._told, wait=QUIET)
        self._head, self._verdict = skin.block(""), skin.block("")
        self.number, self.country = skin.text("Number of this row"), skin.text("Country of this row")
        self.save_button = skin.button("Save the row", "smsotp-primary")
        self.leave_button, self.cancel_button = skin.button("Leave the row out"), skin.button("Cancel")
        for field in (self.number, self.country):
            field.observe(lambda _: self._ask(), "value")
            skin.on_enter(field, lambda: self._do("save"))
        self.save_button.on_click(lambda _: self._do("save"))
        self.leave_button.on_click(lambda _: self._do("keep" if self._is_out() else "leave out"))
        self.cancel_button.on_click(lambda _: self._do("cancel"))
        fields = skin.box(self.number, self.country, classes=("smsotp-pair",))
        buttons = skin.box(self.save_button, self.leave_button, self.cancel_button, classes=("smsotp-three",))
        self.widget = skin.box(self._head, fields, self._verdict, buttons, classes=("smsotp-main", "smsotp-edit"))
        skin.show(self.widget, False)

    def open(self, row: Opened) -> None:
        """Show a row and put the focus on its number."""
        self.opened = None
        self.number.value, self.country.value = row.number, row.country or ""
        skin.show(self.country, row.country is not None)
        self.leave_button.description = "Keep the row" if row.left_out else "Leave the row out"
        code = f" Code for support: {row.code}." if row.code else ""
        self._head.value = skin.line(f"Row {row.name}. The file itself is not changed.{code}")
        self.opened = row
        skin.show(self.widget, True)
        self._ask(at_once=True)
        skin.focus(self.number)

    def close(self) -> None:
        self.opened = None
        skin.show(self.widget, False)

    def typed(self) -> Typed:
        return self.number.value.strip(), self.country.value.strip()

    def settle(self) -> None:
        self._latest.settle()

    def _is_out(self) -> bool:
        return self.opened is not None and self.opened.left_out

    def _do(self, what: str) -> None:
        if self.opened is not None:
            self._act(what, self.opened)

    def _ask(self, *, at_once: bool = False) -> None:
        if self.opened is not None:
            self._latest.ask((self.opened, self.typed()), at_once=at_once)

    def _judged(self, asked: tuple[Opened, Typed]) -> Verdict:
        return self._judge(asked[0].place, *asked[1])

    def _told(self, verdict: Verdict) -> None:
        usable, words = verdict
        self._verdict.value = skin.line(words[:1].upper() + words[1:], "ok" if usable else "bad")


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
        skin.focus(field)

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


NAMED = ("name", "full name", "full_name", "customer", "contact")


class OwnerPart:
    """Fields and buttons: ``ask`` writes the workbook that ``path`` names, ``merge`` reads the one of ``back``."""

    def __init__(self, names: Sequence[tuple[str, Hashable]], path: str, *, merge: Callable[[], None]) -> None:
        self.path = skin.text("Write the workbook to", value=path)
        self.keep = skin.choice("Column that says who is meant", with_none(names, "none"), _name_among(names))
        self.ask = Pinned("Write the workbook")
        self.ask_button, self.merge_button = self.ask.button, skin.button("Merge the answers")
        self.back = skin.text("The workbook as it came back", placeholder=path)
        self._line, self._card, self.notice = skin.block(""), skin.block(""), skin.block("")
        self.merge_button.on_click(lambda _: merge())
        self._asking = skin.box(
            skin.box(self.path, self.keep, classes=("smsotp-pair",)), self.ask.widget, classes=("smsotp-main",)
        )
        reading = skin.box(self.back, self.merge_button, classes=("smsotp-pair",))
        self.widget = skin.box(self._line, self._asking, reading, self.notice, self._card, classes=("smsotp-main",))

    @property
    def kept(self) -> list[Hashable]:
        return [] if self.keep.value == NONE_CHOSEN else [self.keep.value]

    def draw(self, unusable: int, wanted: Any) -> None:
        """Say what the workbook will hold; ``wanted`` is what its button stands for."""
        self.ask.offer("Write the workbook", wanted)
        rows = f"{counted(unusable, 'row')} with the complete number, the reason and room for an answer"
        self._line.value = skin.line(
            f"{rows}. It is for the owner of the list only." if unusable else "Nothing to ask."
        )
        skin.show(self._asking, unusable > 0)

    def show(self, card: Card | None) -> None:
        self._card.value = card.html() if card else ""


def _name_among(names: Sequence[tuple[str, Hashable]]) -> Hashable:
    return next((name for label, name in names if label.lower().strip() in NAMED), NONE_CHOSEN)
