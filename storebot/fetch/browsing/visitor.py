"""Whose context in a browser a request is for."""

from __future__ import annotations

import base64
from collections.abc import Hashable
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

from storebot.core.identity import FIRST, Identity
from storebot.core.proxy import Proxy, read_proxy
from storebot.exceptions import FetchFailed

if TYPE_CHECKING:
    from scrapy.http import Request


class Visitor(NamedTuple):
    """One visitor of the shop, with cookies of its own: two requests of equal visitors share a context."""

    number: int
    cookiejar: Hashable = None
    proxy: Proxy | None = None


def visitor_of(request: Request) -> Visitor:
    """Return the visitor that a request's identity is, or its cookie jar and proxy where it has none."""
    identity: Identity = request.meta.get("identity") or FIRST
    return Visitor(identity.number, request.meta.get("cookiejar"), identity.proxy or _proxy(request))


def _proxy(request: Request) -> Proxy | None:
    """Return the proxy of Scrapy's standard key, whose credentials HttpProxyMiddleware has put into a header."""
    url: str | None = request.meta.get("proxy")
    if not url:
        return None
    try:
        proxy = read_proxy(url)
        secret = (request.headers.get("Proxy-Authorization") or b"").partition(b" ")[2]
        if not secret or proxy.has_login:
            return proxy
        name, _, password = base64.b64decode(secret).decode().partition(":")
        return read_proxy(proxy.server.replace("://", f"://{quote(name, safe='')}:{quote(password, safe='')}@", 1))
    except ValueError as error:
        raise FetchFailed(f"{request.url}: its proxy can't be used: {error}") from error
