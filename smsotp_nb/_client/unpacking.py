"""Replies that were compressed although they were asked not to be: unpacked piece by piece, never past a limit.

What comes out is counted where it comes out. Some versions of urllib3 ask their decompressor for a whole input at once,
and a reply packed twice then takes two gigabytes before anybody can count.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator

GZIP_OR_ZLIB, RAW = 32 + zlib.MAX_WBITS, -zlib.MAX_WBITS
MOST_LAYERS = 4


class ReplyTooLarge(Exception):
    """The reply is larger than any this interface gives."""


class Packed(ValueError):
    """The reply is packed in a way that is not unpacked here, or it is broken."""


def unpacked(packed: memoryview, encoding: str, *, limit: int, piece: int) -> Iterator[bytes]:
    """Return what a body holds, in pieces of at most ``piece`` bytes.

    Args:
        packed: the body as it came.
        encoding: its Content-Encoding: gzip, deflate or identity, several with commas, in the order of packing.
        limit: most bytes that any layer may unpack to.

    Raises:
        ReplyTooLarge: a layer holds more.
        Packed: the encoding is another one, or the body is not what it says, or ends too early.

    Example:
        >>> b"".join(unpacked(memoryview(zlib.compress(b"Hello")), "deflate", limit=100, piece=2))
        b'Hello'
    """
    layers = [name for name in (one.strip().lower() for one in encoding.split(",")) if name not in ("", "identity")]
    if len(layers) > MOST_LAYERS or not {"gzip", "x-gzip", "deflate"}.issuperset(layers):
        raise Packed("packed in a way that was not asked for")
    pieces: Iterable[bytes] = (bytes(packed[start : start + piece]) for start in range(0, len(packed), piece))
    for _ in layers:
        pieces = _counted(_one_layer(pieces, piece), limit)
    yield from pieces


def _counted(pieces: Iterable[bytes], limit: int) -> Iterator[bytes]:
    size = 0
    for one in pieces:
        size += len(one)
        if size > limit:
            raise ReplyTooLarge(f"the reply unpacks to more than {limit} bytes")
        yield one


def _one_layer(pieces: Iterable[bytes], piece: int) -> Iterator[bytes]:
    machine = None
    for given in pieces:
        rest = given
        while rest:
            if machine is None or machine.eof:  # gzip files may follow each other
                machine = _machine(rest)
            yield _asked(machine, rest, piece)
            rest = machine.unused_data or machine.unconsumed_tail
    while machine is not None and not machine.eof:
        if not (out := _asked(machine, b"", piece)):
            raise Packed("it ends too early")
        yield out


def _machine(head: bytes) -> zlib._Decompress:
    """Return a decompressor for what begins so: "deflate" means zlib's form, and some send it raw."""
    framed = head[0] == 0x1F or (head[0] & 0x0F == 8 and (len(head) < 2 or int.from_bytes(head[:2], "big") % 31 == 0))
    return zlib.decompressobj(GZIP_OR_ZLIB if framed else RAW)


def _asked(machine: zlib._Decompress, data: bytes, most: int) -> bytes:
    try:
        return machine.decompress(data, most)
    except zlib.error:
        raise Packed("it is not packed as it says") from None
