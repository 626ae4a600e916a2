"""Text campaigns and one-time passcodes from a DataFrame.

A phone list goes in, a costed result table comes out, and the same call run again texts nobody twice::

    people = read_recipients("sample_data/recipients.csv")
    plan = plan(people, to="phone", region="country", default_region="DE", campaign="autumn", content="Hi {name}")
    results = send(plan, client=Sandbox().client())
    cost.by_country(results)

Names for Tab completion: ``phones, parts, templates, rates, results, otp, cost, charts, widgets, errors``; on every
DataFrame ``df.sms``. ``charts``, ``widgets`` and ``Sandbox`` load when they are first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from . import (
    accessor as _accessor,  # noqa: F401 - registers df.sms
)
from . import cost, errors, otp, parts, phones, rates, results, templates
from .client import Client
from .dispatch import outlook, send, send_test
from .ledger import Ledger
from .otp import Challenge
from .planning import Plan, plan
from .recipients import read_recipients
from .settings import Settings

if TYPE_CHECKING:
    from . import charts, widgets
    from .sandbox import Sandbox

__all__ = [
    "Challenge",
    "Client",
    "Ledger",
    "Plan",
    "Sandbox",
    "Settings",
    "charts",
    "cost",
    "errors",
    "otp",
    "outlook",
    "parts",
    "phones",
    "plan",
    "rates",
    "read_recipients",
    "results",
    "send",
    "send_test",
    "templates",
    "widgets",
]
__version__ = "0.1.0"
_LAZY = frozenset({"charts", "widgets"})


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return importlib.import_module(f".{name}", __name__)
    if name == "Sandbox":
        return importlib.import_module(".sandbox", __name__).Sandbox
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
