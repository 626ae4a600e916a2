"""The address of a record on a PostgreSQL server: never with a password, and encrypted to every other machine."""

from __future__ import annotations

import hashlib
import ipaddress
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote, urlencode

from ..errors import LedgerError, UsageError
from ..settings import Secret

_FIXED: Final[dict[str, Any]] = {
    "application_name": "smsotp_nb",
    "connect_timeout": 10,
    "target_session_attrs": "read-write",  # a standby records nothing
    "client_encoding": "UTF8",
}
# What says which database is reached: where an address leaves one out, libpq asks a service file and the environment.
_LOCATION: Final = frozenset({b"host", b"hostaddr", b"port", b"dbname"})
_USUAL_PORT: Final = "5432"
_SECRETS: Final = ("password", "sslpassword")


@dataclass(frozen=True, slots=True)
class Address:
    """Where a record is served: the options of libpq, without a password, that name the database in full."""

    options: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        options = dict(self.options)
        host, port = options.get("host", ""), options.get("port", "")
        # A socket or several hosts cannot stand in front of the name of the database.
        is_plain = bool(host) and not host.startswith(("/", "@")) and "," not in host
        shown = ""
        query = ("hostaddr", "service") if is_plain else ("host", "port", "hostaddr", "service")
        if is_plain:
            shown = f"[{host}]" if ":" in host else host
            if port:
                shown += f":{port}"
        if options.get("user"):
            shown = f"{quote(options['user'])}@{shown}"
        text = f"postgresql://{shown}/{quote(options.get('dbname', ''), safe='@:')}"
        more = urlencode({name: options[name] for name in query if options.get(name)}, safe="/:,")
        return f"{text}?{more}" if more else text

    @property
    def name(self) -> str:
        return dict(self.options).get("dbname", "")

    @property
    def key(self) -> str:
        """A short text of its own for each database, for the names of files."""
        options = dict(self.options)
        text = "\n".join(options.get(name, "") for name in ("host", "hostaddr", "port", "dbname"))
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    def arguments(self) -> dict[str, Any]:
        """Return what the driver is called with; empty values keep libpq from asking the environment."""
        return {**_FIXED, "host": "", "hostaddr": "", "port": _USUAL_PORT, **dict(self.options)}


def read_address(text: Secret) -> Address:
    """Read a ``postgresql://`` address, which may hold a password by mistake.

    Raises:
        UsageError: it cannot be read, holds a password, or would reach another machine without ``verify-full``.
    """
    options = _parsed(text)
    if any(options.pop(name, None) is not None for name in _SECRETS):
        raise UsageError(
            "the address of a ledger must not hold a password: a notebook would be saved with it. Next: put it into "
            "~/.pgpass (or the file that PGPASSFILE names), where PostgreSQL's own programs look for it"
        )
    options |= _located(options)
    hosts = [*options.get("hostaddr", "").split(","), *options.get("host", "").split(",")]
    if not all(_is_this_machine(host.strip()) for host in hosts):
        mode = options.setdefault("sslmode", "verify-full")
        if mode != "verify-full":
            raise UsageError(
                f"the address of the ledger has sslmode={mode}, by which the record could be read or changed on its "
                "way. Next: leave sslmode out, or pass sslmode=verify-full with sslrootcert= of the server's authority"
            )
        options["gssencmode"] = "disable"  # else Kerberos goes first, and no certificate is looked at
    return Address(tuple(sorted(options.items())))


def _parsed(text: Secret) -> dict[str, str]:
    driver = load_driver()
    try:
        options: dict[str, Any] = driver.conninfo.conninfo_to_dict(text.reveal().strip())
        # A port that is none may be the beginning of a password that has a slash in it.
        is_readable = str(options.get("port", "")).replace(",", "0").isdigit() or "port" not in options
    except driver.Error:  # its message may repeat the password
        is_readable = False
    if not is_readable:
        raise UsageError(
            "the address of the ledger's server cannot be read; it is written postgresql://user@host/database"
        )
    return {name: str(value) for name, value in options.items()}


def _located(options: dict[str, str]) -> dict[str, str]:
    """Return which database libpq would reach: of these options, then of a service file, then of the environment.

    libpq says so of a connection that it does not begin, because its ``sslmode`` is none.
    """
    driver = load_driver()
    text = driver.conninfo.make_conninfo(**{**options, "sslmode": "none"})
    connection = driver.pq.PGconn.connect_start(text.encode())
    location = {
        option.keyword.decode(): option.val.decode()
        for option in connection.info
        if option.val and option.keyword in _LOCATION
    }
    connection.finish()
    if "port" not in location:  # libpq has one for every address
        raise UsageError(
            "the address of the ledger's server, or PGSERVICE, names a service that libpq does not find. Next: put it "
            "into ~/.pg_service.conf or the file that PGSERVICEFILE names, or write postgresql://user@host/database"
        )
    if location["port"] == _USUAL_PORT:
        del location["port"]
    return location


def _is_this_machine(host: str) -> bool:
    if host in ("", "localhost") or host.startswith(("/", "@")):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def load_driver() -> Any:
    """Return psycopg, which is an extra."""
    try:
        import psycopg
    except ImportError:
        pass
    else:
        return psycopg
    raise LedgerError(
        "a ledger on a PostgreSQL server needs psycopg. Next: install smsotp_nb[postgres], restart the kernel, call again"
    )
