"""One store for each tier: shops that let in only who fetches in a certain way, crawled by the cheapest that does it.

Every crawl is a whole one, in a process of its own, and its books are settled: what the shop saw is what the visits and
the discovery say, is what is in `spending`, at the prices of the store file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from storebot.demo.client import Requests
from storebot.demo.running import DemoStore
from tests.crawls.scrapy_process import Crawl, Row
from tests.crawls.watched import Watched, store_file
from tests.vendors.chromium import Chromium, chromium_path
from tests.vendors.kameleo import Kameleo
from tests.vendors.profiles import ProfileBrowser
from tests.vendors.proxies import HttpProxy
from tests.vendors.scraping_api import KEY, PLAIN_TOKENS, ScrapingApi

PRODUCTS = 6
DISCOVERY = 5  # robots.txt; a page of products, one past the end, and two that prove it: decisions/0009
PATIENCE = 4  # pages that a tier may fail before it's left: decisions/0026
REST = PRODUCTS - PATIENCE
MINUTE_MS = 60_000

# Millionths of a euro: of a request, of a millisecond of a browser, of a call.
PRICES = {"http": (100, 0, 0), "http2": (300, 0, 0), "browser": (200, 0.1, 0), "attached": (0, 1, 0)}
PRICES |= {"api": (0, 0, 2000)}
STORE = """
[discover]
sitemaps = false
[refresh]
head_pages = 0
sitemaps = false
[costs]
currency = "EUR"
[costs.http]
per_request = "0.0001"
[costs.http2]
per_request = "0.0003"
[costs.browser]
per_request = "0.0002"
per_browser_hour = "0.36"
[costs.attached]
per_browser_hour = "3.6"
[costs.api]
per_call = "0.002"
[fetch]
tiers = {tiers}
"""
SCRIPTED = '[fetch.browser]\nwait_for = [".product-name", ".price"]\n'
API = '[fetch.api]\npreset = "finedata"\nurl = "{url}"\n'
"""Sections of a store file: all tiers are priced, and each test lists those that it may use."""

SUMS = "sum(requests) AS requests, sum(browser_ms) AS browser_ms, sum(billed) AS billed, sum(cost_micro) AS cost_micro"


class Read(NamedTuple):
    """A crawl that has ended: what it said, what the shop saw of it, its visits of products in their order."""

    done: Crawl
    seen: Requests
    visits: list[Row]
    pages: dict[str, Counter[str]]  # what product pages took, by tier; discovery is plain HTTP's
    unvisited: int  # requests for product pages of which there is no visit, because the run was ended meanwhile

    @property
    def served(self) -> list[tuple[str, str | None]]:
        """The tier that each visit ended with, and its steps to there."""
        return [(visit["tier"], visit["steps"]) for visit in self.visits]

    @property
    def requests(self) -> list[int]:
        """What each visit sent."""
        return [visit["requests"] for visit in self.visits]


def store(shop: DemoStore, folder: Path, *tiers: str, more: str = "", **settings: object) -> Watched:
    """Return the shop with a file that lists these tiers; its pages are asked for one at a time, in one order."""
    text = STORE.format(tiers=list(tiers)).replace("'", '"') + more
    stores = store_file(folder, text, {"concurrency = 16": "concurrency = 1"})
    return Watched(shop, folder / "store.db", stores, settings)


def backfill(watched: Watched) -> Read:
    return crawled(watched, "backfill")


def refresh(watched: Watched) -> Read:
    """Run a refresh with all pages due."""
    watched.execute("UPDATE pages SET next_due_at = 0")
    return crawled(watched, "refresh")


def crawled(watched: Watched, phase: str) -> Read:
    """Run a phase to its end, and settle its books."""
    before = spending(watched)
    done = watched.forked(phase)
    seen = watched.shop.requests()
    took = {key: amounts - before.get(key, Counter()) for key, amounts in spending(watched).items()}
    run = watched.last_run()["id"]
    visits = watched.rows("SELECT * FROM visits WHERE run_id = ? AND page_type = 'product' ORDER BY id", run)
    pages = {tier: amounts for (tier, page_type), amounts in took.items() if page_type == "product" and amounts}
    return Read(done, seen, visits, pages, settle(done, seen, visits, took))


def spending(watched: Watched) -> dict[tuple[str, str], Counter[str]]:
    """Return what was spent, by tier and type of page."""
    found = watched.rows(f"SELECT tier, page_type, {SUMS} FROM spending GROUP BY tier, page_type")
    return {(row.pop("tier"), row.pop("page_type")): Counter(row) for row in found}


def settle(done: Crawl, seen: Requests, visits: list[Row], took: Mapping[tuple[str, str], Counter[str]]) -> int:
    """Check that the books of a run say what the shop saw, once, and at the right price; return what has no visit."""
    total: Counter[str] = sum(took.values(), Counter())
    assert total["requests"] == seen.total == done.count("requests"), done.stderr
    assert round(float(done.fields["cost"].removesuffix("EUR")) * 1_000_000) == total["cost_micro"]
    exact = 0.0
    for (tier, _), amounts in took.items():
        request, millisecond, call = PRICES[tier]
        exact += amounts["requests"] * request + amounts["browser_ms"] * millisecond + amounts["billed"] * call
    assert exact - 1 < total["cost_micro"] <= exact + 1e-6, "what is less than a millionth is carried on"
    discovery: Counter[str] = sum((amounts for (_, kind), amounts in took.items() if kind != "product"), Counter())
    left: dict[str, int] = {
        name: total[name] - discovery[name] - sum(visit[name] for visit in visits) for name in total
    }
    assert left["requests"] or not any(left.values())
    return left["requests"]


def known(watched: Watched) -> dict[tuple[str, str], str]:
    """Return what is remembered of the tiers: whether each is in use or left, by type of page and tier."""
    rows = watched.rows("SELECT page_type, tier, retry_at FROM tiers")
    return {(row["page_type"], row["tier"]): "left" if row["retry_at"] else "in use" for row in rows}


def assert_complete(read: Read, *outcomes: str) -> None:
    """Check that a run got every page, with these outcomes."""
    assert (read.done.exit_code, read.done.fields["status"]) == (0, "complete"), read.done.stderr
    assert sum(map(read.done.count, outcomes)) == len(read.visits) == PRODUCTS, read.done.line
    assert read.unvisited == 0


def test_cookies_are_enough_where_a_shop_needs_cookies(tmp_path: Path) -> None:
    """A redirect to the same page gives one: it's a request more, once a run."""
    with DemoStore(products=PRODUCTS, page_size=10, guard="needs_cookies") as shop:
        watched = store(shop, tmp_path, "http", "browser", STOREBOT_CHROMIUM=chromium_path())
        first, second = backfill(watched), refresh(watched)
    assert_complete(first, "new")
    assert_complete(second, "unchanged", "not_modified")
    for read in (first, second):
        assert read.served == [("http", None)] * PRODUCTS
        assert read.requests == [2] + [1] * (PRODUCTS - 1)
        assert read.pages == {"http": Counter(requests=PRODUCTS + 1, cost_micro=(PRODUCTS + 1) * 100)}
    assert first.seen.total == PRODUCTS + 1 + DISCOVERY
    assert second.seen.total == PRODUCTS + 1
    assert second.seen.by("status") == {302: 1, 200: 1, 304: PRODUCTS - 1}, "a redirect leaves the validators behind"
    assert known(watched) == {("catalogue", "http"): "in use", ("product", "http"): "in use"}


