"""What a ledger, one campaign of it, or a result table cost, summed up by everything that is known of the messages."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import pandas as pd

from .._calling import given, in_our_words, not_all_text, not_list, not_text, not_zone, refuse
from .._frames import as_pandas
from .._ledger import Address, Campaign, Ledger, snapshot_of
from .._ledger import spending as summing
from .._results import contract
from ..columns import require
from ..errors import UsageError
from .sources import COMPARED, ESTIMATED, NEEDED, Source, added_up, compared, derived, is_summed, refuse_words

_OF_ROWS: Final = ("campaign", "service", "iso", "region", "type", "encoding", "at", *NEEDED, *ESTIMATED)
_BY: Final = ("service", "campaign", "kind", "month", "day", "iso", "region", "type", "encoding")


@in_our_words
def spending(
    source: Source,
    *,
    service: str | None = None,
    since: object = None,
    until: object = None,
    tz: str = "UTC",
    columns: str | Sequence[str] = (),
) -> pd.DataFrame:
    """Sum up accepted messages by everything that is known of them.

    A ledger is read in one pass with bounded memory, so ten million rows take seconds at most. `cost.by` and similar
    functions take the result in place of a result table.

    Args:
        source: the Ledger, its path, a Campaign, or a result table. Of a ledger, tests to yourself are included,
            because they cost money as well.
        service: ``"live"``, ``"sandbox"``, or the id of one service. By default the live services, or the sandboxes if
            there is nothing live. A Campaign has one service.
        since: first day or time, as `pandas.Timestamp` reads it; in ``tz`` if it names no zone.
        until: first day or time that is no longer included.
        tz: time zone of days and months. Those of a purged campaign are in UTC.
        columns: your own columns to sum up by as well. Of a ledger, those that ``plan(keep=...)`` kept; they are
            missing for campaigns that did not keep them, and for purged ones. Also ``wording`` (str: what the messages
            say, with their placeholders) and ``version`` (Int64: the version of the campaign in which they said it
            first), which only a ledger knows.

    Returns:
        One row per combination: the columns asked for; ``service, campaign, kind, month`` (as 2026-11), ``day, iso,
        region, type, encoding, currency``; ``messages, parts`` (Int64), ``cost`` (float64), ``unpriced`` (Int64) and
        ``priced_parts`` (Int64: the parts of messages with a price); and for the ``compared`` messages, those with a
        price and an estimate in one currency, ``compared_parts, est_parts`` (Int64), ``compared_cost, est_cost``
        (float64).

    Raises:
        UsageError: there is no such service or column, the time zone does not exist, or a time cannot be read.

    Example:
        >>> import tempfile, pathlib
        >>> from smsotp_nb._ledger import Ledger
        >>> with Ledger(pathlib.Path(tempfile.mkdtemp()) / "ledger.sqlite", create=True) as ledger:
        ...     len(spending(ledger))
        0
    """
    which = "; 'live', 'sandbox' or the id of one service, such as client.service"
    refuse(not_zone("tz", tz), None if service is None else not_text("service", service, hint=which))
    names = [columns] if isinstance(columns, str) else columns
    refuse(not_list("columns", names, of="column names"))
    names = list(names)
    refuse(not_all_text("columns", names))
    if isinstance(source, Campaign):
        with snapshot_of(source._ledger) as store:
            return summing.spending(
                store, service=source.service, campaign=source._number, since=since, until=until, tz=tz, columns=names
            )
    if isinstance(source, Ledger | str | Path | Address):
        with snapshot_of(source) as store:
            return summing.spending(store, service=service, since=since, until=until, tz=tz, columns=names)
    frame = as_pandas(source)
    if not isinstance(frame, pd.DataFrame):
        raise UsageError(f"spending needs a result table, a ledger, its path or a Campaign, got {given(source)}")
    return _of_rows(frame, service, summing.span_of(since, until, tz), tz, names)


def _of_rows(
    frame: pd.DataFrame, service: str | None, span: tuple[int | None, int | None], tz: str, names: list[str]
) -> pd.DataFrame:
    if is_summed(frame):
        raise UsageError("these are sums already; the functions of cost take them as they are")
    table = contract.check(frame, columns=_OF_ROWS)
    own = [name for name in table.columns if name not in summing.COLUMNS]
    summing.refuse_repeated(names)
    refuse_words([name for name in names if name not in own])
    for name in names:
        summing.refuse_summed(name)
        require(name, own, where="columns of the table")
    table = summing.of_services(table, service, where="the table")
    table = table[_within(table["at"], span) & (table["status"] == "accepted")]
    table = table.assign(**{name: derived(table, name, tz) for name in ("kind", "month", "day")})
    keys = [*names, *_BY]
    sums = added_up(compared(table, keys), keys)
    known, both = sums["messages"] > sums["unpriced"], sums["compared"] > 0
    done = sums.assign(
        cost=contract.money(sums["micros"].where(known)),
        **{name: contract.money(sums[name].where(both)) for name in COMPARED if name.endswith("cost")},
    )
    return done.reindex(columns=[*names, *summing.COLUMNS]).astype(summing.COLUMNS)


def _within(at: pd.Series, span: tuple[int | None, int | None]) -> pd.Series:
    since, until = (None if bound is None else pd.Timestamp(bound, unit="us", tz="UTC") for bound in span)
    inside = pd.Series(True, index=at.index)
    if since is not None:
        inside &= at.ge(since).fillna(False)
    if until is not None:
        inside &= at.lt(until).fillna(False)
    return inside
