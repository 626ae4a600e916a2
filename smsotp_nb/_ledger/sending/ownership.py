"""Decide, in the transaction of each claim, which live account a campaign's name belongs to.

A campaign is recorded by service and name. So a new key, or another spelling of the address, would make the same
campaign a new one and text everybody again. A name therefore belongs to the live service whose request claimed it
first, for good: also when the campaign is purged, and when two begin at the same moment. It passes on only as long as
the former owner can have reached nobody, as after a first try with a wrong key.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ..._services import name_key, shown
from ...errors import LedgerError
from ..rows.statements import ANY, Question, Statements, guessed
from ..rows.tables import ACCEPTED, IN_DOUBT, SENDING

OWNED = "(SELECT service FROM owner WHERE name_key=?)=?"  # in SQL: the name is this service's, see `Ownership.mine`


@dataclass(slots=True)
class Ownership:
    """The check of one run before each claim: whether the name is this service's, or can become its own."""

    name: str
    service: str
    mine: tuple[str, str] = field(init=False)  # the values of `OWNED`
    is_recorded: bool = False  # so that a claim need not take the name
    _lost_to: str = ""

    def __post_init__(self) -> None:
        self.mine = name_key(self.name), self.service

    @property
    def question(self) -> Question:
        """Ask whose the name is."""
        return "SELECT service FROM owner WHERE name_key=?", self.mine[:1]

    def _owner(self, connection: Statements) -> str | None:
        found = connection.execute(*self.question).fetchone()
        return found[0] if found else None

    def held(self, connection: Statements) -> bool:
        """Take or keep the name, inside the transaction of a claim; return whether it is this service's."""
        owner = self._owner(connection)
        if owner == self.service:
            return True
        if owner is not None and _reached(connection, self.mine[0], owner):
            self._lost_to = owner
            return False
        connection.execute("INSERT OR REPLACE INTO owner (name_key, service) VALUES (?, ?)", self.mine)
        return True

    def takes(self, connection: Statements, condition: str, values: tuple[object, ...]) -> None:
        """Take a name that is nobody's, where a condition is true, inside the transaction of a claim."""
        if not self.is_recorded:
            sql = f"INSERT OR IGNORE INTO owner (name_key, service) SELECT ?, ? WHERE {condition}"
            guessed(connection, sql, (*self.mine, *values), ANY)

    def refuse_if_lost(self) -> None:
        """Raise the error for what `held` found, outside of the transaction."""
        if self._lost_to:
            raise self._refusal(self._lost_to)

    def check(self, connection: Statements) -> None:
        """Refuse at the start what every claim would refuse."""
        owner = self._owner(connection)
        self.is_recorded = owner == self.service
        if owner is not None and not self.is_recorded and _reached(connection, self.mine[0], owner):
            raise self._refusal(owner)

    def _refusal(self, owner: str) -> LedgerError:
        return LedgerError(
            f"campaign {self.name!r} has already texted people, recorded under another key, variant or address "
            f"({shown(owner)}, id {owner!r}). Nothing was sent. If this is the same account, go on with "
            f"Settings(..., service={owner!r}); if it is a new campaign, choose another campaign name"
        )


def _reached(connection: Statements, key: str, service: str) -> bool:
    """Return whether a campaign may have reached anybody; a purged one may have."""
    found = connection.execute(
        "SELECT 1 FROM campaign c WHERE c.name_key=? AND c.service=? AND c.kind='campaign' AND (c.purged<>0 OR EXISTS ("
        f"SELECT 1 FROM fate f WHERE f.campaign=c.id AND f.state IN ({SENDING}, {ACCEPTED}, {IN_DOUBT}))) LIMIT 1",
        (key, service),
    )
    return found.fetchone() is not None
