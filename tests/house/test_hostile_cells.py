"""Cells and texts made to hang or to break a list: each is a row with its problem, in bounded time and words."""

from __future__ import annotations

import contextlib
import itertools
import pickle
import tempfile
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.cpu_time import at_most
from support.tables import table

import smsotp_nb as sms
from smsotp_nb import Ledger, charts, cost, results
from smsotp_nb import _cards as cards
from smsotp_nb import _services as services
from smsotp_nb._client.meaning import Scrubber
from smsotp_nb._pandas import STR
from smsotp_nb._phones import one_phone
from smsotp_nb._showing.text import visible
from smsotp_nb._widgets.results_table import Asked, ResultsView
from smsotp_nb.errors import NotSent, ServiceError, SmsOtpError, UsageError

GOOD = "+12025550123"
CONTROL = "\x1b[2J\x00\u202e\x9b\u2028"


CELLS: dict[str, Any] = {
    "a million digits": lambda: "1" * 1_000_000,
    "halves without end": lambda: "0 " * 100_000,
    "bytes": lambda: b"\xff" * 1_000_000,
}


WORDS: list[dict[str, Any]] = [{"message": "Hello {k}"}, {"message": {"x": "Hello"}, "by": "k"}]


@pytest.mark.parametrize("words", WORDS, ids=["placeholder", "segment"])
@pytest.mark.parametrize("cell", CELLS)
def test_a_cell_in_a_text_is_written_or_refused_in_a_few_words(cell: str, words: dict[str, Any]) -> None:
    frame = pd.DataFrame({"phone": [GOOD, GOOD], "k": pd.Series(["x", CELLS[cell]()], dtype=object)}).set_axis([*"ab"])
    if cell == "bytes" and "by" not in words:
        with pytest.raises(UsageError, match=r"column 'k', row 'b': a value of type bytes is no text.{,60}$"):
            sms.plan(frame, to="phone", campaign="c", policy=None, **words)
        return
    sms.plan(frame, to="phone", campaign="c", policy=None, **words)


def test_the_repr_of_a_plan_moves_no_cursor() -> None:
    assert repr(sms.plan(pd.DataFrame({"phone": [GOOD]}), "Hello", to="phone", campaign=CONTROL)).isprintable()


@pytest.mark.parametrize("cell", CELLS)
def test_a_cell_that_cannot_be_read_is_a_row_with_its_problem(cell: str) -> None:
    """The row beside it is as good as ever."""
    column = pd.Series([GOOD, CELLS[cell]()], dtype=object)
    judged = sms.phones.normalize(column)
    assert judged["to"].tolist()[0] == GOOD
    assert pd.isna(judged["to"].iloc[1])
    assert isinstance(judged["problem"].iloc[1], str)
    assert sms.phones.parse(column)["valid"].tolist() == [True, False]


ANYWHERE: dict[str, Callable[[], Any]] = {
    **CELLS,
    "half a character": lambda: "\ud800",
}
ONE = pd.DataFrame({"phone": [GOOD]})


def objects(*values: Any) -> pd.Series:
    return pd.Series(values, dtype=object)


def of_rates(cell: Any) -> pd.DataFrame:
    known = {"iso": "US", "currency": "USD", "price": 0.1}
    return pd.DataFrame({name: objects(cell) for name in ("low", "seen", "type")}).assign(**known)


def kept(cell: Any) -> pd.DataFrame:
    """Return a result table with a cell in a column of the caller's own."""
    return table(1, to=[GOOD]).assign(own=objects(cell))


def sums() -> pd.DataFrame:
    return cost.by(table(1), "iso")


def new_ledger() -> Path:
    return Path(tempfile.mkdtemp()) / "ledger.sqlite"


def drawn(frame: pd.DataFrame) -> object:
    trial = sms.Experiment(
        "trial", arms={"a": 50, "b": 50}, unit="unit", outcomes={"bought": "binary"}, read_after="1d", strata=["city"],
        ledger=Ledger(new_ledger(), create=True),
    )  # fmt: skip
    return trial.assign(frame, to="phone")


def planned(**given: Any) -> object:
    return sms.plan(ONE, "Hello", to="phone", campaign="c", **given)


