"""The result table keeps its contract: dtypes, Namibia, E.164, over every file format."""

from __future__ import annotations

import csv
import itertools
import re
from decimal import Decimal
from pathlib import Path

import numpy as np
import openpyxl
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.dtypes import STR
from support.tables import table

from smsotp_nb import cost, results
from smsotp_nb.errors import UsageError

ENDINGS = [".csv", ".xlsx", ".parquet"]
HOSTILE = [
    "=1+1",
    "-5",
    "@SUM(A1)",
    "\tx",
    "'=x",
    "''+1 ",
    "+12025550123",
    "plain",
    "",
    "a\x1b[2J",
    "_x001B_",
    'q"u,o\n;te',
    "\0=1+1",
    "'\0=1+1",
    "a;\0=1+1",
]


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_written_table_reads_back_equal(tmp_path: Path, ending: str) -> None:
    """Dtypes, microseconds, Namibia, missing cells and the order of rows come back."""
    mixed = table(
        4,
        iso=["NA", "US", None, "DE"],
        region=["NA", None, "US", "DE"],
        parts=[1, None, 2, 3],
        price=[0.1, None, 0.3, 1e3],
    )
    pd.testing.assert_frame_equal(results.read(results.write(mixed, tmp_path / f"r{ending}")), mixed)


@pytest.mark.parametrize("ending", ENDINGS)
def test_an_empty_text_is_told_from_a_missing_one(tmp_path: Path, ending: str) -> None:
    back = results.read(results.write(table(2, error_code=["", None]), tmp_path / f"r{ending}"))["error_code"]
    assert back.isna().tolist() == [False, True]


def test_quotes_tell_an_empty_text(tmp_path: Path) -> None:
    """Names stand without quotes, which says that the writer tells them apart."""
    file = results.write(table(2, error_code=["", None], error=None).assign(**{"a;b": 1}), tmp_path / "r.csv")
    head, first, second = file.read_text(encoding="utf-8-sig").splitlines()
    assert head.startswith("to,status,")
    assert head.endswith(',request_id,http_status,"a;b"')
    assert ',"",,,200,' in first
    assert ",,,,200," in second


def test_beside_a_quoted_header_quotes_around_nothing_are_missing(tmp_path: Path) -> None:
    """Also where other cells are bare: whether the writer told the two apart cannot be known."""
    file = tmp_path / "r.csv"
    texts = table(3, error_code=["7", "EMPTY", None]).to_csv(index=False, quoting=csv.QUOTE_NONNUMERIC)
    file.write_text(texts.replace('""', "").replace("EMPTY", ""), encoding="utf-8")
    assert ',"",' in file.read_text(encoding="utf-8")
    assert results.read(file)["error_code"].isna().tolist() == [False, True, True]


OTHERS = {
    "everything quoted": (table(2).to_csv(index=False, quoting=csv.QUOTE_ALL), True),
    "text quoted": (table(2).to_csv(index=False, quoting=csv.QUOTE_NONNUMERIC), True),
    "nothing quoted": (table(2).to_csv(index=False), True),
    "nothing quoted, semicolons": (table(2).to_csv(index=False, sep=";"), True),
    "missing is bare, names too": (table(2).to_csv(index=False).replace(",,,,200", ',"",,,200'), False),
    "an open quote": (table(2, iso='5"').to_csv(index=False, quoting=csv.QUOTE_NONE, quotechar="'"), True),
    "a lone quote": (table(2, iso='5"').to_csv(index=False, quotechar="'").replace(",,,,200", ',"",,,200', 1), True),
    "ends of Windows": (table(2).to_csv(index=False, lineterminator="\r\n").replace(",,,,200", ',"",,,200'), False),
}


