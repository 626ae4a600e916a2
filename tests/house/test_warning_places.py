"""Warnings point at the line of whoever called the package, and show what a file is called without acting on it."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

import smsotp_nb as sms
from smsotp_nb import phones

PACKAGE = Path(sms.__file__).parent
TITLED = "Members of the club\n\nname,phone\nAnn,+12025550100\nBo,+12025550101\n"
STOPS = pd.DataFrame({"phone": ["+12025550100"], "agent phone": ["+12025550101"]})
PEOPLE = pd.DataFrame({"phone": ["+12025550100", "+12025550101"]})


def titled(folder: Path, name: str = "list.csv") -> Path:
    (folder / name).write_text(TITLED, encoding="utf-8")
    return folder / name


def people_of(folder: Path) -> sms.People:
    return sms.People(sms.Ledger(folder / "ledger.sqlite", create=True))


CALLS: dict[str, Callable[[Path], object]] = {
    "read_recipients": lambda folder: sms.read_recipients(titled(folder)),
    "plan of a file": lambda folder: sms.plan(titled(folder), "Hi", to="phone", campaign="c"),
    "plan without people of a file": lambda folder: sms.plan(
        PEOPLE, "Hi", to="phone", campaign="c", exclude=titled(folder)
    ),
    "plan without people of a frame": lambda folder: sms.plan(PEOPLE, "Hi", to="phone", campaign="c", exclude=STOPS),
    "accessor": lambda folder: PEOPLE.smsotp.plan("Hi", to="phone", campaign="c", exclude=STOPS),
    "import": lambda folder: people_of(folder).import_optouts(STOPS, column="phone", source="p"),
    "import of a file": lambda folder: people_of(folder).import_optouts(titled(folder), column="phone", source="p"),
    "within another library": lambda folder: pd.Series([titled(folder)]).map(sms.read_recipients),
}


@pytest.mark.parametrize("call", CALLS)
def test_a_warning_points_at_the_line_of_the_caller(tmp_path: Path, call: str) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        CALLS[call](tmp_path)
    assert caught
    places = {Path(warning.filename) for warning in caught}
    if call == "within another library":
        assert not any(place.is_relative_to(PACKAGE) for place in places)
    else:
        assert places == {Path(__file__)}


def test_no_module_of_the_package_counts_frames() -> None:
    """A number of frames is right until somebody calls from one function deeper."""
    for file in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                assert ast.unparse(node.func) != "warnings.warn", file
                assert not any(word.arg == "stacklevel" for word in node.keywords), file


def test_the_name_of_a_file_does_not_move_the_cursor_of_a_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from support.commands import main

    file = titled(tmp_path, "a\x1b[2J\x07.csv")
    with pytest.warns(sms.errors.SmsOtpWarning) as caught:
        people = sms.read_recipients(file)
    assert all("\x1b" not in str(warning.message) for warning in caught)
    plan = sms.plan(people, "Hi", to="phone", campaign="c")
    assert "\x1b" not in str(plan) + str(phones.report(phones.normalize(people["phone"])))
    assert main(["clean", str(file)]) == 0
    assert main(["clean", str(file), "--phone", "nope"]) == 2
    printed = capsys.readouterr()
    assert "\x1b[2J" not in printed.out + printed.err
    assert "\x07" not in printed.out + printed.err
