"""A certificate for a demo store over HTTPS: signed by itself, for the names under which it's reached."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path
from typing import NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

_DAYS = 300  # browsers refuse what is valid for much more than a year


class Certificate(NamedTuple):
    """Two PEM files. Whoever trusts ``certificate`` as an authority trusts the store."""

    certificate: Path
    key: Path


def write_certificate(folder: Path, host: str) -> Certificate:
    """Make a key and a certificate for a host (an address or a name) and for localhost, and write both to a folder."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "storebot demo store")])
    now = datetime.now(UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=_DAYS))
    )
    for extension, critical in _extensions(key.public_key(), host):
        builder = builder.add_extension(extension, critical)
    paths = Certificate(folder / "demo-certificate.pem", folder / "demo-key.pem")
    paths.certificate.write_bytes(builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
    paths.key.touch(mode=0o600)
    paths.key.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return paths


def _extensions(key: ec.EllipticCurvePublicKey, host: str) -> list[tuple[x509.ExtensionType, bool]]:
    usage = dict.fromkeys(
        ("content_commitment", "key_encipherment", "data_encipherment", "key_agreement", "crl_sign"), False
    )
    return [
        (x509.SubjectAlternativeName([_alternative(name) for name in dict.fromkeys((host, "localhost"))]), False),
        (x509.BasicConstraints(ca=True, path_length=0), True),
        (
            x509.KeyUsage(
                digital_signature=True, key_cert_sign=True, encipher_only=False, decipher_only=False, **usage
            ),
            True,
        ),
        (x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), False),
        (x509.SubjectKeyIdentifier.from_public_key(key), False),
    ]


def _alternative(host: str) -> x509.GeneralName:
    address = _address(host)
    return x509.IPAddress(address) if address else x509.DNSName(host)


def _address(host: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(host)
    except ValueError:
        return None
