"""The report: one file, every figure that of the tables, readable anywhere, nothing that runs."""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import openpyxl
import pandas as pd
import pytest
from support.figures import Shown
from support.phone_lists import example
from support.sending import sent
from support.tables import table, two_currencies

import smsotp_nb as sms
from smsotp_nb import Client, Ledger, Limits, RequestOptions, Sandbox, charts, cost
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
    for said in ("CNY 0.0511 and USD 0.0620", "Namibia NA", "12 November 2026 09:30 UTC", "By encoding", "GSM-7"):
        assert said in text


def test_the_workbook_says_what_the_page_says(tmp_path: Path) -> None:
    """The same tables with the same numbers: as numbers, in one format a column, wide enough; and the same facts."""
    given = table(
        6, iso=["US", "US", "DE", "FR", "IN", "IN"], price=[0.01, 0.02, 1.5, 2.25, None, 0.3],
        est_cost=[0.01, 0.0175, None, 2, None, None], est_currency=["USD"] * 4 + [None] * 2,
        encoding=["gsm7", "ucs2"] * 3, campaign=["=1+1"] * 3 + ["b"] * 3,
    )  # fmt: skip
    told = {"now": lambda: pd.Timestamp("2026-11-22 10:15", tz="UTC"), "tz": "Asia/Tokyo"}
    page = Shown(charts.report(given, tmp_path / "spent.html", **told).read_text(encoding="utf-8"))
    book = openpyxl.load_workbook(charts.report(given, tmp_path / "spent.xlsx", **told))
    assert book.sheetnames[:3] == ["Report", "Totals", "Billed and estimated"]
    for name, shown in zip(book.sheetnames[2:], page.tables, strict=True):
        sheet = book[name]
        head, *rows = [list(row)[1:] for row in sheet.iter_rows()]
        assert [cell.value for cell in head] == [name.partition(",")[0] for name in shown[0]]
        for cells, texts in zip(rows, shown[1:], strict=True):
            for cell, text in zip(cells, texts, strict=True):
                if isinstance(cell.value, int | float) and "%" not in text:
                    digits = text.partition(".")[2]
                    assert f"{cell.value:+,.{len(digits)}f}".lstrip("+") == text.lstrip("+")
                    assert cell.number_format.endswith(f"#,##0{'.' * bool(digits)}{'0' * len(digits)}")
                    assert len(text) < sheet.column_dimensions[cell.column_letter].width
    facts = {row[0].value: row[1].value for row in book["Report"].iter_rows(min_row=2)}
    assert facts["Period"] == "12 November 2026 18:30 JST"
    assert facts["Made on"] == "22 November 2026 19:15 JST"
    assert facts["Source"] == "results, a row for each recipient, campaigns '=1+1 and b".replace("'", "")
    assert all(str(said) in page.text for said in facts.values())
    assert book["By campaign"]["B2"].value == "'=1+1" or book["By campaign"]["B3"].value == "'=1+1"


def test_differences_come_first_the_largest_on_top_and_the_rest_is_named(tmp_path: Path) -> None:
    """What differs, why in words, what was billed as estimated, and what has no estimate or price: all of it."""
    given = table(
        8, iso=["US", "DE", "FR", "IN", "IN", "NG", "GB", "US"], parts=[1, 2, 1, 1, 1, 1, 1, 1],
        price=[0.01, 0.16, 0.05, 0.03, 0.03, 0.2, 0.04, None],
        est_cost=[0.01, 0.08, 0.04, 0.03, 0.03, None, 0.07, 0.01],
    )  # fmt: skip
    page = Shown(charts.report(given, tmp_path / "spent.html").read_text(encoding="utf-8"))
    first = page.tables[0]
    assert [row[0] for row in first[1:]] == [
        "Germany DE", "United Kingdom GB", "France FR", "2 countries as estimated", "Without an estimate",
        "Without a readable price", "Total",
    ]  # fmt: skip
    assert [row[4] for row in first[1:]] == ["+0.08", "-0.03", "+0.01", "0.00", "–", "–", "+0.06"]
    assert [row[5] for row in first[1:4]] == ["2 parts, 1 estimated"] + ["another price of a part"] * 2
    assert [row[1] for row in first[4:]] == ["3", "1", "1", "8"]
    assert first[-1][2:4] == ["0.26", "0.52"]
    assert "8 messages cost at least USD 0.52, USD 0.06 more than estimated" in page.text


