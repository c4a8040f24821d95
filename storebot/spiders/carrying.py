"""The visits of product pages that a feed carries: read, judged and hashed as a fetched page is, without a request."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator

from storebot.core.parsing.platforms.carried import CarriedProduct
from storebot.core.record import hashed, normalised, refusal
from storebot.core.urls import url_key
from storebot.core.validate import validate
from storebot.exceptions import InvalidURL
from storebot.items import Discovered, Outcome, Target, Visit
from storebot.spiders.found import product_pages
from storebot.stores.model import Store

logger = logging.getLogger(__name__)


class Carrier:
    """Makes visits of carried products, each page once a run: a catalogue that shifts names some of them twice."""

    def __init__(self, store: Store, source: str) -> None:
        self.store, self.source = store, source
        self._seen: set[str] = set()
        self._had: set[str] = set()

    @property
    def count(self) -> int:
        """The products that were seen, those that aren't the store's included."""
        return len(self._seen)

    def keys(self, products: Iterable[CarriedProduct]) -> tuple[str, ...]:
        """Return the keys of all products that have an address, those that aren't the store's included."""
        keys = tuple(key for product in products if (key := self._key(product.url)))
        self._seen.update(keys)
        return keys

    def visits(
        self, products: Iterable[CarriedProduct], at_ms: int, sha256: str
    ) -> tuple[tuple[Discovered, ...], tuple[Visit, ...]]:
        """Return the pages that are the store's by host and product_url, and the visit of each that had none yet.

        ``sha256`` is that of the document which carried them.
        """
        by_url = {product.url: product for product in products}
        found = product_pages(self.store, ((url, None) for url in by_url))
        fresh = [one for one in found if by_url[one.url].extracted and one.url_key not in self._had]
        self._had.update(one.url_key for one in fresh)
        return found, tuple(self._visits(fresh, by_url, at_ms, sha256))

    def _key(self, url: str) -> str | None:
        try:
            return url_key(url, self.store.key_rules)
        except InvalidURL:
            return None  # it names no page; the reader's other products count

    def _visits(
        self, found: Iterable[Discovered], by_url: dict[str, CarriedProduct], at_ms: int, sha256: str
    ) -> Iterator[Visit]:
        for one in found:
            visit = Visit(
                target=Target(store=self.store.name, url=one.url, url_key=one.url_key),
                at_ms=at_ms,
                status=200,
                source=self.source,
                requests=0,
                final_url=one.url,
                final_key=one.url_key,
                page_sha256=sha256,
            )
            self._read(visit, by_url[one.url])
            yield visit

    def _read(self, visit: Visit, product: CarriedProduct) -> None:
        context = self.store.context(url=product.url, url_key=visit.target.url_key)
        listings, visit.problems = normalised(product.extracted, context)
        required = self.store.required
        reason = refusal(one for listing in listings for one in validate(listing, required, visit.problems))
        if reason:
            logger.warning("%s: invalid: %s", product.url, reason)
            visit.outcome, visit.reason = Outcome.INVALID, reason
        else:
            visit.listings, visit.content_hash, visit.details_hash = hashed(listings)
