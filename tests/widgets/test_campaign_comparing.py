"""The campaign form compares texts and holds people out, without a browser."""

from __future__ import annotations

import dataclasses
import itertools
import re
from typing import Any

import pandas as pd
import pytest

from smsotp_nb import Client, Experiment, Ledger, Record, Sandbox
from smsotp_nb._widgets.campaign.cards import comparison_card, draft_html
from smsotp_nb._widgets.campaign.choices import Choices, Compared, Guards
from smsotp_nb._widgets.campaign.reading import OrderColumns
from smsotp_nb._widgets.campaign.steps import CampaignSteps
from smsotp_nb.errors import CampaignLockedError
from smsotp_nb.widgets import CampaignForm

pytestmark = pytest.mark.filterwarnings("ignore::smsotp_nb.errors.SmsOtpWarning")
RATES = pd.DataFrame({"iso": ["US"], "currency": "USD", "price": ["0.0075"]})
PEOPLE = pd.DataFrame(
    {
        "phone": [*(f"+1202555{n:04}" for n in range(100, 200)), "nobody"],
        "customer": [f"c{n}" for n in range(101)],
        "name": [f"P{n}" for n in range(101)],
    }
)
COMPARED = Compared(other="{name}, only today!", held=20, unit="customer", base="5")
AUTUMN = Choices(campaign="autumn", to="phone", kind="text", words="Hi {name}!", rates=RATES, compared=COMPARED)


@pytest.fixture
def steps(client: Client, ledger: Ledger) -> CampaignSteps:
    return CampaignSteps(PEOPLE, client=client, ledger=ledger)


def checked(steps: CampaignSteps, choices: Choices = AUTUMN) -> CampaignSteps:
    steps.check(choices)
    assert steps.stage == "planned", steps.refusal
    return steps


def changed(**compared: Any) -> Choices:
    return dataclasses.replace(AUTUMN, compared=dataclasses.replace(COMPARED, **compared))


def arms_of(ledger: Ledger) -> dict[str, str]:
    """Return the arm of each number, as an experiment in code draws it."""
    test = Experiment("autumn", ledger=ledger, **COMPARED.declared())
    frame = test.assign(PEOPLE, to="phone").frame.dropna()
    return dict(zip(frame["phone"], frame["arm"], strict=True))


def told(box: Sandbox) -> dict[str, str]:
    """Return which text each number got."""
    inbox = box.inbox
    assert inbox["to"].is_unique
    return dict(zip(inbox["to"], inbox["text"].str.contains("only today").map({True: "B", False: "A"}), strict=True))


def recorded(ledger: Ledger) -> int:
    with ledger._store.reading() as connection:
        return int(connection.execute("SELECT count(*) FROM assigned").fetchone()[0])


def test_the_preview_shows_both_texts_and_what_they_can_show(steps: CampaignSteps, ledger: Ledger) -> None:
    shown = draft_html(steps.draft(AUTUMN))
    assert "Hi P0!" in shown
    assert "P0, only today!" in shown
    test = Experiment("autumn", ledger=ledger, **COMPARED.declared())
    assert steps.draft(AUTUMN).foreseen == (test.power(base={"bought": 0.05}, size=100).sentence(),)
    assert recorded(ledger) == 0


def test_what_a_comparison_of_two_texts_alone_shows(steps: CampaignSteps) -> None:
    (said,) = steps.draft(changed(held=0)).foreseen
    assert re.match(r'With 100 people, A against B shows \d+% more "bought" \(5.00%', said)
    assert said.endswith("Nobody is held out, so nothing will say what the campaign itself brought.")


@pytest.mark.parametrize(
    ("outcome", "outcomes", "foreseen"),
    [
        ("spent", {"spent": "amount"}, "depends on how unevenly people spend"),
        ("both", {"bought": "binary", "spent": "amount"}, '% more "bought"'),
    ],
)
def test_what_is_counted_is_declared_and_read(
    client: Client, ledger: Ledger, outcome: str, outcomes: dict[str, str], foreseen: str
) -> None:
    """Money beside purchases, from the choice in the form to the reading of its orders."""
    form = CampaignForm(PEOPLE, client=client, ledger=ledger)
    assert foreseen in form.steps.draft(changed(outcome=outcome)).foreseen[0]
    checked(form.steps, changed(outcome=outcome)).send(Guards())
    orders = pd.DataFrame({"customer": ["c1", "c2"], "day": pd.Timestamp.now("UTC"), "paid": [12.5, 3.0]})
    form.reading.steps.orders = orders
    form.reading.steps.read("autumn", OrderColumns("customer", "day", "paid", currency="EUR"), early=True)
    reading = form.reading.steps.reading
    assert reading is not None, form.reading.steps.notice
    totals = reading.frame.groupby("outcome")["total"].sum().to_dict()
    assert totals == {name: {"bought": 2, "spent": 15.5}[name] for name in outcomes}
    assert 'amount="amount", currency="EUR")' in changed(outcome=outcome).lines(Guards())


