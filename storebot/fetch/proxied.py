"""Which client of the plain tier can go through the proxies that a store file names (decision 0027)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from scrapy.utils.misc import load_object

from storebot.items import Tier
from storebot.stores.proxy_lists import read_lists

if TYPE_CHECKING:
    from storebot.stores.model import Store

EVERY_SCHEME = "storebot.fetch.http2.BoundedHttpxDownloadHandler"


def handler_for(store: Store) -> str | None:
    """Return the download handler that the plain tier needs; None where any will do.

    Scrapy's own clients speak no SOCKS5, and the default one no TLS to a proxy where it's TLS to the shop as well.

    Raises ConfigurationError where the handler's package isn't installed, or a list of proxies is no such.
    """
    if store.fetch.proxies is None:
        return None
    schemes = {proxy.scheme for proxy in read_lists(store, os.environ).get(Tier.HTTP, ())} - {"http"}
    if not schemes:
        return None
    # By its name: the module needs the package that is asked for here.
    require_extra = load_object("storebot.fetch.http2.require_extra")
    require_extra(f"{store.path}: fetch.proxies lists {' and '.join(sorted(schemes))} proxies")
    return EVERY_SCHEME
