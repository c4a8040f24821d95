"""Turn addresses into URL keys: one text for one page, however a shop, an advert or a mail spells its address.

The rules are DESIGN §5 "URL key" on top of RFC 3986 §6.2 (what may be normalised without changing what is asked for).
A key is compared and stored, never fetched: what is fetched stays as found (`absolute`).
"""

from __future__ import annotations

import hashlib
import ipaddress
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple
from urllib.parse import SplitResult, unquote, urlsplit, urlunsplit

import idna
from w3lib.url import safe_url_string

from storebot.core.tracking import IDENTITY, NUMBERED, TRACKING, VARIANTS
from storebot.exceptions import InvalidURL

# MariaDB and MySQL index 3,072 bytes, PostgreSQL 2,704 (a third of a page): 1,000 ASCII bytes fit beside other columns.
MAX_KEY_LENGTH = 1000
MAX_URL = 16_384
"""Characters of an address; servers refuse half of that, and what is longer is a picture or a whole page by mistake."""
_MAX_HOST = 1_000  # characters, punycode to be: the DNS allows 253
_HEAD_LENGTH = MAX_KEY_LENGTH - 1 - hashlib.sha256().digest_size * 2
_SHORTENED = re.compile(rf"https://[!-~]{{{_HEAD_LENGTH - len('https://')}}}~[0-9a-f]{{64}}")

# The common case, known in one pass: little to normalise but `www.`, a trailing slash, percent signs and the query.
_PLAIN = re.compile(
    r"https?://((?:[a-z0-9-]+\.)+[a-z]+)((?:/[A-Za-z0-9_~!$&'()*+,=:@%-][A-Za-z0-9._~!$&'()*+,=:@%-]*)*)/?"
    r"(?:\?([^#\x00-\x20]*))?"
)
_ADDRESS = re.compile(r"(\[[^\]]*\]|[^:\[\]]*)(?::([0-9]{0,9}))?")
_HOST = re.compile(r"[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*")
_SESSION = re.compile(r";jsessionid=[^/;]*", re.IGNORECASE)
_COLLECTION = re.compile(r"((?:/[a-z]{2}(?:-[a-z]{2})?)?)/collections/[^/]+(/products/[^/]+)", re.IGNORECASE)
_MANGLED_AMPERSAND = re.compile(r"^(?:amp(?:;|%3b))+")

_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})")
_ODD_ESCAPE = re.compile(  # lower case, or of an unreserved character
    r"%(?:[0-9A-F]?[a-f][0-9A-Fa-f]?|2[DE]|3[0-9]|4[1-9A-F]|5[0-9AF]|6[1-9A-F]|7[0-9AE])"
)
_NOT_IN_PATH = re.compile(r"%(?![0-9A-F]{2})|[^A-Za-z0-9._~!$&'()*+,;=:@/%-]+")
_NOT_IN_QUERY = re.compile(r"%(?![0-9A-F]{2})|[^A-Za-z0-9._~!$&'()*+,;=:@/?%-]+")
_PLAIN_QUERY = re.compile(r"[A-Za-z0-9._~!$'()*,;:@/?&=+-]*")

_EDGES = "".join(map(chr, range(0x21)))  # C0 controls and the space, cut from both ends (WHATWG URL, "basic parser")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_SENDABLE = re.compile(r"[!$%&'()*+,./0-9:;=?@A-Z\[\]_a-z~-]*")


class _Names(NamedTuple):
    """Patterns of parameter names, sorted by how they are looked up."""

    exact: frozenset[str]
    prefixes: tuple[str, ...]
    values: tuple[tuple[str, str], ...]  # (name, pattern of the value)

    def has(self, name: str) -> bool:
        return name in self.exact or (name.startswith(self.prefixes) and self._by_pattern(name))

    def _by_pattern(self, name: str) -> bool:
        return any(_begins(name, prefix) for prefix in self.prefixes)

    def has_value(self, name: str, value: str) -> bool:
        return any(name == known and _matches(value.lower(), pattern) for known, pattern in self.values)


def _begins(text: str, prefix: str) -> bool:
    """Say whether ``text`` is ``prefix`` or goes on with another word: `ref*` is `ref_src`, not `refurbished`."""
    rest = text[len(prefix) :]
    return text.startswith(prefix) and (not rest or not prefix[-1:].isalpha() or not rest[0].isalpha())


