"""What happens to a visit between the parser and the database."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from scrapy.crawler import Crawler
from scrapy.utils.test import get_crawler

from storebot.core.fingerprint import page_hash
from storebot.items import Extracted, Outcome, Problem, Target, Visit
from storebot.pipelines import Fingerprint, Keep, Normalise, Save, Validate
from storebot.run import Run
from storebot.spiders.backfill import BackfillSpider
from tests.inside import Place, store_folder
from tests.scripted import ScriptedShop, listing, product

KEY = "https://shop.example/p/1"
TEXT = '[expect]\nrequired = ["name", "price"]\n[product]\ncurrency = "EUR"\n'


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """A run that isn't open: what the pure steps need of it is its store."""
    place = Place("http://shop.example", tmp_path / "store.db", "shop", store_folder(tmp_path, TEXT))
    crawler = Crawler(BackfillSpider, place.project_settings())
    spider = BackfillSpider.from_crawler(crawler, store="shop")
    return Run(crawler, spider.store, "backfill", crawler.settings)


def visit(*values: dict[str, Any], problems: tuple[Problem, ...] = ()) -> Visit:
    extracted = tuple(Extracted(values=one, sources=dict.fromkeys(one, "jsonld")) for one in values)
    target = Target(store="shop", url="http://shop.example/p/1?old=1", url_key=KEY)
    return Visit(
        target=target,
        at_ms=1,
        final_url="http://shop.example/p/1",
        final_key=KEY,
        extracted=extracted,
        problems=problems,
    )


def through(run: Run, item: Visit) -> Visit:
    """Send a visit through the steps before Save."""
    result: object = item
    for step in (Normalise(run), Validate(run), Fingerprint()):
        result = step.process_item(result)
    assert isinstance(result, Visit)
    return result


def test_what_the_page_says_becomes_listings_with_hashes(run: Run) -> None:
    done = through(run, visit({"name": "  Mug\n", "price": "19.90", "brand": "Clay"}))
    (listing,) = done.listings
    assert (listing.name, listing.price_minor, listing.currency, listing.store) == ("Mug", 1990, "EUR", "shop")
    assert (listing.url, listing.url_key) == ("http://shop.example/p/1", KEY)
    assert (len(listing.record_hash), len(listing.details_hash)) == (64, 64)
    assert done.content_hash == page_hash({"": listing.record_hash})
    assert done.outcome is None  # only the database knows
    assert done.extracted == ()


def test_hash_of_a_page_moves_with_any_of_its_variants(run: Run) -> None:
    variants = [{"name": "Mug", "variant_id": name, "price": "5.00"} for name in ("red", "blue")]
    same = through(run, visit(*variants)).content_hash
    assert same == through(run, visit(*reversed(variants))).content_hash
    assert same != through(run, visit(variants[0], {**variants[1], "price": "6.00"})).content_hash


def test_listing_that_lacks_what_the_store_requires_makes_the_visit_invalid(
    run: Run, caplog: pytest.LogCaptureFixture
) -> None:
    done = through(run, visit({"name": "Mug", "price": "5.00"}, {"name": "Cup", "variant_id": "2"}))
    assert (done.outcome, done.listings, done.content_hash) == (Outcome.INVALID, (), "")
    assert "price" in done.reason
    assert "http://shop.example/p/1?old=1: invalid: price" in caplog.text


def test_price_that_cannot_be_read_makes_the_visit_invalid_and_is_quoted(run: Run) -> None:
    done = through(run, visit({"name": "Mug", "price": "ask us"}))
    assert done.outcome is Outcome.INVALID
    assert "ask us" in done.reason


def test_problems_of_the_page_travel_along(run: Run) -> None:
    done = through(run, visit({"name": "Mug", "price": "5.00", "gtin": "123"}, problems=(Problem("x", "said before"),)))
    assert "said before" in [problem.reason for problem in done.problems]
    assert "gtin" in [problem.field for problem in done.problems]


def test_a_body_is_let_go_before_the_commit_and_only_an_accepted_one_is_packed(run: Run) -> None:
    run.keeper.open()
    accepted, refused = visit({"name": "Mug", "price": "5.00"}), visit({"name": "Mug"})
    for one in (accepted, refused):
        one.body, one.headers = b"<html>Mug</html>" * 900, {"content-type": "text/html"}
        Keep(run).process_item(through(run, one))
    run.keeper.close()
    assert (accepted.body, refused.body, refused.kept) == (b"", b"", None)
    assert accepted.kept is not None
    assert (accepted.kept.page.body, accepted.kept.page.content_hash) == (b"", accepted.content_hash)
    assert len(accepted.kept.packed) < accepted.kept.size / 20
    assert accepted.page_sha256 == accepted.kept.sha256.hex()


def test_visit_without_a_parse_and_other_items_pass_untouched(run: Run) -> None:
    gone = Visit(target=Target(store="shop", url=KEY, url_key=KEY), at_ms=1, outcome=Outcome.MISSING, status=404)
    for item in (gone, {"name": "of a user's own spider"}):
        for step in (Normalise(run), Validate(run), Fingerprint()):
            assert step.process_item(item) is item
    assert (gone.outcome, gone.content_hash, gone.listings) == (Outcome.MISSING, "", ())


# --- Save -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def shop() -> Iterator[ScriptedShop]:
    with ScriptedShop() as shop:
        shop.says("/all", listing("/p/1")).says("/p/1", product())
        yield shop


def test_pipelines_of_a_real_crawl_save_what_passes(shop: ScriptedShop, tmp_path: Path) -> None:
    text = '[discover]\nsitemaps = false\n[catalogue]\nurl = "/all"\n[politeness]\ndelay_s = 0\n'
    place = Place(shop.url, tmp_path / "store.db", "shop", store_folder(tmp_path, text))
    done = place.crawl("backfill")
    (row,) = done.rows(
        "SELECT name, price_minor, record_hash, content_hash FROM listings JOIN pages ON pages.id = page_id"
    )
    assert (row["name"], row["price_minor"], len(row["record_hash"])) == ("Mug", 1990, 64)
    assert row["content_hash"] == page_hash({"": row["record_hash"]})


def test_save_before_the_run_is_open_is_an_error_and_no_silence(run: Run) -> None:
    async def save() -> None:
        saved: object = Save(run).process_item(visit({"name": "Mug"}))
        if inspect.isawaitable(saved):  # it only waits where there is no room
            await saved

    with pytest.raises(RuntimeError, match="no database yet"):
        asyncio.run(save())


@pytest.mark.parametrize("step", [Normalise, Validate, Save])
def test_steps_are_not_there_for_a_spider_without_a_store(step: Any, tmp_path: Path) -> None:
    seen: list[str] = []

    async def main() -> None:
        crawler = get_crawler(settings_dict={"ITEM_PIPELINES": {step: 1}, "LOG_ENABLED": False})
        await crawler.crawl_async(name="own")
        assert crawler.engine is not None
        seen.extend(type(one).__name__ for one in crawler.engine.scraper.itemproc.middlewares)

    asyncio.run(main())
    assert seen == []


def test_a_page_that_disagrees_with_itself_is_read_in_full_next_time(run: Run) -> None:
    agreed = visit({"name": "Mug", "price": "19.90", "currency": "EUR"})
    agreed.source_hash = "known"
    assert through(run, agreed).source_hash == "known"
    conflicting = visit({"name": "Mug", "price": "US$ 19.90", "currency": "EUR"})
    conflicting.source_hash = "known"
    assert Normalise(run).process_item(conflicting) is conflicting
    assert (conflicting.source_hash, conflicting.listings[0].disagreements[0].field) == ("", "currency")
