"""The phone cleaner and the inbox view without a browser."""

from __future__ import annotations

import html
import io
import re
import threading
from pathlib import Path
from typing import Any

import openpyxl
import pandas as pd
import pytest
from support.forms import states
from support.uploads import taken, upload

from smsotp_nb import Client, Sandbox
from smsotp_nb._cards import Marked
from smsotp_nb._widgets.cleaner.judging import (
    PAGE,
    Edits,
    Question,
    Step,
    clean,
    export,
    filters,
    judged_alone,
    marked,
    rows,
)
from smsotp_nb._widgets.stages import Latest
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


def test_export_holds_reasons_and_no_formula() -> None:
    content, count = export(clean(PEOPLE, QUESTION), "unusable.csv")
    written = pd.read_csv(io.BytesIO(content), dtype="str")
    assert (count, len(written)) == (4, 4)
    assert written["problem"].tolist() == ["DUPLICATE_OF", "NOT_A_NUMBER", "MISSING", written["problem"].iat[3]]
    assert written["to"].iat[0] == "+12025550123"
    assert not written["phone"].iat[3].startswith("=")


def test_unusable_rows_carry_their_label_and_the_reason_in_words() -> None:
    """The list's own columns of these names stay."""
    people = PEOPLE.assign(row="mine", meaning="mine too")
    content, _ = export(clean(people, QUESTION), "unusable.xlsx")
    written = pd.read_excel(io.BytesIO(content), dtype="str", engine="openpyxl")
    assert written["sms_row"].tolist() == ["b", "b", "d", "e"]
    assert written["sms_meaning"].tolist()[:3] == [
        "the number of row a",
        "not a phone number",
        "no number in the cell: blank, or a word such as n/a",
    ]
    assert set(written["row"]) == {"mine"}
    assert set(written["meaning"]) == {"mine too"}


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".xlsx"])
def test_clean_and_unusable_rows_are_the_list(ending: str) -> None:
    """Each row is in one of the two files."""
    cleaned = clean(PEOPLE, QUESTION)
    (usable, count), (_, others) = (export(cleaned, f"list{ending}", which=which) for which in ("usable", "left out"))
    file = io.BytesIO(usable)
    is_book = ending == ".xlsx"
    written = (
        pd.read_excel(file, dtype="str", engine="openpyxl") if is_book else pd.read_csv(file, sep=None, engine="python")
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


def downloaded(cleaner: PhoneCleaner, button: Any) -> tuple[str, bytes]:
    button.click()
    return taken(cleaner.settle().download)


def test_the_cleaner_guesses_columns_and_follows_its_fields() -> None:
    cleaner = PhoneCleaner(PEOPLE).settle()
    assert (cleaner.phone.value, cleaner.region.value) == ("phone", "land")
    cleaner.region.value = ""
    cleaner.settle()
    assert cleaner.table is not None
    assert cleaner.table["to"].notna().sum() == 1
    cleaner.default_region.value = "us"
    assert cleaner.settle().table["to"].notna().sum() == 3
    name, content = downloaded(cleaner, cleaner.rest.button)
    assert (name, content.count(b"\n")) == ("list-left-out.csv", 5)
    assert "Downloaded: 4 rows in list-left-out.csv." in cleaner._notice.value
    assert cleaner.left_out is not None
    assert len(cleaner.left_out) == 4


def test_it_opens_on_the_rows_to_decide_about() -> None:
    """Nothing to decide, and it opens on all rows; what is chosen then stays."""
    cleaner = PhoneCleaner(PEOPLE).settle()
    assert cleaner.shown.value == "unusable"
    assert "2 of 6 rows; to decide about: 3." in cleaner._content.value
    cleaner.shown.value = ""
    cleaner.default_region.value = "DE"
    assert cleaner.settle().shown.value == ""
    assert PhoneCleaner(PEOPLE.iloc[:2]).settle().shown.value == ""


def test_a_list_is_uploaded_and_another_takes_its_place() -> None:
    cleaner = PhoneCleaner(default_region="US")
    assert cleaner.table is None
    assert cleaner._all.layout.display == "none"
    upload(cleaner._file.button, "C:\\lists\\first.tsv", b"phone\tname\n(202) 555-0123\tAnn\nnobody\tBob\n")
    assert "first.tsv: 2 rows." in cleaner.settle()._head.value
    name, content = downloaded(cleaner, cleaner.clean.button)
    assert (name, content.splitlines()[1].split(b"\t")[2]) == ("first-clean.tsv", b'"+12025550123"')
    assert "'first.tsv'" in html.unescape(cleaner._lines.value)
    assert "and choose first.tsv again" in cleaner._saved().text()
    open_row(cleaner, "3")
    upload(cleaner._file.button, "second.csv", b"mobile;land\n202 555 0147;US\n")
    assert cleaner.settle().phone.value == "mobile"
    assert (cleaner.editor.opened, cleaner.edits.empty, len(cleaner.table)) == (None, True, 1)  # type: ignore[arg-type]
    assert downloaded(cleaner, cleaner.clean.button)[0] == "second-clean.csv"
    assert "202 555 0147" not in states(cleaner.widget).replace(cleaner.rows._texts[0].value, "")


@pytest.mark.parametrize("content", [b"", b"a,a\n1,2\n"], ids=["empty", "twice a name"])
def test_an_upload_that_cannot_be_used_leaves_no_list_in_use(content: bytes) -> None:
    cleaner = PhoneCleaner()
    upload(cleaner._file.button, "first.csv", b"phone\n+12025550123\n")
    cleaner.settle()
    upload(cleaner._file.button, "second.csv", content)
    assert (cleaner.settle().table, cleaner.frame) == (None, None)
    assert "second.csv" in cleaner._file.said.value
    assert cleaner._all.layout.display == "none"
    cleaner.clean.button.click()
    assert not cleaner.settle().download.open


def test_a_column_that_was_asked_for_must_be_in_the_uploaded_list() -> None:
    cleaner = PhoneCleaner(phone="mobile")
    upload(cleaner._file.button, "first.csv", b"phone\n+12025550123\n")
    assert "no column 'mobile'" in html.unescape(cleaner._file.said.value)
    assert cleaner.frame is None


def test_rows_of_a_file_are_labelled_as_the_file_counts_them(tmp_path: Path) -> None:
    """On the form, in the file of unusable rows and where a duplicate names another row."""
    file = tmp_path / "list.csv"
    file.write_text('phone,note\n+12025550123,"a\nb"\n\n(202) 555-0123,\nnobody,\n', encoding="utf-8")
    cleaner = PhoneCleaner(file, default_region="US").settle()
    unusable = pd.read_csv(io.BytesIO(downloaded(cleaner, cleaner.rest.button)[1]))
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
    assert "Choose the column of the phone numbers." in cleaner._lacking.value
    assert cleaner._reading.fields.layout.display is None, "the choice is open"
    cleaner.phone.value = "land"
    assert cleaner.settle().table is not None


def test_a_country_nobody_knows_is_said_instead_of_counts() -> None:
    cleaner = PhoneCleaner(PEOPLE)
    cleaner.default_region.value = "XX"
    cleaner.settle()
    assert "The default country &#x27;XX&#x27; is not a country" in cleaner._lacking.value
    assert cleaner.table is not None
    assert cleaner.table["to"].isna().all()
    assert cleaner._list.layout.display == "none"
    cleaner.clean.button.click()
    assert not cleaner.settle().download.open


def test_pages_and_the_export_appear_when_there_is_something() -> None:
    good = PhoneCleaner(pd.DataFrame({"phone": ["+12025550123"]})).settle()
    assert (good._leafing.widget.layout.display, good._rest.layout.display) == ("none", "none")
    good.shown.value = "unusable"
    assert good.rows._none.layout.display is None
    assert good.owner._asking.layout.display == "none"
    long = PhoneCleaner(pd.DataFrame({"phone": ["+12025550123"] * (PAGE + 1)})).settle()
    assert (long._leafing.widget.layout.display, long._rest.layout.display) == (None, None)
    assert long.rest.button.description == f"Download the {PAGE} rows left out"
    long._leafing.after.click()
    assert "Page 2 of 2" in long.settle()._where.value
    mixed = PhoneCleaner(pd.DataFrame({"phone": ["+12025550123", "nobody"]})).settle()
    assert "nobody" in mixed.rows._texts[0].value
    assert "→" not in mixed.rows._texts[0].value


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
    cleaner.settle().shown.value = ""
    next(button for button in cleaner.rows.buttons if button.description == f"Edit row {name}").click()


def test_a_row_is_edited_judged_written_and_undone(tmp_path: Path) -> None:
    file = tmp_path / "list.csv"
    file.write_text("phone,country\n\n+12025550123,US\n555-0145,US\nnobody,US\n", encoding="utf-8")
    before = file.read_bytes()
    cleaner = PhoneCleaner(file, phone="phone", region="country").settle()
    assert "1 of 3 rows" in cleaner._content.value
    open_row(cleaner, "4")
    cleaner.editor.number.value = "202 555 0145"
    assert "✓ +12025550145" in cleaner.settle().editor._verdict.value
    cleaner.editor.save_button.click()
    assert "2 of 3 rows" in cleaner.settle()._content.value
    open_row(cleaner, "5")
    cleaner.editor.leave_button.click()
    name, content = downloaded(cleaner.settle(), cleaner.clean.button)
    assert name == "list-clean.csv"
    assert pd.read_csv(io.BytesIO(content), dtype=str)["phone"].tolist() == ["+12025550123", "202 555 0145"]
    assert file.read_bytes() == before
    assert cleaner.edits["row"].tolist() == ["4", "5"]
    import smsotp_nb as sms

    room: dict[str, Any] = {"sms": sms}
    exec(html.unescape(cleaner._lines.value.partition("<pre>")[2].partition("</pre>")[0]), room)
    assert room["people"].index.tolist() == [3, 4]
    assert room["numbers"]["to"].tolist() == ["+12025550123", "+12025550145"]
    cleaner.undo_button.click()
    cleaner.settle().undo_button.click()
    assert "1 of 3 rows" in cleaner.settle()._content.value
    assert cleaner.edits.empty


def test_a_row_that_is_saved_while_a_file_is_written_keeps_its_own_cells() -> None:
    """The next row is open by the time that the first one is saved, and stays open."""
    cleaner, written = PhoneCleaner(PEOPLE).settle(), threading.Event()
    cleaner.shown.value = ""
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


def test_the_owner_is_asked_and_the_answers_are_merged() -> None:
    people = pd.DataFrame({"name": ["A", "B"], "phone": ["555-0145", "nobody"], "country": "US"}, index=["x", "y"])
    cleaner = PhoneCleaner(people, phone="phone", region="country").settle()
    name, content = downloaded(cleaner, cleaner.owner.ask.button)
    assert name == "list-questions.xlsx"
    assert "2 rows with complete numbers in list-questions.xlsx" in cleaner._notice.value
    book = openpyxl.load_workbook(io.BytesIO(content))
    sheet, file = book.worksheets[0], io.BytesIO()
    assert sheet["I10"].value == "A"
    sheet["F10"], sheet["H11"] = "+12025550145", "yes"
    book.save(file)
    upload(cleaner.owner.back, "ask.xlsx", file.getvalue())
    assert "2 answers merged" in cleaner.settle()._notice.value
    assert cleaner.table is not None
    assert cleaner.table["result"].tolist() == ["fixed", "left out"]
    assert "merge_answers" in cleaner._lines.value
    upload(cleaner.owner.back, "ask.xlsx", file.getvalue())
    assert "0 answers merged." in cleaner.settle()._notice.value
    cleaner.undo_button.click()
    assert cleaner.settle().table["result"].tolist() == ["unusable", "unusable"]
    upload(cleaner.owner.back, "no.xlsx", b"no workbook")
    assert "Nothing was merged. No.xlsx" in cleaner.settle()._notice.value
    assert "smsotp-" not in re.sub(r"class=.[^>]*", "", cleaner._notice.value)


def test_a_sheet_is_read_and_its_rows_counted(tmp_path: Path) -> None:
    with pd.ExcelWriter(tmp_path / "book.xlsx") as book:
        pd.DataFrame({"a": [1]}).to_excel(book, sheet_name="notes", index=False)
        pd.DataFrame({"phone": ["nobody"]}).to_excel(book, sheet_name="people", index=False, startrow=3)
    cleaner = PhoneCleaner(tmp_path / "book.xlsx", sheet="people", phone="phone").settle()
    assert "Row 5" in shown_rows(cleaner)
    assert "sheet=" in cleaner._lines.value
    assert "book.xlsx, sheet people: 1 row." in cleaner._head.value


def test_the_inbox_view_shows_messages_and_hides_codes(box: Sandbox, client: Client) -> None:
    client.send_message("+12025550123", text="Hello")
    client.send_otp("+14155550100")
    code = box.code("+14155550100") or ""
    view, open_view = InboxView(box), InboxView(client, codes=True)
    told: list[str] = []
    open_view._pane.observe(lambda change: told.append(change["new"]), "value")
    client.send_otp("+14155550100")
    newest = box.code("+14155550100") or ""
    open_view._refresh()
    open_view._refresh()
    assert "Hello" in view._pane.value
    assert [newest in shown for shown in told] == [True, False]
    for pane in (view._pane, open_view._pane):
        assert code not in pane.value
        assert newest not in pane.value
    view.widget.close()
    open_view.widget.close()


def test_the_inbox_view_says_when_the_sandbox_has_ended() -> None:
    box = Sandbox()
    view = InboxView(box)
    box.close()
    assert view._refresh() is False
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


def test_advice_names_the_tick_of_the_form() -> None:
    cells = [f"0491 570 1{n:02} (ring twice)" for n in range(6, 12)]
    form = PhoneCleaner(pd.DataFrame({"phone": cells}), phone="phone", default_region="AU").settle()
    assert "tick “Words after the number” under “Change”" in form._figures.value
    assert "NumberOptions(" not in form._figures.value
