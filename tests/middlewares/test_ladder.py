"""Whole crawls by two tiers: the plain one, and a scraping API that runs scripts and that the shop lets in."""

from __future__ import annotations

import sqlite3
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from scrapy.exceptions import DownloadFailedError, DownloadTimeoutError
from scrapy.http import Request

from storebot.core.rung import DAY_MS, FIRST_WAIT_MS
from storebot.demo.guards import EGRESS_HEADER
from storebot.exceptions import RenderFailed
from storebot.items import Outcome, PageType, Tier
from storebot.middlewares.ladder import LadderMiddleware
from storebot.request_ladder import RequestLadder
from storebot.run import Run
from storebot.stores.writing import checked
from tests.inside import Crawled, Place, hurry, store_folder
from tests.scripted import FILLER, Answer, Asked, ScriptedShop, challenge, listing, product
from tests.vendors.scraping_api import KEY, Failure, ScrapingApi

PAGES = 12
TEXT = """
[discover]
sitemaps = false
[catalogue]
url = "/all"
[politeness]
delay_s = 0
concurrency = 1
{more}
[fetch]
tiers = {tiers}
[fetch.api]
preset = "finedata"
url = "{api}"
render = true
"""
SHELL = Answer(
    f'<html><body><header>{FILLER}</header><div id="app"></div><script src="/app.js"></script></body></html>'.encode(),
    headers={"Content-Type": "text/html"},
)


class GuardedShop(ScriptedShop):
    """It answers what `guard` says to whoever doesn't come by the API, at the paths that begin so."""

    def __init__(self) -> None:
        super().__init__()
        self.guard: dict[str, Answer] = {}
        self.tarpit_s = 0.0  # how long such a client waits for its answer

    def answer(self, asked: Asked) -> Answer:
        truth = super().answer(asked)
        if EGRESS_HEADER.lower() in asked.headers:
            return truth
        if self.tarpit_s and asked.path.startswith("/p/"):
            time.sleep(self.tarpit_s)
            return Answer(status=0)
        return next((answer for start, answer in self.guard.items() if asked.path.startswith(start)), truth)


@dataclass(frozen=True)
class Ground:
    """A shop, the API, and the place of the crawls."""

    shop: GuardedShop
    api: ScrapingApi
    folder: Path

    def place(self, tiers: str = '["http", "api"]', more: str = "") -> Place:
        text = TEXT.format(tiers=tiers, api=self.api.endpoint, more=more)
        settings = {"STOREBOT_BLOCK_WAIT_MAX_S": 1}
        return Place(self.shop.url, self.folder / "store.db", "shop", store_folder(self.folder, text), settings)

    def crawl(self, phase: str = "backfill", **options: Any) -> Crawled:
        self.shop.asked.clear()
        self.api.billed.asked.clear()
        return self.place(**options).crawl(phase)

    def plain(self, prefix: str = "/p/") -> list[str]:
        """Return the paths that were asked for plainly."""
        return [
            one.path
            for one in self.shop.asked
            if one.path.startswith(prefix) and EGRESS_HEADER.lower() not in one.headers
        ]

    def by_api(self, prefix: str = "/p/") -> list[str]:
        """Return the paths that were asked for by the API."""
        return [path for url in self.api.billed.urls if (path := url.removeprefix(self.shop.url)).startswith(prefix)]


@pytest.fixture
def ground(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Ground]:
    monkeypatch.setenv("FINEDATA_API_KEY", KEY)
    with GuardedShop() as shop, ScrapingApi() as api:
        shop.says("/all", listing(*(f"/p/{number}" for number in range(PAGES))))
        for number in range(PAGES):
            shop.says(f"/p/{number}", product(f"Mug {number}"))
        yield Ground(shop, api, tmp_path)


def tiers(done: Crawled) -> dict[str, dict[str, Any]]:
    """Return what is remembered of product pages, by tier."""
    return {row["tier"]: row for row in done.rows("SELECT * FROM tiers WHERE page_type = 'product'")}


def all_new(done: Crawled) -> bool:
    return dict(done.summary.outcomes) == {Outcome.NEW: PAGES}


def test_a_store_whose_plain_pages_work_never_asks_a_dearer_tier(ground: Ground) -> None:
    done = ground.crawl()
    assert all_new(done)
    assert ground.api.billed.urls == []
    assert (done.summary.tiers, done.summary.escalations) == ({"http": PAGES}, 0)
    assert "tiers=" not in done.summary.line()
    assert tiers(done)["http"]["successes"] > 0


def test_no_tier_is_used_that_the_store_file_does_not_list(ground: Ground) -> None:
    ground.shop.guard["/p/"] = challenge()
    done = ground.crawl(tiers='["http"]')
    assert done.summary.outcomes[Outcome.BLOCKED]
    assert ground.api.billed.urls == []
    assert done.rows("SELECT * FROM tiers") == [], "there is nothing to choose, and nothing to remember"


