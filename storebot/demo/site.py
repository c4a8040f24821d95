"""The honest demo store: a path in, the true answer out."""

from __future__ import annotations

import gzip
import hashlib
import re
from collections import OrderedDict
from collections.abc import Callable

from storebot.demo import app, sitemaps
from storebot.demo.answers import GZIP, HTML, JSON, SCRIPT, TEXT, XML, Answer, Asked, http_date, not_modified
from storebot.demo.goods import Product, category_path_of, category_slug
from storebot.demo.pages import HONEST, Pages, View, catalogue_path
from storebot.demo.shop import Shop

_PRODUCT = re.compile(r"/p/([^/]+)-(\d{1,9})")
_CATALOGUE = re.compile(r"/catalogue/page-([1-9]\d{0,8})\.html")
_CHILD = re.compile(r"/sitemaps/products-([1-9]\d{0,8})\.xml\.gz")
_DATA = re.compile(r"/data/p/([^/]+)-(\d{1,9})\.json")
_CATEGORY = re.compile(r"/c/([a-z0-9-]+)")

_KINDS = (("/p/", "product"), ("/catalogue/", "catalogue"), ("/sitemap", "sitemap"), ("/robots.txt", "robots"))
_CACHE_BYTES = 24_000_000


def kind_of(path: str) -> str:
    """Return what a path is for: product, catalogue, sitemap, robots or other."""
    return next((kind for prefix, kind in _KINDS if path.startswith(prefix)), "other")


