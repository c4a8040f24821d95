"""The demo store over HTTP: counts, lies, then answers each request."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import web

from storebot.demo import lies
from storebot.demo.answers import Answer, Asked
from storebot.demo.control import PREFIX, Control
from storebot.demo.ledger import Ledger
from storebot.demo.options import ShopOptions
from storebot.demo.shop import Shop
from storebot.demo.site import Site, kind_of

_SHUTDOWN_S = 0.2  # answers that a `slow` lie holds back are not waited for


class DemoServer:
    """Serves one shop at one address, and its switchboard below ``/_demo/``."""

    def __init__(self, options: ShopOptions, base_url: str) -> None:
        shop = Shop(options)
        self._site = Site(shop, base_url)
        self._ledger = Ledger()
        self._lies = lies.Switchboard()
        self._control = Control(shop, self._lies, self._ledger, base_url)

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer one request of any kind."""
        target = request.raw_path
        path = target.partition("?")[0]
        if path.startswith(PREFIX):
            return await self._control.handle(request)
        kind = kind_of(path)
        self._ledger.begin(kind, time.monotonic())
        status = size_bytes = 0
        try:
            given = self._answer(request, target, path)
            if given.delay_s:
                await asyncio.sleep(given.delay_s)
            status, size_bytes = given.status, 0 if request.method == "HEAD" else len(given.body[: given.cut_at])
            return await _cut(request, given) if given.cut_at is not None else _response(given)
        finally:
            self._ledger.end(request.method, target, kind, status, size_bytes)

    def _answer(self, request: web.BaseRequest, target: str, path: str) -> Answer:
        if request.method not in ("GET", "HEAD"):
            return Answer(status=405, headers={"Allow": "GET, HEAD"})
        headers = request.headers
        asked = Asked(
            path=path,
            now_s=time.time(),
            if_none_match=headers.get("If-None-Match"),
            if_modified_since=headers.get("If-Modified-Since"),
            accepts_gzip="gzip" in headers.get("Accept-Encoding", ""),
        )
        return lies.answer(self._site, asked, self._lies.tell(target))


@asynccontextmanager
async def serving(options: ShopOptions, host: str, port: int) -> AsyncIterator[str]:
    """Serve a demo store while the block runs, and yield its address; port 0 takes a free one.

    Raises OSError where the port is in use or the host is none of this machine's.
    """
    listening = _listen(host, port)
    base_url = _address(host, listening.getsockname()[1])
    server = DemoServer(options, base_url)
    runner = web.ServerRunner(web.Server(server.handle, access_log=None), shutdown_timeout=_SHUTDOWN_S)
    await runner.setup()
    try:
        await web.SockSite(runner, listening).start()
        yield base_url
    finally:
        await runner.cleanup()
        listening.close()


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, port), family=family, backlog=512)


def _address(host: str, port: int) -> str:
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


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
