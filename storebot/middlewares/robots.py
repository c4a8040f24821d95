"""Ask robots.txt before anything of a host is fetched, and fetch nothing where it can't be read (RFC 9309)."""

from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from scrapy import signals
from scrapy.exceptions import IgnoreRequest, NotConfigured
from scrapy.http import Request, Response
from scrapy.http.request import NO_CALLBACK
from scrapy.utils.httpobj import urlparse_cached
from scrapy.utils.misc import build_from_crawler, load_object

from storebot.core.robots import MAX_BYTES, Reading, asks_for_time, reading_of, wait_s
from storebot.core.urls import same_site
from storebot.items import WalkEnd, WalkState
from storebot.run import Run

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.robotstxt import RobotParser

logger = logging.getLogger(__name__)

TRIES = 3  # where a host asks for time; what is broken was tried again by the retry middleware already


@dataclass(frozen=True, slots=True)
class Rules:
    """What a host's robots.txt allows: what its parser says, else everything, or nothing for a reason."""

    parser: RobotParser | None = None
    refusal: str = ""


class RobotsMiddleware:
    """Scrapy's takes a robots.txt that answers 503, or not at all, for one that allows everything (case Z02).

    Here the host is given time, up to ``max_wait_s`` each, and is then left alone for the whole run, which says so.
    """

    def __init__(self, crawler: Crawler, run: Run | None, agent: str, max_wait_s: float) -> None:
        self.crawler, self.run, self.agent, self.max_wait_s = crawler, run, agent, max_wait_s
        self._parser = load_object(crawler.settings["ROBOTSTXT_PARSER"])
        self._rules: dict[str, asyncio.Future[Rules]] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        settings = crawler.settings
        if not settings.getbool("ROBOTSTXT_OBEY"):
            raise NotConfigured("robots.txt is not asked")
        agent = settings["ROBOTSTXT_USER_AGENT"] or settings["USER_AGENT"]
        return cls(crawler, crawler.get_extension(Run), agent, settings.getfloat("STOREBOT_BLOCK_WAIT_MAX_S"))

    async def process_request(self, request: Request) -> None:
        url = urlparse_cached(request)
        if request.meta.get("dont_obey_robotstxt") or url.scheme not in ("http", "https"):
            return
        asked = self._rules.get(url.netloc)
        if asked is None:
            asked = self._rules[url.netloc] = asyncio.ensure_future(self._ask(request, url.scheme, url.netloc))
        # Shielded: whoever is cancelled while waiting must not take the answer from the others.
        rules = asked.result() if asked.done() else await asyncio.shield(asked)
        if rules.refusal:
            raise IgnoreRequest(rules.refusal)
        if rules.parser is not None and not rules.parser.allowed(request.url, self.agent):
            raise IgnoreRequest("Forbidden by robots.txt")

    async def _ask(self, request: Request, scheme: str, netloc: str) -> Rules:
        url = f"{scheme}://{netloc}/robots.txt"
        try:
            response = await self._fetch(url)
        except IgnoreRequest:  # redirected without end, which is no robots.txt (RFC 9309 §2.3.1.2)
            return Rules()
        except Exception as error:  # whatever kept the network from answering: the host is unreachable
            return self._refuse(netloc, f"{type(error).__name__}: {error}")
        reading = reading_of(response.status)
        if reading is Reading.UNREACHABLE:
            return self._refuse(netloc, f"HTTP {response.status}")
        if reading is Reading.ABSENT:
            return Rules()
        parser: RobotParser = build_from_crawler(self._parser, self.crawler, response.body[:MAX_BYTES])
        await self.crawler.signals.send_catch_log_async(signals.robots_parsed, robotparser=parser, request=request)
        return Rules(parser)

    async def _fetch(self, url: str) -> Response:
        assert self.crawler.engine is not None
        for tried in range(1, TRIES + 1):
            meta = {"dont_obey_robotstxt": True}
            request = Request(url, priority=1000, meta=meta, callback=NO_CALLBACK, dont_filter=True)
            response = await self.crawler.engine.download_async(request)
            if tried == TRIES or not asks_for_time(response.status):
                break
            asked = (response.headers.get("Retry-After") or b"").decode("latin-1")
            pause_s = min(wait_s(asked, tried, int(time.time() * 1000)), self.max_wait_s)
            logger.info("%s: HTTP %d; asked again in %.0f s", url, response.status, pause_s)
            await asyncio.sleep(pause_s)
        return response

    def _refuse(self, netloc: str, why: str) -> Rules:
        """Leave the host alone; where it's the store's own, nothing is left for this run to do."""
        reason = f"robots.txt of {netloc} can't be read ({why}), so nothing of it may be fetched"
        if self.run is None:
            logger.error("%s", reason)
            return Rules(refusal=reason)
        store, at_ms, walk = self.run.store, self.run.session.now_ms(), f"robots.txt of {netloc}"
        state = WalkState.INCOMPLETE
        self.run.submit(WalkEnd(store=store.name, walk=walk, at_ms=at_ms, state=state, reason=reason, checkpoint=False))
        if same_site(f"https://{netloc}", store.base_url):
            self.run.close_feed()
        return Rules(refusal=reason)
