"""`Sandbox`: a service to build against, in this process or reached in another one."""

from __future__ import annotations

import http.client
import json
import os
import secrets
import time
import weakref
from collections.abc import Iterable, Mapping
from dataclasses import fields
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self, get_args
from urllib.parse import urlencode, urlsplit

from .. import _cards as cards
from .. import _wire as wire
from .._calling import (
    given as describe_value,
)
from .._calling import (
    in_our_words,
    nearest,
    not_a,
    not_all_text,
    not_choice,
    not_list,
    not_number,
    not_path,
    not_text,
    not_whole,
    refuse,
)
from .._services import SandboxService
from .._showing import visible
from ..errors import SmsOtpError, UsageError
from ..settings import Secret, Settings
from . import expectations
from .access import HOST, is_loopback, not_token
from .choices import Rules
from .expectations import Expectation
from .faults import Fault
from .server import Server
from .service import format_money, parse_money
from .tokens import drop_token, keep_token, kept_token

if TYPE_CHECKING:
    import pandas as pd

    from .._client import Client

ANSWER_SECONDS: Final = 90.0  # a long inbox takes its time
GLANCE_SECONDS: Final = 1.0  # that a repr or a card may take: a traceback prints them, too
CODE_POLL_SECONDS: Final = 0.02
_BY_STATE_FILE: weakref.WeakValueDictionary[Path, Sandbox] = weakref.WeakValueDictionary()


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
        rules: choices where the interface is silent, and your own templates; see docs/sandbox.md.
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
        names = [allow_hosts] if isinstance(allow_hosts, str) else allow_hosts
        refuse(
            not_whole("port", port, least=0, most=65_535),
            None if state is None else not_path("state", state, example="'sandbox.sqlite'") or _folder_problem(state),
            not_choice("variant", variant, get_args(wire.Variant)),
            not_choice("form", form, get_args(wire.Form)),
            _seed_problem(seed),
            None if rules is None else not_a("rules", rules, Rules, wanted="a sandbox.Rules(...)"),
            not_list("faults", faults, of="faults, such as ['drop_after next=1']"),
            not_text("host", host) or (None if host.isprintable() else f"host= must be a name, got {host!r}"),
            not_list("allow_hosts", names, of="names") or not_all_text("allow_hosts", [*names]),
            None if token is None else not_token("token=", token),
        )
        path = None if state is None else Path(state).expanduser().resolve()
        holder = None if path is None else _BY_STATE_FILE.get(path)
        if holder is not None:
            holder.close()
        server = Server(
            port=port, state=state, variant=variant, form=form, balance=balance, seed=seed, rules=rules, faults=faults,
            host=host, allow_hosts=names, token=token or secrets.token_urlsafe(24),
        )  # fmt: skip
        server.start()
        keep_token(server.url, str(server.token))
        self._end: weakref.finalize[[Server, int], Sandbox] | None = weakref.finalize(self, _end, server, os.getpid())
        self._endpoint = Endpoint(server.url, server.token)
        self._id, self._variant, self._form = server.state.id, variant, form
        if path is not None:
            _BY_STATE_FILE[path] = self

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
        box._endpoint = Endpoint(url.rstrip("/"), token or kept_token(url))
        box._end = None
        report = box._endpoint.report()
        box._id, box._variant, box._form = report["id"], report["variant"], report["form"]
        return box

    @property
    def id(self) -> str:
        """The sandbox's id: new for every sandbox, and kept by a state file."""
        return self._id

    @property
    def service(self) -> str:
        """The id of the service under which campaigns are recorded that are rehearsed here, as a client has it."""
        return SandboxService.of(self._id, self._endpoint.url)

    @in_our_words
    def client(self, **settings: Any) -> Client:
        """Return a client of this sandbox. Keyword arguments, such as timeouts, go to `Settings`.

        Example:
            >>> with Sandbox() as box:
            ...     box.client().service == "sandbox:" + box.id
            True
        """
        from .._client import Client  # only here does the sandbox know the client

        if self._end is not None and not self._end.alive:
            raise UsageError("this sandbox is closed; start another one: box = Sandbox()")
        known = [field.name for field in fields(Settings)]
        unknown = [name for name in settings if name not in known]
        if unknown:
            suggestion = nearest(unknown[0], known)
            raise UsageError(f"client has no setting {unknown[0]}={suggestion or ';'} there are {', '.join(known)}")
        options: dict[str, Any] = {
            "base_url": self._endpoint.url,
            "access_key_id": "sandbox",
            "variant": self._variant,
            "form": self._form,
            "service": self.service,
        }
        for name, value in settings.items():
            options[name] = Secret.of(value) if name.startswith("access_key") else value
        client = Client(Settings(**options))
        client.sandbox = self
        return client

    @property
    def url(self) -> str:
        """The address, ``http://127.0.0.1:<port>``."""
        return self._endpoint.url

    @property
    def token(self) -> str | None:
        """The token that its page and other users need; None of a command on this machine that was given none."""
        return None if self._endpoint.token is None else self._endpoint.token.reveal()

    @property
    def balance(self) -> Decimal:
        """The remaining balance, in the currency of the variant."""
        return Decimal(self._endpoint.report()["balance"])

    @property
    def inbox(self) -> pd.DataFrame:
        """Every accepted message, oldest first, as a frame.

        Columns ``id, to, text, code, channel, iso, currency`` (str), ``parts`` (Int64), ``price`` (float64) and ``at``
        (datetime64[us, UTC]); ``code`` is missing unless the message is a passcode.
        """
        from . import frames  # pandas: not for those who only run the service

        return frames.messages(self._endpoint.report(messages_after=0)["inbox"])

    @property
    def requests(self) -> pd.DataFrame:
        """The latest requests to the three operations as received, oldest first, including refused and failed ones.

        Columns ``n, status, size, accepted, reply_size`` (Int64), ``at`` (datetime64[us, UTC]) and, as str, ``action``,
        ``to`` (several numbers separated by blanks), ``outcome`` (accepted, answered, refused, or struck by a fault),
        ``code``, ``fault``, ``request_id``, ``method``, ``path``, ``headers`` (one per line), ``body`` and
        ``reply``. Access key, tokens and cookies are masked in ``path`` and ``headers``. The first 64 KiB of a body or
        reply are kept, and the last 5,000 requests or 16 MiB of them.

        Example:
            >>> with Sandbox() as box:
            ...     _ = box.client().send_otp("+12025550123")
            ...     box.requests[["action", "to", "outcome"]].iloc[0].tolist()
            ['otp.send', '+12025550123', 'accepted']
        """
        from . import frames  # pandas: not for those who only run the service

        return frames.requests(self._endpoint.report(requests_after=0)["requests"])

    @in_our_words
    def code(self, to: str, *, wait: float = 0.0) -> str | None:
        """Return the passcode last sent to a number, or None; ``wait`` up to this many seconds for the first one.

        Example:
            >>> with Sandbox() as box:
            ...     print(box.code("+12025550123"))
            None
        """
        is_number = isinstance(to, str) and wire.E164.fullmatch(to)
        refuse(
            None if is_number else f"to= must be a number in E.164, with its plus, got {describe_value(to)}",
            not_number("wait", wait, of="seconds"),
        )
        end = time.monotonic() + wait
        while True:
            inbox = self._endpoint.report(messages_after=0, to=to)["inbox"]
            codes = [message["code"] for message in inbox if message["kind"] == "passcode"]
            if codes:
                return str(codes[-1])
            if time.monotonic() >= end:
                return None
            time.sleep(CODE_POLL_SECONDS)

    @in_our_words
    def expect(self, **expected: Any) -> pd.DataFrame:
        """Check that the expected messages were accepted, and return them as a frame like `inbox`.

        Args:
            expected: ``to, text, code, channel, iso, kind, intent, signature, template_id, id, parts`` must be equal;
                with the suffix ``_matches`` a regular expression must match somewhere in the field. ``times`` is the
                exact number of messages (default: at least one), ``within`` the seconds to wait for them, or with
                ``times=0`` the seconds in which none may come, ``settle`` the seconds in which no further one may come
                once there are ``times`` of them (default: 0), ``after`` the number of the last message to ignore.

        Raises:
            ExpectationError: an AssertionError that says what was expected and which messages came last; numbers and
                passcodes are masked.
            UsageError: the expectation cannot be read.

        Example:
            >>> with Sandbox() as box:
            ...     _ = box.client().send_message("+12025550123", text="Your code is 4211.")
            ...     found = box.expect(to="+12025550123", text_matches=r"code is \\d+", times=1, within=5)
            ...     found["text"].tolist()
            ['Your code is 4211.']
        """
        from . import frames  # pandas: not for those who only run the service

        expectation = Expectation.from_arguments(expected)

        def read_after(n: int) -> list[dict[str, Any]]:
            inbox: list[dict[str, Any]] = self._endpoint.report(messages_after=n)["inbox"]
            return inbox

        return frames.messages(expectations.wait_for(expectation, read_after))

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
        self._endpoint.act("clear")

    @in_our_words
    def top_up(self, amount: str | float | Decimal) -> Decimal:
        """Add to the balance and return the new one.

        Example:
            >>> with Sandbox(balance=0) as box:
            ...     box.top_up("2.50")
            Decimal('2.500000')
        """
        return Decimal(self._endpoint.act("top_up", amount=format_money(parse_money(amount)))["balance"])

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
        problem = not_number("seconds", seconds, of="seconds to move the clock on", least=float("-inf"))
        if problem and isinstance(seconds, timedelta):
            problem += "; of a timedelta give its .total_seconds()"
        refuse(problem)
        return datetime.fromisoformat(self._endpoint.act("advance", seconds=float(seconds))["now"])

    @property
    def _ahead(self) -> float:
        """Seconds that the sandbox's clock is ahead of the machine's; negative if it is behind."""
        return float(self._endpoint.report()["ahead"])

    @property
    def faults(self) -> tuple[Fault, ...]:
        """The faults that are switched on."""
        names = [field.name for field in fields(Fault)]
        return tuple(Fault(**{name: fault[name] for name in names}) for fault in self._endpoint.report()["faults"])

    @in_our_words
    def fault(self, kind: str, **settings: Any) -> None:
        """Switch on a fault: a kind from docs/sandbox.md, with ``action, share, next, seconds, jitter, status``.

        Example:
            >>> with Sandbox() as box:
            ...     box.fault("throttle", next=1, seconds=2)
            ...     [fault.describe() for fault in box.faults]
            ['throttle, next 1, seconds 2']
        """
        fault = Fault.read({"kind": kind, **settings})
        self._endpoint.act("fault", **{field.name: getattr(fault, field.name) for field in fields(Fault)})

    @in_our_words
    def clear_faults(self, kind: str | None = None) -> None:
        """Switch off the faults of one kind, or all of them."""
        self._endpoint.act("clear_faults", kind=kind)

    def __repr__(self) -> str:
        return f"Sandbox({self._endpoint.url}, {self._summary()})"

    def card(self) -> cards.Card:
        """Return a short card: address, balance, messages."""
        hint = " (the page asks for its token)" if self._endpoint.token else ""
        return cards.Card("Sandbox", self._summary(), closing=f"It texts nobody. Address: {self._endpoint.url}{hint}")

    def _repr_html_(self) -> str:
        link = f'<a href="{cards.safe(self._endpoint.url)}" target="_blank" rel="noopener">Open the inbox</a>'
        return f'{self.card().html()}<p class="mathjax_ignore" style="margin:.3em 0">{link}</p>'

    def _summary(self) -> str:
        try:
            report = self._endpoint.report(within=GLANCE_SECONDS)
        except SmsOtpError:
            return "not running, or busy"
        messages = cards.counted(report["messages"], "message")
        return f"{messages}, balance {visible(report['currency'])} {Decimal(report['balance']):,.2f}"

    def close(self) -> None:
        """End the sandbox, unless it has ended or runs in another process."""
        if self._end is not None:
            self._end()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()


