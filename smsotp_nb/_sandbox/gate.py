"""Who may speak to the sandbox: by the name it is called by, the page that asks, and beyond loopback a token.

A browser runs pages of strangers beside the sandbox. A page can make a browser send requests to this machine, show the
sandbox in a frame, or let its own name point here (rebinding); and it learns from the time an answer takes, even where
it may not read it. So a request must name the sandbox by a name of its own, must not come from a page of another
origin (by ``Origin``, and by ``Sec-Fetch-Site`` where only the time tells), and no answer may be framed.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from http.cookies import CookieError, SimpleCookie
from ipaddress import ip_address
from typing import Final, NamedTuple
from urllib.parse import urlsplit

LOOPBACK: Final = frozenset({"127.0.0.1", "localhost", "[::1]"})
OWN_SITE: Final = frozenset({"same-origin", "none"})  # none: typed, or opened by a bookmark
# The page loads nothing from elsewhere, runs no script but its own, and stands in no frame.
POLICY: Final = (
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS: Final[Mapping[str, str]] = {
    "Content-Security-Policy": POLICY,
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "same-origin",
}
OF_OPERATIONS: Final = {name: HEADERS[name] for name in ("X-Content-Type-Options", "Cross-Origin-Resource-Policy")}


class Asked(NamedTuple):
    """What of a request decides: ``address`` is the one of this machine that the connection reached."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    address: str = ""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request is turned away."""

    status: int
    why: str


class Gate:
    """Decides about every request before anything else looks at it.

    Args:
        names: the names beside loopback by which the sandbox may be called.
        scheme: ``http`` or ``https``.
        token: what everything but the three operations must show, or None.
        cookie: the name of the page's cookie.
    """

    def __init__(
        self,
        names: Iterable[str] = (),
        *,
        scheme: str = "http",
        token: str | None = None,
        cookie: str = "smsotp-sandbox",
    ) -> None:
        self.names = LOOPBACK | {_bare(name) for name in names}
        self.token = token
        self.cookie = cookie
        self._scheme = scheme

    def of_strangers(self, asked: Asked) -> Refusal | None:
        """Refuse who calls the sandbox by a foreign name, and pages of other origins; holds for the operations too."""
        host = asked.headers.get("Host", "")
        if not _is_own(host, asked.address, self.names):
            known = ", ".join(sorted(self.names))
            return Refusal(403, f"this sandbox answers only to {known}; others are let in with --allow-host NAME")
        origin = asked.headers.get("Origin")
        if origin is not None and origin != f"{self._scheme}://{host}":
            return Refusal(403, "this sandbox does not answer pages of other addresses")
        return None

    def refusal_of_own(self, asked: Asked) -> Refusal | None:
        """Refuse pages of other origins, and who does not show the token."""
        return self.of_pages(asked) or self.of_the_unknown(asked)

    def of_pages(self, asked: Asked) -> Refusal | None:
        """Refuse what a page of another origin makes a browser ask for; opening the inbox by a link is allowed."""
        site = asked.headers.get("Sec-Fetch-Site")
        if site is None or site in OWN_SITE or _opens_the_page(asked):
            return None
        return Refusal(403, "this sandbox does not answer pages of other addresses")

    def of_the_unknown(self, asked: Asked) -> Refusal | None:
        """Refuse who does not show the token."""
        if self.token is None or self._shows(asked.query.get("token")) or self._shows(_bearer(asked.headers)):
            return None
        if self._shows(self._cookie(asked.headers)) and _from_own_page(asked, self._scheme):
            return None
        return Refusal(
            401, "show the token that was printed at the start: Authorization: Bearer TOKEN, or ?token=TOKEN"
        )

    def _shows(self, given: str | None) -> bool:
        return bool(given) and hmac.compare_digest(str(given).encode(), str(self.token).encode())

    def _cookie(self, headers: Mapping[str, str]) -> str | None:
        try:
            found = SimpleCookie(headers.get("Cookie", "")).get(self.cookie)
        except CookieError:
            return None
        return None if found is None else found.value


@lru_cache(maxsize=256)  # clients call it by the same name again and again
def _is_own(host: str, address: str, names: frozenset[str]) -> bool:
    name = _bare(host)
    return name in names or _is_address(name, address)


def _bare(host: str) -> str:
    """Return a host without its port, in lower case."""
    host = host.strip().lower()
    name, colon, port = host.rpartition(":")
    without = name if colon and port.isdecimal() and (name.endswith("]") or ":" not in name) else host
    return without.removesuffix(".")


def _is_address(name: str, address: str) -> bool:
    """Say whether a name is the very address that was reached; no foreign page can make a browser write that."""
    try:
        return bool(address) and ip_address(name.strip("[]")) == ip_address(address.partition("%")[0])
    except ValueError:
        return False


def _opens_the_page(asked: Asked) -> bool:
    opened = asked.headers.get("Sec-Fetch-Mode") == "navigate" and asked.headers.get("Sec-Fetch-Dest") == "document"
    return opened and asked.method == "GET" and asked.path == "/"


def _from_own_page(asked: Asked, scheme: str) -> bool:
    """A cookie also goes along when another port of this host asks: browsers name the page, unless it hides itself."""
    if "Sec-Fetch-Site" in asked.headers or (asked.method == "GET" and asked.path == "/"):
        return True
    page = urlsplit(asked.headers.get("Referer", ""))
    return f"{page.scheme}://{page.netloc}" == f"{scheme}://{asked.headers.get('Host', '')}"


def _bearer(headers: Mapping[str, str]) -> str | None:
    kind, _, token = headers.get("Authorization", "").partition(" ")
    return token.strip() if kind.lower() == "bearer" else None
