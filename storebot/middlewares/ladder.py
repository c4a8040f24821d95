"""Fetch each page by the cheapest tier that works, and by the next one where that doesn't get what was asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from scrapy.exceptions import DownloadTimeoutError, NotConfigured
from scrapy.http import Request, Response

from storebot.core.parsing.reading import Reading, identity
from storebot.core.record import missing_fields
from storebot.core.served import Asked, Served, Verdict, by_status, of_catalogue, of_document, of_no_product, of_product
from storebot.core.soft404 import soft_404
from storebot.exceptions import RenderFailed, TierUnusable
from storebot.items import PageType
from storebot.middlewares.again import again
from storebot.responses import page_of
from storebot.run import Run
from storebot.stores.running import Links

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

_UNCLEAR = Served(Verdict.UNCLEAR)


class LadderMiddleware:
    """It stands before the block check: what comes back to it is no block page (those climb from there)."""

    def __init__(self, run: Run, patience: int = 2) -> None:
        self.run, self.store, self.ladder = run, run.store, run.ladder
        self.patience = patience  # time-outs of one page at one tier: as often as a block page is looked at

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        run = crawler.get_extension(Run)
        if run is None:
            raise NotConfigured("only backfill and refresh know what works at a store")
        if run.ladder.is_plain:
            raise NotConfigured  # without a message: there is nothing to choose, and Scrapy warns of messages
        return cls(run, min(2, 1 + crawler.settings.getint("RETRY_TIMES")))

    def process_request(self, request: Request) -> None:
        if "tier" not in request.meta and request.meta.get("page_type") is not None:
            self.ladder.begin(request)

    def process_response(self, request: Request, response: Response) -> Response | Request:
        page_type = request.meta.get("page_type")
        if page_type is None:
            return response
        served = self._of(request, response, page_type) if response.status == 200 else by_status(response.status)
        other: Request | None = None
        match served.verdict:
            case Verdict.GOT | Verdict.ANSWERED:
                self.ladder.worked(request, filled=served.verdict is Verdict.GOT)
            case Verdict.LACKS:
                other = self.ladder.escalated(request, served.reason, rendering=True)
            case Verdict.REFUSED:
                other = self.ladder.escalated(request, served.reason)
            case Verdict.FAILED:
                self.ladder.failed(request, served.reason)
        return other or response

    def process_exception(self, request: Request, exception: Exception) -> Request | None:
        """Go on by another tier where one can't be used, ran a page's scripts in vain, or nothing comes by it in time.

        Other errors say nothing.
        """
        if isinstance(exception, TierUnusable):
            return self.ladder.unusable(request, exception)
        if isinstance(exception, RenderFailed):
            return self.ladder.escalated(request, str(exception).removeprefix(f"{request.url}: "), rendering=True)
        if isinstance(exception, DownloadTimeoutError):
            return self._timed_out(request)
        return None

    def _timed_out(self, request: Request) -> Request | None:
        """Try once more at once, where Scrapy's retry comes after all others: it says by which tier those go."""
        if not self.ladder.has_next(request):
            return None
        climbed = self.ladder.timed_out(request, self.patience)
        if climbed is not None or request.meta["timeouts"] >= self.patience or not self.run.may_retry("network"):
            return climbed
        new = again(request)
        new.meta["retry_times"] = request.meta.get("retry_times", 0) + 1
        return new

    def _of(self, request: Request, response: Response, page_type: PageType) -> Served:
        """Judge a page; what was read of it is what the block check left in the meta."""
        if page_type is PageType.PRODUCT:
            return self._of_product(request, response)
        if page_type is PageType.CATALOGUE:
            named: Links | None = request.meta.get("links")
            page = page_of(response, request)
            return _UNCLEAR if named is None or named.failure else of_catalogue(page, len(named.links))
        return of_document(response.body)

    def _of_product(self, request: Request, response: Response) -> Served:
        reading: Reading | None = request.meta.get("reading")
        if reading is None or reading.failure:
            return _UNCLEAR
        store, page = self.store, page_of(response, request)
        asked = Asked(
            renders=self.ladder.renders(request),
            for_fields=self.ladder.is_for_fields(request),
            proven=lambda: self.ladder.fills(request),
            is_product_url=store.is_product(response.url),
            soft_404=lambda: soft_404(page, store.base_url, self.run.session.strays),
        )
        if not identity(reading):
            return of_no_product(page, asked)
        context = store.context(url=response.url, url_key=request.meta["target"].url_key)
        missing = () if reading.unchanged else missing_fields(reading.extracted, context, store.required, store.rules)
        return of_product(page, missing, asked)
