"""A real shop engine, live: a django-oscar shop of 300 products, changed through its models between crawls."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from http.cookiejar import CookieJar
from pathlib import Path
from urllib.request import HTTPCookieProcessor, OpenerDirector, build_opener

import pytest

from storebot.core.normalise import Context, normalise
from storebot.core.page import Page
from storebot.core.parsing.reading import identity, read_product
from storebot.stores import load_store
from tests.crawls.forked import crawl_store
from tests.crawls.scrapy_process import ROOT, Crawl, Row, changes, listings
from tests.live.running import Edit, Offer, OscarShop

pytestmark = pytest.mark.timeout(400)  # the first test has all the crawls in it

BY_HAND = Path(__file__).with_name("stores")

# 7 prices (one of a parent's version, one that rises beyond 1,000), 4 titles, and 3 products that are sold out.
EDITS: tuple[Edit, ...] = (
    ("price", 6, "12.50"),
    ("price", 33, "0.99"),
    ("price", 77, "1150.00"),
    ("price", 120, "31.07"),
    ("price", 121, "45.00"),
    ("price", 255, "7.77"),
    ("price", 291, "64.20"),
    ("title", 33, 'O\'Brien & Sons "Grand" Käsehobel – 2 for £3'),  # whose price changes, too
    ("title", 50, "Pepper Mill <Solo>"),
    ("title", 160, "Ångström Чайник, rot"),
    ("title", 290, "Bowl in three sizes"),
    ("stock", 20, 0),
    ("stock", 100, 0),
    ("stock", 200, 0),
)
# Other quantities of what stays in stock, which a page says in so many words: "In stock (12 available)".
QUANTITIES: tuple[Edit, ...] = (("stock", 60, 4), ("stock", 62, 999), ("stock", 120, 1))
BACK: tuple[Edit, ...] = (("stock", 20, 5), ("stock", 100, 1), ("stock", 200, 40))
GONE: tuple[Edit, ...] = (("delete", 150, None), ("unpublish", 151, None))
NEW: tuple[Edit, ...] = (
    ("add", 300, ("Müsli & Milch bowl", "19.99")),
    ("add", 301, ('Bowl 6"', "1234.50")),
)
UNDELIVERED: Edit = ("add", 302, ("Ångström Bowl that nobody delivers", None))


@dataclass(frozen=True)
class Step:
    """One crawl, what the shop offered then, and what stood in the database afterwards."""

    crawl: Crawl
    offers: Mapping[str, Offer]
    rows: dict[tuple[str, str], Row]
    events: list[Row]


@dataclass(frozen=True)
class Crawled:
    """The shop's life, crawled by the file that `scrapy probe` wrote of it."""

    key: str  # what its URL keys begin with
    backfill: Step
    unchanged: Step
    changed: Step
    returned: Step
    found: Step

    def row(self, step: Step, path: str) -> Row:
        return step.rows[self.key + path.rstrip("/"), ""]


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OscarShop]:
    with OscarShop(tmp_path_factory.mktemp("oscar")) as running:
        yield running


@pytest.fixture(scope="module")
def crawled(shop: OscarShop, tmp_path_factory: pytest.TempPathFactory) -> Crawled:
    folder = tmp_path_factory.mktemp("crawls")
    probe(shop.url, folder / "stores")

    def run(phase: str) -> Step:
        database = folder / "store.db"
        done = crawl_store(phase, "probed", database=database, stores=folder / "stores", base_url=shop.url)
        return Step(done, shop.offers, listings(database), changes(database, int(done.fields["run"])))

    key = shop.url.replace("http:", "https:")
    backfill, unchanged = run("backfill"), run("refresh")
    shop.edit(*EDITS, *QUANTITIES)
    changed = run("refresh")
    shop.edit(*BACK, *GONE, *NEW)
    return Crawled(key, backfill, unchanged, changed, run("refresh"), run("backfill"))


