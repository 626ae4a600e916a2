"""A ledger in a file goes to a server: all of it, once, and nobody is texted twice."""

from __future__ import annotations

import os
import shutil
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from kills.child import fork
from kills.people import numbers, plan_of
from support.servers import Server

from smsotp_nb import Client, Ledger, Limits, People, Sandbox, cost, otp, send
from smsotp_nb._ledger import moving
from smsotp_nb._ledger.file.store import Store
from smsotp_nb._ledger.opening import Move
from smsotp_nb._ledger.server.connection import Connection
from smsotp_nb._ledger.server.store import Served
from smsotp_nb.errors import CampaignLockedError, LedgerError, SmsOtpWarning, StaleLedgerError, UsageError

STOPPED, FORGOTTEN = numbers(20)[17], numbers(20)[18]


@dataclass(frozen=True, slots=True)
class Made:
    """A ledger in a file, and the sandbox to which its campaigns went."""

    file: Path
    box: Sandbox
    client: Client


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Made]:
    """A ledger with something of everything: campaigns that have ended, stopped, been purged; people and passcodes."""
    file = tmp_path_factory.mktemp("made") / "ledger.sqlite"
    with Sandbox() as box, box.client() as client, Ledger(file, create=True) as ledger:
        for name in ("first", "old"):
            _send(plan_of(14, campaign=name, chunk_size=4, keep=["phone"], text=f"{name} to you"), client, ledger)
        ledger.record("old").purge()
        _send(plan_of(16, campaign="half", chunk_size=2, text="half"), client, ledger, limits=Limits(first=4))
        box.fault("drop_after", next=1)
        _send(plan_of(4, campaign="doubt", chunk_size=2, text="doubt"), client, ledger)
        People(ledger).opt_out([STOPPED, FORGOTTEN], source="phone")
        People(ledger).forget(FORGOTTEN)
        otp.send(numbers(1)[0], client=client, ledger=ledger)
        ledger.close()
        yield Made(file, box, client)


@pytest.fixture
def path(made: Made, tmp_path: Path) -> Path:
    return shutil.copy(made.file, tmp_path / "ledger.sqlite")


def _send(made: Any, client: Client, ledger: Ledger, **options: Any) -> pd.DataFrame:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SmsOtpWarning)
        return send(made.with_requests(threads=1), client=client, ledger=ledger, progress=False, **options)


@pytest.fixture
def address(server: Server) -> Iterator[str]:
    made = server.database()
    Ledger(made, create=True).close()
    yield made
    server.drop(made)


def seen(ledger: Ledger) -> list[pd.DataFrame]:
    """Return all that a person sees of a ledger."""
    names = ledger.campaigns()["campaign"]
    frames = [ledger.record(name).results for name in names[ledger.campaigns()["kind"].eq("campaign")] if name != "old"]
    people = People(ledger)
    histories = [people.history(number) for number in numbers(19)]
    return [ledger.campaigns(), cost.spending(ledger), people.register, *frames, *histories]


def test_all_that_a_file_knows_is_on_the_server_afterwards(path: Path, address: str) -> None:
    with Ledger(path) as ledger:
        before = seen(ledger)
    with Ledger(address) as ledger:
        told = ledger.import_from(path)
        for mine, was in zip(seen(ledger), before, strict=True):
            pd.testing.assert_frame_equal(mine, was)
        assert "imported file" in ledger.card().text()
    assert dict(zip(told["what"], told["rows"], strict=True)) == {
        "campaigns": 5, "recipients": 35, "requests": 10, "opt-outs and opt-ins": 2,
    }  # fmt: skip


def test_what_was_sent_from_the_file_is_not_sent_again_from_the_server(made: Made, path: Path, address: str) -> None:
    with Ledger(address) as ledger:
        ledger.import_from(path)
        half = _send(plan_of(16, campaign="half", chunk_size=2, text="half"), made.client, ledger)
        everybody = _send(plan_of(20, campaign="next", text="next"), made.client, ledger)
        with pytest.raises(LedgerError, match="was purged"):
            _send(plan_of(14, campaign="old", text="again"), made.client, ledger)
    assert half["status"].eq("accepted").all()
    inbox = made.box.inbox
    assert inbox.groupby(["to", "text"]).size().max() == 1
    left_out = everybody.loc[everybody["problem"].eq("OPTED_OUT"), "to"].tolist()
    assert left_out == [STOPPED, FORGOTTEN]


