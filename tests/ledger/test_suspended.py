"""A sender that is suspended while it records a plan on a server holds up no opt-out for more than ten seconds."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import pytest
from support.servers import Server

from smsotp_nb import Ledger, People

PROMISED = 10.0  # seconds, as the page of a team's ledger says
ROWS = 60_000
SENDER = f"""
import sys, warnings
import pandas as pd, smsotp_nb as sms
warnings.simplefilter("ignore")
people = pd.DataFrame({{"phone": [f"+1303{{number:07d}}" for number in range(2_000_000, 2_000_000 + {ROWS})]}})
plan = sms.plan(people, "Doors open at eight.", campaign="doors", to="phone", ledger=sys.argv[1])
print("planned", flush=True)
sys.stdin.readline()
with sms.Sandbox() as box:
    sent = sms.send(plan, box, progress=False, ledger=sys.argv[1], limits=sms.Limits(first=100))
print(sent["status"].eq("accepted").sum())
"""


@contextmanager
def sender(address: str) -> Iterator[subprocess.Popen[str]]:
    """Start a process that sends a plan as soon as it is given a line."""
    command = [sys.executable, "-c", SENDER, address]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "planned\n"
        try:
            yield process
        finally:
            process.kill()


def suspend(process: subprocess.Popen[str], after: float) -> None:
    assert process.stdin is not None
    process.stdin.write("go\n")
    process.stdin.flush()
    time.sleep(after)
    os.kill(process.pid, signal.SIGSTOP)


def seconds_of_an_opt_out(address: str, number: str) -> float:
    began = time.monotonic()
    with Ledger(address) as ledger:
        People(ledger).opt_out(number, source="phone call")
    return time.monotonic() - began


def suspend_within_copy(process: subprocess.Popen[str], address: str) -> None:
    """Suspend a sender while the server waits for more rows of its COPY."""
    suspend(process, after=0.0)
    os.kill(process.pid, signal.SIGCONT)
    with psycopg.connect(address, autocommit=True) as connection:
        for _ in range(20_000):
            row = connection.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'COPY recipient%'"
            ).fetchone()
            if row and row[0]:
                os.kill(process.pid, signal.SIGSTOP)
                return
            assert process.poll() is None
            time.sleep(0.001)
    raise AssertionError("it never copied a row")


def test_a_sender_that_is_suspended_within_copy_holds_up_no_opt_out(server: Server) -> None:
    """And when it wakes, it sends: whoever opted out meanwhile is not texted."""
    address = server.database()
    Ledger(address, create=True).close()
    with sender(address) as process:
        suspend_within_copy(process, address)
        assert seconds_of_an_opt_out(address, "+13032000003") < PROMISED
        os.kill(process.pid, signal.SIGCONT)
        output, _ = process.communicate(timeout=120)
    assert output.strip() == "100"
    with Ledger(address) as ledger:
        results = ledger.record("doors").results.set_index("to")
    assert results.loc["+13032000003", "problem"] == "OPTED_OUT"


@pytest.mark.parametrize("after", [0.1, 0.4, 0.9, 1.6])
def test_a_sender_that_is_suspended_at_any_moment_holds_up_no_opt_out_for_long(server: Server, after: float) -> None:
    """Wherever it stands: before its rows, within them, in its turn to write, or between two requests."""
    address = server.database()
    Ledger(address, create=True).close()
    with sender(address) as process:
        suspend(process, after)
        assert seconds_of_an_opt_out(address, "+13032000003") < PROMISED
