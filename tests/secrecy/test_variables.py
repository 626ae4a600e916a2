"""An error of any call shows no password, token or key: neither its text nor the variables of the frames it left."""

from __future__ import annotations

import sys
import traceback
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from support.canaries import hits

import smsotp_nb as sms

CANARY = "hunter2/canary@c04e"
ADDRESS = f"postgresql://anna:{CANARY}@127.0.0.1:9/db"
NUMBER = "+12025550187"
SPELT = {
    "as it is written": ADDRESS,
    "as another library writes it": ADDRESS.replace("postgresql:", "postgresql+psycopg:"),
    "misspelt": ADDRESS.replace("postgresql:", "postgresq:"),
    "another server": ADDRESS.replace("postgresql:", "mysql:"),
    "as settings": f"host=db user=anna password={CANARY}",
    "as the environment": f"PGPASSWORD={CANARY}",
    "in capitals": f"  POSTGRESQL://anna:{CANARY}@h/db",
}


def shown(error: BaseException) -> str:
    """Return an error and what `pytest -l` would show of it, but for the frames of this file."""
    told = traceback.TracebackException.from_exception(error, capture_locals=True)
    told.stack = traceback.StackSummary.from_list([frame for frame in told.stack if frame.filename != __file__])
    return f"{error}\n{''.join(told.format())}"


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    folder = tmp_path_factory.mktemp("variables")
    plan = sms.plan(pd.DataFrame({"phone": [NUMBER]}), "Hello", to="phone", campaign="autumn")
    with sms.Sandbox() as box, sms.Ledger(folder / "ledger.sqlite", create=True) as ledger:
        ended = sms.Sandbox(token=CANARY)
        ended.close()
        with box.client() as client:
            yield {"client": client, "plan": plan, "ledger": ledger, "box": box, "ended": ended, "folder": folder}


@pytest.mark.parametrize("address", SPELT.values(), ids=SPELT.keys())
def test_however_an_address_is_spelt_its_password_is_not_told(address: str, ground: dict[str, Any]) -> None:
    with pytest.raises(sms.errors.SmsOtpError) as caught:
        sms.Ledger(address)
    assert hits(shown(caught.value), CANARY) == []


@pytest.mark.parametrize("address", SPELT.values(), ids=SPELT.keys())
def test_nor_in_the_environment(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SMSOTP_LEDGER", address)
    with pytest.raises(sms.errors.SmsOtpError) as caught:
        sms.Ledger()
    assert hits(shown(caught.value), CANARY) == []


CALLS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "send": lambda it: sms.send(it["plan"], client=it["client"], ledger=ADDRESS),
    "preflight": lambda it: sms.preflight(it["plan"], client=it["client"], ledger=ADDRESS),
    "a test message": lambda it: sms.send_test(it["plan"], to=NUMBER, client=it["client"], ledger=ADDRESS),
    "a passcode": lambda it: sms.otp.send(NUMBER, client=it["client"], ledger=ADDRESS),
    "people": lambda it: sms.People(ADDRESS),
    "cost": lambda it: sms.cost.by_country(ADDRESS),
    "a form": lambda it: sms.widgets.OtpForm(it["client"], ledger=ADDRESS),
    "a presenter": lambda it: sms.widgets.OtpPresenter(it["client"], ledger=ADDRESS),
    "restored from": lambda it: sms.Ledger.restore(ADDRESS),
    "restored to": lambda it: sms.Ledger.restore(it["ledger"].path, ADDRESS),
    "a backup": lambda it: it["ledger"].backup(ADDRESS),
    "Parquet": lambda it: it["ledger"].to_parquet(ADDRESS),
    "an export": lambda it: sms.results.write(pd.DataFrame({"a": [1]}), f"{ADDRESS}.csv"),
    "a list": lambda it: sms.read_recipients(ADDRESS),
    "a sandbox elsewhere": lambda it: sms.Sandbox.at("http://127.0.0.1:9", token=CANARY),
    "a token": lambda it: sms.Sandbox(token=CANARY, variant="xx"),
    "a sandbox that ended": lambda it: it["ended"].inbox,
    "its balance": lambda it: it["ended"].balance,
    "a misspelt key": lambda it: sms.Settings.from_env(
        {"SMSOTP_BASE_URL": "http://127.0.0.1:9", "SMSOTP_ACCESS_KEY_ID": "x"}, acess_key_secret=CANARY
    ),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())
def test_no_call_that_is_refused_shows_what_it_was_given(
    call: Callable[[dict[str, Any]], Any], ground: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(sms.errors.SmsOtpError) as caught:
        call(ground)
    assert hits(shown(caught.value), CANARY) == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, RuntimeError])
def test_a_keyring_that_is_struck_down_shows_no_key(
    error: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    def get_password(service: str, name: str) -> str:
        password = CANARY
        raise error(len(password))

    backend = types.ModuleType("keyring")
    backend.get_password = get_password  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "keyring", backend)
    with pytest.raises(sms.errors.UsageError if error is RuntimeError else error) as caught:
        sms.Settings.from_env({"SMSOTP_BASE_URL": "http://127.0.0.1:9"}, keyring="sms")
    told = traceback.TracebackException.from_exception(caught.value, capture_locals=True)
    assert [frame.name for frame in told.stack if frame.name == "get_password"] == []


def test_the_frames_of_a_callback_keep_their_variables(ground: dict[str, Any]) -> None:
    """They are the caller's own, and are needed to find what is wrong with it."""

    def progress(update: object) -> None:
        wanted = "mine"
        raise RuntimeError(wanted)

    with pytest.raises(RuntimeError) as caught:
        sms.send(ground["plan"], client=ground["client"], ledger=ground["ledger"], progress=progress)
    frames = {frame.f_code.co_name: frame.f_locals for frame, _ in traceback.walk_tb(caught.value.__traceback__)}
    assert frames["progress"]["wanted"] == "mine"
