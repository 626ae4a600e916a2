"""What the sandbox offers beside the interface: inbox, balance, clock, faults, its page and its description."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from importlib.resources import files
from typing import Any

from aiohttp import web

from .. import wire
from ..errors import UsageError
from . import clock, expect, faults, inbox, journal, misses
from .account import Account
from .outcome import as_bytes
from .service import money

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

FAR: float = 400 * 366 * 86_400.0  # seconds; further no test of a lifetime goes
MOST_MONEY = 10**18  # millionths; what SQLite counts exactly
LOOK_AGAIN = 1.0  # seconds after which a waiting reader that has left is noticed
ASSETS: Mapping[str, str] = {"inbox.html": "text/html", "inbox.css": "text/css", "inbox.js": "text/javascript"}
# The page loads nothing from elsewhere and runs no script but its own.
POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'"
)


class Desk:
    """Answers everything but the three operations.

    Args:
        account: whose messages, balance, clock, faults and requests it shows.
        url: the sandbox's own address.
        shut: called with seconds to refuse connections for so long.
    """

    def __init__(self, account: Account, url: str, *, shut: Callable[[float], Awaitable[None]]) -> None:
        self._account = account
        self._service = account.service
        self._state = account.state
        self._faults = account.faults
        self._url = url
        self._shut = shut

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
            web.get("/requests.json", self._requests),
            web.delete("/requests.json", self._forget_requests),
            web.post("/expect.json", self._expect),
            web.get("/balance.json", self._balance),
            web.post("/balance.json", _with_object(self._top_up)),
            web.get("/clock.json", self._clock),
            web.post("/clock.json", _with_object(self._move_clock)),
            web.get("/faults.json", self._list_faults),
            web.post("/faults.json", _with_object(self._switch_on)),
            web.delete("/faults.json", self._switch_off),
        ]

    # waiting

    async def _wait(self, seconds: float, found: Callable[[], bool], request: web.Request) -> None:
        """Return when something is found, after so many seconds, or when the client has left."""
        loop = asyncio.get_running_loop()
        end = loop.time() + seconds
        while not found() and not self._account.bell.closed and _is_there(request) and loop.time() < end:
            await self._account.bell.wait(min(end - loop.time(), LOOK_AGAIN))

    # messages

    async def _inbox(self, request: web.Request) -> web.StreamResponse:
        chosen = inbox.Filter.read(request.query)
        if chosen.wait:
            await self._wait(chosen.wait, lambda: bool(inbox.find(self._state, chosen, limit=1)), request)
        return await _stream(request, inbox.pages(self._state, self._currency, replace(chosen, wait=0.0)))

    async def _clear(self, _request: web.Request) -> web.Response:
        self._state.clear()
        return as_json(self._account_facts())

    # requests

    async def _requests(self, request: web.Request) -> web.StreamResponse:
        wanted = journal.Wanted.read(request.query)
        if wanted.wait:
            await self._wait(wanted.wait, lambda: any(self._account.journal.select(wanted)), request)
        return await _stream(request, journal.pages(self._account.journal, wanted))

    async def _expect(self, request: web.Request) -> web.Response:
        expectation = expect.Expectation.read(await _object(request))
        count = await self._counted(expectation, request)
        told = {"met": expectation.met(count.found), "expected": expectation.describe(), "found": count.found}
        if told["met"]:
            return as_json(told | {"messages": [inbox.entry(row, self._currency) for row in count.rows]})
        about = (expectation, count, self._state, self._account.journal)
        return as_json(told | {"error": misses.summary(*about), "misses": misses.nearest(*about)}, status=409)

    async def _counted(self, expectation: expect.Expectation, request: web.Request) -> expect.Count:
        """Return the count of what is expected once nothing can change it any more, or its time has passed."""
        count = expect.Count(expectation, self._state)
        loop = asyncio.get_running_loop()
        end = loop.time() + expectation.within
        while True:
            while count.look():
                await asyncio.sleep(0)
            left = end - loop.time()
            if expectation.decided(count.found) or left <= 0 or self._account.bell.closed or not _is_there(request):
                return count
            await self._account.bell.wait(min(left, LOOK_AGAIN))

    async def _forget_requests(self, _request: web.Request) -> web.Response:
        self._account.journal.clear()
        return as_json(self._account_facts())

    async def _summary(self, _request: web.Request) -> web.Response:
        return as_json(inbox.summary(self._state, self._currency))

    # account

    @property
    def _currency(self) -> str:
        return self._service.tariff.currency

    async def _about(self, _request: web.Request) -> web.Response:
        return as_json(self._account_facts())

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

    def _account_facts(self) -> dict[str, Any]:
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


async def _stream(request: web.Request, pieces: Iterable[bytes]) -> web.StreamResponse:
    """Write a long reply of JSON piece by piece, so that others are answered in between."""
    reply = web.StreamResponse(headers={"Content-Type": "application/json", "Cache-Control": "no-store"})
    await reply.prepare(request)
    for piece in pieces:
        await reply.write(piece)
    await reply.write_eof()
    return reply


def _is_there(request: web.Request) -> bool:
    return request.transport is not None and not request.transport.is_closing()


def as_json(value: Any, *, status: int = 200, headers: Mapping[str, str] | None = None) -> web.Response:
    """Return a reply of JSON."""
    return web.Response(body=as_bytes(value), status=status, content_type="application/json", headers=headers)


def _with_object(act: Callable[[Mapping[str, Any]], Awaitable[web.Response]]) -> Handler:
    async def handle(request: web.Request) -> web.StreamResponse:
        return await act(await _object(request))

    return handle


async def _object(request: web.Request) -> Mapping[str, Any]:
    """Let in JSON objects only; a page elsewhere cannot send that content type without being asked first."""
    if request.content_type != "application/json":
        raise UsageError("send a JSON object, with Content-Type: application/json")
    try:
        asked = json.loads(await request.read())
    except (ValueError, RecursionError):
        raise UsageError("the body is not JSON") from None
    if not isinstance(asked, dict):
        raise UsageError("the body is not a JSON object")
    return asked
