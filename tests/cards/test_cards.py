"""Cards: escaped, readable without their style sheet, aligned in a terminal, said in words."""

from __future__ import annotations

import re
import unicodedata
from decimal import ROUND_DOWN, Context, Decimal, localcontext
from html.parser import HTMLParser

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import smsotp_nb as sms
from smsotp_nb import _cards as cards
from smsotp_nb._cards import (
    Bar,
    Bars,
    Card,
    Code,
    Figures,
    Marked,
    Message,
    Note,
    State,
    Table,
    about,
    fitted,
    style_sheet,
    width,
)
from smsotp_nb._widgets import skin

HOSTILE = "<script>alert(1)</script>\"'&<b>$x$</b>"


def full(text: str = "plain") -> Card:
    """A card with every block and every cell, all saying ``text``."""
    cells = (text, Code(text), State("check", text), Marked(((text, "del"), (text, "ins"))), Bar(0.5, text))
    return Card(
        text,
        text,
        (
            Figures(((text, text),)),
            Table((text,) * 5, (cells, (Bars((Bar(1, text),)), 1, 0.5, None, 2)), title=text, more=text),
            Note("!", text),
            Message(text, text, text, marks=(text[:1],)),
        ),
        text,
    )


class Outline(HTMLParser):
    """Tags, classes and text of a card, and whether its tags close in order."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.open: list[str] = []
        self.text = ""
        self.attributes: list[tuple[str, str | None]] = []
        self.feed(html)
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.open.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] != ["style"]:
            self.text += data


def test_hostile_text_is_never_markup() -> None:
    """Whatever a file holds, a card has the tags of a harmless one."""
    assert set(Outline(full(HOSTILE).html()).tags) == set(Outline(full().html()).tags)


@settings(deadline=None)
@given(st.text(max_size=30))
def test_any_text_makes_a_well_formed_card(text: str) -> None:
    """Any characters, in any place: every tag closes, nothing is lost but control characters."""
    outline = Outline(full(text).html())
    for piece in re.split(r"[^\w]", text):
        assert unicodedata.category(piece[:1] or "a") == "Cc" or piece in outline.text
    assert full(text).text()


def test_inline_styles_survive_a_sanitizer() -> None:
    """An untrusted notebook drops ``var()`` and ``color-mix``: inline styles have none, and nothing runs."""
    assert full().html().startswith('<div class="smsotp-card mathjax_ignore')  # no dollars set as mathematics
    inline = [value for name, value in Outline(full().html()).attributes if name == "style"]
    assert inline
    assert not [style for style in inline if re.search(r"var\(|color-mix|url\(|position", style or "")]
    assert not [name for name, _ in Outline(full().html()).attributes if name.startswith("on")]


def test_a_share_bar_is_a_border_with_a_width() -> None:
    """Borders are drawn in forced colours and on paper, backgrounds are not."""
    drawn = Card("t", "", (Table(("a",), ((Bar(0.25, "25%"),), (Bar(7, "too much"),))),)).html()
    assert "width:25.0%;border-top:.6em solid" in drawn
    assert "width:100.0%" in drawn


def test_steps_that_rise_fall_and_add_up_are_told_apart_without_colour() -> None:
    bars = (Bar(0.5, "total"), Bar(0.25, "more", start=0.5, rises=True), Bar(0.25, "less", start=0.5, hollow=True))
    card = Card("t", "", (Table(("",), tuple((bar,) for bar in bars)),))
    assert [line.strip()[:3] for line in card.text().splitlines()[-3:]] == ["███", "▒▒▒", "░░░"]
    assert [word in card.html() for word in (".6em solid", ".6em double", 'class="so-hollow"')] == [True] * 3


def test_every_cell_of_a_wide_table_carries_its_label() -> None:
    """In a narrow card rows stack, and each value is named by its column."""
    labels = [value for name, value in Outline(full().html()).attributes if name == "data-label"]
    assert labels == ["plain"] * 10


def test_the_keyboard_reaches_a_table_that_scrolls_in_a_narrow_card() -> None:
    numbers = ("left", *["right"] * 4)
    columns = ("Country", "Messages", "Parts", "Rate", "Cost")
    wide = Card("", "", (Table(columns, (("DE", 1, 1, "0.07", "0.07"),), numbers),)).html()
    assert 'tabindex="0" role="group" aria-label="Table: Country"' in wide
    assert "tabindex" not in Card("", "", (Table(("Row", "Why"), ((1, "blank"),)),)).html()


def test_states_are_words_with_signs() -> None:
    """No state is told by colour alone, in HTML or text."""
    card = Card("t", "", (Note("cross", "refused"), Table(("a",), ((State("check", "fixed"),),))))
    for form in (card.text(), Outline(card.html()).text.replace("\xa0", " ")):
        assert "✕" in form
        assert "✓ fixed" in form


def test_columns_line_up_with_wide_and_combining_characters() -> None:
    """East Asian characters take two columns of a terminal, combining marks none."""
    rows = (("东京", 1), ("Zoe\u0308", 22), ("Ann", 333))
    lines = Card("t", "", (Table(("Name", "n"), rows, ("left", "right")),)).text().split("\n")[2:]
    assert {cards.width(line) for line in lines} == {len("Name  333")}


def test_control_characters_do_not_reach_a_terminal() -> None:
    """A text from a file cannot move the cursor or turn the line round."""
    hostile = "a\x1b[2Jb\u202ec\rd"
    assert full(hostile).text().isprintable() or set(full(hostile).text()) & set("\x1b\u202e\r") == set()
    assert "\\u001b[2J" in full(hostile).text()
    assert "\u202e" not in full(hostile).html()


def test_a_message_keeps_its_lines_and_marks_characters() -> None:
    """A recipient sees line breaks; the characters that cost are marked one by one, also next to markup."""
    card = Card("t", "", (Message("+1202...0123", "a – b\n<–&", marks=("–", "&")),))
    assert card.html().count("<mark>–</mark>") == 2
    assert "&lt;<mark>–</mark><mark>&amp;</mark>" in card.html()
    assert "  | a – b\n  | <–&" in card.text()


@pytest.mark.parametrize(
    ("value", "currency", "said"),
    [
        (38.42, "USD", "USD 38.42"),
        (Decimal("38.420000"), "USD", "USD 38.42"),
        (0.0075, "USD", "USD 0.0075"),
        (0.000001, "", "0.000001"),
        (0, "CNY", "CNY 0.00"),
        (1234567.891, "EUR", "EUR 1,234,567.8910"),
        (0.1 + 0.2, "USD", "USD 0.30"),
        (None, "USD", "–"),
        (float("nan"), "USD", "–"),
        (-3.5, "USD", "USD -3.50"),
    ],
)
def test_money_is_written_with_its_currency_first(value: float, currency: str, said: str) -> None:
    """Never a dollar sign, which a notebook would read as a formula."""
    assert cards.money(value, currency) == said


@pytest.mark.parametrize(
    ("value", "said"),
    [(1.125, "1.13"), (2.925, "2.93"), (1.425, "1.43"), (-1.125, "-1.13"), (Decimal("0.005"), "0.01")],
)
def test_money_is_rounded_half_up_from_what_is_written(value: float, said: str) -> None:
    """As somebody checks it with a calculator, and as a message says it, whatever the decimal context."""
    with localcontext(Context(prec=2, rounding=ROUND_DOWN)):
        assert cards.money(value, places=2) == said


@pytest.mark.parametrize(
    ("value", "said"),
    [(0.334, "33%"), (0.125, "13%"), (0.545, "55%"), (1, "100%"), (0, "0%"), (0.004, "<1%"), (None, "–")],
)
def test_shares_are_whole_percent(value: float, said: str) -> None:
    """A small share is not none."""
    assert cards.share(value) == said


@pytest.mark.parametrize(
    ("value", "said"),
    [(9.334, "USD 9.33"), (0.0225, "USD 0.0225"), (1.0, "USD 1.00"), (-2.346, "USD -2.35"), (None, "–")],
)
def test_a_total_is_short_from_one_on_and_exact_below(value: float | None, said: str) -> None:
    assert about(value, "USD") == said


def test_figures_never_leave_one_alone_in_a_row() -> None:
    """So many stand in one row, or in two even ones."""
    found = re.findall(r"so-of-(\d)\{--so-across:(\d)", style_sheet())
    assert [across for count, across in found if count == "6"] == ["3", "6"]
    assert [across for count, across in found if count == "5"] == ["3", "5"]
    assert "so-of-8" in Card("Many", "", (Figures((("n", 1),) * 12),)).html()


def test_a_blank_that_was_taken_away_does_not_look_like_a_dash() -> None:
    """It is coloured but not struck through; a sign that was taken away is struck through."""
    cell = Marked((("1", ""), (" ", "del"), ("-", "del"), ("2", "")))
    html = Card("Change", "", (Table(("Before",), ((cell,),)),))._repr_html_()
    assert '1<del style="text-decoration:none"> </del><del>-</del>2' in html


def test_of_a_text_without_an_end_a_card_tells_the_beginning() -> None:
    """A country of 300,000 signs, of a ledger from elsewhere, took 150 MB to show."""
    card = full("\x1b" * 300_000)
    signs = 20_000 * len("\\u001b")
    assert card.html().count("… (300,000 characters)") > 20
    assert len(card.html()) < 40 * signs
    assert len(card.text()) < 60 * signs  # a table's column is as wide in every line


def test_what_a_form_says_turns_no_line() -> None:
    assert skin.line("a\u202eb") == '<p class="smsotp-line smsotp-plain">a\\u202eb</p>'


NUMBERS = Table(
    ("Country", "Messages", "Estimated cost, USD", "What it means"),
    (("東京都港区赤坂", 1234567, "1,234,567.8901", "a long story in several words that go over lines"),) * 2,
    ("left", "right", "right", "left"),
)


CARD = Card(
    "A card with a title of many words, which is longer than a narrow terminal",
    "and a state of as many words, 東京都港区赤坂 東京都港区赤坂 東京都港区赤坂, to be broken",
    (
        Figures((("recipients with a label of some length that goes on", 1984),)),
        NUMBERS,
        Note("!", "Two rows have no name, and that is told in a sentence of more than one line."),
        Message(
            "+1202...0123",
            "A text longer than the line, as its reader sees it, line breaks kept\nas is",
            "1 part",
        ),
    ),
    "Next: what to do is said at the end, in a sentence that does not fit either.",
)


@pytest.mark.parametrize("columns", [32, 40, 60, 80, 120])
def test_a_card_fits_and_keeps_its_numbers(columns: int) -> None:
    """Wide characters count two; every number stands whole on one line."""
    lines = CARD.text(columns).split("\n")
    assert [line for line in lines if width(line) > columns] == []
    for number in ("1,234,567.8901", "1,984", "+1202...0123"):
        assert any(number in line for line in lines)
    said = set(" ".join(lines).replace(":", "").split())
    ours = {word for word in CARD.text().replace(":", "").split() if word.strip("-")}
    assert ours - said <= {"Country"}  # a row as a paragraph begins with its country


def test_what_fits_is_left_as_it_is() -> None:
    assert CARD.text(500) == CARD.text()
    assert fitted("a  b", 4) == "a  b"


def test_print_asks_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """``text()`` is for files and logs, as wide as it is."""
    monkeypatch.setenv("COLUMNS", "44")
    assert str(CARD) == CARD.text(44)
    assert str(CARD) != CARD.text()
    assert CARD._repr_html_() == CARD.html()


def test_a_card_and_a_message_round_an_amount_alike() -> None:
    """15 parts at 0.075 cost 1.125."""
    people = pd.DataFrame({"phone": [f"+12025550{last}" for last in range(100, 115)], "owed": 1.125})
    rates = pd.DataFrame({"iso": ["US"], "currency": ["USD"], "price": [0.075]})
    message = sms.Message("{owed:money}", currency="USD")
    with localcontext(Context(prec=4, rounding=ROUND_DOWN)):
        plan = sms.plan(people, message, to="phone", campaign="autumn", rates=rates)
        assert "USD 1.13  cost" in str(plan)
        assert plan.texts.unique().tolist() == ["$1.13"]
