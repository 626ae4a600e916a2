"""``send`` a plan: claim, post, settle, paced and concurrent; calling it again is the resume.

``pacing`` says when a request may start, ``crew`` runs threads that can be stopped, ``sending`` holds the order of
things, ``outlook`` shows what a call would do.
"""

from .outlook import outlook
from .sending import send, send_test

__all__ = ["outlook", "send", "send_test"]
