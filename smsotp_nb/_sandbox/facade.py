"""`Sandbox`: a service to build against, in this process or reached in another one."""

from __future__ import annotations

import os
import uuid
import weakref
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import fields
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from .. import _wire as wire
from .._arguments import (
    given,
    nearest,
    not_a,
    not_file,
    not_flag,
    not_list,
    not_path,
    not_text,
    not_whole,
    refuse,
)
from .._calls import in_our_words
from .._services import SandboxService
from ..errors import SmsOtpError, UsageError
from ..settings import Secret, Settings
from .choices import Rules
from .faults import Fault
from .gate import not_token
from .remote import Remote, good, written
from .server import HOST, Server, is_loopback
from .wording import templates

if TYPE_CHECKING:
    from .._client import Client

_HOLDERS: weakref.WeakValueDictionary[Path, Sandbox] = weakref.WeakValueDictionary()


class Sandbox(Remote):
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
        token: token required by everything except the three operations, of ASCII without blanks; generated if ``host``
            is beyond this machine.
        https: serve with a certificate generated now, in the file `certificate`; needs ``smsotp_nb[https]``.

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
        tenants: bool = False,
        host: str = HOST,
        allow_hosts: Iterable[str] = (),
        token: str | None = None,
        https: bool = False,
    ) -> None:
        _refuse_wrong(port, state, seed, rules, faults, host, allow_hosts, token)
        refuse(not_flag("tenants", tenants), not_flag("https", https))
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
        self._secret = None if rules is None else Secret.of(rules.secret)
        self._tenant: Secret | None = None
        self._token = None if server.token is None else Secret(server.token)
        self._certificate: os.PathLike[str] | None = None if server.certificate is None else server.certificate.file()
        if held is not None:
            _HOLDERS[held] = self

    @classmethod
    @in_our_words
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
        refuse(
            not_text("url", url, hint="; it is a sandbox's address, such as box.url"),
            None if token is None else not_token("token=", token),
            None if certificate is None else not_file("certificate", certificate),
        )
        if not is_loopback(url) and token is None:
            raise UsageError(f"a sandbox runs on this machine (http://127.0.0.1:...) or is given token=, got {url!r}")
        box = cls.__new__(cls)
        box._url, box._tenant = url.rstrip("/"), None
        box._token = None if token is None else Secret(token)
        box._certificate = None if certificate is None else Path(certificate)
        box._id, box._variant, box._form = box._get("/sandbox.json", _about)
        box._secret, box._end = None, None
        return box

    @in_our_words
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
            asked["secret"] = rules.revealed()
        status, found = self._asked("POST", "/tenants.json", written(asked))
        opened = type(self).__new__(type(self))
        opened._url, opened._tenant = self._url, secret
        opened._token, opened._certificate = self._token, self._certificate
        if status == 409 and not options:
            about = opened._get("/sandbox.json", _about)
        else:
            about = self._understood(good(status, found), _about)
        opened._id, opened._variant, opened._form = about
        opened._secret = self._secret if rules is None or rules.secret is None else Secret.of(rules.secret)
        opened._end = None if status == 409 else opened._end_tenant
        return opened

    def _end_tenant(self) -> None:
        self._end = None  # another one may be opened with the same key
        with suppress(SmsOtpError):  # the sandbox, or somebody else, has ended it
            self._call("DELETE", "/tenants.json", None)

    @property
    def id(self) -> str:
        """The sandbox's id: new for every sandbox, and kept by a state file."""
        return self._id

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
    def _ended(self) -> bool:
        """Whether it was started here and has been closed."""
        return isinstance(self._end, weakref.finalize) and not self._end.alive

    def close(self) -> None:
        """End the sandbox, unless it has ended, runs in another process, or is a tenant that existed before."""
        if self._end is not None:
            self._end()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()


def _a_folder(state: object) -> str | None:
    folder = isinstance(state, str | os.PathLike) and Path(state).expanduser().is_dir()
    return f"state={given(str(state))} is a folder; name a file in it, such as 'sandbox.sqlite'" if folder else None


def _refuse_wrong(
    port: object, state: object, seed: object, rules: object, faults: object, host: object, names: object, token: object
) -> None:
    """Refuse arguments of the wrong kind; the server checks the rest itself."""
    seedless = isinstance(seed, bool) or not isinstance(seed, int | str | None)
    refuse(
        not_whole("port", port, least=0, most=65_535),
        None if state is None else not_path("state", state, example="'sandbox.sqlite'") or _a_folder(state),
        f"seed= must be a whole number or text, got {given(seed)}" if seedless else None,
        None if rules is None else not_a("rules", rules, Rules, wanted="a sandbox.Rules(...)"),
        not_list("faults", faults, of="faults, such as ['drop_after next=1']"),
        not_text("host", host) or (None if str(host).isprintable() else f"host= must be a name, got {given(host)}"),
        not_list("allow_hosts", names, of="names"),
        None if token is None else not_token("token=", token),
    )


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
            f"{what} needs a Client, got {given(service)}; Sandbox().client() is one to try, "
            "Client(Settings.from_env()) speaks to the service"
        )
    return service


def _plain(option: Any) -> Any:
    """Return an option of a tenant as JSON; a file of templates is read here, by the process that names it."""
    if not isinstance(option, Rules):
        return str(option) if isinstance(option, Decimal) else option
    switches = {one.name: getattr(option, one.name) for one in fields(Rules) if one.name not in ("secret", "templates")}
    return switches if option.templates is None else switches | {"templates": dict(templates(option.templates))}


def _end(server: Server, pid: int) -> None:
    if os.getpid() == pid:  # a forked child holds no thread of its parent
        server.close()


def _about(found: Any) -> tuple[Any, Any, Any]:
    """Return what a sandbox says of itself: its id, its variant and the form of its requests."""
    return found["id"], found["variant"], found["form"]
