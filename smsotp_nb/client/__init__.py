"""The three operations over HTTP, and the answer to "did anything leave this machine?".

``transport`` knows how far a request came, ``verdict`` what a reply means, ``signing`` the query, ``operations`` the
calls and the only retry rule of this package.
"""

from .operations import Client, Gate, Patience

__all__ = ["Client", "Gate", "Patience"]
