"""WooCommerce's listing: it only numbers the variations of its products, which are asked for page by page."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from scrapy.http import Request, Response
from twisted.python.failure import Failure

from storebot.core.parsing.platforms import woocommerce
from storebot.core.walk import Seen
from storebot.exceptions import UnreadableFeed
from storebot.spiders.platform import PlatformDiscovery, Requests

logger = logging.getLogger(__name__)

PARENTS = 50  # products whose variations are asked for at once: an address with so many ids is short enough anywhere
MAX_PAGES = 1000  # of their variations; a product has up to 100, and a page may be clamped to 10


@dataclass(slots=True)
class _Page:
    """A page of the listing until its variations are there."""

    seen: Seen
    body: bytes
    total: int | None
    nodes: list[Mapping[str, Any]]
    parents: list[str]  # whose variations are still to be asked for
    variations: dict[str, Mapping[str, Any]] = field(default_factory=dict)  # by id


class WooCommerceDiscovery(PlatformDiscovery):
    """Walk the Store API, which says in a header of each page how many products there are."""

    platform = woocommerce.NAME

    def templates(self) -> tuple[str, ...]:
        return woocommerce.listing_templates(self.store.base_url)

    def status_of(self, response: Response) -> int:
        past = response.status == 400 and woocommerce.is_past_the_end(response.body)
        return 404 if past else response.status

    async def read(self, response: Response, seen: Seen) -> Requests:
        nodes = woocommerce.read_nodes(response.body)
        total = _number(response, "X-WP-Total")
        async for request in self._go_on(_Page(seen, response.body, total, nodes, woocommerce.parents_of(nodes))):
            yield request

    async def _go_on(self, page: _Page) -> Requests:
        """Ask for the next variations, or judge the page that has all of its own."""
        if page.parents:
            yield self._variations(page, 1)
            return
        found = woocommerce.carried(page.nodes, woocommerce.by_parent(page.variations.values()))
        async for request in self.judge(page.seen, replace(found, total=page.total), page.body):
            yield request

    def _variations(self, page: _Page, number: int) -> Request:
        url = woocommerce.variations_url(page.seen.url, page.parents[:PARENTS], number)
        return self.request(url, self.parse_variations, self.no_variations, of=page, number=number)

    async def parse_variations(self, response: Response) -> Requests:
        """Take a page of variations. Products whose variations the shop doesn't give are read as pages."""
        request = response.request
        assert request is not None
        page, number = request.meta["of"], request.meta["number"]
        if response.status >= 500:
            async for following in self.judged(replace(page.seen, failed=True)):
                yield following
            return
        if self._take(page, response) and number < min(_number(response, "X-WP-TotalPages") or MAX_PAGES, MAX_PAGES):
            yield self._variations(page, number + 1)
            return
        del page.parents[:PARENTS]
        async for following in self._go_on(page):
            yield following

    def _take(self, page: _Page, response: Response) -> bool:
        """Add the variations of a response to their page, and say whether there was a new one."""
        try:
            nodes = woocommerce.read_nodes(response.body) if response.status == 200 else []
        except UnreadableFeed as error:
            logger.warning("%s: %s: %s", self.store.name, response.url, error)
            nodes = []
        before = len(page.variations)
        page.variations.update((str(node["id"]), node) for node in nodes)
        return len(page.variations) > before

    async def no_variations(self, failure: Failure) -> Requests:
        """Judge a page whose variations could not be asked for as one that could not be read."""
        request: Request = failure.request  # type: ignore[attr-defined]  # Scrapy sets it on every errback
        async for following in self.unread(request.meta["of"].seen, request, failure):
            yield following


def _number(response: Response, header: str) -> int | None:
    text = (response.headers.get(header) or b"").decode("latin-1").strip()
    return int(text) if text.isdecimal() and text.isascii() and len(text) < 10 else None
