"""The types of the package are told the checker by annotations; where it must be overruled, the line says why."""

from __future__ import annotations

import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import smsotp_nb

PACKAGE = Path(smsotp_nb.__file__).parent

# So many places overrule the checker. Take it down with each that goes; a new one needs another to go.
OVERRULED = 18

_IGNORED = re.compile(r"#\s*(?:type: ignore|pyright: ignore|mypy:|pragma)[^#]*(?P<reason>#\s*\w.*)?")


def overruled(path: Path) -> Iterator[tuple[int, bool]]:
    """Return the lines that ignore a complaint, or cast a value, and whether each says why."""
    reasons, casts, before = dict[int, bool](), set[int](), ("", "")
    with path.open("rb") as source:
        for token in tokenize.tokenize(source.readline):
            if token.type == tokenize.COMMENT:
                ignored = _IGNORED.match(token.string)
                reasons[token.start[0]] = ignored is None or ignored["reason"] is not None
                if ignored:
                    yield token.start[0], reasons[token.start[0]]
            elif token.string == "(" and before[1] == "cast" and (before[0] != "." or _cast_of_typing(token.line)):
                casts.add(token.start[0])
            before = (before[1], token.string)
    yield from ((line, line in reasons) for line in casts)


def _cast_of_typing(line: str) -> bool:
    return re.search(r"\b(?:typing|t)\.cast\(", line) is not None


def test_the_places_that_overrule_the_checker_are_few_and_say_why() -> None:
    found = [
        (f"{path.relative_to(PACKAGE)}:{line}", reason)
        for path in sorted(PACKAGE.rglob("*.py"))
        for line, reason in overruled(path)
    ]
    assert [place for place, reason in found if not reason] == []
    assert len(found) == OVERRULED, [place for place, _ in found]


def test_casts_and_ignored_complaints_are_found(tmp_path: Path) -> None:
    written = tmp_path / "module.py"
    lines = [
        "a = cast(int, b)",
        "a = typing.cast(int, b)  # why",
        "a = column.cast(kind)",
        "a = b  # type: ignore[assignment]",
        "a = b  # type: ignore[assignment]  # why",
        "a = 'type: ignore'",
        "a = b  # a word",
    ]
    written.write_text("\n".join(lines), encoding="utf-8")
    assert sorted(overruled(written)) == [(1, False), (2, True), (4, False), (5, True)]
