"""Drafts of the campaign form: kept over the death of a kernel, offered once, and nothing secret in them."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from support.forms import waited, written
from support.servers import Server
from support.uploads import upload

from smsotp_nb import Client, Ledger
from smsotp_nb.widgets import CampaignForm

PEOPLE = pd.DataFrame({"phone": ["+1 202 555 0123"], "name": ["Ann"]})
KERNEL = """
import os, pathlib, sys
import pandas as pd
import smsotp_nb as sms
people = pd.DataFrame({"phone": ["+1 202 555 0123"], "name": ["Ann"]})
form = sms.widgets.CampaignForm(people, client=sms.Sandbox(), ledger=sms.Ledger(sys.argv[1], create=True),
                                exclude=["+1 202 555 0147"])
form.fields.campaign.value, form.fields.words.value = "spring", "Hi {name}, 20% off"
form.fields.kind.value, form.sending.guard_fields["budget"].value = "text", "USD 5"
form.sending.test_number.value, form.outcome.stop_number.value = "+14155550100", "+14155550101"
form._latest.ask(form._choices(), at_once=True)
form._latest.settle()
os.kill(os.getpid(), 9)
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The ledger beside which drafts are kept."""
    return Ledger(tmp_path / "ledger.sqlite", create=True).path


def files(ledger: Path) -> list[Path]:
    return sorted(ledger.with_name(ledger.name + "-drafts").glob("*"))


def drafted(path: Path, client: Client, campaign: str) -> CampaignForm:
    """Return a form in which a campaign was begun."""
    form = CampaignForm(PEOPLE, client=client, ledger=path)
    form.fields.campaign.value = campaign
    form._latest.settle()
    return form


def offered(path: Path, client: Client) -> str:
    """Return what a new form says of a draft."""
    return str(CampaignForm(PEOPLE, client=client, ledger=path).write._kept.value)


@pytest.mark.slow
def test_a_draft_is_offered_after_a_kernel_died(tmp_path: Path, client: Client) -> None:
    path = tmp_path / "ledger.sqlite"
    assert subprocess.run([sys.executable, "-c", KERNEL, str(path)], check=False).returncode == -9
    (kept,) = files(path)
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert stat.S_IMODE(kept.parent.stat().st_mode) == 0o700
    assert "555" not in kept.read_text(encoding="utf-8").replace(" ", "")
    form = CampaignForm(PEOPLE, client=client, ledger=path)
    assert "Your draft of" in form.write._kept.value
    assert "campaign spring" in form.write._kept.value
    assert form.fields.campaign.value == ""
    form.write.take_button.click()
    chosen = form._choices()
    assert (chosen.campaign, chosen.words, chosen.kind) == ("spring", "Hi {name}, 20% off", "text")
    assert form.sending.guards().budget == "USD 5"
    assert form.write._offer.layout.display == "none"
    form._latest.settle()
    assert files(path) == [kept]


def test_after_a_restart_the_form_says_which_list_to_choose_again(tmp_path: Path, client: Client) -> None:
    """The list itself is not kept; a form whose list is given in code asks for none."""
    path = tmp_path / "ledger.sqlite"
    form = CampaignForm(client=client, ledger=Ledger(path, create=True))
    upload(form.write.upload, "people.csv", b"phone\n+1 202 555 0123\n")
    form.fields.campaign.value = "spring"
    form._latest.settle()
    assert (
        "Its list is not kept: choose people.csv again." in CampaignForm(client=client, ledger=path).write._kept.value
    )
    assert "people.csv" not in CampaignForm(PEOPLE, client=client, ledger=path).write._kept.value
    assert "555" not in files(path)[0].read_text(encoding="utf-8")


@pytest.mark.on_server
def test_a_draft_for_a_ledger_on_a_server_is_in_the_user_s_folder(server: Server, client: Client) -> None:
    address = server.database()
    with Ledger(address, create=True) as ledger:
        form = CampaignForm(PEOPLE, client=client, ledger=ledger)
        form.fields.campaign.value = "spring"
        form._latest.settle()
        assert "campaign spring" in CampaignForm(PEOPLE, client=client, ledger=ledger).write._kept.value
    server.drop(address)


def test_a_discarded_draft_is_gone(path: Path, client: Client) -> None:
    drafted(path, client, "<b>spring")
    form = CampaignForm(PEOPLE, client=client, ledger=path)
    assert "&lt;b&gt;spring" in form.write._kept.value
    form.write.discard_button.click()
    assert files(path) == []
    assert form.fields.campaign.value == ""


def test_what_was_sent_to_the_end_leaves_no_draft(path: Path, client: Client) -> None:
    form = written(waited(drafted(path, client, "hello")))
    form._latest.settle()
    assert len(files(path)) == 1
    for button in (form.write.check_button, form.sending.send_button):
        button.click()
    assert form.steps.counts["accepted"] == 1
    assert files(path) == []


def test_each_form_has_its_own_draft_and_the_latest_is_offered(path: Path, client: Client) -> None:
    first, _second = drafted(path, client, "first"), drafted(path, client, "second")
    first.fields.campaign.value = "first again"
    first._latest.settle()
    assert "campaign first again" in offered(path, client)
    assert len(files(path)) == 2
    for number in range(25):
        (files(path)[0].parent / f"{number}.json").write_bytes(files(path)[0].read_bytes())
    drafted(path, client, "latest")
    assert len(files(path)) == 20, "older ones go"


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"[" * 100_000, b'{"at": 5, "values": {}}', b'{"at": "2026-01-01", "values": 1}']
)
def test_a_file_that_is_no_draft_is_passed_over(path: Path, client: Client, content: bytes) -> None:
    drafted(path, client, "autumn")
    files(path)[0].write_bytes(content)
    assert "autumn" not in offered(path, client)


def test_values_of_a_draft_that_do_not_fit_are_left_out(path: Path, client: Client) -> None:
    drafted(path, client, "a")
    (file,) = files(path)
    kept = json.loads(file.read_text(encoding="utf-8"))
    odd = {"phone": "no such column", "kind": "letter", "canary": "many", "words": ["x"]}
    file.write_text(json.dumps({**kept, "values": {**kept["values"], **odd}}), encoding="utf-8")
    form = CampaignForm(PEOPLE, client=client, ledger=path)
    form.write.take_button.click()
    chosen = form._choices()
    assert (chosen.to, chosen.kind, form.sending.guards().first, chosen.words) == ("phone", "content", 0, "")


def test_a_folder_that_cannot_be_written_is_said(path: Path, client: Client) -> None:
    path.with_name(path.name + "-drafts").write_bytes(b"")
    assert "the draft was not kept" in drafted(path, client, "hello").write._kept.value
