"""Which rows of a result table are seen: filtered, sorted, searched and a page at a time, without a widget."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from .._cards import MISSING, Cell, Code, State, Table, counted, money, number, places_of
from .._cards.blocks import Align, Sign
from .._pandas import STR, texts
from .._phones import country_name
from .._results.contract import ALL
from .._showing import capital
from .._showing import label as shown_label
from .._wire import mask
from ..problems import PROBLEMS

PAGE: Final = 15
MOST_REASONS: Final = 20
STATES: Final[dict[str, tuple[Sign, str]]] = {
    "in_doubt": ("!", "in doubt"),
    "rejected": ("cross", "rejected"),
    "planned": ("i", "to go"),
    "sending": ("i", "under way"),
    "skipped": ("i", "left out"),
    "accepted": ("check", "accepted"),
}  # in the order in which they are looked for
SORTS: Final = {
    "Row": "row",
    "Number": "to",
    "State": "status",
    "Reason": "reason",
    "Country": "country",
    "Parts": "parts",
    "Price": "price",
    "Message ID": "id",
    "Time": "at",
}
_SHOWN: Final = ("Row", "Number", "State", "Reason", "Country", "Parts", "Price", "Message ID")
_ALIGN: Final[tuple[Align, ...]] = (*("left",) * 5, "right", "right", "left")
_SIGNS_OF_A_NUMBER: Final = frozenset("+0123456789 ().-/")
_LEAST_DIGITS: Final = 3
_WHOLE_NUMBER: Final = 8
_ID: Final = 8
Mask = npt.NDArray[np.bool_]
Places = npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Asked:
    """What to look at: ``state`` and ``reason`` are ``""`` for all, ``by`` is one of ``SORTS``, pages begin at 0."""

    state: str = ""
    reason: str = ""
    search: str = ""
    by: str = "row"
    descending: bool = False
    page: int = 0


@dataclass(frozen=True, slots=True)
class Page:
    """One page of the rows that were asked for: ``found`` of ``total`` rows, ``number`` of ``pages`` from 0."""

    table: Table
    found: int
    total: int
    number: int
    pages: int

    def line(self) -> str:
        said = counted(self.total, "row")
        said = said if self.found == self.total else f"{number(self.found)} of {said}"
        return said + (f", page {number(self.number + 1)} of {number(self.pages)}" if self.pages > 1 else "")


class ResultsView:
    """A result table to look through. A page is made of its rows alone; what filters and sorts works by column."""

    def __init__(self, frame: pd.DataFrame) -> None:
        self.frame = frame.reindex(columns=list(dict.fromkeys([*ALL, *frame.columns])))
        self._given = frame
        self._status = pd.Categorical(self.frame["status"], categories=list(STATES), ordered=True)
        self._reason = _reasons(self.frame)
        self._country = _countries(self.frame)
        self._amounts = places_of(self.frame["price"].dropna().unique().tolist())
        self._last: tuple[Asked, Places] | None = None

    def choices(self) -> list[tuple[str, tuple[str, str]]]:
        """Return what may be shown: label, and state and reason; each state, and below it its most frequent reasons."""
        found = [(f"All {counted(len(self.frame), 'row')}", ("", ""))]
        for state, (_, words) in STATES.items():
            mine = self._status == state
            if not mine.any():
                continue
            found.append((f"{capital(words)}: {number(int(mine.sum()))}", (state, "")))
            reasons = pd.Series(self._reason[mine]).value_counts()
            for reason, rows in reasons[reasons > 0].head(MOST_REASONS).items():
                found.append((f"{capital(words)}, {reason}: {number(int(rows))}", (state, str(reason))))
        return found

    def page(self, asked: Asked) -> Page:
        places = self._places(asked)
        pages = max(1, -(-len(places) // PAGE))
        here = min(max(asked.page, 0), pages - 1)
        rows = tuple(self._row(int(place)) for place in places[here * PAGE : (here + 1) * PAGE])
        return Page(Table(_SHOWN, rows, _ALIGN), len(places), len(self.frame), here, pages)

    def rows(self, asked: Asked) -> pd.DataFrame:
        """Return all rows that were asked for, in their order, with every column and the caller's index."""
        return self._given.iloc[self._places(asked)]

    # -- filter and sort

    def _places(self, asked: Asked) -> Places:
        key = Asked(asked.state, asked.reason, asked.search.strip(), asked.by, asked.descending)
        if self._last is None or self._last[0] != key:
            self._last = key, self._sorted(np.flatnonzero(self._wanted(key)), key.by, key.descending)
        return self._last[1]

    def _wanted(self, asked: Asked) -> Mask:
        wanted: Mask = np.ones(len(self.frame), dtype=bool)
        if asked.state:
            wanted &= np.asarray(self._status == asked.state)
        if asked.reason:
            wanted &= np.asarray(self._reason == asked.reason)
        return wanted & self._found(asked.search) if asked.search else wanted

    def _sorted(self, places: Places, by: str, descending: bool) -> Places:
        if by == "row":
            return places[::-1] if descending else places
        keys = self._keys(by).take(places).set_axis(range(len(places)))
        ascending = [True] * (keys.shape[1] - 1) + [not descending]
        order = keys.sort_values(list(keys.columns), ascending=ascending, kind="stable", na_position="last")
        found: Places = places[order.index.to_numpy()]
        return found

    def _keys(self, by: str) -> pd.DataFrame:
        """Return what a column is sorted by; amounts of one currency stand together."""
        made = {"status": self._status, "reason": self._reason, "country": self._country}
        if by in made:
            return pd.DataFrame({by: made[by]})
        return self.frame[["currency", "price"] if by == "price" else [by]].reset_index(drop=True)

    # -- search

    def _found(self, search: str) -> Mask:
        words = search.casefold()
        found = self._number_like(search)
        for column in (self._reason, self._country):
            found = found | np.isin(column.codes, _fitting(column.categories, words))
        said = [code for code, (_, state) in enumerate(STATES.values()) if words in state]
        found = found | np.isin(self._status.codes, said)
        own = [name for name in self._given.columns if name not in ALL]
        for cells in (self.frame["id"], *(self._given[name] for name in own), _labels(self.frame.index)):
            found = found | _holds(cells, search)
        return found

    def _number_like(self, search: str) -> Mask:
        """Say whose number fits: one typed in any usual way, a part of one, or one as it is shown, with its dots."""
        numbers = self.frame["to"].astype(STR)
        head, dots, tail = search.partition("...")
        if dots and _SIGNS_OF_A_NUMBER.issuperset(search):
            fits = numbers.str.startswith(head, na=False) & numbers.str.endswith(tail, na=False)
            return fits.to_numpy(bool)
        digits = "".join(sign for sign in search if sign.isdigit())
        if len(digits) < _LEAST_DIGITS or not _SIGNS_OF_A_NUMBER.issuperset(search):
            return np.zeros(len(numbers), dtype=bool)
        return _holds(numbers, f"+{digits}" if search.startswith("+") else digits)

    # -- one row

    def _row(self, place: int) -> tuple[Cell, ...]:
        row = self.frame.iloc[place]
        to, sent = row["to"], row["id"]
        sign, state = STATES[row["status"]]
        return (
            shown_label(self.frame.index[place]),
            MISSING if pd.isna(to) else Code(mask(to)),
            State(sign, state),
            self._why(place, row),
            _text(self._country[place]),
            "" if pd.isna(row["parts"]) else int(row["parts"]),
            "" if pd.isna(row["price"]) else money(row["price"], _text(row["currency"]), places=self._amounts),
            "" if pd.isna(sent) else Code(_short(str(sent))),
        )

    def _why(self, place: int, row: Any) -> str:
        said, until = _text(self._reason[place]), row["not_before"]
        return said if pd.isna(until) else f"{said}, until {until:%Y-%m-%d %H:%M} UTC"


