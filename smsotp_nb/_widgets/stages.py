"""What every form's controller shares: a stage that guards against second clicks, and trouble put into words."""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Literal

from .._ledger import state_line
from ..errors import ServiceError, SmsOtpError, Throttled, UsageError

Sign = Literal["", "ok", "warn", "bad"]

FIELDS = {
    "campaign": "the campaign's name",
    "content": "the text",
    "text": "the text",
    "to": "the phone column",
    "region": "the country column",
    "default_region": "the default country",
    "template_id": "the template ID",
    "template_data": "the list of variables",
    "template_text": "the template's text",
    "suppress": "the suppression list",
    "rates": "the rates",
    "keep": "the columns to keep",
    "exclude": "the campaigns to leave out",
    "fill": "the words for missing values",
    "signature": "the signature",
    "quiet_hours": "the quiet hours",
    "budget": "the limit of the cost",
    "unit": "the column that tells customers apart",
    "ttl": "the lifetime",
}

HEARD_EVERY = 0.25  # seconds: tens of thousands of quick updates hang a notebook's page
CHANGED = "This campaign has changed meanwhile: look at what is to go now, and press again."
PRESSED_ANOTHER = "What the button says had changed when you pressed it: read it, and press again."
UNREAD = (
    "The send has ended, and what it came to cannot be read in the ledger. See that the ledger is where it was and can "
    "be read, then open the campaign again: it goes on where it stopped."
)

logger = logging.getLogger("smsotp_nb")


@dataclass(frozen=True, slots=True)
class Notice:
    """One message of a form: a sign and words."""

    text: str = ""
    sign: Sign = ""


class Stages:
    """A controller in one stage at a time; ``changed`` is called after every change, on the thread that made it.

    Work runs on threads, so a button that looks disabled proves nothing: whoever begins it takes the stage first, and
    everybody else is told no.
    """

    def __init__(self, first: str, *, changed: Callable[[], None]) -> None:
        self.stage = first
        self.notice = Notice()
        self._changed = changed
        self._lock = threading.Lock()

    def _begin(
        self, expected: Collection[str], busy: str, words: str, *, still: Callable[[], bool] = lambda: True
    ) -> bool:
        """Take the stage ``busy`` if this is one of the expected ones, and it ``still`` is what was asked for.

        Return whether it was taken.
        """
        with self._lock:
            if self.stage not in expected or not still():
                return False
            self.stage = busy
        self._show(busy, words)
        return True

    def _show(self, stage: str, words: str = "", sign: Sign = "") -> None:
        self.stage, self.notice = stage, Notice(words, sign)
        self._changed()


def refused(error: SmsOtpError, outcome: str) -> tuple[str, Sign]:
    """Return the words for an error of ours: the outcome first, then why."""
    if isinstance(error, UsageError):
        return f"{outcome} {' '.join(complaints(error))}", "warn"
    if isinstance(error, ServiceError):
        return f"{outcome} The service said {error.name or 'no'} ({error.error_code}).", "bad"
    if isinstance(error, Throttled):
        return f"{outcome} The service asks for a pause; try again in a while.", "warn"
    return f"{outcome} {sentence(str(error))}", "bad"


def complaints(error: SmsOtpError) -> tuple[str, ...]:
    """Return what is wrong, a sentence each; a message that says more than its list of problems is kept whole.

    Example:
        >>> complaints(UsageError("the plan cannot be made: content= is empty", problems=("content= is empty",)))
        ('The text is empty.',)
    """
    problems = error.problems if isinstance(error, UsageError) else ()
    whole = not problems or not str(error).endswith("; ".join(problems))
    return tuple(sentence(plain(words)) for words in ((str(error),) if whole else problems))


def plain(words: str) -> str:
    """Return words about arguments as words about fields.

    Example:
        >>> plain("content= is empty"), plain("rates='x.csv' is no file")
        ('the text is empty', "the rates 'x.csv' is no file")
    """

    def named(found: re.Match[str]) -> str:
        return FIELDS.get(found[1], found[1].replace("_", " ")) + (" '" if found[2] else "")

    return re.sub(r"\b([a-z_]+)=(?:(?=[\s:])|('))", named, words)


def ended_early(counts: dict[str, int]) -> str:
    """Return the outcome of a send that ended with an error after messages had left.

    Example:
        >>> ended_early({"accepted": 5, "in_doubt": 1, "rejected": 0, "planned": 4})
        'Ended early: 5 accepted, 1 in doubt, 0 rejected, 4 to go.'
    """
    return f"Ended early: {state_line(counts)}."


def broken(error: Exception) -> tuple[str, Sign]:
    """Name a mistake of ours in the card, because a button's traceback goes where nobody looks."""
    logger.error("a form failed: %s", type(error).__name__)
    return f"The form failed ({type(error).__name__}). Run the cell again.", "bad"


def sentence(words: str) -> str:
    """Return words with a capital and a full stop."""
    return words[:1].upper() + words[1:] + ("" if words.endswith((".", "!", "?")) else ".")
