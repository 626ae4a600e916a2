"""The table of results in forms: what is seen, downloaded and kept of it, and its rows in doubt settled row by row."""

from __future__ import annotations

import html
import io
import json
import re
from typing import Any

import pandas as pd
import pytest
from support.forms import held
from support.uploads import taken

import smsotp_nb as sms
from smsotp_nb import Client, Ledger, Sandbox
from smsotp_nb._ledger import Record
from smsotp_nb._widgets import results_table
from smsotp_nb._widgets.results_table import PAGE, PIECE, Asked, Download, ResultsTable, ResultsView, hidden
from smsotp_nb._widgets.settling import PAGE as LISTED
from smsotp_nb._widgets.settling import Doubts, Settling
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
    assert ResultsView(many).page(Asked()).line() == "31 rows, page 1 of 3"
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


def downloaded(shown: ResultsTable, ending: str) -> tuple[str, bytes]:
    shown._offer(shown.view, shown.asked, f"sale{ending}")  # type: ignore[arg-type]
    return taken(shown._download_box)


def test_the_rows_that_are_shown_are_downloaded_whole(table: pd.DataFrame, tmp_path: Any) -> None:
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


def test_excel_is_as_safe_as_a_file_that_is_written(table: pd.DataFrame) -> None:
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


def test_a_file_that_nobody_takes_is_taken_away_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results_table, "PATIENCE", 0.05)
    shown = ResultsTable()
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


# -- rows in doubt, settled row by row -----------------------------------------------------------------------------

pytestmark = pytest.mark.filterwarnings("ignore::smsotp_nb.errors.SmsOtpWarning")
PEOPLE = pd.DataFrame({"phone": [f"+1 202 555 01{number:02}" for number in range(30)]})


@pytest.fixture
def plan() -> Any:
    return sms.plan(
        PEOPLE, message="Doors open at nine.", to="phone", requests=sms.RequestOptions(chunk_size=10), campaign="doors"
    )


@pytest.fixture
def campaign(box: Sandbox, client: Client, ledger: Ledger, plan: Any) -> Record:
    """Thirty rows in three requests: the service took the first two and dropped the connection."""
    box.fault("drop_after", next=2)
    sms.send(plan.with_requests(threads=1), client=client, ledger=ledger, progress=False)
    made = ledger.record("doors")
    assert made.counts["in_doubt"] == 20
    return made


def shown(campaign: Record) -> tuple[Settling, list[str]]:
    said: list[str] = []
    settling = Settling(settled=lambda words, _: said.append(words))
    settling.show((campaign, None))
    return settling, said


# -- what is known


def test_each_row_has_its_masked_number_time_and_evidence(campaign: Record) -> None:
    settling = Settling()
    settling.show((campaign, pd.Index([f"person {n}" for n in range(30)])))
    rows = settling.rows()
    assert [row.label for row in rows] == [f"person {n}" for n in range(LISTED)]
    assert rows[0].number == "+1202...0100"
    assert re.match(r"Requested \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC\.", rows[0].evidence)
    assert "written in full, and no answer began" in rows[0].evidence
    assert not any(re.search(r"\+\d{7}", str(row)) for row in rows)
    assert (settling.left, settling.pages) == (20, 3)


