"""What the campaigns stand on: certificates, names that resolve as asked, a size cap that a test can reach."""

from __future__ import annotations

import gc
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from .campaign import Ground, resolver

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """CPython leaves a socket to the collector when a reset meets the beginning of a TLS handshake."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.filterwarnings("ignore:unclosed <ssl.SSLSocket:ResourceWarning"))
            item.add_marker(pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"))


@pytest.fixture(scope="package", autouse=True)
def collected() -> Iterator[None]:
    """What a stop or a reset left to the collector is collected here, where it is expected, and not in another test."""
    yield
    gc.collect()


@pytest.fixture(scope="package")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    """Everything that all cases share."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket, "getaddrinfo", resolver(socket.getaddrinfo))
        patch.setattr("smsotp_nb._client.transport.MAX_REPLY", 4_000_000)
        yield Ground(tmp_path_factory.mktemp("certificates"))
