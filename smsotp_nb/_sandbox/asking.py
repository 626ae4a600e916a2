"""Post to a service as a contract suite does: keep every reply as it came, count its cost, stay below a cap.

Written from the interface, not from the client: it must be able to send what no client sends.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import http.client
import json
import ssl
import time
import uuid
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import quote, urlencode, urlsplit

from .. import _wire as wire
from ..errors import UsageError
from ..settings import Settings

JSON: Final = "application/json"
LONGEST_REPLY: Final = 4 << 20


class NotAsked(Exception):
    """Raised when a probe is left out; the text says why."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back: ``code`` is the envelope's, or the HTTP status where there is no envelope."""

    status: int
    code: str
    data: Mapping[str, Any] = field(repr=False)

    @property
    def records(self) -> list[Mapping[str, Any]]:
        """The message records; a passcode has one."""
        found = self.data.get("messages", [self.data] if "price" in self.data else [])
        return [record for record in found if isinstance(record, dict)] if isinstance(found, list) else []

    @property
    def parts(self) -> int:
        """How many parts were billed.

        Raises:
            NotAsked: a record does not say.
        """
        found = [record.get("parts", record.get("count")) for record in self.records]
        if not found or not all(isinstance(one, int) and one > 0 for one in found):
            raise NotAsked(f"the reply ({self.code}) does not say how many parts were billed")
        return sum(found)

    @property
    def price(self) -> int:
        """What was billed, millionths.

        Raises:
            NotAsked: a record does not say.
        """
        found = [wire.micros(record.get("price")) for record in self.records]
        if not found or None in found:
            raise NotAsked(f"the reply ({self.code}) does not say what was billed")
        return sum(one for one in found if one is not None)


@dataclass(slots=True)
class Asker:
    """Speaks to one service.

    Args:
        settings: address, key, variant and form; with a secret every request is signed.
        to: whom to text: a phone of yours.
        signature: the sender's name where one is required; registered, on a live service.
        cap: most that may be spent, millionths; None for no limit (a sandbox).
        part: most that one part to this phone costs, millionths; set aside before each request.
        template: id of a template with one variable, and the variable's name; None where there is none.
        sleep: how a probe waits.
    """

    settings: Settings = field(repr=False)
    to: str = field(repr=False)
    signature: str = "Acme"
    cap: int | None = None
    part: int = 0
    template: tuple[str, str] | None = None
    sleep: Callable[[float], object] = time.sleep
    spent: int = 0
    requests: int = 0

    @property
    def needs_signature(self) -> bool:
        """Whether every message needs a sender's name."""
        return self.settings.variant == "cn" or self.settings.form == "earlier"

    def set_aside(self, parts: int) -> None:
        """Set aside the cost of so many parts.

        Raises:
            NotAsked: they would pass the cap.
        """
        if self.cap is not None and self.spent + parts * self.part > self.cap:
            most = wire.amount(self.spent + parts * self.part)
            raise NotAsked(f"it may bring the cost to {most}, past the cap of {wire.amount(self.cap)}")

    def send(self, content: str = "", *, to: Any = None, **fields: Any) -> Reply:
        """Send a message to the phone of the probe; the arguments replace its usual fields."""
        body = {"to": self.to if to is None else to} | ({"content": content} if content else {}) | fields
        return self.ask("sms.message.send", self._signed_by(body))

    def passcode(self, code: str, **fields: Any) -> Reply:
        """Send a passcode of the probe's own."""
        return self.ask("otp.send", self._signed_by({"to": self.to, "code": code} | fields))

    def verify(self, code: Any, **fields: Any) -> Reply:
        return self.ask("otp.verify", {"to": self.to, "code": code} | fields)

    def is_valid(self, code: str, **fields: Any) -> str:
        """Return the answer to a code: true, false, or the error code."""
        reply = self.verify(code, **fields)
        return str(reply.data.get("valid", "?")).lower() if reply.code == "0" else reply.code

    def _signed_by(self, body: dict[str, Any]) -> dict[str, Any]:
        return {"signature": self.signature} | body if self.needs_signature else body

    def ask(
        self,
        action: str,
        body: Any,
        *,
        content_type: str = JSON,
        query: Mapping[str, str | None] | None = None,
        signed: bool = True,
    ) -> Reply:
        """Post anything; ``query`` replaces pairs of the query, None leaves one out, bytes go as they are.

        Raises:
            NotAsked: no answer came, or the service asked for a pause, so that its answer is not known.
        """
        pairs: dict[str, str | None] = {"action": action, "accessKeyId": self.settings.access_key_id.reveal()}
        if signed and self.settings.access_key_secret is not None:
            pairs |= {"algorithm": "hmac-sha256", "timestamp": str(int(time.time())), "nonce": uuid.uuid4().hex}
        sent = {name: value for name, value in (pairs | dict(query or {})).items() if value is not None}
        if signed and self.settings.access_key_secret is not None:
            sent["signature"] = _digest(sent, self.settings.access_key_secret.reveal())
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.requests += 1
        status, answer = self._post(f"/?{urlencode(sent, quote_via=quote)}", raw, content_type)
        if status == 429:
            raise NotAsked("the service asked for a pause (429)")
        reply = _read(status, answer)
        self._pay(reply)
        return reply

    def _post(self, path: str, raw: bytes, content_type: str) -> tuple[int, bytes]:
        where = urlsplit(self.settings.base_url)
        host, wait = where.hostname or "", self.settings.read_timeout
        if where.scheme == "https":
            context = ssl.create_default_context(cafile=self.settings.ca_bundle)
            connection = http.client.HTTPSConnection(host, where.port, timeout=wait, context=context)
        else:
            connection = http.client.HTTPConnection(host, where.port, timeout=wait)  # type: ignore[assignment]
        with closing(connection):
            try:
                connection.request("POST", where.path + path, raw, {"Content-Type": content_type})
                answer = connection.getresponse()
                return answer.status, answer.read(LONGEST_REPLY)
            except (OSError, http.client.HTTPException):
                pass  # the error names the address with the key: it must not become a context
        self.spent += self.part  # it may have been accepted
        raise NotAsked("no answer came")

    def _pay(self, reply: Reply) -> None:
        """Count the cost of a reply; a part that cost more than expected raises what is set aside from then on."""
        for record in reply.records:
            price = wire.micros(record.get("price"))
            self.spent += self.part if price is None else price
            self.part = max(self.part, 0 if price is None or self.cap is None else price)


def _digest(pairs: Mapping[str, str], secret: str) -> str:
    text = "&".join(f"{name}={pairs[name]}" for name in sorted(pairs))
    return base64.b64encode(hmac.new(secret.encode(), text.encode(), hashlib.sha256).digest()).decode()


def _read(status: int, raw: bytes) -> Reply:
    try:
        envelope = json.loads(raw)
    except (ValueError, RecursionError):
        envelope = None
    if not isinstance(envelope, dict) or not isinstance(envelope.get("code"), str):
        return Reply(status, f"HTTP {status}", {})
    data = envelope.get("data")
    return Reply(status, envelope["code"], data if isinstance(data, dict) else {})


def check(to: str) -> None:
    """Check that a number is E.164.

    Raises:
        UsageError: it is not E.164.
    """
    if not wire.E164.fullmatch(to):
        raise UsageError("to must be a phone of yours in E.164, such as +12025550123")
