"""Purge and retain: delete who was texted, in place, and keep what the campaign cost and what limits ask for.

The number, the kept columns and the texts become NULL. The key of the person stays, for the limits on messages, and is
replaced by a random one once no limit can ask for it any more.
"""

from __future__ import annotations

import contextlib
import re
import secrets
import warnings
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

import pandas as pd

from .._calling import given as describe
from .._moments import microseconds, moment
from .._pandas import STR
from .._policy import LONGEST
from ..errors import CampaignLockedError, SmsOtpWarning, UsageError
from .frames import TIME, frame_of
from .store import Store, Transaction, note_event
from .tables import IN_DOUBT, TEST

if TYPE_CHECKING:
    from .campaign import CampaignRow, LedgerBase

_OLDEST: Final = LONGEST // timedelta(microseconds=1)  # microseconds after which no limit asks for a contact
_AGE: Final = re.compile(r"\A\s{0,9}(\d{1,4})\s{0,9}(day|week|month|year)s?\s{0,9}\Z")
_MOST: Final = 1_200
_LATEST: Final = "SELECT max(coalesce(settled_at, started_at)) FROM attempt WHERE campaign=k.id"


def purge(ledger: LedgerBase, campaign: CampaignRow) -> int:
    """Purge a campaign and the tests of its name; return how many rows they had."""
    from .campaign import CampaignRow, holding

    store = ledger._store
    with store.reading() as tx:
        same_name = f"kind='{TEST}' AND id<>? AND name_key=(SELECT name_key FROM campaign WHERE id=?)"
        tests = CampaignRow.read(tx, same_name, (campaign.number, campaign.number))
    now = ledger._clock()
    with contextlib.ExitStack() as leases:
        for held in (campaign, *tests):
            leases.enter_context(holding(ledger, held.number, held.name))
        with store.writing() as tx:
            doubt = sum(_in_doubt(tx, held.number) for held in (campaign, *tests))
            gone = sum(_purge(tx, held.number) for held in (campaign, *tests))
            note_event(tx, "purged", now=now, rows=gone, campaign=campaign.number)
            _forget_old_keys(tx, now)
    overwrite(store)
    if doubt:
        warnings.warn(
            f"{doubt:,} of the rows were in doubt, possibly sent and billed: what became of them stays unknown; settle "
            "such rows before a purge",
            SmsOtpWarning,
            stacklevel=3,
        )
    return gone


def _in_doubt(tx: Transaction, campaign: int) -> int:
    sql = f"SELECT count(*) FROM recipient WHERE campaign=? AND number IS NOT NULL AND state={IN_DOUBT}"
    return int(tx.rows(sql, (campaign,))[0][0])


def _purge(tx: Transaction, campaign: int) -> int:
    gone = tx.run(
        "UPDATE recipient SET number=NULL, kept=NULL, list_row=NULL, id=NULL WHERE campaign=? AND number IS NOT NULL",
        (campaign,),
    )
    # What people gave as a reason, and what a service wrote into an error, is text that may name somebody.
    tx.run("UPDATE attempt SET error=NULL, request_id=NULL, disagreement=NULL WHERE campaign=?", (campaign,))
    tx.run("UPDATE message SET text=NULL, reason=NULL WHERE campaign=?", (campaign,))
    tx.run("UPDATE event SET reason=NULL WHERE campaign=?", (campaign,))
    # Whoever knows the text could find out by trying whose numbers the fingerprint was made of.
    tx.run("UPDATE campaign SET purged=1, fingerprint='' WHERE id=?", (campaign,))
    return gone