@pytest.mark.parametrize("name", OTHERS)
def test_an_empty_text_of_others_is_read_as_they_mean_it(tmp_path: Path, name: str) -> None:
    """Whoever quotes all names quotes what is missing as well; a file with a quote that closes nothing says nothing."""
    text, missing = OTHERS[name]
    (tmp_path / "r.csv").write_bytes(text.encode())
    read = results.read(tmp_path / "r.csv")
    assert read["error_code"].isna().all() == missing
    assert read["problem"].isna().all()


@pytest.mark.parametrize("ending", ENDINGS)
def test_the_callers_own_columns_keep_their_values(tmp_path: Path, ending: str) -> None:
    """Leading zeros, texts that look like numbers, formulas and control characters come back as they were."""
    own = table(len(HOSTILE)).assign(name=HOSTILE, plz=[f"0{n}" for n in range(len(HOSTILE))], age=range(len(HOSTILE)))
    own["code"] = [str(n) for n in range(len(HOSTILE))]
    own["ratio"] = own["age"] / 3
    back = results.read(results.write(own, tmp_path / f"r{ending}"))
    assert back["name"].tolist() == HOSTILE
    assert back["plz"].tolist() == own["plz"].tolist()
    assert back["code"].tolist() == own["code"].tolist()
    assert back["age"].dtype == "int64"
    pd.testing.assert_series_equal(back["ratio"], own["ratio"])


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize(
    "index",
    [pd.Index(["b", "a", "a"]), pd.Index([7, 7, 3], name="row"), pd.Index(["007", "+1", "=1"]), pd.RangeIndex(5, 8)],
    ids=["repeated labels", "named", "hostile labels", "slice"],
)
def test_the_index_comes_back(tmp_path: Path, ending: str, index: pd.Index) -> None:
    """Row labels lead back to the caller's list, so a file keeps them too."""
    back = results.read(results.write(table(3).set_axis(index), tmp_path / f"r{ending}"))
    assert back.index.tolist() == index.tolist()
    assert back.index.name == index.name


@pytest.mark.parametrize("ending", ENDINGS)
def test_an_empty_table_keeps_its_dtypes(tmp_path: Path, ending: str) -> None:
    """A campaign of nobody is a table like any other."""
    empty = table(0)
    pd.testing.assert_frame_equal(
        results.read(results.write(empty, tmp_path / f"r{ending}")), empty, check_index_type=False
    )


def test_no_cell_of_a_spreadsheet_runs(tmp_path: Path) -> None:
    """Formulas get an apostrophe, E.164 stays whole and is text that stays text when edited."""
    hostile = table(len(HOSTILE)).assign(**{"=head": HOSTILE})
    sheet = openpyxl.load_workbook(results.write(hostile, tmp_path / "r.xlsx")).active
    cells = [cell for row in sheet.iter_rows() for cell in row]
    starts = {str(cell.value)[0] for cell in cells if isinstance(cell.value, str) and cell.value}
    assert not starts & set("=-@\t\r")
    assert all(cell.data_type != "f" for cell in cells)
    numbers = [cell for cell in cells if str(cell.value).startswith("+")]
    assert {cell.number_format for cell in numbers} == {"@"}
    assert {cell.data_type for cell in numbers} == {"s"}
    prices = next(column for column in sheet.iter_cols() if column[0].value == "price")
    assert [cell.value for cell in prices] == ["price"] + [0.0075] * len(HOSTILE)


ODD = pd.Series([b"=7+7", Path("=2+2"), ["=1+1"], "a;=1+1", "a\r=1+1;b", "\uff1d1+1"], dtype=object)
AS_TEXT = ["b'=7+7'", "=2+2", "['=1+1']", "a;=1+1", "a\r=1+1;b", "\uff1d1+1"]


