"""Whom an experiment holds out is texted by none of its campaigns, and who is in an arm by no other arm's."""

from __future__ import annotations

import re
from typing import Any

import pytest

from smsotp_nb import Ledger, Limits, People, Policy, RequestOptions, Sandbox, preflight, revise, send

from .sending import NUMBERS, Clock, outcome, plan_of, sent

pytestmark = pytest.mark.both_ledgers

HELD = NUMBERS[::10]
EMOJI, PLAIN = 1, 2  # arms are numbered in the order of their names


def hold_out(
    ledger: Ledger, numbers: list[str], *, name: str = "autumn", until: int | None = None, arm: int = 0
) -> None:
    """Record a holdout, or another arm, as an assignment does."""
    with ledger._store.writing() as connection:
        connection.execute(
            "INSERT INTO experiment (name, name_key, declared, created_at, until, drawn) VALUES (?, ?, ?, 0, ?, 0) "
            "ON CONFLICT DO NOTHING",
            (name, name, '{"arms": {"emoji": 45, "plain": 45}, "window": "14d"}', until),
        )
        number = connection.execute("SELECT id FROM experiment WHERE name=?", (name,)).fetchone()[0]
        connection.execute("UPDATE experiment SET drawn=drawn+1 WHERE id=?", (number,))
        rows = [(number, int(to[1:]), to, arm, place) for place, to in enumerate(numbers)]
        connection.executemany("INSERT INTO assigned VALUES (?, ?, ?, ?, ?, NULL, 0)", rows)


@pytest.mark.parametrize("name", ["autumn", "autumn/plain", "AUTUMN / emoji/reminder"])
def test_a_campaign_of_the_experiment_leaves_them(box: Sandbox, ledger: Ledger, name: str) -> None:
    hold_out(ledger, HELD)
    table = sent(plan_of(name), box, ledger)
    assert outcome(table) == {"accepted": 27, "skipped HELD_OUT": 3}
    assert not set(box.inbox["to"]) & set(HELD)
    assert outcome(sent(plan_of(name), box, ledger)) == {"accepted": 27, "skipped HELD_OUT": 3}


def test_other_campaigns_text_them(box: Sandbox, ledger: Ledger) -> None:
    hold_out(ledger, HELD)
    assert outcome(sent(plan_of("autumnal"), box, ledger)) == {"accepted": 30}


def test_a_holdout_of_every_campaign_ends(box: Sandbox, ledger: Ledger, clock: Clock) -> None:
    hold_out(ledger, HELD, until=int(clock.at.timestamp() * 1_000_000) + 86_400_000_000)
    assert outcome(sent(plan_of("a", text="a"), box, ledger)) == {"accepted": 27, "skipped HELD_OUT": 3}
    notice = plan_of("b", text="b", policy=Policy(kind="transactional"))
    assert outcome(sent(notice, box, ledger)) == {"accepted": 30}
    clock.later(days=1)
    assert outcome(sent(plan_of("c", text="c"), box, ledger)) == {"accepted": 30}
    assert outcome(sent(plan_of("a", text="a"), box, ledger)) == {"accepted": 27, "skipped HELD_OUT": 3}


@pytest.mark.parametrize(("arm", "problem"), [(0, "HELD_OUT"), (EMOJI, "OTHER_ARM")])
def test_arms_drawn_while_a_campaign_runs_hold_what_has_not_left(
    box: Sandbox, ledger: Ledger, arm: int, problem: str
) -> None:
    done: list[bool] = []

    def progress(told: Any) -> None:
        if told.accepted >= 7 and not done:
            hold_out(ledger, NUMBERS[20:], arm=arm)
            done.append(True)

    made = plan_of("autumn/plain", requests=RequestOptions(chunk_size=1))
    table = send(
        made.with_requests(threads=1),
        client=box.client(),
        ledger=ledger,
        progress=progress,
        limits=Limits(per_second=60),
    )
    assert outcome(table)[f"skipped {problem}"] >= 2
    assert set(box.inbox["to"]) == set(table["to"][table["status"].eq("accepted")])


