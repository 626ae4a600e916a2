"""Files that others made: bombs, damaged bytes and impossible sizes end in our words, soon and in little memory."""

from __future__ import annotations

import os
import random
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from smsotp_nb import Folder, plan, read_recipients, recipients, results
from smsotp_nb.errors import SmsOtpError, UsageError

PEOPLE = pd.DataFrame({"phone": ["+12025550123", "+12025550145"], "name": ["Ann", None], "n": [1, 2]})


def workbook(folder: Path, change: Callable[[bytes], bytes] = bytes) -> Path:
    """A workbook of people whose sheet is changed in its XML."""
    PEOPLE.to_excel(folder / "plain.xlsx", index=False)
    file = folder / "people.xlsx"
    with (
        zipfile.ZipFile(folder / "plain.xlsx") as plain,
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as changed,
    ):
        for part in plain.namelist():
            content = plain.read(part)
            changed.writestr(part, change(content) if part.endswith("sheet1.xml") else content)
    return file


def beyond(xml: bytes) -> bytes:
    return xml.replace(b'r="2"', b'r="99999999999"').replace(b'r="A2"', b'r="A99999999999"')


def blown_up(xml: bytes) -> bytes:
    return xml.replace(b"</sheetData>", b" " * 50_000_000 + b"</sheetData>")


def many_columns(xml: bytes) -> bytes:
    cells = b"".join(b'<c r="%s4"><v>1</v></c>' % name for name in (b"A", b"ZZZ"))
    return xml.replace(b"</sheetData>", b'<row r="4">%s</row></sheetData>' % cells)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (beyond, "rows, and at most"),
        (blown_up, "unpacks to 50 MB"),
        (many_columns, "columns, and at most"),
        (lambda _: b"<worksheet", "cannot be read as a workbook: it is damaged"),
    ],
    ids=["row", "bomb", "columns", "xml"],
)
@pytest.mark.parametrize("read", [read_recipients, results.read])
def test_a_workbook_that_asks_for_too_much_is_refused(
    tmp_path: Path, change: Callable[[bytes], bytes], said: str, read: Callable[[Path], object]
) -> None:
    with pytest.raises(UsageError, match=said):
        read(workbook(tmp_path, change))


def test_what_a_sheet_says_of_its_size_does_not_count(tmp_path: Path) -> None:
    def large(xml: bytes) -> bytes:
        return xml.replace(b"<sheetData>", b'<dimension ref="A1:ZZZ99999999"/><sheetData>')

    assert read_recipients(workbook(tmp_path, large)).shape == (2, 3)


@pytest.mark.parametrize("header", [",".join(f"c{n}" for n in range(4_001)), "phone" + "," * 1_000_000])
def test_a_header_without_end_is_refused(tmp_path: Path, header: str) -> None:
    file = tmp_path / "people.csv"
    file.write_text(f"{header}\n1\n")
    with pytest.raises(UsageError, match=r"columns, and at most 4,000 are read"):
        read_recipients(file)


def test_a_text_that_a_parquet_file_repeats_is_counted_as_often_as_it_is_used(tmp_path: Path) -> None:
    file = tmp_path / "people.parquet"
    repeated = pa.DictionaryArray.from_arrays(pa.array([0] * 20_000, pa.int32()), pa.array(["x" * 100_000]))
    pq.write_table(pa.table({"phone": repeated}), file)
    assert file.stat().st_size < 10_000
    with pytest.raises(UsageError, match=r"unpacks to 2,000 MB"):
        read_recipients(file)


# Columns, the value of all their rows, how many rows, and how it is written.
SWOLLEN: dict[str, tuple[list[str], pa.Scalar, int, dict[str, Any]]] = {
    "one text in a page": (["phone"], pa.scalar("x" * 3_000), 100_000, {"use_dictionary": False}),
    "numbers": ([f"c{n}" for n in range(4)], pa.scalar(7), 3_000_000, {}),
    "wide values": (["phone"], pa.scalar(b"x" * 3_000, pa.binary(3_000)), 100_000, {}),
}


