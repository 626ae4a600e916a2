"""What a sandbox keeps and does for others has bounds: nonces, journal, waiting readers, long inboxes, slow bodies."""

from __future__ import annotations

import json
import socket
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from support.sockets import call, connected

from sandbox.test_desk import get, post
from smsotp_nb import Sandbox
from smsotp_nb._sandbox import access, desk, inbox
from smsotp_nb._sandbox.inbox import Filter, find, summary
from smsotp_nb._sandbox.server import Server
from smsotp_nb._sandbox.service import Service
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


# -- random stories with restarts in between, against a small model of the rules of the interface ---------------------

# Prices of the sample table, typed here so that a changed table is noticed.
PRICES = {"+12025550123": 7_500, "+14155550100": 7_500, "+33199001234": 65_000, "+46701740605": 65_000}
INVALID = "+447700900123"
MEMORY = Path("/dev/shm")  # the files of hundreds of restarts need no disk
NUMBERS = st.sampled_from([*PRICES, INVALID])
INTENTS = st.sampled_from([None, "login", "pay"])
TTLS = st.sampled_from([None, 1, 60, 1800])
CODES = st.sampled_from(["1234", "123456", "00000000"])


@dataclass
class Code:
    """One passcode of the model."""

    code: str
    made: float
    ttl: int | None  # None for a generated one
    wrong: int = 0
    used: bool = False


@dataclass
class Model:
    """What the rules say should have happened."""

    balance: int = 2_000_000
    texts: list[tuple[str, str]] = field(default_factory=list)
    codes: dict[tuple[str, str], Code] = field(default_factory=dict)
    spent: int = 0

    def pay(self, price: int) -> bool:
        if price > self.balance:
            return False
        self.balance -= price
        self.spent += price
        return True


class Story(RuleBasedStateMachine):
    """Random requests; the service and the model must agree on every answer."""

    @initialize()
    def begin(self) -> None:
        self.folder = tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None)
        self.time = 1_790_000_000.0
        self.model = Model()
        self.open()

    def open(self) -> None:
        self.state = State(Path(self.folder.name) / "box.sqlite", variant="intl", balance=2_000_000)
        self.service = Service(self.state, now=lambda: self.time)

    def ask(self, action: str, **fields: Any) -> tuple[str, Any]:
        body = json.dumps({name: value for name, value in fields.items() if value is not None}).encode()
        envelope = self.service.answer({"action": action, "accessKeyId": "k"}, "application/json", body).envelope
        return envelope["code"], envelope.get("data")

    @rule(numbers=st.lists(NUMBERS, max_size=4), length=st.sampled_from([1, 160, 161, 307]))
    def send(self, numbers: list[str], length: int) -> None:
        code, data = self.ask("sms.message.send", to=numbers, text="x" * length)
        parts = {1: 1, 160: 1, 161: 2, 307: 3}[length]
        if not numbers:
            assert code == "104001"
        elif INVALID in numbers:
            assert code == "107111"
        elif not self.model.pay(parts * sum(PRICES[number] for number in numbers)):
            assert code == "105400"
        else:
            assert code == "0"
            assert [record["to"] for record in data["messages"]] == numbers
            assert data["messageCount"] == parts * len(numbers)
            self.model.texts += [(number, "x" * length) for number in numbers]

    @rule(number=NUMBERS, intent=INTENTS, custom=st.none() | CODES, ttl=TTLS)
    def send_passcode(self, number: str, intent: str | None, custom: str | None, ttl: int | None) -> None:
        code, _data = self.ask("otp.send", to=number, intent=intent, code=custom, ttl=ttl)
        if number == INVALID:
            assert code == "107111"
        elif not self.model.pay(PRICES[number]):
            assert code == "105400"
        else:
            assert code == "0"
            sent = find(self.state, Filter(newest=True), limit=1)[0]["code"]
            assert sent == custom or (custom is None and len(sent) == 6 and sent.isdigit())
            lifetime = (ttl or 300) if custom else None
            self.model.codes[number, intent or ""] = Code(sent, self.time, lifetime)
            self.model.texts.append((number, f"Your verification code is {sent}."))

    @rule(number=NUMBERS, intent=INTENTS, code=CODES, ttl=TTLS)
    def verify(self, number: str, intent: str | None, code: str, ttl: int | None) -> None:
        answer, data = self.ask("otp.verify", to=number, intent=intent, code=code, ttl=ttl)
        if number == INVALID:
            assert answer == "107111"
            return
        known = self.model.codes.get((number, intent or ""))
        assert (answer, data) == ("0", {"to": number, "valid": self.expected(known, code, ttl or 300)})

    @precondition(lambda self: self.model.codes)
    @rule(data=st.data(), wrong=st.integers(0, 6), right=st.integers(1, 2), ttl=TTLS)
    def guess(self, data: st.DataObject, wrong: int, right: int, ttl: int | None) -> None:
        """Try a passcode that exists: some wrong codes first, then the right one, perhaps twice."""
        number, intent = data.draw(st.sampled_from(list(self.model.codes)))
        known = self.model.codes[number, intent]
        for code in ["99999999"] * wrong + [known.code] * right:
            _answer, found = self.ask("otp.verify", to=number, intent=intent, code=code, ttl=ttl)
            assert found["valid"] is self.expected(known, code, ttl or 300)

    def expected(self, known: Code | None, asked: str, ttl: int) -> bool:
        if known is None or known.used or known.wrong >= 5:
            return False
        if self.time >= known.made + (ttl if known.ttl is None else known.ttl):
            return False
        known.used = asked == known.code
        known.wrong += not known.used
        return known.used

    @rule(seconds=st.sampled_from([0.5, 1, 59, 300, 1799, 1800]))
    def wait(self, seconds: float) -> None:
        self.time += seconds

    @rule(micros=st.integers(1, 1_000_000))
    def top_up(self, micros: int) -> None:
        self.state.top_up(micros)
        self.model.balance += micros

    @rule()
    def restart(self) -> None:
        self.state.close()
        self.open()

    @rule()
    def kill(self) -> None:
        """End it as a kill does: what was noted is not filed."""
        self.state._db.close()
        self.open()

    @invariant()
    def pays(self) -> None:
        assert not hasattr(self, "model") or self.state.balance == self.model.balance

    @rule()
    def agree(self) -> None:
        """Read everything; what was accepted since the last time is filed by that."""
        rows = find(self.state, Filter())
        assert [(row["number"], row["text"]) for row in rows] == self.model.texts
        assert len({row["id"] for row in rows}) == len(rows)
        assert self.state.balance == self.model.balance
        assert sum(row["price"] for row in rows) == self.model.spent
        assert summary(self.state, "USD")["messages"] == self.state.count() == len(rows)

    def teardown(self) -> None:
        if hasattr(self, "state"):
            self.agree()
            self.state.close()
            self.folder.cleanup()


TestStory = pytest.mark.slow(Story.TestCase)
TestStory.settings = settings(max_examples=20, stateful_step_count=40, deadline=None)
