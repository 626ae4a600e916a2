"""From an HTTP request to its reply: who is admitted, which operation or address is meant, what went wrong."""

from __future__ import annotations

import asyncio
import logging
import secrets
import signal
import socket
import struct
import sys
import threading
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from decimal import Decimal
from importlib.resources import files
from pathlib import Path
from posixpath import normpath
from typing import Any, Final

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

from .. import _wire as wire
from .._warnings import warn_user
from ..errors import UsageError
from . import access
from .access import HOST, OWN, Gate
from .account import Account, Received
from .choices import Rules
from .desk import ASSETS, Desk, as_json
from .service import INVALID_PARAMS, MAX_BYTES, Answer, Service, millionths
from .state import State
from .testing.faults import Fault, Faults, Outcome

REQUEST_ID: Final = "X-Uni-Request-Id"  # beyond the interface; one client in the field compares its case
UNAUTHORIZED: Final = "105001"
RESET: Final = struct.pack("ii", 1, 0)  # SO_LINGER: closing sends a reset

UNREADABLE: Final = (HttpProcessingError, web.RequestPayloadError)

Handler = Callable[[Any], Awaitable[web.StreamResponse]]

log = logging.getLogger("smsotp_nb.sandbox")


class OneLine(logging.LoggerAdapter[logging.Logger]):
    """Logs bytes that are not HTTP in one line; errors of our own keep their traceback."""

    def exception(self, msg: object, *args: object, exc_info: Any = True, **kwargs: Any) -> None:
        if isinstance(exc_info, UNREADABLE):
            # its message cites the address of the request, in which the key stands
            self.warning("a request that is no HTTP was refused: %s", type(exc_info).__name__)
        else:
            super().exception(msg, *args, exc_info=exc_info, **kwargs)


class Serving:
    """Answers every request of one sandbox."""

    def __init__(self, guard: access.Gate, account: Account, routes: list[web.RouteDef]) -> None:
        self._gate = guard
        self._account = account
        self._handlers: dict[tuple[str, str], Handler] = {(route.method, route.path): route.handler for route in routes}
        self._paths = {route.path for route in routes}

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        path, query = request.path, request.query
        is_operation = request.method == "POST" and _is_root(path)
        asked = access.Asked(request.method, path, query, request.headers, _reached(request))
        refusal = self._gate.of_strangers(asked)
        if is_operation and refusal is None:
            try:
                received = await _received(request, query)
            except ConnectionError:  # the client has left in the middle of it
                return web.Response()
            outcome, request_id = await self._account.meet(received)
            return await _carry_out(request, outcome, request_id)
        is_stray = is_operation or path not in self._paths
        refusal = refusal or self._gate.of_pages(asked)
        if refusal is None and (is_stray or path not in PUBLIC):
            refusal = self._gate.of_the_unknown(asked)
        if is_stray:
            return await self._stray(request, query, refusal)
        if refusal is not None:
            return _sign_in() if refusal.status == 401 and path == "/" else _refused(refusal)
        answer = await self._own(request, path)
        if path == "/" and self._gate.token is not None and "token" in request.query:
            self._remember(answer)
        return answer

    async def _own(self, request: web.BaseRequest, path: str) -> web.StreamResponse:
        handler = self._handlers.get((request.method, path))
        if handler is None and request.method == "HEAD":
            handler = self._handlers.get(("GET", path))
        if handler is None:
            allowed = {method for method, served in self._handlers if served == path}
            allowed |= {"HEAD"} if "GET" in allowed else set()
            allowed |= {"POST"} if _is_root(path) else set()
            answer = as_json({"error": "Method Not Allowed"}, status=405)
            answer.headers["Allow"] = ", ".join(sorted(allowed))
            return answer
        try:
            return await handler(request)
        except UsageError as error:
            return as_json({"error": str(error)}, status=400)
        except web.HTTPRequestEntityTooLarge:
            return as_json({"error": f"a request has at most {MAX_BYTES:,} bytes"}, status=413)
        except UNREADABLE:
            return as_json({"error": "the body cannot be read as its headers say"}, status=400)
        except ConnectionError:  # the reader has left meanwhile
            return web.Response()

    def _remember(self, answer: web.StreamResponse) -> None:
        """Keep the token in a cookie, and open the page again without the token in its address."""
        answer.set_cookie(self._gate.cookie, str(self._gate.token), httponly=True, samesite="Strict")
        answer.headers["Refresh"] = "0; url=/"

    async def _stray(
        self, request: web.BaseRequest, query: Mapping[str, str], refusal: access.Refusal | None
    ) -> web.StreamResponse:
        """Refuse a POST to an unknown path in the envelope of the operations, which some clients expect everywhere."""
        if request.method != "POST" and "action" not in query:
            return _refused(refusal or access.Refusal(404, "Not Found"))
        found = refusal or access.Refusal(404, "the operations are at POST /?action=<action>")
        envelope = self._account.service.refuse(INVALID_PARAMS if refusal is None else UNAUTHORIZED).envelope
        try:
            received = await _received(request, query)
        except ConnectionError:
            return web.Response()
        told = Answer(found.status, {**envelope, "error": found.why})
        answer = _refused(found, envelope)
        answer.headers[REQUEST_ID] = self._account.turn_away(received, told)
        return answer


