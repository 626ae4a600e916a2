"""``frame.smsotp`` is there in whatever order pandas and this package are imported; neither brings in the other."""

from __future__ import annotations

import subprocess
import sys

import pytest

USE = """
import pandas
assert pandas.DataFrame({"to": ["+12025550123"]}).smsotp.masked()["to"].tolist() == ["+1202...0123"]
"""
ORDERS = {
    "we first": "import smsotp_nb, pandas",
    "pandas first": "import pandas, smsotp_nb",
    "a module of ours alone": "import smsotp_nb.sandbox",
    "asked whether pandas is there": "import importlib.util, smsotp_nb\nassert importlib.util.find_spec('pandas')",
    "asked for another library": "import smsotp_nb, importlib.util\nassert importlib.util.find_spec('pandas.api')",
    "by its name": "import importlib, smsotp_nb\nimportlib.import_module('pandas')",
    "lazily": (
        "import importlib.util, smsotp_nb, sys\nspec = importlib.util.find_spec('pandas')\n"
        "spec.loader = importlib.util.LazyLoader(spec.loader)\n"
        "sys.modules['pandas'] = made = importlib.util.module_from_spec(spec)\nspec.loader.exec_module(made)"
    ),
    "a part of pandas": "import smsotp_nb\nfrom pandas.api import types",
    "we reloaded after": "import importlib, pandas, smsotp_nb\nimportlib.reload(smsotp_nb)",
    "pandas reloaded": "import importlib, smsotp_nb, pandas\nimportlib.reload(pandas)",
    "we imported again": (
        "import sys, pandas, smsotp_nb\nfor name in [n for n in sys.modules if n.startswith('smsotp_nb')]:\n"
        "    del sys.modules[name]\nimport smsotp_nb"
    ),
    "both in threads": (
        "from threading import Thread\nnames = 'pandas', 'smsotp_nb'\n"
        "threads = [Thread(target=__import__, args=(name,)) for name in names]\n"
        "_ = [t.start() for t in threads], [t.join() for t in threads]"
    ),
    "after a failed import": (
        "import sys, smsotp_nb\nsys.modules['numpy'] = None\ntry: import pandas\nexcept ImportError: pass\n"
        "del sys.modules['numpy']\n_ = [sys.modules.pop(n) for n in [*sys.modules] if n.startswith('pandas')]"
    ),
}


def run(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.sampled(4)
@pytest.mark.parametrize("order", ORDERS)
def test_the_accessor_is_there(order: str) -> None:
    run(ORDERS[order] + USE)


def test_who_only_imports_us_or_asks_for_pandas_does_not_load_it() -> None:
    code = "import smsotp_nb, smsotp_nb.sandbox, sys, importlib.util\nimportlib.util.find_spec('pandas')\n"
    assert run(code + "print('pandas' in sys.modules)") == "False\n"
