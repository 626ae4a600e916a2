"""The interface's limits, replies and amounts, each with the value at the edge and the one beyond it.

Replies are typed from the interface's description, not built by the code that reads them.
"""

from __future__ import annotations

import json
import re
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smsotp_nb import _wire as wire
from smsotp_nb._wire import Body, MessageRecord, SendReply, Unreadable

ANN, BEN, COR = "+12025550123", "+33199001234", "+46701740605"
LONE = "half \ud800"


# -- limits ------------------------------------------------------------------------------------------------------------

BODIES: list[tuple[str, dict[str, Any], dict[str, str], str]] = [
    ("text", {"text": "Hi"}, {}, ""),
    ("content", {"content": "Hi"}, {}, ""),
    ("template", {"template_id": "t-1"}, {}, ""),
    ("template with data", {"template_id": "t-1", "template_data": (("name", "Ann"),)}, {}, ""),
    ("empty value in data", {"template_id": "t-1", "template_data": (("name", ""),)}, {}, ""),
    ("nothing", {}, {}, "one of text=, content= or template_id= is needed"),
    ("signature alone", {"signature": "Acme"}, {}, "one of text=, content= or template_id= is needed"),
    ("two", {"text": "Hi", "content": "Hi"}, {}, "only one of text=, content= and template_id="),
    ("three", {"text": "a", "content": "b", "template_id": "c"}, {}, "got template_id and text and content"),
    ("empty text", {"text": ""}, {}, "text= is empty"),
    ("blank content", {"content": " \n"}, {}, "content= is empty"),
    ("empty template id", {"template_id": ""}, {}, "template_id= is empty"),
    ("text that is a number", {"text": 5}, {}, "text= must be text, got int"),
    ("text that is bytes", {"text": b"Hi"}, {}, "text= must be text, got bytes"),
    ("template id that is a number", {"template_id": 7}, {}, "template_id= must be text, got int"),
    ("half a character in text", {"text": LONE}, {}, "text= holds half of a surrogate pair"),
    ("half a character in content", {"content": LONE}, {}, "content= holds half of a surrogate pair"),
    ("half a character in data", {"template_id": "t", "template_data": (("a", LONE),)}, {}, "holds half"),
    ("data without template", {"text": "Hi", "template_data": (("a", "b"),)}, {}, "template_data= needs template_id="),
    ("value not text", {"template_id": "t", "template_data": (("n", 1),)}, {}, "['n'] must be text, got int"),
    ("value missing", {"template_id": "t", "template_data": (("n", None),)}, {}, "must be text, got NoneType"),
    ("name not text", {"template_id": "t", "template_data": ((1, "a"),)}, {}, "a name in template_data= must be text"),
    ("name empty", {"template_id": "t", "template_data": (("", "a"),)}, {}, "a name in template_data= is empty"),
    ("signature of 1", {"text": "Hi", "signature": "A"}, {}, "signature= must have 2 to 16 characters, got 1"),
    ("signature of 2", {"text": "Hi", "signature": "Ab"}, {}, ""),
    ("signature of 16", {"text": "Hi", "signature": "A" * 16}, {}, ""),
    ("signature of 17", {"text": "Hi", "signature": "A" * 17}, {}, "2 to 16 characters, got 17"),
    ("signature of 16 Chinese characters", {"text": "Hi", "signature": "签" * 16}, {}, ""),
    ("signature empty", {"text": "Hi", "signature": ""}, {}, "2 to 16 characters, got 0"),
    ("signature blank", {"text": "Hi", "signature": "   "}, {}, "signature= is empty"),
    ("signature not text", {"text": "Hi", "signature": 55}, {}, "signature= must be text, got int"),
    ("cn without signature", {"content": "Hi"}, {"variant": "cn"}, "signature= is required in the cn variant"),
    ("cn with signature", {"content": "Hi", "signature": "签名"}, {"variant": "cn"}, ""),
    ("cn, current form, text", {"text": "Hi", "signature": "签名"}, {"variant": "cn"}, ""),
    ("earlier without signature", {"content": "Hi"}, {"form": "earlier"}, "signature= is required in the earlier form"),
    ("earlier with content", {"content": "Hi", "signature": "Acme"}, {"form": "earlier"}, ""),
    ("earlier with template", {"template_id": "t", "signature": "Acme"}, {"form": "earlier"}, ""),
    ("earlier with text", {"text": "Hi", "signature": "Acme"}, {"form": "earlier"}, "text= is not part of"),
    ("cn, earlier, text", {"text": "Hi", "signature": "签名"}, {"variant": "cn", "form": "earlier"}, "text= is"),
]  # fmt: skip


