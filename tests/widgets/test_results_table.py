"""The results table of the forms: what is seen of it, what is downloaded, and what stays in the notebook."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest
from support.uploads import taken

from smsotp_nb._widgets.results_table import PAGE, PIECE, Asked, Download, ResultsTable, ResultsView, hidden
from smsotp_nb.results import COLUMNS, DETAILS, check, read, write

ROWS: dict[str, list[Any]] = {
    "to": ["+12025550123", "+33199001234", "+14155550100", None, "+46701740605", "+12025550147"],
    "region": ["US", "FR", "US", None, "SE", "US"],
    "status": ["accepted", "accepted", "rejected", "skipped", "in_doubt", "planned"],
    "problem": [None, None, "REJECTED", "LOCAL_ONLY", "NO_ANSWER", "CAPPED"],
    "not_before": [None] * 5 + [pd.Timestamp("2026-11-23 09:00Z")],
    "id": ["a1b2", "c3d4", None, None, None, None],
    "iso": ["US", "FR", None, None, None, None],
    "parts": [1, 2, None, None, None, None],
    "price": [0.0075, 0.11, None, None, None, None],
    "currency": ["USD", "EUR", None, None, None, None],
    "error": [None, None, "number <b>not</b> served", None, None, None],
}
LABELS = ["ann", "bob", "cat", "dan", "eve", "fay"]


@pytest.fixture
def table() -> pd.DataFrame:
    """Six rows, one of each kind, with a column of the caller's own."""
    made = pd.DataFrame({**ROWS, "city": ["Örebro", "Paris", "Oslo", "Bonn", "Lund", "=1+1"]}, index=LABELS)
    return check(made.reindex(columns=[*COLUMNS, *DETAILS, "city"]))


def seen(view: ResultsView, **asked: Any) -> list[Any]:
    return [row[0] for row in view.page(Asked(**asked)).table.rows]


# -- filter, search, sort


def test_what_may_be_shown_adds_up(table: pd.DataFrame) -> None:
    choices = {value: label for label, value in ResultsView(table).choices()}
    assert choices[("", "")] == "All 6 rows"
    assert choices[("accepted", "")] == "Accepted: 2"
    states = [label for (state, reason), label in choices.items() if state and not reason]
    assert sum(int(label.rsplit(" ", 1)[1]) for label in states) == len(table)
    assert choices[("skipped", "the area code is missing")] == "Left out, the area code is missing: 1"
    assert not any(code in label for label in choices.values() for code in ("LOCAL_ONLY", "NO_ANSWER", "REJECTED"))


def test_each_choice_shows_as_many_rows_as_it_says(table: pd.DataFrame) -> None:
    view = ResultsView(table)
    for label, (state, reason) in view.choices()[1:]:
        assert len(seen(view, state=state, reason=reason)) == int(label.rsplit(" ", 1)[1]), label


@pytest.mark.parametrize(
    ("search", "rows"),
    [
        ("+1 (202) 555-0123", ["ann"]),
        ("555 01", ["ann", "cat", "fay"]),
        ("+1202...0123", ["ann"]),
        ("C3D4", ["bob"]),
        ("area CODE", ["dan"]),
        ("united states", ["ann", "cat", "fay"]),
        ("örebro", ["ann"]),
        ("eve", ["eve"]),
        ("in doubt", ["eve"]),
        ("not</b> served", ["cat"]),
        (".*", []),
        ("99", []),
    ],
)
def test_search(table: pd.DataFrame, search: str, rows: list[str]) -> None:
    assert seen(ResultsView(table), search=search) == rows


@pytest.mark.parametrize(
    ("by", "descending", "rows"),
    [
        ("row", True, ["fay", "eve", "dan", "cat", "bob", "ann"]),
        ("to", False, ["ann", "fay", "cat", "bob", "eve", "dan"]),
        ("status", False, ["eve", "cat", "fay", "dan", "ann", "bob"]),
        ("country", True, ["ann", "cat", "fay", "eve", "bob", "dan"]),
        ("parts", True, ["bob", "ann", "cat", "dan", "eve", "fay"]),
        ("price", False, ["bob", "ann", "cat", "dan", "eve", "fay"]),  # by currency first: EUR, then USD
        ("id", True, ["bob", "ann", "cat", "dan", "eve", "fay"]),
    ],
)
def test_sort_keeps_the_order_of_equals_and_missing_ones_last(
    table: pd.DataFrame, by: str, descending: bool, rows: list[str]
) -> None:
    assert seen(ResultsView(table), by=by, descending=descending) == rows


def test_a_page_beyond_the_last_is_the_last_and_counts_are_said() -> None:
    many = pd.DataFrame({"to": [f"+1202555{n:04}" for n in range(PAGE * 2 + 1)], "status": "accepted"})
    page = ResultsView(many).page(Asked(page=99))
    assert (page.number, len(page.table.rows), page.line()) == (2, 1, "31 rows, page 3 of 3")
    found = ResultsView(many).page(Asked(search="+12025550003"))
    assert found.line() == "1 of 31 rows"


