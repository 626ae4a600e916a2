"""The list of a campaign that is uploaded in the form, read as any list is."""

from __future__ import annotations

import tempfile
import warnings
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from .._cards import counted
from .._outputs import write_file
from ..errors import SmsOtpError, SmsOtpWarning
from ..recipients import read_recipients, sheets
from .arguments import names_of
from .stages import Sign, sentence

KINDS = ".csv,.tsv,.txt,.xlsx,.xlsm"
NUMBERED = "Its rows are numbered as a spreadsheet shows them; the first row holds the names of the columns."


@dataclass(frozen=True, slots=True)
class Uploaded:
    """What became of an uploaded file: its rows, or none, and what there is to say of the reading."""

    name: str
    frame: pd.DataFrame | None = field(repr=False)
    words: str
    sign: Sign

    @property
    def line(self) -> str:
        """The code that reads the same file."""
        return f"people = sms.read_recipients({self.name!r}, numbered=True)"


def read_upload(name: str, content: bytes) -> Uploaded:
    """Read an uploaded file; it is on the disk, for this user only, while it is read.

    Example:
        >>> read_upload("people.csv", b"phone,name\\n+12025550123,Ann\\n").words[:30]
        'people.csv: 1 row, 2 columns. '
    """
    name = Path(name.replace("\\\\", "/")).name or "list.csv"
    with tempfile.TemporaryDirectory(prefix="smsotp-") as folder:
        file = Path(folder) / name
        try:
            write_file(file, lambda made: made.write(content))
            frame, lost = _read(file)
        except SmsOtpError as error:
            return Uploaded(name, None, _plain(str(error), file), "bad")
    said = f"{name}: {counted(len(frame), 'row')}, {counted(len(frame.columns), 'column')}. {NUMBERED}"
    return Uploaded(name, frame, " ".join([said, *(_plain(words, file) for words in lost)]), _sign(lost))


def _read(file: Path) -> tuple[pd.DataFrame, list[str]]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", SmsOtpWarning)
        frame = read_recipients(file, numbered=True)
    names_of(frame)
    lost = [str(one.message) for one in caught if issubclass(one.category, SmsOtpWarning)]
    first, *others = sheets(file) or [""]
    if others:
        lost.append(f"only the sheet {first!r} was read, not {', '.join(map(repr, others))}")
    return frame, lost


def _plain(words: str, file: Path) -> str:
    """Return words about the file as a sentence, without the folder in which it was for a moment."""
    words = words.replace(str(file), file.name)
    return f"{words}." if words.startswith(file.name) else sentence(words)


def _sign(lost: list[str]) -> Sign:
    return "warn" if lost else "ok"
