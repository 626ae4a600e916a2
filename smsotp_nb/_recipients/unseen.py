"""What a workbook's reader does not tell of a sheet: what is hidden or crossed out, comments, errors, formats.

The reader is fast because it gives values alone. What it leaves out stands in the parts of the file, which are searched
for the few tags that matter; the sheet is not parsed a second time. How far a sheet reaches is measured here as well,
because the reader makes room for the whole rectangle, and a stray cell in the last corner would end the process.

Sources of the binary formats: [MS-XLS] and [MS-XLSB], their published descriptions, and [MS-CFB] for the file around an
.xls.
"""

from __future__ import annotations

import posixpath
import re
import struct
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache, reduce
from pathlib import Path
from typing import Final
from xml.etree import ElementTree
from xml.sax.saxutils import escape

from .._amounts import CONTEXT, exact, half_up
from .._foreign.gate import CELLS, refuse_large
from ..errors import UsageError

WIDEST: Final = 16_384  # columns of a sheet
Place = tuple[int, int]  # row and column, both counted from 1


@dataclass(slots=True)
class Unseen:
    """What of a sheet is hidden, has no value, or shows more than its value.

    Attributes:
        rows, columns: the hidden ones.
        errors, uncomputed: cells that show an error, and formulas that no program has computed yet.
        shapes: how numbers are shown, where that is not their text.
        no_days: cells with the day 0, which no calendar has.
        crossed, comments: cells of an xlsx that are crossed out, and those with a comment.
        reach: the last row and the last column with a cell that may hold something.
    """

    rows: set[int] = field(default_factory=set)
    columns: set[int] = field(default_factory=set)
    errors: list[Place] = field(default_factory=list)
    uncomputed: list[Place] = field(default_factory=list)
    shapes: dict[Place, Shape] = field(default_factory=dict)
    no_days: list[Place] = field(default_factory=list)
    crossed: list[Place] = field(default_factory=list)
    comments: list[Place] = field(default_factory=list)
    reach: Place = 0, 0

    def cell(self, row: int, column: int, *, error: bool = False) -> None:
        """Take in a cell that may hold something, or an error."""
        self.reach = max(self.reach[0], row), max(self.reach[1], column)
        self.errors += [(row, column)] * error


def column_letters(number: int) -> str:
    """Return what a spreadsheet calls a column: 28 is ``AB``."""
    more, last = divmod(number - 1, 26)
    return (column_letters(more) if more else "") + chr(ord("A") + last)


def column_number(letters: str) -> int:
    """Return the number of a column: ``AB`` is 28."""
    return reduce(lambda number, letter: number * 26 + ord(letter) - ord("A") + 1, letters, 0)


def cell_name(place: Place) -> str:
    return f"{column_letters(place[1])}{place[0]}"


def look(file: Path, kind: str, sheet: str | None) -> Unseen:
    """Return what is unseen of a sheet; without a name, of all that an ods file has, which are read as it is opened.

    Raises:
        UsageError: its cells span more room than any list.
    """
    unseen = _look(file, kind, sheet)
    rows, columns = unseen.reach
    refuse_large(file, rows=rows)
    if rows * columns > CELLS:
        raise UsageError(
            f"{file.name}, sheet {sheet or '?'!r}: its cells reach from A1 to "
            f"{cell_name((rows, min(columns, WIDEST)))}, {rows:,} rows by {columns:,} columns; delete what stands far "
            "from the list, or copy the list into a new workbook"
        )
    return unseen


def _look(file: Path, kind: str, sheet: str | None) -> Unseen:
    if kind == "xls" and sheet is not None:
        return of_xls(file.read_bytes(), sheet)
    with zipfile.ZipFile(file) as archive:
        if kind == "ods" or sheet is None:
            return _of_ods(sheet, archive.read("content.xml").decode("utf-8"))
        part = _part_of(archive, kind, sheet)
        if part is None:
            return Unseen()
        if kind == "xlsb":
            return of_xlsb(archive.read(part))
        unseen = _of_xlsx(archive.read(part).decode("utf-8", "replace"), *_styles(archive))
        unseen.comments = [
            place for xml in _comments(archive, part) for tag in COMMENT.finditer(xml) if (place := _place(tag[1]))
        ]
        return unseen


def _part_of(archive: zipfile.ZipFile, kind: str, sheet: str) -> str | None:
    """Return the part of an archive that holds a sheet."""
    if kind == "xlsb":
        named = sheets_of_xlsb(archive.read("xl/workbook.bin"))
        relations = "xl/_rels/workbook.bin.rels"
    else:
        base = next((name for name in archive.namelist() if re.fullmatch(r"xl/workbook\d*\.xml", name)), "")
        tree = ElementTree.fromstring(archive.read(base))
        sheets = (element for element in tree.iter() if element.tag.endswith("}sheet"))
        named = {
            str(it.get("name")): next((value for key, value in it.attrib.items() if key.endswith("}id")), "")
            for it in sheets
        }
        relations = f"xl/_rels/{posixpath.basename(base)}.rels"
    if sheet not in named:
        return None
    for relation in ElementTree.fromstring(archive.read(relations)).iter():
        if relation.get("Id") == named[sheet]:
            target = str(relation.get("Target"))
            return target.lstrip("/") if target.startswith("/") else posixpath.normpath(f"xl/{target}")
    return None


