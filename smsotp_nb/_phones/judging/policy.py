"""What a call asks of valid numbers: which kinds are texted, and what of other countries and of numbers for fiction."""

from __future__ import annotations

import operator
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ..._calling import Options, given, made_in_our_words, not_a, not_choice, not_flag
from ...errors import UsageError
from ..countries import calling_code
from ..fast.assembly import REASONS, REGION_PLACE
from ..fast.memory import Mask, matching
from ..fast.tables import KINDS
from ..reference import SUPPORTED_REGIONS
from ..vocabulary import BIT, PROBLEM_CODE, REPAIRS
from .evidence import NOTHING, Evidence, Level
from .work import Work

NoteOrRefuse = Literal["note", "refuse"]
_LISTED: Final = 20
TEXTABLE: Final = frozenset({"MOBILE", "FIXED_LINE_OR_MOBILE", "FIXED_LINE", "VOIP"})

# Numbers that regulators keep free for films, books and samples: valid by their plan, and nobody's. Sources: the North
# American numbering administrator, Ofcom, Arcep, the Australian regulator, the Swedish one and the German one.
RANGES: Final = (
    r"1[2-9][0-9]{2}55501[0-9]{2}",  # any North American area code
    r"447700900[0-9]{3}|44(?:11[3-8]|1[2-6]1)4960[0-9]{3}|441914980[0-9]{3}|442079460[0-9]{3}|441632960[0-9]{3}",
    r"442896496[0-9]{3}|442920180[0-9]{3}|448081570[0-9]{3}|449098790[0-9]{3}|443069990[0-9]{3}",
    r"33(?:19900|26191|35301|46571|53649|63998)[0-9]{4}",
    r"61491570(?:006|110|15[6-9]|313|737)|61491571(?:266|491|804)|61491572(?:549|665|983)|61[2378](?:5550|7010)[0-9]{4}",
    r"46701740(?:60[5-9]|6[1-9][0-9])|463139006[0-9]{2}|464062804[0-9]{2}|468465004[0-9]{2}|469803192[0-9]{2}",
    r"493023125[0-9]{3}|496990009[0-9]{3}|494066969[0-9]{3}|492214710[0-9]{3}|498999998[0-9]{3}|491713920[0-9]{3}",
)
FICTION: Final = r"^\+(?:" + "|".join(RANGES) + r")$"
FICTION_CODES: Final = (1, 33, 44, 46, 49, 61)
HAS_SOME: Final = np.isin(np.arange(1001), FICTION_CODES)  # by calling code; the last one is for none

OURS: Final = {"INVALID_COUNTRY_CODE": "UNKNOWN_CALLING_CODE", "IS_POSSIBLE_LOCAL_ONLY": "LOCAL_ONLY"}
WITH_A_PLUS: Final = r"^[\s(]*\+"
NOWHERE: Final = ("", "REGION_MISSING", "REGION_UNKNOWN")
NO_YES: Final = (False, True)
VALUES: Final[Any] = (REASONS, (None, *KINDS), NO_YES, NOWHERE, NO_YES, NO_YES, NO_YES)  # of each of `Facts`
SHAPE: Final = tuple(map(len, VALUES))


@made_in_our_words
@dataclass(frozen=True, slots=True, repr=False)
class NumberOptions(Options):
    """How phone numbers are read. One value serves the list and the lists of whom to leave out.

    Args:
        repair: repairs that are made only on request: ``lost_plus`` (also landlines, and if the text as written is a
            number too, it is held), ``trailing_note`` (all words behind a number that do not say no), ``vanity``.
        landlines: whether landlines are texted; by default they are, noted FIXED_LINE.
        test_numbers: ``"refuse"`` turns the note TEST_NUMBER into a problem.
        region_mismatch: ``"refuse"`` turns the note REGION_MISMATCH into a problem.
        unreadable: what becomes of a list of people to leave out with entries that cannot be read: ``"refuse"``, or
            ``"ignore"`` those entries.
        evidence: when the other rows of the column may settle which of two readings is meant: only if the evidence is
            ``"overwhelming"``, by a ``"majority"`` of three quarters, or never (``"none"``). Or what ``weigh_column``
            returned, for a list that comes in pieces.

    Raises:
        UsageError: an option that is none; lists all of them.

    Example:
        >>> NumberOptions(repair=["lost_plus"]).replace(test_numbers="refuse")
        NumberOptions(repair=('lost_plus',), test_numbers='refuse')
    """

    repair: Collection[str] = ()
    landlines: bool = True
    test_numbers: NoteOrRefuse = "note"
    region_mismatch: NoteOrRefuse = "note"
    unreadable: Literal["refuse", "ignore"] = "refuse"
    evidence: Level | Evidence = "overwhelming"

    def __post_init__(self) -> None:
        wrong = []
        if not _among(self.repair, REPAIRS):
            wrong.append(f"repair={_shown(self.repair)}: pass a set of {', '.join(REPAIRS)}")
        wrong += filter(None, [not_flag("landlines", self.landlines)])
        for name, words in (
            ("region_mismatch", ("note", "refuse")),
            ("test_numbers", ("note", "refuse")),
            ("unreadable", ("refuse", "ignore")),
        ):
            if not_choice(name, value := getattr(self, name), words):
                wrong.append(f"{name}={_shown(value)}: say {words[0]!r} or {words[1]!r}")
        if not isinstance(self.evidence, Evidence) and not_choice("evidence", self.evidence, get_args(Level)):
            levels = ", ".join(map(repr, get_args(Level)))
            wrong.append(f"evidence={_shown(self.evidence)}: say {levels}, or pass what weigh_column returned")
        if wrong:
            raise UsageError("; ".join(wrong), problems=tuple(wrong))
        # In the order in which REPAIRS has them, so that equal sets of repairs are equal options.
        object.__setattr__(self, "repair", tuple(name for name in REPAIRS if name in self.repair))

    @property
    def _texted(self) -> frozenset[str]:
        """The kinds of number that are texted."""
        return TEXTABLE if self.landlines else TEXTABLE - {"FIXED_LINE"}

    @property
    def _gathered(self) -> Evidence:
        """The evidence of the whole column where it was gathered; else none."""
        return self.evidence if isinstance(self.evidence, Evidence) else NOTHING


