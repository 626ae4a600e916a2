"""The campaign form without a browser: write, check, send, stop, go on, and settle what is in doubt."""

from __future__ import annotations

import dataclasses
import html
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pandas as pd
import pytest

import smsotp_nb._planning as planning
from smsotp_nb._client import Client
from smsotp_nb._ledger import Ledger
from smsotp_nb._policy import Policy
from smsotp_nb._sandbox import Sandbox
from smsotp_nb._widgets.campaign_choices import Choices, Guards
from smsotp_nb._widgets.campaign_html import clock, draft_html, lines_html, plan_html, progress_html, results_html
from smsotp_nb._widgets.campaign_steps import CampaignSteps, Draft, Running
from smsotp_nb.errors import UsageError
from smsotp_nb.results import Progress
from smsotp_nb.settings import Secret, Settings
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
    given = Choices(campaign="c", to="phone", words="Hi", signature="Acme").arguments()
    assert given == {"to": "phone", "campaign": "c", "content": "Hi", "signature": "Acme"}


def test_a_template_takes_its_variables_from_columns() -> None:
    chosen = Choices(campaign="c", to="p", kind="template", template_id="t1", variables=("name",), words="Hi {name}")
    assert chosen.arguments() == {
        "to": "p",
        "campaign": "c",
        "template_text": "Hi {name}",
        "template_id": "t1",
        "template_data": ["name"],
    }


def test_the_lines_of_code_do_the_same(people: pd.DataFrame, client: Client, ledger: Ledger) -> None:
    import smsotp_nb as sms

    code = HELLO.lines(Guards({"canary": 3})).replace("sms.send(plan", "sms.send(plan, ledger=ledger, progress=False")
    room: dict[str, Any] = {"sms": sms, "people": people, "client": client, "ledger": ledger, "rates": RATES}
    exec(code, room)
    assert room["results"]["status"].eq("accepted").sum() == 3


@pytest.mark.parametrize(
    ("guards", "arguments"),
    [
        (Guards(), {}),
        (Guards({"budget": "usd 1,000.50"}), {"budget": {"USD": "1000.50"}}),
        (Guards({"quiet_from": "21:00", "quiet_to": "08:00"}), {"quiet_hours": ("21:00", "08:00")}),
        (Guards({"canary": 5}), {"canary": 5}),
    ],
    ids=["none", "budget", "quiet hours", "canary"],
)
def test_guards_as_arguments(guards: Guards, arguments: dict[str, Any]) -> None:
    assert guards.arguments() == arguments


@pytest.mark.parametrize(
    "guards", [Guards({"budget": "50"}), Guards({"quiet_from": "21:00"})], ids=["no currency", "half a span"]
)
def test_half_a_guard_is_refused_in_the_card(steps: CampaignSteps, guards: Guards) -> None:
    with pytest.raises(UsageError):
        guards.arguments()
    checked(steps).send(guards)
    assert (steps.stage, steps.refusal.text[:9]) == ("planned", "Not sent.")
    assert steps.notice.text == "Nothing has been sent."
    assert len(steps.client.sandbox.inbox) == 0


# -- what the form was given


def test_columns_are_found(people: pd.DataFrame, box: Sandbox, ledger: Ledger) -> None:
    form = CampaignForm(people.assign(id=range(100, 112), land="Germany", city="Bonn"), client=box, ledger=ledger)
    assert (form.choices().to, form.choices().region) == ("phone", "land")


def test_a_list_without_a_phone_column_guesses_none(people: pd.DataFrame, box: Sandbox, ledger: Ledger) -> None:
    form = CampaignForm(people[["name"]], client=box, ledger=ledger)
    form._latest.settle()
    assert form.choices().to == ""
    assert "Choose the column of the phone numbers." in form._preview.value
    form.steps.check(form.choices())
    assert form.steps.stage == "write"