TAKEN: dict[str, Callable[[Any], object]] = {
    "numbers": lambda cell: sms.phones.normalize(objects(cell, GOOD)),
    "a list of numbers": lambda cell: sms.phones.normalize([cell, GOOD]),
    "verdict": lambda cell: sms.phones.parse(objects(cell, GOOD)),
    "region": lambda cell: sms.phones.normalize(["2025550123"], region=objects(cell)),
    "verdict region": lambda cell: sms.phones.parse(["2025550123"], region=objects(cell)),
    "find_columns": lambda cell: sms.phones.find_columns(pd.DataFrame({"a": objects(cell, GOOD)})),
    "find_columns country": lambda cell: sms.phones.find_columns(
        pd.DataFrame({"phone": ["2025550123"] * 2, "country": objects(cell, "US")})
    ),
    "plan": lambda cell: sms.plan(pd.DataFrame({"a": objects(cell)}), "Hello", to="a", campaign="c"),
    "exclude": lambda cell: planned(exclude=objects(cell)),
    "a list to leave out": lambda cell: planned(exclude=[cell]),
    "exclude of results": lambda cell: planned(exclude=kept(cell)),
    "rates": lambda cell: planned(rates=of_rates(cell)),
    "price": lambda cell: sms.rates.check(of_rates(cell).assign(price=objects(cell))),
    "duplicates": lambda cell: sms.phones.duplicates(objects(cell, GOOD)),
    "one phone": lambda cell: one_phone(objects(cell, GOOD)),
    "proof": lambda cell: sms.People(Ledger(new_ledger(), create=True)).import_optins(
        pd.DataFrame({"phone": [GOOD], "how": objects(cell)}), column="phone", source="list", proof="how"
    ),
    "segment": lambda cell: sms.plan(
        ONE.assign(team=objects(cell)), {"A": "Hi"}, to="phone", campaign="c", by="team", signature="Acme"
    ),
    "stratum": lambda cell: drawn(ONE.assign(unit="a", city=objects(cell))),
    "unit": lambda cell: drawn(ONE.assign(unit=objects(cell), city="Rome")),
    "converted parts": lambda cell: cost.convert(sums().assign(parts=objects(cell)), {"USD": 1.1}, to="EUR"),
    "converted cost": lambda cell: cost.convert(sums().assign(cost=objects(cell)), {"USD": 1.1}, to="EUR"),
    "converted messages": lambda cell: cost.convert(sums().assign(messages=objects(cell)), {"USD": 1.1}, to="EUR"),
    "converted currency": lambda cell: cost.convert(sums().assign(currency=objects(cell)), {"USD": 1.1}, to="EUR"),
    "bars": lambda cell: charts.bars(sums().assign(cost=objects(cell))),
    "summed again": lambda cell: cost.by(sums().assign(parts=objects(cell)), "iso"),
    "masked": lambda cell: kept(cell).smsotp.masked(),
    "searched": lambda cell: ResultsView(kept(cell)).page(Asked(search="x")),
}


@pytest.mark.sampled(60)
@pytest.mark.parametrize("cell", ANYWHERE)
@pytest.mark.parametrize("taken", TAKEN)
def test_a_hostile_cell_is_a_row_with_its_problem_or_an_error_of_ours(taken: str, cell: str) -> None:
    with contextlib.suppress(UsageError):
        TAKEN[taken](ANYWHERE[cell]())


@pytest.mark.parametrize("levels", [1, 2])
def test_a_plan_refuses_rows_that_nothing_could_name(levels: int) -> None:
    hostile = np.empty(2, object)
    hostile[0], hostile[1] = "x", "\ud800"
    frame = pd.DataFrame({"phone": [GOOD, "+12025550124"]}, index=pd.Index(hostile, dtype=object))
    if levels == 2:
        frame.index = pd.MultiIndex([frame.index, ["a", "b"]], [[0, 1], [0, 1]])
    with pytest.raises(UsageError, match=r"the label of row 1 is of type \w+ \(.*\) and has no text; call reset_index"):
        sms.plan(frame, "Hello", to="phone", campaign="c")


MARKS = "e" + "\u0301\u0323" * 40_000  # normalizing them takes the square of their number: ten seconds
PEOPLE = pd.DataFrame({"phone": ["2025550123"], "country": [MARKS]})
NORMALIZING: dict[str, Callable[[], object]] = {
    "region": lambda: sms.phones.normalize(PEOPLE["phone"], region=PEOPLE["country"]),
    "find_columns": lambda: sms.phones.find_columns(PEOPLE),
    "plan": lambda: sms.plan(PEOPLE, "Hello", to="phone", region="country", campaign="c"),
    "default_region": lambda: sms.phones.normalize(PEOPLE["phone"], default_region=MARKS),
    "service": lambda: services.claims_rehearsal(MARKS, "https://a.test"),
    "search": lambda: services.name_key(MARKS),
}


