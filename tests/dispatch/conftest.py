"""What several tests of sending share: a scripted service."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from kills.service import Service


@pytest.fixture
def service() -> Iterator[Service]:
    with Service() as made:
        yield made
