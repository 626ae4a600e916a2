"""Signs and texts taken from phonenumbers' own compiled patterns, for tests and fuzzing: nothing is left to memory.

A list of nasty signs kept by hand never held the wide tilde, which is punctuation and a label at once. So the patterns
are read as Python's ``re`` reads them: every class in them tells signs apart, and every way through them is a text.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from functools import cache
from re import _constants, _parser  # the only place where an expression can be had as a tree
from typing import Any

import pandas as pd
from phonenumbers import phonenumberutil

from support import phone_lists
from support.dtypes import STR

PATTERNS = {name: value for name, value in vars(phonenumberutil).items() if isinstance(value, re.Pattern)}
VIABLE = PATTERNS["_VALID_PHONE_NUMBER_PATTERN"]
EXTENSION = PATTERNS["_EXTN_PATTERN"]
BASIC = [chr(code) for code in range(0x10000) if not 0xD800 <= code < 0xE000]
LABEL_SIGNS = "0123456789012345 ()-/x.intexo#,;:+a~"
ODD = [None, None, "", " ", "us", "Us", "001", "ZZ", "AQ", "UK", "de ", "\u0131e"]  # regions as written
ESCAPES = {
    _constants.CATEGORY_DIGIT: r"\d",
    _constants.CATEGORY_NOT_DIGIT: r"\D",
    _constants.CATEGORY_WORD: r"\w",
    _constants.CATEGORY_NOT_WORD: r"\W",
    _constants.CATEGORY_SPACE: r"\s",
}

# What stands between the marks takes one sign more at each of the eight.
MARKED: list[tuple[str, str | None]] = [
    ("|+|4|9| 30| 90|182|0|", None),
    ("|0|3|0| 9|0|18|20|", "DE"),
    ("|0|71|8|0|99|28|42|", "LK"),
    ("|(|415|) |555|-01|0|0|", "US"),
    ("|030 |901820| e|xt|. |1|2|", "DE"),
    ("|030 |901820| |x| |1|2|", "DE"),
    ("|+1| 202 555| |01|23 |#|45|", None),
    ("|030 901820|,|,| |1|2|3|", "DE"),
    ("|1|-800|-|F|LO|WER|S|", "US"),
    ("|030| 901|8|20|b| |c|", "DE"),
    ("|tel:|+|49|-30|-901820|;|ext=1|2", None),
    ("|tel:|030|-901820;|phone-context=|+|4|9|", "DE"),
    ("|030-901820|;|isub=|12| |x|3|", "DE"),
    ("|030 901820| x1|2 |/| |x|3|4", "DE"),
    ("|011| |44 |20| 7946| 09|58|", "US"),
    ("|0|0|0|44 20| 7946 |09|58|", "DE"),
    ("|\uff0b|\u0664|\u0669| 30| \u0669\u0660|18|20|", None),
    ("|030 901820| |i|n|t| |12|", "DE"),
    ("|030|-|901820| |-| 123|#|", "DE"),
    ("|030 901820 |\u0434|\u043e|\u0431|. |1|2|", "DE"),
    ("|+|49 30 901820 extensi|o|\u0301|n |\uff11|2|", None),
]


@cache
def every_sign() -> list[str]:
    """Every code point of the basic plane that can stand in a text, every digit and one in 250 beyond it."""
    beyond = [chr(code) for code in range(0x10000, 0x110000) if code % 251 == 0 or chr(code).isdecimal()]
    return BASIC + beyond


def parts(tree: Any) -> Iterator[tuple[Any, Any]]:
    """Every step of an expression, at any depth."""
    for operator, argument in tree:
        yield operator, argument
        inside = argument if isinstance(argument, tuple | list) else ()
        for it in inside:
            for deeper in it if isinstance(it, list) else [it]:
                if isinstance(deeper, _parser.SubPattern):
                    yield from parts(deeper)


def class_of(operator: Any, argument: Any) -> str | None:
    """A step that takes one sign, as an expression of its own."""
    if operator is _constants.LITERAL:
        return re.escape(chr(argument))
    if operator is not _constants.IN:
        return None
    members = []
    for kind, value in argument:
        if kind is _constants.LITERAL:
            members.append(re.escape(chr(value)))
        elif kind is _constants.RANGE:
            members.append(f"{re.escape(chr(value[0]))}-{re.escape(chr(value[1]))}")
        else:
            members.append("^" if kind is _constants.NEGATE else ESCAPES[value])
    return f"[{''.join(members)}]"


@cache
def sign_classes() -> list[re.Pattern[str]]:
    """Every class and letter of every pattern of phonenumbers, once."""
    found = {}
    for pattern in PATTERNS.values():
        for part in parts(_parser.parse(pattern.pattern, pattern.flags)):
            expression = class_of(*part)
            if expression is not None:
                found[expression, pattern.flags] = re.compile(expression, pattern.flags)
    return list(found.values())


@cache
def alphabet() -> list[str]:
    """Every sign that stands in a pattern or is an upper or lower case of one, but of the digits 0-9 and one in 16."""
    classes = [it for it in sign_classes() if not re.search(r"\[\^|\\[dDwWs]", it.pattern)]
    named = {sign for sign in BASIC if any(it.fullmatch(sign) for it in classes)}
    return sorted(named | set("0123456789") | set([sign for sign in BASIC if sign.isdecimal()][::16]))


@cache
def _members(expression: str, flags: int) -> list[str]:
    matched = re.compile(expression, flags)
    found = [sign for sign in BASIC if matched.fullmatch(sign)]
    return found[:10] * 20 + found[10:] if r"\d" in expression else found


@cache
def _tree(pattern: re.Pattern[str]) -> Any:
    return _parser.parse(pattern.pattern, pattern.flags)


def text_of(pattern: re.Pattern[str], draw: random.Random) -> str:
    """A text that takes a way through a pattern drawn by chance."""
    return _way(_tree(pattern), pattern.flags, draw)


def _way(tree: Any, flags: int, draw: random.Random) -> str:
    return "".join(_step(operator, argument, flags, draw) for operator, argument in tree)


def _step(operator: Any, argument: Any, flags: int, draw: random.Random) -> str:
    expression = class_of(operator, argument)
    if expression is not None:
        return draw.choice(_members(expression, flags))
    if operator is _constants.SUBPATTERN:
        return _way(argument[3], flags, draw)
    if operator is _constants.BRANCH:
        return _way(draw.choice(argument[1]), flags, draw)
    if operator is _constants.MAX_REPEAT:
        least, most, inside = argument
        times = draw.randint(least, min(most, least + draw.choice((0, 1, 1, 2, 6))))
        return "".join(_way(inside, flags, draw) for _ in range(times))
    assert operator is _constants.AT, operator
    return ""


def _spoiled(text: str, draw: random.Random, signs: list[str]) -> str:
    letters = list(text)
    for _ in range(draw.choice((0, 0, 1, 1, 2, 4))):
        at = draw.randrange(len(letters) + 1)
        letters[at : at + draw.randint(0, 1)] = draw.choice(signs)
    return "".join(letters)


def _written(number: Any, draw: random.Random) -> str:
    return phone_lists.written(phone_lists.drawn(number, draw), draw.choice((0, 1, 2, 3)))


def _one(number: Any, draw: random.Random, signs: list[str]) -> str:
    kind = draw.randrange(6)
    if kind == 0:
        return "".join(draw.choice(signs) if draw.random() < 0.5 else draw.choice("0123456789") for _ in range(14))
    if kind == 1:
        return text_of(VIABLE, draw)
    if kind == 2:
        return "".join(draw.choice(LABEL_SIGNS) for _ in range(draw.randint(2, 22)))
    text = _written(number, draw)
    if kind == 3:
        text += text_of(EXTENSION, draw)
    elif kind == 4:
        text = "".join(sign if sign.isalnum() or draw.random() < 0.5 else draw.choice(signs) for sign in text)
    return text


def patterned(size: int, *, seed: int) -> pd.DataFrame:
    """Texts that phonenumbers' own patterns lead to, and numbers with signs of those patterns put in."""
    draw = random.Random(seed)
    numbers = phone_lists.example_numbers()
    signs = alphabet()
    unknown = [chr(code) for code in (0x00, 0x01, 0x0A, 0x40, 0xE9, 0xB2, 0x2460, 0x4E00, 0x202A, 0x1F4DE, 0xFEFF)]
    rows = []
    for _ in range(size):
        region, number = draw.choice(numbers)
        text = _spoiled(_one(number, draw, signs), draw, [*signs, *unknown])
        rows.append((text, draw.choice((region, region, region, draw.choice(phone_lists.REGIONS), draw.choice(ODD)))))
    return pd.DataFrame(rows, columns=["phone", "country"]).astype(STR)
