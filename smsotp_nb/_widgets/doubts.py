"""Rows in doubt in a form: each with a box to tick and its evidence, and two things that may be said of them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

import ipywidgets
import pandas as pd

from .._cards import counted, number, safe
from .._ledger import Record
from . import skin
from .controls import Leafing, Pinned
from .settling import PAGE, Doubt, Settling, Shown
from .stages import Sign


class Doubts:
    """What is in doubt of a campaign, to be settled row by row; ``widget`` is hidden while nothing is."""

    def __init__(self, *, settled: Callable[[str, Sign], None] = lambda *_: None) -> None:
        """``settled`` is told what was decided, in words, once it is recorded; on the thread that recorded it."""
        self.settling = Settling(changed=self._render, settled=settled)
        self.work = self.settling.work
        self._drawing = threading.RLock()
        self._filling = False
        self._places: list[int | None] = [None] * PAGE
        self._make_parts()
        self.widget = self._lay_out()
        self._render()

    def show(self, campaign: Record | None, labels: pd.Index | None = None) -> None:
        """Show the rows in doubt of another campaign, or of none; ``labels`` are those of the caller's frame."""
        self.settling.show(campaign, labels)

    def show_all(self, shown: Sequence[Shown]) -> None:
        """Show the rows in doubt of several campaigns as those of one, each campaign with its labels."""
        self.settling.show_all(shown)

    # -- parts

    def _make_parts(self) -> None:
        self.request: ipywidgets.Dropdown = ipywidgets.Dropdown(description="Requests in doubt", options=[("All", "")])
        self.ticks = [skin.check("") for _ in range(PAGE)]
        self._evidence = [skin.block("", "smsotp-evidence") for _ in range(PAGE)]
        self.all_button = skin.button("Tick all")
        self._leafing = Leafing("Previous rows", "Next rows", self.settling.leaf)
        self._accepted, self._sure_of = Pinned("They were accepted"), Pinned("Yes, send them again")
        self.accepted_button, self.sure_button = self._accepted.button, self._sure_of.button
        self.again_button = skin.button("They were not accepted")
        self.unsure_button = skin.button("No, leave them in doubt")
        self.request.observe(lambda _: self._choose(), "value")
        for at, tick in enumerate(self.ticks):
            tick.observe(lambda change, at=at: self._tick(at, change["new"]), "value")
        self.all_button.on_click(lambda _: self.settling.tick_listed(not self.settling.all_ticked()))
        another = self.settling.pressed_another
        self._accepted.does(self._settles(self.settling.accepted), work=self.work, stale=another)
        self._sure_of.does(self._settles(self.settling.sure), work=self.work, stale=another)
        self.again_button.on_click(lambda _: self._ask())
        self.unsure_button.on_click(lambda _: self._leave())

    def _lay_out(self) -> ipywidgets.VBox:
        self._words, self._notice, self._warning = skin.block(""), skin.block(""), skin.block("")
        self._rows = [
            skin.box(tick, evidence, classes=("smsotp-tick",))
            for tick, evidence in zip(self.ticks, self._evidence, strict=True)
        ]
        self._actions = skin.box(self._accepted.widget, self.again_button, classes=("smsotp-pair",))
        answers = skin.box(self._sure_of.widget, self.unsure_button, classes=("smsotp-pair",))
        self._sure = skin.box(self._warning, answers, classes=("smsotp-main", "smsotp-framed"))
        self._choice = skin.box(self.request, self.all_button, classes=("smsotp-pair",))
        return skin.box(
            self._words,
            self._choice,
            *self._rows,
            self._leafing.widget,
            self._actions,
            self._sure,
            self._notice,
            classes=("smsotp-main", "smsotp-doubt"),
        )

    # -- gestures

    def _choose(self) -> None:
        with self._drawing:
            if not self._filling:
                self.settling.choose(self.request.value)

    def _tick(self, at: int, yes: bool) -> None:
        place = self._places[at]
        if place is not None:
            self.settling.tick(place, yes)

    def _ask(self) -> None:
        self.settling.not_accepted()
        if self.settling.stage == "sure":
            skin.focus(self.unsure_button)

    def _leave(self) -> None:
        self.settling.unsure()
        skin.focus(self.again_button)

    def _settles(self, move: Callable[[frozenset[int]], None]) -> Callable[[frozenset[int]], Callable[[], None]]:
        def settle(ticked: frozenset[int]) -> Callable[[], None]:
            move(ticked)
            return self._focus

        return settle

    def _focus(self) -> None:
        if self.settling.left:
            skin.focus(self.request)

    # -- drawing

    def _render(self) -> None:
        with self._drawing:
            state = self.settling
            skin.show(self.widget, state.left > 0 or bool(state.unread))
            skin.show(self._choice, state.left > 0)
            self._words.value = skin.line(state.unread or state.words(), "warn")
            self._notice.value = skin.notice(state.notice.text, state.notice.sign)
            self._draw_requests()
            self._draw_rows(state.rows())
            self._leafing.draw(state.page, state.pages)
            listed = f"all {counted(state.listed, 'row')} listed" if state.listed > 1 else "the row listed"
            self.all_button.description = f"{'Untick' if state.all_ticked() else 'Tick'} {listed}"
            self._draw_actions()

    def _draw_actions(self) -> None:
        state = self.settling
        skin.show(self._sure, state.stage == "sure")
        skin.show(self._actions, state.left > 0 and state.stage != "sure")
        self._warning.value = skin.line(state.warning(), "warn")
        they = "It was" if state.ticked == 1 else "They were" if not state.ticked else f"{number(state.ticked)} were"
        self._accepted.offer(f"{they} accepted", state.meant)
        self.again_button.description = f"{they} not accepted, retry with the next send"
        self._sure_of.offer(
            f"Yes, send {counted(state.ticked, 'row')} again", state.meant if state.stage == "sure" else None
        )

    def _draw_requests(self) -> None:
        options = self.settling.requests()
        self._filling = True
        try:
            if list(self.request.options) != options:
                self.request.options = options
            self.request.value = self.settling.request
        finally:
            self._filling = False

    def _draw_rows(self, rows: list[Doubt]) -> None:
        for at, (box, tick, evidence) in enumerate(zip(self._rows, self.ticks, self._evidence, strict=True)):
            row = rows[at] if at < len(rows) else None
            skin.show(box, row is not None)
            self._places[at] = None if row is None else row.place
            tick.value = row is not None and row.ticked
            tick.description = "" if row is None else f"Row {row.label}, {row.number}"
            evidence.value = "" if row is None else f'<p class="smsotp-line">{safe(row.evidence)}</p>'
