"""The report: one file, every figure that of the tables, readable anywhere, nothing that runs."""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path

import openpyxl
import pandas as pd
import pytest
from support.tables import table, two_currencies

from smsotp_nb import _dispatch as dispatch
from smsotp_nb import _planning as planning
from smsotp_nb import charts, cost
from smsotp_nb._client import Client
from smsotp_nb._ledger import Ledger
from smsotp_nb._phones import lookup
from smsotp_nb._results import files
from smsotp_nb._sandbox import Sandbox
from smsotp_nb.errors import UsageError


def test_the_page_stands_alone(tmp_path: Path) -> None:
    """No script, no address, no file beside it; names from a list stay text."""
    hostile = two_currencies().assign(campaign=["<script>x</script>", *["b"] * 7])
    text = charts.report(hostile, tmp_path / "spent.html", title="A & B").read_text(encoding="utf-8")
    assert not re.search(r"<script|https?:|url\(|@import|src=", text)
    assert "<title>A &amp; B</title>" in text
    assert "&lt;script&gt;x" in text
    assert text.startswith('<!doctype html><html lang="en">')


def test_the_page_says_what_the_tables_say(tmp_path: Path) -> None:
    """Totals, countries, months and encodings of both currencies."""
    text = charts.report(two_currencies(), tmp_path / "spent.html").read_text(encoding="utf-8")
    for said in ("CNY 0.0511 and USD 0.062", "Namibia NA", "Billed by month", "2026-11", "Parts by encoding", "GSM-7"):
        assert said in text


def test_the_workbook_has_a_sheet_a_table_and_numbers_are_numbers(tmp_path: Path) -> None:
    """Amounts as numbers with a format, E.164 as text, no formula, the same figures as the frames."""
    given = two_currencies().assign(campaign="=1+1", est_cost=0.01)
    book = openpyxl.load_workbook(charts.report(given, tmp_path / "spent.xlsx"))
    assert book.sheetnames[:3] == ["total", "by country", "billed and estimated"]
    assert {"by month", "by encoding", "by campaign", "differences"} <= set(book.sheetnames)
    read = pd.read_excel(tmp_path / "spent.xlsx", sheet_name="by country", keep_default_na=False)
    assert read["cost"].tolist() == cost.by_country(given)["cost"].tolist()
    assert book["by campaign"]["B2"].value == "'=1+1"
    assert book["differences"]["A2"].value.startswith("+1202")
    assert book["differences"]["A2"].number_format == "@"
    assert book["by country"]["F2"].number_format == "#,##0.00####"


def test_a_table_without_months_or_countries_is_reported_too(tmp_path: Path) -> None:
    """Only what is there is drawn."""
    bare = table(2)[["status", "parts", "price", "currency"]]
    assert "USD 0.015" in charts.report(bare, tmp_path / "spent.html").read_text(encoding="utf-8")
    assert openpyxl.load_workbook(charts.report(bare, tmp_path / "spent.xlsx")).sheetnames == ["total"]


def test_an_empty_table_is_reported(tmp_path: Path) -> None:
    """Nothing was billed is an answer."""
    assert "nothing was billed" in charts.report(table(0), tmp_path / "spent.html").read_text(encoding="utf-8")
    charts.report(table(0), tmp_path / "spent.xlsx")


@pytest.mark.parametrize("name", ["spent.pdf", "nowhere/spent.html", "nowhere/spent.xlsx"])
def test_a_wrong_path_is_refused(tmp_path: Path, name: str) -> None:
    """The ending says the format, the folder must be there."""
    with pytest.raises(UsageError):
        charts.report(table(1), tmp_path / name)


def test_months_stand_in_order_and_the_latest_are_drawn() -> None:
    """A history reads from then to now; what is older is summed up."""
    at = pd.date_range("2025-12-15", periods=5, freq="31D", tz="UTC")
    text = charts.by_month(table(5, at=at, price=[5.0, 1.0, 2.0, 3.0, 4.0]), top=3).text()
    assert re.findall(r"2026-\d\d", text) == ["2026-02", "2026-03", "2026-04"]
    assert "and 2 more, together USD 6.00" in text


def test_parts_are_drawn_with_their_share() -> None:
    """Encodings by their names, counts with shares."""
    given = table(4, encoding=["gsm7", "ucs2", "ucs2", "ucs2"])
    assert "UCS-2     ████████████ 3, 75%" in charts.by_encoding(given).text()
    with pytest.raises(UsageError, match="value= must be one of"):
        charts.bars(cost.summary(given), value="share")  # type: ignore[arg-type]


def test_every_figure_is_that_of_the_replies(client: Client, ledger: Ledger, box: Sandbox) -> None:
    """From plan to report: totals equal the sandbox's own record, message by message, to the last digit."""
    numbers = [lookup.example(region) for region in ("US", "DE", "IN", "NA", "BR", "FR")]
    people = pd.DataFrame({"phone": numbers, "n": range(len(numbers))})
    text = "{n}: 20 % off – until Sunday " * 6
    plan = planning.plan(people, to="phone", campaign="autumn", text=text, chunk_size=4)
    sent = dispatch.send(plan, client=client, ledger=ledger, progress=False)
    inbox = box.inbox
    exact = [Decimal(str(price)) for price in inbox["price"]]
    assert cost.summary(sent, decimals=True)["cost"].tolist() == [sum(exact)]
    assert cost.summary(ledger, decimals=True)["cost"].tolist() == [sum(exact)]
    countries = cost.by_country(sent, decimals=True).set_index("iso")
    for iso, rows in inbox.groupby("iso"):
        assert countries.loc[iso, "cost"] == sum(Decimal(str(price)) for price in rows["price"])
        assert countries.loc[iso, "parts"] == rows["parts"].sum()


def test_a_book_of_tables_is_as_safe_as_one_table(tmp_path: Path) -> None:
    """A sheet each, rows that do not fit refused, an old file kept when it fails."""
    file = files.write_book({"a": pd.DataFrame({"x": ["=1"]}), "b": pd.DataFrame({"y": [1.5]})}, tmp_path / "t.xlsx")
    assert openpyxl.load_workbook(file)["a"]["A2"].value == "'=1"
    before = file.read_bytes()
    with pytest.raises(UsageError, match="holds 1,048,575 rows"):
        files.write_book({"long": pd.DataFrame({"x": range(1_048_576)})}, file, overwrite=True)
    assert file.read_bytes() == before
