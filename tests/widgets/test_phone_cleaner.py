"""The phone cleaner and the inbox view without a browser."""

from __future__ import annotations

import html
import re
import threading
from pathlib import Path
from typing import Any

import openpyxl
import pandas as pd
import pytest

from smsotp_nb import Client, Sandbox
from smsotp_nb._cards import Marked
from smsotp_nb._widgets.cleaner.edits import Edits, Step
from smsotp_nb._widgets.cleaner.judging import PAGE, Question, clean, export, filters, judged_alone, marked, rows
from smsotp_nb._widgets.stages import Latest
from smsotp_nb.errors import UsageError
from smsotp_nb.settings import Secret, Settings
from smsotp_nb.widgets import InboxView, PhoneCleaner

PEOPLE = pd.DataFrame(
    {
        "phone": ["+12025550123", "(202) 555-0123", "nobody", "202 555 0147", None, "=cmd|' /C calc'!A0"],
        "land": ["US", "United States", "US", "US", "US", "US"],
    },
    index=["a", "b", "b", "c", "d", "e"],
)
COUNTS = {"unchanged": 1, "fixed": 1, "unusable": 3, "duplicate": 1, "left out": 0}
QUESTION = Question("phone", region="land")


# -- what became of each row


def test_each_row_has_one_result_and_its_reason() -> None:
    cleaned = clean(PEOPLE, QUESTION)
    assert cleaned.judged["result"].tolist() == ["unchanged", "duplicate", "unusable", "fixed", "unusable", "unusable"]
    assert cleaned.counts == COUNTS
    assert cleaned.judged["note"].iat[1] == "DUPLICATE_OF:a"
    assert cleaned.judged["problem"].tolist()[4] == "MISSING"


def test_the_list_is_not_changed_and_its_index_stays() -> None:
    before = PEOPLE.copy(deep=True)
    table = clean(PEOPLE, QUESTION).table
    pd.testing.assert_frame_equal(PEOPLE, before)
    assert table.index.equals(PEOPLE.index)
    assert list(table.columns)[:3] == ["phone", "land", "to"]


def test_a_column_name_that_is_taken_keeps_the_lists_own() -> None:
    table = clean(PEOPLE.assign(to="mine", result="mine too"), QUESTION).table
    assert table["to"].eq("mine").all()
    assert table["result"].eq("mine too").all()
    assert table["sms_to"].iat[0] == "+12025550123"


@pytest.mark.parametrize("dtype", ["object", "str", "string[pyarrow]", "category"])
def test_every_kind_of_text_column(dtype: str) -> None:
    cleaned = clean(PEOPLE.astype({"phone": dtype}), QUESTION)
    assert cleaned.counts == COUNTS


def test_a_country_nobody_knows_is_said_and_judges_nothing() -> None:
    cleaned = clean(PEOPLE, Question("phone", default_region="XX"))
    assert "XX" in cleaned.problem
    assert cleaned.table["to"].isna().all()


def test_labels_of_several_levels_are_read_as_words() -> None:
    labels = pd.MultiIndex.from_product([["north", "south"], range(3)])
    cleaned = clean(PEOPLE.set_axis(labels), QUESTION)
    (row,), count = rows(cleaned, "duplicate")
    assert (row.name, row.why, count) == ("north, 1", "The number of row north, 0.", 1)


def test_an_empty_list() -> None:
    cleaned = clean(PEOPLE.iloc[:0], QUESTION)
    assert sum(cleaned.counts.values()) == 0
    assert rows(cleaned, "") == ([], 0)


# -- before and after


@pytest.mark.parametrize(
    ("before", "after", "old", "new"),
    [
        ("202 555", "+1202555", (("202", ""), (" ", "del"), ("555", "")), (("+1", "ins"), ("202", ""), ("555", ""))),
        ("+1202", "+1202", (("+1202", ""),), (("+1202", ""),)),
        ("", "+1", (), (("+1", "ins"),)),
    ],
    ids=["changed", "same", "from nothing"],
)
def test_marks(before: str, after: str, old: tuple[object, ...], new: tuple[object, ...]) -> None:
    assert [piece.pieces for piece in marked(before, after)] == [old, new]


