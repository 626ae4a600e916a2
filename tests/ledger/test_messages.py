"""How many messages a ledger sends to its server, and what it knows of those whose answer it does not wait for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import pytest
from kills.people import plan_of
from support.cutting import CuttingProxy
from support.servers import Server

from smsotp_nb import Client, Ledger, People, Sandbox, send
from smsotp_nb._ledger import Run
from smsotp_nb._ledger.file.store import _Shared
from smsotp_nb._ledger.rows.statements import (
    ANY,
    NEXT,
    NO_ROWS,
    NONE,
    ONE,
    Brought,
    Draft,
    Guess,
    NotGuessed,
    guessed,
)
from smsotp_nb._ledger.sending.settling import Wanted
from smsotp_nb._ledger.server.connection import Connection
from smsotp_nb.errors import LedgerError, ReplacedLedgerError

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
    table = send(plan_of(20, chunk_size=2).with_requests(threads=1), client=box.client(), ledger=ledger, progress=False)
    assert table["status"].eq("accepted").all()
    before, after = asked[1] - asked[0], proxy.asked - asked[-1]
    assert 10 < before <= 44
    assert 5 < after <= 28


# -- claims and answers whose statements go in one message, with their results guessed -----------------------------

SERVICE = "a service"


def attempts(address: str) -> list[tuple[int, int]]:
    with psycopg.connect(address) as connection:
        return connection.execute("SELECT id, chunk FROM attempt ORDER BY id").fetchall()


@pytest.fixture
def messages(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether each draft that was sent went through."""
    sent, together = [], Connection.together

    def noted(self: Connection, *arguments: object) -> list[Brought]:
        brought = together(self, *arguments)  # type: ignore[arg-type]
        sent.append(bool(brought))
        return brought

    monkeypatch.setattr(Connection, "together", noted)
    return sent


def begun(ledger: Ledger, name: str = "autumn", rows: int = 12) -> Run:
    return ledger._begin(plan_of(rows, chunk_size=2, campaign=name), service=SERVICE)


def test_a_wrong_guess_is_rolled_back_and_the_work_done_again(address: str, messages: list[bool]) -> None:
    """Somebody opts out between two claims: the second one was drafted with them, and is made without them."""
    with Ledger(address, create=True) as ledger, begun(ledger) as run, Ledger(address) as other:
        assert run.claim(0) is not None
        first = run.claim(1)
        assert first is not None
        assert len(first.to) == 2
        assert messages == [True, True]
        gone = run.pending(2)[0].to
        People(other).opt_out(gone, source="reply STOP")
        second = run.claim(2)
        assert second is not None
        assert len(messages) == 3
        assert gone not in second.to
        assert len(second.to) == 1
        recorded = attempts(address)
        assert [chunk for _, chunk in recorded] == [0, 1, 2]  # what was drafted left nothing behind
        assert second.attempt == recorded[-1][0]
        third = run.claim(3)
        assert third is not None
        assert len(third.to) == 2


def test_requests_of_another_process_are_seen_by_a_draft(address: str, messages: list[bool]) -> None:
    """The same words to the same people, claimed by another campaign meanwhile, are held back."""
    with Ledger(address, create=True) as ledger, Ledger(address) as other:
        run = ledger._begin(plan_of(8, chunk_size=2, campaign="one", text="Hello"), service=SERVICE)
        rival = other._begin(plan_of(8, chunk_size=2, campaign="two", text="Hello"), service=SERVICE)
        with run, rival:
            assert run.claim(0) is not None
            assert run.claim(1) is not None
            assert rival.claim(2) is not None
            assert run.claim(2) is None
            assert rival.claim(1) is None
    assert messages


def test_a_chunk_that_is_claimed_already_is_not_claimed_by_a_guess(address: str) -> None:
    with Ledger(address, create=True) as ledger, begun(ledger) as run:
        assert run.claim(0) is not None
        assert run.claim(1) is not None
        assert run.claim(1) is None
        assert [chunk for _, chunk in attempts(address)] == [0, 1]


def test_a_part_of_a_chunk_is_claimed_by_a_guess(address: str, messages: list[bool]) -> None:
    with Ledger(address, create=True) as ledger, begun(ledger) as run:
        assert run.claim(0) is not None
        part = Wanted(1, (2,), is_part=True)
        claim = run._owned(run._store.together(lambda connection: run._claim(connection, part), "FULL"))
        assert claim is not None
        assert claim.positions == (2,)
        assert not claim.is_whole
        rest = run.claim(1)
        assert rest is not None
        assert rest.positions == (3,)
    assert messages == [True, True, False]  # nobody guesses that a chunk is no longer whole


def asked(server: Server, box: Sandbox, requests: int) -> int:
    """Return how many messages a campaign sends to its server, from the opening of the ledger on."""
    with CuttingProxy(Path(f"{server.folder}/.s.PGSQL.5432")) as proxy:
        name = server.database().split("/")[3].split("?")[0]
        with Ledger(f"postgresql://postgres@127.0.0.1:{proxy.port}/{name}?sslmode=disable", create=True) as ledger:
            plan = plan_of(2 * requests, chunk_size=2, campaign=f"of {requests}")
            table = send(plan.with_requests(threads=1), client=box.client(), ledger=ledger, progress=False)
            asked = proxy.asked  # every one of them was answered; whether the goodbye is counted by then, nobody knows
        assert table["status"].eq("accepted").all()
        return asked


def test_a_claim_with_the_answer_before_it_takes_one_round_trip(server: Server) -> None:
    with Sandbox() as box:
        more = asked(server, box, 30) - asked(server, box, 10)
    assert 20 <= more <= 20 + 3  # what a country is billed is learned once


