"""One HTTP POST that knows how far it came.

Whether a request may be sent again depends on one question: did a byte of it leave this machine? No exception class
answers that: a reset, a timeout and a TLS failure each occur before anything is sent and after the service accepted.
So the connection itself keeps a phase, set *before* the system call that it names:

    before -> connect (TLS inside) -> connected -> writing -> awaiting -> headers -> body

Only ``connect`` and ``connected`` prove that nothing was sent. ``before`` does not: it also means that this connection
class never saw the request (another library stands in for urllib3), and what was not watched is not known.

The same connection holds a deadline for the request as a whole (a reply that drips a byte a second never trips a read
timeout), a cap on the size of a reply, a guard against kept connections the other side is about to close, and the
access key: everything outside sees a masked address, and only the connection writes the real one.
"""

from __future__ import annotations

import http.client
import io
import math
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import requests
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

NOTHING_SENT = frozenset({"connect", "connected"})
MASKED = "***"
# A peer that closes idle connections races our next request; measured, about 11 % of requests fail without the guard.
IDLE_GUARD = 1.0
MAX_REPLY = 64 * 1024 * 1024
PIECE = 64 * 1024
BUFFER = 16 * 1024


class ReplyTooLarge(Exception):
    """The reply is larger than any this interface gives."""


class HeadersCut(ConnectionError):
    """The peer closed before the headers of its reply were complete."""


class DeadlinePassed(TimeoutError):
    """The request as a whole took longer than its deadline."""


@dataclass(slots=True)
class Trace:
    """What is known of one request: its phase, its real target, and its limits."""

    phase: str = "before"
    target: str = ""
    unsent: bytes = b""
    deadline: float = 0.0
    read_timeout: float = 0.0
    received: int = 0
    status: int | None = None
    clock: Callable[[], float] = time.monotonic

    def left(self) -> float:
        """Return the seconds until the deadline.

        Raises:
            DeadlinePassed: there are none.
        """
        left = self.deadline - self.clock()
        if left <= 0:
            raise DeadlinePassed("the request took longer than its deadline")
        return left


@dataclass(frozen=True, slots=True)
class RawReply:
    """A complete HTTP reply: status, headers as pairs, body."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes


@dataclass(frozen=True, slots=True)
class Failure:
    """A request without a complete reply: how far it came and, in words without secrets, what ended it."""

    phase: str
    reason: str
    status: int | None = None

    @property
    def nothing_sent(self) -> bool:
        return self.phase in NOTHING_SENT

    @property
    def stopped(self) -> bool:
        return self.reason == KeyboardInterrupt.__name__


class _WatchedReader(io.RawIOBase):
    """The bytes of a reply, each read against the deadline and the size cap."""

    def __init__(self, raw: Any, sock: Any, connection: _Watched, trace: Trace) -> None:
        self._raw, self._sock, self.connection, self._trace = raw, sock, connection, trace
        self.over = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if self.over:
            return 0
        trace = self._trace
        self._sock.settimeout(min(trace.read_timeout, trace.left()))
        count: int = self._raw.readinto(buffer)
        if not count and trace.phase != "body":  # http.client takes headers that end early for whole ones
            raise HeadersCut("the connection ended before the reply's headers did")
        if trace.phase == "awaiting":
            trace.phase = "headers"
        trace.received += count
        if trace.received > MAX_REPLY:
            raise ReplyTooLarge(f"the reply is larger than {MAX_REPLY} bytes")
        self.connection.last_used = trace.clock()
        return count

    def close(self) -> None:
        self._raw.close()
        super().close()


class _WatchedResponse(http.client.HTTPResponse):
    """http.client's response, reading through a ``_WatchedReader``; headers are read by the deadline too."""

    def __init__(self, sock: Any, connection: _Watched, trace: Trace, **options: Any) -> None:
        opened: Any = _Opened(sock, connection, trace)
        super().__init__(opened, **options)

    def begin(self) -> None:
        super().begin()
        if self.msg.defects or self.msg.get_payload():  # urllib3 would print what it could not parse as a warning
            parsed = self.msg.items()
            self.headers = self.msg = http.client.HTTPMessage()
            for name, value in parsed:
                self.msg[name] = value

    def _close_conn(self) -> None:
        reader: Any = self.fp.raw
        reader.over = True
        if self.fp.peek(1):  # more came than the reply: the next one here may not be ours, so there is no next one
            reader.connection.last_used = -math.inf
        super()._close_conn()  # type: ignore[misc]
        # A kept connection keeps its last reply, whose headers may quote the request.
        self.headers = self.msg = http.client.HTTPMessage()
        self.reason = ""


