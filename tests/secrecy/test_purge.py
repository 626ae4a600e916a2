"""What a purge leaves: every byte of every file is looked at, the log, the marks and the sandbox's state included."""

from __future__ import annotations

import contextlib
import json
import shutil
import sqlite3
import warnings
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pandas as pd
import pytest
import requests

from smsotp_nb import Client, Folder, Ledger, People, Plan, Sandbox, Wire, otp, plan, send, send_test
from smsotp_nb.errors import CampaignHeld, LedgerError, SmsOtpWarning, UsageError

PEOPLE = [f"+1202555{n:04}" for n in range(100, 130)]
SUPPRESSED = PEOPLE[7]
ONESELF = "+14155550100"
NAMES = [f"Zebedee{n:02}" for n in range(len(PEOPLE))]


def planned(name: str = "autumn") -> Plan:
    frame = pd.DataFrame({"phone": PEOPLE, "name": NAMES})
    return plan(
        frame, "Hi {name}", to="phone", campaign=name, keep=["name"], wire=Wire(chunk_size=7), leave_out=[SUPPRESSED]
    )


def done(client: Client, ledger: Ledger, name: str = "autumn") -> None:
    made = planned(name)
    send_test(made, client=client, to=ONESELF, row=3, ledger=ledger)
    send(made, client=client, ledger=ledger, progress=False)


def deleted(box: Sandbox, what: str, **which: str) -> bool:
    asked = {"token": box.token, **which}
    return requests.delete(f"{box.url}/{what}", params=asked, timeout=120).ok


def found_in(folder: Path, numbers: Iterable[str], words: Iterable[str] = ()) -> set[str]:
    """Return which numbers, as digits or as integers of either byte order, and which words stand in a file's bytes."""
    everything = b"\n".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())
    spelled = {word: {word.encode()} for word in words}
    for number in numbers:
        value = int(number[1:])
        spelled[number] = {number[1:].encode(), value.to_bytes(5, "big"), value.to_bytes(5, "little")}
    return {what for what, forms in spelled.items() if any(form in everything for form in forms)}


