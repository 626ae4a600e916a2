"""The sandbox over a real socket: how clients in the field speak, who is turned away, and what outlives a kill."""

from __future__ import annotations

import contextlib
import http.client
import json
import logging
import signal
import socket
import sqlite3
import subprocess
import sys
import textwrap
import threading
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


def get(at: int | Sandbox, query: str = "messages_after=0&requests_after=0") -> Any:
    status, headers, body = talk(at, f"GET /state.json?{query} HTTP/1.1\r\n")
    assert (status, headers["content-type"]) == (200, "application/json")
    return json.loads(body)


def act(at: int | Sandbox, name: str, **arguments: Any) -> tuple[int, Any]:
    body = json.dumps({"do": name, **arguments}).encode()
    status, _headers, reply = talk(at, "POST /act.json HTTP/1.1\r\n" + JSON, body)
    return status, json.loads(reply)


BODY = json.dumps({"to": US, "text": "Hi"}).encode()
OPERATION = "/?action=sms.message.send&accessKeyId=k"
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


def test_refusals_of_other_addresses_come_in_the_envelope_too(box: Sandbox) -> None:
    for head, host, status, code in (
        (SPELLINGS[0], "evil.example", 403, "105001"),
        (SPELLINGS[0] + "Origin: https://evil.example\r\n", None, 403, "105001"),
        (SPELLINGS[0].replace("POST /?", "POST /v2/?"), None, 404, "104002"),
        (SPELLINGS[0].replace("POST /?", "PUT /sms?"), None, 404, "104002"),
        (SPELLINGS[0].replace("POST /?", "DELETE /?"), None, 404, "104002"),
    ):
        found, headers, body = talk(box, head, BODY, host=host)
        envelope = json.loads(body)
        assert (found, envelope["code"]) == (status, code)
        assert envelope["message"]
        assert len(headers["x-uni-request-id"]) == 32


def test_the_request_id_is_spelled_as_one_client_compares_it(box: Sandbox) -> None:
    with connected(port_of(box)) as connection:
        head = f"{SPELLINGS[0]}Host: 127.0.0.1\r\nConnection: close\r\nContent-Length: {len(BODY)}\r\n\r\n"
        connection.sendall(head.encode() + BODY)
        assert b"\r\nX-Uni-Request-Id: " in b"".join(iter(lambda: connection.recv(65536), b""))


def test_a_connection_carries_one_request_after_another(box: Sandbox) -> None:
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port_of(box), timeout=120)) as connection:
        for _ in range(3):
            connection.request("POST", OPERATION, BODY, {"Content-Type": "application/json"})
            reply = connection.getresponse()
            assert (reply.status, json.loads(reply.read())["code"]) == (200, "0")
    assert len(box.inbox) == 3


def test_a_body_in_chunks_is_read(box: Sandbox) -> None:
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port_of(box), timeout=120)) as connection:
        pieces = [BODY[:7], BODY[7:]]
        connection.request("POST", OPERATION, iter(pieces), {"Content-Type": "application/json"}, encode_chunked=True)
        assert connection.getresponse().status == 200
    assert box.inbox["text"].tolist() == ["Hi"]


def test_a_client_that_waits_for_100_continue_gets_it(box: Sandbox) -> None:
    with connected(port_of(box)) as connection:
        head = f"{SPELLINGS[0]}Host: localhost\r\nExpect: 100-continue\r\nContent-Length: {len(BODY)}\r\n\r\n"
        connection.sendall(head.encode())
        assert connection.recv(100).startswith(b"HTTP/1.1 100 Continue")
        connection.sendall(BODY)
        assert b" 200 " in connection.recv(100)


@pytest.mark.parametrize("length", ["2000000", "99999999999999999999", "-1", "x"])
def test_a_body_that_is_too_large_or_has_no_size_is_refused(box: Sandbox, length: str) -> None:
    with connected(port_of(box)) as connection:
        head = f"{SPELLINGS[0]}Host: localhost\r\nContent-Length: {length}\r\n\r\n"
        connection.sendall(head.encode() + b" " * (int(length) if length == "2000000" else 0))
        reply = connection.recv(65536)
    assert reply.startswith(b"HTTP/1.1 400 ")
    assert b'"code":"104002"' in reply
    assert box.inbox.empty


