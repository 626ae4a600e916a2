"""Values in, HTML and text out: the one look of everything this package shows.

A card is a title, one line of state, blocks, and a closing line that says what to do next. It knows no domain word,
escapes everything and runs no script. Inline styles alone keep it readable, because a notebook that is not trusted
loses ``<style>``, ``<svg>`` and ``var()``; the style sheet adds theme colours and the narrow layout.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .blocks import SIGNS, Bar, Bars, Block, Cell, Code, Figures, Marked, Message, Meter, Note, State, Table
from .listing import SHOWN, Column, amounts, listed, notes, records
from .terminal import blocks_text, fitted, one_line, terminal_width
from .web import block_html, safe, sheet, style_sheet
from .words import MISSING, about, and_more, counted, money, number, places_by, places_of, share, shares, width


@dataclass(frozen=True, slots=True)
class Card:
    """A title, one line of state, blocks, and a closing line; a notebook shows the HTML, a terminal the text.

    Example:
        >>> print(Card("Plan: autumn-sale", "Nothing has been sent.", closing="Next: send(plan, client)"))
        Plan: autumn-sale
        Nothing has been sent.
        <BLANKLINE>
        Next: send(plan, client)
    """

    title: str
    state: str
    blocks: tuple[Block, ...] = ()
    closing: str = ""

    def html(self) -> str:
        """Return the card as one HTML element that needs no script and no network."""
        parts = [
            f'<div role="heading" aria-level="2" style="font-size:1.25em;font-weight:600">{safe(self.title)}</div>'
        ]
        if self.state:
            parts.append(f'<div class="so-soft" style="margin:.15em 0 0">{safe(self.state)}</div>')
        parts += [block_html(block) for block in self.blocks]
        if self.closing:
            parts.append(f'<div class="so-soft" style="margin:.9em 0 0">{safe(self.closing)}</div>')
        return (
            '<div class="smsotp-card mathjax_ignore tex2jax_ignore" '
            'style="max-width:62em;line-height:1.45;overflow-wrap:break-word;margin:.2em 0 .6em">'
            f"<style>{style_sheet()}</style>{''.join(parts)}</div>"
        )

    def text(self, most: int | None = None) -> str:
        """Return the card as plain text in aligned columns, at most ``most`` columns wide; None for as wide as it is.

        Lines are broken between words. Tables that are too wide lose their bars, then have words over several lines,
        then a paragraph for each row.
        """
        head = "\n".join(fitted(one_line(line), most) for line in (self.title, self.state) if line)
        closing = fitted(one_line(self.closing), most)
        return "\n\n".join(part for part in (head, *blocks_text(self.blocks, most), closing) if part)

    def __str__(self) -> str:
        return self.text(terminal_width())

    def _repr_html_(self) -> str:
        return self.html()


class WithCard:
    """What has a card is shown by it: HTML in a notebook, text where it is printed."""

    __slots__ = ()

    def card(self) -> Card:
        """Return the card."""
        raise NotImplementedError

    def __str__(self) -> str:
        return str(self.card())

    def _repr_html_(self) -> str:
        return self.card().html()


def page(title: str, cards: Sequence[Card], *, facts: Sequence[tuple[str, str]] = (), lead: str = "") -> str:
    """Return cards as one HTML file that needs nothing else, reads in light and dark, and prints on A4.

    ``lead`` is a sentence below the title; ``facts`` say what the cards are about, pairs of a name and its value.
    """
    said = "".join(f"<div><dt>{safe(name)}</dt><dd>{safe(value)}</dd></div>" for name, value in facts)
    body = "".join(f"<section>{card.html()}</section>" for card in cards)
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{safe(title)}</title><style>{sheet('page')}</style></head>"
        f"<body><main><h1>{safe(title)}</h1>{f'<p>{safe(lead)}</p>' if lead else ''}"
        f"{f'<dl>{said}</dl>' if said else ''}{body}</main></body></html>"
    )
