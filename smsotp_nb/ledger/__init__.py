"""The campaign record. Verbs: claim, settle, recover, resolve, reopen.

``schema`` holds the tables and the durability, ``lock`` the rule of one runner, ``recording`` how a plan comes in,
``run`` what a running campaign does, ``answers`` how replies are kept, ``columns`` and ``reading`` how frames come out,
``summing`` and ``reconciling`` what was spent, ``overview`` the cards, ``book`` the ledger as a person sees it.
"""

from .book import Campaign, Ledger
from .overview import state_line
from .run import Claim, Pending, Run, Verdict, Wanted

__all__ = ["Campaign", "Claim", "Ledger", "Pending", "Run", "Verdict", "Wanted", "state_line"]
