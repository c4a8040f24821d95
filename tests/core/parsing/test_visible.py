"""What is on show counts last, and makes no product of a page that sells none."""

from __future__ import annotations

import pytest

from storebot.core.parsing.reading import Reading, identity, read_product
from storebot.core.parsing.rules import ProductRules
from storebot.items import Disagreement
from tests.core.parsing.pages import builds_a_tree, only, page, product, read, script

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
    ],
    ids=["struck", "old and special", "net and gross", "per unit", "instalments", "raised cents", "sign outside"],
)
def test_the_price_is_the_one_that_a_buyer_pays(beside: str, price: str) -> None:
    found, source = price_of(f"<div><h1>Drill 500</h1><div>{beside}</div>{BUY}</div>")
    assert (str(found).removeprefix("s DPH "), source) == (price, "visible:price")


def test_prices_that_nothing_decides_between_are_none() -> None:
    assert price_of(f"<div><h1>Drill 500</h1><b>49,90 €</b><b>59,90 €</b>{BUY}</div>") == (None, "")


def test_the_price_of_another_product_is_not_taken() -> None:
    other = '<div><a href="/p/b2"><h3>Saw</h3></a><b class=price>9,90 €</b></div>'
    assert price_of(f"<div><h1>Drill 500</h1><b>49,90 €</b>{BUY}{other}</div>") == ("49,90 €", "visible:price")


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


def test_json_ld_that_is_enough_still_builds_no_tree() -> None:
    complete = page(f"<h1>Drill</h1><b>49,90 €</b>{BUY}", script(product()))
    found = only(read_product(complete, ProductRules()))
    assert (found.values["price"], found.disagreements, builds_a_tree(complete)) == ("99.00", (), False)


@pytest.mark.parametrize(
    ("markup", "name", "value"),
    [
        ("<p>EAN: 4006381333931</p>", "gtin", "4006381333931"),
        ("<table><tr><th>Brand</th><td>Acme</td></tr></table>", "brand", "Acme"),
        ("<dl><dt>Part number</dt><dd>X-1</dd></dl>", "mpn", "X-1"),
        ("<div><div><span>Бренд:</span></div><div>Acme</div></div>", "brand", "Acme"),
        ("<li><strong>Product Code - </strong>39139301</li>", "sku", "39139301"),
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
