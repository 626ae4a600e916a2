"""The requests as they were received, with what was answered: accepted, refused and struck ones."""

from __future__ import annotations

import json

import pytest
from support.dtypes import dtype_names
from support.sockets import answer

from smsotp_nb import Sandbox

US, FR = "+12025550123", "+33199001234"


def test_every_request_is_recorded_with_its_outcome(box: Sandbox) -> None:
    client = box.client()
    client.send_message([US, FR], text="Hi")
    client.send_otp(US, code="123456")
    assert client.verify_otp(US, "123456").valid
    answer(box, "POST", "/?action=otp.send&accessKeyId=k", b"{}")
    box.fault("error_after", next=1)
    answer(box, "POST", "/?action=otp.send&accessKeyId=k", json.dumps({"to": US}).encode())
    answer(box, "POST", "/other?action=otp.send&accessKeyId=k", b"{}")
    requests = box.requests
    assert requests["outcome"].tolist() == ["accepted", "accepted", "answered", "refused", "struck", "refused"]
    assert requests["to"].fillna("").tolist() == [f"{US} {FR}", US, US, "", US, ""]
    assert requests["status"].tolist() == [200, 200, 200, 400, 502, 404]
    assert requests["accepted"].tolist() == [2, 1, 0, 0, 1, 0]
    assert requests["code"].tolist() == ["0", "0", "0", "104001", "0", "104002"]
    assert requests["fault"].dropna().tolist() == ["error_after"]
    assert requests["request_id"].nunique() == 6
    assert json.loads(requests["body"].iloc[0]) == {"to": [US, FR], "text": "Hi"}
    assert json.loads(requests["reply"].iloc[0])["data"]["recipients"] == 2
    assert requests["size"].iloc[0] == len(requests["body"].iloc[0])


def test_the_frame_has_the_same_columns_and_dtypes_while_it_is_empty(box: Sandbox) -> None:
    empty = dtype_names(box.requests)
    box.client().send_otp(US)
    assert dtype_names(box.requests) == empty
    assert empty["headers"] == "str"
    assert empty["at"] == "datetime64[us, UTC]"
    assert empty["status"] == "Int64"


def test_keys_tokens_and_cookies_are_masked(box: Sandbox) -> None:
    secrets = {"Authorization": "Bearer SECRET-1", "Cookie": "session=SECRET-2", "X-Api-Key": "SECRET-3"}
    target = "/?action=otp.send&accessKeyId=SECRET-4&signature=SECRET-5&token=SECRET-6"
    answer(box, "POST", target, json.dumps({"to": US, "signature": "Acme"}).encode(), secrets)
    request = box.requests.iloc[0]
    assert "SECRET" not in f"{request['path']} {request['headers']}"
    assert "accessKeyId=***" in request["path"]
    assert "Acme" in request["body"], "the sender's name is no secret"


@pytest.mark.parametrize("body", [b"\xff\x00\xfe", b'{"to": "\\ud800", "text": "x"}', b"[" * 50_000, b"null"], ids=repr)
def test_a_body_that_is_no_text_is_recorded_all_the_same(box: Sandbox, body: bytes) -> None:
    assert answer(box, "POST", "/?action=otp.send&accessKeyId=k", body)[0] == 400
    assert box.requests["size"].tolist() == [len(body)]


def test_a_long_body_is_cut_and_old_requests_are_dropped(box: Sandbox) -> None:
    long = json.dumps({"to": US, "text": "x" * 900_000}).encode()
    for _ in range(130):  # of each 64 KiB are kept, and of all together 16 MiB
        answer(box, "POST", "/?action=otp.verify&accessKeyId=k", long)
    requests = box.requests
    assert requests["body"].str.len().max() == 65_536
    assert set(requests["size"]) == {len(long)}
    assert requests["n"].iloc[-1] == 130
    for _ in range(200):
        answer(box, "POST", "/?action=otp.verify&accessKeyId=k", long)
    requests = box.requests
    assert requests["n"].iloc[0] > 1
    assert len(requests) * 65_536 < 17 << 20


def test_clearing_forgets_requests_and_messages_and_uses_no_number_again(box: Sandbox) -> None:
    box.client().send_message(US, text="Hi")
    box.clear()
    assert (len(box.requests), len(box.inbox)) == (0, 0)
    box.client().send_message(US, text="Hi")
    assert box.requests["n"].tolist() == [2]
