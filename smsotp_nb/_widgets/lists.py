"""The list of a form: its columns to choose from, and a file that is uploaded, read as any list is."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import ipywidgets
import pandas as pd

from .._cards import counted
from .._outputs import write_file
from .._recipients import KEY
from ..errors import SmsOtpError, SmsOtpWarning, UsageError
from ..recipients import read_recipients
from . import skin
from .stages import Sign, broken, in_the_form

NONE_CHOSEN = ""


def names_of(frame: Any) -> list[tuple[str, Hashable]]:
    """Return the columns that a form can offer, as (label, name): those whose name stands once.

    Raises:
        UsageError: it is no frame, or one without such a column.
    """
    if not isinstance(frame, pd.DataFrame):
        raise UsageError(f"a form needs a DataFrame, got {type(frame).__name__}; read_recipients(path) returns one")
    once = ~frame.columns.duplicated(keep=False)
    names: list[tuple[str, Hashable]] = [(str(name), name) for name in frame.columns[once]]
    if not names:
        raise UsageError("the list has no columns, or none with a unique name")
    return names


def with_none(names: Iterable[tuple[str, Hashable]], label: str) -> list[tuple[str, Hashable]]:
    return [(label, NONE_CHOSEN), *names]


LISTS = ".csv,.tsv,.txt,.gz,.zip,.json,.jsonl,.xlsx,.xlsm,.xls,.xlsb,.ods,.parquet"
NUMBERED = "Its rows are numbered as a spreadsheet shows them; the list begins below the names of the columns."


@dataclass(frozen=True, slots=True)
class Uploaded:
    """What became of an uploaded file: its rows, or none, and what there is to say of the reading."""

    name: str
    frame: pd.DataFrame | None = field(repr=False)
    words: str
    sign: Sign
    sheet: str = ""

    @property
    def called(self) -> str:
        return f"{self.name}, sheet {self.sheet}" if self.sheet else self.name

    @property
    def line(self) -> str:
        return f"people = sms.read_recipients({self.name!r}, numbered=True)"


def read_upload(name: str, content: bytes) -> Uploaded:
    """Read an uploaded file; it is on the disk, for this user only, while it is read."""
    name = base_name(name)
    with tempfile.TemporaryDirectory(prefix="smsotp-") as folder:
        file = Path(folder) / name
        try:
            write_file(file, lambda made: made.write(content))
            frame, sheet, lost = _read(file)
        except SmsOtpError as error:
            return Uploaded(name, None, _plain(str(error), file), "bad")
        except Exception as error:  # noqa: BLE001 - a button's traceback goes where nobody looks
            return Uploaded(name, None, f"{name} cannot be read. {broken(error)[0]}", "bad")
    of = f", sheet {sheet}" if sheet else ""
    said = f"{name}{of}: {counted(len(frame), 'row')}, {counted(len(frame.columns), 'column')}. {NUMBERED}"
    return Uploaded(name, frame, " ".join([said, *(_plain(words, file) for words in lost)]), _sign(lost), sheet)


def _read(file: Path) -> tuple[pd.DataFrame, str, list[str]]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", SmsOtpWarning)
        frame = read_recipients(file, numbered=True)
    names_of(frame)
    lost = [str(one.message) for one in caught if issubclass(one.category, SmsOtpWarning)]
    return frame, frame.attrs[KEY].get("sheet", ""), lost


class Upload:
    """The button that takes a file, and the line that says what became of the last one.

    A form never goes on with the file before: ``take`` gets every file that was chosen, one that cannot be read too,
    and returns what is to be said instead where it does not take it.
    """

    def __init__(self, label: str, kinds: str, take: Callable[[Uploaded], str]) -> None:
        self._take = take
        self.button = chooser(label, kinds)
        self.said = skin.block("")
        self.widget = skin.box(self.button, self.said, classes=("smsotp-field",))
        self.button.observe(lambda _: self._chosen(), "value")

    def show(self, read: Uploaded) -> None:
        """Hand a file on, and say what became of it."""
        refused = self._take(read)
        self.said.value = skin.line(refused, "warn") if refused else skin.line(read.words, read.sign)

    def _chosen(self) -> None:
        chosen = taken_from(self.button)
        if chosen:
            self.show(read_upload(*chosen))


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


def _sign(lost: list[str]) -> Sign:
    return "warn" if lost else "ok"
