"""The numbering plans of phonenumbers as tables for whole columns: built from its metadata, shipped for one version.

A *plan* is what phonenumbers knows of one region (or of one calling code that belongs to no region). Plans have
numbers; the first plan listed for a calling code is its *main* plan. Building takes a few seconds, so the tables of the
version this package was made with are shipped beside this file; another installed version gets tables of its own.

To rebuild and check the shipped file after an update of phonenumbers::

    python -m smsotp_nb._phones.fast.tables
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import phonenumbers

from . import automata
from .automata import Accept, Graph, Unsupported

LENGTHS: Final = 32  # lengths of a number looked up; longer ones go to the reference
LONGEST: Final = 17  # phonenumbers refuses longer national numbers
SHIPPED: Final = "plans.npz"

POSSIBLE, LOCAL_ONLY, TOO_SHORT, INVALID_LENGTH, TOO_LONG = range(5)

# the kinds of number in the order in which phonenumbers tries them; fixed line and mobile are decided after these
FIRST_KINDS: Final = (
    "premium_rate",
    "toll_free",
    "shared_cost",
    "voip",
    "personal_number",
    "pager",
    "uan",
    "voicemail",
)
KINDS: Final = (*map(str.upper, FIRST_KINDS), "FIXED_LINE_OR_MOBILE", "FIXED_LINE", "MOBILE", "UNKNOWN")
UNKNOWN: Final = KINDS.index("UNKNOWN")

GENERAL, FIXED, MOBILE, LEADING, GENERAL_ALONE = range(8, 13)  # tags of a plan beside those of FIRST_KINDS
TAGS: Final = 16  # a plan's tags are plan * TAGS + one of the above

NO_MATCH: Final = -1
PLAIN_MATCH: Final = 0  # in ``prefix_here``: matched without the group of a transform rule; above: number of its span

Int16 = npt.NDArray[np.int16]
Int32 = npt.NDArray[np.int32]
Uint8 = npt.NDArray[np.uint8]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Tables:
    """Everything needed to process a column. States are multiplied by 16; plan -1 means none."""

    version: npt.NDArray[np.str_]
    plan_region: npt.NDArray[np.str_]
    plan_code: Int16
    plan_main: Int16
    plan_alone: Flags  # the only plan of its calling code: its region is known without looking at the number
    plan_slow: Flags  # a rule this room cannot follow: the reference decides
    lengths: Uint8  # plan, length -> POSSIBLE ... TOO_LONG
    three_plan: Int16  # the first three digits after a plus -> main plan
    three_length: Uint8  # ... and length of the calling code
    code_start: Int32  # main plan -> first state of the recognizer of its calling code
    general_start: Int32  # plan -> first state of its general description
    following: Int32  # recognizer, flat
    label: Int16  # state -> label
    general: Flags  # label -> the general description of the (main) plan matches
    result_plan: Int16  # label, length -> plan
    result_kind: Uint8  # label, length -> place in KINDS
    idd_start: Int32  # plan -> first state of its international prefix
    national_start: Int32  # plan -> first state of its national prefix
    prefix_following: Int32  # prefix automaton, flat
    prefix_here: Int16  # state -> NO_MATCH, PLAIN_MATCH or span
    prefix_at_end: Int16  # the same where no digit follows
    span_begin: Int16
    span_end: Int16
    rule_digits: npt.NDArray[np.str_]  # plan -> digits a transform rule puts in front

    def region_plan(self) -> dict[str, int]:
        """Return the plan of every region (not of calling codes without one)."""
        return {str(region): plan for plan, region in enumerate(self.plan_region) if region != "001"}


@cache
def load() -> Tables | None:
    """Return the tables of the installed version: the shipped ones, or new ones (None where they cannot be built)."""
    shipped = read(shipped_file())
    if shipped is not None and str(shipped.version) == phonenumbers.__version__:
        return shipped
    try:
        return build()
    except Unsupported as unsupported:
        logging.getLogger("smsotp_nb").info(
            "phone tables cannot be built, phonenumbers is asked row by row: %s", unsupported
        )
        return None


@cache
def shipped_fits() -> bool:
    """Return whether the shipped tables are those of the installed version, without reading them."""
    file = shipped_file()
    if not file.is_file():
        return False
    with np.load(file) as stored:
        return str(stored["version"]) == phonenumbers.__version__


def shipped_file() -> Path:
    return Path(str(files(__package__) / SHIPPED))


def read(file: Path) -> Tables | None:
    if not file.is_file():
        return None
    with np.load(file) as stored:
        if set(stored.files) != {field.name for field in fields(Tables)}:
            return None
        return Tables(
            **{name: stored[name] for name in stored.files} | {"following": automata.flat(stored["following"])}
        )


def write(tables: Tables, file: Path) -> None:
    """Write tables in the compact form of the shipped file."""
    arrays = {field.name: getattr(tables, field.name) for field in fields(tables)}
    arrays["following"] = (tables.following.reshape(-1, automata.STRIDE)[:, :10] // automata.STRIDE).astype(np.uint16)
    np.savez_compressed(file, **arrays)


def build() -> Tables:
    """Build the tables from the metadata of the installed phonenumbers.

    Raises:
        Unsupported: a pattern of a plan is of a kind this room does not read.
    """
    plans = list(_plans())
    main = {code: place for place, (_, code, _) in reversed(list(enumerate(plans)))}
    mains = np.array([main[code] for _, code, _ in plans], np.int16)
    alone = np.bincount(mains, minlength=len(plans))[mains] == 1
    return Tables(
        version=np.array(phonenumbers.__version__),
        plan_region=np.array([region for region, _, _ in plans]),
        plan_code=np.array([code for _, code, _ in plans], np.int16),
        plan_main=mains,
        plan_alone=alone,
        lengths=np.array([_possible_lengths(metadata) for _, _, metadata in plans], np.uint8),
        **_calling_codes(main),
        **_recognizer([metadata for _, _, metadata in plans], mains),
        **_prefixes([metadata for _, _, metadata in plans]),
    )


def _plans() -> Iterator[tuple[str, int, Any]]:
    """Every plan as region, calling code and metadata, the main plan of a code first."""
    for code, regions in sorted(phonenumbers.COUNTRY_CODE_TO_REGION_CODE.items()):
        for region in regions:
            yield region, code, phonenumbers.PhoneMetadata.metadata_for_region_or_calling_code(code, region)


def _possible_lengths(metadata: Any) -> list[int]:
    """Return what phonenumbers says about each length, in the order of its own checks."""
    possible = metadata.general_desc.possible_length
    local = metadata.general_desc.possible_length_local_only

    def verdict(length: int) -> int:
        if length in local:
            return LOCAL_ONLY
        if length < possible[0]:
            return TOO_SHORT
        if length > possible[-1]:
            return TOO_LONG
        return POSSIBLE if length in possible else INVALID_LENGTH

    return [verdict(length) for length in range(LENGTHS)]


def _calling_codes(main: dict[int, int]) -> dict[str, Any]:
    """The calling code at the start of a number: the shortest that exists, none before a 0."""
    plan = np.full(1000, -1, np.int16)
    length = np.zeros(1000, np.uint8)
    for three in range(100, 1000):
        for digits in (1, 2, 3):
            code = three // 10 ** (3 - digits)
            if code in main:
                plan[three], length[three] = main[code], digits
                break
    return {"three_plan": plan, "three_length": length}


def _recognizer(plans: list[Any], mains: Int16) -> dict[str, Any]:
    """One recognizer for all plans: a start for each calling code, and one for each plan's general description."""
    machine = automata.Recognizer(Graph())
    general = [machine.start([_general(machine.graph, plan, it, GENERAL_ALONE)]) for plan, it in enumerate(plans)]
    code_start = np.full(len(plans), -1, np.int32)
    for main in np.unique(mains):
        members = np.flatnonzero(mains == main)
        entries = [entry for plan in members for entry in _entries(machine.graph, int(plan), plans[plan])]
        code_start[main] = machine.start(entries)
    labels = list(dict.fromkeys(machine.labels))
    number = {label: place for place, label in enumerate(labels)}
    outcomes = [_outcomes(label, plans, mains) for label in labels]
    return {
        "code_start": code_start * automata.STRIDE,
        "general_start": np.array(general, np.int32) * automata.STRIDE,
        "following": automata.flat(np.array(machine.following)),
        "label": np.array([number[label] for label in machine.labels], np.int16),
        "general": np.array([_matches_general(label, mains) for label in labels]),
        "result_plan": np.array([[plan for plan, _ in row] for row in outcomes], np.int16),
        "result_kind": np.array([[kind for _, kind in row] for row in outcomes], np.uint8),
    }


