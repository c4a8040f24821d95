"""The demo store over HTTP: counts, lies, then answers each request."""

from __future__ import annotations

import asyncio
import secrets
import socket
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from aiohttp import web

from storebot.demo import lies
from storebot.demo.answers import Answer, Asked
from storebot.demo.certificate import write_certificate
from storebot.demo.control import PREFIX, Control
from storebot.demo.front import FACTS, front
from storebot.demo.guards import EGRESS_HEADER
from storebot.demo.ledger import Facts, Ledger
from storebot.demo.options import ShopOptions
from storebot.demo.shop import Shop
from storebot.demo.site import Site, kind_of
from storebot.demo.visitors import COOKIE

_SHUTDOWN_S = 0.2  # answers that a `slow` lie holds back are not waited for


class Opened(NamedTuple):
    """Where a demo store is open."""

    url: str
    certificate: Path | None  # the authority that signed it, over HTTPS


class DemoServer:
    """Serves one shop at one address, and its switchboard below ``/_demo/``.

    ``token`` is what a front must know whose word about version and address is believed.
    """

    def __init__(self, options: ShopOptions, base_url: str, token: str) -> None:
        shop = Shop(options)
        self._site = Site(shop, base_url)
        self._ledger = Ledger()
        self._lies = lies.Switchboard()
        if options.guard:
            self._lies.lie(options.guard, options.guarded)
        self._control = Control(shop, self._lies, self._ledger, base_url)
        self._token = token

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer one request of any kind."""
        target = request.raw_path
        path = target.partition("?")[0]
        if path.startswith(PREFIX):
            return await self._control.handle(request)
        kind = kind_of(path)
        self._ledger.begin(kind, time.monotonic())
        asked = self._asked(request, path, target)
        status = size_bytes = 0
        try:
            given = self._answer(request.method, asked, target)
            if given.delay_s:
                await asyncio.sleep(given.delay_s)
            status, size_bytes = given.status, 0 if request.method == "HEAD" else len(given.body[: given.cut_at])
            return await _cut(request, given) if given.cut_at is not None else _response(given)
        finally:
            visitor = asked.cookies.get(COOKIE, "")
            facts = Facts(kind, status, asked.http, asked.address, visitor, asked.egress, asked.agent)
            self._ledger.end(request.method, target, facts, size_bytes)

    def _answer(self, method: str, asked: Asked, target: str) -> Answer:
        if method not in ("GET", "HEAD"):
            return Answer(status=405, headers={"Allow": "GET, HEAD"})
        return lies.answer(self._site, asked, self._lies.tell(target))

    def _asked(self, request: web.BaseRequest, path: str, target: str) -> Asked:
        headers = request.headers
        token, _, told = headers.get(FACTS, "").partition(" ")
        http, _, address = told.partition(" ") if token == self._token else ("1.1", "", request.remote or "")
        return Asked(
            path=path,
            query=target.partition("?")[2],
            now_s=time.time(),
            if_none_match=headers.get("If-None-Match"),
            if_modified_since=headers.get("If-Modified-Since"),
            accepts_gzip="gzip" in headers.get("Accept-Encoding", ""),
            cookies=request.cookies if "Cookie" in headers else {},
            http=http,
            address=address,
            agent=headers.get("User-Agent", ""),
            egress=headers.get(EGRESS_HEADER, ""),
        )


@asynccontextmanager
async def serving(options: ShopOptions, host: str, port: int) -> AsyncIterator[Opened]:
    """Serve a demo store while the block runs, and yield its address; port 0 takes a free one.

    Raises OSError where the port is in use or the host is none of this machine's, ConfigurationError where it is to be
    served over HTTPS and Hypercorn isn't installed.
    """
    async with AsyncExitStack() as stack:
        listening = _listen(host, port)
        stack.callback(listening.close)
        url = _address("https" if options.https else "http", host, listening)
        token = secrets.token_hex(8)
        server = DemoServer(options, url, token)
        if not options.https:
            await stack.enter_async_context(_served(server, listening))
            yield Opened(url, None)
            return
        inner = _listen("127.0.0.1", 0)
        stack.callback(inner.close)
        await stack.enter_async_context(_served(server, inner))
        certificate = write_certificate(Path(stack.enter_context(TemporaryDirectory(prefix="storebot-demo-"))), host)
        inner_url = _address("http", "127.0.0.1", inner)
        await stack.enter_async_context(front(listening, certificate, inner_url, token))
        yield Opened(url, certificate.certificate)


@asynccontextmanager
async def _served(server: DemoServer, listening: socket.socket) -> AsyncIterator[None]:
    runner = web.ServerRunner(web.Server(server.handle, access_log=None), shutdown_timeout=_SHUTDOWN_S)
    await runner.setup()
    try:
        await web.SockSite(runner, listening).start()
        yield
    finally:
        await runner.cleanup()


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, port), family=family, backlog=512)


def _address(scheme: str, host: str, listening: socket.socket) -> str:
    port = listening.getsockname()[1]
    return f"{scheme}://[{host}]:{port}" if ":" in host else f"{scheme}://{host}:{port}"


def _response(given: Answer) -> web.Response:
    headers = given.headers if given.status == 304 else {**given.headers, "Content-Type": given.content_type}
    return web.Response(status=given.status, body=given.body, headers=headers)


async def _cut(request: web.BaseRequest, given: Answer) -> web.StreamResponse:
    """Promise the whole body, send its beginning, and break the connection."""
    response = web.StreamResponse(status=given.status, headers={**given.headers, "Content-Type": given.content_type})
    response.content_length = len(given.body)
    await response.prepare(request)
    await response.write(given.body[: given.cut_at])
    if request.transport is not None:
        request.transport.close()
    return response
