"""Every code that the ``problem`` of a row can hold: what it means, who can act, and the next step.

A row has at most one problem, the first that applies. Problems of a number keep it from being texted, and a plan skips
its row. Problems of a plan say why a row is skipped, those of a send why it is still planned, rejected or in doubt.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from ._calling import in_our_words
from ._guards import GUARDS

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["PROBLEMS", "explain", "table"]

Stage = Literal["number", "plan", "send"]
Who = Literal["the list's owner", "you", "the account's owner", "the service", "nobody"]


@dataclass(frozen=True, slots=True)
class Problem:
    """One code: at which stage it is set, on rows of which status, what it means, who can act and how.

    Example:
        >>> print(PROBLEMS["LOCAL_ONLY"])
        LOCAL_ONLY: the area code is missing. Next: ask the list's owner for the area codes
    """

    code: str
    stage: Stage
    status: str
    meaning: str
    who: Who
    next_step: str

    def __str__(self) -> str:
        return f"{self.code}: {self.meaning}. Next: {self.next_step}"


_WHEN: Final = re.compile(r" \((?:only with|set when) [^()]{0,80}\)")
_ASK: Final = "ask the list's owner for "


def _number(code: str, meaning: str, ask: str) -> Problem:
    return Problem(code, "number", "skipped", meaning, "the list's owner", _ASK + ask)


def _yours(code: str, stage: Stage, status: str, meaning: str, next_step: str) -> Problem:
    return Problem(code, stage, status, meaning, "you", next_step)


_KNOWN: Final = (
    _number("MISSING", "no number in the cell: blank, or a word such as n/a", "the numbers that are missing"),
    _number("NOT_TEXT", "the cell holds neither text nor a number", "the file with the phone column formatted as text"),
    _number(
        "SCI_NOTATION_LOST_DIGITS",
        "a spreadsheet wrote it like 1.41556E+10 and the last digits are lost",
        "the file again with the phone column formatted as text",
    ),
    _number(
        "MULTIPLE_NUMBERS",
        "more than one number in the cell; none is chosen",
        "which one of two numbers to text, one number per row",
    ),
    _number("TEXT_IN_NUMBER", "letters or other signs among the digits", "the numbers without words in them"),
    _number(
        "NOTE_SAYS_NO",
        "words beside the number say that it should not be texted (no, stop, wrong, deceased, fax ...)",
        "the numbers of those who may be texted; record the others as opt-outs",
    ),
    _number(
        "OTHER_PERSON",
        "words beside the number say that it is somebody else's (wife, mother, neighbour ...)",
        "the person's own number",
    ),
    _number(
        "DIGITS_HIDDEN",
        "stars or dots in place of digits that were hidden or cut off",
        "the whole numbers: some of their digits are hidden or cut off",
    ),
    _number(
        "AMBIGUOUS_READING",
        "two readings are valid numbers of different people",
        "these numbers with a plus and the calling code",
    ),
    _number("NOT_A_NUMBER", "not a phone number", "phone numbers: these cells hold something else"),
    _number(
        "REGION_MISSING",
        "no calling code in the number and no country beside it",
        "a country for each row, or numbers with a plus and the calling code",
    ),
    _number(
        "REGION_UNKNOWN",
        "no calling code in the number and the country beside it cannot be read",
        "countries as codes such as DE or US",
    ),
    _number("UNKNOWN_CALLING_CODE", "no country has this calling code", "the right calling codes"),
    _number("TOO_SHORT_AFTER_IDD", "almost no digits after the international prefix", "the rest of the number"),
    _number("TOO_SHORT_NSN", "almost no digits after the calling code", "the rest of the number"),
    _number(
        "TOO_LONG",
        "more digits than any number of that country",
        "numbers without typing errors, and without an old prefix",
    ),
    _number("TOO_SHORT", "fewer digits than any number of that country", "whole numbers, area code included"),
    _number("INVALID_LENGTH", "no number of that country has this many digits", "numbers without typing errors"),
    _number("LOCAL_ONLY", "the area code is missing", "the area codes"),
    _number(
        "NOT_IN_USE",
        "the right length, but the numbering plan of its country has no such number",
        "current numbers: these have typing errors, or changed after the list was made",
    ),
    _number(
        "TYPE_NOT_ALLOWED",
        "a kind of number that is not texted (premium, toll-free, pager ...)",
        "mobile numbers: premium, toll-free and the like are not texted",
    ),
    _yours(
        "REGION_MISMATCH",
        "number",
        "skipped",
        "a number of another country than the one beside it (only with region_mismatch='refuse')",
        "correct the number or its country, or leave region_mismatch='note'",
    ),
    _yours(
        "TEST_NUMBER",
        "number",
        "skipped",
        "a number reserved for fiction (only with test_numbers='refuse')",
        "take it out of the list, or leave test_numbers='note'",
    ),
    Problem(
        "DUPLICATE_OF",
        "number",
        "skipped",
        "the same number as another row that is planned (set when planning)",
        "nobody",
        "nothing: the other row, which the note names, is texted",
    ),
    _yours("SUPPRESSED", "plan", "skipped", "on the suppression list", "nothing: this person said no"),
    _yours(
        "EXCLUDED",
        "plan",
        "skipped",
        "a campaign that exclude= names may have reached this person",
        "nothing, or plan without that campaign in exclude=",
    ),
    _yours(
        "SEGMENT_MISSING",
        "plan",
        "skipped",
        "the cell that says the segment is blank, so no message is meant for this row",
        "fill the column that the note names",
    ),
    _yours(
        "SEGMENT_UNKNOWN",
        "plan",
        "skipped",
        "no message was given for the segment of this row",
        "add a message for the segment that the note names, or correct the cell",
    ),
    _yours(
        "VALUE_MISSING",
        "plan",
        "skipped",
        "a value of the message is missing",
        "fill the column that the note names, or write {column|words} in the message",
    ),
    _yours(
        "VALUE_ODD",
        "plan",
        "skipped",
        "a value of the message has a sign of another format, such as &amp;, #REF! or JosÃ©",
        "correct the cells that the plan's advice names, or pass Message(..., literal=True)",
    ),
    _yours(
        "REFUSED",
        "send",
        "planned",
        "send refuses this plan as it is, because the campaign is recorded with another one",
        "do as the plan's card says: revise(plan, client, reason=...), or plan as before",
    ),
    Problem(
        "REJECTED",
        "send",
        "rejected",
        "the service refused the request of this row",
        "you",
        "see error_code and error; once the cause is fixed, retry() and send again",
    ),
    _yours(
        "NO_ANSWER",
        "send",
        "in_doubt",
        "no answer came; the message may have been accepted and is not sent again automatically",
        "check the evidence, then settle(..., accepted=True or False)",
    ),
    _yours(
        "NO_RECORD",
        "send",
        "in_doubt",
        "the reply has no record of this number; it may have been accepted and is not sent again automatically",
        "check the evidence, then settle(..., accepted=True or False)",
    ),
    Problem(
        "NO_FUNDS",
        "send",
        "planned",
        "the balance does not cover the next request",
        "the account's owner",
        "top up, then send again",
    ),
    Problem(
        "NOT_SENT",
        "send",
        "planned",
        "the service could not be reached",
        "you",
        "check the network and the address, then send again",
    ),
    Problem(
        "THROTTLED",
        "send",
        "planned",
        "the service throttled for longer than we wait",
        "you",
        "send again later, or with limits=Limits(per_second=...)",
    ),
    Problem(
        "ACCOUNT",
        "send",
        "planned",
        "the account or its key was refused",
        "the account's owner",
        "check the settings, then retry() and send again",
    ),
    _yours(
        "UNKNOWN_SERVICE",
        "send",
        "planned",
        "no service has answered at this address yet, so the send ended after one small request",
        "check the address, the variant and the key, then send again",
    ),
    _yours("STOPPED", "send", "planned", "stopped", "send again to continue"),
    _yours(
        "ISOLATING",
        "send",
        "planned",
        "its request was refused for a wrong number, and the send ended before it was posted again in halves",
        "send again to continue",
    ),
    _yours(
        "OPTED_OUT",
        "send",
        "skipped",
        "this person opted out, as the register of the ledger says",
        "nothing: this person said no; People().register says when and how",
    ),
    _yours(
        "HELD_OUT",
        "send",
        "skipped",
        "this person belongs to the holdout of an experiment, who are not texted so that its effect can be read",
        "nothing: texting the holdout would spoil the experiment",
    ),
    _yours(
        "OTHER_ARM",
        "send",
        "skipped",
        "this person belongs to another arm of the experiment, which gets another text",
        "nothing, or plan each arm for the people whom Split.texted() gives it",
    ),
    _yours(
        "WITHDRAWN",
        "send",
        "skipped",
        "the row was withdrawn before it was sent",
        "nothing; to text this person after all, plan a new campaign",
    ),
    _yours(
        "SAME_TEXT",
        "send",
        "planned",
        "this person had the same message lately, perhaps by another campaign",
        "send again after the time stated, or with repeat_text=True",
    ),
    _yours(
        "CAPPED",
        "send",
        "planned",
        "one more message would be more than the policy allows",
        "send again after the time stated",
    ),
    _yours(
        "NOT_APPROVED",
        "send",
        "planned",
        "the ledger asks for a second person, and nobody but its author has approved this campaign",
        "ask somebody else to call campaign.approve(campaign.proposal), then send again",
    ),
    *(_yours(guard.code, "send", "planned", guard.meaning, guard.next_step) for guard in GUARDS),
)
PROBLEMS: Final[dict[str, Problem]] = {problem.code: problem for problem in _KNOWN}


@in_our_words
def explain(code: str) -> str:
    """Return a code in one line: what it means and the next step.

    Raises:
        KeyError: there is no such code.

    Example:
        >>> explain("BUDGET")
        'the next request may exceed the budget; send again with a higher budget'
    """
    problem = PROBLEMS[code]
    return f"{problem.meaning}; {problem.next_step}"


def table() -> pd.DataFrame:
    """Return all codes as a frame: ``code, stage, status, meaning, who, next_step`` (str), in the order they are set.

    Example:
        >>> table().query("status == 'in_doubt'")["code"].tolist()
        ['NO_ANSWER', 'NO_RECORD']
    """
    import pandas as pd  # the sandbox reads codes without it

    from ._pandas import STR

    names = list(Problem.__dataclass_fields__)
    return pd.DataFrame([[getattr(problem, name) for name in names] for problem in _KNOWN], columns=names, dtype=STR)


def in_words(code: str) -> str:
    """Return what a code means without the arguments that bring it, as a form says it."""
    return _WHEN.sub("", PROBLEMS[code].meaning)


def asked_for(code: str) -> str | None:
    """Return what to ask the list's owner for, where that is the next step."""
    step = PROBLEMS[code].next_step
    return step.removeprefix(_ASK) if step.startswith(_ASK) else None


def of_stage(*stages: Stage) -> dict[str, str]:
    """Return code and meaning of the problems that are set at these stages."""
    return {problem.code: problem.meaning for problem in _KNOWN if problem.stage in stages}


def __dir__() -> list[str]:
    return list(__all__)
