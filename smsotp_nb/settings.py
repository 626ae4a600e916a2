"""Where the service is and how to reach it: from arguments, the environment or a keyring, never guessed.

This is the only module that reads ``os.environ`` and the keyring.
"""

from __future__ import annotations

import hmac
import ipaddress
import os
import re
import shlex
import socket
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import CellType
from typing import Any, NoReturn, get_args
from urllib.parse import urlsplit

from ._calling import bare, given, in_our_words, not_flag, not_path
from ._services import account_id, claims_rehearsal
from ._wire import Form, Variant
from .errors import UsageError

__all__ = ["Secret", "Settings"]


_SERVERS = ("postgresql:", "postgres:")  # how the address of a ledger's server begins
_SCHEME = re.compile(r"\A(?!file:|sqlite:)[a-z][a-z0-9+.-]{1,31}://")  # of any server, for it may hold a password
# Options of an address, or user and password before a host, where its scheme was left out; not the drive of a path.
_NO_SCHEME = re.compile(r"password\s*=|\A(?![a-z]:[\\/])(?://)?[^\s/:@]+:.*@|/[^\s/:@]+:[^\s/]*@")
TEMPORARY = "temporary"  # in the place of a ledger: no record is wanted that outlasts this machine
# Hosts that lend a machine whose home is new each time or may be, and how their variables begin.
HOSTS: dict[str, tuple[str, ...]] = {
    "Google Colab": ("COLAB_",),
    "Kaggle": ("KAGGLE_KERNEL", "KAGGLE_URL", "KAGGLE_CONTAINER", "KAGGLE_DATA"),
    "Databricks": ("DATABRICKS_RUNTIME_VERSION",),
    "Binder": ("BINDER_",),
    "GitHub Codespaces": ("CODESPACES", "CODESPACE_NAME"),
    "Amazon SageMaker": ("SAGEMAKER_", "STUDIO_LAB", "STUDIO_LOGGING"),
    "Paperspace": ("PAPERSPACE_",),
    "Deepnote": ("DEEPNOTE_",),
    "Hex": ("HEX_PROJECT", "HEX_RUN", "HEX_KERNEL"),
    "Azure Machine Learning": ("AZUREML_",),
    "Google Vertex AI": ("VERTEX_", "CLOUD_ML_", "AIP_"),
    "Saturn Cloud": ("SATURN_",),
    "Datalore": ("DATALORE_",),
    "Domino": ("DOMINO_PROJECT", "DOMINO_RUN"),
    "Gitpod": ("GITPOD_WORKSPACE",),
    "Modal": ("MODAL_TASK",),
    "GitHub Actions": ("GITHUB_ACTIONS",),
    "GitLab CI": ("GITLAB_CI",),
}
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
_KEYS = ("access_key_id", "access_key_secret")
_TEXTS = ("base_url", *_KEYS, "keyring", "variant", "form", "ca_bundle")
_TIMES = ("connect_timeout", "read_timeout", "deadline")
READ_FROM_ENVIRONMENT = (*_TEXTS, *_TIMES)
HOW_TO_SET = (
    "Set SMSOTP_BASE_URL and SMSOTP_ACCESS_KEY_ID (and SMSOTP_VARIANT=cn for mainland China), or pass "
    "Settings(base_url=..., access_key_id=...). To try everything without an account, use Sandbox().client()."
)
NO_KEYRING = "Without a keyring: set SMSOTP_ACCESS_KEY_ID."


class Secret:
    """A value that shows itself only to ``reveal()``: not in a repr, a format, a pickle, ``vars`` or a traceback.

    Example:
        >>> print(Secret("abc"), Secret("abc").reveal())
        *** abc
    """

    __slots__ = ("_cell",)

    def __init__(self, value: Any) -> None:
        self._cell = CellType(value)  # a closure would show it among the variables of its frame

    @classmethod
    def of(cls, value: Any) -> Any:
        """Return a value sealed, whatever it is; None and what is sealed already stay what they are."""
        return value if value is None or isinstance(value, cls) else cls(value)

    def reveal(self) -> str:
        return self._cell.cell_contents  # type: ignore[no-any-return]  # a typed variable would show it

    def __repr__(self) -> str:
        return "***"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and hmac.compare_digest(self.reveal().encode(), other.reveal().encode())

    def __hash__(self) -> int:
        return hash(self.reveal())

    def __reduce__(self) -> NoReturn:
        raise TypeError("a secret cannot be pickled; build the settings again where they are needed")


