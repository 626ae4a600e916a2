"""Settling what is in doubt, row by row: what the ledger knows of each row, which ones are meant, and what is decided.

The ledger is the only memory: rows that somebody else settled meanwhile are told, and nothing is changed.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import ipywidgets
import pandas as pd

from .._cards import counted, number, safe
from .._ledger import Record
from .._showing import capital
from .._showing import label as shown_label
from .._wire import mask
from ..errors import CampaignLockedError, SmsOtpError, UsageError
from . import skin
from .controls import Filling, Leafing, Pinned, offer
from .stages import PRESSED_ANOTHER, Sign, Stages, refused

PAGE: Final = 8
_APART: Final = 2**40  # between the places of two campaigns: more than one has rows
PHASES: Final = {
    "writing": "The connection broke while the request was being written.",
    "awaiting": "The request was written in full, and no answer began.",
    "headers": "An answer began and broke off.",
    "body": "An answer came that does not say whether this row was accepted.",
    "unknown": "The sending process ended before an answer was recorded.",
}


Shown = tuple[Record, pd.Index | None]


@dataclass(frozen=True, slots=True)
class Doubt:
    """One row in doubt: its place among all shown, its label, its number masked, what is known, and its tick."""

    place: int
    label: str
    number: str
    evidence: str
    ticked: bool


class Settling(Stages):
    """The rows in doubt of a campaign, or of several that belong together, and what a person decides about them.

    ``stage`` is ``choosing``, ``sure`` while it asks whether rows may be texted again, or ``settling``.
    """

    busy = ("settling",)

    def __init__(
        self, *, changed: Callable[[], None] = lambda: None, settled: Callable[[str, Sign], None] = lambda *_: None
    ) -> None:
        """``settled`` is told what was decided, in words and with their sign, after it was recorded."""
        super().__init__("choosing", changed=changed)
        self._settled = settled
        self._shown: list[Shown] = []
        self._rows = _none()
        self._ticked: set[int] = set()
        self.request = ""  # all
        self.page = 0
        self.unread = ""  # why it cannot be read what is in doubt

    def show(self, *shown: Shown) -> None:
        """Look at campaigns as at one, each with the labels of the caller's frame by position, if there is one.

        The same ones again are only read anew: what was ticked meanwhile stays ticked.
        """
        before, now = ([(one.service, one.name) for one, _ in each] for each in (self._shown, shown))
        self._shown = [*shown]
        if now == before:
            self._read()
            self._changed()
            return
        self._ticked, self.request, self.page = set(), "", 0
        self._read()
        self._show("choosing")

    # -- what is seen

    @property
    def left(self) -> int:
        return len(self._rows)

    @property
    def ticked(self) -> int:
        return len(self._ticked)

    @property
    def pages(self) -> int:
        return max(1, -(-len(self._listed()) // PAGE))

    @property
    def listed(self) -> int:
        return len(self._listed())

    def all_ticked(self) -> bool:
        return self._ticked.issuperset(self._listed().index)

    def requests(self) -> list[tuple[str, str]]:
        """Return the requests to choose from, label and key, the latest first; all of them are ``""``."""
        groups = self._rows.groupby("request", sort=False)["started_at"].agg(["first", "size"])
        latest = groups.sort_values("first", ascending=False, kind="stable")
        each = [
            (f"{_moment(moment)}: {counted(int(rows), 'row')}", str(request))
            for request, moment, rows in latest.itertuples()
        ]
        return [(f"All requests: {counted(self.left, 'row')}", ""), *each]

    def rows(self) -> list[Doubt]:
        here = self._listed().iloc[self.page * PAGE : (self.page + 1) * PAGE]
        return [self._doubt(int(place), row) for place, row in zip(here.index, here.to_dict("records"), strict=True)]

    def words(self) -> str:
        rows = counted(self.left, "row is", "rows are")
        return f"{rows} in doubt and never sent again automatically. {number(self.ticked)} of them ticked."

    def warning(self) -> str:
        people = counted(self.ticked, "person is", "people are")
        were = "it was" if self.ticked == 1 else "any of them were"
        return (
            f"{counted(self.ticked, 'row')} will be sent again with the next send. If {were} accepted after all, "
            f"up to {people} texted twice."
        )

    # -- choose

    def choose(self, request: str) -> None:
        if request != self.request:
            self.request, self.page = request, 0
            self._show("choosing")

    def leaf(self, by: int) -> None:
        self.page = min(max(self.page + by, 0), self.pages - 1)
        self._changed()

    def tick(self, place: int, yes: bool) -> None:
        if place not in self._rows.index or (place in self._ticked) == yes:
            return
        self._ticked ^= {place}
        self._show("choosing")

    def tick_listed(self, yes: bool) -> None:
        """Mean every row that is listed, also on other pages, or none of them."""
        listed = set(self._listed().index)
        self._ticked = self._ticked | listed if yes else self._ticked - listed
        self._show("choosing")

    # -- decide

    def accepted(self, ticked: frozenset[int] | None = None) -> None:
        """Record that the ticked rows were accepted; ``ticked`` are those that were when the button was pressed."""
        self._settle("choosing", ticked, accepted=True)

    def not_accepted(self) -> None:
        if self.stage == "choosing" and self._some():
            self._show("sure")

    def sure(self, ticked: frozenset[int] | None = None) -> None:
        """Record that the ticked rows, as for `accepted`, were not accepted: the next send takes them."""
        self._settle("sure", ticked, accepted=False)

    def unsure(self) -> None:
        if self.stage == "sure":
            self._show("choosing", "Nothing was changed.")

    def _some(self) -> bool:
        if not self._ticked:
            self._show("choosing", "Tick the rows first.", "warn")
        return bool(self._ticked)

    def pressed_another(self) -> None:
        if self.stage != "settling":
            self._show("choosing", f"Nothing was changed. {PRESSED_ANOTHER}", "warn")

    @property
    def meant(self) -> frozenset[int]:
        return frozenset(self._ticked)

    def _settle(self, stage: str, ticked: frozenset[int] | None, *, accepted: bool) -> None:
        if ticked is not None and ticked != self._ticked:
            self.pressed_another()
            return
        if not self._some() or not self._begin({stage}, "settling", "Recording …"):
            return
        done, shown, meant = 0, self._shown, self._rows.loc[sorted(self._ticked)]
        for at, rows in meant.groupby(meant.index // _APART):
            try:
                shown[int(at)][0].settle(rows.set_axis(rows.index % _APART), accepted=accepted)
            except SmsOtpError as error:
                self._not_settled(error, _settled(done, accepted=accepted) if done else "Nothing was changed.")
                if done:
                    self._settled(self.notice.text, self.notice.sign)
                return
            done += len(rows)
            self._ticked -= {*rows.index}
        said = _settled(done, accepted=accepted)
        self._read()
        self._show("choosing", said, "ok")
        self._settled(said, "ok")

    def _not_settled(self, error: SmsOtpError, outcome: str) -> None:
        """Say why nothing more was changed, and read anew what is in doubt."""
        if isinstance(error, CampaignLockedError):
            who = f"process {error.pid} on {error.host}" if error.pid else "another process"
            words = f"{outcome} {capital(who)} is sending this campaign: wait until it ends."
            self._show("choosing", words, "warn")
            return
        before = len(self._ticked)
        self._read()
        if isinstance(error, UsageError) and len(self._ticked) < before and not self.unread:
            gone = counted(before - len(self._ticked), "ticked row was", "ticked rows were")
            self._show("choosing", f"{outcome} {gone} settled elsewhere meanwhile.", "warn")
        else:
            self._show("choosing", *refused(error, outcome))

    # -- inside

    def _read(self) -> None:
        """Read what is in doubt; ticks stay on rows that still are. Somebody who was forgotten cannot be settled."""
        self.unread = ""
        try:
            found = [_doubtful(at, campaign) for at, (campaign, _) in enumerate(self._shown)]
        except SmsOtpError as error:
            found, self.unread = [], refused(error, "What is in doubt cannot be read.")[0]
        found = [rows for rows in found if len(rows)]
        self._rows = pd.concat(found) if found else _none()
        self._ticked &= set(self._rows.index)
        if self.request not in [request for _, request in self.requests()]:
            self.request = ""
        self.page = min(self.page, self.pages - 1)

    def _listed(self) -> pd.DataFrame:
        return self._rows[self._rows["request"] == self.request] if self.request else self._rows

    def _doubt(self, place: int, row: dict[Any, Any]) -> Doubt:
        at, own = divmod(place, _APART)
        labels = self._shown[at][1]
        label = own if labels is None or own >= len(labels) else labels[own]
        return Doubt(place, shown_label(label), mask(row["to"]), _evidence(row), place in self._ticked)


def _none() -> pd.DataFrame:
    return pd.DataFrame({"to": [], "started_at": [], "request": []})


def _doubtful(at: int, campaign: Record) -> pd.DataFrame:
    """Return the rows in doubt of the campaign that is shown at a place, each under a place among all."""
    found = campaign.in_doubt
    found = found[found["to"].notna()]
    request = f"{at} " + found["chunk"].astype(str) + " " + found["started_at"].astype(str)
    return found.assign(request=request).set_axis(found.index + at * _APART)


def _settled(rows: int, *, accepted: bool) -> str:
    count = counted(rows, "row")
    return f"{count} recorded as accepted." if accepted else f"{count} to go again; nothing was sent yet."


def _evidence(row: dict[Any, Any]) -> str:
    """Say what is known of a row's latest request: when, how far it came, and what was recorded of its end."""
    phase, status, error = row["phase"], row["http_status"], row["error"]
    said = [f"Requested {_moment(row['started_at'])}."]
    said += [PHASES[phase]] if phase in PHASES else []
    said += [] if pd.isna(status) else [f"HTTP status {status}."]
    said += [f"Recorded: {_reason(error)}."] if isinstance(error, str) and error and phase != "unknown" else []
    return " ".join(said)


