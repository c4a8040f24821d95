"""A crawler as one part sees it: the same, but for a few settings of its own (NOTES D)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scrapy.crawler import Crawler


class CrawlerView:
    """Everything of a crawler, with settings of which some are others; they are frozen when handlers are made."""

    def __init__(self, crawler: Crawler, own: dict[str, Any]) -> None:
        self._crawler = crawler
        self.settings = crawler.settings.copy()
        self.settings.frozen = False
        self.settings.setdict(own, priority="cmdline")
        self.settings.freeze()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._crawler, name)
