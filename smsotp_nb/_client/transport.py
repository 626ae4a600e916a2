"""One HTTP POST that knows how far it came.

Whether a request may be sent again depends on one question: did a byte of it leave this machine? No exception class
answers that: a reset, a timeout and a TLS failure each occur before anything is sent and after the service accepted.
So the connection itself keeps a phase, set *before* the system call that it names:

    before -> connect (TLS inside) -> connected -> writing -> awaiting -> headers -> body

Only ``connect`` and ``connected`` prove that nothing was sent. ``before`` does not: it also means that this connection
class never saw the request (another library stands in for urllib3), and what was not watched is not known.

The same connection holds a deadline for the request as a whole (a reply that drips a byte a second never trips a read
timeout), a cap on the size of a reply, a guard against kept connections the other side is about to close, and the
access key: everything outside sees a masked address and a body without a repr, and only the connection writes the real
ones, in one expression, because a traceback may print the variables of every frame.

requests and urllib3 find the connection (proxies, TLS, the pool); the reply is read by llhttp, the parser of Node.js,
which is strict, and quick where http.client's own parsing cost as much as the rest of a request.
"""

from __future__ import annotations

import os
import re
import ssl
import sys
import threading
import time
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httptools
import requests
import urllib3
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

from ..errors import UsageError
from ..settings import Secret, is_loopback

_URLLIB3: str = vars(urllib3)["__version__"]
if _URLLIB3.startswith("1."):  # its connections say neither when they connect nor whether they still are
    raise UsageError(
        f"smsotp_nb needs urllib3 2 or later to know how far a request came, and found {_URLLIB3}: "
        "python -m pip install 'urllib3>=2', then restart the kernel"
    )

NOTHING_SENT = frozenset({"connect", "connected"})
MASKED = "***"
# A peer that closes idle connections races our next request; measured, about 11% of requests fail without the guard.
IDLE_GUARD = 1.0
MAX_REPLY = 4 * 1024 * 1024  # bytes, four thousand for each of the most recipients that one request may have
MAX_HEAD = 1024 * 1024
GZIP_OR_ZLIB, RAW = 32 + zlib.MAX_WBITS, -zlib.MAX_WBITS
PIECE = 64 * 1024


class ReplyCut(ConnectionError):
    """The peer closed before its reply was complete."""


class ReplyTooLarge(Exception):
    """The reply is larger than any this interface gives."""


class Packed(ValueError):
    """The reply is packed in a way that is not unpacked here, or it is broken."""


class TooLate(Exception):
    """The request did not begin in the time in which it was allowed to."""


class DeadlinePassed(TimeoutError):
    """The request as a whole took longer than its deadline."""


@dataclass(slots=True)
class Trace:
    """What is known of one request: its phase, its real target, and its limits."""

    phase: str = "before"
    target: Secret | None = None
    deadline: float = 0.0
    read_timeout: float = 0.0
    received: int = 0
    status: int | None = None
    clock: Callable[[], float] = time.monotonic
    may_begin: Callable[[], bool] | None = None

    def left(self) -> float:
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


class _Reply:
    """The whole reply to one request, as llhttp reads it.

    Bytes that follow the reply are noticed, so that the connection is not used again, but they are not read. The
    attributes are those that urllib3 expects of a response that passes through its pool.
    """

    version_string, length_remaining = "HTTP/1.1", 0  # for urllib3's log

    def __init__(self, trace: Trace) -> None:
        self.status = 0
        self.headers = urllib3.HTTPHeaderDict()
        self.whole = self.reusable = self.until_close = False
        self._trace, self._body = trace, bytearray()
        self.parser: Any = httptools.HttpResponseParser(self)

    def feed(self, data: bytes) -> None:
        try:
            self.parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as error:
            if not self.whole or _ends_all(error.__context__):
                raise
            self.reusable = False

    def on_header(self, name: bytes, value: bytes) -> None:
        if self.status:  # after the body; what comes late says nothing of the reply
            return
        self.headers.add(name.decode("latin-1"), value.decode("latin-1"))

    def on_headers_complete(self) -> None:
        status = self.parser.get_status_code()
        if status >= 200:  # anything below announces the reply
            self.status = self._trace.status = status
            self._trace.phase = "body"
            self.until_close = "content-length" not in self.headers and "transfer-encoding" not in self.headers
        else:
            self.headers.clear()

    def on_body(self, piece: bytes) -> None:
        self._body += piece

    def on_message_begin(self) -> None:
        if self.whole:  # more came than the reply: the next one here may not be ours, so there is no next one
            self.reusable = False
            raise ReplyCut

    def on_message_complete(self) -> None:
        self.reusable = self.status >= 200 and self.parser.should_keep_alive()
        self.whole = self.status >= 200

    def stream(self, _amount: int) -> Iterable[bytes]:
        """Return the body, decompressed if the service compressed it although it was asked not to."""
        return [unpacked(bytes(self._body), self.headers.get("content-encoding", ""), limit=MAX_REPLY)]


