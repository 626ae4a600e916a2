"""Passcodes in the record: what each cost, to whom and when, never the passcode itself.

Each is a campaign of its own, of the kind ``passcode``, because a person may have several in a month; all of a month
have one name. They count for no limit on messages.
"""

from __future__ import annotations

import pandas as pd

from .._wire import MessageRecord
from ..errors import InDoubt
from .recording import insert_campaign, realm_of
from .store import Store, Transaction
from .tables import ACCEPTED, IN_DOUBT, PASSCODE


def record_passcode(
    store: Store, record: MessageRecord, *, service: str, request_id: str | None, lost: InDoubt | None, now: int
) -> None:
    """Record a passcode that was sent, or one whose reply was lost, as in doubt.

    The reply of ``otp.send`` names no currency: it is taken to be that of the service's other replies.
    """
    name = f"passcodes {pd.Timestamp(now, unit='us'):%Y-%m}"
    number = int(record.to.removeprefix("+"))
    with store.writing(durable=False) as tx:
        campaign = insert_campaign(
            tx, realm=realm_of(service), name=name, kind=PASSCODE, service=service, now=now
        )
        # Of one that was not sent after all nothing is to go: no campaign sends it again.
        tx.run("UPDATE campaign SET withdrawn=1 WHERE id=?", (campaign,))
        currency = None if lost is not None else _currency(tx, service)
        evidence = ("accepted", "body", 200, None)
        if lost is not None:
            evidence = ("in_doubt", lost.phase, lost.http_status, str(lost))
        attempt = tx.rows(
            "INSERT INTO attempt (campaign, chunk, service, started_at, settled_at, outcome, phase, http_status, error, "
            "request_id, currency) VALUES (?, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id",
            (campaign, service, now, now, *evidence, request_id, currency),
        )[0][0]
        state, problem = (ACCEPTED, None) if lost is None else (IN_DOUBT, "NO_ANSWER")
        tx.run(
            "INSERT INTO recipient (campaign, chunk, person, number, position, body, message, state, problem, attempt, "
            "attempts, id, iso, cc, parts, micros, currency) VALUES (?, 0, ?, ?, 0, 0, 0, ?, ?, ?, 1, ?, ?, ?, ?, ?, ?)",
            (campaign, store.person(number), number, state, problem, attempt, record.id, record.iso, record.cc,
             record.parts, record.price_micros, currency),
        )  # fmt: skip
        _name_currency(tx, service)


def _currency(tx: Transaction, service: str) -> str | None:
    rows = tx.rows(
        "SELECT currency FROM attempt WHERE service=? AND currency IS NOT NULL ORDER BY id DESC LIMIT 1", (service,)
    )
    return str(rows[0][0]) if rows else None


def learn_currency(store: Store, service: str) -> None:
    """Give passcodes that were sent before any reply named a currency that of this service."""
    sql = (
        "SELECT 1 FROM attempt a JOIN campaign k ON k.id=a.campaign WHERE a.service=? AND a.currency IS NULL "
        f"AND a.outcome='accepted' AND k.kind='{PASSCODE}' LIMIT 1"
    )
    if store.rows(sql, (service,)):
        with store.writing(durable=False) as tx:
            _name_currency(tx, service)


def _name_currency(tx: Transaction, service: str) -> None:
    currency = _currency(tx, service)
    if currency is None:
        return
    mine = f"campaign IN (SELECT id FROM campaign WHERE service=? AND kind='{PASSCODE}')"
    tx.run(f"UPDATE recipient SET currency=? WHERE currency IS NULL AND state={ACCEPTED} AND {mine}", (currency, service))
    tx.run(f"UPDATE attempt SET currency=? WHERE currency IS NULL AND outcome='accepted' AND {mine}", (currency, service))
