"""What the forms share: a stage at a time, jobs beside the form, and trouble put into words."""

from __future__ import annotations

import logging
import re
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import ClassVar, Generic, Literal, TypeVar

from .._ledger import state_line
from .._showing import capital
from ..errors import ServiceError, SmsOtpError, Throttled, UsageError
from ..problems import PROBLEMS, in_words
from ..results import Progress

Sign = Literal["", "ok", "warn", "bad"]

FIELDS = {
    "campaign": "the campaign's name",
    "message": "the text",
    "content": "the text",
    "text": "the text",
    "to": "the phone column",
    "region": "the country column",
    "default_region": "the default country",
    "template_id": "the template ID",
    "id": "the template ID",
    "values": "the list of variables",
    "preview": "the template's text",
    "header": "“Header row”",
    "sheet": "“Sheet”",
    "encoding": "“Encoding”",
    "sep": "“Separator between cells”",
    "exclude": "the suppression list",
    "rates": "the rates",
    "keep": "the columns to keep",
    "signature": "the signature",
    "quiet_hours": "the quiet hours",
    "budget": "the limit of the cost",
    "unit": "the column that tells customers apart",
    "ttl": "the lifetime",
    "currency": "the currency",
    "language": "the language",
}

TRIED = ("accepted", "rejected", "in_doubt")
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


Job = Callable[[], Callable[[], None] | None]


class Work:
    """The jobs of a form, one after another on threads of their own.

    A job is in hand until its outcome is shown; what asks for it again meanwhile, as a double click does, is not heard.
    Whoever sees the outcome can press again at once, so a job is let go first: what it returns is called after that,
    and a form that is drawn inside the job calls `let_go` before.
    """

    def __init__(self, failed: Callable[[str, Sign], None]) -> None:
        """``failed`` shows the words of an error that a job did not answer itself."""
        self._failed = failed
        self._guard = threading.Lock()
        self._last = threading.Thread()
        self._in_hand: dict[threading.Thread, object] = {}

    def begin(self, what: object, job: Job, then: Callable[[], None] | None = None) -> None:
        """Begin a job after those before it, unless ``what`` it is for is in hand; ``then`` follows its outcome."""
        with self._guard:
            if what in self._in_hand.values():
                return
            before = self._last
            self._last = threading.Thread(target=self._run, args=(job, then, before), name="smsotp-form", daemon=True)
            self._in_hand[self._last] = what
            self._last.start()

    def has(self, what: object) -> bool:
        with self._guard:
            return what in self._in_hand.values()

    def let_go(self) -> None:
        """Let the job of this thread go: its outcome is about to be shown."""
        with self._guard:
            self._in_hand.pop(threading.current_thread(), None)

    def settle(self, seconds: float = 600.0) -> None:
        if self._last.is_alive():
            self._last.join(seconds)

    def _run(self, job: Job, then: Callable[[], None] | None, before: threading.Thread) -> None:
        if before.is_alive():
            before.join()
        try:
            show = job()
            self.let_go()
            for shown in filter(None, (show, then)):
                shown()
        except SmsOtpError as error:
            self.let_go()
            self._failed(*refused(error, "Nothing was changed."))
        except Exception as error:  # noqa: BLE001 - a thread's traceback goes where nobody looks
            self.let_go()
            self._failed(*broken(error))


class Stages:
    """A controller in one stage at a time; ``changed`` is called after every change, on the thread that made it.

    Work runs on threads, so a button that looks disabled proves nothing: whoever begins it takes the stage first, and
    everybody else is refused. A change to a stage that is not ``busy`` is an outcome.
    """

    busy: ClassVar[tuple[str, ...]] = ()

    def __init__(self, first: str, *, changed: Callable[[], None]) -> None:
        self.stage = first
        self.notice = Notice()
        self.faults: Mapping[str, str] = {}
        self.work = Work(lambda words, sign: self._refuse(self.stage, words, sign))
        self._draw = changed
        self._lock = threading.Lock()

    def _changed(self) -> None:
        if self.stage not in self.busy:
            self.work.let_go()
        self._draw()

    def _begin(
        self, expected: Collection[str], busy: str, words: str, *, still: Callable[[], bool] = lambda: True
    ) -> bool:
        """Take the stage ``busy`` if this is one of the expected ones, and it ``still`` is what was asked for."""
        with self._lock:
            if self.stage not in expected or not still():
                return False
            self.stage = busy
        self._show(busy, words)
        return True

    def _show(self, stage: str, words: str = "", sign: Sign = "") -> None:
        self.stage, self.notice = stage, Notice(words, sign)
        self._changed()

    def _refuse(self, stage: str, words: str, sign: Sign, faults: Mapping[str, str] | None = None) -> None:
        """Say why nothing was done, and by ``faults`` in which fields."""
        self.faults = faults or {}
        self._show(stage, words, sign)

    def _refuse_for(self, error: SmsOtpError, stage: str, outcome: str) -> None:
        self._refuse(stage, *refused(error, outcome))

    @contextmanager
    def _telling(self, stage: str, outcome: str) -> Iterator[None]:
        """Go back to a stage on an error and say why; one that is not ours is raised, too."""
        try:
            yield
        except SmsOtpError as error:
            self._refuse_for(error, stage, outcome)
        except Exception as error:
            self._refuse(stage, *broken(error))
            raise


@dataclass(frozen=True, slots=True)
class Running:
    """A send under way: the last progress, how long it has been going, in seconds, and how many were texted before."""

    progress: Progress
    seconds: float
    stopping: bool
    before: int = 0


