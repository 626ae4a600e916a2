"""Record and check: one suite for the sandbox and for a service, which here is a sandbox that behaves otherwise."""

from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from smsotp_nb import _cli as cli
from smsotp_nb._sandbox import Rules, Sandbox, contract
from smsotp_nb._sandbox.choices import CHOICES
from smsotp_nb._sandbox.probes import PROBES, UNSEEN
from smsotp_nb.errors import UsageError
from smsotp_nb.settings import Settings

PHONE, KEY = "+14155550100", "a-key-of-nobody-4711"
TEMPLATE = ("pub_passcode_en", "code")


@pytest.fixture(scope="module")
def ours() -> contract.Record:
    return contract.of_sandbox()


@pytest.fixture
def service() -> Iterator[Sandbox]:
    with Sandbox(balance=50) as running:
        yield running


def record(box: Sandbox, *, cap: str = "10", part: str = "0.05", **options: Any) -> contract.Record:
    settings = Settings(box.url, KEY)
    return contract.of_service(settings, to=PHONE, cap=cap, part=part, template=TEMPLATE, **options)


def test_every_row_of_the_table_has_a_probe_or_a_reason() -> None:
    assert {choice.key for choice in CHOICES} == set(PROBES) | set(UNSEEN)
    assert not set(PROBES) & set(UNSEEN)


# What the table of choices says, as a caller sees it: not computed from the code that answers.
OBSERVED = {
    "key": "without one 104110, an unknown one accepted",
    "hmac": "without a secret an unsigned request accepted",
    "action": "104002",
    "json": "104002, 104002, 104002",
    "size": "104002",
    "values": "104002, 104002, 104002, 104002",
    "signature": "107122",
    "empty": "accepted, accepted",
    "extra": "accepted",
    "required": "104001, 104001, 104001",
    "invalid": "107111, 107111, 107111",
    "list": "107111",
    "repeated": "2 accepted",
    "recipients": "1001 numbers that are none 104002",
    "several": "107141",
    "join": "151 characters and the signature 1 parts, one more 2",
    "text": "160 characters beside a signature 1 parts",
    "templates": "an unknown one 107141",
    "template_data": "107143",
    "template_value": "107144",
    "parts": "1, 2, 1, 2, 3 parts for 160, 161, 70, 71, 306 units",
    "both_counts": "parts",
    "price": "parts x one rate",
    "custom_digits": "1 accepted, valid true",
    "single_use": "true, then false",
    "attempts": "after 4 wrong ones true, after 5 wrong ones false",
    "sends": "3 at once 1 accepted, 1 accepted, 1 accepted",
    "replace": "the first false, the second true",
    "intents": "crossed false, own true, true, true",
    "expiry": "half a second past its ttl false",
    "wrong": "an unknown one false",
}


def test_the_sandbox_does_what_its_table_says(ours: contract.Record) -> None:
    assert {one.key: one.said for one in ours.observations if one.said} == OBSERVED
    assert {one.key for one in ours.observations if one.why} == {"timestamp", "nonce"}


def test_signed_requests_are_asked_of_a_service_that_wants_them() -> None:
    signed = contract.of_sandbox(signed=True)
    assert signed.of("hmac").said == "with a secret an unsigned request 104201"
    assert signed.of("timestamp").said == "104202"
    assert signed.of("nonce").said == "first accepted, then 104201"


def test_a_service_like_the_sandbox_agrees_on_every_row(service: Sandbox, ours: contract.Record) -> None:
    rows = contract.compare(record(service), ours)
    assert [row.key for row in rows] == [choice.key for choice in CHOICES]
    assert contract.counts(rows) == {"agrees": len(OBSERVED), "not asked": 2, "cannot be seen": len(UNSEEN)}


DEVIATIONS: list[tuple[dict[str, Any], set[str]]] = [
    ({"single_use": False}, {"single_use"}),
    ({"both_counts": True}, {"both_counts"}),
    ({"attempts": 3}, {"attempts"}),
    ({"replace": False}, {"replace"}),
    ({"max_recipients": 2000}, {"recipients"}),
    ({"sends": 2}, {"sends"}),
]


