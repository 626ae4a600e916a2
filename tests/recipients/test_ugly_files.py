"""Files as people have them: nothing is lost without a word, and every guess is said.

Each case writes a real file and names what must come of it: the rows as tuples, the words that must be said, or the
words with which it is refused.
"""

from __future__ import annotations

import datetime as dt
import gzip
import html
import io
import json
import warnings
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import openpyxl
import pandas as pd
import pytest
from openpyxl.comments import Comment
from openpyxl.styles import Font
from support.commands import main
from support.uploads import in_a_form, upload

import smsotp_nb as sms
from smsotp_nb import read_recipients
from smsotp_nb.errors import SmsOtpWarning, UsageError
from smsotp_nb.widgets import PhoneCleaner

ANN, BO, CY = ("Ann", "+12025550123"), ("Bo", "+12025550147"), ("Cy", "+14155550100")
NAMES = ("Name", "Mobile")
DATA = Path(__file__).parent / "data"


@dataclass(frozen=True)
class Case:
    """A file: how it is made, the arguments it is read with, and what comes of it."""

    name: str
    make: Callable[[], bytes]
    rows: list[tuple[Any, ...]] | None = None
    says: tuple[str, ...] = ()
    refused: str = ""
    columns: tuple[str, ...] = NAMES
    how: dict[str, Any] | None = None


def text(words: str, encoding: str = "utf-8") -> Callable[[], bytes]:
    return lambda: words.encode(encoding)


def book(
    *rows: tuple[Any, ...], change: Callable[[openpyxl.Workbook], None] = lambda book: None
) -> Callable[[], bytes]:
    def made() -> bytes:
        made = openpyxl.Workbook()
        made.active.title = "People"
        for row in rows:
            made.active.append(row)
        change(made)
        content = io.BytesIO()
        made.save(content)
        return content.getvalue()

    return made


def on_sheet(do: Callable[[Any], None]) -> Callable[[openpyxl.Workbook], None]:
    return lambda book: do(book["People"])


def hide_row(book: openpyxl.Workbook) -> None:
    book["People"].row_dimensions[3].hidden = True
    book["People"].auto_filter.ref = "A1:B4"


def hide_column(book: openpyxl.Workbook) -> None:
    book["People"].column_dimensions["B"].hidden = True


def hidden_first(book: openpyxl.Workbook, state: str = "hidden") -> None:
    old = book.create_sheet("old", 0)
    old.append(NAMES)
    old.append(("Gone", "+12025550199"))
    old.sheet_state = state


def cover_first(book: openpyxl.Workbook) -> None:
    book.create_sheet("Cover", 0).append(("Our customers",))


def formats(book: openpyxl.Workbook) -> None:
    sheet = book["People"]
    for row, code in ((2, '"+"0'), (3, "00000000000"), (4, '"+49 "0')):
        sheet.cell(row, 2).number_format = code


def cross_out(book: openpyxl.Workbook) -> None:
    for cell in ("A3", "B3", "C3"):
        book["People"][cell].font = Font(strike=True)
    book["People"]["B4"].font = Font(strike=False)
    for cell in ("B1", "B2"):
        book["People"][cell].comment = Comment("STOP", "Kim")


def merged_header(book: openpyxl.Workbook) -> None:
    for cells in ("A1:A2", "B1:C1"):
        book["People"].merge_cells(cells)


def formula(book: openpyxl.Workbook) -> None:
    book["People"]["B3"] = '=CONCATENATE("+1","2025550147")'


def error(book: openpyxl.Workbook) -> None:
    book["People"]["A3"] = "#N/A"
    book["People"]["A3"].data_type = "e"


def chart_only(book: openpyxl.Workbook) -> None:
    book.create_chartsheet("Chart", 0)


