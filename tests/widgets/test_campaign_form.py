"""The campaign form without a browser: write, check, send, stop, go on, and settle what is in doubt."""

from __future__ import annotations

import dataclasses
import html
import re
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from typing import Any

import pandas as pd
import pytest
from support.forms import states, waited, written
from support.live import live_client
from support.uploads import upload

import smsotp_nb._planning as planning
from smsotp_nb import Client, Ledger, Limits, People, Policy, Sandbox, Template, send
from smsotp_nb._progress import span
from smsotp_nb._widgets import skin
from smsotp_nb._widgets.campaign import arms
from smsotp_nb._widgets.campaign import steps as campaign_steps
from smsotp_nb._widgets.campaign.cards import (
    check_screen,
    draft_html,
    groups,
    refusals_html,
    results_html,
)
from smsotp_nb._widgets.campaign.choices import Choices, Guards
from smsotp_nb._widgets.campaign.steps import CampaignSteps, Draft
from smsotp_nb._widgets.lists import read_upload
from smsotp_nb._widgets.stages import Job, Running, Work
from smsotp_nb.errors import LedgerError, UsageError
from smsotp_nb.problems import PROBLEMS
from smsotp_nb.results import Progress
from smsotp_nb.widgets import CampaignForm

pytestmark = pytest.mark.filterwarnings("ignore::smsotp_nb.errors.SmsOtpWarning")
RATES = pd.DataFrame({"iso": ["US", "FR"], "currency": "USD", "price": ["0.0075", "0.055"]})
HELLO = Choices(campaign="hello", to="phone", kind="text", words="Hi {name}", rates=RATES, default_region="US")


@pytest.fixture
def people() -> pd.DataFrame:
    """Twelve rows, ten of which can be texted; labels repeat."""
    phones = [f"+1 202 555 01{number:02d}" for number in range(10)] + ["nobody", None]
    return pd.DataFrame({"phone": phones, "name": [f"P{n}" for n in range(12)]}, index=[1, 1, *range(10)])


@pytest.fixture
def steps(people: pd.DataFrame, client: Client, ledger: Ledger) -> CampaignSteps:
    return CampaignSteps(people, client=client, ledger=ledger)


def checked(steps: CampaignSteps) -> CampaignSteps:
    steps.check(HELLO)
    assert steps.stage == "planned", steps.notice
    return steps


# -- what was chosen, as arguments and as code


def test_blanks_are_left_out_of_the_arguments() -> None:
    given = Choices(campaign="c", to="phone", words="Hi", signature="Acme")
    assert given.arguments() == {"message": "Hi", "campaign": "c", "to": "phone", "signature": "Acme"}
    template = dataclasses.replace(given, kind="template", template_id="t1", variables=("name",), words="Hi {name}")
    assert template.arguments()["message"] == Template("t1", ["name"], preview="Hi {name}")


def test_a_second_column_of_numbers_is_asked_where_the_first_has_none(client: Client, ledger: Ledger) -> None:
    frame = pd.DataFrame({"mobile": ["+1 202 555 0100", None], "home": ["+1 202 555 0101", "+1 202 555 0102"]})
    form = CampaignForm(frame, client=client, ledger=ledger)
    form.fields.phone.value = form.fields.second.value = "mobile"
    assert form._choices().arguments()["to"] == "mobile"
    form.fields.second.value = "home"
    form.fields.campaign.value, form.fields.words.value = "both", "Hello"
    assert "to=['mobile', 'home']," in form._choices().lines()
    form.steps.check(form._choices())
    assert form.steps.plan is not None
    assert form.steps.plan.rows["to"].tolist() == ["+12025550100", "+12025550102"]


def test_the_lines_of_code_do_the_same(people: pd.DataFrame, client: Client, ledger: Ledger) -> None:
    import smsotp_nb as sms

    code = HELLO.lines(Guards({"canary": 3})).replace(
        "sms.send(plan, client", "sms.send(plan, client, ledger=ledger, progress=False"
    )
    room: dict[str, Any] = {"sms": sms, "people": people, "client": client, "ledger": ledger, "rates": RATES}
    exec(code, room)
    assert room["results"]["status"].eq("accepted").sum() == 3


# -- what the form was given


def test_columns_are_found(people: pd.DataFrame, box: Sandbox, ledger: Ledger) -> None:
    form = CampaignForm(people.assign(id=range(100, 112), land="Germany", city="Bonn"), client=box, ledger=ledger)
    assert (form._choices().to, form._choices().region) == ("phone", "land")


def test_a_list_without_a_phone_column_guesses_none(people: pd.DataFrame, box: Sandbox, ledger: Ledger) -> None:
    form = CampaignForm(people[["name"]], client=box, ledger=ledger)
    form._latest.settle()
    assert form._choices().to == ""
    assert "Choose the column of the phone numbers." in form.write._preview.value
    form.steps.check(form._choices())
    assert form.steps.stage == "write"


def test_columns_may_have_numbers_for_names(box: Sandbox, ledger: Ledger) -> None:
    form = CampaignForm(pd.DataFrame({0: ["+12025550123"], 1: ["Ann"]}), client=box, ledger=ledger)
    form.fields.campaign.value, form.fields.kind.value, form.fields.words.value = "c", "text", "Hi"
    assert form._choices().arguments()["to"] == 0
    form.steps.check(form._choices())
    assert form.steps.to_go == 1


# -- write


@pytest.mark.parametrize(
    ("choices", "said"),
    [
        (Choices(to="phone", words="Hi"), "Enter a campaign name"),
        (Choices(campaign="c", words="Hi"), "Choose the column of the phone numbers."),
        (Choices(campaign="c", to="phone"), "Write the text."),
        (Choices(campaign="c", to="phone", kind="template"), "Enter the template ID."),
    ],
    ids=["name", "column", "text", "template"],
)
def test_what_is_missing_is_asked_for(steps: CampaignSteps, choices: Choices, said: str) -> None:
    problems = steps.draft(choices).problems
    assert len(problems) == 1
    assert problems[0].startswith(said)
    steps.check(choices)
    assert steps.refusal.text.startswith(f"There is no plan yet. {said}")


def test_only_the_beginning_of_a_long_list_is_planned_while_typing(client: Client, ledger: Ledger) -> None:
    frame = pd.DataFrame({"phone": ["+12025550123"] * 50_000, "name": "A"})
    draft = CampaignSteps(frame, client=client, ledger=ledger).draft(HELLO)
    assert draft.plan is not None
    assert (draft.whole, len(draft.plan.rows)) == (False, 3000)


