"""Sitemaps that list or redirect to each other (case S07)."""

from __future__ import annotations

from storebot.core.parsing.sitemap_trail import SitemapTrail


def test_an_index_that_lists_itself_is_asked_for_once() -> None:
    trail = SitemapTrail()
    assert trail.ask("https://shop.example/robots.txt", 0)
    assert not trail.ask("https://shop.example/robots.txt", 1)
    assert trail.ask("https://shop.example/index.xml", 1)
    assert trail.read("https://shop.example/index.xml", "https://shop.example/index.xml")
    assert not trail.ask("http://SHOP.example/index.xml#again", 2)


def test_a_child_that_redirects_to_a_document_already_read_is_not_read_again() -> None:
    trail = SitemapTrail()
    trail.ask("https://shop.example/index.xml", 1)
    assert trail.read("https://shop.example/index.xml", "https://shop.example/index.xml")
    assert trail.ask("https://shop.example/child2.xml", 2)
    assert not trail.read("https://shop.example/child2.xml", "https://shop.example/index.xml")


def test_a_document_reached_by_redirect_before_its_own_answer_is_read_once() -> None:
    trail = SitemapTrail()
    assert trail.ask("https://shop.example/a.xml", 2)
    assert trail.ask("https://shop.example/b.xml", 2)
    assert trail.read("https://shop.example/b.xml", "https://shop.example/a.xml")
    assert not trail.read("https://shop.example/a.xml", "https://shop.example/a.xml")


def test_documents_below_the_depth_are_refused_and_counted() -> None:
    trail = SitemapTrail(max_depth=2)
    assert trail.ask("https://shop.example/2.xml?page=1", 2)
    assert not trail.ask("https://shop.example/2.xml?page=2", 3)
    assert trail.too_deep == 1
    assert trail.ask("https://shop.example/2.xml?page=2", 2)
