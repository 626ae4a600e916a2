"""`Sandbox`: a service to build against, in this process or reached in another one."""

from __future__ import annotations

import http.client
import json
import os
import weakref
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import quote, urlsplit

import pandas as pd

from .. import cards, results, wire
from ..errors import SmsOtpError, UsageError
from ..settings import Settings
from . import inbox
from .choices import Rules
from .server import Server, is_loopback, millionths

if TYPE_CHECKING:
    from ..client import Client

ANSWER_WITHIN = 60.0  # seconds


class Sandbox:
    """Start a local service that answers the interface, with an inbox to look at.

    It is reached over HTTP on this machine only and texts nobody. It ends with the process, with ``close()``, or when
    nothing refers to it any more; ``with`` is optional.

    Args:
        port: 0 takes a free one.
        state: a file that keeps inbox, balance and passcodes, also over a crash; without it they end with the sandbox.
        variant: ``"intl"`` (USD) or ``"cn"`` (CNY, signature required).
        form: ``"current"``, or ``"earlier"`` (``count`` for ``parts``, no ``text``, signature required).
        balance: what a new state begins with (default 1000).
        seed: makes message ids and passcodes of a new state repeatable.
        rules: the choices where the interface is silent, see docs/sandbox.md.

    Raises:
        UsageError: the port or the state file cannot be used; the message says what to do.

    Example:
        >>> box = Sandbox(balance=10)
        >>> box.balance, len(box.inbox)
        (Decimal('10.000000'), 0)
        >>> box.close()
    """

    def __init__(
        self,
        *,
        port: int = 0,
        state: str | Path | None = None,
        variant: wire.Variant = "intl",
        form: wire.Form = "current",
        balance: str | float | Decimal | None = None,
        seed: int | str | None = None,
        rules: Rules | None = None,
    ) -> None:
        server = Server(
            port=port,
            state=state,
            variant=variant,
            form=form,
            balance=balance,
            seed=seed,
            rules=rules,
        )
        server.start()
        self._end: Callable[[], object] | None = weakref.finalize(self, _end, server, os.getpid())
        self._url, self._id, self._variant, self._form = server.url, server.state.id, variant, form

    @classmethod
    def at(cls, url: str) -> Self:
        """Reach a sandbox that runs in another process, by its address; ``close()`` does not end it.

        Raises:
            UsageError: the address is not one of this machine.
            SmsOtpError: no sandbox answers there.

        Example:
            >>> with Sandbox() as box:
            ...     Sandbox.at(box.url).id == box.id
            True
        """
        if not is_loopback(url):
            raise UsageError(f"a sandbox runs on this machine (http://127.0.0.1:...), got {url!r}")
        box = cls.__new__(cls)
        box._url = url.rstrip("/")
        about = box._get("/sandbox.json")
        box._id, box._variant, box._form = about["id"], about["variant"], about["form"]
        box._end = None
        return box

    @property
    def url(self) -> str:
        """The address, ``http://127.0.0.1:<port>``."""
        return self._url

    @property
    def id(self) -> str:
        """The sandbox's own id: new for every sandbox, kept by a state file."""
        return self._id

    @property
    def balance(self) -> Decimal:
        """What is left to spend, in the currency of the variant."""
        return Decimal(self._get("/sandbox.json")["balance"])

    @property
    def inbox(self) -> pd.DataFrame:
        """Every accepted message, oldest first, as a frame.

        Columns ``id, to, text, code, channel, iso, currency`` (str), ``parts`` (Int64), ``price`` (float64) and ``at``
        (datetime64[us, UTC]); ``code`` is missing unless the message is a passcode.
        """
        return _frame(self._get("/inbox.json")["messages"])

    def code(self, to: str) -> str | None:
        """Return the passcode last sent to a number, or None.

        Example:
            >>> with Sandbox() as box:
            ...     print(box.code("+12025550123"))
            None
        """
        found = self._get(f"/inbox.json?to={quote(to, safe='')}")["messages"]
        return next((message["code"] for message in reversed(found) if message["code"]), None)

    def top_up(self, amount: str | float | Decimal) -> Decimal:
        """Add to the balance and return the new one.

        Example:
            >>> with Sandbox(balance=0) as box:
            ...     box.top_up("2.50")
            Decimal('2.500000')
        """
        return Decimal(self._post("/balance.json", {"add": str(wire.amount(millionths(amount)))})["balance"])

    def client(self, **settings: Any) -> Client:
        """Return a client of this sandbox; keyword arguments go to `Settings` (timeouts, for example).

        Example:
            >>> with Sandbox() as box:
            ...     box.client().service == "sandbox:" + box.id
            True
        """
        from ..client import Client  # only here does the sandbox know the client

        chosen: dict[str, Any] = {
            "base_url": self._url,
            "access_key_id": "sandbox",
            "variant": self._variant,
            "form": self._form,
            "service": f"sandbox:{self._id}",
        }
        client = Client(Settings(**(chosen | settings)))
        client.sandbox = self
        return client

    def close(self) -> None:
        """End it; nothing happens when it has ended, or runs in another process."""
        if self._end is not None:
            self._end()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Sandbox({self._url}, {self._summary()})"

    def card(self) -> cards.Card:
        """Return a short card: address, balance, messages."""
        return cards.Card("Sandbox", self._summary(), closing=f"It texts nobody. Address: {self._url}")

    def _repr_html_(self) -> str:
        return self.card().html()

    def _summary(self) -> str:
        try:
            about = self._get("/sandbox.json")
        except SmsOtpError:
            return "not running"
        balance = Decimal(about["balance"])
        return f"{about['messages']:,} messages, balance {about['currency']} {balance:,.2f}"

    # Over HTTP also in the same process, so that a sandbox elsewhere is no special case.

    def _get(self, path: str) -> Any:
        return self._call("GET", path, None)

    def _post(self, path: str, fields: dict[str, Any]) -> Any:
        return self._call("POST", path, json.dumps(fields).encode())

    def _call(self, method: str, path: str, body: bytes | None) -> Any:
        where = urlsplit(self._url)
        connection = http.client.HTTPConnection(where.hostname or "", where.port, timeout=ANSWER_WITHIN)
        try:
            connection.request(method, path, body, {"Content-Type": "application/json"} if body else {})
            reply = connection.getresponse()
            status, raw = reply.status, reply.read()
            found = json.loads(raw)
        except (OSError, http.client.HTTPException, ValueError):
            raise SmsOtpError(
                f"No sandbox answers at {self._url}. Start one with Sandbox(), or check the port."
            ) from None
        finally:
            connection.close()
        if status != 200:
            raise UsageError(str(found.get("error", status)) if isinstance(found, dict) else str(status))
        return found


def _end(server: Server, pid: int) -> None:
    if os.getpid() == pid:  # a forked child holds no thread of its parent
        server.close()


def _frame(messages: list[dict[str, Any]]) -> pd.DataFrame:
    frame = pd.DataFrame(messages, columns=list(inbox.COLUMNS))
    text = ["id", "to", "text", "code", "channel", "iso", "currency"]
    frame[text] = frame[text].astype("str")
    frame["parts"] = frame["parts"].astype("Int64")
    frame["price"] = results.money(frame["price"].map(wire.micros, na_action="ignore"))
    frame["at"] = pd.to_datetime(frame["at"], utc=True).astype("datetime64[us, UTC]")
    return frame
