"""The phone cleaner and the cards of the analysts' notebooks, and what is left of a form in a notebook reopened."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import openpyxl

from .conftest import Lab, Notebook, expect

CLEANER = """
from smsotp_nb.widgets import PhoneCleaner
PhoneCleaner(phone="phone", region="country")
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


CONTROLS = "button, input, select, textarea, summary"


def test_a_list_is_uploaded_edited_downloaded_and_its_owner_asked(notebook: Notebook, lab: Lab, tmp_path: Path) -> None:
    """By keyboard from the filter to the merged answers; the focus never leaves the form."""
    messy, folder = tmp_path / "messy.csv", lab.folder / "notebooks"
    messy.write_text("\n".join(MESSY), encoding="utf-8")
    there = {*folder.iterdir()}
    notebook.open(lab.write("cleaner.ipynb", CLEANER)).run_all()
    page = notebook.page
    card = page.locator(".smsotp-form")
    choose(card.get_by_role("button", name="Choose a list"), messy)
    card.get_by_text("2 of 28 rows; to decide about: 25.").wait_for()
    card.get_by_text("Page 1 of 5, 25 rows").wait_for()
    assert card.locator(CONTROLS).filter(visible=True).count() <= 15, "14 and the button that chose the list"
    assert notebook.look() == []

    card.get_by_role("button", name="Next rows").focus()
    for at in (2, 3, 4, 5):
        page.keyboard.press("Enter")
        card.get_by_text(f"Page {at} of 5").wait_for()
    page.wait_for_function("() => document.activeElement.textContent === 'Previous rows'")
    notebook.delete_keys()
    card.get_by_label("Find").fill("2")
    card.get_by_label("Find").press("Enter")

    card.get_by_role("button", name="Edit row 2", exact=True).focus()
    page.keyboard.press("Enter")
    number = card.get_by_label("Number of this row")
    page.wait_for_function("() => document.activeElement.tagName === 'INPUT'")
    number.fill("202 555 0145")
    card.get_by_text("✓ +12025550145, United States").wait_for()
    assert notebook.look(picture="cleaner-edit") == []
    number.press("Enter")
    card.get_by_text("3 of 28 rows").wait_for()
    page.wait_for_function(INSIDE)

    clean = card.get_by_role("button", name="Download the clean list, 3 rows")
    clean.focus()
    with page.expect_download() as download:
        page.keyboard.press("Enter")
    assert download.value.suggested_filename == "messy-clean.csv"
    assert "202 555 0145" in Path(download.value.path()).read_text(encoding="utf-8")
    card.get_by_text("Downloaded: 3 rows in messy-clean.csv.").wait_for()
    page.wait_for_function(INSIDE)

    card.get_by_role("button", name="The rows left out").click()
    with page.expect_download() as download:
        card.get_by_role("button", name="Download the questions").click()
    questions = tmp_path / download.value.suggested_filename
    download.value.save_as(questions)
    card.get_by_text("24 rows with complete numbers in messy-questions.xlsx").wait_for()
    answered(questions, "3", "+1 202 555 0147")
    answered(questions, "4", "ask Kim")
    choose(card.get_by_role("button", name="Choose the workbook as it came back"), questions)
    card.get_by_text("1 answer merged").wait_for()
    card.get_by_text("4 of 28 rows").wait_for()
    card.get_by_text("✕ still unusable").wait_for()
    assert notebook.look(picture="cleaner-merged") == []
    card.get_by_role("button", name="Undo the last edit").focus()
    page.keyboard.press("Enter")
    card.get_by_text("3 of 28 rows").wait_for()
    page.keyboard.press("Enter")
    card.get_by_text("2 of 28 rows").wait_for()
    page.wait_for_function(INSIDE)
    assert {*folder.iterdir()} - there <= {folder / "cleaner.ipynb", folder / ".ipynb_checkpoints"}


def choose(button: Any, file: Path) -> None:
    with button.page.expect_file_chooser() as chooser:
        button.click()
    chooser.value.set_files(file)


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


LENGTH = """() => Array.from(document.querySelectorAll('.jp-Notebook .jp-Cell'))
  .map(cell => cell.getBoundingClientRect().height).reduce((all, height) => all + height, 0)"""


def test_the_campaign_notebook_can_be_read_from_top_to_bottom(notebook: Notebook) -> None:
    notebook.open("notebooks/campaign.ipynb").run_all()
    notebook.page.locator(".smsotp-card", has_text="Nothing has been sent.").wait_for()
    assert int(notebook.kernel("len(box.inbox)")) > 100
    assert notebook.page.evaluate(LENGTH) <= 5_000  # pixels; what is longer is not read
    assert notebook.kernel("box.inbox['to'].is_unique") == "True"
    assert notebook.look(".smsotp-card") == []
