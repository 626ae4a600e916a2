"""Send SMS campaigns and one-time passcodes from a DataFrame, and never text anyone twice.

A phone list goes in, a costed result table comes out. Running the same call again sends only what is still to go::

    made = plan("recipients.csv", "Hi {name}", campaign="autumn", to="phone", default_region="DE", signature="Acme")
    results = send(made, Sandbox())
    cost.by_country(results)

The public modules are ``phones, parts, rates, results, otp, cost, charts, widgets, errors``; every
DataFrame offers the same calls as ``df.smsotp``. Modules load when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from . import errors
from ._lazy import WhenImported, attributes

if TYPE_CHECKING:
    from . import charts, cost, otp, parts, phones, problems, rates, results, widgets
    from ._client import Client, connect
    from ._dispatch import Limits, send, send_test
    from ._dispatch.sending import preflight, record, revise
    from ._ledger import Ledger, Record
    from ._people import People
    from ._phones import NumberOptions
    from ._planning import Folder, Message, Plan, Template, column, plan
    from ._policy import Policy
    from ._sandbox import Sandbox
    from ._split import split
    from ._wire import RequestOptions
    from .otp import Challenge
    from .recipients import read_recipients
    from .settings import Settings

__all__ = [
    "Challenge",
    "Client",
    "Folder",
    "Ledger",
    "Limits",
    "Message",
    "NumberOptions",
    "People",
    "Plan",
    "Policy",
    "Record",
    "RequestOptions",
    "Sandbox",
    "Settings",
    "Template",
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
    "split",
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
        "_ledger": ["Ledger", "Record"],
        "otp": ["otp", "Challenge"],
        "_people": ["People"],
        "_phones": ["NumberOptions"],
        "_planning": ["Folder", "Message", "Plan", "Template", "column", "plan"],
        "_policy": ["Policy"],
        "recipients": ["read_recipients"],
        "_sandbox": ["Sandbox"],
        "settings": ["Settings"],
        "_split": ["split"],
        "_wire": ["RequestOptions"],
    },
)

_ACCESSOR: Final = "smsotp"


class _Accessor:
    """The attribute ``smsotp`` of a frame that has no column of this name.

    pandas' own accessors stand before columns; a column that a user has must stay what ``people.smsotp`` is.
    """

    def __get__(self, frame: Any, owner: type | None = None) -> Any:
        from ._accessor import Sms

        if frame is None:
            return Sms
        if _ACCESSOR in frame.columns:
            raise AttributeError(_ACCESSOR)  # pandas looks among the columns next
        return Sms(frame)


def _register() -> None:
    """Give every frame its ``smsotp``, unless pandas has something of this name."""
    import pandas as pd

    before = vars(pd.DataFrame).get(_ACCESSOR)
    if before is None or type(before).__qualname__ == _Accessor.__qualname__:
        setattr(pd.DataFrame, _ACCESSOR, _Accessor())


WhenImported("pandas", _register)


def __dir__() -> list[str]:
    return sorted(__all__)