def test_a_blocked_page_is_got_by_the_next_tier_and_after_four_of_them_all_are(ground: Ground) -> None:
    ground.shop.guard["/p/"] = challenge()
    done = ground.crawl()
    assert all_new(done)
    assert len(ground.plain()) == 4 * 2, "each with one retry as somebody else"
    assert len(ground.by_api()) == PAGES
    visits = done.visits()
    steps = [visit["steps"] for visit in visits.values()]
    assert steps.count("http: blocked (cloudflare)") == 4
    assert steps.count(None) == PAGES - 4
    assert {visit["tier"] for visit in visits.values()} == {"api"}
    assert sorted(visit["requests"] for visit in visits.values()) == [1] * 8 + [3] * 4
    assert (done.summary.tiers, done.summary.escalations) == ({"api": PAGES}, 4)
    assert f"escalations=4 tiers=api:{PAGES}" in done.summary.line()
    assert done.stat("storebot/ladder/escalated/api") == 4
    left = tiers(done)["http"]
    assert left["retry_at"] - left["tried_at"] == FIRST_WAIT_MS
    assert left["reason"] == "blocked (cloudflare)"
    assert {row["tier"] for row in done.rows("SELECT tier FROM blocks")} == {"http"}, "by which the block pages came"


def test_what_works_is_remembered_by_the_next_run_and_probed_when_it_is_time(ground: Ground) -> None:
    ground.shop.guard["/p/"] = challenge()
    ground.crawl()
    later(ground, PAGES)
    done = ground.crawl("refresh")
    assert ground.plain() == [], "the wait isn't over"
    assert len(ground.by_api()) == PAGES
    later(ground, PAGES, FIRST_WAIT_MS)
    ground.crawl("refresh")
    assert len(set(ground.plain())) == 1, "one page probes"
    assert len(ground.by_api()) == PAGES
    ground.shop.guard.clear()
    later(ground, PAGES, DAY_MS)
    done = ground.crawl("refresh")
    assert (len(ground.plain()), ground.by_api()) == (PAGES, [])
    assert done.summary.tiers == {"http": PAGES}
    assert tiers(done)["http"]["retry_at"] == 0


def test_an_unchanged_page_is_a_success_of_the_plain_tier(ground: Ground) -> None:
    for number in range(PAGES):
        ground.shop.says(f"/p/{number}", product(f"Mug {number}", ETag='"1"'), Answer(status=304))
    ground.crawl()
    later(ground, PAGES)
    done = ground.crawl("refresh")
    assert done.summary.outcomes == {Outcome.NOT_MODIFIED: PAGES}
    assert tiers(done)["http"]["failures"] == 0
    assert tiers(done)["http"]["successes"] == tiers(done)["http"]["tries"]


def test_no_validators_go_to_a_tier_that_cannot_take_a_304(ground: Ground) -> None:
    for number in range(PAGES):
        ground.shop.says(f"/p/{number}", product(f"Mug {number}", ETag='"1"'))
    ground.crawl()
    ground.shop.guard["/p/"] = challenge()
    later(ground, PAGES)
    done = ground.crawl("refresh")
    assert done.summary.outcomes == {Outcome.UNCHANGED: PAGES}, "the same fields by another tier are the same record"
    conditional = [one for one in ground.shop.asked if "if-none-match" in one.headers]
    assert {EGRESS_HEADER.lower() in one.headers for one in conditional} == {False}


def test_a_page_that_is_gone_is_no_failure_and_an_error_of_the_server_says_nothing(ground: Ground) -> None:
    for number in range(5):
        ground.shop.says(f"/p/{number}", Answer(b"<title>Not found</title>" * 50, 404))
    for number in range(5, 10):
        ground.shop.says(f"/p/{number}", Answer(b"<title>Oops</title>" * 50, 500))
    done = ground.crawl()
    assert dict(done.summary.outcomes) == {Outcome.MISSING: 5, Outcome.ERROR: 5, Outcome.NEW: 2}
    assert ground.api.billed.urls == []
    assert tiers(done)["http"]["failures"] == 0
    assert tiers(done)["http"]["tries"] == tiers(done)["http"]["successes"]


def test_a_connection_that_breaks_says_nothing_of_the_tier(ground: Ground) -> None:
    for number in range(6):
        ground.shop.says(f"/p/{number}", Answer(status=0))
    done = ground.crawl()
    assert dict(done.summary.outcomes) == {Outcome.ERROR: 6, Outcome.NEW: PAGES - 6}
    assert ground.api.billed.urls == []
    assert tiers(done)["http"]["failures"] == 0


