"""No regular expression of the package is superlinear: one long cell must not hold up everybody else.

The patterns are collected by looking, not from a list, so that a new one is under the test as soon as it is written:
every compiled pattern that a module holds, every pattern that a call of ``re`` or of pandas' ``.str`` is given, and the
tables of readings. Each meets texts made from its own structure and its own alphabet: what stands before a repeated
piece, then the piece many times, then something that fits nothing.
"""

from __future__ import annotations

import ast
import functools
import importlib
import itertools
import pkgutil
import re
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from types import ModuleType
from typing import Any

import pytest
from support.cpu_time import TooSlow, at_most

import smsotp_nb

PACKAGE = Path(smsotp_nb.__file__).parent
# Characters of a text, each size eight times the one before; an exponential pattern fails at the first.
SIZES = (1 << 7, 1 << 10, 1 << 13)
GROWTH = 24  # times as long for eight times the text: linear patterns take 8 times as long, quadratic ones 64 times
SEEN = 0.02  # seconds; below this the growth of a time is noise, and a quadratic pattern takes ten times as long
NEVER = 5.0  # seconds of this process; what takes longer for 128 characters has no end
REPEATS = 3  # the shortest of so many times counts, so that a busy machine fails nobody
PARTS = 15  # of all patterns, so that several processes share them
METHODS = ("sub", "fullmatch")  # sub also does what search and match do
OF_RE = {"compile": METHODS, "match": ("match",), "fullmatch": ("fullmatch",), "search": ("search",)} | dict.fromkeys(
    ("findall", "finditer", "split", "sub", "subn"), ("sub",)
)
OF_STR = {"contains": ("search",), "match": ("match",), "fullmatch": ("fullmatch",)} | dict.fromkeys(
    ("extract", "extractall", "findall", "replace", "count"), ("sub",)
)
# What a class of a pattern matches, one of each kind: zeros and blanks of other scripts are as good as our own.
DIGITS, BLANKS, LETTERS = "01\u0660\uff10", " \n\u00a0\u3000", "aZ\u00e9\u4e00_"
# Patterns that only a running program knows, each with the reason why no text can make them slow.
BUILT_WHILE_RUNNING = {
    "smsotp_nb._cards.web": "an alternative of escaped single characters",
    "smsotp_nb._cli.terminal": "the name of an option, which needs no escape, before one equals sign",
    "smsotp_nb._cost.invoice_columns": "the first 200 characters of a column's name, and cells of digits alone",
    "smsotp_nb._cost.invoice_lines": "the patterns of KINDS, which are among the named ones",
    "smsotp_nb._cost.invoice_special": "words of lines, which are looked for in the first characters of a cell",
    "smsotp_nb._phones.fast.signs": "one sign of phonenumbers' own patterns, without repetition",
    "smsotp_nb._phones.fast.tables": "phonenumbers' own patterns, compiled to count their groups, matched against none",
    "smsotp_nb._phones.countries": "phonenumbers' own patterns, matched against at most 15 digits",
    "smsotp_nb._phones.judging.readings": "the patterns of READINGS, which are collected from that table",
    "smsotp_nb._planning.bodies": "a set of escaped characters",
    "smsotp_nb._planning.signs": "sequences of two to four signs, and words of spreadsheets",
    "smsotp_nb._recipients.comma": "one sign between two digits, in the first lines of a file",
    "smsotp_nb._recipients.kinds": "the beginning of a file, matched at its first character",
    "smsotp_nb._recipients.unseen": "the tags of a sheet, each read once, with the numbers of its styles",
    "smsotp_nb._results.files": "a quoted cell ends at its first single quote, so that no sign is read twice",
    "smsotp_nb._widgets.inbox": "one escaped passcode between two characters",
}


Try = tuple[tuple[str, str, str], str]  # head, repeated piece, end; and the method


@dataclass(frozen=True)
class Found:
    """A pattern, where it stands, and the ways it is matched."""

    where: str
    pattern: re.Pattern[str]
    methods: tuple[str, ...]


