"""The name of a store, from its address."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

_SECOND = frozenset({"co", "com", "net", "org", "gov", "edu", "ac", "or", "ne"})  # before a country: example.co.uk
_LONGEST = 63


def store_name(base_url: str) -> str:
    """Return a name that a store's folder may have: ``https://www.tea-shop.co.uk/de`` is ``tea-shop-de``."""
    parts = urlsplit(base_url)
    host = parts.hostname or "store"
    labels = host.removeprefix("www.").split(".")
    if not re.fullmatch(r"[\d.]+|.*:.*", host) and len(labels) > 1:
        labels.pop()
        if len(labels) > 1 and labels[-1] in _SECOND:
            labels.pop()
    port = [str(parts.port)] if parts.port else []
    words = "-".join([*labels, *port, *parts.path.split("/")]).lower()
    return re.sub(r"[^a-z0-9_]+", "-", words).strip("-_")[:_LONGEST].rstrip("-_") or "store"
