"""Recognise block pages before anybody parses them: one retry with a fresh identity, then the visit is blocked."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable
from typing import TYPE_CHECKING, Self

from scrapy.exceptions import NotConfigured
from scrapy.http import Request, Response

from storebot.core.blocks import Block, classify
from storebot.core.page import Page
from storebot.core.parsing.reading import identity, read_product
from storebot.items import BlockSignal, PageType, Target
from storebot.responses import BlockedPage, page_of
from storebot.run import Run
from storebot.stores.model import Store

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.statscollectors import StatsCollector

logger = logging.getLogger(__name__)


class BlockMiddleware:
    """Positive evidence wins: where the required fields parse, it isn't a block page (DESIGN §5).

    The first block page of a visit waits as long as the store asks (Retry-After, up to ``max_wait_s``) and is tried
    once more with another cookie jar; the second raises `BlockedPage`, which the spider's errback records.
    """

    def __init__(self, store: Store, stats: StatsCollector, max_wait_s: float) -> None:
        self.store, self.stats, self.max_wait_s = store, stats, max_wait_s

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        run = crawler.get_extension(Run)
        if run is None:
            raise NotConfigured("only backfill and refresh know what a page of the store should hold")
        return cls(run.store, crawler.stats, crawler.settings.getfloat("STOREBOT_BLOCK_WAIT_MAX_S"))

    def process_response(self, request: Request, response: Response) -> Response | Awaitable[Request]:
        page_type = request.meta.get("page_type")
        if page_type is None or response.status == 304:
            return response
        page = page_of(response, request, int(time.time() * 1000))
        block = classify(
            page,
            page_type=page_type,
            identity=lambda: self._identified(page, page_type, request),
            markers=self.store.blocks.markers,
        )
        if block is None:
            return response
        signals = (*request.meta.get("block_signals", ()), *block.signals)
        self.stats.inc_value(f"storebot/block/{block.vendor}")
        if request.meta.get("block_signals"):
            raise BlockedPage(request.url, response.status, signals)
        return self._again(request, block, signals)

    def _identified(self, page: Page, page_type: PageType, request: Request) -> bool:
        """Whether the page is what it should be; what was read stays in the meta for the spider."""
        if page.status >= 400:
            return False
        if page_type is PageType.PRODUCT:
            target = request.meta.get("target")
            known = target.source_hash if isinstance(target, Target) else None
            reading = read_product(page, self.store.rules, known)
            request.meta["reading"] = reading
            return identity(reading)
        if page_type is PageType.CATALOGUE:
            named = self.store.read_catalogue(page)
            request.meta["links"] = named
            return bool(named.links)
        return page.body.lstrip()[:1] not in (b"", b"<") or b"<html" not in page.body[:1024].lower()

    async def _again(self, request: Request, block: Block, signals: tuple[BlockSignal, ...]) -> Request:
        wait_s = min(block.retry_after_s or 0.0, self.max_wait_s)
        where = request.meta.get("redirect_urls", [request.url])[0]  # not where a redirect led to (case R07)
        logger.info("%s: block page (%s); one retry in %.0f s", where, block.vendor, wait_s)
        if wait_s:
            await asyncio.sleep(wait_s)
        again = request.replace(url=where, dont_filter=True)
        again.meta["block_signals"] = signals
        again.meta["cookiejar"] = f"fresh-{id(again)}"
        again.meta.pop("page", None)
        again.meta.pop("reading", None)
        return again
