"""The public face in words: every public name with its signature. ``python -m tests.house.public_face`` writes it anew.

What stands in ``public_face.txt`` is a promise; a change of it is a decision and a line in the CHANGELOG.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import smsotp_nb

KEPT = Path(__file__).with_suffix(".txt")
MODULES = ("recipients", "sandbox", "settings")  # beside those that ``smsotp_nb`` itself names
# What calls return; nobody makes one, so what they are made of is no promise.
RETURNED = {"Challenge", "Plan", "Record", "results.Progress"}
RETURNED |= {
    f"cost.{name}" for name in ("Anomalies", "BilledWords", "Bridge", "Budget", "Forecast", "Reconciled", "Savings")
}
RETURNED |= {f"phones.{name}" for name in ("Answers", "Cleaned", "Explanation", "Found", "Report")}
RETURNED |= {"parts.Explanation", "parts.Parts"}
PLAIN = (str, int, float, bool, type(None))


def face() -> str:
    """Return one line for each public name, in order."""
    return "".join(f"{line}\n" for line in _lines())


def _lines() -> Iterator[str]:
    for name in [*smsotp_nb.__all__, *MODULES]:
        thing = getattr(smsotp_nb, name, None) or __import__(f"smsotp_nb.{name}", fromlist=["*"])
        yield from _module(name, thing) if inspect.ismodule(thing) else _thing(name, thing)


def _module(name: str, module: Any) -> Iterator[str]:
    yield f"{name}:"
    for inner in module.__all__:
        thing = getattr(module, inner)
        if thing is getattr(smsotp_nb, inner, None):
            yield f"{name}.{inner}: as {inner}"
        else:
            yield from _thing(f"{name}.{inner}", thing)


def _thing(name: str, thing: Any) -> Iterator[str]:
    if inspect.isclass(thing):
        yield f"class {name}{'' if name in RETURNED else _signature(thing)}"
        for attribute, member in sorted(_own(thing).items()):
            if not attribute.startswith("_") and not issubclass(thing, BaseException):
                yield from _member(f"{name}.{attribute}", member)
    elif callable(thing):
        yield f"{name}{_signature(thing)}"
    else:
        yield f"{name}: {type(thing).__name__}"


def _own(thing: type) -> dict[str, Any]:
    """Return what a class has of this package, its bases included."""
    ours = [kind for kind in reversed(thing.__mro__) if kind.__module__.startswith("smsotp_nb")]
    return {attribute: member for kind in ours for attribute, member in vars(kind).items()}


def _member(name: str, member: Any) -> Iterator[str]:
    function = getattr(member, "__func__", member)
    if isinstance(member, property):
        yield f"  {name}: property"
    elif inspect.isfunction(function):
        yield f"  {name}{_signature(function)}"
    else:
        yield f"  {name}"


def _signature(thing: Any) -> str:
    try:
        taken = inspect.signature(thing)
    except (TypeError, ValueError):
        return ""
    parameters = [one.replace(default=_default(one.default)) for one in taken.parameters.values()]
    return str(taken.replace(parameters=parameters)).replace("'", "")


class _Word:
    """A default that has no short spelling of its own."""

    def __init__(self, word: str) -> None:
        self._word = word

    def __repr__(self) -> str:
        return self._word


def _default(value: Any) -> Any:
    if value is inspect.Parameter.empty or isinstance(value, PLAIN) or value == ():
        return value
    if inspect.isfunction(value) or inspect.isbuiltin(value):
        return _Word(value.__name__)
    if isinstance(value, frozenset):
        return _Word("{" + ", ".join(sorted(map(str, value))) + "}")
    return _Word(f"<{type(value).__name__}>")


if __name__ == "__main__":
    KEPT.write_text(face(), encoding="utf-8")
