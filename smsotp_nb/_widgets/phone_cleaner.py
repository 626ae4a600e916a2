"""The phone cleaner: counts, before and after, why, and the clean and the unusable rows as files."""

from __future__ import annotations

import threading
from collections.abc import Hashable, Iterable, Mapping
from pathlib import Path

import ipywidgets
import pandas as pd

from .. import phones
from .._arguments import not_text, refuse
from .._calls import in_our_words
from .._cards import Card, Figures, Note, Table, counted, number
from .._frames import AnyFrame, as_pandas
from ..columns import require
from ..errors import FileExists, SmsOtpError
from ..recipients import read_recipients
from . import skin
from .arguments import NONE_CHOSEN, names_of, with_none
from .campaign_html import lines_html
from .cleaning import OUTCOMES, Cleaned, Outcome, Question, Which, clean, export, rows
from .latest import Latest
from .stages import plain, refused, sentence

QUIET = 0.35
FILTERS = (("all rows", ""), *((name, name) for name in OUTCOMES))
CHOOSE = "Choose the column of the phone numbers."
REPAIRS = {
    "lost_plus": "A lost plus",
    "trailing_note": "Words after the number",
    "vanity": "Letters for digits",
    "mx_1": "Mexico's old mobile 1",
}


class PhoneCleaner(skin.Shown):
    """A form that shows what becomes of a list's phone numbers, and why. Make it the last line of a cell.

    The list is not changed; ``table`` is the list with the new columns. An existing file is replaced only after a
    confirmation, and the file that the list was read from is never replaced.

    Args:
        source: a frame, or the path of a CSV, Excel or Parquet file, whose rows are labelled as in the file.
        phone: the column of numbers to begin with; found by content by default.
        region: the column of countries to begin with; found by content by default.
        default_region: country of the rows without one, such as ``"DE"``.

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

    _calls = "sms.phones.normalize(...), sms.phones.report(...)"

    @in_our_words
    def __init__(
        self,
        source: AnyFrame | str | Path,
        *,
        phone: str | None = None,
        region: str | None = None,
        default_region: str = "",
    ) -> None:
        refuse(not_text("default_region", default_region, hint="; a code such as 'DE', or '' for none"))
        self._source = source if isinstance(source, (str, Path)) else None
        self.frame = read_recipients(source, numbered=True) if isinstance(source, (str, Path)) else as_pandas(source)
        self._names = names_of(self.frame)
        self._read = f"people = sms.read_recipients({str(source)!r}, numbered=True)\n" if self._source else ""
        self._asked: Which | None = None
        self._cleaned: Cleaned | None = None
        self._page = self._times = 0  # times the list was judged
        self._said = skin.notice("")
        self._drawing = threading.RLock()
        self._latest: Latest[Question, Cleaned] = Latest(lambda asked: clean(self.frame, asked), self._take, wait=QUIET)
        self._make_fields(phone, region, default_region)
        self.widget = self._lay_out()
        self._render()
        self._latest.ask(self.question(), at_once=True)

    def question(self) -> Question:
        """Return what the fields ask for now."""
        return Question(
            column=self.phone.value,
            region=self.region.value,
            default_region=self.default_region.value.strip().upper(),
            repair=tuple(name for name, box in self.repairs.items() if box.value),
        )

    def settle(self) -> PhoneCleaner:
        """Wait until the list has been judged with the current fields, and return this cleaner."""
        self._latest.settle()
        return self

    @property
    def table(self) -> pd.DataFrame | None:
        """The list with ``to, region, cc, type, problem, note, result`` added; None until it has been judged."""
        return self._cleaned.table if self._cleaned else None

    @property
    def unusable(self) -> pd.DataFrame | None:
        """The rows of ``table`` without a usable number of their own."""
        return self._cleaned.unusable if self._cleaned else None

    def __repr__(self) -> str:
        return f"<PhoneCleaner of {counted(len(self.frame), 'row')}; run the cell to use it>"

    # -- what a saved notebook keeps

    def _moment(self) -> object:
        return self._times

    def _saved(self) -> Card:
        size = f"{counted(len(self.frame), 'row')}. The list itself is not changed."
        found = self._cleaned.counts if self._cleaned and not self._cleaned.problem else {}
        figures = (Figures(tuple((name, found[name]) for name in OUTCOMES)),) if found else ()
        return Card("Phone list", size, figures, "Run this cell to see the rows and to write the clean list.")

    # -- parts

    def _make_fields(self, phone: str | None, region: str | None, default_region: str) -> None:
        found = phones.find_columns(self.frame, default_region=default_region or None)
        number_column = found.phone if phone is None else self._named(phone)
        numbers = self._names if number_column is not None else with_none(self._names, "choose")
        self.phone = skin.choice("Phone column", numbers, number_column)
        country = found.region if region is None else self._named(region)
        self.region = skin.choice("Country column", with_none(self._names, "none"), country)
        self.default_region = skin.text("Default country", value=default_region, placeholder="DE")
        self.shown = ipywidgets.Dropdown(description="Show", options=FILTERS, value="")
        self.repairs = {name: skin.check(label) for name, label in REPAIRS.items()}
        self.clean_path = skin.text("Write the clean list to", value="clean.csv")
        self.clean_button = skin.button("Write it")
        self.path = skin.text("Write the unusable rows to", value="unusable.csv")
        self.write_button = skin.button("Write them")
        self.replace_button = skin.button("Replace it")
        self.keep_button = skin.button("Keep it")
        self.previous_button = skin.button("Previous rows")
        self.next_button = skin.button("Next rows")
        for field in (self.phone, self.region, self.default_region, *self.repairs.values()):
            field.observe(lambda _: self._ask(), "value")
        self.shown.observe(lambda _: self._turn(0), "value")
        for path in (self.path, self.clean_path):
            path.observe(lambda _: self._answer(), "value")
        self.write_button.on_click(lambda _: self._write("unusable"))
        self.clean_button.on_click(lambda _: self._write("usable"))
        self.replace_button.on_click(lambda _: self._replace())
        self.keep_button.on_click(lambda _: self._keep())
        self.previous_button.on_click(lambda _: self._leaf(-1))
        self.next_button.on_click(lambda _: self._leaf(1))

    def _named(self, name: str) -> str:
        if not (isinstance(name, str) and name == NONE_CHOSEN):
            require(name, [column for _, column in self._names])
        return name

    def _lay_out(self) -> ipywidgets.VBox:
        sub = f"{counted(len(self.frame), 'row')}. The list itself is not changed."
        self._rows, self._lines, self._notice = skin.block(""), skin.block(""), skin.block("")
        self._pages = skin.box(self.previous_button, self.next_button, classes=("smsotp-pair", "smsotp-always"))
        self._clean_export = skin.box(self.clean_path, self.clean_button, classes=("smsotp-pair",))
        self._export = skin.box(self.path, self.write_button, classes=("smsotp-pair",))
        self._question = skin.box(self.replace_button, self.keep_button, classes=("smsotp-pair", "smsotp-always"))
        main = skin.box(
            skin.box(self.phone, self.region, classes=("smsotp-pair",)),
            skin.box(self.default_region, self.shown, classes=("smsotp-pair",)),
            *skin.folded(
                "Repairs on request",
                "Hide the repairs",
                skin.box(*self.repairs.values(), classes=("smsotp-pair",)),
            ),
            self._rows,
            self._pages,
            self._clean_export,
            self._export,
            self._notice,
            self._question,
            self._lines,
            classes=("smsotp-main", "smsotp-pad"),
        )
        return skin.form(skin.block(skin.head("Phone list", sub)), main, classes=("smsotp-cleaner",))

    # -- gestures

    def _ask(self) -> None:
        self._answer()
        self._latest.ask(self.question())

    def _take(self, cleaned: Cleaned) -> None:
        with self._drawing:
            self._cleaned, self._page, self._times = cleaned, 0, self._times + 1
            self._render()

    def _turn(self, page: int) -> None:
        self._page = max(0, page)
        self._render()

    def _leaf(self, by: int) -> None:
        """Turn pages; at either end the button used goes dead, and the focus would fall to the notebook."""
        self._turn(self._page + by)
        for dead, other in ((self.previous_button, self.next_button), (self.next_button, self.previous_button)):
            if dead.disabled and not other.disabled:
                other.focus()

    def _write(self, which: Which, *, overwrite: bool = False) -> None:
        if self._cleaned is None:
            return
        path = self.path if which == "unusable" else self.clean_path
        self._asked = None
        try:
            file, count = export(self._cleaned, path.value, which=which, source=self._source, overwrite=overwrite)
        except FileExists as error:
            self._asked = which
            self._said = skin.notice(f"{error.path} already exists. Replace it?", "warn")
        except SmsOtpError as error:
            self._said = skin.notice(*refused(error, "Nothing was written."))
        else:
            self._said = skin.notice(f"{counted(count, 'row')} written to {file}", "ok")
        self._render()
        (self.keep_button if self._asked else path).focus()

    def _replace(self) -> None:
        if self._asked is not None:
            self._write(self._asked, overwrite=True)

    def _keep(self) -> None:
        path = self.clean_path if self._asked == "usable" else self.path
        self._answer("The file is unchanged.")
        path.focus()

    def _answer(self, words: str = "") -> None:
        """Take back the question about a file: it was answered, or it is about another file now."""
        self._asked, self._said = None, skin.notice(words)
        self._render()

    # -- drawing

    def _render(self) -> None:
        with self._drawing:
            cleaned, asked = self._cleaned, self.question()
            chosen = asked.column != NONE_CHOSEN
            self._lines.value = lines_html(self._read + _code(asked, self.frame.columns) if chosen else f"# {CHOOSE}")
            self._notice.value = self._said
            judged = cleaned is not None and chosen and not cleaned.problem
            table, pages = rows(cleaned, self.shown.value, page=self._page) if cleaned and judged else (None, 1)
            skin.show(self._pages, pages > 1)
            self.previous_button.disabled = self._page == 0
            self.next_button.disabled = self._page + 1 >= pages
            counts = cleaned.counts if cleaned and judged else {}
            unusable = counts.get("invalid", 0) + counts.get("duplicate", 0)
            usable = counts.get("unchanged", 0) + counts.get("fixed", 0)
            skin.show(self._clean_export, usable > 0)
            skin.show(self._export, unusable > 0)
            skin.show(self._question, self._asked is not None)
            self.write_button.description = f"Write {counted(unusable, 'row')}"
            self.clean_button.description = f"Write {counted(usable, 'clean row')}"
            skin.primary(self.clean_button, usable > 0)
            skin.primary(self.write_button, not usable)
            if cleaned is None or not chosen:
                self._rows.value = skin.line("Reading the numbers …" if chosen else CHOOSE)
            elif cleaned.problem:
                self._rows.value = skin.line(sentence(plain(cleaned.problem)), "warn")
            elif table is not None:
                self._rows.value = _card(counts, table, self._page, pages).html()
            self._save_card()


def _card(counts: Mapping[Outcome, int], table: Table, page: int, pages: int) -> Card:
    where = f"Page {number(page + 1)} of {number(pages)}" if table.rows else ""
    shown = table if table.rows else Note("i", "No rows with this result." if any(counts.values()) else "No rows.")
    figures = Figures(tuple((name, counts[name]) for name in OUTCOMES))
    return Card("Results", where, (figures, shown))


def _code(question: Question, names: Iterable[Hashable]) -> str:
    taken = {"to", "region", "cc", "type", "problem", "note"} & set(names)
    beside = 'numbers.add_prefix("sms_")' if taken else "numbers"
    return f"numbers = {question.line()}\npeople.join({beside})"
