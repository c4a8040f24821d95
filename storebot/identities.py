"""The identities of a run: which one serves a tier until it is blocked, its proxy fails, or it has served enough."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Self

from storebot.core.identity import FIRST, Identity
from storebot.core.proxy import Proxy
from storebot.core.proxy_pool import BLOCKED_S, ProxyPool, Rest
from storebot.items import Tier
from storebot.stores.model import Store
from storebot.stores.proxy_lists import read_lists

# Scrapy's own client and aiohttp's speak neither SOCKS5 nor, the first of them, TLS through TLS (decision 0027).
EVERY_SCHEME = "storebot.fetch.http2.BoundedHttpxDownloadHandler"


@dataclass(slots=True)
class _Lane:
    """The tiers that share a list of proxies, and with it their identity."""

    pool: ProxyPool | None  # None: directly
    current: Identity | None = None
    served: int = 0  # requests of the current one


class Identities:
    """One identity at a time for each list of proxies, and one for all tiers that have none.

    It is sticky: it serves every request until it's retired, and then nobody any more. ``rotate_after`` retires it
    after so many requests. ``clock`` is monotonic, in seconds.
    """

    def __init__(
        self,
        lists: Mapping[Tier, Sequence[Proxy]] | None = None,
        *,
        blocked_s: float = BLOCKED_S,
        rotate_after: int | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._rotate_after, self._clock = rotate_after, clock
        self._numbers = count(FIRST.number)
        self._direct = _Lane(None)
        lanes: dict[tuple[Proxy, ...], _Lane] = {}
        self._lanes: dict[Tier, _Lane] = {}
        for tier, proxies in (lists or {}).items():
            if proxies:
                key = tuple(proxies)
                self._lanes[tier] = lanes.setdefault(key, _Lane(ProxyPool(key, blocked_s=blocked_s)))
        self.has_proxies = bool(self._lanes)
        self.are_plain = not self.has_proxies and rotate_after is None
        """Whether all requests are of `FIRST` so far, and need not be marked."""

    @classmethod
    def of_store(cls, store: Store, environ: Mapping[str, str]) -> Self:
        """Return the identities that a store file asks for. Raises what `read_lists` raises."""
        proxies = store.fetch.proxies
        if proxies is None:
            return cls()
        lists = read_lists(store, environ)
        return cls(lists, blocked_s=proxies.cool_down_s, rotate_after=proxies.rotate_after)

    def of(self, tier: Tier) -> Identity | None:
        """Return the identity that serves a tier now; None while all of its proxies rest."""
        lane = self._lane(tier)
        if lane.current is None:
            proxy = lane.pool.next(self._clock()) if lane.pool else None
            if lane.pool and proxy is None:
                return None
            lane.current, lane.served = Identity(next(self._numbers), proxy), 0
        return lane.current

    def serves(self, identity: Identity, tier: Tier) -> bool:
        """Say whether an identity still is the one of a tier."""
        return self._lane(tier).current == identity

    def count(self, tier: Tier) -> None:
        """Note one request of the current identity."""
        lane = self._lane(tier)
        lane.served += 1
        if self._rotate_after is not None and lane.served >= self._rotate_after:
            self._retire(lane)

    def blocked(self, identity: Identity, tier: Tier) -> None:
        """Retire an identity that the shop blocked; its proxy rests."""
        lane = self._lane(tier)
        if lane.pool and identity.proxy:
            lane.pool.blocked(identity.proxy, self._clock())
        self._end(lane, identity)

    def acquit(self, identity: Identity, tier: Tier) -> None:
        """Let the proxy of a blocked identity back into service: another one was blocked at the same page."""
        if (pool := self._lane(tier).pool) and identity.proxy:
            pool.acquit(identity.proxy)

    def failed(self, identity: Identity, tier: Tier, *, surely: bool) -> bool:
        """Note that the proxy of an identity failed, or that it may have; return whether it's retired by that."""
        lane = self._lane(tier)
        if lane.pool is None or identity.proxy is None:
            return False
        if surely:
            lane.pool.failed(identity.proxy, self._clock())
        elif not lane.pool.doubted(identity.proxy, self._clock()):
            return False
        self._end(lane, identity)
        return True

    def served(self, identity: Identity, tier: Tier) -> None:
        """Note that an identity got what was asked for."""
        if (pool := self._lane(tier).pool) and identity.proxy:
            pool.served(identity.proxy)

    def wait_s(self, tier: Tier) -> float:
        """Return how long it takes until a proxy of a tier is back in service; 0 where one is, or none is needed."""
        pool = self._lane(tier).pool
        return max(0.0, pool.next_at() - self._clock()) if pool else 0.0

    def are_all_blocked(self, tier: Tier) -> bool:
        """Say whether the shop has blocked every proxy of a tier."""
        pool = self._lane(tier).pool
        return pool is not None and pool.all_blocked(self._clock())

    def told(self, tier: Tier) -> str:
        """Say how the proxies of a tier do."""
        pool = self._lane(tier).pool
        return pool.told(self._clock()) if pool else "no proxies"

    def rests(self, now_ms: int) -> list[Rest] | None:
        """Return what to keep of the proxies that the shop blocked; None without proxies.

        ``now_ms`` is now by the clock that outlives the run. Of one that is in several lists the longest rest counts.
        """
        if not self.has_proxies:
            return None
        found: dict[str, Rest] = {}
        for rest in sorted(rest for pool in self._pools() for rest in pool.rests(self._clock(), now_ms)):
            found[rest.name] = rest
        return list(found.values())

    def remember(self, rests: Iterable[Rest], now_ms: int) -> None:
        """Begin with what earlier runs kept."""
        for pool in self._pools():
            pool.remember(rests, self._clock(), now_ms)

    def _pools(self) -> list[ProxyPool]:
        lanes = {id(lane): lane.pool for lane in self._lanes.values()}
        return [pool for pool in lanes.values() if pool is not None]

    def _lane(self, tier: Tier) -> _Lane:
        return self._lanes.get(tier, self._direct)

    def _end(self, lane: _Lane, identity: Identity) -> None:
        """Retire an identity, unless another one has taken over already: several pages of it may be in flight."""
        if lane.current is None and identity == FIRST and self.are_plain:
            next(self._numbers)  # it served without being asked for
            self.are_plain = False
        elif lane.current == identity:
            self._retire(lane)

    def _retire(self, lane: _Lane) -> None:
        lane.current = None
        self.are_plain = False
