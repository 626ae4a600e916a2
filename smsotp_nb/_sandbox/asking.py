"""What a `Sandbox` asks its service: over HTTP also in the same process, so that one elsewhere is no special case.

The tokens of this user's sandboxes are kept for their other processes, each in a file called by its port.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit

from .. import _wire as wire
from .._calling import given, in_our_words, refuse
from .._own_files import READ_WRITE, OwnFiles, private_folder
from ..errors import NotAsExpected, SmsOtpError, UsageError
from ..settings import Secret, state_folder

Found = TypeVar("Found")

ANSWER_WITHIN: Final = 90.0  # seconds; waiting takes up to 80
WHOLE_WITHIN: Final = 600.0  # seconds for all of an answer: an inbox may hold a million messages
MOST_BYTES: Final = 1 << 30  # of one
GLANCE: Final = 1.0  # seconds that a repr or a card may take: a traceback prints them, too


class Asking:
    """Questions to the service at an address, with the token that it asks for."""

    def __init__(self, url: str, token: str | None) -> None:
        self.url = url
        self.token = None if token is None else Secret(token)

    def get(self, path: str, read: Callable[[Any], Found]) -> Found:
        return self.understood(self.call("GET", path), read)

    def understood(self, reply: Any, read: Callable[[Any], Found]) -> Found:
        """Return a reply, read by a function; what is no reply of a sandbox is an error of ours."""
        try:
            return read(reply)
        except SmsOtpError:
            raise
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
            raise SmsOtpError(f"What answers at {self.url} is not a sandbox of this version.") from None

    def call(
        self, method: str, path: str, fields: Mapping[str, Any] | None = None, *, within: float = ANSWER_WITHIN
    ) -> Any:
        return good(*self.answer(method, path, fields, within=within))

    @in_our_words  # the token is among its variables, and properties are not wrapped
    def answer(
        self, method: str, path: str, fields: Mapping[str, Any] | None = None, *, within: float = ANSWER_WITHIN
    ) -> tuple[int, Any]:
        """Return the status and the object of a reply, whatever they are."""
        body = None if fields is None else written(fields)
        where = urlsplit(self.url)
        connection = http.client.HTTPConnection(where.hostname or "", where.port, timeout=within)
        headers = {"Content-Type": "application/json"} if body else {}
        headers |= {} if self.token is None else {"Authorization": f"Bearer {self.token.reveal()}"}
        try:
            connection.request(method, path, body, headers)
            reply = connection.getresponse()
            return reply.status, json.loads(_whole(reply, time.monotonic() + WHOLE_WITHIN))
        except (OSError, http.client.HTTPException, ValueError, RecursionError):
            raise SmsOtpError(
                f"No sandbox answers at {self.url}. Start one with Sandbox(), or check the port."
            ) from None
        finally:
            connection.close()

    def expected(self, fields: Mapping[str, Any], read: Callable[[Any], Found]) -> Found:
        """Return the messages that a test expects, read by a function."""
        odd = [field for field, value in fields.items() if not isinstance(value, str | int | float | bool | None)]
        refuse(*(f"{field}= must be one text or number, got {given(fields[field])}" for field in odd))
        status, reply = self.answer("POST", "/expect.json", fields)
        if status == 409:
            raise self.understood(reply, _not_as_expected)
        return self.understood(good(status, reply), read)


def good(status: int, reply: Any) -> Any:
    if status != 200:
        raise UsageError(str(reply.get("error", status)) if isinstance(reply, dict) else str(status))
    return reply


def written(asked: Mapping[str, Any]) -> bytes:
    """Return what a sandbox is asked for as JSON."""
    refuse(*(f"{name}= must be text or a number, got {given(value)}" for name, value in asked.items() if _odd(value)))
    return json.dumps(asked).encode()


def _odd(value: Any) -> bool:
    try:
        json.dumps(value)
    except (TypeError, ValueError, RecursionError):
        return True
    return False


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


def named(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return keyword arguments as `Expectation.read` names them."""
    spelled = {field: field.replace("template_id", "templateId").replace("_matches", "~") for field in fields}
    return {spelled[field]: value for field, value in fields.items()}


def _masked(words: str) -> str:
    return re.sub(r"\+\d{6,15}", lambda found: wire.mask(found[0]), words)


_OWN = OwnFiles(UsageError)
_LONGEST_TOKEN = 200
_UNKEPT = (OSError, UsageError, ValueError)


def keep_token(url: str, token: str) -> None:
    """Keep the token of a sandbox; where that cannot be done, `Sandbox.at` needs it as an argument."""
    with contextlib.suppress(*_UNKEPT):
        place = _place(url)
        private_folder(state_folder().parent)
        for folder in (state_folder(), place.parent):
            _OWN.make_folder(folder)
        with open(_OWN.open(place, os.O_CREAT | os.O_TRUNC | READ_WRITE), "w", encoding="ascii") as file:
            file.write(token)


def kept_token(url: str) -> str | None:
    """Return the token of this user's sandbox at an address, if one was kept."""
    with contextlib.suppress(*_UNKEPT):
        return _OWN.read(_place(url), _LONGEST_TOKEN).decode("ascii") or None
    return None


def drop_token(url: str) -> None:
    with contextlib.suppress(*_UNKEPT):
        _place(url).unlink()


def _place(url: str) -> Path:
    return state_folder() / "sandboxes" / str(urlsplit(url).port)