def test_a_client_that_leaves_in_the_middle_of_its_request_disturbs_nobody(
    box: Sandbox, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    with connected(port_of(box)) as connection:
        connection.sendall(f"{SPELLINGS[0]}Host: localhost\r\nContent-Length: 500\r\n\r\n".encode() + b"{")
    assert post(box, "sms.message.send", to=US, text="Hi")[0] == 200
    assert len(box.requests) == 1
    assert (caplog.text, capfd.readouterr()) == ("", ("", ""))


# -- beside the operations


def test_the_inbox_lists_every_accepted_message_oldest_first(box: Sandbox) -> None:
    post(box, "sms.message.send", to=[US, FR], content="Hi", signature="Acme")
    post(box, "sms.message.send", to=[US, "nobody"], text="refused")
    post(box, "otp.send", to=US, channel="whatsapp", code="0042", intent="login")
    found = get(box)["inbox"]
    assert [(row["to"], row["text"], row["code"], row["channel"], row["kind"]) for row in found] == [
        (US, "[Acme] Hi", None, "sms", "message"),
        (FR, "[Acme] Hi", None, "sms", "message"),
        (US, "Your verification code is 0042.", "0042", "whatsapp", "passcode"),
    ]
    assert (found[0]["iso"], found[0]["parts"], found[0]["price"], found[0]["currency"]) == ("US", 1, "0.007500", "USD")
    assert found[0]["at"].endswith("Z")
    assert [row["n"] for row in found] == [1, 2, 3]


def test_lists_come_where_they_are_asked_for_and_only_what_is_new(box: Sandbox) -> None:
    for n in range(4):
        post(box, "sms.message.send", to=US, text=f"Hi {n}")
    post(box, "sms.message.send", to=FR, text="Bonjour")
    report = get(box, "")
    assert not {"inbox", "requests"} & set(report)
    assert (report["messages"], report["last_message"], report["last_request"]) == (5, 5, 5)
    assert [row["n"] for row in get(box, "messages_after=3")["inbox"]] == [4, 5]
    assert [row["n"] for row in get(box, "messages_after=0&limit=2")["inbox"]] == [4, 5]
    assert [row["n"] for row in get(box, "requests_after=1&limit=2")["requests"]] == [4, 5]
    for written in ("%2B33199001234", "+33199001234", "33199001234"):
        assert [row["text"] for row in get(box, f"messages_after=0&to={written}")["inbox"]] == ["Bonjour"]


@pytest.mark.parametrize("query", ["messages_after=x", "limit=-1", "limit=" + "9" * 99, "colour=blue", "wait=5"])
def test_a_query_that_cannot_be_read_is_refused(box: Sandbox, query: str) -> None:
    status, _headers, body = talk(box, f"GET /state.json?{query} HTTP/1.1\r\n")
    assert (status, set(json.loads(body))) == (400, {"error"})


def test_a_long_inbox_comes_whole(box: Sandbox) -> None:
    box.top_up(1_000_000)
    for _ in range(11):
        post(box, "sms.message.send", to=[US] * 1000, text="Hi")
    assert len({row["id"] for row in get(box)["inbox"]}) == 11_000


ACTS: list[tuple[str, dict[str, Any]]] = [
    ("fly", {}),
    ("clear", {"all": True}),
    ("top_up", {}),
    *(("top_up", {"amount": amount}) for amount in ("-1", "x", None, [], "999999999998", float("nan"))),
    *(("advance", {"seconds": seconds}) for seconds in ("1", None, 1e400, 10**400, -1e15, 1e12, True, [])),
    ("fault", {}),
    ("fault", {"kind": ["a"]}),
    ("fault", {"kind": {}}),
    ("fault", {"kind": "half", "share": "x"}),
    ("fault", {"kind": "half", "next": [1]}),
    ("fault", {"kind": "latency", "seconds": {}}),
    ("fault", {"kind": "half", "action": []}),
    ("fault", {"kind": "half", "colour": "blue"}),
]


@pytest.mark.parametrize(("name", "arguments"), ACTS, ids=str)
def test_an_action_that_cannot_be_done_is_refused_in_words(box: Sandbox, name: str, arguments: dict[str, Any]) -> None:
    before = get(box, "")
    status, reply = act(box, name, **arguments)
    assert (status, set(reply)) == (400, {"error"})
    after = get(box, "")
    assert before | {"now": ""} == after | {"now": ""}


@pytest.mark.parametrize("body", [b"", b"[]", b"x", b"{}", b'{"do": 5}', b'{"do": ["clear"]}', b"[" * 100_000])
def test_what_is_no_action_is_refused_in_words(box: Sandbox, body: bytes) -> None:
    status, _headers, reply = talk(box, "POST /act.json HTTP/1.1\r\n" + JSON, body)
    assert (status, set(json.loads(reply))) == (400, {"error"})


@pytest.mark.parametrize("path", ["/inbox.json", "/openapi.json", "/state.json/x", "/../state.json"])
def test_another_address_is_404(box: Sandbox, path: str) -> None:
    assert talk(box, f"GET {path} HTTP/1.1\r\n")[0] == 404


def test_a_head_request_has_no_body(box: Sandbox) -> None:
    status, headers, body = talk(box, "HEAD / HTTP/1.1\r\n")
    assert (status, body) == (200, b"")
    assert int(headers["content-length"]) > 1_000


@pytest.mark.parametrize(
    "line",
    [
        "POST /?accessKeyId=SECRETKEY&x=" + "a" * 90_000,
        "POST /?accessKeyId=SECRETKEY &a",
        "SECRETKEY",
    ],
    ids=["too long", "no status line", "no address"],
)
def test_a_request_that_is_no_http_is_logged_without_its_address(
    box: Sandbox, caplog: pytest.LogCaptureFixture, line: str
) -> None:
    with socket.create_connection(("127.0.0.1", port_of(box)), timeout=120) as connection:
        connection.sendall(f"{line} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        assert connection.recv(100).startswith((b"HTTP/1.1 400 ", b"HTTP/1.1 414 "))
    assert "a request that is no HTTP was refused" in caplog.text
    assert "SECRETKEY" not in caplog.text


def test_no_code_number_or_key_is_logged(box: Sandbox, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        post(box, "otp.send", to=US, code="73519264")
        post(box, "otp.verify", to=US, code="73519264")
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
    "damage", ["DELETE FROM facts WHERE name='id'", "UPDATE facts SET value='x' WHERE name='starts'"]
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


COMMAND = [sys.executable, "-W", "ignore", "-m", "smsotp_nb", "sandbox"]


@contextlib.contextmanager
def command(*options: str) -> Iterator[tuple[list[str], str, subprocess.Popen[str]]]:
    """Run ``smsotp-nb sandbox`` and yield the lines it says, its address and its process."""
    with subprocess.Popen([*COMMAND, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            lines: list[str] = []
            while not lines or "Ctrl-C" not in lines[-1]:
                lines.append(process.stdout.readline())
                assert lines[-1], process.stderr and process.stderr.read()
            yield lines, lines[0].split()[-1], process
        finally:
            process.kill()


@contextlib.contextmanager
def in_another_process(state: Path | str = "") -> Iterator[tuple[subprocess.Popen[str], int]]:
    options = ["--state", str(state)] if state else []
    with command("--balance=0.1", *options) as (_lines, url, process):
        yield process, int(url.rpartition(":")[2])


def test_everything_answered_outlives_kill_9(tmp_path: Path) -> None:
    with in_another_process(tmp_path / "box.sqlite") as (process, port):
        act(port, "top_up", amount="1")
        post(port, "otp.send", to=US, code="0041", intent="login")
        post(port, "otp.send", to=US, code="0042", intent="login", ttl=1800)
        sent = [post(port, "sms.message.send", to=[US, FR], text=f"Hi {n}")[1]["data"] for n in range(3)]
        before = get(port, "messages_after=0")
        process.send_signal(signal.SIGKILL)
        process.wait()
    with in_another_process(tmp_path / "box.sqlite") as (_process, port):
        after = get(port, "messages_after=0")
        assert after["inbox"] == before["inbox"]
        assert [row["id"] for row in after["inbox"][2:]] == [row["id"] for data in sent for row in data["messages"]]
        assert (after["id"], after["balance"], after["messages"]) == (before["id"], before["balance"], 8)
        assert sum(float(row["price"]) for row in after["inbox"]) + float(after["balance"]) == pytest.approx(1.1)
        assert post(port, "otp.verify", to=US, code="0041", intent="login")[1]["data"]["valid"] is False
        assert post(port, "otp.verify", to=US, code="0042", intent="login")[1]["data"]["valid"] is True
        new = post(port, "sms.message.send", to=US, text="Hi")[1]["data"]["messages"][0]["id"]
        assert new not in {row["id"] for row in after["inbox"]}


@pytest.mark.parametrize("answered_before_the_kill", [1, 7, 40])
def test_a_kill_in_the_middle_of_a_campaign_loses_nothing_that_was_answered(
    tmp_path: Path, answered_before_the_kill: int
) -> None:
    answered: set[str] = set()
    with in_another_process(tmp_path / "box.sqlite") as (process, port):
        post(port, "sms.message.send", to=US, text="first")
        act(port, "top_up", amount="1000")

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
        report = get(port, "messages_after=0")
    kept = report["inbox"]
    assert answered <= {message["id"] for message in kept}
    assert report["messages"] == len(kept)
    assert sum(float(row["price"]) for row in kept) + float(report["balance"]) == pytest.approx(1000.1)


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


def test_the_command_switches_rules() -> None:
    with command("--attempts", "1") as (_lines, url, _process), Sandbox.at(url).client() as client:
        client.send_otp(US, code="4711")
        assert [client.verify_otp(US, code).valid for code in ("1147", "4711")] == [False, False]


LIGHT = """
    import sys, importlib.abc
    HEAVY = {"pandas", "numpy", "requests", "tenacity", "ipywidgets", "tqdm", "pyarrow"}
    class Refuse(importlib.abc.MetaPathFinder):
        def find_spec(self, name, path, target=None):
            if name.partition(".")[0] in HEAVY:
                raise ModuleNotFoundError(name)
    sys.meta_path.insert(0, Refuse())
    from smsotp_nb import _cli as cli
    import smsotp_nb.sandbox.server
    print([name for name in (*HEAVY, "phonenumbers") if name in sys.modules], flush=True)
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
            assert len(get(port)["inbox"]) == 1
            assert act(port, "advance", seconds=5)[0] == 200
        finally:
            process.kill()
