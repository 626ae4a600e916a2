"""Passcodes: the lifetime and the intent travel where they have effect; an unknown answer is neither True nor False."""

from __future__ import annotations

import copy
import json
import logging
import pickle
import socket
import threading
import warnings
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from support.answers import MessageRecord, OtpReply, VerifyReply
from support.clients import RetryPolicy

from smsotp_nb import Client, Sandbox, otp
from smsotp_nb.errors import InDoubt, SmsOtpWarning, UsageError
from smsotp_nb.settings import Settings

ANNA = "+12025550123"
BEN = "+14155550100"


@pytest.fixture(scope="module")
def box() -> Iterator[Sandbox]:
    with Sandbox() as made:
        yield made


class Recorder(Client):
    """A client that only writes down what it was asked."""

    def __init__(self) -> None:
        super().__init__(Settings("http://127.0.0.1:9", "key"))
        self.sent: dict[str, Any] = {}
        self.verified: dict[str, Any] = {}

    def send_otp(self, to: str, **options: Any) -> OtpReply:  # type: ignore[override]
        self.sent = {name: value for name, value in options.items() if value is not None}
        return OtpReply(record=MessageRecord(id="1", to=to))

    def verify_otp(self, to: str, code: str, **options: Any) -> VerifyReply:  # type: ignore[override]
        self.verified = {name: value for name, value in options.items() if value is not None}
        return VerifyReply(to=to, valid=True)


@pytest.fixture
def recorder() -> Any:
    return Recorder()


@pytest.fixture
def mute_service() -> Iterator[str]:
    """A service that reads a request and hangs up without a word."""
    server = socket.create_server(("127.0.0.1", 0))

    def hang_up() -> None:
        while True:
            try:
                peer, _ = server.accept()
            except OSError:
                return
            with peer:
                peer.recv(65536)

    thread = threading.Thread(target=hang_up, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.getsockname()[1]}"
    server.shutdown(socket.SHUT_RDWR)
    server.close()
    thread.join(120)


# -- lifetime, intent, and where they travel


def test_lifetime_of_a_generated_code_is_said_at_verify_only(recorder: Any) -> None:
    otp.send(ANNA, client=recorder, ttl=120).verify("123456")
    assert recorder.sent == {}
    assert recorder.verified == {"ttl": 120}


def test_lifetime_of_a_custom_code_is_said_at_send_only(recorder: Any) -> None:
    otp.send(ANNA, client=recorder, code="246810", ttl=120).verify("246810")
    assert recorder.sent == {"code": "246810", "ttl": 120}
    assert recorder.verified == {}


def test_verify_repeats_the_intent_of_the_send(recorder: Any) -> None:
    challenge = otp.send(ANNA, client=recorder, intent="login")
    challenge.verify("123456")
    assert (recorder.sent["intent"], recorder.verified["intent"], challenge.intent) == ("login", "login", "login")


def test_every_option_reaches_the_service(recorder: Any) -> None:
    otp.send(ANNA, client=recorder, digits=8, intent="pay", channel="whatsapp", signature="Acme")
    assert recorder.sent == {"digits": 8, "intent": "pay", "channel": "whatsapp", "signature": "Acme"}


@pytest.mark.parametrize(("ttl", "seconds"), [(None, 300), (60, 60)], ids=["service default", "given"])
def test_expiry_is_counted_from_the_reply(recorder: Any, ttl: int | None, seconds: int) -> None:
    moments = iter([datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 1, 0, 0, 45, tzinfo=UTC)])
    challenge = otp.send(ANNA, client=recorder, ttl=ttl, now=lambda: next(moments))
    assert challenge.expires_at - challenge._sent_at == timedelta(seconds=seconds)
    assert challenge.seconds_left == seconds - 45


# -- without the challenge