def test_marked_pieces_add_up_to_the_texts() -> None:
    old, new = marked("00 44 (0)20 7946", "+44207946")
    assert "".join(text for text, _ in old.pieces) == "00 44 (0)20 7946"
    assert "".join(text for text, _ in new.pieces) == "+44207946"


def test_rows_are_shown_by_result_and_page() -> None:
    many = pd.DataFrame({"phone": ["+12025550123"] + ["nobody"] * (PAGE + 1)})
    cleaned = clean(many, Question("phone"))
    (last,), count = rows(cleaned, "unusable", page=1)
    assert (count, last.before) == (PAGE + 1, Marked((("nobody", ""),)))
    (fixed,), _ = rows(clean(PEOPLE, QUESTION), "fixed")
    assert fixed.after.pieces[0] == ("+1", "ins")


def test_rows_are_shown_by_reason_and_found_by_number_or_label() -> None:
    cleaned = clean(PEOPLE, QUESTION)
    assert [row.name for row in rows(cleaned, "problem:NOT_A_NUMBER")[0]] == ["b", "e"]
    assert [row.name for row in rows(cleaned, "", find="0123")[0]] == ["a", "b"]
    assert [row.name for row in rows(cleaned, "", find="E")[0]] == ["e"]
    assert ("no number in the cell: blank, or a word such as n/a (1)", "problem:MISSING") in filters(cleaned)


def test_no_code_and_no_argument_stands_in_a_row() -> None:
    people = pd.DataFrame({"phone": ["1 800 FLOWERS", "n/a", "+1 900 555 0123", "555-0100", "(202) 555-0123"]})
    for repair in ((), ("vanity",)):
        views, _ = rows(clean(people, Question("phone", default_region="US", repair=repair)), "")
        said = " ".join(view.why for view in views)
        assert not re.search(r"[A-Z]{2,}_|=|repair '", said), said
    assert "The area code is missing. Edit the row, or ask the list's owner for the area codes." in said


# -- edits


def test_edits_are_judged_recorded_and_undone_and_the_list_stays() -> None:
    before = PEOPLE.copy(deep=True)
    edits = Edits(PEOPLE).after(Step({2: {"phone": "202 555 0145", "land": "US"}})).after(Step({4: None}))
    cleaned = clean(edits, QUESTION)
    assert cleaned.judged["result"].tolist() == ["unchanged", "duplicate", "fixed", "fixed", "left out", "unusable"]
    assert edits.record().to_numpy().tolist()[0] == ["b", "phone", "nobody", "202 555 0145"]
    assert edits.record()["after"].tolist() == ["202 555 0145", "left out"]
    assert cleaned.usable["edited"].tolist()[1] == "phone was nobody"
    assert cleaned.table["phone"].tolist()[2] == "202 555 0145"
    assert clean(edits.undone().undone(), QUESTION).counts == COUNTS
    pd.testing.assert_frame_equal(PEOPLE, before)


def test_a_cell_put_back_as_it_was_is_no_edit() -> None:
    edits = Edits(PEOPLE).after(Step({2: {"phone": "+12025550145"}})).after(Step({2: {"phone": "nobody"}}))
    assert edits.cells == {}
    assert edits.record().empty


def test_a_row_left_out_repeats_nobody_and_comes_back() -> None:
    edits = Edits(PEOPLE).after(Step({0: None}))
    assert clean(edits, QUESTION).judged["result"].tolist()[:2] == ["left out", "fixed"]
    assert clean(edits.after(Step({0: {}})), QUESTION).counts == COUNTS


