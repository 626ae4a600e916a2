"""Repair the text of one cell before any numbering plan is asked: remove wrappings, refuse what must not be read.

phonenumbers skips what it does not know, reads letters as digits and takes a second number for an extension. In a list
the result may be a stranger's number, so after these repairs only digits, one plus in front and separators may be left.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from html import unescape
from itertools import takewhile
from typing import Final, NamedTuple
from urllib.parse import unquote

from . import notes, times


class Cleaned(NamedTuple):
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
    without_letters: str = ""

    def became(self, text: str, note: str) -> None:
        if text != self.text:
            self.text = text
            self.notes.append(note)


BLANK_WORDS: Final = frozenset({"nan", "none", "null", "nil", "n/a", "na", "<na>", "#n/a", "n.a.", "unknown", "nat"})

START: Final = re.compile(r"(?<![(\[<\s+])[(\[<\s]*+\+?[\s(]*+\d")  # of a number
COUNTED_LABEL: Final = re.compile(
    r"\A(?=[^\W\d_])[^\d+(]*?\s?([1-9])\s?(?:- [^\W\d_]++\s?)?(?:[:)]|\.\s)\s*+"
)  # Phone 2: ...
ID: Final = re.compile(r"#\s?[1-9]")  # a number of an order or a customer
NUMBER_WORD: Final = re.compile(  # No. is the word number, No may be a no
    r"(?<=[^\W\d_])[. ]\s*+(?:no|nr)\b|\Ano\.|\Ano(?=[. ]\s*+(?:hp|telp?|telf|telepon|telefon|handphone)\b)|\bn[°º]",
    re.IGNORECASE,
)
ESCAPED: Final = re.compile(
    r"&(?:nbsp|#\d+|#x[\da-f]+);|%2[0B]|_x000[AD]_|\\[rnt]", re.IGNORECASE
)  # by web pages and files
PLUSES: Final = re.compile(r"\A[\s('\"]*+(?:00?\s?|\+\s)++(?=\+)")  # in front of the plus that counts
OF_LINKS: Final = re.compile(r"[:/@]")
EMAIL: Final = re.compile(r"(?:mailto:)?(?<![\w.+%-])[\w.+%-]++@[\w-]++(?:\.[\w-]++)+", re.IGNORECASE)
# Links and URIs (RFC 3966, RFC 5724 and what messengers made up), ids of WhatsApp, lines of vCards.
URI: Final = re.compile(
    r"\b(?:tel|callto|sms|smsto|mms|mmsto|phone|call|dial|whatsapp|viber|skype|facetime(?:-audio)?|imessage|sips?|tg|zalo"
    r"|line|im|signal|sgnl):[^\s\"'<>\[\]]++(?!\s*+[\d(])"
    r"|(?<![\w.-])(?:https?://)?(?:[\w-]++\.)*?(?:wa\.me|whatsapp\.com|t\.me|telegram\.(?:me|dog)|signal\.me|viber\.(?:com|me|click)"
    r"|zalo\.me|line\.me|imo\.im)/[^\s\"'<>\[\]]++"
    r"|\b\d{7,15}(?::\d+)?@(?:c\.us|s\.whatsapp\.net|lid)\b",
    re.IGNORECASE,
)
OF_MESSENGER: Final = re.compile(
    r"(?:whatsapp|viber|tg|zalo|line|signal|sgnl|https?)://|(?<![\w.-])(?:[\w.-]++/|\d++(?::\d++)?@)", re.IGNORECASE
)
NAMED: Final = re.compile(
    r"[?&;](?:phone|number|tel|to|num|msisdn|mobile|recipients?)=(\+?\s?[\d\-. ()]++)", re.IGNORECASE
)
CONTEXT: Final = re.compile(r";phone-context=(\+[\d\-.()]++)", re.IGNORECASE)
IN_PATH: Final = re.compile(  # Tel:0664/1234567 is a label; what stands before other slashes is no number
    r"\A(?:[a-z][\w+.-]*+:)?(?:(?![\d.-]++/)[\w.#-]*+/(?=.))*+(\+?[\d\-. ()/]++)(?:@[\w.:-]++)?/?", re.IGNORECASE
)
VCARD: Final = re.compile(r"\A\s*+(?:[\w-]++\.TEL(?:;[^:]*+)?|TEL;[^:]*+):\s*+", re.IGNORECASE)
FLOAT_TEXT: Final = re.compile(r"\A(\+?(?:[ ()-]*+\d){7,}+)[.,]0")
MONEY_TEXT: Final = re.compile(r"\A(\+?(?:[ ().-]*\d){3,})[.,]0++")  # or one point of several, or of few digits
SCIENTIFIC: Final = re.compile(r"\+?(\d)(?:[.,](\d+))?[eE]\+?(\d{1,3})")
EXTENSION: Final = re.compile(
    r"(?:;(?:ext|postd)=|(?:(?:\b|(?<=\d))e?xt(?:ensi[oó]n?|n)?|\b(?:anexo|int|interno?|dw|durchwahl|poste|ramal|toestel|wewn"
    r"|klapka|linka|mell[eé]k|anknytning|lokal|dahili|вн|вну?тр)|доб|内線|内线|分機|分机|转|轉|내선|داخلي|داخلی|x|#|,,)[.:]?\s*+)(\d++)#?$",
    re.IGNORECASE,
)
LIKE_AN_EXTENSION: Final = re.compile(r"[x#~]|,,|[^\W\d_]{2}|转|轉", re.IGNORECASE)
EXTENSION_BEHIND: Final = re.compile(r"(?:~\s?(\d{1,6})#?|[- ](\d{1,6})#)$")  # as phonenumbers reads them
TRUNK_ZERO: Final = re.compile(r"((?:\+|00)[\d )]{1,7}?)\s*[\(\[]\s*0\s*[\)\]]\s*")
OF_TWO: Final = re.compile(
    r"[;|\n\r&,]|:::|/|\\|\b(?:or|and|und|oder|ou|et|y|o|e)\b|(?<=\d)\s*(?=[+＋])|(?<=\d{7})\s+(?=\(?\d{7})",
    re.IGNORECASE,
)
SHORTHAND: Final = re.compile(r"(?:[/\\,;][\s-]*+\d{1,4}|(?<=\d)(?:\D*+\d){8}[^\d/]*+/[\s-]*+\d{5,6})$")
COUNTED: Final = re.compile(r"\A(\+?(?:[^\d+]*+\d){4,}?)\s*+[\(\[]\s*+(\d{1,4})\s*+[\)\]]$")  # a count, or digits
FOOTNOTE: Final = re.compile(r"\s\d{1,2}\)\Z")  # the mark of a footnote, or the last digits
COUNTER: Final = re.compile(r"\A[1-9]\d?\)\s*+(?=[+(\d])")  # of an item in a list, or an area code
HIDDEN: Final = re.compile(  # at the end, in front, in between
    r"\d[\s)]*+(?:[.\u2026]{2,}+|\u2026|[*_\u2022\u00b7]++|#{2,}+)$"
    r"|\A[^\d+]*+(?:(?<=[.*_\u2022]{2})|(?<=[.*_\u2022]{2} )|(?<=\u2026)|(?<=\u2026 ))\d"
    r"|\d\s*+(?:\.{3,}+|\u2026|#{2,}+)\s*+\d"
)
HIDING: Final = re.compile(r"[.*_\u2022\u00b7\u2026#]")
LAST_DIGIT: Final = re.compile(r"\d(?=\D*+\Z)")
CARRIER: Final = re.compile(r"\b0 ?[xX]{2} ?(?=[1-9]{2})")  # the place of a Brazilian carrier's code
BARS: Final = re.compile(r"(?<=[\d)])\s*+[|_~·•:'’=^`´*](?=\s?[(\d])")
COMMA: Final = re.compile(r"\d\s*+,\s*+[\d+(]")
COMMAS: Final = re.compile(
    r"\+?\(?\d{1,5}\)?(?:(?:, ?\d{1,4}){2,}|(?<=\+\d\d), ?\d{6,}|(?<=\A0\d\d), ?\d{6,}|(?<=\A0\d\d\d), ?\d{6,})"
)
LETTERS: Final = re.compile(r"\A[+(]?(?=(?:\D*+\d){5})[\dOoОоlIiІі() .\-/+]++")  # with O and l in place of digits
NO_LETTERS: Final = re.compile(r"(?<![^ ./\-])[OoОоlIiІі]+(?![^ ./\-])")  # but alone they are words
DIGIT_OF_LETTER: Final = str.maketrans("OoОоlIiІі", "000011111")
VANITY: Final = re.compile(r"\A\+?[\d ().-]*\d[ ().-]*+[A-Z]{3}[A-Z\d-]*+")
KEYPAD: Final = re.compile(r"\d-?[A-Z]{3}")  # letters of a keypad
LEFT_OVER: Final = re.compile(r"[^\d+ ().\-/\[\]]")
SIDE_BY_SIDE: Final = re.compile(r"\d{7}\s+\(?\d{7}")  # nobody writes one number in two such blocks
AT_HOME: Final = re.compile(r"\A\(?0[1-9]")
SECOND_ZERO: Final = re.compile(r"(?<=\d)\s++(?=\(?0\d)")
BARE: Final = re.compile(r"\A(?:[+\d]|\(\s*+\+?\d)[^A-Za-z]*\d")  # nothing wrapped around it
ONE_NUMBER: Final = re.compile(r"[+(]?\d[\d ().-]*")  # nothing in it but digits and separators
LIKE_A_CODE: Final = re.compile(r"\A[ (]*+[1-9]")
CONTROL: Final = re.compile(r"[\t\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
TWO_NUMBERS: Final = 16  # digits; no number has so many behind its prefixes
MOST_OF_TWO: Final = 36  # digits of two numbers
LONGEST_FRONT: Final = 4  # digits of a calling code and the prefix behind it
NO_DIGITS: Final = bytes(code for code in range(128) if not chr(code).isdigit())
SEVEN: Final = 7  # digits that a whole number has at least
EDGES: Final = " \t\r\n,;:._-/|*•"
BLANKS: Final = " \t\r\n,;\u2028\u2029"  # in front of an extension's label
DASHES: Final = str.maketrans(
    dict.fromkeys(
        "\u2010\u2011\u2012\u2013\u2014\u2015\u2043\u207b\u208b\u2212\u2500\u2501\u30fc\uff70\ufe31\ufe58\ufe63\uff0d",
        "-",
    )
    | dict.fromkeys("\uff5e\u301c\u3030\u2053\u223c", "~")
    | dict.fromkeys("\u2502\u2503\uffe8\u01c0\u2223", "|")
    | dict.fromkeys("\u2219\u22c5\u30fb\uff65\u2027", "\u00b7")
    | dict.fromkeys("\u3001\ufe50\uff64\u060c", ",")
    | dict.fromkeys("\u3002\uff61", ".")
    | dict.fromkeys("\u3010\u3014\u300c\uff62", "(")
    | dict.fromkeys("\u3011\u3015\u300d\uff63", ")")
)
QUOTES: Final = "'\"`´‘’‚‛“”„«»<>"


def clean(raw: str, repair: Collection[str] = ()) -> Cleaned:
    """Repair the text of one cell; ``repair`` names the repairs that are only made when asked.

    Example:
        >>> clean('="+1 (415) 555-0100"').text
        '+1 (415) 555-0100'
        >>> clean("14155550100.0").text, clean("1.41556E+10").problem
        ('14155550100', 'SCI_NOTATION_LOST_DIGITS')
        >>> clean("Tfno. 0491 570 156 (home)").text, clean("https://wa.me/61491570156").text
        ('0491 570 156', '+61491570156')
        >>> clean("0491 570 156 (ring twice)").problem, clean("0491 570 156 (not his)").problem
        ('TEXT_IN_NUMBER', 'NOTE_SAYS_NO')
    """
    cell = _Cell(raw)
    if "?" not in raw:  # what a link asks for has escapes of its own
        cell.became(ESCAPED.sub(_unescaped, raw), "INVISIBLE_REMOVED")
    _characters(cell)
    cell.became(PLUSES.sub("", cell.text), "TRIMMED")
    _links(cell)
    written = cell.text
    _wrapping(cell)
    if not cell.text or cell.text.casefold() in BLANK_WORDS or not cell.text.strip("-?./ "):
        return Cleaned(raw, problem="MISSING")
    if times.is_moment(written):
        return Cleaned(raw, problem="NOT_A_NUMBER")
    if cell.hidden:
        return Cleaned(raw, problem="DIGITS_HIDDEN")
    number = _spreadsheet_number(cell)
    if number is not None:
        return number
    if ID.match(cell.text):
        return Cleaned(raw, problem="NOT_A_NUMBER")
    cleaned = _digits_only(cell, raw, repair)
    if "LETTERS_READ" in cleaned.notes and cleaned.other is None:
        return cleaned._replace(other=cell.without_letters, other_notes=cleaned.notes)
    return _plus_in_front(cell, cleaned)


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


def _unescaped(sign: re.Match[str]) -> str:
    return " " if sign[0][0] in "\\_" else unquote(unescape(sign[0]))


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
    kind = unicodedata.category(sign)
    if kind == "Nd":  # a superscript is a footnote's, a circled digit counts the items of a list
        return str(unicodedata.digit(sign))
    return unicodedata.normalize("NFKC", sign) if "\uff01" <= sign <= "\uff5e" or sign in "\ufe62\u207a" else sign


VISIBLE: Final = _Signs(_visible)
ASCII_DIGITS: Final = _Signs(_ascii_digit)


def _wrapping(cell: _Cell) -> None:
    """Remove blanks, quotes, a formula and labels, however they are nested."""
    cell.hidden = _digits_hidden(cell.text)
    _letters(cell)
    cell.text = CARRIER.sub("0", cell.text)
    if BARE.fullmatch(cell.text):
        return
    for _ in range(4):
        before = cell.text
        bare = cell.text.strip(QUOTES + " ")
        cell.hidden |= _digits_hidden(bare)
        stray = "" if bare.startswith("+") else "+"
        cell.plus_behind |= bool(stray) and cell.text.rstrip(EDGES).endswith("+")
        cell.became(cell.text.lstrip(EDGES).rstrip(EDGES + "(" + stray), "TRIMMED")
        cell.became(cell.text.removeprefix("=").strip(QUOTES), "QUOTE_REMOVED")
        _letters(cell)
        _front(cell)
        if cell.text == before:
            return


def _links(cell: _Cell) -> None:
    """Replace links, URIs and vCard lines by their numbers; drop e-mail addresses beside a number."""
    if not OF_LINKS.search(cell.text):
        return
    text = cell.text
    card = VCARD.match(text)
    if card and not notes.says_no(card[0]):
        text = text[card.end() :]
    if URI.search(text):
        text = URI.sub(_of_uri, text).strip(EDGES + ")")
    without = EMAIL.sub(" ", text).strip(EDGES)
    cell.became(text if "@" not in text or digits_in(without) < SEVEN - 1 else without, "LABEL_REMOVED")


def _of_uri(found: re.Match[str]) -> str:
    """Return the number of a link, with the plus that messengers leave out; a link without a number as it is."""
    uri = unquote(found[0])
    context, named = CONTEXT.search(uri), NAMED.search(uri)
    path, _, rest = uri.partition(";")
    in_path = IN_PATH.fullmatch(path.partition("?")[0].partition("&")[0])
    number = named[1] if named else in_path[1] if in_path else ""
    if context and number[:1] != "+":
        number = context[1] + " " + number
    if digits_in(number) < SEVEN:
        return found[0]
    if OF_MESSENGER.match(uri) and number[:1] not in "+0(":
        number = "+" + number
    extension = EXTENSION.search(f";{rest}")
    return f" / {number}{extension[0] if extension else ''} / "


def _front(cell: _Cell) -> None:
    """Remove words in front of a number: labels in any language, a name, nothing that may say no."""
    if cell.text[:1] in "+0123456789" or ID.match(cell.text):
        return
    text = times.HOURS.sub(lambda time: " " * len(time[0]), cell.text)
    label = COUNTED_LABEL.match(text)
    start = label or START.search(text)
    if start is None:
        return
    end = start.end() if label else start.start()
    if end and notes.read(NUMBER_WORD.sub(" ", text[: label.start(1) if label else end])) == "nothing":
        cell.became(cell.text[end:].lstrip(), "LABEL_REMOVED")


def _letters(cell: _Cell) -> None:
    """``O171 1234567``: read O and l where digits must be; whether that is a number, its plan says."""
    if LETTERS.fullmatch(cell.text) and any(map(str.isalpha, cell.text)) and not NO_LETTERS.search(cell.text):
        cell.without_letters = cell.text.translate(dict.fromkeys(DIGIT_OF_LETTER))
        cell.became(cell.text.translate(DIGIT_OF_LETTER), "LETTERS_READ")


def _digits_hidden(text: str) -> bool:
    """Return whether stars, dots or lines replace digits; the same sign on both sides is decoration."""
    return HIDING.search(text) is not None and text[:1] != text[-1:] and HIDDEN.search(text) is not None


def _plus_in_front(cell: _Cell, cleaned: Cleaned) -> Cleaned:
    """``447911123456+``: the plus of a number that went through a right-to-left page, or a stray one."""
    if not cell.plus_behind or cleaned.problem or cleaned.other or not LIKE_A_CODE.match(cleaned.text):
        return cleaned
    made = tuple(note for note in cleaned.notes if note != "TRIMMED")
    return cleaned._replace(other="+" + cleaned.text.lstrip(), other_notes=(*made, "PLUS_MOVED"))


def _spreadsheet_number(cell: _Cell) -> Cleaned | None:
    """Text that began as a number in a spreadsheet: ``14155550100.0``, ``1.41555501E+10``."""
    made = tuple(cell.notes)
    if cell.text[-1] != "0" and "e" not in cell.text.lower():
        return None
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
    many = digits_in(cell.text) >= (TWO_NUMBERS if ONE_NUMBER.fullmatch(cell.text) else 2 * SEVEN)
    one = ONE_NUMBER.fullmatch(cell.text) and not SIDE_BY_SIDE.search(cell.text) and not COUNTED.fullmatch(cell.text)
    counted = _without_counter(cell)
    if counted is not None:
        return counted
    if one and not many and not _halves(cell.text):
        return _trunk_zero(cell)
    whole = cell.text
    notations = twice(_without_note(cell.text, repair)) if many else None
    if notations:
        made = (*cell.notes, "SAME_NUMBER_TWICE")
        return Cleaned(notations[0], made, other=notations[1], other_notes=made)
    if "vanity" in repair and digits_in(whole) > SEVEN and VANITY.fullmatch(whole) and notes.says_no(whole):
        return Cleaned(raw, problem="NOTE_SAYS_NO")
    if "vanity" in repair and VANITY.fullmatch(cell.text):
        return Cleaned(cell.text, (*cell.notes, "VANITY_LETTERS"))
    extension = _extension(cell.text)
    if extension:
        if len(extension[extension.lastindex or 1]) >= SEVEN:
            return Cleaned(raw, problem="MULTIPLE_NUMBERS")
        cell.became(cell.text[: extension.start()].rstrip(BLANKS).rstrip(EDGES), "EXTENSION_DROPPED")
    if COMMAS.fullmatch(cell.text):
        cell.text = cell.text.replace(",", " ")
    if holds_several(cell.text):
        several = sum(digits_in(piece) >= SEVEN for piece in pieces(cell.text)) > 1
        noted = (notes.of_all_numbers if several else notes.says_no)(whole)
        return Cleaned(cell.text, problem="NOTE_SAYS_NO" if noted else "MULTIPLE_NUMBERS")
    cell.became(_without_note(cell.text, repair), "TRAILING_NOTE_DROPPED")
    cell.text = BARS.sub("-", cell.text)
    counted = COUNTED.fullmatch(cell.text)
    if counted:
        made = tuple(cell.notes)
        return Cleaned(counted[1], (*made, "EXTENSION_DROPPED"), other=cell.text, other_notes=made)
    if LEFT_OVER.search(cell.text):
        if digits_in(cell.text) < 3:
            return Cleaned(raw, problem="NOT_A_NUMBER")
        return Cleaned(raw, problem=_problem_of_words(whole))
    return _trunk_zero(cell)


def _problem_of_words(text: str) -> str:
    if notes.says_no(text):
        return "NOTE_SAYS_NO"
    return "OTHER_PERSON" if notes.of_other_people(text) else "TEXT_IN_NUMBER"


def _without_counter(cell: _Cell) -> Cleaned | None:
    """Read a number without the ``1)`` of a list or a footnote beside it; where its plan has both, none is texted."""
    counter, footnote = COUNTER.match(cell.text), FOOTNOTE.search(cell.text)
    if counter:
        number, note = cell.text[counter.end() :], "LABEL_REMOVED"
    elif footnote and cell.text.count("(") < cell.text.count(")"):
        number, note = cell.text[: footnote.start()], "TRAILING_NOTE_DROPPED"
    else:
        return None
    if not ONE_NUMBER.fullmatch(number) or digits_in(number) < SEVEN:
        return None
    made = tuple(cell.notes)
    return Cleaned(number, (*made, note), other=cell.text, other_notes=made)


def _extension(text: str) -> re.Match[str] | None:
    """Find an extension behind a number, which phonenumbers also takes for one."""
    if not LIKE_AN_EXTENSION.search(text):
        return None
    behind = EXTENSION_BEHIND.search(text)
    if behind and digits_in(text[: behind.start()]) >= SEVEN and text.count("~") <= 1:
        return behind
    return EXTENSION.search(text)


def digits_in(text: str) -> int:
    return len(text.encode().translate(None, NO_DIGITS)) if text.isascii() else sum(map(str.isdecimal, text))


def _without_note(text: str, repair: Collection[str]) -> str:
    """Remove words behind a number that say nothing against it; on request all that do not say no."""
    rest = times.blank_hours(text)
    if rest != text and digits_in(rest) >= SEVEN:
        text = rest
    last = LAST_DIGIT.search(text)
    end = last.end() if last else len(text)
    note = text[end:]
    if not note.strip(" )"):
        return text
    if digits_in(text[:end]) < SEVEN - 1 or KEYPAD.search(text):
        return text
    says = notes.read(note)
    if says == "nothing" or ("trailing_note" in repair and says != "no"):
        closing = ")" if text[:end].count("(") > text[:end].count(")") and note.lstrip().startswith(")") else ""
        return text[:end] + closing
    return text


def twice(text: str) -> tuple[str, str] | None:
    """Divide a cell with one number in two notations, whose last digits are the same; the plan decides on both."""
    places = [at for at, sign in enumerate(text) if sign.isdecimal()]
    digits = "".join(text[at] for at in places)
    best, alike = 0, 0
    for cut in range(SEVEN, min(len(digits), MOST_OF_TWO) - SEVEN + 1):
        if places[cut] == places[cut - 1] + 1:
            continue
        one, other = digits[:cut].lstrip("0"), digits[cut:].lstrip("0")
        if one[-SEVEN:] != other[-SEVEN:]:
            continue
        pairs = zip(reversed(one), reversed(other), strict=False)
        common = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        fronts = len(one) - common, len(other) - common
        if common > alike and max(fronts) <= LONGEST_FRONT and common >= (SEVEN if 0 in fronts else SEVEN + 1):
            best, alike = cut, common
    if not best or len(digits) > MOST_OF_TWO:
        return None
    end, begin = places[best - 1] + 1, places[best]
    between, pluses = text[end:begin], ("+" in text[: places[0]], "+" in text[end:begin])
    front = {digits[:best][: best - alike], digits[best:][: len(digits) - best - alike]}
    if (all(pluses) and not _alike_abroad(*sorted(front))) or notes.read(between) != "nothing":
        return None
    second = ("+" if pluses[1] else "") + text[begin:]
    return text[:end].lstrip("[("), second.replace(")", " ", max(second.count(")") - second.count("("), 0)).rstrip()


def _alike_abroad(front: str, longer: str = "") -> bool:
    """Return whether two numbers with a plus differ at most by a zero dialled at home, or by Mexico's old 1."""
    return longer in ("", front + "0") or (front, longer) == ("52", "521")


