"""The campaigns page by mouse and keyboard: open, settle, download, withdraw."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any

import pandas as pd

from .conftest import Lab, Notebook

PAGE = """
import warnings
import pandas as pd
import smsotp_nb as sms
from smsotp_nb.widgets import CampaignsPage
warnings.simplefilter("ignore", sms.errors.SmsOtpWarning)
people = pd.DataFrame({"phone": [f"+1 202 555 01{n:02}" for n in range(40)], "name": "=1+1"})
box = sms.Sandbox()
ledger = sms.Ledger("campaigns-page.sqlite", create=True)
for n in range(11):
    early = sms.plan(people.head(2), f"News {n}.", to="phone", campaign=f"Early {n}")
    ledger._begin(early, service=box.client().service).close()
plan = sms.plan(people, "20% off until Sunday.", to="phone", campaign="autumn-sale", keep=["name"],
                requests=sms.RequestOptions(chunk_size=5))
box.fault("drop_after", next=2)
sms.send(plan.with_requests(threads=1), box.client(), ledger=ledger, limits=sms.Limits(first=25), progress=False)
page = CampaignsPage(ledger, client=box.client(), plans=[plan])
page
"""
DOUBTS_HAVE_FOCUS = "() => document.activeElement.matches('.smsotp-doubt select')"
TOP_HAS_FOCUS = "() => document.activeElement.matches('.smsotp-top *')"
HAS_FOCUS = "words => document.activeElement.textContent.includes(words)"
NUMBER = re.compile(r"\+\d{9,}")


def click(card: Any, name: str | re.Pattern[str]) -> None:
    card.get_by_role("button", name=name).click()


def downloaded(page: Any, card: Any, kind: str) -> tuple[str, bytes]:
    with page.expect_download() as got:
        click(card, re.compile(f"^Download .*{kind}$"))
    card.get_by_text("Downloaded:").wait_for()
    return got.value.suggested_filename, Path(got.value.path()).read_bytes()


def saved_with(notebook: Notebook, words: str) -> str:
    """Save until the state of the widgets that is saved has these words; return it with the outputs."""
    states = ""
    notebook.save_widgets()
    for _ in range(50):
        saved = json.loads(notebook.saved())
        states = json.dumps([saved["metadata"].get("widgets"), *[cell["outputs"] for cell in saved["cells"]]])
        if words in states:
            return states
        notebook.page.wait_for_timeout(200)
    raise AssertionError(f"{words!r} was not saved: {states[:200]}")


def test_a_campaign_is_found_settled_downloaded_and_withdrawn(notebook: Notebook, lab: Lab) -> None:
    notebook.open(lab.write("campaigns.ipynb", PAGE)).run_all()
    page, card = notebook.page, notebook.page.locator(".smsotp-form")
    card.get_by_text("12 campaigns, the latest first").wait_for()
    assert notebook.look() == []
    click(card, "Earlier campaigns")
    card.get_by_role("button", name="Open Early 0").wait_for()
    page.wait_for_function(HAS_FOCUS, arg="Later campaigns")
    card.get_by_label("Search by name, then Enter").fill("AUTUMN")
    page.keyboard.press("Enter")
    card.get_by_text("1 of 12 campaigns").wait_for()
    click(card, "Open autumn-sale")
    page.wait_for_function(TOP_HAS_FOCUS)
    card.get_by_text("40 rows, page 1 of 3").wait_for()
    assert notebook.look() == []

    # settle: the later request by keyboard was accepted, one row of the other was not
    card.get_by_label("Requests in doubt").select_option(index=1)
    card.get_by_text("Tick all 5 rows listed").focus()
    page.keyboard.press("Space")
    card.get_by_text("5 of them ticked").wait_for()
    click(card, "5 were accepted")
    card.get_by_text("5 rows recorded as accepted.").wait_for()
    page.wait_for_function(DOUBTS_HAVE_FOCUS)
    card.get_by_label(re.compile(r"^Row \d+, \+1202\.\.\.01\d\d$")).first.press("Space")
    card.get_by_text("1 of them ticked").wait_for()
    click(card, "It was not accepted")
    card.get_by_text("up to 1 person is texted twice").wait_for()
    page.wait_for_function(HAS_FOCUS, arg="No, leave them in doubt")
    assert notebook.look() == []
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    card.get_by_text("1 row to go again; nothing was sent yet.").wait_for()
    page.wait_for_function(DOUBTS_HAVE_FOCUS)
    assert notebook.kernel("ledger.record('autumn-sale').counts['in_doubt']") == "4"

    # download what is shown; nothing of it stays in the notebook
    card.get_by_label("Show").select_option(label="In doubt: 4")
    card.get_by_text("4 of 40 rows").wait_for()
    name, content = downloaded(page, card, "CSV")
    assert name == "autumn-sale.csv"
    rows = pd.read_csv(io.BytesIO(content), dtype=str)
    assert rows["status"].tolist() == ["in_doubt"] * 4
    assert rows["to"].str.fullmatch(r"\+1202555\d{4}").all()
    assert rows["name"].tolist() == ["'=1+1"] * 4
    assert len(pd.read_excel(io.BytesIO(downloaded(page, card, "Excel")[1]), engine="openpyxl")) == 4
    card.get_by_label("Show").select_option(index=0)
    card.get_by_label("Search, then Enter").fill("+1 202 555 0107")
    page.keyboard.press("Enter")
    card.get_by_text("1 of 40 rows").wait_for()
    states = saved_with(notebook, "1 of 40 rows")
    assert NUMBER.findall(states) == []
    assert notebook.kernel("page.results._download_box.open") == "False"

    # withdraw the rest, and say why
    click(card, re.compile(r"^Withdraw the other \d+ rows$"))
    page.wait_for_function("() => document.activeElement.matches('input[placeholder=\"wrong price\"]')")
    page.keyboard.type("sold out")
    assert notebook.look() == []
    click(card, re.compile(r"^Yes, withdraw \d+$"))
    card.get_by_text("withdrawn: this campaign never texts them.").wait_for()
    page.wait_for_function(TOP_HAS_FOCUS)
    assert notebook.kernel("ledger.record('autumn-sale').changes['reason'].dropna().tolist()") == "['sold out']"
    assert notebook.look() == []
    notebook.delete_keys()
    click(card, "Back to the campaigns")
    page.wait_for_function(HAS_FOCUS, arg="Open autumn-sale")
    assert notebook.kernel("box.inbox['to'].isin(['+12025550139']).sum()") in ("0", "np.int64(0)")
