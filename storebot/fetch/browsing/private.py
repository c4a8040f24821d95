"""Whether a store is in a private network itself, and so may be sent to its neighbours."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from urllib.parse import urlsplit

from scrapy.exceptions import CannotResolveHostError

from storebot.core.addresses import is_private, refusal
from storebot.core.proxy import Proxy
from storebot.fetch.browsing.guard import Guard, Resolve, resolve
from storebot.stores.model import Store

logger = logging.getLogger(__name__)

_MOST_HOSTS = 1000  # that are remembered


class Network:
    """What the pages of a store may reach. Names are resolved once."""

    def __init__(self, store: Store, resolve: Resolve = resolve) -> None:
        self._host, self._resolve = urlsplit(store.base_url).hostname or "", resolve
        self._known: dict[str, Sequence[str]] = {}

    @property
    def is_private(self) -> bool:
        """Whether the store's address says by itself that it's in a private network."""
        return is_private(self._host)

    async def guard(self, proxy: Proxy | None) -> Guard:
        """Open a guard for one visitor."""
        guard = Guard(private_ok=await self._private_ok(resolves=proxy is None), proxy=proxy, resolve=self._resolve)
        await guard.open()
        return guard

    async def judge(self, url: str, *, resolves: bool) -> str:
        """Say why a URL must not be asked for; "" where it may. ``resolves``: as this machine resolves its host."""
        host = urlsplit(url).hostname or ""
        addresses = await self._addresses(host) if resolves and host else ()
        return refusal(url, private_ok=await self._private_ok(resolves=resolves), addresses=addresses)

    async def _private_ok(self, *, resolves: bool) -> bool:
        return self.is_private or (resolves and any(map(is_private, await self._addresses(self._host))))

    async def _addresses(self, host: str) -> Sequence[str]:
        if host in self._known:
            return self._known[host]
        try:
            found = await self._resolve(host)
        except CannotResolveHostError as error:  # which whoever connects will say
            logger.debug("%s", error)
            return ()
        if len(self._known) >= _MOST_HOSTS:
            del self._known[next(iter(self._known))]
        self._known[host] = found
        return found
