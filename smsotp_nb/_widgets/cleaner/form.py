"""The phone cleaner: the clean list first, each row before and after, edits, and the owner's answers."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from pathlib import Path

import ipywidgets
import pandas as pd

from ... import phones
from ..._calling import in_our_words, not_text, refuse
from ..._cards import Card, Figures, counted, number
from ..._frames import AnyFrame, as_pandas
from ..._phones import text_of
from ...columns import require
from ...errors import FileExists, SmsOtpError
from ...recipients import read_recipients, sheets
from .. import skin
from ..controls import Leafing
from ..lists import NONE_CHOSEN, names_of, with_none
from ..stages import PRESSED_ANOTHER, Latest, Sign, Work, plain, refused, sentence
from .edits import PEOPLE, Edits, Step
from .judging import OUTCOMES, PAGE, Cleaned, Question, clean, filters, judged_alone, merge, rows
from .panes import FilesPart, Opened, OwnerPart, RowEditor, RowsView, Typed, Wanted

QUIET = 0.35
CHOOSE = "Choose the column of the phone numbers."
REPAIRS = {
    "lost_plus": "A lost plus",
    "trailing_note": "Words after the number",
    "vanity": "Letters for digits",
    "mx_1": "Mexico's old mobile 1",
}


def _read(source: AnyFrame | str | Path, sheet: str | int | None) -> pd.DataFrame:
    if isinstance(source, (str, Path)):
        return read_recipients(source, sheet=sheet, numbered=True)
    return as_pandas(source)


def _called(source: AnyFrame | str | Path, sheet: str | int | None) -> str:
    """Return the name of the sheet that was read, as it stands behind that of a workbook."""
    if not isinstance(source, (str, Path)) or not (names := sheets(source)):
        return ""
    return f", sheet {sheet if isinstance(sheet, str) else names[sheet or 0]}"


class PhoneCleaner(skin.Shown):
    """A form that shows what becomes of a list's phone numbers, and why. Make it the last line of a cell.

    Rows are edited in the form, and a workbook asks the owner of the list for the rest. Neither the list nor its file
    is changed; ``table`` is the list with its edits and the new columns. An existing file is replaced only after a
    confirmation, and the file that the list was read from is never replaced.

    Args:
        source: a frame, or the path of a CSV, Excel or Parquet file, whose rows are called as a spreadsheet counts
            them: the header is row 1. The rows of a frame are called by their labels.
        phone: the column of numbers to begin with; found by content by default.
        region: the column of countries to begin with; found by content by default.
        default_region: country of the rows without one, such as ``"DE"``.
        sheet: of a workbook, the name of a sheet or its place from 0; the first one by default.

    Attributes:
        widget: the ipywidgets root, to place in a layout of your own.

    Raises:
        UsageError: file or column not found, or not a list.

    Example:
        >>> from smsotp_nb.widgets import PhoneCleaner
        >>> people = pd.DataFrame({"phone": ["(202) 555-0123", "nobody"], "country": "US"})
        >>> cleaner = PhoneCleaner(people)
        >>> cleaner.settle().table["to"].tolist()
        ['+12025550123', nan]
    """

    _calls = "sms.phones.normalize(...), sms.phones.edit(...), sms.phones.ask_owner(...)"

    @in_our_words
    def __init__(
        self,
        source: AnyFrame | str | Path,
        *,
        phone: str | None = None,
        region: str | None = None,
        default_region: str = "",
        sheet: str | int | None = None,
    ) -> None:
        refuse(not_text("default_region", default_region, hint="; a code such as 'DE', or '' for none"))
        self._source = source if isinstance(source, (str, Path)) else None
        self.frame = _read(source, sheet)
        self._sheet = _called(source, sheet)
        self._names = names_of(self.frame)
        of = "" if sheet is None else f", sheet={sheet!r}"
        self._read = [f"{PEOPLE}sms.read_recipients({str(source)!r}{of}, numbered=True)"] if self._source else []
        self._edits = Edits(self.frame)
        self._cleaned: Cleaned | None = None
        self._page = self._times = 0  # times the list was judged
        self._said, self._at_owner, self._filling, self._focus_at = skin.notice(""), False, False, -1
        self._drawing, self.work = threading.RLock(), Work(self._tell)
        self._latest: Latest[tuple[Question, Edits], Cleaned] = Latest(
            lambda asked: clean(asked[1], asked[0]), self._take, wait=QUIET
        )
        self._make_fields(phone, region, default_region)
        self._make_files()
        self._listen()
        self.widget = self._lay_out()
        self._render()
        self._latest.ask((self.question(), self._edits), at_once=True)

    def question(self) -> Question:
        """Return what the fields ask for now."""
        return Question(
            column=self.phone.value,
            region=self.region.value,
            default_region=self.default_region.value.strip().upper(),
            repair=tuple(name for name, box in self.repairs.items() if box.value),
        )

    def settle(self) -> PhoneCleaner:
        """Wait until what was asked for is done and the list is judged with the current fields; return this cleaner."""
        self.work.settle()
        self._latest.settle()
        self.editor.settle()
        return self

    @property
    def table(self) -> pd.DataFrame | None:
        """The list with its edits and ``to, region, cc, type, problem, note, result``; None until it has been judged.

        ``result`` is unchanged, fixed, unusable, duplicate or left out. Where cells were edited, ``edited`` says what
        they were.
        """
        return self._cleaned.table if self._cleaned else None

    @property
    def left_out(self) -> pd.DataFrame | None:
        """The rows of ``table`` that the clean list does not have: unusable, repeated and left out."""
        return self._cleaned.left_out if self._cleaned else None

    @property
    def edits(self) -> pd.DataFrame:
        """What was edited: ``row``, ``column``, ``before``, ``after`` (str); a row that was left out has no column."""
        return self._edits.record()

    def __repr__(self) -> str:
        return f"<PhoneCleaner of {counted(len(self.frame), 'row')}; run the cell to use it>"

    # -- what a saved notebook keeps

    def _moment(self) -> object:
        return self._times

    def _saved(self) -> Card:
        found = self._cleaned.counts if self._cleaned and not self._cleaned.problem else {}
        figures = (Figures(tuple((name, found[name]) for name in OUTCOMES)),) if found else ()
        closing = "Run this cell to see the rows and to write the clean list."
        return Card(
            "Phone list", f"{counted(len(self.frame), 'row')}. The list itself is not changed.", figures, closing
        )

    # -- parts

    def _make_fields(self, phone: str | None, region: str | None, default_region: str) -> None:
        found = phones.find_columns(self.frame, default_region=default_region or None)
        number_column = found.phone if phone is None else self._named(phone)
        numbers = self._names if number_column is not None else with_none(self._names, "choose")
        self.phone = skin.choice("Phone column", numbers, number_column)
        country = found.region if region is None else self._named(region)
        self.region = skin.choice("Country column", with_none(self._names, "none"), country)
        self.default_region = skin.text("Default country", value=default_region, placeholder="DE")
        self.repairs = {name: skin.check(label) for name, label in REPAIRS.items()}
        self.shown = ipywidgets.Dropdown(description="Show", options=filters(None), value="")
        self.find = skin.text("Find a number or a row", placeholder="0171 or 17")
        self.undo_button = skin.button("Undo the last edit", "smsotp-link")
        self._leafing = Leafing("Previous rows", "Next rows", lambda by: self._turn(self._page + by))
        self.previous_button, self.next_button = self._leafing.before, self._leafing.after
        self.editor, self.rows = RowEditor(self._judge, self._edited), RowsView(self._open)

    def _make_files(self) -> None:
        name = Path(self._source).stem if self._source else "list"
        self.owner = OwnerPart(self._names, f"{name}-questions.xlsx", merge=self._merge)
        self.files = FilesPart(name, self.owner.path, answered=self._answer)

    def _listen(self) -> None:
        for field in (self.phone, self.region, self.default_region, *self.repairs.values()):
            field.observe(lambda _: self._ask(), "value")
        for field in (self.shown, self.find):
            field.observe(lambda _: None if self._filling else self._turn(0), "value")
        for writing in (self.files.write_clean, self.files.write_left_out, self.files.replace, self.owner.ask):
            writing.does(self._written, work=self.work, stale=self._pressed_another)
        self.undo_button.on_click(lambda _: self._undo())

    def _named(self, name: str) -> str:
        if not (isinstance(name, str) and name == NONE_CHOSEN):
            require(name, [column for _, column in self._names])
        return name

    def _lay_out(self) -> ipywidgets.VBox:
        of = f"{Path(self._source).name}{self._sheet}: " if self._source else ""
        called = "" if self._source else " Its rows are called by their labels."
        sub = f"{of}{counted(len(self.frame), 'row')}. The list itself is not changed.{called}"
        self._figures, self._lines, self._notice = skin.block(""), skin.block(""), skin.block("")
        self._changed, self._where = skin.block(""), skin.block("")
        asking = skin.folded("Ask the owner of the list", "Hide the questions to the owner", self.owner.widget)
        self._owner = skin.box(*asking, classes=("smsotp-main",))
        self._change = skin.box(self._changed, self.undo_button, classes=("smsotp-main",))
        repairs = skin.box(*self.repairs.values(), classes=("smsotp-pair",))
        filtering = skin.box(self.shown, self.find, classes=("smsotp-pair",))
        self._list = skin.box(
            self._figures, filtering, self._change, self.editor.widget, self._where, self.rows.widget,
            self._leafing.widget, self._owner, self.files.left_out, classes=("smsotp-main",),
        )  # fmt: skip
        main = skin.box(
            skin.box(self.phone, self.region, classes=("smsotp-pair",)),
            self.default_region,
            *skin.folded("Repairs on request", "Hide the repairs", repairs),
            self.files.clean, self._notice, self.files.question, self._list, self._lines,
            classes=("smsotp-main", "smsotp-pad"),
        )  # fmt: skip
        return skin.form(skin.block(skin.head("Phone list", sub)), main, classes=("smsotp-cleaner",))

    # -- the list judged

    def _ask(self) -> None:
        self.editor.close()
        skin.primary(self.files.clean_button, True)
        self._answer()
        self._latest.ask((self.question(), self._edits))

    def _take(self, cleaned: Cleaned) -> None:
        with self._drawing:
            same = self._cleaned is not None and self._cleaned.question == cleaned.question
            self._cleaned, self._times = cleaned, self._times + 1
            self._page = self._page if same else 0
            self._render()

    def _turn(self, page: int) -> None:
        self._page = max(0, page)
        self._render()

    # -- edits

    def _judge(self, place: int, number: str, country: str) -> tuple[bool, str]:
        if self._cleaned is None:
            return False, "the list is not judged yet"
        return judged_alone(self._cleaned, place, number, country)

    def _open(self, place: int) -> None:
        cleaned = self._cleaned
        if cleaned is None:
            return
        asked, frame = cleaned.question, cleaned.frame
        country = None if asked.region == NONE_CHOSEN else text_of(frame[asked.region].iat[place]) or ""
        code = cleaned.judged["problem"].iat[place]
        shown = code if isinstance(code, str) and code != "DUPLICATE_OF" else ""
        number = text_of(frame[asked.column].iat[place]) or ""
        left_out = place in cleaned.edits.left_out
        self.editor.open(Opened(place, cleaned.edits.name(place), number, country, left_out, shown))
        skin.primary(self.files.clean_button, False)

    def _edited(self, what: str, row: Opened) -> None:
        if what == "cancel":
            self._closed(row)
        else:
            typed = self.editor.typed()
            self.work.begin((what, row), lambda: self._save(what, row, typed))

    def _save(self, what: str, row: Opened, typed: Typed) -> Callable[[], None]:
        """Save a row, with the last keys where it is still open: another one may be by now."""
        number, country = skin.settled(lambda: self.editor.typed() if self.editor.opened is row else typed)
        asked = self.question()
        cells: dict[Hashable, str | None] = {}
        if what == "save":
            cells[asked.column] = number or None
            if row.country is not None:
                cells[asked.region] = country or None
        step = Step({row.place: None if what == "leave out" else cells})

        def show() -> None:
            self._change_list(step)
            if self.editor.opened in (None, row):
                self._closed(row)

        return show

    def _closed(self, row: Opened) -> None:
        self._focus_at = self.rows.at(row.place)
        self.editor.close()
        skin.primary(self.files.clean_button, True)
        if not self.rows.focus(self._focus_at):
            skin.focus(self.find)

    def _change_list(self, step: Step) -> None:
        self._edits = self._edits.after(step)
        self._answer()
        self._latest.ask((self.question(), self._edits), at_once=True)

    def _undo(self) -> None:
        self._edits = self._edits.undone()
        self.editor.close()
        skin.primary(self.files.clean_button, True)
        self.owner.show(None)
        self._answer("The last edit is undone.")
        self._latest.ask((self.question(), self._edits), at_once=True)
        if not self._edits.steps:
            skin.focus(self.find)

    # -- files

    def _tell(self, words: str, sign: Sign = "", *, at_owner: bool = False) -> None:
        """Say something where it is read: beside the clean list, or in the part for the owner of the list."""
        self._said, self._at_owner = skin.notice(words, sign), at_owner
        self._render()

    def _pressed_another(self) -> None:
        self.files.asked = None
        self._tell(f"Nothing was written. {PRESSED_ANOTHER}", "warn")

    def _written(self, wanted: Wanted) -> Callable[[], None]:
        """Write what the button said, unless the list has been judged anew since; return what tells the outcome."""
        which, field = wanted.which, self.files.field(wanted.which)
        name, asked = skin.settled(lambda: (field.value, self.question()))
        self._latest.settle()
        now = self._cleaned
        if wanted.cleaned is not now or asked != now.question or self._edits is not now.edits:
            return self._pressed_another
        self.files.asked, focused = None, field
        self._tell("Writing …")
        try:
            outcome: tuple[str, Sign] = (self.files.put(wanted, name, keep=self.owner.kept, source=self._source), "ok")
        except FileExists as error:
            self.files.asked, focused = Wanted(wanted.cleaned, which, name), self.files.keep_button
            outcome = f"{error.path} already exists. Replace it?", "warn"
        except SmsOtpError as error:
            outcome = refused(error, "Nothing was written.")

        def tell() -> None:
            self._tell(*outcome, at_owner=which == "questions" and self.files.asked is None)
            skin.focus(focused)

        return tell

    def _merge(self) -> None:
        if self._cleaned is not None and not self._cleaned.problem:
            self.work.begin("merge", self._merged)

    def _merged(self) -> Callable[[], None]:
        cleaned, name = self._cleaned, skin.settled(lambda: self.owner.back.value)
        assert cleaned is not None
        answers: phones.Answers | None = None
        step = Step({})
        outcome: tuple[str, Sign]
        try:
            answers, step = merge(cleaned, self._edits, name)
        except SmsOtpError as error:
            outcome = refused(error, "Nothing was merged.")
        else:
            undo = "; they can be undone together" if step.changes else ""
            outcome = f"{counted(len(step.changes), 'answer')} merged{undo}.", "ok"

        def tell() -> None:
            self.owner.show(answers.card() if answers else None)  # not what became of earlier ones
            if step.changes:
                self._change_list(step)
            self._tell(*outcome, at_owner=True)
            skin.focus(self.owner.back)

        return tell

    def _answer(self, words: str = "") -> None:
        """Take back the question about a file: it was answered, or it is about another file now."""
        self.files.asked, self._said, self._at_owner = None, skin.notice(words), False
        self._render()

    # -- drawing

    def _render(self) -> None:
        with self._drawing:
            cleaned, asked = self._cleaned, self.question()
            chosen = asked.column != NONE_CHOSEN
            judged = cleaned if cleaned is not None and chosen and not cleaned.problem else None
            self._lines.value = skin.lines("\n".join(self._code(asked)) if chosen else f"# {CHOOSE}")
            self._notice.value = "" if self._at_owner else self._said
            self.owner.notice.value = self._said if self._at_owner else ""
            skin.show(self._list, judged is not None)
            self.files.draw(judged, self._lacks(chosen))
            if judged is not None:
                self._draw_list(judged)
            self._save_card()

    def _lacks(self, chosen: bool) -> str:
        """Return why there is no clean list yet, where there is none."""
        if self._cleaned is None or not chosen:
            return skin.line("Reading the numbers …" if chosen else CHOOSE)
        return skin.line(sentence(plain(self._cleaned.problem)), "warn")

    def _draw_list(self, cleaned: Cleaned) -> None:
        self._figures.value = Card(
            "Rows", "", (Figures(tuple((name, cleaned.counts[name]) for name in OUTCOMES)),)
        ).html()
        self._fill_filter(cleaned)
        views, found = rows(cleaned, self.shown.value, find=self.find.value, page=self._page)
        pages = max(1, -(-found // PAGE))
        if self._page >= pages:  # an edit has emptied the last one
            self._page = pages - 1
            views, _ = rows(cleaned, self.shown.value, find=self.find.value, page=self._page)
        self.rows.draw(views)
        self._where.value = skin.line(f"Page {number(self._page + 1)} of {number(pages)}, {counted(found, 'row')}")
        self._leafing.draw(self._page, pages)
        self.owner.draw(cleaned.counts["unusable"], Wanted(cleaned, "questions"))
        changed = len(self._edits.cells) + len(self._edits.left_out)
        skin.show(self._change, bool(self._edits.steps))
        self._changed.value = skin.line(f"{counted(changed, 'row')} edited or left out; the clean list has the edits.")
        gone = self._focus_at >= 0 and self._focus_at >= len(views)  # the button with the focus
        if gone and not self.rows.focus(self._focus_at):
            skin.focus(self.find)
        self._focus_at = -1

    def _fill_filter(self, cleaned: Cleaned) -> None:
        options = filters(cleaned)
        if options == list(self.shown.options):
            return
        self._filling = True
        wanted = self.shown.value
        self.shown.options = options
        self.shown.value = wanted if wanted in [key for _, key in options] else ""
        self._filling = False

    def _code(self, question: Question) -> list[str]:
        return [*self._read, *self._edits.code(), *question.lines(self.frame.columns)]