def ods(content: str) -> Callable[[], bytes]:
    names = "office text table style calcext".split()  # noqa: SIM905
    spaces = " ".join(f'xmlns:{it}="urn:oasis:names:tc:opendocument:xmlns:{it}:1.0"' for it in names)
    inner = f"<office:body><office:spreadsheet>{content}</office:spreadsheet></office:body>"
    xml = f"<office:document-content {spaces}>{inner}</office:document-content>"

    def made() -> bytes:
        held = io.BytesIO()
        with zipfile.ZipFile(held, "w") as archive:
            archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
            archive.writestr("content.xml", f'<?xml version="1.0" encoding="UTF-8"?>{xml}')
            archive.writestr("META-INF/manifest.xml", '<?xml version="1.0"?><manifest/>')
        return held.getvalue()

    return made


def ods_row(*cells: str, said: str = "") -> str:
    made = "".join(
        f'<table:table-cell office:value-type="string"><text:p>{cell}</text:p></table:table-cell>' for cell in cells
    )
    return f"<table:table-row{said}>{made}</table:table-row>"


def packed(name: str, words: str, *others: str) -> Callable[[], bytes]:
    def made() -> bytes:
        held = io.BytesIO()
        with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
            for each in (name, *others):
                archive.writestr(each, words)
        return held.getvalue()

    return made


CSV = "Name,Mobile\nAnn,+12025550123\nBo,+12025550147\n"
SEMICOLONS = CSV.replace(",", ";")
TABLE = (NAMES, ANN, BO)
OF_ODS = '<table:table table:name="People">{}</table:table>'

