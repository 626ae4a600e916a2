"""People across campaigns: what they said about being texted, and what was sent to them.

``register`` is the register as a person sees it, ``moments`` reads when something was said. What is recorded stands in
the ledger's file (`_ledger.consents`), where each claim of a campaign asks it.
"""

from .register import People

__all__ = ["People"]
