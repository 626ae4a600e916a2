"""Which columns of the tables may name people, and how: one table, of which the others are made.

- statistics: of these columns a server keeps no samples (`server.dialect`)
- forget and export: texts and JSON are searched for a person's number (`people.texts`)
- purge and retention: what is left of a request holds none of them (`people.purging`)
- grants: who reads costs alone reads none of them but names and ids (docs/guides/team.md)

A test holds that every column of text or bytes stands here, or among those of which it says that they name nobody.
"""

from __future__ import annotations

from enum import Enum
from typing import Final, NamedTuple


class How(Enum):
    """How a column may name a person."""

    NUMBER = "a number, or the hash that stands for somebody who was forgotten"
    TEXT = "written by people or their systems"
    JSON = "the same, as JSON"
    UNIT = "a text of which two must stay two"
    PACKED = "many values as bytes, made anew from the rows"
    HASH = "a hash without a key: who knows the rest can try numbers"
    NAME = "what an arm or a file is called: it stays as it is, and an export quotes it"
    ID = "what messages are known by"


class Column(NamedTuple):
    """A column that may name people: what people call it, and by what its rows are known."""

    table: str
    column: str
    how: How
    called: str = ""
    key: tuple[str, ...] = ("id",)


_ROW: Final = ("campaign", "chunk", "position")
_ARM: Final = ("experiment", "person")
PEOPLE: Final = (
    Column("recipient", "number", How.NUMBER),
    Column("recipient", "kept", How.JSON, "kept column", _ROW),
    Column("recipient", "message", How.TEXT, "id of a message", _ROW),
    Column("consent", "person", How.NUMBER),
    Column("consent", "source", How.TEXT, "source of an opt-out or opt-in"),
    Column("consent", "proof", How.TEXT, "proof of an opt-out or opt-in"),
    Column("opted_out", "person", How.NUMBER),
    Column("assigned", "person", How.NUMBER),
    Column("assigned", "unit", How.UNIT, "unit of an experiment", _ARM),
    Column("assigned", "stratum", How.JSON, "stratum of an experiment", _ARM),
    Column("contacts", "people", How.PACKED),
    Column("contacts", "body", How.PACKED),
    Column("attempt", "error_code", How.TEXT, "error of a request"),
    Column("attempt", "error", How.TEXT, "error of a request"),
    Column("attempt", "request_id", How.TEXT, "id of a request"),
    Column("attempt", "disagreement", How.TEXT, "error of a request"),
    Column("attempt", "ids", How.ID),
    Column("attempt", "kinds", How.ID),
    Column("wording", "segment", How.TEXT, "segment of a campaign"),
    Column("wording", "template", How.TEXT, "id of a template"),
    Column("wording", "text", How.TEXT, "words of a campaign"),
    Column("wording", "variables", How.JSON, "column of a list"),
    Column("wording", "key", How.HASH),
    Column("measure", "forcing", How.JSON, "column of a list"),
    Column("chunk", "body", How.HASH),
    Column("campaign", "name", How.TEXT, "name of a campaign"),
    Column("campaign", "kept", How.JSON, "column of a list"),
    Column("campaign", "fingerprint", How.HASH),
    Column("sums", "shared", How.PACKED),
    Column("sums", "by_shared", How.PACKED),
    Column("change", "reason", How.TEXT, "reason of a change"),
    Column("change", "replaced", How.HASH),
    Column("change", "evidence", How.JSON, "line of an invoice"),
    Column("decision", "reason", How.TEXT, "reason of a decision"),
    Column("experiment", "name", How.TEXT, "name of an experiment"),
    Column("experiment", "declared", How.NAME, "arm or stratum of an experiment"),
    Column("copy", "path", How.NAME, "name of a file", ("path", "who")),
)


def columns_of(table: str) -> tuple[str, ...]:
    """Return the columns of a table that may name people.

    Example:
        >>> columns_of("opted_out")
        ('person',)
    """
    return tuple(one.column for one in PEOPLE if one.table == table)
