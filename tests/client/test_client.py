"""The client's rules around one request: what is repeated, how long, who is asked first, and what an error tells."""

from __future__ import annotations

import gzip
import json
import logging
import socket
import tracemalloc
import zlib
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import Any

import pytest
import responses
from faults.acts import encoded
from faults.server import BreakingServer, Script
from hypothesis import given
from hypothesis import strategies as st
from requests import PreparedRequest
from support.tracebacks import chain

from smsotp_nb import Client, Settings
from smsotp_nb._client import Gate, RetryPolicy, Tries
from smsotp_nb._client.meaning import Scrubber, retry_after, success
from smsotp_nb._client.transport import Packed, RawReply, ReplyTooLarge, unpacked
from smsotp_nb._moments import utc_now
from smsotp_nb._wire import Body, MessageRecord, OtpReply
from smsotp_nb.errors import InDoubt, NotSent, SmsOtpError, Throttled, UsageError

URL = "https://sms.example/"
ANN = "+12025550123"
ACCEPTED = (
    '{"code":"0","message":"Success","data":{"recipients":1,"messageCount":1,"currency":"USD","totalAmount":"0.007500",'
    '"messages":[{"id":"0","to":"+12025550123","iso":"US","cc":"1","parts":1,"price":"0.007500"}]}}'
)
NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


@pytest.fixture
def service() -> Iterator[responses.RequestsMock]:
    with responses.RequestsMock(registry=responses.registries.OrderedRegistry) as mock:
        yield mock


