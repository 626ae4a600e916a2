"""A certificate made at startup, for clients that only speak HTTPS. It is its own authority and lives as long as the
sandbox."""

from __future__ import annotations

import ssl
import tempfile
import weakref
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Self

from ..errors import UsageError

if TYPE_CHECKING:
    from cryptography import x509

LIFETIME = timedelta(days=90)
TEMPORARY = "smsotp-sandbox-"  # what kill -9 leaves behind is known by its name


@dataclass(frozen=True, slots=True)
class Certificate:
    """A certificate and its key as PEM; only the certificate is handed out."""

    pem: str
    _key: str = field(repr=False)

    @classmethod
    def made(cls, names: Iterable[str]) -> Self:
        """Make a certificate for some names and addresses of this machine.

        Raises:
            UsageError: the library that makes it is not installed.
        """
        try:
            from cryptography import x509
            from cryptography.hazmat.primitives import hashes, serialization
            from cryptography.hazmat.primitives.asymmetric import ec
        except ImportError:
            raise UsageError("HTTPS needs a library more: pip install 'smsotp_nb[https]'") from None
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "smsotp_nb sandbox")])
        now = datetime.now(UTC)
        made = (
            x509.CertificateBuilder(subject, subject, key.public_key(), x509.random_serial_number())
            .not_valid_before(now - timedelta(days=1))
            .not_valid_after(now + LIFETIME)
            .add_extension(x509.SubjectAlternativeName([_general_name(name) for name in dict.fromkeys(names)]), False)
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), False)
            .sign(key, hashes.SHA256())
        )
        plain, encoding = serialization.NoEncryption(), serialization.Encoding.PEM
        secret = key.private_bytes(encoding, serialization.PrivateFormat.PKCS8, plain)
        return cls(made.public_bytes(encoding).decode(), secret.decode())

    def file(self) -> TemporaryPath:
        """Return a file with the certificate, which exists as long as the returned object."""
        return TemporaryPath(self.pem)

    def context(self) -> ssl.SSLContext:
        """Return the context with which a server presents it."""
        found = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        with tempfile.TemporaryDirectory(prefix=TEMPORARY) as folder:
            file = Path(folder) / "both.pem"
            file.touch(mode=0o600)
            file.write_text(self._key + self.pem, encoding="ascii")
            found.load_cert_chain(file)
        return found


class TemporaryPath:
    """A file with a certificate, deleted when nothing refers to this object any more."""

    def __init__(self, pem: str) -> None:
        descriptor, self._path = tempfile.mkstemp(".pem", TEMPORARY)
        weakref.finalize(self, Path(self._path).unlink, missing_ok=True)
        with open(descriptor, "w", encoding="ascii") as file:  # closed at once: Windows opens no such file twice
            file.write(pem)

    def __fspath__(self) -> str:
        return self._path

    __str__ = __fspath__


def _general_name(name: str) -> x509.GeneralName:
    from cryptography import x509

    try:
        return x509.IPAddress(ip_address(name.strip("[]")))
    except ValueError:
        return x509.DNSName(name)