def test_what_nobody_can_guess_is_not_drafted() -> None:
    draft = Draft(latest=7)
    assert guessed(draft, "INSERT", (1,), NEXT).lastrowid == 8  # type: ignore[arg-type]
    assert guessed(draft, "UPDATE", (), ONE).rowcount == 1  # type: ignore[arg-type]
    with pytest.raises(NotGuessed):
        draft.execute("SELECT")
    with pytest.raises(NotGuessed):
        guessed(draft, "SELECT", (), Guess()).fetchone()  # type: ignore[arg-type]


def test_a_question_is_asked_again_once_another_campaign_records_a_request() -> None:
    draft = Draft(latest=7)
    ask = ("SELECT", (1,), NO_ROWS)
    insert = "INSERT"

    def sent() -> int:
        return sum(sql == "SELECT" for sql, _ in draft.statements)

    for campaign, asked in [(1, 1), (1, 1), (2, 1), (1, 2), (1, 3)]:
        guessed(draft, *ask)  # type: ignore[arg-type]
        assert sent() == asked
        assert guessed(draft, insert, (campaign,), NEXT).lastrowid == draft.latest  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("sql", "guess", "right"),
    [
        ("INSERT INTO country (id, iso) VALUES (8, 'DE')", Guess(1, ((8,),)), True),
        ("INSERT INTO country (id, iso) VALUES (8, 'DE')", Guess(1, ((9,),)), False),
        ("INSERT INTO country (id, iso) SELECT 8, 'DE' WHERE 1=2", Guess(1, ((8,),)), False),
        ("UPDATE country SET cc='49' WHERE id=7", ONE, True),
        ("UPDATE country SET cc='49' WHERE id=6", ONE, False),
        ("UPDATE country SET cc='49' WHERE id=6", NONE, True),
        ("UPDATE country SET cc='49' WHERE id=7", NONE, False),
        ("SELECT 1 FROM country WHERE id=6", NO_ROWS, True),
        ("SELECT 1 FROM country WHERE id=7", NO_ROWS, False),
        ("SELECT id, -2 FROM country", Guess(rows=((7, -2),)), True),
        ("SELECT id, -2 FROM country", Guess(rows=((7, 2),)), False),
        ("SELECT id, -2 FROM country WHERE id=6", Guess(rows=((7, -2),)), False),
        ("SELECT id FROM country WHERE id=6", ANY, True),
    ],
)
def test_the_server_holds_a_guess_against_what_came(address: str, sql: str, guess: Guess, *, right: bool) -> None:
    """Only where it was right is the rest recorded, the statement before it, too."""
    with Ledger(address, create=True) as ledger, ledger._store.reading() as connection:
        connection.execute("INSERT INTO country (id, iso) VALUES (7, 'FR')")
        before = ("INSERT INTO imported (token, path, at) VALUES (?, 'a', 1)", (b"1",), ANY)
        brought = connection.together([("BEGIN", ())], [before, (sql, (), guess)])  # type: ignore[attr-defined]
        if not right:
            connection.roll_back()  # type: ignore[attr-defined]
        assert len(brought) == (3 if right else 0)
        assert connection.execute("SELECT count(*) FROM imported").fetchone() == (int(right),)


def seen_as(opened: Ledger, /, **other: object) -> None:
    """Let the process believe that it saw another database than it is connected to."""
    served = opened._store._opened
    served.sighting = replace(served.sighting, **other)  # type: ignore[union-attr]


ANOTHER = [{"log": 2**61}, {"requests": 10**9}, {"place": "1/2/3/4"}, {"ledger": b"another"}]


@pytest.mark.parametrize("other", ANOTHER, ids=lambda other: next(iter(other)))
def test_a_draft_is_not_confirmed_by_another_database(
    address: str, messages: list[bool], other: dict[str, Any]
) -> None:
    """What was seen of the server is compared by the server itself, before it confirms anything."""
    with Ledger(address, create=True) as ledger, begun(ledger) as run:
        assert run.claim(0) is not None
        assert messages == [True]
        seen_as(ledger, **other)
        with pytest.raises(ReplacedLedgerError):
            run.claim(1)
        assert messages == [True, False]
        assert len(attempts(address)) == 1


def test_a_server_that_started_again_is_asked_statement_by_statement(address: str, messages: list[bool]) -> None:
    with Ledger(address, create=True) as ledger, begun(ledger) as run:
        assert run.claim(0) is not None
        seen_as(ledger, since="9")
        assert run.claim(1) is not None
    assert messages == [True, False]


def test_what_asks_for_nothing_is_not_confirmed_by_another_database(address: str) -> None:
    country = "INSERT INTO country (iso, cc) VALUES (?, ?)"
    with Ledger(address, create=True) as ledger:
        with ledger._store.writing() as connection:
            connection.execute(country, ("AA", "1"))
        seen_as(ledger, requests=10**9)
        with pytest.raises(ReplacedLedgerError), ledger._store.writing() as connection:
            connection.execute(country, ("BB", "2"))
    with psycopg.connect(address) as recorded:
        assert recorded.execute("SELECT iso FROM country").fetchall() == [("AA",)]


def test_work_that_cannot_be_guessed_leaves_nothing_in_the_draft() -> None:
    def work(connection: Any) -> None:
        guessed(connection, "INSERT", (1,), NEXT)
        connection.execute("SELECT")

    draft = Draft(latest=7)
    with pytest.raises(NotGuessed):
        draft.run(work)
    assert [*draft.guesses()] == []
    assert guessed(draft, "INSERT", (2,), NEXT).lastrowid == 8  # type: ignore[arg-type]
