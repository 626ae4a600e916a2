"""Whom a plan texts with which message, and who was texted: what every claim is held against before its first byte.

The ledger says which rows are to go, and its file may have been altered or damaged. The plan says who they are.
"""

from __future__ import annotations

import threading
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from .._ledger import Claim, Ints, persons
from .._planning import Plan
from .._wire import mask
from ..errors import LedgerError

Flags = npt.NDArray[np.bool_]
_STRANGER: Final = -1  # the place of somebody who is not in the plan


class Addressees:
    """The recipients of a plan, by their place in it, and which of them have been texted or are being texted.

    ``reached`` has the numbers of those who may have been texted before, without their plus.
    """

    def __init__(self, plan: Plan, reached: Ints) -> None:
        self._plan, self._lock = plan, threading.Lock()
        self._numbers, self._keys = plan._held.addressees()
        self._taken = np.zeros(len(self._numbers), bool)
        if len(reached):
            found = self._by_person(reached)
            self._taken[found[found != _STRANGER]] = True

    def take(self, claim: Claim) -> None:
        """Count the recipients of a claim as texted.

        Raises:
            LedgerError: somebody in it is not in the plan, is to have other words, or was texted; nobody is counted.
        """
        numbers, found = self._found(claim)
        with self._lock:
            wrong = self._wrong(claim, found)
            if len(found) and not wrong.any():
                self._taken[found] = True
                return
        raise self._refusal(claim, numbers[wrong])

    def give_back(self, claim: Claim) -> None:
        """Count the recipients of a claim that certainly was not sent as still to be texted."""
        _, found = self._found(claim)
        with self._lock:
            self._taken[found] = False

    def _found(self, claim: Claim) -> tuple[Ints, Ints]:
        """Return the numbers of a claim and their places: as recorded, or by person if the list is in another order."""
        numbers, at = np.array([*map(int, claim.to)], np.int64), np.array(claim.positions, np.int64)
        if len(at) and at[0] >= 0 and at[-1] < len(self._numbers) and (self._numbers[at] == numbers).all():
            return numbers, at  # positions rise, each once
        found = self._by_person(numbers)
        return numbers, np.where(_repeated(found), _STRANGER, found)

    def _wrong(self, claim: Claim, found: Ints) -> Flags:
        wrong: Flags = (found == _STRANGER) | (self._keys[found] != claim.body) | self._taken[found]
        return wrong

    def _by_person(self, numbers: Ints) -> Ints:
        people, order = self._people
        if not len(people):
            return np.full(len(numbers), _STRANGER)
        asked = persons(numbers)
        at = np.minimum(np.searchsorted(people, asked), len(people) - 1)
        return np.where((people[at] == asked) & (asked > 0), order[at], _STRANGER)

    @cached_property
    def _people(self) -> tuple[Ints, Ints]:
        """The people of the plan in order, and their places: needed where the recorded list is in another order."""
        people = persons(self._numbers)
        order = np.argsort(people, kind="stable")
        return people[order], order

    def _refusal(self, claim: Claim, wrong: Ints) -> LedgerError:
        name = self._plan.campaign
        shown = ", ".join(mask(f"+{number}") for number in wrong[:3].tolist())
        who = f" ({shown}{', ...' if len(wrong) > 3 else ''})" if len(wrong) else ""
        return LedgerError(
            f"the record of campaign {name!r} was altered or is damaged: request {claim.attempt} would text people"
            f"{who} whom the plan does not text with these words, or a second time. Nothing of this request was sent. "
            f"See who else writes into it, look at sms.record({name!r}).results and settle who was texted"
        )


def _repeated(found: Ints) -> Flags:
    """Return which places stand there once more."""
    again = np.ones(len(found), bool)
    again[np.unique(found, return_index=True)[1]] = False
    return again
