"""The phone cleaner and the cards of the analysts' notebooks, and what is left of a form in a notebook reopened."""

from __future__ import annotations

from .conftest import THEMES, Lab, Notebook, axe_findings, cut_texts

CLEANER = """
from smsotp_nb.widgets import PhoneCleaner
cleaner = PhoneCleaner("../sample_data/recipients.csv")
cleaner
"""


def test_the_cleaner_is_driven_to_a_file_of_rejected_rows(notebook: Notebook, lab: Lab) -> None:
    notebook.open(lab.write("cleaner.ipynb", CLEANER), THEMES[2]).run_all()
    page = notebook.page
    card = page.locator(".smsotp-form")
    card.get_by_text("Page 1 of").wait_for()
    assert axe_findings(page) == []
    card.get_by_label("Country of the rest").fill("DE")
    card.get_by_label("Show").select_option("invalid")
    card.get_by_text("Page 1 of 2").wait_for()
    card.get_by_role("button", name="Next rows").click()
    card.get_by_text("Page 2 of 2").wait_for()
    for pixels in (390, 760, 1280):
        notebook.width(pixels)
        assert cut_texts(page) == []
    card.get_by_role("button", name="Write them").click()
    card.get_by_text("rows written to").wait_for()
    assert "problem" in (lab.folder / "notebooks" / "rejected.csv").read_text(encoding="utf-8").splitlines()[0]


def test_cards_stay_and_forms_name_themselves_in_a_notebook_reopened(notebook: Notebook) -> None:
    path = "notebooks/cost.ipynb"
    notebook.open(path, THEMES[1]).run_all()
    page = notebook.page
    cards = page.locator(".smsotp-card")
    shown = cards.count()
    assert shown >= 3
    assert axe_findings(page, ".smsotp-card") == []
    notebook.command("docmanager:save")
    notebook.shut_down()
    notebook.open(path, THEMES[1])
    cards.first.wait_for()
    assert cards.count() == shown