@pytest.mark.parametrize("ending", [".csv", ".xlsx"])
def test_values_that_are_no_text_are_guarded_like_text(tmp_path: Path, ending: str) -> None:
    """Bytes, paths, lists: each is its text before anything looks at how it begins."""
    back = results.read(results.write(table(len(ODD)).assign(odd=ODD), tmp_path / f"r{ending}"))
    assert back["odd"].tolist() == AS_TEXT


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_no_cell_begins_a_formula_whatever_separates_cells(tmp_path: Path, separator: str) -> None:
    """A spreadsheet that separates by semicolons does not see our quotes; a header is a cell too."""
    hostile = table(len(ODD)).assign(odd=ODD).rename(columns={"odd": "x;=1+100"})
    text = results.write(hostile, tmp_path / "r.csv").read_bytes().decode("utf-8-sig")
    cells = [cell.lstrip('" ') for cell in re.split(f"[{separator}\r\n]", text)]
    assert not [cell for cell in cells if re.match("[=@\uff1d]", cell)]


@pytest.mark.parametrize(
    ("text", "safe"),
    [("\0=1", "'\0=1"), ("'\0\0=1", "''\0\0=1"), ("a;\0=1", "a;'\0=1"), ("a\n'\0=1", "a\n''\0=1"), ("\0a", "\0a")],
    ids=["first", "behind an apostrophe", "behind a separator", "in a line", "no formula"],
)
def test_a_zero_character_hides_no_formula(tmp_path: Path, text: str, safe: str) -> None:
    """LibreOffice Calc drops it from a text file."""
    file = results.write(table(1).assign(**{"odd": text, text: 1}), tmp_path / "r.csv")
    assert file.read_bytes().decode("utf-8-sig").count(safe.replace('"', '""')) == 2
    back = results.read(file)
    assert (back["odd"].tolist(), text in back.columns) == ([text], True)


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("place", ["cell", "header", "row label"])
def test_what_has_no_text_is_refused_everywhere(tmp_path: Path, place: str, ending: str) -> None:
    hostile, plain = pd.Index(np.array(["\ud800", "x"], object), dtype=object), pd.Index(["a", "b"])
    index, columns = (hostile, plain) if place == "row label" else (plain, hostile)
    frame = pd.DataFrame([[1, 2], [3, 4]], index=index, columns=plain if place == "cell" else columns)
    if place == "cell":
        frame["a"] = pd.Series(hostile.array, index=plain, dtype=object)
    with pytest.raises(UsageError, match="has no text that a file could hold"):
        results.write(frame, tmp_path / f"r{ending}")
    assert not list(tmp_path.iterdir())


def test_texts_that_differ_behind_a_zero_character_are_each_looked_at(tmp_path: Path) -> None:
    """pandas 2 takes such objects for one."""
    odd = pd.Series(["a\0", "a\0;=1+1"], dtype=object)
    assert b"a\0;'=1+1" in results.write(table(2).assign(odd=odd), tmp_path / "r.csv").read_bytes()


def test_a_header_of_a_control_character_comes_back_from_excel(tmp_path: Path) -> None:
    frame = table(1).assign(**{"a\0": 1})
    assert "a\0" in results.read(results.write(frame, tmp_path / "r.xlsx")).columns


def test_two_names_that_are_one_text_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="two columns are named '1'; a file needs different names"):
        results.write(pd.DataFrame([[1, 2]], columns=pd.Index([1, "1"], dtype=object)), tmp_path / "r.csv")


def test_csv_cells_are_neutral_unless_told_otherwise(tmp_path: Path) -> None:
    """The switch only concerns formulas; E.164 is whole in both."""
    hostile = table(1).assign(name="=1+1")
    safe = results.write(hostile, tmp_path / "safe.csv").read_text(encoding="utf-8-sig")
    plain = results.write(hostile, tmp_path / "plain.csv", excel_safe=False).read_text(encoding="utf-8")
    assert '"\'=1+1"' in safe
    assert '"=1+1"' in plain
    assert '"+12025550100"' in safe
    assert '"+12025550100"' in plain
    assert results.read(tmp_path / "plain.csv")["name"].tolist() == ["=1+1"]


