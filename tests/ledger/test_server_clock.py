"""The clock of a ledger's server is set back or forward in the middle of a campaign: nobody is texted twice."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
from kills.judge import Judge, audit
from kills.people import plan_of
from kills.worker import Work
from support.servers import Server

from smsotp_nb import Client, Ledger
from smsotp_nb._ledger import Ending
from smsotp_nb._ledger.rows import runners as fences
from smsotp_nb.errors import CampaignHeld

# Found before the function of that name which PostgreSQL has.
SHIM = """
CREATE TABLE shift (by interval NOT NULL);
INSERT INTO shift VALUES ('0');
CREATE FUNCTION clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE
  AS 'SELECT pg_catalog.clock_timestamp() + by FROM shift';
"""


def with_clock(server: Server) -> str:
    """Return the address of a database whose clock can be set."""
    made = server.database()
    name = made.split("/")[3].split("?")[0]
    with psycopg.connect(made, autocommit=True) as connection:
        connection.execute(SHIM)
        connection.execute(f"ALTER DATABASE {name} SET search_path = public, pg_catalog")  # type: ignore[arg-type]
    return made


@pytest.fixture
def judge() -> Iterator[Judge]:
    made = Judge()
    yield made
    made.close()


@pytest.fixture
def address(server: Server) -> str:
    """A ledger on a server whose clock can be set."""
    made = with_clock(server)
    Ledger(made, create=True).close()
    return made


@pytest.fixture(autouse=True)
def two_machines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody sees of the other's process whether it lives, as on another machine."""
    monkeypatch.setattr(fences, "process_key", lambda _=None: "")


def test_an_answer_that_comes_after_a_take_over_changes_who_counts_as_texted(address: str) -> None:
    """Who counts is packed when the second runner ends; the first one's answer makes that out of date."""
    packed = "SELECT count(*) FROM contacts"
    with Ledger(address) as first, Ledger(address) as second, psycopg.connect(address, autocommit=True) as look:
        run = first._begin(plan_of(4, chunk_size=2), service="a service")
        claim = run.claim(0)
        assert claim is not None
        set_clock(address, "1 hour")
        second._begin(plan_of(4, chunk_size=2), service="a service").close()
        assert look.execute(packed).fetchone() == (1,)
        run.settle(claim, Ending("NOT_SENT", phase="before"))
        assert look.execute(packed).fetchone() == (0,)
        run.close()


def set_clock(address: str, by: str) -> None:
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("UPDATE shift SET by=%s::interval", (by,))


def before_the_bytes(monkeypatch: pytest.MonkeyPatch, act: Callable[[], None]) -> None:
    """Do something once, between the first claim and its request."""
    left, deliver = [act], Client._deliver

    def delivered(self: Client, *arguments: Any, **options: Any) -> Any:
        if left:
            left.pop()()
        return deliver(self, *arguments, **options)

    monkeypatch.setattr(Client, "_deliver", delivered)


def work_of(judge: Judge, address: str) -> Work:
    return Work(address, judge.box.url, plan_of(12, chunk_size=2, campaign="autumn", text="autumn"), concurrency=1)


def test_a_clock_that_is_set_back_lets_nobody_in_and_holds_nobody_up(
    judge: Judge, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    work, refused = work_of(judge, address), []

    def meanwhile() -> None:
        set_clock(address, "-1 hour")
        with pytest.raises(CampaignHeld, match="can be taken over after") as raised:
            work.run()
        refused.append(raised.value)

    before_the_bytes(monkeypatch, meanwhile)
    assert work.run()["accepted"] == 12
    assert len(refused) == 1
    found = audit(address, judge.texted("autumn"), campaign="autumn")
    assert (found.rows, found.duplicates, found.lost) == (12, 0, 0), found.odd


def test_a_clock_that_is_set_forward_gives_the_campaign_away_and_texts_nobody_twice(
    judge: Judge, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the first runner had claimed is in doubt for the second, until the first one's answer settles it."""
    work, second = work_of(judge, address), []

    def meanwhile() -> None:
        set_clock(address, "1 hour")
        second.append(work.run())

    before_the_bytes(monkeypatch, meanwhile)
    with pytest.raises(CampaignHeld, match="was taken over by"):
        work.run()
    assert (second[0]["accepted"], second[0]["in_doubt"]) == (10, 2)
    found = audit(address, judge.texted("autumn"), campaign="autumn")
    assert (found.rows, found.duplicates, found.lost, found.in_doubt) == (12, 0, 0, 0), found.odd
