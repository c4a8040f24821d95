"""A shop whose pages go by several names, whole crawls: one product is one page with one price series."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from storebot.items import Outcome, RunStatus
from tests.inside import Crawled, Place, store_folder
from tests.scripted import FILLER, Answer, ScriptedShop, listing

STORE = '[discover]\nsitemaps = false\n[catalogue]\nurl = "/all"\n[politeness]\ndelay_s = 0\nconcurrency = 4\n'


@pytest.fixture
def shop() -> Iterator[ScriptedShop]:
    with ScriptedShop() as shop:
        yield shop


def place(shop: ScriptedShop, tmp_path: Path, text: str = "") -> Place:
    return Place(shop.url, tmp_path / "store.db", "shop", store_folder(tmp_path, STORE + text))


def page(name: str, price: str = "19.90", *, canonical: str = "", amp: str = "", sku: str = "") -> Answer:
    """Return a product page; without an ``sku`` its name alone says which product it is."""
    data = {
        "@type": "Product",
        "name": name,
        "offers": {
            "@type": "Offer",
            "price": price,
            "priceCurrency": "EUR",
            "availability": "https://schema.org/InStock",
        },
        **({"sku": sku} if sku else {}),
    }
    links = f'<link rel="canonical" href="{canonical}">' if canonical else ""
    links += f'<link rel="amphtml" href="{amp}">' if amp else ""
    head = f'{links}<script type="application/ld+json">{json.dumps(data)}</script>'
    return Answer(
        f"<html><head>{head}</head><body>{FILLER}</body></html>".encode(), headers={"Content-Type": "text/html"}
    )


def sold(done: Crawled) -> dict[str, list[int]]:
    """Return the prices of each page that is no other page's second name, by the path of its key, oldest first."""
    rows = done.rows(
        "SELECT pages.url_key AS url_key, offers.price_minor AS price FROM pages"
        " JOIN offers ON offers.page_id = pages.id WHERE pages.status <> 'gone' ORDER BY offers.id"
    )
    prices: dict[str, list[int]] = {}
    for row in rows:
        prices.setdefault(path_of(row["url_key"]), []).append(row["price"])
    return prices


def aliases(done: Crawled) -> dict[str, tuple[str, str]]:
    """Return where the second names lead to, and why."""
    rows = done.rows("SELECT old_key, url_key, reason FROM aliases JOIN pages ON pages.id = page_id")
    return {path_of(row["old_key"]): (path_of(row["url_key"]), row["reason"]) for row in rows}


def active(done: Crawled) -> list[str]:
    rows = done.rows(
        "SELECT url_key FROM listings JOIN pages ON pages.id = page_id"
        " WHERE listings.status = 'active' ORDER BY url_key"
    )
    return [path_of(row["url_key"]) for row in rows]


def path_of(key: str) -> str:
    return "/" + key.split("/", 3)[3]


def test_canonical_variants_amp_copies_and_mobile_hosts_are_one_page_each(shop: ScriptedShop, tmp_path: Path) -> None:
    with ScriptedShop() as mobile:
        text = f'[keys]\naliases = ["{mobile.url.removeprefix("http://")}"]'
        names = ("/p/1/amp", "/tools/p/1?from=tools", "/p/1", "/p/3", "/p/3?variant=2", f"{mobile.url}/p/2", "/p/2")
        shop.says("/all", listing(*names))
        shop.says("/p/1", page("Hammer", sku="H1", canonical="/p/1"))
        shop.says("/p/1/amp", page("Hammer", sku="H1", canonical="/p/1"))
        shop.says("/tools/p/1?from=tools", page("Hammer", sku="H1", canonical="/p/1"))
        for each in (shop, mobile):
            each.says("/p/2", page("Saw", sku="S2", canonical=f"{shop.url}/p/2"))
        shop.says("/p/3", page("Drill", sku="D3", canonical="/p/3"))
        shop.says("/p/3?variant=2", page("Drill", "29.90", sku="D3-2", canonical="/p/3"))
        here = place(shop, tmp_path, text)
        first = here.crawl("backfill")
        assert first.summary.status is RunStatus.COMPLETE
        assert sold(first) == {"/p/1": [1990], "/p/2": [1990], "/p/3": [1990], "/p/3?variant=2": [2990]}
        assert active(first) == ["/p/1", "/p/2", "/p/3", "/p/3?variant=2"]
        assert aliases(first) == {"/p/1/amp": ("/p/1", "amp"), "/tools/p/1?from=tools": ("/p/1", "canonical")}
        assert len(shop.requests("/p/2") + mobile.requests("/p/2")) == 1
        shop.says("/p/1", page("Hammer", "17.50", sku="H1", canonical="/p/1"))
        second = here.crawl("refresh")
        assert second.summary.outcomes == {Outcome.CHANGED: 1, Outcome.UNCHANGED: 3}
        assert sold(second)["/p/1"] == [1990, 1750]
        assert [len(shop.requests(name)) for name in ("/p/1/amp", "/tools/p/1?from=tools")] == [1, 1]


