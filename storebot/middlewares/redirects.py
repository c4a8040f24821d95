"""Follow redirects without carrying along what was meant for the first URL, and none in a circle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self
from urllib.parse import urljoin

from scrapy.downloadermiddlewares.redirect import RedirectMiddleware as ScrapyRedirectMiddleware
from scrapy.http import Request, Response

from storebot.core.addresses import refusal
from storebot.core.redirects import as_given, is_loop, loop_told
from storebot.exceptions import PrivateAddress, RedirectLoop

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler

FOR_ONE_URL = ("Referer", "If-None-Match", "If-Modified-Since")


class RedirectMiddleware(ScrapyRedirectMiddleware):
    """Scrapy's, but for the headers: it copies all of them to the new URL.

    A 304 from there would vouch for a page that was never saved (case C09), so the validators stay behind. A URL that
    is redirected to itself in other signs is asked for in those, once (case R04).
    """

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        middleware = cls(crawler.settings)
        middleware.crawler = crawler  # and no engine_started: Scrapy's handler only looks for a RefererMiddleware
        return middleware

    def process_response(
        self, request: Request, response: Response, spider: Spider | None = None
    ) -> Request | Response:
        if not 300 < response.status < 309 or "Location" not in response.headers:
            return response
        redirected = super().process_response(request, response)
        if not isinstance(redirected, Request):
            self._refuse_schemes(request, response)
            return redirected
        redirected.meta.pop("verbatim_url", None)
        asked = redirected.meta["redirect_urls"]
        if redirected.url == request.url:
            given = as_given(request.url, response.headers.get("Location") or b"")
            if given is not None and given not in asked:
                return redirected.replace(url=given, meta={**redirected.meta, "verbatim_url": True})
        if is_loop(asked, redirected.url):
            raise RedirectLoop(f"redirects without end: {loop_told(asked, redirected.url)}")
        return redirected

    def _refuse_schemes(self, request: Request, response: Response) -> None:
        """Name what Scrapy just doesn't follow: a redirect to a file, or to a protocol that isn't the web's."""
        location = (response.headers.get("Location") or b"").decode("latin-1")
        if why := refusal(urljoin(request.url, location), private_ok=True):
            raise PrivateAddress(f"{request.url} redirects to {location[:200]}, which isn't asked for: {why}")

    def handle_referer(self, request: Request, response: Response) -> None:
        """Drop the headers that belong to the URL which was asked for first."""
        for name in FOR_ONE_URL:
            request.headers.pop(name, None)
