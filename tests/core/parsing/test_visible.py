"""What is on show counts last, and makes no product of a page that sells none."""

from __future__ import annotations

import time

import pytest

from storebot.core.availability import read_availability
from storebot.core.page import Page
from storebot.core.parsing.reading import Reading, identity, read_product
from storebot.core.parsing.rules import ProductRules
from storebot.items import Disagreement
from tests.core.parsing.pages import UTF8, builds_a_tree, only, page, product, read, script

BUY = "<button>Add to cart</button>"
HEAD = "<title>Drill 500 | Shop</title>"


def shown(body: str, head: str = HEAD, url: str = "https://shop.example/p/a1") -> Reading:
    return read_product(page(body, head, url), ProductRules())


def price_of(body: str, **given: str) -> tuple[object, str]:
    reading = shown(body, **given)
    if not reading.extracted:
        return None, ""
    found = only(reading)
    return found.values.get("price"), found.sources.get("price", "")


def test_a_name_a_price_and_a_buy_button_are_a_product_with_their_own_sources() -> None:
    reading = shown(f"<div><h1>Drill 500</h1><p class=price>49,90 €</p>{BUY}</div>")
    found = only(reading)
    assert (found.values["name"], found.values["price"]) == ("Drill 500", "49,90 €")
    assert (found.sources["name"], found.sources["price"]) == ("visible:h1", "visible:price")
    assert (found.values["availability"], found.sources["availability"]) == ("InStock", "visible:button")
    assert identity(reading)


def test_a_button_that_takes_orders_in_advance_says_so() -> None:
    found = only(shown("<div><h1>Drill 500</h1><p class=price>49,90 €</p><button>Pre-order now</button></div>"))
    assert (found.values["availability"], found.sources["availability"]) == ("Pre-order now", "visible:button")


@pytest.mark.parametrize(
    "body",
    [
        "<h1>Drill 500</h1><p class=price>49,90 €</p>",
        f"<h1>Drill 500</h1>{BUY}",
        f"<p class=price>49,90 €</p>{BUY}",
        f"<h1>Drill 500</h1><p>Free delivery on all orders over 49,90 €</p>{BUY}",
        f"<h1>Drill 500</h1><footer><p class=price>49,90 €</p></footer>{BUY}",
    ],
    ids=["no button", "no price", "no name", "a sentence", "a footer"],
)
def test_less_than_the_three_is_no_product(body: str) -> None:
    reading = shown(body)
    assert reading.extracted == ()
    assert not identity(reading)


def test_a_category_of_tiles_is_no_product_however_few_they_are() -> None:
    tile = '<li><a class=product-item-link href="/p/{0}">Drill {0}</a><b class=price>{0},00 €</b>' + BUY
    for tiles in ((10,), (10, 20), (10, 20, 30)):
        reading = shown("<h1>Drill 500</h1><ul>" + "".join(tile.format(one) for one in tiles) + "</ul>")
        assert not identity(reading)


@pytest.mark.parametrize(
    ("beside", "price"),
    [
        ("<s>60,00 €</s> <b>49,90 €</b>", "49,90 €"),
        ('<span class="old-price">60,00 €</span> <span class="special-price">49,90 €</span>', "49,90 €"),
        ("<p>bez DPH <b>41,58 €</b></p><p>s DPH <b>49,90 €</b></p>", "49,90 €"),
        ("<b>49,90 €</b> <small>499,00 € / kg</small>", "49,90 €"),
        ("<b>49,90 €</b> <i>4 x 12,48 €</i>", "49,90 €"),
        ("<b><span>€</span><span>49</span><sup>90</sup></b>", "€49.90"),
        ('$<span class="price">49.90</span>', "$49.90"),
        ("<p class=price-new>49<sup>90</sup> €</p><p>Rate de la 8<sup>50</sup> €</p>", "49.90 €"),
        ('<b class="line-through">60,00 €</b> <b>49,90 €</b>', "49,90 €"),
        ('<b class="compare_price">60,00 €</b> <b>49,90 €</b>', "49,90 €"),
        ("<p class=price-new>49,90 €</p><p><b>incl. shipping</b> <i>55,80 €</i></p>", "49,90 €"),
        ("<b>49,90 €</b> <button>XL <i>59,90 €</i></button>", "49,90 €"),
        ("<b>49,90 €</b> <i>+20,00 €</i>", "49,90 €"),
        ("<p>Cena: <b>49,90 €</b></p><p>Bonus <b>1,09 €</b></p>", "Cena: 49,90 €"),
        ('<b>49,90 €</b><b class="sr-only">Original price 60,00 €</b>', "49,90 €"),
        ("<b>49,90 €</b><b hidden>60,00 €</b>", "49,90 €"),
        ('<div class="reviews-and-prices"><b>49,90 €</b></div>', "49,90 €"),
    ],
    ids=[
        *("struck", "old and special", "net and gross", "per unit", "instalments", "raised cents", "sign outside"),
        *("raised cents of two", "struck by class", "compared with", "with the delivery", "on a button", "an extra"),
        *("labelled", "for screen readers", "hidden", "beside reviews"),
    ],
)
def test_the_price_is_the_one_that_a_buyer_pays(beside: str, price: str) -> None:
    found, source = price_of(f"<div><h1>Drill 500</h1><div>{beside}</div>{BUY}</div>")
    assert (str(found).removeprefix("s DPH "), source) == (price, "visible:price")


