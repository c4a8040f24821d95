"""What the saved shops of the corpus sell, by their goldens: the truth that a crawl of them is compared with."""

from __future__ import annotations

import csv
from decimal import Decimal
from functools import partial
from typing import NamedTuple
from urllib.parse import quote

from storebot.core.money import EXPONENTS
from tests.shared_data import shared

# Here the page shows another truth than its golden.
#
# The script that made these goldens read the price from microdata. Of the pages of this shop four have none, and show
# it to the customer alone (`<span class="price">$12.00</span>`) and to Facebook (`product:price:amount`).
_PRICES = {
    ("magento2-argon40", "argon-one-power-supply-for-raspberry-pi-4-eu.html"): Decimal(12),
    ("magento2-argon40", "argon-one-power-supply-for-raspberry-pi-4-uk.html"): Decimal(12),
    ("magento2-argon40", "raspberry-pi-4-model-b-2gb-ram.html"): Decimal(35),
    ("magento2-argon40", "raspberry-pi-4-model-b-4gb-ram.html"): Decimal(55),
}
# Pages about the shop that lie among its products: no price, no stock, no product in their structured data.
_NO_PRODUCTS = {
    ("woo-cloudchemistry", "shop/discounts/index.html"),
    ("woo-cloudchemistry", "shop/blends-categories/index.html"),
}
# What a shop means by its bare "$": the goldens of these leave the currency out.
_CURRENCIES = {"magento1-smullinsupply": "USD", "magento2-argon40": "USD"}
# A visible name is typeset, the same name in structured data often isn't: "Bane’s Headlock" is "Bane's Headlock".
_PLAIN = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "–": "-"})


class Golden(NamedTuple):
    """One product page."""

    path: str  # in the address: /x/ for x/index.html
    file: str
    name: str
    price_minor: int | None
    price_max_minor: int | None  # of a price range
    currency: str | None
    availability: str | None
    variants: int | None  # None where the page shows a range and the golden counts none of what is in it


def goldens(site: str) -> list[Golden]:
    """Return the products of one shop."""
    with shared(f"sites/{site}.golden.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    return [_golden(site, row) for row in rows if (site, row["path"]) not in _NO_PRODUCTS]


def plain(name: str | None) -> str:
    """Return a name without typesetting, to compare two by."""
    return (name or "").translate(_PLAIN)


def _golden(site: str, row: dict[str, str]) -> Golden:
    text = row["price_visible"] or row["ld_price"]
    price = _PRICES.get((site, row["path"])) or (Decimal(text) if text else None)
    currency = row["currency"] or (_CURRENCIES[site] if price else None)
    # DESIGN §5, "Money": zero isn't a price. WooCommerce gives 0.00 for a product of which every part is chosen.
    minor = partial(_minor, exponent=EXPONENTS[currency]) if currency else lambda _: None
    return Golden(
        path="/" + quote(row["path"].removesuffix("index.html")),
        file=row["path"],
        name=row["name"],
        price_minor=minor(price),
        price_max_minor=minor(Decimal(row["price_high"]) if row["price_high"] else None),
        currency=currency,
        availability=row["availability"] or None,
        variants=int(row["variants"]) if row["variants"] else None if row["price_high"] else 1,
    )


def _minor(price: Decimal | None, exponent: int) -> int | None:
    return int(price.scaleb(exponent)) if price else None
