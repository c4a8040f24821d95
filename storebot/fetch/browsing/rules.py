"""What the pages of a tab may load."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from storebot.fetch.browsing.frames import Command


class Judge(Protocol):
    """Says of a browser that has a network of its own why it must not ask for something, or take it; "" for may."""

    async def request(self, url: str) -> str:
        """Judge an address, before it's asked."""

    async def answer(self, space: str) -> str:
        """Judge where an answer came from: DevTools' Network.IPAddressSpace."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What the pages of a tab may load."""

    left_out: tuple[str, ...] = ()  # DevTools' resource types: Image, Font …
    blocked_urls: tuple[str, ...] = ()  # patterns for Network.setBlockedURLs
    judge: Judge | None = None  # None where nothing private can be reached

    def commands(self) -> list[Command]:
        """Return what a DevTools session is told first: the page's, and each frame's."""
        return [("Network.enable", {}), ("Network.setBlockedURLs", {"urls": list(self.blocked_urls)})]

    def patterns(self) -> list[dict[str, str]]:
        """Return which requests are held before they are sent (Fetch.enable)."""
        held = [{}] if self.judge else [{"resourceType": name} for name in self.left_out]
        return [{"urlPattern": "*", "requestStage": "Request", **each} for each in held]
