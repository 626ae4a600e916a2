"""Send passcodes, and verify them with the intent and the lifetime they were sent with.

The interface takes the lifetime of a custom code in ``otp.send`` and that of a generated one in ``otp.verify``. Here
``ttl`` is the lifetime of either kind and is passed where it has effect.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, NoReturn

from ._calling import in_our_words, not_callable, refuse
from ._moments import Now, utc_now
from ._wire import DEFAULT_DIGITS, TTL_DEFAULT, MessageRecord, Variant, check_otp_send, mask
from .errors import InDoubt, LedgerError, SmsOtpWarning, UsageError
from .settings import Secret

if TYPE_CHECKING:
    from ._client import Client
    from ._ledger import Ledger, LedgerOrPath
    from .sandbox import Sandbox

__all__ = ["Challenge", "send", "verify"]


# Common guidance for passcodes; the interface itself allows 4 digits and 1800 seconds.
SAFE_DIGITS = 6
SAFE_SECONDS = 600
AUTO = "auto"  # the interface's default channel


@dataclass(frozen=True, slots=True)
class Request:
    """Everything that decides one passcode; its repr shows neither the whole number nor a custom code."""

    to: str
    digits: int | None = None
    intent: str | None = None
    channel: str | None = None
    signature: str | None = None
    code: Secret | None = None
    ttl: int | None = None

    def __repr__(self) -> str:
        return f"<Request for {mask(str(self.to))}, intent {self.intent!r}>"

    @property
    def lifetime(self) -> int:
        """Seconds from sending until the passcode is void."""
        return TTL_DEFAULT if self.ttl is None else self.ttl

    @property
    def _ttl_at_verify(self) -> int | None:
        """The lifetime to say at the check, where that of a generated passcode has effect."""
        return None if self.code else self.ttl

    @property
    def length(self) -> int:
        """Digits of the passcode."""
        return len(self.code.reveal()) if self.code else self.digits or DEFAULT_DIGITS

    def advice(self) -> tuple[str, ...]:
        """Return, in words, where this request breaks common guidance or says something that has no effect.

        A request that cannot be sent has no advice: the client refuses it with everything that is wrong.
        """
        if self.problems():
            return ()
        said = []
        if self.length < SAFE_DIGITS:
            said.append(f"{self.length} digits are easily guessed; use {SAFE_DIGITS} or more")
        if self.lifetime > SAFE_SECONDS:
            said.append(f"a passcode that lives {self.lifetime} s can be stolen; use {SAFE_SECONDS} s or less")
        if self.code and self.digits is not None:
            said.append("digits= has no effect beside code=: a custom code has the digits it has")
        return tuple(said)

    @property
    def _said(self) -> dict[str, Any]:
        code = self.code.reveal() if self.code else None
        return {"intent": self.intent, "channel": self.channel, "signature": self.signature, "code": code}

    def problems(self, *, variant: Variant = "intl") -> list[str]:
        """Return everything for which the interface would refuse this request, in words."""
        return check_otp_send(self.to, digits=self.digits, ttl=self.ttl, variant=variant, **self._said)

    def send(
        self,
        client: Client,
        *,
        ledger: Ledger | None = None,
        now: Now = utc_now,
        unrecorded: Callable[[str], None] | None = None,
    ) -> Challenge:
        """Send the passcode and return its challenge; the errors are those of ``otp.send``.

        All of it is checked here: the client never sees the lifetime of a generated code before it is too late. Where
        the passcode was or may have been sent and could not be recorded, ``unrecorded`` is told why; by default that is
        a warning.
        """
        wrong = self.problems(variant=client.settings.variant)
        if wrong:
            raise UsageError(f"The passcode was not sent: {'; '.join(wrong)}", problems=tuple(wrong))
        try:
            digits, ttl = (None, self.ttl) if self.code else (self.digits, None)
            reply = client.send_otp(self.to, digits=digits, ttl=ttl, **self._said)
        except InDoubt as lost:
            nothing = MessageRecord(id=None, to=self.to)
            lost.challenge = Challenge(self, client=client, record=nothing, ledger=ledger, now=now)
            _record(ledger, client, nothing, lost.request_id, unrecorded or _warn, lost=lost)
            raise
        _record(ledger, client, reply.record, reply.request_id, unrecorded or _warn)
        return Challenge(self, client=client, record=reply.record, ledger=ledger, now=now)


class Challenge:
    """A passcode on its way to one number. ``verify`` checks a code with the service, ``resend`` sends another
    passcode.

    Attributes:
        to: the number, E.164.
        intent: the purpose it was sent for, repeated by ``verify``.
        channel: the channel that was asked for: ``sms``, ``call``, ``whatsapp`` or ``auto``, the service's default.
            Which one ``auto`` took is not in the reply.
        record: the service's message record (``id, to, iso, cc, parts, price``); all but ``to`` None where the reply
            was lost.
        expires_at: aware UTC datetime, by this machine's clock, counted from the reply.
        verified: True once a check of this challenge succeeded.

    Neither the repr nor an attribute holds a code. A challenge cannot be pickled, because it holds a client and perhaps
    a custom code; `to_dict` has what another process needs to check the passcode.

    Example:
        >>> from smsotp_nb import Sandbox, otp
        >>> with Sandbox() as box:
        ...     challenge = otp.send("+12025550123", box, intent="login")
        ...     challenge.verify(box.code("+12025550123"))
        True
    """

    __slots__ = ("_client", "_ledger", "_now", "_request", "_sent_at", "record", "verified")

    @in_our_words
    def __init__(
        self,
        request: Request,
        *,
        client: Client,
        record: MessageRecord,
        ledger: Ledger | None = None,
        now: Now = utc_now,
    ) -> None:
        self._request = request
        self._client = client
        self._ledger = ledger
        self._now = now
        self.record = record
        self._sent_at = now()
        self.verified = False

    @property
    def to(self) -> str:
        return self._request.to

    @property
    def intent(self) -> str | None:
        return self._request.intent

    @property
    def channel(self) -> str:
        return self._request.channel or AUTO

    @property
    def expires_at(self) -> datetime:
        return self._sent_at + timedelta(seconds=self._request.lifetime)

    @property
    def seconds_left(self) -> float:
        """Seconds until the passcode expires, by this machine's clock; 0.0 if it has expired."""
        return max(0.0, (self.expires_at - self._now()).total_seconds())

    @in_our_words
    def verify(self, code: str) -> bool:
        """Ask the service whether this is the code, with the intent and the lifetime it was sent with.

        Raises:
            InDoubt: no answer came. The code is neither right nor wrong, and the check may have used up a try.
            UsageError: ``code`` is not text of 4 to 8 digits; the service was not asked.
            ServiceError: the service refused the check.
        """
        typed = Secret(code)
        code = ""  # a traceback may print the variables of every frame
        valid = _verified(self._client, typed, self._request)
        self.verified = self.verified or valid
        return valid

    def to_dict(self) -> dict[str, Any]:
        """Return what `verify` needs in another process or request: ``to``, ``intent`` and ``ttl``, fit for JSON.

        It holds no code. ``ttl`` is None where it has no effect, as for a custom code.

        Example:
            >>> from smsotp_nb import Sandbox, otp
            >>> with Sandbox() as box:
            ...     kept = otp.send("+12025550123", box, intent="login", ttl=120).to_dict()
            ...     otp.verify(code=box.code("+12025550123"), client=box, **kept)
            True
            >>> kept
            {'to': '+12025550123', 'intent': 'login', 'ttl': 120}
        """
        return {"to": self.to, "intent": self.intent, "ttl": self._request._ttl_at_verify}

    def resend(self) -> Challenge:
        """Send the same request again and return its challenge. A custom code stays the same, a generated one is new.

        Whether the earlier passcode remains valid is not stated by the interface.
        """
        return self._request.send(self._client, ledger=self._ledger, now=self._now)

    def __repr__(self) -> str:
        state = "verified" if self.verified else "not verified"
        asked = f"channel {self.channel}, intent {self.intent!r}"
        return f"<Challenge {mask(self.to)}, {asked}, until {self.expires_at:%H:%M:%S} UTC, {state}>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a challenge cannot be pickled: it holds a client; keep challenge.to_dict() for otp.verify")


