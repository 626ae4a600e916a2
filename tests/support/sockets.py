"""A connection to a sandbox on this machine, for literal bytes."""

from __future__ import annotations

import socket

from smsotp_nb import Sandbox


def connected(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=120)


def bearer(box: Sandbox) -> dict[str, str]:
    """Return the header by which a sandbox is read."""
    return {"Authorization": f"Bearer {box.token}"}
