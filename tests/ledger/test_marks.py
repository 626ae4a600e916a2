"""A mark of what was seen of a ledger: it stays small, however often the ledger is used."""

from __future__ import annotations

from pathlib import Path

import pytest

from smsotp_nb import Ledger
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
            ledger.retain(f"{number + 1} months")
            if number == 5:
                ledger.backup(copy)
    assert (tmp_path / "l.sqlite-mark").stat().st_size == 4 * SLOT
    Ledger(path).close()
    path.write_bytes(copy.read_bytes())
    with pytest.raises(LedgerOlder):
        Ledger(path)
