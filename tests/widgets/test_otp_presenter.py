"""The presenter without a browser: what its buttons do to the sandbox, and what it shows of requests and replies."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from datetime import datetime

import pytest

from smsotp_nb import Sandbox
from smsotp_nb._client import once
from smsotp_nb._widgets.otp.presenter import ENDED, FAULTY, NO_CODE, Desk, exchanges, log_html
from smsotp_nb._widgets.otp.steps import OtpSteps, SandboxClock
from smsotp_nb.otp import Request
from smsotp_nb.settings import Secret
from smsotp_nb.widgets import OtpPresenter

ANNA = "+12025550123"
OWN = "48151623"


@pytest.fixture(scope="module")
def running() -> Iterator[Sandbox]:
    with Sandbox() as made:
        yield made


@pytest.fixture
def box(running: Sandbox) -> Sandbox:
    """A sandbox as if it had just begun, but for its journal."""
    running.clear_faults()
    running.clear()
    running.advance(-running._ahead)
    return running


@pytest.fixture
def steps(box: Sandbox) -> OtpSteps:
    clock = SandboxClock(box)

    def now() -> datetime:
        clock.look()
        return clock()

    return OtpSteps(once(box.client()), now=now, resend_wait=0)


@pytest.fixture
def desk(box: Sandbox, steps: OtpSteps) -> Desk:
    return Desk(box, steps)


def results(desk: Desk) -> list[str]:
    return [one.result.partition(":")[0] for one in desk.exchanges()]


def test_a_code_is_let_expire_once(desk: Desk, steps: OtpSteps, box: Sandbox) -> None:
    assert desk.expire() == NO_CODE
    steps.send(Request(ANNA, ttl=90))
    assert desk.expire() == "The sandbox's clock moved on by 90 seconds: the code has expired."
    assert desk.expire() == "The code has expired already."
    steps.verify(box.code(ANNA) or "")
    assert "it has most likely expired" in steps.notice.text
    assert results(desk) == ["a Challenge", "False"]


def test_the_next_reply_is_lost_and_only_that_one(desk: Desk, steps: OtpSteps, box: Sandbox) -> None:
    desk.lose_reply()
    steps.send(Request(ANNA))
    steps.verify(box.code(ANNA) or "")
    assert steps.stage == "verified"
    assert results(desk) == ["raises InDoubt", "True"]
    assert desk.exchanges()[0].reply == "no reply: the connection broke after the sandbox had accepted it"


def test_the_next_request_is_throttled(desk: Desk, steps: OtpSteps, box: Sandbox) -> None:
    desk.throttle()
    steps.send(Request(ANNA))
    assert (steps.stage, len(box.inbox)) == ("request", 0)
    assert 8 <= steps.view().pausing <= 10
    assert [(one.reply, one.result) for one in desk.exchanges()] == [
        ("429 Too Many Requests, with Retry-After", "raises Throttled: certainly not accepted")
    ]


def test_a_locked_passcode_is_refused_although_it_is_right(desk: Desk, steps: OtpSteps, box: Sandbox) -> None:
    assert desk.lock() == NO_CODE
    steps.send(Request(ANNA))
    assert desk.lock().startswith("5 wrong codes were checked")
    steps.verify(box.code(ANNA) or "")
    assert steps.stage == "entry"
    assert results(desk) == ["a Challenge", *["False"] * 6]


def test_locking_meets_a_fault_and_says_so(desk: Desk, steps: OtpSteps) -> None:
    steps.send(Request(ANNA))
    desk.throttle()
    assert desk.lock() == FAULTY


def test_reset_takes_everything_back(desk: Desk, steps: OtpSteps, box: Sandbox) -> None:
    steps.send(Request(ANNA))
    desk.expire()
    desk.lose_reply()
    desk.throttle()
    box.fault("latency", seconds=0.01)
    desk.reset()
    assert [fault.kind for fault in box.faults] == ["latency"]
    assert abs(box._ahead) < 1
    assert (len(box.inbox), desk.exchanges(), steps.view().step) == (0, [], 1)
    steps.send(Request(ANNA))
    assert [one.number for one in desk.exchanges()] == [1]


def test_a_reset_ends_a_pause(desk: Desk, steps: OtpSteps) -> None:
    desk.throttle()
    steps.send(Request(ANNA))
    desk.reset()
    assert (steps.view().pausing, steps.view().can_send) == (0, True)


@pytest.mark.parametrize("act", [Desk.lose_reply, Desk.throttle, Desk.reset], ids=lambda act: act.__name__)
def test_a_sandbox_that_ended_is_said(act: Callable[[Desk], str]) -> None:
    with Sandbox() as box:
        desk = Desk(box, OtpSteps(box.client()))
    assert act(desk) == ENDED
    assert desk.exchanges() == []


# -- what is shown of a request and its reply


def test_no_code_no_number_and_no_key_is_shown(box: Sandbox) -> None:
    client = once(box.client(access_key_id="canary-4711"))
    steps = OtpSteps(client)
    before = int(box.requests["n"].max()) if len(box.requests) else 0
    steps.send(Request(ANNA, intent="<b>", channel="sms"))
    right = box.code(ANNA) or ""
    steps.verify("31415926")
    steps.verify(right)
    shown = log_html(exchanges(box.requests, after=before))
    assert not [secret for secret in (ANNA[1:], right, "31415926", "canary-4711", "<b>") if secret in shown]
    assert "accessKeyId=***" in shown
    assert "sms.otp.send(number, client, intent=&#x27;&lt;b&gt;&#x27;, channel=&#x27;sms&#x27;)" in shown


@pytest.mark.parametrize("kind", ["half", "html", "fewer", "error_after", "drop_before"])
def test_a_spoiled_reply_is_shown_as_the_client_reads_it(kind: str, desk: Desk, steps: OtpSteps, box: Sandbox) -> None:
    box.fault(kind, next=1)
    steps.send(Request(ANNA, code=Secret(OWN)))
    assert results(desk) == ["a Challenge" if steps.view().answered else "raises InDoubt"]
    assert not steps.view().answered
    assert OWN not in log_html(desk.exchanges())
    assert ANNA[1:] not in log_html(desk.exchanges())
    assert desk.exchanges()[0].call == "challenge = sms.otp.send(number, client, code=custom_code)"


def test_a_refusal_is_shown_as_the_error_it_raises(desk: Desk, steps: OtpSteps) -> None:
    steps.send(Request("+19075550111"))
    assert results(desk) == ["raises InvalidPhoneNumbers"]
    assert json.loads(desk.exchanges()[0].reply.partition("\n")[2])["code"] == "107111"


# -- the widget


def test_buttons_act_and_the_log_follows_the_form(box: Sandbox) -> None:
    presenter = OtpPresenter(box)
    presenter.lose_button.click()
    until(lambda: "its reply lost" in presenter._said.value)
    presenter.form.steps.send(Request(ANNA))
    assert "raises InDoubt" in presenter._log.value
    assert presenter._said.value == ""
    presenter.reset_button.click()
    until(lambda: "Nothing was asked" in presenter._log.value)
    assert presenter.form.steps.stage == "request"


def until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + 120
    while not true():
        assert time.monotonic() < end
        time.sleep(0.01)
