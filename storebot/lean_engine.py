"""Scrapy's downloader and signals without what costs time on every request and serves nothing here.

Measured in docs/benchmarks.md; each says what it leaves out. What a store's own parts may do is Scrapy's to say: they
are called with what Scrapy would give them, and a delay is kept as Scrapy keeps it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from time import monotonic
from typing import TYPE_CHECKING, Any

from pydispatch import dispatcher  # type: ignore[import-untyped]  # it has no types
from scrapy import signals
from scrapy.core.downloader import Downloader as ScrapyDownloader
from scrapy.core.downloader.middleware import DownloaderMiddlewareManager
from scrapy.core.scraper import Scraper as ScrapyScraper
from scrapy.downloadermiddlewares.stats import DownloaderStats as ScrapyDownloaderStats
from scrapy.exceptions import _InvalidOutput
from scrapy.http import Request, Response
from scrapy.signalmanager import SignalManager as ScrapySignalManager
from scrapy.utils.defer import aiter_errback, ensure_awaitable, iter_errback
from twisted.python.failure import Failure

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterable

    from scrapy.crawler import Crawler


class SignalManager(ScrapySignalManager):
    """Scrapy's, which looks for receivers of seven signals per page that have none: here that is two look-ups."""

    def send_catch_log(self, signal: Any, **kwargs: Any) -> list[tuple[Any, Any]]:
        if "sender" not in kwargs:
            for sender in (self.sender, dispatcher.Any):
                connected = dispatcher.connections.get(id(sender))
                if connected and (signal in connected or dispatcher.Any in connected):
                    break
            else:
                return []
        return super().send_catch_log(signal, **kwargs)


class MiddlewareManager(DownloaderMiddlewareManager):
    """Scrapy's, without making a coroutine of every plain answer: two for each middleware and page."""

    async def _process_request(
        self, request: Request, download_func: Callable[[Request], Coroutine[Any, Any, Response]]
    ) -> Response | Request:
        wanting_spider = self._mw_methods_requiring_spider
        for method in self.methods["process_request"]:
            assert method is not None
            if wanting_spider and method in wanting_spider:
                answer = method(request=request, spider=self._spider)
            else:
                answer = method(request=request)
            if answer is None:
                continue
            if not isinstance(answer, (Response, Request)):
                answer = await ensure_awaitable(answer)
                if answer is None:
                    continue
                if not isinstance(answer, (Response, Request)):
                    raise _InvalidOutput(f"{method.__qualname__} must return None, Response or Request: {answer!r}")
            return answer
        return await download_func(request)

    async def _process_response(self, response: Response | Request, request: Request) -> Response | Request:
        if response is None:
            raise TypeError("Received None in process_response")
        if isinstance(response, Request):
            return response
        wanting_spider = self._mw_methods_requiring_spider
        for method in self.methods["process_response"]:
            assert method is not None
            if wanting_spider and method in wanting_spider:
                answer = method(request=request, response=response, spider=self._spider)
            else:
                answer = method(request=request, response=response)
            if answer is response:
                continue
            if not isinstance(answer, (Response, Request)):
                answer = await ensure_awaitable(answer)
                if not isinstance(answer, (Response, Request)):
                    raise _InvalidOutput(f"{method.__qualname__} must return Response or Request: {answer!r}")
            if isinstance(answer, Request):
                return answer
            response = answer
        return response


class Scraper(ScrapyScraper):
    """Scrapy's, without a queue and two tasks for what a page's callback gives where items are taken one by one.

    Nor does it make a chain of generators for spider middlewares where there are none.
    """

    async def _scrape(self, result: Response | Failure, request: Request) -> None:
        if not isinstance(result, Response) or self.spidermw.middlewares:
            await super()._scrape(result, request)
            return
        try:
            output = await self.call_spider_async(result, request)
        except Exception:  # whatever a callback raises: it's logged, counted and signalled with its page, as by Scrapy
            self.handle_spider_error(Failure(), request, result)  # type: ignore[no-untyped-call]  # as all of Twisted
        else:
            await self.handle_spider_output_async(output, request, result)

    async def handle_spider_output_async(
        self, result: Iterable[Any] | AsyncIterator[Any], request: Request, response: Response | Failure
    ) -> None:
        if self.concurrent_items != 1:
            await super().handle_spider_output_async(result, request, response)
        elif isinstance(result, AsyncIterator):
            async for output in aiter_errback(result, self.handle_spider_error, request, response):
                await self._process_spidermw_output_async(output, response)
        else:
            for output in iter_errback(result, self.handle_spider_error, request, response):
                await self._process_spidermw_output_async(output, response)


class Downloader(ScrapyDownloader):
    """Scrapy's, with the parts above; a request that need not wait for its turn isn't made a task of its own."""

    def __init__(self, crawler: Crawler) -> None:
        # Scrapy names the classes of these itself, and others hold on to them by now.
        crawler.signals.__class__ = SignalManager
        super().__init__(crawler)
        self.middleware.__class__ = MiddlewareManager
        crawler.signals.connect(self._engine_started, signals.engine_started)

    def _engine_started(self) -> None:
        assert self.crawler.engine is not None
        self.crawler.engine.scraper.__class__ = Scraper

    async def _enqueue_request(self, request: Request) -> Response:
        key, slot = self._get_slot(request)
        if slot.delay or slot.queue or slot.latercall or slot.free_transfer_slots() <= 0:
            return await super()._enqueue_request(request)
        request.meta[self.DOWNLOAD_SLOT] = key
        slot.active.add(request)
        self.signals.send_catch_log(
            signal=signals.request_reached_downloader, request=request, spider=self.crawler.spider
        )
        slot.lastseen = monotonic()
        try:
            return await self._download(slot, request)
        finally:
            slot.active.remove(request)


class DownloaderStats(ScrapyDownloaderStats):
    """Scrapy's, without the bytes: they were reckoned up from every header, and the run counts what was received."""

    def process_request(self, request: Request) -> None:  # type: ignore[override]  # as Scrapy calls it
        self.stats.inc_value("downloader/request_count")

    def process_response(self, request: Request, response: Response) -> Response:  # type: ignore[override]
        self.stats.inc_value("downloader/response_count")
        self.stats.inc_value(
            _STATUS_COUNTS.get(response.status) or f"downloader/response_status_count/{response.status}"
        )
        return response


_STATUS_COUNTS = {status: f"downloader/response_status_count/{status}" for status in (200, 304, 404)}
