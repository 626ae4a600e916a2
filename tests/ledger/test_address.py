"""The address of a ledger on a server: no password in it, and no network without verified TLS."""

from __future__ import annotations

import contextlib
import shutil
import socket
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest
from faults import certificates
from support.servers import Server, need_server

from smsotp_nb import Ledger
from smsotp_nb.errors import LedgerError, UsageError
from smsotp_nb.settings import is_address

Asked = Callable[[str], tuple[str, dict[str, str]]]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Asked:
    """How the error of a ledger that is not reached names its address, and what the driver was asked for."""

    def ask(address: str) -> tuple[str, dict[str, str]]:
        seen: list[dict[str, str]] = []

        def connect(**arguments: str) -> None:
            seen.append(arguments)
            raise psycopg.OperationalError("nobody listens")

        with monkeypatch.context() as patch:
            patch.setattr(psycopg, "connect", connect)
            with pytest.raises(LedgerError) as caught:
                Ledger(address)
        return str(caught.value), seen[0]

    return ask


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("postgresql:///campaigns", "postgresql:///campaigns"),
        ("postgresql:///campaigns?host=/run/a&port=5433", "postgresql:///campaigns?host=/run/a&port=5433"),
        ("postgresql://ann@localhost:6432/campaigns", "postgresql://ann@localhost:6432/campaigns"),
        ("postgresql://ann@[::1]:6432/my%20list", "postgresql://ann@[::1]:6432/my%20list"),
        ("postgresql://ann@db.example/campaigns?sslrootcert=x", "postgresql://ann@db.example/campaigns"),
        ("postgresql://db.example/c?hostaddr=192.0.2.7", "postgresql://db.example/c?hostaddr=192.0.2.7"),
        ("postgresql://ann@one,two:5433/c", "postgresql://ann@/c?host=one,two&port=,5433"),
    ],
)
def test_an_address_is_shown_as_it_was_meant(address: str, shown: str, asked: Asked) -> None:
    said, arguments = asked(address)
    assert f"the ledger {shown} cannot be used" in said
    again = asked(shown)[1]
    assert again == {name: arguments[name] for name in again}


@pytest.mark.usefixtures("_services")
def test_a_service_is_shown_with_the_place_that_it_names(asked: Asked) -> None:
    said, _ = asked("postgresql:///campaigns?service=shop")
    assert "the ledger postgresql://db.example:6000/campaigns?service=shop cannot be used" in said


@pytest.mark.parametrize("host", ["db.example", "192.0.2.7", "localhost,db.example"])
def test_over_a_network_the_server_is_verified(host: str, asked: Asked) -> None:
    assert asked(f"postgresql://ann@{host}/campaigns")[1]["sslmode"] == "verify-full"


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "[::1]"])
def test_on_this_machine_no_encryption_is_asked_for(host: str, asked: Asked) -> None:
    assert "sslmode" not in asked(f"postgresql://ann@{host}/campaigns")[1]


NAMED_ELSEWHERE = [
    ("postgresql:///campaigns", {"PGHOST": "db.example"}),
    ("postgresql:///campaigns", {"PGHOST": "localhost,db.example"}),
    ("postgresql:///campaigns", {"PGHOSTADDR": "192.0.2.7"}),
    ("postgresql://localhost/campaigns", {"PGHOSTADDR": "192.0.2.7"}),
    ("postgresql:///campaigns?host=localhost&service=clinic", {}),
    ("postgresql:///campaigns?service=shop", {}),
    ("postgresql:///?service=shop", {"PGSSLMODE": "disable"}),
    ("postgresql:///campaigns", {"PGSERVICE": "shop"}),
    ("postgresql://?service=shop", {"PGHOST": "localhost"}),
]


