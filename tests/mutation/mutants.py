"""Mutants of one source file: each differs in one place that decides something."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

OTHERS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.In: (ast.NotIn,), ast.NotIn: (ast.In,), ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,), ast.Lt: (ast.LtE, ast.Gt), ast.LtE: (ast.Lt, ast.GtE), ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.LtE),
}  # fmt: skip
OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult
}  # fmt: skip
NAMES = {"min": "max", "max": "min", "any": "all", "all": "any"}
# A condition of a statement on the ledger; the mutant is one that always holds.
CONDITION = re.compile(r"(?:(?<=WHERE )|(?<=AND ))([\w.]+(?:=\?\d?| IN \(.*?\)))")
# What only words, types or logs hold: a change there decides nothing.
PROSE = {"debug", "warn", "__repr__", "__reduce__", "annotation", "returns"}


Change = tuple[str, Callable[[], object]]


@dataclass(frozen=True, slots=True)
class Mutant:
    """One place of a file and what is done to it; `statement` is the first line of the statement it belongs to."""

    path: Path
    number: int
    function: str
    statement: int
    line: int
    change: str

    def source(self) -> str:
        """Return the whole file with this change."""
        tree = ast.parse(self.path.read_text(encoding="utf-8"))
        changes = {(line, change): make for line, change, make in _placed(list(_deciding(tree))[self.number])}
        changes[self.line, self.change]()
        return ast.unparse(ast.fix_missing_locations(tree))


def mutants(path: Path) -> list[Mutant]:
    """Return every mutant of a source file."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    functions = sorted((node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)), key=_first_line)
    statements = sorted((node for node in ast.walk(tree) if isinstance(node, ast.stmt)), key=_first_line)
    return [
        Mutant(
            path,
            number,
            getattr(_around(functions, line), "name", ""),
            _first_line(_around(statements, line)),
            line,
            change,
        )
        for number, node in enumerate(_deciding(tree))
        for line, change, _ in _placed(node)
    ]


def _first_line(node: ast.AST | None) -> int:
    return getattr(node, "lineno", 0)


def _around(nodes: Sequence[ast.stmt], line: int) -> ast.stmt | None:
    """Return the innermost of these statements around a line."""
    around = [node for node in nodes if node.lineno <= line <= (node.end_lineno or line)]
    return around[-1] if around else None


def _deciding(node: ast.AST) -> Iterator[ast.AST]:
    """Walk the tree without annotations, docstrings, messages, reprs and imports."""
    for field, value in ast.iter_fields(node):
        if field in {"annotation", "returns", "decorator_list", "type_comment"}:
            continue
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, ast.AST) or _is_prose(child):
                continue
            yield child
            yield from _deciding(child)


def _is_prose(node: ast.AST) -> bool:
    if isinstance(node, ast.Import | ast.ImportFrom):
        return True
    if isinstance(node, ast.JoinedStr):
        return not any(_is_sql(piece) for piece in node.values)
    if isinstance(node, ast.FunctionDef):
        return node.name in PROSE
    if isinstance(node, ast.Expr):
        value = node.value
        if isinstance(value, ast.Constant):
            return True
        return isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in PROSE
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value and not _is_sql(node)


def _is_sql(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and bool(CONDITION.search(node.value))


def _placed(node: ast.AST) -> Iterator[tuple[int, str, Callable[[], object]]]:
    """Yield line, words and deed of each change: of the node itself, and of the statements in its body."""
    for change, make in _changes(node):
        yield _first_line(node), change, make
    if hasattr(node, "body") and isinstance(node.body, list):
        for index, statement in enumerate(node.body):
            if isinstance(statement, ast.Expr | ast.Assign | ast.AugAssign | ast.Raise) and not _is_prose(statement):
                said = f"dropped: {ast.unparse(statement)[:60]}"
                yield statement.lineno, said, lambda index=index: node.body.__setitem__(index, ast.Pass())


def _changes(node: ast.AST) -> Iterator[Change]:
    if isinstance(node, ast.Compare):
        yield from _comparison(node)
    elif isinstance(node, ast.BoolOp):
        other = ast.Or if isinstance(node.op, ast.And) else ast.And
        yield f"{type(node.op).__name__} -> {other.__name__}", lambda: setattr(node, "op", other())
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield "not dropped", lambda: setattr(node, "operand", ast.UnaryOp(ast.Not(), node.operand))
    elif isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        yield f"{type(node.op).__name__} swapped", lambda: setattr(node, "op", OPERATORS[type(node.op)]())
    elif isinstance(node, ast.Constant):
        yield from _constant(node)
    elif isinstance(node, ast.Name) and node.id in NAMES and isinstance(node.ctx, ast.Load):
        yield f"{node.id} -> {NAMES[node.id]}", lambda: setattr(node, "id", NAMES[node.id])
    elif isinstance(node, ast.If | ast.IfExp | ast.While):
        for value in (True, False):
            if not (value and isinstance(node, ast.While)):
                yield f"condition -> {value}", lambda value=value: setattr(node, "test", ast.Constant(value))
    elif isinstance(node, ast.Return) and node.value is not None:
        yield "returns None", lambda: setattr(node, "value", ast.Constant(None))
    elif isinstance(node, ast.ExceptHandler) and node.type is not None:
        yield "catches nothing", lambda: setattr(node, "type", ast.Tuple([], ast.Load()))
    elif isinstance(node, ast.Call) and node.keywords:
        for index, keyword in enumerate(node.keywords):
            if keyword.arg:
                yield f"without {keyword.arg}=", lambda index=index: node.keywords.pop(index)


def _comparison(node: ast.Compare) -> Iterator[Change]:
    for index, operator in enumerate(node.ops):
        for other in OTHERS[type(operator)]:

            def swap(index: int = index, other: type[ast.cmpop] = other) -> None:
                node.ops[index] = other()

            yield f"{type(operator).__name__} -> {other.__name__}", swap


def _constant(node: ast.Constant) -> Iterator[Change]:
    value = node.value
    if isinstance(value, bool):
        yield f"{value} -> {not value}", lambda: setattr(node, "value", not value)
    elif isinstance(value, int | float):
        if value < 10:
            yield f"{value} -> {value + 1}", lambda: setattr(node, "value", value + 1)
        if value:
            yield f"{value} -> 0", lambda: setattr(node, "value", 0)
    elif _is_sql(node):
        for found in CONDITION.finditer(str(value)):
            always = f"{value[: found.start()]}({found[0]} OR 1){value[found.end() :]}"
            yield f"always: {found[0]} at {found.start()}", lambda always=always: setattr(node, "value", always)
    elif value == "FULL":
        yield "FULL -> NORMAL", lambda: setattr(node, "value", "NORMAL")
    elif isinstance(value, str):
        yield f"{value!r} -> other", lambda: setattr(node, "value", value + "X")
    elif isinstance(value, bytes):
        yield f"{value!r} -> other", lambda: setattr(node, "value", value + b"X")
