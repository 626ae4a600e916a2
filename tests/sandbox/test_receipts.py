"""Delivery receipts, an extension: signed, on this machine only, delayed, tried again, and kept over a restart."""

from __future__ import annotations

import hashlib
import hmac
import http.client
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from smsotp_nb._sandbox import Sandbox
from smsotp_nb.errors import UsageError

US, FR = "+12025550123", "+33199001234"
FAILED, NONE, TWICE = "+19075550140", "+19075550141", "+19075550142"
SECRET = "a-secret-of-mine"


class Receiver:
    """An HTTP server that keeps what is posted to it and answers with the statuses of a script, then with 204."""

    def __init__(self) -> None:
        self.got: list[tuple[dict[str, str], bytes]] = []
        self.statuses: list[int] = []
        self.strays: list[str] = []
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.got.append(({name.lower(): value for name, value in self.headers.items()}, body))
                self.send_response(receiver.statuses.pop(0) if receiver.statuses else 204)
                self.send_header("Location", "/elsewhere")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def do_GET(self) -> None:
                receiver.strays.append(self.path)
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                return

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/receipts"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def told(self) -> list[dict[str, Any]]:
        return [json.loads(body) for _, body in self.got]

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with closing(Receiver()) as made:
        yield made


@pytest.fixture
def box() -> Iterator[Sandbox]:
    with Sandbox() as running:
        yield running


def wait_for(found: Callable[[], bool], seconds: float = 30) -> None:
    until = time.monotonic() + seconds
    while not found():
        assert time.monotonic() < until
        time.sleep(0.02)


def send(box: Sandbox, *numbers: str) -> None:
    box.client().send_message(list(numbers), text="Hi")


def test_every_message_gets_a_signed_receipt(box: Sandbox, receiver: Receiver) -> None:
    box.send_receipts(receiver.url, secret=SECRET, delay=0)
    send(box, US, FR)
    wait_for(lambda: box.receipts["posted"] == 2)
    by_number = {told["to"]: told for told in receiver.told()}
    assert set(by_number) == {US, FR}
    ids = dict(zip(box.inbox["to"], box.inbox["id"], strict=True))
    assert {told["to"]: told["id"] for told in receiver.told()} == ids
    assert {told["status"] for told in receiver.told()} == {"delivered"}
    for headers, body in receiver.got:
        signed = f"{headers['x-sandbox-timestamp']}.".encode() + body
        assert headers["x-sandbox-signature"] == hmac.new(SECRET.encode(), signed, hashlib.sha256).hexdigest()
        assert abs(time.time() - int(headers["x-sandbox-timestamp"])) < 60
        assert headers["x-sandbox-extension"] == json.loads(body)["extension"] == "not part of the interface"
        assert headers["content-type"] == "application/json"


def test_a_receipt_comes_when_the_sandboxs_clock_says_so(box: Sandbox, receiver: Receiver) -> None:
    box.send_receipts(receiver.url, secret=SECRET, delay=600)
    send(box, US)
    time.sleep(0.4)
    assert receiver.got == []
    box.advance(601)
    wait_for(lambda: len(receiver.got) == 1)


def test_a_receipt_that_is_not_answered_is_posted_again_and_given_up_in_the_end(
    box: Sandbox, receiver: Receiver
) -> None:
    box.send_receipts(receiver.url, secret=SECRET, delay=0, retries=2, pause=0.01)
    receiver.statuses = [500, 302, 200, 400, 404, 500]
    send(box, US)
    wait_for(lambda: box.receipts["posted"] == 1)
    assert [headers["x-sandbox-attempt"] for headers, _ in receiver.got] == ["1", "2", "3"]
    send(box, FR)
    wait_for(lambda: box.receipts["given_up"] == 1)
    (given_up, _) = box.receipts["receipts"]
    assert (given_up["to"], given_up["attempts"], given_up["error"]) == (FR, 3, "answered with 500")
    assert len(receiver.got) == 6
    assert receiver.strays == [], "a redirect could lead off this machine"


def test_the_pause_doubles(box: Sandbox, receiver: Receiver) -> None:
    box.send_receipts(receiver.url, secret=SECRET, delay=0, retries=3, pause=1000)
    receiver.statuses = [500] * 4
    send(box, US)
    for attempts, seconds in ((1, 1001), (2, 2001), (3, 4001)):
        wait_for(lambda attempts=attempts: box.receipts["receipts"][0]["attempts"] == attempts)  # type: ignore[misc]
        time.sleep(0.3)
        assert len(receiver.got) == attempts
        box.advance(seconds)
    wait_for(lambda: box.receipts["given_up"] == 1)


def test_a_receiver_that_is_not_there_is_said_in_words(box: Sandbox) -> None:
    box.send_receipts("http://127.0.0.1:9/", secret=SECRET, delay=0, retries=0)
    send(box, US)
    wait_for(lambda: box.receipts["given_up"] == 1)
    assert "not answered" in box.receipts["receipts"][0]["error"]


