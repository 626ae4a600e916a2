"""Who reaches the sandbox: names, token, what is malformed, and a start without pandas."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import socket
import subprocess
import sys
import textwrap
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from kills.child import fork
from support.sockets import call, connected, port_of

from sandbox.test_desk import SECRET
from sandbox.test_server import BODY, JSON, SPELLINGS, US, talk
from smsotp_nb import Sandbox
from smsotp_nb import __main__ as cli
from smsotp_nb.errors import SmsOtpError, UsageError

READING = ["/inbox.json", "/requests.json", "/sandbox.json", "/summary.json", "/balance.json", "/clock.json"]
READING += ["/faults.json", "/openapi.json", "/"]


@pytest.fixture
def far() -> Iterator[Sandbox]:
    """A sandbox that listens everywhere, as in a container called ``sandbox``."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        running = Sandbox(host="0.0.0.0", allow_hosts=["sandbox"])
    with running:
        yield running


def status(box: Sandbox, path: str, *headers: str, host: str = "sandbox:8025") -> int:
    lines = "".join(f"{header}\r\n" for header in headers)
    return talk(port_of(box), f"GET {path} HTTP/1.1\r\n{lines}", host=host)[0]


def test_the_operations_need_no_token(far: Sandbox) -> None:
    for host in ("sandbox", "sandbox:1", "SANDBOX:8025", "localhost", f"127.0.0.1:{port_of(far)}"):
        assert talk(port_of(far), SPELLINGS[0], BODY, host=host)[0] == 200


@pytest.mark.parametrize("path", READING)
def test_everything_that_reads_asks_for_the_token(far: Sandbox, path: str) -> None:
    assert status(far, path) == 401
    assert status(far, path, "Authorization: Bearer wrong") == 401
    assert status(far, f"{path}?token=wrong") == 401
    assert status(far, path, "Cookie: smsotp-sandbox=wrong") == 401
    assert status(far, path, f"Authorization: Bearer {far.token}") == 200
    assert status(far, f"{path}?token={far.token}") == 200


@pytest.mark.parametrize("path", READING)
def test_a_token_keeps_the_inbox_from_other_users_of_this_machine(path: str) -> None:
    """Any of them reaches the port; the operations and its own handle need nothing."""
    with Sandbox() as box:
        port = int(box.url.rsplit(":", 1)[1])
        box.client().send_otp("+12025550123")
        assert len(box.inbox) == 1
        asked = f"GET {path} HTTP/1.1\r\n"
        assert talk(port, asked, host=f"127.0.0.1:{port}")[0] == 401
        bearer = f"{asked}Authorization: Bearer {box.token}\r\n"
        assert talk(port, bearer, host=f"127.0.0.1:{port}")[0] == 200


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() != 0, reason="only root becomes another user")
def test_the_own_processes_of_a_user_need_no_token_and_another_user_reads_nothing() -> None:
    with Sandbox() as box:
        box.client().send_otp("+12025550123")

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


PRINTABLE = "".join(map(chr, range(0x21, 0x7F)))
ODD_BYTES = {
    "bearer": b"Authorization: Bearer \xff",
    "cookie": b"Cookie: smsotp-sandbox-PORT=\xff",
    "both": b"Authorization: Bearer \xed\xa0\x80\r\nCookie: smsotp-sandbox-PORT=\xc3",
    "origin": b"Authorization: Bearer \xff\r\nReferer: \xff",
}