@contextlib.contextmanager
def reader(path: Path) -> Iterator[None]:
    """Another program that reads the ledger in the middle of a block."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("BEGIN")
        connection.execute("SELECT count(*) FROM campaign").fetchone()
        yield


def test_a_purge_leaves_nobody_in_any_file(client: Client, ledger: Ledger, tmp_path: Path) -> None:
    done(client, ledger)
    assert found_in(tmp_path, [PEOPLE[0], ONESELF], [NAMES[0]]) == {PEOPLE[0], ONESELF, NAMES[0]}
    assert ledger.record("autumn").purge() == len(PEOPLE) + 1
    assert found_in(tmp_path, [*PEOPLE, ONESELF], NAMES) == set()
    ledger.close()
    assert found_in(tmp_path, [*PEOPLE, ONESELF], NAMES) == set()


def test_the_latest_request_of_all_keeps_no_id_of_the_service(client: Client, ledger: Ledger, tmp_path: Path) -> None:
    """It stays, emptied, because its number must not be given to another one."""
    done(client, ledger)
    with contextlib.closing(sqlite3.connect(ledger.path)) as connection:
        ids = [one for (one,) in connection.execute("SELECT request_id FROM attempt ORDER BY id")]
    assert found_in(tmp_path, [], [ids[-1]]) == {ids[-1]}
    ledger.record("autumn").purge()
    assert found_in(tmp_path, [], ids) == set()


def test_somebody_who_said_no_is_kept_as_a_hash_alone(client: Client, ledger: Ledger, tmp_path: Path) -> None:
    done(client, ledger)
    assert found_in(tmp_path, [SUPPRESSED], [NAMES[7]]) == set()
    row = ledger.record("autumn").results.iloc[7]
    assert (row["status"], row["problem"], pd.isna(row["to"]), pd.isna(row["name"])) == (
        "skipped",
        "SUPPRESSED",
        True,
        True,
    )
    assert People(ledger).history(SUPPRESSED)["problem"].tolist() == ["SUPPRESSED"]
    assert len(send(planned(), client=client, ledger=ledger, progress=False)) == len(
        PEOPLE
    )  # it is the same plan still


def test_a_test_message_keeps_nothing_of_whose_it_was(client: Client, ledger: Ledger, tmp_path: Path) -> None:
    send_test(planned(), client=client, to=ONESELF, row=3, ledger=ledger)
    assert found_in(tmp_path, [PEOPLE[3]], [NAMES[3]]) == set()


def test_what_a_reader_kept_from_being_overwritten_is_told_and_made_up_for(
    client: Client, ledger: Ledger, tmp_path: Path
) -> None:
    done(client, ledger)
    with reader(ledger.path):
        with pytest.warns(SmsOtpWarning, match=r"can still be read .* itself, because something else is reading it"):
            ledger.record("autumn").purge()
        assert PEOPLE[0] in found_in(tmp_path, PEOPLE)
        assert "is reading it" in str(ledger.card().html())
    ledger.close()
    with Ledger(ledger.path) as again:
        assert found_in(tmp_path, [*PEOPLE, ONESELF], NAMES) == set()
        assert "is reading it" not in str(again.card().html())


def test_forgetting_one_person_while_somebody_reads_is_made_up_for_too(
    client: Client, ledger: Ledger, tmp_path: Path
) -> None:
    done(client, ledger)
    with reader(ledger.path), pytest.warns(SmsOtpWarning, match="something else is reading"):
        People(ledger).forget(PEOPLE[2])
    ledger.close()
    Ledger(ledger.path).close()
    assert found_in(tmp_path, PEOPLE[2:4], NAMES[2:4]) == {PEOPLE[3], NAMES[3]}


def test_copies_are_named_until_they_are_made_no_more(client: Client, ledger: Ledger, tmp_path: Path) -> None:
    done(client, ledger)
    backup = ledger.backup(tmp_path / "kept.sqlite")
    with pytest.raises(LedgerError, match="already exists"):
        ledger.backup(backup)
    with pytest.warns(SmsOtpWarning, match=r"the backup .*kept\.sqlite of 20"):
        ledger.record("autumn").purge()
    assert "kept.sqlite" in ledger.card().html()


def test_a_copy_that_is_no_longer_there_is_told_apart(client: Client, ledger: Ledger, tmp_path: Path) -> None:
    done(client, ledger)
    backup = ledger.backup(tmp_path / "kept.sqlite")
    (tmp_path / "kept.sqlite").rename(tmp_path / "moved.sqlite")
    with pytest.warns(SmsOtpWarning, match=r"perhaps the backup .*kept\.sqlite of 20.* UTC, which is no"):
        ledger.record("autumn").purge()
    (tmp_path / "moved.sqlite").rename(backup)
    assert "no longer in its place" not in ledger.card().html()


def test_an_exported_table_is_named_and_makes_no_backup_older(client: Client, ledger: Ledger, tmp_path: Path) -> None:
    done(client, ledger)
    backup = ledger.backup(tmp_path / "kept.sqlite")
    ledger.record("autumn").export(tmp_path / "sent.csv")
    ledger.close()
    Ledger.restore(backup, ledger.path).close()
    ledger.record("autumn").export(tmp_path / "again.csv")
    with pytest.warns(SmsOtpWarning, match=r"the exported table .*again\.csv of 20"):
        ledger.record("autumn").purge()


def test_the_folder_of_a_plan_in_pieces_is_named(client: Client, ledger: Ledger, tmp_path: Path) -> None:
    """It holds the numbers of everybody, and their texts."""
    pytest.importorskip("duckdb")
    (tmp_path / "list").mkdir()
    pd.DataFrame({"phone": PEOPLE, "name": NAMES}).to_parquet(tmp_path / "list" / "a.parquet")
    made = plan(Folder(tmp_path / "list", into=tmp_path / "plan"), "Hi {name}", to="phone", campaign="big")
    send(made, client=client, ledger=ledger, progress=False)
    assert "folder of the plan" in ledger.card().html()
    with pytest.warns(SmsOtpWarning, match=r"the folder of the plan .*plan of 20"):
        ledger.record("big").purge()
    shutil.rmtree(tmp_path / "plan")
    assert "perhaps the folder of the plan" in ledger.card().html()


def test_an_export_that_failed_is_no_copy_and_an_earlier_one_stays(
    client: Client, ledger: Ledger, tmp_path: Path
) -> None:
    done(client, ledger)
    campaign = ledger.record("autumn")
    with pytest.raises(UsageError, match="folder"):
        campaign.export(tmp_path / "nowhere" / "sent.csv")
    campaign.export(tmp_path / "sent.csv")
    before = ledger.card().html()
    assert "sent.csv" in before
    assert "nowhere" not in before
    with pytest.raises(UsageError, match="already exists"):
        campaign.export(tmp_path / "sent.csv")
    assert ledger.card().html() == before


def test_a_ledger_that_a_restore_replaced_is_named(client: Client, ledger: Ledger, tmp_path: Path) -> None:
    backup = ledger.backup(tmp_path / "kept.sqlite")
    done(client, ledger)
    ledger.close()
    restored = Ledger.restore(backup, ledger.path, accept_older=True)
    assert "-replaced-" in restored.card().html()


def test_the_fingerprint_goes_with_the_numbers(client: Client, ledger: Ledger) -> None:
    """Whoever knows the text of a campaign of one could find the number by trying them all."""
    done(client, ledger)
    ledger.record("autumn").purge()
    with ledger._store.reading() as connection:
        assert connection.execute("SELECT DISTINCT fingerprint FROM campaign").fetchall() == [("",)]


class Clock:
    def __init__(self) -> None:
        self.at = datetime(2026, 11, 12, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.at


def test_retention_purges_what_is_older_when_it_is_called_and_says_what_comes_due(
    client: Client, tmp_path: Path
) -> None:
    clock = Clock()
    ledger = Ledger(tmp_path / "r.sqlite", create=True, now=clock)
    done(client, ledger, "first")
    clock.at += timedelta(days=400)
    done(client, ledger, "second")
    assert "Numbers are kept" not in ledger.card().html()
    gone = ledger.retain("12 months")
    assert sorted(zip(gone["campaign"], gone["kind"], gone["purged"], strict=True)) == [
        ("first", "campaign", True),
        ("first", "test", True),
    ]
    assert "Numbers are kept for 12 months; nothing is older." in ledger.card().html()
    clock.at += timedelta(days=400)
    assert "2 campaigns, tests and experiments are older" in ledger.card().html()
    assert ledger.record("second").counts["accepted"] == len(PEOPLE) - 1  # nothing happens by itself


def test_contacts_that_no_rule_asks_for_are_deleted_by_a_later_purge(client: Client, tmp_path: Path) -> None:
    clock = Clock()
    ledger = Ledger(tmp_path / "r.sqlite", create=True, now=clock)
    done(client, ledger, "first")
    ledger.record("first").purge()
    with ledger._store.reading() as connection:
        assert connection.execute("SELECT count(*) FROM contacts").fetchone()[0]
    clock.at += timedelta(days=367)
    done(client, ledger, "second")
    ledger.record("second").purge()
    with ledger._store.reading() as connection:
        kept = connection.execute("SELECT name FROM contacts JOIN campaign ON id=campaign").fetchall()
    assert {name for (name,) in kept} == {"second"}


@pytest.mark.parametrize("age", ["", "24", "months", "0 days", "-1 days", "1.5 years", "9999 years", 24, None])
def test_an_age_that_is_none_deletes_nothing(client: Client, ledger: Ledger, age: object) -> None:
    done(client, ledger)
    with pytest.raises(UsageError, match="Nothing was deleted"):
        ledger.retain(age)  # type: ignore[arg-type]
    assert ledger.record("autumn").counts["accepted"]


def test_a_sandbox_that_was_cleared_holds_nobody(tmp_path: Path) -> None:
    path = tmp_path / "box.sqlite"
    with Sandbox(state=path) as box:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            send(
                planned(),
                client=box.client(),
                ledger=Ledger(tmp_path / "far" / "l.sqlite", create=True),
                progress=False,
            )
        assert found_in(path.parent, PEOPLE[:1], NAMES[:1])
        box.clear()
        left = b"".join(part.read_bytes() for part in path.parent.glob("box.sqlite*"))
        assert not [name for name in NAMES if name.encode() in left]
        assert not [number for number in PEOPLE if number[1:].encode() in left]


def test_who_asks_gets_every_row_and_after_forgetting_no_byte_is_left(
    client: Client, box: Sandbox, ledger: Ledger, tmp_path: Path
) -> None:
    done(client, ledger)
    send_test(planned(), client=client, to=PEOPLE[4], ledger=ledger)
    otp.send(PEOPLE[4], client=client, ledger=ledger)
    exported = json.loads(People(ledger).export(PEOPLE[4], tmp_path / "one.json").read_text(encoding="utf-8"))
    assert [row["kind"] for row in exported["history"]] == ["campaign", "test", "passcode"]
    rows = exported["messages"]
    assert [(row["kind"], row["kept"].get("name")) for row in rows] == [
        ("campaign", NAMES[4]), ("test", None), ("passcode", None),
    ]  # fmt: skip
    sent = box.inbox.loc[box.inbox["to"] == PEOPLE[4], "id"].tolist()
    assert len(sent) == 3
    assert [(row["id"], row["to"]) for row in rows] == [(one, PEOPLE[4]) for one in sent]
    assert all(row["price"] > 0 for row in rows)
    (tmp_path / "one.json").unlink()
    assert People(ledger).forget(PEOPLE[4]) == 3
    ledger.close()
    assert found_in(tmp_path, PEOPLE[4:6], NAMES[4:6]) == {PEOPLE[5], NAMES[5]}


def test_who_was_forgotten_or_suppressed_gets_the_rows_under_a_hash_as_well(
    client: Client, ledger: Ledger, tmp_path: Path
) -> None:
    done(client, ledger)
    before = json.loads(People(ledger).export(PEOPLE[4], tmp_path / "one.json").read_text(encoding="utf-8"))
    People(ledger).forget(PEOPLE[4])
    told = [
        json.loads(People(ledger).export(number, tmp_path / f"{number}.json").read_text(encoding="utf-8"))["messages"]
        for number in (PEOPLE[4], SUPPRESSED)
    ]
    assert [[(row["status"], row["to"], row["kept"]["name"]) for row in rows] for rows in told] == [
        [("accepted", None, None)], [("skipped", None, None)],
    ]  # fmt: skip
    assert told[0][0]["id"] == before["messages"][0]["id"]


def test_an_export_has_kept_columns_exactly_whatever_they_are_called(
    client: Client, ledger: Ledger, tmp_path: Path
) -> None:
    frame = pd.DataFrame({"phone": PEOPLE[:2], "kind": ["gold", "blue"], "share": [0.123456789012345, 1e-12], 0: "a"})
    made = plan(frame.assign(**{"0": "b"}), "Hi", to="phone", campaign="autumn", keep=["kind", "share", 0, "0"])
    send(made, client=client, ledger=ledger, progress=False)
    (row,) = json.loads(People(ledger).export(PEOPLE[1], tmp_path / "one.json").read_text(encoding="utf-8"))["messages"]
    assert (row["kind"], row["kept"]) == ("campaign", {"'kind'": "blue", "'share'": 1e-12, "0": "a", "'0'": "b"})
    assert row["at"].endswith("+00:00")


def test_an_export_is_of_one_moment(client: Client, ledger: Ledger, tmp_path: Path) -> None:
    """Another kernel's purge in the middle of it made it say that the ledger is damaged."""
    done(client, ledger)
    looks = iter([True])

    def purged_meanwhile(sql: str) -> None:
        if "FROM recipient r JOIN campaign" in sql and next(looks, False):
            with Ledger(ledger.path) as other, pytest.warns(SmsOtpWarning, match="something else is reading it"):
                other.record("autumn").purge()

    with ledger._store.reading() as connection:
        connection.set_trace_callback(purged_meanwhile)
    told = json.loads(People(ledger).export(PEOPLE[4], tmp_path / "one.json").read_text(encoding="utf-8"))
    assert [row["kept"]["name"] for row in told["messages"]] == [NAMES[4]]
    assert [row["kind"] for row in told["history"]] == ["campaign"]
    assert not list(looks)
    after = json.loads(People(ledger).export(PEOPLE[4], tmp_path / "two.json").read_text(encoding="utf-8"))
    assert after["messages"] == after["history"] == []
    assert [(row["campaign"], row["kind"]) for row in after["contacts"]] == [("autumn", "campaign")]


