"""The records of binary workbooks (.xls, .xlsb) that tell hidden rows, errors and how far a sheet reaches.

Sources: [MS-XLS] and [MS-XLSB], the published descriptions of both formats, and [MS-CFB] for the file around an .xls.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass(slots=True)
class Told:
    """Rows and columns are counted from 1."""

    hidden: set[int] = field(default_factory=set)
    errors: list[tuple[int, int]] = field(default_factory=list)
    reach: tuple[int, int] = 0, 0

    def cell(self, row: int, column: int, *, error: bool = False) -> None:
        self.reach = max(self.reach[0], row + 1), max(self.reach[1], column + 1)
        self.errors += [(row + 1, column + 1)] * error


# xlsb: records of (number, size, content), both of variable length


def _records(part: bytes) -> Iterator[tuple[int, int, int]]:
    """Give each record as (number, where its content begins, size)."""
    at = 0
    while at < len(part):
        number, at = part[at], at + 1
        if number & 0x80:
            number, at = (number & 0x7F) | (part[at] & 0x7F) << 7, at + 1
        size = shift = 0
        while True:
            byte, at = part[at], at + 1
            size |= (byte & 0x7F) << shift
            shift += 7
            if not byte & 0x80 or shift == 28:
                break
        yield number, at, size
        at += size


def of_xlsb(part: bytes) -> Told:
    told, row = Told(), 0
    for number, at, _ in _records(part):
        if number == 0:  # BrtRowHdr
            row = int.from_bytes(part[at : at + 4], "little")
            if part[at + 11] & 0x10:  # fDyZero
                told.hidden.add(row + 1)
        elif 2 <= number <= 11:  # cells with a value; 1 is a blank one
            told.cell(row, int.from_bytes(part[at : at + 4], "little"), error=number in (3, 11))
    return told


def sheets_of_xlsb(part: bytes) -> dict[str, str]:
    """Return the relation of each sheet by its name."""
    sheets = {}
    for number, at, _ in _records(part):
        if number == 156:  # BrtBundleSh: state, id, relation, name
            relation, after = _text(part, at + 8)
            name, _ = _text(part, after)
            sheets[name] = relation
    return sheets


def _text(part: bytes, at: int) -> tuple[str, int]:
    end = at + 4 + 2 * int.from_bytes(part[at : at + 4], "little")
    return part[at + 4 : end].decode("utf-16-le"), end


# xls: a file of sectors, one stream of which has records of (number, size, content)


def of_xls(content: bytes, sheet: str) -> Told:
    book = _stream(content, ("Workbook", "Book"))
    told = Told()
    start = _xls_sheets(book).get(sheet)
    for number, at, size in () if start is None else _xls_records(book, start):
        if number == 0x208 and book[at + 12] & 0x20:  # ROW, fDyZero
            told.hidden.add(int.from_bytes(book[at : at + 2], "little") + 1)
        elif number in (0x06, 0xBD, 0x201, 0x203, 0x204, 0x205, 0x27E, 0xFD, 0xD6):
            row, column = struct.unpack_from("<HH", book, at)
            last = int.from_bytes(book[at + size - 2 : at + size], "little") if number == 0xBD else column  # MULRK
            if number != 0x201:  # BLANK
                in_formula = number == 0x06 and book[at + 6] == 2 and book[at + 12 : at + 14] == b"\xff\xff"
                told.cell(row, last, error=in_formula or (number == 0x205 and book[at + 7] == 1))
    return told


def _xls_records(book: bytes, at: int) -> Iterator[tuple[int, int, int]]:
    """Give each record of a sheet as (number, where its content begins, size)."""
    while at + 4 <= len(book):
        number, size = struct.unpack_from("<HH", book, at)
        if number == 0x0A:  # EOF
            return
        yield number, at + 4, size
        at += 4 + size


def _xls_sheets(book: bytes) -> dict[str, int]:
    """Return where the records of each sheet begin, by its name."""
    sheets, old = {}, book[4:6] == b"\x00\x05"  # names of Excel 5 have no byte that says how wide they are
    for number, at, _ in _xls_records(book, 0):
        if number == 0x85:  # BOUNDSHEET8
            start, count, wide = int.from_bytes(book[at : at + 4], "little"), book[at + 6], not old and book[at + 7] & 1
            begin = at + (7 if old else 8)
            sheets[book[begin : begin + count * (2 if wide else 1)].decode("utf-16-le" if wide else "latin-1")] = start
    return sheets


def _stream(content: bytes, names: tuple[str, ...]) -> bytes:
    """Return a stream of a compound file, following its chain of sectors."""
    size = 1 << struct.unpack_from("<H", content, 30)[0]
    small_size = 1 << struct.unpack_from("<H", content, 32)[0]
    directory, cutoff, small_table, table_more = (struct.unpack_from("<I", content, at)[0] for at in (48, 56, 60, 68))

    def sector(number: int) -> bytes:
        return content[(number + 1) * size : (number + 2) * size]

    def chain(first: int, table: list[int]) -> Iterator[int]:
        seen = 0
        while first < len(table) and seen <= len(table):
            yield first
            first, seen = table[first], seen + 1

    places = list(struct.unpack_from("<109I", content, 76))
    for _ in range(len(content) // size):
        if table_more >= len(content) // size:
            break
        more = list(struct.unpack(f"<{size // 4}I", sector(table_more)))
        places, table_more = places + more[:-1], more[-1]
    numbers = b"".join(sector(place) for place in places if place < len(content) // size)
    table = list(struct.unpack(f"<{len(numbers) // 4}I", numbers[: len(numbers) // 4 * 4]))
    entries = b"".join(map(sector, chain(directory, table)))
    root = struct.unpack_from("<I", entries, 116)[0]
    for at in range(0, len(entries) - 127, 128):
        length = int.from_bytes(entries[at + 64 : at + 66], "little")
        if entries[at : at + max(length - 2, 0)].decode("utf-16-le", "replace") in names:
            first, bytes_of = struct.unpack_from("<II", entries, at + 116)
            if bytes_of >= cutoff:
                return b"".join(map(sector, chain(first, table)))[:bytes_of]
            small = b"".join(map(sector, chain(small_table, table)))
            links = list(struct.unpack(f"<{len(small) // 4}I", small))
            held = b"".join(map(sector, chain(root, table)))
            pieces = (held[it * small_size : (it + 1) * small_size] for it in chain(first, links))
            return b"".join(pieces)[:bytes_of]
    return b""
