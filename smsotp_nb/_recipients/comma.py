"""CSV files: block by block with Arrow where every record fits the header, record by record where one does not.

Arrow is fast and lenient, Python's reader slow and strict. So Arrow gets only what both read alike: whole records by
the grammar below. What does not fit the header goes to the strict reader, which names the line. Encoding and separator,
which a file does not name, are told from its content.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, BinaryIO, Final

import numpy as np
import pyarrow
import pyarrow.compute
import pyarrow.csv

from ..errors import UsageError
from . import tables
from .records import Header, Record, batches, empty, filled, headed
from .tables import TEXT, Numbers, Part

SEPARATORS: Final = (",", ";", "\t", "|")
BYTE_ORDER_MARKS: Final = (
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe\x00\x00", "utf-32"),
    (b"\x00\x00\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)


def find_encoding(file: Path) -> str:
    """Return the encoding of a text file: by its mark, else UTF-8 if all of it is, else cp1252, else latin-1.

    Example:
        >>> import pathlib, tempfile
        >>> file = pathlib.Path(tempfile.mkdtemp()) / "people.csv"
        >>> _ = file.write_bytes("Zoë".encode("cp1252"))
        >>> find_encoding(file)
        'cp1252'
    """
    with file.open("rb") as raw:
        beginning = raw.read(4)
    for mark, marked in BYTE_ORDER_MARKS:
        if beginning.startswith(mark):
            return marked
    return next((encoding for encoding in ("utf-8", "cp1252") if _fits(file, encoding)), "latin-1")


def _fits(file: Path, encoding: str) -> bool:
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        with file.open("rb") as raw:
            while block := raw.read(1 << 20):
                decoder.decode(block)
            decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def separator(text: str) -> str:
    """Return the separator that splits the first rows into the same number of cells, the most cells winning.

    Example:
        >>> separator("name;phone\\nDoe, Jane;+14155550100\\n")
        ';'
    """
    sample = "\n".join(text.splitlines()[:200])
    return max(SEPARATORS, key=lambda sign: _evenness(sample, sign))


def _evenness(sample: str, sign: str) -> tuple[float, int]:
    widths = [len(cells) for cells in csv.reader(io.StringIO(sample, newline=""), delimiter=sign) if cells]
    if not widths or widths[0] < 2:
        return 0.0, 0
    return sum(width == widths[0] for width in widths) / len(widths), widths[0]


PIECE: Final = 1 << 22  # bytes read at a time
LARGEST: Final = 1 << 24  # bytes in which a record should end; else a quote is not closed
TRIES: Final = 3  # places of a kind that are tried as the end of a record
SAMPLE: Final = 100_000  # characters from which the separator is told
MARK: Final = "\ufeff".encode()


@dataclass(slots=True)
class _Place:
    """A place in the file: how many records and lines come before it."""

    records: int = 0
    lines: int = 0


def parts(file: Path, sep: str | None, encoding: str | None) -> Iterator[Part]:
    """Give the records in parts of any size, the first of which is empty and has the names of the columns."""
    known = encoding or find_encoding(file)
    place = _Place()
    try:
        with file.open("rb") as raw, _Source(raw, file.name, known) as source:
            yield from _parts(source, sep or separator(source.sample()), place)
    except csv.Error as error:  # an open quote would swallow the rows after it without a word
        message = f"{file.name}, the row that begins on line {place.lines + 1}: a quote is not closed ({error})"
    except LookupError:
        message = f"encoding={known!r} is not known; try 'utf-8', 'cp1252' or 'utf-16'"
    except UnicodeError:
        message = f"{file.name} is not {known} (after line {place.lines}); leave encoding= out"
    else:
        return
    raise UsageError(message)


def _parts(source: _Source, sign: str, place: _Place) -> Iterator[Part]:
    header: Header | None = None
    grammar = _grammar(sign)
    while block := source.whole_records(grammar):
        if header is None:
            before = place.lines
            header = headed(_strict(io.BytesIO(block), sign, place), source.name)
            if header is None:
                continue
            yield tables.none(header.names)
            block = b"".join(block.splitlines(keepends=True)[place.lines - before :])
        part = _by_arrow(block, header, sign, place)
        yield from _by_record(_strict(io.BytesIO(block), sign, place), header) if part is None else (part,)
    records = _strict(io.BufferedReader(source, PIECE), sign, place)
    if header is None:
        header = headed(records, source.name)
        if header is None:
            raise empty(source.name)
        yield tables.none(header.names)
    yield from _by_record(records, header)
    header.warn_of_short()


def _by_record(records: Iterator[Record], header: Header) -> Iterator[Part]:
    return (tables.of_records(header.fitted(batch), header.names) for batch in batches(records))


def _strict(stream: IO[bytes], sign: str, place: _Place) -> Iterator[Record]:
    """Read records with Python's reader, which takes nothing for granted, and move the place along."""
    before = place.lines
    reader = csv.reader(io.TextIOWrapper(stream, encoding="utf-8", newline=""), delimiter=sign, strict=True)
    for cells in reader:
        place.records, line, place.lines = place.records + 1, place.lines + 1, before + reader.line_num
        yield Record(place.records, line, cells)