def test_the_preview_shows_hostile_text_as_text(steps: CampaignSteps) -> None:
    draft = steps.draft(Choices(campaign="c", to="phone", kind="text", words="<{name}> '\"& $5 ć"))
    shown = draft_html(draft)
    assert "<An" not in shown
    assert "10 of 12 rows would be texted: 10 parts" in shown
    assert "because of ć" in shown
    assert "&lt;b&gt;" in draft_html(Draft(problems=("<b>",)))
    assert "<script>" not in skin.lines(Choices(words="<script>").lines())


def test_the_preview_says_what_it_would_cost(steps: CampaignSteps) -> None:
    assert "10 of 12 rows would be texted: 10 parts, about USD 0.0750." in draft_html(steps.draft(HELLO))
    abroad = steps.draft(dataclasses.replace(HELLO, rates=RATES[RATES["iso"].eq("FR")]))
    assert "about" not in draft_html(abroad)


def test_the_preview_of_a_hopeless_list_says_why(people: pd.DataFrame, client: Client, ledger: Ledger) -> None:
    steps = CampaignSteps(people.assign(phone=["nobody"] * 11 + [None]), client=client, ledger=ledger)
    shown = draft_html(steps.draft(HELLO))
    assert "No row of the list can be texted" in shown
    assert "<li>11 rows: not a phone number</li>" in shown
    empty = CampaignSteps(people.iloc[:0], client=client, ledger=ledger)
    assert "The list has no rows." in draft_html(empty.draft(HELLO))
    assert "phone" not in draft_html(empty.draft(Choices()))
    empty.check(HELLO)
    assert (empty.stage, empty.refusal.text) == ("write", "There is no plan yet. The list has no rows.")


# -- check and send


def test_the_button_names_those_without_a_rate(people: pd.DataFrame, client: Client, ledger: Ledger) -> None:
    """Beside an amount; without any there is nothing that it could be taken for."""
    french = people.assign(phone=[people["phone"].iloc[0], *(f"+336123456{n:02}" for n in range(len(people) - 1))])
    for first, words in ((0, ", about USD 0.0075 and 11 without a rate"), (1, "")):
        steps = CampaignSteps(french.iloc[first:], client=client, ledger=ledger)
        steps.check(dataclasses.replace(HELLO, rates=pd.DataFrame({"iso": ["US"], "currency": "USD", "price": 0.0075})))
        going = len(people) - first
        assert steps.send_label() == f"Send {going} messages{words}"
        assert steps.summary(Guards()).startswith(f"{going} people{words}, from the list")


def test_a_send_ends_with_the_results_on_the_callers_index(steps: CampaignSteps, people: pd.DataFrame) -> None:
    checked(steps).send(Guards())
    assert (steps.stage, steps.notice.sign) == ("done", "ok")
    assert steps.results is not None
    assert steps.results.index.equals(people.index)
    assert steps.counts["accepted"] == 10
    assert "<script" not in results_html(steps.results, steps.counts)
    assert steps.to_go == 0


def test_many_messages_are_confirmed_by_their_number(people: pd.DataFrame, client: Client, ledger: Ledger) -> None:
    steps = checked(CampaignSteps(people, client=client, ledger=ledger, type_above=5))
    assert steps.to_type() == "10"
    steps.send(Guards(), "11")
    assert (steps.stage, steps.refusal.text) == ("planned", "Type 10 to confirm; nothing was sent.")
    steps.send(Guards(), " 10 ")
    assert steps.counts["accepted"] == 10


