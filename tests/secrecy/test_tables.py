"""What deleting people leaves in the tables, in a file and on a server: everything there is grepped as text.

A server samples its tables for its planner and shows the samples (``pg_stats``) for as long as it likes, so the tests
let it sample before anything is deleted.
"""

from __future__ import annotations

import json
import os
import re
import signal
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from kills.child import fork
from openpyxl.worksheet import _writer
from support.servers import Pooler, Server, ledger_of, need_pooler, sampled, stored

from secrecy.test_modes import PAGE, everybody_may_do_everything, too_open  # noqa: F401
from smsotp_nb import Ledger, People, RequestOptions, Sandbox, otp, plan, preflight, results, send, send_test
from smsotp_nb._ledger.file import copies
from smsotp_nb._ledger.people import purging
from smsotp_nb._ledger.rows import runners as fences
from smsotp_nb._ledger.server.store import ServerStore
from smsotp_nb.errors import CampaignLockedError, SmsOtpWarning, UsageError

PEOPLE = [f"+1202555{n:04}" for n in range(100, 140)]
NAMES = [f"Zebedee{n:02}" for n in range(len(PEOPLE))]
ASKED, SUPPRESSED = PEOPLE[4], PEOPLE[7]
ONESELF = "+14155550100"
AUTUMN = len(PEOPLE)
UNITS = [f"yolanda{n:02}@example.org" for n in range(len(PEOPLE))]


