"""The house holds: imports run downhill, each outside library has one room, and the public names are the real ones."""

from __future__ import annotations

import ast
import doctest
import functools
import importlib
import inspect
import pkgutil
import re
from pathlib import Path
from types import ModuleType

import pytest

import smsotp_nb

from . import test_loops as loops

PACKAGE = Path(smsotp_nb.__file__).parent

# The rooms by level; a room may import the levels below it, and what the last column names beside them. A public face
# (``phones``) and what stands behind it (``_phones``) are one room.
LEVELS: dict[str, int] = {
    "amounts": 0, "schema": 0, "showing": 0, "errors": 0, "services": 0, "lazy": 0, "moments": 0, "warnings": 0,
    "pandas": 0, "guards": 0, "problems": 0, "columns": 0,
    "calling": 0,
    "wire": 1, "parts": 1, "settings": 1, "cards": 1, "outputs": 1, "own_files": 1, "frames": 1, "foreign": 1,
    "dates": 1,
    "recipients": 2, "phones": 2, "values": 2, "templates": 3, "rates": 2, "results": 2,
    "policy": 1,
    "split": 3, "planning": 3, "client": 3, "ledger": 3, "progress": 3, "sandbox": 3,
    "dispatch": 4, "people": 4, "otp": 4, "cost": 4, "charts": 4,
    "accessor": 5, "widgets": 5, "cli": 5, "pytest_plugin": 5,
    "init": 6, "main": 6,
}  # fmt: skip
# The sandbox serves from the interface's facts; only its facade knows the client.
BESIDE = {("_sandbox.facade", "client")}
# Settings name the wire's variants; charts draw the tables of cost; the questions to a list's owner are a workbook.
SAME_LEVEL = {
    *(("errors", "showing"), ("calling", "errors"), ("calling", "showing")),
    *(("pandas", "showing"), ("showing", "pandas")),
    *(("columns", "showing"), ("columns", "errors"), ("columns", "calling")),
    ("lazy", "errors"),
    ("warnings", "errors"),
    ("warnings", "showing"),
    *(("problems", "pandas"), ("problems", "guards"), ("problems", "calling")),
    *(("settings", "wire"), ("charts", "cost")),
    *(("planning", "ledger"), ("planning", "templates")),
    *(("phones", "recipients"), ("phones", "results"), ("results", "phones"), ("rates", "phones")),
}
LIBRARIES: dict[str, set[str]] = {
    "requests": {"client"},
    "urllib3": {"client"},
    "httptools": {"client"},
    "tenacity": {"client"},
    "phonenumbers": {"phones"},
    "babel": {"values", "phones"},
    "narwhals": {"frames"},
    "sqlite3": {"schema", "ledger", "sandbox"},
    "psycopg": {"ledger"},
    "aiohttp": {"sandbox"},
    "ipywidgets": {"widgets"},
    "tqdm": {"progress"},
    "openpyxl": {"results"},
    "python_calamine": {"recipients"},
    "keyring": {"settings"},
    "duckdb": {"planning"},
}

# The rooms inside `_ledger`, each of which imports those before it; the files of the face may import all of them. The
# file that opens a ledger's file stands beside them and is of the room ``file``.
LEDGER = ("rows", "file", "server", "record", "reading", "people", "sending", "face")


def modules() -> list[tuple[str, str]]:
    """Return (room, dotted module) of every source file."""
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        dotted = ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
        found.append((_room(dotted), dotted))
    return found


def _room(dotted: str) -> str:
    return dotted.split(".")[0].strip("_")