@pytest.mark.parametrize(("fields", "where", "said"), [row[1:] for row in BODIES], ids=[row[0] for row in BODIES])
def test_a_message_is_held_to_the_limits_of_its_variant_and_form(
    fields: dict[str, Any], where: dict[str, Any], said: str
) -> None:
    """Each limit has one sentence; what is within the limits has none."""
    found = wire.check_body(Body(**fields), **where)
    assert (said in "; ".join(found)) if said else (found == [])


RECIPIENTS: list[tuple[str, list[Any], str]] = [
    ("one", [ANN], ""),
    ("many", [ANN, BEN, COR], ""),
    ("1,000", [f"+1202555{n:04d}" for n in range(1000)], ""),
    ("none", [], "to= is empty"),
    ("1,001", [f"+1202555{n:04d}" for n in range(1001)], "1001 recipients in one request; the most is 1000"),
    ("no plus", ["12025550123"], "the number is not E.164"),
    ("blanks", ["+1 202 555 0123"], "the number is not E.164"),
    ("leading zero", ["+01234567"], "not E.164"),
    ("16 digits", ["+1234567890123456"], "not E.164"),
    ("15 digits", ["+123456789012345"], ""),
    ("other digits", ["+１２０２５５５０１２３"], "not E.164"),
    ("line end", [ANN + "\n"], "not E.164"),
    ("missing", [None, ANN], "1 of 2 numbers are not E.164"),
    ("a list in the list", [[ANN]], "not E.164"),
    ("float", [12025550123.0], "not E.164"),
    ("twice", [ANN, BEN, ANN], "1 numbers appear more than once"),
]


@pytest.mark.parametrize(("to", "said"), [row[1:] for row in RECIPIENTS], ids=[row[0] for row in RECIPIENTS])
def test_recipients_are_e164_and_stand_once(to: list[Any], said: str) -> None:
    """What is refused is counted, and shown masked."""
    found = "; ".join(wire.check_recipients(to))
    assert (said in found) if said else (found == "")
    assert ANN not in found


