"""Who is let in: by the name the sandbox is called by, by the page that asks, and what waiting readers cost."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator

import pytest
from support.sockets import connected

from sandbox.test_server import BODY, JSON, SPELLINGS, get, post, talk
from smsotp_nb._sandbox import access
from smsotp_nb._sandbox.server import Server

US, FR = "+12025550123", "+33199001234"
OWN = ["/", "/inbox.css", "/inbox.js", "/openapi.json", "/sandbox.json", "/summary.json", "/inbox.json"]
OWN += ["/requests.json", "/balance.json", "/clock.json", "/faults.json", "/nothing.here"]


@pytest.fixture
def server() -> Iterator[Server]:
    running = Server()
    running.start()
    yield running
    running.close()


def status(server: Server, head: str, body: bytes = b"") -> int:
    return talk(server.port, head, body)[0]


@pytest.mark.parametrize("site", ["cross-site", "same-site", "something-new"])
@pytest.mark.parametrize("path", OWN)
def test_what_another_page_asks_for_is_refused(server: Server, path: str, site: str) -> None:
    for method in ("GET", "DELETE", "POST") if path != "/" else ("GET",):
        assert status(server, f"{method} {path} HTTP/1.1\r\nSec-Fetch-Site: {site}\r\n{JSON}") == 403


@pytest.mark.parametrize("site", ["same-origin", "none"])
def test_the_sandboxs_own_page_is_answered(server: Server, site: str) -> None:
    for path in OWN[:-1]:
        assert status(server, f"GET {path} HTTP/1.1\r\nSec-Fetch-Site: {site}\r\n") == 200


@pytest.mark.parametrize("site", ["cross-site", "same-site", "same-origin", "none"])
def test_the_operations_do_not_ask_where_a_request_comes_from(server: Server, site: str) -> None:
    assert status(server, f"{SPELLINGS[0]}Sec-Fetch-Site: {site}\r\n", BODY) == 200


OPENED = "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: {}\r\n"


def test_a_link_elsewhere_opens_the_page_and_nothing_else(server: Server) -> None:
    assert status(server, f"GET / HTTP/1.1\r\n{OPENED.format('document')}") == 200
    assert status(server, f"GET /inbox.json HTTP/1.1\r\n{OPENED.format('document')}") == 403
    assert status(server, f"GET / HTTP/1.1\r\n{OPENED.format('iframe')}") == 403


@pytest.mark.parametrize("path", [*OWN, "/faults.json?kind=flood", "/inbox.json?colour=blue"])
def test_every_answer_keeps_out_of_frames_and_other_pages(server: Server, path: str) -> None:
    _status, headers, _body = talk(server.port, f"GET {path} HTTP/1.1\r\n")
    assert headers["x-frame-options"] == "DENY"
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cross-origin-opener-policy"] == "same-origin"


@pytest.mark.parametrize(
    ("host", "name"),
    [
        ("localhost", "localhost"),
        ("LocalHost:8025", "localhost"),
        ("127.0.0.1:1", "127.0.0.1"),
        ("[::1]", "[::1]"),
        ("[::1]:80", "[::1]"),
        ("sandbox.:80", "sandbox"),
        ("127.0.0.1.evil.example:80", "127.0.0.1.evil.example"),
        ("evil.example:x", "evil.example:x"),
        ("", ""),
    ],
)
def test_a_host_is_read_without_its_port(host: str, name: str) -> None:
    assert access._bare(host) == name


@pytest.mark.parametrize(
    ("host", "is_let_in"),
    [("127.0.0.1:80", True), ("172.17.0.2:80", True), ("172.17.0.3:80", False), ("evil.example", False), ("", False)],
)
def test_the_address_that_was_reached_is_a_name_too(host: str, is_let_in: bool) -> None:
    """No page can make a browser write it as Host but one that stands there itself."""
    asked = access.Asked("GET", "/", {}, {"Host": host}, "172.17.0.2")
    assert (access.Gate().of_strangers(asked) is None) == is_let_in


# readers that wait


def waiting(server: Server, path: str) -> socket.socket:
    before = server.account.bell.waiting
    reader = connected(server.port)
    reader.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nConnection: close\r\n\r\n".encode())
    until = time.monotonic() + 120
    while server.account.bell.waiting == before:
        assert time.monotonic() < until, f"nobody waits for {path}"
        time.sleep(0.005)
    return reader


@pytest.mark.parametrize("path", ["/inbox.json?wait=60&text=HELLO", "/inbox.json?wait=60&text=55501&kind=message"])
def test_a_reader_waits_on_after_what_it_did_not_ask_for(server: Server, path: str) -> None:
    reader = waiting(server, path)
    post(server.port, "otp.send", to=FR)
    post(server.port, "sms.message.send", to=US, text="Say hello")
    with reader:
        assert b"Say hello" in b"".join(iter(lambda: reader.recv(65536), b""))


def test_readers_that_have_hung_up_are_let_go_while_messages_come(server: Server) -> None:
    for _ in range(10):
        waiting(server, "/inbox.json?wait=60&text=nobody").close()
    stop = threading.Event()

    def send() -> None:
        while not stop.is_set():
            post(server.port, "sms.message.send", to=US, text="Hi")

    sender = threading.Thread(target=send)
    sender.start()
    until = time.monotonic() + 120
    try:
        while server.account.bell.waiting:
            assert time.monotonic() < until
            time.sleep(0.05)
    finally:
        stop.set()
        sender.join()


def test_a_message_that_came_before_the_wait_is_found_at_once(server: Server) -> None:
    for number in range(3):
        post(server.port, "sms.message.send", to=[US] * 400, text=f"Round {number}")
    assert len(get(server.port, "/inbox.json?wait=60&text=Round%201")["messages"]) == 400
    newest = get(server.port, "/inbox.json?wait=60&text=Round%200&newest=1&limit=450&detail=1")["messages"]
    assert [message["n"] for message in newest] == list(range(400, 0, -1))
