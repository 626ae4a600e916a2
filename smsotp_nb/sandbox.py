"""A local service that implements the interface, with an inbox to look at. It texts nobody.

`Sandbox` is the service; `Rules` sets how it answers where the interface is silent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._lazy import attributes

if TYPE_CHECKING:
    from ._sandbox.choices import Rules
    from ._sandbox.facade import Sandbox

__getattr__ = attributes(__name__, {"_sandbox.choices": ["Rules"], "_sandbox.facade": ["Sandbox"]})
__all__ = ["Rules", "Sandbox"]


def __dir__() -> list[str]:
    return list(__all__)
