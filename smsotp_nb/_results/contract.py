"""Columns, dtypes and row states of the result table, and the conversions that hold them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from .. import _dates as dates
from .._calling import in_our_words, not_all_text, not_list, refuse
from .._cards import counted
from .._frames import AnyFrame, AnySeries, as_pandas
from .._pandas import STR, is_missing, with_columns
from .._showing import spelled
from ..columns import absent, listed
from ..errors import UsageError

STATE_MEANINGS: Final[dict[str, str]] = {
    "planned": "to be sent by the next `send`; `problem` says what held the row back",
    "sending": "its request is under way in a process that is still running; seen in the ledger only",
    "accepted": "the service accepted the message and billed it; whether it was delivered is not known",
    "rejected": "the service refused the message; `error_code` and `error` say why",
    "in_doubt": "the request may have been accepted; never sent again until you settle it",
    "skipped": "left out of the plan; `problem` says why",
}
STATES: Final = tuple(STATE_MEANINGS)

COLUMNS: Final[dict[str, str | pd.StringDtype]] = {
    "to": STR,
    "status": STR,
    "id": STR,
    "iso": STR,
    "cc": STR,
    "parts": "Int64",
    "price": "float64",
    "currency": STR,
    "problem": STR,
    "not_before": "datetime64[us]",
    "message": "Int64",
    "at": "datetime64[us]",
    "row": "Int64",
    "campaign": STR,
}
# What few look at: `Record.details` has it, on the same index.
DETAILS: Final[dict[str, str | pd.StringDtype]] = {
    "service": STR,
    "region": STR,
    "type": STR,
    "est_parts": "Int64",
    "est_cost": "float64",
    "est_currency": STR,
    "encoding": STR,
    "chunk": "Int64",
    "attempts": "Int64",
    "error_code": STR,
    "error": STR,
    "request_id": STR,
    "http_status": "Int64",
}
ALL: Final = COLUMNS | DETAILS
TIMES: Final = ("not_before", "at")
BESIDE: Final = "with record = sms.record(name), pass record or record.results.join(record.details)"

MEANINGS: Final[dict[str, str]] = {
    "to": "phone number, E.164; missing where none could be read",
    "status": "state of the row",
    "id": "message id from the service",
    "iso": "two-letter country that the service billed",
    "cc": "calling code from the service, digits only",
    "parts": "parts that the service billed",
    "price": "price that the service billed for the message, in `currency`",
    "currency": "three-letter currency of `price`",
    "problem": "code of what keeps the row from being sent; missing when nothing does",
    "not_before": "time, UTC, at which a row may go that the policy holds back (CAPPED, SAME_TEXT)",
    "message": "the text that the row got or will get, a row of `Record.messages`; missing where none is to go",
    "at": "time, UTC, at which the outcome was recorded",
    "row": "number of the row: in a file as a spreadsheet shows it, of a frame its label where that is a whole number",
    "campaign": "name of the campaign",
    "service": "id of the account or sandbox that the campaign belongs to; not the access key",
    "region": "two-letter country of the number, as we read it before sending",
    "type": "kind of number, such as MOBILE",
    "est_parts": "parts estimated when planning",
    "est_cost": "cost estimated when planning, in `est_currency`; missing without a rate for the country",
    "est_currency": "three-letter currency of `est_cost`",
    "encoding": "encoding of the text, GSM-7 or UCS-2, as estimated when planning",
    "chunk": "number of the request, within the campaign, that the row was planned for",
    "attempts": "how many requests with this row were begun",
    "error_code": "return code of the service where it refused, such as 105400",
    "error": "what went wrong, in words",
    "request_id": "request id from the reply's header, for the provider's support",
    "http_status": "HTTP status of the reply, where one was read",
}

_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a campaign is: what a progress callback receives.

    ``done`` rows have an outcome, and ``cost_micros`` is what they were billed, in millionths of ``currency`` (empty if
    there are several); both including earlier calls. ``total`` is those and whom this call texts if nothing fails;
    ``waiting`` are the rows still to be sent that a rule or limit holds back now. ``at`` is monotonic time in seconds.

    Example:
        >>> Progress(done=3, total=4, accepted=2, rejected=1, waiting=80).left
        1
    """

    done: int
    total: int
    accepted: int = 0
    rejected: int = 0
    in_doubt: int = 0
    waiting: int = 0
    cost_micros: int = 0
    currency: str = ""
    at: float = 0.0

    @property
    def left(self) -> int:
        return self.total - self.done


def ordered(kept: Iterable[str]) -> list[str]:
    """Return the columns of a result table in their order: your own stand before ``row`` and ``campaign``."""
    last = ("row", "campaign")
    return [*(name for name in COLUMNS if name not in last), *kept, *last]


def without_zone(times: pd.Series) -> pd.Series:
    """Return times of UTC as a result table has them: without their zone, with which pandas writes no Excel file."""
    plain: pd.Series = times.dt.tz_localize(None).dt.as_unit("us")
    return plain