@pytest.fixture
def nobody() -> Iterator[str]:
    """An address of this machine at which nobody listens: bound, so that nobody else takes it."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{bound.getsockname()[1]}"


def client(base_url: str = "https://sms.example", **options: Any) -> Client:
    options = {"sleep": lambda seconds: None, "now": lambda: NOW, **options}
    return Client(Settings(base_url=base_url, access_key_id="key-0123"), **options)


def deliver(one: Client, **options: Any) -> Any:
    return one._deliver([ANN], Body(text="Hello"), **options)


# -- what is repeated --------------------------------------------------------------------------------------------------


def test_a_throttled_request_waits_as_asked_and_is_sent_again(service: responses.RequestsMock) -> None:
    """Seconds, a date, and no word of how long: the last waits by backoff."""
    moment = datetime(2026, 11, 20, 12, 0, 7, tzinfo=UTC)
    service.post(URL, status=429, headers={"Retry-After": "3"})
    service.post(URL, status=429, headers={"Retry-After": format_datetime(moment, usegmt=True)})
    service.post(URL, status=429)
    service.post(URL, body=ACCEPTED)
    waits: list[float] = []
    assert deliver(client(sleep=waits.append)).missing == ()
    assert waits[:2] == [3.0, 7.0]
    assert 0 <= waits[2] <= 4.0
    assert len(service.calls) == 4


def test_throttling_without_end_is_raised_after_the_last_attempt(service: responses.RequestsMock) -> None:
    """The error says how often it was tried and what pause was asked last."""
    for _ in range(3):
        service.post(URL, status=429, headers={"Retry-After": "1", "X-Uni-Request-Id": "r-9"})
    with pytest.raises(Throttled) as caught:
        deliver(client(), retry=RetryPolicy(attempts=3))
    error = caught.value
    assert (error.attempts, error.retry_after, error.http_status, error.request_id) == (3, 1.0, 429, "r-9")


def test_a_pause_longer_than_our_patience_is_not_begun(service: responses.RequestsMock) -> None:
    """Waiting 300 s when 120 s are left helps nobody."""
    service.post(URL, status=429, headers={"Retry-After": "9999"})
    waits: list[float] = []
    with pytest.raises(Throttled) as caught:
        deliver(client(sleep=waits.append))
    assert caught.value.retry_after == 300.0
    assert waits == []


def test_a_connection_that_nobody_takes_is_tried_again_with_growing_waits(nobody: str) -> None:
    """Nothing left this machine, so it may be tried again; after the last attempt the error says so."""
    waits: list[float] = []
    with pytest.raises(NotSent) as caught:
        deliver(client(nobody, sleep=waits.append), retry=RetryPolicy(attempts=5, first_wait=1.0, longest_wait=4.0))
    assert (caught.value.phase, caught.value.attempts, len(waits)) == ("connect", 5, 4)
    assert all(0 <= wait <= most for wait, most in zip(waits, (1, 2, 4, 4), strict=True))
    assert "nothing was sent" in str(caught.value)


def test_a_gate_that_stops_ends_the_attempts() -> None:
    """Once the campaign was interrupted, no further attempt is made."""
    made: list[NotSent] = []

    class Stopped(Gate):
        def stopped(self) -> bool:
            return len(made) >= 2

    def attempt() -> NotSent:
        made.append(NotSent("no connection", phase="connect"))
        return made[-1]

    assert Tries(Stopped(sleep=lambda _: None), RetryPolicy()).make(attempt) is made[1]
    assert len(made) == 2


def test_the_client_s_own_patience_and_sleep_are_used(nobody: str) -> None:
    """``sleep`` and ``patience`` of the constructor hold for all three operations."""
    waits: list[float] = []
    one = client(nobody, sleep=waits.append, retry=RetryPolicy(attempts=3))
    for call in (
        lambda: one.send_message(ANN, text="Hi"),
        lambda: one.send_otp(ANN),
        lambda: one.verify_otp(ANN, "1234"),
    ):
        with pytest.raises(NotSent, match="nothing was sent"):
            call()
    assert len(waits) == 3 * 2


@pytest.mark.parametrize("during", [None, TimeoutError(), ConnectionRefusedError()], ids=repr)
def test_a_stop_during_a_request_is_raised_and_the_request_is_not_repeated(
    service: responses.RequestsMock, during: Exception | None
) -> None:
    """What the user interrupted may have been accepted, also while an error was being handled; no request is shown."""

    def interrupt(request: PreparedRequest) -> Any:
        stop = KeyboardInterrupt()
        stop.__context__ = during
        raise stop

    service.add_callback("POST", URL, callback=interrupt)
    with pytest.raises(KeyboardInterrupt, match="it may have been accepted") as caught:
        client().send_message(ANN, text="Hello")
    assert len(service.calls) == 1
    assert chain(caught.value) == []


@pytest.mark.parametrize("status", [200, 201, 301, 307, 401, 403, 404, 408, 409, 425, 500, 502, 503, 504, 529])
def test_every_other_status_is_in_doubt_at_once(service: responses.RequestsMock, status: int) -> None:
    """Documented are 200 with an envelope and 400; Retry-After beside another status changes nothing."""
    service.post(
        URL, status=status, body="Accepted", headers={"Retry-After": "0", "Location": URL, "X-Request-Id": "r-4"}
    )
    with pytest.raises(InDoubt) as caught:
        client().send_message(ANN, text="Hello")
    error = caught.value
    assert (error.phase, error.http_status, error.attempts, error.request_id) == ("body", status, 1, "r-4")
    assert len(service.calls) == 1


# -- errors hang on nothing --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [200, 400, 429, 500])
@pytest.mark.parametrize("body", ["", "{", '{"code":5}', "[" * 50_000])
def test_an_error_hangs_on_no_other_error(service: responses.RequestsMock, status: int, body: str) -> None:
    """The errors below hold the address with its key; a traceback must have nothing to follow."""
    service.post(URL, status=status, body=body, headers={"Retry-After": "400"})
    with pytest.raises(SmsOtpError) as caught:
        client().send_message(ANN, text="Hello")
    assert chain(caught.value) == []


def test_a_transport_error_hangs_on_no_other_error(nobody: str) -> None:
    """As above, for a connection that fails."""
    with pytest.raises(NotSent) as caught:
        client(nobody).send_message(ANN, text="Hello")
    assert chain(caught.value) == []


# -- the object --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("wrong", [None, "https://sms.example", {"base_url": URL}])
def test_a_client_needs_settings(wrong: Any) -> None:
    """The error says where to get them."""
    with pytest.raises(UsageError, match=r"try Settings\.from_env\(\)"):
        Client(wrong)


def test_a_closed_client_works_again(service: responses.RequestsMock) -> None:
    """Closing frees connections and is no end; ``with`` does it at the end of a cell."""
    service.post(URL, body=ACCEPTED)
    service.post(URL, body=ACCEPTED)
    with client() as one:
        one.send_message(ANN, text="Hello")
    assert one.send_message(ANN, text="Hello").missing == ()


def test_the_log_is_the_package_s_own_and_silent(service: responses.RequestsMock, caplog: Any) -> None:
    """One line a request at DEBUG, without number or key, and no handler of ours."""
    service.post(URL, body=ACCEPTED)
    with caplog.at_level(logging.DEBUG, logger="smsotp_nb"):
        client().send_message(ANN, text="Hello")
    assert [record.name for record in caplog.records] == ["smsotp_nb"]
    assert caplog.text.count("accepted") == 1
    assert logging.getLogger("smsotp_nb").handlers == []


# -- Retry-After -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "pause"),
    [
        ("0", 0.0),
        ("2", 2.0),
        (" 2 ", 2.0),
        ("0.5", 0.5),
        ("299", 299.0),
        ("301", 300.0),
        ("9" * 400, 300.0),
        ("-5", None),
        ("+5", None),
        ("1e3", None),
        ("soon", None),
        ("", None),
        ("٥", None),
        ("1, 2", None),
        ("inf", None),
        ("nan", None),
        ("Fri, 20 Nov 2026 12:00:30 GMT", 30.0),
        ("Friday, 20-Nov-26 12:00:30 GMT", 30.0),
        ("Fri Nov 20 12:00:30 2026", 30.0),
        ("Fri, 20 Nov 2026 14:00:30 +0200", 30.0),
        ("Fri, 20 Nov 2020 12:00:30 GMT", 0.0),
        ("Fri, 20 Nov 2099 12:00:30 GMT", 300.0),
        ("Fri, 99 Nov 2026 99:99:99 GMT", None),
        ("Fri, 20 Nov 99999 12:00:30 GMT", None),
        ("Fri, 20 Nov 2026 12:00:30 +" + "9" * 30, None),
        ("Fri, 01 Jan 0001 00:00:00 +2359", 0.0),
    ],
)
def test_a_retry_after_is_seconds_or_a_date_kept_within_bounds(value: str, pause: float | None) -> None:
    """0 to 300 seconds; what cannot be read says nothing, and then the backoff decides."""
    assert retry_after(value, now=NOW.timestamp()) == pause


DATE_LIKE = r"[A-Z][a-z]{2}, [0-9]{1,4} (Jan|Nov) [0-9]{1,6} [0-9:]{1,9} [+-]?[0-9]{0,30}"


@given(st.text(max_size=60) | st.from_regex(DATE_LIKE, fullmatch=True))
def test_no_retry_after_breaks_the_send(value: str) -> None:
    """A header is the peer's word: any text gives a pause within bounds, or none."""
    found = retry_after(value, now=NOW.timestamp())
    assert found is None or 0.0 <= found <= 300.0


