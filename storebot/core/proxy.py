"""A proxy: read from one line of text, written back without its password wherever somebody could read it."""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass, field
from urllib.parse import quote, unquote, urlsplit

SCHEMES = ("http", "https", "socks5")
EXPECTED = "a proxy such as http://host:8080 or socks5://user:password@host:1080"
_LOGIN_HINT = "credentials stand before the host, and a /, ?, # or @ in them is written %2F, %3F, %23, %40"
_ALIASES = {"socks5h": "socks5"}  # curl's name for what is the only way here: the proxy resolves the shop's name
_HOST = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9._-]{0,252})|[0-9A-Fa-f:.]{2,45}")
_FOREIGN = ("ftp", "socks", "socks4", "socks4a", "ssh", "tor", "quic")  # schemes that may be named in an error


@dataclass(frozen=True, slots=True)
class Proxy:
    """One proxy. Its ``str`` and ``repr`` never hold the password; only `url` and `authorization` do.

    ``password`` and ``username`` are as they are sent, not as a URL spells them.
    """

    scheme: str  # of SCHEMES; "https" is TLS to the proxy itself. The proxy resolves the shop's name in any case
    host: str
    port: int
    username: str = field(default="", repr=False)  # often it holds the session or the customer
    password: str = field(default="", repr=False)

    @property
    def server(self) -> str:
        """Its URL without credentials."""
        return f"{self.scheme}://{f'[{self.host}]' if ':' in self.host else self.host}:{self.port}"

    @property
    def url(self) -> str:
        """Its URL with credentials, for those who connect to it, and for nobody's log."""
        if not self.has_login:
            return self.server
        login = f"{quote(self.username, safe='')}:{quote(self.password, safe='')}"
        return self.server.replace("://", f"://{login}@", 1)

    @property
    def has_login(self) -> bool:
        """Whether it asks for credentials."""
        return bool(self.username or self.password)

    @property
    def authorization(self) -> bytes | None:
        """The value of a Proxy-Authorization header; None where it has no credentials. RFC 7617 §2."""
        if not self.has_login:
            return None
        return b"Basic " + base64.b64encode(f"{self.username}:{self.password}".encode())

    def __str__(self) -> str:
        return self.server


def read_proxy(text: str) -> Proxy:
    """Return the proxy that a line names: a URL, or ``host:port`` for plain HTTP.

    Raises ValueError with what is wrong, never with a part of the text that could be a password.
    """
    text = text.strip()
    if "://" not in text:
        text = f"http://{text}"
    try:
        parts = urlsplit(text)
        host, port = parts.hostname or "", parts.port
    except ValueError:  # its own text quotes the address
        raise ValueError(f"expected {EXPECTED}; its host or port can't be read ({_LOGIN_HINT})") from None
    scheme = _ALIASES.get(parts.scheme, parts.scheme)
    if scheme not in SCHEMES:
        named = f", got {parts.scheme}" if parts.scheme in _FOREIGN else ""
        raise ValueError(f"expected {EXPECTED}; the scheme has to be one of {', '.join(SCHEMES)}{named}")
    if not _HOST.fullmatch(host):
        raise ValueError(f"expected {EXPECTED}; its host can't be read ({_LOGIN_HINT})")
    if not port:
        raise ValueError(f"expected {EXPECTED}; it names no port")
    if parts.path not in ("", "/") or parts.query or parts.fragment:
        raise ValueError(f"expected {EXPECTED}; something follows the port ({_LOGIN_HINT})")
    return Proxy(scheme, host, port, unquote(parts.username or ""), unquote(parts.password or ""))
