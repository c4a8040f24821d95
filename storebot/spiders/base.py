"""What both phases share: the store's settings, the request for a product page, and what its response means."""

from __future__ import annotations

import logging
import os
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Self

import scrapy
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Request, Response

from storebot.archive.packing import kept_headers
from storebot.core.page import Page
from storebot.core.parsing.reading import Reading, identity, read_product
from storebot.db.session import Claim
from storebot.exceptions import InvalidURL
from storebot.items import Outcome, PageType, Target, Visit
from storebot.responses import BlockedPage, page_of
from storebot.run import Run
from storebot.spiders.arguments import check_arguments
from storebot.spiders.discovery import discover
from storebot.spiders.judging import Judged, judged
from storebot.spiders.naming import names_of
from storebot.stores import load_store
from storebot.stores.model import Store

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from twisted.python.failure import Failure

logger = logging.getLogger(__name__)


VALIDATORS = ("If-None-Match", "If-Modified-Since")


class StoreSpider(scrapy.Spider):
    """A crawl of one store: ``-a store=NAME [-a base_url=URL]``; ``base_url`` is another address of the same shop."""

    store: Store

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        settings = crawler.settings
        check_arguments(cls.name, kwargs)
        folders = [folder for folder in settings.get("STOREBOT_STORES").split(os.pathsep) if folder]
        store = load_store(kwargs.pop("store", ""), folders, base_url=kwargs.pop("base_url", None))
        kwargs.pop("_job", None)  # Scrapyd's own argument
        spider = super().from_crawler(crawler, *args, **kwargs)
        spider.store = store
        for name, value in store_settings(store, settings.get("STOREBOT_CONTACT")).items():
            settings.set(name, value, priority="spider")
        return spider

    async def crawl(
        self, run: Run, claim: Claim, *, head_only: bool, had: Callable[[Target], Visit | None] | None = None
    ) -> AsyncIterator[Request]:
        """Yield what discovers pages, then the pages that ``claim`` gives, until both are exhausted.

        What ``had`` gives the visit of isn't asked for.
        """
        self._run = run
        concurrency = self.settings.getint("CONCURRENT_REQUESTS_PER_DOMAIN")
        async for request in discover(self.store, run, head_only=head_only, concurrency=concurrency):
            yield request
        async for target in run.feed(claim, had):
            yield self.page_request(target)

    def page_request(self, target: Target, *, conditional: bool = True) -> Request:
        """Return the request for one page, conditional where a committed parse stands behind its validators."""
        headers = {}
        if conditional and target.etag:
            headers["If-None-Match"] = target.etag
        if conditional and target.last_modified:
            headers["If-Modified-Since"] = target.last_modified
        return Request(
            target.url,
            headers=headers,
            callback=self.parse_product,
            errback=self.failed,
            dont_filter=True,
            meta={"target": target, "page_type": PageType.PRODUCT},
        )

    def parse_product(self, response: Response) -> Sequence[Visit | Request]:
        """Return the visit of one product page, or one unconditional request after a 304 that nothing stands behind.

        A visit that brings nothing to read needs no pipeline, and goes to the database at once: an item costs Scrapy
        a tenth of what an unchanged page does.
        """
        request = response.request
        assert request is not None
        target: Target = request.meta["target"]
        if response.status != 304:
            visit = self.visit(target, request, response)
        elif target.content_hash and any(name in request.headers for name in VALIDATORS):
            visit = Visit(outcome=Outcome.NOT_MODIFIED, **self._facts(target, request, response))
        elif request.meta.get("unconditional"):
            reason = "HTTP 304 to a request without validators"
            visit = Visit(outcome=Outcome.ERROR, reason=reason, **self._facts(target, request, response))
        else:
            again = self.page_request(target, conditional=False)
            again.meta["unconditional"] = True
            return (again,)
        if visit.extracted:
            return (visit,)
        if visit.body:
            self._run.keeper.pack(visit)
        self._run.submit(visit)
        return ()

    def visit(self, target: Target, request: Request, response: Response) -> Visit:
        """Return the visit that a response other than 304 makes."""
        page = page_of(response, request)
        reading = request.meta.get("reading") if response.status == 200 else None
        if reading is None and response.status == 200:
            reading = read_product(page, self.store.rules, target.source_hash)
        try:
            names = names_of(self.store, target, page, _canonical(reading, page))
        except InvalidURL as error:
            return Visit(outcome=Outcome.MOVED, reason=str(error), **self._facts(target, request, response))
        identified = reading is not None and identity(reading)
        outcome, reason, evidence, stray = (
            Judged()
            if identified and names.final_key == target.url_key and not (reading and reading.failure)
            else judged(self.store, target, page, names.final_key, reading, self._run.session.strays)
        )
        if outcome is Outcome.INVALID:
            reason += self._run.failed_pages.keep(page, reason, self._run.session.now_ms())
            logger.warning("%s: %s", target.url, reason)
        return Visit(
            outcome=outcome,
            reason=reason,
            final_url=response.url,
            final_key=names.final_key,
            canonical_key=names.canonical_key,
            amp_key=names.amp_key,
            evidence=evidence,
            stray_hash=stray,
            etag=_header(response, "ETag"),
            last_modified=_header(response, "Last-Modified"),
            problems=reading.problems if reading else (),
            **(_read(reading, target, page) if reading and outcome is None else {}),
            **self._facts(target, request, response),
        )

    def failed(self, failure: Failure) -> Iterator[Visit]:
        """Yield the visit of a page that gave no response to read: blocked, forbidden by robots.txt, or an error."""
        request: Request = failure.request  # type: ignore[attr-defined]  # Scrapy sets it on every errback
        target: Target = request.meta["target"]
        error = failure.value
        facts = self._facts(target, request, None)
        if isinstance(error, BlockedPage):
            yield Visit(
                outcome=Outcome.BLOCKED, reason=str(error), **{**facts, "status": error.status, "blocks": error.signals}
            )
        elif request.meta.get("redirect_ttl") == 0:  # Scrapy drops it as it drops what robots.txt forbids
            yield Visit(outcome=Outcome.ERROR, reason=f"redirects without end, lastly to {request.url}", **facts)
        elif isinstance(error, IgnoreRequest):
            yield Visit(outcome=Outcome.SKIPPED, reason=str(error) or "dropped by a middleware", **facts)
        else:
            yield Visit(outcome=Outcome.ERROR, reason=f"{type(error).__name__}: {error}", **facts)

    def _facts(self, target: Target, request: Request, response: Response | None) -> dict[str, Any]:
        meta = request.meta
        signals = meta.get("block_signals", ())
        return {
            "target": target,
            "at_ms": self._run.session.now_ms(),
            "status": response.status if response is not None else 0,
            "requests": 1
            + meta.get("retry_times", 0)
            + meta.get("redirect_times", 0)
            + bool(signals)
            + bool(meta.get("unconditional")),
            "size_bytes": len(response.body) if response is not None else 0,
            "elapsed_ms": int(meta.get("download_latency", 0) * 1000),
            "blocks": signals,
        }


