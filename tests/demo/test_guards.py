"""Each guard lets in who fetches as it wants, and nobody else."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from parsel import Selector

from storebot.demo.answers import Answer, Asked
from storebot.demo.guards import SECRET
from storebot.demo.lies import Switchboard, answer
from storebot.demo.options import ShopOptions
from storebot.demo.shop import Shop, truth_of
from storebot.demo.site import Site
from storebot.exceptions import ConfigurationError

BASE = "https://demo.example"
SHOP = Shop(ShopOptions(products=6, seed=3))
SITE = Site(SHOP, BASE)
PRODUCTS = list(SHOP.products())
PATH = PRODUCTS[0].path
Get = Callable[..., Answer]


def guarded(name: str, **options: Any) -> Get:
    board = Switchboard()
    board.lie(name, "^/p/", options=options)

    def get(path: str = PATH, **asked: Any) -> Answer:
        return answer(SITE, Asked(path=path, now_s=0.0, **asked), board.tell(path))

    return get


TRUTH = answer(SITE, Asked(path=PATH, now_s=0.0), [])


def test_a_cookie_comes_with_a_redirect_to_the_same_page() -> None:
    get = guarded("needs_cookies")
    first = get(query="variant=x")
    assert (first.status, first.headers["Location"]) == (302, f"{PATH}?variant=x")
    assert first.headers["Set-Cookie"] == "entry=1; Path=/"
    assert get(cookies={"entry": "1"}) == TRUTH


def test_or_with_a_page_that_reloads_itself() -> None:
    get = guarded("needs_cookies", by="page")
    first = get()
    assert (first.status, first.headers["Set-Cookie"]) == (200, "entry=1; Path=/")
    assert b'http-equiv="refresh"' in first.body
    assert get(cookies={"entry": "1"}) == TRUTH
    with pytest.raises(ConfigurationError, match="choose one of redirect, page, script"):
        guarded("needs_cookies", by="magic")


def test_http_2_is_let_in() -> None:
    get = guarded("needs_http2")
    assert (get().status, get(http="2")) == (403, TRUTH)


def test_an_application_shows_nothing_without_its_script() -> None:
    shown = guarded("needs_javascript", delay_s=0.5)()
    page = Selector(shown.body.decode())
    assert shown.status == 200
    assert "ETag" not in shown.headers  # the shell stays the same when the product changes
    assert not page.css("h1, .price, [type='application/ld+json']")
    assert page.css("#app").attrib == {"id": "app", "data-from": f"/data{PATH}.json", "data-delay-ms": "500"}
    assert answer(SITE, Asked(path=page.css("script[src]").attrib["src"], now_s=0.0), []).status == 200


def test_its_script_fetches_the_whole_product() -> None:
    truth = truth_of(PRODUCTS[0], BASE, "GBP")
    data = json.loads(answer(SITE, Asked(path=f"/data{PATH}.json", now_s=0.0), []).body)
    block = json.loads(Selector(data["head"]).css("[type='application/ld+json']::text").getall()[-1])
    assert (block["sku"], block["name"]) == (truth["sku"], truth["name"])
    assert Selector(data["main"]).css("h1.product-name::text").get() == truth["name"]
    assert answer(SITE, Asked(path="/data/p/nothing-1.json", now_s=0.0), []).status == 404


def test_an_application_is_no_answer_where_there_is_no_product() -> None:
    board = Switchboard()
    board.lie("needs_javascript")
    for path in ("/robots.txt", "/p/nothing-99"):
        asked = Asked(path=path, now_s=0.0)
        assert answer(SITE, asked, board.tell(path)) == answer(SITE, asked, [])


def test_the_first_visitor_is_blocked_for_ever_and_the_next_is_not() -> None:
    get = guarded("blocks_first")
    first = get(address="10.0.0.1")
    assert (first.status, first.headers["cf-mitigated"], first.headers["Set-Cookie"]) == (
        403,
        "challenge",
        "visitor=1; Path=/",
    )
    assert get(PRODUCTS[1].path, address="10.0.0.1").status == 403  # it asked before it had its cookie
    assert get(PRODUCTS[2].path, cookies={"visitor": "1"}, address="10.0.0.9").status == 403
    fresh = get(address="10.0.0.1")  # again, and without the cookie: another jar
    assert (fresh.status, fresh.headers["Set-Cookie"]) == (200, "visitor=2; Path=/")
    assert get(address="10.0.0.2").status == 200
    assert get(cookies={"visitor": "1"}, address="10.0.0.1").status == 403


def test_more_than_one_identity_may_be_blocked() -> None:
    get = guarded("blocks_first", identities=2)
    assert [get(address="10.0.0.1").status for _ in range(3)] == [403, 403, 200]


def test_nobody_is_let_in() -> None:
    get = guarded("blocks_always")
    assert get(http="2", egress=SECRET, cookies={"entry": "1", "visitor": "7"}).status == 403
    assert get("/robots.txt").status == 200


def test_only_the_scraping_api_is_let_in() -> None:
    get = guarded("api_only")
    assert (get().status, get(egress="guess").status, get(egress=SECRET)) == (403, 403, TRUTH)
    assert guarded("api_only", secret="other")(egress="other") == TRUTH
