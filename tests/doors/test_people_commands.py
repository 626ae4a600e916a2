"""The commands for people and for what is recorded, as somebody types them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pandas as pd
import pytest

import smsotp_nb as sms
from smsotp_nb import Ledger
from smsotp_nb import __main__ as cli

NUMBERS = [f"+120255501{n:02}" for n in range(6)]
STOPS = """\
phone,received,letter
0151 23456789,2026-01-15 09:30,a1

12,2026-01-15 09:30,
,,
+1 202 555 0102,2999-01-15 09:30,a3
+1 202 555 0103,soon,
"""


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    Ledger(tmp_path / "ledger.sqlite", create=True).close()
    return tmp_path / "ledger.sqlite"


@pytest.fixture
def smsotp(ledger: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """A command on that ledger; returns its exit code, what it printed, and what it complained of."""

    def run(*arguments: str) -> tuple[int, str, str]:
        code = cli.main([*arguments, "--ledger", str(ledger)])
        return code, *capsys.readouterr()

    return run


@pytest.fixture
def begun(ledger: Path) -> Iterator[None]:
    """A campaign of which two have it, one opted out, one is capped and the other two were withdrawn."""
    people, policy = pd.DataFrame({"phone": NUMBERS}), sms.Policy(caps=[(1, "24h")])
    with sms.Sandbox() as box, box.client() as client:
        earlier = sms.plan(people.iloc[[5]], "Hello", to="phone", campaign="earlier")
        sms.send(earlier, client=client, ledger=ledger, progress=False)
        sms.People(ledger).opt_out(NUMBERS[4], source="phone call")
        sale = sms.plan(people, "Sale", to="phone", campaign="sale", policy=policy)
        with pytest.warns(sms.errors.CampaignIncomplete):
            sms.send(sale, client=client, ledger=ledger, progress=False, limits=sms.Limits(first=2))
        with Ledger(ledger) as book:
            book.record("sale").withdraw(NUMBERS[2:4], reason="wrong price")
        yield


def test_an_opt_out_is_recorded_with_source_time_and_proof(
    smsotp: Callable[..., tuple[int, str, str]], ledger: Path
) -> None:
    said = ("people", "opt-out", "0151 23456789", "+1 202 555 0100", "--default-region", "DE", "--source", "phone call")
    assert smsotp(*said, "--proof", "note 7", "--at", "2026-01-15 09:30+01:00")[:2] == (
        0,
        "2 new opt-outs recorded, of 2 entries.\n",
    )
    assert smsotp(*said, "--at", "2026-01-15 09:30+01:00")[1] == "0 new opt-outs recorded, of 2 entries.\n"
    register = sms.People(ledger).register
    assert register[["to", "said", "source", "proof"]].to_numpy().tolist() == [
        ["+4915123456789", "opted out", "phone call", "note 7"],
        ["+12025550100", "opted out", "phone call", "note 7"],
    ]
    assert register["at"].eq(pd.Timestamp("2026-01-15 08:30Z")).all()
    assert smsotp("people", "opt-in", "+12025550100", "--source", "form")[1] == "1 new opt-in recorded, of 1 entry.\n"
    assert not sms.People(ledger).is_opted_out("+12025550100")


@pytest.mark.parametrize("act", ["opt-out", "opt-in", "import"])
def test_what_people_said_needs_a_source(
    act: str, smsotp: Callable[..., tuple[int, str, str]], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stop:
        smsotp("people", act, "+12025550100", *["--column", "phone"] * (act == "import"))
    assert stop.value.code == 2
    assert "required: --source" in capsys.readouterr().err
    if act != "import":
        code, _, complaint = smsotp("people", act, "+12025550100", "--source", " ")
        assert (code, complaint) == (2, "smsotp-nb: --source must say how it came, such as 'phone call'\n")


def test_an_import_lists_unreadable_rows_and_records_nothing_until_told(
    smsotp: Callable[..., tuple[int, str, str]], ledger: Path, tmp_path: Path
) -> None:
    """Rows are those of the file as a spreadsheet shows it; a blank one says nothing."""
    (tmp_path / "stops.csv").write_text(STOPS, encoding="utf-8")
    command = ["people", "import", str(tmp_path / "stops.csv"), "--column", "phone", "--source", "provider"]
    command += ["--at", "received", "--zone", "Europe/Berlin", "--proof", "letter", "--default-region", "DE"]
    code, printed, complaint = smsotp(*command)
    assert (code, printed) == (2, "")
    assert [line.partition(":")[0] for line in complaint.splitlines()] == ["row 4", "row 6", "row 7", "smsotp-nb"]
    assert "row 6: received is in the future" in complaint
    assert "3 rows cannot be read, so nothing was recorded" in complaint
    assert "23456789" not in complaint
    assert sms.People(ledger).register.empty
    code, printed, warned = smsotp(*command, "--ignore-unreadable")
    assert (code, printed) == (0, "3 new opt-outs recorded, of 3 entries; 3 rows cannot be read in full.\n")
    assert "The list has entries of 15 January 2026." in warned
    assert warned.startswith("! 3 of 4 rows cannot be read, and are not recorded, except that an opt-out whose time")
    assert "said now: row 4: " in warned
    assert sms.People(ledger).register["proof"].iloc[0] == "a1"
    assert len(sms.People(ledger).register) == 3
    code, _, complaint = smsotp(*command[:7], "--opt-ins", "--default-region", "DE", "--ignore-unreadable")
    assert (code, "name the column of that time" in complaint) == (2, True)
    assert smsotp("people", "opt-in", "+4915123456789", "--source", "web form")[0] == 0
    assert not sms.People(ledger).is_opted_out("+4915123456789")


@pytest.mark.usefixtures("begun")
def test_history_and_export_are_one_persons(smsotp: Callable[..., tuple[int, str, str]], tmp_path: Path) -> None:
    code, printed, _ = smsotp("people", "history", NUMBERS[5])
    assert code == 0
    assert printed.splitlines()[:2] == ["Person: +1202...0105", "Not opted out. 2 messages recorded."]
    assert "earlier   the sandbox" in printed
    assert "CAPPED" in printed
    file = tmp_path / "person.json"
    assert smsotp("people", "export", NUMBERS[5], str(file))[0] == 0
    stored = json.loads(file.read_text(encoding="utf-8"))
    assert [(row["campaign"], row["status"]) for row in stored["messages"]] == [
        ("earlier", "accepted"),
        ("sale", "planned"),
    ]
    assert "--force replaces it" in smsotp("people", "export", NUMBERS[5], str(file))[2]
    assert smsotp("people", "export", NUMBERS[4], str(file), "--force")[0] == 0
    assert json.loads(file.read_text(encoding="utf-8"))["said"][0]["source"] == "phone call"


@pytest.mark.usefixtures("begun")
def test_people_are_forgotten_only_when_it_is_confirmed(
    smsotp: Callable[..., tuple[int, str, str]], ledger: Path
) -> None:
    code, printed, complaint = smsotp("people", "forget", NUMBERS[0])
    assert (code, printed) == (2, "")
    assert "1 row of campaigns, and the opt-outs and opt-ins of 1 number would be deleted" in complaint
    with Ledger(ledger) as book:
        assert NUMBERS[0] in book.record("sale").results["to"].tolist()
    assert smsotp("people", "forget", NUMBERS[0], "--yes")[0] == 0
    with Ledger(ledger) as book:
        assert NUMBERS[0] not in book.record("sale").results["to"].tolist()
    assert "Opted out." in smsotp("people", "history", NUMBERS[0])[1]


@pytest.mark.usefixtures("begun")
def test_a_campaign_shows_its_counts_and_what_holds_whom_until_when(
    smsotp: Callable[..., tuple[int, str, str]], ledger: Path
) -> None:
    code, printed, _ = smsotp("campaigns", "sale")
    assert code == 0
    with Ledger(ledger) as book:
        capped = book.record("sale").results["not_before"].max()
    for said in (
        "2  accepted",
        "1  to go",
        "3  left out",
        "(OPTED_OUT)",
        f"1 row, until {capped:%Y-%m-%d %H:%M} UTC: ",
        "(CAPPED)",
        "2 rows: ",
        "(WITHDRAWN)",
        "withdrawn on ",
        ": wrong price.",
    ):
        assert said in printed
    assert not [number for number in NUMBERS if number in printed]
    listed = smsotp("campaigns")[1]
    assert [line.split()[0] for line in listed.splitlines() if " the sandbox " in line] == ["sale", "earlier"]
    assert listed.endswith("Next: smsotp-nb campaigns NAME shows one.\n")
