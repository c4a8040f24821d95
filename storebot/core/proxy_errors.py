"""What an error that came through a proxy says: whose fault it is, and never the proxy's password."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple


class Fault(StrEnum):
    """Whose fault a failure is."""

    PROXY = "proxy"  # another one may get the page
    SHOP = "shop"  # or ours: the proxy did what it's for
    UNCLEAR = "unclear"  # either's: a connection that broke, a wait without end


class Told(NamedTuple):
    """One error of a chain: the name of its class, and its text."""

    name: str
    text: str


# How the clients word what a proxy answered to CONNECT: Scrapy's TunnelError, aiohttp's ClientHttpProxyError, httpx's
# ProxyError, libcurl. All of them, and what stands below, were seen with real proxies (tests/fetch/test_proxies.py).
_CONNECT_STATUS = re.compile(r"'status': (\d{3})|^(\d{3})(?:,| )|CONNECT tunnel failed, response (\d{3})")
_CONNECT_TELLERS = frozenset(
    {"TunnelError", "ClientHttpProxyError", "ProxyError", "ConnectionError", "DownloadConnectionRefusedError"}
)
_SHOP_STATUS = (502, 504)  # the gateway couldn't reach the shop, RFC 9110 §15.6.3 and §15.6.5
# What a SOCKS5 proxy answers to CONNECT (RFC 1928 §6): by number in libcurl, in words in socksio.
_SOCKS_REPLY = re.compile(
    r"cannot complete SOCKS5 connection to [^()]{0,300}\((\d{1,4})\)|could not connect: ([A-Za-z ]{1,60})"
)
_SOCKS_SHOP = ("3", "4", "5", "6", "Network unreachable", "Host unreachable", "Connection refused", "TTL expired")
_SOCKS_UNCLEAR = ("1", "General SOCKS server failure")
# https://source.chromium.org/chromium/chromium/src/+/main:net/base/net_error_list.h
_CHROMIUM_PROXY = re.compile(r"ERR_(?:PROXY_|MANDATORY_PROXY|NO_SUPPORTED_PROXIES|INVALID_AUTH_CREDENTIALS)")
_CHROMIUM_UNCLEAR = re.compile(r"ERR_(?:TUNNEL_CONNECTION_FAILED|SOCKS_CONNECTION_FAILED|EMPTY_RESPONSE|TIMED_OUT)")
_CHROMIUM = re.compile(r"\bERR_[A-Z_]+")
_PROXY_NAMES = frozenset({"ClientProxyConnectionError", "ProxyError", "TunnelError", "ProtocolError"})
# Through a proxy, the only name that this machine resolves and the only host that it connects to are the proxy's.
_CONNECTING = frozenset(
    {"DownloadConnectionRefusedError", "CannotResolveHostError", "ConnectError", "NoRouteError", "TCPTimedOutError"}
)
_BROKEN = frozenset({"DownloadFailedError", "DownloadTimeoutError", "ResponseDataLossError", "ConnectionLost"})
_LOGIN = re.compile(r"(\b[a-z][a-z0-9+.-]{0,20}:/{0,9})[^/?#@\s'\"]{0,1000}@", re.IGNORECASE)


def chain_of(error: BaseException) -> tuple[Told, ...]:
    """Return an error and what it came from, the outermost first."""
    found: list[Told] = []
    one: BaseException | None = error
    while one is not None and len(found) < 8:
        found.append(Told(type(one).__name__, str(one)))
        one = one.__cause__ or one.__context__
    return tuple(found)


def fault_of(chain: Sequence[Told]) -> Fault:
    """Say whose fault it is that a request through a proxy got no response."""
    names = {told.name for told in chain}
    text = "\n".join(told.text for told in chain)
    if status := _connect_status(chain):
        return Fault.SHOP if status in _SHOP_STATUS else Fault.UNCLEAR if status >= 500 else Fault.PROXY
    if reply := _SOCKS_REPLY.search(text):
        code = (reply[1] or reply[2]).strip()
        return Fault.SHOP if code in _SOCKS_SHOP else Fault.UNCLEAR if code in _SOCKS_UNCLEAR else Fault.PROXY
    if _CHROMIUM.search(text):
        unclear = Fault.UNCLEAR if _CHROMIUM_UNCLEAR.search(text) else Fault.SHOP
        return Fault.PROXY if _CHROMIUM_PROXY.search(text) else unclear
    if names & _PROXY_NAMES or names & _CONNECTING:
        return Fault.PROXY
    return Fault.UNCLEAR if names & _BROKEN else Fault.SHOP


def without_login(text: str) -> str:
    """Return a text with the credentials of each URL in it replaced by an ellipsis."""
    return _LOGIN.sub(r"\1…@", text)


def hide_login(error: BaseException) -> None:
    """Take the credentials of URLs out of an error's text, and out of reach what it came from if that shows them.

    aiohttp's errors quote a proxy with its password, in their text and in attributes: whoever logs the error, or its
    traceback, would write it down.
    """
    if any(without_login(told.text) != told.text for told in chain_of(error)):
        error.args = tuple(without_login(arg) if isinstance(arg, str) else arg for arg in error.args)
        error.__cause__ = None
        error.__context__ = None


def _connect_status(chain: Sequence[Told]) -> int:
    for told in chain:
        if told.name in _CONNECT_TELLERS and (found := _CONNECT_STATUS.search(told.text)):
            return int(found[1] or found[2] or found[3])
    return 0
