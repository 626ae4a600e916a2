"""A list is read without losing a sign of it."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator
from datetime import date
from decimal import Decimal
from itertools import islice
from pathlib import Path

import openpyxl
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.dtypes import dtype_names

from smsotp_nb import results
from smsotp_nb._recipients import comma
from smsotp_nb._recipients.records import Record
from smsotp_nb.errors import SmsOtpWarning, UsageError
from smsotp_nb.recipients import read_chunks, read_recipients

PLUS = "+14155550100"


def written(folder: Path, text: str | bytes, name: str = "people.csv") -> Path:
    file = folder / name
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


def workbook(folder: Path, *rows: list[object], sheets: tuple[str, ...] = ("People",)) -> Path:
    book = openpyxl.Workbook()
    book.active.title = sheets[0]
    for row in rows:
        book.active.append(row)
    for sheet in sheets[1:]:
        book.create_sheet(sheet).append(["phone"])
    book.save(folder / "people.xlsx")
    return folder / "people.xlsx"


def test_plus_zero_and_namibia_survive(tmp_path: Path) -> None:
    """Every column is str; only blank cells are missing."""
    frame = read_recipients(written(tmp_path, f"phone,country\n{PLUS},NA\n07700900123,\n1.0,nan\n  ,None\n"))
    assert list(dtype_names(frame).values()) == ["str", "str"]
    assert frame["phone"].tolist()[:3] == [PLUS, "07700900123", "1.0"]
    assert frame["country"].tolist()[::2] == ["NA", "nan"]
    assert frame.isna().sum().tolist() == [1, 1]


@pytest.mark.parametrize("sign", [",", ";", "\t", "|"], ids=["comma", "semicolon", "tab", "pipe"])
def test_separator_is_found(tmp_path: Path, sign: str) -> None:
    """Decimal commas and commas in names do not mislead the guess."""
    rows = [["name", "phone", "spent"], ["Zoë", PLUS, "1.5"], ["Bo", "0491570156", "2"]]
    text = "\n".join(sign.join(row) for row in rows)
    assert read_recipients(written(tmp_path, text))["phone"].tolist() == [PLUS, "0491570156"]
    commas = read_recipients(written(tmp_path, "name;phone;spent\nDoe, J;1;1,5\nRoe, K;2;2,5\n"))
    assert commas.attrs["smsotp_nb"]["separator"] == ";"


def test_given_encoding_is_obeyed(tmp_path: Path) -> None:
    """encoding= is used as given; one that does not fit or does not exist is an error."""
    file = written(tmp_path, "name\nПётр\n".encode("cp1251"))
    assert read_recipients(file, encoding="cp1251")["name"][0] == "Пётр"
    with pytest.raises(UsageError, match="is not utf-8"):
        read_recipients(file, encoding="utf-8")
    with pytest.raises(UsageError, match="not known"):
        read_recipients(file, encoding="klingon")


def test_quoted_separators_and_line_breaks_stay_in_their_cell(tmp_path: Path) -> None:
    """Quoting follows CSV's rules; a formula cell keeps its signs."""
    frame = read_recipients(written(tmp_path, f'name,phone\r\n"Doe, ""JJ""\nJr","=""{PLUS}"""\r\n'))
    assert frame.loc[0].tolist() == ['Doe, "JJ"\nJr', f'="{PLUS}"']


def test_wide_rows_are_refused_with_their_lines(tmp_path: Path) -> None:
    """Cells beyond the header are never cut off: the error names the lines, counted as an editor counts them."""
    file = written(tmp_path, 'name,phone\n"a\nb",1\nDoe,Jane,2\n\nx,3,\n')
    with pytest.raises(UsageError, match="line 4: 3 of 2 cells") as caught:
        read_recipients(file)
    assert caught.value.problems == ("line 4: 3 of 2 cells",)


