"""Questions to the owner of a list: the workbook, what owners and spreadsheets do to it, answers merged back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import openpyxl
import pandas as pd
import pytest

from smsotp_nb import phones, read_recipients
from smsotp_nb.errors import OutputExistsError, UsageError

PEOPLE = pd.DataFrame(
    {
        "name": ["Ann", "Ben", "=HYPERLINK(1)", "Dora", "Eve"],
        "phone": ["+12025550123", "555-0123", "=cmd|' /C calc'!A0", "+1 (202) 555 01", None],
        "country": ["US", "US", "US", "US", "GB"],
    },
    index=pd.Index([2, 3, 5, 8, 9], name="row"),
)
ASKED = {"phone": "phone", "region": "country"}


def written(people: pd.DataFrame, file: Path, **more: Any) -> Path:
    judged = phones.normalize(people["phone"], region=people["country"])
    return phones.ask_owner(people, judged, file, **{**ASKED, **more})


def grid(file: Path) -> list[list[Any]]:
    return [list(row) for row in openpyxl.load_workbook(file).worksheets[0].iter_rows(values_only=True)]


def head_of(file: Path) -> int:
    return next(at for at, row in enumerate(grid(file)) if row[0] == "Row")


def answer(file: Path, answers: dict[int, dict[str, Any]]) -> Path:
    """Fill in cells by row of the list and column, as the owner would, and save."""
    book = openpyxl.load_workbook(file)
    sheet = book.worksheets[0]
    head = head_of(file) + 1
    columns = {cell.value: cell.column for cell in sheet[head]}
    rows = {str(sheet.cell(at, 1).value): at for at in range(head + 1, sheet.max_row + 1)}
    for label, cells in answers.items():
        for column, value in cells.items():
            sheet.cell(rows[str(label)], columns[column]).value = value
    book.save(file)
    return file


# -- the workbook


def test_the_owner_sees_row_number_reason_and_room(tmp_path: Path) -> None:
    file = written(PEOPLE, tmp_path / "ask.xlsx", keep=["name"])
    rows = grid(file)[head_of(file) :]
    assert rows[0] == [
        "Row", "Number", "Country", "Why it cannot be used", "What is needed",
        "New number", "New country", "Leave out", "name",
    ]  # fmt: skip
    assert [row[0] for row in rows[1:]] == ["3", "5", "8", "9"]
    assert rows[1][1:5] == ["555-0123", "US", "the area code is missing", "the area codes"]
    assert rows[4][1] is None
    assert all(row[5:8] == [None, None, None] for row in rows[1:])
    said = " ".join(str(row[0]) for row in grid(file)[: head_of(file)])
    for words in ("save this file as .xlsx", "as a spreadsheet counts it", "for the owner of the list only"):
        assert words in said


def test_no_cell_of_the_workbook_can_run(tmp_path: Path) -> None:
    """Numbers keep their plus, blanks and brackets: nothing in them is a name."""
    file = written(PEOPLE, tmp_path / "ask.xlsx", keep=["name"])
    cells = [cell for row in openpyxl.load_workbook(file).worksheets[0].iter_rows() for cell in row if cell.value]
    assert not [cell.coordinate for cell in cells if cell.data_type == "f" or str(cell.value).startswith(("=", "@"))]
    values = [cell.value for cell in cells]
    assert "+1 (202) 555 01" in values
    assert "'=cmd|' /C calc'!A0" in values
    below = [cell for cell in cells if cell.row > head_of(file) + 1]
    assert {cell.number_format for cell in below} == {"@"}
    assert all(cell.quotePrefix for cell in below)


def test_labels_of_a_frame_are_named_as_such(tmp_path: Path) -> None:
    file = written(PEOPLE.set_axis(list("abcde")), tmp_path / "ask.xlsx")
    said = " ".join(str(row[0]) for row in grid(file)[: head_of(file)])
    assert "what the list itself calls the row" in said
    assert "spreadsheet counts" not in said


def test_a_column_of_ours_in_the_list_keeps_its_content(tmp_path: Path) -> None:
    file = written(PEOPLE.assign(Row="mine"), tmp_path / "ask.xlsx", keep=["Row"])
    rows = grid(file)[head_of(file) :]
    assert rows[0][-1] == "sms_Row"
    assert rows[1][-1] == "mine"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"path": "ask.csv"}, "must end in .xlsx"),
        ({"phone": "fone"}, "did you mean 'phone'"),
        ({"keep": ["nom"]}, "no column 'nom'"),
        ({"people": PEOPLE.head(1)}, "nothing to ask"),
        ({"people": PEOPLE.set_axis(list("aabbc"))}, "more than one row is called 'a'"),
    ],
    ids=["ending", "phone", "keep", "nothing", "labels"],
)
def test_what_cannot_be_asked_is_said(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    people = change.pop("people", PEOPLE)
    with pytest.raises(UsageError, match=said):
        written(people, tmp_path / change.pop("path", "ask.xlsx"), **change)
    assert list(tmp_path.iterdir()) == []


def test_another_list_cannot_be_judged_for_this_one(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="the same rows"):
        phones.ask_owner(PEOPLE, phones.normalize(PEOPLE["phone"].head(2)), tmp_path / "ask.xlsx", phone="phone")


def test_a_file_that_is_there_stays_and_the_list_always(tmp_path: Path) -> None:
    file = written(PEOPLE, tmp_path / "ask.xlsx")
    with pytest.raises(OutputExistsError):
        written(PEOPLE, file)
    with pytest.raises(UsageError, match="itself"):
        written(PEOPLE, file, overwrite=True, inputs=[file])


# -- the answers


def merged(file: Path, people: pd.DataFrame = PEOPLE, **more: Any) -> phones.Answers:
    return phones.merge_answers(people, file, **{**ASKED, **more})


def test_answers_are_judged_and_merged_on_the_lists_index(tmp_path: Path) -> None:
    before = PEOPLE.copy(deep=True)
    file = answer(
        written(PEOPLE, tmp_path / "ask.xlsx"),
        {3: {"New number": "202 555 0145"}, 5: {"Leave out": "yes"}, 8: {"New number": "+49 171", "New country": "DE"}},
    )
    found = merged(file)
    assert found.answers["result"].tolist() == ["corrected", "left out", "still unusable", "no answer"]
    assert found.answers.index.name == "answer_row"
    assert found.answers["row"].tolist() == ["3", "5", "8", "9"]
    assert found.answers.index.tolist() == [head_of(file) + at for at in (2, 3, 4, 5)]
    assert found.people.index.tolist() == [2, 3, 8, 9]
    assert found.people["phone"].tolist()[:3] == ["+12025550123", "202 555 0145", "+1 (202) 555 01"]
    assert found.people.loc[8, "country"] == "US", "of an answer that cannot be used nothing is taken"
    assert found.edits == {3: {"phone": "202 555 0145"}, 5: None}
    assert found.unusable == 2
    assert found.people.dtypes.equals(PEOPLE.dtypes)
    pd.testing.assert_frame_equal(PEOPLE, before)
    pd.testing.assert_frame_equal(phones.edit(PEOPLE, found.edits), found.people)


def test_a_workbook_of_a_file_finds_the_rows_of_the_file(tmp_path: Path) -> None:
    """Blank rows count, and a second reading of the same file takes the answers."""
    source = tmp_path / "list.csv"
    source.write_text("\nname,phone,country\n\nAnn,555-0123,US\nBen,+12025550123,US\n", encoding="utf-8")
    people = read_recipients(source)
    file = answer(written(people, tmp_path / "ask.xlsx", inputs=[source]), {4: {"New number": "202 555 0145"}})
    again = merged(file, read_recipients(source))
    assert again.people["phone"].to_dict() == {4: "202 555 0145", 5: "+12025550123"}


def test_columns_in_another_order_fewer_rows_and_more_sheets(tmp_path: Path) -> None:
    file = answer(written(PEOPLE, tmp_path / "ask.xlsx", keep=["name"]), {8: {"New number": "+1 202 555 0188"}})
    rows = grid(file)[head_of(file) :]
    order = [7, 0, 5, 8, 1]
    book = openpyxl.Workbook()
    book.active.append(["our own notes"])
    sheet = book.create_sheet("answers")
    sheet.append(["seen by Kim"])
    for row in (rows[0], rows[3]):
        sheet.append([row[at] for at in order])
    sheet.append([])
    book.create_sheet("more").append(["Row", "of something else"])
    book.save(file)
    found = merged(file)
    assert found.answers["result"].to_dict() == {3: "corrected"}
    assert found.people.loc[8, "phone"] == "+1 202 555 0188"
    assert found.unusable == 3


def test_a_row_whose_number_changed_meanwhile_is_left_as_it_is(tmp_path: Path) -> None:
    file = answer(written(PEOPLE, tmp_path / "ask.xlsx"), {3: {"New number": "+12025550145"}})
    found = merged(file, PEOPLE.assign(phone=PEOPLE["phone"].mask(PEOPLE.index == 3, "555-0199")))
    assert found.answers["result"].iat[0] == "changed meanwhile"
    assert "another number" in found.answers["meaning"].iat[0]
    assert found.people.loc[3, "phone"] == "555-0199"


def test_merging_again_changes_nothing(tmp_path: Path) -> None:
    file = answer(written(PEOPLE, tmp_path / "ask.xlsx"), {3: {"New number": "+12025550145"}, 5: {"Leave out": "x"}})
    once = merged(file)
    twice = merged(file, once.people)
    assert twice.answers["result"].tolist()[:2] == ["already in the list", "not in the list"]
    pd.testing.assert_frame_equal(twice.people, once.people)


@pytest.mark.parametrize(
    ("cells", "result", "meaning"),
    [
        ({"New number": 415556000000.0}, "unclear", "4.15556E+11"),
        ({"New number": "4.15556E+11"}, "still unusable", "the last digits are lost"),
        ({"New number": 12025550145}, "corrected", "took it for a number"),
        ({"New number": 2025550145.0}, "corrected", "took it for a number"),
        ({"New number": "leave out"}, "left out", None),
        ({"Leave out": True}, "left out", None),
        ({"Leave out": "no"}, "no answer", None),
        ({"Leave out": "perhaps"}, "unclear", "'perhaps'"),
        ({"Leave out": "yes", "New number": "+12025550145"}, "unclear", "only one of the two"),
        ({"New number": "+12025550123"}, "corrected", "the number of row 2"),
        ({"New number": "ask Kim"}, "still unusable", "not a phone number"),
        ({"New number": "   "}, "no answer", None),
    ],
    ids=str,
)
def test_what_owners_and_spreadsheets_write(
    tmp_path: Path, cells: dict[str, Any], result: str, meaning: str | None
) -> None:
    found = merged(answer(written(PEOPLE, tmp_path / "ask.xlsx"), {3: cells}))
    told = found.answers.iloc[0]
    assert told["result"] == result
    assert (meaning in told["meaning"]) if meaning else pd.isna(told["meaning"])
    assert (3 in found.edits) == (result in ("corrected", "left out"))


def test_a_number_that_lost_its_zero_in_the_workbook_is_still_the_same(tmp_path: Path) -> None:
    people = pd.DataFrame({"phone": ["0202555"], "country": "US"}, index=[2])
    file = answer(written(people, tmp_path / "ask.xlsx"), {2: {"Number": 202555, "New number": "+12025550145"}})
    assert merged(file, people).edits == {2: {"phone": "+12025550145"}}


def test_two_answers_for_a_row_must_agree(tmp_path: Path) -> None:
    file = answer(written(PEOPLE, tmp_path / "ask.xlsx"), {3: {"New number": "+12025550145"}})
    book = openpyxl.load_workbook(file)
    sheet = book.worksheets[0]
    line = [cell.value for cell in sheet[head_of(file) + 2]]
    sheet.append(line)
    book.save(file)
    assert merged(file).edits == {3: {"phone": "+12025550145"}}
    sheet.append([*line[:5], "+12025550146", *line[6:]])
    book.save(file)
    found = merged(file)
    assert found.edits == {}
    assert found.refused["meaning"].str.contains("more than one answer").all()
    assert len(found.refused) == 3


def test_a_new_country_alone_makes_a_number_usable(tmp_path: Path) -> None:
    people = pd.DataFrame({"phone": ["202 555 0145", "202 555 0147"], "country": pd.Categorical([None, "US"])})
    file = answer(written(people, tmp_path / "ask.xlsx"), {0: {"New country": "United States"}})
    assert merged(file, people).people["country"].tolist() == ["United States", "US"]
    without = people[["phone"]]
    file = phones.ask_owner(without, phones.normalize(without["phone"]), tmp_path / "b.xlsx", phone="phone")
    answer(file, {0: {"New country": "US"}})
    found = phones.merge_answers(without, file, phone="phone")
    assert found.people["phone"].tolist() == ["+12025550145", "202 555 0147"]


def test_the_card_tells_each_answer_that_was_not_taken(tmp_path: Path) -> None:
    people = pd.DataFrame({"phone": [f"555-0{at}" for at in range(100, 125)], "country": "US"})
    file = answer(written(people, tmp_path / "ask.xlsx"), {at: {"New number": "<b>"} for at in range(25)})
    card = merged(file, people)._repr_html_()
    assert "and 5 more" in card
    assert "<b>&lt;" not in card
    assert "555-0" not in card
    assert "25  rows still unusable" in str(merged(file, people))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("other.xlsx", "no sheet has the columns 'Row', 'Number', 'New number'"),
        ("a.csv", "save it as .xlsx"),
        ("no.xlsx", "file not found"),
    ],
    ids=["another workbook", "csv", "no file"],
)
def test_what_is_no_workbook_of_questions_is_refused(tmp_path: Path, name: str, said: str) -> None:
    pd.DataFrame({"Row": [1]}).to_excel(tmp_path / "other.xlsx")
    (tmp_path / "a.csv").write_text("Row,Number,New number\n", encoding="utf-8")
    with pytest.raises(UsageError, match=said):
        merged(tmp_path / name)