def _reason(error: str) -> str:
    """Return what ended a request, out of a recorded error; that it is not repeated is said elsewhere.

    Example:
        >>> _reason("the answer is not known (ReadTimeout, phase awaiting); it may have been accepted")
        'ReadTimeout'
    """
    _, _, rest = error.partition(" (")
    reason, phase, _ = rest.partition(", phase ")
    return reason if phase else error.rstrip(".")


def _moment(moment: Any) -> str:
    return "at an unknown time" if pd.isna(moment) else f"{moment:%Y-%m-%d %H:%M:%S} UTC"


class Doubts:
    """What is in doubt of a campaign, to be settled row by row; ``widget`` is hidden while nothing is."""

    def __init__(self, *, settled: Callable[[str, Sign], None] = lambda *_: None) -> None:
        """``settled`` is told what was decided, in words, once it is recorded; on the thread that recorded it."""
        self.settling = Settling(changed=self._render, settled=settled)
        self.work = self.settling.work
        self._drawing = threading.RLock()
        self._filling = Filling()
        self._places: list[int | None] = [None] * PAGE
        self._make_parts()
        self.widget = self._lay_out()
        self._render()

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
        self._accepted.does(self.settling.accepted, work=self.work, stale=another, then=self._focus)
        self._sure_of.does(self.settling.sure, work=self.work, stale=another, then=self._focus)
        self.again_button.on_click(lambda _: self._ask())
        self.unsure_button.on_click(lambda _: self._leave())

    def _lay_out(self) -> ipywidgets.VBox:
        self._words, self._notice, self._warning = skin.block(), skin.block(), skin.block()
        self._rows = [
            skin.box(tick, evidence, classes=("smsotp-tick",))
            for tick, evidence in zip(self.ticks, self._evidence, strict=True)
        ]
        self._actions = skin.pair(self._accepted.widget, self.again_button)
        answers = skin.pair(self._sure_of.widget, self.unsure_button)
        self._sure = skin.main(self._warning, answers, classes=("smsotp-framed",))
        self._choice = skin.pair(self.request, self.all_button)
        return skin.main(
            self._words,
            self._choice,
            *self._rows,
            self._leafing.widget,
            self._actions,
            self._sure,
            self._notice,
            classes=("smsotp-doubt",),
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
            with self._filling:
                offer(self.request, state.requests(), state.request)
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

    def _draw_rows(self, rows: list[Doubt]) -> None:
        for at, (box, tick, evidence) in enumerate(zip(self._rows, self.ticks, self._evidence, strict=True)):
            row = rows[at] if at < len(rows) else None
            skin.show(box, row is not None)
            self._places[at] = None if row is None else row.place
            tick.value = row is not None and row.ticked
            tick.description = "" if row is None else f"Row {row.label}, {row.number}"
            evidence.value = "" if row is None else f'<p class="smsotp-line">{safe(row.evidence)}</p>'
