"""The address of a ledger on a PostgreSQL server: never with a password, and never in the clear over a network."""

from __future__ import annotations

import contextlib
import hashlib
import ipaddress
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from ..._showing import said
from ...errors import LedgerError, SmsOtpError, UsageError
from ...settings import Secret, ledger_place

_LOCAL = {"", "localhost"}
# What says which database is reached: where an address leaves one out, libpq asks a service file and the environment.
_PLACE = frozenset({b"host", b"hostaddr", b"port", b"dbname"})
_USUAL = ("port", "5432")
_PORTS = re.compile(r"[0-9,]*")
_FIXED: dict[str, Any] = {
    "application_name": "smsotp_nb",
    "connect_timeout": 10,
    "target_session_attrs": "read-write",  # a standby records nothing
    "client_encoding": "UTF8",
}
_NEXT = "put it into the file ~/.pgpass (or the one that PGPASSFILE names), where PostgreSQL's own programs look for it"


@dataclass(frozen=True, slots=True)
class Address:
    """Where a ledger is served; ``options`` are those of libpq, without a password, and name the place in full."""

    options: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        known = dict(self.options)
        user, host, port = (known.get(name, "") for name in ("user", "host", "port"))
        more = ["hostaddr", "service"]
        # A socket, several hosts or the usual one cannot stand in front of the database's name.
        if host and not host.startswith(("/", "@")) and "," not in host:
            shown = f"{f'[{host}]' if ':' in host else host}{':' * bool(port)}{port}"
        else:
            shown, more = "", ["host", "port", *more]
        asked = urlencode({name: known[name] for name in more if known.get(name)}, safe="/:,")
        where = f"{quote(user)}{'@' * bool(user)}{shown}/{quote(known.get('dbname', ''), safe='@:')}"
        return f"postgresql://{where}{'?' * bool(asked)}{asked}"

    @property
    def name(self) -> str:
        return dict(self.options).get("dbname", "")

    @property
    def key(self) -> str:
        """A short text of its own for each database, for the names of files."""
        known = dict(self.options)
        text = "\n".join(known.get(name, "") for name in ("host", "hostaddr", "port", "dbname"))
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    def arguments(self) -> dict[str, Any]:
        """Return what the driver is called with: also where it shall not look for another host."""
        return {**_FIXED, **dict([("host", ""), ("hostaddr", ""), _USUAL]), **dict(self.options)}


def own_place() -> Path | Address:
    """Return where this user's one ledger is, or would be."""
    place = ledger_place()
    return place if isinstance(place, Path) else read_address(place)


def in_code(place: Path | Address) -> str:
    """Return the argument that names a ledger in a line of code; nothing for this user's own."""
    with contextlib.suppress(SmsOtpError):
        if place == own_place():
            return ""
    spelled = repr(str(place))
    # an address leaves out options, and in an error what looks like a number is masked
    return f", ledger={spelled if isinstance(place, Path) and said(spelled) == spelled else 'ledger'}"


def read_address(text: Secret) -> Address:
    """Read a ``postgresql://`` address, sealed because it may hold a password by mistake."""
    options = _parsed(text)
    if options is None:
        raise UsageError(
            "the address of the ledger's server cannot be read; it is written postgresql://user@host/database"
        )
    if [name for name in ("password", "sslpassword") if options.pop(name, None) is not None]:  # both are taken out
        raise UsageError(
            f"the address of a ledger must not hold a password: a notebook would be saved with it; {_NEXT}"
        )
    options |= _place(options)
    hosts = [*options.get("hostaddr", "").split(","), *options.get("host", "").split(",")]
    if not all(_is_here(host.strip()) for host in hosts):
        asked = options.setdefault("sslmode", "verify-full")
        if asked != "verify-full":
            raise UsageError(
                f"the address of the ledger has sslmode={asked}, by which the record could be read or changed on its "
                "way; leave sslmode out, or pass sslmode=verify-full with sslrootcert= of the server's authority"
            )
        options["gssencmode"] = "disable"  # else Kerberos goes first, and no certificate is looked at
    return Address(tuple(sorted(options.items())))


def _parsed(text: Secret) -> dict[str, str] | None:
    driver = load_driver()
    try:
        found: dict[str, Any] = driver.conninfo.conninfo_to_dict(text.reveal().strip())
    except driver.Error:  # its message may repeat the password
        return None
    if not _PORTS.fullmatch(str(found.get("port", ""))):  # the beginning of a password that has a slash in it
        return None
    return {name: str(value) for name, value in found.items()}


def _place(options: dict[str, str]) -> dict[str, str]:
    """Return which database libpq would reach: of these options, then of a service file, then of the environment.

    libpq says so of a connection that it does not begin, because its ``sslmode`` is none.
    """
    driver = load_driver()
    asked = driver.conninfo.make_conninfo(**{**options, "sslmode": "none"})
    connection = driver.pq.PGconn.connect_start(asked.encode())
    place = {one.keyword.decode(): one.val.decode() for one in connection.info if one.val and one.keyword in _PLACE}
    connection.finish()
    if "port" not in place:  # libpq has one for every address
        raise UsageError(
            "the address of the ledger's server, or PGSERVICE, names a service that libpq does not find: put it into "
            "~/.pg_service.conf or the file that PGSERVICEFILE names, or write postgresql://user@host/database"
        )
    return {name: value for name, value in place.items() if (name, value) != _USUAL}


def _is_here(host: str) -> bool:
    if host in _LOCAL or host.startswith(("/", "@")):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def load_driver() -> Any:
    try:
        import psycopg
    except ImportError:
        pass
    else:
        return psycopg
    raise LedgerError(
        "a ledger on a PostgreSQL server needs psycopg: install smsotp_nb[postgres], restart the kernel, call again"
    )
