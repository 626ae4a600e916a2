"""Each sign that a database is not the one that was seen is told, by itself."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from smsotp_nb._ledger.server.last_seen import Sighting

SEEN = Sighting(b"a ledger", system=7, timeline="00000001", database=16384, table=16390, log=5000, requests=12)


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"ledger": b"another"}, "it is another ledger"),
        ({"system": 8}, "it is on another server, or on one made anew"),
        ({"timeline": "00000002"}, "a standby was promoted, or the server was restored"),
        ({"database": 16385}, "the database or its tables were made anew"),
        ({"table": 16391}, "the database or its tables were made anew"),
        ({"log": 4999}, "its log went back"),
        ({"requests": 11}, "its latest requests are missing"),
        ({"log": 5001, "requests": 13}, ""),
        ({}, ""),
    ],
)
def test_each_sign_of_another_or_older_database_is_told(other: dict[str, Any], said: str) -> None:
    assert SEEN.differences(replace(SEEN, **other)) == said


@pytest.mark.parametrize("part", ["system", "timeline", "database", "table"])
def test_a_database_says_itself_that_it_is_elsewhere(part: str) -> None:
    there = replace(SEEN, was_system=7, was_timeline="00000001", was_database=16384, was_table=16390)
    assert there.moved() == ""
    assert replace(there, **{part: "00000002" if part == "timeline" else 9}).moved()  # type: ignore[arg-type]


def test_the_log_of_another_server_is_not_compared() -> None:
    assert SEEN.differences(replace(SEEN, system=8, log=1)) == "it is on another server, or on one made anew"
