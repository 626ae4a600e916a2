"""Another program writes into a ledger while a campaign is sent from it: it is told, and soon nothing more is sent."""

from __future__ import annotations

import sqlite3
import struct
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pandas as pd
import pytest
from support.live import live_client

import smsotp_nb as sms
from smsotp_nb import Ledger, Plan, Sandbox
from smsotp_nb.errors import LedgerError, UsageError

PEOPLE = pd.DataFrame({"phone": [f"+1202555{n:04}" for n in range(100, 120)]})
TAKEN_BACK = ["UPDATE chunk SET state=NULL, attempt=NULL", "DELETE FROM attempt"]
EDITS = {
    "all requests deleted": ["DELETE FROM attempt"],
    "the first request deleted": ["DELETE FROM attempt WHERE id=1"],
    "chunks deleted": ["DELETE FROM chunk WHERE chunk<2"],
    "chunks as if planned": ["UPDATE chunk SET state=NULL, attempt=NULL"],
    "chunks as if under way": ["UPDATE chunk SET state=1 WHERE state IS NOT NULL"],
    "all so far taken back": TAKEN_BACK,
    "the first chunks taken back": [f"{sql} WHERE chunk<2" for sql in TAKEN_BACK],
    "the latest chunk taken back": [f"{sql} WHERE chunk=(SELECT max(chunk) FROM attempt)" for sql in TAKEN_BACK[:1]]
    + ["DELETE FROM attempt WHERE id=(SELECT max(id) FROM attempt)"],
    "one number for everybody": ["UPDATE recipient SET number=12025550100"],
}


def planned() -> Plan:
    return sms.plan(
        PEOPLE, "Hello", to="phone", campaign="autumn", policy=None, requests=sms.RequestOptions(chunk_size=2)
    )


def editing(path: Path, statements: list[str], *, at: int) -> Callable[[object], None]:
    """Return a callback that alters the ledger once, when it is called for the nth time."""
    calls = iter(range(1, 1_000))

    def heard(_: object) -> None:
        if next(calls) == at:
            with closing(sqlite3.connect(path, timeout=20)) as other, other:
                for sql in statements:
                    other.execute(sql)

    return heard


@pytest.mark.sampled(8)
@pytest.mark.parametrize("at", [5, 11], ids=["half-way", "at the end"])
@pytest.mark.parametrize("edit", EDITS)
def test_what_is_altered_meanwhile_ends_in_an_error_and_in_no_table(edit: str, at: int, tmp_path: Path) -> None:
    path = tmp_path / "l.sqlite"
    with Sandbox() as box, box.client() as client, Ledger(path, create=True) as ledger:
        box.fault("latency", seconds=0.05)  # so that a request is under way when the callback comes
        with pytest.raises(LedgerError):
            sms.send(
                planned().with_requests(threads=1),
                client=client,
                ledger=ledger,
                progress=editing(path, EDITS[edit], at=at),
            )
        assert not box.inbox["to"].duplicated().any()


def test_what_took_back_the_latest_requests_is_noticed_when_the_ledger_is_opened_again(tmp_path: Path) -> None:
    path = tmp_path / "l.sqlite"
    with Sandbox() as box, live_client(box) as client:
        box.fault("latency", seconds=0.05)
        heard = editing(path, TAKEN_BACK, at=5)
        with Ledger(path, create=True) as ledger, pytest.raises(LedgerError):
            sms.send(planned().with_requests(threads=1), client=client, ledger=ledger, progress=heard)
        with pytest.raises(LedgerError), Ledger(path) as ledger:
            sms.send(planned(), client=client, ledger=ledger, progress=False)
        assert not box.inbox["to"].duplicated().any()


def test_a_campaign_whose_requests_were_deleted_is_not_read_as_if_nothing_had_been_sent(tmp_path: Path) -> None:
    with Sandbox() as box, box.client() as client, Ledger(tmp_path / "l.sqlite", create=True) as ledger:
        sms.send(planned(), client=client, ledger=ledger, progress=False)
        with ledger._store.writing() as connection:
            connection.execute("DELETE FROM attempt WHERE id=1")
        with pytest.raises(LedgerError, match="contradicts what it says of their requests"):
            _ = ledger.record("autumn").results


def test_a_campaign_of_an_unknown_kind_is_not_begun_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Sandbox() as box, box.client() as client:
        with Ledger(tmp_path / "l.sqlite", create=True) as ledger:
            sms.send(planned(), client=client, ledger=ledger, progress=False)
            copy = ledger.backup(tmp_path / "copy.sqlite")
        with closing(sqlite3.connect(copy)) as other, other:
            other.execute("UPDATE campaign SET kind='x'")
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "elsewhere"))
        with Ledger(copy) as ledger, pytest.raises(LedgerError, match="a campaign of it is of an unknown kind"):
            sms.send(planned(), client=client, ledger=ledger, progress=False)
        assert len(box.inbox) == len(PEOPLE)


# -- a journal that names a further file -------------------------------------------------------------------------------


def journal_naming(victim: Path, database: Path) -> None:
    """Put a hot journal beside a database that SQLite would roll back, and for which it would delete the victim."""
    page = database.read_bytes()[:4096]
    nonce, magic, name = 1234, bytes.fromhex("d9d505f920a163d7"), str(victim).encode()
    check = (nonce + sum(page[at] for at in range(len(page) - 200, 0, -200))) & 0xFFFFFFFF
    pages = database.stat().st_size // 4096
    head = (magic + struct.pack(">IIIII", 1, nonce, pages, 512, 4096)).ljust(512, b"\0")
    record = struct.pack(">I", 1) + page + struct.pack(">I", check)
    named = struct.pack(">I", 0x40000000 // 4096 + 1) + name + struct.pack(">II", len(name), sum(name)) + magic
    database.with_name(database.name + "-journal").write_bytes(head + record + named)


def _ledger(path: Path) -> None:
    Ledger(path).close()


def _sandbox(path: Path) -> None:
    Sandbox(state=path).close()


def _restored(path: Path) -> None:
    Ledger.restore(path, path.with_name("restored.sqlite")).close()


@pytest.mark.parametrize("opens", [_ledger, _restored, _sandbox])
def test_no_journal_lets_sqlite_delete_a_further_file(opens: Callable[[Path], None], tmp_path: Path) -> None:
    path, victim = tmp_path / "l.sqlite", tmp_path / "theirs"
    if opens is _sandbox:
        _sandbox(path)
    else:
        with Ledger(path, create=True) as ledger:
            path = ledger.backup(tmp_path / "copy.sqlite")
    victim.write_text("theirs")
    journal_naming(victim, path)
    with pytest.raises((LedgerError, UsageError), match="-journal is a journal that names further files"):
        opens(path)
    assert victim.read_text() == "theirs"
