"""Requests and replies as literal bytes, typed from the interface's description and not built by the package.

A change of spelling on either side fails here, even if both sides of the package change together.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest
import responses
from responses import matchers

from smsotp_nb import Client, Settings
from smsotp_nb.errors import (
    InDoubt,
    InsufficientFunds,
    InvalidPhoneNumbers,
    MissingParams,
    ServiceError,
    SmsOtpWarning,
    UsageError,
)

URL = "https://sms.example/"
KEY = "key-0123"
ANN, BEN, CHEN = "+12025550123", "+33199001234", "+8613800138000"

# -- golden replies ----------------------------------------------------------------------------------------------------

SENT_ONE = (
    b'{"code":"0","message":"Success","data":{"recipients":1,"messageCount":1,"currency":"USD",'
    b'"totalAmount":"0.007500","messages":[{"id":"b1946ac92492d2347c6235b4d2611184","to":"+12025550123",'
    b'"iso":"US","cc":"1","parts":1,"price":"0.007500"}]}}'
)
SENT_TWO = (
    b'{"code":"0","message":"Success","data":{"recipients":2,"messageCount":3,"currency":"USD",'
    b'"totalAmount":"0.167500","messages":[{"id":"b1946ac92492d2347c6235b4d2611184","to":"+33199001234",'
    b'"iso":"FR","cc":"33","parts":2,"price":"0.160000"},{"id":"591785b794601e212b260e25925636fd",'
    b'"to":"+12025550123","iso":"US","cc":"1","parts":1,"price":"0.007500"}]}}'
)
SENT_EARLIER = (
    b'{"code":"0","message":"Success","data":{"recipients":1,"messageCount":2,"currency":"CNY",'
    b'"totalAmount":"0.100000","messages":[{"id":"b1946ac92492d2347c6235b4d2611184","to":"+8613800138000",'
    b'"iso":"CN","cc":"86","count":2,"price":"0.100000"}]}}'
)
OTP_SENT = (
    b'{"code":"0","message":"Success","data":{"id":"b1946ac92492d2347c6235b4d2611184","to":"+12025550123",'
    b'"iso":"US","cc":"1","parts":1,"price":"0.007500"}}'
)
OTP_SENT_EARLIER = OTP_SENT.replace(b'"parts":1', b'"count":1')
OTP_SENT_86 = OTP_SENT.replace(b"+12025550123", b"+8613800138000").replace(b'"US","cc":"1"', b'"CN","cc":"86"')
VALID = b'{"code":"0","message":"Success","data":{"to":"+12025550123","valid":true}}'
NOT_VALID = b'{"code":"0","message":"Success","data":{"to":"+12025550123","valid":false}}'


@pytest.fixture
def service() -> Iterator[responses.RequestsMock]:
    """A service of prepared replies; a request that fits none of them fails the test."""
    with responses.RequestsMock() as mock:
        yield mock


def client(**settings: Any) -> Client:
    return Client(Settings(base_url="https://sms.example", access_key_id=KEY, **settings))


def expect(service: responses.RequestsMock, action: str, body: bytes, **options: Any) -> None:
    """Answer one POST of an action, with exactly the query parameters of the interface and JSON as content type."""
    service.post(
        URL,
        body=body,
        match=[
            matchers.query_param_matcher({"action": action, "accessKeyId": KEY}),
            matchers.header_matcher({"Content-Type": "application/json"}),
        ],
        **options,
    )


def sent(service: responses.RequestsMock) -> bytes:
    """Return the bytes of the one request body that left."""
    assert len(service.calls) == 1
    body = service.calls[0].request.body
    assert isinstance(body, bytes)
    assert service.calls[0].request.headers["Content-Length"] == str(len(body))
    return body


# -- sms.message.send --------------------------------------------------------------------------------------------------

MESSAGES: list[tuple[str, dict[str, Any], Any, dict[str, Any], bytes]] = [
    ("text", {}, ANN, {"text": "Hello"}, b'{"to":"+12025550123","text":"Hello"}'),
    ("a list of one", {}, [ANN], {"text": "Hello"}, b'{"to":"+12025550123","text":"Hello"}'),
    ("a list", {}, [ANN, BEN], {"text": "Hello"}, b'{"to":["+12025550123","+33199001234"],"text":"Hello"}'),
    ("a tuple", {}, (ANN, BEN), {"text": "Hello"}, b'{"to":["+12025550123","+33199001234"],"text":"Hello"}'),
    ("content", {}, ANN, {"content": "Hello"}, b'{"to":"+12025550123","content":"Hello"}'),
    ("content and signature", {}, ANN, {"content": "Hello", "signature": "Acme"},
     b'{"to":"+12025550123","content":"Hello","signature":"Acme"}'),
    ("text and signature", {}, ANN, {"text": "Hello", "signature": "Acme"},
     b'{"to":"+12025550123","text":"Hello","signature":"Acme"}'),
    ("template", {}, ANN, {"template_id": "pub_otp"}, b'{"to":"+12025550123","templateId":"pub_otp"}'),
    ("template and data", {}, ANN, {"template_id": "t-1", "template_data": {"name": "Ann", "day": "Sunday"}},
     b'{"to":"+12025550123","templateId":"t-1","templateData":{"name":"Ann","day":"Sunday"}}'),
    ("all of a template", {}, [ANN, BEN], {"template_id": "t-1", "template_data": {"n": "1"}, "signature": "Acme"},
     b'{"to":["+12025550123","+33199001234"],"templateId":"t-1","templateData":{"n":"1"},"signature":"Acme"}'),
    ("UTF-8", {}, ANN, {"text": "Gr\u00fc\u00dfe \u20ac \U0001f600"},
     b'{"to":"+12025550123","text":"Gr\xc3\xbc\xc3\x9fe \xe2\x82\xac \xf0\x9f\x98\x80"}'),
    ("escapes", {}, ANN, {"text": 'a "quote"\\ \n\tend\x00'},
     b'{"to":"+12025550123","text":"a \\"quote\\"\\\\ \\n\\tend\\u0000"}'),
    ("cn, content", {"variant": "cn"}, CHEN, {"content": "\u4f60\u597d", "signature": "\u7b7e\u540d"},
     b'{"to":"+8613800138000","content":"\xe4\xbd\xa0\xe5\xa5\xbd","signature":"\xe7\xad\xbe\xe5\x90\x8d"}'),
    ("cn, text", {"variant": "cn"}, CHEN, {"text": "Hello", "signature": "Acme"},
     b'{"to":"+8613800138000","text":"Hello","signature":"Acme"}'),
    ("cn, template", {"variant": "cn"}, CHEN, {"template_id": "t-1", "signature": "Acme"},
     b'{"to":"+8613800138000","templateId":"t-1","signature":"Acme"}'),
    ("earlier, content", {"form": "earlier"}, ANN, {"content": "Hello", "signature": "Acme"},
     b'{"to":"+12025550123","content":"Hello","signature":"Acme"}'),
    ("earlier, template", {"form": "earlier"}, ANN, {"template_id": "t-1", "signature": "Acme"},
     b'{"to":"+12025550123","templateId":"t-1","signature":"Acme"}'),
    ("cn, earlier", {"variant": "cn", "form": "earlier"}, CHEN, {"content": "Hello", "signature": "Acme"},
     b'{"to":"+8613800138000","content":"Hello","signature":"Acme"}'),
]  # fmt: skip


@pytest.mark.parametrize(
    ("settings", "to", "message", "literal"), [row[1:] for row in MESSAGES], ids=[row[0] for row in MESSAGES]
)
def test_a_message_leaves_as_these_bytes(
    service: responses.RequestsMock, settings: dict[str, Any], to: Any, message: dict[str, Any], literal: bytes
) -> None:
    """One recipient is text, several are an array; what is not given is not sent."""
    reply = {ANN: SENT_ONE, CHEN: SENT_EARLIER}.get(to if isinstance(to, str) else to[0] * (len(to) == 1), SENT_TWO)
    expect(service, "sms.message.send", reply)
    assert client(**settings).send_message(to, **message).missing == ()
    assert sent(service) == literal


def test_the_address_holds_action_and_key_and_nothing_else(service: responses.RequestsMock) -> None:
    """The root path, the action, the key, in one POST."""
    expect(service, "sms.message.send", SENT_ONE)
    client().send_message(ANN, text="Hello")
    assert service.calls[0].request.url == "https://sms.example/?action=sms.message.send&accessKeyId=key-0123"
    assert service.calls[0].request.method == "POST"


# -- otp.send, otp.verify ----------------------------------------------------------------------------------------------

PASSCODES: list[tuple[str, dict[str, Any], str, dict[str, Any], bytes]] = [
    ("only to", {}, ANN, {}, b'{"to":"+12025550123"}'),
    ("digits", {}, ANN, {"digits": 8}, b'{"to":"+12025550123","digits":8}'),
    ("intent", {}, ANN, {"intent": "login"}, b'{"to":"+12025550123","intent":"login"}'),
    *[(channel, {}, ANN, {"channel": channel}, b'{"to":"+12025550123","channel":"%s"}' % channel.encode())
      for channel in ("sms", "call", "whatsapp", "auto")],
    ("code", {}, ANN, {"code": "0042"}, b'{"to":"+12025550123","code":"0042"}'),
    ("code and ttl", {}, ANN, {"code": "12345678", "ttl": 1800},
     b'{"to":"+12025550123","code":"12345678","ttl":1800}'),
    ("signature", {}, ANN, {"signature": "Acme"}, b'{"to":"+12025550123","signature":"Acme"}'),
    ("generated, all", {}, ANN, {"digits": 4, "intent": "login", "channel": "sms", "signature": "Acme"},
     b'{"to":"+12025550123","digits":4,"intent":"login","channel":"sms","signature":"Acme"}'),
    ("custom, all", {}, ANN, {"intent": "pay", "channel": "auto", "signature": "Acme", "code": "1234", "ttl": 60},
     b'{"to":"+12025550123","intent":"pay","channel":"auto","signature":"Acme","code":"1234","ttl":60}'),
    ("cn, +1", {"variant": "cn"}, ANN, {}, b'{"to":"+12025550123"}'),
    ("cn, +86", {"variant": "cn"}, CHEN, {"signature": "\u7b7e\u540d"},
     b'{"to":"+8613800138000","signature":"\xe7\xad\xbe\xe5\x90\x8d"}'),
]  # fmt: skip


@pytest.mark.parametrize(
    ("settings", "to", "options", "literal"), [row[1:] for row in PASSCODES], ids=[row[0] for row in PASSCODES]
)
def test_a_passcode_request_leaves_as_these_bytes(
    service: responses.RequestsMock, settings: dict[str, Any], to: str, options: dict[str, Any], literal: bytes
) -> None:
    """Defaults are the service's: they are not sent."""
    expect(service, "otp.send", OTP_SENT if to == ANN else OTP_SENT_86)
    assert client(**settings).send_otp(to, **options).record.to == to
    assert sent(service) == literal


