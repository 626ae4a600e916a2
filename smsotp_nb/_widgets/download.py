"""A file for the person at the page, without a file at the kernel: in JupyterLab, in voila, without a network.

The page's script takes the file in pieces and hands it to the browser. A piece stays in the widget's state only until
the page says that it has it, so that no saved notebook holds one.
"""

from __future__ import annotations

import base64
import html
import secrets
import threading
from collections.abc import Callable, Iterator

from . import skin

PIECE = 3 * 2**20  # bytes, and a third more as text
PATIENCE = 60.0  # seconds for a page to take a piece; then nobody is looking


class Download:
    """One file at a time on its way to the page; place ``widget`` anywhere in a form, it is never seen.

    Example:
        >>> download = Download()
        >>> download.offer("a.csv", b"to")
        >>> download.taken()
        >>> download.open
        False
    """

    def __init__(self, *, ended: Callable[[bool], None] = lambda _: None, patience: float = PATIENCE) -> None:
        """``ended`` is told whether the page took the whole file, or nobody was there to take it."""
        self._ended, self._patience = ended, patience
        self._pieces: Iterator[str] = iter(())
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None
        self._piece = skin.block("")
        self._taken = skin.button("Taken")
        self._taken.on_click(lambda _: self.taken())
        self.widget = skin.box(self._piece, self._taken, classes=("smsotp-download",))

    @property
    def open(self) -> bool:
        """Whether a file is on its way."""
        return bool(self._piece.value)

    def offer(self, name: str, content: bytes) -> None:
        """Begin with a file; one that is still on its way is forgotten."""
        with self._lock:
            self._pieces = _pieces(name, content)
            self._next()

    def taken(self) -> None:
        """Go on: the page has the piece."""
        with self._lock:
            ended = self.open and not self._next()
        if ended:
            self._ended(True)

    def _next(self) -> bool:
        if self._timer is not None:
            self._timer.cancel()
        piece = next(self._pieces, "")
        self._piece.value = piece
        if piece:
            self._timer = threading.Timer(self._patience, self._forget)
            self._timer.daemon = True
            self._timer.start()
        return bool(piece)

    def _forget(self) -> None:
        with self._lock:
            self._pieces = iter(())
            self._piece.value = ""
        self._ended(False)


def _pieces(name: str, content: bytes) -> Iterator[str]:
    """Yield a file as elements that the page's script reads; the last one says so."""
    number, file = max(1, -(-len(content) // PIECE)), secrets.token_hex(8)
    for at in range(number):
        text = base64.b64encode(content[at * PIECE : (at + 1) * PIECE]).decode()
        yield (
            f'<span data-file="{file}" data-piece="{at}" data-pieces="{number}" '
            f'data-name="{html.escape(name)}">{text}</span>'
        )