def test_each_person_gets_the_text_that_was_drawn_and_nobody_held_out_any(
    steps: CampaignSteps, ledger: Ledger, box: Sandbox
) -> None:
    checked(steps)
    assert recorded(ledger) == 0  # a look records nobody
    texted = steps.to_go
    assert steps.send_label() == f"Send {texted} messages, about USD {texted * 0.0075:.4f}".rstrip("0")
    steps.send(Guards())
    assert (steps.stage, steps.notice.text) == ("done", f"{texted} accepted, 0 in doubt, 0 rejected, 0 to go.")
    arms = arms_of(ledger)
    assert told(box) == {to: arm for to, arm in arms.items() if arm != "holdout"}
    assert steps.results is not None
    assert dict(zip(steps.results["to"], steps.results["arm"], strict=True)) == told(box)
    sizes = pd.Series(arms).value_counts()
    assert steps.comparison is not None
    rows = comparison_card(steps.comparison).blocks[0].rows  # type: ignore[union-attr]
    assert [(row[0], row[2], row[3]) for row in rows] == [
        ("A", f"{sizes['A']}", f"{sizes['A']}"),
        ("B", f"{sizes['B']}", f"{sizes['B']}"),
        ("Held out", f"{sizes['holdout']}", "–"),
    ]
    assert rows[0][5] == f"USD {sizes['A'] * 0.0075:.4f}"


def test_the_number_typed_is_that_of_all_messages(client: Client, ledger: Ledger, box: Sandbox) -> None:
    steps = checked(CampaignSteps(PEOPLE, client=client, ledger=ledger, type_above=0))
    steps.send(Guards(), typed=str(steps.arms[0].to_go))
    assert steps.refusal.text == f"Type {steps.to_go} to confirm; nothing was sent."
    assert (len(box.inbox), recorded(ledger)) == (0, 0)
    wanted = steps.to_type()
    steps.send(Guards(), typed=wanted)
    assert len(box.inbox) == int(wanted)


def test_of_each_text_some_go_first(steps: CampaignSteps, box: Sandbox) -> None:
    guards = Guards({"canary": 3})
    checked(steps)
    assert "Send the first 6 messages" in steps.send_label(guards)
    assert "3 of each text go first." in steps.limits(guards)
    steps.send(guards)
    assert pd.Series(told(box)).value_counts().to_dict() == {"A": 3, "B": 3}
    assert steps.notice.text.startswith("The first recipients were texted: 6 accepted")
    assert steps.path(Guards()) == (("Write", "Check", "The first 6", "Look", "The others", "Results"), 4)
    steps.send(guards)
    assert pd.Series(told(box)).value_counts().to_dict() == {"A": 6, "B": 6}


def test_the_limit_of_the_cost_cuts_both_texts_alike(steps: CampaignSteps, box: Sandbox) -> None:
    checked(steps)
    people = {name: len(arm.frame) for name, arm in steps.comparison.arms.items()}  # type: ignore[union-attr]
    steps.send(Guards({"budget": "USD 0.30"}))
    sent = pd.Series(told(box)).value_counts()
    assert sent.sum() in (39, 40)
    assert abs(sent["A"] / people["A"] - sent["B"] / people["B"]) < 0.03
    assert steps.notice.text.startswith("The next request may exceed the budget")
    asked = steps.asked(Guards({"budget": "USD 1"})).values()
    amounts = [float(one.budget["USD"]) for one in asked if one.budget]
    assert sum(amounts) == pytest.approx(1, abs=2e-6)


def test_after_a_restart_the_same_people_get_the_rest(client: Client, ledger: Ledger, box: Sandbox) -> None:
    checked(CampaignSteps(PEOPLE, client=client, ledger=ledger)).send(Guards({"canary": 5}))
    again = checked(CampaignSteps(PEOPLE.sample(frac=1, random_state=1), client=client, ledger=ledger))
    assert again.tried == 10
    assert "already recorded" in again.notice.text
    assert again.comparison is not None
    costs = [row[5] for row in comparison_card(again.comparison).blocks[0].rows[:2]]  # type: ignore[union-attr]
    assert all(re.fullmatch(r"USD 0\.0375, about USD 0\.\d+ to go", cost) for cost in costs)
    again.send(Guards())
    assert told(box) == {to: arm for to, arm in arms_of(ledger).items() if arm != "holdout"}


