"""Made years of sending: the module that stands beside the sample data."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

FILE = Path(__file__).parents[2] / "sample_data" / "made_year.py"


def _loaded() -> ModuleType:
    spec = importlib.util.spec_from_file_location("made_year", FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["made_year"] = module  # its dataclasses look their module up
    spec.loader.exec_module(module)
    return module


made_year: Any = _loaded()
