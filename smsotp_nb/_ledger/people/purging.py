"""Purge: delete who was texted, in every place where the ledger holds it, and say what is out of its reach.

What a purge leaves names nobody: what a campaign cost, by day and country, and, for the rules on how often a person is
texted, when somebody was sent which message, with a keyed hash in place of the person. The hashes go as well once no
rule can ask for them any more.

SQLite removes deleted rows from its file only by rewriting it (VACUUM), and from its log only while nobody reads. The
ledger notes that this is still to be done (``ledger.remains``) in the transaction that deletes, so that it is made up
for the next time that somebody opens the file.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import timedelta
from typing import Any, Final

import pandas as pd

from ..._calling import given
from ..._moments import microseconds, moment
from ..._pandas import STR
from ..._policy import LONGEST
from ..._warnings import warn_user
from ...errors import UsageError
from ..file.copies import there
from ..file.store import Store
from ..reading.frames import counts
from ..reading.spending import refused_of
from ..rows import runners
from ..rows.columns import TIME, framed
from ..rows.contacts import pack_hashed
from ..rows.damage import Unfit
from ..rows.statements import Statements
from ..rows.sums import Packed, pack_sums, sums_for_purge
from ..rows.tables import columns_of
from ..rows.wordings import delete_words

_EMPTIED: Final = ("recipients", "message_count", "total", *columns_of("attempt"))
_OLDEST = LONGEST // timedelta(microseconds=1)  # microseconds after which no rule asks for a contact


def purge(store: Store, campaign: int, tests: Sequence[int], *, now: int) -> int:
    """Delete a campaign's rows, its test messages and what is known of its requests, from the file and its log too.

    The caller holds the locks of the campaign and of its tests, see `tests_of`.

    Returns:
        How many rows there were.
    """
    doomed = (campaign, *tests)
    with store.writing() as connection:  # a passcode that came between its sums and this would be in neither
        doubt = sum(counts(store, number)["in_doubt"] for number in doomed)
        sums = {number: (sums_for_purge(connection, number), refused_of(store, number)) for number in doomed}
        gone = sum(_delete(connection, number, *sums[number], now=now) for number in doomed)
        runners.note_decision(connection, "purged", rows=gone, now=now, campaign=campaign)
        if doubt:
            runners.note_decision(connection, runners.PURGED_IN_DOUBT, rows=doubt, now=now, campaign=campaign)
        forgettable = "latest<? AND campaign IN (SELECT id FROM campaign WHERE purged<>0)"
        connection.execute(f"DELETE FROM contacts WHERE {forgettable}", (now - _OLDEST,))
        leave_remains(connection)
    overwrite(store)
    if doubt:
        said = f"{doubt:,} of the rows were in doubt, possibly sent and billed: what became of them stays unknown"
        warn_user(f"{said}; settle such rows before a purge")
    return gone


def tests_of(store: Store, campaign: int) -> list[int]:
    """Return the numbers of the other messages to oneself that any service sent under the name of a campaign."""
    found = store.asked(
        "SELECT id FROM campaign WHERE id<>? AND kind='test' AND name_key=(SELECT name_key FROM campaign WHERE id=?)",
        (campaign, campaign),
    )
    return [number for (number,) in found]


def leave_remains(connection: Statements) -> None:
    """Note, in the transaction that deletes somebody's rows, that their bytes are still in the file."""
    connection.execute("UPDATE ledger SET remains=1")


def overwrite(store: Store) -> bool:
    """Rewrite the file without what was deleted from it; return whether that reached the file and its log.

    It does not while another process is reading. The next `Ledger` on it then makes up for it.
    """
    if not store.vacuum():
        return False
    with store.writing() as connection:
        connection.execute("UPDATE ledger SET remains=0")
    return True


def remains(store: Store) -> bool:
    return bool(store.asked("SELECT remains FROM ledger")[0][0])


def warn_of_unreached(store: Store) -> None:
    """Warn of the places where what was deleted may still be read."""
    if said := unreached(store):
        warn_user(f"what was deleted can still be read in places that no deletion reaches: {said}")


def unreached(store: Store) -> str:
    """Return in words where deleted rows may still be read; empty: nowhere that the ledger knows of."""
    copies = store.asked("SELECT what, path, made_at, who FROM copy ORDER BY made_at")
    said, gone = [store.remains_where()] * remains(store), []
    for what, path, made, who in copies:
        name = f"the {what} {path} of {moment(made):%Y-%m-%d %H:%M} UTC"
        if who.rpartition(" on ")[2] != runners.machine():
            said.append(f"{name} ({who})")  # nobody can look there from here
        elif there(path):
            said.append(name)
        else:
            gone.append(f"perhaps {name}, which is no longer in its place")
    return "; ".join(said + gone)


