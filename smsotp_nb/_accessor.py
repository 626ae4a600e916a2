"""``frame.smsotp``: the rooms of this package on a DataFrame, one delegating line a method."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeVar

import pandas as pd

from . import _planning as planning
from . import cost, phones
from ._calling import in_our_words
from ._pandas import STR, texts, with_columns
from ._results.contract import ALL
from ._wire import mask
from .columns import require

Given = ParamSpec("Given")
Found = TypeVar("Found")


def takes(function: Callable[..., Any]) -> Callable[[Callable[Given, Found]], Callable[Given, Found]]:
    """Give a method that hands its options on to a function that function's signature, after its own parameters."""

    def dressed(method: Callable[Given, Found]) -> Callable[Given, Found]:
        own = [one for one in inspect.signature(method).parameters.values() if one.kind is not one.VAR_KEYWORD]
        shown = inspect.signature(function)
        _, *others = shown.parameters.values()  # the first is the frame, or a column of it
        named = {one.name for one in own}
        parameters = [*own, *(one for one in others if one.name not in named)]
        method.__signature__ = shown.replace(parameters=parameters)  # type: ignore[attr-defined]  # as inspect reads it
        return in_our_words(method)

    return dressed


class Sms:
    """The functions of this package on a DataFrame. The frame itself is never changed.

    Example:
        >>> people = pd.DataFrame({"phone": ["(415) 555-0100", "nobody"], "country": ["US", "US"]})
        >>> people.smsotp.normalize("phone", region="country")["to"].tolist()
        ['+14155550100', nan]
    """

    def __init__(self, frame: pd.DataFrame) -> None:
        self._frame = frame

    @takes(phones.normalize)
    def normalize(self, column: str, *, region: str | pd.Series | None = None, **options: Any) -> pd.DataFrame:
        """Normalize a column of phone numbers; see `phones.normalize`. ``region`` is a column name or a Series.

        Example:
            >>> pd.DataFrame({"phone": ["+44 7700 900123"]}).smsotp.normalize("phone")["problem"].isna().tolist()
            [False]
        """
        return phones.normalize(self._column(column), region=self._regions(region), **options)

    @takes(planning.plan)
    def plan(self, message: Any, **arguments: Any) -> planning.Plan:
        """Plan a campaign to the people in this frame; see ``smsotp_nb.plan`` for the arguments.

        Example:
            >>> people = pd.DataFrame({"phone": ["+1 202 555 0123"]})
            >>> people.smsotp.plan("Hello", to="phone", campaign="hello").campaign
            'hello'
        """
        return planning.plan(self._frame, message, **arguments)

    @in_our_words
    def cost(self, columns: str | Sequence[str] | None = None, *, decimals: bool = False) -> pd.DataFrame:
        """Return what this result table cost, by country or by the columns named; see `cost.by`.

        Example:
            >>> table = pd.DataFrame({"status": ["accepted"], "parts": [1], "price": [0.01], "currency": ["USD"],
            ...                       "iso": ["US"]})
            >>> table.smsotp.cost()["country"].tolist()
            ['United States']
        """
        if columns is None:
            return cost.by_country(self._frame, decimals=decimals)
        return cost.by(self._frame, columns, decimals=decimals)

    @in_our_words
    def masked(self, *columns: str) -> pd.DataFrame:
        """Return the frame with its phone numbers masked, fit to be shown.

        Args:
            columns: column names. By default ``to`` and every column that holds the same numbers in some spelling, such
                as a kept column of your list.

        Example:
            >>> frame = pd.DataFrame({"to": ["+12025550123"], "phone": ["(202) 555-0123"], "name": ["Ann"]})
            >>> frame.smsotp.masked().iloc[0].tolist()
            ['+1202...0123', '(202)...0123', 'Ann']
        """
        return with_columns(self._frame, {name: _masked(self._column(name)) for name in columns or self._of_numbers()})

    def _of_numbers(self) -> list[str]:
        known = _ending(self._column("to"))
        own = [name for name in self._frame.columns if name not in ALL]
        return ["to", *(name for name in own if (_ending(self._column(name)) == known).any())]

    def _column(self, name: str) -> pd.Series:
        require(name, self._frame.columns)
        return self._frame[name]

    def _regions(self, region: str | pd.Series | None) -> pd.Series | None:
        return self._column(region) if isinstance(region, str) else region


def _ending(column: pd.Series) -> pd.Series:
    """Return the last seven digits of each value, however it is spelled; missing where it has fewer."""
    digits = texts(column).str.replace(r"\.0$|[^0-9]", "", regex=True)
    return digits.str[-7:].where(digits.str.len() >= 7)


def _masked(numbers: pd.Series) -> pd.Series:
    said = texts(numbers)
    return said.map({number: mask(number) for number in said.dropna().unique()}).astype(STR)
