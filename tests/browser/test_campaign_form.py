"""The campaign form in JupyterLab: write, check, send, stop, go on after a kernel's restart, and the real service."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from pathlib import Path
from typing import Any

from .conftest import WIDTHS, Lab, Notebook, expect

FORM = """
import smsotp_nb as sms
from smsotp_nb.widgets import CampaignForm
people = sms.read_recipients("../sample_data/recipients.csv")
box = sms.Sandbox(state="form-sandbox.sqlite")
form = CampaignForm(people, client=box.client(), exclude="../sample_data/suppression.csv",
                    rates="../sample_data/rates.csv")
form
"""


REAL = 'sms.Client(sms.Settings(base_url=box.url, access_key_id=sms.settings.Secret("live-key-4711")))'
LIVE = FORM.replace("box.client()", REAL).replace('state="form-sandbox.sqlite"', "")
TOP_HAS_FOCUS = """() => document.activeElement.matches('.smsotp-top *')
  && document.querySelector('.smsotp-form').getBoundingClientRect().top >= 0"""
SOME_ACCEPTED = "() => Number(document.querySelector('.smsotp-card:has(.so-meter) .so-figure div')?.textContent) > 0"


def write(card: Any) -> None:
    card.get_by_label("Campaign name").fill("spring")
    card.get_by_label("Default country").fill("DE")
    card.get_by_label("Signature").fill("Acme")
    card.get_by_label("Text", exact=True).fill("Hi {name}, 20% off until Sunday.")
    card.get_by_text("rows would be texted").wait_for()


def click(card: Any, name: str) -> None:
    card.get_by_role("button", name=name).click()


def test_a_campaign_is_written_sent_stopped_and_finished_after_a_restart(notebook: Notebook, lab: Lab) -> None:
    notebook.open(lab.write("restarted_form.ipynb", FORM)).run_all()
    card = notebook.page.locator(".smsotp-form")
    write(card)
    assert notebook.look() == []
    click(card, "Check the plan")
    notebook.page.wait_for_function(TOP_HAS_FOCUS)
    notebook.delete_keys()
    assert notebook.look() == []
    notebook.kernel("box.fault('latency', seconds=0.4)")
    click(card, "about USD")
    notebook.page.wait_for_function(SOME_ACCEPTED)
    click(card, "Stop sending")
    card.get_by_text("Stopped:").first.wait_for()
    assert notebook.look() == []
    stopped = int(notebook.kernel("len(box.inbox)"))
    assert 0 < stopped < 200
    assert notebook.page.locator('[data-mime-type="application/vnd.jupyter.stderr"]').count() == 0  # all is in the card

    notebook.restart()
    notebook.run_all()
    card.get_by_text("is here: campaign spring.").wait_for()
    assert notebook.look(picture="restart-draft") == []
    click(card, "Continue with it")
    notebook.page.wait_for_function("() => document.activeElement.matches('textarea')")
    click(card, "Check the plan")
    card.get_by_text("This campaign is already recorded").wait_for()
    notebook.kernel("box.fault('drop_before', next=1)")
    click(card, "Send the other")
    card.get_by_text("Rows in doubt are never sent again").wait_for()
    assert notebook.look(picture="doubt") == []
    click(card, "Tick")
    click(card, "not accepted")
    click(card, "Yes, send")
    card.get_by_text("to go again; nothing was sent yet.").first.wait_for()
    notebook.page.wait_for_function("() => document.activeElement.closest('.smsotp-form')")
    click(card, "Send the other")
    card.get_by_text(", 0 to go.").wait_for()
    click(card, "All rows: filter")
    with notebook.page.expect_download() as file:
        click(card, "rows, CSV")
    assert Path(file.value.path()).read_text(encoding="utf-8-sig").count("accepted") >= 200
    assert int(notebook.kernel("len(box.inbox)")) > stopped
    assert notebook.kernel("box.inbox['to'].is_unique") == "True"


FEW_CONTROLS = """() => {
  const controls = document.querySelectorAll('.smsotp-campaign :is(button, input, select, textarea, summary)');
  return Array.from(controls).filter(part => part.checkVisibility({visibilityProperty: true})).length <= 10;
}"""
IN_SIGHT = """part => {
  const box = part.getBoundingClientRect();
  return part.contains(document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2));
}"""
BOTTOM = "(part) => part.getBoundingClientRect().bottom - part.closest('.smsotp-form').getBoundingClientRect().top"


def test_the_shipped_notebook_takes_two_fields_and_two_clicks(notebook: Notebook) -> None:
    """To a sample campaign that is sent; the first screen has at most ten controls, and Send is in sight."""
    notebook.open("notebooks/campaign_form.ipynb").run_all()
    card = notebook.page.locator(".smsotp-campaign")
    notebook.page.wait_for_function(FEW_CONTROLS)
    card.get_by_label("Campaign name").fill("sample")
    card.get_by_label("Text", exact=True).fill("Hi {name|there}, 20% off until Sunday.")
    click(card, "Check the plan")
    summary = card.get_by_text("people, about USD").first
    summary.wait_for()
    notebook.page.wait_for_function(FEW_CONTROLS)
    send = card.get_by_role("button", name="Send 2")
    assert send.evaluate(BOTTOM) < 900
    assert notebook.look(picture="check") == []
    for pixels in WIDTHS:  # in a window lower than the screen of the form
        notebook.resize(pixels, 600)
        summary.evaluate("part => part.scrollIntoView({block: 'start'})")
        notebook.page.wait_for_function(IN_SIGHT, arg=send.element_handle())  # once the page is laid out anew
    click(card, "Who is not texted and why")
    notebook.resize(WIDTHS[0])
    assert notebook.look(picture="check-details") == []
    people = (summary.text_content() or "").split()[0]
    send.click()
    card.get_by_text(f"{people} accepted").first.wait_for()
    assert notebook.kernel("len(box.inbox)") == people


def upload(notebook: Notebook, card: Any, file: Any) -> None:
    with notebook.page.expect_file_chooser() as chosen:
        card.get_by_role("button", name=re.compile("Choose the (list|orders)")).click()
    chosen.value.set_files(file)


def test_a_list_is_uploaded_tried_corrected_and_sent(notebook: Notebook, lab: Lab) -> None:
    """The whole job: upload, plan, test message, canary, opt-out, another text for the others, what was refused."""
    source = FORM.replace("form-sandbox", "canary-sandbox").replace("CampaignForm(people, ", "CampaignForm(")
    notebook.open(lab.write("canary_form.ipynb", source)).run_all()
    card, page = notebook.page.locator(".smsotp-form"), notebook.page
    assert notebook.look(picture="upload-0") == []
    upload(notebook, card, lab.folder / "sample_data" / "recipients.csv")
    card.get_by_text("recipients.csv: ").wait_for()
    click(card, "Check the plan")
    card.get_by_text("Enter a campaign name").first.wait_for()
    page.wait_for_function("() => document.activeElement.matches('.smsotp-invalid input')")
    assert notebook.look(picture="upload-1-faults") == []
    write(card)
    expect(card.locator(".smsotp-fault:visible")).to_have_count(0)
    card.get_by_label("Campaign name").fill("canary")
    card.get_by_label("Text", exact=True).fill("Hi {name}, 2% off until Sunday.")
    click(card, "Check the plan")
    page.wait_for_function(TOP_HAS_FOCUS)
    click(card, "Who is not texted and why")
    card.get_by_text("Not texted now").wait_for()
    click(card, "Send me a test message first")
    card.get_by_label("Your own number").fill("+1 415 555 0100")
    click(card, "Send me the first message as a test")
    card.get_by_text("accepted: 1 part").wait_for()
    assert notebook.kernel("len(box.inbox)") == "1"
    assert notebook.look(picture="upload-2-plan") == []

    click(card, "Limits:")
    card.get_by_label("Spend at most").fill("USD 20")
    card.get_by_label("Spend at most").press("Tab")
    first = card.get_by_label("Send first to how many, then look (0: all)")
    first.fill("5")
    first.press("Tab")
    card.get_by_text("first=5").wait_for(state="attached")  # the label stays the same, what it stands for does not
    card.get_by_role("button", name="Send 0 of 2").click()  # the budget does not fit this list
    card.get_by_text("KE, VN has none").first.wait_for()
    page.wait_for_function("() => document.activeElement.matches('.smsotp-invalid input')")
    card.get_by_label("Spend at most").fill("")
    card.get_by_label("Messages a second").fill("50")
    card.get_by_label("Messages a second").press("Tab")
    card.get_by_text("At most 50 messages a second; stops after 10 failed requests in a row.").wait_for()
    assert notebook.look(picture="upload-3-canary") == []
    click(card, "Send the first 5 messages")
    card.get_by_text("The first recipients were texted: 5").wait_for()
    page.wait_for_function(TOP_HAS_FOCUS)
    assert notebook.kernel("len(box.inbox)") == "6"
    card.get_by_role("button", name="Send the other").wait_for()
    stopped = notebook.kernel("form.results.loc[form.results['status'].eq('planned'), 'to'].iloc[20]").strip("'")
    click(card, "Opt-outs:")
    card.get_by_label("Number of the person").fill(stopped)
    card.get_by_label("How it came").fill("phone call")
    assert notebook.look(picture="upload-4-look") == []
    click(card, "Record the opt-out")
    card.get_by_text("opted out, and no campaign").wait_for()
    others = int(notebook.kernel("form.steps.to_go"))
    card.get_by_text(f" {others} to go").first.wait_for()

    click(card, f"Change the text for the other {others}")
    card.get_by_text("were texted and keep their text").wait_for()
    page.wait_for_function("() => document.activeElement.matches('textarea')")
    card.get_by_label("Campaign name").fill("canary-2")
    click(card, "Check the plan")
    card.get_by_text("are texted by both").wait_for()
    page.wait_for_function("() => document.activeElement.matches('.smsotp-framed input')")
    assert notebook.look(picture="upload-5-another-name") == []
    card.get_by_label("Campaign name").fill("canary")
    card.get_by_label("Phone column").and_(page.locator(":disabled")).wait_for()
    card.get_by_label("Text", exact=True).fill("Hi {name}, 20% off until Sunday.")
    click(card, "Check the plan")
    card.get_by_label("Why the text changes, for the record").fill("typo")
    card.get_by_text("sms.revise(plan, client, reason='typo')").wait_for(state="attached")
    assert notebook.look(picture="upload-6-corrected") == []
    click(card, f"Change the text and send the other {others} messages")
    card.get_by_text(", 0 to go.").wait_for()
    assert notebook.look(picture="upload-7-results") == []
    inbox = "box.inbox[box.inbox['to'].ne('+14155550100')]"
    assert notebook.kernel(f"{inbox}['to'].is_unique") == "True"
    assert notebook.kernel(f"'{stopped}' in set(box.inbox['to'])") == "False"
    assert notebook.kernel(f"{inbox}['text'].str.contains(', 2%').tolist()") == repr([True] * 5 + [False] * others)
    assert int(notebook.kernel(f"int({inbox}['text'].str.contains(', 20%').sum())")) == others
    notebook.save_widgets()
    saved = notebook.saved()
    content = (lab.folder / "sample_data" / "recipients.csv").read_bytes()
    assert "FileUploadModel" in saved
    assert b64encode(content[:300]).decode()[:200] not in saved
    assert content[:300].decode()[40:120] not in saved
    assert stopped not in saved


def test_a_number_typed_without_leaving_its_field_is_on_the_button_that_is_pressed(
    notebook: Notebook, lab: Lab
) -> None:
    """The press that leaves the field: as many are sent as the button said when it was pressed, or none."""
    notebook.open(lab.write("first_form.ipynb", FORM.replace("form-sandbox", "first-sandbox"))).run_all()
    card, page = notebook.page.locator(".smsotp-form"), notebook.page
    write(card)
    click(card, "Check the plan")
    button = card.get_by_role("button", name="about USD")
    button.wait_for()
    first = card.get_by_label("Send first to how many, then look (0: all)")
    first.focus()
    page.evaluate(PRESS_AT_ONCE)  # typed and pressed before the kernel hears of either
    card.get_by_text("had changed when you pressed it").wait_for()
    assert notebook.kernel("len(box.inbox)") == "0"
    expect(card.locator(".smsotp-told:visible")).to_have_count(0)
    assert notebook.look(picture="pressed-another") == []
    first.fill("")
    page.keyboard.type("3")
    card.get_by_role("button", name="Send the first 3 messages").wait_for()
    assert first.evaluate("field => document.activeElement === field")
    click(card, "Send the first 3 messages")
    card.get_by_text("The first recipients were texted: 3").wait_for()
    assert notebook.kernel("len(box.inbox)") == "3"
    card.get_by_role("button", name="Send the other").dblclick()
    card.get_by_text(", 0 to go.").wait_for()
    assert notebook.kernel("box.inbox['to'].is_unique") == "True"


PRESS_AT_ONCE = """() => {
  const field = document.activeElement;
  field.value = '5';
  field.dispatchEvent(new Event('input', {bubbles: true}));
  const buttons = Array.from(document.querySelectorAll('.smsotp-pinned button'));
  buttons.find(one => one.innerText.includes('about USD')).click();
}"""


def test_a_refused_second_list_is_not_sent_to_the_first(notebook: Notebook, lab: Lab) -> None:
    source = FORM.replace("form-sandbox", "second-sandbox").replace("CampaignForm(people, ", "CampaignForm(")
    notebook.open(lab.write("second_form.ipynb", source)).run_all()
    card = notebook.page.locator(".smsotp-form")
    upload(notebook, card, lab.folder / "sample_data" / "recipients.csv")
    card.get_by_text("List: recipients.csv, ").wait_for()
    write(card)
    click(card, "Check the plan")
    card.get_by_text("Suppression list: ../sample_data/suppression.csv.").wait_for()
    assert notebook.look(picture="named-list") == []
    click(card, "Back to the text")
    upload(notebook, card, {"name": "second.xlsx", "mimeType": "", "buffer": b"no workbook"})
    card.get_by_text("No list is in use.").wait_for()
    assert notebook.look(picture="refused-list") == []
    click(card, "Check the plan")
    card.get_by_text("There is no plan yet. Choose the list of recipients.").wait_for()
    assert card.get_by_role("button", name="about USD").count() == 0
    assert notebook.kernel("len(box.inbox)") == "0"


def test_the_real_service_is_named_and_wants_the_number_typed(notebook: Notebook, lab: Lab) -> None:
    notebook.open(lab.write("live_form.ipynb", LIVE)).run_all()
    page, card = notebook.page, notebook.page.locator(".smsotp-form")
    expect(card.get_by_text("Live service at http://127.0.0.1").first).to_be_visible()
    write(card)
    click(card, "Check the plan")
    click(card, "messages to real people, about USD")
    card.get_by_text("to confirm; nothing was sent.").wait_for()
    assert notebook.kernel("len(box.inbox)") == "0"
    assert notebook.look() == []
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