@pytest.mark.parametrize("case", ODD_BYTES)
def test_bytes_that_are_no_text_are_no_token(case: str, caplog: pytest.LogCaptureFixture) -> None:
    with Sandbox(token="a-token-of-nobody") as box:
        port = box.url.rpartition(":")[2].encode()
        head = ODD_BYTES[case].replace(b"PORT", port)
        with connected(int(port)) as line:
            line.sendall(b"GET /inbox.json HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + head + b"\r\n\r\n")
            assert line.recv(1_000).startswith(b"HTTP/1.1 401")
    assert caplog.records == []


def test_a_body_that_is_not_as_its_headers_say_is_one_line_of_the_log(
    box: Sandbox, caplog: pytest.LogCaptureFixture
) -> None:
    head = "POST /expect.json HTTP/1.1\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\n"
    assert talk(box, head, b"{}")[0] == 400
    assert talk(box, f"GET{head[4:]}", b"{}")[0] == 405
    assert all(record.exc_info is None for record in caplog.records)


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
    for call_it in (lambda: Sandbox(token=token), lambda: Sandbox.at(URL, token=token)):
        with pytest.raises(UsageError, match=r"token= must be 1 to 200 characters of ASCII without blanks") as caught:
            call_it()
        assert len(str(caught.value)) < 200


URL = "http://127.0.0.1:9"


def test_every_sign_of_ascii_is_part_of_a_token(tmp_path: Path) -> None:
    """In the header, in an address and in the page's cookie."""
    with Sandbox(token=PRINTABLE) as box:
        assert len(box.inbox) == 0
        port = int(box.url.rpartition(":")[2])
        code, headers, _ = talk(port, f"GET /?token={quote(PRINTABLE, safe='')} HTTP/1.1\r\n")
        kept = f"Cookie: {headers['set-cookie'].partition('; HttpOnly')[0]}"
        assert (code, talk(port, f"GET / HTTP/1.1\r\n{kept}\r\n")[0]) == (200, 200)
    (tmp_path / "token").write_text(PRINTABLE)
    with command("--token-file", str(tmp_path / "token")) as (lines, url):
        address = next(line for line in lines if "token=" in line).split()[-1]
        asked = address.removeprefix(url)
        assert talk(int(url.rpartition(":")[2]), f"GET {asked} HTTP/1.1\r\n")[0] == 200


# No sandbox can listen there: a command that took its options by mistake ends as well, with other words.
TAKEN = "--host=192.0.2.1"
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
    content, said = FILES[case]
    (tmp_path / "token").write_bytes(content)
    assert cli.main(["sandbox", TAKEN, "--token-file", str(tmp_path / "token")]) == 2
    assert said in capsys.readouterr().err


def test_an_unusable_token_of_the_environment_ends_the_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SMSOTP_SANDBOX_TOKEN", "one two")
    assert cli.main(["sandbox", TAKEN]) == 2
    assert "SMSOTP_SANDBOX_TOKEN must be 1 to 200 characters of ASCII" in capsys.readouterr().err


def test_every_token_is_its_own(far: Sandbox) -> None:
    with Sandbox(token="mine") as other, pytest.raises(UsageError, match="token"):
        Sandbox.at(other.url, token=far.token)
    assert len(str(far.token)) >= 32


def test_the_page_asks_for_the_token_and_remembers_it(far: Sandbox) -> None:
    code, _headers, body = talk(port_of(far), "GET / HTTP/1.1\r\n")
    assert (code, b'name="token"' in body) == (401, True)
    code, headers, _body = talk(port_of(far), f"GET /?token={far.token} HTTP/1.1\r\n")
    cookie = headers["set-cookie"]
    assert (code, headers["refresh"]) == (200, "0; url=/")
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    kept, host = f"Cookie: {cookie.partition(';')[0]}", "sandbox:8025"
    assert status(far, "/", kept) == 200
    assert status(far, "/inbox.json", kept, "Sec-Fetch-Site: same-origin") == 200
    assert status(far, "/inbox.json", kept, f"Referer: http://{host}/") == 200
    assert status(far, "/inbox.json", kept, "Referer: http://sandbox:9/") == 401, "another port of this host"
    assert status(far, "/inbox.json", kept) == 401, "a page that hides where it is"


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "sandbox.evil.example", "10.9.8.7:80", ""])
def test_no_foreign_name_is_let_in_anywhere(far: Sandbox, host: str) -> None:
    """A page whose name was made to point here (rebinding) calls the sandbox by that name, token or not."""
    for path in ("/", "/inbox.json"):
        assert status(far, path, f"Authorization: Bearer {far.token}", host=host) in {400, 403}
    assert talk(port_of(far), SPELLINGS[0], BODY, host=host)[0] in {400, 403}
    assert far.inbox.empty


def test_a_sandbox_with_a_token_is_reached_from_python(far: Sandbox) -> None:
    with Sandbox.at(far.url, token=far.token) as box, box.client() as client:
        client.send_otp(US, code="4711")
        assert box.code(US) == "4711"
        assert str(far.token) not in repr(box) + str(vars(box))


# what is malformed


def test_refusals_of_the_operations_come_in_their_envelope(box: Sandbox) -> None:
    for head, host, code, known in (
        (SPELLINGS[0], "evil.example", 403, "105001"),
        (SPELLINGS[0] + "Origin: https://evil.example\r\n", None, 403, "105001"),
        (SPELLINGS[0].replace("POST /?", "POST /v2/?"), None, 404, "104002"),
        (SPELLINGS[0].replace("POST /?", "PUT /sms?"), None, 404, "104002"),
    ):
        found, headers, body = talk(box, head, BODY, host=host)
        envelope = json.loads(body)
        assert (found, envelope["code"]) == (code, known)
        assert envelope["message"]
        assert len(headers["x-uni-request-id"]) == 32


def test_the_request_id_is_spelled_as_one_client_compares_it(box: Sandbox) -> None:
    with connected(port_of(box)) as connection:
        head = f"{SPELLINGS[0]}Host: 127.0.0.1\r\nConnection: close\r\nContent-Length: {len(BODY)}\r\n\r\n"
        connection.sendall(head.encode() + BODY)
        assert b"\r\nX-Uni-Request-Id: " in b"".join(iter(lambda: connection.recv(65536), b""))


@pytest.mark.parametrize("coding", ["gzip", "deflate"])
def test_a_body_that_is_not_as_its_headers_say_is_refused(box: Sandbox, coding: str) -> None:
    found, _headers, body = talk(box, f"{SPELLINGS[0]}Content-Encoding: {coding}\r\n", BODY)
    assert (found, json.loads(body)["code"]) == (400, "104002")
    assert talk(box, f"POST /faults.json HTTP/1.1\r\n{JSON}Content-Encoding: {coding}\r\n", BODY)[0] == 400


