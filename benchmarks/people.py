"""What the register and a policy cost a campaign: a send with millions of past contacts and opt-outs, against without.

    python benchmarks/people.py             a million recipients, ten million contacts, a million opt-outs; some minutes
    python benchmarks/people.py --short     a tenth of each

The two sends alternate in one process, each into a copy of its own ledger. Every recipient has ten past contacts within
the window of a cap, and one in a hundred is opted out. ``planning`` is what `plan` takes more when it asks that ledger.
"""

from __future__ import annotations

import argparse
import dataclasses
import gc
import os
import shutil
import statistics
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from sending import campaign, client_of, numbers, service

from smsotp_nb import Ledger, Policy, plan, send
from smsotp_nb._ledger.rows import contacts
from smsotp_nb._moments import microseconds, utc_now
from smsotp_nb.errors import CampaignIncomplete

PAST = 10  # campaigns, each to everybody
DAY = 86_400_000_000
POLICY = Policy(caps=[(1, "24h"), (PAST + 5, "60d")])


def ledger_of(path: Path, live: str, count: int, optouts: int) -> None:
    """A ledger with past campaigns to everybody, as they are packed when a run closes, and with opt-outs."""
    people = numbers(count)["to"].str[1:].astype("int64").to_numpy()
    now = microseconds(utc_now())
    with Ledger(path, create=True) as ledger, ledger._store.writing() as connection:
        for past in range(PAST):
            connection.execute(
                "INSERT INTO campaign (service, name, name_key, kind, fingerprint, created_at, rows, kept) "
                "VALUES (?, ?, ?, 'campaign', '', ?, ?, '[]')",
                (live, f"past {past}", f"past {past}", now, count),
            )
            at = now - (2 + 4 * past) * DAY + np.arange(count) // 100 * 1000
            found = contacts.Contacts(np.sort(people), at, np.full(count, past + 1))
            contacts._write(connection, past + 1, found)
        out = [*people[::100].tolist(), *range(49_150_000_0000, 49_150_000_0000 + optouts - len(people[::100]))]
        rows = ((person, now - DAY, now) for person in out)
        connection.executemany(
            "INSERT INTO consent (person, opted_out, at, zone, recorded_at, source) "
            "VALUES (?, 1, ?, 0, ?, 'benchmark')",
            rows,
        )
        connection.execute("INSERT INTO opted_out SELECT person FROM consent")


def turn(path: Path | None, url: str, count: int, name: str, policy: Policy | None) -> tuple[float, float]:
    """Send once, into a copy of a ledger or a new one; return wall and CPU time."""
    made = campaign(count, chunk_size=100, name=name)
    made = dataclasses.replace(made, _asked=dataclasses.replace(made._asked, policy=policy))
    with tempfile.TemporaryDirectory() as folder, client_of(url) as client:
        place = Path(folder) / "ledger"
        if path is not None:
            shutil.copy(path, place)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            os.sync()  # what was copied
            with Ledger(place, create=path is None, accept_older=True) as ledger:
                gc.collect()
                wall, cpu = time.perf_counter(), time.process_time()
                send(made, client=client, ledger=ledger, progress=False)
                return time.perf_counter() - wall, time.process_time() - cpu


def planning(path: Path, count: int) -> tuple[float, float]:
    """Return the time of planning without a ledger, and of asking it."""
    people = numbers(count).rename(columns={"to": "phone"})
    with Ledger(path, accept_older=True) as ledger, tempfile.TemporaryDirectory() as nowhere:
        os.environ["SMSOTP_LEDGER"] = str(Path(nowhere) / "none")
        times = []
        for asked in (None, ledger):
            begun = time.perf_counter()
            made = plan(people, "Hello", to="phone", campaign="planned", policy=POLICY, ledger=asked)
            times.append(time.perf_counter() - begun)
        print("held:", int(made.problems["rows"].sum()))
    return times[0], times[1]


def spread(ratios: list[float]) -> str:
    """Return median, lowest and highest."""
    return f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"


def main() -> None:
    asked = argparse.ArgumentParser()
    asked.add_argument("--short", action="store_true")
    asked.add_argument("--pairs", type=int, default=3)
    options = asked.parse_args()
    count = 100_000 if options.short else 1_000_000
    warnings.simplefilter("ignore", CampaignIncomplete)
    with service(0.0) as url, tempfile.TemporaryDirectory() as folder:
        with client_of(url) as client:
            live = client.service
        path = Path(folder) / "past"
        ledger_of(path, live, count, count)
        walls, cpus = [], []
        for pair in range(options.pairs):
            plain = turn(None, url, count, f"plain {pair}", None)
            ruled = turn(path, url, count, f"ruled {pair}", POLICY)
            walls.append(ruled[0] / plain[0])
            cpus.append(ruled[1] / plain[1])
            print(
                f"without {plain[0]:6.2f} s ({plain[1]:.2f} CPU), with {ruled[0]:6.2f} s ({ruled[1]:.2f} CPU): "
                f"{walls[-1]:.2f} by the clock, {cpus[-1]:.2f} in CPU time",
                flush=True,
            )
        print(f"of the time without the register: {spread(walls)} by the clock, {spread(cpus)} in CPU time")
        alone, with_ledger = planning(path, count)
        print(f"planning {alone:.2f} s, with the ledger asked {with_ledger - alone:.2f} s more")


if __name__ == "__main__":
    main()
