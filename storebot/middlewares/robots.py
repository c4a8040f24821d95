"""Ask robots.txt before anything of a host is fetched, and fetch nothing where it can't be read (RFC 9309)."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from scrapy import signals
from scrapy.exceptions import IgnoreRequest, NotConfigured
from scrapy.http import Request, Response, TextResponse
from scrapy.http.request import NO_CALLBACK
from scrapy.utils.httpobj import urlparse_cached
from scrapy.utils.misc import build_from_crawler, load_object

from storebot.core.ending import FORBIDDEN_KNOWN, FORBIDDEN_NEW, FORBIDDEN_WALK
from storebot.core.reloading import wants_its_cookie
from storebot.core.robots import LONGEST_LIFE_S, Reading, reading_of, text_of
from storebot.core.urls import same_site
from storebot.db import robots
from storebot.db.robots import KeptRobots
from storebot.exceptions import PrivateAddress, RedirectLoop
from storebot.items import Target, WalkEnd, WalkState
from storebot.responses import AskedToStayAway, NotSent, page_of
from storebot.run import Run

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.robotstxt import RobotParser

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Rules:
    """What a host's robots.txt allows: what its parser says, else everything, or nothing for a reason."""

    parser: RobotParser | None = None
    refusal: str = ""
    kept: KeptRobots | None = None
    good_until_s: float = float("inf")  # of the monotonic clock


class RobotsMiddleware:
    """Scrapy's takes a robots.txt that answers 503, or not at all, for one that allows everything (case Z02).

    Here the host is given time, and is then left alone for the whole run, which says so. What was read is good for
    ``life_s``, in this run and in the next ones, which find it in the database.
    """

    def __init__(self, crawler: Crawler, run: Run | None, agent: str, life_s: float) -> None:
        self.crawler, self.run, self.agent, self.life_s = crawler, run, agent, life_s
        self._parser = load_object(crawler.settings["ROBOTSTXT_PARSER"])
        self._rules: dict[str, asyncio.Future[Rules]] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        settings = crawler.settings
        if not settings.getbool("ROBOTSTXT_OBEY"):
            raise NotConfigured("robots.txt is not asked")
        agent = settings["ROBOTSTXT_USER_AGENT"] or settings["USER_AGENT"]
        life_s = min(settings.getfloat("STOREBOT_ROBOTS_MAX_AGE_S"), LONGEST_LIFE_S)
        return cls(crawler, crawler.get_extension(Run), agent, life_s)

    def process_request(self, request: Request) -> Awaitable[Response | None] | Response | None:
        wanted = request.meta.get("robots_txt")
        url = urlparse_cached(request)
        if (request.meta.get("dont_obey_robotstxt") and not wanted) or url.scheme not in ("http", "https"):
            return None
        asked = self._rules.get(url.netloc)
        if asked is None or (asked.done() and _is_over(asked)):
            asked = self._rules[url.netloc] = asyncio.ensure_future(self._ask(request, url.scheme, url.netloc))
        return self._judged(request, asked.result()) if asked.done() else self._wait(request, asked)

    async def _wait(self, request: Request, asked: asyncio.Future[Rules]) -> Response | None:
        # Shielded: whoever is cancelled while waiting must not take the answer from the others.
        return self._judged(request, await asyncio.shield(asked))

    def _judged(self, request: Request, rules: Rules) -> Response | None:
        if rules.refusal:
            raise IgnoreRequest(rules.refusal)
        if request.meta.get("robots_txt") and (kept := rules.kept):
            return TextResponse(kept.url, status=kept.status, body=kept.body.encode(), encoding="utf-8")
        if rules.parser is not None and not rules.parser.allowed(request.url, self.agent):
            self._count(request)
            raise IgnoreRequest("Forbidden by robots.txt")
        return None

    async def _ask(self, request: Request, scheme: str, netloc: str) -> Rules:
        origin = f"{scheme}://{netloc}"
        kept = await self._load(origin)
        if kept is None:
            try:
                response = await self._fetch(f"{origin}/robots.txt")
            except (NotSent, PrivateAddress):
                raise
            except AskedToStayAway as error:
                return self._refuse(netloc, str(error))
            except (IgnoreRequest, RedirectLoop):  # redirected without end, which is no robots.txt (RFC 9309 §2.3.1.2)
                kept = KeptRobots(f"{origin}/robots.txt", 404, "")
            except Exception as error:  # whatever kept the network from answering: the host is unreachable
                return self._refuse(netloc, f"{type(error).__name__}: {error}")
            else:
                if reading_of(response.status) is Reading.UNREACHABLE:
                    return self._refuse(netloc, f"HTTP {response.status}")
                rules = reading_of(response.status) is Reading.RULES
                kept = KeptRobots(response.url, response.status, text_of(response.body) if rules else "")
            await self._save(origin, kept)
        return await self._read(request, kept)

    async def _read(self, request: Request, kept: KeptRobots) -> Rules:
        until_s = time.monotonic() + (self.life_s or LONGEST_LIFE_S) - kept.age_ms / 1000
        if reading_of(kept.status) is Reading.ABSENT:
            return Rules(kept=kept, good_until_s=until_s)
        parser: RobotParser = build_from_crawler(self._parser, self.crawler, kept.body.encode())
        await self.crawler.signals.send_catch_log_async(signals.robots_parsed, robotparser=parser, request=request)
        return Rules(parser, kept=kept, good_until_s=until_s)

    async def _load(self, origin: str) -> KeptRobots | None:
        """Return what an earlier run read, if that is young enough."""
        if self.run is None or not self.life_s:
            return None
        kept = await self.run.session.call(robots.load, self.run.store.name, origin)
        return kept if kept is not None and kept.age_ms < self.life_s * 1000 else None

    async def _save(self, origin: str, kept: KeptRobots) -> None:
        if self.run is not None:
            await self.run.session.call(robots.record, self.run.store.name, origin, kept)

    async def _fetch(self, url: str) -> Response:
        """Ask for it; the retry middleware asks again where it's broken, the pacing one first waits where it's busy.

        A page that gives a cookie and reloads itself stands before robots.txt, too, where it stands before everything.
        """
        assert self.crawler.engine is not None
        meta: dict[str, Any] = {"dont_obey_robotstxt": True}
        if self.run is not None and self.run.session.probes:
            meta["dont_retry"] = True
        request = Request(url, priority=1000, meta=meta, callback=NO_CALLBACK, dont_filter=True)
        response = await self.crawler.engine.download_async(request)
        if wants_its_cookie(page_of(response, request)):
            response = await self.crawler.engine.download_async(request.replace(meta=meta))
        return response

    def _count(self, request: Request) -> None:
        if self.run is not None:
            target = request.meta.get("target")
            known = isinstance(target, Target) and target.fetched_at
            what = FORBIDDEN_WALK if request.meta.get("walk") else FORBIDDEN_KNOWN if known else FORBIDDEN_NEW
            self.run.forbidden[what] += 1

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


def _is_over(asked: asyncio.Future[Rules]) -> bool:
    """Whether what was read is too old; a failure is asked anew."""
    return asked.cancelled() or asked.exception() is not None or time.monotonic() > asked.result().good_until_s
