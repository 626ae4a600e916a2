"""Names that load their module when they are first used, so that a light part starts without the heavy ones."""

from __future__ import annotations

import contextlib
import importlib
import importlib.abc
import importlib.machinery
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any

from .errors import UsageError


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
        with needed_for(name):
            loaded = importlib.import_module(f".{home}", asking.__package__)
        found = loaded if name == _last(home) else getattr(loaded, name)
        setattr(asking, name, found)
        return found

    return find


@contextlib.contextmanager
def needed_for(what: str) -> Iterator[None]:
    """Import what ``what`` needs: a library that is not installed is named with the command that installs it.

    Example:
        >>> with needed_for("a picture"):
        ...     import no_such_library
        Traceback (most recent call last):
        smsotp_nb.errors.UsageError: a picture needs no_such_library, which is not installed: ...
    """
    try:
        yield
    except ModuleNotFoundError as error:
        library = (error.name or "").partition(".")[0]
        if library in ("", __package__):
            raise
        raise UsageError(f"{what} needs {library}, which is not installed: python -m pip install {library}") from None


def _last(dotted: str) -> str:
    return dotted.rpartition(".")[2]


class WhenImported(importlib.abc.MetaPathFinder):
    """Does something each time that a library has been imported, by whoever; at once where it is there already.

    Importing it here instead would load it for every suite that has the pytest plugin, and with every sandbox.
    """

    def __init__(self, library: str, then: Callable[[], object]) -> None:
        self._library, self._then = library, then
        sys.meta_path.insert(0, self)
        if library in sys.modules:  # looked at last: another thread may have begun to import it before
            importlib.import_module(library)
            then()

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name != self._library:
            return None
        others = sys.meta_path[sys.meta_path.index(self) + 1 :]
        spec = next(filter(None, (finder.find_spec(name, path, target) for finder in others)), None)
        if spec is not None and spec.loader is not None:
            load = spec.loader.exec_module

            def run(module: ModuleType) -> None:
                load(module)
                self._then()

            # On this one loader, so that the specification stays what others expect of it.
            spec.loader.exec_module = run  # type: ignore[method-assign]  # as above
        return spec