def hidden(search: str) -> str:
    """Return a search as a field may keep it: a whole number masked, everything else as it is.

    Example:
        >>> hidden("+1 202 555 0123"), hidden("555 01"), hidden("Zoë")
        ('+1202...0123', '555 01', 'Zoë')
    """
    digits = "".join(sign for sign in search if sign in "+0123456789")
    return mask(digits) if len(digits) >= _WHOLE_NUMBER and _SIGNS_OF_A_NUMBER.issuperset(search) else search


def _reasons(frame: pd.DataFrame) -> pd.Categorical:
    """Return why a row stands as it does in plain words, made once for each problem and error."""
    pairs = frame[["problem", "error"]]
    group = pairs.groupby(["problem", "error"], dropna=False, sort=False).ngroup().to_numpy()
    first = pairs.iloc[np.unique(group, return_index=True)[1]]
    words = pd.Series([_reason(*pair) for pair in first.itertuples(index=False)], dtype=STR)
    return pd.Categorical(words.take(group), categories=sorted(words.dropna().unique()), ordered=True)


def _reason(problem: Any, error: Any) -> str | None:
    if not isinstance(problem, str):
        return None
    meaning = PROBLEMS[problem].meaning if problem in PROBLEMS else problem
    said = isinstance(error, str) and error and problem == "REJECTED"  # else the meaning says it all
    return f"{meaning}: {error}" if said else meaning


def _countries(frame: pd.DataFrame) -> pd.Categorical:
    """Return the country that was billed, else the one that was read from the number, by its English name."""
    codes = frame["iso"].astype(STR).fillna(frame["region"].astype(STR))
    names = {code: country_name(code) or code for code in codes.dropna().unique()}
    return pd.Categorical(codes.map(names), categories=sorted(set(names.values())), ordered=True)


def _fitting(words: pd.Index, search: str) -> list[int]:
    return [code for code, one in enumerate(words) if search in str(one).casefold()]


def _holds(cells: pd.Series, search: str) -> Mask:
    return texts(cells).str.contains(search, case=False, regex=False, na=False).to_numpy(bool)


def _labels(index: pd.Index) -> pd.Series:
    made = index.map(_label) if isinstance(index, pd.MultiIndex) else index
    return texts(made.to_series())


def _label(label: Any) -> str:
    return ", ".join(map(str, label)) if isinstance(label, tuple) else str(label)


def _short(sent: str) -> str:
    """Return the beginning of a message id, which tells it from others; the downloaded file has all of it."""
    return sent if len(sent) <= _ID else f"{sent[:_ID]}…"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
