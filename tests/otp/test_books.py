"""Passcodes in the ledger: the sums of a ledger are what the account was billed, and hold no passcode."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pandas as pd
import pytest

from smsotp_nb import Ledger, Sandbox, cost, otp, plan, send
from smsotp_nb.errors import InDoubt, LedgerError, SmsOtpWarning, UsageError

ANNA = "+12025550123"
CODE = "86420975"


@pytest.fixture
def box() -> Iterator[Sandbox]:
    with Sandbox(balance=10) as made:
        yield made


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / "ledger.sqlite", create=True)


def campaign(box: Sandbox, ledger: Ledger) -> None:
    people = pd.DataFrame({"phone": ["+12025550147", "+12025550198"]})
    send(plan(people, "Hello", to="phone", campaign="autumn"), client=box.client(), ledger=ledger, progress=False)


def billed(box: Sandbox) -> Decimal:
    return Decimal(10) - Decimal(str(box.balance))


@pytest.mark.parametrize("first", ["campaign", "passcode"])
def test_the_books_agree_with_the_account(box: Sandbox, ledger: Ledger, first: str) -> None:
    if first == "campaign":
        campaign(box, ledger)
    challenge = otp.send(ANNA, client=box, ledger=ledger, code=CODE)
    challenge.resend()
    if first == "passcode":
        campaign(box, ledger)
    (totals,) = cost.summary(ledger).to_dict("records")
    assert totals["unpriced"] == 0
    assert totals["messages"] == 4
    assert Decimal(str(totals["cost"])) == billed(box) > 0
    by_kind = cost.by(ledger, ["kind", "iso"]).set_index("kind")
    assert by_kind["messages"].to_dict() == {"campaign": 2, "passcode": 2}


@pytest.mark.both_ledgers
@pytest.mark.parametrize("accepted", [True, False])
def test_a_passcode_whose_reply_was_lost_is_in_doubt_until_somebody_settles_it(
    box: Sandbox, ledger: Ledger, accepted: bool
) -> None:
    otp.send(ANNA, client=box, ledger=ledger)
    box.fault("drop_after", next=1)
    with pytest.raises(InDoubt) as lost:
        otp.send(ANNA, client=box, ledger=ledger, code=CODE)
    assert lost.value.challenge.verify(CODE)
    (month,) = ledger.campaigns().to_dict("records")
    assert (month["accepted"], month["in_doubt"]) == (1, 1)
    record = ledger.record(month["campaign"])
    (row,) = record.in_doubt.to_dict("records")
    assert (row["to"], row["phase"]) == (ANNA, lost.value.phase)
    assert "1  in doubt" in record.card().text()
    assert record.settle(record.in_doubt, accepted=accepted, reason="asked the provider") == 1
    counts = ledger.record(month["campaign"]).counts
    assert (counts["in_doubt"], counts["planned"], counts["skipped"]) == (0, 0, 1 - accepted)
    assert cost.summary(ledger)["messages"].sum() == 1 + accepted


def test_a_currency_that_no_reply_named_is_not_guessed(box: Sandbox, ledger: Ledger) -> None:
    otp.send(ANNA, client=box, ledger=str(ledger.path))
    assert cost.summary(ledger)["unpriced"].tolist() == [1]


def test_no_passcode_is_kept_and_the_number_goes_with_its_age(box: Sandbox, ledger: Ledger) -> None:
    otp.send(ANNA, client=box, ledger=ledger, code=CODE)
    ledger.close()
    assert CODE.encode() not in b"".join(file.read_bytes() for file in ledger.path.parent.glob("ledger.sqlite*"))
    with ledger._store.reading() as connection:
        assert connection.execute("SELECT number FROM recipient").fetchall() == [(int(ANNA[1:]),)]
    with Ledger(ledger.path, now=lambda: datetime.now(UTC) + timedelta(days=800)) as later:
        assert later.retain("24 months")["kind"].tolist() == ["passcode"]
        with later._store.reading() as connection:
            assert connection.execute("SELECT number FROM recipient").fetchall() == []
    assert cost.spending(ledger)["messages"].tolist() == [1]


def test_the_passcodes_of_a_month_are_found_and_purged_by_name(box: Sandbox, ledger: Ledger) -> None:
    otp.send(ANNA, client=box, ledger=ledger)
    (name,) = ledger.campaigns()["campaign"]
    month = ledger.record(name)
    assert month.counts["accepted"] == 1
    with pytest.raises(UsageError, match="the passcodes of a month, which no plan changes"):
        month.approve(month.proposal)
    assert month.purge() == 1
    otp.send("+12025550147", client=box, ledger=ledger)
    assert ledger.record(name).results["to"].tolist() == ["+12025550147"]
    assert cost.spending(ledger)["messages"].sum() == 2


def test_a_campaign_of_that_name_is_found_before_the_passcodes(box: Sandbox, ledger: Ledger) -> None:
    otp.send(ANNA, client=box, ledger=ledger)
    (name,) = ledger.campaigns()["campaign"]
    people = pd.DataFrame({"phone": ["+12025550147", "+12025550198"]})
    send(plan(people, "Hello", to="phone", campaign=name), client=box.client(), ledger=ledger, progress=False)
    assert ledger.record(name).counts["accepted"] == 2


def test_a_passcode_is_no_contact_for_the_rules_of_campaigns(box: Sandbox, ledger: Ledger) -> None:
    otp.send("+12025550147", client=box, ledger=ledger)
    campaign(box, ledger)
    assert ledger.record("autumn").counts["accepted"] == 2


def test_a_ledger_that_is_not_there_is_known_before_anything_is_sent(box: Sandbox, tmp_path: Path) -> None:
    with pytest.raises(LedgerError):
        otp.send(ANNA, client=box, ledger=tmp_path / "nowhere" / "none.sqlite")
    assert len(box.inbox) == 0


def test_a_passcode_that_cannot_be_recorded_was_sent_all_the_same(
    box: Sandbox, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise LedgerError("the disk is full")

    monkeypatch.setattr(Ledger, "_record_passcode", full)
    with pytest.warns(SmsOtpWarning, match="was sent and is not in the ledger"):
        challenge = otp.send(ANNA, client=box, ledger=ledger)
    assert challenge.verify(box.code(ANNA))
