"""The campaigns page without a browser: list, open, settle, withdraw and send the rest."""

from __future__ import annotations

import html
import re
import threading
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from support.forms import held
from support.live import live_client

import smsotp_nb as sms
from smsotp_nb import Client, Ledger, Sandbox
from smsotp_nb._ledger import listed
from smsotp_nb._ledger.reading.spending import Billed
from smsotp_nb._widgets.campaigns import steps as campaigns_steps
from smsotp_nb._widgets.campaigns.page import entry_html, opened_card, state_of
from smsotp_nb._widgets.campaigns.steps import PAGE, CampaignsSteps, Question
from smsotp_nb.errors import LedgerError
from smsotp_nb.widgets import CampaignsPage

pytestmark = pytest.mark.filterwarnings("ignore::smsotp_nb.errors.SmsOtpWarning")
RATES = pd.DataFrame({"iso": ["US"], "currency": "USD", "price": ["0.0075"]})


def planned(name: str, rows: int = 10, **arguments: Any) -> Any:
    people = pd.DataFrame({"phone": [f"+1 202 555 01{number:02}" for number in range(rows)]})
    return sms.plan(people, f"News of {name}.", to="phone", campaign=name, rates=RATES, **arguments)


def sent(name: str, client: Client, ledger: Ledger, rows: int = 10, first: int | None = None) -> Any:
    plan = planned(name, rows)
    sms.send(plan, client=client, ledger=ledger, progress=False, limits=sms.Limits(first=first))
    return plan


def listing(ledger: Ledger, **arguments: Any) -> CampaignsSteps:
    steps = CampaignsSteps([ledger], **arguments)
    steps.take(steps.read(Question()))
    return steps


def opened(ledger: Ledger, name: str, **arguments: Any) -> CampaignsSteps:
    steps = listing(ledger, **arguments)
    steps.open(next(entry for entry in steps.answer.listing.entries if entry.name == name))
    assert steps.stage == "open", steps.notice
    return steps


# -- the list


def test_an_empty_ledger_says_what_comes_first(ledger: Ledger) -> None:
    assert listing(ledger).lines().startswith("No campaign is recorded yet")


def test_a_campaign_is_listed_with_its_state_and_what_it_cost(client: Client, ledger: Ledger) -> None:
    sent("done", client, ledger)
    sent("begun", client, ledger, first=3)
    begun, done = listing(ledger).answer.listing.entries
    assert state_of(done) == ("ok", "finished")
    assert state_of(begun) == ("warn", "7 rows to go")
    billed = ledger.record("done").results["price"].sum()
    assert done.billed == Billed((("USD", round(billed * 1e6)),))
    assert "3 accepted" in entry_html(begun)
    assert f"USD {billed:.4f}".rstrip("0") in entry_html(done)


def test_what_is_in_doubt_is_not_called_free(box: Sandbox, client: Client, ledger: Ledger) -> None:
    box.fault("drop_after", next=1)
    sent("lost", client, ledger)
    (lost,) = listing(ledger).answer.listing.entries
    assert "0 accepted · nothing known to be billed" in entry_html(lost)
    ledger.record("lost").settle(ledger.record("lost").in_doubt, accepted=False)
    (lost,) = listing(ledger).answer.listing.entries
    assert "0 accepted · nothing billed" in entry_html(lost)


def test_what_is_billed_is_what_the_ledger_sums_up_also_after_a_purge(client: Client, ledger: Ledger) -> None:
    sent("kept", client, ledger)
    sent("gone", client, ledger)
    before = {entry.name: entry.billed for entry in listing(ledger).answer.listing.entries}
    ledger.record("gone").purge()
    entries = {entry.name: entry for entry in listing(ledger).answer.listing.entries}
    assert entries["gone"].billed == before["gone"]
    assert state_of(entries["gone"]) == ("", "purged: its numbers were deleted")
    whole = sms.cost.spending(ledger)["cost"].sum()
    assert sum(micros for each in before.values() for _, micros in each.micros) == round(whole * 1e6)


