"""The passcode form without a browser: its moves, its words, its guards, and what its widgets hold."""

from __future__ import annotations

import html
import logging
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import ipywidgets
import pandas as pd
import pytest
from support.forms import every, states, waited
from support.phone_lists import example

from smsotp_nb import Client, Ledger, Sandbox
from smsotp_nb._widgets.inbox import inbox_html
from smsotp_nb._widgets.otp.steps import OtpSteps, number_hint
from smsotp_nb._widgets.otp.words import lines, no_match
from smsotp_nb._widgets.skin import digits_of, settled
from smsotp_nb._widgets.stages import Notice
from smsotp_nb._wire import MessageRecord, OtpReply, VerifyReply
from smsotp_nb.errors import InDoubt, LedgerError, NotSent, ServiceError, Throttled
from smsotp_nb.otp import Request
from smsotp_nb.settings import Secret, Settings
from smsotp_nb.widgets import OtpForm

ANNA = "+12025550123"
BEN = "+14155550100"


class Clock:
    """A clock that moves when told to."""

    def __init__(self) -> None:
        self.time = datetime(2026, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.time

    def wait(self, seconds: float) -> None:
        self.time += timedelta(seconds=seconds)


class Scripted(Client):
    """A live service whose answers a test chooses; an exception is raised."""

    def __init__(self, *answers: Any) -> None:
        super().__init__(Settings(base_url="https://sms.example", access_key_id=Secret("key")))
        self.answers = list(answers)
        self.asked: list[str] = []

    def _next(self, what: str) -> Any:
        self.asked.append(what)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer() if callable(answer) else answer

    def send_otp(self, to: str, **_: Any) -> OtpReply:  # type: ignore[override]
        self._next("send")
        return OtpReply(record=MessageRecord(id="1", to=to, iso="US", parts=1, price_micros=7500))

    def verify_otp(self, to: str, code: str, **_: Any) -> VerifyReply:  # type: ignore[override]
        return VerifyReply(to=to, valid=self._next("verify"))


@pytest.fixture(scope="module")
def box() -> Iterator[Sandbox]:
    with Sandbox() as made:
        yield made


@pytest.fixture(autouse=True)
def no_swallowed_errors(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """A button's callback swallows exceptions and only logs them."""
    yield
    swallowed = [record.getMessage() for record in caplog.records if "callback" in record.getMessage()]
    assert swallowed == []


@pytest.fixture
def clock() -> Clock:
    return Clock()


def scripted(clock: Clock, *answers: Any, **options: Any) -> OtpSteps:
    client: Any = Scripted(*answers)
    return OtpSteps(client, now=clock, **options)


# -- the three steps


def test_the_three_steps_on_the_sandbox(box: Sandbox) -> None:
    steps = OtpSteps(box.client())
    seen = [steps.view().step]
    steps.send(Request(ANNA, intent="login"))
    seen.append(steps.view().step)
    assert steps.notice == Notice(steps.notice.text, "ok")
    assert steps.notice.text.startswith("Accepted for +1202...0123, US, 1 part, USD 0.")
    assert steps.view().asked == "To +1202...0123: automatic channel, 6 digits, intent login"
    steps.verify(box.code(ANNA) or "")
    seen.append(steps.view().step)
    assert seen == [1, 2, 3]
    assert steps.notice.text.startswith("The service confirmed the code for +1202...0123 at ")


@pytest.mark.parametrize(
    ("stage", "next_"),
    [("request", "send"), ("sending", "send"), ("entry", "verify"), ("checking", "verify"), ("verified", "restart")],
)
def test_each_state_has_one_thing_to_do_next(clock: Clock, stage: Any, next_: str) -> None:
    steps = scripted(clock, None)
    if stage in ("entry", "checking", "verified"):
        steps.send(Request(ANNA))
    steps.stage = stage
    assert steps.view().next == next_


def test_an_expired_code_says_so_by_whose_clock_and_may_still_be_asked_about(clock: Clock) -> None:
    steps = scripted(clock, None, False)
    steps.send(Request(ANNA, ttl=60))
    assert (steps.view().left, steps.view().lifetime, steps.view().expired) == (60, 60, False)
    clock.wait(60)
    view = steps.view()
    assert (view.expired, view.can_enter, view.next) == (True, True, "send")
    assert view.notice == Notice("By this machine's clock this passcode has expired. Send a new code.", "warn")
    clock.wait(90)
    steps.verify("123456")
    assert steps.view().notice.text == (
        "The service says that the code does not match. By this machine's clock it was sent 2 minutes ago and was "
        "valid for 60 seconds: it has most likely expired. Send a new code."
    )


def test_a_new_code_waits_and_then_starts_over(clock: Clock) -> None:
    steps = scripted(clock, None, None, resend_wait=30)
    steps.send(Request(ANNA))
    assert (steps.view().can_send, steps.view().send_label) == (False, "Send a new code in 0:30")
    steps.resend()
    assert steps.client.asked == ["send"]  # type: ignore[attr-defined]
    clock.wait(30)
    assert (steps.view().can_send, steps.view().send_label) == (True, "Send a new code")
    steps.resend()
    assert steps.client.asked == ["send", "send"]  # type: ignore[attr-defined]
    assert steps.view().left == 300


# -- why a code does not match: what the service said, and what the form adds of its own


def test_a_wrong_code_says_so_and_counts_down(clock: Clock) -> None:
    steps = scripted(clock, None, False, False, max_tries=2)
    steps.send(Request(ANNA))
    steps.verify("000000")
    said = "The service says that the code does not match. Check it and try again; 1 try left in this form."
    assert steps.notice == Notice(said, "bad")
    steps.verify("111111")
    assert "wrong code 2 of the 2 that this form takes" in steps.notice.text
    assert "how many the service takes is not known" in steps.notice.text
    assert (steps.view().can_enter, steps.view().next) == (False, "send")


def test_after_a_check_without_an_answer_a_code_that_does_not_match_may_be_used_up(clock: Clock) -> None:
    steps = scripted(clock, None, InDoubt("no answer", phase="awaiting"), False)
    steps.send(Request(ANNA))
    steps.verify("123456")
    assert "whether the code is right is not known" in steps.notice.text
    steps.verify("123456")
    assert "if it succeeded, the code is used up, which the service does not tell" in steps.notice.text


def test_after_a_second_passcode_the_newest_is_asked_for(clock: Clock) -> None:
    steps = scripted(clock, None, None, False, resend_wait=0)
    steps.send(Request(ANNA))
    steps.resend()
    steps.verify("000000")
    assert "Use the code of the newest message; 4 tries left in this form." in steps.notice.text


def test_what_locks_a_passcode_is_told_in_the_services_words(clock: Clock) -> None:
    steps = scripted(clock, None, ServiceError("no", error_code="105300", name="LimitExceed"))
    steps.send(Request(ANNA))
    steps.verify("000000")
    assert steps.notice == Notice("The code was not checked. The service said LimitExceed (105300).", "bad")


@pytest.mark.parametrize(
    ("known", "held"),
    [
        ({"age": 300}, "By the sandbox's clock it was sent 5 minutes ago"),
        ({"age": 400, "accepted": False}, "it was asked for 6 minutes ago"),
        ({"age": 299}, "Check it and try again; 4 tries left"),
    ],
    ids=["just expired", "send in doubt", "not expired"],
)
def test_time_is_told_by_the_forms_clock(known: dict[str, Any], held: str) -> None:
    said = no_match(**known, lifetime=300, clock="the sandbox's clock", left=4, most=5)
    assert said.startswith("The service says that the code does not match. ")
    assert held in said


# -- trouble, in words


def test_a_send_in_doubt_lets_the_code_be_entered_and_sends_nothing_again(clock: Clock) -> None:
    steps = scripted(clock, InDoubt("no answer", phase="awaiting"), True)
    steps.send(Request(ANNA))
    assert steps.notice.text == (
        "No answer came: the passcode may or may not have been sent. If a message arrives, enter its code. If none "
        "does, send a new one; both may be billed."
    )
    assert not steps.view().answered
    steps.verify("123456")
    assert steps.stage == "verified"
    assert steps.client.asked == ["send", "verify"]  # type: ignore[attr-defined]


def test_in_doubt_the_code_asked_for_is_the_message_that_arrived_since(box: Sandbox) -> None:
    steps = OtpSteps(box.client())
    box.client().send_otp(ANNA)
    box.fault("drop_after", next=1)
    steps.send(Request(ANNA))
    assert "Look in the inbox" in steps.notice.text
    assert steps.open_ids() == (box.inbox["id"].iloc[-1],)
    steps.verify(box.code(ANNA) or "")
    assert (steps.stage, steps.open_ids()) == ("verified", ())


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ServiceError("no", error_code="107111", name="InvalidPhoneNumbers"), "InvalidPhoneNumbers (107111)"),
        (NotSent("otp.send: no connection"), "No passcode was sent. The service cannot be reached."),
        (Throttled("slow down"), "asks for a pause and does not say how long"),
        (Throttled("slow down", retry_after=300.0), "a pause of at least 5 minutes"),
    ],
    ids=["refused", "not sent", "throttled", "throttled for long"],
)
def test_a_refused_send_stays_at_the_first_step(clock: Clock, error: Exception, words: str) -> None:
    steps = scripted(clock, error)
    steps.send(Request(ANNA))
    assert steps.stage == "request"
    assert steps.notice.text.startswith("No passcode was sent. ")
    assert words in steps.notice.text


