"""A local service that implements the interface, with an inbox to look at. It texts nobody.

`Sandbox` is the service; `Rules` sets how it answers where the interface is silent.

- ``facade``: `Sandbox`, which asks its service over HTTP; ``frames``: its answers as frames
- ``expectations``: what a test expects of the inbox; ``command``: ``smsotp-nb sandbox``
- ``service``: the three operations; ``choices``: what the interface leaves open, and numbers with special answers
- ``messages``: texts, templates and prices; ``state``: what is remembered, and the clock
- ``faults``: what goes wrong on demand; ``journal``: the latest requests
- ``server``: HTTP; ``account``: what it serves; ``access``: who is let in
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._lazy import attributes

if TYPE_CHECKING:
    from .choices import Rules
    from .facade import Sandbox

__getattr__ = attributes(__name__, {"choices": ["Rules"], "facade": ["Sandbox"]})
__all__ = ["Rules", "Sandbox"]


def __dir__() -> list[str]:
    return list(__all__)