@dataclass(frozen=True, slots=True, init=False)
class Settings:
    """Address, variant, access key and timeouts of one service.

    Args:
        base_url: address of the service: ``https``, or ``http`` on loopback only.
        access_key_id: the access key. It is never shown again.
        access_key_secret: the key's secret, for accounts that require signed requests (HMAC mode, beyond the
            interface). With it every request is signed.
        variant: ``"intl"``, or ``"cn"`` (mainland China: signature required).
        form: ``"current"``, or ``"earlier"`` (``text`` is not offered, signature required).
        connect_timeout: longest wait for a connection, in seconds.
        read_timeout: longest wait for the next bytes, in seconds.
        deadline: longest time for one request in all, in seconds.
        trust_env: let ``requests`` use the proxies and the certificate bundle of the environment.
        ca_bundle: path of a file of trusted certificates, in place of the public ones.
        service: an id to use in place of the one derived from address, variant and key, such as the id of an earlier
            key of the same account. It cannot begin with ``sandbox:``, because a rehearsal is exempt from some
            safeguards; a sandbox gives its clients an id itself.

    Raises:
        UsageError: the message lists everything wrong with the arguments.

    Example:
        >>> Settings(base_url="http://127.0.0.1:8025", access_key_id="demo")
        Settings(base_url='http://127.0.0.1:8025', access_key_id=***, variant='intl')
    """

    base_url: str
    access_key_id: Secret
    variant: Variant
    form: Form
    connect_timeout: float
    read_timeout: float
    deadline: float
    trust_env: bool
    ca_bundle: str | None
    service: str
    access_key_secret: Secret | None

    @in_our_words
    def __init__(
        self,
        base_url: str = "",
        access_key_id: str | Secret = "",
        variant: Variant = "intl",
        form: Form = "current",
        connect_timeout: float = 10.0,
        read_timeout: float = 30.0,
        deadline: float = 60.0,
        trust_env: bool = False,
        ca_bundle: str | None = None,
        service: str = "",
        *,
        access_key_secret: str | Secret | None = None,
    ) -> None:
        # A traceback may print the variables of every frame. A generated __init__ would keep the bare key among them.
        access_key_id, access_key_secret = Secret.of(access_key_id or ""), Secret.of(access_key_secret)
        for name in self.__slots__:
            object.__setattr__(self, name, locals()[name])
        wrong = _check(self)
        if wrong:
            base_url = ""  # an address that was pasted whole holds the key too
            object.__setattr__(self, "base_url", base_url)
            raise UsageError("Settings cannot be used: " + "; ".join(wrong) + ". " + HOW_TO_SET, problems=tuple(wrong))
        object.__setattr__(self, "base_url", base_url.rstrip("/"))

    @classmethod
    @in_our_words
    def from_env(
        cls, environ: Mapping[str, str] | None = None, *, keyring: str | None = None, **overrides: Any
    ) -> Settings:
        """Build settings from ``SMSOTP_*`` variables; keyword arguments win.

        The variables are ``SMSOTP_BASE_URL``, ``SMSOTP_ACCESS_KEY_ID``, ``SMSOTP_ACCESS_KEY_SECRET``,
        ``SMSOTP_KEYRING``, ``SMSOTP_VARIANT``, ``SMSOTP_FORM``, ``SMSOTP_CA_BUNDLE``, ``SMSOTP_CONNECT_TIMEOUT``,
        ``SMSOTP_READ_TIMEOUT`` and ``SMSOTP_DEADLINE``.

        Args:
            environ: the variables; those of the process by default.
            keyring: take the key from the system's keyring, stored under this service name (such as ``"smsotp_nb"``)
                and the user name ``access_key_id``; the secret of signed requests, if any, under ``access_key_secret``.
                Needs the extra ``smsotp_nb[keyring]``. A key in the environment is then ignored.
            overrides: arguments of ``Settings``.

        Raises:
            UsageError: a variable is missing or unusable, or the keyring has no key. The message says how to set it and
                how to use the sandbox.

        Example:
            >>> Settings.from_env({"SMSOTP_BASE_URL": "https://sms.example", "SMSOTP_ACCESS_KEY_ID": "demo"}).variant
            'intl'
        """
        # A traceback may print the variables of every frame: what is read here is sealed before anything can be raised.
        if environ is not None and not isinstance(environ, Mapping):
            got, environ = given(environ), None
            raise UsageError(f"environ= must be a dict of the variables' names and texts, got {got}")
        found, wrong = _read_environment(os.environ if environ is None else environ)
        overrides = {name: Secret.of(value) if name in _KEYS else value for name, value in overrides.items()}
        environ = None
        no_key = _add_keyring(found, keyring, overrides)
        found.update(overrides)
        overrides = {}
        needed = ("base_url",) if no_key else ("base_url", "access_key_id")
        wrong += no_key
        missing = [f"SMSOTP_{name.upper()}" for name in needed if not found.get(name)]
        if missing:
            wrong.append(f"No service is set: {' and '.join(missing)} missing. {HOW_TO_SET}")
        if wrong:
            found = {}
            raise UsageError("; ".join(wrong), problems=tuple(wrong))
        return cls(found.pop("base_url"), **found)

    def _key(self) -> str:
        """Return the access key in the clear, for the one place that puts it on the wire."""
        return self.access_key_id.reveal()

    @property
    def _service_id(self) -> str:
        """The id under which campaigns of this service are recorded: ``service``, or one derived without the key."""
        return self.service or account_id(self.base_url, self.variant, self._key())

    def __reduce__(self) -> NoReturn:
        raise TypeError("settings hold an access key and cannot be pickled; build them where they are needed")

    def _secret(self) -> str | None:
        """Return the secret in the clear, for the one place that signs with it; None in the simple mode."""
        return self.access_key_secret.reveal() if self.access_key_secret else None

    def __repr__(self) -> str:
        return f"Settings(base_url={self.base_url!r}, access_key_id=***, variant={self.variant!r})"


