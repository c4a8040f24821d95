"""Redirects are followed without what was meant for the first URL."""

from __future__ import annotations

from pathlib import Path

from scrapy.http import Request, Response
from scrapy.utils.test import get_crawler

from storebot.middlewares.redirects import RedirectMiddleware
from tests.inside import Place, store_folder
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
