"""A local service that answers the same interface, with an inbox to look at. It texts nobody.

- ``facade``: `Sandbox`, which asks its service over HTTP; its answers as ``frames``; ``command``: ``smsotp-nb sandbox``
- ``service``: the three operations; ``choices``: what the interface leaves open, and the numbers with special answers
- ``messages``: texts, templates and prices; ``access``: keys and signatures, and who is let in
- ``state``: what is remembered, its clock and its file
- ``account``: a request from its arrival to the journal; ``inbox``: the accepted messages
- ``server``: the socket, and requests to replies; ``desk``: the addresses beside the interface, with ``parameters``
- ``testing``: ``faults``, the ``journal`` of requests, and what a test ``expect``s, with the nearest misses
"""

from typing import TYPE_CHECKING

from .._lazy import attributes

if TYPE_CHECKING:
    from .choices import Rules
    from .facade import Sandbox

__getattr__ = attributes(__name__, {"choices": ["Rules"], "facade": ["Sandbox"]})

__all__ = ["Rules", "Sandbox"]
