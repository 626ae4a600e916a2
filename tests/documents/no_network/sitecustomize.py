"""A Python that starts with this folder on its path reaches nothing but this machine."""

import socket

_connect = socket.socket.connect


def _loopback_only(self: socket.socket, address: object) -> None:
    if isinstance(address, tuple) and address[0] not in {"127.0.0.1", "::1", "localhost"}:
        raise OSError(f"no network: {address[0]}")
    _connect(self, address)


socket.socket.connect = _loopback_only
