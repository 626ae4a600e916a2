"""The list of a form: its columns to choose from, and a file that is uploaded, read as any list is."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import ipywidgets
import pandas as pd

from .._cards import counted
from .._outputs import write_file
from .._recipients import in_words, row_typed, source_of
from ..errors import SmsOtpError, SmsOtpWarning, UsageError
from ..recipients import read_recipients
from . import skin
from .controls import Filling, offer
from .stages import Sign, broken, in_the_form

NONE_CHOSEN = ""


def names_of(frame: Any) -> list[tuple[str, Hashable]]:
    """Return the columns that a form can offer, as (label, name): those with a name that stands once.

    Raises:
        UsageError: it is no frame, or one without such a column.
    """
    if not isinstance(frame, pd.DataFrame):
        raise UsageError(f"a form needs a DataFrame, got {type(frame).__name__}; read_recipients(path) returns one")
    once = ~frame.columns.duplicated(keep=False) & frame.columns.notna()
    names: list[tuple[str, Hashable]] = [(str(name), name) for name in frame.columns[once]]
    if not names:
        raise UsageError("the list has no columns, or none with a unique name")
    return names


def with_none(names: Iterable[tuple[str, Hashable]], label: str) -> list[tuple[str, Hashable]]:
    return [(label, NONE_CHOSEN), *names]


LISTS = ".csv,.tsv,.txt,.gz,.zip,.json,.jsonl,.xlsx,.xlsm,.xls,.xlsb,.ods,.parquet"
NUMBERED = "Rows are numbered as a spreadsheet shows them."


@dataclass(frozen=True, slots=True)
class Uploaded:
    """What became of an uploaded file: its rows, or none, what deserves a look, and the arguments of its reading."""

    name: str
    frame: pd.DataFrame | None = field(repr=False)
    notes: tuple[str, ...]
    how: Mapping[str, Any] = field(default_factory=dict)

    @property
    def source(self) -> dict[str, Any]:
        return {} if self.frame is None else source_of(self.frame)

    @property
    def sign(self) -> Sign:
        return "bad" if self.frame is None else "warn" if self.notes else "ok"

    @property
    def words(self) -> str:
        if self.frame is None:
            return " ".join(self.notes)
        size = f"{counted(len(self.frame), 'row')}, {counted(len(self.frame.columns), 'column')}"
        return " ".join([f"{self.called}: {size}.", *self.notes, in_words(self.source), NUMBERED])

    @property
    def called(self) -> str:
        sheet = self.source.get("sheet")
        return f"{self.name}, sheet {sheet}" if sheet else self.name

    @property
    def line(self) -> str:
        how = "".join(f", {name}={value!r}" for name, value in self.how.items())
        return f"people = sms.read_recipients({self.name!r}{how})"


def read_upload(name: str, content: bytes, how: Mapping[str, Any] = MappingProxyType({})) -> Uploaded:
    """Read an uploaded file with arguments of `read_recipients`; it is on the disk, for this user only, meanwhile."""
    name = base_name(name)
    with tempfile.TemporaryDirectory(prefix="smsotp-") as folder:
        file = Path(folder) / name
        try:
            write_file(file, lambda made: made.write(content))
            frame, notes = _read(file, how)
        except SmsOtpError as error:
            return Uploaded(name, None, (_plain(str(error), file),), how)
        except Exception as error:  # noqa: BLE001 - a button's traceback goes where nobody looks
            return Uploaded(name, None, (f"{name} cannot be read. {broken(error)[0]}",), how)
    return Uploaded(name, frame, tuple(_plain(words, file) for words in notes), how)


def _read(file: Path, how: Mapping[str, Any]) -> tuple[pd.DataFrame, list[str]]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", SmsOtpWarning)
        frame = read_recipients(file, **how)
    names_of(frame)
    return frame, [str(one.message) for one in caught if issubclass(one.category, SmsOtpWarning)]


class Upload:
    """The button that takes a file, the line that says what became of the last one, and how to read it otherwise.

    A form never goes on with the file before: ``take`` gets every file that was chosen, one that cannot be read too,
    and returns what is to be said instead where it does not take it. ``fields`` are the arguments of `read_recipients`,
    each shown for a file that makes it matter.
    """

    def __init__(self, label: str, kinds: str, take: Callable[[Uploaded], str]) -> None:
        self._take = take
        self._file: tuple[str, bytes] | None = None
        self._filling = Filling()
        self.button = chooser(label, kinds)
        self.said = skin.block()
        self.fields: dict[str, ipywidgets.ValueWidget] = {
            "sheet": skin.choice("Sheet", with_none([], ""), None),
            "header": skin.text("Header row, or none", placeholder="3", continuous_update=False),
            "hidden": skin.check("Take the hidden rows, too"),
            "sep": skin.text("Separator between cells", placeholder=";", continuous_update=False),
            "encoding": skin.text("Encoding", placeholder="cp1252", continuous_update=False),
        }
        self.how = skin.pair(*self.fields.values())
        self.widget = skin.box(self.button, self.said, self.how, classes=("smsotp-field",))
        self._offer({})
        self.button.observe(lambda _: self._chosen(), "value")
        for one in self.fields.values():
            one.observe(lambda _: self._read(), "value")

    def show(self, read: Uploaded) -> None:
        """Hand a file on, and say what became of it."""
        refused = self._take(read)
        self.said.value = skin.line(refused, "warn") if refused else skin.line(read.words, read.sign)
        self._offer(read.source)

    def _chosen(self) -> None:
        if chosen := taken_from(self.button):
            with self._filling:
                for one in self.fields.values():
                    one.value = type(one.value)()
            self._file = chosen
            self._read()

    def _read(self) -> None:
        if self._file is not None and not self._filling:
            values = {name: one.value for name, one in self.fields.items() if one.value}
            if "header" in values:
                values["header"] = row_typed(values["header"])
            self.show(read_upload(*self._file, values))

    def _offer(self, source: Mapping[str, Any]) -> None:
        """Show the fields that matter for a file as it was read, and those that say something."""
        if sheets := source.get("other_sheets", ()):
            names = [(source["sheet"], NONE_CHOSEN), *((name, name) for name in sheets)]
            with self._filling:
                offer(self.fields["sheet"], names, NONE_CHOSEN)
        matter = {*source.get("changed_by", ()), *(["header"] if source.get("columns") == {} else [])}
        shown = [one for name, one in self.fields.items() if name in matter or one.value]
        for one in self.fields.values():
            skin.show(one, one in shown)
        skin.show(self.how, bool(shown))


def chooser(label: str, kinds: str) -> ipywidgets.FileUpload:
    return ipywidgets.FileUpload(accept=kinds, multiple=False, description=label, icon="")


def taken_from(button: ipywidgets.FileUpload) -> tuple[str, bytes] | None:
    """Return name and content of the file that was chosen, and forget its bytes: a saved notebook would hold them."""
    files = button.value
    if not files:
        return None
    if isinstance(files, dict):  # ipywidgets 7
        name, file = next(iter(files.items()))
        button.metadata, button.data, button._counter = [], [], 0
    else:
        name, file = files[0]["name"], files[0]
        button.value = ()
    return base_name(name), bytes(file["content"])


def base_name(name: str) -> str:
    return Path(name.replace("\\", "/")).name or "list.csv"


def _plain(words: str, file: Path) -> str:
    """Return words about the file as a sentence, without the folder in which it was for a moment."""
    words = words.replace(str(file), file.name)
    said = in_the_form(words)
    return file.name[:1] + said[1:] if words.startswith(file.name) else said
