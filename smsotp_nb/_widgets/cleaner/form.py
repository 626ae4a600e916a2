"""The phone cleaner: the rows to decide about, each before and after, the clean list, and the owner's answers."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Hashable
from pathlib import Path

import ipywidgets
import pandas as pd

from ... import phones
from ..._calling import given, in_our_words, not_text, refuse
from ..._cards import Card, Figures, counted, number
from ..._frames import AnyFrame, as_pandas
from ..._phones import text_of
from ..._recipients import in_words, source_of
from ...columns import require
from ...errors import SmsOtpError, UsageError
from ...recipients import read_recipients
from .. import skin
from ..controls import Filling, Leafing, Pinned, offer
from ..lists import LISTS, NONE_CHOSEN, Upload, Uploaded, names_of, with_none
from ..results_table import Download
from ..stages import PRESSED_ANOTHER, Latest, Sign, Work, in_the_form, refused
from .judging import (
    OUTCOMES,
    PAGE,
    PEOPLE,
    Cleaned,
    Edits,
    Question,
    Step,
    ask,
    clean,
    export,
    filters,
    judged_alone,
    merge,
    rows,
)
from .panes import Opened, OwnerPart, RowEditor, RowsView, Typed, Wanted

QUIET = 0.35
CHOOSE = "Choose the column of the phone numbers."
CHOOSE_LIST = "Choose a list."
ENDINGS = (".xlsx", ".tsv")  # of the lists that come back in their own format; all others as .csv
REPAIRS = {
    "lost_plus": "A lost plus",
    "trailing_note": "Words after the number",
    "vanity": "Letters for digits",
}


def _read(source: AnyFrame | str | Path, sheet: str | int | None) -> pd.DataFrame:
    if isinstance(source, (str, Path)):
        return read_recipients(source, sheet=sheet)
    return as_pandas(source)


def _with_tick(advice: str) -> str:
    """Return advice with the tick of the form in the place of the repair's name in code."""
    ticked = re.sub(
        r"NumberOptions\(repair=\['(\w+)'\]\)", lambda name: f"tick “{REPAIRS[name[1]]}” under “Change”", advice
    )
    return in_the_form(ticked)


