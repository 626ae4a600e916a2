"""``send`` a plan: claim, post, settle, paced and concurrent; calling it again is the resume.

``pacing`` says when a request may start, ``crew`` runs threads that can be stopped, ``sending`` holds the order of
things, ``preflight`` shows what a call would do.
"""

from .preflight import preflight
from .sending import send, send_test

__all__ = ["preflight", "send", "send_test"]