def test_a_mistake_of_ours_is_named_in_the_card(clock: Clock, caplog: pytest.LogCaptureFixture) -> None:
    steps = scripted(clock, ZeroDivisionError("accessKeyId=k"))
    with caplog.at_level(logging.ERROR), pytest.raises(ZeroDivisionError):
        steps.send(Request(ANNA))
    assert steps.notice == Notice("The form failed (ZeroDivisionError). Run the cell again.", "bad")
    assert "accessKeyId" not in caplog.text


def test_a_code_that_cannot_be_one_is_not_asked_about(clock: Clock) -> None:
    steps = scripted(clock, None)
    steps.send(Request(ANNA))
    steps.verify("12a456")
    assert steps.client.asked == ["send"]  # type: ignore[attr-defined]


# -- a pause that the service asks for


def test_a_pause_counts_down_and_sends_nothing_by_itself(clock: Clock) -> None:
    steps = scripted(clock, Throttled("slow down", retry_after=12.0), None)
    steps.send(Request(ANNA))
    view = steps.view()
    assert (view.pausing, view.can_send, view.send_label) == (12, False, "Send code in 0:12")
    steps.send(Request(ANNA))
    clock.wait(11.5)
    assert steps.view().pausing == 1
    clock.wait(0.5)
    assert (steps.view().pausing, steps.view().can_send, steps.view().send_label) == (0, True, "Send code")
    assert steps.view().notice.text == "The pause that the service asked for is over. Try again."
    assert steps.client.asked == ["send"]  # type: ignore[attr-defined]
    steps.send(Request(ANNA))
    assert (steps.stage, steps.client.asked) == ("entry", ["send", "send"])  # type: ignore[attr-defined]


