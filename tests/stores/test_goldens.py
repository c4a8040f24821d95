"""What a golden holds, where it lies, and how a difference is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from storebot.exceptions import ConfigurationError
from storebot.stores import Store, load_store, saved_pages
from storebot.stores.goldens import accepted, difference, goldens, pages_folder, reading, saved
from tests.scripted import challenge
from tests.stores.coding import coded, page
from tests.stores.writing import LEAST, read

TOML = LEAST + "[catalogue]\nurl = '/all'\n[product]\nname = ['h1']\nprice = ['.price']\ncurrency = 'EUR'\n"
BODY = '<h1>Mug</h1><p class="price">19,90</p>'


def kept(store: Store, body: str = BODY) -> Path:
    folder = pages_folder(store)
    assert folder is not None
    return saved_pages.write(folder, "mug", page(body), saved(store, page(body)), compress=True)


def test_record_is_what_a_person_would_look_at(tmp_path: Path) -> None:
    assert reading(read(tmp_path, TOML), page(BODY)) == {
        "key": "https://shop.example/p/1",
        "listings": [{"name": "Mug", "price": "19.90", "currency": "EUR"}],
    }


def test_page_that_is_no_product_page_is_one_of_the_catalogue(tmp_path: Path) -> None:
    found = reading(read(tmp_path, TOML), page('<a href="/p/1">', "https://shop.example/all"))
    assert found == {"links": ["https://shop.example/p/1"], "next": None}


def test_pages_of_an_own_store_lie_beside_its_file_and_those_of_the_project_in_its_tests(tmp_path: Path) -> None:
    assert pages_folder(read(tmp_path, TOML)) == tmp_path / "acme" / "pages"
    assert pages_folder(load_store("books")) == Path(__file__).parent / "books"


def test_new_golden_is_not_reviewed_and_an_accepted_one_is(tmp_path: Path) -> None:
    store = read(tmp_path, TOML)
    path = kept(store)
    (golden,) = goldens(store)
    assert (golden.reviewed, golden.differences(), golden.id) == (False, [], "mug")
    saved_pages.write_facts(path, accepted(golden))
    (golden,) = goldens(store)
    assert (golden.reviewed, golden.differences()) == (True, [])


def test_changed_rule_shows_as_a_line_for_each_value(tmp_path: Path) -> None:
    kept(read(tmp_path, TOML))
    store = read(tmp_path, TOML.replace("EUR", "GBP") + "brand = ['.price']\n")
    (golden,) = goldens(store)
    assert golden.differences() == [
        "listings[0].currency: expected 'EUR', got 'GBP'",
        "listings[0].brand: expected nothing, got '19,90'",
    ]


def test_difference_names_the_place_of_each_value() -> None:
    expected = {"url": "x", "reviewed": True, "listings": [{"name": "A", "options": {"size": "S"}}], "links": ["a"]}
    got = {"listings": [{"name": "B", "options": {"size": "L"}}, {"name": "C"}], "links": ["a", "b"]}
    assert difference(expected, got) == [
        "listings[0].name: expected 'A', got 'B'",
        "listings[0].options.size: expected 'S', got 'L'",
        "listings[1]: expected nothing, got {'name': 'C'}",
        "links: expected ['a'], got ['a', 'b']",
    ]
    assert difference(expected, expected) == []


def test_block_page_is_never_saved(tmp_path: Path) -> None:
    blocked = page(challenge().body.decode())
    blocked.status = 403
    with pytest.raises(ConfigurationError, match="is a block page"):
        saved(read(tmp_path, TOML), blocked)


def test_code_that_breaks_is_the_difference(tmp_path: Path) -> None:
    kept(read(tmp_path, TOML))
    store = coded(tmp_path, "SELECTORS = {}\ndef product(page, select): return 1 / 0\n", toml=TOML)
    (golden,) = goldens(store)
    lines = golden.differences()
    assert any(line.startswith("listings[0]: expected {'name'") for line in lines)
    assert any("product.py: line 3: ZeroDivisionError" in line for line in lines)
