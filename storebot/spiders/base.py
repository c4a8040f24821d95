"""What both phases share: the store's settings, the request for a product page, and what its response means."""

from __future__ import annotations

import logging
import os
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import scrapy
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Request, Response

from storebot.archive.packing import kept_headers
from storebot.core.page import Page
from storebot.core.parsing.reading import Reading, identity, read_product
from storebot.core.planner.terms import Orders
from storebot.db.session import Claim
from storebot.exceptions import BudgetReached, InvalidURL
from storebot.items import Outcome, PageType, Target, Visit
from storebot.lean import PageRequest
from storebot.responses import BlockedPage, page_of
from storebot.run import Run
from storebot.spiders.arguments import OF_SCRAPYD, check_arguments, is_full, reason_of_force, requests_of
from storebot.spiders.auditing import is_doubtful, may_be_conditional, question, settle, validators
from storebot.spiders.discovery import discover
from storebot.spiders.judging import Judged, judged
from storebot.spiders.naming import names_of
from storebot.spiders.taken import taken
from storebot.spiders.trying import answers_again
from storebot.spiders.views import PlannedViews
from storebot.stores import load_store
from storebot.stores.model import Store

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from twisted.python.failure import Failure

logger = logging.getLogger(__name__)


VALIDATORS = ("If-None-Match", "If-Modified-Since")
OF_THE_VISIT = ("spent", "tier", "identity", "cookiejar", "proxy")  # what its second request goes on with


class StoreSpider(scrapy.Spider):
    """A crawl of one store: ``-a store=NAME [-a base_url=URL] [-a force="WHO: WHY"]``.

    ``base_url`` is another address of the same shop; ``force`` asks it though its circuit breaker is open.
    """

    store: Store
    force: str
    orders: Orders  # of a refresh

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        settings = crawler.settings
        check_arguments(cls.name, kwargs)
        folders = [folder for folder in settings.get("STOREBOT_STORES").split(os.pathsep) if folder]
        store = load_store(kwargs.pop("store", ""), folders, base_url=kwargs.pop("base_url", None))
        if (requests := requests_of(kwargs)) is not None:
            store = store.model_copy(update={"budget": store.budget.of_requests(requests)})
        orders = store.refresh.orders(once=requests, full=is_full(kwargs))
        for name in ("budget", "plan"):
            kwargs.pop(name, None)
        for name in OF_SCRAPYD:
            kwargs.pop(name, None)
        force = reason_of_force(kwargs)
        kwargs.pop("force", None)
        spider = super().from_crawler(crawler, *args, **kwargs)
        spider.store, spider.force, spider.orders = store, force, orders
        for name, value in store_settings(store, settings.get("STOREBOT_CONTACT")).items():
            settings.set(name, value, priority="spider")
        headers = headers_of(store, settings.getdict("DEFAULT_REQUEST_HEADERS"))
        settings.set("DEFAULT_REQUEST_HEADERS", headers, priority="spider")
        return spider

    async def crawl(
        self, run: Run, claim: Claim, *, head_only: bool, had: Callable[[Target], Visit | None] | None = None
    ) -> AsyncIterator[Request]:
        """Yield what discovers pages, then the pages that ``claim`` gives, until both are exhausted.

        What ``had`` gives the visit of isn't asked for.
        """
        self._run = run
        if run.session.probes and not await answers_again(run):
            return
        concurrency = self.settings.getint("CONCURRENT_REQUESTS_PER_DOMAIN")
        if run.must_wait:
            return
        async for request in discover(self.store, run, head_only=head_only, concurrency=concurrency):
            yield request
        await run.plan()
        async for request in PlannedViews(self.store, run).start():
            yield request
        async for target in run.feed(claim, had):
            yield self.page_request(target)

    def page_request(self, target: Target, *, conditional: bool = True) -> Request:
        """Return the request for one page, conditional where a committed parse stands behind its validators."""
        return PageRequest(
            target.url,
            headers=validators(target) if conditional and may_be_conditional(target) else {},
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
            again.meta.update({name: request.meta[name] for name in OF_THE_VISIT if name in request.meta})
            return (again,)
        if is_doubtful(visit):
            asked = question(visit, request)
            return (asked.replace(callback=self.parse_question, errback=self.question_failed),)
        return self._seen(visit)

    def parse_question(self, response: Response) -> Sequence[Visit]:
        """Return the visit of an audit whose page was asked for once more, by what was known of it."""
        return self._seen(settle(response.meta["audited"], response.meta, false_304=response.status == 304))

    def question_failed(self, failure: Failure) -> Sequence[Visit]:
        """Return the visit of an audit though the question brought no answer."""
        meta = failure.request.meta  # type: ignore[attr-defined]  # Scrapy sets it on every errback
        return self._seen(settle(meta["audited"], meta, false_304=False))

    def _seen(self, visit: Visit) -> Sequence[Visit]:
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
        if isinstance(error, BudgetReached):
            self._run.give_back(target)
            return
        facts = self._facts(target, request, None)
        if isinstance(error, BlockedPage):
            yield Visit(
                outcome=Outcome.BLOCKED,
                reason=str(error),
                retry_at_ms=error.retry_at_ms,
                **{**facts, "status": error.status, "blocks": error.signals},
            )
        elif request.meta.get("redirect_ttl") == 0:  # Scrapy drops it as it drops what robots.txt forbids
            yield Visit(outcome=Outcome.ERROR, reason=f"redirects without end, lastly to {request.url}", **facts)
        elif isinstance(error, IgnoreRequest):
            yield Visit(outcome=Outcome.SKIPPED, reason=str(error) or "dropped by a middleware", **facts)
        else:
            yield Visit(outcome=Outcome.ERROR, reason=f"{type(error).__name__}: {error}", **facts)

    def _facts(self, target: Target, request: Request, response: Response | None) -> dict[str, Any]:
        meta = request.meta
        return {
            "target": target,
            "at_ms": self._run.session.now_ms(),
            "status": response.status if response is not None else 0,
            "blocks": meta.get("block_signals", ()),
            **taken(meta),
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
    return settings


def headers_of(store: Store, default: Mapping[str, str]) -> dict[str, str]:
    """Return the headers of a store's requests: those of its [fetch], and the others of ``default``."""
    own = dict(store.fetch.headers)
    if store.fetch.language:
        own["Accept-Language"] = store.fetch.language
    named = {name.lower() for name in own}
    return {**{name: value for name, value in default.items() if name.lower() not in named}, **own}


def _header(response: Response, name: str) -> str | None:
    value = response.headers.get(name)
    return value.decode("latin-1") if value else None
