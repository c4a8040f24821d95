"""What happens to a visit between the parser and the database: Normalise → Validate → Fingerprint → Save.

Each takes any item and touches only visits. The pages of a walk don't come this way: they must be saved in their order,
and pipelines work on the items of several responses at once.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING, Self

from scrapy.exceptions import NotConfigured

from storebot.core.fingerprint import details_hash, page_hash, record_hash
from storebot.core.normalise import normalise
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
        listings, problems = [], list(item.problems)
        for extracted in item.extracted:
            listing, found = normalise(extracted, context)
            listings.append(listing)
            problems += found
        item.listings, item.problems = tuple(listings), tuple(problems)
        return item


class Validate:
    """Refuse what can't be believed: the visit becomes ``invalid``, and the old rows stay."""

    def __init__(self, run: Run) -> None:
        self.required = run.store.required

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(_run(crawler))

    def process_item(self, item: object) -> object:
        if not isinstance(item, Visit) or not item.listings:
            return item
        fatal: list[Problem] = []
        for listing in item.listings:
            fatal += validate(listing, self.required, item.problems)
        if not fatal:
            return item
        reason = "; ".join(f"{problem.field}: {problem.reason}" for problem in fatal)
        logger.warning("%s: invalid: %s", item.target.url, reason)
        item.outcome, item.reason, item.listings = Outcome.INVALID, reason, ()
        return item


class Fingerprint:
    """Hash the extracted fields, never the body: two visits are equal when the hashes are."""

    def process_item(self, item: object) -> object:
        if not isinstance(item, Visit) or not item.listings:
            return item
        listings = tuple(
            replace(listing, record_hash=record_hash(listing), details_hash=details_hash(listing))
            for listing in item.listings
        )
        item.listings, item.extracted = listings, ()
        item.content_hash = page_hash({listing.variant_id: listing.record_hash for listing in listings})
        item.details_hash = page_hash({listing.variant_id: listing.details_hash for listing in listings})
        if item.content_hash != item.target.content_hash:  # provenance of what will be written; nobody asks otherwise
            item.page_sha256 = sha256(item.body).hexdigest()
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
