"""Recognise block pages before anybody parses them: one retry as somebody else, then a dearer tier, then `blocked`."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable
from contextlib import suppress
from typing import TYPE_CHECKING, Self

from scrapy.exceptions import NotConfigured
from scrapy.http import Request, Response

from storebot.core.block_signatures import Kind
from storebot.core.blocks import Block, classify
from storebot.core.identity import FIRST
from storebot.core.pacing import ASKS_FOR_TIME
from storebot.core.page import Page
from storebot.core.parsing.reading import identity, read_product
from storebot.core.reloading import wants_its_cookie
from storebot.items import PageType, Target, Tier
from storebot.middlewares.again import again
from storebot.responses import BlockedPage, page_of
from storebot.run import Run

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.statscollectors import StatsCollector

logger = logging.getLogger(__name__)

PATIENCE_S = 60.0  # so long a visit waits for its retry where the page asks for time; for longer it's given up
_OWN_IDENTITIES = frozenset({Tier.API})  # it has tried several itself, and the next call would be billed again
_PATIENCE_HELPS = (Kind.RATE_LIMIT, Kind.WAITING_ROOM)  # and no other tier does


class BlockMiddleware:
    """Positive evidence wins: where the required fields parse, it isn't a block page (DESIGN §5).

    The first block page of a visit at one tier is tried once more: by another identity, or where waiting alone may help
    after as long as it asks for (Retry-After). After the second the ladder's next tier has its turn; where there is
    none, `BlockedPage` is raised, which the spider's errback records.

    A scraping API is not asked twice: it has identities of its own, and each call is billed.

    A page that gives a cookie and has itself loaded again is no block page yet: that is done once, as a redirect is
    followed.
    """

    def __init__(self, run: Run, stats: StatsCollector) -> None:
        self.run, self.store, self.stats = run, run.store, stats

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        run = crawler.get_extension(Run)
        if run is None:
            raise NotConfigured("only backfill and refresh know what a page of the store should hold")
        return cls(run, crawler.stats)

    def process_response(self, request: Request, response: Response) -> Response | Request | Awaitable[Request]:
        page_type = request.meta.get("page_type")
        if page_type is None or response.status == 304:
            return response
        page = page_of(response, request, int(time.time() * 1000))
        identified = self._identified(page, page_type, request)
        if not identified and (reload := self._reloaded(request, page)):
            return reload
        block = classify(
            page,
            page_type=page_type,
            identity=identified,
            markers=self.store.blocks.markers,
            typical_bytes=lambda: self.run.sizes.typical(page_type),
        )
        if block is None:
            self._passed(request)
            return response
        self.stats.inc_value(f"storebot/block/{block.vendor}")
        signals = (signal._replace(tier=_tier(request).value) for signal in block.signals)
        request.meta["block_signals"] = (*request.meta.get("block_signals", ()), *signals)
        if request.meta.get("probe"):  # the one request that a half-open circuit breaker lets through
            raise BlockedPage(request.url, response.status, request.meta["block_signals"])
        return self._tried_again(request, block, response.status) or self._by_another_tier(request, block, response)

    def _identified(self, page: Page, page_type: PageType, request: Request) -> bool:
        """Whether the page is what it should be; what was read stays in the meta for the spider."""
        if page.status >= 400:
            return False
        if page_type is PageType.PRODUCT:
            target = request.meta.get("target")
            known = target.source_hash if isinstance(target, Target) else None
            reading = read_product(page, self.store.rules, known)
            request.meta["reading"] = reading
            identified = identity(reading)
        elif page_type is PageType.CATALOGUE:
            named = self.store.read_catalogue(page)
            request.meta["links"] = named
            identified = bool(named.links)
        else:
            return page.body.lstrip()[:1] not in (b"", b"<") or b"<html" not in page.body[:1024].lower()
        if identified:
            self.run.sizes.add(page_type, len(page.body))
        return identified

    def _reloaded(self, request: Request, page: Page) -> Request | None:
        """Return the request that brings the cookie of a page which has itself loaded again for it; once for a tier."""
        if request.meta.get("reloaded") or not wants_its_cookie(page) or not self.run.may_retry("reload"):
            return None
        self.stats.inc_value("storebot/block/reloaded")
        new = again(request)
        new.meta["reloaded"] = True
        return new

    def _passed(self, request: Request) -> None:
        """Note what an identity got, which is news only where its proxy had trouble before."""
        if self.run.identities.has_proxies:
            self.run.identities.served(request.meta.get("identity", FIRST), _tier(request))

    def _tried_again(self, request: Request, block: Block, status: int) -> Request | Awaitable[Request] | None:
        """Return the one retry on the same tier; None where it was made, makes no sense, or the run has none left."""
        tier = _tier(request)
        tried = request.meta.get("tried_twice", frozenset())
        wait_s = 0.0 if status in ASKS_FOR_TIME else block.retry_after_s or 0.0  # those pause the whole host
        if tier in _OWN_IDENTITIES or tier in tried or wait_s > PATIENCE_S or not self.run.may_retry("block"):
            return None
        new = again(request)
        new.meta["tried_twice"] = tried | {tier}
        if not block.transient:
            visitor = request.meta.get("identity", FIRST)
            new.meta["blocked_as"] = (visitor, tier)
            self.run.identities.blocked(visitor, tier)
        logger.info("%s: block page (%s); one retry in %.0f s", new.url, block.vendor, wait_s)
        return self._later(new, wait_s) if wait_s else new

    async def _later(self, request: Request, wait_s: float) -> Request:
        with suppress(TimeoutError):
            await asyncio.wait_for(self.run.ending.wait(), wait_s)
        return request

    def _by_another_tier(self, request: Request, block: Block, response: Response) -> Request:
        if not block.transient and (blocked := request.meta.pop("blocked_as", None)):
            self.run.identities.acquit(*blocked)
        dearer = None
        if block.kind not in _PATIENCE_HELPS:
            dearer = self.run.escalated(request, f"blocked ({block.vendor})")
        if dearer is not None:
            return dearer
        error = BlockedPage(request.url, response.status, request.meta["block_signals"])
        if block.retry_after_s:
            error.retry_at_ms = int((time.time() + block.retry_after_s) * 1000)
        raise error


def _tier(request: Request) -> Tier:
    tier: Tier = request.meta.get("tier", Tier.HTTP)
    return tier
