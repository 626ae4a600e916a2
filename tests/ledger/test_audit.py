"""Who decided what, in a file and on a server."""

from __future__ import annotations

import getpass
import socket
import sqlite3
from contextlib import closing

import pandas as pd
import pytest
from kills.people import numbers, plan_of
from support.servers import stored

from smsotp_nb import Client, Ledger, Limits, People, revise, send
from smsotp_nb.errors import CampaignLockedError, LedgerError, UsageError

pytestmark = pytest.mark.both_ledgers
SECRET = "because +12025550199 asked"


def said(ledger: Ledger) -> list[tuple[object, ...]]:
    frame = ledger.audit()[["what", "campaign", "rows", "reason"]].astype(object)
    return list(frame.where(frame.notna(), None).itertuples(index=False, name=None))


def test_every_decision_is_told_with_who_when_and_why(ledger: Ledger, client: Client) -> None:
    plan = plan_of(12, chunk_size=2)
    with pytest.warns(UserWarning, match="first recipients"):
        send(plan, client=client, ledger=ledger, progress=False, limits=Limits(first=4))
    campaign = ledger.record("autumn")
    revise(plan.reworded("Hello again"), client, reason="a typing error", ledger=ledger)
    campaign.withdraw(numbers(12)[10:], reason="wrong list")
    People(ledger).opt_out(numbers(2), source="phone")
    People(ledger).opt_in(numbers(1), source="phone")
    People(ledger).forget(numbers(1))
    ledger.retain("24 months")
    assert said(ledger) == [
        ("recorded", "autumn", 12, None), ("sending", "autumn", 12, None),
        ("corrected", "autumn", 8, "a typing error"), ("withdrawn", "autumn", 2, "wrong list"),
        ("opted out", None, 2, None), ("opted in", None, 1, None), ("forgotten", None, 1, None),
        ("retention", None, 0, "24 months"),
    ]  # fmt: skip
    frame = ledger.audit()
    name = "postgres " if not ledger._files else ""
    assert frame["who"].str.startswith(name).all()
    assert frame["who"].str.contains(f"{getpass.getuser()} on {socket.gethostname()}", regex=False).all()
    assert frame["at"].is_monotonic_increasing
    assert frame["service"].notna().equals(frame["campaign"].notna())


def test_a_decision_about_rows_in_doubt_is_told(ledger: Ledger) -> None:
    with ledger._begin(plan_of(4, chunk_size=2), service="a service") as run:
        run.claim(0)
        run.abandon()
    campaign = ledger.record("autumn")
    campaign.settle(campaign.in_doubt, accepted=False, reason="no record there")
    assert said(ledger)[-1] == ("found not accepted", "autumn", 2, "no record there")


def test_what_was_not_done_is_not_told(ledger: Ledger) -> None:
    with ledger._begin(plan_of(4), service="a service"):
        before = len(ledger.audit())
        with pytest.raises(CampaignLockedError):
            ledger.record("autumn").purge()
    ledger._revise(plan_of(4), service="a service", reason="nothing new")
    with pytest.raises(UsageError):
        ledger._revise(plan_of(3), service="a service", reason="one is missing")
    assert len(ledger.audit()) == before


def test_a_purge_takes_the_reasons_along_and_says_who_purged(ledger: Ledger) -> None:
    ledger._begin(plan_of(4), service="a service").close()
    ledger.record("autumn").withdraw(reason=SECRET)
    ledger.record("autumn").purge()
    assert said(ledger)[-2:] == [("withdrawn", "autumn", 4, None), ("purged", "autumn", 4, None)]
    ledger.close()
    assert b"2025550199" not in stored(ledger)


@pytest.mark.file_only
def test_a_decision_that_cannot_be_told_is_not_taken(ledger: Ledger) -> None:
    ledger._begin(plan_of(4), service="a service").close()
    with closing(sqlite3.connect(ledger.path)) as other:
        other.execute("CREATE TRIGGER full BEFORE INSERT ON decision BEGIN SELECT RAISE(FAIL, 'disk full'); END")
    with pytest.raises(LedgerError, match="disk full"):
        ledger.record("autumn").withdraw(reason="late")
    assert ledger.record("autumn").counts["planned"] == 4


def test_an_empty_ledger_has_an_empty_frame_of_the_same_kinds(ledger: Ledger) -> None:
    assert ledger.audit().empty
    empty = ledger.audit().dtypes
    ledger._begin(plan_of(4), service="a service").close()
    pd.testing.assert_series_equal(ledger.audit().dtypes, empty)