PASSCODES: list[tuple[str, dict[str, Any], str]] = [
    ("only to", {}, ""),
    ("digits 3", {"digits": 3}, "digits= must be a whole number from 4 to 8, got 3"),
    ("digits 4", {"digits": 4}, ""),
    ("digits 8", {"digits": 8}, ""),
    ("digits 9", {"digits": 9}, "from 4 to 8, got 9"),
    ("digits text", {"digits": "6"}, "got '6'"),
    ("digits true", {"digits": True}, "got True"),
    ("digits float", {"digits": 6.0}, "got 6.0"),
    ("intent 36", {"intent": "i" * 36}, ""),
    ("intent 37", {"intent": "i" * 37}, "at most 36 characters, got 37"),
    ("intent number", {"intent": 5}, "intent= must be text, got int"),
    ("intent half a character", {"intent": LONE}, "intent= holds half"),
    *[(f"channel {channel}", {"channel": channel}, "") for channel in ("sms", "call", "whatsapp", "auto")],
    ("channel SMS", {"channel": "SMS"}, "channel= must be one of sms, call, whatsapp, auto, got 'SMS'"),
    ("channel list", {"channel": ["sms"]}, "channel= must be one of"),
    ("code of 3", {"code": "123"}, "code= must be text of 4 to 8 digits (given: str of length 3)"),
    ("code of 4", {"code": "0000"}, ""),
    ("code of 8", {"code": "12345678"}, ""),
    ("code of 9", {"code": "123456789"}, "of length 9"),
    ("code int", {"code": 123456}, "given: int of length 6"),
    ("code letters", {"code": "12a4"}, "code= must be text of 4 to 8 digits"),
    ("code other digits", {"code": "١٢٣٤"}, "code= must be text of 4 to 8 digits"),
    ("code line end", {"code": "1234\n"}, "code= must be text of 4 to 8 digits"),
    ("ttl 0", {"code": "1234", "ttl": 0}, "ttl= must be a whole number of seconds from 1 to 1800, got 0"),
    ("ttl 1", {"code": "1234", "ttl": 1}, ""),
    ("ttl 1800", {"code": "1234", "ttl": 1800}, ""),
    ("ttl 1801", {"code": "1234", "ttl": 1801}, "from 1 to 1800, got 1801"),
    ("ttl float", {"code": "1234", "ttl": 300.0}, "got 300.0"),
    ("signature", {"signature": "Acme"}, ""),
    ("signature of 1", {"signature": "A"}, "2 to 16 characters"),
    ("cn, +1 without signature", {"variant": "cn"}, ""),
    ("cn, +86 without signature", {"to": "+8613800138000", "variant": "cn"}, "signature= is required for +86 numbers"),
    ("cn, +86 with signature", {"to": "+8613800138000", "variant": "cn", "signature": "签名"}, ""),
    ("intl, +86 without signature", {"to": "+8613800138000"}, ""),
    ("a list of numbers", {"to": [ANN]}, "not E.164"),
    ("no number", {"to": None}, "not E.164"),
]


@pytest.mark.parametrize(("given", "said"), [row[1:] for row in PASSCODES], ids=[row[0] for row in PASSCODES])
def test_a_passcode_is_held_to_its_limits(given: dict[str, Any], said: str) -> None:
    """Edges included; a code never stands in the sentence that refuses it."""
    given = {"to": ANN, **given}
    found = "; ".join(wire.check_otp_send(**given))
    assert (said in found) if said else (found == "")
    if "code" in given:
        assert str(given["code"]) not in found


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, ""),
        ({"code": "12345678", "intent": "i" * 36, "ttl": 1800}, ""),
        ({"code": "123"}, "code= must be"),
        ({"code": None}, "code= must be"),
        ({"intent": "i" * 37}, "intent= must be"),
        ({"ttl": 1801}, "ttl= must be"),
        ({"to": "12025550123"}, "not E.164"),
    ],
)
def test_a_check_of_a_passcode_is_held_to_its_limits(given: dict[str, Any], said: str) -> None:
    """The same limits as at sending."""
    found = "; ".join(wire.check_otp_verify(**{"to": ANN, "code": "1234", **given}))
    assert (said in found) if said else (found == "")


# -- envelopes ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"OK",
        b"<html>502</html>",
        b"\xff\xfe\x00",
        b"null",
        b"[]",
        b'"0"',
        b"0",
        b'{"message":"Success"}',
        b'{"code":0,"message":"Success"}',
        b'{"code":null}',
        b'{"code":["0"]}',
        b'{"code":"0","data":NaN}',
        b'{"code":"0","data":-Infinity}',
        b'{"code":"0","data":1e9999999999999999999}',
        b'{"code":"0","data":' + b"9" * 5000 + b"}",
        b'{"code":"0","message":"Success","data":{"mess',
        b'{"code":"0"} {"code":"0"}',
        b"[" * 100_000,
        b'{"code":"0","data":' + b"[" * 5000 + b"]" * 5000 + b"}",
    ],
    ids=lambda raw: repr(raw[:30]),
)
def test_what_is_not_an_envelope_is_unreadable(raw: bytes) -> None:
    """One error for every kind, which says nothing about the request: that is for the caller."""
    try:
        envelope = wire.read_envelope(raw)
    except Unreadable:
        return
    with pytest.raises(Unreadable):  # deep but within the parser's reach: then its data is what does not fit
        wire.read_send(envelope.data, [ANN])


