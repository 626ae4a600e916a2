"""The sandbox's service over HTTP, on loopback unless told otherwise, in a thread of its own or in the foreground."""

from __future__ import annotations

import asyncio
import signal
import socket
import struct
import threading
import warnings
from collections.abc import Callable, Iterable
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from aiohttp import web

from .. import wire
from ..errors import SmsOtpWarning, UsageError
from . import gate
from .account import Account, Received
from .choices import Rules
from .desk import Desk, as_json
from .faults import Fault, Faults
from .outcome import Outcome
from .service import MAX_BYTES, millionths
from .tenants import LIMIT_EXCEEDED, Options, Tenants

HOST = "127.0.0.1"
REQUEST_ID = "x-uni-request-id"  # beyond the interface; the name clients in the field look for
DEFAULT_BALANCE = 1_000
HOW_LONG_TO_STOP = 5.0
GOODBYE = 0.05  # seconds for the reply to the one who asks for refused connections
RESET = struct.pack("ii", 1, 0)  # SO_LINGER: closing sends a reset


class Server:
    """One sandbox: its state, its service and its socket; nothing runs before ``start`` or ``run``.

    Args:
        port: 0 takes a free one.
        state: path of a file that keeps everything, or None.
        variant, form: which of the interface's forms is spoken.
        balance: what a new state begins with, in the variant's currency; None takes 1,000.
        seed: makes ids and passcodes of a new state repeatable.
        rules: the switchable choices.
        faults: faults that are on from the start, as `Fault.read` takes them.
        tenants: whether every access key has an account of its own.
        host: where to listen; anything but loopback lets others in, and is warned of.

    Raises:
        UsageError: the port is taken, the state or the templates file cannot be used, or a fault is none.
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
        faults: Iterable[Fault | str] = (),
        tenants: bool = False,
        host: str = HOST,
    ) -> None:
        _check(variant, form)
        self._open = not _is_loopback(host)
        if self._open:
            said = f"the sandbox listens on {host}: everyone who reaches this machine can read its inbox"
            warnings.warn(said, SmsOtpWarning, stacklevel=3)
        options = Options(
            variant=variant,
            form=form,
            balance=millionths(DEFAULT_BALANCE if balance is None else balance),
            seed=None if seed is None else str(seed),
            rules=rules or Rules(),
            faults=_readable(faults),
        )
        account = options.account(None if state is None else Path(state).expanduser().absolute())
        try:
            self.tenants = Tenants(account, options, on=tenants)
            self._socket = _listen(host, port)
        except UsageError:
            account.close()
            raise
        self.port: int = self._socket.getsockname()[1]
        self._host = host
        name = HOST if self._open else f"[{host}]" if ":" in host else host
        self.url = f"http://{name}:{self.port}"
        self._gate = gate.Gate()
        self._desk = Desk(self.tenants, self.url, shut=self._shut)
        self._runner: web.AppRunner | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._shutting: asyncio.Task[None] | None = None
        self._thread: threading.Thread | None = None
        self._ready = threading.Event()

    @property
    def account(self) -> Account:
        """The sandbox's own account; with tenants the one of nobody."""
        return self.tenants.own

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
            self.tenants.close()
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
        app = web.Application(client_max_size=MAX_BYTES, middlewares=[self._guard])
        app.add_routes(self._desk.routes())
        self._runner = web.AppRunner(app, access_log=None, handle_signals=False, shutdown_timeout=1.0)
        await self._runner.setup()
        try:
            await web.SockSite(self._runner, self._socket).start()
            self.tenants.begin()
            ready()
            await self._stop.wait()
        finally:
            self.tenants.ring_last()
            await self._runner.cleanup()
            self.tenants.close()

    # requests

    @web.middleware
    async def _guard(self, request: web.Request, handler: Callable[[web.Request], Any]) -> web.StreamResponse:
        asked = _asked(request)
        is_operation = request.method == "POST" and not request.path.strip("/")  # "/", "//", or nothing at all
        refusal = self._gate.of_strangers(asked) or (None if is_operation else self._gate.of_pages(asked))
        if refusal:
            return as_json({"error": refusal.why}, status=refusal.status)
        if is_operation:
            return await self._operation(request)
        try:
            answer: web.StreamResponse = await handler(request)
        except UsageError as error:
            return as_json({"error": str(error)}, status=400)
        except web.HTTPException as error:
            return as_json({"error": error.reason}, status=error.status)
        except ConnectionError:  # the reader has left meanwhile
            return web.Response()
        return answer

    async def _operation(self, request: web.Request) -> web.StreamResponse:
        body: bytes | None
        try:
            body = await request.read()
        except web.HTTPRequestEntityTooLarge:
            body = None
        received = Received(
            request.method, request.raw_path, request.raw_headers, request.query, request.content_type, body
        )
        account = self.tenants.of(request.query.get("accessKeyId", ""))
        if account is None:
            outcome, request_id = await self.account.meet(received, refusal=LIMIT_EXCEEDED)
        else:
            outcome, request_id = await account.meet(received)
        return await _carry_out(request, outcome, {REQUEST_ID: request_id, **gate.OF_OPERATIONS, **outcome.headers})

    # faults

    async def _shut(self, seconds: float) -> None:
        """Refuse connections from now on; listen at the same port again after a while."""
        assert self._runner is not None
        for site in tuple(self._runner.sites):
            await site.stop()
        self._shutting = asyncio.get_running_loop().create_task(self._open_again(seconds))

    async def _open_again(self, seconds: float) -> None:
        assert self._runner is not None
        assert self._runner.server is not None
        await asyncio.sleep(GOODBYE)
        for connection in self._runner.server.connections:
            if connection.transport is not None:
                connection.transport.close()
        await asyncio.sleep(seconds)
        while True:
            try:
                self._socket = _listen(self._host, self.port)
                break
            except UsageError:  # another program has the port for a moment
                await asyncio.sleep(GOODBYE)
        await web.SockSite(self._runner, self._socket).start()


