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
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import IO, Any, BinaryIO, Final

import numpy as np
import pyarrow
import pyarrow.compute
import pyarrow.csv

from ..errors import UsageError
from . import encodings, tables
from .heading import LOOKED_AT, heading
from .kinds import Opener
from .records import Header, Origin, Record, batches, empty, filled, is_of_totals
from .tables import TEXT, Numbers, Part

SEPARATORS: Final = (",", ";", "\t", "|")


def _encoding(opener: Opener, origin: Origin) -> str:
    """Return the encoding of a text: by its mark, else UTF-8 if all of it is, else the likeliest, which is said."""
    with opener() as raw:
        known = encodings.marked(raw.read(1 << 12)) or "utf-8"
    if _fits(opener, known):
        return known
    lines = _beyond_ascii(opener)
    if known.startswith("utf-8"):
        _refuse_stray_bytes(opener, lines, origin)
    likeliest = encodings.likeliest(lines, lambda encoding: _fits(opener, encoding))
    example = lines[0].decode(likeliest, "replace").strip()
    origin.note(
        f"is not UTF-8 and is read as {likeliest}, as in {example[:60]!r}; where that looks wrong, encoding= names "
        "another",
        argument="encoding",
    )
    return likeliest


def _refuse_stray_bytes(opener: Opener, lines: list[bytes], origin: Origin) -> None:
    """Refuse a text that is UTF-8 but for some bytes: read in any other encoding, all its other names are garbled."""
    signs = b"\n".join(lines).decode("utf-8", "replace")
    stray = signs.count("\ufffd")
    if sum(sign > "\x7f" for sign in signs) < 2 * max(stray, 1):
        return
    with opener() as raw:
        wrong = next(at for at, line in enumerate(raw, start=1) if "\ufffd" in line.decode("utf-8", "replace"))
    raise UsageError(
        f"{origin.facts['file']}: line {wrong} has a byte that is not UTF-8, and other lines are UTF-8; correct that "
        "line and save the file as UTF-8, or name the encoding of the whole with encoding="
    )


def _beyond_ascii(opener: Opener) -> list[bytes]:
    """Return cells with bytes beyond ASCII, the first some of the file."""
    found: list[bytes] = []
    with opener() as raw:
        for line in islice(raw, 1_000_000):
            if not line.isascii():
                found += [cell for cell in re.split(rb"[,;\t|\r\n]", line) if not cell.isascii()]
            if len(found) > 400:
                break
    return found or [b""]


def _without_mark(opener: Opener) -> Opener:
    """Return a text behind its mark of UTF-8, which says nothing of a text that goes on in another encoding."""

    def opened() -> BinaryIO:
        raw = opener()
        if raw.read(3) != codecs.BOM_UTF8:
            raw.seek(0)
        return raw

    return opened


def _fits(opener: Opener, encoding: str) -> bool:
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        with opener() as raw:
            while block := raw.read(1 << 20):
                decoder.decode(block)
            decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _separator(text: str, origin: Origin) -> str:
    """Return the separator that splits the most rows into the same number of cells, the most cells winning.

    Titles above the table and a note below it have other numbers of cells. Said is where another one splits each row as
    well, or where none splits them and a sign stands in all.
    """
    lines = [line for line in text.splitlines()[:200] if line.strip()]
    evenness = {sign: _evenness("\n".join(lines), sign) for sign in SEPARATORS}
    best = max(SEPARATORS, key=evenness.__getitem__)
    others = [sign for sign in SEPARATORS if sign != best and evenness[sign][0] == 1]
    if not evenness[best][1] and len(lines) > 1:
        others = [sign for sign in ":~^/" if lines[0].count(sign) and len({it.count(sign) for it in lines}) == 1]
        others += ["  "] * all(re.search(r"\S  +\S", line) for line in lines)
    for sign in others[:1]:
        cure = "save it as CSV" if sign == "  " else f"sep={sign!r} splits there"
        origin.note(f"is split at {best!r}, and {sign!r} stands in each row as well: {cure}", argument="sep")
    return best


def _evenness(sample: str, sign: str) -> tuple[float, int]:
    widths = [len(cells) for cells in csv.reader(io.StringIO(sample, newline=""), delimiter=sign) if cells]
    several = Counter(width for width in widths if width > 1)
    if not several:
        return 0.0, 0
    width, times = max(several.items(), key=lambda item: (item[1], item[0]))
    return times / len(widths), width


PIECE: Final = 1 << 22  # bytes read at a time
LARGEST: Final = 1 << 24  # bytes in which a record should end; else a quote is not closed
TRIES: Final = 3  # places of a kind that are tried as the end of a record
SAMPLE: Final = 100_000  # characters from which the separator is told
MARK: Final = "\ufeff".encode()


@dataclass(slots=True)
class _Place:
    """A place in the file: how many records, lines and bytes come before it."""

    records: int = 0
    lines: int = 0
    bytes: int = 0


