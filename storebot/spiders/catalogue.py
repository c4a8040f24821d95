"""Discovery by the catalogue: each `[catalogue] url` is a walk, its rows and its checkpoint saved together."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Iterator, Sequence

from scrapy.http import Request, Response
from twisted.python.failure import Failure

from storebot.core.page import Page
from storebot.core.rounds import Source
from storebot.core.urls import url_key
from storebot.core.walk import Seen, Verdict, VerdictKind, Walk, WalkParams, page_fingerprint
from storebot.db import walks
from storebot.items import Card, CatalogPage, PackedPage, PageType, WalkEnd, WalkState
from storebot.responses import page_of
from storebot.run import Run
from storebot.spiders.blocked import note_block
from storebot.spiders.cards import CardReader
from storebot.spiders.climbed import note_climb
from storebot.spiders.found import product_pages
from storebot.spiders.rounds import not_read_again
from storebot.stores.model import Store
from storebot.stores.running import Links

logger = logging.getLogger(__name__)


class CatalogueDiscovery:
    """Walk a store's catalogue; in a refresh (``head_only``) look at the head of each walk for new products."""

    def __init__(self, store: Store, run: Run, *, head_only: bool, window: int) -> None:
        self.store, self.run, self.head_only, self.window = store, run, head_only, window
        self.cards = CardReader(store, run)

    @property
    def meaning(self) -> list[str]:
        """What the store file says of which pages the catalogue names, of all its walks."""
        return sorted(self._params(template).params_fingerprint() for template in self.store.catalogue_urls)

    async def start(self) -> AsyncIterator[Request]:
        """Open a walk for each template and yield its first requests."""
        if self.store.catalogue_urls:
            await self.cards.prepare()
        for template in self.store.catalogue_urls:
            discovery = await self._open(template)
            if discovery is not None:
                for request in discovery.requests():
                    yield request

    async def _open(self, template: str) -> _OneWalk | None:
        params = self._params(template)
        name = self.store.walk_of(template)
        if self.head_only:
            return _OneWalk(self, name, params, Walk(params)) if params.max_pages else None
        print_ = params.params_fingerprint()
        stands = await self.run.session.call(walks.open_walk, self.store.name, name, print_)
        if stands.restarted:
            logger.warning("%s: %s", self.store.name, stands.restarted)
        if stands.page or stands.state is WalkState.ENDED:
            await not_read_again(self.run, Source.CATALOGUE, name)
        if stands.state is WalkState.ENDED:
            logger.info("%s: %s was walked to its end by the run that this one resumes", self.store.name, name)
            return None
        if stands.page:
            logger.info("%s: %s resumes after page %d", self.store.name, name, stands.page)
        return _OneWalk(self, name, params, Walk(params, stands.page, stands.fingerprints, stands.next_url))

    def _params(self, template: str) -> WalkParams:
        catalogue = self.store.catalogue
        assert catalogue is not None
        links, next_rule = self.store.walk_rules
        return WalkParams(
            template=template,
            first=catalogue.first,
            next=next_rule,
            product_url=self.store.product_url,
            links=links,
            max_pages=self.store.refresh.head_pages if self.head_only else catalogue.max_pages,
        )