def test_a_pause_can_be_ended_at_the_persons_own_risk(clock: Clock) -> None:
    steps = scripted(clock, Throttled("slow down", retry_after=12.0), None)
    steps.send(Request(ANNA))
    steps.stop_waiting()
    assert steps.notice == Notice("You stopped waiting. Until 00:00:12 UTC the service may refuse.", "warn")
    assert (steps.view().can_send, steps.client.asked) == (True, ["send"])  # type: ignore[attr-defined]


def test_a_pause_of_a_check_holds_back_checks_and_new_passcodes(clock: Clock) -> None:
    steps = scripted(clock, None, Throttled("slow down", retry_after=12.0), True, resend_wait=0)
    steps.send(Request(ANNA))
    steps.verify("123456")
    view = steps.view()
    assert view.notice.text == "The code was not checked. The service asks for a pause of 12 seconds."
    assert (view.can_enter, view.can_send, steps.tries) == (False, False, 0)
    steps.verify("123456")
    clock.wait(12)
    steps.verify("123456")
    assert (steps.stage, steps.client.asked) == ("verified", ["send", "verify", "verify"])  # type: ignore[attr-defined]


# -- one request at a time, whatever the buttons look like


def test_a_second_send_while_one_is_under_way_does_nothing(clock: Clock) -> None:
    under_way, go_on = threading.Event(), threading.Event()

    def slowly() -> None:
        under_way.set()
        assert go_on.wait(120)

    steps = scripted(clock, slowly, None)
    first = threading.Thread(target=steps.send, args=(Request(ANNA),))
    first.start()
    assert under_way.wait(120)
    steps.send(Request(ANNA))
    steps.restart()
    assert steps.stage == "sending"
    go_on.set()
    first.join(120)
    assert steps.client.asked == ["send"]  # type: ignore[attr-defined]


