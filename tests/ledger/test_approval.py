"""Where a ledger asks for it, nothing is sent that only its author has approved."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from kills.people import numbers, plan_of

from smsotp_nb import Client, Ledger, Plan, Sandbox, preflight, revise, send, send_test
from smsotp_nb._ledger.rows import runners
from smsotp_nb.errors import CampaignIncomplete, UsageError

pytestmark = pytest.mark.both_ledgers
By = Callable[[str], None]


@pytest.fixture
def by(monkeypatch: pytest.MonkeyPatch) -> By:
    """Go on as another person."""

    def become(name: str) -> None:
        monkeypatch.setattr(runners, "decider", lambda _: name)

    become("anna")
    return become


def tried(plan: Plan, client: Client, ledger: Ledger) -> list[str]:
    """Send what only its author has approved, and return the problems of its rows."""
    with pytest.warns(CampaignIncomplete, match=r"asks for a second person.*campaign\.approve"):
        found = send(plan, client=client, ledger=ledger, progress=False)
    return found.loc[found["status"].eq("planned"), "problem"].tolist()


def approved(ledger: Ledger) -> int:
    campaign = ledger.record("autumn")
    return campaign.approve(campaign.proposal, reason="read")


@pytest.mark.usefixtures("by")
def test_who_is_not_approved_takes_no_name(ledger: Ledger) -> None:
    ledger.require_approval(reason="as agreed")
    with ledger._begin(plan_of(4, chunk_size=2), service="a service") as run:
        assert run.claim(0) is None
        assert run.claim(1) is None
    with ledger._store.reading() as connection:
        assert connection.execute("SELECT count(*) FROM owner").fetchone()[0] == 0


@pytest.mark.usefixtures("by")
def test_nothing_leaves_before_a_second_person_has_approved(
    ledger: Ledger, client: Client, box: Sandbox, by: By
) -> None:
    plan = plan_of(12, chunk_size=2)
    ledger.require_approval(reason="as agreed")
    assert "the first send records the campaign" in preflight(plan, client=client, ledger=ledger).text()
    assert tried(plan, client, ledger) == ["NOT_APPROVED"] * 12
    assert tried(plan, client, ledger) == ["NOT_APPROVED"] * 12
    campaign = ledger.record("autumn")
    for card in (preflight(plan, client=client, ledger=ledger), campaign.card()):
        assert "somebody other than anna" in card.text()
    with pytest.raises(UsageError, match=r"anna planned 'autumn'.*takes another person; nothing was approved"):
        approved(ledger)
    assert not len(box.inbox)
    by("ben")
    assert approved(ledger) == 12
    assert "Approved by ben." in campaign.card().text()
    by("anna")
    assert send(plan, client=client, ledger=ledger, progress=False)["status"].eq("accepted").all()
    assert len(box.inbox) == 12
    told = ledger.audit()
    assert told["what"].tolist()[:2] == ["approval required", "recorded"]
    assert told[told["what"].eq("approved")][["campaign", "rows", "reason"]].values.tolist() == [["autumn", 12, "read"]]


def test_a_proposal_shows_each_text_and_how_many_get_it(ledger: Ledger, by: By) -> None:
    by("anna")
    ledger._begin(plan_of(12), service="a service").close()
    proposal = ledger.record("autumn").proposal
    assert (proposal.author, proposal.approved_by, proposal.required) == ("anna", "", False)
    assert proposal.words[["text", "recipients", "parts"]].values.tolist() == [["Hello", 12, 12]]
    assert "Hello" in proposal.card().text()
    assert "Nobody but its author" in proposal.card().text()


@pytest.mark.parametrize("change", ["corrected", "extended"])
def test_what_was_changed_after_its_approval_needs_another_one(
    ledger: Ledger, client: Client, box: Sandbox, by: By, change: str
) -> None:
    ledger.require_approval()
    plan = plan_of(12, chunk_size=2)
    tried(plan, client, ledger)
    by("ben")
    campaign = ledger.record("autumn")
    read_before = campaign.proposal
    approved(ledger)
    if change == "corrected":
        plan = plan.reworded("Hello again")
    else:
        plan = plan_of(14, chunk_size=2)
    revise(plan, client, reason=change, ledger=ledger)
    assert set(tried(plan, client, ledger)) == {"NOT_APPROVED"}
    with pytest.raises(UsageError, match="ben planned"):
        approved(ledger)
    by("anna")
    with pytest.raises(UsageError, match=r"was changed since this proposal was read, by ben; nothing was approved"):
        campaign.approve(read_before)
    assert not len(box.inbox)
    approved(ledger)
    assert send(plan, client=client, ledger=ledger, progress=False)["status"].eq("accepted").all()


def test_an_approval_holds_for_fewer_recipients(ledger: Ledger, client: Client, by: By) -> None:
    ledger.require_approval()
    tried(plan_of(12, chunk_size=2), client, ledger)
    by("ben")
    approved(ledger)
    by("anna")
    fewer = plan_of(12, exclude=numbers(3), chunk_size=2, text="Hello")
    found = send(fewer, client=client, ledger=ledger, progress=False)
    assert found["status"].value_counts().to_dict() == {"accepted": 9, "skipped": 3}


def test_a_run_that_has_begun_ends_when_an_approval_is_required(ledger: Ledger, by: By) -> None:
    by("anna")
    with ledger._begin(plan_of(12, chunk_size=2), service="a service") as run:
        assert run.claim(0)
        ledger.require_approval()
        assert run.claim(1) is None
        assert run.refused == "NOT_APPROVED"
        assert run.counts()["planned"] == 10
        ledger.require_approval(False)
        assert run.claim(1)


@pytest.mark.usefixtures("by")
def test_a_message_to_oneself_needs_no_approval(ledger: Ledger, client: Client, box: Sandbox) -> None:
    ledger.require_approval()
    send_test(plan_of(12), to="+14155550100", client=client, ledger=ledger)
    assert len(box.inbox) == 1


@pytest.mark.usefixtures("by")
def test_a_proposal_of_another_campaign_approves_nothing(ledger: Ledger) -> None:
    for name in ("autumn", "winter"):
        ledger._begin(plan_of(4, campaign=name), service="a service").close()
    with pytest.raises(UsageError, match=r"is of campaign 'winter'"):
        ledger.record("autumn").approve(ledger.record("winter").proposal)
    with pytest.raises(UsageError, match=r"what campaign\.proposal gives, got 'autumn'"):
        ledger.record("autumn").approve("autumn")  # type: ignore[arg-type]


def test_an_approval_is_of_one_plan_whoever_changes_it(ledger: Ledger, client: Client, box: Sandbox, by: By) -> None:
    ledger.require_approval()
    plan = plan_of(12, chunk_size=2)
    tried(plan, client, ledger)
    by("ben")
    approved(ledger)
    by("cleo")
    plan = plan.reworded("Hello again")
    revise(plan, client, reason="typo", ledger=ledger)
    assert set(tried(plan, client, ledger)) == {"NOT_APPROVED"}
    assert not len(box.inbox)


@pytest.mark.usefixtures("by")
def test_an_approval_that_its_author_wrote_past_the_call_counts_for_nothing(ledger: Ledger, client: Client) -> None:
    ledger.require_approval()
    plan = plan_of(12, chunk_size=2)
    tried(plan, client, ledger)
    with ledger._store.writing() as connection:
        connection.execute("INSERT INTO approval SELECT id, 0, author, 0 FROM campaign")
    assert set(tried(plan, client, ledger)) == {"NOT_APPROVED"}
