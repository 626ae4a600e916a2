"""Every choice the sandbox makes where the interface is silent is shown by a check here, and stands in its document."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import pytest
from support.sockets import answer

from smsotp_nb import Sandbox
from smsotp_nb import _wire as wire
from smsotp_nb._phones import countries
from smsotp_nb.sandbox import Rules, choices, faults, messages

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
    """A sandbox that is asked over HTTP; each answer as (envelope code, data)."""

    def __init__(self, **options: Any) -> None:
        self.box = Sandbox(**options)

    def raw(
        self, body: bytes, action: str, *, content_type: str = "application/json", key: str = "any"
    ) -> tuple[str, Any]:
        target = f"/?action={action}&accessKeyId={key}"
        envelope = json.loads(answer(self.box, "POST", target, body, {"Content-Type": content_type})[2])
        return envelope["code"], envelope.get("data")

    def send(self, **fields: Any) -> tuple[str, Any]:
        return self.raw(json.dumps({"to": US} | fields).encode(), "sms.message.send")

    def passcode(self, **fields: Any) -> str:
        code, _data = self.raw(json.dumps({"to": US} | fields).encode(), "otp.send")
        assert code == "0"
        return str(self.box.code(US))

    def valid(self, code: str, **fields: Any) -> bool:
        code, data = self.raw(json.dumps({"to": US, "code": code} | fields).encode(), "otp.verify")
        assert code == "0"
        return bool(data["valid"])

    def texts(self) -> list[str]:
        return self.box.inbox["text"].tolist()


def wrong(code: str) -> str:
    return f"{(int(code) + 1) % 10 ** len(code):0{len(code)}d}"


BODY = json.dumps({"to": US, "text": "Hi"}).encode()


@shows("key")
def _() -> bool:
    with_any = Asked().raw(BODY, "sms.message.send", key="whatever")[0]
    return with_any == "0" and Asked().raw(BODY, "sms.message.send", key="")[0] == "104110"


@shows("action")
def _() -> bool:
    return Asked().raw(BODY, "sms.message.list")[0] == "104002"


@shows("json")
def _() -> bool:
    as_form = Asked().raw(BODY, "sms.message.send", content_type="text/plain")[0]
    return as_form == Asked().raw(b"[]", "sms.message.send")[0] == "104002"


@shows("size")
def _() -> bool:
    return Asked().send(text="x" * (1 << 20))[0] == "104002"


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
    desk = Asked()
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
    desk = Asked(balance="0.0075")
    return desk.send(to=[US, US], text="Hi")[0] == "105400" and desk.texts() == [] and desk.send(text="Hi")[0] == "0"


@shows("funds_name")
def _() -> bool:
    def name(**options: Any) -> str:
        desk = Asked(balance=0, **options)
        body = json.dumps({"to": US, "content": "Hi", "signature": "Acme"}).encode()
        target = "/?action=sms.message.send&accessKeyId=k"
        return str(json.loads(answer(desk.box, "POST", target, body)[2])["message"])

    return (name(), name(form="earlier")) == ("InsufficientFunds", "FundsInsufficient")


@shows("channel")
def _() -> bool:
    desk = Asked()
    desk.passcode(channel="auto")
    desk.passcode()
    desk.passcode(channel="call")
    return desk.box.inbox["channel"].tolist() == ["sms", "sms", "call"]


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
    desk.box.advance(601)
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
    code = desk.passcode(code="123456", ttl=1000)
    desk.box.advance(1000)
    at_the_end = desk.valid(code)
    desk.box.advance(-600)
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
    return rows + [f"| `{row.number}` | {row.meaning} |" for row in choices.SPECIAL_NUMBERS]


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


def test_special_numbers_are_valid_ones_of_a_range_for_fiction() -> None:
    assert set(wire.ERROR_NAMES) == {row.code for row in choices.SPECIAL_NUMBERS} - {""}
    assert len(choices.SPECIAL) == len(choices.SPECIAL_NUMBERS)
    for row in choices.SPECIAL_NUMBERS:
        assert re.fullmatch(r"\+190755501[0-9]{2}", row.number)
        assert countries.ask(row.number).valid


def test_every_template_of_the_sandbox_can_be_filled() -> None:
    for template in messages.load_templates().values():
        names = messages.variables(template)
        assert names
        assert "{" not in messages.fill(template, dict.fromkeys(names, "x"))
