"""Ask a host as slowly as it wants: Crawl-delay, Retry-After, and what its refusals say (decision 0028).

The one place that sets the delay of the downloader's slots. All tiers of a store share the slot of its host.
"""

from __future__ import annotations

import logging
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit

from scrapy import signals
from scrapy.exceptions import DownloadTimeoutError
from scrapy.http import Request, Response
from scrapy.utils.httpobj import urlparse_cached
from scrapy.utils.misc import load_object

from storebot.core.pacing import ASKS_FOR_TIME, Pace, as_duration, retry_after_s
from storebot.core.proxy_errors import Fault, chain_of, fault_of
from storebot.core.robots import asked_delay_s
from storebot.exceptions import FetchFailed, TierNotListed, TierUnusable
from storebot.responses import AskedToStayAway, NotSent
from storebot.run import Run

if TYPE_CHECKING:
    from scrapy.core.downloader import Downloader
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

_OURS = (TierNotListed, TierUnusable)  # says nothing of the store


class PacingMiddleware:
    """Near the downloader: it sees every answer of the wire, whoever asked, retries and robots.txt included.

    A host that answers 429 or 503 is paused whole, and asked more slowly for the rest of the run. Where it asks for
    more time than ``longest_s``, nothing of it is asked any more: the run ends, the page is due at that time, and the
    store's circuit breaker stays open until then.
    """

    def __init__(self, crawler: Crawler, run: Run | None, agent: str, longest_s: float) -> None:
        self.crawler, self.run, self.agent, self.longest_s = crawler, run, agent, longest_s
        self.base_s = crawler.settings.getfloat("DOWNLOAD_DELAY")
        self.ending = False
        self._asked_s: dict[str, float] = {}  # by host: its Crawl-delay, where that is longer
        self._paces: dict[str, Pace] = {}  # by host: of those that asked for time
        self._network_errors = tuple(map(load_object, crawler.settings.getlist("RETRY_EXCEPTIONS")))
        self._on_answer = run.on_answer if run is not None else []
        self._own_host = (urlsplit(run.store.base_url).hostname or "") if run is not None else ""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        settings, run = crawler.settings, crawler.get_extension(Run)
        agent = settings["ROBOTSTXT_USER_AGENT"] or settings["USER_AGENT"]
        middleware = cls(crawler, run, agent, settings.getfloat("STOREBOT_BLOCK_WAIT_MAX_S"))
        crawler.signals.connect(middleware.robots_parsed, signals.robots_parsed)
        if run is not None:
            run.on_open.append(middleware.opened)
            run.on_ending.append(middleware.end)
        return middleware

    def process_request(self, request: Request) -> None:
        if self.ending:
            raise _not_sent(request)

    def process_response(self, request: Request, response: Response) -> Response:
        status = response.status
        for told in self._on_answer:
            told(status >= 500)
        if status in ASKS_FOR_TIME:
            self._refused(request, response)
        elif self._paces:
            self._answered(request)
        return response

    def process_exception(self, request: Request, exception: Exception) -> None:
        if isinstance(exception, _OURS) or not isinstance(exception, (*self._network_errors, FetchFailed)):
            return
        if request.meta.get("proxy") and fault_of(chain_of(exception)) is not Fault.SHOP:
            return
        if isinstance(exception, DownloadTimeoutError) and self.run is not None and self.run.ladder.has_next(request):
            return  # it may be a tarpit for this tier alone: what the last tier gets says whether the store answers
        for told in self._on_answer:
            told(True)

    def opened(self) -> None:
        """Begin as slowly as the last run had to ask."""
        assert self.run is not None
        pace = self.run.session.pace
        if not pace.at_rest:
            self._keep(self._own_host, pace)
            logger.info("%s: asked every %.3g s, as the last run had to", self._own_host, pace.delay_s(self.base_s))

    def end(self) -> None:
        """Send nothing more: what waits for its turn is given back to who asked."""
        self.ending = True
        for slot in self._downloader.slots.values():
            while slot.queue:
                request, waiting = slot.queue.popleft()
                waiting.errback(_not_sent(request))

    def robots_parsed(self, robotparser: Any, request: Request) -> None:
        """Keep the host's Crawl-delay and Request-rate where they ask for more than the store file does."""
        rate = robotparser.rp.request_rate(self.agent)
        asked_s = asked_delay_s(robotparser.rp.crawl_delay(self.agent), *(rate[:2] if rate else ()))
        host = urlparse_cached(request).hostname or ""
        known = self._asked_s.get(host)
        self._asked_s[host] = asked_s
        self._apply(host)
        if asked_s > self.base_s and asked_s != known:
            logger.info(
                "%s: robots.txt asks for %s s between requests (the store file: %s)", host, asked_s, self.base_s
            )
            if self.run is not None:
                self.run.slowed(asked_s)

    def _refused(self, request: Request, response: Response) -> None:
        host = request.meta.get("download_slot")
        if host is None:  # it didn't come by the downloader
            return
        now_ms = int(time.time() * 1000)
        value = (response.headers.get("Retry-After") or b"").decode("latin-1")
        asked_s = retry_after_s(value, now_ms)
        if asked_s is not None and asked_s > self.longest_s:
            if self.run is not None:
                self._stay_away(request, response.status, value, asked_s)
            asked_s = self.longest_s
        before = self._paces.get(host, Pace())
        now_s = time.monotonic()
        sent_s = now_s - request.meta.get("download_latency", 0.0)
        pace = before.refused(now_s, asked_s, self._base_of(host), self.longest_s, sent_s=sent_s)
        self._keep(host, pace)
        if pace.refusals > before.refusals:
            logger.warning(
                "%s: HTTP %d: nothing is asked for %.3g s, then every %.3g s",
                host,
                response.status,
                pace.paused_until_s - now_s,
                pace.delay_s(self._base_of(host)),
            )

    def _stay_away(self, request: Request, status: int, value: str, asked_s: float) -> None:
        assert self.run is not None
        retry_at_ms = self.run.session.now_ms() + int(asked_s * 1000)
        self.run.shut(f"it answered HTTP {status} with a Retry-After of {as_duration(asked_s)}", retry_at_ms)
        raise AskedToStayAway(request.url, status, f"Retry-After: {value}", retry_at_ms)

    def _answered(self, request: Request) -> None:
        host = request.meta.get("download_slot", "")
        before = self._paces.get(host)
        if before is not None and (pace := before.answered(time.monotonic())) is not before:
            self._keep(host, pace)

    def _keep(self, host: str, pace: Pace) -> None:
        self._paces[host] = pace
        if pace.at_rest:
            del self._paces[host]
        if self.run is not None and host == self._own_host:
            self.run.session.pace = replace(pace, paused_until_s=0.0)
        self._apply(host)

    def _apply(self, host: str) -> None:
        """Set the delay of the host's slot, and of its successor: Scrapy throws away one that is idle for a minute.

        A slot sends nothing before its delay has passed since ``lastseen``: in the future, that is a pause.
        """
        pace = self._paces.get(host, Pace())
        delay_s = pace.delay_s(self._base_of(host))
        self._downloader.per_slot_settings.setdefault(host, {})["delay"] = delay_s
        slot = self._downloader.slots.get(host)
        if slot is not None:
            slot.delay = delay_s
            slot.lastseen = max(slot.lastseen, pace.paused_until_s)

    def _base_of(self, host: str) -> float:
        return max(self.base_s, self._asked_s.get(host, 0.0))

    @property
    def _downloader(self) -> Downloader:
        assert self.crawler.engine is not None
        return self.crawler.engine.downloader


def _not_sent(request: Request) -> NotSent:
    """Return the exception of a request that isn't sent; nobody is told, because nothing is to follow from it."""
    request.errback = None
    return NotSent(f"{request.url}: not sent, because the run ends")
