"""What was seen of a ledger: its mark stays small, and each sign of another or an older one is told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from kills.people import numbers, plan_of
from support.live import live_client

from smsotp_nb import Experiment, Ledger, People, Sandbox, send
from smsotp_nb._ledger.file import last_seen as marks
from smsotp_nb._ledger.file.last_seen import SLOT, Mark, Session
from smsotp_nb._ledger.server.last_seen import Sighting
from smsotp_nb.errors import LedgerOlder

LEDGER = bytes(range(16))


def token(number: int) -> bytes:
    return number.to_bytes(16, "big")


def begun(path: Path, number: int, at: int) -> None:
    mark = Mark(path)
    mark.begin(LEDGER, Session(token(number), at=at))
    mark.close()


def test_a_new_session_takes_the_place_of_the_oldest_where_a_mark_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(marks, "KEPT", 5)
    path = tmp_path / "mark"
    for number in range(1, 12):
        begun(path, number, at=number)
    assert path.stat().st_size == 6 * SLOT
    assert sorted(session.token for session in Mark(path).sessions()) == [token(n) for n in range(7, 12)]
    Mark(path).set_aside([token(9)])
    begun(path, 12, at=12)
    assert sorted(session.token for session in Mark(path).sessions()) == [token(n) for n in (7, 8, 10, 11, 12)]


def test_an_older_copy_is_noticed_by_a_mark_that_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(marks, "KEPT", 3)
    path, copy = tmp_path / "l.sqlite", tmp_path / "copy.sqlite"
    for number in range(8):
        with Ledger(path, create=True) as ledger:
            People(ledger).opt_out(f"+120255501{number:02}", source="phone")
            if number == 5:
                ledger.backup(copy)
    assert (tmp_path / "l.sqlite-mark").stat().st_size == 4 * SLOT
    Ledger(path).close()
    path.write_bytes(copy.read_bytes())
    with pytest.raises(LedgerOlder):
        Ledger(path)


def opts_out(ledger: Ledger) -> None:
    People(ledger).opt_out("+12025550100", source="phone")


def draws_a_holdout(ledger: Ledger) -> None:
    people = pd.DataFrame({"phone": numbers(20)})
    Experiment(
        "trial", arms={"one": 50}, holdout=50, unit="phone", outcomes={"bought": "binary"}, read_after="1d",
        ledger=ledger,
    ).assign(people, to="phone")  # fmt: skip


def texts_people(ledger: Ledger) -> None:
    with Sandbox() as box, live_client(box) as client:
        send(plan_of(5), client, ledger=ledger, progress=False)


@pytest.mark.parametrize("act", [opts_out, draws_a_holdout, texts_people])
def test_an_older_copy_of_what_only_held_rehearsals_is_taken_as_it_is(
    act: Callable[[Ledger], None], tmp_path: Path
) -> None:
    """Until it held people: their copy, and a new file in its place, are refused, also where the copy held none."""
    path, copy = tmp_path / "l.sqlite", tmp_path / "copy.sqlite"
    with Sandbox() as box, Ledger(path, create=True) as ledger:
        ledger.backup(copy)
        send(plan_of(5), box, ledger=ledger, progress=False)
    path.write_bytes(copy.read_bytes())
    with Sandbox() as box, Ledger(path) as ledger:
        send(plan_of(5), box, ledger=ledger, progress=False)
        assert len(box.inbox) == 5
    path.write_bytes(b"")
    with Ledger(path, create=True) as ledger:
        act(ledger)
    for held in (copy.read_bytes(), b""):
        path.write_bytes(held)
        with pytest.raises(LedgerOlder):
            Ledger(path, create=True)


# -- each sign that a database is not the one that was seen is told, by itself -------------------------------------

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
