"""People who ask to be forgotten while their message is under way, refused or in doubt."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import pytest
from kills.service import Service

from smsotp_nb import Ledger, People, send
from smsotp_nb.errors import SmsOtpWarning, UsageError

from .sending import NUMBERS, outcome, plan_of

THREE = NUMBERS[:3]

pytestmark = pytest.mark.both_ledgers


@pytest.fixture
def service(ledger: Ledger) -> Iterator[Service]:
    with Service() as made:
        yield made


def ended(ledger: Ledger, service: Service, fate: str, *, forgotten: str = "") -> None:
    """Let one request to three people end so; the second asks to be forgotten while it is under way, or later."""
    service.usual = fate
    service.seen = lambda _: People(ledger).forget(THREE[1]) if forgotten == "under way" else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SmsOtpWarning)
        send(plan_of("a", THREE), service.client(), ledger=ledger, progress=False)
    service.usual, service.seen = "accept", None
    if forgotten == "later":
        People(ledger).forget(THREE[1])


def sent(ledger: Ledger, service: Service) -> dict[str, int]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SmsOtpWarning)
        return outcome(send(plan_of("a", THREE), service.client(), ledger=ledger, progress=False))


@pytest.mark.parametrize("accepted", [True, False])
@pytest.mark.parametrize("forgotten", ["under way", "later"])
def test_rows_in_doubt_are_resolved_with_those_who_were_forgotten(
    ledger: Ledger, service: Service, accepted: bool, forgotten: str
) -> None:
    ended(ledger, service, "lost", forgotten=forgotten)
    campaign = ledger.record("a")
    assert campaign.in_doubt["to"].isna().tolist() == [False, True, False]
    assert campaign.settle(campaign.in_doubt, accepted=accepted) == 3
    assert sent(ledger, service) == ({"accepted": 3} if accepted else {"accepted": 2, "skipped OPTED_OUT": 1})
    assert sorted(service.accepted) == ([] if accepted else [THREE[0], THREE[2]])


@pytest.mark.parametrize("forgotten", ["under way", "later"])
def test_who_was_forgotten_is_not_retried(ledger: Ledger, service: Service, forgotten: str) -> None:
    ended(ledger, service, "refuse", forgotten=forgotten)
    campaign = ledger.record("a")
    assert campaign.retry(campaign.rejected) == 3
    assert campaign.counts["skipped"] == 1
    People(ledger).opt_in(THREE[1], source="web form")  # there is no number left to text in this campaign
    assert sent(ledger, service) == {"accepted": 2, "skipped OPTED_OUT": 1}


@pytest.mark.usefixtures("little_patience")
def test_a_request_that_did_not_leave_does_not_take_the_forgotten_along_again(ledger: Ledger, service: Service) -> None:
    ended(ledger, service, "throttle", forgotten="under way")
    assert ledger.record("a").counts["skipped"] == 1
    People(ledger).opt_in(THREE[1], source="web form")
    assert sent(ledger, service) == {"accepted": 2, "skipped OPTED_OUT": 1}


def test_a_row_without_a_number_is_found_by_its_index(ledger: Ledger, service: Service) -> None:
    ended(ledger, service, "lost", forgotten="later")
    campaign = ledger.record("a")
    with pytest.raises(UsageError, match="a row without a number is not in_doubt"):
        campaign.settle(campaign.in_doubt.set_axis([7, 8, 9]), accepted=True)
    assert campaign.counts["in_doubt"] == 3