def test_columns_may_have_numbers_for_names(box: Sandbox, ledger: Ledger) -> None:
    form = CampaignForm(pd.DataFrame({0: ["+12025550123"], 1: ["Ann"]}), client=box, ledger=ledger)
    form.campaign.value, form.kind.value, form.words.value = "c", "text", "Hi"
    assert form.choices().arguments()["to"] == 0
    form.steps.check(form.choices())
    assert form.steps.to_go == 1


@pytest.mark.parametrize("frame", [None, "list.csv", pd.DataFrame()], ids=["none", "path", "no columns"])
def test_what_is_no_list_is_refused(frame: Any, box: Sandbox) -> None:
    with pytest.raises(UsageError, match=r"DataFrame|columns"):
        CampaignForm(frame, client=box)


@pytest.mark.parametrize("client", [None, "https://sms.example"])
def test_what_is_no_client_is_refused(people: pd.DataFrame, client: Any) -> None:
    with pytest.raises(UsageError, match="needs a Client"):
        CampaignForm(people, client=client)


# -- write


def test_the_draft_is_a_plan_or_says_what_is_missing(steps: CampaignSteps) -> None:
    assert steps.draft(HELLO).plan is not None
    wrong = steps.draft(Choices(campaign="c", to="phone", words="Hi {nome}"))
    assert wrong.plan is None
    assert any("nome" in problem for problem in wrong.problems)


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


def test_a_file_that_is_not_there_is_named_by_its_field(steps: CampaignSteps) -> None:
    draft = steps.draft(dataclasses.replace(HELLO, suppress="no.csv"))
    assert draft.problems[0].startswith("The suppression list 'no.csv' not found")


def test_only_the_beginning_of_a_long_list_is_planned_while_typing(client: Client, ledger: Ledger) -> None:
    frame = pd.DataFrame({"phone": ["+12025550123"] * 50_000, "name": "A"})
    draft = CampaignSteps(frame, client=client, ledger=ledger).draft(HELLO)
    assert draft.plan is not None
    assert (draft.whole, len(draft.plan.rows)) == (False, 3000)


def test_the_preview_shows_hostile_text_as_text(steps: CampaignSteps) -> None:
    draft = steps.draft(Choices(campaign="c", to="phone", kind="text", words="<script>{name}</script> $5 ć"))
    shown = draft_html(draft)
    assert "<script>" not in shown
    assert "10 of 12 rows would be texted: 10 parts" in shown
    assert "because of ć" in shown
    assert "&lt;b&gt;" in draft_html(Draft(problems=("<b>",)))
    assert "<script>" not in lines_html(Choices(words="<script>").lines())


def test_the_preview_says_what_it_would_cost(steps: CampaignSteps) -> None:
    assert "10 of 12 rows would be texted: 10 parts, about USD 0.075." in draft_html(steps.draft(HELLO))
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


def test_checking_sends_nothing_and_the_button_says_what_it_does(steps: CampaignSteps) -> None:
    checked(steps)
    assert steps.notice.text == "Nothing has been sent."
    assert steps.send_label() == "Send 10 messages, about USD 0.075"
    assert steps.client.sandbox.inbox.empty


def test_an_unusable_choice_stays_at_the_text(steps: CampaignSteps) -> None:
    steps.check(Choices(campaign="c", to="fone", words="Hi"))
    assert steps.stage == "write"
    assert "fone" in steps.refusal.text


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
        thread.join(30)
    assert box.inbox["to"].is_unique
    assert len(box.inbox) == 10


# -- stop, go on, run dry


