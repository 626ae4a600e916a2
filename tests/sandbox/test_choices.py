"""Every choice the sandbox makes where the interface is silent is shown by a check here, and stands in its document."""

from __future__ import annotations

import asyncio
import base64
import hmac
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote, quote_plus, urlencode

import pytest

from sandbox.test_openapi import OPERATIONS, call
from smsotp_nb import Sandbox
from smsotp_nb import _wire as wire
from smsotp_nb._phones import countries
from smsotp_nb._sandbox import choices, inbox, messages
from smsotp_nb._sandbox.access import Access, signed_texts
from smsotp_nb._sandbox.desk import ASSETS, Desk
from smsotp_nb._sandbox.inbox import Filter, find
from smsotp_nb._sandbox.server import Server
from smsotp_nb._sandbox.service import MAX_BYTES, Service
from smsotp_nb._sandbox.state import State
from smsotp_nb._sandbox.testing import expect, faults, journal
from smsotp_nb.sandbox import Rules

US, FR = "+12025550123", "+33199001234"
DOCUMENT = Path(__file__).parents[2] / "docs" / "sandbox.md"
CHECKS: dict[str, Callable[[], bool]] = {}


@dataclass(frozen=True, slots=True)
class Choice:
    """One thing the interface does not show and what the sandbox does about it.

    ``switch`` is the field of `Rules` that changes it, empty where it is fixed.
    """

    key: str
    topic: str
    choice: str
    switch: str = ""


CHOICES: tuple[Choice, ...] = (
    Choice("key", "a missing or wrong access key", "any key is taken; without one 104110 MissingAccessKeyId"),
    Choice(
        "hmac", "signed requests", "not asked for; with a secret an unsigned or wrongly signed one is 104201", "secret"
    ),
    Choice("timestamp", "a signed request's timestamp more than 10 minutes off", "104202 InvalidSignatureTimestamp"),
    Choice("nonce", "a nonce of a signed request that was used before", "104201 InvalidSignature"),
    Choice("action", "an unknown action", "104002 InvalidParams"),
    Choice("json", "a body that is not a JSON object, or is sent as another content type", "104002 InvalidParams"),
    Choice("size", "a request larger than 1 MiB", "104002 InvalidParams"),
    Choice("values", "a parameter of the wrong type or outside its limit", "104002 InvalidParams"),
    Choice("signature", "a signature outside 2 to 16 characters", "107122 InvalidSmsSignature"),
    Choice("empty", "a parameter that is null, or a text that is empty", "counts as absent"),
    Choice("extra", "a parameter the interface does not name", "ignored"),
    Choice("required", "a required parameter that is missing, in any operation", "104001 MissingParams"),
    Choice("invalid", "a number that is not E.164, has no country or does not exist", "107111 InvalidPhoneNumbers"),
    Choice("list", "a list with an invalid number", "the whole request is refused, nobody is texted"),
    Choice("repeated", "a number that appears twice in one list", "two messages, two records"),
    Choice("recipients", "most recipients in one request", "1000, more are refused with 104002"),
    Choice("several", "more than one of templateId, text and content", "the first of templateId, text, content counts"),
    Choice("join", "how content and signature join", "[signature] content; in the cn variant 【signature】content"),
    Choice("text", "a signature beside text", "the text is sent unchanged"),
    Choice("templates", "which templates exist", "a few of its own, and yours; another one is 107141", "templates"),
    Choice("template_data", "a variable the template needs and does not get", "107143 MissingSmsTemplateData"),
    Choice("template_value", "a variable that is neither text nor a number", "107144 InvalidSmsTemplateData"),
    Choice("parts", "how a text is split", "160/153 GSM-7 septets or 70/67 UCS-2 units to a part, packed greedily"),
    Choice("counts", "what a record calls its parts", "parts, and count in the earlier form"),
    Choice("price", "the price of a message", "parts x the rate of its country in the sample rate table, any channel"),
    Choice("balance", "a balance that does not cover a request", "105400, all of the request is refused"),
    Choice("funds_name", "which spelling of 105400", "InsufficientFunds, and FundsInsufficient in the earlier form"),
    Choice("channel", "which channel auto takes", "sms"),
    Choice("wording", "the text of a passcode message", "one English sentence, one Chinese one in the cn variant"),
    Choice("custom_digits", "digits beside a custom code", "without effect"),
    Choice("single_use", "a passcode that was verified", "is used up: the same code is not valid again"),
    Choice("attempts", "wrong codes for one passcode", "after 5 of them no code is valid for it", "attempts"),
    Choice(
        "sends", "passcodes to one number in 10 minutes", "as many as wanted; with a limit more are 105300", "sends"
    ),
    Choice("replace", "a second passcode for the same number and intent", "replaces the first one"),
    Choice(
        "intents", "passcodes of one number for different intents", "live side by side; no intent is one of its own"
    ),
    Choice("expiry", "the last moment of a lifetime", "a code is valid before its ttl has passed, not at that second"),
    Choice("wrong", "a wrong, expired, used or unknown code", "success with valid false"),
)