def modules() -> list[ModuleType]:
    names = [info.name for info in pkgutil.walk_packages([str(PACKAGE)], "smsotp_nb.")]
    return [importlib.import_module(name) for name in names if not name.endswith("__main__")]


def held(module: ModuleType) -> Iterator[Found]:
    """Every compiled pattern among a module's values, also inside its tables."""
    for name, value in vars(module).items():
        for pattern in _patterns_in(value):
            yield Found(f"{module.__name__}.{name}", pattern, METHODS)


def _patterns_in(value: object) -> Iterator[re.Pattern[str]]:
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, dict):
        yield from _patterns_in(tuple(value.values()))
    elif isinstance(value, (tuple, list, set, frozenset)):
        for one in value:
            yield from _patterns_in(one)


def _readings(module: ModuleType) -> Iterator[Found]:
    """Both patterns of every reading of a phone number, which are compiled when they are first needed."""
    for reading in vars(module).get("READINGS", ()):
        for pattern in filter(None, (reading.pattern, reading.replaced)):
            compiled = re.compile(pattern.replace("$", r"\Z"), re.ASCII)
            yield Found(f"{module.__name__}: {reading.name}", compiled, METHODS)


def called(module: ModuleType) -> Iterator[Found | str]:
    """Every pattern in a call; of one that cannot be known without running the program, where it stands."""
    assert module.__file__ is not None
    for node in ast.walk(ast.parse(Path(module.__file__).read_text(encoding="utf-8"))):
        methods = _methods(node)
        if not methods:
            continue
        assert isinstance(node, ast.Call)
        where = f"{module.__name__}:{node.lineno}"
        compiles = ast.unparse(node.func) == "re.compile"
        try:
            value = eval(compile(ast.Expression(node if compiles else node.args[0]), where, "eval"), vars(module))
        except NameError:
            yield where
            continue
        if isinstance(value, (str, re.Pattern)):
            yield Found(where, re.compile(value), methods)


def _methods(node: ast.AST) -> tuple[str, ...]:
    if not (isinstance(node, ast.Call) and node.args and isinstance(node.func, ast.Attribute)):
        return ()
    if any(word.arg == "regex" and ast.unparse(word.value) == "False" for word in node.keywords):
        return ()
    owner = node.func.value
    if isinstance(owner, ast.Name) and owner.id == "re":
        return OF_RE.get(node.func.attr, ())
    return OF_STR.get(node.func.attr, ()) if isinstance(owner, ast.Attribute) and owner.attr == "str" else ()


@functools.cache
def collected() -> tuple[list[Found], list[str]]:
    """Return the patterns, each once, and the places of those that are built while the program runs."""
    found: dict[tuple[str, int], Found] = {}
    unknown = []
    for module in modules():
        for one in itertools.chain(held(module), called(module), _readings(module)):
            if isinstance(one, str):
                unknown.append(one)
                continue
            key = one.pattern.pattern, one.pattern.flags
            before = found.get(key, Found(one.where, one.pattern, ()))
            methods = tuple(dict.fromkeys(before.methods + one.methods))
            found[key] = Found(before.where, one.pattern, methods)
    return list(found.values()), unknown


# -- adversarial texts -------------------------------------------------------------------------------------------------


def adversaries(pattern: re.Pattern[str]) -> list[tuple[str, str, str]]:
    """Return (before, repeated, after): a head that fits, a piece that is repeated, and an end that fits nothing."""
    tree = parser.parse(pattern.pattern, pattern.flags)
    pumps = dict.fromkeys(pump for pump in _pumps(tree, "") if pump[1])
    letters = list(dict.fromkeys(itertools.chain(_alphabet(tree), " aA1+")))[:16]
    pumps |= dict.fromkeys(itertools.product(("", "1", "+"), letters))
    pumps |= dict.fromkeys(("", first + second) for first, second in itertools.permutations(letters[:6], 2))
    return [(head, piece, end) for head, piece in pumps for end in ("", "!\x00")]


