"""Names that load their module when they are first used, so that a light part starts without the heavy ones."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import ModuleType
from typing import Any


def attributes(module: str, homes: Mapping[str, Iterable[str]]) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a module: ``homes`` says for each module beside or below it which names it holds.

    A home without names is a name itself.

    Example:
        >>> find = attributes("json", {"decoder": ["JSONDecoder"], "tool": []})
        >>> find("JSONDecoder").__name__, find("tool").__name__
        ('JSONDecoder', 'json.tool')
    """
    home_of = {name: home for home, names in homes.items() for name in (names or [_last(home)])}

    def find(name: str) -> Any:
        if name not in home_of:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        home = home_of[name]
        asking = sys.modules[module]
        loaded = importlib.import_module(f".{home}", asking.__package__)
        found = loaded if name == _last(home) else getattr(loaded, name)
        setattr(asking, name, found)
        return found

    return find


def _last(dotted: str) -> str:
    return dotted.rpartition(".")[2]


def when_imported(library: str, then: Callable[[], object]) -> None:
    """Do something once a library is imported: at once where it is already."""
    if library in sys.modules:
        then()
    else:
        sys.meta_path.insert(0, _After(library, then))


class _After(importlib.abc.MetaPathFinder):
    """Finds one library as others do, and does something when it has been loaded."""

    def __init__(self, library: str, then: Callable[[], object]) -> None:
        self._library = library
        self._then = then

    def find_spec(
        self, name: str, _path: Sequence[str] | None, _target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name != self._library:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader, self._then)
        return spec


class _Loader(importlib.abc.Loader):
    def __init__(self, loader: importlib.abc.Loader, then: Callable[[], object]) -> None:
        self._loader = loader
        self._then = then

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        if module.__spec__ is not None:
            module.__spec__.loader = module.__loader__ = self._loader
        self._loader.exec_module(module)
        self._then()
