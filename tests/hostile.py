"""A shop on raw sockets that misbehaves: answers without end, cut, lying, packed into bombs, or one byte at a time."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable

from tests.vendors.serving import RawServed

Answer = Callable[["Wire"], Awaitable[None]]  # writes one answer; the connection is closed after it
_CHUNK = b"<!-- filler -->\n" * 4_096
_TICK_S = 0.05


class Wire:
    """What an answer writes to: it counts, and stops where the client has hung up."""

    def __init__(self, writer: asyncio.StreamWriter, sent: Counter[str], path: str) -> None:
        self._writer, self._sent, self._path = writer, sent, path

    async def send(self, data: bytes) -> None:
        """Write bytes, as fast as the client reads them. Raises OSError once it has hung up."""
        self._writer.write(data)
        await self._writer.drain()
        self._sent[self._path] += len(data)


class HostileShop(RawServed):
    """``with HostileShop() as shop: shop.says("/p/1", endless())``; other paths answer 404.

    ``asked`` counts requests by path, ``sent`` bytes by path: what a client took before it hung up.
    """

    def __init__(self, host: str = "127.0.0.1") -> None:
        self.host = host
        self.asked: Counter[str] = Counter()
        self.sent: Counter[str] = Counter()
        self._answers: dict[str, Answer] = {}

    def says(self, path: str, answer: Answer | bytes) -> None:
        """Script a path: by what writes the answer, or by its bytes."""
        self._answers[path] = raw(answer) if isinstance(answer, bytes) else answer

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://{self.host}:{self.port}"

    async def converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request."""
        head = await reader.readuntil(b"\r\n\r\n")
        path = head.split(b" ", 2)[1].decode("latin-1")
        self.asked[path] += 1
        await self._answers.get(path, _NOT_FOUND)(Wire(writer, self.sent, path))


def raw(data: bytes) -> Answer:
    """Answer with these bytes, and close."""

    async def answer(wire: Wire) -> None:
        await wire.send(data)

    return answer


def page(body: bytes, *headers: str, status: str = "200 OK", length: int | None = None) -> bytes:
    """Return a whole answer; ``length`` is what it promises, where that is another than it has."""
    promised = len(body) if length is None else length
    kind = () if any(header.lower().startswith("content-type") for header in headers) else ("Content-Type: text/html",)
    lines = (f"HTTP/1.1 {status}", *kind, *headers, f"Content-Length: {promised}", "Connection: close", "", "")
    return "\r\n".join(lines).encode("latin-1") + body


def endless(*headers: str, chunked: bool = False, chunk: bytes = _CHUNK) -> Answer:
    """Answer with a body that has no end and no length."""

    async def answer(wire: Wire) -> None:
        coding = ("Transfer-Encoding: chunked",) if chunked else ()
        head = ("HTTP/1.1 200 OK", "Content-Type: text/html", *headers, *coding, "Connection: close", "", "")
        await wire.send("\r\n".join(head).encode("latin-1"))
        piece = b"%x\r\n%s\r\n" % (len(chunk), chunk) if chunked else chunk
        while True:
            await wire.send(piece)

    return answer


def dripping(data: bytes) -> Answer:
    """Answer one byte at a time, for ever: the last byte is repeated."""

    async def answer(wire: Wire) -> None:
        for place in range(1_000_000):
            await wire.send(data[place : place + 1] or data[-1:])
            await asyncio.sleep(_TICK_S)

    return answer


def flood(first: bytes, again: bytes) -> Answer:
    """Answer with ``first``, and then with ``again`` for ever: headers, or interim responses."""

    async def answer(wire: Wire) -> None:
        await wire.send(first)
        while True:
            await wire.send(again * (65_536 // len(again) + 1))

    return answer


def redirect(to: str, status: int = 302) -> bytes:
    """Return a redirect."""
    return page(b"", f"Location: {to}", status=f"{status} Moved")


_NOT_FOUND = raw(page(b"<title>Not found</title>", status="404 Not Found"))
