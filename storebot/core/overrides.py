"""What a run does against the manners that storebot has by default, said openly: what, who, and why."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple
from urllib.parse import urlsplit

from storebot.core.addresses import is_private
from storebot.core.pacing import POLITE_DELAY_S

_NO_REASON = "no reason is given: [politeness] reason of the store file"


class Override(NamedTuple):
    """One of them. ``who`` runs it, or is named by who does."""

    what: str
    who: str
    why: str

    def sentence(self) -> str:
        """Return it as one line."""
        return f"{self.what} ({self.who}: {self.why})"


class Manners(NamedTuple):
    """The values by which a run asks, as they hold: the store file's, the installation's, or the command line's."""

    base_url: str
    obeys_robots: bool
    user_agent: str
    delay_s: float
    commanded: Collection[str] = ()  # names of Scrapy's settings that the command line gave, over all others
    reason: str = ""  # [politeness] reason
    robots_reason: str = ""


def overrides(manners: Manners, *, who: str, bot_name: str) -> list[Override]:
    """Return what a run overrides; on a private host it's only robots.txt that may be."""
    return [
        Override(what, who, f"-s {setting} on the command line" if setting in manners.commanded else why or _NO_REASON)
        for what, setting, why in _broken(manners, bot_name)
    ]


def _broken(manners: Manners, bot_name: str) -> Iterator[tuple[str, str, str]]:
    """Yield what isn't kept: what is done, Scrapy's setting of it, and the reason that the store file gives."""
    if not manners.obeys_robots:
        yield "robots.txt is not asked", "ROBOTSTXT_OBEY", manners.robots_reason
    if is_private(urlsplit(manners.base_url).hostname or ""):
        return
    if bot_name.lower() not in manners.user_agent.lower():
        yield f"the user agent doesn't name {bot_name}: {manners.user_agent!r}", "USER_AGENT", manners.reason
    if manners.delay_s < POLITE_DELAY_S:
        yield f"{manners.delay_s:g} s between two requests", "DOWNLOAD_DELAY", manners.reason


def forced(text: str, reason: str) -> Override:
    """Return the override of an open breaker by ``-a force="who: why"``; ``reason`` is why it's open."""
    who, _, why = text.partition(":")
    return Override(f"the open circuit breaker isn't waited for ({reason})", who.strip(), why.strip())
