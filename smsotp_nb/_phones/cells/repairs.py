"""Repair the text of one cell before any numbering plan is asked: remove wrappings, refuse what must not be read.

phonenumbers skips what it does not know, reads letters as digits and takes a second number for an extension. In a list
the result may be a stranger's number, so after these repairs only digits, one plus in front and separators may be left.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from typing import Final

from . import notes


@dataclass(frozen=True, slots=True)
class Cleaned:
    """A cell after its repairs.

    Attributes:
        text: what to read; still the raw text where ``problem`` is set.
        notes: one code for every repair made.
        problem: why the cell must not be read at all, or ``""``.
        other: the second reading of an ambiguous spelling; both are put to the plan, and two valid ones are a problem.
        other_notes: one code for every repair made if that is the one taken.
    """

    text: str
    notes: tuple[str, ...] = ()
    problem: str = ""
    other: str | None = None
    other_notes: tuple[str, ...] = ()


@dataclass(slots=True)
class _Cell:
    text: str
    notes: list[str] = field(default_factory=list)
    hidden: bool = False
    plus_behind: bool = False

    def became(self, text: str, note: str) -> None:
        if text != self.text:
            self.text = text
            self.notes.append(note)


BLANK_WORDS: Final = frozenset({"nan", "none", "null", "nil", "n/a", "na", "<na>", "#n/a", "n.a.", "unknown", "nat"})

LABEL: Final = re.compile(
    r"(?:(?:tel|callto|sms|whatsapp):(?://)?"
    r"|[\u260e\u260f\u2706\u2121\U0001f4de\U0001f4f1\U0001f4f2\U0001f57e\U0001f57f]\ufe0f?\s*+:?"
    r"|\((?:m|mob|mobile|mobil|cell|handy|tel|t|p|h|w)\)\s*+:?"
    r"|(?:telephone|telefon|telefono|teléfono|téléphone|tel|tél|phone|mobile|mobil|móvil|cellphone|cell|mob|handy"
    r"|portable|gsm|whatsapp|sms|ph|no(?=[.])|nr|t|m|p)"  # No. is the word number, No may be a no
    r"(?:\s*+(?:no|nr|number))?(?:\.\s*+:?|\s*+:|\s++(?=[+\d(])|(?=\+)))\s*+",
    re.IGNORECASE,
)
FORMULA: Final = re.compile(r'\A="?([^"]*+)"?')
FLOAT_TEXT: Final = re.compile(r"\A(\+?(?:[ ()-]*+\d){7,}+)[.,]0")
MONEY_TEXT: Final = re.compile(r"\A(\+?(?:[ ().-]*\d){3,})[.,]0++")  # or one point of several, or of few digits
SCIENTIFIC: Final = re.compile(r"\+?(\d)(?:[.,](\d+))?[eE]\+?(\d{1,3})")
DATE: Final = re.compile(
    r"(?:(?:19|20)\d\d([-/.])[01]?\d\1[0-3]?\d|[0-3]?\d([-/.])[01]?\d\2(?:19|20)\d\d)(?:[ T][\d:.]+)?"
)
EXTENSION: Final = re.compile(
    r"(?:;ext=|(?:(?:\b|(?<=\d))e?xt(?:ensi[oó]n?|n)?|\banexo|\bint|\bdw|\bdurchwahl|доб|x|#|,,)[.:]?\s*+)(\d++)#?$",
    re.IGNORECASE,
)
LIKE_AN_EXTENSION: Final = re.compile(r"[x#]|,,|int|dw|durch|доб", re.IGNORECASE)
TRUNK_ZERO: Final = re.compile(r"((?:\+|00)[\d )]{1,7}?)\s*[\(\[]\s*0\s*[\)\]]\s*")
OF_TWO: Final = re.compile(
    r"[;|\n\r&,]|/|\\|\b(?:or|and|und|oder|ou|et|y|o|e)\b|(?<=\d)\s*(?=[+＋])|(?<=\d{7})\s+(?=\(?\d{7})", re.IGNORECASE
)
SERIES: Final = re.compile(r"\d\s*+/\s*+-\s*+\d{1,4}$")  # of extensions: 89 1234/-1
SHORTHAND: Final = re.compile(r"(?:[/\\,;][\s-]*+\d{1,4}|(?<=\d)(?:\D*+\d){8}[^\d/]*+/[\s-]*+\d{5,6})$")
COUNTED: Final = re.compile(r"\A(\+?(?:[^\d+]*+\d){4,}?)\s*+[\(\[]\s*+(\d{1,4})\s*+[\)\]]$")  # a count, or digits
HIDDEN: Final = re.compile(  # at the end, in front, in between
    r"\d[\s)]*+(?:[.\u2026]{2,}+|\u2026|[*_\u2022\u00b7]++)$"
    r"|\A[^\d+]*+(?:(?<=[.*_\u2022]{2})|(?<=[.*_\u2022]{2} )|(?<=\u2026)|(?<=\u2026 ))\d"
    r"|\d\s*+(?:\.{3,}+|\u2026)\s*+\d"
)
HIDING: Final = re.compile(r"[.*_\u2022\u00b7\u2026]")
LAST_DIGIT: Final = re.compile(r"\d(?=\D*+\Z)")
TRAILING_NOTE: Final = re.compile(r"(?<=[\d)])\s*+[\(\[,;:–-]*+\s*+[^\W\d_]")  # behind the last digit
VANITY: Final = re.compile(r"\A\+?[\d ().-]*\d[ ().-]*+[A-Z]{3}[A-Z\d-]*+")
LEFT_OVER: Final = re.compile(r"[^\d+ ().\-/\[\]]")
SIDE_BY_SIDE: Final = re.compile(r"\d{7}\s+\(?\d{7}")  # nobody writes one number in two such blocks
BARE: Final = re.compile(r"\A(?:[+\d]|\(\s*+\+?\d).*\d")  # nothing wrapped around it
ONE_NUMBER: Final = re.compile(r"[+(]?\d[\d ().-]*")  # nothing in it but digits and separators
LIKE_A_CODE: Final = re.compile(r"\A[ (]*+[1-9]")
CONTROL: Final = re.compile(r"[\t\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
SEVEN: Final = 7  # digits that a whole number has at least
EDGES: Final = " \t\r\n,;:._-/|*"
BLANKS: Final = " \t\r\n,;\u2028\u2029"  # in front of an extension's label
DASHES: Final = str.maketrans(dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d", "-"))
QUOTES: Final = "'\"`´‘’‚‛“”„«»"


def clean(raw: str, repair: Collection[str] = ()) -> Cleaned:
    """Repair the text of one cell; ``repair`` names the repairs that are only made when asked.

    Example:
        >>> clean('="+1 (415) 555-0100"').text
        '+1 (415) 555-0100'
        >>> clean("14155550100.0").text, clean("1.41556E+10").problem
        ('14155550100', 'SCI_NOTATION_LOST_DIGITS')
        >>> clean("0491 570 156 (home)").problem, clean("0491 570 156 (home)", {"trailing_note"}).text
        ('TEXT_IN_NUMBER', '0491 570 156')
    """
    cell = _Cell(raw)
    _characters(cell)
    _wrapping(cell)
    if not cell.text or cell.text.casefold() in BLANK_WORDS or not cell.text.strip("-?./ "):
        return Cleaned(raw, problem="MISSING")
    if cell.hidden:
        return Cleaned(raw, problem="DIGITS_HIDDEN")
    number = _spreadsheet_number(cell)
    if number is not None:
        return number
    if DATE.fullmatch(cell.text):
        return Cleaned(raw, problem="NOT_A_NUMBER")
    return _plus_in_front(cell, _digits_only(cell, raw, repair))


def characters(raw: str) -> tuple[str, tuple[str, ...]]:
    """Return a text with the blanks, digits and dashes of ASCII, and the notes on what became of it."""
    cell = _Cell(raw)
    _characters(cell)
    return cell.text, tuple(cell.notes)


def _characters(cell: _Cell) -> None:
    """Rewrite invisible characters, unusual blanks, digits of other scripts and typographic dashes."""
    if cell.text.isascii() and not CONTROL.search(cell.text):
        return
    cell.became(cell.text.translate(VISIBLE), "INVISIBLE_REMOVED")
    cell.became(cell.text.translate(ASCII_DIGITS), "DIGITS_TRANSLATED")
    cell.text = cell.text.translate(DASHES)


class _Signs(dict[int, str]):
    """What each character becomes, worked out when it first occurs."""

    def __init__(self, becomes: Callable[[str], str]) -> None:
        super().__init__()
        self.becomes = becomes

    def __missing__(self, code: int) -> str:
        self[code] = self.becomes(chr(code))
        return self[code]


def _visible(sign: str) -> str:
    if sign in "\n\r":
        return sign
    kind = unicodedata.category(sign)
    if kind in ("Cf", "Cc") and sign != "\t":
        return ""
    return " " if kind == "Zs" or sign == "\t" else sign


def _ascii_digit(sign: str) -> str:
    if unicodedata.category(sign) == "Nd":
        return str(unicodedata.digit(sign))
    return unicodedata.normalize("NFKC", sign) if "\uff01" <= sign <= "\uff5e" else sign


VISIBLE: Final = _Signs(_visible)
ASCII_DIGITS: Final = _Signs(_ascii_digit)


def _wrapping(cell: _Cell) -> None:
    """Remove blanks, quotes, a formula and labels, however they are nested."""
    cell.hidden = _digits_hidden(cell.text)
    if BARE.fullmatch(cell.text):
        return
    for _ in range(4):
        before = cell.text
        cell.hidden |= _digits_hidden(cell.text.strip(QUOTES + " "))
        stray = "" if cell.text.strip(QUOTES + " ").startswith("+") else "+"
        cell.plus_behind |= bool(stray) and cell.text.rstrip(EDGES).endswith("+")
        cell.became(cell.text.lstrip(EDGES).rstrip(EDGES + "(" + stray), "TRIMMED")
        formula = FORMULA.fullmatch(cell.text)
        cell.became(formula[1] if formula else cell.text.strip(QUOTES), "QUOTE_REMOVED")
        label = LABEL.match(cell.text)
        cell.became(cell.text[label.end() :] if label else cell.text, "LABEL_REMOVED")
        if cell.text == before:
            return


def _digits_hidden(text: str) -> bool:
    """Return whether stars, dots or lines replace digits; the same sign on both sides is decoration."""
    return HIDING.search(text) is not None and text[:1] != text[-1:] and HIDDEN.search(text) is not None


def _plus_in_front(cell: _Cell, cleaned: Cleaned) -> Cleaned:
    """``447911123456+``: the plus of a number that went through a right-to-left page, or a stray one."""
    if not cell.plus_behind or cleaned.problem or cleaned.other or not LIKE_A_CODE.match(cleaned.text):
        return cleaned
    made = tuple(note for note in cleaned.notes if note != "TRIMMED")
    return replace(cleaned, other="+" + cleaned.text.lstrip(), other_notes=(*made, "PLUS_MOVED"))


def _spreadsheet_number(cell: _Cell) -> Cleaned | None:
    """Text that began as a number in a spreadsheet: ``14155550100.0``, ``1.41555501E+10``."""
    made = tuple(cell.notes)
    ending = FLOAT_TEXT.fullmatch(cell.text)
    if ending:
        return Cleaned(ending[1], (*made, "FLOAT_ENDING"))
    money = MONEY_TEXT.fullmatch(cell.text)
    if money:
        return Cleaned(money[1], (*made, "FLOAT_ENDING"), other=cell.text, other_notes=made)
    power = SCIENTIFIC.fullmatch(cell.text)
    if not power:
        return None
    fraction, zeros = power[2] or "", int(power[3])
    if len(fraction) < zeros:
        return Cleaned(cell.text, problem="SCI_NOTATION_LOST_DIGITS")
    if fraction[zeros:].strip("0"):
        return Cleaned(cell.text, problem="NOT_A_NUMBER")
    return Cleaned(power[1] + fraction[:zeros], (*made, "SCI_NOTATION"))


def _digits_only(cell: _Cell, raw: str, repair: Collection[str]) -> Cleaned:
    """Check that one number is left: drop extensions and harmless notes, report two numbers and text."""
    if ONE_NUMBER.fullmatch(cell.text) and not SIDE_BY_SIDE.search(cell.text) and not COUNTED.fullmatch(cell.text):
        return _trunk_zero(cell)
    whole = cell.text
    if "vanity" in repair and _digits(whole) > SEVEN and VANITY.fullmatch(whole) and notes.says_no(whole):
        return Cleaned(raw, problem="NOTE_SAYS_NO")
    if "vanity" in repair and VANITY.fullmatch(cell.text):
        return Cleaned(cell.text, (*cell.notes, "VANITY_LETTERS"))
    extension = EXTENSION.search(cell.text) if LIKE_AN_EXTENSION.search(cell.text) else None
    if extension:
        if len(extension[1]) >= SEVEN:
            return Cleaned(raw, problem="MULTIPLE_NUMBERS")
        cell.became(cell.text[: extension.start()].rstrip(BLANKS).rstrip(EDGES), "EXTENSION_DROPPED")
    if holds_several(cell.text):
        noted = _whole_numbers(cell.text) <= 1 and notes.says_no(whole)
        return Cleaned(raw, problem="NOTE_SAYS_NO" if noted else "MULTIPLE_NUMBERS")
    counted = COUNTED.fullmatch(cell.text)
    if counted:
        made = tuple(cell.notes)
        return Cleaned(counted[1], (*made, "EXTENSION_DROPPED"), other=cell.text, other_notes=made)
    if "trailing_note" in repair:
        cell.became(_without_note(cell.text).rstrip(EDGES), "TRAILING_NOTE_DROPPED")
    if LEFT_OVER.search(cell.text):
        if _digits(cell.text) < 3:
            return Cleaned(raw, problem="NOT_A_NUMBER")
        return Cleaned(raw, problem="NOTE_SAYS_NO" if notes.says_no(whole) else "TEXT_IN_NUMBER")
    return _trunk_zero(cell)


def _digits(text: str) -> int:
    return sum(map(str.isdigit, text))


def _without_note(text: str) -> str:
    last = LAST_DIGIT.search(text)
    note = TRAILING_NOTE.search(text, last.end() if last else 0)
    harmless = note is not None and notes.read(text[note.start() :]) == "nothing"
    return text[: note.start()] if note and harmless else text


def _trunk_zero(cell: _Cell) -> Cleaned:
    """``+44 (0)20 ...``: the zero is for calls at home and goes; where it may belong to the number both are tried."""
    dropped = TRUNK_ZERO.sub(r"\1 ", cell.text, count=1)
    if dropped == cell.text:
        return Cleaned(cell.text, tuple(cell.notes))
    return Cleaned(dropped, (*cell.notes, "TRUNK_ZERO_DROPPED"), other=cell.text, other_notes=tuple(cell.notes))


def pieces(text: str) -> list[str]:
    """Split a cell where a second number may begin; one piece where there is one number."""
    parts = [part.strip(EDGES + QUOTES) for part in OF_TWO.split(text)]
    return [part for part in parts if any(sign.isdigit() for sign in part)]


def _whole_numbers(text: str) -> int:
    return sum(_digits(piece) >= SEVEN for piece in pieces(text))


def holds_several(text: str) -> bool:
    """Return whether a cell holds more than one number, the shorthand ``4155550100/2`` included.

    Example:
        >>> holds_several("612345678,612345679"), holds_several("0664/1234567")
        (True, False)
    """
    if SERIES.search(text):
        return True
    if not OF_TWO.search(text):
        return False
    lengths = [_digits(part) for part in pieces(text)]
    if sum(length >= SEVEN for length in lengths) > 1 or "," in text.strip(EDGES):
        return sum(lengths) >= SEVEN
    return len(lengths) > 1 and lengths[-2] >= SEVEN and SHORTHAND.search(text) is not None
