"""What the read API decides without a server: who may read, which numbers are valid, which answers are the same."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence
from ipaddress import ip_address

from storebot.core.moments import moment_ms
from storebot.exceptions import ConfigurationError

TOKENS = "STOREBOT_API_TOKENS"
_LEAST_TOKEN = 20  # characters: 120 bits, as `secrets.token_urlsafe(15)` makes them


def read_tokens(text: str) -> tuple[str, ...]:
    """Return the tokens of `TOKENS`, which are separated by spaces. Raises ConfigurationError, which shows none."""
    tokens = tuple(text.split())
    for place, token in enumerate(tokens, 1):
        if len(token) < _LEAST_TOKEN or not token.isascii():
            raise ConfigurationError(f"{TOKENS}: token {place} has to be {_LEAST_TOKEN} ASCII characters or longer")
    return tokens


def is_known(authorization: str, tokens: Sequence[str]) -> bool:
    """Whether an Authorization header has one of the tokens; that takes as long for each (RFC 6750 §2.1)."""
    scheme, _, given = authorization.strip().partition(" ")
    digest = hashlib.sha256(given.strip().encode(errors="replace")).digest()
    same = [hmac.compare_digest(digest, hashlib.sha256(token.encode()).digest()) for token in tokens]
    return scheme.lower() == "bearer" and any(same)


def is_loopback(host: str) -> bool:
    """Whether what listens on a host is heard on this machine alone."""
    if host == "localhost":
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def host_of(header: str) -> str:
    """Return the host of a Host header, without its port."""
    if header.startswith("["):
        return header.partition("]")[0].strip("[]")
    return header.partition(":")[0].lower()


def etag(body: bytes) -> str:
    """Return the entity tag of an answer: the same bytes have the same."""
    return f'"{hashlib.sha256(body).hexdigest()[:32]}"'


def is_same(if_none_match: str, tag: str) -> bool:
    """Whether an If-None-Match names the tag, weakly or not, or any (RFC 9110 §13.1.2)."""
    named = [one.strip().removeprefix("W/") for one in if_none_match.split(",")]
    return tag in named or named == ["*"]


def number(name: str, text: str, least: int, most: int) -> int:
    """Read a number of an address. ValueError says what is expected."""
    if not (text.isascii() and text.isdecimal() and len(text) <= 19 and least <= int(text) <= most):
        raise ValueError(f"{name}: expected a whole number from {least} to {most}")
    return int(text)


def one_of(name: str, text: str, known: Sequence[str]) -> str:
    """Read a name of an address. ValueError says which there are."""
    if text not in known:
        raise ValueError(f"{name}: expected one of {', '.join(known)}")
    return text


def moment(name: str, text: str) -> int:
    """Read a time of an address, in milliseconds. ValueError says what is expected."""
    try:
        found = moment_ms(name, text.replace(" ", "+"))  # a plus that isn't escaped is a space in an address
    except ConfigurationError:
        raise ValueError(f"{name}: expected a time such as 2026-11-30T08:00:00Z") from None
    if not 0 < found < 2**53:
        raise ValueError(f"{name}: expected a time after 1970")
    return found