def test_stop_begins_nothing_more_and_the_rest_goes_out_later(client: Client, ledger: Ledger, box: Sandbox) -> None:
    frame = pd.DataFrame({"phone": [f"+1 202 555 01{n:02d}" for n in range(60)], "name": [f"P{n}" for n in range(60)]})
    steps = checked(CampaignSteps(frame, client=client, ledger=ledger))
    box.fault("latency", seconds=0.1)
    seen = threading.Event()
    steps._changed = lambda: seen.set() if steps.running and steps.running.progress.done else None
    sending = threading.Thread(target=steps.send, args=(Guards(),))
    sending.start()
    assert seen.wait(20)
    steps.stop()
    sending.join(30)
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
    assert "The canary was sent" in steps.notice.text
    again = CampaignSteps(people, client=steps.client, ledger=Ledger(steps.ledger.path))
    again.check(HELLO)
    assert again.notice.text.startswith("This campaign is already recorded: 4 accepted")
    assert again.send_label() == "Send the other 6 messages, about USD 0.045"
    again.send(Guards())
    assert box.inbox["to"].is_unique
    assert len(box.inbox) == 10


# -- a canary, and what changes after it

CORRECTED = dataclasses.replace(HELLO, words="Hello {name}")


@pytest.fixture
def begun(steps: CampaignSteps) -> CampaignSteps:
    checked(steps).send(Guards({"canary": 4}))
    return steps


def test_the_button_says_that_a_canary_goes_first(steps: CampaignSteps) -> None:
    assert checked(steps).send_label(4) == "Send the first 4 messages"
    assert steps.send_label(10) == steps.send_label(0) == "Send 10 messages, about USD 0.075"
    steps.send(Guards({"canary": 4}))
    assert steps.send_label(6) == "Send the next 2 messages"
    assert (steps.send_label(), steps.back_label()) == (
        "Send the other 6 messages, about USD 0.045",
        "Change the text for the other 6",
    )


def test_a_canary_that_was_sent_is_no_dead_end(begun: CampaignSteps, box: Sandbox) -> None:
    begun.send(Guards({"canary": 4}))
    assert "enter 0 to send all others" in begun.refusal.text
    assert len(box.inbox) == 4
    begun.send(Guards())
    assert begun.counts["accepted"] == 10
    assert box.inbox["to"].is_unique


def test_a_typo_is_corrected_for_those_who_were_not_texted(begun: CampaignSteps, box: Sandbox) -> None:
    begun.back()
    assert begun.notice.text.startswith("4 of this campaign were texted and keep their text.")
    begun.check(CORRECTED)
    assert begun.send_label() == "Change the text and send the other 6 messages, about USD 0.045"
    assert "6 rows not yet sent get the new text" in begun.notice.text
    begun.send(Guards(), reason="typo")
    assert (begun.stage, begun.unfinished) == ("done", "")
    assert box.inbox["to"].is_unique
    assert box.inbox["text"].str.startswith("Hello").sum() == 6
    changes = begun.ledger.campaign("hello").changes
    assert changes[["what", "rows", "reason"]].values.tolist() == [["corrected", 6, "typo"]]


def test_a_corrected_text_is_planned_for_another_person_at_the_campaign_too(
    begun: CampaignSteps, people: pd.DataFrame, box: Sandbox
) -> None:
    """After a kernel's restart the ledger alone knows that the campaign was begun."""
    again = CampaignSteps(people, client=begun.client, ledger=begun.ledger)
    again.check(CORRECTED)
    assert again.send_label().startswith("Change the text and send the other 6 messages")
    again.send(Guards())
    assert begun.ledger.campaign("hello").changes["reason"].tolist() == ["corrected in the form"]
    assert len(box.inbox) == 10
    assert box.inbox["to"].is_unique


def test_a_new_name_for_what_was_begun_is_refused(begun: CampaignSteps) -> None:
    begun.back()
    begun.check(dataclasses.replace(CORRECTED, campaign="hello-2"))
    assert begun.stage == "write"
    assert "Under another name the 4 would be texted again" in begun.refusal.text
    begun.check(HELLO)
    begun.withdraw("wrong price")
    assert begun.counts["skipped"] == 8
    begun.back()
    begun.check(dataclasses.replace(CORRECTED, campaign="hello-2"))
    assert begun.stage == "planned"


