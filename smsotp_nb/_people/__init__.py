"""People across campaigns: what they said about being texted, and what was sent to them.

``register`` is the register as a person sees it; ``lists`` reads lists of what many said, and when, and
``answers`` what the other columns of a list say of each person. What is recorded
stands in the ledger (`_ledger.people.consents`), where each claim of a campaign asks it.
"""

from .register import People