def test_a_late_second_click_on_send_is_not_a_second_code(clock: Clock) -> None:
    steps = scripted(clock, None, None)
    steps.send(Request(ANNA))
    steps.send(Request(ANNA))
    steps.resend()
    assert steps.client.asked == ["send"]  # type: ignore[attr-defined]


# -- the number, while it is typed


@pytest.mark.parametrize(
    ("typed", "sign", "e164"),
    [
        ("", "", ""),
        ("0170", "warn", ""),
        ("+", "warn", ""),
        ("+1", "warn", ""),
        ("+1 415 555 01", "warn", ""),
        ("+1 415 555 0100", "ok", BEN),
        (" +1 (202) 555-0123 ", "ok", ANNA),
        ("+44 7700 900123", "warn", ""),
        ("+33 1 99 00 12 34", "ok", "+33199001234"),
        ("+<b>", "warn", ""),
        ("tel:+1-202-555-0123", "ok", ANNA),
        ("\u202a+1\u00a0202\u200b 555 0123\u202c", "ok", ANNA),
        ("＋１ ２０２ ５５５ ０１２３", "ok", ANNA),
        ("+1 202 555 0123 / +1 202 555 0147", "warn", ""),
        ("\u200b ", "", ""),
    ],
)
def test_number_hint(typed: str, sign: str, e164: str) -> None:
    hint, found = number_hint(typed)
    assert (hint.sign, found) == (sign, e164)
    assert hint.text


# -- the widgets


@pytest.fixture
def driven(box: Sandbox) -> OtpForm:
    """A form whose clicks return when their work has ended, and only the time counts down."""
    made: OtpForm = waited(OtpForm(box.client(), resend_wait=0))
    return made


def test_a_click_waits_for_the_last_keys() -> None:
    """What is typed just before a click may arrive after it."""
    typed = iter(["+1415555", "+141555501", "+14155550100"])
    field = SimpleNamespace(value="")

    def read() -> str:
        field.value = next(typed, field.value)
        return field.value

    assert settled(read, wait=0.0) == "+14155550100"


def test_the_form_sends_and_verifies(driven: OtpForm, box: Sandbox) -> None:
    driven.phone.value, driven.intent.value, driven.digits.value = ANNA, "login", 7
    driven.send_button.click()
    code = box.code(ANNA) or ""
    assert len(code) == 7
    driven.code.value = f"{code[:3]} {code[3:]}"
    driven.verify_button.click()
    assert driven.steps.stage == "verified"
    assert driven.steps.challenge is not None
    assert driven.steps.challenge.intent == "login"


def test_an_open_form_sees_that_the_sandboxs_clock_is_moved() -> None:
    """Nothing but the countdown looks, once a second: no gesture, no redraw from the test."""
    with Sandbox() as box:
        form = OtpForm(box)
        form.phone.value = ANNA
        form.send_button.click()
        until = time.monotonic() + 120
        while form.steps.stage != "entry":
            assert time.monotonic() < until
            time.sleep(0.01)
        box.advance(301)
        while "expired" not in form._countdown.value:
            assert time.monotonic() < until
            time.sleep(0.05)
        assert "s clock this passcode has expired" in form._notice.value
        form.steps.restart()


def test_a_code_that_is_typed_and_not_yet_used_is_in_no_widget(driven: OtpForm, box: Sandbox) -> None:
    """Nobody knows when a notebook is saved."""
    driven.phone.value, driven.custom.value = BEN, "74185296"
    assert "74185296" not in states(driven.widget)
    assert driven.custom.placeholder == "as typed; a blank for none"
    driven.send_button.click()
    assert driven.custom.value == ""
    driven.code.value = "00000000"
    driven.verify_button.click()
    assert driven.code.value == ""
    driven.code.value = "7418"
    driven.code.value = "74185296"
    assert "7418" not in states(driven.widget)
    assert driven.code.placeholder == "8 digits typed"
    driven.verify_button.click()
    assert driven.steps.stage == "verified"
    assert "74185296" not in states(driven.widget)