def not_reading(reading: Any) -> str | None:
    """Complain of what is no NumberOptions, or None."""
    return not_a(
        "numbers", reading, NumberOptions, wanted="a NumberOptions, such as NumberOptions(repair=['lost_plus'])"
    )


def _among(asked: Any, known: Collection[str]) -> bool:
    """Return whether these are all known words; a single text does not count as a collection of letters."""
    collection = isinstance(asked, Collection) and not isinstance(asked, str | bytes)
    return collection and all(isinstance(word, str) and word in known for word in asked)


def _shown(asked: Any) -> str:
    words = isinstance(asked, list | tuple | set | frozenset | str) and len(asked) <= _LISTED
    return repr(asked) if words else given(asked)


class Facts(NamedTuple):
    """What decides whether a row that has been read is texted: the verdict, and the country beside it."""

    reason: str | None  # without one it is valid
    kind: str | None
    extended: bool
    nowhere: str  # the problem with the country by which a text without a plus is read, or ""
    lost: bool  # the cell of that country could not be read
    elsewhere: bool  # the number is of another country than the row names
    fiction: bool


def decided(it: Facts, asked: NumberOptions) -> tuple[str, int]:
    """Return the problem of a row (``""``: its number is texted), and its notes as bits."""
    if it.reason is not None:
        problem = OURS.get(it.reason, it.reason)
        return (it.nowhere if problem == "UNKNOWN_CALLING_CODE" else "") or problem, 0
    if it.extended:
        return "MULTIPLE_NUMBERS", 0
    problem, notes = "" if it.kind in asked._texted else "TYPE_NOT_ALLOWED", 0
    if it.elsewhere:
        notes |= BIT["REGION_MISMATCH"]
        problem = problem or ("REGION_MISMATCH" if asked.region_mismatch == "refuse" else "")
    if it.fiction:
        notes |= BIT["TEST_NUMBER"]
        problem = problem or ("TEST_NUMBER" if asked.test_numbers == "refuse" else "")
    if not problem:
        notes |= BIT.get(it.kind or "", 0) | (BIT["REGION_UNKNOWN"] if it.lost else 0)
    return problem, notes


def apply(work: Work, asked: NumberOptions) -> None:
    """Decide every row that has been read; rows of which all facts are the same are decided once."""
    rows = np.flatnonzero(work.open())
    found = work.answers
    nowhere = np.array([*(2 * (name not in SUPPORTED_REGIONS) for name in work.names), 1], np.int8).take(work.place)
    nowhere[work.lost] = 2
    nowhere[matching(work.text, np.flatnonzero(found.reason == REASONS.index("INVALID_COUNTRY_CODE")), WITH_A_PLUS)] = 0
    valid = work.valid()
    facts = (
        found.reason[rows],
        found.kind[rows] + 1,
        found.extended[rows],
        nowhere[rows],
        work.lost[rows],
        (valid & work.named & _elsewhere(work))[rows],
        reserved(found.e164, valid & HAS_SOME.take(found.cc))[rows],
    )
    packed = np.ravel_multi_index(facts, SHAPE)
    problems, notes = np.zeros((2, np.prod(SHAPE)), np.uint32)
    for place in np.flatnonzero(np.bincount(packed)).tolist():
        at = np.unravel_index(place, SHAPE)
        problem, notes[place] = decided(Facts(*map(operator.getitem, VALUES, at)), asked)
        problems[place] = PROBLEM_CODE.get(problem, 0)
    work.problem[rows] = problems.take(packed)
    work.notes[rows] |= notes.take(packed)


def _elsewhere(work: Work) -> Mask:
    """Return which numbers belong to another country than the given one; a calling code means all that share it."""
    place = np.array([*(REGION_PLACE.get(name, -2) for name in work.names), -2], np.int16)
    other: Mask = place.take(work.place) != work.answers.region
    coded = np.flatnonzero(work.coded)
    if len(coded):
        codes = np.array([*(int(calling_code(name) or -2) for name in work.names), -2], np.int16)
        other[coded] = codes.take(work.place[coded]) != work.answers.cc[coded]
    return other


def reserved(e164: pa.Array, asked: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Return which numbers of a column are reserved for fiction, of those that may be asked about."""
    rows = np.flatnonzero(asked)
    flags = np.zeros(len(asked), bool)
    flags[matching(e164, rows, FICTION)] = True
    return flags
