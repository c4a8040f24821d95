"""Which requests the dashboard believes: where they come from, and where they may lead."""

from __future__ import annotations

import hashlib
import hmac
from urllib.parse import urlsplit

_OWN_SITES = ("same-origin", "none")  # Sec-Fetch-Site: of our own page, or typed by the person


def form_token(cookie: str) -> str:
    """Return what a form has to bring along, beside the cookie that it's made of (OWASP: double submit)."""
    return hashlib.sha256(b"storebot form " + cookie.encode(errors="replace")).hexdigest()


def is_form_token(token: str, cookie: str) -> bool:
    """Whether a form was made for the browser that has this cookie."""
    return bool(cookie) and hmac.compare_digest(token.encode(errors="replace"), form_token(cookie).encode())


def is_own_site(origin: str, fetch_site: str, host: str, public_url: str) -> bool:
    """Whether a request that changes something comes from a page of ours, as far as the browser says.

    ``origin`` and ``fetch_site`` are the headers Origin and Sec-Fetch-Site, "" where there is none; ``host`` is the
    Host header.
    """
    if fetch_site and fetch_site not in _OWN_SITES:
        return False
    if not origin:
        return True
    return urlsplit(origin).netloc == host or (bool(public_url) and origin == origin_of(public_url))


def origin_of(url: str) -> str:
    """Return scheme and authority of a URL."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def own_path(text: str, default: str = "/") -> str:
    """Return a path of this site to go to, ``default`` for all else: another host, another scheme, control characters.

    Browsers read a backslash as a slash, and two slashes as the begin of a host.
    """
    if not text.startswith("/") or text.startswith(("//", "/\\")) or "\\" in text or not text.isprintable():
        return default
    return text
