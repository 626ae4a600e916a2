"""What all tests share: no ledger of the user's own, no settings from the environment, no network but loopback."""

from __future__ import annotations

import datetime as dt
import gc
import signal
import socket
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from support.sampling import Sample, exclude
from support.servers import Server, ledger_of, need_server

from smsotp_nb import Client, Ledger, Sandbox
from smsotp_nb._client import RetryPolicy

LOOPBACK = ("127.", "::1", "localhost")

# A run in the background of a shell inherits an ignored SIGINT; the tests of interrupts need that of a terminal.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


# Files that take longest, in this order: begun last, one of them would keep a single worker busy at the end.
LONGEST_FIRST = (
    "documents/test_notebooks.py",
    "browser/test_campaign_form.py",
    "browser/test_otp_form.py",
    "browser/test_cleaner_and_cards.py",
    "browser/test_sandbox_inbox.py",
    "documents/test_cost_notebook.py",
    "documents/test_site.py",
    "engines/test_snippets.py",
    "kills/test_random_kills.py",
    "kills/test_interrupts.py",
    "kills/test_power_cut.py",
    "ledger/test_server.py",
    "ledger/test_hand_over.py",
    "faults/test_campaign.py",
    "phones/test_exact.py",
    "ledger/test_damage.py",
    "house/test_every_wrong_call.py",
    "charts/test_totals.py",
    "doors/test_cli.py",
    "house/test_patterns.py",
    "ledger/test_ledger.py",
    "house/test_layers.py",
    "widgets/test_campaign_reading.py",
    "widgets/test_campaign_form.py",
    "cost/test_packed_sums.py",
    "secrecy/test_tables.py",
    "people/test_mentions.py",
)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("how much of the suite")
    group.addoption("--exhaustive", action="store_true", help="all rows of the tables of which a run takes a sample")
    group.addoption("--at-most", type=int, metavar="N", help="at most N rows of each table")
    group.addoption("--glance", action="store_true", help="every other test, with one row of its table")
    group.addoption("--glance-but", default="", metavar="ROOMS", help="a glance at all rooms but these, with commas")
    today = dt.datetime.now(dt.UTC).date().isoformat()
    group.addoption("--sample-seed", default=today, metavar="TEXT", help="chooses the rows of samples (default: today)")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if terminalreporter.stats.get("failed") and not config.option.exhaustive:
        terminalreporter.line(f"The same rows of samples are taken with --sample-seed={config.option.sample_seed}")


def pytest_collection_finish() -> None:
    gc.freeze()  # what the suite itself consists of is not looked at again and again


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out rows that are not in the sample, and put the files that take longest first."""
    sample = sample_of(config)
    if not any("::" in argument for argument in config.args):
        glanced_at = partial(_glanced, config)
        left_out = exclude(items, sample, at_most=config.option.at_most, glanced_at=glanced_at)
        config.hook.pytest_deselected(items=left_out)
    folder = Path(__file__).parent
    place = {folder / name: number for number, name in enumerate(LONGEST_FIRST)}
    items.sort(key=lambda item: place.get(item.path, len(place)))


def _glanced(config: pytest.Config, item: pytest.Item) -> bool:
    room = item.path.relative_to(Path(__file__).parent).parts[0]
    but = config.option.glance_but
    return bool(config.option.glance or (but and room not in but.split(",")))


def sample_of(config: pytest.Config) -> Sample:
    return Sample(config.option.sample_seed, exhaustive=config.option.exhaustive)


@pytest.fixture(scope="session")
def sample(pytestconfig: pytest.Config) -> Sample:
    """Take a sample of the rows of a table, or all of them in an exhaustive run."""
    return sample_of(pytestconfig)


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
        if isinstance(address, tuple) and not str(address[0] or "::1").startswith(LOOPBACK):
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
        on_server = pytest.param("server", marks=pytest.mark.on_server)
        metafunc.parametrize("ledger", ["file", on_server], indirect=True)


@pytest.fixture
def ledger(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Ledger]:
    """A ledger of its own: in a file, or where a test asks for both, on a server."""
    with ledger_of(request, tmp_path) as made:
        yield made


@pytest.fixture
def little_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """What provably was not sent is tried three times, at once: the waiting itself is the client's own test."""
    monkeypatch.setattr("smsotp_nb._dispatch.requests.PATIENCE", RetryPolicy(attempts=3, first_wait=0.001))