def _alphabet(tree: Iterable[Any]) -> Iterator[str]:
    """Yield signs that the pattern's own literals and classes match."""
    for kind, value in tree:
        if kind is op.LITERAL:
            yield chr(value)
        elif kind is op.IN:
            yield from _members(value)
        elif kind in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT):
            yield from _alphabet(value[2])
        elif kind is op.SUBPATTERN:
            yield from _alphabet(value[-1])
        elif kind is op.ATOMIC_GROUP:
            yield from _alphabet(value)
        elif kind is op.BRANCH:
            for branch in value[1]:
                yield from _alphabet(branch)
        elif kind in (op.ASSERT, op.ASSERT_NOT):
            yield from _alphabet(value[1])


def _members(items: list[Any]) -> Iterator[str]:
    if items[0][0] is op.NEGATE:
        yield _member(items)
        return
    for kind, value in items:
        if kind is op.LITERAL:
            yield chr(value)
        elif kind is op.RANGE:
            yield chr(value[0])
        else:
            yield from OF_CATEGORY.get(value, _member([(kind, value)]))


def _pumps(tree: Iterable[Any], head: str) -> Iterator[tuple[str, str]]:
    for kind, value in tree:
        if kind in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT):
            for piece in _examples(value[2]):
                yield head, piece
                yield "", head + piece
            yield from _pumps(value[2], head)
        elif kind is op.SUBPATTERN:
            yield from _pumps(value[-1], head)
        elif kind is op.ATOMIC_GROUP:
            yield from _pumps(value, head)
        elif kind is op.BRANCH:
            for branch in value[1]:
                yield from _pumps(branch, head)
        elif kind in (op.ASSERT, op.ASSERT_NOT):
            yield from _pumps(value[1], head)
        head += _example([(kind, value)])


def _examples(tree: Iterable[Any]) -> list[str]:
    """A few texts that fit a piece: one for each kind of sign where it is a single sign."""
    items = list(tree)
    if len(items) == 1 and items[0][0] is op.IN:
        return [*[_member([item]) for item in items[0][1] if item[0] is not op.NEGATE][:4], _member(items[0][1])]
    if len(items) == 1 and items[0][0] is op.SUBPATTERN:
        return _examples(items[0][1][-1])
    if len(items) == 1 and items[0][0] is op.BRANCH:
        return [_example(branch) for branch in items[0][1][1][:6]]
    return [_example(items)]


def _example(tree: Iterable[Any]) -> str:
    text = ""
    for kind, value in tree:
        if kind is op.LITERAL:
            text += chr(value)
        elif kind in (op.NOT_LITERAL, op.ANY):
            text += "a" if value != ord("a") else "b"
        elif kind is op.IN:
            text += _member(value)
        elif kind is op.BRANCH:
            text += _example(value[1][0])
        elif kind is op.SUBPATTERN:
            text += _example(value[-1])
        elif kind is op.ATOMIC_GROUP:
            text += _example(value)
        elif kind is op.ASSERT and value[0] < 0:  # what must stand before
            text += _example(value[1])
        elif kind in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT):
            text += _example(value[2]) * value[0]
    return text


CLASSES = {
    op.CATEGORY_DIGIT: "1",
    op.CATEGORY_SPACE: " ",
    op.CATEGORY_WORD: "a",
    op.CATEGORY_NOT_DIGIT: "a",
    op.CATEGORY_NOT_SPACE: "a",
    op.CATEGORY_NOT_WORD: "-",
}

OF_CATEGORY = {op.CATEGORY_DIGIT: DIGITS, op.CATEGORY_SPACE: BLANKS, op.CATEGORY_WORD: LETTERS + DIGITS}


def _member(items: list[Any]) -> str:
    if items[0][0] is op.NEGATE:
        excluded = re.compile(f"[{''.join(_class_text(item) for item in items[1:])}]")
        return next(sign for sign in "a1 -A_.\u00e9\n\u4e00!#?%" if not excluded.match(sign))
    kind, value = items[0]
    return chr(value) if kind is op.LITERAL else chr(value[0]) if kind is op.RANGE else CLASSES[value]


