"""Send a plan with several threads at a limited speed: claim, post, settle. Calling ``send`` again resumes.

- ``sending``: ``send``, ``send_test``, and ``preflight``: what ``send`` would do
- ``recorded``: what is recorded of a campaign, and how it follows another plan
- ``requests``: the order of the steps for each request, and what ends a call
- ``guards``: what may hold a campaign back, by `Limits`
- ``pacing``: when a request may start, and how many are under way
- ``crew``: threads that can be stopped
- ``addressees``: each claim held against the plan
- ``table``: what became of the requests, and of the rows
"""

from .guards import Limits
from .recorded import record, revise
from .sending import preflight, send, send_test
