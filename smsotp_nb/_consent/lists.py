"""Lists that are no lists of recipients: files of unsubscribed people, and lists in which everybody says no."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from .._recipients import source_of
from .._showing import cited, few
from ..errors import UsageError
from .reader import Consent, Reply, read_consent
from .words import normalize, pattern_of

LONE_ROWS: Final = 2  # one row that says no is held like any other; from two on, a list of such rows is another list


def check_name_of_list(people: pd.DataFrame) -> None:
    """Refuse a list whose file or sheet is named as one of people who opted out.

    Raises:
        UsageError: says which name, and what to do if it means something else.
    """
    source = source_of(people)
    for kind, name in (("file", source.get("file")), ("sheet", source.get("sheet"))):
        words = normalize(Path(str(name or "")).stem)
        if not pattern_of("opt-out files").search(words) or pattern_of("files of others").search(words):
            continue
        raise UsageError(
            f"the {kind} {cited(name)} is named as a list of people who opted out, so nobody in it is planned: pass it "
            f"as exclude= beside the list of recipients, or rename the {kind} if these people may be texted"
        )


def check_not_all_refuse(consent: Consent, has_number: npt.NDArray[np.bool_]) -> None:
    """Refuse a list in which every row with a number says no.

    Raises:
        UsageError: names the columns that say it.
    """
    refusing = consent.says_no & consent.refused & has_number
    if has_number.sum() < LONE_ROWS or not refusing[has_number].all():
        return
    columns = [column for column in consent.columns if (column.is_reply(Reply.NO) & has_number).any()]
    shown = few([column.describe() for column in columns])
    raise UsageError(
        f"everybody in the list says no, in {shown}: it is a list of people who opted out, not of recipients. Pass it "
        f"as exclude= beside the list of recipients; if {'the column was' if len(columns) == 1 else 'a column was'} "
        f"misread, pass ignore_consent=[{cited(columns[0].name)}]"
    )


def describe_willing(excluded: pd.DataFrame, other: Iterable[Hashable]) -> str:
    """Return which columns of a list to exclude say yes of its rows, in brackets; empty where none does.

    All of its people are left out all the same: a list of a holdout may say yes of everybody.
    """
    try:
        consent = read_consent(excluded, other=other)
    except UsageError:  # a column that can be read both ways decides nothing here
        return ""
    willing = {column.name: int((column.is_reply(Reply.YES) & ~column.dated).sum()) for column in consent.columns}
    shown = few([f"{cited(name)} says yes of {rows:,} of its rows" for name, rows in willing.items() if rows])
    return f" ({shown}; all are left out)" if shown else ""
