"""What a store file may say: one model per section, each key with its default and its documentation."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import Field, ValidationInfo, field_validator, model_validator

from storebot.core.delist import Rules
from storebot.core.gate_limits import DECLARABLE, Declared, Planned
from storebot.core.planner.terms import HOUR_MS, Orders
from storebot.stores import values
from storebot.stores.expecting import Expect
from storebot.stores.fetching import Fetch
from storebot.stores.product_section import Product
from storebot.stores.scheduling import SchedulePlan
from storebot.stores.section import Section
from storebot.stores.spending import Budget, Costs
from storebot.stores.weighing import Value
from storebot.stores.wording import wrong


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
    platform: Literal["shopify", "woocommerce"] | None = Field(
        default=None,
        description="The shop's software, whose public listing then carries the products, 100 to 250 a request, "
        "instead of their pages. Where the shop has switched that listing off, its pages are read as without this key.",
    )
    feeds: values.Feeds = Field(
        default=(),
        description="Paths or URLs of product feeds (Google Merchant as XML or as a table, or a platform's JSON): "
        "what they carry isn't fetched as a page.",
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


PRESETS = {"touchy": {"delay_s": 6.0, "jitter": 0.166, "concurrency": 1}}
"""What a preset of ``[politeness]`` gives the keys that the file leaves out. Touchy: 5 to 7 seconds."""


class Politeness(Section):
    """How much is asked of the shop."""

    preset: Literal["touchy"] | None = Field(
        default=None,
        description='`"touchy"`: 5 to 7 seconds between two requests, one at a time, for a shop that blocks easily. '
        "Keys of this table win over it.",
    )
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

    reason: values.Sentence | None = Field(
        default=None,
        description="Who allowed less politeness than the defaults (`delay_s` below 1, a `user_agent` without "
        "storebot's name), and why. Each run that does so notes it.",
    )

    @model_validator(mode="before")
    @classmethod
    def _preset_fills_in(cls, data: object) -> object:
        if not isinstance(data, dict) or not isinstance(preset := data.get("preset"), str):
            return data
        return {**PRESETS.get(preset, {}), **data}

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
    budget: int | None = Field(
        default=None,
        ge=1,
        description="Requests a day, which go where changes are likely (`scrapy plan`); each run has the share of the "
        "time since the last one. Without the key: all pages whose `interval` is over.",
    )
    max_age: values.Duration | None = Field(
        default=None,
        description="How old the last look at a page may become at most, whatever else the budget is spent on: "
        '`"14d"`. A budget that can\'t keep it is refused.',
    )
    sweep: float = Field(
        default=0.25,
        ge=0,
        le=1,
        description="Share of the budget for the pages that weren't looked at for the longest time. `max_age` may "
        "raise it.",
    )
    value: tuple[Value, ...] = Field(
        default=(),
        description="`[[refresh.value]]` tables: products whose changes are worth more, or less, than others; the "
        "first that fits counts.",
    )

    @field_validator("value", mode="before")
    @classmethod
    def _value_is_a_list(cls, value: object) -> object:
        return tuple(value) if isinstance(value, list) else value

    @model_validator(mode="after")
    def _max_age_has_a_budget(self) -> Refresh:
        if self.max_age is None:
            return self
        if self.budget is None:
            raise wrong(
                "has no effect, because there is no refresh.budget: then every refresh visits all that is due",
                key="refresh.max_age",
            )
        if not self.max_age_ms:
            raise wrong(f"expected an age above nought, got {self.max_age}", key="refresh.max_age")
        return self

    @property
    def interval_ms(self) -> int:
        """The interval in milliseconds."""
        return values.milliseconds(self.interval)

    @property
    def max_age_ms(self) -> int:
        """The age that is promised, in milliseconds; 0: none is."""
        return values.milliseconds(self.max_age) if self.max_age else 0

    def orders(self, *, once: int | None = None, full: bool = False) -> Orders:
        """Return what it says, as the core takes it: with the requests of one run, or for a run over everything."""
        return Orders(
            per_day=self.budget,
            once=once,
            full=full,
            max_age_h=self.max_age_ms / HOUR_MS,
            sweep=self.sweep,
            rules=tuple(value.rule for value in self.value),
        )


class Blocks(Section):
    """How block pages of this shop are recognised, and when to give up."""

    markers: values.Markers = Field(
        default=(),
        description="Texts that stand on this shop's block pages alone, beside the known ones, in any letter case.",
    )
    breaker_share: float = Field(
        default=0.5,
        gt=0,
        le=1,
        description="Share of blocked visits, of the newest five times `breaker_min`, at which the run ends and the "
        "store is left alone for a while.",
    )
    breaker_error_share: float = Field(
        default=0.5,
        gt=0,
        le=1,
        description="Share of answers that fail (no connection, a time-out, HTTP 5xx), of as many, at which the same "
        "happens.",
    )
    breaker_min: int = Field(
        default=10, ge=1, description="Blocked visits, or answers that fail, before their share is looked at."
    )


class PlannedEvent(Section):
    """A time in which much of the shop is expected to change, such as a sale."""

    start: values.Moment = Field(
        alias="from", description="Its begin, with an offset from UTC: `2026-11-27T00:00:00+01:00`."
    )
    end: values.Moment = Field(
        alias="until", description="Its end, written likewise. Give it an hour more for the refresh."
    )
    what: Literal["prices", "all"] = Field(
        default="prices",
        description='What may change without limit: `"prices"`, or `"all"`, which opens the gate for everything.',
    )
    reason: values.Sentence = Field(description="Which event it is, for whoever reads the file in a year.")

    @model_validator(mode="after")
    def _ends_after_it_begins(self) -> PlannedEvent:
        if self.end <= self.start:
            raise wrong("ends before it begins", key="gate.planned.until")
        return self


_SHARE = "Without the key: {}."


def _share(what: str, default: str) -> float | None:
    found: float | None = Field(default=None, ge=0, le=1, description=f"{what} {_SHARE.format(default)}")
    return found


class Gate(Section):
    """How much a run may change before its changes are held for somebody to look at (`scrapy holds`).

    Shares are of the known pages that the run has looked at.
    """

    sample: int = Field(
        default=50, ge=1, description="Known pages that a run looks at before it publishes the first change."
    )
    max_changed: float | None = _share(
        "Share of the pages that may change.",
        "three times what is usual in this shop, at least `0.3`; `0.5` while there are no three runs to tell",
    )
    max_identity: float | None = _share("Share that may have another name, SKU, GTIN or brand.", "`0.1`")
    max_lost: float | None = _share("Share that may lose its price, its name or its availability.", "`0.1`")
    max_price_ratio: float | None = Field(
        default=None,
        gt=1,
        description="Factor by which prices may rise or fall, as the median of those that moved. Without the key: `3`.",
    )
    max_currency: float | None = _share("Share that may switch to another currency.", "`0.05`")
    max_identical: float | None = _share("Share that may show one and the same record.", "`0.1`")
    max_missing: float | None = _share(
        "Share that may be missing (404, 410).",
        "three times what is usual in this shop, at least `0.1`; `0.2` while there are no three runs to tell",
    )
    max_blocked: float | None = _share(
        "Share of visits that may be blocked before what the others show isn't believed either.", "`0.3`"
    )
    planned: tuple[PlannedEvent, ...] = Field(
        default=(), description="`[[gate.planned]]` tables: events in which much changes on purpose, such as a sale."
    )

    @field_validator("planned", mode="before")
    @classmethod
    def _planned_is_a_list(cls, value: object) -> object:
        return tuple(value) if isinstance(value, list) else value

    @property
    def declared(self) -> Declared:
        """What it says, as the gate of a run takes it."""
        return Declared(
            sample=self.sample,
            planned=tuple(
                Planned(_ms(event.start), _ms(event.end), event.what, event.reason) for event in self.planned
            ),
            **{name: getattr(self, f"max_{name}") for name in DECLARABLE},
        )


def _ms(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)


class Delist(Section):
    """When a product that can't be found any more is gone for good."""

    confirmations: int = Field(
        default=2,
        ge=1,
        description="How often a product's own address has to say that it isn't there (404, a page for what isn't "
        "found, a redirect to the start page or a category), before it is delisted. 410 is believed at once. So many "
        "whole readings of what named a product have to be without it before that counts.",
    )
    hours: int = Field(default=24, ge=0, description="How many hours the first and the last of these have to be apart.")

    @property
    def rules(self) -> Rules:
        """What it says, as the core takes it."""
        return Rules(confirmations=self.confirmations, hours=self.hours)


