"""A mark of what was seen of a ledger: it stays small, however often the ledger is used."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from kills.people import numbers, plan_of
from support.live import live_client

from smsotp_nb import Experiment, Ledger, People, Sandbox, send
from smsotp_nb._ledger.file import last_seen as marks
from smsotp_nb._ledger.file.last_seen import SLOT, Mark, Session
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