def test_an_empty_application_is_got_by_a_tier_that_runs_its_scripts(ground: Ground) -> None:
    ground.shop.guard["/p/"] = SHELL
    done = ground.crawl()
    assert all_new(done)
    assert (len(ground.plain()), len(ground.by_api())) == (4, PAGES)
    step = 'http: no product, and its scripts fill <div id="app">, which is empty'
    assert [visit["steps"] for visit in done.visits().values()].count(step) == 4
    assert tiers(done)["api"]["filled_at"] > 0


def test_a_page_without_a_product_and_without_a_sign_of_scripts_costs_nothing(ground: Ground) -> None:
    ground.shop.guard["/p/"] = Answer(f"<html><body><h1>Guide</h1>{FILLER}</body></html>".encode())
    done = ground.crawl()
    assert dict(done.summary.outcomes) == {Outcome.INVALID: PAGES}
    assert ground.api.billed.urls == []
    assert tiers(done) == {}


def test_a_page_without_a_sign_is_tried_where_scripts_filled_another(ground: Ground) -> None:
    guide = Answer(f"<html><body><h1>Guide</h1>{FILLER}</body></html>".encode())
    ground.shop.guard = {"/p/0": SHELL, "/p/1": guide, "/p/2": guide}
    ground.shop.says("/p/2", guide)
    done = ground.crawl(more="[refresh]\nhead_pages = 0")
    visits = done.visits()
    assert visits["/p/1"]["steps"] == "http: no product, where scripts filled other pages"
    assert (visits["/p/1"]["outcome"], visits["/p/2"]["outcome"]) == ("new", "invalid")
    assert tiers(done)["http"]["retry_at"] == 0, "it gets the others"


def test_a_required_field_that_scripts_fill_in_is_got_by_them(ground: Ground) -> None:
    body = product("Mug 3").body.replace(b'"price": "19.90"', b'"price": ""')
    priceless = body.replace(b"<body>", b'<body><h1>Mug 3</h1><b class="price">$0.00</b><script src="/a.js"></script>')
    ground.shop.guard["/p/3"] = Answer(priceless, headers={"Content-Type": "text/html"})
    done = ground.crawl(more='[expect]\nrequired = ["name", "price"]')
    assert all_new(done)
    assert done.visits()["/p/3"]["steps"] == "http: without price: the place of its price is empty"
    assert ground.by_api() == ["/p/3"]


def test_a_shop_whose_pages_stay_empty_by_every_tier_costs_little(ground: Ground) -> None:
    for number in range(PAGES):
        ground.shop.says(f"/p/{number}", SHELL)
    done = ground.crawl()
    assert dict(done.summary.outcomes) == {Outcome.INVALID: PAGES}
    assert len(ground.by_api()) == 4
    assert len(ground.plain()) == PAGES


def test_a_catalogue_that_scripts_build_is_walked_by_them_and_its_escalation_is_in_the_ledger(ground: Ground) -> None:
    ground.shop.guard["/all"] = SHELL
    done = ground.crawl()
    assert all_new(done)
    assert ground.by_api("/all") != []
    assert ground.by_api("/p/") == [], "what is learned of one type of page says nothing of another"
    (row, *_) = done.rows("SELECT * FROM visits WHERE page_type = 'catalogue'")
    assert (row["tier"], row["outcome"]) == ("api", "unchanged")
    assert row["steps"].startswith("http: no links to products, and its scripts fill")
    assert done.summary.escalations == len(ground.by_api("/all"))
    assert done.summary.tiers == {"http": PAGES}


def test_an_escalated_catalogue_page_that_fails_at_last_is_in_the_ledger_too(ground: Ground) -> None:
    ground.shop.guard["/all"] = challenge()
    ground.api.failures = [Failure(500)] * 9
    done = ground.crawl()
    (row,) = done.rows("SELECT * FROM visits WHERE page_type = 'catalogue'")
    assert (row["outcome"], row["tier"], row["steps"]) == ("error", "api", "http: blocked (cloudflare)")
    assert row["reason"].startswith("ApiFailed: ")
    assert done.summary.escalations == 1
    assert done.summary.outcomes == {}, "it is no product page"


