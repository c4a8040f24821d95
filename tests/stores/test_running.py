"""What a store's own code returns becomes one source of the page; what goes wrong in it becomes a sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from storebot.core.inspection import inspection
from storebot.core.page import MAX_BYTES, Page
from storebot.core.parsing.reading import Reading, identity, read_product
from storebot.stores import Store
from tests.stores.coding import URL, coded, page
from tests.stores.writing import LEAST
from tests.stores.writing import read as written_store

DECIMAL = "__import__('decimal').Decimal"
EURO = LEAST + "[product]\ncurrency = 'EUR'\n"
SHOWN = '<h1>A mug</h1><p class="price">19,90</p><p class="brand">Clay</p>'
LD = """<script type="application/ld+json">{"@type": "Product", "name": "Mug of JSON-LD", "sku": "J1",
"offers": {"@type": "Offer", "price": "25.00", "priceCurrency": "EUR", "availability": "InStock"}}</script>"""


def store(folder: Path, returned: str, selectors: str = '{"name": "h1", "price": ".price"}', toml: str = EURO) -> Store:
    return coded(folder, f"SELECTORS = {selectors}\n\n\ndef product(page, select):\n    return {returned}\n", toml=toml)


def read(made: Store, body: str = SHOWN) -> Reading:
    return read_product(page(body), made.rules)


def records(made: Store, body: str = SHOWN) -> list[dict[str, Any]]:
    context = made.context(url=URL, url_key=URL)
    found: list[dict[str, Any]] = inspection(page(body), made.rules, context)["listings"]
    return found


def test_record_says_which_selector_of_the_code_won(tmp_path: Path) -> None:
    made = store(tmp_path, 'Product(name=select("name"), price=select("price"), brand="Clay")')
    (record,) = records(made)
    assert (record["name"], record["price"], record["brand"]) == ("A mug", "19.90", "Clay")
    sources = record["field_source"]
    assert (sources["name"], sources["price"]) == ("product.py css:h1", "product.py css:.price")
    assert (sources["brand"], sources["currency"]) == ("product.py", "declared")


def test_code_comes_first_field_by_field_and_what_it_leaves_out_comes_from_the_page(tmp_path: Path) -> None:
    made = store(tmp_path, 'Product(name=select("name"), price=select("price"))')
    (record,) = records(made, LD + SHOWN)
    assert (record["name"], record["price"]) == ("A mug", "19.90")
    assert (record["sku"], record["availability"]) == ("J1", "InStock")
    assert record["field_source"]["sku"] == "jsonld"
    (flagged,) = record["disagreements"]
    assert flagged == {"field": "price", "values": {"product.py css:.price": "19,90", "jsonld": "25.00"}}


def test_code_that_says_nothing_leaves_the_page_to_the_other_sources(tmp_path: Path) -> None:
    for nothing in ("Product()", "[]", "Product(name='  ', images=[])"):
        (record,) = records(store(tmp_path, nothing), LD)
        assert (record["name"], record["price"]) == ("Mug of JSON-LD", "25.00")


@pytest.mark.parametrize("decimal", ["", "decimal = ','\n", "decimal = '.'\n"])
def test_number_has_a_decimal_point_whatever_the_shop_writes_on_its_pages(tmp_path: Path, decimal: str) -> None:
    for price, minor in (
        (f"price={DECIMAL}(123499) / 100", 123499),
        ("price=12", 1200),
        (f"price={DECIMAL}('1.5')", 150),
    ):
        made = store(tmp_path, f'Product(name="A", {price})', toml=EURO + decimal)
        (record,) = records(made)
        assert (record["price_minor"], record["field_source"]["price"]) == (minor, "product.py (a number)")


def test_text_of_the_code_is_read_as_the_shop_writes_prices(tmp_path: Path) -> None:
    made = store(tmp_path, 'Product(name="A", price="1.234,50 €")', toml=EURO + "decimal = ','\n")
    assert records(made)[0]["price"] == "1234.50"


def test_variants_are_listings_with_what_their_product_says_but_its_codes(tmp_path: Path) -> None:
    made = store(
        tmp_path,
        'Product(name="A mug", brand="Clay", sku="M", price="5.00", regular_price="9.00", availability="InStock",'
        ' variants=[Variant(sku="M-S", options={"size": "S"}),'
        ' Variant(sku="M-L", options={"size": "L"}, price="7.00", availability="OutOfStock")])',
    )
    small, large = records(made)
    assert (small["variant_id"], small["price"], small["regular_price"]) == ("M-S", "5.00", "9.00")
    assert (large["variant_id"], large["price"], large["regular_price"]) == ("M-L", "7.00", None)
    assert (small["availability"], large["availability"]) == ("InStock", "OutOfStock")
    assert small["brand"] == large["brand"] == "Clay"
    assert small["item_group_id"] == large["item_group_id"] == "M"
    assert small["options"] == {"size": "S"}


def test_variants_of_the_code_win_over_the_one_offer_of_the_structured_data(tmp_path: Path) -> None:
    variants = 'Product(variants=[Variant(sku="a", price="5.00"), Variant(sku="b", price="6.00")])'
    assert [(one["sku"], one["price"], one["name"]) for one in records(store(tmp_path, variants), LD)] == [
        ("a", "5.00", "Mug of JSON-LD"),
        ("b", "6.00", "Mug of JSON-LD"),
    ]


def test_several_products_are_several_listings(tmp_path: Path) -> None:
    made = store(tmp_path, '[Product(variant_id=n, name=n, price="5.00") for n in ("a", "b")]')
    assert [(one["variant_id"], one["name"]) for one in records(made)] == [("a", "a"), ("b", "b")]


def test_variants_are_told_apart_by_what_differs(tmp_path: Path) -> None:
    one = 'Product(name="A", price="1.00", variants=[Variant({}), Variant({})])'
    for first, second, ids in (
        ('url="?v=1"', 'url="?v=2"', ["1", "2"]),
        ('options={"size": "S"}', 'options={"size": "L"}', ["size=S", "size=L"]),
        ("variant_id=7", "variant_id=8", ["7", "8"]),
    ):
        assert [found["variant_id"] for found in records(store(tmp_path, one.format(first, second)))] == ids


FAILURES = [
    ("1 / 0", "line 6: ZeroDivisionError: division by zero"),
    ('Product(name=select("nam"))', "line 6: LookupError: SELECTORS has no 'nam' (did you mean 'name'?)"),
    ("None", "expected product() to return a Product, or a list of them, got nothing: is there a `return`?"),
    ("{}", "expected product() to return a Product, or a list of them, got a dict"),
    ("[Product(), 7]", "expected product() to return a Product, or a list of them; in its list is a int"),
    ('Product(titel="A")', "line 6: titel: unknown field"),
    ('Product(nam="A")', "line 6: nam: unknown field (did you mean 'name'?)"),
    ("Product(price=19.9)", "line 6: price: expected a price as the page shows it, or a Decimal or whole number"),
    ("Product(name=['A'])", "line 6: name: expected text, got a list of 1"),
    ("Product(name=True)", "line 6: name: expected text, got the boolean true"),
    ("Product(images='/a.jpg')", "line 6: images: expected a list of texts, got the text"),
    ("Product(options=['S'])", "line 6: options: expected the options by name, such as"),
    ("Product(variants=[Variant(price='1'), Variant(price='2')])", "nothing tells the 2 variants apart: give each"),
    ("[Product(variant_id='a'), Product(variant_id='a')]", "nothing tells the 2 variants apart"),
    ("[Product(variant_id='a', price=1), Product(variant_id='b', price='2')]", "price: expected text for all"),
]


@pytest.mark.parametrize(("returned", "said"), FAILURES)
def test_what_goes_wrong_is_one_line_with_file_and_line(tmp_path: Path, returned: str, said: str) -> None:
    made = store(tmp_path, returned)
    reading = read(made, LD + SHOWN)
    path = tmp_path / "acme" / "product.py"
    assert reading.failure.startswith(f"{path}: {said}")
    assert "\n" not in reading.failure
    assert next(problem for problem in reading.problems if problem.field == "product.py").reason == reading.failure
    assert identity(reading)  # the page is no block page for that
    assert records(made, LD + SHOWN) == []  # and what the other sources say isn't shown as if it were right


def test_deep_recursion_is_a_failure_like_any_other(tmp_path: Path) -> None:
    made = store(tmp_path, "product(page, select)")
    assert "RecursionError" in read(made).failure


def catalogue(folder: Path, returned: str) -> Store:
    code = f'SELECTORS = {{"links": ".item::attr(href)"}}\n\n\ndef catalogue(page, select):\n    return {returned}\n'
    return coded(folder, code, "catalogue", LEAST + "[catalogue]\nurl = '/all'\n")


LIST = '<a class="item" href="/p/1">1</a><a class="item" href="/p/2#x">2</a><a class="item" href="/c/2">c</a>'


def test_catalogue_code_names_links_of_which_product_url_decides(tmp_path: Path) -> None:
    made = catalogue(tmp_path, 'Catalogue(links=[*select.all("links"), "/p/1", "mailto:x"], next="/all?after=2")')
    found = made.read_catalogue(page(LIST, "https://shop.example/all"))
    assert found == (["https://shop.example/p/1", "https://shop.example/p/2"], "https://shop.example/all?after=2", "")


@pytest.mark.parametrize(
    ("returned", "said"),
    [
        ("select('link')", "line 6: LookupError: "),
        ("[]", "expected catalogue() to return a Catalogue, got a list"),
        ("Catalogue(next='javascript:more()')", "next: expected an address, got the text"),
        ("Catalogue(links='/p/1')", "line 6: links: expected a list of texts, got the text"),
    ],
)
def test_failure_of_the_catalogue_code_is_one_line_too(tmp_path: Path, returned: str, said: str) -> None:
    found = catalogue(tmp_path, returned).read_catalogue(page(LIST))
    assert found.failure.startswith(f"{tmp_path / 'acme' / 'catalogue.py'}: {said}")
    assert not found.links


def test_decimal_is_written_out_and_never_as_an_exponent(tmp_path: Path) -> None:
    (found,) = read(store(tmp_path, f'Product(name="A", price={DECIMAL}("12E2"))')).extracted
    assert found.values["price"] == "1200"


def test_a_catalogue_page_that_is_too_large_is_a_failure_and_no_empty_page(tmp_path: Path) -> None:
    made = catalogue(tmp_path, 'Catalogue(links=["/p/1"])')
    found = made.read_catalogue(Page(url=URL, body=b"<a href=/p/1>" + b" " * MAX_BYTES))
    assert found == ((), None, "the page has 8,388,621 bytes: more than 8,388,608 aren't read")


def test_a_catalogue_page_that_links_to_a_list_without_end_is_a_failure(tmp_path: Path) -> None:
    made = written_store(tmp_path, LEAST + "[catalogue]\nurl = '/all'\n")
    body = "".join(f"<a href=/p/{number}>" for number in range(20_000))
    assert made.read_catalogue(page(body)).failure == "it links to 20,000 products or more"
