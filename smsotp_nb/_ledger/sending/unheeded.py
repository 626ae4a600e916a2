"""Experiments whose holdout a campaign texts, because its name is not one of theirs.

``autumn-2`` is no campaign of the experiment ``autumn``, so it texts those whom ``autumn/2`` leaves out. Before it is
sent, its plan says how many people that concerns, and by which name they would be left out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

from ..._cards import counted
from ..._services import name_key
from ..people import experiments
from ..people.experiments import held_out, in_other_arms
from ..rows.statements import Statements
from .rules import Standing

_SEPARATORS = re.compile(r"[^\w]+|_+")
_ALIKE = 0.8  # of two spellings of one word
_LEAST = 4  # characters of a word that may be misspelled or run on; shorter ones begin other words


@dataclass(frozen=True, slots=True)
class Unheeded:
    """How many people of a campaign an experiment holds out, or has in another arm, and are texted all the same.

    ``meant`` is the name by which the campaign would be the experiment's, empty where its name is quite another one.
    ``exempt`` is a transactional campaign, for which a holdout of every campaign does not hold.
    """

    experiment: str
    campaign: str
    people: int
    others: int
    meant: str
    exempt: bool

    def sentence(self) -> str:
        """Return who is texted although an experiment holds them out, and how they are left out."""
        held = counted(self.people, "recipient is", "recipients are")
        said = [f"{held} held out by the experiment {self.experiment!r} and will be texted."] if self.people else []
        if self.others:
            arms = counted(self.others, "recipient is", "recipients are")
            said.append(f"{arms} in another arm of the experiment {self.experiment!r} and will be texted.")
        if self.exempt:
            return " ".join([*said, "A transactional campaign heeds no holdout."])
        rows = 'the rows of Experiment.assign(...).frame whose arm is "holdout"'
        if not self.meant:
            return " ".join([*said, f"To leave them out, pass leave_out= with their numbers: {rows}."])
        asked = f"{self.campaign!r} is none of its campaigns. Is it meant to be one? Call the campaign {self.meant!r}"
        return " ".join([*said, f"{asked} to leave them out, or pass leave_out= with their numbers: {rows}."])


def unheeded(
    connection: Statements, campaign: str | None, standing: Standing, *, marketing: bool, now: int
) -> tuple[Unheeded, ...]:
    """Return the experiments that are not over, whose holdout would be texted by planned rows of a campaign."""
    found: list[Unheeded] = []
    if campaign is None:  # a test to oneself
        return ()
    for one in experiments.everyone(connection):
        heeded = one.owns(campaign) or (one.until is not None and marketing)
        if heeded or not one.is_open(connection, now):
            continue
        meant = campaign_meant(campaign, one.name)
        held = standing.going(connection, held_out(connection, one.name, marketing=False, now=now))
        others = standing.going(connection, in_other_arms(connection, meant)) if meant else 0
        if held or others:
            found.append(Unheeded(one.name, campaign, held, others, meant, exempt=one.until is not None))
    return tuple(found)


def together(found: list[tuple[Unheeded, ...]]) -> tuple[Unheeded, ...]:
    """Add up what was found in the pieces of one plan."""
    sums: dict[str, Unheeded] = {}
    for one in (one for piece in found for one in piece):
        known = sums.get(one.experiment, replace(one, people=0, others=0))
        sums[one.experiment] = replace(one, people=known.people + one.people, others=known.others + one.others)
    return tuple(sums.values())


def campaign_meant(campaign: str, experiment: str) -> str:
    """Return the experiment's own name for a campaign that begins with its name, spelled otherwise; else nothing.

    Separators and case make no difference, and a word of four letters or more may be misspelled, but for its digits.

    Example:
        >>> campaign_meant("Autumn-week 2", "autumn"), campaign_meant("autunm_2", "autumn")
        ('autumn/week 2', 'autumn/2')
        >>> campaign_meant("spring", "autumn"), campaign_meant("autumn2-b", "autumn1")
        ('', '')
    """
    key, wanted = name_key(campaign), _SEPARATORS.sub("", name_key(experiment))
    ends = [*(found.start() for found in _SEPARATORS.finditer(key)), len(key)]
    begun = [(end, _SEPARATORS.sub("", key[:end])) for end in ends]
    exact = next((end for end, head in begun if head == wanted), 0)
    close = [end for end, head in begun if _misspelled(head, wanted)]
    at = exact or next(iter(close), 0) or (len(wanted) if _runs_on(key, wanted) else 0)
    if not at:
        return ""
    rest = key[at:]
    rest = rest[found.end() :] if (found := _SEPARATORS.match(rest)) else rest
    return f"{experiment}/{rest}" if rest else experiment


def _runs_on(key: str, wanted: str) -> bool:
    """Say whether a name goes on without a separator; a digit more is another number, unless none stood there."""
    if len(wanted) < _LEAST or not key.startswith(wanted):
        return False
    return not (wanted[-1].isdigit() and key[len(wanted) : len(wanted) + 1].isdigit())


def _misspelled(head: str, wanted: str) -> bool:
    digits = [re.sub(r"[^0-9]", "", word) for word in (head, wanted)]
    if digits[0] != digits[1] or min(len(head), len(wanted)) < _LEAST:
        return False
    return SequenceMatcher(None, head, wanted, autojunk=False).ratio() >= _ALIKE