class Clock:
    def __init__(self) -> None:
        self.at = datetime(2026, 11, 12, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.at


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def ledger(request: pytest.FixtureRequest, tmp_path: Path, clock: Clock) -> Any:
    with ledger_of(request, tmp_path / "place", now=clock) as made:
        yield made


LIST = pd.DataFrame({"phone": PEOPLE, "name": NAMES, "customer": range(1000, 1000 + len(PEOPLE))})


def texted(ledger: Ledger, box: Sandbox, clock: Clock) -> People:
    """Let people be in every table that can hold them: campaign, test, passcode, register."""
    client = box.client()
    made = plan(
        LIST,
        "Hi {name}",
        to="phone",
        campaign="autumn",
        keep=["name"],
        requests=RequestOptions(chunk_size=7),
        exclude=[SUPPRESSED],
    )
    send_test(made, client=client, to=ONESELF, row=3, ledger=ledger)
    send(made, client=client, ledger=ledger, progress=False)
    otp.send(ASKED, client=client, ledger=ledger)
    people = People(ledger, now=clock)
    people.opt_in(ASKED, source="web form", proof="form 8812")
    people.opt_in(PEOPLE[20], source="phone", proof=f"his own and (202) 555-0104, at {PEOPLE[20]}")
    sampled(ledger)
    return people


def left_of(ledger: Ledger, *, numbers: list[str] = PEOPLE, words: list[str] = NAMES) -> set[str]:
    """Return which numbers and words stand in the tables, as the text of a row or in a file's bytes."""
    ledger.close()
    everything = stored(ledger)
    spelled = {word: {word.encode()} for word in words}
    for number in numbers:
        value = int(number[1:])
        spelled[number] = {number[1:].encode(), value.to_bytes(5, "big"), value.to_bytes(5, "little")}
        spelled[number] |= {value.to_bytes(8, order).hex().encode() for order in ("big", "little")}  # of packed columns
    return {what for what, forms in spelled.items() if any(form in everything for form in forms)}


@pytest.mark.both_ledgers
def test_a_purge_leaves_nobody_but_who_said_something(ledger: Ledger, box: Sandbox, clock: Clock) -> None:
    texted(ledger, box, clock)
    assert {*PEOPLE, ONESELF, *NAMES} - left_of(ledger, numbers=[*PEOPLE, ONESELF]) == {
        NAMES[7],
        SUPPRESSED,
    }  # of whom a hash is kept
    assert ledger.record("autumn").purge() == AUTUMN + 1
    assert left_of(ledger, numbers=[ONESELF], words=NAMES) == set()
    assert left_of(ledger, words=[]) == {ASKED, PEOPLE[20]}


@pytest.mark.filterwarnings("ignore::smsotp_nb.errors.CampaignIncomplete")
@pytest.mark.both_ledgers
def test_who_knows_the_words_finds_no_text_after_a_purge(ledger: Ledger, box: Sandbox, clock: Clock) -> None:
    """A hash without a key is found by trying names and amounts; the same words are recognized all the same."""
    made = plan(
        LIST, "Dear {name}, you owe us 111 EUR", to="phone", campaign="autumn", requests=RequestOptions(chunk_size=1)
    )
    send(made, client=box.client(), ledger=ledger, progress=False)
    keys = made._held.body_keys.tolist()
    assert len(keys) == len(NAMES)
    sampled(ledger)
    assert len(hashes_left(ledger, keys)) == len(keys)
    ledger.record("autumn").purge()
    assert hashes_left(ledger, keys) == []
    clock.at += timedelta(days=2)
    again = plan(LIST, "Dear {name}, you owe us 111 EUR", to="phone", campaign="winter")
    assert set(send(again, client=box.client(), ledger=ledger, progress=False)["problem"]) == {"SAME_TEXT"}
    other = plan(LIST, "Dear {name}, you owe us 112 EUR", to="phone", campaign="spring")
    assert send(other, client=box.client(), ledger=ledger, progress=False)["status"].eq("accepted").all()


def hashes_left(ledger: Ledger, keys: list[int]) -> list[int]:
    """Return which hashes stand in the tables: in a column of their own, or in a packed one."""
    ledger.close()
    everything = stored(ledger)
    forms = {key: [key.to_bytes(8, order, signed=True) for order in ("big", "little")] for key in keys}
    return [
        key
        for key, raw in forms.items()
        if any(form in everything for form in (*raw, str(key).encode(), *(one.hex().encode() for one in raw)))
    ]


@pytest.mark.both_ledgers
def test_tests_belong_to_the_name_of_their_campaign_whatever_service_sent_them(
    ledger: Ledger, box: Sandbox, clock: Clock
) -> None:
    """Also where the campaign itself was never sent: the name opens the latest test, and a purge takes all of them."""
    made = plan(LIST, "Hi", to="phone", campaign="autumn")
    with Sandbox() as rehearsal:
        send_test(made, client=rehearsal.client(), to=ONESELF, ledger=ledger)
    send_test(made, client=box.client(), to=PEOPLE[0], ledger=ledger)
    ready = preflight(made, client=box.client(), ledger=ledger).text()
    assert "40 recipients to go" in " ".join(ready.split())
    sampled(ledger)
    with pytest.raises(UsageError, match="is a message to oneself"):
        ledger.record("autumn").approve(ledger.record("autumn").proposal)
    assert ledger.record("autumn").results["to"].tolist() == [PEOPLE[0]]
    assert ledger.record("autumn").purge() == 2
    assert left_of(ledger, numbers=[ONESELF, *PEOPLE]) == set()
    with Sandbox() as rehearsal:
        send_test(made, client=rehearsal.client(), to=ONESELF, ledger=ledger)
    send(made, client=box.client(), ledger=ledger, progress=False)
    assert ledger.record("autumn").purge() == AUTUMN + 1
    assert left_of(ledger, numbers=[ONESELF, *PEOPLE]) == set()


@pytest.mark.both_ledgers
def test_retention_leaves_nobody_of_tests_and_passcodes_either(ledger: Ledger, box: Sandbox, clock: Clock) -> None:
    texted(ledger, box, clock)
    clock.at += timedelta(days=400)
    gone = ledger.retain("12 months")
    assert sorted(zip(gone["kind"], gone["rows"], gone["purged"], strict=True)) == [
        ("campaign", AUTUMN, True),
        ("passcode", 1, True),
        ("test", 1, True),
    ]
    said = [ASKED, PEOPLE[20]]  # the register is kept
    assert left_of(ledger, numbers=[*PEOPLE, ONESELF], words=[*NAMES, *UNITS]) == {*said}
    assert ledger.campaigns()["rows"].tolist() == [1, AUTUMN, 1]
    assert ledger.audit()["what"].tolist()[-4:] == ["retention", *["purged"] * 3]
    assert "nothing is older" in ledger.card().text()


@pytest.mark.both_ledgers
@pytest.mark.parametrize("age", ["400 years", "1200 years", "1200 weeks", "1200 months"])
def test_an_age_that_reaches_far_back_deletes_nobody(ledger: Ledger, box: Sandbox, clock: Clock, age: str) -> None:
    """Nor does the card of a ledger whose clock is far ahead, of a sandbox's year, break on it."""
    texted(ledger, box, clock)
    assert len(ledger.retain(age)) == 0
    assert "nothing is older" in ledger.card().text()
    clock.at = datetime(2400, 1, 1, tzinfo=UTC)
    assert f"Numbers are kept for {age}" in ledger.card().text()


@pytest.mark.both_ledgers
def test_who_asked_to_be_forgotten_is_in_no_table(ledger: Ledger, box: Sandbox, clock: Clock) -> None:
    people = texted(ledger, box, clock)
    assert people.forget(ASKED) == 2
    assert left_of(ledger, numbers=PEOPLE[4:6], words=NAMES[4:6]) == {PEOPLE[5], NAMES[5]}
    assert people.is_opted_out(ASKED)
    assert people.register["proof"].dropna().tolist() == [f"his own and (forgotten), at {PEOPLE[20]}"]
    clock.at += timedelta(minutes=1)
    again = plan(pd.DataFrame({"phone": PEOPLE[4:6]}), "Snow", to="phone", campaign="winter")
    assert send(again, client=box.client(), ledger=ledger, progress=False)["problem"].tolist()[0] == "OPTED_OUT"


def story(ledger: Ledger, clock: Clock, folder: Path) -> dict[str, Any]:
    """Do what an officer asks for, one after the other, and return all that is answered."""
    with Sandbox() as box:
        people = texted(ledger, box, clock)
        exported = json.loads(people.export(ASKED, folder / "one.json").read_text(encoding="utf-8"))
        history = people.history(ASKED)
        gone = people.forget([ASKED, PEOPLE[9]])
        frames = [history, people.history(ASKED), people.register, ledger.record("autumn").results]
        clock.at += timedelta(days=400)
        frames += [ledger.retain("12 months"), ledger.audit().drop(columns="who"), ledger.campaigns()]
    return {"exported": without(exported), "gone": gone, "frames": [columns(frame) for frame in frames]}


OF_THE_SANDBOX = {"service", "id", "request_id"}


def without(value: Any) -> Any:
    """Return an export without what each sandbox draws for itself."""
    if isinstance(value, dict):
        return {name: without(one) for name, one in value.items() if name not in OF_THE_SANDBOX}
    return [without(one) for one in value] if isinstance(value, list) else value


def columns(frame: pd.DataFrame) -> Any:
    return without(frame.astype(str).to_dict("list"))


def test_a_server_answers_as_a_file_does(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A server dates what people say by its own clock, a file by the caller's: here both go by the test's.
    monkeypatch.setattr(ServerStore, "now", lambda _, __, own: own)
    told = []
    for kind, where in (("file", tmp_path / "ledger.sqlite"), ("server", server.database())):
        clock = Clock()
        (tmp_path / kind).mkdir()
        with Ledger(where, create=True, now=clock) as ledger:
            told.append(story(ledger, clock, tmp_path / kind))
    file, on_server = told
    assert file == on_server
    assert file["gone"] == 3
    rows = [(row["kind"], row["kept"].get("name")) for row in file["exported"]["messages"]]
    assert rows == [("campaign", NAMES[4]), ("passcode", None)]


@pytest.mark.both_ledgers
def test_while_a_second_client_runs_a_campaign_nothing_of_it_is_purged_and_people_are_forgotten(
    ledger: Ledger, box: Sandbox, clock: Clock
) -> None:
    service = box.client().service
    frame = pd.DataFrame({"phone": PEOPLE, "name": NAMES})
    made = plan(frame, "Hi all", to="phone", campaign="autumn", keep=["name"], requests=RequestOptions(chunk_size=10))
    with Ledger(ledger.path, now=clock) as second, second._begin(made, service=service) as run:
        assert run.claim(0)
        sampled(ledger)
        clock.at += timedelta(days=400)
        with pytest.raises(CampaignLockedError):
            ledger.record("autumn").purge()
        assert ledger.retain("12 months")["purged"].tolist() == [False]
        assert People(ledger, now=clock).forget(PEOPLE[15]) == 1  # of the next chunk
        claim = run.claim(1)
        assert claim
        assert PEOPLE[15] not in [made.rows["to"].iloc[place] for place in claim.positions]
        assert len(claim.positions) == 9
    assert left_of(ledger, numbers=PEOPLE[15:17], words=NAMES[15:17]) == {PEOPLE[16], NAMES[16]}


@pytest.mark.both_ledgers
def test_a_copy_on_another_machine_is_named_with_who_made_it(
    ledger: Ledger, box: Sandbox, clock: Clock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody can look there from here, and its path may be that of another file of this machine."""
    texted(ledger, box, clock)
    here = ledger.record("autumn").export(tmp_path / "sent.csv")
    monkeypatch.setattr(fences, "machine", lambda: "laptop-7")
    ledger.record("autumn").export(tmp_path / "sent.csv", overwrite=True)
    monkeypatch.undo()
    with pytest.warns(SmsOtpWarning, match="no deletion reaches") as caught:
        ledger.record("autumn").purge()
    said = str(caught[0].message)
    assert said.count(str(here)) == 2
    assert f"{here} of 2026-11-12 12:00 UTC ({fences.person().partition(' on ')[0]} on laptop-7)" in said
    assert "no longer in its place" not in said
    assert ("free space until other rows take it" in ledger.card().text()) == (not ledger._files)


@pytest.mark.both_ledgers
def test_what_others_wrote_or_keep_of_somebody_who_is_forgotten_goes_as_well(
    ledger: Ledger, box: Sandbox, clock: Clock
) -> None:
    """A reason, the kept column of a neighbour, and the sums by a kept column that many rows share."""
    frame = pd.DataFrame({"phone": PEOPLE, "name": "Ann", "second": ASKED, "age": 5})
    frame.loc[20:, "second"] = None
    made = plan(frame, "Hi", to="phone", campaign="autumn", keep=["name", "second", "age"])
    send(made, client=box.client(), ledger=ledger, progress=False)
    later = plan(pd.DataFrame({"phone": PEOPLE[:2]}), "Ho", to="phone", campaign="later")
    ledger._begin(later, service=box.client().service).close()
    ledger.record("later").withdraw(reason=f"asked by +1 202-555-0104, not by {PEOPLE[5]}")
    sampled(ledger)
    assert People(ledger, now=clock).forget(ASKED) == 1
    assert left_of(ledger, numbers=PEOPLE[4:6], words=[]) == {PEOPLE[5]}
    assert ledger.record("later").changes["reason"].tolist() == [f"asked by (forgotten), not by {PEOPLE[5]}"]
    kept = ledger.record("autumn").results
    assert kept["second"].dropna().unique().tolist() == ["(forgotten)"]
    assert kept["age"].dropna().tolist() == [5] * (len(PEOPLE) - 1)


@pytest.mark.both_ledgers
def test_an_export_tells_what_purged_campaigns_left(ledger: Ledger, box: Sandbox, clock: Clock, tmp_path: Path) -> None:
    people = texted(ledger, box, clock)
    ledger.record("autumn").purge()
    told = json.loads(people.export(ASKED, tmp_path / "one.json").read_text(encoding="utf-8"))
    assert [(row["campaign"], row["at"]) for row in told["contacts"]] == [("autumn", "2026-11-12T12:00:00+00:00")]
    assert [row["kind"] for row in told["messages"]] == ["passcode"]
    stranger = json.loads(people.export("+14155550143", tmp_path / "none.json").read_text(encoding="utf-8"))
    assert not any(stranger[name] for name in ("said", "history", "messages", "contacts"))


def killed_in(place: Any, name: str, call: Callable[[], object]) -> None:
    """Make a call in a child that is killed as soon as it comes to a function."""

    def task() -> None:
        setattr(place, name, lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL))
        call()

    assert fork(task).wait() is None, "the child was not killed"


DELETIONS: dict[str, Callable[[Ledger, Clock], object]] = {
    "purge": lambda ledger, _: ledger.record("autumn").purge(),
    "forget": lambda ledger, clock: People(ledger, now=clock).forget(PEOPLE),
    "retain": lambda ledger, _: ledger.retain("12 months"),
}


@pytest.mark.both_ledgers
@pytest.mark.parametrize("delete", DELETIONS.values(), ids=DELETIONS)
def test_a_deletion_that_is_killed_is_undone_or_made_up_for(
    ledger: Ledger, box: Sandbox, clock: Clock, delete: Callable[[Ledger, Clock], object]
) -> None:
    """Killed in its transaction it has deleted nothing; after it, the next opening overwrites what is left."""
    made = plan(pd.DataFrame({"phone": PEOPLE, "name": NAMES}), "Hi", to="phone", campaign="autumn", keep=["name"])
    send(made, client=box.client(), ledger=ledger, progress=False)
    sampled(ledger)
    ledger.close()
    clock.at += timedelta(days=400)

    def deleted() -> None:
        with Ledger(ledger.path, now=clock) as mine:
            delete(mine, clock)

    killed_in(purging, "leave_remains", deleted)
    assert left_of(ledger) == {*PEOPLE, *NAMES}
    killed_in(purging, "overwrite", deleted)
    if isinstance(ledger.path, Path):
        assert left_of(ledger) != set()
    Ledger(ledger.path, now=clock).close()
    assert left_of(ledger) == set()
    assert "can still be read in the file" not in ledger.card().text()


def test_by_a_pooler_in_transaction_mode_people_are_deleted_as_well(server: Server, box: Sandbox, clock: Clock) -> None:
    need_pooler()
    with Pooler(server) as pooler, Ledger(pooler.address(server.database()), create=True, now=clock) as ledger:
        texted(ledger, box, clock).forget(ASKED)
        assert ledger.record("autumn").purge() == AUTUMN + 1
        assert left_of(ledger, numbers=[ASKED, ONESELF]) == set()


# -- what a killed call leaves beside the ledger -------------------------------------------------------


def backed_up(ledger: Ledger, folder: Path) -> object:
    return ledger.backup(folder / "b.sqlite")


def in_excel(ledger: Ledger, folder: Path) -> object:
    return results.write(ledger.record("autumn").results, folder / "sent.xlsx")


@pytest.mark.usefixtures("everybody_may_do_everything")
@pytest.mark.parametrize(
    ("place", "name", "call", "said", "left"),
    [
        (copies, "_put", backed_up, ".NAME.PID", r"\.b\.sqlite\..*"),
        (_writer.WorksheetWriter, "cleanup", in_excel, "openpyxl.*", r"openpyxl\..*|\.smsotp-.*\.partial"),
    ],
    ids=["a backup", "a table in Excel"],
)
def test_a_call_that_is_killed_leaves_what_the_page_names_and_for_its_owner_alone(
    place: Any, name: str, call: Callable[[Ledger, Path], object], said: str, left: str,
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """The rows that were to be written are in it, so it must be known where it is."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with Sandbox() as box, Ledger(tmp_path / "own" / "l.sqlite", create=True) as ledger:
        made = plan(pd.DataFrame({"phone": PEOPLE}), "Hello!", to="phone", campaign="autumn")
        send(made, client=box.client(), ledger=ledger, progress=False)
        killed_in(place, name, lambda: call(ledger, tmp_path))
    found = [path for path in tmp_path.iterdir() if path.is_file()]
    assert found
    assert [path.name for path in found if not re.fullmatch(left, path.name)] == []
    assert too_open(tmp_path) == {}
    assert f"`{said}`" in PAGE.read_text(encoding="utf-8")