def test_what_a_spreadsheet_saved_is_read(tmp_path: Path) -> None:
    """Semicolons, decimal commas and unquoted cells: the contract's columns find their dtypes again."""
    frame = results.write(table(2), tmp_path / "r.csv", excel_safe=False)
    lines = frame.read_text().replace('"', "").replace(",", ";").replace("0.0075", "0,0075")
    (tmp_path / "saved.csv").write_text("\ufeff" + lines, encoding="utf-8")
    pd.testing.assert_frame_equal(results.read(tmp_path / "saved.csv"), table(2))


@pytest.mark.parametrize("damaged", ["12025550100", "1.20256E+10"])
def test_numbers_without_their_plus_are_refused(tmp_path: Path, damaged: str) -> None:
    """What a spreadsheet made of a number is not guessed back."""
    file = results.write(table(2), tmp_path / "r.csv")
    file.write_text(file.read_text(encoding="utf-8-sig").replace("+12025550100", damaged), encoding="utf-8")
    with pytest.raises(UsageError, match="1 have none, first in row 0"):
        results.read(file)


@pytest.mark.parametrize("dtype", ["object", "string", "category", "string[pyarrow]"])
def test_check_turns_any_text_dtype_into_the_contract(dtype: str) -> None:
    """Everything as text, in whatever dtype, becomes the contract's dtypes."""
    texts = table(3, parts=[1, None, 3]).astype(STR).astype(dtype)
    pd.testing.assert_frame_equal(results.check(texts), table(3, parts=[1, None, 3]))


def test_check_leaves_the_callers_frame_alone() -> None:
    """A check never writes into its argument, and keeps repeated labels and own columns."""
    given = table(2).astype("object").set_axis([5, 5]).assign(segment=["a", "b"])
    before = given.copy(deep=True)
    checked = results.check(given)
    pd.testing.assert_frame_equal(given, before)
    assert checked.index.tolist() == [5, 5]
    assert list(checked.columns) == list(given.columns)


@pytest.mark.parametrize(
    ("frame", "said"),
    [
        (table().drop(columns="price"), "no column 'price'"),
        (table().rename(columns={"status": "Status"}), "did you mean 'Status'"),
        (table(status="sent"), "row 0 has 'sent'"),
        (
            table().astype({"parts": "object"}).assign(parts="two"),
            "'parts' must hold a whole number in each row; row 0",
        ),
        (table().assign(parts=1.5), "whole numbers; row 0 has 1.5"),
        (table().assign(price=np.inf), "'price' must hold an amount"),
        (table().assign(price="0,0075"), "row 0 has '0,0075'"),
        (table().assign(to=12025550123), "the plus of its numbers is lost"),
        (table().assign(at="yesterday"), "'at' must hold times"),
        (pd.concat([table(), table()[["iso"]]], axis=1), "2 columns are named 'iso'"),
        ([1, 2], "got list"),
    ],
    ids=[
        "missing",
        "misspelt",
        "status",
        "text count",
        "half",
        "infinite",
        "comma",
        "no plus",
        "time",
        "twice",
        "list",
    ],
)
def test_check_names_what_is_wrong(frame: pd.DataFrame, said: str) -> None:
    """A frame that is no result table is refused with the column and the first rows."""
    with pytest.raises(UsageError) as found:
        results.check(frame)
    assert said in str(found.value)


def test_codes_that_became_numbers_are_text_again() -> None:
    """A plain reader turns error codes and calling codes into floats; they come back without a point."""
    checked = results.check(table(2).assign(error_code=[105400.0, np.nan], cc=[1, 44]))
    assert checked["error_code"].tolist()[0] == "105400"
    assert checked["cc"].tolist() == ["1", "44"]


@pytest.mark.parametrize("ending", [".txt", "", ".xls"])
def test_an_unknown_ending_is_refused(tmp_path: Path, ending: str) -> None:
    """The ending says the format."""
    with pytest.raises(UsageError, match=r"must end in \.csv, \.xlsx, \.parquet"):
        results.write(table(), tmp_path / f"r{ending}")


