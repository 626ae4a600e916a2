"""A bar for a campaign on its way, drawn by tqdm in a notebook or a terminal; elsewhere one last line."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any, Final, Self, TextIO

from ._cards import money, number
from ._wire import amount
from .results import Progress

DRAWN_PER_SECOND: Final = 8  # tens of thousands of quick updates hang a notebook's page


class Bar:
    """A progress callback that draws a bar: ``send(plan, client=..., progress=Bar("autumn-sale"))``.

    It draws at most 8 times a second, and always the last state. In a notebook it is a widget, in a terminal a line;
    when the error stream is neither it prints one line at the end.

    Args:
        title: what is under way, such as the campaign's name; short, for the bar has what is left of the line.
        note: what else to say once, such as where it is recorded: a line before the bar, or the end of the last line.
        stream: where a terminal's bar is drawn, the error stream by default.
        clock: monotonic seconds.

    Example:
        >>> import io
        >>> out = io.StringIO()
        >>> with Bar("autumn-sale", stream=out, clock=lambda: 0.0) as bar:
        ...     bar(Progress(done=2, total=2, accepted=2, cost_micros=15000, currency="USD"))
        >>> print(out.getvalue(), end="")
        autumn-sale: 2 of 2, 2 accepted, USD 0.015 in 0 s
    """

    def __init__(
        self,
        title: str = "",
        *,
        note: str = "",
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._title = title
        self._note = note
        self._stream = stream
        self._clock = clock
        self._started = clock()
        self._drawn_at: float | None = None
        self._last: Progress | None = None
        self._bar: Any = None
        self._draws = in_notebook() or _is_terminal(self._out())

    def __call__(self, update: Progress) -> None:
        """Take one update; draw it when the last drawing is long enough ago."""
        self._last = update
        now = self._clock()
        if self._drawn_at is None or now - self._drawn_at >= 1 / DRAWN_PER_SECOND or update.left == 0:
            self._drawn_at = now
            self._draw()

    def close(self) -> None:
        """Draw the last state and leave it standing; without a bar, print it as a line."""
        if self._last is None:
            return
        if self._draws:
            self._draw()
            self._bar.close()
        else:
            seconds = round(self._clock() - self._started)
            title = f"{self._title}: " if self._title else ""
            note = f"; {self._note}" if self._note else ""
            self._out().write(f"{title}{words(self._last)} in {seconds:,} s{note}\n")
        self._last = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _draw(self) -> None:
        update = self._last
        if not self._draws or update is None:
            return
        if self._bar is None:
            if self._note:
                (sys.stdout if in_notebook() else self._out()).write(f"{self._note}\n")
            self._bar = _tqdm(self._title, update, self._out())
        self._bar.n = update.done
        self._bar.total = update.total
        self._bar.set_postfix_str(_counts(update), refresh=False)
        self._bar.refresh()

    def _out(self) -> TextIO:
        return self._stream or sys.stderr


def words(update: Progress) -> str:
    """Return an update as one line: rows done, outcomes that occurred, cost.

    Example:
        >>> words(Progress(done=12, total=40, accepted=9, rejected=2, in_doubt=1, cost_micros=67500, currency="USD"))
        '12 of 40, 9 accepted, 2 rejected, 1 in doubt, USD 0.0675'
    """
    return f"{number(update.done)} of {number(update.total)}, {_counts(update)}"


def in_notebook() -> bool:
    """Return whether this process is a notebook's kernel.

    Example:
        >>> in_notebook()
        False
    """
    shell = sys.modules.get("IPython")
    found = shell.get_ipython() if shell is not None else None
    return getattr(found, "kernel", None) is not None


def _counts(update: Progress) -> str:
    said = [f"{number(update.accepted)} accepted"]
    said += [f"{number(update.rejected)} rejected"] * bool(update.rejected)
    said += [f"{number(update.in_doubt)} in doubt"] * bool(update.in_doubt)
    said += [money(amount(update.cost_micros), update.currency)] * bool(update.currency)
    return ", ".join(said)


def _tqdm(title: str, update: Progress, out: TextIO) -> Any:
    # The rows of earlier calls are done already: without them as the start, the speed and the time left would be wrong.
    options = {"desc": title or None, "initial": update.done, "total": update.total, "unit": "row"}
    if in_notebook():
        from tqdm.notebook import tqdm as notebook_bar

        bar = notebook_bar(**options)
        for words_beside in (bar.container.children[0], bar.container.children[2]):
            words_beside.layout.flex = "0 0 auto"  # else a title breaks at its first hyphen
        return bar
    from tqdm import tqdm as line_bar

    return line_bar(**options, file=out, dynamic_ncols=True)


def _is_terminal(stream: TextIO) -> bool:
    return bool(getattr(stream, "isatty", lambda: False)())
