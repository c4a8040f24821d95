"""What a store file may say: one model per section, each key with its default and its documentation."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator, model_validator

from storebot.stores import values
from storebot.stores.wording import nearest, wrong


class Section(BaseModel):
    """A table of the file: unknown keys and wrong types are errors, a value never changes once it is read."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


class Discover(Section):
    """Where product pages are found."""

    sitemaps: values.Sitemaps = Field(
        default=True,
        description="`true`: the sitemaps that robots.txt names, and /sitemap.xml where it names none. A list of "
        "paths or URLs: these alone. `false`: none.",
    )
    sitemap_url: values.Regex | None = Field(
        default=None,
        description="Regular expression; of a sitemap index, only children whose URL it is found in are read.",
    )
    catalogue: bool | None = Field(
        default=None,
        description="Whether the catalogue is walked. Without the key: where there is a `[catalogue]`.",
    )


class Catalogue(Section):
    """The pages that list the products."""

    url: values.Templates = Field(
        description="Path or URL of the catalogue's pages, or a list of them, each its own walk; `{page}` stands for "
        "the page number.",
    )
    first: int = Field(default=1, ge=0, description="Number of the first page. Only where a `url` has `{page}`.")
    next: values.Rule | None = Field(
        default=None,
        description="Rule for the link to the next page, followed from a `url` without `{page}`. Without it such a "
        "`url` is one page.",
    )
    links: values.Rules | None = Field(
        default=None,
        description="Rules for the links to products. Without them, every link on the page is looked at; "
        "`product_url` decides in both cases.",
    )
    max_pages: int = Field(
        default=10_000, ge=1, description="The most pages of one walk; a longer one ends here, as incomplete."
    )

    @field_validator("first")
    @classmethod
    def _first_is_used(cls, first: int, info: ValidationInfo) -> int:
        if not any("{page}" in url for url in info.data.get("url", ("{page}",))):
            raise wrong("has no effect, because no catalogue.url has {page}; add {page} or leave the key out")
        return first

    @field_validator("next")
    @classmethod
    def _next_is_used(cls, rule: str | None, info: ValidationInfo) -> str | None:
        if all("{page}" in url for url in info.data.get("url", ("",))):
            raise wrong("has no effect, because catalogue.url counts pages by {page}; leave one of the two out")
        return rule


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


class Keys(Section):
    """What makes two URLs the same page."""

    drop: values.Parameters = Field(
        default=(),
        description="Query parameters that don't change the page, dropped beside the known tracking ones: a `name`, "
        "`name*` (`ref*` is `ref` and `ref_src`, never `refurbished`) or `name=value`.",
    )
    keep: values.Parameters = Field(
        default=(), description="Query parameters that tell pages apart, written likewise; wins over every drop."
    )
    aliases: values.Hosts = Field(
        default=(), description="Other hosts of the same shop, folded into that of `base_url` (`www.` always is)."
    )
    merge_slashes: bool = Field(default=False, description="Whether `/a//b` is the page `/a/b`.")
    fold_collections: bool = Field(
        default=True, description="Whether `/collections/…/products/x` is the page `/products/x`, as with Shopify."
    )


class Politeness(Section):
    """How much is asked of the shop."""

    delay_s: float = Field(default=1.0, ge=0, description="Seconds between two requests.")
    jitter: float = Field(
        default=0.5, ge=0, le=1, description="How far each delay strays: `0.5` gives 50 to 150 per cent of it."
    )
    concurrency: int = Field(default=1, ge=1, description="Requests in flight at once.")
    robots: bool = Field(default=True, description="Whether robots.txt is obeyed. `false` needs a `robots_reason`.")
    robots_reason: values.Sentence | None = Field(
        default=None, description="Why robots.txt need not be obeyed: who allowed it, and when."
    )
    user_agent: values.HeaderText | None = Field(
        default=None, description="User agent for this shop. Without the key: storebot's own, with your contact."
    )

    @field_validator("robots_reason")
    @classmethod
    def _robots_reason_is_used(cls, reason: str | None, info: ValidationInfo) -> str | None:
        if info.data.get("robots", False):
            raise wrong("has no effect, because politeness.robots is true; leave the key out")
        return reason

    @model_validator(mode="after")
    def _disobedience_has_a_reason(self) -> Politeness:
        if not self.robots and self.robots_reason is None:
            raise wrong(
                "is missing: politeness.robots = false needs a sentence that says who allowed it",
                key="politeness.robots_reason",
            )
        return self


