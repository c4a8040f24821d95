"""`[costs]` and `[budget]` of a store file: what fetching costs, and how much of it may be spent."""

from __future__ import annotations

from decimal import Decimal

from pydantic import Field, ValidationInfo, field_validator

from storebot.core.budget import Limits
from storebot.core.costs import MICRO, Prices, PriceTable, nano
from storebot.items import Tier
from storebot.stores import values
from storebot.stores.section import Section
from storebot.stores.wording import wrong

_PER_REQUEST = 'Price of one request, as text: `"0.0001"`.'
_PER_GB = 'Price of a GB (10⁹ bytes) of what comes in, as text, such as a proxy\'s traffic: `"4.00"`.'


def _price(description: str) -> Decimal | None:
    found: Decimal | None = Field(default=None, description=description)
    return found


class Wire(Section):
    """The prices of a tier that speaks HTTP itself."""

    per_request: values.Price | None = _price(_PER_REQUEST)
    per_gb: values.Price | None = _price(_PER_GB)


class Browser(Wire):
    """The prices of a tier that is a browser."""

    per_browser_hour: values.Price | None = _price('Price of an hour that a page is open, as text: `"0.09"`.')


class Api(Wire):
    """The prices of a scraping API."""

    per_call: values.Price | None = _price(
        'Price of one call that is billed, as text: `"0.0021"`. Where `fetch.api.cost` names what a call took: of one '
        "such unit."
    )


class Costs(Section):
    """What fetching costs, by tier; a tier without prices counts as free, and `scrapy costs` says so."""

    currency: values.CurrencyCode = Field(description='The ISO 4217 code of all these prices, such as `"EUR"`.')
    http: Wire | None = Field(default=None, description="Prices of the tier `http`.")
    http2: Wire | None = Field(default=None, description="Prices of the tier `http2`.")
    browser: Browser | None = Field(default=None, description="Prices of the tier `browser`.")
    attached: Browser | None = Field(default=None, description="Prices of the tier `attached`.")
    api: Api | None = Field(default=None, description="Prices of the tier `api`.")

    @property
    def table(self) -> PriceTable:
        """The prices, as the core takes them."""
        named = {tier: found for tier in Tier if (found := getattr(self, tier.value)) is not None}
        return PriceTable(self.currency, {tier: prices for tier, one in named.items() if (prices := _prices(one))})


def _prices(section: Section) -> Prices | None:
    """Return the prices that a section names; None where it names none."""
    named = {name: nano(price) for name, price in section if price is not None}
    return Prices(**named) if named else None


class Allowance(Section):
    """The most that may be spent; what isn't named has no limit."""

    requests: int | None = Field(default=None, ge=1, description="The most requests, those of discovery included.")
    bytes: values.Size | None = Field(
        default=None, description='The most that may come in, with its unit (KB, MB, GB): `"20GB"`.'
    )
    browser_minutes: int | None = Field(default=None, ge=1, description="The most minutes that pages may be open.")
    money: values.Price | None = Field(
        default=None, description='The most money, in the currency of `[costs]`, as text: `"25.00"`.'
    )

    @field_validator("money")
    @classmethod
    def _money_is_some(cls, amount: Decimal | None, _: ValidationInfo) -> Decimal | None:
        if amount is not None and amount < Decimal(1) / MICRO:
            raise wrong(
                "expected an amount above nought; for tiers that cost nothing, leave the others out of fetch.tiers"
            )
        return amount

    @property
    def limits(self) -> Limits:
        """What it says, as the core takes it."""
        return Limits(
            requests=self.requests,
            size_bytes=None if self.bytes is None else values.size_bytes(self.bytes),
            browser_ms=None if self.browser_minutes is None else self.browser_minutes * 60_000,
            cost_micro=None if self.money is None else int(self.money * MICRO),
        )


class Budget(Section):
    """How much may be spent; at the limit a crawl ends with exit 6, and the next one goes on."""

    run: Allowance = Field(default_factory=Allowance, description="The most that one run may spend.")
    month: Allowance = Field(
        default_factory=Allowance, description="The most that the runs of a calendar month (UTC) may spend together."
    )

    def of_requests(self, most: int) -> Budget:
        """Return the same with another limit to the requests of a run."""
        return self.model_copy(update={"run": self.run.model_copy(update={"requests": most})})
