"""Purge: delete who was texted, in every place where the ledger holds it, and say what is out of its reach.

What a purge leaves names nobody: what a campaign cost, by day and country, and, for the rules on how often a person is
texted, when somebody was sent which message, with a keyed hash in place of the person. The hashes go as well once no
rule can ask for them any more. With the last campaign of an experiment its people become hashes, too.

SQLite removes deleted rows from its file only by rewriting it (VACUUM), and from its log only while nobody reads. The
ledger notes that this is still to be done (``ledger.remains``) in the transaction that deletes, so that it is made up
for the next time that somebody opens the file.
"""

from __future__ import annotations

import sqlite3
import warnings
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from ..._policy import LONGEST
from ...errors import SmsOtpWarning
from ..file.copies import there
from ..file.store import Store
from ..reading.refusals import refused_of
from ..rows import audit
from ..rows import runners as fences
from ..rows.contacts import pack_hashed
from ..rows.packed_sums import Packed, pack_sums, sums_for_purge
from ..rows.wordings import delete_words
from . import experiments

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_OLDEST = LONGEST // timedelta(microseconds=1)  # microseconds after which no rule asks for a contact


def purge(store: Store, campaign: int, tests: Sequence[int], *, now: int) -> int:
    """Delete a campaign's rows, its test messages and what is known of its requests, from the file and its log too.

    The caller holds the locks of the campaign and of its tests, see `tests_of`.

    Returns:
        How many rows there were.
    """
    doomed = (campaign, *tests)
    with store.writing() as connection:  # a passcode that came between its sums and this would be in neither
        (before,) = connection.execute("SELECT purged FROM campaign WHERE id=?", (campaign,)).fetchone()
        sums = {number: (sums_for_purge(store, number), refused_of(store, number)) for number in doomed}
        gone = sum(_delete(connection, number, *sums[number], now=now) for number in doomed)
        audit.note(connection, "purged", rows=gone, now=now, campaign=campaign)
        for experiment in [] if before else experiments.over(connection, campaign, now=now):
            experiments.purge(connection, experiment)
        forgettable = "latest<? AND campaign IN (SELECT id FROM campaign WHERE purged<>0)"
        connection.execute(f"DELETE FROM contacts WHERE {forgettable}", (now - _OLDEST,))
        leave_remains(connection)
    overwrite(store)
    return gone


def tests_of(store: Store, campaign: int) -> list[int]:
    """Return the numbers of the other messages to oneself that any service sent under the name of a campaign."""
    with store.reading() as connection:
        found = connection.execute(
            "SELECT id FROM campaign WHERE id<>? AND kind='test' "
            "AND name_key=(SELECT name_key FROM campaign WHERE id=?)",
            (campaign, campaign),
        ).fetchall()
    return [number for (number,) in found]


def purge_experiment(store: Store, experiment: int, name: str, *, now: int) -> int:
    """Delete who is in which arm of an experiment, from the file and its log too; return how many people they were."""
    with store.reading() as connection:
        if connection.execute("SELECT purged FROM experiment WHERE id=?", (experiment,)).fetchone()[0]:
            return 0  # the last of its campaigns took it along
    with store.writing() as connection:
        gone = experiments.purge(connection, experiment)
        audit.note(connection, "purged", rows=gone, now=now, reason=f"experiment {name}")
        leave_remains(connection)
    overwrite(store)
    return gone


def leave_remains(connection: sqlite3.Connection) -> None:
    """Note, in the transaction that deletes somebody's rows, that their bytes are still in the file."""
    connection.execute("UPDATE ledger SET remains=1")


def overwrite(store: Store) -> bool:
    """Rewrite the file without what was deleted from it; return whether that reached the file and its log.

    It does not while another process is reading. `finish` then makes up for it.
    """
    if not store.vacuum():
        return False
    with store.writing() as connection:
        connection.execute("UPDATE ledger SET remains=0")
    return True


def finish(store: Store) -> None:
    """Make up for what an earlier deletion could not reach."""
    if remains(store):
        overwrite(store)


def remains(store: Store) -> bool:
    """Return whether deleted rows are still in the bytes of the file or its log."""
    with store.reading() as connection:
        return bool(connection.execute("SELECT remains FROM ledger").fetchone()[0])


def warn_of_unreached(store: Store, *, above: int = 3) -> None:
    """Warn of the places where what was deleted may still be read."""
    if said := unreached(store):
        warnings.warn(
            f"what was deleted can still be read in places that no deletion reaches: {said}",
            SmsOtpWarning,
            stacklevel=above,
        )


def unreached(store: Store) -> str:
    """Return in words where deleted rows may still be read; empty: nowhere that the ledger knows of."""
    with store.reading() as connection:
        copies = connection.execute("SELECT what, path, made_at, who FROM copy ORDER BY made_at").fetchall()
    said, gone = [store.remains_where()] * remains(store), []
    for what, path, made, who in copies:
        name = f"the {what} {path} of {_moment(made)}"
        if who.rpartition(" on ")[2] != fences.machine():
            said.append(f"{name} ({who})")  # nobody can look there from here
        elif there(path):
            said.append(name)
        else:
            gone.append(f"perhaps {name}, which is no longer in its place")
    return "; ".join(said + gone)


def _moment(micros: int) -> str:
    return f"{_EPOCH + timedelta(microseconds=micros):%Y-%m-%d %H:%M} UTC"


def _delete(connection: sqlite3.Connection, campaign: int, sums: Packed, refused: str, *, now: int) -> int:
    if not connection.execute("SELECT purged FROM campaign WHERE id=?", (campaign,)).fetchone()[0]:
        pack_hashed(connection, campaign, now=now)
        pack_sums(connection, campaign, sums, refused)
    gone = connection.execute("DELETE FROM recipient WHERE campaign=?", (campaign,)).rowcount
    # Which requests were recorded is what a mark compares: a purge must not look like an older copy.
    connection.execute(
        "UPDATE session SET upto=max(upto, coalesce((SELECT max(attempt.id) FROM attempt WHERE campaign=? "
        "AND attempt.session=session.id), 0))",
        (campaign,),
    )
    # The latest of all requests stays, emptied: its number must not be given to another one.
    latest = "(SELECT max(id) FROM attempt)"
    connection.execute(f"DELETE FROM attempt WHERE campaign=? AND id<>{latest}", (campaign,))
    connection.execute(
        f"UPDATE attempt SET outcome='purged', error_code=NULL, error=NULL, request_id=NULL, recipients=NULL, "
        f"message_count=NULL, total=NULL, disagreement=NULL, ids=NULL, kinds=NULL WHERE campaign=? AND id={latest}",
        (campaign,),
    )
    delete_words(connection, campaign)
    for table in ("chunk", "change", "billing"):
        connection.execute(f"DELETE FROM {table} WHERE campaign=?", (campaign,))
    audit.forget_reasons(connection, campaign)
    # Whoever knows the text could find out by trying whose numbers the fingerprint was made of.
    connection.execute("UPDATE campaign SET purged=1, fingerprint='' WHERE id=?", (campaign,))
    return gone
