"""A ledger as it stands where nothing was kept whole: row by row."""

from __future__ import annotations

from pathlib import Path

from smsotp_nb._ledger.file.store import Store
from smsotp_nb._ledger.rows.answers import ID
from smsotp_nb._ledger.rows.columns import accepted_whole
from smsotp_nb._ledger.rows.tables import ACCEPTED, SENDING, spread


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
                    kept.columns["attempts"] + 1, kept.attempt, kept.country, kept.parts, kept.price, kept.chunk,
                    kept.columns["position"],
                )  # fmt: skip
                connection.executemany(
                    f"UPDATE recipient SET own_state={ACCEPTED}, problem=NULL, message=?, attempts=?, attempt=?, "
                    f"country=?, parts=?, price=? WHERE campaign={campaign} AND chunk=? AND position=?",
                    zip(ids, *(column.tolist() for column in columns), strict=True),
                )
        whole = connection.execute("UPDATE chunk SET state=NULL, attempt=NULL WHERE state IS NOT NULL").rowcount
        connection.execute("UPDATE attempt SET ids=NULL, kinds=NULL")
        connection.execute("DELETE FROM sums WHERE campaign NOT IN (SELECT id FROM campaign WHERE purged)")
    store.close()
    return whole + len(under_way)
