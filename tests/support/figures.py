"""The figures that a card or a page shows, as its reader would add them up."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from html.parser import HTMLParser

FIGURE = re.compile(r"(?<![\w.,:-])\d[\d,]*(?:\.\d+)?(?![\w:-])")
AMOUNT = re.compile(r"([A-Z]{3})\s(\d[\d,]*(?:\.\d+)?)")


class Shown(HTMLParser):
    """A page as it is read: ``tables`` of rows of cells, and all of its ``text`` a line for each element."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tables: list[list[list[str]]] = []
        self.text = ""
        self._open: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self._open.append(tag)
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")
        if tag == "div":
            self._add("\n")
        elif tag in ("td", "th", "dt", "dd", "h1"):
            self.text += "\n"

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if "style" not in self._open and "title" not in self._open:
            self._add(data)

    def _add(self, data: str) -> None:
        self.text += data
        if {"td", "th"} & set(self._open):
            self.tables[-1][-1][-1] += data


def figures(text: str) -> Counter[str]:
    """Return every number of a text and how often it stands there."""
    return Counter(FIGURE.findall(text))


def micros(text: str) -> int:
    """Return the one number of a cell, an amount in millionths or a count; 0 where it says that it is not known."""
    found = FIGURE.findall(text)
    assert len(found) <= 1, text
    whole, _, rest = (found or ["0"])[0].replace(",", "").partition(".")
    return int(whole) * 1_000_000 + int(rest.ljust(6, "0") or 0) if rest else int(whole)


def amounts(texts: Iterable[str]) -> Counter[str]:
    """Add up amounts that have their currency before them, in millionths."""
    found = Counter[str]()
    for text in texts:
        for currency, amount in AMOUNT.findall(text):
            found[currency] += micros(amount)
    return found