@pytest.mark.parametrize(
    "steps",
    [
        [Step({2: {"phone": "202 555 0145"}}), Step({3: None})],
        [Step({2: None}), Step({}, "people = people.copy()"), Step({2: {}}), Step({3: {"land": "DE"}})],
        [],
    ],
    ids=["typed", "back again", "none"],
)
@pytest.mark.parametrize("labels", ["abcdef", "abbcde"])
def test_the_code_of_edits_makes_the_same_list(steps: list[Step], labels: str) -> None:
    import smsotp_nb as sms

    people = PEOPLE.set_axis(list(labels))
    edits = Edits(people, tuple(steps))
    room: dict[str, Any] = {"sms": sms, "people": people}
    exec("\n".join(edits.code()), room)
    expected = edits.frame()[[place not in edits.left_out for place in range(6)]]
    pd.testing.assert_frame_equal(room["people"].reset_index(drop=True), expected.reset_index(drop=True))


@pytest.mark.parametrize(
    ("typed", "usable", "said"),
    [
        (("202 555 0145", "US"), True, "+12025550145, United States, mobile or landline"),
        (("+12025550123", ""), True, "; the number of row a"),
        (("555-0145", "US"), False, "the area code is missing"),
        (("202 555 0145", "Nowhere"), False, "the country beside it cannot be read"),
        (("", "US"), False, "no number in the cell: blank, or a word such as n/a"),
    ],
    ids=["good", "repeated", "local", "country", "blank"],
)
def test_a_row_is_judged_as_it_is_typed(typed: tuple[str, str], usable: bool, said: str) -> None:
    found = judged_alone(clean(PEOPLE, QUESTION), 2, *typed)
    assert found[0] == usable
    assert said in found[1]


# -- the rows left out as a file


def test_export_writes_reasons_and_no_formula(tmp_path: Path) -> None:
    file, count = export(clean(PEOPLE, QUESTION), str(tmp_path / "unusable.csv"))
    written = pd.read_csv(file, dtype="str")
    assert (count, len(written)) == (4, 4)
    assert written["problem"].tolist() == ["DUPLICATE_OF", "NOT_A_NUMBER", "MISSING", written["problem"].iat[3]]
    assert written["to"].iat[0] == "+12025550123"
    assert not written["phone"].iat[3].startswith("=")


@pytest.mark.parametrize(
    ("name", "said"),
    [("", "write a file that ends"), ("unusable.pdf", "ends in .csv"), ("no/such/folder/x.csv", "folder not found")],
    ids=["blank", "pdf", "no folder"],
)
def test_export_says_what_it_cannot_do(tmp_path: Path, name: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        export(clean(PEOPLE, QUESTION), str(tmp_path / name) if name else "")


def test_unusable_rows_carry_their_label_and_the_reason_in_words(tmp_path: Path) -> None:
    """The list's own columns of these names stay."""
    people = PEOPLE.assign(row="mine", meaning="mine too")
    file, _ = export(clean(people, QUESTION), str(tmp_path / "unusable.xlsx"))
    written = pd.read_excel(file, dtype="str", engine="openpyxl")
    assert written["sms_row"].tolist() == ["b", "b", "d", "e"]
    assert written["sms_meaning"].tolist()[:3] == [
        "the number of row a",
        "not a phone number",
        "no number in the cell: blank, or a word such as n/a",
    ]
    assert set(written["row"]) == {"mine"}
    assert set(written["meaning"]) == {"mine too"}


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".xlsx"])
def test_clean_and_unusable_rows_are_the_list(tmp_path: Path, ending: str) -> None:
    """Each row is in one of the two files."""
    cleaned = clean(PEOPLE, QUESTION)
    (usable, count), (_, others) = (
        export(cleaned, str(tmp_path / f"{which[:4]}{ending}"), which=which) for which in ("usable", "left out")
    )
    written = (
        pd.read_excel(usable, dtype="str", engine="openpyxl")
        if ending == ".xlsx"
        else pd.read_csv(usable, sep=None, engine="python")
    )
    assert written["to"].astype("str").str.removeprefix("+").tolist() == ["12025550123", "12025550147"]
    assert (count, others) == (2, 4)


def test_the_line_of_code_judges_the_same() -> None:
    import smsotp_nb as sms

    question = Question("phone", region="land", repair=("vanity",))
    found = eval(question.line(), {"people": PEOPLE, "sms": sms})
    assert found["to"].tolist()[3] == clean(PEOPLE, question).judged["to"].tolist()[3] == "+12025550147"


