"""Ledger files by chance that know their structure: whatever reads or writes them answers or raises our error, soon,
in little memory, and texts nobody but the people of its plan, each once.

``python -m tests.ledger.ledger_fuzz 100000 [FIRST_SEED [PROCESSES]]`` prints what it found and ends with 1 on a
finding. The seed of a case makes it again. The files are in memory where the system has a place for that.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import io
import multiprocessing
import os
import random
import shutil
import sqlite3
import sys
import tempfile
import threading
import warnings
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import pandas as pd
from ipywidgets import Widget
from support.cpu_time import TooSlow, at_most

from smsotp_nb import Ledger, People, Plan, RequestOptions, Sandbox, _cli, cost, plan, send
from smsotp_nb._ledger import Record, listed
from smsotp_nb.errors import SmsOtpError, SmsOtpWarning
from smsotp_nb.widgets import CampaignsPage

SECONDS = 20.0  # CPU time of one reader; a quiet machine takes a tenth of a second
BLOCK = 1_000  # ledgers for which one sound one is made
MEMORY = 64 * 1024  # KiB that the process grows beyond the file
NUMBERS = [f"+1202555{number:04d}" for number in range(100, 116)]
INVOICE = pd.DataFrame(
    {"to": NUMBERS, "at": "2026-11-20 10:00", "parts": 1, "price": 0.0075, "currency": "USD", "id": "ab" * 16}
)
SLOW = ("page", "invoice")  # take ten times as long as others, and so come a fifth as often
DEEP = "[" * 20_000 + "]" * 20_000
ODD: tuple[Any, ...] = (
    None, 0, 1, -1, 7, 2**31, 2**40, 2**62, 2**63 - 1, -(2**63), 1.5, -0.5, 1e308, float("inf"), "", "abc", "1,2",
    "\x00", "\x1f", "\x1b[2J", "9" * 400, "x" * 300_000, "null", "[]", "{}", "[1]", "[null]", '["a","b","c"]',
    '["a","a"]', DEEP, '{"a":' * 900 + "1" + "}" * 900, '"\\ud800"', "1e999", b"", b"\xff", b"\x00" * 7, bytes(16),
    bytes(64), b"\xff" * 64, bytes(300_000),
)  # fmt: skip
CRAFTED = (
    "CREATE TRIGGER t AFTER INSERT ON attempt BEGIN DELETE FROM opted_out; END",
    "CREATE VIEW v AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n) SELECT * FROM n",
    "DROP VIEW fate; CREATE VIEW fate AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n) SELECT * FROM n",
    "CREATE INDEX i ON recipient (abs(random()))", "CREATE TABLE more (a)", "DROP TABLE contacts",
    "ALTER TABLE campaign ADD COLUMN more", "PRAGMA user_version=99", "PRAGMA application_id=1",
    "PRAGMA writable_schema=ON; INSERT INTO sqlite_master VALUES ('trigger', 'sqlite_stat1', 'chunk', 0, 'CREATE "
    "TRIGGER sqlite_stat1 AFTER UPDATE ON chunk BEGIN UPDATE chunk SET state=NULL, attempt=NULL; END')",
    "ANALYZE; UPDATE sqlite_stat1 SET stat=printf('%.*c', 9999, '1')",
)  # fmt: skip


BESIDE = ("-journal", "-wal", "-shm", "-mark", "-runs", "-runs/4")
THINGS: tuple[Callable[[Path], object], ...] = (
    getattr(os, "mkfifo", Path.mkdir), Path.mkdir, lambda path: path.symlink_to("/dev/zero"),
    lambda path: path.symlink_to(path.with_name("nowhere")), lambda path: path.write_bytes(b"\xff" * 5_000),
)  # fmt: skip


def planned(campaign: str, people: slice) -> Plan:
    return _planned(campaign, people.start, people.stop)


@functools.cache
def _planned(campaign: str, first: int, after: int) -> Plan:
    people = slice(first, after)
    frame = pd.DataFrame({"phone": NUMBERS[people], "team": (list("abcd") * 4)[people], "city": "Rome"})
    return plan(
        frame,
        f"Hello {{team}} of {campaign}",
        to="phone",
        campaign=campaign,
        requests=RequestOptions(chunk_size=2),
        policy=None,
        keep=["team", "city"],  # all are of one city, so the ledger keeps sums by it
    )


def made(path: Path, client: Any) -> None:
    """Write a ledger that has something in every table: campaigns that are finished, half done, purged."""
    with Ledger(path, create=True) as ledger:
        for name, people in (("autumn", slice(0, 8)), ("winter", slice(8, 14)), ("gone", slice(0, 4))):
            run = ledger._begin(planned(name, people), service=client.service)
            run.close()
            _send(planned(name, people), client, ledger)
        ledger.record("gone").purge()
        half = ledger._begin(planned("half", slice(0, 6)), service=client.service)
        half.claim(0)
        half.close()
        left = ledger.record("half").results.query("status == 'planned'")
        ledger.record("half").withdraw(left.head(1), reason="by phone")
        People(ledger).opt_out([NUMBERS[15]], source="phone call")
        ledger.backup(path.with_name("backup.sqlite"))


def _send(wanted: Plan, client: Any, ledger: Ledger) -> None:
    send(wanted, client=client, ledger=ledger, progress=False)


def _withdraw(ledger: Ledger) -> None:
    for name in ("half", "autumn"):
        ledger.record(name).withdraw(reason="wrong price")


def _resolve(ledger: Ledger) -> None:
    campaign = ledger.record("half")
    campaign.settle(campaign.in_doubt, accepted=False, reason="by phone")
    campaign.retry(campaign.rejected)


def _change(ledger: Ledger) -> None:
    campaign = ledger.record("half")
    words = planned("half", slice(0, 6)).reworded("Hello {team}, once more")
    for made in (words, planned("half", slice(0, 8))):
        ledger._revise(made, service=campaign.service, reason="by chance")
    campaign._heed_opt_outs()


def _page(ledger: Ledger) -> None:
    """Leaf through the page of the ledger, as far as there are campaigns to open."""
    page = CampaignsPage(ledger).settle()
    for at in range(len(page.steps.answer.listing.entries)):
        page.open_buttons[at].click()
        _opened()
        page.back_button.click()
        page.settle()


def _opened() -> None:
    """Wait until the page has read a campaign, on a thread of its own."""
    for thread in threading.enumerate():
        if thread.name == "smsotp-form":
            thread.join(SECONDS)
            if thread.is_alive():
                raise AssertionError("the page stands still")


def _command(ledger: Ledger) -> None:
    """Ask at the command line: what it prints moves no cursor, and an error is a line of it."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        codes = [_cli.main(["campaigns", *names, "--ledger", str(ledger.path)]) for names in ([], ["half"])]
    if not set(codes) <= {0, 1, 2} or any(not line.isprintable() for line in said.getvalue().splitlines()):
        raise AssertionError(f"the command ended with {codes} and said {said.getvalue()[:200]!r}")


