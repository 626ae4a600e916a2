"""Numbers in errors: an error's text and its plain traceback mask them, and so do the variables of our frames.

Frames are the data: a DataFrame or a column shows its numbers wherever it is shown, the variables of a frame included.
"""

from __future__ import annotations

import os
import pickle
import tempfile
import traceback
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from faults.acts import after_reading, body, throttle
from faults.server import Act, BreakingServer, Peer, Script
from support.canaries import hits
from support.clients import RetryPolicy
from support.tracebacks import frames

import smsotp_nb as sms
from smsotp_nb import Client, Ledger, Sandbox, Settings
from smsotp_nb._calling.tracebacks import without_variables
from smsotp_nb._ledger.people import consents
from smsotp_nb._ledger.reading import frames as reading
from smsotp_nb._ledger.rows import columns, runners
from smsotp_nb._showing.text import without_passwords

ANN, BEN = "+12025550187", "+14155550143"
PEOPLE = pd.DataFrame({"phone": [ANN, BEN], "name": ["Ann", "Ben"]})
ODD_PEOPLE = pd.DataFrame({"phone": [ANN, BEN, f"{BEN}99999"]})
ACTS: dict[str, Act] = {
    "refused": body(f'{{"code":"107111","message":"{ANN} and {BEN[1:]}"}}'.encode(), 400),
    "in doubt": after_reading(Peer.fin),
    "stopped": throttle(),
}


class Ground:
    """A sandbox, a ledger with a finished campaign, and clients whose requests end badly."""

    def __init__(self, folder: Path, box: Sandbox, ledger: Ledger, broken: dict[str, Client]) -> None:
        self.folder, self.client, self.ledger, self.broken = folder, box.client(), ledger, broken
        self.results = sms.send(self.plan("done"), client=self.client, ledger=ledger, progress=False)
        self.campaign = ledger.record("done")

    def plan(self, campaign: str = "other", **changed: Any) -> sms.Plan:
        return sms.plan(PEOPLE, **{"message": "Hello {name}", "to": "phone", "campaign": campaign, **changed})

    def send(self, plan: Any, **guards: Any) -> pd.DataFrame:
        return sms.send(plan, client=self.client, ledger=self.ledger, progress=False, **guards)


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    def stop(seconds: float) -> None:
        raise KeyboardInterrupt

    folder = tmp_path_factory.mktemp("numbers")
    servers = {name: BreakingServer(Script((act,))) for name, act in ACTS.items()}
    broken = {
        name: Client(Settings(f"http://127.0.0.1:{server.port}", "key"), sleep=stop) for name, server in servers.items()
    }
    broken["not sent"] = Client(Settings("http://127.0.0.1:9", "key"), retry=RetryPolicy(attempts=1))
    with Sandbox() as box, Ledger(folder / "ledger.sqlite", create=True) as ledger:
        yield Ground(folder, box, ledger, broken)
    for server in servers.values():
        server.close()


Door = Callable[[Ground], object]


def on_a_full_disk(on: Ground, when: str, **guards: Any) -> object:
    """Send by a ledger that takes no more of something."""
    with (
        tempfile.TemporaryDirectory(dir=on.folder) as folder,
        Ledger(Path(folder) / "ledger.sqlite", create=True) as ledger,
    ):
        with ledger._store.writing() as connection:
            connection.execute(f"CREATE TRIGGER full BEFORE {when} BEGIN SELECT RAISE(ABORT, 'disk is full'); END")
        with pytest.raises(sms.errors.LedgerError, match="disk is full") as caught:
            sms.send(on.plan("full", message="Hello"), client=on.client, ledger=ledger, progress=False, **guards)
        raise caught.value


