"""The sandbox over a real socket: how clients in the field speak, who is turned away, and what outlives a kill."""

from __future__ import annotations

import contextlib
import json
import logging
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.sockets import connected, port_of

from smsotp_nb import Sandbox
from smsotp_nb.errors import UsageError

US, FR = "+12025550123", "+33199001234"
JSON = "Content-Type: application/json\r\n"


def talk(
    at: int | Sandbox, head: str, body: bytes = b"", *, host: str | None = None
) -> tuple[int, dict[str, str], bytes]:
    """Send literal bytes and read one reply until the server closes: status, headers in lower case, body.

    To a sandbox itself with its token, to a port without one.
    """
    port, shown = (at, "") if isinstance(at, int) else (port_of(at), f"Authorization: Bearer {at.token}\r\n")
    host = f"127.0.0.1:{port}" if host is None else host
    length = f"Content-Length: {len(body)}\r\n" if body else ""
    with connected(port) as connection:
        connection.sendall(f"{head}{shown}Host: {host}\r\nConnection: close\r\n{length}\r\n".encode() + body)
        raw = b"".join(iter(lambda: connection.recv(65536), b""))
    top, _, rest = raw.partition(b"\r\n\r\n")
    lines = top.decode().split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
    return int(lines[0].split()[1]), headers, rest


def post(at: int | Sandbox, action: str, *, headers: str = JSON, **fields: Any) -> tuple[int, Any]:
    head = f"POST /?action={action}&accessKeyId=k HTTP/1.1\r\n{headers}"
    status, _headers, body = talk(at, head, json.dumps(fields).encode())
    return status, json.loads(body)


def get(at: int | Sandbox, path: str) -> Any:
    status, headers, body = talk(at, f"GET {path} HTTP/1.1\r\n")
    assert (status, headers["content-type"].partition(";")[0]) == (200, "application/json")
    if headers.get("transfer-encoding") == "chunked":
        pieces = []
        while body:
            size, _, body = body.partition(b"\r\n")
            pieces.append(body[: int(size, 16)])
            body = body[int(size, 16) + 2 :]
        body = b"".join(pieces)
    return json.loads(body)


BODY = json.dumps({"to": US, "text": "Hi"}).encode()
SPELLINGS = [
    "POST /?action=sms.message.send&accessKeyId=k HTTP/1.1\r\n" + JSON,
    "POST http://127.0.0.1?action=sms.message.send&accessKeyId=k HTTP/1.1\r\n" + JSON,
    "POST //?action=sms.message.send&accessKeyId=k HTTP/1.1\r\n" + JSON,
    "POST /sms.message.send/..?action=sms.message.send&accessKeyId=k HTTP/1.1\r\n" + JSON,
    "POST /?accessKeyId=k&action=sms.message.send&nonce=abcdefgh HTTP/1.1\r\n" + JSON,
    "POST /?action=sms%2Emessage%2Esend&accessKeyId=k HTTP/1.1\r\n" + JSON,
    "POST /?action=sms.message.send&accessKeyId=k HTTP/1.1\r\nContent-Type: application/json;charset=utf-8\r\n",
    "POST /?action=sms.message.send&accessKeyId=k HTTP/1.0\r\n" + JSON,
]


@pytest.mark.parametrize("head", SPELLINGS)
def test_requests_are_understood_as_clients_in_the_field_spell_them(box: Sandbox, head: str) -> None:
    status, headers, body = talk(box, head, BODY)
    assert (status, json.loads(body)["code"]) == (200, "0")
    assert len(headers["x-uni-request-id"]) == 32


# Whole requests as other people's clients write them, typed from what they put on the wire.
FOREIGN = {
    "Python http.client": (
        "POST /?action=sms.message.send&accessKeyId=k HTTP/1.1\r\nAccept-Encoding: identity\r\n"
        "User-Agent: sdk/0\r\nContent-Type: application/json;charset=utf-8\r\nAccept: application/json\r\n",
        b'{"to": "+12025550123", "signature": "Acme", "templateId": "pub_passcode_ttl_en", '
        b'"templateData": {"code": 4211, "ttl": 5}}',
    ),
    "Node": (
        "POST /?action=sms.message.send&accessKeyId=k HTTP/1.1\r\nAccept: application/json\r\n"
        "Content-Type: application/json;charset=utf-8\r\nUser-Agent: sdk/0\r\n",
        b'{"to":["+12025550123"],"text":"\xe4\xbd\xa0\xe5\xa5\xbd"}',
    ),
    "Go": (
        "POST /?accessKeyId=k&action=sms.message.send HTTP/1.1\r\nUser-Agent: sdk/0\r\n"
        "Accept: application/json\r\nContent-Type: application/json;charset=utf-8\r\nAccept-Encoding: gzip\r\n",
        b'{"content":"Hi \\u003cyou\\u003e","signature":"Acme","to":["+12025550123"]}',
    ),
    "PHP": (
        "POST /?action=sms.message.send&accessKeyId=k HTTP/1.1\r\nAccept: */*\r\nContent-Type: application/json\r\n",
        b'{"to":"+12025550123","content":"Gr\\u00fc\\u00dfe","signature":"Acme","templateData":[]}',
    ),
}


