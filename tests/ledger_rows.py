"""A ledger as it stands where nothing was kept whole: row by row, and as the first version wrote it."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from smsotp_nb.ledger.answers import ID
from smsotp_nb.ledger.columns import accepted_whole
from smsotp_nb.ledger.schema import ACCEPTED, SENDING, Store, spread


def by_row(path: Path) -> int:
    """Record every chunk that is kept whole row by row instead; return how many there were."""
    store = Store(path)
    with store.writing() as connection:
        campaigns = [row[0] for row in connection.execute("SELECT id FROM campaign")]
        under_way = connection.execute(f"SELECT campaign, chunk, attempt FROM chunk WHERE state={SENDING}").fetchall()
        for chunk in under_way:
            spread(connection, *chunk)
        for campaign in campaigns:
            for kept in list(accepted_whole(connection, campaign, ("position", "attempts"))):
                ids = [kept.ids[at : at + ID] for at in range(0, len(kept.ids), ID)]
                columns = (
                    kept.columns["attempts"] + 1, kept.attempt, kept.billed, kept.parts, kept.price, kept.chunk,
                    kept.columns["position"],
                )  # fmt: skip
                connection.executemany(
                    f"UPDATE recipient SET own_state={ACCEPTED}, problem=NULL, message=?, attempts=?, attempt=?, "
                    f"billed=?, parts=?, price=? WHERE campaign={campaign} AND chunk=? AND position=?",
                    zip(ids, *(column.tolist() for column in columns), strict=True),
                )
        whole = connection.execute("UPDATE chunk SET state=NULL, attempt=NULL WHERE state IS NOT NULL").rowcount
        connection.execute("UPDATE attempt SET ids=NULL, kinds=NULL")
    store.close()
    return whole + len(under_way)


def first_version(path: Path) -> None:
    """Make a ledger one of the first version, which kept everything by row."""
    by_row(path)
    connection = sqlite3.connect(path, isolation_level=None)
    for statement in (
        "DROP VIEW fate",
        "DROP TABLE billing",
        "ALTER TABLE chunk DROP COLUMN state",
        "ALTER TABLE chunk DROP COLUMN attempt",
        *(f"ALTER TABLE attempt DROP COLUMN {name}" for name in ("ids", "kinds")),
        "ALTER TABLE recipient RENAME COLUMN own_state TO state",
        "PRAGMA user_version=1",
    ):
        connection.execute(statement)
    connection.close()