def test_an_opt_out_counts_in_the_next_send(begun: CampaignSteps, box: Sandbox) -> None:
    assert not begun.opt_out("+1 202 555 0109", " ")
    assert "Enter how it came" in begun.refusal.text
    assert not begun.opt_out("hello", "phone call")
    assert begun.refusal.text.startswith("Nothing was recorded.")
    assert begun.opt_out("(202) 555-0109", "phone call", "US")
    assert "opted out" in begun.notice.text
    assert "555-0109" not in begun.notice.text
    assert begun.send_label() == "Send the other 5 messages, about USD 0.0375"
    begun.send(Guards())
    assert len(box.inbox) == 9
    assert "+12025550109" not in set(box.inbox["to"])
    shown = results_html(begun.results, begun.counts)
    assert "OPTED_OUT" in shown
    assert "this person opted out" in shown


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
    later.check(dataclasses.replace(CORRECTED, campaign="reminder"))
    assert later.to_go == 6
    assert later.plan is not None
    assert "4 recipients had as many messages as the policy allows" in plan_html(later.plan)
    later.send(Guards())
    assert "CAPPED" in results_html(later.results, later.counts)
    assert later.notice.text.startswith("One more message would be more than the policy allows")
    assert (later.to_go, len(box.inbox)) == (0, 10)


def test_what_is_typed_is_planned_without_the_ledger(begun: CampaignSteps, monkeypatch: pytest.MonkeyPatch) -> None:
    """The user's own ledger may hold ten million contacts: not something to read at every key."""
    monkeypatch.setenv("SMSOTP_LEDGER", str(begun.ledger.path))
    draft = begun.draft(CORRECTED)
    assert draft.plan is not None
    assert draft.plan.prospect is None
    assert planning.plan(begun.frame, **CORRECTED.arguments()).prospect is not None


def test_an_empty_balance_says_what_to_do(people: pd.DataFrame, ledger: Ledger) -> None:
    with Sandbox(balance="0.03") as box:
        steps = checked(CampaignSteps(people, client=box.client(), ledger=ledger))
        steps.send(Guards())
        assert "Top up, then send again" in steps.notice.text
        box.top_up(1)
        steps.send(Guards())
        assert steps.counts["accepted"] == len(box.inbox) == 10


def test_of_several_reasons_the_one_to_act_on_is_said(steps: CampaignSteps) -> None:
    """A balance that runs out also leaves requests behind that were stopped before they were sent."""
    held = {"status": ["planned"] * 3, "problem": ["NOT_SENT", "NOT_SENT", "NO_FUNDS"]}
    steps.results = pd.DataFrame(held, dtype="str")
    held_back = steps._held_back()
    assert held_back is not None
    assert held_back.code == "NO_FUNDS"


# -- in doubt


def test_what_held_the_rest_back_is_said_beside_the_doubt(steps: CampaignSteps, box: Sandbox) -> None:
    checked(steps)
    box.fault("drop_after", next=1)
    steps.send(Guards({"canary": 2}))
    assert steps.notice.text.startswith("The canary was sent")
    assert "never sent again automatically" in steps.notice.text


@pytest.mark.parametrize("accepted", [True, False], ids=["they were accepted", "they were not"])
def test_rows_in_doubt_wait_for_a_person(steps: CampaignSteps, box: Sandbox, accepted: bool) -> None:
    checked(steps)
    box.fault("drop_after" if accepted else "drop_before", next=2)
    steps.send(Guards())
    assert steps.counts["in_doubt"] == 2
    assert "never sent again automatically" in steps.notice.text
    assert steps.to_go == 0
    steps.resolve(accepted=accepted)
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
    steps._changed = lambda: drawn.append(steps.running.progress.done) if steps.running else None
    for done in range(1, 1001):
        steps._heard(Progress(done=done, total=1000))
    assert len(drawn) <= 6
    assert drawn[-1] == 1000


def test_the_progress_says_pace_and_cost() -> None:
    told = Progress(done=30, total=120, accepted=28, rejected=2, cost_micros=210_000, currency="USD")
    shown = progress_html(Running(told, 10.0, stopping=False))
    assert "30 of 120, 10 s, about 30 s left" in shown
    assert "USD 0.21" in shown
    assert "no new request starts" in progress_html(Running(told, 10.0, stopping=True))
    assert [clock(59.6), clock(3600)] == ["1 min 0 s", "1 h 0 min"]


