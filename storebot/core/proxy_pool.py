"""Which of several proxies serves, which rests, and for how long."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from storebot.core.proxy import Proxy

BLOCKED_S = 600.0  # the first rest after a block; each further one is twice as long
FAILED_S = 30.0  # the first rest of one that can't be reached: a restart of it takes no longer
LONGEST_S = 24 * 3600.0
DOUBTS = 3  # failures in a row that may be the shop's own, after which the proxy rests nevertheless


class Why(StrEnum):
    """Why a proxy rests."""

    BLOCKED = "blocked"
    FAILED = "failed"


class Rest(NamedTuple):
    """What is kept of a proxy that a shop has blocked, when the run that met it is over."""

    name: str  # of `names`
    until_ms: int  # since the epoch; 0: it's back in service, and hasn't served since
    blocks: int  # rests since it last served


def names(proxies: Sequence[Proxy]) -> dict[Proxy, str]:
    """Return a name for each proxy of a list, which says neither its password nor its user: both may be secrets.

    Proxies at one address are told apart by a hash of the user, and where that is the same by their order.
    """
    found: dict[Proxy, str] = {}
    met: Counter[str] = Counter()
    for proxy in proxies:
        user = f" {hashlib.sha256(proxy.username.encode()).hexdigest()[:8]}" if proxy.username else ""
        name = f"{proxy.server}{user}"
        met[name] += 1
        found[proxy] = name if met[name] == 1 else f"{name} {met[name]}"
    return found


@dataclass(slots=True)
class _Health:
    """How one proxy does; times are seconds on the clock of whoever asks."""

    proxy: Proxy
    rests_until: float = 0.0
    why: Why = Why.FAILED
    strikes: int = 0  # rests since it last served
    doubts: int = 0  # failures in a row that nobody can be blamed for
    blocks: int = 0  # of the whole run, acquitted ones too: of two that could serve, the one with fewer does
    taken: int = 0  # when it was given out last, counted in times that any was


class ProxyPool:
    """The health of the proxies of one list. It decides nothing but who is next, and has no clock of its own.

    A proxy that the shop blocked, or that failed, rests: ``blocked_s`` or `FAILED_S`, twice as long with each rest that
    follows without a page in between, at most `LONGEST_S`. Then it is back in service.
    """

    def __init__(self, proxies: Sequence[Proxy], *, blocked_s: float = BLOCKED_S) -> None:
        self._health = {proxy: _Health(proxy) for proxy in proxies}
        self._blocked_s = blocked_s
        self._taken = 0

    def __len__(self) -> int:
        return len(self._health)

    def next(self, now: float) -> Proxy | None:
        """Return the proxy to use from now on: of those in service the least blocked one, else the one that was used
        longest ago, else the first of the list. None while all of them rest.
        """
        fit = [one for one in self._health.values() if one.rests_until <= now]
        if not fit:
            return None
        found = min(fit, key=lambda one: (one.blocks, one.strikes, one.taken))
        self._taken += 1
        found.taken = self._taken
        return found.proxy

    def next_at(self) -> float:
        """Return when the first of them is back in service; in the past where one is."""
        return min(one.rests_until for one in self._health.values())

    def served(self, proxy: Proxy) -> None:
        """Note a page that came through it and was what was asked for: its rests begin anew with the shortest."""
        health = self._health[proxy]
        health.strikes = health.doubts = 0

    def blocked(self, proxy: Proxy, now: float) -> None:
        """Note a block page that came through it."""
        self._health[proxy].blocks += 1
        self._rest(proxy, now, Why.BLOCKED)

    def acquit(self, proxy: Proxy) -> None:
        """Take its last block back: another visitor was blocked at the same page, so the page or the shop refuses."""
        health = self._health[proxy]
        if health.why is Why.BLOCKED and health.rests_until:
            health.rests_until = 0.0
            health.strikes = max(0, health.strikes - 1)

    def failed(self, proxy: Proxy, now: float) -> None:
        """Note that the proxy itself can't be used."""
        self._rest(proxy, now, Why.FAILED)

    def doubted(self, proxy: Proxy, now: float) -> bool:
        """Note a failure that may be the shop's as well as the proxy's; return whether it rests now."""
        health = self._health[proxy]
        health.doubts += 1
        if health.doubts < DOUBTS:
            return False
        self._rest(proxy, now, Why.FAILED)
        return True

    def rests(self, now: float, now_ms: int) -> list[Rest]:
        """Return what to keep: of those that the shop blocked. One that failed by itself is tried again by each run."""
        return [
            Rest(
                name,
                now_ms + round((health.rests_until - now) * 1000) if health.rests_until > now else 0,
                health.strikes,
            )
            for proxy, name in names(tuple(self._health)).items()
            if (health := self._health[proxy]).why is Why.BLOCKED and health.strikes
        ]

    def remember(self, rests: Iterable[Rest], now: float, now_ms: int) -> None:
        """Begin with what an earlier run kept; names that aren't in this list are ignored."""
        named = {name: proxy for proxy, name in names(tuple(self._health)).items()}
        for rest in rests:
            if rest.name in named:
                health = self._health[named[rest.name]]
                left_s = min((rest.until_ms - now_ms) / 1000, LONGEST_S)  # beyond it, a clock was wrong
                health.rests_until = now + left_s if left_s > 0 else 0.0
                health.strikes, health.why = rest.blocks, Why.BLOCKED

    def all_blocked(self, now: float) -> bool:
        """Whether all of them rest, and it's the shop that refused every one."""
        return all(one.rests_until > now and one.why is Why.BLOCKED for one in self._health.values())

    def told(self, now: float) -> str:
        """Say in words how many rest, and why."""
        resting = [one for one in self._health.values() if one.rests_until > now]
        parts = (f"{sum(one.why is why for one in resting)} {why.value}" for why in Why)
        counts = ", ".join(part for part in parts if not part.startswith("0 "))
        return f"{len(resting)} of {len(self)} proxies rest ({counts})" if resting else f"{len(self)} proxies serve"

    def _rest(self, proxy: Proxy, now: float, why: Why) -> None:
        health = self._health[proxy]
        if health.rests_until > now:
            return  # what was in flight when it was taken out of service tells nothing new
        first_s = self._blocked_s if why is Why.BLOCKED else FAILED_S
        health.rests_until = now + min(first_s * 2 ** min(health.strikes, 32), LONGEST_S)
        health.strikes += 1
        health.doubts = 0
        health.why = why
