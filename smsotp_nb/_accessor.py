"""``frame.sms``: the rooms of this package on a DataFrame, one delegating line a method."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from . import _planning as planning
from . import cost, phones, results
from ._calling import in_our_words
from ._cards import Card
from ._frames import AnyFrame
from ._ledger import LedgerOrPath
from ._pandas import STR, texts, with_columns
from ._phones import TEXTABLE, Evidence, Level, NoteOrRefuse
from ._planning.wording import TemplateData, Words
from ._policy import Policy
from ._wire import Variant, mask
from .columns import require
from .results import COLUMNS


class Sms:
    """The functions of this package on a DataFrame. The frame itself is never changed.

    Example:
        >>> people = pd.DataFrame({"phone": ["(415) 555-0100", "nobody"], "country": ["US", "US"]})
        >>> people.sms.normalize("phone", region="country")["to"].tolist()
        ['+14155550100', nan]
    """

    def __init__(self, frame: pd.DataFrame) -> None:
        self._frame = frame

    @in_our_words
    def normalize(
        self,
        column: str,
        *,
        region: str | pd.Series | None = None,
        default_region: str | None = None,
        repair: Collection[str] = (),
        allow_types: Collection[str] = TEXTABLE,
        region_mismatch: NoteOrRefuse = "note",
        test_numbers: NoteOrRefuse = "note",
        evidence: Level | Evidence = "overwhelming",
        progress: Callable[[int], None] | None = None,
    ) -> pd.DataFrame:
        """Normalize a column of phone numbers; see `phones.normalize`. ``region`` is a column name or a Series.

        Example:
            >>> pd.DataFrame({"phone": ["+44 7700 900123"]}).sms.normalize("phone")["problem"].isna().tolist()
            [False]
        """
        return phones.normalize(
            self._column(column),
            region=self._regions(region),
            default_region=default_region,
            repair=repair,
            allow_types=allow_types,
            region_mismatch=region_mismatch,
            test_numbers=test_numbers,
            evidence=evidence,
            progress=progress,
        )

    @in_our_words
    def verdict(
        self,
        column: str,
        *,
        region: str | pd.Series | None = None,
        default_region: str | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> pd.DataFrame:
        """Return phonenumbers' own answer for a column; see `phones.verdict`.

        Example:
            >>> pd.DataFrame({"phone": ["+1 202 555 0123"]}).sms.verdict("phone")["valid"].tolist()
            [True]
        """
        return phones.verdict(
            self._column(column), region=self._regions(region), default_region=default_region, progress=progress
        )

    @in_our_words
    def plan(
        self,
        *,
        to: str,
        campaign: str,
        region: str | pd.Series[Any] | None = None,
        default_region: str | None = None,
        text: Words = None,
        content: Words = None,
        template_id: str | Mapping[Any, str] | None = None,
        template_data: TemplateData = None,
        template_text: str | Mapping[Any, str] | None = None,
        by: str | pd.Series[Any] | None = None,
        priority: Sequence[Any] = (),
        signature: str | None = None,
        signature_join: str | None = None,
        variant: Variant = "intl",
        fill: Mapping[str, Any] | None = None,
        suppress: Any = None,
        ignore_unreadable_suppressions: bool = False,
        exclude: Any = None,
        keep: Sequence[str] = (),
        keep_bodies: bool = True,
        rates: AnyFrame | str | Path | None = None,
        today: dt.date | None = None,
        replace: Mapping[str, str] | None = None,
        chunk_size: int = 100,
        repair: Sequence[str] = (),
        policy: Policy | None = None,
        ledger: LedgerOrPath | None = None,
    ) -> planning.Plan:
        """Plan a campaign to the people in this frame; see ``smsotp_nb.plan`` for the arguments.

        Example:
            >>> people = pd.DataFrame({"phone": ["+1 202 555 0123"]})
            >>> people.sms.plan(to="phone", campaign="hello", text="Hello").campaign
            'hello'
        """
        return planning.plan(
            self._frame,
            to=to,
            campaign=campaign,
            region=region,
            default_region=default_region,
            text=text,
            content=content,
            template_id=template_id,
            template_data=template_data,
            template_text=template_text,
            by=by,
            priority=priority,
            signature=signature,
            signature_join=signature_join,
            variant=variant,
            fill=fill,
            suppress=suppress,
            ignore_unreadable_suppressions=ignore_unreadable_suppressions,
            exclude=exclude,
            keep=keep,
            keep_bodies=keep_bodies,
            rates=rates,
            today=today,
            replace=replace,
            chunk_size=chunk_size,
            repair=repair,
            policy=policy,
            ledger=ledger,
        )

    @in_our_words
    def cost(self, columns: str | Sequence[str] | None = None, *, decimals: bool = False) -> pd.DataFrame:
        """Return what this result table cost, by country or by the columns named; see `cost.by`.

        Example:
            >>> table = pd.DataFrame({"status": ["accepted"], "parts": [1], "price": [0.01], "currency": ["USD"],
            ...                       "iso": ["US"]})
            >>> table.sms.cost()["country"].tolist()
            ['United States']
        """
        if columns is None:
            return cost.by_country(self._frame, decimals=decimals)
        return cost.by(self._frame, columns, decimals=decimals)

    def like(self, given: Any) -> Any:
        """Return the frame in the kind of frame that ``given`` is, such as polars; see `results.like`.

        Example:
            >>> pd.DataFrame({"to": ["+12025550123"]}).sms.like([{"phone": "+12025550123"}])
            [{'to': '+12025550123'}]
        """
        return results.like(self._frame, given)

    @in_our_words
    def masked(self, *columns: str) -> pd.DataFrame:
        """Return the frame with its phone numbers masked, fit to be shown.

        Args:
            columns: column names. By default ``to`` and every column that holds the same numbers in some spelling, such
                as a kept column of your list.

        Example:
            >>> frame = pd.DataFrame({"to": ["+12025550123"], "phone": ["(202) 555-0123"], "name": ["Ann"]})
            >>> frame.sms.masked().iloc[0].tolist()
            ['+1202...0123', '(202)...0123', 'Ann']
        """
        return with_columns(self._frame, {name: _masked(self._column(name)) for name in columns or self._of_numbers()})

    def _of_numbers(self) -> list[str]:
        known = _ending(self._column("to"))
        own = [name for name in self._frame.columns if name not in COLUMNS]
        return ["to", *(name for name in own if (_ending(self._column(name)) == known).any())]

    def card(self) -> Card:
        """Return the cost of this result table as a card; see `cost.card`.

        Example:
            >>> table = pd.DataFrame({"status": ["accepted"], "parts": [1], "price": [0.01], "currency": ["USD"],
            ...                       "iso": ["US"]})
            >>> table.sms.card().state
            'USD 0.01 for 1 accepted message'
        """
        return cost.card(self._frame)

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
