"""The record of campaigns: who was sent what, at what cost, and who must not be texted. In a file or on a server.

``ledger`` and ``campaign`` are the record as a person sees it, ``decisions`` what they decide. ``run`` sends: ``claims``
has its statements, ``send_rules`` whom it must not text, ``leases`` its hold on a campaign. ``recording`` and
``revision`` take plans in, ``preview`` says what the next send does. ``frames`` and ``spending`` read; ``consents``,
``privacy``, ``passcodes`` and ``moving`` do what they are called. Below them stand ``store`` with ``sqlite_store`` and
``postgres_store``, ``tables``, ``address``, ``locations`` and ``watermark``.
"""

from .address import Address
from .campaign import CampaignRow, Record
from .cards import state_line, until
from .claims import AttemptOutcome, Claim, ClaimRequest, PendingRow
from .consents import ConsentEntry
from .frames import Billed
from .ledger import Ledger, LedgerOrPath, opened
from .locations import location_of, not_a_ledger
from .preview import SendPreview, limited, without_ledger
from .revision import Revised
from .run import Account, Run, tried