def _trunk_zero(cell: _Cell) -> Cleaned:
    """``+44 (0)20 ...``: the zero is for calls at home and goes; where it may belong to the number both are tried."""
    dropped = TRUNK_ZERO.sub(r"\1 ", cell.text, count=1)
    if dropped == cell.text:
        return Cleaned(cell.text, tuple(cell.notes))
    return Cleaned(dropped, (*cell.notes, "TRUNK_ZERO_DROPPED"), other=cell.text, other_notes=tuple(cell.notes))


def _halves(text: str) -> list[str]:
    """Divide ``089 1234 089 1235`` at the blank, if both halves are as long as numbers; no number alone looks so."""
    if not AT_HOME.match(text) or digits_in(text) < 2 * SEVEN:
        return []
    cuts = [(text[: cut.start()], text[cut.end() :]) for cut in SECOND_ZERO.finditer(text)]
    halves = [list(parts) for parts in cuts if min(map(digits_in, parts)) >= SEVEN]
    return halves[0] if len(halves) == 1 else []


def pieces(text: str) -> list[str]:
    """Split a cell where a second number may begin; one piece where there is one number."""
    parts = [part.strip(EDGES + QUOTES) for part in _halves(text) or OF_TWO.split(text)]
    return [part for part in parts if any(sign.isdecimal() for sign in part)]


def holds_several(text: str) -> bool:
    """Return whether a cell holds more than one number, the shorthand ``4155550100/2`` included.

    Example:
        >>> holds_several("612345678,612345679"), holds_several("0664/1234567")
        (True, False)
    """
    if _halves(text):
        return True
    if not OF_TWO.search(text):
        return False
    lengths = [digits_in(part) for part in pieces(text)]
    if sum(length >= SEVEN for length in lengths) > 1 or COMMA.search(text):
        return sum(lengths) >= SEVEN
    return len(lengths) > 1 and lengths[-2] >= SEVEN and SHORTHAND.search(text) is not None
