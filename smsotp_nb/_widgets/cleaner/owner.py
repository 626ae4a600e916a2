"""The part of the cleaner for the owner of the list: a workbook of questions, and its answers when it comes back."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

from ..._cards import Card, counted
from .. import skin
from ..columns import NONE_CHOSEN, with_none
from ..pinned import Pinned

NAMED = ("name", "full name", "full_name", "customer", "contact")


class OwnerPart:
    """Fields and buttons: ``ask`` writes the workbook that ``path`` names, ``merge`` reads the one of ``back``."""

    def __init__(self, names: Sequence[tuple[str, Hashable]], path: str, *, merge: Callable[[], None]) -> None:
        self.path = skin.text("Write the workbook to", value=path)
        self.keep = skin.choice("Column that says who is meant", with_none(names, "none"), _name_among(names))
        self.ask = Pinned("Write the workbook")
        self.ask_button, self.merge_button = self.ask.button, skin.button("Merge the answers")
        self.back = skin.text("The workbook as it came back", placeholder=path)
        self._line, self._card, self.notice = skin.block(""), skin.block(""), skin.block("")
        self.merge_button.on_click(lambda _: merge())
        self._asking = skin.box(
            skin.box(self.path, self.keep, classes=("smsotp-pair",)), self.ask.widget, classes=("smsotp-main",)
        )
        reading = skin.box(self.back, self.merge_button, classes=("smsotp-pair",))
        self.widget = skin.box(self._line, self._asking, reading, self.notice, self._card, classes=("smsotp-main",))

    @property
    def kept(self) -> list[Hashable]:
        return [] if self.keep.value == NONE_CHOSEN else [self.keep.value]

    def draw(self, unusable: int, wanted: Any) -> None:
        """Say what the workbook will hold; ``wanted`` is what its button stands for."""
        self.ask.offer("Write the workbook", wanted)
        rows = f"{counted(unusable, 'row')} with the complete number, the reason and room for an answer"
        self._line.value = skin.line(
            f"{rows}. It is for the owner of the list only." if unusable else "Nothing to ask."
        )
        skin.show(self._asking, unusable > 0)

    def show(self, card: Card | None) -> None:
        """Show what became of the answers."""
        self._card.value = card.html() if card else ""


def _name_among(names: Sequence[tuple[str, Hashable]]) -> Hashable:
    return next((name for label, name in names if label.lower().strip() in NAMED), NONE_CHOSEN)
