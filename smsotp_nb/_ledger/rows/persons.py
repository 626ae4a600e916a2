"""Who is one person to the ledger: the number of a phone, or the hash that stands for somebody who was forgotten.

Numbers are E.164 without the plus, as integers; two numbers that ring one phone are one person. A person who asked to
be forgotten is a negative number: a hash of theirs, keyed with a secret of the ledger, so that they are still
recognized when a list holds them. The secret stands in the same file: whoever has the file and tries every number there
is can find out whether a number is among the forgotten ones.
"""

from __future__ import annotations

from hashlib import blake2b

import numpy as np

from ..._phones import one_phone_digits, spellings
from .answers import Ints
from .damage import LARGEST_NUMBER, SMALLEST_NUMBER, Unfit
from .statements import Statements

_HASH_BITS = 62
NO_PEOPLE: Ints = np.array([], np.int64)


def recorded(numbers: Ints) -> Ints:
    """Return recipients' numbers as they were read from a ledger, where each can be one.

    A number that is none would be passed over in silence: its person would count as never texted.
    """
    if len(numbers) and not (
        numbers.all() and int(numbers.min()) >= SMALLEST_NUMBER and int(numbers.max()) <= LARGEST_NUMBER
    ):
        raise Unfit("a recipient's number is none")
    return numbers


def persons(numbers: Ints) -> Ints:
    """Return whose these numbers are; those of forgotten people stay as they are.

    Example:
        >>> persons(np.array([5491123456789, -5])).tolist()
        [541123456789, -5]
    """
    return one_phone_digits(numbers)


def secret_of(connection: Statements) -> bytes:
    return bytes(connection.execute("SELECT secret FROM ledger").fetchone()[0])


def keys(connection: Statements, number: int) -> tuple[int, int]:
    """Return the two keys under which a person may stand in a ledger: the number, and the hash of it."""
    person = persons(np.array([number]))
    return int(person[0]), int(hashed(person, secret_of(connection))[0])


def stored_as(connection: Statements, number: int) -> list[int]:
    """Return what may stand in a recipient's row that is a person's: the numbers that ring one phone, and the hash."""
    person, code = keys(connection, number)
    return [*spellings(person), code]


def hashed(people: Ints, secret: bytes) -> Ints:
    """Return what stands for people when they are forgotten: negative numbers."""
    made = (
        blake2b(b"%d" % person, key=secret, digest_size=8).digest() if person >= 0 else b""
        for person in people.tolist()
    )
    codes = [-1 - (int.from_bytes(digest, "big") >> (64 - _HASH_BITS)) if digest else 0 for digest in made]
    return np.where(people < 0, people, np.array(codes, np.int64))


def keyed(bodies: Ints, secret: bytes) -> Ints:
    """Return what stands for the keys of bodies once their campaign is purged: who knows a text cannot try it."""
    distinct, which = np.unique(bodies, return_inverse=True)
    digests = [blake2b(b"body %d" % body, key=secret, digest_size=8).digest() for body in distinct.tolist()]
    made = np.array([int.from_bytes(digest, "big", signed=True) for digest in digests], np.int64)
    return made[which.ravel()]
