"""The campaign form in JupyterLab: write, check, send, stop, go on after a kernel's restart; themes and widths."""

from __future__ import annotations

from typing import Any

from .conftest import THEMES, Lab, Notebook, axe_findings, cut_texts

FORM = """
import smsotp_nb as sms
from smsotp_nb.widgets import CampaignForm
people = sms.read_recipients("../sample_data/recipients.csv")
box = sms.Sandbox(state="form-sandbox.sqlite")
form = CampaignForm(people, client=box.client(), suppress="../sample_data/suppression.csv",
                    rates="../sample_data/rates.csv")
form
"""


SOME_ACCEPTED = "() => Number(document.querySelector('.smsotp-figures dd')?.textContent) > 0"


def write(card: Any) -> None:
    card.get_by_label("Campaign name").fill("spring")
    card.get_by_label("Country of the rest").fill("DE")
    card.get_by_label("Signature").fill("Acme")
    card.get_by_label("Text", exact=True).fill("Hi {name}, 20 % off until Sunday.")
    card.get_by_text("rows would be texted").wait_for()


def click(card: Any, name: str) -> None:
    card.get_by_role("button", name=name).click()


def look(notebook: Notebook, theme: str) -> list[str]:
    """Return what axe-core objects to in this theme, and what is cut at any of the widths."""
    notebook.theme(theme)
    findings = axe_findings(notebook.page)
    for pixels in (390, 760, 1280):
        notebook.width(pixels)
        findings += [f"cut at {pixels}: {found}" for found in cut_texts(notebook.page)]
    return findings


def test_a_campaign_is_written_sent_stopped_and_finished_after_a_restart(notebook: Notebook, lab: Lab) -> None:
    notebook.open(lab.write("campaign_form.ipynb", FORM)).run_all()
    card = notebook.page.locator(".smsotp-form")
    write(card)
    assert look(notebook, THEMES[0]) == []
    click(card, "Check the plan")
    card.get_by_role("button", name="about USD").wait_for()
    assert look(notebook, THEMES[1]) == []
    notebook.kernel("box.fault('latency', seconds=0.4)")
    click(card, "about USD")
    notebook.page.wait_for_function(SOME_ACCEPTED)
    click(card, "Stop sending")
    card.get_by_text("Stopped:").wait_for()
    assert look(notebook, THEMES[2]) == []
    stopped = int(notebook.kernel("len(box.inbox)"))
    assert 0 < stopped < 200

    notebook.restart()
    notebook.run_all()
    write(card)
    click(card, "Check the plan")
    card.get_by_text("This campaign is on record").wait_for()
    click(card, "Send the remaining")
    card.get_by_text(", 0 to go.").wait_for()
    assert int(notebook.kernel("len(box.inbox)")) > stopped
    assert notebook.kernel("box.inbox['to'].is_unique") == "True"
