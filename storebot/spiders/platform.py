"""Discovery by the listing that a shop's platform publishes: its pages carry the products whole.

The listing is a walk like a catalogue's, with the same proof of its end; the rows of a page, the visits of its products
and its checkpoint are saved in one transaction. Why, and what happens where it can't be read:
docs/decisions/0013-listing-carries-visits.md.
"""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from hashlib import sha256
from typing import Any, NamedTuple

from scrapy.http import Request, Response
from twisted.python.failure import Failure

from storebot.core.listing_end import ListingEnd, listing_end
from storebot.core.parsing.platforms.carried import Carried
from storebot.core.rounds import Source
from storebot.core.walk import Seen, Verdict, VerdictKind, Walk, WalkParams, page_fingerprint
from storebot.db import walks
from storebot.exceptions import UnreadableFeed
from storebot.items import CatalogPage, PageType, WalkEnd, WalkState
from storebot.run import Run
from storebot.spiders.blocked import note_block, switched_off
from storebot.spiders.carrying import Carrier
from storebot.spiders.climbed import note_climb
from storebot.spiders.rounds import not_read_again
from storebot.stores.model import Store

logger = logging.getLogger(__name__)

Requests = AsyncIterator[Request]
_CAP = (400, 416, 422)  # how page numbers are refused, as in core/walk.py


class _Kept(NamedTuple):
    """What a page carried, until its verdict comes."""

    carried: Carried
    sha256: str


