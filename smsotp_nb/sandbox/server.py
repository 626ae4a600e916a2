"""The sandbox's service over HTTP on loopback, in a thread of its own or in the foreground."""

from __future__ import annotations

import asyncio
import json
import logging
import signal
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from aiohttp import web

from .. import wire
from ..errors import UsageError
from . import inbox
from .choices import Rules
from .service import MAX_BYTES, Answer, Service, money
from .state import State

HOST = "127.0.0.1"
NAMES = frozenset({"127.0.0.1", "localhost", "[::1]"})
REQUEST_ID = "x-uni-request-id"  # beyond the interface; the name clients in the field look for
DEFAULT_BALANCE = 1_000
HOW_LONG_TO_STOP = 5.0

log = logging.getLogger("smsotp_nb.sandbox")


class Server:
    """One sandbox: its state, its service and its socket; nothing runs before ``start`` or ``run``.

    Args:
        port: 0 takes a free one.
        state: path of a file that keeps everything, or None.
        variant, form: which of the interface's forms is spoken.
        balance: what a new state begins with, in the variant's currency; None takes 1,000.
        seed: makes ids and passcodes of a new state repeatable.
        rules: the switchable choices.

    Raises:
        UsageError: the port is taken, or the state file cannot be used.
    """

    def __init__(
        self,
        *,
        port: int = 0,
        state: str | Path | None = None,
        variant: wire.Variant = "intl",
        form: wire.Form = "current",
        balance: str | float | Decimal | None = None,
        seed: int | str | None = None,
        rules: Rules | None = None,
    ) -> None:
        _check(variant, form)
        begin = millionths(DEFAULT_BALANCE if balance is None else balance)
        self.state = State(state, variant=variant, balance=begin, seed=None if seed is None else str(seed))
        try:
            self._socket = _listen(port)
        except UsageError:
            self.state.close()
            raise
        self.port: int = self._socket.getsockname()[1]
        self.url = f"http://{HOST}:{self.port}"
        self.service = Service(self.state, variant=variant, form=form, rules=rules)
        self._requests = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._thread: threading.Thread | None = None
        self._ready = threading.Event()

    # life

    def start(self) -> None:
        """Serve from a daemon thread; returns when it answers."""
        self._thread = threading.Thread(target=self._in_thread, name=f"smsotp-sandbox-{self.port}", daemon=True)
        self._thread.start()
        self._ready.wait()

    def close(self) -> None:
        """End the server's thread and free its port and its state; a second call does nothing."""
        if self._thread is None:
            self._socket.close()
            self.state.close()
        elif self._loop is not None and self._stop is not None:
            with suppress(RuntimeError):  # the loop has ended by itself
                self._loop.call_soon_threadsafe(self._stop.set)
            self._thread.join(HOW_LONG_TO_STOP)

    def run(self, announce: Callable[[str], None]) -> None:
        """Serve in the foreground until SIGINT or SIGTERM; ``announce`` hears the address once it answers."""
        asyncio.run(self._serve(lambda: announce(self.url), signals=True))

    def _in_thread(self) -> None:
        try:
            asyncio.run(self._serve(self._ready.set))
        finally:
            self._ready.set()

    async def _serve(self, ready: Callable[[], None], *, signals: bool = False) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        if signals:
            for number in (signal.SIGINT, signal.SIGTERM):
                self._loop.add_signal_handler(number, self._stop.set)
        runner = web.AppRunner(self._application(), access_log=None, handle_signals=False, shutdown_timeout=1.0)
        await runner.setup()
        try:
            await web.SockSite(runner, self._socket).start()
            ready()
            await self._stop.wait()
        finally:
            await runner.cleanup()
            self.state.close()

    # requests

    def _application(self) -> web.Application:
        app = web.Application(client_max_size=MAX_BYTES, middlewares=[self._guard])
        app.router.add_get("/sandbox.json", self._about)
        app.router.add_get("/inbox.json", self._inbox)
        app.router.add_post("/balance.json", self._top_up)
        return app

    @web.middleware
    async def _guard(self, request: web.Request, handler: Callable[[web.Request], Any]) -> web.StreamResponse:
        """Let in only those who name a loopback host; pages of other addresses are turned away by their Origin."""
        host = request.headers.get("Host", "")
        origin = request.headers.get("Origin")
        if host.rpartition(":")[0] not in NAMES and host not in NAMES:
            return _json({"error": f"this sandbox answers only to {self.url}"}, status=403)
        if origin is not None and origin != f"http://{host}":
            return _json({"error": "this sandbox does not answer pages of other addresses"}, status=403)
        if request.method == "POST" and not request.path.strip("/"):  # "/", "//", or nothing at all
            return await self._operation(request)
        answer: web.StreamResponse = await handler(request)
        return answer

    async def _operation(self, request: web.Request) -> web.Response:
        self._requests += 1
        request_id = self.state.mark(f"request of {self.state.id}", self._requests).hex()
        try:
            raw = await request.read()
        except web.HTTPRequestEntityTooLarge:
            answer = self.service.refuse("104002")
        else:
            answer = self.service.answer(request.query, request.content_type, raw)
        self._note(request, answer)
        return _json(answer.envelope, status=answer.status, headers={REQUEST_ID: request_id})

    def _note(self, request: web.Request, answer: Answer) -> None:
        code = answer.envelope["code"]
        log.debug("%s -> %s %s, %d accepted", request.query.get("action"), answer.status, code, answer.accepted)

    async def _about(self, _request: web.Request) -> web.Response:
        return _json(self._account() | {"id": self.state.id, "messages": self.state.count()})

    async def _inbox(self, request: web.Request) -> web.StreamResponse:
        reply = web.StreamResponse(headers={"Content-Type": "application/json", "Cache-Control": "no-store"})
        await reply.prepare(request)
        for piece in inbox.pages(self.state, self.service.tariff.currency, to=request.query.get("to")):
            await reply.write(piece)
        await reply.write_eof()
        return reply

    async def _top_up(self, request: web.Request) -> web.Response:
        try:
            fields = json.loads(await request.read())
            more = wire.micros(fields["add"])
        except (ValueError, TypeError, KeyError, RecursionError):
            more = None
        if request.content_type != "application/json" or more is None:
            return _json({"error": 'send {"add": "12.50"}: an amount with at most six fractional digits'}, status=400)
        self.state.top_up(more)
        return _json(self._account())

    def _account(self) -> dict[str, Any]:
        return {
            "variant": self.service.variant,
            "form": self.service.form,
            "currency": self.service.tariff.currency,
            "balance": money(self.state.balance),
        }


