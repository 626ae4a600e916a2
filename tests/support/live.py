"""A sandbox as a live service: what a client without its id is to the ledger."""

from __future__ import annotations

from smsotp_nb import Client, Sandbox, Settings
from smsotp_nb.settings import Secret


def live_client(box: Sandbox) -> Client:
    """Return a client to whom the sandbox is a service with people, not a rehearsal."""
    return Client(Settings(base_url=box.url, access_key_id=Secret("live-key-4711")))