WRONG_FAULTS: list[Any] = [{"kind": ["a"]}, {"kind": {}}, {"kind": None}, {"kind": 5}, {"kind": "half", "action": []}]
WRONG_FAULTS += [{"kind": "half", "share": "x"}, {"kind": "half", "next": [1]}, {"kind": "latency", "seconds": {}}]


@pytest.mark.parametrize("wrong", WRONG_FAULTS, ids=json.dumps)
def test_a_wrong_fault_is_refused_in_words(box: Sandbox, wrong: Any) -> None:
    code, found = call(box, "POST", "/faults.json", wrong)
    assert code == 400
    assert found["error"]


@pytest.mark.parametrize("garbage", [b"\x16\x03\x01\x00\xa5", b"GET\r\n\r\n", b"\0" * 100 + b"\r\n"])
def test_a_malformed_request_is_one_line_in_the_log(
    box: Sandbox, garbage: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO), connected(port_of(box)) as connection:
        connection.sendall(garbage)
        connection.shutdown(socket.SHUT_WR)
        connection.recv(65536)
        time.sleep(0.2)
    assert all(record.exc_info in (None, (None, None, None)) for record in caplog.records)
    assert all("\n" not in record.getMessage() for record in caplog.records)
    assert len(caplog.records) <= 1


@pytest.mark.parametrize("data", [True, False, 1, 0, "text", ["a"], 0.5])
def test_template_data_of_the_wrong_kind_is_refused_beside_a_text(box: Sandbox, data: Any) -> None:
    fields = {"to": US, "text": "x", "templateData": data}
    code, envelope = call(box, "POST", "/?action=sms.message.send&accessKeyId=k", fields)
    assert (code, envelope["code"]) == (400, "104002")


@pytest.mark.parametrize("data", [None, "", [], {}, {"name": "Anna"}])
def test_template_data_that_is_empty_or_an_object_is_taken_beside_a_text(box: Sandbox, data: Any) -> None:
    fields = {"to": US, "text": "x", "templateData": data}
    assert call(box, "POST", "/?action=sms.message.send&accessKeyId=k", fields)[0] == 200


# on the command line


@contextlib.contextmanager
def command(*options: str, env: dict[str, str] | None = None) -> Iterator[tuple[list[str], str]]:
    """Run ``smsotp-nb sandbox`` and yield the lines it says and its address."""
    started = [sys.executable, "-W", "ignore", "-m", "smsotp_nb", "sandbox", *options]
    with subprocess.Popen(started, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env) as process:
        try:
            assert process.stdout is not None
            lines: list[str] = []
            while not lines or "Ctrl-C" not in lines[-1]:
                lines.append(process.stdout.readline())
                assert lines[-1], process.stderr and process.stderr.read()
            yield lines, lines[0].split()[-1]
        finally:
            process.kill()


def test_the_command_switches_rules_and_reads_secrets_from_files(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text(f"{SECRET}\n")
    with command("--hmac-secret-file", str(tmp_path / "secret")) as (_, url):
        assert talk(int(url.rpartition(":")[2]), SPELLINGS[0], BODY)[0] == 400, "unsigned"
    with command("--attempts", "1") as (_, url), Sandbox.at(url).client() as client:
        client.send_otp(US, code="4711")
        assert [client.verify_otp(US, code).valid for code in ("1147", "4711")] == [False, False]


def test_the_command_prints_the_token() -> None:
    with command("--host", "0.0.0.0", "--allow-host", "sandbox") as (lines, url):
        token = next(line for line in lines if "token=" in line).strip().rpartition("=")[2]
        assert Sandbox.at(url, token=token).balance == 1000


LIGHT = """
    import sys, importlib.abc
    HEAVY = {"pandas", "numpy", "requests", "tenacity", "httptools", "ipywidgets", "tqdm", "matplotlib"}
    class Refuse(importlib.abc.MetaPathFinder):
        def find_spec(self, name, path, target=None):
            if name.partition(".")[0] in HEAVY:
                raise ModuleNotFoundError(name)
    sys.meta_path.insert(0, Refuse())
    from smsotp_nb import _cli as cli
    import smsotp_nb._sandbox.server
    print([name for name in (*HEAVY, "phonenumbers", "pyarrow") if name in sys.modules], flush=True)
    sys.exit(cli.main(["sandbox"]))
"""


def test_the_sandbox_starts_and_serves_where_pandas_is_not_installed() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(LIGHT)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "[]\n", process.stderr and process.stderr.read()
            port = int(process.stdout.readline().rpartition(":")[2])
            assert talk(port, SPELLINGS[0], BODY)[0] == 200
            for path in [*READING, "/inbox.json?detail=1"]:
                assert talk(port, f"GET {path} HTTP/1.1\r\n")[0] == 200, path
            expected = json.dumps({"text~": "H."}).encode()
            assert talk(port, f"POST /expect.json HTTP/1.1\r\n{JSON}", expected)[0] == 200
        finally:
            process.kill()