def test_an_envelope_without_a_message_has_an_empty_one() -> None:
    """The name is a help, not a condition."""
    assert wire.read_envelope(b'{"code":"105400"}').message == ""
    assert wire.read_envelope(b'{"code":"105400","message":5}').message == ""


def test_half_characters_in_a_reply_become_question_marks() -> None:
    """JSON can carry what UTF-8 and a ledger cannot."""
    envelope = wire.read_envelope(rb'{"code":"1\ud800","message":"No\udfff","data":{"messages":[]}}')
    assert (envelope.code, envelope.message) == ("1?", "No?")
    found = wire.read_send({"messages": [{"to": ANN, "id": "\ud800", "iso": "U\udc00"}]}, [ANN]).messages[0]
    assert (found.id, found.iso) == ("?", "U?")


# -- records -----------------------------------------------------------------------------------------------------------


def record(to: str, **changed: Any) -> dict[str, Any]:
    fields = {"id": "0" * 32, "to": to, "iso": "US", "cc": "1", "parts": 1, "price": "0.007500"}
    return {name: value for name, value in {**fields, **changed}.items() if value != "left out"}


def read(*records: dict[str, Any], to: list[str] | None = None, **totals: Any) -> SendReply:
    return wire.read_send({**totals, "messages": list(records)}, [ANN, BEN] if to is None else to)


def test_records_are_matched_by_number_never_by_position() -> None:
    """Each row gets its own price whatever the order of the reply."""
    found = read(record(BEN, price="0.080000"), record(ANN, price="0.007500"))
    assert {one.to: one.price_micros for one in found.messages} == {ANN: 7500, BEN: 80000}
    assert (found.missing, found.unexpected) == ((), ())


@pytest.mark.parametrize("spelled", ["12025550123", "+12025550123"])
def test_a_record_is_matched_with_or_without_the_plus(spelled: str) -> None:
    """Clients in the field have seen both; the digits decide."""
    assert read(record(spelled), to=[ANN]).missing == ()


@pytest.mark.parametrize(
    ("records", "accepted", "missing", "unexpected"),
    [
        ([], 0, (ANN, BEN), 0),
        ([record(BEN)], 1, (ANN,), 0),
        ([record(ANN), record(BEN), record(COR)], 2, (), 1),
        ([record(COR), record(COR)], 0, (ANN, BEN), 2),
        ([record(ANN), record(ANN)], 1, (BEN,), 1),
        ([record(ANN), record("1202555012")], 1, (BEN,), 1),
        ([record(ANN), record("left out")], 1, (BEN,), 1),
        ([record(ANN), record(None)], 1, (BEN,), 1),  # type: ignore[arg-type]
        ([record(ANN), record(33199001234)], 1, (BEN,), 1),  # type: ignore[arg-type]
    ],
    ids=["none", "fewer", "more", "foreign", "repeated", "digit short", "no to", "null to", "number to"],
)
def test_numbers_without_a_record_are_missing_and_the_rest_unexpected(
    records: list[dict[str, Any]], accepted: int, missing: tuple[str, ...], unexpected: int
) -> None:
    """A number counts as accepted only by a record of its own."""
    found = read(*records)
    assert (len(found.messages), found.missing, len(found.unexpected)) == (accepted, missing, unexpected)


@given(st.permutations([ANN, BEN, COR]), st.sets(st.sampled_from([ANN, BEN, COR])), st.integers(0, 3))
def test_every_number_asked_for_is_accepted_once_or_missing(order: list[str], given: set[str], extra: int) -> None:
    """Whatever a reply holds, the rows are split into accepted and missing without loss or repetition."""
    records = [record(number) for number in order if number in given] + [record("+4670000000")] * extra
    found = read(*records, to=[ANN, BEN, COR])
    assert sorted([one.to for one in found.messages] + list(found.missing)) == sorted([ANN, BEN, COR])
    assert len(found.messages) + len(found.unexpected) == len(records)


