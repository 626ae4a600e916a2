"""The campaign form in JupyterLab: write, check, send, stop, go on after a kernel's restart, and the real service."""

from __future__ import annotations

import json
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


REAL = 'sms.Client(sms.Settings(base_url=box.url, access_key_id=sms.settings.Secret("live-key-4711")))'
LIVE = FORM.replace("box.client()", REAL).replace('state="form-sandbox.sqlite"', "")
TOP_HAS_FOCUS = """() => document.activeElement.matches('.smsotp-top *')
  && document.querySelector('.smsotp-form').getBoundingClientRect().top >= 0"""
SOME_ACCEPTED = "() => Number(document.querySelector('.smsotp-figures dd')?.textContent) > 0"


def write(card: Any) -> None:
    card.get_by_label("Campaign name").fill("spring")
    card.get_by_label("Default country").fill("DE")
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
    notebook.page.wait_for_function(TOP_HAS_FOCUS)
    cells = notebook.cells()
    notebook.page.keyboard.press("d")
    notebook.page.keyboard.press("d")
    assert notebook.cells() == cells
    assert look(notebook, THEMES[1]) == []
    notebook.kernel("box.fault('latency', seconds=0.4)")
    click(card, "about USD")
    notebook.page.wait_for_function(SOME_ACCEPTED)
    click(card, "Stop sending")
    card.get_by_text("Stopped:").wait_for()
    assert look(notebook, THEMES[2]) == []
    stopped = int(notebook.kernel("len(box.inbox)"))
    assert 0 < stopped < 200
    assert notebook.page.locator('[data-mime-type="application/vnd.jupyter.stderr"]').count() == 0  # all is in the card

    notebook.restart()
    notebook.run_all()
    write(card)
    click(card, "Check the plan")
    card.get_by_text("This campaign is already recorded").wait_for()
    notebook.kernel("box.fault('drop_before', next=1)")
    click(card, "Send the other")
    card.get_by_text("Rows in doubt are never sent again").wait_for()
    assert look(notebook, THEMES[2]) == []
    click(card, "Not accepted: retry with the next send")
    card.get_by_text("planned again; nothing was sent yet").wait_for()
    click(card, "Send the other")
    card.get_by_text(", 0 to go.").wait_for()
    assert int(notebook.kernel("len(box.inbox)")) > stopped
    assert notebook.kernel("box.inbox['to'].is_unique") == "True"


def test_after_a_canary_somebody_says_stop_and_a_typo_is_corrected(notebook: Notebook, lab: Lab) -> None:
    notebook.open(lab.write("canary_form.ipynb", FORM.replace("form-sandbox", "canary-sandbox"))).run_all()
    card = notebook.page.locator(".smsotp-form")
    write(card)
    card.get_by_label("Campaign name").fill("canary")
    card.get_by_label("Text", exact=True).fill("Hi {name}, 2 % off until Sunday.")
    click(card, "Check the plan")
    click(card, "Guards:")
    card.get_by_label("First recipients (0: all)").fill("5")
    card.get_by_label("First recipients (0: all)").press("Tab")
    click(card, "Send the first 5 messages")
    card.get_by_text("The canary was sent: 5").wait_for()
    assert notebook.kernel("len(box.inbox)") == "5"
    card.get_by_role("button", name="Send the other").wait_for()
    stopped = notebook.kernel("form.results.loc[form.results['status'].eq('planned'), 'to'].iloc[20]").strip("'")
    click(card, "Opt-outs:")
    card.get_by_label("Number of the person").fill(stopped)
    card.get_by_label("How it came").fill("phone call")
    assert look(notebook, THEMES[1]) == []
    click(card, "Record the opt-out")
    card.get_by_text("opted out, and no campaign").wait_for()
    others = int(notebook.kernel("form.steps.to_go"))

    click(card, f"Change the text for the other {others}")
    card.get_by_text("were texted and keep their text").wait_for()
    assert card.get_by_label("Campaign name").is_disabled()
    card.get_by_label("Text", exact=True).fill("Hi {name}, 20 % off until Sunday.")
    assert look(notebook, THEMES[2]) == []
    click(card, "Check the plan")
    card.get_by_label("Why the text changes, for the record").fill("typo")
    card.get_by_text(").correct(plan, reason='typo')").wait_for(state="attached")
    assert look(notebook, THEMES[0]) == []
    click(card, f"Change the text and send the other {others} messages")
    card.get_by_text(", 0 to go.").wait_for()
    assert look(notebook, THEMES[1]) == []
    assert notebook.kernel("box.inbox['to'].is_unique") == "True"
    assert notebook.kernel(f"'{stopped}' in set(box.inbox['to'])") == "False"
    assert notebook.kernel("box.inbox['text'].str.contains(', 2 %').tolist()") == repr([True] * 5 + [False] * others)
    assert notebook.kernel("box.inbox['text'].str.contains(', 20 %').sum()") in (str(others), f"np.int64({others})")


def test_the_real_service_is_named_and_wants_the_number_typed(notebook: Notebook, lab: Lab) -> None:
    notebook.open(lab.write("live_form.ipynb", LIVE)).run_all()
    page, card = notebook.page, notebook.page.locator(".smsotp-form")
    assert card.get_by_text("Live service at http://127.0.0.1").first.is_visible()
    write(card)
    click(card, "Check the plan")
    click(card, "messages to real people, about USD")
    card.get_by_text("to confirm; nothing was sent.").wait_for()
    assert notebook.kernel("len(box.inbox)") == "0"
    for theme in THEMES:
        assert look(notebook, theme) == []
    number = notebook.kernel("form.steps.to_go")
    page.wait_for_function("() => document.activeElement.matches('.smsotp-framed input')")
    page.keyboard.type(number)
    click(card, "messages to real people, about USD")
    card.get_by_text(", 0 to go.").wait_for()
    assert notebook.kernel("len(box.inbox)") == number
    notebook.command("docmanager:save")
    saved = json.loads((lab.folder / "notebooks" / "live_form.ipynb").read_text(encoding="utf-8"))
    assert saved["cells"][0]["outputs"]
    assert "live-key-4711" not in json.dumps(saved["cells"][0]["outputs"])