@pytest.fixture
def _services(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    services = (
        "[shop]\nhost=db.example\nport=6000\nuser=ann\npassword=hunter-2-secret\nsslmode=disable\n"
        "[clinic]\nhostaddr=192.0.2.7\n[here]\nhost=/run/postgresql\ndbname=campaigns\n"
    )
    (tmp_path / "services").write_text(services, encoding="utf-8")
    for name in ("PGHOST", "PGHOSTADDR", "PGPORT", "PGDATABASE", "PGUSER", "PGSERVICE", "PGSSLMODE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PGSERVICEFILE", str(tmp_path / "services"))


@pytest.mark.parametrize(("address", "environment"), NAMED_ELSEWHERE)
@pytest.mark.usefixtures("_services")
def test_a_host_that_libpq_would_find_elsewhere_is_verified_as_well(
    address: str, environment: dict[str, str], asked: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    said, arguments = asked(address)
    assert arguments["sslmode"] == "verify-full"
    assert "hunter-2-secret" not in said


@pytest.mark.parametrize(
    ("address", "environment"),
    [
        ("postgresql:///campaigns", {"PGHOST": "/run/postgresql"}),
        ("postgresql:///campaigns", {"PGHOST": "127.0.0.1", "PGSSLMODE": "disable"}),
        ("postgresql://localhost/campaigns", {"PGHOST": "db.example"}),
        ("postgresql:///?service=here", {"PGHOST": "db.example"}),
    ],
)
@pytest.mark.usefixtures("_services")
def test_a_host_that_libpq_finds_on_this_machine_needs_no_encryption(
    address: str, environment: dict[str, str], asked: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    arguments = asked(address)[1]
    assert "sslmode" not in arguments
    assert arguments["dbname"] == "campaigns"


@pytest.mark.usefixtures("_services")
def test_an_address_stays_where_it_was_read(asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    _, alone = asked("postgresql:///campaigns")
    assert {alone[name] for name in ("host", "hostaddr")} == {""}  # libpq asks no environment then
    monkeypatch.setenv("PGHOST", "db.example")
    said, named = asked("postgresql:///campaigns")
    assert "the ledger postgresql://db.example/campaigns cannot be used" in said
    assert named == asked("postgresql://db.example/campaigns")[1] != alone


@pytest.mark.usefixtures("_services")
def test_a_service_that_is_not_there_is_named_as_the_trouble() -> None:
    with pytest.raises(UsageError, match=r"names a service that libpq does not find.*PGSERVICEFILE"):
        Ledger("postgresql:///campaigns?service=none")


@pytest.mark.parametrize("mode", ["disable", "prefer", "require", "verify-ca"])
def test_less_than_verified_tls_is_refused(mode: str) -> None:
    with pytest.raises(UsageError, match=f"sslmode={mode}.*leave sslmode out"):
        Ledger(f"postgresql://ann@db.example/campaigns?sslmode={mode}")


@pytest.mark.parametrize(
    "address",
    [
        "ann:hunter-2-secret@db.example/campaigns",
        "//ann:hunter-2-secret@db.example/campaigns",
        "postgresql//ann:hunter-2-secret@db.example/campaigns",
        "host=db.example user=ann password\t= hunter-2-secret",
        "postgresql://ann:hunter-2-secret@db.example/campaigns",
        "postgresql://ann@db.example/campaigns?password=hunter-2-secret",
        "postgresql://ann:hunter-2-secret@[db.example/campaigns",
    ],
)
@pytest.mark.parametrize("where", ["argument", "environment"])
def test_a_password_in_an_address_is_refused_and_repeated_nowhere(
    address: str, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SMSOTP_LEDGER", address)
    with pytest.raises(UsageError, match=r"must not hold a password|cannot be read") as raised:
        Ledger(address if where == "argument" else None)
    assert "hunter-2-secret" not in "".join(traceback.format_exception(raised.value))
    frames = [frame for frame, _ in traceback.walk_tb(raised.tb) if "/smsotp_nb/" in frame.f_code.co_filename]
    assert frames
    assert not [
        name
        for frame in frames
        for name, value in frame.f_locals.items()
        if name != "self" and "hunter-2-secret" in repr(value)
    ]


@pytest.mark.parametrize("path", ["/srv/at:9/lists@home.sqlite", r"C:\Users\ann@home\ledger.sqlite", "10:30.sqlite"])
def test_a_path_is_no_address(path: str) -> None:
    assert not is_address(path)


def _old_server(listener: socket.socket) -> None:
    """Speak as a server does until a client may ask."""
    line, _ = listener.accept()
    with line:
        line.recv(4096)
        status = b"".join(name + b"\0" for name in (b"server_version", b"14.9"))
        line.sendall(b"R\0\0\0\x08\0\0\0\0S" + (len(status) + 4).to_bytes(4, "big") + status + b"Z\0\0\0\x05I")
        assert line.recv(4096)[:1] in (b"", b"X")  # nothing is asked of it


def test_a_server_that_is_too_old_is_refused_before_anything_is_asked_of_it() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener, ThreadPoolExecutor(1) as beside:
        served, plain = beside.submit(_old_server, listener), "sslmode=disable&target_session_attrs=any"
        with pytest.raises(LedgerError, match=r"is PostgreSQL 14\.9; 15 or later is needed"):
            Ledger(f"postgresql://ann@127.0.0.1:{listener.getsockname()[1]}/campaigns?{plain}")
        served.result()


@pytest.fixture(scope="module")
def tls(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Servers of a network, played by this machine: ``db.example`` with TLS and without, and one of another name."""
    need_server()
    folder, ours = tmp_path_factory.mktemp("tls"), certificates.authority()
    found = {"authority": str(certificates.write(ours, folder))}
    with contextlib.ExitStack() as ended:
        for name in ("db.example", "other.example", ""):
            with socket.create_server(("127.0.0.1", 0)) as free:
                port = str(free.getsockname()[1])
            made = Server(listen_addresses="127.0.0.1", port=port).make()
            ended.callback(made.remove)
            if name:
                pair = made.folder / "pair.pem"
                pair.write_bytes(certificates.leaf(ours, folder, hosts=(name,)).read_bytes())
                pair.chmod(0o600)
                shutil.chown(pair, made.folder.owner())
                made.set(ssl="on", ssl_cert_file=str(pair), ssl_key_file=str(pair))
            made.start()
            ended.callback(made.stop, "immediate")
            found[name] = port
        yield found


def test_a_host_of_a_network_is_reached_by_tls_under_its_own_name_alone(
    tls: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGSSLROOTCERT", tls["authority"])
    monkeypatch.setenv("PGSSLMODE", "disable")
    monkeypatch.setenv("PGHOST", "db.example")
    monkeypatch.setenv("PGHOSTADDR", "127.0.0.1")
    monkeypatch.setenv("PGUSER", "postgres")
    monkeypatch.setenv("PGPORT", tls["db.example"])
    with Ledger("postgresql:///postgres", create=True) as ledger, ledger._store.reading() as connection:
        assert connection.execute("SELECT ssl FROM pg_stat_ssl WHERE pid=pg_backend_pid()").fetchone()[0]
        assert f"postgresql://db.example:{tls['db.example']}/postgres" in repr(ledger)
        assert f"db.example:{tls['db.example']}" in ledger.card().text()
    for port, said in ((tls[""], "does not support SSL"), (tls["other.example"], "does not match host name")):
        monkeypatch.setenv("PGPORT", port)
        with pytest.raises(LedgerError, match=said):
            Ledger("postgresql:///postgres", create=True)


def test_a_server_that_does_not_answer_is_an_error_that_names_the_address() -> None:
    with pytest.raises(LedgerError, match=r"postgresql://localhost:9/campaigns cannot be used.*call again"):
        Ledger("postgresql://localhost:9/campaigns")
