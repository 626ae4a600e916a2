"""A sandbox, and a ledger whose clock the test moves."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.servers import ledger_of

from smsotp_nb import Ledger, Sandbox

from .sending import Clock


@pytest.fixture
def box() -> Iterator[Sandbox]:
    with Sandbox() as made:
        yield made


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def ledger(request: pytest.FixtureRequest, tmp_path: Path, clock: Clock) -> Iterator[Ledger]:
    with ledger_of(request, tmp_path, now=clock) as made:
        yield made