def test_no_name_of_the_code_and_no_number_is_in_a_report(tmp_path: Path) -> None:
    """Somebody who never saw the package reads it: no columns, no calls, no codes, and nobody's phone number."""
    given = two_currencies().assign(problem="OPTED_OUT", error_code="105400", campaign="autumn")
    for name in ("spent.html", "spent.xlsx"):
        file = charts.report(given, tmp_path / name)
        if name.endswith("html"):
            text = Shown(file.read_text(encoding="utf-8")).text
        else:
            cells = [cell for sheet in openpyxl.load_workbook(file) for row in sheet.iter_rows() for cell in row]
            text = "\n".join(str(cell.value) for cell in cells if cell.value is not None)
        assert not re.search(r"_|\(\)|cost\.|results\.|sms\.|105400|OPTED|gsm7|\bNaN\b|<NA>", text)
        assert not re.search(r"(?<![\d.])\d{7,}", text)
        assert "1 message in doubt" in text
        assert "1 message without a readable price" in text


def test_the_period_of_a_ledger_is_that_of_its_messages(client: Client, ledger: Ledger, tmp_path: Path) -> None:
    """First and last message by the clock, the file and the campaigns it was made from, and that it was a rehearsal."""
    people = pd.DataFrame({"phone": [example(region) for region in ("US", "DE", "FR")]})
    plan = sms.plan(people, "Hello", to="phone", campaign="autumn", requests=RequestOptions(chunk_size=1))
    sent(plan, client, ledger, limits=Limits(first=2))
    sms.send_test(plan, client, to=example("GB"), ledger=ledger)
    text = Shown(charts.report(ledger, tmp_path / "spent.html").read_text(encoding="utf-8")).text
    at = ledger.record("autumn").requests["settled_at"].dropna()
    assert f"{at.min().day} {at.min():%B %Y %H:%M} UTC" in text
    assert "ledger ledger.sqlite, campaign autumn and tests" in text
    assert "the sandbox, a rehearsal that texted nobody" in text
    assert "1 message still to be sent, in no total." in text
    assert str(tmp_path) not in text


def test_accepted_messages_without_parts_are_reported(tmp_path: Path) -> None:
    """Nothing is divided by no parts; a chart of parts says that there are none yet."""
    given = table(3, parts=None, encoding=["gsm7", "gsm7", "ucs2"])
    assert "USD 0.0225" in charts.report(given, tmp_path / "spent.html").read_text(encoding="utf-8")
    charts.report(given, tmp_path / "spent.xlsx")
    assert "No parts yet" in charts.bars(cost.by(given, "encoding"), value="parts").text()


def test_a_table_without_months_or_countries_is_reported_too(tmp_path: Path) -> None:
    """Only what is there is drawn."""
    bare = table(2)[["status", "parts", "price", "currency"]]
    assert "USD 0.0150" in charts.report(bare, tmp_path / "spent.html").read_text(encoding="utf-8")
    assert openpyxl.load_workbook(charts.report(bare, tmp_path / "spent.xlsx")).sheetnames == ["Report", "Totals"]


def test_the_title_names_the_campaign_and_a_sentence_concludes(tmp_path: Path) -> None:
    given = table(4, iso=["US", "US", "DE", "IN"], price=[1.0, 1.0, 1.0, 3.0], est_cost=1.0, campaign="autumn")
    text = charts.report(given, tmp_path / "a.html").read_text(encoding="utf-8")
    said = "4 messages cost USD 6.00, USD 2.00 more than estimated; the largest part of it, 50%, went to India IN."
    assert f"<h1>What campaign autumn cost</h1><p>{said}</p>" in text
    sheet = openpyxl.load_workbook(charts.report(given, tmp_path / "a.xlsx"))["Report"]
    assert [row[1].value for row in sheet.iter_rows(min_row=2, max_row=3)] == ["What campaign autumn cost", said]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"price": [1.0, 1.0, None, None], "currency": ["USD", "USD", None, None]},
         "2 messages cost USD 2.00. 2 messages cost an unknown amount."),
        ({"price": [1.0, 1.0, None, None]}, "4 messages cost at least USD 2.00."),
        ({"price": None, "currency": None}, "4 messages cost an unknown amount."),
        ({"price": 1.0}, "4 messages cost USD 4.00; the largest part of it, 50%, went to Germany DE."),
        ({"price": 1.0, "iso": ["US", "US", "DE", "DE"]}, "4 messages cost USD 4.00."),
    ],
)  # fmt: skip
def test_the_conclusion_is_of_all_messages_and_calls_the_largest_what_is(
    change: dict[str, Any], said: str, tmp_path: Path
) -> None:
    given = table(4, **{"iso": ["US", "DE", "DE", "FR"]} | change).drop(columns=["est_cost"])
    assert f"</h1><p>{said}</p>" in charts.report(given, tmp_path / "a.html").read_text(encoding="utf-8")


