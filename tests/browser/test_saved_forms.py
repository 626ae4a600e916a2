"""A notebook with forms and a send, saved after the work: what it shows live, without its kernel, and not trusted."""

from __future__ import annotations

import json

import pytest

from .conftest import Lab, Notebook, expect

START = """
import threading, time, warnings, pandas as pd, smsotp_nb as sms
warnings.simplefilter("ignore")
box = sms.Sandbox()
some = pd.DataFrame({"phone": [f"+1 202 555 {n:04d}" for n in range(100, 140)]})
people = pd.DataFrame({"phone": [f"+1 415 555 {n:04d}" for n in range(100, 140)]})
plan = sms.plan(some, "Hi", to="phone", campaign="autumn-sale", requests=sms.RequestOptions(chunk_size=1))
done = sms.send(plan, client=box.client(), limits=sms.Limits(first=4))
"""
FORMS = (
    "form = sms.widgets.CampaignForm(people, client=box)\nform",
    "otp = sms.widgets.OtpForm(box)\notp",
    "cleaner = sms.widgets.PhoneCleaner(people).settle()\ncleaner",
)
WORK = """
fields = form.fields
fields.campaign.value, fields.words.value, fields.kind.value = "hello", "Hi canary-4711", "text"
def reached(stage):
    for _ in range(600):
        if form.steps.stage == stage:
            return
        time.sleep(0.05)
    raise TimeoutError(form.steps.stage, form.steps.refusal)
form.write.check_button.click()
reached("planned")
form.sending.send_button.click()
reached("done")
for work in threading.enumerate():
    if work.name == "smsotp-form": work.join()
"""
BUTTONS = {"form": "sending.back_button", "otp": "send_button", "cleaner": "clean.button"}
GOES = ("disabled = True", "layout.display = 'none'")
HELD = """number => (window.held = document.activeElement)
  && document.querySelectorAll('.smsotp-form')[number].contains(held) && held.matches('button:enabled')"""
STAYED = """number => (held.disabled || !held.getClientRects().length) && document.activeElement !== held
  && document.querySelectorAll('.smsotp-form')[number].contains(document.activeElement)"""
TOP_IN_VIEW = """() => document.activeElement.matches('.smsotp-form .smsotp-top *')
  && document.activeElement.getBoundingClientRect().top >= 0"""
OUTPUTS = """() => Array.from(document.querySelectorAll('.jp-OutputArea-child'))
  .filter(part => part.checkVisibility()).map(part => part.innerText.trim()).join(' ').replace(/\\s+/g, ' ')"""
SHOWN = f"words => ({OUTPUTS})().includes(words)"


@pytest.mark.slow
def test_what_was_done_is_what_a_saved_notebook_shows(notebook: Notebook, lab: Lab) -> None:
    """Live the forms alone; without a kernel, trusted or not, the cards of how it ended, and never an error."""
    path = lab.write("saved_forms.ipynb", START, *FORMS, WORK)
    notebook.open(path).run_all()
    page = notebook.page
    place, form = page.locator(".smsotp-place"), page.locator(".smsotp-form")
    form.nth(2).wait_for()
    form.first.get_by_text("40 accepted, 0 in doubt").wait_for()
    expect(page.locator(".smsotp-place:visible")).to_have_count(0)
    focus_stays(notebook)
    notebook.command("docmanager:save")
    notebook.shut_down()

    notebook.open(path, anew=True)
    place.nth(2).wait_for()
    ended(notebook)
    assert notebook.look(".smsotp-card", picture="saved-forms") == []
    notebook.shut_down()

    saved = json.loads((lab.folder / path).read_text(encoding="utf-8"))
    saved["cells"][0]["source"] = f"# not what was run\n{START}"
    for cell in saved["cells"]:
        cell["metadata"] = {}
        cell["id"] += "-copied"
    copied = "notebooks/saved_forms_copied.ipynb"
    unsigned = json.dumps(saved).replace("Run this cell", "Run  this cell")  # other outputs than were signed
    (lab.folder / copied).write_text(unsigned, encoding="utf-8")
    notebook.open(copied, anew=True)
    page.get_by_text("Campaign form: results").wait_for()
    assert page.locator(".smsotp-place style").count() == 0  # not trusted: the sheets are gone
    ended(notebook)


def ended(notebook: Notebook) -> None:
    """Look at what stands there: each output once, in words that are true."""
    for words in (
        "autumn-sale: not complete 4 of 4 in",
        "36 rows were not sent.",
        "Campaign form: results 40 accepted",
        "One-time passcode Run this cell to use it.",
        "Phone list 40 rows",
    ):
        notebook.page.wait_for_function(SHOWN, arg=words)
    shown = notebook.page.evaluate(OUTPUTS)
    for words in ("Error displaying widget", "model not found", "At step", "canary-4711", " 0%"):
        assert words not in shown


def focus_stays(notebook: Notebook) -> None:
    """Whatever has the focus in a form and goes dead or away: the focus stays in the form."""
    for number, (form, button) in enumerate(BUTTONS.items()):
        for change in GOES:
            target = f"{form}.{button}"
            notebook.kernel(f"[{target}.set_trait('disabled', False), {target}.focus()]")
            notebook.page.wait_for_function(HELD, arg=number)
            notebook.kernel(f"exec({f'{target}.{change}'!r})")
            notebook.page.wait_for_function(STAYED, arg=number)
    back = "form.sending.back_button"  # the focus falls to the top of the form, and then the form puts it there
    notebook.kernel(f"[{back}.set_trait('disabled', False), {back}.layout.set_trait('display', None), {back}.focus()]")
    notebook.page.wait_for_function(HELD, arg=0)
    notebook.page.evaluate("held.scrollIntoView({block: 'start'})")
    notebook.kernel(f"exec('{back}.disabled = True')")
    notebook.page.wait_for_function(STAYED, arg=0)
    assert not notebook.page.evaluate(TOP_IN_VIEW)
    notebook.kernel("form._head.focus()")
    notebook.page.wait_for_function(TOP_IN_VIEW, timeout=15000)