def _canonical(reading: Reading | None, page: Page) -> str | None:
    """Return what a page that was answered with 200 calls its true address: by the store's rules, or its link."""
    if reading is None:
        return None
    found = reading.extracted[0].values.get("canonical_url") if reading.extracted else None
    return found if isinstance(found, str) else page.canonical_url


def _read(reading: Reading, target: Target, page: Page) -> dict[str, Any]:
    """Return what a page that was read gives its visit: its record, or that it's the one that is known."""
    came = {"requested_url": page.requested_url, "body": page.body, "headers": kept_headers(page.headers)}
    if reading.unchanged:
        hashes = {"content_hash": target.content_hash or "", "details_hash": target.details_hash or ""}
        return {"source_hash": reading.source_hash, **hashes, **came}
    return {"source_hash": reading.source_hash, "extracted": reading.extracted, **came}


def store_settings(store: Store, contact: str) -> dict[str, Any]:
    """Return the Scrapy settings that a store file's [politeness] stands for."""
    politeness = store.politeness
    settings: dict[str, Any] = {
        "DOWNLOAD_DELAY": politeness.delay_s,
        "DOWNLOAD_DELAY_JITTER": politeness.jitter,
        "CONCURRENT_REQUESTS": politeness.concurrency,
        "CONCURRENT_REQUESTS_PER_DOMAIN": politeness.concurrency,
        "ROBOTSTXT_OBEY": politeness.robots,
    }
    if politeness.user_agent:
        settings["USER_AGENT"] = politeness.user_agent
    elif contact:
        settings["USER_AGENT"] = f"storebot/0.1 (+{contact})"
    if not politeness.robots:
        logger.warning("%s: robots.txt is not asked, because %s", store.name, politeness.robots_reason)
    return settings


def _header(response: Response, name: str) -> str | None:
    value = response.headers.get(name)
    return value.decode("latin-1") if value else None
