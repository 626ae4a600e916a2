"""Who may ask: access keys and signatures of the three operations, hosts and tokens of the rest."""

from __future__ import annotations

import base64
import hmac
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from http.cookies import CookieError, SimpleCookie
from ipaddress import ip_address
from typing import Final, NamedTuple
from urllib.parse import parse_qsl, quote, quote_plus, urlsplit

from .._calling import given

HOST: Final = "127.0.0.1"
OWN: Final = frozenset({HOST, "localhost", "::1"})

MISSING_KEY: Final = "104110"
INVALID_SIGNATURE: Final = "104201"
INVALID_TIMESTAMP: Final = "104202"

TOLERANCE: Final = 600.0  # seconds
MOST_NONCES: Final = 100_000
NONCE: Final = re.compile(r".{8,64}", re.S)
SECONDS_END: Final = 100_000_000_000  # a timestamp below is in seconds (until the year 5138), above in milliseconds


def is_loopback(url: str) -> bool:
    return (urlsplit(url).hostname or "") in OWN


class Nonces:
    """Remembers every nonce for as long as its timestamp could be taken, the last `MOST_NONCES` of them."""

    def __init__(self) -> None:
        self._seen: dict[str, float] = {}

    def take(self, nonce: str, now: float) -> bool:
        """Return whether this nonce is new, and remember it."""
        while self._seen:  # insertion order is the order of time
            oldest = next(iter(self._seen))
            if now - self._seen[oldest] <= 2 * TOLERANCE:
                break
            del self._seen[oldest]
        if nonce in self._seen:
            return False
        if len(self._seen) >= MOST_NONCES:
            del self._seen[next(iter(self._seen))]
        self._seen[nonce] = now
        return True


class Access:
    """Checks the query of a request."""

    def __init__(self, secret: str | None, now: Callable[[], float]) -> None:
        self._secret = secret
        self._now = now
        self._nonces = Nonces()

    def refusal(self, query: Mapping[str, str], query_string: str) -> str:
        """Return the error code that this query brings, else ``""``."""
        if not query.get("accessKeyId"):
            return MISSING_KEY
        if self._secret is None:
            return ""
        if query.get("algorithm", "").lower() != "hmac-sha256" or not NONCE.fullmatch(query.get("nonce", "")):
            return INVALID_SIGNATURE
        if not self._in_time(query.get("timestamp", "")):
            return INVALID_TIMESTAMP
        if not self._signed(query, query_string, self._secret.encode()):
            return INVALID_SIGNATURE
        return "" if self._nonces.take(query["nonce"], self._now()) else INVALID_SIGNATURE

    def _in_time(self, timestamp: str) -> bool:
        if not re.fullmatch(r"[0-9]{1,16}", timestamp):
            return False
        value = int(timestamp)
        seconds = value if value < SECONDS_END else value / 1000
        return abs(self._now() - seconds) <= TOLERANCE

    @staticmethod
    def _signed(query: Mapping[str, str], query_string: str, secret: bytes) -> bool:
        given = query.get("signature", "").encode()
        digests = [hmac.digest(secret, text.encode(), "sha256") for text in signed_texts(query_string)]
        right = [hmac.compare_digest(one.encode(), given) for digest in digests for one in spellings(digest)]
        return any(right)


def spellings(digest: bytes) -> tuple[str, ...]:
    """Return the ways to write a digest; a plus that a client did not escape arrives as a blank."""
    text = base64.b64encode(digest).decode()
    return text, text.replace("+", " "), digest.hex()


def signed_texts(query_string: str) -> tuple[str, ...]:
    """Return the texts a client may have signed for this query, each once."""
    pairs = sorted(pair for pair in parse_qsl(query_string, keep_blank_values=True) if pair[0] != "signature")
    sent = (piece for piece in query_string.split("&") if piece and piece.partition("=")[0] != "signature")
    ways = (str, partial(quote, safe=""), quote_plus, partial(quote, safe="!'()*"))  # the last one of JavaScript
    texts = ["&".join(f"{way(key)}={way(value)}" for key, value in pairs) for way in ways]
    return tuple(dict.fromkeys([*texts, "&".join(sorted(sent, key=lambda piece: piece.partition("=")))]))


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
    """Complain of what no header, cookie or address carries as it is; the token itself is not repeated."""
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

    @property
    def is_page(self) -> bool:
        return self.method == "GET" and self.path == "/"


@dataclass(frozen=True, slots=True)
class Refusal:
    status: int
    why: str


class Gate:
    """Checks every request before anything else sees it."""

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

    def of_pages(self, asked: Asked) -> Refusal | None:
        """Refuse requests that a page of another origin triggers; following a link to the inbox is allowed."""
        headers = asked.headers
        site = headers.get("Sec-Fetch-Site")
        opened = headers.get("Sec-Fetch-Mode") == "navigate" and headers.get("Sec-Fetch-Dest") == "document"
        if site is None or site in OWN_SITE or (opened and asked.is_page):
            return None
        return Refusal(403, "this sandbox does not answer pages of other addresses")

    def of_the_unknown(self, asked: Asked) -> Refusal | None:
        kind, _, bearer = asked.headers.get("Authorization", "").partition(" ")
        shown = [asked.query.get("token"), bearer.strip() if kind.lower() == "bearer" else None]
        if self.token is None or any(map(self._shows, shown)):
            return None
        if self._shows(self._cookie(asked.headers)) and _from_own_page(asked):
            return None
        return Refusal(
            401, "show its token (box.token, or printed at the start): Authorization: Bearer TOKEN, or ?token=TOKEN"
        )

    def _shows(self, shown: str | None) -> bool:
        # bytes beyond UTF-8 arrive in a header as halves of characters
        given, wanted = (str(text).encode(errors="surrogatepass") for text in (shown, self.token))
        return bool(shown) and hmac.compare_digest(given, wanted)

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
    """Return whether a name is the address that was reached; no foreign page can make a browser send that."""
    try:
        return bool(address) and ip_address(name.strip("[]")) == ip_address(address.partition("%")[0])
    except ValueError:
        return False


def _from_own_page(asked: Asked) -> bool:
    """Return whether a request with a cookie comes from the sandbox's own page.

    Browsers also send the cookie for pages on other ports of this host, but they name the page, unless it hides
    itself.
    """
    if "Sec-Fetch-Site" in asked.headers or asked.is_page:
        return True
    page = urlsplit(asked.headers.get("Referer", ""))
    return f"{page.scheme}://{page.netloc}" == f"http://{asked.headers.get('Host', '')}"
