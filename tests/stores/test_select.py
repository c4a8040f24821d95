"""The selectors of a store's own code, at work on a page and inside its elements."""

from __future__ import annotations

import pytest

from storebot.core.parsing.lenient import Broken
from storebot.core.parsing.rules import compile_rule
from storebot.stores.select import Select
from tests.stores.coding import page

BODY = """
<h1> A <b>mug</b></h1><p class="price">19.90</p><img class="pic" src="/a.jpg"><img class="pic" src="/b.jpg">
<ul><li class="size" data-sku="S1"><b>Small</b> <i>5.00</i></li><li class="size" data-sku="S2"><b>Large</b></li></ul>
<script>window.state = {"price": 19.90, "stock": [1, 2,], /* soon */ "name": "A &amp; B"};</script>
<div id="v" data-variants='[{&quot;id&quot;: 7}]'></div>
"""


def select(**rules: str | list[str]) -> Select:
    compiled = {
        name: tuple(map(compile_rule, [texts] if isinstance(texts, str) else texts)) for name, texts in rules.items()
    }
    return Select(page(BODY), compiled)


def test_first_selector_that_finds_something_wins_and_is_noted() -> None:
    found = select(name="h1", price=[".now", "xpath://p[@class='price']", "re:(\\d+)"], none=".none")
    assert (found("name"), found("price"), found("none")) == ("A mug", "19.90", None)
    assert found.won == {"name": "css:h1", "price": "xpath://p[@class='price']"}


def test_all_gives_every_text_and_links_of_images_as_in_a_store_file() -> None:
    assert select(images=".pic").all("images") == ["/a.jpg", "/b.jpg"]
    assert select(pics=".pic::attr(src)").all("pics") == ["/a.jpg", "/b.jpg"]
    assert select(none=".none").all("none") == []


def test_each_looks_inside_one_element_alone() -> None:
    found = select(sizes=".size", size="b::text", price="i", sku="::attr(data-sku)", code=r're:data-sku="(\w+)"')
    rows = found.each("sizes")
    assert [(row("size"), row("price"), row("sku"), row("code")) for row in rows] == [
        ("Small", "5.00", "S1", "S1"),
        ("Large", None, "S2", "S2"),
    ]
    assert next((row.text, row.attribute("data-sku"), row.attribute("id")) for row in rows) == (
        "Small 5.00",
        "S1",
        None,
    )
    assert found.won["size"] == "css:b::text"
    assert select(texts="b::text").each("texts") == []


def test_json_is_read_as_shops_write_it_and_money_stays_text() -> None:
    found = select(state=r"re:state = (\{.*?\});", variants="#v::attr(data-variants)", none=".none", bad="h1")
    assert found.json("state") == {"price": "19.90", "stock": ["1", "2"], "name": "A &amp; B"}
    assert found.json("variants") == [{"id": 7}]
    assert found.json("none") is None
    with pytest.raises(Broken):
        found.json("bad")


def test_name_that_selectors_do_not_have_is_told_with_the_nearest() -> None:
    with pytest.raises(LookupError, match=r"SELECTORS has no 'pirce' \(did you mean 'price'\?\)"):
        select(price="b")("pirce")


def test_whole_page_has_a_text_and_no_attributes() -> None:
    assert select().text.startswith("A mug")
    assert select().attribute("class") is None