@pytest.mark.parametrize(
    ("name", "content"), [("r.csv", b""), ("r.csv", b"\xff\xfe\x00"), ("r.xlsx", b"no"), ("r.parquet", b"no")]
)
def test_an_unreadable_file_is_refused(tmp_path: Path, name: str, content: bytes) -> None:
    """A broken file is the call's trouble, said in one sentence."""
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UsageError):
        results.read(tmp_path / name)
    with pytest.raises(UsageError, match="file not found"):
        results.read(tmp_path / f"not-{name}")


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    """A file is replaced only by a complete one."""
    file = results.write(table(1), tmp_path / "r.parquet")
    before = file.read_bytes()
    with pytest.raises(UsageError):
        results.write(table(1).assign(odd=[object()]), file, overwrite=True)
    assert file.read_bytes() == before
    assert [found.name for found in tmp_path.iterdir()] == ["r.parquet"]


@pytest.mark.parametrize("dtype", ["str", "string[pyarrow]", "string[python]", "category"])
def test_what_a_spreadsheet_would_run_is_the_same_in_every_dtype(dtype: str, tmp_path: Path) -> None:
    """By column or cell by cell: every text of up to four signs that matter."""
    texts = ["".join(signs) for count in range(5) for signs in itertools.product("'=+-@\t\n1a", repeat=count)]
    cells = pd.Series([*texts, None], dtype=dtype, index=range(7, 8 + len(texts)), name="n")
    file = results.write(table(len(cells)).set_axis(cells.index).assign(n=cells), tmp_path / "r.csv")
    with file.open(encoding="utf-8", newline="") as lines:
        found = [row["n"] for row in csv.DictReader(lines)]
    changed = [text != kept for text, kept in zip(texts, found, strict=False)]
    begins = [text.lstrip("'")[:1] in set("=+-@\t\n") and not re.fullmatch(r"\+[0-9]+", text) for text in texts if text]
    runs = [run or re.search(r"[\t\n]'*[=+\-@]", text) is not None for run, text in zip(begins, texts[1:], strict=True)]
    assert changed == [False, *runs]
    assert found[-1] == ""


@pytest.mark.parametrize("amount", [0.0, 0.000001, 0.0075, 38.42, 1234567.654321, 999_999_999.999999])
def test_money_and_micros_are_inverse(amount: float) -> None:
    """An amount of six places is one whole number of millionths and back the same double."""
    assert cost.by_country(table(1, price=[amount]))["cost"].tolist() == [amount]
    assert cost.by_country(table(1, price=[amount]), decimals=True)["cost"].tolist() == [Decimal(str(amount))]


@pytest.mark.parametrize("amount", [0.0000001, 1e17, 0.12345678])
def test_micros_refuses_what_it_cannot_hold(amount: float) -> None:
    """An amount that is no whole number of millionths is refused, never rounded in silence."""
    with pytest.raises(UsageError, match="six decimal places"):
        cost.by_country(table(1, price=[amount]))


ANY_TEXTS = given(st.lists(st.text(st.characters(codec="utf-8"), max_size=12), min_size=1, max_size=6))
FIXTURE = [HealthCheck.function_scoped_fixture]


def comes_back(folder: Path, texts: list[str], ending: str) -> bool:
    """Write texts as the caller's own column and index, read them, and compare."""
    rows = table(len(texts)).assign(name=pd.Series(texts, dtype=STR)).set_axis(pd.Index(texts, dtype=STR))
    back = results.read(results.write(rows, folder / f"r{ending}", overwrite=True))
    return back["name"].astype(STR).tolist() == texts


@pytest.mark.parametrize("ending", ENDINGS)
def test_columns_that_are_called_by_numbers_are_called_by_their_text_in_a_file(ending: str, tmp_path: Path) -> None:
    """pandas warns where some names are numbers and others text."""
    given = table(1).assign(team="a").rename(columns={"team": 1})
    assert results.read(results.write(given, tmp_path / f"r{ending}"))["1"].tolist() == ["a"]


