"""The sandbox's own addresses beside the interface: inbox, balance, clock, faults, the page, the OpenAPI file."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from importlib.resources import files
from typing import Any

from aiohttp import web

from .. import _wire as wire
from .._schema import FARTHEST
from ..errors import UsageError
from . import inbox, parameters
from .access import HEADERS
from .account import Account
from .service import money
from .state import State
from .testing import expect, faults, journal
from .testing.faults import as_bytes

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

MOST_AT_ONCE = 10**15  # millionths
LONG, PAUSES = 0.05, 20  # seconds to add up an inbox; of so much more time is a long one added up once
LOOK_AGAIN = 1.0  # seconds after which a waiting reader that has left is noticed
ASSETS: Mapping[str, str] = {
    "inbox.html": "text/html",
    "inbox.css": "text/css",
    "inbox.js": "text/javascript",
    "requests.js": "text/javascript",
}


@dataclass(frozen=True, slots=True)
class Asked:
    """A request to the desk: the account that it is about, and the other parameters."""

    account: Account
    query: Mapping[str, str]
    request: web.Request

    @property
    def state(self) -> State:
        return self.account.state

    @property
    def currency(self) -> str:
        return self.account.service.tariff.currency

    @property
    def is_there(self) -> bool:
        """Whether the client still waits for the answer."""
        transport = self.request.transport
        return transport is not None and not transport.is_closing()

    async def fields(self) -> Mapping[str, Any]:
        """Read a JSON object. Other content types are refused: a page elsewhere could send them without a preflight."""
        if self.request.content_type != "application/json":
            raise UsageError("send a JSON object, with Content-Type: application/json")
        try:
            asked = json.loads(await self.request.read(), parse_float=parameters.json_number)
        except (ValueError, RecursionError):
            raise UsageError("the body is not JSON") from None
        if not isinstance(asked, dict):
            raise UsageError("the body is not a JSON object")
        return asked

    async def until(self, seconds: float, look: Callable[[], Awaitable[bool]]) -> None:
        """Look whenever something has happened, until there is something, time is up, or the client has left."""
        loop, bell = asyncio.get_running_loop(), self.account.bell
        end = loop.time() + seconds
        while not await look() and not bell.closed and self.is_there and (left := end - loop.time()) > 0:
            await bell.wait(min(left, LOOK_AGAIN))

    async def stream(self, pieces: Iterable[bytes]) -> web.StreamResponse:
        """Write a long JSON reply piece by piece, so that other requests are answered in between."""
        reply = web.StreamResponse(headers={**HEADERS, "Content-Type": "application/json", "Cache-Control": "no-store"})
        await reply.prepare(self.request)
        for piece in pieces:
            if piece:
                await reply.write(piece)
            await asyncio.sleep(0)  # writing alone does not wait while the buffer has room
        await reply.write_eof()
        return reply


Act = Callable[[Asked], Awaitable[web.StreamResponse]]


class Desk:
    """Answers everything but the three operations."""

    def __init__(self, account: Account, url: str, *, shut: Callable[[float], Awaitable[None]]) -> None:
        self._account = account
        self._url = url
        self._shut = shut

    def routes(self) -> list[web.RouteDef]:
        acts: list[tuple[str, str, Act]] = [
            ("GET", "/sandbox.json", _told(_facts)),
            ("GET", "/requests.json", _requests),
            ("DELETE", "/requests.json", _forget_requests),
            ("GET", "/summary.json", _summary),
            ("GET", "/inbox.json", _inbox),
            ("DELETE", "/inbox.json", _clear),
            ("POST", "/expect.json", _expect),
            ("GET", "/balance.json", _told(_balance)),
            ("POST", "/balance.json", _top_up),
            ("GET", "/clock.json", _told(_clock)),
            ("POST", "/clock.json", _move_clock),
            ("GET", "/faults.json", _told(_faults)),
            ("POST", "/faults.json", self._switch_on),
            ("DELETE", "/faults.json", _switch_off),
        ]
        pages = {"/" if name == "inbox.html" else f"/{name}": name for name in ASSETS}
        return [
            *(web.get(path, _asset(name)) for path, name in pages.items()),
            web.get("/openapi.json", self._description),
            *(web.route(method, path, self._route(act)) for method, path, act in acts),
        ]

    def _route(self, act: Act) -> Handler:
        async def handle(request: web.Request) -> web.StreamResponse:
            query = parameters.once(request.query)
            query.pop("token", None)  # the gate has looked at it
            return await act(Asked(self._account, query, request))

        return handle

    async def _description(self, _request: web.Request) -> web.Response:
        described = json.loads((files(__package__) / "openapi.json").read_text(encoding="utf-8"))
        return as_json(described | {"servers": [{"url": self._url}]})

    async def _switch_on(self, asked: Asked) -> web.Response:
        fault = faults.Fault.read(await asked.fields())
        if fault.kind == "refuse":
            await self._shut(fault.seconds)
        else:
            asked.account.faults.switch_on(fault)
        return as_json(_faults(asked))


def _told(say: Callable[[Asked], Any]) -> Act:
    async def act(asked: Asked) -> web.StreamResponse:
        return as_json(say(asked))

    return act


async def _inbox(asked: Asked) -> web.StreamResponse:
    chosen = inbox.Filter.read(asked.query)
    looked, state = chosen.after, asked.state

    async def is_any() -> bool:
        nonlocal looked
        new, looked = replace(chosen, after=looked), max(looked, state.last)
        return bool(inbox.find(state, new, limit=1))

    if chosen.wait:
        await asked.until(chosen.wait, is_any)
    return await asked.stream(inbox.pages(state, asked.currency, chosen))


async def _clear(asked: Asked) -> web.Response:
    chosen = asked.query.get("id")  # empty is a slip, not everything
    if set(asked.query) - {"id"}:
        raise UsageError("DELETE /inbox.json takes id, the id of one message, or nothing")
    asked.account.summed = 0.0, {}
    if chosen is None:
        asked.account.journal.clear()
        asked.state.clear()
    elif not asked.state.forget(chosen):
        return as_json({"error": "there is no message with this id"}, status=404)
    return as_json(_facts(asked))


async def _summary(asked: Asked) -> web.Response:
    clock, account = asyncio.get_running_loop().time, asked.account
    began, (until, told) = clock(), account.summed
    if began >= until:
        told = inbox.summary(asked.state, asked.currency)
        took = clock() - began  # in which nobody else is answered: of a long inbox it stands for a while
        account.summed = began + PAUSES * took * (took > LONG), told
    return as_json(told | {"balance": money(asked.state.balance)})


async def _requests(asked: Asked) -> web.StreamResponse:
    wanted = journal.Wanted.read(asked.query)
    looked, kept = wanted.after, asked.account.journal

    async def is_any() -> bool:
        nonlocal looked
        new, looked = replace(wanted, after=looked, limit=None), max(looked, kept.last)
        return any(kept.select(new))

    if wanted.wait:
        await asked.until(wanted.wait, is_any)
    return await asked.stream(journal.pages(kept, wanted))


async def _forget_requests(asked: Asked) -> web.Response:
    asked.account.journal.clear()
    return as_json(_facts(asked))


async def _expect(asked: Asked) -> web.Response:
    expectation = expect.Expectation.read(await asked.fields())
    count = await _counted(expectation, asked)
    told = {"met": expectation.met(count.found), "expected": expectation.describe(), "found": count.found}
    if told["met"]:
        return as_json(told | {"messages": [inbox.entry(row, asked.currency) for row in count.rows]})
    about = (expectation, count, asked.state, asked.account.journal)
    return as_json(told | {"error": expect.summary(*about), "misses": expect.nearest(*about)}, status=409)


async def _counted(expectation: expect.Expectation, asked: Asked) -> expect.Count:
    """Return the count of expected messages as soon as nothing can change the outcome, or when time is up."""
    count = expect.Count(expectation, asked.state)
    loop, bell = asyncio.get_running_loop(), asked.account.bell
    end, settling = loop.time() + expectation.within, False
    while True:
        while count.look():
            await asyncio.sleep(0)
        if not settling and expectation.settles(count.found):
            settling, end = True, loop.time() + expectation.settle
        left = end - loop.time()
        is_certain = expectation.decided(count.found) and not expectation.settles(count.found)
        if is_certain or left <= 0 or bell.closed or not asked.is_there:
            return count
        await bell.wait(min(left, LOOK_AGAIN))


def _facts(asked: Asked) -> dict[str, Any]:
    service = asked.account.service
    return {
        "id": asked.state.id,
        "variant": service.variant,
        "form": service.form,
        "hmac": service.rules.secret is not None,
        **_balance(asked),
        "messages": asked.state.count(),
        "templates": sorted(service.templates),
    }


def _balance(asked: Asked) -> dict[str, Any]:
    return {"balance": money(asked.state.balance), "currency": asked.currency}


async def _top_up(asked: Asked) -> web.Response:
    fields = await asked.fields()
    more = wire.micros(fields.get("add"))
    if more is None or more >= MOST_AT_ONCE or set(fields) != {"add"}:
        raise UsageError('send {"add": "12.50"}: less than 1,000,000,000, with at most six fractional digits')
    if asked.state.balance + more > FARTHEST:
        raise UsageError("that is more money than there is")
    asked.state.top_up(more)
    return as_json(_balance(asked))


def _clock(asked: Asked) -> dict[str, Any]:
    return asked.account.service.clock.told()


async def _move_clock(asked: Asked) -> web.Response:
    asked.account.service.clock.move(await asked.fields())
    asked.account.bell.ring()
    return as_json(_clock(asked))


def _faults(asked: Asked) -> dict[str, Any]:
    kinds = [{"kind": one.name, "when": one.when, "meaning": one.meaning, "uses": one.uses} for one in faults.KINDS]
    return {"faults": [asdict(fault) for fault in asked.account.faults], "kinds": kinds}


async def _switch_off(asked: Asked) -> web.Response:
    kind = asked.query.get("kind")
    if kind is not None and kind not in faults.BY_NAME:
        raise UsageError(f"kind must be one of {', '.join(faults.BY_NAME)}, got {kind!r}")
    asked.account.faults.switch_off(kind)
    return as_json(_faults(asked))


def _asset(name: str) -> Handler:
    async def send(_request: web.Request) -> web.Response:
        body = (files(__package__) / "page" / name).read_bytes()
        headers = {**HEADERS, "Cache-Control": "no-cache"}
        return web.Response(body=body, content_type=ASSETS[name], charset="utf-8", headers=headers)

    return send


def as_json(value: Any, *, status: int = 200) -> web.Response:
    headers = {**HEADERS, "Cache-Control": "no-store"}
    return web.Response(body=as_bytes(value), status=status, content_type="application/json", headers=headers)