@pytest.mark.parametrize(
    ("options", "literal"),
    [
        ({}, b'{"to":"+12025550123","code":"0042"}'),
        ({"intent": "login"}, b'{"to":"+12025550123","code":"0042","intent":"login"}'),
        ({"ttl": 600}, b'{"to":"+12025550123","code":"0042","ttl":600}'),
        (
            {"intent": "i" * 36, "ttl": 1800},
            b'{"to":"+12025550123","code":"0042","intent":"%s","ttl":1800}' % (b"i" * 36),
        ),
    ],
    ids=["code", "intent", "ttl", "all"],
)
def test_a_check_leaves_as_these_bytes(
    service: responses.RequestsMock, options: dict[str, Any], literal: bytes
) -> None:
    """A code keeps its leading zeros: it is text."""
    expect(service, "otp.verify", VALID)
    assert client().verify_otp(ANN, "0042", **options).valid is True
    assert sent(service) == literal


# -- golden replies ----------------------------------------------------------------------------------------------------


def test_a_reply_is_read_into_every_field(service: responses.RequestsMock) -> None:
    """Records in the reply's order, each with its own number, price and parts; totals beside them."""
    expect(service, "sms.message.send", SENT_TWO, headers={"X-Uni-Request-Id": "r-77"})
    reply = client().send_message([ANN, BEN], text="Hello")
    first, second = reply.messages
    assert (first.id, first.to, first.iso, first.cc, first.parts) == (
        "b1946ac92492d2347c6235b4d2611184", BEN, "FR", "33", 2
    )  # fmt: skip
    assert (second.to, second.iso, second.price, second.price_micros) == (ANN, "US", Decimal("0.007500"), 7500)
    assert (reply.recipients, reply.message_count, reply.currency, reply.total) == (2, 3, "USD", Decimal("0.167500"))
    assert (reply.missing, reply.unexpected, reply.disagreements(), reply.request_id) == ((), (), (), "r-77")


