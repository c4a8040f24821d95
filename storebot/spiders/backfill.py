"""Phase one: walk the whole store once, and read every page that was never read."""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import partial

from scrapy.http import Request

from storebot.archive.rereading import page_of, read_again
from storebot.items import Target, Visit
from storebot.run import Run
from storebot.spiders.base import StoreSpider
from storebot.spiders.naming import names_of


class BackfillSpider(StoreSpider):
    """``scrapy crawl backfill -a store=NAME``: resumes where the last one stopped; what is had isn't fetched again."""

    name = "backfill"

    async def start(self) -> AsyncIterator[Request]:
        run = self.crawler.get_extension(Run)
        assert run is not None
        async for request in self.crawl(run, run.session.claim_pending, head_only=False, had=partial(self._had, run)):
            yield request

    def _had(self, run: Run, target: Target) -> Visit | None:
        """Return the visit of a page that the archive has and the database doesn't: it was restored from a backup.

        It is saved as of the time when the page was fetched, and so due as it would have been. None where there is no
        such page, or the rules of today can't read it.
        """
        kept = run.keeper.had(target.url_key, run.session.now_ms(), target.checked_at)
        if kept is None:
            return None
        page = page_of(kept)
        visit = read_again(self.store, page, target)
        if visit.outcome is not None:
            return None
        names = names_of(self.store, target, page, visit.listings[0].canonical_url or page.canonical_url)
        visit.final_key, visit.canonical_key, visit.amp_key = names
        return visit
