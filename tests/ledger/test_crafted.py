"""A ledger whose schema is not as we wrote it is refused at open, before anything in it is asked."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from smsotp_nb._ledger import Ledger
from smsotp_nb.errors import LedgerError

CRAFTED = [
    "CREATE TRIGGER t AFTER INSERT ON attempt BEGIN DELETE FROM opted_out; END",
    "CREATE VIEW v AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n) SELECT * FROM n",
    "DROP VIEW fate; CREATE VIEW fate AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n) SELECT * FROM n",
    "ALTER TABLE recipient ADD COLUMN extra",
    "DROP TABLE opted_out; CREATE VIEW opted_out AS SELECT 1 AS person WHERE 0",
    "DROP INDEX consent_said",
]


@pytest.mark.parametrize("sql", CRAFTED)
def test_a_schema_that_is_not_ours_is_refused(
    sql: str, ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    backup = ledger.backup(tmp_path / "from elsewhere.sqlite")
    with closing(sqlite3.connect(backup)) as connection:
        connection.executescript(sql)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "another machine"))  # where nobody has seen this ledger
    with pytest.raises(LedgerError, match=r"is not as this package wrote it\. Nothing was sent"):
        Ledger(backup).campaigns()
    with pytest.raises(LedgerError, match=r"is not as this package wrote it\. Nothing was sent"):
        Ledger.restore(backup, tmp_path / "restored.sqlite")
