"""What a service is to the ledger: an id, and whether anybody is texted there.

A campaign is known by its service and its name. A live service is its address, its variant and a keyed hash of the
access key id, so that one account is one service however its address is spelled. A sandbox gives its own id, which only
a client that a sandbox made can carry: rehearsals are exempt from what guards people.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import unicodedata
from urllib.parse import urlsplit

REHEARSAL = "sandbox:"
_LOCAL = frozenset({"localhost", "127.0.0.1", "::1"})
# Characters that are looked at: the time to normalize a text grows with the square of its length, and NFKC makes one of
# four at most. A campaign's name has fewer.
_LONGEST = 2_000
_NUMBER = re.compile(r"\d(?:[^\w/]{0,3}\d){8,}")
# What a person does not see in a name beside the format characters (category Cf): Unicode's default ignorable
# characters, such as the selector that makes a sun an emoji, and fillers that are drawn as nothing.
_INVISIBLE = re.compile(
    r"[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0000-\U000e0fff]"
)
# Dashes that are no punctuation (category Pd) to Unicode: modifier minus, hyphen bullet, minus, box drawing.
_OTHER_DASHES = frozenset("\u02d7\u2043\u2212\u2500\u23af\u2796")
_PORTS = {"http": 80, "https": 443}


class SandboxService(str):
    """The id of a sandbox, as the sandbox itself hands it to the clients that it makes.

    Example:
        >>> SandboxService.of("1a2b", "http://127.0.0.1:8025")
        'sandbox:1a2b'
    """

    address: str

    @classmethod
    def of(cls, sandbox: str, base_url: str) -> SandboxService:
        """Return the service id of a sandbox, which is good at its own address only."""
        made = cls(REHEARSAL + sandbox)
        made.address = address(base_url)
        return made


def is_rehearsal(service: str) -> bool:
    """Say whether a service is a sandbox, which texts nobody."""
    return service.startswith(REHEARSAL)


def claims_rehearsal(service: str, base_url: str) -> bool:
    """Say whether an id pretends to be a sandbox's: one that was typed, or that of a sandbox at another address."""
    if isinstance(service, SandboxService):
        return service.address != address(base_url)
    begun = "".join(service.split())[:_LONGEST]
    return is_rehearsal("".join(unicodedata.normalize("NFKC", begun).split()).casefold())


def shown(service: str) -> str:
    """Return a service as a person reads it: the sandbox, or an address without the hash of its key."""
    return "the sandbox" if is_rehearsal(service) else service.split("|")[0]


def account_id(base_url: str, variant: str, key: str) -> str:
    """Return the id of a live account, without showing its key: address, variant and a keyed hash of the key id."""
    digest = hmac.new(b"smsotp_nb service id", key.encode(), hashlib.sha256).hexdigest()[:12]
    return f"{address(base_url)}|{variant}|{digest}"


def address(base_url: str) -> str:
    """Return an address in one spelling: two spellings of one service would be two campaigns.

    Scheme and host are in lower case and ASCII, a usual port and a last dot or slash are left out, and every name of
    this machine is ``localhost``.
    """
    parts = urlsplit(base_url)
    host = (parts.hostname or "").rstrip(".")
    try:
        host = host.encode("idna").decode().lower()
    except UnicodeError:
        host = host.lower()
    host = "localhost" if host in _LOCAL or host.startswith("127.") else host
    port = "" if parts.port in {None, _PORTS.get(parts.scheme)} else f":{parts.port}"
    return f"{parts.scheme}://{host}{port}{parts.path.rstrip('/')}"


def name_key(name: str) -> str:
    """Return a campaign's name without what people do not see as a difference.

    That is case, blanks, the kind of a dash, and characters that are not drawn. A number of nine digits or more is a
    hash in it: the key stays when the person is forgotten whose number it was.

    Example:
        >>> name_key("Autumn  SALE 2026-11-26"), name_key("to +1 202 555 0123") == name_key("To +1 202 555 0123")
        ('autumn sale 2026-11-26', True)
    """
    begun = " ".join(name.split())[:_LONGEST]
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", begun).casefold())
    visible = "".join(_plain_character(character) for character in _INVISIBLE.sub("", folded))
    return _NUMBER.sub(_hashed, " ".join(visible.split()))


def _plain_character(character: str) -> str:
    """Return a hyphen for every dash and nothing for a format character."""
    category = unicodedata.category(character)
    if category == "Pd" or character in _OTHER_DASHES:
        return "-"
    return "" if category == "Cf" else character


def _hashed(number: re.Match[str]) -> str:
    return hashlib.blake2b(number[0].encode(), digest_size=8).hexdigest()
