"""What the parts of a crawl share: the feed of pages, errors of our own, back-pressure, the signal, the ending."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import scrapy
from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http import Request, Response
from sqlalchemy import Connection

from storebot.core.rounds import Source
from storebot.db import leases
from storebot.db.database import Database
from storebot.db.holders import this_process
from storebot.exceptions import ExitCode
from storebot.items import CatalogPage, Discovered, Outcome, RunStatus, Target, Visit, WalkEnd, WalkState
from storebot.run import Run
from storebot.spiders.backfill import BackfillSpider
from tests.inside import Place, send_signal, store_folder
from tests.scripted import Answer, ScriptedShop, mugs, product

TEXT = '[discover]\nsitemaps = false\n[catalogue]\nurl = "/all"\n[politeness]\ndelay_s = 0\nconcurrency = 8\n'
PAGES = 12


@pytest.fixture
def shop() -> Iterator[ScriptedShop]:
    with mugs(PAGES) as shop:
        yield shop


@pytest.fixture
def place(shop: ScriptedShop, tmp_path: Path) -> Place:
    return Place(shop.url, tmp_path / "store.db", "shop", store_folder(tmp_path, TEXT))


def run_of(spider: scrapy.Spider) -> Run:
    run = spider.crawler.get_extension(Run)
    assert run is not None
    return run


# --- the feed -----------------------------------------------------------------------------------------------------


class Forgetful(BackfillSpider):
    """Asks for a page and forgets it: a fault of ours that nothing reports."""

    def page_request(self, target: Target, *, conditional: bool = True) -> Request:
        request = super().page_request(target, conditional=conditional)
        return request.replace(callback=_forget) if target.url.endswith("/p/3") else request


def _forget(response: Response) -> None:
    """Make no visit of it."""


def test_a_page_that_brings_no_visit_does_not_keep_the_run_alive(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("storebot.run.feed._SILENCE_S", 0.2)
    done = place.crawl("backfill", spider=Forgetful)
    assert done.summary.outcomes == {Outcome.NEW: PAGES - 1}
    assert (done.summary.status, done.summary.reason) == (RunStatus.PARTIAL, "1 pages left")


class Late(BackfillSpider):
    """Has a walk whose only page, and its end, are saved after a claim looked and before the feed learns of it."""

    async def start(self) -> AsyncIterator[Request]:
        self._run = run = run_of(self)
        run.walk_opened("late", Source.CATALOGUE)
        looked, may_go_on = threading.Event(), threading.Event()

        def claim(conn: Connection) -> list[Target]:
            found = run.session.claim_pending(conn)
            looked.set()
            may_go_on.wait()
            return found

        def name_a_page() -> None:
            looked.wait()
            url = f"{self.store.base_url}/p/1"
            common: dict[str, Any] = {"store": self.store.name, "walk": "late", "at_ms": 1, "checkpoint": False}
            run.submit(CatalogPage(number=1, url=url, found=(Discovered(url, url),), **common))
            run.submit(WalkEnd(state=WalkState.ENDED, **common))
            may_go_on.set()
            while run.session.unsaved:  # the loop is busy meanwhile, as it is with a large page
                pass

        asyncio.get_running_loop().call_soon(name_a_page)
        async for target in run.feed(claim):
            yield self.page_request(target)


def test_page_that_was_saved_while_the_last_claim_ran_is_visited(place: Place) -> None:
    done = place.crawl("backfill", spider=Late, STOREBOT_COMMIT_ROWS=1)
    assert (done.summary.status, done.summary.outcomes) == (RunStatus.COMPLETE, {Outcome.NEW: 1})


class OpenWalk(BackfillSpider):
    """Has a walk that names its only page, and ends, when all pages of the catalogue are visited and saved."""

    async def start(self) -> AsyncIterator[Request]:
        run = run_of(self)
        run.walk_opened("open", Source.CATALOGUE)
        run.on_visits.append(self.saved)
        async for request in super().start():
            yield request

    def saved(self, _: object) -> None:
        run = run_of(self)
        if run.outcomes.total() == PAGES:
            common: dict[str, Any] = {"store": self.store.name, "walk": "open", "at_ms": 1, "checkpoint": False}
            url = f"{self.store.base_url}/p/extra"
            run.submit(CatalogPage(number=1, url=url, found=(Discovered(url, url),), **common))
            run.submit(WalkEnd(state=WalkState.ENDED, **common))


def test_feed_waits_for_an_open_walk_though_nothing_is_left_to_visit(shop: ScriptedShop, place: Place) -> None:
    shop.says("/p/extra", product("Extra"))
    done = place.crawl("backfill", spider=OpenWalk)
    assert done.summary.outcomes == {Outcome.NEW: PAGES + 1}


def test_pages_are_claimed_in_batches_and_each_is_visited_once(shop: ScriptedShop, place: Place) -> None:
    done = place.crawl("backfill", STOREBOT_CLAIM_BATCH=5)
    assert done.summary.outcomes == {Outcome.NEW: PAGES}
    assert sorted(shop.paths("/p/")) == sorted(f"/p/{number}" for number in range(PAGES))


# --- errors of our own ----------------------------------------------------------------------------------------------


class Careless(BackfillSpider):
    """Raises for one page."""

    def parse_product(self, response: Response) -> Sequence[Visit | Request]:
        if response.url.endswith("/p/3"):
            raise ValueError("three is too much")
        return super().parse_product(response)


def test_parser_that_raises_is_an_error_of_its_page_and_an_internal_error_of_the_run(place: Place) -> None:
    done = place.crawl("backfill", spider=Careless)
    visit = done.visits()["/p/3"]
    assert (visit["outcome"], "three is too much" in visit["reason"]) == ("error", True)
    assert done.summary.outcomes == {Outcome.NEW: PAGES - 1, Outcome.ERROR: 1}
    assert (done.summary.status, done.summary.exit_code) == (RunStatus.PARTIAL, ExitCode.INTERNAL_ERROR)
    assert done.summary.reason.startswith("1 exceptions in storebot itself")


class Choosy:
    """A pipeline that raises for one page."""

    def process_item(self, item: object) -> object:
        if isinstance(item, Visit) and item.target.url.endswith("/p/5"):
            raise RuntimeError("five is right out")
        return item


def test_pipeline_that_raises_is_an_error_of_its_page_and_an_internal_error_of_the_run(place: Place) -> None:
    done = place.crawl("backfill", ITEM_PIPELINES={**place.project_settings()["ITEM_PIPELINES"], Choosy: 350})
    visit = done.visits()["/p/5"]
    assert (visit["outcome"], "five is right out" in visit["reason"]) == ("error", True)
    assert done.summary.exit_code is ExitCode.INTERNAL_ERROR
    assert done.rows("SELECT count(*) AS count FROM listings") == [{"count": PAGES - 1}]


class BrokenWalk(BackfillSpider):
    """Has a second walk whose parser raises."""

    async def start(self) -> AsyncIterator[Request]:
        run_of(self).walk_opened("broken", Source.CATALOGUE)
        yield Request(f"{self.store.base_url}/all", callback=self.trip, meta={"walk": "broken"})
        async for request in super().start():
            yield request

    def trip(self, response: Response) -> None:
        raise KeyError("links")


def test_walk_whose_parser_raises_ends_as_incomplete_and_holds_up_nobody(place: Place) -> None:
    done = place.crawl("backfill", spider=BrokenWalk)
    assert done.summary.outcomes == {Outcome.NEW: PAGES}
    assert done.summary.exit_code is ExitCode.INTERNAL_ERROR
    assert "broken: raised KeyError('links')" in done.summary.reason


# --- back-pressure, signals, leases ---------------------------------------------------------------------------------


def test_crawl_waits_while_too_many_visits_are_unsaved(place: Place) -> None:
    waiting: list[int] = []

    def look(crawler: Crawler) -> None:
        def scraped() -> None:
            waiting.append(run_of(crawler.spider).session.unsaved)  # type: ignore[arg-type]  # it has one by now

        crawler.signals.connect(scraped, signals.item_scraped, weak=False)

    done = place.crawl("backfill", look=look, STOREBOT_MAX_UNSAVED=2, STOREBOT_COMMIT_S=0.1)
    assert done.summary.outcomes == {Outcome.NEW: PAGES}
    assert len(waiting) == PAGES
    assert 1 <= max(waiting) <= 2


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_signal_is_noted_for_the_exit_code_and_handed_on(place: Place, number: signal.Signals, code: int) -> None:
    handed_on: list[int] = []

    def look(crawler: Crawler) -> None:
        def stop(got: int, _: object) -> None:
            handed_on.append(got)
            asyncio.get_running_loop().create_task(crawler.stop_async())

        def scraped() -> None:
            if not handed_on:
                send_signal(number)

        signal.signal(number, stop)
        crawler.signals.connect(scraped, signals.item_scraped, weak=False)

    done = place.crawl("backfill", look=look, CONCURRENT_REQUESTS=1, CONCURRENT_REQUESTS_PER_DOMAIN=1)
    assert handed_on == [number]
    assert (done.summary.status, done.summary.exit_code) == (RunStatus.INTERRUPTED, code)
    assert 1 <= done.summary.checked < PAGES
    assert place.crawl("backfill").summary.outcomes == {Outcome.NEW: PAGES - done.summary.checked}


def test_run_that_loses_its_lease_stops_and_saves_nothing_more(place: Place) -> None:
    def look(crawler: Crawler) -> None:
        def scraped() -> None:
            other = Database.open(f"sqlite:///{place.database}")
            with other.write() as conn:
                leases.take(conn, "shop", "other", this_process(), 60, lambda _: False)
            other.dispose()
            crawler.signals.disconnect(scraped, signals.item_scraped)

        crawler.signals.connect(scraped, signals.item_scraped, weak=False)

    done = place.crawl("backfill", look=look, STOREBOT_COMMIT_S=0.2)
    assert (done.summary.status, done.summary.exit_code) == (RunStatus.FAILED, ExitCode.BUSY)
    assert done.rows("SELECT count(*) AS count FROM visits WHERE outcome = 'new'") == [{"count": 0}]


def test_row_of_the_run_says_what_the_last_line_says(place: Place) -> None:
    done = place.crawl("backfill")
    (row,) = done.rows("SELECT * FROM runs")
    summary = done.summary
    assert (row["id"], row["kind"], row["status"], row["reason"]) == (summary.run_id, "backfill", "complete", "")
    assert (row["rows_written"], row["change_events"]) == (summary.rows_written, summary.change_events) == (PAGES, 0)
    assert (row["requests"], row["bytes"]) == (summary.requests, summary.size_bytes)
    assert summary.requests >= PAGES + 2  # the catalogue and robots.txt
    assert done.stat("storebot/visit/new") == PAGES


# --- without a store ------------------------------------------------------------------------------------------------


class Own(scrapy.Spider):
    """A spider of a user's own, in the same project."""

    name = "own"

    def __init__(self, base_url: str = "", **kwargs: Any) -> None:
        super().__init__()
        self.start_urls = [f"{base_url}/all"]

    def parse(self, response: Response) -> Iterator[dict[str, int]]:
        yield {"status": response.status}


