"""A request in, a response out, by a page of a browser: what the tiers `browser` and `attached` share."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING

from playwright.async_api import Error as PlaywrightError
from scrapy.exceptions import DownloadTimeoutError, NotSupported
from scrapy.http import Headers
from scrapy.responsetypes import responsetypes

from storebot.core.ad_hosts import patterns
from storebot.core.block_signatures import Kind
from storebot.core.blocks import Block, classify, surely_refuses
from storebot.core.page import Page
from storebot.core.soft404 import soft_404
from storebot.exceptions import AnswerTooLarge, RenderFailed
from storebot.fetch.browsing.errors import translated
from storebot.fetch.browsing.loading import Head, Loading
from storebot.fetch.browsing.rules import Judge, Rules
from storebot.fetch.browsing.settling import Rendered, Waiting, settled, went_on
from storebot.fetch.browsing.tab import Tab
from storebot.fetch.browsing.tabs import Tabs
from storebot.fetch.tier import html_response
from storebot.items import PageType, Spent, Tier
from storebot.stores.fetch_browser import Browser
from storebot.stores.model import Store

if TYPE_CHECKING:
    from scrapy.http import Request, Response

Explain = Callable[[str], Exception | None]

# DevTools' names of what `abort` may list.
_KINDS = {"image": "Image", "media": "Media", "font": "Font", "stylesheet": "Stylesheet"}
_CHALLENGES = (202, 403, 405, 429, 503)  # with which they come; with 200, too, which then needs a surer sign
CHALLENGE_S = 8.0
"""So long a challenge has for passing by itself, from when it is there: the longest that we know count to five."""

_FAVICON = "*/favicon.ico"  # every browser asks for it, and no page shows it
# What describes the bytes of the wire, validators that no browser sends back (NOTES C5), and the browser's own cookies.
_NOT_OURS = frozenset(
    ("content-encoding", "content-length", "transfer-encoding", "etag", "last-modified", "set-cookie")
)


class Renderer:
    """Fetches pages in the tabs that it is given, as ``[fetch.browser]`` of the store says.

    It adds to the visit's ``spent`` what each page took: requests, bytes, milliseconds in a browser.
    """

    def __init__(self, store: Store, tier: Tier, max_bytes: int, judge: Judge | None = None) -> None:
        self._store, self._tier, self._max_bytes = store, tier, max_bytes
        self._browser = store.fetch.browser or Browser()
        self._rules = Rules(
            left_out=tuple(_KINDS[name] for name in self._browser.abort if name in _KINDS),
            blocked_urls=(_FAVICON, *(patterns() if "ad" in self._browser.abort else ())),
            judge=judge,
        )

    @property
    def judge(self) -> Judge | None:
        """Who says what the pages may ask for."""
        return self._rules.judge

    async def fetch(self, tabs: Tabs, request: Request, explain: Explain | None = None) -> Response:
        """Return what a page ends at.

        ``explain`` knows why an address could not be reached, where the browser is only told that it can't. Raises
        exceptions of Scrapy's, or FetchFailed.
        """
        if request.method != "GET":
            raise NotSupported(f"a browser is only sent to look at pages, not to {request.method}")
        spent: Spent = request.meta.setdefault("spent", Spent())
        started, asked_for, trouble = monotonic(), request.url, None
        try:
            async with asyncio.timeout(self._browser.timeout_s), tabs.lent(self._rules) as tab:
                loading = tab.begin(max_bytes=self._bound(request), max_page_bytes=self._max_bytes)
                try:
                    return await loading.uncut(self._visit(tab, loading, request))
                finally:
                    asked_for = loading.asked_for or asked_for
                    spent.requests += loading.traffic.requests
                    spent.size_bytes += loading.traffic.close() + (len(loading.raw[1]) if loading.raw else 0)
        except TimeoutError as error:
            raise DownloadTimeoutError(f"took longer than {self._browser.timeout_s:g} s") from error
        except PlaywrightError as error:
            trouble = error
        finally:
            spent.browser_ms += round((monotonic() - started) * 1000)
        if explain and "net::" in trouble.message and (known := explain(asked_for)):
            raise known  # and not from what the browser makes of it, which knows less
        raise translated(trouble) from trouble

    async def _visit(self, tab: Tab, loading: Loading, request: Request) -> Response:
        try:
            await tab.go(request.url)
        except PlaywrightError:
            if loading.raw is None:
                raise
        waiting = self._waiting(loading, request)
        rendered = await settled(tab, loading, waiting)
        if rendered is not None and self._is_challenge(loading, rendered, waiting, request):
            await went_on(loading, loading.commits, min(self._browser.wait_s, CHALLENGE_S))
            rendered = await settled(tab, loading, waiting)  # some pass without going anywhere
        if rendered is None:
            assert loading.raw is not None
            return self._as_it_came(*loading.raw)
        return self._response(loading.head, rendered, request)

    def _is_challenge(self, loading: Loading, rendered: Rendered, waiting: Waiting, request: Request) -> bool:
        """Whether a page wants a script to run, which it does: what was asked for comes after it."""
        if loading.head is None:
            return False
        page = _page(rendered.url, rendered.html.encode("utf-8", "replace"), loading.head)
        if loading.head.status in _CHALLENGES:
            block = self._block(page, request)
            return block is not None and block.kind is Kind.CHALLENGE
        has_all = waiting.selectors and rendered.missing is None
        return not has_all and self._refuses(page) is Kind.CHALLENGE

    def _refuses(self, page: Page) -> Kind | None:
        return surely_refuses(page, self._store.blocks.markers)

    def _block(self, page: Page, request: Request) -> Block | None:
        page_type = request.meta.get("page_type") or PageType.PRODUCT
        return classify(page, page_type=page_type, identity=False, markers=self._store.blocks.markers)

    def _bound(self, request: Request) -> int:
        return int(request.meta.get("download_maxsize") or self._max_bytes)

    def _waiting(self, loading: Loading, request: Request) -> Waiting:
        browser = self._browser
        selectors = {PageType.PRODUCT: browser.wait_for, PageType.CATALOGUE: browser.wait_for_links}
        return Waiting(
            selectors=selectors.get(request.meta.get("page_type", PageType.FEED), ()),
            wait_s=browser.wait_s,
            settle_s=browser.settle_s,
            refuses=lambda url, html: (
                self._refuses(_page(url, html.encode("utf-8", "replace"), loading.head)) is not None
            ),
        )

    def _response(self, head: Head | None, rendered: Rendered, request: Request) -> Response:
        if head is None or not rendered.url.startswith(("http://", "https://")):
            raise RenderFailed(f"it ended at {rendered.url[:100]}, which no server sent")
        if len(rendered.html) > self._bound(request):
            raise AnswerTooLarge(f"its scripts made it larger than {self._bound(request):,} bytes")
        headers = {name: value for name, value in head.headers.items() if name not in _NOT_OURS}
        response = html_response(
            rendered.url, rendered.html, status=head.status, headers=headers, flags=[self._tier.value]
        )
        missing = rendered.missing
        if missing and (missing.placeholder is not None or not self._says_why(response, request)):
            raise RenderFailed(f"not rendered after {self._browser.wait_s:g} s: {missing}")
        return response

    def _says_why(self, response: Response, request: Request) -> bool:
        """Whether a page without what was waited for is an answer all the same: an error, a block, a soft 404."""
        if response.status >= 400:
            return True
        page = _page(response.url, response.body)
        return (
            self._refuses(page) is not None
            or self._block(page, request) is not None
            or bool(soft_404(page, self._store.base_url))
        )

    def _as_it_came(self, head: Head, body: bytes) -> Response:
        headers = Headers({name: value for name, value in head.headers.items() if name not in _NOT_OURS})
        kind = responsetypes.from_args(headers=headers, url=head.url, body=body)
        return kind(head.url, status=head.status, headers=headers, body=body, flags=[self._tier.value])


def _page(url: str, body: bytes, head: Head | None = None) -> Page:
    head = head or Head(url, 200)
    return Page(url=url, body=body, charset="utf-8", status=head.status, headers=head.headers)
