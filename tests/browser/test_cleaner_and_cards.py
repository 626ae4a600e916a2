"""The phone cleaner and the cards of the analysts' notebooks, and what is left of a form in a notebook reopened."""

from __future__ import annotations

from pathlib import Path

import openpyxl

from .conftest import Lab, Notebook, expect

CLEANER = """
from smsotp_nb.widgets import PhoneCleaner
cleaner = PhoneCleaner("../sample_data/recipients.csv")
cleaner
"""


MESSY = ["phone,name,country"]
MESSY += [f"555-01{at},Person {at},US" for at in range(10, 35)]
MESSY += ["+1 202 555 0123,Ann,US", "+1 415 555 0100,Ben,US", "(202) 555-0123,Ann again,US"]
INSIDE = "() => document.activeElement.closest('.smsotp-form') !== null"


def answered(file: Path, row: str, number: str) -> None:
    """Fill in one row of the workbook, as the owner of the list would."""
    book = openpyxl.load_workbook(file)
    sheet = book.worksheets[0]
    head = next(at for at in range(1, 20) if sheet.cell(at, 1).value == "Row")
    columns = {cell.value: cell.column for cell in sheet[head]}
    line = next(at for at in range(head, sheet.max_row + 1) if sheet.cell(at, 1).value == row)
    sheet.cell(line, columns["New number"]).value = number
    book.save(file)


def test_a_list_is_filtered_edited_written_and_its_owner_asked(notebook: Notebook, lab: Lab) -> None:
    """By keyboard from the filter to the merged answers; the focus never leaves the form."""
    folder = lab.folder / "notebooks"
    for old in folder.glob("messy*"):
        old.unlink()
    (folder / "messy.csv").write_text("\n".join(MESSY), encoding="utf-8")
    cell = CLEANER.replace('"../sample_data/recipients.csv"', '"messy.csv", phone="phone", region="country"')
    notebook.open(lab.write("cleaner.ipynb", cell)).run_all()
    page = notebook.page
    card = page.locator(".smsotp-form")
    card.get_by_text("2 of 28 rows, to messy-clean.csv.").wait_for()
    assert notebook.look() == []

    card.get_by_label("Show").select_option(label="unusable (25)")
    card.get_by_text("Page 1 of 2, 25 rows").wait_for()
    card.get_by_role("button", name="Next rows").focus()
    page.keyboard.press("Enter")
    card.get_by_text("Page 2 of 2").wait_for()
    page.wait_for_function("() => document.activeElement.textContent === 'Previous rows'")
    cells = notebook.cells()
    page.keyboard.press("d")
    page.keyboard.press("d")
    assert notebook.cells() == cells
    page.keyboard.press("Enter")
    card.get_by_text("Page 1 of 2").wait_for()

    card.get_by_role("button", name="Edit row 2", exact=True).focus()
    page.keyboard.press("Enter")
    number = card.get_by_label("Number of this row")
    page.wait_for_function("() => document.activeElement.tagName === 'INPUT'")
    number.fill("202 555 0145")
    card.get_by_text("✓ +12025550145, United States").wait_for()
    assert notebook.look(picture="cleaner-edit") == []
    number.press("Enter")
    card.get_by_text("3 of 28 rows, to messy-clean.csv.").wait_for()
    card.get_by_text("Page 1 of 2, 24 rows").wait_for()
    page.wait_for_function("() => document.activeElement.textContent === 'Edit row 3'")

    write = card.get_by_role("button", name="Write the clean list", exact=True)
    write.focus()
    page.keyboard.press("Enter")
    card.get_by_text("3 rows written to").wait_for()
    assert "202 555 0145" in (folder / "messy-clean.csv").read_text(encoding="utf-8")
    assert "555-0110" in (folder / "messy.csv").read_text(encoding="utf-8")
    page.wait_for_function(INSIDE)

    card.get_by_role("button", name="Ask the owner of the list").click()
    card.get_by_role("button", name="Write the workbook").click()
    card.get_by_text("24 rows with complete numbers written to").wait_for()
    answered(folder / "messy-questions.xlsx", "3", "+1 202 555 0147")
    answered(folder / "messy-questions.xlsx", "4", "ask Kim")
    card.get_by_label("The workbook as it came back").fill("messy-questions.xlsx")
    card.get_by_role("button", name="Merge the answers").click()
    card.get_by_text("1 answer merged").wait_for()
    card.get_by_text("4 of 28 rows, to messy-clean.csv.").wait_for()
    card.get_by_text("✕ still unusable").wait_for()
    assert notebook.look(picture="cleaner-merged") == []
    card.get_by_role("button", name="Undo the last edit").focus()
    page.keyboard.press("Enter")
    card.get_by_text("3 of 28 rows, to messy-clean.csv.").wait_for()
    page.keyboard.press("Enter")
    card.get_by_text("2 of 28 rows, to messy-clean.csv.").wait_for()
    page.wait_for_function(INSIDE)


