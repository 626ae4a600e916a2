"""The phone cleaner and the cards of the analysts' notebooks, and what is left of a form in a notebook reopened."""

from __future__ import annotations

import re

import pytest

from .conftest import THEMES, Lab, Notebook, axe_findings, cut_texts

CLEANER = """
from smsotp_nb.widgets import PhoneCleaner
cleaner = PhoneCleaner("../sample_data/recipients.csv")
cleaner
"""


def test_the_cleaner_is_driven_to_a_file_of_unusable_rows(notebook: Notebook, lab: Lab) -> None:
    rows = ["unknown"] * 25 + ["+1 202 555 0123", "+1 415 555 0100"]
    (lab.folder / "notebooks" / "long.csv").write_text("phone\n" + "\n".join(rows), encoding="utf-8")
    cell = CLEANER.replace("../sample_data/recipients.csv", "long.csv")
    notebook.open(lab.write("cleaner.ipynb", cell), THEMES[2]).run_all()
    page = notebook.page
    card = page.locator(".smsotp-form")
    card.get_by_text("Page 1 of").wait_for()
    assert axe_findings(page) == []
    card.get_by_label("Default country").fill("DE")
    card.get_by_label("Show").select_option("invalid")
    card.get_by_text("Page 1 of 2").wait_for()
    card.get_by_role("button", name="Next rows").click()
    card.get_by_text("Page 2 of 2").wait_for()
    page.wait_for_function("() => document.activeElement.textContent === 'Previous rows'")
    cells = notebook.cells()
    page.keyboard.press("d")
    page.keyboard.press("d")
    assert notebook.cells() == cells
    for pixels in (390, 760, 1280):
        notebook.width(pixels)
        assert cut_texts(page) == []
    card.get_by_role("button", name=re.compile(r"^Write \d+ rows$")).click()
    card.get_by_text("rows written to").wait_for()
    assert "problem" in (lab.folder / "notebooks" / "unusable.csv").read_text(encoding="utf-8").splitlines()[0]


@pytest.mark.parametrize("theme", THEMES[:2])
def test_a_file_that_is_there_is_asked_about_by_keyboard(notebook: Notebook, lab: Lab, theme: str) -> None:
    """The clean list is written; again, and it asks: Enter keeps the file, Shift+Tab and Enter replaces it."""
    clean = lab.folder / "notebooks" / "clean.csv"
    clean.unlink(missing_ok=True)
    notebook.open(lab.write("cleaner.ipynb", CLEANER), theme).run_all()
    page = notebook.page
    card = page.locator(".smsotp-form")
    card.get_by_text("Page 1 of").wait_for()
    card.get_by_label("Show").select_option("duplicate")
    write = card.get_by_role("button", name=re.compile(r"^Write \d+ clean rows$"))
    write.click()
    card.get_by_text("rows written to").wait_for()
    assert "+" in clean.read_text(encoding="utf-8")
    clean.write_text("mine", encoding="utf-8")
    write.click()
    card.get_by_text("already exists. Replace it?").wait_for()
    page.wait_for_function("() => document.activeElement.textContent === 'Keep it'")
    assert axe_findings(page) == []
    for pixels in (390, 760, 1280):
        notebook.width(pixels)
        assert cut_texts(page) == []
        notebook.shoot(f"cleaner-question-{theme.split()[-1].lower()}-{pixels}")
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
    notebook.open(path, THEMES[1]).run_all()
    page = notebook.page
    form, place = page.locator(".smsotp-form"), page.locator(".smsotp-place")
    form.nth(1).wait_for()
    form.first.get_by_label("Phone number", exact=True).fill("+1 415 555 0100")
    form.first.get_by_text("✓ United States").wait_for()
    assert not any(line.is_visible() for line in place.all())
    assert axe_findings(page, ".smsotp-card") == []
    notebook.command("docmanager:save")

    notebook.open(path, THEMES[1])
    form.nth(1).wait_for()
    assert form.first.get_by_label("Phone number", exact=True).input_value() == "+1 415 555 0100"
    assert not any(line.is_visible() for line in place.all())
    notebook.shut_down()

    notebook.open(path, THEMES[1])
    place.nth(1).wait_for()
    assert [line.is_visible() for line in place.all()] == [True, True]
    assert not any(line.is_visible() for line in page.get_by_text("Error displaying widget").all())
    assert page.locator(".smsotp-card").last.is_visible()
