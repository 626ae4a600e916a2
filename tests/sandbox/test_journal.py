"""The journal: every request as it was received and what was answered, bounded, and without its secrets."""

from __future__ import annotations

import gzip
import json
import threading
from contextlib import suppress
from http.client import HTTPException
from pathlib import Path
from typing import Any

import pytest
from support.dtypes import dtype_names
from support.sockets import answer

from smsotp_nb import Sandbox
from smsotp_nb.sandbox import Rules

US, FR = "+12025550123", "+33199001234"
KEY = "a-key-of-nobody-4711"


def post(box: Sandbox, action: str, *, headers: dict[str, str] | None = None, **fields: Any) -> int:
    path = f"/?action={action}&accessKeyId={KEY}"
    with suppress(HTTPException, ConnectionError):  # faults leave without an answer
        return answer(box, "POST", path, json.dumps(fields).encode(), {"Authorization": ""} | (headers or {}))[0]
    return 0


def told(box: Sandbox, query: str = "") -> list[dict[str, Any]]:
    status, _, raw = answer(box, "GET", f"/requests.json{query}")
    found = json.loads(raw)
    assert status == 200, found
    return list(found["requests"])


def test_an_accepted_request_is_shown_as_it_came_with_what_was_answered(box: Sandbox) -> None:
    post(box, "otp.send", to=US, code="004211", headers={"X-Trace": "grün".encode().decode("latin-1")})
    (one,) = told(box)
    assert (one["action"], one["outcome"], one["status"], one["code"]) == ("otp.send", "accepted", 200, "0")
    assert (one["method"], one["path"]) == ("POST", "/?action=otp.send&accessKeyId=***")
    assert json.loads(one["body"]) == {"to": US, "code": "004211"}
    assert one["size"] == len(one["body"])
    assert ["X-Trace", "grün"] in one["headers"]
    assert json.loads(one["reply"])["data"]["to"] == US
    assert (one["to"], one["accepted"], one["fault"]) == ([US], 1, None)
    assert len(one["request_id"]) == 32


def test_refused_answered_and_struck_requests_are_in_it_too(box: Sandbox) -> None:
    post(box, "sms.message.send", to="nobody", text="Hi")
    post(box, "otp.verify", to=US, code="0000")
    for kind in ("drop_before", "drop_after", "throttle", "html", "half"):
        box.fault(kind, next=1)
        post(box, "sms.message.send", to=US, text=kind)
    found = [(one["outcome"], one["fault"], one["status"], one["code"], one["accepted"]) for one in told(box)]
    assert found == [
        ("refused", None, 400, "107111", 0),
        ("answered", None, 200, "0", 0),
        ("struck", "drop_before", None, None, 0),
        ("struck", "drop_after", None, "0", 1),
        ("struck", "throttle", 429, None, 0),
        ("struck", "html", 200, "0", 1),
        ("struck", "half", 200, "0", 1),
    ]
    html, half = told(box, "?after=5")
    assert html["reply"].startswith("<!doctype html>")
    assert half["reply"].startswith('{"code":"0"')
    assert not half["reply"].endswith("}}")


def test_latency_alone_does_not_make_a_request_struck(box: Sandbox) -> None:
    box.fault("latency", seconds=0.01)
    post(box, "otp.send", to=US)
    assert [(one["outcome"], one["fault"]) for one in told(box)] == [("accepted", "latency")]


def test_a_request_that_is_turned_away_is_in_it_with_its_body(box: Sandbox) -> None:
    strays: list[tuple[str, dict[str, str]]] = [
        (f"/?action=otp.send&accessKeyId={KEY}", {"Host": "evil.example"}),
        (f"/?action=otp.send&accessKeyId={KEY}", {"Origin": "https://evil.example"}),
        (f"/v1/sms?action=otp.send&accessKeyId={KEY}", {}),
    ]
    statuses = [answer(box, "POST", path, b'{"to": "+12025550123"}', headers)[0] for path, headers in strays]
    found = told(box)
    assert [(one["outcome"], one["status"], one["body"]) for one in found] == [
        ("refused", status, '{"to": "+12025550123"}') for status in statuses
    ]
    assert statuses == [403, 403, 404]
    assert "answers only to" in json.loads(found[0]["reply"])["error"]
    assert KEY not in json.dumps(found)


BAD_BODIES = {
    "no JSON": b"to=%2B12025550123",
    "no text": b"\xff\xfe\x00",
    "gzip": gzip.compress(b'{"to": "+12025550123"}', mtime=0),
    "empty": b"",
    "deep": b"[" * 50_000,
}


@pytest.mark.parametrize("body", BAD_BODIES.values(), ids=BAD_BODIES.keys())
def test_a_body_that_cannot_be_read_is_shown_all_the_same(box: Sandbox, body: bytes) -> None:
    answer(box, "POST", f"/?action=otp.send&accessKeyId={KEY}", body)
    (one,) = told(box)
    assert (one["outcome"], one["code"], one["to"], one["size"]) == ("refused", "104002", [], len(body))
    assert box.requests["outcome"].tolist() == ["refused"]


def test_a_request_that_is_too_large_to_be_read_is_in_it_without_its_body(box: Sandbox) -> None:
    answer(box, "POST", f"/?action=otp.send&accessKeyId={KEY}", b'{"text": "' + b"x" * (1 << 20) + b'"}')
    assert [(one["code"], one["body"]) for one in told(box)] == [("104002", "")]


