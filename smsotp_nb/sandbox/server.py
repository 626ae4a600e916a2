"""The sandbox over HTTP: the three operations, ``GET /state.json``, ``POST /act.json`` and the page of the inbox."""

from __future__ import annotations

import json
import logging
import secrets
import signal
import socket
import socketserver
import struct
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from decimal import Decimal
from functools import cache
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from pathlib import Path
from posixpath import normpath
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

from .. import _wire as wire
from ..errors import SmsOtpWarning, UsageError
from .access import HOST, LOOPBACK, SECURITY_HEADERS, Gate
from .account import Account, Received
from .choices import Rules
from .faults import Fault, FaultSwitches, Outcome, as_json_bytes
from .service import INVALID_PARAMS, MAX_BYTES, UNAUTHORIZED, Reply, Service, parse_money
from .state import State

DEFAULT_BALANCE: Final = 1_000
EVERYWHERE: Final = frozenset({"0.0.0.0", "::", ""})
REQUEST_ID: Final = "X-Uni-Request-Id"  # beyond the interface; one client in the field compares its case
RESET: Final = struct.pack("ii", 1, 0)  # SO_LINGER: closing sends a reset
IDLE_SECONDS: Final = 3_600.0  # an open connection is kept at least as long as any client's pool keeps it
MAX_SKIPPED: Final = 16 << 20  # bytes of a body too large that are read, so that its client hears the refusal
MAX_HEADERS: Final = 100  # as http.server has it
LONGEST_LINE: Final = 65_536
LONGEST_INTEGER: Final = 15  # digits of a number in an address
PAGE_FILES: Final = {
    "/": ("inbox.html", "text/html"),
    "/inbox.css": ("inbox.css", "text/css"),
    "/inbox.js": ("inbox.js", "text/javascript"),
}

log = logging.getLogger("smsotp_nb.sandbox")


class Headers:
    """The headers of a request, by their names in lower case; of one that comes twice the first counts."""

    def __init__(self, pairs: list[tuple[str, str]]) -> None:
        self.pairs = pairs
        self._values = {name.lower(): value for name, value in reversed(pairs)}

    def get(self, name: str, default: str | None = None) -> str | None:
        return self._values.get(name.lower(), default)

    def content_type(self) -> str:
        """Return the content type without its parameters."""
        return (self.get("Content-Type") or "").partition(";")[0].strip().lower()


