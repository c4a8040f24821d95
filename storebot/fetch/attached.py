"""The tier `attached`: pages rendered by a browser that runs elsewhere, steered by Playwright over DevTools."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

from playwright.async_api import Browser, BrowserContext, Playwright, async_playwright
from playwright.async_api import Error as PlaywrightError

from storebot.core.addresses import is_private
from storebot.core.proxy import Proxy
from storebot.core.secrets import redacted, secret_parts
from storebot.exceptions import ConfigurationError, TierUnusable
from storebot.fetch.browsing.agent import whole_agent
from storebot.fetch.browsing.browsers import Crashes
from storebot.fetch.browsing.chromium import bounded, own_agent
from storebot.fetch.browsing.errors import BrowserCrashed
from storebot.fetch.browsing.gate import Gate
from storebot.fetch.browsing.guard import Guard
from storebot.fetch.browsing.guarded import guarded
from storebot.fetch.browsing.private import Network, OwnNetwork
from storebot.fetch.browsing.rendering import Renderer
from storebot.fetch.browsing.tabs import Tabs
from storebot.fetch.browsing.visitor import Visitor, visitor_of
from storebot.fetch.tier import FetchTier
from storebot.fetch.vendors.kameleo import Kameleo, require_client
from storebot.fetch.vendors.local_api import LocalApi
from storebot.fetch.vendors.vendor import Plain, Profile, ProfileFailed, Vendor, shown
from storebot.items import Tier
from storebot.stores.fetch_attached import Attached
from storebot.stores.model import Store

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Request, Response

logger = logging.getLogger(__name__)

_CONNECT_S = 30.0
_UNGUARDED = (
    "the attached browser has a network of its own, where DevTools alone keeps its pages from private addresses: what "
    "their WebSockets ask for is left to the browser's own checks (decision 0046)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Manner:
    """How a store is visited in contexts that we make: those of a plain browser."""

    user_agent: str  # the whole of it; "" for the browser's own with ``signature`` behind it
    signature: str
    language: str
    verify_certificates: bool


class Renderers(NamedTuple):
    """Who renders pages: for a browser behind a guard, and for those whose every request has to be judged."""

    behind_guard: Renderer
    alone: Renderer
    proxied: Renderer  # alone, but that its proxy resolves names

    def of(self, visitor: Visitor) -> Renderer:
        """Return who renders for a visitor without a guard."""
        return self.proxied if visitor.proxy else self.alone


@dataclass(slots=True)
class _Session:
    """One visitor's browser: a connection to it, and the tabs that are ours."""

    profile: Profile
    browser: Browser
    tabs: Tabs
    guard: Guard | None = None  # of a browser that can reach one
    guests: int = 0