def test_plan_card_preflight_and_campaign_say_it(box: Sandbox, ledger: Ledger) -> None:
    hold_out(ledger, HELD)
    made = plan_of("autumn/plain", ledger=ledger)
    for card in (made, preflight(made, client=box.client(), ledger=ledger)):
        assert re.search(r"HELD_OUT +3 ", str(card))
    sent(made, box, ledger)
    assert "3 rows: this person belongs to the holdout" in ledger.record("autumn/plain").card().text()


@pytest.mark.parametrize("name", ["autumn/plain", " AUTUMN /  Plain/reminder"])
def test_an_arm_s_campaign_leaves_the_people_of_other_arms(box: Sandbox, ledger: Ledger, name: str) -> None:
    """The holdout is left as before, and who has no arm is texted."""
    hold_out(ledger, HELD)
    hold_out(ledger, NUMBERS[1:10], arm=EMOJI)
    hold_out(ledger, NUMBERS[11:20], arm=PLAIN)
    made = plan_of(name, ledger=ledger)
    for card in (made, preflight(made, client=box.client(), ledger=ledger)):
        assert re.search(r"OTHER_ARM +9 ", str(card))
    for _ in range(2):
        found = outcome(sent(made, box, ledger))
        assert found == {"accepted": 18, "skipped HELD_OUT": 3, "skipped OTHER_ARM": 9}
    assert not set(box.inbox["to"]) & set(NUMBERS[1:10])
    assert "9 rows: this person belongs to another arm" in ledger.record(name).card().text()


@pytest.mark.parametrize("name", ["autumn", "autumn/reminder", "autumn/plainer", "autumnal/plain"])
def test_a_campaign_that_is_no_arm_s_texts_all_arms(box: Sandbox, ledger: Ledger, name: str) -> None:
    hold_out(ledger, NUMBERS[:9], arm=EMOJI)
    hold_out(ledger, NUMBERS[9:], arm=PLAIN)
    assert outcome(sent(plan_of(name), box, ledger)) == {"accepted": 30}


def test_who_was_forgotten_stays_in_another_arm(box: Sandbox, ledger: Ledger) -> None:
    people = People(ledger)
    hold_out(ledger, NUMBERS[:3], arm=EMOJI)
    people.forget(NUMBERS[0])
    people.opt_in(NUMBERS[0], source="web form")
    assert outcome(sent(plan_of("autumn/plain"), box, ledger))["skipped OTHER_ARM"] == 3


def test_who_opted_out_is_opted_out_and_who_was_forgotten_stays_held_out(box: Sandbox, ledger: Ledger) -> None:
    people = People(ledger)
    hold_out(ledger, HELD)
    people.opt_out(HELD[0], source="reply STOP")
    assert outcome(sent(plan_of("autumn/a", text="a"), box, ledger))["skipped OPTED_OUT"] == 1
    people.forget(HELD[1])
    people.opt_in(HELD[1], source="web form")
    assert outcome(sent(plan_of("autumn/b", text="b"), box, ledger))["skipped HELD_OUT"] == 2
    with ledger._store.reading() as connection:
        assert connection.execute("SELECT count(*) FROM assigned WHERE unit=?", (HELD[1],)).fetchone() == (0,)


def test_a_correction_and_an_extension_text_none_of_them(box: Sandbox, ledger: Ledger) -> None:
    hold_out(ledger, HELD)
    sent(plan_of("autumn/plain", NUMBERS[:15], text="Helo!"), box, ledger, limits=Limits(first=4))
    for people in (NUMBERS[:15], NUMBERS):
        revise(plan_of("autumn/plain", people), box, reason="a change", ledger=ledger)
    table = sent(plan_of("autumn/plain"), box, ledger)
    assert outcome(table) == {"accepted": 27, "skipped HELD_OUT": 3}
    assert not set(box.inbox["to"]) & set(HELD)
