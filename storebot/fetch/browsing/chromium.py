"""One Chromium of our own with a context for each visitor, from its start to its end."""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

from playwright.async_api import Browser, BrowserContext, Playwright, async_playwright
from playwright.async_api import Error as PlaywrightError

from storebot.core.proxy import Proxy
from storebot.exceptions import ConfigurationError, TierUnusable
from storebot.fetch.browsing.errors import BrowserCrashed
from storebot.fetch.browsing.guard import Guard
from storebot.fetch.browsing.tabs import Tabs
from storebot.fetch.browsing.visitor import Visitor

logger = logging.getLogger(__name__)

NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome")
FLAGS = (
    "--disable-gpu",
    "--disable-dev-shm-usage",  # containers give /dev/shm 64 MB, and a page that finds it full crashes
    "--disable-quic",  # UDP would go past the guard
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",  # and so would this
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
_NOWHERE = "socks5://127.0.0.1:1"  # where the browser's own requests go: updates, time, whatever it thinks of next
_MOST_CONTEXTS = 8  # visitors that have one at once; the one that was idle longest makes room
_START_S, _CLOSE_S = 30.0, 10.0


def find_chromium(named: str) -> str:
    """Return the path of a Chromium: the one named, or the first on PATH. Raises ConfigurationError."""
    if named:
        if not os.access(named, os.X_OK):
            raise ConfigurationError(f"STOREBOT_CHROMIUM: there is no program {named}")
        return named
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        raise ConfigurationError(
            f"no browser for [fetch] tiers: none of {', '.join(NAMES)} is on PATH; install Chromium, or set "
            "STOREBOT_CHROMIUM to its path"
        )
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """How a Chromium is started, and what its contexts are."""

    executable: str
    user_agent: str = ""  # the whole of it; "" for the browser's own with ``signature`` behind it
    signature: str = ""
    language: str | None = None
    verify_certificates: bool = True
    flags: tuple[str, ...] = FLAGS
    guard: Callable[[Proxy | None], Awaitable[Guard]]  # opens one


class Cookies:
    """The cookies of visitors whose context is gone, until they come again."""

    def __init__(self, most: int = 32) -> None:
        self._most, self._of = most, dict[Visitor, list[Any]]()

    async def keep(self, visitor: Visitor, context: BrowserContext) -> None:
        """Remember what a context has, if its browser still answers."""
        try:
            async with asyncio.timeout(_CLOSE_S):
                found = await context.cookies()
        except (PlaywrightError, TimeoutError) as error:
            logger.debug("the cookies of a context are lost: %s", error)
            return
        self._of.pop(visitor, None)
        self._of[visitor] = list(found)
        while len(self._of) > self._most:
            del self._of[next(iter(self._of))]

    async def give(self, visitor: Visitor, context: BrowserContext) -> None:
        """Put them into a new context."""
        if cookies := self._of.pop(visitor, None):
            await context.add_cookies(cookies)


class Lent(NamedTuple):
    """The tabs of a visitor, and the guard that they come out through."""

    tabs: Tabs
    guard: Guard


@dataclass(slots=True)
class _Room:
    tabs: Tabs
    guard: Guard
    guests: int = 0


@dataclass(slots=True)
class Chromium:
    """A running browser with the driver that steers it; both end together, so that neither's memory outlives it.

    ``pages`` counts those that were lent a context, ``guests`` those that have one now.
    """

    launch: Launch
    driver: Playwright
    browser: Browser
    user_agent: str
    cookies: Cookies
    pages: int = 0
    guests: int = 0
    hangs: bool = False  # it's there, and doesn't answer
    _rooms: dict[Visitor, _Room] = field(default_factory=dict)
    _opening: asyncio.Lock = field(default_factory=asyncio.Lock)

    @classmethod
    async def start(cls, launch: Launch, cookies: Cookies) -> Self:
        """Start a browser. Raises TierUnusable where it doesn't come up."""
        driver = await async_playwright().start()
        try:
            browser = await driver.chromium.launch(
                executable_path=launch.executable,
                args=list(launch.flags),
                proxy={"server": _NOWHERE},
                timeout=_START_S * 1000,
            )
            agent = launch.user_agent or f"{await own_agent(browser)} {launch.signature}".strip()
        except BaseException as error:
            await bounded(driver.stop(), "the browser's driver")
            if isinstance(error, PlaywrightError):
                said = error.message.strip().splitlines()[0]
                raise TierUnusable(f"{launch.executable} can't be started: {said}") from error
            raise
        return cls(launch, driver, browser, agent, cookies)

    @property
    def alive(self) -> bool:
        """Whether its process is there, and answers."""
        return self.browser.is_connected() and not self.hangs

    @asynccontextmanager
    async def lent(self, visitor: Visitor) -> AsyncIterator[Lent]:
        """Lend the context of a visitor for one page."""
        self.guests += 1
        self.pages += 1
        try:
            async with self._opening:
                room = self._rooms.pop(visitor, None) or await self._room(visitor)
                self._rooms[visitor] = room  # the last one is the one that was used last
                room.guests += 1
            try:
                yield Lent(room.tabs, room.guard)
            finally:
                room.guests -= 1
        finally:
            self.guests -= 1

    async def close(self) -> None:
        """End it; whatever hangs is left behind after some seconds, and dies with the driver."""
        if self.alive:
            keeping = (self.cookies.keep(visitor, room.tabs.context) for visitor, room in self._rooms.items())
            await asyncio.gather(*keeping)
        await bounded(self.browser.close(), "the browser")
        await bounded(self.driver.stop(), "the browser's driver")
        for room in self._rooms.values():
            await room.guard.close()
        self._rooms.clear()

    async def _room(self, visitor: Visitor) -> _Room:
        """Return a new context. Raises BrowserCrashed where the browser is gone, or as good as that."""
        try:
            async with asyncio.timeout(_START_S):
                await self._make_room()
                return await self._furnished(visitor)
        except TimeoutError as error:
            self.hangs = True
            raise BrowserCrashed("the browser doesn't answer any more") from error
        except PlaywrightError as error:
            raise BrowserCrashed("the browser is gone") from error

    async def _furnished(self, visitor: Visitor) -> _Room:
        guard = await self.launch.guard(visitor.proxy)
        try:
            context = await self.browser.new_context(
                proxy={"server": f"socks5://127.0.0.1:{guard.port}"},
                user_agent=self.user_agent,
                locale=self.launch.language,
                accept_downloads=False,
                service_workers="block",
                ignore_https_errors=not self.launch.verify_certificates,
            )
            await self.cookies.give(visitor, context)
        except BaseException:
            await guard.close()
            raise
        return _Room(Tabs(context), guard)

    async def _make_room(self) -> None:
        idle = [visitor for visitor, room in self._rooms.items() if not room.guests]
        for visitor in idle[: max(0, len(self._rooms) + 1 - _MOST_CONTEXTS)]:
            room = self._rooms.pop(visitor)
            await self.cookies.keep(visitor, room.tabs.context)
            await bounded(room.tabs.context.close(), "a context")
            await room.guard.close()


async def own_agent(browser: Browser) -> str:
    """Return the user agent that a browser has by itself."""
    devtools = await browser.new_browser_cdp_session()
    try:
        return str((await devtools.send("Browser.getVersion"))["userAgent"])
    finally:
        await devtools.detach()


async def bounded(closing: Awaitable[None], what: str) -> None:
    """Await the end of something; what hangs, or is gone already, is left behind."""
    try:
        async with asyncio.timeout(_CLOSE_S):
            await closing
    except (PlaywrightError, TimeoutError) as error:
        logger.debug("%s could not be closed: %s", what, error or type(error).__name__)