def _restore(ledger: Ledger) -> None:
    copy = ledger.backup(ledger.path.with_name("copy.sqlite"))
    with Ledger.restore(copy, ledger.path.with_name("restored.sqlite")) as restored:
        restored.campaigns()


# -- what is done to a file --------------------------------------------------------------------------------------------


def changed(path: Path, chance: random.Random) -> None:
    """Change a file: values by table and column, rows, the schema, or its bytes."""
    how = chance.random()
    if how < 0.1:
        _bytes(path, chance)
    else:
        with contextlib.closing(sqlite3.connect(path)) as connection:
            if how < 0.15:
                connection.executescript(chance.choice(CRAFTED))
            elif how < 0.2:
                _sums(connection, chance)
            for _ in range(chance.randrange(1, 4) if how >= 0.15 else 0):
                _value(connection, chance)
            connection.commit()


def _bytes(path: Path, chance: random.Random) -> None:
    bits = bytearray(path.read_bytes())
    for _ in range(chance.randrange(1, 9)):
        bits[chance.randrange(len(bits))] ^= 1 << chance.randrange(8)
    path.write_bytes(bits[: chance.randrange(len(bits))] if chance.random() < 0.3 else bits)


def _value(connection: sqlite3.Connection, chance: random.Random) -> None:
    """Give a column of one row or of all an odd value, NULL where none may be included; or lose a row."""
    tables = connection.execute(
        "SELECT name FROM sqlite_master WHERE type='table' AND name NOT LIKE 'sqlite_%' ORDER BY name"
    ).fetchall()
    filled = [name for (name,) in tables if connection.execute(f"SELECT 1 FROM {name}").fetchone()]
    table = chance.choice(filled)
    columns = connection.execute(f"PRAGMA table_info({table})").fetchall()
    key = [name for _, name, *_, place in sorted(columns, key=lambda column: column[5]) if place] or ["rowid"]
    rows = connection.execute(f"SELECT {', '.join(key)} FROM {table}").fetchall()
    where, row = f"({', '.join(key)})=({', '.join('?' * len(key))})", tuple(chance.choice(rows))
    if chance.random() < 0.3:
        where, row = "1", ()
    if chance.random() < 0.1:
        connection.execute(f"DELETE FROM {table} WHERE {where}", row)
        return
    column, value = chance.choice(columns)[1], chance.choice(ODD)
    given = "CAST(? AS TEXT)" if isinstance(value, bytes) and chance.random() < 0.5 else "?"
    with contextlib.suppress(sqlite3.IntegrityError), _nulls(connection, table, value):
        connection.execute(f"UPDATE OR IGNORE {table} SET {column}={given} WHERE {where}", (value, *row))


