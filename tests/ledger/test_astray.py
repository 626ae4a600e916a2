"""What leads a record astray from outside: a clock that is behind, a name typed otherwise, a cell that is run again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pandas as pd
import psycopg
import pytest
import responses
from support.servers import Server

import smsotp_nb as sms

ADDRESS = "https://sms.test"
NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)


def people(count: int, prefix: str = "+1202555") -> pd.DataFrame:
    return pd.DataFrame({"phone": [f"{prefix}{100 + number:04d}" for number in range(count)]})


@pytest.fixture
def live() -> Iterator[sms.Client]:
    with sms.Client(sms.Settings(base_url=ADDRESS, access_key_id="key")) as client:
        yield client


def reply_with(numbers: list[str]) -> str:
    messages = [
        {"id": f"id-{number}", "to": number, "iso": "AR", "cc": "54", "parts": 1, "price": "0.010000"}
        for number in numbers
    ]
    total = f"{0.01 * len(numbers):.6f}"
    counts = {"recipients": len(numbers), "messageCount": len(numbers)}
    data = {**counts, "currency": "USD", "totalAmount": total, "messages": messages}
    return json.dumps({"code": "0", "message": "Success", "data": data})


# -- the clock ---------------------------------------------------------------------------------------------------------


def test_a_cap_holds_although_the_clock_was_a_day_behind(tmp_path: Path) -> None:
    """What a slow clock sent is not a day old when it is right again, and the slow clock is told of."""
    moment = NOW
    with sms.Ledger(tmp_path / "l.sqlite", create=True, now=lambda: moment) as ledger, sms.Sandbox() as box:

        def problems(campaign: str, rows: pd.DataFrame) -> list[str]:
            policy = sms.Policy(caps=[(1, "12h")])
            made = sms.plan(rows, f"About {campaign}", campaign=campaign, to="phone", policy=policy, ledger=ledger)
            return sms.send(made, box, progress=False)["problem"].dropna().tolist()

        assert problems("known", people(2, "+1303200")) == []
        moment = NOW - timedelta(days=1)
        with pytest.warns(UserWarning, match="24 hours behind"):
            assert problems("slow", people(2)) == []
        moment = NOW + timedelta(minutes=1)
        with pytest.warns(sms.errors.CampaignIncomplete):
            assert problems("right", people(2)) == ["CAPPED", "CAPPED"]
        assert box.inbox["to"].is_unique


# -- names -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("recorded", "typed"),
    [
        ("summer-sale", "summer\u2012sale"),
        ("summer-sale", "Summer \u2212sale".replace(" ", "")),
        ("\u2600 week", "\u2600\ufe0f week"),
        ("black friday", "black\u00a0\u200bFriday"),
        ("\uff21\uff22", "ab"),
    ],
)
def test_a_name_that_looks_alike_is_no_new_campaign(tmp_path: Path, recorded: str, typed: str) -> None:
    with sms.Ledger(tmp_path / "l.sqlite", create=True) as ledger, sms.Sandbox() as box:
        sms.send(sms.plan(people(1), "Doors open.", campaign=recorded, to="phone", ledger=ledger), box, progress=False)
        other = sms.plan(people(1), "Other words.", campaign=typed, to="phone", ledger=ledger)
        with pytest.raises(sms.errors.SmsOtpError, match="differs only in spelling"):
            sms.send(other, box, progress=False)
        assert len(box.inbox) == 1


# -- decisions that are run again --------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::smsotp_nb.errors.SmsOtpWarning")
def test_run_all_settles_a_doubt_once(tmp_path: Path, live: sms.Client) -> None:
    """The cell that finds every doubt not accepted sends one message more, and not one with each Run All."""
    with sms.Ledger(tmp_path / "l.sqlite", create=True) as ledger, responses.RequestsMock() as service:
        service.post(f"{ADDRESS}/", body=reply_with(["+13032000100"]))
        known = sms.plan(people(1, "+1303200"), "Known", campaign="known", to="phone", ledger=ledger)
        sms.send(known, live, progress=False)
        service.replace("POST", f"{ADDRESS}/", status=502)
        made = sms.plan(people(2), "Doors open.", campaign="doors", to="phone", ledger=ledger)
        sms.send(made, live, progress=False)
        record = ledger.record("doors")
        assert record.settle(record.in_doubt, accepted=False) == 2
        sms.send(made, live, progress=False)
        with pytest.raises(sms.errors.UsageError, match=r"2 of 2 rows .* pass again=True"):
            record.settle(record.in_doubt, accepted=False)
        assert record.counts["in_doubt"] == 2
        assert record.settle(record.in_doubt, accepted=False, again=True) == 2


# -- replies -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "form"), [("+541123456701", "+549"), ("+525512345678", "+521"), ("+5491123456701", "+54")]
)
def test_a_reply_that_spells_a_number_in_its_other_form_is_its_reply(live: sms.Client, asked: str, form: str) -> None:
    begins = "+549" if asked.startswith("+549") else asked[:3]
    spelled = form + asked.removeprefix(begins)
    with responses.RequestsMock() as service:
        service.post(f"{ADDRESS}/", body=reply_with([spelled, "+12025550100"]))
        reply = live.send_message([asked, "+12025550100"], text="Hola")
    assert {record.to for record in reply.messages} == {asked, "+12025550100"}
    assert reply.missing == reply.unexpected == ()


@pytest.mark.filterwarnings("ignore::smsotp_nb.errors.SmsOtpWarning")
def test_a_reply_that_may_be_of_two_numbers_is_of_none(live: sms.Client) -> None:
    """Both forms were asked: a record in a third spelling, or a second one of the first, belongs to nobody else."""
    both = ["+541123456701", "+5491123456701"]
    with responses.RequestsMock() as service:
        service.post(f"{ADDRESS}/", body=reply_with([both[0], both[0]]))
        reply = live.send_message(both, text="Hola")
    assert [record.to for record in reply.messages] == both[:1]
    assert reply.missing == (both[1],)


# -- proxies -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "proxy",
    [
        "http://proxy.example:port",
        "http://proxy.example:99999",
        "http://proxy.example:0",
        "htp://proxy.example:3128",
        "http:/proxy.example:3128",
        "socks5://proxy.example:1080",
        "http://[::1:3128",
    ],
)
def test_a_mistyped_proxy_is_refused_before_anything_is_claimed(monkeypatch: pytest.MonkeyPatch, proxy: str) -> None:
    for name in ("https_proxy", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HTTPS_PROXY", proxy.replace("//", "//ann:hunter2@"))
    with pytest.raises(sms.errors.UsageError, match="HTTPS_PROXY") as caught:
        sms.Client(sms.Settings(base_url=ADDRESS, access_key_id="key", trust_env=True))
    assert "hunter2" not in str(caught.value)


def test_a_bundle_that_holds_no_certificate_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bundle.pem").write_text("no certificate")
    settings = sms.Settings(base_url=ADDRESS, access_key_id="key", ca_bundle=str(tmp_path / "bundle.pem"))
    with pytest.raises(sms.errors.UsageError, match="bundle of certificates"):
        sms.Client(settings)


# -- servers -----------------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::smsotp_nb.errors.SmsOtpWarning")
@pytest.mark.parametrize("isolation", ["repeatable read", "serializable"])
def test_nobody_has_the_same_words_twice_whatever_isolation_a_role_has(server: Server, isolation: str) -> None:
    """Three campaigns with the same words at once, on a server whose role asks for snapshots."""
    from concurrent.futures import ThreadPoolExecutor

    address = server.database()
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(f"ALTER ROLE postgres SET default_transaction_isolation = '{isolation}'")  # type: ignore[arg-type]
    try:
        sms.Ledger(address, create=True).close()
        with sms.Sandbox() as box:

            def send(number: int) -> Any:
                requests = sms.RequestOptions(chunk_size=1 + number, threads=3)
                rows = people(40).sample(frac=1, random_state=number)
                made = sms.plan(
                    rows, "Doors open.", campaign=f"c{number}", to="phone", requests=requests, ledger=address
                )
                return sms.send(made, box, progress=False)

            with ThreadPoolExecutor(3) as threads:
                list(threads.map(send, range(3)))
            assert box.inbox["to"].is_unique
            assert len(box.inbox) == 40
    finally:
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute("ALTER ROLE postgres RESET default_transaction_isolation")


# -- damage ------------------------------------------------------------------------------------------------------------


def test_a_backup_is_advised_where_the_file_itself_is_damaged(tmp_path: Path) -> None:
    """A value that this package did not expect is no damage, see `test_damage`."""
    path = tmp_path / "l.sqlite"
    with sms.Ledger(path, create=True) as ledger, sms.Sandbox() as box:
        sms.send(sms.plan(people(300), "Doors open.", campaign="doors", to="phone", ledger=ledger), box, progress=False)
    damaged = bytearray(path.read_bytes())
    damaged[4096:] = b"\xa5" * (len(damaged) - 4096)
    path.write_bytes(damaged)
    with pytest.raises(sms.errors.LedgerError, match="Restore a backup"):
        _ = sms.Ledger(path).record("doors").results