def test_prices_that_nothing_decides_between_are_none() -> None:
    assert price_of(f"<div><h1>Drill 500</h1><b>49,90 €</b><b>59,90 €</b>{BUY}</div>") == (None, "")


@pytest.mark.parametrize(
    ("beside", "price", "regular"),
    [
        (  # V09
            '<span class="price-box__price">6 290 Kč</span><span class="installment price">202 Kč/měs.</span>',
            "6 290 Kč",
            None,
        ),
        (  # V10
            "<b class=price>764,00 €</b> <s>955,00 €</s> <p>Lowest price in 30 days: 788,00 €</p>"
            "<p>with coupon 720,00 €</p>",
            "764,00 €",
            "955,00 €",
        ),
        (  # V11
            '<p class="price"><del aria-hidden="true">€20.00</del>'
            '<span class="screen-reader-text">Original price was: $22.00.</span><ins aria-hidden="true">€16.00</ins>'
            '<span class="screen-reader-text">Current price is: $18.00.</span></p>',
            "€16.00",
            "€20.00",
        ),
        ('<span class="price">$1.299<sup>90</sup></span>', "$1.299 90", None),  # V12
        ('<span class="price">19<span class="frac">99</span></span>', "19.99", None),  # V12
        ("<p>€ 8.30 / kg</p><p>€2.49 incl.</p>", "€2.49 incl.", None),  # V18
        ("<p>€100.00 excl. VAT</p><p>€121.00 incl. VAT</p>", "€121.00 incl. VAT", None),  # V18
        ("<p class=price>120,00 €</p><p>12 x 10,00 €</p><p>Free shipping from 50 €</p>", "120,00 €", None),
        ("<p class=price>120,00 €</p><p>UVP <i>150,00 €</i></p>", "120,00 €", "UVP 150,00 €"),
        ("<p class=price>120,00 €</p><p class=uvp>150,00 €</p>", "120,00 €", "150,00 €"),
    ],
)
def test_other_amounts_that_shops_print_beside_a_price_are_not_taken_for_it(
    beside: str, price: str, regular: str | None
) -> None:
    found = only(shown(f"<div><h1>Drill 500</h1><div>{beside}</div>{BUY}</div>"))
    assert (found.values.get("price"), found.values.get("regular_price")) == (price, regular)


def test_the_total_of_a_cart_is_no_price() -> None:
    cart = "<div class=minicart>Cart <b>49,90 €</b></div><header><a href=/cart>Cart 0,00 €</a></header>"
    assert price_of(f"{cart}<div><h1>Drill 500</h1>{BUY}</div>") == (None, "")
    assert price_of(f"{cart}<div><h1>Drill 500</h1><b>59,90 €</b>{BUY}</div>") == ("59,90 €", "visible:price")


def test_an_amount_by_the_name_that_the_buy_button_contradicts_is_none() -> None:
    top = "<div><div><h1>Drill 500</h1><p>Bonus value <b>39,90 €</b></p></div>"
    assert price_of(f"{top}<div><b>49,90 €</b>{BUY}</div></div>") == (None, "")


def test_several_amounts_of_which_none_is_the_structured_price_contradict_it() -> None:
    found = only(read(product(), body=f"<div><h1>Drill</h1><b>49,90 €</b><b>59,90 €</b>{BUY}</div>"))
    said = {"jsonld": "99.00", "visible:price": "49,90 € | 59,90 €"}
    assert (found.values["price"], found.disagreements) == ("99.00", (Disagreement("price", said),))
    among = only(read(product(), body=f"<div><h1>Drill</h1><b>99,00 €</b><b>59,90 €</b>{BUY}</div>"))
    assert among.disagreements == ()


