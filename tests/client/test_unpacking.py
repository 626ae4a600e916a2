"""Compressed replies: unpacked exactly, and never past the limit, whatever the version of the library below."""

from __future__ import annotations

import gzip
import tracemalloc
import zlib
from collections.abc import Callable

import pytest
from faults.acts import encoded
from faults.server import BreakingServer, Script
from support.clients import Patience

from smsotp_nb import Client, Settings
from smsotp_nb._client.transport import Packed, ReplyTooLarge, unpacked
from smsotp_nb.errors import InDoubt

LIMIT = 1_000_000


def raw(data: bytes) -> bytes:
    machine = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return machine.compress(data) + machine.flush()


PACKINGS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "Deflate ": raw,
    "X-GZIP": gzip.compress,
    "identity": bytes,
}


@pytest.mark.parametrize("encoding", PACKINGS)
@pytest.mark.parametrize("data", [b"", b"x", b'{"code":"0"}' * 100], ids=len)
def test_what_was_packed_comes_out(encoding: str, data: bytes) -> None:
    assert unpacked(PACKINGS[encoding](data), encoding, limit=LIMIT) == data


def bomb(megabytes: int = 20) -> bytes:
    machine = zlib.compressobj(9, wbits=31)
    return b"".join(machine.compress(bytes(1_000_000)) for _ in range(megabytes)) + machine.flush()


def test_a_bomb_takes_no_more_memory_than_its_limit() -> None:
    """Twenty megabytes in some kilobytes."""
    packed = bomb()
    tracemalloc.start()
    try:
        with pytest.raises(ReplyTooLarge):
            unpacked(packed, "gzip", limit=LIMIT)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 3 * LIMIT


@pytest.mark.parametrize(
    ("packed", "encoding"),
    [
        (gzip.compress(b"Hello")[:-9], "gzip"),
        (zlib.compress(b"Hello")[:-5], "deflate"),
        (b"\xff" * 50, "deflate"),
        (gzip.compress(b"Hello") + b"more", "gzip"),
        (b"Hello", "br"),
        (gzip.compress(gzip.compress(b"Hello")), "gzip, gzip"),
    ],
    ids=["cut gzip", "cut deflate", "noise", "a tail", "another encoding", "twice"],
)
def test_what_cannot_be_unpacked_is_said(packed: bytes, encoding: str) -> None:
    """By our error, never that of zlib."""
    with pytest.raises(Packed):
        unpacked(packed, encoding, limit=LIMIT)


def test_a_reply_is_in_doubt_at_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Through the client: the send may have been accepted."""
    monkeypatch.setattr("smsotp_nb._client.transport.MAX_REPLY", LIMIT)
    with BreakingServer(Script((encoded("gzip", lambda data: bomb()),))) as server:
        settings = Settings(base_url=f"http://127.0.0.1:{server.port}", access_key_id="key")
        with Client(settings, patience=Patience(attempts=1)) as one, pytest.raises(InDoubt, match="ReplyTooLarge"):
            one.send_message("+12025550123", text="Hello")