@pytest.mark.parametrize("by", ["page", "script"])
def test_cookies_are_enough_where_a_page_reloads_itself_for_them(tmp_path: Path, by: str) -> None:
    """Whether a meta element or a script wants that: what it's for came in a header."""
    with DemoStore(products=PRODUCTS, page_size=10) as shop:
        shop.lie("needs_cookies", "^/p/", by=by)
        watched = store(shop, tmp_path, "http", "browser", STOREBOT_CHROMIUM=chromium_path())
        first, second = backfill(watched), refresh(watched)
    assert_complete(first, "new")
    assert_complete(second, "not_modified")
    for read in (first, second):
        assert read.served == [("http", None)] * PRODUCTS
        assert read.requests == [2] + [1] * (PRODUCTS - 1)
        assert read.pages == {"http": Counter(requests=PRODUCTS + 1, cost_micro=(PRODUCTS + 1) * 100)}
    assert first.seen.total == PRODUCTS + 1 + DISCOVERY
    assert second.seen.by("status") == {200: 1, 304: PRODUCTS}, "the same page again, with its validators"
    assert watched.count("SELECT count(*) FROM blocks") == 0, "nobody was blocked"
    assert known(watched) == {("catalogue", "http"): "in use", ("product", "http"): "in use"}


def test_a_browser_gets_the_cookie_that_a_script_makes(tmp_path: Path) -> None:
    with DemoStore(products=PRODUCTS, page_size=10) as shop:
        shop.lie("needs_cookies", "^/p/", by="cookie_by_script")
        watched = store(shop, tmp_path, "http", "browser", STOREBOT_CHROMIUM=chromium_path())
        first = backfill(watched)
    assert_complete(first, "new")
    steps = "http: no product, and its script sets a cookie, and reloads it"
    assert first.served == [("browser", steps)] * PATIENCE + [("browser", None)] * REST
    assert first.requests == [3, *[2] * (PATIENCE - 1), *[1] * REST], (
        "each page by HTTP, and the first twice by browser"
    )
    assert first.pages["http"] == Counter(requests=PATIENCE, cost_micro=PATIENCE * 100)
    assert first.pages["browser"]["requests"] == PRODUCTS + 1