class _Opened:
    """A socket, as far as http.client's response uses one: to open it as a file."""

    def __init__(self, sock: Any, connection: _Watched, trace: Trace) -> None:
        self._parts = sock, connection, trace

    def makefile(self, _mode: str) -> io.BufferedReader:
        sock, connection, trace = self._parts
        return io.BufferedReader(_WatchedReader(sock.makefile("rb", buffering=0), sock, connection, trace), BUFFER)


class _Watched:
    """Mixed into urllib3's connection classes: keeps the phase, the deadline and the key.

    ``current`` is set by the adapter and returns the trace of the request that this thread is making.
    """

    current: Callable[[], Trace]
    last_used: float = 0.0
    debuglevel = 0  # http.client's switch for everybody would print the address with its key
    sock: Any
    response_class: Any

    def connect(self) -> None:
        trace = self.current()
        trace.phase = "connect"
        self.response_class = http.client.HTTPResponse  # a proxy's answer is no reply of the request before
        super().connect()  # type: ignore[misc]
        trace.phase = "connected"

    def putrequest(self, method: str, url: str, *args: Any, **options: Any) -> None:
        super().putrequest(method, self.current().target or url, *args, **options)  # type: ignore[misc]

    def send(self, data: Any) -> None:
        if self.sock is None:
            self.connect()
        trace = self.current()
        if trace.phase == "before":  # a kept connection
            trace.phase = "connected"
        if trace.phase == "connect":  # a proxy is asked for a tunnel; nothing of the request itself
            super().send(data)  # type: ignore[misc]
        elif trace.phase == "connected" and not trace.unsent:
            trace.unsent = data  # the head waits for the body: one write, one packet
        else:
            self._write(trace, trace.unsent + data)

    def _write(self, trace: Trace, data: bytes) -> None:
        self.sock.settimeout(min(trace.read_timeout, trace.left()))
        trace.phase, trace.unsent = "writing", b""
        super().send(data)  # type: ignore[misc]

    def getresponse(self) -> Any:
        trace = self.current()
        if trace.unsent:
            self._write(trace, trace.unsent)
        trace.phase = "awaiting"

        def response_class(sock: Any, **options: Any) -> _WatchedResponse:
            return _WatchedResponse(sock, self, trace, **options)

        self.response_class = response_class
        response = super().getresponse()  # type: ignore[misc]
        trace.phase = "body"
        trace.status = response.status
        return response

    @property
    def is_connected(self) -> bool:
        idle = self.current().clock() - self.last_used
        return idle < IDLE_GUARD and bool(super().is_connected)  # type: ignore[misc]


class _Adapter(HTTPAdapter):
    """requests' adapter over watched connections, with urllib3's own retries off."""

    def __init__(self) -> None:
        self._local = threading.local()
        self._pool: Any = None
        super().__init__(pool_connections=4, pool_maxsize=256, max_retries=0)

    def trace(self) -> Trace:
        found: Trace = self._local.trace
        return found

    def watch(self, trace: Trace) -> None:
        self._local.trace = trace

    def init_poolmanager(self, *args: Any, **options: Any) -> None:
        super().init_poolmanager(*args, **options)
        self.poolmanager.pool_classes_by_scheme = self._pools()

    def proxy_manager_for(self, proxy: str, **options: Any) -> Any:
        manager = super().proxy_manager_for(proxy, **options)
        manager.pool_classes_by_scheme = self._pools()
        return manager

    def request_url(self, request: requests.PreparedRequest, proxies: Any) -> str:
        """Hand urllib3, and so its logs and errors, an address without the query; the connection has the real one."""
        target = super().request_url(request, proxies) if proxies else request.path_url
        self.trace().target = target
        return target.split("?")[0] + "?" + MASKED

    def get_connection_with_tls_context(
        self, request: requests.PreparedRequest, verify: Any, proxies: Any = None, cert: Any = None
    ) -> Any:
        """Find the pool once: every request goes to one address."""
        if proxies:
            return super().get_connection_with_tls_context(request, verify, proxies=proxies, cert=cert)
        if self._pool is None:
            self._pool = super().get_connection_with_tls_context(request, verify, cert=cert)
        return self._pool

    def build_response(self, req: requests.PreparedRequest, resp: Any) -> Any:
        """Hand on what is read of a reply: no cookie is kept and no encoding guessed."""
        return _Reply(req, resp)

    def close(self) -> None:
        self._pool = None
        super().close()

    def _pools(self) -> dict[str, Any]:
        current = self.trace

        class Plain(_Watched, HTTPConnection):
            pass

        class Tls(_Watched, HTTPSConnection):
            pass

        Plain.current = Tls.current = staticmethod(current)

        class PlainPool(HTTPConnectionPool):
            ConnectionCls = Plain

        class TlsPool(HTTPSConnectionPool):
            ConnectionCls = Tls

        return {"http": PlainPool, "https": TlsPool}


