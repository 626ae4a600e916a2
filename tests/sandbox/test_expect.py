"""What a test expects of the inbox: found at once, waited for, or refused with what came last."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from smsotp_nb import Sandbox
from smsotp_nb.errors import ExpectationError, UsageError

US, FR = "+12025550123", "+33199001234"


@pytest.mark.parametrize(
    "expected",
    [
        {},
        {"to": US, "text": "Your order 4711 is ready."},
        {"text_matches": r"order \d+", "times": 1},
        {"kind": "passcode", "code": "004217", "intent": "login", "channel": "sms"},
        {"kind": "message", "signature": None, "template_id": None, "parts": 1, "iso": "US"},
        {"code_matches": "^0042", "signature_matches": "Ac"},
        {"text": "not there", "times": 0},
        {"after": 1, "times": 1},
    ],
    ids=str,
)
def test_an_expectation_that_holds_returns_the_messages(box: Sandbox, expected: dict[str, Any]) -> None:
    client = box.client()
    client.send_message(US, text="Your order 4711 is ready.")
    client.send_otp(US, code="004217", intent="login", signature="Acme")
    frame = box.expect(**expected)
    assert list(frame.columns) == list(box.inbox.columns)
    assert len(frame) == {0: 0, 1: 1}.get(expected.get("times", -1), len(frame))


def test_a_message_that_comes_later_is_waited_for(box: Sandbox) -> None:
    client = box.client()
    threading.Timer(0.2, lambda: client.send_message(US, text="late")).start()
    begun = time.monotonic()
    assert len(box.expect(text="late", times=1, within=60)) == 1
    assert time.monotonic() - begun < 50


def test_a_second_copy_is_noticed_while_the_inbox_settles(box: Sandbox) -> None:
    client = box.client()
    client.send_message(US, text="Hi")
    threading.Timer(0.1, lambda: client.send_message(US, text="Hi")).start()
    with pytest.raises(ExpectationError, match="found 2") as caught:
        box.expect(text="Hi", times=1, settle=20)
    assert caught.value.found == 2


def test_a_failure_says_what_was_expected_and_what_came_last(box: Sandbox) -> None:
    """Failed tests end up in logs: numbers and passcodes are masked."""
    client = box.client()
    for n in range(7):
        client.send_message(FR, text=f"Text {n}")
    client.send_otp(US, code="73519264")
    with pytest.raises(ExpectationError) as caught:
        box.expect(to=US, text_matches="order", times=1)
    words = str(caught.value)
    assert words.startswith("Expected exactly 1 message with to '+1202...0123' and text matching 'order'; found none.")
    assert len(caught.value.latest) == 5
    assert caught.value.latest[0].endswith("to +1202...0123: 'Your verification code is ********.'")
    assert [line[-8:] for line in caught.value.latest[1:]] == [f"'Text {n}'" for n in (6, 5, 4, 3)]
    assert not any(secret in words for secret in (US, FR, "73519264"))
    assert isinstance(caught.value, AssertionError)


@pytest.mark.parametrize(
    ("expected", "words"),
    [
        ({"colour": "blue"}, "no argument colour="),
        ({"txt": "x"}, "did you mean 'text'"),
        ({"text": ["x"]}, "text= must be one text or number"),
        ({"text_matches": "("}, "text_matches= is not a regular expression"),
        ({"times": -1}, "times= must be a whole number"),
        ({"within": "soon"}, "within= must be seconds"),
        ({"settle": -1}, "settle= must be seconds"),
        ({"after": 1.5}, "after= must be a whole number"),
    ],
    ids=str,
)
def test_an_expectation_that_cannot_be_read_is_refused(box: Sandbox, expected: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words.replace("(", r"\(")):
        box.expect(**expected)