def sandbox_token() -> str | None:
    """Return the token of a sandbox from ``SMSOTP_SANDBOX_TOKEN``: a process list shows what stands on a command line."""
    return os.environ.get("SMSOTP_SANDBOX_TOKEN") or None


def is_loopback(host: str | None) -> bool:
    """Return whether a host is this machine, by whichever of its names."""
    name = (host or "").rstrip(".").lower()
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        found = ipaddress.ip_address(socket.inet_aton(name) if name[:1].isdigit() and ":" not in name else name)
    except (OSError, ValueError):
        return False
    found = getattr(found, "ipv4_mapped", None) or found
    return found.is_loopback or found.is_unspecified


def is_address(given: object) -> bool:
    """Return whether a text is the address of a server of whichever kind, or may hold a password, and is no path."""
    text = given.strip().lower() if isinstance(given, str) else ""
    return text.startswith(_SERVERS) or bool(_SCHEME.match(text) or _NO_SCHEME.search(text))


@in_our_words  # the environment that it is given holds the key
def ledger_place(environ: Mapping[str, str] | None = None) -> Path | Secret:
    """Return where this user's ledger is: what ``SMSOTP_LEDGER`` says, else a file in the user's data folder.

    ``temporary`` is that file, too, although it may not last (`lent_by`).

    Returns:
        The absolute path of a file, or the address of a server, sealed because it may hold a password by mistake.
    """
    chosen = Secret((os.environ if environ is None else environ).get("SMSOTP_LEDGER", "").strip())
    if chosen.reveal() in ("", TEMPORARY):
        return data_folder(environ) / "ledger.sqlite"
    if is_address(chosen.reveal()):
        return chosen
    try:
        return Path(chosen.reveal()).expanduser().absolute()
    except RuntimeError:
        said = f"SMSOTP_LEDGER begins with the home of a user who is not known here: {chosen.reveal()}"
        raise UsageError(said) from None


def ledger_is_chosen() -> bool:
    """Return whether ``SMSOTP_LEDGER`` says where the record is kept, or that none is wanted that lasts."""
    return bool(os.environ.get("SMSOTP_LEDGER", "").strip())


def lent_by(environ: Mapping[str, str] | None = None) -> str:
    """Return which host lends this machine with a disk that is new each time, and the variable that says so, or ""."""
    names = {name for name, value in (os.environ if environ is None else environ).items() if value.strip()}
    environ = None  # a traceback may print the variables of every frame, and this one holds the key
    signs = ((host, name) for name in sorted(names) for host, begun in HOSTS.items() if name.startswith(begun))
    return next((f"{host} ({name} is set)" for host, name in signs), "")


def data_folder(environ: Mapping[str, str] | None = None) -> Path:
    """Return the folder of this user's data for this package, by the platform's custom; it may not exist yet."""
    return _user_folder(*_folder_names(environ, "XDG_DATA_HOME"), custom="share")


def state_folder(environ: Mapping[str, str] | None = None) -> Path:
    """Return the folder of what this package remembers for this user between runs; it may not exist yet."""
    return _user_folder(*_folder_names(environ, "XDG_STATE_HOME"), custom="state")


def _folder_names(environ: Mapping[str, str] | None, chosen: str) -> tuple[str, ...]:
    found = os.environ if environ is None else environ
    return tuple(found.get(name, "") for name in ("HOME", "USERPROFILE", "LOCALAPPDATA", chosen))


