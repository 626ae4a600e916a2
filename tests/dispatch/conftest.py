"""What several tests of sending share: a scripted service, and little patience with what was not sent."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from kills.service import Service

from smsotp_nb._client import Patience


@pytest.fixture
def service() -> Iterator[Service]:
    with Service() as made:
        yield made


@pytest.fixture
def little_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """What provably was not sent is tried three times, at once: the waiting itself is the client's own test."""
    monkeypatch.setattr("smsotp_nb._dispatch.requests.PATIENCE", Patience(attempts=3, first_wait=0.001))