def test_a_second_click_while_sending_sends_nothing_twice(steps: CampaignSteps, box: Sandbox) -> None:
    checked(steps)
    box.fault("latency", seconds=0.05)
    threads = [threading.Thread(target=steps.send, args=(Guards(),)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert box.inbox["to"].is_unique
    assert len(box.inbox) == 10


# -- stop, go on, run dry


def test_stop_begins_nothing_more_and_the_rest_goes_out_later(client: Client, ledger: Ledger, box: Sandbox) -> None:
    frame = pd.DataFrame({"phone": [f"+1 202 555 01{n:02d}" for n in range(60)], "name": [f"P{n}" for n in range(60)]})
    steps = checked(CampaignSteps(frame, client=client, ledger=ledger))
    box.fault("latency", seconds=0.1)
    seen = threading.Event()
    steps._draw = lambda: seen.set() if steps.running and steps.running.progress.done else None
    sending = threading.Thread(target=steps.send, args=(Guards(),))
    sending.start()
    assert seen.wait(120)
    steps.stop()
    sending.join(120)
    sent = len(box.inbox)
    assert 0 < sent < 60
    assert steps.stage == "done"
    assert steps.notice.text.startswith(f"Stopped: {sent} accepted, 0 in doubt")
    assert not steps._stop.is_set()
    assert steps.send_label().startswith(f"Send the other {60 - sent} message")
    box.clear_faults()
    steps.send(Guards())
    assert len(box.inbox) == 60
    assert box.inbox["to"].is_unique


def test_after_a_restart_the_same_campaign_goes_on(steps: CampaignSteps, people: pd.DataFrame, box: Sandbox) -> None:
    checked(steps).send(Guards({"canary": 4}))
    assert "The first recipients were texted" in steps.notice.text
    again = CampaignSteps(people, client=steps.client, ledger=Ledger(steps.ledger.path))
    again.check(HELLO)
    assert again.notice.text.startswith("This campaign is already recorded: 4 accepted")
    assert again.send_label() == "Send the other 6 messages, about USD 0.0450"
    again.send(Guards())
    assert box.inbox["to"].is_unique
    assert len(box.inbox) == 10


# -- a canary, and what changes after it

CORRECTED = dataclasses.replace(HELLO, words="Hello {name}")


@pytest.fixture
def begun(steps: CampaignSteps) -> CampaignSteps:
    checked(steps).send(Guards({"canary": 4}))
    return steps


def first(many: int) -> Guards:
    return Guards({"canary": many})


def test_the_button_says_that_a_canary_goes_first(steps: CampaignSteps) -> None:
    assert checked(steps).send_label(first(4)) == "Send the first 4 messages, about USD 0.03"
    assert steps.send_label(first(10)) == steps.send_label() == "Send 10 messages, about USD 0.0750"
    assert steps.path(first(10))[0] == ("Write", "Check", "Send", "Results")
    names = ("Write", "Check", "The first 4", "Look", "The others", "Results")
    assert steps.path(first(4)) == (names, 2)
    steps.send(first(4))
    assert steps.path(Guards()) == (names, 4)
    assert (steps.send_label(), steps.back_label()) == (
        "Send the other 6 messages, about USD 0.0450",
        "Change the text for the other 6",
    )
    steps.send(Guards())
    assert steps.path(Guards()) == (names, 6)


def test_a_canary_is_no_loop_and_may_be_taken_twice(begun: CampaignSteps, box: Sandbox) -> None:
    """The number counts those that are to go: the same again sends to the next ones, never to nobody."""
    assert begun.send_label(first(4)) == "Send the next 4 messages, about USD 0.03"
    begun.send(first(4))
    assert len(box.inbox) == 8
    begun.send(first(4))
    assert begun.counts["accepted"] == 10
    assert box.inbox["to"].is_unique
    assert "limits=sms.Limits(first=12)" in HELLO.lines(first(4), tried=8)


def test_every_guard_in_force_stands_at_the_button(steps: CampaignSteps, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arms, "utc_now", lambda: datetime(2026, 11, 26, 18, 0, tzinfo=UTC))
    entered = {"budget": "usd 5", "quiet_from": "21:00", "quiet_to": "08:00", "speed": 10, "failures": 10}
    guards = Guards({**entered, "canary": 4})
    assert checked(steps).send_label(guards) == "Send the first 4 messages, about USD 0.03, at most USD 5"
    assert steps.limits(guards) == (
        "Nobody is texted from 21:00 to 08:00 where they live; at most 10 messages a second; "
        "stops after 10 failed requests in a row."
    )
    assert guards.limits(tried=6) == Limits(
        budget={"USD": "5"}, quiet_hours=("21:00", "08:00"), first=10, per_second=10
    )


@pytest.mark.parametrize(
    ("entered", "field"),
    [
        ({"budget": "50"}, "budget"),
        ({"quiet_from": "21:00"}, "quiet_from"),
        ({"quiet_from": "9", "quiet_to": "x"}, "quiet_from"),
    ],
    ids=["no currency", "half a span", "no times"],
)
def test_a_guard_that_cannot_be_read_is_told_at_its_field(
    steps: CampaignSteps, entered: dict[str, Any], field: str
) -> None:
    with pytest.raises(UsageError):
        Guards(entered).limits()
    checked(steps).send(Guards(entered))
    assert (steps.stage, steps.refusal.text[:9], list(steps.faults)) == ("planned", "Not sent.", [field])
    assert "=" not in steps.refusal.text
    assert steps.notice.text == "Nothing has been sent."
    assert steps.client.sandbox.inbox.empty


def test_a_typo_is_corrected_for_those_who_were_not_texted(begun: CampaignSteps, box: Sandbox) -> None:
    begun.back()
    assert begun.notice.text.startswith("4 of this campaign were texted and keep their text.")
    begun.check(CORRECTED)
    assert begun.send_label() == "Change the text and send the other 6 messages, about USD 0.0450"
    assert "6 rows not yet sent get the new text" in begun.notice.text
    begun.send(Guards(), reason="typo")
    assert (begun.stage, begun.unfinished) == ("done", "")
    assert box.inbox["to"].is_unique
    assert box.inbox["text"].str.startswith("Hello").sum() == 6
    changes = begun.ledger.record("hello").changes
    assert changes[["what", "rows", "reason"]].values.tolist() == [["corrected", 6, "typo"]]


def test_a_corrected_text_is_planned_for_another_person_at_the_campaign_too(
    begun: CampaignSteps, people: pd.DataFrame, box: Sandbox
) -> None:
    """After a kernel's restart the ledger alone knows that the campaign was begun."""
    again = CampaignSteps(people, client=begun.client, ledger=begun.ledger)
    again.check(CORRECTED)
    assert again.send_label().startswith("Change the text and send the other 6 messages")
    again.send(Guards())
    assert begun.ledger.record("hello").changes["reason"].tolist() == ["corrected in the form"]
    assert len(box.inbox) == 10
    assert box.inbox["to"].is_unique


SECOND = dataclasses.replace(CORRECTED, campaign="hello-2")


def test_a_new_name_for_people_of_a_campaign_that_is_not_finished_is_stopped(
    begun: CampaignSteps, people: pd.DataFrame
) -> None:
    """After a restart, too: the ledger alone knows of the canary."""
    begun.back()
    later = CampaignSteps(people.iloc[2:], client=begun.client, ledger=Ledger(begun.ledger.path))
    for steps, many in ((begun, 10), (later, 8)):
        steps.check(SECOND)
        assert (steps.stage, steps.plan) == ("write", None)
        assert [one.both for one in steps.met] == [many]
        assert f"under another name {many} people are texted by both" in steps.refusal.text
        assert "keep the name" in steps.refusal.text
    assert begun.unfinished == "hello"
    begun.check(HELLO)
    begun.withdraw("wrong price")
    assert begun.counts["skipped"] == 8
    begun.back()
    begun.check(SECOND)
    assert begun.stage == "planned"


def test_a_second_campaign_to_the_same_people_is_possible_for_whoever_says_how_many(
    begun: CampaignSteps, box: Sandbox
) -> None:
    begun.back()
    begun.check(SECOND, both=9)
    assert begun.stage == "write"
    begun.check(SECOND, both=10)
    begun.send(first(2))
    begun.send(Guards())  # nobody is asked again
    assert (begun.counts["accepted"], len(box.inbox)) == (10, 14)


def test_what_another_kernel_began_meanwhile_stops_the_send(
    steps: CampaignSteps, people: pd.DataFrame, box: Sandbox
) -> None:
    checked(steps)
    other = CampaignSteps(people, client=steps.client, ledger=steps.ledger)
    other.check(SECOND)
    other.send(first(4))
    steps.send(Guards())
    assert "Another campaign of this ledger began meanwhile" in steps.refusal.text
    assert len(box.inbox) == 4


def test_more_to_go_than_the_button_says_is_looked_at_first(steps: CampaignSteps, box: Sandbox) -> None:
    checked(steps)
    box.fault("drop_after", next=1)
    steps.send(first(4))
    assert steps.send_label() == "Send the other 6 messages, about USD 0.0450"
    campaign = steps.ledger.record("hello")
    campaign.settle(campaign.in_doubt, accepted=False)
    steps.send(Guards())
    assert steps.refusal.text.startswith("Not sent. This campaign has changed meanwhile")
    assert steps.send_label() == "Send the other 7 messages, about USD 0.0525"
    assert len(box.inbox) == 4
    steps.send(Guards())
    assert steps.counts["accepted"] == 10


def test_a_ledger_that_is_gone_when_the_send_ends_is_told(
    steps: CampaignSteps, monkeypatch: pytest.MonkeyPatch
) -> None:
    checked(steps)
    heard, gone = steps._told, steps.ledger.path.parent / "gone"
    gone.mkdir()

    def last(progress: Progress) -> None:
        heard(progress)
        if not progress.left:
            for file in steps.ledger.path.parent.glob(f"{steps.ledger.path.name}*"):
                file.rename(gone / file.name)

    monkeypatch.setattr(steps, "_told", last)
    steps.send(Guards())
    assert (steps.stage, steps.notice.sign) == ("done", "bad")
    assert steps.notice.text.startswith("The send has ended")
    assert "othing" not in steps.notice.text + steps.refusal.text


def test_other_people_and_finished_campaigns_stop_nobody(begun: CampaignSteps, people: pd.DataFrame) -> None:
    others = people.assign(phone=[f"+1 415 555 01{n:02d}" for n in range(12)])
    fresh = CampaignSteps(others, client=begun.client, ledger=begun.ledger)
    fresh.check(SECOND)
    assert fresh.stage == "planned"
    begun.send(Guards())
    begun.back()
    begun.check(SECOND)
    assert begun.stage == "planned"


def test_an_opt_out_counts_in_the_next_send(begun: CampaignSteps, people: pd.DataFrame, box: Sandbox) -> None:
    """It is counted alike at the button, in the line above it, in the results, and in the ledger itself."""
    assert not begun.opt_out("+1 202 555 0109", " ")
    assert "Enter how it came" in begun.refusal.text
    assert not begun.opt_out("hello", "phone call")
    assert begun.refusal.text.startswith("Nothing was recorded.")
    assert begun.opt_out("(202) 555-0109", "phone call", "US")
    assert "opted out" in begun.notice.text
    assert "555-0109" not in begun.notice.text
    assert "5 to go" in begun.notice.text
    assert begun.send_label() == "Send the other 5 messages, about USD 0.0375"
    assert begun.back_label() == "Change the text for the other 5"
    assert (begun.waiting, begun.to_go, begun.counts["planned"], begun.counts["skipped"]) == (5, 5, 5, 3)
    assert begun.ledger.record("hello").counts == begun.counts
    assert begun.results is not None
    told = {one.code: one.rows for one in groups(begun.results, people["phone"])}
    assert (told["CANARY"], told["OPTED_OUT"]) == (5, 1)
    begun.send(Guards())
    assert len(box.inbox) == 9
    assert "+12025550109" not in set(box.inbox["to"])
    assert begun.results is not None
    assert "this person opted out" in refusals_html(groups(begun.results))


def test_withdrawn_rows_are_not_sent_by_any_later_plan(begun: CampaignSteps, box: Sandbox) -> None:
    begun.withdraw()
    assert begun.notice.text == "6 rows withdrawn: this campaign never texts them."
    assert (begun.to_go, begun.unfinished) == (0, "")
    begun.send(Guards())
    begun.back()
    begun.check(HELLO)
    begun.send(Guards())
    assert len(box.inbox) == 4


def test_a_policy_holds_back_and_the_card_says_until_when(
    begun: CampaignSteps, people: pd.DataFrame, box: Sandbox
) -> None:
    later = CampaignSteps(people, client=begun.client, ledger=begun.ledger, policy=Policy(caps=[(1, "24h")]))
    later.check(dataclasses.replace(CORRECTED, campaign="reminder"), both=10)
    assert later.to_go == 6
    assert later.plan is not None
    assert next(one for one in groups(later.plan.rows) if one.code == "CAPPED").rows == 4
    later.send(Guards())
    assert later.results is not None
    capped = next(one for one in groups(later.results) if one.code == "CAPPED")
    assert capped.rows == 4
    assert capped.until.endswith(" UTC")
    assert later.notice.text.startswith("One more message would be more than the policy allows")
    assert (later.to_go, len(box.inbox)) == (0, 10)


def test_what_is_typed_is_planned_without_the_ledger(begun: CampaignSteps, monkeypatch: pytest.MonkeyPatch) -> None:
    """The user's own ledger may hold ten million contacts: not something to read at every key."""
    monkeypatch.setenv("SMSOTP_LEDGER", str(begun.ledger.path))
    draft = begun.draft(CORRECTED)
    assert draft.plan is not None
    assert draft.plan._prospect_now is None
    assert planning.plan(begun.frame, **CORRECTED.arguments())._prospect_now is not None


def test_an_empty_balance_says_what_to_do(people: pd.DataFrame, ledger: Ledger) -> None:
    with Sandbox(balance="0.03") as box:
        steps = checked(CampaignSteps(people, client=box.client(), ledger=ledger))
        steps.send(Guards())
        assert "Top up, then send again" in steps.notice.text
        box.top_up(1)
        steps.send(Guards())
        assert steps.counts["accepted"] == len(box.inbox) == 10


def test_of_several_reasons_the_one_to_act_on_is_said() -> None:
    """A balance that runs out also leaves requests behind that were stopped before they were sent."""
    held = {"status": ["planned"] * 3, "problem": ["NOT_SENT", "NOT_SENT", "NO_FUNDS"]}
    held_back = campaign_steps._held_back(pd.DataFrame(held, dtype="str"))
    assert held_back is not None
    assert held_back.code == "NO_FUNDS"


# -- in doubt


@pytest.mark.parametrize("accepted", [True, False], ids=["they were accepted", "they were not"])
def test_rows_in_doubt_wait_for_a_person(steps: CampaignSteps, box: Sandbox, accepted: bool) -> None:
    checked(steps)
    box.fault("drop_after" if accepted else "drop_before", next=2)
    steps.send(Guards())
    assert steps.counts["in_doubt"] == 2
    assert "never sent again automatically" in steps.notice.text
    assert steps.to_go == 0
    ((campaign, _),) = steps.doubtful()
    campaign.settle(campaign.in_doubt, accepted=accepted)
    steps.settled("2 rows settled.")
    assert steps.notice.text == "2 rows settled."
    assert steps.counts["in_doubt"] == 0
    assert steps.to_go == (0 if accepted else 2)
    steps.send(Guards())
    assert len(box.inbox) == 10
    assert box.inbox["to"].is_unique


# -- on a screen


def test_progress_is_drawn_a_few_times_a_second_and_at_the_end(steps: CampaignSteps) -> None:
    drawn: list[int] = []
    checked(steps)
    moments = iter(n / 1000 for n in range(10_000))
    steps._clock = lambda: next(moments)
    steps._draw = lambda: drawn.append(steps.running.progress.done) if steps.running else None
    for done in range(1, 1001):
        steps._told(Progress(done=done, total=1000))
    assert len(drawn) <= 6
    assert drawn[-1] == 1000


def test_the_progress_says_pace_and_cost() -> None:
    told = Progress(done=30, total=120, accepted=28, rejected=2, cost_micros=210_000, currency="USD")
    shown = skin.running(Running(told, 10.0, stopping=False))
    assert "30 of 120, 10 s, about 30 s left" in shown
    assert "USD 0.21" in shown
    assert "no new request starts" in skin.running(Running(told, 10.0, stopping=True))
    again = skin.running(Running(dataclasses.replace(told, total=70, waiting=50), 10.0, stopping=False, before=20))
    assert "30 of 70, 10 s, about 40 s left" in again
    assert "20 rows were sent before." in again
    assert re.search("40</div><div[^>]*>to go.*50</div><div[^>]*>held back for now", again)
    assert [span(59.6), span(3600)] == ["1 min 0 s", "1 h 0 min"]


def test_the_progress_counts_those_whom_the_button_counted(begun: CampaignSteps, ledger: Ledger) -> None:
    """Of twelve rows four were texted, three are held back and two go first: the bar is full when these two are."""
    People(ledger).opt_out("+12025550108", source="letter")
    begun.back()
    checked(begun)
    seen: list[Running] = []
    begun._draw = lambda: seen.append(begun.running) if begun.running else None
    assert begun.send_label(first(2)).startswith("Send the next 2 messages")
    assert begun.summary(first(2)) == (
        "2 people, about USD 0.0150, from the list given in code, 4 texted already, or in doubt, 3 held back for now, "
        "3 left out."
    )
    begun.send(first(2))
    assert {(one.before, one.progress.total) for one in seen} == {(4, 6)}
    assert (seen[-1].progress.done, seen[-1].progress.left) == (6, 0)


@pytest.fixture
def form(people: pd.DataFrame, client: Client, ledger: Ledger) -> Iterator[CampaignForm]:
    """A form whose clicks return when the thread that does their work has ended, and whose preview is awaited."""
    made: CampaignForm = waited(CampaignForm(people, client=client, ledger=ledger, rates=RATES))
    yield made
    made._latest.settle()


def test_the_form_drives_a_campaign(form: CampaignForm, box: Sandbox) -> None:
    written(form).write.check_button.click()
    assert form.sending.send_button.description == "Send 10 messages, about USD 0.0750"
    assert "Sandbox: nobody is texted" in form.sending._where.value
    assert "+12025550100" not in form.outcome.card.value
    form.sending.send_button.click()
    assert len(box.inbox) == 10
    assert form.results is not None
    assert "Results" in form.outcome.card.value
    assert "limits" not in form._lines.value


def test_a_plan_on_record_never_says_that_nothing_was_sent(form: CampaignForm) -> None:
    write, sending = written(form, first=4).write, form.sending
    for button in (write.check_button, sending.send_button, sending.back_button, write.check_button):
        button.click()
    assert "This campaign is already recorded: 4 accepted" in form.outcome.outcome.value
    assert "Nothing has been sent" not in form.outcome.outcome.value + form.outcome.card.value


def test_the_form_corrects_after_a_canary(form: CampaignForm, box: Sandbox) -> None:
    written(form, first=4).write.check_button.click()
    assert form.sending.send_button.description == "Send the first 4 messages, about USD 0.03"
    form.sending.send_button.click()
    assert form.sending.guard_fields["canary"].value == 0
    assert form.sending.send_button.description == "Send the other 6 messages, about USD 0.0450"
    form.outcome.stop_number.value, form.outcome.stop_source.value = "+1 202 555 0109", "phone call"
    form.outcome.opt_out_button.click()
    assert form.sending.send_button.description == "Send the other 5 messages, about USD 0.0375"
    form.sending.back_button.click()
    assert form.fields.phone.disabled
    form.fields.words.value = "Hello {name}"
    form.write.check_button.click()
    form.sending.reason.value = "typo"
    shown = html.unescape(form._lines.value)
    assert "sms.People().opt_out(number, source='phone call')" in shown
    assert "sms.revise(plan, client, reason='typo')" in shown
    assert "0109" not in shown
    form.sending.send_button.click()
    words = box.inbox["text"].str.split().str
    assert words[0].value_counts().to_dict() == {"Hi": 4, "Hello": 5}
    assert sorted(words[1]) == [f"P{n}" for n in range(9)]


def test_the_rest_is_withdrawn_by_a_button_of_its_own(form: CampaignForm, box: Sandbox) -> None:
    written(form, first=4).write.check_button.click()
    form.sending.send_button.click()
    form.sending.withdraw_button.click()
    form.sending.withdraw_button.click()  # a double click asks, and answers nothing
    assert form.sending.sure_button.description == "Yes, withdraw 6"
    form.sending.keep_button.click()
    form.sending.sure_button.click()
    assert form.steps.counts["planned"] == 6
    form.sending.withdraw_button.click()
    form.sending.sure_button.click()
    assert form.steps.counts["planned"] == 0


def test_the_focus_goes_where_reading_goes_on(form: CampaignForm) -> None:
    form.write.check_button.click()
    assert form._next_to_read() is form.fields.campaign
    written(form).write.check_button.click()
    assert form._next_to_read() is form._head
    form.sending.guard_fields["budget"].value = "50"
    form.sending.send_button.click()
    assert form._next_to_read() is form.sending.guard_fields["budget"]


def test_a_suppression_list_that_can_be_read_only_once_counts_in_every_plan(
    people: pd.DataFrame, box: Sandbox, ledger: Ledger
) -> None:
    """The preview reads it before the check does; who said no is left out of both."""
    form = CampaignForm(people, client=box, ledger=ledger, exclude=iter(["+12025550100"]))
    choices = dataclasses.replace(form._choices(), campaign="hello", kind="text", words="Hi", default_region="US")
    for _ in range(2):
        plan = form.steps.draft(choices).plan
        assert plan is not None
        assert plan.rows["problem"].eq("SUPPRESSED").sum() == 1


# -- on the real service


@pytest.fixture
def live(people: pd.DataFrame, box: Sandbox, ledger: Ledger) -> Iterator[CampaignForm]:
    """A form whose client knows only an address, as that of the real service would."""
    with live_client(box) as client:
        made = written(waited(CampaignForm(people, client=client, ledger=ledger, rates=RATES)))
        yield made
        made._latest.settle()


def test_the_real_service_is_named_with_what_it_does(live: CampaignForm, box: Sandbox) -> None:
    live.write.check_button.click()
    for part in (live._head, live.sending._where):
        assert f"Live service at {box.url}: real people are texted, and every text is billed." in part.value
    assert live.sending.send_button.description == "Send 10 messages to real people, about USD 0.0750"
    assert "live-key-4711" not in str(live.widget.get_state()) + live._head.value + live._lines.value


@pytest.mark.parametrize("typed", ["", "yes", "11"])
def test_the_real_service_wants_the_number_typed_however_small(live: CampaignForm, box: Sandbox, typed: str) -> None:
    live.write.check_button.click()
    assert live.sending.typed.layout.display is None
    assert live.sending.typed.description == "Type 10 to confirm"
    live.sending.typed.value = typed
    live.sending.send_button.click()
    assert box.inbox.empty
    assert "Type 10 to confirm; nothing was sent." in live._notice.value
    assert live._next_to_read() is live.sending.typed
    live.sending.typed.value = "10"
    live.sending.send_button.click()
    assert len(box.inbox) == 10
    assert live.sending.typed.value == ""


def test_a_double_click_sends_what_the_button_said_once(live: CampaignForm, box: Sandbox) -> None:
    """The first click still waits for the keys when the second one has ended: no number confirms two sends."""
    live.sending.guard_fields["canary"].value = 4
    live.write.check_button.click()
    jobs = list[Job]()
    begin, live.work.begin = live.work.begin, lambda what, job, then: jobs.append(job)  # type: ignore[method-assign]
    for _ in range(2):
        live.sending.send_button.click()
    live.work.begin = begin  # type: ignore[method-assign]
    for job in reversed(jobs):  # both have read the fields as they were
        live.sending.guard_fields["canary"].value, live.sending.typed.value = 4, "4"
        job()
    assert len(box.inbox) == 4


def test_a_rate_table_given_in_code_is_named_not_printed(form: CampaignForm) -> None:
    assert form.fields.rates.disabled
    assert "rates=rates" in form._lines.value
    assert "0.0075" not in form._lines.value


def test_the_template_fields_appear_with_the_template(form: CampaignForm) -> None:
    assert form.write._template.layout.display == "none"
    form.fields.kind.value = "template"
    assert form.write._template.layout.display is None
    assert "estimate only" in form.fields.words.description


# -- what is wrong, at its field


@pytest.mark.parametrize(
    ("wrong", "field", "said"),
    [
        ({"words": "Hi {nome}"}, "words", "No column for the placeholder {nome}; did you mean 'name'?"),
        ({"words": "Hi {name"}, "words", "A single '{' at character 4"),
        ({"words": "{name:.2f}"}, "words", "not a number"),
        (
            {"kind": "template", "template_id": "t1", "variables": ("nome",), "words": ""},
            "variables",
            "did you mean 'name'?",
        ),
        ({"default_region": "XX"}, "default_region", "'XX' is not a country. Enter its two letters"),
        ({"kind": "content", "signature": "A"}, "signature", "The signature must have 2 to 16 characters"),
        ({"signature": "Acme"}, "signature", "A whole text goes without a signature."),
        ({"keep": ("x",)}, "keep", "The columns to keep: no column 'x'"),
        ({"rates": "no.csv"}, "rates", "Rates file not found: no.csv"),
        ({"exclude": "no.csv"}, "exclude", "The suppression list 'no.csv' not found"),
        ({"exclude": ["hello"]}, "exclude", "tick under “More options” that only the others are left out"),
        ({"exclude": pd.DataFrame({"a": [1], "b": [2]})}, "exclude", "rename its column of the numbers"),
        ({"exclude": [pd.NaT, {}]}, "exclude", "The suppression list must be numbers"),
        ({"to": "fone"}, "phone", "no column 'fone'"),
        ({"words": "name"}, "words", "Message 'name' is the name of a column: everybody would get this word. Write "),
        ({"words": "Hi %NAME%"}, "words", "Write '{name}'."),
        ({"words": "{name:money}"}, "currency", "Enter its three letters, such as EUR."),
        ({"words": "{name:money}", "currency": "EURO"}, "currency", "Enter its three letters, such as EUR."),
        ({"words": "{name:date}", "language": "DE"}, "language", "Enter a language such as de or pt-BR"),
    ],
)
def test_a_fault_stands_at_its_field_in_words(
    steps: CampaignSteps, wrong: dict[str, Any], field: str, said: str
) -> None:
    steps.check(dataclasses.replace(HELLO, **wrong))
    assert list(steps.faults) == [field]
    assert said in steps.faults[field]
    assert not CODE.search(steps.faults[field])
    assert steps.stage == "write"
    assert not any(CODE.search(said) for said in steps.draft(dataclasses.replace(HELLO, **wrong)).problems)


CODE = re.compile(r"=|\b[A-Z]{3,}_[A-Z]|\bsms\.|\w\(")


def test_amounts_and_dates_are_written_as_their_fields_say(form: CampaignForm, people: pd.DataFrame) -> None:
    """The fields are there while a placeholder needs them, and a currency that lacks is asked for."""
    form.steps.take(people.assign(owed=1234.5))
    fields, pane = form.fields, form.write
    fields.campaign.value, fields.words.value = "owed", "Hallo {name}"
    form._latest.settle()
    assert pane._manner.layout.display == "none"
    fields.words.value = "Hallo {name}, bitte {owed:money}"
    form._latest.settle()
    assert pane._manner.layout.display is pane._currency.layout.display is None
    assert "needs the currency of the amounts. Enter its three letters" in pane._preview.value
    fields.currency.value, fields.language.value = "eur", "de"
    pane.check_button.click()
    form.work.settle()
    assert form.steps.plan is not None
    assert form.steps.plan.texts.iloc[0] == "Hallo P0, bitte 1.234,50 €"
    assert form._choices().lines().count("language='de', currency='EUR'") == 1
    fields.words.value = "Hallo {name}"
    assert "currency" not in form._choices().lines()


def test_a_list_to_leave_out_can_be_agreed_to_before_the_plan_is_checked(form: CampaignForm) -> None:
    form.fields.campaign.value, form.fields.words.value = "hello", "Hi"
    form.fields._given = {**form.fields._given, "exclude": ["hello"]}
    form._typed()
    form._latest.settle()
    assert "tick under “More options”" in form.write._preview.value
    assert form.fields.readable_only.layout.display is None
    form.fields.readable_only.value = True
    form._latest.settle()
    assert form._draft is not None
    assert form._draft.plan is not None


def test_a_budget_without_a_rate_is_told_at_its_field(steps: CampaignSteps) -> None:
    steps.check(dataclasses.replace(HELLO, rates=RATES[RATES["iso"].eq("FR")]))
    steps.send(Guards({"budget": "USD 5"}))
    assert steps.faults == {
        "budget": "A limit of the cost needs a rate for every country, and US has none. Add it to the rates."
    }


def test_a_fault_goes_away_while_somebody_types(form: CampaignForm) -> None:
    form.write.check_button.click()
    lines = form.fields.faults._lines
    assert "Enter a campaign name" in lines["campaign"].value
    assert form._next_to_read() is form.fields.campaign
    form.fields.campaign.value = "h"
    assert lines["campaign"].value == ""
    assert "Write the text." in lines["words"].value
    assert "no plan yet" not in form._notice.value


# -- rows that are not sent


def test_rows_left_out_are_told_by_group_with_their_numbers_masked(steps: CampaignSteps) -> None:
    plan = checked(steps).plan
    assert plan is not None
    found = groups(plan.rows, steps.numbers())
    assert [(one.code, one.rows, one.first) for one in found] == [
        ("NOT_A_NUMBER", 1, (("8", "..."),)),
        ("MISSING", 1, (("9", "no number"),)),
    ]
    shown = refusals_html(found)
    assert "<b>1 row</b>: not a phone number." in shown
    assert "Next: ask the list" in shown


def test_a_label_that_turns_the_line_around_is_shown_as_what_it_is() -> None:
    rows = pd.DataFrame({"status": ["skipped"], "problem": ["NOT_A_NUMBER"], "to": [None]}, index=["a\u202eb"])
    assert "\u202e" not in refusals_html(groups(rows, pd.Series(["nobody"])))


def test_the_card_of_a_plan_names_no_argument_and_no_code(people: pd.DataFrame, client: Client, ledger: Ledger) -> None:
    people = people.assign(phone=[*people["phone"][:9], "+1 202 555 0109 north tower", None, None])
    steps = CampaignSteps(people, client=client, ledger=ledger)
    steps.check(dataclasses.replace(HELLO, kind="content", signature="Acme"))
    assert steps.plan is not None
    shown = "".join(check_screen(steps.plan))
    assert "How the service joins content and signature is not known" in shown
    assert "unknown words behind the number. The phone cleaner can repair them." in shown
    assert "NumberOptions(" not in shown
    assert "join=" not in shown
    assert "(note " not in shown


def test_a_suppression_list_without_countries_asks_for_the_default_country(steps: CampaignSteps) -> None:
    assert not steps.check(dataclasses.replace(HELLO, default_region="", exclude=["0171 3920007"]))
    assert "no calling code in the number" in steps.refusal.text
    assert "REGION_MISSING" not in steps.refusal.text
    assert {*steps.faults} == {"exclude", "default_region"}


def test_no_words_of_a_group_speak_of_code() -> None:
    others = {"NO_ANSWER", "NO_RECORD", "REGION_MISMATCH", "TEST_NUMBER"}  # in doubt, and what no field asks for
    rows = pd.DataFrame({"problem": list(PROBLEMS), "status": "skipped", "to": "+12025550123"})
    told = [one for one in groups(rows) if one.code not in others]
    assert len(told) == len(PROBLEMS) - len(others)
    assert not [one.code for one in told if any(sign in one.meaning + one.next_step for sign in ("=", "_", "{", "()"))]
    hostile = refusals_html([dataclasses.replace(told[0], meaning="<b>", first=(("<i>", "<u>"),), next_step="<s>")])
    assert not [mark for mark in ("<b><b>", ": <b>", "<i>", "<u>", "<s>") if mark in hostile]


# -- a list that is uploaded, a test message, earlier campaigns


def test_doubt_is_settled_row_by_row_and_the_results_are_looked_through(form: CampaignForm, box: Sandbox) -> None:
    written(form).write.check_button.click()
    box.fault("drop_before", next=2)
    form.sending.send_button.click()
    doubts = form.outcome.doubts
    assert doubts.settling.left == 2
    assert form.outcome.table.settle().view is not None
    doubts.settling.tick(doubts.settling.rows()[0].place, True)
    doubts.settling.not_accepted()
    doubts.settling.sure()
    assert (form.steps.counts["planned"], form.steps.counts["in_doubt"], doubts.settling.left) == (1, 1, 1)
    assert "1 row to go again" in form.outcome.outcome.value
    form.sending.send_button.click()
    assert len(box.inbox) == 9


def test_a_list_is_uploaded(box: Sandbox, ledger: Ledger) -> None:
    form = waited(CampaignForm(client=box, ledger=ledger))
    form._latest.settle()
    assert "Choose the list of recipients." in form.write._preview.value
    upload(form.write.upload, "people.csv", b"phone;name\n+1 202 555 0147;Ann\n\nnobody;Bob\n")
    assert not form.write.upload.value
    assert "people.csv: 2 rows, 2 columns." in form.write._read.value
    assert form._choices().to == "phone"
    written(form).write.check_button.click()
    assert "Rows 4: ..." in form.outcome.details.value
    form.sending.send_button.click()
    assert box.inbox["text"].tolist() == ["Hi Ann"]
    assert "people = sms.read_recipients('people.csv')" in html.unescape(form._lines.value)
    form._latest.settle()
    assert "555 0147" not in states(form.widget)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("people.csv", b"phone,name\n+12025550123,Ann\n+12025550124\n", "blank"),
        ("people.csv", b"", "empty"),
        ("people.xls", b"x", "save it anew"),
        ("people.xlsx", b"x", "cannot be read as a workbook"),
        ("../../etc/people.csv", b"a,a\n1,2\n", "people.csv"),
        (f"{'p' * 300}.csv", b"phone\n1\n", "cannot be written"),
        ("..", b"phone\n1\n", "name a file in it"),
        ("people.csv", b"phone\n+12025550123\0\n", "people.csv"),
        ("people.csv", b"a,b\n1,2,3\n4,5,6\n", "people.csv"),
    ],
    ids=[
        "short row",
        "empty",
        "old workbook",
        "no workbook",
        "a path for a name",
        "a long name",
        "a folder",
        "zero bytes",
        "wide rows",
    ],
)
def test_what_the_reading_of_an_upload_lost_is_said(name: str, content: bytes, said: str) -> None:
    read = read_upload(name, content)
    assert said in read.words
    assert read.sign != "ok"
    assert not re.search(r"smsotp-|\w=", read.words)
    assert (read.frame is None) == (read.sign == "bad")


