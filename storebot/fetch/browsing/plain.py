"""Plain HTTP through an HTTP proxy: each request gets an absolute URL and the proxy's password (RFC 9112 §3.2.2)."""

from __future__ import annotations

import asyncio
import re

from storebot.core.proxy import Proxy
from storebot.fetch.browsing.upstream import Streams, login

_CHUNK = 64 * 1024
_LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*(\d{1,18})[ \t]*\r\n", re.IGNORECASE)
_UPGRADE = re.compile(rb"\r\nupgrade:", re.IGNORECASE)


async def pass_requests(browser: Streams, proxy_end: Streams, first: bytes, authority: str, proxy: Proxy) -> None:
    """Pass a browser's requests on, rewritten, and the answers back, until one side ends.

    ``first`` is what the browser has sent already. A browser sends a body with its length, never in chunks.
    """
    answers = asyncio.ensure_future(_answers(proxy_end[0], browser[1]))
    try:
        await _requests(browser[0], proxy_end[1], first, authority.removesuffix(":80"), login(proxy))
        await answers
    finally:
        answers.cancel()
        proxy_end[1].close()


async def _requests(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, waiting: bytes, authority: str, more: list[bytes]
) -> None:
    while True:
        while b"\r\n\r\n" not in waiting:
            chunk = await reader.read(_CHUNK)
            if not chunk:
                return
            waiting += chunk
        head, _, waiting = waiting.partition(b"\r\n\r\n")
        writer.write(absolute(head, authority, more))
        length = _LENGTH.search(head + b"\r\n")
        left = int(length[1]) if length else 0
        if _UPGRADE.search(head):
            left = 1 << 62  # a WebSocket: what follows is no HTTP
        while left:
            part, waiting = waiting[:left], waiting[left:]
            writer.write(part)
            await writer.drain()
            left -= len(part)
            if left:
                waiting = await reader.read(_CHUNK)
                if not waiting:
                    return
        await writer.drain()


def absolute(head: bytes, authority: str, more: list[bytes]) -> bytes:
    """Return the head of a request, without its empty line, as a proxy wants it."""
    request, *lines = head.split(b"\r\n")
    method, _, rest = request.partition(b" ")
    return b"\r\n".join([method + b" http://" + authority.encode("ascii") + rest, *lines, *more, b"", b""])


async def _answers(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while chunk := await reader.read(_CHUNK):
        writer.write(chunk)
        await writer.drain()
    writer.close()
