"""`[fetch]` of a store file: by which tools its pages are fetched."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, Field, model_validator

from storebot.items import Tier
from storebot.stores import values
from storebot.stores.fetch_api import Api
from storebot.stores.fetch_attached import Attached
from storebot.stores.fetch_browser import Browser
from storebot.stores.fetch_proxies import Proxies
from storebot.stores.headers import country_code, language_tags, page_headers
from storebot.stores.section import Section
from storebot.stores.wording import wrong


class Fetch(Section):
    """By which tools the pages are fetched, the cheapest first."""

    tiers: values.Tiers = Field(
        default=(Tier.HTTP,),
        description='The tools that may be used: `"http"`, `"http2"`, `"browser"`, `"attached"`, `"api"`. The '
        "cheapest is tried first; another one only where that one is blocked, times out, or gets a page without its "
        "fields.",
    )
    headers: Annotated[dict[str, str], BeforeValidator(page_headers)] = Field(
        default_factory=dict,
        description="Table of headers that every request to the shop has, beside those of Scrapy or in their place: "
        '`Accept = "text/html"`. A browser sends its own.',
    )
    language: Annotated[str, BeforeValidator(language_tags)] | None = Field(
        default=None,
        description='Languages in which pages are asked for, as in the header Accept-Language: `"de-DE"`, '
        '`"de-DE,de;q=0.9"`. Without the key: `en`.',
    )
    country: Annotated[str, BeforeValidator(country_code)] | None = Field(
        default=None,
        description='Country from which the shop is to be seen, as its ISO 3166 code such as `"DE"`: `{country}` for '
        "a scraping API. The other tiers are where their connection is, or its proxy.",
    )
    proxies: Proxies | None = Field(
        default=None, description="Through which proxies; without the section directly, or as `http_proxy` says."
    )
    browser: Browser | None = Field(default=None, description="How the tiers `browser` and `attached` render a page.")
    attached: Attached | None = Field(default=None, description="The browser of the tier `attached`.")
    api: Api | None = Field(default=None, description="The scraping API of the tier `api`.")

    @model_validator(mode="after")
    def _there_is_a_browser_to_attach_to(self) -> Fetch:
        if Tier.ATTACHED in self.tiers and self.attached is None:
            raise wrong(
                'is missing: fetch.tiers lists "attached"; expected a [fetch.attached] section', key="fetch.attached"
            )
        return self

    @model_validator(mode="after")
    def _api_knows_all_it_needs(self) -> Fetch:
        if self.api is None:
            if Tier.API in self.tiers:
                raise wrong('is missing: fetch.tiers lists "api"; expected a [fetch.api] section', key="fetch.api")
            return self
        for name in ("country", "language"):
            if name in self.api.used and getattr(self, name) is None:
                raise wrong(f"is missing, because [fetch.api] uses {{{name}}}", key=f"fetch.{name}")
        return self
