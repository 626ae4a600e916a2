"""`Sandbox`: a service to build against, in this process or reached in another one."""

from __future__ import annotations

import http.client
import json
import os
import re
import ssl
import uuid
import weakref
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, fields
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlencode, urlsplit

from .. import _cards as cards
from .. import _wire as wire
from .._services import SandboxService
from ..errors import NotAsExpected, SmsOtpError, UsageError
from ..settings import Secret, Settings
from .choices import Rules
from .faults import Fault
from .server import HOST, Server, is_loopback
from .service import millionths
from .wording import templates

if TYPE_CHECKING:
    import pandas as pd

    from .._client import Client

ANSWER_WITHIN = 90.0  # seconds; waiting takes up to 60
_HOLDERS: weakref.WeakValueDictionary[Path, Sandbox] = weakref.WeakValueDictionary()


class Sandbox:
    """Start a local service that implements the interface, with an inbox to look at. It texts nobody.

    It is reached over HTTP on this machine only. It ends with the process, with ``close()``, or when nothing refers to
    it any more; ``with`` is optional.

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
        tenants: give every access key its own inbox, balance, clock, faults and journal; see `tenant`.
        host: address to listen on. One beyond this machine admits others and gives a warning; they can read nothing
            without the `token`.
        allow_hosts: further names by which the sandbox may be addressed, such as that of its container.
        token: token required by everything except the three operations; generated if ``host`` is beyond this machine.
        https: serve with a certificate generated now, in the file `certificate`; needs ``smsotp_nb[https]``.

    Raises:
        UsageError: the port, the state file or a fault cannot be used; the message says what to do.

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
        faults: Iterable[Fault | str] = (),
        tenants: bool = False,
        host: str = HOST,
        allow_hosts: Iterable[str] = (),
        token: str | None = None,
        https: bool = False,
    ) -> None:
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
            tenants=tenants,
            host=host,
            allow_hosts=allow_hosts,
            token=token,
            https=https,
        )
        server.start()
        self._end: Callable[[], object] | None = weakref.finalize(self, _end, server, os.getpid())
        self._url, self._id, self._variant, self._form = server.url, server.account.state.id, variant, form
        self._secret = None if rules is None or rules.secret is None else Secret(rules.secret)
        self._tenant: Secret | None = None
        self._token = None if server.token is None else Secret(server.token)
        self._certificate: os.PathLike[str] | None = None if server.certificate is None else server.certificate.file()
        if held is not None:
            _HOLDERS[held] = self

    @classmethod
    def at(cls, url: str, *, token: str | None = None, certificate: str | Path | None = None) -> Self:
        """Connect to a sandbox in another process by its address; ``close()`` does not end it.

        Args:
            url: its address. One beyond this machine needs the token.
            token: the token that it printed at startup.
            certificate: the file with its certificate, for ``https``.

        Raises:
            UsageError: the address is not on this machine and there is no token, or the token is wrong.
            SmsOtpError: no sandbox answers there.

        Example:
            >>> with Sandbox() as box:
            ...     Sandbox.at(box.url).id == box.id
            True
        """
        if not is_loopback(url) and token is None:
            raise UsageError(f"a sandbox runs on this machine (http://127.0.0.1:...) or is given token=, got {url!r}")
        box = cls.__new__(cls)
        box._url, box._tenant = url.rstrip("/"), None
        box._token = None if token is None else Secret(token)
        box._certificate = None if certificate is None else Path(certificate)
        about = box._get("/sandbox.json")
        if not isinstance(about, dict) or not {"id", "variant", "form"} <= set(about):
            raise SmsOtpError(f"What answers at {box._url} is no sandbox.")
        box._id, box._variant, box._form = about["id"], about["variant"], about["form"]
        box._secret, box._end = None, None
        return box

    def tenant(self, key: str | None = None, *, label: str = "", **options: Any) -> Self:
        """Open a tenant, an account with its own access key, and return it as a sandbox. Needs
        ``Sandbox(tenants=True)``.

        It is used like any other sandbox and sees only what belongs to its access key: `client` sends with it, and so
        do programs that are given it. ``close()`` or ``with`` ends the tenant and deletes its data.

        Args:
            key: the access key; generated by default. A tenant that already exists is reused and outlives ``close()``.
            label: name of the tenant in ``GET /tenants.json``; the key itself is shown nowhere.
            options: ``balance``, ``seed``, ``variant``, ``form``, ``rules`` as for a separate sandbox (``rules`` with
                the secret of signed requests); by default those of this sandbox.

        Raises:
            UsageError: this sandbox has no tenants, there is no room for another, an option cannot be used, or options
                were given for a tenant that already exists.

        Example:
            >>> with Sandbox(tenants=True) as box, box.tenant(balance=1) as one, box.tenant("job-2") as two:
            ...     _ = one.client().send_otp("+12025550123")
            ...     len(one.inbox), len(two.inbox), two.balance
            (1, 0, Decimal('1000.000000'))
        """
        secret = Secret(uuid.uuid4().hex if key is None else key)
        rules: Rules | None = options.get("rules")
        asked = {"tenant": secret.reveal(), "label": label} | {
            name: _plain(value) for name, value in options.items() if value is not None
        }
        if rules is not None and rules.secret is not None:
            asked["secret"] = rules.secret
        status, found = self._asked("POST", "/tenants.json", json.dumps(asked).encode())
        opened = type(self).__new__(type(self))
        opened._url, opened._tenant = self._url, secret
        opened._token, opened._certificate = self._token, self._certificate
        if status == 409 and not options:
            found = opened._get("/sandbox.json")
        else:
            _good(status, found)
        opened._id, opened._variant, opened._form = found["id"], found["variant"], found["form"]
        opened._secret = self._secret if rules is None or rules.secret is None else Secret(rules.secret)
        opened._end = None if status == 409 else opened._end_tenant
        return opened

    def _end_tenant(self) -> None:
        self._end = None  # another one may be opened with the same key
        with suppress(SmsOtpError):  # the sandbox, or somebody else, has ended it
            self._call("DELETE", "/tenants.json", None)

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
    def id(self) -> str:
        """The sandbox's id: new for every sandbox, and kept by a state file."""
        return self._id

    @property
    def balance(self) -> Decimal:
        """The remaining balance, in the currency of the variant."""
        return Decimal(self._get("/sandbox.json")["balance"])

    @property
    def inbox(self) -> pd.DataFrame:
        """Every accepted message, oldest first, as a frame.

        Columns ``id, to, text, code, channel, iso, currency`` (str), ``parts`` (Int64), ``price`` (float64) and ``at``
        (datetime64[us, UTC]); ``code`` is missing unless the message is a passcode.
        """
        from . import frames  # pandas: not for those who only run the service

        return frames.messages(self._get("/inbox.json")["messages"])

    @property
    def requests(self) -> pd.DataFrame:
        """The last requests to the three operations as received, oldest first, including refused and failed ones.

        Columns ``n, status, size, accepted, reply_size`` (Int64), ``at`` (datetime64[us, UTC]) and, as str, ``action``,
        ``to`` (several numbers separated by blanks), ``outcome`` (accepted, answered, refused, or struck by a fault),
        ``code``, ``fault``, ``signing``, ``request_id``, ``method``, ``path``, ``headers`` (one per line), ``body`` and
        ``reply``. Access key, signature, tokens and cookies are masked. The first 64 KiB of a body or reply are kept,
        and the last 5,000 requests or 16 MiB of them.

        Example:
            >>> with Sandbox() as box:
            ...     _ = box.client().send_otp("+12025550123")
            ...     box.requests[["action", "to", "outcome"]].iloc[0].tolist()
            ['otp.send', '+12025550123', 'accepted']
        """
        from . import frames  # pandas: not for those who only run the service

        return frames.requests(self._get("/requests.json")["requests"])

    def code(self, to: str, *, wait: float = 0.0) -> str | None:
        """Return the passcode last sent to a number, or None; ``wait`` up to this many seconds for the first one.

        Example:
            >>> with Sandbox() as box:
            ...     print(box.code("+12025550123"))
            None
        """
        asked = urlencode({"to": to, "kind": "passcode", "newest": 1, "limit": 1, "wait": wait})
        found = self._get(f"/inbox.json?{asked}")["messages"]
        return str(found[0]["code"]) if found else None

    def expect(self, given: Mapping[str, Any] | None = None, /, **fields: Any) -> pd.DataFrame:
        """Check that the expected messages were accepted, and return them as a frame like `inbox`.

        Args:
            given: an expectation as ``POST /expect.json`` takes it: ``{"to": "+12025550123", "text~": "code"}``.
            fields: the same as keyword arguments. ``to, text, code, channel, iso, kind, intent, signature, template_id,
                id, parts`` must be equal; with the suffix ``_matches`` a regular expression (RE2) must match somewhere
                in the field. ``times`` is the exact number of messages (default: at least one), ``within`` the seconds
                to wait for them, or with ``times=0`` the seconds in which none may come, ``after`` the number of the
                last message to ignore.

        Raises:
            NotAsExpected: an AssertionError that says what was expected, what was found and what came nearest,
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

        asked = dict(given or {}) | {_name(field): value for field, value in fields.items()}
        status, found = self._asked("POST", "/expect.json", json.dumps(asked).encode())
        if status == 409:
            near = tuple(_masked(words) for words in found["misses"])
            lines = "".join(f"\n  nearest: {words}" for words in near)
            raise NotAsExpected(_masked(found["error"]) + lines, found=found["found"], misses=near)
        return frames.messages(_good(status, found)["messages"])

    def clear(self) -> None:
        """Delete every accepted message; balance and passcodes are kept.

        Example:
            >>> with Sandbox() as box:
            ...     _ = box.client().send_otp("+12025550123")
            ...     box.clear()
            ...     len(box.inbox)
            0
        """
        self._call("DELETE", "/inbox.json", None)

    def top_up(self, amount: str | float | Decimal) -> Decimal:
        """Add to the balance and return the new one.

        Example:
            >>> with Sandbox(balance=0) as box:
            ...     box.top_up("2.50")
            Decimal('2.500000')
        """
        return Decimal(self._post("/balance.json", {"add": str(wire.amount(millionths(amount)))})["balance"])

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
        return datetime.fromisoformat(self._post("/clock.json", {"advance": seconds})["now"])

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
            >>> with Sandbox() as box:
            ...     box.send_receipts("http://127.0.0.1:9/receipts", secret="a-secret-of-mine", delay=60)
            ...     _ = box.client().send_message("+12025550123", text="Hi")
            ...     box.receipts["waiting"], box.receipts["extension"]
            (1, 'not part of the interface')
        """
        self._post("/receipts.json", {"url": url, "secret": secret, **settings})

    def stop_receipts(self) -> None:
        """Stop posting receipts, and discard those that wait."""
        self._call("DELETE", "/receipts.json", None)

    @property
    def receipts(self) -> dict[str, Any]:
        """Where receipts go, how many are waiting, posted or abandoned, and the last 100 of them, newest first."""
        found: dict[str, Any] = self._get("/receipts.json")
        return found

    @property
    def ahead(self) -> float:
        """Seconds that the sandbox's clock is ahead of the machine's; negative if it is behind."""
        return float(self._get("/clock.json")["ahead"])

    @property
    def faults(self) -> tuple[Fault, ...]:
        """The faults that are switched on."""
        return tuple(Fault(**fault) for fault in self._get("/faults.json")["faults"])

    def fault(self, kind: str, **settings: Any) -> None:
        """Switch on a fault: a kind from docs/sandbox.md, with ``action, share, next, seconds, jitter, status``.

        Example:
            >>> with Sandbox() as box:
            ...     box.fault("throttle", next=1, seconds=2)
            ...     [fault.describe() for fault in box.faults]
            ['throttle, next 1, seconds 2']
        """
        self.switch_on(Fault(kind=kind, **settings))

    def switch_on(self, fault: Fault | str | Mapping[str, Any]) -> None:
        """Switch on a fault in the form in which it is given to a new sandbox.

        Example:
            >>> with Sandbox() as box:
            ...     box.switch_on("throttle next=1 seconds=2")
            ...     [fault.describe() for fault in box.faults]
            ['throttle, next 1, seconds 2']
        """
        told = asdict(Fault.read(fault))
        self._post("/faults.json", {name: value for name, value in told.items() if value is not None})

    def clear_faults(self, kind: str | None = None) -> None:
        """Switch off the faults of one kind, or all of them."""
        self._call("DELETE", "/faults.json" if kind is None else f"/faults.json?{urlencode({'kind': kind})}", None)

    def client(self, **settings: Any) -> Client:
        """Return a client of this sandbox. Keyword arguments, such as timeouts, go to `Settings`.

        Example:
            >>> with Sandbox() as box:
            ...     box.client().service == "sandbox:" + box.id
            True
        """
        from .._client import Client  # only here does the sandbox know the client

        settings = {
            name: Secret.of(value) if name.startswith("access_key") else value for name, value in settings.items()
        }
        chosen: dict[str, Any] = {
            "base_url": self._url,
            "access_key_id": self._tenant or "sandbox",
            "access_key_secret": self._secret,
            "variant": self._variant,
            "form": self._form,
            "service": SandboxService.of(self._id, self._url),
        }
        if self._secret is not None:
            chosen["access_key_secret"] = self._secret
        if self._certificate is not None:
            chosen["ca_bundle"] = str(self._certificate)
        client = Client(Settings(**(chosen | settings)))
        client.sandbox = self
        return client

    def close(self) -> None:
        """End the sandbox, unless it has ended, runs in another process, or is a tenant that existed before."""
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
        link = f'<a href="{self._url}" target="_blank" rel="noopener">Open the inbox</a>'
        return f'{self.card().html()}<p class="mathjax_ignore" style="margin:.3em 0">{link}</p>'

    def _summary(self) -> str:
        try:
            about = self._get("/sandbox.json")
        except SmsOtpError:
            return "not running"
        if about["tenants"]:
            return "an account for every access key"
        balance = Decimal(about["balance"])
        messages = f"{about['messages']:,} message{'' if about['messages'] == 1 else 's'}"
        return f"{messages}, balance {about['currency']} {balance:,.2f}"

    # Over HTTP also in the same process, so that a sandbox elsewhere is no special case.

    def _get(self, path: str) -> Any:
        return self._call("GET", path, None)

    def _post(self, path: str, fields: dict[str, Any]) -> Any:
        return self._call("POST", path, json.dumps(fields).encode())

    def _call(self, method: str, path: str, body: bytes | None) -> Any:
        return _good(*self._asked(method, path, body))

    def _asked(self, method: str, path: str, body: bytes | None) -> tuple[int, Any]:
        where = urlsplit(self._url)
        if self._tenant is not None and path != "/":
            path += f"{'&' if '?' in path else '?'}{urlencode({'tenant': self._tenant.reveal()})}"
        connection: http.client.HTTPConnection | None = None
        headers = {"Content-Type": "application/json"} if body else {}
        headers |= {} if self._token is None else {"Authorization": f"Bearer {self._token.reveal()}"}
        try:
            connection = self._connection(where.hostname or "", where.port)
            connection.request(method, path, body, headers)
            reply = connection.getresponse()
            return reply.status, json.loads(reply.read())
        except (OSError, http.client.HTTPException, ValueError):
            raise SmsOtpError(
                f"No sandbox answers at {self._url}. Start one with Sandbox(), or check the port."
            ) from None
        finally:
            if connection is not None:
                connection.close()

    def _connection(self, host: str, port: int | None) -> http.client.HTTPConnection:
        if urlsplit(self._url).scheme != "https":
            return http.client.HTTPConnection(host, port, timeout=ANSWER_WITHIN)
        trusted = ssl.create_default_context(cafile=self.certificate)
        return http.client.HTTPSConnection(host, port, timeout=ANSWER_WITHIN, context=trusted)


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
            f"{what} needs a Client, got {type(service).__name__}; Sandbox().client() is one to try, "
            "Client(Settings.from_env()) speaks to the service"
        )
    return service


def _good(status: int, found: Any) -> Any:
    if status != 200:
        raise UsageError(str(found.get("error", status)) if isinstance(found, dict) else str(status))
    return found


def _plain(option: Any) -> Any:
    """Return an option of a tenant as JSON; templates in a file are read here, on the side that named it."""
    if not isinstance(option, Rules):
        return str(option) if isinstance(option, Decimal) else option
    switches = {one.name: getattr(option, one.name) for one in fields(Rules) if one.name not in ("secret", "templates")}
    return switches if option.templates is None else switches | {"templates": dict(templates(option.templates))}


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


def _end(server: Server, pid: int) -> None:
    if os.getpid() == pid:  # a forked child holds no thread of its parent
        server.close()