def test_amp_copy_that_the_page_names_is_never_fetched(shop: ScriptedShop, tmp_path: Path) -> None:
    shop.says("/all", listing("/p/1"), listing("/p/1", "/amp/p/1"))
    shop.says("/p/1", page("Hammer", amp="/amp/p/1"))
    here = place(shop, tmp_path)
    assert aliases(here.crawl("backfill")) == {"/amp/p/1": ("/p/1", "amp")}
    done = here.crawl("refresh")
    assert done.summary.outcomes == {Outcome.UNCHANGED: 1}
    assert shop.requests("/amp/p/1") == []


def test_canonical_that_nobody_links_is_the_key_of_all_its_names(shop: ScriptedShop, tmp_path: Path) -> None:
    """A category in the path: each day's catalogue names the page by another."""
    shop.says("/all", listing("/new/p/1"), listing("/sale/p/1"))
    for name in ("/new/p/1", "/sale/p/1"):
        shop.says(name, page("Hammer", canonical="/p/1"))
    here = place(shop, tmp_path)
    first = here.crawl("backfill")
    assert sold(first) == {"/p/1": [1990]}
    assert aliases(first) == {"/new/p/1": ("/p/1", "canonical")}
    second = here.crawl("refresh")
    assert sold(second) == {"/p/1": [1990]}
    assert aliases(second) == dict.fromkeys(("/new/p/1", "/sale/p/1"), ("/p/1", "canonical"))
    assert second.summary.status is RunStatus.COMPLETE
    here.crawl("refresh")
    assert [len(shop.requests(name)) for name in ("/new/p/1", "/sale/p/1", "/p/1")] == [3, 1, 0]


def test_canonical_that_all_pages_share_is_believed_of_none(shop: ScriptedShop, tmp_path: Path) -> None:
    names = [f"/p/{number}" for number in range(1, 7)]
    shop.says("/all", listing(*names))
    for name in names:
        shop.says(name, page(f"Tool {name[-1]}", canonical="/p/1" if name < "/p/4" else "/p/none"))
    done = place(shop, tmp_path).crawl("backfill")
    assert active(done) == names
    assert aliases(done) == {}


def test_canonical_of_the_home_page_of_another_site_or_of_the_catalogue_says_nothing(
    shop: ScriptedShop, tmp_path: Path
) -> None:
    said = {"/p/1": "/", "/p/2": "https://elsewhere.example/p/2", "/p/3": "/all", "/p/4": "http://[bad/p/", "/p/5": ""}
    shop.says("/all", listing(*said))
    for name, canonical in said.items():
        shop.says(name, page(f"Tool {name[-1]}", canonical=canonical))
    done = place(shop, tmp_path).crawl("backfill")
    assert active(done) == list(said)
    assert aliases(done) == {}


def test_redirect_that_is_introduced_later_goes_on_with_the_price_series(shop: ScriptedShop, tmp_path: Path) -> None:
    """Case R03, where the new address is found, and read, before the old one redirects to it."""
    shop.says("/all", listing("/p/1", "/p/2"), listing("/p/one", "/p/2"))
    shop.says("/p/1", page("Hammer", sku="H1"), Answer(status=301, headers={"Location": "/p/one"}))
    shop.says("/p/one", page("Hammer", "17.50", sku="H1"))
    shop.says("/p/2", page("Saw", sku="S2"))
    here = place(shop, tmp_path)
    here.crawl("backfill")
    done = here.crawl("refresh")
    assert done.summary.status is RunStatus.COMPLETE
    assert sold(done) == {"/p/one": [1990, 1750], "/p/2": [1990]}
    assert active(done) == ["/p/2", "/p/one"]
    assert aliases(done) == {"/p/1": ("/p/one", "redirect")}
    third = here.crawl("refresh")
    assert third.summary.outcomes == {Outcome.UNCHANGED: 2}
    assert len(shop.requests("/p/1")) == 2