def _forget_old_keys(tx: Transaction, now: int) -> None:
    """Give rows of purged campaigns that no limit can ask for a key that is nobody's."""
    rows = tx.rows(
        "SELECT r.campaign, r.person FROM recipient r JOIN campaign k ON k.id=r.campaign JOIN attempt a "
        "ON a.id=r.attempt WHERE k.purged=1 AND a.started_at<? AND r.number IS NULL AND r.body<>0",
        (now - _OLDEST,),
    )
    tx.many(
        "UPDATE recipient SET person=?, body=0 WHERE campaign=? AND person=?",
        [(secrets.randbits(63), campaign, person) for campaign, person in rows],
    )


def overwrite(store: Store) -> None:
    """Remove what was deleted from the file and its log; warn where something else is reading them."""
    if not store.overwrite_deleted():
        warnings.warn(
            f"what was deleted can be read in the log beside {store.path} until whatever else is reading it ends",
            SmsOtpWarning,
            stacklevel=4,
        )


def moment_before(age: Any, now: int) -> int:
    """Return the moment that lies so long ago, in microseconds since 1970."""
    match = _AGE.match(age) if isinstance(age, str) else None
    if match is None or not 1 <= int(match[1]) <= _MOST:
        raise UsageError(
            f"age= needs a whole number from 1 to {_MOST:,} and a unit (days, weeks, months or years), such as "
            f'"24 months", got {describe(age)}. Nothing was deleted'
        )
    span: dict[str, Any] = {f"{match[2]}s": int(match[1])}
    # Microseconds have room for years before 1677 and after 2262, where a timestamp's own nanoseconds end.
    begun = pd.Timestamp(moment(now)).as_unit("us") - pd.DateOffset(**span)
    return microseconds(begun.to_pydatetime())


def older(store: Store, before: int) -> pd.DataFrame:
    """Return campaigns that hold numbers and of which nothing was recorded since then.

    Columns: ``id`` (int64), ``campaign, service, kind`` (str), ``latest`` (UTC: its latest request, else when it was
    recorded) and ``rows`` (Int64).
    """
    rows = store.rows(
        f"SELECT k.id, k.name, k.service, k.kind, k.created_at, coalesce(({_LATEST}), 0), "
        "(SELECT count(*) FROM recipient r WHERE r.campaign=k.id) FROM campaign k WHERE purged=0 ORDER BY k.id"
    )
    found = [(*row[:4], max(row[4:6]), row[6]) for row in rows if max(row[4:6]) < before]
    types = {"id": "int64", "campaign": STR, "service": STR, "kind": STR, "latest": TIME, "rows": "Int64"}
    return frame_of(found, types)


def retain(ledger: LedgerBase, age: str) -> pd.DataFrame:
    """Keep an age, and purge whatever is older; see `Ledger.retain`."""
    from .campaign import CampaignRow

    store, now = ledger._store, ledger._clock()
    before = moment_before(age, now)
    kept = " ".join(age.split())
    with store.writing() as tx:
        tx.run("DELETE FROM meta WHERE key='retention'")
        tx.run("INSERT INTO meta (key, value) VALUES ('retention', ?)", (kept,))
        note_event(tx, "retention", now=now, rows=0, reason=kept)
    found = older(store, before)
    purged = []
    for number in found["id"].tolist():
        with store.reading() as tx:
            campaign = CampaignRow.read(tx, "id=?", (number,))[0]
        try:
            purge(ledger, campaign)
            purged.append(True)
        except CampaignLockedError:
            purged.append(False)
    return found.drop(columns="id").assign(purged=pd.Series(purged, dtype="bool"))


def retention_line(store: Store, now: int) -> str:
    """Return in words how long campaigns are kept and what has come due; empty where nobody decided that."""
    rows = store.rows("SELECT value FROM meta WHERE key='retention'")
    if not rows:
        return ""
    age = rows[0][0]
    number = len(older(store, moment_before(age, now)))
    text = "nothing is older"
    if number:
        what = "campaign or test is" if number == 1 else "campaigns and tests are"
        text = f"{number:,} {what} older: ledger.retain({age!r}) deletes their numbers"
    return f"Numbers are kept for {age}; {text}."