ODD = pd.DataFrame({"a": [f"write to {ANN}"], "b": [f"or to {BEN} and {ANN}"]})
# Their frames hold numbers in DataFrames and columns at most.
MASKED: dict[str, Door] = {
    "plan, column": lambda on: on.plan(to="fone"),
    "plan, region": lambda on: on.plan(region="land"),
    "plan, placeholder": lambda on: on.plan(message="{nme}"),
    "plan, suppress": lambda on: on.plan(exclude=ODD),
    "plan, rates": lambda on: on.plan(rates=5),
    "plan, keep": lambda on: on.plan(keep=["city"]),
    "plan, exclude": lambda on: on.plan(exclude=5),
    "send, no plan": lambda on: on.send(PEOPLE),
    "send, changed": lambda on: on.send(on.plan("done", message="Other")),
    "send, no rate": lambda on: on.send(on.plan(), limits=sms.Limits(budget={"USD": 1})),
    "send, budget": lambda on: on.send(on.plan(), limits=sms.Limits(budget=5)),
    "preflight": lambda on: sms.preflight(on.plan(), client=on.client, ledger=on.ledger, limits=sms.Limits(budget=5)),
    "campaign": lambda on: on.ledger.record("none"),
    "export": lambda on: on.campaign.export("/nowhere/x.csv"),
    "withdraw, stranger": lambda on: on.campaign.withdraw([ANN]),
    "withdraw, frame": lambda on: on.campaign.withdraw(PEOPLE),
    "revise, nothing recorded": lambda on: sms.revise(on.plan("none"), on.client, reason="typo", ledger=on.ledger),
    "revise, no reason": lambda on: sms.revise(on.plan("done"), on.client, reason=5, ledger=on.ledger),
    "opt out": lambda on: sms.People(on.ledger).opt_out([ANN, "nobody"], source="phone call"),
    "opt out, time": lambda on: sms.People(on.ledger).opt_out([ANN], source="phone call", at="soon"),
    "import": lambda on: sms.People(on.ledger).import_optouts(ODD_PEOPLE, column="phone", source="provider"),
    "history": lambda on: sms.People(on.ledger).history(f"{ANN}99999"),
    "forget": lambda on: sms.People(on.ledger).forget([ANN, f"{BEN}99999"]),
    "export person": lambda on: sms.People(on.ledger).export(ANN, "/nowhere/x.json"),
    "settle, frame": lambda on: on.campaign.settle(PEOPLE, accepted=True),
    "retry, frame": lambda on: on.campaign.retry(PEOPLE),
    "results, folder": lambda on: sms.results.write(on.results, "/nowhere/x.csv"),
    "results, ending": lambda on: sms.results.write(on.results, on.folder / "x.zip"),
    "cost, column": lambda on: sms.cost.by(on.results, ["city"]),
    "cost, no results": lambda on: sms.cost.by_country(PEOPLE),
    "report": lambda on: sms.charts.report(on.results, "/nowhere/x.html"),
    "phones report": lambda on: sms.phones.report(PEOPLE),
    "normalize, frame": lambda on: sms.phones.normalize(PEOPLE),
    "normalize, repair": lambda on: sms.phones.normalize(PEOPLE["phone"], numbers=sms.NumberOptions(repair=["none"])),
    "verdict, frame": lambda on: sms.phones.parse(PEOPLE),
    "accessor, column": lambda on: PEOPLE.smsotp.normalize("fone"),
    "accessor, masked": lambda on: PEOPLE.smsotp.masked("fone"),
    "accessor, plan": lambda on: PEOPLE.smsotp.plan(message="Hello", to="fone", campaign="other"),
    "ledger, rows": lambda on: on_a_full_disk(on, "INSERT ON recipient"),
    "ledger, chunks": lambda on: on_a_full_disk(on, "INSERT ON chunk"),
    "ledger, destinations": lambda on: on_a_full_disk(on, "INSERT ON destination"),
    "ledger, intents": lambda on: on_a_full_disk(on, "INSERT ON attempt"),
    "ledger, intent of a chunk": lambda on: on_a_full_disk(on, "UPDATE ON chunk WHEN NEW.state=1"),
    "ledger, intent of rows": lambda on: on_a_full_disk(
        on, "UPDATE ON recipient WHEN NEW.own_state=1", limits=sms.Limits(first=1)
    ),
    "ledger, answer": lambda on: on_a_full_disk(on, "UPDATE ON attempt WHEN NEW.outcome='accepted'"),
    "ledger, answer of a chunk": lambda on: on_a_full_disk(on, "UPDATE ON chunk WHEN NEW.state=2"),
    "ledger, answers of rows": lambda on: on_a_full_disk(
        on, "UPDATE ON recipient WHEN NEW.own_state=2", limits=sms.Limits(first=1)
    ),
    "ledger, billing": lambda on: on_a_full_disk(on, "INSERT ON billing"),
    "ledger, country": lambda on: on_a_full_disk(on, "INSERT ON country"),
    "cleaner": lambda on: sms.widgets.PhoneCleaner(PEOPLE, phone="fone"),
    "normalize, region": lambda on: sms.phones.normalize([ANN, BEN], default_region="ZZ"),
    "explain": lambda on: sms.phones.explain(ANN, default_region="ZZ"),
    "find columns": lambda on: sms.phones.find_columns(PEOPLE, default_region="ZZ"),
    "settle, list": lambda on: on.campaign.settle([ANN], accepted=True),
    "settle, rows": lambda on: on.campaign.settle(on.results, accepted=True),
    "retry, list": lambda on: on.campaign.retry([ANN, BEN]),
    "message, wrong": lambda on: on.client.send_message([ANN, BEN, BEN], text="Hello"),
    "passcode, wrong": lambda on: on.client.send_otp(ANN, digits=99),
    "check, wrong": lambda on: on.client.verify_otp(ANN, "1"),
    "challenge, wrong": lambda on: sms.otp.send(ANN, client=on.client, digits=99),
    "challenge, list": lambda on: sms.otp.send([ANN, BEN], client=on.client),  # type: ignore[arg-type]
}
# Their frames hold numbers as text or in lists; their words and their plain tracebacks do not.
WORDS: dict[str, Door] = {
    "normalize, text": lambda on: sms.phones.normalize(ANN),
}
CALLS: dict[str, Callable[[Client], object]] = {
    "message": lambda client: client.send_message([ANN, BEN], text="Hello"),
    "passcode": lambda client: client.send_otp(ANN),
    "check": lambda client: client.verify_otp(ANN, "123456"),
    "challenge": lambda client: sms.otp.send(ANN, client=client),
}