# -- the widgets


def shown_rows(cleaner: PhoneCleaner) -> str:
    """Return the HTML of the rows on the page."""
    return " ".join(line.children[0].value for line in cleaner.rows._lines if line.layout.display is None)


def test_the_cleaner_guesses_columns_and_follows_its_fields(tmp_path: Path) -> None:
    cleaner = PhoneCleaner(PEOPLE).settle()
    assert (cleaner.phone.value, cleaner.region.value) == ("phone", "land")
    cleaner.region.value = ""
    cleaner.settle()
    assert cleaner.table is not None
    assert cleaner.table["to"].notna().sum() == 1
    cleaner.default_region.value = "us"
    assert cleaner.settle().table["to"].notna().sum() == 3
    cleaner.files.path.value = str(tmp_path / "out.csv")
    cleaner.files.write_button.click()
    assert "4 rows written to" in cleaner.settle()._notice.value
    assert cleaner.left_out is not None
    assert len(cleaner.left_out) == 4


@pytest.mark.parametrize("which", ["clean", "left out"])
def test_a_file_that_is_there_is_replaced_after_a_question(tmp_path: Path, which: str) -> None:
    cleaner = PhoneCleaner(PEOPLE).settle()
    path, button = {
        "clean": (cleaner.files.clean_path, cleaner.files.clean_button),
        "left out": (cleaner.files.path, cleaner.files.write_button),
    }[which]
    file = tmp_path / "mine.csv"
    file.write_text("mine")
    path.value = str(file)
    assert cleaner.files.question.layout.display == "none"
    button.click()
    cleaner.settle()
    assert "mine.csv already exists. Replace it?" in cleaner._notice.value
    assert cleaner.files.question.layout.display is None
    cleaner.files.keep_button.click()
    assert "is unchanged" in cleaner._notice.value
    cleaner.files.replace_button.click()
    assert file.read_text() == "mine", "no question is open: a late click answers none"
    button.click()
    cleaner.settle().files.replace_button.click()
    cleaner.settle()
    assert "rows written to" in cleaner._notice.value
    assert cleaner.files.question.layout.display == "none"
    assert file.read_text().startswith('"phone"' if which == "clean" else '"row","phone"')


@pytest.mark.parametrize("change", ["path", "country"])
def test_a_question_is_about_the_file_and_the_rows_it_was_asked_for(tmp_path: Path, change: str) -> None:
    """Another name or another reading of the list takes it back."""
    cleaner = PhoneCleaner(PEOPLE).settle()
    (tmp_path / "mine.csv").write_text("mine")
    cleaner.files.path.value = str(tmp_path / "mine.csv")
    cleaner.files.write_button.click()
    cleaner.settle()
    if change == "path":
        cleaner.files.path.value = str(tmp_path / "other.csv")
    else:
        cleaner.default_region.value = "DE"
    assert cleaner.files.question.layout.display == "none"
    cleaner.files.replace_button.click()
    assert [file.name for file in tmp_path.iterdir()] == ["mine.csv"]
    cleaner.settle()


def test_the_list_itself_is_never_written_over(tmp_path: Path) -> None:
    """Neither by its name nor by a link to it, and no question offers it."""
    file = tmp_path / "list.csv"
    PEOPLE.to_csv(file, index=False)
    (tmp_path / "link.csv").symlink_to(file)
    before = file.read_bytes()
    cleaner = PhoneCleaner(file).settle()
    for name in ("list.csv", "link.csv"):
        for path, button in (
            (cleaner.files.path, cleaner.files.write_button),
            (cleaner.files.clean_path, cleaner.files.clean_button),
        ):
            path.value = str(tmp_path / name)
            button.click()
            cleaner.settle()
            assert "Nothing was written." in cleaner._notice.value
            assert "itself" in cleaner._notice.value
            assert cleaner.files.question.layout.display == "none"
    assert file.read_bytes() == before


