"""How many messages a ledger sends to its server, and what it knows of those whose answer it does not wait for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from kills.people import plan_of
from support.cutting import CuttingProxy
from support.servers import Server

from smsotp_nb import Client, Ledger, Sandbox, send
from smsotp_nb._ledger.file.store import _Shared
from smsotp_nb._ledger.sending.settling import Wanted
from smsotp_nb.errors import LedgerError

COUNTRY = "INSERT INTO country (iso, cc) VALUES (?, ?)"
KNOWN = "SELECT count(*) FROM country"


@pytest.fixture
def proxy(server: Server) -> Iterator[CuttingProxy]:
    with CuttingProxy(Path(f"{server.folder}/.s.PGSQL.5432")) as made:
        yield made


@pytest.fixture
def address(server: Server, proxy: CuttingProxy) -> str:
    name = server.database().split("/")[3].split("?")[0]
    return f"postgresql://postgres@127.0.0.1:{proxy.port}/{name}?sslmode=disable"


@pytest.fixture
def ledger(address: str) -> Iterator[Ledger]:
    with Ledger(address, create=True) as made:
        with made._store.writing("NORMAL") as connection:  # begins the session
            connection.execute(COUNTRY, ("AA", "1"))
        yield made


def known(ledger: Ledger) -> int:
    with ledger._store.reading() as connection:
        return int(connection.execute(KNOWN).fetchone()[0])


def test_what_changes_rows_is_sent_with_what_asks_and_in_its_order(ledger: Ledger, proxy: CuttingProxy) -> None:
    before = proxy.asked
    with ledger._store.writing("NORMAL") as connection:
        connection.execute(COUNTRY, ("BB", "2"))
        connection.executemany(COUNTRY, [("CC", "3"), ("DD", "4")])
        assert connection.execute(KNOWN).fetchone() == (4,)
        changed = connection.execute("DELETE FROM country WHERE iso='DD'")
        connection.execute(COUNTRY, ("EE", "5"))
        assert changed.rowcount == 1
        connection.execute(COUNTRY, ("FF", "6"))
    assert proxy.asked - before == 3  # the last insertion goes with the commit
    assert known(ledger) == 5


@pytest.mark.parametrize("asks", [True, False], ids=["when something asks", "with the commit"])
def test_an_error_of_what_waited_takes_everything_back(ledger: Ledger, *, asks: bool) -> None:
    def fails() -> None:
        with ledger._store.writing("NORMAL") as connection:
            connection.execute(COUNTRY, ("BB", "2"))
            connection.execute("INSERT INTO session (token, started_at) SELECT token, 1 FROM session", ())
            if asks:
                connection.execute(KNOWN).fetchone()

    with pytest.raises(LedgerError):
        fails()
    assert known(ledger) == 1
    with ledger._store.writing("NORMAL") as connection:
        connection.execute(COUNTRY, ("CC", "3"))
    assert known(ledger) == 2


def test_the_result_of_what_was_taken_back_is_not_told(ledger: Ledger) -> None:
    def fails() -> None:
        with ledger._store.writing("NORMAL") as connection:
            waited.append(connection.execute(COUNTRY, ("BB", "2")))
            raise RuntimeError

    waited: list[Any] = []
    with pytest.raises(RuntimeError):
        fails()
    with pytest.raises(psycopg.InterfaceError, match="rolled back"):
        assert waited[0].lastrowid
    assert known(ledger) == 1


def test_work_that_cannot_be_guessed_does_not_hold_up_what_shares_its_turn(ledger: Ledger, proxy: CuttingProxy) -> None:

    store = ledger._store
    with ledger._begin(plan_of(12, chunk_size=2), service="a service") as run:
        assert run.claim(0)
        claims = [_Shared(lambda connection, at=at: run._claim(connection, Wanted(at)), "FULL") for at in (1, 2)]
        asks = _Shared(lambda connection: connection.execute(KNOWN).fetchone()[0] or {}["nothing"], "FULL")
        fails = _Shared(lambda connection: connection.execute(KNOWN).fetchone()[9], "FULL")
        store._waiting.extend([claims[0], asks, claims[1]])
        before = proxy.asked
        store._run_waiting()
        assert proxy.asked - before == 3  # one for the two, and two for what asks
        assert asks.result == 1
        assert [run._owned(one.result).chunk for one in claims] == [1, 2]
        again = _Shared(lambda connection: run._claim(connection, Wanted(3)), "FULL")
        store._waiting.extend([again, fails])
        store._run_waiting()
        assert isinstance(fails.failure, LedgerError | IndexError)
        assert again.failure is None
        assert run._owned(again.result).chunk == 3


def test_a_campaign_asks_little_before_its_first_request_and_after_its_last(
    ledger: Ledger, proxy: CuttingProxy, box: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    deliver, asked = Client._deliver, [proxy.asked]

    def noted(self: Client, *arguments: object, **options: object) -> object:
        asked.append(proxy.asked)
        reply = deliver(self, *arguments, **options)  # type: ignore[arg-type]
        asked.append(proxy.asked)
        return reply

    monkeypatch.setattr(Client, "_deliver", noted)
    table = send(plan_of(20, chunk_size=2).with_wire(threads=1), client=box.client(), ledger=ledger, progress=False)
    assert table["status"].eq("accepted").all()
    before, after = asked[1] - asked[0], proxy.asked - asked[-1]
    assert 10 < before <= 44
    assert 5 < after <= 28
