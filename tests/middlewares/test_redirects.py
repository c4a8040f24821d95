"""Redirects are followed without what was meant for the first URL."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from scrapy.http import Request, Response
from scrapy.utils.test import get_crawler

from storebot.items import Outcome, RunStatus
from storebot.middlewares.redirects import RedirectMiddleware
from tests.inside import Crawled, Place, store_folder
from tests.scripted import Answer, ScriptedShop, listing, product

TEXT = '[discover]\nsitemaps = false\n[catalogue]\nurl = "/all"\n[politeness]\ndelay_s = 0\n'


def test_validators_and_referer_stay_behind_and_the_rest_goes_along() -> None:
    middleware = RedirectMiddleware.from_crawler(get_crawler())
    headers = {
        "If-None-Match": '"1"',
        "If-Modified-Since": "x",
        "Referer": "http://a.example/",
        "Accept-Language": "de",
    }
    request = Request("http://shop.example/p/1", headers=headers, meta={"target": "of the visit"})
    moved = Response(request.url, status=301, headers={"Location": "/p/2"})
    again = middleware.process_response(request, moved)
    assert isinstance(again, Request)
    assert (again.url, again.meta["target"]) == ("http://shop.example/p/2", "of the visit")
    assert set(again.headers) == {b"Accept-Language"}
    assert request.headers[b"If-None-Match"] == b'"1"'


def test_304_of_another_page_is_not_taken_for_this_one(tmp_path: Path) -> None:
    """Case C09: the page moves, and what it moves to knows the old validator."""
    with ScriptedShop() as shop:
        shop.says("/all", listing("/p/1"))
        shop.says("/p/1", product(ETag='"1"'), Answer(status=301, headers={"Location": "/p/1-mug"}))
        shop.says("/p/1-mug", product("Mug", price="25.00", ETag='"1"'))
        place = Place(shop.url, tmp_path / "store.db", "shop", store_folder(tmp_path, TEXT))
        place.crawl("backfill")
        shop.asked.clear()
        done = place.crawl("refresh")
        assert "if-none-match" in shop.requests("/p/1")[0].headers
        (second,) = shop.requests("/p/1-mug")
    assert not {"if-none-match", "if-modified-since", "referer"} & set(second.headers)
    assert second.headers["user-agent"].startswith("storebot/")
    assert done.rows("SELECT price_minor FROM listings WHERE status = 'active'") == [{"price_minor": 2500}]


def crawled(shop: ScriptedShop, folder: Path, **settings: Any) -> Crawled:
    place = Place(shop.url, folder / "store.db", "shop", store_folder(folder, TEXT))
    return place.crawl("backfill", **settings)


def test_server_that_wants_brackets_gets_them(tmp_path: Path) -> None:
    """Case R04: encoded again, the Location is the URL that was asked for."""
    with ScriptedShop() as shop:
        shop.says("/all", listing("/p/1?a%5B%5D=524"))
        shop.says("/p/1?a%5B%5D=524", Answer(status=301, headers={"Location": "/p/1?a[]=524"}))
        shop.says("/p/1?a[]=524", product())
        done = crawled(shop, tmp_path)
        assert shop.paths("/p/") == ["/p/1?a%5B%5D=524", "/p/1?a[]=524"]
    assert done.summary.outcomes == {Outcome.NEW: 1}


@pytest.mark.parametrize("back", ["/p/1?a%5B%5D=524", "/p/1?a[]=524"])
def test_ping_pong_of_percent_signs_is_a_named_loop_and_nothing_is_delisted(tmp_path: Path, back: str) -> None:
    """Case R04: whichever spelling the raw form is sent back to."""
    with ScriptedShop() as shop:
        shop.says("/all", listing("/p/1?a%5B%5D=524"))
        shop.says("/p/1?a%5B%5D=524", Answer(status=301, headers={"Location": "/p/1?a[]=524"}))
        shop.says("/p/1?a[]=524", Answer(status=301, headers={"Location": back}))
        done = crawled(shop, tmp_path)
        assert len(shop.paths("/p/")) <= 6
    assert done.summary.outcomes == {Outcome.ERROR: 1}
    (visit,) = done.rows("SELECT reason FROM visits WHERE page_type = 'product'")
    assert "RedirectLoop: redirects without end: " in visit["reason"]


def test_redirect_to_itself_that_sets_a_cookie_is_followed(tmp_path: Path) -> None:
    with ScriptedShop() as shop:
        shop.says("/all", listing("/p/1"))
        cookie = {"Location": "/p/1", "Set-Cookie": "entry=1; Path=/"}
        shop.says("/p/1", Answer(status=302, headers=cookie), product())
        done = crawled(shop, tmp_path)
        assert shop.requests("/p/1")[1].headers["cookie"] == "entry=1"
    assert done.summary.outcomes == {Outcome.NEW: 1}


def test_failure_behind_a_redirect_is_tried_again_from_the_product(tmp_path: Path) -> None:
    """Case R07: the retry, and the row that the next run finds, are the product's."""
    with ScriptedShop() as shop:
        shop.says("/all", listing("/p/1"))
        shop.says("/p/1", Answer(status=302, headers={"Location": "/errors/busy"}), product())
        shop.says("/errors/busy", Answer(b"busy", 502))
        done = crawled(shop, tmp_path, RETRY_TIMES=2)
        assert [path for path in shop.paths() if path in ("/p/1", "/errors/busy")] == ["/p/1", "/errors/busy", "/p/1"]
        assert done.summary.outcomes == {Outcome.NEW: 1}
        shop.says("/p/1", Answer(status=302, headers={"Location": "/errors/busy"}))
        (tmp_path / "second").mkdir()
        failed = crawled(shop, tmp_path / "second", RETRY_TIMES=1)
    assert failed.summary.outcomes == {Outcome.ERROR: 1}
    assert [row["url"] for row in failed.rows("SELECT url FROM pages")] == [f"{shop.url}/p/1"]


def test_most_pages_leading_off_the_site_is_a_moved_domain(tmp_path: Path) -> None:
    """Case R05: a rebranded or parked domain: the run fails, nothing is stored of the other site."""
    paths = [f"/p/{number}" for number in range(1, 6)]
    with ScriptedShop() as shop, ScriptedShop() as other:
        away = other.url.replace("127.0.0.1", "localhost")
        other.says("/", product("Eets fuel"))
        shop.says("/all", listing(*paths))
        for path in paths[:4]:
            shop.says(path, Answer(status=301, headers={"Location": f"{away}/"}))
        shop.says(paths[4], product())
        done = crawled(shop, tmp_path)
    assert done.summary.outcomes == {Outcome.MOVED: 4, Outcome.NEW: 1}
    host = away.removeprefix("http://")
    assert done.summary.status is RunStatus.FAILED
    assert done.summary.reason.startswith(f"domain moved: 4 of 5 pages redirect to {host}")
    assert done.rows("SELECT name FROM listings") == [{"name": "Mug"}]
