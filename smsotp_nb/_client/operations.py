"""The three operations, each checked before anything leaves and repeated only when nothing left."""

from __future__ import annotations

import binascii
import hmac
import logging
import secrets
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn
from urllib.parse import quote_plus, urlencode

import numpy as np

from .. import _wire as wire
from .._calling import bare, given, in_our_words, not_a, not_mapping, refuse
from .._moments import Now, utc_now
from .._warnings import warn_user
from ..errors import UsageError
from ..settings import Secret, Settings
from .meaning import Scrubber, error_of, success
from .patience import Gate, RetryPolicy, Tries
from .transport import Failure, Transport

log = logging.getLogger("smsotp_nb")


@dataclass(frozen=True, slots=True)
class _Request:
    """One request, whose repr shows neither numbers nor passcodes: tracebacks print the arguments of every frame."""

    action: str
    fields: dict[str, Any]
    read: Callable[[Any, str | None], Any]
    may_begin: Callable[[], bool] | None = None

    def __repr__(self) -> str:
        return f"<{self.action} request>"


class Client:
    """Call the three operations of one service: send messages, send passcodes, verify passcodes.

    A request is retried only if no byte of it left this machine, or if the service answered 429. Any other failure
    after the first byte raises ``InDoubt`` and is never retried.

    Args:
        settings: address, variant, access key and timeouts.
        retry: how long to keep trying while nothing of a request has left.
        sleep: how to wait, for tests; seconds.
        clock: a monotonic clock, for tests; seconds.
        now: the clock: a function that returns an aware datetime.

    Example:
        >>> Client(Settings(base_url="https://sms.example", access_key_id="demo"))
        Client(https://sms.example, variant 'intl', key ***)
    """

    @in_our_words
    def __init__(
        self,
        settings: Settings | None = None,
        *,
        retry: RetryPolicy | None = None,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
        now: Now = utc_now,
    ) -> None:
        if not isinstance(settings, Settings):
            raise UsageError(f"Client needs Settings, got {given(settings)}; try Settings.from_env()")
        if retry is not None:
            refuse(not_a("retry", retry, RetryPolicy, wanted="a RetryPolicy"))
        self.settings = settings
        self.retry = retry or RetryPolicy()
        self.sandbox: Any = None  # set by the sandbox that makes a client for itself
        self._sleep, self._clock, self._now = sleep, clock, now
        self._checked: wire.Body | None = None
        self._transport = Transport(
            settings.base_url,
            connect_timeout=settings.connect_timeout,
            read_timeout=settings.read_timeout,
            deadline=settings.deadline,
            trust_env=settings.trust_env,
            ca_bundle=settings.ca_bundle,
            clock=clock,
        )

    @property
    def service(self) -> str:
        """The id of the service under which campaigns are recorded. It does not contain the key."""
        return self.settings._service_id

    @in_our_words
    def send_message(
        self,
        to: str | Sequence[str],
        *,
        text: str | None = None,
        content: str | None = None,
        template_id: str | None = None,
        template_data: Mapping[str, str] | None = None,
        signature: str | None = None,
    ) -> wire.SendReply:
        """Send one text to one or more numbers (``sms.message.send``).

        Args:
            to: one number or a list of numbers, E.164, each at most once.
            text: the whole text. Pass exactly one of ``text``, ``content`` and ``template_id``.
            content: the text without its signature.
            template_id: id of a template of the service.
            template_data: mapping of the template's variables to text.
            signature: sender name, 2 to 16 characters. Required in the cn variant and in the earlier form.

        Returns:
            The reply: one record for each number, the numbers without a record in ``missing`` (they are in doubt),
            totals.

        Raises:
            UsageError: the message lists everything wrong; nothing left this machine.
            ServiceError: the service refused.
            TransportError: no usable answer. If it is ``InDoubt``, the message may have been accepted.

        Example:
            >>> from smsotp_nb import Sandbox
            >>> with Sandbox() as box:
            ...     box.client().send_message("+12025550123", text="Hello").messages[0].iso
            'US'
        """
        if template_data is not None:
            refuse(not_mapping("template_data", template_data, example="{'name': 'Ann'}"), said="nothing was sent: ")
        recipients = _numbers(to)
        to = recipients  # a traceback prints the variables of every frame
        data = tuple(dict(template_data or {}).items())
        body = wire.Body(text, content, template_id, data, signature)
        reply = self._deliver(recipients, body)
        if reply.missing:
            warn_user(f"{len(reply.missing)} of {len(recipients)} numbers have no record in the reply and are in doubt")
        return reply

    @in_our_words
    def _deliver(
        self,
        to: Sequence[str],
        body: wire.Body,
        *,
        retry: RetryPolicy | None = None,
        may_begin: Callable[[], bool] | None = None,
    ) -> wire.SendReply:
        """Send one body to many numbers, as ``send_message`` does: what a campaign calls.

        ``may_begin`` is asked right before the first byte; where it says no, nothing is sent.
        """
        to = _numbers(to)
        wrong = wire.check_recipients(to)
        if body is not self._checked:  # a campaign sends one body to many
            refuse(not_a("body", body, wire.Body, wanted="a message of a plan"))
            wrong += wire.check_body(body, variant=self.settings.variant, form=self.settings.form)
        refuse(*wrong, said=f"{wire.SEND} was not called, nothing was sent: ")
        self._checked = body

        def read(data: Any, request_id: str | None) -> wire.SendReply:
            return wire.read_send(data, to, request_id=request_id, canonical=_canonical)

        request = _Request(wire.SEND, wire.send_request(to, body), read, may_begin)
        reply: wire.SendReply = self._call(request, retry)
        return reply

    @in_our_words
    def send_otp(
        self,
        to: str,
        *,
        digits: int | None = None,
        intent: str | None = None,
        channel: str | None = None,
        signature: str | None = None,
        code: str | None = None,
        ttl: int | None = None,
    ) -> wire.OtpReply:
        """Send a one-time passcode to one number (``otp.send``). The service generates it unless ``code`` is given.

        Args:
            to: the user's number, E.164.
            digits: length of a generated passcode, 4 to 8; the service's default is 6.
            intent: purpose, at most 36 characters. ``verify_otp`` needs the same.
            channel: ``sms``, ``call``, ``whatsapp`` or ``auto`` (the service's default).
            signature: sender name, 2 to 16 characters. Required for +86 numbers in the cn variant.
            code: a passcode of your own, 4 to 8 digits as text. Not recommended.
            ttl: lifetime of your own ``code`` in seconds, at most 1800. For a generated passcode it has no effect here
                and a warning is given: pass its lifetime to ``verify_otp``.

        Raises:
            UsageError: as for ``send_message``.
            ServiceError: as for ``send_message``.
            TransportError: as for ``send_message``.

        Example:
            >>> from smsotp_nb import Sandbox
            >>> with Sandbox() as box:
            ...     box.client().send_otp("+12025550123", intent="login").record.parts
            1
        """
        options: dict[str, Any] = {
            "digits": digits, "intent": intent, "channel": channel, "signature": signature, "code": code, "ttl": ttl
        }  # fmt: skip
        wrong = wire.check_otp_send(to, **options, variant=self.settings.variant)
        own_code = code is not None

        def read(data: Any, request_id: str | None, to: str = to) -> wire.OtpReply:
            return wire.read_otp_send(data, to, request_id=request_id, canonical=_canonical)

        request = _Request(wire.OTP_SEND, wire.otp_request(to=to, **options), read)
        options, code, to = {}, None, wire.mask(str(to))  # a traceback prints the variables of every frame
        refuse(*wrong, said=f"{wire.OTP_SEND} was not called, nothing was sent: ")
        if ttl is not None and not own_code:
            warn_user("ttl= has no effect on a generated passcode in otp.send; pass it to verify_otp")
        if digits is not None and own_code:
            warn_user("digits= has no effect beside your own code=")
        reply: wire.OtpReply = self._call(request)
        return reply

    @in_our_words
    def verify_otp(self, to: str, code: str, *, intent: str | None = None, ttl: int | None = None) -> wire.VerifyReply:
        """Check the passcode that a user entered (``otp.verify``).

        Args:
            to: the user's number, E.164.
            code: the passcode as entered, 4 to 8 digits as text.
            intent: the same as in ``send_otp``.
            ttl: lifetime of a generated passcode in seconds, at most 1800; the service's default is 300. It does not
                affect a passcode of your own.

        Raises:
            InDoubt: no answer came, so the passcode is neither right nor wrong.
            UsageError: as for ``send_message``.
            ServiceError: as for ``send_message``.
            NotSent: as for ``send_message``.
            Throttled: as for ``send_message``.

        Example:
            >>> from smsotp_nb import Sandbox
            >>> with Sandbox() as box:
            ...     client = box.client()
            ...     _ = client.send_otp("+12025550123")
            ...     client.verify_otp("+12025550123", box.code("+12025550123")).valid
            True
        """
        wrong = wire.check_otp_verify(to, code, intent=intent, ttl=ttl)

        def read(data: Any, request_id: str | None, to: str = to) -> wire.VerifyReply:
            return wire.read_verify(data, to, request_id=request_id, canonical=_canonical)

        request = _Request(wire.OTP_VERIFY, wire.otp_request(to=to, code=code, intent=intent, ttl=ttl), read)
        code, to = "", wire.mask(str(to))  # a traceback prints the variables of every frame
        refuse(*wrong, said=f"{wire.OTP_VERIFY} was not called, nothing was sent: ")
        reply: wire.VerifyReply = self._call(request)
        return reply

    def _call(self, request: _Request, retry: RetryPolicy | None = None) -> Any:
        retry = retry or self.retry
        if retry.attempts == 1:  # a campaign waits and counts by itself
            return _given(self._once(request))
        return _given(Tries(Gate(self._sleep), retry, self._clock).make(lambda: self._once(request)))

    def _once(self, request: _Request) -> Any:
        """Make one attempt; return the reply or the error it means.

        Signing, writing and scrubbing have the key and the request in the clear, in their own frames and in those of
        other libraries. Whatever ends them, a test's timeout or an exit from a signal handler too, comes out without
        these frames.
        """
        try:
            return self._attempt(request)
        except BaseException as error:  # noqa: BLE001 - returned, and raised again by the caller
            return bare(error)

    def _attempt(self, request: _Request) -> Any:
        settings = self.settings
        started = self._clock()
        fields = memoryview(wire.encode(request.fields))
        reply = self._transport.post(self._query(request.action), fields, may_begin=request.may_begin)
        seconds = self._clock() - started
        if isinstance(reply, Failure):
            found: Any = error_of(reply, action=request.action, seconds=seconds)
            if reply.reason == KeyboardInterrupt.__name__:
                found = KeyboardInterrupt(f"interrupted; {found}")
        else:
            scrub = Scrubber(settings._key(), settings._secret() or "", str(request.fields.get("code") or ""))
            found = success(reply, request.read, action=request.action, seconds=seconds, scrub=scrub, now=self._now)
        said = found if isinstance(found, BaseException) else "accepted"
        log.debug("%s in %.0f ms: %s", request.action, seconds * 1000, said)
        return found

    def _query(self, action: str) -> Secret:
        key, secret = self.settings.access_key_id, self.settings.access_key_secret
        if not secret:
            return _plain(action, key)
        return _signed(action, key, secret, now=self._now().timestamp(), nonce=secrets.token_hex(16))

    def close(self) -> None:
        """Close idle connections. The client may be used again."""
        self._transport.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Client({self.settings.base_url}, variant {self.settings.variant!r}, key ***)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Client holds an access key and is not pickled; build it where it is needed")


