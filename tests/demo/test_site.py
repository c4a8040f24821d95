"""Every address of the shop has its answer, and its validators move exactly when it does."""

from __future__ import annotations

import gzip
from typing import Any

import pytest

from storebot.demo.answers import Answer, Asked
from storebot.demo.clock import Step, advance
from storebot.demo.options import ShopOptions
from storebot.demo.pages import View
from storebot.demo.shop import Shop
from storebot.demo.site import Site, kind_of

BASE = "https://demo.example"


class Visitor:
    def __init__(self, **options: Any) -> None:
        self.shop = Shop(ShopOptions(**{"products": 45, "seed": 3} | options))
        self.site = Site(self.shop, BASE)

    def get(self, path: str, view: View | None = None, **asked: Any) -> Answer:
        return self.site.answer(Asked(path=path, now_s=0.0, **asked), view or View())


def test_a_product_answers_304_to_its_own_validators_until_it_changes() -> None:
    visitor = Visitor()
    paths = [product.path for product in visitor.shop.products()]
    first = {path: visitor.get(path).headers for path in paths}
    changed = {change.path for change in advance(visitor.shop, Step(changed=7))}
    for path in paths:
        status = 200 if path in changed else 304
        tag, date = first[path]["ETag"], first[path]["Last-Modified"]
        assert visitor.get(path, if_none_match=tag).status == status
        assert visitor.get(path, if_modified_since=date).status == status
        assert visitor.get(path, if_none_match='"other"', if_modified_since=date).status == 200


def test_a_304_has_the_validators_and_no_body() -> None:
    visitor = Visitor()
    path = next(visitor.shop.products()).path
    full = visitor.get(path)
    again = visitor.get(path, if_none_match=full.headers["ETag"])
    assert (again.status, again.body, again.headers) == (304, b"", full.headers)
    assert {"ETag", "Last-Modified", "Cache-Control"} <= set(again.headers)


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/robots.txt",
        "/sitemap.xml",
        "/sitemaps/products-1.xml.gz",
        "/catalogue/page-2.html",
        "/c/kitchen-cookware",
    ],
)
def test_pages_that_are_no_products_have_a_tag_that_follows_their_bytes(path: str) -> None:
    visitor = Visitor()
    full = visitor.get(path)
    assert full.status == 200
    assert visitor.get(path, if_none_match=full.headers["ETag"]).status == 304
    advance(visitor.shop, Step(price=45))
    after = visitor.get(path)
    assert (after.body == full.body) == (after.headers["ETag"] == full.headers["ETag"]) == (path == "/robots.txt")


@pytest.mark.parametrize("status", [404, 410])
def test_a_vanished_product_answers_with_its_status(status: int) -> None:
    visitor = Visitor()
    (change,) = advance(visitor.shop, Step(vanished=1, vanished_status=status))
    assert visitor.get(change.path).status == status
    assert visitor.get(change.path, if_none_match="*").status == status


@pytest.mark.parametrize(
    "path",
    ["/p/nothing-1", "/p/x-99999", "/nowhere", "/c/none", "/sitemaps/products-2.xml.gz", "/catalogue/page-0.html"],
)
def test_unknown_addresses_are_404(path: str) -> None:
    assert Visitor().get(path).status == 404


def test_past_the_end_answers_as_the_option_says() -> None:
    past = "/catalogue/page-4.html"
    assert Visitor(past_end="404").get(past).status == 404
    empty = Visitor(past_end="empty").get(past)
    assert empty.status == 200
    assert b'class="card"' not in empty.body
    repeating = Visitor(past_end="repeat_last")
    assert repeating.get(past).body == repeating.get("/catalogue/page-3.html").body
    first = Visitor(past_end="redirect_first").get(past)
    assert (first.status, first.headers["Location"]) == (302, f"{BASE}/catalogue/page-1.html")


def test_gzip_is_given_only_where_it_is_on_and_asked_for() -> None:
    visitor = Visitor(gzip=True)
    path = next(visitor.shop.products()).path
    plain, zipped = visitor.get(path), visitor.get(path, accepts_gzip=True)
    assert gzip.decompress(zipped.body) == plain.body
    assert zipped.headers["Content-Encoding"] == "gzip"
    assert zipped.headers["ETag"] == plain.headers["ETag"]
    assert "Content-Encoding" not in plain.headers
    assert "Content-Encoding" not in Visitor().get(path, accepts_gzip=True).headers
    assert "Content-Encoding" not in visitor.get("/sitemaps/products-1.xml.gz", accepts_gzip=True).headers


def test_a_gzip_suffix_makes_a_tag_that_the_shop_does_not_know_again() -> None:
    visitor = Visitor(gzip=True, etag_gzip_suffix=True)
    path = next(visitor.shop.products()).path
    plain, zipped = visitor.get(path).headers["ETag"], visitor.get(path, accepts_gzip=True).headers["ETag"]
    assert zipped == f'{plain[:-1]}-gzip"'
    assert visitor.get(path, accepts_gzip=True, if_none_match=zipped).status == 200
    assert visitor.get(path, accepts_gzip=True, if_none_match=plain).status == 304


def test_a_page_shown_otherwise_has_another_tag_and_no_date() -> None:
    visitor = Visitor()
    path = next(visitor.shop.products()).path
    honest = visitor.get(path).headers
    for view in (View(price_factor=100), View(drifted=True)):
        lying = visitor.get(path, view, if_none_match=honest["ETag"], if_modified_since=honest["Last-Modified"])
        assert lying.status == 200
        assert "Last-Modified" not in lying.headers
        assert visitor.get(path, if_none_match=lying.headers["ETag"]).status == 200


def test_validators_are_the_same_in_another_process() -> None:
    path = next(Visitor().shop.products()).path
    assert Visitor().get(path).headers == Visitor().get(path).headers


def test_the_kind_of_a_path_is_what_it_is_for() -> None:
    kinds = [
        kind_of(path)
        for path in (
            "/p/x-1",
            "/catalogue/page-1.html",
            "/sitemap.xml",
            "/sitemaps/products-1.xml.gz",
            "/robots.txt",
            "/",
        )
    ]
    assert kinds == ["product", "catalogue", "sitemap", "sitemap", "robots", "other"]
