"""What a file is, by its first bytes and not by its name, and how it is opened where it is packed."""

from __future__ import annotations

import gzip
import io
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import IO, BinaryIO, Final

from .._foreign.gate import LARGE, RATIO, UNPACKED, ours
from ..errors import UsageError
from . import encodings

BOOKS: Final = ("xlsx", "xls", "xlsb", "ods")
NAMED_BOOKS: Final = (".xlsx", ".xlsm", ".xls", ".xlsb", ".ods")
OLE: Final = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
REFUSED: Final = {
    b"%PDF": ("a PDF document", "export the list as .csv or .xlsx from the program it comes from"),
    b"{\\rtf": ("a text document", "save its table as .csv or .xlsx"),
    b"\x89PNG": ("a picture", "type the list into a spreadsheet"),
    b"\xff\xd8\xff": ("a picture", "type the list into a spreadsheet"),
    b"7z\xbc\xaf\x27\x1c": ("a packed file of the kind .7z", "unpack it and read the file in it"),
    b"Rar!": ("a packed file of the kind .rar", "unpack it and read the file in it"),
    b"\x28\xb5\x2f\xfd": ("a packed file of the kind .zst", "unpack it and read the file in it"),
    b"BZh": ("a packed file of the kind .bz2", "unpack it and read the file in it"),
    b"\xfd7zXZ": ("a packed file of the kind .xz", "unpack it and read the file in it"),
    b"SQLite format 3": ("a database", "export the table as .csv"),
}
TEXTS: Final = (
    ("BEGIN:VCARD", "contacts as vCards", "export the contacts as CSV, which every address book offers"),
    (r"<\?xml|<\?mso|<Workbook", "XML", "open it in a spreadsheet program and save it as .xlsx"),
    (
        "<!doctype html|<html|<head|<table|<meta|<div",
        "a web page",
        "open it in a spreadsheet program and save it as .xlsx",
    ),
)


Opener = Callable[[], BinaryIO]


def kind_of(file: Path) -> tuple[str, Opener]:
    """Return what a file is, ``csv``, ``json``, ``parquet`` or a kind of workbook, and how to open its bytes.

    Raises:
        UsageError: it is something that holds no list to read, or a packed file of several.
    """
    opener: Opener = lambda: file.open("rb")  # noqa: E731
    with opener() as raw:
        begin = raw.read(4096)
    if begin.startswith(b"PAR1") or file.suffix.lower() in (".parquet", ".pq"):
        return "parquet", opener
    if begin.startswith(OLE):
        with opener() as raw:  # of an encrypted workbook the content is packed in a stream of a telling name
            if "EncryptedPackage".encode("utf-16-le") in raw.read(1 << 20):
                raise UsageError(
                    f"{file.name} is protected with a password; open it, save it without one, and read that"
                )
        return "xls", opener
    if begin.startswith(b"PK\x03\x04"):
        return _in_zip(file, opener)
    if begin.startswith(b"\x1f\x8b"):
        return _of_text(file, _unpacked(gzip.open(file, "rb"), file))
    return _of_text(file, opener)


def _of_text(file: Path, opener: Opener) -> tuple[str, Opener]:
    with opener() as raw:
        begin = raw.read(4096)
    for sign, (what, cure) in REFUSED.items():
        if begin.startswith(sign):
            raise UsageError(f"{file.name} is {what} and no list; {cure}")
    text = begin.decode(encodings.marked(begin) or "utf-8", "replace").lstrip()
    for pattern, what, cure in TEXTS:
        if re.match(pattern, text, re.IGNORECASE):
            raise UsageError(f"{file.name} holds {what} and no list; {cure}")
    if re.match(r'(?:\[\s*)?\{\s*["}]|\[\s*(?:\]|(?:\[\s*)?(?:"|\d{7}))', text):
        return "json", opener
    named = [suffix.lower() for suffix in file.suffixes[-2:]]
    if named and named[-1] in NAMED_BOOKS and (b"\0" in begin or begin.strip().count(b"\n") < 1):
        raise UsageError(
            f"{file.name} cannot be read as a workbook, and is none by its content; open it in the program it came "
            "from and save it anew"
        )
    return "csv", opener


def _in_zip(file: Path, opener: Opener) -> tuple[str, Opener]:
    with ours(file, "a workbook or a packed file"), zipfile.ZipFile(file) as archive:
        members = [it for it in archive.infolist() if not it.is_dir() and not it.filename.startswith("__MACOSX/")]
        names = {it.filename for it in members}
        mimetype = archive.read("mimetype") if "mimetype" in names else b""
    if "xl/workbook.bin" in names:
        return "xlsb", opener
    if any(re.fullmatch(r"xl/workbook\d*\.xml", name) for name in names):
        return "xlsx", opener
    if b"opendocument.spreadsheet" in mimetype:
        return "ods", opener
    what = {"word/document.xml": "a Word document", "Index/Document.iwa": "a Numbers or Pages document",
            "ppt/presentation.xml": "a presentation"}  # fmt: skip
    for name, named in what.items():
        if name in names or mimetype.startswith(b"application/vnd.oasis"):
            raise UsageError(
                f"{file.name} is {named if name in names else 'a text document'} and no list; save its "
                "table as .csv or .xlsx"
            )
    if file.suffix.lower() in NAMED_BOOKS:
        raise UsageError(
            f"{file.name} cannot be read as a workbook: parts are missing; open it in the program it came "
            "from and save it anew"
        )
    lists = [it for it in members if not it.filename.rpartition("/")[2].startswith(".")]
    if len(lists) != 1:
        listed = ", ".join(repr(it.filename) for it in lists[:5])
        raise UsageError(f"{file.name} holds {len(lists)} files ({listed}); unpack it and read the one that is meant")
    inner = lists[0]
    if inner.filename.lower().endswith((*NAMED_BOOKS, ".parquet", ".zip", ".gz")):
        raise UsageError(f"{file.name} holds {inner.filename!r}, which is no text; unpack it and read that")
    if inner.flag_bits & 1:
        raise UsageError(f"{file.name} is protected with a password; unpack it and read {inner.filename!r}")
    with ours(file, "a packed list"), zipfile.ZipFile(file) as archive:
        return _of_text(file, _unpacked(archive.open(inner), file))


def _unpacked(stream: IO[bytes] | gzip.GzipFile, file: Path) -> Opener:
    """Return the content of a packed file as one that can be opened again and again."""
    most = min(UNPACKED, max(LARGE, RATIO * file.stat().st_size))
    with ours(file, "a packed list"), stream:
        content = stream.read(most + 1)
    if len(content) > most:
        raise UsageError(
            f"{file.name} unpacks to more than {most / 1e6:,.0f} MB, which is more than a list needs; unpack it and "
            "read the file in it"
        )
    return lambda: io.BytesIO(content)
