"""The OpenAPI file says what the running sandbox does: the same addresses, and every reply fits its schema."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from support.sockets import answer

from smsotp_nb import Sandbox

US, FR = "+12025550123", "+33199001234"
MODES: list[dict[str, Any]] = [{}, {"form": "earlier"}, {"variant": "cn"}]


@pytest.fixture(params=MODES, ids=str)
def box(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    with Sandbox(**request.param) as running:
        yield running


def call(box: Sandbox, method: str, path: str, sent: Any = None) -> tuple[int, dict[str, str], Any]:
    status, headers, raw = answer(box, method, path, None if sent is None else json.dumps(sent).encode())
    return status, headers, json.loads(raw) if "json" in headers["content-type"] else raw


def schemas() -> Any:
    """The library takes seconds to import, and each process of a run imports this file."""
    return pytest.importorskip("jsonschema")


def fits(described: dict[str, Any], schema: dict[str, Any], value: Any) -> None:
    whole = {**schema, "components": described["components"]}
    schemas().Draft202012Validator(whole, format_checker=schemas().FormatChecker()).validate(value)


MESSAGE = {"content": "Hi", "signature": "Acme"}
TO_THREE = {"to": [US, FR, "+19075550106"], **MESSAGE}
CALLS: list[tuple[str, str, Any, int]] = [
    ("POST", "/sms.message.send/..?action=sms.message.send&accessKeyId=k", TO_THREE, 200),
    ("POST", "/otp.send/..?action=otp.send&accessKeyId=k", {"to": US, "intent": "login", "code": "123456"}, 200),
    ("POST", "/otp.verify/..?action=otp.verify&accessKeyId=k", {"to": US, "code": "654321"}, 200),
    ("POST", "/otp.verify/..?action=otp.verify&accessKeyId=k", {}, 400),
    ("POST", "/otp.send/..?action=otp.send&accessKeyId=k", {}, 400),
    ("POST", "/sms.message.send/..?action=sms.message.send&accessKeyId=k", {"to": "+19075550110", **MESSAGE}, 400),
    ("POST", "/otp.send/..?action=otp.send&accessKeyId=k", {"to": US, "digits": 6.0, "code": None, "ttl": None}, 200),
    ("POST", "/otp.send/..?action=otp.send&accessKeyId=k", {"to": US, "channel": "", "intent": ""}, 200),
    ("GET", "/", None, 200),
    ("GET", "/inbox.json", None, 200),
    ("GET", "/inbox.json?detail=1&newest=1&limit=2", None, 200),
    ("GET", "/inbox.json?kind=spam", None, 400),
    ("GET", "/inbox.json?kind=spam&kind=message", None, 400),
    ("DELETE", "/inbox.json?id=00", None, 404),
    ("POST", "/expect.json", {"to": US, "text~": "", "times": 1}, 409),
    ("POST", "/expect.json", {"to": FR, "times": 1}, 200),
    ("POST", "/expect.json", {"too": FR}, 400),
    ("POST", "/otp.send/..?action=otp.send&accessKeyId=k", {"to": US, "signature": "Acme"}, 200),
    ("GET", "/requests.json", None, 200),
    ("GET", "/requests.json?brief=1&newest=1&limit=2", None, 200),
    ("GET", "/requests.json?outcome=lost", None, 400),
    ("GET", "/summary.json", None, 200),
    ("GET", "/sandbox.json", None, 200),
    ("GET", "/balance.json", None, 200),
    ("POST", "/balance.json", {"add": "1"}, 200),
    ("POST", "/balance.json", {"add": 1}, 200),
    ("POST", "/balance.json", {"add": 1.0}, 200),
    ("POST", "/balance.json", {}, 400),
    ("GET", "/clock.json", None, 200),
    ("POST", "/clock.json", {"advance": 1}, 200),
    ("POST", "/clock.json", {}, 400),
    ("GET", "/faults.json", None, 200),
    ("POST", "/faults.json", {"kind": "latency", "seconds": 0}, 200),
    ("POST", "/faults.json", {"kind": "flood"}, 400),
    ("DELETE", "/faults.json?kind=latency", None, 200),
    ("DELETE", "/faults.json?kind=flood", None, 400),
    ("DELETE", "/inbox.json", None, 200),
    ("DELETE", "/requests.json", None, 200),
    ("GET", "/openapi.json", None, 200),
]


ABOUT_ONE = [
    ("GET", "/summary.json"), ("DELETE", "/inbox.json"), ("GET", "/sandbox.json"), ("GET", "/balance.json"),
    ("GET", "/clock.json"), ("GET", "/faults.json"), ("DELETE", "/requests.json"),
]  # fmt: skip


def test_every_reply_of_every_operation_fits_its_schema(box: Sandbox) -> None:
    seen = set()
    twice = [(method, f"{path}?x=1&x=2", None, 400) for method, path in ABOUT_ONE]
    described = call(box, "GET", "/openapi.json")[2]
    answers = [(one, call(box, *one[:3])) for one in [*CALLS, *twice]]
    for (method, path, _sent, expected), (status, headers, found) in answers:
        assert status == expected, (method, path, found)
        operation = described["paths"][path.partition("?")[0]][method.lower()]
        reply = operation["responses"][str(status)]
        seen.add((path.partition("?")[0], method.lower(), str(status)))
        for name, header in reply.get("headers", {}).items():
            fits(described, header["schema"], headers[name.lower()])
        if "application/json" in reply["content"]:
            fits(described, reply["content"]["application/json"]["schema"], found)
    promised = {
        (path, method, status)
        for path, operations in described["paths"].items()
        for method, operation in operations.items()
        for status in operation["responses"]
    }
    assert promised == seen


OPERATIONS = {f"/{action}/..": action for action in ("sms.message.send", "otp.send", "otp.verify")}
BODIES: dict[str, list[dict[str, Any]]] = {
    "sms.message.send": [{"to": [US, FR], **MESSAGE}],
    "otp.send": [{"to": US, "digits": 6}, {"to": US, "code": "123456"}],
    "otp.verify": [{"to": US, "code": "654321"}],
}
EMPTY: dict[str, Any] = {"signature": "", "intent": None, "channel": "", "code": "", "digits": None, "ttl": None}
BODIES["otp.send"] += [{"to": US} | EMPTY, {"to": US, "digits": 6.0, "ttl": 227.0}]
# An operation ignores what it does not name, so the body of otp.verify is also one of otp.send, with a custom code.
ALSO_RIGHT = ("otp.send", "otp.verify")


@pytest.mark.parametrize(("path", "action"), OPERATIONS.items())
def test_an_action_takes_its_own_bodies_and_notices_those_of_another(path: str, action: str) -> None:
    with Sandbox() as box:
        described = call(box, "GET", "/openapi.json")[2]
    operation = described["paths"][path]["post"]
    chosen = next(one for one in operation["parameters"] if one.get("name") == "action")
    assert (chosen["in"], chosen["required"], chosen["schema"]["enum"]) == ("query", True, [action])
    schema = operation["requestBody"]["content"]["application/json"]["schema"]
    for body in BODIES[action]:
        fits(described, schema, body)
    wrong = [bodies[0] for other, bodies in BODIES.items() if other != action and (action, other) != ALSO_RIGHT]
    for body in [{"to": 5}, *wrong]:
        with pytest.raises(schemas().ValidationError):
            fits(described, schema, body)


@pytest.mark.parametrize(
    "odd",
    [
        *EMPTY.items(),
        ("digits", ""),
        ("ttl", ""),
        ("ttl", 0),
        ("ttl", 5.5),
        ("digits", 6.0),
        ("digits", "6"),
        ("ttl", True),
    ],
    ids=str,
)
def test_the_file_and_the_sandbox_agree_on_what_counts_as_absent(odd: tuple[str, Any]) -> None:
    body = {"to": US, odd[0]: odd[1]}
    with Sandbox() as box:
        described = call(box, "GET", "/openapi.json")[2]
        status = call(box, "POST", "/otp.send/..?action=otp.send&accessKeyId=k", body)[0]
    whole = {"$ref": "#/components/schemas/SendOtp", "components": described["components"]}
    assert schemas().Draft202012Validator(whole).is_valid(body) == (status == 200)


@pytest.mark.parametrize("name", ["templateId", "text", "content"])
def test_an_empty_wording_is_none_for_the_file_and_for_the_sandbox(name: str) -> None:
    body = {"to": US, name: ""}
    with Sandbox() as box:
        described = call(box, "GET", "/openapi.json")[2]
        assert call(box, "POST", "/sms.message.send/..?action=sms.message.send&accessKeyId=k", body)[0] == 400
    with pytest.raises(schemas().ValidationError):
        fits(described, {"$ref": "#/components/schemas/SendMessage"}, body)


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [("TRACE", "/", "GET, HEAD, POST"), ("PUT", "/balance.json", "GET, HEAD, POST"), ("GET", "/expect.json", "POST")],
)
def test_a_wrong_method_is_told_the_right_ones(box: Sandbox, method: str, path: str, allowed: str) -> None:
    status, headers, _ = call(box, method, path)
    assert (status, headers["allow"]) == (405, allowed)


def parts_of(schema: Any) -> Iterator[dict[str, Any]]:
    """Yield every object in a piece of the file."""
    if isinstance(schema, dict):
        yield schema
    for one in schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ():
        yield from parts_of(one)


def test_what_generators_of_clients_stumble_over_is_not_in_the_file() -> None:
    """A list that does not say of what, and fields whose names become one where a tilde is no letter."""
    with Sandbox() as box:
        described = call(box, "GET", "/openapi.json")[2]
    schemas = [part for part in parts_of(described["components"]["schemas"]) if "type" in part]
    lists = [one for one in schemas if "array" in one["type"]]
    assert [one for one in lists if not {"items", "prefixItems"} & set(one)] == []
    for one in schemas:
        names = [re.sub(r"\W", "", name) for name in one.get("properties", {})]
        assert len(names) == len(set(names))
