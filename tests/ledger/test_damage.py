"""What stands in a ledger and cannot be: the error says what to do, and the other campaigns stay readable."""

from __future__ import annotations

import getpass
import socket
import sqlite3
import traceback
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pandas as pd
import pytest
from support.cpu_time import at_most

from smsotp_nb import Ledger, People, Policy, Record, Sandbox, cost, plan, send
from smsotp_nb.errors import LedgerError, SmsOtpWarning, UsageError

from . import ledger_fuzz

DEEP = "[" * 100_000
ME = f"{getpass.getuser()} on {socket.gethostname()}"
ANN = pd.DataFrame({"phone": ["+12025550104"]})
OF_AUTUMN = "WHERE campaign=(SELECT id FROM campaign WHERE name='autumn')"
DAMAGED: dict[str, tuple[str, Callable[[Record], object]]] = {
    "text for a number": (f"UPDATE recipient SET number='abc' {OF_AUTUMN}", lambda it: it.results),
    "deep JSON": (f"UPDATE recipient SET kept='{DEEP}' {OF_AUTUMN}", lambda it: it.results),
    "no text": (f"UPDATE attempt SET error=CAST(x'ff' AS TEXT) {OF_AUTUMN}", lambda it: it.requests),
    "a time beyond range": (f"UPDATE change SET at={2**62} {OF_AUTUMN}", lambda it: it.card()),
    "no state": (f"UPDATE recipient SET own_state=99 {OF_AUTUMN}", lambda it: it.results),
    "a place that is none": (f"UPDATE recipient SET position=position+0.5 {OF_AUTUMN}", lambda it: it.results),
    "a change of bytes": (f"UPDATE change SET at=x'00' {OF_AUTUMN}", lambda it: it.changes),
}  # fmt: skip


NO_NUMBER = {"nought": "0", "16 digits": "9999999999999999", "the largest": "9223372036854775807", "nothing": "NULL"}
EXCLUDED: dict[str, Callable[[Ledger], object]] = {
    "excluded": lambda it: plan(ANN, "Hi", to="phone", campaign="spring", exclude=it.record("autumn")),
    "planned with the ledger": lambda it: it._prospect(
        plan(ANN, "Hi", to="phone", campaign="spring", policy=Policy(caps=[(1, "7d")])),
        service="a service",
    ),
    "frame": lambda it: it.record("autumn").results,
    "numbers": lambda it: it.record("autumn")._numbers,
}


@pytest.fixture
def two(ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A ledger of two campaigns, which comes from another machine."""
    for name in ("autumn", "winter"):
        run = ledger._begin(ledger_fuzz.planned(name, slice(0, 6)), service="a service")
        run.claim(0)
        run.close()
        campaign = ledger.record(name)
        campaign.settle(campaign.in_doubt, accepted=True)
    path = ledger.backup(tmp_path / "other.sqlite")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "another machine"))
    return path


@pytest.mark.sampled(10)
@pytest.mark.parametrize("value", NO_NUMBER)
@pytest.mark.parametrize("reader", EXCLUDED)
@pytest.mark.parametrize("where", ["", " AND position=4"], ids=["all rows", "one row"])
def test_a_number_that_is_none_leaves_nobody_unexcluded(reader: str, value: str, where: str, two: Path) -> None:
    """It was passed over, so that its person counted as never texted."""
    with closing(sqlite3.connect(two)) as connection:
        connection.execute("DELETE FROM contacts")  # as of a campaign that still runs
        connection.execute(f"UPDATE recipient SET number={NO_NUMBER[value]} {OF_AUTUMN}{where}")
        connection.commit()
    with Ledger(two) as ledger:
        with pytest.raises(LedgerError, match=r"does not fit together|cannot be"):
            EXCLUDED[reader](ledger)
        assert len(ledger.record("winter").results) == 6


CONTRADICTED = {
    "rows stand as planned": f"UPDATE chunk SET state=NULL, attempt=NULL {OF_AUTUMN}",
    "the chunk is refused": f"UPDATE chunk SET state=3 {OF_AUTUMN}",
    "the request is gone": f"DELETE FROM attempt {OF_AUTUMN}",
    "the request is of another chunk": f"UPDATE attempt SET chunk=chunk+7 {OF_AUTUMN}",
    "the request is of another campaign": f"UPDATE attempt SET campaign=7 {OF_AUTUMN}",
}


@pytest.mark.parametrize("sql", CONTRADICTED.values(), ids=CONTRADICTED)
def test_a_chunk_and_its_request_that_contradict_each_other_text_nobody_again(
    sql: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each value for itself can be; with the first of these everybody was texted a second time."""
    path = tmp_path / "sound" / "l.sqlite"
    path.parent.mkdir()
    with Sandbox() as box, box.client() as client:
        ledger_fuzz.made(path, client)
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "another machine"))
        copy = path.with_name("backup.sqlite")
        with closing(sqlite3.connect(copy)) as connection:
            connection.execute(sql)
            connection.commit()
        box.clear()
        with Ledger(copy) as ledger:
            for use in (
                lambda: send(ledger_fuzz.planned("autumn", slice(0, 8)), client=client, ledger=ledger, progress=False),
                lambda: plan(ANN, "Hi", to="phone", campaign="spring", exclude=ledger.record("autumn")),
            ):
                with pytest.raises(LedgerError, match="contradicts what it says of their requests"):
                    use()
            assert len(ledger.record("winter")._reached) == 6
        assert box.inbox.empty