def shows(key: str) -> Callable[[Callable[[], bool]], Callable[[], bool]]:
    def keep(check: Callable[[], bool]) -> Callable[[], bool]:
        CHECKS[key] = check
        return check

    return keep


class Asked:
    """A service that is asked; each answer as (envelope code, data)."""

    def __init__(self, *, balance: int = 10_000_000, **options: Any) -> None:
        self.time = 1_790_000_000.0
        self.state = State(None, variant=options.get("variant", "intl"), balance=balance)
        self.service = Service(self.state, now=lambda: self.time, **options)

    def raw(self, body: bytes, action: str, *, content_type: str = "application/json", **query: str) -> tuple[str, Any]:
        query = {"action": action, "accessKeyId": "any"} | query
        envelope = self.service.answer(query, content_type, body).envelope
        return envelope["code"], envelope.get("data")

    def send(self, **fields: Any) -> tuple[str, Any]:
        return self.raw(json.dumps({"to": US} | fields).encode(), "sms.message.send")

    def passcode(self, **fields: Any) -> str:
        code, _data = self.raw(json.dumps({"to": US} | fields).encode(), "otp.send")
        assert code == "0"
        return str(find(self.state, Filter())[-1]["code"])

    def valid(self, code: str, **fields: Any) -> bool:
        answer, data = self.raw(json.dumps({"to": US, "code": code} | fields).encode(), "otp.verify")
        assert answer == "0"
        return bool(data["valid"])

    def texts(self) -> list[str]:
        return [row["text"] for row in find(self.state, Filter())]


def wrong(code: str) -> str:
    return f"{(int(code) + 1) % 10 ** len(code):0{len(code)}d}"


BODY = json.dumps({"to": US, "text": "Hi"}).encode()


@shows("key")
def _() -> bool:
    with_any = Asked().raw(BODY, "sms.message.send", accessKeyId="whatever")[0]
    return with_any == "0" and Asked().raw(BODY, "sms.message.send", accessKeyId="")[0] == "104110"


def signed(secret: str, now: float, **changes: str) -> str:
    """Return a query as a client in HMAC mode sends it: milliseconds, base64, percent-encoded."""
    pairs = {"action": "sms.message.send", "accessKeyId": "k", "algorithm": "hmac-sha256", "nonce": "abcdefgh"}
    pairs |= {"timestamp": str(int(now * 1000))} | changes
    text = "&".join(f"{key}={value}" for key, value in sorted(pairs.items()))
    digest = base64.b64encode(hmac.digest(secret.encode(), text.encode(), "sha256")).decode()
    return urlencode(pairs | {"signature": digest})


def ask_signed(desk: Asked, query: str) -> str:
    answer = desk.service.answer(dict(parse_qsl(query)), "application/json", BODY, query_string=query)
    return str(answer.envelope["code"])


@shows("hmac")
def _() -> bool:
    desk = Asked(rules=Rules(secret="s3cret"))
    unsigned = desk.raw(BODY, "sms.message.send")[0]
    wrongly = ask_signed(desk, signed("other", desk.time))
    rightly = ask_signed(desk, signed("s3cret", desk.time))
    not_asked_for = ask_signed(Asked(), signed("whatever", 0))
    return [unsigned, wrongly, rightly, not_asked_for] == ["104201", "104201", "0", "0"]


@shows("timestamp")
def _() -> bool:
    desk = Asked(rules=Rules(secret="s3cret"))
    return [ask_signed(desk, signed("s3cret", desk.time + off)) for off in (-601, 601, 599)] == [
        "104202",
        "104202",
        "0",
    ]


@shows("nonce")
def _() -> bool:
    desk = Asked(rules=Rules(secret="s3cret"))
    query = signed("s3cret", desk.time)
    return [ask_signed(desk, query), ask_signed(desk, query)] == ["0", "104201"]


