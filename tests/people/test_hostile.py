"""What else happens while campaigns run and change: others forget, say stop, die, or send in between."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any
from unittest import mock

import pandas as pd
import pytest
from kills.child import fork
from kills.service import Service
from support.answers import Ending, Wanted
from support.sending import once_admitted

from smsotp_nb import Client, Ledger, Limits, People, Policy, RequestOptions, Sandbox, revise, send, send_test
from smsotp_nb.errors import LedgerError, PlanChanged, UsageError

from .sending import NUMBERS, Clock, outcome, plan_of, sent

STRANGER = "+12025550190"


def sent_while(act: Callable[[], object], made: Any, box: Sandbox, ledger: Ledger, *, after: int = 2) -> Any:
    """Send one by one, and let something happen when so many are accepted."""
    done: list[object] = []

    def progress(told: Any) -> None:
        if told.accepted >= after and not done:
            done.append(act())

    return send(
        made.with_requests(threads=1),
        client=box.client(),
        ledger=ledger,
        progress=progress,
        limits=Limits(per_second=60),
    )


@pytest.mark.filterwarnings("ignore::smsotp_nb.errors.CampaignIncomplete")
def test_an_opt_out_right_after_somebody_is_forgotten_is_not_missed(box: Sandbox, ledger: Ledger, clock: Clock) -> None:
    people = People(ledger, now=clock)
    people.opt_out(STRANGER, source="letter")
    people.opt_out(STRANGER, source="phone")

    def act() -> None:
        people.forget(STRANGER)
        people.opt_out(NUMBERS[29], source="phone")

    assert outcome(sent_while(act, plan_of("a", requests=RequestOptions(chunk_size=1)), box, ledger)) == {
        "accepted": 29,
        "skipped OPTED_OUT": 1,
    }


@pytest.mark.filterwarnings("ignore::smsotp_nb.errors.CampaignIncomplete")
def test_a_cap_of_two_is_reached_by_two_and_ends_with_its_window(box: Sandbox, ledger: Ledger, clock: Clock) -> None:
    """However often a run looks at the request of another campaign, it is one contact."""
    twice = Policy(caps=[(2, "24h")], same_text=None)
    other = plan_of("other", text="other", requests=RequestOptions(chunk_size=30))
    made = plan_of("a", requests=RequestOptions(chunk_size=1), policy=twice)
    assert outcome(sent_while(lambda: sent(other, box, ledger), made, box, ledger)) == {"accepted": 30}
    clock.later(hours=10)
    another = plan_of("another", text="another", requests=RequestOptions(chunk_size=30))
    fresh = plan_of(
        "b",
        [*NUMBERS],
        text="b",
        requests=RequestOptions(chunk_size=1),
        policy=Policy(caps=[(4, "24h")], same_text=None),
    )
    assert outcome(sent_while(lambda: sent(another, box, ledger), fresh, box, ledger)) == {"accepted": 30}
    held = sent(plan_of("c", text="c", policy=Policy(caps=[(3, "24h")])), box, ledger)
    assert set(held["not_before"].dt.tz_localize("UTC") - clock()) == {timedelta(hours=14)}


@pytest.mark.filterwarnings("ignore::smsotp_nb.errors.CampaignIncomplete")
def test_who_is_met_meanwhile_waits_until_the_first_contact_is_out_of_the_window(
    box: Sandbox, ledger: Ledger, clock: Clock
) -> None:
    sent(plan_of("first", text="first"), box, ledger)
    clock.later(hours=10)
    made = plan_of("a", requests=RequestOptions(chunk_size=1), policy=Policy(caps=[(2, "24h")]))
    table = sent_while(lambda: sent(plan_of("other", text="other"), box, ledger), made, box, ledger)
    held = table.loc[table["problem"].eq("CAPPED"), "not_before"].dt.tz_localize("UTC")
    assert len(held) > 10
    assert set(held - clock()) == {timedelta(hours=14)}


@pytest.mark.parametrize("concurrency", [1, 4])
def test_nobody_takes_the_place_of_who_says_stop_while_the_first_are_texted(
    box: Sandbox, ledger: Ledger, concurrency: int
) -> None:
    people = People(ledger)
    with once_admitted(lambda: people.opt_out(NUMBERS[:3], source="phone")):
        table = sent(plan_of("a"), box, ledger, threads=concurrency, limits=Limits(first=10))
    assert outcome(table) == {"accepted": 7, "skipped OPTED_OUT": 3, "planned CANARY": 20}
    assert sorted(box.inbox["to"]) == NUMBERS[3:10]


def test_a_canary_takes_all_that_are_left_where_the_others_are_held(box: Sandbox, ledger: Ledger) -> None:
    sent(plan_of("other", NUMBERS[:24], text="other"), box, ledger)
    table = sent(plan_of("a", policy=Policy(caps=[(1, "24h")])), box, ledger, limits=Limits(first=10))
    assert outcome(table) == {"accepted": 6, "planned CAPPED": 24}


def test_a_budget_is_given_back_for_who_is_held_in_that_moment(box: Sandbox, ledger: Ledger) -> None:
    people = People(ledger)
    rates = pd.DataFrame({"iso": ["US"], "currency": ["USD"], "price": ["0.01"]})
    made = plan_of("a", rates=rates)
    with once_admitted(lambda: people.opt_out(NUMBERS[:14], source="phone")):
        table = sent(made, box, ledger, threads=1, limits=Limits(budget={"USD": "0.16"}))
    assert outcome(table)["accepted"] == 16
    assert outcome(table)["skipped OPTED_OUT"] == 14


def test_answers_stay_with_their_rows_when_a_longer_list_has_another_order(box: Sandbox, ledger: Ledger) -> None:
    sent(plan_of("a", NUMBERS[:10]), box, ledger)
    longer = plan_of("a", NUMBERS[::-1])
    revise(longer, box, reason="more people", ledger=ledger)
    table = sent(longer, box, ledger)
    ids = box.inbox.set_index("to")["id"]
    assert table["id"].tolist() == ids[table["to"]].tolist()


def test_a_campaign_goes_on_changing_when_somebody_was_forgotten(box: Sandbox, ledger: Ledger) -> None:
    sent(plan_of("a"), box, ledger, limits=Limits(first=5))
    People(ledger).forget(NUMBERS[0])
    assert outcome(sent(plan_of("a", exclude=[NUMBERS[20]]), box, ledger)) == {
        "accepted": 29,
        "skipped SUPPRESSED": 1,
    }
    without = plan_of("a", [*NUMBERS[1:], STRANGER], exclude=[NUMBERS[20]])
    assert revise(without, box, reason="more people", ledger=ledger).added == 1
    assert outcome(sent(without, box, ledger)) == {"accepted": 29, "skipped SUPPRESSED": 1}
    assert box.inbox["to"].is_unique


def test_a_plan_without_those_who_were_withdrawn_corrects_the_rest(box: Sandbox, ledger: Ledger) -> None:
    sent(plan_of("a"), box, ledger, limits=Limits(first=5))
    ledger.record("a").withdraw(NUMBERS[5:9])
    corrected = plan_of("a", [*NUMBERS[:5], *NUMBERS[9:]], text="Right")
    assert revise(corrected, box, reason="typo", ledger=ledger).reworded == 21
    assert outcome(sent(corrected, box, ledger)) == {"accepted": 26}
    assert ledger.record("a").counts["skipped"] == 4
    assert set(NUMBERS[5:9]).isdisjoint(box.inbox["to"])


def test_who_died_does_not_hold_others_back_for_ever(box: Sandbox, ledger: Ledger, clock: Clock) -> None:
    def dies() -> None:
        with mock.patch.object(Client, "_deliver", side_effect=lambda *_, **__: os._exit(9)):
            sent(plan_of("dead", text="dead"), box, ledger)

    with pytest.raises(EOFError):  # it said nothing before it died
        fork(dies).wait()
    once = Policy(caps=[(1, "24h")])
    clock.later(days=2)
    assert outcome(sent(plan_of("a", policy=once), box, ledger))["planned CAPPED"] > 0  # from when it was found
    clock.later(hours=25)
    assert outcome(sent(plan_of("a", policy=once), box, ledger)) == {"accepted": 30}


def test_what_comes_back_after_a_withdrawal_is_withdrawn(ledger: Ledger) -> None:
    """A request under way is refused for a moment (HTTP 429), a row is rejected, one is in doubt: none goes again."""
    made = plan_of("a", NUMBERS[:4], requests=RequestOptions(chunk_size=1))
    with Service() as service, service.client() as client:
        with ledger._begin(made, service=client.service) as run:
            chunks = run.chunks()
            claims = [run.claim(chunk) for chunk in chunks]
            run.settle(claims[0], Ending("rejected", error_code="1"))
            run.settle(claims[1], Ending("in_doubt"))
            assert ledger.record("a").withdraw(reason="wrong price") == 0
            run.settle(claims[2], Ending("THROTTLED"))
            assert run.claim(chunks[2]) is None
            run.settle(claims[3], Ending("NOT_SENT"), then=Wanted(chunks[3]))
        campaign = ledger.record("a")
        campaign.retry(campaign.rejected)
        campaign.settle(campaign.in_doubt, accepted=False)
        table = send(made, client=client, ledger=ledger, progress=False)
        assert outcome(table) == {"skipped WITHDRAWN": 4}
        assert not service.posts
        with pytest.raises(UsageError, match="was withdrawn"):
            revise(
                plan_of("a", NUMBERS[:6], requests=RequestOptions(chunk_size=1)),
                client,
                reason="more people",
                ledger=ledger,
            )


def test_rejected_and_doubtful_rows_go_again_with_the_corrected_words(ledger: Ledger) -> None:
    made, corrected = (
        plan_of("a", text="Helo", requests=RequestOptions(chunk_size=1)),
        plan_of("a", text="Hello", requests=RequestOptions(chunk_size=1)),
    )
    with Service() as service:
        service.script(["accept", "refuse", "lost"])
        sent_to(service, made.with_requests(threads=1), ledger, limits=Limits(first=3))
        campaign = ledger.record("a")
        assert ledger._revise(corrected, service=campaign.service, reason="typo").reworded == 27
        campaign.retry(campaign.rejected)
        campaign.settle(campaign.in_doubt, accepted=False)
        assert outcome(sent_to(service, corrected, ledger)) == {"accepted": 30}
        with pytest.raises(PlanChanged):
            sent_to(service, made, ledger)
    assert [post.text for post in service.posts].count("Helo") == 3
    assert [post.text for post in service.posts].count("Hello") == 29


def sent_to(service: Service, made: Any, ledger: Ledger, **more: Any) -> Any:
    with service.client() as client, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return send(made, client=client, ledger=ledger, progress=False, **more)


def test_an_opted_out_number_gets_no_test_either(box: Sandbox, ledger: Ledger) -> None:
    People(ledger).opt_out(NUMBERS[0], source="phone")
    table = send_test(plan_of("a"), to=NUMBERS[0], client=box.client(), ledger=ledger)
    assert outcome(table) == {"skipped OPTED_OUT": 1}
    assert box.inbox.empty


def test_two_spellings_of_a_phone_are_one_person(box: Sandbox, ledger: Ledger) -> None:
    sent(plan_of("a", ["+5491123456789"]), box, ledger)
    assert outcome(sent(plan_of("b", ["+541123456789"]), box, ledger)) == {"planned SAME_TEXT": 1}
    people = People(ledger)
    people.opt_out("+541123456789", source="phone")
    assert outcome(sent(plan_of("c", ["+5491123456789"], text="c"), box, ledger)) == {"skipped OPTED_OUT": 1}
    people.opt_out("+5215512345678", source="phone")
    assert outcome(sent(plan_of("d", ["+525512345678"], text="d"), box, ledger)) == {"skipped OPTED_OUT": 1}


@pytest.mark.filterwarnings("ignore:the clock of this machine")
def test_a_clock_that_goes_back_lets_nobody_through(box: Sandbox, ledger: Ledger, clock: Clock) -> None:
    once = Policy(caps=[(1, "24h")])
    sent(plan_of("a", policy=once), box, ledger)
    first = clock()
    clock.later(days=-2)
    held = sent(plan_of("b", text="b", policy=once), box, ledger)
    assert outcome(held) == {"planned CAPPED": 30}
    assert set(held["not_before"].dt.tz_localize("UTC")) == {first + timedelta(hours=24)}


def test_a_backup_that_lacks_an_opt_out_is_not_taken_for_the_ledger(ledger: Ledger) -> None:
    People(ledger).opt_out(NUMBERS[0], source="phone")
    backup = ledger.backup(ledger.path.with_name("backup.sqlite"))
    People(ledger).opt_out(NUMBERS[1], source="phone")
    ledger.close()
    with pytest.raises(LedgerError, match="older"):
        Ledger.restore(backup, ledger.path)


def test_two_ledgers_know_nothing_of_each_other(box: Sandbox, ledger: Ledger, tmp_path: Path) -> None:
    sent(plan_of("a"), box, ledger)
    with Ledger(tmp_path / "other.sqlite", create=True) as other:
        People(other).opt_out(NUMBERS[0], source="phone")
        assert outcome(sent(plan_of("b"), box, other)) == {"accepted": 29, "skipped OPTED_OUT": 1}
    assert not People(ledger).is_opted_out(NUMBERS[0])


def test_a_run_is_stopped_by_a_withdrawal_of_another_process(box: Sandbox, ledger: Ledger) -> None:
    def act() -> None:
        def withdraws() -> int:
            with Ledger(ledger.path) as other:
                return other.record("a").withdraw()

        assert fork(withdraws).result() > 20

    table = sent_while(act, plan_of("a", requests=RequestOptions(chunk_size=1)), box, ledger)
    assert outcome(table)["skipped WITHDRAWN"] > 20
    assert len(box.inbox) == outcome(table)["accepted"]


@pytest.mark.parametrize("positions", [None, (0, 1)], ids=["as a whole", "row by row"])
@pytest.mark.parametrize("meanwhile", ["says stop", "is texted"])
def test_what_comes_back_is_held_by_what_happened_while_it_was_under_way(
    box: Sandbox, ledger: Ledger, meanwhile: str, positions: tuple[int, ...] | None
) -> None:
    """The run knew of nobody when it began, so it gathers what holds its rows back in a later claim."""
    with ledger._begin(
        plan_of("a", NUMBERS[:6], requests=RequestOptions(chunk_size=3)), service=box.client().service
    ) as run:
        claim = run.claim(0, positions)
        assert claim
        if meanwhile == "says stop":
            People(ledger).opt_out(NUMBERS[0], source="phone")
        else:
            sent(plan_of("b", NUMBERS[:1]), box, ledger, repeat_text=True)
        assert run.claim(1)
        run.settle(claim, Ending("NOT_SENT", "before"))
        again = run.claim(0)
        assert again
        assert again.to == tuple(NUMBERS[1:3])


@pytest.mark.parametrize("known", [False, True], ids=["knew of nobody", "knew of somebody"])
def test_a_campaign_that_is_sent_and_purged_meanwhile_counts(box: Sandbox, ledger: Ledger, known: bool) -> None:
    if known:
        sent(plan_of("before", [STRANGER]), box, ledger)
    with ledger._begin(
        plan_of("a", NUMBERS[:4], requests=RequestOptions(chunk_size=2)), service=box.client().service
    ) as run:
        assert run.claim(0)
        sent(plan_of("b", NUMBERS[2:3]), box, ledger)
        ledger.record("b").purge()
        claim = run.claim(1)
        assert claim
        assert claim.to == (NUMBERS[3],)
