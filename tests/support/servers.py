"""A PostgreSQL server for tests: started once a run on a socket of its own, with a fresh database for each ledger."""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from smsotp_nb import Ledger

_FOUND = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
BIN = _FOUND[-1] if _FOUND else None
STARTS = 60  # tries
MEMORY = Path("/dev/shm")
ENOUGH = 2**30  # bytes; a container may have 64 MB there
REQUIRED = "postgresql" in os.environ.get("SMSOTP_REQUIRE", "").split(",")


class Server:
    """One cluster in a temporary folder, run by the user postgres where the tests are run by root."""

    def __init__(self, folder: Path | None = None, **settings: str) -> None:
        # A socket's path has to be short, and syncing to a disk of the machine takes most of the time of a test.
        roomy = MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > ENOUGH
        self.folder = folder or Path(tempfile.mkdtemp(prefix="pg-", dir=MEMORY if roomy else "/tmp"))
        self.port, self._settings = 5432, settings
        self._numbers = itertools.count()

    def make(self) -> Server:
        """Make the cluster."""
        self.give_away()
        self.call("initdb", "-D", str(self.data), "-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C")
        return self

    def set(self, **settings: str) -> None:
        """Choose settings for the next start."""
        self._settings |= settings

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def give_away(self) -> None:
        if os.getuid() == 0:
            shutil.chown(self.folder, "postgres")

    def start(self) -> Server:
        settings = {"listen_addresses": "", "unix_socket_directories": str(self.folder), "shared_buffers": "32MB"}
        options = " ".join(f"-c {name}='{value}'" for name, value in (settings | self._settings).items())
        log = str(self.folder / "log")
        # After a kill it is refused until the last of the old processes has let go of the memory that they share.
        for left in reversed(range(STARTS)):
            try:
                self.call("pg_ctl", "-D", str(self.data), "-w", "-t", "100", "-l", log, "-o", options, "start")
                break
            except subprocess.CalledProcessError:
                if not left:
                    raise
                time.sleep(0.5)
        return self

    def stop(self, how: str = "fast") -> None:
        self.call("pg_ctl", "-D", str(self.data), "-w", "-m", how, "stop")

    def kill(self) -> None:
        """Kill the postmaster as a crash does, and wait until its children have gone as well."""
        pid = int((self.data / "postmaster.pid").read_text().split()[0])
        family = [pid, *(int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split())]
        os.kill(pid, signal.SIGKILL)
        while any(_is_running(one) for one in family):  # the memory that they share is free when all have ended
            time.sleep(0.01)

    def call(self, program: str, *arguments: str) -> None:
        assert BIN is not None
        as_user = ["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []
        subprocess.run(
            [*as_user, str(BIN / program), *arguments], check=True, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, cwd="/",
        )  # fmt: skip

    def database(self) -> str:
        """Make an empty database and return its address."""
        name = f"ledger{next(self._numbers)}"
        with psycopg.connect(self.address("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")  # type: ignore[arg-type]
        return self.address(name)

    def drop(self, address: str) -> None:
        """Remove a database, whoever uses it."""
        name = address.split("/")[3].split("?")[0]
        with psycopg.connect(self.address("postgres"), autocommit=True) as connection:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")  # type: ignore[arg-type]

    def address(self, database: str) -> str:
        return f"postgresql://postgres@/{database}?host={self.folder}"

    def remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


@contextlib.contextmanager
def ledger_of(request: pytest.FixtureRequest, folder: Path, **options: Any) -> Iterator[Ledger]:
    """Make the ledger of a fixture: in a file, or where its test asks for both, on the server of this run."""
    if getattr(request, "param", "file") == "file":
        with Ledger(folder / "ledger.sqlite", create=True, **options) as made:
            yield made
        return
    server: Server = request.getfixturevalue("server")
    address = server.database()
    with Ledger(address, create=True, **options) as made:
        yield made
    server.drop(address)


def stored(ledger: Ledger) -> bytes:
    """Return all that a ledger holds: the bytes of its file; on a server every row of its tables, as text, and what the
    server's own statistics quote of them.
    """
    if isinstance(ledger.path, Path):
        return ledger.path.read_bytes()
    tables = "SELECT quote_ident(relname) FROM pg_class WHERE relkind='r' AND relnamespace='public'::regnamespace"
    with psycopg.connect(**ledger.path.arguments()) as connection:
        names = [name for (name,) in connection.execute(tables)]
        names.append("pg_stats")
        rows = [row for name in names for (row,) in connection.execute(f"SELECT t::text FROM {name} t")]  # type: ignore[arg-type]
    assert "recipient" in names
    return "\n".join(rows).encode()


def sampled(ledger: Ledger) -> None:
    """Let a server sample the tables for its planner, as it does by itself from time to time."""
    if not isinstance(ledger.path, Path):
        with psycopg.connect(**ledger.path.arguments(), autocommit=True) as connection:
            connection.execute("ANALYZE")


def _is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def need_server() -> None:
    """Skip a test where PostgreSQL is missing, unless this run requires it."""
    if BIN is None and not REQUIRED:
        pytest.skip("PostgreSQL is not installed (Debian: postgresql)")
    assert BIN is not None, "SMSOTP_REQUIRE names postgresql, which is not installed"


POOLER = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
POOLER_REQUIRED = "pgbouncer" in os.environ.get("SMSOTP_REQUIRE", "").split(",")


def need_pooler() -> None:
    """Skip a test where PgBouncer is missing, unless this run requires it."""
    if POOLER is None and not POOLER_REQUIRED:
        pytest.skip("PgBouncer is not installed (Debian: pgbouncer)")
    assert POOLER is not None, "SMSOTP_REQUIRE names pgbouncer, which is not installed"


class Pooler:
    """PgBouncer in transaction mode before a server: every transaction may have another connection."""

    def __init__(self, server: Server) -> None:
        self._server, self._process = server, subprocess.Popen(["true"])
        self._folder = server.folder / "pooler"

    def __enter__(self) -> Pooler:
        self._folder.mkdir(exist_ok=True)
        users, settings = self._folder / "users", self._folder / "settings"
        users.write_text('"postgres" ""\n')
        settings.write_text(
            f"[databases]\n* = host={self._server.folder} port=5432 user=postgres\n"
            "[pgbouncer]\npool_mode = transaction\n"
            f"listen_addr =\nunix_socket_dir = {self._folder}\nauth_type = any\nauth_file = {users}\n"
            "default_pool_size = 4\nlogfile =\n"
        )
        as_user = []
        if os.getuid() == 0:
            shutil.chown(self._folder, "postgres")
            as_user = ["runuser", "-u", "postgres", "--"]
        self._process.wait()
        self._process = subprocess.Popen(
            [*as_user, str(POOLER), "-q", str(settings)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/"
        )
        while not (self._folder / ".s.PGSQL.6432").exists():
            assert self._process.poll() is None, "PgBouncer did not start"
            time.sleep(0.05)
        return self

    def __exit__(self, *exc: object) -> None:
        self._process.terminate()
        self._process.wait()

    def address(self, direct: str) -> str:
        """Return the address by which a database of the server is reached through the pooler."""
        database = direct.split("/")[3].split("?")[0]
        return f"postgresql://postgres@/{database}?host={self._folder}&port=6432"
