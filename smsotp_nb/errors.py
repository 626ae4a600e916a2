"""Every error of this package, grouped by who can act on it.

::

    SmsOtpError
    |- UsageError (also ValueError)  the caller fixes the call: which column, which rows, which limit
    |    |- OutputExistsError               a file already exists and was not to be replaced
    |- ServiceError                  the service refused: error_code, name, http_status, request_id
    |    |- InsufficientFunds        105400
    |    |- InvalidPhoneNumbers      107111
    |    |- MissingParams            104001
    |- TransportError                no usable answer: phase, http_status, seconds
    |    |- NotSent                  certainly nothing left this machine: retried, then raised
    |    |- Throttled                429: retried after its pause, then raised
    |    |- InDoubt                  may have been accepted: never retried, a person settles it
    |- LedgerError                   the campaign record cannot be used as asked
    |    |- CampaignLockedError             another process runs this campaign now
    |    |- PlanChanged              the plan differs from the one recorded under this campaign
    |    |- ReplacedLedgerError           the file was deleted, moved or replaced while it was open
    |    |- StaleLedgerError              the file is older than when this user last saw it: a copy, a backup, a new one
    |- ExpectationError                 a test's expectation of the sandbox is not met (also AssertionError)

    SmsOtpWarning (also UserWarning)
    |- CampaignIncomplete            ``send`` returned with rows still to go

Trouble with one row is a value in that row (``problem``), never an exception.
Every error carries its facts as attributes, can be pickled, and never holds a key or a passcode. Its message has fewer
than 2,000 characters, control characters of a reply or a file stand in it as numbers, and phone numbers are masked,
also where they are what a row is called.
"""

from __future__ import annotations

from types import CellType
from typing import Any

from ._showing import masked, said, visible

__all__ = [
    "CampaignIncomplete",
    "CampaignLockedError",
    "ExpectationError",
    "InDoubt",
    "InsufficientFunds",
    "InvalidPhoneNumbers",
    "LedgerError",
    "MissingParams",
    "NotSent",
    "OutputExistsError",
    "PlanChanged",
    "ReplacedLedgerError",
    "ServiceError",
    "SmsOtpError",
    "SmsOtpWarning",
    "StaleLedgerError",
    "Throttled",
    "TransportError",
    "UsageError",
]


class SmsOtpError(Exception):
    """Base of every error of this package. The message says what to do next.

    Example:
        >>> issubclass(UsageError, SmsOtpError)
        True
    """

    def __init__(self, message: object = "") -> None:
        super().__init__(said(str(message)))


class UsageError(SmsOtpError, ValueError):
    """The call cannot work as written.

    Attributes:
        field: the argument that it is about, such as ``"region"``; by default the one with which the message begins,
            as ``region= has ...``. None where it is about none, or about several.
        hint: the next step in Python, which stands behind the message; a form and the command line leave it out.
        problems: everything that is wrong, not only the first problem, in words.
        causes: the same as errors of one argument each; the error itself where it is one.

    Example:
        >>> error = UsageError("region= has no column 'land'", hint="columns are 'phone', 'country'")
        >>> str(error), error.field
        ("region= has no column 'land'; columns are 'phone', 'country'", 'region')
    """

    def __init__(
        self,
        message: str,
        *,
        field: str | None = None,
        hint: str | None = None,
        problems: tuple[str, ...] = (),
        causes: tuple[UsageError, ...] = (),
    ) -> None:
        super().__init__(message if hint is None else f"{message}; {hint}")
        fields: set[str | None] = {cause.field for cause in causes} or {field or argument_of(message)}
        self.field: str | None = fields.pop() if len(fields) == 1 else None
        self.hint = None if hint is None else said(hint)
        self._message = said(message)
        self._causes = causes
        self.problems = tuple(str(cause) for cause in causes) or tuple(said(problem) for problem in problems)
        if not self.problems:
            self.problems = (str(self),)

    @property
    def causes(self) -> tuple[UsageError, ...]:
        return self._causes or (self,)

    def _with_label(self, label: str) -> str:
        """Return the message, without its hint, with what a reader sees in place of the name of its argument.

        Example:
            >>> UsageError("ttl= must be a whole number, got 'x'", field="ttl")._with_label("--ttl")
            "--ttl must be a whole number, got 'x'"
        """
        prefix = f"{self.field}="
        if self.field is None or not self._message.startswith(prefix):
            return self._message
        rest = self._message.removeprefix(prefix)
        return f"{label}{rest}" if rest.startswith((" ", ":")) else f"{label} {rest}"


def argument_of(words: str) -> str | None:
    """Return the argument with which a complaint begins, as every check writes it: ``name= must be ...``."""
    name, is_named, _ = words.partition("=")
    return name if is_named and name.isidentifier() else None


class OutputExistsError(UsageError):
    """A file to be written already exists, and replacing it was not requested. ``path`` names it.

    Example:
        >>> OutputExistsError("spent.html is there already", path="spent.html").path
        'spent.html'
    """

    def __init__(self, message: str, *, path: str = "", problems: tuple[str, ...] = ()) -> None:
        super().__init__(message, problems=problems)
        self.path = path


class ServiceError(SmsOtpError):
    """The service refused the request. By assumption, a refusal means that nothing was sent.

    Attributes:
        error_code: the ``code`` of the envelope, a numeric string such as ``"105400"``.
        name: the ``message`` of the envelope, an error name such as ``InsufficientFunds``.
        http_status: the HTTP status of the reply.
        request_id: the request id from the reply's header, or None.

    Example:
        >>> InsufficientFunds("balance too low", error_code="105400", name="InsufficientFunds").error_code
        '105400'
    """

    def __init__(
        self,
        message: str,
        *,
        error_code: str = "",
        name: str = "",
        http_status: int | None = None,
        request_id: str | None = None,
    ) -> None:
        super().__init__(message)
        self.error_code = error_code
        self.name = name
        self.http_status = http_status
        self.request_id = request_id