def test_count_of_the_earlier_form_is_read_as_parts(service: responses.RequestsMock) -> None:
    """The earlier form's name for the same thing, in the currency of the mainland-China variant."""
    expect(service, "sms.message.send", SENT_EARLIER)
    reply = client(variant="cn", form="earlier").send_message(CHEN, content="Hello", signature="Acme")
    assert (reply.messages[0].parts, reply.message_count, reply.currency) == (2, 2, "CNY")
    assert reply.disagreements() == ()


@pytest.mark.parametrize("body", [OTP_SENT, OTP_SENT_EARLIER], ids=["current", "earlier"])
def test_a_passcode_reply_is_one_record(service: responses.RequestsMock, body: bytes) -> None:
    """A single object, not an array; ``count`` and ``parts`` mean the same."""
    expect(service, "otp.send", body)
    record = client().send_otp(ANN).record
    assert (record.id, record.iso, record.cc, record.parts, record.price_micros) == (
        "b1946ac92492d2347c6235b4d2611184", "US", "1", 1, 7500
    )  # fmt: skip


@pytest.mark.parametrize(("body", "valid"), [(VALID, True), (NOT_VALID, False)])
def test_a_check_is_true_or_false(service: responses.RequestsMock, body: bytes, valid: bool) -> None:
    """A wrong code is an answer, not an error."""
    expect(service, "otp.verify", body)
    assert client().verify_otp(ANN, "123456").valid is valid


