"""The moment of a decision is read when its turn to write has come, so that no earlier claim has a later moment."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import psycopg
import pytest
from kills.people import numbers, plan_of
from support.servers import Server

from smsotp_nb import Ledger, People

SERVICE = "a service"
DECISIONS: dict[str, Callable[[Ledger, People], Any]] = {
    "opt-out": lambda _, people: people.opt_out(numbers(1)[0], source="phone"),
    "forgotten": lambda _, people: people.forget(numbers(1)),
    "withdrawn": lambda ledger, _: ledger.record("autumn").withdraw(reason="wrong price"),
    "corrected": lambda ledger, _: ledger._revise(plan_of(4).reworded("Other"), service=SERVICE, reason="typo"),
}


@pytest.mark.parametrize("decide", DECISIONS.values(), ids=[*DECISIONS])
def test_a_decision_that_waited_is_later_than_the_claims_before_it(
    server: Server, decide: Callable[[Ledger, People], Any]
) -> None:
    address, happened = server.database(), []

    def now() -> datetime:
        happened.append("time is read")
        return datetime.now(UTC)

    with Ledger(address, create=True) as sender, Ledger(address, now=now) as other:
        plan = plan_of(4)
        sender._begin(plan, service=SERVICE).close()
        decided = threading.Thread(target=decide, args=(other, People(other, now=now)))
        with sender._store.writing() as connection:
            connection.execute("SELECT 1 FROM attempt").fetchone()  # it has its turn
            decided.start()
            wait_for_a_lock(address)
            happened.append("a claim is recorded")
        decided.join()
    assert happened[-1] == "time is read"


def wait_for_a_lock(address: str) -> None:
    with psycopg.connect(address, autocommit=True) as look:
        waits = "SELECT 1 FROM pg_stat_activity WHERE datname=current_database() AND wait_event_type='Lock'"
        while not look.execute(waits).fetchone():
            time.sleep(0.01)
