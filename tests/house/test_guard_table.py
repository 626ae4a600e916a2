"""The table of the guards is what ``Limits`` has, and every code in it has its words."""

from __future__ import annotations

import dataclasses
import inspect
from pathlib import Path

import pandas as pd
import pytest

import smsotp_nb as sms
from smsotp_nb._dispatch import guards
from smsotp_nb._guards import GUARDS, Guard
from smsotp_nb.problems import PROBLEMS
from smsotp_nb.widgets import CampaignForm

every = pytest.mark.parametrize("guard", GUARDS, ids=[guard.name for guard in GUARDS])


def test_the_table_names_every_guard() -> None:
    named = {guard.name for guard in GUARDS}
    assert named | {"per_second"} == {field.name for field in dataclasses.fields(sms.Limits)}


@every
def test_a_guard_is_an_option_with_its_default(guard: Guard) -> None:
    assert getattr(sms.Limits(), guard.name) == guard.default


@every
def test_a_guard_s_code_has_words_and_ends_a_call_where_it_says_so(guard: Guard) -> None:
    assert PROBLEMS[guard.code].status == "planned"
    assert (guard.code in guards.STOPPERS) == guard.ends


@every
def test_an_example_is_read(guard: Guard) -> None:
    """What the documentation shows is what ``Limits`` takes."""
    assert getattr(eval(f"sms.Limits({guard.example})"), guard.name) is not None


@every
def test_the_docstring_of_limits_has_every_guard(guard: Guard) -> None:
    assert f"\n    {guard.name}: " in inspect.cleandoc(sms.Limits.__doc__ or "")


@every
def test_what_the_form_s_fields_hold_is_what_send_takes(guard: Guard, tmp_path: Path) -> None:
    """The form has each field of the table, and what its example stands for is the guard's option."""
    with sms.Sandbox() as box, sms.Ledger(tmp_path / "ledger.sqlite", create=True) as ledger:
        form = CampaignForm(pd.DataFrame({"phone": ["+12025550123"]}), client=box, ledger=ledger)
    for field in guard.fields:
        form.sending.guard_fields[field.name].value = 7 if field.number else field.example
    asked, usual = form.sending.guards().limits(), sms.Limits()
    changed = [one.name for one in dataclasses.fields(usual) if getattr(asked, one.name) != getattr(usual, one.name)]
    assert changed == [guard.name] * bool(guard.fields)