def test_another_process_checks_with_what_a_challenge_hands_on(recorder: Any) -> None:
    kept = json.loads(json.dumps(otp.send(ANNA, recorder, intent="login", ttl=120).to_dict()))
    assert otp.verify(code="123456", client=recorder, **kept) is True
    assert recorder.verified == {"intent": "login", "ttl": 120}
    custom = otp.send(ANNA, recorder, code="246810", ttl=120)
    assert custom.to_dict() == {"to": ANNA, "intent": None, "ttl": None}


def test_a_code_is_checked_by_its_number_alone(box: Sandbox) -> None:
    otp.send(ANNA, box, intent="login")
    code = box.code(ANNA) or ""
    assert otp.verify(ANNA, code, box, intent="pay") is False
    assert otp.verify(ANNA, code, box, intent="login") is True
    with pytest.raises(UsageError, match="4 to 8 digits"):
        otp.verify(ANNA, "12", box)
    with pytest.raises(UsageError, match=r"otp\.verify needs a client, got 5"):
        otp.verify(ANNA, code, 5)  # type: ignore[arg-type]


def test_a_passcode_whose_reply_was_lost_can_be_checked(box: Sandbox) -> None:
    box.fault("drop_after", next=1)
    with pytest.raises(InDoubt) as lost:
        otp.send(BEN, box, intent="login", ttl=120)
    challenge = lost.value.challenge
    assert isinstance(challenge, otp.Challenge)
    assert (challenge.to, challenge.intent, challenge.record) == (BEN, "login", MessageRecord(id=None, to=BEN))
    assert challenge.verify("0000") is False
    assert challenge.verify(box.code(BEN) or "") is True
    assert BEN[2:] not in f"{lost.value!r} {vars(lost.value)}"
    assert pickle.loads(pickle.dumps(lost.value)).challenge is None


# -- on the sandbox


def test_the_right_code_verifies_and_a_wrong_one_does_not(box: Sandbox) -> None:
    challenge = otp.send(ANNA, client=box.client(), intent="login", digits=8)
    code = box.code(ANNA) or ""
    wrong = "0" * 8 if code != "0" * 8 else "1" * 8
    assert challenge.verify(wrong) is False
    assert challenge.verified is False
    assert challenge.verify(code) is True
    assert challenge.verified is True


def test_verified_stays_when_a_used_code_is_checked_again(box: Sandbox) -> None:
    challenge = otp.send(ANNA, client=box.client())
    code = box.code(ANNA) or ""
    assert [challenge.verify(code), challenge.verify(code), challenge.verified] == [True, False, True]


def test_a_custom_code_is_the_one_that_is_sent(box: Sandbox) -> None:
    challenge = otp.send(BEN, client=box.client(), code="13579135")
    assert challenge.verify("13579135") is True


def test_resend_sends_the_same_request_and_gives_a_new_challenge(box: Sandbox) -> None:
    first = otp.send(BEN, client=box.client(), intent="pay", digits=7)
    second = first.resend()
    assert second is not first
    assert (second.to, second.intent, len(box.code(BEN) or "")) == (BEN, "pay", 7)
    assert second.verify(box.code(BEN) or "") is True


def test_the_record_is_what_the_service_billed(box: Sandbox) -> None:
    record = otp.send(ANNA, client=box.client()).record
    assert (record.to, record.iso, record.cc, record.parts) == (ANNA, "US", "1", 1)
    assert record.price is not None


@pytest.mark.parametrize(("asked", "channel"), [(None, "auto"), ("auto", "auto"), ("call", "call")], ids=str)
def test_a_challenge_knows_the_channel_that_was_asked_for(recorder: Any, asked: str | None, channel: str) -> None:
    challenge = otp.send(ANNA, client=recorder, channel=asked)
    assert challenge.channel == channel
    assert f", channel {channel}, " in repr(challenge)