@pytest.mark.parametrize(("head", "body"), FOREIGN.values(), ids=FOREIGN.keys())
def test_requests_of_other_peoples_clients_are_accepted(box: Sandbox, head: str, body: bytes) -> None:
    status, headers, raw = talk(box, head, body)
    envelope = json.loads(raw)
    assert (status, envelope["code"], envelope["message"]) == (200, "0", "Success")
    assert envelope["data"]["messages"][0]["to"] == US
    assert headers["x-uni-request-id"]


def test_refusals_carry_a_request_id_too_and_no_two_are_alike(box: Sandbox) -> None:
    ids = set()
    for _ in range(3):
        status, headers, body = talk(box, SPELLINGS[0], b"{}")
        assert (status, json.loads(body)) == (400, {"code": "104001", "message": "MissingParams"})
        ids.add(headers["x-uni-request-id"])
    assert len(ids) == 3


def test_a_page_of_another_address_is_turned_away(box: Sandbox) -> None:
    for origin in ("https://evil.example", "null", "http://127.0.0.1:1", f"https://127.0.0.1:{port_of(box)}"):
        status, _headers, _body = talk(box, SPELLINGS[0] + f"Origin: {origin}\r\n", BODY)
        assert status == 403
        assert talk(box, f"GET /inbox.json HTTP/1.1\r\nOrigin: {origin}\r\n")[0] == 403
    assert get(box, "/sandbox.json")["messages"] == 0


def test_only_json_is_taken(box: Sandbox) -> None:
    """A page elsewhere could send text/plain without asking the browser first."""
    assert post(box, "sms.message.send", headers="Content-Type: text/plain\r\n", to=US, text="Hi")[0] == 400
    assert post(box, "sms.message.send", headers="", to=US, text="Hi")[0] == 400
    assert talk(box, "POST /balance.json HTTP/1.1\r\nContent-Type: text/plain\r\n", b'{"add": "1"}')[0] == 400


def test_the_inbox_lists_every_accepted_message_oldest_first(box: Sandbox) -> None:
    post(box, "sms.message.send", to=[US, FR], content="Hi", signature="Acme")
    post(box, "sms.message.send", to=[US, "nobody"], text="refused")
    post(box, "otp.send", to=US, channel="whatsapp", code="0042")
    found = get(box, "/inbox.json")["messages"]
    assert [(row["to"], row["text"], row["code"], row["channel"]) for row in found] == [
        (US, "[Acme] Hi", None, "sms"),
        (FR, "[Acme] Hi", None, "sms"),
        (US, "Your verification code is 0042.", "0042", "whatsapp"),
    ]
    assert list(found[0]) == ["id", "to", "text", "code", "channel", "iso", "parts", "price", "currency", "at"]
    assert (found[0]["iso"], found[0]["parts"], found[0]["price"], found[0]["currency"]) == ("US", 1, "0.007500", "USD")
    assert found[0]["at"].endswith("Z")
    assert found == sorted(found, key=lambda row: row["at"])


def test_a_long_inbox_comes_whole(box: Sandbox) -> None:
    box.top_up(1_000_000)
    for _ in range(11):
        post(box, "sms.message.send", to=[US] * 1000, text="Hi")
    found = get(box, "/inbox.json")["messages"]
    assert len({row["id"] for row in found}) == 11_000


def test_the_balance_is_topped_up_by_text_amounts_only(box: Sandbox) -> None:
    head = "POST /balance.json HTTP/1.1\r\n" + JSON
    assert json.loads(talk(box, head, b'{"add": "12.5"}')[2])["balance"] == "1012.500000"
    for bad in (
        b'{"add": "-1"}',
        b'{"add": "0.0000001"}',
        b"{}",
        b"[]",
        b"x",
        b'{"add": NaN}',
        b'{"add": "999999999998"}',
    ):
        assert talk(box, head, bad)[0] == 400
    assert get(box, "/sandbox.json")["balance"] == "1012.500000"


