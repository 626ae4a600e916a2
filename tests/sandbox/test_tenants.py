"""Tenants: parallel test jobs share one sandbox and see nothing of each other."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

import smsotp_nb as sms
from smsotp_nb._sandbox import Rules, Sandbox, journal, tenants
from smsotp_nb.errors import NotAsExpected, SmsOtpError, UsageError

US, FR = "+12025550123", "+33199001234"


@pytest.fixture
def box() -> Iterator[Sandbox]:
    with Sandbox(tenants=True, balance=10) as running:
        yield running


def call(
    box: Sandbox, method: str, path: str, fields: Any = None, headers: dict[str, str] | None = None
) -> tuple[int, Any]:
    with closing(HTTPConnection("127.0.0.1", int(box.url.rpartition(":")[2]), timeout=30)) as connection:
        body = None if fields is None else json.dumps(fields)
        sent = {"Content-Type": "application/json"} if body else {}
        connection.request(method, path, body, sent | (headers or {}))
        reply = connection.getresponse()
        return reply.status, json.loads(reply.read())


def send(box: Sandbox, key: str, text: str = "Hi") -> str:
    path = f"/?action=sms.message.send&accessKeyId={key}"
    return str(call(box, "POST", path, {"to": US, "text": text})[1]["code"])


# apart


def test_every_access_key_has_an_inbox_and_a_balance_of_its_own(box: Sandbox) -> None:
    for key, text in (("one", "first"), ("two", "second"), ("one", "third")):
        assert send(box, key, text) == "0"
    one, two = box.tenant("one"), box.tenant("two")
    assert one.inbox["text"].tolist() == ["first", "third"]
    assert two.inbox["text"].tolist() == ["second"]
    assert (str(one.balance), str(two.balance)) == ("9.985000", "9.992500")
    assert one.requests["n"].tolist() == [1, 2]
    assert one.id != two.id


def test_clock_faults_and_passcodes_are_apart_too(box: Sandbox) -> None:
    one, two = box.tenant("one"), box.tenant("two")
    for tenant in (one, two):
        tenant.client().send_otp(US, code="123456", ttl=60)
    one.advance(61)
    two.fault("error_before", action="sms.message.send")
    assert not one.client().verify_otp(US, "123456").valid
    assert two.client().verify_otp(US, "123456").valid
    assert send(box, "one") == "0"
    assert one.faults == ()
    two.clear_faults()
    assert send(box, "two") == "0"


def test_a_passcode_of_one_tenant_is_none_of_another(box: Sandbox) -> None:
    box.tenant("one").client().send_otp(US, code="123456")
    assert not box.tenant("two").client().verify_otp(US, "123456").valid
    assert box.tenant("two").code(US) is None


def test_an_expectation_is_about_one_tenant(box: Sandbox) -> None:
    send(box, "one", "Welcome")
    box.tenant("one").expect(text="Welcome", times=1)
    box.tenant("two").expect(text="Welcome", times=0)
    with pytest.raises(NotAsExpected, match="found none among 0 messages"):
        box.tenant("two").expect(text="Welcome")


def test_waiting_for_one_tenant_is_not_disturbed_by_another(box: Sandbox) -> None:
    send(box, "one")
    assert call(box, "GET", "/inbox.json?tenant=two&wait=0.2")[1]["messages"] == []


def test_a_secret_is_one_tenants(box: Sandbox) -> None:
    signed = box.tenant("signed", rules=Rules(secret="a-secret-of-nobody"))
    assert send(box, "signed") == "104201"
    assert signed.client().send_message(US, text="Hi").messages
    assert send(box, "other") == "0"


def test_options_are_one_tenants(box: Sandbox) -> None:
    cn = box.tenant("cn", variant="cn", balance="0.5", seed=7, label="the cn job")
    assert (cn.client().settings.variant, str(cn.balance)) == ("cn", "0.500000")
    assert call(box, "GET", "/sandbox.json?tenant=cn")[1]["currency"] == "CNY"
    strict = box.tenant("strict", rules=Rules(attempts=1, templates={"hello": "Hello {name}"}))
    strict.client().send_otp(US, code="123456")
    assert not strict.client().verify_otp(US, "000000").valid
    assert not strict.client().verify_otp(US, "123456").valid
    assert "hello" in call(box, "GET", "/sandbox.json?tenant=strict")[1]["templates"]


def test_two_tenants_of_one_seed_give_different_ids() -> None:
    with Sandbox(tenants=True, seed=1) as box:
        ids = {box.tenant(key).client().send_message(US, text="Hi").messages[0].id for key in ("one", "two")}
    with Sandbox(tenants=True, seed=1) as box:
        again = {box.tenant(key).client().send_message(US, text="Hi").messages[0].id for key in ("one", "two")}
    assert len(ids) == 2
    assert again == ids


def test_campaigns_of_two_tenants_are_two_campaigns(box: Sandbox, ledger: sms.Ledger, tmp_path: Path) -> None:
    people = sms.read_recipients(Path(__file__).parents[2] / "sample_data" / "recipients.csv").head(20)
    for key in ("one", "two"):
        tenant = box.tenant(key)
        plan = sms.plan(people, to="phone", region="country", campaign="sale", text="Hello")
        results = sms.send(plan, client=tenant.client(), ledger=ledger, progress=False)
        accepted = int((results["status"] == "accepted").sum())
        assert accepted > 0
        tenant.expect(text="Hello", times=accepted)


# asked for


def test_without_tenants_there_are_none() -> None:
    with Sandbox() as box:
        assert send(box, "one") == send(box, "two") == "0"
        assert len(box.inbox) == 2
        with pytest.raises(UsageError, match="this sandbox has no tenants"):
            box.tenant("one")
        assert call(box, "GET", "/inbox.json?tenant=one")[0] == 400


@pytest.mark.parametrize("path", ["/inbox.json", "/summary.json", "/balance.json", "/clock.json", "/faults.json"])
def test_an_address_without_a_tenant_says_what_to_add(box: Sandbox, path: str) -> None:
    status, answer = call(box, "GET", path)
    assert status == 400
    assert "add tenant=<access key>" in answer["error"]
    assert call(box, "GET", f"{path}?tenant=one")[0] == 200


def test_requests_without_a_key_are_nobodys_and_in_the_sandboxs_own_journal(box: Sandbox) -> None:
    assert send(box, "") == "104110"
    send(box, "one")
    assert box.requests["code"].tolist() == ["104110"]
    assert "an account for every access key" in repr(box)


def test_a_tenant_is_also_known_by_its_id_and_its_key_is_shown_nowhere(box: Sandbox) -> None:
    key = "a-key-of-nobody-4711"
    box.tenant(key, label="job 1")
    send(box, key)
    (told,) = call(box, "GET", "/tenants.json")[1]["tenants"]
    assert (told["label"], told["messages"], told["requests"]) == ("job 1", 1, 1)
    found = call(box, "GET", f"/inbox.json?tenant={told['id']}")[1]["messages"]
    assert len(found) == 1
    everything = [call(box, "GET", f"/{name}.json?tenant={told['id']}") for name in ("requests", "sandbox", "inbox")]
    assert key not in json.dumps([told, everything])
    assert key not in repr(box.tenant(key))


# life


def test_a_tenant_ends_with_its_block_and_begins_anew(box: Sandbox) -> None:
    for _ in range(2):
        with box.tenant("one", balance=3) as tenant:
            assert str(tenant.balance) == "3.000000"
            send(box, "one")
            assert len(tenant.inbox) == 1
    assert call(box, "GET", "/tenants.json")[1]["tenants"] == []


def test_a_tenant_that_was_there_before_outlives_whoever_reaches_it(box: Sandbox) -> None:
    send(box, "one")
    with box.tenant("one") as tenant:
        assert len(tenant.inbox) == 1
    assert len(box.tenant("one").inbox) == 1
    with pytest.raises(UsageError, match="there is a tenant with this access key"):
        box.tenant("one", balance=5)


def test_tenants_made_without_a_key_have_one_each(box: Sandbox) -> None:
    one, two = box.tenant(), box.tenant()
    assert one.access_key != two.access_key
    assert send(box, one.access_key) == "0"
    assert (len(one.inbox), len(two.inbox)) == (1, 0)


def test_a_tenant_outlives_the_end_of_its_sandbox_without_an_error() -> None:
    with Sandbox(tenants=True) as box:
        tenant = box.tenant("one")
    tenant.close()
    with pytest.raises(SmsOtpError):
        tenant.balance  # noqa: B018


def test_there_is_an_end_to_tenants(box: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tenants, "MOST", 2)
    assert [send(box, key) for key in ("one", "two", "three", "one")] == ["0", "0", "105300", "0"]
    assert box.requests["code"].tolist() == ["105300"]
    with pytest.raises(UsageError, match="tenants already"):
        box.tenant("four")
    assert call(box, "GET", "/inbox.json?tenant=four")[0] == 400
    call(box, "DELETE", "/tenants.json?tenant=one")
    assert send(box, "three") == "0"
    assert send(box, "k" * 300) == "105300"


def test_a_tenants_journal_has_a_tenth_of_the_room(box: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "MOST", 20)
    for _ in range(4):
        send(box, "one")
        send(box, "")
    assert box.tenant("one").requests["n"].tolist() == [3, 4]
    assert box.requests["n"].tolist() == [1, 2, 3, 4]


WRONG: list[dict[str, Any]] = [
    {},
    {"tenant": ""},
    {"tenant": 5},
    {"tenant": "\ud800"},
    {"tenant": "k" * 257},
    {"tenant": "x", "balance": "-1"},
    {"tenant": "x", "balance": [1]},
    {"tenant": "x", "variant": "us"},
    {"tenant": "x", "variant": ["intl"]},
    {"tenant": "x", "colour": "blue"},
    {"tenant": "x", "label": 5},
    {"tenant": "x", "secret": 5},
    {"tenant": "x", "secret": " "},
    {"tenant": "x", "rules": []},
    {"tenant": "x", "rules": {"attempts": 0}},
    {"tenant": "x", "rules": {"single_use": 1}},
    {"tenant": "x", "rules": {"secret": "s"}},
    {"tenant": "x", "rules": {"templates": "/etc/passwd"}},
    {"tenant": "x", "rules": {"templates": {"a": 5}}},
]


@pytest.mark.parametrize("fields", WRONG, ids=str)
def test_a_tenant_that_cannot_be_opened_is_400_and_leaves_nothing(box: Sandbox, fields: dict[str, Any]) -> None:
    assert call(box, "POST", "/tenants.json", fields)[0] == 400
    assert call(box, "GET", "/tenants.json")[1]["tenants"] == []


def test_refused_connections_are_for_all_so_no_tenant_may_ask_for_them(box: Sandbox) -> None:
    with pytest.raises(UsageError, match="refuse shuts the whole sandbox"):
        box.tenant("one").fault("refuse")


def test_a_page_of_another_address_opens_and_ends_no_tenant(box: Sandbox) -> None:
    for headers in ({"Origin": "https://evil.example"}, {"Host": "evil.example"}):
        assert call(box, "POST", "/tenants.json", {"tenant": "one"}, headers)[0] == 403
        assert call(box, "DELETE", "/tenants.json?tenant=one", None, headers)[0] == 403
    assert call(box, "POST", "/tenants.json", {"tenant": "one"}, {"Content-Type": "text/plain"})[0] == 400


def test_a_state_file_keeps_tenants_their_options_and_nothing_of_their_keys(tmp_path: Path) -> None:
    file, key = tmp_path / "box.sqlite", "a-key-of-nobody-4711"
    options: dict[str, Any] = {"state": file, "tenants": True, "seed": 1}
    with Sandbox(**options) as box:
        tenant = box.tenant(key, label="job", variant="cn", balance=7, rules=Rules(secret="abc-of-nobody", attempts=2))
        about = call(box, "GET", f"/sandbox.json?tenant={key}")[1]
        send(box, "two")
        assert tenant.requests.empty
    found = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert not any(key.encode() in path.read_bytes() or key in path.name for path in found)
    assert {stat.S_IMODE(path.stat().st_mode) for path in found} == {0o600}
    with Sandbox(**options) as box:
        assert call(box, "GET", f"/sandbox.json?tenant={key}")[1] == about
        assert send(box, key) == "104201", "the secret is kept"
        assert len(box.tenant("two").inbox) == 1
        call(box, "DELETE", "/tenants.json?tenant=two")
    with Sandbox(**options) as box:
        assert [told["label"] for told in call(box, "GET", "/tenants.json")[1]["tenants"]] == ["job"]


# in the fixture

SUITE = """
    import pytest
    import requests

    def send(box, text):
        address = f"{box.url}/?action=sms.message.send&accessKeyId={box.access_key}"
        return requests.post(address, json={"to": "+12025550123", "text": text}, timeout=10).json()["code"]

    @pytest.mark.parametrize("text", ["one", "two", "three"])
    def test_a_test_sees_only_its_own_messages(smsotp_sandbox, text):
        assert send(smsotp_sandbox, text) == "0"
        smsotp_sandbox.expect(times=1)
        smsotp_sandbox.expect(text=text, times=1)

    @pytest.mark.smsotp_sandbox(balance=0, faults="throttle next=1")
    def test_options_come_from_the_mark(smsotp_sandbox):
        assert [fault.kind for fault in smsotp_sandbox.faults] == ["throttle"]
        smsotp_sandbox.clear_faults()
        assert send(smsotp_sandbox, "x") == "105400"
"""


def test_parallel_runs_of_a_suite_share_one_sandbox(box: Sandbox, tmp_path: Path) -> None:
    (tmp_path / "test_app.py").write_text(textwrap.dedent(SUITE), encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--strict-markers", "-W", "error"]
    command += ["--smsotp-sandbox", box.url, "--rootdir", str(tmp_path), str(tmp_path)]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    root = Path(__file__).parents[2]
    runs = [subprocess.Popen(command, cwd=root, **pipes) for _ in range(2)]
    said = [run.communicate(timeout=110)[0] for run in runs]
    assert [run.returncode for run in runs] == [0, 0], "\n".join(said)
    assert all("4 passed" in text for text in said)
    assert call(box, "GET", "/tenants.json")[1]["tenants"] == [], "every test has ended its tenant"
