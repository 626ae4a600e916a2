"""Each sign that a database is not the one that was seen is told, by itself."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from smsotp_nb._ledger.server.last_seen import Sighting

SEEN = Sighting(b"a ledger", place="7/00000001/16384/16390", log=5000, requests=12)


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"ledger": b"another"}, "it is another ledger"),
        ({"place": "8/00000001/16384/16390"}, "it is on another server, or on one made anew"),
        ({"place": "7/00000002/16384/16390"}, "a standby was promoted, or the server was restored"),
        ({"place": "7/00000001/16385/16390"}, "the database or its tables were made anew"),
        ({"place": "7/00000001/16384/16391"}, "the database or its tables were made anew"),
        ({"log": 4999}, "its log went back"),
        ({"requests": 11}, "its latest requests are missing"),
        ({"log": 5001, "requests": 13}, ""),
        ({}, ""),
    ],
)
def test_each_sign_of_another_or_older_database_is_told(other: dict[str, Any], said: str) -> None:
    assert SEEN.differences(replace(SEEN, **other)) == said


@pytest.mark.parametrize("part", range(4))
def test_a_database_says_itself_that_it_is_elsewhere(part: int) -> None:
    there = replace(SEEN, was=SEEN.place)
    assert there.moved() == ""
    parts = SEEN.place.split("/")
    parts[part] = "9"
    assert replace(there, place="/".join(parts)).moved()


def test_the_log_of_another_server_is_not_compared() -> None:
    assert (
        SEEN.differences(replace(SEEN, place="8/00000001/16384/16390", log=1))
        == "it is on another server, or on one made anew"
    )