def _sums(connection: sqlite3.Connection, chance: random.Random) -> None:
    """Forge sums that unpack to a thousand times their size, of campaigns that say they have as many rows."""
    if not connection.execute("SELECT 1 FROM sqlite_master WHERE name='sums'").fetchone():  # a sandbox's state
        return
    width, rows = chance.choice((8, 96, 104)), 1 << chance.randrange(22)
    connection.execute("UPDATE campaign SET rows=?", (chance.choice((6, rows, 2**40)),))
    column = chance.choice(("sums", "by_shared"))
    connection.execute(f"UPDATE sums SET {column}=?", (_zeros(width * rows),))
    if chance.random() < 0.5:
        connection.execute(
            "UPDATE sums SET shared=?",
            (chance.choice(('[["city"], ["Rome"]]', '[["team"], ["a"]]', '[["team"]]', "[]")),),
        )


@functools.cache
def _zeros(size: int) -> bytes:
    cells = zlib.compress(bytes(size), 1)
    return (len(cells).to_bytes(4, "big") + cells) * 3


@contextlib.contextmanager
def _nulls(connection: sqlite3.Connection, table: str, value: object) -> Iterator[None]:
    """Let a table take NULL where it may not."""
    if value is not None:
        yield
        return
    (sql,) = connection.execute("SELECT sql FROM sqlite_master WHERE name=?", (table,)).fetchone()
    _rewrite(connection, table, sql.replace("NOT NULL", ""))
    yield
    _rewrite(connection, table, sql)


def _rewrite(connection: sqlite3.Connection, table: str, sql: str) -> None:
    connection.commit()
    connection.execute("PRAGMA writable_schema=ON")
    connection.execute("UPDATE sqlite_master SET sql=? WHERE name=?", (sql, table))
    connection.commit()
    connection.execute("PRAGMA writable_schema=RESET")


# -- what reads it -----------------------------------------------------------------------------------------------------


def _each(read: Callable[[Record], object]) -> Callable[[Ledger], None]:
    """Read every campaign: one that is damaged must not keep another from being read."""

    def of(ledger: Ledger) -> None:
        for name in ("autumn", "half", "winter"):
            with contextlib.suppress(SmsOtpError):
                read(ledger.record(name))

    return of


