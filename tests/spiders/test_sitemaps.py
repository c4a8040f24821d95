"""Discovery by sitemaps: all of them are read, each once, and what can't be read is never taken for empty."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from storebot.exceptions import ExitCode
from storebot.items import Outcome, RunStatus
from tests.inside import Place, store_folder
from tests.scripted import Answer, ScriptedShop, index, listing, product, sitemap

QUICK = "[politeness]\ndelay_s = 0\nconcurrency = 4\n"


@pytest.fixture
def shop() -> Iterator[ScriptedShop]:
    with ScriptedShop() as shop:
        for name in ("mug-1", "cup-2", "jug-3"):
            shop.says(f"/p/{name}", product(name))
        yield shop


def place(shop: ScriptedShop, tmp_path: Path, text: str = "") -> Place:
    return Place(shop.url, tmp_path / "store.db", "shop", store_folder(tmp_path, QUICK + text))


def test_index_within_an_index_is_followed_and_gzip_is_unpacked(shop: ScriptedShop, tmp_path: Path) -> None:
    shop.says("/robots.txt", Answer(f"User-agent: *\nSitemap: {shop.url}/a.xml\n".encode()))
    shop.says("/a.xml", index(f"{shop.url}/b.xml"))
    shop.says("/b.xml", index(f"{shop.url}/c.xml.gz"))
    shop.says("/c.xml.gz", Answer(gzip.compress(sitemap(f"{shop.url}/p/mug-1", f"{shop.url}/about").body)))
    done = place(shop, tmp_path).crawl("backfill")
    assert (done.summary.status, done.summary.outcomes) == (RunStatus.COMPLETE, {Outcome.NEW: 1})
    assert shop.paths("/about") == []
    assert done.walks() == {"sitemap http://shop.example/c.xml.gz": "closed"}  # no index has a checkpoint


def test_sitemap_that_names_itself_and_its_parent_is_read_once(shop: ScriptedShop, tmp_path: Path) -> None:
    shop.says("/sitemap.xml", index(f"{shop.url}/sitemap.xml", f"{shop.url}/a.xml", f"{shop.url}/a.xml"))
    shop.says("/a.xml", index(f"{shop.url}/sitemap.xml", f"{shop.url}/c.xml"))
    shop.says("/c.xml", sitemap(f"{shop.url}/p/mug-1"))
    done = place(shop, tmp_path).crawl("backfill")
    assert done.summary.status is RunStatus.COMPLETE
    assert {path: shop.paths().count(path) for path in ("/sitemap.xml", "/a.xml", "/c.xml")} == {
        "/sitemap.xml": 1,
        "/a.xml": 1,
        "/c.xml": 1,
    }


def test_index_that_goes_on_for_ever_is_left_and_the_run_is_not_complete(shop: ScriptedShop, tmp_path: Path) -> None:
    shop.says("/sitemap.xml", index(f"{shop.url}/1.xml", f"{shop.url}/good.xml"))
    shop.says("/good.xml", sitemap(f"{shop.url}/p/mug-1"))
    for number in range(1, 9):
        shop.says(f"/{number}.xml", index(f"{shop.url}/{number + 1}.xml"))
    done = place(shop, tmp_path).crawl("backfill")
    assert (done.summary.status, done.summary.outcomes) == (RunStatus.PARTIAL, {Outcome.NEW: 1})
    assert "http://shop.example/5.xml: not read" in done.summary.reason
    assert shop.paths("/5.xml") == []


def test_declared_sitemaps_are_read_without_asking_robots_txt_for_any(shop: ScriptedShop, tmp_path: Path) -> None:
    shop.says("/robots.txt", Answer(f"Sitemap: {shop.url}/other.xml".encode()))
    shop.says("/mine.xml", sitemap(f"{shop.url}/p/mug-1"))
    done = place(shop, tmp_path, '[discover]\nsitemaps = ["/mine.xml"]').crawl("backfill")
    assert done.summary.status is RunStatus.COMPLETE
    assert shop.paths("/other.xml") == []


def test_only_children_that_the_store_file_wants_are_read(shop: ScriptedShop, tmp_path: Path) -> None:
    shop.says("/sitemap.xml", index(f"{shop.url}/products.xml", f"{shop.url}/blog.xml"))
    shop.says("/products.xml", sitemap(f"{shop.url}/p/mug-1"))
    done = place(shop, tmp_path, "[discover]\nsitemap_url = 'products'").crawl("backfill")
    assert done.summary.status is RunStatus.COMPLETE
    assert shop.paths("/blog.xml") == []


def test_resume_does_not_read_again_what_was_read_whole(shop: ScriptedShop, tmp_path: Path) -> None:
    shop.says("/sitemap.xml", index(f"{shop.url}/a.xml", f"{shop.url}/b.xml"))
    shop.says("/a.xml", sitemap(f"{shop.url}/p/mug-1"))
    shop.says("/b.xml", Answer(b"", 500), sitemap(f"{shop.url}/p/cup-2"))
    here = place(shop, tmp_path)
    first = here.crawl("backfill")
    assert (first.summary.status, first.summary.exit_code) == (RunStatus.PARTIAL, ExitCode.PARTIAL)
    assert "http://shop.example/b.xml: HTTP 500" in first.summary.reason
    second = here.crawl("backfill")
    assert (second.summary.status, second.summary.outcomes) == (RunStatus.COMPLETE, {Outcome.NEW: 1})
    assert (shop.paths().count("/a.xml"), shop.paths().count("/b.xml")) == (1, 2)


def test_backfill_that_is_resumed_at_another_address_of_the_shop_finds_its_checkpoints(
    shop: ScriptedShop, tmp_path: Path
) -> None:
    with ScriptedShop() as copy:
        for each in (shop, copy):
            each.says("/sitemap.xml", index(f"{each.url}/a.xml", f"{each.url}/b.xml"))
            each.says("/a.xml", sitemap(f"{each.url}/p/mug-1"))
            each.says("/b.xml", Answer(b"", 500))
        here = place(shop, tmp_path)
        assert here.crawl("backfill").summary.status is RunStatus.PARTIAL
        replace(here, url=copy.url).crawl("backfill")
        assert (copy.paths().count("/a.xml"), copy.paths().count("/b.xml")) == (0, 1)


def test_refresh_reads_the_sitemaps_anew_and_finds_the_new_product(shop: ScriptedShop, tmp_path: Path) -> None:
    shop.says("/sitemap.xml", sitemap(f"{shop.url}/p/mug-1"), sitemap(f"{shop.url}/p/mug-1", f"{shop.url}/p/cup-2"))
    here = place(shop, tmp_path)
    before = here.crawl("backfill").walks()
    done = here.crawl("refresh")
    assert done.summary.outcomes == {Outcome.NEW: 1, Outcome.UNCHANGED: 1}
    assert done.summary.status is RunStatus.COMPLETE
    assert done.walks() == before


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (Answer(b"<!doctype html><html><title>Our shop</title><body>" + b"Hello. " * 999), "an HTML page titled"),
        (Answer(b"<?xml version='1.0'?><urlset></urlset>"), "it names nothing"),
        (
            Answer(b"<?xml version='1.0'?><urlset><url><loc>%s/p/mug-1</loc></url><url><loc>"),
            "lost in a broken document",
        ),
        (Answer(b"", 404), "HTTP 404"),
        (Answer(b"", 0), "sitemap"),
    ],
    ids=["html", "empty", "cut off", "404", "no answer"],
)
def test_named_sitemap_that_cannot_be_read_whole_leaves_the_run_partial(
    shop: ScriptedShop, tmp_path: Path, answer: Answer, reason: str
) -> None:
    shop.says("/robots.txt", Answer(f"Sitemap: {shop.url}/good.xml\nSitemap: {shop.url}/bad.xml".encode()))
    shop.says("/good.xml", sitemap(f"{shop.url}/p/cup-2"))
    shop.says("/bad.xml", answer._replace(body=answer.body.replace(b"%s", shop.url.encode())))
    done = place(shop, tmp_path).crawl("backfill")
    assert (done.summary.status, done.summary.exit_code) == (RunStatus.PARTIAL, ExitCode.PARTIAL)
    assert "sitemap http://shop.example/bad.xml: " in done.summary.reason
    assert reason in done.summary.reason
    assert done.summary.outcomes[Outcome.NEW] >= 1  # what could be read is crawled nevertheless


def test_guessed_sitemap_that_is_not_there_is_no_hole_where_there_is_a_catalogue(
    shop: ScriptedShop, tmp_path: Path
) -> None:
    shop.says("/all", listing("/p/mug-1", "/p/cup-2"))
    done = place(shop, tmp_path, '[catalogue]\nurl = "/all"').crawl("backfill")
    assert shop.paths("/sitemap.xml") == ["/sitemap.xml"]
    assert (done.summary.status, done.summary.outcomes) == (RunStatus.COMPLETE, {Outcome.NEW: 2})


def test_guessed_sitemap_that_is_not_there_is_a_failure_where_nothing_else_names_products(
    shop: ScriptedShop, tmp_path: Path
) -> None:
    done = place(shop, tmp_path).crawl("backfill")
    assert (done.summary.status, done.summary.exit_code) == (RunStatus.FAILED, ExitCode.PARTIAL)
    assert "http://shop.example/sitemap.xml: HTTP 404" in done.summary.reason


NOT_OBEYED = 'robots = false\nrobots_reason = "the owner allowed it"\n'  # otherwise nothing at all is fetched then


def test_robots_txt_that_gives_no_answer_leaves_the_guess_to_be_tried(shop: ScriptedShop, tmp_path: Path) -> None:
    shop.says("/robots.txt", Answer(status=0))
    shop.says("/sitemap.xml", sitemap(f"{shop.url}/p/mug-1"))
    done = place(shop, tmp_path, NOT_OBEYED).crawl("backfill")
    assert done.summary.outcomes == {Outcome.NEW: 1}
    assert done.summary.status is RunStatus.PARTIAL  # what it would have named is not known
    assert "robots.txt" in done.summary.reason


def test_robots_txt_that_is_broken_is_not_one_that_names_nothing(shop: ScriptedShop, tmp_path: Path) -> None:
    shop.says("/robots.txt", Answer(status=500)).says("/all", listing("/p/mug-1"))
    done = place(shop, tmp_path, f'{NOT_OBEYED}[catalogue]\nurl = "/all"').crawl("backfill")
    assert (done.summary.status, done.summary.reason) == (RunStatus.PARTIAL, "robots.txt: HTTP 500")
    assert done.summary.outcomes == {Outcome.NEW: 1}


def test_entries_of_other_hosts_and_of_other_pages_are_not_asked_for(shop: ScriptedShop, tmp_path: Path) -> None:
    shop.says("/sitemap.xml", sitemap("http://elsewhere.example/p/1", f"{shop.url}/p/mug-1", f"{shop.url}/p/mug-1#x"))
    done = place(shop, tmp_path).crawl("backfill")
    assert [row["url"] for row in done.rows("SELECT url FROM pages")] == [f"{shop.url}/p/mug-1"]


def test_sitemap_of_more_entries_than_one_record_takes_is_saved_whole(shop: ScriptedShop, tmp_path: Path) -> None:
    shop.says("/sitemap.xml", sitemap(*(f"{shop.url}/p/{number}" for number in range(2_345))))
    done = place(shop, tmp_path).crawl("backfill", CLOSESPIDER_ITEMCOUNT=1)
    assert done.rows("SELECT count(*) AS count FROM pages") == [{"count": 2_345}]
    assert done.walks() == {"sitemap http://shop.example/sitemap.xml": "ended"}
