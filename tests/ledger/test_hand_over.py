"""One notebook's kernel dies in the middle of a campaign, on another machine than the one that goes on with it."""

from __future__ import annotations

import re
import socket
import time
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from support.hosts import Host, need_hosts
from support.servers import Server

from smsotp_nb._ledger import Ledger
from smsotp_nb._sandbox import Sandbox

from .test_server_clock import set_clock, with_clock

BEGIN = """
import warnings; warnings.simplefilter("always")
import pandas as pd, smsotp_nb as sms
people = pd.DataFrame({{"phone": [f"+1202555{{number:04d}}" for number in range(100, 160)]}})
plan = sms.plan(people, to="phone", campaign="autumn", text="Hello", chunk_size=2)
client = sms.Sandbox.at("http://127.0.0.1:{service}").client()
ledger = sms.Ledger("postgresql://{user}@127.0.0.1:{ledger}/{name}?sslmode=disable")
"""
SEND = "print(sms.send(plan, client=client, ledger=ledger, progress=False)['status'].value_counts().to_string())"
CARD = "print(ledger.campaign('autumn').card())"
ROWS, CHUNK, THREADS = 60, 2, 4


@pytest.fixture
def address(server: Server) -> str:
    """A ledger of two people, on a server whose clock can be set."""
    return with_clock(server)


def service_of(box: Sandbox) -> socket.socket:
    return socket.create_connection(("127.0.0.1", int(urlsplit(box.url).port or 0)))


def ledger_of(server: Server) -> socket.socket:
    line = socket.socket(socket.AF_UNIX)
    line.connect(f"{server.folder}/.s.PGSQL.5432")
    return line


@pytest.mark.slow
@pytest.mark.notebook
def test_a_kernel_on_another_machine_takes_a_campaign_over_and_texts_nobody_twice(
    server: Server, address: str, box: Sandbox, tmp_path: Path
) -> None:
    pytest.importorskip("ipykernel")
    need_hosts()
    Ledger(address, create=True).close()
    name = address.split("/")[3].split("?")[0]
    box.fault("latency", seconds=0.3)
    with Host("anna-laptop", "anna", tmp_path) as hers, Host("ben-desktop", "ben", tmp_path) as his:
        anna, ben = hers.kernel(), his.kernel()
        for host, kernel in ((hers, anna), (his, ben)):
            lines = {"service": host.line(lambda: service_of(box)), "ledger": host.line(lambda: ledger_of(server))}
            assert not kernel.run(BEGIN.format(**lines, name=name, user="postgres"))
        anna.begin(SEND)
        while len(box.inbox) < 10:
            time.sleep(0.05)
        anna.kill()
        refused, card = ben.run(SEND), ben.run(CARD)
        assert re.search(
            r"CampaignHeld: .* is being run by anna on anna-laptop \(process 1\) since 20.* it can be taken over after",
            refused,
        )
        assert "Being run by anna on anna-laptop (process 1) since 20" in card
        set_clock(address, "150 seconds")
        box.clear_faults()
        went_on = ben.run(SEND)
        told = ben.run(
            "print(ledger.campaign('autumn').line())\nprint(ledger.audit()[['who', 'what', 'rows']].to_string())"
        )
    print(refused, card, went_on, told, sep="\n")
    texted = box.inbox["to"]
    assert not texted.duplicated().any()
    with Ledger(address) as ledger:
        counts = ledger.campaign("autumn").counts
    assert counts["accepted"] + counts["in_doubt"] == ROWS
    assert 0 < counts["in_doubt"] <= CHUNK * THREADS * 2
    assert len(texted) >= counts["accepted"]
    assert re.search(r"anna on anna-laptop\) +sending +60\n.*ben on ben-desktop\) +sending", told)