class _Watched:
    """A mixin for urllib3's connection classes that keeps the phase, the deadline and the key.

    ``current`` is set by the adapter and returns the trace of the request that this thread is making.
    """

    current: Callable[[], Trace]
    last_used: float = 0.0
    debuglevel = 0  # http.client's switch for everybody would print the password of a proxy
    sock: Any

    def connect(self) -> None:
        trace = self.current()
        trace.phase = "connect"
        super().connect()  # type: ignore[misc]  # of the connection class that this is mixed into
        trace.phase = "connected"

    def request(self, method: str, url: str, body: Any = None, headers: Any = None, **_: Any) -> None:
        """Write head and body at once: one system call, one packet where it fits."""
        trace = self.current()
        if self.sock is None:
            self.connect()
        trace.phase = "connected"
        target, rest = trace.target or Secret(url), "".join([f"{name}: {value}\r\n" for name, value in headers.items()])
        self._limit(trace)
        if trace.may_begin is not None and not trace.may_begin():  # the last thing before the bytes
            raise TooLate("what allowed this request no longer does")
        trace.phase = "writing"
        self.sock.sendall(memoryview(f"{method} {target.reveal()} HTTP/1.1\r\n{rest}\r\n".encode("latin-1") + body))
        trace.phase = "awaiting"

    def getresponse(self) -> Any:
        """Read the reply to its end, each piece against the deadline and the size cap."""
        trace = self.current()
        written = trace.phase == "awaiting"  # else the peer closed meanwhile, and may have answered before
        trace.phase, reply = "awaiting", _Reply(trace)
        try:
            self._read(reply, trace)
        finally:
            reply.parser = None  # it refers to this reply, and the cycle would keep what the reply says in memory
        self.last_used = trace.clock()
        if not (written and reply.reusable):
            self.close()  # type: ignore[attr-defined]  # as above
        return reply

    def _read(self, reply: _Reply, trace: Trace) -> None:
        while not reply.whole:
            self._limit(trace)
            data = self.sock.recv(PIECE)
            if not data:
                if reply.until_close:
                    break
                raise ReplyCut("the connection ended before the reply was complete")
            if trace.phase == "awaiting":
                trace.phase = "headers"
            trace.received += len(data)
            if trace.received > (MAX_REPLY if reply.status else MAX_HEAD):
                raise ReplyTooLarge("the reply is larger than any of this interface")
            reply.feed(data)

    def _limit(self, trace: Trace) -> None:
        seconds = min(trace.read_timeout, trace.left())
        if seconds != self.sock.gettimeout():  # to set it is a system call
            self.sock.settimeout(seconds)

    @property
    def is_connected(self) -> bool:
        idle = self.current().clock() - self.last_used
        return idle < IDLE_GUARD and bool(super().is_connected)  # type: ignore[misc]  # as above