def in_zone(times: pd.Series, tz: str) -> pd.Series:
    """Return times of a result table, which are UTC, as those of a time zone."""
    zoned: pd.Series = times.dt.tz_localize("UTC").dt.tz_convert(tz)
    return zoned


def money(micros: AnySeries) -> pd.Series:
    """Return integer millionths as float64 amounts: the nearest double of each six-decimal value."""
    whole: pd.Series = as_pandas(micros)
    return (whole.astype("float64") / 1_000_000).round(6)


def micros(amounts: AnySeries) -> pd.Series:
    """Return float64 amounts as integer millionths (Int64, missing stays missing): the exact inverse of `money`.

    Raises:
        UsageError: an amount is infinite, too large to be exact, or has more than six decimal places.
    """
    given: pd.Series = as_pandas(amounts)
    scaled = given.astype("float64") * 1_000_000
    whole = scaled.round()
    # Above 2**53 millionths neighbouring doubles are further apart than a millionth; below, allow for roundings.
    exact = ((scaled - whole).abs() < 0.01 + whole.abs() * 2**-52) & (whole.abs() < 2**53)
    wrong = given[given.notna() & ~exact]
    if len(wrong):
        raise UsageError(
            f"column {str(given.name)!r} must hold amounts with at most six decimal places, below 9 billion; "
            f"{_rows(wrong)}"
        )
    return whole.astype("Int64")


@in_our_words
def check(frame: AnyFrame, *, columns: Iterable[str] = tuple(COLUMNS)) -> pd.DataFrame:
    """Return a result table with the right dtypes on the same index, whatever dtypes it came with.

    ``columns`` names the columns that must be there. Further columns of results and of `Record.details` are converted
    if they are there; all other columns are left as they are.

    Raises:
        UsageError: not a result table: a column is missing or repeated, a status is unknown, a cell cannot be read as
            its column's dtype, or numbers have lost their plus.

    Example:
        >>> check(pd.DataFrame({"status": ["accepted"], "parts": ["2"]}), columns=["status", "parts"])["parts"].dtype
        Int64Dtype()
    """
    frame = as_pandas(frame)
    if not isinstance(frame, pd.DataFrame):
        raise UsageError(f"a result table is a DataFrame, got {type(frame).__name__}; it is what send() returns")
    refuse(not_list("columns", columns, of="column names"))
    columns = tuple(columns)
    refuse(not_all_text("columns", columns))
    problems = _column_problems(frame, columns)
    converted: dict[str, pd.Series] = {}
    if not problems:
        for name in [name for name in ALL if name in frame.columns]:
            try:
                converted[name] = _converted(frame[name], ALL[name])
            except UsageError as error:
                problems.append(str(error))
    if problems:
        raise UsageError("this is not a result table: " + "; ".join(problems), problems=tuple(problems))
    return frame.assign(**converted)


def with_numbers(frame: pd.DataFrame, kinds: Mapping[str, str]) -> pd.DataFrame:
    """Return a frame whose columns hold numbers, each an Int64 or a float64; exact Decimal amounts stay as they are."""
    made: dict[str, pd.Series] = {}
    for name, kind in kinds.items():
        if name in frame.columns and frame[name].dtype != kind:
            column = frame[name]
            exact = kind == "float64" and all(type(cell) is Decimal or is_missing(cell) for cell in column.array)
            if column.dtype == object:
                column = column.map(lambda cell: None if is_missing(cell) else spelled(cell))
            numbers = _converted(column, kind)
            made |= {} if exact else {name: numbers}
    return with_columns(frame, made)


def _column_problems(frame: pd.DataFrame, needed: tuple[str, ...]) -> list[str]:
    names = list(frame.columns)
    asked = [name for name in dict.fromkeys((*needed, *ALL)) if name in needed or names.count(name) > 1]
    problems = [wrong for name in asked if (wrong := absent(name, names, beside=False))]
    beside = [name for name in asked if name in DETAILS and name not in names]
    if beside and len(beside) == len(problems) and {*COLUMNS} <= {*names}:
        return [f"no columns {', '.join(beside)}, which are the record's: {BESIDE}"]
    if problems:
        problems[-1] += f" {listed(names)}"
    return problems


def _converted(column: pd.Series, dtype: str | pd.StringDtype) -> pd.Series:
    if isinstance(dtype, pd.StringDtype):
        return _texts(column)
    if dtype == "Int64":
        return _counts(column)
    return _times(column) if dtype.startswith("datetime64") else _numbers(column, "an amount").astype("float64")