def _comments(archive: zipfile.ZipFile, part: str) -> Iterator[str]:
    folder, _, name = part.rpartition("/")
    relations = f"{folder}/_rels/{name}.rels"
    if relations in archive.namelist():
        for relation in ElementTree.fromstring(archive.read(relations)).iter():
            if relation.get("Type", "").endswith("/comments"):  # which also stand for those in threads
                target = posixpath.normpath(posixpath.join("/", folder, str(relation.get("Target"))))
                yield archive.read(target.lstrip("/")).decode("utf-8", "replace")


COMMENT: Final = re.compile(r"<(?:\w++:)?comment\b([^<>]*+)>")
ROW: Final = re.compile(r"<(?:\w++:)?row\b([^<>]*+)>")
COLUMN: Final = re.compile(r"<(?:\w++:)?col\b([^<>]*+)>")
ATTRIBUTE: Final = re.compile(r"""(?<![\w:])([\w:]++)\s*+=\s*+["']([^"'<>]*+)["']""")
WHERE: Final = re.compile(r"""\br\s*+=\s*+["']([A-Z]++)([0-9]++)["']([^<>]*+)>""")
ERROR_CELL: Final = re.compile(r"""<(?:\w++:)?c\b([^<>]*?\bt\s*+=\s*+["']e["'][^<>]*+)>""")
FORMULA: Final = re.compile(
    r"<(?:\w++:)?c\b([^<>]*+)><(?:\w++:)?f\b(?:[^<>]*+(?<=/)>|[^<>]*+>[^<]*+</(?:\w++:)?f>)"
    r"(<(?:\w++:)?v\s*+/>|<(?:\w++:)?v></(?:\w++:)?v>)?</(?:\w++:)?c>"
)
OUTSIDE: Final = re.compile(r"""\br\s*+=\s*+["'][^"']*+&""")


def _of_xlsx(xml: str, shapes: dict[str, Shape], crossed: set[str]) -> Unseen:
    unseen = Unseen(reach=_reach(xml))
    if "hidden" in xml or 'ht="0' in xml or "zeroHeight" in xml:
        at, unset = 0, re.search(r"""\bzeroHeight\s*=\s*["'](?:1|true)["']""", xml) is not None
        for row in ROW.finditer(xml):
            said = dict(ATTRIBUTE.findall(row[1]))
            at = int(said.get("r", at + 1))
            hides = said.get("hidden") in ("1", "true") if "hidden" in said else unset and "ht" not in said
            if hides or said.get("ht") in ("0", "0.0"):
                unseen.rows.add(at)
        for column in COLUMN.finditer(xml, 0, max(xml.find("sheetData"), 0)):
            said = dict(ATTRIBUTE.findall(column[1]))
            if said.get("hidden") in ("1", "true") or said.get("width") in ("0", "0.0"):
                unseen.columns |= set(range(int(said["min"]), min(int(said["max"]), WIDEST) + 1))
    unseen.errors = [place for tag in ERROR_CELL.finditer(xml) if (place := _place(tag[1]))]
    for tag in FORMULA.finditer(xml):
        # An empty text is a value, which Excel writes as one: t="str" with an empty <v>.
        if not (tag[2] and 't="str"' in tag[1]) and (place := _place(tag[1])):
            unseen.uncomputed.append(place)
    if styles := shapes.keys() | crossed:
        styled = re.compile(rf"""<(?:\w++:)?c\b(?=[^<>]*?\bs\s*+=\s*+["']({"|".join(styles)})["'])([^<>]*+)>(?!</)""")
        tags = (tag for tag in styled.finditer(xml) if not tag[2].endswith("/"))
        found = [(tag[1], place) for tag in tags if (place := _place(tag[2]))]
        unseen.shapes = {place: shapes[style] for style, place in found if style in shapes}
        unseen.crossed = [place for style, place in found if style in crossed]
    return unseen


def _place(attributes: str) -> Place | None:
    found = re.search(r"""\b(?:r|ref)\s*=\s*["']([A-Z]+)([0-9]+)["']""", attributes)
    return (int(found[2]), column_number(found[1])) if found else None


