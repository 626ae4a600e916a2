"""Decide who may talk to the sandbox: by the host name, the page that asks and, beyond loopback, a token.

A browser runs strangers' pages beside the sandbox. Such a page can make the browser send requests to this machine, show
the sandbox in a frame, or point its own host name here (rebinding). Even if it may not read an answer, it can measure
how long it takes. So a request must use one of the sandbox's own names and must not come from a page of another origin
(by ``Origin``, and by ``Sec-Fetch-Site`` where only the time could tell), and no answer may be framed.
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

from .._calling import given

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
LONGEST_TOKEN: Final = 200  # characters, in every request
OF_OPERATIONS: Final = {name: HEADERS[name] for name in ("X-Content-Type-Options", "Cross-Origin-Resource-Policy")}


def not_token(name: str, value: object) -> str | None:
    """Complain of what no header, cookie or address carries as it is; the token itself is not repeated.

    Example:
        >>> not_token("token=", "café")
        'token= must be 1 to 200 characters of ASCII without blanks or control characters, got text of 4 characters'
    """
    if isinstance(value, str) and 0 < len(value) <= LONGEST_TOKEN and all("!" <= sign <= "~" for sign in value):
        return None
    got = f"text of {len(value)} characters" if isinstance(value, str) else given(value)
    return f"{name} must be 1 to {LONGEST_TOKEN} characters of ASCII without blanks or control characters, got {got}"


class Asked(NamedTuple):
    """The part of a request that decides; ``address`` is the local address that the connection reached."""

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
    """Checks every request before anything else sees it.

    Args:
        names: host names, beside loopback, that the sandbox answers to.
        token: required by everything but the three operations, or None.
        cookie: the name of the page's cookie.
    """

    def __init__(self, names: Iterable[str] = (), *, token: str | None = None, cookie: str = "smsotp-sandbox") -> None:
        self.names = LOOPBACK | {_bare(name) for name in names}
        self.token = token
        self.cookie = cookie

    def of_strangers(self, asked: Asked) -> Refusal | None:
        """Refuse requests under a foreign name and from pages of other origins, for the operations too."""
        host = asked.headers.get("Host", "")
        if not _is_own(host, asked.address, self.names):
            known = ", ".join(sorted(self.names))
            return Refusal(403, f"this sandbox answers only to {known}; others are let in with --allow-host NAME")
        origin = asked.headers.get("Origin")
        if origin is not None and origin != f"http://{host}":
            return Refusal(403, "this sandbox does not answer pages of other addresses")
        return None

    def refusal_of_own(self, asked: Asked) -> Refusal | None:
        """Refuse pages of other origins, and requests without the token."""
        return self.of_pages(asked) or self.of_the_unknown(asked)

    def of_pages(self, asked: Asked) -> Refusal | None:
        """Refuse requests that a page of another origin triggers; following a link to the inbox is allowed."""
        site = asked.headers.get("Sec-Fetch-Site")
        if site is None or site in OWN_SITE or _opens_the_page(asked):
            return None
        return Refusal(403, "this sandbox does not answer pages of other addresses")

    def of_the_unknown(self, asked: Asked) -> Refusal | None:
        """Refuse requests without the token."""
        if self.token is None or self._shows(asked.query.get("token")) or self._shows(_bearer(asked.headers)):
            return None
        if self._shows(self._cookie(asked.headers)) and _from_own_page(asked):
            return None
        return Refusal(
            401, "show the token that was printed at the start: Authorization: Bearer TOKEN, or ?token=TOKEN"
        )

    def _shows(self, shown: str | None) -> bool:
        # bytes beyond UTF-8 arrive in a header as halves of characters
        return bool(shown) and hmac.compare_digest(_as_bytes(str(shown)), _as_bytes(str(self.token)))

    def _cookie(self, headers: Mapping[str, str]) -> str | None:
        try:
            found = SimpleCookie(headers.get("Cookie", "")).get(self.cookie)
        except CookieError:
            return None
        return None if found is None else found.value


def _as_bytes(text: str) -> bytes:
    return text.encode(errors="surrogatepass")


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
    """Return whether a name is the address that was reached; no foreign page can make a browser send that."""
    try:
        return bool(address) and ip_address(name.strip("[]")) == ip_address(address.partition("%")[0])
    except ValueError:
        return False


def _opens_the_page(asked: Asked) -> bool:
    opened = asked.headers.get("Sec-Fetch-Mode") == "navigate" and asked.headers.get("Sec-Fetch-Dest") == "document"
    return opened and asked.method == "GET" and asked.path == "/"


def _from_own_page(asked: Asked) -> bool:
    """Return whether a request with a cookie comes from the sandbox's own page.

    Browsers also send the cookie for pages on other ports of this host, but they name the page, unless it hides
    itself.
    """
    if "Sec-Fetch-Site" in asked.headers or (asked.method == "GET" and asked.path == "/"):
        return True
    page = urlsplit(asked.headers.get("Referer", ""))
    return f"{page.scheme}://{page.netloc}" == f"http://{asked.headers.get('Host', '')}"


def _bearer(headers: Mapping[str, str]) -> str | None:
    kind, _, token = headers.get("Authorization", "").partition(" ")
    return token.strip() if kind.lower() == "bearer" else None
