"""The only way out for a browser of ours: a SOCKS5 server of this process, one for each identity (decision 0025).

It sees every connection: of pages, frames, redirects, workers and WebSockets, after the name was resolved and before
anything is sent. So no page reaches a private network, whatever it tries, and the identity's proxy is used for all.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Awaitable, Callable, Sequence
from urllib.parse import urlsplit

from scrapy.exceptions import CannotResolveHostError, DownloadConnectionRefusedError, DownloadTimeoutError

from storebot.core.addresses import refusal
from storebot.core.proxy import Proxy
from storebot.exceptions import PrivateAddress
from storebot.fetch.browsing.plain import pass_requests
from storebot.fetch.browsing.upstream import CONNECT_S, LIMIT, Streams, dial, tunnel

logger = logging.getLogger(__name__)

Resolve = Callable[[str], Awaitable[Sequence[str]]]

_CHUNK = 64 * 1024
_MOST_FAILURES = 256  # hosts of which the last failure is remembered
_TLS = b"\x16"  # the first byte of a handshake, RFC 8446 §5.1
_GRANTED, _NOT_ALLOWED, _UNREACHABLE = 0, 2, 4  # RFC 1928 §6
_ENDS = (EOFError, OSError, TimeoutError, asyncio.LimitOverrunError)  # how a conversation ends that is nobody's fault


async def resolve(host: str) -> Sequence[str]:
    """Return the addresses of a host. Raises CannotResolveHostError."""
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except OSError as error:
        raise CannotResolveHostError(f"{host} can't be resolved: {error}") from error
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


class Guard:
    """A SOCKS5 server on a free port of the loopback that connects to public addresses alone.

    With ``proxy`` it connects through that, and names are judged unresolved: what the proxy can reach is its owner's
    network, not ours. ``private_ok`` is for a store that is in a private network itself.
    """

    def __init__(self, *, private_ok: bool, proxy: Proxy | None = None, resolve: Resolve = resolve) -> None:
        self.port = 0
        self._private_ok, self._proxy, self._resolve = private_ok, proxy, resolve
        self._failures: dict[tuple[str, int], Exception] = {}
        self._open: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    async def open(self) -> None:
        """Begin to listen."""
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, limit=LIMIT)
        self.port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        """Stop, and cut what is open."""
        if self._server is not None:
            self._server.close()
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    def failure(self, host: str, port: int) -> Exception | None:
        """Return why the last connection to a host could not be made; the browser knows no more than that it wasn't."""
        known = self._failures.get((host, port))
        if known is None:
            return None
        told = type(known)(*known.args)  # each page raises its own: what is raised collects a traceback
        told.__cause__ = known.__cause__
        return told

    def explain(self, url: str) -> Exception | None:
        """Return the same of a URL."""
        parts = urlsplit(url)
        return self.failure(parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80))

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        try:
            await self._converse((reader, writer))
        except (*_ENDS, asyncio.CancelledError):
            pass  # either side hung up, or `close` ends it: nobody else knows this task
        finally:
            self._open.discard(task)
            writer.close()

    async def _converse(self, browser: Streams) -> None:
        host, port = await _asked_for(browser)
        if self._proxy is not None and self._proxy.scheme != "socks5":
            await self._through_http(browser, host, port, self._proxy)
            return
        try:
            shop = await self._connect(host, port)
        except Exception as error:
            self._note(host, port, error)
            _reply(browser, _NOT_ALLOWED if isinstance(error, PrivateAddress) else _UNREACHABLE)
            await browser[1].drain()
            return
        self._failures.pop((host, port), None)
        _reply(browser, _GRANTED)
        await join(browser, shop)

    async def _connect(self, host: str, port: int) -> Streams:
        self._judge(host, port, ())
        if self._proxy is not None:
            return await tunnel(self._proxy, host, port)
        addresses = await self._resolve(host)
        self._judge(host, port, addresses)
        return await _first_of(host, addresses, port)

    async def _through_http(self, browser: Streams, host: str, port: int, proxy: Proxy) -> None:
        """Go on as the browser begins: many HTTP proxies tunnel TLS only, and want plain requests to be plain."""
        try:
            self._judge(host, port, ())
            _reply(browser, _GRANTED)
            first = await browser[0].read(_CHUNK)
            if not first:
                return
            if first.startswith(_TLS):
                shop = await tunnel(proxy, host, port)
                shop[1].write(first)
                await join(browser, shop)
            else:
                await pass_requests(browser, await dial(proxy), first, f"{host}:{port}", proxy)
            self._failures.pop((host, port), None)
        except _ENDS:
            raise
        except Exception as error:
            self._note(host, port, error)

    def _judge(self, host: str, port: int, addresses: Sequence[str]) -> None:
        authority = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        why = refusal(f"http://{authority}/", private_ok=self._private_ok, addresses=addresses)
        if why:
            raise PrivateAddress(f"{host}:{port} is not asked, because {why}")

    def _note(self, host: str, port: int, error: Exception) -> None:
        logger.debug("%s:%d: %s", host, port, error)
        self._failures.pop((host, port), None)
        self._failures[host, port] = error
        while len(self._failures) > _MOST_FAILURES:
            del self._failures[next(iter(self._failures))]


async def join(one: Streams, other: Streams) -> None:
    """Pass bytes on in both directions until both have ended."""
    pumps = [asyncio.ensure_future(_pump(one[0], other[1])), asyncio.ensure_future(_pump(other[0], one[1]))]
    try:
        await asyncio.gather(*pumps)
    finally:
        for pump in pumps:
            pump.cancel()
        other[1].close()


async def _pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    while chunk := await source.read(_CHUNK):
        sink.write(chunk)
        await sink.drain()
    if sink.can_write_eof() and not sink.is_closing():
        sink.write_eof()


async def _asked_for(browser: Streams) -> tuple[str, int]:
    """Take the greeting and the request of a SOCKS5 client; return the host and port that it wants."""
    reader, writer = browser
    _, count = await reader.readexactly(2)
    await reader.readexactly(count)
    writer.write(b"\x05\x00")
    _, _, _, kind = await reader.readexactly(4)
    if kind == 3:
        host = (await reader.readexactly((await reader.readexactly(1))[0])).decode("ascii", "replace")
    else:
        family, length = (socket.AF_INET, 4) if kind == 1 else (socket.AF_INET6, 16)
        host = socket.inet_ntop(family, await reader.readexactly(length))
    return host.strip("[]"), int.from_bytes(await reader.readexactly(2), "big")


def _reply(browser: Streams, code: int) -> None:
    browser[1].write(bytes((5, code, 0, 1, 0, 0, 0, 0, 0, 0)))


async def _first_of(host: str, addresses: Sequence[str], port: int) -> Streams:
    """Connect to the first address that answers. Raises what the last one said."""
    last: Exception = CannotResolveHostError(f"{host} has no address")
    for address in addresses:
        try:
            return await asyncio.wait_for(asyncio.open_connection(address, port, limit=LIMIT), CONNECT_S)
        except TimeoutError as error:
            last = DownloadTimeoutError(f"{host}:{port} didn't answer within {CONNECT_S:.0f} s")
            last.__cause__ = error
        except OSError as error:
            last = DownloadConnectionRefusedError(f"{host}:{port} can't be reached: {error}")
            last.__cause__ = error
    raise last