def test_a_restored_backup_knows_the_copies_that_were_made_since(
    client: Client, ledger: Ledger, tmp_path: Path
) -> None:
    done(client, ledger)
    backup = ledger.backup(tmp_path / "backup.sqlite")
    ledger.record("autumn").export(tmp_path / "since.csv")
    ledger.close()
    with Ledger.restore(backup, ledger.path, accept_older=True) as restored:
        with pytest.warns(SmsOtpWarning) as caught:
            restored.record("autumn").purge()
        for name in ("since.csv", "backup.sqlite", f"{ledger.path.name}-replaced-"):
            assert name in str(caught[0].message)


def test_a_damaged_ledger_is_replaced_all_the_same(client: Client, ledger: Ledger, tmp_path: Path) -> None:
    done(client, ledger)
    backup = ledger.backup(tmp_path / "backup.sqlite")
    ledger.close()
    ledger.path.write_bytes(b"no ledger" * 1_000)
    with Ledger.restore(backup, ledger.path) as restored:
        assert len(restored.record("autumn").results) == len(PEOPLE)


def test_a_purge_waits_for_a_test_that_another_service_is_sending(ledger: Ledger) -> None:
    """What the test came to could not be recorded, and its cost would be in no sum."""
    made = planned()
    with Sandbox() as box, Sandbox() as other:
        send(made, client=box.client(), ledger=ledger, progress=False)
        test = ledger._begin(planned(), service=other.client().service, kind="test")
        campaign = ledger.record("autumn", service=box.client().service)
        with pytest.raises(CampaignHeld):
            campaign.purge()
        assert len(campaign.results) == len(PEOPLE)
        test.close()
        assert campaign.purge()


def test_a_purge_and_a_clear_rewrite_the_file(client: Client, ledger: Ledger, tmp_path: Path) -> None:
    """Nothing is left of the pages on which the rows stood, and what is deleted is overwritten on every system."""
    many = pd.DataFrame({"phone": [f"+1202555{n:04}" for n in range(5_000)]})
    ledger._begin(plan(many, "Hi", to="phone", campaign="many"), service="sandbox:a").close()
    ledger.record("many").purge()
    with ledger._store.reading() as connection:
        assert connection.execute("PRAGMA freelist_count").fetchone() == (0,)
        assert connection.execute("PRAGMA secure_delete").fetchone() == (1,)
    path = tmp_path / "box" / "box.sqlite"
    path.parent.mkdir()
    with Sandbox(state=path) as box:
        box.client().send_message(PEOPLE, text="Hi all")
        box.client().send_message(PEOPLE, text="Ho all")
        box.clear()
    with contextlib.closing(sqlite3.connect(path)) as other:
        assert other.execute("PRAGMA freelist_count").fetchone() == (0,)
    assert not [number for number in PEOPLE if number[1:].encode() in path.read_bytes()]