@pytest.mark.parametrize("named", NORMALIZING)
def test_a_name_of_marks_without_end_is_not_normalized(named: str) -> None:
    with at_most(cpu_seconds=2), contextlib.suppress(UsageError):
        NORMALIZING[named]()


def test_a_long_country_is_an_unknown_one() -> None:
    assert sms.phones.normalize(["2025550123"], region=["Germany" + "y" * 200])["note"].tolist() == ["REGION_UNKNOWN"]


# -- what is said ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [SmsOtpError, UsageError, ServiceError, NotSent])
def test_no_error_is_endless(kind: type[SmsOtpError]) -> None:
    """Its beginning says what is wrong, its end what to do."""
    error = kind("the list is wrong: " + "x" * 1_000_000 + "; write None")
    assert len(str(error)) < 2_000
    assert str(error).startswith("the list is wrong")
    assert str(error).endswith("write None")
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
    assert all(len(one) < 2_000 for one in getattr(error, "problems", ()))


def test_what_is_printed_shows_control_characters_as_numbers() -> None:
    """In errors, in what is wrong with a call, in cards as text and as HTML, and in what a service says."""
    card = cards.Card(f"Campaign {CONTROL}", CONTROL)
    said = ServiceError("refused: " + Scrubber()(CONTROL))
    shown = [
        str(said),
        str(UsageError(CONTROL)),
        *UsageError("no", problems=(CONTROL,)).problems,
        str(card),
        card.html(),
    ]
    for text in shown:
        assert "\\u001b[2J" in text
        assert not set(CONTROL) - set("[2J") & set(text)
    assert visible("two\nlines\t", keep="\n\t") == "two\nlines\t"


def test_a_policy_without_an_end_or_beyond_all_time_is_refused() -> None:
    with pytest.raises(UsageError, match="at most 1,000 pairs"):
        sms.Policy(caps=itertools.repeat((1, "24h")))
    with pytest.raises(UsageError, match="at most 366 days"):
        sms.Policy(same_text="999999999w")
    with pytest.raises(UsageError, match="kinds"):
        sms.Policy(kinds="marketing")  # type: ignore[call-arg]


@pytest.mark.parametrize(
    "call",
    [
        lambda: cost.spending(new_ledger(), columns=5),
        lambda: cost.spending(Ledger(new_ledger(), create=True), columns=[["a"]]),
        lambda: results.write(sums(), new_ledger().with_name("a.csv"), inputs=["\0"]),
        lambda: results.write(sums(), new_ledger().with_name("a.csv"), inputs=[None]),  # type: ignore[list-item]
        lambda: sms.Sandbox(host="\0"),
        lambda: sms.Experiment("a", arms={"b": Fraction(1, 3)}, unit="u", outcomes={"c": "binary"}, read_after="1d"),
    ],
)
def test_an_argument_that_is_none_is_refused(call: Callable[[], object]) -> None:
    with pytest.raises(UsageError):
        call()


def test_frames_of_a_value_move_no_cursor_when_they_are_printed() -> None:
    """Not only a frame that a call itself returns."""
    frame = pd.DataFrame({"phone": [GOOD, "+12025550124"], "team": ["A\x1b[2J", "B"], "name": ["\x1b[2J", "x"]})
    frame = frame.astype(STR)  # pandas 2 makes objects of text, which print as they are
    made = sms.plan(
        frame,
        {"A\x1b[2J": "Hi {name}", "B": "Ho {name}"},
        to="phone",
        campaign="c",
        by="team",
        keep=["name"],
        signature="Acme",
    )
    ledger = Ledger(new_ledger(), create=True)
    with sms.Sandbox() as box:
        sent = sms.send(made, client=box.client(), ledger=ledger, progress=False)
    values = [made, ledger.record("c"), cost.reconcile_invoice(sent, sent[["id", "price", "currency"]])]
    frames = [getattr(value, name) for value in values for name in dir(value) if not name.startswith("__")]
    printed = [repr(one) for one in frames if isinstance(one, pd.DataFrame | pd.Series)] + list(map(repr, values))
    assert len(printed) > 12
    assert not any("\x1b" in said for said in printed)
    assert made.rows["team"].tolist() == ["A\x1b[2J", "B"]
