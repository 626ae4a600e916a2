"""A generator holds no lock while it waits: one that is left half read is closed by whichever thread collects it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import smsotp_nb

LEDGER = Path(smsotp_nb.__file__).parent / "_ledger"
HOLDING = {"reading", "snapshot", "writing", "deciding"}  # verbs of `Store` whose block holds its lock


def held_over_a_yield(source: str) -> list[str]:
    """Return the generators, context managers aside, that yield inside a block of the store."""
    functions = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)]
    return [
        function.name
        for function in functions
        if not any("contextmanager" in ast.unparse(each) for each in function.decorator_list)
        for block in ast.walk(function)
        if isinstance(block, ast.With) and any(_holds(item.context_expr) for item in block.items)
        if any(isinstance(node, ast.Yield | ast.YieldFrom) for node in ast.walk(block))
    ]


def _holds(opened: ast.expr) -> bool:
    return isinstance(opened, ast.Call) and isinstance(opened.func, ast.Attribute) and opened.func.attr in HOLDING


@pytest.mark.parametrize("path", sorted(LEDGER.rglob("*.py")), ids=lambda path: str(path.relative_to(LEDGER)))
def test_no_generator_of_the_ledger_holds_its_lock_while_it_waits(path: Path) -> None:
    assert held_over_a_yield(path.read_text(encoding="utf-8")) == []


def test_such_a_generator_is_found() -> None:
    source = "def rows(store):\n    with store.reading() as connection:\n        yield from connection.execute('')"
    assert held_over_a_yield(source) == ["rows"]
    assert held_over_a_yield(f"@contextlib.contextmanager\n{source}") == []
