"""The campaign record. Verbs: claim, settle, recover, resolve, retry_rejected.

``book`` and ``campaign`` are the ledger as a person sees it, ``places`` finds it, ``opening`` opens a file as a ledger,
``moving`` takes one to a server. Below them stand seven rooms: ``rows`` (what is stored, over one connection), ``file``
and ``server`` (where it is stored), ``record`` (a plan comes in and changes), ``people`` (what is known of them),
``reading`` (frames and sums come out), ``sending`` (a run and its rules).
"""

from .book import Ledger, LedgerOrPath, opened, read_from
from .campaign import Campaign
from .reading.cards import state_line, until
from .reading.listing import Entry, Listing, listed
from .record.changing import places
from .record.recording import Piece
from .rows.wordings import Wordings
from .sending.claims import Claim, Ending, Pending, Wanted
from .sending.comparison import Prospect
from .sending.run import Run, tried
from .sending.unfinished import Unfinished

__all__ = [
    "Campaign",
    "Claim",
    "Ending",
    "Entry",
    "Ledger",
    "LedgerOrPath",
    "Listing",
    "Pending",
    "Piece",
    "Prospect",
    "Run",
    "Unfinished",
    "Wanted",
    "Wordings",
    "listed",
    "opened",
    "places",
    "read_from",
    "state_line",
    "tried",
    "until",
]
