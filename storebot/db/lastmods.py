"""What a run makes of the ``lastmod`` in sitemaps: which pages they say have changed, and whether that's junk."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from storebot.core.parsing.lastmod import span_ms
from storebot.core.planner.hazard import Flag
from storebot.core.planner.knowledge import Past, moved
from storebot.db.knowledge import HOUR_MS, Memory
from storebot.db.types import AnyRow

logger = logging.getLogger(__name__)

_JUST_NOW_MS = 10 * 60_000
_JUNK_SHARE = 0.2  # of a sitemap's entries that changed within minutes of its reading: it dates itself, not the pages
_ENOUGH = 20  # entries to judge by


class Lastmods:
    """The entries that a run reads, chunk by chunk. ``memory`` is written to: see `Learner`."""

    def __init__(self, store: str, memory: Memory) -> None:
        self._store, self._memory = store, memory
        self._read_before = memory.lastmods_at  # by an earlier run
        self._read = self._fresh = 0  # entries of this run, and those that are from just now

    def read(self, texts: Iterable[str | None], at_ms: int) -> None:
        """Judge a chunk of a sitemap before it's believed.

        Where more than a fifth of the entries moved within minutes of the reading, it's the time of generation (case
        S12). A sitemap that is generated ahead of time shows itself by what is learned: `Knowledge.lift`.
        """
        spans = [span for text in texts if text and (span := span_ms(text)) is not None]
        if not spans:
            return
        self._read += len(spans)
        self._fresh += sum(first == last and abs(first - at_ms) <= _JUST_NOW_MS for first, last in spans)
        memory, knowledge = self._memory, self._memory.knowledge
        if self._read >= _ENOUGH:
            junk = self._fresh > _JUNK_SHARE * self._read
            if junk and not knowledge.lastmod_is_junk:
                logger.warning(
                    "%s: lastmod says when the sitemap was made, not when a page changed: it's ignored "
                    "(%d of %d entries are from just now)",
                    self._store,
                    self._fresh,
                    self._read,
                )
            knowledge.lastmod_is_junk = junk
        knowledge.reads_sitemaps, memory.lastmods_at = True, at_ms

    def watched(self, pages: int, at_ms: int) -> None:
        """Count the hours for which so many pages' entries could have moved."""
        if self._read_before:
            hours = max(at_ms - self._read_before, 0) / HOUR_MS
            self._memory.knowledge.sitemap_page_hours += pages * hours

    def signal(self, page: AnyRow, text: str, at_ms: int) -> Flag:
        """Return a known page's flag, given that its entry moved to ``text``.

        A day without a time is some time of that day; what lies in the future was just now; what is no time is no news.
        """
        flag = Flag(page.signal)
        span = span_ms(text)
        if page.checked_at is None or span is None or self._memory.knowledge.lastmod_is_junk:
            return flag
        listed_h, carded_h = page.listed_at / HOUR_MS, (page.carded_at or 0) / HOUR_MS
        past = Past(page.checked_at / HOUR_MS, listed_h=listed_h, carded_h=carded_h, flag=flag)
        if moved(past, min(span[1], at_ms) / HOUR_MS):
            self._memory.knowledge.bumps += 1
        return past.flag