PUBLIC: Final = frozenset(f"/{name}" for name in ASSETS if not name.endswith(".html"))


async def _received(request: web.BaseRequest, query: Mapping[str, str]) -> Received:
    """Read a request to its end.

    Raises:
        ConnectionError: the client left before that."""
    body: bytes | None
    try:
        body = await request.read()
    except (web.HTTPRequestEntityTooLarge, *UNREADABLE):
        body = None
    return Received(request.method, request.raw_path, request.raw_headers, query, request.content_type, body)


def _is_root(path: str) -> bool:
    """Return whether a path is the root: "/", "//", nothing at all, or one like "/otp.send/.." of the OpenAPI file."""
    return normpath(f"/{path.lstrip('/')}") == "/"


def _reached(request: web.BaseRequest) -> str:
    """Return the address of this machine at which the connection came in."""
    return "" if request.transport is None else str(request.transport.get_extra_info("sockname")[0])


def _refused(refusal: access.Refusal, envelope: Mapping[str, Any] | None = None) -> web.Response:
    return as_json({**(envelope or {}), "error": refusal.why}, status=refusal.status)


def _sign_in() -> web.Response:
    body = (files(__package__) / "page" / "sign_in.html").read_bytes()
    headers = {**access.HEADERS, "Cache-Control": "no-store", "WWW-Authenticate": "Bearer"}
    return web.Response(body=body, status=401, content_type="text/html", charset="utf-8", headers=headers)


async def _carry_out(request: web.BaseRequest, outcome: Outcome, request_id: str) -> web.StreamResponse:
    headers = {REQUEST_ID: request_id, **access.OF_OPERATIONS, **outcome.headers}
    if outcome.seconds:
        await asyncio.sleep(outcome.seconds)
    if outcome.transfer in ("reset", "closed"):
        return _hang_up(request, reset=outcome.transfer == "reset")
    if outcome.transfer == "half":
        announced = {"Content-Type": outcome.content_type, "Content-Length": str(outcome.length)}
        reply = web.StreamResponse(headers=headers | announced)
        await reply.prepare(request)
        await reply.write(outcome.body)
        return _hang_up(request, reset=False)
    headers["Content-Type"] = outcome.content_type
    return web.Response(body=outcome.body, status=outcome.status, headers=headers)


def _hang_up(request: web.BaseRequest, *, reset: bool) -> web.StreamResponse:
    """Close the connection; the returned response is never sent."""
    transport = request.transport
    if transport is not None:
        if reset:
            transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        transport.abort()
    return web.Response()


EVERYWHERE = frozenset({"0.0.0.0", "::", ""})
DEFAULT_BALANCE = 1_000
HOW_LONG_TO_STOP = 5.0
TURNS_TO_ACCEPT = 4  # of the event loop, until a connection is one that the server knows and closes
GOODBYE = 0.05  # seconds for the reply to the one who asks for refused connections