def test_a_file_that_is_there_is_asked_about_by_keyboard(notebook: Notebook, lab: Lab) -> None:
    """The clean list is written; again, and it asks: Enter keeps the file, Shift+Tab and Enter replaces it."""
    clean = lab.folder / "notebooks" / "recipients-clean.csv"
    clean.unlink(missing_ok=True)
    notebook.open(lab.write("cleaner.ipynb", CLEANER)).run_all()
    page = notebook.page
    card = page.locator(".smsotp-form")
    card.get_by_text("Page 1 of").wait_for()
    write = card.get_by_role("button", name="Write the clean list", exact=True)
    write.click()
    card.get_by_text("rows written to").wait_for()
    assert "+" in clean.read_text(encoding="utf-8")
    clean.write_text("mine", encoding="utf-8")
    write.click()
    card.get_by_text("already exists. Replace it?").wait_for()
    page.wait_for_function("() => document.activeElement.textContent === 'Keep it'")
    assert notebook.look(picture="cleaner-question") == []
    page.keyboard.press("Enter")
    card.get_by_text("The file is unchanged.").wait_for()
    assert clean.read_text(encoding="utf-8") == "mine"
    write.click()
    page.wait_for_function("() => document.activeElement.textContent === 'Keep it'")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    card.get_by_text("rows written to").wait_for()
    assert clean.read_text(encoding="utf-8").startswith('"')


FORMS = """
import smsotp_nb as sms
box = sms.Sandbox()
sms.widgets.OtpForm(box)
"""
INBOX = "sms.widgets.InboxView(box)"
CARD = 'sms.cost.card(sms.results.read("../sample_data/results_two_currencies.csv"))'


def test_forms_and_cards_in_a_notebook_reopened(notebook: Notebook, lab: Lab) -> None:
    """A form comes back with its kernel, says how to get it back without; a card stays."""
    path = lab.write("reopened.ipynb", FORMS, INBOX, CARD)
    notebook.open(path).run_all()
    page = notebook.page
    form, place = page.locator(".smsotp-form"), page.locator(".smsotp-place")
    form.nth(1).wait_for()
    form.first.get_by_label("Phone number", exact=True).fill("+1 415 555 0100")
    form.first.get_by_text("✓ United States").wait_for()
    expect(page.locator(".smsotp-place:visible")).to_have_count(0)
    assert notebook.look(".smsotp-card") == []
    notebook.command("docmanager:save")

    notebook.open(path, anew=True)
    form.nth(1).wait_for()
    expect(form.first.get_by_label("Phone number", exact=True)).to_have_value("+1 415 555 0100")
    expect(page.locator(".smsotp-place:visible")).to_have_count(0)
    notebook.shut_down()

    notebook.open(path, anew=True)
    place.nth(1).wait_for()
    expect(page.locator(".smsotp-place:visible")).to_have_count(2)
    assert not any(line.is_visible() for line in page.get_by_text("Error displaying widget").all())
    expect(page.locator(".smsotp-card").last).to_be_visible()
