"""The account of a sandbox: its service, faults and journal, and those who wait for something to happen in it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from .service import INVALID_PARAMS, Answer, Service
from .state import State
from .testing.faults import Fault, Faults, Outcome, of_answer, of_fault_after, of_fault_before, strikes_before
from .testing.journal import Headers, Journal

log = logging.getLogger("smsotp_nb.sandbox")


class Received(NamedTuple):
    """One request to the operations as received; ``body`` is None if it was too large to be read.

    ``query`` is read from ``target``, the path with its query as sent; ``content_type`` has no parameters.
    """

    method: str
    target: str
    headers: Headers
    query: Mapping[str, str]
    content_type: str
    body: bytes | None

    def __repr__(self) -> str:
        return f"Received({self.method})"  # without its secrets


class Bell:
    """Rings whenever something has happened, for all who wait for that; until then waiting costs nothing."""

    def __init__(self) -> None:
        self._waiting: set[asyncio.Future[None]] = set()
        self.closed = False

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    def ring(self) -> None:
        for waiter in self._waiting:
            if not waiter.done():
                waiter.set_result(None)

    def close(self) -> None:
        self.closed = True
        self.ring()

    async def wait(self, seconds: float) -> None:
        """Wait until something happens, for at most so many seconds."""
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.add(waiter)
        try:
            await asyncio.wait([waiter], timeout=seconds)
        finally:
            self._waiting.discard(waiter)


@dataclass(slots=True)
class Account:
    """One sandbox without its socket."""

    service: Service
    faults: Faults
    journal: Journal = field(init=False)
    bell: Bell = field(default_factory=Bell)
    summed: tuple[float, dict[str, Any]] = (0.0, {})  # until when a summary of the inbox stands, and what it says
    _requests: int = 0

    def __post_init__(self) -> None:
        self.journal = Journal(self.service.clock.now)

    @property
    def state(self) -> State:
        return self.service.state

    async def meet(self, received: Received) -> tuple[Outcome, str]:
        """Answer one request, or apply a fault to it; return what its client gets, and the request's id."""
        request_id = self.next_request_id()
        n = self._requests
        action = received.query.get("action", "")
        struck = self.faults.strike(action, self._chance("chance", n)) if self.faults else []
        broken = next((fault for fault in struck if fault.kind != "latency"), None)
        for fault in struck:
            if fault.kind == "latency":
                await asyncio.sleep(fault.seconds + fault.jitter * self._chance("jitter", n))
        answer = None if broken is not None and strikes_before(broken) else self._answer(received)
        outcome = _outcome(broken, answer)
        self._note(received, request_id, struck, answer, outcome)
        return outcome, request_id

    def turn_away(self, received: Received, answer: Answer) -> str:
        """Record a request that never reached the service, and return its id."""
        request_id = self.next_request_id()
        self._note(received, request_id, (), answer, of_answer(answer))
        return request_id

    def next_request_id(self) -> str:
        """Return a new request id, which is never used again, even after a restart."""
        self._requests += 1
        return self.state.mark(f"request of {self.state.id}/{self.state.starts}", self._requests).hex()

    def _chance(self, purpose: str, n: int) -> float:
        """Return a number from 0 to 1, the same for the same request of a seeded run."""
        return int.from_bytes(self.state.mark(purpose, n, 6)) / 2**48

    def _answer(self, received: Received) -> Answer:
        if received.body is None:
            return self.service.refuse(INVALID_PARAMS)
        query_string = received.target.partition("?")[2]
        return self.service.answer(received.query, received.content_type, received.body, query_string=query_string)

    def _note(
        self, received: Received, request_id: str, struck: Sequence[Fault], answer: Answer | None, outcome: Outcome
    ) -> None:
        """Add a request to the journal and wake those who wait."""
        code = "" if answer is None else str(answer.envelope["code"])
        kinds = ",".join(fault.kind for fault in struck) if struck else ""
        if log.isEnabledFor(logging.DEBUG):
            log.debug("%s -> %s %s %s", received.query.get("action"), outcome.status, code, kinds)
        self.journal.add(
            method=received.method,
            path=received.target,
            headers=received.headers,
            body=received.body or b"",
            fault=kinds,
            status=outcome.status,
            code=code,
            reply=outcome.body,
            accepted=0 if answer is None else answer.accepted,
            request_id=request_id,
        )
        self.bell.ring()

    def close(self) -> None:
        self.bell.close()
        self.state.close()


def _outcome(broken: Fault | None, answer: Answer | None) -> Outcome:
    if answer is None:
        assert broken is not None, "only a fault keeps a request from the service"
        return of_fault_before(broken)
    return of_answer(answer) if broken is None else of_fault_after(broken, answer)