@pytest.mark.parametrize("case", DAMAGED)
def test_a_value_that_cannot_be_is_told_and_the_rest_stays_readable(case: str, two: Path) -> None:
    sql, read = DAMAGED[case]
    with closing(sqlite3.connect(two)) as connection:
        connection.execute(sql)
        connection.commit()
    with Ledger(two) as ledger:
        with pytest.raises(LedgerError, match=r"does not fit together|cannot be") as caught:
            read(ledger.record("autumn"))
        assert len(str(caught.value)) < 2_000
        read(ledger.record("winter"))


def test_a_campaign_with_one_person_twice_is_told(two: Path) -> None:
    """Each value for itself can be; pandas says so with an error that is of no kind."""
    with closing(sqlite3.connect(two)) as connection:
        connection.execute(f"UPDATE recipient SET number=12025550100 {OF_AUTUMN}")
        connection.commit()
    with Ledger(two) as ledger:
        longer, service = ledger_fuzz.planned("autumn", slice(0, 7)), ledger.record("autumn").service
        with pytest.raises(LedgerError, match=r"does not fit together .*changing\.py"):
            ledger._revise(longer, service=service, reason="more people")
        assert len(ledger.record("winter").results) == 6


@pytest.mark.parametrize("names", ['["team", "team"]', '[["team"], "city"]', "{}", "7"])
def test_kept_columns_that_no_plan_has_are_told(names: str, two: Path) -> None:
    """No frame of ours has a name twice; the campaigns page stood still on one."""
    with closing(sqlite3.connect(two)) as connection:
        connection.execute(f"UPDATE campaign SET kept='{names}' WHERE name='autumn'")
        connection.commit()
    with Ledger(two) as ledger:
        for read in (
            lambda: ledger.record("autumn").results,
            lambda: cost.by(ledger, "city"),
            lambda: People(ledger).export(ledger_fuzz.NUMBERS[0], two.with_name("person.json")),
        ):
            with pytest.raises(LedgerError, match=r"does not fit together|cannot be"):
                read()
        assert len(ledger.record("winter").results) == 6


def test_two_rows_in_one_place_give_out_nobody(two: Path) -> None:
    """A person's export held the number and the columns of another one."""
    with closing(sqlite3.connect(two)) as connection:
        connection.execute(
            "INSERT INTO recipient (campaign, chunk, position, number, destination, kept, own_state, attempts) "
            f"SELECT campaign, -1, position, 14155550199, 1, kept, 5, 0 FROM recipient {OF_AUTUMN} AND position=0"
        )
        connection.commit()
    with Ledger(two) as ledger:
        for read in (
            lambda: ledger.record("autumn").results,
            lambda: People(ledger).export(ledger_fuzz.NUMBERS[0], two.with_name("person.json")),
        ):
            with pytest.raises(LedgerError, match="two rows of a campaign have one place"):
                read()


def test_a_time_of_the_register_that_no_ledger_holds_is_told(two: Path) -> None:
    with closing(sqlite3.connect(two)) as connection:
        connection.execute(
            "INSERT INTO consent (person, opted_out, at, zone, recorded_at, source) VALUES (?, 1, ?, 0, 0, 'letter')",
            (12025550115, 2**63 - 1),
        )
        connection.commit()
    for read in (lambda: People(two).card(), lambda: People(two).register):
        with pytest.raises(LedgerError, match="it holds a time beyond its range"):
            read()


def test_a_copy_whose_name_is_too_long_for_any_file_is_not_there(two: Path) -> None:
    with closing(sqlite3.connect(two)) as connection:
        connection.execute(
            "INSERT INTO copy VALUES (?, ?, 'backup', 0)",
            ("[" * 5_000, f"{getpass.getuser()} on {socket.gethostname()}"),
        )
        connection.commit()
    with Ledger(two) as ledger, pytest.warns(SmsOtpWarning, match="no longer in its place"):
        ledger.record("autumn").purge()


