"""A connection to a sandbox on this machine, for literal bytes."""

from __future__ import annotations

import socket


def connected(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=120)
