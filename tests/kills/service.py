"""A service of the tests: it answers `sms.message.send` as told, request by request, and remembers every post.

Written from the interface's own examples. What it accepted stands in ``accepted``, whatever became of the answer.
"""

from __future__ import annotations

import json
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from smsotp_nb import Client
from smsotp_nb._client import RetryPolicy
from smsotp_nb.settings import Settings

# Fates of a post in which the service accepted it, and those in which the client may know that it did not.
ACCEPTED = frozenset(
    {
        *("accept", "vanish", "half", "500", "missing", "foreign", "totals", "garbage", "repeated", "strangers"),
        *("one id", "twice", "total only", "in CHF"),
    }
)
REFUSALS = {
    "refuse": ("107111", "InvalidPhoneNumbers"),
    "funds": ("105400", "InsufficientFunds"),
    "account": ("104111", "InvalidAccessKeyId"),
    "internal": ("101000", "Internal"),
}
STRANGER = "+14155550100"
PRICE = Decimal("0.0075")  # of a message, in USD


@dataclass(frozen=True, slots=True)
class Post:
    """One request that reached the service."""

    to: tuple[str, ...]
    fate: str
    at: float
    text: str = ""


class Service:
    """Answer posts with the next fate of a script, then with the usual one.

    Fates: ``accept``; accepted, but ``vanish`` (no answer), ``half`` an answer, HTTP ``500``, ``garbage``, a record
    ``missing``, a ``foreign`` or ``repeated`` record, nothing but ``strangers``, ``one id`` for all, ``totals`` that
    disagree, a total of ``twice`` the prices, a ``total only``, billed ``in CHF``; not accepted: ``lost`` (no answer),
    ``refuse``, ``funds``, ``account``, ``internal``, ``throttle``, ``refused 200`` (a refusal beside HTTP 200), any
    other HTTP status in digits.
    """

    def __init__(
        self,
        *script: str,
        usual: str = "accept",
        seen: Callable[[Post], None] | None = None,
        price: Decimal = PRICE,
    ) -> None:
        self.posts: list[Post] = []
        self.accepted: Counter[str] = Counter()
        self.usual, self.seen, self.price = usual, seen, price
        self._script: Iterator[str] = iter(script)
        self._guard = threading.Lock()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.service = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def script(self, fates: Iterable[str]) -> None:
        """Answer the next posts so."""
        with self._guard:
            self._script = iter(list(fates))

    def client(self, **settings: Any) -> Client:
        """Return a client that does not wait long, known to the ledger as the service ``scripted``."""
        chosen = {"base_url": self.url, "access_key_id": "demo", "service": "scripted", "read_timeout": 5.0}
        return Client(Settings(**(chosen | settings)), retry=RetryPolicy(attempts=2, first_wait=0.001))

    def take(self, fields: dict[str, Any]) -> Post:
        """Decide the fate of a post and count it."""
        to = fields["to"] if isinstance(fields["to"], list) else [fields["to"]]
        with self._guard:
            post = Post(tuple(to), next(self._script, self.usual), time.monotonic(), str(fields.get("text")))
            self.posts.append(post)
            if post.fate in ACCEPTED:
                self.accepted.update(to[1:] if post.fate == "missing" else to)
        if self.seen is not None:
            self.seen(post)
        return post

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def __enter__(self) -> Service:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128
    service: Service

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of clients that hang up: some are killed on purpose."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = 1 << 16
    server: _Server

    def do_POST(self) -> None:
        fields = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        post = self.server.service.take(fields)
        if post.fate in {"vanish", "lost"}:
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
        elif post.fate == "throttle":
            self._answer(429, b"{}", ("Retry-After", "0"))
        elif post.fate in REFUSALS:
            code, message = REFUSALS[post.fate]
            self._answer(400, json.dumps({"code": code, "message": message}).encode())
        elif post.fate == "refused 200":
            self._answer(200, json.dumps({"code": "104111", "message": "InvalidAccessKeyId"}).encode())
        elif post.fate.isdigit() and post.fate not in ACCEPTED:
            self._answer(int(post.fate), b"<html>")
        elif post.fate == "garbage":
            self._answer(200, b"<html>")
        else:
            data = result(post, self.server.service.price)
            body = json.dumps({"code": "0", "message": "Success", "data": data}).encode()
            self._answer(500 if post.fate == "500" else 200, body, half=post.fate == "half")

    def _answer(self, status: int, body: bytes, *headers: tuple[str, str], half: bool = False) -> None:
        self.send_response(status)
        for name, value in (("Content-Type", "application/json"), ("Content-Length", str(len(body))), *headers):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body[: len(body) // 2] if half else body)
        self.wfile.flush()
        if half:
            self.close_connection = True

    def log_message(self, *args: object) -> None:
        """Write no log."""


def result(post: Post, price: Decimal = PRICE) -> dict[str, Any]:
    """Return the Send-result of a post, each message at this price."""
    to = list(post.to[1:] if post.fate == "missing" else post.to)
    to = [] if post.fate == "strangers" else to
    to += {"foreign": [STRANGER], "strangers": [STRANGER], "repeated": to[:1]}.get(post.fate, [])
    records = [
        {
            "id": "0" * 32 if post.fate == "one id" else f"{number[1:]:0>32}",
            "to": number,
            "iso": "US",
            "cc": "1",
            "parts": 1,
            "price": None if post.fate == "total only" else f"{price:.6f}",
        }
        for number in to
    ]
    total = price * len(to) * (2 if post.fate in {"twice", "total only"} else 1)
    total += Decimal("0.01") if post.fate == "totals" else 0
    return {
        "recipients": len(to),
        "messageCount": len(to),
        "currency": "CHF" if post.fate == "in CHF" else "USD",
        "totalAmount": f"{total:.6f}",
        "messages": records,
    }