@contextmanager
def awaited(form: CampaignForm) -> Iterator[CampaignForm]:
    """Let a click return when its work has ended, which a thread of its own does, so that the page stays alive.

    What is found is said at the end: ipywidgets only logs what a click raises.
    """
    work, workers = form._work, list[str]()

    def work_and_wait(move: Callable[[], None]) -> None:
        work(lambda: (workers.append(threading.current_thread().name), move())[1])
        for thread in [one for one in threading.enumerate() if one.name == "smsotp-form"]:
            thread.join(30)
            workers.extend(["not ended"] * thread.is_alive())

    form._settle, form._work = 0.0, work_and_wait  # type: ignore[method-assign]
    yield form
    form._latest.settle()
    assert set(workers) <= {"smsotp-form"}


@pytest.fixture
def form(people: pd.DataFrame, client: Client, ledger: Ledger) -> Iterator[CampaignForm]:
    """A form whose clicks return when the thread that does their work has ended, and whose preview is awaited."""
    with awaited(CampaignForm(people, client=client, ledger=ledger, rates=RATES)) as made:
        yield made


def test_the_form_drives_a_campaign(form: CampaignForm, box: Sandbox) -> None:
    form.campaign.value, form.kind.value, form.words.value = "hello", "text", "Hi {name}"
    form.default_region.value = "us"
    form.check_button.click()
    assert form.send_button.description == "Send 10 messages, about USD 0.075"
    assert "Sandbox: nobody is texted" in form._where.value
    assert "+12025550100" not in form._card.value
    form.send_button.click()
    assert len(box.inbox) == 10
    assert form.results is not None
    assert "Results" in form._card.value
    assert "canary" not in form._lines.value


def test_a_plan_on_record_never_says_that_nothing_was_sent(form: CampaignForm) -> None:
    form.campaign.value, form.kind.value, form.words.value = "hello", "text", "Hi {name}"
    form.default_region.value, form.guard_fields["canary"].value = "us", 4
    for button in (form.check_button, form.send_button, form.back_button, form.check_button):
        button.click()
    assert "This campaign is already recorded: 4 accepted" in form._outcome.value
    assert "Nothing has been sent" not in form._outcome.value + form._card.value


def test_the_form_corrects_after_a_canary(form: CampaignForm, box: Sandbox) -> None:
    form.campaign.value, form.kind.value, form.words.value = "hello", "text", "Hi {name}"
    form.default_region.value, form.guard_fields["canary"].value = "us", 4
    form.check_button.click()
    assert form.send_button.description == "Send the first 4 messages"
    form.send_button.click()
    assert form.guard_fields["canary"].value == 0
    assert form.send_button.description == "Send the other 6 messages, about USD 0.045"
    form.stop_number.value, form.stop_source.value = "+1 202 555 0109", "phone call"
    form.opt_out_button.click()
    assert form.send_button.description == "Send the other 5 messages, about USD 0.0375"
    form.back_button.click()
    assert form.campaign.disabled
    form.words.value = "Hello {name}"
    form.check_button.click()
    form.reason.value = "typo"
    shown = html.unescape(form._lines.value)
    assert "sms.People().opt_out(number, source='phone call')" in shown
    assert "sms.Ledger().campaign('hello', service=client.service).correct(plan, reason='typo')" in shown
    assert "0109" not in shown
    form.send_button.click()
    assert set(box.inbox["text"]) == {*(f"Hi P{n}" for n in range(4)), *(f"Hello P{n}" for n in range(4, 9))}
    assert len(box.inbox) == 9