def _user_folder(user: str, profile: str, local: str, chosen: str, *, custom: str) -> Path:
    home = Path(user or profile or Path.home())
    if sys.platform == "win32":
        base = Path(local or home / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = home / "Library" / "Application Support"
    else:
        base = Path(chosen or home / ".local" / custom)
    return base.absolute() / "smsotp_nb"


def _check(settings: Settings) -> list[str]:
    wrong = []
    for name, value in zip(_KEYS, (settings._key(), settings._secret()), strict=True):
        if value is None and name == "access_key_secret":
            continue
        if not isinstance(value, str):
            wrong.append(f"{name} must be text")
        elif not value.strip():
            wrong.append(f"{name} is empty")
        elif not value.isascii() or not value.isprintable() or " " in value:
            wrong.append(f"{name} holds a blank or a character that is not plain ASCII")
    wrong_address = _check_url(settings.base_url)
    wrong += wrong_address
    if settings.variant not in get_args(Variant):
        wrong.append(f"variant must be 'intl' or 'cn', got {settings.variant!r}")
    if settings.form not in get_args(Form):
        wrong.append(f"form must be 'current' or 'earlier', got {settings.form!r}")
    if not isinstance(settings.service, str):
        wrong.append("service must be text")
    elif not wrong_address and claims_rehearsal(settings.service, settings.base_url):
        wrong.append("service must not begin with 'sandbox:'; Sandbox.at(address).client() speaks to a sandbox")

    bundle = settings.ca_bundle  # not a truth value: False would be a file of that name, and then no verification
    no_path = None if bundle is None else not_path("ca_bundle", bundle, example="'authority.pem'")
    if bundle is not None and not no_path and not os.path.exists(bundle):
        no_path = f"ca_bundle: file not found: {bundle}"
    wrong += filter(None, [no_path])
    wrong += filter(None, [not_flag("trust_env", settings.trust_env)])
    for name in _TIMES:
        seconds = getattr(settings, name)
        if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not 0 < seconds < 3600:
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
    for name in READ_FROM_ENVIRONMENT:
        value = str(environ.get(f"SMSOTP_{name.upper()}") or "").strip()
        if value and name in _TIMES:
            try:
                found[name] = float(value)
            except ValueError:
                wrong.append(f"SMSOTP_{name.upper()} must be a number of seconds, got {value!r}")
        elif value:
            found[name] = value.lower() if name in ("variant", "form") else Secret(value) if name in _KEYS else value
    return found, wrong


def _add_keyring(found: dict[str, Any], named: str | None, given: Mapping[str, Any]) -> list[str]:
    """Put the keys of the keyring among the settings if one is named, and return what is wrong; raises nothing.

    An argument wins over the environment; two places for the key on one level are refused, for neither is meant more.
    """
    service = found.pop("keyring", None)
    if named is None and (service is None or "access_key_id" in given):
        return []
    if named is None:
        doubled = [f"SMSOTP_KEYRING and SMSOTP_{name.upper()} are both set" for name in _KEYS if name in found]
    else:
        service = named
        doubled = [f"keyring= and {name}= are both given" for name in _KEYS if name in given]
        for name in _KEYS:
            found.pop(name, None)
    if doubled:
        return [f"{'; '.join(doubled)}: keep one of them"]
    if not isinstance(service, str) or not service.strip():
        return ["keyring must be the service name under which the keyring holds the key, such as 'smsotp_nb'"]
    keys, trouble = _read_keyring(service)
    found.update(keys)
    return [f"no key from the keyring (service {service!r}): {trouble}"] if trouble else []


def _read_keyring(service: str) -> tuple[dict[str, Secret], str]:
    """Return what the keyring holds for a service, sealed, and in words why it holds no key."""
    read = _asked_keyring(service)
    if isinstance(read, Exception):
        return {}, f"{_keyring_trouble(read)}. {NO_KEYRING}"
    if isinstance(read, BaseException):
        raise read
    keys = {name: value for name, value in read.items() if value.reveal()}
    if "access_key_id" in keys:
        return keys, ""
    return {}, f"it holds none; put it there with `keyring set {shlex.quote(service)} access_key_id`. {NO_KEYRING}"


def _asked_keyring(service: str) -> dict[str, Secret] | BaseException:
    """Return what the keyring holds for a service, sealed, or what ended it, without the frames that saw a key."""
    try:
        import keyring

        return {name: Secret((keyring.get_password(service, name) or "").strip()) for name in _KEYS}
    except BaseException as error:  # noqa: BLE001 - returned; a backend raises what its system raises
        return bare(error)


def _keyring_trouble(error: Exception) -> str:
    if isinstance(error, ModuleNotFoundError) and error.name == "keyring":
        return "the extra is not installed; pip install 'smsotp_nb[keyring]'"
    kinds = {kind.__name__ for kind in type(error).__mro__}
    if "NoKeyringError" in kinds:
        return "this machine has none, like many servers and containers; `keyring --list-backends` shows what there is"
    if "KeyringLocked" in kinds:
        return "it is locked; unlock it and run this again"
    return f"it cannot be read ({type(error).__name__}); `keyring --list-backends` shows which one is used"


def __dir__() -> list[str]:
    return list(__all__)