def test_a_test_message_goes_to_oneself_and_changes_nothing(steps: CampaignSteps, box: Sandbox) -> None:
    checked(steps)
    assert not steps.send_test("hello")
    assert "Enter your own number" in steps.tested.text
    assert steps.send_test("(415) 555-0100", "US")
    assert box.inbox[["to", "text"]].values.tolist() == [["+14155550100", "Hi P0"]]
    assert "+1415...0100 accepted: 1 part, USD 0.0075" in steps.tested.text
    assert (steps.stage, steps.counts, steps.notice.text) == ("planned", {}, "Nothing has been sent.")
    steps.send(Guards())
    assert steps.counts["accepted"] == 10


def test_people_of_earlier_campaigns_are_left_out(begun: CampaignSteps, box: Sandbox) -> None:
    begun.withdraw()
    later = CampaignSteps(begun.frame, client=begun.client, ledger=begun.ledger)
    assert later.campaigns() == ["hello"]
    chosen = dataclasses.replace(SECOND, texted_by=("hello",))
    assert later.draft(chosen).plan is not None
    later.check(chosen)
    assert later.to_go == 6
    later.send(Guards())
    assert box.inbox["to"].is_unique
    assert "exclude=sms.record('hello', client)" in chosen.lines()


@pytest.mark.parametrize("given", ["list", "path", "frame"])
def test_the_lines_leave_out_a_list_and_earlier_campaigns(begun: CampaignSteps, tmp_path: Any, given: str) -> None:
    """The form and its code leave out the same people; the path has no ending by which a list would know it."""
    import smsotp_nb as sms

    begun.withdraw()
    numbers = pd.DataFrame({"phone": ["+12025550109"]})
    numbers.to_csv(tmp_path / "gone", index=False)
    exclude = {"list": ["+12025550109"], "path": str(tmp_path / "gone"), "frame": numbers}[given]
    chosen = dataclasses.replace(SECOND, texted_by=("hello",), exclude=exclude)
    later = CampaignSteps(begun.frame, client=begun.client, ledger=begun.ledger)
    later.check(chosen)
    assert later.plan is not None, later.notice
    code = chosen.lines().rpartition("\n")[0].replace(", client)", ", client, ledger)")
    room: dict[str, Any] = {"sms": sms, "people": begun.frame, "client": begun.client, "ledger": begun.ledger}
    exec(code, room | {"rates": RATES, "exclude": exclude}, room)
    problems = room["plan"].rows["problem"].value_counts().to_dict()
    assert problems == later.plan.rows["problem"].value_counts().to_dict()
    assert (problems["EXCLUDED"], problems["SUPPRESSED"]) == (4, 1)


