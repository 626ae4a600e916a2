"""What a server serves: the service with its faults and its journal, one request at a time."""

from __future__ import annotations

import inspect
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final, NamedTuple

from .._schema import FARTHEST
from ..errors import UsageError
from . import faults, journal
from .faults import Fault, FaultSwitches, Outcome
from .journal import Entry, Journal
from .service import INVALID_PARAMS, Reply, Service, format_money, parse_money
from .state import iso_moment

MAX_TOP_UP: Final = 10**15  # millionths: a billion at once


class Received(NamedTuple):
    """One request to the operations as received; ``body`` is None if it was too large to be read.

    ``query`` is read from ``target``, the path with its query as sent; ``content_type`` has no parameters.
    """

    method: str
    target: str
    headers: Sequence[tuple[str, str]]
    query: Mapping[str, str]
    content_type: str
    body: bytes | None

    def __repr__(self) -> str:
        return f"Received({self.method})"  # without its secrets


class Account:
    """One sandbox without its socket; its methods may be called by several threads at once."""

    def __init__(self, service: Service, switches: FaultSwitches) -> None:
        self.service = service
        self._state = service.state
        self._faults = switches
        self._journal = Journal()
        self._lock = threading.Lock()
        self._requests = 0
        self._is_closed = False

    def receive(self, received: Received) -> tuple[Outcome, str]:
        """Answer one request, or apply a fault to it; return what its client gets, and the request's id."""
        with self._lock:
            self._requests += 1
            n = self._requests
            struck: list[Fault] = []
            if self._faults:
                struck = self._faults.strike(received.query.get("action", ""), self._chance("chance", n))
        broken = None
        for fault in struck:
            if fault.kind == "latency":
                time.sleep(fault.delay + fault.jitter * self._chance("jitter", n))
            else:
                broken = fault
        with self._lock:
            if self._is_closed:
                return Outcome(), ""
            if broken is not None and faults.KIND[broken.kind].when == "before":
                return self._record(n, received, struck, None, faults.outcome_before(broken))
            reply = self._answer(received)
            outcome = Outcome(reply.status, faults.as_json_bytes(reply.envelope))
            if broken is not None:
                outcome = faults.outcome_after(broken, reply)
            return self._record(n, received, struck, reply, outcome)

    def turn_away(self, received: Received, reply: Reply) -> str:
        """Record a request that never reached the service, and return its id."""
        with self._lock:
            self._requests += 1
            outcome = Outcome(reply.status, faults.as_json_bytes(reply.envelope))
            return self._record(self._requests, received, [], reply, outcome)[1]

    def _answer(self, received: Received) -> Reply:
        if received.body is None:
            return self.service.refuse(INVALID_PARAMS)
        return self.service.answer(received.query, received.content_type, received.body)

    def _chance(self, purpose: str, n: int) -> float:
        """Return a number from 0 to 1, the same for the same request of a seeded run."""
        return int.from_bytes(self._state.mark(purpose, n, 6)) / 2**48

    def _record(
        self, n: int, received: Received, struck: list[Fault], reply: Reply | None, outcome: Outcome
    ) -> tuple[Outcome, str]:
        """Add a request to the journal, and return what its client gets."""
        # Never used again, not even after a restart.
        request_id = self._state.mark(f"request of {self._state.id}/{self._state.starts}", n).hex()
        body = received.body or b""
        self._journal.add(
            Entry(
                n=n,
                at=self.service.clock.now(),
                method=received.method,
                target=received.target,
                headers=received.headers,
                body=body[: journal.LONGEST],
                size=len(body),
                fault=",".join([fault.kind for fault in struck]),
                status=outcome.status,
                code="" if reply is None else str(reply.envelope["code"]),
                reply=outcome.body[: journal.LONGEST],
                reply_size=len(outcome.body),
                accepted=0 if reply is None else reply.accepted,
                request_id=request_id,
            )
        )
        return outcome, request_id

    # -- beside the operations

    def report(
        self,
        *,
        messages_after: int | None = None,
        requests_after: int | None = None,
        to: str | None = None,
        limit: int | None = None,
    ) -> dict[str, Any]:
        """Return how the sandbox stands, with the messages and requests after a number where it is given.

        ``to`` keeps the messages of one number alone; ``limit`` the latest of each list.
        """
        with self._lock:
            self._raise_if_closed()
            report = self._summary()
            if messages_after is not None:
                rows = self._state.messages(after=messages_after, to=to, limit=limit)
                report["inbox"] = [_message(row, self.service.tariff.currency) for row in rows]
            entries = [] if requests_after is None else self._journal.after(requests_after, limit)
        if requests_after is not None:
            report["requests"] = [entry.as_dict() for entry in entries]
        return report

    def act(self, action: Mapping[str, Any]) -> dict[str, Any]:
        """Do what a mapping asks for, such as ``{"do": "advance", "seconds": 301}``, and return how it stands then.

        Raises:
            UsageError: it is no action, or cannot be done; nothing has changed.
        """
        arguments = dict(action)
        name = arguments.pop("do", None)
        acts: dict[str, Callable[..., None]] = {
            "clear": self._clear,
            "top_up": self._top_up,
            "advance": self.service.clock.advance,
            "reset_clock": self.service.clock.reset,
            "fault": self._switch_on,
            "clear_faults": self._faults.switch_off,
        }
        if not isinstance(name, str) or name not in acts:
            raise UsageError(f'send {{"do": ...}} with one of {", ".join(acts)}')
        with self._lock:
            self._raise_if_closed()
            _raise_if_unfit(name, acts[name], arguments)
            acts[name](**arguments)
            return self._summary()

    def _summary(self) -> dict[str, Any]:
        service = self.service
        return {
            "id": self._state.id,
            "variant": service.variant,
            "form": service.form,
            "currency": service.tariff.currency,
            "balance": format_money(self._state.balance),
            "messages": self._state.count,
            "last_message": self._state.last,
            "last_request": self._journal.last,
            "now": iso_moment(service.clock.now()),
            "ahead": service.clock.ahead,
            "faults": [asdict(fault) | {"text": fault.describe()} for fault in self._faults],
        }

    def _clear(self) -> None:
        self._journal.clear()
        self._state.clear()

    def _top_up(self, amount: str) -> None:
        micros = parse_money(amount)
        if micros >= MAX_TOP_UP or self._state.balance + micros > FARTHEST:
            raise UsageError("at most 1,000,000,000 can be added at once, and a balance has an end")
        self._state.top_up(micros)

    def _switch_on(self, **options: Any) -> None:
        self._faults.switch_on(Fault.read(options))

    def _raise_if_closed(self) -> None:
        if self._is_closed:
            raise UsageError("this sandbox has ended")

    def close(self) -> None:
        with self._lock:
            self._is_closed = True
            self._state.close()


def _raise_if_unfit(name: str, act: Callable[..., None], arguments: Mapping[str, Any]) -> None:
    try:
        inspect.signature(act).bind(**arguments)
    except TypeError as error:
        raise UsageError(f"{name}: {error}") from None


def _message(row: Mapping[str, Any], currency: str) -> dict[str, Any]:
    return {
        "n": row["n"],
        "id": row["id"],
        "to": row["number"],
        "text": row["text"],
        "code": row["code"],
        "channel": row["channel"],
        "iso": row["iso"],
        "parts": row["parts"],
        "price": format_money(row["price"]),
        "currency": currency,
        "at": iso_moment(row["at"]),
        "kind": "passcode" if row["action"] == "otp.send" else "message",
        "intent": row["intent"],
        "signature": row["signature"],
        "template_id": row["template_id"],
    }