def test_a_blank_takes_a_custom_code_back(driven: OtpForm, box: Sandbox) -> None:
    driven.phone.value, driven.custom.value = BEN, "74185296"
    driven.custom.value = " "
    driven.send_button.click()
    assert (box.code(BEN) or "74185296") != "74185296"


@pytest.mark.parametrize(
    "typed",
    ["123 456", "123-456", "123\u2013456", " 123\u00a0456 ", "\u200b123456", "１２３４５６", "١٢٣٤٥٦", "१२३ ४५६"],
    ids=ascii,
)
def test_a_code_is_read_as_people_write_it(typed: str) -> None:
    assert digits_of(typed) == "123456"


def test_a_number_that_was_sent_to_is_in_no_widget_and_comes_back_to_be_changed(driven: OtpForm) -> None:
    driven.phone.value = "+1 202 555 0123"
    driven.send_button.click()
    kept = "".join(filter(str.isdigit, states(driven.widget)))
    assert ANNA[1:] not in kept
    driven.change_button.click()
    assert driven.phone.value == "+1 202 555 0123"


def test_a_custom_code_that_was_not_taken_is_still_the_one_that_is_sent(driven: OtpForm, box: Sandbox) -> None:
    driven.phone.value, driven.custom.value = BEN, "48151623"
    box.fault("throttle", next=1, seconds=0)
    driven.send_button.click()
    assert driven.steps.stage == "request"
    assert "48151623" not in states(driven.widget)
    driven.send_button.click()
    assert box.code(BEN) == "48151623"


def test_the_form_does_not_wait_out_a_pause_inside_a_request(driven: OtpForm, box: Sandbox) -> None:
    """The client would try again by itself after the pause."""
    driven.phone.value = BEN
    sent = len(box.inbox)
    box.fault("throttle", next=1, seconds=100)
    driven.send_button.click()
    assert (driven.send_button.disabled, driven.stop_button.disabled) == (True, False)
    assert driven._pause_row.layout.display is None
    driven.stop_button.click()
    assert (driven.send_button.disabled, len(box.inbox) - sent) == (False, 0)
    assert driven._pause_row.layout.display == "none"


def test_the_lines_of_code_do_the_same(driven: OtpForm, box: Sandbox) -> None:
    driven.phone.value, driven.intent.value, driven.lifetime.value = BEN, "pay", 90
    assert "intent=&#x27;pay&#x27;, ttl=90" in driven._lines.value
    request = Request(BEN, intent="pay", ttl=90, channel="whatsapp", code=Secret("48151623"))
    written = lines(request, sandbox=True)
    assert "48151623" not in written
    assert BEN not in written
    made: dict[str, Any] = {"number": BEN, "custom_code": "48151623", "typed": "48151623"}
    exec(written, made)
    assert (made["challenge"].verified, made["challenge"].channel) == (True, "whatsapp")


def test_no_widget_holds_the_access_key(box: Sandbox) -> None:
    form = OtpForm(box.client(access_key_id="canary-4711"))
    assert "canary-4711" not in states(form.widget) + repr(form) + str(form._repr_mimebundle_())


def test_the_inbox_tells_the_page_the_open_code_and_keeps_dots(driven: OtpForm, box: Sandbox) -> None:
    """The page is told once; whatever is saved, at whatever moment, holds no code."""
    told: list[str] = []
    driven.side.observe(lambda change: told.append(change["new"]), "value")
    driven.phone.value = BEN
    driven.send_button.click()
    code = box.code(BEN) or ""
    assert [code in shown for shown in told].count(True) == 1
    assert code not in states(driven.widget)
    assert 'data-open="' in driven.side.value
    driven.code.value = "0" if code[0] != "0" else "1"
    driven.verify_button.click()
    assert code not in states(driven.widget)
    driven.code.value = code
    driven.verify_button.click()
    assert code not in states(driven.widget)
    assert 'data-open="' not in driven.side.value