def test_short_rows_are_kept_and_said(tmp_path: Path) -> None:
    """A row with fewer cells is completed with blanks, aloud."""
    with pytest.warns(SmsOtpWarning, match="line 3: 1 of 2 cells"):
        frame = read_recipients(written(tmp_path, "phone,country\n1,US\n2\n"))
    assert frame["country"].isna().tolist() == [False, True]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is empty"),
        ("\n\n , \n", "is empty"),
        ("phone,phone\n1,2\n", "more than one column named 'phone'"),
        ('name,phone\n"Doe,1\nRoe,2\n', "quote is not closed"),
        ("a\0b\n", "zero bytes"),
    ],
    ids=["empty", "blank", "twice", "open quote", "binary"],
)
def test_unusable_files_are_explained(tmp_path: Path, text: str, says: str) -> None:
    """Trouble with a file names the file and the trouble."""
    with pytest.raises(UsageError, match=says):
        read_recipients(written(tmp_path, text))


def test_header_without_rows_is_an_empty_frame(tmp_path: Path) -> None:
    """Columns are there, as text; nameless columns are called by their place."""
    frame = read_recipients(written(tmp_path, "phone,,name,,\n"))
    assert frame.columns.tolist() == ["phone", "column_2", "name"]
    assert frame.empty
    assert set(dtype_names(frame).values()) == {"str"}


def test_a_missing_file_is_explained(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="pass the path"):
        read_recipients(tmp_path / "nowhere.csv")


def test_workbook_cells_become_text(tmp_path: Path) -> None:
    """Text numbers stay text; numeric cells lose .0 and exponent; dates are ISO."""
    file = workbook(
        tmp_path,
        ["phone", "raw", "since", "country"],
        [PLUS, 14155550100.0, date(2026, 1, 2), "NA"],
        ["07700900123", 14155550100, None, None],
        [None, 1.5, 2, True],
    )
    frame = read_recipients(file)
    assert frame["phone"].tolist()[:2] == [PLUS, "07700900123"]
    assert frame["raw"].tolist() == ["14155550100", "14155550100", "1.5"]
    assert frame["since"][0] == "2026-01-02"
    assert frame["country"].dropna().tolist() == ["NA", "True"]
    assert set(dtype_names(frame).values()) == {"str"}


def test_sheet_is_chosen_by_name_or_place(tmp_path: Path) -> None:
    """An unknown sheet lists those there are."""
    file = workbook(tmp_path, ["name"], ["Zoë"], sheets=("People", "Other"))
    assert read_recipients(file)["name"].tolist() == ["Zoë"]
    assert read_recipients(file, sheet=1).columns.tolist() == read_recipients(file, sheet="Other").columns.tolist()
    with pytest.raises(UsageError, match="'People', 'Other'"):
        read_recipients(file, sheet="Third")


def test_broken_workbook_is_named(tmp_path: Path) -> None:
    """A file that is no workbook says so."""
    file = written(tmp_path, "not a workbook", "broken.xlsx")
    with pytest.raises(UsageError, match=r"broken\.xlsx cannot be read"):
        read_recipients(file)


def test_parquet_cells_become_text(tmp_path: Path) -> None:
    """Floats of phone numbers, decimals, categories and blanks come out as text."""
    frame = pd.DataFrame(
        {
            "phone": [14155550100.0, None],
            "country": pd.Categorical(["NA", None]),
            "spent": [Decimal("1E+3"), Decimal("2.50")],
            "n": [1, 2],
            "note": ["", "x"],
            "name": ["Jörg".encode(), None],
        }
    )
    frame.to_parquet(tmp_path / "people.parquet")
    read = read_recipients(tmp_path / "people.parquet")
    assert set(dtype_names(read).values()) == {"str"}
    assert read.loc[0, ["phone", "country", "spent", "n"]].tolist() == ["14155550100", "NA", "1000.00", "1"]
    assert read.isna().sum().tolist() == [1, 1, 0, 0, 1, 1]
    assert read["name"][0] == "Jörg"


@pytest.mark.parametrize("kind", ["csv", "xlsx", "parquet"])
def test_chunks_are_the_file_in_parts(tmp_path: Path, kind: str) -> None:
    """Chunk by chunk the same rows come, under an index that goes on."""
    people = pd.DataFrame({"name": ["Zoë", None, "Bo", "Cy", "Di"], "phone": [PLUS, "07700900123", None, "1", "NA"]})
    file = tmp_path / f"people.{kind}"
    {"csv": people.to_csv, "xlsx": people.to_excel, "parquet": people.to_parquet}[kind](file, index=False)  # type: ignore[operator]
    chunks = list(read_chunks(file, rows=2))
    assert [len(chunk) for chunk in chunks] == [2, 2, 1]
    pd.testing.assert_frame_equal(pd.concat(chunks), read_recipients(file))


