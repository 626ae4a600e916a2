"""The campaign record. Verbs: claim, settle, recover, resolve, retry_rejected.

``tables`` says what is true of a row and where it stands, ``disk`` on what it is kept and which files are its own,
``store`` how it is written, ``opening`` that it is a ledger, whole, and as new as it was last seen (``anchor``: the
files under it, ``marks``: what was seen). ``lock`` is the rule of one runner, ``ownership`` of one account,
``recording`` how a plan comes in, ``wordings`` what is kept of its words, ``run`` what a running campaign does,
``claims`` what it took, ``settling`` how its requests ended, ``answers`` how replies are kept, ``evidence`` what
doubts were settled by, ``columns`` and ``reading`` how frames come out, ``numbering`` what number a row gets,
``beginning`` what is asked when a campaign begins, ``agreeing`` whether a plan may go on with it. ``address``,
``server``, ``connection``, ``spelling``, ``guessing``, ``guarding``, ``leasing``, ``fences`` and ``sighting`` are a
ledger on a server, ``moving`` and ``moved`` how one in a file comes there. ``people`` says who is one person,
``consents`` what they said, ``disclosing`` and ``mentions`` what else is stored about one, ``purging`` and
``retention`` what goes, ``contacts`` who was texted when, ``standing`` until when each planned row is held back,
``holdouts`` whom experiments hold out or have in another arm, ``holds`` whom a claim must leave, ``recovering`` what
a dead runner left, ``damage`` what a file holds that cannot be, ``changing`` how a recorded campaign changes,
``prospect`` how a plan stands to all of it, ``unfinished`` which other campaigns have its people, ``billed``,
``summing`` and ``reconciling`` what was spent, ``listing`` campaigns a page at a time, ``parquet`` rows for other
engines, ``overview`` the cards, ``book`` and ``campaign`` the ledger as a person sees it.
"""

from .book import Ledger, LedgerOrPath, opened, read_from
from .campaign import Campaign
from .changing import places
from .claims import Claim, Ending, Pending, Wanted
from .listing import Entry, Listing, listed
from .overview import state_line, until
from .prospect import Prospect
from .recording import Piece
from .run import Run, tried
from .unfinished import Unfinished
from .wordings import Wordings

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
