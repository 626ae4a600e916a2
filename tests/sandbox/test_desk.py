"""What the sandbox offers beside the interface: filters and wait of the inbox, clock, balance, summary, HMAC mode."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any
from urllib.parse import quote, quote_plus, urlencode

import pytest
from support.sockets import call

from smsotp_nb import Sandbox
from smsotp_nb.errors import UsageError
from smsotp_nb.sandbox import Rules

US, FR, SE = "+12025550123", "+33199001234", "+46701740605"


def get(box: Sandbox, path: str) -> Any:
    status, found = call(box, "GET", path)
    assert status == 200, found
    return found


def post(box: Sandbox, action: str, **fields: Any) -> Any:
    status, envelope = call(box, "POST", f"/?action={action}&accessKeyId=k", fields)
    assert status == 200, envelope
    return envelope["data"]


# inbox


@pytest.fixture
def filled(box: Sandbox) -> Sandbox:
    post(box, "sms.message.send", to=[US, FR], text="Hi Anna, 20 % off")
    post(box, "sms.message.send", to=SE, text="Hi Bob, 30 % off")
    post(box, "otp.send", to=US, code="004211")
    return box


FILTERS: list[tuple[str, list[int]]] = [
    ("", [1, 2, 3, 4]),
    ("?to=%2B12025550123", [1, 4]),
    ("?kind=passcode", [4]),
    ("?kind=message", [1, 2, 3]),
    ("?text=ANNA", [1, 2]),
    ("?text=0042", [4]),
    ("?text=467017", [3]),
    ("?text=%25", [1, 2, 3]),
    ("?after=2", [3, 4]),
    ("?before=3&newest=1", [2, 1]),
    ("?newest=1&limit=2", [4, 3]),
    ("?limit=0", []),
    ("?to=%2B12025550123&kind=message", [1]),
]


@pytest.mark.parametrize(("query", "numbers"), FILTERS, ids=lambda value: str(value))
def test_the_inbox_is_narrowed_by_its_parameters(filled: Sandbox, query: str, numbers: list[int]) -> None:
    mark = "&" if query else "?"
    found = get(filled, f"/inbox.json{query}{mark}detail=1")
    assert [message["n"] for message in found["messages"]] == numbers
    assert found["last"] == 4


@pytest.mark.parametrize(
    "query",
    ["kind=spam", "limit=-1", "limit=x", "limit=²", "after=1e3", "wait=61", "wait=x", "newest=2", "colour=blue"],
)
def test_a_parameter_that_cannot_be_used_is_refused(box: Sandbox, query: str) -> None:
    status, found = call(box, "GET", f"/inbox.json?{quote(query, safe='=')}")
    assert status == 400
    assert "parameter" in found["error"]


def test_detail_shows_how_a_text_is_split_and_what_made_it_dear(box: Sandbox) -> None:
    text = "x" * 80 + "’"
    post(box, "sms.message.send", to=US, text=text)
    (message,) = get(box, "/inbox.json?detail=1")["messages"]
    assert (message["encoding"], message["forcing"], message["parts"]) == ("ucs2", ["’"], 2)
    assert "".join(message["pieces"]) == text
    assert [len(piece) for piece in message["pieces"]] == [67, 14]


def test_waiting_returns_as_soon_as_a_message_comes(box: Sandbox) -> None:
    found: list[Any] = []
    path = "/inbox.json?to=%2B12025550123&wait=20"
    waiter = threading.Thread(target=lambda: found.append(get(box, path)))
    waiter.start()
    post(box, "otp.send", to=FR)
    post(box, "otp.send", to=US, code="123456")
    waiter.join(120)
    assert [message["code"] for message in found[0]["messages"]] == ["123456"]


def test_waiting_in_vain_ends_after_its_time(box: Sandbox) -> None:
    began = time.monotonic()
    assert get(box, "/inbox.json?wait=0.2")["messages"] == []
    assert time.monotonic() - began >= 0.2
    assert box.code(US, wait=0.05) is None


def test_a_waiting_reader_does_not_hold_up_the_end(box: Sandbox) -> None:
    port = int(box.url.rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port), timeout=120) as reader:
        reader.sendall(f"GET /inbox.json?wait=60&token={box.token} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
        assert box.balance  # asked after the reader, so the reader waits by now
        began = time.monotonic()
        box.close()
        assert b'"messages"' in b"".join(iter(lambda: reader.recv(65536), b""))
    assert time.monotonic() - began < 55  # of the 60 that the reader asked for


def test_after_the_last_of_one_answer_comes_what_is_new(filled: Sandbox) -> None:
    last = get(filled, "/inbox.json")["last"]
    assert get(filled, f"/inbox.json?after={last}")["messages"] == []
    post(filled, "otp.send", to=SE)
    assert [message["to"] for message in get(filled, f"/inbox.json?after={last}")["messages"]] == [SE]


def test_clearing_forgets_messages_but_not_money_passcodes_or_numbers(filled: Sandbox) -> None:
    balance, last = filled.balance, get(filled, "/inbox.json")["last"]
    filled.clear()
    assert len(filled.inbox) == 0
    assert get(filled, "/summary.json")["countries"] == []
    assert filled.balance == balance
    assert post(filled, "otp.verify", to=US, code="004211")["valid"] is True
    post(filled, "sms.message.send", to=US, text="Hi")
    assert get(filled, "/inbox.json")["last"] == last + 1


def test_the_summary_adds_up_by_country_and_by_wording(filled: Sandbox) -> None:
    found = get(filled, "/summary.json")
    assert (found["messages"], found["parts"], found["currency"]) == (4, 4, "USD")
    by_country = {row["iso"]: (row["messages"], row["price"]) for row in found["countries"]}
    assert by_country == {"FR": (1, "0.065000"), "SE": (1, "0.065000"), "US": (2, "0.015000")}
    assert sum(float(row["price"]) for row in found["wordings"]) == pytest.approx(float(found["price"]))
    assert [(row["messages"], row["action"]) for row in found["wordings"]] == [(1, "otp.send"), (3, "sms.message.send")]
    assert [row["country"] for row in found["countries"]] == ["France", "Sweden", "United States"]


# balance and clock


def test_the_balance_can_be_read_and_topped_up(box: Sandbox) -> None:
    assert get(box, "/balance.json") == {"balance": "1000.000000", "currency": "USD"}
    assert call(box, "POST", "/balance.json", {"add": "0.5"}) == (200, {"balance": "1000.500000", "currency": "USD"})


def test_moving_the_clock_ends_a_lifetime_at_once(box: Sandbox) -> None:
    post(box, "otp.send", to=US, code="123456", ttl=600)
    box.advance(599)
    assert post(box, "otp.verify", to=US, code="654321")["valid"] is False
    before = box.advance(-1)
    assert box.advance(3) - before < timedelta(seconds=10)
    assert post(box, "otp.verify", to=US, code="123456")["valid"] is False


def test_a_clock_that_was_moved_is_reset_to_the_machines_time(box: Sandbox) -> None:
    moved = box.advance(86_400)
    post(box, "otp.send", to=US)
    assert timedelta(0) <= box.inbox["at"].iloc[0] - moved < timedelta(minutes=2)
    assert call(box, "POST", "/clock.json", {"reset": True})[1]["ahead"] == 0 == box._ahead


def test_a_state_file_keeps_the_clock(tmp_path: Any) -> None:
    with Sandbox(state=tmp_path / "box.sqlite") as first:
        first.advance(3600)
    with Sandbox(state=tmp_path / "box.sqlite") as second:
        assert round(get(second, "/clock.json")["ahead"]) == 3600


NO_TIME: list[Any] = [{}, [], {"advance": "soon"}, {"advance": None}, {"advance": 1e300}, {"forward": 1}]
NO_TIME += [{"reset": False}, {"reset": 1.5}, {"advance": 5, "reset": True}, {"advance": True}, {"advance": [1]}]


@pytest.mark.parametrize("asked", NO_TIME, ids=str)
def test_a_clock_order_that_makes_no_sense_changes_nothing(box: Sandbox, asked: Any) -> None:
    assert call(box, "POST", "/clock.json", asked)[0] == 400
    assert abs(get(box, "/clock.json")["ahead"]) < 1


# HMAC mode

SECRET = "hmac-secret-of-the-tests"
ENCODINGS: dict[str, Callable[[str], str]] = {
    "raw": str,
    "percent": lambda value: quote(value, safe=""),
    "form": quote_plus,
    "JavaScript": lambda value: quote(value, safe="!'()*"),
}
DIGESTS: dict[str, Callable[[bytes], str]] = {
    "base64": lambda digest: base64.b64encode(digest).decode(),
    "hex": bytes.hex,
}
TIMES = {"milliseconds": lambda: str(int(time.time() * 1000)), "seconds": lambda: str(int(time.time()))}


def signed_path(
    *, encode: Callable[[str], str], digest: Callable[[bytes], str], timestamp: str, nonce: str, secret: str = SECRET
) -> str:
    pairs = {
        "action": "otp.verify",
        "accessKeyId": "key (id)+1!",
        "algorithm": "hmac-sha256",
        "timestamp": timestamp,
        "nonce": nonce,
    }
    text = "&".join(f"{encode(name)}={encode(pairs[name])}" for name in sorted(pairs))
    signature = digest(hmac.new(secret.encode(), text.encode(), hashlib.sha256).digest())
    return "/?" + urlencode(pairs | {"signature": signature})


@pytest.fixture(scope="module")
def signed_box() -> Iterator[Sandbox]:
    with Sandbox(rules=Rules(secret=SECRET)) as running:
        yield running


@pytest.mark.parametrize("encode", ENCODINGS.values(), ids=ENCODINGS.keys())
@pytest.mark.parametrize("digest", DIGESTS.values(), ids=DIGESTS.keys())
@pytest.mark.parametrize("now", TIMES.values(), ids=TIMES.keys())
def test_every_spelling_of_a_signature_in_the_field_is_taken(
    signed_box: Sandbox, encode: Any, digest: Any, now: Any
) -> None:
    nonce = hashlib.sha256(repr((encode, digest, now)).encode()).hexdigest()[:20] + " +/"
    path = signed_path(encode=encode, digest=digest, timestamp=now(), nonce=nonce)
    assert call(signed_box, "POST", path, {"to": US, "code": "123456"})[0] == 200
    status, envelope = call(signed_box, "POST", path, {"to": US, "code": "123456"})
    assert (status, envelope["code"]) == (400, "104201"), "a nonce is taken once"


def test_a_moved_clock_does_not_spoil_signatures(signed_box: Sandbox) -> None:
    signed_box.advance(86_400)
    path = signed_path(encode=str, digest=DIGESTS["hex"], timestamp=TIMES["seconds"](), nonce="after-the-move")
    assert call(signed_box, "POST", path, {"to": US, "code": "123456"})[0] == 200


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"secret": "another"}, "104201"),
        ({"nonce": "short"}, "104201"),
        ({"nonce": "n" * 65}, "104201"),
        ({"timestamp": "1000000000"}, "104202"),
        ({"timestamp": "now"}, "104202"),
        ({"timestamp": "-1"}, "104202"),
        ({"timestamp": "٣" * 10}, "104202"),
    ],
    ids=str,
)
def test_a_signature_that_does_not_hold_is_refused(signed_box: Sandbox, changes: dict[str, str], code: str) -> None:
    asked = {"encode": str, "digest": DIGESTS["base64"], "timestamp": TIMES["seconds"](), "nonce": "a-good-nonce"}
    status, envelope = call(signed_box, "POST", signed_path(**(asked | changes)), {"to": US, "code": "123456"})  # type: ignore[arg-type]
    assert (status, envelope["code"]) == (400, code)


def test_the_secret_is_shown_nowhere(signed_box: Sandbox) -> None:
    shown = [repr(Rules(secret=SECRET)), repr(signed_box), json.dumps(get(signed_box, "/sandbox.json"))]
    assert not any(SECRET in text for text in shown)
    assert get(signed_box, "/sandbox.json")["hmac"] is True


# templates and host


def test_templates_of_your_own_come_from_a_file(tmp_path: Any) -> None:
    file = tmp_path / "templates.json"
    file.write_text('{"welcome": "Hello {name}"}', encoding="utf-8")
    with Sandbox(rules=Rules(templates=file)) as box:
        post(box, "sms.message.send", to=US, templateId="welcome", templateData={"name": "<b>Anna</b>"})
        assert box.inbox["text"].tolist() == ["Hello <b>Anna</b>"]
        assert "welcome" in get(box, "/sandbox.json")["templates"]


@pytest.mark.parametrize("text", ["", "[]", '{"a": 1}', '{"a": ""}', "[" * 100_000, None])
def test_a_templates_file_that_is_none_is_refused(tmp_path: Any, text: str | None) -> None:
    file = tmp_path / "templates.json"
    if text is not None:
        file.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match="template"):
        Sandbox(rules=Rules(templates=file))


def test_the_inbox_is_narrowed_by_a_wording_of_the_summary(filled: Sandbox) -> None:
    shapes = [row["shape"] for row in get(filled, "/summary.json")["wordings"]]
    found = [get(filled, f"/inbox.json?detail=1&shape={shape}")["messages"] for shape in shapes]
    assert [[message["n"] for message in messages] for messages in found] == [[4], [1, 2, 3]]


# one message


def test_one_message_is_deleted_and_the_sums_follow(filled: Sandbox) -> None:
    (first, *_others) = get(filled, "/inbox.json?detail=1")["messages"]
    before = get(filled, "/summary.json")
    status, about = call(filled, "DELETE", f"/inbox.json?id={first['id']}")
    assert (status, about["messages"]) == (200, 3)
    after = get(filled, "/summary.json")
    assert [message["n"] for message in get(filled, "/inbox.json?detail=1")["messages"]] == [2, 3, 4]
    assert float(before["price"]) - float(after["price"]) == pytest.approx(float(first["price"]))
    assert [row["messages"] for row in after["wordings"] if row["shape"] == first["shape"]] == [2]
    assert before["balance"] == after["balance"]


@pytest.mark.parametrize("query", ["id=nobody", "id=", "to=%2B12025550123"])
def test_a_deletion_that_names_no_message_deletes_nothing(filled: Sandbox, query: str) -> None:
    assert call(filled, "DELETE", f"/inbox.json?{query}")[0] in (400, 404)
    assert len(get(filled, "/inbox.json")["messages"]) == 4
