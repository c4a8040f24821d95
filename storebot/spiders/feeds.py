"""Discovery by product feeds: `[discover] feeds`, each a document that carries products whole."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from hashlib import sha256
from itertools import islice

from scrapy.http import Request, Response
from twisted.python.failure import Failure

from storebot.core.parsing.platforms.carried import Carried, CarriedProduct
from storebot.core.parsing.platforms.feed import read_feed
from storebot.core.rounds import Source
from storebot.core.urls import url_key
from storebot.db import walks
from storebot.exceptions import InvalidURL, UnreadableFeed
from storebot.items import CatalogPage, PageType, WalkEnd, WalkState
from storebot.run import Run
from storebot.spiders.blocked import note_block
from storebot.spiders.carrying import Carrier
from storebot.spiders.climbed import note_climb
from storebot.spiders.platform import Requests
from storebot.spiders.rounds import not_read_again
from storebot.stores.model import Store

logger = logging.getLogger(__name__)

SOURCE = "feed"
CHUNK = 250  # products to a record: they are saved in one transaction


class FeedDiscovery:
    """Read a store's product feeds, one after the other: what two of them carry is the first one's.

    A feed that can't be read leaves the run ``partial``, and its products wait for the next run. In a backfill one that
    was read whole isn't read again by a resume.
    """

    def __init__(self, store: Store, run: Run, *, head_only: bool) -> None:
        self.store, self.run, self.checkpoint = store, run, not head_only
        self.carrier = Carrier(store, SOURCE)
        self._left: list[str] = []

    async def start(self) -> Requests:
        """Open the feeds, and yield the request for the first."""
        for url in self.store.feed_urls:
            if await self._open(url):
                self._left.append(url)
        for request in self._next():
            yield request

    async def _open(self, url: str) -> bool:
        walk = _walk(url)
        if self.checkpoint:
            stands = await self.run.session.call(walks.open_walk, self.store.name, walk, "")
            if stands.state is WalkState.ENDED:
                await not_read_again(self.run, Source.FEED, walk)
                logger.info("%s: %s was read whole by the run that this one resumes", self.store.name, walk)
                return False
        self.run.walk_opened(walk, Source.FEED, carries=SOURCE)
        return True

    def _next(self) -> Iterator[Request]:
        if self._left:
            url = self._left.pop(0)
            meta = {"walk": _walk(url), "page_type": PageType.FEED}
            yield Request(url, callback=self.parse, errback=self.failed, dont_filter=True, priority=10, meta=meta)

    async def parse(self, response: Response) -> Requests:
        """Save what a feed carries, then ask for the next one."""
        request = response.request
        assert request is not None
        walk = request.meta["walk"]
        note_climb(self.run, request, response.status)
        try:
            if response.status != 200:
                raise UnreadableFeed(f"it answers HTTP {response.status}")
            carried = read_feed(response.body, response.url, self.store.base_url, self._key, self.run.session.now_ms())
        except UnreadableFeed as error:
            self._unread(walk, str(error))
        else:
            await self._save(walk, response, carried)
        for following in self._next():
            yield following

    def _key(self, url: str) -> str:
        try:
            return url_key(url, self.store.key_rules)
        except InvalidURL:
            return url  # it names no page of the store, and is left out with those of other hosts

    async def _save(self, walk: str, response: Response, carried: Carried) -> None:
        digest = sha256(response.body).hexdigest()
        for number, chunk in enumerate(_chunks(carried.products), start=1):
            at_ms = self.run.session.now_ms()
            found, visits = self.carrier.visits(chunk, at_ms, digest)
            self.run.submit(
                CatalogPage(
                    store=self.store.name,
                    walk=walk,
                    number=number,
                    url=response.url,
                    at_ms=at_ms,
                    found=found,
                    visits=visits,
                    checkpoint=False,
                    round=self.run.rounds.of(Source.FEED),
                )
            )
            await self.run.session.saved()
        if carried.lost:
            self.run.note(f"{walk}: {carried.lost} entries without a title and an address")
        state = WalkState.INCOMPLETE if carried.truncated else WalkState.ENDED
        self._end(
            walk, state, f"{walk}: {'breaks off after ' if carried.truncated else ''}{len(carried.products)} products"
        )

    def failed(self, failure: Failure) -> Iterator[Request]:
        """Give a feed up that gave no response to read, and ask for the next one."""
        request: Request = failure.request  # type: ignore[attr-defined]  # Scrapy sets it on every errback
        note_block(self.run, self.store.name, PageType.FEED, request, failure)
        self._unread(request.meta["walk"], f"{type(failure.value).__name__}: {failure.value}")
        yield from self._next()

    def _unread(self, walk: str, reason: str) -> None:
        self.run.session.withhold(SOURCE)
        self._end(walk, WalkState.INCOMPLETE, f"{walk}: {reason}")

    def _end(self, walk: str, state: WalkState, reason: str) -> None:
        name, at_ms = self.store.name, self.run.session.now_ms()
        self.run.submit(
            WalkEnd(store=name, walk=walk, at_ms=at_ms, state=state, reason=reason, checkpoint=self.checkpoint)
        )


def _walk(url: str) -> str:
    return f"feed {url}"


def _chunks(products: tuple[CarriedProduct, ...]) -> Iterator[list[CarriedProduct]]:
    left = iter(products)
    while chunk := list(islice(left, CHUNK)):
        yield chunk