def test_a_price_on_show_that_no_variant_has_contradicts_them() -> None:
    variants = [{"@type": "Offer", "sku": "S", "price": "7"}, {"@type": "Offer", "sku": "M", "price": "8"}]
    found = read(product(offers=variants), body=f"<div><h1>Drill</h1><b>9,00 €</b>{BUY}</div>").extracted
    assert [[said.field for said in one.disagreements] for one in found] == [["price"], ["price"]]


def test_evidence_of_two_kinds_for_two_amounts_decides_nothing() -> None:
    beside = f'<p class="price-new">49,90 €</p><div><p>59,90 €</p>{BUY}</div>'
    assert price_of(f"<div><h1>Drill 500</h1>{beside}</div>") == (None, "")


def test_two_ends_of_a_range_are_a_range_and_no_price() -> None:
    body = f"<div><h1>Drill 500</h1><p class=price><b>8,00 €</b> – <b>32,00 €</b></p>{BUY}</div>"
    assert price_of(body) == ("8,00 € – 32,00 €", "visible:price")
    assert price_of(f"<div><h1>Drill 500</h1><p class=price>from 8,00 €</p>{BUY}</div>")[0] == "from 8,00 €"


def test_the_lowest_of_several_prices_says_nothing_against_the_structured_one() -> None:
    data = product(offers={"price": "9.90", "priceCurrency": "EUR"})
    found = only(read(data, body=f"<div><h1>Drill</h1><p class=price>from 8,00 €</p>{BUY}</div>"))
    assert (found.values["price"], found.disagreements) == ("9.90", ())


def test_an_amount_in_another_currency_than_the_pages_is_no_rival() -> None:
    data = product(offers={"priceCurrency": "GBP"})
    body = f"<div><h1>Drill</h1><p class=price>GBP 1.99</p><p class=price>US $2.66</p>{BUY}</div>"
    assert only(read(data, body=body)).values["price"] == "GBP 1.99"


def test_a_page_of_a_products_class_needs_no_button() -> None:
    html = '<!doctype html><title>Drill 500</title><body class="single single-product"><h1>Drill 500</h1>'
    shop = Page(url="https://shop.example/p/1", body=f"{html}<p class=price>49,90 €</p>".encode(), headers=UTF8)
    reading = read_product(shop, ProductRules())
    assert identity(reading)
    assert "availability" not in only(reading).values
    listing = Page(url=shop.url, body=shop.body.replace(b"single-product", b"archive-product"), headers=UTF8)
    assert not identity(read_product(listing, ProductRules()))


@pytest.mark.parametrize(
    ("title", "headings", "name"),
    [
        ("Drill 500 | Shop", "<h1>Shop Example</h1><h1>Drill 500</h1>", "Drill 500"),
        ("Saw and Drill 500", "<h3>Saw</h3><h1>Drill 500 (Saw)</h1>", "Drill 500 (Saw)"),
        ("Buy Drill 500 blue", "<h1>Your cart</h1><h1>Drill 500 - blue</h1><h2>Drill 500</h2>", "Drill 500 - blue"),
        ("Drill 500", "<h1>Drill 500<span class=offleft> Details</span></h1>", "Drill 500"),
        ("Buy Drill 500", "<span data-test=product-title>Drill 500</span>", "Drill 500"),
    ],
    ids=["the shop's name", "other words", "another order", "hidden", "marked for tests"],
)
def test_the_name_is_the_heading_that_the_title_speaks_of(title: str, headings: str, name: str) -> None:
    body = f"<div>{headings}<p class=price>49,90 €</p>{BUY}</div>"
    assert only(shown(body, head=f"<title>{title}</title>")).values["name"] == name


def test_a_class_that_says_how_a_product_is_sent_hides_nothing() -> None:
    body = f'<h1>Drill 500</h1><div class="product shipping-taxable"><p class=price>49,90 €</p>{BUY}</div>'
    assert price_of(body) == ("49,90 €", "visible:price")
    assert price_of(body.replace("shipping-taxable", "shipping-costs")) == (None, "")


def test_the_price_of_another_product_is_not_taken() -> None:
    other = '<div><a href="/p/b2"><h3>Saw</h3></a><b class=price>9,90 €</b></div>'
    assert price_of(f"<div><h1>Drill 500</h1><b>49,90 €</b>{BUY}{other}</div>") == ("49,90 €", "visible:price")