def test_an_incomplete_code_waits_for_its_last_digits(driven: OtpForm, box: Sandbox) -> None:
    """A click may overtake the keys typed just before it."""
    driven.phone.value = BEN
    driven.send_button.click()
    code = box.code(BEN) or ""
    driven.code.value = code[:4]
    driven.verify_button.click()
    assert driven.steps.notice.text == "The code has 6 digits."
    driven.code.value = code
    assert driven.steps.stage == "verified"
    assert driven.code.value == ""


def test_an_incomplete_number_is_refused_in_the_card(driven: OtpForm) -> None:
    driven.phone.value = "+1 415"
    driven.send_button.click()
    assert driven.steps.stage == "request"
    assert "Enter a phone number in international format." in driven._notice.value


def test_everything_of_the_interface_can_be_asked_for(driven: OtpForm, box: Sandbox) -> None:
    driven.phone.value, driven.channel.value, driven.signature.value = BEN, "whatsapp", "Acme"
    driven.lifetime.value, driven.custom.value = 90, "36925814"
    driven.send_button.click()
    assert driven.steps.view().lifetime == 90
    newest = box.inbox.iloc[-1]
    assert (newest["channel"], newest["code"]) == ("whatsapp", "36925814")
    assert "Acme" in newest["text"]


def test_advice_appears_while_choosing(driven: OtpForm) -> None:
    driven.digits.value = 4
    assert "4 digits are easily guessed" in driven._advice_line.value
    driven.digits.value, driven.lifetime.value = 6, 1200
    assert "lives 1200 s" in driven._advice_line.value


def test_the_cn_variant_asks_for_a_signature() -> None:
    with Sandbox(variant="cn") as box:
        form = OtpForm(box.client())
        form.phone.value = example("CN")
        form._request()
        assert "The signature is required for +86 numbers" in form._notice.value


def test_on_a_live_service_the_card_says_that_there_is_no_inbox(clock: Clock) -> None:
    client: Any = Scripted()
    form = OtpForm(client, now=clock)
    assert "Live service at sms.example" in form.head.value
    assert "no inbox here" in form.head.value
    assert not [one for one in every(form.widget) if "smsotp-side" in one._dom_classes]


def test_no_widget_uses_an_icon_an_output_or_a_password_field(driven: OtpForm) -> None:
    found = every(driven.widget)
    assert not [one for one in found if isinstance(one, (ipywidgets.Output, ipywidgets.Password, ipywidgets.Label))]
    assert not [one for one in found if getattr(one, "icon", "")]


def test_what_is_typed_is_shown_as_text(driven: OtpForm) -> None:
    driven.phone.value = "+<img src=x>"
    driven.intent.value = "<b>" * 20
    assert "<img" not in driven._hint.value + driven._notice.value
    assert "<b>" not in driven._advice_line.value + driven._lines.value


def test_the_inbox_escapes_texts_and_counts_what_it_leaves_out() -> None:
    row = {"id": "1", "to": ANNA, "text": "<script> $5", "code": None, "channel": "sms"}
    inbox = pd.DataFrame([row | {"at": pd.Timestamp("2026-01-01", tz="UTC")}] * 6)
    shown = inbox_html(inbox)
    assert "<script>" not in shown
    assert "and 2 more" in shown
    assert ANNA not in shown


# -- the books


def test_what_the_form_sends_is_in_the_books(box: Sandbox, tmp_path: Path) -> None:
    with Ledger(tmp_path / "ledger.sqlite", create=True) as ledger:
        form = OtpForm(box, ledger=ledger.path, resend_wait=0)
        form.steps.send(Request(ANNA))
        form.steps.resend()
        assert form.steps.notice.sign == "ok"
        assert ledger.campaigns()[["kind", "accepted"]].values.tolist() == [["passcode", 2]]
        assert f"ledger={str(ledger.path)!r}" in html.unescape(form._lines.value)
        form.steps.ledger.close()


def test_a_passcode_that_is_not_in_the_books_is_told_beside_its_receipt(
    box: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise LedgerError("the disk is full")

    monkeypatch.setattr(Ledger, "_record_passcode", full)
    with Ledger(tmp_path / "ledger.sqlite", create=True) as ledger:
        steps = OtpSteps(box.client(), ledger=ledger)
        steps.send(Request(ANNA))
    assert steps.stage == "entry"
    assert steps.notice.sign == "warn"
    assert "The passcode was sent and is not in the ledger: the disk is full." in steps.notice.text