def _matches(text: str, pattern: str) -> bool:
    return _begins(text, pattern[:-1]) if pattern.endswith("*") else text == pattern


def _names(patterns: Iterable[str]) -> _Names:
    lower = [pattern.lower() for pattern in patterns]
    plain = [pattern for pattern in lower if "=" not in pattern]
    return _Names(
        exact=frozenset(pattern for pattern in plain if not pattern.endswith("*")),
        prefixes=tuple(pattern[:-1] for pattern in plain if pattern.endswith("*")),
        values=tuple((name, value) for name, _, value in (p.partition("=") for p in lower if "=" in p)),
    )


_TRACKING = _names(TRACKING)
_IDENTITY = _names(IDENTITY)
_VARIANTS = _names(VARIANTS)


@dataclass(frozen=True)
class KeyRules:
    """What one store says about its addresses (``[keys]`` of its file). Raises ValueError, with a sentence.

    ``drop`` and ``keep`` hold exact names, ``name*`` (the name, or the name and another word: ``ref*`` is ``ref`` and
    ``ref_src``, never ``refurbished``), or ``name=value`` and ``name=value*``; letter case doesn't matter. In order of
    power: ``keep``; an exact name in ``drop``; the identity parameters (variant, sku, color …); a pattern in ``drop``;
    the table of tracking parameters. ``aliases`` are hosts that are folded into ``host``, the store's own.
    """

    drop: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    host: str = ""
    aliases: tuple[str, ...] = ()
    merge_slashes: bool = False  # some servers tell /a//b from /a/b, so a store has to ask for it
    fold_collections: bool = True  # Shopify: /collections/all/products/x is /products/x, and says so in its canonical

    def __post_init__(self) -> None:
        for pattern in (*self.drop, *self.keep):
            if not pattern.strip("=") or "*" in pattern[:-1]:
                raise ValueError(f"{pattern!r} is no pattern of a parameter: write name, name* or name=value")
        if self.aliases and not self.host:
            raise ValueError("aliases need the host that they are folded into")
        for host in (self.host, *self.aliases):
            if host:
                _site(host, "https")

    @cached_property
    def dropped(self) -> _Names:
        return _names(self.drop)

    @cached_property
    def kept(self) -> _Names:
        return _names(self.keep)

    @cached_property
    def hosts(self) -> dict[str, str]:
        """Each alias with the host that it is folded into."""
        return {_site(alias, "https"): _site(self.host, "https") for alias in self.aliases}

    def drops(self, name: str, value: str) -> bool:
        """Say whether a parameter, normalised, is left out of the key."""
        name = name.lower()
        if name.startswith("amp"):  # `&amp;utm_source` was escaped once too often
            name = _MANGLED_AMPERSAND.sub("", name)
        if self.keep and (self.kept.has(name) or self.kept.has_value(name, value)):
            return False
        if self.drop and (name in self.dropped.exact or self.dropped.has_value(name, value)):
            return True
        if _IDENTITY.has(name):
            return False
        if self.drop and self.dropped.has(name):
            return True
        if _TRACKING.has(name):
            return not (name in NUMBERED and value.isdigit())
        return _TRACKING.has_value(name, value)

    def identity(self, query: str, ids: Iterable[str] = ()) -> list[tuple[str, str]]:
        """Return the parameters of a key's query that tell variants apart, those that the store keeps, and ``ids``."""
        pairs = [(name, value) for name, _, value in (pair.partition("=") for pair in query.split("&") if pair)]
        return [pair for pair in pairs if self._identifies(*pair, ids)]

    def _identifies(self, name: str, value: str, ids: Iterable[str]) -> bool:
        lower = name.lower()
        if _VARIANTS.has(lower) or lower in ids:
            return True
        return lower not in _IDENTITY.exact and (self.kept.has(lower) or self.kept.has_value(lower, value))


NO_RULES = KeyRules()


