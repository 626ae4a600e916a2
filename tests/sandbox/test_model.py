"""The sandbox against a small model of the interface's rules, through random stories with restarts in between."""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from smsotp_nb._sandbox.inbox import Filter, find, summary
from smsotp_nb._sandbox.service import Service
from smsotp_nb._sandbox.state import State

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
