"""One `Reach` for each crawl: names are judged by a middleware, and by the clients when they have connected."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from storebot.core.reach import Reach
from storebot.exceptions import PrivateAddress
from storebot.stores.model import Store

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler


def reach_of(crawler: Crawler) -> Reach | None:
    """Return what the crawl of a store may reach, the same to all who ask; None where there is no store."""
    store = getattr(crawler.spider, "store", None)
    if crawler.spider is None or not isinstance(store, Store):
        return None
    return _OF_SPIDER.setdefault(crawler.spider, Reach(store.base_url))


def check_connection(reach: Reach | None, host: str, address: str) -> None:
    """Raise PrivateAddress where a name that was judged leads to a private address by now (DNS rebinding).

    To be called before anything is sent. Names that nobody judged are ours: those of proxies, and of a scraping API.
    """
    if reach is not None and (why := reach.rebound(host, address)):
        raise PrivateAddress(f"{host} isn't asked for anything, because it leads to {address} by now, and {why}")


_OF_SPIDER: WeakKeyDictionary[Spider, Reach] = WeakKeyDictionary()
