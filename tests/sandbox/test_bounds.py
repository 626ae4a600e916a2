"""What a sandbox keeps and does for others has bounds: nonces, journal, waiting readers, long inboxes, slow bodies."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.sockets import connected

from sandbox.test_desk import call, get, post
from smsotp_nb import Sandbox
from smsotp_nb._sandbox import access, desk, inbox
from smsotp_nb._sandbox.server import Server
from smsotp_nb._sandbox.state import State
from smsotp_nb._sandbox.testing import journal
from smsotp_nb._sandbox.testing.faults import Fault, Faults
from smsotp_nb._sandbox.testing.journal import Journal

US = "+12025550123"


@pytest.fixture
def server() -> Iterator[Server]:
    running = Server()
    running.start()
    yield running
    running.close()


def test_nonces_have_a_bound() -> None:
    nonces = access.Nonces()
    assert all(nonces.take(f"nonce-{n}", 0.0) for n in range(access.MOST_NONCES + 10))
    assert len(nonces._seen) == access.MOST_NONCES
    assert not nonces.take(f"nonce-{access.MOST_NONCES}", 0.0)


def test_nonces_are_forgotten_when_their_time_is_over() -> None:
    nonces = access.Nonces()
    assert all(nonces.take(str(n), now=n) for n in range(5000))
    assert len(vars(nonces)["_seen"]) < 1300


@given(
    share=st.floats(0.01, 1), chances=st.lists(st.floats(0, 1, exclude_max=True), max_size=40), most=st.integers(1, 10)
)
def test_no_fault_strikes_more_often_than_it_may(share: float, chances: list[float], most: int) -> None:
    faults = Faults([Fault(kind="html", share=share, next=most)])
    struck = [bool(faults.strike("otp.send", chance)) for chance in chances]
    meant = [chance < share for chance in chances]
    assert sum(struck) == min(most, sum(meant))
    assert all(may for hit, may in zip(struck, meant, strict=True) if hit)


def added(kept: Journal, body: bytes = b"{}") -> None:
    kept.add(method="POST", path="/?action=otp.send", headers=((b"Host", b"x"),), body=body, code="0")


def test_the_journal_is_bounded_in_number_and_in_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "MOST", 10)
    kept = Journal(lambda: 0)
    for _ in range(25):
        added(kept)
    assert [one.n for one in kept.select(journal.Wanted())] == list(range(16, 26))
    assert [one.n for one in kept.select(journal.Wanted(after=3))] == list(range(16, 26))
    assert [one.n for one in kept.select(journal.Wanted(after=24))] == [25]
    monkeypatch.setattr(journal, "MOST_BYTES", 100_000)
    for _ in range(5):
        added(kept, b"x" * 40_000)
    assert len(kept) == 2
    assert sum(entry.weight() for entry in kept._entries) == kept._bytes <= 100_000


@pytest.mark.parametrize("piece", ['"', '"key', '"accessKey":"', "\\", '"a\\', '"token" ', "token"])
def test_masking_takes_a_body_made_to_be_slow_in_its_stride(piece: str) -> None:
    """Twice the length may take twice the time, with room for noise; quadratic would be four times."""
    body = piece * (journal.LONGEST // len(piece))
    times = []
    for part in (body[: len(body) // 4], body):
        began = time.process_time()
        journal.masked_text(part)
        times.append(time.process_time() - began)
    assert times[1] < 0.5 + 8 * times[0]


def waiting(server: Server, path: str) -> socket.socket:
    before = server.account.bell.waiting
    reader = connected(server.port)
    reader.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nConnection: close\r\n\r\n".encode())
    until = time.monotonic() + 120
    while server.account.bell.waiting == before:
        assert time.monotonic() < until, f"nobody waits for {path}"
        time.sleep(0.005)
    return reader


def test_readers_that_have_hung_up_are_let_go_while_messages_come(server: Server) -> None:
    for _ in range(10):
        waiting(server, "/inbox.json?wait=60&text=nobody").close()
    stop = threading.Event()

    def send() -> None:
        with Sandbox.at(server.url) as box:
            while not stop.is_set():
                post(box, "sms.message.send", to=US, text="Hi")

    sender = threading.Thread(target=send)
    sender.start()
    until = time.monotonic() + 120
    try:
        while server.account.bell.waiting:
            assert time.monotonic() < until
            time.sleep(0.05)
    finally:
        stop.set()
        sender.join()


def test_a_reader_that_has_hung_up_is_let_go(server: Server) -> None:
    """Its place among those who wait is free again, without a request that would wake it."""
    waiting(server, "/requests.json?wait=60").close()
    until = time.monotonic() + 120
    while server.account.bell.waiting:
        assert time.monotonic() < until
        time.sleep(0.05)


def test_an_inbox_of_long_texts_is_told_in_pieces(tmp_path: Path) -> None:
    """All of it was made at once, which took a gigabyte and let nobody else be answered."""
    with Sandbox(state=tmp_path / "box.sqlite", balance=1_000_000) as box:
        numbers = [f"+1202555{n:04}" for n in range(100, 110)]
        asked = {"to": numbers, "text": "x" * 500_000}
        assert call(box, "POST", "/?action=sms.message.send&accessKeyId=k", asked)[0] == 200
        assert len(box.inbox) == 10
    state = State(tmp_path / "box.sqlite", variant="intl", balance=0, seed=None)
    with closing(state):
        pieces = [len(piece) for piece in inbox.pages(state, "USD", inbox.Filter.read({}))]
    assert sum(pieces) > 5_000_000
    assert max(pieces) < 2 * 500_000


def test_a_long_inbox_is_not_added_up_with_every_message(box: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(desk, "LONG", -1.0)  # every inbox is long, and its summary stands without end
    monkeypatch.setattr(desk, "PAUSES", 10**9)
    post(box, "sms.message.send", to=US, text="Hi")
    before = get(box, "/summary.json")
    post(box, "sms.message.send", to=US, text="One more")
    after = get(box, "/summary.json")
    assert (before["messages"], after["messages"]) == (1, 1)
    assert float(after["balance"]) < float(before["balance"])
    call(box, "DELETE", "/inbox.json")
    assert get(box, "/summary.json")["messages"] == 0
