"""Signs of another format in what people would read: of HTML, JSON, a link, a workbook, another encoding, a program.

Each kind is looked for in the distinct texts of a column by a pattern of Arrow, which every text with such a sign fits
and few others; only those are judged.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from html.entities import html5
from typing import Final
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.compute as pc

from .._values import ERRORS

_TAGS: Final = (
    "a abbr b big blockquote body br button center code col dd del div dl dt em font form h1 h2 h3 h4 h5 h6 head hr "
    "html i img input ins label li link mark meta nobr ol p pre q s script section small span strike strong style sub "
    "sup svg table tbody td tfoot th thead title tr tt u ul wbr"
).replace(" ", "|")
_HTML: Final = re.compile(
    r"&(?:#\d{2,7}|#[xX][0-9a-fA-F]{2,6});?|&([A-Za-z][A-Za-z0-9]{1,31}(?:;|(?![\w=;])))"
    rf"|<(?:(?i:{_TAGS})\s*/?|[A-Za-z][\w:]*\s*/|/[A-Za-z][\w:]*\s*|!--.{{0,200}}?--)>"
)
# A path may hold \n and \t; and four digits of base 16 behind \u are no folder.
_ESCAPED: Final = re.compile(
    r'\\u[0-9a-fA-F]{4}|\\U000[0-9a-fA-F]{5}|\\x[0-9a-fA-F]{2}(?![\w\\]{0,40}\\[A-Za-z]{3})|\\r\\n|\\n(?![a-z])|\\"|:\\/\\/'
    r"|_x[0-9A-Fa-f]{4}_"
)
_LINK: Final = re.compile(r"(?i)(?<!\S)\W*+(?:[a-z][a-z0-9+.-]*+:/|mailto:|www\.|[\w-]++(?:\.[\w-]++)++[/?])")
_QUOTED: Final = re.compile(
    r"(?:%[0-9A-Fa-f]{2})+|=\?[\w-]+\?[bBqQ]\?[^?\s]+\?=|(?:=[C-F][0-9A-F](?:=[89AB][0-9A-F])+)+"
)
_NOTHING: Final = r"(?:nan|NaN|NAN|None|NaT|<NA>|null|NULL|undefined)"
_JOINED: Final = re.compile(  # "None of these" is an answer, and "nan bread" is eaten
    rf"(?:^|[\s,;/_|-]){_NOTHING}$|^{_NOTHING}[\s,;/_|-]+(?=[^\Wa-z]|{_NOTHING}(?!\w))|^{_NOTHING}[,;/_|-]"
)
_FORMULA: Final = re.compile(  # of other cells, or of numbers
    r"""\A(?:=\s*+[-+@]?(?:[^\W\d][\w.]*\((?=.*\b\$?[A-Za-z]{1,3}\$?\d)|\$?[A-Za-z]{1,3}\$?\d|'[^']+'!|\w+!\$?[A-Za-z]|\d+(?:\.\d+)?\s*[-+*/^&]|"|\(.+\)"""
    r"|\{)|[-+@][A-Z][A-Z.]+\([A-Z$])"
)
_CALLED: Final = re.compile(r"\A(?:\w++(?:\.\w++)++\(.*\)|[A-Za-z_]\w*+\((?:[\"'\[{].*|(?=.*\w=).*|)\))", re.DOTALL)
_OBJECT: Final = re.compile(r"<[^<>]*\bat 0x[0-9a-fA-F]+>|<class '[^']*'>|<\w+\.\w+: [^<>]*>|\bdtype: \w+")
_LENGTH: Final = re.compile(
    r"\A(?:-?\d++ days?,? [+-]?\d{1,2}:\d\d:\d\d(?:\.\d++)?|P(?:\d++[YMWD])*+T(?:\d++(?:\.\d++)?[HMS])++)"
)
_SPAN: Final = re.compile(r"[(\[]-?[\w.:-]+(?: [\d:]+)?, -?[\w.:-]+(?: [\d:]+)?[)\]]")


def _html(text: str) -> str | None:
    return next((it[0] for it in _HTML.finditer(text) if it[1] is None or it[1] in html5), None)


def _escaped(text: str) -> str | None:
    path = re.match(r"[A-Za-z]:\\|\\\\\w", text) is not None
    return next((it[0] for it in _ESCAPED.finditer(text) if not (path and it[0] in ("\\n", '\\"'))), None)


def _quoted(text: str) -> str | None:
    """Find what a link or a mail writes for a sign, but in a link; "%20 off" and "100%20" are shares."""
    for found in _QUOTED.finditer(text):
        before = text[: found.start()]
        if found[0][0] == "=":
            return found[0]
        if _LINK.match(text, max(before.rfind(mark) for mark in (" ", "\n", "\t")) + 1):
            continue
        meant = unquote(found[0])
        written = "\ufffd" not in meant and not (meant.isascii() and (meant.isalnum() or not meant.isprintable()))
        if written and (not meant.isascii() or before[-1:].isalpha()):
            return found[0]
    return None


def _table(codec: str) -> list[str]:
    return [bytes([byte]).decode(codec, "ignore") or chr(byte) for byte in range(256)]


def _sequences(codec: str, leads: str, times: str) -> str:
    """Return a pattern of the letters that UTF-8 becomes when it is read by another encoding."""
    letters = _table(codec)
    more = "".join(letters[0x80:0xC0]) + ("\x80-\x9f" if codec == "cp1252" else "")
    two, three = (
        "".join(one for one in letters[first : last + 1] if not leads or one in leads)
        for first, last in ((0xC2, 0xDF), (0xE0, 0xEF))
    )
    four = "" if leads else f"|[{''.join(letters[0xF0:0xF5])}][{more}]{{3}}"
    return f"(?:[{two}][{more}]){times}" + (f"|[{three}][{more}]{{2}}{four}" if three else "")


# By the encoding, with the signs that no text in it begins a word of its own with.
_ENCODINGS: Final = {
    codec: (_sequences(codec, leads, times), {sign: byte for byte, sign in reversed([*enumerate(_table(codec))])})
    for codec, leads, times in (
        ("cp1252", "", ""), ("mac_roman", "√¬‚", ""), ("cp850", "├┬", ""), ("cp437", "├┬", ""), ("cp1250", "ĂĹ", ""),
        ("cp1251", "РС", "{2,}"),
    )
}  # fmt: skip
_BROKEN: Final = {codec: re.compile(f"{sequences}|â€|вЂ") for codec, (sequences, _) in _ENCODINGS.items()}
_AFTER_A_WORD: Final = frozenset("’‘”“»«›‹…–—™®©°ºª¹²³¼½¾·\u00a0")  # signs that stand behind a letter


def _broken(text: str) -> str | None:
    """Find letters that are UTF-8 as another encoding reads it."""
    for codec, (_, byte_of) in _ENCODINGS.items():
        for found in _BROKEN[codec].finditer(text):
            try:
                bytes(byte_of.get(sign, ord(sign) & 0xFF) for sign in found[0]).decode()
            except UnicodeDecodeError:
                if found[0] not in ("â€", "вЂ"):
                    continue
            if not _ends_a_word(text, found):
                return found[0]
    return None


def _ends_a_word(text: str, found: re.Match[str]) -> bool:
    """Whether it is a letter at the end of a word, and a sign as it stands behind words: "NESTLÉ®", "AMANHÃ…"."""
    letter, before, after = found[0][0], text[: found.start()], text[found.end() :]
    if not set(found[0][1:]) <= _AFTER_A_WORD or letter in "√├┬" or after[:1].isalpha():
        return False
    if letter in "ÂÃ":  # in capitals, with accents of their own elsewhere
        return before[-1:].isupper() and any(sign.isalpha() and not sign.isascii() for sign in before + after)
    return not (letter.isupper() and before[-1:].islower())


def _written_by_a_program(text: str) -> str | None:
    if _CALLED.fullmatch(text) or _LENGTH.fullmatch(text) or _SPAN.fullmatch(text):
        return text
    if found := _OBJECT.search(text):
        return found[0]
    for read in (json.loads, ast.literal_eval):
        try:
            if isinstance(read(text), list | tuple | dict | set | bytes):
                return text
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            continue
    return None


@dataclass(frozen=True, slots=True)
class Kind:
    """One format: the pattern of Arrow that its signs fit, what finds one, who writes it so, and what helps.

    ``how`` says how a column is corrected. ``within`` says whether it is looked for in a message itself, ``whole``
    whether in cells that are whole messages; it is in values. ``of_encoding``: it comes of how a column was read.
    """

    suspect: str
    find: Callable[[str], str | None]
    writes: str
    helps: str
    how: str = ""
    within: bool = False
    whole: bool = True
    of_encoding: bool = False


def _first(pattern: re.Pattern[str]) -> Callable[[str], str | None]:
    return lambda text: found[0].strip() if (found := pattern.search(text)) else None


_EXPORTED: Final = ": have the list exported again in UTF-8, because the letter itself is lost"
_DECODED: Final = (
    ": read the file again with read_recipients(path, encoding='utf-8'), and where that shows the same, have the list "
    "exported again in UTF-8"
)
LINKED: Final = Kind(
    r"%[0-9A-Fa-f]{2}|=[C-F][0-9A-F]=|=\?",
    _quoted,
    "as a link or a mail's file writes a sign",
    "Write the sign itself",
    ", of a link for instance with {values}.map(urllib.parse.unquote, na_action='ignore'), of a mail with the modules "
    "email.header and quopri",
    within=True,
)
KINDS: Final = (
    Kind(
        r"&#?[A-Za-z0-9]{2}|<[/!]?[A-Za-z-]",
        _html,
        "as HTML writes a sign",
        "Write the sign itself, without tags",
        ", for instance with {values}.replace('<[/!A-Za-z][^<>]*>', '', regex=True)"
        ".map(html.unescape, na_action='ignore')",
        within=True,
    ),
    Kind(
        r'\\[uUxrn":]|:\\/|_x[0-9A-Fa-f]{4}_',
        _escaped,
        "as JSON, a program or a workbook's file writes a sign",
        "Write the sign itself",
        ", by reading the file that it is from again with json.load or read_recipients",
        within=True,
    ),
    LINKED,
    Kind(
        "\ufffd",
        _first(re.compile("\ufffd")),
        "in the place of a letter",
        "Write the letter",
        _EXPORTED,
        within=True,
        of_encoding=True,
    ),
    Kind(
        "|".join(pattern.pattern for pattern in _BROKEN.values()),
        _broken,
        "as a letter looks that was read in a wrong encoding",
        "Write the letter itself",
        _DECODED,
        within=True,
        of_encoding=True,
    ),
    Kind(
        r"(?s)^(?:\[.*\]|\(.*[\])]|\[.*\)|\{.*\}|[A-Za-z_][A-Za-z0-9_.]*\(.*\)|[bB]['\"].*)$|at 0x[0-9a-fA-F]|<class '"
        r"|^<\w+\.\w+: |dtype: |^-?\d+ days?,? [+-]?\d|^P[0-9YMWD]*T[0-9]",
        _written_by_a_program,
        "as a program shows a value",
        "Write the value itself into the column",
    ),
    Kind(
        r"^[=+@-]\s*[-+@]?[^\s=]",
        lambda text: text if _FORMULA.match(text) else None,
        "a formula, of which a spreadsheet shows what it gives",
        "Save the values in the spreadsheet (paste special, values) and read that",
    ),
    Kind(
        rf"(?:^|[\s,;/_|-]){_NOTHING}(?:[\s,;/_|-]|$)",
        _first(_JOINED),
        "as a program writes a missing value that it joins to another",
        "Leave missing values out where the column is made",
        ", for instance with fillna('')",
        whole=False,
    ),
    Kind(
        r"#[^\s\d]",
        _first(re.compile(rf"(?<!\w){ERRORS}(?!\w)")),
        "an error of a spreadsheet",
        "Correct the formula in the spreadsheet, or make these cells blank",
        whole=False,
    ),
)


def in_text(text: str, names: str = "") -> Iterator[tuple[str, Kind]]:
    """Give each sign within one text; ``names`` are those of columns, whose letters may be broken as well."""
    for kind in KINDS:
        sign = kind.find(text) if kind.within else None
        if sign or (kind.find is _broken and (sign := _broken(names))):
            yield sign, kind


# In the syntax of Arrow: every text with a sign of any kind fits it, and few others.
_SUSPECT: Final = "|".join(f"(?:{kind.suspect})" for kind in KINDS)


def in_texts(texts: pa.Array, *, whole: bool, linked: bool = False) -> Iterator[tuple[dict[str, str], Kind]]:
    """Give the texts with a sign of each kind, each text once; ``linked`` are values that stand in a link."""
    suspects = pc.unique(texts.filter(pc.match_substring_regex(texts, _SUSPECT))).drop_null()
    for kind in KINDS if len(suspects) else ():
        if (kind is LINKED and linked) or (whole and not kind.whole):
            continue
        mine = suspects.filter(pc.match_substring_regex(suspects, kind.suspect))
        found = ((text, kind.find(text)) for text in mine.to_pylist())
        if signs := {text: sign for text, sign in found if sign}:
            yield signs, kind
