"""What a call asks of valid numbers: which kinds are texted, and what of other countries and of numbers for fiction."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ..._calling import given, not_choice
from ...errors import UsageError
from .. import reference
from ..countries import calling_code
from ..fast.memory import Mask, matching
from ..fast.tables import KINDS
from ..vocabulary import REPAIRS
from .answers import REGION_PLACE
from .evidence import Evidence, Level
from .work import Work

NoteOrRefuse = Literal["note", "refuse"]
KIND_NAMES: Final = frozenset({name for name in vars(reference.PhoneNumberType) if name.isupper()})
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


@dataclass(frozen=True, slots=True)
class Asked:
    """What a call asks for, checked."""

    repair: frozenset[str]
    allow_types: frozenset[str]
    region_mismatch: NoteOrRefuse
    test_numbers: NoteOrRefuse


def checked(
    repair: Collection[str] = (),
    kinds: Collection[str] = TEXTABLE,
    mismatch: NoteOrRefuse = "note",
    tests: NoteOrRefuse = "note",
    evidence: Level | Evidence = "overwhelming",
) -> Asked:
    """Return the checked arguments of a call, or raise an error that lists everything wrong with them."""
    wrong = []
    if not _among(repair, REPAIRS):
        wrong.append(f"repair={_shown(repair)}: pass a set of {', '.join(REPAIRS)}")
    if not _among(kinds, KIND_NAMES) or not kinds:
        wrong.append(f"allow_types={_shown(kinds)}: pass a set of {', '.join(sorted(KIND_NAMES))}")
    for name, value in (("region_mismatch", mismatch), ("test_numbers", tests)):
        if not_choice(name, value, ("note", "refuse")):
            wrong.append(f"{name}={_shown(value)}: say 'note' or 'refuse'")
    if not isinstance(evidence, Evidence) and not_choice("evidence", evidence, get_args(Level)):
        levels = ", ".join(map(repr, get_args(Level)))
        wrong.append(f"evidence={_shown(evidence)}: say {levels}, or pass what weigh_column returned")
    if wrong:
        raise UsageError("; ".join(wrong), problems=tuple(wrong))
    return Asked(frozenset(repair), frozenset(kinds), mismatch, tests)


def _among(asked: Any, known: Collection[str]) -> bool:
    """Return whether these are all known words; a single text does not count as a collection of letters."""
    collection = isinstance(asked, Collection) and not isinstance(asked, str | bytes)
    return collection and all(isinstance(word, str) and word in known for word in asked)


def _shown(asked: Any) -> str:
    words = isinstance(asked, list | tuple | set | frozenset | str) and len(asked) <= len(KIND_NAMES)
    return repr(asked) if words else given(asked)


def apply(work: Work, asked: Asked) -> None:
    """Refuse or note valid numbers: by their kind, by the country beside them, those of fiction."""
    valid, kind = work.valid(), work.answers.kind
    allowed = np.array([name in asked.allow_types for name in KINDS])
    work.refuse(valid & ~allowed.take(kind), "TYPE_NOT_ALLOWED")
    mismatch = valid & work.named & _elsewhere(work)
    tests = reserved(work.answers.e164, valid & HAS_SOME.take(work.answers.cc))
    for mask, name, policy in (
        (mismatch, "REGION_MISMATCH", asked.region_mismatch),
        (tests, "TEST_NUMBER", asked.test_numbers),
    ):
        work.note(mask, name)
        if policy == "refuse":
            work.refuse(mask, name)
    texted = work.valid()
    for name in ("FIXED_LINE", "VOIP"):
        work.note(texted & (kind == KINDS.index(name)), name)
    work.note(texted & work.lost, "REGION_UNKNOWN")


def _elsewhere(work: Work) -> Mask:
    """Return which numbers belong to another country than the given one; a calling code means all that share it."""
    names = work.region.dictionary.to_pylist()
    place = np.array([*(REGION_PLACE.get(name, -2) for name in names), -2], np.int16)
    at = work.region_numbers()
    other: Mask = place.take(at) != work.answers.region
    coded = np.flatnonzero(work.coded)
    if len(coded):
        codes = np.array([*(int(calling_code(name) or -2) for name in names), -2], np.int16)
        other[coded] = codes.take(at[coded]) != work.answers.cc[coded]
    return other


def reserved(e164: pa.Array, asked: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Return which numbers of a column are reserved for fiction, of those that may be asked about."""
    rows = np.flatnonzero(asked)
    flags = np.zeros(len(asked), bool)
    flags[matching(e164, rows, FICTION)] = True
    return flags
