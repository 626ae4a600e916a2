"""Certificates for the tests' own service: made in memory, valid for an hour, trusted by nobody else."""

from __future__ import annotations

import datetime
import ipaddress
import ssl
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

NOW = datetime.datetime.now(datetime.UTC)
HOUR = datetime.timedelta(hours=1)


@dataclass(frozen=True)
class Authority:
    """One authority: its certificate and key."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey


def authority() -> Authority:
    """Make an authority."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "the tests' authority")])
    made = _builder(name, name, key, NOW + HOUR).add_extension(x509.BasicConstraints(ca=True, path_length=0), True)
    usage = x509.KeyUsage(False, False, False, False, False, True, True, False, False)
    made = made.add_extension(usage, critical=True)
    made = made.add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    return Authority(made.sign(key, hashes.SHA256()), key)


def leaf(by: Authority, folder: Path, *, hosts: tuple[str, ...], until: datetime.datetime | None = None) -> Path:
    """Write a certificate for hosts with its key into one file and return its path."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "the tests' service")])
    names = [_general(host) for host in hosts]
    made = _builder(name, by.certificate.subject, key, until or NOW + HOUR)
    made = made.add_extension(x509.SubjectAlternativeName(names), critical=False)
    signer = x509.AuthorityKeyIdentifier.from_issuer_public_key(by.key.public_key())  # Python 3.13 asks for it
    made = made.add_extension(signer, critical=False)
    signed = made.sign(by.key, hashes.SHA256())
    path = folder / f"{signed.serial_number}.pem"
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path.write_bytes(secret + signed.public_bytes(serialization.Encoding.PEM))
    return path


def write(one: Authority, folder: Path) -> Path:
    """Write the authority's certificate and return its path, for ``Settings(ca_bundle=...)``."""
    path = folder / "authority.pem"
    path.write_bytes(one.certificate.public_bytes(serialization.Encoding.PEM))
    return path


def context(path: Path) -> ssl.SSLContext:
    """Return a server's TLS context for a certificate file."""
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.load_cert_chain(path)
    return made


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey, until: datetime.datetime
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(until - 48 * HOUR)
        .not_valid_after(until)
    )


def _general(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)
