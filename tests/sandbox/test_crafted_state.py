"""A state file that is damaged, or that somebody else made, is refused in the sandbox's words."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest

from smsotp_nb.errors import UsageError
from smsotp_nb.sandbox import Sandbox

from . import state_fuzz

DEEP = "[" * 100_000
CRAFTED = {
    "a trigger": "CREATE TRIGGER t AFTER INSERT ON messages BEGIN DELETE FROM messages; END",
    "an endless view": "CREATE VIEW v AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n) SELECT * FROM n",
    "a view for a table": "DROP TABLE passcodes; CREATE VIEW passcodes AS SELECT '+1' AS number, 1 AS code",
    "a missing index": "DROP INDEX messages_by_number",
    "a schema of bytes": "PRAGMA writable_schema=ON; UPDATE sqlite_master SET name=cast(x'cc20' AS TEXT), sql='?' "
    "WHERE name='facts'",
    "a trigger named as statistics": "PRAGMA writable_schema=ON; INSERT INTO sqlite_master VALUES ('trigger', "
    "'sqlite_stat4', 'facts', 0, 'CREATE TRIGGER sqlite_stat4 AFTER INSERT ON facts BEGIN DELETE FROM facts; END')",
    "a balance in words": "UPDATE facts SET value='much' WHERE name='balance'",
    "no number of starts": "DELETE FROM facts WHERE name='starts'",
    "an id of bytes": "UPDATE facts SET value=x'ff' WHERE name='id'",
    "no text": "UPDATE facts SET value=cast(x'ff' AS TEXT) WHERE name='variant'",
    "a deep note": f"INSERT INTO unfiled (accepted) VALUES ('{DEEP}')",
    "a note of something else": "INSERT INTO unfiled (accepted) VALUES ('[1, 2, 3, 4, 5]')",
    "a price in words": "UPDATE messages SET price='much'",
    "a text that is none": "UPDATE requests SET text=cast(x'ff' AS TEXT)",
    "a moment beyond range": f"UPDATE requests SET at={2**62}",
    "a number that was not given": f"UPDATE messages SET n={2**40}",
    "a clock of bytes": "INSERT OR REPLACE INTO facts VALUES ('clock_offset', x'00')",
}


@pytest.mark.parametrize("case", CRAFTED)
def test_a_crafted_state_is_refused(case: str, tmp_path: Path) -> None:
    path = tmp_path / "box.sqlite"
    with Sandbox(state=path) as box, box.client() as client:
        client.send_message("+12025550123", text="Hello")
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(CRAFTED[case])
    with pytest.raises(UsageError, match=r"box.sqlite is damaged or was altered: .*Name another one") as caught:
        Sandbox(state=path).close()
    assert len(str(caught.value)) < 2_000


def test_no_damaged_or_crafted_state_brings_a_foreign_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some by chance; the long test runs are in docs/evidence/index.md."""
    monkeypatch.setattr(threading, "excepthook", threading.excepthook)  # the campaign sets its own
    wrong, outcomes = state_fuzz.findings(range(60), tmp_path)
    assert wrong == []
    assert {"read", "refused: UsageError"} <= set(outcomes)
