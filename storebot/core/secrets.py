"""Addresses that are secrets, such as a webhook's: shown without what makes them one, and taken out of texts."""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import parse_qsl, unquote, unquote_plus, urlsplit

HIDDEN = "***"
_LEAST = 4  # shorter parts ("v1", "api") would tear words apart, and keep no secret


def shown_url(url: str) -> str:
    """Return what of a URL may be read by anybody: its scheme and host; of an address without a host, its scheme."""
    scheme, _, rest = url.partition("://")
    if not rest:
        return HIDDEN
    host = urlsplit(f"http://{rest}").hostname if scheme in ("http", "https") else ""
    return f"{scheme}://{host}/{HIDDEN}" if host else f"{scheme}://{HIDDEN}"


def has_password(url: str) -> bool:
    """Whether a folder or URL names a user's password, as ``scheme://user:password@host`` does."""
    _, _, rest = url.partition("://")
    return ":" in re.split(r"[/?#]", rest)[0].rpartition("@")[0]


def secret_parts(url: str, *, host: bool = True) -> tuple[str, ...]:
    """Return the parts of a URL that nobody is to read, the longest first, each as it's written and decoded.

    All but the scheme: Apprise has tokens where others have the host. ``host=False`` leaves out what stands there.
    """
    rest = url.partition("://")[2] or url
    authority, *path = re.split(r"[/?#]", rest)
    login, _, address = authority.rpartition("@")
    parts = [url, rest, *re.split(r"[:]", login), *path]
    parts += [value for piece in path for value in _values(piece)]
    if host:
        parts += [address, address.partition(":")[0]]
    whole = {form for part in parts for form in (part, unquote(part), unquote_plus(part))}
    return tuple(sorted((part for part in whole if len(part) >= _LEAST), key=lambda part: (-len(part), part)))


def redacted(text: str, secrets: Iterable[str]) -> str:
    """Return a text without these parts, wherever they stand in it."""
    for secret in secrets:
        text = text.replace(secret, HIDDEN)
    return text


def _values(piece: str) -> list[str]:
    return [value for _, value in parse_qsl(piece, keep_blank_values=True)] if "=" in piece else []
