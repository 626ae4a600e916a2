"""Who reaches the sandbox: by which names, from which pages, with which token."""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from kills.child import fork
from support.sockets import connected, port_of, without_token

from sandbox.test_server import BODY, JSON, SPELLINGS, US, command, talk
from smsotp_nb import Sandbox
from smsotp_nb import __main__ as cli
from smsotp_nb.errors import SmsOtpError, UsageError

STATE = "GET /state.json?messages_after=0&requests_after=0 HTTP/1.1\r\n"
ACT = "POST /act.json HTTP/1.1\r\n" + JSON
CLEAR = b'{"do": "clear"}'
OPERATE = SPELLINGS[0]
PAGE = [f"GET {path} HTTP/1.1\r\n" for path in ("/", "/inbox.css", "/inbox.js")]


@pytest.fixture
def far() -> Iterator[Sandbox]:
    """A sandbox that listens everywhere, as in a container called ``sandbox``."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        running = Sandbox(host="0.0.0.0", allow_hosts=["sandbox"])
    with running:
        yield running


def test_the_operations_and_the_page_need_no_token(far: Sandbox) -> None:
    for host in ("sandbox", "sandbox:1", "SANDBOX:8025", "sandbox.", "localhost", f"127.0.0.1:{port_of(far)}"):
        assert talk(port_of(far), OPERATE, BODY, host=host)[0] == 200
        for head in PAGE:
            assert talk(port_of(far), head, host=host)[0] == 200


@pytest.mark.parametrize(("head", "body"), [(STATE, b""), (ACT, CLEAR)], ids=["state", "act"])
@pytest.mark.parametrize("is_far", [True, False])
def test_everything_that_reads_or_controls_asks_for_the_token(
    far: Sandbox, box: Sandbox, head: str, body: bytes, is_far: bool
) -> None:
    """Other users of this machine reach the port, too."""
    asked = far if is_far else box
    asked.client().send_otp(US)
    port = port_of(asked)
    for wrong in ("", "Authorization: Bearer wrong\r\n", f"Authorization: Basic {asked.token}\r\n"):
        status, headers, reply = talk(port, head + wrong, body)
        assert (status, headers["www-authenticate"]) == (401, "Bearer")
        assert "show its token" in json.loads(reply)["error"]
    assert len(asked.inbox) == 1
    assert talk(port, f"{head}Authorization: Bearer {asked.token}\r\n", body)[0] == 200


def test_a_token_in_the_address_is_none(box: Sandbox) -> None:
    """An address stands in histories and logs."""
    assert talk(port_of(box), f"GET /state.json?token={box.token} HTTP/1.1\r\n")[0] == 401


def test_what_the_command_serves_on_this_machine_asks_for_none() -> None:
    with without_token() as box:
        assert talk(port_of(box), STATE)[0] == 200
        assert talk(port_of(box), ACT, CLEAR)[0] == 200


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() != 0, reason="only root becomes another user")
def test_the_own_processes_of_a_user_need_no_token_and_another_user_reads_nothing() -> None:
    with Sandbox() as box:
        box.client().send_otp(US)

        def look() -> int | str:
            try:
                return len(Sandbox.at(box.url).inbox)
            except UsageError as error:
                return str(error)

        def as_nobody() -> int | str:
            os.setuid(65_534)
            return look()

        assert fork(look).result() == 1
        assert "show its token" in str(fork(as_nobody).result())
    with pytest.raises(SmsOtpError):
        Sandbox.at(box.url)


@pytest.mark.parametrize("odd", [b"Bearer \xff", b"Bearer \xed\xa0\x80", b"\xff", b"Bearer"], ids=repr)
def test_bytes_that_are_no_text_are_no_token(odd: bytes, box: Sandbox, caplog: pytest.LogCaptureFixture) -> None:
    with connected(port_of(box)) as line:
        line.sendall(STATE.encode() + b"Host: localhost\r\nConnection: close\r\nAuthorization: " + odd + b"\r\n\r\n")
        assert line.recv(1_000).startswith(b"HTTP/1.1 401")
    assert caplog.records == []


UNUSABLE_TOKENS = {
    "no ASCII": "é",
    "a blank": "a b",
    "too long": "x" * 100_000,
    "half a character": "\ud800",
    "a line break": "a\nb",
    "a zero byte": "a\0",
    "empty": "",
    "a number": 10**5_000,
    "bytes": b"abc",
}


@pytest.mark.parametrize("case", UNUSABLE_TOKENS)
def test_a_token_that_no_header_carries_is_refused_and_not_repeated(case: str) -> None:
    token: Any = UNUSABLE_TOKENS[case]
    for call_it in (lambda: Sandbox(token=token), lambda: Sandbox.at("http://127.0.0.1:9", token=token)):
        with pytest.raises(UsageError, match=r"token= must be 1 to 200 characters of ASCII without blanks") as caught:
            call_it()
        assert len(str(caught.value)) < 200


def test_every_character_of_ascii_may_be_part_of_a_token() -> None:
    with Sandbox(token="".join(map(chr, range(0x21, 0x7F)))) as box:
        assert len(box.inbox) == 0


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "sandbox.evil.example", "10.9.8.7:80", ""])
def test_no_foreign_name_is_let_in_anywhere(far: Sandbox, host: str) -> None:
    """A page whose name was made to point here (rebinding) calls the sandbox by that name, token or not."""
    bearer = f"Authorization: Bearer {far.token}\r\n"
    for head in (STATE, *PAGE):
        assert talk(port_of(far), head + bearer, host=host)[0] == 403
    assert talk(port_of(far), ACT + bearer, CLEAR, host=host)[0] == 403
    assert talk(port_of(far), OPERATE, BODY, host=host)[0] == 403
    assert far.inbox.empty


def test_a_page_of_another_address_is_turned_away(box: Sandbox) -> None:
    own = f"127.0.0.1:{port_of(box)}"
    for origin in ("https://evil.example", "null", "http://127.0.0.1:1", f"https://{own}"):
        for head, body in ((OPERATE, BODY), (STATE, b""), (ACT, CLEAR)):
            assert talk(box, f"{head}Origin: {origin}\r\n", body)[0] == 403
    assert box.inbox.empty
    assert talk(box, f"{STATE}Origin: http://{own}\r\n")[0] == 200


def test_only_json_is_taken(box: Sandbox) -> None:
    """A page elsewhere could send text/plain without asking the browser first."""
    for content_type in ("", "Content-Type: text/plain\r\n"):
        assert talk(box, "POST /act.json HTTP/1.1\r\n" + content_type, CLEAR)[0] == 400
        head = "POST /?action=sms.message.send&accessKeyId=k HTTP/1.1\r\n"
        assert talk(box, head + content_type, BODY)[0] == 400


def test_the_page_loads_nothing_from_elsewhere_and_stands_in_no_frame(box: Sandbox) -> None:
    for head in (*PAGE, STATE):
        headers = talk(box, head)[1]
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert headers["content-security-policy"].startswith("default-src 'none'")
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"


def test_a_sandbox_with_a_token_is_reached_from_python(far: Sandbox) -> None:
    with Sandbox.at(far.url, token=far.token) as box, box.client() as client:
        client.send_otp(US, code="4711")
        assert box.code(US) == "4711"
        assert str(far.token) not in repr(box) + str(vars(box))
    with Sandbox(token="mine") as other, pytest.raises(UsageError, match="token"):
        Sandbox.at(other.url, token=far.token)


# -- on the command line

TAKEN = "--host=192.0.2.1"  # no sandbox can listen there: the command ends in any case, with other words
FILES = {
    "two lines": (b"one\ntwo\n", "the token in --token-file must be 1 to 200 characters"),
    "no ASCII": ("é".encode(), "the token in --token-file must be 1 to 200 characters"),
    "no text": (b"\xff\xfe", "it is no text in UTF-8"),
    "empty": (b"\n", "is empty"),
}


@pytest.mark.parametrize("case", FILES)
def test_a_file_without_a_usable_token_ends_the_command(
    case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content, words = FILES[case]
    (tmp_path / "token").write_bytes(content)
    assert cli.main(["sandbox", TAKEN, "--token-file", str(tmp_path / "token")]) == 2
    assert words in capsys.readouterr().err


def test_an_unusable_token_of_the_environment_ends_the_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SMSOTP_SANDBOX_TOKEN", "one two")
    assert cli.main(["sandbox", TAKEN]) == 2
    assert "SMSOTP_SANDBOX_TOKEN must be 1 to 200 characters of ASCII" in capsys.readouterr().err


def test_the_command_prints_the_token_where_others_reach_it() -> None:
    with command("--host", "0.0.0.0", "--allow-host", "sandbox") as (lines, url, _):
        token = next(line for line in lines if "/#" in line).strip().rpartition("#")[2]
        assert Sandbox.at(url, token=token).balance == 1000