def test_redirect_to_another_product_is_no_move_and_that_product_is_a_page_of_its_own(
    shop: ScriptedShop, tmp_path: Path
) -> None:
    """Case R01: a successor isn't its predecessor at a new price."""
    shop.says("/all", listing("/p/1"))
    shop.says("/p/1", page("Hammer", sku="H1"), Answer(status=301, headers={"Location": "/p/9"}))
    shop.says("/p/9", page("Cordless drill", "99.00", sku="C9"))
    here = place(shop, tmp_path)
    here.crawl("backfill")
    done = here.crawl("refresh")
    assert (done.summary.status, done.summary.outcomes) == (RunStatus.COMPLETE, {Outcome.MOVED: 1})
    assert "which is another product" in done.visits()["/p/1"]["reason"]
    assert aliases(done) == {"/p/1": ("/p/9", "redirect")}
    third = here.crawl("refresh")
    assert (third.summary.status, third.summary.outcomes) == (RunStatus.COMPLETE, {Outcome.NEW: 1})
    assert (sold(third), active(third)) == ({"/p/9": [9900]}, ["/p/9"])
    assert third.rows("SELECT count(*) AS left FROM offers") == [{"left": 2}]


def test_page_whose_canonical_address_is_gone_is_looked_for_at_its_other_name(
    shop: ScriptedShop, tmp_path: Path
) -> None:
    shop.says("/all", listing("/p/1", "/new/p/1"))
    shop.says("/p/1", page("Hammer", sku="H1"), Answer(b"", 404))
    shop.says("/new/p/1", page("Hammer", sku="H1", canonical="/p/1"))
    here = place(shop, tmp_path)
    assert active(here.crawl("backfill")) == ["/p/1"]
    done = here.crawl("refresh")
    assert (done.summary.status, done.summary.outcomes) == (RunStatus.COMPLETE, {Outcome.MOVED: 1})
    assert active(done) == ["/new/p/1"]
    assert sold(done) == {"/new/p/1": [1990]}
    assert done.rows("SELECT * FROM changes") == []
    again = here.crawl("refresh")
    assert again.summary.outcomes == {Outcome.UNCHANGED: 1}


def test_page_that_no_longer_names_another_gets_its_own_key_back(shop: ScriptedShop, tmp_path: Path) -> None:
    shop.says("/all", listing("/new/p/1"))
    shop.says("/new/p/1", page("Hammer", canonical="/p/1"), page("Hammer", "17.50"))
    here = place(shop, tmp_path)
    assert sold(here.crawl("backfill")) == {"/p/1": [1990]}
    assert sold(here.crawl("refresh")) == {"/new/p/1": [1990, 1750]}
    assert here.crawl("refresh").summary.outcomes == {Outcome.UNCHANGED: 1}


def test_redirect_to_a_spelling_whose_canonical_is_the_page_is_no_move(shop: ScriptedShop, tmp_path: Path) -> None:
    shop.says("/all", listing("/p/1"))
    shop.says("/p/1", Answer(status=302, headers={"Location": "/de/p/1"}))
    shop.says("/de/p/1", page("Hammer", canonical="/p/1"))
    here = place(shop, tmp_path)
    for phase in ("backfill", "refresh"):
        done = here.crawl(phase)
        assert (sold(done), aliases(done)) == ({"/p/1": [1990]}, {})


def test_redirect_to_a_page_that_is_listed_too_is_one_product_and_nothing_is_new_again(
    shop: ScriptedShop, tmp_path: Path
) -> None:
    """Case R03."""
    shop.says("/all", listing("/p/old", "/p/new"))
    shop.says("/p/old", Answer(status=301, headers={"Location": "/p/new"}))
    shop.says("/p/new", page("Hammer", sku="H1"))
    here = place(shop, tmp_path)
    first = here.crawl("backfill")
    assert (sold(first), aliases(first)) == ({"/p/new": [1990]}, {"/p/old": ("/p/new", "redirect")})
    second = here.crawl("refresh")
    assert second.summary.outcomes == {Outcome.UNCHANGED: 1}
    assert len(shop.requests("/p/old")) == 1
