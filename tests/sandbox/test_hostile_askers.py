"""Askers, and programs in the place of a sandbox, that are up to no good: bounded time and memory, and our errors."""

from __future__ import annotations

import contextlib
import json
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from support.cpu_time import at_most
from support.sockets import call

from smsotp_nb import Sandbox
from smsotp_nb.errors import SmsOtpError, UsageError
from smsotp_nb.sandbox import Rules

US = "+12025550123"
ABOUT = {
    "id": "a", "variant": "intl", "form": "current", "messages": 0, "balance": "1", "currency": "USD",
}  # fmt: skip


# -- what is asked is never kept where it could not be read again


def test_a_state_takes_no_more_money_than_it_can_read_again(tmp_path: Path) -> None:
    with Sandbox(state=tmp_path / "box.sqlite", balance=0) as box:
        for _ in range(9):
            box.top_up(999_999_999)
        with pytest.raises(UsageError, match="more money than there is"):
            box.top_up(999_999_999)
        before = box.balance
    with Sandbox(state=tmp_path / "box.sqlite") as again:
        assert again.balance == before
    with pytest.raises(UsageError, match="at most 9,000,000,000 was expected"):
        Sandbox(state=tmp_path / "other.sqlite", balance=20_000_000_000)


@pytest.mark.parametrize("year", [1971, 2199])
def test_a_state_goes_as_far_in_time_as_it_can_read_again(year: int, tmp_path: Path) -> None:
    with Sandbox(state=tmp_path / "box.sqlite") as box:
        years = year - datetime.now(UTC).year
        assert box.advance(years * 365.2425 * 86_400).year in (year - 1, year, year + 1)
        box.client().send_otp(US, code="123456")
        for wrong in (years * 10**8, -(10**11), 10**11):
            assert call(box, "POST", "/clock.json", {"advance": wrong})[0] == 400
    with Sandbox(state=tmp_path / "box.sqlite") as again:
        assert again.code(US) == "123456"


@pytest.mark.parametrize("seconds", ["1e999990", "1e999999", "9" * 500_000, "-1e999999", "NaN", "sNaN", "Infinity"])
def test_a_clock_is_not_kept_busy_by_a_number_without_an_end(seconds: str, box: Sandbox) -> None:
    with at_most(15):  # it took half a minute, in which nobody else was answered
        status, told = call(box, "POST", "/clock.json", {"advance": seconds})
    assert (status, set(told)) == (400, {"error"})


def test_a_refused_request_with_half_a_character_is_told_all_the_same(box: Sandbox) -> None:
    assert call(box, "POST", "/?action=otp.send&accessKeyId=k", {"to": "\ud800"})[0] == 400
    assert box.requests["outcome"].tolist() == ["refused"]
    assert [request["n"] for request in call(box, "GET", "/requests.json?brief=1")[1]["requests"]] == [1]


# -- what answers in the place of a sandbox


@contextmanager
def answering(told: Callable[[str], bytes]) -> Iterator[str]:
    """Run a program that answers as it likes, and yield its address."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            body = told(self.path)
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_DELETE = do_GET  # noqa: N815 - as the library calls them

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


ODD = [
    "{}", "[]", "7", "null", '"x"', '{"balance": "x"}', '{"messages": [{"at": 7}]}', '{"messages": 7, "requests": {}}',
    '{"balance": "1e999999999", "now": "never", "ahead": "x", "faults": [7]}', '{"error": "x", "messages": [[]]}',
]  # fmt: skip
ASKED: dict[str, Callable[[Sandbox], object]] = {
    "balance": lambda box: box.balance, "inbox": lambda box: box.inbox, "requests": lambda box: box.requests,
    "code": lambda box: box.code(US), "expect": lambda box: box.expect(to=US), "top up": lambda box: box.top_up(1),
    "advance": lambda box: box.advance(1), "ahead": lambda box: box._ahead, "faults": lambda box: box.faults,
    "at": lambda box: Sandbox.at(box.url),
}  # fmt: skip


@pytest.mark.sampled(30)
@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("asked", ASKED)
def test_what_is_no_sandbox_is_told_as_none(asked: str, odd: str) -> None:
    said = {"about": json.dumps(ABOUT).encode()}
    with answering(lambda _: said.get("about", odd.encode())) as address:
        box = Sandbox.at(address)
        said.clear()
        with contextlib.suppress(SmsOtpError):
            ASKED[asked](box)


def test_an_address_is_no_markup() -> None:
    with answering(lambda _: json.dumps(ABOUT).encode()) as address:
        shown = Sandbox.at(f'{address}/"><img src=x onerror=alert(1)>')._repr_html_()
    assert "<img" not in shown


# -- files and addresses


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes in folders")
def test_nobody_waits_for_a_pipe_in_the_place_of_a_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.json")
    with pytest.raises(UsageError, match="is a pipe or a device"):
        Sandbox(rules=Rules(templates=tmp_path / "pipe.json"))
