"""A Shopify shop by its own listing: whole crawls against a local shop that speaks the protocol."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from storebot.exceptions import ExitCode
from storebot.items import Outcome
from tests.inside import Crawled, Place, hurry
from tests.platform_shops import JSON, Good, ShopifyShop
from tests.scripted import FILLER, Answer, challenge, sitemap

ALONE = '[discover]\nplatform = "shopify"\nsitemaps = false\n'
BOTH = '[discover]\nplatform = "shopify"\n'
WALK = "shopify /products.json?limit=250&page={page}"


@pytest.fixture
def shop() -> Iterator[ShopifyShop]:
    with ShopifyShop(620) as shop:
        yield shop


@pytest.fixture
def small() -> Iterator[ShopifyShop]:
    with ShopifyShop(12) as shop:
        shop.says("/sitemap.xml", sitemap(*(f"{shop.url}/products/mug-{number}" for number in range(1, 13))))
        yield shop


def place(shop: ShopifyShop, folder: Path, text: str = ALONE) -> Place:
    path = folder / "stores" / "shop" / "store.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'base_url = "http://shop.example"\nproduct_url = "/products/"\n{text}', encoding="utf-8")
    return Place(shop.url, folder / "store.db", "shop", path.parents[1])


def outcomes(crawled: Crawled) -> dict[Outcome, int]:
    return {outcome: count for outcome, count in crawled.summary.outcomes.items() if count}


def pages_asked(shop: ShopifyShop) -> list[str]:
    return shop.paths("/products/")


def off(answer: Answer) -> Mapping[str, Answer]:
    return {"/products.json": answer}


def answering(shop: ShopifyShop, answers: Mapping[str, Answer], page: str = "") -> None:
    """Have the shop answer these paths so, all pages of them or one."""

    def override(path: str, query: Mapping[str, str]) -> Answer | None:
        return answers.get(path) if not page or query.get("page") == page else None

    shop.override = override


def test_a_backfill_and_a_refresh_of_620_products_cost_3_listing_pages_each(shop: ShopifyShop, tmp_path: Path) -> None:
    here = place(shop, tmp_path)
    backfill = here.crawl("backfill")
    assert (backfill.summary.exit_code, backfill.summary.reason) == (ExitCode.COMPLETE, "")
    assert outcomes(backfill) == {Outcome.NEW: 620}
    assert shop.paths() == ["/robots.txt", "/meta.json", *(f"/products.json?limit=250&page={n}" for n in (1, 2, 3))]
    assert backfill.summary.requests == 5
    assert backfill.rows("SELECT count(*) AS n, sum(requests) AS asked FROM visits") == [{"n": 620, "asked": 0}]
    assert backfill.rows("SELECT count(*) AS n FROM listings") == [{"n": 744}]  # every fifth has two variants
    assert backfill.walks() == {WALK: "closed"}
    shop.asked.clear()
    refresh = here.crawl("refresh")
    assert outcomes(refresh) == {Outcome.UNCHANGED: 620}
    assert refresh.summary.rows_written == refresh.summary.change_events == 0
    assert shop.listing_pages() == [1, 2, 3]
    assert refresh.summary.requests == 4  # robots.txt is kept


def test_three_changed_products_are_three_changes_and_the_rest_is_unchanged(shop: ShopifyShop, tmp_path: Path) -> None:
    here = place(shop, tmp_path)
    here.crawl("backfill")
    shop.goods[0].price, shop.goods[0].regular = 900, 1001
    shop.goods[250].in_stock = False
    shop.goods[619].name = "Cup 620"
    refresh = here.crawl("refresh")
    assert outcomes(refresh) == {Outcome.CHANGED: 3, Outcome.UNCHANGED: 617}
    changes = refresh.rows("SELECT url_key, variant_id, type, fields FROM changes ORDER BY id")
    found = {(row["url_key"].rpartition("/")[2], row["variant_id"]): json.loads(row["fields"]) for row in changes}
    assert {key: {one["field"]: one["after"] for one in fields} for key, fields in found.items()} == {
        ("mug-1", "100"): {"price_minor": 900, "regular_price_minor": 1001},
        ("mug-251", "25100"): {"availability": "OutOfStock"},
        ("mug-620", "62000"): {"name": "Cup 620"},
        ("mug-620", "62001"): {"name": "Cup 620"},
    }
    assert refresh.rows("SELECT count(*) AS n FROM offers WHERE run_id = 2") == [{"n": 2}]


def test_a_product_that_appears_is_new_and_one_that_vanishes_is_looked_at_once(
    small: ShopifyShop, tmp_path: Path
) -> None:
    """Case P06: absence from one walk is no proof, so the page itself is asked."""
    here = place(small, tmp_path)
    here.crawl("backfill")
    small.goods[3:4] = []
    small.goods.append(Good(99, "Bowl", 500))
    small.asked.clear()
    refresh = here.crawl("refresh")
    assert outcomes(refresh) == {Outcome.NEW: 1, Outcome.MISSING: 1, Outcome.UNCHANGED: 11}
    assert pages_asked(small) == ["/products/mug-4"]
    assert refresh.rows("SELECT type, url_key FROM changes WHERE type = 'new'")[0]["url_key"].endswith("/mug-99")


def test_the_key_of_a_carried_product_is_that_which_the_sitemap_names(small: ShopifyShop, tmp_path: Path) -> None:
    small.says(
        "/sitemap.xml", sitemap(*(f"{small.url}/collections/all/products/mug-{number}" for number in range(1, 13)))
    )
    backfill = place(small, tmp_path, BOTH).crawl("backfill")
    assert outcomes(backfill) == {Outcome.NEW: 12}
    assert pages_asked(small) == []
    assert backfill.rows("SELECT count(*) AS n FROM pages") == [{"n": 12}]


def test_what_only_the_sitemap_knows_is_fetched_as_a_page(small: ShopifyShop, tmp_path: Path) -> None:
    hidden = small.goods.pop()
    small.says("/sitemap.xml", sitemap(*(f"{small.url}/products/mug-{number}" for number in range(1, 13))))
    small.says("/products/mug-12", small.product_page(hidden))
    here = place(small, tmp_path, BOTH)
    backfill = here.crawl("backfill")
    assert outcomes(backfill) == {Outcome.NEW: 12}
    assert pages_asked(small) == ["/products/mug-12"]
    small.asked.clear()
    refresh = here.crawl("refresh")
    assert outcomes(refresh) == {Outcome.UNCHANGED: 12}
    assert pages_asked(small) == ["/products/mug-12"]
    assert not small.paths("/sitemap.xml")  # the listing carries what is new


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (Answer(b"<title>Not Found</title>", 404), "answers HTTP 404"),
        (Answer(b'{"errors":"[API] Invalid API key"}', 401, JSON), "answers HTTP 401"),
        (Answer(b"<html><title>403 Forbidden</title></html>", 403), "answers HTTP 403"),
        (
            Answer(f"<!doctype html><html><title>Opening soon</title>{FILLER}</html>".encode()),
            "it is an HTML page titled 'Opening soon', not JSON",
        ),
        (Answer(b'{"products":[]}', headers=JSON), "carries no products, though the shop declares 12"),
        (Answer(b'{"errors":"x"}', headers=JSON), "without a list of products"),
    ],
    ids=["404", "401", "403", "html", "empty", "other json"],
)
def test_a_listing_that_is_switched_off_gives_way_to_the_sitemap_and_the_run_says_so(
    small: ShopifyShop, tmp_path: Path, answer: Answer, said: str
) -> None:
    """Case P09."""
    answering(small, off(answer))
    here = place(small, tmp_path, BOTH)
    for phase, expected in (("backfill", Outcome.NEW), ("refresh", Outcome.UNCHANGED)):
        small.asked.clear()
        crawled = here.crawl(phase)
        assert (crawled.summary.exit_code, outcomes(crawled)) == (ExitCode.COMPLETE, {expected: 12})
        assert said in crawled.summary.reason
        assert "read as pages" in crawled.summary.reason
        assert len(pages_asked(small)) == 12


def test_a_listing_that_robots_forbids_gives_way_to_the_sitemap(small: ShopifyShop, tmp_path: Path) -> None:
    small.says("/robots.txt", Answer(b"User-agent: *\nDisallow: /products.json\n"))
    backfill = place(small, tmp_path, BOTH).crawl("backfill")
    assert outcomes(backfill) == {Outcome.NEW: 12}
    assert "isn't asked for (Forbidden by robots.txt)" in backfill.summary.reason
    assert small.listing_pages() == []


def test_a_listing_that_is_switched_off_without_another_source_is_no_empty_shop(
    small: ShopifyShop, tmp_path: Path
) -> None:
    answering(small, off(Answer(b"", 404)))
    backfill = place(small, tmp_path).crawl("backfill")
    assert backfill.summary.exit_code is ExitCode.PARTIAL
    assert "the first page answers HTTP 404" in backfill.summary.reason


def test_a_listing_that_is_switched_off_later_is_no_change_of_the_market(small: ShopifyShop, tmp_path: Path) -> None:
    """A page tells a product in other words than the listing: the source moved, and nothing is announced."""
    here = place(small, tmp_path, BOTH)
    here.crawl("backfill")
    answering(small, off(Answer(b"", 404)))
    for _ in range(2):
        refresh = here.crawl("refresh")
        assert outcomes(refresh) == {Outcome.UNCHANGED: 12}
        assert refresh.summary.change_events == 0
    small.override = lambda path, query: None
    back = here.crawl("refresh")
    assert (outcomes(back), back.summary.change_events) == ({Outcome.UNCHANGED: 12}, 0)
    active = back.rows("SELECT variant_id FROM listings WHERE status = 'active' ORDER BY id")
    assert {row["variant_id"] for row in active} == {
        str(good.id * 100 + number) for good in small.goods for number, _ in enumerate(good.variants or [""])
    }


@pytest.mark.parametrize(
    "answer",
    [
        challenge(),
        challenge()._replace(status=200),
        Answer(b"<title>Too many requests</title>", 429, {"Retry-After": "0"}),
        Answer(b"<html><title>403 Forbidden</title></html>", 403),
    ],
    ids=["403", "200", "429", "plain 403"],
)
def test_a_blocked_listing_page_ends_no_walk_and_the_next_backfill_resumes_there(
    shop: ShopifyShop, tmp_path: Path, answer: Answer, monkeypatch: pytest.MonkeyPatch
) -> None:
    hurry(monkeypatch)
    answering(shop, off(answer), page="2")
    shop.says("/sitemap.xml", sitemap(*(f"{shop.url}/products/mug-{good.id}" for good in shop.goods)))
    here = place(shop, tmp_path, BOTH)
    blocked = here.crawl("backfill")
    assert blocked.summary.exit_code is ExitCode.PARTIAL
    assert "page 2 blocked; resumes there" in blocked.summary.reason
    assert outcomes(blocked) == {Outcome.NEW: 250}
    assert pages_asked(shop) == []  # 370 requests to a shop that has had enough
    assert blocked.rows("SELECT page, state FROM checkpoints WHERE walk = ?", WALK) == [
        {"page": 1, "state": "incomplete"}
    ]
    shop.override = lambda path, query: None
    shop.asked.clear()
    resumed = here.crawl("backfill")
    assert resumed.summary.exit_code is ExitCode.COMPLETE
    assert shop.listing_pages()[:3] == [1, 2, 3]  # one back, for catalogues shift
    assert resumed.rows("SELECT count(*) AS n FROM listings") == [{"n": 744}]


def test_a_refresh_whose_listing_fails_observes_nothing_instead_of_fetching_each_page(
    shop: ShopifyShop, tmp_path: Path
) -> None:
    here = place(shop, tmp_path)
    here.crawl("backfill")
    answering(shop, off(Answer(b"oops", 500)), page="2")
    shop.asked.clear()
    refresh = here.crawl("refresh")
    assert refresh.summary.exit_code is ExitCode.PARTIAL
    assert "page 2 failed (HTTP 500)" in refresh.summary.reason
    assert "370 pages left" in refresh.summary.reason
    assert outcomes(refresh) == {Outcome.UNCHANGED: 250}
    assert pages_asked(shop) == []


def test_a_page_of_html_in_the_middle_is_not_the_end(shop: ShopifyShop, tmp_path: Path) -> None:
    answering(shop, off(Answer(f"<html><title>Maintenance</title>{FILLER}</html>".encode())), page="3")
    backfill = place(shop, tmp_path).crawl("backfill")
    assert backfill.summary.exit_code is ExitCode.PARTIAL
    assert outcomes(backfill) == {Outcome.NEW: 500}


def test_the_end_is_proven_by_empty_pages_where_the_shop_does_not_count(shop: ShopifyShop, tmp_path: Path) -> None:
    answering(shop, {"/meta.json": Answer(b'{"currency":"SEK"}', headers=JSON)})
    backfill = place(shop, tmp_path).crawl("backfill")
    assert (backfill.summary.exit_code, outcomes(backfill)) == (ExitCode.COMPLETE, {Outcome.NEW: 620})
    assert sorted(shop.listing_pages()) == [1, 2, 3, 4, 4, 5]  # empty, still empty, and so is the next


def test_a_clamped_page_is_not_the_last(shop: ShopifyShop, tmp_path: Path) -> None:
    """Case P08: asked 250, got 100."""
    shop.clamp = 100
    backfill = place(shop, tmp_path).crawl("backfill")
    assert outcomes(backfill) == {Outcome.NEW: 620}
    assert shop.listing_pages() == [1, 2, 3, 4, 5, 6, 7]


def test_an_endless_repeat_of_a_page_ends_the_walk(shop: ShopifyShop, tmp_path: Path) -> None:
    """Case P01."""
    answering(shop, {"/meta.json": Answer(b'{"currency":"SEK"}', headers=JSON)})
    last = shop.platform("/products.json", {"limit": "250", "page": "3"})
    inner = shop.override

    def override(path: str, query: Mapping[str, str]) -> Answer | None:
        return last if path == "/products.json" and int(query["page"]) > 3 else inner(path, query)

    shop.override = override
    backfill = place(shop, tmp_path).crawl("backfill")
    assert (backfill.summary.exit_code, outcomes(backfill)) == (ExitCode.COMPLETE, {Outcome.NEW: 620})


@pytest.mark.parametrize(("text", "code"), [(BOTH, ExitCode.COMPLETE), (ALONE, ExitCode.PARTIAL)])
def test_the_page_cap_is_named_and_the_rest_is_read_as_pages(
    shop: ShopifyShop, tmp_path: Path, text: str, code: ExitCode
) -> None:
    """Case P07."""
    shop.cap = 500
    shop.says("/sitemap.xml", sitemap(*(f"{shop.url}/products/mug-{good.id}" for good in shop.goods)))
    backfill = place(shop, tmp_path, text).crawl("backfill")
    assert backfill.summary.exit_code is code
    assert "page 3 answers HTTP 400: the platform's page cap?" in backfill.summary.reason
    assert len(pages_asked(shop)) == (120 if text == BOTH else 0)


@pytest.mark.parametrize(
    ("declared", "meta", "home", "expected"),
    [
        ("", '{"currency":"JPY"}', "", "JPY"),
        ("", "", 'Shopify.currency = {"active":"SEK","rate":"1.0"};', "SEK"),
        ('[product]\ncurrency = "NOK"\n', "", 'Shopify.currency = {"active":"SEK"};', "NOK"),
        ('[product]\ncurrency = "NOK"\n', '{"currency":"SEK"}', "", "SEK"),
    ],
    ids=["metadata", "home page", "declared", "metadata before declared"],
)
def test_prices_are_in_the_currency_that_the_shop_names(
    small: ShopifyShop, tmp_path: Path, declared: str, meta: str, home: str, expected: str
) -> None:
    page = Answer(f"<html><script>{home}</script>{FILLER}</html>".encode())
    answering(small, {"/meta.json": Answer(meta.encode(), 200 if meta else 404, JSON), "/": page})
    small.goods = [Good(1, "Mug", 100000)]
    crawled = place(small, tmp_path, ALONE + declared).crawl("backfill")
    (listing,) = crawled.rows("SELECT currency, price_minor FROM listings")
    assert (listing["currency"], listing["price_minor"]) == (expected, 1000 if expected == "JPY" else 100000)


def test_prices_without_a_currency_are_not_saved(small: ShopifyShop, tmp_path: Path) -> None:
    answering(small, {"/meta.json": Answer(b"", 404), "/": Answer(f"<html>{FILLER}</html>".encode())})
    backfill = place(small, tmp_path).crawl("backfill")
    assert backfill.summary.exit_code is ExitCode.PARTIAL
    assert "declare `currency` in [product]" in backfill.summary.reason
    assert small.listing_pages() == []


def test_an_invalid_product_costs_only_itself(small: ShopifyShop, tmp_path: Path) -> None:
    small.goods[4].name = ""
    backfill = place(small, tmp_path).crawl("backfill")
    assert backfill.summary.exit_code is ExitCode.PARTIAL
    assert outcomes(backfill) == {Outcome.NEW: 11, Outcome.INVALID: 1}
    assert "name: the page yields no name" in backfill.visits()["/products/mug-5"]["reason"]


def test_a_walk_that_shifts_visits_each_product_once(shop: ShopifyShop, tmp_path: Path) -> None:
    """Case P06: a product is added on top while the walk is under way."""

    def override(path: str, query: Mapping[str, str]) -> Answer | None:
        if query.get("page") == "2" and len(shop.goods) == 620:
            shop.goods.insert(0, Good(999, "Bowl", 500))
        return None

    shop.override = override
    backfill = place(shop, tmp_path).crawl("backfill")
    assert outcomes(backfill) == {Outcome.NEW: 620}
    assert backfill.rows("SELECT count(*) AS n FROM visits") == [{"n": 620}]


def test_a_listing_whose_reader_breaks_is_an_error_of_ours_and_no_reason_to_fetch_every_page(
    small: ShopifyShop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = place(small, tmp_path)
    here.crawl("backfill")
    monkeypatch.setattr("storebot.spiders.carrying.normalised", lambda *_: 1 / 0)
    refresh = here.crawl("refresh")
    assert refresh.summary.exit_code is ExitCode.INTERNAL_ERROR
    assert "raised ZeroDivisionError" in refresh.summary.reason
    assert pages_asked(small) == []
