"""Read and change a sandbox over HTTP: messages, requests, expectations, clock, faults."""

from __future__ import annotations

import http.client
import json
import os
import re
import ssl
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlencode, urlsplit

from .. import _cards as cards
from .. import _wire as wire
from .._arguments import given as shown
from .._arguments import not_mapping, not_number, refuse
from .._calls import in_our_words
from .._visible import visible
from ..errors import NotAsExpected, SmsOtpError, UsageError
from ..settings import Secret
from .faults import Fault
from .service import millionths

if TYPE_CHECKING:
    import pandas as pd

Found = TypeVar("Found")

ANSWER_WITHIN = 90.0  # seconds; waiting takes up to 80
WHOLE_WITHIN = 600.0  # seconds for all of an answer: an inbox may hold a million messages
MOST_BYTES = 1 << 30  # of one
GLANCE = 1.0  # seconds that a repr or a card may take: a traceback prints them, too


def written(asked: Mapping[str, Any]) -> bytes:
    """Return what a sandbox is asked for as JSON.

    Raises:
        UsageError: a value is of a kind that JSON does not have.

    Example:
        >>> written({"seconds": 5})
        b'{"seconds": 5}'
    """
    refuse(*(f"{name}= must be text or a number, got {shown(value)}" for name, value in asked.items() if _odd(value)))
    return json.dumps(asked).encode()


def _odd(value: Any) -> bool:
    try:
        json.dumps(value)
    except (TypeError, ValueError, RecursionError):
        return True
    return False


