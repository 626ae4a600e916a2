"""Who is let in: by the name the sandbox is called by, by the page that asks, and what waiting readers cost."""

from __future__ import annotations

import socket
import threading
import warnings
from collections.abc import Iterator

import pytest
from support.sockets import port_of

from sandbox.test_server import BODY, JSON, SPELLINGS, get, post, talk
from smsotp_nb import Sandbox

US, FR = "+12025550123", "+33199001234"
OWN = ["/", "/inbox.css", "/inbox.js", "/openapi.json", "/sandbox.json", "/summary.json", "/inbox.json"]
OWN += ["/requests.json", "/balance.json", "/clock.json", "/faults.json", "/nothing.here"]


@pytest.fixture(scope="module")
def everywhere() -> Iterator[Sandbox]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        running = Sandbox(host="0.0.0.0", allow_hosts=["sandbox"])
    with running:
        yield running


def status(box: Sandbox, head: str, body: bytes = b"") -> int:
    return talk(box, head, body)[0]


@pytest.mark.parametrize("site", ["cross-site", "same-site", "something-new"])
@pytest.mark.parametrize("path", OWN)
def test_what_another_page_asks_for_is_refused(box: Sandbox, path: str, site: str) -> None:
    for method in ("GET", "DELETE", "POST") if path != "/" else ("GET",):
        assert status(box, f"{method} {path} HTTP/1.1\r\nSec-Fetch-Site: {site}\r\n{JSON}") == 403


@pytest.mark.parametrize("site", ["same-origin", "none"])
def test_the_sandboxs_own_page_is_answered(box: Sandbox, site: str) -> None:
    for path in OWN[:-1]:
        assert status(box, f"GET {path} HTTP/1.1\r\nSec-Fetch-Site: {site}\r\n") == 200


@pytest.mark.parametrize("site", ["cross-site", "same-site", "same-origin", "none"])
def test_the_operations_do_not_ask_where_a_request_comes_from(box: Sandbox, site: str) -> None:
    assert status(box, f"{SPELLINGS[0]}Sec-Fetch-Site: {site}\r\n", BODY) == 200


OPENED = "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: {}\r\n"


def test_a_link_elsewhere_opens_the_page_and_nothing_else(box: Sandbox) -> None:
    assert status(box, f"GET / HTTP/1.1\r\n{OPENED.format('document')}") == 200
    assert status(box, f"GET /inbox.json HTTP/1.1\r\n{OPENED.format('document')}") == 403
    assert status(box, f"GET / HTTP/1.1\r\n{OPENED.format('iframe')}") == 403


@pytest.mark.parametrize("path", [*OWN, "/faults.json?kind=flood", "/inbox.json?colour=blue"])
def test_every_answer_keeps_out_of_frames_and_other_pages(box: Sandbox, path: str) -> None:
    _status, headers, _body = talk(box, f"GET {path} HTTP/1.1\r\n")
    assert headers["x-frame-options"] == "DENY"
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cross-origin-opener-policy"] == "same-origin"


@pytest.mark.parametrize(
    ("host", "is_let_in"),
    [
        ("localhost", True),
        ("LocalHost:8025", True),
        ("127.0.0.1:1", True),
        ("[::1]", True),
        ("[::1]:80", True),
        ("sandbox.:80", True),
        ("127.0.0.2:80", True),
        ("127.0.0.3:80", False),
        ("127.0.0.2.evil.example:80", False),
        ("evil.example:x", False),
        ("", False),
    ],
)
def test_a_host_is_a_name_of_the_sandbox_or_the_address_that_was_reached(
    everywhere: Sandbox, host: str, is_let_in: bool
) -> None:
    """No page can make a browser write that address as Host but one that stands there itself."""
    with socket.create_connection(("127.0.0.2", port_of(everywhere)), timeout=120) as connection:
        head = f"{SPELLINGS[0]}Host: {host}\r\nConnection: close\r\nContent-Length: {len(BODY)}\r\n\r\n"
        connection.sendall(head.encode() + BODY)
        assert (connection.recv(65536)[9:12] == b"200") == is_let_in


# readers that wait


@pytest.mark.parametrize("path", ["/inbox.json?wait=60&text=HELLO", "/inbox.json?wait=60&text=55501&kind=message"])
def test_a_reader_waits_on_after_what_it_did_not_ask_for(box: Sandbox, path: str) -> None:
    def send() -> None:
        post(box, "otp.send", to=FR)
        post(box, "sms.message.send", to=US, text="Say hello")

    sender = threading.Timer(0.3, send)
    sender.start()
    (message,) = get(box, path)["messages"]
    sender.join()
    assert message["text"] == "Say hello"


def test_a_message_that_came_before_the_wait_is_found_at_once(box: Sandbox) -> None:
    for number in range(3):
        post(box, "sms.message.send", to=[US] * 400, text=f"Round {number}")
    assert len(get(box, "/inbox.json?wait=60&text=Round%201")["messages"]) == 400
    newest = get(box, "/inbox.json?wait=60&text=Round%200&newest=1&limit=450&detail=1")["messages"]
    assert [message["n"] for message in newest] == list(range(400, 0, -1))