def _general(graph: Graph, plan: int, metadata: Any, tag: int) -> int:
    return graph.pattern(metadata.general_desc.national_number_pattern, Accept(plan * TAGS + tag))


def _entries(graph: Graph, plan: int, metadata: Any) -> Iterator[int]:
    """The patterns of one plan; a number shows its region by its leading digits, whatever follows."""
    yield _general(graph, plan, metadata, GENERAL)
    descriptions = {tag: getattr(metadata, kind) for tag, kind in enumerate(FIRST_KINDS)}
    descriptions |= {FIXED: metadata.fixed_line, MOBILE: metadata.mobile}
    for tag, description in descriptions.items():
        if description is not None and description.national_number_pattern:
            yield graph.pattern(description.national_number_pattern, Accept(plan * TAGS + tag))
    if metadata.leading_digits is not None:
        yield graph.pattern(metadata.leading_digits, Accept(plan * TAGS + LEADING, sticky=True))


def _matches_general(label: automata.Label, mains: Int16) -> bool:
    """If several plans share a calling code, the general description of the main one counts."""
    return any(
        tag % TAGS == GENERAL_ALONE or (tag % TAGS == GENERAL and mains[tag // TAGS] == tag // TAGS) for tag in label
    )


def _outcomes(label: automata.Label, plans: list[Any], mains: Int16) -> list[tuple[int, int]]:
    """Region and kind of a number with this label, for each length."""
    if not label:
        return [(-1, UNKNOWN)] * (LONGEST + 1)
    members = np.flatnonzero(mains == mains[min(label) // TAGS])
    return [_outcome(label, length, members, plans) for length in range(LONGEST + 1)]


def _outcome(label: automata.Label, length: int, members: Any, plans: list[Any]) -> tuple[int, int]:
    """The first listed plan whose leading digits match, or, without such digits, that knows the number."""
    for plan in members:
        kind = _kind(label, length, int(plan), plans[plan])
        if len(members) == 1 or plan * TAGS + LEADING in label:
            return int(plan), kind
        if plans[plan].leading_digits is None and kind != UNKNOWN:
            return int(plan), kind
    return -1, UNKNOWN


def _kind(label: automata.Label, length: int, plan: int, metadata: Any) -> int:
    def matches(tag: int, name: str) -> bool:
        possible = getattr(getattr(metadata, name), "possible_length", ())
        return plan * TAGS + tag in label and (not possible or length in possible)

    if not matches(GENERAL, "general_desc"):
        return UNKNOWN
    for tag, name in enumerate(FIRST_KINDS):
        if matches(tag, name):
            return tag
    if matches(FIXED, "fixed_line"):
        both = metadata.same_mobile_and_fixed_line_pattern or matches(MOBILE, "mobile")
        return KINDS.index("FIXED_LINE_OR_MOBILE" if both else "FIXED_LINE")
    mobile = not metadata.same_mobile_and_fixed_line_pattern and matches(MOBILE, "mobile")
    return KINDS.index("MOBILE") if mobile else UNKNOWN


def _prefixes(plans: list[Any]) -> dict[str, Any]:
    """International and national prefixes of all plans in one automaton, and what transform rules do."""
    machine = automata.Prefix(Graph())
    idd, national, slow, rules = [], [], [], []
    for metadata in plans:
        rule, group, known = _rule(metadata)
        rules.append(rule)
        slow.append(not known)
        idd.append(_prefix_start(machine, metadata.international_prefix, None))
        national.append(_prefix_start(machine, metadata.national_prefix_for_parsing, group))
    outcomes = dict.fromkeys(outcome for outcome in machine.here + machine.at_end if outcome not in (None, (-1, -1)))
    spans = [(-1, -1), *(outcome for outcome in outcomes if outcome is not None)]
    number: dict[automata.Outcome, int] = {None: NO_MATCH} | {span: place for place, span in enumerate(spans)}
    return {
        "idd_start": np.array(idd, np.int32) * automata.STRIDE,
        "national_start": np.array(national, np.int32) * automata.STRIDE,
        "plan_slow": np.array(slow),
        "rule_digits": np.array([rule or "" for rule in rules]),
        "prefix_following": automata.flat(np.array(machine.following)),
        "prefix_here": np.array([number[outcome] for outcome in machine.here], np.int16),
        "prefix_at_end": np.array([number[outcome] for outcome in machine.at_end], np.int16),
        "span_begin": np.array([begin for begin, _ in spans], np.int16),
        "span_end": np.array([end for _, end in spans], np.int16),
    }


def _prefix_start(machine: automata.Prefix, expression: str | None, group: int | None) -> int:
    entry = machine.graph.pattern(expression, Accept(0), mark_group=group) if expression else None
    return machine.start_nowhere() if entry is None else machine.start(entry)


def _rule(metadata: Any) -> tuple[str | None, int | None, bool]:
    """A transform rule as the digits it puts before its group, the group's number, and whether we can follow it."""
    rule = metadata.national_prefix_transform_rule
    expression = metadata.national_prefix_for_parsing
    if not rule or not expression:
        return None, None, True
    groups = re.compile(expression).groups
    parts = re.fullmatch(r"(\d*)\\(\d)", rule)
    if parts is None or int(parts[2]) != groups:
        return None, None, False
    return parts[1], groups, True


if __name__ == "__main__":
    built = build()
    write(built, shipped_file())
    again = read(shipped_file())
    differing = [
        field.name
        for field in fields(built)
        if not np.array_equal(getattr(built, field.name), getattr(again, field.name))
    ]
    if differing:
        raise SystemExit(f"{shipped_file()} does not read back as it was built: {', '.join(differing)}")
