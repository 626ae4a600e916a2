"""The sandbox's service over HTTP, on loopback unless told otherwise, in a thread of its own or in the foreground."""

from __future__ import annotations

import asyncio
import secrets
import signal
import socket
import sys
import threading
import warnings
from collections.abc import Callable, Iterable
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from typing import Any, get_args
from urllib.parse import urlsplit

from aiohttp import web

from .. import _wire as wire
from .._calling import not_all_text, not_choice, refuse
from ..errors import SmsOtpWarning, UsageError
from . import gate
from .account import Account
from .choices import Rules
from .desk import Desk
from .gate import Gate
from .service import MAX_BYTES, Service, millionths
from .serving import OneLine, Serving, log
from .state import State
from .tables import BROKEN, unreadable
from .testing.faults import Fault, Faults

HOST = "127.0.0.1"
OWN = frozenset({HOST, "localhost", "::1"})
EVERYWHERE = frozenset({"0.0.0.0", "::", ""})
DEFAULT_BALANCE = 1_000
HOW_LONG_TO_STOP = 5.0
GOODBYE = 0.05  # seconds for the reply to the one who asks for refused connections


class Server:
    """One sandbox: its state, its service and its socket; nothing runs before ``start`` or ``run``.

    The arguments are those of `Sandbox`.

    Raises:
        UsageError: the port is taken, the state, the templates file or the token cannot be used, or a fault is invalid.
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
        names = [allow_hosts] if isinstance(allow_hosts, str) else [*allow_hosts]
        refuse(
            not_choice("variant", variant, get_args(wire.Variant)),
            not_choice("form", form, get_args(wire.Form)),
            not_all_text("allow_hosts", names),
            None if token is None else gate.not_token("token=", token),
        )
        is_open = host not in OWN
        self.token = token or (secrets.token_urlsafe(24) if is_open else None)
        if is_open:
            said = f"the sandbox listens on {host}: other machines can send, and read its inbox with the token"
            warnings.warn(said, SmsOtpWarning, stacklevel=4)
        switched_on = _readable(faults)
        path = None if state is None else Path(state).expanduser().absolute()
        money = millionths(DEFAULT_BALANCE if balance is None else balance)
        opened = State(path, variant=variant, balance=money, seed=None if seed is None else str(seed))
        try:
            self.account = Account(Service(opened, variant=variant, form=form, rules=rules), switched_on)
            self._socket = _listen(host, port)
        except UsageError:
            opened.close()
            raise
        except BROKEN as error:  # the journal and the clock that the file holds
            opened.close()
            raise unreadable(path, error) from None
        self._host = host
        self.port: int = self._socket.getsockname()[1]
        name = HOST if host in EVERYWHERE else f"[{host}]" if ":" in host else host
        self.url = f"http://{name}:{self.port}"
        self._gate = Gate(names, token=self.token, cookie=f"smsotp-sandbox-{self.port}")
        self._desk = Desk(self.account, self.url, shut=self._shut)
        self._runner: web.ServerRunner | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._shutting: asyncio.Task[None] | None = None
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
            await self._runner.cleanup()
            self.account.close()

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


def _on_signals(loop: asyncio.AbstractEventLoop, act: Callable[[], object]) -> None:
    """Act on Ctrl-C and SIGTERM. Windows' event loop has no signal handlers, so Python's wake it up."""
    for number in (signal.SIGINT, signal.SIGTERM):
        try:
            loop.add_signal_handler(number, act)
        except NotImplementedError:
            signal.signal(number, lambda *_: loop.call_soon_threadsafe(act))


def _limited(*parts: Any) -> web.BaseRequest:
    """Make a request object whose body is limited in size."""
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


def _readable(faults: Iterable[Fault | str]) -> Faults:
    return Faults(Fault.read(fault) for fault in ([faults] if isinstance(faults, str) else faults))


def is_loopback(url: str) -> bool:
    """Return whether an address is a loopback address."""
    return (urlsplit(url).hostname or "") in OWN