class Sending(Stages):
    """A controller that sends, in the stage ``sending``; ``running`` is how far it is, None before that is known."""

    def __init__(self, first: str, *, changed: Callable[[], None], clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(first, changed=changed)
        self.running: Running | None = None
        self._clock, self._started, self._texted = clock, 0.0, 0
        self._stop = threading.Event()

    def stop(self) -> None:
        """Begin no further request; those under way are waited for and recorded."""
        with self._lock:
            if self.stage != "sending":
                return
            self._stop.set()
            self.running = self.running and replace(self.running, stopping=True)
        self._changed()

    def _start(self, texted: int) -> None:
        self._started, self._texted, self.running = self._clock(), texted, None

    def _told(self, progress: Progress) -> None:
        """Take one update, and pass on a few a second."""
        last, seconds = self.running, self._clock() - self._started
        if last is None or seconds - last.seconds >= HEARD_EVERY or (last.progress.left and not progress.left):
            self.running = Running(progress, seconds, self._stop.is_set(), self._texted)
            self._changed()


def refused(error: SmsOtpError, outcome: str) -> tuple[str, Sign]:
    if isinstance(error, UsageError):
        return f"{outcome} {' '.join(complaints(error))}", "warn"
    if isinstance(error, ServiceError):
        return f"{outcome} The service said {error.name or 'no'} ({error.error_code}).", "bad"
    if isinstance(error, Throttled):
        return f"{outcome} The service asks for a pause; try again in a while.", "warn"
    return f"{outcome} {sentence(str(error))}", "bad"


def complaints(error: SmsOtpError) -> tuple[str, ...]:
    """Return what is wrong, a sentence each; a message that says more than its list of problems is kept whole."""
    problems = error.problems if isinstance(error, UsageError) else ()
    whole = not problems or not str(error).endswith("; ".join(problems))
    return tuple(map(in_the_form, (str(error),) if whole else problems))


def in_the_form(words: str) -> str:
    """Return words for who calls functions as a sentence for who fills in a form.

    Arguments are called as their fields, and codes of problems by what they mean. A way out that only code has, which
    is a clause of its own, is left out; what is wrong, the first clause, stays.

    Example:
        >>> in_the_form("content= is empty"), in_the_form("rates='x.csv' is no file; pass rates=RateTable(...)")
        ('The text is empty.', "The rates 'x.csv' is no file.")
        >>> in_the_form("entry 2: REGION_MISSING. Correct it, or pass numbers=NumberOptions(unreadable='ignore')")
        'Entry 2: no calling code in the number and no country beside it. Correct it.'
    """
    words = _CODE.sub(lambda code: in_words(code[0]) if code[0] in PROBLEMS else code[0], _ASIDE.sub("", words))
    first, *others = _CLAUSES.split(words)
    kept = [clause for clause in others if not _CALL.search(_QUOTED.sub("", clause))]
    return sentence(_ARGUMENT.sub(_named, "".join([first, *kept]).rstrip(" ,;:")))


def _named(found: re.Match[str]) -> str:
    return FIELDS.get(found[1], found[1].replace("_", " ")) + (" '" if found[2] else "")


_ARGUMENT = re.compile(r"\b([a-z_]+)=(?:(?=[\s:])|('))")
_CALL = re.compile(rf"\b[A-Za-z_]\w*\((?!\d|s\))|\bsms\.\w|\bSeries\b|\b(?!(?:{'|'.join(FIELDS)})=)[a-z_]+=")
_CLAUSES = re.compile(r"(?<=[.;])(?= \S)|(?=, (?:or|sms\.))|(?=: (?:write|pass|sms\.|NumberOptions\(|[a-z_]+=))")
_CODE = re.compile(r"(?<!['\w])[A-Z][A-Z_]{4,}(?!['\w])")
_ASIDE = re.compile(r" \((?:note [A-Z_]{1,40}|\w+\(\w+=\.\.\.\)[^()]{0,40})\)")  # a note for code alone
_QUOTED = re.compile(r"'[^']*'|\{[^{}]*\}")


def ended_early(counts: dict[str, int]) -> str:
    return f"Ended early: {state_line(counts)}."


def broken(error: Exception) -> tuple[str, Sign]:
    """Name a mistake of ours in the card, because a button's traceback goes where nobody looks."""
    logger.error("a form failed: %s", type(error).__name__)
    return f"The form failed ({type(error).__name__}). Run the cell again.", "bad"


def sentence(words: str) -> str:
    return capital(words) + ("" if words.endswith((".", "!", "?")) else ".")


Asked = TypeVar("Asked")
Made = TypeVar("Made")


class Latest(Generic[Asked, Made]):
    """Call ``make`` a moment after the last ``ask``, beside the form, and ``take`` unless newer was asked since."""

    def __init__(self, make: Callable[[Asked], Made], take: Callable[[Made], None], *, wait: float) -> None:
        self._make, self._take, self._wait = make, take, wait
        self._guard = threading.Lock()
        self._number = 0
        self._timer: threading.Timer | None = None

    def ask(self, asked: Asked, *, at_once: bool = False) -> None:
        """Ask for something; what was asked for before and is not made yet is forgotten."""
        with self._guard:
            self._number += 1
            if self._timer is not None:
                self._timer.cancel()
            self._timer = threading.Timer(0.0 if at_once else self._wait, self._run, args=(self._number, asked))
            self._timer.daemon = True
            self._timer.start()

    def settle(self, seconds: float = 60.0) -> None:
        if self._timer is not None:
            self._timer.join(seconds)

    def _run(self, number: int, asked: Asked) -> None:
        made = self._make(asked)
        with self._guard:
            newest = number == self._number
        if newest:
            self._take(made)
