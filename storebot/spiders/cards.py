"""The cards of a store's catalogue pages, read as the store's records are."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from storebot.core.page import Page
from storebot.core.parsing.cards import read_cards
from storebot.core.urls import url_key
from storebot.db.cards import currency_of
from storebot.exceptions import InvalidURL
from storebot.items import Card
from storebot.run import Run
from storebot.stores.model import Store


class CardReader:
    """Reads cards; amounts whose text names no currency are in that of the store file, else in the known listings'."""

    def __init__(self, store: Store, run: Run) -> None:
        self.store, self.run, self.currency = store, run, ""

    async def prepare(self) -> None:
        """Ask for what a catalogue page itself doesn't say."""
        self.currency = await self.run.session.call(currency_of, self.store.name)

    def read(self, page: Page, links: Iterable[str]) -> tuple[Card, ...]:
        """Return what a page shows of the products that it links to."""
        keys: dict[str, str] = {}
        for url in links:
            if not self.store.is_product(url):
                continue
            try:
                keys[url] = url_key(url, self.store.key_rules)
            except InvalidURL:
                continue  # as in `product_pages`: it names no page
        context = self.store.context(url=page.url, url_key="")
        if context.currency is None and self.currency:
            context = replace(context, currency=self.currency)
        return read_cards(page, keys, context)