def raised_by(door: Callable[[], object]) -> BaseException:
    with pytest.raises((sms.errors.SmsOtpError, KeyboardInterrupt)) as caught:
        door()
    return caught.value


def in_words(error: BaseException) -> str | bytes:
    """Return what an error says of itself: its texts, its facts, its pickle, and its traceback in plain mode."""
    plain = traceback.format_exception(type(error), error, error.__traceback__)
    return f"{error} {error!r} {vars(error)} {''.join(plain)}".encode() + pickle.dumps(error)


def variables(error: BaseException) -> list[str]:
    """Return each variable of our frames that shows a number, DataFrames and columns left out."""
    found = []
    for frame in frames(error):
        for name, value in frame.f_locals.items():
            if not isinstance(value, pd.DataFrame | pd.Series) and hits(repr(value), ANN, BEN):
                found.append(f"{frame.f_globals['__name__']}.{frame.f_code.co_qualname}: {name}")
    return found


@pytest.mark.parametrize("door", [*MASKED.values(), *WORDS.values()], ids=[*MASKED, *WORDS])
def test_a_refused_call_says_no_number(door: Door, ground: Ground) -> None:
    """Neither the words nor the plain traceback, whose lines are ours and not the caller's."""
    assert hits(in_words(raised_by(lambda: door(ground))), ANN, BEN) == []


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("end", [*ACTS, "not sent"])
def test_a_request_that_ends_badly_says_no_number(end: str, call: Callable[[Client], object], ground: Ground) -> None:
    """Also when the service's own message quotes them."""
    assert hits(in_words(raised_by(lambda: call(ground.broken[end]))), ANN, BEN) == []


@pytest.mark.parametrize("door", MASKED.values(), ids=MASKED)
def test_the_variables_of_our_frames_mask_numbers(door: Door, ground: Ground) -> None:
    """What a verbose traceback prints of them, but for the data itself."""
    assert variables(raised_by(lambda: door(ground))) == []


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("end", [*ACTS, "not sent"])
def test_the_variables_of_a_request_that_ends_badly_mask_numbers(
    end: str, call: Callable[[Client], object], ground: Ground
) -> None:
    """Of the public calls down to the connection."""
    assert variables(raised_by(lambda: call(ground.broken[end]))) == []


