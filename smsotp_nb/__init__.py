"""Send SMS campaigns and one-time passcodes from a DataFrame, and never text anyone twice.

A phone list goes in, a costed result table comes out. Running the same call again sends only what is still to go::

    made = plan("recipients.csv", "Hi {name}", campaign="autumn", to="phone", default_region="DE", signature="Acme")
    results = send(made, Sandbox())
    cost.by_country(results)

The public modules are ``phones, parts, rates, results, otp, cost, charts, widgets, errors``; every
DataFrame offers the same calls as ``df.sms``. Modules load when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import errors
from ._lazy import WhenImported, attributes

if TYPE_CHECKING:
    from . import charts, cost, otp, parts, phones, problems, rates, results, widgets
    from ._client import Client, connect
    from ._dispatch import Limits, send, send_test
    from ._dispatch.sending import preflight, record, revise
    from ._experiments.experiment import Experiment
    from ._ledger import Ledger, Record
    from ._people import People
    from ._phones import Reading
    from ._planning import Folder, Message, Plan, Template, column, plan
    from ._policy import Policy
    from .sandbox import Sandbox
    from ._wire import Wire
    from .otp import Challenge
    from .recipients import read_recipients
    from .settings import Settings

__all__ = [
    "Challenge",
    "Client",
    "Experiment",
    "Folder",
    "Ledger",
    "Limits",
    "Message",
    "People",
    "Plan",
    "Policy",
    "Reading",
    "Record",
    "Sandbox",
    "Settings",
    "Template",
    "Wire",
    "charts",
    "column",
    "connect",
    "cost",
    "errors",
    "otp",
    "parts",
    "phones",
    "plan",
    "preflight",
    "problems",
    "rates",
    "read_recipients",
    "record",
    "results",
    "revise",
    "send",
    "send_test",
    "widgets",
]
__version__ = "0.1.0"
_MODULES = ("charts", "cost", "parts", "phones", "problems", "rates", "results", "widgets")
__getattr__ = attributes(
    __name__,
    {
        **dict.fromkeys(_MODULES, ()),
        "_client": ["Client", "connect"],
        "_dispatch": ["Limits", "preflight", "record", "revise", "send", "send_test"],
        "_experiments.experiment": ["Experiment"],
        "_ledger": ["Ledger", "Record"],
        "otp": ["otp", "Challenge"],
        "_people": ["People"],
        "_phones": ["Reading"],
        "_planning": ["Folder", "Message", "Plan", "Template", "column", "plan"],
        "_policy": ["Policy"],
        "recipients": ["read_recipients"],
        "sandbox.facade": ["Sandbox"],
        "settings": ["Settings"],
        "_wire": ["Wire"],
    },
)


class _Sms:
    """What stands for the accessor until it is first used."""

    def __new__(cls, frame: Any) -> Any:
        from ._accessor import Sms

        return Sms(frame)


def _register() -> None:
    """Give every frame its ``sms``, unless it has ours already."""
    import pandas as pd

    if getattr(getattr(pd.DataFrame, "sms", None), "__module__", "") != __name__:
        pd.api.extensions.register_dataframe_accessor("sms")(_Sms)


WhenImported("pandas", _register)


def __dir__() -> list[str]:
    return sorted(__all__)