def _delete(connection: Statements, campaign: int, sums: Packed, refused: str, *, now: int) -> int:
    if not connection.execute("SELECT purged FROM campaign WHERE id=?", (campaign,)).fetchone()[0]:
        pack_hashed(connection, campaign, now=now)
        pack_sums(connection, campaign, sums, refused)
    gone = connection.execute("DELETE FROM recipient WHERE campaign=?", (campaign,)).rowcount
    # Which requests were recorded is what a mark compares: a purge must not look like an older copy.
    connection.execute(
        "UPDATE session SET upto=greatest(upto, coalesce((SELECT max(attempt.id) FROM attempt WHERE campaign=? "
        "AND attempt.session=session.id), 0))",
        (campaign,),
    )
    # The latest of all requests stays, emptied: its number must not be given to another one.
    latest = "(SELECT max(id) FROM attempt)"
    connection.execute(f"DELETE FROM attempt WHERE campaign=? AND id<>{latest}", (campaign,))
    connection.execute(
        f"UPDATE attempt SET outcome='purged', {', '.join(f'{one}=NULL' for one in _EMPTIED)} "
        f"WHERE campaign=? AND id={latest}",
        (campaign,),
    )
    delete_words(connection, campaign)
    for table in ("chunk", "change", "billing"):
        connection.execute(f"DELETE FROM {table} WHERE campaign=?", (campaign,))
    connection.execute("UPDATE decision SET reason=NULL WHERE campaign=?", (campaign,))
    # Whoever knows the text could find out by trying whose numbers the fingerprint was made of.
    connection.execute("UPDATE campaign SET purged=1, fingerprint='' WHERE id=?", (campaign,))
    return gone


_WRITTEN: Final = re.compile(r"\A\s{0,9}(\d{1,4})\s{0,9}(day|week|month|year)s?\s{0,9}\Z")
_MOST: Final = 1_200
_COLUMNS: Final = {"id": "int64", "campaign": STR, "service": STR, "kind": STR, "latest": TIME, "rows": "Int64"}


def before(age: Any, now: int) -> int:
    """Return the moment that lies so long ago, in microseconds since 1970."""
    found = _WRITTEN.match(age) if isinstance(age, str) else None
    if found is None or not 1 <= int(found[1]) <= _MOST:
        raise UsageError(
            f"age= needs a whole number from 1 to {_MOST:,} and a unit (days, weeks, months or years), such as "
            f'"24 months", got {given(age)}. Nothing was deleted'
        )
    # Microseconds have room for years before 1677 and after 2262, where a timestamp's own nanoseconds end.
    ago: dict[str, Any] = {f"{found[2]}s": int(found[1])}
    begun = pd.Timestamp(moment(now)).as_unit("us") - pd.DateOffset(**ago)
    return microseconds(begun.to_pydatetime())


def older(store: Store, since: int) -> pd.DataFrame:
    """Return campaigns and tests that hold people and of which nothing was recorded since then.

    Columns: ``id`` (int64), ``campaign, service, kind`` (str), ``latest`` (UTC: its latest request, else when it
    was recorded) and ``rows`` (Int64).
    """
    asked = "SELECT max(coalesce(settled_at, started_at)) FROM attempt WHERE campaign=k.id"
    latest = f"greatest(k.created_at, coalesce(({asked}), 0))"
    with store.snapshot() as connection:
        found = connection.execute(
            f"SELECT id, name, service, kind, {latest} AS latest, rows FROM campaign k WHERE purged=0 "
            "ORDER BY kind, latest"
        ).fetchall()
    found = [row for row in found if row[4] < since]
    return framed(found, _COLUMNS)


def decide(store: Store, age: str, *, now: int) -> None:
    kept = " ".join(age.split())
    with store.writing() as connection:
        connection.execute("UPDATE ledger SET retention=?", (kept,))
        runners.note_decision(connection, "retention", rows=0, now=now, reason=kept)


def due(store: Store, now: int) -> str:
    """Return in words how long campaigns are kept and what has come due; empty where nobody decided that."""
    age: str | None = store.asked("SELECT retention FROM ledger")[0][0]
    if age is None:
        return ""
    try:
        since = before(age, now)
    except UsageError:
        raise Unfit("the age that it keeps is none") from None
    many = len(older(store, since))
    what = "campaign or test is" if many == 1 else "campaigns and tests are"
    said = f"{many:,} {what} older: ledger.retain({age!r}) deletes their numbers" if many else "nothing is older"
    return f"Numbers are kept for {age}; {said}."