class PhoneCleaner(skin.Shown):
    """A form that shows what becomes of a list's phone numbers, and why. Make it the last line of a cell.

    It begins with the rows that need a decision: edit them, leave them out, or ask the owner of the list by a workbook.
    The clean list, the rows left out and the workbook are downloaded. Nothing is written where the kernel runs, and
    neither the list nor its file is changed. ``table`` is the list with its edits and the new columns.

    Args:
        source: a frame, or the path of a CSV, Excel or Parquet file, whose rows are called as a spreadsheet counts
            them: the header is row 1. The rows of a frame are called by their labels. Without it a CSV or Excel file is
            chosen in the form.
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
        source: AnyFrame | str | Path | None = None,
        *,
        phone: str | None = None,
        region: str | None = None,
        default_region: str = "",
        sheet: str | int | None = None,
    ) -> None:
        named = {"phone": phone, "region": region}.items()
        refuse(
            not_text("default_region", default_region, hint="; a code such as 'DE', or '' for none"),
            *(f"{name}= must name a column, got {given(it)}" for name, it in named if not isinstance(it, Hashable)),
        )
        self._wanted, self._times = (phone, region), 0  # times the list was judged
        self._said, self._filling, self._focus_at = skin.notice(""), Filling(), -1
        self._drawing, self.work = threading.RLock(), Work(self._tell)
        self._latest: Latest[tuple[Question, Edits], Cleaned] = Latest(
            lambda asked: clean(asked[1], asked[0]), self._take, wait=QUIET
        )
        self._make_parts(default_region, upload=source is None)
        self._forget()
        self._listen()
        self.widget = self._lay_out()
        if source is not None:
            file = source if isinstance(source, (str, Path)) else None
            of = "" if sheet is None else f", sheet={sheet!r}"
            read = f"{PEOPLE}sms.read_recipients({str(source)!r}{of})"
            frame = _read(source, sheet)
            shown = source_of(frame).get("sheet") if file else None
            called = "" if file is None else Path(file).name + (f", sheet {shown}" if shown else "")
            self._use(frame, name=str(file or ""), called=called, code=[read] if file else [])
        else:
            self._render()

    def _forget(self) -> None:
        self.frame: pd.DataFrame | None = None
        self._name, self._shown_as, self._read = "list.csv", "", list[str]()
        self._cleaned: Cleaned | None = None
        self._edits, self._page = Edits(pd.DataFrame()), 0

    def _use(self, frame: pd.DataFrame, *, name: str, called: str, code: list[str]) -> None:
        """Begin with a list; ``called`` is what the form calls its file, ``code`` the line that reads it."""
        names = names_of(frame)
        for wanted in self._wanted:
            if wanted not in (None, NONE_CHOSEN):
                require(wanted, [column for _, column in names])
        self._forget()
        self.frame, self._edits, self._read, self._shown_as = frame, Edits(frame), code, called
        stem, ending = Path(name).stem or "list", Path(name).suffix.lower()
        self._name = stem + (ending if ending in ENDINGS else ".csv")
        found = phones.find_columns(frame, default_region=self.default_region.value or None)
        phone, region = self._wanted
        number = found.phone if phone is None else phone
        unknown = number is None or (isinstance(number, str) and number == NONE_CHOSEN)
        with self._filling:
            offer(self.phone, with_none(names, "choose") if unknown else names, number)
            offer(self.region, with_none(names, "none"), found.region if region is None else region)
            self.owner.of(names)
            self.shown.value, self.find.value = "", ""
        self.editor.close()
        if self.phone.value == NONE_CHOSEN:
            self._reading.unfold()
        self._judge_anew()

    def _take_list(self, read: Uploaded) -> str:
        """Use an uploaded list; one that cannot be used leaves none in use. Return what is to be said instead."""
        refused = ""
        try:
            if read.frame is not None:
                self._use(read.frame, name=read.name, called=read.called, code=[read.line])
                return ""
        except UsageError as error:
            refused = f"{read.name} is not used: {error}"
        self._forget()
        self._render()
        return refused

    def _question(self) -> Question:
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
        rows = "no list yet" if self.frame is None else counted(len(self.frame), "row")
        return f"<PhoneCleaner of {rows}; run the cell to use it>"

    # -- what a saved notebook keeps

    def _moment(self) -> object:
        return self._times

    def _saved(self) -> Card:
        found = self._cleaned.counts if self._cleaned and not self._cleaned.problem else {}
        figures = (Figures(tuple((name, found[name]) for name in OUTCOMES)),) if found else ()
        again = f", and choose {self._shown_as} again" if self._uploads and self._shown_as else ""
        return Card("Phone list", self._about(), figures, f"Run this cell to go on{again}.")

    # -- parts

    def _make_parts(self, default_region: str, *, upload: bool) -> None:
        self._file = Upload("Choose a list: CSV or Excel", LISTS, self._take_list)
        self._uploads = upload
        self.phone = skin.choice("Phone column", with_none([], "choose"), None)
        self.region = skin.choice("Country column", with_none([], "none"), None)
        self.default_region = skin.text("Default country", value=default_region, placeholder="DE")
        self.repairs = {name: skin.check(label) for name, label in REPAIRS.items()}
        self.shown = ipywidgets.Dropdown(description="Show", options=filters(None), value="")
        self.find = skin.text("Find a number or a row", placeholder="0171 or 17")
        self.undo_button = skin.button("Undo the last edit", "smsotp-link")
        self._leafing = Leafing("Previous rows", "Next rows", lambda by: self._turn(self._page + by))
        self.editor, self.rows = RowEditor(self._judge, self._edited), RowsView(self._open)
        self.clean = Pinned("Download the clean list", "smsotp-primary")
        self.rest = Pinned("Download the rows left out")
        self.owner = OwnerPart(merge=self._merge)
        self.download = Download(self._tell)

    def _listen(self) -> None:
        for field in (self.phone, self.region, self.default_region, *self.repairs.values()):
            field.observe(lambda _: None if self._filling else self._ask(), "value")
        for field in (self.shown, self.find):
            field.observe(lambda _: None if self._filling else self._turn(0), "value")
        for button in (self.clean, self.rest, self.owner.ask):
            button.does(self._made, work=self.work, stale=self._pressed_another)
        self.undo_button.on_click(lambda _: self._undo())

    def _lay_out(self) -> ipywidgets.VBox:
        self._head, self._asked, self._lines = skin.block(), skin.block(), skin.block()
        self._figures, self._notice, self._lacking = skin.block(), skin.block(), skin.block()
        self._changed, self._where, self._content = skin.block(), skin.block(), skin.block()
        self._change = skin.main(self._changed, self.undo_button)
        columns = skin.pair(self.phone, self.region)
        repairs = skin.pair(*self.repairs.values())
        self._reading = skin.Folded("Change", "Hide this", columns, repairs)
        skin.show(self._file.widget, self._uploads)
        left_out = (self.rest.widget, self.owner.widget)
        self._rest = skin.Folded("The rows left out", "Hide the rows left out", *left_out).widget
        asked = skin.box(self._asked, self._reading.button, classes=("smsotp-asked",))
        asked_for = skin.pair(self.shown, self.find)
        shown = (self.editor.widget, self._where, self.rows.widget, self._leafing.widget)
        self._list = skin.main(self._figures, asked_for, self._change, *shown)
        question = (asked, self._reading.fields, self.default_region, self._lacking)
        answer = (self._list, self.clean.widget, self._content, self._notice, self._rest)
        self._all = skin.main(*question, *answer)
        main = skin.main(self._file.widget, self._all, self._lines, self.download.widget, classes=("smsotp-pad",))
        return skin.form(self._head, main, classes=("smsotp-cleaner",))

    def _about(self) -> str:
        if self.frame is None:
            return CHOOSE_LIST
        of = f"{self._shown_as}: " if self._shown_as else ""
        called = "" if self._shown_as else " Its rows are called by their labels."
        return f"{of}{counted(len(self.frame), 'row')}. The list itself is not changed.{called}"

    # -- the list judged

    def _ask(self) -> None:
        self.editor.close()
        skin.primary(self.clean.button, True)
        self._judge_anew(at_once=False)

    def _take(self, cleaned: Cleaned) -> None:
        with self._drawing:
            if cleaned.edits is not self._edits:  # of a list that is no longer in use
                return
            if self._cleaned is None and cleaned.counts.get("unusable"):
                with self._filling:  # first what somebody has to decide about
                    offer(self.shown, filters(cleaned), "unusable")
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
        skin.primary(self.clean.button, False)

    def _edited(self, what: str, row: Opened) -> None:
        if what == "cancel":
            self._closed(row)
        else:
            typed = self.editor.typed()
            self.work.begin((what, row), lambda: self._save(what, row, typed))

    def _save(self, what: str, row: Opened, typed: Typed) -> Callable[[], None]:
        """Save a row, with the last keys where it is still open: another one may be by now."""
        number, country = skin.settled(lambda: self.editor.typed() if self.editor.opened is row else typed)
        asked = self._question()
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
        skin.primary(self.clean.button, True)
        if not self.rows.focus(self._focus_at):
            skin.focus(self.find)

    def _change_list(self, step: Step) -> None:
        self._edits = self._edits.after(step)
        self._judge_anew()

    def _undo(self) -> None:
        self._edits = self._edits.undone()
        self.editor.close()
        skin.primary(self.clean.button, True)
        self.owner.show(None)
        self._judge_anew("The last edit is undone.")
        if not self._edits.steps:
            skin.focus(self.find)

    # -- files

    def _tell(self, words: str, sign: Sign = "") -> None:
        self._said = skin.notice(words, sign)
        self._render()

    def _pressed_another(self) -> None:
        self._tell(f"Nothing was downloaded. {PRESSED_ANOTHER}", "warn")

    def _made(self, wanted: Wanted) -> Callable[[], None] | None:
        """Make the file that the button said, unless the list has been judged anew since."""
        asked = skin.settled(self._question)
        self._latest.settle()
        now = self._cleaned
        if wanted[0] is not now or asked != now.question or self._edits is not now.edits:
            return self._pressed_another
        self._tell("Making the file …")
        try:
            name, content, said = self._file_of(wanted)
        except SmsOtpError as error:
            outcome = refused(error, "Nothing was downloaded.")
            return lambda: self._tell(*outcome)
        self.download.offer(name, content, said)
        return None

    def _file_of(self, wanted: Wanted) -> tuple[str, bytes, str]:
        cleaned, which = wanted
        path = Path(self._name)
        if which == "questions":
            name = f"{path.stem}-questions.xlsx"
            rows = f"{counted(cleaned.counts['unusable'], 'row')} with complete numbers"
            return name, ask(cleaned, name, keep=self.owner.kept), f"{rows} in {name}, for the owner of the list only"
        name = f"{path.stem}-{'clean' if which == 'usable' else 'left-out'}{path.suffix}"
        content, count = export(cleaned, name, which=which)
        return name, content, f"{counted(count, 'row')} in {name}"

    def _merge(self, name: str, content: bytes) -> None:
        if self._cleaned is not None and not self._cleaned.problem:
            self.work.begin("merge", lambda: self._merged(name, content))

    def _merged(self, name: str, content: bytes) -> Callable[[], None]:
        cleaned = self._cleaned
        assert cleaned is not None
        answers: phones.Answers | None = None
        step = Step({})
        outcome: tuple[str, Sign]
        try:
            answers, step = merge(cleaned, self._edits, name, content)
        except SmsOtpError as error:
            outcome = refused(error, "Nothing was merged.")
        else:
            undo = "; they can be undone together" if step.changes else ""
            outcome = f"{counted(len(step.changes), 'answer')} merged{undo}.", "ok"

        def tell() -> None:
            self.owner.show(answers.card() if answers else None)  # not what became of earlier ones
            if step.changes:
                self._change_list(step)
            self._tell(*outcome)
            skin.focus(self.owner.back)

        return tell

    def _judge_anew(self, words: str = "", *, at_once: bool = True) -> None:
        self._tell(words)
        self._latest.ask((self._question(), self._edits), at_once=at_once)

    # -- drawing

    def _render(self) -> None:
        with self._drawing:
            cleaned, asked = self._cleaned, self._question()
            chosen = self.frame is not None and asked.column != NONE_CHOSEN
            judged = cleaned if cleaned is not None and chosen and not cleaned.problem else None
            self._head.value = skin.head("Phone list", self._about())
            skin.show(self._all, self.frame is not None)
            code = self._code(asked) if chosen else [f"# {CHOOSE_LIST if self.frame is None else CHOOSE}"]
            self._lines.value = skin.lines("\n".join(code))
            self._asked.value = skin.line(self._columns(asked))
            self._notice.value = self._said
            lacking = skin.line(in_the_form(cleaned.problem), "warn") if cleaned is not None and chosen else ""
            lacking = lacking or skin.line("Reading the numbers …" if chosen else CHOOSE)
            self._lacking.value = "" if judged is not None else lacking
            for part in (self._list, self.clean.widget, self._content, self._rest):
                skin.show(part, judged is not None)
            if judged is not None:
                self._draw_list(judged)
            self._draw_buttons(judged)
            self._save_card()

    def _columns(self, asked: Question) -> str:
        if asked.column == NONE_CHOSEN:
            return CHOOSE
        country = "no column says the country" if asked.region == NONE_CHOSEN else f"countries from {asked.region}"
        repairs = f"; {counted(len(asked.repair), 'repair')} on request" if asked.repair else ""
        source = {} if self.frame is None or self._uploads else source_of(self.frame)
        read = f" {in_words(source)}" if source else ""
        return f"Numbers from {asked.column}, {country}{repairs}.{read}"

    def _draw_buttons(self, cleaned: Cleaned | None) -> None:
        if cleaned is None:
            for button in (self.clean, self.rest, self.owner.ask):
                button.offer(button.button.description, None)
            return
        rows, clean_rows = len(cleaned.judged), cleaned.clean_rows
        label = f"Download the clean list, {counted(clean_rows, 'row')}"
        self.clean.offer(label, (cleaned, "usable"))
        self.rest.offer(f"Download the {counted(rows - clean_rows, 'row')} left out", (cleaned, "left out"))
        self.owner.draw(cleaned.counts["unusable"], (cleaned, "questions"))
        skin.show(self.clean.widget, clean_rows > 0)
        skin.show(self._rest, rows > clean_rows)
        said = f"{clean_rows:,} of {counted(rows, 'row')}"
        if cleaned.counts["unusable"]:
            said += f"; to decide about: {cleaned.counts['unusable']:,}. Edit them, leave them out, or ask the owner"
        self._content.value = skin.line(f"{said}.")

    def _draw_list(self, cleaned: Cleaned) -> None:
        self._figures.value = Card(
            "Rows", "", (Figures(tuple((name, cleaned.counts[name]) for name in OUTCOMES)),)
        ).html() + "".join(skin.line(_with_tick(line)) for line in cleaned.advice)
        with self._filling:
            offer(self.shown, filters(cleaned), self.shown.value)
        views, found = rows(cleaned, self.shown.value, find=self.find.value, page=self._page)
        pages = max(1, -(-found // PAGE))
        if self._page >= pages:  # an edit has emptied the last one
            self._page = pages - 1
            views, _ = rows(cleaned, self.shown.value, find=self.find.value, page=self._page)
        self.rows.draw(views)
        self._where.value = skin.line(f"Page {number(self._page + 1)} of {number(pages)}, {counted(found, 'row')}")
        self._leafing.draw(self._page, pages)
        changed = len(self._edits.cells) + len(self._edits.left_out)
        skin.show(self._change, bool(self._edits.steps))
        self._changed.value = skin.line(f"{counted(changed, 'row')} edited or left out; the clean list has the edits.")
        gone = self._focus_at >= 0 and self._focus_at >= len(views)  # the button with the focus
        if gone and not self.rows.focus(self._focus_at):
            skin.focus(self.find)
        self._focus_at = -1

    def _code(self, question: Question) -> list[str]:
        return [*self._read, *self._edits.code(), *question.lines(self._edits.source.columns)]