def stopped_in_the_first_text(client: Client, ledger: Ledger) -> CampaignSteps:
    def stop_once() -> None:
        if steps.running and steps.running.progress.done and not steps.running.stopping:
            steps.stop()

    ticks = itertools.count()  # a second at each look, so that every update is passed on
    steps = CampaignSteps(PEOPLE, client=client, ledger=ledger, changed=stop_once, clock=lambda: float(next(ticks)))
    checked(steps).send(Guards())
    assert steps.notice.text.startswith("Stopped: ")
    steps._draw = lambda: None
    return steps


def test_stopped_between_the_texts_and_gone_on(client: Client, ledger: Ledger, box: Sandbox) -> None:
    steps = stopped_in_the_first_text(client, ledger)
    assert "B" not in set(told(box).values())
    steps.send(Guards())
    assert steps.stage == "done"
    assert told(box) == {to: arm for to, arm in arms_of(ledger).items() if arm != "holdout"}


def test_another_share_after_the_first_message_is_refused_at_its_field(steps: CampaignSteps, box: Sandbox) -> None:
    checked(steps).send(Guards({"canary": 1}))
    steps.back()
    steps.check(changed(held=30))
    assert steps.stage == "write"
    assert "its holdout (20.0 recorded, 30.0 now)" in steps.faults["held"]
    assert len(box.inbox) == 2


def test_the_second_text_is_corrected_for_those_to_go(steps: CampaignSteps, box: Sandbox) -> None:
    checked(steps).send(Guards({"canary": 2}))
    steps.back()
    checked(steps, changed(other="{name}, only today: 20% off!"))
    b = steps.arms[1]
    assert steps.reworded == b.to_go > 0
    steps.send(Guards(), reason="typo")
    assert box.inbox["text"].str.endswith("20% off!").sum() == b.tried - 2
    assert steps.to_go == 0


def test_opt_outs_and_withdrawal_hold_for_both_texts(steps: CampaignSteps, ledger: Ledger, box: Sandbox) -> None:
    checked(steps).send(Guards({"canary": 2}))
    gone = steps.arms[1].plan.rows.loc[lambda rows: rows["status"].eq("planned"), "to"].iloc[0]  # type: ignore[union-attr]
    before = steps.to_go
    assert steps.opt_out(gone, "phone call")
    assert steps.to_go == before - 1
    steps.withdraw()
    assert steps.to_go == 0
    assert steps.notice.text == f"{before - 1} rows withdrawn: this campaign never texts them."
    assert len(box.inbox) == 4


