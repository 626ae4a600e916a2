"""A proxy before a PostgreSQL server that cuts the line after a number of its messages."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Self


class CuttingProxy:
    """Listens on loopback and passes on whole messages of the protocol, in both directions.

    ``passed`` counts all messages, ``asked`` those for whose answer a client waits: a query, or the end of several.
    """

    def __init__(self, server: Path) -> None:
        self._server, self._lock = server, threading.Lock()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.passed, self.asked, self.was_cut = 0, 0, False
        self._most: int | None = None
        self._lines: list[socket.socket] = []
        self._threads: list[threading.Thread] = []

    def cut_after(self, messages: int | None) -> None:
        """Count from now on, and cut every line that is open after so many messages; None for never."""
        with self._lock:
            self.passed, self.asked, self.was_cut, self._most = 0, 0, False, messages

    def __enter__(self) -> Self:
        self._begin(self._accept)
        return self

    def __exit__(self, *exc: object) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)  # ends a thread that waits in accept, which closing does not
        self._listener.close()
        self._threads[0].join()
        for line in self._lines:
            with contextlib.suppress(OSError):
                line.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()
        for line in self._lines:
            line.close()

    def _begin(self, work: Callable[..., None], *arguments: object) -> None:
        thread = threading.Thread(target=work, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # else each message waits for the next
                server = socket.socket(socket.AF_UNIX)
                self._lines += [client, server]
                server.connect(str(self._server))
                for pair in ((client, server, True), (server, client, False)):
                    self._begin(self._pass_on, *pair)

    def _pass_on(self, source: socket.socket, target: socket.socket, first: bool) -> None:
        of_client = first
        with contextlib.suppress(OSError, EOFError):
            while True:
                message = self._message(source, first)
                first = False
                if self._cuts(asked=of_client and message[:1] in b"QS"):
                    break
                target.sendall(message)
        for line in (source, target):
            with contextlib.suppress(OSError):
                line.shutdown(socket.SHUT_RDWR)

    def _cuts(self, *, asked: bool) -> bool:
        with self._lock:
            self.passed += 1
            self.asked += asked
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
