"""Who is let in: the names by which the sandbox is called, the page that a request comes from, and the token."""

from __future__ import annotations

import hmac
from collections.abc import Iterable
from functools import lru_cache
from ipaddress import ip_address
from typing import Final, Protocol
from urllib.parse import urlsplit

from .._calling import given as describe_value

HOST: Final = "127.0.0.1"
LOOPBACK: Final = frozenset({HOST, "localhost", "::1"})
LONGEST_TOKEN: Final = 200  # characters; it travels in every request
# The page loads nothing from elsewhere, runs no script but its own, and stands in no frame.
SECURITY_HEADERS: Final = (
    "Content-Security-Policy: default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; "
    "img-src data:; form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options: nosniff",
    "Cross-Origin-Resource-Policy: same-origin",
    "Cross-Origin-Opener-Policy: same-origin",
    "Referrer-Policy: no-referrer",
    "Cache-Control: no-store",
)


def is_loopback(url: str) -> bool:
    return (urlsplit(url).hostname or "") in LOOPBACK


def not_token(name: str, value: object) -> str | None:
    """Complain of what no header carries as it is; the token itself is not repeated."""
    if isinstance(value, str):
        if 0 < len(value) <= LONGEST_TOKEN and all("!" <= char <= "~" for char in value):
            return None
        got = f"text of {len(value)} characters"
    else:
        got = describe_value(value)
    return f"{name} must be 1 to {LONGEST_TOKEN} characters of ASCII without blanks or control characters, got {got}"


class Headers(Protocol):
    """What is asked of the headers of a request."""

    def get(self, name: str) -> str | None: ...


class Gate:
    """Checks every request before anything else sees it."""

    def __init__(self, names: Iterable[str] = (), *, token: str | None = None) -> None:
        self.token = token
        self._names = frozenset({_host_name(name) for name in names} | LOOPBACK)

    def refuse_stranger(self, headers: Headers, address: str) -> str | None:
        """Return why a request is refused that calls the sandbox by a foreign name or comes from a foreign page.

        ``address`` is the address of this machine at which the connection came in: no foreign page can make a browser
        call the sandbox by it.
        """
        host = headers.get("Host") or ""
        if not _is_own_name(host, address, self._names):
            names = ", ".join(sorted(self._names))
            return f"this sandbox answers only to {names}; others are let in with --allow-host NAME"
        origin = headers.get("Origin")
        if origin is not None and origin != f"http://{host}":
            return "this sandbox does not answer pages of other addresses"
        return None

    def has_token(self, headers: Headers) -> bool:
        """Return whether a request carries the token, or none is needed."""
        if self.token is None:
            return True
        scheme, _, bearer = (headers.get("Authorization") or "").partition(" ")
        # http.server reads headers as Latin-1, so that any byte is a character.
        return scheme.lower() == "bearer" and hmac.compare_digest(bearer.strip().encode(), self.token.encode())


@lru_cache(maxsize=256)  # clients call it by the same name again and again
def _is_own_name(host: str, address: str, names: frozenset[str]) -> bool:
    name = _host_name(host)
    if name in names:
        return True
    try:
        return ip_address(name) == ip_address(address.partition("%")[0])
    except ValueError:
        return False


def _host_name(host: str) -> str:
    """Return a host without its port, brackets and last dot, in lower case."""
    host = host.strip().lower()
    name, colon, port = host.rpartition(":")
    if colon and port.isdecimal() and (name.endswith("]") or ":" not in name):
        host = name
    return host.strip("[]").removesuffix(".")