CASES = [
    # workbooks
    Case("hidden sheet.xlsx", book(*TABLE, change=hidden_first), [ANN, BO]),
    Case("very hidden.xlsx", book(*TABLE, change=lambda it: hidden_first(it, "veryHidden")), [ANN, BO]),
    Case(
        "hidden sheet by name.xlsx", book(*TABLE, change=hidden_first), [("Gone", "+12025550199")], how={"sheet": "old"}
    ),
    Case("cover.xlsx", book(*TABLE, change=cover_first), [ANN, BO]),
    Case("chart first.xlsx", book(*TABLE, change=chart_only), [ANN, BO]),
    Case("filtered.xlsx", book(*TABLE, CY, change=hide_row), [ANN, CY], ("1 row is hidden (row 3)", "left out")),
    Case("filtered taken.xlsx", book(*TABLE, CY, change=hide_row), [ANN, BO, CY], ("row 3",), how={"hidden": True}),
    Case("hidden column.xlsx", book(*TABLE, change=hide_column), [ANN, BO], ("hidden columns ('Mobile')",)),
    Case("title.xlsx", book(("Customers 2026",), *TABLE), [ANN, BO], ("header is row 2", "'Customers 2026'")),
    Case(
        "merged title.xlsx",
        book(("Customers 2026",), *TABLE, change=on_sheet(lambda it: it.merge_cells("A1:B1"))),
        [ANN, BO],
        ("header is row 2",),
    ),
    Case(
        "title and gap.xlsx",
        book(("List", "of May"), (), (*NAMES, "City"), (*ANN, "Bonn"), (*BO, None)),
        [(*ANN, "Bonn"), (*BO, None)],
        ("header is row 3",),
        columns=(*NAMES, "City"),
    ),
    Case(
        "exported by.xlsx",
        book(("Exported by:", "Kim"), ("On:", "2026-11-26"), (*NAMES, "City"), (*ANN, "Bonn")),
        [(*ANN, "Bonn")],
        ("header is row 3; rows 1, 2 above it",),
        columns=(*NAMES, "City"),
    ),
    Case("header named.xlsx", book(("A", "B"), *TABLE), [ANN, BO], how={"header": 2}),
    Case(
        "names again.xlsx",
        book(("A", "B"), *TABLE),
        [NAMES, ANN, BO],
        ("row 2 ('Name, Mobile'), below the header, may be the names, too",),
        columns=("A", "B"),
    ),
    Case(
        "no header.xlsx",
        book(ANN, BO),
        [ANN, BO],
        ("read as a person and not as a header", "column_1"),
        columns=("column_1", "column_2"),
    ),
    *(
        Case(
            f"no header {at}.csv",
            text(f"{cell}\n{ANN[1]}\n"),
            [(cell,), (ANN[1],)],
            ("read as a person and not as a header",),
            columns=("column_1",),
        )
        for at, cell in enumerate(
            (
                "+12025550100 STOP",
                "tel:+12025550100",
                "+12025550100 / +12025550101",
                "١٢٠٢٥٥٥٠١٠٠٩",
                "1.2025550100E+10",
                "(202) 555-0100 (Ann)",
            )
        )
    ),
    *(
        Case(f"header {at}.csv", text(f"{cell}\n{ANN[1]}\n{BO[1]}\n"), [(ANN[1],), (BO[1],)], columns=(cell,))
        for at, cell in enumerate(
            (
                "phone (z.B. +49 151 12345678)",
                "Sales 2023-2024-2025",
                "Stand 20261127101522",
                "2024-01 2024-02 2024-03",
                "EUR 10 000 - 100 000",
                "1e1",
            )
        )
    ),
    Case(
        "crossed out.xlsx",
        book(*TABLE, CY, change=cross_out),
        [ANN, ("Bo", "+12025550147 (crossed out)"), CY],
        ("2 cells are crossed out (cells A3, B3): a number is read with these words", "1 cell has a comment (cell B2)"),
    ),
    Case("error.xlsx", book(*TABLE, change=error), [ANN, (None, BO[1])], ("1 cell shows an error (cell A3)",)),
    Case(
        "error as text.xlsx",
        book(NAMES, ANN, ("#REF!", BO[1])),
        [ANN, (None, BO[1])],
        ("1 cell shows an error (cell A3)",),
    ),
    Case(
        "formula.xlsx", book(*TABLE, change=formula), [ANN, ("Bo", None)], ("1 formula has no value (cell B3)", "save")
    ),
    Case(
        "formats.xlsx",
        book(NAMES, ("Ann", 12025550123), ("Bo", 1761234567), ("Cy", 1761234567), change=formats),
        [ANN, ("Bo", "01761234567"), ("Cy", "+49 1761234567")],
    ),
    Case(
        "numbers.xlsx",
        book(NAMES, ("Ann", 12025550123), ("Bo", 12025550147.0)),
        [("Ann", "12025550123"), ("Bo", "12025550147")],
    ),
    Case(
        "merged header.xlsx",
        book(("Name", "Phone", None), (None, "Mobile", "Home"), ("Ann", ANN[1], BO[1]), change=merged_header),
        [("Ann", ANN[1], BO[1])],
        ("header is row 2",),
        columns=("Name", "Mobile", "Home"),
    ),
    Case(
        "groups of one name.xlsx",
        book(
            ("Own", None, "Manager", None),
            ("Name", "Phone", "Name", "Phone"),
            (*ANN, *BO),
            change=on_sheet(lambda it: [it.merge_cells("A1:B1"), it.merge_cells("C1:D1")]),
        ),
        [(*ANN, *BO)],
        ("header is row 2",),
        columns=("Own Name", "Own Phone", "Manager Name", "Manager Phone"),
    ),
    Case(
        "beyond the header.xlsx",
        book(NAMES, (*ANN, "a note"), BO),
        [(*ANN, "a note"), (*BO, None)],
        ("read as column column_3",),
        columns=(*NAMES, "column_3"),
    ),
    Case("called Total.xlsx", book(*TABLE, ("Total", CY[1])), [ANN, BO, ("Total", CY[1])]),
    Case("totals.xlsx", book(*TABLE, ("Total", 24051100270)), [ANN, BO], ("row 4 ('Total' and numbers)",)),
    Case("blank.xlsx", book(), refused="no sheet that shows has rows|is empty"),
    Case("text named.xls", text(SEMICOLONS.replace(";", "\t")), [ANN, BO], ("is a text and no workbook",)),
    Case("workbook named.csv", book(*TABLE), [ANN, BO]),
    Case("web page.xls", text("<html><table><tr><td>Name</td></tr></table></html>"), refused="holds a web page"),
    Case(
        "old.xls",
        lambda: (DATA / "people.xls").read_bytes(),
        [("Ann", "12025550123"), ("Bo", "12025550125"), ("Err", None)],
        ("1 row is hidden (row 3)",),
    ),
    Case("binary.xlsb", lambda: (DATA / "people.xlsb").read_bytes(), [ANN, ("Bo", "12025550147")]),
    Case("open.ods", ods(OF_ODS.format(ods_row(*NAMES) + ods_row(*ANN) + ods_row(*BO))), [ANN, BO]),
    Case(
        "filtered.ods",
        ods(OF_ODS.format(ods_row(*NAMES) + ods_row(*ANN, said=' table:visibility="filter"') + ods_row(*BO))),
        [BO],
        ("1 row is hidden (row 2)",),
    ),
    Case(
        "far.ods",
        ods(
            OF_ODS.format(
                ods_row(*NAMES) + '<table:table-row table:number-rows-repeated="1048570"/>'
                '<table:table-row><table:table-cell table:number-columns-repeated="16000"/>'
                '<table:table-cell office:value-type="float" office:value="1"/></table:table-row>'
            )
        ),
        refused="delete what stands far",
    ),
    # text
    Case("sep line.csv", text("sep=;\n" + SEMICOLONS), [ANN, BO]),
    Case("title.csv", text("Customers, as of May\n\n" + SEMICOLONS), [ANN, BO], ("header is row 3",)),
    Case("totals.csv", text(SEMICOLONS + "Total;2\n"), [ANN, BO], ("row 4 ('Total' and numbers)",)),
    Case(
        "no header.csv",
        text("\n".join(map(",".join, (ANN, BO)))),
        [ANN, BO],
        ("is read as a person",),
        columns=("column_1", "column_2"),
    ),
    Case(
        "no header said.csv",
        text("Ann,x\nBo,y\n"),
        [("Ann", "x"), ("Bo", "y")],
        columns=("column_1", "column_2"),
        how={"header": None},
    ),
    Case(
        "years.csv",
        text("Name,2025,2026-01-01\nAnn,1,2\n"),
        [("Ann", "1", "2")],
        columns=("Name", "2025", "2026-01-01"),
    ),
    Case("error.csv", text(CSV + "#N/A,+14155550100\n"), [ANN, BO, (None, CY[1])], ("'Name' in row 4",)),
    Case("tabs.tsv", text(CSV.replace(",", "\t")), [ANN, BO]),
    Case("packed.csv.gz", lambda: gzip.compress(CSV.encode()), [ANN, BO]),
    Case("packed.zip", packed("people.csv", CSV), [ANN, BO]),
    Case(
        "two in one.zip",
        packed("people.csv", CSV, "others.csv"),
        refused=r"holds 2 files \('people.csv', 'others.csv'\)",
    ),
    Case("bomb.gz", lambda: gzip.compress(b"phone\n" + b"1" * 60_000_000), refused="unpacks to more than"),
    Case("list.json", text(json.dumps([dict(zip(NAMES, it, strict=True)) for it in (ANN, BO)])), [ANN, BO]),
    Case("lines.jsonl", text("\n".join(json.dumps(dict(zip(NAMES, it, strict=True))) for it in (ANN, BO))), [ANN, BO]),
    Case("wide.json", text(json.dumps([dict(zip(NAMES, ANN, strict=True))]), "utf-16"), [ANN]),
    Case("numbers.json", text('["+12025550123", "+12025550124"]'), refused="is no list of JSON objects such as"),
    Case("lists.json", text('[["phone"], ["+12025550123"]]'), refused="is no list of JSON objects such as"),
    Case("nested.json", text('[{"Name": "Ann", "phones": ["1"]}]'), refused="'phones' holds lists or objects"),
    Case("contacts.vcf", text("BEGIN:VCARD\nFN:Ann\nTEL:+12025550123\nEND:VCARD\n"), refused="contacts as vCards"),
    Case("list.pdf", lambda: b"%PDF-1.7 ...", refused="is a PDF document"),
    Case("utf-16 without a mark.csv", text(CSV, "utf-16-le"), [ANN, BO]),
    Case(
        "two signs.csv",
        text("a;Name,Mobile\nx;Ann,+12025550123\n"),
        [("x;Ann", ANN[1])],
        ("';' stands in each row",),
        columns=("a;Name", "Mobile"),
    ),
    Case("colons.csv", text("Name:Mobile\nAnn:+1\n"), [("Ann:+1",)], ("sep=':' splits",), columns=("Name:Mobile",)),
    Case("blanks.txt", text("Name  Mobile\nAnn   +1\n"), [("Ann   +1",)], ("save it as",), columns=("Name  Mobile",)),
    Case(
        "mark.csv",
        lambda: b"\xef\xbb\xbf" + text(CSV + "Zoë,1\n", "cp1252")(),
        [ANN, BO, ("Zoë", "1")],
        ("is not UTF-8",),
    ),
    Case("escapes.csv", text("氏名,Mobile\n田中,+1\n", "iso2022_jp"), [("田中", "+1")], columns=("氏名", "Mobile")),
    Case("blank name.csv", text(CSV.removeprefix("Name")), [ANN, BO], columns=("column_1", "Mobile")),
    Case(
        "title without names.csv",
        text("List\n" + "\n".join(map(",".join, (ANN, BO)))),
        [ANN, BO],
        ("the list begins in row 2; row 1 above it ('List')", "read as a person"),
        columns=("column_1", "column_2"),
    ),
    Case(
        "two tables.csv",
        text(CSV + "\nFirm,By,Phone\nAcme,Kim,030\n"),
        refused="more cells than the header has columns",
    ),
    Case(
        "two tables.xlsx",
        book(*TABLE, (), ("Firm", "By", "Phone"), ("Acme", "Kim", "030"), ("Beta", "Lou", "031")),
        [(*ANN, None), (*BO, None), ("Firm", "By", "Phone"), ("Acme", "Kim", "030"), ("Beta", "Lou", "031")],
        ("read as column column_3",),
        columns=(*NAMES, "column_3"),
    ),
    Case("wide.csv", text("Name,Mobile\nDoe, Jane,+12025550123\n"), refused="more cells than the header"),
    Case("mac.csv", text(CSV.replace("\n", "\r")), [ANN, BO]),
]


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_an_ugly_file(tmp_path: Path, case: Case) -> None:
    """Every row is there or its absence is said, each guess is said, and there is no other word."""
    file = tmp_path / case.name
    file.write_bytes(case.make())
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if case.refused:
            with pytest.raises(UsageError, match=case.refused) as refused:
                read_recipients(file, **case.how or {})
            assert case.name in str(refused.value)
            return
        read = read_recipients(file, **case.how or {})
    said = [str(one.message) for one in caught]
    assert all(one.category is SmsOtpWarning for one in caught), said
    assert tuple(read.columns) == case.columns
    assert list(read.astype(object).where(read.notna(), None).itertuples(index=False, name=None)) == case.rows
    assert all(any(words in one for one in said) for words in case.says), said
    assert bool(said) == bool(case.says), said
    assert read.attrs["smsotp_nb"]["notes"] == [one.partition(": ")[2] for one in said]


