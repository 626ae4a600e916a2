"""Settling doubt row by row, on a real ledger over the sandbox."""

from __future__ import annotations

import html
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import smsotp_nb as sms
from smsotp_nb import Client, Ledger, Sandbox
from smsotp_nb._ledger import Record
from smsotp_nb._widgets.settling import PAGE, Doubts, Settling

pytestmark = pytest.mark.filterwarnings("ignore::smsotp_nb.errors.SmsOtpWarning")
PEOPLE = pd.DataFrame({"phone": [f"+1 202 555 01{number:02}" for number in range(30)]})


@pytest.fixture
def plan() -> Any:
    return sms.plan(PEOPLE, message="Doors open at nine.", to="phone", wire=sms.Wire(chunk_size=10), campaign="doors")


@pytest.fixture
def campaign(box: Sandbox, client: Client, ledger: Ledger, plan: Any) -> Record:
    """Thirty rows in three requests: the service took the first two and dropped the connection."""
    box.fault("drop_after", next=2)
    sms.send(plan.with_wire(threads=1), client=client, ledger=ledger, progress=False)
    made = ledger.record("doors")
    assert made.counts["in_doubt"] == 20
    return made


def shown(campaign: Record) -> tuple[Settling, list[str]]:
    said: list[str] = []
    settling = Settling(settled=lambda words, _: said.append(words))
    settling.show(campaign)
    return settling, said


# -- what is known


def test_each_row_has_its_masked_number_time_and_evidence(campaign: Record) -> None:
    settling = Settling()
    settling.show(campaign, pd.Index([f"person {n}" for n in range(30)]))
    rows = settling.rows()
    assert [row.label for row in rows] == [f"person {n}" for n in range(PAGE)]
    assert rows[0].number == "+1202...0100"
    assert re.match(r"Requested \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC\.", rows[0].evidence)
    assert "written in full, and no answer began" in rows[0].evidence
    assert not any(re.search(r"\+\d{7}", str(row)) for row in rows)
    assert (settling.left, settling.pages) == (20, 3)


