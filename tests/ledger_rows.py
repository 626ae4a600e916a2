"""A ledger as it stands where nothing was kept whole: row by row, and as the first version wrote it."""

from __future__ import annotations

import contextlib
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


# The tables as the first version made them.
FIRST_VERSION = """
CREATE TABLE campaign (
  id INTEGER PRIMARY KEY,
  service TEXT NOT NULL,
  name TEXT NOT NULL,
  kind TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  rows INTEGER NOT NULL,
  kept TEXT NOT NULL,
  purged INTEGER NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX campaign_name ON campaign (service, name) WHERE kind = 'campaign';

CREATE TABLE chunk (
  campaign INTEGER NOT NULL,
  chunk INTEGER NOT NULL,
  body INTEGER NOT NULL,
  est_parts INTEGER,
  encoding TEXT,
  PRIMARY KEY (campaign, chunk)
) WITHOUT ROWID;

CREATE TABLE recipient (
  campaign INTEGER NOT NULL,
  chunk INTEGER NOT NULL,
  position INTEGER NOT NULL,
  number INTEGER,
  destination INTEGER NOT NULL,
  kept TEXT,
  state INTEGER NOT NULL,
  problem TEXT,
  attempts INTEGER NOT NULL,
  attempt INTEGER,
  message,
  billed INTEGER,
  parts INTEGER,
  price INTEGER,
  PRIMARY KEY (campaign, chunk, position)
) WITHOUT ROWID;

CREATE TABLE destination (
  id INTEGER PRIMARY KEY, region TEXT, type TEXT, rate INTEGER, currency TEXT
);

CREATE TABLE billed (
  id INTEGER PRIMARY KEY, iso TEXT, cc TEXT
);

CREATE TABLE attempt (
  id INTEGER PRIMARY KEY,
  campaign INTEGER NOT NULL,
  chunk INTEGER NOT NULL,
  started_at INTEGER NOT NULL,
  settled_at INTEGER,
  verdict TEXT,
  phase TEXT,
  http_status INTEGER,
  error_code TEXT,
  error TEXT,
  request_id TEXT,
  seconds REAL,
  currency TEXT,
  recipients INTEGER,
  message_count INTEGER,
  total INTEGER,
  disagreement TEXT
);
CREATE INDEX attempt_campaign ON attempt (campaign);
PRAGMA application_id=1397576527;
PRAGMA user_version=1;
"""


def first_version(path: Path) -> None:
    """Make a ledger one of the first version, which kept everything by row."""
    by_row(path)
    now = path.with_name("now.sqlite")
    path.rename(now)
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.executescript(FIRST_VERSION)
        connection.execute("ATTACH ? AS now", (str(now),))
        tables = connection.execute("SELECT name FROM main.sqlite_master WHERE type='table'").fetchall()
        for (table,) in tables:
            columns = [row[1] for row in connection.execute(f"PRAGMA main.table_info({table})")]
            known = ["own_state" if (table, name) == ("recipient", "state") else name for name in columns]
            connection.execute(f"INSERT INTO {table} ({', '.join(columns)}) SELECT {', '.join(known)} FROM now.{table}")
        connection.execute("DETACH now")
    now.unlink()
