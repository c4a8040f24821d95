"""A server of HTTP/2 over TLS (Hypercorn), with bad days: for what the demo store behind its front never does."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypercorn.asyncio import serve
from hypercorn.config import Config

from storebot.demo.certificate import write_certificate
from tests.vendors.serving import Served

PAGE = b"<p>a mug</p>"


class TlsShop(Served):
    """Serves at ``url``; ``certificate`` is the authority to trust, ``asked`` has each HTTP version and path.

    ``/short`` promises more than it sends, ``/endless`` sends until the client has enough, ``/slow`` never answers,
    ``/headers`` answers with the request's own. ``protocols`` are those of its ALPN. ``known`` has the
    certificate's key, for others of this machine.
    """

    def __init__(self, *protocols: str) -> None:
        self.protocols = list(protocols or ("h2", "http/1.1"))
        self.asked: list[tuple[str, str]] = []
        self.url = ""

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[None]:
        """Listen on a free port."""
        with TemporaryDirectory() as folder, socket.create_server(("127.0.0.1", 0)) as listening:
            made = write_certificate(Path(folder), "127.0.0.1")
            self.certificate, self.known = made.certificate, made
            self.url = f"https://127.0.0.1:{listening.getsockname()[1]}"
            config = Config()
            config.bind = [f"fd://{listening.fileno()}"]
            config.certfile, config.keyfile = str(made.certificate), str(made.key)
            config.alpn_protocols = self.protocols
            config.errorlog = None
            config.graceful_timeout = config.shutdown_timeout = 0.2
            stop = asyncio.Event()
            app: Any = self._answer
            task = asyncio.create_task(serve(app, config, shutdown_trigger=stop.wait))
            await asyncio.sleep(0)
            try:
                yield
            finally:
                stop.set()
                await task
                listening.detach()  # Hypercorn has closed it

    async def _answer(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        path = scope["path"]
        self.asked.append((scope["http_version"], path))
        headers = [(b"content-type", b"text/html")]
        if path == "/short":
            headers.append((b"content-length", b"100"))
        if path == "/slow":
            await asyncio.sleep(30)
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        for _ in range(200 if path == "/endless" else 0):
            await send({"type": "http.response.body", "body": b"x" * 100_000, "more_body": True})
        body = "\n".join(f"{name.decode()}: {value.decode()}" for name, value in scope["headers"]).encode()
        await send({"type": "http.response.body", "body": body if path == "/headers" else PAGE})
