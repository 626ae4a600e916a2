"""``smsotp-nb send``: what a scheduler runs, and what its exit code says."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from kills.people import numbers
from support.commands import main

from smsotp_nb import Client, Ledger, Sandbox, Settings, plan

TEXT = "Doors open at nine."


@pytest.fixture
def command(box: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A command that texts twenty people; the sandbox is a service as any other to it."""
    pd.DataFrame({"phone": numbers(20), "store": "north"}).to_csv(tmp_path / "list.csv", index=False)
    monkeypatch.setenv("SMSOTP_BASE_URL", box.url)
    monkeypatch.setenv("SMSOTP_ACCESS_KEY_ID", "a-key")
    monkeypatch.chdir(tmp_path)
    return ["send", "list.csv", TEXT, "--campaign", "doors", "--to", "phone", "--ledger", "l.sqlite"]


def texted(box: Sandbox) -> list[str]:
    return sorted(box.inbox["to"])


def test_nothing_is_sent_without_yes_and_nobody_is_texted_twice_with_it(
    box: Sandbox, command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(command) == 0
    assert "20  recipients to go now" in capsys.readouterr().out
    assert texted(box) == []
    Path("stops.csv").write_text("phone\n+4915123456789\n", encoding="utf-8")
    again = [*command, "--yes", "--keep", "store", "--out", "results.csv", "--exclude", "stops.csv"]
    assert main(again) == 0
    said = capsys.readouterr()
    assert "doors: 20 accepted" in said.out
    assert "! exclude: stops.csv matches nobody of this list (1 entry read)." in said.err
    assert pd.read_csv("results.csv")["store"].tolist() == ["north"] * 20
    assert main(again) == 2
    assert "results.csv already exists; --force replaces it" in capsys.readouterr().err
    assert main([*again, "--force"]) == 0
    assert texted(box) == sorted(numbers(20))
    capsys.readouterr()
    assert main(command) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "20 recipients were texted already, or may have been. --yes sends what goes now." in said
    assert "a new file" not in said


def test_a_no_in_one_of_two_columns_holds_and_what_takes_one_value_is_given_once(
    box: Sandbox, command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    pd.DataFrame({"mobile": ["STOP", None], "phone": numbers(2)}).to_csv("list.csv", index=False)
    assert main([*command, "--to", "mobile", "--yes"]) == 0
    assert texted(box) == numbers(2)[1:]
    with pytest.raises(SystemExit):
        main([*command, "--campaign", "other"])
    assert "--campaign was given twice and takes one value" in capsys.readouterr().err


def test_a_dry_run_is_one_card_in_the_words_of_the_command(
    box: Sandbox, command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Its figures are those of the next send, limits included; a cure is an option, and a refusal names no code."""
    cells = [*numbers(20)[:18], f"{numbers(20)[18]} north tower", "soon"]
    pd.DataFrame({"phone": cells}).to_csv("list.csv", index=False)
    assert main([*command, "--first", "5"]) == 0
    said = capsys.readouterr().out
    assert "5  recipients to go now" in said
    assert said.count("the whole list") == 1
    assert "texted by the next send" in said
    assert "All 18 to go without these limits" in said
    assert main([*command, "--repair", "trailing_note"]) == 0
    assert "19  recipients to go now" in capsys.readouterr().out
    Path("stop.csv").write_text("phone\n0171 3920000\n", encoding="utf-8")
    assert main([*command, "--exclude", "stop.csv"]) == 2
    refused = capsys.readouterr().err
    assert "REGION_MISSING" in refused
    assert "NumberOptions(" not in refused
    assert texted(box) == []


def test_what_is_left_to_do_is_in_the_exit_code(
    box: Sandbox, command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Some first, then a lost reply; while another process runs the campaign, the scheduler comes again."""
    assert main([*command, "--yes", "--first", "5"]) == 3
    assert len(texted(box)) == 5
    client = Client(Settings.from_env())
    made = plan("list.csv", TEXT, campaign="doors", to="phone")
    with Ledger("l.sqlite") as ledger, ledger._begin(made, service=client.service):
        assert main([*command, "--yes"]) == 3
    assert "is being run by" in capsys.readouterr().err
    box.fault("drop_after", next=1)
    assert main([*command, "--yes"]) == 4
    assert "to go, 0 left out" in capsys.readouterr().out
    assert texted(box) == sorted(numbers(20))


def test_a_budget_is_held_and_a_wrong_one_is_refused(
    box: Sandbox, command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    Path("rates.csv").write_text("iso,price,currency\nUS,0.01,USD\n", encoding="utf-8")
    limited = [*command, "--yes", "--rates", "rates.csv"]
    assert main([*command, "--budget", "USD=50"]) == 2  # of a dry run, too: no rate is known
    assert "needs an estimate for every recipient" in capsys.readouterr().out
    for wrong in ("50", "USD=much"):
        assert main([*limited, "--budget", wrong]) == 2
        assert "write a currency and an amount, such as USD=50" in capsys.readouterr().err
    assert main([*limited, "--budget", "usd=0.15"]) == 3
    assert len(texted(box)) == 10


@pytest.mark.parametrize(
    ("out", "said"),
    [
        ("none/x.csv", "none"),
        ("x.pdf", ".csv"),
        ("list.csv", "is list.csv itself"),
        ("stop.csv", "is stop.csv itself"),
    ],
)
def test_results_that_cannot_be_written_are_told_before_anybody_is_texted(
    out: str, said: str, box: Sandbox, command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """A list that the campaign is made of is never replaced."""
    before = Path("stop.csv").write_text("phone\n+13155550100\n", encoding="utf-8")
    assert main([*command, "--yes", "--exclude", "stop.csv", "--out", out, "--force"]) == 2
    assert said in capsys.readouterr().err
    assert texted(box) == []
    assert len(Path("stop.csv").read_text(encoding="utf-8")) == before


def test_a_list_is_read_with_the_options_of_the_other_commands(box: Sandbox, command: list[str]) -> None:
    Path("list.csv").write_text("Ann;+12025550123\nBen;+12025550124\n", encoding="utf-8")
    read = ["--sep", ";", "--header", "none", "--to", "column_2", "--yes"]
    assert main([*command[:-4], *read, *command[-2:]]) == 0
    assert texted(box) == ["+12025550123", "+12025550124"]


def test_a_rehearsal_texts_nobody(box: Sandbox, command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*command, "--yes", "--sandbox"]) == 0
    assert "doors: 20 accepted" in capsys.readouterr().out
    assert texted(box) == []


@pytest.mark.slow
def test_a_killed_command_is_run_again(box: Sandbox, command: list[str]) -> None:
    """Nobody is texted twice; whoever may have been is in doubt."""
    box.fault("latency", seconds=0.3)
    run: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "stdin": subprocess.DEVNULL}
    process = subprocess.Popen([sys.executable, "-m", "smsotp_nb", *command, "--yes", "--per-second", "5"], **run)
    until = time.monotonic() + 120
    while len(box.inbox) < 3 and time.monotonic() < until:
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    assert process.wait(60) == -signal.SIGKILL
    box.clear_faults()
    code = subprocess.run([sys.executable, "-m", "smsotp_nb", *command, "--yes"], **run, check=False).returncode
    with Ledger("l.sqlite") as ledger:
        counts = ledger.record("doors").counts
    assert code == (4 if counts["in_doubt"] else 0)
    assert counts["planned"] == 0
    assert len(set(texted(box))) == len(texted(box)) >= counts["accepted"] > 0


def test_amounts_have_the_currency_and_language_of_their_options(
    box: Sandbox, command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    Path("list.csv").write_text("phone,owed\n+4915123456789,1234.5\n", encoding="utf-8")
    command[2] = "You owe {owed:money}."
    assert main(command) == 2
    assert "--currency is needed to write {owed:money}" in capsys.readouterr().err
    assert main([*command, "--currency", "EUR", "--language", "de", "--yes"]) == 0
    assert box.inbox["text"].tolist() == ["You owe 1.234,50 €."]
    command[2] = r"Hi,\nBye"
    assert main(command) == 2
    assert r"the message has \n as two signs" in capsys.readouterr().err
