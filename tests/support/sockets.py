"""A connection to a sandbox on this machine: requests, and literal bytes."""

from __future__ import annotations

import contextlib
import json
import socket
from collections.abc import Iterator, Mapping
from http.client import HTTPConnection
from typing import Any

from smsotp_nb import Sandbox
from smsotp_nb.sandbox.server import Server


def port_of(box: Sandbox) -> int:
    return int(box.url.rpartition(":")[2])


def connected(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=120)


@contextlib.contextmanager
def without_token() -> Iterator[Sandbox]:
    """What the command serves on this machine: whoever reaches its port reads it."""
    running = Server()
    running.start()
    yield Sandbox.at(running.url)
    running.close()


def bearer(box: Sandbox) -> dict[str, str]:
    """Return the header by which a sandbox is read."""
    return {"Authorization": f"Bearer {box.token}"}


def answer(
    box: Sandbox, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
) -> tuple[int, dict[str, str], bytes]:
    """Ask a sandbox and return status, headers in lower case and body; what breaks, raises."""
    with contextlib.closing(HTTPConnection("127.0.0.1", port_of(box), timeout=120)) as connection:
        own = bearer(box) | ({} if body is None else {"Content-Type": "application/json"})
        connection.request(method, path, body, own | dict(headers or {}))
        reply = connection.getresponse()
        return reply.status, {name.lower(): value for name, value in reply.getheaders()}, reply.read()


def call(
    box: Sandbox, method: str, path: str, fields: Any = None, headers: Mapping[str, str] | None = None
) -> tuple[int, Any]:
    """Ask a sandbox with an object, and return the status and the object of its reply."""
    status, _, body = answer(box, method, path, None if fields is None else json.dumps(fields).encode(), headers)
    return status, json.loads(body)