def test_tests_are_lines_of_their_own_beside_their_campaign(client: Client, ledger: Ledger, tmp_path: Path) -> None:
    people = pd.DataFrame({"phone": [example(region) for region in ("US", "DE", "FR")]})
    plan = sms.plan(people, "Hello", to="phone", campaign="autumn")
    sent(plan, client, ledger)
    alone = openpyxl.load_workbook(charts.report(ledger, tmp_path / "a.xlsx"))
    assert "By campaign" not in alone.sheetnames
    sms.send_test(plan, client, to=example("GB"), ledger=ledger)
    sheet = openpyxl.load_workbook(charts.report(ledger, tmp_path / "b.xlsx"))["By campaign"]
    lines = {row[1].value: row[2].value for row in sheet.iter_rows(min_row=2)}
    assert lines == {"autumn": 3, "autumn, tests": 1, "Total": 4}


def test_parts_that_are_not_known_are_no_number(tmp_path: Path) -> None:
    given = table(3, parts=[1, None, None], iso=["US", "DE", "DE"])
    assert re.search(r"1  parts of those whose parts are known\n", cost.card(given).text())
    assert re.search(r"Germany DE +2  unknown", cost.card(given).text())
    page = Shown(charts.report(given, tmp_path / "a.html").read_text(encoding="utf-8"))
    assert ["Germany DE", "2", "unknown"] in [row[:3] for lines in page.tables for row in lines]
    assert re.search(r"3  parts\n", cost.card(table(3)).text())


def test_days_are_called_by_their_date() -> None:
    given = table(2, at=pd.to_datetime(["2026-10-31 10:00Z", "2026-11-01 10:00Z"]))
    assert re.findall(r"2026-\S+ +\S", charts.bars(cost.by(given, "day")).text()) == ["2026-10-31  █", "2026-11-01  █"]


def test_shares_add_up_and_small_countries_stand_together(tmp_path: Path) -> None:
    """On the page; the workbook has every country. What is folded adds up to the total too."""
    small = ["FR", "GB", "NG", "BR"]
    given = table(10, iso=["US", "US", "DE", "DE", "IN", "IN", *small], price=[1.0] * 6 + [0.01] * 4)
    page = Shown(charts.report(given, tmp_path / "a.html").read_text(encoding="utf-8"))
    rows = next(lines for lines in page.tables if lines[0][-1] == "Share")[1:]
    assert [row[0] for row in rows][3:] == ["4 others", "Total"]
    assert rows[3][1:4] == ["4", "4", "0.0400"]
    assert sum(int(row[5].strip("%<")) for row in rows[:-1] if row[5] != "<1%") == 100
    assert openpyxl.load_workbook(charts.report(given, tmp_path / "a.xlsx"))["By country"].max_row == 9


def test_pages_are_numbered(tmp_path: Path) -> None:
    text = charts.report(table(1), tmp_path / "a.html").read_text(encoding="utf-8")
    assert 'counter(page) " / " counter(pages)' in text


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
    assert "UCS-2     ████████████ 3, 75%" in charts.bars(cost.by(given, "encoding"), value="parts").text()
    with pytest.raises(UsageError, match="value= must be one of"):
        charts.bars(cost.summary(given), value="share")  # type: ignore[arg-type]


def test_every_figure_is_that_of_the_replies(client: Client, ledger: Ledger, box: Sandbox) -> None:
    """From plan to report: totals equal the sandbox's own record, message by message, to the last digit."""
    numbers = [example(region) for region in ("US", "DE", "IN", "NA", "BR", "FR")]
    people = pd.DataFrame({"phone": numbers, "n": range(len(numbers))})
    text = "{n}: 20 % off – until Sunday " * 6
    plan = sms.plan(people, text, to="phone", campaign="autumn", requests=RequestOptions(chunk_size=4))
    made = sms.send(plan, client=client, ledger=ledger, progress=False)
    inbox = box.inbox
    exact = [Decimal(str(price)) for price in inbox["price"]]
    assert cost.summary(made, decimals=True)["cost"].tolist() == [sum(exact)]
    assert cost.summary(ledger, decimals=True)["cost"].tolist() == [sum(exact)]
    countries = cost.by_country(made, decimals=True).set_index("iso")
    for iso, rows in inbox.groupby("iso"):
        assert countries.loc[iso, "cost"] == sum(Decimal(str(price)) for price in rows["price"])
        assert countries.loc[iso, "parts"] == rows["parts"].sum()