def run(announce: Callable[[str], None], **options: Any) -> None:
    """Run a sandbox in the foreground until Ctrl-C or SIGTERM; the options are those of `Server`."""
    Server(**options).run(announce)


def _json(value: Any, *, status: int = 200, headers: dict[str, str] | None = None) -> web.Response:
    body = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    return web.Response(body=body, status=status, content_type="application/json", headers=headers)


def _listen(port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((HOST, port))
    except (OSError, OverflowError) as error:
        listener.close()
        raise UsageError(f"port {port} cannot be used ({error}); take another one, or 0 for a free one") from None
    listener.listen(128)
    return listener


def _check(variant: str, form: str) -> None:
    if variant not in ("intl", "cn"):
        raise UsageError(f"variant must be 'intl' or 'cn', got {variant!r}")
    if form not in ("current", "earlier"):
        raise UsageError(f"form must be 'current' or 'earlier', got {form!r}")


def millionths(amount: str | float | Decimal) -> int:
    """Return an amount of money in millionths, rounded to them.

    Example:
        >>> millionths(12.5), millionths("0.0075")
        (12500000, 7500)
    """
    try:
        exact = Decimal(str(amount)).quantize(Decimal("0.000001"))
    except InvalidOperation:
        raise UsageError(f"an amount such as 12.50 was expected, got {amount!r}") from None
    found = wire.micros(exact)
    if found is None:
        raise UsageError(f"an amount of zero or more was expected, got {amount!r}")
    return found


def is_loopback(url: str) -> bool:
    """Say whether an address is one of this machine."""
    return urlsplit(url).hostname in {"127.0.0.1", "localhost", "::1"}