def test_many_campaigns_are_paged_and_searched_and_only_a_page_is_counted(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(PAGE * 2 + 1):
        ledger._begin(planned(f"Sale {number}", rows=1), service="sandbox:a").close()
    from smsotp_nb._ledger.reading import frames as reading

    asked: list[int] = []
    counts = reading.counts
    monkeypatch.setattr(reading, "counts", lambda store, number: asked.append(number) or counts(store, number))
    steps = CampaignsSteps([ledger])
    answer = steps.read(Question(page=99))
    assert (answer.question.page, answer.pages, len(answer.listing.entries)) == (2, 3, 1)
    assert len(asked) == 1
    steps.take(steps.read(Question(search="sALE  2")))
    assert [entry.name for entry in steps.answer.listing.entries] == ["Sale 20", "Sale 2"]
    assert steps.lines() == "2 of 21 campaigns"
    assert listed(ledger, search="%").found == 0


def test_a_ledger_that_is_not_there_or_none_is_told(ledger: Ledger, tmp_path: Path) -> None:
    steps = CampaignsSteps([tmp_path / "nowhere.sqlite", ledger])
    answer = steps.read(Question())
    assert answer.trouble.startswith("The ledger cannot be read.")
    assert "nowhere.sqlite" in answer.trouble
    assert not (tmp_path / "nowhere.sqlite").exists()
    assert steps.read(Question(ledger=1)).trouble == ""
    (tmp_path / "other.sqlite").write_bytes(b"not a database at all, but long enough to be looked at")
    assert CampaignsSteps([tmp_path / "other.sqlite"]).read(Question()).trouble


def test_a_campaign_that_is_damaged_is_told_on_the_page_and_the_others_are_shown(ledger: Ledger) -> None:
    """What is drawn was read before, so that no error ends in a thread that nobody looks at."""
    for name in ("sound", "damaged"):
        ledger._begin(planned(name), service="sandbox:a").close()
        ledger.record(name).withdraw(ledger.record(name).results.head(1), reason="by phone")
    with ledger._store.writing() as connection:
        sql = "UPDATE change SET rows='three' WHERE campaign=(SELECT id FROM campaign WHERE name='damaged')"
        connection.execute(sql)
    steps = listing(ledger)
    damaged, sound = steps.answer.listing.entries
    steps.open(damaged)
    assert steps.stage == "list"
    assert steps.notice.text.startswith("The campaign cannot be read. What the ledger")
    assert "does not fit together" in steps.notice.text
    steps.open(sound)
    assert steps.stage == "open"


@pytest.mark.parametrize("column", ["name", "service", "rows"])
def test_a_list_with_a_value_that_cannot_be_is_told(column: str, ledger: Ledger) -> None:
    ledger._begin(planned("damaged"), service="sandbox:a").close()
    with ledger._store.writing() as connection:
        connection.execute(f"UPDATE campaign SET {column}=x'ff'")
    trouble = CampaignsSteps([ledger]).read(Question()).trouble
    assert trouble.startswith("The ledger cannot be read. The ledger")
    assert "a campaign has a name, a service or a number of rows that is none" in trouble


# -- one campaign


def test_an_opened_campaign_shows_states_changes_and_costs(client: Client, ledger: Ledger) -> None:
    sent("begun", client, ledger, first=3)
    ledger.record("begun").withdraw(["+12025550109"], reason="<b>asked</b>")
    steps = opened(ledger, "begun")
    assert steps.opened is not None
    card = opened_card(steps.opened).html()
    assert "withdrawn on" in card
    assert "&lt;b&gt;asked&lt;/b&gt;" in card
    assert "United States" in card
    assert not re.search(r"\+\d{9}", card)


def test_a_purged_campaign_says_what_is_left_of_it(client: Client, ledger: Ledger) -> None:
    sent("gone", client, ledger)
    billed = ledger.record("gone").results["price"].sum()
    ledger.record("gone").purge()
    steps = opened(ledger, "gone", client=client, plans=[planned("gone")])
    assert steps.opened is not None
    assert "never sent again" in opened_card(steps.opened).html()
    assert f"{billed:.4f}".rstrip("0") in opened_card(steps.opened).html()
    assert (steps.opened.waiting, steps.needed()) == (0, "")


def test_withdrawing_asks_first_and_keeps_the_reason(client: Client, ledger: Ledger, box: Sandbox) -> None:
    plan = sent("begun", client, ledger, first=3)
    steps = opened(ledger, "begun", client=client, plans=[plan])
    steps.withdraw("not asked yet")
    assert ledger.record("begun").counts["planned"] == 7
    steps.ask_to_withdraw()
    steps.keep()
    assert (steps.stage, steps.notice.text) == ("open", "Nothing was changed.")
    steps.ask_to_withdraw()
    steps.withdraw("wrong price")
    assert steps.notice.text == "7 rows withdrawn: this campaign never texts them."
    assert ledger.record("begun").changes["reason"].tolist() == ["wrong price"]
    steps.send()
    assert len(box.inbox) == 3


# -- the rest


def test_the_rest_is_sent_with_the_plan_that_was_passed_in(client: Client, ledger: Ledger, box: Sandbox) -> None:
    plan = sent("begun", client, ledger, first=3)
    steps = opened(ledger, "begun", client=client, plans=[plan])
    assert steps.needed() == ""
    assert steps.send_label() == "Send the other 7 messages, about USD 0.0525"
    steps.send()
    assert steps.notice.text == "Sent: 10 accepted, 0 in doubt, 0 rejected, 0 to go."
    assert steps.opened is not None
    assert steps.opened.counts["accepted"] == 10
    assert box.inbox["to"].is_unique


def test_without_plan_or_client_or_with_another_service_it_says_what_is_needed(client: Client, ledger: Ledger) -> None:
    plan = sent("begun", client, ledger, first=3)
    assert "needs the plan" in opened(ledger, "begun", client=client).needed()
    assert "needs the service" in opened(ledger, "begun", plans=[plan]).needed()
    with Sandbox() as other:
        steps = opened(ledger, "begun", client=other, plans=[plan])
        assert "another account or sandbox" in steps.needed()
        steps.send()
        assert len(other.inbox) == 0


def test_another_text_is_refused_in_words(client: Client, ledger: Ledger, box: Sandbox) -> None:
    plan = sent("begun", client, ledger, first=3)
    steps = opened(ledger, "begun", client=client, plans=[plan.reworded("Other news.")])
    assert "revise" in steps.needed()
    steps.send()
    assert steps.stage == "open"
    assert len(box.inbox) == 3


def test_real_people_are_texted_only_after_their_number_was_typed(box: Sandbox, ledger: Ledger) -> None:
    with live_client(box) as live:
        plan = sent("begun", live, ledger, first=3)
        steps = opened(ledger, "begun", client=live, plans=[plan])
        assert "7 messages to real people" in steps.send_label()
        steps.send()
        steps.send("8")
        assert steps.notice.text == "Type 7 to confirm; nothing was sent."
        assert len(box.inbox) == 3
        steps.send("7")
        assert len(box.inbox) == 10


def test_a_send_is_stopped_and_goes_on(box: Sandbox, client: Client, ledger: Ledger) -> None:
    plan = planned("slow", rows=40, requests=sms.RequestOptions(chunk_size=1))
    sms.send(plan, client=client, ledger=ledger, progress=False, limits=sms.Limits(first=1))
    heard = threading.Event()
    steps = opened(ledger, "slow", client=client, plans=[plan])
    steps._draw = lambda: heard.set() if steps.running is not None and steps.running.progress.done > 2 else None
    box.fault("latency", seconds=0.2)
    thread = threading.Thread(target=steps.send)
    thread.start()
    assert heard.wait(120)
    steps.stop()
    thread.join(120)
    assert steps.notice.text.startswith("Not complete:")
    assert 1 < len(box.inbox) < 40
    box.fault("latency", seconds=0)
    steps.send()
    assert ledger.record("slow").counts["accepted"] == 40
    assert box.inbox["to"].is_unique


def test_a_campaign_that_another_process_sends_is_told(client: Client, ledger: Ledger, box: Sandbox) -> None:
    plan = sent("begun", client, ledger, first=3)
    steps = opened(ledger, "begun", client=client, plans=[plan])
    with held(ledger, "begun") as process:
        steps.send()
        assert f"is being run by process {process}" in steps.notice.text
        assert steps.stage == "open"
        assert len(box.inbox) == 3


def test_a_campaign_that_is_purged_meanwhile_is_told(client: Client, ledger: Ledger) -> None:
    sent("begun", client, ledger, first=3)
    steps = opened(ledger, "begun")
    ledger.record("begun").purge()
    steps.ask_to_withdraw()
    steps.withdraw()
    assert steps.opened is not None
    assert steps.opened.counts["planned"] == 0


# -- the widget


def test_the_page_lists_opens_settles_and_goes_back(box: Sandbox, client: Client, ledger: Ledger) -> None:
    box.fault("drop_after", next=1)
    sent("doubtful", client, ledger)
    page = CampaignsPage(ledger).settle()
    assert page.open_buttons[0].description == "Open doubtful"
    assert "! 10 rows in doubt" in html.unescape(page._entries[0].value)
    page.steps.open(page.steps.answer.listing.entries[0])
    assert page._list.layout.display == "none"
    assert "doubtful" in page._card.value
    page.doubts.all_button.click()
    page.doubts.settling.accepted()
    assert "10 rows recorded as accepted." in page._outcome.value
    assert page.doubts.widget.layout.display == "none"
    assert page.results.settle().page.line() == "10 rows"
    page.back_button.click()
    page.settle()
    assert "finished" in page._entries[0].value


def test_the_lines_of_code_do_the_same(client: Client, ledger: Ledger) -> None:
    plan = sent("begun", client, ledger, first=3)
    page = CampaignsPage(ledger, client=client, plans=plan).settle()
    page.steps.open(page.steps.answer.listing.entries[0])
    page.reason.value = "late"
    page.steps.again()
    room: dict[str, Any] = {"sms": sms, "plan": plan, "client": client}
    code = page._code(page.steps.opened)
    exec(code.replace("ledger = ", "ledger_path = ", 1).replace("ledger.record(", "book.record("),
         {**room, "book": ledger, "ledger": ledger})  # fmt: skip
    assert ledger.record("begun").counts["planned"] == 0
    assert ledger.record("begun").changes["reason"].tolist() == ["late"]


def test_hostile_names_are_escaped(client: Client, ledger: Ledger) -> None:
    sent("<img src=x", client, ledger, first=3)
    page = CampaignsPage(ledger).settle()
    page.steps.open(page.steps.answer.listing.entries[0])
    for part in (page._head, page._card, page._lines, page._outcome):
        assert "<img" not in part.value


def test_the_rest_goes_by_the_ledger_of_the_campaign_and_by_no_other(
    box: Sandbox, client: Client, ledger: Ledger, tmp_path: Path
) -> None:
    """A list that was asked for before comes in after: in another ledger everybody would be texted again."""
    plan = sent("begun", client, ledger, first=3)
    with Ledger(tmp_path / "other.sqlite", create=True) as other:
        steps = CampaignsSteps([ledger, other], client=client, plans=[plan])
        steps.take(steps.read(Question()))
        late = steps.read(Question(1))
        steps.open(steps.answer.listing.entries[0])
        steps.take(late)
        steps.again()
        steps.send()
    assert steps.opened is not None
    assert steps.opened.counts["accepted"] == 10
    assert box.inbox["to"].is_unique


def test_more_to_go_than_the_button_says_is_looked_at_first(box: Sandbox, client: Client, ledger: Ledger) -> None:
    box.fault("drop_after", next=1)
    plan = sent("begun", client, ledger, first=3)
    steps = opened(ledger, "begun", client=client, plans=[plan])
    assert steps.send_label() == "Send the other 7 messages, about USD 0.0525"
    campaign = ledger.record("begun")
    campaign.settle(campaign.in_doubt, accepted=False)
    steps.send()
    assert steps.notice.text.startswith("Not sent. This campaign has changed meanwhile")
    assert steps.send_label() == "Send the other 10 messages, about USD 0.0750"
    assert len(box.inbox) == 3


def test_a_send_whose_ledger_is_gone_at_the_end_leaves_no_page_that_waits(
    box: Sandbox, client: Client, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = sent("begun", client, ledger, first=3)
    steps = opened(ledger, "begun", client=client, plans=[plan])
    heard = steps._told

    def last(progress: Any) -> None:
        heard(progress)
        if not progress.left:
            for file in ledger.path.parent.glob(f"{ledger.path.name}*"):
                file.rename(tmp / file.name)

    tmp = ledger.path.parent / "gone"
    tmp.mkdir()
    monkeypatch.setattr(steps, "_told", last)
    steps.send()
    assert (steps.stage, steps.notice.sign) == ("open", "bad")
    assert steps.notice.text.startswith("The send has ended")


@pytest.mark.parametrize(("left", "said"), [(0, "Not sent. The disk is full."), (2, "Ended early: 5 accepted")])
def test_a_send_that_breaks_off_says_whether_messages_had_left(
    box: Sandbox, client: Client, ledger: Ledger, monkeypatch: pytest.MonkeyPatch, left: int, said: str
) -> None:
    def breaks_off(*args: Any, **asked: Any) -> None:
        if left:
            sms.send(*args, **asked | {"limits": sms.Limits(first=3 + left)})
        raise LedgerError("the disk is full")

    plan = sent("begun", client, ledger, first=3)
    steps = opened(ledger, "begun", client=client, plans=[plan])
    monkeypatch.setattr(campaigns_steps, "send", breaks_off)
    steps.send()
    assert len(box.inbox) == 3 + left
    assert (steps.stage, steps.notice.text[: len(said)]) == ("open", said)