def imports(dotted: str) -> list[tuple[str, bool]]:
    """Return (module, is ours) of every import in a source file; imports for type checking only are left out."""
    depth = dotted.count(".")
    found: list[tuple[str, bool]] = []
    for node in _runtime_nodes(_parsed(dotted)):
        if isinstance(node, ast.Import):
            found += [(alias.name, False) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found.append((node.module or "", False))
        elif isinstance(node, ast.ImportFrom) and node.level == depth + 1:
            names = (
                [node.module]
                if node.module
                else [alias.name for alias in node.names if not alias.name.startswith("__")]
            )
            found += [(name, True) for name in names]
    return found


@functools.cache
def _parsed(dotted: str) -> ast.Module:
    path = PACKAGE / (dotted.replace(".", "/") + ".py")
    return ast.parse(path.read_text(encoding="utf-8"))


def _runtime_nodes(tree: ast.AST) -> list[ast.AST]:
    nodes, waiting = [], [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            waiting += node.orelse
            continue
        nodes.append(node)
        waiting += list(ast.iter_child_nodes(node))
    return nodes


def test_imports_run_downhill() -> None:
    """A room imports lower levels only."""
    uphill = []
    for room, dotted in modules():
        assert room in LEVELS, f"{room} has no level: add it to the table here and to the picture in CONTRIBUTING.md"
        for name, ours in imports(dotted) if room != "init" else ():
            target = _room(name)
            if not ours or target == room or (dotted, target) in BESIDE or (room, target) in SAME_LEVEL:
                continue
            if LEVELS[target] >= LEVELS[room]:
                uphill.append(f"{dotted} (level {LEVELS[room]}) imports {target} (level {LEVELS[target]})")
    assert uphill == []


def test_the_picture_of_the_rooms_in_contributing_is_true() -> None:
    picture = (PACKAGE.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = re.findall(r"^([0-5])  \w+(?: \w+)? {2,}(.*)$", picture, re.MULTILINE)
    shown = {
        name.strip("_"): int(level) for level, names in rows for name in re.findall(r"\w+", names.replace("(send)", ""))
    }
    assert shown == {room: level for room, level in LEVELS.items() if room not in ("init", "main")}


def test_a_room_of_eight_files_names_each_of_them_and_what_it_does() -> None:
    silent = []
    for init in PACKAGE.rglob("__init__.py"):
        files = [path.stem for path in init.parent.glob("*.py") if not path.stem.startswith("__")]
        if len(files) >= 8 and init.parent != PACKAGE:
            said = ast.get_docstring(ast.parse(init.read_text(encoding="utf-8"))) or ""
            silent += [f"{init.parent.name}/{name}" for name in files if not re.search(rf"\b{name}\b", said)]
    assert silent == []


def test_rooms_of_the_ledger_import_downhill() -> None:
    """Imports for types count as well, and those inside functions."""
    graph = loops.imports(PACKAGE / "_ledger")
    uphill = [
        f"{name} imports {other}"
        for name, others in graph.items()
        for other in others
        if LEDGER.index(_room_of_the_ledger(other)) > LEDGER.index(_room_of_the_ledger(name))
    ]
    assert uphill == []


def _room_of_the_ledger(dotted: str) -> str:
    first = "file" if dotted == "opening" else dotted.split(".")[0]
    return first if first in LEDGER else "face"


def test_other_rooms_import_the_face_of_the_ledger() -> None:
    """A name that another room needs is exported by `_ledger` itself."""
    inside = [
        f"{path.relative_to(PACKAGE)} imports {node.module}"
        for path in PACKAGE.rglob("*.py")
        if "_ledger" not in path.relative_to(PACKAGE).parts
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("_ledger.")
    ]
    assert inside == []


def test_one_library_one_room() -> None:
    """An outside library is spoken to in one room."""
    elsewhere = [
        f"{dotted} imports {name}; it belongs to {LIBRARIES[name.split('.')[0]]}"
        for room, dotted in modules()
        for name, ours in imports(dotted)
        if not ours and room not in LIBRARIES.get(name.split(".")[0], {room})
    ]
    assert elsewhere == []


def test_only_settings_reads_the_environment() -> None:
    """os.environ is read in one room."""
    readers = {
        room
        for room, dotted in modules()
        for node in ast.walk(_parsed(dotted))
        if isinstance(node, ast.Attribute) and node.attr in {"environ", "getenv"}
    }
    assert readers == {"settings"}


def test_public_names_are_the_real_ones() -> None:
    """``__all__`` names what is there, all of it documented."""
    for name in smsotp_nb.__all__:
        found = getattr(smsotp_nb, name)
        assert inspect.getdoc(found), f"{name} has no docstring"
    assert set(dir(smsotp_nb)) == set(smsotp_nb.__all__)


def _public_functions() -> list[tuple[str, object]]:
    found: list[tuple[str, object]] = []
    for name in smsotp_nb.__all__:
        thing = getattr(smsotp_nb, name)
        if inspect.ismodule(thing):
            found += [(f"{name}.{inner}", getattr(thing, inner)) for inner in getattr(thing, "__all__", [])]
        else:
            found.append((name, thing))
    return [(name, thing) for name, thing in found if inspect.isfunction(thing) or inspect.isclass(thing)]


@pytest.mark.parametrize(("name", "thing"), _public_functions(), ids=[name for name, _ in _public_functions()])
def test_every_public_name_has_an_example(name: str, thing: object) -> None:
    """A public function or class shows one use that runs; an error may be shown in use by its base."""
    if inspect.isclass(thing) and issubclass(thing, (Exception, Warning)):
        thing = next(base for base in thing.__mro__ if base.__module__ == thing.__module__ and base.__doc__)
        assert thing.__doc__
        return
    doc = inspect.getdoc(thing) or ""
    assert ">>>" in doc, f"{name} has no example"


def _documented() -> list[str]:
    names = [info.name for info in pkgutil.walk_packages([str(PACKAGE)], "smsotp_nb.")]
    return [name for name in names if not name.endswith("__main__") and ">>> " in inspect.getsource(_module(name))]


def _module(name: str) -> ModuleType:
    return importlib.import_module(name)


@pytest.mark.parametrize("name", _documented())
def test_examples_run(name: str) -> None:
    """Every example in a docstring does what it says."""
    module = _module(name)
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL
    failed, _ = doctest.testmod(module, optionflags=options)
    assert not failed


PRIVATE = 40  # files of tests that import what is private; lower it whenever there are fewer


def test_tests_go_through_public_calls() -> None:
    """A test of what users call outlives a change of the inside."""
    tests = PACKAGE.parent / "tests"
    found = [
        str(path.relative_to(tests))
        for path in sorted(tests.glob("**/test_*.py"))
        if path.parent.name != "house" and any(map(_is_private, _names_taken(path)))
    ]
    assert len(found) <= PRIVATE, found


def _is_private(name: str) -> bool:
    parts = name.split(".")
    return parts[0] == "smsotp_nb" and any(part.startswith("_") and not part.startswith("__") for part in parts)


def _names_taken(path: Path) -> list[str]:
    taken: list[str] = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            taken += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            taken += [f"{node.module}.{alias.name}" for alias in node.names]
    return taken
