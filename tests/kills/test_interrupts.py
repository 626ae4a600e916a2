"""After an interrupt at any moment the same Ledger object goes on, in a file and on a server."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from support.servers import Server

from smsotp_nb import Ledger, send

from .interrupts import IN_A_FILE, ON_A_SERVER, STRUCK, run
from .people import numbers, plan_of
from .service import Service


def struck(owner: type, name: str, *, after: bool) -> Any:
    """Let the first call of a method be interrupted, before or after it has done its work."""
    real: Callable[..., Any] = getattr(owner, name)
    calls: list[None] = []

    def once(self: Any, *args: Any, **kwargs: Any) -> Any:
        calls.append(None)
        if len(calls) > 1:
            return real(self, *args, **kwargs)
        if after:
            real(self, *args, **kwargs)
        raise KeyboardInterrupt

    return mock.patch.object(owner, name, once)


def interrupted_and_sent(place: str | Path, owner: type, name: str, *, after: bool) -> None:
    with Service() as service, service.client() as client, Ledger(place, create=True) as ledger:
        made = plan_of(8, chunk_size=2)

        def sent() -> Any:
            return send(made.with_requests(threads=1), client=client, ledger=ledger, progress=False)

        with struck(owner, name, after=after), pytest.raises(KeyboardInterrupt):
            sent()
        table = sent()
        assert table["status"].isin(["accepted", "in_doubt"]).all()
        assert set(service.accepted) >= set(table["to"][table["status"].eq("accepted")])
        assert set(service.accepted.values()) == {1}
        assert set(table["to"]) == set(numbers(8))


@pytest.mark.sampled(8)
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize(("owner", "name"), IN_A_FILE, ids=[f"{owner.__name__}.{name}" for owner, name in IN_A_FILE])
def test_an_interrupt_beside_a_transaction_leaves_a_ledger_in_a_file_usable(
    tmp_path: Path, owner: type, name: str, after: bool
) -> None:
    interrupted_and_sent(tmp_path / "l.sqlite", owner, name, after=after)


@pytest.mark.sampled(8)
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize(
    ("owner", "name"), ON_A_SERVER, ids=[f"{owner.__name__}.{name}" for owner, name in ON_A_SERVER]
)
def test_an_interrupt_beside_a_transaction_leaves_a_ledger_on_a_server_usable(
    server: Server, owner: type, name: str, after: bool
) -> None:
    interrupted_and_sent(server.database(), owner, name, after=after)


@pytest.mark.slow
def test_after_sigint_at_a_random_moment_the_same_object_goes_on() -> None:
    found = run(len(STRUCK))
    assert not found.broken, found.line()


@pytest.mark.slow
def test_after_sigint_at_a_random_moment_the_same_object_goes_on_on_a_server(server: Server) -> None:
    found = run(len(STRUCK), server=server)
    assert not found.broken, found.line()
