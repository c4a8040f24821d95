"""The shop at one moment of its clock: which products it sells, and how each one stands."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from storebot.demo import goods
from storebot.demo.goods import Product, decimal_text
from storebot.demo.options import ShopOptions


class Shop:
    """A shop of any size in little memory: products come from the seed, and only changed ones are kept."""

    def __init__(self, options: ShopOptions) -> None:
        self.options = options
        self.now_s = goods.OPENED_S
        self.tick = 0
        self.last_id = options.products
        self.live: list[int] = list(range(1, options.products + 1))  # rising: the newest product is last
        self.gone: dict[int, int] = {}  # id -> the status that its page answers with
        self.touched: dict[int, int] = {}  # number of a sitemap child -> when an entry in it came, went or changed
        self._changed: dict[int, Product] = {}
        self._first = lru_cache(maxsize=8_192)(self._opening)

    def product(self, product_id: int) -> Product | None:
        """Return a product on sale as it stands now, or None."""
        if not 1 <= product_id <= self.last_id or product_id in self.gone:
            return None
        return self._changed.get(product_id) or self._first(product_id)

    def opening(self, product_id: int) -> Product:
        """Return a product as it was first offered, on sale still or not."""
        return self._first(product_id)

    def products(self, first: int = 0, count: int | None = None) -> Iterator[Product]:
        """Yield live products in catalogue order, from position ``first``."""
        for product_id in self.live[first : None if count is None else first + count]:
            found = self.product(product_id)
            if found is not None:  # it may vanish while a long list is being read
                yield found

    def in_category(self, place: int, categories: int, count: int) -> Iterator[Product]:
        """Yield the first live products of the category with this place in the table."""
        ids = (product_id for product_id in self.live if product_id % categories == place)
        for product_id, _ in zip(ids, range(count), strict=False):
            found = self.product(product_id)
            if found is not None:
                yield found

    def put(self, product: Product) -> None:
        """Replace a product, as of its ``modified_s``."""
        self._changed[product.id] = product
        self._touch(product.id)

    def remove(self, product_id: int, status: int) -> None:
        """Take a product off sale: its page answers with this status from now on."""
        self.gone[product_id] = status
        self.live.remove(product_id)
        self._changed.pop(product_id, None)
        self._touch(product_id)

    @property
    def pages(self) -> int:
        """Return how many catalogue pages there are: at least one."""
        return max(1, -(-len(self.live) // self.options.page_size))

    @property
    def sitemaps(self) -> int:
        """Return how many sitemap children there are: at least one."""
        return max(1, -(-self.last_id // self.options.sitemap_size))

    def sitemap_products(self, number: int) -> list[Product]:
        """Return the live products of one sitemap child; children are numbered from 1."""
        size = self.options.sitemap_size
        ids = range((number - 1) * size + 1, min(number * size, self.last_id) + 1)
        return [found for product_id in ids if (found := self.product(product_id)) is not None]

    def _touch(self, product_id: int) -> None:
        self.touched[(product_id - 1) // self.options.sitemap_size + 1] = self.now_s

    def _opening(self, product_id: int) -> Product:
        return goods.product(self.options, product_id)


def truth_of(product: Product, base_url: str, currency: str) -> dict[str, Any]:
    """Return what an honest crawl must find on a product's page; prices as decimal text and in minor units."""
    single = None if product.has_variants else product.offers[0]
    return {
        "id": product.id,
        "url": base_url + product.path,
        "name": product.name,
        "brand": product.brand,
        "sku": product.sku,
        "gtin": single.gtin13 if single else None,
        "price": decimal_text(product.price_minor, currency),
        "price_minor": product.price_minor,
        "currency": currency,
        "availability": product.availability,
        "category_path": list(product.category_path),
        "images": [base_url + path for path in product.images],
        "description": product.description,
        "rating_value": product.rating_value if product.review_count else None,
        "review_count": product.review_count or None,
        "markup": product.markup,
        "modified_s": product.modified_s,
        "variants": [
            {
                "sku": offer.sku,
                "gtin": offer.gtin13,
                "options": offer.options,
                "price": decimal_text(offer.price_minor, currency),
                "price_minor": offer.price_minor,
                "availability": offer.availability,
            }
            for offer in product.offers
            if product.has_variants
        ],
    }