def _reach(xml: str) -> Place:
    """Return the last row and the last column with a cell that may hold something."""
    if OUTSIDE.search(xml):
        raise ValueError("a place of a cell is written with entities")
    rows, columns, cells = 0, set[str](), 0
    for letters, row, rest in WHERE.findall(xml):
        cells += 1
        if not rest.endswith("/"):
            columns.add(letters)
            rows = max(rows, int(row))
    tags = len(re.findall(r"<(?:\w++:)?c[\s/>]", xml))
    unplaced = max(tags - cells, 0)  # cells that stand where the one before ends
    rows = max(rows, len(ROW.findall(xml)) if unplaced else 0)
    return rows, max(map(column_number, columns), default=0) + min(unplaced, WIDEST)


def _styles(archive: zipfile.ZipFile) -> tuple[dict[str, Shape], set[str]]:
    """Return the styles of a workbook that show more digits or signs than a number has, by their number, and those that
    cross a cell out.
    """
    if "xl/styles.xml" not in archive.namelist():
        return {}, set()
    tree = ElementTree.fromstring(archive.read("xl/styles.xml"))
    codes = {it.get("numFmtId", ""): it.get("formatCode", "") for it in tree.iter() if it.tag.endswith("}numFmt")}
    styles = next((it for it in tree.iter() if it.tag.endswith("}cellXfs")), None)
    if styles is None:
        return {}, set()
    codes = _BUILT_IN | codes
    found = {str(at): shape_of(codes.get(style.get("numFmtId", ""), "")) for at, style in enumerate(styles)}
    fonts = next((it for it in tree.iter() if it.tag.endswith("}fonts")), ())
    lined = {
        str(at)
        for at, font in enumerate(fonts)
        for it in font
        if it.tag.endswith("}strike") and it.get("val") in (None, "1", "true")
    }
    crossed = {str(at) for at, style in enumerate(styles) if style.get("fontId") in lined}
    return {style: shape for style, shape in found.items() if shape is not None}, crossed


ODS_TAG: Final = re.compile(r"<table:(table|table-column|table-row|table-cell|covered-table-cell)(?=[\s/>])([^<>]*+)>")
HIDDEN: Final = re.compile(r'table:visibility="(?:collapse|filter)"')
MAY_HOLD: Final = re.compile(r'value-type="|table:formula=')


def _of_ods(sheet: str | None, xml: str) -> Unseen:
    unseen, name = Unseen(), escape(sheet or "", {'"': "&quot;"})
    row, column, width, here = 0, 0, 0, False
    for kind, said in (tag.groups() for tag in ODS_TAG.finditer(xml)):
        if kind == "table":
            row = width = 0
            here = sheet is None or any(f"table:name={quote}{name}{quote}" in said for quote in "\"'")
        elif not here:
            continue
        elif kind == "table-column":
            times = _times(said, "columns")
            if HIDDEN.search(said) and width < WIDEST:
                unseen.columns |= set(range(width + 1, min(width + times, WIDEST) + 1))
            width += times
        elif kind == "table-row":
            last, times = row + 1, _times(said, "rows")
            row, column = row + times, 0
            if HIDDEN.search(said):
                unseen.rows |= set(range(last, min(row, 1 << 20) + 1))
        else:
            times = _times(said, "columns")
            if MAY_HOLD.search(said):
                unseen.cell(row, column + times)
                unseen.errors += [(row, column + 1)] * ('value-type="error"' in said)
            column += times
    return unseen


def _times(said: str, of: str) -> int:
    found = re.search(rf'table:number-{of}-repeated="(\d+)"', said)
    return int(found[1]) if found else 1


# Of a number, from left to right: places of digits (0 or #), and texts, each behind a quote. Of a share "%" and how
# many places it shows, of a length of time "[" and its format, of a day "y".
Shape = tuple[str, ...]
_BUILT_IN: Final = dict.fromkeys(("14", "15", "16", "17", "22"), "yyyy-mm-dd") | {  # which no file spells out
    "9": "0%",
    "10": "0.00%",
    "46": "[h]:mm:ss",
}
_ASIDE: Final = re.compile(r'"[^"]*"|\\.|_.|\*.|\[(?![hms]++\])[^\][]*+\]', re.IGNORECASE)
TOKEN: Final = re.compile(
    r"""\[\$[^\]]{0,255}\]|\[[<>=][^\]]{0,255}\]|\[[A-Za-z]{1,255}\d{0,255}\]|"([^"]{0,255})"|"""
    r"""\\(.)|_.|\*.|([0#?])|([-+ ()/.:])|(.)""",
    re.DOTALL,
)