class Remote:
    """One sandbox by its address, or one of its tenants. `Sandbox` adds starting, closing and its client."""

    _url: str
    _tenant: Secret | None
    _token: Secret | None
    _certificate: os.PathLike[str] | None

    @property
    def url(self) -> str:
        """The address, ``http://127.0.0.1:<port>``."""
        return self._url

    @property
    def token(self) -> str | None:
        """The token that others need to read it; None if only this machine reaches it."""
        return None if self._token is None else self._token.reveal()

    @property
    def certificate(self) -> Path | None:
        """The file with its certificate, for clients to trust; None if it speaks plain HTTP."""
        return None if self._certificate is None else Path(self._certificate)

    @property
    def access_key(self) -> str:
        """The access key to use: a tenant's own; otherwise any key works."""
        return "sandbox" if self._tenant is None else self._tenant.reveal()

    @property
    def balance(self) -> Decimal:
        """The remaining balance, in the currency of the variant."""
        return self._get("/sandbox.json", lambda found: Decimal(found["balance"]))

    @property
    def inbox(self) -> pd.DataFrame:
        """Every accepted message, oldest first, as a frame.

        Columns ``id, to, text, code, channel, iso, currency`` (str), ``parts`` (Int64), ``price`` (float64) and ``at``
        (datetime64[us, UTC]); ``code`` is missing unless the message is a passcode.
        """
        from . import frames  # pandas: not for those who only run the service

        return self._get("/inbox.json", lambda found: frames.messages(found["messages"]))

    @property
    def requests(self) -> pd.DataFrame:
        """The last requests to the three operations as received, oldest first, including refused and failed ones.

        Columns ``n, status, size, accepted, reply_size`` (Int64), ``at`` (datetime64[us, UTC]) and, as str, ``action``,
        ``to`` (several numbers separated by blanks), ``outcome`` (accepted, answered, refused, or struck by a fault),
        ``code``, ``fault``, ``signing``, ``request_id``, ``method``, ``path``, ``headers`` (one per line), ``body`` and
        ``reply``. Access key, signature, tokens and cookies are masked. The first 64 KiB of a body or reply are kept,
        and the last 5,000 requests or 16 MiB of them.

        Example:
            >>> from smsotp_nb import Sandbox
            >>> with Sandbox() as box:
            ...     _ = box.client().send_otp("+12025550123")
            ...     box.requests[["action", "to", "outcome"]].iloc[0].tolist()
            ['otp.send', '+12025550123', 'accepted']
        """
        from . import frames  # pandas: not for those who only run the service

        return self._get("/requests.json", lambda found: frames.requests(found["requests"]))

    @in_our_words
    def code(self, to: str, *, wait: float = 0.0) -> str | None:
        """Return the passcode last sent to a number, or None; ``wait`` up to this many seconds for the first one.

        Example:
            >>> from smsotp_nb import Sandbox
            >>> with Sandbox() as box:
            ...     print(box.code("+12025550123"))
            None
        """
        named = isinstance(to, str) and wire.E164.fullmatch(to)
        wrong = None if named else f"to= must be a number in E.164, with its plus, got {shown(to)}"
        refuse(wrong, not_number("wait", wait, of="seconds"))
        asked = urlencode({"to": to, "kind": "passcode", "newest": 1, "limit": 1, "wait": wait})
        return self._get(
            f"/inbox.json?{asked}", lambda found: str(found["messages"][0]["code"]) if found["messages"] else None
        )

    @in_our_words
    def expect(self, given: Mapping[str, Any] | None = None, /, **fields: Any) -> pd.DataFrame:
        """Check that the expected messages were accepted, and return them as a frame like `inbox`.

        Args:
            given: an expectation as ``POST /expect.json`` takes it: ``{"to": "+12025550123", "text~": "code"}``.
            fields: the same as keyword arguments. ``to, text, code, channel, iso, kind, intent, signature, template_id,
                id, parts`` must be equal; with the suffix ``_matches`` a regular expression (RE2) must match somewhere
                in the field. ``times`` is the exact number of messages (default: at least one), ``within`` the seconds
                to wait for them, or with ``times=0`` the seconds in which none may come, ``settle`` the seconds in
                which no further one may come once there are ``times`` of them (default: 0), ``after`` the number of the
                last message to ignore.

        Raises:
            NotAsExpected: an AssertionError that says what was expected, what was found and what came nearest,
                including refused and failed requests; numbers are masked.
            UsageError: the expectation cannot be read.

        Example:
            >>> from smsotp_nb import Sandbox
            >>> with Sandbox() as box:
            ...     _ = box.client().send_message("+12025550123", text="Your code is 4211.")
            ...     found = box.expect(to="+12025550123", text_matches=r"code is \\d+", times=1, within=5)
            ...     found["text"].tolist()
            ['Your code is 4211.']
        """
        from . import frames  # pandas: not for those who only run the service

        if given is not None:
            refuse(not_mapping("given", given, example="{'text': 'Hi'}"))
        asked = dict(given or {}) | {_name(field): value for field, value in fields.items()}
        odd = [field for field, value in asked.items() if not isinstance(value, str | int | float | bool | None)]
        refuse(*(f"{field}= must be one text or number, got {shown(asked[field])}" for field in odd))
        status, found = self._asked("POST", "/expect.json", json.dumps(asked).encode())
        if status == 409:
            raise self._understood(found, _not_as_expected)
        return self._understood(good(status, found), lambda found: frames.messages(found["messages"]))

    def clear(self) -> None:
        """Delete every accepted message and every recorded request; balance and passcodes are kept.

        Nothing of them is left in the bytes of the file, if the sandbox has one.

        Example:
            >>> from smsotp_nb import Sandbox
            >>> with Sandbox() as box:
            ...     _ = box.client().send_otp("+12025550123")
            ...     box.clear()
            ...     len(box.inbox)
            0
        """
        self._call("DELETE", "/inbox.json", None)

    @in_our_words
    def top_up(self, amount: str | float | Decimal) -> Decimal:
        """Add to the balance and return the new one.

        Example:
            >>> from smsotp_nb import Sandbox
            >>> with Sandbox(balance=0) as box:
            ...     box.top_up("2.50")
            Decimal('2.500000')
        """
        more = {"add": str(wire.amount(millionths(amount)))}
        return self._post("/balance.json", more, lambda found: Decimal(found["balance"]))

    @in_our_words
    def advance(self, seconds: float) -> datetime:
        """Move the sandbox's clock forward, so that a lifetime passes without waiting, and return its time.

        Example:
            >>> from smsotp_nb import Sandbox
            >>> with Sandbox() as box:
            ...     client = box.client()
            ...     _ = client.send_otp("+12025550123", code="123456", ttl=60)
            ...     _ = box.advance(61)
            ...     client.verify_otp("+12025550123", "123456").valid
            False
        """
        hint = "; of a timedelta give its .total_seconds()" if isinstance(seconds, timedelta) else ""
        wrong = not_number("seconds", seconds, of="seconds to move the clock on", least=float("-inf"))
        refuse(wrong and wrong + hint)
        return self._post("/clock.json", {"advance": seconds}, lambda found: datetime.fromisoformat(found["now"]))

    @in_our_words
    def send_receipts(self, url: str, *, secret: str, **settings: Any) -> None:
        """Post a signed delivery receipt for every message from now on. An extension, not part of the interface.

        Args:
            url: an address on this machine: ``http`` to 127.0.0.1, ::1 or localhost.
            secret: signs the receipts; docs/sandbox.md describes how.
            settings: ``delay`` in seconds of the sandbox's clock (1), ``retries`` (3) and the ``pause`` before the
                first retry (1 second, doubled each time).

        Raises:
            UsageError: the address is not on this machine, or a setting cannot be used.

        Example:
            >>> from smsotp_nb import Sandbox
            >>> with Sandbox() as box:
            ...     box.send_receipts("http://127.0.0.1:9/receipts", secret="a-secret-of-mine", delay=60)
            ...     _ = box.client().send_message("+12025550123", text="Hi")
            ...     box.receipts["waiting"], box.receipts["extension"]
            (1, 'not part of the interface')
        """
        self._call("POST", "/receipts.json", written({"url": url, "secret": secret, **settings}))

    def stop_receipts(self) -> None:
        """Stop posting receipts, and discard those that wait."""
        self._call("DELETE", "/receipts.json", None)

    @property
    def receipts(self) -> dict[str, Any]:
        """Where receipts go, how many are waiting, posted or abandoned, and the last 100 of them, newest first."""
        return self._get("/receipts.json", dict)

    @property
    def ahead(self) -> float:
        """Seconds that the sandbox's clock is ahead of the machine's; negative if it is behind."""
        return self._get("/clock.json", lambda found: float(found["ahead"]))

    @property
    def faults(self) -> tuple[Fault, ...]:
        """The faults that are switched on."""
        return self._get("/faults.json", lambda found: tuple(Fault(**fault) for fault in found["faults"]))

    @in_our_words
    def fault(self, kind: str, **settings: Any) -> None:
        """Switch on a fault: a kind from docs/sandbox.md, with ``action, share, next, seconds, jitter, status``.

        Example:
            >>> from smsotp_nb import Sandbox
            >>> with Sandbox() as box:
            ...     box.fault("throttle", next=1, seconds=2)
            ...     [fault.describe() for fault in box.faults]
            ['throttle, next 1, seconds 2']
        """
        self.switch_on({"kind": kind, **settings})

    @in_our_words
    def switch_on(self, fault: Fault | str | Mapping[str, Any]) -> None:
        """Switch on a fault in the form in which it is given to a new sandbox.

        Example:
            >>> from smsotp_nb import Sandbox
            >>> with Sandbox() as box:
            ...     box.switch_on("throttle next=1 seconds=2")
            ...     [fault.describe() for fault in box.faults]
            ['throttle, next 1, seconds 2']
        """
        told = asdict(Fault.read(fault))
        self._call("POST", "/faults.json", written({name: value for name, value in told.items() if value is not None}))

    @in_our_words
    def clear_faults(self, kind: str | None = None) -> None:
        """Switch off the faults of one kind, or all of them."""
        self._call("DELETE", "/faults.json" if kind is None else f"/faults.json?{urlencode({'kind': kind})}", None)

    def __repr__(self) -> str:
        return f"Sandbox({self._url}, {self._summary()})"

    def card(self) -> cards.Card:
        """Return a short card: address, balance, messages."""
        return cards.Card("Sandbox", self._summary(), closing=f"It texts nobody. Address: {self._url}")

    def _repr_html_(self) -> str:
        link = f'<a href="{cards.safe(self._url)}" target="_blank" rel="noopener">Open the inbox</a>'
        return f'{self.card().html()}<p class="mathjax_ignore" style="margin:.3em 0">{link}</p>'

    def _summary(self) -> str:
        try:
            about = good(*self._asked("GET", "/sandbox.json", None, within=GLANCE))
        except SmsOtpError:
            return "not running, or busy"
        try:
            return _summed_up(about)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
            return "not a sandbox"

    # Over HTTP also in the same process, so that a sandbox elsewhere is no special case.

    def _get(self, path: str, read: Callable[[Any], Found]) -> Found:
        return self._understood(self._call("GET", path, None), read)

    def _post(self, path: str, fields: dict[str, Any], read: Callable[[Any], Found]) -> Found:
        return self._understood(self._call("POST", path, written(fields)), read)

    def _understood(self, found: Any, read: Callable[[Any], Found]) -> Found:
        """Return what a reply says, read by a function; what is no reply of a sandbox is an error of ours."""
        try:
            return read(found)
        except SmsOtpError:
            raise
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
            raise SmsOtpError(f"What answers at {self._url} is not a sandbox of this version.") from None

    def _call(self, method: str, path: str, body: bytes | None) -> Any:
        return good(*self._asked(method, path, body))

    @in_our_words  # the token is among its variables, and properties are not wrapped
    def _asked(self, method: str, path: str, body: bytes | None, *, within: float = ANSWER_WITHIN) -> tuple[int, Any]:
        where = urlsplit(self._url)
        if self._tenant is not None and path != "/":
            path += f"{'&' if '?' in path else '?'}{urlencode({'tenant': self._tenant.reveal()})}"
        connection: http.client.HTTPConnection | None = None
        headers = {"Content-Type": "application/json"} if body else {}
        headers |= {} if self._token is None else {"Authorization": f"Bearer {self._token.reveal()}"}
        try:
            connection = self._connection(where.hostname or "", where.port, within)
            connection.request(method, path, body, headers)
            reply = connection.getresponse()
            return reply.status, json.loads(_whole(reply, time.monotonic() + WHOLE_WITHIN))
        except (OSError, http.client.HTTPException, ValueError, RecursionError):
            raise SmsOtpError(
                f"No sandbox answers at {self._url}. Start one with Sandbox(), or check the port."
            ) from None
        finally:
            if connection is not None:
                connection.close()

    def _connection(self, host: str, port: int | None, within: float) -> http.client.HTTPConnection:
        if urlsplit(self._url).scheme != "https":
            return http.client.HTTPConnection(host, port, timeout=within)
        trusted = ssl.create_default_context(cafile=self.certificate)
        return http.client.HTTPSConnection(host, port, timeout=within, context=trusted)