def parts(
    opener: Opener, sep: str | None, encoding: str | None, header: int | str | None, origin: Origin
) -> Iterator[Part]:
    """Give the records in parts of any size, the first of which is empty and has the names of the columns."""
    name, opener = origin.facts["file"], _without_mark(opener)
    known, place = encoding or _encoding(opener, origin), _Place()
    try:
        with opener() as raw, _Source(raw, name, known) as source:
            said = source.said_separator()
            sign = sep or said or _separator(source.beginning(SAMPLE), origin)
            place.lines = 1 if said else 0  # a spreadsheet does not show that line
            origin.facts |= {"encoding": known.replace("-sig", ""), "separator": sign}
            yield from _without_totals(_parts(source, sign, header, place, origin), origin)
    except csv.Error as error:  # an open quote would swallow the rows after it without a word
        message = f"{name}, the row that begins on line {place.lines + 1}: a quote is not closed ({error})"
    except LookupError:
        message = f"encoding={known!r} is not known; try 'utf-8', 'cp1252' or 'utf-16'"
    except UnicodeError:
        message = f"{name} is not {known} (after line {place.lines}); leave encoding= out"
    else:
        return
    raise UsageError(message)


def _parts(source: _Source, sign: str, wanted: int | str | None, place: _Place, origin: Origin) -> Iterator[Part]:
    first, ends = _beginning(source, sign, place)
    if not first:
        for _ in _strict(io.BufferedReader(source, PIECE), sign, place):  # raises where a quote is not closed
            continue
        raise empty(source.name)
    found = heading(first, wanted, origin)
    origin.facts["header"] = None if found.place is None else first[found.place].number
    header = Header.of(found.names, origin)
    if found.body:
        before = ends[found.body - 1]
        source.skip(before.bytes)
        place.records, place.lines = before.records, before.lines
    yield tables.none(header.names)
    grammar = _grammar(sign)
    while block := source.whole_records(grammar):
        part = _by_arrow(block, header, sign, place)
        yield from _by_record(_strict(io.BytesIO(block), sign, place), header) if part is None else (part,)
    yield from _by_record(_strict(io.BufferedReader(source, PIECE), sign, place), header)
    header.warn_of_short()


def _beginning(source: _Source, sign: str, place: _Place) -> tuple[list[Record], list[_Place]]:
    """Return the first records with a cell, without taking them, and where each ends."""
    size = SAMPLE
    while True:
        text = source.beginning(size)
        records, ends, whole = _first(text, sign, place, ended=source.ended)
        if records or whole or size > LARGEST:
            return records, ends
        size *= 8


def _first(text: str, sign: str, place: _Place, *, ended: bool) -> tuple[list[Record], list[_Place], bool]:
    """Return records of a text, where they end, and whether the text was all there is."""
    taken = number = 0

    def lines() -> Iterator[str]:
        nonlocal taken
        for line in io.StringIO(text, newline=""):
            taken += len(line.encode())
            yield line

    records: list[Record] = []
    ends: list[_Place] = []
    reader, begins = csv.reader(lines(), delimiter=sign, strict=True), 0
    try:
        for number, cells in enumerate(reader, start=1):
            record = Record(place.records + number, place.lines + begins + 1, cells)
            begins = reader.line_num
            if filled(record):
                records.append(record)
                ends.append(_Place(place.records + number, place.lines + begins, taken))
            if len(records) == LOOKED_AT:
                return records, ends, ended
    except csv.Error as error:  # a record that the sample cuts; whatever else it is, is said where it is read
        return records, ends, ended or "unexpected end" not in str(error)
    # The last one may go on behind the sample.
    return (records, ends, True) if ended else (records[:-1], ends[:-1], False)


def _without_totals(parts: Iterator[Part], origin: Origin) -> Iterator[Part]:
    """Give parts without a last row that sums up the others."""
    waiting = next(parts)  # the names, without rows
    for part in filter(len, parts):
        yield waiting
        waiting = part
    texts = [column[-1].as_py() for column in waiting.columns] if len(waiting) else []
    if is_of_totals(texts):
        origin.note(f"row {waiting.numbers[-1]} ({texts[0]!r} and numbers) sums up the others; left out")
        origin.left_out("totals", 1)
        waiting = waiting.slice(0, len(waiting) - 1)
    yield waiting


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

    @property
    def ended(self) -> bool:
        """All of the file is held."""
        return self._ended

    def beginning(self, size: int) -> str:
        """Return so many bytes that come next, or all there are, without taking them."""
        while len(self._held) < size and not self._ended:
            self._read_more()
        # A sign that the end cuts is not there yet.
        return self._held[:size].decode("utf-8", "strict" if self._ended and len(self._held) <= size else "ignore")

    def said_separator(self) -> str | None:
        """Take the line ``sep=;`` with which a file may begin for Excel's sake, and return what it says."""
        found = re.match(rb'"?sep=(.)"?(\r\n|[\r\n])', self.beginning(20).encode(), re.IGNORECASE | re.DOTALL)
        if found is None:
            return None
        self.skip(found.end())
        return found[1].decode()

    def skip(self, size: int) -> None:
        self._held = self._held[size:]

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
