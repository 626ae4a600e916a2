"""Cards and the report on a plain page: light, dark, forced colours, printed, and without their style sheet."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from support.tables import table

from smsotp_nb import charts, results
from smsotp_nb._cards import Bar, Card, Code, Figures, Marked, Message, Note, State, Table, page

from .conftest import ROOT, Browser, axe_findings, cut_texts

WIDTHS = (390, 760, 1280)
MEDIA: dict[str, dict[str, str]] = {
    "light": {"color_scheme": "light"},
    "dark": {"color_scheme": "dark"},
    "forced colours": {"forced_colors": "active", "color_scheme": "dark"},
    "print": {"media": "print"},
}
EVERYTHING = Card(
    "Everything: <b>a card</b>",
    "One line of state, long enough to be broken into two where there is little room for it.",
    (
        Figures((("recipients", 1984), ("estimated cost", "USD 38.42"), ("rows left out", 16))),
        Table(
            ("Row", "Before", "After", "Result", "Cost", "Share"),
            tuple(
                (
                    n,
                    Marked((("0", "del"), ("7911 123456", ""))),
                    Code("+447911123456"),
                    State(sign, word),
                    "1,234.50",
                    bar,
                )
                for n, (sign, word, bar) in enumerate(
                    [("check", "fixed", Bar(1, "66%")), ("cross", "invalid", Bar(0.5, "33%")), ("!", "duplicate", "")]
                )
            ),
            ("right", "left", "left", "left", "right", "left"),
            title="By row",
            more="and 3 more",
        ),
        Note("!", "2 rows have no name."),
        Note("cross", "12 rows cannot be sent."),
        Message("+1202...0123", "Hi Zoë, save $5 – today…\n<i>Acme</i>", "2 parts", marks=("–", "…")),
        Message("+9715...4567", "مرحبا أحمد، خصم 20٪ اليوم", "1 part"),
    ),
    "Next: what to do",
)


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The report of the sample, and a card of every block before it."""
    sample = results.read(ROOT / "sample_data" / "results_two_currencies.csv")
    long = pd.concat([sample, sample.assign(campaign="a campaign of a rather long name " * 2, id=sample["id"] + "b")])
    file = charts.report(long, tmp_path_factory.mktemp("report") / "spent.html")
    text = Path(file).read_text(encoding="utf-8")
    return text.replace("<section>", f"<section>{EVERYTHING.html()}</section><section>", 1)


@pytest.fixture
def sheet(browser: Browser) -> Iterator[Any]:
    """An empty page of its own; nothing may be asked of the network."""
    made = browser.context.new_page()
    browser.strayed.clear()
    yield made
    made.close()
    assert browser.strayed == []


def overflow(shown: Any) -> bool:
    return bool(shown.evaluate("() => document.documentElement.scrollWidth > innerWidth"))


@pytest.mark.parametrize("media", MEDIA)
def test_nothing_is_cut_and_all_is_legible(sheet: Any, document: str, media: str) -> None:
    """At three widths no word is cut, the page does not scroll sideways, and axe-core finds nothing."""
    sheet.emulate_media(**MEDIA[media])
    sheet.set_content(document)
    for width in WIDTHS:
        sheet.set_viewport_size({"width": width, "height": 900})
        assert cut_texts(sheet, ".smsotp-card") == []
        assert not overflow(sheet)
    assert axe_findings(sheet, "html") == []
    sheet.set_viewport_size({"width": 390, "height": 900})
    assert axe_findings(sheet, "html") == []


def ten_countries() -> pd.DataFrame:
    """A campaign in ten countries, nine of them billed other than estimated, in two encodings."""
    regions = ["US", "DE", "FR", "IN", "NG", "GB", "SE", "CH", "AU", "CA"] * 12
    price = [round(0.0075 + n % 10 * 0.013, 4) for n in range(120)]
    return table(
        120, iso=regions, region=regions, price=price, est_cost=[one - 0.001 * (n % 10) for n, one in enumerate(price)],
        encoding=["gsm7", "ucs2", "gsm7"] * 40, campaign=["autumn-sale"] * 60 + ["winter"] * 60,
    )  # fmt: skip


def test_ten_countries_print_on_one_page_of_a4(sheet: Any, tmp_path: Path) -> None:
    """The report of a campaign is one page on paper, and nothing of it is cut there or at 200% zoom."""
    sheet.set_content(charts.report(ten_countries(), tmp_path / "spent.html").read_text(encoding="utf-8"))
    printed = sheet.pdf(prefer_css_page_size=True)
    assert len(re.findall(rb"/Type\s*/Page\b(?!s)", printed)) == 1
    assert re.search(rb"/MediaBox\s*\[0 0 59[45]\S* 84[12]", printed)
    sheet.set_viewport_size({"width": 640, "height": 450})  # 1280 pixels at 200%
    assert cut_texts(sheet, ".smsotp-card") == []
    assert not overflow(sheet)


