"""A ledger whose schema is not as we wrote it is refused at open, before anything in it is asked."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from smsotp_nb import Ledger
from smsotp_nb.errors import LedgerError

CRAFTED = [
    "CREATE TRIGGER t AFTER INSERT ON attempt BEGIN DELETE FROM opted_out; END",
    "CREATE VIEW v AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n) SELECT * FROM n",
    "DROP VIEW fate; CREATE VIEW fate AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n) SELECT * FROM n",
    "ALTER TABLE recipient ADD COLUMN extra",
    "DROP TABLE opted_out; CREATE VIEW opted_out AS SELECT 1 AS person WHERE 0",
    "DROP INDEX consent_said",
]


# What only somebody writes who may write the schema itself: kind, name, table, SQL.
FORGED = {
    "a trigger named as statistics": ("trigger", "sqlite_stat1", "chunk", "CREATE TRIGGER sqlite_stat1 AFTER UPDATE ON "
        "chunk WHEN new.state=2 BEGIN UPDATE chunk SET state=NULL, attempt=NULL WHERE campaign=new.campaign; END"),
    "a trigger named as samples": ("trigger", "sqlite_stat4", "attempt", "CREATE TRIGGER sqlite_stat4 AFTER INSERT ON "
        "attempt BEGIN DELETE FROM opted_out; END"),
    "a view named as statistics": ("view", "sqlite_stat1", "sqlite_stat1", "CREATE VIEW sqlite_stat1 AS SELECT 1"),
    "an index named as statistics": ("index", "sqlite_stat1", "chunk", "CREATE INDEX sqlite_stat1 ON chunk (state)"),
    "statistics of other columns": ("table", "sqlite_stat1", "sqlite_stat1", "CREATE TABLE sqlite_stat1(a,b,c)"),
}  # fmt: skip
REWRITTEN = {
    "a view that ends early": ("fate", " ON c.campaign=r.campaign", " --\0\n ON c.campaign=r.campaign"),
    "an index that ends early": ("campaign_name", " WHERE", " --\0\n WHERE"),
    "a column with a blank in its name": ("opted_out", "person INTEGER", "person\u00a0INTEGER"),
}


@pytest.mark.parametrize("sql", CRAFTED)
def test_a_schema_that_is_not_ours_is_refused(
    sql: str, ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    backup = from_elsewhere(ledger, tmp_path, monkeypatch)
    with closing(sqlite3.connect(backup)) as connection:
        connection.executescript(sql)
    refuse(backup)


@pytest.mark.parametrize("case", FORGED)
def test_what_bears_the_name_of_statistics_and_is_none_is_refused(
    case: str, ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such a name is SQLite's own; a trigger of that name undid what was recorded, and people were texted twice."""
    backup = from_elsewhere(ledger, tmp_path, monkeypatch)
    with closing(sqlite3.connect(backup)) as connection:
        connection.execute("PRAGMA writable_schema=ON")
        connection.execute(
            "INSERT INTO sqlite_master SELECT ?, ?, ?, CASE ? WHEN 'table' THEN rootpage ELSE 0 END, ? "
            "FROM sqlite_master WHERE name='opted_out'",
            (*FORGED[case][:3], FORGED[case][0], FORGED[case][3]),
        )
        connection.commit()
    refuse(backup)


@pytest.mark.parametrize("case", REWRITTEN)
def test_sql_that_reads_otherwise_to_sqlite_is_refused(
    case: str, ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite reads no further than a zero character, and knows fewer blanks than Python."""
    backup = from_elsewhere(ledger, tmp_path, monkeypatch)
    name, written, forged = REWRITTEN[case]
    with closing(sqlite3.connect(backup)) as connection:
        connection.execute("PRAGMA writable_schema=ON")
        (sql,) = connection.execute("SELECT sql FROM sqlite_master WHERE name=?", (name,)).fetchone()
        assert written in sql
        connection.execute("UPDATE sqlite_master SET sql=? WHERE name=?", (sql.replace(written, forged), name))
        connection.commit()
    refuse(backup)


def test_statistics_of_sqlite_itself_are_no_alteration(
    ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    backup = from_elsewhere(ledger, tmp_path, monkeypatch)
    with closing(sqlite3.connect(backup)) as connection:
        connection.execute("ANALYZE")
        connection.execute("INSERT INTO sqlite_stat1 VALUES ('recipient', NULL, '12')")
        connection.commit()
    assert Ledger(backup).campaigns() is not None


def from_elsewhere(ledger: Ledger, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a copy of a ledger, as if on a machine where nobody has seen it."""
    backup = ledger.backup(folder / "from elsewhere.sqlite")
    monkeypatch.setenv("XDG_STATE_HOME", str(folder / "another machine"))
    return backup


def refuse(backup: Path) -> None:
    with pytest.raises(LedgerError, match=r"is not as this package wrote it\. Nothing was sent"):
        Ledger(backup).campaigns()
    with pytest.raises(LedgerError, match=r"is not as this package wrote it\. Nothing was sent"):
        Ledger.restore(backup, backup.with_name("restored.sqlite"))