def test_the_price_of_a_tile_whose_picture_and_name_lead_to_one_page_is_not_taken() -> None:
    tile = '<li><a href="/p/b2"><img src=b2.jpg></a><h3><a href="/p/b2">Saw</a></h3><p class=price>9,90 €</p>' + BUY
    tail = f"<form class=add-to-basket><button>Notify me</button></form></div><ul>{tile}</ul>"
    assert price_of(f"<div><h1>Drill 500</h1>{tail}") == (None, "")
    priced = (
        f"<div><h1>Drill 500</h1><p class=price>49,90 €</p><p class=availability>Available</p></div><ul>{tile}</ul>"
    )
    assert price_of(priced) == ("49,90 €", "visible:price")  # which the tile's own button contradicts


@pytest.mark.parametrize(("line", "term"), [("In stock (12 available)", "InStock"), ("Unavailable", "OutOfStock")])
def test_a_line_of_stock_behind_an_icon_makes_a_product_of_a_page_without_a_button(line: str, term: str) -> None:
    stock = f'<p class="instock availability">\n<i class="fas fa-ban"></i>\n{line}\n</p>'
    reading = shown(f"<div><h1>Drill 500</h1><p class=price>49,90 €</p>{stock}</div>")
    assert identity(reading)
    assert (only(reading).values["availability"], only(reading).sources["availability"]) == (line, "visible:stock")
    assert read_availability(line) == term
    unmarked = stock.replace("instock availability", "note")
    assert not identity(shown(f"<div><h1>Drill 500</h1><p class=price>49,90 €</p>{unmarked}</div>"))


def test_a_name_that_looks_like_an_amount_is_no_price() -> None:
    reading = read({"@type": "Product", "name": "Ft 108r"}, body="<h1>Ft 108r</h1><h2>Ft 108 E</h2>")
    assert "price" not in only(reading).values


def test_a_price_on_show_that_differs_is_flagged_and_the_structured_one_stays() -> None:
    data = product(offers={"price": "59.90"})  # no currency: not enough alone
    found = only(read(data, body=f"<div><h1>Drill</h1><b>49,90 €</b>{BUY}</div>"))
    assert (found.values["price"], found.sources["price"]) == ("59.90", "jsonld")
    assert found.disagreements == (Disagreement("price", {"jsonld": "59.90", "visible": "49,90 €"}),)


def test_a_structured_price_that_is_crossed_out_on_show_is_the_regular_one() -> None:
    data = product(offers={"price": "59.90"})
    found = only(read(data, body=f"<div><h1>Drill</h1><s>59,90 €</s><b>49,90 €</b>{BUY}</div>"))
    assert (found.values["price"], found.values["regular_price"]) == ("49,90 €", "59,90 €")
    assert found.disagreements == (Disagreement("price", {"jsonld": "59.90", "visible:price": "49,90 €"}),)


def test_two_amounts_in_one_structured_price_yield_to_the_one_on_show() -> None:
    body = (
        "<div itemscope itemtype=https://schema.org/Product><h1 itemprop=name>Drill</h1><div itemprop=offers itemscope>"
    )
    body += f"<p itemprop=price><b>49,90 €</b> <s>59,90 €</s></p></div>{BUY}</div>"
    found = only(read(body=body))
    assert (found.values["price"], [one.field for one in found.disagreements]) == ("49,90 €", ["price"])


def test_variants_keep_their_own_prices() -> None:
    variants = [{"@type": "Offer", "sku": "S", "price": "7"}, {"@type": "Offer", "sku": "M", "price": "8"}]
    found = read(product(offers=variants), body=f"<div><h1>Drill</h1><b>7,00 €</b>{BUY}</div>").extracted
    assert sorted(str(one.values["price"]) for one in found) == ["7", "8"]


def test_json_ld_whose_price_the_page_plainly_shows_builds_no_tree() -> None:
    complete = page(f"<h1>Drill</h1><b>99,00 €</b>{BUY}", script(product()))
    found = only(read_product(complete, ProductRules()))
    assert (found.values["price"], found.disagreements, builds_a_tree(complete)) == ("99.00", (), False)


def test_json_ld_whose_price_the_page_contradicts_stays_and_is_flagged() -> None:
    found = only(read(product(), body=f"<div><h1>Drill</h1><b>49,90 €</b>{BUY}</div>"))
    assert (found.values["price"], found.sources["price"]) == ("99.00", "jsonld")
    assert found.disagreements == (Disagreement("price", {"jsonld": "99.00", "visible": "49,90 €"}),)