def test_http_2_reads_a_shop_that_needs_it_and_http_again_when_that_works(tmp_path: Path) -> None:
    """The whole life of a ladder: learned, remembered, probed in vain, probed with success, taken again."""
    with DemoStore(products=PRODUCTS, page_size=10, https=True, guard="needs_http2") as shop:
        watched = store(shop, tmp_path, "http", "http2", DOWNLOAD_VERIFY_CERTIFICATES=False)
        read = backfill(watched)
        assert_complete(read, "new")
        assert read.served == [("http2", "http: blocked (akamai)")] * PATIENCE + [("http2", None)] * REST
        assert read.requests == [3] * PATIENCE + [1] * REST, "a block is tried once more, as somebody else"
        assert read.seen.by("http", "product") == {"1.1": 2 * PATIENCE, "2": PRODUCTS}
        assert read.seen.by("http", "catalogue") == {"1.1": DISCOVERY - 1}
        assert {tier: took["cost_micro"] for tier, took in read.pages.items()} == {
            "http": 2 * PATIENCE * 100,
            "http2": PRODUCTS * 300,
        }
        assert known(watched) == KNOWN_BY_HTTP2

        read = refresh(watched)
        assert_complete(read, "not_modified")
        assert read.served == [("http2", None)] * PRODUCTS, "what works is remembered"
        assert read.seen.facts.keys() == {
            facts for facts in read.seen.facts if (facts.http, facts.status) == ("2", 304)
        }
        assert read.seen.total == PRODUCTS

        let_the_back_off_pass(watched)
        read = refresh(watched)
        assert_complete(read, "not_modified")
        assert Counter(read.served) == {("http2", "http: blocked (akamai)"): 1, ("http2", None): PRODUCTS - 1}
        assert read.seen.by("http") == {"1.1": 2, "2": PRODUCTS}, "one page probes, for all"
        assert known(watched) == KNOWN_BY_HTTP2
        (rung,) = watched.rows("SELECT trips, retry_at - tried_at AS wait FROM tiers WHERE retry_at > 0")
        assert (rung["trips"], rung["wait"]) == (2, 30 * MINUTE_MS), "each time it's left alone twice as long"

        shop.honest()
        read = refresh(watched)
        assert_complete(read, "not_modified")
        assert read.seen.by("http") == {"2": PRODUCTS}, "before the back-off is over nobody probes"
        let_the_back_off_pass(watched)
        for _ in range(2):
            read = refresh(watched)
            assert_complete(read, "not_modified")
            assert read.served == [("http", None)] * PRODUCTS
            assert read.seen.by("http") == {"1.1": PRODUCTS}
            assert read.pages == {"http": Counter(requests=PRODUCTS, cost_micro=PRODUCTS * 100)}
        assert set(known(watched).values()) == {"in use"}


