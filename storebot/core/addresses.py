"""Which addresses belong to a private network: a shop on the internet never sends anybody there in earnest.

A redirect or a script that leads there reaches for what only this machine can see: its own services, the router, the
cloud's metadata. https://owasp.org/www-community/attacks/Server_Side_Request_Forgery
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from urllib.parse import unquote, urlsplit

# Names that no public DNS answers for: RFC 6761 §6.3, RFC 6762 §3, RFC 8375, ICANN resolution 2024.07.29.06.
_LOCAL_NAMES = ("localhost", "local", "home.arpa", "internal", "intranet", "lan", "corp", "home")
_GLOBAL_UNICAST = IPv6Network("2000::/3")  # RFC 4291 §2.4: nothing else is given out
# NAT64 (RFC 6052 §2.1), "IPv4-compatible" (RFC 4291 §2.5.5.1) and "IPv4-translated" (RFC 7915 §3.3) addresses.
_CARRIES_IPV4 = (IPv6Network("64:ff9b::/96"), IPv6Network("::/96"), IPv6Network("::ffff:0:0:0/96"))
_WEB = ("http", "https", "ws", "wss")
_WITHOUT_NETWORK = ("data", "blob", "about")


def is_private(host: str) -> bool:
    """Say whether a host, by name or address, is for sure none of the internet's.

    A name of one label is: only a search domain gives it an address. What another name stands for has to be resolved
    first. Addresses are read as browsers and C libraries read them: ``127.1``, ``0x7f000001`` and ``2130706433`` are
    127.0.0.1. https://url.spec.whatwg.org/#concept-ipv4-parser
    """
    name = _plain(host)
    address = _address(name)
    if address is not None:
        return not _is_public(address)
    return "." not in name or name.endswith(tuple(f".{local}" for local in _LOCAL_NAMES))


def refusal(url: str, *, private_ok: bool, addresses: Iterable[str] = ()) -> str:
    """Say in half a sentence why a URL of a shop's page must not be asked for; "" where it may.

    ``addresses`` are what its host resolves to, as far as that is known. ``private_ok`` is True for a store that is on
    a private address itself: its neighbours may be asked then, but never the addresses that clouds tell secrets at.
    """
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        return "its address can't be read"
    if parts.scheme.lower() in _WITHOUT_NETWORK:
        return ""
    if parts.scheme.lower() not in _WEB:
        return f"it is a {parts.scheme or 'nameless'}: address"
    for each in (host, *addresses):
        where = each if each == host else f"{host}, which is {each},"
        if _is_link_local(each):
            return f"{where} is where clouds keep their secrets"
        if not private_ok and is_private(each):
            return f"{where} is in a private network"
    return ""


def _plain(host: str) -> str:
    """Return a host as a browser understands it: percent-decoded, in ASCII where other letters stand for that."""
    shown = unicodedata.normalize("NFKC", unquote(host)).replace("\N{IDEOGRAPHIC FULL STOP}", ".")
    return shown.strip().strip("[]").rstrip(".").lower()


def _address(name: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(name.partition("%")[0])  # without the zone of a link-local address
    except ValueError:
        return _loose_ipv4(name)


def _loose_ipv4(name: str) -> IPv4Address | None:
    """Read the spellings of an IPv4 address that inet_aton takes: one to four numbers, octal and hexadecimal too."""
    parts = name.split(".")
    if len(parts) > 4:
        return None
    try:
        *leading, last = (int(part, _base(part)) for part in parts)
    except ValueError:
        return None
    if any(not 0 <= number < 256 for number in leading) or not 0 <= last < 256 ** (4 - len(leading)):
        return None
    return IPv4Address(sum(number << (24 - 8 * place) for place, number in enumerate(leading)) + last)


def _base(part: str) -> int:
    if not part.isascii() or not part[:1].isdigit() or "_" in part:
        raise ValueError(part)
    if part.startswith("0x"):
        return 16
    return 8 if len(part) > 1 and part.startswith("0") else 10


def _is_public(address: IPv4Address | IPv6Address) -> bool:
    if isinstance(address, IPv6Address):
        inner = _inner(address)
        if inner is not None:
            return _is_public(inner)
        if address not in _GLOBAL_UNICAST:
            return False
    return address.is_global and not address.is_multicast


def _inner(address: IPv6Address) -> IPv4Address | None:
    """Return the IPv4 address that an IPv6 address stands for."""
    inner = address.ipv4_mapped or address.sixtofour
    if inner is None and any(address in network for network in _CARRIES_IPV4):
        inner = IPv4Address(int(address) & 0xFFFFFFFF)
    return inner


def _is_link_local(host: str) -> bool:
    """169.254.169.254 and fd00:ec2::254: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instancedata-data-retrieval.html."""
    address = _address(_plain(host))
    if isinstance(address, IPv6Address):
        address = _inner(address) or address
    return address is not None and (address.is_link_local or address == IPv6Address("fd00:ec2::254"))