def _again(ledger: Ledger) -> None:
    """Go on with a plan, as `send` does, but for the posting."""
    wanted = planned("half", slice(0, 6))
    service = ledger.record("half").service
    ledger._prospect(wanted, service=service)
    ledger._unfinished(wanted, service=service)
    with ledger._begin(wanted, service=service) as run:
        for chunk in run.chunks():
            run.pending(chunk)
            run.claim(chunk)
        run.counts()
        run.outcomes()


READERS: dict[str, Callable[[Ledger], object]] = {
    "campaigns": lambda ledger: ledger.campaigns(),
    "card": lambda ledger: ledger.card().html(),
    "listed": listed,
    "frames": _each(lambda campaign: campaign.results),
    "requests": _each(lambda campaign: campaign.requests),
    "changes": _each(lambda campaign: campaign.changes),
    "cards": _each(lambda campaign: campaign.card().html()),
    "reached": _each(lambda campaign: (campaign._numbers, campaign._reached)),
    "in doubt": _each(lambda campaign: (campaign.in_doubt, campaign.rejected, campaign.counts)),
    "spending": lambda ledger: cost.spending(ledger, service="sandbox"),
    "by kept": lambda ledger: cost.by(cost.spending(ledger, "team", service="sandbox"), "team"),
    "by shared": lambda ledger: cost.by(ledger, ["city", "month"]),
    "by country": cost.by_country,
    "cost card": lambda ledger: cost.card(ledger).html(),
    "outcomes": cost.outcomes,
    "people": lambda ledger: (People(ledger).register, People(ledger).card().html()),
    "history": lambda ledger: People(ledger).history(NUMBERS[0]),
    "opted out": lambda ledger: People(ledger).is_opted_out(NUMBERS[15]),
    "parquet": lambda ledger: ledger.to_parquet(ledger.path.with_name("parquet")),
    "again": _again,
    "purge": lambda ledger: ledger.record("autumn").purge(),
    "retain": lambda ledger: ledger.retain("1 day"),
    "withdraw": _withdraw,
    "resolve": _resolve,
    "change": _change,
    "opt out": lambda ledger: People(ledger).opt_out(NUMBERS[:3], source="letter"),
    "forget": lambda ledger: People(ledger).forget(NUMBERS[:3]),
    "export": lambda ledger: People(ledger).export(NUMBERS[0], ledger.path.with_name("person.json")),
    "restore": _restore,
    "page": _page,
    "command": _command,
    "invoice": lambda ledger: cost.reconcile_invoice(ledger, INVOICE),
}
SENDERS: dict[str, Callable[[Ledger, Any], object]] = {
    "send": lambda ledger, client: _send(planned("half", slice(0, 6)), client, ledger),
    "send anew": lambda ledger, client: _send(planned("new", slice(0, 6)), client, ledger),
}


def read(path: Path, reader: str, box: Sandbox, client: Any) -> str:
    """Open a file, work with it, and return what came out in a word."""
    box.clear()
    try:
        with Ledger(path) as ledger:
            if reader in READERS:
                READERS[reader](ledger)
            else:
                SENDERS[reader](ledger, client)
    except SmsOtpError as error:
        if len(str(error)) >= 2_000 or not str(error).isprintable():
            raise AssertionError(f"an error that is endless or moves the cursor: {str(error)[:200]!r}") from error
        return type(error).__name__
    finally:
        texted = box.inbox["to"].tolist() if reader in SENDERS else []
        if len(set(texted)) < len(texted) or not set(texted) <= set(NUMBERS[:6]):
            raise AssertionError("somebody was texted twice, or a stranger")
    return "read"