class Refresh(Section):
    """What a refresh looks at."""

    interval: values.Duration = Field(
        default="0s",
        description='How old the last look at a page must be before the next, such as `"24h"`, `"90m"`, `"1h30m"`. '
        '`"0s"`: every refresh visits every known page.',
    )
    head_pages: int = Field(
        default=1, ge=0, description="Pages at the head of each catalogue walk that are searched for new products."
    )
    sitemaps: bool = Field(default=True, description="Whether the sitemaps are searched for new products.")

    @property
    def interval_ms(self) -> int:
        """The interval in milliseconds."""
        return values.milliseconds(self.interval)


class Blocks(Section):
    """How block pages of this shop are recognised, and when to give up."""

    markers: values.Markers = Field(
        default=(),
        description="Texts that stand on this shop's block pages alone, beside the known ones, in any letter case.",
    )
    breaker_share: float = Field(
        default=0.5, gt=0, le=1, description="Share of blocked visits at which the run ends as blocked."
    )
    breaker_min: int = Field(default=10, ge=1, description="Blocked visits before that share is looked at.")


class Expect(Section):
    """What a healthy run of this shop looks like."""

    required: tuple[str, ...] = Field(
        default=("name",),
        description="Fields of `[product]` without which a listing is invalid. `name` always is one of them.",
    )
    min_listings: int | None = Field(
        default=None,
        ge=0,
        description="The fewest listings that a whole backfill of this shop finds; `0` if it may be empty.",
    )

    @field_validator("required", mode="before")
    @classmethod
    def _required_are_fields(cls, value: object) -> tuple[str, ...]:
        names = values.field_names(value)
        for name in names:
            if name not in FIELDS:
                raise wrong(f'expected names of product fields, got "{name}"', nearest=nearest(name, FIELDS))
        return names if "name" in names else ("name", *names)


class StoreFile(Section):
    """The whole of one ``store.toml``."""

    base_url: values.BaseURL = Field(description="Address of the shop, absolute, such as `https://shop.example`.")
    product_url: values.Regex = Field(description="Regular expression; a URL that it is found in is a product page.")
    discover: Discover = Field(default_factory=Discover, description="Where product pages are found.")
    catalogue: Catalogue | None = Field(default=None, description="The pages that list the products.")
    product: Product = Field(
        default_factory=Product, description="How a product page is read where its structured data don't say it."
    )
    keys: Keys = Field(default_factory=Keys, description="What makes two URLs the same page.")
    politeness: Politeness = Field(default_factory=Politeness, description="How much is asked of the shop.")
    refresh: Refresh = Field(default_factory=Refresh, description="What a refresh looks at.")
    blocks: Blocks = Field(default_factory=Blocks, description="How block pages are recognised.")
    expect: Expect = Field(default_factory=Expect, description="What a healthy run looks like.")

    @model_validator(mode="after")
    def _products_can_be_found(self) -> StoreFile:
        if self.discover.catalogue and self.catalogue is None:
            raise wrong("expected a [catalogue] with a url, because discover.catalogue is true", key="catalogue")
        if not self.discover.sitemaps and not self.walks_catalogue:
            raise wrong(
                "expected at least one way to find products: sitemaps, or a [catalogue] with a url", key="discover"
            )
        return self

    @property
    def walks_catalogue(self) -> bool:
        """Whether the catalogue is walked."""
        return self.catalogue is not None and self.discover.catalogue is not False
