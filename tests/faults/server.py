"""A service on loopback that does, connection by connection and byte by byte, what a table of faults says.

It judges what a campaign costs: a POST whose body arrived in full counts as a send, for then a service may have texted
somebody, unless the answer said in full that it did not (429).
"""

from __future__ import annotations

import contextlib
import json
import select
import socket
import ssl
import struct
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

LONGEST = 20.0  # seconds; a case that takes longer is broken itself


class Gone(Exception):
    """The client closed the connection, or the server ends."""


@dataclass(frozen=True, slots=True)
class Request:
    """A request as it arrived: its action, its JSON, and how many numbers it is for."""

    action: str
    fields: dict[str, Any]

    @property
    def to(self) -> list[str]:
        to = self.fields["to"]
        return [to] if isinstance(to, str) else to


Act = Callable[["Peer"], None]


@dataclass(frozen=True, slots=True)
class Script:
    """What the server does: one act for each attempt, the last repeated; where the first begins; how it was met.

    ``stage``: an act of ``request`` begins when the first bytes of a request arrive; one of ``accept`` when a
    connection does, before the TLS handshake; one of ``idle`` on a kept connection while no request is under way. What
    these two leave alive is then served.
    """

    acts: tuple[Act, ...]
    stage: str = "request"
    kept: bool = False
    tls: ssl.SSLContext | None = None


class Peer:
    """One connection as the server sees it."""

    def __init__(self, server: BreakingServer, sock: socket.socket) -> None:
        self.server, self.sock = server, sock
        self.over = False
        self._held = b""
        sock.settimeout(LONGEST)

    # -- reading -------------------------------------------------------------------------------------------------------

    def wait_for_bytes(self) -> None:
        """Return when bytes of a request have arrived; they stay unread."""
        if self._held:
            return
        if isinstance(self.sock, ssl.SSLSocket):
            self._held = self._recv(1)
        elif not self.sock.recv(1, socket.MSG_PEEK):
            raise Gone
        self.server.begun += 1

    def read_exactly(self, count: int) -> bytes:
        while len(self._held) < count:
            self._held += self._recv(65536)
        found, self._held = self._held[:count], self._held[count:]
        return found

    def read_head(self) -> bytes:
        while b"\r\n\r\n" not in self._held:
            self._held += self._recv(65536)
        return self.read_exactly(self._held.index(b"\r\n\r\n") + 4)

    def read(self) -> Request:
        """Read one request in full and count it as a send."""
        head = self.read_head()
        if not head.startswith(b"POST "):  # a redirect that was followed
            raise Gone
        body = self.read_exactly(length_of(head))
        request = Request(action_of(head), json.loads(body))
        with self.server.lock:
            self.server.sends.append(request)
        return request

    def refuse_to_count(self) -> None:
        """Say that the last request was answered in full with "not accepted"."""
        with self.server.lock:
            self.server.sends.pop()

    def _recv(self, count: int) -> bytes:
        try:
            found = self.sock.recv(count)
        except (OSError, ValueError):
            raise Gone from None
        if not found:
            raise Gone
        return found

    # -- writing -------------------------------------------------------------------------------------------------------

    def send(self, data: bytes) -> None:
        try:
            self.sock.sendall(data)
        except (OSError, ValueError):
            raise Gone from None

    def send_raw(self, data: bytes) -> None:
        """Write below TLS."""
        with socket.socket(fileno=self._duplicate()) as raw:
            raw.settimeout(LONGEST)
            raw.sendall(data)

    def drip(self, data: bytes, *, pause: float = 0.02, repeat: bool = False) -> None:
        """Write a byte at a time."""
        while True:
            for position in range(len(data)):
                self.send(data[position : position + 1])
                if self.server.ended.wait(pause):
                    raise Gone
            if not repeat:
                return

    def _duplicate(self) -> int:
        return socket.dup(self.sock.fileno())

    # -- ending --------------------------------------------------------------------------------------------------------

    def fin(self) -> None:
        """Close in order: what was written arrives, then the end."""
        with contextlib.suppress(OSError):
            if isinstance(self.sock, ssl.SSLSocket):
                self._below_tls(socket.SHUT_WR)
            else:
                self.sock.shutdown(socket.SHUT_WR)
        self.silence()

    def reset(self) -> None:
        """Close with a reset: what was written may never be read."""
        self.over = True
        with contextlib.suppress(OSError):
            self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.sock.close()

    def silence(self) -> None:
        """Do nothing until the client has gone."""
        self.over = True
        self.server.idle.set()
        with contextlib.suppress(OSError, ValueError):
            while not self.server.ended.is_set():
                readable, _, _ = select.select([self.sock], [], [], 0.05)
                if readable and not self.sock.recv(65536):
                    return

    def deaf(self) -> None:
        """Do nothing, and read nothing either, until the case is over."""
        self.over = True
        self.server.ended.wait(LONGEST)

    def _below_tls(self, how: int) -> None:
        with socket.socket(fileno=self._duplicate()) as raw:
            raw.shutdown(how)


