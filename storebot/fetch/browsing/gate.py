"""Every request of a browser with a network of its own, judged before it is sent: also what no page's session sees.

DevTools' Fetch domain at the browser's own session holds what pages, their frames, windows that they open, workers and
shared workers ask for, and each step of their redirects. It doesn't hold WebSockets.
"""

from __future__ import annotations

import asyncio
import logging

from playwright.async_api import Browser, CDPSession
from playwright.async_api import Error as PlaywrightError

from storebot.fetch.browsing.rules import Judge
from storebot.fetch.browsing.traffic import Event

logger = logging.getLogger(__name__)


class Gate:
    """Stands for as long as we're connected to the browser. Pages of other contexts go where they want."""

    def __init__(self, devtools: CDPSession, judge: Judge) -> None:
        self._devtools, self._judge = devtools, judge
        self._pages: set[str] = set()
        self._doing: set[asyncio.Future[None]] = set()

    @classmethod
    async def put_up(cls, browser: Browser, judge: Judge) -> Gate:
        """Begin; to be called before a page of ours is opened."""
        gate = cls(await browser.new_browser_cdp_session(), judge)
        gate._devtools.on("Fetch.requestPaused", gate._paused)
        await gate._devtools.send("Fetch.enable", {"patterns": [{"urlPattern": "*"}]})
        return gate

    def add(self, page: str) -> None:
        """Take a page for ours; it's named by the id of its main frame, which is its target's."""
        self._pages.add(page)

    def _paused(self, event: Event) -> None:
        self._doing.add(task := asyncio.ensure_future(self._answer(event)))
        task.add_done_callback(self._doing.discard)

    async def _answer(self, event: Event) -> None:
        asked = {"requestId": event["requestId"]}
        try:
            why = await self._judge.request(event["request"]["url"])
            if why and await self._is_ours(event["frameId"]):
                logger.debug("%s isn't asked, because %s", event["request"]["url"], why)
                await self._devtools.send("Fetch.failRequest", {**asked, "errorReason": "BlockedByClient"})
            else:
                await self._devtools.send("Fetch.continueRequest", asked)
        except PlaywrightError as error:
            logger.debug("%s: %s", event["request"]["url"], error)  # who asked is gone, and with it the question

    async def _is_ours(self, frame: str) -> bool:
        """Say whether a request is none of another context's page; whose frame or worker asks isn't known."""
        targets = (await self._devtools.send("Target.getTargets"))["targetInfos"]
        ours = {each.get("browserContextId") for each in targets if each["targetId"] in self._pages}
        return all(each.get("browserContextId") in ours for each in targets if each["targetId"] == frame)
