"""Hundreds of calls that somebody gets wrong: each gives our error, with the argument, what was given, the way on."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

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
    assert found.value.__cause__ is None or isinstance(found.value.__cause__, errors.SmsOtpError)


def test_the_table_covers_every_public_room() -> None:
    """At least 150 calls, and some in every room."""
    calls = [call for call, _, _ in rows()]
    rooms = ("phones", "parts", "templates", "otp", "rates", "results", "cost", "charts", "widgets")
    assert len(calls) >= 150
    assert [room for room in rooms if not any(f"sms.{room}." in call for call in calls)] == []