ODD_VALUES = st.one_of(
    st.sampled_from(
        [1, 2, True, "1", "US", "", None, Decimal("10.0"), Decimal("1E+1"), Decimal("-0.0"), "0.0075", 2**61]
    ),
    st.sampled_from([[], {}, "U" * 257, "\ud800", Decimal("0.0075"), Decimal("0.00750000000000000"), 0, -1, 1]),
)
ODD_RECORDS = st.fixed_dictionaries(
    {}, optional=dict.fromkeys(["id", "iso", "cc", "parts", "price", "count", "messageCount"], ODD_VALUES)
)


@given(st.lists(ODD_RECORDS, min_size=1, max_size=2 * wire.FEW))
def test_each_record_is_read_as_if_it_stood_alone(records: list[dict[str, Any]]) -> None:
    """What is read for many records at once says the same: True is no 1, and 1E+1 is not spelled as money."""
    to = [f"+1202555010{place}" for place in range(len(records))]
    whole = [{"to": number, **fields} for number, fields in zip(to, records, strict=True)]
    alone = [read(one, to=[number]).messages[0] for one, number in zip(whole, to, strict=True)]
    found = read(*whole, to=to)
    assert [*found.messages] == alone
    assert found == read(*whole, to=to)
    assert hash(found) == hash(read(*whole, to=to))


@pytest.mark.parametrize(
    ("field", "said", "expected"),
    [
        ("parts", (1, True), (1, None)),
        ("parts", (True, 1), (None, 1)),
        ("parts", (1, "1"), (1, 1)),
        ("price", (Decimal("10.0"), Decimal("1E+1")), (10_000_000, None)),
        ("price", (Decimal("1E+1"), Decimal("10.0")), (None, 10_000_000)),
        ("price", (1, True), (1_000_000, None)),
    ],
    ids=str,
)
@pytest.mark.parametrize("many", [1, wire.FEW], ids=["few", "many"])
def test_what_is_equal_to_python_is_not_read_alike(
    many: int, field: str, said: tuple[Any, Any], expected: tuple[Any, Any]
) -> None:
    to = [f"+12025550{place:03}" for place in range(2 * many)]
    found = read(*(record(number, **{field: said[place % 2]}) for place, number in enumerate(to)), to=to)
    name = {"price": "price_micros"}.get(field, field)
    assert [getattr(one, name) for one in found.messages] == [*expected] * many


def test_messages_are_a_sequence_of_records() -> None:
    found = read(record(ANN), record(BEN, id="1" * 32), record(COR), to=[ANN, BEN, COR]).messages
    assert [one.to for one in found] == [ANN, BEN, COR]
    assert (found[1].id, found[-1].to) == ("1" * 32, COR)
    assert [*found[1:]] == [*found][1:]
    assert found[:2] == wire.Messages.of([found[0], found[1]]) != found


@pytest.mark.parametrize("name", ["parts", "count", "messageCount"])
def test_parts_are_read_under_each_of_their_names(name: str) -> None:
    """``parts``, ``count`` of the earlier form, and ``messageCount`` of other forms mean the same."""
    assert read(record(ANN, **{"parts": "left out", name: 3}), to=[ANN]).messages[0].parts == 3


@pytest.mark.parametrize(
    ("value", "parts"),
    [(2, 2), ("2", 2), (True, None), (-1, None), ("two", None), (1.5, None), (None, None), (10**12, None), ([1], None)],
)
def test_parts_that_are_not_a_count_are_missing(value: Any, parts: int | None) -> None:
    """The message counts as accepted all the same."""
    found = read(record(ANN, parts=value), to=[ANN])
    assert found.messages[0].parts == parts
    assert found.missing == ()


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        "",
        {},
        {"messages": None},
        {"messages": {}},
        {"messages": [None]},
        {"messages": [[]]},
        {"messages": ["a"]},
    ],
)
def test_a_success_without_records_is_unreadable(data: Any) -> None:
    """It says nothing about who was texted."""
    with pytest.raises(Unreadable):
        wire.read_send(data, [ANN])