@cache
def shape_of(code: str) -> Shape | None:
    """Return how a format shows whole numbers; None where it shows their digits and nothing that matters beside them.

    Example:
        >>> shape_of('"+"0'), shape_of("00000000000") is None, shape_of("#,##0.00"), shape_of("dd.mm.yyyy")
        (('"+', '0'), False, None, ('y',))
        >>> shape_of("0.0%"), shape_of("[h]:mm")
        (('%', '1'), ('[', '[h]:mm'))
    """
    bare = _ASIDE.sub("", code.split(";")[0]).lower()
    if "%" in bare:
        return ("%", str(len(re.sub(r"[^0#?]", "", bare.partition(".")[2]))))
    if re.search(r"\[[hms]+\]", bare):
        return ("[", bare)
    if re.search("[yd]", bare) and not re.search(r"[#?]|(?<![.0])0", bare):
        return ("y",)
    shape: list[str] = []
    for token in TOKEN.finditer(code.split(";")[0]):
        quoted, escaped, digit, sign, other = token.groups()
        if other is not None or sign == ".":
            return None
        if digit:
            shape.append("0" if digit == "0" else "#")
        elif text := quoted if quoted is not None else escaped or sign:
            shape.append(f'"{text}')
    matters = shape.count("0") > 1 or any(part[0] == '"' and re.search(r"[+0-9]", part) for part in shape)
    return tuple(shape) if matters and ("0" in shape or "#" in shape) else None


_UNITS: Final = {"h": 3600, "m": 60, "s": 1}


def shown(number: float, shape: Shape) -> str | None:
    """Return a number as a format shows it; None where that is its text. What a day 0 shows, is none: "".

    Example:
        >>> shown(1761234567, shape_of("00000000000")), shown(49176, shape_of('"+"0')), shown(176, shape_of('"+49 "0'))
        ('01761234567', '+49176', '+49 176')
        >>> shown(1761234567, shape_of("0000-0000000"))
        '0176-1234567'
        >>> shown(0.155, shape_of("0%")), shown(0.2, shape_of("0.0%")), shown(1.25, shape_of("[h]:mm"))
        ('16%', '20.0%', '30:00')
    """
    if shape[0] == "%":
        share = half_up(exact(number).scaleb(2, CONTEXT), int(shape[1]))
        return f"{share:f}%"
    if shape[0] == "y":
        return "" if number == 0 else None
    if shape[0] == "[":
        return _elapsed(round(abs(number) * 86400), shape[1], "-" * (number < 0))
    if number < 0 or not float(number).is_integer() or number >= 2**53:
        return None
    digits = list(str(int(number)))
    places = [at for at, part in enumerate(shape) if part in "0#"]
    written: list[str] = []
    for at in range(len(shape) - 1, -1, -1):
        part = shape[at]
        if part[0] == '"':
            written.append(part[1:])
        elif at == places[0]:
            written.append("".join(digits) or ("0" if part == "0" else ""))
        elif digits:
            written.append(digits.pop())
        elif part == "0":
            written.append("0")
    return "".join(reversed(written))


def _elapsed(seconds: int, code: str, sign: str = "") -> str:
    """Return a length of time as a format such as [h]:mm shows it: the first unit takes all that is more."""
    rest = seconds

    def unit(found: re.Match[str]) -> str:
        nonlocal rest
        many, rest = divmod(rest, _UNITS[found[0].strip("[]")[0]])
        return f"{many:0{len(found[0].strip('[]'))}d}"

    return sign + re.sub(r"\[?(h+|m+|s+)\]?", unit, code)


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


def of_xlsb(part: bytes) -> Unseen:
    unseen, row = Unseen(), 0
    for number, at, _ in _records(part):
        if number == 0:  # BrtRowHdr
            row = int.from_bytes(part[at : at + 4], "little") + 1
            if part[at + 11] & 0x10:  # fDyZero
                unseen.rows.add(row)
        elif 2 <= number <= 11:  # cells with a value; 1 is a blank one
            unseen.cell(row, int.from_bytes(part[at : at + 4], "little") + 1, error=number in (3, 11))
    return unseen


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


def of_xls(content: bytes, sheet: str) -> Unseen:
    book = _stream(content, ("Workbook", "Book"))
    unseen = Unseen()
    start = _xls_sheets(book).get(sheet)
    for number, at, size in () if start is None else _xls_records(book, start):
        if number == 0x208 and book[at + 12] & 0x20:  # ROW, fDyZero
            unseen.rows.add(int.from_bytes(book[at : at + 2], "little") + 1)
        elif number in (0x06, 0xBD, 0x201, 0x203, 0x204, 0x205, 0x27E, 0xFD, 0xD6):
            row, column = struct.unpack_from("<HH", book, at)
            last = int.from_bytes(book[at + size - 2 : at + size], "little") if number == 0xBD else column  # MULRK
            if number != 0x201:  # BLANK
                in_formula = number == 0x06 and book[at + 6] == 2 and book[at + 12 : at + 14] == b"\xff\xff"
                unseen.cell(row + 1, last + 1, error=in_formula or (number == 0x205 and book[at + 7] == 1))
    return unseen


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