def check_of(data: bytes, envelope: bytes = b'"code":"0","message":"Success"') -> bytes:
    return b"{" + envelope + b',"data":' + data + b"}"


YES = b'{"to":"+12025550123","valid":true}'
NO_ANSWER: list[tuple[str, bytes]] = [
    ("valid twice", check_of(b'{"to":"+12025550123","valid":false,"valid":true}')),
    ("valid twice, the same", check_of(b'{"to":"+12025550123","valid":true,"valid":true}')),
    ("valid twice, one escaped", check_of(rb'{"to":"+12025550123","valid":false,"v\u0061lid":true}')),
    ("valid in another case", check_of(b'{"to":"+12025550123","Valid":true}')),
    ("valid in two cases", check_of(b'{"to":"+12025550123","VALID":false,"valid":true}')),
    ("code twice", check_of(YES, b'"code":"104001","code":"0","message":"Success"')),
    ("data twice", check_of(NOT_VALID.partition(b'"data":')[2][:-1] + b',"data":' + YES)),
    ("to twice", check_of(b'{"to":"+33199001234","to":"+12025550123","valid":true}')),
    ("twice, and colons in a text", check_of(b'{"to":"+12025550123","valid":false,"note":"::","valid":true}')),
    ("twice in an object within", check_of(b'{"to":"+12025550123","valid":true,"more":[{"a":1,"a":2}]}')),
    ("twice beside the data", check_of(YES + b',"more":{"a":1,"a":2}')),
    ("twice in UTF-16", check_of(b'{"to":"+12025550123","valid":false,"valid":true}').decode().encode("utf-16")),
    ("no to", check_of(b'{"valid":true}')),
    ("another number", check_of(YES.replace(b"0123", b"0124"))),
    ("no plus", check_of(YES.replace(b"+", b""))),
    ("blanks", check_of(YES.replace(b"+1202", b"+1 202 "))),
    ("a number as a number", check_of(YES.replace(b'"+12025550123"', b"12025550123"))),
    ("null for a number", check_of(YES.replace(b'"+12025550123"', b"null"))),
    ("true as text", check_of(YES.replace(b"true", b'"true"'))),
    ("true as 1", check_of(YES.replace(b"true", b"1"))),
    ("NaN", check_of(YES.replace(b"true", b"NaN"))),
    ("a list", check_of(b"[" + YES + b"]")),
    ("no data", b'{"code":"0","message":"Success"}'),
    ("beside the data", b'{"code":"0","message":"Success","to":"+12025550123","valid":true,"data":{}}'),
    ("code as a number", check_of(YES, b'"code":0,"message":"Success"')),
    ("no message", check_of(YES, b'"code":"0"')),
    ("another message", check_of(YES, b'"code":"0","message":"MissingParams"')),
    ("more behind it", check_of(YES) + b"x"),
    ("a second document", check_of(YES) + NOT_VALID),
]


@pytest.mark.parametrize("body", [row[1] for row in NO_ANSWER], ids=[row[0] for row in NO_ANSWER])
def test_a_check_is_in_doubt_unless_the_reply_is_exactly_that_of_the_interface(
    service: responses.RequestsMock, body: bytes
) -> None:
    """What can be read in two ways, or is about somebody else, opens no door."""
    expect(service, "otp.verify", body)
    with pytest.raises(InDoubt):
        client().verify_otp(ANN, "123456")
    assert len(service.calls) == 1