def _texts(column: pd.Series) -> pd.Series:
    name = column.name
    if isinstance(column.dtype, pd.CategoricalDtype):
        return _texts(column.astype(column.cat.categories.dtype))
    if pd.api.types.is_numeric_dtype(column.dtype) and column.notna().any():
        if name == "to":
            raise UsageError(
                f"column 'to' holds {column.dtype} and not text: the plus of its numbers is lost; read the file with "
                "results.read, which keeps it"
            )
        column = _counts(column).astype(STR)  # codes that a plain reader turned into numbers
    texts = column.astype(STR)
    if name == "status":
        unknown = texts[~texts.isin(STATES)]
        if len(unknown):
            raise UsageError(f"column 'status' must be one of {', '.join(STATES)}; {_rows(unknown)}")
    return texts


def _counts(column: pd.Series) -> pd.Series:
    numbers = _numbers(column, "a whole number")
    wrong = column[(numbers != numbers.round()).fillna(False)]
    if len(wrong):
        raise UsageError(f"column {str(column.name)!r} must hold whole numbers; {_rows(wrong)}")
    return numbers.astype("Int64")


def _numbers(column: pd.Series, expected: str) -> pd.Series:
    present = column.notna()
    if pd.api.types.is_numeric_dtype(column.dtype):
        numbers = column.astype("Float64")
    else:
        plain = (
            column.astype("object").where(present, "").map(lambda cell: cell if isinstance(cell, str) else str(cell))
        )
        present &= plain.str.strip() != ""
        numbers = pd.to_numeric(plain.where(present), errors="coerce").astype("Float64")
    finite = np.isfinite(numbers.to_numpy(dtype="float64", na_value=np.nan))
    wrong = column[present & ~finite]
    if len(wrong):
        raise UsageError(f"column {str(column.name)!r} must hold {expected} in each row; {_rows(wrong)}")
    return numbers


def _times(column: pd.Series) -> pd.Series:
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        return without_zone(pd.to_datetime(column, utc=True))
    name = str(column.name)
    found = dates.read(column, by_argument=False)
    if found.unclear:
        raise UsageError(f"column {name!r} has {found.unclear}")
    if found.wrong:
        wrong = column.iloc[[*found.wrong]]
        raise UsageError(f"column {name!r} must hold times like 2026-11-12 09:30:00+00:00; {_rows(wrong)}")
    times = without_zone(found.utc("UTC", column.index))
    times.name = column.name
    return times


def _rows(wrong: pd.Series) -> str:
    shown = ", ".join(f"row {label!r} has {value!r}" for label, value in wrong.head(_SHOWN).items())
    more = f" and {len(wrong) - _SHOWN:,} more rows" if len(wrong) > _SHOWN else ""
    return shown + more


_BILLED: Final = ("to", "parts", "price", "currency")


# Two accounts may number their messages alike, and some services give one id to a whole request.
_OF_MESSAGE: Final = ("service", "campaign", "to", "id")


def _message_keys(table: pd.DataFrame) -> pd.DataFrame:
    """Return what tells the accepted messages with an id apart: account, campaign, number and id, where all have it."""
    is_known = (table["id"].notna() & table["status"].eq("accepted")).to_numpy(bool)
    keys = table.loc[is_known, [name for name in _OF_MESSAGE if name in table.columns]]
    complete = [name for name in keys.columns if keys[name].notna().all()]
    return keys[complete].set_axis(np.flatnonzero(is_known), axis=0)


def repeated_ids(table: pd.DataFrame) -> npt.NDArray[np.bool_]:
    """Return which rows are of an accepted message that an earlier row has already."""
    keys = _message_keys(table)
    repeated = np.zeros(len(table), dtype=bool)
    repeated[keys.index[keys.duplicated()]] = True
    return repeated


def refuse_repeated(table: pd.DataFrame, where: Callable[[int], str], *, contradicting: bool = False) -> None:
    """Refuse messages that stand in two rows, or only those of which the rows say different things.

    ``where`` says where the row at a place stands.
    """
    again = np.flatnonzero(repeated_ids(table))
    if not len(again):
        return
    keys = _message_keys(table)
    group = keys.groupby(list(keys.columns), sort=False).ngroup()
    first = pd.Series(group.index, index=group.to_numpy()).groupby(level=0).first()
    before = first.loc[group.loc[again.tolist()].tolist()].to_numpy()
    if contradicting:
        cells = table[[name for name in _BILLED if name in table.columns]].reset_index(drop=True)
        one, other = cells.iloc[again].reset_index(drop=True), cells.iloc[before].reset_index(drop=True)
        differ = ~((one == other).fillna(False) | (one.isna() & other.isna())).all(axis=1).to_numpy(bool)
        again, before = again[differ], before[differ]
        if not len(again):
            return
    pairs = [f"{where(int(one))} and {where(int(other))}" for one, other in zip(before, again[:_SHOWN], strict=False)]
    said = "with different numbers or amounts" if contradicting else "and would be counted twice"
    step = "correct them" if contradicting else "results.concat([...], repeated='once') takes each message once"
    many = counted(len(again), "message stands", "messages stand")
    raise UsageError(f"{many} twice, {said}: {'; '.join(pairs)}{' ...' * (len(again) > _SHOWN)}. Next: {step}")