def _by_arrow(block: bytes, header: Header, sign: str, place: _Place) -> Part | None:
    """Return the records of a block; None, with the place unchanged, if the strict reader must look at it."""
    odd: list[tuple[int, str]] = []

    def set_aside(row: Any) -> str:
        odd.append((row.number, row.text))
        return "skip"

    cells = [str(at) for at in range(header.cells)]
    try:
        table = pyarrow.csv.read_csv(
            pyarrow.py_buffer(block),
            pyarrow.csv.ReadOptions(use_threads=False, block_size=len(block) + 1, column_names=cells),
            pyarrow.csv.ParseOptions(
                delimiter=sign, newlines_in_values=True, ignore_empty_lines=False, invalid_row_handler=set_aside
            ),
            pyarrow.csv.ConvertOptions(column_types=dict.fromkeys(cells, TEXT), null_values=[]),
        )
    except pyarrow.ArrowInvalid:
        return None
    numbers = np.arange(table.num_rows + len(odd))
    fitting = np.delete(numbers, [number - 1 for number, _ in odd])
    whole = tables.of_texts(cells, table.columns, place.records + 1 + fitting)
    others = _others(odd, table, fitting, sign, place)
    beyond = any(column.null_count < len(whole) for column in whole.columns[header.width :])
    if beyond or not header.takes(others):
        return None
    place.records += len(numbers)
    place.lines += _line_ends(block)
    part = Part(header.names, whole.columns[: header.width], whole.numbers)
    fitted = header.fitted(filter(filled, others))
    return tables.in_order([part, tables.of_records(fitted, header.names)]) if fitted else part


def _others(
    odd: list[tuple[int, str]], table: pyarrow.Table, fitting: Numbers, sign: str, place: _Place
) -> list[Record]:
    """Return the records of another width with the lines they begin on, counting line ends inside cells."""
    if not odd:
        return []
    lines = np.ones(len(fitting) + len(odd), np.int64)
    for column in table.columns:
        lines[fitting] += pyarrow.compute.count_substring_regex(column, pattern=r"\r\n|\r|\n").to_numpy()
    for number, text in odd:
        lines[number - 1] += _line_ends(text.encode())
    begins = place.lines + 1 + np.cumsum(lines) - lines
    return [Record(place.records + number, int(begins[number - 1]), _cells(text, sign)) for number, text in odd]


def _line_ends(text: bytes) -> int:
    return text.count(b"\n") + text.count(b"\r") - text.count(b"\r\n")


def _cells(record: str, sign: str) -> list[str]:
    return next(csv.reader(io.StringIO(record, newline=""), delimiter=sign, strict=True))


def _grammar(sign: str) -> str | None:
    """Return the pattern of whole records, the last one perhaps without a line end.

    None for a separator of more than one byte: such a file is for the strict reader.
    """
    if len(sign.encode()) > 1:
        return None
    sign = re.escape(sign)
    cell = rf'(?:"(?:[^"]|"")*"|[^"{sign}\r\n][^{sign}\r\n]*)?'
    record = f"{cell}(?:{sign}{cell})*"
    return rf"\A(?:{record}(?:\r\n|[\r\n]))*(?:{record})?\z"


class _Source(io.RawIOBase):
    """A file as UTF-8 without a byte order mark: taken as blocks of whole records, or read as a stream."""

    def __init__(self, raw: BinaryIO, name: str, encoding: str) -> None:
        self.name = name
        plain = codecs.lookup(encoding).name in ("utf-8", "utf-8-sig")
        self._decoder = None if plain else codecs.getincrementaldecoder(encoding)()
        self._raw = raw
        self._held, self._read, self._ended = b"", 0, False
        self._read_more()
        self._held = self._held.removeprefix(MARK)

    def sample(self) -> str:
        return self._held[: 4 * SAMPLE].decode("utf-8", "replace")[:SAMPLE]

    def whole_records(self, grammar: str | None) -> bytes:
        """Take as many whole records as can be recognized from here on; none if only the strict reader can tell."""
        while grammar is not None:
            size = next((end for end in self._ends() if _matches(self._held[:end], grammar)), 0)
            if size:
                block, self._held = self._held[:size], self._held[size:]
                return block
            if self._ended or len(self._held) > LARGEST:
                break
            self._read_more()
        return b""

    def _ends(self) -> Iterator[int]:
        """Give places where a record may end, from the last one back: all that is left, then ends of lines.

        A line end inside a cell has an odd number of quotes before it, unless quotes stand elsewhere too; so the
        last ones with an even number and with an odd one are worth a try.
        """
        if self._ended:
            yield len(self._held)
        end, quotes, tries = len(self._held), self._held.count(b'"'), [TRIES, TRIES]
        while any(tries) and (line := self._held.rfind(b"\n", 0, end)) >= 0:
            quotes -= self._held.count(b'"', line, end)
            end = line
            if tries[quotes % 2]:
                tries[quotes % 2] -= 1
                yield line + 1

    def _read_more(self) -> None:
        piece = self._raw.read(PIECE)
        self._ended = not piece
        if self._decoder is not None:
            piece = self._decoder.decode(piece, final=self._ended).encode()
        if b"\0" in piece:
            raise UsageError(
                f"{self.name} holds zero bytes; it may be a workbook under another name, or pass encoding= (such as "
                "'utf-16-le')"
            )
        self._held += piece

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while self._read == len(self._held) and not self._ended:
            self._held, self._read = b"", 0
            self._read_more()
        # A slice of the bytes would copy what is left each time.
        piece = memoryview(self._held)[self._read : self._read + len(buffer)]
        buffer[: len(piece)] = piece
        self._read += len(piece)
        return len(piece)


def _matches(text: bytes, pattern: str) -> bool:
    """Return whether a pattern fits a text; RE2 takes time in proportion to its length, whatever the pattern."""
    return bool(
        pyarrow.compute.match_substring_regex(pyarrow.array([text], pyarrow.large_binary()), pattern)[0].as_py()
    )