def test_a_country_stands_in_three_columns_where_it_is_narrow(sheet: Any, tmp_path: Path) -> None:
    """At 390 pixels no line of a country is longer than two rows, and the columns of all countries are one."""
    sheet.set_content(charts.report(ten_countries(), tmp_path / "spent.html").read_text(encoding="utf-8"))
    sheet.set_viewport_size({"width": 390, "height": 900})
    lefts, rows = sheet.evaluate(
        """() => [...document.querySelectorAll('table')].slice(1, 2).map(table => {
          const cells = [...table.querySelectorAll('tbody td')].map(cell => cell.getBoundingClientRect());
          return [new Set(cells.map(cell => Math.round(cell.right))).size,
                  [...table.querySelectorAll('tbody tr')].map(row => row.getBoundingClientRect().height)];
        })[0]"""
    )
    assert lefts == 3
    assert max(rows) < 90


def test_without_its_style_sheet_a_card_is_still_read(sheet: Any, document: str) -> None:
    """What an untrusted notebook leaves: texts, columns and bars with their lengths."""
    sheet.set_content(re.sub(r"<style>.*?</style>", "", document, flags=re.DOTALL))
    sheet.set_viewport_size({"width": 1280, "height": 900})
    assert cut_texts(sheet, ".smsotp-card") == []
    widths = sheet.evaluate("() => Array.from(document.querySelectorAll('.so-bar')).map(bar => bar.offsetWidth)")
    assert widths[0] > 0
    assert abs(widths[0] - 2 * widths[1]) <= 1
    right = sheet.evaluate("() => getComputedStyle(document.querySelector('td')).textAlign")
    assert right == "right"


def test_bars_are_there_in_forced_colours_and_on_paper(sheet: Any) -> None:
    """Borders keep their width where backgrounds go."""
    sheet.set_content(page("Bars", [EVERYTHING]))
    for media in ("forced colours", "print"):
        sheet.emulate_media(**MEDIA[media])
        drawn = sheet.evaluate("() => parseFloat(getComputedStyle(document.querySelector('.so-bar')).borderTopWidth)")
        assert drawn > 4


# -- nothing is wider than its card, however long its amounts are ------------------------------------------


AMOUNTS = ("USD 179.3325", "USD 1,234,567.89", 4_576, "CNY 0.0075", "USD 9.33, CNY 1,234.56 and EUR 77,001.02")
ROOMS = (230, 300, 390, 520, 760, 1280)
WIDER = """() => Array.from(document.querySelectorAll('.smsotp-card')).flatMap(card => {
  const room = card.getBoundingClientRect();
  const scrolled = part => part !== card
    && (getComputedStyle(part).overflowX === 'auto' || scrolled(part.parentElement));
  return Array.from(card.querySelectorAll('*')).filter(part => {
    const box = part.getBoundingClientRect();
    return box.width && !scrolled(part) && (box.right > room.right + 1 || box.left < room.left - 1);
  }).map(part => part.outerHTML.slice(0, 120));
})"""


ROW = ("United States", 12_345, "0.0075", "USD 1,234,567.89", Bar(0.5, "50%"))
COLUMNS = ("Country", "Messages", "Rate, USD", "Cost", "Share")
WIDE = Card("Wide", "", (Table(COLUMNS, (ROW,), ("left", "right", "right", "right", "left"), total=ROW),))


def figures(count: int) -> Card:
    named = ("accepted messages", "parts", "billed", "of them too much", "left")
    return Card(f"{count} figures", "", (Figures(tuple((named[n % 5], AMOUNTS[n % 5]) for n in range(count))),))


def test_no_card_has_anything_that_is_wider_than_itself(sheet: Any) -> None:
    cards = [*map(figures, range(1, 10)), EVERYTHING, WIDE]
    sheet.set_content(f"<!doctype html><body>{''.join(card.html() for card in cards)}")
    assert sheet.locator(".smsotp-card").count() == len(cards)
    for pixels in ROOMS:
        sheet.set_viewport_size({"width": pixels, "height": 900})
        assert sheet.evaluate(WIDER) == [], pixels


def test_figures_stand_in_even_rows(sheet: Any) -> None:
    short = Card("Six", "", (Figures(tuple((f"figure {n}", n) for n in range(6))),))
    assert rows_at(sheet, short, (300, 520, 1280)) == [[2, 2, 2], [3, 3], [6]]
    long = Card("Five", "", (Figures((*((f"figure {n}", n) for n in range(4)), ("billed", "USD 179.3325"))),))
    assert rows_at(sheet, long, (700, 900)) == [[3, 2], [3, 2]]


def rows_at(sheet: Any, card: Card, widths: tuple[int, ...]) -> list[list[int]]:
    """Return how many figures stand in each row, for each width of the window."""
    sheet.set_content(f"<!doctype html><body>{card.html()}")
    rows = "Object.values(Object.groupBy(document.querySelectorAll('.so-figure'), one => one.offsetTop))"
    found = []
    for pixels in widths:
        sheet.set_viewport_size({"width": pixels, "height": 900})
        found.append(sheet.evaluate(f"() => {rows}.map(row => row.length)"))
    return found