CELLS = [
    "",
    "a",
    "b c",
    " ",
    '"x"',
    '"y\nz"',
    '"p""q"',
    '"a,b"',
    'c"d',
    "é",
    '""',
    '"',
    '"o"p',
    "\x1c",
    "\u2003",
    "+1",
    "NA",
]
ENDS = ["\n", "\r\n", "\r", "\n\n"]
ROWS = st.lists(st.tuples(st.lists(st.sampled_from(CELLS), min_size=1, max_size=4), st.sampled_from(ENDS)), max_size=8)


def what_comes(file: Path, rows: int | None = None) -> object:
    """Everything that a caller sees of a file: names, row numbers, cells and warnings, or that it is refused."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            parts = [read_recipients(file, sep=",")] if rows is None else []
            parts = parts or list(read_chunks(file, sep=",", rows=rows or 1))
        except UsageError:
            return "refused"
    frame = pd.concat(parts)
    cells = frame.astype(object).where(frame.notna(), None).to_numpy().tolist()
    return frame.columns.tolist(), frame.index.tolist(), cells, [str(warning.message) for warning in said]


@settings(deadline=None, max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=ROWS, width=st.integers(1, 4), even=st.booleans(), piece=st.sampled_from([5, 30, 1 << 22]))
def test_the_fast_reader_reads_as_the_strict_one(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    rows: list[tuple[list[str], str]],
    width: int,
    even: bool,
    piece: int,
) -> None:
    """Block by block with Arrow, wherever the blocks end, the same comes as record by record with Python's reader."""
    body = "".join(",".join((cells * 4)[:width] if even else cells) + end for cells, end in rows)
    file = written(tmp_path, ",".join("hijk"[:width]) + "\n" + body)
    with monkeypatch.context() as changed:
        changed.setattr(comma, "PIECE", piece)
        fast, chunks = what_comes(file), what_comes(file, rows=2)
        changed.setattr(comma, "_grammar", lambda sign: None)
        assert fast == chunks == what_comes(file)


@pytest.mark.parametrize("piece", [4, 8, 1000])
def test_the_fast_reader_is_the_one_that_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, piece: int) -> None:
    """Else the test above would compare the strict reader with itself; a piece may end where a record does."""
    monkeypatch.setattr(comma, "PIECE", piece)
    file = written(tmp_path, 'name,ph\n"a\nb",1\n\nc,\n')
    monkeypatch.setattr(comma, "_strict", only_header(comma._strict))
    assert read_recipients(file).index.tolist() == [2, 4]


def only_header(strict: Callable[..., Iterator[Record]]) -> Callable[..., Iterator[Record]]:
    return lambda *given: islice(strict(*given), 1)


