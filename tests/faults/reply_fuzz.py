"""Replies by chance that know their structure: what comes out is a reply or our error, soon, and in little memory.

``python -m tests.faults.reply_fuzz 1000000`` prints what it found and ends with 1 on a finding. The seed of a
case makes it again.
"""

from __future__ import annotations

import copy
import gzip
import json
import random
import sys
import time
import tracemalloc
import zlib
from collections import Counter
from collections.abc import Iterator
from typing import Any

import httptools

from smsotp_nb import _wire as wire
from smsotp_nb._client import transport
from smsotp_nb._client.meaning import Scrubber, success
from smsotp_nb._client.transport import Packed, ReplyTooLarge
from smsotp_nb._moments import utc_now
from smsotp_nb.errors import SmsOtpError

TO = tuple(f"+1202555{number:04d}" for number in range(100, 104))
SECONDS = 5.0  # CPU time of one reply; a quiet machine takes milliseconds
MEMORY = 64 * 1024 * 1024  # bytes beyond the cap
READERS = {
    "send": lambda data, request_id: wire.read_send(data, TO, request_id=request_id),
    "passcode": lambda data, request_id: wire.read_otp_send(data, TO[0], request_id=request_id),
    "check": lambda data, request_id: wire.read_verify(data, TO[0], request_id=request_id),
}
ODD: tuple[Any, ...] = (
    None, True, False, 0, -1, 2**63, 10**400, 1.5, -0.0, 1e308, "", " ", "0", "1E+999999", "NaN", "0.0000001",
    "9" * 5000, "\x1b[2J", "\x00", "\u202e", "\ud800", "é" * 300, "+", "+1202555", [], {}, [[]], [None], [{}], {"": {}},
)  # fmt: skip
WHOLE = (
    b"", b"[", b"null", b"0", b"\xff\xfe{", b"\xef\xbb\xbf{}", b"[" * 100_000, b'{"a":' * 50_000, b"{}" * 9,
    b'{"code":"0","data":' + b"[" + b"[]," * 300_000 + b"[]]}", b'{"code":"0","data":1e999999999}',
    b'{"code":"0","data":' + b"9" * 100_000 + b"}", '{"code":"0"}'.encode("utf-16"),
)  # fmt: skip
HEADERS = (
    b"Content-Type: application/json", b"X-Request-Id: \x1b[2J", b"Retry-After: 9" + b"9" * 400, b"Retry-After: soon",
    b"Retry-After: Mon, 01 Jan 0001 00:00:00 -9999", b"X:" + b"y" * 60_000, b"Set-Cookie: a=b", b"Bad Header",
    b"Transfer-Encoding: chunked", b"Content-Length: 5", b"Connection: upgrade", b"Upgrade: h2c",
)  # fmt: skip


def envelope() -> dict[str, Any]:
    messages = [
        {"id": f"m{place}", "to": to, "iso": "US", "cc": "1", "parts": 1, "price": "0.007500"}
        for place, to in enumerate(TO)
    ]
    data = {"recipients": 4, "messageCount": 4, "currency": "USD", "totalAmount": "0.030000", "messages": messages}
    return {"code": "0", "message": "Success", "data": data | {"to": TO[0], "valid": True} | messages[0]}


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Return every place of a JSON value as its container and its key."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in pairs:
        yield value, key
        yield from places(inner)


def changed(chance: random.Random) -> bytes:
    """Return the bytes of an envelope in which some places hold what they should not."""
    if chance.random() < 0.05:
        return chance.choice(WHOLE)
    found = envelope() | {"code": chance.choice(["0", "0", "0", "104111", "105400"])}
    for _ in range(chance.randrange(5)):
        inside, key = chance.choice(list(places(found)))
        how = chance.randrange(5)
        if how == 0 and isinstance(inside, dict):
            inside[chance.choice(["count", "messageCount", "", "to"])] = inside.pop(key)
        elif how == 1 and isinstance(inside, list):
            inside += inside[:1] * chance.choice([1, 50])
        elif how == 2:
            inside[key] = [inside[key]] * chance.choice([1, 3])
        else:
            inside[key] = copy.deepcopy(chance.choice(ODD))
    data = json.dumps(found, ensure_ascii=chance.random() < 0.5).encode("utf-8", "surrogatepass")
    return data if chance.random() < 0.9 else flipped(data, chance)