def probe(url: str, stores: Path) -> None:
    """Have `scrapy probe` write the store file of a shop."""
    command = ("probe", f"{url}/", "--name", "probed", "--out", str(stores), "--delay", "0")
    done = subprocess.run(
        [sys.executable, "-m", "scrapy", *command],
        cwd=ROOT,
        env={**os.environ, "STOREBOT_STORES": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_product_is_found_with_its_name_price_and_stock(crawled: Crawled) -> None:
    step = crawled.backfill
    assert (step.crawl.exit_code, step.crawl.fields["status"]) == (0, "complete"), step.crawl.stderr
    assert step.crawl.count("new") == len(step.rows) == 300
    assert found(crawled, step) == dict(step.offers)


def test_tokens_cookies_and_boxes_of_what_was_viewed_are_no_change(crawled: Crawled) -> None:
    step = crawled.unchanged
    assert (step.crawl.exit_code, step.crawl.fields["status"]) == (0, "complete"), step.crawl.stderr
    assert step.crawl.count("unchanged") == step.crawl.count("checked") == 300
    assert (step.crawl.count("rows"), step.events) == (0, [])
    assert step.rows == crawled.backfill.rows


def test_pages_of_the_shop_are_never_the_same_twice(shop: OscarShop) -> None:
    visitor = build_opener(HTTPCookieProcessor(CookieJar()))
    path, other = list(shop.offers)[40:42]
    first, _, again = (look(visitor, shop.url + one) for one in (path, other, path))
    assert token(first) != token(again)
    assert b"recently viewed" not in first
    assert b"recently viewed" in again


def test_every_edit_is_a_change_and_nothing_else_is(crawled: Crawled) -> None:
    step, before = crawled.changed, crawled.unchanged
    expected = differences(before.offers, step.offers)
    assert sorted(name for fields in expected.values() for name in fields) == (
        ["availability"] * 3 + ["name"] * 4 + ["price_minor"] * 7
    )
    assert announced(crawled, step) == expected
    assert (step.crawl.count("changed"), step.crawl.count("changes"), step.crawl.count("rows")) == (13, 13, 13)
    assert step.crawl.count("unchanged") == 287
    assert found(crawled, step) == dict(step.offers)


def test_what_is_back_in_stock_is_the_only_change_when_others_go(crawled: Crawled) -> None:
    step, before = crawled.returned, crawled.changed
    expected = differences(before.offers, step.offers)
    assert [*expected.values()] == [{"availability": ("OutOfStock", "InStock")}] * 3
    assert announced(crawled, step) == expected
    assert {name: step.crawl.count(name) for name in ("changed", "missing", "unchanged")} == {
        "changed": 3,
        "missing": 2,
        "unchanged": 295,
    }


def test_a_deleted_and_an_unpublished_product_are_missing_with_what_was_known(crawled: Crawled) -> None:
    step, before = crawled.returned, crawled.changed
    gone = before.offers.keys() - step.offers.keys()
    assert len(gone) == 2
    for path in gone:
        row = crawled.row(step, path)
        assert (row["status"], row["name"]) == ("missing", before.offers[path].name)
        assert row["price_minor"] == before.offers[path].price_minor


def test_new_products_are_found_by_the_next_walk_of_the_catalogue(crawled: Crawled) -> None:
    step = crawled.found
    assert (step.crawl.exit_code, step.crawl.fields["status"]) == (0, "complete"), step.crawl.stderr
    assert (step.crawl.count("new"), step.crawl.count("checked")) == (2, 2)
    assert found(crawled, step) == dict(step.offers)


def test_a_file_by_hand_reads_even_what_has_no_price(crawled: Crawled, shop: OscarShop) -> None:
    """The box of what was viewed shows prices on that page: those of others."""
    shop.edit(UNDELIVERED)
    visitor = build_opener(HTTPCookieProcessor(CookieJar()))
    offers = [*list(shop.offers.items())[::15]]
    offers += [one for one in shop.offers.items() if one[1].price_minor is None]
    assert {path: read_by_hand(look(visitor, shop.url + path), shop.url + path) for path, _ in offers} == dict(offers)
    assert offers[-1][1] == Offer("Ångström Bowl that nobody delivers", None, None, "OutOfStock")


def differences(before: Mapping[str, Offer], after: Mapping[str, Offer]) -> dict[str, dict[str, tuple[object, object]]]:
    """Return what a customer sees changed, by path and field, of what was and is on sale."""
    pairs = {path: (before[path], after[path]) for path in before.keys() & after.keys()}
    return {
        path: {name: (getattr(old, name), getattr(new, name)) for name in Offer._fields if differs(old, new, name)}
        for path, (old, new) in pairs.items()
        if old != new
    }


def differs(old: Offer, new: Offer, name: str) -> bool:
    return bool(getattr(old, name) != getattr(new, name))


def announced(crawled: Crawled, step: Step) -> dict[str, dict[str, tuple[object, object]]]:
    """Return the change events of one crawl, by path and field; each is of one page, and of type "changed"."""
    assert {event["type"] for event in step.events} == {"changed"}
    events = {
        event["url_key"].removeprefix(crawled.key) + "/": {
            one["field"]: (one["before"], one["after"]) for one in json.loads(event["fields"])
        }
        for event in step.events
    }
    assert len(events) == len(step.events)
    return events


def found(crawled: Crawled, step: Step) -> dict[str, Offer]:
    """Return the listings that are active, as offers."""
    return {
        key.removeprefix(crawled.key) + "/": Offer(*(row[name] for name in Offer._fields))
        for (key, _), row in step.rows.items()
        if row["status"] == "active"
    }


def look(visitor: OpenerDirector, url: str) -> bytes:
    with visitor.open(url) as answer:
        body: bytes = answer.read()
    return body


def token(page: bytes) -> bytes:
    """Return the CSRF token in a page's form."""
    return page.partition(b'name="csrfmiddlewaretoken" value="')[2].partition(b'"')[0]


def read_by_hand(body: bytes, url: str) -> Offer:
    store = load_store("oscar", [str(BY_HAND)])
    page = Page(url=url, body=body, headers={"content-type": "text/html; charset=utf-8"})
    reading = read_product(page, store.rules)
    assert identity(reading)
    (extracted,) = reading.extracted
    listing, _ = normalise(extracted, Context(store="oscar", url_key=url, url=url, currency="GBP"))
    currency = listing.currency if listing.price_minor is not None else None  # a store file's word stands without one
    return Offer(listing.name or "", listing.price_minor, currency, str(listing.availability))