def test_the_file_is_closed_for_good_also_in_a_kernel_that_has_it_open(path: Path, address: str) -> None:
    with Ledger(path) as open_before:
        half = open_before.record("half")
        run = open_before._begin(plan_of(6, campaign="later", text="later"), service="a service")
        with Ledger(address) as ledger, pytest.raises(CampaignLockedError, match="being run by another call"):
            ledger.import_from(path)
        run.close()
        with Ledger(address) as ledger:
            ledger.import_from(path)
        uses: list[Callable[[], Any]] = [
            lambda: open_before._begin(plan_of(6, campaign="even later", text="later"), service="a service"),
            open_before.campaigns, open_before.card, lambda: open_before.record("half"),
            lambda: half.results, lambda: half.counts, lambda: People(open_before).register,
            lambda: cost.spending(path),
        ]  # fmt: skip
        for use in uses:  # the figures of the file are old from now on
            with pytest.raises(LedgerError, match=r"taken over by postgresql:.* open the one there"):
                use()
    with pytest.raises(LedgerError, match=r"taken over by postgresql:.* open the one there"):
        Ledger(path)


def test_a_refused_import_leaves_no_empty_ledger_behind(
    path: Path, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An empty one does not know who was texted, and the next send would text everybody again."""
    address = server.database()
    monkeypatch.setenv("SMSOTP_LEDGER", address)
    other = Ledger(tmp_path / "other.sqlite", create=True)
    run = other._begin(plan_of(6, campaign="later", text="later"), service="a service")
    for wrong in (tmp_path / "mistyped.sqlite", other.path, tmp_path):
        with Ledger(address, create=True) as ledger, pytest.raises((LedgerError, UsageError)):
            ledger.import_from(wrong)
        with pytest.raises(LedgerError, match="has no ledger"):
            Ledger()
    run.close()
    with Ledger(address, create=True) as ledger:
        assert len(ledger.import_from(other.path)) > 0
        with pytest.raises(LedgerError, match="already has records"):
            ledger.import_from(path)
        assert ledger.campaigns()["campaign"].tolist() == ["later"]
    with Ledger(server.database(), create=True) as ledger:
        People(ledger).opt_out("+12025550123", source="phone")
        with pytest.raises(LedgerError):
            ledger.import_from(tmp_path / "mistyped.sqlite")
        assert len(People(ledger).register) == 1


def test_an_import_that_is_repeated_says_the_same(path: Path, address: str) -> None:
    with Ledger(address) as ledger:
        first = ledger.import_from(path)
        pd.testing.assert_frame_equal(ledger.import_from(path), first)


def test_another_server_does_not_take_over_what_one_has(path: Path, address: str, server: Server) -> None:
    with Ledger(address) as ledger:
        ledger.import_from(path)
    with Ledger(server.database(), create=True) as other, pytest.raises(LedgerError, match="another ledger"):
        other.import_from(path)


def test_a_server_with_records_takes_over_nothing(path: Path, address: str) -> None:
    with Ledger(address) as ledger:
        People(ledger).opt_out(numbers(1)[0], source="phone")
        with pytest.raises(LedgerError, match="already has records"):
            ledger.import_from(path)
    assert len(Ledger(path).campaigns()) == 5


def _begins_a_campaign(path: Path) -> None:
    with Ledger(path) as ledger:
        ledger._begin(plan_of(4, campaign="meanwhile"), service="a service").close()


def _goes_elsewhere(path: Path) -> None:
    store = Store(path, create=False, moving=True)
    with store.writing() as file:
        Move("another server", "00", "00", 1).note(file)
    store.close()


@pytest.mark.parametrize(
    ("happens", "error", "words"),
    [
        (_begins_a_campaign, CampaignLockedError, "'meanwhile' was begun"),
        (_goes_elsewhere, LedgerError, "by another server"),
    ],
)
def test_what_happens_to_the_file_before_it_is_locked_is_seen(
    path: Path, address: str, monkeypatch: pytest.MonkeyPatch, happens: Any, error: Any, words: str
) -> None:
    look = moving._refuse_filled

    def late(*arguments: Any) -> None:
        look(*arguments)
        happens(path)

    monkeypatch.setattr(moving, "_refuse_filled", late)
    with Ledger(address) as served:
        with pytest.raises(error, match=words):
            served.import_from(path)
        assert len(served.campaigns()) == 0


def test_a_server_whose_retention_is_set_takes_over_a_file(path: Path, address: str) -> None:
    with Ledger(path) as ledger:
        before = ledger.audit()["what"].tolist()
    with Ledger(address) as served:
        served.retain("24 months")
        own = served.audit()["what"].tolist()
        served.import_from(path)
        assert served.audit()["what"].tolist() == [*own, *before, "imported"]
    assert own


def test_a_file_takes_over_nothing(path: Path, tmp_path: Path) -> None:
    with Ledger(tmp_path / "other.sqlite", create=True) as other, pytest.raises(UsageError, match="on a server"):
        other.import_from(path)


def test_a_backup_of_the_time_before_is_refused(path: Path, address: str, tmp_path: Path) -> None:
    with Ledger(path) as ledger:
        backup = ledger.backup(tmp_path / "backup.sqlite")
    with Ledger(address) as ledger:
        ledger.import_from(path)
    with pytest.raises(StaleLedgerError):
        Ledger(backup)


@pytest.mark.parametrize("how", ["lost", "altered"])
def test_what_does_not_arrive_as_it_was_changes_nothing(
    path: Path, address: str, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    copy_in = Connection.copy_in

    def careless(self: Connection, table: str, columns: Any, rows: Any) -> None:
        arrived = list(rows)
        if table == "opted_out":
            arrived = [arrived[0]] if how == "lost" else [arrived[0], (1,)]
        copy_in(self, table, columns, arrived)

    monkeypatch.setattr(Connection, "copy_in", careless)
    with Ledger(address) as ledger:
        with pytest.raises(LedgerError, match="table 'opted_out' is not what the file holds"):
            ledger.import_from(path)
        assert ledger.campaigns().empty
    with Ledger(path) as ledger:
        assert len(ledger.campaigns()) == 5


# -- deaths ------------------------------------------------------------------------------------------------------------


def _dies_before(owner: Any, name: str) -> Callable[[], None]:
    """Return an act that lets this process die when it calls a function for the first time."""

    def act() -> None:
        setattr(owner, name, lambda *_, **__: os._exit(9))

    return act


def _dies_after(owner: Any, name: str) -> Callable[[], None]:
    def act() -> None:
        whole = getattr(owner, name)

        def dies(*values: Any, **options: Any) -> None:
            whole(*values, **options)
            os._exit(9)

        setattr(owner, name, dies)

    return act


@pytest.mark.parametrize(
    ("dies", "usable"),
    [
        pytest.param(_dies_before(moving, "_copy"), "file", id="before anything was copied"),
        pytest.param(_dies_after(moving, "_copy"), "file", id="when all was copied"),
        pytest.param(_dies_after(Move, "note"), "file", id="when the file was noted to have gone, not yet durably"),
        pytest.param(_dies_before(Served, "commit"), "neither", id="when the file has gone, before the server knows"),
        pytest.param(_dies_after(Served, "commit"), "server", id="when the server has it, before the file knows"),
        pytest.param(_dies_before(moving, "_ended"), "server", id="before the file hears that it ended"),
    ],
)
def test_a_death_in_the_middle_leaves_the_one_or_the_other_and_never_both(
    path: Path, address: str, dies: Callable[[], None], usable: str
) -> None:
    def task() -> None:
        with Ledger(address) as ledger:
            dies()
            ledger.import_from(path)

    with pytest.raises(EOFError):  # it had no last words
        fork(task).wait()
    with Ledger(address) as ledger:
        assert len(ledger.campaigns()) == (5 if usable == "server" else 0)
    if usable == "file":
        with Ledger(path) as ledger:
            assert len(ledger.campaigns()) == 5
    else:
        with pytest.raises(LedgerError, match=r"call import_from\('ledger.sqlite'\)"):
            Ledger(path)
    with Ledger(address) as ledger:
        ledger.import_from(path)
        assert len(ledger.campaigns()) == 5
    with pytest.raises(LedgerError, match="open the one there"):
        Ledger(path)


def test_a_file_with_a_value_that_cannot_be_changes_nothing(path: Path, address: str) -> None:
    with Ledger(path) as ledger, ledger._store.writing() as connection:
        connection.execute("UPDATE attempt SET started_at='soon' WHERE id=1")
    with Ledger(address) as ledger:
        with pytest.raises(LedgerError, match="cannot be used: InvalidTextRepresentation"):
            ledger.import_from(path)
        assert ledger.campaigns().empty


def test_what_cannot_be_on_a_server_is_our_error_too(path: Path, address: str) -> None:
    with Ledger(address) as ledger:
        ledger.import_from(path)
        with ledger._store.writing() as connection:
            connection.execute("UPDATE sums SET currencies='{' WHERE campaign=1")
            connection.execute("UPDATE campaign SET kept='{' WHERE id=1")
        with pytest.raises(LedgerError, match="does not fit together here"):
            _ = ledger.record("first").results