@pytest.mark.parametrize(
    "line",
    [
        "POST /?accessKeyId=SECRETKEY&x=" + "a" * 9000,
        "POST /?accessKeyId=SECRETKEY &a",
        "POST /?accessKeyId=SECRETKEY\x01",
    ],
    ids=["too long", "no status line", "a control character"],
)
def test_a_request_that_is_no_http_is_logged_without_its_address(
    box: Sandbox, caplog: pytest.LogCaptureFixture, line: str
) -> None:
    with socket.create_connection(("127.0.0.1", port_of(box)), timeout=120) as connection:
        connection.sendall(f"{line} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        assert b" 400 " in connection.recv(100)
    assert "a request that is no HTTP was refused" in caplog.text
    assert "SECRETKEY" not in caplog.text


def test_no_code_number_or_key_is_logged(box: Sandbox, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        post(box, "otp.send", to=US, code="73519264")
        post(box, "otp.verify", to=US, code="73519264")
    assert "otp.send" in caplog.text
    assert not any(secret in caplog.text for secret in ("73519264", US[1:], "accessKeyId"))


def test_a_port_that_is_taken_is_a_clear_error(box: Sandbox) -> None:
    with pytest.raises(UsageError, match=f"port {port_of(box)} cannot be used"):
        Sandbox(port=port_of(box))


# state


def test_a_file_that_is_no_state_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("not a database, but long enough to be looked at " * 20)
    with pytest.raises(UsageError, match="is not a sandbox state file"):
        Sandbox(state=file)
    with pytest.raises(UsageError, match="cannot be used"):
        Sandbox(state=tmp_path / "no" / "folder" / "box.sqlite")


@pytest.mark.parametrize(
    "damage", ["UPDATE facts SET value='x' WHERE name='starts'", "INSERT INTO unfiled VALUES (1, '{')"]
)
def test_a_state_whose_values_cannot_be_is_refused(tmp_path: Path, damage: str) -> None:
    with Sandbox(state=tmp_path / "box.sqlite"):
        pass
    with contextlib.closing(sqlite3.connect(tmp_path / "box.sqlite")) as state, state:
        state.execute(damage)
    with pytest.raises(UsageError, match="is not a sandbox state file, or is damaged"):
        Sandbox(state=tmp_path / "box.sqlite")


def test_a_database_of_another_program_or_version_is_refused(tmp_path: Path) -> None:
    with contextlib.closing(sqlite3.connect(tmp_path / "other.sqlite")) as other:
        other.execute("CREATE TABLE requests (n INTEGER)")
    with pytest.raises(UsageError, match="by another program"):
        Sandbox(state=tmp_path / "other.sqlite")


def test_a_state_of_the_other_variant_or_another_seed_is_refused(tmp_path: Path) -> None:
    Sandbox(state=tmp_path / "box.sqlite", seed="1").close()
    with pytest.raises(UsageError, match="holds a sandbox of the intl variant"):
        Sandbox(state=tmp_path / "box.sqlite", variant="cn")
    with pytest.raises(UsageError, match="another seed"):
        Sandbox(state=tmp_path / "box.sqlite", seed="2")


@pytest.mark.parametrize("seed", ["1", "007", "1e3", "spring"])
def test_a_state_is_opened_again_with_its_seed(tmp_path: Path, seed: str) -> None:
    for _ in range(2):
        Sandbox(state=tmp_path / "box.sqlite", seed=seed).close()


COMMAND = [sys.executable, "-m", "smsotp_nb", "sandbox", "--balance=0.1"]


@contextlib.contextmanager
def in_another_process(state: Path | str = "") -> Iterator[tuple[subprocess.Popen[str], int]]:
    command = [*COMMAND, "--state", str(state)] if state else COMMAND
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert line, process.stderr and process.stderr.read()
            yield process, int(line.rpartition(":")[2])
        finally:
            process.kill()


def test_everything_answered_outlives_kill_9(tmp_path: Path) -> None:
    with in_another_process(tmp_path / "box.sqlite") as (process, port):
        post(port, "otp.send", to=US, code="0042", intent="login", ttl=1800)
        before, inbox = get(port, "/sandbox.json"), get(port, "/inbox.json")
        process.send_signal(signal.SIGKILL)
        process.wait()
    with in_another_process(tmp_path / "box.sqlite") as (_process, port):
        assert get(port, "/sandbox.json") == before
        assert get(port, "/inbox.json") == inbox
        assert post(port, "otp.verify", to=US, code="0042", intent="login")[1]["data"]["valid"] is True
        assert (
            post(port, "sms.message.send", to=US, text="Hi")[1]["data"]["messages"][0]["id"]
            != inbox["messages"][0]["id"]
        )
        assert before["balance"] == "0.092500"


def test_what_nobody_has_read_yet_outlives_kill_9(tmp_path: Path) -> None:
    """A reply waits for one note; the tables with their sums are filled when somebody reads, or by the next process."""
    with in_another_process(tmp_path / "box.sqlite") as (process, port):
        talk(port, "POST /balance.json HTTP/1.1\r\n" + JSON, b'{"add": "1"}')
        post(port, "otp.send", to=US, code="0041", intent="login")
        post(port, "otp.send", to=US, code="0042", intent="login")
        sent = [post(port, "sms.message.send", to=[US, FR], text=f"Hi {n}")[1]["data"] for n in range(3)]
        process.send_signal(signal.SIGKILL)
        process.wait()
    with in_another_process(tmp_path / "box.sqlite") as (_process, port):
        found = get(port, "/summary.json")
        ids = [message["id"] for message in get(port, "/inbox.json")["messages"]]
        assert ids[2:] == [record["id"] for data in sent for record in data["messages"]]
        assert (found["messages"], [row["messages"] for row in found["wordings"]]) == (8, [6, 2])
        assert float(found["price"]) + float(found["balance"]) == pytest.approx(1.1)
        assert post(port, "otp.verify", to=US, code="0041", intent="login")[1]["data"]["valid"] is False
        assert post(port, "otp.verify", to=US, code="0042", intent="login")[1]["data"]["valid"] is True


@pytest.mark.parametrize("answered_before_the_kill", [1, 7, 40])
def test_a_kill_in_the_middle_of_a_campaign_loses_nothing_that_was_answered(
    tmp_path: Path, answered_before_the_kill: int
) -> None:
    answered: set[str] = set()
    with in_another_process(tmp_path / "box.sqlite") as (process, port):
        post(port, "sms.message.send", to=US, text="first")
        talk(port, "POST /balance.json HTTP/1.1\r\n" + JSON, b'{"add": "1000"}')

        def send_until_it_dies() -> None:
            with contextlib.suppress(OSError, ValueError, IndexError):
                while True:
                    _status, envelope = post(port, "sms.message.send", to=[US, FR], text="Hi")
                    answered.update(record["id"] for record in envelope["data"]["messages"])

        senders = [threading.Thread(target=send_until_it_dies) for _ in range(4)]
        for sender in senders:
            sender.start()
        while len(answered) < 2 * answered_before_the_kill:
            process.poll()
        process.send_signal(signal.SIGKILL)
        for sender in senders:
            sender.join(120)
    with in_another_process(tmp_path / "box.sqlite") as (_process, port):
        kept = get(port, "/inbox.json")["messages"]
        found = get(port, "/summary.json")
    assert answered <= {message["id"] for message in kept}
    assert found["messages"] == len(kept)
    assert float(found["price"]) + float(found["balance"]) == pytest.approx(1000.1)


def test_a_second_process_on_the_same_state_is_refused(tmp_path: Path) -> None:
    with in_another_process(tmp_path / "box.sqlite"), pytest.raises(UsageError, match="in use by another sandbox"):
        Sandbox(state=tmp_path / "box.sqlite")


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_foreground_sandbox_ends_cleanly(how: signal.Signals) -> None:
    with in_another_process() as (process, port):
        assert post(port, "otp.send", to=US)[0] == 200
        process.send_signal(how)
        _out, err = process.communicate(timeout=120)
    assert (process.returncode, err) == (0, "")


@pytest.mark.parametrize("written", ["%2B12025550123", "+12025550123", "12025550123"])
def test_a_number_is_found_however_its_plus_is_written(written: str) -> None:
    """A plus in a query means a blank; whoever types an address by hand forgets that."""
    with Sandbox() as box:
        box.client().send_message(["+12025550123", "+12025550147"], text="Hello")
        with urllib.request.urlopen(f"{box.url}/inbox.json?to={written}&token={box.token}", timeout=120) as reply:
            assert [message["to"] for message in json.load(reply)["messages"]] == ["+12025550123"]
