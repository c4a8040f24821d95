"""A price in print is recognised in the bytes, and any doubt sends for the tree."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator

import pytest

from storebot.core.page import Page
from storebot.core.parsing import jsonld, visible, visible_bytes
from storebot.core.parsing.layers import lay
from storebot.core.parsing.offers import has_amount
from storebot.core.parsing.schemaorg import Found
from storebot.core.parsing.values import Values
from storebot.core.parsing.visible import corroborates
from tests.core.parsing.pages import URL, builds_a_tree, page
from tests.shared_data import shared

DRILL: Values = {"name": "Drill", "price": "49.90", "currency": "EUR"}
BUY = "<button>Add to cart</button>"


def agrees(body: str, *records: Values) -> bool:
    return corroborates(page(body), records or (DRILL,))


@pytest.mark.parametrize(
    "body",
    [
        f"<h1>Drill</h1><b>49,90 €</b>{BUY}",
        f"<h1>Drill 500</h1><p>€ 49.90</p>{BUY}",
        f"<h1><a href=/>Shop</a></h1><h1> Drill </h1><b>49,90&nbsp;&euro;</b>{BUY}",
        f"<h1>Drill</h1><p class=price>49<sup>90</sup></p>{BUY}",
        f"<h1>Drill</h1><b>49,90 €</b><p>Free delivery over 500 €</p>{BUY}",
        f"<h1>Drill</h1><b>49,90 €</b><s></s><p>Size 38-40, weight 12.5 kg</p>{BUY}",
        f"<h1>Drill</h1><script>price='59,90 €'</script><!-- 59,90 € --><b>49,90 €</b>{BUY}",
        f"<h1>Drill</h1><b>49,90 €</b>{BUY}{'<p>filler</p>' * 100}<b>59,90 €</b>{BUY}",
    ],
)
def test_the_price_in_print_and_no_other_beside_it_is_enough(body: str) -> None:
    given = page(body)
    assert corroborates(given, [DRILL])
    assert not builds_a_tree(given)


@pytest.mark.parametrize(
    "body",
    [
        "",
        f"<b>49,90 €</b>{BUY}",
        f"<h1>Saw</h1><b>49,90 €</b>{BUY}",
        f"<h1>Drill</h1>{BUY}",
        f"<h1>Drill</h1><b>59,90 €</b>{BUY}",
        f"<h1>Drill</h1><b>4990 €</b>{BUY}",
        f"<h1>Drill</h1><b>49,90 €</b><b>59,90 €</b>{BUY}",
        f"<h1>Drill</h1><b>41,93 €</b> excl. VAT <b>49,90 €</b>{BUY}",
        f"<h1>Drill</h1><s>49,90 €</s>{BUY}",
        f"<h1>Drill</h1><b class=old-price>49,90 €</b>{BUY}",
        f"<h1>Drill</h1><b>$49.90</b>{BUY}",
        f"<h1>Drill</h1><b>49,90 €</b>{'<p>filler</p>' * 100}<b>59,90 €</b>{BUY}",
    ],
    ids=[
        *("empty", "no heading", "another name", "no price", "another price", "hundred times", "two prices", "net"),
        *("struck", "old", "another currency", "another price by the button"),
    ],
)
def test_any_doubt_sends_for_the_tree(body: str) -> None:
    assert not agrees(body)


def test_one_of_several_variants_is_enough_and_a_foreign_one_is_not() -> None:
    small: Values = {**DRILL, "price": "39.90"}
    body = f"<h1>Drill</h1><b>39,90 €</b>{BUY}"
    assert agrees(body, DRILL, small)
    assert not agrees(f"{body}<b>44,90 €</b>", DRILL, small)


def test_a_struck_price_that_the_record_has_is_no_doubt() -> None:
    assert agrees(f"<h1>Drill</h1><s>59,90 €</s><b>49,90 €</b>{BUY}", {**DRILL, "regular_price": "59.90"})


def test_text_that_is_not_utf_8_is_a_doubt() -> None:
    body = f"<h1>Drill</h1><b>49,90 K\u010d</b>{BUY}".encode("iso-8859-2")
    assert not corroborates(Page(url=URL, body=body), [{**DRILL, "currency": "CZK"}])


def test_a_record_without_a_price_is_never_corroborated() -> None:
    assert not agrees(f"<h1>Drill</h1><b>0,00 €</b>{BUY}", {"name": "Drill", "price": "0"})
    assert not agrees(f"<h1>Drill</h1><b>49,90 €</b>{BUY}", {"name": "Drill"})


def test_what_is_corroborated_is_not_contradicted_by_the_tree() -> None:
    seen = [(corroborates(one, found.records), found, one) for one, found in complete_pages()]
    assert sum(agrees for agrees, _, _ in seen) >= 18  # of 36; the others are reduced, or show their price nowhere
    for agrees_, found, one in seen:
        if agrees_:
            listings = lay([found, visible.read(one, [found])], {})
            assert not any(
                said.field in ("price", "currency") for listing in listings for said in listing.disagreements
            )


def complete_pages() -> Iterator[tuple[Page, Found]]:
    for path in sorted(shared("products/pages").glob("*.golden.json")):
        about = json.loads(path.read_text())
        body = gzip.decompress((path.parent / about["file"].rpartition("/")[2]).read_bytes())
        one = Page(url=about["url"], body=body)
        found = jsonld.read(one, lambda: [])
        if found.records and all("name" in record and has_amount(record) for record in found.records):
            yield one, found


FILLER = "<p>Made of oak.</p>" * 100


@pytest.mark.parametrize(
    ("body", "agreed"),
    [
        (f"<h1>Drill</h1><b>49,90 €</b>{BUY}{FILLER}", True),
        (f"<h1>Drill</h1><b>59,90 €</b>{BUY}{FILLER}<b>49,90 €</b>", False),
        (f"<h1>Drill</h1>{FILLER}<b>49,90 €</b>{BUY}", True),
        (f"<h1>Drill</h1><b>49,90 €</b>{FILLER}<b>59,90 €</b>{BUY}", False),  # beside a button that stands far off
        (f"<h1>Drill</h1><b>49,90 €</b>{BUY}{FILLER}<p>&#0;</p>", False),  # a character that can't be decoded
        (f"<h1>Drill</h1><b>49,90 €</b>{BUY}{FILLER}<p>&#39;</p>", True),
        (f"<h1>Drill</h1><b>49,90 €</b>{BUY}<p title='{'o' * 1000}'>{FILLER}", True),  # the first part ends in a tag
        (f"<h1>Drill</h1><b>49,90 €</b>{BUY}{FILLER}<s>69,90 €</s>", False),
    ],
)
def test_reading_what_is_near_first_makes_no_difference(
    body: str, agreed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert agrees(body) is agreed
    monkeypatch.setattr(visible_bytes, "_NEAR", 10**6)
    assert agrees(body) is agreed