def test_an_empty_table() -> None:
    page = ResultsView(pd.DataFrame({"to": [], "status": []})).page(Asked(by="price"))
    assert (page.line(), page.table.rows) == ("0 rows", ())


# -- what a row says


def test_a_row_is_told_in_words_with_its_number_masked(table: pd.DataFrame) -> None:
    shown = ResultsTable()
    shown.show(table, "sale")
    page = shown.settle()._rows.value
    assert "+1202...0123" in page
    assert not re.search(r"\+\d{9}", page)
    assert "number &lt;b&gt;not&lt;/b&gt; served" in page
    assert "until 2026-11-23 09:00 UTC" in page
    assert "USD 0.0075" in page
    assert "EUR 0.1100" in page
    assert not any(code in page for code in ("REJECTED", "NO_ANSWER", "CAPPED", "in_doubt"))


def test_a_whole_number_that_is_searched_for_does_not_stay_in_the_field(table: pd.DataFrame) -> None:
    shown = ResultsTable()
    shown.show(table)
    shown.search.value = "(202) 555-0123"
    assert shown.search.value == hidden("(202) 555-0123") == "20...23"
    assert shown.settle().page.line() == "1 of 6 rows"
    shown.by.value = "price"  # the search is still meant
    assert shown.settle().page.line() == "1 of 6 rows"


# -- what is downloaded


@pytest.fixture
def downloaded(
    table: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> Callable[[ResultsTable, str], tuple[str, bytes]]:
    def press(shown: ResultsTable, ending: str) -> tuple[str, bytes]:
        shown._offer(shown.view, shown.asked, f"sale{ending}")  # type: ignore[arg-type]
        return taken(shown._download_box)

    return press


def test_the_rows_that_are_shown_are_downloaded_whole(
    table: pd.DataFrame, downloaded: Callable[[ResultsTable, str], tuple[str, bytes]], tmp_path: Any
) -> None:
    shown = ResultsTable()
    shown.show(table, "sale")
    shown.shown.value, shown.order.value = ("accepted", ""), True
    shown.settle()
    name, content = downloaded(shown, ".csv")
    assert name == "sale.csv"
    (tmp_path / name).write_bytes(content)
    back = read(tmp_path / name)
    assert back.index.tolist() == ["bob", "ann"]
    assert back["to"].tolist() == ["+33199001234", "+12025550123"]
    assert content == write(table.loc[["bob", "ann"]], tmp_path / "same.csv").read_bytes()
    assert "2 rows, with full numbers" in shown._notice.value


def test_excel_is_as_safe_as_a_file_that_is_written(
    table: pd.DataFrame, downloaded: Callable[[ResultsTable, str], tuple[str, bytes]]
) -> None:
    shown = ResultsTable()
    shown.show(table)
    _, content = downloaded(shown.settle(), ".xlsx")
    cells = pd.read_excel(io.BytesIO(content), dtype=str, engine="openpyxl")
    assert cells["city"].iat[5] == "'=1+1"
    assert cells["to"].iat[0] == "+12025550123"


def test_no_piece_stays_in_the_state_and_a_long_file_comes_in_pieces() -> None:
    told: list[str] = []
    download = Download(lambda words, _: told.append(words))
    content = bytes(range(256)) * (PIECE // 256) * 2 + b"end"
    download.offer("a<b>.csv", content, "a<b>.csv")
    assert len(download._piece.value) < PIECE * 1.5
    assert "a&lt;b&gt;.csv" in download._piece.value
    assert taken(download)[1] == content
    assert told == ["Downloaded: a<b>.csv."]
    assert "data-piece" not in json.dumps(download._piece.get_state(), default=str)


def test_a_file_that_nobody_takes_is_taken_away_and_told() -> None:
    shown = ResultsTable()
    shown._download_box._patience = 0.05
    shown._download_box.offer("a.csv", b"+12025550123", "a.csv")
    shown._download_box._timer.join()  # type: ignore[union-attr]
    assert not shown._download_box.open
    assert "no page took the file" in shown._notice.value


def test_what_a_file_cannot_hold_is_told(table: pd.DataFrame) -> None:
    shown = ResultsTable()
    shown.show(table.assign(city="x" * 40_000))
    shown.settle()._offer(shown.view, shown.asked, "a.xlsx")  # type: ignore[arg-type]
    assert "Nothing was downloaded." in shown._notice.value
    assert not shown._download_box.open


def test_only_a_page_button_that_was_pressed_and_went_dead_passes_the_focus_on(monkeypatch: pytest.MonkeyPatch) -> None:
    focused: list[str] = []
    shown = ResultsTable()
    for button in (shown._leafing.before, shown._leafing.after):
        monkeypatch.setattr(type(button), "focus", lambda self: focused.append(self.description), raising=False)
    shown.show(pd.DataFrame({"to": [f"+1202555{n:04}" for n in range(PAGE + 1)], "status": "accepted"}))
    shown.settle().search.value = "0003"
    shown.settle().search.value = ""
    assert shown.settle().page.pages == 2
    assert focused == []
    shown._leafing.after.click()
    shown.settle()
    assert focused == ["Previous rows"]
