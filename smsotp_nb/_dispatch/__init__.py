"""Send a plan with several threads at a limited speed: claim, post, settle. Calling ``send`` again resumes.

- ``sending``: ``send``, ``send_test``, ``preflight``: what ``send`` would do, and what is recorded of a campaign
- ``requests``: the order of the steps for each request, and what ends a call
- ``guards``: what may hold a campaign back, by `Limits`
- ``pacing``: when a request may start, and how many are under way
- ``crew``: threads that can be stopped
- ``addressees``: each claim held against the plan
- ``table``: what became of the requests, and of the rows
"""

from .guards import Limits
from .sending import preflight, record, revise, send, send_test
