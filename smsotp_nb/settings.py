"""Where the service is and how to speak to it: from arguments or from the environment, never guessed.

The only room that reads ``os.environ``.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn, get_args
from urllib.parse import urlsplit

from .errors import UsageError
from .wire import Form, Variant

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
_TEXTS = ("base_url", "access_key_id", "access_key_secret", "variant", "form", "ca_bundle")
_TIMES = ("connect_timeout", "read_timeout", "deadline")
HOW_TO_SET = (
    "Set SMSOTP_BASE_URL and SMSOTP_ACCESS_KEY_ID (and SMSOTP_VARIANT=cn for mainland China), or pass "
    "Settings(base_url=..., access_key_id=...). To try everything without an account, use Sandbox().client()."
)


class Secret:
    """A value that shows itself only to ``reveal()``: not in a repr, a format, a pickle, ``vars`` or a traceback.

    Example:
        >>> print(Secret("abc"), Secret("abc").reveal())
        *** abc
    """

    __slots__ = ("_reveal",)

    def __init__(self, value: str) -> None:
        def reveal() -> str:
            return value

        self._reveal = reveal

    def reveal(self) -> str:
        return self._reveal()

    def __repr__(self) -> str:
        return "***"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and hmac.compare_digest(self.reveal().encode(), other.reveal().encode())

    def __hash__(self) -> int:
        return hash(self.reveal())

    def __reduce__(self) -> NoReturn:
        raise TypeError("a secret is not pickled; build the settings again where they are needed")


@dataclass(frozen=True, slots=True)
class Settings:
    """Address, variant, access key and timeouts of one service.

    Args:
        base_url: the service's address. ``https``, or ``http`` on loopback only.
        access_key_id: the access key; never shown again.
        access_key_secret: the key's secret, for accounts that ask for signed requests (HMAC mode, beyond the
            interface); with it every request is signed.
        variant: ``"intl"`` or ``"cn"`` (mainland China: signature required).
        form: ``"current"``, or ``"earlier"`` (``text`` not among the alternatives, signature required).
        connect_timeout, read_timeout: longest wait for a connection and for the next bytes, seconds.
        deadline: longest time for one request in all, seconds.
        trust_env: let ``requests`` use the proxies and the certificate bundle that the environment names.
        ca_bundle: path of a file of certificates to trust, in place of the public ones.
        service: an id that replaces the one derived from address, variant and key (the sandbox gives its own).

    Raises:
        UsageError: lists everything wrong with the arguments.

    Example:
        >>> Settings(base_url="http://127.0.0.1:8025", access_key_id="demo")
        Settings(base_url='http://127.0.0.1:8025', access_key_id=***, variant='intl')
    """

    base_url: str = ""
    access_key_id: str | Secret = field(default="", repr=False)
    access_key_secret: str | Secret | None = field(default=None, repr=False, kw_only=True)
    variant: Variant = "intl"
    form: Form = "current"
    connect_timeout: float = 10.0
    read_timeout: float = 30.0
    deadline: float = 60.0
    trust_env: bool = False
    ca_bundle: str | None = None
    service: str = ""

    def __post_init__(self) -> None:
        for name in ("access_key_id", "access_key_secret"):
            if isinstance(getattr(self, name), str):
                object.__setattr__(self, name, Secret(getattr(self, name)))
        wrong = _check(self)
        if wrong:
            raise UsageError("Settings cannot be used: " + "; ".join(wrong) + ". " + HOW_TO_SET, problems=tuple(wrong))
        object.__setattr__(self, "base_url", self.base_url.rstrip("/"))

    @classmethod
    def from_env(cls, environ: Mapping[str, str] | None = None, **overrides: Any) -> Settings:
        """Build settings from ``SMSOTP_*`` variables; keyword arguments win.

        Read are ``SMSOTP_BASE_URL``, ``SMSOTP_ACCESS_KEY_ID``, ``SMSOTP_ACCESS_KEY_SECRET``, ``SMSOTP_VARIANT``,
        ``SMSOTP_FORM``, ``SMSOTP_CA_BUNDLE``, ``SMSOTP_CONNECT_TIMEOUT``, ``SMSOTP_READ_TIMEOUT``, ``SMSOTP_DEADLINE``.

        Raises:
            UsageError: a variable is missing or unusable; the message says how to set it and how to use the sandbox.

        Example:
            >>> Settings.from_env({"SMSOTP_BASE_URL": "https://sms.example", "SMSOTP_ACCESS_KEY_ID": "demo"}).variant
            'intl'
        """
        # A traceback prints the variables of every frame: what is read here is sealed before anything can be raised.
        found, wrong = _read_environment(os.environ if environ is None else environ)
        del environ
        found.update({name: _sealed(name, value) for name, value in overrides.items()})
        del overrides
        missing = [f"SMSOTP_{name.upper()}" for name in ("base_url", "access_key_id") if not found.get(name)]
        if missing:
            wrong.append(f"No service is set: {' and '.join(missing)} missing. {HOW_TO_SET}")
        if wrong:
            raise UsageError("; ".join(wrong), problems=tuple(wrong))
        return cls(**found)

    def key(self) -> str:
        """Return the access key in the clear, for the one place that puts it on the wire."""
        secret = self.access_key_id
        return secret.reveal() if isinstance(secret, Secret) else secret

    @property
    def service_id(self) -> str:
        """The id under which campaigns of this service are recorded: ``service``, or one derived without the key."""
        return self.service or _service_id(self)

    def __reduce__(self) -> NoReturn:
        raise TypeError("settings hold an access key and are not pickled; build them where they are needed")

    def secret(self) -> str | None:
        """Return the secret in the clear, for the one place that signs with it; None in the simple mode."""
        secret = self.access_key_secret
        return secret.reveal() if isinstance(secret, Secret) else secret

    def __repr__(self) -> str:
        return f"Settings(base_url={self.base_url!r}, access_key_id=***, variant={self.variant!r})"


def ledger_path(environ: Mapping[str, str] | None = None) -> Path:
    """Return the absolute path of this user's ledger: ``SMSOTP_LEDGER``, else a file in the user's data folder.

    Example:
        >>> ledger_path({"SMSOTP_LEDGER": "/data/campaigns.sqlite"}).name
        'campaigns.sqlite'
    """
    environ = os.environ if environ is None else environ
    chosen = environ.get("SMSOTP_LEDGER", "").strip()
    if chosen:
        return Path(chosen).expanduser().absolute()
    return data_folder(environ) / "ledger.sqlite"


def data_folder(environ: Mapping[str, str] | None = None) -> Path:
    """Return the folder of this user's data for this package, by the platform's custom; it may not exist yet."""
    environ = os.environ if environ is None else environ
    home = Path(environ.get("HOME") or environ.get("USERPROFILE") or Path.home())
    if sys.platform == "win32":
        base = Path(environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = home / "Library" / "Application Support"
    else:
        base = Path(environ.get("XDG_DATA_HOME") or home / ".local" / "share")
    return base.absolute() / "smsotp_nb"


def _check(settings: Settings) -> list[str]:
    wrong = []
    for name, value in (("access_key_id", settings.key()), ("access_key_secret", settings.secret())):
        if value is None and name == "access_key_secret":
            continue
        if not isinstance(value, str) or not value.strip():
            wrong.append(f"{name} is empty")
        elif not value.isascii() or not value.isprintable() or " " in value:
            wrong.append(f"{name} holds a blank or a character that is not plain ASCII")
    wrong += _check_url(settings.base_url)
    if settings.variant not in get_args(Variant):
        wrong.append(f"variant must be 'intl' or 'cn', got {settings.variant!r}")
    if settings.form not in get_args(Form):
        wrong.append(f"form must be 'current' or 'earlier', got {settings.form!r}")
    if settings.ca_bundle is not None and not os.path.exists(str(settings.ca_bundle)):
        wrong.append(f"ca_bundle names no file: {settings.ca_bundle}")
    for name in _TIMES:
        seconds = getattr(settings, name)
        if not isinstance(seconds, (int, float)) or not 0 < seconds < 3600:
            wrong.append(f"{name} must be seconds between 0 and 3600, got {seconds!r}")
    return wrong


def _check_url(base_url: str) -> list[str]:
    try:
        parts = urlsplit(base_url)
        host, _port = parts.hostname, parts.port
    except (ValueError, TypeError, AttributeError):
        return ["base_url is not an address"]
    if parts.scheme not in {"http", "https"} or not host:
        return ["base_url must begin with https:// and name a host"]
    if parts.username or parts.password or parts.query or parts.fragment:
        return ["base_url must hold no user, query or fragment"]
    if parts.scheme == "http" and host not in LOOPBACK:
        return ["http:// would show the key and every number to the network; use https:// (http only on loopback)"]
    return []


def _read_environment(environ: Mapping[str, str]) -> tuple[dict[str, Any], list[str]]:
    """Return the settings that are set, keys sealed, and what is wrong with them; raises nothing."""
    found: dict[str, Any] = {}
    wrong = []
    for name in (*_TEXTS, *_TIMES):
        value = environ.get(f"SMSOTP_{name.upper()}", "").strip()
        if value and name in _TIMES:
            try:
                found[name] = float(value)
            except ValueError:
                wrong.append(f"SMSOTP_{name.upper()} must be a number of seconds, got {value!r}")
        elif value:
            found[name] = value.lower() if name in ("variant", "form") else _sealed(name, value)
    return found, wrong


def _sealed(name: str, value: Any) -> Any:
    return Secret(value) if name.startswith("access_key") and isinstance(value, str) else value


def _service_id(settings: Settings) -> str:
    """Name the account without showing its key: address, variant and a keyed hash of the access key id."""
    digest = hmac.new(b"smsotp_nb service id", settings.key().encode(), hashlib.sha256).hexdigest()[:12]
    parts = urlsplit(settings.base_url)  # one service however its address is spelled: two would be two campaigns
    port = "" if parts.port in {None, 443 if parts.scheme == "https" else 80} else f":{parts.port}"
    return f"{parts.scheme}://{parts.hostname}{port}{parts.path}|{settings.variant}|{digest}"
