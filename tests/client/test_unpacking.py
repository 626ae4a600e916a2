"""Compressed replies: unpacked exactly, and never past the limit, whatever the version of the library below."""

from __future__ import annotations

import gzip
import tracemalloc
import zlib
from collections.abc import Callable

import pytest
from faults.acts import encoded
from faults.server import BreakingServer, Script

from smsotp_nb import Client, Settings
from smsotp_nb._client import Patience
from smsotp_nb._client.unpacking import Packed, ReplyTooLarge, unpacked
from smsotp_nb.errors import InDoubt

LIMIT, PIECE = 1_000_000, 65_536


def raw(data: bytes) -> bytes:
    machine = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return machine.compress(data) + machine.flush()


PACKINGS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "Deflate ": raw,
    "gzip, identity, x-gzip": lambda data: gzip.compress(gzip.compress(data)),
    "deflate,gzip": lambda data: gzip.compress(zlib.compress(data)),
    "GZIP": lambda data: gzip.compress(data[:5]) + gzip.compress(data[5:]),
    "identity": bytes,
}


def all_of(packed: bytes, encoding: str, piece: int = PIECE) -> bytes:
    return b"".join(unpacked(memoryview(packed), encoding, limit=LIMIT, piece=piece))


@pytest.mark.parametrize("encoding", PACKINGS)
@pytest.mark.parametrize("piece", [1, 7, PIECE])
@pytest.mark.parametrize("data", [b"", b"x", b'{"code":"0"}' * 100], ids=len)
def test_what_was_packed_comes_out(encoding: str, piece: int, data: bytes) -> None:
    """Each form, also twice, also cut into single bytes."""
    assert all_of(PACKINGS[encoding](data), encoding, piece) == data


def bomb(layers: int, megabytes: int = 20) -> bytes:
    machine = zlib.compressobj(9, wbits=31)
    packed = b"".join(machine.compress(bytes(1_000_000)) for _ in range(megabytes)) + machine.flush()
    for _ in range(layers - 1):
        packed = gzip.compress(packed)
    return packed


@pytest.mark.parametrize("layers", [1, 2, 3])
def test_a_bomb_takes_no_more_memory_than_its_limit(layers: int) -> None:
    """Twenty megabytes in some kilobytes, packed up to three times."""
    packed = bomb(layers)
    tracemalloc.start()
    try:
        with pytest.raises(ReplyTooLarge):
            all_of(packed, ", ".join(["gzip"] * layers))
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
        (b"Hello", ",".join(["gzip"] * 9)),
    ],
    ids=["cut gzip", "cut deflate", "noise", "a tail", "another encoding", "nine times"],
)
def test_what_cannot_be_unpacked_is_said(packed: bytes, encoding: str) -> None:
    """By our error, never that of zlib."""
    with pytest.raises(Packed):
        all_of(packed, encoding)


def test_a_reply_packed_twice_is_in_doubt_at_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Through the client: the send may have been accepted."""
    monkeypatch.setattr("smsotp_nb._client.transport.MAX_REPLY", LIMIT)
    with BreakingServer(Script((encoded("gzip, gzip", lambda data: bomb(2)),))) as server:
        settings = Settings(base_url=f"http://127.0.0.1:{server.port}", access_key_id="key")
        with Client(settings, patience=Patience(attempts=1)) as one, pytest.raises(InDoubt, match="ReplyTooLarge"):
            one.send_message("+12025550123", text="Hello")
