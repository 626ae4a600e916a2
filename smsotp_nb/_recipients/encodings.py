"""What a text file does not say of itself: its encoding, and the sign that stands between its cells."""

from __future__ import annotations

import codecs
import csv
import io
from pathlib import Path
from typing import Final

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
