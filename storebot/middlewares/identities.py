"""Every request goes out as the identity that serves its tier: with its cookies, through its proxy or not at all."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable
from contextlib import suppress
from typing import TYPE_CHECKING, Self

from scrapy.exceptions import NotConfigured
from scrapy.http import Request

from storebot.core.identity import FIRST, Identity
from storebot.items import Tier
from storebot.responses import NotSent
from storebot.run import Run

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

_LOOK_EVERY_S = 1.0  # whether a proxy came back before its time: another one was blocked at the same page


class IdentityMiddleware:
    """Where all proxies of a tier rest, a request waits for the first to come back, up to ``max_wait_s``.

    After that the run ends, and says why: what was to go through a proxy never goes without.
    """

    def __init__(self, run: Run, max_wait_s: float) -> None:
        self.run, self.identities, self.max_wait_s = run, run.identities, max_wait_s
        self._waiting = self._ended = False

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        run = crawler.get_extension(Run)
        if run is None:
            raise NotConfigured("only a run has identities")
        return cls(run, crawler.settings.getfloat("STOREBOT_PROXY_WAIT_MAX_S"))

    def process_request(self, request: Request) -> Awaitable[None] | None:
        identities = self.identities
        if identities.are_plain:
            return None
        tier = request.meta.get("tier", Tier.HTTP)
        identity = request.meta.get("identity", FIRST)
        if not identities.serves(identity, tier):
            current = identities.of(tier)
            if current is None:
                return self._wait(request, tier)
            identity = current
        self._mark(request, tier, identity)
        return None

    async def _wait(self, request: Request, tier: Tier) -> None:
        ends_at = time.monotonic() + self.max_wait_s
        while (identity := self.identities.of(tier)) is None:
            wait_s = self.identities.wait_s(tier)
            if self.run.ending.is_set() or time.monotonic() + wait_s > ends_at:
                request.errback = None  # nobody is to make a visit of what wasn't sent
                raise self._none_left(tier, wait_s)
            if not self._waiting:
                self._waiting = True
                name, told = self.run.store.name, self.identities.told(tier)
                logger.warning("%s: %s; the first is back in %.0f s, and the run waits", name, told, wait_s)
            with suppress(TimeoutError):
                await asyncio.wait_for(self.run.ending.wait(), min(wait_s, _LOOK_EVERY_S))
        self._waiting = False
        self._mark(request, tier, identity)

    def _none_left(self, tier: Tier, wait_s: float) -> NotSent:
        told = f"{self.identities.told(tier)}, the first of them for {wait_s:.0f} s more"
        if not self._ended and not self.run.ending.is_set():
            self._ended = True
            self.run.note(f"{told}: the run ends, because nothing may go without a proxy")
            self.run.close_crawl("blocked" if self.identities.are_all_blocked(tier) else "no_proxy")
        return NotSent(f"{told}, and nothing may go without one")

    def _mark(self, request: Request, tier: Tier, identity: Identity) -> None:
        self.identities.count(tier)
        meta, proxy = request.meta, identity.proxy
        meta["identity"] = identity
        meta["cookiejar"] = identity.number
        meta["proxy"] = proxy.server if proxy else None
        login = proxy.authorization if proxy else None
        if login and tier in (Tier.HTTP, Tier.HTTP2):  # a browser takes it from the identity, and sends no such header
            request.headers[b"Proxy-Authorization"] = login
        else:
            request.headers.pop(b"Proxy-Authorization", None)
