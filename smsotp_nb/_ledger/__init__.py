"""The campaign record. Verbs: claim, settle, recover, settle, retry.

``book`` and ``campaign`` are the ledger as a person sees it, ``places`` finds it, ``opening`` opens a file as a ledger,
``moving`` takes one to a server, ``listing`` lists campaigns a page at a time, ``costs`` hands out what was billed.

Below them stand seven rooms: ``rows`` (what is stored, over one connection), ``file`` and ``server`` (where it is
stored), ``record`` (a plan comes in and changes), ``people`` (what is known of them), ``reading`` (frames and sums come
out), ``sending`` (a run and its rules).
"""

from .book import Ledger, LedgerOrPath, opened, read_from
from .campaign import Record
from .costs import files_of, result_rows, sent_rows, spending_rows
from .file.store import Store
from .listing import Entry, Listing, listed
from .people import consents, experiments, purging
from .people.consents import Said
from .places import not_a_ledger, path_of, snapshot_of
from .reading.cards import state_line, until
from .reading.frames import Named
from .reading.spending import Billed
from .record.changing import Revised, as_recorded
from .record.passcodes import KIND as PASSCODE
from .record.recording import Piece
from .rows.answers import Ints
from .rows.persons import persons
from .rows.statements import Statements
from .rows.wordings import Wordings
from .sending.comparison import RULES, Prospect, Unfinished, limited, unasked
from .sending.run import Account, Run, tried
from .sending.settling import Claim, Ending, Pending, Wanted
from .server.address import Address, own_place