@pytest.mark.parametrize("kind", SWOLLEN)
def test_a_parquet_file_is_refused_by_what_it_says_of_itself(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A few kilobytes that unpack to gigabytes are not unpacked to find that out."""
    columns, value, rows, options = SWOLLEN[kind]
    file = tmp_path / "people.parquet"
    pq.write_table(
        pa.table(dict.fromkeys(columns, pa.repeat(value, rows))),
        file,
        compression="zstd",
        data_page_size=1 << 30,
        **options,
    )
    assert file.stat().st_size < 200_000
    monkeypatch.setattr(pq, "read_table", None)
    for read in (read_recipients, results.read):
        with pytest.raises(UsageError, match=r"people\.parquet unpacks to .* MB, which is more than a list needs"):
            read(file)
    with pytest.raises(UsageError, match=r"unpacks to"):
        plan(Folder(tmp_path, into=tmp_path / "plan"), "Hi", to=columns[0], campaign="autumn")


def test_a_column_of_lists_is_refused_unread(tmp_path: Path) -> None:
    """Two million numbers in one cell take a few bytes."""
    ends = pa.array([0, 1_000_000, 2_000_000], pa.int32())
    file = tmp_path / "people.parquet"
    pq.write_table(pa.table({"tags": pa.ListArray.from_arrays(ends, pa.repeat(pa.scalar(7), 2_000_000))}), file)
    with pytest.raises(UsageError, match=r"people\.parquet has several values in each cell of column 'tags'"):
        read_recipients(file)


def test_a_list_whose_columns_repeat_is_read(tmp_path: Path) -> None:
    rows = 100_000
    people = pd.DataFrame({"phone": [f"+1303{5550000 + n}" for n in range(rows)]})
    people = people.assign(**{f"same{n}": "a text that everybody has" for n in range(30)})
    people.to_parquet(tmp_path / "people.parquet")
    assert len(read_recipients(tmp_path / "people.parquet")) == rows


def test_bytes_of_a_parquet_file_that_are_no_text_are_refused_as_it_is_read(tmp_path: Path) -> None:
    """pyarrow takes a writer's word for it, and whoever computes with the text fails later."""
    file = tmp_path / "people.parquet"
    raw = pa.Array.from_buffers(pa.string(), 1, pa.array([b"+1202555\xff"]).buffers())
    pq.write_table(pa.table({"phone": raw}), file)
    damaged = pytest.raises(UsageError, match=r"people\.parquet cannot be read as Parquet: it is damaged")
    with damaged:
        read_recipients(file)


@pytest.mark.filterwarnings("ignore::smsotp_nb.errors.SmsOtpWarning")
@pytest.mark.parametrize("ending", ["xlsx", "parquet", "csv"])
def test_flipped_bits_end_in_our_words(tmp_path: Path, ending: str) -> None:
    """A thousand damaged files: each is read or refused, and nothing else is raised."""
    file = tmp_path / f"people.{ending}"
    make = {"xlsx": PEOPLE.to_excel, "parquet": PEOPLE.to_parquet, "csv": PEOPLE.to_csv}[ending]
    make(file, **({} if ending == "parquet" else {"index": False}))  # type: ignore[operator]
    whole, chance, refused = file.read_bytes(), random.Random(22), 0
    for _ in range(330):
        damaged = bytearray(whole)
        for _ in range(chance.choice([1, 1, 2, 8])):
            damaged[chance.randrange(len(damaged))] ^= 1 << chance.randrange(8)
        file.write_bytes(damaged[: chance.choice([len(damaged), chance.randrange(len(damaged))])])
        try:
            read_recipients(file)
        except SmsOtpError:
            refused += 1
    assert refused or ending == "csv"


@pytest.mark.parametrize("error", [RecursionError(), MemoryError(), KeyError("a"), AttributeError("b" * 5000)])
def test_whatever_a_library_raises_becomes_one_short_error(
    error: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "list.parquet"
    pq.write_table(pa.table({"phone": ["1"]}), file)

    def fails(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(pq, "ParquetFile", fails)
    with pytest.raises(UsageError, match=r"list\.parquet cannot be read as Parquet") as caught:
        read_recipients(file)
    assert caught.value.__suppress_context__
    assert len(str(caught.value)) < 400


def test_a_quote_that_is_never_closed_is_told_in_linear_time(tmp_path: Path) -> None:
    file, seconds = tmp_path / "open.csv", []
    for size in (1 << 22, 1 << 24):
        file.write_text('phone,"' + "a" * size, encoding="utf-8")
        times = []
        for _ in range(3):
            began = time.process_time()
            with pytest.raises(UsageError, match="a quote is not closed"):
                read_recipients(file)
            times.append(time.process_time() - began)
        seconds.append(min(times))
    assert seconds[1] < 8 * seconds[0]  # the rest of the file was copied for each piece: it took 16 times as long


@pytest.mark.skipif(not os.path.exists("/proc/self/mem"), reason="no file that fails when it is read")
def test_a_file_whose_disk_fails_is_named() -> None:
    with pytest.raises(UsageError, match=r"/proc/self/mem cannot be read: Input/output error; see that its disk"):
        read_recipients("/proc/self/mem")
    with pytest.raises(UsageError, match="/proc/self/mem cannot be read"):
        next(recipients.read_chunks("/proc/self/mem"))


@pytest.mark.parametrize("place", ['r="XFD1048576"', "r = 'XFD1048576'", 'r="&#88;FD1048576"'])
@pytest.mark.parametrize("tag", ["c", "x:c"])
def test_a_stray_cell_in_the_last_corner_is_refused(tmp_path: Path, place: str, tag: str) -> None:
    """Whoever makes room for the whole rectangle needs 200 GB, and the process ends without a word."""
    cell = f'<row r="1048576"><{tag} {place}><v>1</v></{tag}></row></sheetData>'.encode()
    with pytest.raises(UsageError, match=r"reach from A1 to XFD1048576.*delete what stands far|cannot be read"):
        read_recipients(workbook(tmp_path, lambda xml: xml.replace(b"</sheetData>", cell)))