class Server:
    """One sandbox: its state, its service and its socket; nothing runs before ``start`` or ``run``.

    The arguments are those of `Sandbox`, which has checked their kinds.

    Raises:
        UsageError: the port is taken, the state or the templates file cannot be used, or a fault is invalid.
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
        host: str = HOST,
        allow_hosts: Iterable[str] = (),
        token: str | None = None,
    ) -> None:
        is_open = host not in OWN
        self.token = token or (secrets.token_urlsafe(24) if is_open else None)
        if is_open:
            said = f"the sandbox listens on {host}: other machines can send, and read its inbox with the token"
            warn_user(said)
        switched_on = Faults(Fault.read(fault) for fault in ([faults] if isinstance(faults, str) else faults))
        path = None if state is None else Path(state).expanduser().absolute()
        money = millionths(DEFAULT_BALANCE if balance is None else balance)
        opened = State(path, variant=variant, balance=money, seed=None if seed is None else str(seed))
        try:
            self.account = Account(Service(opened, variant=variant, form=form, rules=rules), switched_on)
            self._socket = _listen(host, port)
        except UsageError:
            opened.close()
            raise
        self._host = host
        self.port: int = self._socket.getsockname()[1]
        name = HOST if host in EVERYWHERE else f"[{host}]" if ":" in host else host
        self.url = f"http://{name}:{self.port}"
        self._gate = Gate(allow_hosts, token=self.token, cookie=f"smsotp-sandbox-{self.port}")
        self._desk = Desk(self.account, self.url, shut=self._shut)
        self._runner: web.ServerRunner | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._shutting: asyncio.Task[None] | None = None
        self._thread: threading.Thread | None = None
        self._ready = threading.Event()

    def start(self) -> None:
        """Serve from a daemon thread; returns when it answers."""
        self._thread = threading.Thread(target=self._in_thread, name=f"smsotp-sandbox-{self.port}", daemon=True)
        self._thread.start()
        self._ready.wait()

    def close(self) -> None:
        """End the server's thread and free its port and its state; a second call does nothing."""
        if self._thread is None:
            self._socket.close()
            self.account.close()
        elif self._loop is not None and self._stop is not None:
            with suppress(RuntimeError):  # the loop has ended by itself
                self._loop.call_soon_threadsafe(self._stop.set)
            self._thread.join(HOW_LONG_TO_STOP)

    def run(self, announce: Callable[[str], None]) -> None:
        """Serve in the foreground until SIGINT or SIGTERM; ``announce`` is called with the address once it answers."""
        asyncio.run(self._serve(lambda: announce(self.url), signals=True))

    def _in_thread(self) -> None:
        try:
            asyncio.run(self._serve(self._ready.set))
        finally:
            self._ready.set()

    async def _serve(self, ready: Callable[[], None], *, signals: bool = False) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        if signals:
            _on_signals(self._loop, self._stop.set)
        serving = Serving(self._gate, self.account, self._desk.routes())
        answering = web.Server(serving.handle, request_factory=_limited, access_log=None, logger=OneLine(log))
        self._runner = web.ServerRunner(answering, handle_signals=False, shutdown_timeout=1.0)
        await self._runner.setup()
        try:
            await web.SockSite(self._runner, self._socket).start()
            ready()
            await self._stop.wait()
        finally:
            self.account.bell.close()
            await self._stop_accepting()
            await self._runner.cleanup()
            self.account.close()

    async def _stop_accepting(self) -> None:
        """Accept nobody else, and let the loop finish with those it has just accepted.

        A site that stops meanwhile would leave their sockets open, as asyncio attaches them to a server that is shut.
        """
        if self._socket.fileno() < 0:  # it refuses connections for now
            return
        with suppress(NotImplementedError):  # Windows' event loop
            asyncio.get_running_loop().remove_reader(self._socket)
        for _ in range(TURNS_TO_ACCEPT):
            await asyncio.sleep(0)

    async def _shut(self, seconds: float) -> None:
        """Refuse connections from now on; listen at the same port again after a while."""
        assert self._runner is not None
        await self._stop_accepting()
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


def _on_signals(loop: asyncio.AbstractEventLoop, act: Callable[[], object]) -> None:
    """Act on Ctrl-C and SIGTERM. Windows' event loop has no signal handlers, so Python's wake it up."""
    for number in (signal.SIGINT, signal.SIGTERM):
        try:
            loop.add_signal_handler(number, act)
        except NotImplementedError:
            signal.signal(number, lambda *_: loop.call_soon_threadsafe(act))


def _limited(*parts: Any) -> web.BaseRequest:
    message, payload, protocol, writer, task = parts
    return web.BaseRequest(message, payload, protocol, writer, task, protocol._loop, client_max_size=MAX_BYTES)


def _listen(host: str, port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM)
    if sys.platform == "win32":  # where the other option lets two programs share a port
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
    else:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except (OSError, OverflowError) as error:
        listener.close()
        if isinstance(error, socket.gaierror):
            raise UsageError(f"no address of this machine is called {host!r}; 127.0.0.1 is usual") from None
        reason = getattr(error, "strerror", None) or "a port is a number from 0 to 65535"
        raise UsageError(f"{host}, port {port} cannot be used: {reason}; port 0 takes a free one") from None
    listener.listen(128)
    return listener
