"""The totals that replies state, compared with the rows recorded from them."""

from __future__ import annotations

from typing import Final

import pandas as pd

from .._calling import given, in_our_words
from .._pandas import STR
from .._results.contract import money
from ..errors import UsageError
from .book import Ledger, LedgerOrPath, read_from
from .campaign import Record
from .reading.frames import table_of
from .rows.columns import rows_of
from .rows.tables import ACCEPTED

_SAID: Final = ("recipients", "message_count", "total")


@in_our_words
def reconcile(
    ledger: LedgerOrPath | Record, campaign: str | None = None, *, service: str | None = None
) -> pd.DataFrame:
    """Compare what each reply stated in total with the sum of its recorded rows, for the accepted requests of a
    campaign.

    Args:
        ledger: the Ledger or its path, with the name of a campaign; or a Record. A result table does not hold what
            replies stated in total.
        campaign: name of the campaign.
        service: whose, where several services have a campaign of that name; by default as `Ledger.record` chooses.

    Returns:
        One row per request, by its number in the ledger: ``at`` (UTC), ``request_id, currency`` (str), ``recipients``
        as stated and ``records``, ``message_count`` as stated and ``parts`` (Int64), ``total`` as stated, ``cost`` of
        its rows (float64), ``unpriced`` (Int64: rows without a readable price), ``agrees`` (boolean; missing if nothing
        was stated) and ``disagreement`` (str: as noticed when the reply came).

    Raises:
        UsageError: no such campaign, or no campaign is named.

    Example:
        >>> import tempfile, pathlib
        >>> from smsotp_nb._ledger import Ledger
        >>> reconcile(Ledger(pathlib.Path(tempfile.mkdtemp()) / "ledger.sqlite", create=True), "autumn")
        Traceback (most recent call last):
        smsotp_nb.errors.UsageError: no campaign 'autumn' in the ledger; it holds none yet, send records them
    """
    if isinstance(ledger, pd.DataFrame):
        raise UsageError(
            f"a result table does not hold what replies stated in total, got {given(ledger)}; pass the ledger that "
            "recorded it, or a Record of it"
        )
    if isinstance(ledger, Record):
        with read_from(ledger._ledger) as book:
            return _of(book, ledger)
    if campaign is None:
        raise UsageError("reconcile needs the name of a campaign: reconcile(ledger, 'autumn'); see ledger.campaigns()")
    with read_from(ledger) as book:
        return _of(book, book.record(campaign, service=service))


def _of(ledger: Ledger, found: Record) -> pd.DataFrame:
    said = table_of(
        ledger._store,
        "SELECT id, coalesce(settled_at, started_at), request_id, currency, recipients, message_count, total, "
        "disagreement FROM attempt WHERE campaign=? AND outcome IN ('accepted', 'partial') ORDER BY id",
        ("at", "request_id", "currency", *_SAID, "disagreement"),
        (found._number,),
    ).astype(dict.fromkeys(("at", *_SAID), "Int64"))
    with ledger._store.snapshot() as connection:
        rows = rows_of(connection, found._number, "state", "attempt", "parts", "price", whole=True)
    rows = rows[rows["state"].eq(ACCEPTED).to_numpy(bool)]
    rows = rows.assign(records=1, unpriced=rows["price"].isna(), uncounted=rows["parts"].isna())
    counted = ["records", "parts", "price", "unpriced", "uncounted"]
    sums = rows.astype(dict.fromkeys(counted, "Int64")).groupby("attempt")[counted].sum()
    both = said.join(sums).fillna(dict.fromkeys(counted, 0))
    agrees = (
        (both["recipients"].fillna(both["records"]) == both["records"])
        & ((both["message_count"].fillna(both["parts"]) == both["parts"]) | (both["uncounted"] > 0))
        & ((both["total"].fillna(both["price"]) == both["price"]) & (both["unpriced"] == 0))
    )
    return pd.DataFrame(
        {
            "at": pd.to_datetime(both["at"], unit="us", utc=True).dt.as_unit("us"),
            "request_id": both["request_id"].astype(STR),
            "currency": both["currency"].astype(STR),
            "recipients": both["recipients"],
            "records": both["records"],
            "message_count": both["message_count"],
            "parts": both["parts"],
            "total": money(both["total"]),
            "cost": money(both["price"]),
            "unpriced": both["unpriced"],
            "agrees": agrees.where(both[list(_SAID)].notna().any(axis=1)).astype("boolean"),
            "disagreement": both["disagreement"].astype(STR),
        }
    )
