"""The sandbox's answers, typed from the interface: fields, limits, errors, and both lifetimes of a passcode."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from support.phone_lists import REGIONS, example
from support.sockets import answer

from smsotp_nb import Sandbox, phones
from smsotp_nb.errors import UsageError
from smsotp_nb.sandbox import Rules

DOCUMENT = (Path(__file__).parents[2] / "docs" / "sandbox.md").read_text(encoding="utf-8")
SPECIAL = re.findall(r"^\| `(\+190755501\d\d)` \| (.*) \|$", DOCUMENT, re.MULTILINE)
US, FR, CN, SE = "+12025550123", "+33199001234", example("CN"), "+46701740605"


class Desk:
    """A sandbox that is asked over HTTP."""

    def __init__(self, box: Sandbox) -> None:
        self.box = box

    def raw(self, action: str, body: bytes) -> tuple[int, dict[str, Any]]:
        status, _, reply = answer(self.box, "POST", f"/?action={action}&accessKeyId=any", body)
        return status, json.loads(reply)

    def ask(self, action: str, **fields: Any) -> tuple[int, dict[str, Any]]:
        return self.raw(action, json.dumps(fields).encode())

    def data(self, action: str, **fields: Any) -> Any:
        status, envelope = self.ask(action, **fields)
        assert (status, envelope["code"], envelope["message"]) == (200, "0", "Success")
        return envelope["data"]

    def code(self, action: str, **fields: Any) -> str:
        before = self.box.balance
        status, envelope = self.ask(action, **fields)
        assert status == 400
        assert set(envelope) == {"code", "message"}
        assert self.box.balance == before
        return str(envelope["code"])

    def texts(self) -> list[str]:
        return self.box.inbox["text"].tolist()

    def last_code(self) -> str:
        return str(self.box.inbox["code"].iloc[-1])


@contextmanager
def opened(**options: Any) -> Iterator[Desk]:
    with Sandbox(**options) as box:
        yield Desk(box)


@pytest.fixture
def desk() -> Iterator[Desk]:
    with opened() as made:
        yield made


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


def test_the_earlier_form_takes_only_content_and_templates_and_wants_a_signature() -> None:
    with opened(form="earlier") as desk:
        assert desk.code("sms.message.send", to=US, text="Hi", signature="Acme") == "104001"
        assert desk.code("sms.message.send", to=US, content="Hi") == "104001"
        assert desk.data(
            "sms.message.send", to=US, templateId="pub_passcode_zh", templateData={"code": "1"}, signature="Ac"
        )


def test_the_mainland_china_variant_wants_signatures_and_shows_cny() -> None:
    with opened(variant="cn") as desk:
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
    assert answer == (400, {"code": "104001", "message": "MissingParams"})


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
    assert desk.ask(action, **({"to": US} | fields))[0] == 200


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
    assert answer == (400, {"code": "107111", "message": "InvalidPhoneNumbers"})
    assert desk.code("sms.message.send", to=[US, number], text="Hi") == "107111"
    assert desk.box.inbox.empty


@pytest.mark.parametrize("variant", ["intl", "cn"])
def test_every_country_that_can_be_texted_has_a_rate(variant: str) -> None:
    numbers = phones.normalize(pd.Series([example(region) for region in REGIONS]))["to"].dropna()
    with opened(variant=variant) as desk:
        records = desk.data("sms.message.send", to=numbers.tolist(), content="Hi", signature="Acme")["messages"]
    assert len(records) > 200
    assert all(Decimal(record["price"]) > 0 for record in records)


# passcodes


@pytest.mark.parametrize("digits", [4, 5, 6, 7, 8, None])
def test_a_generated_code_has_the_digits_asked_for_or_six(desk: Desk, digits: int | None) -> None:
    desk.data("otp.send", to=US, digits=digits)
    assert re.fullmatch(rf"[0-9]{{{digits or 6}}}", desk.last_code())
    assert desk.last_code() in desk.texts()[0]


def test_a_custom_codes_lifetime_is_said_when_it_is_sent_and_not_when_it_is_verified(desk: Desk) -> None:
    desk.data("otp.send", to=US, code="123456", ttl=60)
    desk.box.advance(60)
    assert desk.data("otp.verify", to=US, code="123456", ttl=1800)["valid"] is False
    desk.data("otp.send", to=US, code="123456", ttl=900)
    desk.box.advance(890)
    assert desk.data("otp.verify", to=US, code="123456", ttl=1)["valid"] is True


def test_a_generated_codes_lifetime_is_said_when_it_is_verified_and_not_when_it_is_sent(desk: Desk) -> None:
    desk.data("otp.send", to=US, ttl=1800)
    code = desk.last_code()
    desk.box.advance(301)
    assert desk.data("otp.verify", to=US, code=code)["valid"] is False
    assert desk.data("otp.verify", to=US, code=code, ttl=600)["valid"] is True


def test_the_default_lifetime_of_both_kinds_is_300_seconds(desk: Desk) -> None:
    desk.data("otp.send", to=US)
    desk.data("otp.send", to=FR, code="123456")
    codes = desk.box.inbox["code"]
    desk.box.advance(290)
    assert desk.data("otp.verify", to=US, code=codes[0])["valid"] is True
    desk.box.advance(10)
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
    sent = {meaning.split()[0]: desk.data("sms.message.send", to=number, text="Hi") for number, meaning in SPECIAL[:6]}
    honest = desk.data("sms.message.send", to=US, text="Hi")
    assert sent["iso"]["messages"][0]["iso"] == "CA"
    assert (sent["one"]["messages"][0]["parts"], sent["one"]["messageCount"]) == (2, 2)
    assert sent["one"]["totalAmount"] == "0.015000"
    assert sent["recipients"]["recipients"] == 2
    assert sent["messageCount"]["messageCount"] == 2
    assert Decimal(sent["totalAmount"]["totalAmount"]) - Decimal(honest["totalAmount"]) == Decimal("0.01")
    assert sent["to"]["messages"][0]["to"] == SPECIAL[5][0][1:]


@pytest.mark.parametrize(("number", "meaning"), SPECIAL[6:])
def test_each_error_code_has_a_number_that_brings_it(desk: Desk, number: str, meaning: str) -> None:
    code = meaning.split()[0]
    assert desk.code("sms.message.send", to=[US, number], text="Hi") == code
    assert desk.code("otp.send", to=number) == code
    assert desk.code("otp.verify", to=number, code="123456") == code
    assert desk.box.inbox.empty


# templates and text


def test_a_template_is_filled_with_its_variables(desk: Desk) -> None:
    desk.data("sms.message.send", to=US, templateId="pub_passcode_ttl_en", templateData={"code": "0042", "ttl": 5})
    assert desk.texts() == ["Your verification code is 0042. It is valid for 5 minutes."]


def test_what_a_variable_contains_is_not_filled_again(desk: Desk) -> None:
    desk.data("sms.message.send", to=US, templateId="pub_notice_en", templateData={"name": "{order}", "order": "7"})
    assert desk.texts() == ["Dear {order}, your order 7 is on its way."]


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
        status, envelope = desk.raw(action, raw)
        assert status == 400
        assert envelope["code"] in {"104001", "104002", "107143", "107144"}
    assert desk.box.inbox.empty


# seed


def test_a_seed_makes_ids_and_codes_repeatable_and_no_seed_makes_them_new() -> None:
    def run(seed: Any) -> list[list[str]]:
        with opened(seed=seed) as desk:
            desk.data("sms.message.send", to=[US, FR], text="Hi")
            desk.data("otp.send", to=US)
            return desk.box.inbox[["id", "code"]].fillna("").values.tolist()

    assert run("7") == run("7")
    assert run("7") != run("8")
    assert run(None) != run(None)


WRONG_RULES: list[tuple[dict[str, Any], str]] = [
    ({"attempts": 0}, "attempts= must be a whole number from 1 to 1000000, got 0"),
    ({"attempts": None}, "attempts= must be a whole number from 1 to 1000000, got None"),
    ({"attempts": True}, "attempts= must be a whole number from 1 to 1000000, got True"),
    ({"sends": 1.5}, "sends= must be a whole number from 1 to 1000000, or None, got 1.5"),
    ({"templates": 5}, "templates= must be a mapping of ids to texts, or the path of a JSON file, got 5"),
    ({"attempts": 0, "sends": 0}, "attempts= must be a whole number from 1 to 1000000, got 0; sends= must be a whole"
     " number from 1 to 1000000, or None, got 0"),
]  # fmt: skip


@pytest.mark.parametrize(("given", "said"), WRONG_RULES, ids=[said[:60] for _, said in WRONG_RULES])
def test_rules_that_cannot_be_are_refused_in_words(given: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError) as caught:
        Rules(**given)
    assert str(caught.value) == said