def _asked(request: web.Request) -> gate.Asked:
    address = "" if request.transport is None else str(request.transport.get_extra_info("sockname")[0])
    return gate.Asked(request.method, request.path, request.query, request.headers, address)


def run(announce: Callable[[str], None], **options: Any) -> None:
    """Run a sandbox in the foreground until Ctrl-C or SIGTERM; the options are those of `Server`."""
    Server(**options).run(announce)


async def _carry_out(request: web.Request, outcome: Outcome, headers: dict[str, str]) -> web.StreamResponse:
    """Let the client of a request meet its outcome."""
    if outcome.seconds:
        await asyncio.sleep(outcome.seconds)
    if outcome.ending in ("reset", "closed"):
        return _hang_up(request, reset=outcome.ending == "reset")
    if outcome.ending == "half":
        return await _half(request, outcome, headers)
    return web.Response(body=outcome.body, status=outcome.status, content_type=outcome.content_type, headers=headers)


async def _half(request: web.Request, outcome: Outcome, headers: dict[str, str]) -> web.StreamResponse:
    """Announce a whole reply and hang up in the middle of it."""
    announced = {"Content-Type": outcome.content_type, "Content-Length": str(outcome.length)}
    reply = web.StreamResponse(headers=headers | announced)
    await reply.prepare(request)
    await reply.write(outcome.body)
    return _hang_up(request, reset=False)


def _hang_up(request: web.Request, *, reset: bool) -> web.StreamResponse:
    """Close the connection; what is returned is never written."""
    transport = request.transport
    if transport is not None:
        if reset:
            transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        transport.abort()
    return web.Response()


def _listen(host: str, port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except (OSError, OverflowError) as error:
        listener.close()
        raise UsageError(f"port {port} cannot be used ({error}); take another one, or 0 for a free one") from None
    listener.listen(128)
    return listener


def _readable(faults: Iterable[Fault | str]) -> tuple[Fault, ...]:
    found = tuple(Fault.read(fault) for fault in ([faults] if isinstance(faults, str) else faults))
    Faults(found)  # what cannot be on from the start is said before anything is opened
    return found


def _check(variant: str, form: str) -> None:
    if variant not in ("intl", "cn"):
        raise UsageError(f"variant must be 'intl' or 'cn', got {variant!r}")
    if form not in ("current", "earlier"):
        raise UsageError(f"form must be 'current' or 'earlier', got {form!r}")


def is_loopback(url: str) -> bool:
    """Say whether an address is one of this machine."""
    return _is_loopback(urlsplit(url).hostname or "")


def _is_loopback(host: str) -> bool:
    return host in {"127.0.0.1", "localhost", "::1"}
