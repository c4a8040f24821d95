"""TLS in front of a demo store: HTTP/1.1 and HTTP/2, by Hypercorn (the extra storebot[demo])."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import ClientSession, DummyCookieJar
from yarl import URL

from storebot.demo.certificate import Certificate
from storebot.exceptions import ConfigurationError

FACTS = "X-Demo-Front"  # token, HTTP version and client's address, from the front to the store behind it
_CHUNK = 65_536
_BETWEEN_TWO = {
    b"connection",
    b"keep-alive",
    b"transfer-encoding",
    b"te",
    b"upgrade",
    b"host",
}  # RFC 9110 section 7.6.1
_SHUTDOWN_S = 0.2

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]


@asynccontextmanager
async def front(listening: socket.socket, certificate: Certificate, inner_url: str, token: str) -> AsyncIterator[None]:
    """Serve HTTPS on a bound socket while the block runs, and pass every request on to the store at ``inner_url``.

    Raises ConfigurationError where Hypercorn isn't installed.
    """
    try:
        from hypercorn.asyncio import serve
        from hypercorn.config import Config
    except ImportError as error:
        raise ConfigurationError("a demo store over https needs Hypercorn: pip install 'storebot[demo]'") from error
    config = Config()
    config.bind = [f"fd://{listening.detach()}"]  # Hypercorn closes it
    config.certfile, config.keyfile = str(certificate.certificate), str(certificate.key)
    config.alpn_protocols = ["h2", "http/1.1"]
    config.errorlog = None
    config.graceful_timeout = config.shutdown_timeout = _SHUTDOWN_S
    stop = asyncio.Event()
    async with ClientSession(cookie_jar=DummyCookieJar(), auto_decompress=False) as session:
        app: Any = _Front(session, inner_url, token)
        serving = asyncio.create_task(serve(app, config, shutdown_trigger=stop.wait))
        try:
            yield
        finally:
            stop.set()
            await serving


class _Front:
    """An ASGI application that passes requests on, with what the store can't see any more: version and address."""

    def __init__(self, session: ClientSession, inner_url: str, token: str) -> None:
        self._session, self._inner_url, self._token = session, inner_url, token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await _lifespan(receive, send)
        elif scope["type"] == "http":
            await self._pass_on(scope, receive, send)

    async def _pass_on(self, scope: Scope, receive: Receive, send: Send) -> None:
        target = scope["raw_path"].decode("ascii")
        if scope["query_string"]:
            target += "?" + scope["query_string"].decode("ascii")
        asked = [(name, value) for name, value in scope["headers"] if name not in _BETWEEN_TWO]
        headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in asked]
        headers.append((FACTS, f"{self._token} {scope['http_version']} {scope['client'][0]}"))
        url = URL(self._inner_url + target, encoded=True)
        body = await _body(receive)
        async with self._session.request(
            scope["method"], url, headers=headers, data=body or None, allow_redirects=False
        ) as answer:
            kept = [(name.lower(), value) for name, value in answer.raw_headers if name.lower() not in _BETWEEN_TWO]
            await send({"type": "http.response.start", "status": answer.status, "headers": kept})
            async for chunk in answer.content.iter_chunked(_CHUNK):
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
        await send({"type": "http.response.body", "body": b""})


async def _body(receive: Receive) -> bytes:
    parts, more = [], True
    while more:
        message = await receive()
        parts.append(message.get("body", b""))
        more = message.get("more_body", False)
    return b"".join(parts)


async def _lifespan(receive: Receive, send: Send) -> None:
    while True:
        message = await receive()
        await send({"type": f"{message['type']}.complete"})
        if message["type"] == "lifespan.shutdown":
            return
