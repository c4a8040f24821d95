"""Proxies on this machine: HTTP (CONNECT and absolute URLs), also over TLS, and SOCKS5; with passwords and bad days."""

from __future__ import annotations

import asyncio
import base64
import ssl
import struct
from abc import abstractmethod
from contextlib import suppress
from dataclasses import dataclass, field
from typing import ClassVar
from urllib.parse import urlsplit

from storebot.demo.certificate import Certificate
from tests.vendors.serving import RawServed

_CHUNK = 65_536
_SOCKS_HOST_UNREACHABLE, _SOCKS_REFUSED = b"\x05\x04", b"\x05\x02"


@dataclass
class Counted:
    """What passed through a proxy."""

    connections: int = 0  # accepted from clients
    refused: int = 0  # wrong or no password
    tunnels: list[str] = field(default_factory=list)  # host:port of CONNECT or SOCKS5, in their order
    requests: list[str] = field(default_factory=list)  # URLs of plain HTTP, in their order
    bytes_down: int = 0  # from the shop to the client


class _Proxy(RawServed):
    """A proxy at ``url``, password included.

    ``address`` is the one of this machine's (127.0.0.0/8) from which it calls the shop, so that each proxy is another
    visitor. ``down`` True closes every connection at once; ``status`` above 0 is what an HTTP proxy answers instead of
    passing on (403, 407, 429, 502 …). ``hosts`` are names that lead elsewhere: a shop that this machine's DNS doesn't
    know. All may change while it serves.
    """

    scheme: ClassVar[str]

    def __init__(self, user: str = "", password: str = "", address: str = "127.0.0.1") -> None:
        self.user, self.password, self.address = user, password, address
        self.counted = Counted()
        self.hosts: dict[str, tuple[str, int]] = {}
        self.down = False
        self.status = 0

    @property
    def url(self) -> str:
        """Its URL as a client is given it."""
        login = f"{self.user}:{self.password}@" if self.user else ""
        return f"{self.scheme}://{login}127.0.0.1:{self.port}"

    async def converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Count a client, and speak with it unless it's ``down``."""
        self.counted.connections += 1
        if not self.down:
            await self.serve(reader, writer)

    @abstractmethod
    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Speak with one client until it hangs up."""

    async def call(self, host: str, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Connect to a shop, from this proxy's address."""
        host, port = self.hosts.get(host, (host, port))
        return await asyncio.open_connection(host, port, local_addr=(self.address, 0))

    async def join(
        self,
        client: tuple[asyncio.StreamReader, asyncio.StreamWriter],
        shop: tuple[asyncio.StreamReader, asyncio.StreamWriter],
    ) -> None:
        """Pass bytes on in both directions until both sides have ended."""
        down = asyncio.create_task(self._pump(shop[0], client[1], counts=True))
        up = asyncio.create_task(self._pump(client[0], shop[1], counts=False))
        try:
            await asyncio.gather(down, up)
        finally:
            down.cancel()
            up.cancel()
            shop[1].close()

    async def _pump(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, *, counts: bool) -> None:
        while chunk := await source.read(_CHUNK):
            if counts:
                self.counted.bytes_down += len(chunk)
            sink.write(chunk)
            await sink.drain()
        with suppress(OSError):  # the other direction ended first, and closed it
            if sink.can_write_eof():
                sink.write_eof()
            else:  # TLS ends both ways at once
                sink.close()


