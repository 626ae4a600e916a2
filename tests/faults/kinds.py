"""The kinds of faults, as a table: what the service does, and what the client must make of it.

Outcomes: ``not sent`` (provably nothing left: tried again, then NotSent), ``throttled`` (429 in full: tried again, then
Throttled), ``refused`` (400 with an envelope), ``accepted``, ``partial`` (accepted, but some numbers have no record),
``in doubt`` (everything else). ``sends`` is how many requests the service takes in full without refusing them by 429:
never more than one, whatever happens.
"""

from __future__ import annotations

import codecs
import gzip
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .acts import (
    ENDS,
    after_reading,
    answer,
    at_once,
    below_tls,
    body,
    bomb,
    chunked,
    cut,
    deflate,
    dripping,
    drips,
    early,
    encoded,
    endless,
    envelope,
    in_chunks,
    notify,
    proceed,
    raw,
    records,
    says,
    status,
    throttle,
    within_request,
)
from .server import Act, Peer, golden, http, record, serve

ALL = ("message", "otp", "verify")
MESSAGE = ("message",)
FOREIGN = "+4917600000000"


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of fault.

    ``places`` are the acts by where the fault strikes; ``stage`` see ``Script``; ``on`` the transports and
    ``connections`` the states of the connection it is tried on; ``slow`` marks what only a timeout ends, ``endless``
    what only a cap does.
    """

    name: str
    outcome: str
    places: Mapping[str, tuple[Act, ...]]
    sends: int = 1
    stage: str = "request"
    on: tuple[str, ...] = ("plain", "tls")
    connections: tuple[str, ...] = ("new", "kept")
    operations: tuple[str, ...] = ALL
    slow: bool = False
    certificate: str = "ours"
    host: str = "127.0.0.1"
    listens: str = "yes"
    huge: bool = False
    endless: bool = False


def kind(name: str, outcome: str, *acts: Act, places: Mapping[str, Act] | None = None, **options: Any) -> Kind:
    found = {place: (act,) for place, act in places.items()} if places else {"": acts}
    return Kind(name, outcome, found, **options)


def ended(act: Any, *places: str, end: str) -> dict[str, Act]:
    return {place: act(place, ENDS[end]) for place in places}


TLS_NEW: dict[str, Any] = {"on": ("tls",), "stage": "accept", "sends": 0}
NOBODY: dict[str, Any] = {"sends": 0, "connections": ("new",)}

BEFORE = (
    kind("nobody listens at the port", "not sent", proceed, listens="nobody", **NOBODY),
    kind("connections are never accepted", "not sent", proceed, listens="full", slow=True, **NOBODY),
    kind("the name does not exist", "not sent", proceed, host="nowhere.test", on=("tls",), **NOBODY),
    kind("the resolver says try again", "not sent", proceed, host="later.test", on=("tls",), **NOBODY),
    kind("the name cannot be looked up", "not sent", proceed, host="odd.test", on=("tls",), **NOBODY),
    kind("the first of two addresses refuses", "accepted", serve, host="two.test", on=("tls",), connections=("new",)),
    kind("certificate of an unknown authority", "not sent", proceed, certificate="stranger", **NOBODY, on=("tls",)),
    kind("certificate of another host", "not sent", proceed, certificate="other host", **NOBODY, on=("tls",)),
    kind("expired certificate", "not sent", proceed, certificate="expired", **NOBODY, on=("tls",)),
    kind("only TLS 1.1 is spoken", "not sent", proceed, certificate="old", **NOBODY, on=("tls",)),
    kind("TLS 1.2 asks for our certificate", "not sent", proceed, certificate="asks 1.2", **NOBODY, on=("tls",)),
    kind("FIN in place of the TLS handshake", "not sent", at_once(Peer.fin), **TLS_NEW),
    kind("reset in place of the TLS handshake", "not sent", at_once(Peer.reset), **TLS_NEW),
    kind("silence in place of the TLS handshake", "not sent", at_once(Peer.silence), slow=True, **TLS_NEW),
    kind("a TLS handshake that drips", "not sent", drips(b"\x16\x03\x03\x3f\xff\x02\x00\x3f\xfb\x03\x03"), slow=True,
         **TLS_NEW),
    kind("garbage in place of the TLS handshake", "not sent",
         places={"HTTP": says(b"HTTP/1.1 400 Bad Request\r\n\r\n"), "binary": says(bytes(range(256)) * 4),
                 "alert": says(b"\x15\x03\x03\x00\x02\x02\x28"), "end of data": says(b"\x16\x03\x03\x00\x7a\x02\x00")},
         **TLS_NEW),
    kind("the handshake fails twice, then all is well", "accepted", at_once(Peer.reset), at_once(Peer.fin), proceed,
         on=("tls",), stage="accept"),
)  # fmt: skip

WRITING = (
    kind("FIN before the request is read", "in doubt", at_once(Peer.fin), sends=0),
    kind("reset before the request is read", "in doubt", at_once(Peer.reset), sends=0),
    kind("silence before the request is read", "in doubt", at_once(Peer.silence), sends=0, slow=True),
    kind("garbage before the request is read", "in doubt", says(b"\x00\xff" * 99), sends=0),
    *[kind(f"{end} within the request", "in doubt", sends=0, places=ended(
        within_request, "first byte", "request line", "head", "body 1", "body half", "body but 1", end=end))
      for end in ("FIN", "reset")],
    kind("silence within the request", "in doubt", sends=0, slow=True, places=ended(
        within_request, "head", "body half", end="silence")),
    kind("a long body that nobody reads", "in doubt", at_once(Peer.deaf), sends=0, slow=True, huge=True,
         operations=MESSAGE),
    kind("a long body, reset half way", "in doubt", within_request("body half", Peer.reset), sends=0, huge=True,
         operations=MESSAGE),
    kind("413 before a long body is read", "in doubt", early(http(b"", status=413)), sends=0, huge=True, slow=True,
         operations=MESSAGE),
    kind("429 before a long body is read", "in doubt", early(http(b"", status=429)), sends=0, huge=True, slow=True,
         operations=MESSAGE),
)  # fmt: skip

LINE = ("1 byte", "version", "before the status", "within the status", "status", "status line")
HEAD = ("within a header", "before the length", "within the length", "last header")
BODY = ("head", "body 1", "body half", "body but 1")

AFTER = (
    *[kind(f"{end} after the request is read", "in doubt", after_reading(ENDS[end]),
      slow=end == "silence") for end in ENDS],
    *[kind(f"{end} within the status line", "in doubt", places=ended(cut, *LINE, end=end)) for end in ("FIN", "reset")],
    *[kind(f"{end} within the headers", "in doubt", places=ended(cut, *HEAD, end=end)) for end in ("FIN", "reset")],
    *[kind(f"{end} within the body", "in doubt", places=ended(cut, *BODY, end=end)) for end in ("FIN", "reset")],
    kind("silence within the reply", "in doubt", slow=True, places=ended(
        cut, "status", "within a header", "head", "body half", end="silence")),
    kind("a reply that drips", "in doubt", slow=True, places={
        "in the status line": dripping("version", b"0"), "in the headers": dripping("within a header", b"x"),
        "in the body": dripping("head"), "after the JSON": dripping("body but 1")}),
    kind("the TLS session ends in order after reading", "in doubt", after_reading(notify), on=("tls",)),
    kind("the TLS session ends in order within the body", "in doubt", cut("body half", notify), on=("tls",)),
    kind("TLS alert after reading", "in doubt", below_tls(b"\x15\x03\x03\x00\x02\x02\x50"), on=("tls",)),
    kind("TLS garbage after reading", "in doubt", on=("tls",), places={
        "binary": below_tls(b"\x00\xff" * 999), "HTTP": below_tls(http(b'{"code":"0"}')),
        "bad record": below_tls(b"\x17\x03\x03\x00\x40" + b"\x00" * 64)}),
    kind("a TLS record that is cut", "in doubt", below_tls(b"\x17\x03\x03\x40\x00" + b"a"), on=("tls",), slow=True),
    kind("TLS garbage before reading", "in doubt", below_tls(b"\x17\x03\x03\x00\x40" + b"\x00" * 64, read=False),
         on=("tls",), sends=0),
    kind("TLS 1.3 asks for our certificate", "in doubt", serve, certificate="asks 1.3", sends=0, on=("tls",),
         connections=("new",)),
    kind("TLS at an address of plain HTTP", "in doubt", proceed, certificate="hidden", sends=0, on=("plain",),
         connections=("new",)),
)  # fmt: skip

OK = b'{"code":"0"}'

GARBAGE = (
    kind("not HTTP", "in doubt", places={
        "binary": raw(bytes(range(256)) * 8), "text": raw(b"220 mail.test ESMTP ready\r\n"),
        "SSH": raw(b"SSH-2.0-x\r\n"),
        "HTML": raw(b"<html>502 Bad Gateway</html>"), "JSON alone": raw(b'{"code":"0","message":"Success","data":{}}'),
        "HTTP/2": raw(b"\x00\x00\x12\x04\x00\x00\x00\x00\x00" + b"\x00" * 18), "empty lines": raw(b"\r\n" * 50)}),
    kind("an invalid status", "in doubt", places={
        line: answer(lambda request, line=line: http(golden(request), status=line), Peer.fin)
        for line in ("HTTP/1.1 OK", "HTTP/1.1 20 OK", "HTTP/1.1 2000 OK", "HTTP/1.1 -200 OK",
        "HTTP/1.1 \u0662\u0660\u0660 OK".encode().decode("latin-1"),
                     "HTTP/x 200 OK", "HTTP/3 200 OK", "ICY 200 OK", "HTTP/1.1")}),
    kind("headers without end", "in doubt", endless(b"HTTP/1.1 200 OK\r\n", b"X-Y: z\r\n" * 500), endless=True),
    kind("a header line without end", "in doubt", endless(b"HTTP/1.1 200 OK\r\nX: ", b"x" * 10_000), endless=True),
    kind("100 Continue without end", "in doubt", endless(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 500), endless=True),
    kind("101 Switching Protocols", "in doubt", raw(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n" + OK)),
    kind("a body without end", "in doubt", endless=True, places={
        "with length": endless(http(b"", length=10**12), b" " * 100_000), "without": endless(http(b"", length=None),
        b" " * 100_000),
        "in chunks": endless(http(b"", length=None, headers=[("Transfer-Encoding", "chunked")]),
        b"10000\r\n" + b" " * 65536 + b"\r\n")}),
)  # fmt: skip


def lengths(*values: int | str) -> dict[str, Act]:
    return {
        str(value): answer(lambda request, value=value: http(golden(request), length=value), Peer.fin)
        for value in values
    }


def doubled(value: int) -> Act:
    return answer(lambda request: http(golden(request), headers=[("Content-Length", str(value))]), Peer.fin)


def partly(encode: Any, keep: float) -> Any:
    return lambda data: encode(data)[: int(len(encode(data)) * keep)]


LENGTHS = (
    kind("a length that is too long", "in doubt", places=lengths(10_000, 10**20)),
    kind("a length that is too short", "in doubt", places=lengths(0, 1, 40)),
    kind("two lengths that differ", "in doubt", places={"longer": doubled(10_000), "shorter": doubled(3)}),
    kind("a length nobody can read, then FIN", "in doubt", places=lengths(-5, "many")),
    kind("the same length twice", "in doubt", answer(lambda request: http(golden(request), headers=[("Content-Length",
         str(len(golden(request))))]))),
    kind("line ends of one character", "in doubt", answer(lambda request: http(golden(request)).replace(b"\r\n",
         b"\n"))),
    kind("a length in letters, and no end", "in doubt", answer(lambda request: http(golden(request), length="many")),
         slow=True),
    kind("chunks that break", "in doubt", places={
        "no last chunk": chunked(lambda data: in_chunks(data, last=b""), Peer.fin),
        "size in letters": chunked(lambda data: b"size\r\n" + data + b"\r\n0\r\n\r\n", Peer.fin),
        "size below 0": chunked(lambda data: b"-5\r\n" + data + b"\r\n0\r\n\r\n", Peer.fin),
        "size too large": chunked(lambda data: b"fffff\r\n" + data + b"\r\n0\r\n\r\n", Peer.fin),
        "size too small": chunked(lambda data: b"5\r\n" + data + b"\r\n0\r\n\r\n", Peer.fin),
        "cut": chunked(lambda data: in_chunks(data)[:-40], Peer.fin),
        "last line end cut": chunked(lambda data: in_chunks(data, last=b"0\r\n"), Peer.fin),
        "size without end": chunked(lambda data: b"1" * 70_000, Peer.fin)}),
    kind("chunks that fall silent", "in doubt", chunked(lambda data: in_chunks(data, last=b"")), slow=True),
    kind("gzip that breaks", "in doubt", places={
        "cut in half": encoded("gzip", partly(gzip.compress, 0.5)), "cut at the end": encoded("gzip",
        partly(gzip.compress, 0.7)),
        "header only": encoded("gzip", lambda data: gzip.compress(data)[:10]), "not gzip": encoded("gzip",
        lambda data: data),
        "nothing": encoded("gzip", lambda data: b""),
        "flipped": encoded("gzip",
        lambda data: gzip.compress(data)[:20] + b"\xff\xff\xff" + gzip.compress(data)[23:])}),
    kind("an encoding nobody knows", "in doubt", places={
        "x-secret": encoded("x-secret", lambda data: data[::-1]), "twice": encoded("gzip, gzip", gzip.compress),
        "twelve times": encoded(", ".join(["gzip"] * 12), gzip.compress)}),
    kind("kilobytes that unpack to megabytes", "in doubt", encoded("gzip", bomb)),
)  # fmt: skip

PAUSE = (("Retry-After", "0"),)

STATUSES = (
    kind("another success", "in doubt", places={str(code): status(code) for code in (201, 202, 203, 206, 226)}),
    kind("a success without a body", "in doubt", places={str(code): status(code, b"") for code in (200, 204, 205,
         304)}),
    kind("a redirect to itself", "in doubt", places={
        str(code): status(code, headers=[("Location", "/?action=sms.message.send&accessKeyId=other")])
        for code in (300, 301, 302, 303, 305, 307, 308)}),
    kind("not authorized", "in doubt", places={
        "401": status(401, headers=[("WWW-Authenticate", 'Basic realm="x"')]), "403": status(403), "407": status(407)}),
    kind("timeouts of the service", "in doubt", places={str(code): status(code, headers=PAUSE) for code in (408, 425,
         504)}),
    kind("other refusals by status", "in doubt", places={
        str(code): status(code) for code in (402, 404, 405, 406, 409, 410, 411, 413, 414, 415, 417, 418, 421, 422, 423,
        424, 426, 428, 431, 451, 499)}),
    kind("an error of the service", "in doubt", places={
        str(code): status(code, headers=PAUSE) for code in (500, 501, 502, 503, 505, 507, 508, 511, 520, 529, 599)}),
    kind("an error of the service in words of a refusal", "in doubt", places={
        str(code): status(code, b'{"code":"105400","message":"InsufficientFunds"}') for code in (200, 401, 403, 422,
        500, 503)}),
    kind("a status above 599", "in doubt", places={str(code): status(code) for code in (600, 999)}),
    kind("400 that accepts", "in doubt", status(400)),
)  # fmt: skip

NUMBERS = b'{"code":"0","message":"Success","data":{"to":"+12025550123","valid":1,"price":%s}}'

BODIES = (
    kind("not JSON", "in doubt", places={
        "empty": body(b""), "blank": body(b" \r\n"), "text": body(b"OK"), "HTML": body(b"<html>Success</html>"),
        "zeros": body(bytes(500)),
        "not UTF-8": body(b'{"code":"0","message":"\xff\xfe"}'), "two documents": body(b'{"code":"0"}{"code":"0"}'),
        "single quotes": body(b"{'code':'0'}"), "a comma too many": body(b'{"code":"0",}')}),
    kind("JSON that is cut, with a true length", "in doubt", answer(lambda request: http(golden(request)[:-3]))),
    kind("JSON that is not an object", "in doubt", places={
        "array": body(b'[{"code":"0"}]'), "text": body(b'"Success"'), "null": body(b"null"), "number": body(b"0"),
        "true": body(b"true")}),
    kind("JSON that is deep", "in doubt", places={
        "arrays": body(b"[" * 100_000), "objects": body(b'{"a":' * 50_000),
        "closed": body(b'{"code":"0","data":' + b"[" * 30_000 + b"]" * 30_000 + b"}")}),
    kind("JSON that is long", "in doubt", places={
        "a list": body(b'{"code":"0","data":[' + b"1," * 500_000 + b"1]}"),
        "a text": body(b'{"code":"0","message":"' + b"x" * 900_000 + b'"}')}),
    kind("NaN, infinity and huge numbers", "in doubt", operations=("otp", "verify"), places={
        name: body(NUMBERS % name.encode()) for name in ("NaN", "Infinity", "-Infinity", "1e99999999999999999999",
        "9" * 5000)}),
    kind("an envelope without its code", "in doubt", places={
        "none": envelope(lambda found: {"message": "Success", "data": found["data"]}),
        "empty object": envelope(lambda found: {}),
        **{repr(code): envelope(lambda found, code=code: {**found, "code": code})
           for code in (0, 0.0, False, None, "", " 0", "00", "0\n", "OK", ["0"], {"0": "0"}, "105400")}}),
    kind("an envelope without its data", "in doubt", places={
        "none": envelope(lambda found: {"code": "0", "message": "Success"}),
        **{repr(data): envelope(lambda found, data=data: {**found, "data": data}) for data in (None, [], "", 1, True,
        [[]])}}),
    kind("a name twice in one object", "in doubt", places={
        **{name.decode(): answer(lambda request, name=name: http(golden(request).replace(name, name + b':"0",' + name)))
           for name in (b'"code"', b'"data"', b'"to"')},
        "escaped": answer(lambda request: http(golden(request).replace(b'"to"', rb'"t\u006f":"0","to"')))}),
    kind("fields in capitals", "in doubt", envelope(lambda found: {name.upper(): value for name,
         value in found.items()})),
    kind("400 without an envelope", "in doubt", places={
        "empty": body(b"", 400), "HTML": body(b"<html>Bad Request</html>", 400), "array": body(b"[]", 400),
        "no code": body(b'{"message":"InsufficientFunds"}', 400),
        "code in digits": body(b'{"code":105400,"message":"x"}', 400),
        "nested": body(b'{"error":{"code":"105400"}}', 400), "cut": body(b'{"code":"105400"', 400)}),
    kind("400 with 101000 Internal", "in doubt", body(b'{"code":"101000","message":"Internal"}', 400)),
    kind("a passcode for somebody else", "in doubt", operations=("otp", "verify"), places={
        "foreign": envelope(lambda found: found["data"].update(to=FOREIGN)),
        "nobody": envelope(lambda found: found["data"].pop("to") and None),
        "cut": envelope(lambda found: found["data"].update(to=found["data"]["to"][:-1]))}),
    kind("a check that is neither true nor false", "in doubt", operations=("verify",), places={
        repr(value): envelope(lambda found, value=value: found["data"].update(valid=value)) for value in ("true", 1,
        None, [], "false")}),
    kind("a check that is not called a success", "in doubt", operations=("verify",), places={
        repr(name): envelope(lambda found, name=name: found | {"message": name}) for name in ("", None, "Failed")}),
)  # fmt: skip


def each(**changes: Any) -> Act:
    """Accept, with these fields of every record changed; a function changes the value that is there."""

    def change(one: dict[str, Any]) -> dict[str, Any]:
        return one | {name: value(one[name]) if callable(value) else value for name, value in changes.items()}

    return records(lambda found: [change(one) for one in found])


def data(**changes: Any) -> Act:
    """Accept, with these fields of the result changed."""
    return envelope(lambda found: found["data"].update(changes))


def by_number(found: dict[str, Any]) -> None:
    found["data"]["messages"] = {one["to"]: one for one in found["data"]["messages"]}


MATCHING: tuple[tuple[str, str, Act], ...] = (
    ("no list of records", "in doubt", envelope(lambda found: found | {"data": {}})),
    ("records that are null", "in doubt", records(lambda found: [None for _ in found])),
    ("records in lists", "in doubt", records(lambda found: [[one] for one in found])),
    ("records by number", "in doubt", envelope(by_number)),
    ("fewer records", "partial", records(lambda found: found[:-1])),
    ("no records", "partial", records(lambda found: [])),
    ("foreign records instead", "partial", each(to=FOREIGN)),
    ("one record twice", "partial", records(lambda found: [found[0]] * len(found))),
    ("records without their number", "partial", records(lambda found: [{"id": one["id"]} for one in found])),
    ("numbers as numbers", "partial", each(to=lambda to: int(to[1:]))),
    ("numbers cut short", "partial", each(to=lambda to: to[:-1])),
    ("numbers with blanks", "partial", each(to=lambda to: to[:2] + " " + to[2:])),
    ("more records", "accepted", records(lambda found: [*found, record(FOREIGN)])),
    ("records repeated", "accepted", records(lambda found: found + found)),
    ("records in another order", "accepted", records(lambda found: found[::-1])),
    ("numbers without a plus", "accepted", each(to=lambda to: to[1:])),
    ("records of a number only", "accepted", records(lambda found: [{"to": one["to"]} for one in found])),
    ("fields nobody knows", "accepted", each(colour="red", nested={"a": [1]})),
    ("fields of other types", "accepted", each(id=5, iso=None, cc=1, parts="two")),
    ("halves of characters", "accepted", each(id="\ud800", iso="\udfff")),
    ("totals that disagree", "accepted", data(recipients=99, messageCount=-1, totalAmount="lots")),
)
PRICES = ("NaN", "", None, "-1", -1, "1e5", "0,01", [], True, "0.0000001", 10**30)

RECORDS = (
    *[kind(name, outcome, act, operations=MESSAGE) for name, outcome, act in MATCHING],
    kind("invalid prices", "accepted", operations=MESSAGE, places={
        repr(value)[:20]: each(price=value) for value in PRICES}),
    kind("prices that JSON allows and money does not", "accepted", operations=("otp",), places={
        "1e999999": body(NUMBERS % b"1e999999"), "1e-99": body(NUMBERS % b"1e-99")}),
    kind("NaN among the prices", "in doubt", each(price=float("nan")), operations=MESSAGE),
)  # fmt: skip


def refusal(code: str, name: str) -> bytes:
    return json.dumps({"code": code, "message": name}).encode()


FUNDS = refusal("105400", "InsufficientFunds")

REFUSED = (
    kind("refused with an envelope", "refused", places={
        f"{code} {name}": body(refusal(code, name), 400) for code, name in (
            ("105400", "InsufficientFunds"), ("105400", "FundsInsufficient"), ("107111", "InvalidPhoneNumbers"),
            ("104001", "MissingParams"), ("107145", "RestrictedSmsTemplate"), ("104111", "InvalidAccessKeyId"),
            ("999999", "NeverSeen"))}),
    kind("refused, and then", "refused", places={
        "FIN": answer(lambda request: http(FUNDS, status=400), Peer.fin), "silence": answer(lambda request: http(FUNDS,
        status=400), Peer.silence),
        "no length": answer(lambda request: http(FUNDS, status=400, length=None), Peer.fin),
        "with data": body(b'{"code":"105400","message":"InsufficientFunds","data":{"messages":[]}}', 400),
        "Retry-After": status(400, FUNDS, PAUSE)}),
    kind("a refusal that is cut", "in doubt", places={
        place: cut(place, Peer.fin, lambda request: http(FUNDS, status=400)) for place in ("status line",
        "last header", "head", "body half", "body but 1")}),
)  # fmt: skip

WAITS: dict[str, tuple[tuple[str, str], ...]] = {
    "no Retry-After": (),
    **{f"Retry-After: {value}": (("Retry-After", value),) for value in (
        "0", "2", "2.5", "299", "86400", "-5", "soon", "", "1e3", "1, 2", "9" * 400, "Fri, 20 Nov 2020 12:00:00 GMT",
        "Fri, 20 Nov 2099 12:00:00 GMT", "Fri, 99 Nov 2026 99:99:99 GMT", "Fri, 20 Nov 2026 12:00:00 +" + "9" * 25,
        "\xe9\xe8")},
    "two": (("Retry-After", "1"), ("Retry-After", "2")),
}  # fmt: skip

THROTTLED = (
    kind("429", "throttled", sends=0, places={name[:40]: throttle(*headers) for name, headers in WAITS.items()}),
    kind("429 with a body", "throttled", sends=0, places={
        "envelope of success": throttle(body=b'{"code":"0","message":"Success","data":{}}'),
        "refusal": throttle(body=FUNDS), "HTML": throttle(body=b"<html>")}),
    kind("429, 429, then accepted", "accepted", throttle(*PAUSE), throttle(), serve),
    kind("429, then FIN after reading", "in doubt", throttle(*PAUSE), after_reading(Peer.fin)),
    kind("429, then refused", "refused", throttle(), body(FUNDS, 400)),
    kind("429, then 503", "in doubt", throttle(), status(503, headers=PAUSE)),
    kind("429 that is cut", "in doubt", places={
        place: cut(place, Peer.fin, lambda request: http(FUNDS, status=429, headers=PAUSE))
        for place in ("status", "status line", "within a header", "last header", "head", "body half", "body but 1")}),
    kind("429 and then a reset", "in doubt", cut("body half", Peer.reset, lambda request: http(FUNDS * 999,
         status=429)), operations=MESSAGE),
)  # fmt: skip

UTF_16 = ("accepted in UTF-16", "accepted", answer(lambda request: http(golden(request).decode().encode("utf-16"))))

SOUND = (
    kind("as it should be", "accepted", serve),
    kind("100 Continue first", "accepted",
         answer(lambda request: b"HTTP/1.1 100 Continue\r\n\r\n" * 20 + http(golden(request)))),
    kind("a byte at a time", "accepted", answer(lambda request: http(golden(request)), pieces=1), operations=MESSAGE),
    kind("no length, then FIN", "accepted", answer(lambda request: http(golden(request), length=None), Peer.fin)),
    kind("no length, TLS ends in order", "accepted", answer(lambda request: http(golden(request), length=None),
         notify), on=("tls",)),
    kind("HTTP/1.0", "accepted", answer(lambda request: http(golden(request), status="HTTP/1.0 200 OK"), Peer.fin)),
    kind("no words beside the status", "accepted", answer(lambda request: http(golden(request),
         status="HTTP/1.1 200"))),
    kind("Connection: close", "accepted", answer(lambda request: http(golden(request), headers=[("Connection",
         "close")]), Peer.fin)),
    kind("a header line of 70,000 bytes", "accepted", answer(lambda request: http(golden(request), headers=[("X",
         "x" * 70_000)]))),
    kind("200 headers", "accepted", answer(lambda request: http(golden(request), headers=[(f"X-{n}",
         "x") for n in range(200)]))),
    kind("103 before the reply", "accepted",
         answer(lambda request: b"HTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\n" + http(golden(request)))),
    kind("chunks", "accepted", places={
        "usual": chunked(in_chunks), "single bytes": chunked(lambda data: in_chunks(data, 1)),
        "extensions": chunked(lambda data: in_chunks(data, extension=b";a=b")),
        "trailers": chunked(lambda data: in_chunks(data, last=b"0\r\nX-Sum: 5\r\n\r\n"))}),
    kind("compressed unasked", "accepted", places={"gzip": encoded("gzip", gzip.compress),
         "deflate": encoded("deflate", deflate), "identity": encoded("identity", bytes)}),
    kind("JSON with a mark in front", "accepted", answer(lambda request: http(codecs.BOM_UTF8 + golden(request)))),
    kind(*UTF_16),
    kind("more bytes than the reply has", "accepted", answer(lambda request: http(golden(request)) + http(FUNDS,
         status=400))),
)  # fmt: skip

KEPT = tuple(
    kind(name, outcome, act, stage=stage, sends=sends, connections=("kept",), on=on)
    for name, outcome, act, stage, sends, on in (
        ("FIN while idle", "accepted", at_once(Peer.fin), "idle", 1, ("plain", "tls")),
        ("reset while idle", "accepted", at_once(Peer.reset), "idle", 1, ("plain", "tls")),
        ("TLS ends in order while idle", "accepted", at_once(notify), "idle", 1, ("tls",)),
        ("408 while idle", "accepted", says(http(b"", status=408)), "idle", 1, ("plain", "tls")),
        ("429 while idle", "accepted", says(http(b"", status=429), Peer.silence), "idle", 1, ("plain", "tls")),
        ("a success while idle", "accepted", says(http(OK), Peer.silence), "idle", 1, ("plain", "tls")),
        ("garbage while idle", "accepted", says(b"\x00\xff" * 99, Peer.silence), "idle", 1, ("plain", "tls")),
    )
)  # fmt: skip

TABLE: Mapping[str, tuple[Kind, ...]] = {
    "Before the first byte": BEFORE,
    "While the request is written": WRITING,
    "After the request was read": AFTER,
    "Replies that are not HTTP": GARBAGE,
    "Lengths and encodings": LENGTHS,
    "Statuses": STATUSES,
    "Bodies": BODIES,
    "Records": RECORDS,
    "Refusals": REFUSED,
    "Throttling": THROTTLED,
    "Odd but sound": SOUND,
    "Kept connections": KEPT,
}
