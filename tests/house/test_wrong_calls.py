"""A thing of the wrong kind at any public door is a UsageError that says what is wanted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from support.small_plans import plan as small_plan

import smsotp_nb as sms
from smsotp_nb.errors import LedgerError, UsageError

SUMMED = pd.DataFrame({"status": ["accepted"], "parts": [1], "price": [0.01], "currency": ["USD"], "iso": ["US"]})
WRONG: dict[str, tuple[Callable[[Any], object], str]] = {
    "compare a plan": (lambda plan: sms.cost.compare(SUMMED, plan), "columns to group by must be a name or a list"),
    "compare nothing": (lambda plan: sms.cost.compare(plan), "a Plan has no cost yet; see plan.estimate"),
    "cost of a list": (lambda plan: sms.cost.by([plan], "iso"), "a Ledger, its path or a Record, got list"),
    "cost of nothing": (lambda plan: sms.cost.by(None, "iso"), "a Ledger, its path or a Record, got None"),
    "rates of nothing": (lambda plan: sms.cost.rates(None), "a Ledger, its path or a Record, got None"),
    "savings of a frame": (lambda plan: sms.cost.savings(SUMMED), "savings needs a plan"),
    "preflight of a frame": (lambda plan: sms.preflight(SUMMED, client=None), "preflight needs a Plan, got DataFrame"),
    "preflight without a client": (lambda plan: sms.preflight(plan, None), "preflight needs a client, got None"),
    "send a frame": (lambda plan: sms.send(SUMMED, client=None), "send needs a Plan, got DataFrame"),
    "send without a client": (lambda plan: sms.send(plan, client=None), "send needs a client, got None"),
    "send to a class": (lambda plan: sms.send(plan, sms.Sandbox), "send needs a client, got the class Sandbox"),
    "a passcode by a ledger": (lambda plan: sms.otp.send("+12025550123", client=5), "otp.send needs a client, got 5"),
    "spending of a number": (lambda plan: sms.cost.spending(5), "a Ledger, its path or a Record, got 5"),
    "write no frame": (lambda plan: sms.results.write(plan, "x.csv"), "write needs a DataFrame, got Plan"),
    "a ledger of no path": (lambda plan: sms.Ledger(5), "Ledger takes a path, got 5"),
    "plan no frame": (lambda plan: sms.plan(5, message="z", to="x", campaign="y"), "people must be a DataFrame, got"),
}


@pytest.mark.parametrize(("call", "said"), WRONG.values(), ids=WRONG)
def test_a_thing_of_the_wrong_kind_is_refused_in_words(call: Callable[[Any], object], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        call(small_plan())


@pytest.mark.parametrize("name", [name for name in sms.__all__ if callable(getattr(sms, name))])
@pytest.mark.parametrize("word", ["nonsense", "suppres", "x" * 500])
def test_a_wrong_keyword_is_told_in_240_characters(name: str, word: str) -> None:
    """What only we make, such as a Plan, is refused by Python itself."""
    with pytest.raises((UsageError, TypeError)) as refused:
        getattr(sms, name)(**{word: 1})
    assert name in ("Filled", "Plan", "Challenge") or isinstance(refused.value, UsageError)
    assert len(str(refused.value)) <= 240 or not isinstance(refused.value, UsageError)


def test_what_is_no_longer_an_argument_says_what_is_written_instead() -> None:
    people = pd.DataFrame({"phone": ["+12025550123"], "name": ["Ann"]})
    with pytest.raises(UsageError, match=r"no argument fill=; write message='\{column\|words\}'"):
        sms.plan(people, message="Hi {name}", to="phone", fill={"name": "there"}, campaign="x")  # type: ignore[call-arg]
    with pytest.raises(UsageError, match=r"needs message and campaign= and to=\. It takes message, campaign="):
        people.smsotp.plan()


def test_a_passcode_takes_a_sandbox(box: sms.Sandbox) -> None:
    challenge = sms.otp.send("+12025550123", client=box)
    assert challenge.verify(box.code("+12025550123"))


def test_what_a_callback_raises_reaches_the_caller(box: sms.Sandbox) -> None:
    """It is the caller's own code; only the methods of plain values are answered in our words."""

    class Progress:
        def __call__(self, _: object) -> None:
            raise ValueError("mine")

    plan = sms.plan(pd.DataFrame({"phone": ["+12025550123"]}), message="Hi", to="phone", campaign="x")
    with box.client() as client, pytest.raises(ValueError, match="mine"):
        sms.send(plan, client=client, progress=Progress())


ON_A_LEDGER: dict[str, Callable[[Any], object]] = {
    "spending": sms.cost.spending,
    "by_country": sms.cost.by_country,
    "by_month": lambda ledger: sms.cost.by_month(ledger, tz="Europe/Berlin"),
    "summary": sms.cost.summary,
    "compare": sms.cost.compare,
    "card": lambda ledger: sms.cost.card(ledger).text(),
    "a chart": lambda ledger: sms.charts.by_country(ledger).text(),
}


@pytest.mark.parametrize("call", ON_A_LEDGER.values(), ids=ON_A_LEDGER)
def test_what_takes_a_ledger_takes_its_path(call: Callable[[Any], object], client: sms.Client, tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    with sms.Ledger(path, create=True) as ledger:
        sms.send(small_plan(campaign="autumn"), client=client, ledger=ledger, progress=False)
        expected = call(ledger)
    for given in (path, str(path)):
        found = call(given)
        if isinstance(expected, pd.DataFrame):
            pd.testing.assert_frame_equal(found, expected)
        else:
            assert found == expected


def test_a_look_before_a_send_takes_the_path_of_a_ledger(client: sms.Client, tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    sms.Ledger(path, create=True).close()
    said = sms.preflight(small_plan(), client=client, ledger=str(path)).text()
    assert str(path) in " ".join(said.split())


def test_a_path_without_a_ledger_is_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="ledger not found"):
        sms.cost.by_country(tmp_path / "none.sqlite")
