"""A connection to a shop through a proxy, for a browser that isn't told the proxy's password.

HTTP proxies by CONNECT (RFC 9110 §9.3.6), SOCKS5 (RFC 1928) with a password where it has one (RFC 1929). The proxy
resolves the shop's name.
"""

from __future__ import annotations

import asyncio
import ssl
import struct
from ipaddress import ip_address

from scrapy.exceptions import DownloadFailedError

from storebot.core.proxy import Proxy
from storebot.exceptions import FetchFailed

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]

LIMIT = 1024 * 1024  # bytes of a request's head, cookies included
CONNECT_S = 20.0
_REPLIES = {3: "Network unreachable", 4: "Host unreachable", 5: "Connection refused", 6: "TTL expired"}  # RFC 1928 §6


class ProxyError(FetchFailed, DownloadFailedError):
    """Raised where a proxy can't be reached, refuses, or can't reach the shop; its text tells these apart.

    `core.proxy_errors` knows it by its name, and by what it says of CONNECT and of SOCKS.
    """


async def dial(proxy: Proxy) -> Streams:
    """Connect to the proxy itself."""
    try:
        tls = ssl.create_default_context() if proxy.scheme == "https" else None
        opening = asyncio.open_connection(proxy.host, proxy.port, ssl=tls, limit=LIMIT)
        return await asyncio.wait_for(opening, CONNECT_S)
    except (OSError, TimeoutError) as error:
        raise ProxyError(f"the proxy {proxy} can't be reached ({error or type(error).__name__})") from error


async def tunnel(proxy: Proxy, host: str, port: int) -> Streams:
    """Connect to a shop through a proxy: what is written from now on is the shop's."""
    streams = await dial(proxy)
    try:
        asking = (_socks if proxy.scheme == "socks5" else _connect)(streams, proxy, host, port)
        await asyncio.wait_for(asking, CONNECT_S)
    except BaseException as error:
        streams[1].close()
        if isinstance(error, (EOFError, OSError, TimeoutError, asyncio.LimitOverrunError)):
            raise ProxyError(f"the proxy {proxy} hung up when it was asked for {host}:{port}") from error
        raise
    return streams


def login(proxy: Proxy) -> list[bytes]:
    """Return the header line that a proxy's credentials make; none where it has none."""
    return [b"Proxy-Authorization: " + proxy.authorization] if proxy.authorization else []


async def _connect(streams: Streams, proxy: Proxy, host: str, port: int) -> None:
    reader, writer = streams
    target = (f"[{host}]:{port}" if ":" in host else f"{host}:{port}").encode("ascii")
    writer.write(b"\r\n".join([b"CONNECT " + target + b" HTTP/1.1", b"Host: " + target, *login(proxy), b"", b""]))
    status = (await reader.readuntil(b"\r\n\r\n")).split(b"\r\n", 1)[0].decode("latin-1").partition(" ")[2]
    if not status.startswith("2"):
        raise ProxyError(f"the proxy {proxy}: CONNECT tunnel failed, response {status}")


async def _socks(streams: Streams, proxy: Proxy, host: str, port: int) -> None:
    reader, writer = streams
    writer.write(b"\x05\x02\x00\x02" if proxy.has_login else b"\x05\x01\x00")
    method = (await reader.readexactly(2))[1]
    if method == 2:
        user, password = proxy.username.encode(), proxy.password.encode()
        writer.write(bytes((1, len(user))) + user + bytes((len(password),)) + password)
        if (await reader.readexactly(2))[1] != 0:
            raise ProxyError(f"the proxy {proxy} refused its user name and password")
    elif method != 0:
        raise ProxyError(f"the proxy {proxy} wants credentials")
    writer.write(b"\x05\x01\x00" + _spelled(host) + struct.pack("!H", port))
    _, code, _, kind = await reader.readexactly(4)
    if code != 0:
        raise ProxyError(f"the proxy {proxy} could not connect: {_REPLIES.get(code, f'SOCKS reply {code}')}")
    length = {1: 4, 4: 16}.get(kind) or (await reader.readexactly(1))[0]
    await reader.readexactly(length + 2)  # from where it connects, of which nobody wants to know


def _spelled(host: str) -> bytes:
    """Return a host as SOCKS5 has it: an address of 4 or 16 bytes, or a name with its length."""
    try:
        address = ip_address(host)
    except ValueError:
        name = host.encode("ascii")
        return b"\x03" + bytes((len(name),)) + name
    return (b"\x01" if address.version == 4 else b"\x04") + address.packed