class Archive(Section):
    """How long fetched pages are kept, and when a backfill reads them instead of fetching them again."""

    keep_last: int = Field(default=3, ge=1, description="So many of the newest generations of a page are kept.")
    keep_days: int = Field(
        default=0, ge=0, description="Beside them, all generations that are younger than so many days."
    )
    keep_changed: bool = Field(
        default=True, description="Beside them, each generation whose record differed from the one before it."
    )
    keep_all: bool = Field(default=False, description="Whether every generation is kept, whatever the other keys say.")
    reuse_within: values.Duration = Field(
        default="7d",
        description="How old a kept page may be for a backfill to read it, where the database has no record of it (it "
        'was restored from a backup). `"0s"`: such a page is always fetched.',
    )

    @property
    def reuse_within_ms(self) -> int:
        """That age in milliseconds."""
        return values.milliseconds(self.reuse_within)


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
    fetch: Fetch = Field(default_factory=Fetch, description="By which tools the pages are fetched.")
    costs: Costs | None = Field(default=None, description="What fetching costs, by tier.")
    budget: Budget = Field(default_factory=Budget, description="How much may be spent.")
    refresh: Refresh = Field(default_factory=Refresh, description="What a refresh looks at.")
    blocks: Blocks = Field(default_factory=Blocks, description="How block pages are recognised.")
    gate: Gate = Field(default_factory=Gate, description="How much a run may change before its changes are held.")
    delist: Delist = Field(default_factory=Delist, description="When a product is gone for good.")
    expect: Expect = Field(default_factory=Expect, description="What a healthy run looks like.")
    archive: Archive = Field(default_factory=Archive, description="How long fetched pages are kept.")
    schedule: SchedulePlan = Field(
        default_factory=SchedulePlan, description="What the worker runs for this store, and when (`scrapy worker`)."
    )

    @model_validator(mode="after")
    def _products_can_be_found(self) -> StoreFile:
        if self.discover.catalogue and self.catalogue is None:
            raise wrong("expected a [catalogue] with a url, because discover.catalogue is true", key="catalogue")
        if self.discover.platform and self.discover.feeds:
            raise wrong(
                "has no effect, because discover.platform carries the products already; leave one of the two out",
                key="discover.feeds",
            )
        carried = self.discover.platform or self.discover.feeds
        if not self.discover.sitemaps and not self.walks_catalogue and not carried:
            raise wrong(
                "expected at least one way to find products: sitemaps, a [catalogue] with a url, a platform or feeds",
                key="discover",
            )
        return self

    @model_validator(mode="after")
    def _money_has_a_price(self) -> StoreFile:
        for scope in ("run", "month"):
            if getattr(self.budget, scope).money is not None and (self.costs is None or not self.costs.table.tiers):
                raise wrong("has no effect, because [costs] names no price", key=f"budget.{scope}.money")
        return self

    @property
    def walks_catalogue(self) -> bool:
        """Whether the catalogue is walked."""
        return self.catalogue is not None and self.discover.catalogue is not False
