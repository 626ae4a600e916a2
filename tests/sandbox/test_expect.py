"""Expectations: 200 or 409 for any language, with the nearest misses in words; `box.expect` is the same."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from http.client import HTTPException
from pathlib import Path
from typing import Any

import pytest
from support.sockets import call, without_token

from smsotp_nb import Sandbox
from smsotp_nb.errors import ExpectationError, UsageError

ROOT = Path(__file__).parents[2]
US, FR, SE = "+12025550123", "+33199001234", "+46701740605"
SEND, OTP = "sms.message.send", "otp.send"


def post(box: Sandbox, action: str, **fields: Any) -> None:
    with suppress(HTTPException, ConnectionError):  # faults leave without an answer
        call(box, "POST", f"/?action={action}&accessKeyId=k", fields)


def expect(box: Sandbox, **fields: Any) -> tuple[int, Any]:
    return call(box, "POST", "/expect.json", fields)


@pytest.fixture
def filled(box: Sandbox) -> Sandbox:
    post(box, SEND, to=[US, FR], content="Hi Anna", signature="Acme")
    post(box, OTP, to=US, code="004211", intent="login", channel="whatsapp")
    return box


# met

MET: list[tuple[dict[str, Any], int]] = [
    ({}, 3),
    ({"to": US}, 2),
    ({"to": "12025550123", "times": 2}, 2),
    ({"to": US, "text": "[Acme] Hi Anna", "times": 1}, 1),
    ({"text~": "anna", "times": 0}, 0),
    ({"text~": "(?i)anna", "times": 2}, 2),
    ({"text~": r"code is \d{6}\."}, 1),
    ({"to~": "^[+]33"}, 1),
    ({"kind": "passcode", "intent": "login", "channel": "whatsapp", "code": "004211"}, 1),
    ({"code~": "^00"}, 1),
    ({"code": None, "times": 2}, 2),
    ({"signature": "Acme", "iso": "FR", "parts": 1}, 1),
    ({"parts~": "^1$"}, 3),
    ({"after": 2, "times": 1}, 1),
    ({"times": None}, 3),
    ({"to": SE, "times": 0}, 0),
]


@pytest.mark.parametrize(("fields", "found"), MET, ids=[str(fields) for fields, _ in MET])
def test_an_expectation_that_is_met_is_200(filled: Sandbox, fields: dict[str, Any], found: int) -> None:
    status, answer = expect(filled, **fields)
    assert (status, answer["met"], answer["found"]) == (200, True, found)
    assert len(answer["messages"]) == found


NOT_MET: list[dict[str, Any]] = [
    {"to": SE},
    {"to": US, "times": 1},
    {"to": US, "times": 3},
    {"text~": "Bob"},
    {"text": "Hi Anna"},
    {"kind": "message", "times": 0},
    {"intent": "signup"},
    {"after": 3},
    {"templateId": None, "times": 1},
]


@pytest.mark.parametrize("fields", NOT_MET, ids=str)
def test_an_expectation_that_is_not_met_is_409_and_says_what_was_expected(
    filled: Sandbox, fields: dict[str, Any]
) -> None:
    status, answer = expect(filled, **fields)
    assert (status, answer["met"]) == (409, False)
    assert answer["expected"] in answer["error"]
    assert answer["misses"] or "after" in fields


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"too": US}, "too is unknown"),
    ({"to": [US, FR]}, "to must be one text"),
    ({"text~": "("}, "not a regular expression"),
    ({"text~": r"(a)\1"}, "not a regular expression"),
    ({"text~": 5}, "regular expression"),
    ({"text~": "x" * 1001}, "at most 1000"),
    ({"text~": "\ud800"}, "half a character"),
    ({"times": -1}, "times must be a whole number"),
    ({"times": True}, "times must be a whole number"),
    ({"times": 1.5}, "times must be a whole number"),
    ({"within": 61}, "within must be from 0 to 60"),
    ({"within": "5"}, "within must be from 0 to 60"),
    ({"settle": 21}, "settle must be from 0 to 20"),
    ({"within": True}, "within must be from 0 to 60"),
    ({"parts": "1"}, "parts must be a whole number"),
    ({"after": "1"}, "after must be a whole number"),
]


@pytest.mark.parametrize(("fields", "said"), WRONG, ids=[said for _, said in WRONG])
def test_an_expectation_that_cannot_be_read_is_400(box: Sandbox, fields: dict[str, Any], said: str) -> None:
    status, answer = expect(box, **fields)
    assert status == 400
    assert said in answer["error"]


@pytest.mark.parametrize("fields", [[], "x", None, 5])
def test_only_an_object_is_an_expectation(box: Sandbox, fields: Any) -> None:
    assert call(box, "POST", "/expect.json", fields)[0] == 400


# misses


def test_the_nearest_miss_comes_first_and_says_what_differs(filled: Sandbox) -> None:
    _status, answer = expect(filled, to=US, text="[Acme] Hi Bob")
    first, second, third = answer["misses"]
    assert first.startswith("message 1 at ")
    assert first.endswith(f"to {US}: text is '[Acme] Hi Anna', not '[Acme] Hi Bob'")
    assert second.startswith("message 3 at ")
    assert "to is +33199001234, not +12025550123; text is '[Acme] Hi Anna', not" in third
    assert answer["error"] == (
        f"Expected at least 1 message with to {US} and text '[Acme] Hi Bob'; found none among 3 messages."
    )


def test_a_typing_error_in_the_number_is_near(filled: Sandbox) -> None:
    _status, answer = expect(filled, to="+12025550132", kind="message")
    assert f"to is {US}, not +12025550132" in answer["misses"][0]


def test_too_many_messages_are_named(filled: Sandbox) -> None:
    post(filled, SEND, to=FR, text="Again")
    _status, answer = expect(filled, to=FR, times=1)
    assert [re.sub(r" at \S+", "", words) for words in answer["misses"]] == [
        f"message 2 to {FR} is as expected",
        f"message 4 to {FR} is as expected",
    ]
    assert "Expected exactly 1 message" in answer["error"]
    assert "found 2" in answer["error"]


def test_a_request_that_was_refused_or_struck_is_a_near_miss(box: Sandbox) -> None:
    post(box, SEND, to=[US, "nobody"], text="Hi Anna")
    box.fault("drop_before", next=1)
    post(box, SEND, to=US, text="Hi Bob")
    _status, answer = expect(box, to=US, text="Hi Bob")
    struck, refused = answer["misses"]
    assert "request 2 at " in struck
    assert "(sms.message.send) was struck by drop_before: the connection is reset, nothing was accepted" in struck
    assert "request 1 at " in refused
    assert "was refused: 107111 InvalidPhoneNumbers; text is 'Hi Anna', not 'Hi Bob'" in refused
    assert "found none among 0 messages; 2 requests refused or struck." in answer["error"]


def test_a_pattern_that_does_not_match_says_so(filled: Sandbox) -> None:
    _status, answer = expect(filled, to=US, **{"text~": "^Hi"})
    assert any("text is '[Acme] Hi Anna', which does not match '^Hi'" in words for words in answer["misses"])


def test_a_passcode_is_in_no_miss(filled: Sandbox) -> None:
    _status, answer = expect(filled, to=US, code="999999")
    assert "its code is another one, of 6 digits" in answer["misses"][0]
    assert "004211" not in json.dumps(expect(filled, to=US, text="Hi")[1])


# waiting


def later(act: Callable[[], None], seconds: float = 0.3) -> threading.Timer:
    timer = threading.Timer(seconds, act)
    timer.start()
    return timer


def test_it_answers_as_soon_as_the_last_expected_message_has_come(box: Sandbox) -> None:
    timer = later(lambda: [post(box, OTP, to=US), post(box, OTP, to=US)][0])
    began = time.monotonic()
    status, answer = expect(box, to=US, times=2, within=60)
    timer.join()
    assert (status, answer["found"]) == (200, 2)
    assert time.monotonic() - began < 55  # of the 60 that it would wait


def test_it_answers_as_soon_as_one_too_many_has_come(box: Sandbox) -> None:
    timer = later(lambda: post(box, SEND, to=[US, FR], text="Hi"))
    began = time.monotonic()
    status, _answer = expect(box, times=0, within=60)
    timer.join()
    assert status == 409
    assert time.monotonic() - began < 55  # of the 60 that it would wait


def test_a_second_copy_that_comes_later_is_noticed_where_it_is_waited_for(box: Sandbox) -> None:
    post(box, OTP, to=US)
    assert expect(box, to=US, times=1)[0] == 200, "with the first one, unless told to wait"
    timer = later(lambda: post(box, OTP, to=US))
    status, answer = expect(box, to=US, times=1, settle=20)
    timer.join()
    assert (status, answer["found"]) == (409, 2)
    assert answer["expected"] == f"exactly 1 message with to {US} and no more for 20 s"


def test_what_settles_begins_with_the_last_expected_message(box: Sandbox) -> None:
    began = time.monotonic()
    timer = later(lambda: post(box, OTP, to=US))
    assert expect(box, to=US, times=1, within=60, settle=0.3)[0] == 200
    timer.join()
    assert 0.6 <= time.monotonic() - began < 55


def test_none_is_known_only_when_the_time_has_passed(box: Sandbox) -> None:
    began = time.monotonic()
    assert expect(box, times=0, within=0.3)[0] == 200
    assert time.monotonic() - began >= 0.3


def test_an_expectation_that_waits_does_not_hold_up_the_end(box: Sandbox) -> None:
    answers: list[Any] = []
    waiter = threading.Thread(target=lambda: answers.append(expect(box, within=60)))
    waiter.start()
    time.sleep(0.5)
    box.close()
    waiter.join(120)
    assert [status for status, _ in answers] == [409]


def test_a_pattern_made_to_be_slow_holds_up_nobody(box: Sandbox) -> None:
    """With a backtracking engine this takes until the end of the world."""
    post(box, SEND, to=US, text="a" * 20_000 + " b")
    began = time.process_time()
    assert expect(box, **{"text~": "(a*)*(a*)*c$"})[0] == 409
    assert time.process_time() - began < 10


def test_many_messages_are_counted(box: Sandbox) -> None:
    box.top_up(10_000)
    for _ in range(3):
        post(box, SEND, to=[US] * 1000, text="Hi")
    status, answer = expect(box, text="Hi", times=3000)
    assert (status, answer["found"], len(answer["messages"])) == (200, 3000, 100)


# the same in Python


def test_box_expect_returns_the_messages_as_a_frame(filled: Sandbox) -> None:
    found = filled.expect(to=US, text_matches="Hi", template_id=None, times=1)
    assert found["text"].tolist() == ["[Acme] Hi Anna"]
    assert found.dtypes.equals(filled.inbox.dtypes)
    assert len(filled.expect({"text~": "Hi"}, signature="Acme")) == 2
    assert len(filled.expect(to=SE, times=0)) == 0


def test_box_expect_raises_an_assertion_error_that_masks_numbers(filled: Sandbox) -> None:
    with pytest.raises(AssertionError) as caught:
        filled.expect(to=FR, text_matches="Bob", within=0.1)
    error = caught.value
    assert isinstance(error, ExpectationError)
    assert "Expected at least 1 message with to +3319...1234 and text matching 'Bob' within 0.1 s" in str(error)
    assert "nearest: message 2 at" in str(error)
    assert FR not in str(error)
    assert (error.found, len(error.misses)) == (0, 3)


def test_box_expect_says_what_it_cannot_read(box: Sandbox) -> None:
    with pytest.raises(UsageError, match="colour is unknown"):
        box.expect(colour="blue")


# in other languages, as docs/sandbox.md shows them

DOCUMENT = (ROOT / "docs" / "sandbox.md").read_text(encoding="utf-8")


def shown(language: str, holding: str) -> str:
    blocks = re.findall(rf"```{language}\n(.*?)```", DOCUMENT, flags=re.DOTALL)
    return next(block for block in blocks if holding in block)


@pytest.fixture
def command() -> Iterator[Sandbox]:
    with without_token() as running:
        yield running


@pytest.mark.skipif(shutil.which("node") is None, reason="not found: node")
def test_the_javascript_test_of_the_document_runs(command: Sandbox, tmp_path: Path) -> None:
    (tmp_path / "login.test.mjs").write_text(shown("javascript", "/expect.json"), encoding="utf-8")
    node, env = ["node", "--test", str(tmp_path)], os.environ | {"SANDBOX_URL": command.url}
    done = subprocess.run(node, env=env, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "pass 1" in done.stdout
    assert len(command.inbox) == 1
    command.fault("error_before")
    done = subprocess.run(node, env=env, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 1, "it fails where nothing was sent"


@pytest.mark.skipif(shutil.which("curl") is None, reason="not found: curl")
def test_the_curl_line_of_the_document_runs(command: Sandbox) -> None:
    line = shown("sh", "/expect.json").replace("http://127.0.0.1:8025", command.url)
    line = line.replace('"within": 5', '"within": 0')
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode != 0
    assert "found none among 0 messages" in done.stdout
    post(command, OTP, to=US)
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, json.loads(done.stdout)["met"]) == (0, True)