def test_reserved_numbers_fail_stay_away_and_come_twice(box: Sandbox, receiver: Receiver) -> None:
    box.send_receipts(receiver.url, secret=SECRET, delay=0)
    send(box, FAILED, NONE, TWICE)
    wait_for(lambda: box.receipts["waiting"] == 0)
    found = sorted((told["to"], told["status"]) for told in receiver.told())
    assert found == [(FAILED, "failed"), (TWICE, "delivered"), (TWICE, "delivered")]
    assert box.receipts["withheld"] == 1


def test_they_are_off_until_they_are_asked_for_and_can_be_stopped(box: Sandbox, receiver: Receiver) -> None:
    send(box, US)
    assert box.receipts["callback"] is None
    box.send_receipts(receiver.url, secret=SECRET, delay=60)
    send(box, FR)
    assert box.receipts["waiting"] == 1
    box.stop_receipts()
    box.advance(100)
    send(box, US)
    time.sleep(0.4)
    assert (receiver.got, box.receipts["waiting"]) == ([], 0)


def test_clearing_the_inbox_forgets_its_receipts(box: Sandbox, receiver: Receiver) -> None:
    box.send_receipts(receiver.url, secret=SECRET, delay=60)
    send(box, US)
    box.clear()
    assert (box.receipts["waiting"], box.receipts["receipts"]) == (0, [])


ELSEWHERE = [
    "http://example.org/", "https://127.0.0.1/", "http://127.0.0.1.example.org/", "http://127.0.0.1@example.org/",
    "http://user@127.0.0.1/", "http://10.0.0.1/", "http://[::2]/", "http://0.0.0.0/", "ftp://127.0.0.1/", "file:///etc/passwd",
    "http://127.0.0.1:99999/", "http://localhost.example.org/", "http:///x", "", "http://[", "http://2130706433/",
    "http://127.0.0.1\\@example.org/", "http://127.0.0.1/\r\nX: y", "x" * 3000,
]  # fmt: skip


@pytest.mark.parametrize("url", ELSEWHERE)
def test_nothing_is_posted_off_this_machine(box: Sandbox, url: str) -> None:
    with pytest.raises(UsageError, match="an address on this machine"):
        box.send_receipts(url, secret=SECRET)


def test_localhost_is_this_machine_whatever_the_file_of_names_says(box: Sandbox, receiver: Receiver) -> None:
    box.send_receipts(receiver.url.replace("127.0.0.1", "localhost"), secret=SECRET, delay=0)
    send(box, US)
    wait_for(lambda: len(receiver.got) == 1)
    assert receiver.got[0][0]["host"].startswith("127.0.0.1:")


def test_the_sandbox_does_not_post_to_itself(box: Sandbox) -> None:
    with pytest.raises(UsageError, match="the sandbox itself"):
        box.send_receipts(f"{box.url}/?action=otp.send&accessKeyId=k", secret=SECRET)


@pytest.mark.parametrize(
    "settings",
    [
        {"secret": "short"},
        {"secret": 5},
        {"delay": -1},
        {"delay": True},
        {"retries": 11},
        {"retries": 1.5},
        {"colour": 1},
    ],
    ids=str,
)
def test_a_setting_that_cannot_be_used_is_refused(box: Sandbox, settings: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        box.send_receipts("http://127.0.0.1:9/", **{"secret": SECRET, **settings})
    assert box.receipts["callback"] is None


def test_the_secret_is_shown_nowhere_and_a_page_of_another_address_asks_for_nothing(box: Sandbox) -> None:
    box.send_receipts("http://127.0.0.1:9/", secret=SECRET)
    assert SECRET not in json.dumps(box.receipts)
    with closing(http.client.HTTPConnection("127.0.0.1", int(box.url.rpartition(":")[2]), timeout=30)) as connection:
        headers = {"Content-Type": "application/json", "Origin": "https://evil.example"}
        connection.request(
            "POST", "/receipts.json", json.dumps({"url": "http://127.0.0.1:9/", "secret": SECRET}), headers
        )
        assert connection.getresponse().status == 403


def test_a_state_file_keeps_what_waits(tmp_path: Path, receiver: Receiver) -> None:
    with Sandbox(state=tmp_path / "box.sqlite") as box:
        box.send_receipts(receiver.url, secret=SECRET, delay=600)
        send(box, US)
        box.advance(0)
        assert receiver.got == []
    with Sandbox(state=tmp_path / "box.sqlite") as box:
        assert box.receipts["waiting"] == 1
        box.advance(601)
        wait_for(lambda: len(receiver.got) == 1)


def test_tenants_have_receipts_of_their_own(receiver: Receiver) -> None:
    with Sandbox(tenants=True) as box:
        one, two = box.tenant("one"), box.tenant("two")
        one.send_receipts(receiver.url, secret=SECRET, delay=0)
        send(two, FR)
        send(one, US)
        wait_for(lambda: one.receipts["posted"] == 1)
        assert [told["to"] for told in receiver.told()] == [US]
        one.close()


def test_a_receiver_that_never_answers_does_not_hold_up_the_end() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent, Sandbox() as box:
        box.send_receipts(f"http://127.0.0.1:{silent.getsockname()[1]}/", secret=SECRET, delay=0)
        send(box, US)
        silent.settimeout(20)
        connection, _ = silent.accept()
        began = time.monotonic()
        box.close()
        assert time.monotonic() - began < 5
        connection.close()