def stop(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


INTERRUPTED: dict[str, tuple[Any, str, Door]] = {
    "opt out": (runners, "note_decision", lambda on: sms.People(on.ledger).opt_out([ANN, BEN], source="phone call")),
    "import": (
        runners,
        "note_decision",
        lambda on: sms.People(on.ledger).import_optouts(PEOPLE, column="phone", source="provider"),
    ),
    "forget": (runners, "note_decision", lambda on: sms.People(on.ledger).forget([ANN, BEN])),
    "is opted out": (consents, "keys", lambda on: sms.People(on.ledger).is_opted_out(ANN)),
    "history": (columns, "times", lambda on: sms.People(on.ledger).history(ANN)),
    "register": (columns, "times", lambda on: sms.People(on.ledger).register),
    "card of the register": (columns, "times", lambda on: sms.People(on.ledger).card()),
    "frame of a campaign": (reading, "times", lambda on: on.campaign.results),
    "rows in doubt": (columns, "times", lambda on: on.campaign.in_doubt),
    "export person": (consents, "contacted", lambda on: sms.People(on.ledger).export(ANN, on.folder / "a.json")),
    "export person, file": (os, "fsync", lambda on: sms.People(on.ledger).export(ANN, on.folder / "b.json")),
}  # fmt: skip


@pytest.mark.parametrize(("place", "name", "door"), INTERRUPTED.values(), ids=INTERRUPTED)
def test_a_ctrl_c_shows_no_number_of_the_register_either(
    place: Any, name: str, door: Door, ground: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(place, name, stop)
    error = raised_by(lambda: door(ground))
    assert isinstance(error, KeyboardInterrupt)
    assert variables(error) == []


def test_a_number_in_a_variable_would_be_found() -> None:
    """A frame of the package with numbers in a list and in a column: the list is reported, and a fact of the error."""
    namespace: dict[str, Any] = {"__name__": "smsotp_nb.planted", "UsageError": sms.errors.UsageError}
    lines = ("error = UsageError('wrong')", "error.number = numbers[0]", "raise error")
    exec("\n    ".join(("def planted(numbers, column):", *lines)), namespace)
    error = raised_by(lambda: namespace["planted"]([ANN], PEOPLE["phone"]))
    assert variables(error) == ["smsotp_nb.planted.planted: numbers"]
    assert hits(in_words(error), ANN, BEN) == [ANN]


CANARY = "hunter2/canary@c04e"


def test_errors_behind_an_error_are_cleared_too_even_in_a_circle() -> None:
    def broken(key: str) -> None:
        types.new_class("Made", (), {}, lambda names: names.update(key=key) or 1 / 0)

    first, second = ValueError(), ValueError()
    try:
        broken(CANARY)
    except ZeroDivisionError as error:
        first.__cause__, second.__context__, error.__context__ = second, error, first
    without_variables(first)
    frames = [frame for frame, _ in traceback.walk_tb(second.__context__.__traceback__)]  # type: ignore[union-attr]
    assert [frame.f_locals for frame in frames if frame.f_code.co_filename == types.__file__] == [{}]


@pytest.mark.parametrize("folder", ["site-packages", "dist-packages"])
def test_a_library_is_one_wherever_it_is_installed(folder: str, tmp_path: Path) -> None:
    file = tmp_path / folder / "driver.py"
    code = compile("def connect(password):\n    raise RuntimeError(len(password))", str(file), "exec")
    names: dict[str, Any] = {"__name__": "driver"}
    exec(code, names)
    with pytest.raises(RuntimeError) as caught:
        names["connect"](CANARY)
    without_variables(caught.value)
    frames = [frame for frame, _ in traceback.walk_tb(caught.value.__traceback__)]
    assert [frame.f_locals for frame in frames if frame.f_code.co_filename == str(file)] == [{}]


def test_a_password_as_long_as_a_token_of_a_cloud_is_masked() -> None:
    token = "Zk%2F" * 240
    said = without_passwords(f"no server at postgresql://anna:{token}@db/x, PGPASSWORD={token}")
    assert said == "no server at postgresql://anna:***@db/x, PGPASSWORD=***"