@in_our_words
def send(
    to: str,
    client: Client | Sandbox,
    *,
    digits: int | None = None,
    intent: str | None = None,
    channel: str | None = None,
    signature: str | None = None,
    code: str | None = None,
    ttl: int | None = None,
    ledger: LedgerOrPath | None = None,
    now: Now = utc_now,
) -> Challenge:
    """Send a passcode to one number and return the challenge that verifies it.

    Args:
        to: the number, E.164.
        client: the service, or a sandbox to try it.
        digits: length of the generated code, 4 to 8 (the service's default is 6).
        intent: purpose, at most 36 characters; remembered for the check.
        channel: ``sms``, ``call``, ``whatsapp`` or ``auto``.
        signature: sender name, 2 to 16 characters. Required for +86 numbers in the cn variant.
        code: a custom code of 4 to 8 digits in place of a generated one. Not recommended.
        ttl: lifetime of the passcode in seconds, whether custom or generated, at most 1800 (the service's default is
            300).
        ledger: a Ledger, or its path, in which number, country, parts and price are recorded for `cost`, and a passcode
            whose reply was lost as in doubt; never the passcode. By default nothing is recorded.
        now: the clock, a function that returns an aware datetime.

    Warns:
        SmsOtpWarning: the passcode was or may have been sent and could not be recorded; or fewer than 6 digits, a
            lifetime above 600 seconds, or ``digits`` together with ``code``.

    Raises:
        UsageError: the message lists everything wrong with the arguments. Nothing was sent.
        LedgerError: the ledger cannot be used. Nothing was sent.
        ServiceError: the service refused.
        InDoubt: no answer came. The passcode may have been sent, and is not sent again automatically. The error's
            ``challenge`` checks it, should it have arrived.

    Example:
        >>> from smsotp_nb import Sandbox, otp
        >>> box = Sandbox()
        >>> otp.send("+12025550123", box, ttl=120).record.iso
        'US'
        >>> box.close()
    """
    secret = None if code is None else Secret(code)
    code = None  # a traceback may print the variables of every frame
    refuse(not_callable("now", now, example="lambda: datetime.now(UTC)", none=False))
    request = Request(to, digits=digits, intent=intent, channel=channel, signature=signature, code=secret, ttl=ttl)
    to = mask(str(to))
    for advice in request.advice():
        warnings.warn(advice, SmsOtpWarning, stacklevel=3)
    return request.send(_client_of(client, what="otp.send"), ledger=ledger_of(ledger), now=now)


