"""What pages of ours open beside themselves, closed before it asks for anything: it could be anything's address.

Chromium's own blocker does that where nobody switched it off; who starts browsers to automate them does.
"""

from __future__ import annotations

import asyncio
import logging

from playwright.async_api import Browser, CDPSession
from playwright.async_api import Error as PlaywrightError

from storebot.fetch.browsing.traffic import Event

logger = logging.getLogger(__name__)

_WATCH = {
    "autoAttach": True,
    "waitForDebuggerOnStart": True,
    "flatten": True,
    "filter": [{"type": "page"}, {"exclude": True}],
}


class Popups:
    """Watches one browser for as long as we're connected to it. Pages that others open are left alone."""

    def __init__(self, devtools: CDPSession) -> None:
        self._devtools = devtools
        self._openers: set[str] = set()
        self._doing: set[asyncio.Future[None]] = set()

    @classmethod
    async def watched(cls, browser: Browser) -> Popups:
        """Begin to watch a browser."""
        popups = cls(await browser.new_browser_cdp_session())
        popups._devtools.on("Target.attachedToTarget", popups._attached)
        await popups._devtools.send("Target.setAutoAttach", _WATCH)
        return popups

    def forbid(self, page: str) -> None:
        """Let a page open no other; it's named by the id of its main frame, which is its target's."""
        self._openers.add(page)

    def _attached(self, event: Event) -> None:
        is_ours = event["targetInfo"].get("openerId") in self._openers  # for its frames, too
        if is_ours and event["waitingForDebugger"]:
            self._do("Target.closeTarget", {"targetId": event["targetInfo"]["targetId"]})
        else:
            self._do("Target.detachFromTarget", {"sessionId": event["sessionId"]})

    def _do(self, method: str, params: dict[str, str]) -> None:
        self._doing.add(task := asyncio.ensure_future(self._sent(method, params)))
        task.add_done_callback(self._doing.discard)

    async def _sent(self, method: str, params: dict[str, str]) -> None:
        try:
            await self._devtools.send(method, params)
        except PlaywrightError as error:
            logger.debug("%s: %s", method, error)  # it's gone by itself
