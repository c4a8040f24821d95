"""`[[refresh.value]]` of a store file: what a change of some products is worth beside one of the others."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated

from pydantic import BeforeValidator, Field, model_validator

from storebot.core.planner.value import ValueRule
from storebot.stores import values
from storebot.stores.section import Section
from storebot.stores.texts import texts_of
from storebot.stores.wording import wrong

_CONDITIONS = ("category", "brand", "price_from", "price_below")


def _levels(value: object) -> tuple[str, ...]:
    return tuple(texts_of(value, 'a list of names, the outermost first, such as ["Shoes", "Trail"]'))


class Value(Section):
    """A weight, and the products that it is for: those that are all that the table names."""

    weight: float = Field(
        gt=0,
        le=100,
        description="How much a change of such a product is worth; of any other it is 1. `3`: as much as three others.",
    )
    category: Annotated[tuple[str, ...], BeforeValidator(_levels)] = Field(
        default=(),
        description="The outermost names of its category's path, in any letter case: "
        '`["Shoes", "Trail"]` is all below that, too.',
    )
    brand: values.Sentence | None = Field(default=None, description="Its brand, in any letter case.")
    price_from: values.Price | None = Field(
        default=None, description='Its price is this or more, as text, in its own currency: `"100"`.'
    )
    price_below: values.Price | None = Field(default=None, description="Its price is less than this, written likewise.")

    @model_validator(mode="after")
    def _is_about_something(self) -> Value:
        if not any(getattr(self, name) for name in _CONDITIONS):
            raise wrong(f"names no products: expected at least one of {', '.join(_CONDITIONS)}")
        return self

    @model_validator(mode="after")
    def _range_holds_a_price(self) -> Value:
        low, below = self.price_from or Decimal(0), self.price_below
        if below is not None and below <= low:
            raise wrong("is not above price_from, so that no price is in the range", key="refresh.value.price_below")
        return self

    @property
    def rule(self) -> ValueRule:
        """What it says, as the core takes it."""
        return ValueRule(
            weight=self.weight,
            category=self.category,
            brand=self.brand or "",
            price_from=self.price_from,
            price_below=self.price_below,
        )
