"""A proxy before a PostgreSQL server that cuts the line after a number of its messages."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from pathlib import Path
from typing import Self


class CuttingProxy:
    """Listens on loopback and passes on whole messages of the protocol, in both directions."""

    def __init__(self, server: Path) -> None:
        self._server, self._lock = server, threading.Lock()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.passed, self.was_cut = 0, False
        self._most: int | None = None

    def cut_after(self, messages: int | None) -> None:
        """Count from now on, and cut every line that is open after so many messages; None for never."""
        with self._lock:
            self.passed, self.was_cut, self._most = 0, False, messages

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._listener.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.socket(socket.AF_UNIX)
                server.connect(str(self._server))
                for pair in ((client, server, True), (server, client, False)):
                    threading.Thread(target=self._pass_on, args=pair, daemon=True).start()

    def _pass_on(self, source: socket.socket, target: socket.socket, first: bool) -> None:
        with contextlib.suppress(OSError, EOFError):
            while True:
                message = self._message(source, first)
                first = False
                if self._cuts():
                    break
                target.sendall(message)
        for line in (source, target):
            with contextlib.suppress(OSError):
                line.shutdown(socket.SHUT_RDWR)

    def _cuts(self) -> bool:
        with self._lock:
            self.passed += 1
            cut = self._most is not None and self.passed > self._most and not self.was_cut
            self.was_cut = self.was_cut or cut
            return cut

    @staticmethod
    def _message(source: socket.socket, first: bool) -> bytes:
        """Read a message: a letter (none before the session), its length, its content."""
        head = _exactly(source, 4 if first else 5)
        return head + _exactly(source, struct.unpack(">I", head[-4:])[0] - 4)


def _exactly(source: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        piece = source.recv(size - len(data))
        if not piece:
            raise EOFError
        data += piece
    return data
