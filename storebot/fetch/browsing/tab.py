"""A tab of a browser: what its pages may load, and what becomes of the documents that they come to.

It watches through a DevTools session of its own. Playwright's routing would switch the browser's cache off, which
fetches every script anew for every page, and doesn't see redirects (decision 0025).
"""

from __future__ import annotations

import asyncio
import base64
import logging
from collections.abc import Coroutine
from functools import partial
from typing import Any, Self

from playwright.async_api import BrowserContext, CDPSession, Page
from playwright.async_api import Error as PlaywrightError

from storebot.exceptions import PrivateAddress
from storebot.fetch.browsing.frames import Command, Devtools, Frames
from storebot.fetch.browsing.loading import Head, Loading
from storebot.fetch.browsing.pages import closed, new_page
from storebot.fetch.browsing.rules import Judge, Rules
from storebot.fetch.browsing.traffic import Event

logger = logging.getLogger(__name__)

_REST_S = 2.0
_CHUNK = 256 * 1024
_EXTRA = "Network.responseReceivedExtraInfo"
_HEADS = {"resourceType": "Document", "requestStage": "Response"}


class Tab:
    """One tab, which makes visits one after the other: a new one costs the browser a process, three times a visit."""

    def __init__(self, page: Page, devtools: CDPSession, rules: Rules) -> None:
        self.page, self.devtools = page, devtools
        self.frame = ""  # the id of the main one
        self.visits = 0
        self._rules = rules
        self._loading: Loading | None = None
        self._is_silent = False
        self._answers: set[asyncio.Future[None]] = set()

    @classmethod
    async def open(cls, context: BrowserContext, rules: Rules) -> Self:
        """Open a tab; it's closed again if anything goes wrong on the way, cancellation included."""
        page = await new_page(context)
        try:
            tab = cls(page, await context.new_cdp_session(page), rules)
            await tab._watch()
        except BaseException:
            await asyncio.shield(closed(page))
            raise
        return tab

    def begin(self, *, max_bytes: int, max_page_bytes: int) -> Loading:
        """Begin a visit."""
        self.visits += 1
        self._loading = Loading(self.frame, max_bytes=max_bytes, max_page_bytes=max_page_bytes)
        if self.page.is_closed():
            self._loading.crashed("its browser is gone")
        return self._loading

    async def go(self, url: str) -> None:
        """Go to a page; its first document is under way then, or there. Raises Playwright's error where none comes.

        By DevTools, not by `Page.goto`: what is reported comes in one order then, and none of it is lost in between.
        """
        said = await self.devtools.send("Page.navigate", {"url": url})
        if said.get("errorText"):
            raise PlaywrightError(f"{said['errorText']} at {url}")

    async def rest(self) -> bool:
        """Silence the page, whose scripts would go on; say whether the tab is fit for another visit.

        An empty page instead would cost the browser a third of a visit more.
        """
        loading, self._loading = self._loading, None
        return loading is not None and loading.is_sound and await self._silenced()

    async def close(self) -> None:
        """Close it, whatever its page wants."""
        self._loading = None
        for task in self._answers:
            task.cancel()
        if not self._is_silent:
            await self._silenced()  # while it closes, it would go on without the bot's name
        await closed(self.page)

    async def _silenced(self) -> bool:
        if self.page.is_closed():
            return False
        try:
            async with asyncio.timeout(_REST_S):
                await self.devtools.send("Emulation.setScriptExecutionDisabled", {"value": True})
                await self._frames.silence()
                await self.devtools.send("Page.stopLoading")
        except (PlaywrightError, TimeoutError):
            return False
        self._is_silent = True
        return True

    async def _watch(self) -> None:
        self.page.on("crash", lambda _: self._ended("its tab crashed"))
        self.page.on("close", lambda _: self._ended("its browser is gone"))
        self.page.on("popup", lambda popup: self._keep(closed(popup)))
        send, on = self.devtools.send, self.devtools.on
        for name in ("Fetch.requestPaused", _EXTRA, *Loading.NOTES):
            on(name, partial(self._told, self.devtools, name))
        on("Page.frameNavigated", self._navigated)
        everywhere = self._rules.commands()
        asked: list[Command] = [
            ("Page.getFrameTree", {}),
            ("Page.enable", {}),
            ("Network.setBypassServiceWorker", {"bypass": True}),
            *everywhere,
            ("Fetch.enable", {"patterns": [*self._rules.patterns(), _HEADS]}),
        ]
        said = await asyncio.gather(*(send(method, given) for method, given in asked))
        self.frame = said[0]["frameTree"]["frame"]["id"]
        holding = [("Fetch.enable", {"patterns": patterns})] if (patterns := self._rules.patterns()) else []
        self._frames = Frames(self.devtools, [*everywhere, *holding], self._told)
        await self._frames.watch()

    def _navigated(self, event: Event) -> None:
        if self._loading is not None:
            self._loading.navigated(event)

    def _ended(self, what: str) -> None:
        if self._loading is not None:
            self._loading.crashed(what)

    def _keep(self, doing: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(doing)
        self._answers.add(task)
        task.add_done_callback(self._answers.discard)

    def _told(self, devtools: Devtools, name: str, event: Event) -> None:
        """Note what the session of the page says, or that of a frame."""
        if name == "Fetch.requestPaused":
            self._keep(self._answer(event, devtools))
        elif self._loading is None:
            return
        elif name in Loading.NOTES:
            self._loading.note(name, event)
        elif name == _EXTRA and self._rules.judge:
            self._keep(self._look_at_sender(event, self._loading, self._rules.judge))

    async def _look_at_sender(self, event: Event, loading: Loading, judge: Judge) -> None:
        """Cut the visit where a name led to a private address in the browser's own network (DNS rebinding)."""
        if why := await judge.answer(event.get("resourceIPAddressSpace", "")):
            loading.cut(PrivateAddress(f"the page isn't used, because {why}"))

    async def _answer(self, event: Event, devtools: Devtools) -> None:
        """Say what becomes of a request that DevTools holds: before it is sent, or when its head has come."""
        loading = self._loading
        try:
            if loading is None:
                await _refuse(event, devtools)
            elif "responseStatusCode" in event:
                await self._judge_answer(event, loading)
            elif "responseErrorReason" in event:
                await _go_on(event, devtools)
            else:
                await self._judge_request(event, loading, devtools)
        except PlaywrightError as error:
            logger.debug("%s: %s", event["request"]["url"], error)  # the page is gone, and with it the question

    async def _judge_request(self, event: Event, loading: Loading, devtools: Devtools) -> None:
        url = event["request"]["url"]
        if event["resourceType"] in self._rules.left_out:
            await _refuse(event, devtools)
            return
        why = await self._rules.judge.request(url) if self._rules.judge else ""
        if why and event["resourceType"] == "Document" and event["frameId"] == self.frame:
            loading.cut(PrivateAddress(f"{url} is not asked, because {why}"))
        await (_refuse(event, devtools) if why else _go_on(event, devtools))

    async def _judge_answer(self, event: Event, loading: Loading) -> None:
        head = Head.of(event)
        if event["frameId"] != self.frame or not head.is_document:
            await _go_on(event, self.devtools)
        elif head.announced_bytes > loading.max_bytes:
            loading.outgrew()
            await _refuse(event, self.devtools)
        elif head.is_html:
            loading.came(event.get("networkId", ""), head)
            if self._is_silent:
                self._is_silent = False
                await self.devtools.send("Emulation.setScriptExecutionDisabled", {"value": False})
            await _go_on(event, self.devtools)
        else:
            await self._take(event, head, loading)
            await _refuse(event, self.devtools, "Aborted")

    async def _take(self, event: Event, head: Head, loading: Loading) -> None:
        """Read a body as it comes, unpacked; a browser would show its own page around it (case W02)."""
        asked = {"requestId": event["requestId"]}
        handle = (await self.devtools.send("Fetch.takeResponseBodyAsStream", asked))["stream"]
        parts: list[bytes] = []
        size, at_end = 0, False
        while not at_end:
            read = await self.devtools.send("IO.read", {"handle": handle, "size": _CHUNK})
            part = base64.b64decode(read["data"]) if read.get("base64Encoded") else read["data"].encode()
            parts.append(part)
            size, at_end = size + len(part), read["eof"]
            if size > loading.max_bytes:
                loading.outgrew()
                return
        loading.took(head, b"".join(parts))


async def _go_on(event: Event, devtools: Devtools) -> None:
    await devtools.send("Fetch.continueRequest", {"requestId": event["requestId"]})


async def _refuse(event: Event, devtools: Devtools, reason: str = "BlockedByClient") -> None:
    await devtools.send("Fetch.failRequest", {"requestId": event["requestId"], "errorReason": reason})
