"""Follow redirects without carrying along what was meant for the first URL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from scrapy.downloadermiddlewares.redirect import RedirectMiddleware as ScrapyRedirectMiddleware
from scrapy.http import Request, Response

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

FOR_ONE_URL = ("Referer", "If-None-Match", "If-Modified-Since")


class RedirectMiddleware(ScrapyRedirectMiddleware):
    """Scrapy's, but for the headers: it copies all of them to the new URL.

    A 304 from there would vouch for a page that was never saved (case C09), so the validators stay behind.
    """

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        middleware = cls(crawler.settings)
        middleware.crawler = crawler  # and no engine_started: Scrapy's handler only looks for a RefererMiddleware
        return middleware

    def handle_referer(self, request: Request, response: Response) -> None:
        """Drop the headers that belong to the URL which was asked for first."""
        for name in FOR_ONE_URL:
            request.headers.pop(name, None)