def test_requests_are_chosen_apart(campaign: Record) -> None:
    settling, _ = shown(campaign)
    choices = settling.requests()
    assert choices[0] == ("All requests: 20 rows", "")
    assert [label.rsplit(": ", 1)[1] for label, _ in choices[1:]] == ["10 rows", "10 rows"]
    settling.choose(choices[1][1])
    settling.tick_listed(True)
    assert (settling.listed, settling.ticked, settling.all_ticked()) == (10, 10, True)
    assert {row.place // 10 for row in settling.rows()} == {1}  # the later one stands first


# -- what is decided


def test_some_were_accepted_and_others_are_sent_again(
    campaign: Record, plan: Any, client: Client, ledger: Ledger, box: Sandbox
) -> None:
    settling, said = shown(campaign)
    for place in (0, 1, 2):
        settling.tick(place, True)
    settling.accepted()
    assert campaign.counts["accepted"] == 13
    assert settling.left == 17
    settling.tick(5, True)
    settling.not_accepted()
    assert settling.stage == "sure"
    assert campaign.counts["planned"] == 0  # asked, not done
    assert "1 row will be sent again" in settling.warning()
    assert "up to 1 person is texted twice" in settling.warning()
    settling.sure()
    assert said == ["3 rows recorded as accepted.", "1 row to go again; nothing was sent yet."]
    sms.send(plan, client=client, ledger=ledger, progress=False)
    again = box.inbox["to"].value_counts()
    assert again[again > 1].index.tolist() == ["+12025550105"]
    assert campaign.counts["in_doubt"] == 16


def test_nothing_is_changed_without_ticks_or_by_a_no(campaign: Record) -> None:
    settling, said = shown(campaign)
    for act in (settling.accepted, settling.not_accepted, settling.sure, settling.unsure):
        act()
        assert settling.stage == "choosing"
    assert settling.notice.text == "Tick the rows first."
    settling.tick(0, True)
    settling.sure()  # nobody was asked
    settling.not_accepted()
    settling.unsure()
    assert (settling.ticked, settling.notice.text) == (1, "Nothing was changed.")
    assert campaign.counts["in_doubt"] == 20
    assert said == []


def test_rows_that_somebody_else_settled_meanwhile_are_told(campaign: Record, ledger: Ledger) -> None:
    settling, said = shown(campaign)
    for place in (0, 1, 2):
        settling.tick(place, True)
    with Ledger(ledger.path) as other:
        other.record("doors").settle(["+12025550100", "+12025550107"], accepted=True)
    settling.accepted()
    assert settling.notice.text == "Nothing was changed. 1 ticked row was settled elsewhere meanwhile."
    assert (settling.left, settling.ticked) == (18, 2)
    settling.accepted()
    assert said == ["2 rows recorded as accepted."]


HOLD = """
import sys, smsotp_nb as sms
from smsotp_nb._ledger.file.locks import RunLock
ledger = sms.Ledger(sys.argv[1])
lock = ledger._store.lock(ledger.record("doors")._number, "doors")
print("held", flush=True)
sys.stdin.read()
"""


def test_a_campaign_that_another_process_sends_is_told_and_settled_afterwards(campaign: Record, ledger: Ledger) -> None:
    settling, _ = shown(campaign)
    settling.tick(0, True)
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(ledger.path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[2],
    )
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        settling.accepted()
        assert f"Process {holder.pid} on" in settling.notice.text
        assert "is sending this campaign" in settling.notice.text
        assert campaign.counts["in_doubt"] == 20
    finally:
        holder.communicate()
    settling.accepted()
    assert campaign.counts["in_doubt"] == 19


def test_a_purged_campaign_has_nothing_to_settle(campaign: Record) -> None:
    campaign.purge()
    settling, _ = shown(campaign)
    assert settling.left == 0


# -- the widget


def test_boxes_follow_the_pages_and_the_ticks(campaign: Record) -> None:
    doubts = Doubts()
    doubts.settling.show(campaign)
    assert doubts.widget.layout.display is None
    doubts.ticks[0].value = True
    doubts._leafing.after.click()
    assert doubts.ticks[0].description == f"Row {PAGE}, +1202...0108"
    assert not doubts.ticks[0].value
    doubts._leafing.before.click()
    assert doubts.ticks[0].value
    assert "1 of them ticked" in doubts._words.value
    doubts.all_button.click()
    assert doubts.all_button.description == "Untick all 20 rows listed"
    assert doubts.accepted_button.description == "20 were accepted"


def test_a_request_that_is_chosen_stays_chosen_and_evidence_is_escaped(campaign: Record) -> None:
    doubts = Doubts()
    doubts.settling.show(campaign)
    doubts.request.value = doubts.request.options[1][1]
    doubts.ticks[0].value = True
    doubts.settling.accepted()
    assert doubts.settling.request == doubts.request.value != ""
    assert html.unescape(doubts._notice.value).count("1 row recorded as accepted.") == 1
    doubts._draw_rows([type(doubts.settling.rows()[0])(0, "<b>", "+1...", "<i>", False)])
    assert "<i>" not in doubts._evidence[0].value


def test_the_question_stands_in_place_of_the_actions(campaign: Record) -> None:
    doubts = Doubts()
    doubts.settling.show(campaign)
    doubts.all_button.click()
    doubts.again_button.click()
    assert doubts._actions.layout.display == "none"
    assert doubts._sure.layout.display is None
    assert "up to 20 people are texted twice" in doubts._warning.value
    doubts.unsure_button.click()
    assert doubts._sure.layout.display == "none"
    assert campaign.counts["in_doubt"] == 20


def test_a_campaign_that_is_read_anew_keeps_its_ticks_and_its_question(campaign: Record, ledger: Ledger) -> None:
    settling, _ = shown(campaign)
    for place in (0, 1):
        settling.tick(place, True)
    settling.not_accepted()
    campaign.settle(["+12025550100"], accepted=True)
    settling.show(ledger.record("doors"))
    assert (settling.stage, settling.ticked, settling.left) == ("sure", 1, 19)
    settling.show(None)
    settling.show(campaign)
    assert (settling.stage, settling.ticked) == ("choosing", 0)


def test_what_cannot_be_read_is_told_in_its_place(campaign: Record, ledger: Ledger) -> None:
    doubts = Doubts()
    doubts.settling.show(campaign)
    doubts.ticks[0].value = True
    with ledger._store.writing() as connection:
        connection.execute("UPDATE attempt SET started_at=?", (2**62,))
    doubts.settling.show(campaign)
    assert doubts.settling.unread.startswith("What is in doubt cannot be read. The ledger")
    assert (doubts.widget.layout.display, doubts.request.layout.display) != ("none", "none")
    assert "What is in doubt cannot be read." in doubts._words.value
    assert (doubts._choice.layout.display, doubts._actions.layout.display) == ("none", "none")
    assert doubts.settling.ticked == 0
    doubts.settling.accepted()
    assert doubts.settling.notice.text == "Tick the rows first."