@shows("action")
def _() -> bool:
    return Asked().raw(BODY, "sms.message.list")[0] == "104002"


@shows("json")
def _() -> bool:
    as_form = Asked().raw(BODY, "sms.message.send", content_type="text/plain")[0]
    return as_form == Asked().raw(b"[]", "sms.message.send")[0] == "104002"


@shows("size")
def _() -> bool:
    return Asked().send(text="x" * MAX_BYTES)[0] == "104002"


@shows("values")
def _() -> bool:
    return Asked().raw(json.dumps({"to": US, "digits": 9}).encode(), "otp.send")[0] == "104002"


@shows("signature")
def _() -> bool:
    return Asked().send(text="Hi", signature="A")[0] == Asked().send(text="Hi", signature="A" * 17)[0] == "107122"


@shows("empty")
def _() -> bool:
    return Asked().send(text="", content=None)[0] == "104001"


@shows("extra")
def _() -> bool:
    return Asked().send(text="Hi", colour="blue")[0] == "0"


@shows("required")
def _() -> bool:
    return Asked().send()[0] == Asked(variant="cn").send(text="Hi")[0] == "104001"


@shows("invalid")
def _() -> bool:
    return {Asked().send(to=number, text="Hi")[0] for number in ("+447700900123", "12025550123", "+80012345678")} == {
        "107111"
    }


@shows("list")
def _() -> bool:
    desk = Asked()
    return desk.send(to=[US, "+447700900123"], text="Hi")[0] == "107111" and desk.texts() == []


@shows("repeated")
def _() -> bool:
    desk = Asked()
    _code, data = desk.send(to=[US, US], text="Hi")
    return len(data["messages"]) == len(desk.texts()) == 2


@shows("recipients")
def _() -> bool:
    desk = Asked(balance=10**9)
    return [desk.send(to=[US] * count, text="Hi")[0] for count in (1000, 1001)] == ["0", "104002"]


@shows("several")
def _() -> bool:
    desk = Asked()
    desk.send(templateId="pub_passcode_en", templateData={"code": "1"}, text="text", content="content")
    desk.send(text="text", content="content")
    return desk.texts() == ["Your verification code is 1.", "text"]


@shows("join")
def _() -> bool:
    intl, cn = Asked(), Asked(variant="cn")
    intl.send(content="Hi", signature="Acme")
    cn.send(content="Hi", signature="Acme")
    return intl.texts() + cn.texts() == ["[Acme] Hi", "【Acme】Hi"]


@shows("text")
def _() -> bool:
    desk = Asked()
    desk.send(text="Hi", signature="Acme")
    return desk.texts() == ["Hi"]


@shows("templates")
def _() -> bool:
    more = Asked(rules=Rules(templates={"welcome": "Hello {name}"}))
    more.send(templateId="welcome", templateData={"name": "Anna"})
    return Asked().send(templateId="welcome")[0] == "107141" and more.texts() == ["Hello Anna"]


@shows("template_data")
def _() -> bool:
    return Asked().send(templateId="pub_passcode_en", templateData={})[0] == "107143"


@shows("template_value")
def _() -> bool:
    return Asked().send(templateId="pub_passcode_en", templateData={"code": ["1"]})[0] == "107144"


@shows("parts")
def _() -> bool:
    texts = ["a" * 160, "a" * 161, "a" * 306, "a" * 307, "é" * 160, "日" * 70, "日" * 71, "a" * 152 + "€" + "a" * 152]
    return [Asked().send(text=text)[1]["messageCount"] for text in texts] == [1, 2, 2, 3, 1, 1, 2, 3]


@shows("price")
def _() -> bool:
    one, two = Asked().send(text="a")[1], Asked().send(text="a" * 161)[1]
    return (one["totalAmount"], two["totalAmount"]) == ("0.007500", "0.015000")


@shows("balance")
def _() -> bool:
    desk = Asked(balance=7_500)
    return desk.send(to=[US, US], text="Hi")[0] == "105400" and desk.texts() == [] and desk.send(text="Hi")[0] == "0"


@shows("funds_name")
def _() -> bool:
    def name(**options: Any) -> str:
        desk = Asked(balance=0, **options)
        body = json.dumps({"to": US, "content": "Hi", "signature": "Acme"}).encode()
        query = {"action": "sms.message.send", "accessKeyId": "k"}
        return str(desk.service.answer(query, "application/json", body).envelope["message"])

    return (name(), name(form="earlier")) == ("InsufficientFunds", "FundsInsufficient")


