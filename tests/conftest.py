"""What all tests share: no ledger of the user's own, no settings from the environment, no network but loopback."""

from __future__ import annotations

import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.servers import Server, ledger_of, need_server

from smsotp_nb._client import Client
from smsotp_nb._ledger import Ledger
from smsotp_nb._sandbox import Sandbox

LOOPBACK = {"127.0.0.1", "::1", "localhost", ""}

# A run in the background of a shell inherits an ignored SIGINT; the tests of interrupts need that of a terminal.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True, scope="session")
def no_file_of_the_user(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What fixtures of a module or of the whole run write goes to folders of this run, not to the user's own."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("XDG_DATA_HOME", "XDG_STATE_HOME"):
            patch.setenv(name, str(tmp_path_factory.mktemp(name.lower())))
        yield


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Settings of the machine must not reach a test, and a test's ledger must not reach the user's."""
    for name in ("BASE_URL", "ACCESS_KEY_ID", "ACCESS_KEY_SECRET", "KEYRING", "VARIANT", "FORM", "CA_BUNDLE"):
        monkeypatch.delenv(f"SMSOTP_{name}", raising=False)
    monkeypatch.setenv("SMSOTP_LEDGER", str(tmp_path / "user-ledger.sqlite"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture(autouse=True)
def loopback_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection to anything but this machine fails the test that makes it."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: object) -> None:
        if isinstance(address, tuple) and address[0] not in LOOPBACK:
            raise AssertionError(f"a test connected to {address[0]}")
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", guarded)


@pytest.fixture
def box() -> Iterator[Sandbox]:
    """A sandbox of its own."""
    with Sandbox(balance=1000) as sandbox:
        yield sandbox


@pytest.fixture
def client(box: Sandbox) -> Iterator[Client]:
    """A client of the sandbox."""
    with box.client() as made:
        yield made


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """A PostgreSQL server for the whole run."""
    need_server()
    made = Server().make().start()
    yield made
    made.stop("immediate")
    made.remove()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test that is marked so takes its ledger in a file, and again on a server."""
    marked = metafunc.definition.get_closest_marker
    if marked("both_ledgers") and not marked("file_only") and "ledger" in metafunc.fixturenames:
        metafunc.parametrize("ledger", ["file", "server"], indirect=True)


@pytest.fixture
def ledger(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Ledger]:
    """A ledger of its own: in a file, or where a test asks for both, on a server."""
    with ledger_of(request, tmp_path) as made:
        yield made
