"""Send in a test: without a bar, and without the warnings, which have tests of their own."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import pandas as pd

from smsotp_nb import Client, Ledger, Plan, send
from smsotp_nb._dispatch.guards import Watch
from smsotp_nb.errors import SmsOtpWarning


def sent(made: Plan, client: Client, ledger: Ledger, *, threads: int | None = None, **options: Any) -> pd.DataFrame:
    """Return the result table of one send."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SmsOtpWarning)
        return send(made.with_requests(threads=threads), client, ledger=ledger, **({"progress": False} | options))


def status(table: pd.DataFrame) -> dict[str, int]:
    return table["status"].value_counts().to_dict()


@contextlib.contextmanager
def once_admitted(act: Callable[[], object]) -> Iterator[None]:
    """Do something each time a chunk has passed the limits of a campaign, before it is claimed."""
    admit = Watch.admit

    def admitted(self: Watch, *given: Any, **named: Any) -> Any:
        admission = admit(self, *given, **named)
        act()
        return admission

    with mock.patch.object(Watch, "admit", admitted):
        yield