def _whole(reply: http.client.HTTPResponse, until: float) -> bytes:
    """Return the body of a reply, in time and of bounded size.

    Raises:
        TimeoutError, ValueError: it is neither.
    """
    found = bytearray()
    while piece := reply.read1(1 << 20):
        found += piece
        if len(found) > MOST_BYTES:
            raise ValueError("longer than what a sandbox says")
        if time.monotonic() > until:
            raise TimeoutError
    return bytes(found)


def _not_as_expected(found: Any) -> NotAsExpected:
    near = tuple(_masked(words) for words in found["misses"])
    lines = "".join(f"\n  nearest: {words}" for words in near)
    return NotAsExpected(_masked(found["error"]) + lines, found=found["found"], misses=near)


def _summed_up(about: Mapping[str, Any]) -> str:
    if about["tenants"]:
        return "an account for every access key"
    messages = cards.counted(about["messages"], "message")
    return f"{messages}, balance {visible(about['currency'])} {Decimal(about['balance']):,.2f}"


def good(status: int, found: Any) -> Any:
    if status != 200:
        raise UsageError(str(found.get("error", status)) if isinstance(found, dict) else str(status))
    return found


def _name(field: str) -> str:
    """Return a keyword argument as `Expectation.read` names it.

    Example:
        >>> _name("text_matches"), _name("template_id")
        ('text~', 'templateId')
    """
    plain = field.removesuffix("_matches")
    named = "templateId" if plain == "template_id" else plain
    return named if plain == field else f"{named}~"


def _masked(words: str) -> str:
    return re.sub(r"\+\d{6,15}", lambda found: wire.mask(found[0]), words)
