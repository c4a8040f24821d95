"""The catalogue pages that a plan wants to see: one request each, for the cards on it, and no walk's checkpoint."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from typing import Any

from scrapy.http import Request, Response
from twisted.python.failure import Failure

from storebot.core.planner.lanes import Lane
from storebot.core.rounds import Source
from storebot.core.urls import url_key
from storebot.db import views
from storebot.db.views import Place
from storebot.exceptions import BudgetReached
from storebot.items import CatalogPage, Outcome, PageType, Target, Visit, WalkEnd, WalkState
from storebot.responses import page_of
from storebot.run import Run
from storebot.spiders.blocked import note_block
from storebot.spiders.cards import CardReader
from storebot.spiders.climbed import note_climb
from storebot.spiders.found import product_pages
from storebot.spiders.taken import taken
from storebot.stores.model import Store

logger = logging.getLogger(__name__)

WALK = "planned catalogue pages"
_GONE = (404, 410)


class PlannedViews:
    """Looks at the catalogue pages of the run's plan. The feed of pages waits until all have been saved."""

    def __init__(self, store: Store, run: Run) -> None:
        self.store, self.run = store, run
        self.cards = CardReader(store, run)
        self._left = self._failed = self._count = 0

    async def start(self) -> AsyncIterator[Request]:
        """Yield a request for each page that the plan names."""
        wanted = [view_id for view_id, _ in self.run.session.views]
        places = await self.run.session.call(views.places, wanted) if wanted else []
        if not places:
            return
        await self.cards.prepare()
        self._left = self._count = self.run.reserved = len(places)
        self.run.walk_opened(WALK, Source.CATALOGUE)
        for place in places:
            meta = {"walk": WALK, "view": place, "page_type": PageType.CATALOGUE}
            yield Request(place.url, callback=self.parse, errback=self.failed, dont_filter=True, priority=5, meta=meta)
        await self.run.walked()  # a card may tell of the change for which a page would be asked

    async def parse(self, response: Response) -> None:
        """Save what one page shows, if it's the page that was asked for."""
        request = response.request
        assert request is not None
        place: Place = request.meta["view"]
        readable = response.status == 200 and self._key(response.url) == self._key(place.url)
        page = page_of(response, request)
        named = self.store.read_catalogue(page) if readable else None
        links = named.links if named is not None and not named.failure else ()
        found = product_pages(self.store, ((url, None) for url in links))
        if found:
            self._note(request, response.status)
            self.run.submit(
                CatalogPage(
                    store=self.store.name,
                    walk=place.walk,
                    number=place.number,
                    url=place.url,
                    at_ms=self.run.session.now_ms(),
                    found=found,
                    cards=self.cards.read(page, links),
                    checkpoint=False,
                    round=self.run.rounds.of(Source.CATALOGUE),
                )
            )
        elif response.status in _GONE or (named is not None and not named.failure):
            note_climb(self.run, request, response.status)
            logger.info("%s: %s shows no products any more", self.store.name, place.url)
            await self.run.session.call(views.forget, place.id)
        else:
            note_climb(self.run, request, response.status)
            self._lose(place, named.failure if named is not None else f"HTTP {response.status} from {response.url}")
        self._done()

    def failed(self, failure: Failure) -> None:
        """Leave a page as it is that gave no response to read: it's no observation."""
        request: Request = failure.request  # type: ignore[attr-defined]  # Scrapy sets it on every errback
        if not isinstance(failure.value, BudgetReached):
            note_block(self.run, self.store.name, PageType.CATALOGUE, request, failure)
            self._lose(request.meta["view"], str(failure.value))
        self._done()

    def _key(self, url: str) -> str:
        return url_key(url, self.store.key_rules)

    def _note(self, request: Request, status: int) -> None:
        """Submit the ledger's entry of a page that was read: it says in which lane a request was spent."""
        target = Target(
            store=self.store.name,
            url=request.url,
            url_key=request.url,
            page_type=PageType.CATALOGUE,
            lane=Lane.LISTING.value,
        )
        at_ms, took = self.run.session.now_ms(), taken(request.meta)
        self.run.submit(Visit(target=target, at_ms=at_ms, outcome=Outcome.UNCHANGED, status=status, **took))

    def _lose(self, place: Place, why: str) -> None:
        self._failed += 1
        logger.warning("%s: %s: not read: %s", self.store.name, place.url, why)

    def _done(self) -> None:
        self._left -= 1
        self.run.reserved = self._left
        if self._left:
            return
        state = WalkState.INCOMPLETE if self._failed else WalkState.ENDED
        reason = f"{WALK}: {self._failed} of {self._count} could not be read" if self._failed else ""
        end: dict[str, Any] = {"store": self.store.name, "walk": WALK, "at_ms": self.run.session.now_ms()}
        self.run.submit(WalkEnd(**end, state=state, reason=reason, checkpoint=False))
