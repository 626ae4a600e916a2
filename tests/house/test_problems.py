"""Every code of a row stands in ``problems``, with words that help, and nowhere else."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import smsotp_nb
from smsotp_nb import phones, problems
from smsotp_nb._phones.summary import ASKS, REPAIR_NOTES
from smsotp_nb._phones.vocabulary import NOTES, PROBLEM_CODE, PROBLEMS
from smsotp_nb._results.contract import STATES
from smsotp_nb.rates import TYPES

PACKAGE = Path(smsotp_nb.__file__).parent
CODE = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*")
IN_SQL = re.compile(r"problem *= *'([A-Z_]+)'")
# Names in capitals that others gave: the system, and phonenumbers to kinds of numbers.
OTHERS = {"BLANKS_TRIMMED", "OF_WORDS", "O_BINARY", "O_NOFOLLOW", "O_NONBLOCK"} | set(TYPES)
ROOMS = ("_planning", "_ledger", "_dispatch", "_widgets")


def strings(path: Path) -> Iterator[str]:
    """Yield the texts of a source file that are no docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    told = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in told:
            yield node.value


@pytest.mark.parametrize("room", ROOMS)
def test_no_code_stands_beside_the_table(room: str) -> None:
    """A text of capitals with an underscore in these rooms is a code that is known, or a note."""
    for path in sorted((PACKAGE / room).rglob("*.py")):
        texts = set(strings(path))
        written = {text for text in texts if CODE.fullmatch(text) and "_" in text}
        written |= {found for text in texts for found in IN_SQL.findall(text)}
        assert written - set(problems.PROBLEMS) - set(NOTES) - OTHERS == set(), path


def test_a_number_s_problem_is_one_of_the_table() -> None:
    """Inside ``phones`` a problem is a number of this table, so that no other can be set."""
    assert set(PROBLEM_CODE) == set(problems.of_stage("number"))


@pytest.mark.parametrize("problem", problems.PROBLEMS.values(), ids=problems.PROBLEMS)
def test_a_code_helps(problem: problems.Problem) -> None:
    """What it means, who can act and the next step are said, on a status that the result table knows."""
    assert problem.status in STATES
    assert problem.meaning
    assert not problem.meaning.endswith(".")
    assert problem.next_step
    assert problems.explain(problem.code) == f"{problem.meaning}; {problem.next_step}"


def test_the_table_is_the_codes() -> None:
    assert problems.table()["code"].tolist() == list(problems.PROBLEMS)
    assert problems.table().notna().all(axis=None)


def test_vocabulary_stands_in_the_docstring() -> None:
    """The table people read is the table the code uses."""
    rows = re.findall(r"^([A-Z0-9_]+) {2,}(.+)$", phones.__doc__ or "", re.MULTILINE)
    assert rows == [*PROBLEMS.items(), *NOTES.items()]


def test_every_problem_has_a_question() -> None:
    """Whoever gets a report knows what to ask for; policies a caller chose need none."""
    assert set(PROBLEMS) - set(ASKS) == {"REGION_MISMATCH", "TEST_NUMBER", "DUPLICATE_OF"}
    assert set(NOTES) > REPAIR_NOTES > {"TRIMMED", "OLD_PREFIX_DROPPED"}
