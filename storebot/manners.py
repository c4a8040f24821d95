"""How polite the settings make a run: what it overrides, and what its owner should know before it asks anything."""

from __future__ import annotations

import getpass
from collections.abc import Iterator, Mapping
from urllib.parse import urlsplit

from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings

from storebot.core.addresses import is_private
from storebot.core.overrides import Manners, Override, overrides
from storebot.core.pacing import Pace, shortfall
from storebot.core.robots import delay_in
from storebot.core.urls import same_site
from storebot.stores.model import Store

_COMMANDABLE = ("ROBOTSTXT_OBEY", "USER_AGENT", "DOWNLOAD_DELAY")


def overridden(store: Store, settings: BaseSettings) -> tuple[Override, ...]:
    """Return what a run over the store does against storebot's manners, by the settings that hold for it."""
    by_command = SETTINGS_PRIORITIES["cmdline"]
    manners = Manners(
        base_url=store.base_url,
        obeys_robots=settings.getbool("ROBOTSTXT_OBEY"),
        user_agent=settings.get("USER_AGENT") or "",
        delay_s=settings.getfloat("DOWNLOAD_DELAY"),
        commanded=[name for name in _COMMANDABLE if (settings.getpriority(name) or 0) >= by_command],
        reason=store.politeness.reason or "",
        robots_reason=store.politeness.robots_reason or "",
    )
    return tuple(overrides(manners, who=_who(), bot_name=settings["BOT_NAME"]))


def kept_delay_s(store: Store, settings: BaseSettings, robots: Mapping[str, str], pace: Pace) -> float:
    """Return the seconds between two requests that a run which begins now keeps.

    Those of the settings, or what the store's robots.txt asks for where that is more (``robots``: origin -> text, as
    they were read last), and slower where the last run had to be.
    """
    agent = settings["ROBOTSTXT_USER_AGENT"] or settings["USER_AGENT"] or ""
    asked_s = [
        delay_in(text, agent)
        for origin, text in robots.items()
        if settings.getbool("ROBOTSTXT_OBEY") and same_site(origin, store.base_url, store.keys.aliases)
    ]
    return pace.delay_s(max(settings.getfloat("DOWNLOAD_DELAY"), *asked_s, 0.0))


def warnings(
    store: Store, settings: BaseSettings, *, pages: int, latency_ms: int, delay_s: float = 0.0
) -> Iterator[str]:
    """Yield what the store's owner should know at the start: nobody can be reached, or there is too little time.

    ``delay_s`` is the delay that is kept, where it's longer than that of the settings.
    """
    nameless = not settings.get("STOREBOT_CONTACT") and not store.politeness.user_agent
    if nameless and not is_private(urlsplit(store.base_url).hostname or ""):
        yield (
            "STOREBOT_CONTACT isn't set, so the shop can't tell whom to ask before it blocks: give it a page or a mail "
            "address of yours, which the user agent then names"
        )
    kept_s = max(settings.getfloat("DOWNLOAD_DELAY"), delay_s)
    if late := late_by(store, settings, kept_s, pages=pages, latency_ms=latency_ms):
        yield late


def late_by(store: Store, settings: BaseSettings, delay_s: float, *, pages: int, latency_ms: int) -> str:
    """Say that so many pages can't be looked at within ``[refresh] interval`` at this delay; "" where they can."""
    concurrency = settings.getint("CONCURRENT_REQUESTS_PER_DOMAIN")
    interval_ms = store.refresh.interval_ms
    return shortfall(pages, delay_s, interval_ms, latency_s=latency_ms / 1000, concurrency=concurrency)


def _who() -> str:
    """Return who runs this, for the record: the name that the process goes by."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # in a container, a user without a name
        return "unknown"
