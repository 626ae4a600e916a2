"""Who may be texted is decided when the request leaves, over all campaigns of a ledger."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from support.servers import stored

from smsotp_nb import Ledger, Limits, People, Policy, RequestOptions, Sandbox, revise, send
from smsotp_nb.errors import CampaignIncomplete, PlanChanged, UsageError

from .sending import NUMBERS, Clock, outcome, plan_of, sent

pytestmark = pytest.mark.both_ledgers


def test_the_same_words_are_held_for_three_days_under_whatever_name(box: Sandbox, ledger: Ledger, clock: Clock) -> None:
    sent(plan_of("a", NUMBERS[:20]), box, ledger)
    table = sent(plan_of("b"), box, ledger)
    assert outcome(table) == {"accepted": 10, "planned SAME_TEXT": 20}
    assert table["not_before"].dropna().dt.tz_localize("UTC").unique().tolist() == [clock.at + timedelta(days=3)]
    clock.later(days=2, hours=23)
    assert outcome(sent(plan_of("b"), box, ledger)) == {"accepted": 10, "planned SAME_TEXT": 20}
    clock.later(hours=1)
    assert outcome(sent(plan_of("b"), box, ledger)) == {"accepted": 30}


def test_other_words_pass_and_repeat_text_lets_the_same_pass(box: Sandbox, ledger: Ledger) -> None:
    sent(plan_of("a"), box, ledger)
    assert outcome(sent(plan_of("b", text="Other"), box, ledger)) == {"accepted": 30}
    assert outcome(sent(plan_of("c"), box, ledger, repeat_text=True)) == {"accepted": 30}
    assert outcome(sent(plan_of("d", policy=Policy(same_text=None)), box, ledger)) == {"accepted": 30}


def test_a_cap_counts_in_rolling_windows(box: Sandbox, ledger: Ledger, clock: Clock) -> None:
    """Not by calendar days: 23:00 and 00:01 are one day apart for a calendar."""
    policy = Policy(caps=[(1, "24h"), (2, "7d")])
    clock.at = datetime(2026, 11, 12, 23, tzinfo=UTC)
    sent(plan_of("1", text="1", policy=policy), box, ledger)
    first = clock.at
    clock.later(hours=1, minutes=1)
    held = sent(plan_of("2", text="2", policy=policy), box, ledger)
    assert outcome(held) == {"planned CAPPED": 30}
    assert set(held["not_before"].dt.tz_localize("UTC")) == {first + timedelta(hours=24)}
    clock.at = first + timedelta(hours=24)
    assert outcome(sent(plan_of("2", text="2", policy=policy), box, ledger)) == {"accepted": 30}
    clock.later(hours=30)
    held = sent(plan_of("3", text="3", policy=policy), box, ledger)
    assert set(held["not_before"].dt.tz_localize("UTC")) == {first + timedelta(days=7)}
    assert "30 rows, until 2026-11-19 23:00 UTC: " in ledger.record("3").card().text()
    with pytest.warns(CampaignIncomplete, match="until 2026-11-19 23:00 UTC"):
        send(plan_of("3", text="3", policy=policy), client=box.client(), ledger=ledger, progress=False)
    assert outcome(sent(plan_of("4", text="4", policy=Policy(caps=[(1, "24h")])), box, ledger)) == {"accepted": 30}
    transactional = Policy(caps=[(1, "24h")], kind="transactional")
    assert outcome(sent(plan_of("5", text="5", policy=transactional), box, ledger)) == {"accepted": 30}


def test_an_opt_out_between_canary_and_rest_holds(box: Sandbox, ledger: Ledger) -> None:
    people = People(ledger)
    assert outcome(sent(plan_of("a"), box, ledger, limits=Limits(first=5)))["accepted"] == 5
    people.opt_out([NUMBERS[0], NUMBERS[10], NUMBERS[29]], source="reply STOP")
    assert outcome(sent(plan_of("a"), box, ledger)) == {"accepted": 28, "skipped OPTED_OUT": 2}
    assert not set(box.inbox["to"]) & {NUMBERS[10], NUMBERS[29]}
    assert people.history(NUMBERS[10])[["campaign", "status", "problem"]].values.tolist() == [
        ["a", "skipped", "OPTED_OUT"]
    ]


def test_an_opt_out_while_a_campaign_runs_holds_what_has_not_left(box: Sandbox, ledger: Ledger) -> None:
    people = People(ledger)
    done: list[int] = []

    def progress(told: Any) -> None:
        if told.accepted >= 7 and not done:
            done.append(people.opt_out(NUMBERS[20:], source="phone"))

    made = plan_of("a", requests=RequestOptions(chunk_size=1))
    table = send(
        made.with_requests(threads=1),
        client=box.client(),
        ledger=ledger,
        progress=progress,
        limits=Limits(per_second=60),
    )
    assert set(table["status"][20:]) <= {"skipped", "accepted"}
    assert outcome(table)["skipped OPTED_OUT"] >= 2
    assert set(box.inbox["to"]) == set(table["to"][table["status"].eq("accepted")])


def test_a_forgotten_person_stays_suppressed_and_is_nowhere(box: Sandbox, ledger: Ledger) -> None:
    people = People(ledger)
    sent(plan_of("a", NUMBERS[:3], keep=["phone"]), box, ledger)
    people.opt_out(NUMBERS[0], source="letter")
    assert people.forget(NUMBERS[0]) == 1
    ledger.close()
    assert NUMBERS[0][1:].encode() not in stored(ledger)
    assert people.is_opted_out(NUMBERS[0])
    assert outcome(sent(plan_of("b", text="Other"), box, ledger)) == {"accepted": 29, "skipped OPTED_OUT": 1}
    assert len(people.history(NUMBERS[0])) == 2  # by the hash: nothing but that there was something
    assert outcome(sent(plan_of("a", NUMBERS[:3], keep=["phone"]), box, ledger)) == {"accepted": 3}
    people.opt_in(NUMBERS[0], source="web form")
    assert outcome(sent(plan_of("c", NUMBERS[:1], text="3"), box, ledger)) == {"accepted": 1}


def test_purged_campaigns_count_for_the_same_words(box: Sandbox, ledger: Ledger) -> None:
    sent(plan_of("a"), box, ledger)
    ledger.record("a").purge()
    assert outcome(sent(plan_of("b"), box, ledger)) == {"planned SAME_TEXT": 30}


def test_rehearsals_count_among_themselves(box: Sandbox, ledger: Ledger) -> None:
    sent(plan_of("a"), box, ledger)
    with Sandbox() as other:
        assert outcome(sent(plan_of("a"), other, ledger)) == {"accepted": 30}
        assert outcome(sent(plan_of("b"), other, ledger)) == {"planned SAME_TEXT": 30}


# -- changes -----------------------------------------------------------------------------------------------------------


def test_a_withdrawn_campaign_texts_nobody_whatever_cell_runs_again(box: Sandbox, ledger: Ledger) -> None:
    made = plan_of("a")
    sent(made, box, ledger, limits=Limits(first=5))
    assert ledger.record("a").withdraw(NUMBERS[5:7], reason="asked") == 2
    assert ledger.record("a").withdraw(reason="wrong price") == 23
    assert outcome(sent(made, box, ledger)) == {"accepted": 5, "skipped WITHDRAWN": 25}
    assert outcome(sent(plan_of("a", NUMBERS[::-1]), box, ledger)) == {"accepted": 5, "skipped WITHDRAWN": 25}
    with pytest.raises(PlanChanged):
        sent(plan_of("a", [*NUMBERS, "+12025550150"]), box, ledger)
    assert len(box.inbox) == 5
    assert ledger.record("a").changes["reason"].tolist() == ["asked", "wrong price"]
    with pytest.raises(UsageError, match="was withdrawn and texts no one else"):
        revise(plan_of("a", [*NUMBERS, "+12025550150"]), box, reason="more people", ledger=ledger)
    with pytest.raises(UsageError, match="not still to go"):
        ledger.record("a").withdraw([NUMBERS[0]])


def test_who_was_left_out_does_not_come_back_after_a_withdrawal(box: Sandbox, ledger: Ledger) -> None:
    """Nobody who is left out is withdrawn, so a longer plan would add them: a withdrawn campaign takes nobody in."""
    sent(plan_of("a", exclude=NUMBERS[20:]), box, ledger, limits=Limits(first=5))
    ledger.record("a").withdraw()
    with pytest.raises(UsageError, match="was withdrawn"):
        revise(plan_of("a"), box, reason="more people", ledger=ledger)
    with pytest.raises(PlanChanged):
        sent(plan_of("a"), box, ledger)
    assert len(box.inbox) == 5


def test_a_correction_reaches_only_who_was_not_texted(box: Sandbox, ledger: Ledger) -> None:
    old, new = plan_of("a", text="Helo!"), plan_of("a", text="Hello!")
    sent(old, box, ledger, limits=Limits(first=5))
    with pytest.raises(PlanChanged, match="revise") as refused:
        sent(new, box, ledger)
    assert refused.value.changed == 30
    assert revise(new, box, reason="typo", ledger=ledger) == (25, 0, 0)
    with pytest.raises(PlanChanged, match="this plan held until the campaign was corrected"):
        sent(old, box, ledger)
    assert outcome(sent(new, box, ledger)) == {"accepted": 30}
    assert box.inbox["text"].value_counts().to_dict() == {"Hello!": 25, "Helo!": 5}
    assert box.inbox["to"].is_unique


def test_the_same_change_again_changes_nothing(box: Sandbox, ledger: Ledger) -> None:
    """A notebook runs again from top to bottom."""
    sent(plan_of("a", NUMBERS[:20], text="Helo!"), box, ledger, limits=Limits(first=5))
    how: dict[str, Any] = {"reason": "a change", "ledger": ledger}
    for made, done in ((plan_of("a", NUMBERS[:20]), (15, 0, 0)), (longer := plan_of("a"), (0, 10, 0))):
        assert [revise(made, box, **how), revise(made, box, **how)] == [done, (0, 0, 0)]
    sent(longer, box, ledger)
    assert revise(longer, box, **how) == (0, 0, 0)
    assert ledger.record("a").changes["what"].tolist() == ["corrected", "extended"]


def test_people_who_were_reached_may_be_missing_from_a_later_plan(box: Sandbox, ledger: Ledger) -> None:
    """Nothing of theirs can change; those who are still to go may not be missing."""
    sent(plan_of("a", text="Helo!"), box, ledger, limits=Limits(first=5))
    rest = plan_of("a", NUMBERS[:4:-1])
    with pytest.raises(PlanChanged, match="25 with another text"):
        sent(rest, box, ledger)
    assert revise(rest, box, reason="typo", ledger=ledger) == (25, 0, 0)
    assert outcome(sent(rest, box, ledger)) == {"accepted": 25}
    assert box.inbox["to"].is_unique
    assert ledger.record("a").results["to"].is_unique
    sent(plan_of("b", NUMBERS[:9], text="b"), box, ledger, limits=Limits(first=1))
    with pytest.raises(PlanChanged, match="removed"):
        sent(plan_of("b", NUMBERS[:5], text="b"), box, ledger)


def test_more_are_left_out_when_a_campaign_goes_on(box: Sandbox, ledger: Ledger) -> None:
    sent(plan_of("a"), box, ledger, limits=Limits(first=5))
    table = sent(plan_of("a", exclude=[NUMBERS[0], NUMBERS[12]]), box, ledger)
    assert outcome(table) == {"accepted": 29, "skipped SUPPRESSED": 1}
    assert table["status"].iloc[0] == "accepted"
    assert NUMBERS[12] not in set(box.inbox["to"])
    assert ledger.record("a").counts == {
        "planned": 0, "sending": 0, "accepted": 29, "rejected": 0, "in_doubt": 0, "skipped": 1,
    }  # fmt: skip


def test_a_campaign_grows_and_nobody_has_two_rows(box: Sandbox, ledger: Ledger) -> None:
    sent(plan_of("a", NUMBERS[:10]), box, ledger, limits=Limits(first=5))
    longer = plan_of("a", NUMBERS[::-1])
    with pytest.raises(PlanChanged, match="revise"):
        sent(longer, box, ledger)
    assert revise(longer, box, reason="more people", ledger=ledger) == (0, 20, 0)
    table = sent(longer, box, ledger)
    assert outcome(table) == {"accepted": 30}
    assert box.inbox["to"].is_unique
    assert table["to"].tolist() == NUMBERS[::-1]
    assert len(ledger.record("a").results) == 30
