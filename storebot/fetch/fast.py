"""The client of the fast mode: aiohttp's, which looks names up itself, and mustn't be led astray by what it finds."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

from aiohttp.abc import AbstractResolver, ResolveResult
from scrapy.core.downloader.handlers._aiohttp import AiohttpDownloadHandler

from storebot.reaching import check_connection, reach_of

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from storebot.core.reach import Reach


class CheckedResolver(AbstractResolver):
    """Gives only addresses that may be connected to. Raises PrivateAddress."""

    def __init__(self, inner: AbstractResolver, reach: Reach | None) -> None:
        self._inner, self._reach = inner, reach

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        found = await self._inner.resolve(host, port, family)
        for one in found:
            check_connection(self._reach, host, one["host"])
        return found

    async def close(self) -> None:
        await self._inner.close()


class CheckedAiohttpDownloadHandler(AiohttpDownloadHandler):
    """Scrapy's handler, with a resolver that judges what it finds: aiohttp connects to just those addresses."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        # Scrapy makes the connector, and asks nobody for a resolver: tests/fetch/test_rebinding.py holds this.
        connector = self._session.connector
        connector._resolver = CheckedResolver(connector._resolver, reach_of(crawler))  # type: ignore[union-attr]
