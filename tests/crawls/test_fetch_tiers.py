"""Whole crawls of a demo store by one tier alone: through a scraping API, and by HTTP/2."""

from __future__ import annotations

from pathlib import Path

import pytest

from storebot.demo.running import DemoStore
from storebot.items import Outcome
from tests.crawls.watched import Watched, store_file
from tests.inside import Place
from tests.vendors.scraping_api import KEY, PLAIN_TOKENS, RENDERED_TOKENS, Failure, ScrapingApi

PRODUCTS, PAGE_SIZE = 6, 4
CATALOGUE_PAGES = 5  # two with products, one past the end, and what proves it: decisions/0009
ONE_AT_A_TIME = {"concurrency = 16": "concurrency = 1"}  # so that nothing is in flight when something is refused
API = """
[fetch]
tiers = ["api"]
[fetch.api]
preset = "finedata"
url = "{url}"
render = true
[discover]
sitemaps = false
"""


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch) -> ScrapingApi:
    monkeypatch.setenv("FINEDATA_API_KEY", KEY)
    return ScrapingApi()


def watched(shop: DemoStore, folder: Path, fetch: str) -> Watched:
    """Return a demo store whose file has these lines, too, and the database of its crawls."""
    return Watched(shop, folder / "store.db", store_file(folder, fetch, ONE_AT_A_TIME))


def inside(shop: DemoStore, folder: Path, fetch: str) -> Place:
    """Return the same for crawls in this process, which take a fraction of the time."""
    return Place(shop.url, folder / "store.db", "demo", store_file(folder, fetch, ONE_AT_A_TIME))


def test_a_shop_that_only_the_api_can_read_is_read_through_it(tmp_path: Path, api: ScrapingApi) -> None:
    """Case E01, too: what the archive keeps is UTF-8 and says so."""
    guarded = {"guard": "api_only", "guarded": "^/(p|catalogue)/"}
    with DemoStore(products=PRODUCTS, page_size=PAGE_SIZE, **guarded) as shop, api:  # type: ignore[arg-type]
        crawled = watched(shop, tmp_path, API.format(url=api.endpoint))
        done = crawled.crawl("backfill")
        assert (done.exit_code, done.fields["status"]) == (0, "complete"), done.stderr
        served = shop.requests()
    pages = [row["url"] for row in crawled.rows("SELECT url FROM pages")]
    assert len(pages) == done.count("new") == PRODUCTS
    assert sorted(url for url in api.billed.urls if "/p/" in url) == sorted(pages)
    assert len(api.billed.urls) == PRODUCTS + CATALOGUE_PAGES
    assert served.total == len(api.billed.urls) + served.count("/robots.txt") == len(api.billed.urls) + 1
    visits = crawled.rows("SELECT tier, requests, billed, http_status, bytes FROM visits")
    assert [(one["tier"], one["requests"], one["billed"], one["http_status"]) for one in visits] == [
        ("api", 1, RENDERED_TOKENS, 200)
    ] * PRODUCTS
    assert all(one["bytes"] > 1000 for one in visits)
    assert KEY not in done.stderr + done.line
    with crawled.archive() as archive:
        kept = list(archive.every())
    assert {(page.tier, page.headers["content-type"]) for page in kept} == {("api", "text/html; charset=utf-8")}


def test_a_refresh_through_the_api_sends_no_validators_and_finds_what_changed(tmp_path: Path, api: ScrapingApi) -> None:
    with DemoStore(products=PRODUCTS, page_size=PAGE_SIZE) as shop, api:
        place = inside(shop, tmp_path, API.format(url=api.endpoint))
        assert place.crawl("backfill").summary.status == "complete"
        shop.advance(price=2)
        shop.reset_counts()
        outcomes = place.crawl("refresh").summary.outcomes
        served = shop.requests()
    assert (outcomes[Outcome.CHANGED], outcomes[Outcome.UNCHANGED]) == (2, PRODUCTS - 2)
    assert (sum(served.not_modified.values()), served.count(status=200)) == (0, served.total)


REFUSED = {
    "wrong-key": (401, 2, "it refuses the key in the environment variable FINEDATA_API_KEY; set one that is valid"),
    "not-paid": (402, 6, "it wants to be paid first; top up its account, and run again"),
}


