"""A second person's approval of what a campaign says and to whom, where the ledger asks for it.

An approval is of the revision in force, and counts if its author is another person. Whoever corrects or extends the
campaign becomes the author of another revision, so that nobody sends what only they have seen. Fewer recipients are no
other revision.
Every claim asks for it in its own transaction (`APPROVED`); a message to oneself and passcodes need none.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import pandas as pd

from ... import _cards as cards
from ..._calling.arguments import given
from ..._pandas import STR
from ...errors import UsageError
from ..file.store import Store
from ..rows import runners
from ..rows.statements import Statements
from ..rows.tables import PLANNED

NOT_APPROVED = "NOT_APPROVED"
_REVISION = "(SELECT count(*) FROM change c WHERE c.campaign=k.id AND c.what IN ('corrected', 'extended'))"
_BY_ANOTHER = f"approval p JOIN campaign k ON k.id=p.campaign AND k.author<>p.who AND p.revision={_REVISION}"
# In SQL, with the number of the campaign twice: it may be sent now.
APPROVED = (
    "((SELECT max(approval) FROM ledger)=0 OR (SELECT kind FROM campaign WHERE id=?)<>'campaign' "
    f"OR EXISTS (SELECT 1 FROM {_BY_ANOTHER} WHERE k.id=?))"
)
_WORDS = (
    "SELECT w.segment, w.text, w.template, count(*), sum(f.est_parts) FROM fate f "
    "JOIN chunk c ON c.campaign=f.campaign AND c.chunk=f.chunk JOIN measure m ON m.id=c.measure "
    f"JOIN wording w ON w.id=m.wording WHERE f.campaign=? AND f.state={PLANNED} "
    "GROUP BY w.id, w.segment, w.text, w.template ORDER BY w.id"
)


@dataclass(frozen=True, slots=True)
class Proposal:
    """What a campaign would say from now on and to how many, for a second person to look at.

    Attributes:
        campaign: its name.
        service: the service that it texts through.
        author: who planned it, or changed its words or recipients last.
        approved_by: who approved it, other than the author; empty where nobody did.
        required: whether the ledger sends nothing that is not approved.
        words: a row a text that rows still to go have: ``segment, text, template`` (str), ``recipients, parts``
            (Int64; ``parts`` as estimated, missing for a template whose text is not known).
    """

    campaign: str
    service: str
    author: str
    approved_by: str
    required: bool
    words: pd.DataFrame = field(repr=False)
    revision: int = field(repr=False)

    def card(self) -> cards.Card:
        """Return the proposal as a card: who planned it, who approved it, and each text with its recipients."""
        rows = tuple(
            tuple("" if pd.isna(cell) else cell for cell in (segment, text if pd.notna(text) else template, many))
            for segment, text, template, many in self.words.iloc[:, :4].itertuples(index=False)
        )
        table = cards.Table(("Segment", "Text", "Recipients"), rows, ("left", "left", "right"))
        state = f"Approved by {self.approved_by}." if self.approved_by else "Nobody but its author has approved it."
        closing = "" if self.approved_by else "Next: campaign.approve(proposal, reason=...)."
        return cards.Card(f"Proposal: {self.campaign}", f"By {self.author}. {state}", (table,), closing=closing)

    def _repr_html_(self) -> str:
        return self.card().html()


def require(store: Store, *, required: bool, reason: str | None, now: int) -> None:
    """Note in the ledger whether campaigns need an approval."""
    with store.writing() as connection:
        connection.execute("UPDATE ledger SET approval=?", (int(required),))
        what = "approval required" if required else "approval no longer required"
        runners.note_decision(connection, what, rows=0, now=now, reason=reason)


def proposal(store: Store, campaign: int, name: str, service: str) -> Proposal:
    with store.snapshot() as connection:
        author, revision = _in_force(connection, campaign)
        found = connection.execute(_WORDS, (campaign,)).fetchall()
        by, required = _approver(connection, campaign), is_required(connection)
    words = pd.DataFrame(found, columns=["segment", "text", "template", "recipients", "parts"])
    words = words.astype({"segment": STR, "text": STR, "template": STR, "recipients": "Int64", "parts": "Int64"})
    return Proposal(name, service, author, by, required, words, revision)


def approve(store: Store, campaign: int, seen: Proposal, *, reason: str | None, now: int) -> int:
    """Record that this person approves what they saw; return how many rows are still to go."""
    with store.writing() as connection:
        author, revision = _in_force(connection, campaign)
        who = runners.decider(connection)
        if (author, revision) != (seen.author, seen.revision):
            raise UsageError(
                f"{seen.campaign!r} was changed since this proposal was read, by {author}; nothing was approved. Look "
                "at campaign.proposal again"
            )
        if who == author:
            raise UsageError(
                f"{who} planned {seen.campaign!r}, or changed it last, and its approval takes another person; nothing "
                "was approved. Ask somebody else to look at campaign.proposal and call campaign.approve"
            )
        sql = "SELECT count(*) FROM fate WHERE campaign=? AND state=?"
        many = int(connection.execute(sql, (campaign, PLANNED)).fetchone()[0])
        sql = "INSERT INTO approval (campaign, revision, who, at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING"
        connection.execute(sql, (campaign, revision, who, now))
        runners.note_decision(connection, "approved", rows=many, now=now, campaign=campaign, reason=reason)
    return many


def not_proposal(value: object, campaign: str, service: str) -> str | None:
    """Return what is wrong with a proposal that was given, in words."""
    if not isinstance(value, Proposal):
        return f"proposal= must be what campaign.proposal gives, got {given(value)}; nothing was approved"
    if value.campaign != campaign:
        return f"the proposal is of campaign {value.campaign!r}, and this is {campaign!r}; nothing was approved"
    if value.service != service:
        return f"the proposal is of {campaign!r} on {value.service}, and this is it on {service}; nothing was approved"
    return None


def is_required(connection: Statements) -> bool:
    return bool(connection.execute("SELECT approval FROM ledger").fetchone()[0])


def may_go(connection: Statements, campaign: int) -> bool:
    """Return whether a campaign may be sent, as far as approval goes."""
    return bool(connection.execute(f"SELECT {APPROVED}", (campaign, campaign)).fetchone()[0])


def state(store: Store, campaign: int | None) -> str:
    """Return in words how a campaign stands to approval, None for one that is not recorded; empty: none is needed."""
    with store.reading() as connection:
        if not is_required(connection):
            return ""
        if campaign is None:
            return (
                "This ledger asks for a second person: the first send records the campaign and sends nothing, until "
                "another person approves it (campaign.proposal, campaign.approve)."
            )
        kind, author = connection.execute("SELECT kind, author FROM campaign WHERE id=?", (campaign,)).fetchone()
        if kind != "campaign":
            return ""
        by = _approver(connection, campaign)
    if by:
        return f"Approved by {by}."
    return f"Not approved: nothing is sent until somebody other than {author} calls campaign.approve."


def _approver(connection: Statements, campaign: int) -> str:
    found = connection.execute(f"SELECT p.who FROM {_BY_ANOTHER} WHERE k.id=? ORDER BY p.at", (campaign,)).fetchone()
    return str(found[0]) if found else ""


def _in_force(connection: Statements, campaign: int) -> tuple[str, int]:
    sql = f"SELECT author, {_REVISION} FROM campaign k WHERE id=?"
    author, revision = connection.execute(sql, (campaign,)).fetchone()
    return str(author), int(revision)
