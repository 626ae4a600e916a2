"""The one table of columns that may name people: whole, and kept by all that is made of it."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd
import pytest
from support.servers import stored

from smsotp_nb import Client, Ledger, People, cost, plan, send
from smsotp_nb._ledger.rows.tables import PEOPLE, TABLES, How, columns_of
from smsotp_nb._ledger.server.dialect import COLUMNS, OF_SERVER, tables

# Columns of text or bytes that name none of those who are texted; keys of names hold no number (`name_key`).
NOBODY = {
    "ledger": ("id", "secret", "retention", "moved"),
    "copy": ("who", "what"),
    "session": ("token",),
    "owner": ("name_key", "service"),
    "campaign": ("service", "name_key", "kind", "author"),
    "chunk": ("encoding",),
    "recipient": ("problem",),
    "destination": ("region", "type", "currency"),
    "country": ("iso", "cc"),
    "attempt": ("outcome", "phase", "currency"),
    "change": ("what",),
    "approval": ("who",),
    "decision": ("who", "what"),
    "contacts": ("at",),
    "sums": ("currencies", "sums", "refused"),
    "served": ("since", "place"),
    "imported": ("token", "path"),
    "runner": ("token", "who", "process"),
}

ASKED, DIGITS = "+12025550147", "2025550147"
PAGE = Path(__file__).parents[2] / "docs" / "reference" / "roles.md"


def texts() -> set[tuple[str, str]]:
    """Return every column of text, of bytes, or of either."""
    found, table = set(), ""
    for line in re.sub(r"--.*", "", TABLES + OF_SERVER).splitlines():
        if made := re.match(r"CREATE TABLE (\w+)", line):
            table = made[1]
        elif column := re.match(r"  (\w+)(?: (?:TEXT|BLOB)\b|,)", line):
            found.add((table, column[1]))
    return found


def test_every_column_of_text_or_bytes_may_name_people_or_nobody() -> None:
    """A new column belongs into `PEOPLE`, unless none of those who are texted can be named in it."""
    known = {(table, column) for table, columns in NOBODY.items() for column in columns}
    listed = {(one.table, one.column) for one in PEOPLE}
    assert not known & listed
    assert texts() <= known | listed
    assert {("wording", "segment"), ("recipient", "message"), ("contacts", "people")} <= texts()
    assert all(column in COLUMNS[table] for table, column in known | listed)


def test_a_server_keeps_no_samples_of_them() -> None:
    made = tables()
    for one in PEOPLE:
        (altered,) = re.findall(rf"ALTER TABLE {one.table} (.*);", made)
        assert f"ALTER COLUMN {one.column} SET STATISTICS 0" in altered


SHOWN = {("campaign", "name"), ("campaign", "kept")}  # a table of costs is by campaign


def test_who_reads_costs_is_granted_none_of_them() -> None:
    blocks = PAGE.read_text(encoding="utf-8").split("```sql\n")
    (block,) = (one for one in blocks if one.startswith("GRANT CONNECT ON DATABASE campaigns TO cleo"))
    hidden = {(one.table, one.column) for one in PEOPLE if one.how not in (How.NAME, How.ID)} - SHOWN
    for columns, names in re.findall(r"GRANT SELECT (?:\(([^)]*)\) )?ON ([\w, ]+) TO cleo", block):
        for table in names.replace("fate", "recipient").split(", "):
            granted = re.split(r",\s*", columns) if columns else COLUMNS[table]
            assert not {(table, one) for one in granted} & hidden, table


@pytest.mark.both_ledgers
def test_a_person_who_is_forgotten_is_left_in_none_of_them(ledger: Ledger, client: Client) -> None:
    """As the name of a campaign, a segment and a column, in words and in a reason."""
    people = pd.DataFrame({"phone": [f"+120255501{n}" for n in range(40, 50)]})
    people["client"] = people["phone"]
    people[f"of {ASKED}"] = "x"
    words = {phone: f"Hello {phone}, we are open" for phone in people["phone"]}
    name = f"reply to {ASKED}"
    made = plan(people, words, to="phone", by="client", campaign=name, keep=[f"of {ASKED}", "client"])
    send(made, client, ledger=ledger, progress=False)
    ledger.record(name).withdraw(reason=f"asked by {ASKED}")
    assert DIGITS in stored(ledger).decode(errors="replace")
    People(ledger).forget(ASKED)
    ledger.close()
    assert DIGITS not in stored(ledger).decode(errors="replace")
    assert ledger.campaigns()["campaign"].tolist() == ["reply to (forgotten)"]
    assert ledger._knows(name, service=client.service)  # it is never sent again
    assert cost.spending(ledger, columns=["of (forgotten)"])["messages"].sum() == 10


@pytest.mark.both_ledgers
def test_a_purge_leaves_none_of_them(ledger: Ledger, client: Client) -> None:
    people = pd.DataFrame({"phone": [f"+120255501{n}" for n in range(40, 50)], "client": "Ada"})
    made = plan(people, {"Ada": "Hello"}, to="phone", by="client", campaign="autumn", keep="client")
    send(made, client, ledger=ledger, progress=False)
    record = ledger.record("autumn")
    record.withdraw(reason="Ada asked")
    record.purge()
    kept = {("campaign", "name"), ("campaign", "kept"), ("attempt", "kinds")}
    with ledger._store.reading() as connection:
        for one in PEOPLE:
            if "campaign" in COLUMNS[one.table] and one.how is not How.PACKED and (one.table, one.column) not in kept:
                sql = f"SELECT count({one.column}) FROM {one.table} WHERE {one.column} IS NOT NULL"
                assert connection.execute(sql).fetchone()[0] == 0, one
    assert columns_of("attempt")
