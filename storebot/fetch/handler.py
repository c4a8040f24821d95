"""The download handler: hands each request to the tier that it names, and counts what that took."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from time import monotonic
from typing import TYPE_CHECKING, Any, Self
from weakref import WeakKeyDictionary

from scrapy import signals
from scrapy.core.downloader.handlers.base import BaseDownloadHandler
from scrapy.utils.misc import load_object

from storebot.exceptions import TierNotListed, TierUnusable
from storebot.fetch.named import named
from storebot.fetch.proxied import handler_for
from storebot.fetch.tier import FetchTier
from storebot.items import Spent, Tier
from storebot.run import Run
from storebot.stores.model import Store

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Request, Response
    from scrapy.statscollectors import StatsCollector

logger = logging.getLogger(__name__)

# Imported only where a store lists them: a browser or an HTTP/2 client takes a second to load, or isn't installed.
_TIERS = {
    Tier.HTTP: "storebot.fetch.http.HttpTier",
    Tier.HTTP2: "storebot.fetch.http2.Http2Tier",
    Tier.BROWSER: "storebot.fetch.browser.BrowserTier",
    Tier.ATTACHED: "storebot.fetch.attached.AttachedTier",
    Tier.API: "storebot.fetch.api.ApiTier",
}


class LadderDownloadHandler(BaseDownloadHandler):
    """One per crawler for http and https, with the tiers that the store lists; without a store, `Tier.HTTP` alone.

    ``request.meta["tier"]`` says which of them fetches a request; without it a page of the store is fetched by the
    cheapest, and what is no page of it (robots.txt) plainly. A tier that can't be used is given up for the whole run,
    whose reason says why; with the last one the crawl ends.

    It counts ``fetch/tier/<tier>`` (requests), ``fetch/failed/<tier>/<exception>``, and in ``request.meta["spent"]``
    what the request's visit has taken.
    """

    lazy = False  # a tier that lacks something says so before the first request

    def __init__(
        self,
        crawler: Crawler,
        tiers: Mapping[Tier, FetchTier],
        plain: FetchTier,
        stats: StatsCollector,
        run: Run | None,
    ) -> None:
        super().__init__(crawler)
        self._tiers, self._plain, self._stats, self._run = tiers, plain, stats, run
        self._cheapest = next(iter(tiers))
        self._unusable: dict[Tier, TierUnusable] = {}
        self._closed = False

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the crawler's one handler: Scrapy asks for one for each scheme."""
        handler = _OF_CRAWLER.get(crawler)
        if not isinstance(handler, cls):
            store = getattr(crawler.spider, "store", None)
            listed = store.fetch.tiers if isinstance(store, Store) else (Tier.HTTP,)
            tiers = {tier: tier_class(tier).from_crawler(crawler) for tier in listed}
            plain = tiers.get(Tier.HTTP) or tier_class(Tier.HTTP).from_crawler(crawler)
            handler = _OF_CRAWLER[crawler] = cls(crawler, tiers, plain, crawler.stats, crawler.get_extension(Run))
            # Of a run that doesn't begin (its breaker is open, another has the store) Scrapy closes no handler.
            crawler.signals.connect(handler.close, signals.spider_closed)
        return handler

    async def download_request(self, request: Request) -> Response:
        meta = request.meta
        tier: Tier | None = meta.get("tier")
        if tier is None:
            tier = meta["tier"] = self._cheapest if "page_type" in meta else Tier.HTTP
        fetching = self._tiers.get(tier) or self._unlisted(tier, request)
        if self._unusable and (error := self._unusable.get(tier)):
            raise type(error)(str(error))
        spent = _spent(meta)
        spent.tries[tier] = spent.tries.get(tier, 0) + 1
        spent.requests += not fetching.counts_wire
        self._stats.inc_value(_COUNTS[tier])
        started = monotonic()
        try:
            response = await fetching.fetch(request)
            if not fetching.counts_wire:
                spent.size_bytes += len(response.body)
        except Exception as error:
            told = named(error, request) if tier in _CLIENTS else error
            self._stats.inc_value(f"fetch/failed/{tier.value}/{type(told).__name__}")
            if isinstance(told, TierUnusable):
                self._give_up(tier, told)
            if told is not error:
                raise told from error
            raise
        finally:
            spent.elapsed_ms += round((monotonic() - started) * 1000)
            if self._run is not None:
                self._run.purse.tried(meta, tier, spent)
        return response

    def _unlisted(self, tier: Tier, request: Request) -> FetchTier:
        if tier is Tier.HTTP and "page_type" not in request.meta:
            return self._plain
        raise TierNotListed(f"{request.url}: is to be fetched by the tier {tier.value}, which fetch.tiers doesn't list")

    def _give_up(self, tier: Tier, error: TierUnusable) -> None:
        if tier in self._unusable:
            return  # by a request that was in flight
        self._unusable[tier] = error
        if self._run is None:
            logger.error("%s", error)
        elif len(self._unusable) < len(self._tiers):
            self._run.note(f"the tier {tier.value} can't be used: {error}")
        else:
            self._run.abandon(error)

    async def close(self) -> None:
        """Close every tier once: Scrapy closes the handler of each scheme."""
        if self._closed:
            return
        self._closed = True
        for tier in {self._plain, *self._tiers.values()}:
            try:
                await tier.close()
            except Exception:  # the next one has connections or a browser to let go of, too
                logger.exception("the tier %s could not be closed", tier.tier.value)


def tier_class(tier: Tier) -> type[FetchTier]:
    """Return the class of a tier, imported."""
    found: type[FetchTier] = load_object(_TIERS[tier])
    return found


def check_tiers(store: Store) -> None:
    """Raise ConfigurationError for what keeps a store from using one of its tiers, or its proxies."""
    handler_for(store)
    for tier in store.fetch.tiers:
        if tier is not Tier.HTTP:
            tier_class(tier).check(store)


def _spent(meta: dict[str, Any]) -> Spent:
    spent: Spent | None = meta.get("spent")
    if spent is None:
        spent = meta["spent"] = Spent()
    return spent


_CLIENTS = (Tier.HTTP, Tier.HTTP2)  # the others say themselves what went wrong, and within which time
_COUNTS = {tier: f"fetch/tier/{tier.value}" for tier in Tier}
_OF_CRAWLER: WeakKeyDictionary[Crawler, LadderDownloadHandler] = WeakKeyDictionary()