@pytest.mark.parametrize("status", [201, 202, 204, 302, 400, 500])
def test_a_check_is_true_with_status_200_only(service: responses.RequestsMock, status: int) -> None:
    expect(service, "otp.verify", VALID, status=status)
    with pytest.raises(InDoubt):
        client().verify_otp(ANN, "123456")


def test_a_mark_in_front_and_an_unknown_field_leave_a_check_as_it_is(service: responses.RequestsMock) -> None:
    """Both can be read in one way only."""
    expect(service, "otp.verify", b"\xef\xbb\xbf" + VALID.replace(b'"valid"', b'"at":"10:30","valid"'))
    assert client().verify_otp(ANN, "123456").valid is True


@pytest.mark.parametrize(
    ("action", "body"),
    [
        ("sms.message.send", SENT_ONE.replace(b'"price":', b'"price":"0.000001","price":')),
        ("sms.message.send", SENT_ONE.replace(b'"price":', rb'"pr\u0069ce":"0.000001","price":')),
        ("sms.message.send", SENT_ONE.replace(b'"messages":', b'"messages":[],"messages":')),
        ("sms.message.send", SENT_ONE.replace(b'"totalAmount":', b'"totalAmount":"1.000000","totalAmount":')),
        ("sms.message.send", SENT_ONE.replace(b'"to":', b'"note":"a:b","to":"+33199001234","to":')),
        ("sms.message.send", SENT_ONE.replace(b'"data":', b'"data":{},"data":')),
        ("otp.send", OTP_SENT.replace(b'"price":', b'"price":"0.000001","price":')),
        ("otp.send", OTP_SENT.replace(b'"to":', b'"to":"+33199001234","to":')),
        ("otp.send", OTP_SENT.replace(b'"to":"+12025550123",', b"")),
        ("otp.send", OTP_SENT.replace(b'"+12025550123"', b"12025550123")),
    ],
)
def test_a_send_whose_reply_says_a_thing_twice_is_in_doubt(
    service: responses.RequestsMock, action: str, body: bytes
) -> None:
    """So is a passcode whose reply does not say to whom it went."""
    expect(service, action, body)
    with pytest.raises(InDoubt):
        client().send_otp(ANN) if action == "otp.send" else client().send_message(ANN, text="Hello")
    assert len(service.calls) == 1


def test_a_refusal_that_names_two_codes_is_in_doubt(service: responses.RequestsMock) -> None:
    body = b'{"code":"105400","message":"InsufficientFunds","code":"107111"}'
    expect(service, "sms.message.send", body, status=400)
    with pytest.raises(InDoubt, match="a name twice in one object"):
        client().send_message(ANN, text="Hello")


REFUSALS: list[tuple[bytes, type[ServiceError], str, str]] = [
    (b'{"code":"105400","message":"InsufficientFunds"}', InsufficientFunds, "105400", "InsufficientFunds"),
    (b'{"code":"105400","message":"FundsInsufficient"}', InsufficientFunds, "105400", "FundsInsufficient"),
    (b'{"code":"107111","message":"InvalidPhoneNumbers"}', InvalidPhoneNumbers, "107111", "InvalidPhoneNumbers"),
    (b'{"code":"104001","message":"MissingParams"}', MissingParams, "104001", "MissingParams"),
    (b'{"code":"107145","message":"RestrictedSmsTemplate"}', ServiceError, "107145", "RestrictedSmsTemplate"),
    (b'{"code":"104111","message":"InvalidAccessKeyId"}', ServiceError, "104111", "InvalidAccessKeyId"),
    (b'{"code":"999999","message":"NeverSeen","data":null}', ServiceError, "999999", "NeverSeen"),
    (b'{"code":"123","message":""}', ServiceError, "123", ""),
]


@pytest.mark.parametrize(("body", "kind", "code", "name"), REFUSALS, ids=[row[3] or "no name" for row in REFUSALS])
def test_a_refusal_keeps_its_code_name_and_request_id(
    service: responses.RequestsMock, body: bytes, kind: type[ServiceError], code: str, name: str
) -> None:
    """The three codes of the interface have their own exceptions; every other comes through as it is, and once only."""
    expect(service, "sms.message.send", body, status=400, headers={"x-uni-request-id": "r-1"})
    with pytest.raises(ServiceError) as caught:
        client().send_message(ANN, text="Hello")
    error = caught.value
    assert type(error) is kind
    assert (error.error_code, error.name, error.http_status, error.request_id) == (code, name, 400, "r-1")
    assert len(service.calls) == 1
    assert ("SMSOTP_ACCESS_KEY_ID" in str(error)) == (code == "104111")