# -- what an error may quote -------------------------------------------------------------------------------------------


@given(st.text(max_size=300), st.sampled_from([ANN, "key-0123", "4711", "12025550123", "'4711'"]), st.text(max_size=20))
def test_a_quoted_text_shows_no_secret_and_no_number(before: str, secret: str, after: str) -> None:
    """The service's words are quoted short, on one line, without key, passcode or number."""
    found = Scrubber("key-0123", "4711")(f"{before} {secret} {after}")
    assert "key-0123" not in found
    assert "4711" not in found
    assert "2025550123" not in found
    assert len(found) <= 200
    assert len(found.splitlines()) <= 1


def test_the_service_s_words_are_scrubbed_in_every_attribute(service: responses.RequestsMock) -> None:
    """A refusal that repeats the request shows none of it."""
    body = '{"code":"104002","message":"bad key-0123 for +12025550123, code 471147"}'
    service.post(URL, status=400, body=body)
    with pytest.raises(SmsOtpError) as caught:
        client().send_otp(ANN, code="471147")
    told = f"{caught.value} {vars(caught.value)}"
    assert not [secret for secret in ("key-0123", "2025550123", "471147") if secret in told]
    assert "bad *** for +1202...0123, code ***" in told


@pytest.mark.parametrize("secrets", [("key-1", "key-1234"), ("key-1234", "key-1")])
def test_a_secret_within_another_leaves_nothing_of_it(secrets: tuple[str, str]) -> None:
    """The longest is taken out first, in whatever order they are given."""
    assert Scrubber(*secrets)("key-1234 and key-1 end here") == "*** and *** end here"


