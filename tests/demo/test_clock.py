"""The clock changes exactly what it is asked to, and tells the truth about it."""

from __future__ import annotations

from typing import Any

import pytest

from storebot.demo.clock import Change, Step, advance
from storebot.demo.goods import Product
from storebot.demo.options import ShopOptions
from storebot.demo.shop import Shop, truth_of
from storebot.exceptions import ConfigurationError


def shop_of(**options: Any) -> Shop:
    return Shop(ShopOptions(**{"products": 80, "seed": 3, "variant_share": 0.2} | options))


def truths(shop: Shop) -> dict[int, dict[str, Any]]:
    return {product.id: truth_of(product, "", "GBP") for product in shop.products()}


def test_exactly_the_asked_number_of_products_differ_afterwards() -> None:
    shop = shop_of()
    for changed in (11, 4, 9):
        before = truths(shop)
        changes = advance(shop, Step(changed=changed))
        after = truths(shop)
        assert len(changes) == changed
        assert {change.id for change in changes} == {number for number in before if before[number] != after[number]}


def test_each_change_is_one_field_of_one_offer_and_true() -> None:
    shop = shop_of()
    before = truths(shop)
    changes = advance(shop, Step(price=20, stock=20, title=20))
    assert sorted(change.kind for change in changes) == ["price"] * 20 + ["stock"] * 20 + ["title"] * 20
    for change in changes:
        assert change.before != change.after
        assert value_of(before[change.id], change) == change.before
        assert value_of(truths(shop)[change.id], change) == change.after
        assert len(differences(before[change.id], truths(shop)[change.id])) == 1


def value_of(truth: dict[str, Any], change: Change) -> str:
    rows = [row for row in (truth, *truth["variants"]) if row["sku"] == change.sku]
    assert len(rows) == 1
    return str(rows[0][change.field])


def differences(before: dict[str, Any], after: dict[str, Any]) -> list[tuple[str, str]]:
    """Name the (sku, field) pairs in which a page's listings differ: variants where there are any, else the product."""
    found = []
    for old, new in zip(before["variants"] or [before], after["variants"] or [after], strict=True):
        name = ("name", before["name"], after["name"])
        fields = [
            (field, old[field], new[field]) for field in ("price", "availability", "options", "gtin") if field in old
        ]
        found += [(old["sku"], field) for field, was, is_ in (name, *fields) if was != is_]
    return found


def test_a_title_never_falls_on_a_product_with_variants() -> None:
    shop = shop_of(variant_share=0.5)
    changes = advance(shop, Step(title=15))
    products = [shop.product(change.id) for change in changes]
    assert not any(product.has_variants for product in products if product)


def test_titles_that_no_product_can_take_are_refused_but_mixed_changes_are_found() -> None:
    shop = shop_of(variant_share=1)
    with pytest.raises(ConfigurationError, match="without variants"):
        advance(shop, Step(title=1))
    assert shop.tick == 0
    assert len({change.id for change in advance(shop, Step(changed=80))}) == 80


def test_the_same_steps_from_the_same_seed_change_the_same() -> None:
    step = Step(changed=9, vanished=2, appeared=1)
    assert advance(shop_of(), step) == advance(shop_of(), step)
    assert advance(shop_of(), step) != advance(shop_of(), Step(changed=9, vanished=2, appeared=1, seed=5))


def test_only_changed_products_are_modified_and_at_the_new_time() -> None:
    shop = shop_of()
    before = {product.id: product.modified_s for product in shop.products()}
    opened = shop.now_s
    changes = advance(shop, Step(changed=5, hours=6))
    assert shop.now_s == opened + 6 * 3600
    moved = {product.id: product.modified_s for product in shop.products() if product.modified_s != before[product.id]}
    assert moved == {change.id: shop.now_s for change in changes}


def test_vanished_products_are_gone_and_new_ones_come_last() -> None:
    shop = shop_of()
    changes = advance(shop, Step(vanished=3, vanished_status=410, appeared=2))
    gone = [change.id for change in changes if change.kind == "vanished"]
    assert shop.gone == dict.fromkeys(gone, 410)
    assert shop.live[-2:] == [81, 82]
    assert len(shop.live) == 79
    assert all(shop.product(number) is None for number in gone)


def test_exactly_the_products_that_are_named_change() -> None:
    shop = shop_of(variant_share=0)
    changes = advance(shop, Step(price=1, title=1, vanished=1, ids=(7, 5, 9)))
    assert {change.id: change.kind for change in changes} == {7: "title", 5: "price", 9: "vanished"}


def test_prices_move_by_too_little_to_look_wrong() -> None:
    shop = shop_of(variant_share=0)
    for _ in range(20):
        for change in advance(shop, Step(price=80)):
            assert 1 / 3 < float(change.after) / float(change.before) < 3


@pytest.mark.parametrize(
    "step",
    [
        Step(changed=81),
        Step(changed=40, vanished=41),
        Step(changed=2, price=3),
        Step(price=-1),
        Step(vanished=1, vanished_status=500),
        Step(hours=0),
        Step(appeared=-1),
        Step(price=1, ids=(1, 2)),
        Step(price=2, ids=(1, 1)),
        Step(price=1, ids=(81,)),
    ],
)
def test_an_impossible_step_is_refused_and_nothing_moves(step: Step) -> None:
    shop = shop_of()
    before = truths(shop)
    with pytest.raises(ConfigurationError):
        advance(shop, step)
    assert (shop.tick, truths(shop)) == (0, before)


def test_a_huge_shop_keeps_only_what_changed() -> None:
    shop = shop_of(products=1_000_000)
    changes = advance(shop, Step(price=3))
    assert len(shop._changed) == 3
    found = shop.product(changes[0].id)
    assert isinstance(found, Product)