@pytest.mark.parametrize("call", ["send_otp", "verify_otp"])
@pytest.mark.parametrize(("body", "kind"), [row[:2] for row in REFUSALS[:4]], ids=[row[3] for row in REFUSALS[:4]])
def test_passcodes_are_refused_by_the_same_exceptions(
    service: responses.RequestsMock, call: str, body: bytes, kind: type[ServiceError]
) -> None:
    """All three operations speak through one envelope."""
    expect(service, "otp.send" if call == "send_otp" else "otp.verify", body, status=400)
    with pytest.raises(kind):
        client().send_otp(ANN) if call == "send_otp" else client().verify_otp(ANN, "1234")


# -- what does not leave -----------------------------------------------------------------------------------------------

WRONG: list[tuple[str, dict[str, Any], str, tuple[Any, ...], dict[str, Any], int]] = [
    ("message", {}, "send_message", (["nobody", ANN, ANN],), {"text": "a", "content": "b", "signature": "A"}, 4),
    ("cn message", {"variant": "cn"}, "send_message", (ANN,), {"template_data": {"a": 1}}, 4),
    ("earlier message", {"form": "earlier"}, "send_message", (ANN,), {"text": "Hello"}, 2),
    ("no recipients", {}, "send_message", ([],), {"text": "Hello"}, 1),
    ("no number", {}, "send_message", (None,), {"text": "Hello"}, 1),
    ("half a character", {}, "send_message", (ANN,), {"text": "\ud800"}, 1),
    (
        "passcode",
        {},
        "send_otp",
        ("12",),
        {"digits": 3, "channel": "fax", "code": "1", "ttl": 0, "intent": "i" * 37},
        6,
    ),
    ("cn passcode", {"variant": "cn"}, "send_otp", (CHEN,), {}, 1),
    ("check", {}, "verify_otp", ("12", "x"), {"ttl": 1801, "intent": "i" * 37}, 4),
]


@pytest.mark.parametrize(
    ("settings", "call", "arguments", "options", "count"), [row[1:] for row in WRONG], ids=[row[0] for row in WRONG]
)
def test_one_error_lists_everything_wrong_and_nothing_leaves(
    service: responses.RequestsMock,
    settings: dict[str, Any],
    call: str,
    arguments: tuple[Any, ...],
    options: dict[str, Any],
    count: int,
) -> None:
    """The limits are checked before anything is sent, all of them at once."""
    with pytest.raises(UsageError) as caught:
        getattr(client(**settings), call)(*arguments, **options)
    assert len(caught.value.problems) == count
    assert all(problem in str(caught.value) for problem in caught.value.problems)
    assert "nothing was sent" in str(caught.value)
    assert len(service.calls) == 0


def test_options_without_effect_are_warned_of(service: responses.RequestsMock) -> None:
    """``ttl`` belongs to a code of one's own; a generated code's lifetime is said at the check."""
    expect(service, "otp.send", OTP_SENT)
    expect(service, "otp.send", OTP_SENT)
    with pytest.warns(SmsOtpWarning, match="ttl= has no effect on a generated passcode") as caught:
        client().send_otp(ANN, ttl=600)
    assert caught[0].filename == __file__
    with pytest.warns(SmsOtpWarning, match="digits= has no effect beside your own code=") as caught:
        client().send_otp(ANN, digits=6, code="1234")
    assert caught[0].filename == __file__


def test_numbers_without_a_record_are_warned_of(service: responses.RequestsMock) -> None:
    """A caller who does not look at ``missing`` hears of it, at the line that sent."""
    expect(service, "sms.message.send", SENT_ONE)
    with pytest.warns(SmsOtpWarning, match="1 of 2 numbers have no record in the reply and are in doubt") as caught:
        reply = client().send_message([ANN, BEN], text="Hello")
    assert reply.missing == (BEN,)
    assert caught[0].filename == __file__


@pytest.mark.parametrize("body", [ConnectionError("refused"), OSError("reset"), RuntimeError("something else")])
def test_a_transport_that_was_not_watched_is_in_doubt(service: responses.RequestsMock, body: Exception) -> None:
    """Whatever stands in for the connection, an error that it raises proves nothing: once, and in doubt."""
    service.post(URL, body=body)
    with pytest.raises(InDoubt):
        client().send_message(ANN, text="Hello")
    assert len(service.calls) == 1
