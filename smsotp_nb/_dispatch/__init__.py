"""Send a plan with several threads at a limited speed: claim, post, settle. Calling ``send`` again resumes.

``pacing`` decides when a request may start, ``crew`` runs threads that can be stopped, ``slots`` how many requests are
under way where more are claimed, ``sending`` defines the order of the steps, ``tally`` adds up what became of them,
``checks`` looks at what a call was given, ``preflight`` shows what a call would do, and ``excerpt`` takes one recipient
out of a plan larger than memory.
"""

from .preflight import preflight
from .sending import send, send_test

__all__ = ["preflight", "send", "send_test"]