LISTS = {
    "cp1252": "Zoë Müller François Straße",
    "cp1250": "Łukasz Żółć Świętokrzyska Kraków",
    "iso8859-2": "Łukasz Żółć Świętokrzyska Kraków",
    "cp852": "Łukasz Żółć Świętokrzyska Kraków",
    "cp1251": "Пётр Иванов Москва Анна",
    "koi8-r": "Пётр Иванов Москва Анна",
    "cp866": "Пётр Иванов Москва Анна",
    "cp1253": "Γιώργος Παπαδόπουλος Αθήνα",
    "cp1254": "Şükrü İstanbul Çağlar Yıldız",
    "cp1255": "דוד ירושלים שרה כהן",
    "cp1256": "محمد القاهرة فاطمة علي",
    "cp874": "สมชาย กรุงเทพ",
    "cp1257": "Jānis Bērziņš Rīga Šķēle",
    "cp850": "Müller Jürgen Straße Zoë café",
    "mac_roman": "Müller Jürgen Zoë café",
    "cp932": "田中太郎 東京都 さとう 山田花子",
    "euc_jp": "田中太郎 東京都 さとう 山田花子",
    "gb18030": "王小明 北京市 李娜 上海",
    "big5": "王小明 臺北市 陳美玲",
    "euc_kr": "김철수 서울 이영희",
}