KNOWN_BY_HTTP2 = {("catalogue", "http"): "in use", ("product", "http"): "left", ("product", "http2"): "in use"}


def let_the_back_off_pass(watched: Watched) -> None:
    watched.execute("UPDATE tiers SET retry_at = 1 WHERE retry_at > 0")


def test_a_browser_reads_a_shop_that_needs_javascript(tmp_path: Path) -> None:
    with DemoStore(products=PRODUCTS, page_size=10, guard="needs_javascript") as shop:
        watched = store(shop, tmp_path, "http", "browser", more=SCRIPTED, STOREBOT_CHROMIUM=chromium_path())
        truth = {row["url"]: row["name"] for row in shop.truth()}
        first, second = backfill(watched), refresh(watched)
    assert_complete(first, "new")
    assert_rendered(first, "browser", [2] * PATIENCE + [1] * REST)
    assert_complete(second, "unchanged")
    assert_rendered(second, "browser", [1] * PRODUCTS)
    assert known(watched) == KNOWN_BY_SCRIPTS | {("product", "browser"): "in use"}
    names = watched.rows("SELECT pages.url, name FROM listings JOIN pages ON pages.id = page_id")
    assert {row["url"]: row["name"] for row in names} == truth


KNOWN_BY_SCRIPTS = {("catalogue", "http"): "in use", ("product", "http"): "left"}
RENDERED = 3  # requests of a rendered page: itself, the script, the product
DELAY_MS = 300  # until the script shows the product


def assert_rendered(read: Read, tier: str, asked: list[int]) -> None:
    """Check what a run took whose pages a browser rendered, where each page was asked for so many times."""
    steps = 'http: no product, and its scripts fill <div id="app">, which is empty'
    assert read.served == [(tier, steps if times > 1 else None) for times in asked]
    assert read.requests == [times - 1 + RENDERED for times in asked]
    assert sum(read.seen.paths("/p/").values()) == sum(asked)
    assert read.pages[tier]["requests"] == PRODUCTS * RENDERED
    assert read.pages[tier]["browser_ms"] >= PRODUCTS * DELAY_MS
    assert read.pages.get("http", Counter())["requests"] == sum(asked) - PRODUCTS
    assert all(visit["browser_ms"] >= DELAY_MS for visit in read.visits)


def plain_browser(chromium: Chromium) -> Iterator[str]:
    yield f'[fetch.attached]\nendpoint = "http://127.0.0.1:{chromium.port}"\n'
    assert chromium.running


def adspower(_: Chromium) -> Iterator[str]:
    calls = "".join(
        f'[fetch.attached.{call}]\nurl = "URL/api/v1/browser/{call}?user_id={{profile}}"\n'
        for call in ("stop", "start")
    )
    with ProfileBrowser() as vendor:
        section = '[fetch.attached]\nprofiles = ["one"]\nexpect = {code = 0}\n' + calls
        yield section.replace("URL", vendor.url) + 'endpoint = "{data.ws.puppeteer}"\n'
        assert vendor.calls == [("start", "one"), ("stop", "one")] * 2, "one profile for each of two runs"


def kameleo(_: Chromium) -> Iterator[str]:
    with Kameleo(limit=1, not_ready=1) as engine:
        yield f'[fetch.attached]\nvendor = "kameleo"\nendpoint = "{engine.url}"\n'
        assert (engine.profiles, len(engine.deleted)) == ({}, 2), "one profile for each of two runs, and none is left"


