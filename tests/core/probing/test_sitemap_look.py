"""Sitemaps are read as far as is needed to know what they name."""

from __future__ import annotations

import re
from collections.abc import Mapping

from storebot.core.probing.seen import Answer
from storebot.core.probing.sitemap_look import MAX_PRODUCT_FILES, Sitemaps, child_pattern, look_at_sitemaps
from tests.core.probing.shops import BASE, page, sitemap

FINDS = re.compile("/p/").search


def index(*paths: str) -> str:
    entries = "".join(f"<sitemap><loc>{BASE}{path}</loc></sitemap>" for path in paths)
    return f'<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</sitemapindex>'


def look(files: Mapping[str, str], *named: str) -> tuple[Sitemaps, list[str]]:
    steps = look_at_sitemaps(BASE, [BASE + path for path in named])
    asked: list[str] = []
    try:
        ask = next(steps)
        while True:
            asked.append(ask.url.removeprefix(BASE))
            text = files.get(asked[-1])
            ask = steps.send(Answer(page=page(asked[-1], text or "", 200 if text else 404, "text/xml")))
    except StopIteration as end:
        return end.value, asked


def test_usual_places_are_tried_where_robots_names_none_until_one_is_there() -> None:
    found, asked = look({"/sitemap.xml": sitemap("/p/a", "/about")})
    assert asked == ["/sitemap.xml"]
    assert found.urls == [f"{BASE}/p/a", f"{BASE}/about"]
    assert found.is_whole(FINDS)
    found, asked = look({})
    assert asked == ["/sitemap.xml", "/sitemap_index.xml"]
    assert found.named == []


def test_a_sitemap_that_robots_names_and_that_is_not_there_is_a_problem() -> None:
    found, _ = look({}, "/maps.xml")
    assert [file.problem for file in found.named] == ["answers 404"]
    assert not found.is_whole(FINDS) or found.urls == []


def test_index_is_read_products_first_and_only_some_of_many_alike() -> None:
    children = [f"/products-{number}.xml" for number in range(1, 30)]
    files = {"/sitemap.xml": index("/pages.xml", *children), "/pages.xml": sitemap("/about")}
    files |= {child: sitemap(f"/p/{child[10:-4]}") for child in children}
    found, asked = look(files, "/sitemap.xml")
    assert asked[:2] == ["/sitemap.xml", "/products-1.xml"]
    assert len([path for path in asked if "products" in path]) == MAX_PRODUCT_FILES
    assert "/pages.xml" in asked
    assert not found.is_whole(FINDS)
    assert sum(not file.read for file in found.files) == 29 - MAX_PRODUCT_FILES


def test_word_tells_children_with_products_from_the_others() -> None:
    files = {
        "/sitemap.xml": index("/sitemap_products_1.xml?from=1&amp;to=2", "/sitemap_pages_1.xml"),
        "/sitemap_products_1.xml?from=1&to=2": sitemap("/p/a"),
        "/sitemap_pages_1.xml": sitemap("/about"),
    }
    found, _ = look(files, "/sitemap.xml")
    assert child_pattern(found, "/p/") == "products"
    files["/sitemap_pages_1.xml"] = sitemap("/p/b")
    assert child_pattern(look(files, "/sitemap.xml")[0], "/p/") == ""


def test_html_served_as_a_sitemap_is_a_problem_and_not_an_empty_one() -> None:
    found, _ = look({"/sitemap.xml": "<!doctype html><title>Shop</title><p>hello"}, "/sitemap.xml")
    assert "HTML" in found.named[0].problem
