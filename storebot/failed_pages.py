"""The pages that a run couldn't read, kept for who mends the store: a few, and of older runs no more than those."""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Self

from storebot.core.page import Page
from storebot.stores import saved_pages

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

logger = logging.getLogger(__name__)


class FailedPages:
    """The folder of one store's pages that were refused; the newest try of a page replaces the older one.

    A run keeps its first ``limit`` pages, and the folder never holds more: a redesign breaks every page in the same
    way, and the first ones show it. A folder that can't be written is said once and never stops a crawl.
    """

    def __init__(self, folder: Path | None, store: str, limit: int) -> None:
        self.folder = folder / store if folder else None
        self.store, self.limit = store, limit
        self._kept: set[str] = set()

    @classmethod
    def from_settings(cls, settings: BaseSettings, store: str) -> Self:
        folder = settings.get("STOREBOT_FAILED_PAGES")
        return cls(Path(folder) if folder else None, store, settings.getint("STOREBOT_FAILED_PAGES_MAX"))

    def keep(self, page: Page, reason: str, at_ms: int) -> str:
        """Keep a page with the reason why it was refused; return what to add to the reason ("" where it isn't kept)."""
        name = saved_pages.page_id(page.url)
        if self.folder is None or (name not in self._kept and len(self._kept) >= self.limit):
            return ""
        at = datetime.fromtimestamp(at_ms / 1000, UTC).isoformat(timespec="seconds")
        facts = {**saved_pages.about(page), "store": self.store, "fetched_at": at, "reason": reason}
        try:
            path = saved_pages.write(self.folder, name, page, facts, compress=False)
            self._kept.add(name)
            self._make_room(self.folder)
        except OSError as error:
            logger.warning("%s: pages that fail can't be kept (STOREBOT_FAILED_PAGES): %s", self.store, error)
            self.folder = None
            return ""
        return f"; the page is kept: scrapy inspect --store {self.store} {path}"

    def _make_room(self, folder: Path) -> None:
        """Remove the oldest pages beyond the limit."""
        bodies = sorted(saved_pages.bodies(folder), key=lambda path: path.stat().st_mtime_ns)
        for path in bodies[: max(0, len(bodies) - self.limit)]:
            path.unlink()
            saved_pages.facts_path(path).unlink(missing_ok=True)
