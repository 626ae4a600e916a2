"""Record the answers to one request: as a whole beside the request, or row by row.

Nearly every chunk leaves in one request and is answered in full. Its answers are kept as a whole: one string of ids in
the order of the rows, and the billing of each. Neither the intent nor the answer touches its rows. Anything else (a
number without a record, an id in an unusual form, rows that a person decided on) is recorded row by row.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..._wire import Billing, Messages, SendReply
from .tables import ACCEPTED, IN_DOUBT, PLANNED, SENDING

Country = tuple[str | None, str | None]  # iso and cc, as the service said
Ints = npt.NDArray[np.int64]
ID = 16  # bytes of an id of 32 hexadecimal digits
KIND = np.dtype("<u2")
MOST_KINDS = int(np.iinfo(KIND).max)  # of a campaign, numbered from 1
MOST_MICROS = 10**12  # a price that millions of rows can add up to without an overflow


def totals_of(reply: SendReply) -> tuple[object, ...]:
    """Return what a reply says of itself, and in words where its records say something else."""
    said = "; ".join(reply.disagreements()) or None
    return reply.currency, reply.recipients, reply.message_count, reply.total_micros, said


class Whole(NamedTuple):
    """The answers to all rows of a chunk, in the order of their positions.

    ``ids`` has 16 bytes a row. ``kinds`` has the number of each row's billing in the campaign: two bytes a row, or just
    two bytes if all rows were billed alike.
    """

    ids: bytes
    kinds: bytes


def fits(billing: Billing) -> bool:
    return billing.parts is not None and billing.price_micros is not None and billing.price_micros <= MOST_MICROS


def whole(to: Sequence[str], messages: Messages, billings: Mapping[Billing, int]) -> Whole | None:
    """Return the answers as a whole if the reply has a complete record of every number, else None."""
    if len(messages) != len(to) or not billings.keys() >= messages.tally.keys():
        return None
    ids, kinds = messages.ids, messages.billings
    if tuple(messages.to) != tuple(to):
        place = {number: at for at, number in enumerate(messages.to)}
        order = [place[number] for number in to]
        ids, kinds = [ids[at] for at in order], [kinds[at] for at in order]
    packed = _packed(ids)
    if packed is None:
        return None
    kinds = kinds if len(messages.tally) > 1 else kinds[:1]
    return Whole(packed, struct.pack(f"<{len(kinds)}H", *map(billings.__getitem__, kinds)))


def reordered(answers: Whole, order: Ints) -> Whole:
    ids = np.frombuffer(answers.ids, np.dtype((np.void, ID)))[order].tobytes()
    alike = len(answers.kinds) <= KIND.itemsize
    return Whole(ids, answers.kinds if alike else np.frombuffer(answers.kinds, KIND)[order].tobytes())


def unpacked(chunks: Sequence[Whole]) -> tuple[Ints, Ints]:
    """Return, for answers kept as a whole, the number of rows of each, and the billing of every row in turn."""
    rows = np.array([len(chunk.ids) // ID for chunk in chunks], np.int64)
    kinds = b"".join(
        chunk.kinds * (len(chunk.ids) // ID if len(chunk.kinds) == KIND.itemsize else 1) for chunk in chunks
    )
    return rows, np.frombuffer(kinds, KIND).astype(np.int64)


def _packed(ids: Sequence[str | None]) -> bytes | None:
    """Return ids of 32 hexadecimal digits as bytes; None if one would read back differently."""
    known = [one or "" for one in ids]
    if set(map(len, known)) != {2 * ID}:
        return None
    try:
        packed = bytes.fromhex("".join(known))
    except ValueError:
        return None
    return packed if packed.hex() == "".join(known) else None


def by_row(
    place: Mapping[str, int], messages: Messages, countries: Mapping[Country, int], *, packs_ids: bool = True
) -> tuple[str, list[Any]]:
    """Return the statement that records these answers, at least one, in their rows, and its first values.

    Those of campaign, chunk and attempt follow.

    An answer is recorded as long as the row's latest attempt is this request. A second interrupt may have put the row
    in doubt meanwhile, and a person may even have said that it was not accepted: the service's answer still counts.
    """
    values: list[Any] = []
    for record in messages:
        message = (_packed([record.id]) if packs_ids else None) or record.id
        values += place[record.to], message, countries[record.iso, record.cc], record.parts, record.price_micros
    return _answering(len(messages)), values


# What is missing in all rows still has a type.
_FIRST = "(?,?,CAST(? AS BIGINT),CAST(? AS BIGINT),CAST(? AS BIGINT))"


@lru_cache
def _answering(records: int) -> str:
    return (
        f"WITH answer(position, message, country, parts, price) AS (VALUES {_FIRST}{',(?,?,?,?,?)' * (records - 1)}) "
        f"UPDATE recipient SET own_state={ACCEPTED}, problem=NULL, message=answer.message, country=answer.country, "
        "parts=answer.parts, price=answer.price FROM answer WHERE recipient.position=answer.position "
        f"AND campaign=? AND chunk=? AND attempt=? AND own_state IN ({SENDING}, {IN_DOUBT}, {PLANNED}) "
        # Sent anew as a whole chunk since then, they are of that attempt, whatever they say themselves.
        "AND NOT EXISTS (SELECT 1 FROM chunk WHERE campaign=recipient.campaign AND chunk=recipient.chunk "
        "AND state IS NOT NULL)"
    )
