"""The pages that a run visits: claimed in batches, until none is left and no walk can name another."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING

from scrapy import signals

from storebot.db.session import Claim, Session
from storebot.exceptions import StorebotError
from storebot.items import Target, Visit

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

logger = logging.getLogger(__package__)  # the run's: its parts log by one name

_SILENCE_S = 10.0  # without a commit, after which it is asked whether there is anything to wait for


class Feed:
    """Gives pages away and waits for their visits, and for the walks that may still name some.

    ``session`` gives the hold on the database, ``room`` waits until another record may be submitted, ``on_failed`` is
    told why no page could be claimed.
    """

    def __init__(
        self,
        crawler: Crawler,
        store: str,
        *,
        session: Callable[[], Session],
        room: Callable[[], Awaitable[None]],
        on_failed: Callable[[StorebotError], None],
    ) -> None:
        self._crawler, self._store = crawler, store
        self._session, self._room, self._on_failed = session, room, on_failed
        self.out = 0  # pages that were given away, and whose visit isn't saved
        self.unasked = 0  # pages that were read from the archive instead of being fetched
        self._walks_open: set[str] = set()
        self._carrying: dict[str, str] = {}  # of these, walks that carry products whole, with the source of the records
        self._closed = False
        self._news = asyncio.Event()

    def wake(self) -> None:
        """Have all that waits look again whether there is anything to wait for."""
        self._news.set()

    def close(self) -> None:
        """Claim no more pages."""
        self._closed = True

    def stop(self) -> None:
        """Claim no more pages, and have who waits for some know it."""
        self.close()
        self.wake()

    def give_back(self) -> None:
        """Take back a page that was given away and wasn't asked for."""
        self.out -= 1
        self.wake()

    def walk_opened(self, walk: str, carries: str) -> None:
        """Wait for a walk until it has ended; until then claim no page at all if it ``carries`` the records of one."""
        self._walks_open.add(walk)
        if carries:
            self._carrying[walk] = carries

    def walk_ended(self, walk: str) -> None:
        """Wait for this walk no more."""
        self._walks_open.discard(walk)
        self._carrying.pop(walk, None)

    def carried_by(self, walk: str) -> str:
        """Return the source whose records an open walk carries, "" for none."""
        return self._carrying.get(walk, "")

    async def walked(self, ending: asyncio.Event) -> None:
        """Wait until the walks that were opened have ended, or the run is ``ending``."""
        while self._walks_open and not self._closed and not ending.is_set():
            self._news.clear()
            await self._news.wait()

    async def pages(self, claim: Claim, had: Callable[[Target], Visit | None] | None) -> AsyncIterator[Target]:
        """Yield the pages to visit; see `Run.feed`."""
        session = self._session()
        while True:
            self._news.clear()
            # Asked before the claim: what is saved while it runs may name pages that it didn't see, and a page that is
            # out may have to be looked at again.
            last = not self._walks_open and not session.unsaved and not self.out
            if self._carrying or self._closed:
                if last:
                    return
                await self._news.wait()
                continue
            try:
                batch = await session.call(claim)
            except StorebotError as error:
                self._on_failed(error)
                return
            self.out += len(batch)
            asked = 0
            for target in batch:
                if had is not None and (visit := had(target)) is not None:
                    await self._submit_unasked(session, visit)
                    continue
                asked += 1
                yield target
            if asked:
                await self._crawler.signals.wait_for(signals.scheduler_empty)
            elif batch:
                continue
            elif last:
                return
            else:
                await self._wait_for_news(session)

    async def _submit_unasked(self, session: Session, visit: Visit) -> None:
        self.unasked += 1
        session.submit(visit)
        await asyncio.sleep(0)  # a whole batch is read in half a second: others must have their turn
        await self._room()

    async def _wait_for_news(self, session: Session) -> None:
        """Wait until something is saved. Each page that is out brings its visit; should one not, the run still ends."""
        while not self._news.is_set():
            try:
                await asyncio.wait_for(self._news.wait(), _SILENCE_S)
            except TimeoutError:
                if self.out and not session.unsaved and self._is_engine_idle():
                    logger.error("%s: %d pages were asked for and brought no visit", self._store, self.out)
                    self.out = 0
                    return

    def _is_engine_idle(self) -> bool:
        engine = self._crawler.engine
        return not engine.downloader.active and (engine.scraper.slot is None or engine.scraper.slot.is_idle())
