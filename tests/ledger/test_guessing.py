"""Claims and answers whose statements go to a server in one message, with their results guessed."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest
from kills.people import plan_of
from support.cutting import CuttingProxy
from support.servers import Server

from smsotp_nb import Ledger, People, Sandbox, send
from smsotp_nb._ledger import Run
from smsotp_nb._ledger.connection import Connection
from smsotp_nb._ledger.guessing import NEXT, ONE, Brought, Draft, Guess, NotGuessed, guessed

SERVICE = "a service"


@pytest.fixture
def address(server: Server) -> str:
    return server.database()


def attempts(address: str) -> list[tuple[int, int]]:
    with psycopg.connect(address) as connection:
        return connection.execute("SELECT id, chunk FROM attempt ORDER BY id").fetchall()


@pytest.fixture
def messages(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether each draft that was sent went through."""
    sent, together = [], Connection.together

    def noted(self: Connection, *arguments: object) -> list[Brought] | None:
        brought = together(self, *arguments)  # type: ignore[arg-type]
        sent.append(brought is not None)
        return brought

    monkeypatch.setattr(Connection, "together", noted)
    return sent


def begun(ledger: Ledger, name: str = "autumn", rows: int = 12) -> Run:
    return ledger.begin(plan_of(rows, chunk_size=2, campaign=name), service=SERVICE)


def test_a_wrong_guess_is_rolled_back_and_the_work_done_again(address: str, messages: list[bool]) -> None:
    """Somebody opts out between two claims: the second one was drafted with them, and is made without them."""
    with Ledger(address, create=True) as ledger, begun(ledger) as run, Ledger(address) as other:
        assert run.claim(0) is not None  # the first request of a campaign takes its name, which nobody guesses
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
        run = ledger.begin(plan_of(8, chunk_size=2, campaign="one", text="Hello"), service=SERVICE)
        rival = other.begin(plan_of(8, chunk_size=2, campaign="two", text="Hello"), service=SERVICE)
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


def asked(server: Server, box: Sandbox, requests: int) -> int:
    """Return how many messages a campaign sends to its server, from the opening of the ledger on."""
    with CuttingProxy(Path(f"{server.folder}/.s.PGSQL.5432")) as proxy:
        name = server.database().split("/")[3].split("?")[0]
        with Ledger(f"postgresql://postgres@127.0.0.1:{proxy.port}/{name}?sslmode=disable", create=True) as ledger:
            plan = plan_of(2 * requests, chunk_size=2, campaign=f"of {requests}")
            table = send(plan, client=box.client(), ledger=ledger, progress=False, concurrency=1)
        assert table["status"].eq("accepted").all()
        return proxy.asked


def test_a_claim_with_the_answer_before_it_takes_two_round_trips(server: Server) -> None:
    with Sandbox() as box:
        more = asked(server, box, 30) - asked(server, box, 10)
    assert 20 < more <= 2 * 20 + 3  # what a country is billed is learned once


def test_what_nobody_can_guess_is_not_drafted() -> None:
    draft = Draft(latest=7)
    assert guessed(draft, "INSERT", (), NEXT).lastrowid == 8  # type: ignore[arg-type]
    assert guessed(draft, "UPDATE", (), ONE).rowcount == 1  # type: ignore[arg-type]
    with pytest.raises(NotGuessed):
        draft.execute("SELECT")
    with pytest.raises(NotGuessed):
        guessed(draft, "SELECT", (), Guess()).fetchone()  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("brought", "right"),
    [
        ([Brought(1, ((8,),)), Brought(1, ())], True),
        ([Brought(1, ((9,),)), Brought(1, ())], False),
        ([Brought(0, ()), Brought(1, ())], False),
        ([Brought(1, ((8,),)), Brought(0, ())], False),
    ],
    ids=["as guessed", "another number", "nothing inserted", "nothing changed"],
)
def test_a_guess_is_held_against_what_came(brought: list[Brought], *, right: bool) -> None:
    draft = Draft(latest=7)
    guessed(draft, "INSERT", (), NEXT)  # type: ignore[arg-type]
    guessed(draft, "UPDATE", (), ONE)  # type: ignore[arg-type]
    assert draft.hear(iter(brought)) is right