def url_key(url: str, rules: KeyRules = NO_RULES) -> str:
    """Return the key of the page at an absolute http(s) address: https, ASCII, at most 1,000 characters.

    Idempotent. Raises InvalidURL. User name and password are left out: a page is the same for whoever logs in, and a
    secret has no place in a table. A trailing slash is dropped by rule (DESIGN §5), except that of the root.
    A longer key is cut and ends in ``~`` and the SHA-256 of the whole, so that it stays one page's own.
    """
    if len(url) == MAX_KEY_LENGTH and _SHORTENED.fullmatch(url):
        return url
    plain = _PLAIN.fullmatch(url) if len(url) <= MAX_URL else None
    if plain:
        netloc, path, query = plain.groups()
        site = _site(netloc, "https")
        if "%" in path:
            path = _path(path, rules)
    else:
        parts = _split(url)
        site, path, query = _site(parts.netloc, parts.scheme), _path(parts.path, rules), parts.query
    if rules.aliases:
        site = rules.hosts.get(site, site)
    if rules.fold_collections and "/collections/" in path and (folded := _COLLECTION.fullmatch(path)):
        path = folded[1] + folded[2]
    key = f"https://{site}{path or '/'}"
    if query and (query := _query(query, rules)):
        key = f"{key}?{query}"
    return key if len(key) <= MAX_KEY_LENGTH else _shortened(key)


def same_site(url: str, base_url: str, aliases: Iterable[str] = ()) -> bool:
    """Say whether two addresses have one host (and port), `www.` and aliases folded; False where ``url`` is no URL.

    Raises InvalidURL where ``base_url`` or an alias isn't one.
    """
    sites = _sites(base_url, tuple(aliases))
    try:
        parts = _split(url)
        return _site(parts.netloc, parts.scheme) in sites
    except InvalidURL:
        return False


@lru_cache(maxsize=256)  # one entry a store
def _sites(base_url: str, aliases: tuple[str, ...]) -> frozenset[str]:
    base = _split(base_url)
    return frozenset({_site(base.netloc, base.scheme), *(_site(alias, "https") for alias in aliases)})


def absolute(url: str, base: str) -> str | None:
    """Resolve a link as found in a page, for fetching; None for what can't be fetched (mailto:, javascript:, #top …).

    Bytes stay as found, except what can't be sent: the fragment goes, line breaks go, spaces and non-ASCII characters
    are percent-encoded, an IDN becomes punycode.
    """
    if len(url) > MAX_URL:
        return None
    found = url.strip(_EDGES).replace("\t", "").replace("\n", "").replace("\r", "").partition("#")[0]
    scheme = _SCHEME.match(found)
    if not found or (scheme and scheme[1].lower() not in ("http", "https")):
        return None
    try:
        joined = _joined(found, base.strip(_EDGES))
        sendable = joined if _SENDABLE.fullmatch(joined) else safe_url_string(joined)
        parts = _split(sendable)
        _site(parts.netloc, parts.scheme)
    except ValueError:  # InvalidURL is one: a link that names no reachable host is not an error of ours
        return None
    return sendable


def _joined(found: str, base: str) -> str:
    """Resolve a reference by RFC 3986 §5.2. (`urljoin` merges the base's double slashes, which may be another page.)"""
    link = urlsplit(found)
    if link.scheme:
        return found
    root = urlsplit(base)
    if link.netloc:
        return f"{root.scheme}:{found}"
    if not link.path:
        return urlunsplit((root.scheme, root.netloc, root.path or "/", link.query or root.query, ""))
    path = link.path if link.path.startswith("/") else root.path.rpartition("/")[0] + "/" + link.path
    return urlunsplit((root.scheme, root.netloc, _without_dots(path), link.query, ""))


def _split(url: str) -> SplitResult:
    if len(url) > MAX_URL:
        raise _invalid(url, f"it has {len(url):,} characters, more than {MAX_URL:,}")
    try:
        parts = urlsplit(url.strip(_EDGES))
    except ValueError as error:
        raise _invalid(url, f"it can't be taken apart ({error})") from error
    if parts.scheme not in ("http", "https"):
        raise _invalid(url, "it must begin with http:// or https://")
    if not parts.netloc:
        raise _invalid(url, "it names no host")
    return parts


def _invalid(url: str, problem: str) -> InvalidURL:
    shown = url if len(url) <= 200 else url[:200] + "…"
    return InvalidURL(f"{shown!r} is no address of a web page: {problem}")


