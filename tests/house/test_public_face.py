"""The public face is what is meant: by name, by signature, by ``dir`` and by Tab."""

from __future__ import annotations

import difflib
import importlib
import inspect

import pytest
from IPython.core.completer import IPCompleter, provisionalcompleter
from IPython.core.interactiveshell import InteractiveShell

import smsotp_nb as sms
from house.public_face import KEPT, MODULES, face

NAMESPACES = [name for name in sms.__all__ if inspect.ismodule(getattr(sms, name))] + list(MODULES)


def test_the_public_face_changes_on_purpose() -> None:
    """A changed name or signature is a decision: write it anew, and say old and new in the CHANGELOG."""
    kept = KEPT.read_text(encoding="utf-8").splitlines()
    changed = [line for line in difflib.ndiff(kept, face().splitlines()) if line[0] in "+-"]
    assert not changed, "python -m tests.house.public_face writes it anew:\n" + "\n".join(changed)


@pytest.mark.parametrize("name", NAMESPACES)
def test_dir_shows_what_is_public(name: str) -> None:
    module = importlib.import_module(f"smsotp_nb.{name}")
    assert dir(module) == sorted(module.__all__)
    assert all(hasattr(module, public) for public in module.__all__)


@pytest.mark.parametrize("name", NAMESPACES)
@pytest.mark.parametrize("use_jedi", [False, True], ids=["by dir", "by jedi"])
def test_tab_shows_what_is_public(name: str, use_jedi: bool) -> None:
    """IPython's Tab, in both of its ways, offers the names of ``__all__`` and no other."""
    module = importlib.import_module(f"smsotp_nb.{name}")
    assert tab("module.", {"module": module}, use_jedi=use_jedi) == set(module.__all__)


def test_tab_on_the_package_shows_what_is_public() -> None:
    assert tab("sms.", {"sms": sms}) == set(sms.__all__)


def tab(line: str, namespace: dict[str, object], *, use_jedi: bool = False) -> set[str]:
    """Return the names that Tab offers behind a line; those with an underscore are left out, as Tab leaves them."""
    completer = IPCompleter(shell=InteractiveShell(), namespace=namespace, use_jedi=use_jedi)
    with provisionalcompleter():
        found = {each.text.rpartition(".")[2] for each in completer.completions(line, len(line))}
    return {word for word in found if not word.startswith("_")}
