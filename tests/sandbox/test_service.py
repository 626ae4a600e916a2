"""The sandbox's answers, typed from the interface: fields, limits, errors, and both lifetimes of a passcode."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from typing import Any

import pytest
from support.phone_lists import example

from smsotp_nb import _wire as wire
from smsotp_nb._phones import countries
from smsotp_nb._sandbox import choices, messages
from smsotp_nb._sandbox.inbox import Filter, find
from smsotp_nb._sandbox.service import Answer, Service
from smsotp_nb._sandbox.state import State
from smsotp_nb.errors import UsageError
from smsotp_nb.sandbox import Rules
from smsotp_nb.settings import Secret

US, FR, CN, SE = "+12025550123", "+33199001234", example("CN"), "+46701740605"


class Desk:
    """A service with a clock that tests move."""

    def __init__(self, *, balance: int = 10_000_000, seed: str = "tests", **options: Any) -> None:
        self.time = 1_790_000_000.0
        variant = options.get("variant", "intl")
        self.state = State(None, variant=variant, balance=balance, seed=seed)
        self.service = Service(self.state, now=lambda: self.time, **options)

    def ask(self, action: str, **fields: Any) -> Answer:
        query = {"action": action, "accessKeyId": "any"}
        return self.service.answer(query, "application/json", json.dumps(fields).encode())

    def data(self, action: str, **fields: Any) -> Any:
        answer = self.ask(action, **fields)
        assert (answer.status, answer.envelope["code"], answer.envelope["message"]) == (200, "0", "Success")
        return answer.envelope["data"]

    def code(self, action: str, **fields: Any) -> str:
        answer = self.ask(action, **fields)
        assert answer.status == 400
        assert set(answer.envelope) == {"code", "message"}
        assert answer.accepted == 0
        return str(answer.envelope["code"])

    def texts(self) -> list[str]:
        return [row["text"] for row in find(self.state, Filter())]

    def last_code(self) -> str:
        return str(find(self.state, Filter())[-1]["code"])


@pytest.fixture
def desk() -> Desk:
    return Desk()


def test_a_send_answers_every_field_of_the_interface(desk: Desk) -> None:
    data = desk.data("sms.message.send", to=[US, FR], text="Hello")
    assert set(data) == {"recipients", "messageCount", "currency", "totalAmount", "messages"}
    assert (data["recipients"], data["messageCount"], data["currency"]) == (2, 2, "USD")
    assert [set(record) for record in data["messages"]] == [{"id", "to", "iso", "cc", "parts", "price"}] * 2
    first, second = data["messages"]
    assert (first["to"], first["iso"], first["cc"], first["parts"]) == (US, "US", "1", 1)
    assert (second["to"], second["iso"], second["cc"], second["parts"]) == (FR, "FR", "33", 1)
    assert re.fullmatch(r"[0-9a-f]{32}", first["id"])
    assert first["id"] != second["id"]
    assert re.fullmatch(r"[0-9]+\.[0-9]{6}", first["price"])
    assert Decimal(data["totalAmount"]) == Decimal(first["price"]) + Decimal(second["price"])


def test_one_recipient_may_be_text_or_an_array_of_one(desk: Desk) -> None:
    assert desk.data("sms.message.send", to=US, text="Hi")["recipients"] == 1
    assert desk.data("sms.message.send", to=[US], text="Hi")["recipients"] == 1


def test_a_passcode_reply_is_one_message_record(desk: Desk) -> None:
    data = desk.data("otp.send", to=US)
    assert set(data) == {"id", "to", "iso", "cc", "parts", "price"}
    assert (data["to"], data["iso"], data["cc"], data["parts"]) == (US, "US", "1", 1)


def test_a_verify_reply_says_whose_code_it_was_and_whether_it_is_valid(desk: Desk) -> None:
    desk.data("otp.send", to=US)
    assert desk.data("otp.verify", to=US, code=desk.last_code()) == {"to": US, "valid": True}


def test_the_earlier_form_names_the_parts_count() -> None:
    desk = Desk(form="earlier")
    data = desk.data("sms.message.send", to=US, content="Hi", signature="Acme")
    assert data["messages"][0]["count"] == 1
    assert "parts" not in data["messages"][0]
    assert desk.data("otp.send", to=US)["count"] == 1


def test_the_earlier_form_takes_only_content_and_templates_and_wants_a_signature() -> None:
    desk = Desk(form="earlier")
    assert desk.code("sms.message.send", to=US, text="Hi", signature="Acme") == "104001"
    assert desk.code("sms.message.send", to=US, content="Hi") == "104001"
    assert desk.data(
        "sms.message.send", to=US, templateId="pub_passcode_zh", templateData={"code": "1"}, signature="Ac"
    )


def test_the_mainland_china_variant_wants_signatures_and_shows_cny() -> None:
    desk = Desk(variant="cn")
    assert desk.code("sms.message.send", to=CN, content="您好") == "104001"
    assert desk.data("sms.message.send", to=CN, content="您好", signature="示例")["currency"] == "CNY"
    assert desk.code("otp.send", to=CN) == "104001"
    assert desk.data("otp.send", to=CN, signature="示例")["iso"] == "CN"
    assert desk.data("otp.send", to=US)["iso"] == "US"
    assert desk.texts()[0] == "【示例】您好"


MISSING = [
    ("sms.message.send", {}),
    ("sms.message.send", {"text": "Hi"}),
    ("sms.message.send", {"to": [], "text": "Hi"}),
    ("sms.message.send", {"to": US}),
    ("sms.message.send", {"to": US, "signature": "Acme"}),
    ("otp.send", {}),
    ("otp.verify", {}),
    ("otp.verify", {"to": US}),
    ("otp.verify", {"code": "123456"}),
]


@pytest.mark.parametrize(("action", "fields"), MISSING, ids=str)
def test_a_missing_parameter_is_104001(desk: Desk, action: str, fields: dict[str, Any]) -> None:
    answer = desk.ask(action, **fields)
    assert (answer.status, answer.envelope) == (400, {"code": "104001", "message": "MissingParams"})


LIMITS: list[tuple[str, dict[str, Any], str]] = [
    ("sms.message.send", {"text": "x", "signature": "A"}, "107122"),
    ("sms.message.send", {"text": "x", "signature": "A" * 17}, "107122"),
    ("sms.message.send", {"text": 5}, "104002"),
    ("otp.send", {"digits": 3}, "104002"),
    ("otp.send", {"digits": 9}, "104002"),
    ("otp.send", {"digits": "6"}, "104002"),
    ("otp.send", {"digits": True}, "104002"),
    ("otp.send", {"intent": "i" * 37}, "104002"),
    ("otp.send", {"channel": "pigeon"}, "104002"),
    ("otp.send", {"signature": "A" * 17}, "107122"),
    ("otp.send", {"code": "123"}, "104002"),
    ("otp.send", {"code": "123456789"}, "104002"),
    ("otp.send", {"code": "12 456"}, "104002"),
    ("otp.send", {"code": 123456}, "104002"),
    ("otp.send", {"ttl": 1801}, "104002"),
    ("otp.send", {"ttl": 0}, "104002"),
    ("otp.send", {"ttl": 10**400}, "104002"),
    ("otp.send", {"to": [US]}, "104002"),
    ("otp.verify", {"code": "12345x"}, "104002"),
    ("otp.verify", {"code": "123456", "ttl": 1801}, "104002"),
    ("otp.verify", {"code": "123456", "intent": "i" * 37}, "104002"),
]


@pytest.mark.parametrize(("action", "fields", "code"), LIMITS, ids=lambda value: str(value)[:40])
def test_a_value_outside_its_limit_is_refused(desk: Desk, action: str, fields: dict[str, Any], code: str) -> None:
    assert desk.code(action, **({"to": US} | fields)) == code


AT_THE_LIMIT: list[tuple[str, dict[str, Any]]] = [
    ("sms.message.send", {"text": "x", "signature": "AB"}),
    ("sms.message.send", {"text": "x", "signature": "A" * 16}),
    ("otp.send", {"digits": 4}),
    ("otp.send", {"digits": 8}),
    ("otp.send", {"intent": "i" * 36}),
    ("otp.send", {"code": "1234", "ttl": 1800}),
    ("otp.send", {"code": "12345678", "ttl": 1}),
    *(("otp.send", {"channel": channel}) for channel in ("sms", "call", "whatsapp", "auto")),
]


@pytest.mark.parametrize(("action", "fields"), AT_THE_LIMIT, ids=str)
def test_a_value_at_its_limit_is_taken(desk: Desk, action: str, fields: dict[str, Any]) -> None:
    assert desk.ask(action, **({"to": US} | fields)).status == 200


BAD_NUMBERS = [
    "hello",
    "12025550123",
    "+447700900123",
    "+1202555012",
    "+99912345678",
    "+1 202 555 0123",
    "+80012345678",
]


@pytest.mark.parametrize("number", BAD_NUMBERS)
def test_a_number_that_nobody_can_have_is_107111(desk: Desk, number: str) -> None:
    answer = desk.ask("otp.send", to=number)
    assert (answer.status, answer.envelope) == (400, {"code": "107111", "message": "InvalidPhoneNumbers"})
    assert desk.code("sms.message.send", to=[US, number], text="Hi") == "107111"
    assert desk.state.count() == 0


def test_a_balance_that_does_not_suffice_refuses_the_request_and_takes_nothing() -> None:
    desk = Desk(balance=14_999)
    answer = desk.ask("sms.message.send", to=[US, US], text="Hi")
    assert answer.envelope == {"code": "105400", "message": "InsufficientFunds"}
    assert (desk.state.balance, desk.state.count()) == (14_999, 0)
    desk.state.top_up(1)
    assert desk.data("sms.message.send", to=[US, US], text="Hi")["totalAmount"] == "0.015000"
    assert desk.state.balance == 0


def test_the_price_is_parts_times_the_rate_of_the_country(desk: Desk) -> None:
    rate = messages.sample("intl").micros["FR"]
    record = desk.data("sms.message.send", to=FR, text="a" * 161)["messages"][0]
    assert record["parts"] == 2
    assert Decimal(record["price"]) == Decimal(2 * rate) / 1_000_000


@pytest.mark.parametrize("variant", ["intl", "cn"])
def test_every_country_that_can_be_texted_has_a_rate(variant: wire.Variant) -> None:
    """A text to any country has a price from the table, never a made-up one."""
    assert set(countries.countries()) <= set(messages.sample(variant).micros)
    assert all(price > 0 for price in messages.sample(variant).micros.values())


# passcodes


@pytest.mark.parametrize("digits", [4, 5, 6, 7, 8])
def test_a_generated_code_has_the_digits_asked_for(desk: Desk, digits: int) -> None:
    desk.data("otp.send", to=US, digits=digits)
    assert re.fullmatch(rf"[0-9]{{{digits}}}", desk.last_code())
    assert desk.last_code() in desk.texts()[0]


def test_the_default_is_six_digits(desk: Desk) -> None:
    desk.data("otp.send", to=US)
    assert len(desk.last_code()) == 6


def test_a_custom_code_is_the_one_that_verifies(desk: Desk) -> None:
    desk.data("otp.send", to=US, code="0042")
    assert desk.data("otp.verify", to=US, code="0042")["valid"] is True


def test_a_custom_codes_lifetime_is_said_when_it_is_sent_and_not_when_it_is_verified(desk: Desk) -> None:
    desk.data("otp.send", to=US, code="123456", ttl=60)
    desk.time += 60
    assert desk.data("otp.verify", to=US, code="123456", ttl=1800)["valid"] is False
    desk.data("otp.send", to=US, code="123456", ttl=900)
    desk.time += 899
    assert desk.data("otp.verify", to=US, code="123456", ttl=1)["valid"] is True


def test_a_generated_codes_lifetime_is_said_when_it_is_verified_and_not_when_it_is_sent(desk: Desk) -> None:
    desk.data("otp.send", to=US, ttl=1800)
    code = desk.last_code()
    desk.time += 301
    assert desk.data("otp.verify", to=US, code=code)["valid"] is False
    assert desk.data("otp.verify", to=US, code=code, ttl=600)["valid"] is True


def test_the_default_lifetime_of_both_kinds_is_300_seconds(desk: Desk) -> None:
    desk.data("otp.send", to=US)
    desk.data("otp.send", to=FR, code="123456")
    codes = [row["code"] for row in find(desk.state, Filter())]
    desk.time += 299.9
    assert desk.data("otp.verify", to=US, code=codes[0])["valid"] is True
    desk.time += 0.1
    assert desk.data("otp.verify", to=FR, code="123456")["valid"] is False


INTENTS = [
    ("login", "login", True),
    ("login", "pay", False),
    ("login", None, False),
    (None, "login", False),
    (None, None, True),
]


@pytest.mark.parametrize(("sent", "asked", "valid"), INTENTS, ids=str)
def test_the_intent_of_a_check_must_be_that_of_the_sending(desk: Desk, sent: Any, asked: Any, valid: bool) -> None:
    desk.data("otp.send", to=US, code="123456", intent=sent)
    assert desk.data("otp.verify", to=US, code="123456", intent=asked)["valid"] is valid


def test_a_code_is_valid_only_for_its_number(desk: Desk) -> None:
    desk.data("otp.send", to=US, code="123456")
    assert desk.data("otp.verify", to=FR, code="123456")["valid"] is False


# reserved numbers


def test_special_numbers_answer_differently_from_every_honest_guess(desk: Desk) -> None:
    by_effect = {row.effect: row.number for row in choices.NUMBERS if not row.code}
    sent = {effect: desk.data("sms.message.send", to=number, text="Hi") for effect, number in by_effect.items()}
    honest = desk.data("sms.message.send", to=US, text="Hi")
    assert sent["iso"]["messages"][0]["iso"] == "CA"
    assert (sent["parts"]["messages"][0]["parts"], sent["parts"]["messageCount"]) == (2, 2)
    assert sent["parts"]["totalAmount"] == "0.015000"
    assert sent["recipients"]["recipients"] == 2
    assert sent["messageCount"]["messageCount"] == 2
    assert Decimal(sent["totalAmount"]["totalAmount"]) - Decimal(honest["totalAmount"]) == Decimal("0.01")
    assert sent["plus"]["messages"][0]["to"] == by_effect["plus"][1:]


@pytest.mark.parametrize("row", [row for row in choices.NUMBERS if row.code], ids=lambda row: row.code)
def test_each_error_code_has_a_number_that_brings_it(desk: Desk, row: choices.Reserved) -> None:
    assert desk.code("sms.message.send", to=[US, row.number], text="Hi") == row.code
    assert desk.code("otp.send", to=row.number) == row.code
    assert desk.code("otp.verify", to=row.number, code="123456") == row.code
    assert desk.state.count() == 0


def test_special_numbers_are_valid_ones_of_a_range_for_fiction() -> None:
    assert set(wire.ERROR_NAMES) == {row.code for row in choices.NUMBERS} - {""}
    assert len(choices.RESERVED) == len(choices.NUMBERS)
    for row in choices.NUMBERS:
        assert re.fullmatch(r"\+190755501[0-9]{2}", row.number)
        assert countries.look_up(row.number).valid


# templates and text


def test_a_template_is_filled_with_its_variables(desk: Desk) -> None:
    desk.data("sms.message.send", to=US, templateId="pub_passcode_ttl_en", templateData={"code": "0042", "ttl": 5})
    assert desk.texts() == ["Your verification code is 0042. It is valid for 5 minutes."]


def test_what_a_variable_contains_is_not_filled_again(desk: Desk) -> None:
    desk.data("sms.message.send", to=US, templateId="pub_notice_en", templateData={"name": "{order}", "order": "7"})
    assert desk.texts() == ["Dear {order}, your order 7 is on its way."]


def test_every_template_of_the_sandbox_can_be_filled() -> None:
    for template in messages.own_templates().values():
        names = messages.variables(template)
        assert names
        assert "{" not in messages.fill(template, dict.fromkeys(names, "x"))


# hostile bodies

HOSTILE = [
    b"",
    b"{",
    b"[]",
    b'"text"',
    b"null",
    b"\xff\xfe\x00",
    b"[" * 100_000,
    b'{"to": "+12025550123", "text": "\\ud800"}',
    b'{"to": {"a": 1}, "text": "x"}',
    b'{"to": [1, 2], "text": "x"}',
    b'{"to": true, "text": "x"}',
    b'{"to": "+12025550123", "templateId": "pub_passcode_en", "templateData": []}',
    b'{"to": "+12025550123", "templateId": "pub_passcode_en", "templateData": {"code": {}}}',
    b'{"to": "+12025550123", "templateId": ["x"]}',
    b'{"to": "+12025550123", "text": "x", "signature": NaN}',
    b'{"to": "+12025550123", "templateId": "pub_passcode_en", "templateData": {"code": NaN}}',
]


@pytest.mark.parametrize("raw", HOSTILE, ids=lambda raw: raw[:40].decode("latin-1"))
def test_a_hostile_body_is_refused_in_an_envelope(desk: Desk, raw: bytes) -> None:
    for action in ("sms.message.send",) if b"templateId" in raw else ("sms.message.send", "otp.send", "otp.verify"):
        answer = desk.service.answer({"action": action, "accessKeyId": "k"}, "application/json", raw)
        assert answer.status == 400
        assert answer.envelope["code"] in {"104001", "104002", "107143", "107144"}
    assert desk.state.count() == 0


# seed


def test_a_seed_makes_ids_and_codes_repeatable_and_no_seed_makes_them_new() -> None:
    def run(seed: Any) -> list[tuple[str, str]]:
        desk = Desk(seed=seed)
        desk.data("sms.message.send", to=[US, FR], text="Hi")
        desk.data("otp.send", to=US)
        return [(row["id"], row["code"]) for row in find(desk.state, Filter())]

    assert run("7") == run("7")
    assert run("7") != run("8")
    assert run(None) != run(None)


ENDLESS = 10**5_000
WRONG_RULES: list[tuple[dict[str, Any], str]] = [
    ({"attempts": 0}, "attempts= must be a whole number from 1 to 1000000, got 0"),
    ({"attempts": -ENDLESS}, "attempts= must be a whole number from 1 to 1000000, got int"),
    ({"attempts": ENDLESS}, "attempts= must be a whole number from 1 to 1000000, got int"),
    ({"attempts": None}, "attempts= must be a whole number from 1 to 1000000, got None"),
    ({"attempts": True}, "attempts= must be a whole number from 1 to 1000000, got True"),
    ({"sends": 1.5}, "sends= must be a whole number from 1 to 1000000, or None, got 1.5"),
    ({"templates": 5}, "templates= must be a mapping of ids to texts, or the path of a JSON file, got 5"),
    ({"secret": ENDLESS}, "secret= must be text, got a value of the kind int"),
    ({"secret": 54321}, "secret= must be text, got a value of the kind int"),
    ({"secret": Secret(54321)}, "secret= must be text, got a value of the kind int"),
    ({"secret": "half \ud800"}, "secret= holds half a character; retype it"),
    ({"secret": " "}, "secret= must not be empty; leave it out for the mode without signatures"),
    ({"attempts": 0, "sends": 0}, "attempts= must be a whole number from 1 to 1000000, got 0; sends= must be a whole"
     " number from 1 to 1000000, or None, got 0"),
]  # fmt: skip


@pytest.mark.parametrize(("given", "said"), WRONG_RULES, ids=[said[:60] for _, said in WRONG_RULES])
def test_rules_that_cannot_be_are_refused_in_words(given: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError) as caught:
        Rules(**given)
    assert str(caught.value) == said