@shows("channel")
def _() -> bool:
    desk = Asked()
    desk.passcode(channel="auto")
    desk.passcode()
    desk.passcode(channel="call")
    return [row["channel"] for row in find(desk.state, Filter())] == ["sms", "sms", "call"]


@shows("wording")
def _() -> bool:
    intl, cn = Asked(), Asked(variant="cn")
    intl.passcode(code="123456")
    cn.passcode(code="123456")
    return intl.texts() + cn.texts() == ["Your verification code is 123456.", "您的验证码是123456，请勿告诉他人。"]


@shows("custom_digits")
def _() -> bool:
    return Asked().passcode(code="12345678", digits=4) == "12345678"


@shows("single_use")
def _() -> bool:
    desk = Asked()
    code = desk.passcode()
    return [desk.valid(code), desk.valid(code)] == [True, False]


@shows("attempts")
def _() -> bool:
    def after(tries: int, **options: Any) -> bool:
        desk = Asked(**options)
        code = desk.passcode()
        for _try in range(tries):
            assert not desk.valid(wrong(code))
        return desk.valid(code)

    patient = Rules(attempts=6)
    return [after(4), after(5), after(5, rules=patient), after(6, rules=patient)] == [True, False, True, False]


@shows("sends")
def _() -> bool:
    desk, free = Asked(rules=Rules(sends=2)), Asked()
    body = json.dumps({"to": US}).encode()
    codes = [desk.raw(body, "otp.send")[0] for _send in range(3)]
    desk.time += 600
    codes.append(desk.raw(body, "otp.send")[0])
    return codes == ["0", "0", "105300", "0"] and {free.raw(body, "otp.send")[0] for _send in range(9)} == {"0"}


@shows("replace")
def _() -> bool:
    desk = Asked()
    first, second = desk.passcode(code="111111"), desk.passcode(code="222222")
    return [desk.valid(first), desk.valid(second)] == [False, True]


@shows("intents")
def _() -> bool:
    desk = Asked()
    login, pay, none = desk.passcode(intent="login"), desk.passcode(intent="pay"), desk.passcode()
    return desk.valid(login, intent="login") and desk.valid(pay, intent="pay") and desk.valid(none)


@shows("expiry")
def _() -> bool:
    desk = Asked()
    code = desk.passcode(code="123456", ttl=10)
    desk.time += 10
    at_the_end = desk.valid(code)
    desk.time -= 0.001
    return not at_the_end and desk.valid(code)


@shows("counts")
def _() -> bool:
    def record(**options: Any) -> Any:
        return Asked(**options).send(to=US, content="Hi", signature="Acme")[1]["messages"][0]

    now, earlier = record(), record(form="earlier")
    return now["parts"] == earlier["count"] == 1 and "count" not in now and "parts" not in earlier


@shows("wrong")
def _() -> bool:
    return Asked().valid("123456") is False


@pytest.mark.parametrize("choice", CHOICES, ids=lambda choice: choice.key)
def test_the_sandbox_does_what_its_table_says(choice: Choice) -> None:
    assert CHECKS[choice.key]()


def test_the_table_is_complete() -> None:
    """Each check has a row, keys are unique, each switch is a rule and each rule has a row."""
    keys = [choice.key for choice in CHOICES]
    assert sorted(keys) == sorted(CHECKS)
    rules = {field.name for field in fields(Rules)}
    assert {choice.switch for choice in CHOICES} - {""} == rules


def of_choices() -> list[str]:
    rows = ["| where the interface is silent | the sandbox | switch |", "|---|---|---|"]
    return rows + [f"| {row.topic} | {row.choice} | {f'`{row.switch}`' if row.switch else ''} |" for row in CHOICES]


def of_reserved() -> list[str]:
    rows = ["| number | what the sandbox answers |", "|---|---|"]
    return rows + [f"| `{row.number}` | {row.meaning} |" for row in choices.NUMBERS]


def of_faults() -> list[str]:
    rows = ["| kind | accepted? | what the client meets |", "|---|---|---|"]
    accepted = {"before": "no", "after": "yes", "around": "as without it"}
    return rows + [f"| `{kind.name}` | {accepted[kind.when]} | {kind.meaning} |" for kind in faults.KINDS]


