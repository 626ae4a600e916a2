"""A list that is indexed by its phone numbers: what a row is called is masked in words, cards and forms."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import smsotp_nb as sms
from smsotp_nb import Ledger, People
from smsotp_nb.errors import SmsOtpError, SmsOtpWarning

TENS = range(10, 20)
INDEXES: dict[str, list[Any]] = {
    "E.164": [f"+120255501{n}" for n in TENS],
    "whole numbers": [120255501 * 100 + n for n in TENS],
    "floats": [120255501.0 * 100 + n for n in TENS],
    "national": [f"(202) 555-01{n}" for n in TENS],
    "blanks": [f"202 555 01{n}" for n in TENS],
    "two levels": [("list", f"+120255501{n}") for n in TENS],
}


@pytest.fixture(params=INDEXES, ids=INDEXES)
def people(request: pytest.FixtureRequest) -> pd.DataFrame:
    frame = pd.DataFrame(
        {
            "phone": [f"+120255501{n}" for n in TENS],
            "name": ["Ann", "Ben", None] + ["Cy"] * 7,
            "when": "soon",
            "price": "abc",
            "status": "accepted",
        }
    )
    labels = INDEXES[request.param]
    return frame.set_axis(pd.MultiIndex.from_tuples(labels) if isinstance(labels[0], tuple) else labels, axis=0)


def numbers_in(text: str) -> list[str]:
    """Return those of the list; forms show examples of other ones."""
    return re.findall(r"202555011\d", re.sub(r"[ ()+-]", "", text))


def unread(people: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({"to": "nobody"}, index=people.index)


def results_of(people: pd.DataFrame) -> pd.DataFrame:
    return people.assign(to=people["phone"], region="US", type="MOBILE", iso="US", parts=1, currency="USD")


def imported(people: pd.DataFrame, ledger: Ledger, column: str, **how: Any) -> object:
    return People(ledger).import_optouts(people.drop(columns="status"), column=column, source="provider", **how)


def rates_of(people: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({"iso": "US", "currency": "USD", "price": "x"}, index=people.index)


Refused = Callable[[pd.DataFrame, Ledger], object]
DOORS: dict[str, Refused] = {
    "suppress": lambda people, _: sms.plan(people, "Hi", to="phone", campaign="a", exclude=unread(people)),
    "rates": lambda people, _: sms.plan(people, "Hi", to="phone", campaign="a", rates=rates_of(people)),
    "regions of others": lambda people, _: sms.phones.normalize(people["phone"], region=pd.Series(["US"] * 10)),
    "opt-outs": lambda people, ledger: imported(people, ledger, "name"),
    "opt-outs, times": lambda people, ledger: imported(people, ledger, "phone", at="when", zone="UTC"),
    "prices": lambda people, _: sms.cost.by_country(results_of(people)),
    "opt-outs, answers": lambda people, ledger: People(ledger).import_optouts(people, column="phone", source="x"),
    "units": lambda people, _: sms.split(people, {"a": 1, "b": 1}, unit="name", seed="trial"),
}


@pytest.mark.parametrize("door", DOORS.values(), ids=DOORS)
def test_an_error_names_rows_by_masked_labels(door: Refused, people: pd.DataFrame, ledger: Ledger) -> None:
    with pytest.raises(SmsOtpError) as caught:
        door(people, ledger)
    said = f"{caught.value} {caught.value!r} {vars(caught.value)}"
    assert numbers_in(said) == []
    assert re.search(r"\.\.\.\W?\d?\W?\d\d", said)  # and they are named


def test_a_warning_names_rows_by_masked_labels(people: pd.DataFrame, ledger: Ledger) -> None:
    with pytest.warns(SmsOtpWarning, match=r"\.\.\.") as caught:
        imported(people, ledger, "name", numbers=sms.NumberOptions(unreadable="ignore"))
    assert numbers_in(str(caught[0].message)) == []


STAYS = [
    "2026-11-23 16:09:39.123456+00:00", "/tmp/a-12025550123/2026112316.csv", "0123456789abcdef0123456789abcdef",
    "01234567890123456789012345678901", "host '192.168.100.200'", "'2026-11-23'", "'2026-11-23 09:30+01:00'",
    "12,345,678,901 rows", "rows 1, 2, 3, 4, 5, 6, 7, 8, 9", "until 1795450795.17", "C:\\lists\\12025550123",
]  # fmt: skip


@pytest.mark.parametrize("text", STAYS)
def test_what_is_no_number_stays_as_it_is(text: str) -> None:
    assert str(sms.errors.UsageError(f"in {text}, then")) == f"in {text}, then"


@pytest.mark.parametrize("before", [1_390, 1_395, 1_399, 9_990, 9_995, 30_000])
def test_a_number_across_the_cut_of_a_long_message_is_masked(before: int) -> None:
    words = "x " * (before // 2)
    assert numbers_in(str(sms.errors.UsageError(f"{words}+12025550113 and on"))) == []


def test_the_path_of_a_file_that_is_named_after_a_number_can_be_read(tmp_path: Path) -> None:
    with warnings.catch_warnings(), pytest.raises(SmsOtpError, match="12025550123"):
        sms.read_recipients(tmp_path / "12025550123.csv")


def test_a_number_that_a_text_or_a_segment_quotes_is_masked_in_every_preview(tmp_path: Path) -> None:
    frame = pd.DataFrame({"phone": [f"+120255501{n}" for n in TENS]})
    content = dict.fromkeys(frame["phone"], "Your number with us is {phone}.")
    made = sms.plan(frame.assign(who=frame["phone"]), content, to="phone", campaign="a", by="who")
    templated = sms.plan(frame, sms.Template("t", ["phone"]), to="phone", campaign="b")
    with sms.Sandbox() as box, Ledger(tmp_path / "l.sqlite", create=True) as ledger:
        sms.send(made, client=box.client(), ledger=ledger, progress=False)
        shown = [made._repr_html_(), templated._repr_html_()]
    for text in shown:
        assert numbers_in(text) == []
    assert "Your number with us is +1202...0110." in shown[0]
