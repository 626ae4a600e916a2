"""No files of a room import each other in a loop; imports for types and those inside functions count, too."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

import smsotp_nb

PACKAGE = Path(smsotp_nb.__file__).parent
ROOMS = sorted(path.name for path in PACKAGE.iterdir() if (path / "__init__.py").is_file())

# Loops that still stand: to be opened and taken out of this table, never to be added to.
KNOWN: dict[str, list[set[str]]] = {}


def imports(room: Path) -> dict[str, set[str]]:
    """Return which files of a room each of its files imports, by their dotted names within it."""
    files = {_dotted(path.relative_to(room)): path for path in room.rglob("*.py")}
    return {name: set(_imported(name, path, files)) - {name} for name, path in files.items()}


def _dotted(path: Path) -> str:
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imported(name: str, path: Path, files: Mapping[str, Path]) -> Iterator[str]:
    home = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
    home = [part for part in home if part]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.ImportFrom) or not 0 < node.level <= len(home) + 1:
            continue
        base = [*home[: len(home) - node.level + 1], *(node.module.split(".") if node.module else [])]
        for alias in node.names:
            within = ".".join([*base, alias.name])
            yield from {within if within in files else ".".join(base)} & files.keys()


def loops(graph: Mapping[str, set[str]]) -> set[frozenset[str]]:
    """Return the sets of files of which each reaches each other by its imports."""
    reached = {name: _reached(name, graph) for name in graph}
    around = (frozenset(other for other in reached[name] if name in reached[other]) for name in graph)
    return {found for found in around if len(found) > 1}


def _reached(name: str, graph: Mapping[str, set[str]]) -> set[str]:
    found, waiting = set[str](), [name]
    while waiting:
        for other in graph[waiting.pop()] - found:
            found.add(other)
            waiting.append(other)
    return found


@pytest.mark.parametrize("room", ROOMS)
def test_no_files_of_a_room_import_each_other_in_a_loop(room: str) -> None:
    known = KNOWN.get(room, [])
    assert [sorted(loop) for loop in loops(imports(PACKAGE / room)) if not any(loop <= one for one in known)] == []


def test_a_loop_is_found_whichever_way_it_is_imported(tmp_path: Path) -> None:
    """By a name for types, inside a function, and through a folder of the room."""
    (tmp_path / "inner").mkdir()
    (tmp_path / "__init__.py").write_text("")
    (tmp_path / "a.py").write_text("from .inner.b import B\n")
    (tmp_path / "inner" / "__init__.py").write_text("")
    (tmp_path / "inner" / "b.py").write_text("if TYPE_CHECKING:\n    from ..c import C\n")
    (tmp_path / "c.py").write_text("def late():\n    from . import a\n")
    (tmp_path / "d.py").write_text("from .a import A\n")
    assert loops(imports(tmp_path)) == {frozenset({"a", "inner.b", "c"})}
