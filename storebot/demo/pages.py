"""The HTML pages of the demo store, as bytes: pure functions of the shop, and of how a lie wants it shown."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape

from storebot.demo import app, markup
from storebot.demo.filler import SHOP_NAME, Shell, shell
from storebot.demo.goods import Product, category_slug, price_text
from storebot.demo.shop import Shop
from storebot.demo.words import CATEGORIES

_RELATED_SETS = 24
_RELATED_CARDS = 8


@dataclass(frozen=True, slots=True)
class View:
    """How pages are shown while lies are told; the default is the truth."""

    price_factor: int = 1
    drifted: bool = False  # after a redesign: no structured data, other classes
    no_prices: bool = False  # a redesign that keeps everything else
    currency: str = ""  # another than the shop's
    frozen_lastmod: str | None = None  # entries of product paths in which this is found keep their first lastmod
    unlisted: str | None = None  # lists and sitemaps leave out products in whose path this is found

    @property
    def tag(self) -> str:
        """Return what an ETag of this view ends with: empty for the truth."""
        parts = {
            f"x{self.price_factor}": self.price_factor != 1,
            "drifted": self.drifted,
            "unpriced": self.no_prices,
            self.currency: bool(self.currency),
        }
        return "".join(f"-{part}" for part, shown in parts.items() if shown)


HONEST = View()


class Pages:
    """Renders the pages of one shop; keeps only what all pages share."""

    def __init__(self, shop: Shop, base_url: str) -> None:
        self._shop, self._base_url = shop, base_url
        self._currency = shop.options.currency
        self._shell: Shell = shell(shop.options.seed)
        self._related: dict[int, bytes] = {}

    def product(self, product: Product, view: View = HONEST) -> bytes:
        """Return a product page of 60 to 150 KB."""
        shell_ = self._shell
        head = self._head(product.name, product.description, product.path)
        data, main = self._facts(product, view)
        parts = [
            head.encode(),
            shell_.styles[product.id % len(shell_.styles)],
            f"{data}</head>\n<body>\n".encode(),
            shell_.nav,
            main.encode(),
            shell_.reviews[product.id // 7 % len(shell_.reviews)],
            b"" if view.drifted else self._related_to(product),
            shell_.footer,
        ]
        parts[-1:-1] = shell_.filling(product.page_bytes - sum(map(len, parts)), product.id)
        return b"".join(parts)

    def app(self, product: Product, delay_ms: int) -> bytes:
        """Return the page of a product as an application's: empty, until its script has run."""
        shell_ = self._shell
        head = self._head("Shop online", f"Shop online at {SHOP_NAME}", product.path).encode()
        body = app.root(product.path, delay_ms)
        filling = shell_.filling(20_000, product.id)
        return b"".join((head, b"</head>\n<body>\n", shell_.nav, body, *filling, shell_.footer))

    def app_data(self, product: Product, view: View = HONEST) -> bytes:
        """Return what the application's script fetches to fill that page, as JSON."""
        head, main = self._facts(product, view)
        return json.dumps({"title": f"{product.name} | {SHOP_NAME}", "head": head, "main": main}).encode()

    def catalogue(self, number: int, view: View = HONEST) -> bytes:
        """Return one page of the catalogue, without cards where it lies past the end."""
        shop = self._shop
        size, last = shop.options.page_size, shop.pages
        cards = self._cards(shop.products((number - 1) * size, size), view)
        near = [n for n in range(number - 3, number + 4) if 1 <= n <= last]
        links = "".join(f'<a class="page" href="{catalogue_path(n)}">{n}</a>' for n in near)
        if number > 1:
            links = f'<a class="prev" rel="prev" href="{catalogue_path(min(number, last + 1) - 1)}">Previous</a>{links}'
        if number < last:
            links += f'<a class="next" rel="next" href="{catalogue_path(number + 1)}">Next</a>'
        body = (
            f'<main class="catalogue">\n<h1>All products</h1>\n<p class="count">{len(shop.live)} products, '
            f'page {number} of {last}</p>\n{cards}<nav class="pagination">{links}</nav>\n</main>\n'
        )
        return self._page("All products", catalogue_path(number), body)

    def category(self, slug: str, view: View = HONEST) -> bytes | None:
        """Return the first products of a category, or None where no category has this name."""
        for place, path in enumerate(CATEGORIES):
            if category_slug(path) == slug:
                found = self._shop.in_category(place, len(CATEGORIES), self._shop.options.page_size)
                body = f'<main class="category">\n<h1>{escape(path[1])}</h1>\n{self._cards(found, view)}</main>\n'
                return self._page(path[1], f"/c/{slug}", body)
        return None

    def home(self, view: View = HONEST) -> bytes:
        """Return the home page: a way into the catalogue, and some products."""
        cards = self._cards(self._shop.products(0, 8), view)
        body = (
            '<main class="home">\n<h1>Good things for the house</h1>\n'
            f'<p><a class="all" href="{catalogue_path(1)}">See all products</a></p>\n{cards}</main>\n'
        )
        return self._page(SHOP_NAME, "/", body)

    def not_found(self, *, worded: bool = True) -> bytes:
        """Return the page for an address that the shop doesn't know, or no longer; or one that doesn't say so."""
        if not worded:
            body = f"<main>\n<h1>Off the shelf!</h1>\n<p>{'Have a look at our tea towels. ' * 12}</p>\n</main>\n"
            return self._page("Thistle", "/off-the-shelf", body)
        body = (
            '<main class="not-found">\n<h1>Page not found</h1>\n'
            "<p>Sorry, we could not find the page you were looking for. It may have moved, or be sold out.</p>\n"
            f'<p><a href="{catalogue_path(1)}">See all products</a></p>\n</main>\n'
        )
        return self._page("Page not found", "/", body)

    def _head(self, title: str, description: str, path: str) -> str:
        return (
            f'<!DOCTYPE html>\n<html lang="en-GB">\n<head>\n<meta charset="utf-8">\n'
            f"<title>{escape(title)} | {escape(SHOP_NAME)}</title>\n"
            f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f'<meta name="description" content="{escape(description[:150])}">\n'
            f'<link rel="canonical" href="{self._base_url}{path}">\n'
        )

    def _facts(self, product: Product, view: View) -> tuple[str, str]:
        """Return a product's data for the head of its page, and its visible block."""
        currency = view.currency or self._currency
        if view.price_factor != 1:
            product = markup.times(product, view.price_factor)
        if view.drifted:
            data, main = "", markup.drifted_main(product, self._base_url, currency)
        else:
            data = self._data(product, currency)
            main = markup.main(product, self._base_url, currency)
        if view.no_prices:
            data, main = markup.without_prices(data), markup.without_prices(main)
        return data, main

    def _data(self, product: Product, currency: str) -> str:
        if product.markup == "plain":
            return ""
        tags = markup.opengraph(product, self._base_url)
        return tags if product.markup == "microdata" else tags + markup.jsonld(product, self._base_url, currency)

    def _page(self, title: str, path: str, body: str) -> bytes:
        """Return a page that is no product's: with chrome, and little weight."""
        shell_ = self._shell
        head = self._head(title, f"{title} at {SHOP_NAME}", path).encode()
        return b"".join(
            (head, b"</head>\n<body>\n", shell_.nav, body.encode(), *shell_.filling(10_000, 0), shell_.footer)
        )

    def _cards(self, products: Iterable[Product], view: View) -> str:
        card, name, price = ("css-e1mu4r", "css-t4ndn0", "css-l5zzpc") if view.drifted else ("card", "title", "price")
        rows = "".join(
            f'<li class="{card}"><a class="{name}" href="{product.path}">{escape(product.name)}</a>'
            f'<span class="{price}">{price_text(product.price_minor * view.price_factor, self._currency)}</span></li>\n'
            for product in products
            if view.unlisted is None or not re.search(view.unlisted, product.path)
        )
        return f'<ul class="{"css-9zz0kx" if view.drifted else "cards"}">\n{rows}</ul>\n'

    def _related_to(self, product: Product) -> bytes:
        """Return cards of other products, as they were when the shop opened: they never change a product's page."""
        place = product.id % _RELATED_SETS
        if place not in self._related:
            self._related[place] = self._related_set(place)
        return self._related[place]

    def _related_set(self, place: int) -> bytes:
        shop = self._shop
        rng = random.Random(f"{shop.options.seed}:related:{place}")
        pool = range(1, shop.options.products + 1)
        drawn = rng.sample(pool, min(len(pool), _RELATED_CARDS + 2))
        others = [shop.opening(n) for n in drawn if n % _RELATED_SETS != place][:_RELATED_CARDS]
        cards = "".join(
            f'<li class="related-card"><a href="{other.path}"><img src="{other.images[0]}" alt="" loading="lazy">'
            f'<span class="related-name">{escape(other.name)}</span></a>'
            f'<span class="amount">{price_text(other.price_minor, self._currency)}</span></li>\n'
            for other in others
        )
        return f'<section class="related"><h2>You may also like</h2><ul>\n{cards}</ul></section>\n'.encode()


def catalogue_path(number: int) -> str:
    """Return the path of a catalogue page."""
    return f"/catalogue/page-{number}.html"
