"""What a store's own code is written with: ``product.py`` and ``catalogue.py`` import all they need from here.

A file serves one page type. It has one dictionary ``SELECTORS`` at its top and one function below it::

    SELECTORS = {"name": "h1::text", "price": [".now::text", ".price::text"]}

    def product(page: Page, select: Select) -> Product:
        return Product(name=select("name"), price=select("price"))

The function is called with a page that was fetched; it fetches nothing, writes nothing and knows no clock. What it
returns is found text: storebot cleans it, reads the money and checks codes, as it does for every other source.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from storebot.core.page import Page
from storebot.stores.select import Select
from storebot.stores.wording import shown, wrong

__all__ = ["Catalogue", "Page", "Product", "Select", "Variant"]


def _said(value: object, expected: str) -> str | int | Decimal | None:
    """Return text or a number as it is; None where it says nothing."""
    if isinstance(value, str):
        return value if value.strip() else None
    if value is None or (isinstance(value, (int, Decimal)) and not isinstance(value, bool)):
        return value
    raise wrong(f"expected {expected}, got {shown(value)}")


def _text(value: object) -> str | None:
    found = _said(value, "text")
    return None if found is None else str(found)


def _money(value: object) -> str | int | Decimal | None:
    return _said(value, "a price as the page shows it, or a Decimal or whole number of the main unit (never a float)")


def _texts(value: object) -> tuple[str, ...]:
    if not isinstance(value, (list, tuple)):
        raise wrong(f"expected a list of texts, got {shown(value)}")
    return tuple(text for item in value if (text := _text(item)))


def _options(value: object) -> dict[str, str]:
    expected = 'the options by name, such as {"size": "XL"}'
    if not isinstance(value, dict):
        raise wrong(f"expected {expected}, got {shown(value)}")
    return {str(name): text for name, item in value.items() if (text := _text(item))}


Text = Annotated[str | int | Decimal | None, BeforeValidator(_text)]
Money = Annotated[str | int | Decimal | None, BeforeValidator(_money)]
Texts = Annotated[tuple[str, ...] | list[str], BeforeValidator(_texts)]
Options = Annotated[dict[str, str], BeforeValidator(_options)]


class Model(BaseModel):
    """What a parser returns: unknown names are errors, and nothing changes once it is made."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Variant(Model):
    """One sellable thing: what it leaves out it has from its product."""

    variant_id: Text = None  # without it: its SKU, GTIN, address or options, whatever tells the variants apart
    sku: Text = None
    gtin: Text = None
    mpn: Text = None
    url: Text = None
    options: Options = Field(default_factory=dict)
    name: Text = None
    price: Money = None
    regular_price: Money = None
    currency: Text = None
    availability: Text = None
    condition: Text = None
    images: Texts = ()


class Product(Variant):
    """The product of a page, with the record's names (DESIGN §6); what it leaves out other sources may say.

    ``variants`` are listings of their own. They have the product's fields where they give none, but for those that are
    one thing's alone: ids, codes, address and options.
    """

    product_id: Text = None
    item_group_id: Text = None
    canonical_url: Text = None
    brand: Text = None
    price_min: Money = None
    price_max: Money = None
    category_path: Texts = ()
    description: Text = None
    rating_value: Text = None
    review_count: Text = None
    seller: Text = None
    variants: tuple[Variant, ...] | list[Variant] = ()


class Catalogue(Model):
    """What a page of the catalogue names: addresses as found; `product_url` says which links are products."""

    links: Texts = ()
    next: Text = None  # where the pages aren't counted by {page}
