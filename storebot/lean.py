"""Scrapy parts without what costs time on every page and serves nothing here: stats, log lines, header defaults.

Measured in docs/benchmarks.md; each says what it leaves out.
"""

from __future__ import annotations

import ctypes
import logging
import re
import sys
from inspect import isawaitable
from typing import TYPE_CHECKING, Any, Self
from urllib.request import getproxies

from scrapy import signals
from scrapy.downloadermiddlewares.httpproxy import HttpProxyMiddleware
from scrapy.exceptions import NotConfigured
from scrapy.extensions.corestats import CoreStats as ScrapyCoreStats
from scrapy.http import Headers, Request, Response
from scrapy.logformatter import LogFormatter as ScrapyLogFormatter
from scrapy.pipelines import ItemPipelineManager as ScrapyItemPipelineManager
from scrapy.statscollectors import MemoryStatsCollector

from storebot.core.proxy_errors import hide_login

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler
    from scrapy.downloadermiddlewares.cookies import CookiesMiddleware as ScrapyCookiesMiddleware
    from scrapy.logformatter import LogFormatterResult
    from twisted.python.failure import Failure

# glibc's mallopt parameters, and sizes above what pages have: https://man7.org/linux/man-pages/man3/mallopt.3.html
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
_KEEP_BYTES, _MMAP_FROM_BYTES = 64 * 1024 * 1024, 4 * 1024 * 1024
# What w3lib's safe_url_string leaves as it is; it may leave more.
_SAFE_URL = re.compile(
    r"https?://[a-z0-9][a-z0-9.-]*(?::(?:[1-9][0-9]{0,3}|[1-5][0-9]{4}))?/[A-Za-z0-9/._~-]*(?:\?[A-Za-z0-9/._~=&-]+)?"
)


class StatsCollector(MemoryStatsCollector):
    """Scrapy's, whose every access looks for a deprecated ``spider`` argument first (2 % of a crawl)."""

    __getattribute__ = object.__getattribute__


class LogFormatter(ScrapyLogFormatter):
    """Scrapy's, without the two DEBUG records per page, which are made and formatted even where nobody reads them."""

    def __init__(self, *, pages: bool) -> None:
        self.pages = pages

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(pages=logging.getLevelName(crawler.settings.get("LOG_LEVEL")) == logging.DEBUG)

    def crawled(self, request: Request, response: Response, spider: Spider) -> LogFormatterResult | None:  # type: ignore[override]  # None is Scrapy's documented way to say nothing
        return super().crawled(request, response, spider) if self.pages else None

    def scraped(  # type: ignore[override]  # as above
        self, item: Any, response: Response | Failure | None, spider: Spider
    ) -> LogFormatterResult | None:
        return super().scraped(item, response, spider) if self.pages else None


class CoreStats(ScrapyCoreStats):
    """Scrapy's, without counting items and responses: each receiver of a signal costs a task, and the run counts."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        stats = cls(crawler.stats)
        crawler.signals.connect(stats.spider_opened, signals.spider_opened)
        crawler.signals.connect(stats.spider_closed, signals.spider_closed)
        return stats


class ItemPipelineManager(ScrapyItemPipelineManager):
    """Scrapy's, without making a coroutine of every pipeline's plain answer: only what is awaitable is awaited."""

    async def process_item_async(self, item: Any) -> Any:
        for process_item in self.methods["process_item"]:
            item = process_item(item)  # type: ignore[misc]  # Scrapy's type allows None in chains that run backwards
            if isawaitable(item):
                item = await item
        return item


class PageRequest(Request):
    """Scrapy's, which makes every URL safe anew; one that has nothing to escape is taken as it is."""

    def _set_url(self, url: str) -> None:
        if isinstance(url, str) and _SAFE_URL.fullmatch(url):
            self._url = url
        else:
            super()._set_url(url)


class HeadersMiddleware:
    """What DefaultHeaders, UserAgent and DownloadTimeout do, in one call for each request instead of three."""

    def __init__(self, headers: dict[str, str], timeout_s: float) -> None:
        made = Headers()
        # By their names as a request keeps them, which it would make anew for each one.
        self.headers = [(made.normkey(name), value.encode("latin-1")) for name, value in headers.items()]
        self.timeout_s = timeout_s

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        settings = crawler.settings
        headers = {**settings.getdict("DEFAULT_REQUEST_HEADERS"), "User-Agent": settings["USER_AGENT"]}
        wanted = {str(name): str(value) for name, value in headers.items() if value is not None}
        return cls(wanted, settings.getfloat("DOWNLOAD_TIMEOUT"))

    def process_request(self, request: Request) -> None:
        headers = request.headers
        for name, value in self.headers:
            if not dict.__contains__(headers, name):
                dict.__setitem__(headers, name, [value])
        request.meta.setdefault("download_timeout", self.timeout_s)


class CookiesMiddleware:
    """Scrapy's, by the list of public suffixes that is installed with it, from the first cookie on.

    Scrapy's own downloads that list at the first cookie: from a third party, while the whole crawl waits. What reads it
    brings an HTTP client of its own, a twentieth of a start: a shop without cookies needs neither.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._scrapys: ScrapyCookiesMiddleware | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        if not crawler.settings.getbool("COOKIES_ENABLED"):
            raise NotConfigured
        return cls(crawler)

    def process_request(self, request: Request) -> Request | Response | None:
        meta = request.meta
        if request.cookies:
            return self._whole().process_request(request)
        if meta.get("dont_merge_cookies"):
            return None
        if self._scrapys is not None and self._scrapys.jars[meta.get("cookiejar")]._cookies:
            return self._scrapys.process_request(request)
        request.headers.pop("Cookie", None)
        return None

    def process_response(self, request: Request, response: Response) -> Request | Response:
        return self._whole().process_response(request, response) if b"Set-Cookie" in response.headers else response

    def _whole(self) -> ScrapyCookiesMiddleware:
        if self._scrapys is None:
            from scrapy.downloadermiddlewares import cookies
            from tldextract import TLDExtract

            cookies._split_domain = TLDExtract(cache_dir=None, suffix_list_urls=(), include_psl_private_domains=True)
            self._scrapys = cookies.CookiesMiddleware.from_crawler(self._crawler)
        return self._scrapys


class ProxyMiddleware(HttpProxyMiddleware):
    """Scrapy's, where the environment names a proxy at all, and the store file none.

    What a failure quotes of a proxy's URL loses its password.
    """

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        fetch = getattr(getattr(crawler.spider, "store", None), "fetch", None)
        if not getproxies() or (fetch is not None and fetch.proxies is not None):
            raise NotConfigured
        return super().from_crawler(crawler)

    def process_exception(self, request: Request, exception: Exception) -> None:
        hide_login(exception)


def keep_memory() -> None:
    """Tell glibc not to give the memory of each page back to the system, only to ask for it again.

    Pages are just below its threshold for that; a crawl that builds a tree per page saves a fifth of its CPU (SPEED).
    Does nothing where the C library is another.
    """
    if sys.platform == "linux" and hasattr(libc := ctypes.CDLL(None), "mallopt"):
        libc.mallopt(_M_MMAP_THRESHOLD, _MMAP_FROM_BYTES)
        libc.mallopt(_M_TRIM_THRESHOLD, _KEEP_BYTES)