def test_of_a_long_body_the_beginning_is_kept(box: Sandbox) -> None:
    body = json.dumps({"to": US, "text": " ä" * 50_000}, ensure_ascii=False).encode()
    answer(box, "POST", f"/?action=sms.message.send&accessKeyId={KEY}", body)
    (one,) = told(box)
    assert (one["encoding"], one["size"]) == ("utf-8", len(body))
    assert body.startswith(one["body"].encode())
    assert len(one["body"].encode()) in (65536, 65535)


# secrets


def test_the_key_stands_at_none_of_its_names_in_the_journal(box: Sandbox) -> None:
    headers = {
        "Authorization": f"Bearer {KEY}",
        "Cookie": "session=abc",
        "X-Access-Key": "other",
        "X-Signature": "c2ln",
    }
    fields = {"to": US, "text": "Hi", "accessKeyId": KEY, "accessKeySecret": 'a"b', "signature": "Acme"}
    post(box, "sms.message.send", headers=headers, **fields)
    whole = json.dumps(told(box)) + box.requests.to_csv()
    assert not any(secret in whole for secret in (KEY, "session=abc", "other", "c2ln", 'a\\"b'))
    (one,) = told(box)
    assert json.loads(one["body"]) == fields | {"accessKeyId": "***", "accessKeySecret": "***"}


def test_the_signature_of_a_signed_request_is_masked() -> None:
    with Sandbox(rules=Rules(secret="a-secret-of-nobody")) as box:
        box.client().send_message(US, text="Hi")
        (one,) = told(box)
    assert one["outcome"] == "accepted"
    assert "signature=***" in one["path"]


def test_the_journal_is_on_no_file_and_begins_anew(tmp_path: Path) -> None:
    for _ in range(2):
        with Sandbox(state=tmp_path / "box.sqlite") as box:
            post(box, "sms.message.send", to=US, text="Hi", headers={"Authorization": KEY})
            post(box, "sms.message.send", to="nobody at all", text="Hi")
            found = b"".join(file.read_bytes() for file in tmp_path.glob("box.sqlite*"))
            assert [one["n"] for one in told(box)] == [1, 2]
        assert b"sms.message.send" in found
        assert b"nobody at all" not in found
        assert KEY.encode() not in found


MASKED = [
    ('{"accessKeyId":"abc"', '{"accessKeyId":"***"'),
    ('{"access_key" : 17, "to": "x"}', '{"access_key" : "***", "to": "x"}'),
    ('{"password": "cut off', '{"password": "***"'),
    ('{"text": "my token is \\"x\\""}', '{"text": "my token is \\"x\\""}'),
    ('{"signature": "Acme"}', '{"signature": "Acme"}'),
]


@pytest.mark.parametrize(("body", "expected"), MASKED)
def test_a_field_is_masked_by_its_name(box: Sandbox, body: str, expected: str) -> None:
    answer(box, "POST", "/?action=otp.send&accessKeyId=k", body.encode())
    assert told(box)[0]["body"] == expected


# reading


def test_the_journal_is_narrowed_by_its_parameters(box: Sandbox) -> None:
    post(box, "sms.message.send", to=[US, FR], text="Hi Anna")
    post(box, "otp.send", to=FR)
    post(box, "otp.send", to="nobody")
    queries = {
        "": [1, 2, 3],
        "?action=otp.send": [2, 3],
        "?outcome=refused": [3],
        "?to=%2B33199001234": [1, 2],
        "?to=33199001234&outcome=accepted&limit=1": [1],
        "?text=ANNA": [1],
        "?after=1": [2, 3],
        "?before=3&newest=1": [2, 1],
        "?limit=0": [],
    }
    assert {query: [one["n"] for one in told(box, query)] for query in queries} == queries
    assert set(told(box, "?brief=1")[0]) < set(told(box)[0])


@pytest.mark.parametrize("query", ["outcome=lost", "limit=-1", "wait=61", "brief=2", "colour=blue"])
def test_a_parameter_that_cannot_be_used_is_refused(box: Sandbox, query: str) -> None:
    assert answer(box, "GET", f"/requests.json?{query}")[0] == 400


def test_waiting_returns_as_soon_as_a_request_comes(box: Sandbox) -> None:
    found: list[Any] = []
    waiter = threading.Thread(target=lambda: found.extend(told(box, "?outcome=refused&wait=20")))
    waiter.start()
    post(box, "otp.send", to=US)
    post(box, "otp.send", to="nobody")
    waiter.join(120)
    assert [one["n"] for one in found] == [2]


def test_the_frame_has_the_promised_columns_empty_or_not(box: Sandbox) -> None:
    empty = dtype_names(box.requests)
    post(box, "sms.message.send", to=[US, FR], text="Hi")
    frame = box.requests
    assert dtype_names(frame) == empty
    assert frame["to"].tolist() == [f"{US} {FR}"]
    assert "Content-Type: application/json" in frame["headers"].iloc[0]


def test_the_sandboxs_own_addresses_are_not_in_it(box: Sandbox) -> None:
    for path in ("/", "/inbox.json", "/requests.json"):
        answer(box, "GET", path)
    assert told(box) == []


# bounds and restarts


def test_no_two_requests_have_the_same_id_over_a_restart(tmp_path: Path) -> None:
    ids = []
    for _ in range(2):
        with Sandbox(state=tmp_path / "box.sqlite") as box:
            post(box, "otp.send", to=US)
            ids += [one["request_id"] for one in told(box)]
    assert len(set(ids)) == len(ids) == 2
