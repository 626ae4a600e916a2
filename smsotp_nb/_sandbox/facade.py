"""`Sandbox`: a service to build against, in this process or reached in another one."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import secrets
import weakref
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar, get_args
from urllib.parse import urlencode, urlsplit

from .. import _cards as cards
from .. import _wire as wire
from .._amounts import exact
from .._calling import (
    given,
    in_our_words,
    nearest,
    not_a,
    not_all_text,
    not_choice,
    not_list,
    not_mapping,
    not_number,
    not_path,
    not_text,
    not_whole,
    refuse,
)
from .._calling import given as shown
from .._lazy import needed_for
from .._own_files import READ_WRITE, OwnFiles, private_folder
from .._services import SandboxService
from ..errors import ExpectationError, SmsOtpError, UsageError
from ..settings import Secret, Settings, state_folder
from .access import HOST, is_loopback, not_token
from .choices import Rules
from .service import millionths
from .testing.faults import Fault

if TYPE_CHECKING:
    import pandas as pd

    from .._client import Client
    from .server import Server

_HOLDERS: weakref.WeakValueDictionary[Path, Sandbox] = weakref.WeakValueDictionary()


class Sandbox:
    """Start a local service that implements the interface, with an inbox to look at. It texts nobody.

    It is reached over HTTP, on this machine unless you give a ``host``. It ends with the process, with ``close()``, or
    when nothing refers to it any more; ``with`` is optional.

    Args:
        port: port to listen on; 0 takes a free one.
        state: a file that keeps inbox, balance and passcodes, even over a crash. Without it they end with the sandbox.
            If another sandbox of this process holds the file, that one is closed first, so that a notebook's cell can
            be run again.
        variant: ``"intl"`` (USD) or ``"cn"`` (CNY, signature required).
        form: ``"current"``, or ``"earlier"`` (``count`` for ``parts``, no ``text``, signature required).
        balance: balance of a new state (default 1000).
        seed: makes message ids and passcodes of a new state repeatable.
        rules: choices where the interface is silent, your own templates, signed requests; see docs/sandbox.md.
        faults: faults from the start, such as ``"drop_after next=1"``; `fault` switches on more.
        host: address to listen on. One beyond this machine admits others and gives a warning; they can read nothing
            without the `token`.
        allow_hosts: further names by which the sandbox may be addressed, such as that of its container.
        token: token required by everything except the three operations, of ASCII without blanks; by default a generated
            one. Its page and other users of the machine need it; your own processes find it by the address.

    Raises:
        UsageError: the port, the state file, the token or a fault cannot be used; the message says what to do.

    Example:
        >>> box = Sandbox(balance=10)
        >>> box.balance, len(box.inbox)
        (Decimal('10.000000'), 0)
        >>> box.close()
    """

    @in_our_words
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
        faults: Iterable[Fault | str] = (),
        host: str = HOST,
        allow_hosts: Iterable[str] = (),
        token: str | None = None,
    ) -> None:
        with needed_for("a Sandbox"):  # aiohttp: not for those who only speak to a service
            from .server import Server

        names = [allow_hosts] if isinstance(allow_hosts, str) else allow_hosts
        seedless = isinstance(seed, bool) or not isinstance(seed, int | str | None)
        refuse(
            not_whole("port", port, least=0, most=65_535),
            None if state is None else not_path("state", state, example="'sandbox.sqlite'") or _a_folder(state),
            not_choice("variant", variant, get_args(wire.Variant)),
            not_choice("form", form, get_args(wire.Form)),
            f"seed= must be a whole number or text, got {shown(seed)}" if seedless else None,
            None if rules is None else not_a("rules", rules, Rules, wanted="a sandbox.Rules(...)"),
            not_list("faults", faults, of="faults, such as ['drop_after next=1']"),
            not_text("host", host) or (None if host.isprintable() else f"host= must be a name, got {shown(host)}"),
            not_list("allow_hosts", names, of="names") or not_all_text("allow_hosts", [*names]),
            None if token is None else not_token("token=", token),
        )
        held = None if state is None else Path(state).expanduser().resolve()
        holder = None if held is None else _HOLDERS.get(held)
        if holder is not None:
            holder.close()
        server = Server(
            port=port,
            state=state,
            variant=variant,
            form=form,
            balance=balance,
            seed=seed,
            rules=rules,
            faults=faults,
            host=host,
            allow_hosts=names,
            token=token or secrets.token_urlsafe(24),
        )
        server.start()
        keep_token(server.url, str(server.token))
        self._end: weakref.finalize[[Server, int], Sandbox] | None = weakref.finalize(self, _end, server, os.getpid())
        self._asking = Asking(server.url, server.token)
        self._id, self._variant, self._form = server.account.state.id, variant, form
        self._secret = None if rules is None else Secret.of(rules.secret)
        if held is not None:
            _HOLDERS[held] = self

    @classmethod
    @in_our_words
    def at(cls, url: str, *, token: str | None = None) -> Self:
        """Connect to a sandbox in another process by its address; ``close()`` does not end it.

        Args:
            url: its address. One beyond this machine needs the token.
            token: its token; not needed where a process of yours runs it on this machine.

        Raises:
            UsageError: the address is not on this machine and there is no token, or the token is wrong.
            SmsOtpError: no sandbox answers there.

        Example:
            >>> with Sandbox() as box:
            ...     Sandbox.at(box.url).id == box.id
            True
        """
        refuse(
            not_text("url", url, hint="; it is a sandbox's address, such as box.url"),
            None if token is None else not_token("token=", token),
        )
        if urlsplit(url).scheme != "http" or not (is_loopback(url) or token):
            raise UsageError(f"a sandbox runs on this machine (http://127.0.0.1:...) or is given token=, got {url!r}")
        box = cls.__new__(cls)
        box._asking = Asking(url.rstrip("/"), token or kept_token(url))
        box._id, box._variant, box._form = box._asking.get(
            "/sandbox.json", lambda found: (found["id"], found["variant"], found["form"])
        )
        box._secret, box._end = None, None
        return box

    @property
    def id(self) -> str:
        """The sandbox's id: new for every sandbox, and kept by a state file."""
        return self._id

    @property
    def service(self) -> str:
        """The id of the service under which campaigns are recorded that are rehearsed here, as a client has it."""
        return SandboxService.of(self._id, self._asking.url)

    @in_our_words
    def client(self, **settings: Any) -> Client:
        """Return a client of this sandbox. Keyword arguments, such as timeouts, go to `Settings`.

        Example:
            >>> with Sandbox() as box:
            ...     box.client().service == "sandbox:" + box.id
            True
        """
        from .._client import Client  # only here does the sandbox know the client

        if self._ended:
            raise UsageError("this sandbox is closed; start another one: box = Sandbox()")
        settings = {
            name: Secret.of(value) if name.startswith("access_key") else value for name, value in settings.items()
        }
        chosen: dict[str, Any] = {
            "base_url": self._asking.url,
            "access_key_id": "sandbox",
            "access_key_secret": self._secret,
            "variant": self._variant,
            "form": self._form,
            "service": self.service,
        }
        unknown = [name for name in settings if name not in Settings.__slots__]
        if unknown:
            close = nearest(unknown[0], Settings.__slots__)
            raise UsageError(
                f"client has no setting {unknown[0]}={close or ';'} there are {', '.join(Settings.__slots__)}"
            )
        client = Client(Settings(**(chosen | settings)))
        client.sandbox = self
        return client

    @property
    def url(self) -> str:
        """The address, ``http://127.0.0.1:<port>``."""
        return self._asking.url

    @property
    def token(self) -> str | None:
        """The token that its page and other users need; None of a command on this machine that was given none."""
        return None if self._asking.token is None else self._asking.token.reveal()

    @property
    def balance(self) -> Decimal:
        """The remaining balance, in the currency of the variant."""
        return self._asking.get("/sandbox.json", lambda found: Decimal(found["balance"]))

    @property
    def inbox(self) -> pd.DataFrame:
        """Every accepted message, oldest first, as a frame.

        Columns ``id, to, text, code, channel, iso, currency`` (str), ``parts`` (Int64), ``price`` (float64) and ``at``
        (datetime64[us, UTC]); ``code`` is missing unless the message is a passcode.
        """
        from . import frames  # pandas: not for those who only run the service

        return self._asking.get("/inbox.json", lambda found: frames.messages(found["messages"]))

    @property
    def requests(self) -> pd.DataFrame:
        """The last requests to the three operations as received, oldest first, including refused and failed ones.

        Columns ``n, status, size, accepted, reply_size`` (Int64), ``at`` (datetime64[us, UTC]) and, as str, ``action``,
        ``to`` (several numbers separated by blanks), ``outcome`` (accepted, answered, refused, or struck by a fault),
        ``code``, ``fault``, ``request_id``, ``method``, ``path``, ``headers`` (one per line), ``body`` and
        ``reply``. Access key, signature, tokens and cookies are masked where they stand beside their names. The first
        64 KiB of a body or reply are kept, and the last 5,000 requests or 16 MiB of them.

        Example:
            >>> with Sandbox() as box:
            ...     _ = box.client().send_otp("+12025550123")
            ...     box.requests[["action", "to", "outcome"]].iloc[0].tolist()
            ['otp.send', '+12025550123', 'accepted']
        """
        from . import frames  # pandas: not for those who only run the service

        return self._asking.get("/requests.json", lambda found: frames.requests(found["requests"]))

    @in_our_words
    def code(self, to: str, *, wait: float = 0.0) -> str | None:
        """Return the passcode last sent to a number, or None; ``wait`` up to this many seconds for the first one.

        Example:
            >>> with Sandbox() as box:
            ...     print(box.code("+12025550123"))
            None
        """
        named = isinstance(to, str) and wire.E164.fullmatch(to)
        wrong = None if named else f"to= must be a number in E.164, with its plus, got {shown(to)}"
        refuse(wrong, not_number("wait", wait, of="seconds"))
        asked = urlencode({"to": to, "kind": "passcode", "newest": 1, "limit": 1, "wait": wait})
        return self._asking.get(
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
            ExpectationError: an AssertionError that says what was expected, what was found and what came nearest,
                including refused and failed requests; numbers are masked.
            UsageError: the expectation cannot be read.

        Example:
            >>> with Sandbox() as box:
            ...     _ = box.client().send_message("+12025550123", text="Your code is 4211.")
            ...     found = box.expect(to="+12025550123", text_matches=r"code is \\d+", times=1, within=5)
            ...     found["text"].tolist()
            ['Your code is 4211.']
        """
        from . import frames  # pandas: not for those who only run the service

        if given is not None:
            refuse(not_mapping("given", given, example="{'text': 'Hi'}"))
        expected = {**(given or {}), **named(fields)}
        return self._asking.expected(expected, lambda found: frames.messages(found["messages"]))

    def clear(self) -> None:
        """Delete every accepted message and every recorded request; balance and passcodes are kept.

        Nothing of them is left in the bytes of the file, if the sandbox has one.

        Example:
            >>> with Sandbox() as box:
            ...     _ = box.client().send_otp("+12025550123")
            ...     box.clear()
            ...     len(box.inbox)
            0
        """
        self._asking.call("DELETE", "/inbox.json")

    @in_our_words
    def top_up(self, amount: str | float | Decimal) -> Decimal:
        """Add to the balance and return the new one.

        Example:
            >>> with Sandbox(balance=0) as box:
            ...     box.top_up("2.50")
            Decimal('2.500000')
        """
        more = {"add": str(wire.amount(millionths(amount)))}
        reply = self._asking.call("POST", "/balance.json", more)
        return self._asking.understood(reply, lambda found: Decimal(found["balance"]))

    @in_our_words
    def advance(self, seconds: float) -> datetime:
        """Move the sandbox's clock forward, so that a lifetime passes without waiting, and return its time.

        Example:
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
        reply = self._asking.call("POST", "/clock.json", {"advance": seconds})
        return self._asking.understood(reply, lambda found: datetime.fromisoformat(found["now"]))

    @property
    def _ahead(self) -> float:
        """Seconds that the sandbox's clock is ahead of the machine's; negative if it is behind."""
        return self._asking.get("/clock.json", lambda found: float(found["ahead"]))

    @property
    def faults(self) -> tuple[Fault, ...]:
        """The faults that are switched on."""
        return self._asking.get("/faults.json", lambda found: tuple(Fault(**fault) for fault in found["faults"]))

    @in_our_words
    def fault(self, kind: str, **settings: Any) -> None:
        """Switch on a fault: a kind from docs/sandbox.md, with ``action, share, next, seconds, jitter, status``.

        Example:
            >>> with Sandbox() as box:
            ...     box.fault("throttle", next=1, seconds=2)
            ...     [fault.describe() for fault in box.faults]
            ['throttle, next 1, seconds 2']
        """
        told = asdict(Fault.read({"kind": kind, **settings}))
        self._asking.call("POST", "/faults.json", {name: value for name, value in told.items() if value is not None})

    @in_our_words
    def clear_faults(self, kind: str | None = None) -> None:
        """Switch off the faults of one kind, or all of them."""
        self._asking.call("DELETE", "/faults.json" if kind is None else f"/faults.json?{urlencode({'kind': kind})}")

    def __repr__(self) -> str:
        return f"Sandbox({self._asking.url}, {self._summary()})"

    def card(self) -> cards.Card:
        """Return a short card: address, balance, messages."""
        asks = " (the page asks for its token)" if self._asking.token else ""
        return cards.Card("Sandbox", self._summary(), closing=f"It texts nobody. Address: {self._asking.url}{asks}")

    def _repr_html_(self) -> str:
        link = f'<a href="{cards.safe(self._asking.url)}" target="_blank" rel="noopener">Open the inbox</a>'
        return f'{self.card().html()}<p class="mathjax_ignore" style="margin:.3em 0">{link}</p>'

    def _summary(self) -> str:
        try:
            reply = self._asking.call("GET", "/sandbox.json", within=GLANCE)
        except SmsOtpError:
            return "not running, or busy"
        try:
            messages = cards.counted(reply["messages"], "message")
            return f"{messages}, balance {cards.money(exact(reply['balance']), reply['currency'], places=2)}"
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
            return "not a sandbox"

    @property
    def _ended(self) -> bool:
        """Whether it was started here and has been closed."""
        return self._end is not None and not self._end.alive

    def close(self) -> None:
        """End the sandbox, unless it has ended or runs in another process."""
        if self._end is not None:
            self._end()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()


def _a_folder(state: object) -> str | None:
    folder = isinstance(state, str | os.PathLike) and Path(state).expanduser().is_dir()
    return f"state={shown(str(state))} is a folder; name a file in it, such as 'sandbox.sqlite'" if folder else None


def client_of(service: Client | Sandbox, *, what: str) -> Client:
    """Return the client to speak through; a sandbox stands for its own. ``what`` needs it, as an error says.

    Raises:
        UsageError: it is neither.

    Example:
        >>> with Sandbox() as box:
        ...     client_of(box, what="a form").sandbox is box
        True
    """
    from .._client import Client

    if isinstance(service, Sandbox):
        return service.client()
    if not isinstance(service, Client):
        raise UsageError(
            f"{what} needs a client, got {shown(service)}; Sandbox() is one to try, connect() speaks to the service"
        )
    return service


def _end(server: Server, pid: int) -> None:
    if os.getpid() == pid:  # a forked child holds no thread of its parent
        drop_token(server.url)
        server.close()


Found = TypeVar("Found")

ANSWER_WITHIN: Final = 90.0  # seconds; waiting takes up to 80
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
        body = None if fields is None else json.dumps(fields, default=float).encode()
        where = urlsplit(self.url)
        connection = http.client.HTTPConnection(where.hostname or "", where.port, timeout=within)
        headers = {"Content-Type": "application/json"} if body else {}
        headers |= {} if self.token is None else {"Authorization": f"Bearer {self.token.reveal()}"}
        try:
            connection.request(method, path, body, headers)
            reply = connection.getresponse()
            return reply.status, json.loads(reply.read())
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


def _not_as_expected(found: Any) -> ExpectationError:
    near = tuple(_masked(words) for words in found["misses"])
    lines = "".join(f"\n  nearest: {words}" for words in near)
    return ExpectationError(_masked(found["error"]) + lines, found=found["found"], misses=near)


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