class InsufficientFunds(ServiceError):
    """105400: the balance does not cover the send. A campaign stops, and the remaining rows stay planned."""


class InvalidPhoneNumbers(ServiceError):
    """107111: the service cannot text one of the numbers in the request."""


class MissingParams(ServiceError):
    """104001: a required parameter is missing."""


class TransportError(SmsOtpError):
    """No usable answer came back.

    Attributes:
        phase: how far the request came (``connect``, ``writing``, ``awaiting``, ``headers``, ``body``, ...).
        http_status: the HTTP status if one was read, otherwise None.
        seconds: time since the start of the attempt, in seconds.
        attempts: number of attempts made.
        request_id: the request id from the reply's header if one was read, otherwise None.

    Example:
        >>> InDoubt("no answer", phase="awaiting", seconds=30.0).phase
        'awaiting'
    """

    def __init__(
        self,
        message: str,
        *,
        phase: str = "",
        http_status: int | None = None,
        seconds: float | None = None,
        attempts: int = 1,
        request_id: str | None = None,
    ) -> None:
        super().__init__(message)
        self.phase = phase
        self.http_status = http_status
        self.seconds = seconds
        self.attempts = attempts
        self.request_id = request_id


class NotSent(TransportError):
    """No byte of the request left this machine, so sending it again cannot text anybody twice."""


class Throttled(TransportError):
    """429: the service asked for a pause of ``retry_after`` seconds (None if it did not say how long)."""

    def __init__(
        self,
        message: str,
        *,
        retry_after: float | None = None,
        phase: str = "body",
        http_status: int | None = 429,
        seconds: float | None = None,
        attempts: int = 1,
        request_id: str | None = None,
    ) -> None:
        super().__init__(
            message, phase=phase, http_status=http_status, seconds=seconds, attempts=attempts, request_id=request_id
        )
        self.retry_after = retry_after


class InDoubt(TransportError):
    """The request may have been accepted. It is never retried; only a person who has checked can say what happened.

    Attributes:
        challenge: of a passcode whose reply was lost, the ``otp.Challenge`` that checks it, should it have arrived;
            otherwise None. It does not go into a pickle, and shows its number to nobody who prints the error.
    """

    # In a cell, as what collects errors prints the attributes of their attributes.
    _sent: CellType | None = None

    @property
    def challenge(self) -> Any:
        return None if self._sent is None else self._sent.cell_contents

    @challenge.setter
    def challenge(self, challenge: Any) -> None:
        self._sent = CellType(challenge)

    def __reduce__(self) -> tuple[Any, ...]:
        kind, args, kept = type(self), self.args, vars(self)
        return kind, args, {name: value for name, value in kept.items() if name != "_sent"}


class LedgerError(SmsOtpError):
    """The campaign record cannot be used as asked. Nothing was sent.

    Example:
        >>> issubclass(CampaignLockedError, LedgerError)
        True
    """


class CampaignLockedError(LedgerError):
    """Another process runs this campaign; ``pid`` and ``host`` identify it."""

    def __init__(self, message: str, *, pid: int | None = None, host: str | None = None) -> None:
        super().__init__(message)
        self.pid = pid
        self.host = host


class PlanChanged(LedgerError):
    """The plan differs from the recorded one; ``added``, ``removed`` and ``changed`` count the rows."""

    def __init__(self, message: str, *, added: int = 0, removed: int = 0, changed: int = 0) -> None:
        super().__init__(message)
        self.added = added
        self.removed = removed
        self.changed = changed


class ReplacedLedgerError(LedgerError):
    """The ledger's file, or its log, is no longer the one that was opened. Nothing more was sent with it.

    Example:
        >>> issubclass(ReplacedLedgerError, LedgerError)
        True
    """


class StaleLedgerError(LedgerError):
    """The ledger lacks what this user last saw in it, so people who were texted may appear in it as not texted.

    A file in which only rehearsals were ever recorded texted nobody and does not raise it.

    Attributes:
        recipients: upper limit of the recipients who were texted and are missing in it.

    Example:
        >>> StaleLedgerError("the ledger is older", recipients=15).recipients
        15
    """

    def __init__(self, message: str, *, recipients: int = 0) -> None:
        super().__init__(message)
        self.recipients = recipients


class ExpectationError(SmsOtpError, AssertionError):
    """The sandbox's messages are not what a test expects. Numbers are masked.

    Attributes:
        found: number of messages that are as expected.
        misses: the nearest misses, in words.

    Example:
        >>> ExpectationError("expected 1 message, found none", found=0, misses=("message 1: text is 'Hi'",)).found
        0
    """

    def __init__(self, message: str, *, found: int = 0, misses: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.found = found
        self.misses = misses


class SmsOtpWarning(UserWarning):
    """Base of the warnings of this package. Phone numbers in their messages are masked, as in those of errors.

    Attributes:
        field: the argument that would change what the warning is about, such as ``"header"``; None where none would.
    """

    field: str | None = None

    def __init__(self, message: object = "") -> None:
        super().__init__(visible(masked(str(message)), keep="\n\t"))  # not cut: it may list copies that hold numbers


class CampaignIncomplete(SmsOtpWarning):
    """``send`` returned with rows still to go. The message says why, and what the next call does."""


def __dir__() -> list[str]:
    return list(__all__)
