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
from ..rows.statements import Statements, inserted, number_of
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
    evidence: tuple[object, ...] = ("accepted", "body", 200, None)
    if lost is not None:
        evidence = ("in_doubt", lost.phase, lost.http_status, str(lost))
    with store.writing("NORMAL") as connection:
        campaign = _month(connection, service, now)
        chunk = connection.execute("SELECT count(*) FROM chunk WHERE campaign=?", (campaign,)).fetchone()[0]
        connection.execute("INSERT INTO chunk (campaign, chunk, body) VALUES (?, ?, 0)", (campaign, chunk))
        attempt = inserted(
            connection,
            "INSERT INTO attempt (campaign, chunk, session, started_at, settled_at, outcome, phase, http_status, "
            "error, request_id, currency) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                *(campaign, chunk, store.session, now, now, *evidence, request_id),
                None if lost else _currency(connection, service),
            ),
        )
        unknown = dict.fromkeys(("region", "type", "rate", "currency"))
        destination = number_of(connection, "destination", unknown)
        country = None if lost else number_of(connection, "country", {"iso": record.iso, "cc": record.cc})
        # Of one that was not sent after all nothing is to go: no campaign sends it again.
        connection.execute("UPDATE campaign SET rows=rows+1, withdrawn=rows+1 WHERE id=?", (campaign,))
        connection.execute(
            "INSERT INTO recipient (campaign, chunk, position, number, destination, own_state, problem, attempts, "
            "attempt, message, country, parts, price) VALUES (?, ?, ?, ?, ?, ?, ?, 1, ?, ?, ?, ?, ?)",
            (
                *(campaign, chunk, chunk, int(record.to.removeprefix("+")), destination),
                *((IN_DOUBT, "NO_ANSWER") if lost else (ACCEPTED, None)),
                *(attempt, record.id, country, record.parts, record.price_micros),
            ),
        )
        _price_unpriced(connection, service)


def learn_currency(store: Store, campaign: int) -> None:
    """Give passcodes that were sent before any reply named a currency that of this campaign's service.

    Nothing is written where there are none.
    """
    sql = (
        f"SELECT c.service FROM campaign c JOIN attempt a ON a.campaign=c.id WHERE c.kind='{KIND}' "
        "AND a.currency IS NULL AND c.service=(SELECT service FROM campaign WHERE id=?) LIMIT 1"
    )
    with store.reading() as connection:
        waiting = connection.execute(sql, (campaign,)).fetchone()
    if waiting:
        with store.writing("NORMAL") as connection:
            _price_unpriced(connection, waiting[0])


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
    return inserted(
        connection,
        "INSERT INTO campaign (service, name, name_key, kind, fingerprint, created_at, rows, kept) "
        f"VALUES (?, ?, ?, '{KIND}', '', ?, 0, '[]')",
        (service, name, name_key(name), now),
    )