def flipped(data: bytes, chance: random.Random) -> bytes:
    bits = bytearray(data)
    for _ in range(min(len(bits), chance.randrange(1, 6))):
        bits[chance.randrange(len(bits))] ^= 1 << chance.randrange(8)
    return bytes(bits[: chance.randrange(len(bits) + 1)] if bits and chance.random() < 0.3 else bits)


def reply(chance: random.Random) -> bytes:
    """Return the bytes of a whole reply: head, and a body that may be packed, cut or in chunks."""
    data, headers = changed(chance), chance.sample(HEADERS, chance.choice([0] * 6 + [1, 2]))
    packing = chance.choice(["", "", "", "gzip", "deflate", "gzip, gzip", "br"])
    if packing:
        headers.append(b"Content-Encoding: " + packing.encode())
        data = zlib.compress(data) if packing == "deflate" else gzip.compress(data)
        data = gzip.compress(data) if packing == "gzip, gzip" else data
        data = flipped(data, chance) if chance.random() < 0.3 else data
    if chance.random() < 0.8:
        headers.append(b"Content-Length: %d" % len(data))
    status = chance.choice([200] * 12 + [400] * 8 + [429, 500, 204, 101, 99, 1000])
    head = b"HTTP/1.1 %d OK\r\n" % status + b"".join(line + b"\r\n" for line in headers) + b"\r\n"
    return flipped(head, chance) + data if chance.random() < 0.1 else head + data


def read(raw: bytes, operation: str) -> str:
    """Read a reply as the client does, and return what came out in a word."""
    trace = transport.Trace(deadline=time.monotonic() + 60)
    found = transport._Reply(trace)
    try:
        for start in range(0, len(raw), transport.PIECE):
            found.feed(raw[start : start + transport.PIECE])
        whole = b"".join(found.stream(transport.PIECE)) if found.whole or found.until_close else None
    except (httptools.HttpParserError, httptools.HttpParserUpgrade, Packed, ReplyTooLarge) as error:
        return type(error).__name__  # in doubt, by the phase of the request
    finally:
        found.parser = None
    if whole is None:
        return "cut"
    handed = transport.RawReply(found.status, tuple(found.headers.items()), whole)
    meant = success(handed, READERS[operation], action=operation, seconds=0.0, scrub=Scrubber("key"), now=utc_now)
    said = f"{meant} {meant!r}"
    if isinstance(meant, SmsOtpError) and (len(str(meant)) >= 2_000 or not str(meant).isprintable()):
        raise AssertionError("an error that is endless or moves the cursor")
    return type(meant).__name__ if said else ""


def findings(seeds: range) -> tuple[list[str], Counter[str]]:
    """Return what is wrong, each with its seed, and how often each outcome came."""
    wrong, outcomes = [], Counter[str]()
    for seed in seeds:
        chance = random.Random(seed)
        raw, operation = reply(chance), chance.choice(list(READERS))
        measured = seed % 20 == 0  # to measure memory takes twenty times as long
        if measured:
            tracemalloc.start()
        began = time.process_time()
        try:
            outcomes[read(raw, operation)] += 1
        except Exception as error:  # noqa: BLE001 - any is a finding
            wrong.append(f"seed {seed}: {type(error).__name__}: {error}"[:300])
        if not measured and time.process_time() - began > SECONDS:
            wrong.append(f"seed {seed}: {time.process_time() - began:.1f} s")
        if measured:
            if tracemalloc.get_traced_memory()[1] > transport.MAX_REPLY + MEMORY:
                wrong.append(f"seed {seed}: {tracemalloc.get_traced_memory()[1]:,} bytes")
            tracemalloc.stop()
    return wrong, outcomes


def main(count: int, first: int = 0) -> int:
    wrong, outcomes = findings(range(first, first + count))
    print("\n".join([*wrong, f"{count:,} replies, {len(wrong)} findings", str(dict(outcomes.most_common()))]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])) if len(sys.argv) > 1 else main(10_000))
