"""Cards in any width: nothing is wider than its card, however long its amounts are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from smsotp_nb._cards import Bar, Card, Code, Figures, Message, Note, State, Table

from .conftest import Browser

AMOUNTS = ("USD 179.3325", "USD 1,234,567.89", 4_576, "CNY 0.0075", "USD 9.33, CNY 1,234.56 and EUR 77,001.02")
WIDTHS = (230, 300, 390, 520, 760, 1280)
WIDER = """() => Array.from(document.querySelectorAll('.smsotp-card')).flatMap(card => {
  const room = card.getBoundingClientRect();
  const scrolled = part => part !== card
    && (getComputedStyle(part).overflowX === 'auto' || scrolled(part.parentElement));
  return Array.from(card.querySelectorAll('*')).filter(part => {
    const box = part.getBoundingClientRect();
    return box.width && !scrolled(part) && (box.right > room.right + 1 || box.left < room.left - 1);
  }).map(part => part.outerHTML.slice(0, 120));
})"""


def figures(count: int) -> Card:
    named = ("accepted messages", "parts", "billed", "of them too much", "left")
    return Card(f"{count} figures", "", (Figures(tuple((named[n % 5], AMOUNTS[n % 5]) for n in range(count))),))


def everything() -> Card:
    number = Code("+12025550123")
    row = ("United States", 12_345, "0.0075", "USD 1,234,567.89", Bar(0.5, "50%"))
    columns = ("Country", "Messages", "Rate, USD", "Cost", "Share")
    return Card(
        "A card with a long title that says what it is about",
        "Nothing has been sent.",
        (
            Table(columns, (row, row), ("left", "right", "right", "right", "left"), total=row),
            Table(("Row", "Number", "State"), ((0, number, State("check", "accepted")),), ("right", "code", "left")),
            Note("!", "Rates older than 180 days: France, Brazil, India."),
            Message("+1202...0123", "Hi Maximiliana Wölfeschlegelsteinhausen-Lindqvist", "1 part"),
        ),
        'Next: results.write(results, "results.xlsx")',
    )


@pytest.fixture
def page(browser: Browser) -> Iterator[Any]:
    made = browser.context.new_page()
    yield made
    made.close()


def test_no_card_has_anything_that_is_wider_than_itself(page: Any) -> None:
    cards = [*map(figures, range(1, 10)), everything()]
    page.set_content(f"<!doctype html><body>{''.join(card.html() for card in cards)}")
    assert page.locator(".smsotp-card").count() == len(cards)
    for pixels in WIDTHS:
        page.set_viewport_size({"width": pixels, "height": 900})
        assert page.evaluate(WIDER) == [], pixels


def test_figures_stand_in_even_rows(page: Any) -> None:
    short = Card("Six", "", (Figures(tuple((f"figure {n}", n) for n in range(6))),))
    assert rows_at(page, short, (300, 520, 1280)) == [[2, 2, 2], [3, 3], [6]]
    long = Card("Five", "", (Figures((*((f"figure {n}", n) for n in range(4)), ("billed", "USD 179.3325"))),))
    assert rows_at(page, long, (700, 900)) == [[3, 2], [3, 2]]


def rows_at(page: Any, card: Card, widths: tuple[int, ...]) -> list[list[int]]:
    """Return how many figures stand in each row, for each width of the window."""
    page.set_content(f"<!doctype html><body>{card.html()}")
    rows = "Object.values(Object.groupBy(document.querySelectorAll('.so-figure'), one => one.offsetTop))"
    found = []
    for pixels in widths:
        page.set_viewport_size({"width": pixels, "height": 900})
        found.append(page.evaluate(f"() => {rows}.map(row => row.length)"))
    return found
