"""A campaign on its way, drawn as a card in a notebook and as a line in a terminal; elsewhere one last line.

What a notebook keeps of a call is the card it ends with: plain HTML that needs no kernel and no script.
"""

from __future__ import annotations

import sys
import time
import uuid
from collections.abc import Callable
from types import TracebackType
from typing import Any, Final, Literal, Self, TextIO

from ._cards import Block, Card, Figures, Meter, Note, counted, fitted, money, number, terminal_width
from ._showing import capital, visible
from ._wire import amount
from .results import Progress

DRAWN_PER_SECOND: Final = 8  # tens of thousands of quick updates hang a notebook's page
SENT_PER_SECOND: Final = 4  # to a notebook's page

Ended = Literal["", "interrupted", "failed"]


class Bar:
    """A progress callback that draws how far a campaign is: ``send(plan, client, progress=Bar("autumn-sale"))``.

    In a notebook it draws a card, at most 4 times a second, which ends as the card of the result. In a terminal it
    draws a line, at most 8 times a second. When the error stream is neither it prints one line at the end.

    Args:
        title: what is under way, such as the campaign's name; short, for the bar has what is left of the line.
        note: what else to say once, such as where it is recorded: in the card, a line before the bar, or the end of the
            last line.
        stream: where a terminal's bar is drawn, the error stream by default.
        clock: monotonic seconds.
    """

    def __init__(
        self,
        title: str = "",
        *,
        note: str = "",
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._clock = clock
        self._started = clock()
        self._drawn_at: float | None = None
        self._last: Progress | None = None
        self._face = _face(title, note, stream)

    def __call__(self, update: Progress) -> None:
        """Take one update; draw it when the last drawing is long enough ago."""
        self._last = update
        now = self._clock()
        if self._drawn_at is None or now - self._drawn_at >= 1 / self._face.per_second or update.left == 0:
            self._drawn_at = now
            self._face.draw(update, now - self._started)

    def close(self, ended: Ended = "") -> None:
        """Draw the last state and leave it standing; without a bar, print it as a line."""
        if self._last is not None:
            self._face.end(self._last, self._clock() - self._started, ended)
        self._last = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close("" if kind is None else "interrupted" if issubclass(kind, KeyboardInterrupt) else "failed")


def running_card(title: str, note: str, update: Progress, seconds: float, *, before: int = 0) -> Card:
    """Return the card of a campaign under way; ``before`` rows were done when this call began."""
    done = update.done - before
    left = f", about {span(seconds / done * update.left)} left" if done and update.left else ""
    state = f"{number(update.done)} of {number(update.total)}, {span(seconds)}{left}"
    meter = Meter(update.done, update.total, title or "Sending")
    return Card(f"{title}: sending" if title else "Sending", state, (meter, _figures(update)), capital(note))


def ended_card(title: str, note: str, update: Progress, seconds: float, ended: Ended = "", *, before: int = 0) -> Card:
    """Return the card that stays: what became of the rows, what to do next, and where it is recorded."""
    how = _how(update, ended)
    sent = update.done - before
    said = f"{number(sent)} by this call, " if before and sent else "none by this call, " if before else ""
    state = f"{said}{number(update.done)} of {number(update.total)} in {span(seconds)}"
    blocks: tuple[Block, ...] = (_figures(update), *_next_steps(update, ended))
    return Card(f"{title}: {how}" if title else capital(how), capital(state), blocks, capital(note))


def words(update: Progress) -> str:
    """Return an update as one line: rows done, rows held back beside them, outcomes that occurred, cost."""
    held = f" ({number(update.waiting)} more held back for now)" * bool(update.waiting)
    return f"{number(update.done)} of {number(update.total)}{held}, {_counts(update)}"


def span(seconds: float) -> str:
    """Return a span of time as people say it."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def in_notebook() -> bool:
    """Return whether this process is a notebook's kernel."""
    shell = sys.modules.get("IPython")
    found = shell.get_ipython() if shell is not None else None
    return getattr(found, "kernel", None) is not None


class _Page:
    """A card in a notebook: one output, drawn again in its place, whose last state is what is saved."""

    per_second = SENT_PER_SECOND

    def __init__(self, title: str, note: str) -> None:
        self._title, self._note = title, note
        self._id = uuid.uuid4().hex
        self._before: int | None = None
        self._shown = False

    def draw(self, update: Progress, seconds: float) -> None:
        first = self._before is None
        before = self._begun(update)
        card = running_card(self._title, self._note, update, seconds, before=before)
        # A front end that cannot draw again in place keeps this line.
        later = f"{card.title} {counted(update.left, 'row')}. The table that is returned has what became of each."
        self._put(card.html(), "\n".join(filter(None, (later, capital(self._note)))) if first else card.text())

    def end(self, update: Progress, seconds: float, ended: Ended) -> None:
        card = ended_card(self._title, self._note, update, seconds, ended, before=self._begun(update))
        self._put(card.html(), card.text())

    def _begun(self, update: Progress) -> int:
        if self._before is None:
            self._before = update.done
        return self._before

    def _put(self, html: str, text: str) -> None:
        from IPython.display import display

        data = {"text/html": html, "text/plain": text}
        shown = {"display_id": self._id, "update": self._shown}
        display(data, raw=True, **shown)  # type: ignore[no-untyped-call]  # IPython has no annotations
        self._shown = True


class _Line:
    """A line in a terminal, drawn by tqdm."""

    per_second = DRAWN_PER_SECOND

    def __init__(self, title: str, note: str, out: TextIO) -> None:
        self._title, self._note, self._out = title, note, out
        self._bar: Any = None

    def draw(self, update: Progress, _: float) -> None:
        if self._bar is None:
            if self._note:
                self._out.write(f"{fitted(self._note, terminal_width())}\n")
            self._bar = _tqdm(self._title, update, self._out)
        self._bar.n = update.done
        self._bar.total = update.total
        self._bar.set_postfix_str(_counts(update), refresh=False)
        self._bar.refresh()

    def end(self, update: Progress, seconds: float, _: Ended) -> None:
        self.draw(update, seconds)
        self._bar.close()


class _LastLine:
    """One line at the end, for a log."""

    per_second = DRAWN_PER_SECOND

    def __init__(self, title: str, note: str, out: TextIO) -> None:
        self._title, self._note, self._out = title, note, out

    def draw(self, update: Progress, seconds: float) -> None:
        """Draw nothing yet."""

    def end(self, update: Progress, seconds: float, _: Ended) -> None:
        title = f"{self._title}: " if self._title else ""
        note = f"; {self._note}" if self._note else ""
        self._out.write(f"{title}{words(update)} in {round(seconds):,} s{note}\n")


class _Silent:
    """Nothing, where there is nobody to read it."""

    per_second = DRAWN_PER_SECOND

    def draw(self, update: Progress, seconds: float) -> None:
        """Draw nothing."""

    def end(self, update: Progress, seconds: float, ended: Ended) -> None:
        """Draw nothing."""


def _face(title: str, note: str, stream: TextIO | None) -> _Page | _Line | _LastLine | _Silent:
    title, note = visible(title), visible(note)
    if stream is None and in_notebook():
        return _Page(title, note)
    out = stream or sys.stderr
    if out is None:  # closed before the program began, as by ``2>&-``
        return _Silent()
    return _Line(title, note, out) if _is_terminal(out) else _LastLine(title, note, out)


def _how(update: Progress, ended: Ended) -> str:
    if ended:
        return "interrupted" if ended == "interrupted" else "ended by an error"
    if update.left or update.waiting:
        return "not complete"
    return "complete but for rows in doubt" if update.in_doubt else "complete"


def _next_steps(update: Progress, ended: Ended) -> list[Note]:
    """Say what to do about rows that are left or in doubt."""
    steps = []
    if ended == "failed":
        steps.append(Note("cross", "These are the rows as last told; the ledger has what was recorded since."))
    if update.in_doubt:
        rows = counted(update.in_doubt, "row is", "rows are")
        steps.append(Note("!", f"{rows} in doubt and never sent again automatically: settle them in the ledger."))
    if not_sent := update.left + update.waiting:
        rows = counted(not_sent, "row was", "rows were")
        again = "Run this cell again to go on" if ended else "Their problem in the table says why; a later call goes on"
        steps.append(Note("i", f"{rows} not sent. {again}: nobody is texted twice."))
    return steps


def _figures(update: Progress) -> Figures:
    billed = money(amount(update.cost_micros), update.currency) if update.currency else None
    return Figures(
        (
            ("accepted", update.accepted),
            ("rejected", update.rejected),
            ("in doubt", update.in_doubt),
            ("to go", update.left),
            *[("held back for now", update.waiting)] * bool(update.waiting),
            ("billed", billed),
        )
    )


def _counts(update: Progress) -> str:
    said = [f"{number(update.accepted)} accepted"]
    said += [f"{number(update.rejected)} rejected"] * bool(update.rejected)
    said += [f"{number(update.in_doubt)} in doubt"] * bool(update.in_doubt)
    said += [money(amount(update.cost_micros), update.currency)] * bool(update.currency)
    return ", ".join(said)


def _tqdm(title: str, update: Progress, out: TextIO) -> Any:
    from tqdm import tqdm

    # The rows of earlier calls are done already: without them as the start, the speed and the time left would be wrong.
    return tqdm(desc=title or None, initial=update.done, total=update.total, unit="row", file=out, dynamic_ncols=True)


def _is_terminal(stream: TextIO) -> bool:
    return bool(getattr(stream, "isatty", lambda: False)())