def test_blocks_are_read_across_their_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cells of many lines, rows that do not fit, and numbers that go on from block to block."""
    monkeypatch.setattr(comma, "PIECE", 1000)
    rows = [f'"{n}\n\n{"x" * (n % 90)}",{n}' if n % 7 else f"short {n}" for n in range(2_000)]
    file = written(tmp_path, "note,n\n" + "\n".join(rows))
    with pytest.warns(SmsOtpWarning, match=r"286 rows have fewer .*line 2: 1 of 2 cells; line 21: 1 of 2") as said:
        frame = read_recipients(file)
    assert len(said) == 1, "one warning for the whole file"
    assert frame.index.tolist() == list(range(2, 2_002))
    assert frame["note"].str.split("\n").str[0].str.removeprefix("short ").tolist() == [str(n) for n in range(2_000)]


@pytest.mark.filterwarnings("ignore:.*is not UTF-8:smsotp_nb.errors.SmsOtpWarning")
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "cp1252"])
@pytest.mark.parametrize("piece", [3, 5, 64])
def test_a_sign_is_not_cut_where_a_piece_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, encoding: str, piece: int
) -> None:
    monkeypatch.setattr(comma, "PIECE", piece)
    file = written(tmp_path, "näme,phone\r\nZoë €,1\r\nBo,2\r\n".encode(encoding))
    assert read_recipients(file)["näme"].tolist() == ["Zoë €", "Bo"]


@pytest.mark.parametrize("kind", ["xlsx", "parquet", "csv"])
def test_rows_are_numbered_as_the_file_shows_them(tmp_path: Path, kind: str) -> None:
    """A spreadsheet's header is row 1 and its blank rows count; a Parquet file has rows only."""
    if kind == "parquet":
        pd.DataFrame({"phone": ["1", "2"]}).to_parquet(tmp_path / "people.parquet")
    elif kind == "csv":
        written(tmp_path, "\n,\nphone,x\n1,\n,\n2,\n")
    else:
        workbook(tmp_path, [None], [""], ["phone"], [1], [None], [2])
    frame = read_recipients(tmp_path / f"people.{kind}")
    assert frame.index.tolist() == ([1, 2] if kind == "parquet" else [4, 6])
    assert frame.index.name == "row"
    chunks = read_chunks(tmp_path / f"people.{kind}", rows=1)
    assert [chunk.index.tolist() for chunk in chunks] == [[number] for number in frame.index]


@pytest.mark.parametrize(
    ("kind", "says"),
    [("folder", "is a folder"), ("pipe", "is a pipe or a device"), ("device", "is a pipe or a device")],
)
def test_what_is_no_file_is_explained(tmp_path: Path, kind: str, says: str) -> None:
    """Nothing waits for a pipe that nobody fills."""
    path = Path("/dev/zero") if kind == "device" else tmp_path / "people.csv"
    if kind != "device":
        os.mkfifo(path) if kind == "pipe" else path.mkdir()
    with pytest.raises(UsageError, match=says):
        read_recipients(path)


def test_a_header_alone_is_one_empty_chunk(tmp_path: Path) -> None:
    """Whoever goes through the chunks sees the columns in any case."""
    chunks = list(read_chunks(written(tmp_path, "phone,name\n")))
    assert [chunk.columns.tolist() for chunk in chunks] == [["phone", "name"]]
    with pytest.raises(UsageError, match="rows=0"):
        read_chunks(tmp_path, rows=0)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        pytest.param({"sep": "||"}, "sep='||': pass the one character", id="two signs"),
        pytest.param({"sep": 5}, "sep=5: pass the one character", id="sep a number"),
        pytest.param({"sep": ""}, "sep='': pass the one character", id="sep empty"),
        pytest.param({"encoding": b"utf-8"}, "encoding=b'utf-8': pass a name", id="encoding as bytes"),
        pytest.param({"path": None}, "path must be the text or Path of a file, not None", id="no path"),
        pytest.param({"path": b"people.csv"}, "not bytes", id="path as bytes"),
        pytest.param({"path": ["people.csv"]}, "not list", id="list of paths"),
    ],
)
def test_odd_arguments_are_named(tmp_path: Path, given: dict[str, object], says: str) -> None:
    """Both readers say what was expected, before anything is read."""
    arguments = {"path": written(tmp_path, "phone,name\n1,Ada\n")} | given
    for read in (read_recipients, lambda **them: next(read_chunks(**them))):
        with pytest.raises(UsageError) as caught:
            read(**arguments)  # type: ignore[arg-type]
        assert says in str(caught.value)


@pytest.mark.parametrize("rows", [0, None, "5", 2.5], ids=repr)
def test_an_impossible_number_of_rows_is_named(tmp_path: Path, rows: object) -> None:
    with pytest.raises(UsageError, match="pass the maximum number of rows"):
        next(read_chunks(written(tmp_path, "phone\n1\n"), rows=rows))  # type: ignore[arg-type]