class Site:
    """Answers for one shop at one address.

    Catalogue pages and sitemaps are kept in a bounded cache until the clock moves; product pages are cheap to join.
    """

    def __init__(self, shop: Shop, base_url: str) -> None:
        self._shop, self._base_url = shop, base_url
        self._pages = Pages(shop, base_url)
        self._kept: OrderedDict[tuple[str, View], bytes] = OrderedDict()
        self._kept_bytes = 0
        self._kept_tick = shop.tick

    def answer(self, asked: Asked, view: View = HONEST) -> Answer:
        """Return the answer to one request for a page, as it is shown in this view."""
        path = asked.path
        if match := _PRODUCT.fullmatch(path):
            return self._product(asked, view, match[1], int(match[2]))
        if match := _CATALOGUE.fullmatch(path):
            return self._catalogue(asked, view, int(match[1]))
        if match := _CHILD.fullmatch(path):
            number = int(match[1])
            if number > self._shop.sitemaps:
                return self.not_found()
            return self._fixed(asked, view, GZIP, lambda: sitemaps.child(self._shop, self._base_url, number, view))
        if path == "/sitemap.xml":
            frozen = view.frozen_lastmod is not None
            return self._fixed(asked, view, XML, lambda: sitemaps.index(self._shop, self._base_url, frozen))
        if path == "/robots.txt":
            return self._fixed(asked, view, TEXT, lambda: sitemaps.robots(self._shop, self._base_url))
        if match := _DATA.fullmatch(path):
            product = self._on_sale(match[1], int(match[2]))
            return self.not_found() if product is None else self._data(product, view)
        if path == app.SCRIPT_PATH:
            return self._fixed(asked, view, SCRIPT, lambda: app.SCRIPT)
        if path == "/":
            return self._fixed(asked, view, HTML, lambda: self._pages.home(view))
        if (match := _CATEGORY.fullmatch(path)) and (body := self._pages.category(match[1], view)) is not None:
            return self._fixed(asked, view, HTML, lambda: body)
        return self.not_found()

    def not_found(self, status: int = 404, *, worded: bool = True) -> Answer:
        """Return the shop's page for an unknown address; ``worded`` False: one that doesn't say that it is."""
        return Answer(status=status, body=self._pages.not_found(worded=worded))

    def app(self, path: str, delay_ms: int) -> bytes | None:
        """Return the application's page for a product's address, which its script fills; None for other addresses."""
        match = _PRODUCT.fullmatch(path)
        product = self._on_sale(match[1], int(match[2])) if match else None
        return self._pages.app(product, delay_ms) if product else None

    def category_of(self, path: str) -> str:
        """Return the path of the category page that a product's address belongs to; the catalogue for others."""
        match = _PRODUCT.fullmatch(path)
        return f"/c/{category_slug(category_path_of(int(match[2])))}" if match else catalogue_path(1)

    def first_product(self) -> str | None:
        """Return the path of the oldest product on sale; None where there is none."""
        return next((product.path for product in self._shop.products(0, 1)), None)

    def neighbour_of(self, path: str) -> str | None:
        """Return the path of the product beside that of a path: the two are each other's; None for other pages."""
        match = _PRODUCT.fullmatch(path)
        number = int(match[2]) if match else 0
        product = self._shop.product(number + 1 if number % 2 else number - 1) if number else None
        return product.path if product else None

    def _product(self, asked: Asked, view: View, slug: str, product_id: int) -> Answer:
        if product_id in self._shop.gone:
            return self.not_found(self._shop.gone[product_id])
        product = self._on_sale(slug, product_id)
        if product is None:
            return self.not_found()
        modified_s = None if view.tag else product.modified_s  # a page that lies has no honest date
        return self._conditional(
            asked, self._product_etag(product, view), modified_s, HTML, lambda: self._pages.product(product, view)
        )

    def _on_sale(self, slug: str, product_id: int) -> Product | None:
        product = self._shop.product(product_id)
        return product if product and product.slug == slug else None

    def _data(self, product: Product, view: View) -> Answer:
        return Answer(
            body=self._pages.app_data(product, view), content_type=JSON, headers={"Cache-Control": "no-store"}
        )

    def _product_etag(self, product: Product, view: View) -> str:
        """Return a tag without rendering: it moves whenever this product changes, and only then."""
        facts = f"{self._shop.options}|{self._base_url}|{product.id}|{product.modified_s}"
        return f'"{hashlib.sha256(facts.encode()).hexdigest()[:20]}{view.tag}"'

    def _catalogue(self, asked: Asked, view: View, number: int) -> Answer:
        last = self._shop.pages
        if number > last:
            match self._shop.options.past_end:
                case "404":
                    return self.not_found()
                case "redirect_first":
                    return Answer(status=302, headers={"Location": self._base_url + catalogue_path(1)})
                case "repeat_last":
                    return self._fixed(
                        asked, view, HTML, lambda: self._pages.catalogue(last, view), catalogue_path(last)
                    )
        return self._fixed(asked, view, HTML, lambda: self._pages.catalogue(number, view))

    def _fixed(self, asked: Asked, view: View, kind: str, render: Callable[[], bytes], path: str = "") -> Answer:
        """Answer with a page whose tag is the hash of its bytes."""
        body = self._keep(path or asked.path, view, render)
        etag = f'"{hashlib.sha256(body).hexdigest()[:20]}"'
        return self._conditional(asked, etag, None, kind, lambda: body)

    def _conditional(
        self, asked: Asked, etag: str, modified_s: int | None, content_type: str, render: Callable[[], bytes]
    ) -> Answer:
        zipped = self._shop.options.gzip and asked.accepts_gzip and content_type != GZIP
        suffixed = zipped and self._shop.options.etag_gzip_suffix
        headers = {
            "ETag": f'{etag[:-1]}-gzip"' if suffixed else etag,
            "Cache-Control": "private, max-age=0, must-revalidate",
        }
        if modified_s is not None:
            headers["Last-Modified"] = http_date(modified_s)
        if self._shop.options.gzip:
            headers["Vary"] = "Accept-Encoding"
        if not_modified(asked, etag, modified_s):
            return Answer(status=304, headers=headers)
        body = render()
        if zipped:
            headers["Content-Encoding"] = "gzip"
            body = gzip.compress(body, compresslevel=1, mtime=0)
        return Answer(body=body, content_type=content_type, headers=headers)

    def _keep(self, path: str, view: View, render: Callable[[], bytes]) -> bytes:
        if self._kept_tick != self._shop.tick:
            self._kept.clear()
            self._kept_bytes, self._kept_tick = 0, self._shop.tick
        key = (path, view)
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        body = self._kept[key] = render()
        self._kept_bytes += len(body)
        while self._kept_bytes > _CACHE_BYTES:
            self._kept_bytes -= len(self._kept.popitem(last=False)[1])
        return body