def test_nothing_is_said_to_be_withdrawn_that_was_not(
    client: Client, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first text has begun, the second has not; the first one cannot be changed now."""

    def held(*_: object, **__: object) -> int:
        raise CampaignLockedError("held by another process")

    steps = stopped_in_the_first_text(client, ledger)
    assert [bool(arm.counts) for arm in steps.arms] == [True, False]
    before = steps.to_go
    monkeypatch.setattr(Record, "withdraw", held)
    steps.withdraw()
    assert steps.refusal.text == "Nothing was changed. Held by another process."
    assert steps.to_go == before


@pytest.mark.parametrize(
    ("choices", "field", "words"),
    [
        (changed(unit=""), "unit", "Choose the column that tells your customers apart."),
        (changed(base="much"), "base", "Enter a share above 0"),
        (changed(base="120"), "base", "Enter a share above 0"),
        (dataclasses.replace(AUTUMN, kind="template", template_id="t"), "other", "A template is compared with nobody"),
        (dataclasses.replace(AUTUMN, campaign="autumn/sale"), "campaign", "a name without a slash"),
    ],
    ids=["unit", "no share", "too large a share", "template", "slash"],
)
def test_what_cannot_be_compared_is_said_at_its_field(
    steps: CampaignSteps, choices: Choices, field: str, words: str
) -> None:
    steps.check(choices)
    assert steps.stage == "write"
    assert words in steps.faults[field]


def test_a_customer_without_a_name_is_refused(client: Client, ledger: Ledger) -> None:
    frame = PEOPLE.assign(customer=PEOPLE["customer"].mask(PEOPLE.index == 3))
    steps = CampaignSteps(frame, client=client, ledger=ledger)
    steps.check(AUTUMN)
    assert steps.faults["unit"] == ("The column that tells customers apart is blank in 1 row that can be texted: 3.")


def test_a_test_message_of_each_text_goes_to_oneself(steps: CampaignSteps, ledger: Ledger, box: Sandbox) -> None:
    assert checked(steps).send_test("+1 415 555 0100")
    assert box.inbox["to"].tolist() == ["+14155550100"] * 2
    assert box.inbox["text"].nunique() == 2
    assert recorded(ledger) == 0


def test_only_held_out(steps: CampaignSteps, box: Sandbox) -> None:
    checked(steps, changed(other=""))
    assert steps.to_go < 100
    steps.send(Guards())
    assert set(told(box).values()) == {"A"}
    assert len(box.inbox) == len(steps.arms[0].frame)


@pytest.mark.slow
def test_doubt_of_both_texts_is_settled_in_one_place(client: Client, ledger: Ledger, box: Sandbox) -> None:
    """Rows of each text are ticked together; one is found accepted, the others go again, and each keeps its text."""
    form = CampaignForm(PEOPLE, client=client, ledger=ledger)
    steps, settling = form.steps, form.outcome.doubts.settling
    box.fault("drop_before", next=4)  # two messages of each text
    steps.check(AUTUMN)
    steps.send(Guards({"canary": 1}))
    steps.send(Guards({"canary": 1}))
    assert [arm.counts["in_doubt"] for arm in steps.arms] == [2, 2]
    assert settling.left == steps.counts["in_doubt"] == 4
    rows = [settling.rows()[0], settling.rows()[-1]]
    labels = [str(arm.frame.index[0]) for arm in steps.arms]
    assert [settling.rows()[0].label, settling.rows()[2].label] == labels
    for row in rows:
        settling.tick(row.place, True)
    settling.accepted()
    assert settling.notice.text == "2 rows recorded as accepted."
    assert [arm.counts["in_doubt"] for arm in steps.arms] == [1, 1]
    assert settling.left == steps.counts["in_doubt"] == 2
    settling.tick_listed(True)
    settling.not_accepted()
    settling.sure()
    assert settling.notice.text == "2 rows to go again; nothing was sent yet."
    assert (settling.left, steps.counts["in_doubt"]) == (0, 0)
    steps.send(Guards())
    assert steps.to_go == 0
    arms = {to: arm for to, arm in arms_of(ledger).items() if arm != "holdout"}
    assert told(box).items() <= arms.items()
    assert len(arms) - len(told(box)) == 2  # found accepted, and not texted again


def test_doubt_that_was_settled_elsewhere_leaves_what_was_settled_of_the_other_text(
    client: Client, ledger: Ledger, box: Sandbox
) -> None:
    form = CampaignForm(PEOPLE, client=client, ledger=ledger)
    settling = form.outcome.doubts.settling
    box.fault("drop_before", next=2)
    form.steps.check(AUTUMN)
    form.steps.send(Guards({"canary": 1}))
    settling.tick_listed(True)
    ledger.record("autumn/B").settle(ledger.record("autumn/B").in_doubt, accepted=True)  # somebody else did
    settling.accepted()
    assert settling.notice.text == "1 row recorded as accepted. 1 ticked row was settled elsewhere meanwhile."
    assert (settling.left, form.steps.counts["in_doubt"]) == (0, 0)


def test_the_lines_of_code_do_the_same(steps: CampaignSteps, client: Client, ledger: Ledger, tmp_path: Any) -> None:
    import smsotp_nb as sms

    with sms.Ledger(tmp_path / "other.sqlite", create=True) as other, sms.Sandbox() as box:
        code = AUTUMN.lines(Guards({"failures": 7})).replace("unit=", "ledger=ledger, unit=")
        code = code.replace(", client", ", client, ledger=ledger, progress=False").rpartition("\n")[0]
        exec(code, {"sms": sms, "people": PEOPLE, "client": box.client(), "ledger": other, "rates": RATES})
        checked(steps).send(Guards())
        assert client.sandbox is not None
        assert told(box) == told(client.sandbox)


def test_the_form_keeps_a_comparison_in_its_draft(box: Sandbox, ledger: Ledger) -> None:
    form = CampaignForm(PEOPLE, client=box, ledger=ledger)
    form.fields.campaign.value, form.fields.kind.value, form.fields.words.value = "autumn", "text", "Hi {name}!"
    form.compare.other.value, form.compare.held.value, form.compare.unit.value = "Ho!", 20, "customer"
    form._latest.ask(form._choices(), at_once=True)
    form._latest.settle()
    again = CampaignForm(PEOPLE, client=box, ledger=ledger)
    again.write.take_button.click()
    assert again._choices().compared == form._choices().compared == Compared(other="Ho!", held=20, unit="customer")
    assert again.compare._folded.fields.layout.display is None
    again.steps.check(again._choices())
    assert "Comparison: autumn" in again.outcome.card.value
    assert "test = sms.Experiment(&#x27;autumn&#x27;" in again._lines.value
    again._latest.settle()


def test_a_hostile_name_stays_text(steps: CampaignSteps) -> None:
    checked(steps, dataclasses.replace(AUTUMN, campaign="<b>autumn"))
    assert steps.comparison is not None
    assert "<b>autumn" not in comparison_card(steps.comparison).html()
