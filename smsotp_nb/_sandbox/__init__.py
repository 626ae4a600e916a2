"""A local service that answers the same interface, with an inbox to look at. It texts nobody.

What people use: ``facade`` (`Sandbox`), ``frames`` (its answers as pandas), ``command`` (``smsotp-nb sandbox``).
The service: ``service`` (the three operations), ``choices`` (what the interface leaves open, and the numbers that make
it answer in a special way), ``access`` (keys and signatures), ``wording`` (texts, templates), ``tariff`` (prices).
What it remembers: ``state``, ``filing`` (accepted requests on their way into the tables), ``tables``, ``clock``.
Around it: ``account`` (a request from its arrival to the journal), ``faults``, ``journal``, ``inbox``, ``expect`` (what
a test expects, and the nearest misses). Over HTTP: ``server`` (the socket), ``gate`` (who is let in), ``serving``
(requests to replies), ``desk`` (the addresses beside the interface), ``parameters`` (of an address).
"""

from typing import TYPE_CHECKING

from .._lazy import attributes

if TYPE_CHECKING:
    from .choices import Rules
    from .facade import Sandbox

__getattr__ = attributes(__name__, {"choices": ["Rules"], "facade": ["Sandbox"]})

__all__ = ["Rules", "Sandbox"]