def test_a_browser_that_ran_the_scripts_in_vain_has_failed_and_the_next_tier_that_runs_them_is_asked() -> None:
    text = 'base_url = "http://shop.example"\nproduct_url = "/p/"\n[fetch]\ntiers = ["http", "browser", "attached"]\n'
    text += '[fetch.attached]\nendpoint = "http://127.0.0.1:9222"\n'
    store = checked("shop", text)
    ladder = RequestLadder(store, clock=lambda: 1, count=lambda name: None)
    middleware = LadderMiddleware(cast("Run", SimpleNamespace(store=store, ladder=ladder, may_retry=lambda kind: True)))
    request = Request("http://shop.example/p/1", meta={"page_type": PageType.PRODUCT, "tier": Tier.BROWSER})
    error = RenderFailed(f"{request.url}: not rendered after 15 s: .price isn't there")
    again = middleware.process_exception(request, error)
    assert again is not None
    assert again.meta["tier"] is Tier.ATTACHED
    assert again.meta["spent"].steps == ["browser: not rendered after 15 s: .price isn't there"]
    assert [(rung.tier, rung.failures) for rung in ladder.rungs] == [(Tier.BROWSER, 1)]
    assert middleware.process_exception(request, DownloadFailedError("it broke off")) is None
    once_more = middleware.process_exception(request, DownloadTimeoutError("60 s"))
    assert once_more is not None
    assert (once_more.meta["tier"], once_more.meta["retry_times"]) == (Tier.BROWSER, 1)
    assert [(rung.tier, rung.failures) for rung in ladder.rungs] == [(Tier.BROWSER, 1)], "the network's errors are none"


def test_a_tarpit_is_climbed_as_a_block_is_and_then_avoided(ground: Ground) -> None:
    ground.shop.tarpit_s = 1.5
    place = ground.place()
    done = place.crawl("backfill", DOWNLOAD_TIMEOUT=0.5, RETRY_TIMES=2)
    assert all_new(done), done.summary.reason
    assert sorted(Counter(ground.plain()).values()) == [2] * 4, "four pages, each once more, and then none"
    assert len(ground.by_api()) == PAGES
    steps = Counter(visit["steps"] for visit in done.visits().values())
    assert steps == {"http: timed out 2 times": 4, None: PAGES - 4}
    assert (tiers(done)["http"]["reason"], tiers(done)["http"]["retry_at"] > 0) == (
        "timed out, where api got the page",
        True,
    )
    assert done.rows("SELECT breaker_state FROM stores") == [{"breaker_state": "closed"}], "the shop says yes"


def test_a_shop_that_is_down_is_an_error_and_says_nothing_of_its_tiers(ground: Ground) -> None:
    ground.shop.tarpit_s = 1.5
    ground.api.failures = [Failure(502, tokens=1)] * 99
    done = ground.place().crawl("backfill", DOWNLOAD_TIMEOUT=0.5, RETRY_TIMES=1)
    assert set(done.summary.outcomes) == {Outcome.ERROR}
    assert "http" not in tiers(done)
    assert done.rows("SELECT breaker_state FROM stores") == [{"breaker_state": "open"}]


def test_a_tier_that_cannot_be_used_is_given_up_once_and_the_rest_goes_on(ground: Ground) -> None:
    ground.shop.guard["/p/1"] = challenge()  # and with it 10 and 11
    ground.api.failures = [Failure(401, "Invalid API key")] * 20
    done = ground.crawl()
    assert dict(done.summary.outcomes) == {Outcome.NEW: PAGES - 3, Outcome.BLOCKED: 2, Outcome.ERROR: 1}
    assert len(ground.api.billed.asked) == 1
    assert done.summary.reason.count("api can't be used") == 1


def test_a_rate_limit_is_no_reason_to_pay(ground: Ground, monkeypatch: pytest.MonkeyPatch) -> None:
    hurry(monkeypatch)
    ground.shop.guard["/p/1"] = Answer(b"slow down", 429)
    ground.crawl()
    assert ground.api.billed.urls == []


def test_a_store_that_lists_no_plain_tier_is_fetched_without_one(ground: Ground) -> None:
    ground.shop.guard["/"] = challenge()
    done = ground.crawl(tiers='["api"]')
    assert all_new(done)
    assert ground.plain("/p") == ground.plain("/all") == []
    assert ground.plain("/robots.txt") != [], "which is no page of the store"
    assert done.rows("SELECT * FROM tiers") == []


def test_the_middleware_is_not_there_where_there_is_nothing_to_choose(ground: Ground) -> None:
    done = ground.crawl(tiers='["http"]')
    names = [type(one).__name__ for one in done.crawler.engine.downloader.middleware.middlewares]
    assert "BlockMiddleware" in names
    assert "LadderMiddleware" not in names


def later(ground: Ground, pages: int, ms: int = 0) -> None:
    """Have all pages due, and move what is remembered of tiers into the past."""
    with closing(sqlite3.connect(ground.folder / "store.db")) as connection, connection:
        assert connection.execute("UPDATE pages SET next_due_at = 0").rowcount == pages
        connection.execute(
            "UPDATE tiers SET tried_at = tried_at - ?, worked_at = worked_at - ?, retry_at = max(retry_at - ?, 1)"
            " WHERE retry_at > 0",
            (ms, ms, ms),
        )
