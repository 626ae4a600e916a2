"""What a person decides about rows is about rows of this campaign: those of another one are refused by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pandas as pd
import pytest
from kills.people import plan_of
from kills.service import Service
from support.tables import whole

from smsotp_nb import Ledger, Record, send
from smsotp_nb.errors import UsageError

pytestmark = pytest.mark.filterwarnings("ignore::smsotp_nb.errors.SmsOtpWarning")
DECISIONS: dict[str, Callable[[Record, pd.DataFrame], int]] = {
    "accepted": lambda campaign, rows: campaign.settle(rows, accepted=True),
    "not accepted": lambda campaign, rows: campaign.settle(rows, accepted=False),
    "retried": lambda campaign, rows: campaign.retry(rows),
    "withdrawn": lambda campaign, rows: campaign.withdraw(rows),
}


@pytest.fixture
def service() -> Iterator[Service]:
    with Service(usual="vanish") as made:
        yield made


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with Ledger(tmp_path / "l.sqlite", create=True) as made:
        yield made


def doubtful(at: Service, ledger: Ledger, name: str, **settings: str) -> pd.DataFrame:
    """Send a campaign of two people, both in doubt afterwards; return its result table."""
    with at.client(**settings) as client:
        at.script(["accept"])  # it is known to speak the interface
        people = plan_of(3, campaign=name, chunk_size=1)
        table: pd.DataFrame = send(people.with_requests(threads=1), client=client, ledger=ledger, progress=False)
    return table[table["status"].eq("in_doubt")]


@pytest.mark.parametrize("decide", DECISIONS.values(), ids=[*DECISIONS])
def test_rows_of_another_campaign_are_refused_by_its_name(
    service: Service, ledger: Ledger, decide: Callable[[Record, pd.DataFrame], int]
) -> None:
    first, second = doubtful(service, ledger, "spring"), doubtful(service, ledger, "autumn")
    for rows in (first, pd.concat([second, first]), ledger.record("spring").in_doubt):
        with pytest.raises(UsageError, match="'spring' in the column 'campaign', and this is campaign 'autumn'"):
            decide(ledger.record("autumn"), rows)
    assert len(ledger.record("autumn").in_doubt) == 2


def test_rows_of_a_rehearsal_are_refused_by_the_live_campaign_of_the_name(service: Service, ledger: Ledger) -> None:
    ledger._begin(plan_of(3, chunk_size=1), service="sandbox:a").close()
    live = doubtful(service, ledger, "autumn", service="live")
    with pytest.raises(UsageError, match="'sandbox:a' in the column 'service', and this is campaign 'autumn'"):
        ledger.record("autumn", service="live").settle(live.assign(service="sandbox:a"), accepted=False)
    rehearsed = whole(ledger.record("autumn", service="sandbox:a"))
    with pytest.raises(UsageError, match="'sandbox:a' in the column 'service'"):
        ledger.record("autumn", service="live").withdraw(rehearsed)


def test_rows_without_their_campaign_are_known_by_the_moment_of_their_request(service: Service, ledger: Ledger) -> None:
    """A table of results or of evidence from another campaign, another ledger or an earlier call of this campaign."""
    first, second = doubtful(service, ledger, "spring"), doubtful(service, ledger, "autumn")
    campaign = ledger.record("autumn")
    for rows in (first, ledger.record("spring").in_doubt):
        with pytest.raises(UsageError, match=r"2 rows of rows= tell of another request"):
            campaign.settle(rows.drop(columns=["campaign", "service"], errors="ignore"), accepted=False)
    assert campaign.settle(second.drop(columns="campaign"), accepted=False) == 2
    again = doubtful(service, ledger, "autumn")
    with pytest.raises(UsageError, match="of an earlier call"):
        campaign.settle(second[second["to"].isin(again["to"])], accepted=True)
    assert campaign.settle(again, accepted=True) == len(again)


def test_a_person_may_name_numbers_themselves(service: Service, ledger: Ledger) -> None:
    doubtful(service, ledger, "autumn")
    campaign = ledger.record("autumn")
    numbers = campaign.in_doubt["to"]
    assert campaign.settle(numbers.iloc[:1].to_frame(), accepted=True) == 1
    assert campaign.settle(numbers.iloc[1:].tolist(), accepted=True) == 1
    assert not len(campaign.in_doubt)


def test_a_proposal_of_a_rehearsal_approves_no_live_campaign(service: Service, ledger: Ledger) -> None:
    ledger._begin(plan_of(3, chunk_size=1), service="sandbox:a").close()
    doubtful(service, ledger, "autumn", service="live")
    proposal = ledger.record("autumn", service="sandbox:a").proposal
    with pytest.raises(UsageError, match="the proposal is of 'autumn' on sandbox:a"):
        ledger.record("autumn", service="live").approve(proposal)