@pytest.fixture(scope="module")
def chromium() -> Iterator[Chromium]:
    with Chromium() as running:
        yield running


@pytest.fixture(params=(plain_browser, adspower, kameleo), ids=lambda vendor: vendor.__name__)
def attached(request: pytest.FixtureRequest, chromium: Chromium) -> Iterator[str]:
    yield from request.param(chromium)


def test_an_attached_browser_reads_a_shop_that_needs_javascript(tmp_path: Path, attached: str) -> None:
    with DemoStore(products=PRODUCTS, page_size=10, guard="needs_javascript") as shop:
        watched = store(shop, tmp_path, "http", "attached", more=SCRIPTED + attached)
        first, second = backfill(watched), refresh(watched)
    assert_complete(first, "new")
    assert_rendered(first, "attached", [2] * PATIENCE + [1] * REST)
    assert_complete(second, "unchanged")
    assert_rendered(second, "attached", [1] * PRODUCTS)
    assert known(watched) == KNOWN_BY_SCRIPTS | {("product", "attached"): "in use"}


def test_a_second_identity_is_let_in_where_the_first_is_blocked(tmp_path: Path) -> None:
    """Directly, an identity is a cookie jar; the shop knows the second again, when the refresh comes without one."""
    with DemoStore(products=PRODUCTS, page_size=10, guard="blocks_first") as shop:
        watched = store(shop, tmp_path, "http", "browser", STOREBOT_CHROMIUM=chromium_path())
        first, second = backfill(watched), refresh(watched)
    for read, outcome, blocked in ((first, "new", 1), (second, "not_modified", 0)):
        assert_complete(read, outcome)
        assert read.served == [("http", None)] * PRODUCTS, "who is let in needs no dearer tier"
        assert read.requests == [1 + blocked] + [1] * (PRODUCTS - 1)
        assert read.pages == {"http": Counter(requests=PRODUCTS + blocked, cost_micro=(PRODUCTS + blocked) * 100)}
        assert read.seen.by("visitor", "product") == {"": 1 + blocked, "2": PRODUCTS - 1}
        assert read.seen.by("status", "product").get(403, 0) == blocked
    assert watched.count("SELECT count(*) FROM blocks WHERE kind = 'status'") == 1


def test_a_second_proxy_is_let_in_where_the_first_is_blocked(tmp_path: Path) -> None:
    with (
        DemoStore(products=PRODUCTS, page_size=10, guard="blocks_first") as shop,
        HttpProxy(address="127.0.0.2") as one,
        HttpProxy(address="127.0.0.3") as other,
    ):
        (tmp_path / "proxies.txt").write_text(f"{one.url}\n{other.url}\n")
        proxies = f'[fetch.proxies]\nfile = "{tmp_path / "proxies.txt"}"\n'
        watched = store(shop, tmp_path, "http", "browser", more=proxies, STOREBOT_CHROMIUM=chromium_path())
        first, second = backfill(watched), refresh(watched)
    assert_complete(first, "new")
    assert first.seen.by("address", "product") == {"127.0.0.2": 1, "127.0.0.3": PRODUCTS}
    assert first.pages == {"http": Counter(requests=PRODUCTS + 1, cost_micro=(PRODUCTS + 1) * 100)}
    assert_complete(second, "not_modified")
    assert second.seen.by("address") == {"127.0.0.3": PRODUCTS}, "a run later the first still rests"
    assert second.pages == {"http": Counter(requests=PRODUCTS, cost_micro=PRODUCTS * 100)}
    assert {tier for tier, _ in first.served + second.served} == {"http"}
    kept = watched.rows("SELECT store, name, blocks, rests_until > 0 AS rests FROM proxies")
    assert kept == [{"store": "demo", "name": one.url, "blocks": 1, "rests": 1}]


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScrapingApi]:
    monkeypatch.setenv("FINEDATA_API_KEY", KEY)
    with ScrapingApi() as serving:
        yield serving


