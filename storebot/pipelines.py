"""What happens to a visit between the parser and the database: Normalise → Validate → Fingerprint → Keep → Save.

Each takes any item and touches only visits. The pages of a walk don't come this way: they must be saved in their order,
and pipelines work on the items of several responses at once.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Self

from scrapy.exceptions import NotConfigured

from storebot.core.layout import Layout
from storebot.core.page import Page
from storebot.core.record import hashed, normalised, refusal
from storebot.core.validate import validate
from storebot.items import Outcome, Problem, Visit
from storebot.run import Run

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)


class Normalise:
    """Turn what the page says into listings: clean text, minor units, schema.org terms."""

    def __init__(self, run: Run) -> None:
        self.store = run.store

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(_run(crawler))

    def process_item(self, item: object) -> object:
        if not isinstance(item, Visit) or not item.extracted:
            return item
        context = self.store.context(url=item.final_url or item.target.url, url_key=item.final_key)
        item.listings, problems = normalised(item.extracted, context)
        item.problems += problems
        if any(listing.disagreements for listing in item.listings):
            item.source_hash = ""  # a page that disagrees with itself is read in full every time
        return item


class Validate:
    """Refuse what can't be believed: the visit becomes ``invalid``, the old rows stay, and the page is kept.

    A field that the store has rules for and doesn't require is told, not refused, where pages no longer yield it.
    """

    def __init__(self, run: Run) -> None:
        self.run, self.rules, self.required = run, run.store.rules, run.store.required
        self.layout = Layout([name for name in self.rules.named if name not in self.required])

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(_run(crawler))

    def process_item(self, item: object) -> object:
        if not isinstance(item, Visit) or not item.listings:
            return item
        fatal: list[Problem] = []
        for listing in item.listings:
            fatal += validate(listing, self.required, item.problems, self.rules)
        if not fatal:
            self._watch(item)
            return item
        reason = refusal(fatal)
        reason += self._kept(item, reason)
        logger.warning("%s: invalid: %s", item.target.url, reason)
        item.outcome, item.reason, item.listings = Outcome.INVALID, reason, ()
        return item

    def close_spider(self) -> None:
        """Tell of the fields that no page of the run had."""
        if never := self.layout.never_had():
            tried = self.rules.tried_in_words(*never)
            logger.warning("%s: not found on any of %d pages: %s", self.run.store.name, self.layout.pages, tried)

    def _watch(self, visit: Visit) -> None:
        for name in self.layout.lost(visit.listings):
            reason = f"not found here, and on all {self.layout.pages - 1} pages before (tried {self._tried(name)})"
            visit.problems = (*visit.problems, Problem(name, reason))
            logger.warning("%s: %s: %s%s", visit.target.url, name, reason, self._kept(visit, f"{name}: {reason}"))

    def _tried(self, name: str) -> str:
        return ", ".join(self.rules.tried(name))

    def _kept(self, visit: Visit, reason: str) -> str:
        url = visit.final_url or visit.target.url
        page = Page(url=url, body=visit.body, status=visit.status, headers=visit.headers)
        return self.run.failed_pages.keep(page, reason, visit.at_ms)


class Fingerprint:
    """Hash the extracted fields, never the body: two visits are equal when the hashes are."""

    def process_item(self, item: object) -> object:
        if not isinstance(item, Visit) or not item.listings:
            return item
        item.listings, item.content_hash, item.details_hash = hashed(item.listings)
        item.extracted = ()
        return item


class Keep:
    """Put what the page archive keeps of an accepted page in place of its body: that mustn't wait for the commit."""

    def __init__(self, run: Run) -> None:
        self.keeper = run.keeper

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(_run(crawler))

    def process_item(self, item: object) -> object:
        if isinstance(item, Visit) and item.body:
            if item.outcome is None:
                self.keeper.pack(item)
            item.body = b""
        return item


class Save:
    """Hand the visit to the database thread, and wait when too many records are waiting for their commit.

    It doesn't wait for the commit itself: the scraper would stand still at 5 MB of unsaved responses, 50 pages.
    """

    def __init__(self, run: Run) -> None:
        self.run = run

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(_run(crawler))

    def process_item(self, item: object) -> object:
        if not isinstance(item, Visit):
            return item
        if self.run.is_full:
            return self._wait(item)
        self.run.submit(item)
        return item

    async def _wait(self, visit: Visit) -> Visit:
        await self.run.room()
        self.run.submit(visit)
        return visit


def _run(crawler: Crawler) -> Run:
    run = crawler.get_extension(Run)
    if run is None:
        raise NotConfigured("only backfill and refresh save visits")
    return run
