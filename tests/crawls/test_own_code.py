"""Whole crawls of stores with code of their own, and of shops that changed their layout: nothing false is published,
and whoever looks is told the page, the field, the selectors and where the page is kept."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest

from storebot.exceptions import ExitCode
from storebot.items import Outcome
from tests.inside import Place, store_folder
from tests.scripted import FILLER, Answer, Asked, ScriptedShop, listing, product

TOML = """
[discover]
sitemaps = false
[catalogue]
url = "/all"
[product]
currency = "EUR"
name = ["h1"]
[politeness]
delay_s = 0
"""
PRODUCT = '''
from decimal import Decimal

from storebot.stores.parsers import Page, Product, Select, Variant

SELECTORS = {
    "name": ".title",
    "sizes": ".size",
    "size": ".label::text",
    "pence": ".buy::attr(data-pence)",
}


def product(page: Page, select: Select) -> Product:
    """Each size has a button of its own, with its price in pence."""
    sizes = [
        Variant(options={"size": row("size")}, price=Decimal(row("pence")) / 100) for row in select.each("sizes")
    ]
    return Product(name=select("name"), variants=sizes)
'''
CATALOGUE = '''
from storebot.stores.parsers import Catalogue, Page, Select

SELECTORS = {"state": r"re:window\\.items = (\\[.*?\\]);", "more": ".more::attr(data-after)"}


def catalogue(page: Page, select: Select) -> Catalogue:
    """The list is drawn by a script from what the page holds as JSON."""
    after = select("more")
    return Catalogue(
        links=[f"/p/{item['slug']}" for item in select.json("state")],
        next=f"/all?after={after}" if after else None,
    )
'''


@pytest.fixture
def shop() -> Iterator[ScriptedShop]:
    with ScriptedShop() as shop:
        yield shop


def place(shop: ScriptedShop, folder: Path, toml: str = TOML, **code: str) -> Place:
    stores = store_folder(folder, toml)
    for kind, text in code.items():
        (stores / "shop" / f"{kind}.py").write_text(text, encoding="utf-8")
    return Place(shop.url, folder / "store.db", "shop", stores)


def sized(name: str, **pence: str) -> Answer:
    rows = "".join(
        f'<li class="size"><b class="label">{size}</b><button class="buy" data-pence="{price}">Buy</button></li>'
        for size, price in pence.items()
    )
    body = f'<html><body><h2 class="title">{name}</h2><ul>{rows}</ul>{FILLER}</body></html>'
    return Answer(body.encode(), headers={"Content-Type": "text/html"})


def plain(name: str, brand: str = "Clay", price: str = "5.00") -> Answer:
    made = f'<p class="brand">{brand}</p>' if brand else ""
    body = f'<html><body><h1>{name}</h1>{made}<p class="price">{price}</p>{FILLER}</body></html>'
    return Answer(body.encode(), headers={"Content-Type": "text/html"})


def test_code_reads_what_no_selector_could(shop: ScriptedShop, tmp_path: Path) -> None:
    shop.says("/all", listing("/p/1")).says("/p/1", sized("Mug", S="1250", L="1499"))
    done = place(shop, tmp_path, product=PRODUCT).crawl("backfill")
    assert (done.summary.status, done.summary.outcomes) == ("complete", {Outcome.NEW: 1})
    rows = done.rows("SELECT variant_id, name, price_minor, options, field_source FROM listings ORDER BY price_minor")
    assert [(row["variant_id"], row["name"], row["price_minor"]) for row in rows] == [
        ("size=S", "Mug", 1250),
        ("size=L", "Mug", 1499),
    ]
    assert orjson.loads(rows[0]["field_source"])["name"] == "product.py css:.title"


def test_unchanged_page_is_unchanged_for_code_too_and_new_code_reads_known_pages_anew(
    shop: ScriptedShop, tmp_path: Path
) -> None:
    shop.says("/all", listing("/p/1")).says(
        "/p/1", sized("Mug", S="1250", L="1499")._replace(headers={"Content-Type": "text/html", "ETag": '"1"'})
    )
    here = place(shop, tmp_path, product=PRODUCT)
    here.crawl("backfill")
    assert here.crawl("refresh").summary.outcomes == {Outcome.UNCHANGED: 1}
    assert shop.requests("/p/1")[-1].headers["if-none-match"] == '"1"'
    place(shop, tmp_path, product=PRODUCT.replace("/ 100", "/ 10")).crawl("refresh")
    assert "if-none-match" not in shop.requests("/p/1")[-1].headers


def test_code_that_breaks_makes_its_page_invalid_and_the_crawl_goes_on(
    shop: ScriptedShop, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    shop.says("/all", listing("/p/1", "/p/2", "/p/3"))
    shop.says("/p/1", sized("Mug", S="1250")).says("/p/2", sized("Cup", S="soon"))
    shop.says("/p/3", product())  # structured data would do, but nobody knows what the code had against them
    code = PRODUCT.replace("    return", "    assert select('name'), 'no title'\n    return")
    done = place(shop, tmp_path, product=code).crawl("backfill")
    assert done.summary.outcomes == {Outcome.NEW: 1, Outcome.INVALID: 2}
    assert (done.summary.status, done.summary.exit_code) == ("partial", ExitCode.PARTIAL)
    line = next(number for number, text in enumerate(code.splitlines(), 1) if "Decimal(row" in text)
    path = tmp_path / "stores" / "shop" / "product.py"
    reason = done.visits()["/p/2"]["reason"]
    assert reason.startswith(f"the page could not be read: {path}: line {line}: InvalidOperation: ")
    assert f"{shop.url}/p/2: the page could not be read: {path}: line {line}: Inv" in caplog.text
    assert "AssertionError: no title" in done.visits()["/p/3"]["reason"]
    assert len(list((tmp_path / "failed" / "shop").glob("*.html"))) == 2
    assert done.rows("SELECT name FROM listings") == [{"name": "Mug"}]


def test_catalogue_code_names_the_products_and_the_next_page(shop: ScriptedShop, tmp_path: Path) -> None:
    def items(*slugs: str, after: str = "") -> Answer:
        state = orjson.dumps([{"slug": slug} for slug in slugs]).decode()
        more = f'<a class="more" data-after="{after}">more</a>' if after else ""
        return Answer(f"<html><body><script>window.items = {state};</script>{more}{FILLER}</body></html>".encode())

    shop.says("/all", items("a", "b", after="b")).says("/all?after=b", items("c"))
    for slug in "abc":
        shop.says(f"/p/{slug}", product(slug))
    done = place(shop, tmp_path, catalogue=CATALOGUE).crawl("backfill")
    assert (done.summary.status, done.summary.outcomes) == ("complete", {Outcome.NEW: 3})
    assert done.walks() == {"catalogue /all": "closed"}


def test_catalogue_code_that_breaks_leaves_the_walk_incomplete_and_keeps_the_page(
    shop: ScriptedShop, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    shop.says("/all", listing("/p/1")).says("/p/1", product())
    done = place(shop, tmp_path, catalogue=CATALOGUE).crawl("backfill")
    assert (done.summary.status, done.summary.exit_code) == ("failed", ExitCode.PARTIAL)
    assert "page 1 failed; resumes there" in done.summary.reason
    assert re.search(r"/all: the page could not be read: .*catalogue\.py: line \d+: TypeError: ", caplog.text)
    (kept,) = (tmp_path / "failed" / "shop").glob("*.html")
    assert kept.read_bytes() == listing("/p/1").body


# --- a changed layout -------------------------------------------------------------------------------------------------

RULES = TOML.replace(
    'name = ["h1"]', 'name = ["h1"]\nprice = [".price", "xpath://b[@class=\'price\']"]\nbrand = [".brand"]'
)


def test_required_field_that_is_gone_is_told_with_its_selectors_and_where_the_page_is_kept(
    shop: ScriptedShop, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    shop.says("/all", listing("/p/1")).says("/p/1", plain("Mug"))
    here = place(shop, tmp_path, RULES + '[expect]\nrequired = ["name", "price", "brand"]\n')
    here.crawl("backfill")
    shop.says("/p/1", plain("Mug", brand=""))
    done = here.crawl("refresh")
    reason = done.visits()["/p/1"]["reason"]
    (kept,) = (tmp_path / "failed" / "shop").glob("*.html")
    said = "brand: the store requires it, and the page yields none (tried css:.brand)"
    assert reason == f"{said}; the page is kept: scrapy inspect --store shop {kept}"
    assert f"{shop.url}/p/1: invalid: {reason}" in caplog.text
    assert kept.read_bytes() == plain("Mug", brand="").body
    about = orjson.loads(kept.with_suffix(".json").read_bytes())
    assert (about["url"], about["reason"], about["headers"]) == (
        f"{shop.url}/p/1",
        said,
        {"content-type": "text/html"},
    )
    assert done.rows("SELECT brand, status FROM listings") == [{"brand": "Clay", "status": "active"}]


def test_page_on_which_no_product_is_found_is_told_with_all_that_was_tried(shop: ScriptedShop, tmp_path: Path) -> None:
    shop.says("/all", listing("/p/1")).says("/p/1", plain("Mug", price=""))
    done = place(shop, tmp_path, RULES).crawl("backfill")
    reason = done.visits()["/p/1"]["reason"]
    assert "(tried name: css:h1; price: css:.price, xpath://b[@class='price'])" in reason
    assert "; the page is kept: scrapy inspect --store shop " in reason


class Redesigning(ScriptedShop):
    """A shop that forgets the brand on its 12th and 14th product page, whichever these are."""

    def answer(self, asked: Asked) -> Answer:
        answer = super().answer(asked)
        forgets = asked.path.startswith("/p/") and len(self.paths("/p/")) in (12, 14)
        return plain(asked.path, brand="") if forgets else answer


def test_optional_field_that_all_pages_had_is_missed_aloud_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    paths = [f"/p/{number}" for number in range(14)]
    with Redesigning() as shop:
        shop.says("/all", listing(*paths))
        for path in paths:
            shop.says(path, plain(path))
        done = place(shop, tmp_path, RULES).crawl("backfill", CONCURRENT_REQUESTS_PER_DOMAIN=1)
    assert done.summary.outcomes == {Outcome.NEW: 14}
    (line,) = [record.getMessage() for record in caplog.records if "brand: not found here" in record.getMessage()]
    said = "brand: not found here, and on all 11 pages before (tried css:.brand); the page is kept: "
    assert said in line
    assert line.startswith(f"{shop.url}{shop.paths('/p/')[11]}: ")
    assert len(list((tmp_path / "failed" / "shop").glob("*.html"))) == 1


def test_field_that_no_page_has_is_told_at_the_end(
    shop: ScriptedShop, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    paths = [f"/p/{number}" for number in range(12)]
    shop.says("/all", listing(*paths))
    for path in paths:
        shop.says(path, plain(path, brand=""))
    with caplog.at_level(logging.WARNING):
        place(shop, tmp_path, RULES).crawl("backfill")
    assert "shop: not found on any of 12 pages: brand: css:.brand" in caplog.text
