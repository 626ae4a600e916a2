"""Guesses that the server itself checks, so that a transaction is begun, made and confirmed with one message.

Around each statement whose result is guessed stands a question that fails with an error where the guess was wrong: it
divides by zero. Then the server runs nothing of the rest, and above all not the ``COMMIT`` at its end.
"""

from __future__ import annotations

from ..rows.statements import Guess
from .last_seen import SEEN, Sighting

_COLUMNS = "ledger, system, timeline, database, place, log, requests, version, fsync, full_pages, standby, since"


def guarded(text: str, guess: Guess) -> str:
    """Return a statement that fails unless it brings what is guessed.

    Args:
        text: the statement as it is sent, with its values.
        guess: what it brings: how many rows it changes or which whole numbers it returns. Nothing of both: anything.

    Example:
        >>> guarded("SELECT 1 FROM attempt", Guess(rows=()))
        'SELECT 1/(CASE WHEN NOT EXISTS (SELECT 1 FROM attempt) THEN 1 ELSE 0 END)'
        >>> guarded("UPDATE chunk SET x=2", Guess(changed=1))
        'WITH done AS (UPDATE chunk SET x=2 RETURNING 1) SELECT 1/(CASE WHEN count(*)=1 THEN 1 ELSE 0 END) FROM done'
    """
    if guess.changed is not None and guess.rows is not None:  # inserted with this number
        ((number, *_),) = guess.rows
        right = f"count(*)={guess.changed:d} AND max(id)={number:d}"
        return f"WITH done AS ({text}) SELECT {_unless(right)} FROM done"
    if guess.changed is not None:
        right = f"count(*)={guess.changed:d}"
        return f"WITH done AS ({text} RETURNING 1) SELECT {_unless(right)} FROM done"
    if guess.rows is not None and not guess.rows:
        return f"SELECT {_unless(f'NOT EXISTS ({text})')}"
    if guess.rows is not None:
        (row,) = guess.rows
        found = f"(SELECT found::text FROM ({text}) AS found)"
        return f"SELECT {_unless(found + _is(row))}"
    return text


def seen_again(known: Sighting) -> str:
    """Return the statement that takes the turn to write; it fails where the database is not the one that is known."""
    same = (
        f"ledger='\\x{known.ledger.hex()}'::bytea AND system={known.system:d} "
        f"AND timeline='{_plain(known.timeline)}' AND database={known.database:d} AND place={known.table:d} "
        f"AND log>={known.log:d} AND requests>={known.requests:d} AND fsync='on' AND full_pages='on' AND NOT standby "
        f"AND since='{_plain(known.since)}'"
    )
    inside = f"SELECT {SEEN} FROM ledger l, served s FOR UPDATE OF l"
    return f"SELECT *, {_unless(same)} FROM ({inside}) AS seen({_COLUMNS})"


def _is(row: tuple[int, ...]) -> str:
    """Return how a row of whole numbers is compared with what a server makes of one as text."""
    return f"='({','.join(f'{number:d}' for number in row)})'"


def _unless(condition: str) -> str:
    return f"1/(CASE WHEN {condition} THEN 1 ELSE 0 END)"


def _plain(text: str) -> str:
    return text.replace("'", "''")
