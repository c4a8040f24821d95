"""The pages that may be lists of products, those that promise most first."""

from __future__ import annotations

from collections.abc import Callable

from storebot.core.probing.notebook import Notebook, key_of
from storebot.core.probing.pagination import is_page_link
from storebot.core.probing.seen import Kind, Seen
from storebot.core.probing.words import is_facet, is_no_page, promise
from storebot.core.urls import same_site

_MAX_STEPS = 3  # links between the start page and a list


class ListQueue:
    """Addresses that stand in menus, or say what they are; each is taken once."""

    def __init__(self, base_url: str) -> None:
        self.base_url = base_url
        self._scores: dict[str, float] = {}  # by address, in order of appearance
        self._steps: dict[str, int] = {}
        self._keys: set[str] = set()

    def add(self, seen: Seen) -> None:
        """Note the links of a page."""
        steps = self._steps.get(seen.url, 0) + 1
        if seen.kind not in (Kind.OTHER, Kind.PRODUCT) or steps > _MAX_STEPS:
            return  # a product's own path leads to lists that no menu has
        for link in seen.links:
            if link.is_card or is_page_link(link) or not same_site(link.url, self.base_url):
                continue  # a product, or another page of a list that is known
            self._add(link.url, promise(link.url, link.text) + (1.5 if link.in_frame else 0), steps)

    def add_listed(self, url: str) -> None:
        """Note an entry of a sitemap that names no products."""
        self._add(url, promise(url, "") - 0.5, 1)

    def _add(self, url: str, score: float, steps: int) -> None:
        if url in self._scores or score <= 0 or is_no_page(url) or is_facet(url):
            return
        key = key_of(url)
        if key not in self._keys:
            self._keys.add(key)
            self._scores[url] = score - 0.5 * (steps - 1)
            self._steps[url] = steps

    def take(self, book: Notebook, unless: Callable[[str], bool] | None = None) -> str | None:
        """Return the best address that wasn't looked at, and isn't to be passed over; None where none is left."""
        while self._scores:
            url = max(self._scores, key=self._scores.__getitem__)
            del self._scores[url]
            if book.known(url) is None and not (unless and unless(url)):
                return url
        return None