@in_our_words
def verify(to: str, code: str, client: Client | Sandbox, *, intent: str | None = None, ttl: int | None = None) -> bool:
    """Ask the service whether this is the code for this number, where no Challenge is at hand.

    Such as in the request after the one that sent it, or in a kernel that was restarted. ``Challenge.to_dict`` has the
    arguments but the code and the client.

    Args:
        to: the number, E.164.
        code: what the user entered, 4 to 8 digits as text.
        client: the service, or the sandbox that sent the passcode.
        intent: the purpose that was given to `send`.
        ttl: the lifetime in seconds that was given to `send`; it has no effect on a custom code.

    Returns:
        Whether the service holds the code for valid now.

    Raises:
        InDoubt: no answer came. The code is neither right nor wrong, and the check may have used up a try.
        UsageError: an argument is none the interface takes; the service was not asked.
        ServiceError: the service refused the check.

    Example:
        >>> from smsotp_nb import Sandbox, otp
        >>> with Sandbox() as box:
        ...     _ = otp.send("+12025550123", box, intent="login")
        ...     otp.verify("+12025550123", box.code("+12025550123"), box, intent="login")
        True
    """
    typed = Secret(code)
    code = ""  # a traceback may print the variables of every frame
    request = Request(to, intent=intent, ttl=ttl)
    to = mask(str(to))
    return _verified(_client_of(client, what="otp.verify"), typed, request)


def _verified(client: Client, typed: Secret, sent: Request) -> bool:
    return client.verify_otp(sent.to, typed.reveal(), intent=sent.intent, ttl=sent._ttl_at_verify).valid


def ledger_of(ledger: LedgerOrPath | None) -> Ledger | None:
    """Return the ledger, opened before anything is sent, so that one that cannot be used is known in time."""
    if ledger is None:
        return None
    from ._ledger import Ledger  # pandas: not for those who keep no books

    return ledger if isinstance(ledger, Ledger) else Ledger(ledger)


def _record(
    ledger: Ledger | None,
    client: Client,
    record: MessageRecord,
    request_id: str | None,
    unrecorded: Callable[[str], None],
    *,
    lost: InDoubt | None = None,
) -> None:
    """Record a passcode that was sent, or may have been; an error here must not look as if it was not."""
    if ledger is None:
        return
    try:
        ledger._record_passcode(record, service=client.service, request_id=request_id, lost=lost)
    except LedgerError as error:
        unrecorded(f"the passcode {'may have been' if lost else 'was'} sent and is not in the ledger: {error}")


def _warn(said: str) -> None:
    warnings.warn(said, SmsOtpWarning, stacklevel=5)


def _client_of(service: Client | Sandbox, *, what: str) -> Client:
    from ._client import Client

    if isinstance(service, Client):
        return service
    from .sandbox.facade import client_of  # not for those who have a client

    return client_of(service, what=what)


def __dir__() -> list[str]:
    return list(__all__)