@pytest.mark.parametrize(("rules", "expected"), DEVIATIONS, ids=[str(rules) for rules, _ in DEVIATIONS])
def test_a_service_that_does_otherwise_differs_on_that_row(
    ours: contract.Record, rules: dict[str, Any], expected: set[str]
) -> None:
    found = contract.of_sandbox(rules=Rules(**rules))
    differing = {row.key for row in contract.compare(found, ours) if row.finding == "differs"}
    assert expected <= differing
    assert differing <= expected | (
        {"attempts", "replace", "intents", "expiry", "single_use"} if "sends" in rules else set()
    )


# the cap

CAPS = ["0.04", "0.05", "0.2", "0.5"]


@pytest.mark.parametrize("cap", CAPS)
def test_the_cap_is_never_passed_and_what_is_left_out_is_named(service: Sandbox, cap: str) -> None:
    found = record(service, cap=cap)
    spent = Decimal(50) - service.balance
    assert spent <= Decimal(cap)
    assert Decimal(found.spent) == spent
    left_out = {one.key: one.why for one in found.observations if "past the cap" in one.why}
    assert "attempts" in left_out or cap == "0.5"
    assert found.of("wrong").said, "what is free is asked all the same"


def test_a_cap_below_one_part_sends_nothing(service: Sandbox) -> None:
    record(service, cap="0.01")
    assert len(service.inbox) == 0


def test_a_part_that_is_dearer_than_said_is_the_most_from_then_on() -> None:
    with Sandbox(balance=50) as dear:
        record(dear, cap="0.1", part="0.001")
        assert Decimal(50) - dear.balance <= Decimal("0.1")


def test_a_part_that_costs_nothing_is_refused(service: Sandbox) -> None:
    with pytest.raises(UsageError, match="part must be more than 0"):
        record(service, part="0")
    with pytest.raises(UsageError, match="phone of yours"):
        contract.of_service(Settings(service.url, KEY), to="nobody", cap=1, part="0.1")


# a service that breaks

BREAKS: list[tuple[Callable[[Sandbox], object], str]] = [
    (lambda box: box.fault("throttle"), "the service asked for a pause (429)"),
    (lambda box: box.fault("drop_after"), "no answer came"),
    (lambda box: box.close(), "no answer came"),
]


@pytest.mark.parametrize(("break_it", "why"), BREAKS, ids=["throttled", "dropped", "gone"])
def test_what_was_not_answered_was_not_asked(service: Sandbox, break_it: Callable[[Sandbox], object], why: str) -> None:
    break_it(service)
    found = record(service, cap="0.3")
    rows = contract.compare(found, contract.Record("intl", "current", False, ()))
    assert {row.finding for row in rows} <= {"not asked", "cannot be seen"}
    assert why in {row.why for row in rows}


def test_a_request_without_an_answer_counts_as_paid(service: Sandbox) -> None:
    service.fault("drop_after", action="sms.message.send")
    found = record(service, cap="1", part="0.1")
    assert Decimal(50) - service.balance <= Decimal(found.spent) <= 1


@pytest.mark.parametrize("kind", ["html", "bad_json", "no_data", "fewer"])
def test_a_reply_that_is_none_is_a_difference_and_never_a_crash(
    service: Sandbox, ours: contract.Record, kind: str
) -> None:
    service.fault(kind)
    findings = contract.counts(contract.compare(record(service), ours))
    assert findings.get("differs", 0) > 0


# record, check


def test_a_record_is_kept_without_key_address_or_number_and_checked_later(
    service: Sandbox, ours: contract.Record, tmp_path: Path
) -> None:
    found = record(service)
    found.save(tmp_path / "service.json")
    written = (tmp_path / "service.json").read_text(encoding="utf-8")
    assert not any(secret in written for secret in (KEY, service.url, PHONE[1:]))
    assert contract.Record.load(tmp_path / "service.json") == found
    assert contract.compare(contract.Record.load(tmp_path / "service.json"), ours) == contract.compare(found, ours)