class Handler(BaseHTTPRequestHandler):
    """One connection: its requests one after the other."""

    server: HttpServer
    headers: Headers  # type: ignore[assignment]
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    timeout = IDLE_SECONDS

    def do_POST(self) -> None:
        url = urlsplit(self.path)
        body = self._read_body()
        if url.path == "/act.json":
            self._act(body)
        else:
            self._operate(url.path, url.query, body)

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        self._read_body()  # a GET has none as a rule; one that has must not become the next request
        refusal = self._refusal()
        if refusal is not None:
            self._send_error(HTTPStatus.FORBIDDEN, refusal)
        elif url.path in PAGE_FILES:
            name, content_type = PAGE_FILES[url.path]
            self._send(HTTPStatus.OK, _page_file(name), f"{content_type}; charset=utf-8", SECURITY_HEADERS)
        elif url.path == "/state.json":
            self._report(dict(parse_qsl(url.query)))
        else:
            self._send_error(HTTPStatus.NOT_FOUND, "there are GET /, GET /state.json and POST /act.json")

    do_HEAD = do_GET  # noqa: N815 - http.server calls it by this name

    def do_PUT(self) -> None:
        """Refuse another method, in the envelope of the operations, which some clients expect everywhere."""
        url = urlsplit(self.path)
        self._operate(url.path, url.query, self._read_body())

    do_PATCH = do_DELETE = do_OPTIONS = do_PUT  # noqa: N815 - http.server calls them by these names

    # -- the operations

    def _operate(self, path: str, query_string: str, body: bytes | None) -> None:
        query = dict(parse_qsl(query_string, keep_blank_values=True))
        received = Received(self.command, self.path, self.headers.pairs, query, self.headers.content_type(), body)
        refusal = self._refusal()
        if refusal is not None:
            self._turn_away(received, HTTPStatus.FORBIDDEN, UNAUTHORIZED, refusal)
        elif self.command != "POST" or normpath(f"/{path.lstrip('/')}") != "/":
            words = "the operations are at POST /?action=<action>"
            self._turn_away(received, HTTPStatus.NOT_FOUND, INVALID_PARAMS, words)
        else:
            self._carry_out(*self.server.account.receive(received))

    def _turn_away(self, received: Received, status: HTTPStatus, code: str, words: str) -> None:
        account = self.server.account
        envelope = {**account.service.refuse(code).envelope, "error": words}
        request_id = account.turn_away(received, Reply(status, envelope))
        self._send(status, as_json_bytes(envelope), headers=(f"{REQUEST_ID}: {request_id}", *SECURITY_HEADERS))

    def _carry_out(self, outcome: Outcome, request_id: str) -> None:
        if outcome.delay:
            time.sleep(outcome.delay)
        if not outcome.status:
            self._reset()
            return
        headers = [f"{REQUEST_ID}: {request_id}"]
        if outcome.retry_after is not None:
            headers.append(f"Retry-After: {outcome.retry_after:g}")
        if outcome.is_cut:
            self.close_connection = True
        self._send(outcome.status, outcome.body, outcome.content_type, headers, is_cut=outcome.is_cut)

    def _reset(self) -> None:
        """Close the connection by a reset, whatever else holds its socket open."""
        self.close_connection = True
        with suppress(OSError):  # its client may have left
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        self.server.forget(self.connection)
        descriptor = self.connection.detach()
        if descriptor >= 0:
            socket.close(descriptor)

    # -- beside them

    def _report(self, query: dict[str, str]) -> None:
        if not self._has_token():
            return
        try:
            options = _report_options(query)
            self._send_json(self.server.account.report(**options))
        except UsageError as error:
            self._send_error(HTTPStatus.BAD_REQUEST, str(error))

    def _act(self, body: bytes | None) -> None:
        refusal = self._refusal()
        if refusal is not None:
            self._send_error(HTTPStatus.FORBIDDEN, refusal)
            return
        if not self._has_token():
            return
        try:
            self._send_json(self.server.account.act(self._json_object(body)))
        except UsageError as error:
            self._send_error(HTTPStatus.BAD_REQUEST, str(error))

    def _json_object(self, body: bytes | None) -> dict[str, Any]:
        # A page of another origin could send any other content type without asking first.
        if self.headers.content_type() != "application/json":
            raise UsageError("send a JSON object, with Content-Type: application/json")
        if body is None:
            raise UsageError(f"a request has at most {MAX_BYTES:,} bytes")
        try:
            fields = json.loads(body)
        except (ValueError, RecursionError):
            raise UsageError("the body is not JSON") from None
        if not isinstance(fields, dict):
            raise UsageError("the body is not a JSON object")
        return fields

    def _refusal(self) -> str | None:
        return self.server.gate.refuse_stranger(self.headers, str(self.connection.getsockname()[0]))

    def _has_token(self) -> bool:
        """Return whether the request carries the token; if it does not, answer so."""
        if self.server.gate.has_token(self.headers):
            return True
        words = "show its token (box.token, or printed at the start): Authorization: Bearer TOKEN"
        self._send_error(HTTPStatus.UNAUTHORIZED, words, ("WWW-Authenticate: Bearer",))
        return False

    # -- HTTP

    def parse_request(self) -> bool:
        """Read the request line and the headers; what is no HTTP is answered here.

        The e-mail parser that `http.server` reads headers with took a third of the processor's time of a request.
        """
        self.close_connection = True
        self.command = ""
        words = self.raw_requestline.decode("latin-1").split()
        if len(words) != 3 or not words[2].startswith("HTTP/1."):
            self.send_error(HTTPStatus.BAD_REQUEST)
            return False
        self.command, self.path, self.request_version = words
        pairs = self._read_headers()
        if pairs is None:
            self.send_error(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
            return False
        self.headers = Headers(pairs)
        connection = (self.headers.get("Connection") or "").lower()
        if self.request_version == "HTTP/1.0":
            self.close_connection = connection != "keep-alive"
        else:
            self.close_connection = connection == "close"
        if (self.headers.get("Expect") or "").lower() == "100-continue":
            self.wfile.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        return True

    def _read_headers(self) -> list[tuple[str, str]] | None:
        pairs: list[tuple[str, str]] = []
        for _ in range(MAX_HEADERS):
            line = self.rfile.readline(LONGEST_LINE + 1)
            if len(line) > LONGEST_LINE:
                return None
            if line in (b"\r\n", b"\n", b""):
                return pairs
            name, _, value = line.decode("latin-1").partition(":")
            pairs.append((name.strip(), value.strip()))
        return None

    def _read_body(self) -> bytes | None:
        """Return the body, or None if it is too large or not as its headers say."""
        if "chunked" in (self.headers.get("Transfer-Encoding") or "").lower():
            return self._read_chunks()
        length = self.headers.get("Content-Length") or "0"
        if not length.isdecimal() or len(length) > LONGEST_INTEGER:
            self.close_connection = True
            return None
        size = int(length)
        if size <= MAX_BYTES:
            body = self.rfile.read(size)
            if len(body) < size:
                raise ConnectionError("the client left in the middle of its request")
            return body
        self.close_connection = True
        self.rfile.read(min(size, MAX_SKIPPED))
        return None

    def _read_chunks(self) -> bytes | None:
        chunks: list[bytes] = []
        size = 0
        while True:
            line = self.rfile.readline(1_000).partition(b";")[0].strip()
            try:
                length = int(line, 16)
            except ValueError:
                self.close_connection = True
                return None
            if not 0 <= length <= MAX_BYTES - size:
                self.close_connection = True
                return None
            if length == 0:
                break
            chunks.append(self.rfile.read(length))
            self.rfile.readline(1_000)
            size += length
        while self.rfile.readline(1_000).strip():  # trailers
            pass
        return b"".join(chunks)

    def _send_json(self, value: Mapping[str, Any]) -> None:
        self._send(HTTPStatus.OK, as_json_bytes(value), headers=SECURITY_HEADERS)

    def _send_error(self, status: HTTPStatus, words: str, headers: Iterable[str] = ()) -> None:
        self._send(status, as_json_bytes({"error": words}), headers=(*headers, *SECURITY_HEADERS))

    def _send(
        self,
        status: int,
        body: bytes,
        content_type: str = "application/json",
        headers: Iterable[str] = (),
        *,
        is_cut: bool = False,
    ) -> None:
        # One write for head and body: `send_header` and `date_time_string` take as long as the service itself.
        lines = [
            f"HTTP/1.1 {status} {_reason(status)}",
            f"Content-Type: {content_type}",
            f"Content-Length: {len(body)}",
            *headers,
        ]
        if self.close_connection:
            lines.append("Connection: close")
        if is_cut:
            body = body[: len(body) // 2]
        elif self.command == "HEAD":
            body = b""
        self.wfile.write("\r\n".join([*lines, "", ""]).encode("latin-1") + body)

    def send_error(self, code: int, *_words: str | None) -> None:
        """Answer what is no HTTP, and repeat nothing of it: the access key stands in its address."""
        log.warning("a request that is no HTTP was refused: %s", code)
        self.close_connection = True
        self._send_error(HTTPStatus(code), HTTPStatus(code).phrase)

    def log_message(self, format: str, *args: Any) -> None:
        """Write no line for each request: the access key stands in its address."""


@cache
def _reason(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:  # a status of a fault may be any number
        return "Unknown"


@cache
def _page_file(name: str) -> bytes:
    return (files(__package__) / "page" / name).read_bytes()


def _report_options(query: Mapping[str, str]) -> dict[str, Any]:
    options: dict[str, Any] = {}
    for name, value in query.items():
        if name == "to":
            options[name] = f"+{value.strip().removeprefix('+')}"  # an unescaped plus arrives as a blank
        elif name in ("messages_after", "requests_after", "limit"):
            if not (value.isascii() and value.isdigit() and len(value) <= LONGEST_INTEGER):
                raise UsageError(f"{name} must be a whole number")
            options[name] = int(value)
        else:
            raise UsageError(f"/state.json takes messages_after, requests_after, to and limit, not {name}")
    return options


class HttpServer(ThreadingHTTPServer):
    """Accepts connections and gives each a thread."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, host: str, port: int, account: Account, gate: Gate) -> None:
        self.account = account
        self.gate = gate
        self.is_closing = False
        self._connections: set[socket.socket] = set()
        if ":" in host:
            self.address_family = socket.AF_INET6
        try:
            super().__init__((host, port), Handler)
        except (OSError, OverflowError) as error:
            if isinstance(error, socket.gaierror):
                raise UsageError(f"no address of this machine is called {host!r}; 127.0.0.1 is usual") from None
            reason = getattr(error, "strerror", None) or "a port is a number from 0 to 65535"
            raise UsageError(f"{host}, port {port} cannot be used: {reason}; port 0 takes a free one") from None

    def server_bind(self) -> None:
        """Bind without asking the network for the name of this machine, as `HTTPServer` does."""
        socketserver.TCPServer.server_bind(self)

    def serve(self) -> None:
        """Accept connections until `end`."""
        while not self.is_closing:
            self.handle_request()

    def process_request(self, request: Any, client_address: Any) -> None:
        self._connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._connections.discard(request)
        super().shutdown_request(request)

    def forget(self, request: socket.socket) -> None:
        self._connections.discard(request)

    def handle_error(self, *_request: Any) -> None:
        """Log an error of ours; a client that leaves is none."""
        error = sys.exc_info()[1]
        if not isinstance(error, (ConnectionError, TimeoutError)):
            log.exception("a request failed")

    def end(self) -> None:
        """Accept nobody else, close what is open, and free the port."""
        self.is_closing = True
        host, port = self.server_address[:2]
        with suppress(OSError):  # wakes the thread that waits in `serve`
            socket.create_connection((HOST if host in EVERYWHERE else str(host), port), timeout=1).close()
        self.server_close()
        for connection in tuple(self._connections):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


class Server:
    """One sandbox: its state, its service and its socket; nothing is answered before ``start`` or ``run``.

    The arguments are those of `Sandbox`, which has checked their types.

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
        is_open = host not in LOOPBACK
        if is_open:
            token = token or secrets.token_urlsafe(24)
            words = f"the sandbox listens on {host}: other machines can send, and read its inbox with the token"
            warnings.warn(words, SmsOtpWarning, stacklevel=3)
        self.token = token
        switches = FaultSwitches(Fault.read(fault) for fault in ([faults] if isinstance(faults, str) else faults))
        path = None if state is None else Path(state).expanduser().absolute()
        micros = parse_money(DEFAULT_BALANCE if balance is None else balance)
        self.state = State(path, variant=variant, balance=micros, seed=None if seed is None else str(seed))
        try:
            self.account = Account(Service(self.state, variant=variant, form=form, rules=rules), switches)
            self._http = HttpServer(host, port, self.account, Gate(allow_hosts, token=token))
        except UsageError:
            self.state.close()
            raise
        self.port: int = self._http.server_address[1]
        name = HOST if host in EVERYWHERE else f"[{host}]" if ":" in host else host
        self.url = f"http://{name}:{self.port}"
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Answer from a daemon thread."""
        name = f"smsotp-sandbox-{self.port}"
        self._thread = threading.Thread(target=self._http.serve, name=name, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End the server's thread and free its port and its state; a second call does nothing."""
        self._http.end()
        if self._thread is not None:
            self._thread.join(timeout=5)
        self.account.close()

    def run(self, announce: Callable[[], None]) -> None:
        """Answer until SIGINT or SIGTERM; ``announce`` is called once it does."""
        ended = threading.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: ended.set())
        self.start()
        announce()
        ended.wait()
        self.close()