def test_rows_of_a_file_are_labelled_as_the_file_counts_them(tmp_path: Path) -> None:
    """On the form, in the file of unusable rows and where a duplicate names another row."""
    file = tmp_path / "list.csv"
    file.write_text('phone,note\n+12025550123,"a\nb"\n\n(202) 555-0123,\nnobody,\n', encoding="utf-8")
    cleaner = PhoneCleaner(file, default_region="US").settle()
    cleaner.files.path.value = str(tmp_path / "unusable.csv")
    cleaner.files.write_button.click()
    cleaner.settle()
    unusable = pd.read_csv(tmp_path / "unusable.csv")
    assert unusable["row"].tolist() == [4, 5]
    assert unusable["meaning"].tolist() == ["the number of row 2", "not a phone number"]


def test_the_cleaner_reads_a_file_and_shows_hostile_cells_as_text(tmp_path: Path) -> None:
    file = tmp_path / "list.csv"
    file.write_text("phone,name\n<img src=x onerror=alert(1)>,A\n+12025550123,B\n", encoding="utf-8")
    cleaner = PhoneCleaner(file).settle()
    assert "<img" not in shown_rows(cleaner)
    cleaner.shown.value = "unusable"
    assert "+12025550123" not in shown_rows(cleaner)


def test_without_a_phone_column_none_is_guessed() -> None:
    cleaner = PhoneCleaner(PEOPLE[["land"]]).settle()
    assert cleaner.phone.value == ""
    assert "Choose the column of the phone numbers." in cleaner.files.content.value
    assert "no column" not in cleaner.files.content.value
    cleaner.phone.value = "land"
    assert cleaner.settle().table is not None


def test_a_country_nobody_knows_is_said_instead_of_counts(tmp_path: Path) -> None:
    cleaner = PhoneCleaner(PEOPLE)
    cleaner.default_region.value = "XX"
    cleaner.settle()
    assert "The default country &#x27;XX&#x27; is not a country" in cleaner.files.content.value
    assert cleaner._list.layout.display == "none"
    cleaner.files.clean_button.click()
    cleaner.settle()
    assert "written" not in cleaner._notice.value


def test_pages_and_the_export_appear_when_there_is_something() -> None:
    good = PhoneCleaner(pd.DataFrame({"phone": ["+12025550123"]})).settle()
    assert (good._leafing.widget.layout.display, good.files.left_out.layout.display) == ("none", "none")
    good.shown.value = "unusable"
    assert good.rows._none.layout.display is None
    assert good.owner._asking.layout.display == "none"
    long = PhoneCleaner(pd.DataFrame({"phone": ["+12025550123"] * (PAGE + 1)})).settle()
    assert (long._leafing.widget.layout.display, long.files.left_out.layout.display) == (None, None)
    assert long.files.write_button.description == "Write 20 rows"


