"""Some thousand replies by chance; a million of them is a long test run, see docs/evidence/index.md."""

from __future__ import annotations

import tracemalloc

import pytest

from smsotp_nb import _wire as wire
from smsotp_nb._client import transport

from . import reply_fuzz


def test_no_reply_brings_a_foreign_error_or_takes_time_or_memory() -> None:
    """Every outcome is a reply, our error, or one of the transport's own."""
    wrong, outcomes = reply_fuzz.findings(range(3_000))
    assert wrong == []
    assert {"SendReply", "InDoubt", "ServiceError", "Throttled", "VerifyReply", "OtpReply", "cut"} <= set(outcomes)


UNITS = ["[],", "{},", "1.5,", '{"é":0},', '"\U0001f600aaaa",', "\U0001f600" + "a" * 99]


@pytest.mark.parametrize("unit", UNITS, ids=ascii)
def test_a_reply_of_the_largest_size_takes_little_memory_beyond_it(unit: str) -> None:
    """Whatever it is made of: a list for each byte would take gigabytes."""
    start, end = b'{"code":"0","data":{"messages":[', b"0]}}"
    raw = start + unit.encode() * ((transport.MAX_REPLY - 99) // len(unit.encode())) + end
    tracemalloc.start()
    try:
        with pytest.raises(wire.Unreadable):
            wire.read_send(wire.read_envelope(raw).data, ["+12025550123"])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 64 * 1024 * 1024
