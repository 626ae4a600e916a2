"""The address of a ledger on a server: no password in it, and no network without verified TLS."""

from __future__ import annotations

import traceback
from pathlib import Path

import pytest

from smsotp_nb import Ledger
from smsotp_nb._ledger.server.address import read_address
from smsotp_nb.errors import LedgerError, UsageError
from smsotp_nb.settings import Secret


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("postgresql:///campaigns?host=/run/postgresql", "postgresql:///campaigns"),
        ("postgresql://ann@localhost:6432/campaigns", "postgresql://ann@localhost:6432/campaigns"),
        ("postgresql://ann@db.example/campaigns", "postgresql://ann@db.example/campaigns"),
    ],
)
def test_an_address_is_shown_as_it_was_meant(address: str, shown: str) -> None:
    assert str(read_address(Secret(address))) == shown


@pytest.mark.parametrize("host", ["db.example", "192.0.2.7", "localhost,db.example"])
def test_over_a_network_the_server_is_verified(host: str) -> None:
    assert read_address(Secret(f"postgresql://ann@{host}/campaigns")).arguments()["sslmode"] == "verify-full"


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "[::1]"])
def test_on_this_machine_no_encryption_is_asked_for(host: str) -> None:
    assert "sslmode" not in read_address(Secret(f"postgresql://ann@{host}/campaigns")).arguments()


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
    address: str, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    found = read_address(Secret(address))
    assert found.arguments()["sslmode"] == "verify-full"
    assert "hunter-2-secret" not in repr(found)


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
    address: str, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    found = read_address(Secret(address))
    assert "sslmode" not in found.arguments()
    assert found.name == "campaigns"


@pytest.mark.usefixtures("_services")
def test_an_address_stays_where_it_was_read(monkeypatch: pytest.MonkeyPatch) -> None:
    alone = read_address(Secret("postgresql:///campaigns"))
    monkeypatch.setenv("PGHOST", "db.example")
    assert {alone.arguments()[name] for name in ("host", "hostaddr")} == {""}  # libpq asks no environment then
    named = read_address(Secret("postgresql:///campaigns"))
    assert str(named) == "postgresql://db.example/campaigns"
    assert named.key == read_address(Secret("postgresql://db.example/campaigns")).key != alone.key


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


def test_a_server_that_does_not_answer_is_an_error_that_names_the_address() -> None:
    with pytest.raises(LedgerError, match=r"postgresql://localhost:9/campaigns cannot be used.*call again"):
        Ledger("postgresql://localhost:9/campaigns")