@in_our_words
def connect() -> Client:
    """Return a client for the live service that the ``SMSOTP_*`` variables name: ``Client(Settings.from_env())``.

    Raises:
        UsageError: a variable is missing or says what cannot be; nothing was asked.

    Example:
        >>> connect()  # doctest: +SKIP
        Client(https://sms.example, variant 'intl', key ***)
    """
    return Client(Settings.from_env())


def once(client: Client) -> Client:
    """Return a client of the same service, over the same connections, that makes one attempt of each request.

    Example:
        >>> once(Client(Settings(base_url="https://sms.example", access_key_id="demo"))).retry.attempts
        1
    """
    made = object.__new__(type(client))
    vars(made).update(vars(client), retry=RetryPolicy(attempts=1))
    return made


def _canonical(number: str) -> str:
    """Return the form of a number in which all numbers that ring one phone are equal."""
    from .._phones import one_phone_digits  # takes time, and is only needed where a reply spells a number otherwise

    return f"+{one_phone_digits(np.array([int(number[1:])]))[0]}"


def _given(found: Any) -> Any:
    if isinstance(found, BaseException):
        raise found
    return found


def _numbers(to: Any) -> wire.Numbers:
    if not isinstance(to, Iterable) or isinstance(to, bytes | Mapping):
        raise UsageError(f"to= must be a number or a list of numbers, got {given(to)}; nothing was sent")
    return wire.Numbers([to] if isinstance(to, str) else to)


