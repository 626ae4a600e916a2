"""A connection to a sandbox on this machine, for literal bytes."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator

from smsotp_nb import Sandbox
from smsotp_nb._sandbox.server import Server


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