@pytest.mark.parametrize(
    "changes",
    [
        {"kind": "content", "signature": "Acme"},
        {"kind": "content"},
        {"words": "Hi {name} {owed:money}", "currency": "EUR", "language": "de"},
        {"kind": "template", "template_id": "t1", "variables": ("name",)},
        {"exclude": ["hello", "+12025550100"], "readable_only": True},
        {"variant": "cn", "kind": "content", "signature": "Acme"},
        {"policy": Policy(caps=[(1, "24h")])},
    ],
    ids=["signed", "unsigned", "money", "template", "readable", "cn", "policy"],
)
def test_the_lines_plan_the_same(people: pd.DataFrame, changes: dict[str, Any]) -> None:
    import smsotp_nb as sms

    chosen, people = dataclasses.replace(HELLO, **changes), people.assign(owed=7.5)
    room: dict[str, Any] = {"sms": sms, "people": people, "rates": RATES, "exclude": changes.get("exclude")}
    exec(chosen.lines().rpartition("\n")[0], room)
    plan = planning.plan(people, **chosen.arguments())
    pd.testing.assert_frame_equal(room["plan"].rows, plan.rows)
    assert room["plan"]._wire == plan._wire


@pytest.mark.parametrize("given", ["plan", "record"])
def test_a_form_takes_a_plan_or_a_record_to_leave_out(begun: CampaignSteps, box: Sandbox, given: str) -> None:
    exclude = begun.plan if given == "plan" else begun.ledger.record("hello")
    form = CampaignForm(begun.frame, client=box, ledger=begun.ledger, exclude=exclude)
    plan = form.steps.draft(dataclasses.replace(SECOND, exclude=form._choices().exclude)).plan
    assert plan is not None
    assert plan.rows["problem"].eq("EXCLUDED").sum() == (10 if given == "plan" else 4)