@settings(deadline=None, max_examples=15, suppress_health_check=FIXTURE)
@ANY_TEXTS
def test_any_text_survives_csv_and_parquet(tmp_path: Path, texts: list[str]) -> None:
    """Whatever stands in the caller's own column comes back, character by character."""
    assert comes_back(tmp_path, texts, ".csv")
    assert comes_back(tmp_path, texts, ".parquet")


@settings(deadline=None, max_examples=8, suppress_health_check=FIXTURE)
@ANY_TEXTS
def test_any_text_survives_excel(tmp_path: Path, texts: list[str]) -> None:
    """Control characters and what looks like their escapes too."""
    assert comes_back(tmp_path, texts, ".xlsx")


CELLS = st.none() | st.just("") | st.sampled_from([*HOSTILE, '""', ',"",', "'", "\ue000", "1", "NA", "True", "\r"])
ROWS = st.lists(st.tuples(CELLS, CELLS, CELLS, CELLS), min_size=1, max_size=6)


@settings(deadline=None, max_examples=10, suppress_health_check=FIXTURE)
@given(rows=ROWS, price=st.none() | st.just(0.0075), safe=st.booleans(), labelled=st.booleans())
def test_any_frame_comes_back_equal(
    tmp_path: Path, rows: list[tuple[str | None, ...]], price: float | None, safe: bool, labelled: bool
) -> None:
    """Empty and missing text included, in columns of the contract, own columns and labels, in every format."""
    problem, error, own, other = (pd.Series(cells, dtype=STR) for cells in zip(*rows, strict=True))
    frame = table(len(rows), problem=problem, error_code=error, error=other, price=price).assign(own=own, second=error)
    frame = frame.set_axis(pd.Index(["", *map(str, range(1, len(rows)))], dtype=STR)) if labelled else frame
    frame.to_pickle(tmp_path / "r.pickle")
    pd.testing.assert_frame_equal(pd.read_pickle(tmp_path / "r.pickle"), frame)
    for ending in ENDINGS:
        file = results.write(frame, tmp_path / f"r{ending}", excel_safe=safe, overwrite=True)
        back = results.read(file).astype({"own": STR, "second": STR})  # text has another dtype in Parquet of pandas 2
        back.index = back.index.astype(STR) if labelled else back.index
        pd.testing.assert_frame_equal(back, frame)


@pytest.mark.parametrize(
    ("file", "options", "sheet"),
    [
        ("by_country.xlsx", {}, "by_country"),
        ("2026-11 [costs].xlsx", {}, "2026-11  costs"),
        ("history.xlsx", {}, "table"),
        ("c.xlsx", {"sheet_name": "Costs"}, "Costs"),
    ],
)
def test_a_sheet_is_named_for_its_table(tmp_path: Path, file: str, options: dict[str, str], sheet: str) -> None:
    table = pd.DataFrame({"currency": ["USD"], "cost": [1.5]})
    assert openpyxl.load_workbook(results.write(table, tmp_path / file, **options)).sheetnames == [sheet]  # type: ignore[arg-type]
    told = table.assign(status="accepted")
    if not options:
        assert openpyxl.load_workbook(results.write(told, tmp_path / "r.xlsx")).sheetnames == ["results"]


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("c.xlsx", "a/b"),
        ("c.xlsx", "x" * 32),
        ("c.xlsx", " "),
        ("c.xlsx", 5),
        ("c.xlsx", "History"),
        ("c.csv", "Costs"),
    ],
)
def test_a_sheet_that_cannot_be_named_so_is_refused(tmp_path: Path, file: str, name: str) -> None:
    with pytest.raises(UsageError, match="sheet_name="):
        results.write(pd.DataFrame({"cost": [1.5]}), tmp_path / file, sheet_name=name)
    assert not (tmp_path / file).exists()