def test_spider_of_a_users_own_has_no_run_and_its_items_pass(place: Place) -> None:
    items: list[object] = []

    def look(crawler: Crawler) -> None:
        crawler.signals.connect(lambda item: items.append(item), signals.item_scraped, weak=False)

    done = place.crawl("own", spider=Own, look=look)
    assert items == [{"status": 200}]
    assert done.crawler.get_extension(Run) is None
    assert done.rows("SELECT count(*) AS count FROM runs") == [{"count": 0}]


def test_run_needs_a_spider_with_a_store(place: Place) -> None:
    crawler = Crawler(Own, place.project_settings())
    with pytest.raises(NotConfigured, match="only backfill and refresh"):
        Run.from_crawler(crawler)


def test_run_has_no_session_before_its_spider_is_opened(place: Place) -> None:
    crawler = Crawler(BackfillSpider, place.project_settings())
    spider = BackfillSpider.from_crawler(crawler, store="shop", base_url=place.url)
    run = Run(crawler, spider.store, "backfill", crawler.settings)
    with pytest.raises(RuntimeError, match="wait for spider_opened"):
        run.submit(WalkEnd(store="shop", walk="w", at_ms=0, state=WalkState.ENDED))


def test_catalogue_that_gives_no_answer_at_all_is_no_reason_to_wait(shop: ScriptedShop, place: Place) -> None:
    shop.says("/all", Answer(status=0))
    done = place.crawl("backfill")
    assert (done.summary.status, done.summary.checked) == (RunStatus.FAILED, 0)


def test_backfill_that_finds_fewer_listings_than_the_store_expects_is_partial(
    shop: ScriptedShop, tmp_path: Path
) -> None:
    text = f"{TEXT}\n[expect]\nmin_listings = {PAGES + 1}\n"
    place = Place(shop.url, tmp_path / "store.db", "shop", store_folder(tmp_path, text))
    done = place.crawl("backfill")
    assert (done.summary.status, done.summary.exit_code) == (RunStatus.PARTIAL, ExitCode.PARTIAL)
    assert done.summary.reason == f"{PAGES} listings, and [expect] min_listings is {PAGES + 1}"
    assert place.crawl("refresh").summary.status is RunStatus.COMPLETE
