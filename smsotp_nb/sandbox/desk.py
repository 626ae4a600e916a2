"""What the sandbox offers beside the interface: inbox, balance, clock, faults, its page and its description."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from importlib.resources import files
from typing import Any

from aiohttp import web

from .. import wire
from ..errors import UsageError
from . import clock, faults, inbox
from .service import Service, money

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

FAR: float = 400 * 366 * 86_400.0  # seconds; further no test of a lifetime goes
MOST_MONEY = 10**18  # millionths; what SQLite counts exactly
ASSETS: Mapping[str, str] = {"inbox.html": "text/html", "inbox.css": "text/css", "inbox.js": "text/javascript"}
# The page loads nothing from elsewhere and runs no script but its own.
POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'"
)


class Desk:
    """Answers everything but the three operations.

    Args:
        service: whose state, clock and currency it shows.
        switched_on: the faults, shared with the server.
        url: the sandbox's own address.
        shut: called with seconds to refuse connections for so long.
    """

    def __init__(
        self, service: Service, switched_on: faults.Faults, url: str, *, shut: Callable[[float], Awaitable[None]]
    ) -> None:
        self._service = service
        self._state = service.state
        self._faults = switched_on
        self._url = url
        self._shut = shut
        self._waiting: set[asyncio.Future[None]] = set()
        self._closed = False

    def routes(self) -> list[web.RouteDef]:
        """Return every route, for the application."""
        return [
            web.get("/", self._asset("inbox.html")),
            web.get("/inbox.css", self._asset("inbox.css")),
            web.get("/inbox.js", self._asset("inbox.js")),
            web.get("/openapi.json", self._description),
            web.get("/sandbox.json", self._about),
            web.get("/summary.json", self._summary),
            web.get("/inbox.json", self._inbox),
            web.delete("/inbox.json", self._clear),
            web.get("/balance.json", self._balance),
            web.post("/balance.json", _with_object(self._top_up)),
            web.get("/clock.json", self._clock),
            web.post("/clock.json", _with_object(self._move_clock)),
            web.get("/faults.json", self._list_faults),
            web.post("/faults.json", _with_object(self._switch_on)),
            web.delete("/faults.json", self._switch_off),
        ]

    # waiting

    def accepted(self) -> None:
        """Wake everyone who waits for a message."""
        for waiter in self._waiting:
            if not waiter.done():
                waiter.set_result(None)

    def close(self) -> None:
        """Let nobody wait any longer."""
        self._closed = True
        self.accepted()

    async def _wait_for(self, chosen: inbox.Filter) -> None:
        loop = asyncio.get_running_loop()
        end = loop.time() + chosen.wait
        while not self._closed and loop.time() < end and not inbox.find(self._state, chosen, limit=1):
            waiter = loop.create_future()
            self._waiting.add(waiter)
            try:
                await asyncio.wait_for(waiter, end - loop.time())
            except TimeoutError:
                return
            finally:
                self._waiting.discard(waiter)

    # messages

    async def _inbox(self, request: web.Request) -> web.StreamResponse:
        chosen = inbox.Filter.read(request.query)
        if chosen.wait:
            await self._wait_for(chosen)
        reply = web.StreamResponse(headers={"Content-Type": "application/json", "Cache-Control": "no-store"})
        await reply.prepare(request)
        for piece in inbox.pages(self._state, self._currency, replace(chosen, wait=0.0)):
            await reply.write(piece)
        await reply.write_eof()
        return reply

    async def _clear(self, _request: web.Request) -> web.Response:
        self._state.clear()
        return as_json(self._account())

    async def _summary(self, _request: web.Request) -> web.Response:
        return as_json(inbox.summary(self._state, self._currency))

    # account

    @property
    def _currency(self) -> str:
        return self._service.tariff.currency

    async def _about(self, _request: web.Request) -> web.Response:
        return as_json(self._account())

    async def _balance(self, _request: web.Request) -> web.Response:
        return as_json({"balance": money(self._state.balance), "currency": self._currency})

    async def _top_up(self, asked: Mapping[str, Any]) -> web.Response:
        more = wire.micros(asked.get("add"))
        if more is None or set(asked) != {"add"}:
            raise UsageError('send {"add": "12.50"}: an amount with at most six fractional digits')
        if self._state.balance + more >= MOST_MONEY:
            raise UsageError("that is more money than there is")
        self._state.top_up(more)
        return as_json({"balance": money(self._state.balance), "currency": self._currency})

    def _account(self) -> dict[str, Any]:
        return {
            "id": self._state.id,
            "variant": self._service.variant,
            "form": self._service.form,
            "hmac": self._service.rules.secret is not None,
            "currency": self._currency,
            "balance": money(self._state.balance),
            "messages": self._state.count(),
            "templates": sorted(self._service.templates),
        }

    # clock

    async def _clock(self, _request: web.Request) -> web.Response:
        return as_json(self._time())

    async def _move_clock(self, asked: Mapping[str, Any]) -> web.Response:
        known = {"advance", "at", "stopped", "reset"}
        if not asked or not set(asked) <= known:
            raise UsageError(
                'send one or more of {"advance": seconds, "at": "2030-01-01T00:00:00Z", "stopped": true, "reset": true}'
            )
        target = self._target(asked)
        if asked.get("reset"):
            self._service.clock.reset()
        if "stopped" in asked:
            (self._service.clock.stop if asked["stopped"] else self._service.clock.go)()
        if target is not None:
            self._service.clock.set(target)
        return as_json(self._time())

    def _target(self, asked: Mapping[str, Any]) -> int | None:
        """Return the moment asked for, in microseconds, read before anything is changed."""
        if not all(isinstance(asked.get(name, False), bool) for name in ("stopped", "reset")):
            raise UsageError("stopped and reset are true or false")
        now = self._service.clock.now()
        try:
            target = clock.micros(asked["at"]) if "at" in asked else None
            if "advance" in asked:
                seconds = Decimal(str(asked["advance"]))
                target = (now if target is None else target) + int(seconds * 1_000_000)
        except (ValueError, TypeError, AttributeError, InvalidOperation, OverflowError):
            raise UsageError("advance is a number of seconds, at a moment such as 2030-01-01T00:00:00Z") from None
        if target is not None and abs(target - now) > FAR * 1_000_000:
            raise UsageError("that is more than 400 years away")
        return target

    def _time(self) -> dict[str, Any]:
        time = self._service.clock
        return {"now": clock.moment(time.now()), "ahead": round(time.offset, 3), "stopped": time.stopped}

    # faults

    async def _list_faults(self, _request: web.Request) -> web.Response:
        return as_json(faults.to_json(self._faults))

    async def _switch_on(self, asked: Mapping[str, Any]) -> web.Response:
        fault = faults.Fault.read(asked)
        if fault.kind == "refuse":
            await self._shut(fault.seconds)
        else:
            self._faults.switch_on(fault)
        return as_json(faults.to_json(self._faults))

    async def _switch_off(self, request: web.Request) -> web.Response:
        kind = request.query.get("kind")
        if kind is not None and kind not in faults.BY_NAME:
            raise UsageError(f"kind must be one of {', '.join(faults.BY_NAME)}, got {kind!r}")
        self._faults.switch_off(kind)
        return as_json(faults.to_json(self._faults))

    # page and description

    async def _description(self, _request: web.Request) -> web.Response:
        described = json.loads((files(__package__) / "openapi.json").read_text(encoding="utf-8"))
        return as_json(described | {"servers": [{"url": self._url}]})

    @staticmethod
    def _asset(name: str) -> Handler:
        async def send(_request: web.Request) -> web.Response:
            body = (files(__package__) / "page" / name).read_bytes()
            guarded = {
                "Content-Security-Policy": POLICY,
                "X-Content-Type-Options": "nosniff",
                "Cache-Control": "no-cache",
            }
            return web.Response(body=body, content_type=ASSETS[name], charset="utf-8", headers=guarded)

        return send


def as_json(value: Any, *, status: int = 200, headers: Mapping[str, str] | None = None) -> web.Response:
    """Return a reply of JSON."""
    body = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    return web.Response(body=body, status=status, content_type="application/json", headers=headers)


def _with_object(act: Callable[[Mapping[str, Any]], Awaitable[web.Response]]) -> Handler:
    """Let in JSON objects only; a page elsewhere cannot send that content type without being asked first."""

    async def handle(request: web.Request) -> web.StreamResponse:
        if request.content_type != "application/json":
            raise UsageError("send a JSON object, with Content-Type: application/json")
        try:
            asked = json.loads(await request.read())
        except (ValueError, RecursionError):
            raise UsageError("the body is not JSON") from None
        if not isinstance(asked, dict):
            raise UsageError("the body is not a JSON object")
        return await act(asked)

    return handle