class AttachedTier(FetchTier):
    """One profile for each visitor where the vendor has profiles, else one context in the browser that runs.

    What isn't ours stays as it was: tabs and contexts that we opened are closed, profiles that we started are stopped,
    those that we made are deleted; nothing else is. ``concurrency`` bounds pages, and profiles that run.
    """

    tier: ClassVar[Tier] = Tier.ATTACHED
    counts_wire: ClassVar[bool] = True

    def __init__(
        self,
        vendor: Vendor,
        renderers: Renderers,
        manner: Manner,
        concurrency: int,
        guards: Callable[[Proxy | None], Awaitable[Guard]] | None = None,
    ) -> None:
        self._vendor, self._renderers, self._manner, self._most = vendor, renderers, manner, concurrency
        self._guards = guards  # opens one; None where the browser can't be on this machine
        self._slots, self._changing = asyncio.Semaphore(concurrency), asyncio.Lock()
        self._crashes = Crashes()
        self._sessions: dict[Visitor, _Session] = {}
        self._driver: Playwright | None = None
        self._closed = self._warned = False

    @classmethod
    def check(cls, store: Store) -> None:
        """Raise ConfigurationError for a browser that isn't named, a variable that isn't set, a missing client."""
        section = store.fetch.attached
        if section is None:
            raise ConfigurationError(f'{store.path}: fetch.tiers lists "attached", but there is no [fetch.attached]')
        for key in ("endpoint_env", "key_env"):
            variable = getattr(section, key)
            if variable and not os.environ.get(variable):
                raise ConfigurationError(f"{store.path}: fetch.attached.{key}: the variable {variable} isn't set")
        if section.vendor == "kameleo":
            require_client()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        settings = crawler.settings
        store: Store = crawler.spider.store  # type: ignore[union-attr]  # only a store lists this tier
        cls.check(store)
        section = store.fetch.attached
        assert section is not None
        vendor = vendor_of(section, store.fetch.language)
        agent = settings["USER_AGENT"]
        manner = Manner(
            user_agent=whole_agent(store, agent, settings["BOT_NAME"]),
            signature=agent,
            language=(store.fetch.language or "en").partition(",")[0],
            verify_certificates=settings.getbool("DOWNLOAD_VERIFY_CERTIFICATES"),
        )
        if vendor.has_profiles:
            logger.warning("%s: the user agent is that of the vendor's profiles, and doesn't name the bot", store.name)
        network = Network(store)
        is_local = isinstance(vendor, Plain) and is_private(vendor.host)
        made = partial(Renderer, store, cls.tier, settings.getint("DOWNLOAD_MAXSIZE"))
        renderers = Renderers(
            behind_guard=made(),
            alone=made(OwnNetwork(network, resolves=True)),
            proxied=made(OwnNetwork(network, resolves=False)),
        )
        return cls(vendor, renderers, manner, section.concurrency, network.guard if is_local else None)

    async def fetch(self, request: Request) -> Response:
        async with self._slots, self._lent(visitor_of(request)) as session:
            if session.guard is not None:
                return await self._renderers.behind_guard.fetch(session.tabs, request, session.guard.explain)
            return await self._renderers.of(visitor_of(request)).fetch(session.tabs, request)

    async def close(self) -> None:
        self._closed = True
        async with self._changing:
            for visitor in list(self._sessions):
                await self._end(visitor)
            driver, self._driver = self._driver, None
            if driver is not None:
                await bounded(driver.stop(), "the browser's driver")

    @asynccontextmanager
    async def _lent(self, visitor: Visitor) -> AsyncIterator[_Session]:
        async with self._changing:
            session = await self._session(visitor)
            session.guests += 1
        try:
            yield session
        finally:
            session.guests -= 1

    async def _session(self, visitor: Visitor) -> _Session:
        if self._closed:
            raise TierUnusable("the crawl is over")
        known = self._sessions.pop(visitor, None)
        if known is not None:
            self._sessions[visitor] = known  # the last one is the one that was used last
            if known.browser.is_connected():
                return known
            await self._end(visitor)
            await self._crashes.one_more()
        await self._make_room()
        session = self._sessions[visitor] = await self._begun(visitor, again=known is not None)
        return session

    async def _begun(self, visitor: Visitor, *, again: bool) -> _Session:
        profile = await self._vendor.start(visitor)
        try:
            if self._driver is None:
                self._driver = await async_playwright().start()
            browser = await self._driver.chromium.connect_over_cdp(
                profile.endpoint, timeout=_CONNECT_S * 1000, no_defaults=self._vendor.has_profiles
            )
            context, guard = await self._context(browser, visitor)
            gate = await self._gate(browser, visitor) if guard is None else None
            return _Session(profile, browser, Tabs(context, gate), guard)
        except BaseException as error:
            await asyncio.shield(self._stopped(profile))
            if not isinstance(error, PlaywrightError):
                raise
            said = redacted(error.message.strip().splitlines()[0], secret_parts(profile.endpoint, host=False))
            where = f"{shown(profile.endpoint)} ({said})"
            if again or self._vendor.has_profiles:
                raise BrowserCrashed(f"no browser could be attached to at {where}") from error
            raise TierUnusable(f"no browser could be attached to at {where}: does it run?") from error

    async def _gate(self, browser: Browser, visitor: Visitor) -> Gate:
        if not self._warned:
            self._warned = True
            logger.warning("%s", _UNGUARDED)
        judge = self._renderers.of(visitor).judge
        assert judge is not None
        return await Gate.put_up(browser, judge)

    async def _context(self, browser: Browser, visitor: Visitor) -> tuple[BrowserContext, Guard | None]:
        if self._vendor.has_profiles:  # Kameleo: work in the first one, others have no profile
            return browser.contexts[0], None
        proxy, manner = visitor.proxy, self._manner
        if proxy is not None and proxy.scheme == "socks5" and proxy.has_login:
            raise ProfileFailed(f"Chromium can't give a SOCKS5 proxy its password ({proxy}): the tier browser can")
        how: dict[str, Any] = {
            "user_agent": manner.user_agent or f"{await own_agent(browser)} {manner.signature}",
            "locale": manner.language,
            "accept_downloads": False,
            "service_workers": "block",
            "ignore_https_errors": not manner.verify_certificates,
        }
        if (guard := await self._guards(proxy) if self._guards else None) is not None:
            try:
                if context := await guarded(browser, guard, **how):
                    return context, guard
            except BaseException:
                await guard.close()
                raise
            await guard.close()
            self._guards = None
        if proxy is not None:
            how["proxy"] = {"server": proxy.server, "username": proxy.username, "password": proxy.password}
        return await browser.new_context(**how), None

    async def _make_room(self) -> None:
        """End sessions that nobody uses, the eldest first, until one more may run."""
        for visitor in [name for name, session in self._sessions.items() if not session.guests]:
            if len(self._sessions) < self._most:
                return
            await self._end(visitor)

    async def _end(self, visitor: Visitor) -> None:
        session = self._sessions.pop(visitor)
        await session.tabs.close()
        if not self._vendor.has_profiles:
            await bounded(session.tabs.context.close(), "a context")
        if session.guard is not None:
            await session.guard.close()
        await self._stopped(session.profile)
        await bounded(session.browser.close(), "a connection to a browser")  # which goes on: it isn't ours

    async def _stopped(self, profile: Profile) -> None:
        try:
            await self._vendor.stop(profile)
        except Exception as error:  # the crawl, or the next visitor, must go on; its owner has to know
            logger.error("the profile %s may still run: %s", profile.id, error)


def vendor_of(section: Attached, language: str | None = None) -> Vendor:
    """Return who starts the browsers that a store file names."""
    if section.start is not None:
        return LocalApi(section, os.environ.get(section.key_env or "", ""))
    endpoint = section.endpoint or os.environ.get(section.endpoint_env or "", "")
    return Kameleo(section, endpoint, language) if section.vendor == "kameleo" else Plain(endpoint)
