"""Products that a feed carries, as the visits of their pages."""

from __future__ import annotations

from pathlib import Path

import pytest

from storebot.core.parsing.platforms.carried import CarriedProduct, record
from storebot.items import Outcome
from storebot.spiders.carrying import Carrier
from tests.stores.writing import LEAST, read


@pytest.fixture
def carrier(tmp_path: Path) -> Carrier:
    return Carrier(read(tmp_path, LEAST + '[product]\ncurrency = "EUR"\n'), "shopify")


def product(url: str, **values: str) -> CarriedProduct:
    return CarriedProduct(url=url, extracted=(record("shopify", **{"name": "Mug", "price": "5.00", **values}),))


def test_a_carried_product_is_a_visit_of_its_page_without_a_request(carrier: Carrier) -> None:
    base = carrier.store.base_url
    found, (visit,) = carrier.visits([product(f"{base}/p/1?utm_source=x")], 7, "f" * 64)
    assert [one.url_key for one in found] == [visit.target.url_key]
    assert visit.target.url_key.endswith("/p/1")
    assert (visit.requests, visit.source, visit.outcome, visit.at_ms) == (0, "shopify", None, 7)
    assert (visit.listings[0].price_minor, visit.page_sha256) == (500, "f" * 64)
    assert visit.content_hash
    assert visit.details_hash


def test_a_product_without_a_name_is_invalid(carrier: Carrier) -> None:
    _, (visit,) = carrier.visits([product(f"{carrier.store.base_url}/p/1", name="")], 7, "")
    assert (visit.outcome, visit.listings) == (Outcome.INVALID, ())
    assert "the page yields no name" in visit.reason


def test_what_is_not_the_stores_is_seen_and_not_visited(carrier: Carrier) -> None:
    base = carrier.store.base_url
    products = [product(url) for url in (f"{base}/p/1", f"{base}/gift-card", "https://other.example/p/1", "http://[")]
    assert len(carrier.keys(products)) == carrier.count == 3
    found, visits = carrier.visits(products, 7, "")
    assert len(found) == len(visits) == 1


def test_each_page_is_visited_once_and_one_without_a_record_is_only_named(carrier: Carrier) -> None:
    base = carrier.store.base_url
    assert len(carrier.visits([product(f"{base}/p/1")], 7, "")[1]) == 1
    found, visits = carrier.visits([product(f"{base}/p/1"), CarriedProduct(url=f"{base}/p/2", extracted=())], 8, "")
    assert (len(found), visits) == (2, ())