@pytest.mark.parametrize("encoding", LISTS)
def test_names_in_an_encoding_that_is_not_named_are_read_and_said(tmp_path: Path, encoding: str) -> None:
    """A few names are all there is to tell it from; the warning shows one of them."""
    names = LISTS[encoding].split()
    file = tmp_path / "people.csv"
    file.write_bytes("\n".join(["name;phone", *(f"{name};+12025550123" for name in names)]).encode(encoding))
    with pytest.warns(SmsOtpWarning, match=rf"is not UTF-8 and is read as .*, as in '{names[0]}'; .*encoding="):
        assert read_recipients(file)["name"].tolist() == names


@pytest.mark.parametrize("stray", [b"Jos\xe9", b"\x80 5", b"Stra\xdfe"])
def test_a_line_that_is_not_utf_8_in_a_file_that_is_one_is_named(tmp_path: Path, stray: bytes) -> None:
    """Read in another encoding, all other names would be garbled."""
    file = tmp_path / "people.csv"
    file.write_bytes("name;phone\nMüller;+12025550123\n".encode() + stray + b";+12025550124\n")
    with pytest.raises(UsageError, match=r"people.csv: line 3 has a byte that is not UTF-8"):
        read_recipients(file)


@pytest.mark.parametrize("cells", [["5€", "6€"], ["€ 5", "€ 6"], ["£5", "£6"]])
def test_the_sign_of_a_currency_is_no_letter_of_another_encoding(tmp_path: Path, cells: list[str]) -> None:
    file = tmp_path / "due.csv"
    file.write_bytes("\n".join(["due;phone", *(f"{cell};+12025550123" for cell in cells)]).encode("cp1252"))
    with pytest.warns(SmsOtpWarning, match="is read as cp1252"):
        assert read_recipients(file)["due"].tolist() == cells