def test_requests_are_chosen_apart(campaign: Record) -> None:
    settling, _ = shown(campaign)
    choices = settling.requests()
    assert choices[0] == ("All requests: 20 rows", "")
    assert [label.rsplit(": ", 1)[1] for label, _ in choices[1:]] == ["10 rows", "10 rows"]
    settling.choose(choices[1][1])
    settling.tick_listed(True)
    assert (settling.listed, settling.ticked, settling.all_ticked()) == (10, 10, True)
    assert {row.place // 10 for row in settling.rows()} == {1}  # the later one stands first


# -- what is decided


def test_some_were_accepted_and_others_are_sent_again(
    campaign: Record, plan: Any, client: Client, ledger: Ledger, box: Sandbox
) -> None:
    settling, said = shown(campaign)
    for place in (0, 1, 2):
        settling.tick(place, True)
    settling.accepted()
    assert campaign.counts["accepted"] == 13
    assert settling.left == 17
    settling.tick(5, True)
    settling.not_accepted()
    assert settling.stage == "sure"
    assert campaign.counts["planned"] == 0  # asked, not done
    assert "1 row will be sent again" in settling.warning()
    assert "up to 1 person is texted twice" in settling.warning()
    settling.sure()
    assert said == ["3 rows recorded as accepted.", "1 row to go again; nothing was sent yet."]
    sms.send(plan, client=client, ledger=ledger, progress=False)
    again = box.inbox["to"].value_counts()
    assert again[again > 1].index.tolist() == ["+12025550105"]
    assert campaign.counts["in_doubt"] == 16


def test_nothing_is_changed_without_ticks_or_by_a_no(campaign: Record) -> None:
    settling, said = shown(campaign)
    for act in (settling.accepted, settling.not_accepted, settling.sure, settling.unsure):
        act()
        assert settling.stage == "choosing"
    assert settling.notice.text == "Tick the rows first."
    settling.tick(0, True)
    settling.sure()  # nobody was asked
    settling.not_accepted()
    settling.unsure()
    assert (settling.ticked, settling.notice.text) == (1, "Nothing was changed.")
    assert campaign.counts["in_doubt"] == 20
    assert said == []


def test_rows_that_somebody_else_settled_meanwhile_are_told(campaign: Record, ledger: Ledger) -> None:
    settling, said = shown(campaign)
    for place in (0, 1, 2):
        settling.tick(place, True)
    with Ledger(ledger.path) as other:
        other.record("doors").settle(["+12025550100", "+12025550107"], accepted=True)
    settling.accepted()
    assert settling.notice.text == "Nothing was changed. 1 ticked row was settled elsewhere meanwhile."
    assert (settling.left, settling.ticked) == (18, 2)
    settling.accepted()
    assert said == ["2 rows recorded as accepted."]


def test_a_campaign_that_another_process_sends_is_told_and_settled_afterwards(campaign: Record, ledger: Ledger) -> None:
    settling, _ = shown(campaign)
    settling.tick(0, True)
    with held(ledger, "doors") as process:
        settling.accepted()
        assert f"Process {process} on" in settling.notice.text
        assert "is sending this campaign" in settling.notice.text
        assert campaign.counts["in_doubt"] == 20
    settling.accepted()
    assert campaign.counts["in_doubt"] == 19


def test_a_purged_campaign_has_nothing_to_settle(campaign: Record) -> None:
    campaign.purge()
    settling, _ = shown(campaign)
    assert settling.left == 0


# -- the widget


def test_boxes_follow_the_pages_and_the_ticks(campaign: Record) -> None:
    doubts = Doubts()
    doubts.settling.show((campaign, None))
    assert doubts.widget.layout.display is None
    doubts.ticks[0].value = True
    doubts._leafing.after.click()
    assert doubts.ticks[0].description == f"Row {LISTED}, +1202...0108"
    assert not doubts.ticks[0].value
    doubts._leafing.before.click()
    assert doubts.ticks[0].value
    assert "1 of them ticked" in doubts._words.value
    doubts.all_button.click()
    assert doubts.all_button.description == "Untick all 20 rows listed"
    assert doubts.accepted_button.description == "20 were accepted"


def test_a_request_that_is_chosen_stays_chosen_and_evidence_is_escaped(campaign: Record) -> None:
    doubts = Doubts()
    doubts.settling.show((campaign, None))
    doubts.request.value = doubts.request.options[1][1]
    doubts.ticks[0].value = True
    doubts.settling.accepted()
    assert doubts.settling.request == doubts.request.value != ""
    assert html.unescape(doubts._notice.value).count("1 row recorded as accepted.") == 1
    doubts._draw_rows([type(doubts.settling.rows()[0])(0, "<b>", "+1...", "<i>", False)])
    assert "<i>" not in doubts._evidence[0].value


def test_the_question_stands_in_place_of_the_actions(campaign: Record) -> None:
    doubts = Doubts()
    doubts.settling.show((campaign, None))
    doubts.all_button.click()
    doubts.again_button.click()
    assert doubts._actions.layout.display == "none"
    assert doubts._sure.layout.display is None
    assert "up to 20 people are texted twice" in doubts._warning.value
    doubts.unsure_button.click()
    assert doubts._sure.layout.display == "none"
    assert campaign.counts["in_doubt"] == 20


def test_a_campaign_that_is_read_anew_keeps_its_ticks_and_its_question(campaign: Record, ledger: Ledger) -> None:
    settling, _ = shown(campaign)
    for place in (0, 1):
        settling.tick(place, True)
    settling.not_accepted()
    campaign.settle(["+12025550100"], accepted=True)
    settling.show((ledger.record("doors"), None))
    assert (settling.stage, settling.ticked, settling.left) == ("sure", 1, 19)
    settling.show()
    settling.show((campaign, None))
    assert (settling.stage, settling.ticked) == ("choosing", 0)


def test_what_cannot_be_read_is_told_in_its_place(campaign: Record, ledger: Ledger) -> None:
    doubts = Doubts()
    doubts.settling.show((campaign, None))
    doubts.ticks[0].value = True
    with ledger._store.writing() as connection:
        connection.execute("UPDATE attempt SET started_at=?", (2**62,))
    doubts.settling.show((campaign, None))
    assert doubts.settling.unread.startswith("What is in doubt cannot be read. The ledger")
    assert (doubts.widget.layout.display, doubts.request.layout.display) != ("none", "none")
    assert "What is in doubt cannot be read." in doubts._words.value
    assert (doubts._choice.layout.display, doubts._actions.layout.display) == ("none", "none")
    assert doubts.settling.ticked == 0
    doubts.settling.accepted()
    assert doubts.settling.notice.text == "Tick the rows first."