class _Adapter(HTTPAdapter):
    """requests' adapter over watched connections, with urllib3's own retries off."""

    def __init__(self) -> None:
        self.local = threading.local()  # its ``trace`` is of the request that this thread is making
        self._pool: Any = None
        super().__init__(pool_connections=4, pool_maxsize=256, max_retries=0)

    def init_poolmanager(self, *args: Any, **options: Any) -> None:
        super().init_poolmanager(*args, **options)
        self.poolmanager.pool_classes_by_scheme = self._pools()

    def proxy_manager_for(self, proxy: str, **options: Any) -> Any:
        manager = super().proxy_manager_for(proxy, **options)
        manager.pool_classes_by_scheme = self._pools()
        return manager

    def request_url(self, request: requests.PreparedRequest, proxies: Any) -> str:
        """Hand urllib3, and so its logs, errors and frames, an address without the query and a body without a repr."""
        target = Secret(super().request_url(request, proxies) if proxies else request.path_url)
        self.local.trace.target = target
        request.body = memoryview(request.body)  # type: ignore[arg-type, assignment]  # bytes, which our client gave
        return target.reveal().split("?")[0] + "?" + MASKED

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
        """Hand on the reply as it was read: no cookie is kept and no encoding guessed."""
        return _Handed(req, resp, resp.status)

    def close(self) -> None:
        self._pool = None
        super().close()

    def _pools(self) -> dict[str, Any]:
        local = self.local

        class Plain(_Watched, HTTPConnection):
            pass

        class Tls(_Watched, HTTPSConnection):
            pass

        Plain.current = Tls.current = staticmethod(lambda: local.trace)

        class PlainPool(_Pool, HTTPConnectionPool):
            ConnectionCls = Plain

        class TlsPool(_Pool, HTTPSConnectionPool):
            ConnectionCls = Tls

        return {"http": PlainPool, "https": TlsPool}


class _Pool:
    """A mixin for urllib3's pools that takes a connection back as soon as its reply is whole."""

    def urlopen(self, *args: Any, **options: Any) -> Any:
        return super().urlopen(*args, **options, release_conn=True)  # type: ignore[misc]  # of the pool's class


@dataclass(slots=True)
class _Handed:
    """The response object that requests sees. It never leaves this module, because its request holds the key."""

    request: requests.PreparedRequest
    raw: Any
    status_code: int

    @property
    def headers(self) -> Any:
        return self.raw.headers


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
        try:
            prepared = requests.Request("POST", base_url + "/").prepare().url or ""  # hosts and paths in ASCII
        except (requests.RequestException, UnicodeError):
            prepared = ""
        if not prepared:
            raise UsageError(f"base_url= is not an address that can be reached: {base_url!r}; nothing was sent")
        self._address, self._host = prepared, urlsplit(prepared).netloc
        self._read_timeout = read_timeout
        self._timeouts: Any = urllib3.Timeout(connect=connect_timeout, read=read_timeout)  # which requests' types lack
        self._deadline, self._clock = deadline, clock
        session = requests.Session()
        session.trust_env = trust_env
        found: dict[str, Any] = dict(session.merge_environment_settings(self._address, {}, True, ca_bundle, None))
        if is_loopback(urlsplit(prepared).hostname):  # a proxy would carry key and numbers off this machine
            found["proxies"] = {}
        self._options = found
        self._adapter, self._process = _Adapter(), os.getpid()
        self._check_route()

    def post(
        self, query: Secret, body: memoryview, *, may_begin: Callable[[], bool] | None = None
    ) -> RawReply | Failure:
        """Send once and return the complete reply, or how far the request came.

        ``may_begin`` is asked right before the first byte; where it says no, nothing is sent.

        An interrupt (KeyboardInterrupt) comes back as a Failure too, because only here is its phase known.
        """
        trace = Trace(
            deadline=self._clock() + self._deadline,
            read_timeout=self._read_timeout,
            clock=self._clock,
            may_begin=may_begin,
        )
        handled = sys.exception()  # the caller's own, which is no reason of ours
        try:
            if os.getpid() != self._process:  # a socket shared with the parent process would mix two requests
                self._adapter, self._process = _Adapter(), os.getpid()
            self._adapter.local.trace = trace
            reply: Any = self._adapter.send(self._request(query, body), timeout=self._timeouts, **self._options).raw
            return RawReply(reply.status, tuple(reply.headers.items()), b"".join(reply.stream(PIECE)))
        except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - the phase decides, never the class
            root = error if _ends_all(error) else _root(error, handled)
            if _ends_all(root) and not isinstance(root, KeyboardInterrupt):
                raise root from None  # llhttp wraps what strikes in a callback
            return Failure(trace.phase, type(root).__name__, trace.status)
        finally:
            trace.target = None  # the thread keeps its last trace

    def _check_route(self) -> None:
        """Refuse a proxy or a bundle of certificates with which no request could be made, before one is tried.

        Whatever a request would meet before its connection is made is met here. There it would have no phase, and its
        recipients would be in doubt.
        """
        bundle, proxy = self._options["verify"], requests.utils.select_proxy(self._address, self._options["proxies"])
        try:
            if isinstance(bundle, str):
                _load_certificates(bundle)
        except (OSError, ssl.SSLError) as error:
            raise UsageError(
                f"the bundle of certificates {bundle!r} (ca_bundle=, or REQUESTS_CA_BUNDLE) cannot be used "
                f"({type(error).__name__}); nothing was sent. Correct its path, or unset it"
            ) from None
        if proxy is None:
            return
        try:
            if proxy.lower().startswith("socks"):
                raise UsageError("a SOCKS proxy")  # over which nothing here knows how far a request came
            port = urlsplit(proxy if "://" in proxy else f"http://{proxy}").port  # raises for what is no port
            self._adapter.get_connection_with_tls_context(
                self._request(Secret(""), memoryview(b"")), bundle, proxies=self._options["proxies"]
            )
        except UsageError as error:
            reason = str(error)
        except Exception as error:  # noqa: BLE001 - of requests and urllib3; what they say may hold a password
            reason = type(error).__name__
        else:
            if port != 0:
                return
            reason = "port 0"
        raise UsageError(
            f"the proxy of the environment for {self._host} cannot be used: {_without_login(proxy)!r} ({reason}). "
            f"Nothing was sent. Correct {_PROXY_VARIABLES}, or pass Settings(trust_env=False)"
        )

    def _request(self, query: Secret, body: memoryview) -> Any:
        request: Any = requests.PreparedRequest()
        request.method, request.hooks = "POST", {}
        request.url, request.body = f"{self._address}?{query.reveal()}", bytes(body)
        request.headers = {"Host": self._host, **_HEADERS, "Content-Length": str(len(body))}
        return request

    def close(self) -> None:
        """Close every kept connection."""
        self._adapter.close()