def test_a_send_that_its_budget_refused_may_be_sent_without_it(steps: CampaignSteps, box: Sandbox) -> None:
    """The campaign is recorded by then, and nobody else changed it."""
    checked(steps).send(Guards({"budget": "EUR 20"}))
    assert "does not mention USD" in steps.refusal.text
    assert len(box.inbox) == 0
    steps.send(Guards())
    assert steps.refusal.text == ""
    assert len(box.inbox) > 0


@pytest.mark.parametrize(("left", "said"), [(0, "Not sent. The disk is full."), (4, "Ended early: 4 accepted")])
def test_a_send_that_breaks_off_says_whether_messages_had_left(
    steps: CampaignSteps, box: Sandbox, monkeypatch: pytest.MonkeyPatch, left: int, said: str
) -> None:
    def breaks_off(*args: Any, **asked: Any) -> None:
        if left:
            send(*args, **asked | {"limits": Limits(first=left)})
        raise LedgerError("the disk is full")

    monkeypatch.setattr(campaign_steps, "send", breaks_off)
    checked(steps).send(Guards())
    assert len(box.inbox) == left
    assert (steps.refusal.text or steps.notice.text).startswith(said)
    assert steps.stage == ("done" if left else "planned")


def test_a_second_click_on_the_test_message_sends_no_second_one(
    form: CampaignForm, box: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both clicks are heard before the first of them is worked on, as while a kernel is busy."""
    written(form).write.check_button.click()
    form.sending.test_number.value = "+12025550199"
    heard = threading.Event()
    monkeypatch.setattr(skin, "settled", lambda read, wait: heard.wait(30) and "+12025550199")
    monkeypatch.setattr(form.work, "begin", partial(Work.begin, form.work))
    form.sending.test_button.click()
    form.sending.test_button.click()
    heard.set()
    form.work.settle()
    assert len(box.inbox) == 1


def test_a_press_while_the_outcome_is_drawn_is_not_lost(live: CampaignForm, monkeypatch: pytest.MonkeyPatch) -> None:
    """A refusal leaves the button as it was: whoever reads it corrects the number and presses again at once."""
    live.write.check_button.click()
    monkeypatch.setattr(live.work, "begin", partial(Work.begin, live.work))
    pressed, drawn = list[str](), live.steps._draw

    def draw_and_press() -> None:
        drawn()
        if live.steps.refusal.text and not pressed:
            pressed.append(live.steps.refusal.text)
            live.sending.typed.value = "10"
            live.sending.send_button.click()

    monkeypatch.setattr(live.steps, "_draw", draw_and_press)
    live.sending.send_button.click()
    for _ in range(2):
        live.work.settle()
    assert "Type 10 to confirm" in pressed[0]
    assert live.steps.counts["accepted"] == 10