def _class_text(item: Any) -> str:
    kind, value = item
    if kind is op.LITERAL:
        return re.escape(chr(value))
    if kind is op.RANGE:
        return f"{re.escape(chr(value[0]))}-{re.escape(chr(value[1]))}"
    return {op.CATEGORY_DIGIT: r"\d", op.CATEGORY_SPACE: r"\s", op.CATEGORY_WORD: r"\w"}.get(
        value, {op.CATEGORY_NOT_DIGIT: r"\D", op.CATEGORY_NOT_SPACE: r"\S", op.CATEGORY_NOT_WORD: r"\W"}.get(value, "")
    )


# -- the tests ---------------------------------------------------------------------------------------------------------


def run(pattern: re.Pattern[str], method: str, text: str) -> None:
    if method == "sub":
        pattern.sub("", text)
    else:
        getattr(pattern, method)(text)


def slow_text(found: Found) -> str | None:
    """Return in words what this pattern is superlinear with, or None."""
    for one in itertools.product(adversaries(found.pattern), found.methods):
        before = 0.0
        for size in SIZES:
            took = cpu_time(found.pattern, one, size)
            if took is None:
                return described(one, size)
            if took > SEEN and before and superlinear(found.pattern, one, size):
                return described(one, size)
            before = took
    return None


def superlinear(pattern: re.Pattern[str], one: Try, size: int) -> bool:
    """Return whether eight times the text takes far more than eight times as long, each time measured again."""
    short = min(cpu_time(pattern, one, size // 8) or NEVER for _ in range(REPEATS))
    long = min(cpu_time(pattern, one, size) or NEVER for _ in range(REPEATS))
    return long > SEEN and long > GROWTH * short


def cpu_time(pattern: re.Pattern[str], one: Try, size: int) -> float | None:
    """Return the seconds of this process, None if there is no end to it."""
    (head, piece, end), method = one
    text = head + piece * (size // len(piece)) + end
    began = time.process_time()
    try:
        with at_most(NEVER):
            run(pattern, method, text)
    except TooSlow:
        return None
    return time.process_time() - began


def described(one: Try, size: int) -> str:
    (head, piece, end), method = one
    return f"{method} of {head!r} + {piece!r} * {size // len(piece)} + {end!r}"


@pytest.mark.parametrize("part", range(PARTS))
def test_no_pattern_is_superlinear(part: int) -> None:
    """They are collected here and not where the rows of tests are: each process of a run would look for them."""
    patterns, _ = collected()
    for found in patterns[part::PARTS]:
        slow = slow_text(found)
        assert slow is None, (
            f"{found.where}: {found.pattern.pattern!r} takes {GROWTH} times as long for eight times the text: {slow}. "
            "Begin it with \\A or a look-behind so that it does not try again at every sign, bound the repetition, or "
            "make it possessive (*+)."
        )


@pytest.mark.parametrize(
    "slow",
    [
        *(r"\w*[A-Z0-9]\w*", r"[\s,;]*x", r"\d+x", r"(?<=\d)\s*,*\s*x"),  # quadratic
        *(r"(a|a)*b", r"(a+)+\Z", r"\A(?:00?\s?|\+\s)+(?=\+)"),  # exponential
    ],
)
def test_a_superlinear_pattern_is_found(slow: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("house.test_patterns.NEVER", 0.5)
    assert slow_text(Found("here", re.compile(slow), METHODS))


@pytest.mark.parametrize("quick", [r"\A\w*+[A-Z]", r"\d{1,15}x", r"\A(?:a|b)*+c", r"(?<!\d)\d++x"])
def test_a_linear_pattern_is_not(quick: str) -> None:
    assert slow_text(Found("here", re.compile(quick), METHODS)) is None


def test_patterns_built_while_running_are_accounted_for() -> None:
    """What cannot be collected by looking stands in a table with its reason."""
    assert {where.partition(":")[0] for where in collected()[1]} <= set(BUILT_WHILE_RUNNING)
