"""Products of the demo store, each derived from the seed and its own id alone."""

from __future__ import annotations

import random
import re
import unicodedata
from dataclasses import dataclass, field

from storebot.demo.options import CURRENCIES, ShopOptions
from storebot.demo.words import BRANDS, CATEGORIES, FLOURISHES, MATERIALS, OPTION_VALUES, QUALITIES, SENTENCES

OPENED_S = 1_767_594_600  # the shop's clock starts on 5 January 2026, 06:30 UTC, whatever the real time is
DAY_S = 86_400

AVAILABILITIES = ("InStock", "OutOfStock", "PreOrder", "BackOrder")
_STOCK_WEIGHTS = (86, 10, 2, 2)
_CATEGORY_PATHS = tuple(CATEGORIES)
_BRAND_NAMES = tuple(BRANDS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """One sellable thing of a product: the product itself, or one variant of it."""

    sku: str
    gtin13: str
    price_minor: int
    availability: str  # schema.org ItemAvailability without its prefix
    options: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Product:
    """What the shop says of one product; with variants it has two to four offers, else one."""

    id: int
    slug: str
    name: str
    brand: str
    sku: str
    markup: str  # jsonld | microdata | plain
    offers: tuple[Offer, ...]
    category_path: tuple[str, str]
    images: tuple[str, ...]  # paths
    description: str
    rating_value: str
    review_count: int  # 0: unrated
    page_bytes: int  # what its page should weigh
    modified_s: int  # of the shop's clock

    @property
    def path(self) -> str:
        """Return the path of its page."""
        return f"/p/{self.slug}-{self.id}"

    @property
    def has_variants(self) -> bool:
        """Whether it is sold in variants."""
        return len(self.offers) > 1

    @property
    def price_minor(self) -> int:
        """Return the lowest price of its offers."""
        return min(offer.price_minor for offer in self.offers)

    @property
    def availability(self) -> str:
        """Return InStock where any offer is, else that of the first offer."""
        return "InStock" if any(o.availability == "InStock" for o in self.offers) else self.offers[0].availability


def product(options: ShopOptions, product_id: int) -> Product:
    """Return a product as it was when the shop opened."""
    rng = random.Random(f"{options.seed}:product:{product_id}")
    category_path = category_path_of(product_id)
    brand = rng.choice(_BRAND_NAMES)
    model = f"{rng.choice('BDGHKLMRTV')}{rng.randrange(100, 1000)}"
    thing = f"{rng.choice(QUALITIES)} {rng.choice(MATERIALS)} {rng.choice(CATEGORIES[category_path])}"
    name = f"{brand} {thing} {model}"
    slug = slugify(name)
    if rng.random() < 0.04:
        name += f" {rng.choice(FLOURISHES)}"
    markup = markup_of(options, product_id)
    sku = f"{BRANDS[brand]}-{product_id:06d}"
    return Product(
        id=product_id,
        slug=slug,
        name=name,
        brand=brand,
        sku=sku,
        markup=markup,
        offers=_offers(rng, options, product_id, sku, markup),
        category_path=category_path,
        images=tuple(f"/media/{sku.lower()}-{n}.jpg" for n in range(1, rng.randrange(2, 6))),
        description=" ".join(rng.sample(SENTENCES, rng.randrange(3, 7))),
        rating_value=f"{rng.randrange(28, 51) / 10:.1f}",
        review_count=rng.choice((0, rng.randrange(1, 20), rng.randrange(1, 900))),
        page_bytes=rng.randrange(66_000, 144_000),
        modified_s=OPENED_S - rng.randrange(DAY_S, 300 * DAY_S),
    )


def markup_of(options: ShopOptions, product_id: int) -> str:
    """Return how a product's page is marked up: jsonld, microdata or plain."""
    return ("jsonld", "microdata", "plain")[product_id % 3] if options.markup == "mixed" else options.markup


def category_path_of(product_id: int) -> tuple[str, str]:
    """Return the category that a product id falls in: the categories of ``words.CATEGORIES`` take turns."""
    return _CATEGORY_PATHS[product_id % len(_CATEGORY_PATHS)]


def gtin13(seed: int, number: int) -> str:
    """Return a GTIN-13 with a valid check digit, distinct for each number below 100,000,000 of one seed."""
    digits = f"50{seed % 100:02d}{number:08d}"
    total = sum(int(digit) * (3 if place % 2 else 1) for place, digit in enumerate(digits))
    return f"{digits}{-total % 10}"


def slugify(name: str) -> str:
    """Return a name in ASCII words joined by hyphens."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")


def category_slug(category_path: tuple[str, str]) -> str:
    """Return the name of a category in its URL."""
    return slugify(" ".join(category_path))


def decimal_text(price_minor: int, currency: str) -> str:
    """Return a price as plain decimal text: ``1299`` GBP is ``12.99``."""
    exponent = CURRENCIES[currency][1]
    return f"{price_minor // 10**exponent}.{price_minor % 10**exponent:0{exponent}d}" if exponent else str(price_minor)


def price_text(price_minor: int, currency: str) -> str:
    """Return a price as the shop shows it: ``£1,299.00``."""
    symbol, exponent = CURRENCIES[currency]
    whole = f"{symbol}{price_minor // 10**exponent:,}"
    return f"{whole}.{price_minor % 10**exponent:0{exponent}d}" if exponent else whole


def _offers(rng: random.Random, options: ShopOptions, product_id: int, sku: str, markup: str) -> tuple[Offer, ...]:
    price_minor = rng.randrange(4, 400) * 100 + rng.choice((0, 50, 95, 99))
    stock = rng.choices(AVAILABILITIES, _STOCK_WEIGHTS)[0]
    number = product_id * 10
    if markup == "plain" or rng.random() >= options.variant_share:
        gtin = gtin13(options.seed, number)
        return (Offer(sku=sku, gtin13=gtin, price_minor=price_minor, availability=stock),)
    return tuple(
        Offer(
            sku=f"{sku}-{n}",
            gtin13=gtin13(options.seed, number + n),
            price_minor=price_minor + (n - 1) * 250,
            availability=rng.choices(AVAILABILITIES, _STOCK_WEIGHTS)[0],
            options=chosen,
        )
        for n, chosen in enumerate(_variant_options(rng, rng.randrange(2, 5)), 1)
    )


def _variant_options(rng: random.Random, count: int) -> list[dict[str, str]]:
    names = rng.choice((("Colour",), ("Size",), ("Colour", "Size")))
    columns = [rng.sample(OPTION_VALUES[name], count) for name in names]
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]