@pytest.mark.parametrize(
    ("markup", "name", "value"),
    [
        ("<p>EAN: 4006381333931</p>", "gtin", "4006381333931"),
        ("<table><tr><th>Brand</th><td>Acme</td></tr></table>", "brand", "Acme"),
        ("<dl><dt>Part number</dt><dd>X-1</dd></dl>", "mpn", "X-1"),
        ("<div><div><span>Бренд:</span></div><div>Acme</div></div>", "brand", "Acme"),
        ("<li><strong>Product Code - </strong>39139301</li>", "sku", "39139301"),
        ("<p><b>SKU</b> <i>AR_Fan-HAT</i></p>", "sku", "AR_Fan-HAT"),
        ("<p class=stock>Out of stock</p>", "availability", "Out of stock"),
    ],
)
def test_labelled_codes_and_stock_fill_what_no_source_says(markup: str, name: str, value: str) -> None:
    found = only(read({"@type": "Product", "name": "Drill"}, body=f"<h1>Drill</h1>{markup}"))
    assert found.values[name] == value
    assert found.sources[name] in ("visible:label", "visible:stock")


def test_a_list_with_one_marked_price_is_no_product() -> None:
    options = "".join(f"<li class=price>{amount} €</li>" for amount in range(500, 1400, 100))
    assert shown(f"<h1>Drill 500</h1>{options}<b class=current>449,00 €</b>{BUY}").extracted == ()


def test_a_link_to_a_list_of_what_is_for_sale_is_no_buy_button() -> None:
    price = "<h1>Drill 500</h1><p class=price>49,90 €</p>"
    assert shown(f'{price}<a href="/sale">Buy</a>').extracted == ()
    assert shown(f'{price}<a href="/cart?add=1">Add to cart</a>').extracted != ()


def test_the_currency_of_an_ambiguous_sign_is_the_countrys() -> None:
    body = f"<div><h1>Drill 500</h1><b>$3.340</b>{BUY}</div>"
    found = only(shown(body, url="https://tienda.cl/p/1"))
    assert (found.values["currency"], found.sources["currency"]) == ("CLP", "visible:country")
    script_says = only(shown(body + '<script>x={"currency":"CLP"}</script>', url="https://tienda.com/p/1"))
    assert script_says.values["currency"] == "CLP"


def test_a_dollar_sign_that_nothing_explains_is_taken_for_us_dollars_with_a_problem() -> None:
    reading = shown(f"<div><h1>Drill 500</h1><b>$42.00</b>{BUY}</div>", url="https://shop.com/p/1")
    assert only(reading).values["currency"] == "USD"
    assert [problem.field for problem in reading.problems] == ["currency"]
    elsewhere = shown(f"<div><h1>Drill 500</h1><b>$42.00</b>{BUY}</div><p>Canada", url="https://shop.com/p/1")
    assert "currency" not in only(elsewhere).values


def test_what_is_on_show_is_no_evidence_for_a_page_that_only_calls_itself_something() -> None:
    head = '<title>Sale</title><meta property="og:type" content="product"><meta property="og:title" content="Sale">'
    assert not identity(shown("<h1>Sale</h1><p class=price>49,90 €</p><p>SKU: A1</p>", head=head))


@pytest.mark.parametrize(
    "body",
    [
        "<b class=price>49,90 €</b>" * 30_000,
        "49<sup>90</sup>" * 20_000,
        "<i>1</i>" * 50_000,
        "<p><a href=/x><h3>Saw</h3></a><b class=price>49,90 €</b></p>" * 10_000,
        "<p class=reviews>1</p>" * 20_000 + "<h1>Drill 500</h1>",
        "<div>" * 20_000 + "<b class=price>49,90 €</b>",
        "<h1>Drill 501</h1>" * 20_000,
        BUY * 20_000 + "<b>49,90 €</b><b>59,90 €</b>",
    ],
    ids=["prices", "cents", "numbers", "tiles", "other places", "nesting", "headings", "buttons"],
)
def test_a_hostile_page_is_read_in_bounded_time(body: str) -> None:
    start = time.process_time()
    shown(f"<h1>Drill 500</h1>{BUY}{body}")
    assert time.process_time() - start < 3  # seconds; a tenth of one as a rule, with its tree