# -- guidance


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"digits": 4}, "4 digits are easily guessed"),
        ({"code": "12345"}, "5 digits are easily guessed"),
        ({"ttl": 601}, "lives 601 s"),
        ({"code": "123456", "ttl": 1800}, "lives 1800 s"),
        ({"code": "123456", "digits": 6}, "digits= has no effect"),
    ],
    ids=["few digits", "short custom code", "long life", "long life of a custom code", "digits beside a code"],
)
def test_broken_guidance_warns_and_still_sends(recorder: Any, options: dict[str, Any], words: str) -> None:
    with pytest.warns(SmsOtpWarning, match=words):
        challenge = otp.send(ANNA, client=recorder, **options)
    assert challenge.record.id == "1"


@pytest.mark.parametrize("options", [{}, {"digits": 6}, {"ttl": 600}, {"code": "123456", "ttl": 300}], ids=str)
def test_safe_requests_warn_of_nothing(recorder: Any, options: dict[str, Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        otp.send(ANNA, client=recorder, **options)


def test_a_resend_does_not_warn_again(recorder: Any) -> None:
    with pytest.warns(SmsOtpWarning):
        challenge = otp.send(ANNA, client=recorder, digits=4)
    assert challenge.resend().record.id == "1"


def test_an_unusable_request_gets_one_error_and_no_advice(box: Sandbox) -> None:
    before = len(box.requests)
    with pytest.raises(UsageError) as caught:
        otp.send("12025550123", client=box.client(), digits=3, ttl=9999)
    assert len(caught.value.problems) == 3
    assert len(box.requests) == before, "nothing was asked of the service"


# -- answers that never came


def deaf_client(url: str) -> Client:
    return Client(Settings(base_url=url, access_key_id="k", read_timeout=2), retry=RetryPolicy(attempts=1))


def test_a_verify_without_an_answer_raises(recorder: Any, mute_service: str) -> None:
    challenge = otp.Challenge(
        otp.Request(ANNA), client=deaf_client(mute_service), record=MessageRecord(id="1", to=ANNA)
    )
    with pytest.raises(InDoubt, match="may have used up a try"):
        challenge.verify("123456")
    assert challenge.verified is False


def test_a_send_without_an_answer_raises_and_is_not_repeated(mute_service: str) -> None:
    with pytest.raises(InDoubt, match=r"after otp\.send, error\.challenge verifies") as caught:
        otp.send(ANNA, client=deaf_client(mute_service))
    assert caught.value.attempts == 1
    assert caught.value.challenge is not None


# -- secrets


def test_no_repr_no_attribute_and_no_log_holds_a_code(box: Sandbox, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        challenge = otp.send(BEN, client=box.client(), code="86420864")
        challenge.verify("86420864")
    shown = repr(challenge) + repr(challenge._request) + str([getattr(challenge, name) for name in challenge.__slots__])
    assert "86420864" not in shown + caplog.text
    assert BEN not in repr(challenge) + repr(challenge._request)


@pytest.mark.parametrize("keep", [pickle.dumps, copy.deepcopy], ids=["pickle", "deepcopy"])
def test_a_challenge_is_not_pickled(recorder: Any, keep: Any) -> None:
    with pytest.raises(TypeError, match="cannot be pickled"):
        keep(otp.send(ANNA, client=recorder, code="123456"))


def test_the_traceback_of_a_verify_holds_no_code(mute_service: str) -> None:
    """Some tracebacks print the variables of every frame, and a saved notebook keeps them."""
    challenge = otp.Challenge(
        otp.Request(ANNA), client=deaf_client(mute_service), record=MessageRecord(id="1", to=ANNA)
    )
    with pytest.raises(InDoubt) as caught:
        challenge.verify("97531975")
    frames = [entry.frame.f_locals for entry in caught.traceback if "smsotp_nb" in str(entry.path)]
    ours = [repr(value) for frame in frames for value in frame.values() if "test_otp" not in repr(value)]
    assert not [text for text in ours if "97531975" in text]