def _folder_problem(state: str | Path) -> str | None:
    if not Path(state).expanduser().is_dir():
        return None
    return f"state={describe_value(str(state))} is a folder; name a file in it, such as 'sandbox.sqlite'"


def _seed_problem(seed: object) -> str | None:
    if isinstance(seed, int | str | None) and not isinstance(seed, bool):
        return None
    return f"seed= must be a whole number or text, got {describe_value(seed)}"


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
            f"{what} needs a client, got {describe_value(service)}; Sandbox() is one to try, "
            "connect() speaks to the service"
        )
    return service


def _end(server: Server, pid: int) -> None:
    if os.getpid() == pid:  # a forked child holds no thread of its parent
        drop_token(server.url)
        server.close()


class Endpoint:
    """The address of a sandbox, and the token that it asks for."""

    def __init__(self, url: str, token: str | None) -> None:
        self.url = url
        self.token = None if token is None else Secret(token)

    def report(self, *, within: float = ANSWER_SECONDS, **options: Any) -> dict[str, Any]:
        """Return how the sandbox stands, as `Account.report`.

        Raises:
            UsageError: it refuses to say.
            SmsOtpError: what answers is no sandbox, or nothing does.
        """
        report = self._ask("GET", f"/state.json?{urlencode(options)}", None, within)
        missing = _REPORTED.difference(report)
        if missing:
            raise SmsOtpError(f"What answers at {self.url} is not a sandbox of this version.")
        return report

    def act(self, name: str, **arguments: Any) -> dict[str, Any]:
        """Do something, as `Account.act`, and return how the sandbox stands then."""
        body = json.dumps({"do": name, **arguments}).encode()
        return self._ask("POST", "/act.json", body, ANSWER_SECONDS)

    def _ask(self, method: str, path: str, body: bytes | None, within: float) -> dict[str, Any]:
        address = urlsplit(self.url)
        connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=within)
        headers = {"Content-Type": "application/json"}
        if self.token is not None:
            headers["Authorization"] = f"Bearer {self.token.reveal()}"
        try:
            connection.request(method, path, body, headers)
            reply = connection.getresponse()
            status, value = reply.status, json.loads(reply.read())
        except (OSError, http.client.HTTPException, ValueError, RecursionError):
            raise SmsOtpError(
                f"No sandbox answers at {self.url}. Start one with Sandbox(), or check the port."
            ) from None
        finally:
            connection.close()
        if not isinstance(value, Mapping):
            raise SmsOtpError(f"What answers at {self.url} is not a sandbox of this version.")
        if status != 200:
            raise UsageError(str(value.get("error", status)))
        return dict(value)


_REPORTED: Final = frozenset({"id", "variant", "form", "currency", "balance", "messages", "now", "ahead", "faults"})