class HttpProxy(_Proxy):
    """An HTTP proxy: tunnels by CONNECT, and plain requests with an absolute URL, one per connection."""

    scheme = "http"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request."""
        head = await reader.readuntil(b"\r\n\r\n")
        request, *lines = head.decode("latin-1").split("\r\n")
        method, target, _ = request.split(" ", 2)
        if self.user and not self._knows(lines):
            self.counted.refused += 1
            await _say(writer, 407, 'Proxy-Authenticate: Basic realm="proxy"\r\n')
        elif self.status:
            await _say(writer, self.status)
        elif method == "CONNECT":
            await self._tunnel(reader, writer, target)
        else:
            await self._forward(reader, writer, f"{method} {target}", lines)

    def _knows(self, lines: list[str]) -> bool:
        expected = base64.b64encode(f"{self.user}:{self.password}".encode()).decode()
        return f"proxy-authorization: basic {expected}".lower() in (line.lower() for line in lines)

    async def _tunnel(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, target: str) -> None:
        self.counted.tunnels.append(target)
        host, _, port = target.rpartition(":")
        try:
            shop = await self.call(host.strip("[]"), int(port))
        except OSError:
            await _say(writer, 502)
            return
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        await self.join((reader, writer), shop)

    async def _forward(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: str, lines: list[str]
    ) -> None:
        method, url = request.split(" ", 1)
        self.counted.requests.append(url)
        parts = urlsplit(url)
        try:
            shop = await self.call(parts.hostname or "", parts.port or 80)
        except OSError:
            await _say(writer, 502)
            return
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        kept = [line for line in lines if line and not line.lower().startswith(("proxy-", "connection:"))]
        head = "\r\n".join((f"{method} {path} HTTP/1.1", *kept, "Connection: close", "", ""))
        shop[1].write(head.encode("latin-1"))
        await self.join((reader, writer), shop)


class HttpsProxy(HttpProxy):
    """The same over TLS."""

    scheme = "https"

    def __init__(self, known: Certificate, user: str = "", password: str = "") -> None:
        super().__init__(user, password)
        self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.tls.load_cert_chain(known.certificate, known.key)


class SocksProxy(_Proxy):
    """A SOCKS5 proxy (RFC 1928) that takes a password where it has one (RFC 1929)."""

    scheme = "socks5"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Greet, check the password, connect, and pass on."""
        _, count = await reader.readexactly(2)
        methods = await reader.readexactly(count)
        wanted = 2 if self.user else 0
        if wanted not in methods:
            self.counted.refused += 1
            writer.write(b"\x05\xff")
            return
        writer.write(bytes((5, wanted)))
        if self.user and not await self._login(reader, writer):
            return
        host, port = await _socks_target(reader)
        self.counted.tunnels.append(f"{host}:{port}")
        shop = None
        refusal = _SOCKS_REFUSED
        if not self.status:
            try:
                shop = await self.call(host, port)
            except OSError:
                refusal = _SOCKS_HOST_UNREACHABLE
        writer.write((b"\x05\x00" if shop else refusal) + b"\x00\x01\x00\x00\x00\x00\x00\x00")
        await writer.drain()
        if shop:
            await self.join((reader, writer), shop)

    async def _login(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        _, length = await reader.readexactly(2)
        user = await reader.readexactly(length)
        (length,) = await reader.readexactly(1)
        password = await reader.readexactly(length)
        known = (user.decode(), password.decode()) == (self.user, self.password)
        self.counted.refused += not known
        writer.write(b"\x01\x00" if known else b"\x01\x01")
        return known


async def _socks_target(reader: asyncio.StreamReader) -> tuple[str, int]:
    """Read a CONNECT request: its host, by name or address, and its port."""
    _, _, _, kind = await reader.readexactly(4)
    if kind == 3:
        (length,) = await reader.readexactly(1)
        host = (await reader.readexactly(length)).decode("ascii")
    else:
        raw = await reader.readexactly(4 if kind == 1 else 16)
        host = (
            ".".join(map(str, raw)) if kind == 1 else ":".join(f"{raw[n]:02x}{raw[n + 1]:02x}" for n in range(0, 16, 2))
        )
    (port,) = struct.unpack("!H", await reader.readexactly(2))
    return host, port


async def _say(writer: asyncio.StreamWriter, status: int, headers: str = "") -> None:
    writer.write(
        f"HTTP/1.1 {status} Said by the proxy\r\n{headers}Content-Length: 0\r\nConnection: close\r\n\r\n".encode()
    )
    await writer.drain()
