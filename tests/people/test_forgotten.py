"""People who ask to be forgotten while their message is under way, refused or in doubt."""

from __future__ import annotations

import pandas as pd
import pytest

from smsotp_nb import Ledger, People, Sandbox, cost
from smsotp_nb._ledger import Ending
from smsotp_nb.errors import UsageError

from .sending import NUMBERS, outcome, plan_of, sent

THREE = NUMBERS[:3]

pytestmark = pytest.mark.both_ledgers


def ended(ledger: Ledger, box: Sandbox, how: str, *, forgotten_before: bool = False) -> None:
    """Let one request to three people end so, and the second of them ask to be forgotten."""
    with ledger._begin(plan_of("a", THREE), service=box.client().service) as run:
        claim = run.claim(0)
        assert claim
        if forgotten_before:
            People(ledger).forget(THREE[1])
        run.settle(claim, Ending(how, "before"))
    if not forgotten_before:
        People(ledger).forget(THREE[1])


@pytest.mark.parametrize("accepted", [True, False])
@pytest.mark.parametrize("forgotten_before", [True, False], ids=["under way", "in doubt"])
def test_rows_in_doubt_are_resolved_with_those_who_were_forgotten(
    ledger: Ledger, box: Sandbox, accepted: bool, forgotten_before: bool
) -> None:
    ended(ledger, box, "in_doubt", forgotten_before=forgotten_before)
    campaign = ledger.record("a")
    assert campaign.in_doubt["to"].isna().tolist() == [False, True, False]
    assert campaign.settle(campaign.in_doubt, accepted=accepted) == 3
    after = sent(plan_of("a", THREE), box, ledger)
    assert after["status"].tolist() == ["accepted", "accepted" if accepted else "skipped", "accepted"]
    assert after["problem"].dropna().tolist() == [] if accepted else ["OPTED_OUT"]
    assert sorted(box.inbox["to"]) == ([] if accepted else [THREE[0], THREE[2]])


@pytest.mark.parametrize("forgotten_before", [True, False], ids=["under way", "rejected"])
def test_who_was_forgotten_is_not_retried(ledger: Ledger, box: Sandbox, forgotten_before: bool) -> None:
    ended(ledger, box, "rejected", forgotten_before=forgotten_before)
    campaign = ledger.record("a")
    assert campaign.retry(campaign.rejected) == 3
    assert campaign.counts["skipped"] == 1
    People(ledger).opt_in(THREE[1], source="web form")  # there is no number left to text in this campaign
    assert outcome(sent(plan_of("a", THREE), box, ledger)) == {"accepted": 2, "skipped OPTED_OUT": 1}


def test_a_request_that_did_not_leave_does_not_take_the_forgotten_along_again(ledger: Ledger, box: Sandbox) -> None:
    ended(ledger, box, "NOT_SENT", forgotten_before=True)
    assert ledger.record("a").counts["skipped"] == 1
    People(ledger).opt_in(THREE[1], source="web form")
    assert outcome(sent(plan_of("a", THREE), box, ledger)) == {"accepted": 2, "skipped OPTED_OUT": 1}


def test_a_row_without_a_number_is_found_by_its_index(ledger: Ledger, box: Sandbox) -> None:
    ended(ledger, box, "in_doubt")
    campaign = ledger.record("a")
    with pytest.raises(UsageError, match="a row without a number is not in_doubt"):
        campaign.settle(campaign.in_doubt.set_axis([7, 8, 9]), accepted=True)
    assert campaign.counts["in_doubt"] == 3


def test_the_line_of_an_invoice_that_quotes_who_was_forgotten_quotes_nobody(ledger: Ledger, box: Sandbox) -> None:
    """It is kept as the evidence of a settled row, of somebody else's too."""
    with ledger._begin(plan_of("a", THREE), service=box.client().service) as run:
        claim = run.claim(0)
        assert claim
        run.settle(claim, Ending("in_doubt", "before"))
    doubts = ledger.record("a").in_doubt
    lines = pd.DataFrame({"to": doubts["to"], "at": doubts["started_at"], "price": 0.5, "currency": "USD"})
    lines["id"] = [f"instead of {THREE[1]}", "second", "third"]
    assert cost.reconcile_invoice(ledger, lines).settle(reason="invoice") == 3
    assert THREE[1][1:] in str(ledger.record("a").evidence.to_dict())
    People(ledger).forget(THREE[1])
    assert THREE[1][1:] not in str(ledger.record("a").evidence.to_dict())
