"""What the heading of a column asks: for consent or for a refusal, to what, or nothing of the kind."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from functools import lru_cache
from typing import Final

from .words import COUNTED, is_any_of, normalize, pattern_of

CLAUSE_END: Final = re.compile(r"[.!?;:,()\[\]{}|/\n•。！？，、；：（）]+ ?|\bbut\b|\baber\b|\bmais\b|\bpero\b")
AT_A_TIME: Final = re.compile(r"(?: (?:at|on|date|time|timestamp|day|am|datum|le|fecha|data|utc|gmt|on file))+$")
SHORT: Final = 6  # words: a longer heading is a sentence that somebody was shown, not the name of a fact


class Kind(StrEnum):
    """What a column is to the question of consent."""

    CONSENT = "consent"  # yes, no, states, ticks and dates count
    STATE = "state"  # a status: explicit states count
    WORDS = "words"  # a name, a note, a tag: words that clearly refuse count
    OTHER = "other"  # asks for something else, or says how and where consent was given
    NOTHING = "nothing"


class Scope(IntEnum):
    """What a consent or refusal is about."""

    EVERYTHING = 1
    TEXTS = 2
    UNSAID = 3


@dataclass(frozen=True, slots=True)
class Heading:
    """What a heading asks; ``refusal``: a yes means no, None: it can be read both ways."""

    kind: Kind
    scope: Scope = Scope.UNSAID
    refusal: bool | None = False
    reason: str = ""  # why the column is not used, for kind OTHER
    named: bool = True  # it asks in words; a heading that is a channel alone asks only where its cells answer
    is_name: bool = False  # of a person or a thing, for kind WORDS


@lru_cache(maxsize=4096)
def read_heading(heading: str) -> Heading:
    """Read a heading, which may be the name of a field or a sentence of a form.

    Example:
        >>> [read_heading(it).refusal for it in ("SMS consent", "Tick if you do NOT wish to receive texts")]
        [False, True]
        >>> read_heading("I agree to receive texts, reply STOP to opt out").refusal
        False
        >>> [read_heading(it).kind.value for it in ("Photo consent", "opt_in_source", "City", "Notes")]
        ['other', 'other', 'nothing', 'words']
    """
    text = COUNTED.sub("number", heading.strip())
    text = normalize(text)
    entire = CLAUSE_END.sub(" ", text).strip()
    if is_any_of("states", entire) or any(is_any_of("states", clause) for clause in clauses_of(text)):
        return Heading(Kind.STATE, _scope(text), named=False)
    refusal = polarity(text)
    if refusal is Polarity.NONE and is_any_of("channels", entire):
        return Heading(Kind.CONSENT, _scope(text), named=False)
    if refusal is Polarity.NONE:
        return _of_words(text)
    if pattern_of("deceased").search(text) and not pattern_of("texting").search(text):
        return Heading(Kind.CONSENT, Scope.EVERYTHING, refusal=True)
    if _is_circumstance(entire):
        return Heading(Kind.OTHER, reason="says how consent was given or taken back, not whether")
    if what := _other_thing(text):
        return Heading(Kind.OTHER, reason=f"asks about something else ({what})")
    return Heading(Kind.CONSENT, _scope(text), None if refusal is Polarity.BOTH else refusal is Polarity.REFUSAL)


class Polarity(StrEnum):
    """What a yes to a sentence means."""

    AGREEMENT = "agreement"
    REFUSAL = "refusal"
    BOTH = "both"
    NONE = "none"


def clauses_of(text: str) -> list[str]:
    return [part.strip() for part in CLAUSE_END.split(text) if part.strip()]


def without_small_print(text: str) -> str:
    """Return a normalized sentence without what says how to take an agreement back, or what it does not mean."""
    return re.sub(" +", " ", _small_print().sub(" ", text)).strip()


@lru_cache(maxsize=1)
def _small_print() -> re.Pattern[str]:
    ends = pattern_of("refusals", "weak refusals", "ends").pattern
    purpose = rf"(?: (?:to|zum|um|pour|para|per|om|aby|att|for) (?:\S+ )?{ends}[^.!?;:,()]*)?"
    return re.compile(pattern_of("small print").pattern + purpose)


def polarity(text: str) -> Polarity:
    """Return what a normalized sentence says; how to take an agreement back is small print, and no refusal.

    Example:
        >>> [polarity(normalize(it)).value for it in ("Text me. Reply STOP to end", "Opt-in / Opt-out", "No texts")]
        ['agreement', 'both', 'refusal']
    """
    text = without_small_print(text)
    unticked = pattern_of("unticked").search(text) is not None
    clauses = [(_of_clause(clause), clause) for clause in clauses_of(text)]
    found = [(polarity, clause) for polarity, clause in clauses if polarity is not Polarity.NONE]
    if len({polarity for polarity, _ in found}) > 1:
        # Of several sentences the one about texts or any contact counts: "I accept the terms. Do not text me."
        channels = pattern_of("texting", "phones", "everything")
        found = [(polarity, clause) for polarity, clause in found if channels.search(clause)] or found
    result = {polarity for polarity, _ in found}
    if not result:
        return Polarity.NONE
    if len(result) > 1:
        return Polarity.BOTH
    return _opposite(result.pop()) if unticked else result.pop()


def _opposite(polarity: Polarity) -> Polarity:
    """Return what a sentence says behind "untick if", of which only a refusal is turned round."""
    return Polarity.AGREEMENT if polarity is Polarity.REFUSAL else Polarity.BOTH


def _of_clause(clause: str) -> Polarity:
    if pattern_of("deceased").search(clause) or is_any_of("refusing headings", clause):
        return Polarity.REFUSAL
    refusals = pattern_of("refusals")
    if negated := _negated().search(clause):
        again = refusals.search(clause, negated.end("negation")) or pattern_of("weak refusals").search(
            clause, negated.end("negation")
        )
        if again is None:
            return Polarity.REFUSAL
        # "Not unsubscribed" agrees; "do not wish to unsubscribe from texts" is left to a person.
        directly = again.start() - negated.end("negation") <= 1
        return Polarity.AGREEMENT if directly else Polarity.BOTH
    if refusals.search(clause):
        return Polarity.REFUSAL
    about = pattern_of("consents", "texting", "phones", "everything", "offers")
    if pattern_of("weak refusals").search(clause) and about.search(clause):
        return Polarity.REFUSAL
    if pattern_of("consents").search(clause):
        return Polarity.AGREEMENT
    contact = pattern_of("texting", "everything", "offers", "mail", "other things").search(clause)
    if contact and pattern_of("permissions").search(clause):
        return Polarity.AGREEMENT
    return Polarity.NONE


@lru_cache(maxsize=1)
def _negated() -> re.Pattern[str]:
    """A negation with a wish, a consent, a contact or a refusal behind it."""
    behind = (
        *("wishes", "consents", "permissions", "texting", "phones", "everything", "offers", "mail", "other things"),
        *("refusals", "weak refusals"),
    )
    negation = pattern_of("negations").pattern
    return re.compile(rf"(?P<negation>{negation}) (?:[^\W\d_]+ ){{0,4}}?{pattern_of(*behind).pattern}")


def _scope(text: str) -> Scope:
    if pattern_of("texting").search(text):
        return Scope.TEXTS
    if pattern_of("everything").search(text):
        return Scope.EVERYTHING
    return Scope.TEXTS if pattern_of("phones").search(text) else Scope.UNSAID


def _other_thing(text: str) -> str:
    """Return what else a heading asks about, in its own words; empty where it asks about texts or any contact."""
    text = without_small_print(text)
    if stronger := pattern_of("stronger than texting").search(text):
        return stronger[0]
    if pattern_of("texting").search(text):
        return ""
    if other := pattern_of("other things").search(text):
        return other[0]
    mail = pattern_of("mail").search(text)
    if mail and not pattern_of("phones").search(text):
        return mail[0]
    return _unknown_object(text)


OBJECT: Final = re.compile(
    r"(?:consent|consents|permission|einwilligung|zustimmung|consentement|consentimiento|consentimento|consenso"
    r"|toestemming|zgoda|samtycke|samtykke|souhlas|согласие)"
    r" (?:to|for|zur|zum|fur|fuer|in|a|au|aux|pour|para|al|alla|per|voor|na|till|til|s|на) (?P<object>\w.*)"
)


def _unknown_object(text: str) -> str:
    """Return the object of "consent to ..." where it is no kind of contact: dental work, a credit check."""
    match = OBJECT.search(text)
    if match is None:
        return ""
    known = pattern_of("phones", "everything", "offers", "mail", "wishes", "permissions", "consents", "refusals")
    return "" if known.search(match["object"]) else " ".join(match["object"].split()[:4])


def _is_circumstance(text: str) -> bool:
    """Return whether a short heading names a fact beside a consent: its source, its method, a link."""
    words = AT_A_TIME.sub("", text).split()
    if not 1 < len(words) <= SHORT or text.endswith(" on file"):
        return False
    circumstances = pattern_of("circumstances")
    first = len(words) > 2 and words[1] in ("of", "for", "der", "des", "de", "du", "della", "van", "av")
    return circumstances.fullmatch(words[-1]) is not None or (first and circumstances.fullmatch(words[0]) is not None)


def _of_words(text: str) -> Heading:
    """Return whether a heading is one of notes, or ends like one of names: "billing last name"."""
    clauses = clauses_of(text)
    if len(text.split()) > SHORT:
        return Heading(Kind.NOTHING)
    if any(match.end() == len(clause) for clause in clauses for match in pattern_of("names").finditer(clause)):
        return Heading(Kind.WORDS, is_name=True)
    return Heading(Kind.WORDS) if pattern_of("notes").search(text) else Heading(Kind.NOTHING)


@lru_cache(maxsize=4096)
def is_name_of_a_person(heading: str) -> bool:
    """Return whether a heading is one of people's names, and of nothing else's.

    Example:
        >>> [is_name_of_a_person(it) for it in ("First Name", "Nachname", "Product name", "nickname_of_pet")]
        [True, True, False, False]
    """
    return is_any_of("names", normalize(heading))
