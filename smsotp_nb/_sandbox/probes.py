"""The probes of the contract suite: one for each row of the table of choices, or the reason why no reply can show it.

A probe returns in a few words what it observed; two services agree on a row if these words are the same.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from .. import parts
from . import wording
from .asking import Asker, NotAsked, Reply

NOBODY: Final = "nobody"  # no phone number: a request with it cannot text anybody
UNKNOWN_KEY: Final = "a-key-that-nobody-has"
LATE: Final = 11 * 60  # seconds: past every common tolerance


@dataclass(frozen=True, slots=True)
class Probe:
    """How one row is asked; ``parts`` is the most that any service may bill for it."""

    ask: Callable[[Asker], str]
    parts: int = 0


def _said(reply: Reply) -> str:
    """Return in words how a request was answered: an error code, or the number of messages."""
    if reply.code != "0":
        return reply.code
    return f"{len(reply.records)} accepted" if reply.records else "accepted"


def _key(one: Asker) -> str:
    body = {"to": one.to, "code": "0000"}
    without = one.ask("otp.verify", body, query={"accessKeyId": None})
    unknown = one.ask("otp.verify", body, query={"accessKeyId": UNKNOWN_KEY})
    return f"without one {_said(without)}, an unknown one {_said(unknown)}"


def _unsigned(one: Asker) -> str:
    signs = one.settings.access_key_secret is not None
    mode = "with a secret" if signs else "without a secret"
    return f"{mode} an unsigned request {_said(one.ask('otp.verify', {'to': one.to, 'code': '0000'}, signed=False))}"


def _needs_secret(one: Asker) -> None:
    if one.settings.access_key_secret is None:
        raise NotAsked("it needs an account with signed requests")


def _timestamp(one: Asker) -> str:
    _needs_secret(one)
    late = {"timestamp": str(int(time.time()) - LATE)}
    return _said(one.ask("otp.verify", {"to": one.to, "code": "0000"}, query=late))


def _nonce(one: Asker) -> str:
    _needs_secret(one)
    same = {"nonce": f"contract-{time.time_ns()}"}
    first, second = (one.ask("otp.verify", {"to": one.to, "code": "0000"}, query=same) for _ in range(2))
    return f"first {_said(first)}, then {_said(second)}"


def _action(one: Asker) -> str:
    return _said(one.ask("sms.message.sendd", {"to": one.to, "content": "Hi"}))


def _json(one: Asker) -> str:
    bodies = [(b"[]", "application/json"), (b"{", "application/json"), (b'{"code": "0000"}', "text/plain")]
    return ", ".join(_said(one.ask("otp.verify", raw, content_type=kind)) for raw, kind in bodies)


def _size(one: Asker) -> str:
    return _said(one.ask("otp.verify", {"to": one.to, "code": "0000", "note": "x" * (1 << 20)}))


def _values(one: Asker) -> str:
    asked: tuple[dict[str, Any], ...] = ({"code": 1234}, {"code": "12"}, {"intent": "x" * 37}, {"ttl": 1801})
    return ", ".join(_said(one.verify(**{"code": "0000", **fields})) for fields in asked)


def _signature(one: Asker) -> str:
    return _said(one.send("Hi", signature="A"))


def _empty(one: Asker) -> str:
    return ", ".join(_said(one.verify("0000", intent=value)) for value in (None, ""))


def _extra(one: Asker) -> str:
    return _said(one.verify("0000", colour="blue"))


def _required(one: Asker) -> str:
    bare: tuple[tuple[str, dict[str, str]], ...] = (
        ("otp.verify", {}),
        ("otp.send", {}),
        ("sms.message.send", {"to": one.to}),
    )
    return ", ".join(_said(one.ask(action, body)) for action, body in bare)


def _invalid(one: Asker) -> str:
    return ", ".join(_said(one.send("Hi", to=number)) for number in (NOBODY, "+1202555", "12025550123456789"))


def _list(one: Asker) -> str:
    return _said(one.send("Hi", to=[one.to, NOBODY]))


def _repeated(one: Asker) -> str:
    return _said(one.send("Hi", to=[one.to, one.to]))


def _recipients(one: Asker) -> str:
    return f"1001 numbers that are none {_said(one.send('Hi', to=[NOBODY] * 1001))}"


def _several(one: Asker) -> str:
    fields = {"templateId": "no-such-template", "text": "Hi"}
    return _said(one.send("Hi", **fields))


def _join(one: Asker) -> str:
    """Find the length at which the joined text needs a second part, which shows how much room the signature takes."""
    joined = wording.signed("", one.signature, one.settings.variant)
    fits = (70 if one.settings.variant == "cn" else 160) - parts.count(joined).units
    counts = [one.send("x" * length, signature=one.signature).parts for length in (fits, fits + 1)]
    return f"{fits} characters and the signature {counts[0]} parts, one more {counts[1]}"


def _text(one: Asker) -> str:
    reply = one.ask("sms.message.send", {"to": one.to, "text": "x" * 160, "signature": one.signature})
    return f"160 characters beside a signature {reply.parts} parts" if reply.code == "0" else reply.code


def _template(one: Asker) -> str:
    return f"an unknown one {_said(one.send(templateId='no-such-template'))}"


def _of_template(one: Asker, value: object) -> str:
    if one.template is None:
        raise NotAsked("it needs the id of a template with one variable")
    name, variable = one.template
    data = {} if value is None else {variable: value}
    return _said(one.send(templateId=name, templateData=data))


def _parts(one: Asker) -> str:
    texts = ("x" * 160, "x" * 161, "я" * 70, "я" * 71, "x" * 152 + "€" + "x" * 152)
    kept = [text for text in texts if one.settings.form == "current"]
    if not kept or one.needs_signature:
        raise NotAsked("texts without a signature are needed")
    found = [str(one.ask("sms.message.send", {"to": one.to, "text": text}).parts) for text in kept]
    return f"{', '.join(found)} parts for {', '.join(str(parts.count(text).units) for text in kept)} units"


def _both_counts(one: Asker) -> str:
    names = [name for name in ("parts", "count", "messageCount") if name in (one.send("x").records or [{}])[0]]
    return " and ".join(names) or "neither parts nor count"


def _price(one: Asker) -> str:
    short, long = (one.send("x" * length) for length in (20, 200))
    same = short.price * long.parts == long.price * short.parts
    return "parts x one rate" if same else "another rate for a longer message"


def _custom_digits(one: Asker) -> str:
    return f"{_said(one.passcode('1357', digits=8, intent='digits'))}, valid {one.is_valid('1357', intent='digits')}"


def _single_use(one: Asker) -> str:
    one.passcode("246813", intent="once")
    return ", then ".join(one.is_valid("246813", intent="once") for _ in range(2))


def _attempts(one: Asker) -> str:
    found = []
    for wrong in (4, 5):
        intent = f"wrong {wrong}"
        one.passcode("864202", intent=intent)
        for guess in range(wrong):
            one.is_valid(f"00000{guess}", intent=intent)
        found.append(f"after {wrong} wrong ones {one.is_valid('864202', intent=intent)}")
    return ", ".join(found)


def _sends(one: Asker) -> str:
    return f"3 at once {', '.join(_said(one.passcode('975310', intent=f'send {n}')) for n in range(3))}"


def _replace(one: Asker) -> str:
    for code in ("111222", "333444"):
        one.passcode(code, intent="again")
    first = one.is_valid("111222", intent="again")
    return f"the first {first}, the second {one.is_valid('333444', intent='again')}"


def _intents(one: Asker) -> str:
    for code, fields in (("121212", {"intent": "login"}), ("343434", {"intent": "signup"}), ("565656", {})):
        one.passcode(code, **fields)
    crossed = one.is_valid("121212", intent="signup")
    own = (one.is_valid("121212", intent="login"), one.is_valid("343434", intent="signup"), one.is_valid("565656"))
    return f"crossed {crossed}, own {', '.join(own)}"


def _expiry(one: Asker) -> str:
    one.passcode("777888", intent="short", ttl=2)
    one.sleep(2.5)
    return f"half a second past its ttl {one.is_valid('777888', intent='short')}"


def _wrong(one: Asker) -> str:
    return f"an unknown one {one.is_valid('999000', intent='never sent')}"


PROBES: Final[Mapping[str, Probe]] = {
    "key": Probe(_key),
    "hmac": Probe(_unsigned),
    "timestamp": Probe(_timestamp),
    "nonce": Probe(_nonce),
    "action": Probe(_action, 1),
    "json": Probe(_json),
    "size": Probe(_size),
    "values": Probe(_values),
    "signature": Probe(_signature, 1),
    "empty": Probe(_empty),
    "extra": Probe(_extra),
    "required": Probe(_required, 1),
    "invalid": Probe(_invalid, 1),
    "list": Probe(_list, 1),
    "repeated": Probe(_repeated, 2),
    "recipients": Probe(_recipients),
    "several": Probe(_several, 1),
    "join": Probe(_join, 4),
    "text": Probe(_text, 3),
    "templates": Probe(_template),
    "template_data": Probe(lambda one: _of_template(one, None), 2),
    "template_value": Probe(lambda one: _of_template(one, ["a", "list"]), 2),
    "parts": Probe(_parts, 10),
    "both_counts": Probe(_both_counts, 1),
    "price": Probe(_price, 3),
    "custom_digits": Probe(_custom_digits, 2),
    "single_use": Probe(_single_use, 2),
    "attempts": Probe(_attempts, 4),
    "sends": Probe(_sends, 6),
    "replace": Probe(_replace, 4),
    "intents": Probe(_intents, 6),
    "expiry": Probe(_expiry, 2),
    "wrong": Probe(_wrong),
}
UNSEEN: Final[Mapping[str, str]] = {
    "balance": "it would need an account that is nearly empty",
    "funds_name": "it would need an account that is nearly empty",
    "channel": "no reply names the channel: look at the phone",
    "wording": "no reply shows the text: look at the phone",
}