ALIKE = [case for case in CASES if case.rows and "Mobile" in case.columns]


def typed(how: dict[str, Any]) -> list[str]:
    """Return the arguments of the function as options of the command line."""
    return [word for name, value in how.items() for word in ([f"--{name}"] + [str(value)] * (value is not True))]


@pytest.mark.filterwarnings("ignore::smsotp_nb.errors.SmsOtpWarning")
@pytest.mark.parametrize("case", ALIKE, ids=[case.name for case in ALIKE])
def test_function_form_command_line_and_plan_read_a_file_alike(tmp_path: Path, case: Case) -> None:
    """The same rows, with the same numbers, come of every door, and each says how the file was read."""
    file, out = tmp_path / case.name, tmp_path / "out.csv"
    file.write_bytes(case.make())
    how = case.how or {}
    read = read_recipients(file, **how)
    uploaded = in_a_form(case.name, file.read_bytes(), how)
    assert uploaded.frame is not None
    pd.testing.assert_frame_equal(uploaded.frame, read)
    assert uploaded.frame.attrs == read.attrs
    assert all(part in uploaded.words for part in (*case.says[:1], f"Read from {case.name}"))
    wanted = ["clean", str(file), "--phone", "Mobile", "--default-region", "US", "--out", str(out), *typed(how)]
    assert main(wanted) == 0
    first = read.columns[0]
    assert read_recipients(out)[first].tolist() == read[first].tolist()
    plan = sms.plan(file if not how else read, "Hello", campaign="alike", to="Mobile", default_region="US")
    assert len(plan.rows) == len(read)
    assert plan.source == read.attrs["smsotp_nb"]