TABLES = {"choices": of_choices, "reserved": of_reserved, "faults": of_faults}


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES.keys())
def test_the_document_holds_the_tables_of_the_code(table: Callable[[], list[str]]) -> None:
    assert "\n".join(table()) in DOCUMENT.read_text(encoding="utf-8")


def test_no_sample_meets_a_special_number() -> None:
    """The sample data must hold no number at which the sandbox behaves oddly."""
    folder = DOCUMENT.parents[1] / "sample_data"
    for file in folder.glob("*.csv"):
        assert choices.PREFIX not in file.read_text(encoding="utf-8", errors="replace"), file.name


def test_a_signature_made_with_openssl_is_taken() -> None:
    """Typed in, not computed here: ``printf <pairs> | openssl dgst -sha256 -hmac s3cret``."""
    pairs = "accessKeyId=k&action=otp.verify&algorithm=hmac-sha256&nonce=abcdefgh&timestamp=1790000000000"
    for signature in (
        "c0ea0a85efe0f3cf6e1526df07b45c71e6a10f977a72ce023c80a2e06bc12473",
        "wOoKhe%2Fg889uFSbfB7RcceahD5d6cs4CPICi4GvBJHM%3D",
    ):
        query = f"{pairs}&signature={signature}"
        assert Access("s3cret", lambda: 1_790_000_000.0).refusal(dict(parse_qsl(query)), query) == ""
        assert Access("s3cret2", lambda: 1_790_000_000.0).refusal(dict(parse_qsl(query)), query) == "104201"


def test_the_file_names_every_address_and_no_other() -> None:
    server = Server()
    desk = Desk(server.account, server.url, shut=asyncio.sleep)
    served = {(route.path, route.method.lower()) for route in desk.routes()}
    server.close()
    with Sandbox() as box:
        described = call(box, "GET", "/openapi.json")[2]
        assert described["servers"] == [{"url": box.url}]
    named = {(path, method) for path, operations in described["paths"].items() for method in operations}
    own = {pair for pair in served if pair[0].lstrip("/") not in ASSETS}
    assert named == own | {(path, "post") for path in OPERATIONS}


def test_the_lists_of_the_file_are_those_of_the_code() -> None:
    with Sandbox() as box:
        described = call(box, "GET", "/openapi.json")[2]
    schemas = described["components"]["schemas"]
    assert set(schemas["Fault"]["properties"]["kind"]["enum"]) == set(faults.BY_NAME)
    assert set(schemas["Fault"]["properties"]) == {field.name for field in fields(faults.Fault)}
    assert set(schemas["Refusal"]["properties"]["code"]["enum"]) == set(wire.ERROR_NAMES)
    for path, filters in {"/inbox.json": inbox.Filter, "/requests.json": journal.Wanted}.items():
        asked = {parameter["name"] for parameter in described["paths"][path]["get"]["parameters"]}
        assert asked == {field.name for field in fields(filters)}
    asked = {f"{name}{mark}" for name in expect.FIELDS for mark in ("", "~")} | {"times", "within", "settle", "after"}
    patterns = re.findall(r"\w+", *schemas["Expectation"]["patternProperties"])
    assert {*schemas["Expectation"]["properties"], *(f"{name}~" for name in patterns)} == asked
    assert set(schemas["Message"]["required"]) == set(inbox.COLUMNS)


def test_special_numbers_are_valid_ones_of_a_range_for_fiction() -> None:
    assert set(wire.ERROR_NAMES) == {row.code for row in choices.NUMBERS} - {""}
    assert len(choices.RESERVED) == len(choices.NUMBERS)
    for row in choices.NUMBERS:
        assert re.fullmatch(r"\+190755501[0-9]{2}", row.number)
        assert countries.ask(row.number).valid


def test_every_template_of_the_sandbox_can_be_filled() -> None:
    for template in messages.own_templates().values():
        names = messages.variables(template)
        assert names
        assert "{" not in messages.fill(template, dict.fromkeys(names, "x"))


def test_values_are_signed_raw_as_sent_or_escaped() -> None:
    dotnet, value = "k=a+b~c%2fd%2b%c3%a9*(!)%27", "a b~c/d+é*(!)'"
    for text in (f"k={quote(value, safe='')}", f"k={quote_plus(value)}", f"k={value}", dotnet):
        assert text in signed_texts(dotnet)
    assert len(signed_texts("k=1&nonce=abcdefgh")) == 1, "plain values cost one digest"
