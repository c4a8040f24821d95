"""The shop's back office, a process of its own: it fills the shop, or changes it, through oscar's models.

``python -m tests.live.oscar_shop.desk open`` makes the tables and puts all goods on sale; ``… desk edit`` reads a JSON
list of edits from stdin: ``[verb, the product's number, value]`` (`VERBS`). Both print what is on sale afterwards: a
JSON list of ``{path, name, price_minor, currency, availability}``, as a customer is to see it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import django
from django.apps import apps
from django.core.management import call_command
from django.db import transaction

from tests.live.oscar_shop.goods import Good, goods

django.setup()  # before it, there are no models to import

from oscar.apps.catalogue.categories import create_from_breadcrumbs  # noqa: E402
from oscar.core.loading import get_class, get_model  # noqa: E402

Product, ProductClass = get_model("catalogue", "Product"), get_model("catalogue", "ProductClass")
Partner, StockRecord = get_model("partner", "Partner"), get_model("partner", "StockRecord")


def open_shop() -> None:
    """Make the tables, put everything on sale, then index it for the catalogue pages."""
    call_command("migrate", run_syncdb=True, verbosity=0)
    apps.get_app_config("haystack").signal_processor.teardown()  # or each product is indexed alone, for 20 s
    with transaction.atomic():
        offered = [(good, put_on_sale(good)) for good in goods()]
        for good, product in offered:
            for number in good.recommends:
                product.primary_recommendations.create(recommendation=offered[number][1])
    call_command("update_index", verbosity=0)


def put_on_sale(good: Good) -> Any:
    """Make one product, with its versions where it has some, and return it."""
    kind, _ = ProductClass.objects.get_or_create(
        name="Download" if good.is_download else "Thing", track_stock=not good.is_download
    )
    product = Product.objects.create(
        structure=Product.PARENT if good.versions else Product.STANDALONE,
        product_class=kind,
        title=good.title,
        code=f"good-{good.number}",
        upc=good.upc,
        description=good.description,
    )
    product.categories.add(create_from_breadcrumbs(good.category))
    for version in good.versions:
        child = Product.objects.create(structure=Product.CHILD, parent=product, title=version.title)
        _deliver(child, version.price, version.stock)
    if good.price is not None and not good.versions:
        _deliver(product, good.price, good.stock)
    return product


def _deliver(product: Any, price: Decimal, stock: int) -> None:
    partner, _ = Partner.objects.get_or_create(name="Warehouse")
    StockRecord.objects.create(
        product=product, partner=partner, partner_sku=f"W{product.pk}", price=price, num_in_stock=stock
    )


def _set_price(number: int, value: str) -> None:
    record = _record(number)
    record.price = Decimal(value)
    record.save()


def _set_stock(number: int, value: int) -> None:
    record = _record(number)
    record.num_in_stock = value
    record.save()


def _set_title(number: int, value: str) -> None:
    product = _product(number)
    product.title = value
    product.save()


def _unpublish(number: int, _: None) -> None:
    product = _product(number)
    product.is_public = False
    product.save()


def _delete(number: int, _: None) -> None:
    _product(number).delete()


def _add(number: int, value: tuple[str, str | None]) -> None:
    title, price = value
    put_on_sale(Good(number, title, "Novelties", Decimal(price) if price else None, stock=3))


def _product(number: int) -> Any:
    return Product.objects.get(code=f"good-{number}")


def _record(number: int) -> Any:
    """Return the stock record of a product; of a parent its first version's, which sets the price of both."""
    product = _product(number)
    return (product.children.first() if product.is_parent else product).stockrecords.get()


VERBS: dict[str, Callable[[int, Any], None]] = {
    "price": _set_price,
    "stock": _set_stock,
    "title": _set_title,
    "unpublish": _unpublish,
    "delete": _delete,
    "add": _add,
}


def edit(edits: list[tuple[str, int, Any]]) -> None:
    """Carry out edits in their order."""
    with transaction.atomic():
        for verb, number, value in edits:
            VERBS[verb](number, value)


def on_sale() -> list[dict[str, Any]]:
    """Return what customers are offered, by oscar's own rules of price and availability."""
    strategy = get_class("partner.strategy", "Selector")().strategy()
    offered = []
    for product in Product.objects.browsable():
        info = (strategy.fetch_for_parent if product.is_parent else strategy.fetch_for_product)(product)
        price = info.price.incl_tax.quantize(Decimal("0.01")) if info.price.exists else None
        offered.append(
            {
                "path": product.get_absolute_url(),
                "name": product.get_title(),
                "price_minor": int(price.scaleb(2)) if price is not None else None,
                "currency": info.price.currency,
                "availability": "InStock" if info.availability.is_available_to_buy else "OutOfStock",
            }
        )
    return offered


if __name__ == "__main__":
    if sys.argv[1] == "open":
        open_shop()
    else:
        edit(json.load(sys.stdin))
    json.dump(on_sale(), sys.stdout)