def test_the_api_reads_a_shop_that_answers_only_through_it(tmp_path: Path, api: ScrapingApi) -> None:
    """All tiers below are blocked, each at two identities; after four pages nobody asks them any more."""
    with DemoStore(products=PRODUCTS, page_size=10, guard="api_only") as shop:
        more = "[fetch.browser]\nsettle_s = 0.1\nwait_s = 0.5\n" + API.format(url=api.endpoint)
        watched = store(shop, tmp_path, "http", "browser", "api", more=more, STOREBOT_CHROMIUM=chromium_path())
        first = backfill(watched)
        billed = api.billed.tokens
        second = refresh(watched)
    assert_complete(first, "new")
    steps = "http: blocked (cloudflare)\nbrowser: blocked (cloudflare)"
    assert first.served == [("api", steps)] * PATIENCE + [("api", None)] * REST
    assert first.done.fields["escalations"] == str(2 * PATIENCE)
    assert first.seen.by("egress", "product")["demo-egress"] == billed == PRODUCTS * PLAIN_TOKENS
    assert first.pages["http"] == Counter(requests=2 * PATIENCE, cost_micro=2 * PATIENCE * 100)
    assert first.pages["api"] == Counter(requests=PRODUCTS, billed=PRODUCTS, cost_micro=PRODUCTS * 2000)
    assert first.seen.by("status", "product") == {403: 4 * PATIENCE, 200: PRODUCTS}
    assert_complete(second, "unchanged")
    assert second.served == [("api", None)] * PRODUCTS
    assert second.pages == {"api": Counter(requests=PRODUCTS, billed=PRODUCTS, cost_micro=PRODUCTS * 2000)}
    assert second.seen.total == PRODUCTS
    assert known(watched) == {
        ("catalogue", "http"): "in use",
        ("product", "http"): "left",
        ("product", "browser"): "left",
        ("product", "api"): "in use",
    }


def test_a_shop_that_blocks_always_is_asked_little_and_then_nothing(tmp_path: Path, api: ScrapingApi) -> None:
    """No tier helps. The dear one is given up after four pages, and ten blocked visits open the circuit breaker."""
    blocked = 10
    with DemoStore(products=12, page_size=20, guard="blocks_always") as shop:
        watched = store(shop, tmp_path, "http", "api", more=API.format(url=api.endpoint), STOREBOT_BLOCK_WAIT_MAX_S=0)
        first = backfill(watched)
        assert (first.done.exit_code, first.done.fields["status"]) == (4, "blocked"), first.done.stderr
        assert {visit["outcome"] for visit in first.visits} == {"blocked"}
        assert len(first.visits) == blocked
        assert first.unvisited <= 2, "one more page was on its way"
        assert first.served[:PATIENCE] == [("api", "http: blocked (cloudflare)")] * PATIENCE
        assert set(first.served[PATIENCE:]) == {("http", None)}
        assert first.requests == [3] * PATIENCE + [2] * (blocked - PATIENCE), "a call that is billed isn't made twice"
        assert first.pages["http"]["cost_micro"] == (2 * blocked + first.unvisited) * 100
        assert first.pages["api"]["billed"] == api.billed.tokens == PATIENCE
        assert first.pages["api"]["cost_micro"] == PATIENCE * 2000
        assert known(watched)["product", "http"] == known(watched)["product", "api"] == "left"
        assert watched.count("SELECT count(*) FROM listings") == 0

        turned_away = watched.forked("refresh")
        assert (turned_away.exit_code, shop.requests().total) == (4, 0)
        assert "its circuit breaker is open until" in turned_away.stderr
        assert len(api.billed.urls) == PATIENCE

        watched.execute("UPDATE stores SET breaker_until = 1")
        assert watched.forked("backfill").exit_code == 4
        asked = shop.requests()
        assert (asked.total, asked.by("kind")) == (1, {"product": 1}), (
            "after the cool-down one page says whether to go on"
        )
