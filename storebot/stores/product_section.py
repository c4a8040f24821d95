"""`[product]` of a store file: how a product page is read where its structured data don't say it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from storebot.stores import values
from storebot.stores.section import Section

_RULES = "Rules for the {}."


def _rules(what: str) -> values.Rules | None:
    found: values.Rules | None = Field(default=None, description=_RULES.format(what))
    return found


class Product(Section):
    """How a product page is read where its structured data don't say it."""

    name: values.Rules | None = _rules("name")
    brand: values.Rules | None = _rules("brand")
    gtin: values.Rules | None = _rules("GTIN (EAN, UPC, ISBN-13)")
    mpn: values.Rules | None = _rules("manufacturer's part number")
    sku: values.Rules | None = _rules("shop's article number")
    product_id: values.Rules | None = _rules("shop's internal id of the product")
    item_group_id: values.Rules | None = _rules("id that the variants of one product share")
    canonical_url: values.Rules | None = _rules("address that the shop calls the page's true one")
    price: values.Rules | None = _rules("price that a customer pays now")
    regular_price: values.Rules | None = _rules("price before a reduction")
    price_min: values.Rules | None = _rules("lower end of a price range")
    price_max: values.Rules | None = _rules("upper end of a price range")
    currency: values.Currency | None = Field(
        default=None,
        description='An ISO 4217 code such as `"GBP"`, for prices that don\'t name theirs, or rules that find it.',
    )
    availability: values.Rules | None = _rules("availability, as text or as a schema.org name")
    condition: values.Rules | None = _rules("condition (new, used, refurbished)")
    category_path: values.Rules | None = _rules("names of the categories, outermost first")
    images: values.Rules | None = _rules("addresses of the images, the main one first")
    description: values.Rules | None = _rules("description")
    rating_value: values.Rules | None = _rules("average rating")
    review_count: values.Rules | None = _rules("number of reviews")
    seller: values.Rules | None = _rules("seller, on a marketplace")
    prefer: Literal["structured", "selectors"] = Field(
        default="structured",
        description='What wins where the page\'s structured data and the rules both give a field. `"selectors"` is '
        "for a shop whose structured data are wrong; it costs time on every page.",
    )
    decimal: Literal[".", ","] | None = Field(
        default=None,
        description="Decimal separator of prices written as text. Without the key it is worked out from each price.",
    )
    availability_phrases: values.Phrases = Field(
        default_factory=dict,
        description="Table of the shop's own words for its stock, each with the schema.org name that it stands for: "
        '`"Auf Anfrage" = "BackOrder"`. They come before the known ones, in any letter case.',
    )


_NO_FIELDS = ("prefer", "decimal", "availability_phrases")
# What a rule may fill.
FIELDS = tuple(name for name in Product.model_fields if name not in _NO_FIELDS)
