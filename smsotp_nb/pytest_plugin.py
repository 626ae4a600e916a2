"""A sandbox for your own tests: ask for the fixture ``smsotp_sandbox``.

Loaded by pytest when the package is installed. The sandbox is new for every test and ends with it::

    def test_a_welcome_is_sent(smsotp_sandbox):
        my_app.welcome("+12025550123", base_url=smsotp_sandbox.url)
        smsotp_sandbox.expect(to="+12025550123", text="Welcome", times=1, within=2)

    @pytest.mark.smsotp_sandbox(balance=0)
    def test_an_empty_account_is_reported(smsotp_sandbox): ...
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from .sandbox import Sandbox

MARK = "smsotp_sandbox(**options): options of the Sandbox that the fixture smsotp_sandbox starts, such as balance=0"


def pytest_configure(config: pytest.Config) -> None:
    """Make the mark known, so that strict runs take it."""
    config.addinivalue_line("markers", MARK)


@pytest.fixture
def smsotp_sandbox(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    """A local service of the interface with its inbox, new for this test; ``.url`` is its address."""
    from .sandbox import Sandbox  # only tests that ask for one pay for its start

    mark = request.node.get_closest_marker("smsotp_sandbox")
    with Sandbox(**mark.kwargs if mark else {}) as box:
        yield box