@pytest.mark.parametrize("data", [None, [], "", 5, {"to": BEN}, {"to": "2025550123"}])
def test_a_passcode_reply_about_nobody_or_another_is_unreadable(data: Any) -> None:
    """The passcode may have gone to somebody else."""
    with pytest.raises(Unreadable):
        wire.read_otp_send(data, ANN)


# -- totals ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("totals", "said"),
    [
        ({"recipients": 3}, "recipients says 3, the records are 2"),
        ({"messageCount": 1}, "messageCount says 1, the parts add up to 2"),
        ({"totalAmount": "0.015001"}, "totalAmount says 0.015001, the prices add up to 0.015000"),
    ],
)
def test_totals_that_differ_say_by_how_much(totals: dict[str, Any], said: str) -> None:
    """A difference of one millionth is a difference."""
    assert read(record(ANN), record(BEN, id="1" * 32), **totals).disagreements() == (said,)


def test_a_missing_price_is_said_and_does_not_count_as_zero() -> None:
    """Without every price the total cannot be compared."""
    found = read(record(ANN), record(BEN, id="1" * 32, price="NaN"), totalAmount="9.000000")
    assert found.disagreements() == ("1 prices are missing or unreadable",)


# -- money -------------------------------------------------------------------------------------------------------------


@given(st.integers(0, 10**17))
def test_an_amount_comes_back_exactly(value: int) -> None:
    """Millionths -> text of the interface -> millionths, for every amount; never through a float."""
    text = f"{value // 10**6}.{value % 10**6:06d}"
    assert wire.micros(text) == value
    assert wire.micros(json.loads(text, parse_float=Decimal)) == value
    assert str(wire.amount(value)) == text


@given(st.one_of(st.text(max_size=30), st.floats(), st.decimals(), st.integers(), st.none(), st.booleans()))
def test_whatever_stands_for_a_price_is_an_exact_amount_or_missing(value: Any) -> None:
    """No input raises, and nothing is rounded."""
    found = wire.micros(value)
    assert found is None or Decimal(str(value)) * 10**6 == found


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("0.007500", 7500),
        ("0", 0),
        ("12.5", 12_500_000),
        ("0.0075000", 7500),
        ("0.0000001", None),
        ("-0.007500", None),
        ("+0.007500", None),
        ("1e3", None),
        ("0,007500", None),
        (" 0.007500", None),
        ("٠.٠٠٧٥٠٠", None),
        ("0.007500\n", None),
        ("9" * 13, None),
        (0.0075, None),
        (Decimal("0.0075"), 7500),
        (Decimal("1E+999999"), None),
        (Decimal("NaN"), None),
        (3, 3_000_000),
        (10**5000, None),
        (True, None),
    ],
    ids=lambda value: "huge" if isinstance(value, int) and value > 10**9 else repr(value),
)
def test_amounts_at_the_edges(value: Any, found: int | None) -> None:
    """Six places are exact; what has more, a sign, an exponent or a comma is missing."""
    assert wire.micros(value) == found


# -- people ------------------------------------------------------------------------------------------------------------


def test_two_numbers_in_one_text_are_no_number() -> None:
    assert len(wire.check_recipients([f"{ANN},{BEN}"])) == 1
    assert len(wire.check_recipients([ANN, f"{BEN},{COR}"])) == 1


@given(st.from_regex(wire.E164, fullmatch=True))
def test_a_mask_never_shows_the_whole_number(number: str) -> None:
    """At least the digits in the middle are gone."""
    assert number not in wire.mask(number)
    assert len(re.sub(r"\D", "", wire.mask(number))) < len(number) or len(number) < 5