@pytest.mark.parametrize(("status", "code", "said"), REFUSED.values(), ids=REFUSED)
def test_an_api_that_refuses_ends_the_run_with_a_sentence(
    tmp_path: Path, api: ScrapingApi, status: int, code: int, said: str
) -> None:
    with DemoStore(products=PRODUCTS, page_size=PAGE_SIZE) as shop, api:
        api.failures += [Failure(status)] * 99
        summary = inside(shop, tmp_path, API.format(url=api.endpoint)).crawl("backfill").summary
    assert (summary.status, summary.exit_code) == ("failed", code)
    assert said in summary.reason
    assert len(api.billed.asked) == 1


def test_a_key_that_is_missing_is_one_line_and_nothing_is_sent(
    tmp_path: Path, api: ScrapingApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("FINEDATA_API_KEY")
    with DemoStore(products=PRODUCTS) as shop:
        crawled = watched(shop, tmp_path, API.format(url="http://127.0.0.1:9"))
        done = crawled.crawl("backfill")
        assert shop.requests().total == 0
    assert (done.exit_code, len(done.stderr.splitlines())) == (2, 1), done.stderr
    assert done.stderr.endswith(
        "fetch.api.key_env: the environment variable FINEDATA_API_KEY isn't set: "
        "put the key of the scraping API into it\n"
    )


def test_calls_that_are_billed_for_nothing_are_in_the_visits_and_in_the_books(tmp_path: Path, api: ScrapingApi) -> None:
    """A call that failed, and one for a page that turned out to be a block page; neither is made twice."""
    with DemoStore(products=2, page_size=PAGE_SIZE, guard="blocks_always") as shop, api:
        api.failures.append(Failure(502, tokens=3))
        fetch = API.replace('["api"]', '["http", "api"]').replace("render = true", "").format(url=api.endpoint)
        crawled = inside(shop, tmp_path, fetch).crawl("backfill")
    assert crawled.summary.outcomes == {Outcome.ERROR: 1, Outcome.BLOCKED: 1}
    visits = sorted((one["outcome"], one["tier"], one["billed"]) for one in crawled.visits().values())
    assert visits == [("blocked", "api", PLAIN_TOKENS), ("error", "api", 3)]
    (of_api,) = crawled.rows("SELECT billed FROM spending WHERE tier = 'api'")
    assert (of_api["billed"], api.billed.tokens) == (3 + PLAIN_TOKENS,) * 2


def test_a_shop_that_speaks_http_2_alone_is_read_by_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with DemoStore(products=PRODUCTS, page_size=PAGE_SIZE, https=True, guard="needs_http2") as shop:
        monkeypatch.setenv("SSL_CERT_FILE", str(shop.certificate))
        place = inside(shop, tmp_path, '[fetch]\ntiers = ["http2"]\n')
        crawled = place.crawl("backfill", DOWNLOAD_VERIFY_CERTIFICATES=True)
        served = shop.requests()
    assert (crawled.summary.status, crawled.summary.outcomes) == ("complete", {Outcome.NEW: PRODUCTS})
    assert served.by("http", "product") == {"2": PRODUCTS}
    assert served.by("http", "robots") == {"1.1": 1}
    visits = crawled.visits().values()
    assert [(one["tier"], one["requests"], one["billed"]) for one in visits] == [("http2", 1, 0)] * PRODUCTS


def test_a_shop_whose_certificate_nobody_vouches_for_is_not_read(tmp_path: Path) -> None:
    with DemoStore(products=PRODUCTS, https=True) as shop:
        place = inside(shop, tmp_path, '[fetch]\ntiers = ["http2"]\n')
        summary = place.crawl("backfill", DOWNLOAD_VERIFY_CERTIFICATES=True, STOREBOT_BLOCK_WAIT_MAX_S=0).summary
        assert shop.requests().total == 0
    assert summary.exit_code != 0
    assert "CERTIFICATE_VERIFY_FAILED" in summary.reason


def test_an_authority_of_ones_own_is_trusted_by_plain_https_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With Twisted's client, which crawls in this process don't use."""
    with DemoStore(products=PRODUCTS, page_size=PAGE_SIZE, https=True) as shop:
        monkeypatch.setenv("SSL_CERT_FILE", str(shop.certificate))
        done = watched(shop, tmp_path, "").crawl("backfill")
        assert (done.exit_code, done.count("new")) == (0, PRODUCTS), done.stderr
        assert shop.requests().by("http", "product") == {"1.1": PRODUCTS}