BELOW = "List of May;\n\nName;Mobile\nZoë;+12025550123\nBo;030 901820\nTotal;2\n"


def test_how_a_file_was_read_is_told_by_card_report_and_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Header, encoding, separator, rows left out, and what deserves a look."""
    file = tmp_path / "may.csv"
    file.write_bytes(BELOW.encode("cp1252"))
    with pytest.warns(SmsOtpWarning):
        people = read_recipients(file)
    told = "Read from may.csv: cp1252, ';' between cells; header in row 3; rows left out: 1 above the header, 1 totals"
    judged = sms.phones.normalize(people["Mobile"])
    plan = sms.plan(people.head(1), "Hello", campaign="told", to="Mobile")
    for card in (plan, plan.reworded("Hi"), sms.phones.report(judged), sms.phones.report(judged.dropna(how="all"))):
        assert f"i {told}." in " ".join(str(card).split())
    why = "; columns: 'Mobile' (50% of its cells are numbers)."
    cleaner = PhoneCleaner()
    upload(cleaner._file.button, "may.csv", file.read_bytes())
    assert told + why in html.unescape(cleaner.settle()._file.said.value)
    found = sms.phones.find_columns(people)
    assert (found.phone, found.why) == ("Mobile", {"Mobile": "50% of its cells are numbers"})
    plan = sms.plan(people.head(1), "Hello", campaign="told", to="Mobile")
    judged = sms.phones.normalize(people.copy()["Mobile"])  # pandas 2 keeps a column that was looked at as it was
    for card in (plan, plan.reworded("Hi"), sms.phones.report(judged)):
        assert told + why in " ".join(str(card).split())
    assert plan.source["columns"] == found.why
    assert sms.plan(people.head(1), "Hello", campaign="told", to="Name").source["columns"] == {}
    assert "; columns: " not in str(sms.phones.report(sms.phones.normalize(people["Name"])))
    assert "! may.csv: the header is row 3" in " ".join(str(plan).split())
    assert main(["clean", str(file), "--encoding", "cp1252"]) == 0
    printed = capsys.readouterr()
    assert told + why in " ".join(printed.out.split())
    assert "may.csv: numbers in column 'Mobile', countries in none" in " ".join(printed.out.split())
    assert "--header names another" in printed.err
    merged = people.merge(pd.DataFrame({"Name": ["Zoë"], "city": ["Bonn"]}), on="Name")
    if not merged.attrs:  # as long as pandas loses it
        assert sms.plan(merged, "Hello", campaign="lost", to="Mobile").source == {}
    merged.attrs = people.attrs
    assert sms.plan(merged, "Hello", campaign="kept", to="Mobile").source["header"] == 3


@pytest.mark.filterwarnings("ignore::smsotp_nb.errors.SmsOtpWarning")
@pytest.mark.parametrize("value", ["=A2", "#N/A"])
def test_an_entry_of_a_list_of_no_whose_value_the_workbook_lacks_is_unreadable(tmp_path: Path, value: str) -> None:
    """Read as blank it would be no entry, and its person texted."""
    book = openpyxl.Workbook()
    for cells in (("Name", "phone"), ("Ann", "+12025550160"), ("Bo", value), ("Cy", "+12025550162")):
        book.active.append(cells)
    stops = tmp_path / "stops.xlsx"
    book.save(stops)
    people = pd.DataFrame({"phone": ["+12025550160", "+12025550161"]})
    with pytest.raises(UsageError, match=r"1 entry of exclude= .* cell B3: an error or a formula without a value"):
        sms.plan(people, "Hello", campaign="no", to="phone", exclude=stops)
    ignored = sms.NumberOptions(unreadable="ignore")
    plan = sms.plan(people, "Hello", campaign="no", to="phone", exclude=stops, numbers=ignored)
    assert plan.left_out[["read", "matched", "unreadable"]].values.tolist() == [[2, 1, 1]]
    corrected = sms.read_recipients(stops).dropna(subset=["phone"])
    assert sms.plan(people, "Hello", campaign="no", to="phone", exclude=corrected).left_out["read"].tolist() == [2]
    register = sms.People(sms.Ledger(tmp_path / "ledger.sqlite", create=True))
    with pytest.raises(UsageError, match="1 of 3 rows cannot be read, so nothing was recorded: cell B3"):
        register.import_optouts(stops, column="phone", source="p")
    assert register.import_optouts(stops, column="phone", source="p", numbers=ignored) == 2


def test_cells_are_read_as_a_workbook_shows_them(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    cells = [
        (0.2, "0%", "20%"),
        (0.155, "0%", "16%"),
        (0.075, "0.00%", "7.50%"),
        (-0.1, "0.0%;[Red]-0.0%", "-10.0%"),
        (dt.timedelta(hours=30), "[h]:mm", "30:00"),
        (dt.timedelta(hours=2, minutes=5, seconds=9), "[h]:mm:ss", "2:05:09"),
        (dt.timedelta(minutes=90), "[mm]:ss", "90:00"),
        (0, "dd/mm/yyyy", None),
        (0, "[$-409]d. mmm yy", None),
        (0, "mm-dd-yy", None),
        (0, "h:mm", "00:00:00"),
        (0, '0" days"', "0"),
        (0, "#,##0.00", "0"),
        (dt.date(2026, 3, 4), "dd/mm/yyyy", "2026-03-04"),
        (12.5, "0.00", "12.5"),
    ]
    sheet.append(["phone", "cell"])
    for at, (value, code, _) in enumerate(cells, start=2):
        sheet.append([f"+12025550{at:03d}", value])
        sheet.cell(at, 2).number_format = code
    book.save(tmp_path / "list.xlsx")
    with pytest.warns(SmsOtpWarning, match=r"3 cells show the day 0 \(cells B9, B10, B11\).*read as blank"):
        frame = sms.read_recipients(tmp_path / "list.xlsx")
    assert frame["cell"].astype(object).where(frame["cell"].notna(), None).tolist() == [said for *_, said in cells]


def test_a_hidden_list_behind_a_sheet_to_read_is_named(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.append(["Please read me first"])
    hidden = book.create_sheet("List")
    for cells in (("Name", "phone"), ("Ann", "+12025550160")):
        hidden.append(cells)
    hidden.sheet_state = "hidden"
    book.save(tmp_path / "list.xlsx")
    with pytest.warns(SmsOtpWarning, match=r"there are hidden sheets \('List'\): sheet= of read_recipients names one"):
        read_recipients(tmp_path / "list.xlsx")
    assert len(read_recipients(tmp_path / "list.xlsx", sheet="List")) == 1


def test_hidden_rows_are_taken_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The warning names the option, not the argument."""
    file = tmp_path / "filtered.xlsx"
    file.write_bytes(book(*TABLE, CY, change=hide_row)())
    assert main(["clean", str(file)]) == 0
    assert "left out; --hidden takes them" in capsys.readouterr().err
    assert main(["clean", str(file), "--hidden", "--header", "first"]) == 2
    assert "--header 'first': pass the row" in capsys.readouterr().err


@pytest.mark.filterwarnings("ignore::smsotp_nb.errors.SmsOtpWarning")
def test_a_hidden_row_of_a_list_of_no_still_says_no(tmp_path: Path) -> None:
    """A filter that was left on must not text those behind it."""
    stops = tmp_path / "stops.xlsx"
    stops.write_bytes(book(*TABLE, CY, change=hide_row)())
    people = pd.DataFrame({"Mobile": [BO[1], "+12025550162"]})
    plan = sms.plan(people, "Hello", campaign="no", to="Mobile", exclude=stops)
    assert plan.rows["status"].tolist() == ["skipped", "planned"]
