"""What the service may do to one request: each act breaks in one place, or answers in one odd way."""

from __future__ import annotations

import contextlib
import gzip
import json
import ssl
import zlib
from collections.abc import Callable, Sequence
from typing import Any

from .server import Act, Gone, Peer, Request, accepted, golden, http, length_of

Reply = Callable[[Request], bytes]
ENDS: dict[str, Callable[[Peer], None]] = {"FIN": Peer.fin, "reset": Peer.reset, "silence": Peer.silence}

# -- before and while the request arrives ------------------------------------------------------------------------------


def at_once(end: Callable[[Peer], None]) -> Act:
    """End before a byte is read."""
    return end


def says(data: bytes, then: Callable[[Peer], None] = Peer.fin) -> Act:
    """Say something out of turn."""

    def act(peer: Peer) -> None:
        peer.send(data)
        then(peer)

    return act


def drips(data: bytes) -> Act:
    """Say something a byte at a time, without end."""
    return lambda peer: peer.drip(data, repeat=True)


def proceed(peer: Peer) -> None:
    """Do nothing: go on as a sound service."""


def within_request(place: str, end: Callable[[Peer], None]) -> Act:
    """Read a part of the request, then end."""

    def act(peer: Peer) -> None:
        if place == "first byte":
            peer.read_exactly(1)
        elif place == "request line":
            peer.read_exactly(20)
        else:
            length = length_of(peer.read_head())
            peer.read_exactly({"head": 0, "body 1": 1, "body half": length // 2, "body but 1": length - 1}[place])
        end(peer)

    return act


def early(reply: bytes, then: Callable[[Peer], None] = Peer.deaf) -> Act:
    """Answer before the body is read."""

    def act(peer: Peer) -> None:
        peer.read_head()
        peer.send(reply)
        then(peer)

    return act


# -- after the request is read -----------------------------------------------------------------------------------------


def after_reading(end: Callable[[Peer], None]) -> Act:
    """Take the request in full, then end without a byte."""

    def act(peer: Peer) -> None:
        peer.read()
        end(peer)

    return act


def cut(place: str, end: Callable[[Peer], None], reply: Reply | None = None) -> Act:
    """Take the request, answer up to a place, then end."""

    def act(peer: Peer) -> None:
        request = peer.read()
        whole = reply(request) if reply else http(golden(request))
        peer.send(whole[: _place(whole, place)])
        end(peer)

    return act


def _place(reply: bytes, place: str) -> int:
    head = reply.index(b"\r\n\r\n")
    line = reply.index(b"\r\n")
    body = len(reply) - head - 4
    return {
        "1 byte": 1,
        "version": 8,
        "before the status": 9,
        "within the status": 11,
        "status": 12,
        "status line": line + 2,
        "within a header": line + 10,
        "before the length": reply.find(b"Content-Length"),
        "within the length": reply.find(b"Content-Length") + 17,
        "last header": head + 2,
        "head": head + 4,
        "body 1": head + 5,
        "body half": head + 4 + body // 2,
        "body but 1": len(reply) - 1,
    }[place]


def dripping(start: str, piece: bytes = b"") -> Act:
    """Take the request, answer up to a place, then drip without end."""

    def act(peer: Peer) -> None:
        request = peer.read()
        whole = http(golden(request), length=10**6)
        peer.send(whole[: _place(whole, start)])
        peer.drip(piece or b" ", repeat=True)

    return act


def raw(data: bytes, end: Callable[[Peer], None] | None = Peer.fin) -> Act:
    """Take the request and answer with these bytes."""

    def act(peer: Peer) -> None:
        peer.read()
        peer.send(data)
        if end:
            end(peer)

    return act


def answer(make: Reply, end: Callable[[Peer], None] | None = None, *, pieces: int = 0) -> Act:
    """Take the request and answer with what ``make`` makes of it; then keep the connection, or end it."""

    def act(peer: Peer) -> None:
        reply = make(peer.read())
        if pieces:
            for start in range(0, len(reply), pieces):
                peer.send(reply[start : start + pieces])
        else:
            peer.send(reply)
        if end:
            end(peer)

    return act


def status(code: int, body: bytes | None = None, headers: Sequence[tuple[str, str]] = ()) -> Act:
    """Take the request and answer with a status; without a body of its own the reply holds the envelope of success."""
    return answer(lambda request: http(golden(request) if body is None else body, status=code, headers=headers))


def envelope(change: Callable[[dict[str, Any]], Any]) -> Act:
    """Accept, with an envelope that was changed."""

    def make(request: Request) -> bytes:
        found = accepted(request)
        changed = change(found)
        return http(json.dumps(found if changed is None else changed).encode())

    return answer(make)


def records(change: Callable[[list[dict[str, Any]]], Any]) -> Act:
    """Accept, with message records that were changed."""

    def make(found: dict[str, Any]) -> None:
        changed = change(found["data"]["messages"])
        if changed is not None:
            found["data"]["messages"] = changed

    return envelope(make)


def body(data: bytes, code: int = 200) -> Act:
    """Take the request and answer 200, or another status, with this body."""
    return answer(lambda request: http(data, status=code))


def throttle(*headers: tuple[str, str], body: bytes = b"", **options: Any) -> Act:
    """Say in full that nothing was accepted."""

    def act(peer: Peer) -> None:
        peer.read()
        peer.refuse_to_count()
        peer.send(http(body, status=429, headers=headers, **options))

    return act


def endless(head: bytes, piece: bytes) -> Act:
    """Take the request and answer without end, as fast as it is read."""

    def act(peer: Peer) -> None:
        peer.read()
        peer.send(head)
        while not peer.server.ended.is_set():
            peer.send(piece)

    return act


# -- encodings ---------------------------------------------------------------------------------------------------------


def encoded(name: str, encode: Callable[[bytes], bytes], end: Callable[[Peer], None] | None = None) -> Act:
    """Accept, in a content encoding nobody asked for."""
    return answer(lambda request: http(encode(golden(request)), headers=[("Content-Encoding", name)]), end)


def chunked(encode: Callable[[bytes], bytes], end: Callable[[Peer], None] | None = None) -> Act:
    """Accept, in chunks."""
    return answer(
        lambda request: http(b"", length=None, headers=[("Transfer-Encoding", "chunked")]) + encode(golden(request)),
        end,
    )


def in_chunks(data: bytes, size: int = 50, *, extension: bytes = b"", last: bytes = b"0\r\n\r\n") -> bytes:
    pieces = [data[start : start + size] for start in range(0, len(data), size)]
    return b"".join(b"%x%s\r\n%s\r\n" % (len(piece), extension, piece) for piece in pieces) + last


def deflate(data: bytes) -> bytes:
    return zlib.compress(data)


def bomb(data: bytes) -> bytes:
    """Return some kilobytes that unpack to many megabytes."""
    return gzip.compress(b" " * 32_000_000 + data, 9)


# -- TLS ---------------------------------------------------------------------------------------------------------------


def below_tls(data: bytes, *, read: bool = True) -> Act:
    """Take the request and answer with bytes below TLS."""

    def act(peer: Peer) -> None:
        if read:
            peer.read()
        peer.send_raw(data)
        peer.silence()

    return act


def notify(peer: Peer) -> None:
    """End the TLS session in order, then the connection."""
    if isinstance(peer.sock, ssl.SSLSocket):
        peer.sock.settimeout(0.1)
        with contextlib.suppress(OSError, ValueError):
            peer.sock.unwrap()
    with contextlib.suppress(Gone):
        peer.fin()
