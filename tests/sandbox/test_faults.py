"""Each fault does what its table says, seen from a bare socket; and it strikes as often as it was told to."""

from __future__ import annotations

import http.client
import json
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.sockets import answer

from smsotp_nb import Sandbox
from smsotp_nb.errors import UsageError

US, FR, SE = "+12025550123", "+33199001234", "+46701740605"
DOCUMENT = (Path(__file__).parents[2] / "docs" / "sandbox.md").read_text(encoding="utf-8")


@pytest.fixture
def box() -> Iterator[Sandbox]:
    with Sandbox(seed=1) as running:
        yield running


def send(box: Sandbox, action: str = "sms.message.send", **fields: Any) -> tuple[int, dict[str, str], bytes]:
    """Send to three people (or one a passcode) and return status, headers and body; what breaks, raises."""
    sent = fields or ({"to": [US, FR, SE], "text": "Hi"} if action == "sms.message.send" else {"to": US})
    return answer(box, "POST", f"/?action={action}&accessKeyId=k", json.dumps(sent).encode())


def test_a_dropped_connection_has_accepted_nothing_or_everything_as_its_name_says(box: Sandbox) -> None:
    for kind, accepted in (("drop_before", 0), ("drop_after", 3)):
        box.fault(kind, next=1)
        with pytest.raises(ConnectionError):
            send(box)
        assert len(box.inbox) == accepted
    assert send(box)[0] == 200


def test_half_a_reply_announces_a_whole_one(box: Sandbox) -> None:
    box.fault("half", next=1)
    with pytest.raises(http.client.IncompleteRead) as caught:
        send(box)
    assert 0 < len(caught.value.partial) <= (caught.value.expected or 0) + 1
    assert len(box.inbox) == 3


def test_a_reply_can_stall_before_it_is_lost(box: Sandbox) -> None:
    box.fault("drop_after", next=1, seconds=0.3)
    began = time.monotonic()
    with pytest.raises(ConnectionError):
        send(box)
    assert time.monotonic() - began >= 0.3
    assert len(box.inbox) == 3


def test_html_comes_with_status_200(box: Sandbox) -> None:
    box.fault("html", next=1)
    status, headers, body = send(box)
    assert (status, headers["content-type"], body[:9]) == (200, "text/html", b"<!doctype")
    assert len(box.inbox) == 3


@pytest.mark.parametrize(
    ("kind", "numbers"),
    [("fewer", [US, FR]), ("shuffled", [FR, SE, US])],
)
def test_records_can_be_fewer_or_shuffled(box: Sandbox, kind: str, numbers: list[str]) -> None:
    box.fault(kind, next=1)
    data = json.loads(send(box)[2])["data"]
    assert [record["to"] for record in data["messages"]] == numbers
    assert data["recipients"] == 3
    assert box.inbox["to"].tolist() == [US, FR, SE]


def test_a_passcodes_only_record_can_be_missing(box: Sandbox) -> None:
    box.fault("fewer", next=1)
    assert json.loads(send(box, "otp.send")[2])["data"] == {}
    box.fault("shuffled", next=1)
    assert json.loads(send(box, "otp.send")[2])["data"]["to"] == US


def test_a_throttled_request_says_when_to_come_back_and_was_not_accepted(box: Sandbox) -> None:
    box.fault("throttle", next=1, seconds=2)
    status, headers, _body = send(box)
    assert (status, headers["retry-after"]) == (429, "2")
    assert "x-uni-request-id" in headers
    assert len(box.inbox) == 0


@pytest.mark.parametrize(("kind", "status", "accepted"), [("error_before", 503, 0), ("error_after", 502, 3)])
def test_a_server_error_may_have_accepted_the_request(box: Sandbox, kind: str, status: int, accepted: int) -> None:
    box.fault(kind, next=1)
    assert send(box)[0] == status
    box.fault(kind, next=1, status=500)
    assert send(box)[0] == 500
    assert len(box.inbox) == 2 * accepted


def test_latency_delays_a_reply_and_comes_beside_another_fault(box: Sandbox) -> None:
    box.fault("latency", seconds=0.2, next=1)
    box.fault("error_before", next=1)
    began = time.monotonic()
    assert send(box)[0] == 503
    assert time.monotonic() - began >= 0.2
    assert box.faults == ()


def test_a_fault_can_strike_one_operation_only(box: Sandbox) -> None:
    box.fault("error_before", action="otp.send")
    assert send(box)[0] == 200
    assert send(box, "otp.send")[0] == 503
    assert send(box, "otp.verify", to=US, code="123456")[0] == 200


def test_a_share_strikes_so_many_requests_and_the_same_requests_for_the_same_seed() -> None:
    def struck() -> list[int]:
        with Sandbox(seed="share", faults=["error_before share=0.3"]) as box:
            return [send(box, "otp.verify", to=US, code="123456")[0] for _ in range(60)]

    first = struck()
    assert 6 <= first.count(503) <= 30
    assert first == struck()


def test_faults_are_listed_counted_down_and_switched_off(box: Sandbox) -> None:
    box.fault("html", next=2)
    box.fault("latency", seconds=0.0)
    send(box)
    assert [(fault.kind, fault.next) for fault in box.faults] == [("html", 1), ("latency", None)]
    box.clear_faults("latency")
    assert [(fault.kind, fault.next) for fault in box.faults] == [("html", 1)]
    box.clear_faults()
    assert box.faults == ()


def test_the_sandboxs_own_addresses_are_never_struck(box: Sandbox) -> None:
    box.fault("drop_before")
    assert len(box.inbox) == 0
    assert box.balance


@pytest.mark.parametrize("kind", re.findall(r"^\| `(\w+)` \| (?:no|yes|as without it) \|", DOCUMENT, re.MULTILINE))
def test_every_kind_of_the_document_can_be_switched_on(box: Sandbox, kind: str) -> None:
    box.fault(kind, next=1)
    assert [fault.kind for fault in box.faults] == [kind]


BAD = [
    "flood",
    "",
    "html share=0",
    "html share=1.5",
    "html share=NaN",
    "html next=0",
    "html next=1.5",
    "html next=many",
    "latency seconds=-1",
    "latency jitter=9999",
    "error_before status=200",
    "error_before status=600",
    "html action=otp.list",
    "html colour=blue",
]


@pytest.mark.parametrize("text", BAD)
def test_a_fault_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        Sandbox(faults=[text])


def test_a_mistyped_fault_is_answered_with_the_nearest_one() -> None:
    with pytest.raises(UsageError, match="did you mean 'drop_after'"):
        Sandbox(faults=["dropafter"])
