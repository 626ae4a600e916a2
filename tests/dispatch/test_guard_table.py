"""The table of the guards is what ``send`` and ``preflight`` take, and every code in it has its words."""

from __future__ import annotations

import dataclasses
import inspect

import pytest

import smsotp_nb as sms
from smsotp_nb._dispatch import guards
from smsotp_nb._dispatch.guard_table import GUARDS, Guard
from smsotp_nb.problems import PROBLEMS

every = pytest.mark.parametrize("guard", GUARDS, ids=[guard.name for guard in GUARDS])


def test_the_table_names_every_guard() -> None:
    assert [guard.name for guard in GUARDS] == [field.name for field in dataclasses.fields(guards.Guards)]


@every
@pytest.mark.parametrize("call", [sms.send, sms.preflight], ids=["send", "preflight"])
def test_a_guard_is_an_argument_with_its_default(guard: Guard, call: object) -> None:
    assert inspect.signature(call).parameters[guard.name].default == guard.default  # type: ignore[arg-type]


@every
def test_a_guard_s_code_has_words_and_ends_a_call_where_it_says_so(guard: Guard) -> None:
    assert PROBLEMS[guard.code].status == "planned"
    assert (guard.code in guards.STOPPERS) == guard.ends


@every
def test_an_example_is_read(guard: Guard) -> None:
    """What the documentation shows is what ``send`` takes."""
    given = eval(f"dict({guard.example})")
    assert getattr(guards.read(**given), guard.name) is not None
