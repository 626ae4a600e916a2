"""Delivery receipts: an extension of the sandbox, NOT PART OF THE INTERFACE, which shows no events and no callbacks.

They are for developers of a receiver. Every accepted message gets a signed POST to an
address on this machine, after a delay by the sandbox's clock, and again after growing pauses until it is answered.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import ipaddress
import json
import re
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from sqlite3 import Row
from typing import Any, Final, Self
from urllib.parse import urlsplit

from aiohttp import ClientError, ClientSession, ClientTimeout, DummyCookieJar

from ..errors import UsageError
from . import reserved
from .bell import Bell
from .clock import Clock, moment
from .state import State

LABEL: Final = "not part of the interface"
AT_ONCE: Final = 8
ANSWER_WITHIN: Final = 10.0  # seconds
LOOK_AGAIN: Final = 0.1  # seconds: the clock may have been moved, or the machine have slept
SHOWN: Final = 100
LONGEST_URL: Final = 2_000
SECRET: Final = (8, 256)
MOST_RETRIES: Final = 10
LONGEST_DELAY: Final = 3600.0
FIELDS: Final = ("url", "secret", "delay", "retries", "pause")


@dataclass(frozen=True, slots=True, kw_only=True)
class Callback:
    """Where receipts go, and how.

    Args:
        url: an address on this machine: ``http`` to 127.0.0.1, ::1 or localhost.
        secret: signs every receipt.
        delay: seconds of the sandbox's clock from the message to its receipt.
        retries: how often a receipt is posted again that was not answered with 2xx.
        pause: seconds before the first retry; each further one waits twice as long.

    Raises:
        UsageError: lists everything that is wrong.
    """

    url: str
    secret: str = field(repr=False)
    delay: float = 1.0
    retries: int = 3
    pause: float = 1.0

    def __post_init__(self) -> None:
        wrong = [*_wrong_url(self.url), *_wrong_secret(self.secret)]
        for name in ("delay", "pause"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= LONGEST_DELAY:
                wrong.append(f"{name} must be from 0 to {LONGEST_DELAY:g} seconds")
        whole = isinstance(self.retries, int) and not isinstance(self.retries, bool)
        if not (whole and 0 <= self.retries <= MOST_RETRIES):
            wrong.append(f"retries must be a whole number from 0 to {MOST_RETRIES}")
        if wrong:
            raise UsageError("Receipts cannot be sent: " + "; ".join(wrong), problems=tuple(wrong))

    @classmethod
    def read(cls, given: Mapping[str, Any]) -> Self:
        """Read it from a JSON object."""
        if not {"url", "secret"} <= set(given) <= set(FIELDS):
            raise UsageError(f"send url and secret, and if you like delay, retries, pause; got {', '.join(given)}")
        return cls(**given)

    def told(self) -> dict[str, Any]:
        """Return the settings without the secret."""
        return {"url": self.url, "delay": self.delay, "retries": self.retries, "pause": self.pause}

    @property
    def address(self) -> str:
        """The address with a numeric host, so that no hosts file can lead it off this machine."""
        return re.sub("(?i)//localhost", "//127.0.0.1", self.url, count=1)


def _wrong_url(url: Any) -> list[str]:
    said = ["url must be an address on this machine, such as http://127.0.0.1:9000/receipts"]
    if not isinstance(url, str) or len(url) > LONGEST_URL or not url.isprintable():
        return said
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return said
    plain = parts.scheme == "http" and "@" not in parts.netloc and "\\" not in url and port != 0
    return [] if plain and _is_loopback(host) else said


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    with suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return False


def _wrong_secret(secret: Any) -> list[str]:
    least, most = SECRET
    good = isinstance(secret, str) and least <= len(secret) <= most and secret.isprintable()
    return [] if good else [f"secret must be a text of {least} to {most} characters"]


def signature(secret: str, timestamp: str, body: bytes) -> str:
    """Return what ``X-Sandbox-Signature`` holds: HMAC-SHA256 of the timestamp, a full stop and the body, hexadecimal.

    Example:
        >>> signature("a-secret", "1700000000", b"{}")[:12]
        'b0546aecc0be'
    """
    return hmac.new(secret.encode(), f"{timestamp}.".encode() + body, hashlib.sha256).hexdigest()


class Receipts:
    """Posts the receipts of one account while they are switched on.

    Args:
        state: keeps what is to be posted, and where.
        clock: the sandbox's clock, which receipts are due by.
        bell: rings when messages are accepted or the clock is moved.
        now: the machine's clock, for the timestamp that is signed.
    """

    def __init__(self, state: State, clock: Clock, bell: Bell, *, now: Callable[[], float] = time.time) -> None:
        self._state = state
        self._clock = clock
        self._bell = bell
        self._now = now
        kept = state.fact("receipts")
        self._callback = None if kept is None else Callback(**json.loads(kept))
        self._task: asyncio.Task[None] | None = None
        self._hurry()

    def _hurry(self) -> None:
        self._state.receipt_delay = None if self._callback is None else int(self._callback.delay * 1_000_000)

    def begin(self) -> None:
        """Start posting what is due, in the running loop, unless receipts are off."""
        if self._callback is not None and (self._task is None or self._task.done()):
            self._task = asyncio.get_running_loop().create_task(self._run())

    def switch(self, callback: Callback | None) -> None:
        """Switch receipts on, for messages from now on, or off; receipts that wait are discarded."""
        kept = None
        if callback is not None:
            kept = json.dumps(callback.told() | {"secret": callback.secret})
        self._state.keep_callback(kept)
        self._callback = callback
        self._hurry()
        self.stop()
        self.begin()

    def stop(self) -> None:
        """Stop posting."""
        if self._task is not None:
            self._task.cancel()
            self._task = None

    def told(self) -> dict[str, Any]:
        """Return what ``/receipts.json`` says."""
        counts = {"waiting": 0, "posted": 0, "given_up": 0, "withheld": 0} | self._state.count_receipts()
        return {
            "extension": LABEL,
            "callback": None if self._callback is None else self._callback.told(),
            **counts,
            "receipts": [_told(row) for row in self._state.receipts(SHOWN)],
        }

    async def _run(self) -> None:
        timeout = ClientTimeout(total=ANSWER_WITHIN)
        async with ClientSession(timeout=timeout, trust_env=False, cookie_jar=DummyCookieJar()) as session:
            while not self._bell.closed:
                due = self._state.due_receipts(self._clock.now(), AT_ONCE)
                if due:
                    await asyncio.gather(*(self._handle(session, row) for row in due))
                else:
                    await self._bell.wait(
                        LOOK_AGAIN, lambda happened: happened is None or happened.accepted is not None
                    )

    async def _handle(self, session: ClientSession, row: Row) -> None:
        special = reserved.BY_NUMBER.get(row["number"])
        effect = special.effect if special is not None else ""
        if effect == "no receipt":
            self._state.settle_receipt(row["n"], "withheld", attempts=0, due=row["due"], error="")
            return
        error = await self._post(session, row, "failed" if effect == "receipt failed" else "delivered")
        if effect == "receipt twice" and not error:
            error = await self._post(session, row, "delivered")
        self._settle(row, error)

    def _settle(self, row: Row, error: str) -> None:
        callback, attempts = self._callback, row["attempts"] + 1
        if callback is None or self._bell.closed:
            return
        done = "posted" if not error else "given_up" if attempts > callback.retries else "waiting"
        due = self._clock.now() + int(callback.pause * 2 ** (attempts - 1) * 1_000_000)
        self._state.settle_receipt(row["n"], done, attempts=attempts, due=due, error=error)

    async def _post(self, session: ClientSession, row: Row, status: str) -> str:
        """Post one receipt; return what went wrong, or an empty text."""
        callback = self._callback
        if callback is None:
            return "switched off"
        body = json.dumps(_body(row, status, moment(self._clock.now()))).encode()
        timestamp = str(int(self._now()))
        headers = {
            "Content-Type": "application/json",
            "X-Sandbox-Extension": LABEL,
            "X-Sandbox-Timestamp": timestamp,
            "X-Sandbox-Signature": signature(callback.secret, timestamp, body),
            "X-Sandbox-Attempt": str(row["attempts"] + 1),
        }
        try:
            async with session.post(callback.address, data=body, headers=headers, allow_redirects=False) as reply:
                return "" if 200 <= reply.status < 300 else f"answered with {reply.status}"
        except TimeoutError:
            return f"no answer within {ANSWER_WITHIN:g} s"
        except (ClientError, OSError) as error:
            return f"not answered ({type(error).__name__})"


def _body(row: Row, status: str, at: str) -> dict[str, Any]:
    why = "the number is reserved for failures" if status == "failed" else None
    told = {"id": row["id"], "to": row["number"], "status": status, "reason": why, "at": at}
    return told | {"extension": LABEL}


def _told(row: Row) -> dict[str, Any]:
    return {
        "id": row["id"],
        "to": row["number"],
        "state": row["state"],
        "attempts": row["attempts"],
        "error": row["error"] or None,
        "due": moment(row["due"]),
    }