def test_replies_show_their_numbers_masked() -> None:
    """A reply at the end of a cell is saved with the notebook."""
    one = MessageRecord(id="a", to=ANN, iso="US", parts=1, price_micros=7500)
    replies = [
        SendReply(messages=(one,), missing=(BEN,), unexpected=(MessageRecord(id=None, to=COR),)),
        wire.OtpReply(record=one),
        wire.VerifyReply(to=ANN, valid=True),
        one,
    ]
    assert not [number for number in (ANN, BEN, COR) if number in f"{replies!r} {replies[0]} {replies[2]}"]


@pytest.mark.parametrize(
    ("headers", "found"),
    [
        ([("X-Uni-Request-Id", "a")], "a"),
        ([("Date", "x"), ("request-id", "b")], "b"),
        ([("X-Request-Id", "c"), ("Y-Request-Id", "d")], "c"),
        ([("Request-Identity", "e")], None),
        ([], None),
    ],
)
def test_the_request_id_is_any_header_whose_name_ends_so(headers: list[tuple[str, str]], found: str | None) -> None:
    """Its prefix differs between services."""
    assert wire.request_id(headers) == found


def test_a_field_longer_than_any_is_left_out() -> None:
    """A million ids of a megabyte would make a campaign's table unreadable; the message stays accepted."""
    record = {"id": "x" * (wire.LONGEST_TEXT + 1), "to": ANN, "price": "0.01"}
    other = {"id": "x" * wire.LONGEST_TEXT, "to": BEN, "price": "0.01"}
    reply = wire.read_send({"messages": [record, other]}, [ANN, BEN])
    assert [one.id for one in reply.messages] == [None, "x" * wire.LONGEST_TEXT]
    assert reply.missing == ()


@pytest.mark.parametrize("many", [1, 20])
@pytest.mark.parametrize(
    ("field", "said"),
    [
        *(("iso", said) for said in (ANN, ANN[1:], f"US {ANN}", "1 2 0 2 5", "１２０２５", 49, ["US"])),
        *(("cc", said) for said in (ANN[1:], "12025", "1-202-555", 10_000, -1, 1.0, {"1": 1})),
        *(("currency", said) for said in (f"USD{ANN}", ANN[1:], 840, [])),
    ],
)
def test_a_field_that_may_hold_a_number_is_missing_and_its_message_accepted(field: str, said: Any, many: int) -> None:
    """A purge leaves these three in the ledger, so a number that a service writes there would stay for ever."""
    numbers = [f"+120255501{n:02}" for n in range(many)]
    right = {"iso": "US", "cc": "1", "parts": 1, "price": "0.01"}
    records = [{**right, "to": to, "id": to, **({} if field == "currency" else {field: said})} for to in numbers]
    reply = wire.read_send({"messages": records, "currency": said if field == "currency" else "USD"}, numbers)
    assert (len(reply.messages), reply.missing) == (many, ())
    read = {"iso": "US", "cc": "1", "currency": "USD", field: None}
    assert reply.currency == read.pop("currency")
    assert {(one.iso, one.cc) for one in reply.messages} == {(read["iso"], read["cc"])}


@pytest.mark.parametrize("many", [1, 20])
@pytest.mark.parametrize(
    ("said", "read_as"),
    [
        ({"iso": "us", "cc": 1}, ("US", "1")),
        ({"iso": "De", "cc": "49"}, ("DE", "49")),
        ({"iso": "DE", "cc": 0}, ("DE", None)),
        ({"iso": "DE", "cc": True}, ("DE", None)),
        ({"iso": "Germany", "cc": 49.0}, ("Germany", None)),
    ],
)
def test_a_country_is_read_in_capitals_and_a_calling_code_as_text(
    said: dict[str, Any], read_as: tuple[str | None, str | None], many: int
) -> None:
    """In short replies, which are read one by one, and in long ones, which are read by column."""
    numbers = [f"+120255501{n:02}" for n in range(many)]
    reply = wire.read_send({"messages": [{"to": to, **said} for to in numbers]}, numbers)
    assert {(message.iso, message.cc) for message in reply.messages} == {read_as}