@dataclass
class BreakingServer:
    """Listens on a free port of loopback until it is closed; ``sends`` are the requests it took in full."""

    script: Script
    begun: int = 0
    connections: int = 0
    sends: list[Request] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)
    ended: threading.Event = field(default_factory=threading.Event)
    idle: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._attempt = 0
        self._warm = self.script.kept
        self._open: list[socket.socket] = []
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    def __enter__(self) -> BreakingServer:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        self.ended.set()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._threads[0].join(LONGEST)
        self._listener.close()
        with self.lock:
            opened = list(self._open)
        for sock in opened:
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(LONGEST)

    def _accept(self) -> None:
        while not self.ended.is_set():
            try:
                sock, _ = self._listener.accept()
            except OSError:
                return
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with self.lock:
                self.connections += 1
                self._open.append(sock)
            thread = threading.Thread(target=self._connection, args=(sock,), daemon=True)
            self._threads.append(thread)
            thread.start()

    def _connection(self, sock: socket.socket) -> None:
        peer = Peer(self, sock)
        try:
            with contextlib.suppress(Gone, OSError):
                self._speak(peer)
        finally:
            peer.sock.close()
            sock.close()

    def _speak(self, peer: Peer) -> None:
        warm, self._warm = self._warm, False
        if not warm and self.script.stage == "accept":
            self._act()(peer)
        if self.script.tls and not isinstance(peer.sock, ssl.SSLSocket):
            peer.sock = self.script.tls.wrap_socket(peer.sock, server_side=True)
            peer.sock.settimeout(LONGEST)
            with self.lock:
                self._open.append(peer.sock)
        if warm and self._warm_up(peer):
            return
        while not peer.over:
            peer.wait_for_bytes()
            act = self._act() if self.script.stage == "request" else serve
            act(peer)

    def _warm_up(self, peer: Peer) -> bool:
        """Serve the request that makes the connection a kept one; say whether the connection ends here."""
        peer.wait_for_bytes()
        serve(peer)
        self.sends.clear()
        self.begun = 0
        if self.script.stage == "request":
            self.idle.set()
            return False
        if self.script.stage == "idle":
            self._act()(peer)
        else:
            peer.sock.close()
        self.idle.set()
        if not peer.over:
            peer.silence()
        return True

    def _act(self) -> Act:
        with self.lock:
            act = self.script.acts[min(self._attempt, len(self.script.acts) - 1)]
            self._attempt += 1
        return act


# -- HTTP as the interface describes it --------------------------------------------------------------------------------


def action_of(head: bytes) -> str:
    target = head.split(b" ", 2)[1].decode()
    return parse_qs(urlsplit(target).query)["action"][0]


def length_of(head: bytes) -> int:
    lines = head.decode().lower().split("\r\n")
    return next(int(line.split(":")[1]) for line in lines if line.startswith("content-length:"))


def http(
    body: bytes, *, status: int | str = 200, headers: Sequence[tuple[str, str]] = (), length: int | str | None = -1
) -> bytes:
    """Return a reply; ``length`` -1 is the true one, None leaves the header out."""
    lines = [f"HTTP/1.1 {status} Said" if isinstance(status, int) else status, "Content-Type: application/json"]
    if length is not None:
        lines.append(f"Content-Length: {len(body) if length == -1 else length}")
    lines += [f"{name}: {value}" for name, value in headers]
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + body


def accepted(request: Request) -> dict[str, Any]:
    """Return the envelope with which the interface accepts a request."""
    if request.action == "otp.verify":
        data: Any = {"to": request.to[0], "valid": True}
    else:
        records = [record(number) for number in request.to]
        data = records[0] if request.action == "otp.send" else totals(records)
    return {"code": "0", "message": "Success", "data": data}


def record(number: str) -> dict[str, Any]:
    return {
        "id": "b1946ac92492d2347c6235b4d2611184",
        "to": number,
        "iso": "US",
        "cc": "1",
        "parts": 1,
        "price": "0.007500",
    }


def totals(records: list[dict[str, Any]]) -> dict[str, Any]:
    count = len(records)
    total = f"{count * 7500 // 10**6}.{count * 7500 % 10**6:06d}"
    return {"recipients": count, "messageCount": count, "currency": "USD", "totalAmount": total, "messages": records}


def golden(request: Request) -> bytes:
    return json.dumps(accepted(request)).encode()


def serve(peer: Peer) -> None:
    """Accept as the interface does, and keep the connection."""
    peer.send(http(golden(peer.read())))
