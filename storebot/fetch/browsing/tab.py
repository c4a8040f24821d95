"""A tab of a browser: what its pages may load, and what becomes of the documents that they come to.

It watches through a DevTools session of its own. Playwright's routing would switch the browser's cache off, which
fetches every script anew for every page, and doesn't see redirects (decision 0025).
"""

from __future__ import annotations

import asyncio
import base64
import logging
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

from playwright.async_api import BrowserContext, CDPSession, Page
from playwright.async_api import Error as PlaywrightError

from storebot.exceptions import PrivateAddress
from storebot.fetch.browsing.loading import Head, Loading
from storebot.fetch.browsing.traffic import Event

logger = logging.getLogger(__name__)

CLOSE_S = 5.0  # for a page that doesn't want to
_REST_S = 2.0
_CHUNK = 256 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What the pages of a tab may load."""

    left_out: tuple[str, ...] = ()  # DevTools' resource types: Image, Font …
    blocked_urls: tuple[str, ...] = ()  # patterns for Network.setBlockedURLs
    judge: Callable[[str], Awaitable[str]] | None = None  # says why an address must not be asked for; "" for may


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
        page = await _new_page(context)
        try:
            tab = cls(page, await context.new_cdp_session(page), rules)
            await tab._watch()
        except BaseException:
            await asyncio.shield(_closed(page))
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
        await _closed(self.page)

    async def _silenced(self) -> bool:
        if self.page.is_closed():
            return False
        try:
            async with asyncio.timeout(_REST_S):
                await self.devtools.send("Emulation.setScriptExecutionDisabled", {"value": True})
                await self.devtools.send("Page.stopLoading")
        except (PlaywrightError, TimeoutError):
            return False
        self._is_silent = True
        return True

    async def _watch(self) -> None:
        self.page.on("crash", lambda _: self._ended("its tab crashed"))
        self.page.on("close", lambda _: self._ended("its browser is gone"))
        self.page.on("popup", lambda popup: self._keep(_closed(popup)))
        send, on = self.devtools.send, self.devtools.on
        on("Fetch.requestPaused", lambda event: self._keep(self._answer(event)))
        on("Page.frameNavigated", self._navigated)
        for name in Loading.NOTES:
            on(name, partial(self._note, name))
        asked: list[tuple[str, dict[str, Any] | None]] = [
            ("Page.getFrameTree", None),
            ("Page.enable", None),
            ("Network.enable", None),
            ("Network.setBypassServiceWorker", {"bypass": True}),
            ("Network.setBlockedURLs", {"urls": list(self._rules.blocked_urls)}),
            ("Fetch.enable", {"patterns": self._patterns()}),
        ]
        said = await asyncio.gather(*(send(method, given) for method, given in asked))
        self.frame = said[0]["frameTree"]["frame"]["id"]

    def _patterns(self) -> list[dict[str, str]]:
        before = [{}] if self._rules.judge else [{"resourceType": name} for name in self._rules.left_out]
        after = {"resourceType": "Document", "requestStage": "Response"}
        return [*({"urlPattern": "*", "requestStage": "Request", **each} for each in before), after]

    def _note(self, name: str, event: Event) -> None:
        if self._loading is not None:
            self._loading.note(name, event)

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

    async def _answer(self, event: Event) -> None:
        """Say what becomes of a request that DevTools holds: before it is sent, or when its head has come."""
        loading = self._loading
        try:
            if loading is None:
                await self._refuse(event)
            elif "responseStatusCode" in event:
                await self._judge_answer(event, loading)
            elif "responseErrorReason" in event:
                await self._go_on(event)
            else:
                await self._judge_request(event, loading)
        except PlaywrightError as error:
            logger.debug("%s: %s", event["request"]["url"], error)  # the page is gone, and with it the question

    async def _judge_request(self, event: Event, loading: Loading) -> None:
        url = event["request"]["url"]
        if event["resourceType"] in self._rules.left_out:
            await self._refuse(event)
            return
        why = await self._rules.judge(url) if self._rules.judge else ""
        if why and event["resourceType"] == "Document" and event["frameId"] == self.frame:
            loading.cut(PrivateAddress(f"{url} is not asked, because {why}"))
        await (self._refuse(event) if why else self._go_on(event))

    async def _judge_answer(self, event: Event, loading: Loading) -> None:
        head = Head.of(event)
        if event["frameId"] != self.frame or not head.is_document:
            await self._go_on(event)
        elif head.announced_bytes > loading.max_bytes:
            loading.outgrew()
            await self._refuse(event)
        elif head.is_html:
            loading.came(event.get("networkId", ""), head)
            if self._is_silent:
                self._is_silent = False
                await self.devtools.send("Emulation.setScriptExecutionDisabled", {"value": False})
            await self._go_on(event)
        else:
            await self._take(event, head, loading)
            await self._refuse(event, "Aborted")

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

    async def _go_on(self, event: Event) -> None:
        await self.devtools.send("Fetch.continueRequest", {"requestId": event["requestId"]})

    async def _refuse(self, event: Event, reason: str = "BlockedByClient") -> None:
        await self.devtools.send("Fetch.failRequest", {"requestId": event["requestId"], "errorReason": reason})


async def _new_page(context: BrowserContext) -> Page:
    """Open a page; one that comes when nobody waits for it any more is closed at once."""
    opening = asyncio.ensure_future(context.new_page())
    try:
        return await asyncio.shield(opening)
    except asyncio.CancelledError:
        opening.add_done_callback(_close_late)
        raise


def _close_late(opening: asyncio.Future[Page]) -> None:
    if not opening.cancelled() and opening.exception() is None:
        _LATE.add(closing := asyncio.ensure_future(_closed(opening.result())))
        closing.add_done_callback(_LATE.discard)


_LATE: set[asyncio.Future[None]] = set()  # the loop itself holds no task


async def _closed(page: Page) -> None:
    try:
        async with asyncio.timeout(CLOSE_S):
            await page.close()
    except (PlaywrightError, TimeoutError) as error:  # its browser is gone, or about to be
        logger.debug("a page could not be closed: %s", error)