# The signature is an HMAC-SHA256 over all other query pairs, sorted by name and joined as ``k=v&...``. The body is not
# signed. Services accept several spellings; this client sends milliseconds and base64.
#
# Keys come in and queries go out sealed. What is between has no name here: a traceback may print the variables of every
# frame, and a memoryview shows nothing of what it views.

# str.translate has no frame, which quote_plus has; a key is plain ASCII.
_QUOTED = {number: quote_plus(chr(number)) for number in range(128)}


def _plain(action: str, key: Secret) -> Secret:
    """Return the encoded query of an attempt that is not signed.

    Example:
        >>> _plain("otp.send", Secret("key")).reveal()
        'action=otp.send&accessKeyId=key'
    """
    return Secret(f"action={quote_plus(action)}&accessKeyId={_quoted(key)}")


def _signed(action: str, key: Secret, secret: Secret, *, now: float, nonce: str) -> Secret:
    """Return the encoded query of one signed attempt.

    Args:
        now: the wall clock, seconds since 1970; the service takes ten minutes either way.
        nonce: 8 to 64 characters, never used before.

    Example:
        >>> _signed("otp.send", Secret("key"), Secret("secret"), now=1.5, nonce="abcdefgh").reveal().count("&")
        5
    """
    others = {"action": action, "algorithm": "hmac-sha256", "nonce": nonce, "timestamp": str(round(now * 1000))}
    pairs = Secret(f"accessKeyId={_quoted(key)}&{urlencode(others)}")  # sorted by name
    return Secret(f"{pairs.reveal()}&signature={quote_plus(_signature(secret, pairs))}")


def _quoted(key: Secret) -> str:
    return key.reveal().translate(_QUOTED)


def _signature(secret: Secret, text: Secret) -> str:
    digest = hmac.digest(memoryview(secret.reveal().encode()), memoryview(text.reveal().encode()), "sha256")
    return binascii.b2a_base64(digest, newline=False).decode()
