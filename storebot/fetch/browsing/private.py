"""What the pages of a store may reach: no private network, unless the store is in one itself."""

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
# https://chromedevtools.github.io/devtools-protocol/tot/Network/#type-IPAddressSpace; "" where it isn't said
_ANYWHERE = ("Public", "Unknown", "")


class Network:
    """What the pages of a store may reach. Names are resolved once."""

    def __init__(self, store: Store, resolve: Resolve = resolve) -> None:
        self._host, self._resolve = urlsplit(store.base_url).hostname or "", resolve
        self._known: dict[str, Sequence[str]] = {}

    async def guard(self, proxy: Proxy | None) -> Guard:
        """Open a guard for one visitor."""
        guard = Guard(private_ok=await self.private_ok(resolves=proxy is None), proxy=proxy, resolve=self._resolve)
        await guard.open()
        return guard

    async def judge(self, url: str, *, resolves: bool) -> str:
        """Say why a URL must not be asked for; "" where it may. ``resolves``: as this machine resolves its host."""
        host = urlsplit(url).hostname or ""
        addresses = await self._addresses(host) if resolves and host else ()
        return refusal(url, private_ok=await self.private_ok(resolves=resolves), addresses=addresses)

    async def private_ok(self, *, resolves: bool) -> bool:
        """Say whether the store is in a private network, by its name or as this machine resolves it."""
        return is_private(self._host) or (resolves and any(map(is_private, await self._addresses(self._host))))

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


class OwnNetwork:
    """Judges what a browser may do that reaches the network without us: the `Judge` of its tabs' `Rules`.

    ``resolves`` is False for one that goes through a proxy, which resolves names where it is.
    """

    def __init__(self, network: Network, *, resolves: bool) -> None:
        self._network, self._resolves = network, resolves

    async def request(self, url: str) -> str:
        """Say why a URL must not be asked for."""
        return await self._network.judge(url, resolves=self._resolves)

    async def answer(self, space: str) -> str:
        """Say why an answer isn't taken that came from a kind of address; of one by a proxy the browser knows none."""
        if space in _ANYWHERE or await self._network.private_ok(resolves=True):
            return ""
        return f"something of it came from a private network, to which its name leads where the browser runs ({space})"
