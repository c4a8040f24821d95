"""The http2 tier: HTTP/2 where a server offers it, else HTTP/1.1, by httpx2 (docs/decisions/0024-http2-by-httpx.md)."""

from __future__ import annotations

import asyncio
import logging
from importlib.util import find_spec
from typing import TYPE_CHECKING, ClassVar, Self, cast

from scrapy.core.downloader.handlers._httpx import HttpxDownloadHandler
from scrapy.exceptions import DownloadFailedError, DownloadTimeoutError, ResponseDataLossError
from scrapy.http import Request, Response

from storebot.exceptions import ConfigurationError
from storebot.fetch.tier import FetchTier
from storebot.fetch.view import CrawlerView
from storebot.items import Tier
from storebot.reaching import reach_of

if TYPE_CHECKING:
    import httpx2
    from scrapy.crawler import Crawler

    from storebot.stores.model import Store

_PACKAGES = ("httpx2", "h2", "socksio")


class Http2Tier(FetchTier):
    """One connection for all requests to a host, whose certificate is verified; proxies by http, https and SOCKS5."""

    tier: ClassVar[Tier] = Tier.HTTP2

    def __init__(self, client: HttpxDownloadHandler) -> None:
        self._client = client

    @classmethod
    def check(cls, store: Store) -> None:
        """Raise ConfigurationError where the extra isn't installed."""
        require_extra(f'{store.path}: fetch.tiers lists "http2"')

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        require_extra("pages are to be fetched by httpx2")
        return cls(BoundedHttpxDownloadHandler(cast("Crawler", CrawlerView(crawler, {"HTTPX_HTTP2_ENABLED": True}))))

    async def fetch(self, request: Request) -> Response:
        try:
            return await self._client.download_request(request)
        except DownloadFailedError as error:
            # A body shorter than was promised: over HTTP/1.1 it has its name already.
            if type(error.__cause__).__name__ == "InvalidBodyLengthError":
                raise ResponseDataLossError(str(error)) from error
            raise

    async def close(self) -> None:
        await self._client.close()


class BoundedHttpxDownloadHandler(HttpxDownloadHandler):
    """Scrapy's handler, with a bound on the whole time of a response: httpx's is one on the wait for the next byte.

    Scrapy's warns that it is experimental: tests/fetch/test_http2.py holds what is relied on.
    """

    experimental: ClassVar[bool] = False

    def __init__(self, crawler: Crawler) -> None:
        self._reach = reach_of(crawler)
        super().__init__(crawler)
        # At DEBUG httpcore writes down the password of a SOCKS5 proxy, and httpx at INFO a line for each page.
        for name in ("httpcore2", "httpx2"):
            logging.getLogger(name).setLevel(logging.WARNING)

    def _make_client(self, proxy_url: str | None = None) -> httpx2.AsyncClient:
        client = super()._make_client(proxy_url)
        if proxy_url is None:
            from storebot.fetch.backend import CheckedBackend  # late: it needs what `require_extra` asks for

            # httpx2 hands no backend on to its pool: tests/fetch/test_rebinding.py holds this.
            pool = client._transport._pool  # type: ignore[attr-defined]
            pool._network_backend = CheckedBackend(pool._network_backend, self._reach)
        return client

    async def download_request(self, request: Request) -> Response:
        timeout_s = request.meta.get("download_timeout")
        try:
            async with asyncio.timeout(timeout_s):
                return await super().download_request(request)
        except TimeoutError as error:
            raise DownloadTimeoutError(f"Getting {request.url} took longer than {timeout_s} seconds.") from error


def require_extra(why: str) -> None:
    """Raise ConfigurationError, with the extra to install, where a package of it is missing."""
    missing = [name for name in _PACKAGES if find_spec(name) is None]
    if missing:
        raise ConfigurationError(f"{why}, but {missing[0]} isn't installed: pip install 'storebot[http2]'")