INTO_SUMS = "INSERT OR REPLACE INTO sums VALUES"
WRITTEN: dict[str, tuple[str, Callable[[Ledger], object], str]] = {
    "the ledger's id": ("UPDATE ledger SET id=7", lambda it: it.record("autumn").withdraw(), "fit together"),
    "a number": (f"UPDATE recipient SET number='abc' {OF_AUTUMN}", lambda it: it.record("autumn").purge(), "together"),
    "a place": (f"UPDATE recipient SET position='1,2' {OF_AUTUMN} AND position=1", lambda it: _goes_on(it), "together"),
    "currencies": (f"{INTO_SUMS} (1, '[', x'', '[]', x'', '[]')", lambda it: cost.spending(it), "sums of a campaign"),
    "sums": (f"{INTO_SUMS} (1, '[]', x'00', '[]', x'', '[]')", lambda it: cost.spending(it), "sums of a campaign"),
}  # fmt: skip


def _goes_on(ledger: Ledger) -> None:
    with ledger._begin(ledger_fuzz.planned("autumn", slice(0, 6)), service="a service") as run:
        run.claim(0)


@pytest.mark.parametrize("case", WRITTEN)
def test_what_breaks_while_it_is_written_is_told_and_nothing_is_changed(case: str, two: Path) -> None:
    sql, write, place = WRITTEN[case]
    with closing(sqlite3.connect(two)) as connection:
        connection.execute(sql)
        connection.commit()
    before = _states(two)
    with pytest.raises(LedgerError, match=place), Ledger(two) as ledger:
        write(ledger)
    assert _states(two) == before


def _states(path: Path) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("SELECT campaign, position, state, attempts FROM fate ORDER BY 1, 2").fetchall()


def test_an_error_of_the_ledger_quotes_nobody_and_says_where_it_came_from(two: Path) -> None:
    with Ledger(two) as ledger, pytest.raises(LedgerError) as caught, ledger._store.understood():
        {}["+12025550100"]
    assert "12025550100" not in "".join(traceback.format_exception(caught.value))
    with pytest.raises(LedgerError, match=r"KeyError at file/store\.py, line \d+"), Ledger(two) as ledger:
        ledger._store.together(lambda _: {}["+12025550100"], "NORMAL")


def test_a_call_that_is_wrong_is_no_damage(two: Path) -> None:
    with Ledger(two) as ledger, pytest.raises(TypeError):
        ledger.campaigns(1)  # type: ignore[call-arg]


def test_a_request_whose_number_no_ledger_gave_takes_no_memory(two: Path) -> None:
    with closing(sqlite3.connect(two)) as connection:
        connection.execute("DELETE FROM sums")  # as of a campaign that still runs
        connection.execute(f"UPDATE attempt SET id={2**40} WHERE id=1")
        connection.commit()
    with pytest.raises(LedgerError, match="attempt has the number 1,099,511,627,776"):
        cost.spending(two)


def test_a_chunk_whose_number_no_ledger_gave_takes_no_time(two: Path) -> None:
    with closing(sqlite3.connect(two)) as connection:
        connection.execute(f"UPDATE chunk SET chunk={2**62} {OF_AUTUMN} AND chunk=2")
        connection.execute(f"UPDATE recipient SET chunk={2**62} {OF_AUTUMN} AND chunk=2")
        connection.commit()
    with at_most(20), Ledger(two) as ledger:
        People(ledger).opt_out(["+12025550101"], source="letter")
        _goes_on(ledger)


def test_what_takes_too_long_is_a_finding(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def endless(_: Ledger) -> None:
        while True:
            pass

    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setattr(ledger_fuzz, "SECONDS", 0.5)
    monkeypatch.setattr(ledger_fuzz, "changed", lambda *_: None)
    monkeypatch.setattr(ledger_fuzz, "READERS", {"endless": endless})
    monkeypatch.setattr(ledger_fuzz, "SENDERS", {})
    wrong, _ = ledger_fuzz.findings(range(1), tmp_path)
    assert wrong == ["seed 0, endless: TooSlow: more than 0.5 s"]


@pytest.mark.slow
def test_no_damaged_or_crafted_ledger_brings_a_foreign_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some by chance; the long test runs are in docs/evidence/index.md."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))  # each case sets its own
    wrong, outcomes = ledger_fuzz.findings(range(30), tmp_path)
    assert wrong == []
    assert {"read", "LedgerError"} <= set(outcomes)


@pytest.mark.parametrize("where", ["name", "service", "source"])
def test_half_a_character_is_the_callers(where: str, ledger: Ledger) -> None:
    half = "a\ud83d"
    calls: dict[str, Callable[[], object]] = {
        "name": lambda: ledger.record(half),
        "service": lambda: ledger._names(service=half),
        "source": lambda: People(ledger).opt_out("+12025550123", source=half),
    }
    with pytest.raises(UsageError, match="half a character"):
        calls[where]()