class _OneWalk:
    """One walk under way: requests out, pages in, verdicts carried out."""

    def __init__(self, owner: CatalogueDiscovery, name: str, params: WalkParams, walk: Walk) -> None:
        self.owner, self.name, self.params, self.walk = owner, name, params, walk
        self.store, self.run = owner.store, owner.run
        self.checkpoint = not owner.head_only
        self._told = False
        self._packed: dict[int, PackedPage | None] = {}  # by page number, until they're judged
        self._cards: dict[int, tuple[Card, ...]] = {}
        owner.run.walk_opened(name, Source.CATALOGUE)

    def requests(self) -> Iterator[Request]:
        """Yield what the walk wants next."""
        if self.walk.done and not self._told:  # its checkpoint lies beyond max_pages already
            self._end(Verdict(VerdictKind.INCOMPLETE, self.walk.checkpoint, self.walk.reason))
        for number in self.walk.to_fetch(self.owner.window):
            yield Request(
                self.walk.url(number),
                callback=self.parse,
                errback=self.failed,
                dont_filter=True,
                priority=5,
                meta={"walk": self.name, "number": number, "page_type": PageType.CATALOGUE},
            )

    def parse(self, response: Response) -> Iterator[Request]:
        """Judge one page of the catalogue."""
        request = response.request
        assert request is not None
        page = page_of(response, request)
        note_climb(self.run, request, response.status)
        readable = response.status == 200
        named = request.meta.pop("links", None) if readable else Links()
        if named is None:
            named = self.store.read_catalogue(page)
        if named.failure:
            kept = self.run.failed_pages.keep(page, named.failure, self.run.session.now_ms())
            logger.error("%s: %s: the page could not be read: %s%s", self.store.name, page.url, named.failure, kept)
        found = product_pages(self.store, ((url, None) for url in named.links))
        if found:
            self._pack(request.meta["number"], page, [one.url_key for one in found])
            self._cards[request.meta["number"]] = self.owner.cards.read(page, named.links)
        yield from self._judged(
            Seen(
                number=request.meta["number"],
                url=request.meta.get("redirect_urls", [request.url])[0],
                final_url=response.url,
                status=0 if named.failure else response.status,
                keys=tuple(one.url_key for one in found),
                next_url=named.next_url if self.params.next else None,
                failed=bool(named.failure),
                found=found,
            )
        )

    def failed(self, failure: Failure) -> Iterator[Request]:
        """Judge a page that gave no response to read: it proves nothing, and the next run resumes there."""
        request: Request = failure.request  # type: ignore[attr-defined]  # Scrapy sets it on every errback
        blocked = note_block(self.run, self.store.name, PageType.CATALOGUE, request, failure)
        logger.warning("%s: %s: %s", self.store.name, request.url, failure.value)
        yield from self._judged(
            Seen(number=request.meta["number"], url=request.url, status=0, blocked=blocked, failed=not blocked)
        )

    def _judged(self, seen: Seen) -> Iterator[Request]:
        """Carry out what is decided by one page, in the order of the pages, then ask for what is wanted next.

        Records are submitted here and not yielded: Scrapy works on the items of several responses at once, and a
        checkpoint that overtook another would claim a page that isn't stored.
        """
        for verdict in self.walk.receive(seen):
            if verdict.kind in (VerdictKind.COMMIT, VerdictKind.HOLD) and verdict.seen is not None:
                cards = self._cards.pop(verdict.seen.number, ())
                judged = verdict.kind is VerdictKind.COMMIT  # else it may be another page: its cards are no observation
                commit = self.checkpoint and judged
                self.run.submit(self._page(verdict.seen, cards if judged else (), checkpoint=commit))
            elif verdict.kind in (VerdictKind.ENDED, VerdictKind.INCOMPLETE):
                self._end(verdict)
        if self.walk.done:
            self._packed.clear()
            self._cards.clear()
        yield from self.requests()

    def _pack(self, number: int, page: Page, keys: Sequence[str]) -> None:
        """Pack a page for the archive, which gets it if it's accepted."""
        key, at_ms = url_key(page.url, self.store.key_rules), self.run.session.now_ms()
        self._packed[number] = self.run.keeper.pack_catalogue(page, key, page_fingerprint(keys), at_ms)

    def _page(self, seen: Seen, cards: tuple[Card, ...], *, checkpoint: bool) -> CatalogPage:
        return CatalogPage(
            store=self.store.name,
            walk=self.name,
            number=seen.number,
            url=seen.final_url or seen.url,
            at_ms=self.run.session.now_ms(),
            found=seen.found,
            cards=cards,
            fingerprint=page_fingerprint(seen.keys),
            params=self.params.params_fingerprint(),
            next_url=seen.next_url,
            checkpoint=checkpoint,
            round=self.run.rounds.of(Source.CATALOGUE),
            kept=self._packed.pop(seen.number, None),
        )

    def _end(self, verdict: Verdict) -> None:
        self._told = True
        ended = verdict.kind is VerdictKind.ENDED or (self.owner.head_only and self._head_seen())
        reason = f"{self.name}: {verdict.reason}"
        if ended:
            logger.info("%s: %s (%d pages)", self.store.name, reason, self.walk.checkpoint)
        self.run.submit(
            WalkEnd(
                store=self.store.name,
                walk=self.name,
                at_ms=self.run.session.now_ms(),
                state=WalkState.ENDED if ended else WalkState.INCOMPLETE,
                reason=reason,
                checkpoint=self.checkpoint,
            )
        )

    def _head_seen(self) -> bool:
        """Whether a look at the head saw all the pages that it wanted: that isn't an incomplete walk."""
        return not self.walk.holes and self.walk.checkpoint >= self.params.first + self.params.max_pages - 1