def twice(tmp_path: Path) -> tuple[pd.DataFrame, Path]:
    """Return the last day of a campaign, and the file of its first day, which the last day has as well."""
    last = table(3, id=["m1", "m2", "m3"], status="accepted", price=0.01, currency="USD", parts=1)
    return last, results.write(last.head(2), tmp_path / "first.csv")


def test_a_message_in_two_files_is_refused_with_both_rows(tmp_path: Path) -> None:
    last, first = twice(tmp_path)
    with pytest.raises(
        UsageError, match=r"2 messages stand twice.*first\.csv, row 0 and table 1, row 0.*repeated='once'"
    ):
        results.concat([first, last])
    with pytest.raises(UsageError, match=r"2 messages stand twice.*row 0 \(place 0\) and row 0 \(place 2\)"):
        cost.by_country(pd.concat([results.read(first), last]))


def test_a_message_in_two_files_is_taken_once_on_request(tmp_path: Path) -> None:
    last, first = twice(tmp_path)
    whole = results.concat([first, last], repeated="once")
    assert whole["id"].tolist() == ["m1", "m2", "m3"]
    assert cost.by(whole, "currency")["cost"].tolist() == [0.03]


def test_a_message_that_two_files_bill_differently_is_never_taken(tmp_path: Path) -> None:
    last, first = twice(tmp_path)
    with pytest.raises(
        UsageError, match=r"1 message stands twice, with different numbers or amounts: first\.csv, row 1"
    ):
        results.concat([first, last.assign(price=[0.01, 0.02, 0.01])], repeated="once")


def test_rows_without_a_message_may_stand_twice() -> None:
    """In doubt, refused or left out: nothing of them is summed."""
    rows = table(2, id=["m1", "m1"], status=["in_doubt", "accepted"])
    assert len(results.concat([rows, rows.head(1)])) == 3


def test_a_row_without_an_id_counts_as_it_stands_in_the_last_table(tmp_path: Path) -> None:
    """A campaign of the day on which two were sent and two in doubt, and of the day on which it was complete."""
    first = table(4, to=[f"+1202555010{at}" for at in range(4)], campaign="sale", id=["m1", None, None, None])
    first["status"] = ["accepted", "in_doubt", "planned", "skipped"]
    last = first.assign(id=["m1", None, "m3", None], status=["accepted", "in_doubt", "accepted", "skipped"])
    whole = results.concat([results.write(first, tmp_path / "first.csv"), last], repeated="once")
    assert whole["status"].value_counts().to_dict() == {"accepted": 2, "in_doubt": 1, "skipped": 1}


def test_messages_of_two_accounts_that_number_alike_are_two() -> None:
    """What they cost together is the sum of both bills."""
    to = ["+12025550101", "+12025550102"]
    north = table(2, id=["1", "2"], to=to, campaign="north", price=0.025, currency="USD", parts=1, status="accepted")
    both = results.concat([north, north.assign(campaign="south")])
    assert cost.summary(both)["cost"].tolist() == [0.1]
    accounts = [north.assign(service="live:1"), north.assign(service="live:2")]
    assert cost.summary(results.concat(accounts))["cost"].tolist() == [0.1]


def test_one_id_for_a_whole_request_is_as_many_messages_as_it_has_numbers() -> None:
    whole = table(2, id="r1", to=["+12025550101", "+12025550102"], price=0.01, currency="USD", parts=1)
    whole = whole.assign(status="accepted", campaign="autumn")
    assert cost.summary(results.concat([whole]))["cost"].tolist() == [0.02]
    with pytest.raises(UsageError, match="2 messages stand twice"):
        results.concat([whole, whole])
    assert len(results.concat([whole, whole], repeated="once")) == 2


def test_without_numbers_an_id_is_one_message() -> None:
    """Of a person who was forgotten the number is gone; the message is still counted once."""
    row = table(1, id="m1", to="+12025550101", status="accepted", price=0.01, currency="USD", parts=1)
    with pytest.raises(UsageError, match="1 message stands twice"):
        results.concat([row, row.assign(to=None)])