def record_of(**changed: Any) -> str:
    """Return a record as JSON, with other values."""
    sound = {"version": 1, "variant": "intl", "form": "current", "signed": False, "observations": [], "spent": "0"}
    return json.dumps(sound | {"requests": 1} | changed)


@pytest.mark.parametrize(
    "text",
    [
        "", "{}", "[]", "[" * 100_000, '{"version": 0, "observations": []}', '{"version": 1}',
        record_of(spent="\x1b[2J"), record_of(spent=None), record_of(requests="many"), record_of(variant="\x1b[2J"),
        record_of(form=[]), record_of(signed="no"), record_of(observations=[{"key": "\x1b[2J"}]),
        record_of(observations=[{"key": "key", "said": 5}]), record_of(observations=[{"key": [], "said": "a"}]),
    ],
)  # fmt: skip
def test_a_file_that_is_no_record_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "service.json").write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match="is not a record"):
        contract.Record.load(tmp_path / "service.json")


def test_a_record_is_written_through_no_link(tmp_path: Path, ours: contract.Record) -> None:
    (tmp_path / "theirs").write_text("theirs")
    (tmp_path / "service.json").symlink_to(tmp_path / "theirs")
    with pytest.raises(UsageError, match="is a link"):
        ours.save(tmp_path / "service.json")
    assert (tmp_path / "theirs").read_text() == "theirs"


HOSTILE = "10\x1b[2J\x00\u202e\u2028|\n"
AS_SHOWN = r"10\u001b[2J\u0000\u202e\u2028"


class Hostile(http.server.BaseHTTPRequestHandler):
    """A service whose codes would move a cursor, turn a line and add a column to a table."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        body = json.dumps({"code": HOSTILE, "message": HOSTILE}).encode()
        self.send_response(400)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def hostile() -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hostile) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_codes_of_a_service_move_no_cursor_and_no_column(
    hostile: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither in the table nor in the lines beside it; nor when a record is checked later, whoever wrote it."""
    monkeypatch.setenv("SMSOTP_BASE_URL", hostile)
    monkeypatch.setenv("SMSOTP_ACCESS_KEY_ID", KEY)
    file = tmp_path / "service.json"
    live = ["contract", "--to", PHONE, "--cap", "20", "--part", "0.05", "--template", "t:v", "--record", str(file)]
    assert cli.main(live) == 1
    shown = capsys.readouterr()
    file.write_text(record_of(observations=[{"key": "key", "said": HOSTILE * 1_000}, {"key": "list", "why": HOSTILE}]))
    assert cli.main(["contract", "--against", str(file)]) == 1
    again = capsys.readouterr().out
    for text in (shown.out, shown.err, again):
        assert AS_SHOWN in text
        assert not [sign for sign in text if sign != "\n" and not sign.isprintable()]
        assert max(map(len, text.splitlines())) < 1_000
    for line in (shown.out + again).splitlines():
        assert not line.startswith("|") or line.count("|") == 5, line


def test_the_command_records_and_checks(
    service: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SMSOTP_BASE_URL", service.url)
    monkeypatch.setenv("SMSOTP_ACCESS_KEY_ID", KEY)
    file = str(tmp_path / "service.json")
    live = ["contract", "--to", PHONE, "--cap", "0.2", "--part", "0.05", "--record", file]
    assert cli.main(live) == 0
    first = capsys.readouterr()
    assert "| a passcode that was verified |" in first.out
    assert KEY not in first.out + first.err
    requests = len(service.requests)
    assert cli.main(["contract", "--against", file]) == 0
    assert capsys.readouterr().out == first.out
    assert len(service.requests) == requests, "a check of a record sends nothing"
    assert cli.main(["contract", "--to", PHONE]) == 2
    assert "--cap and --part are missing" in capsys.readouterr().err


def test_the_command_ends_with_1_where_the_service_differs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    contract.of_sandbox(rules=Rules(single_use=False)).save(tmp_path / "service.json")
    assert cli.main(["contract", "--against", str(tmp_path / "service.json")]) == 1
    assert "| true, then false | true, then true | differs |" in capsys.readouterr().out
