"""A local service that answers the same interface, with an inbox to look at. It texts nobody.

`Sandbox` is the door; ``service`` holds the rules, ``state`` what is remembered, ``server`` the socket, ``choices``
what the interface leaves open and ``reserved`` the numbers that make it answer in a special way.
"""

from typing import TYPE_CHECKING

from .._lazy import attributes

if TYPE_CHECKING:
    from .choices import Rules
    from .facade import Sandbox

__getattr__ = attributes(__name__, {"choices": ["Rules"], "facade": ["Sandbox"]})

__all__ = ["Rules", "Sandbox"]