@pytest.mark.parametrize(
    ("source", "options", "said"),
    [
        (None, {}, "needs a DataFrame"),
        ("no/such.csv", {}, "file not found"),
        (pd.DataFrame(), {}, "no columns"),
        (PEOPLE, {"phone": "fone"}, "no column 'fone'"),
        (PEOPLE, {"region": "lan"}, "no column 'lan'"),
    ],
    ids=["none", "no file", "no columns", "no such phone column", "no such country column"],
)
def test_what_cannot_be_cleaned_is_refused(source: Any, options: dict[str, str], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        PhoneCleaner(source, **options)


@pytest.mark.parametrize(
    ("name", "after"), [("list.csv", "list.xlsx"), ("sales 2026.11", "sales 2026.11.xlsx"), (".", "."), ("/", "/")]
)
def test_another_format_is_another_ending(name: str, after: str) -> None:
    cleaner = PhoneCleaner(PEOPLE).settle()
    cleaner.files.clean_path.value = name
    cleaner.files.format.value = ".xlsx"
    assert cleaner.files.clean_path.value == after


def test_the_lines_of_code_read_the_file_and_do_the_same(tmp_path: Path) -> None:
    import smsotp_nb as sms

    PEOPLE.assign(type="mine").to_csv(tmp_path / "list.csv", index=False)
    cleaner = PhoneCleaner(tmp_path / "list.csv").settle()
    code = html.unescape(cleaner._lines.value.partition("<pre>")[2].partition("</pre>")[0])
    room: dict[str, Any] = {"sms": sms}
    exec(code, room)
    assert cleaner.table is not None
    assert room["numbers"]["to"].tolist()[:1] == cleaner.table["to"].tolist()[:1] == ["+12025550123"]


def open_row(cleaner: PhoneCleaner, name: str) -> None:
    """Press the button of a row."""
    cleaner.settle()
    next(button for button in cleaner.rows.buttons if button.description == f"Edit row {name}").click()


def test_a_row_is_edited_judged_written_and_undone(tmp_path: Path) -> None:
    file = tmp_path / "list.csv"
    file.write_text("phone,country\n\n+12025550123,US\n555-0145,US\nnobody,US\n", encoding="utf-8")
    before = file.read_bytes()
    cleaner = PhoneCleaner(file, phone="phone", region="country").settle()
    assert "1 of 3 rows, to list-clean.csv." in cleaner.files.content.value
    open_row(cleaner, "4")
    cleaner.editor.number.value = "202 555 0145"
    assert "✓ +12025550145" in cleaner.settle().editor._verdict.value
    cleaner.editor.save_button.click()
    assert "2 of 3 rows" in cleaner.settle().files.content.value
    open_row(cleaner, "5")
    cleaner.editor.leave_button.click()
    cleaner.settle().files.clean_path.value = str(tmp_path / "out.csv")
    cleaner.files.clean_button.click()
    assert "2 rows written to" in cleaner.settle()._notice.value
    assert pd.read_csv(tmp_path / "out.csv", dtype=str)["phone"].tolist() == ["+12025550123", "202 555 0145"]
    assert file.read_bytes() == before
    assert cleaner.edits["row"].tolist() == ["4", "5"]
    import smsotp_nb as sms

    room: dict[str, Any] = {"sms": sms}
    exec(html.unescape(cleaner._lines.value.partition("<pre>")[2].partition("</pre>")[0]), room)
    assert room["people"].index.tolist() == [3, 4]
    assert room["numbers"]["to"].tolist() == ["+12025550123", "+12025550145"]
    cleaner.undo_button.click()
    cleaner.settle().undo_button.click()
    assert "1 of 3 rows" in cleaner.settle().files.content.value
    assert cleaner.edits.empty


def test_a_row_that_is_saved_while_a_file_is_written_keeps_its_own_cells() -> None:
    """The next row is open by the time that the first one is saved, and stays open."""
    cleaner, written = PhoneCleaner(PEOPLE).settle(), threading.Event()
    cleaner.work.begin("a long file", lambda: written.wait(60) and None)
    cleaner.rows.buttons[2].click()
    cleaner.editor.number.value = "202 555 0145"
    cleaner.editor.save_button.click()
    cleaner.rows.buttons[4].click()
    cleaner.editor.number.value = "202 555 01"
    written.set()
    cleaner.settle()
    assert cleaner.edits[["row", "after"]].to_numpy().tolist() == [["b", "202 555 0145"]]
    assert cleaner.editor.opened is not None
    assert cleaner.editor.number.value == "202 555 01"


def test_the_owner_is_asked_and_the_answers_are_merged(tmp_path: Path) -> None:
    people = pd.DataFrame({"name": ["A", "B"], "phone": ["555-0145", "nobody"], "country": "US"}, index=["x", "y"])
    cleaner = PhoneCleaner(people, phone="phone", region="country").settle()
    cleaner.owner.path.value = cleaner.owner.back.value = str(tmp_path / "ask.xlsx")
    cleaner.owner.ask_button.click()
    assert "2 rows with complete numbers written" in cleaner.settle().owner.notice.value
    book = openpyxl.load_workbook(tmp_path / "ask.xlsx")
    sheet = book.worksheets[0]
    assert sheet["I10"].value == "A"
    sheet["F10"], sheet["H11"] = "+12025550145", "yes"
    book.save(tmp_path / "ask.xlsx")
    cleaner.owner.merge_button.click()
    assert "2 answers merged" in cleaner.settle().owner.notice.value
    assert cleaner.table is not None
    assert cleaner.table["result"].tolist() == ["fixed", "left out"]
    assert "merge_answers" in cleaner._lines.value
    cleaner.owner.merge_button.click()
    assert "0 answers merged." in cleaner.settle().owner.notice.value
    cleaner.undo_button.click()
    assert cleaner.settle().table["result"].tolist() == ["unusable", "unusable"]
    cleaner.owner.back.value = str(tmp_path / "no.xlsx")
    cleaner.owner.merge_button.click()
    assert "Nothing was merged. File not found" in cleaner.settle().owner.notice.value


def test_the_format_and_the_ending_of_the_name_are_one(tmp_path: Path) -> None:
    cleaner = PhoneCleaner(PEOPLE).settle()
    assert (cleaner.files.clean_path.value, cleaner.files.format.value) == ("list-clean.csv", ".csv")
    cleaner.files.format.value = ".xlsx"
    assert cleaner.files.clean_path.value == "list-clean.xlsx"
    cleaner.files.clean_path.value = str(tmp_path / "mine.tsv")
    assert cleaner.files.format.value == ".tsv"


def test_a_sheet_is_read_and_its_rows_counted(tmp_path: Path) -> None:
    with pd.ExcelWriter(tmp_path / "book.xlsx") as book:
        pd.DataFrame({"a": [1]}).to_excel(book, sheet_name="notes", index=False)
        pd.DataFrame({"phone": ["nobody"]}).to_excel(book, sheet_name="people", index=False, startrow=3)
    cleaner = PhoneCleaner(tmp_path / "book.xlsx", sheet="people", phone="phone").settle()
    assert "Row 5" in shown_rows(cleaner)
    assert "sheet=" in cleaner._lines.value


def test_the_cleaners_saved_output_holds_no_number() -> None:
    cleaner = PhoneCleaner(PEOPLE).settle()
    assert cleaner._repr_mimebundle_()["text/plain"] == "<PhoneCleaner of 6 rows; run the cell to use it>"


def test_the_inbox_view_shows_messages_and_hides_codes(box: Sandbox, client: Client) -> None:
    client.send_message("+12025550123", text="Hello")
    client.send_otp("+14155550100")
    code = box.code("+14155550100") or ""
    view, open_view = InboxView(box), InboxView(client, codes=True)
    told: list[str] = []
    open_view._pane.observe(lambda change: told.append(change["new"]), "value")
    client.send_otp("+14155550100")
    newest = box.code("+14155550100") or ""
    open_view.refresh()
    open_view.refresh()
    assert "Hello" in view._pane.value
    assert [newest in shown for shown in told] == [True, False]
    for pane in (view._pane, open_view._pane):
        assert code not in pane.value
        assert newest not in pane.value
    view.widget.close()
    open_view.widget.close()


@pytest.mark.parametrize("given", [None, "real"])
def test_an_inbox_needs_a_sandbox(given: str | None) -> None:
    real = Client(Settings(base_url="https://sms.example", access_key_id=Secret("key")))
    with pytest.raises(UsageError, match="needs a Sandbox"):
        InboxView(real if given else None)  # type: ignore[arg-type]


def test_the_inbox_view_says_when_the_sandbox_has_ended() -> None:
    box = Sandbox()
    view = InboxView(box)
    box.close()
    assert view.refresh() is False
    assert "has ended" in view._pane.value
    view.widget.close()


# -- only the newest


def test_only_what_was_asked_last_is_taken() -> None:
    begun, go_on, taken = threading.Event(), threading.Event(), []

    def make(asked: str) -> str:
        if asked == "old":
            begun.set()
            assert go_on.wait(120)
        return asked

    latest = Latest(make, taken.append, wait=0.0)
    latest.ask("old")
    assert begun.wait(120)
    slow = latest._timer
    latest.ask("new")
    latest.settle()
    go_on.set()
    assert slow is not None
    slow.join(120)
    assert taken == ["new"]
