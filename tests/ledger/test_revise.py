"""A campaign that has begun follows another plan, and the line that PlanChanged gives does that."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from kills.people import ROOMY, numbers

import smsotp_nb as sms
from smsotp_nb.errors import CampaignLockedError, LedgerError, PlanChanged, UsageError

pytestmark = [pytest.mark.both_ledgers, pytest.mark.filterwarnings("ignore::smsotp_nb.errors.SmsOtpWarning")]
NEW = "Doors open at nine."


def planned(
    people: int | list[str], *, text: str = "Hello", campaign: str = "autumn", chunk_size: int = 1, **more: Any
) -> sms.Plan:
    frame = pd.DataFrame({"phone": numbers(people) if isinstance(people, int) else people}).assign(name="Ann")
    how: dict[str, Any] = {"requests": sms.RequestOptions(chunk_size=chunk_size), "policy": ROOMY, **more}
    return sms.plan(frame, text, to="phone", campaign=campaign, **how)


WAYS: dict[str, tuple[sms.Plan, tuple[int, int, int]]] = {
    "a typo": (planned(6, text=NEW), (4, 0, 0)),
    "more people": (planned(8), (0, 2, 0)),
    "both": (planned(8, text=NEW), (4, 2, 0)),
    "one is gone": (planned(5), (0, 0, 1)),
    "a typo, and one is gone": (planned(5, text=NEW), (3, 0, 1)),
    "the same people in another order": (planned(numbers(6)[::-1]), (0, 0, 0)),
}


@pytest.fixture
def box() -> Iterator[sms.Sandbox]:
    with sms.Sandbox() as made:
        yield made


@pytest.fixture
def begun(ledger: sms.Ledger, box: sms.Sandbox) -> sms.Ledger:
    """A campaign of six people, two of whom have the message; in a file and on a server."""
    sent(planned(6).with_requests(threads=1), box, ledger, limits=sms.Limits(first=2))  # in order: the first two rows
    return ledger


def sent(plan: sms.Plan, box: sms.Sandbox, ledger: sms.Ledger, **more: Any) -> list[str]:
    return sms.send(plan, box, ledger=ledger, progress=False, **more)["status"].tolist()


def advised(refused: pytest.ExceptionInfo[PlanChanged], plan: sms.Plan, box: sms.Sandbox, ledger: sms.Ledger) -> Any:
    """Run the line of an error as somebody does who pastes it."""
    lines = re.findall(r"sms\.\w+\(.*\)$", str(refused.value))
    assert len(lines) == 1
    return eval(lines[0], {"sms": sms, "plan": plan, "client": box, "ledger": ledger})


@pytest.mark.parametrize("way", [*WAYS][:-1])
def test_the_line_of_the_error_works_when_it_is_pasted(begun: sms.Ledger, box: sms.Sandbox, way: str) -> None:
    plan, done = WAYS[way]
    with pytest.raises(PlanChanged, match="Nothing was sent") as refused:
        sent(plan, box, begun)
    assert len(box.inbox) == 2
    assert advised(refused, plan, box, begun) == done
    assert advised(refused, plan, box, begun) == (0, 0, 0)
    sent(plan, box, begun)
    assert len(box.inbox) == 6 + done[1] - done[2]
    assert box.inbox["to"].is_unique
    assert box.inbox["text"].eq(NEW).sum() == (done[0] + done[1] if "typo" in way or way == "both" else 0)
    counts = begun.record("autumn").counts
    assert (counts["accepted"], counts["skipped"]) == (len(box.inbox), done[2])


@pytest.mark.usefixtures("begun")
def test_the_line_names_no_ledger_where_it_is_this_users_own(
    box: sms.Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SMSOTP_LEDGER", str(tmp_path / "mine.sqlite"))
    sms.send(planned(6), box, progress=False, limits=sms.Limits(first=2))
    with pytest.raises(PlanChanged, match=r": sms\.revise\(plan, client, reason='more people'\)$"):
        sms.send(planned(8), box, progress=False)


def test_the_card_of_the_plan_gives_the_same_line(begun: sms.Ledger, box: sms.Sandbox) -> None:
    plan = planned(5, text=NEW)
    with pytest.raises(PlanChanged) as refused:
        sent(plan, box, begun)
    line = str(refused.value)[str(refused.value).index("sms.revise") :]
    assert "".join(line.split()) in "".join(sms.preflight(plan, box, ledger=begun).text().split())


def test_what_only_differs_in_who_was_reached_or_withdrawn_is_no_other_order(
    begun: sms.Ledger, box: sms.Sandbox
) -> None:
    other = planned([*numbers(5), *numbers(7)[6:]])
    sms.revise(other, box, reason="typo", missing="withdraw", ledger=begun)
    sent(other, box, begun)
    with pytest.raises(PlanChanged, match="plan: 2 of those who were reached or left out already;"):
        sent(planned(6), box, begun)


@pytest.mark.parametrize("way", WAYS)
def test_it_happens_once_and_is_noted(begun: sms.Ledger, box: sms.Sandbox, way: str) -> None:
    plan, done = WAYS[way]
    how: dict[str, Any] = {"reason": "as asked", "missing": "withdraw", "ledger": begun}
    assert [sms.revise(plan, box, **how) for _ in range(3)] == [done, (0, 0, 0), (0, 0, 0)]
    changes = begun.record("autumn").changes
    noted = dict(zip(changes["what"], changes["rows"], strict=True))
    names = ("corrected", "extended", "withdrawn")
    assert noted == {name: rows for name, rows in zip(names, done, strict=True) if rows}
    assert changes["reason"].eq("as asked").all()
    sent(plan, box, begun)
    assert len(box.inbox) == 6 + done[1] - done[2]
    if any(done):
        with pytest.raises(PlanChanged, match="this plan held until the campaign was"):
            sent(planned(6), box, begun)


def test_who_is_missing_is_not_taken_out_unasked(begun: sms.Ledger, box: sms.Sandbox) -> None:
    before = begun.record("autumn").results
    for many, words in ((3, "3 recipients .* are missing"), (5, "1 recipient .* is missing")):
        with pytest.raises(UsageError, match=words):
            sms.revise(planned(many, text=NEW), box, reason="half a list", ledger=begun)
    assert begun.record("autumn").results.equals(before)
    assert not len(begun.record("autumn").changes)


def test_nobody_may_be_left_of_a_campaign(begun: sms.Ledger, box: sms.Sandbox) -> None:
    nobody = planned(6, exclude=numbers(6))
    assert sms.revise(nobody, box, reason="called off", missing="withdraw", ledger=begun) == (0, 0, 4)
    assert sent(nobody, box, begun).count("skipped") == 4


def test_who_has_the_message_may_be_missing(begun: sms.Ledger, box: sms.Sandbox) -> None:
    frame = sms.record("autumn", box, begun).results
    rest = planned(frame["to"].tolist()[2:], text=NEW)
    assert sms.revise(rest, box, reason="typo", ledger=begun) == (4, 0, 0)
    assert sent(rest, box, begun) == ["accepted"] * 4


def test_who_was_in_doubt_and_is_missing_is_not_sent_by_the_plan_in_force(begun: sms.Ledger, box: sms.Sandbox) -> None:
    box.fault("drop_after", next=1)
    sent(planned(6).with_requests(threads=1), box, begun, limits=sms.Limits(first=3))
    campaign = begun.record("autumn")
    doubt = campaign.in_doubt
    assert len(doubt) == 1
    people = [number for number in numbers(6) if number != doubt["to"].iloc[0]]
    plan = planned(people, text=NEW)
    assert sms.revise(plan, box, reason="typo", ledger=begun).withdrawn == 0
    campaign.settle(doubt, accepted=False)
    with pytest.raises(PlanChanged, match="1 removed") as refused:
        sent(plan, box, begun)
    assert advised(refused, plan, box, begun) == (0, 0, 1)
    sent(plan, box, begun)
    assert campaign.counts["skipped"] == 1
    assert box.inbox["to"].is_unique


def test_words_of_those_who_all_have_the_message_change_nothing(begun: sms.Ledger, box: sms.Sandbox) -> None:
    sent(planned(6), box, begun)
    plan = planned(6, text=NEW)
    with pytest.raises(PlanChanged, match="6 with another text") as refused:
        sent(plan, box, begun)
    assert [advised(refused, plan, box, begun) for _ in range(2)] == [(0, 0, 0)] * 2
    assert sent(plan, box, begun) == ["accepted"] * 6
    assert box.inbox["text"].ne(NEW).all()
    assert len(box.inbox) == 6


def test_who_is_left_out_counts_as_withdrawn(begun: sms.Ledger, box: sms.Sandbox) -> None:
    plan = planned(6, exclude=numbers(6)[5:], text=NEW)
    assert sms.revise(plan, box, reason="typo", ledger=begun) == (3, 0, 1)
    assert sms.revise(plan, box, reason="typo", ledger=begun) == (0, 0, 0)
    assert sent(plan, box, begun) == ["accepted"] * 5 + ["skipped"]


def test_an_earlier_plan_may_come_back(begun: sms.Ledger, box: sms.Sandbox) -> None:
    first, second = planned(6), planned(6, exclude=numbers(6)[5:])
    sms.revise(second, box, reason="opt-out", ledger=begun)
    with pytest.raises(PlanChanged, match="this plan held until") as refused:
        sent(first, box, begun)
    assert advised(refused, first, box, begun) == (0, 1, 0)
    assert sent(first, box, begun) == ["accepted"] * 6


def test_a_revision_breaks_off_as_a_whole(begun: sms.Ledger, box: sms.Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    before = begun.record("autumn").results

    def broken(*_: object, **__: object) -> None:
        raise LedgerError("the disk is full")

    monkeypatch.setattr("smsotp_nb._ledger.record.changing._add", broken)
    with pytest.raises(LedgerError, match="disk is full"):
        sms.revise(planned(8, text=NEW), box, reason="both", ledger=begun)
    assert begun.record("autumn").results.equals(before)


CALLS: dict[str, tuple[Callable[[], sms.Plan], dict[str, Any], str]] = {
    "another campaign": (lambda: planned(3, campaign="winter"), {}, r"not recorded for this service yet.*send\(plan"),
    "no reason": (lambda: planned(6), {"reason": None}, "reason= must be text"),
    "no such word": (lambda: planned(6), {"missing": "keep"}, "missing= must be one of 'refuse', 'withdraw'"),
    "no plan": (lambda: 5, {}, "revise needs a Plan"),  # type: ignore[dict-item,return-value]
}


@pytest.mark.parametrize("case", CALLS)
def test_a_wrong_call_changes_nothing(begun: sms.Ledger, box: sms.Sandbox, case: str) -> None:
    plan, how, words = CALLS[case]
    with pytest.raises(UsageError, match=words):
        sms.revise(plan(), box, ledger=begun, **{"reason": "x", **how})
    assert not len(begun.record("autumn").changes)


def test_other_kept_columns_are_said_with_the_way_on(begun: sms.Ledger, box: sms.Sandbox) -> None:
    other = planned(8, keep=["name"])
    with pytest.raises(PlanChanged, match=r"plan with keep=\[\], as it is recorded$"):
        sent(other, box, begun)
    with pytest.raises(LedgerError, match="plan with the same keep="):
        sms.revise(other, box, reason="more", ledger=begun)


def test_a_campaign_that_runs_is_not_revised(begun: sms.Ledger, box: sms.Sandbox) -> None:
    with begun._begin(planned(6), service=box.service), pytest.raises(CampaignLockedError):
        sms.revise(planned(8), box, reason="more", ledger=begun)


def test_one_that_was_withdrawn_takes_nobody_in(begun: sms.Ledger, box: sms.Sandbox) -> None:
    begun.record("autumn").withdraw()
    longer = planned(8)
    step = re.compile(r"it was withdrawn: .*exclude=sms\.record\('autumn'")
    with pytest.raises(PlanChanged, match=step):
        sent(longer, box, begun)
    assert step.search(" ".join(sms.preflight(longer, box, ledger=begun).text().split()))
    with pytest.raises(UsageError, match="withdrawn and texts no one else"):
        sms.revise(longer, box, reason="more", ledger=begun)
