"""The three operations over HTTP, and the answer to "did anything leave this machine?".

``transport`` knows how far a request came, ``meaning`` what a reply means, ``patience`` the only retry rule of this
package, ``operations`` the calls and how they are signed.
"""

from .operations import Client, connect, once
from .patience import REPEATABLE, Gate, RetryPolicy, Tries