class PlatformDiscovery(ABC):
    """Walk a platform's listing, in a refresh as in a backfill; only a backfill keeps checkpoints.

    ``otherwise`` gives the requests by which pages are found where the listing doesn't carry all of them.
    """

    platform = ""

    def __init__(self, store: Store, run: Run, *, head_only: bool, otherwise: Callable[[], Requests]) -> None:
        self.store, self.run, self.head_only, self.otherwise = store, run, head_only, otherwise
        self.carrier = Carrier(store, self.platform)
        self.total: int | None = None  # products that the shop says it has
        self._templates = list(self.templates())
        self._kept: dict[int, _Kept] = {}
        self._fault = ""  # what is wrong with the first page
        self._blocked = self._capped = False

    @abstractmethod
    def templates(self) -> tuple[str, ...]:
        """Return the addresses of the listing's pages, with ``{page}``, to be tried in this order."""

    @abstractmethod
    def read(self, response: Response, seen: Seen) -> Requests:
        """Read one page of the listing, and `judge` it once it's whole. Raises `UnreadableFeed`."""

    async def prepare(self) -> Requests:
        """Yield what has to be asked before the first page; the last callback goes on with `ask`."""
        async for request in self.ask():
            yield request

    async def start(self) -> Requests:
        """Open the walk and yield its first requests; nothing where it was walked to its end already."""
        if await self._open(self._templates.pop(0)):
            async for request in self.prepare():
                yield request

    async def _open(self, template: str) -> bool:
        self.params = WalkParams(template=template, product_url=self.store.product_url)
        self.name = f"{self.platform} {template.removeprefix(self.store.base_url)}"
        self.walk = Walk(self.params)
        if not self.head_only:
            print_ = self.params.params_fingerprint()
            stands = await self.run.session.call(walks.open_walk, self.store.name, self.name, print_)
            if stands.restarted:
                logger.warning("%s: %s", self.store.name, stands.restarted)
            if stands.page or stands.state is WalkState.ENDED:
                await not_read_again(self.run, Source.PLATFORM, self.name)
            if stands.state is WalkState.ENDED:
                logger.info("%s: %s was walked to its end by the run that this one resumes", self.store.name, self.name)
                return False
            self.walk = Walk(self.params, stands.page, stands.fingerprints)
        self.run.walk_opened(self.name, Source.PLATFORM, carries=self.platform)
        return True

    async def ask(self) -> Requests:
        """Yield what the walk wants next: one page at a time, as each may be the last."""
        for number in self.walk.to_fetch(1):
            yield self.request(self.walk.url(number), self.parse, self.failed, number=number)

    def request(self, url: str, callback: Any, errback: Any, **meta: Any) -> Request:
        """Return a request of this walk."""
        meta = {"walk": self.name, "page_type": PageType.FEED, **meta}
        return Request(url, callback=callback, errback=errback, dont_filter=True, priority=10, meta=meta)

    async def parse(self, response: Response) -> Requests:
        """Read one page of the listing, and judge it."""
        request = response.request
        assert request is not None
        number = request.meta["number"]
        note_climb(self.run, request, response.status)
        seen = Seen(
            number=number,
            url=request.meta.get("redirect_urls", [request.url])[0],
            final_url=response.url,
            status=self.status_of(response),
        )
        if seen.status != 200:
            self._capped = number > self.params.first and seen.status in _CAP
            async for following in self._faulty(seen, f"answers HTTP {response.status}"):
                yield following
            return
        try:
            async for following in self.read(response, seen):
                yield following
        except UnreadableFeed as error:
            async for following in self._faulty(replace(seen, failed=number > self.params.first), str(error)):
                yield following

    def status_of(self, response: Response) -> int:
        """Return the status by which a page is judged."""
        return response.status

    async def failed(self, failure: Failure) -> Requests:
        """Judge a page that gave no response to read."""
        request: Request = failure.request  # type: ignore[attr-defined]  # Scrapy sets it on every errback
        number, error = request.meta["number"], failure.value
        seen = Seen(number=number, url=request.url, status=0)
        if number == self.params.first and (fault := switched_off(error)):
            async for following in self._faulty(replace(seen, status=403), fault):
                yield following
            return
        async for following in self.unread(seen, request, failure):
            yield following

    async def unread(self, seen: Seen, request: Request, failure: Failure) -> Requests:
        """Judge a page that could not be had: it proves nothing, and a backfill resumes there."""
        self._blocked = note_block(self.run, self.store.name, PageType.FEED, request, failure)
        logger.warning("%s: %s: %s", self.store.name, request.url, failure.value)
        async for following in self.judged(replace(seen, blocked=self._blocked, failed=not self._blocked)):
            yield following

    async def _faulty(self, seen: Seen, fault: str) -> Requests:
        if seen.number == self.params.first:
            self._fault = fault
        else:
            logger.warning("%s: %s: %s", self.store.name, seen.url, fault)
        async for request in self.judged(seen):
            yield request

    async def judge(self, seen: Seen, carried: Carried, body: bytes) -> Requests:
        """Judge a page by what it carries."""
        keys = self.carrier.keys(carried.products)
        self._kept[seen.number] = _Kept(carried, sha256(body).hexdigest())
        self.total = carried.total if carried.total is not None else self.total
        if seen.number == self.params.first:
            declared = f", though the shop declares {self.total}" if self.total else ""
            self._fault = "" if keys else f"carries no products{declared}"
        if carried.lost:
            logger.warning("%s: %s: %d entries without an address or a name", self.store.name, seen.url, carried.lost)
        async for request in self.judged(replace(seen, keys=keys, total=self.total)):
            yield request

    async def judged(self, seen: Seen) -> Requests:
        """Carry out what is decided by one page. The next is asked for when it is saved: it's large, and few are."""
        for verdict in self.walk.receive(seen):
            if verdict.kind in (VerdictKind.COMMIT, VerdictKind.HOLD) and verdict.seen is not None:
                self._save(verdict.seen, checkpoint=not self.head_only and verdict.kind is VerdictKind.COMMIT)
                await self.run.session.saved()
            elif verdict.kind in (VerdictKind.ENDED, VerdictKind.INCOMPLETE):
                async for request in self._end(verdict):
                    yield request
        async for request in self.ask():
            yield request

    def _save(self, seen: Seen, *, checkpoint: bool) -> None:
        kept, at_ms = self._kept.pop(seen.number), self.run.session.now_ms()
        found, visits = self.carrier.visits(kept.carried.products, at_ms, kept.sha256)
        if not found:
            logger.warning("%s: none of the addresses on %s matches product_url", self.store.name, seen.url)
        self.run.submit(
            CatalogPage(
                store=self.store.name,
                walk=self.name,
                number=seen.number,
                url=seen.final_url or seen.url,
                at_ms=at_ms,
                found=found,
                fingerprint=page_fingerprint(seen.keys),
                params=self.params.params_fingerprint(),
                checkpoint=checkpoint,
                visits=visits,
                round=self.run.rounds.of(Source.PLATFORM),
            )
        )

    async def _end(self, verdict: Verdict) -> Requests:
        """Say how the walk ended, and have the pages that it didn't carry found in another way."""
        self._kept.clear()
        end = listing_end(
            proven=verdict.kind is VerdictKind.ENDED,
            walked=self.walk.checkpoint >= self.params.first,
            blocked=self._blocked,
            capped=self._capped,
            fault=self._fault,
            carried=self.carrier.count,
            declared=self.total,
        )
        if end is ListingEnd.OFF and self._templates:
            async for request in self._next_address():
                yield request
            return
        reason = f"the first page {self._fault}" if end is ListingEnd.OFF else verdict.reason
        if end in (ListingEnd.OFF, ListingEnd.CAPPED):
            self.run.rounds.spoil(Source.PLATFORM, f"{self.name}: {reason}")
        state = WalkState.ENDED if verdict.kind is VerdictKind.ENDED else WalkState.INCOMPLETE
        if end in (ListingEnd.OFF, ListingEnd.CAPPED) and (self.store.discover.sitemaps or self.store.catalogue_urls):
            state = WalkState.ENDED
            self.run.note(f"{self.name}: {reason}; what it doesn't carry is read as pages")
        elif end is ListingEnd.BLOCKED:
            self.run.close_feed()
        elif end is ListingEnd.FAILED:
            self.run.session.withhold(self.platform)
        async for request in self.finish(state, reason, leaves_pages=end.leaves_pages):
            yield request

    async def _next_address(self) -> Requests:
        """Try the next address of the listing: an older version of the platform has it elsewhere."""
        name, reason, self._fault = self.name, f"the first page {self._fault}", ""
        opened = await self._open(self._templates.pop(0))
        self._close(name, WalkState.ENDED, reason)
        if opened:
            async for request in self.ask():
                yield request

    async def finish(self, state: WalkState, reason: str, *, leaves_pages: bool) -> Requests:
        """Save the end of this walk; a refresh asks the other sources now, which a backfill does anyway."""
        if leaves_pages and self.head_only:
            async for request in self.otherwise():
                yield request
        logger.info("%s: %s: %s (%d pages)", self.store.name, self.name, reason, self.walk.checkpoint)
        self._close(self.name, state, reason)

    def _close(self, name: str, state: WalkState, reason: str) -> None:
        self.run.submit(
            WalkEnd(
                store=self.store.name,
                walk=name,
                at_ms=self.run.session.now_ms(),
                state=state,
                reason=f"{name}: {reason}",
                checkpoint=not self.head_only,
            )
        )