def case(seed: int, sound: Path, folder: Path) -> tuple[Path, str]:
    """Return a file of its own and the reader for it, as if it had come from another machine."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    os.environ["XDG_STATE_HOME"] = str(folder / "state")
    chance, path = random.Random(seed), folder / "ledger.sqlite"
    shutil.copyfile(sound, path)
    with contextlib.suppress(sqlite3.DatabaseError):  # of what the change before it had done
        changed(path, chance)
    reader = chance.choice([*READERS, *SENDERS])
    if reader in SLOW and chance.random() < 0.8:
        reader = chance.choice([*READERS, *SENDERS])
    if chance.random() < 0.05:
        beside = Path(f"{path}{chance.choice(BESIDE)}")
        beside.parent.mkdir(exist_ok=True)
        with contextlib.suppress(FileNotFoundError):  # a change may have left one there
            beside.unlink()
        chance.choice(THINGS)(beside)
    return path, reader


def findings(seeds: range, work: Path) -> tuple[list[str], Counter[str]]:
    """Return what is wrong, each with its seed, and how often each outcome came."""
    wrong, outcomes, sound = [], Counter[str](), work / "sound.sqlite"
    warnings.simplefilter("error")
    warnings.simplefilter("ignore", SmsOtpWarning)
    with Sandbox(balance=1_000_000) as box, box.client() as client, _told_by_threads(wrong):
        made(sound, client)
        for seed in seeds:
            path, reader = case(seed, sound, work / "case")
            Widget.close_all()  # which Jupyter keeps, each for itself
            gc.collect()  # what the case before left is none of this one's
            known, before = len(wrong), memory()
            try:
                with at_most(SECONDS):
                    outcomes[read(path, reader, box, client)] += 1
            except (Exception, TooSlow) as error:  # noqa: BLE001 - any is a finding
                wrong.append(f"{type(error).__name__}: {error}")
            if more := grown(before):
                wrong.append(f"{more:,} KiB")
            wrong[known:] = [f"seed {seed}, {reader}: {said}"[:300] for said in wrong[known:]]
    return wrong, outcomes


@contextlib.contextmanager
def _told_by_threads(wrong: list[str]) -> Iterator[None]:
    """Add what a thread or a finalizer raises, which otherwise only stands among what the process prints."""
    before = sys.unraisablehook, threading.excepthook
    sys.unraisablehook = lambda told: wrong.append(f"ignored in {told.object!r}: {told.exc_value!r}")
    threading.excepthook = lambda told: wrong.append(f"in the thread {told.thread}: {told.exc_value!r}")
    try:
        yield
    finally:
        sys.unraisablehook, threading.excepthook = before


def memory() -> int:
    """Return what this process takes now, in KiB, and begin to note the most that it takes; 0 where that is unknown."""
    if not os.path.exists("/proc/self/clear_refs"):
        return 0
    Path("/proc/self/clear_refs").write_text("5")
    return _status("VmRSS")


def grown(before: int) -> int:
    """Return by how much this process grew for a moment, in KiB, if that is too much; else 0."""
    more = _status("VmHWM") - before if before else 0
    return more if more > MEMORY else 0


def _status(what: str) -> int:
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(what))


def block(seeds: range) -> tuple[list[str], Counter[str]]:
    gc.freeze()  # what is loaded is not looked at again and again
    in_memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=in_memory) as folder:
        return findings(seeds, Path(folder))


def _worked_through(blocks: Sequence[range], processes: int) -> Iterator[tuple[list[str], Counter[str]]]:
    """Yield the findings of each block, by processes that are made anew before what libraries keep slows them down."""
    many = 10 * processes
    for at in range(0, len(blocks), many):
        with ProcessPoolExecutor(processes, multiprocessing.get_context("spawn")) as pool:
            yield from pool.map(block, blocks[at : at + many])


def main(count: int, first: int = 0, processes: int = 1) -> int:
    """Print each finding, and how far it is after each ten blocks; return 1 where there was a finding."""
    found, outcomes = 0, Counter[str]()
    blocks = [range(at, min(at + BLOCK, first + count)) for at in range(first, first + count, BLOCK)]
    for done, (wrong, of_block) in enumerate(_worked_through(blocks, processes), start=1):
        outcomes += of_block
        found += len(wrong)
        print(*wrong, sep="\n", end="\n" * bool(wrong), flush=True)
        if not done % 10:
            print(f"{done * BLOCK:,} ledgers so far", flush=True)
    print(f"{count:,} ledgers, {found} findings", dict(outcomes.most_common()), sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])) if len(sys.argv) > 1 else main(1_000))
