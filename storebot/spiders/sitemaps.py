"""Discovery by sitemaps: robots.txt → sitemap index → children, each child a walk of its own."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Iterable, Iterator
from itertools import islice

from scrapy.http import Request, Response
from twisted.python.failure import Failure

from storebot.core.parsing.sitemap import SitemapReading, read_sitemap
from storebot.core.parsing.sitemap_trail import SitemapTrail
from storebot.core.robots import sitemaps_in_robots
from storebot.core.rounds import Source
from storebot.core.urls import same_site
from storebot.db import walks
from storebot.exceptions import UnreadableSitemap
from storebot.items import CatalogPage, PageType, WalkEnd, WalkState
from storebot.run import Run
from storebot.spiders.blocked import note_block
from storebot.spiders.climbed import note_climb
from storebot.spiders.found import product_pages
from storebot.spiders.rounds import not_read_again
from storebot.stores.model import Store

logger = logging.getLogger(__name__)

CHUNK = 1000  # entries to a record: the rows of a sitemap of 50,000 are saved as it is read
ROBOTS = "robots.txt"


class SitemapDiscovery:
    """Read a store's sitemaps, all of them, each once; what can't be read leaves the run ``partial``, never empty.

    In a backfill a child that was read whole isn't read again by a resume. ``head_only`` (a refresh) reads them anew
    and leaves the checkpoints alone.
    """

    def __init__(self, store: Store, run: Run, *, head_only: bool) -> None:
        self.store, self.run, self.checkpoint = store, run, not head_only
        self.trail = SitemapTrail()
        self.named = 0  # entries of all sitemaps
        self.matched = 0  # of these, product pages

    def start(self) -> Iterator[Request]:
        """Yield the first requests: the declared sitemaps, or robots.txt."""
        declared = self.store.sitemap_urls
        if declared:
            for url in declared:
                yield from self._ask(url, depth=1, walk=self._walk(url))
        else:
            yield from self._ask(f"{_root(self.store.base_url)}/robots.txt", depth=0, walk=ROBOTS)

    def _ask(self, url: str, depth: int, walk: str, *, guess: bool = False) -> Iterator[Request]:
        too_deep = self.trail.too_deep
        if not self.trail.ask(url, depth):
            if self.trail.too_deep > too_deep:
                reason = f"{walk}: not read, it lies more than {self.trail.max_depth} documents below the first"
                self._end(walk, WalkState.INCOMPLETE, reason, checkpoint=False)
            return
        self.run.walk_opened(walk, Source.SITEMAP)
        robots = walk == ROBOTS
        yield Request(
            url,
            callback=self.parse_robots if robots else self.parse_sitemap,
            errback=self.failed,
            dont_filter=True,
            priority=10,
            meta={
                "walk": walk,
                "depth": depth,
                "guess": guess,
                "page_type": None if robots else PageType.SITEMAP,
                "robots_txt": robots,  # which the robots middleware has, or fetches for both
                "dont_obey_robotstxt": robots,
            },
        )

    async def parse_robots(self, response: Response) -> AsyncIterator[Request]:
        """Yield a request for each sitemap that robots.txt names, or for /sitemap.xml where it names none."""
        named = sitemaps_in_robots(response.body, response.url) if response.status == 200 else []
        for url in named:
            for request in self._ask(url, depth=1, walk=self._walk(url)):
                yield request
        if not named:
            for request in self._guessed():
                yield request
        if response.status >= 500:  # nothing is known then, and what it would have named is missing (RFC 9309 §2.3.1.4)
            self._end(ROBOTS, WalkState.INCOMPLETE, f"{ROBOTS}: HTTP {response.status}", checkpoint=False)
        else:
            self._end(ROBOTS, WalkState.ENDED, f"names {len(named)} sitemaps", checkpoint=False)

    def _guessed(self) -> Iterator[Request]:
        url = f"{self.store.base_url}/sitemap.xml"
        return self._ask(url, depth=1, walk=self._walk(url), guess=True)

    async def parse_sitemap(self, response: Response) -> AsyncIterator[Request]:
        """Yield the children of an index, or the product pages of a sitemap and its end."""
        walk, depth = response.meta["walk"], response.meta["depth"]
        if response.request is not None:
            note_climb(self.run, response.request, response.status)
        if response.status != 200:
            self._missing(walk, response)
            return
        if not self.trail.read(response.request.url if response.request else response.url, response.url):
            self._end(walk, WalkState.ENDED, "the same document as one that was read", checkpoint=False)
            return
        try:
            reading = read_sitemap(response.body, response.url, same_site=self._on_site)
            if reading.is_index:
                for child in reading.iter_entries():
                    async for request in self._child(child.url, depth + 1):
                        yield request
                self._ended(walk, reading, checkpoint=False)
                return
            if self.checkpoint:
                await self.run.session.call(walks.open_walk, self.store.name, walk, "")
            for number, chunk in enumerate(_chunks(reading), start=1):
                await self.run.room()
                self._page(walk, number, response.url, chunk)
            self._ended(walk, reading, checkpoint=self.checkpoint)
        except UnreadableSitemap as error:
            self._end(walk, WalkState.INCOMPLETE, f"{walk}: {error}", checkpoint=False)

    async def _child(self, url: str, depth: int) -> AsyncIterator[Request]:
        pattern = self.store.sitemap_pattern
        if pattern is not None and not pattern.search(url):
            return
        walk = self._walk(url)
        # Only looked at: a child that is an index itself has no checkpoint, and that isn't known before it's read.
        if self.checkpoint and await self.run.session.call(walks.is_ended, self.store.name, walk, ""):
            await not_read_again(self.run, Source.SITEMAP, walk)
            logger.info("%s: %s was read whole by the run that this one resumes", self.store.name, walk)
            return
        for request in self._ask(url, depth, walk):
            yield request

    def _page(self, walk: str, number: int, url: str, chunk: list[tuple[str, str | None]]) -> None:
        found = product_pages(self.store, chunk)
        self.named += len(chunk)
        self.matched += len(found)
        name, at_ms = self.store.name, self.run.session.now_ms()
        self.run.submit(
            CatalogPage(
                store=name,
                walk=walk,
                number=number,
                url=url,
                at_ms=at_ms,
                found=found,
                checkpoint=False,
                round=self.run.rounds.of(Source.SITEMAP),
            )
        )

    def _ended(self, walk: str, reading: SitemapReading, *, checkpoint: bool) -> None:
        if reading.repaired:
            logger.warning("%s: %s broke its format and was repaired", self.store.name, walk)
        state, reason = WalkState.ENDED, f"{reading.taken} entries"
        if reading.lost or reading.incomplete:
            state = WalkState.INCOMPLETE
            reason = f"{walk}: {reading.lost} entries lost in a broken document ({reading.taken} read)"
        elif not reading.taken:
            state, reason = WalkState.INCOMPLETE, f"{walk}: it names nothing"
        self._end(walk, state, reason, checkpoint=checkpoint)

    def _missing(self, walk: str, response: Response) -> None:
        """A sitemap that was named and isn't there is a hole; one that was only guessed is no sitemap."""
        reason = f"{walk}: HTTP {response.status}"
        guessed = response.meta["guess"] and response.status in (403, 404, 410) and self.store.catalogue_urls
        self.run.rounds.spoil(Source.SITEMAP, reason)
        self._end(walk, WalkState.ENDED if guessed else WalkState.INCOMPLETE, reason, checkpoint=False)

    def failed(self, failure: Failure) -> Iterator[Request]:
        """End a walk without a response as incomplete; robots.txt without one still leaves /sitemap.xml to try."""
        request: Request = failure.request  # type: ignore[attr-defined]  # Scrapy sets it on every errback
        walk = request.meta["walk"]
        error = failure.value
        note_block(self.run, self.store.name, PageType.SITEMAP, request, failure)
        if walk == ROBOTS:
            yield from self._guessed()
        self._end(walk, WalkState.INCOMPLETE, f"{walk}: {type(error).__name__}: {error}", checkpoint=False)

    def _walk(self, url: str) -> str:
        return f"sitemap {self.store.as_filed(url)}"

    def _on_site(self, url: str) -> bool:
        return same_site(url, self.store.base_url, self.store.keys.aliases)

    def _end(self, walk: str, state: WalkState, reason: str, *, checkpoint: bool) -> None:
        name, at_ms = self.store.name, self.run.session.now_ms()
        self.run.submit(WalkEnd(store=name, walk=walk, at_ms=at_ms, state=state, reason=reason, checkpoint=checkpoint))


def _chunks(reading: SitemapReading) -> Iterator[list[tuple[str, str | None]]]:
    entries: Iterable[tuple[str, str | None]] = ((entry.url, entry.lastmod) for entry in reading.iter_entries())
    iterator = iter(entries)
    while chunk := list(islice(iterator, CHUNK)):
        yield chunk


def _root(base_url: str) -> str:
    """Return scheme and host: robots.txt lies at the root of a host, whatever the path of the shop (RFC 9309 §2.3)."""
    scheme, _, rest = base_url.partition("://")
    return f"{scheme}://{rest.split('/', 1)[0]}"