class _Reply:
    """A reply whose body is still to be read; it stays inside this module, for its request holds the key."""

    def __init__(self, request: requests.PreparedRequest, raw: Any) -> None:
        self.request, self.raw, self.status_code, self.headers = request, raw, raw.status, raw.headers

    def close(self) -> None:
        self.raw.close()
        self.raw.release_conn()


class Transport:
    """Posts bytes to one address; follows no redirect, keeps no cookie, and does not raise for what the peer does."""

    def __init__(
        self,
        base_url: str,
        *,
        connect_timeout: float,
        read_timeout: float,
        deadline: float,
        trust_env: bool = False,
        ca_bundle: str | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._address = base_url + "/"
        self._timeouts = (connect_timeout, read_timeout)
        self._deadline, self._clock = deadline, clock
        session = requests.Session()
        session.trust_env = trust_env
        found: dict[str, Any] = dict(session.merge_environment_settings(self._address, {}, True, ca_bundle, None))
        self._options = found
        self._renew()

    def _renew(self) -> None:
        self._adapter, self._process = _Adapter(), os.getpid()

    def post(self, query: str, body: bytes) -> RawReply | Failure:
        """Send once and return the complete reply, or how far the request came.

        A Stop (KeyboardInterrupt) comes back as a Failure too: its own traceback would show the request.
        """
        if os.getpid() != self._process:  # a socket shared with the parent process would mix two requests
            self._renew()
        trace = Trace(deadline=self._clock() + self._deadline, read_timeout=self._timeouts[1], clock=self._clock)
        self._adapter.watch(trace)
        try:
            return self._exchange(self._request(query, body), trace)
        except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - the phase decides, never the class
            stop = isinstance(error, KeyboardInterrupt)
            return Failure(trace.phase, type(error if stop else _root(error)).__name__, trace.status)
        finally:
            trace.target, trace.unsent = "", b""  # the thread keeps its last trace

    def _request(self, query: str, body: bytes) -> requests.PreparedRequest:
        request = requests.PreparedRequest()
        request.method, request.url, request.body, request.hooks = "POST", f"{self._address}?{query}", body, {}
        request.headers = {**_HEADERS, "Content-Length": str(len(body))}  # type: ignore[assignment]
        return request

    def _exchange(self, request: requests.PreparedRequest, trace: Trace) -> RawReply:
        response = self._adapter.send(request, timeout=self._timeouts, **self._options)
        try:
            pieces, size = [], 0
            for piece in response.raw.stream(PIECE, decode_content=True):
                trace.left()
                size += len(piece)
                if size > MAX_REPLY:
                    raise ReplyTooLarge(f"the reply unpacks to more than {MAX_REPLY} bytes")
                pieces.append(piece)
            return RawReply(response.status_code, tuple(response.headers.items()), b"".join(pieces))
        finally:
            response.close()

    def close(self) -> None:
        """Close every kept connection."""
        self._adapter.close()


_HEADERS = {
    "Content-Type": "application/json",
    "Accept": "application/json",
    "Accept-Encoding": "identity",
    "User-Agent": "smsotp_nb",
}


def _root(error: BaseException) -> BaseException:
    """Return the innermost error that requests and urllib3 wrapped; only the name of its class is ever shown."""
    seen: set[int] = set()
    inner: BaseException | None = error
    while inner is not None and id(inner) not in seen:
        seen.add(id(inner))
        error = inner
        wrapped = (getattr(error, "reason", None), *error.args, error.__cause__, error.__context__)
        inner = next((one for one in wrapped if isinstance(one, BaseException)), None)
    return error
