"""What a failure says of the proxy that it came through, and no failure says the proxy's password."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Self

from scrapy.exceptions import NotConfigured
from scrapy.http import Request, Response

from storebot.core.identity import Identity
from storebot.core.proxy_errors import Fault, chain_of, fault_of, hide_login
from storebot.items import Tier
from storebot.middlewares.again import again
from storebot.run import Run

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.statscollectors import StatsCollector

logger = logging.getLogger(__name__)

_TRIES = 10  # of one request, each through another proxy


class ProxyMiddleware:
    """A proxy that fails is taken out of service, and the request goes through the next one: the page had no try yet.

    What is the shop's own failure, or may be, is left to the retry middleware; three of the latter in a row through the
    same proxy take it out of service, too.
    """

    def __init__(self, run: Run, stats: StatsCollector) -> None:
        self.run, self.stats = run, stats

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        run = crawler.get_extension(Run)
        if run is None or not run.identities.has_proxies:
            raise NotConfigured
        return cls(run, crawler.stats)

    def process_response(self, request: Request, response: Response) -> Request | Response:
        if response.status != 407 or not self._proxied(request):
            return response
        reason = "answers 407: it refuses the login"  # RFC 9110 §15.5.8: only a proxy says so
        return self._through_another(request, reason) or response

    def process_exception(self, request: Request, exception: Exception) -> Request | None:
        chain = chain_of(exception)
        hide_login(exception)
        identity = self._proxied(request)
        if identity is None:
            return None
        fault = fault_of(chain)
        if fault is Fault.PROXY:
            return self._through_another(request, str(exception))
        if fault is Fault.UNCLEAR and self.run.identities.failed(identity, _tier(request), surely=False):
            logger.warning("%s: %s fails too often, and rests: %s", self.run.store.name, identity.proxy, exception)
        return None

    def _proxied(self, request: Request) -> Identity | None:
        identity = request.meta.get("identity")
        return identity if isinstance(identity, Identity) and identity.proxy else None

    def _through_another(self, request: Request, reason: str) -> Request | None:
        identity = self._proxied(request)
        assert identity is not None
        if self.run.identities.failed(identity, _tier(request), surely=True):
            logger.warning("%s: %s can't be used, and rests: %s", self.run.store.name, identity.proxy, reason)
        self.stats.inc_value("storebot/proxy/failed")
        tries = request.meta.get("proxy_tries", 1)
        if tries >= _TRIES or not self.run.may_retry("proxy"):
            return None
        new = again(request)
        new.meta["proxy_tries"] = tries + 1
        return new


def _tier(request: Request) -> Tier:
    tier: Tier = request.meta.get("tier", Tier.HTTP)
    return tier