# In the order in which they are looked up for an https address.
_PROXY_VARIABLES = "HTTPS_PROXY, ALL_PROXY or NO_PROXY"


def _load_certificates(path: str) -> None:
    """Raise the error that a connection with this file or folder of trusted certificates would meet."""
    if os.path.isdir(path):
        ssl.create_default_context(capath=path)
    else:
        ssl.create_default_context(cafile=path)


def _without_login(proxy: str) -> str:
    """Return the address of a proxy without the user and the password that may stand in it."""
    return re.sub(r"(?<=//)[^/]*@|^[^/]*@", "", proxy)


_HEADERS = {
    "Content-Type": "application/json",
    "Accept": "application/json",
    "Accept-Encoding": "identity",
    "User-Agent": "smsotp_nb",
}


def unpacked(packed: bytes, encoding: str, *, limit: int) -> bytes:
    """Return what a body holds.

    Raises:
        ReplyTooLarge: it holds more.
        Packed: the encoding is another one, or the body is not what it says, or ends too early.

    Example:
        >>> unpacked(zlib.compress(b"Hello"), "deflate", limit=100)
        b'Hello'
    """
    name = encoding.strip().lower()
    if name in ("", "identity"):
        return packed
    if name not in ("gzip", "x-gzip", "deflate"):
        raise Packed("packed in a way that was not asked for")
    for form in (GZIP_OR_ZLIB, RAW):  # "deflate" means zlib's form, and some send it raw
        machine = zlib.decompressobj(form)
        try:
            found = machine.decompress(packed, limit + 1)
        except zlib.error:
            continue
        if len(found) > limit:
            raise ReplyTooLarge(f"the reply unpacks to more than {limit} bytes")
        if machine.eof and not machine.unused_data:
            return found
        break
    raise Packed("it is not packed as it says")


def _ends_all(error: BaseException | None) -> bool:
    return isinstance(error, BaseException) and not isinstance(error, Exception)


def _root(error: BaseException, handled: BaseException | None = None) -> BaseException:
    """Return the innermost error that requests and urllib3 wrapped; only the name of its class is ever shown."""
    seen: set[int] = {id(handled)}
    inner: BaseException | None = error
    while inner is not None and id(inner) not in seen:
        seen.add(id(inner))
        error = inner
        wrapped = (getattr(error, "reason", None), *error.args, error.__cause__, error.__context__)
        inner = next((one for one in wrapped if isinstance(one, BaseException)), None)
    return error