@lru_cache(maxsize=1024)  # a crawl meets few hosts
def _site(netloc: str, scheme: str) -> str:
    """Return host and port as a key has them, from what stands between `//` and the path."""
    address = netloc.rpartition("@")[2]
    found = _ADDRESS.fullmatch(address) if len(address) <= _MAX_HOST else None
    if not found or int(found[2] or 0) > 65535:
        raise _invalid(address, "it needs a host, or a host and the number of a port")
    host, port = (_ipv6 if found[1].startswith("[") else _host)(found[1]), int(found[2] or 0)
    while host.startswith("www.") and "." in host[4:]:
        host = host[4:]
    # 443 is what a key, which says https, means anyway; 80 is meant by http only
    return host if port in (0, 443) or (port == 80 and scheme == "http") else f"{host}:{port}"


def _ipv6(host: str) -> str:
    try:
        return f"[{ipaddress.IPv6Address(host[1:-1].partition('%')[0]).compressed}]"
    except ValueError as error:
        raise _invalid(host, "it is no IPv6 address") from error


def _host(host: str) -> str:
    if "%" in host:
        host = unquote(host)
    host = host.lower()
    if not host.isascii():
        try:
            host = idna.encode(host, uts46=True).decode("ascii")
        except UnicodeError:
            host = _idna_2003(host)
    host = host.removesuffix(".")
    if not _HOST.fullmatch(host):
        raise _invalid(host, "it is no host name")
    return host


def _idna_2003(host: str) -> str:
    """Encode what IDNA 2008 refuses and registries sold all the same: domains of symbols."""
    try:
        return host.encode("idna").decode("ascii").lower()
    except UnicodeError as error:
        raise _invalid(host, "it is no host name") from error


def _path(path: str, rules: KeyRules) -> str:
    """Return a path without what makes no difference; "" for the root."""
    path = _encoded(path, _NOT_IN_PATH)
    if ";" in path:  # before the dot segments, which it may hide
        path = _SESSION.sub("", path)
    path = _without_dots(path)
    if rules.merge_slashes:
        path = re.sub("//+", "/", path)
    return path.rstrip("/")


def _without_dots(path: str) -> str:
    """Remove dot segments (RFC 3986 §5.2.4); double slashes stay, for some servers tell them apart."""
    if "/." not in path:
        return path
    kept: list[str] = []
    segments = path.split("/")[1:]
    for segment in segments:
        if segment == "..":
            del kept[-1:]
        elif segment != ".":
            kept.append(segment)
    if segments[-1] in (".", ".."):
        kept.append("")
    return "/" + "/".join(kept)


def _encoded(text: str, illegal: re.Pattern[str]) -> str:
    """Percent-encode what a URL can't hold, and write every escape in one way; never decode a reserved character."""
    if "%" in text and _ODD_ESCAPE.search(text):
        text = _ESCAPE.sub(_one_escape, text)
    return illegal.sub(_escape, text)


def _one_escape(escape: re.Match[str]) -> str:
    character = chr(int(escape[1], 16))
    return character if character in _UNRESERVED else escape[0].upper()


def _escape(illegal: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in illegal[0].encode("utf-8", "surrogatepass"))


def _query(query: str, rules: KeyRules) -> str:
    """Return the parameters that count, sorted by name alone: values of one name keep their order, blank ones stay."""
    if not _PLAIN_QUERY.fullmatch(query):
        query = _encoded(query, _NOT_IN_QUERY).replace("%20", "+")
    kept: list[tuple[str, str]] = []
    for parameter in query.split("&"):
        name, _, value = parameter.partition("=")
        if parameter and not rules.drops(name, value):
            kept.append((name, value))
    if len(kept) > 1:
        kept.sort(key=_name)
    return "&".join([f"{name}={value}" for name, value in kept])


def _name(parameter: tuple[str, str]) -> str:
    return parameter[0]


def _shortened(key: str) -> str:
    head = re.sub(r"%[0-9A-F]?$", lambda cut: "~" * len(cut[0]), key[:_HEAD_LENGTH])
    return f"{head}~{hashlib.sha256(key.encode('ascii')).hexdigest()}"