@pytest.mark.parametrize("field", ["id", "iso", "cc", "currency"])
@pytest.mark.parametrize("secret", ["key-0123456789abcdef", "739164"])
@pytest.mark.parametrize("around", ["{}", "x{}x"])
def test_a_reply_that_sends_a_secret_back_is_kept_without_it(field: str, secret: str, around: str) -> None:
    """A short one may be a part of an id by chance, and stays unless it is all of it."""
    record = {"id": "a" * 32, "to": "+12025550123", "iso": "US", "cc": "1", "count": 1, "price": "0.0075"}
    data: dict[str, Any] = {"currency": "USD", "recipients": 1, "messageCount": 1, "totalAmount": "0.0075"}
    told = around.format(secret)
    (data if field == "currency" else record)[field] = told
    body = json.dumps({"code": "0", "message": "", "data": data | {"messages": [record]}}).replace("-", "\\u002d")
    seen: list[Any] = []
    success(
        RawReply(200, (), body.encode()),
        lambda data, request_id: seen.append(data), action="sms.message.send", seconds=0.0,
        scrub=Scrubber("key-0123456789abcdef", "739164"), now=utc_now,
    )  # fmt: skip
    (found,) = seen
    got = found["currency"] if field == "currency" else found["messages"][0][field]
    stays = around != "{}" and len(secret) < 16
    assert (secret in got) == stays
    assert found["messages"][0]["to"] == "+12025550123"


def test_the_repr_of_a_passcodes_reply_masks_the_id_of_its_request() -> None:
    reply = OtpReply(MessageRecord("a", "+12025550123"), request_id="+12025550123")
    assert "5550123" not in repr(reply)
    assert "+1202...0123" in repr(reply)


def test_a_key_that_is_called_as_a_country_hides_none() -> None:
    assert [Scrubber("US", "", "1234").field(text) for text in ("US", "", "1234")] == ["US", "", "***"]


# -- compressed replies: unpacked exactly, and never past the limit -----------------------------------


LIMIT = 1_000_000


def raw(data: bytes) -> bytes:
    machine = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return machine.compress(data) + machine.flush()


PACKINGS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "Deflate ": raw,
    "X-GZIP": gzip.compress,
    "identity": bytes,
}


@pytest.mark.parametrize("encoding", PACKINGS)
@pytest.mark.parametrize("data", [b"", b"x", b'{"code":"0"}' * 100], ids=len)
def test_what_was_packed_comes_out(encoding: str, data: bytes) -> None:
    assert unpacked(PACKINGS[encoding](data), encoding, limit=LIMIT) == data


def bomb(megabytes: int = 20) -> bytes:
    machine = zlib.compressobj(9, wbits=31)
    return b"".join(machine.compress(bytes(1_000_000)) for _ in range(megabytes)) + machine.flush()


def test_a_bomb_takes_no_more_memory_than_its_limit() -> None:
    """Twenty megabytes in some kilobytes."""
    packed = bomb()
    tracemalloc.start()
    try:
        with pytest.raises(ReplyTooLarge):
            unpacked(packed, "gzip", limit=LIMIT)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 3 * LIMIT


@pytest.mark.parametrize(
    ("packed", "encoding"),
    [
        (gzip.compress(b"Hello")[:-9], "gzip"),
        (zlib.compress(b"Hello")[:-5], "deflate"),
        (b"\xff" * 50, "deflate"),
        (gzip.compress(b"Hello") + b"more", "gzip"),
        (b"Hello", "br"),
        (gzip.compress(gzip.compress(b"Hello")), "gzip, gzip"),
    ],
    ids=["cut gzip", "cut deflate", "noise", "a tail", "another encoding", "twice"],
)
def test_what_cannot_be_unpacked_is_said(packed: bytes, encoding: str) -> None:
    """By our error, never that of zlib."""
    with pytest.raises(Packed):
        unpacked(packed, encoding, limit=LIMIT)


def test_a_reply_is_in_doubt_at_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Through the client: the send may have been accepted."""
    monkeypatch.setattr("smsotp_nb._client.transport.MAX_REPLY", LIMIT)
    with BreakingServer(Script((encoded("gzip", lambda data: bomb()),))) as server:
        settings = Settings(base_url=f"http://127.0.0.1:{server.port}", access_key_id="key")
        with Client(settings, retry=RetryPolicy(attempts=1)) as one, pytest.raises(InDoubt, match="ReplyTooLarge"):
            one.send_message("+12025550123", text="Hello")
