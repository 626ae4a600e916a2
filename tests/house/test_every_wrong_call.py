"""Hundreds of calls that somebody gets wrong: each gives our error, with the argument, what was given, the way on."""

from __future__ import annotations

import ast
import inspect
import os
from collections.abc import Callable, Iterator
from dataclasses import is_dataclass
from pathlib import Path
from types import CodeType
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.sampling import Sample

import smsotp_nb as sms
from smsotp_nb import errors

from . import wrong_world

PEOPLE = ("2025550", "4155550")  # digits of the numbers in the calls: none may stand in an error


def rows() -> list[tuple[str, str, list[str]]]:
    """Return (call, class of its error, what its message holds) of every row of the table."""
    lines = Path(__file__).with_name("wrong_calls.txt").read_text(encoding="utf-8").splitlines()
    split = [line.split("  =>  ") for line in lines if line and not line.startswith("#")]
    expected = [after.split(" | ") for _, after in split]
    return [(call, kind, held) for (call, _), (kind, *held) in zip(split, expected, strict=True)]


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    folder = tmp_path_factory.mktemp("wrong")
    before = os.getcwd()
    os.chdir(folder)  # what a call could write by mistake stays here
    with wrong_world.world(folder) as found:
        yield found
    os.chdir(before)


@pytest.mark.sampled(200)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("call", "kind", "held"), rows(), ids=[call for call, _, _ in rows()])
def test_a_wrong_call_is_answered_in_our_words(call: str, kind: str, held: list[str], names: dict[str, Any]) -> None:
    with pytest.raises(errors.SmsOtpError) as found:
        eval(call, dict(names))
    said = str(found.value)
    assert type(found.value).__name__ == kind, said
    assert [word for word in held if word not in said] == [], said
    digits = "".join(filter(str.isdigit, said + repr(getattr(found.value, "problems", ""))))
    assert not any(number in digits for number in PEOPLE), said
    assert all(isinstance(error, errors.SmsOtpError) for error in printed_with(found.value))


ODD = (float("-inf"), 1e308, ("a",), {"a": 1}, pd.NA, np.zeros((2, 2)), "\ud800", "x" * 100_000, b"\xff")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_value_that_breaks_code_is_refused_in_our_words(names: dict[str, Any], sample: Sample) -> None:
    """In the place of each argument of each of these calls."""
    foreign = []
    for call, _, _ in sample(rows(), 60):
        for spelled in with_another_argument(call):
            for value in ODD:
                try:
                    eval(spelled, {**names, "value": value})
                except errors.SmsOtpError:
                    pass
                except Exception as error:  # noqa: BLE001 - any is a finding
                    foreign.append(f"{ast.unparse(ast.parse(call))} with {type(value).__name__}: {error!r}")
    assert not foreign, "\n".join(foreign)


def with_another_argument(call: str) -> Iterator[CodeType]:
    """Yield a call of this package with ``value`` in the place of one of its arguments, for each."""
    read = ast.parse(call, mode="eval")
    outer = read.body
    if not isinstance(outer, ast.Call) or isinstance(outer.func, ast.Name):
        return
    for place in range(len(outer.args) + len(outer.keywords)):
        tree = ast.parse(call, mode="eval")
        assert isinstance(tree.body, ast.Call)
        value = ast.copy_location(ast.Name("value", ast.Load()), tree.body)
        if place < len(outer.args):
            tree.body.args[place] = value
        else:
            tree.body.keywords[place - len(outer.args)].value = value
        yield compile(tree, call, "eval")


def printed_with(error: BaseException) -> Iterator[BaseException]:
    """Yield the errors that a traceback prints above this one."""
    above = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if above is not None:
        yield above
        yield from printed_with(above)


def callables() -> Iterator[tuple[str, Callable[..., object]]]:
    """Yield what people call: functions, classes and their methods, but neither errors nor plain values."""
    modules = [thing for thing in (getattr(sms, name) for name in sms.__all__) if inspect.ismodule(thing)]
    for public in (sms, *modules):
        for name in public.__all__:
            thing = getattr(public, name)
            if inspect.isfunction(thing):
                yield f"{public.__name__}.{name}", thing
            elif inspect.isclass(thing) and not issubclass(thing, BaseException | tuple) and not is_dataclass(thing):
                methods = {word: getattr(thing, word) for word in vars(thing) if not word.startswith("_")}
                yield name, thing
                yield from ((f"{name}.{word}", method) for word, method in methods.items() if callable(method))


def takes_named(call: Callable[..., object]) -> bool:
    named = [one for one in inspect.signature(call).parameters.values() if one.name != "self"]
    return bool(named) and not any(one.kind is one.VAR_KEYWORD for one in named)


@pytest.mark.parametrize(
    ("name", "call"), [*((name, call) for name, call in callables() if takes_named(call)), ("Settings", sms.Settings)]
)
def test_a_misspelt_argument_is_named_everywhere(name: str, call: Callable[..., object]) -> None:
    method = "self" in inspect.signature(call).parameters
    with pytest.raises(errors.UsageError, match="has no argument misspelt="):
        call(*[None] * method, misspelt=1)


def test_the_table_covers_every_public_room() -> None:
    """At least 150 calls, and some in every room."""
    calls = [call for call, _, _ in rows()]
    rooms = ("phones", "parts", "otp", "rates", "results", "cost", "charts", "widgets")
    assert len(calls) >= 150
    assert [room for room in rooms if not any(f"sms.{room}." in call for call in calls)] == []
