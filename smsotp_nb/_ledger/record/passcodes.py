"""Passcodes in the ledger: what each cost, to whom and when, never the passcode itself.

The passcodes of a service in a month stand together, as a campaign of the kind ``passcode``: `cost` sums them up,
`Ledger.retain` deletes them, and people who are forgotten are forgotten there as well. They count for no rule on how
often somebody is texted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from ..._services import name_key
from ..._wire import MessageRecord
from ...errors import InDoubt
from ..rows.statements import Statements, insert, inserted, number_of
from ..rows.tables import ACCEPTED, IN_DOUBT

if TYPE_CHECKING:
    from ..file.store import Store

KIND = "passcode"


def record_passcode(
    store: Store, record: MessageRecord, *, service: str, request_id: str | None, lost: InDoubt | None, now: int
) -> None:
    """Record a passcode that was sent, or one whose reply was lost, as in doubt.

    The reply of ``otp.send`` names no currency: it is taken to be that of the service's other replies.
    """
    how = {"outcome": "accepted", "phase": "body", "http_status": 200}
    if lost is not None:
        how = {"outcome": "in_doubt", "phase": lost.phase, "http_status": lost.http_status, "error": str(lost)}
    with store.writing("NORMAL") as connection:
        campaign = _month(connection, service, now)
        chunk = connection.execute("SELECT count(*) FROM chunk WHERE campaign=?", (campaign,)).fetchone()[0]
        insert(connection, "chunk", {"campaign": campaign, "chunk": chunk, "body": 0})
        attempt = inserted(connection, "attempt", {
            "campaign": campaign, "chunk": chunk, "session": store.session, "started_at": now, "settled_at": now, **how,
            "request_id": request_id, "currency": None if lost else _currency(connection, service),
        })  # fmt: skip
        unknown = dict.fromkeys(("region", "type", "rate", "currency"))
        country = None if lost else number_of(connection, "country", {"iso": record.iso, "cc": record.cc})
        # Of one that was not sent after all nothing is to go: no campaign sends it again.
        connection.execute("UPDATE campaign SET rows=rows+1, withdrawn=rows+1 WHERE id=?", (campaign,))
        insert(connection, "recipient", {
            "campaign": campaign, "chunk": chunk, "position": chunk, "number": int(record.to.removeprefix("+")),
            "destination": number_of(connection, "destination", unknown), "own_state": IN_DOUBT if lost else ACCEPTED,
            "problem": "NO_ANSWER" if lost else None, "attempts": 1, "attempt": attempt, "message": record.id,
            "country": country, "parts": record.parts, "price": record.price_micros,
        })  # fmt: skip
        _price_unpriced(connection, service)


def learn_currency(store: Store, campaign: int) -> None:
    """Give passcodes that were sent before any reply named a currency that of this campaign's service.

    Nothing is written where there are none.
    """
    sql = (
        f"SELECT c.service FROM campaign c JOIN attempt a ON a.campaign=c.id WHERE c.kind='{KIND}' "
        "AND a.currency IS NULL AND c.service=(SELECT service FROM campaign WHERE id=?) LIMIT 1"
    )
    if waiting := store.asked(sql, (campaign,)):
        with store.writing("NORMAL") as connection:
            _price_unpriced(connection, waiting[0][0])


def _price_unpriced(connection: Statements, service: str) -> None:
    connection.execute(
        "UPDATE attempt SET currency=? WHERE currency IS NULL AND outcome='accepted' "
        f"AND campaign IN (SELECT id FROM campaign WHERE service=? AND kind='{KIND}')",
        (_currency(connection, service), service),
    )


def _currency(connection: Statements, service: str) -> str | None:
    found = connection.execute(
        "SELECT a.currency FROM attempt a JOIN campaign c ON c.id=a.campaign "
        "WHERE c.service=? AND a.currency IS NOT NULL ORDER BY a.id DESC LIMIT 1",
        (service,),
    ).fetchone()
    return None if found is None else str(found[0])


def _month(connection: Statements, service: str, now: int) -> int:
    """Return the number of the campaign in which a service's passcodes of this month stand; it may be a new one."""
    name = f"passcodes {pd.Timestamp(now, unit='us'):%Y-%m}"
    found = connection.execute(
        f"SELECT id FROM campaign WHERE service=? AND name_key=? AND kind='{KIND}' AND purged=0",
        (service, name_key(name)),
    ).fetchone()
    if found:
        return int(found[0])
    return inserted(connection, "campaign", {
        "service": service, "name": name, "name_key": name_key(name), "kind": KIND, "fingerprint": "",
        "created_at": now, "rows": 0, "kept": "[]",
    })  # fmt: skip