def test_cells_under_a_blank_header_are_explained(tmp_path: Path) -> None:
    """A blank end of the header is dropped with its blank cells; filled cells there are an error that says why."""
    assert read_recipients(written(tmp_path, "phone,,\n1,,\n")).columns.tolist() == ["phone"]
    assert read_recipients(written(tmp_path, ",phone\nAda,1\n")).columns.tolist() == ["column_1", "phone"]
    with pytest.raises(UsageError, match=r"line 3: 3 of 1 cells.*; the header is blank after 'phone'") as caught:
        read_recipients(written(tmp_path, "phone,,\n1,,\n2,,Ada\n"))
    assert len(caught.value.problems) == 1
    with pytest.raises(UsageError, match="'column_2', a nameless column is called by its place"):
        read_recipients(written(tmp_path, "phone,,column_2\n1,2,3\n"))


PEOPLE = (["Name", "Mobile"], ["Ann", PLUS], ["Bo", "+12025550101"], ["Cy", "+12025550102"])


def sheets_of(**sheets: tuple[list[object], ...]) -> openpyxl.Workbook:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    return book


def test_the_first_visible_sheet_with_a_table_is_read_and_others_are_named(tmp_path: Path) -> None:
    """A cover sheet is no table; no warning for a sheet that is named, or where the other is empty."""
    book = sheets_of(Cover=(["Our lists"], ["of 2026"]), March=PEOPLE, April=(["Name"], ["Bo"]), Notes=(["one"],))
    book.save(tmp_path / "people.xlsx")
    with pytest.warns(SmsOtpWarning, match=r"sheet 'March': is read, .* rows in 'Cover', 'April' as well: sheet="):
        read = read_recipients(tmp_path / "people.xlsx")
    assert read["Name"].tolist() == ["Ann", "Bo", "Cy"]
    assert read_recipients(tmp_path / "people.xlsx", sheet="April")["Name"].tolist() == ["Bo"]
    assert read.attrs["smsotp_nb"]["other_sheets"] == ["Cover", "April"]


def test_merged_cells_are_named(tmp_path: Path) -> None:
    """They are read like the others, but not without a word."""
    book = sheets_of(People=tuple([*row, "x"] for row in PEOPLE))
    book["People"].merge_cells("C2:C4")
    book.save(tmp_path / "people.xlsx")
    with pytest.warns(SmsOtpWarning, match=r"merged cells \(C2:C4\)"):
        assert read_recipients(tmp_path / "people.xlsx")["x"].tolist()[0] == "x"


def test_a_row_of_totals_is_no_person(tmp_path: Path) -> None:
    """The sum of a column of numbers is nobody's number."""
    rows = (["Name", "Mobile"], ["Ann", 12025550100], ["Bo", 12025550101], ["Total", 24051100201])
    sheets_of(People=rows).save(tmp_path / "people.xlsx")
    with pytest.warns(SmsOtpWarning, match=r"row 4 \('Total' and numbers\) sums up the others; left out"):
        assert read_recipients(tmp_path / "people.xlsx")["Name"].tolist() == ["Ann", "Bo"]
    for last in (["Total", PLUS], ["Suma", 919876543211]):
        sheets_of(People=(*PEOPLE, last)).save(tmp_path / "people.xlsx")
        assert read_recipients(tmp_path / "people.xlsx")["Name"].tolist()[-1] == last[0]


@pytest.mark.parametrize("name", ["clean.csv", "clean.xlsx"])
def test_the_guard_against_formulas_is_no_part_of_a_text(tmp_path: Path, name: str) -> None:
    """It is in every file that we write; in that of ``smsotp-nb clean`` it is ours, also within a cell."""
    rows = pd.DataFrame({"name": ["@Ann", "Lee", "O'Neil", "'90s"], "off": ["-20%", "+10 points", "-", "x"]})
    results.write(rows, tmp_path / name)
    with pytest.warns(SmsOtpWarning, match="4 cells begin with the apostrophe that keeps a spreadsheet from running"):
        assert read_recipients(tmp_path / name).values.tolist() == rows.values.tolist()
    rows = rows.replace("Lee", "Lee, =Bo").assign(to="+12025550123", problem="x", note="y")
    results.write(rows, tmp_path / name, overwrite=True)
    read = read_recipients(tmp_path / name)
    assert read.values.tolist() == rows.values.tolist()
