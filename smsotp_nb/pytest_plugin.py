"""A sandbox for your own tests: ask for the fixture ``smsotp_sandbox``.

Loaded by pytest when the package is installed. The sandbox is new for every test and ends with it::

    def test_a_welcome_is_sent(smsotp_sandbox):
        my_app.welcome("+12025550123", base_url=smsotp_sandbox.url)
        smsotp_sandbox.expect(to="+12025550123", text="Welcome", times=1, within=2)

    @pytest.mark.smsotp_sandbox(balance=0)
    def test_an_empty_account_is_reported(smsotp_sandbox): ...

With ``pytest --smsotp-sandbox http://127.0.0.1:8025`` every test gets a tenant of that one sandbox instead, which was
started with ``smsotp-nb sandbox --tenants --port 8025``; the code under test then uses the access key
``smsotp_sandbox.access_key``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from ._sandbox import Sandbox

LABEL = 256  # characters of a test's name that tell whose tenant it is
MARK = "smsotp_sandbox(**options): options of the Sandbox that the fixture smsotp_sandbox starts, such as balance=0"


def pytest_configure(config: pytest.Config) -> None:
    """Make the mark known, so that strict runs take it."""
    config.addinivalue_line("markers", MARK)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let parallel jobs share one sandbox."""
    said = "address of a sandbox with tenants: every test that asks for smsotp_sandbox gets a tenant of it"
    parser.addoption("--smsotp-sandbox", metavar="URL", help=said)


@pytest.fixture
def smsotp_sandbox(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    """A local service of the interface with its inbox, new for this test; ``.url`` is its address."""
    from ._sandbox import Sandbox  # only tests that ask for one pay for its start

    mark = request.node.get_closest_marker("smsotp_sandbox")
    options = dict(mark.kwargs) if mark else {}
    shared = request.config.getoption("--smsotp-sandbox")
    faults = options.pop("faults", ()) if shared else ()
    label = request.node.nodeid[-LABEL:]
    with Sandbox.at(shared).tenant(label=label, **options) if shared else Sandbox(**options) as box:
        for fault in [faults] if isinstance(faults, str) else faults:
            box.switch_on(fault)
        yield box