def test_the_rest_is_withdrawn_by_a_second_click(form: CampaignForm, box: Sandbox) -> None:
    form.campaign.value, form.kind.value, form.words.value = "hello", "text", "Hi {name}"
    form.default_region.value, form.guard_fields["canary"].value = "us", 4
    form.check_button.click()
    form.send_button.click()
    form.withdraw_button.click()
    assert form.withdraw_button.description == "Yes, withdraw them for good"
    assert form.steps.counts["planned"] == 6
    form.withdraw_button.click()
    assert form.steps.counts["planned"] == 0


def test_the_focus_goes_where_reading_goes_on(form: CampaignForm) -> None:
    form.check_button.click()
    assert form._next_to_read() is form.check_button
    form.campaign.value, form.kind.value, form.words.value = "hello", "text", "Hi {name}"
    form.check_button.click()
    assert form._next_to_read() is form._head
    form.guard_fields["budget"].value = "50"
    form.send_button.click()
    assert form._next_to_read() is form.send_button


def test_a_suppression_list_that_can_be_read_only_once_counts_in_every_plan(
    people: pd.DataFrame, box: Sandbox, ledger: Ledger
) -> None:
    """The preview reads it before the check does; who said no is left out of both."""
    form = CampaignForm(people, client=box, ledger=ledger, suppress=iter(["+12025550100"]))
    choices = dataclasses.replace(form.choices(), campaign="hello", kind="text", words="Hi", default_region="US")
    for _ in range(2):
        plan = form.steps.draft(choices).plan
        assert plan is not None
        assert plan.rows["problem"].eq("SUPPRESSED").sum() == 1


# -- on the real service


@pytest.fixture
def live(people: pd.DataFrame, box: Sandbox, ledger: Ledger) -> Iterator[CampaignForm]:
    """A form whose client knows only an address, as that of the real service would."""
    client = Client(Settings(base_url=box.url, access_key_id=Secret("live-key-4711")))
    with client, awaited(CampaignForm(people, client=client, ledger=ledger, rates=RATES)) as made:
        made.campaign.value, made.kind.value, made.words.value = "hello", "text", "Hi {name}"
        made.default_region.value = "us"
        yield made


def test_the_real_service_is_named_with_what_it_does(live: CampaignForm, box: Sandbox) -> None:
    live.check_button.click()
    for part in (live._head, live._where):
        assert f"Live service at {box.url}: real people are texted, and every text is billed." in part.value
    assert live.send_button.description == "Send 10 messages to real people, about USD 0.075"
    assert "live-key-4711" not in str(live.widget.get_state()) + live._head.value + live._lines.value


@pytest.mark.parametrize("typed", ["", "yes", "11"])
def test_the_real_service_wants_the_number_typed_however_small(live: CampaignForm, box: Sandbox, typed: str) -> None:
    live.check_button.click()
    assert live.typed.layout.display is None
    assert live.typed.description == "Type 10 to confirm"
    live.typed.value = typed
    live.send_button.click()
    assert box.inbox.empty
    assert "Type 10 to confirm; nothing was sent." in live._notice.value
    assert live._next_to_read() is live.typed
    live.typed.value = "10"
    live.send_button.click()
    assert len(box.inbox) == 10
    assert live.typed.value == ""


def test_a_rate_table_given_in_code_is_named_not_printed(form: CampaignForm) -> None:
    assert form.rates.disabled
    assert "rates=rates" in form._lines.value
    assert "0.0075" not in form._lines.value


def test_the_template_fields_appear_with_the_template(form: CampaignForm) -> None:
    assert form._template.layout.display == "none"
    form.kind.value = "template"
    assert form._template.layout.display is None
    assert "estimate only" in form.words.description


def test_a_missing_value_can_be_filled(form: CampaignForm) -> None:
    form.fill.value = "name=there, city = your town, x"
    assert form.choices().fill == {"name": "there", "city": "your town"}


def test_the_saved_output_names_the_form_and_nothing_else(form: CampaignForm) -> None:
    form.words.value = "secret words"
    assert form._repr_mimebundle_()["text/plain"] == "<CampaignForm at step 'Write'; run the cell to use it>"
